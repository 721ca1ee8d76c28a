/*
 * What validation offers: the reasons say what there is instead, and the fixes are the nearest
 * ones.
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

#include "validate_texts.h"

#define OPERATION "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION"
#define NOOP      "\"sink\":{\"format\":\"noop\"}"

static int setup(void **state)
{
    (void)state;
    server_start(&server, NULL);
    make_dir(&server, "in");
    return 0;
}

/* The same reason for a source as for a sink, and nothing that only tests can use. */
static void a_format_of_spark_is_no_misspelling(void **state)
{
    (void)state;
#define READS(format) "{\"sources\":{\"s\":{\"format\":\"" format "\",\"schema\":\"a INT\"}},"
    static const struct {
        const char *spec, *pointer, *condition, *text;
    } cases[] = {
        {READS("kafka") SQL("SELECT a FROM s") "," OUT("json") "}", "/sources/s/format",
         "KAFKA_DATA_SOURCE_NOT_ENABLED",
         "not supported here: choose another format: there are json, csv, text, rate, "
         "rate-micro-batch"},
        {READS("Parquet") SQL("SELECT a FROM s") "," OUT("json") "}", "/sources/s/format",
         "NOT_SUPPORTED",
         "Reading the format parquet is not supported by this version of Tidemill: there are "
         "json, "},
        {READS("memory") SQL("SELECT a FROM s") "," OUT("json") "}", "/sources/s/format",
         "DATA_SOURCE_NOT_FOUND", ": there are json, csv, text, rate, rate-micro-batch"},
        {"{" IN "," GOOD_SQL "," OUT("orc") "}", "/sink/format", "NOT_SUPPORTED",
         "The format orc is not supported by this version of Tidemill: there are json, "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].spec);
        json_t *answer = post(&server, "/v1/validate", at_home(cases[i].spec), 200);
        const struct expected place = {NULL, cases[i].pointer, cases[i].condition};
        const char *detail = text_of(find(answer, &place), "detail");
        assert_non_null(strstr(detail, cases[i].text));
        assert_null(strstr(detail, i < 3 ? "memory," : "Check the name"));
        json_decref(answer);
    }
}

