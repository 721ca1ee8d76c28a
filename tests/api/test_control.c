/*
 * What happens to queries when something is in the way: a disk that refuses, a record that is
 * damaged, a path that cannot be used; and what a new spec and a restart of the server lead to.
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
#include <sys/stat.h>
#include <unistd.h>

static const char *const flags[] = {"--restart-delay", "1 ms", "--restart-delay-max", "2 ms", NULL};

static int setup(void **state)
{
    (void)state;
    server_start(&server, flags);
    return 0;
}

#define SPEC(name, sql, rest)                                                                      \
    "{\"name\":\"" name "\",\"sources\":{\"c\":{\"format\":\"rate\"}},\"sql\":\"" sql              \
    "\",\"sink\":{\"format\":\"noop\"}" rest "}"
#define RUNS(name)  SPEC(name, "SELECT value FROM c", "")
#define FAILS(name) SPEC(name, "SELECT 1 DIV (value - value) AS x FROM c", "")

/* "/v1/queries/NAME" and what follows it. */
static const char *path_of(const char *name, const char *rest)
{
    static char path[512];
    (void)snprintf(path, sizeof path, "/v1/queries/%s%s", name, rest);
    return path;
}

static void remove_query(const char *name)
{
    struct reply reply =
        call(&server, &(struct call){.method = "DELETE", .path = path_of(name, "?force=true")});
    assert_int_equal(reply.status, 204);
    reply_free(&reply);
}

static json_t *status_of(const char *name)
{
    return get(&server, path_of(name, "/status"), 200);
}

/* The file of the query's record. */
static const char *record_of(const char *name)
{
    static char path[512];
    json_t *query = get(&server, path_of(name, ""), 200);
    (void)snprintf(path, sizeof path, "%s/queries/%s/query.json", server.data_dir,
                   text_of(query, "uid"));
    json_decref(query);
    return path;
}

/* A directory in the place of the record: it cannot be replaced, as on a full disk. */
static void stop_works_when_nothing_can_be_written(void **state)
{
    (void)state;
    json_decref(post(&server, "/v1/queries", RUNS("full"), 201));
    await_state(&server, "full", "RUNNING");
    const char *record = record_of("full");
    assert_int_equal(unlink(record), 0);
    assert_int_equal(mkdir(record, 0700), 0);
    struct call stop = {
        .method = "POST", .path = "/v1/queries/full/stop", .headers = {"Prefer: wait=30", NULL}};
    struct reply reply = call(&server, &stop);
    assert_int_equal(reply.status, 200);
    assert_string_equal(text_of(reply.json, "state"), "STOPPED");
    assert_string_equal(text_of(reply.json, "desiredState"), "STOPPED");
    assert_true(json_is_false(json_object_get(reply.json, "desiredStateDurable")));
    reply_free(&reply);
    assert_int_equal(rmdir(record), 0);
    struct call wait = {.path = "/v1/queries/full/status", .headers = {"Prefer: wait=20", NULL}};
    for (int i = 0; i < 3; i++) {
        reply = call(&server, &wait);
        bool durable = json_is_true(json_object_get(reply.json, "desiredStateDurable"));
        reply_free(&reply);
        if (durable)
            break;
    }
    json_t *status = status_of("full");
    assert_true(json_is_true(json_object_get(status, "desiredStateDurable")));
    json_decref(status);
    server_kill(&server);
    server_restart(&server, flags);
    status = status_of("full");
    assert_string_equal(text_of(status, "state"), "STOPPED");
    json_decref(status);
    remove_query("full");
}

