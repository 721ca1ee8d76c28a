/* Runs and packed bits against the examples of the specification. */
#include "parquet/rle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_encoded(struct rle_encoder *encoder, const char *expected, size_t size)
{
    rle_end(encoder);
    assert_int_equal(encoder->out.size_bytes, size);
    assert_memory_equal(encoder->out.data, expected, size);
    rle_clear(encoder);
}
#define ASSERT_ENCODED(encoder, text) assert_encoded(encoder, text, sizeof(text) - 1)

static void eight_values_of_three_bits_are_the_specifications(void **state)
{
    (void)state;
    struct rle_encoder encoder = {.width = 3};
    for (uint32_t i = 0; i < 8; i++)
        rle_add(&encoder, i);
    ASSERT_ENCODED(&encoder, "\x03\x88\xc6\xfa");
    rle_fini(&encoder);
}

static void the_last_group_is_filled_with_zeroes(void **state)
{
    (void)state;
    struct rle_encoder encoder = {.width = 1};
    rle_add(&encoder, 1);
    rle_add(&encoder, 0);
    rle_add(&encoder, 1);
    ASSERT_ENCODED(&encoder, "\x03\x05");
    rle_fini(&encoder);
}

static void eight_times_the_same_is_a_run(void **state)
{
    (void)state;
    struct rle_encoder encoder = {.width = 1};
    for (int i = 0; i < 8; i++)
        rle_add(&encoder, 1);
    ASSERT_ENCODED(&encoder, "\x10\x01");
    rle_add_run(&encoder, 1, 20000);
    ASSERT_ENCODED(&encoder, "\xc0\xb8\x02\x01");
    encoder.width = 17; /* three bytes a value */
    rle_add_run(&encoder, 0x10203, 9);
    ASSERT_ENCODED(&encoder, "\x12\x03\x02\x01");
    rle_fini(&encoder);
}

static void packed_and_run_take_turns(void **state)
{
    (void)state;
    struct rle_encoder encoder = {.width = 2};
    for (uint32_t i = 0; i < 8; i++)
        rle_add(&encoder, i & 3);
    rle_add_run(&encoder, 2, 100);
    rle_add(&encoder, 1);
    ASSERT_ENCODED(&encoder, "\x03\xe4\xe4\xc8\x01\x02\x03\x01\x00");
    rle_fini(&encoder);
}

/* What is read back by a decoder of its own has to be what went in, whatever the pattern. */
static void every_width_and_pattern_comes_back(void **state)
{
    (void)state;
    uint32_t random = 12345;
    for (unsigned width = 1; width <= 32; width++) {
        struct rle_encoder encoder = {.width = width};
        uint32_t values[3000], count = 0;
        uint32_t mask = width == 32 ? UINT32_MAX : (1U << width) - 1;
        while (count < 2000) {
            random = random * 1664525 + 1013904223;
            uint32_t run = random >> 30 == 0 ? random >> 20 & 31 : 1;
            rle_add_run(&encoder, (random ^ random >> 7) & mask, run);
            for (uint32_t i = 0; i < run; i++)
                values[count++] = (random ^ random >> 7) & mask;
        }
        rle_end(&encoder);
        uint32_t done = 0;
        const uint8_t *at = encoder.out.data, *end = at + encoder.out.size_bytes;
        while (at < end) {
            uint64_t head = 0;
            for (unsigned shift = 0;; shift += 7) {
                head |= (uint64_t)(*at & 0x7f) << shift;
                if ((*at++ & 0x80) == 0)
                    break;
            }
            uint64_t items = head & 1 ? (head >> 1) * 8 : head >> 1;
            for (uint64_t i = 0; i < items; i++) {
                uint32_t value = 0;
                for (unsigned bit = 0; bit < width; bit++) {
                    uint64_t place = head & 1 ? i * width + bit : bit;
                    value |= (uint32_t)(at[place / 8] >> place % 8 & 1) << bit;
                }
                if (done < count)
                    assert_int_equal(value, values[done]);
                done++;
            }
            at += head & 1 ? (head >> 1) * width : (width + 7) / 8;
        }
        assert_true(done >= count && done < count + 8 && at == end);
        rle_fini(&encoder);
    }
}

static void the_width_holds_the_greatest_value(void **state)
{
    (void)state;
    assert_int_equal(rle_width(0), 0);
    assert_int_equal(rle_width(1), 1);
    assert_int_equal(rle_width(4), 3);
    assert_int_equal(rle_width(UINT32_MAX), 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_values_of_three_bits_are_the_specifications),
        cmocka_unit_test(the_last_group_is_filled_with_zeroes),
        cmocka_unit_test(eight_times_the_same_is_a_run),
        cmocka_unit_test(packed_and_run_take_turns),
        cmocka_unit_test(every_width_and_pattern_comes_back),
        cmocka_unit_test(the_width_holds_the_greatest_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
