#include "supervisor/supervisor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct seen {
    bool ended;
    struct worker_exit how;
};

static void on_message(void *ctx, void *owner, const struct message *message)
{
    (void)ctx;
    (void)owner;
    (void)message;
}

static void on_end(void *ctx, void *owner, const struct worker_exit *how)
{
    struct seen *seen = owner;
    (void)ctx;
    seen->ended = true;
    seen->how = *how;
}

static void on_signal(void *ctx, int signo)
{
    (void)ctx;
    (void)signo;
}

static const struct supervisor_events events = {
    .message = on_message, .ended = on_end, .signalled = on_signal};

static struct supervisor *open_supervisor(void)
{
    struct error err = ERROR_INIT;
    struct supervisor *supervisor = NULL;
    assert_int_equal(supervisor_open(&events, &supervisor, &err), OK);
    return supervisor;
}

static struct worker_start start_of(const char *binary)
{
    return (struct worker_start){.binary = binary,
                                 .spec_path = "/nowhere/spec.json",
                                 .data_dir = "/nowhere",
                                 .log_path = "/dev/null",
                                 .log_keep_bytes = 1 << 20};
}

static void a_program_that_cannot_be_started_is_an_error_at_once(void **state)
{
    (void)state;
    struct supervisor *supervisor = open_supervisor();
    struct seen seen = {0};
    struct worker *worker = NULL;
    struct error err = ERROR_INIT;
    struct worker_start start = start_of("/nowhere/tidemill");
    assert_int_equal(supervisor_start(supervisor, &start, &seen, &worker, &err),
                     STATUS_WORKER_NOT_STARTED);
    assert_non_null(strstr(err.text, "No such file"));
    start = start_of("/bin/true");
    start.log_path = "/nowhere/worker.log";
    error_clear(&err);
    assert_int_equal(supervisor_start(supervisor, &start, &seen, &worker, &err),
                     STATUS_WORKER_NOT_STARTED);
    assert_int_equal(supervisor_worker_count(supervisor), 0);
    assert_false(seen.ended);
    supervisor_close(supervisor);
}

static void the_end_of_a_process_is_told_once_and_how(void **state)
{
    (void)state;
    static const struct {
        const char *binary;
        int code;
    } cases[] = {{"/bin/true", 0}, {"/bin/false", 1}};
    struct supervisor *supervisor = open_supervisor();
    for (size_t i = 0; i < 2; i++) {
        struct seen seen = {0};
        struct worker *worker = NULL;
        struct error err = ERROR_INIT;
        struct worker_start start = start_of(cases[i].binary);
        assert_int_equal(supervisor_start(supervisor, &start, &seen, &worker, &err), OK);
        while (!seen.ended)
            supervisor_poll(supervisor, -1);
        assert_false(seen.how.by_signal);
        assert_int_equal(seen.how.code, cases[i].code);
        assert_int_equal(supervisor_worker_count(supervisor), 0);
    }
    supervisor_close(supervisor);
}

static void a_killed_process_ends_by_the_signal(void **state)
{
    (void)state;
    struct supervisor *supervisor = open_supervisor();
    struct seen seen = {0};
    struct worker *worker = NULL;
    struct error err = ERROR_INIT;
    char path[] = "/tmp/tidemill-stopped-XXXXXX"; /* a program that goes on for ever */
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(dprintf(fd, "#!/bin/sh\nkill -STOP $$\n"), 24);
    assert_int_equal(fchmod(fd, 0700), 0);
    assert_int_equal(close(fd), 0);
    struct worker_start start = start_of(path);
    assert_int_equal(supervisor_start(supervisor, &start, &seen, &worker, &err), OK);
    assert_true(worker_pid(worker) > 1);
    worker_kill(worker, SIGKILL);
    while (!seen.ended)
        supervisor_poll(supervisor, -1);
    assert_true(seen.how.by_signal);
    assert_int_equal(seen.how.code, SIGKILL);
    assert_int_equal(unlink(path), 0);
    supervisor_close(supervisor);
}

int main(void)
{
    sigset_t watched; /* as the server's main() does */
    (void)sigemptyset(&watched);
    (void)sigaddset(&watched, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &watched, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_that_cannot_be_started_is_an_error_at_once),
        cmocka_unit_test(the_end_of_a_process_is_told_once_and_how),
        cmocka_unit_test(a_killed_process_ends_by_the_signal),
    };
    return cmocka_run_group_tests_name("supervisor/supervisor", tests, NULL, NULL);
}
