#include "analyze_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void columns_have_the_names_and_types_of_spark(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *schema;
    } cases[] = {
        {"SELECT * FROM pages", "struct<url:string,section:string,rank:int>"},
        {"SELECT p.URL, rank + 1 FROM pages p", "struct<URL:string,(rank + 1):int>"},
        {"SELECT 1 AS x, x + 1 AS y", "struct<x:int,y:int>"},
        {"SELECT url, count(*) FROM pages GROUP BY url", "struct<url:string,count(1):bigint>"},
        {"SELECT DISTINCT section s FROM pages ORDER BY s", "struct<s:string>"},
        {"SELECT * EXCEPT (rank) FROM pages", "struct<url:string,section:string>"},
        {"WITH t(a, b) AS (SELECT 1, 'x') SELECT b, a FROM t", "struct<b:string,a:int>"},
        {"SELECT 1 AS a UNION ALL SELECT 2L", "struct<a:bigint>"},
        {"SELECT a.url FROM pages a JOIN pages b USING (url)", "struct<url:string>"},
        {"SELECT x FROM pages LATERAL VIEW explode(array(1, 2)) t AS x", "struct<x:int>"},
        {"VALUES (1, 'a'), (2, NULL)", "struct<col1:int,col2:string>"},
        {"FROM pages |> WHERE rank > 1 |> SELECT url", "struct<url:string>"},
        {"SELECT window FROM clicks GROUP BY window(at, '10 seconds')",
         "struct<window:struct<start:timestamp,end:timestamp>>"},
        {"SELECT (SELECT max(rank) FROM pages) AS m", "struct<m:int>"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fixture;
        fixture_open(&fixture);
        print_message("%s\n", cases[i].sql);
        enum status status = fixture_analyze(&fixture, cases[i].sql, "append", true);
        assert_string_equal(fixture.err.text, "");
        assert_int_equal(status, OK);
        assert_string_equal(type_name(fixture.arena, fixture.analysis->schema), cases[i].schema);
        fixture_close(&fixture);
    }
}

static void errors_name_the_condition_and_the_place(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *condition;
        int position;
    } cases[] = {
        {"SELECT visitr FROM clicks", "UNRESOLVED_COLUMN.WITH_SUGGESTION", 7},
        {"SELECT x", "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", 7},
        {"SELECT url FROM clicks c JOIN pages p ON c.url = p.url", "AMBIGUOUS_REFERENCE", 7},
        {"SELECT a FROM nosuch", "TABLE_OR_VIEW_NOT_FOUND", 14},
        {"SELECT nosuch(1)", "UNRESOLVED_ROUTINE", 7},
        {"SELECT HISTOGRAM_numeric(rank, 3) FROM pages", "NOT_SUPPORTED", 7},
        {"SELECT hll_union_agg(rank) OVER () FROM pages", "NOT_SUPPORTED", 7},
        {"SELECT histogram(rank) FROM pages", "UNRESOLVED_ROUTINE", 7},
        {"SELECT at.year FROM clicks", "INVALID_EXTRACT_BASE_FIELD_TYPE", 7},
        {"SELECT url FROM pages WHERE rank", "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN", 0},
        {"SELECT url FROM pages WHERE count(*) > 1", "INVALID_WHERE_CONDITION", 0},
        {"SELECT url, rank FROM pages GROUP BY url", "MISSING_AGGREGATION", 12},
        {"SELECT url, count(*) FROM pages", "MISSING_GROUP_BY", 0},
        {"SELECT url FROM pages GROUP BY 2", "GROUP_BY_POS_OUT_OF_RANGE", 31},
        {"SELECT url FROM pages ORDER BY 2", "ORDER_BY_POS_OUT_OF_RANGE", 31},
        {"SELECT url FROM pages LIMIT -1", "INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE", 28},
        {"SELECT 1 UNION SELECT 1, 2", "NUM_COLUMNS_MISMATCH", 0},
        {"SELECT * FROM (SELECT 1) t(a, b)", "ASSIGNMENT_ARITY_MISMATCH", 14},
        {"SELECT sum(count(*)) FROM pages", "NESTED_AGGREGATE_FUNCTION", 11},
        {"SELECT url FROM pages WHERE explode(array(rank)) > 1",
         "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT", 28},
        {"SELECT url FROM pages ORDER BY explode(array(rank))",
         "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT", 31},
        {"SELECT count(*) FROM pages GROUP BY explode(array(rank))",
         "UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS", 36},
        {"SELECT explode(array(rank)) + 1 FROM pages",
         "UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS", 7},
        {"SELECT url, to_timestamp(url, 'yyyy-MM-ddd') FROM pages",
         "INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_PATTERN_RECOGNITION", 12},
        {"SELECT url, DATE'2020-13-01' FROM pages", "INVALID_TYPED_LITERAL", 12},
        {"SELECT url, TIME'25:00:00' FROM pages", "INVALID_TYPED_LITERAL", 12},
        {"SELECT url FROM pages QUALIFY rank > 1", "QUALIFY_REQUIRES_WINDOW_FUNCTION", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fixture;
        fixture_open(&fixture);
        print_message("%s\n", cases[i].sql);
        assert_int_not_equal(fixture_analyze(&fixture, cases[i].sql, "append", true), OK);
        assert_string_equal(status_name(fixture.err.status), cases[i].condition);
        assert_int_equal(fixture.err.position, cases[i].position);
        fixture_close(&fixture);
    }
}

