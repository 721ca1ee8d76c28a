/*
 * Queries as documents: validate, create, list, replace, delete; nothing here needs a batch.
 */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOURCE "\"sources\":{\"c\":{\"format\":\"rate\"}}"
#define STOPPED(name)                                                                              \
    "{\"name\":\"" name "\"," SOURCE ",\"sql\":\"SELECT value FROM c\",\"sink\":{\"format\":"      \
    "\"noop\"},\"labels\":{\"team\":\"web\"},\"desiredState\":\"STOPPED\"}"

static int setup(void **state)
{
    (void)state;
    server_start(&server, NULL);
    return 0;
}

static void delete_query(const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "/v1/queries/%s", name);
    struct reply reply = call(&server, &(struct call){.method = "DELETE", .path = path});
    assert_int_equal(reply.status, 204);
    reply_free(&reply);
}

static void validate_says_everything_at_once(void **state)
{
    (void)state;
    json_t *answer = post(&server, "/v1/validate",
                          "{" SOURCE ",\"sql\":\"SELECT value FROM c\",\"outputMode\":\"delta\","
                          "\"trigger\":{\"once\":false},\"sinc\":{\"format\":\"noop\"}}",
                          200);
    assert_false(json_is_true(json_object_get(answer, "valid")));
    const json_t *diagnostics = json_object_get(answer, "diagnostics");
    static const char *const pointers[] = {"/sinc", "/outputMode", "/trigger/once"};
    assert_int_equal(json_array_size(diagnostics), 3); /* the sink does not lack besides */
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(text_of(json_array_get(diagnostics, i), "pointer"), pointers[i]);
    assert_non_null(strstr(text_of(json_array_get(diagnostics, 0), "detail"), "sink"));
    json_decref(answer);
}

static void validate_describes_a_legal_query(void **state)
{
    (void)state;
    json_t *answer = post(&server, "/v1/validate", STOPPED("v"), 200);
    assert_true(json_is_true(json_object_get(answer, "valid")));
    assert_int_equal(json_array_size(json_object_get(answer, "outputModes")), 3);
    assert_string_equal(text_of(json_object_get(answer, "outputSchema"), "type"), "struct");
    assert_non_null(strstr(text_of(answer, "planText"), "Scan"));
    json_decref(answer);
}

/* NULL if there is no warning of that name. */
static const json_t *warning_named(const json_t *answer, const char *name)
{
    size_t index;
    json_t *warning;
    json_array_foreach(json_object_get(answer, "warnings"), index, warning)
    {
        if (strcmp(text_of(warning, "name"), name) == 0)
            return warning;
    }
    return NULL;
}

static void validate_says_which_state_is_bounded(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *mode;
        bool bounded;
    } cases[] = {
        {"SELECT window(timestamp, '1 minute') AS w, count(*) AS n FROM c GROUP BY 1", "append",
         true},
        {"SELECT window(timestamp, '1 minute') AS w, count(*) AS n FROM c GROUP BY 1", "complete",
         false},
        {"SELECT value, count(*) AS n FROM c GROUP BY value", "update", false},
        {"SELECT count(*) AS n FROM c", "update", true},
        {"SELECT value FROM plain", "append", false},
        {"SELECT value FROM timed", "append", true},
        {"SELECT value FROM c LIMIT 5", "append", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char body[1024];
        (void)snprintf(
            body, sizeof body,
            "{\"sources\":{\"c\":{\"format\":\"rate\",\"watermark\":{\"column\":"
            "\"timestamp\",\"delay\":\"1 minute\"}}},\"views\":[{\"name\":\"plain\","
            "\"from\":\"c\",\"dropDuplicates\":[\"value\"]},{\"name\":\"timed\",\"from\":"
            "\"c\",\"dropDuplicatesWithinWatermark\":[\"value\"]}],\"sql\":\"%s\","
            "\"sink\":{\"format\":\"noop\"},\"outputMode\":\"%s\"}",
            cases[i].sql, cases[i].mode);
        json_t *answer = post(&server, "/v1/validate", body, 200);
        const json_t *operators = json_object_get(answer, "statefulOperators");
        assert_int_equal(json_array_size(operators), 1);
        const json_t *bounded = json_object_get(json_array_get(operators, 0), "bounded");
        assert_int_equal(json_is_true(bounded), cases[i].bounded);
        const char *reason = text_of(json_array_get(operators, 0), "reason");
        const json_t *warning = warning_named(answer, "UNBOUNDED_STATE");
        if (cases[i].bounded)
            assert_null(warning);
        else
            assert_non_null(strstr(text_of(warning, "text"), reason));
        json_decref(answer);
    }
    refused(&server, &(struct call){.path = "/v1/queries/none?label=x"}, 400, "UNKNOWN_PARAMETER");
}

