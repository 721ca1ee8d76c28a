#include "base/buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void what_is_above_the_limit_is_dropped_and_said(void **state)
{
    (void)state;
    static const uint8_t piece[1000] = {'x'};
    struct buffer_limit limit = {.bytes_max = 5000};
    struct buffer buffer = {0};
    buffer_limit_begin(&limit);
    for (int i = 0; i < 5; i++)
        buffer_add(&buffer, piece, sizeof piece);
    assert_int_equal(buffer.size_bytes, 5000);
    assert_false(buffer_limit_refused());
    buffer_add_byte(&buffer, 'y');
    assert_true(buffer_limit_refused());
    buffer_add(&buffer, piece, sizeof piece);
    buffer_printf(&buffer, "%d", 17);
    buffer_add_repeated(&buffer, '0', INT64_C(1) << 50);
    assert_int_equal(buffer.size_bytes, 5000);
    memset(buffer.data + buffer.size_bytes, 0, BUFFER_SLACK); /* as code does that patches */
    assert_int_equal(buffer_text(&buffer)[0], 'x');
    buffer_limit_end(&limit);
    assert_false(buffer_limit_refused());
    assert_true(limit.refused);
    buffer_add_repeated(&buffer, 'z', 3);
    assert_int_equal(buffer.size_bytes, 5003);
    buffer_fini(&buffer);
}

static void limits_nest(void **state)
{
    (void)state;
    struct buffer_limit outer = {.bytes_max = 1 << 20}, inner = {.bytes_max = 4096};
    struct buffer buffer = {0};
    buffer_limit_begin(&outer);
    buffer_limit_begin(&inner);
    buffer_add_repeated(&buffer, 'a', 4097);
    assert_true(buffer_limit_refused());
    buffer_limit_end(&inner);
    assert_false(buffer_limit_refused());
    buffer_add_repeated(&buffer, 'a', 4097);
    buffer_add_repeated(&buffer, 'a', -1);
    assert_int_equal(buffer.size_bytes, 4097);
    buffer_limit_end(&outer);
    assert_false(outer.refused);
    buffer_fini(&buffer);
}

static void memory_that_cannot_be_had_is_refused(void **state)
{
    (void)state;
    struct buffer_limit limit = {.bytes_max = SIZE_MAX};
    struct buffer buffer = {0};
    buffer_limit_begin(&limit);
    buffer_add_text(&buffer, "kept");
    buffer_add_repeated(&buffer, 'a', INT64_MAX);
    assert_true(buffer_limit_refused());
    buffer_limit_end(&limit);
    assert_string_equal(buffer_text(&buffer), "kept");
    buffer_fini(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_above_the_limit_is_dropped_and_said),
        cmocka_unit_test(limits_nest),
        cmocka_unit_test(memory_that_cannot_be_had_is_refused),
    };
    return cmocka_run_group_tests_name("base/buffer", tests, NULL, NULL);
}
