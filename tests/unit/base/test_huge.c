#include "base/huge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum {
    PIECES = 400
};

static size_t size_of(size_t i)
{
    return HUGE_PIECE_MIN << (i * 7 % 5); /* 64 KiB to 1 MiB */
}

static void pieces_do_not_overlap_and_are_aligned(void **state)
{
    (void)state;
    static uint8_t *pieces[PIECES];
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < PIECES; i++) {
            if (round == 1 && i % 3 != 0)
                continue;
            pieces[i] = huge_alloc(size_of(i));
            assert_int_equal((uintptr_t)pieces[i] % size_of(i), 0);
            memcpy(pieces[i], &i, sizeof i);
            memcpy(pieces[i] + size_of(i) - sizeof i, &i, sizeof i);
        }
        for (size_t i = 0; i < PIECES; i++) {
            assert_memory_equal(pieces[i], &i, sizeof i);
            assert_memory_equal(pieces[i] + size_of(i) - sizeof i, &i, sizeof i);
        }
        for (size_t i = 0; i < PIECES; i += 3)
            if (round == 0)
                huge_free(pieces[i], size_of(i));
    }
    assert_true(huge_mapped_bytes() > 0);
    for (size_t i = 0; i < PIECES; i++)
        huge_free(pieces[i], size_of(i));
    assert_int_equal(huge_mapped_bytes(), 0);
}

static void large_ones_are_mapped_on_their_own(void **state)
{
    (void)state;
    size_t before = huge_mapped_bytes();
    uint8_t *data[8];
    for (size_t i = 0; i < 8; i++) {
        data[i] = huge_alloc(HUGE_REGION * (i + 1));
        assert_int_equal((uintptr_t)data[i] % HUGE_REGION, 0);
        data[i][HUGE_REGION * (i + 1) - 1] = 1;
    }
    for (size_t i = 0; i < 8; i++)
        huge_free(data[i], HUGE_REGION * (i + 1));
    huge_free(NULL, HUGE_REGION);
    assert_int_equal(huge_mapped_bytes(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_do_not_overlap_and_are_aligned),
        cmocka_unit_test(large_ones_are_mapped_on_their_own),
    };
    return cmocka_run_group_tests_name("base/huge", tests, NULL, NULL);
}