/* Exact from the join's own time bounds, side by side. */
static void a_join_says_which_side_grows(void **state)
{
    (void)state;
    static const struct {
        const char *condition, *grows;
    } cases[] = {
        {"l.value = r.value", "both sides"},
        {"l.value = r.value AND l.timestamp = r.timestamp", NULL},
        {"l.value = r.value AND r.timestamp >= l.timestamp AND r.timestamp <= l.timestamp + "
         "INTERVAL "
         "1 MINUTE",
         NULL},
        {"l.value = r.value AND r.timestamp >= l.timestamp", "left side"},
    };
    static const char source[] = "{\"format\":\"rate\",\"watermark\":{\"column\":\"timestamp\","
                                 "\"delay\":\"1 minute\"}}";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char body[1024];
        (void)snprintf(body, sizeof body,
                       "{\"sources\":{\"l\":%s,\"r\":%s},\"sql\":\"SELECT l.value FROM l JOIN r ON "
                       "%s\",\"sink\":{\"format\":\"noop\"}}",
                       source, source, cases[i].condition);
        json_t *answer = post(&server, "/v1/validate", body, 200);
        const json_t *it = json_array_get(json_object_get(answer, "statefulOperators"), 0);
        assert_int_equal(json_is_true(json_object_get(it, "bounded")), cases[i].grows == NULL);
        if (cases[i].grows != NULL)
            assert_non_null(strstr(text_of(it, "reason"), cases[i].grows));
        json_decref(answer);
    }
}

static void an_error_has_its_place_and_a_fix_that_works(void **state)
{
    (void)state;
    json_t *answer = post(&server, "/v1/validate",
                          "{" SOURCE ",\"sql\":\"SELECT\\n  valeu FROM c\",\"sink\":{\"format\":"
                          "\"noop\"}}",
                          200);
    const json_t *first = json_array_get(json_object_get(answer, "diagnostics"), 0);
    assert_string_equal(text_of(first, "condition"), "UNRESOLVED_COLUMN.WITH_SUGGESTION");
    assert_string_equal(text_of(first, "pointer"), "/sql");
    const json_t *span = json_object_get(first, "span");
    assert_int_equal(json_integer_value(json_object_get(span, "line")), 2);
    assert_int_equal(json_integer_value(json_object_get(span, "column")), 3);
    assert_int_equal(json_integer_value(json_object_get(span, "endColumn")), 8);
    const json_t *fix = json_array_get(json_object_get(first, "fixes"), 0);
    assert_true(json_is_true(json_object_get(fix, "validated")));
    const json_t *edit = json_array_get(json_object_get(fix, "edits"), 0);
    assert_string_equal(text_of(edit, "replace"), "valeu");
    assert_string_equal(text_of(edit, "text"), "value");
    json_decref(answer);
}

static void a_query_is_created_read_and_deleted(void **state)
{
    (void)state;
    struct call create = {.method = "POST", .path = "/v1/queries", .body = STOPPED("one")};
    struct reply reply = call(&server, &create);
    assert_int_equal(reply.status, 201);
    assert_string_equal(reply_header(&reply, "Location"), "/v1/queries/one");
    char etag[64];
    (void)snprintf(etag, sizeof etag, "If-None-Match: %.40s", reply_header(&reply, "ETag"));
    assert_string_equal(text_of(json_object_get(reply.json, "status"), "state"), "STOPPED");
    reply_free(&reply);
    refused(&server, &create, 409, "QUERY_ALREADY_EXISTS");
    reply = call(&server, &(struct call){.path = "/v1/queries/one", .headers = {etag}});
    assert_int_equal(reply.status, 304);
    reply_free(&reply);
    json_t *query = get(&server, "/v1/queries/one", 200);
    assert_string_equal(text_of(json_object_get(query, "spec"), "sql"), "SELECT value FROM c");
    json_decref(query);
    delete_query("one");
    refused(&server, &(struct call){.path = "/v1/queries/one"}, 404, "QUERY_NOT_FOUND");
}

