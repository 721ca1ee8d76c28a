/*
 * What somebody writes who comes from another system: the reason names the right form, has its
 * place, and a fix is offered where it is clear what is meant.
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

#define NOOP            ",\"sink\":{\"format\":\"noop\"}"
#define ALL             SQL("SELECT id FROM s")
#define GOOD            "{" MARKED_SOURCE "," ALL NOOP
#define TOLD(sql)       "{" MARKED_SOURCE "," SQL(sql) NOOP "}"
#define COUNTED(window) TOLD("SELECT count(*) AS c FROM s GROUP BY " window)
#define RELATION(rest)  "{\"sources\":{\"s\":{\"format\":\"json\"," rest "}}," ALL NOOP "}"

static int setup(void **state)
{
    (void)state;
    server_start(&server, NULL);
    make_dir(&server, "in");
    return 0;
}

struct form {
    const char *spec, *pointer, *condition;
    const char *text;  /* in the reason */
    const char *title; /* of the first fix, NULL: there is none */
};

static void check(const struct form *forms, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        print_message("%s\n", forms[i].spec);
        json_t *answer = post(&server, "/v1/validate", at_home(forms[i].spec), 200);
        const struct expected place = {NULL, forms[i].pointer, forms[i].condition};
        const json_t *found = find(answer, &place);
        assert_non_null(found);
        if (strstr(text_of(found, "detail"), forms[i].text) == NULL)
            fail_msg("'%s' does not contain '%s'", text_of(found, "detail"), forms[i].text);
        const json_t *fix = json_array_get(json_object_get(found, "fixes"), 0);
        assert_int_equal(fix == NULL, forms[i].title == NULL);
        if (forms[i].title != NULL)
            assert_string_equal(text_of(fix, "title"), forms[i].title);
        json_decref(answer);
    }
}
#define CHECK_FORMS(forms) check(forms, sizeof(forms) / sizeof(forms)[0])

static void triggers_have_their_form(void **state)
{
    (void)state;
    static const struct form forms[] = {
        {GOOD ",\"trigger\":\"10 seconds\"}", "/trigger", "INVALID_FIELD_TYPE",
         "{\"processingTime\": \"10 seconds\"}", "Write {\"processingTime\":\"10 seconds\"}"},
        {GOOD ",\"trigger\":\"5 mins\"}", "/trigger", "INVALID_FIELD_TYPE", "an object",
         "Write {\"processingTime\":\"5 minutes\"}"},
        {GOOD ",\"trigger\":\"once\"}", "/trigger", "INVALID_FIELD_TYPE", "an object",
         "Write {\"once\":true}"},
        {GOOD ",\"trigger\":\"available-now\"}", "/trigger", "INVALID_FIELD_TYPE", "an object",
         "Write {\"availableNow\":true}"},
        {GOOD ",\"trigger\":\"often\"}", "/trigger", "INVALID_FIELD_TYPE", "an object", NULL},
        {GOOD ",\"trigger\":{\"interval\":\"10 seconds\"}}", "/trigger/interval", "UNKNOWN_FIELD",
         "Did you mean processingTime?", "Write processingTime"},
        {GOOD ",\"trigger\":{\"type\":\"x\",\"processingTime\":\"1 second\"}}", "/trigger/type",
         "UNKNOWN_FIELD", "no field type", "Leave type out"},
        {GOOD ",\"trigger\":{\"processingTime\":\"10 secs\"}}", "/trigger/processingTime",
         "INVALID_INTERVAL_FORMAT.INVALID_UNIT", "seconds", "Write \"10 seconds\""},
        {GOOD ",\"trigger\":{\"processingTime\":\"1hr, 30 min\"}}", "/trigger/processingTime",
         "INVALID_INTERVAL_FORMAT.INVALID_VALUE", "", "Write \"1 hour 30 minutes\""},
        {GOOD ",\"trigger\":{\"processingTime\":\"7\"}}", "/trigger/processingTime",
         "INVALID_INTERVAL_FORMAT.MISSING_UNIT", "a unit", "Write \"7 seconds\""},
        {GOOD ",\"trigger\":{\"processingTime\":5000}}", "/trigger/processingTime",
         "INVALID_FIELD_TYPE", "such as \"10 seconds\"", "Write \"5 seconds\""},
        {GOOD ",\"trigger\":{\"processingTime\":1500}}", "/trigger/processingTime",
         "INVALID_FIELD_TYPE", "such as", "Write \"1500 milliseconds\""},
    };
    CHECK_FORMS(forms);
}

