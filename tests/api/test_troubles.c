/*
 * What a server answers that has enough queries, has too many requests open, is stopping, or whose
 * worker does not answer: here the worker is stopped by SIGSTOP, so that all of it is certain.
 */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PENDING_MAX 1024 /* requests that wait for one worker: QUERY_PENDING_MAX */

static char binary[256]; /* the setup takes it out of the environment */
static const char *const patient[] = {
    "--max-queries", "2", "--max-connections", "3000", "--shutdown-grace", "1 s", NULL};
static const char *const watchful[] = {"--heartbeat-interval",
                                       "10 ms",
                                       "--heartbeat-timeout",
                                       "200 ms",
                                       "--shutdown-grace",
                                       "1 s",
                                       NULL};

static int setup_patient(void **state)
{
    (void)state;
    struct rlimit files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    server_start(&server, patient);
    return 0;
}

static int setup_watchful(void **state)
{
    (void)state;
    server_start(&server, watchful);
    return 0;
}

#define SPEC(name)                                                                                 \
    "{\"name\":\"" name "\",\"sources\":{\"c\":{\"format\":\"rate\"}},\"sql\":\"SELECT value "     \
    "FROM c\",\"sink\":{\"format\":\"noop\"},\"trigger\":{\"processingTime\":\"1 hour\"}}"

/* Creates "q", and returns its worker's process id. */
static pid_t start_query(void)
{
    json_decref(post(&server, "/v1/queries", SPEC("q"), 201));
    await_state(&server, "q", "RUNNING");
    json_t *status = get(&server, "/v1/queries/q/status", 200);
    pid_t pid = (pid_t)json_integer_value(json_object_get(status, "pid"));
    json_decref(status);
    assert_true(pid > 1);
    return pid;
}

static void a_query_too_many_is_refused(void **state)
{
    (void)state;
    json_decref(post(&server, "/v1/queries", SPEC("a"), 201));
    json_decref(post(&server, "/v1/queries", SPEC("b"), 201));
    const struct call third = {.method = "POST", .path = "/v1/queries", .body = SPEC("c")};
    refused(&server, &third, 429, "QUERY_LIMIT_EXCEEDED");
    struct reply gone =
        call(&server, &(struct call){.method = "DELETE", .path = "/v1/queries/a?force=true"});
    assert_int_equal(gone.status, 204);
    reply_free(&gone);
    json_decref(post(&server, "/v1/queries", SPEC("c"), 201));
}

static const struct call keyed = {.method = "POST",
                                  .path = "/v1/queries/q/processAllAvailable",
                                  .headers = {"Idempotency-Key: once", NULL}};

/* Whichever of the two comes second is refused, and lets the worker go on for the first. */
static long ask_with_key(pid_t worker)
{
    struct reply reply = call(&server, &keyed);
    long status = reply.status;
    bool in_progress = status == 409 &&
                       strcmp(text_of(reply.json, "condition"), "IDEMPOTENCY_KEY_IN_PROGRESS") == 0;
    if (in_progress)
        (void)kill(worker, SIGCONT);
    reply_free(&reply);
    return in_progress ? -1 : status;
}

static void a_request_with_a_key_that_is_being_answered_is_refused(void **state)
{
    (void)state;
    pid_t worker = start_query();
    assert_int_equal(kill(worker, SIGSTOP), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(ask_with_key(worker) == -1 ? 1 : 0);
    bool mine = ask_with_key(worker) == -1;
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal((WEXITSTATUS(how) == 1) + mine, 1);
    struct reply again = call(&server, &keyed);
    assert_int_equal(again.status, 200);
    assert_string_equal(reply_header(&again, "Idempotency-Replayed"), "true");
    reply_free(&again);
}

/* Asks on a connection of its own and leaves the answer to be read. */
static int ask_and_leave(void)
{
    static const char request[] =
        "POST /v1/queries/q/trigger HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n";
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(strrchr(server.url, ':') + 1)),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(write(fd, request, sizeof request - 1), sizeof request - 1);
    return fd;
}

static void more_requests_than_can_wait_for_a_worker_are_refused(void **state)
{
    (void)state;
    struct pollfd fds[PENDING_MAX + 1];
    char answer[4096];
    size_t used = 0;
    pid_t worker = start_query();
    assert_int_equal(kill(worker, SIGSTOP), 0);
    for (size_t i = 0; i < PENDING_MAX + 1; i++)
        fds[i] = (struct pollfd){.fd = ask_and_leave(), .events = POLLIN};
    assert_int_equal(poll(fds, PENDING_MAX + 1, 60000), 1); /* one, whichever came last */
    size_t i = 0;
    while ((fds[i].revents & POLLIN) == 0)
        i++;
    answer[0] = '\0';
    while (used + 1 < sizeof answer && strstr(answer, "SERVER_BUSY") == NULL) {
        ssize_t got = read(fds[i].fd, answer + used, sizeof answer - 1 - used);
        if (got <= 0)
            fail_msg("the answer is not SERVER_BUSY: %s", answer);
        used += (size_t)got;
        answer[used] = '\0';
    }
    assert_int_equal(strncmp(answer, "HTTP/1.1 503", 12), 0);
    assert_non_null(strstr(answer, "Retry-After"));
    assert_int_equal(kill(worker, SIGCONT), 0);
    for (size_t k = 0; k < PENDING_MAX + 1; k++) /* the worker answers, or refuses, the others */
        if (k != i)
            assert_true(read(fds[k].fd, answer, 12) > 0);
    for (size_t k = 0; k < PENDING_MAX + 1; k++)
        (void)close(fds[k].fd);
    json_decref(get(&server, "/v1/queries/q/status", 200));
}

