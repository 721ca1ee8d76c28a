/*
 * What can be asked of a query's checkpoint: its state, the start plan, the rewind, and a rewind
 * that is killed on the way.
 */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char binary[256]; /* the setup takes it out of the environment */

static void put(const char *method, const char *name, const char *sql, const char *more)
{
    char body[2048], path[64];
    (void)snprintf(
        body, sizeof body,
        "{\"name\":\"%s\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"k STRING, "
        "a INT\",\"options\":{\"path\":\"%s/in\",\"maxFilesPerTrigger\":1}}},\"sql\":\"%s\","
        "\"trigger\":{\"availableNow\":true},%s}",
        name, server.dir, sql, more);
    (void)snprintf(path, sizeof path, "/v1/queries%s%s", strcmp(method, "PUT") == 0 ? "/" : "",
                   strcmp(method, "PUT") == 0 ? name : "");
    const struct call it = {
        .method = method, .path = path, .body = body, .headers = {"If-Match: *", NULL}};
    struct reply reply = call(&server, &it);
    assert_in_range(reply.status, 200, 201);
    reply_free(&reply);
}

static void create(const char *name, const char *sql, const char *more)
{
    const char *lines[] = {"{\"k\":\"x\",\"a\":1}\n", "{\"k\":\"y\",\"a\":2}\n",
                           "{\"k\":\"x\",\"a\":3}\n{\"k\":null,\"a\":4}\n"};
    for (int i = 0; i < 3; i++) {
        char file[32];
        (void)snprintf(file, sizeof file, "in/%d.json", i);
        write_file(&server, file, lines[i]);
    }
    put("POST", name, sql, more);
    await_state(&server, name, "FINISHED");
}

static json_int_t int_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static json_t *plan_of(const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "/v1/queries/%s/start?validateOnly=true", name);
    return post(&server, path, NULL, 200);
}

static void row_number(const json_t *document, const char *key, json_int_t *out)
{
    size_t i;
    json_t *row;
    *out = -1;
    json_array_foreach(json_object_get(document, "rows"), i, row)
    {
        const json_t *k = json_object_get(row, "k");
        if ((key == NULL && json_is_null(k)) ||
            (key != NULL && json_is_string(k) && strcmp(json_string_value(k), key) == 0))
            *out = int_of(row, "count(1)");
    }
}

static void state_is_read_in_any_version_within_reach(void **state)
{
    (void)state;
    json_int_t n = 0;
    create("counts", "SELECT k, count(*) AS n FROM c GROUP BY k",
           "\"outputMode\":\"update\",\"sink\":{\"format\":\"memory\"}");
    json_t *all = get(&server, "/v1/queries/counts/state", 200);
    json_t *one = json_array_get(json_object_get(all, "operators"), 0);
    assert_int_equal(int_of(one, "entries"), 3);
    assert_int_equal(int_of(all, "batchId"), 2);
    char path[128];
    (void)snprintf(path, sizeof path, "/v1/queries/counts/state/%d",
                   (int)int_of(one, "operatorId"));
    json_t *rows = get(&server, path, 200);
    row_number(rows, "x", &n);
    assert_int_equal(n, 2);
    row_number(rows, NULL, &n);
    assert_int_equal(n, 1);
    json_decref(rows);

    rows = get(&server, "/v1/queries/counts/state?key=k%3Dx", 200); /* of the only operator */
    assert_int_equal(json_array_size(json_object_get(rows, "rows")), 1);
    json_decref(rows);
    strcat(path, "?batchId=1");
    rows = get(&server, path, 200);
    row_number(rows, "x", &n);
    assert_int_equal(n, 1);
    assert_int_equal(int_of(rows, "entries"), 2);
    json_decref(rows);
    strcat(path, "&limit=1&key=k%3Dy");
    rows = get(&server, path, 200);
    assert_int_equal(json_array_size(json_object_get(rows, "rows")), 1);
    json_decref(rows);
    json_decref(all);
    refused(&server, &(struct call){.path = "/v1/queries/counts/state/77"}, 404, "ROUTE_NOT_FOUND");
    refused(&server, &(struct call){.path = "/v1/queries/counts/state/x"}, 400,
            "INVALID_PARAMETER");
    json_t *problem = get(&server, "/v1/queries/counts/state/77", 404);
    assert_string_equal(text_of(problem, "detail"),
                        "There is no operator 77 with state. The query has 0 (Aggregate)");
    json_decref(problem);
    problem = get(&server, "/v1/queries/counts/state/0?key=kk%3Dx", 400);
    assert_string_equal(text_of(json_object_get(problem, "parameters"), "expected"),
                        "column=value, and the columns are k, count(1). Did you mean k?");
    json_decref(problem);
    refused(&server, &(struct call){.path = "/v1/queries/counts/state?batchId=9"}, 404,
            "BATCH_NOT_FOUND");
    refused(&server, &(struct call){.path = "/v1/queries/counts/state?key=k"}, 400,
            "INVALID_PARAMETER");
}