static void a_query_without_a_name_gets_one(void **state)
{
    (void)state;
    json_t *query = post(&server, "/v1/queries",
                         "{" SOURCE ",\"sql\":\"SELECT 1 FROM c\",\"sink\":{\"format\":\"noop\"},"
                         "\"desiredState\":\"STOPPED\"}",
                         201);
    const char *name = text_of(query, "name");
    assert_int_equal(strncmp(name, "query-", 6), 0);
    delete_query(name);
    json_decref(query);
}

static void validate_only_creates_nothing(void **state)
{
    (void)state;
    json_decref(post(&server, "/v1/queries?validateOnly=true", STOPPED("ghost"), 200));
    json_decref(get(&server, "/v1/queries/ghost", 404));
}

static void an_illegal_spec_is_not_created(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        long status;
        const char *condition;
    } cases[] = {
        {"{" SOURCE ",\"sql\":\"SELEC 1\",\"sink\":{\"format\":\"noop\"}}", 422,
         "PARSE_SYNTAX_ERROR"},
        {"{" SOURCE ",\"sql\":\"SELECT 1 FROM d\",\"sink\":{\"format\":\"noop\"}}", 422,
         "TABLE_OR_VIEW_NOT_FOUND"},
        {"{" SOURCE ",\"sql\":\"SELECT 1 FROM c\"}", 422, "MISSING_FIELD"},
        {"{" SOURCE ",\"sql\":\"SELECT 1 FROM c\",\"sink\":{\"format\":\"noop\"},\"x\":1}", 400,
         "UNKNOWN_FIELD"},
        {"{" SOURCE ",\"sql\":\"SELECT 1 FROM c\",\"sink\":{\"format\":\"nosuch\"}}", 422,
         "DATA_SOURCE_NOT_FOUND"},
        {"{\"sql\":\"SELECT 1\",\"sink\":{\"format\":\"noop\"}}", 422, "WRITE_STREAM_NOT_ALLOWED"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].body);
        refused(&server,
                &(struct call){.method = "POST", .path = "/v1/queries", .body = cases[i].body},
                cases[i].status, cases[i].condition);
    }
}

static void two_queries_never_share_a_checkpoint(void **state)
{
    (void)state;
#define WITH_CHECKPOINT(name, path)                                                                \
    "{\"name\":\"" name "\"," SOURCE                                                               \
    ",\"sql\":\"SELECT 1 FROM c\",\"sink\":{\"format\":\"noop\"},"                                 \
    "\"desiredState\":\"STOPPED\",\"checkpointLocation\":\"" path "\"}"
    json_decref(post(&server, "/v1/queries", WITH_CHECKPOINT("a", "/tmp/cp-x"), 201));
    static const char *const bodies[] = {WITH_CHECKPOINT("b", "/tmp/cp-x"),
                                         WITH_CHECKPOINT("b", "/tmp/cp-x/inner"),
                                         WITH_CHECKPOINT("b", "/tmp")};
    for (size_t i = 0; i < 3; i++)
        refused(&server, &(struct call){.method = "POST", .path = "/v1/queries", .body = bodies[i]},
                422, "INVALID_CHECKPOINT_LOCATION");
    char link[1024], body[2048]; /* by another name */
    (void)snprintf(link, sizeof link, "%s/linked", server.dir);
    assert_int_equal(symlink("/tmp", link), 0);
    (void)snprintf(body, sizeof body, WITH_CHECKPOINT("b", "%s/cp-x"), link);
    refused(&server, &(struct call){.method = "POST", .path = "/v1/queries", .body = body}, 422,
            "INVALID_CHECKPOINT_LOCATION");
    json_decref(post(&server, "/v1/queries", WITH_CHECKPOINT("b", "/tmp/cp-xy"), 201));
    delete_query("a");
    delete_query("b");
}