/* SIGTERM, a worker that does not hear it, and the deadline after which it is killed. */
static void a_server_that_stops_says_so_and_ends_in_time(void **state)
{
    (void)state;
    pid_t worker = start_query();
    int how = 0;
    assert_int_equal(kill(worker, SIGSTOP), 0);
    assert_int_equal(kill(server.pid, SIGTERM), 0);
    for (;;) { /* until it has noticed */
        struct reply reply = call(&server, &(struct call){.path = "/readyz"});
        long status = reply.status;
        if (status == 503)
            assert_string_equal(text_of(reply.json, "condition"), "SERVER_STOPPING");
        reply_free(&reply);
        if (status == 503)
            break;
    }
    const struct call start = {.method = "POST", .path = "/v1/queries/q/trigger"};
    refused(&server, &start, 503, "SERVER_STOPPING");
    assert_int_equal(waitpid(server.pid, &how, 0), server.pid);
    server.pid = 0;
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    assert_int_equal(kill(worker, 0), -1); /* it is gone, too */
    server_restart(&server, patient);      /* and the query goes on */
    await_state(&server, "q", "RUNNING");
}

/* WORKER_UNRESPONSIVE is the reason that the state gives. */
static void a_worker_that_is_silent_is_unknown_until_it_speaks(void **state)
{
    (void)state;
    pid_t worker = start_query();
    assert_int_equal(kill(worker, SIGSTOP), 0);
    await_state(&server, "q", "UNKNOWN");
    json_t *status = get(&server, "/v1/queries/q/status", 200);
    char *text = json_dumps(status, 0);
    assert_non_null(strstr(text, "has not answered"));
    free(text);
    json_decref(status);
    assert_int_equal(kill(worker, SIGCONT), 0);
    await_state(&server, "q", "RUNNING");
    assert_int_equal(kill(worker, SIGSTOP), 0);
    await_state(&server, "q", "UNKNOWN");
    const struct call stop = {
        .method = "POST", .path = "/v1/queries/q/stop", .headers = {"Prefer: wait=60", NULL}};
    struct reply reply = call(&server, &stop); /* it is killed: it does not even say it lives */
    assert_int_equal(reply.status, 200);
    assert_string_equal(text_of(reply.json, "state"), "STOPPED");
    reply_free(&reply);
}

#define FILES_FEW 64

/* From here on: the last test. */
static int setup_few_files(void **state)
{
    (void)state;
    const struct rlimit files = {FILES_FEW, FILES_FEW};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    server_start(&server, NULL);
    return 0;
}

/* Queries leave descriptors to who would stop them. */
static void a_server_with_few_descriptors_answers(void **state)
{
    (void)state;
    char text[512];
    for (int i = 0; i < FILES_FEW / 2; i++) {
        (void)snprintf(
            text, sizeof text,
            "{\"name\":\"q%d\",\"sources\":{\"c\":{\"format\":\"rate\"}},\"sql\":\"SELECT "
            "value FROM c\",\"sink\":{\"format\":\"noop\"}}",
            i);
        json_decref(post(&server, "/v1/queries", text, 201));
    }
    await_state(&server, "q0", "RUNNING");
    json_t *all = get(&server, "/v1/queries?pageSize=100", 200);
    assert_int_equal(json_array_size(json_object_get(all, "queries")), FILES_FEW / 2);
    json_decref(all);
    for (int i = 0; i < FILES_FEW / 2; i++) {
        (void)snprintf(text, sizeof text, "/v1/queries/q%d?force=true", i);
        struct reply gone = call(&server, &(struct call){.method = "DELETE", .path = text});
        assert_int_equal(gone.status, 204);
        reply_free(&gone);
    }
}

static void listening_to_everybody_has_to_be_meant(void **state)
{
    (void)state;
    char command[1024];
    (void)snprintf(command, sizeof command,
                   "\"%s\" serve --listen 0.0.0.0:0 --data-dir %s/open 2>&1 | "
                   "grep -q INSECURE_LISTEN_ADDRESS",
                   binary, server.dir);
    assert_int_equal(system(command), 0); /* NOLINT: the test's own words */
    (void)snprintf(command, sizeof command,
                   "\"%s\" serve --listen 8580 --data-dir %s/open 2>&1 | "
                   "grep -q 'INVALID_SETTING.*ADDRESS:PORT, as 127.0.0.1:8580'",
                   binary, server.dir);
    assert_int_equal(system(command), 0); /* NOLINT */
    static const char *const flags[] = {"--listen", "0.0.0.0:0", NULL};
    assert_int_not_equal(server_refused(flags), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name, how) cmocka_unit_test_setup_teardown(name, setup_##how, fixture_teardown)
        T(a_query_too_many_is_refused, patient),
        T(a_request_with_a_key_that_is_being_answered_is_refused, patient),
        T(more_requests_than_can_wait_for_a_worker_are_refused, patient),
        T(a_server_that_stops_says_so_and_ends_in_time, patient),
        T(a_worker_that_is_silent_is_unknown_until_it_speaks, watchful),
        T(listening_to_everybody_has_to_be_meant, watchful),
        T(a_server_with_few_descriptors_answers, few_files),
    };
    const char *given = getenv("TIDEMILL_BINARY");
    (void)snprintf(binary, sizeof binary, "%s", given == NULL ? "" : given);
    return cmocka_run_group_tests_name("api/troubles", tests, NULL, NULL);
}
