/* The compact protocol against bytes of its specification, and a page head of a known file. */
#include "parquet/thrift.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_bytes(struct buffer *out, const char *expected, size_t size)
{
    assert_int_equal(out->size_bytes, size);
    assert_memory_equal(out->data, expected, size);
    buffer_fini(out);
}
#define ASSERT_BYTES(out, text) assert_bytes(out, text, sizeof(text) - 1)

static void unsigned_numbers_have_seven_bits_a_byte(void **state)
{
    (void)state;
    struct buffer out = {0};
    thrift_varint(&out, 0);
    thrift_varint(&out, 127);
    thrift_varint(&out, 300);
    thrift_varint(&out, UINT64_MAX);
    ASSERT_BYTES(&out, "\x00\x7f\xac\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

static void signed_numbers_go_back_and_forth(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct thrift thrift = thrift_to(&out);
    thrift_i32(&thrift, 1, -1);
    thrift_i64(&thrift, 2, INT64_MIN);
    thrift_i16(&thrift, 3, 2);
    thrift_i8(&thrift, 4, -2);
    thrift_end(&thrift);
    ASSERT_BYTES(&out, "\x15\x01\x16\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x14\x04\x13\xfe\x00");
}

static void the_head_of_a_field_far_away_has_its_id(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct thrift thrift = thrift_to(&out);
    thrift_bool(&thrift, 1, true);
    thrift_bool(&thrift, 16, false); /* 15 on: still in four bits */
    thrift_text(&thrift, 32, "ab");
    thrift_end(&thrift);
    ASSERT_BYTES(&out, "\x11\xf2\x08\x40\x02"
                       "ab\x00");
}

static void the_ids_of_a_struct_within_begin_anew(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct thrift thrift = thrift_to(&out);
    thrift_i32(&thrift, 1, 0); /* a data page of 22 bytes, three values */
    thrift_i32(&thrift, 2, 22);
    thrift_i32(&thrift, 3, 22);
    thrift_struct(&thrift, 5);
    thrift_i32(&thrift, 1, 3);
    thrift_i32(&thrift, 2, 0);
    thrift_i32(&thrift, 3, 3);
    thrift_i32(&thrift, 4, 3);
    thrift_end(&thrift);
    thrift_end(&thrift);
    ASSERT_BYTES(&out, "\x15\x00\x15\x2c\x15\x2c\x2c\x15\x06\x15\x00\x15\x06\x15\x06\x00\x00");
}

static void long_lists_have_their_size_behind_the_head(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct thrift thrift = thrift_to(&out);
    thrift_list(&thrift, 1, THRIFT_I32, 2);
    thrift_item_i32(&thrift, 1);
    thrift_item_i32(&thrift, -1);
    thrift_list(&thrift, 2, THRIFT_STRUCT, 15);
    thrift_list(&thrift, 3, THRIFT_BINARY, 1);
    thrift_item_text(&thrift, "x");
    ASSERT_BYTES(&out, "\x19\x25\x02\x01\x19\xfc\x0f\x19\x18\x01x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unsigned_numbers_have_seven_bits_a_byte),
        cmocka_unit_test(signed_numbers_go_back_and_forth),
        cmocka_unit_test(the_head_of_a_field_far_away_has_its_id),
        cmocka_unit_test(the_ids_of_a_struct_within_begin_anew),
        cmocka_unit_test(long_lists_have_their_size_behind_the_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
