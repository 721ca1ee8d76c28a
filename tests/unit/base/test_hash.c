#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Partitions of checkpoints depend on these numbers: they never change. */
static void the_function_is_fixed(void **state)
{
    (void)state;
    assert_int_equal(hash_bytes("", 0), 0x2d06800538d394c2U);
    assert_int_equal(hash_bytes("abc", 3), 0x78af5f94892f3950U);
    assert_int_equal(hash_u64(0), 0);
    assert_int_not_equal(hash_u64(1), 1);
    assert_int_not_equal(hash_bytes_seeded("abc", 3, 1), hash_bytes("abc", 3));
}

static void buckets_are_even(void **state)
{
    (void)state;
    uint32_t counts[8] = {0};
    for (uint64_t i = 0; i < 80000; i++)
        counts[hash_bucket(hash_u64(i + 1), 8)]++;
    for (int i = 0; i < 8; i++)
        assert_in_range(counts[i], 9500, 10500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_function_is_fixed),
        cmocka_unit_test(buckets_are_even),
    };
    return cmocka_run_group_tests_name("base/hash", tests, NULL, NULL);
}
