/* What types become, and which of them the format cannot hold. */
#include "parquet/parquet_schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct arena *arena;
static struct parquet_schema schema;

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

static struct parquet_schema_error build(const char *columns)
{
    struct error err = ERROR_INIT;
    const struct type *type = NULL;
    assert_int_equal(type_parse_schema(arena, bytes_of_text(columns), &type, &err), OK);
    return parquet_schema_build(arena, type, PARQUET_TIMESTAMPS_INT96, &schema);
}

static void decimals_take_the_bytes_of_their_precision(void **state)
{
    (void)state;
    static const struct {
        const char *columns;
        enum parquet_type type;
        uint32_t width;
    } cases[] = {
        {"d DECIMAL(9,2)", PARQUET_INT32, 4},   {"d DECIMAL(10,0)", PARQUET_INT64, 8},
        {"d DECIMAL(18,2)", PARQUET_INT64, 8},  {"d DECIMAL(19,0)", PARQUET_FIXED, 9},
        {"d DECIMAL(20,0)", PARQUET_FIXED, 9},  {"d DECIMAL(21,0)", PARQUET_FIXED, 9},
        {"d DECIMAL(28,0)", PARQUET_FIXED, 12}, {"d DECIMAL(38,9)", PARQUET_FIXED, 16},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(build(cases[i].columns).result, PARQUET_SCHEMA_OK);
        assert_int_equal(schema.leaves[0].type, cases[i].type);
        assert_int_equal(schema.leaves[0].width, cases[i].width);
    }
}

static void each_leaf_has_its_path_and_levels(void **state)
{
    (void)state;
    assert_int_equal(build("a INT, m MAP<STRING, ARRAY<INT>>, s STRUCT<x: VARIANT>").result,
                     PARQUET_SCHEMA_OK);
    static const struct {
        const char *path;
        uint8_t definitions, repetitions;
    } leaves[] = {
        {"a", 1, 0},
        {"m.key_value.key", 2, 1},
        {"m.key_value.value.list.element", 5, 2},
        {"s.x.metadata", 2, 0},
        {"s.x.value", 2, 0},
    };
    assert_int_equal(schema.leaf_count, 5);
    for (size_t i = 0; i < 5; i++) {
        const struct parquet_leaf *leaf = &schema.leaves[i];
        struct buffer path = {0};
        for (uint32_t j = 0; j < leaf->path_count; j++)
            buffer_printf(&path, "%s%s", j == 0 ? "" : ".", leaf->path[j]);
        assert_string_equal(buffer_text(&path), leaves[i].path);
        assert_int_equal(leaf->definition_max, leaves[i].definitions);
        assert_int_equal(leaf->repetition_max, leaves[i].repetitions);
        buffer_fini(&path);
    }
}

/* Spark reads no VARIANT of version 0. */
static void a_variant_says_its_version(void **state)
{
    (void)state;
    static const char logical_type[] = "\x0c\x20\x13\x01\x00"; /* member 16 of the union, field 1 */
    assert_int_equal(build("v VARIANT").result, PARQUET_SCHEMA_OK);
    assert_non_null(memmem(schema.elements.data, schema.elements.size_bytes, logical_type,
                           sizeof logical_type - 1));
}

static void what_cannot_be_held_names_its_column(void **state)
{
    (void)state;
    struct parquet_schema_error wrong = build("a INT, b ARRAY<INTERVAL>");
    assert_int_equal(wrong.result, PARQUET_SCHEMA_NO_SUCH_TYPE);
    assert_int_equal(wrong.column, 1);
    assert_int_equal(build("a STRUCT<>").result, PARQUET_SCHEMA_NO_SUCH_TYPE);
    wrong = build("a INT, b STRUCT<x: INT, x: INT>");
    assert_int_equal(wrong.result, PARQUET_SCHEMA_REPEATED_NAME);
    assert_string_equal(wrong.name, "x");
    assert_int_equal(build("a INT, A INT").result, PARQUET_SCHEMA_OK);
    assert_int_equal(build("v VOID").result, PARQUET_SCHEMA_OK);
}

static void depth_has_a_limit(void **state)
{
    (void)state;
    const struct type *type = type_simple(TYPE_INT);
    for (int i = 0; i < 300; i++)
        type = type_array(arena, type, true);
    struct type_field field = {.name = "a", .type = type, .nullable = true};
    const struct type *root = type_struct(arena, &field, 1);
    assert_int_equal(parquet_schema_build(arena, root, PARQUET_TIMESTAMPS_INT96, &schema).result,
                     PARQUET_SCHEMA_TOO_DEEP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(decimals_take_the_bytes_of_their_precision, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(each_leaf_has_its_path_and_levels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_held_names_its_column, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_variant_says_its_version, set_up, tear_down),
        cmocka_unit_test_setup_teardown(depth_has_a_limit, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
