#include "base/check.h"
#include "columnar/row_key.h"
#include "columnar/row_key_flat.h"

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

    static const double doubles[] = {0, -(double)INFINITY, -1e300,     -1.5, -1e-300, 0, 1e-300,
                                     2, (double)INFINITY,  (double)NAN};
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

/* Texts of a few bytes are looked at in words. */
static void a_zero_byte_counts_wherever_it_stands(void **state)
{
    (void)state;
    char text[41];
    for (uint32_t size = 0; size < 41; size++) {
        for (uint32_t zero = 0; zero <= size; zero++) { /* at `size`: there is none */
            struct vector *column = vector_of(type_simple(TYPE_STRING), 1);
            struct vector *back = NULL;
            struct bytes key;
            memset(text, 0x80, sizeof text);
            for (uint32_t i = 0; i < size; i += 3)
                text[i] = 1;
            text[zero] = 0;
            VECTOR_VALUES(struct bytes, column)[0] = bytes_of(text, size);
            assert_int_equal(row_key_encode(arena, &column, 1, NULL, 1, &key, &err), OK);
            assert_int_equal(key.size_bytes, 1 + size + 2 + (zero < size));
            assert_int_equal(row_key_decode(arena, &column->type, 1, &key, 1, &back, &err), OK);
            assert_true(vector_equal(column, 0, back, 0));
        }
    }
}

/* Two times without NULLs are written at once; with an INT behind them they are not. */
static void windows_have_the_key_of_their_times(void **state)
{
    (void)state;
    static const uint16_t selection[] = {3, 1};
    const struct type_field fields[] = {{.name = "start", .type = type_simple(TYPE_TIMESTAMP)},
                                        {.name = "end", .type = type_simple(TYPE_TIMESTAMP)},
                                        {.name = "n", .type = type_simple(TYPE_INT)}};
    struct vector *columns[2];
    struct bytes keys[2][4];
    for (uint32_t c = 0; c < 2; c++) {
        const struct type *type = type_struct(arena, fields, c + 2);
        assert_int_equal(vector_new(arena, type, 4, &columns[c], &err), OK);
        for (uint32_t row = 0; row < 4; row++) {
            VECTOR_VALUES(int64_t, columns[c]->children[0])[row] = (int64_t)row * 1000000007 - 9;
            VECTOR_VALUES(int64_t, columns[c]->children[1])[row] = INT64_MAX - (int64_t)row;
        }
    }
    for (uint32_t row = 0; row < 4; row++)
        VECTOR_VALUES(int32_t, columns[1]->children[2])[row] = 0;
    for (int some = 0; some < 2; some++) {
        uint32_t count = some == 1 ? 2 : 4;
        for (int c = 0; c < 2; c++)
            assert_int_equal(row_key_encode(arena, &columns[c], 1, some == 1 ? selection : NULL,
                                            count, keys[c], &err),
                             OK);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(keys[0][i].size_bytes, 19);
            assert_true(bytes_equal(keys[0][i], bytes_of(keys[1][i].data, 19)));
        }
    }
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
    VECTOR_VALUES(double, column)[2] = (double)NAN;
    VECTOR_VALUES(double, column)[3] = -(double)NAN;
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

/* Keys written column by column are those written cell by cell: a MAP beside them forces that. */
static void keys_by_column_and_by_cell_are_the_same(void **state)
{
    (void)state;
    enum {
        ROWS = 5,
        COLUMNS = 6
    };
    static const enum type_id ids[COLUMNS] = {TYPE_LONG,   TYPE_STRING, TYPE_SHORT,
                                              TYPE_DOUBLE, TYPE_FLOAT,  TYPE_BOOLEAN};
    static const uint16_t selection[] = {4, 0, 3};
    struct vector *columns[COLUMNS + 1];
    for (uint32_t c = 0; c < COLUMNS; c++) {
        columns[c] = vector_of(type_simple(ids[c]), ROWS);
        for (uint32_t row = 0; row < ROWS; row++) {
            if (ids[c] == TYPE_STRING)
                VECTOR_VALUES(struct bytes, columns[c])[row] = bytes_of("a\0b\0\0", row);
            else
                memset(VECTOR_VALUES(uint8_t, columns[c]) +
                           row * type_value_bytes(columns[c]->type),
                       ids[c] == TYPE_BOOLEAN ? 1 : (int)(row * 60),
                       type_value_bytes(columns[c]->type));
        }
        vector_set_null(columns[c], c % ROWS);
    }
    const struct type *map = type_map(arena, type_simple(TYPE_INT), type_simple(TYPE_INT), true);
    assert_int_equal(vector_new_null(arena, map, ROWS, &columns[COLUMNS], &err), OK);
    struct bytes flat[ROWS];
    struct bytes cells[ROWS];
    for (int some = 0; some < 2; some++) {
        const uint16_t *rows = some == 1 ? selection : NULL;
        uint32_t count = some == 1 ? 3 : ROWS;
        assert_int_equal(row_key_encode(arena, columns, COLUMNS, rows, count, flat, &err), OK);
        assert_int_equal(row_key_encode(arena, columns, COLUMNS + 1, rows, count, cells, &err), OK);
        for (uint32_t i = 0; i < count; i++)
            assert_true(bytes_equal(flat[i], bytes_of(cells[i].data, cells[i].size_bytes - 1)));
    }
}

