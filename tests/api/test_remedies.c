/*
 * What the rules of streams refuse has fixes: each makes the query legal, as the analyser has seen.
 */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "validate_texts.h"

#define FIXES_MAX 5
#define BY        "GROUP BY window(t, '1 minute')"

static int setup(void **state)
{
    (void)state;
    server_start(&server, NULL);
    make_dir(&server, "in");
    return 0;
}

struct offer {
    const char *sources, *sql, *mode;
    const char *titles[FIXES_MAX]; /* all that are offered, in their order */
};

#define STREAM(name, schema, rest)                                                                 \
    "\"" name "\":{\"format\":\"json\",\"schema\":\"" schema                                       \
    "\",\"options\":{\"path\":\"$/in\"}" rest "}"
#define PLAIN               STREAM("s", "t TIMESTAMP, k STRING, v BIGINT", "")
#define MARKED              STREAM("s", "t TIMESTAMP, k STRING, v BIGINT", MARK("t"))
#define MARK(column)        ",\"watermark\":{\"column\":\"" column "\",\"delay\":\"10 seconds\"}"
#define TIMED(name, column) STREAM(name, column " TIMESTAMP, k STRING", "")
#define TWO                 TIMED("a", "t") "," TIMED("b", "u")
#define RATE                "\"s\":{\"format\":\"rate\"}"
#define UPDATE              "Use update mode"
#define WHOLE               "Use complete mode"
#define BOTH                UPDATE, WHOLE

static char *spec_of(const struct offer *offer)
{
    static char spec[4096];
    (void)snprintf(spec, sizeof spec,
                   "{\"sources\":{%s},\"views\":[{\"name\":\"renamed\",\"sql\":\"SELECT t AS ts, k "
                   "FROM s\"},{\"name\":\"counted\",\"sql\":\"SELECT k, count(*) AS c FROM s GROUP "
                   "BY k\"},{\"name\":\"sorted\",\"sql\":\"SELECT k FROM s ORDER BY "
                   "k\"},{\"name\":\"later\",\"sql\":\"SELECT t + INTERVAL 1 HOUR AS t2, k FROM "
                   "s\"},{\"name\":\"through\",\"sql\":\"SELECT k, t2 AS t3 FROM later\"}],"
                   "\"sql\":\"%s\",\"outputMode\":\"%s\",\"sink\":{\"format\":\"noop\"}}",
                   offer->sources, offer->sql, offer->mode);
    if (strstr(offer->sources, "\"s\"") == NULL || strstr(offer->sources, "t TIMESTAMP") == NULL ||
        strstr(offer->sources, "\"a\"") != NULL)
        (void)snprintf(spec, sizeof spec,
                       "{\"sources\":{%s},\"sql\":\"%s\",\"outputMode\":\"%s\",\"sink\":{"
                       "\"format\":\"noop\"}}",
                       offer->sources, offer->sql, offer->mode);
    return spec;
}

/* The fixes of the only error, of which each has been accepted. */
static void expect_offer(const struct offer *offer)
{
    print_message("%s: %s\n", offer->mode, offer->sql);
    json_t *answer = post(&server, "/v1/validate", at_home(spec_of(offer)), 200);
    const json_t *said = json_array_get(json_object_get(answer, "diagnostics"), 0);
    const json_t *fixes = json_object_get(said, "fixes");
    size_t i;
    json_t *fix;
    print_message("  %s\n", text_of(said, "detail"));
    json_array_foreach(fixes, i, fix)
    {
        print_message("  - %s\n", text_of(fix, "title"));
        assert_true(json_is_true(json_object_get(fix, "validated")));
    }
    size_t count = 0;
    while (count < FIXES_MAX && offer->titles[count] != NULL)
        count++;
    assert_int_equal(json_array_size(fixes), count);
    for (i = 0; i < count; i++)
        assert_string_equal(text_of(json_array_get(fixes, i), "title"), offer->titles[i]);
    json_decref(answer);
}

static void expect_offers(const struct offer *offers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect_offer(&offers[i]);
}

#define ON_T   "Add a watermark on t of s"
#define WINDOW ON_T ", and group by window(t, '1 minute'), too"

