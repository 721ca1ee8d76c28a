#include "base/check.h"
#include "columnar/variant.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct variant_json_options strict;

static struct bytes cell_of(struct variant_builder *builder, const char *json)
{
    struct bytes repeated;
    struct bytes cell;
    variant_builder_clear(builder);
    assert_int_equal(variant_add_json(builder, bytes_of_text(json), &strict, &repeated),
                     VARIANT_JSON_OK);
    assert_true(variant_finish(builder, &cell));
    return cell;
}

static void check_json(const char *json, const char *printed)
{
    struct variant_builder builder = {0};
    struct variant_builder again = {0};
    struct buffer text = {0};
    struct variant variant = variant_of_cell(cell_of(&builder, json));
    struct bytes copy;
    assert_true(variant_is_valid(&variant));
    variant_print_json(&text, &variant, timezone_utc());
    assert_string_equal(buffer_text(&text), printed);
    variant_add(&again, &variant);
    assert_true(variant_finish(&again, &copy));
    variant = variant_of_cell(copy);
    buffer_clear(&text);
    variant_print_json(&text, &variant, timezone_utc());
    assert_string_equal(buffer_text(&text), printed);
    buffer_fini(&text);
    variant_builder_fini(&builder);
    variant_builder_fini(&again);
}

static void values_come_back(void **state)
{
    (void)state;
    check_json("null", "null");
    check_json(" [true, false,-1, 128,40000 ,3000000000] ", "[true,false,-1,128,40000,3000000000]");
    check_json("9223372036854775808", "9223372036854775808");
    check_json("[1.50, -0.001, 1e2, 12345678901234567890.5]",
               "[1.5,-0.001,100.0,12345678901234567890.5]");
    check_json("\"a\\\"\\u00e9\\ud83d\\ude00\\n\"", "\"a\\\"\xc3\xa9\xf0\x9f\x98\x80\\n\"");
    check_json("{\"b\":{\"c\":[]},\"a\":{},\"\":1}", "{\"\":1,\"a\":{},\"b\":{\"c\":[]}}");
    check_json("\"0123456789012345678901234567890123456789012345678901234567890123456789\"",
               "\"0123456789012345678901234567890123456789012345678901234567890123456789\"");
}

static void wide_containers_come_back(void **state)
{
    (void)state;
    struct buffer json = {0};
    buffer_add_byte(&json, '{');
    for (int i = 1000; i < 1700; i++)
        buffer_printf(&json, "%s\"k%d\":[%d,\"%0100d\"]", i > 1000 ? "," : "", i, i, i);
    buffer_add_byte(&json, '}');
    char *text = strdup(buffer_text(&json));
    check_json(text, text);
    free(text);
    buffer_fini(&json);
}

static void a_field_is_found(void **state)
{
    (void)state;
    struct variant_builder builder = {0};
    struct variant_item item;
    struct variant field;
    struct variant variant = variant_of_cell(cell_of(&builder, "{\"b\":2,\"a\":1,\"bb\":3}"));
    variant_read(&variant, &item);
    assert_int_equal(item.kind, VARIANT_OBJECT);
    assert_int_equal(item.count, 3);
    assert_true(variant_field(&variant, &item, bytes_of_text("bb"), &field));
    variant_read(&field, &item);
    assert_int_equal(item.integer, 3);
    variant_read(&variant, &item);
    assert_false(variant_field(&variant, &item, bytes_of_text("c"), &field));
    assert_false(variant_field(&variant, &item, bytes_of_text(""), &field));
    variant_builder_fini(&builder);
}

static void repeated_names_are_told(void **state)
{
    (void)state;
    const struct variant_json_options last = {.repeated_names = true};
    struct variant_builder builder = {0};
    struct buffer text = {0};
    struct bytes repeated;
    struct bytes cell;
    struct bytes json = bytes_of_text("{\"x\":1,\"y\":0,\"x\":2}");
    assert_int_equal(variant_add_json(&builder, json, &strict, &repeated),
                     VARIANT_JSON_REPEATED_NAME);
    assert_memory_equal(repeated.data, "x", 1);
    variant_builder_clear(&builder);
    assert_int_equal(variant_add_json(&builder, json, &last, &repeated), VARIANT_JSON_OK);
    assert_true(variant_finish(&builder, &cell));
    struct variant variant = variant_of_cell(cell);
    variant_print_json(&text, &variant, timezone_utc());
    assert_string_equal(buffer_text(&text), "{\"x\":2,\"y\":0}");
    buffer_fini(&text);
    variant_builder_fini(&builder);
}

static void malformed_texts_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",        " ",         "[1",  "[1,]",   "{\"a\"}", "{\"a\":}", "{a:1}", "{'a':1}",
        "01",      "-",         "1.",  "1e",     ".5",      "tru",      "truex", "nul",
        "\"\\x\"", "\"\\u12\"", "\"a", "\"\n\"", "NaN",     "[1 2]",    "{,}",   "]",
    };
    struct variant_builder builder = {0};
    struct bytes repeated;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        variant_builder_clear(&builder);
        assert_int_equal(variant_add_json(&builder, bytes_of_text(texts[i]), &strict, &repeated),
                         VARIANT_JSON_MALFORMED);
    }
    char deep[2 * VARIANT_DEPTH_MAX + 100];
    memset(deep, '[', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    variant_builder_clear(&builder);
    assert_int_equal(variant_add_json(&builder, bytes_of_text(deep), &strict, &repeated),
                     VARIANT_JSON_MALFORMED);
    variant_builder_fini(&builder);
}

/* Whatever a bit says: reading ends, and within the bytes (the sanitizer looks). */
static void damaged_bytes_do_no_harm(void **state)
{
    (void)state;
    struct variant_builder builder = {0};
    struct bytes cell =
        cell_of(&builder, "{\"a\":[1,2.5,\"x\",{\"b\":null,\"c\":true}],\"d\":300,\"e\":1e5}");
    struct buffer text = {0};
    for (size_t bit = 0; bit < cell.size_bytes * 8; bit++) {
        uint8_t *copy = malloc(cell.size_bytes);
        assert_non_null(copy);
        memcpy(copy, cell.data, cell.size_bytes);
        copy[bit / 8] ^= (uint8_t)(1U << (bit % 8));
        struct variant variant = variant_of_cell(bytes_of(copy, cell.size_bytes));
        (void)variant_is_valid(&variant);
        buffer_clear(&text);
        variant_print_json(&text, &variant, timezone_utc());
        free(copy);
    }
    for (size_t size = 0; size < cell.size_bytes; size++) {
        uint8_t *copy = malloc(size + 1);
        assert_non_null(copy);
        memcpy(copy, cell.data, size);
        struct variant variant = variant_of_cell(bytes_of(copy, size));
        buffer_clear(&text);
        variant_print_json(&text, &variant, timezone_utc());
        free(copy);
    }
    buffer_fini(&text);
    variant_builder_fini(&builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(wide_containers_come_back),
        cmocka_unit_test(a_field_is_found),
        cmocka_unit_test(repeated_names_are_told),
        cmocka_unit_test(malformed_texts_are_refused),
        cmocka_unit_test(damaged_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
