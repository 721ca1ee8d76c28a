#include "base/arena_own.h"
#include "base/buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void limits_are_errors_and_never_wrap(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct arena *arena = arena_new("request", 1 << 16);
    void *out = NULL;
    assert_int_equal(arena_alloc(arena, SIZE_MAX / 2, 4, &out, &err), STATUS_LIMIT_EXCEEDED);
    assert_int_equal(arena_alloc(arena, 1 << 17, 1, &out, &err), STATUS_LIMIT_EXCEEDED);
    assert_null(out);
    assert_int_equal(arena_alloc(arena, 100, 8, &out, &err), OK);
    assert_true(arena_used_bytes(arena) >= 800);
    assert_int_equal((uintptr_t)out % 16, 0);
    arena_free(arena);
}

static void reset_gives_zeroed_memory_again(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct arena *arena = arena_new("batch", 0);
    for (int round = 0; round < 3; round++) {
        for (size_t size = 1; size < 100000; size *= 3) {
            void *out = NULL;
            assert_int_equal(arena_alloc(arena, 1, size, &out, &err), OK);
            for (size_t i = 0; i < size; i++)
                assert_int_equal(((uint8_t *)out)[i], 0);
            memset(out, 0xff, size);
        }
        assert_string_equal(arena_sprintf(arena, "%d-%s", round, "x"), round == 0   ? "0-x"
                                                                       : round == 1 ? "1-x"
                                                                                    : "2-x");
        arena_reset(arena);
        assert_int_equal(arena_used_bytes(arena), 0);
    }
    arena_trim(arena);
    arena_free(arena);
}

static void a_buffer_grows_and_quotes(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    for (int i = 0; i < 1000; i++)
        buffer_printf(&buffer, "%d,", i);
    assert_int_equal(buffer.size_bytes, 3890);
    buffer_clear(&buffer);
    buffer_add_json_string(&buffer, bytes_of("a\"\\\n\xff\x01", 6));
    assert_string_equal(buffer_text(&buffer), "\"a\\\"\\\\\\n\xef\xbf\xbd\\u0001\"");
    buffer_fini(&buffer);
}

static void what_grows_leaves_nothing_behind(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct arena *arena = arena_new("test", 1000);
    void *first = NULL, *second = NULL;
    assert_int_equal(arena_own_resize(arena, NULL, 10, &first, &err), OK);
    memset(first, 'a', 10);
    assert_int_equal(arena_own_resize(arena, NULL, 20, &second, &err), OK);
    memset(second, 'b', 20);
    for (size_t size = 11; size <= 900; size++)
        assert_int_equal(arena_own_resize(arena, first, size, &first, &err), OK);
    assert_int_equal(arena_used_bytes(arena), 920);
    assert_memory_equal(first, "aaaaaaaaaa", 10);
    assert_int_equal(arena_own_resize(arena, second, 101, &second, &err), STATUS_LIMIT_EXCEEDED);
    error_clear(&err);
    assert_int_equal(arena_own_resize(arena, second, 100, &second, &err), OK);
    assert_memory_equal(second, "bbbbbbbbbb", 10);
    arena_reset(arena);
    assert_int_equal(arena_used_bytes(arena), 0);
    assert_int_equal(arena_own_resize(arena, NULL, 1000, &first, &err), OK);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_grows_leaves_nothing_behind),
        cmocka_unit_test(limits_are_errors_and_never_wrap),
        cmocka_unit_test(reset_gives_zeroed_memory_again),
        cmocka_unit_test(a_buffer_grows_and_quotes),
    };
    return cmocka_run_group_tests_name("base/arena", tests, NULL, NULL);
}