/* partitionBy among the options, as text or list, becomes the field, unless that is there. */
static void an_option_partition_by_becomes_the_field(void **state)
{
    (void)state;
    static const struct {
        const char *sink, *title, *value;
    } cases[] = {
        {"{\"format\":\"json\",\"options\":{\"path\":\"$/out\",\"partitionBy\":\"ts, cust\"}}",
         "Write the field partitionBy", "[\"ts\", \"cust\"]"},
        {"{\"format\":\"json\",\"options\":{\"path\":\"$/out\",\"partitionBy\":[\"id\"]}}",
         "Write the field partitionBy", "[\"id\"]"},
        {"{\"format\":\"json\",\"options\":{\"path\":\"$/out\",\"partitionby\":\"id\"},"
         "\"partitionBy\":[\"ts\"]}",
         "Leave the option out", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char spec[1024];
        (void)snprintf(spec, sizeof spec, "{%s,%s,\"sink\":%s}", MARKED_SOURCE,
                       SQL("SELECT * FROM s"), cases[i].sink);
        json_t *answer = post(&server, "/v1/validate", at_home(spec), 200);
        const json_t *said = json_array_get(json_object_get(answer, "diagnostics"), 0);
        const json_t *fix = json_array_get(json_object_get(said, "fixes"), 0);
        assert_string_equal(text_of(fix, "title"), cases[i].title);
        const json_t *edits = json_object_get(fix, "edits");
        assert_int_equal(json_array_size(edits), cases[i].value == NULL ? 1 : 2);
        if (cases[i].value != NULL) {
            char *value = json_dumps(json_object_get(json_array_get(edits, 1), "value"), 0);
            assert_string_equal(value, cases[i].value);
            free(value);
        }
        json_decref(answer);
    }
}

/* The names that other systems have for it, and a misspelt type. */
static void names_of_other_systems_are_understood(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *title;
    } cases[] = {
        {"{\"sources\":{\"s\":{\"format\":\"json\",\"schema\":\"a INT, bignt BIGNT\","
         "\"options\":{\"path\":\"$/in\"}}}," SQL("SELECT a FROM s") "," OUT("json") "}",
         "Use BIGINT"},
        {"{" MARKED_SOURCE "," SQL("SELECT window_start, count(*) AS c FROM s GROUP BY "
                                   "window(ts, '1 minute')") "," OUT("json") "}",
         "Use window.start"},
        {"{\"queryName\":\"q\"," MARKED_SOURCE "," SQL("SELECT id FROM s") "," OUT("json") "}",
         "Write name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].spec);
        json_t *answer = post(&server, "/v1/validate", at_home(cases[i].spec), 200);
        const json_t *said = json_array_get(json_object_get(answer, "diagnostics"), 0);
        const json_t *fix = json_array_get(json_object_get(said, "fixes"), 0);
        assert_string_equal(text_of(fix, "title"), cases[i].title);
        json_decref(answer);
    }
    json_t *answer = post(
        &server, "/v1/validate",
        at_home("{\"sources\":{\"s\":{\"format\":\"json\",\"schema\":\"at TIMESTAMP\",\"options\":{"
                "\"path\":\"$/in\"},\"watermark\":{\"eventTime\":\"at\",\"delayThreshold\":\"1 "
                "minute\"}}}," SQL("SELECT at FROM s") "," OUT("json") "}"),
        200);
    const struct expected column = {NULL, "/sources/s/watermark/eventTime", "UNKNOWN_FIELD"};
    const struct expected delay = {NULL, "/sources/s/watermark/delayThreshold", "UNKNOWN_FIELD"};
    assert_non_null(strstr(text_of(find(answer, &column), "detail"), "Did you mean column?"));
    assert_non_null(strstr(text_of(find(answer, &delay), "detail"), "Did you mean delay?"));
    json_decref(answer);
}

/* The same in a schema and in the SQL; nothing that loses data, and without parameters that the
 * type does not take. */
static void a_type_that_is_meant_holds_the_values(void **state)
{
    (void)state;
    static const struct {
        const char *written, *meant;
    } cases[] = {
        {"LONGINT", "Use BIGINT"},        {"DATETIME", "Use TIMESTAMP"}, {"TEXT", "Use STRING"},
        {"INT64", "Use BIGINT"},          {"BOOL", "Use BOOLEAN"},       {"JSON", "Use VARIANT"},
        {"DATETIME(3)", "Use TIMESTAMP"}, {"INT(11)", "Use INT"},        {"TINYNT", "Use TINYINT"},
        {"NUMBER(10,2)", "Use DECIMAL"},  {"BIGUNINT", "Use BIGINT"},
    };
    static const char *const specs[][2] = {
        {"{\"sources\":{\"s\":{\"format\":\"json\",\"schema\":\"a INT, b ",
         "\",\"options\":{\"path\":\"$/in\"}}}," SQL("SELECT a FROM s") "," NOOP "}"},
        {"{" IN ",\"sql\":\"SELECT CAST(b AS ", ") AS c FROM s\"," NOOP "}"},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        char spec[1024];
        (void)snprintf(spec, sizeof spec, "%s%s%s", specs[i % 2][0], cases[i / 2].written,
                       specs[i % 2][1]);
        print_message("%s\n", spec);
        json_t *answer = post(&server, "/v1/validate", at_home(spec), 200);
        const json_t *said = json_array_get(json_object_get(answer, "diagnostics"), 0);
        assert_string_equal(text_of(said, "condition"), "UNSUPPORTED_DATATYPE");
        const json_t *fix = json_array_get(json_object_get(said, "fixes"), 0);
        assert_string_equal(text_of(fix, "title"), cases[i / 2].meant);
        json_decref(answer);
    }
}

static bool is_warned_of(const char *sql, const char *name)
{
    char spec[1024];
    bool found = false;
    size_t i;
    json_t *item;
    (void)snprintf(spec, sizeof spec, "{" IN ",\"sql\":\"SELECT %s AS x FROM s\"," NOOP "}", sql);
    json_t *answer = post(&server, "/v1/validate", at_home(spec), 200);
    assert_true(json_is_true(json_object_get(answer, "valid")));
    json_array_foreach(json_object_get(answer, "warnings"), i, item)
    {
        print_message("%s: %s\n", sql, text_of(item, "text"));
        found = found || strcmp(text_of(item, "name"), name) == 0;
    }
    json_decref(answer);
    return found;
}

/* Whatever the other arguments are; and not where they may be right. */
static void a_call_that_fails_by_its_constants_is_warned_of(void **state)
{
    (void)state;
    static const char *const fail[] = {
        "split(b, '(')",
        "b RLIKE '('",
        "regexp_replace(b, '[', '')",
        "regexp_count(b, '(')",
        "a / 0",
        "a % 0",
        "a div 0",
        "pmod(a, 0)",
        "element_at(array(a), 0)",
        "split_part(b, ',', 0)",
        "encode(b, 'utf9')",
        "decode(CAST(b AS BINARY), 'utf9')",
        "from_utc_timestamp(at, 'Europe/Berln')",
        "convert_timezone('Europe/Berln', 'UTC', at)",
        "b LIKE 'a\\\\\\\\'",
        "upper(CASE WHEN a > 1 THEN split(b, '(')[0] END)",
    };
    static const char *const good[] = {
        "1 / a",
        "pmod(7, a)",
        "split(b, b)",
        "b RLIKE ('(' || b)",
        "regexp_replace('a', b, '[')",
        "element_at(array(1, 2), a)",
        "element_at(map(a, b), 0)",
        "encode('a', b)",
        "decode(CAST(b AS BINARY), b)",
        "from_utc_timestamp(at, b)",
        "try_divide(a, 0)",
        "try_element_at(array(a), 1)",
        "split_part('a', 'b', a)",
        "b LIKE b",
        "b LIKE 'a\\\\\\\\%'",
    };
    for (size_t i = 0; i < sizeof fail / sizeof fail[0]; i++)
        assert_true(is_warned_of(fail[i], "CONSTANT_FAILS"));
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_false(is_warned_of(good[i], "CONSTANT_FAILS"));
}

/* A unit that is none makes NULL in every row, which Spark does not say. */
static void a_call_that_is_null_by_its_unit_is_warned_of(void **state)
{
    (void)state;
    assert_true(is_warned_of("date_trunc('minut', at)", "ALWAYS_NULL"));
    assert_true(is_warned_of("trunc(CAST(at AS DATE), 'DAY')", "ALWAYS_NULL"));
    assert_true(is_warned_of("upper(CAST(date_trunc('', at) AS STRING))", "ALWAYS_NULL"));
    assert_false(is_warned_of("date_trunc('minute', at)", "ALWAYS_NULL"));
    assert_false(is_warned_of("trunc(CAST(at AS DATE), 'WEEK')", "ALWAYS_NULL"));
    assert_false(is_warned_of("date_trunc(b, at)", "ALWAYS_NULL"));
}

#define MANY                                                                                       \
    "\"sources\":{\"s\":{\"format\":\"json\",\"schema\":\"at TIMESTAMP, customer STRING, id "      \
    "BIGINT, k "                                                                                   \
    "STRING, a1 INT, a2 INT, a3 INT, b1 INT, b2 INT\",\"options\":{\"path\":\"$/in\"},"            \
    "\"watermark\":{\"column\":\"at\",\"delay\":\"1 minute\"}}}"

/* What validation says of a query of MANY, at its SQL, under that condition; *answer holds it. */
static const json_t *refusal_of(const char *sql, const char *mode, const char *condition,
                                json_t **answer)
{
    char spec[1024];
    (void)snprintf(spec, sizeof spec, "{" MANY ",\"sql\":\"%s\",\"outputMode\":\"%s\"," NOOP "}",
                   sql, mode);
    print_message("%s\n", spec);
    *answer = post(&server, "/v1/validate", at_home(spec), 200);
    const struct expected place = {NULL, "/sql", condition};
    const json_t *found = find(*answer, &place);
    print_message("  %s\n", text_of(found, "detail"));
    return found;
}

/* What stands behind a reason, and the fix of a warning. */
static void each_reason_has_a_way_out(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *mode, *condition, *text, *title;
    } cases[] = {
        {"SELECT ID2 FROM s", "append", "UNRESOLVED_COLUMN.WITH_SUGGESTION",
         "Did you mean one of: `id`, `a2`, `b2`, `k`, `a1`, `a3`?", "Use id"},
        {"SELECT kk FROM (SELECT 1, k AS `null` FROM s)", "append",
         "UNRESOLVED_COLUMN.WITH_SUGGESTION", "Did you mean", NULL},
        {"SELECT nul FROM (SELECT 1, k AS `null` FROM s)", "append",
         "UNRESOLVED_COLUMN.WITH_SUGGESTION", "Did you mean one of: `1`, `null`", "Use `null`"},
        {"SELECT k, count(*) AS n FROM s WHERE n > 1 GROUP BY k", "update",
         "UNRESOLVED_COLUMN.WITH_SUGGESTION",
         "n is a name that the SELECT list gives, and WHERE is computed before the list", NULL},
        {"SELECT s.ID2 FROM s", "append", "UNRESOLVED_COLUMN.WITH_SUGGESTION",
         "Did you mean one of: `s`.`id`, ", "Use s.id"},
        {"SELECT k, count( DISTINCT id + 1) AS c FROM s GROUP BY k", "update",
         "_LEGACY_ERROR_TEMP_3102", "Distinct aggregations are not supported",
         "Use approx_count_distinct(id + 1)"},
        {"SELECT k, count(*) AS c FROM s GROUP BY k, session_window(at, '1 min')", "append",
         "QUERY_WARNING", "The gap of session_window() is no interval", "Use '1 minute'"},
        {"SELECT s.k FROM s LEFT JOIN s AS r ON s.k = r.k", "append", "_LEGACY_ERROR_TEMP_3102",
         "Say in ON how far apart the two times may be, as in r.at BETWEEN s.at AND s.at + "
         "INTERVAL",
         "Add r.at BETWEEN s.at AND s.at + INTERVAL 10 MINUTES"},
        {"SELECT s.k FROM s FULL JOIN s AS r ON s.k = r.k OR s.id = r.id", "append",
         "_LEGACY_ERROR_TEMP_3102", "INTERVAL 10 MINUTES", NULL},
        {"SELECT l.k FROM (SELECT window(at, '1 hour') AS w, k FROM s) l LEFT JOIN "
         "(SELECT window(at, '1 hour') AS w, k FROM s) r ON l.k = r.k",
         "append", "_LEGACY_ERROR_TEMP_3102",
         "Say in ON that the two windows are equal, as in l.w = r.w", "Add l.w = r.w"},
        {"SELECT window.start AS b, count(*) AS c FROM s GROUP BY window(at, 60)", "append",
         "QUERY_WARNING", "counts microseconds in window(): 60 is less than a second",
         "Use '60 seconds'"},
        {"SELECT k, sum(id) OVER (PARTITION BY s.k) AS x FROM s", "append",
         "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING",
         "no last row: sum(id) OVER (PARTITION BY s.k). Group by window(...)", NULL},
        {"SELECT window.start FROM s GROUP BY window(at, '1 minute', '2 minutes')", "append",
         "UNRESOLVED_COLUMN.WITH_SUGGESTION",
         "makes no such window: The slide of window() is '2 minutes'", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *answer = NULL;
        const json_t *found = refusal_of(cases[i].sql, cases[i].mode, cases[i].condition, &answer);
        assert_non_null(strstr(text_of(found, "detail"), cases[i].text));
        const json_t *fix = json_array_get(json_object_get(found, "fixes"), 0);
        if (cases[i].title == NULL)
            assert_null(fix);
        else
            assert_string_equal(text_of(fix, "title"), cases[i].title);
        json_decref(answer);
    }
}

#define FIRST                                                                                      \
    "(SELECT window(at, '1 minute') AS w, k, count(*) AS c FROM s GROUP BY window(at, '1 "         \
    "minute'), k)"
#define NO_OTHER "Change the query: no other output mode is possible above an aggregation"
#define ONLY     "Above an aggregation only the output mode append"
#define CHAIN    "_LEGACY_ERROR_TEMP_3102"

static bool is_offered(const json_t *found, const char *title)
{
    bool offered = false;
    size_t i;
    json_t *fix;
    json_array_foreach(json_object_get(found, "fixes"), i, fix)
    {
        print_message("  %s\n", text_of(fix, "title"));
        offered = offered || strcmp(text_of(fix, "title"), title) == 0;
    }
    return offered;
}

/* An aggregation above another one: what is said and offered leads to a legal query, and not to
 * the next refusal. */
static void a_chain_without_the_window_has_a_way_out(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *mode, *condition, *texts[2], *title;
    } cases[] = {
        {"SELECT window(w.end, '5 minutes') AS v, sum(c) AS c FROM " FIRST
         " GROUP BY window(w.end, '5 minutes')",
         "append",
         OPERATION,
         {NO_OTHER, "of w itself or of another window of it, such as window(w, '1 hour')"},
         "Use w instead of w.end in all places"},
        {"SELECT w.start AS s, sum(c) AS c FROM " FIRST " GROUP BY w.start",
         "append",
         OPERATION,
         {NO_OTHER, "of w itself"},
         "Use w instead of w.start"},
        /* A bound in a name in backquotes is none, and takes no try from those that are. */
        {"SELECT sum(c) AS `w.start w.start w.start w.start`, w.start AS s FROM " FIRST
         " GROUP BY w.start",
         "append",
         OPERATION,
         {NO_OTHER, "of w itself"},
         "Use w instead of w.start"},
        {"SELECT k, sum(c) AS c FROM " FIRST " GROUP BY k",
         "append",
         OPERATION,
         {NO_OTHER, "of w itself"},
         "Group by w, too"},
        {"SELECT window(b, '5 minutes') AS v, sum(c) AS c FROM (SELECT window.start AS b, count(*) "
         "AS c FROM s GROUP BY window(at, '1 minute')) GROUP BY 1",
         "append",
         OPERATION,
         {NO_OTHER, "Select that window as a whole, not its start or end"},
         "Use window instead of window.start"},
        {"SELECT window(w, '5 minutes') AS v, sum(c) AS c FROM " FIRST " GROUP BY 1",
         "update",
         CHAIN,
         {ONLY, ""},
         "Use append mode"},
        {"SELECT window(w.end, '5 minutes') AS v, sum(c) AS c FROM " FIRST " GROUP BY 1",
         "update",
         CHAIN,
         {ONLY, "such as window(w, '1 hour')"},
         "Use w instead of w.end"},
        {"SELECT k, sum(c) AS c FROM " FIRST " GROUP BY k",
         "complete",
         CHAIN,
         {ONLY, "such as window(w, '1 hour')"},
         "Group by w, too"},
        {"SELECT k, count(*) AS c FROM (SELECT k, CAST(at AS DATE) AS d FROM s) GROUP BY k, d",
         "append",
         OPERATION,
         {"Choose another output mode", "Select `at` as it is, and group by it"},
         "Use update mode"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *answer = NULL;
        const json_t *found = refusal_of(cases[i].sql, cases[i].mode, cases[i].condition, &answer);
        assert_non_null(strstr(text_of(found, "detail"), cases[i].texts[0]));
        assert_non_null(strstr(text_of(found, "detail"), cases[i].texts[1]));
        assert_true(is_offered(found, cases[i].title));
        json_decref(answer);
    }
}

/* A number counts microseconds, which few want; with a unit it is meant. */
static void a_window_of_microseconds_is_warned_of(void **state)
{
    (void)state;
    static const char name[] = "WINDOW_OF_MICROSECONDS";
    assert_true(is_warned_of("window(at, 60)", name));
    assert_true(is_warned_of("window(at, '1 minute', 999999)", name));
    assert_true(is_warned_of("window(at, '1 minute', '1 minute', -5)", name));
    assert_false(is_warned_of("window(at, '60 microseconds')", name));
    assert_false(is_warned_of("window(at, 1000000)", name));
    assert_false(is_warned_of("window(at, '1 minute', '1 minute', 0)", name));
}

/* Two of three triggers, an option in another form, and columns that are no text. */
static void a_reason_says_what_is_there(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *pointer, *condition, *text;
    } cases[] = {
        {"{" IN "," GOOD_SQL "," NOOP ",\"trigger\":{\"once\":true,\"processingTime\":\"1 s\"}}",
         "/trigger", "CONFLICTING_FIELDS", "The fields processingTime, once cannot stand together"},
        {"{" SOURCE("\"path\":[\"$/in\"]") "," GOOD_SQL "," NOOP "}", "/sources/s/options/path",
         "INVALID_FIELD_TYPE", "path has to be a string"},
        {"{\"sources\":{\"s\":{\"format\":\"json\",\"schema\":\"a INT, b "
         "STRING\",\"path\":\"$/in\"}}," GOOD_SQL "," NOOP "}",
         "/sources/s/path", "UNKNOWN_FIELD", "it stands in options"},
        {"{" IN "," GOOD_SQL "," OUT("text") "}", "/sink/format",
         "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE",
         "has one column of the type STRING, but there are several: select one, such as to_json"},
        {"{" IN "," SQL("SELECT a FROM s") "," OUT("text") "}", "/sink/format",
         "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "has one column of the type STRING: select one"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].spec);
        json_t *answer = post(&server, "/v1/validate", at_home(cases[i].spec), 200);
        const struct expected place = {NULL, cases[i].pointer, cases[i].condition};
        assert_int_equal(json_array_size(json_object_get(answer, "diagnostics")), 1);
        assert_non_null(strstr(text_of(find(answer, &place), "detail"), cases[i].text));
        json_decref(answer);
    }
}

/* A declared watermark that the grouping does not use is said, and every sink has a way out. */
static void a_grouping_beside_the_watermark_has_fixes(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *titles[4];
    } cases[] = {
        {"{" MARKED_SOURCE
         "," SQL("SELECT cust, count(*) AS c FROM s GROUP BY cust") "," OUT("json") "}",
         {"Group by window(ts, '1 minute'), too", "Group by ts, too",
          "Use update mode, into memory", "Use complete mode, into memory"}},
        {"{" MARKED_SOURCE "," SQL("SELECT date_trunc('minute', ts) AS m, count(*) AS c FROM s "
                                   "GROUP BY date_trunc('minute', ts)") "," OUT("csv") "}",
         {"Group by window(ts, '1 minute'), too", "Group by ts, too",
          "Use update mode, into memory", "Use complete mode, into memory"}},
        {"{" MARKED_SOURCE "," SQL("SELECT count(*) AS c FROM s") "," NOOP "}",
         {"Group by window(ts, '1 minute'), too", "Group by ts, too", "Use update mode",
          "Use complete mode"}},
        {"{" MARKED_SOURCE "," SQL("SELECT DISTINCT cust FROM s") "," OUT("json") "}",
         {"Select window(ts, '1 minute'), too", "Select ts, too", "Use update mode, into memory",
          NULL}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].spec);
        json_t *answer = post(&server, "/v1/validate", at_home(cases[i].spec), 200);
        const struct expected place = {NULL, "/sql", OPERATION};
        const json_t *found = find(answer, &place);
        assert_non_null(strstr(text_of(found, "detail"), "`ts` is not used by the grouping"));
        const json_t *fixes = json_object_get(found, "fixes");
        for (size_t j = 0; j < 4; j++) {
            const char *title = text_of(json_array_get(fixes, j), "title");
            print_message("  %s\n", title == NULL ? "-" : title);
            if (cases[i].titles[j] != NULL)
                assert_string_equal(title, cases[i].titles[j]);
        }
        json_decref(answer);
    }
}