static void the_plan_says_what_a_changed_query_would_meet(void **state)
{
    (void)state;
    create("changed", "SELECT k, count(*) AS n FROM c GROUP BY k",
           "\"outputMode\":\"update\",\"sink\":{\"format\":\"memory\"}");
    json_t *plan = plan_of("changed");
    assert_string_equal(text_of(plan, "kind"), "NEW");
    assert_int_equal(int_of(plan, "nextBatchId"), 3);
    assert_true(json_is_true(json_object_get(plan, "possible")));
    json_t *operator_ = json_array_get(json_object_get(plan, "stateOperators"), 0);
    assert_string_equal(text_of(operator_, "verdict"), "KEEP");
    json_decref(plan);

    write_file(&server, "in/more.json", "{\"k\":\"z\",\"a\":5}\n");
    put("PUT", "changed", "SELECT k, sum(a) AS n FROM c GROUP BY k",
        "\"outputMode\":\"update\",\"sink\":{\"format\":\"memory\"}");
    plan = plan_of("changed");
    assert_false(json_is_true(json_object_get(plan, "possible")));
    operator_ = json_array_get(json_object_get(plan, "stateOperators"), 0);
    assert_int_equal(int_of(operator_, "operatorId"), 0);
    assert_string_equal(text_of(operator_, "verdict"), "INCOMPATIBLE");
    assert_non_null(strstr(text_of(operator_, "difference"), "count(1)"));
    json_t *source = json_array_get(json_object_get(plan, "sources"), 0);
    assert_int_equal(int_of(source, "filesToCatchUp"), 1);
    json_decref(plan);
    /* The state is still that of the former query, and so are the names in it. */
    json_int_t n = 0;
    json_t *rows = get(&server, "/v1/queries/changed/state/0", 200);
    row_number(rows, "x", &n);
    assert_int_equal(n, 2);
    json_decref(rows);
    put("PUT", "changed", "SELECT a, max(a) AS n FROM c GROUP BY a",
        "\"outputMode\":\"update\",\"sink\":{\"format\":\"memory\"}");
    rows = get(&server, "/v1/queries/changed/state/0", 200); /* no damage, either */
    row_number(rows, "x", &n);
    assert_int_equal(n, 2);
    json_decref(rows);
    json_t *after = plan_of("changed"); /* asking changes nothing */
    assert_int_equal(int_of(after, "nextBatchId"), 3);
    json_decref(after);
    refused(&server, &(struct call){.method = "POST", .path = "/v1/queries/changed/start?x=1"}, 400,
            "UNKNOWN_PARAMETER");
}

/* The operator and the problem name the same condition. */
static void a_query_that_begins_to_keep_state_is_refused_by_one_condition(void **state)
{
    (void)state;
    create("plain", "SELECT k FROM c", "\"sink\":{\"format\":\"noop\"}");
    put("PUT", "plain", "SELECT k, count(*) AS n FROM c GROUP BY k",
        "\"outputMode\":\"update\",\"sink\":{\"format\":\"noop\"}");
    json_t *plan = plan_of("plain");
    const json_t *operator_ = json_array_get(json_object_get(plan, "stateOperators"), 0);
    const json_t *problem = json_array_get(json_object_get(plan, "problems"), 0);
    assert_string_equal(text_of(operator_, "condition"),
                        "STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY");
    assert_string_equal(text_of(problem, "condition"), text_of(operator_, "condition"));
    json_decref(plan);
}

#define SESSIONS(gap)                                                                              \
    "SELECT session_window(at, '" gap "') AS w, k, count(*) AS n FROM c WATERMARK "                \
    "timestamp_seconds(a) AS at DELAY OF INTERVAL '5' SECONDS GROUP BY session_window(at, '" gap   \
    "'), k"

/* Sessions are state of the aggregation: one operator, as everywhere. */
static void the_plan_of_sessions_has_one_operator_and_says_that_their_gap_changed(void **state)
{
    (void)state;
    create("gap", SESSIONS("10 seconds"), "\"sink\":{\"format\":\"memory\"}");
    put("PUT", "gap", SESSIONS("20 seconds"), "\"sink\":{\"format\":\"memory\"}");
    json_t *plan = plan_of("gap");
    const json_t *operators = json_object_get(plan, "stateOperators");
    assert_int_equal(json_array_size(operators), 1);
    assert_string_equal(text_of(json_array_get(operators, 0), "verdict"), "KEEP");
    const json_t *warnings = json_object_get(plan, "warnings");
    assert_int_equal(json_array_size(warnings), 1);
    const char *said = text_of(json_array_get(warnings, 0), "message");
    assert_non_null(strstr(said, "its keys"));
    assert_null(strstr(said, "which rows"));
    json_decref(plan);
}

