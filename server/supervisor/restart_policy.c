#include "supervisor/restart_policy.h"

#include "base/check.h"

static int64_t delay_of(const struct restart_facts *facts)
{
    int64_t delay = facts->delay_us;
    for (int64_t i = 0; i < facts->attempts && delay < facts->delay_max_us; i++)
        delay *= 2;
    if (delay > facts->delay_max_us)
        delay = facts->delay_max_us;
    return (int64_t)((double)delay * (0.8 + 0.4 * facts->jitter));
}

/* What only a person changes is tried a few times, in case he is about to. */
static int64_t attempts_of(const struct restart_facts *facts)
{
    bool permanent = facts->status == STATUS_PATH_NOT_USABLE;
    return permanent && facts->attempts_max > RESTART_PERMANENT_MAX ? RESTART_PERMANENT_MAX
                                                                    : facts->attempts_max;
}

static struct restart_decision retry_or_fail(const struct restart_facts *facts)
{
    if (facts->attempts >= attempts_of(facts))
        return (struct restart_decision){.action = RESTART_TO_FAILED};
    return (struct restart_decision){.action = RESTART_TO_RETRYING, .delay_us = delay_of(facts)};
}

struct restart_decision restart_decide(const struct restart_facts *facts)
{
    CHECK(facts->attempts >= 0 && facts->jitter >= 0 && facts->jitter <= 1);
    switch (facts->end) {
    case RUN_STOPPED:
        return (struct restart_decision){.action = RESTART_TO_STOPPED};
    case RUN_FINISHED:
        if (facts->mode == RESTART_ALWAYS)
            return (struct restart_decision){.action = RESTART_TO_RETRYING,
                                             .delay_us = delay_of(facts)};
        return (struct restart_decision){.action = RESTART_TO_FINISHED};
    case RUN_FAILED:
        CHECK(facts->status != OK);
        if (facts->mode == RESTART_NEVER || !status_retryable(facts->status))
            return (struct restart_decision){.action = RESTART_TO_FAILED};
        return retry_or_fail(facts);
    }
    CHECK(false);
}
