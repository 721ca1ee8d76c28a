/*
 * See trigger.h.
 */
#include "worker/trigger.h"

#include "base/check.h"

int64_t trigger_next_us(int64_t interval_us, int64_t now_us)
{
    CHECK(interval_us >= 0);
    if (interval_us == 0)
        return now_us;
    int64_t past = now_us % interval_us;
    if (past < 0)
        past += interval_us;
    return now_us - past + interval_us;
}

int64_t trigger_wait_us(int64_t next_us, int64_t now_us)
{
    return next_us > now_us ? next_us - now_us : 0;
}
