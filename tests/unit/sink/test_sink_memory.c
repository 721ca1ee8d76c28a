#include "sink/sink_memory.h"

#include "sink/sink_console.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct arena *arena;
static const struct type *schema;
static struct error err;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new("query", 0);
    err = (struct error)ERROR_INIT;
    struct type_field field = {.name = "n", .type = type_simple(TYPE_LONG), .nullable = true};
    schema = type_struct(arena, &field, 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    memory_table_drop("q");
    arena_free(arena);
    return 0;
}

static struct sink *open_sink(const char *kind, enum output_mode mode)
{
    static struct options options;
    struct sink_config config = {
        .name = "q", .format = kind, .options = &options, .schema = schema, .mode = mode};
    struct sink *sink = NULL;
    assert_int_equal(sink_find(kind)->open(arena, &config, &sink, &err), OK);
    return sink;
}

static void run_batch(struct sink *sink, int64_t batch_id, int64_t value)
{
    struct batch *batch = NULL;
    bool due = false;
    uint64_t rows = 0;
    assert_int_equal(batch_new(arena, schema, 1, &batch, &err), OK);
    VECTOR_VALUES(int64_t, batch->columns[0])[0] = value;
    assert_int_equal(sink->ops->begin(sink, batch_id, 2, &err), OK);
    assert_int_equal(batch_receive(sink->ops->writer(sink, 1), batch, &err), OK);
    VECTOR_VALUES(int64_t, batch->columns[0])[0] = -value;
    assert_int_equal(batch_receive(sink->ops->writer(sink, 0), batch, &err), OK);
    assert_int_equal(sink->ops->task_finish(sink, 0, &err), OK);
    assert_int_equal(sink->ops->task_finish(sink, 1, &err), OK);
    assert_int_equal(sink->ops->stage(sink, &due, &rows, &err), OK);
    assert_int_equal(rows, 2);
    if (due)
        assert_int_equal(sink->ops->commit(sink, batch_id, &err), OK);
}

static void add_row(void *arg, int64_t batch_id, const struct batch *batch)
{
    int64_t *sum = arg;
    for (uint32_t i = 0; i < batch->rows; i++)
        *sum = *sum * 100 + VECTOR_VALUES(int64_t, batch->columns[0])[i] + batch_id;
}

static int64_t digest(int64_t after)
{
    int64_t sum = 0;
    memory_table_visit(memory_table_find("q"), after, add_row, &sum);
    return sum;
}

static void rows_are_kept_by_batch(void **state)
{
    (void)state;
    struct sink *sink = open_sink("memory", MODE_APPEND);
    int64_t last = 0;
    assert_int_equal(sink->ops->last_batch(sink, &last, &err), OK);
    assert_int_equal(last, SINK_CANNOT_TELL);
    run_batch(sink, 0, 1);
    run_batch(sink, 1, 2);
    assert_int_equal(memory_table_rows(memory_table_find("q")), 4);
    int64_t before = digest(NO_BATCH);
    sink->ops->close(sink);
    sink = open_sink("memory", MODE_APPEND);
    assert_int_equal(sink->ops->last_batch(sink, &last, &err), OK);
    assert_int_equal(last, 1);
    run_batch(sink, 1, 2); /* again: replaces */
    assert_int_equal(digest(NO_BATCH), before);
    assert_int_equal(digest(0), (-2 + 1) * 100 + 2 + 1);
    assert_int_equal(digest(1), 0);
    assert_int_equal(sink->ops->begin(sink, 2, 1, &err), OK);
    sink->ops->abort(sink);
    assert_int_equal(memory_table_rows(memory_table_find("q")), 4);
    sink->ops->close(sink);
}

static void complete_mode_replaces_all(void **state)
{
    (void)state;
    struct sink *sink = open_sink("memory", MODE_COMPLETE);
    run_batch(sink, 0, 1);
    run_batch(sink, 1, 2);
    assert_int_equal(memory_table_rows(memory_table_find("q")), 2);
    assert_int_equal(memory_table_last_batch(memory_table_find("q")), 1);
    sink->ops->close(sink);
}

static void noop_counts_only(void **state)
{
    (void)state;
    struct sink *sink = open_sink("noop", MODE_UPDATE);
    run_batch(sink, 0, 1);
    sink->ops->close(sink);
}

static void console_prints_a_table(void **state)
{
    (void)state;
    struct sink *sink = open_sink("console", MODE_APPEND);
    run_batch(sink, 0, 1);
    sink->ops->close(sink);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_are_kept_by_batch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(complete_mode_replaces_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(noop_counts_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(console_prints_a_table, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("sink/sink_memory", tests, NULL, NULL);
}