/* Of a query that has never run, nothing of whose checkpoint is there yet. */
static void the_plan_of_a_first_start_finds_nothing_in_its_way(void **state)
{
    (void)state;
    put("POST", "fresh", "SELECT k, count(*) AS n FROM c GROUP BY k",
        "\"outputMode\":\"update\",\"sink\":{\"format\":\"memory\"},\"desiredState\":\"STOPPED\"");
    json_t *plan = plan_of("fresh");
    assert_int_equal(json_array_size(json_object_get(plan, "problems")), 0);
    assert_true(json_is_true(json_object_get(plan, "possible")));
    json_decref(plan);
}

/* Partitions are pinned by the checkpoint, as in Spark; here it is said. */
static void a_setting_that_the_checkpoint_keeps_is_named(void **state)
{
    (void)state;
    static const char sql[] = "SELECT k, count(*) AS n FROM c GROUP BY k";
    create(
        "keeps", sql,
        "\"outputMode\":\"update\",\"sink\":{\"format\":\"memory\"},\"conf\":{\"partitions\":2}");
    json_t *plan = plan_of("keeps");
    assert_int_equal(json_array_size(json_object_get(plan, "warnings")), 0);
    json_decref(plan);
    put("PUT", "keeps", sql,
        "\"outputMode\":\"update\",\"sink\":{\"format\":\"memory\"},\"conf\":{\"partitions\":3}");
    plan = plan_of("keeps");
    const json_t *warning = json_array_get(json_object_get(plan, "warnings"), 0);
    assert_string_equal(text_of(warning, "code"), "SETTINGS_KEPT");
    static const char want[] = "spark.sql.shuffle.partitions is 3 in the spec and stays 2, with "
                               "which the checkpoint was begun";
    assert_string_equal(text_of(warning, "message"), want);
    json_decref(plan);
    json_decref(post(&server, "/v1/queries/keeps/start", NULL, 202));
    await_state(&server, "keeps", "FINISHED");
    json_t *query = get(&server, "/v1/queries/keeps", 200);
    char dir[128];
    (void)snprintf(dir, sizeof dir, "data/queries/%s", text_of(query, "uid"));
    char *log = read_lines(&server, dir, "worker.log");
    assert_non_null(strstr(log, want));
    free(log);
    json_decref(query);
}