/* The same request once more is about the name, whatever its first one has written since. */
static void a_name_that_is_taken_is_said_first(void **state)
{
    (void)state;
    char body[1024];
    make_dir(&server, "taken");
    (void)snprintf(
        body, sizeof body,
        "{\"name\":\"taken\",\"sources\":{\"c\":{\"format\":\"rate\"}},\"sql\":\"SELECT "
        "value FROM c\",\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"%s/taken\"}},"
        "\"desiredState\":\"STOPPED\"}",
        server.dir);
    json_decref(post(&server, "/v1/queries", body, 201));
    write_file(&server, "taken/.tidemill-0f2f1c0a-7a6b-4b0e-9d0c-1f2e3d4c5b6a-3", "");
    static const char *const paths[] = {"/v1/queries", "/v1/queries?validateOnly=true"};
    for (size_t i = 0; i < 2; i++)
        refused(&server, &(struct call){.method = "POST", .path = paths[i], .body = body}, 409,
                "QUERY_ALREADY_EXISTS");
    delete_query("taken");
}

/* By the name that `ls` shows, also where the query writes elsewhere by now. */
static void the_owner_of_an_output_is_named(void **state)
{
    (void)state;
    char body[1024];
    make_dir(&server, "owner-in");
    write_file(&server, "owner-in/1.json", "{\"a\":1}\n");
    static const char *const outs[] = {"first", "second", "first"};
    for (int i = 0; i < 3; i++) {
        const char *name = i == 2 ? "guest" : "owner";
        char path[64];
        (void)snprintf(path, sizeof path, "/v1/queries/%s?apply=now", name);
        (void)snprintf(
            body, sizeof body,
            "{\"name\":\"%s\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"a INT\","
            "\"options\":{\"path\":\"%s/owner-in\"}}},\"sql\":\"SELECT a FROM c\","
            "\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"%s/owner-%s\"}},"
            "\"trigger\":{\"availableNow\":true}}",
            name, server.dir, server.dir, outs[i]);
        const struct call put = {.method = "PUT",
                                 .path = path,
                                 .body = body,
                                 .headers = {i == 1 ? "If-Match: *" : "If-None-Match: *", NULL}};
        struct reply reply = call(&server, &put);
        if (i == 2) {
            assert_int_equal(reply.status, 409);
            assert_non_null(strstr(text_of(reply.json, "detail"), "of the query owner:"));
        } else {
            assert_in_range(reply.status, 200, 201);
            await_state(&server, "owner", "FINISHED");
        }
        reply_free(&reply);
    }
    delete_query("owner");
}

static void the_list_is_filtered_and_paged(void **state)
{
    (void)state;
    json_decref(post(&server, "/v1/queries", STOPPED("p1"), 201));
    json_decref(post(&server, "/v1/queries", STOPPED("p2"), 201));
    json_decref(post(&server, "/v1/queries", STOPPED("p3"), 201));
    json_t *page = get(&server, "/v1/queries?pageSize=2&state=STOPPED&label=team%3Dweb", 200);
    assert_int_equal(json_array_size(json_object_get(page, "queries")), 2);
    char path[256];
    (void)snprintf(path, sizeof path, "/v1/queries?pageSize=2&pageToken=%s",
                   text_of(page, "nextPageToken"));
    json_decref(page);
    page = get(&server, path, 200);
    const json_t *list = json_object_get(page, "queries");
    assert_int_equal(json_array_size(list), 1);
    assert_string_equal(text_of(json_array_get(list, 0), "name"), "p3");
    assert_true(json_is_null(json_object_get(page, "nextPageToken")));
    json_decref(page);
    page = get(&server, "/v1/queries?label=team", 200); /* with any value */
    assert_int_equal(json_array_size(json_object_get(page, "queries")), 3);
    json_decref(page);
    page = get(&server, "/v1/queries?label=team%3Dother", 200);
    assert_int_equal(json_array_size(json_object_get(page, "queries")), 0);
    json_decref(page);
    page = get(&server, "/v1/queries?state=FAILED", 200);
    assert_int_equal(json_array_size(json_object_get(page, "queries")), 0);
    json_decref(page);
    delete_query("p1");
    delete_query("p2");
    delete_query("p3");
}