static void an_end_says_what_it_failed_with(void **state)
{
    (void)state;
    json_decref(post(&server, "/v1/queries", FAILS("cause"), 201));
    json_t *end = post(&server, "/v1/queries/cause/awaitTermination", "", 200);
    assert_string_equal(text_of(end, "state"), "FAILED");
    assert_string_equal(text_of(json_object_get(end, "exception"), "condition"), "DIVIDE_BY_ZERO");
    json_decref(end);
    struct reply reply = call(
        &server, &(struct call){.method = "POST", .path = "/v1/queries/cause/processAllAvailable"});
    assert_int_equal(reply.status, 409);
    assert_non_null(strstr(text_of(reply.json, "detail"), "DIVIDE_BY_ZERO"));
    const json_t *causes = json_object_get(reply.json, "causes");
    assert_string_equal(json_string_value(json_array_get(causes, 0)), "DIVIDE_BY_ZERO");
    reply_free(&reply);
    json_decref(post(&server, "/v1/queries/cause/stop", "", 200));
    end = post(&server, "/v1/queries/cause/awaitTermination", "", 200);
    assert_string_equal(text_of(end, "state"), "FAILED"); /* stays visible */
    json_decref(end);
    remove_query("cause");
}

static void put(const char *name, const char *query, const char *body, const char *state)
{
    char path[128];
    (void)snprintf(path, sizeof path, "/v1/queries/%s%s", name, query);
    struct reply reply =
        call(&server,
             &(struct call){
                 .method = "PUT", .path = path, .body = body, .headers = {"If-Match: *", NULL}});
    assert_int_equal(reply.status, 200);
    reply_free(&reply);
    await_state(&server, name, state);
}

static void a_failed_query_starts_with_a_spec_that_is_applied_now(void **state)
{
    (void)state;
    json_decref(post(&server, "/v1/queries", FAILS("fixed"), 201));
    await_state(&server, "fixed", "FAILED");
    put("fixed", "", FAILS("fixed"), "FAILED");
    put("fixed", "?apply=now", RUNS("fixed"), "RUNNING");
    server_kill(&server); /* the end is over on disk, too */
    server_restart(&server, flags);
    await_state(&server, "fixed", "RUNNING");
    remove_query("fixed");
}

static void a_new_spec_may_say_the_desired_state(void **state)
{
    (void)state;
    json_decref(post(&server, "/v1/queries", RUNS("desired"), 201));
    await_state(&server, "desired", "RUNNING");
    put("desired", "", SPEC("desired", "SELECT value FROM c", ",\"desiredState\":\"STOPPED\""),
        "STOPPED");
    put("desired", "", SPEC("desired", "SELECT value + 1 FROM c", ""), "STOPPED");
    put("desired", "?apply=now", SPEC("desired", "SELECT value + 2 FROM c", ""), "STOPPED");
    put("desired", "", SPEC("desired", "SELECT value FROM c", ",\"desiredState\":\"RUNNING\""),
        "RUNNING");
    json_decref(post(&server, "/v1/queries/desired/stop", "{\"mode\":\"immediate\"}", 202));
    await_state(&server, "desired", "STOPPED");
    put("desired", "", SPEC("desired", "SELECT value FROM c", ",\"desiredState\":\"RUNNING\""),
        "RUNNING"); /* the same spec, but it says what is not so */
    remove_query("desired");
}

static void a_path_that_cannot_be_used_needs_a_person(void **state)
{
    (void)state;
    make_dir(&server, "in");
    write_file(&server, "in/a.json", "{\"a\":1}\n");
    char spec[1024];
    (void)snprintf(spec, sizeof spec,
                   "{\"name\":\"path\",\"desiredState\":\"STOPPED\",\"sources\":{\"c\":{\"format\":"
                   "\"json\",\"schema\":\"a INT\","
                   "\"options\":{\"path\":\"%s/in\"}}},\"sql\":\"SELECT a FROM c\",\"sink\":{"
                   "\"format\":\"json\",\"options\":{\"path\":\"%s/file/out\"}}}",
                   server.dir, server.dir);
    json_decref(post(&server, "/v1/queries", spec, 201));
    write_file(&server, "file", "no directory"); /* before it stands there, nothing is wrong */
    json_decref(post(&server, "/v1/queries/path/start", NULL, 202));
    await_state(&server, "path", "FAILED");
    json_t *status = status_of("path");
    assert_string_equal(text_of(status, "stateReason"), "PATH_NOT_USABLE");
    assert_int_equal(json_integer_value(json_object_get(status, "attempt")), 3);
    assert_string_equal(text_of(json_object_get(status, "lastError"), "condition"),
                        "PATH_NOT_USABLE");
    assert_string_equal(text_of(json_object_get(status, "firstError"), "condition"),
                        "PATH_NOT_USABLE");
    json_decref(status);
    status = post(&server, "/v1/queries/path/start", NULL, 202); /* a new streak */
    assert_true(json_is_null(json_object_get(status, "firstError")));
    json_decref(status);
    await_state(&server, "path", "FAILED");
    remove_query("path");
}