/* Without an aggregation append comes first; what files do not take goes into memory. */
static void a_mode_that_fits_comes_first(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *pointer, *condition, *title;
    } cases[] = {
        {"{" IN "," GOOD_SQL "," NOOP ",\"outputMode\":\"complete\"}", "/sql", OPERATION,
         "Use append mode"},
        {"{" IN "," GOOD_SQL "," OUT("json") ",\"outputMode\":\"update\"}", "/outputMode",
         "STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE", "Use append mode"},
        {"{" IN "," SQL("SELECT b, count(*) AS c FROM s GROUP BY b") "," OUT(
             "json") ",\"outputMode\":\"update\"}",
         "/outputMode", "STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE",
         "Use update mode, into memory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].spec);
        json_t *answer = post(&server, "/v1/validate", at_home(cases[i].spec), 200);
        const struct expected place = {NULL, cases[i].pointer, cases[i].condition};
        const json_t *fixes = json_object_get(find(answer, &place), "fixes");
        assert_string_equal(text_of(json_array_get(fixes, 0), "title"), cases[i].title);
        json_decref(answer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_format_of_spark_is_no_misspelling),
        cmocka_unit_test(an_option_partition_by_becomes_the_field),
        cmocka_unit_test(names_of_other_systems_are_understood),
        cmocka_unit_test(a_type_that_is_meant_holds_the_values),
        cmocka_unit_test(a_call_that_fails_by_its_constants_is_warned_of),
        cmocka_unit_test(a_call_that_is_null_by_its_unit_is_warned_of),
        cmocka_unit_test(each_reason_has_a_way_out),
        cmocka_unit_test(a_chain_without_the_window_has_a_way_out),
        cmocka_unit_test(a_window_of_microseconds_is_warned_of),
        cmocka_unit_test(a_reason_says_what_is_there),
        cmocka_unit_test(a_grouping_beside_the_watermark_has_fixes),
        cmocka_unit_test(a_mode_that_fits_comes_first),
    };
    return cmocka_run_group_tests(tests, setup, fixture_teardown);
}
