#include "sql/parser.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* Parses, prints, parses again: the trees are equal.  Returns the printed text in the arena. */
static const char *round_trip(struct arena *arena, const char *sql)
{
    struct ast_query *first, *second;
    struct error err = ERROR_INIT;
    struct buffer text = {0};
    print_message("%s\n", sql);
    assert_int_equal(parser_query(arena, bytes_of_text(sql), &first, &err), OK);
    ast_query_print(&text, first);
    assert_int_equal(parser_query(arena, buffer_bytes(&text), &second, &err), OK);
    assert_true(ast_query_equal(first, second));
    const char *out = arena_strndup(arena, text.data, text.size_bytes);
    buffer_fini(&text);
    return out;
}

static void what_is_printed_parses_to_the_same_tree(void **state)
{
    (void)state;
    static const char *const queries[] = {
        "SELECT select, from, null FROM VALUES (1, 2, 3) t(select, from, null)",
        "SELECT CASE WHEN a THEN 1 ELSE 2 END, CASE a WHEN 1 THEN 'x' END, case FROM t",
        "SELECT /*+ BROADCAST(t), REPARTITION(3) */ DISTINCT a.*, * EXCEPT (a, s.x) FROM t",
        "SELECT a[1].b, a:b.c[0]['d'], x -> x + 1, (x, y) -> x, s COLLATE utf8_binary FROM t",
        "SELECT f(DISTINCT a) FILTER (WHERE b) OVER (PARTITION BY a ORDER BY b DESC NULLS LAST "
        "ROWS BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING), g() OVER w FROM t WINDOW w AS (w2), "
        "w2 AS (ORDER BY a)",
        "SELECT first(a IGNORE NULLS), mode() WITHIN GROUP (ORDER BY a), mask('a', b => 'c') FROM "
        "t",
        "SELECT a BETWEEN 1 AND 2, a NOT IN (1, 2), a IN (SELECT 1), a LIKE ANY ('x', 'y'), "
        "b NOT LIKE 'x' ESCAPE '/', a IS NOT DISTINCT FROM b, a IS NOT TRUE, b RLIKE 'x' FROM t",
        "SELECT CAST(a AS STRUCT<x: INT NOT NULL COMMENT 'c', y ARRAY<MAP<STRING, ARRAY<INT>>>>), "
        "b::DECIMAL(5, 2), TRY_CAST(c AS INTERVAL DAY TO SECOND), d::STRUCT<> FROM t",
        "SELECT TRIM(BOTH 'x' FROM a), SUBSTRING(a FROM 2 FOR 1), POSITION('a' IN b), "
        "OVERLAY(a PLACING b FROM 1), EXTRACT(YEAR FROM d), DATEADD(DAY, 1, d), trim(a, b) FROM t",
        "SELECT 1Y, -1S, 2L, 1.50, 1e3, 1.5F, 12345678901234567890, X'1f', 'it''s\\n', "
        "DATE'2024-1-1'",
        "WITH RECURSIVE r(n) MAX RECURSION LEVEL 5 AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
        "TABLE r",
        "SELECT 1 UNION SELECT 2 INTERSECT ALL SELECT 3 EXCEPT (SELECT 4 ORDER BY 1 LIMIT "
        "1)",
        "SELECT * FROM a, b JOIN c ON a.x = c.x LEFT SEMI JOIN d USING (x) NATURAL FULL JOIN e, "
        "LATERAL (SELECT 1) f, LATERAL explode(a.y) g(z) LATERAL VIEW OUTER explode(m) h AS k, v",
        "SELECT * FROM STREAM t WATERMARK at DELAY OF INTERVAL 10 SECONDS AS e(a, b)",
        "SELECT * FROM t TABLESAMPLE (10 PERCENT) REPEATABLE (7) WATERMARK f(x) AS at DELAY OF "
        "INTERVAL 1 MINUTE watermark",
        "SELECT * FROM (t JOIN u) TABLESAMPLE (BUCKET 1 OUT OF 4) AS x",
        "SELECT * FROM t PIVOT (sum(a) AS s, max(b) FOR (c, d) IN ((1, 2) AS x, (3, 4)))",
        "SELECT * FROM t UNPIVOT INCLUDE NULLS ((a, b) FOR n IN ((c, d) AS x, (e, f))) AS u",
        "SELECT a, count(*) FROM t GROUP BY a, ROLLUP (b, (c, d)), GROUPING SETS ((a), (), CUBE "
        "(b))",
        "SELECT a FROM t GROUP BY a, b GROUPING SETS ((a, b), a) HAVING count(*) > 1 ORDER BY ALL",
        "SELECT a FROM t GROUP BY ALL",
        "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a) AND NOT (a, 1) IN ((1, 2)) "
        "SORT BY a LIMIT ALL OFFSET 1",
        "FROM t |> WHERE a > 1 |> EXTEND a + 1 AS b |> SET a = 2 |> DROP b |> AS x |> SELECT a "
        "|> AGGREGATE sum(a) AS s GROUP BY b AS c |> JOIN u ON true |> ORDER BY s |> LIMIT 1 |> "
        "UNION ALL (SELECT 1) |> TABLESAMPLE (3 ROWS) |>",
        "FROM t SELECT a SELECT b",
        "SELECT IDENTIFIER('t.a'), IDENTIFIER(:x || 'y'), ?, :z, current_path FROM IDENTIFIER('t')",
        "SELECT ((SELECT 1)), ((SELECT 1) + 1), ((1)) FROM ((SELECT 1) JOIN (SELECT 2))",
        "VALUES (1, 'a'), (2, 'b') AS t(x, y)",
        "SELECT explode(m) AS (k, v), posexplode_outer(a) (p, c) FROM t;;",
    };
    struct arena *arena = arena_new("request", 0);
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
        round_trip(arena, queries[i]);
    arena_free(arena);
}

