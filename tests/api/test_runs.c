/*
 * Queries that run: batches, waiting, killing, restarting, the server's own end.
 */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAILING_ROW  17     /* its key is in one of the last partitions */
#define LOGGED_EARLY 100000 /* bytes: the changes of some of the others */

/* A copy of the JSON files below in/, filtered, with the given sink and trigger. */
static void create(const char *name, const char *sink, const char *trigger)
{
    char body[2048];
    (void)snprintf(body, sizeof body,
                   "{\"name\":\"%s\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"a INT, b "
                   "STRING\",\"options\":{\"path\":\"%s/in\"}}},\"sql\":\"SELECT a, b FROM c WHERE "
                   "a > 0\",\"sink\":%s,\"trigger\":%s}",
                   name, server.dir, sink, trigger);
    json_decref(post(&server, "/v1/queries", body, 201));
}

static void create_to_files(const char *name, const char *trigger)
{
    char sink[256];
    (void)snprintf(sink, sizeof sink, "{\"format\":\"json\",\"options\":{\"path\":\"%s/%s\"}}",
                   server.dir, name);
    create(name, sink, trigger);
}

static json_t *act(const char *query, const char *action, long status)
{
    char path[256];
    (void)snprintf(path, sizeof path, "/v1/queries/%s/%s", query, action);
    return post(&server, path, NULL, status);
}

static void drop(const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "/v1/queries/%s?force=true&purge=checkpoint", name);
    struct reply reply = call(&server, &(struct call){.method = "DELETE", .path = path});
    assert_int_equal(reply.status, 204);
    reply_free(&reply);
}

static json_t *read_of(const char *query, const char *suffix)
{
    char path[256];
    (void)snprintf(path, sizeof path, "/v1/queries/%s%s", query, suffix);
    return get(&server, path, 200);
}

static void expect_output(const char *dir, const char *want)
{
    char *lines = read_lines(&server, dir, ".json");
    assert_string_equal(lines, want);
    free(lines);
}

/* The worker of the query once it is another one than `old`: waits by the status's ETag. */
static pid_t next_worker(const char *query, pid_t old)
{
    char path[256], match[160] = "X-None: 1";
    (void)snprintf(path, sizeof path, "/v1/queries/%s/status", query);
    for (;;) {
        struct call ask = {.path = path, .headers = {match, "Prefer: wait=10"}};
        struct reply reply = call(&server, &ask);
        pid_t pid = (pid_t)json_integer_value(json_object_get(reply.json, "pid"));
        bool runs = reply.status == 200 && strcmp(text_of(reply.json, "state"), "RUNNING") == 0;
        (void)snprintf(match, sizeof match, "If-None-Match: %.100s", reply_header(&reply, "ETag"));
        reply_free(&reply);
        if (runs && pid > 1 && pid != old)
            return pid;
    }
}

/* Pages of one element, from the newest to the oldest: as many as one page of all has. */
static void turns_pages(const char *query, const char *what, const char *id)
{
    char suffix[256];
    (void)snprintf(suffix, sizeof suffix, "/%s?limit=1000", what);
    json_t *all = read_of(query, suffix);
    const json_t *list = json_object_get(all, what);
    assert_true(json_is_null(json_object_get(all, "nextPageToken")));
    (void)snprintf(suffix, sizeof suffix, "/%s?limit=1", what);
    for (size_t left = json_array_size(list); left-- > 0;) {
        json_t *page = read_of(query, suffix);
        const json_t *elements = json_object_get(page, what);
        assert_int_equal(json_array_size(elements), 1);
        assert_true(json_equal(json_object_get(json_array_get(elements, 0), id),
                               json_object_get(json_array_get(list, left), id)));
        const char *token = json_string_value(json_object_get(page, "nextPageToken"));
        assert_int_equal(token == NULL, left == 0);
        if (token != NULL)
            (void)snprintf(suffix, sizeof suffix, "/%s?limit=1&pageToken=%s", what, token);
        json_decref(page);
    }
    json_decref(all);
    (void)snprintf(suffix, sizeof suffix, "/v1/queries/%s/%s?pageToken=x", query, what);
    refused(&server, &(struct call){.path = suffix}, 400, "INVALID_PARAMETER");
}