static void replacing_needs_the_etag_that_was_read(void **state)
{
    (void)state;
    struct call put = {.method = "PUT", .path = "/v1/queries/e", .body = STOPPED("e")};
    put.headers[0] = "If-Match: \"0000000000000000\"";
    refused(&server, &put, 412, "PRECONDITION_FAILED");
    put.headers[0] = "If-Match: *";
    refused(&server, &put, 412, "PRECONDITION_FAILED");
    put.headers[0] = "If-None-Match: *";
    struct reply reply = call(&server, &put);
    assert_int_equal(reply.status, 201);
    char match[64];
    (void)snprintf(match, sizeof match, "If-Match: %.40s", reply_header(&reply, "ETag"));
    reply_free(&reply);
    refused(&server, &put, 412, "PRECONDITION_FAILED");
    put.headers[0] = NULL;
    refused(&server, &put, 428, "PRECONDITION_REQUIRED");
    put.headers[0] = match;
    put.body =
        "{" SOURCE ",\"sql\":\"SELECT value + 1 AS v FROM c\",\"sink\":{\"format\":\"noop\"}}";
    reply = call(&server, &put);
    assert_int_equal(reply.status, 200);
    assert_int_equal(json_integer_value(json_object_get(reply.json, "generation")), 2);
    reply_free(&reply);
    put.body = STOPPED("e");
    refused(&server, &put, 412, "PRECONDITION_FAILED");
    put.headers[0] = "If-Match: *";
    put.body = STOPPED("other");
    refused(&server, &put, 422, "INVALID_FIELD_VALUE");
    delete_query("e");
}

/* RFC 9110, 13.1: If-Match compares strongly, If-None-Match weakly, and both are lists. */
static void a_weak_tag_is_not_enough_to_change_something(void **state)
{
    (void)state;
    char weak[80], list[120], none[80];
    struct call put = {.method = "PUT", .path = "/v1/queries/w", .body = STOPPED("w")};
    struct reply reply = call(&server, &put);
    assert_int_equal(reply.status, 201);
    const char *etag = reply_header(&reply, "ETag");
    (void)snprintf(weak, sizeof weak, "If-Match: W/%.40s", etag);
    (void)snprintf(list, sizeof list, "If-Match: \"0\", %.40s", etag);
    (void)snprintf(none, sizeof none, "If-None-Match: W/%.40s", etag);
    reply_free(&reply);
    put.headers[0] = weak;
    refused(&server, &put, 412, "PRECONDITION_FAILED");
    put.headers[0] = list;
    reply = call(&server, &put);
    assert_int_equal(reply.status, 200);
    reply_free(&reply);
    struct call read = {.path = "/v1/queries/w", .headers = {none, NULL}};
    reply = call(&server, &read);
    assert_int_equal(reply.status, 304);
    reply_free(&reply);
    read.headers[0] = weak;
    refused(&server, &read, 412, "PRECONDITION_FAILED");
    struct call remove = {.method = "DELETE", .path = "/v1/queries/w", .headers = {weak, NULL}};
    refused(&server, &remove, 412, "PRECONDITION_FAILED");
    remove.headers[0] = none;
    refused(&server, &remove, 412, "PRECONDITION_FAILED");
    remove.headers[0] = list;
    reply = call(&server, &remove);
    assert_int_equal(reply.status, 204);
    reply_free(&reply);
}

static void a_repeated_post_with_its_key_gets_the_first_answer(void **state)
{
    (void)state;
    struct call create = {.method = "POST",
                          .path = "/v1/queries",
                          .body = STOPPED("idem"),
                          .headers = {"Idempotency-Key: key-1"}};
    struct reply first = call(&server, &create);
    struct reply second = call(&server, &create);
    assert_int_equal(first.status, 201);
    assert_int_equal(second.status, 201);
    assert_string_equal(first.text, second.text);
    assert_string_equal(reply_header(&second, "Idempotency-Replayed"), "true");
    assert_string_equal(reply_header(&second, "Location"), "/v1/queries/idem");
    reply_free(&first);
    reply_free(&second);
    create.body = STOPPED("idem2");
    refused(&server, &create, 422, "IDEMPOTENCY_KEY_REUSED");
    create.headers[0] = "Idempotency-Key: two words";
    refused(&server, &create, 400, "INVALID_HEADER");
    delete_query("idem");
}