/* Operators are numbered from the sink on, as Spark does, and everywhere the same. */
static void the_plan_and_the_state_number_operators_alike(void **state)
{
    (void)state;
    create(
        "twice",
        "SELECT session_window(at, '1 second') AS w, k, count(*) AS n FROM u "
        "GROUP BY session_window(at, '1 second'), k",
        "\"sink\":{\"format\":\"memory\"},\"views\":["
        "{\"name\":\"t\",\"sql\":\"SELECT k, CAST(a AS TIMESTAMP) AS at FROM c\"},"
        "{\"name\":\"w\",\"from\":\"t\",\"watermark\":{\"column\":\"at\",\"delay\":\"1 second\"}},"
        "{\"name\":\"u\",\"from\":\"w\",\"dropDuplicates\":[\"k\",\"at\"]}]");
    json_t *plan = get(&server, "/v1/queries/twice/plan", 200);
    const char *text = text_of(plan, "text");
    const char *sessions = strstr(text, "state=0\n"), *distinct = strstr(text, "state=1\n");
    assert_non_null(sessions);
    assert_non_null(distinct);
    assert_true(sessions < distinct && strstr(text, "state=2") == NULL);
    json_decref(plan);
    json_t *all = get(&server, "/v1/queries/twice/state", 200);
    const json_t *operators = json_object_get(all, "operators");
    assert_int_equal(json_array_size(operators), 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(int_of(json_array_get(operators, i), "operatorId"), i);
    assert_string_equal(text_of(json_array_get(operators, 0), "name"),
                        "sessionWindowStateStoreSaveExec");
    json_decref(all);
    refused(&server, &(struct call){.path = "/v1/queries/twice/state?key=k%3Dx"}, 400,
            "INVALID_PARAMETER");
}

static void files_that_the_sink_has_are_suppressed_when_batches_run_again(void **state)
{
    (void)state;
    char sink[256];
    (void)snprintf(sink, sizeof sink,
                   "\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"%s/out\"}}", server.dir);
    create("copy", "SELECT k, a FROM c", sink);
    char *before = read_lines(&server, "out", ".json");
    json_t *answer = post(&server, "/v1/queries/copy/rewind", "{\"toBatchId\":0}", 200);
    assert_int_equal(int_of(answer, "previousBatchId"), 2);
    assert_int_equal(json_array_size(json_object_get(answer, "batches")), 2);
    const json_t *plan = json_object_get(answer, "startPlan");
    assert_string_equal(text_of(plan, "kind"), "REPLAY");
    assert_int_equal(int_of(plan, "nextBatchId"), 1);
    assert_string_equal(text_of(plan, "duplicates"), "SUPPRESSED");
    json_t *again = json_array_get(json_object_get(plan, "reruns"), 0);
    assert_string_equal(text_of(again, "sink"), "SUPPRESSED");
    json_decref(answer);

    write_file(&server, "in/new.json", "{\"k\":\"new\",\"a\":9}\n");
    json_decref(post(&server, "/v1/queries/copy/start", NULL, 202));
    await_state(&server, "copy", "FINISHED");
    char *after = read_lines(&server, "out", ".json");
    assert_int_equal(strlen(after), strlen(before) + strlen("{\"k\":\"new\",\"a\":9}\n"));
    free(before);
    free(after);
    json_t *runs = get(&server, "/v1/queries/copy/runs", 200);
    json_t *rewind_ = json_array_get(json_object_get(runs, "rewinds"), 0);
    assert_int_equal(int_of(rewind_, "toBatchId"), 0);
    json_decref(runs);
    plan = plan_of("copy");
    assert_int_equal(int_of(plan, "nextBatchId"), 4);
    assert_string_equal(text_of(plan, "duplicates"), "NONE");
    json_decref((json_t *)(uintptr_t)plan);
}

static void what_cannot_be_rewound_is_refused(void **state)
{
    (void)state;
    create("still", "SELECT k FROM c", "\"sink\":{\"format\":\"noop\"}");
    const struct call to_9 = {
        .method = "POST", .path = "/v1/queries/still/rewind", .body = "{\"toBatchId\":9}"};
    refused(&server, &to_9, 422, "INVALID_FIELD_VALUE");
    const struct call none = {.method = "POST", .path = "/v1/queries/still/rewind", .body = "{}"};
    refused(&server, &none, 422, "MISSING_FIELD");
    const struct call null = {
        .method = "POST", .path = "/v1/queries/still/rewind", .body = "{\"toBatchId\":null}"};
    refused(&server, &null, 422, "MISSING_FIELD");
    const struct call text = {
        .method = "POST", .path = "/v1/queries/still/rewind", .body = "{\"toBatchId\":\"0\"}"};
    refused(&server, &text, 400, "INVALID_FIELD_TYPE");
    put("PUT", "still", "SELECT k FROM c",
        "\"sink\":{\"format\":\"noop\"},\"conf\":{\"spark.sql.streaming.pollingDelay\":\"5ms\"}");
    json_t *answer = post(&server, "/v1/queries/still/rewind", "{\"toBatchId\":-1}", 200);
    assert_string_equal(text_of(json_object_get(answer, "startPlan"), "duplicates"), "NONE");
    json_decref(answer);
}

/* kill -9 at each point of a rewind: the checkpoint is as before, or rewound. */
static void a_rewind_that_is_killed_has_happened_or_not(void **state)
{
    (void)state;
    static const char *const points[] = {"pre_rewind", "mid_rewind", "post_rewind"};
    create("killed", "SELECT k, count(*) AS n FROM c GROUP BY k",
           "\"outputMode\":\"update\",\"sink\":{\"format\":\"memory\"}");
    json_t *document = get(&server, "/v1/queries/killed/checkpoint", 200);
    char dir[256], command[1024];
    (void)snprintf(dir, sizeof dir, "%s", text_of(document, "location"));
    json_decref(document);
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(command, sizeof command,
                       "TIDEMILL_FAILPOINTS=%s:1:crash \"%s\" checkpoint rewind %s "
                       "--to-batch 1 >/dev/null 2>&1",
                       points[i], binary, dir);
        int result = system(command); /* NOLINT: the test's own words */
        if (WEXITSTATUS(result) == 0)
            skip(); /* a build without failpoints */
        assert_int_equal(WEXITSTATUS(result), 137);
        json_t *plan = plan_of("killed");
        assert_int_equal(int_of(plan, "nextBatchId"), i == 2 ? 2 : 3);
        assert_true(json_is_true(json_object_get(plan, "possible")));
        json_decref(plan);
    }
    json_decref(post(&server, "/v1/queries/killed/start", NULL, 202));
    await_state(&server, "killed", "FINISHED");
    json_t *all = get(&server, "/v1/queries/killed/state", 200);
    assert_int_equal(int_of(all, "batchId"), 2);
    assert_int_equal(int_of(json_array_get(json_object_get(all, "operators"), 0), "entries"), 3);
    json_decref(all);
}

