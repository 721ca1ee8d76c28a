/* A VARIANT has a largest size, which a cast tells. */
#include "base/check.h"
#include "expr/fn_variant.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void a_value_too_large_is_refused(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct arena *arena = arena_new("test", 0);
    struct vector *in = NULL;
    struct vector *out = NULL;
    struct eval_context ctx = {.arena = arena, .zone = timezone_utc()};
    struct expr cast = {.kind = EXPR_CAST, .type = type_simple(TYPE_VARIANT)};
    struct cast_rows rows = {.selected = 1, .rows = 1};
    uint8_t *text = malloc(VARIANT_BYTES_MAX);
    assert_non_null(text);
    memset(text, 'x', VARIANT_BYTES_MAX);
    assert_int_equal(vector_new(arena, type_simple(TYPE_STRING), 1, &in, &err), OK);
    VECTOR_VALUES(struct bytes, in)[0] = bytes_of(text, VARIANT_BYTES_MAX);
    assert_int_equal(cast_vector(&ctx, &cast, in, &rows, &out, &err), STATUS_VARIANT_SIZE_LIMIT);
    assert_non_null(strstr(err.text, "128.0 MiB"));
    error_clear(&err);
    VECTOR_VALUES(struct bytes, in)[0] = bytes_of(text, 1000);
    assert_int_equal(cast_vector(&ctx, &cast, in, &rows, &out, &err), OK);
    struct variant variant = variant_of_cell(VECTOR_VALUES(struct bytes, out)[0]);
    struct variant_item item;
    variant_read(&variant, &item);
    assert_int_equal(item.kind, VARIANT_STRING);
    assert_int_equal(item.text.size_bytes, 1000);
    free(text);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_value_too_large_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