static void suggestions_come_nearest_first(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture);
    assert_int_not_equal(fixture_analyze(&fixture, "SELECT visitr FROM clicks", "append", true),
                         OK);
    assert_string_equal(error_param(&fixture.err, "proposal"), "`visitor`, `at`, `n`, `url`");
    fixture_close(&fixture);
}

/* The condition is Spark's, that of a column; the reason is the window. */
static void a_window_that_cannot_be_is_the_reason(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *reason;
    } cases[] = {
        {"SELECT window.start FROM clicks GROUP BY window(at, '1 minute', '2 minutes')",
         "Column `window`.`start` cannot be resolved, for GROUP BY makes no such window: The slide "
         "of window() is '2 minutes' and longer than its size, '1 minute'"},
        {"SELECT url, window.end FROM clicks GROUP BY url, window(at, '0 seconds')",
         "makes no such window: The size of window() is '0 seconds'"},
        {"SELECT window.start FROM clicks GROUP BY window(at, '1 minute', '1 minute', '5 minutes')",
         "makes no such window: The start of window() is '5 minutes'"},
        {"SELECT session_window.start FROM clicks GROUP BY url, session_window(n, '1 minute')",
         "`session_window`.`start` cannot be resolved, for GROUP BY makes no such window: "},
        {"SELECT nope FROM clicks GROUP BY window(at, '0 seconds')",
         "Column `nope` cannot be resolved. Did you mean"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fixture;
        fixture_open(&fixture);
        enum status status = fixture_analyze(&fixture, cases[i].sql, "update", true);
        assert_string_equal(status_name(status), "UNRESOLVED_COLUMN.WITH_SUGGESTION");
        print_message("%s\n", fixture.err.text);
        assert_non_null(strstr(fixture.err.text, cases[i].reason));
        fixture_close(&fixture);
    }
}

static void an_error_in_a_view_says_in_which(void **state)
{
    (void)state;
    struct fixture fixture;
    struct view_spec view = {.name = "v", .sql = "SELECT nosuch FROM clicks"};
    fixture_open(&fixture);
    fixture.spec.views = &view;
    fixture.spec.view_count = 1;
    assert_int_not_equal(fixture_analyze(&fixture, "SELECT 1", "append", true), OK);
    assert_string_equal(fixture.err.view, "v");
    assert_int_equal(fixture.err.position, 7);
    fixture_close(&fixture);
}

