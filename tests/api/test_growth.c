/*
 * What validation says about the state of each operator: whether it stops growing, and why.
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

#define WINDOW "window(at, '1 minute')"

static int setup(void **state)
{
    (void)state;
    server_start(&server, NULL);
    make_dir(&server, "in");
    return 0;
}

static const char *warning_of(const json_t *answer, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(answer, "warnings"), i, item)
    {
        if (strcmp(text_of(item, "name"), name) == 0)
            return text_of(item, "text");
    }
    return NULL;
}

static json_t *validate(const char *sql, const char *mode)
{
    char spec[2048];
    (void)snprintf(spec, sizeof spec,
                   "{\"sources\":{\"s\":{\"format\":\"json\",\"schema\":\"at TIMESTAMP, k STRING, "
                   "v BIGINT\",\"options\":{\"path\":\"$/in\"},\"watermark\":{\"column\":\"at\","
                   "\"delay\":\"1 minute\"}}},\"sql\":\"%s\",\"outputMode\":\"%s\",\"sink\":{"
                   "\"format\":\"noop\"},\"conf\":{\"spark.sql.streaming.unsupportedOperationCheck"
                   "\":%s}}",
                   sql, mode, strstr(sql, "DISTINCT") == NULL ? "true" : "false");
    print_message("%s: %s\n", mode, sql);
    json_t *answer = post(&server, "/v1/validate", at_home(spec), 200);
    assert_true(json_is_true(json_object_get(answer, "valid")));
    return answer;
}

/* The reason of the only operator; `grows` NULL: it is bounded. */
static void expect_growth(const char *sql, const char *mode, const char *grows)
{
    json_t *answer = validate(sql, mode);
    const json_t *operators = json_object_get(answer, "statefulOperators");
    assert_int_equal(json_array_size(operators), 1);
    const json_t *it = json_array_get(operators, 0);
    print_message("  %s\n", text_of(it, "reason"));
    assert_int_equal(json_is_true(json_object_get(it, "bounded")), grows == NULL);
    const char *warning = warning_of(answer, "UNBOUNDED_STATE");
    assert_int_equal(warning == NULL, grows == NULL);
    if (grows != NULL) {
        assert_non_null(strstr(text_of(it, "reason"), grows));
        assert_non_null(strstr(warning, grows));
    }
    json_decref(answer);
}

static const struct {
    const char *call, *keeps; /* NULL: its state is of one size */
} calls[] = {
    {"collect_list(v)", "collect_list keeps each value"},
    {"array_agg(v)", "array_agg keeps each value"},
    {"collect_set(v)", "collect_set keeps each distinct value"},
    {"listagg(k, ',')", "listagg keeps each value"},
    {"string_agg(k, ',')", "string_agg keeps each value"},
    {"mode(v)", "mode keeps each distinct value"},
    {"percentile(v, 0.5)", "percentile keeps each distinct value"},
    {"median(v)", "median keeps each distinct value"},
    {"percentile_cont(0.5) WITHIN GROUP (ORDER BY v)", "percentile_cont keeps each distinct value"},
    {"percentile_disc(0.5) WITHIN GROUP (ORDER BY v)", "percentile_disc keeps each distinct value"},
    {"count(DISTINCT v)", "count(DISTINCT) keeps each distinct value"},
    {"sum(DISTINCT v)", "sum(DISTINCT) keeps each distinct value"},
    {"max(DISTINCT v)", NULL},
    {"count(v)", NULL},
    {"first(v)", NULL},
    {"max_by(v, at)", NULL},
    {"max_by(v, at, 3)", NULL},
    {"approx_count_distinct(v)", NULL},
    {"percentile_approx(v, 0.5)", NULL},
};

/* One group is bounded only if its aggregates are. */
static void an_aggregate_that_keeps_values_grows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        char sql[200];
        (void)snprintf(sql, sizeof sql, "SELECT sum(v) AS x, %s AS y FROM s", calls[i].call);
        expect_growth(sql, i % 2 == 0 ? "update" : "complete", calls[i].keeps);
    }
}

/* A group that never goes grows, too; one that the watermark removes does not. */
static void a_group_that_the_watermark_removes_is_bounded(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        char sql[200];
        (void)snprintf(sql, sizeof sql, "SELECT k, %s AS y FROM s GROUP BY k", calls[i].call);
        expect_growth(sql, "update",
                      calls[i].keeps == NULL ? "so that no group is ever final" : calls[i].keeps);
        expect_growth(sql, "complete",
                      calls[i].keeps == NULL ? "no group is ever removed" : calls[i].keeps);
        (void)snprintf(sql, sizeof sql, "SELECT k, %s AS y FROM s GROUP BY k, " WINDOW,
                       calls[i].call);
        expect_growth(sql, i % 2 == 0 ? "append" : "update", NULL);
    }
}

