/*
 * Queries whose state does not fit into limits.memoryBytes: the same results, also after a kill;
 * or an end with a reason.
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
#include <sys/stat.h>

#define ROWS  20000 /* of a file; their partial groups alone are more than the smallest limit */
#define KEYS  30011
#define LIMIT 1048576

static int files_per_batch = 1;
static const char *folder = "in";
static const char *watermark = "";

/* Rows of keys that every file has others of; later files share some with earlier ones. */
static void write_rows(const char *to, int file, int day)
{
    size_t room = (size_t)ROWS * 80;
    char *text = malloc(room);
    char name[32];
    size_t size = 0;
    assert_non_null(text);
    for (int i = 0; i < ROWS; i++) {
        int key = (int)(((int64_t)file * 13007 + (int64_t)i * 7919) % KEYS);
        size += (size_t)snprintf(text + size, room - size,
                                 "{\"k\":%d,\"v\":%d,\"at\":\"2024-05-%02dT00:%02d:00Z\"}\n", key,
                                 i % 100, day, i % 60);
    }
    (void)snprintf(name, sizeof name, "%s/%d.json", to, file);
    write_file(&server, name, text);
    free(text);
}

/* As many files as that are there. */
static void have_files(int count)
{
    static int files;
    for (; files < count; files++)
        write_rows("in", files, 1);
}

static void create(const char *name, const char *sql, const char *mode, const char *sink,
                   const char *more)
{
    char body[2048];
    (void)snprintf(
        body, sizeof body,
        "{\"name\":\"%s\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"k BIGINT, "
        "v BIGINT, at TIMESTAMP\",\"options\":{\"path\":\"%s/%s\","
        "\"maxFilesPerTrigger\":%d}%s}},\"sql\":\"%s\",\"outputMode\":\"%s\","
        "\"sink\":{\"format\":\"%s\"}%s}",
        name, server.dir, folder, files_per_batch, watermark, sql, mode, sink, more);
    json_decref(post(&server, "/v1/queries", body, 201));
}

static json_t *act(const char *query, const char *action, long status)
{
    char path[256];
    (void)snprintf(path, sizeof path, "/v1/queries/%s/%s", query, action);
    return post(&server, path, NULL, status);
}

static json_t *read_of(const char *query, const char *suffix)
{
    char path[256];
    (void)snprintf(path, sizeof path, "/v1/queries/%s%s", query, suffix);
    return get(&server, path, 200);
}

/* Rows that are on the disk only, by the last progress document. */
static int64_t spilled_rows(const char *query)
{
    json_t *progress = read_of(query, "/progress?last=1");
    const json_t *last = json_array_get(json_object_get(progress, "progress"), 0);
    const json_t *entry = json_array_get(json_object_get(last, "stateOperators"), 0);
    int64_t rows = json_integer_value(
        json_object_get(json_object_get(entry, "customMetrics"), "numRowsSpilled"));
    json_decref(progress);
    return rows;
}

/* The most memory that the state has taken in a batch, by what is counted, is within the limit. */
static void keeps_the_limit(const char *query)
{
    json_t *progress = read_of(query, "/progress?last=100");
    const json_t *documents = json_object_get(progress, "progress");
    int64_t most = 0;
    for (size_t i = 0; i < json_array_size(documents); i++) {
        const json_t *entry =
            json_array_get(json_object_get(json_array_get(documents, i), "stateOperators"), 0);
        int64_t peak = json_integer_value(
            json_object_get(json_object_get(entry, "customMetrics"), "spillMemoryPeakBytes"));
        most = peak > most ? peak : most;
    }
    assert_true(most > 0);
    assert_true(most <= LIMIT);
    json_decref(progress);
}

