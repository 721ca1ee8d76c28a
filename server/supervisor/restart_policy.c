#include "supervisor/restart_policy.h"

#include "base/check.h"
#include "base/memory_limit.h"

#include <stdio.h>
#include <string.h>

static int64_t delay_of(const struct restart_facts *facts)
{
    int64_t delay = facts->delay_us;
    for (int64_t i = 0; i < facts->attempts && delay < facts->delay_max_us; i++)
        delay *= 2;
    if (delay > facts->delay_max_us)
        delay = facts->delay_max_us;
    return (int64_t)((double)delay * (0.8 + 0.4 * facts->jitter));
}

/* What seldom heals by itself is tried a few times, in case somebody is about to mend it. */
static int64_t attempts_of(const struct restart_facts *facts)
{
    int64_t most = INT64_MAX;
    if (facts->status == STATUS_PATH_NOT_USABLE)
        most = RESTART_UNUSABLE_MAX;
    else if (facts->status == STATUS_FILE_NOT_FOUND)
        most = RESTART_MISSING_MAX;
    else if (facts->status == STATUS_IO_FAILURE ||
             (facts->status == STATUS_WORKER_DIED && !facts->attempts_said))
        most = RESTART_FAULT_MAX;
    return facts->attempts_max < most ? facts->attempts_max : most;
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

void worker_exit_error(const struct worker_exit *how, struct error *err)
{
    char reason[96];
    if (!how->by_signal && how->code == MEMORY_EXIT_STATUS) {
        (void)error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the memory of the query's worker",
                          "limit", "what this machine has", NULL);
        return;
    }
    if (how->by_signal)
        (void)snprintf(reason, sizeof reason, "killed by signal %d (%s)", how->code,
                       sigdescr_np(how->code) == NULL ? "?" : sigdescr_np(how->code));
    else
        (void)snprintf(reason, sizeof reason, "exit status %d", how->code);
    (void)error_raise(err, STATUS_WORKER_DIED, "reason", reason, NULL);
}
