/* Whole files: what goes in comes back by a reader of the tests' own, in the pages and row groups
 * that were asked for. */
#include "base/heap.h"
#include "parquet/file_writer.h"
#include "parquet_rows.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct arena *arena;
static struct error err;
static struct parquet_settings settings;
static const struct parquet_key keys[] = {{"k", "v"}};

static int set_up(void **state)
{
    (void)state;
    arena = arena_new("test", 0);
    const struct type *type = NULL;
    assert_int_equal(
        type_parse_schema(arena, bytes_of_text("l BIGINT, s STRING, b BOOLEAN"), &type, &err), OK);
    settings = (struct parquet_settings){.dictionaries = true,
                                         .block_bytes = 1 << 20,
                                         .page_bytes = 1 << 16,
                                         .dictionary_bytes = 1 << 16,
                                         .created_by = "test",
                                         .keys = keys,
                                         .key_count = 1};
    assert_int_equal(
        parquet_schema_build(arena, type, PARQUET_TIMESTAMPS_INT96, &settings.schema).result,
        PARQUET_SCHEMA_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

/* Which value a row has; every `null_step`th is NULL, and all before `nulls_until`. */
struct rows {
    uint64_t count;
    uint64_t different;
    uint64_t null_step;
    uint64_t nulls_until;
};

static bool row_is_null(const struct rows *rows, uint64_t row)
{
    return row < rows->nulls_until || (rows->null_step > 0 && row % rows->null_step == 0);
}

static struct batch *make_batch(const struct rows *rows, uint64_t first, uint32_t count,
                                struct buffer *json)
{
    struct batch *batch = NULL;
    assert_int_equal(batch_new(arena, settings.schema.type, count, &batch, &err), OK);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(vector_make_nullable(arena, batch->columns[i], &err), OK);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = (first + i) * 7919 % rows->different;
        char *text = arena_sprintf(arena, "text %" PRIu64, value);
        VECTOR_VALUES(int64_t, batch->columns[0])[i] = (int64_t)value - 100;
        VECTOR_VALUES(struct bytes, batch->columns[1])[i] = bytes_of_text(text);
        VECTOR_VALUES(uint8_t, batch->columns[2])[i] = value % 3 == 0;
        if (row_is_null(rows, first + i)) {
            for (uint32_t j = 0; j < 3; j++)
                vector_set_null(batch->columns[j], i);
            buffer_add_text(json, "{\"l\":null,\"s\":null,\"b\":null}\n");
        } else {
            buffer_printf(json, "{\"l\":%" PRId64 ",\"s\":\"%s\",\"b\":%s}\n", (int64_t)value - 100,
                          text, value % 3 == 0 ? "true" : "false");
        }
    }
    return batch;
}

static struct parquet_facts write_and_read(struct rows rows)
{
    struct file_budget budget = {.bytes_max = SIZE_MAX};
    struct file_writer *writer = file_writer_new(&settings, &budget);
    struct buffer file = {0}, want = {0}, got = {0};
    struct parquet_facts facts;
    for (uint64_t row = 0; row < rows.count;) {
        uint64_t left = rows.count - row;
        uint32_t count = left < BATCH_ROWS_MAX ? (uint32_t)left : BATCH_ROWS_MAX;
        assert_int_equal(file_writer_add(writer, make_batch(&rows, row, count, &want), &file, &err),
                         OK);
        row += count;
    }
    assert_int_equal(file_writer_end(writer, &file, &err), OK);
    file_writer_free(writer);
    assert_int_equal(atomic_load(&budget.bytes), 0);
    assert_true(parquet_rows_json(settings.schema.type, buffer_bytes(&file), &got, &facts));
    assert_int_equal(facts.rows, rows.count);
    assert_int_equal(got.size_bytes, want.size_bytes);
    if (want.size_bytes > 0)
        assert_memory_equal(got.data, want.data, want.size_bytes);
    buffer_fini(&file);
    buffer_fini(&want);
    buffer_fini(&got);
    return facts;
}

static void few_different_values_are_in_a_dictionary(void **state)
{
    (void)state;
    struct parquet_facts facts =
        write_and_read((struct rows){.count = 50000, .different = 100, .null_step = 7});
    assert_int_equal(facts.groups, 1);
    assert_int_equal(facts.dictionaries, 2);
    assert_int_equal(facts.plain_pages, 3); /* the booleans: 20000 rows a page */
    assert_int_equal(facts.dictionary_pages, 6);
}

static void a_dictionary_that_saves_nothing_is_not_written(void **state)
{
    (void)state;
    struct parquet_facts facts = write_and_read((struct rows){.count = 3000, .different = 999983});
    assert_int_equal(facts.dictionaries, 0);
    assert_int_equal(facts.dictionary_pages, 0);
}

static void a_dictionary_that_grows_too_large_is_left(void **state)
{
    (void)state;
    settings.page_bytes = 8192; /* the first page is worth a dictionary ... */
    settings.dictionary_bytes = 5000;
    struct parquet_facts facts = write_and_read((struct rows){.count = 40000, .different = 600});
    assert_int_equal(facts.dictionaries, 2);
    assert_true(facts.dictionary_pages > 1);
    assert_true(facts.plain_pages > 6); /* ... of the texts no later one is */
}

static void without_dictionaries_all_is_plain(void **state)
{
    (void)state;
    settings.dictionaries = false;
    struct parquet_facts facts = write_and_read((struct rows){.count = 5000, .different = 5});
    assert_int_equal(facts.dictionaries, 0);
    assert_int_equal(facts.dictionary_pages, 0);
}

static void nulls_in_front_do_not_cost_the_dictionary(void **state)
{
    (void)state;
    struct parquet_facts facts =
        write_and_read((struct rows){.count = 60000, .different = 10, .nulls_until = 25000});
    assert_int_equal(facts.dictionaries, 2);
    facts = write_and_read((struct rows){.count = 5000, .different = 10, .nulls_until = 5000});
    assert_int_equal(facts.dictionaries, 0);
}

static void a_row_group_ends_when_it_is_large_enough(void **state)
{
    (void)state;
    settings.block_bytes = 200000;
    struct parquet_facts facts = write_and_read((struct rows){.count = 60000, .different = 999983});
    assert_true(facts.groups > 4 && facts.groups < 15);
    settings.block_bytes = 1; /* each batch is one, of no matter how many rows */
    facts = write_and_read((struct rows){.count = 3 * BATCH_ROWS_MAX, .different = 100});
    assert_int_equal(facts.groups, 3);
}

static void without_rows_there_is_the_schema(void **state)
{
    (void)state;
    assert_int_equal(write_and_read((struct rows){.different = 1}).groups, 0);
}

/* Files that are open at the same time share what they may keep. */
static void many_files_keep_within_their_budget(void **state)
{
    (void)state;
    enum {
        FILES = 8
    };
    struct file_budget budget = {.bytes_max = 1 << 20};
    struct file_writer *writers[FILES];
    struct buffer files[FILES] = {{0}}, json = {0};
    struct rows rows = {.different = 999983};
    settings.block_bytes = 64 << 20;
    for (size_t i = 0; i < FILES; i++)
        writers[i] = file_writer_new(&settings, &budget);
    for (uint64_t round = 0; round < 10; round++)
        for (size_t i = 0; i < FILES; i++) {
            struct batch *batch = make_batch(&rows, round * 4096, 4096, &json);
            assert_int_equal(file_writer_add(writers[i], batch, &files[i], &err), OK);
            assert_true(atomic_load(&budget.bytes) < 3 << 20);
        }
    for (size_t i = 0; i < FILES; i++) {
        struct parquet_facts facts;
        struct buffer got = {0};
        assert_int_equal(file_writer_end(writers[i], &files[i], &err), OK);
        file_writer_free(writers[i]);
        assert_true(parquet_rows_json(settings.schema.type, buffer_bytes(&files[i]), &got, &facts));
        assert_int_equal(facts.rows, 40960);
        assert_true(facts.groups > 1);
        buffer_fini(&got);
        buffer_fini(&files[i]);
    }
    assert_int_equal(atomic_load(&budget.bytes), 0);
    buffer_fini(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(few_different_values_are_in_a_dictionary, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_dictionary_that_saves_nothing_is_not_written, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_dictionary_that_grows_too_large_is_left, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(without_dictionaries_all_is_plain, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nulls_in_front_do_not_cost_the_dictionary, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_row_group_ends_when_it_is_large_enough, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(without_rows_there_is_the_schema, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_files_keep_within_their_budget, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