static void operators_bind_as_in_spark(void **state)
{
    (void)state;
    static const struct {
        const char *text, *printed;
    } cases[] = {
        {"1 + 2 * 3", "(1) + ((2) * (3))"},
        {"1 || 2 + 3", "((1) || (2)) + (3)"},
        {"1 << 2 + 3", "(1) << ((2) + (3))"},
        {"1 | 2 ^ 3 & 4", "(1) | ((2) ^ ((3) & (4)))"},
        {"1 = 1 = true", "((1) = (1)) = (TRUE)"},
        {"NOT a = b", "NOT (a = b)"},
        {"a = b IS NULL", "(a = b) IS NULL"},
        {"a OR b AND NOT c", "a OR (b AND (NOT c))"},
        {"-1::string", "(-1)::STRING"},
        {"-a::string", "-(a::STRING)"},
        {"a - -1", "a - (-1)"},
        {"1 BETWEEN 0 AND 2 = true", "(1) BETWEEN (0) AND ((2) = (TRUE))"},
        {"(a).b.c", "a.b.c"},
        {"a-b", "a - b"},
    };
    struct arena *arena = arena_new("request", 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        struct ast_expr *expr;
        struct buffer text = {0};
        print_message("%s\n", cases[i].text);
        assert_int_equal(parser_expr(arena, bytes_of_text(cases[i].text), &expr, &err), OK);
        ast_expr_print(&text, expr);
        assert_string_equal(buffer_text(&text), cases[i].printed);
        buffer_fini(&text);
    }
    arena_free(arena);
}

