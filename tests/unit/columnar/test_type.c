/* Types: DDL and JSON read, all three forms printed, errors with their places. */
#include "columnar/type.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new("test", 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static void columns_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *ddl;
        const char *simple;
        const char *sql;
    } rows[] = {
        {"a INT", "struct<a:int>", "STRUCT<a: INT>"},
        {"a int not null comment 'c', b STRING", "struct<a:int,b:string>",
         "STRUCT<a: INT NOT NULL COMMENT 'c', b: STRING>"},
        {"select LONG, `a b` decimal(5,2)", "struct<select:bigint,a b:decimal(5,2)>",
         "STRUCT<select: BIGINT, `a b`: DECIMAL(5,2)>"},
        {"a STRUCT<x: INT, y ARRAY<MAP<STRING, DOUBLE>>>",
         "struct<a:struct<x:int,y:array<map<string,double>>>>",
         "STRUCT<a: STRUCT<x: INT, y: ARRAY<MAP<STRING, DOUBLE>>>>"},
        {"1a BYTE, b DEC, c NUMERIC(3)", "struct<1a:tinyint,b:decimal(10,0),c:decimal(3,0)>",
         "STRUCT<`1a`: TINYINT, b: DECIMAL(10,0), c: DECIMAL(3,0)>"},
        {"a INTERVAL DAY TO SECOND, b INTERVAL YEAR, c INTERVAL",
         "struct<a:interval day to second,b:interval year,c:interval>",
         "STRUCT<a: INTERVAL DAY TO SECOND, b: INTERVAL YEAR, c: INTERVAL>"},
        {"a TIMESTAMP WITHOUT TIME ZONE, b TIMESTAMP(6), c TIME(3) -- end",
         "struct<a:timestamp_ntz,b:timestamp,c:time(3)>",
         "STRUCT<a: TIMESTAMP_NTZ, b: TIMESTAMP, c: TIME(3)>"},
        {"a STRUCT<>", "struct<a:struct<>>", "STRUCT<a: STRUCT<>>"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct type *type = NULL;
        struct error err = ERROR_INIT;
        assert_int_equal(type_parse_schema(arena, bytes_of_text(rows[i].ddl), &type, &err), OK);
        assert_string_equal(type_name(arena, type), rows[i].simple);
        assert_string_equal(type_sql(arena, type), rows[i].sql);
        assert_true(type_equal(type, type_clone(arena, type)));
        struct buffer json = {0};
        type_print_json(&json, type);
        const struct type *again = NULL;
        assert_int_equal(type_parse_schema(arena, buffer_bytes(&json), &again, &err), OK);
        assert_string_equal(type_sql(arena, again), rows[i].sql);
        buffer_fini(&json);
    }
}

static void one_type_or_columns(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"ARRAY<INT>", "array<int>"},
        {"a INT", "struct<a:int>"},
        {"struct<a:int>", "struct<a:int>"},
        {"VARCHAR(3)", "string"},
        {"\"integer\"", "int"},
        {"{\"type\":\"array\",\"elementType\":\"long\",\"containsNull\":true}", "array<bigint>"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct type *type = NULL;
        struct error err = ERROR_INIT;
        assert_int_equal(type_parse(arena, bytes_of_text(rows[i][0]), &type, &err), OK);
        assert_string_equal(type_name(arena, type), rows[i][1]);
    }
}

static void wrong_texts_are_named(void **state)
{
    (void)state;
    static const struct {
        bool schema;
        const char *text;
        enum status status;
        const char *parameter;
        const char *value;
        int position;
    } rows[] = {
        {false, "a INTT", STATUS_PARSE_SYNTAX_ERROR, "hint", ": extra input 'INTT'", 2},
        {true, "a INTT", STATUS_UNSUPPORTED_DATATYPE, "typeName", "\"INTT\"", 2},
        {true, "a INT,", STATUS_PARSE_SYNTAX_ERROR, "error", "end of input", 6},
        {true, "a: INT", STATUS_PARSE_SYNTAX_ERROR, "error", "':'", 1},
        {true, "a-b INT", STATUS_PARSE_SYNTAX_ERROR, "error", "'-'", 1},
        {true, "1a.b INT", STATUS_PARSE_SYNTAX_ERROR, "error", "'.'", 2},
        {true, "1.a INT", STATUS_PARSE_SYNTAX_ERROR, "error", "'1'", 0},
        {true, "", STATUS_PARSE_EMPTY_STATEMENT, NULL, NULL, 0},
        {false, "FOO", STATUS_UNSUPPORTED_DATATYPE, "typeName", "\"FOO\"", 0},
        {false, "DECIMAL(39,0)", STATUS_DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION, "precision", "39",
         0},
        {false, "DECIMAL(5,6)", STATUS_DECIMAL_SCALE_EXCEEDS_PRECISION, "scale", "6", 0},
        {false, "ARRAY", STATUS_INCOMPLETE_TYPE_DEFINITION__ARRAY, "elementType", "<INT>", 0},
        {false, "VARCHAR", STATUS_DATATYPE_MISSING_SIZE, "type", "\"VARCHAR\"", 0},
        {true, "a VARCHAR(3)", STATUS_UNSUPPORTED_CHAR_OR_VARCHAR_AS_STRING, NULL, NULL, 2},
        {false, "{\"type\":\"int\"}", STATUS_INVALID_JSON_DATA_TYPE, NULL, NULL, -1},
        {false, "\"int\"", STATUS_INVALID_JSON_DATA_TYPE, "invalidType", "\"int\"", -1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct type *type = NULL;
        struct error err = ERROR_INIT;
        struct bytes text = bytes_of_text(rows[i].text);
        enum status status = rows[i].schema ? type_parse_schema(arena, text, &type, &err)
                                            : type_parse(arena, text, &type, &err);
        assert_int_equal(status, rows[i].status);
        if (rows[i].parameter != NULL)
            assert_string_equal(error_param(&err, rows[i].parameter), rows[i].value);
        assert_int_equal(err.position, rows[i].position);
    }
}

static void nesting_is_limited(void **state)
{
    (void)state;
    struct buffer text = {0};
    for (int i = 0; i < 5000; i++)
        buffer_add_text(&text, "ARRAY<");
    const struct type *type = NULL;
    struct error err = ERROR_INIT;
    assert_int_equal(type_parse(arena, buffer_bytes(&text), &type, &err), STATUS_LIMIT_EXCEEDED);
    buffer_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_read),
        cmocka_unit_test(one_type_or_columns),
        cmocka_unit_test(wrong_texts_are_named),
        cmocka_unit_test(nesting_is_limited),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
