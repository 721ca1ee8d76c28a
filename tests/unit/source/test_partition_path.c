#include "source/partition_path.h"

#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new("request", 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static void directories_become_columns(void **state)
{
    (void)state;
    static const struct {
        const char *root;
        const char *dir;
        const char *columns; /* "name=raw;..." or a condition */
        const char *base;
    } cases[] = {
        {"/in", "/in", "", "/in"},
        {"/in", "/in/p=1", "p=1;", "/in"},
        {"/in", "/in/p=1/q=x", "p=1;q=x;", "/in"},
        {"/in", "/in/other", "", "/in/other"},
        {"/in", "/in/p=1/other", "p=1;", "/in"},
        {"/in", "/in/sub/p=1", "p=1;", "/in/sub"},
        {"/in", "/in/p=x=y", "p=x=y;", "/in"},
        {"/in", "/in/p%3Dq=1", "p=q=1;", "/in"},
        {"/in", "/in/p%00q=1", "p%00q=1;", "/in"},
        {"/in", "/in/%00=1", "%00=1;", "/in"},
        {"/in/p=1", "/in/p=1", "", "/in/p=1"},
        {"/in", "/in/p=", "EMPTY_PARTITION_COLUMN_VALUE", NULL},
        {"/in", "/in/=1", "EMPTY_PARTITION_COLUMN_NAME", NULL},
        {"/in", "/in/p=1/P=2", "COLUMN_ALREADY_EXISTS", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = ERROR_INIT;
        struct partition_dir dir;
        print_message("%s\n", cases[i].dir);
        enum status status = partition_path_parse(arena, cases[i].root, cases[i].dir, &dir, &err);
        if (cases[i].base == NULL) {
            assert_string_equal(status_name(status), cases[i].columns);
            continue;
        }
        assert_int_equal(status, OK);
        char *text = arena_strdup(arena, "");
        for (uint32_t c = 0; c < dir.count; c++)
            text = arena_sprintf(arena, "%s%s=%s;", text, dir.columns[c].name, dir.columns[c].raw);
        assert_string_equal(text, cases[i].columns);
        assert_string_equal(dir.base, cases[i].base);
    }
}

static void types_are_inferred_and_widened(void **state)
{
    (void)state;
    static const struct {
        const char *first;
        const char *second;
        const char *want;
    } cases[] = {
        {"01", "+2", "int"},
        {"1", "9223372036854775808", "decimal(19,0)"},
        {"1", "1.5", "double"},
        {"2147483648", "1.5", "string"},
        {"2147483648", "1", "bigint"},
        {"1", "x", "string"},
        {"1d", "0x1p3", "double"},
        {"NaN", "1", "double"},
        {"nan", "1", "string"},
        {"true", "false", "string"},
        {"2024-05-01", "2024-02-29", "date"},
        {"2024-02-30", "2024-05-01", "string"},
        {"2024-05-01", "2024-05-01 10%3A20%3A30", "timestamp"},
        {"2024-05-01", "7", "string"},
        {"2024-05-01 10%3A20%3A30%00", "2024-05-01", "string"},
        {" 1", "2 ", "double"},
        {"1", "__HIVE_DEFAULT_PARTITION__", "int"},
        {"__HIVE_DEFAULT_PARTITION__", "__HIVE_DEFAULT_PARTITION__", "void"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s, %s\n", cases[i].first, cases[i].second);
        const struct type *type =
            partition_type_widen(arena, partition_value_type(arena, cases[i].first),
                                 partition_value_type(arena, cases[i].second));
        assert_string_equal(type_name(arena, type), cases[i].want);
    }
}

static void values_are_cast(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct vector *vector = NULL;
    struct type_field field = {.name = "p", .type = type_simple(TYPE_STRING), .nullable = true};
    struct partition_column column = {.name = "p", .raw = "a%2Fb %C3%A9"};
    assert_int_equal(partition_value_cast(arena, &column, &field, timezone_utc(), &vector, &err),
                     OK);
    assert_true(vector->constant);
    assert_true(
        bytes_equal(VECTOR_VALUES(struct bytes, vector)[0], bytes_of_text("a/b \xc3\x83\xc2\xa9")));
    column.raw = "seven";
    field.type = type_simple(TYPE_INT);
    assert_int_equal(partition_value_cast(arena, &column, &field, timezone_utc(), &vector, &err),
                     STATUS_INVALID_PARTITION_VALUE);
    column.raw = PARTITION_DEFAULT;
    assert_int_equal(partition_value_cast(arena, &column, &field, timezone_utc(), &vector, &err),
                     OK);
    assert_true(vector_is_null(vector, 0));
    field.type = type_array(arena, type_simple(TYPE_INT), true);
    assert_int_equal(partition_value_cast(arena, &column, &field, timezone_utc(), &vector, &err),
                     STATUS_UNSUPPORTED_PARTITION_TYPE);
}

/* The value of a directory as a STRING, or as a BINARY. */
static void assert_value(const char *raw, struct bytes want)
{
    static const enum type_id types[] = {TYPE_STRING, TYPE_BINARY};
    struct partition_column column = {.name = "p", .raw = raw};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct error err = ERROR_INIT;
        struct vector *vector = NULL;
        struct type_field field = {.name = "p", .type = type_simple(types[i]), .nullable = true};
        assert_int_equal(
            partition_value_cast(arena, &column, &field, timezone_utc(), &vector, &err), OK);
        assert_false(vector_is_null(vector, 0));
        assert_true(bytes_equal(VECTOR_VALUES(struct bytes, vector)[0], want));
    }
}

static void every_character_comes_back(void **state)
{
    (void)state;
    for (unsigned code = 0; code < 256; code++) { /* escaped, between others */
        uint8_t encoded[4];
        size_t size = utf8_encode(code, encoded);
        assert_value(arena_sprintf(arena, "%%%02X", code), bytes_of(encoded, size));
        char want[8] = "a";
        memcpy(want + 1, encoded, size);
        want[1 + size] = 'b';
        assert_value(arena_sprintf(arena, "a%%%02xb", code), bytes_of(want, size + 2));
    }
    for (unsigned byte = 1; byte < 256; byte++) { /* as it is, what a directory's name can hold */
        char raw[] = {'a', (char)byte, 'z', '\0'};
        if (byte != '/')
            assert_value(raw, bytes_of_text(raw));
    }
    assert_value("%5F%5FHIVE_DEFAULT_PARTITION__", bytes_of_text(PARTITION_DEFAULT));
}

static void a_value_with_nul_is_no_number_or_date(void **state)
{
    (void)state;
    static const enum type_id types[] = {TYPE_BOOLEAN,      TYPE_INT,  TYPE_LONG,
                                         TYPE_DOUBLE,       TYPE_DATE, TYPE_TIMESTAMP,
                                         TYPE_TIMESTAMP_NTZ};
    static const char *const raws[] = {"true%00x",      "7%00x",          "7%00x",
                                       "1.5%00x",       "2024-05-01%00x", "2024-05-01%00x",
                                       "2024-05-01%00x"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct error err = ERROR_INIT;
        struct vector *vector = NULL;
        struct type_field field = {.name = "p", .type = type_simple(types[i]), .nullable = true};
        struct partition_column column = {.name = "p", .raw = raws[i]};
        assert_int_equal(
            partition_value_cast(arena, &column, &field, timezone_utc(), &vector, &err),
            STATUS_INVALID_PARTITION_VALUE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(directories_become_columns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(types_are_inferred_and_widened, set_up, tear_down),
        cmocka_unit_test_setup_teardown(values_are_cast, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_character_comes_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_value_with_nul_is_no_number_or_date, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("source/partition_path", tests, NULL, NULL);
}