static void a_syntax_error_names_the_token_that_spark_names(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        int line, column;
        const char *error, *hint;
    } cases[] = {
        {"SELECT a b c FROM t", 1, 12, "'c'", ""},
        {"SELECT SELECT 1", 1, 15, "'1'", ": extra input '1'"},
        {"SELECT 'abc", 1, 8, "'''", ""},
        {"SELECT 1 +", 1, 11, "end of input", ""},
        {"SELECT a BETWEEN 1 FROM t", 1, 20, "'FROM'", ": missing 'AND'"},
        {"SELECT CASE WHEN a THEN 1", 1, 18, "'a'", ""},
        {"SELECT a FROM (SELECT a FROM t", 1, 31, "end of input", ": missing ')'"},
        {"SELECT a FROM t ORDER BY a NULLS", 1, 17, "'ORDER'", ""},
        {"SELECT a FROM t GROUP BY", 1, 23, "'BY'", ": extra input 'BY'"},
        {"SELECT * FROM t JOIN u USING a", 1, 30, "'a'", ": missing '('"},
        {"SELECT sum(a) OVER (ORDER a) FROM t", 1, 20, "'('", ""},
        {"SELECT a\nFROM t\nWHERE a ==== 1", 3, 11, "'=='", ""},
        {"SELECT '\xf0\x9f\x98\x80' AS e, 1 1", 1, 20, "'1'", ": extra input '1'"},
        {"SELECT 1; SELECT 2", 1, 11, "'SELECT'", ": extra input 'SELECT'"},
    };
    struct arena *arena = arena_new("request", 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        struct ast_query *query;
        int line, column;
        struct bytes text = bytes_of_text(cases[i].sql);
        print_message("%s\n", cases[i].sql);
        assert_int_equal(parser_query(arena, text, &query, &err), STATUS_PARSE_SYNTAX_ERROR);
        parser_place(text, err.position, &line, &column);
        assert_int_equal(line, cases[i].line);
        assert_int_equal(column, cases[i].column);
        assert_string_equal(error_param(&err, "error"), cases[i].error);
        assert_string_equal(error_param(&err, "hint"), cases[i].hint);
    }
    arena_free(arena);
}

static void other_refusals_have_their_condition(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        enum status status;
    } cases[] = {
        {"", STATUS_PARSE_EMPTY_STATEMENT},
        {" ; ", STATUS_PARSE_SYNTAX_ERROR},
        {"SELECT a, FROM t", STATUS_TRAILING_COMMA_IN_SELECT},
        {"SELECT 300Y", STATUS_INVALID_NUMERIC_LITERAL_RANGE},
        {"SELECT 1e400", STATUS_INVALID_NUMERIC_LITERAL_RANGE},
        {"SELECT 1e39BD", STATUS_DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION},
        {"SELECT FOO'x'", STATUS_UNSUPPORTED_TYPED_LITERAL},
        {"SELECT X'zz'", STATUS_INVALID_TYPED_LITERAL},
        {"SELECT 1 AS \xc3\xa9", STATUS_INVALID_IDENTIFIER},
        {"SELECT * FROM a-b", STATUS_INVALID_IDENTIFIER},
        {"SELECT 1 IN ()", STATUS_INVALID_SQL_SYNTAX__EMPTY_IN_PREDICATE},
        {"SELECT a LIKE ANY ()", STATUS_INVALID_SQL_SYNTAX__EMPTY_QUANTIFIED_PATTERN},
        {"SELECT a LIKE b ESCAPE 'ab'", STATUS_INVALID_ESC},
        {"SELECT CAST(a AS FOO)", STATUS_UNSUPPORTED_DATATYPE},
        {"SELECT CAST(a AS VARCHAR)", STATUS_DATATYPE_MISSING_SIZE},
        {"SELECT CAST(a AS ARRAY)", STATUS_INCOMPLETE_TYPE_DEFINITION__ARRAY},
        {"SELECT CAST(a AS MAP)", STATUS_INCOMPLETE_TYPE_DEFINITION__MAP},
        {"SELECT CAST(a AS STRUCT)", STATUS_INCOMPLETE_TYPE_DEFINITION__STRUCT},
        {"SELECT CAST(a AS DECIMAL(5,6))", STATUS_DECIMAL_SCALE_EXCEEDS_PRECISION},
        {"SELECT * FROM t TABLESAMPLE (10)", STATUS__LEGACY_ERROR_TEMP_0016},
        {"FROM t |> AGGREGATE", STATUS__LEGACY_ERROR_TEMP_0035},
        {"SELECT timestampadd('DAY', 1, a)", STATUS_INVALID_PARAMETER_VALUE__DATETIME_UNIT},
        {"EXPLAIN SELECT 1", STATUS_WRITE_STREAM_NOT_ALLOWED},
        {"SELECT TRANSFORM(a, b) USING 'cat' AS (c) FROM t", STATUS_NOT_SUPPORTED},
        {"SELECT transform(a) ROW FORMAT DELIMITED USING 'cat' FROM t", STATUS_NOT_SUPPORTED},
    };
    struct arena *arena = arena_new("request", 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = ERROR_INIT;
        struct ast_query *query;
        print_message("%s\n", cases[i].sql);
        assert_int_equal(parser_query(arena, bytes_of_text(cases[i].sql), &query, &err),
                         cases[i].status);
    }
    arena_free(arena);
}

