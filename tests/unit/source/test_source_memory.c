#include "source/source_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct sum {
    struct batch_receiver receiver;
    int64_t total;
};

static enum status add_up(struct batch_receiver *self, const struct batch *batch, struct error *err)
{
    (void)err;
    struct sum *sum = (struct sum *)self;
    for (uint32_t i = 0; i < batch->selected; i++)
        sum->total += VECTOR_VALUES(int64_t, batch->columns[0])[batch_row(batch, i)];
    return OK;
}

static void ranges_are_replayed(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct arena *arena = arena_new("query", 0);
    struct type_field field = {.name = "n", .type = type_simple(TYPE_LONG), .nullable = true};
    const struct type *schema = type_struct(arena, &field, 1);
    struct memory_log *log = memory_log_new("numbers", schema, 2);
    struct batch *batch = NULL;
    assert_int_equal(batch_new(arena, schema, 3, &batch, &err), OK);
    for (int64_t i = 0; i < 3; i++)
        VECTOR_VALUES(int64_t, batch->columns[0])[i] = i + 1;
    assert_int_equal(memory_log_append(log, 0, batch, &err), OK);
    assert_int_equal(memory_log_append(log, 1, batch, &err), OK);

    struct options options = {0};
    struct source_config config = {.name = "numbers", .format = "memory", .options = &options};
    struct source *source = NULL;
    assert_int_equal(source_memory.open(arena, &config, &source, &err), OK);
    uint32_t column = 0;
    assert_int_equal(source->ops->bind(source, &column, 1, &err), OK);
    struct source_range committed = {.end = bytes_of_text("{\"0\":2,\"1\":0}")};
    assert_int_equal(source->ops->recover(source, &committed, NULL, 0, &err), OK);
    struct source_range range = {0};
    bool found = false;
    assert_int_equal(source->ops->plan(source, false, arena, &range, &found, &err), OK);
    assert_true(found);
    assert_true(bytes_equal(range.end, bytes_of_text("{\"0\":3,\"1\":3}")));
    for (int round = 0; round < 2; round++) {
        struct sum sum = {.receiver = {.receive = add_up}};
        struct source_split *splits = NULL;
        size_t count = 0;
        assert_int_equal(source->ops->splits(source, &range, arena, &splits, &count, &err), OK);
        assert_int_equal(count, 2);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(source->ops->read(source, &splits[i], &sum.receiver, &err), OK);
        assert_int_equal(sum.total, 3 + 6);
    }
    assert_int_equal(source->ops->plan(source, false, arena, &range, &found, &err), OK);
    assert_false(found);
    source->ops->close(source);
    memory_log_free(log);
    assert_int_equal(source_memory.open(arena, &config, &source, &err),
                     STATUS_DATA_SOURCE_NOT_FOUND);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranges_are_replayed)};
    return cmocka_run_group_tests_name("source/source_memory", tests, NULL, NULL);
}