static void kill_worker(const char *query)
{
    json_t *status = read_of(query, "/status");
    pid_t pid = (pid_t)json_integer_value(json_object_get(status, "pid"));
    assert_true(pid > 1);
    assert_int_equal(kill(pid, SIGKILL), 0);
    json_decref(status);
    for (bool same = true; same;) { /* another worker runs */
        await_state(&server, query, "RUNNING");
        status = read_of(query, "/status");
        pid_t now = (pid_t)json_integer_value(json_object_get(status, "pid"));
        same = now == pid || now <= 1 || strcmp(text_of(status, "state"), "RUNNING") != 0;
        json_decref(status);
    }
}

static int compare_texts(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* The rows of the result, sorted, one a line. */
static char *rows_of(const char *query)
{
    json_t *results = read_of(query, "/results?limit=10000");
    const json_t *rows = json_object_get(results, "rows");
    size_t count = json_array_size(rows);
    char **lines = calloc(count + 1, sizeof *lines);
    size_t size = 1;
    assert_non_null(lines);
    for (size_t i = 0; i < count; i++) {
        lines[i] = json_dumps(json_array_get(rows, i), JSON_COMPACT | JSON_SORT_KEYS);
        assert_non_null(lines[i]);
        size += strlen(lines[i]) + 1;
    }
    qsort(lines, count, sizeof *lines, compare_texts);
    char *text = calloc(1, size);
    assert_non_null(text);
    char *at = text;
    for (size_t i = 0; i < count; i++) {
        at = stpcpy(stpcpy(at, lines[i]), "\n");
        free(lines[i]);
    }
    free(lines);
    json_decref(results);
    return text;
}

static void state_beyond_the_limit_gives_the_same_results(void **state)
{
    (void)state;
    const char *sql =
        "SELECT k, count(*) AS n, sum(v) AS s FROM c GROUP BY k HAVING (k + 0 * count(*)) % 11 = 0";
    create("whole", sql, "complete", "memory", "");
    create("small", sql, "complete", "memory", ",\"limits\":{\"memoryBytes\":1048576}");
    for (int file = 0; file < 6; file++) {
        have_files(file + 1);
        if (file == 3) { /* its state is in the log and in a file that is gone with it */
            json_decref(act("small", "processAllAvailable", 200));
            assert_true(spilled_rows("small") > KEYS / 2);
            kill_worker("small");
        }
    }
    json_decref(act("whole", "processAllAvailable", 200));
    json_decref(act("small", "processAllAvailable", 200));
    assert_true(spilled_rows("small") > KEYS / 2);
    assert_int_equal(spilled_rows("whole"), 0);
    char *want = rows_of("whole");
    char *got = rows_of("small");
    assert_true(strlen(want) > 1000);
    assert_string_equal(got, want);
    free(want);
    free(got);
}

/* Ends with this condition. */
static void ends_with(const char *query, const char *condition)
{
    json_t *end = act(query, "awaitTermination", 200);
    assert_string_equal(text_of(end, "state"), "FAILED");
    const json_t *error = json_object_get(end, "lastError");
    assert_string_equal(text_of(error, "condition"), condition);
    assert_string_equal(text_of(error, "domain"), "user");
    json_decref(end);
}

/* The same query with and without the least limit, over the files that are there. */
static void gives_the_same(const char *name, const char *sql, const char *mode, const char *views)
{
    char small[64];
    char more[512];
    const char *trigger = ",\"trigger\":{\"availableNow\":true}";
    (void)snprintf(small, sizeof small, "%s_small", name);
    (void)snprintf(more, sizeof more, "%s%s", trigger, views);
    create(name, sql, mode, "memory", more);
    (void)snprintf(more, sizeof more, "%s%s,\"limits\":{\"memoryBytes\":1048576}", trigger, views);
    create(small, sql, mode, "memory", more);
    const char *both[] = {name, small};
    for (int i = 0; i < 2; i++) {
        json_t *end = act(both[i], "awaitTermination", 200);
        assert_string_equal(text_of(end, "state"), "FINISHED");
        json_decref(end);
    }
    char *want = rows_of(name);
    char *got = rows_of(small);
    assert_true(strlen(want) > 1000);
    assert_string_equal(got, want);
    keeps_the_limit(small);
    free(want);
    free(got);
}

/* What one batch brings is more than half of the limit. */
static void rows_of_a_batch_wait_on_the_disk(void **state)
{
    (void)state;
    gives_the_same(
        "uniq", "SELECT k, v, x FROM d WHERE (k + v * 0) % 11 = 0", "append",
        ",\"views\":[{\"name\":\"w\",\"sql\":\"SELECT k, v, repeat('x', 60 + v % 7) AS x "
        "FROM c\"},{\"name\":\"d\",\"from\":\"w\",\"dropDuplicates\":[\"k\"]}]");
}

static void sessions_of_a_batch_wait_on_the_disk(void **state)
{
    (void)state;
    gives_the_same("sessions",
                   "SELECT session_window(at, '10 seconds') AS w, k, count(*) AS n, sum(v) AS s "
                   "FROM c GROUP BY session_window(at, '10 seconds'), k "
                   "HAVING (k + count(*) * 0) % 23 = 0",
                   "complete", "");
}

static void states_that_point_wait_on_the_disk(void **state)
{
    (void)state;
    gives_the_same("lists",
                   "SELECT k, collect_list(v) AS l, max(CAST(v AS STRING)) AS m FROM c GROUP BY k "
                   "HAVING (k + count(*) * 0) % 11 = 0",
                   "complete", "");
}

/* What one batch changes of one partition is several times the limit. */
static void a_batch_beyond_the_limit_is_taken_in_rounds(void **state)
{
    (void)state;
    const char *one = ",\"conf\":{\"spark.sql.shuffle.partitions\":\"1\"}";
    char dedup[512];
    (void)snprintf(dedup, sizeof dedup,
                   "%s,\"views\":[{\"name\":\"w\",\"sql\":\"SELECT k, v, repeat('x', 60 + v %% 7) "
                   "AS x FROM c\"},{\"name\":\"d\",\"from\":\"w\",\"dropDuplicates\":[\"k\"]}]",
                   one);
    have_files(2);
    files_per_batch = 1000;
    gives_the_same("one_batch",
                   "SELECT k, count(*) AS n, sum(v) AS s FROM c GROUP BY k "
                   "HAVING (k + count(*) * 0) % 11 = 0",
                   "update", one);
    gives_the_same(
        "one_batch_lists",
        "SELECT k, sort_array(collect_list(v)) AS l, max(CAST(v AS STRING)) AS m FROM c GROUP BY k "
        "HAVING (k + count(*) * 0) % 11 = 0",
        "update", one);
    gives_the_same("one_batch_uniq", "SELECT k, length(x) >= 60 AS wide FROM d WHERE k % 11 = 0",
                   "append", dedup); /* which row of a key stays is open */
    gives_the_same("one_batch_sessions",
                   "SELECT session_window(at, '10 seconds') AS w, k, count(*) AS n, sum(v) AS s "
                   "FROM c GROUP BY session_window(at, '10 seconds'), k "
                   "HAVING (k + count(*) * 0) % 23 = 0",
                   "complete", one);
    files_per_batch = 1;
}

/* Rows of both sides, of one key a few, in batches of all sizes. */
static void a_join_beyond_the_limit_gives_the_same_results(void **state)
{
    (void)state;
    const char *sql = "SELECT l.k, l.v AS lv, r.v AS rv, r.x FROM l JOIN r ON l.k = r.k "
                      "WHERE l.k % 97 = 0 OR r.v + l.v < 3";
    const char *views =
        ",\"views\":[{\"name\":\"l\",\"sql\":\"SELECT k, v FROM c WHERE v < 50\"},{\"name\":"
        "\"r\",\"sql\":\"SELECT k, v, repeat('x', 20 + v % 7) AS x FROM c WHERE v > 40\"}]";
    have_files(2);
    gives_the_same("pairs", sql, "append", views);
    files_per_batch = 1000;
    gives_the_same("pairs_of_one_batch", sql, "append", views);
    files_per_batch = 1;
}

/* Rows of one day as before, and then one of a much later day, which ends all that they have left
 * in the state, several times the limit; and then some that find nothing there. */
static void have_an_end(void)
{
    char text[128];
    char path[512];
    for (int file = 0; file < 5; file++) {
        char name[32];
        (void)snprintf(name, sizeof name, "ended/%d.json", file);
        (void)snprintf(text, sizeof text, "{\"k\":0,\"v\":0,\"at\":\"2024-05-%02dT00:00:00Z\"}\n",
                       5 + file);
        if (file < 2 || file == 4) /* of the days 1 and 20 */
            write_rows("ended", file, file < 2 ? 1 : 20);
        else
            write_file(&server, name, text);
        (void)snprintf(path, sizeof path, "%s/%s", server.dir, name);
        const struct timespec times[2] = {{.tv_sec = 1714600000 + file},
                                          {.tv_sec = 1714600000 + file}};
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    }
}

static void what_a_watermark_ends_may_be_beyond_the_limit(void **state)
{
    (void)state;
    const char *one = ",\"conf\":{\"spark.sql.shuffle.partitions\":\"1\"}";
    char joined[512];
    char within[512];
    (void)snprintf(joined, sizeof joined,
                   "%s,\"views\":[{\"name\":\"l\",\"sql\":\"SELECT k, v, at FROM c\"},{\"name\":"
                   "\"r\",\"sql\":\"SELECT k + 0 AS k, v, at FROM c WHERE v %% 2 = 0\"}]",
                   one);
    (void)snprintf(within, sizeof within,
                   "%s,\"views\":[{\"name\":\"w\",\"sql\":\"SELECT k, v, at, repeat('x', 60) AS x "
                   "FROM c\"},{\"name\":\"d\",\"from\":\"w\","
                   "\"dropDuplicatesWithinWatermark\":[\"k\",\"x\"]}]",
                   one);
    make_dir(&server, "ended");
    have_an_end();
    folder = "ended";
    watermark = ",\"watermark\":{\"column\":\"at\",\"delay\":\"1 hour\"}";
    gives_the_same("ended_sessions",
                   "SELECT session_window(at, '10 seconds') AS w, k, count(*) AS n, sum(v) AS s "
                   "FROM c GROUP BY session_window(at, '10 seconds'), k "
                   "HAVING (k + count(*) * 0) % 23 = 0",
                   "append", one);
    gives_the_same("ended_lists",
                   "SELECT session_window(at, '10 seconds') AS w, k, max(CAST(v AS STRING)) AS m "
                   "FROM c GROUP BY session_window(at, '10 seconds'), k "
                   "HAVING (k + count(*) * 0) % 23 = 0",
                   "append", one);
    gives_the_same("ended_pairs",
                   "SELECT l.k, l.v, r.v AS rv FROM l LEFT JOIN r ON l.k = r.k AND r.at >= l.at "
                   "AND r.at <= l.at + INTERVAL 1 MINUTE AND l.k % 7 = 0 WHERE l.k % 23 = 0 "
                   "OR r.v = 4",
                   "append", joined);
    gives_the_same(
        "ended_keys",
        "SELECT k, day(at) AS d, length(x) AS x FROM d WHERE (k + length(x) * 0) % 23 = 0",
        "append", within);
    folder = "in";
    watermark = "";
}

static void groups_can_be_moved(void **state)
{
    (void)state;
    const char *limit = ",\"limits\":{\"memoryBytes\":1048576},\"trigger\":{\"availableNow\":true}";
    create("wide", "SELECT k, repeat('x', 100) AS x, count(*) AS n FROM c GROUP BY k, x", "update",
           "noop", limit);
    json_t *end = act("wide", "awaitTermination", 200);
    assert_string_equal(text_of(end, "state"), "FINISHED");
    json_decref(end);
}

static void panes_of_sliding_windows_wait_on_the_disk(void **state)
{
    (void)state;
    gives_the_same("panes",
                   "SELECT window(at, '4 minutes', '1 minute') AS w, k, count(*) AS n, "
                   "max(CAST(v AS STRING)) AS m FROM c "
                   "GROUP BY window(at, '4 minutes', '1 minute'), k "
                   "HAVING (k + count(*) * 0) % 41 = 0",
                   "complete", "");
    gives_the_same("plain_panes",
                   "SELECT window(at, '4 minutes', '1 minute') AS w, k, count(*) AS n, sum(v) AS s "
                   "FROM c GROUP BY window(at, '4 minutes', '1 minute'), k "
                   "HAVING (k + count(*) * 0) % 41 = 0",
                   "complete", "");
}

static void one_group_beyond_the_limit_is_refused(void **state)
{
    (void)state;
    const char *limit = ",\"limits\":{\"memoryBytes\":1048576},\"trigger\":{\"availableNow\":true}";
    create("one_group", "SELECT collect_list(repeat('x', 100)) AS l FROM c", "complete", "noop",
           limit);
    ends_with("one_group", "STATE_MEMORY_EXCEEDED");
    json_t *status = read_of("one_group", "/status");
    const char *detail = text_of(json_object_get(status, "lastError"), "detail");
    assert_non_null(strstr(detail, "It has no keys"));
    assert_null(strstr(detail, "watermark"));
    json_decref(status);
}

/* Values of 1.2 MB are a state of not much more, and fit into eight. */
static void one_group_takes_what_it_holds(void **state)
{
    (void)state;
    char row[64], name[32];
    char *text = malloc(64 << 10);
    assert_non_null(text);
    make_dir(&server, "wide");
    for (int file = 0; file < 4; file++) {
        text[0] = '\0';
        char *at = text;
        for (int i = 0; i < 300; i++) {
            (void)snprintf(row, sizeof row, "{\"k\":%d,\"v\":%d}\n", file, i);
            at = stpcpy(at, row);
        }
        (void)snprintf(name, sizeof name, "wide/%d.json", file);
        write_file(&server, name, text);
    }
    free(text);
    folder = "wide";
    create("one_fits",
           "SELECT length(concat_ws(',', collect_list(concat(repeat('x', 1000), v)))) AS n, "
           "percentile(v, 0.5) AS p FROM c",
           "update", "memory", ",\"limits\":{\"memoryBytes\":8388608}");
    folder = "in";
    json_decref(act("one_fits", "processAllAvailable", 200));
    json_t *progress = read_of("one_fits", "/progress?last=1");
    const json_t *last = json_array_get(json_object_get(progress, "progress"), 0);
    const json_t *entry = json_array_get(json_object_get(last, "stateOperators"), 0);
    assert_in_range(json_integer_value(json_object_get(entry, "memoryUsedBytes")), 1200000,
                    2400000);
    json_decref(progress);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_beyond_the_limit_is_taken_in_rounds), /* while files are few */
        cmocka_unit_test(a_join_beyond_the_limit_gives_the_same_results),
        cmocka_unit_test(what_a_watermark_ends_may_be_beyond_the_limit),
        cmocka_unit_test(state_beyond_the_limit_gives_the_same_results),
        cmocka_unit_test(rows_of_a_batch_wait_on_the_disk),
        cmocka_unit_test(sessions_of_a_batch_wait_on_the_disk),
        cmocka_unit_test(states_that_point_wait_on_the_disk),
        cmocka_unit_test(groups_can_be_moved),
        cmocka_unit_test(panes_of_sliding_windows_wait_on_the_disk),
        cmocka_unit_test(one_group_beyond_the_limit_is_refused),
        cmocka_unit_test(one_group_takes_what_it_holds),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