/* The number of warnings that state of the former query is kept, each with `part`. */
static int kept_state(const char *sql, const char *part)
{
    int found = 0;
    size_t i;
    json_t *warning;
    put("PUT", "mixed", sql, "\"outputMode\":\"update\",\"sink\":{\"format\":\"memory\"}");
    json_t *plan = plan_of("mixed");
    const json_t *problem = json_array_get(json_object_get(plan, "problems"), 0);
    if (problem != NULL)
        fail_msg("%s: %s", sql, text_of(problem, "message"));
    json_array_foreach(json_object_get(plan, "warnings"), i, warning)
    {
        if (strcmp(text_of(warning, "code"), "STATE_OF_FORMER_QUERY") != 0)
            continue;
        found++;
        if (strstr(text_of(warning, "message"), part) == NULL)
            fail_msg("%s: %s", sql, text_of(warning, "message"));
    }
    json_decref(plan);
    return found;
}

#define WINDOWS(filter, expression, key, size, delay)                                              \
    "SELECT window(at, '" size "') AS w, k, count(*) AS n, sum(a) AS s FROM (SELECT " key          \
    " AS k, " expression " AS a, at FROM c WATERMARK timestamp_seconds(a) AS at DELAY OF "         \
    "INTERVAL '" delay "' SECONDS " filter ") GROUP BY window(at, '" size "'), k"

/* What Spark allows is allowed, and said where the state keeps what was computed otherwise. */
static void a_plan_says_where_state_of_the_former_query_stays(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *part; /* NULL: no warning */
    } changes[] = {
        {WINDOWS("WHERE a > 0 AND k > 'a'", "a", "k", "10 seconds", "5"), NULL},
        {WINDOWS("WHERE k > 'a' AND a > 0", "a", "k", "10 seconds", "5"), NULL},
        {"SELECT window(at, '10 seconds') AS x, y, count(*) AS m, sum(z) AS t FROM (SELECT y, z, "
         "at FROM (SELECT k AS y, a AS z, at FROM c WATERMARK timestamp_seconds(a) AS at DELAY OF "
         "INTERVAL '5' SECONDS) WHERE z > 0 AND y > 'a') GROUP BY window(at, '10 seconds'), y "
         "HAVING count(*) > 1",
         NULL},
        {WINDOWS("WHERE a > 1 AND k > 'a'", "a", "k", "10 seconds", "5"), "which rows"},
        {WINDOWS("", "a", "k", "10 seconds", "5"), "which rows"},
        {WINDOWS("WHERE a > 0 AND k > 'a'", "a * 10", "k", "10 seconds", "5"), "its values"},
        {WINDOWS("WHERE a > 0 AND k > 'a'", "a", "upper(k)", "10 seconds", "5"), "its keys"},
        {WINDOWS("WHERE a > 0 AND k > 'a'", "a", "k", "20 seconds", "5"), "its keys"},
        {WINDOWS("WHERE a > 0 AND k > 'a'", "a", "k", "10 seconds", "7"), "a watermark"},
        /* on another column: the windows are then no event times any more */
        {"SELECT window(at, '10 seconds') AS w, k, count(*) AS n, sum(a) AS s FROM (SELECT k, a, "
         "timestamp_seconds(a) AS at, u FROM c WATERMARK timestamp_seconds(a + 1) AS u DELAY OF "
         "INTERVAL '5' SECONDS WHERE a > 0 AND k > 'a') GROUP BY window(at, '10 seconds'), k",
         "a watermark"},
    };
    create("mixed", WINDOWS("WHERE a > 0 AND k > 'a'", "a", "k", "10 seconds", "5"),
           "\"outputMode\":\"update\",\"sink\":{\"format\":\"memory\"}");
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const char *part = changes[i].part == NULL ? "" : changes[i].part;
        int found = kept_state(changes[i].sql, part);
        if (found != (changes[i].part == NULL ? 0 : 1))
            fail_msg("%d warnings: %s", found, changes[i].sql);
    }
}

/* What the plan says was changed, between "changed in: " and its end; "" if it warns of nothing. */
static void said_of_change(const char *name, const char *sql, const char *to, char out[512])
{
    size_t i;
    json_t *warning;
    static const char kept[] = "\"outputMode\":\"append\",\"sink\":{\"format\":\"memory\"}";
    static const char updated[] = "\"outputMode\":\"update\",\"sink\":{\"format\":\"memory\"}";
    const char *more = strstr(sql, " JOIN ") != NULL ? kept : updated;
    create(name, sql, more);
    put("PUT", name, to, more);
    json_t *plan = plan_of(name);
    const json_t *problem = json_array_get(json_object_get(plan, "problems"), 0);
    if (problem != NULL)
        fail_msg("%s: %s", to, text_of(problem, "message"));
    out[0] = '\0';
    json_array_foreach(json_object_get(plan, "warnings"), i, warning)
    {
        if (strcmp(text_of(warning, "code"), "STATE_OF_FORMER_QUERY") != 0)
            continue;
        const char *said = strstr(text_of(warning, "message"), "changed in: ");
        assert_non_null(said);
        (void)snprintf(out, 512, "%s", said + strlen("changed in: "));
        char *end = strstr(out, ". Its state");
        assert_non_null(end);
        *end = '\0';
    }
    json_decref(plan);
}

