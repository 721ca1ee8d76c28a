/*
 * A rewind of a stateful query over the snapshots that its worker has taken, and the batches that
 * run again: what comes out, and the state in the end, is what it would have been undisturbed, also
 * if the worker is killed on the way, or the server in the middle of the rewind.
 */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES 12
#define ARMED "TIDEMILL_FAILPOINTS"

static bool failpoints; /* whether the binary has them */
static const char *const flags[] = {"--restart-delay", "1 ms", "--restart-delay-max", "2 ms", NULL};

static void feed(void)
{
    make_dir(&server, "in");
    for (int i = 0; i < FILES; i++) {
        char name[32], rows[256];
        (void)snprintf(name, sizeof name, "in/%02d.json", i);
        (void)snprintf(rows, sizeof rows,
                       "{\"k\":\"x\",\"a\":%d,\"at\":\"2024-05-01T00:00:%02dZ\"}\n"
                       "{\"k\":\"y\",\"a\":%d,\"at\":\"2024-05-01T00:00:%02dZ\"}\n"
                       "{\"k\":null,\"a\":1,\"at\":\"2024-05-01T00:00:%02dZ\"}\n",
                       i, i * 4, i * i, i * 4 + 3, i * 4 + 1);
        write_file(&server, name, rows);
    }
}

/* Counts per window and key, a snapshot with each batch, into the directory `name`. */
static void create(const char *name)
{
    char body[2048];
    (void)snprintf(
        body, sizeof body,
        "{\"name\":\"%s\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"k STRING, a INT, "
        "at TIMESTAMP\",\"options\":{\"path\":\"%s/in\",\"maxFilesPerTrigger\":1},"
        "\"watermark\":{\"column\":\"at\",\"delay\":\"3 seconds\"}}},"
        "\"sql\":\"SELECT window.start AS w, k, count(*) AS n, sum(a) AS total FROM c GROUP BY "
        "window(at, '10 seconds'), k\",\"outputMode\":\"append\",\"trigger\":{\"availableNow\":"
        "true},\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"%s/%s\"}},"
        "\"restartPolicy\":{\"maxAttempts\":100},"
        "\"conf\":{\"spark.sql.streaming.stateStore.minDeltasForSnapshot\":\"1\"}}",
        name, server.dir, server.dir, name);
    json_decref(post(&server, "/v1/queries", body, 201));
    await_state(&server, name, "FINISHED");
}

/* Of the state after its last batch: all rows, as text. */
static char *state_of(const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "/v1/queries/%s/state", name);
    json_t *all = get(&server, path, 200);
    json_t *one = json_array_get(json_object_get(all, "operators"), 0);
    (void)snprintf(path, sizeof path, "/v1/queries/%s/state/%d", name,
                   (int)json_integer_value(json_object_get(one, "operatorId")));
    json_t *rows = get(&server, path, 200);
    assert_true(json_array_size(json_object_get(rows, "rows")) > 0);
    char *text = json_dumps(rows, JSON_COMPACT);
    json_decref(rows);
    json_decref(all);
    return text;
}

static int count_snapshots(const char *name)
{
    char path[512];
    int count = 0;
    (void)snprintf(path, sizeof path, "/v1/queries/%s/checkpoint", name);
    json_t *document = get(&server, path, 200);
    (void)snprintf(path, sizeof path, "%s/state", text_of(document, "location"));
    json_decref(document);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        count += strncmp(entry->d_name, "snapshot-", 9) == 0 && strstr(entry->d_name, ".p") == NULL;
    (void)closedir(dir);
    return count;
}

static void assert_same_text(char *got, char *expected)
{
    assert_string_equal(got, expected);
    free(got);
    free(expected);
}

static void assert_as_undisturbed(const char *name)
{
    await_state(&server, name, "FINISHED");
    assert_same_text(read_lines(&server, name, ".json"), read_lines(&server, "plain", ".json"));
    assert_same_text(state_of(name), state_of("plain"));
}

static json_int_t next_batch(const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "/v1/queries/%s/start?validateOnly=true", name);
    json_t *plan = post(&server, path, NULL, 200);
    json_int_t next = json_integer_value(json_object_get(plan, "nextBatchId"));
    assert_true(json_is_true(json_object_get(plan, "possible")));
    json_decref(plan);
    return next;
}

static void rewind_to(const char *name, int batch)
{
    char path[128], body[64];
    (void)snprintf(path, sizeof path, "/v1/queries/%s/rewind", name);
    (void)snprintf(body, sizeof body, "{\"toBatchId\":%d}", batch);
    json_decref(post(&server, path, body, 200));
    assert_int_equal(next_batch(name), batch + 1);
}

