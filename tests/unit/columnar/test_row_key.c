#include "base/check.h"
#include "columnar/row_key.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct arena *arena;
static struct error err;

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

static struct vector *vector_of(const struct type *type, uint32_t rows)
{
    struct vector *vector = NULL;
    assert_int_equal(vector_new(arena, type, rows, &vector, &err), OK);
    assert_int_equal(vector_make_nullable(arena, vector, &err), OK);
    return vector;
}

/* Rows are given in SQL order, NULL first; every pair must compare so by its key. */
static void assert_ordered(struct vector *column)
{
    struct bytes keys[32];
    assert_true(column->length <= 32);
    assert_int_equal(row_key_encode(arena, &column, 1, NULL, column->length, keys, &err), OK);
    for (uint32_t i = 0; i + 1 < column->length; i++)
        assert_true(bytes_compare(keys[i], keys[i + 1]) < 0);
    struct vector *back = NULL;
    assert_int_equal(row_key_decode(arena, &column->type, 1, keys, column->length, &back, &err),
                     OK);
    for (uint32_t i = 0; i < column->length; i++)
        assert_true(vector_equal(column, i, back, i));
}

static void numbers_keep_their_order(void **state)
{
    (void)state;
    static const int64_t longs[] = {0, INT64_MIN, -256, -1, 0, 1, 255, 256, INT64_MAX};
    struct vector *column = vector_of(type_simple(TYPE_LONG), 9);
    memcpy(column->values, longs, sizeof longs);
    vector_set_null(column, 0);
    assert_ordered(column);

    static const double doubles[] = {0, -INFINITY, -1e300, -1.5,     -1e-300,
                                     0, 1e-300,    2,      INFINITY, NAN};
    column = vector_of(type_simple(TYPE_DOUBLE), 10);
    memcpy(column->values, doubles, sizeof doubles);
    vector_set_null(column, 0);
    assert_ordered(column);

    static const int8_t small[] = {-128, -1, 0, 1, 127};
    column = vector_of(type_simple(TYPE_BYTE), 5);
    memcpy(column->values, small, sizeof small);
    assert_ordered(column);

    column = vector_of(type_decimal(arena, 38, 2), 4);
    VECTOR_VALUES(int128, column)[0] = -((int128)1 << 100);
    VECTOR_VALUES(int128, column)[1] = -1;
    VECTOR_VALUES(int128, column)[2] = 1;
    VECTOR_VALUES(int128, column)[3] = (int128)1 << 100;
    assert_ordered(column);
}

static void text_keeps_its_order_with_zero_bytes_inside(void **state)
{
    (void)state;
    struct vector *column = vector_of(type_simple(TYPE_STRING), 7);
    struct bytes *cells = VECTOR_VALUES(struct bytes, column);
    cells[0] = bytes_of("", 0);
    cells[1] = bytes_of("", 0);
    vector_set_null(column, 0);
    cells[2] = bytes_of("\0", 1);
    cells[3] = bytes_of("\0\0", 2);
    cells[4] = bytes_of("a", 1);
    cells[5] = bytes_of("a\0b", 3);
    cells[6] = bytes_of("ab", 2);
    assert_ordered(column);
}

static void arrays_sort_by_their_elements_and_come_back(void **state)
{
    (void)state;
    const struct type *type = type_array(arena, type_simple(TYPE_INT), true);
    struct vector *column = vector_of(type, 5);
    assert_int_equal(vector_resize_child(arena, column, 0, 6, &err), OK);
    struct vector *element = column->children[0];
    assert_int_equal(vector_make_nullable(arena, element, &err), OK);
    static const int32_t values[] = {0, 1, 1, 2, 2, 0};
    memcpy(element->values, values, sizeof values);
    vector_set_null(element, 0);
    /* NULL, [], [NULL], [1], [1, 2] */
    static const struct list_entry entries[] = {{0, 0}, {0, 0}, {0, 1}, {1, 1}, {2, 2}};
    memcpy(column->values, entries, sizeof entries);
    vector_set_null(column, 0);
    assert_ordered(column);
}

static void values_that_group_together_have_one_key(void **state)
{
    (void)state;
    struct vector *column = vector_of(type_simple(TYPE_DOUBLE), 4);
    VECTOR_VALUES(double, column)[0] = 0.0;
    VECTOR_VALUES(double, column)[1] = -0.0;
    VECTOR_VALUES(double, column)[2] = NAN;
    VECTOR_VALUES(double, column)[3] = -NAN;
    struct bytes keys[4];
    assert_int_equal(row_key_encode(arena, &column, 1, NULL, 4, keys, &err), OK);
    assert_true(bytes_equal(keys[0], keys[1]));
    assert_true(bytes_equal(keys[2], keys[3]));
}

static void a_cut_key_is_refused(void **state)
{
    (void)state;
    struct vector *column = vector_of(type_simple(TYPE_STRING), 1);
    VECTOR_VALUES(struct bytes, column)[0] = bytes_of("abc", 3);
    struct bytes key;
    assert_int_equal(row_key_encode(arena, &column, 1, NULL, 1, &key, &err), OK);
    for (size_t size = 0; size < key.size_bytes; size++) {
        struct bytes cut = bytes_of(key.data, size);
        struct vector *out = NULL;
        assert_int_equal(row_key_decode(arena, &column->type, 1, &cut, 1, &out, &err),
                         STATUS_CHECKSUM_MISMATCH);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_keep_their_order),
        cmocka_unit_test(text_keeps_its_order_with_zero_bytes_inside),
        cmocka_unit_test(arrays_sort_by_their_elements_and_come_back),
        cmocka_unit_test(values_that_group_together_have_one_key),
        cmocka_unit_test(a_cut_key_is_refused),
    };
    return cmocka_run_group_tests_name("columnar/row_key", tests, set_up, tear_down);
}