static void a_query_processes_what_arrives(void **state)
{
    (void)state;
    create_to_files("flow", "{}");
    write_file(&server, "in/1.json", "{\"a\":1,\"b\":\"x\"}\n{\"a\":-1,\"b\":\"y\"}\n");
    json_decref(act("flow", "processAllAvailable", 200));
    expect_output("flow", "{\"a\":1,\"b\":\"x\"}\n");
    write_file(&server, "in/2.json", "{\"a\":2}\n");
    json_decref(act("flow", "processAllAvailable", 200));
    expect_output("flow", "{\"a\":1,\"b\":\"x\"}\n{\"a\":2}\n");
    json_t *progress = read_of("flow", "/progress?last=1");
    const json_t *last = json_array_get(json_object_get(progress, "progress"), 0);
    assert_string_equal(text_of(last, "name"), "flow");
    json_decref(progress);
    progress = read_of("flow", "/progress?fromBatch=1");
    assert_true(json_array_size(json_object_get(progress, "progress")) >= 1);
    json_decref(progress);
    json_t *batches = read_of("flow", "/batches");
    assert_true(json_array_size(json_object_get(batches, "batches")) >= 2);
    json_decref(batches);
    json_t *batch = read_of("flow", "/batches/0");
    const json_t *source = json_array_get(json_object_get(batch, "sources"), 0);
    assert_true(json_integer_value(json_object_get(source, "numFiles")) >= 1);
    const json_t *read = json_array_get(json_object_get(source, "files"), 0);
    assert_non_null(strstr(text_of(read, "path"), "/in/1.json"));
    const json_t *sink = json_object_get(batch, "sink");
    assert_true(json_integer_value(json_object_get(sink, "numFiles")) >= 1);
    const json_t *wrote = json_array_get(json_object_get(sink, "files"), 0);
    assert_non_null(strstr(text_of(wrote, "path"), text_of(batch, "sinkToken")));
    json_decref(batch);
    turns_pages("flow", "batches", "batchId");
    turns_pages("flow", "runs", "runId");
    json_decref(read_of("flow", "/plan"));
    json_decref(read_of("flow", "/checkpoint"));
    json_decref(act("flow", "checkpoint/verify", 200));
    refused(&server, &(struct call){.path = "/v1/queries/flow/batches/999999"}, 404,
            "BATCH_NOT_FOUND");
    refused(&server, &(struct call){.path = "/v1/queries/flow/results"}, 409,
            "RESULTS_NOT_AVAILABLE");
    json_t *no_rows = get(&server, "/v1/queries/flow/results", 409);
    assert_string_equal(text_of(no_rows, "detail"),
                        "No rows of the query flow can be read: its sink is json, and only memory "
                        "keeps rows that can be read here");
    json_decref(no_rows);
    refused(&server, &(struct call){.method = "DELETE", .path = "/v1/queries/flow"}, 409,
            "INVALID_STATE");
    drop("flow");
}

static void files_that_cannot_be_cleaned_are_counted(void **state)
{
    (void)state;
    char body[2048];
    make_dir(&server, "dirty");
    (void)snprintf(
        body, sizeof body,
        "{\"name\":\"dirty\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"a INT\","
        "\"options\":{\"path\":\"%s/dirty\",\"cleanSource\":\"archive\","
        "\"sourceArchiveDir\":\"%s/blocked\"}}},\"sql\":\"SELECT a FROM c\","
        "\"sink\":{\"format\":\"noop\"}}",
        server.dir, server.dir);
    json_decref(post(&server, "/v1/queries", body, 201));
    write_file(&server, "blocked", "no directory");
    write_file(&server, "dirty/1.json", "{\"a\":1}\n");
    json_decref(act("dirty", "processAllAvailable", 200));
    write_file(&server, "dirty/2.json", "{\"a\":2}\n");
    json_decref(act("dirty", "processAllAvailable", 200));
    json_t *progress = read_of("dirty", "/progress?last=1");
    const json_t *last = json_array_get(json_object_get(progress, "progress"), 0);
    const json_t *source = json_array_get(json_object_get(last, "sources"), 0);
    assert_string_equal(text_of(json_object_get(source, "metrics"), "numFilesNotCleaned"), "1");
    json_decref(progress);
    struct reply metrics = call(&server, &(struct call){.path = "/metrics"});
    assert_non_null(
        strstr(metrics.text, "tidemill_query_uncleaned_files_total{query=\"dirty\"} 1\n"));
    reply_free(&metrics);
    drop("dirty");
}