static void values_have_their_form(void **state)
{
    (void)state;
    static const struct form forms[] = {
        {GOOD ",\"limits\":{\"memoryBytes\":\"512m\"}}", "/limits/memoryBytes",
         "INVALID_FIELD_VALUE", "a number of bytes", "Write 536870912"},
        {GOOD ",\"limits\":{\"memoryBytes\":\"1.5 GiB\"}}", "/limits/memoryBytes",
         "INVALID_FIELD_VALUE", "a number of bytes", "Write 1610612736"},
        {GOOD ",\"limits\":{\"memoryBytes\":\"much\"}}", "/limits/memoryBytes",
         "INVALID_FIELD_VALUE", "a number of bytes", NULL},
        {GOOD ",\"restartPolicy\":\"never\"}", "/restartPolicy", "INVALID_FIELD_TYPE", "an object",
         "Write {\"mode\":\"never\"}"},
        {"{" MARKED_SOURCE "," ALL ",\"sink\":\"memory\"}", "/sink", "INVALID_FIELD_TYPE",
         "an object", "Write {\"format\":\"memory\"}"},
        {"{" MARKED_SOURCE "," ALL ",\"sink\":{\"format\":\"json\",\"path\":\"$/out\"}}",
         "/sink/path", "UNKNOWN_FIELD", "it stands in options", "Make path an option"},
        {"{" MARKED_SOURCE "," SQL("SELECT * FROM s") ",\"sink\":{\"format\":\"json\",\"options\":{"
                                                      "\"path\":\"$/out\"},\"partitionBy\":\"id, "
                                                      "cust\"}}",
         "/sink/partitionBy", "INVALID_FIELD_TYPE", "an array", "Write [\"id\",\"cust\"]"},
        {"{" MARKED_SOURCE "," SQL("SELECT id FROM s") ",\"sink\":{\"format\":\"json\",\"options\":"
                                                       "{\"path\":\"$/out\"},\"partitionBy\":["
                                                       "\"day\"]}}",
         "/sink/partitionBy/0", "_LEGACY_ERROR_TEMP_1196", "id", NULL},
        {GOOD ",\"views\":[{\"name\":\"v\",\"from\":\"s\",\"dropDuplicates\":true}]}",
         "/views/0/dropDuplicates", "INVALID_FIELD_TYPE", "an array", "Write []"},
        {RELATION("\"schema\":\"id INT\",\"path\":\"$/in\""), "/sources/s/path", "UNKNOWN_FIELD",
         "it stands in options", "Make path an option"},
        {RELATION(
             "\"schema\":\"id INT\",\"options\":{\"path\":\"$/in\",\"maxFileAge\":\"10 secs\"}"),
         "/sources/s/options/maxFileAge", "INVALID_OPTION_VALUE", "a duration such as 7d",
         "Use 10 seconds"},
        {RELATION("\"schema\":\"id INT, at TIMESTAMP\",\"options\":{\"path\":\"$/in\"},"
                  "\"watermark\":{\"column\":\"at\",\"delay\":\"10 secs\"}"),
         "/sources/s/watermark/delay", "CANNOT_PARSE_INTERVAL", "such as 10 minutes",
         "Write \"10 seconds\""},
    };
    CHECK_FORMS(forms);
}