#define TIMES(of, window, sum)                                                                     \
    "SELECT window(at, " window ") AS w, count(*) AS n, " sum " AS s FROM (SELECT a, "             \
    "timestamp_seconds(a) AS at, " of " AS m FROM c WATERMARK " of " AS m DELAY OF INTERVAL '5' "  \
    "SECONDS) GROUP BY window(at, " window ")"
#define SIDE(name, at)                                                                             \
    "(SELECT k AS " name "k, a AS " name "a, " at " FROM c WATERMARK timestamp_seconds(a) AS " at  \
    " DELAY OF INTERVAL '5' SECONDS)"
#define JOINED(kind, within)                                                                       \
    "SELECT lk, la, ra FROM " SIDE("l", "lt") " " kind " JOIN " SIDE(                              \
        "r", "rt") " ON lk = rk AND rt BETWEEN lt AND lt + INTERVAL " within

/* What was changed is named, and nothing else. */
static void a_plan_names_only_what_was_changed(void **state)
{
    (void)state;
    static const char keys[] = "what its keys are computed from (expressions, windows)";
    static const char watermark[] = "a watermark (its column or its delay)";
    static const char join[] = "the join itself (its kind, its condition)";
    const struct {
        const char *from, *to, *said;
    } cases[] = {
        /* other names of the same functions */
        {"SELECT k, mean(a) m, std(a) s, any(a > 1) b, string_agg(k, ',') l FROM c WHERE "
         "ucase(k) <> 'N' GROUP BY k",
         "SELECT k, avg(a) m, stddev_samp(a) s, bool_or(a > 1) b, listagg(k, ',') l FROM c WHERE "
         "upper(k) <> 'N' GROUP BY k",
         ""},
        {"SELECT k, percentile(a, 0.5) p FROM c GROUP BY k",
         "SELECT k, median(a) p FROM c GROUP BY k", ""},
        {"SELECT k, median(a + 1) p FROM c GROUP BY k",
         "SELECT k, percentile(a + 1, 0.50D) p FROM c GROUP BY k", ""},
        /* windows, and the column of the watermark, which the plan then passes on or does not */
        {TIMES("timestamp_seconds(a)", "'10 seconds'", "sum(a)"),
         TIMES("timestamp_seconds(a + 1)", "'10 seconds'", "sum(a)"), watermark},
        {TIMES("timestamp_seconds(a)", "'10 seconds'", "sum(a)"),
         TIMES("timestamp_seconds(a)", "'10 seconds', '5 seconds'", "sum(a)"), keys},
        {TIMES("timestamp_seconds(a)", "'10 seconds'", "sum(a * 1.0D)"),
         TIMES("timestamp_seconds(a)", "'10 seconds', '4 seconds'", "sum(a * 1.0D)"), keys},
        /* joins */
        {JOINED("INNER", "2 SECONDS"), JOINED("LEFT", "2 SECONDS"), join},
        {JOINED("LEFT", "2 SECONDS"), JOINED("RIGHT", "2 SECONDS"), join},
        {JOINED("INNER", "2 SECONDS"), JOINED("INNER", "9 SECONDS"), join},
        {JOINED("INNER", "2 SECONDS"), JOINED("INNER", "2 SECONDS AND ra > la"), join},
        {JOINED("INNER", "2 SECONDS"), JOINED("INNER", "2 SECONDS WHERE la > 1"),
         "which rows reach it (a filter, a join, a limit)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[16], said[512];
        (void)snprintf(name, sizeof name, "exact%zu", i);
        said_of_change(name, cases[i].from, cases[i].to, said);
        if (strcmp(said, cases[i].said) != 0)
            fail_msg("%s\n-> %s\nsays \"%s\", not \"%s\"", cases[i].from, cases[i].to, said,
                     cases[i].said);
    }
}

/* A start that is refused keeps nothing, and says why once. */
static void a_refused_change_is_said_once(void **state)
{
    (void)state;
    static const char more[] = "\"outputMode\":\"update\",\"sink\":{\"format\":\"memory\"}";
    create("twofold", "SELECT k, sum(a) AS s FROM c GROUP BY k", more);
    put("PUT", "twofold",
        "SELECT k, sum(a) AS s FROM (SELECT * FROM c UNION ALL SELECT * FROM c) GROUP BY k", more);
    json_t *plan = plan_of("twofold");
    const json_t *problems = json_object_get(plan, "problems");
    assert_int_equal(json_array_size(problems), 1);
    assert_string_equal(text_of(json_array_get(problems, 0), "condition"),
                        "CHECKPOINT.QUERY_CHANGED");
    size_t i;
    json_t *warning;
    json_array_foreach(json_object_get(plan, "warnings"), i, warning)
        assert_string_not_equal(text_of(warning, "code"), "STATE_OF_FORMER_QUERY");
    json_decref(plan);
}

/* ---- damage ---- */

#define PATH_SIZE  512
#define FILES_MAX  64
#define FILE_BYTES ((size_t)1 << 20)

struct file_list {
    char paths[FILES_MAX][PATH_SIZE];
    size_t count;
};

static void add_files(struct file_list *list, const char *dir)
{
    DIR *handle = opendir(dir);
    assert_non_null(handle);
    for (const struct dirent *entry = readdir(handle); entry != NULL; entry = readdir(handle)) {
        char path[PATH_SIZE];
        struct stat about;
        if (entry->d_name[0] == '.')
            continue;
        assert_in_range(snprintf(path, sizeof path, "%s/%s", dir, entry->d_name), 1, PATH_SIZE - 1);
        assert_int_equal(stat(path, &about), 0);
        if (S_ISDIR(about.st_mode)) {
            add_files(list, path);
        } else if (about.st_size > 0) {
            assert_true(list->count < FILES_MAX);
            memcpy(list->paths[list->count++], path, sizeof path);
        }
    }
    (void)closedir(handle);
}

static size_t read_whole(const char *path, char *out)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(out, 1, FILE_BYTES, file);
    (void)fclose(file);
    return size;
}