/* The columns count by their places, as in Spark, which warns. */
static void a_header_in_another_order_is_counted_and_logged(void **state)
{
    (void)state;
    char body[2048], command[512];
    make_dir(&server, "headers");
    (void)snprintf(body, sizeof body,
                   "{\"name\":\"headers\",\"sources\":{\"c\":{\"format\":\"csv\",\"schema\":\"a "
                   "INT, b STRING\",\"options\":{\"path\":\"%s/headers\",\"header\":\"true\"}}},"
                   "\"sql\":\"SELECT a, b FROM c\",\"sink\":{\"format\":\"noop\"}}",
                   server.dir);
    json_decref(post(&server, "/v1/queries", body, 201));
    write_file(&server, "headers/1.csv", "a,b\n1,x\n");
    write_file(&server, "headers/2.csv", "b,a\n1,x\n");
    json_decref(act("headers", "processAllAvailable", 200));
    json_t *progress = read_of("headers", "/progress?last=10");
    size_t i;
    json_t *one;
    int found = 0;
    json_array_foreach(json_object_get(progress, "progress"), i, one)
    {
        const json_t *source = json_array_get(json_object_get(one, "sources"), 0);
        const json_t *count =
            json_object_get(json_object_get(source, "metrics"), "numFilesWithOtherHeader");
        found += count != NULL && strcmp(json_string_value(count), "1") == 0;
    }
    assert_int_equal(found, 1);
    json_decref(progress);
    (void)snprintf(command, sizeof command,
                   "cat %s/queries/*/worker.log | grep csv_header_differs | grep -q 2.csv",
                   server.data_dir);
    assert_int_equal(system(command), 0); /* NOLINT: the test's own words */
    drop("headers");
}

static void ends_with(const char *sql, const char *text, const char *not_this)
{
    char body[2048];
    (void)snprintf(
        body, sizeof body,
        "{\"name\":\"named\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"a INT, b "
        "STRING\",\"options\":{\"path\":\"%s/named\"}}},\"sql\":\"%s\",\"sink\":{"
        "\"format\":\"noop\"},\"trigger\":{\"availableNow\":true}}",
        server.dir, sql);
    json_decref(post(&server, "/v1/queries", body, 201));
    json_t *end = act("named", "awaitTermination", 200);
    if (strstr(text_of(end, "message"), text) == NULL)
        fail_msg("%s: %s", sql, text_of(end, "message"));
    assert_null(strstr(text_of(end, "message"), not_this));
    json_decref(end);
    drop("named");
}

/* An error names the expression that failed: in a lambda that in it, else the whole function, also
 * where the text of a value looks like an expression that has been named. */
static void an_error_names_its_expression_once(void **state)
{
    (void)state;
    make_dir(&server, "named");
    write_file(&server, "named/1.json", "{\"a\":1,\"b\":\"f(x): y#z\"}\n");
    ends_with("SELECT array_sort(split(b, '#'), (x, y) -> CAST(NULL AS INT)) AS s FROM c",
              "array_sort(split(b, #", "@");
    ends_with("SELECT transform(array(a), x -> 1 DIV (x - x)) AS t FROM c", "(1 div (",
              "transform(");
    ends_with("SELECT transform(array(a), x -> coalesce(CAST(NULL AS BIGINT), 1 DIV (x - x))) AS t "
              "FROM c",
              "(1 div (", "transform(");
}

/* The bytes of the log of the only query's checkpoint. */
static long log_bytes(const struct server *of)
{
    char command[512];
    long bytes = 0;
    (void)snprintf(command, sizeof command, "cat %s/checkpoints/*/log/* | wc -c", of->data_dir);
    FILE *pipe = popen(command, "r"); /* NOLINT: the test's own words */
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%ld", &bytes), 1); /* NOLINT */
    (void)pclose(pipe);
    return bytes;
}

/* What its partitions have changed goes to the log early, but not again when it runs again: a batch
 * that fails each time would fill the disk. */