/* One thing is wrong, so one thing is said; and what is offered leaves nothing. */
static void a_form_that_is_wrong_is_said_once(void **state)
{
    (void)state;
    static const struct form forms[] = {
        {RELATION("\"options\":{\"path\":\"$/in\"},\"schema\":[{\"name\":\"id\",\"type\":\"int\"},"
                  "{\"name\":\"b c\",\"type\":\"string\"}]"),
         "/sources/s/schema", "INVALID_FIELD_TYPE", "\"a INT, b STRING\"",
         "Write \"`id` int, `b c` string\""},
        {RELATION("\"options\":{\"path\":\"$/in\"},\"schema\":[\"id INT\",\"b STRING\"]"),
         "/sources/s/schema", "INVALID_FIELD_TYPE", "not an array", "Write \"id INT, b STRING\""},
        {RELATION("\"options\":{\"path\":\"$/in\"},\"schema\":{\"id\":\"INT\"}"),
         "/sources/s/schema", "INVALID_JSON_DATA_TYPE", "no data type", "Write \"`id` INT\""},
        {RELATION("\"options\":{\"path\":\"$/in\"},\"schema\":7"), "/sources/s/schema",
         "INVALID_FIELD_TYPE", "not an integer", NULL},
        {"{\"sources\":[{\"name\":\"s\",\"format\":\"json\",\"schema\":\"id INT\",\"options\":{"
         "\"path\":\"$/in\"}}]," ALL NOOP "}",
         "/sources", "INVALID_FIELD_TYPE", "an object",
         "Write {\"s\":{\"format\":\"json\",\"schema\":\"id "
         "INT\",\"options\":{\"path\":\"$/in\"}}}"},
        {"{" MARKED_SOURCE ",\"views\":{\"v\":\"SELECT id FROM s\"}," SQL("SELECT id FROM v") NOOP
         "}",
         "/views", "INVALID_FIELD_TYPE", "an array",
         "Write [{\"name\":\"v\",\"sql\":\"SELECT id FROM s\"}]"},
        {"{" MARKED_SOURCE ",\"query\":\"SELECT id FROM s\"" NOOP "}", "/query", "UNKNOWN_FIELD",
         "Did you mean sql?", "Write sql"},
        {"{" MARKED_SOURCE "," ALL ",\"output\":{\"format\":\"noop\"}}", "/output", "UNKNOWN_FIELD",
         "Did you mean sink?", "Write sink"},
        {"{\"readStream\":{\"s\":{\"format\":\"json\",\"schema\":\"id INT\",\"options\":{\"path\":"
         "\"$/in\"}}}," ALL NOOP "}",
         "/readStream", "UNKNOWN_FIELD", "Did you mean sources?", "Write sources"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct form form = forms[i];
        char title[256];
        if (form.title != NULL && strchr(form.title, '$') != NULL) {
            (void)snprintf(title, sizeof title, "%s", at_home(form.title));
            form.title = title;
        }
        check(&form, 1);
        json_t *answer = post(&server, "/v1/validate", at_home(form.spec), 200);
        const json_t *list = json_object_get(answer, "diagnostics");
        size_t errors = 0, at;
        json_t *item;
        json_array_foreach(list, at, item)
        {
            errors += strcmp(text_of(item, "severity"), "ERROR") == 0;
        }
        assert_int_equal(errors, 1);
        json_decref(answer);
    }
}

static void windows_of_other_systems_are_understood(void **state)
{
    (void)state;
    static const struct form forms[] = {
        {COUNTED("TUMBLE(ts, INTERVAL '10' SECOND)"), "/sql", "UNRESOLVED_ROUTINE",
         "GROUP BY window(time, '10 minutes')", "Use window(ts, '10 seconds')"},
        {COUNTED("HOP(ts, INTERVAL '5' MINUTE, INTERVAL '1' HOUR)"), "/sql", "UNRESOLVED_ROUTINE",
         "the size, then the slide", "Use window(ts, '1 hour', '5 minutes')"},
        {COUNTED("cust, SESSION(ts, INTERVAL '10' MINUTE)"), "/sql", "UNRESOLVED_ROUTINE",
         "session_window(time, '5 minutes')", "Use session_window(ts, '10 minutes')"},
        {TOLD("SELECT TUMBLE_START(ts, INTERVAL '1' MINUTE) AS t FROM s"), "/sql",
         "UNRESOLVED_ROUTINE", "is window.start", NULL},
        {TOLD("SELECT * FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"), "/sql",
         "UNRESOLVABLE_TABLE_VALUED_FUNCTION", "GROUP BY window(time, '10 minutes')", NULL},
        {TOLD("SELECT * FROM TUMBLE(TABLE(s), DESCRIPTOR(ts), INTERVAL '1' MINUTE)"), "/sql",
         "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.UNSUPPORTED_TABLE_ARGUMENT",
         "Tumbling windows are written", NULL},
        {TOLD("SELECT upepr(cust) AS c FROM s"), "/sql", "UNRESOLVED_ROUTINE",
         "Did you mean upper?", "Use upper"},
        {COUNTED("window(ts, '10 secs')"), "/sql", "CANNOT_PARSE_INTERVAL", "such as 10 minutes",
         "Use window(ts, '10 seconds')"},
        {COUNTED("window(ts, INTERVAL '10' MINUTE, INTERVAL 5 MINUTES)"), "/sql",
         "_LEGACY_ERROR_TEMP_1207", "Write them as text",
         "Use window(ts, '10 minutes', '5 minutes')"},
        {TOLD("SELECT window(ts, '10 secs') AS w, count(*) AS c FROM s GROUP BY window(ts, '10 "
              "secs')"),
         "/sql", "CANNOT_PARSE_INTERVAL", "such as", "Use window(ts, '10 seconds') in all places"},
        {TOLD("SELECT date_format(ts, 'YYYY-MM-DD') AS d FROM s"), "/sql",
         "INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_PATTERN_RECOGNITION",
         "the year is yyyy. D is the day of the year: the day of the month is dd", NULL},
        {TOLD("SELECT CAST(id AS BIGNT) AS x FROM s"), "/sql", "UNSUPPORTED_DATATYPE",
         "Did you mean BIGINT?", "Use BIGINT"},
        {TOLD("SELECT CAST(id AS TEXT) AS x FROM s"), "/sql", "UNSUPPORTED_DATATYPE",
         "Did you mean STRING?", "Use STRING"},
    };
    CHECK_FORMS(forms);
}

/* Durations as they were written, also where the list names the window that there is not. */
static void a_window_is_judged_in_the_words_of_the_query(void **state)
{
    (void)state;
    static const struct form forms[] = {
        {COUNTED("window(ts, '1 minute', '2 minutes')"), "/sql",
         "DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION",
         "The slide of window() is '2 minutes' and longer than its size, '1 minute'", NULL},
        {TOLD("SELECT window, count(*) AS c FROM s GROUP BY window(ts, '1 minute', '2 minutes')"),
         "/sql", "DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION", "The slide of window()", NULL},
        {COUNTED("window(ts, '1 minute', '1 minute', '90 seconds')"), "/sql",
         "DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION",
         "The start of window() is '90 seconds', but has to be shorter than its slide, '1 minute'",
         NULL},
        {COUNTED("window(ts, '0 seconds')"), "/sql", "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE",
         "The size of window() is '0 seconds', but has to be longer than zero", NULL},
    };
    CHECK_FORMS(forms);
}

/* A step of a view that is no SQL has its field for a place. */
static void a_step_of_a_view_is_pointed_at(void **state)
{
    (void)state;
    static const struct form forms[] = {
        {"{" IN ",\"views\":[{\"name\":\"v\",\"from\":\"s\",\"dropDuplicatesWithinWatermark\":["
         "\"a\"]}]," SQL("SELECT a FROM v") NOOP "}",
         "/views/0/dropDuplicatesWithinWatermark", "_LEGACY_ERROR_TEMP_3102", "without watermark",
         "Add a watermark on at of s"},
    };
    CHECK_FORMS(forms);
}

/* Which column of partitionBy, and what a query or a view may read. */
static void a_place_and_what_is_there_are_named(void **state)
{
    (void)state;
#define PARTED                                                                                     \
    ",\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"$/"                                    \
    "out\"},\"partitionBy\":[\"b\",\"C\"]}"
    static const struct form forms[] = {
        {"{" IN "," SQL("SELECT a, array(b) AS c, b FROM s") PARTED "}", "/sink/partitionBy/1",
         "INVALID_PARTITION_COLUMN_DATA_TYPE", "ARRAY<STRING>", NULL},
        {"{" IN "," SQL("SELECT a FROM nothing") NOOP "}", "/sql", "TABLE_OR_VIEW_NOT_FOUND",
         ". To be read here: s", NULL},
        {"{" IN ",\"views\":[{\"name\":\"first\",\"sql\":\"SELECT a FROM second\"},{\"name\":"
         "\"second\",\"sql\":\"SELECT a FROM s\"}]," SQL("SELECT a FROM first") NOOP "}",
         "/views/0/sql", "TABLE_OR_VIEW_NOT_FOUND",
         ". A view reads only the views before it. To be read here: s", NULL},
    };
    CHECK_FORMS(forms);
}

/* The query starts, as Spark's does: what fails with each row is a warning with its place. */
static void constants_that_cannot_be_computed_are_warned_of(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        int column; /* 0: nothing is said */
        const char *text;
    } cases[] = {
        {TOLD("SELECT id, CAST('abc' AS INT) AS x FROM s"), 12, "[CAST_INVALID_INPUT]"},
        {TOLD("SELECT id FROM s WHERE ts > 'yesterday noon'"), 29, "[CAST_INVALID_INPUT]"},
        {TOLD("SELECT id, 1 / 0 AS x FROM s"), 12, "[DIVIDE_BY_ZERO]"},
        {COUNTED("cust, session_window(ts, '5 minuten')"), 63, "The gap of session_window()"},
        {COUNTED("cust, session_window(ts, '-5 minutes')"), 63, "not longer than zero"},
        {TOLD("SELECT id, try_cast('abc' AS INT) AS x FROM s"), 0, ""},
        {TOLD("SELECT CASE WHEN id < 0 THEN raise_error('no') ELSE id END AS x FROM s"), 0, ""},
        {TOLD("SELECT id, CASE WHEN true THEN 1 ELSE CAST('abc' AS INT) END AS x FROM s"), 0, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].spec);
        json_t *answer = post(&server, "/v1/validate", at_home(cases[i].spec), 200);
        assert_true(json_is_true(json_object_get(answer, "valid")));
        const struct expected place = {NULL, "/sql", "QUERY_WARNING"};
        const json_t *found = find(answer, &place);
        assert_int_equal(found == NULL, cases[i].column == 0);
        if (found != NULL) {
            const json_t *span = json_object_get(found, "span");
            assert_int_equal(json_integer_value(json_object_get(span, "column")), cases[i].column);
            assert_non_null(strstr(text_of(found, "detail"), cases[i].text));
        }
        json_decref(answer);
    }
}

/* Of a problem: a name of Spark that begins with _, too. */
static void a_title_is_a_phrase(void **state)
{
    (void)state;
    json_t *problem =
        post(&server, "/v1/queries",
             at_home("{" IN "," SQL("SELECT a FROM s ORDER BY a") "," OUT("json") "}"), 422);
    assert_string_equal(text_of(problem, "title"), "Legacy error temp 3102");
    json_decref(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triggers_have_their_form),
        cmocka_unit_test(values_have_their_form),
        cmocka_unit_test(a_form_that_is_wrong_is_said_once),
        cmocka_unit_test(windows_of_other_systems_are_understood),
        cmocka_unit_test(a_window_is_judged_in_the_words_of_the_query),
        cmocka_unit_test(a_step_of_a_view_is_pointed_at),
        cmocka_unit_test(a_place_and_what_is_there_are_named),
        cmocka_unit_test(constants_that_cannot_be_computed_are_warned_of),
        cmocka_unit_test(a_title_is_a_phrase),
    };
    return cmocka_run_group_tests(tests, setup, fixture_teardown);
}
