/*
 * The server is killed while a command is at work: its next life finishes what was begun, and waits
 * with what it cannot know yet.
 */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CREATE(name)                                                                               \
    "{\"name\":\"" name                                                                            \
    "\",\"sources\":{\"c\":{\"format\":\"rate\"}},\"sql\":\"SELECT value FROM "                    \
    "c\",\"sink\":{\"format\":\"noop\"}}"

/* Its process, once there is one. */
static pid_t worker_of(const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "/v1/queries/%s/status", name);
    for (;;) {
        struct reply reply =
            call(&server, &(struct call){.path = path, .headers = {"Prefer: wait=1", NULL}});
        assert_int_equal(reply.status, 200);
        pid_t pid = (pid_t)json_integer_value(json_object_get(reply.json, "pid"));
        reply_free(&reply);
        if (pid > 1)
            return pid;
    }
}

/* The call is made by a process of its own, which is killed by end_background(). */
static pid_t in_background(const char *method, const char *path)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct reply reply = call(&server, &(struct call){.method = method, .path = path});
        _exit(reply.status == 204 ? 0 : 1);
    }
    return pid;
}

static void end_background(pid_t pid)
{
    int how = 0;
    (void)kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &how, 0), pid);
}

static void await_gone(const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "/v1/queries/%s/status", name);
    for (;;) {
        struct reply reply =
            call(&server, &(struct call){.path = path, .headers = {"Prefer: wait=1", NULL}});
        bool gone = reply.status == 404;
        assert_true(gone || reply.status == 200);
        reply_free(&reply);
        if (gone)
            return;
    }
}

/* The lock of the checkpoint, once nobody has it. */
static int take_lock(const char *checkpoint)
{
    char path[300];
    (void)snprintf(path, sizeof path, "%s/lock", checkpoint);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    return fd;
}

static void a_deletion_survives_the_server(void **state)
{
    (void)state;
    char checkpoint[256];
    json_decref(post(&server, "/v1/queries", CREATE("doomed"), 201));
    await_state(&server, "doomed", "RUNNING");
    json_decref(post(&server, "/v1/queries/doomed/trigger", NULL, 200));
    json_t *query = get(&server, "/v1/queries/doomed", 200);
    (void)snprintf(checkpoint, sizeof checkpoint, "%s/checkpoints/%s", server.data_dir,
                   text_of(query, "uid"));
    json_decref(query);
    assert_int_equal(access(checkpoint, F_OK), 0);
    pid_t worker = worker_of("doomed");
    assert_int_equal(kill(worker, SIGSTOP), 0);
    pid_t caller = in_background("DELETE", "/v1/queries/doomed?force=true&purge=checkpoint");
    await_state(&server, "doomed", "STOPPING");
    end_background(caller);
    server_kill(&server);
    int lock = take_lock(checkpoint); /* as the worker, if that ended a batch meanwhile */
    server_restart(&server, quick_restarts);
    json_t *status = get(&server, "/v1/queries/doomed/status", 200);
    assert_string_equal(text_of(status, "state"), "STOPPING");
    assert_string_equal(text_of(status, "desiredState"), "STOPPED");
    json_decref(status);
    refused(&server, &(struct call){.method = "POST", .path = "/v1/queries/doomed/start"}, 409,
            "INVALID_STATE");
    assert_int_equal(access(checkpoint, F_OK), 0); /* not under a worker that may write */
    assert_int_equal(close(lock), 0);
    await_gone("doomed");
    assert_int_equal(access(checkpoint, F_OK), -1);
}