static void start(const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "/v1/queries/%s/start", name);
    json_decref(post(&server, path, NULL, 202));
}

static int setup(void **state)
{
    (void)state;
    server_start(&server, flags);
    feed();
    create("plain");
    return 0;
}

static void the_state_is_made_again_from_a_snapshot_and_the_log(void **state)
{
    (void)state;
    create("again");
    json_int_t end = next_batch("again");
    assert_true(count_snapshots("again") > 0);
    char log[128], command[256], state_before[64];
    (void)snprintf(log, sizeof log, "%s/server.log", server.dir);
    for (int to = (int)end - 2; to >= -1; to -= 3) {
        json_t *status = get(&server, "/v1/queries/again/status", 200);
        (void)snprintf(state_before, sizeof state_before, "%s", text_of(status, "stateReason"));
        json_decref(status);
        rewind_to("again", to);
        (void)snprintf(command, sizeof command,
                       "grep -q '\"reason\":\"being rewound to batch %d\"' '%s'", to, log);
        assert_int_equal(system(command), 0); /* NOLINT: it was shown ... */
        status = get(&server, "/v1/queries/again/status", 200);
        assert_string_equal(text_of(status, "stateReason"), state_before); /* ... and is over */
        json_decref(status);
        start("again");
        assert_as_undisturbed("again");
        assert_int_equal(next_batch("again"), end);
    }
}

/* In each life of the worker, at the third passing: the last one comes to the end. */
static void a_worker_that_is_killed_while_batches_run_again_goes_on(void **state)
{
    (void)state;
    static const char *const points[] = {"pre_intent",          "post_intent",     "mid_write",
                                         "post_sync",           "mid_commit",      "post_sink",
                                         "post_commit",         "mid_state_apply", "mid_snapshot",
                                         "pre_snapshot_rename", "post_snapshot"};
    if (!failpoints)
        skip();
    create("killed");
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        char armed[64];
        (void)snprintf(armed, sizeof armed, "%s:3:crash", points[i]);
        print_message("%s\n", armed);
        rewind_to("killed", 1 + (int)i % 3);
        server_stop(&server);
        (void)setenv(ARMED, armed, 1);
        server_restart(&server, flags);
        start("killed");
        assert_as_undisturbed("killed");
        server_stop(&server);
        (void)unsetenv(ARMED);
        server_restart(&server, flags);
    }
}

/* Asks, and takes the end of the connection for an answer. */
static void ask_in_vain(const char *path, const char *body)
{
    char request[512], answer[64];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(strrchr(server.url, ':') + 1)),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int size = snprintf(request, sizeof request,
                        "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\n\r\n%s",
                        path, strlen(body), body);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(write(fd, request, (size_t)size), size);
    assert_true(read(fd, answer, sizeof answer) <= 0);
    (void)close(fd);
}

static void a_server_that_is_killed_while_it_rewinds_has_done_it_or_not(void **state)
{
    (void)state;
    static const char *const points[] = {"pre_rewind", "mid_rewind", "post_rewind"};
    if (!failpoints)
        skip();
    create("half");
    json_int_t end = next_batch("half");
    for (size_t i = 0; i < 3; i++) {
        char armed[64];
        int how = 0;
        (void)snprintf(armed, sizeof armed, "%s:1:crash", points[i]);
        server_stop(&server);
        (void)setenv(ARMED, armed, 1);
        server_restart(&server, flags);
        ask_in_vain("/v1/queries/half/rewind", "{\"toBatchId\":4}");
        assert_int_equal(waitpid(server.pid, &how, 0), server.pid);
        assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 137);
        (void)unsetenv(ARMED);
        server_restart(&server, flags);
        assert_int_equal(next_batch("half"), i == 2 ? 5 : end);
        start("half");
        assert_as_undisturbed("half");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
        T(the_state_is_made_again_from_a_snapshot_and_the_log),
        T(a_worker_that_is_killed_while_batches_run_again_goes_on),
        T(a_server_that_is_killed_while_it_rewinds_has_done_it_or_not),
    };
    char command[512];
    const char *binary = getenv("TIDEMILL_BINARY");
    (void)snprintf(command, sizeof command,
                   "TIDEMILL_FAILPOINTS=pre_rewind:1:crash \"%s\" checkpoint rewind /nowhere "
                   "--to-batch 1 2>&1 | grep -q INVALID_FAILPOINT",
                   binary == NULL ? "" : binary);
    failpoints = system(command) != 0; /* NOLINT: the test's own words */
    return cmocka_run_group_tests_name("api/rewind", tests, NULL, NULL);
}
