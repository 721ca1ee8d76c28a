#include "supervisor/restart_policy.h"

#include "base/memory_limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define S INT64_C(1000000)

static const struct {
    const char *why;
    enum run_end end;
    enum status status;
    enum restart_mode mode;
    int64_t attempts_max, attempts;
    enum restart_action want;
    int64_t want_delay_us;
} cases[] = {
    {"stopped as asked", RUN_STOPPED, OK, RESTART_ON_FAILURE, 20, 0, RESTART_TO_STOPPED, 0},
    {"stopped, even with mode always", RUN_STOPPED, OK, RESTART_ALWAYS, 20, 0, RESTART_TO_STOPPED,
     0},
    {"availableNow is done", RUN_FINISHED, OK, RESTART_ON_FAILURE, 20, 0, RESTART_TO_FINISHED, 0},
    {"mode always starts a finished query again", RUN_FINISHED, OK, RESTART_ALWAYS, 20, 0,
     RESTART_TO_RETRYING, S},
    {"an error of the user cannot heal", RUN_FAILED, STATUS_DIVIDE_BY_ZERO, RESTART_ON_FAILURE, 20,
     0, RESTART_TO_FAILED, 0},
    {"not even with mode always", RUN_FAILED, STATUS_DIVIDE_BY_ZERO, RESTART_ALWAYS, 20, 0,
     RESTART_TO_FAILED, 0},
    {"a crash is tried again", RUN_FAILED, STATUS_WORKER_DIED, RESTART_ON_FAILURE, 20, 0,
     RESTART_TO_RETRYING, S},
    {"the delay doubles", RUN_FAILED, STATUS_DISK_FULL, RESTART_ON_FAILURE, 20, 3,
     RESTART_TO_RETRYING, 8 * S},
    {"up to its limit", RUN_FAILED, STATUS_DISK_FULL, RESTART_ON_FAILURE, 20, 12,
     RESTART_TO_RETRYING, 120 * S},
    {"without overflow after years", RUN_FAILED, STATUS_DISK_FULL, RESTART_ON_FAILURE, INT64_MAX,
     4000000000, RESTART_TO_RETRYING, 120 * S},
    {"the attempts are used up", RUN_FAILED, STATUS_WORKER_DIED, RESTART_ON_FAILURE, 20, 20,
     RESTART_TO_FAILED, 0},
    {"no attempt is allowed", RUN_FAILED, STATUS_WORKER_DIED, RESTART_ON_FAILURE, 0, 0,
     RESTART_TO_FAILED, 0},
    {"a path without permission is tried a few times", RUN_FAILED, STATUS_PATH_NOT_USABLE,
     RESTART_ON_FAILURE, INT64_MAX, 2, RESTART_TO_RETRYING, 4 * S},
    {"and then needs a person", RUN_FAILED, STATUS_PATH_NOT_USABLE, RESTART_ALWAYS, INT64_MAX, 3,
     RESTART_TO_FAILED, 0},
    {"a query may allow fewer", RUN_FAILED, STATUS_PATH_NOT_USABLE, RESTART_ON_FAILURE, 1, 1,
     RESTART_TO_FAILED, 0},
    {"a path that is gone may come back", RUN_FAILED, STATUS_FILE_NOT_FOUND, RESTART_ON_FAILURE,
     INT64_MAX, 11, RESTART_TO_RETRYING, 120 * S},
    {"but is not waited for for ever", RUN_FAILED, STATUS_FILE_NOT_FOUND, RESTART_ON_FAILURE,
     INT64_MAX, 12, RESTART_TO_FAILED, 0},
    {"a disk that fails", RUN_FAILED, STATUS_IO_FAILURE, RESTART_ON_FAILURE, INT64_MAX, 29,
     RESTART_TO_RETRYING, 120 * S},
    {"fails", RUN_FAILED, STATUS_IO_FAILURE, RESTART_ON_FAILURE, INT64_MAX, 30, RESTART_TO_FAILED,
     0},
    {"a worker that dies at each attempt", RUN_FAILED, STATUS_WORKER_DIED, RESTART_ON_FAILURE,
     INT64_MAX, 29, RESTART_TO_RETRYING, 120 * S},
    {"is not started for ever", RUN_FAILED, STATUS_WORKER_DIED, RESTART_ALWAYS, INT64_MAX, 30,
     RESTART_TO_FAILED, 0},
    {"unless the query says how often", RUN_FAILED, STATUS_WORKER_DIED, RESTART_ON_FAILURE, 100000,
     30, RESTART_TO_RETRYING, 120 * S},
    {"a full disk is waited for", RUN_FAILED, STATUS_DISK_FULL, RESTART_ON_FAILURE, INT64_MAX,
     1000000, RESTART_TO_RETRYING, 120 * S},
    {"mode never", RUN_FAILED, STATUS_WORKER_DIED, RESTART_NEVER, 20, 0, RESTART_TO_FAILED, 0},
};

static void decides_by_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].why);
        for (int jitter = 0; jitter <= 2; jitter++) {
            const struct restart_facts facts = {.end = cases[i].end,
                                                .status = cases[i].status,
                                                .mode = cases[i].mode,
                                                .attempts_max = cases[i].attempts_max,
                                                .attempts_said = cases[i].attempts_max < INT64_MAX,
                                                .attempts = cases[i].attempts,
                                                .delay_us = S,
                                                .delay_max_us = 120 * S,
                                                .jitter = jitter / 2.0};
            struct restart_decision decision = restart_decide(&facts);
            assert_int_equal(decision.action, cases[i].want);
            int64_t want = cases[i].want_delay_us;
            assert_in_range(decision.delay_us, want * 8 / 10 - (want > 0), want * 12 / 10);
        }
    }
}

static void the_end_of_a_worker_has_a_name(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    worker_exit_error(&(struct worker_exit){.by_signal = true, .code = SIGKILL}, &err);
    assert_int_equal(err.status, STATUS_WORKER_DIED);
    assert_non_null(strstr(err.text, "killed by signal 9 (Killed)"));
    error_clear(&err);
    worker_exit_error(&(struct worker_exit){.code = 3}, &err);
    assert_int_equal(err.status, STATUS_WORKER_DIED);
    assert_non_null(strstr(err.text, "exit status 3"));
    error_clear(&err);
    pid_t child = fork();
    if (child == 0)
        memory_exhausted(SIZE_MAX);
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    worker_exit_error(&(struct worker_exit){.code = WEXITSTATUS(how)}, &err);
    assert_int_equal(err.status, STATUS_LIMIT_EXCEEDED);
    assert_false(status_retryable(err.status));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decides_by_table),
        cmocka_unit_test(the_end_of_a_worker_has_a_name),
    };
    return cmocka_run_group_tests_name("supervisor/restart_policy", tests, NULL, NULL) != 0;
}