static void a_batch_that_fails_again_and_again_leaves_nothing_more_in_the_log(void **state)
{
    (void)state;
    struct server two;
    static const char *const threads[] = {"--parallelism", "2", NULL};
    char body[2048];
    size_t rows = 60000, used = 0;
    char *text = malloc(rows * 40);
    assert_non_null(text);
    server_start(&two, threads);
    make_dir(&two, "in");
    for (size_t i = 0; i < rows; i++)
        used += (size_t)snprintf(text + used, rows * 40 - used, "{\"a\":%d,\"b\":\"key-%06zu\"}\n",
                                 i == FAILING_ROW ? 0 : 1, i);
    write_file(&two, "in/1.json", text);
    free(text);
    (void)snprintf(
        body, sizeof body,
        "{\"name\":\"q\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"a INT, b "
        "STRING\",\"options\":{\"path\":\"%s/in\"}}},\"sql\":\"SELECT b, 1 DIV max(a) AS "
        "x FROM c GROUP BY b\",\"sink\":{\"format\":\"noop\"},\"outputMode\":\"update\","
        "\"conf\":{\"spark.sql.shuffle.partitions\":\"8\"},\"trigger\":{"
        "\"availableNow\":true}}",
        two.dir);
    json_decref(post(&two, "/v1/queries", body, 201));
    long sizes[4];
    for (int i = 0; i < 4; i++) {
        if (i > 0)
            json_decref(post(&two, "/v1/queries/q/start", NULL, 202));
        json_t *end = post(&two, "/v1/queries/q/awaitTermination", NULL, 200);
        assert_string_equal(text_of(end, "state"), "FAILED");
        assert_non_null(strstr(text_of(end, "message"), "DIVIDE_BY_ZERO"));
        json_decref(end);
        sizes[i] = log_bytes(&two);
    }
    print_message("log: %ld %ld %ld %ld bytes\n", sizes[0], sizes[1], sizes[2], sizes[3]);
    server_end(&two);
    assert_true(sizes[0] > LOGGED_EARLY); /* the test tests something */
    assert_true(sizes[3] - sizes[0] < LOGGED_EARLY / 4);
}

static void actions_are_idempotent(void **state)
{
    (void)state;
    create_to_files("twice", "{}");
    await_state(&server, "twice", "RUNNING");
    json_decref(act("twice", "start", 200));
    struct call stop = {
        .method = "POST", .path = "/v1/queries/twice/stop", .headers = {"Prefer: wait=30"}};
    struct reply reply = call(&server, &stop);
    assert_int_equal(reply.status, 200);
    assert_string_equal(text_of(reply.json, "state"), "STOPPED");
    assert_string_equal(text_of(reply.json, "desiredState"), "STOPPED");
    reply_free(&reply);
    json_decref(act("twice", "stop", 200));
    struct call start = {
        .method = "POST", .path = "/v1/queries/twice/start", .headers = {"Prefer: wait=30"}};
    reply = call(&server, &start);
    assert_int_equal(reply.status, 200);
    assert_string_equal(text_of(reply.json, "state"), "RUNNING");
    reply_free(&reply);
    json_decref(act("twice", "restart", 202));
    await_state(&server, "twice", "RUNNING");
    json_t *runs = read_of("twice", "/runs");
    assert_true(json_array_size(json_object_get(runs, "runs")) >= 2);
    json_decref(runs);
    drop("twice");
}

static void available_now_finishes_by_itself_and_stays_so(void **state)
{
    (void)state;
    create("now", "{\"format\":\"memory\"}", "{\"availableNow\":true}");
    json_t *end = act("now", "awaitTermination", 200);
    assert_string_equal(text_of(end, "state"), "FINISHED");
    json_decref(end);
    json_t *results = read_of("now", "/results");
    assert_int_equal(json_array_size(json_object_get(results, "rows")), 2);
    json_decref(results);
    struct call lines = {.path = "/v1/queries/now/results?limit=1",
                         .headers = {"Accept: application/x-ndjson"}};
    struct reply reply = call(&server, &lines);
    assert_string_equal(reply_header(&reply, "Content-Type"), "application/x-ndjson");
    assert_int_equal(strncmp(reply.text, "{\"a\":", 5), 0);
    reply_free(&reply);
    lines.headers[0] = "Accept: text/html";
    refused(&server, &lines, 406, "NOT_ACCEPTABLE");
    server_stop(&server);
    server_restart(&server, quick_restarts);
    json_t *status = read_of("now", "/status");
    assert_string_equal(text_of(status, "state"), "FINISHED");
    json_decref(status);
    json_t *progress = read_of("now", "/progress");
    assert_true(json_array_size(json_object_get(progress, "progress")) >= 1);
    json_decref(progress);
    drop("now");
}