/* Grouping sets without the event time: their groups stay, and append never lets them out. */
static void a_grouping_set_without_the_event_time_stays(void **state)
{
    (void)state;
    static const struct {
        const char *grouping, *grows, *names; /* names NULL: every set has the time */
    } cases[] = {
        {"ROLLUP(k, " WINDOW ")",
         "the grouping sets (k), () have no window, so that no watermark ever removes their groups",
         "of the grouping sets (k), () never come out in append mode: they have no window"},
        {"CUBE(" WINDOW ", k)", "the grouping sets (k), () have no window", "sets (k), ()"},
        {"GROUPING SETS ((" WINDOW ", k), (k))",
         "the grouping set (k) has no window, so that no watermark ever removes its groups",
         "of the grouping set (k) never come out in append mode: it has no window"},
        {"GROUPING SETS ((" WINDOW ", k), ())", NULL, "set () never come out"},
        {"GROUPING SETS ((at, v), (k, v), (v), (k), ())", "sets (v, k), (v), (k), () have no at",
         "sets (v, k), (v), (k), () never"},
        {"CUBE(at, k, v)", ", () have no at", ", () never come out"},
        {"CUBE(" WINDOW ", k, v, v + 1)", ", ... have no window", ", ... never come out"},
        {WINDOW ", ROLLUP(k)", NULL, NULL},
        {"GROUPING SETS ((" WINDOW ", k), (" WINDOW "))", NULL, NULL},
        {"ROLLUP(k, window(at, '1 minute', '20 seconds'))", "the grouping sets (k), () have no",
         "sets (k), ()"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char sql[200];
        (void)snprintf(sql, sizeof sql, "SELECT count(v) AS n FROM s GROUP BY %s",
                       cases[i].grouping);
        expect_growth(sql, "append", cases[i].grows);
        expect_growth(sql, "update", cases[i].grows);
        expect_growth(sql, "complete", "no group is ever removed");
        json_t *answer = validate(sql, "append");
        const char *text = warning_of(answer, "GROUPS_NEVER_COME_OUT");
        print_message("  %s\n", text == NULL ? "-" : text);
        assert_int_equal(text == NULL, cases[i].names == NULL);
        if (text != NULL)
            assert_non_null(strstr(text, cases[i].names));
        json_decref(answer);
        answer = validate(sql, "update");
        assert_null(warning_of(answer, "GROUPS_NEVER_COME_OUT"));
        json_decref(answer);
    }
    expect_growth("SELECT collect_set(v) AS n FROM s GROUP BY GROUPING SETS ((" WINDOW ", k), ())",
                  "append", "collect_set keeps each distinct value");
}

/* 86,400 windows around one row: panes keep them; what is kept window by window has a limit. */
static void very_many_windows_are_kept_as_panes(void **state)
{
    (void)state;
    static const char from[] = "FROM s GROUP BY k, window(at, '1 day', '1 second')";
    char sql[300];
    (void)snprintf(sql, sizeof sql, "SELECT k, count(*) AS n %s", from);
    expect_growth(sql, "append", NULL);
    (void)snprintf(sql, sizeof sql,
                   "{" IN ",\"sql\":\"SELECT collect_list(a) AS n FROM s GROUP BY b, window(at, '1 "
                   "day', '1 second')\",\"outputMode\":\"update\",\"sink\":{\"format\":\"noop\"}}");
    json_t *answer = post(&server, "/v1/validate", at_home(sql), 200);
    const struct expected place = {NULL, "/sql", "LIMIT_EXCEEDED"};
    const json_t *found = find(answer, &place);
    assert_non_null(strstr(text_of(found, "detail"), "where they are not kept as panes"));
    assert_true(json_is_object(json_object_get(found, "span")));
    json_decref(answer);
    (void)snprintf(sql, sizeof sql,
                   "{" IN
                   ",\"sql\":\"SELECT count(*) AS n FROM s GROUP BY b, window(at, '1 day', '1 "
                   "microsecond')\",\"outputMode\":\"update\",\"sink\":{\"format\":\"noop\"}}");
    answer = post(&server, "/v1/validate", at_home(sql), 200);
    found = find(answer, &place);
    assert_non_null(strstr(text_of(found, "detail"), "100000000"));
    assert_true(json_is_object(json_object_get(found, "span")));
    json_decref(answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_aggregate_that_keeps_values_grows),
        cmocka_unit_test(a_group_that_the_watermark_removes_is_bounded),
        cmocka_unit_test(a_grouping_set_without_the_event_time_stays),
        cmocka_unit_test(very_many_windows_are_kept_as_panes),
    };
    return cmocka_run_group_tests(tests, setup, fixture_teardown);
}