/* In a new file: a worker may have the old one still. */
static void write_whole(const char *path, const char *data, size_t size)
{
    (void)unlink(path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void location_of(const char *name, char out[PATH_SIZE])
{
    char path[128];
    (void)snprintf(path, sizeof path, "/v1/queries/%s/checkpoint", name);
    json_t *document = get(&server, path, 200);
    (void)snprintf(out, PATH_SIZE, "%s", text_of(document, "location"));
    json_decref(document);
}

/* Whether the plan has a warning or problem that says so much. */
static bool plan_has(const json_t *plan, const char *list, const char *key, const char *code,
                     const char *text)
{
    size_t i;
    json_t *each;
    json_array_foreach(json_object_get(plan, list), i, each)
    {
        if (strcmp(text_of(each, key), code) == 0 && strstr(text_of(each, "message"), text) != NULL)
            return true;
    }
    return false;
}

static void look_at_damaged(const char *name)
{
    static const struct {
        const char *method, *rest;
    } calls[] = {{"POST", "start?validateOnly=true"}, {"GET", "checkpoint"},
                 {"POST", "checkpoint/verify"},       {"GET", "state"},
                 {"GET", "state/0?limit=3"},          {"GET", "batches"}};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "/v1/queries/%s/%s", name, calls[i].rest);
        const struct call it = {.method = calls[i].method, .path = path};
        struct reply reply = call(&server, &it);
        assert_true(reply.status == 200 || (i > 0 && reply.status >= 400));
        reply_free(&reply);
    }
}

/* The server lives, and a start plan is answered, whichever file is damaged. */
static void damaged_files_do_not_end_the_server(void **state)
{
    (void)state;
    char dir[PATH_SIZE];
    struct file_list files = {.count = 0};
    char *was = malloc(FILE_BYTES), *now = malloc(FILE_BYTES);
    create("sick", "SELECT k, count(*) AS n FROM c GROUP BY k",
           "\"outputMode\":\"update\",\"sink\":{\"format\":\"memory\"},\"conf\":{"
           "\"spark.sql.streaming.stateStore.minDeltasForSnapshot\":\"1\"}");
    location_of("sick", dir);
    add_files(&files, dir);
    assert_in_range(files.count, 8, FILES_MAX);
    for (size_t f = 0; f < files.count; f++) {
        size_t size = read_whole(files.paths[f], was);
        for (int kind = 0; kind < 6; kind++) {
            size_t keep = kind < 3 ? size : kind == 3 ? size / 2 : kind == 4 ? size - 1 : 0;
            memcpy(now, was, size);
            if (kind < 3)
                now[(size - 1) * (size_t)kind / 2] ^= 4;
            if (kind == 5)
                assert_int_equal(unlink(files.paths[f]), 0);
            else
                write_whole(files.paths[f], now, keep);
            look_at_damaged("sick");
        }
        write_whole(files.paths[f], was, size);
    }
    json_t *plan = plan_of("sick");
    assert_true(json_is_true(json_object_get(plan, "possible")));
    json_decref(plan);
    char path[PATH_SIZE + 32];
    (void)snprintf(path, sizeof path, "%s/sources/0/seen", dir);
    write_whole(path, "damaged", 7);
    plan = plan_of("sick");
    assert_true(plan_has(plan, "problems", "condition", "CHECKPOINT.CORRUPT", "/sources/0/seen"));
    const json_t *source = json_array_get(json_object_get(plan, "sources"), 0);
    assert_true(json_is_null(json_object_get(source, "filesToCatchUp")));
    json_decref(plan);
    free(was);
    free(now);
}