static void a_purge_leaves_nothing(void **state)
{
    (void)state;
    char rest[256], path[256];
    (void)snprintf(rest, sizeof rest, ",\"checkpointLocation\":\"%s/purged\"", server.dir);
    char spec[1024];
    (void)snprintf(spec, sizeof spec, SPEC("purged", "SELECT value FROM c", "%s"), rest);
    json_decref(post(&server, "/v1/queries", spec, 201));
    await_state(&server, "purged", "RUNNING");
    json_decref(post(&server, "/v1/queries/purged/stop", NULL, 202));
    await_state(&server, "purged", "STOPPED");
    write_file(&server, "purged/epoch.4711.0.tmp", "1"); /* of a process that was killed */
    struct reply reply =
        call(&server,
             &(struct call){.method = "DELETE", .path = path_of("purged", "?purge=checkpoint")});
    assert_int_equal(reply.status, 204);
    reply_free(&reply);
    (void)snprintf(path, sizeof path, "%s/purged", server.dir);
    assert_int_equal(access(path, F_OK), -1);
}

/* A directory with something in it, in the place of the record, cannot be removed as a file. */
static void a_deletion_that_fails_says_why_and_the_query_stays(void **state)
{
    (void)state;
    char inside[520];
    json_decref(post(&server, "/v1/queries", RUNS("sticky"), 201));
    await_state(&server, "sticky", "RUNNING");
    const char *record = record_of("sticky");
    assert_int_equal(unlink(record), 0);
    assert_int_equal(mkdir(record, 0700), 0);
    (void)snprintf(inside, sizeof inside, "%s/x", record);
    assert_int_equal(mkdir(inside, 0700), 0);
    const struct call remove = {.method = "DELETE", .path = "/v1/queries/sticky?force=true"};
    refused(&server, &remove, 503, "IO_FAILURE"); /* with a worker, and without one */
    await_state(&server, "sticky", "FAILED");
    refused(&server, &remove, 503, "IO_FAILURE");
    assert_int_equal(rmdir(inside), 0);
    assert_int_equal(rmdir(record), 0);
    remove_query("sticky");
}

static void a_condition_on_delete_holds_or_not(void **state)
{
    (void)state;
    struct call call_ = {.method = "DELETE",
                         .path = "/v1/queries/match?force=true",
                         .headers = {"If-Match: \"0000000000000000\"", NULL}};
    refused(&server, &call_, 404, "QUERY_NOT_FOUND");
    json_decref(post(&server, "/v1/queries", RUNS("match"), 201));
    refused(&server, &call_, 412, "PRECONDITION_FAILED");
    struct reply reply = call(&server, &(struct call){.path = "/v1/queries/match"});
    char etag[80];
    (void)snprintf(etag, sizeof etag, "If-Match: %.60s", reply_header(&reply, "ETag"));
    reply_free(&reply);
    call_.headers[0] = etag;
    reply = call(&server, &call_);
    assert_int_equal(reply.status, 204);
    reply_free(&reply);
}

