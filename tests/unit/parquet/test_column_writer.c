/* Where pages of one column end. */
#include "parquet/column_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct arena *arena;
static struct error err;
static struct parquet_settings settings;
static struct column_scratch scratch;

static int set_up(void **state)
{
    (void)state;
    const struct type *type = NULL;
    arena = arena_new("test", 0);
    assert_int_equal(type_parse_schema(arena, bytes_of_text("a ARRAY<STRING>"), &type, &err), OK);
    settings = (struct parquet_settings){
        .dictionaries = true, .page_bytes = 1 << 20, .dictionary_bytes = 1 << 20};
    assert_int_equal(
        parquet_schema_build(arena, type, PARQUET_TIMESTAMPS_INT96, &settings.schema).result,
        PARQUET_SCHEMA_OK);
    scratch = (struct column_scratch){0};
    scratch.compressor = page_compressor_new(PAGE_PLAIN);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    shred_fini(&scratch.shred);
    rle_fini(&scratch.index_encoder);
    buffer_fini(&scratch.body);
    buffer_fini(&scratch.compressed);
    page_compressor_free(scratch.compressor);
    arena_free(arena);
    return 0;
}

/* Each row a list of `size` texts, which repeat after `different`. */
static struct batch *lists(uint32_t rows, uint32_t size, uint32_t different)
{
    struct batch *batch = NULL;
    assert_int_equal(batch_new(arena, settings.schema.type, rows, &batch, &err), OK);
    struct vector *list = batch->columns[0];
    assert_int_equal(vector_resize_child(arena, list, 0, rows * size, &err), OK);
    for (uint32_t i = 0; i < rows; i++)
        VECTOR_VALUES(struct list_entry, list)[i] = (struct list_entry){i * size, size};
    struct bytes *texts = VECTOR_VALUES(struct bytes, list->children[0]);
    for (uint32_t i = 0; i < rows * size; i++)
        texts[i] = bytes_of_text(arena_sprintf(arena, "text %u", (unsigned)(i % different)));
    return batch;
}

static uint32_t varint(const uint8_t **at)
{
    uint32_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = *(*at)++;
        value |= (uint32_t)(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0)
            return value;
    }
}

/* Fields 1 to 3 of a page's head are its kind and two sizes, then the struct with the count. */
static uint32_t pages_that_begin_with_a_row(struct bytes pages, uint32_t *count)
{
    uint32_t good = 0;
    const uint8_t *at = pages.data;
    for (*count = 0; at < pages.data + pages.size_bytes; ++*count) {
        uint32_t fields[7];
        for (uint32_t i = 0; i < 7; i++) {
            at += i == 3 ? 2 : 1;
            fields[i] = varint(&at) / 2;
        }
        at += 2; /* the ends of both structs */
        const uint8_t *levels = at + sizeof(uint32_t);
        (void)varint(&levels);
        good += (*levels & 1) == 0; /* of a run or of packed bits: the first level */
        at += fields[2];
    }
    return good;
}

static void write_lists(uint32_t size, uint32_t different)
{
    struct column_writer column;
    uint32_t pages = 0;
    column_writer_init(&column, &settings, &settings.schema.leaves[0], &scratch);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(column_writer_add(&column, lists(3, size, different), &err), OK);
    uint32_t good = pages_that_begin_with_a_row(buffer_bytes(&column.pages), &pages);
    assert_true(pages > 1);
    assert_int_equal(good, pages);
    assert_int_equal(pages, column.dictionary_pages + column.plain_pages);
    assert_false(column.in_dictionary);
    column_writer_fini(&column);
}

static void a_dictionary_that_is_full_ends_a_page_between_rows(void **state)
{
    (void)state;
    settings.dictionary_bytes = 3000;
    settings.page_bytes = 20000;
    write_lists(5000, 4000);
    write_lists(700, 500);
}

/* Rows that no number of places at once falls on. */
static void pages_end_between_rows(void **state)
{
    (void)state;
    settings.dictionaries = false;
    settings.page_bytes = 3000;
    write_lists(701, 500);
    struct column_writer column;
    uint32_t pages = 0;
    column_writer_init(&column, &settings, &settings.schema.leaves[0], &scratch);
    assert_int_equal(column_writer_add(&column, lists(1000, 3, 100), &err), OK);
    uint32_t good = pages_that_begin_with_a_row(buffer_bytes(&column.pages), &pages);
    assert_int_equal(good, pages);
    assert_true(pages > 5); /* not one of the whole batch */
    column_writer_fini(&column);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_dictionary_that_is_full_ends_a_page_between_rows, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(pages_end_between_rows, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