/* Append without a watermark: one on a column that is there, and groups that go by it. */
static void append_gets_a_watermark_and_windows(void **state)
{
    (void)state;
    static const struct offer offers[] = {
        {PLAIN, "SELECT k, count(*) AS c FROM s GROUP BY k", "append", {WINDOW, BOTH}},
        {PLAIN, "SELECT count(*) AS c FROM s", "append", {WINDOW, BOTH}},
        {PLAIN, "SELECT k, count(*) AS c FROM s " BY ", k", "append", {ON_T, BOTH}},
        {PLAIN, "SELECT t, count(*) AS c FROM s GROUP BY t", "append", {ON_T, BOTH}},
        {PLAIN,
         "SELECT DISTINCT k FROM s",
         "append",
         {ON_T ", and select window(t, '1 minute'), too", BOTH}},
        {PLAIN, "SELECT DISTINCT k, t FROM s", "append", {ON_T, BOTH}},
        {PLAIN, "SELECT k, count(*) AS c FROM s GROUP BY ROLLUP(k)", "append", {WINDOW, BOTH}},
        {PLAIN, "SELECT k, count(*) AS c FROM s GROUP BY k WITH ROLLUP", "append", {BOTH}},
        {PLAIN,
         "SELECT k, count(*) AS c FROM renamed GROUP BY k",
         "append",
         {ON_T ", and group by window(ts, '1 minute'), too", BOTH}},
        {PLAIN, "SELECT * FROM counted", "append", {WINDOW, BOTH}},
        {PLAIN,
         "SELECT k, count(*) AS c FROM later GROUP BY k",
         "append",
         {"Add a watermark on t2 of later, and group by window(t2, '1 minute'), too", BOTH}},
        {PLAIN,
         "SELECT k, count(*) AS c FROM later AS l GROUP BY ALL",
         "append",
         {"Add a watermark on t2 of later, and select window(t2, '1 minute'), too", BOTH}},
        {PLAIN,
         "SELECT count(*) AS c FROM later GROUP BY window(t2, '1 minute')",
         "append",
         {"Add a watermark on t2 of later", BOTH}},
        {PLAIN,
         "SELECT k, count(*) AS c FROM through GROUP BY k",
         "append",
         {"Add a watermark on t2 of later, and group by window(t3, '1 minute'), too", BOTH}},
        {PLAIN,
         "SELECT k, count(*) AS c FROM through GROUP BY window(t3, '1 minute'), k",
         "append",
         {"Add a watermark on t2 of later", BOTH}},
        {PLAIN,
         "SELECT w.start, sum(c) AS c FROM (SELECT window AS w, k, count(*) AS c FROM s " BY
         ", k) GROUP BY w",
         "append",
         {ON_T}},
        {PLAIN,
         "SELECT a.k, count(*) AS c FROM s a JOIN s b ON a.k = b.k AND a.t = b.t GROUP BY a.k",
         "append",
         {ON_T ", and group by window(a.t, '1 minute'), too",
          ON_T ", and group by window(b.t, '1 minute'), too", UPDATE}},
        {RATE,
         "SELECT value % 9 AS d, count(*) AS c FROM s GROUP BY 1",
         "append",
         {"Add a watermark on `timestamp` of s, and group by window(`timestamp`, '1 minute'), too",
          BOTH}},
        {STREAM("s", "`my t` TIMESTAMP, k STRING", ""),
         "SELECT k, count(*) AS c FROM s GROUP BY k",
         "append",
         {"Add a watermark on `my t` of s, and group by window(`my t`, '1 minute'), too", BOTH}},
        {STREAM("s", "`my t` TIMESTAMP, k STRING", ""),
         "SELECT count(*) AS c FROM s GROUP BY window(`my t`, '1 minute')",
         "append",
         {"Add a watermark on `my t` of s", BOTH}},
        {STREAM("s", "k STRING", ""),
         "SELECT k, count(*) AS c FROM s GROUP BY k",
         "append",
         {BOTH}},
    };
    expect_offers(offers, sizeof offers / sizeof offers[0]);
}

/* The clause computes the column that the windows are of. */
static void a_computed_time_gets_a_column(void **state)
{
    (void)state;
    static const struct offer offers[] = {
        {STREAM("s", "t STRING, k STRING", ""),
         "SELECT window.start, count(*) AS c FROM s GROUP BY window(CAST(t AS TIMESTAMP), '1 "
         "minute')",
         "append",
         {"Add a watermark on CAST(t AS TIMESTAMP) of s", BOTH}},
        {STREAM("s", "t STRING, k STRING", ""),
         "SELECT window(to_timestamp(t), '1 minute').end AS e, k, count(*) AS c FROM s WHERE k > "
         "'a' GROUP BY k, window(to_timestamp(t), '1 minute')",
         "append",
         {"Add a watermark on to_timestamp(t) of s", BOTH}},
        {PLAIN,
         "SELECT count(*) AS c FROM s GROUP BY window(date_trunc('minute', t), '1 hour')",
         "append",
         {"Add a watermark on date_trunc('minute', t) of s", BOTH}},
        {PLAIN,
         "SELECT count(*) AS c FROM s GROUP BY window(timestamp_seconds(rand() * v), '1 hour')",
         "append",
         {BOTH}},
        {PLAIN,
         "SELECT count(*) AS c FROM s GROUP BY window(current_timestamp(), '1 hour')",
         "append",
         {BOTH}},
    };
    expect_offers(offers, sizeof offers / sizeof offers[0]);
}