static void a_replaced_spec_starts_nothing_that_has_ended(void **state)
{
    (void)state;
    create("ended", "{\"format\":\"memory\"}", "{\"availableNow\":true}");
    json_decref(act("ended", "awaitTermination", 200));
    struct call put = {.method = "PUT",
                       .path = "/v1/queries/ended",
                       .body = "{\"sources\":{\"c\":{\"format\":\"rate\"}},\"sql\":\"SELECT value "
                               "FROM c\",\"sink\":{\"format\":\"noop\"}}",
                       .headers = {"If-Match: *"}};
    struct reply reply = call(&server, &put);
    assert_int_equal(reply.status, 200);
    reply_free(&reply);
    server_stop(&server);
    server_restart(&server, quick_restarts);
    json_t *status = read_of("ended", "/status");
    assert_string_equal(text_of(status, "state"), "FINISHED");
    json_decref(status);
    drop("ended");
}

static void rows_of_a_memory_sink_are_read_while_it_runs(void **state)
{
    (void)state;
    create("memory", "{\"format\":\"memory\"}", "{}");
    json_decref(act("memory", "processAllAvailable", 200));
    json_t *results = read_of("memory", "/results");
    assert_int_equal(json_array_size(json_object_get(results, "rows")), 2);
    json_decref(results);
    drop("memory");
}

static void a_killed_worker_loses_and_repeats_nothing(void **state)
{
    (void)state;
    create_to_files("killed", "{}");
    pid_t worker = 0;
    for (int i = 0; i < 8; i++) {
        char name[32], line[64];
        worker = next_worker("killed", worker);
        assert_int_equal(kill(worker, SIGKILL), 0);
        (void)snprintf(name, sizeof name, "in/k%d.json", i);
        (void)snprintf(line, sizeof line, "{\"a\":%d,\"b\":\"k\"}\n", 10 + i);
        write_file(&server, name, line);
    }
    json_decref(act("killed", "processAllAvailable", 200));
    expect_output("killed", "{\"a\":1,\"b\":\"x\"}\n"
                            "{\"a\":10,\"b\":\"k\"}\n{\"a\":11,\"b\":\"k\"}\n"
                            "{\"a\":12,\"b\":\"k\"}\n{\"a\":13,\"b\":\"k\"}\n"
                            "{\"a\":14,\"b\":\"k\"}\n{\"a\":15,\"b\":\"k\"}\n"
                            "{\"a\":16,\"b\":\"k\"}\n{\"a\":17,\"b\":\"k\"}\n{\"a\":2}\n");
    json_t *runs = read_of("killed", "/runs");
    const json_t *first = json_array_get(json_object_get(runs, "runs"), 0);
    assert_string_equal(text_of(first, "condition"), "WORKER_DIED");
    json_decref(runs);
    drop("killed");
}

static void a_killed_server_resumes_its_queries(void **state)
{
    (void)state;
    create_to_files("resumed", "{}");
    json_decref(act("resumed", "processAllAvailable", 200));
    server_kill(&server);
    server_restart(&server, quick_restarts);
    await_state(&server, "resumed", "RUNNING");
    write_file(&server, "in/after.json", "{\"a\":99}\n");
    json_decref(act("resumed", "processAllAvailable", 200));
    char *lines = read_lines(&server, "resumed", ".json");
    assert_non_null(strstr(lines, "{\"a\":99}\n"));
    size_t count = 0;
    for (const char *at = lines; (at = strchr(at, '\n')) != NULL; at++)
        count++;
    assert_int_equal(count, 11);
    free(lines);
    drop("resumed");
}

