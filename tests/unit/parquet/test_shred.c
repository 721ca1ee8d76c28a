/* Levels of nested rows. */
#include "parquet/shred.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct arena *arena;
static struct error err;
static struct shred shred;
static struct parquet_schema schema;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new("test", 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    shred_fini(&shred);
    arena_free(arena);
    return 0;
}

static struct batch *batch_of(const char *columns, uint32_t rows)
{
    const struct type *type = NULL;
    struct batch *batch = NULL;
    assert_int_equal(type_parse_schema(arena, bytes_of_text(columns), &type, &err), OK);
    assert_int_equal(parquet_schema_build(arena, type, PARQUET_TIMESTAMPS_INT96, &schema).result,
                     PARQUET_SCHEMA_OK);
    assert_int_equal(batch_new(arena, type, rows, &batch, &err), OK);
    for (uint32_t i = 0; i < type->field_count; i++)
        assert_int_equal(vector_make_nullable(arena, batch->columns[i], &err), OK);
    return batch;
}

static void assert_levels(const uint8_t *repetitions, const uint8_t *definitions, uint32_t count)
{
    assert_int_equal(shred.count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(shred.repetitions[i], repetitions[i]);
        assert_int_equal(shred.definitions[i], definitions[i]);
    }
}

/* [1, null], [], null, [5] */
static struct batch *lists(uint32_t *first_element)
{
    struct batch *batch = batch_of("a ARRAY<INT>", 4);
    struct vector *list = batch->columns[0];
    assert_int_equal(vector_resize_child(arena, list, 0, *first_element + 3, &err), OK);
    struct vector *elements = list->children[0];
    assert_int_equal(vector_make_nullable(arena, elements, &err), OK);
    uint32_t at = *first_element;
    VECTOR_VALUES(struct list_entry, list)[0] = (struct list_entry){at, 2};
    VECTOR_VALUES(struct list_entry, list)[1] = (struct list_entry){77, 0};
    VECTOR_VALUES(struct list_entry, list)[2] = (struct list_entry){0, 1};
    VECTOR_VALUES(struct list_entry, list)[3] = (struct list_entry){at + 2, 1};
    vector_set_null(list, 2);
    vector_set_null(elements, at + 1);
    return batch;
}

static void lists_are_the_specifications_example(void **state)
{
    (void)state;
    uint32_t first = 3;
    struct batch *batch = lists(&first);
    assert_int_equal(shred_batch(&shred, &schema.leaves[0], batch, &err), OK);
    assert_levels((uint8_t[]){0, 1, 0, 0, 0}, (uint8_t[]){3, 2, 1, 0, 3}, 5);
    assert_int_equal(shred.value_count, 2);
    assert_int_equal(shred.cells[0], 3);
    assert_int_equal(shred.cells[1], 5);
}

static void rows_that_are_not_selected_do_not_count(void **state)
{
    (void)state;
    uint32_t first = 0;
    uint16_t selection[] = {2, 3};
    struct batch *batch = lists(&first);
    batch->selection = selection;
    batch->selected = 2;
    assert_int_equal(shred_batch(&shred, &schema.leaves[0], batch, &err), OK);
    assert_levels((uint8_t[]){0, 0}, (uint8_t[]){0, 3}, 2);
    assert_int_equal(shred.cells[0], 2);
}

static void a_constant_list_is_every_rows(void **state)
{
    (void)state;
    uint32_t first = 0;
    struct batch *batch = lists(&first);
    batch->columns[0]->constant = true;
    assert_int_equal(shred_batch(&shred, &schema.leaves[0], batch, &err), OK);
    assert_levels((uint8_t[]){0, 1, 0, 1, 0, 1, 0, 1}, (uint8_t[]){3, 2, 3, 2, 3, 2, 3, 2}, 8);
    assert_int_equal(shred.value_count, 4);
}

static void a_missing_struct_is_missing_in_each_of_its_columns(void **state)
{
    (void)state;
    struct batch *batch = batch_of("s STRUCT<x: INT, y: ARRAY<INT>>", 2);
    struct vector *row = batch->columns[0], *list = row->children[1];
    vector_set_null(row, 1);
    assert_int_equal(vector_resize_child(arena, list, 0, 2, &err), OK);
    VECTOR_VALUES(struct list_entry, list)[0] = (struct list_entry){0, 2};
    VECTOR_VALUES(struct list_entry, list)[1] = (struct list_entry){0, 2};
    assert_int_equal(shred_batch(&shred, &schema.leaves[0], batch, &err), OK);
    assert_levels((uint8_t[]){0, 0}, (uint8_t[]){2, 0}, 2);
    assert_int_equal(shred_batch(&shred, &schema.leaves[1], batch, &err), OK);
    assert_levels((uint8_t[]){0, 1, 0}, (uint8_t[]){4, 4, 0}, 3);
}

static void a_key_that_is_null_is_an_error(void **state)
{
    (void)state;
    struct batch *batch = batch_of("m MAP<INT, INT>", 1);
    struct vector *map = batch->columns[0];
    assert_int_equal(vector_resize_child(arena, map, 0, 1, &err), OK);
    assert_int_equal(vector_resize_child(arena, map, 1, 1, &err), OK);
    assert_int_equal(vector_make_nullable(arena, map->children[0], &err), OK);
    vector_set_null(map->children[0], 0);
    VECTOR_VALUES(struct list_entry, map)[0] = (struct list_entry){0, 1};
    assert_int_equal(shred_batch(&shred, &schema.leaves[0], batch, &err), STATUS_NULL_MAP_KEY);
    error_clear(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lists_are_the_specifications_example, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_that_are_not_selected_do_not_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_constant_list_is_every_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_missing_struct_is_missing_in_each_of_its_columns, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_key_that_is_null_is_an_error, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