/* The operation is what a stream cannot have, not the two queries that it stands between. */
static void a_set_operation_is_refused_at_its_word(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *word;
    } cases[] = {
        {"SELECT visitor FROM clicks UNION SELECT visitor FROM clicks", "UNION"},
        {"SELECT visitor FROM clicks UNION DISTINCT SELECT visitor FROM clicks", "UNION DISTINCT"},
        {"SELECT visitor FROM clicks INTERSECT SELECT visitor FROM clicks", "INTERSECT"},
        {"SELECT url FROM pages UNION ALL SELECT visitor FROM clicks", "UNION ALL"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fixture;
        fixture_open(&fixture);
        assert_int_not_equal(fixture_analyze(&fixture, cases[i].sql, "append", false), OK);
        assert_int_equal(fixture.err.position, strstr(cases[i].sql, cases[i].word) - cases[i].sql);
        assert_int_equal(fixture.err.position_end - fixture.err.position, strlen(cases[i].word));
        fixture_close(&fixture);
    }
}

static void streams_are_legal_by_the_rules(void **state)
{
    (void)state;
    static const struct {
        const char *why, *sql, *mode, *condition;
    } cases[] = {
        {"stateless", "SELECT visitor FROM clicks", "append", NULL},
        {"stateless in update is append", "SELECT visitor FROM clicks", "Update", NULL},
        {"complete needs an aggregation", "SELECT visitor FROM clicks", "complete",
         "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION"},
        {"a mode that does not exist", "SELECT visitor FROM clicks", "append ",
         "STREAMING_OUTPUT_MODE.INVALID"},
        {"no stream is read", "SELECT url FROM pages", "append", "WRITE_STREAM_NOT_ALLOWED"},
        {"append needs a watermarked key", "SELECT visitor, count(*) FROM clicks GROUP BY visitor",
         "append", "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION"},
        {"a window of a watermarked time is one",
         "SELECT window, count(*) FROM wclicks GROUP BY window(at, '10 seconds')", "append", NULL},
        {"an expression over it is none",
         "SELECT count(*) FROM wclicks GROUP BY at + INTERVAL 1 SECOND", "append",
         "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION"},
        {"DISTINCT is an aggregation", "SELECT DISTINCT visitor FROM clicks", "append",
         "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION"},
        {"a limit in update", "SELECT visitor FROM clicks LIMIT 2", "update",
         "_LEGACY_ERROR_TEMP_3102"},
        {"an order without complete", "SELECT visitor FROM clicks ORDER BY visitor", "append",
         "_LEGACY_ERROR_TEMP_3102"},
        {"an inner join of streams",
         "SELECT o.id FROM worders o JOIN wpayments p ON o.id = p.order_id", "update", NULL},
        {"an outer join without bounds",
         "SELECT o.id FROM worders o LEFT JOIN wpayments p ON o.id = p.order_id", "append",
         "_LEGACY_ERROR_TEMP_3102"},
        {"an outer join with a bound for the kept side",
         "SELECT o.id FROM worders o LEFT JOIN wpayments p ON o.id = p.order_id AND p.at BETWEEN "
         "o.at AND o.at + INTERVAL 10 SECONDS",
         "append", NULL},
        {"a stream in a subquery", "SELECT visitor FROM clicks WHERE n IN (SELECT id FROM worders)",
         "append", "INVALID_SUBQUERY_EXPRESSION.STREAMING_QUERY"},
        {"OVER", "SELECT sum(n) OVER (PARTITION BY visitor) FROM clicks", "append",
         "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING"},
        {"a union with a table", "SELECT url FROM pages UNION ALL SELECT url FROM clicks", "append",
         "_LEGACY_ERROR_TEMP_3102"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fixture;
        fixture_open(&fixture);
        print_message("%s\n", cases[i].why);
        enum status status = fixture_analyze(&fixture, cases[i].sql, cases[i].mode, false);
        if (cases[i].condition == NULL) {
            assert_string_equal(fixture.err.text, "");
            assert_int_equal(status, OK);
        } else {
            assert_string_equal(status_name(fixture.err.status), cases[i].condition);
        }
        fixture_close(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_have_the_names_and_types_of_spark),
        cmocka_unit_test(errors_name_the_condition_and_the_place),
        cmocka_unit_test(suggestions_come_nearest_first),
        cmocka_unit_test(a_window_that_cannot_be_is_the_reason),
        cmocka_unit_test(an_error_in_a_view_says_in_which),
        cmocka_unit_test(streams_are_legal_by_the_rules),
        cmocka_unit_test(a_set_operation_is_refused_at_its_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