static void a_failing_query_says_why(void **state)
{
    (void)state;
    char body[1024];
    (void)snprintf(body, sizeof body,
                   "{\"name\":\"bad\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"a INT\","
                   "\"options\":{\"path\":\"%s/in\"}}},\"sql\":\"SELECT 1 DIV (a - a) AS z FROM "
                   "c\",\"sink\":{\"format\":\"noop\"}}",
                   server.dir);
    json_decref(post(&server, "/v1/queries", body, 201));
    json_t *end = act("bad", "awaitTermination", 200);
    assert_string_equal(text_of(end, "state"), "FAILED");
    assert_non_null(strstr(text_of(end, "message"), "DIVIDE_BY_ZERO"));
    assert_non_null(strstr(text_of(end, "message"), "(1 div (a - a)): Division by zero"));
    const json_t *error = json_object_get(end, "lastError");
    assert_string_equal(text_of(error, "domain"), "user");
    json_decref(end);
    drop("bad");
}

static void waiting_ends_with_its_time(void **state)
{
    (void)state;
    create_to_files("wait", "{\"processingTime\":\"1 hour\"}");
    await_state(&server, "wait", "RUNNING");
    refused(&server,
            &(struct call){.method = "POST",
                           .path = "/v1/queries/wait/awaitTermination",
                           .body = "{\"timeout\":\"10 ms\"}"},
            408, "REQUEST_TIMEOUT");
    json_t *after = act("wait", "trigger", 200);
    assert_string_equal(text_of(after, "phase"), "WAITING_FOR_TRIGGER");
    json_decref(after);
    json_decref(act("wait", "trigger", 200)); /* nothing new is there any more */
    json_t *idle = read_of("wait", "/status");
    assert_string_equal(text_of(idle, "phase"), "WAITING_FOR_TRIGGER");
    json_decref(idle);
    struct reply status = call(&server, &(struct call){.path = "/v1/queries/wait/status"});
    char match[64];
    (void)snprintf(match, sizeof match, "If-None-Match: %.40s", reply_header(&status, "ETag"));
    reply_free(&status);
    struct call same = {.path = "/v1/queries/wait/status", .headers = {match, "Prefer: wait=0"}};
    status = call(&server, &same);
    assert_int_equal(status.status, 304);
    reply_free(&status);
    drop("wait");
}

static void a_replaced_spec_applies_now_if_asked(void **state)
{
    (void)state;
    create("swap", "{\"format\":\"noop\"}", "{}");
    await_state(&server, "swap", "RUNNING");
    char body[1024];
    (void)snprintf(body, sizeof body,
                   "{\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"a INT, b STRING\","
                   "\"options\":{\"path\":\"%s/in\"}}},\"sql\":\"SELECT a FROM c\",\"sink\":{"
                   "\"format\":\"noop\"}}",
                   server.dir);
    struct call put = {.method = "PUT",
                       .path = "/v1/queries/swap?apply=now",
                       .body = body,
                       .headers = {"If-Match: *"}};
    struct reply reply = call(&server, &put);
    assert_int_equal(reply.status, 200);
    reply_free(&reply);
    await_state(&server, "swap", "RUNNING");
    json_decref(act("swap", "processAllAvailable", 200));
    json_t *status = read_of("swap", "/status");
    assert_int_equal(json_integer_value(json_object_get(status, "runningGeneration")), 2);
    json_decref(status);
    drop("swap");
}

static void a_silent_worker_is_unknown_until_it_speaks(void **state)
{
    (void)state;
    struct server quick;
    static const char *const quick_flags[] = {"--heartbeat-interval", "20 ms",
                                              "--heartbeat-timeout", "200 ms", NULL};
    server_start(&quick, quick_flags);
    json_decref(post(&quick, "/v1/queries",
                     "{\"name\":\"mute\",\"sources\":{\"c\":{\"format\":\"rate\"}},\"sql\":"
                     "\"SELECT value FROM c\",\"sink\":{\"format\":\"noop\"}}",
                     201));
    await_state(&quick, "mute", "RUNNING");
    json_t *status = get(&quick, "/v1/queries/mute/status", 200);
    pid_t pid = (pid_t)json_integer_value(json_object_get(status, "pid"));
    json_decref(status);
    assert_int_equal(kill(pid, SIGSTOP), 0);
    await_state(&quick, "mute", "UNKNOWN");
    status = get(&quick, "/v1/queries/mute/status", 200);
    assert_non_null(strstr(text_of(status, "stateReason"), "has not answered"));
    json_decref(status);
    assert_int_equal(kill(pid, SIGCONT), 0);
    await_state(&quick, "mute", "RUNNING");
    server_stop(&quick);
    server_end(&quick);
}

