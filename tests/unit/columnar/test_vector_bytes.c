#include "base/check.h"
#include "columnar/vector_bytes.h"

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
    return vector;
}

static struct vector *texts(const char *const *values, uint32_t rows)
{
    struct vector *vector = vector_of(type_simple(TYPE_STRING), rows);
    struct bytes *cells = vector->values;
    assert_int_equal(vector_make_nullable(arena, vector, &err), OK);
    for (uint32_t i = 0; i < rows; i++) {
        cells[i] = bytes_of((const void *)(uintptr_t)1, 99); /* nobody looks at that of a NULL */
        if (values[i] == NULL)
            vector_set_null(vector, i);
        else
            cells[i] = bytes_of_text(values[i]);
    }
    return vector;
}

static struct vector *there_and_back(const struct vector *vector, struct buffer *bytes)
{
    struct vector *back = NULL;
    buffer_clear(bytes);
    vector_save(vector, bytes);
    struct bytes in = buffer_bytes(bytes);
    assert_int_equal(vector_load(arena, vector->type, &in, &back, &err), OK);
    assert_int_equal(in.size_bytes, 0);
    assert_int_equal(back->length, vector->length);
    for (uint32_t i = 0; i < vector->length; i++) {
        assert_int_equal(vector_is_null(back, i), vector_is_null(vector, i));
        if (!vector_is_null(vector, i))
            assert_true(vector_equal(back, i, vector, i));
    }
    return back;
}

static void cells_come_back_as_they_were(void **state)
{
    (void)state;
    static const double doubles[] = {-0.0, 0.0, (double)NAN, 1.5};
    struct buffer bytes = {0};
    struct vector *column = vector_of(type_simple(TYPE_DOUBLE), 4);
    memcpy(column->values, doubles, sizeof doubles);
    struct vector *back = there_and_back(column, &bytes);
    assert_memory_equal(back->values, doubles, sizeof doubles); /* also the sign of 0 */
    assert_null(back->validity);
    static const char *const words[] = {"a", NULL, "", "longer than the others"};
    (void)there_and_back(texts(words, 4), &bytes);
    (void)there_and_back(texts(words, 0), &bytes);
    struct vector *nothing = NULL;
    assert_int_equal(vector_new_null(arena, type_simple(TYPE_INT), 7, &nothing, &err), OK);
    assert_true(there_and_back(nothing, &bytes)->constant);
    assert_int_equal(vector_new_null(arena, type_simple(TYPE_VOID), 7, &nothing, &err), OK);
    (void)there_and_back(nothing, &bytes);
    buffer_fini(&bytes);
}

static void nested_values_come_back(void **state)
{
    (void)state;
    static const char *const words[] = {"x", "y", NULL};
    struct buffer bytes = {0};
    const struct type *list = type_array(arena, type_simple(TYPE_STRING), true);
    struct type_field fields[] = {{.name = "l", .type = list, .nullable = true},
                                  {.name = "n", .type = type_simple(TYPE_INT), .nullable = true}};
    struct vector *rows = vector_of(type_struct(arena, fields, 2), 2);
    static const int32_t numbers[] = {3, -4};
    struct list_entry *entries = rows->children[0]->values;
    rows->children[0]->children[0] = texts(words, 3);
    entries[0] = (struct list_entry){.offset = 1, .length = 2};
    entries[1] = (struct list_entry){.offset = 0, .length = 1};
    memcpy(rows->children[1]->values, numbers, sizeof numbers);
    (void)there_and_back(rows, &bytes);
    buffer_fini(&bytes);
}

static void what_is_cut_off_is_noticed(void **state)
{
    (void)state;
    static const char *const words[] = {"some", NULL, "words"};
    struct buffer bytes = {0};
    struct vector *back = NULL;
    vector_save(texts(words, 3), &bytes);
    for (size_t size = 0; size < bytes.size_bytes; size++) {
        struct bytes in = bytes_of(bytes.data, size);
        assert_int_equal(vector_load(arena, type_simple(TYPE_STRING), &in, &back, &err),
                         STATUS_CHECKSUM_MISMATCH);
    }
    buffer_fini(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cells_come_back_as_they_were, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nested_values_come_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_cut_off_is_noticed, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