/* Asked while the server does not know how the query is: answered when it does. */
static void what_is_asked_of_an_unknown_query_waits(void **state)
{
    (void)state;
    static const char *const one[] = {"--max-running-queries", "1", NULL};
    static const char hurry[] = "{\"timeout\":\"10 ms\"}";
    const struct call all = {
        .method = "POST", .path = "/v1/queries/b/processAllAvailable", .body = hurry};
    const struct call trigger = {.method = "POST", .path = "/v1/queries/b/trigger", .body = hurry};
    json_decref(post(&server, "/v1/queries", CREATE("a"), 201));
    json_decref(post(&server, "/v1/queries", CREATE("b"), 201));
    await_state(&server, "a", "RUNNING");
    await_state(&server, "b", "RUNNING");
    server_kill(&server);
    server_restart(&server, one);
    await_state(&server, "a", "RUNNING");
    await_state(&server, "b", "UNKNOWN"); /* until its turn comes */
    refused(&server, &all, 408, "REQUEST_TIMEOUT");
    refused(&server, &trigger, 408, "REQUEST_TIMEOUT");
    refused(&server,
            &(struct call){
                .method = "POST", .path = "/v1/queries/b/rewind", .body = "{\"toBatchId\":0}"},
            409, "INVALID_STATE");
    json_decref(post(&server, "/v1/queries/a/stop", NULL, 202));
    json_decref(post(&server, "/v1/queries/b/processAllAvailable", NULL, 200));
    await_state(&server, "b", "RUNNING");
    json_decref(post(&server, "/v1/queries/b/stop", NULL, 202));
    await_state(&server, "b", "STOPPED");
    server_stop(&server);
    server_restart(&server, quick_restarts);
}

/* The worker waits for ever for the writer of a pipe in the place of its log. */
static void a_worker_that_falls_silent_while_it_starts_is_unknown(void **state)
{
    (void)state;
    static const char *const impatient[] = {"--heartbeat-interval", "20 ms", "--heartbeat-timeout",
                                            "200 ms", NULL};
    char body[512], pipe_path[256];
    server_stop(&server);
    server_restart(&server, impatient);
    make_dir(&server, "slow");
    make_dir(&server, "slow/log");
    (void)snprintf(pipe_path, sizeof pipe_path, "%s/slow/log/00000000000000000000", server.dir);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    (void)snprintf(
        body, sizeof body,
        "{\"name\":\"slow\",\"sources\":{\"c\":{\"format\":\"rate\"}},\"sql\":\"SELECT "
        "value FROM c\",\"sink\":{\"format\":\"noop\"},\"checkpointLocation\":\"%s/slow\"}",
        server.dir);
    json_decref(post(&server, "/v1/queries", body, 201));
    await_state(&server, "slow", "STARTING");
    pid_t worker = worker_of("slow");
    assert_int_equal(kill(worker, SIGSTOP), 0);
    await_state(&server, "slow", "UNKNOWN");
    json_t *status = get(&server, "/v1/queries/slow/status", 200);
    assert_non_null(strstr(text_of(status, "stateReason"), "has not answered"));
    json_decref(status);
    assert_int_equal(kill(worker, SIGCONT), 0);
    await_state(&server, "slow", "STARTING"); /* and not RUNNING */
    assert_int_equal(kill(worker, SIGSTOP), 0);
    json_decref(post(&server, "/v1/queries/slow/stop", NULL, 202));
    await_state(&server, "slow", "STOPPED");
}

/* The run of the server's earlier life has ended, with a cause, and the next one is another. */
static void a_run_ends_with_its_server(void **state)
{
    (void)state;
    json_decref(post(&server, "/v1/queries", CREATE("orphan"), 201));
    await_state(&server, "orphan", "RUNNING");
    server_kill(&server);
    server_restart(&server, quick_restarts);
    await_state(&server, "orphan", "RUNNING");
    json_t *document = get(&server, "/v1/queries/orphan/runs", 200);
    const json_t *runs = json_object_get(document, "runs");
    const json_t *first = json_array_get(runs, 0);
    assert_string_equal(text_of(first, "end"), "FAILED");
    assert_string_equal(text_of(first, "condition"), "WORKER_DIED");
    assert_non_null(strstr(text_of(first, "detail"), "the server was killed"));
    assert_true(json_is_string(json_object_get(first, "endedAt")));
    const json_t *last = json_array_get(runs, json_array_size(runs) - 1);
    assert_string_equal(text_of(last, "end"), "RUNNING");
    json_decref(document);
    json_decref(post(&server, "/v1/queries/orphan/stop", NULL, 202));
    await_state(&server, "orphan", "STOPPED");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deletion_survives_the_server),
        cmocka_unit_test(what_is_asked_of_an_unknown_query_waits),
        cmocka_unit_test(a_worker_that_falls_silent_while_it_starts_is_unknown),
        cmocka_unit_test(a_run_ends_with_its_server),
    };
    return cmocka_run_group_tests_name("api/server_kills", tests, fixture_setup,
                                       fixture_teardown) != 0;
}