/* A union waits for the watermarks of both its sides. */
static void each_side_of_a_union_gets_a_watermark(void **state)
{
    (void)state;
    static const struct offer offers[] = {
        {TWO,
         "SELECT count(*) AS c FROM (SELECT * FROM a UNION ALL SELECT * FROM b) " BY,
         "append",
         {"Add watermarks on t of a and u of b", BOTH}},
        {TWO,
         "SELECT k, count(*) AS c FROM (SELECT * FROM a UNION ALL SELECT * FROM b) GROUP BY k",
         "append",
         {"Add watermarks on t of a and u of b, and group by window(t, '1 minute'), too", BOTH}},
    };
    expect_offers(offers, sizeof offers / sizeof offers[0]);
}

#define USED  "Group by window(t, '1 minute'), too", "Group by t, too"
#define LISTS "Select window(t, '1 minute'), too", "Select t, too"

/* Wherever the keys stand. */
static void a_key_comes_where_the_keys_are(void **state)
{
    (void)state;
    static const struct offer offers[] = {
        {MARKED, "SELECT k, count(*) AS c FROM s GROUP BY ALL", "append", {LISTS, BOTH}},
        {MARKED,
         "SELECT k, count(*) AS c FROM s GROUP BY ALL HAVING count(*) > 1",
         "append",
         {LISTS, BOTH}},
        {MARKED, "SELECT count(*) AS c FROM s HAVING count(*) > 1", "append", {USED, BOTH}},
        {MARKED, "SELECT count(*) AS c FROM s -- the end", "append", {USED, BOTH}},
        {MARKED,
         "SELECT /* GROUP BY */ 'GROUP BY', k, count(*) AS c FROM s -- GROUP BY\\nGROUP BY k",
         "append",
         {USED, BOTH}},
        {MARKED,
         "SELECT k, count(*) AS c FROM (SELECT k, t FROM s GROUP BY t, k) GROUP BY k",
         "append",
         {"Group by window(t, '1 minute'), too", "Group by t, too"}},
        {MARKED, "FROM s |> AGGREGATE count(*) AS c GROUP BY k", "append", {USED, BOTH}},
        {MARKED,
         "SELECT k, count(*) AS c FROM s WATERMARK t DELAY OF INTERVAL 1 MINUTE GROUP BY k",
         "append",
         {NULL}},
        {PLAIN,
         "SELECT k, count(*) AS c FROM s WATERMARK t DELAY OF INTERVAL 1 MINUTE GROUP BY k",
         "append",
         {USED, BOTH}},
        {MARKED,
         "SELECT k, max(c) AS c FROM (SELECT window AS w, k, count(*) AS c FROM s " BY
         ", k) GROUP BY k",
         "append",
         {"Group by window(w, '1 hour'), too", "Group by w, too"}},
    };
    expect_offers(offers, sizeof offers / sizeof offers[0]);
}

/* If another mode is legal, it is offered, whatever the rule says. */
static void a_mode_that_is_legal_is_offered(void **state)
{
    (void)state;
#define CHAIN                                                                                      \
    "SELECT window(w, '5 minutes').start, max(c) AS c FROM (SELECT window AS w, k, count(*) AS c " \
    "FROM s " BY ", k) GROUP BY window(w, '5 minutes')"
    static const struct offer offers[] = {
        {MARKED, CHAIN, "complete", {"Use append mode"}},
        {MARKED, CHAIN, "update", {"Use append mode"}},
        {MARKED,
         "SELECT count(*) AS c FROM s GROUP BY k, session_window(t, '1 minute')",
         "update",
         {"Use append mode", WHOLE}},
        {MARKED,
         "SELECT l.k FROM s l LEFT JOIN s r ON l.k = r.k AND l.t = r.t",
         "update",
         {"Use append mode"}},
        {PLAIN, "SELECT k FROM s", "complete", {"Use append mode", UPDATE}},
    };
    expect_offers(offers, sizeof offers / sizeof offers[0]);
}