static void a_restart_forgets_neither_batch_nor_time(void **state)
{
    (void)state;
    static const char *const names[] = {"memory-once", "memory-stopped", "memory-never"};
    json_decref(post(&server, "/v1/queries",
                     SPEC("memory-once", "SELECT value FROM c", ",\"trigger\":{\"once\":true}"),
                     201));
    json_decref(post(&server, "/v1/queries", RUNS("memory-stopped"), 201));
    json_decref(post(&server, "/v1/queries",
                     SPEC("memory-never", "SELECT value FROM c", ",\"desiredState\":\"STOPPED\""),
                     201));
    await_state(&server, "memory-once", "FINISHED");
    await_state(&server, "memory-stopped", "RUNNING");
    json_decref(post(&server, "/v1/queries/memory-stopped/trigger", "", 200));
    json_decref(post(&server, "/v1/queries/memory-stopped/stop", "", 202));
    await_state(&server, "memory-stopped", "STOPPED");
    json_t *before[3];
    for (size_t i = 0; i < 3; i++)
        before[i] = status_of(names[i]);
    assert_true(json_is_integer(json_object_get(before[0], "lastBatchId")));
    assert_true(json_is_integer(json_object_get(before[1], "lastBatchId")));
    assert_true(json_is_null(json_object_get(before[2], "lastBatchId")));
    server_kill(&server);
    server_restart(&server, flags);
    static const char *const keys[] = {"state", "stateReason", "stateSince", "lastBatchId"};
    for (size_t i = 0; i < 3; i++) {
        json_t *after = status_of(names[i]);
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            print_message("%s %s\n", names[i], keys[k]);
            assert_true(
                json_equal(json_object_get(after, keys[k]), json_object_get(before[i], keys[k])));
        }
        json_decref(after);
        json_decref(before[i]);
        remove_query(names[i]);
    }
}