static void deep_or_long_statements_are_refused_and_never_overflow(void **state)
{
    (void)state;
    static const struct {
        const char *repeat, *middle, *close;
    } cases[] = {
        {"(", "1", ")"},
        {"- ", "1", ""},
        {"NOT ", "true", ""},
        {"f(", "1", ")"},
        {"(SELECT ", "1", ")"},
        {"a[", "1", "]"},
        {"1 + ", "1", ""},
        {"CASE WHEN ", "1", ""},
        {"x -> ", "1", ""},
        {"trim((", "1", "))"},
        {"CAST(", "1", " AS INT)"},
        {"CASE (", "1", ")"},
        {"1 IN ((", "1", "))"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena *arena = arena_new("request", 0);
        struct buffer text = {0};
        struct error err = ERROR_INIT;
        struct ast_query *query;
        buffer_add_text(&text, "SELECT ");
        for (int n = 0; n < 20000; n++)
            buffer_add_text(&text, cases[i].repeat);
        buffer_add_text(&text, cases[i].middle);
        for (int n = 0; n < 20000; n++)
            buffer_add_text(&text, cases[i].close);
        print_message("%s\n", cases[i].repeat);
        assert_int_equal(parser_query(arena, buffer_bytes(&text), &query, &err),
                         STATUS_FAILED_TO_PARSE_TOO_COMPLEX);
        buffer_fini(&text);
        arena_free(arena);
    }
}

static void double_quotes_are_names_when_asked(void **state)
{
    (void)state;
    struct arena *arena = arena_new("request", 0);
    struct error err = ERROR_INIT;
    struct ast_query *query;
    struct bytes sql = bytes_of_text("SELECT 1 AS \"a\"\"b\"");
    assert_int_equal(parser_query_with(arena, sql, PARSER_QUOTES_NAMES, &query, &err), OK);
    struct bytes alias = query->term->select->items.items[0].aliases.items[0].text;
    assert_true(bytes_equal(alias, bytes_of_text("a\"b")));
    assert_int_equal(parser_query_with(arena, sql, PARSER_QUOTES_TEXT, &query, &err),
                     STATUS_PARSE_SYNTAX_ERROR);
    arena_free(arena);
}

static void types_parse_alone(void **state)
{
    (void)state;
    struct arena *arena = arena_new("request", 0);
    struct error err = ERROR_INIT;
    struct ast_type *type;
    struct buffer text = {0};
    assert_int_equal(parser_type(arena, bytes_of_text("map<string, array<decimal>>"), &type, &err),
                     OK);
    ast_type_print(&text, type);
    assert_string_equal(buffer_text(&text), "MAP<STRING, ARRAY<DECIMAL(10, 0)>>");
    buffer_fini(&text);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_printed_parses_to_the_same_tree),
        cmocka_unit_test(operators_bind_as_in_spark),
        cmocka_unit_test(a_syntax_error_names_the_token_that_spark_names),
        cmocka_unit_test(other_refusals_have_their_condition),
        cmocka_unit_test(deep_or_long_statements_are_refused_and_never_overflow),
        cmocka_unit_test(double_quotes_are_names_when_asked),
        cmocka_unit_test(types_parse_alone),
    };
    return cmocka_run_group_tests_name("sql/parser", tests, NULL, NULL);
}