/* Requests wait for the worker of a query that never gets one: its end ends them. */
static void a_query_without_a_worker_is_deleted(void **state)
{
    (void)state;
    struct server small;
    static const char *const small_flags[] = {"--max-running-queries", "1", NULL};
    static const char *const names[] = {"first", "second"};
    server_start(&small, small_flags);
    for (int i = 0; i < 2; i++) {
        char body[256];
        (void)snprintf(
            body, sizeof body,
            "{\"name\":\"%s\",\"sources\":{\"c\":{\"format\":\"rate\"}},\"sql\":\"SELECT "
            "value FROM c\",\"sink\":{\"format\":\"noop\"}}",
            names[i]);
        json_decref(post(&small, "/v1/queries", body, 201));
        if (i == 0)
            await_state(&small, "first", "RUNNING");
    }
    const struct call trigger = {.method = "POST",
                                 .path = "/v1/queries/second/trigger",
                                 .body = "{\"timeout\":\"10 ms\"}",
                                 .headers = {"Idempotency-Key: once"}};
    refused(&small, &trigger, 408, "REQUEST_TIMEOUT");
    struct reply again = call(&small, &trigger); /* asks anew */
    assert_int_equal(again.status, 408);
    assert_string_equal(reply_header(&again, "Idempotency-Replayed"), "");
    reply_free(&again);
    struct reply reply =
        call(&small, &(struct call){.method = "DELETE", .path = "/v1/queries/second?force=true"});
    assert_int_equal(reply.status, 204);
    reply_free(&reply);
    json_decref(post(&small, "/v1/queries/first/stop",
                     "{\"mode\":\"graceful\",\"timeout\":\"106751991 days\"}", 202));
    await_state(&small, "first", "STOPPED");
    server_end(&small);
}

static void a_name_that_is_too_long_is_no_other_query(void **state)
{
    (void)state;
    char name[129], path[256];
    memset(name, 'a', 128);
    name[128] = '\0';
    create(name, "{\"format\":\"noop\"}", "{}");
    (void)snprintf(path, sizeof path, "/v1/queries/%sb/stop", name);
    refused(&server, &(struct call){.method = "POST", .path = path}, 404, "QUERY_NOT_FOUND");
    json_t *status = read_of(name, "/status");
    assert_string_equal(text_of(status, "desiredState"), "RUNNING");
    json_decref(status);
    drop(name);
}

static void sigterm_ends_in_order(void **state)
{
    (void)state;
    create_to_files("term", "{}");
    json_decref(act("term", "processAllAvailable", 200));
    server_stop(&server);
    server_restart(&server, quick_restarts);
    await_state(&server, "term", "RUNNING");
    json_t *runs = read_of("term", "/runs");
    const json_t *first = json_array_get(json_object_get(runs, "runs"), 0);
    assert_string_equal(text_of(first, "end"), "STOPPED");
    json_decref(runs);
    drop("term");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_query_processes_what_arrives),
        cmocka_unit_test(files_that_cannot_be_cleaned_are_counted),
        cmocka_unit_test(a_header_in_another_order_is_counted_and_logged),
        cmocka_unit_test(an_error_names_its_expression_once),
        cmocka_unit_test(a_batch_that_fails_again_and_again_leaves_nothing_more_in_the_log),
        cmocka_unit_test(actions_are_idempotent),
        cmocka_unit_test(available_now_finishes_by_itself_and_stays_so),
        cmocka_unit_test(a_replaced_spec_starts_nothing_that_has_ended),
        cmocka_unit_test(rows_of_a_memory_sink_are_read_while_it_runs),
        cmocka_unit_test(a_killed_worker_loses_and_repeats_nothing),
        cmocka_unit_test(a_killed_server_resumes_its_queries),
        cmocka_unit_test(a_failing_query_says_why),
        cmocka_unit_test(waiting_ends_with_its_time),
        cmocka_unit_test(a_replaced_spec_applies_now_if_asked),
        cmocka_unit_test(a_silent_worker_is_unknown_until_it_speaks),
        cmocka_unit_test(a_query_without_a_worker_is_deleted),
        cmocka_unit_test(a_name_that_is_too_long_is_no_other_query),
        cmocka_unit_test(sigterm_ends_in_order),
    };
    return cmocka_run_group_tests_name("api/runs", tests, fixture_setup, fixture_teardown) != 0;
}