/* Not read as if it were of this version, and then written over. */
static void a_record_of_a_later_version_is_left_alone(void **state)
{
    (void)state;
    static const char mine[] = "\"formatVersion\":1", later[] = "\"formatVersion\":2";
    char record[512], content[4096] = "", after[4096] = "";
    json_decref(post(&server, "/v1/queries",
                     SPEC("later", "SELECT 1 FROM c", ",\"desiredState\":\"STOPPED\""), 201));
    (void)snprintf(record, sizeof record, "%s", record_of("later"));
    FILE *file = fopen(record, "r+");
    assert_non_null(file);
    size_t size = fread(content, 1, sizeof content - 1, file);
    char *version = strstr(content, mine);
    assert_non_null(version);
    memcpy(version, later, sizeof later - 1);
    rewind(file);
    assert_int_equal(fwrite(content, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    server_stop(&server);
    server_restart(&server, flags);
    json_t *status = get(&server, "/v1/queries/later/status", 200);
    assert_string_equal(text_of(status, "stateReason"), "QUERY_RECORD_DAMAGED");
    assert_non_null(strstr(text_of(status, "message"), "a later version of Tidemill wrote it"));
    json_decref(status);
    refused(&server, &(struct call){.method = "POST", .path = "/v1/queries/later/start"}, 500,
            "QUERY_RECORD_DAMAGED");
    file = fopen(record, "r");
    assert_non_null(file);
    assert_int_equal(fread(after, 1, sizeof after - 1, file), size);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(after, content);
    remove_query("later");
}

static void a_damaged_record_is_shown_and_left_alone(void **state)
{
    (void)state;
    static const char half[] =
        "{\"formatVersion\":1,\"uid\":\"x\",\"name\":\"damaged\",\"spec\":{\"so";
    json_decref(post(&server, "/v1/queries",
                     SPEC("damaged", "SELECT 1 FROM c", ",\"desiredState\":\"STOPPED\""), 201));
    char record[512];
    (void)snprintf(record, sizeof record, "%s", record_of("damaged"));
    FILE *file = fopen(record, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(half, 1, sizeof half - 1, file), sizeof half - 1);
    assert_int_equal(fclose(file), 0);
    server_stop(&server);
    server_restart(&server, flags);
    json_t *query = get(&server, "/v1/queries/damaged", 200);
    const json_t *status = json_object_get(query, "status");
    assert_string_equal(text_of(status, "state"), "FAILED");
    assert_string_equal(text_of(status, "stateReason"), "QUERY_RECORD_DAMAGED");
    assert_true(json_is_null(json_object_get(query, "spec")));
    json_decref(query);
    json_t *list = get(&server, "/v1/queries?state=FAILED", 200);
    assert_int_equal(json_array_size(json_object_get(list, "queries")), 1);
    json_decref(list);
    static const char *const actions[] = {"/start", "/stop", "/restart", "/trigger"};
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        refused(&server, &(struct call){.method = "POST", .path = path_of("damaged", actions[i])},
                500, "QUERY_RECORD_DAMAGED");
    refused(&server,
            &(struct call){.method = "PUT",
                           .path = "/v1/queries/damaged",
                           .body = RUNS("damaged"),
                           .headers = {"If-Match: *", NULL}},
            500, "QUERY_RECORD_DAMAGED");
    refused(&server, &(struct call){.method = "DELETE", .path = "/v1/queries/damaged"}, 409,
            "INVALID_STATE");
    char content[256] = "";
    file = fopen(record, "r");
    assert_non_null(file);
    size_t size = fread(content, 1, sizeof content, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(size, sizeof half - 1);
    assert_memory_equal(content, half, size);
    remove_query("damaged");
    assert_int_equal(access(record, F_OK), -1);
}

static void two_queries_never_write_to_one_directory(void **state)
{
    (void)state;
#define WRITES(name, path)                                                                         \
    "{\"name\":\"" name                                                                            \
    "\",\"sources\":{\"c\":{\"format\":\"rate\"}},\"sql\":\"SELECT value FROM "                    \
    "c\",\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"" path "\"}},\"desiredState\":"     \
    "\"STOPPED\",\"checkpointLocation\":\"/tmp/tidemill-w/" name "\"}"
    json_decref(post(&server, "/v1/queries", WRITES("w1", "/tmp/tidemill-w/out"), 201));
    static const char *const bodies[] = {WRITES("w2", "file:/tmp/tidemill-w/./out/"),
                                         WRITES("w2", "/tmp/tidemill-w/w1/sink")};
    for (size_t i = 0; i < 2; i++) {
        refused(&server, &(struct call){.method = "POST", .path = "/v1/queries", .body = bodies[i]},
                409, "SINK_PATH_IN_USE");
        json_t *answer = post(&server, "/v1/validate", bodies[i], 200);
        const json_t *first = json_array_get(json_object_get(answer, "diagnostics"), 0);
        assert_string_equal(text_of(first, "condition"), "SINK_PATH_IN_USE");
        assert_string_equal(text_of(first, "pointer"), "/sink/options/path");
        json_decref(answer);
    }
    refused(&server,
            &(struct call){.method = "POST",
                           .path = "/v1/queries?validateOnly=true",
                           .body = WRITES("w1", "/tmp/tidemill-w/out3")},
            409, "QUERY_ALREADY_EXISTS");
    refused(&server,
            &(struct call){
                .method = "POST", .path = "/v1/queries?validateOnly=true", .body = bodies[0]},
            409, "SINK_PATH_IN_USE");
    json_decref(post(&server, "/v1/queries", WRITES("w2", "/tmp/tidemill-w/out2"), 201));
    refused(&server,
            &(struct call){.method = "PUT",
                           .path = "/v1/queries/w2",
                           .body = WRITES("w2", "/tmp/tidemill-w/out"),
                           .headers = {"If-Match: *", NULL}},
            409, "SINK_PATH_IN_USE");
    json_t *answer = post(&server, "/v1/validate", WRITES("w1", "/tmp/tidemill-w/out"), 200);
    assert_true(json_is_true(json_object_get(answer, "valid"))); /* its own */
    json_decref(answer);
    remove_query("w1");
    remove_query("w2");
}

/* What a query that was deleted has written is no new query's, and said before one is made. */
static void the_output_of_a_deleted_query_is_left_alone(void **state)
{
    (void)state;
    char body[1024], text[256];
    make_dir(&server, "left");
    write_file(&server, "left/.tidemill-0f2f1c0a-7a6b-4b0e-9d0c-1f2e3d4c5b6a-3", "");
    (void)snprintf(
        body, sizeof body,
        "{\"name\":\"late\",\"sources\":{\"c\":{\"format\":\"rate\"}},\"sql\":\"SELECT value "
        "FROM c\",\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"%s/left\"}},"
        "\"desiredState\":\"STOPPED\"}",
        server.dir);
    static const char *const paths[] = {"/v1/queries", "/v1/queries?validateOnly=true"};
    for (size_t i = 0; i < 2; i++)
        refused(&server, &(struct call){.method = "POST", .path = paths[i], .body = body}, 409,
                "SINK_PATH_IN_USE");
    json_t *answer = post(&server, "/v1/validate", body, 200);
    const json_t *first = json_array_get(json_object_get(answer, "diagnostics"), 0);
    assert_string_equal(text_of(first, "pointer"), "/sink/options/path");
    json_decref(answer);
    (void)snprintf(text, sizeof text, "%s/left/.tidemill-0f2f1c0a-7a6b-4b0e-9d0c-1f2e3d4c5b6a-3",
                   server.dir);
    assert_int_equal(unlink(text), 0);
    json_decref(post(&server, "/v1/queries", body, 201));
    remove_query("late");
}

/* A query that has run moves with its checkpoint's id, or not at all. */
static void a_query_that_has_run_is_not_moved_to_the_output_of_another(void **state)
{
    (void)state;
    char body[1024];
    static const char *const outs[] = {"moved", "kept"};
    make_dir(&server, "kept");
    make_dir(&server, "moved-in");
    write_file(&server, "moved-in/1.json", "{\"a\":1}\n");
    for (int i = 0; i < 3; i++) {
        if (i == 1)
            write_file(&server, "kept/.tidemill-0f2f1c0a-7a6b-4b0e-9d0c-1f2e3d4c5b6a-3", "");
        (void)snprintf(
            body, sizeof body,
            "{\"name\":\"moved\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"a "
            "INT\",\"options\":{\"path\":\"%s/moved-in\"}}},\"sql\":\"SELECT a FROM c\","
            "\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"%s/%s\"}},\"labels\":{"
            "\"n\":\"%d\"},\"trigger\":{\"availableNow\":true}}",
            server.dir, server.dir, outs[i % 2], i);
        const struct call put = {.method = "PUT",
                                 .path = "/v1/queries/moved?apply=now",
                                 .body = body,
                                 .headers = {i > 0 ? "If-Match: *" : "If-None-Match: *", NULL}};
        if (i == 1) {
            refused(&server, &put, 409, "SINK_PATH_IN_USE");
            continue;
        }
        struct reply reply = call(&server, &put); /* the third time to its own output */
        assert_in_range(reply.status, 200, 201);
        reply_free(&reply);
        await_state(&server, "moved", "FINISHED");
    }
    remove_query("moved");
}

/* A worker that does not answer is killed; the query is stopped and loses nothing by it. */
static void a_hung_worker_does_not_stop_a_stop(void **state)
{
    (void)state;
    server_stop(&server);
    static const char *const fast[] = {"--heartbeat-interval", "50 ms", "--heartbeat-timeout",
                                       "200 ms", NULL};
    server_restart(&server, fast);
    json_decref(post(&server, "/v1/queries", RUNS("hung"), 201));
    await_state(&server, "hung", "RUNNING");
    json_t *status = status_of("hung");
    pid_t pid = (pid_t)json_integer_value(json_object_get(status, "pid"));
    json_decref(status);
    assert_true(pid > 1);
    assert_int_equal(kill(pid, SIGSTOP), 0);
    json_decref(post(&server, "/v1/queries/hung/stop", "", 202));
    await_state(&server, "hung", "STOPPED");
    remove_query("hung");
}

/* That status, query, list, metrics and runs say the same; `end` is of the newest run. */
static void all_say(const char *name, const char *state, const char *end)
{
    char path[256], line[256];
    await_state(&server, name, state);
    json_t *query = get(&server, path_of(name, ""), 200);
    const json_t *status = json_object_get(query, "status");
    bool retries = strcmp(state, "RETRYING") == 0, runs = strcmp(state, "RUNNING") == 0;
    assert_string_equal(text_of(status, "state"), state);
    assert_int_equal(json_is_null(json_object_get(status, "nextRetryAt")), !retries);
    assert_int_equal(json_integer_value(json_object_get(status, "attempt")), retries);
    assert_int_equal(json_is_null(json_object_get(status, "pid")), !runs);
    assert_int_equal(json_is_null(json_object_get(status, "phase")), !runs);
    if (!runs)
        assert_true(json_is_false(json_object_get(status, "isDataAvailable")));
    json_decref(query);
    (void)snprintf(path, sizeof path, "/v1/queries?state=%s", state);
    json_t *list = get(&server, path, 200);
    const json_t *first = json_array_get(json_object_get(list, "queries"), 0);
    assert_string_equal(text_of(first, "name"), name);
    json_decref(list);
    struct reply metrics = call(&server, &(struct call){.path = "/metrics"});
    (void)snprintf(line, sizeof line, "tidemill_queries{state=\"%s\"} 1\n", state);
    assert_non_null(strstr(metrics.text, line));
    (void)snprintf(line, sizeof line, "tidemill_query_up{query=\"%s\"} %d\n", name, runs);
    assert_non_null(strstr(metrics.text, line));
    reply_free(&metrics);
    json_t *document = get(&server, path_of(name, "/runs?limit=1"), 200);
    first = json_array_get(json_object_get(document, "runs"), 0);
    assert_string_equal(text_of(first, "end"), end);
    assert_int_equal(json_is_null(json_object_get(first, "endedAt")), runs);
    json_decref(document);
}

/* Between the states that users ask for lie others: a worker that died and waits for its next
 * attempt, a stop of that, a server that was killed. */
static void every_view_of_a_query_says_the_same(void **state)
{
    (void)state;
    static const char *const slow[] = {"--restart-delay", "60 s", NULL};
    server_stop(&server);
    server_restart(&server, slow);
    json_decref(post(&server, "/v1/queries", RUNS("views"), 201));
    all_say("views", "RUNNING", "RUNNING");
    json_t *status = status_of("views");
    pid_t pid = (pid_t)json_integer_value(json_object_get(status, "pid"));
    json_decref(status);
    assert_true(pid > 1);
    assert_int_equal(kill(pid, SIGKILL), 0);
    all_say("views", "RETRYING", "FAILED");
    refused(&server, /* it waits for the next attempt */
            &(struct call){.method = "POST",
                           .path = "/v1/queries/views/processAllAvailable",
                           .body = "{\"timeout\":\"10 ms\"}"},
            408, "REQUEST_TIMEOUT");
    json_decref(post(&server, "/v1/queries/views/stop", "", 200));
    all_say("views", "STOPPED", "FAILED");
    json_decref(post(&server, "/v1/queries/views/start", "", 202));
    all_say("views", "RUNNING", "RUNNING");
    server_kill(&server);
    server_restart(&server, slow);
    all_say("views", "RUNNING", "RUNNING");
    json_decref(post(&server, "/v1/queries/views/stop", "", 202));
    all_say("views", "STOPPED", "STOPPED");
    remove_query("views");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stop_works_when_nothing_can_be_written),
        cmocka_unit_test(an_end_says_what_it_failed_with),
        cmocka_unit_test(a_failed_query_starts_with_a_spec_that_is_applied_now),
        cmocka_unit_test(a_new_spec_may_say_the_desired_state),
        cmocka_unit_test(a_path_that_cannot_be_used_needs_a_person),
        cmocka_unit_test(a_purge_leaves_nothing),
        cmocka_unit_test(a_deletion_that_fails_says_why_and_the_query_stays),
        cmocka_unit_test(a_condition_on_delete_holds_or_not),
        cmocka_unit_test(a_restart_forgets_neither_batch_nor_time),
        cmocka_unit_test(a_record_of_a_later_version_is_left_alone),
        cmocka_unit_test(a_damaged_record_is_shown_and_left_alone),
        cmocka_unit_test(two_queries_never_write_to_one_directory),
        cmocka_unit_test(a_query_that_has_run_is_not_moved_to_the_output_of_another),
        cmocka_unit_test(the_output_of_a_deleted_query_is_left_alone),
        cmocka_unit_test(every_view_of_a_query_says_the_same),
        cmocka_unit_test(a_hung_worker_does_not_stop_a_stop),
    };
    return cmocka_run_group_tests(tests, setup, fixture_teardown);
}