/* What the text says to leave out. */
static void a_clause_is_left_out(void **state)
{
    (void)state;
    static const struct offer offers[] = {
        {PLAIN, "SELECT k FROM s ORDER BY k, v DESC", "append", {"Leave ORDER BY out"}},
        {PLAIN, "SELECT k FROM s |> ORDER BY k |> SELECT k", "append", {"Leave ORDER BY out"}},
        {PLAIN, "SELECT k FROM sorted", "append", {"Leave ORDER BY out"}},
        {PLAIN,
         "SELECT k FROM (SELECT k FROM s ORDER BY k) WHERE k > 'a'",
         "append",
         {"Leave ORDER BY out"}},
        {PLAIN,
         "SELECT k FROM s ORDER BY k LIMIT 3",
         "append",
         {"Leave ORDER BY out", "Leave ORDER BY and LIMIT out"}},
        {PLAIN,
         "SELECT k, count(*) AS c FROM s GROUP BY k ORDER BY k LIMIT 3",
         "update",
         {WHOLE, "Leave ORDER BY and LIMIT out"}},
        {PLAIN, "SELECT k FROM s LIMIT 3 OFFSET 2", "append", {"Leave OFFSET out"}},
        {PLAIN, "SELECT k FROM s OFFSET 2", "append", {"Leave OFFSET out"}},
        {PLAIN, "SELECT k FROM s LIMIT 3", "update", {"Use append mode", "Leave LIMIT out"}},
        {PLAIN,
         "SELECT k, sum( DISTINCT  v) AS c FROM s GROUP BY k",
         "update",
         {"Leave DISTINCT out"}},
        {PLAIN,
         "SELECT k, count(DISTINCT v) AS c FROM s GROUP BY k",
         "update",
         {"Use approx_count_distinct(v)"}},
    };
    expect_offers(offers, sizeof offers / sizeof offers[0]);
}

#define SESSIONS "SELECT count(*) AS c FROM s GROUP BY session_window(t, '1 minute')"

/* A session gets another key. */
static void a_session_gets_another_key(void **state)
{
    (void)state;
    static const struct offer offers[] = {
        {MARKED, SESSIONS, "append", {"Group by k, too", "Group by v, too"}},
        {MARKED, SESSIONS, "update", {"Group by k, too", "Group by v, too"}},
        {MARKED, SESSIONS, "complete", {"Group by k, too", "Group by v, too"}},
        {PLAIN, SESSIONS, "append", {ON_T ", and group by k, too", ON_T ", and group by v, too"}},
    };
    expect_offers(offers, sizeof offers / sizeof offers[0]);
}

/* A misspelt column hides the mode that is wrong, too. */
static void a_misspelling_and_a_mode_have_one_fix(void **state)
{
    (void)state;
    static const struct offer offers[] = {
        {PLAIN,
         "SELECT kk, count(*) AS c FROM s GROUP BY kk",
         "append",
         {"Use k in all places, and update mode"}},
        {PLAIN, "SELECT sum(vv) AS c FROM s", "append", {"Use v, and update mode"}},
        {PLAIN, "SELECT sum(vv) AS c FROM s", "update", {"Use v"}},
        {PLAIN, "SELECT vv FROM s", "complete", {"Use v, and append mode"}},
    };
    expect_offers(offers, sizeof offers / sizeof offers[0]);
}

/* Spark ends such a query with its first batch, whatever the setting says. */
static void a_setting_does_not_make_append_legal(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        bool legal;
    } cases[] = {
        {"SELECT k, count(*) AS c FROM s GROUP BY k", false},
        {"SELECT DISTINCT k FROM s", false},
        {"SELECT k, count(*) AS c FROM s " BY ", k", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char spec[1024];
        (void)snprintf(spec, sizeof spec,
                       "{\"sources\":{" MARKED "},\"sql\":\"%s\",\"sink\":{\"format\":\"noop\"},"
                       "\"conf\":{\"spark.sql.streaming.unsupportedOperationCheck\":false}}",
                       cases[i].sql);
        json_t *answer = post(&server, "/v1/validate", at_home(spec), 200);
        const struct expected place = {NULL, "/sql",
                                       "UNSUPPORTED_STREAMING_OPERATOR_WITHOUT_WATERMARK"};
        const json_t *said = find(answer, &place);
        assert_int_equal(said == NULL, cases[i].legal);
        if (said != NULL)
            assert_true(json_array_size(json_object_get(said, "fixes")) > 0);
        json_decref(answer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(append_gets_a_watermark_and_windows),
        cmocka_unit_test(a_computed_time_gets_a_column),
        cmocka_unit_test(each_side_of_a_union_gets_a_watermark),
        cmocka_unit_test(a_key_comes_where_the_keys_are),
        cmocka_unit_test(a_mode_that_is_legal_is_offered),
        cmocka_unit_test(a_clause_is_left_out),
        cmocka_unit_test(a_session_gets_another_key),
        cmocka_unit_test(a_misspelling_and_a_mode_have_one_fix),
        cmocka_unit_test(a_setting_does_not_make_append_legal),
    };
    return cmocka_run_group_tests(tests, setup, fixture_teardown);
}