static void actions_check_their_bodies(void **state)
{
    (void)state;
    json_decref(post(&server, "/v1/queries", STOPPED("act"), 201));
    static const struct {
        const char *path, *body;
        long status;
        const char *condition;
    } cases[] = {
        {"/v1/queries/act/start", "{\"mode\":\"graceful\"}", 400, "UNKNOWN_FIELD"},
        {"/v1/queries/act/stop", "{\"mode\":\"soon\"}", 422, "INVALID_FIELD_VALUE"},
        {"/v1/queries/act/stop", "{\"modus\":\"immediate\"}", 400, "UNKNOWN_FIELD"},
        {"/v1/queries/act/stop", "{\"timeout\":\"soon\"}", 400, "INVALID_PARAMETER"},
        {"/v1/queries/act/awaitTermination", "[]", 400, "INVALID_FIELD_TYPE"},
        {"/v1/queries/act/trigger", "", 409, "INVALID_STATE"},
        {"/v1/queries/act/processAllAvailable", "", 409, "INVALID_STATE"},
        {"/v1/queries/act/trigger?now=true", "", 400, "UNKNOWN_PARAMETER"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s %s\n", cases[i].path, cases[i].body);
        refused(&server,
                &(struct call){.method = "POST", .path = cases[i].path, .body = cases[i].body},
                cases[i].status, cases[i].condition);
    }
    struct reply reply =
        call(&server, &(struct call){.method = "POST", .path = "/v1/queries/act/trigger"});
    assert_int_equal(json_array_size(json_object_get(reply.json, "allowedActions")), 5);
    reply_free(&reply);
    json_decref(post(&server, "/v1/queries/act/stop", NULL, 200)); /* it is stopped already */
    json_decref(post(&server, "/v1/queries/act/awaitTermination", NULL, 200));
    refused(&server, &(struct call){.path = "/v1/queries/act/results"}, 409,
            "RESULTS_NOT_AVAILABLE");
    refused(&server, &(struct call){.path = "/v1/queries/act/checkpoint"}, 404,
            "CHECKPOINT_NOT_FOUND");
    refused(&server, &(struct call){.path = "/v1/queries/act/plan?format=xml"}, 400,
            "INVALID_PARAMETER");
    json_decref(get(&server, "/v1/queries/act/plan", 200));
    json_decref(get(&server, "/v1/queries/act/batches", 200));
    json_decref(get(&server, "/v1/queries/act/batches/0", 404));
    json_decref(get(&server, "/v1/queries/act/runs", 200));
    json_decref(get(&server, "/v1/queries/act/progress", 200));
    delete_query("act");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(validate_says_everything_at_once),
        cmocka_unit_test(validate_describes_a_legal_query),
        cmocka_unit_test(validate_says_which_state_is_bounded),
        cmocka_unit_test(a_join_says_which_side_grows),
        cmocka_unit_test(an_error_has_its_place_and_a_fix_that_works),
        cmocka_unit_test(a_query_is_created_read_and_deleted),
        cmocka_unit_test(a_query_without_a_name_gets_one),
        cmocka_unit_test(validate_only_creates_nothing),
        cmocka_unit_test(an_illegal_spec_is_not_created),
        cmocka_unit_test(two_queries_never_share_a_checkpoint),
        cmocka_unit_test(a_name_that_is_taken_is_said_first),
        cmocka_unit_test(the_owner_of_an_output_is_named),
        cmocka_unit_test(the_list_is_filtered_and_paged),
        cmocka_unit_test(replacing_needs_the_etag_that_was_read),
        cmocka_unit_test(a_weak_tag_is_not_enough_to_change_something),
        cmocka_unit_test(a_repeated_post_with_its_key_gets_the_first_answer),
        cmocka_unit_test(actions_check_their_bodies),
    };
    return cmocka_run_group_tests_name("api/queries", tests, setup, fixture_teardown) != 0;
}