static void keys_of_one_width_come_back_as_structs_and_numbers(void **state)
{
    (void)state;
    const struct type_field fields[] = {{.name = "a", .type = type_simple(TYPE_TIMESTAMP)},
                                        {.name = "b", .type = type_simple(TYPE_INT)}};
    const struct type *types[] = {type_struct(arena, fields, 2), type_decimal(arena, 20, 0)};
    struct vector *columns[2];
    struct vector *back[2];
    struct bytes keys[3];
    for (int c = 0; c < 2; c++)
        assert_int_equal(vector_new(arena, types[c], 3, &columns[c], &err), OK);
    for (uint32_t i = 0; i < 3; i++) {
        VECTOR_VALUES(int64_t, columns[0]->children[0])[i] = (int64_t)i - 1;
        VECTOR_VALUES(int32_t, columns[0]->children[1])[i] = INT32_MIN + (int32_t)i;
        VECTOR_VALUES(int128, columns[1])[i] = ((int128)1 - (int128)i) << 70;
    }
    assert_int_equal(row_key_encode(arena, columns, 2, NULL, 3, keys, &err), OK);
    assert_int_equal(row_key_decode(arena, types, 2, keys, 3, back, &err), OK);
    for (int c = 0; c < 2; c++)
        for (uint32_t i = 0; i < 3; i++)
            assert_true(vector_equal(columns[c], i, back[c], i));
    /* A wrong mark in a key of the right size is damage, not a value. */
    assert_int_equal(keys[1].size_bytes, 1 + 9 + 5 + 17);
    ((uint8_t *)(uintptr_t)keys[1].data)[10] = 0x00; // NOLINT: our own bytes
    assert_int_equal(row_key_decode(arena, types, 2, keys, 3, back, &err),
                     STATUS_CHECKSUM_MISMATCH);
}

static void a_key_that_is_too_long_is_refused(void **state)
{
    (void)state;
    struct bytes keys[2] = {{.size_bytes = ROW_KEY_BYTES_MAX}, {.size_bytes = ROW_KEY_BYTES_MAX}};
    assert_int_equal(row_key_check(keys, 2, 2 * ROW_KEY_BYTES_MAX, &err), OK);
    keys[1].size_bytes++;
    assert_int_equal(row_key_check(keys, 2, 2 * ROW_KEY_BYTES_MAX + 1, &err),
                     STATUS_LIMIT_EXCEEDED);
    error_clear(&err);
}

/* As a key with several windows has it. */
static void a_key_comes_back_as_often_as_it_stands_there(void **state)
{
    (void)state;
    const struct type *types[] = {type_simple(TYPE_STRING), type_simple(TYPE_INT),
                                  type_array(arena, type_simple(TYPE_INT), true)};
    struct vector *columns[3];
    for (int c = 0; c < 3; c++)
        columns[c] = vector_of(types[c], 3);
    struct bytes *texts = VECTOR_VALUES(struct bytes, columns[0]);
    texts[0] = bytes_of_text("");
    texts[1] = bytes_of_text("one");
    texts[2] = bytes_of("t\0o", 3);
    static const int32_t numbers[] = {7, 0, -1};
    memcpy(columns[1]->values, numbers, sizeof numbers);
    vector_set_null(columns[1], 1);
    assert_int_equal(vector_resize_child(arena, columns[2], 0, 3, &err), OK);
    memcpy(columns[2]->children[0]->values, numbers, sizeof numbers);
    static const struct list_entry entries[] = {{0, 2}, {0, 0}, {1, 2}};
    memcpy(columns[2]->values, entries, sizeof entries);
    struct bytes keys[3];
    assert_int_equal(row_key_encode(arena, columns, 3, NULL, 3, keys, &err), OK);
    static const uint32_t rows[] = {0, 0, 1, 1, 1, 2, 0, 2, 2};
    struct bytes drawn[9];
    struct vector *back[3];
    for (int i = 0; i < 9; i++)
        drawn[i] = keys[rows[i]];
    assert_int_equal(row_key_decode(arena, types, 3, drawn, 9, back, &err), OK);
    for (uint32_t i = 0; i < 9; i++)
        for (int c = 0; c < 3; c++)
            assert_true(vector_equal(columns[c], rows[i], back[c], i));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_keep_their_order),
        cmocka_unit_test(text_keeps_its_order_with_zero_bytes_inside),
        cmocka_unit_test(a_zero_byte_counts_wherever_it_stands),
        cmocka_unit_test(windows_have_the_key_of_their_times),
        cmocka_unit_test(arrays_sort_by_their_elements_and_come_back),
        cmocka_unit_test(values_that_group_together_have_one_key),
        cmocka_unit_test(a_cut_key_is_refused),
        cmocka_unit_test(keys_by_column_and_by_cell_are_the_same),
        cmocka_unit_test(keys_of_one_width_come_back_as_structs_and_numbers),
        cmocka_unit_test(a_key_comes_back_as_often_as_it_stands_there),
        cmocka_unit_test(a_key_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests_name("columnar/row_key", tests, set_up, tear_down);
}