/* What a start would refuse is told, and no reason to end. */
static void a_changed_query_does_not_end_the_server(void **state)
{
    (void)state;
    const char *more = "\"outputMode\":\"update\",\"sink\":{\"format\":\"memory\"}";
    create("twice", "SELECT k, sum(a) AS n FROM c GROUP BY k", more);
    put("PUT", "twice",
        "SELECT k, sum(a) AS n FROM (SELECT * FROM c UNION ALL SELECT * FROM c) GROUP BY k", more);
    json_t *plan = plan_of("twice");
    assert_true(plan_has(plan, "problems", "condition", "CHECKPOINT.QUERY_CHANGED", "2 sources"));
    json_decref(plan);
    struct call rewind_ = {
        .method = "POST", .path = "/v1/queries/twice/rewind", .body = "{\"toBatchId\":0}"};
    struct reply reply = call(&server, &rewind_);
    assert_int_equal(reply.status, 200);
    reply_free(&reply);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The lists of files of all snapshots, oldest first. */
static void find_snapshots(const char *dir, struct file_list *out)
{
    struct file_list files = {.count = 0};
    add_files(&files, dir);
    out->count = 0;
    for (size_t i = 0; i < files.count; i++)
        if (strstr(files.paths[i], "/MANIFEST.tidemill") != NULL)
            memcpy(out->paths[out->count++], files.paths[i], PATH_SIZE);
    qsort(out->paths, out->count, PATH_SIZE, by_name);
}

static void the_plan_names_a_damaged_snapshot(void **state)
{
    (void)state;
    char dir[PATH_SIZE];
    struct file_list snapshots;
    create("worn", "SELECT k, count(*) AS n FROM c GROUP BY k",
           "\"outputMode\":\"update\",\"sink\":{\"format\":\"memory\"},\"conf\":{"
           "\"spark.sql.streaming.stateStore.minDeltasForSnapshot\":\"1\"}");
    write_file(&server, "in/4.json", "{\"k\":\"z\",\"a\":5}\n"); /* for a second one */
    json_decref(post(&server, "/v1/queries/worn/start", NULL, 202));
    await_state(&server, "worn", "FINISHED");
    location_of("worn", dir);
    find_snapshots(dir, &snapshots);
    assert_in_range(snapshots.count, 2, FILES_MAX);
    json_t *plan = plan_of("worn");
    assert_int_equal(json_array_size(json_object_get(plan, "warnings")), 0);
    json_decref(plan);
    write_whole(snapshots.paths[snapshots.count - 1], "?", 1);
    plan = plan_of("worn");
    assert_true(json_is_true(json_object_get(plan, "possible")));
    assert_true(plan_has(plan, "warnings", "code", "SNAPSHOT_DAMAGED",
                         "the newest snapshot of the state, of batch 3, is damaged "
                         "(MANIFEST.tidemill does not match its checksum): a start begins with "
                         "that of batch "));
    json_decref(plan);
    for (size_t i = 0; i < snapshots.count; i++)
        write_whole(snapshots.paths[i], "?", 1);
    plan = plan_of("worn");
    assert_true(plan_has(plan, "warnings", "code", "SNAPSHOT_DAMAGED",
                         "is damaged, and no other is whole (MANIFEST.tidemill does not match its "
                         "checksum): the state is made again from all changes"));
    json_decref(plan);
    json_decref(post(&server, "/v1/queries/worn/start", NULL, 202));
    await_state(&server, "worn", "FINISHED");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        T(state_is_read_in_any_version_within_reach),
        T(the_plan_says_what_a_changed_query_would_meet),
        T(a_query_that_begins_to_keep_state_is_refused_by_one_condition),
        T(the_plan_of_sessions_has_one_operator_and_says_that_their_gap_changed),
        T(the_plan_of_a_first_start_finds_nothing_in_its_way),
        T(a_plan_says_where_state_of_the_former_query_stays),
        T(a_plan_names_only_what_was_changed),
        T(a_refused_change_is_said_once),
        T(a_setting_that_the_checkpoint_keeps_is_named),
        T(the_plan_and_the_state_number_operators_alike),
        T(files_that_the_sink_has_are_suppressed_when_batches_run_again),
        T(what_cannot_be_rewound_is_refused),
        T(a_rewind_that_is_killed_has_happened_or_not),
        T(damaged_files_do_not_end_the_server),
        T(the_plan_names_a_damaged_snapshot),
        T(a_changed_query_does_not_end_the_server),
    };
    const char *given = getenv("TIDEMILL_BINARY");
    (void)snprintf(binary, sizeof binary, "%s", given == NULL ? "" : given);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
