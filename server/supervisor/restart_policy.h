/*
 * What follows from the end of a run.  One pure function: the table of api "life of a query".
 *
 *   stop was asked for              -> STOPPED
 *   the query has nothing left      -> FINISHED (mode always: again, after the delay)
 *   an error of the user            -> FAILED: trying again cannot help
 *   an error that may heal, a crash -> RETRYING with a delay that doubles, until the attempts that
 *                                      the query allows in a row (without a committed batch
 *                                      between them) are used up: then FAILED
 *   an error that seldom heals       -> as before, with few attempts (RESTART_*_MAX): a path
 *                                      without permission, or that is no directory; one that is
 *                                      gone; a disk that fails; a worker that dies each time,
 *                                      unless the query says how many.  A full disk is waited for.
 *
 * Threads: any.
 */
#ifndef SERVER_SUPERVISOR_RESTART_POLICY_H
#define SERVER_SUPERVISOR_RESTART_POLICY_H

#include "base/error.h"
#include "spec/query_spec.h"
#include "supervisor/supervisor.h"

/* With the delays of a server as it comes: 7 seconds, 7 minutes, 25 minutes. */
#define RESTART_UNUSABLE_MAX 3  /* PATH_NOT_USABLE */
#define RESTART_MISSING_MAX  12 /* FILE_NOT_FOUND */
#define RESTART_FAULT_MAX    30 /* IO_FAILURE, WORKER_DIED */

enum run_end {
    RUN_STOPPED,  /* as asked */
    RUN_FINISHED, /* availableNow or once is done */
    RUN_FAILED,   /* the worker said FAILED, or died, or could not be started */
};

struct restart_facts {
    enum run_end end;
    enum status status; /* RUN_FAILED: the condition */
    enum restart_mode mode;
    int64_t attempts_max; /* restarts in a row */
    bool attempts_said;   /* ... by the query itself */
    int64_t attempts;     /* restarts in a row so far */
    int64_t delay_us, delay_max_us;
    double jitter; /* 0 .. 1: a random number */
};

enum restart_action {
    RESTART_TO_STOPPED,
    RESTART_TO_FINISHED,
    RESTART_TO_FAILED,
    RESTART_TO_RETRYING,
};

struct restart_decision {
    enum restart_action action;
    int64_t delay_us; /* RETRYING: 80 to 120 % of the doubled delay */
};

/* What a worker that has said nothing died of: WORKER_DIED, or LIMIT_EXCEEDED if it found no
 * memory, as it would the next time. */
void worker_exit_error(const struct worker_exit *how, struct error *err);

struct restart_decision restart_decide(const struct restart_facts *facts);

#endif
