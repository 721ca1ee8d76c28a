#include "sink/row_collector.h"

#include "base/check.h"
#include "base/heap.h"

#include <stdio.h>
#include <stdlib.h>

struct kept {
    struct batch batch;
    struct kept *next;
};

struct task {
    struct batch_receiver receiver;
    struct row_collector *collector;
    struct arena *arena;
    struct kept *first;
    struct kept **last;
    uint64_t rows;
};

struct row_collector {
    const struct type *schema;
    uint64_t rows_max;
    size_t bytes_max;
    struct task *tasks;
    uint32_t task_count;
};

struct row_collector *row_collector_new(uint64_t rows_max, size_t bytes_max)
{
    struct row_collector *collector = heap_calloc(1, sizeof *collector);
    collector->rows_max = rows_max;
    collector->bytes_max = bytes_max;
    return collector;
}

static void drop_tasks(struct row_collector *collector)
{
    for (uint32_t i = 0; i < collector->task_count; i++)
        arena_free(collector->tasks[i].arena);
    free(collector->tasks);
    collector->tasks = NULL;
    collector->task_count = 0;
}

void row_collector_free(struct row_collector *collector)
{
    if (collector == NULL)
        return;
    drop_tasks(collector);
    free(collector);
}

static enum status too_many(const struct row_collector *collector, struct error *err)
{
    char limit[32];
    (void)snprintf(limit, sizeof limit, "%zu", collector->bytes_max);
    return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "a memory sink", "limit", limit, NULL);
}

static enum status keep_batch(struct batch_receiver *self, const struct batch *batch,
                              struct error *err)
{
    struct task *task = (struct task *)self;
    const struct row_collector *collector = task->collector;
    uint64_t before = task->rows;
    task->rows += batch->selected;
    if (before >= collector->rows_max)
        return OK;
    if (arena_used_bytes(task->arena) > collector->bytes_max)
        return too_many(collector, err);
    struct kept *kept = arena_new_object(task->arena, sizeof *kept);
    TRY(batch_compact(task->arena, batch, &kept->batch, err));
    uint32_t columns = batch->schema->field_count;
    struct vector **copies = arena_new_object(task->arena, (columns + 1) * sizeof *copies);
    for (uint32_t i = 0; i < columns; i++)
        TRY(vector_clone(task->arena, kept->batch.columns[i], &copies[i], err));
    kept->batch.columns = copies;
    kept->batch.schema = collector->schema;
    *task->last = kept;
    task->last = &kept->next;
    return OK;
}

void row_collector_begin(struct row_collector *collector, const struct type *schema, uint32_t tasks)
{
    drop_tasks(collector);
    collector->schema = schema;
    collector->tasks = heap_calloc(tasks + 1, sizeof *collector->tasks);
    collector->task_count = tasks;
    for (uint32_t i = 0; i < tasks; i++) {
        struct task *task = &collector->tasks[i];
        task->receiver.receive = keep_batch;
        task->collector = collector;
        task->arena = arena_new("batch", 0);
        task->last = &task->first;
    }
}

struct batch_receiver *row_collector_task(struct row_collector *collector, uint32_t task)
{
    CHECK(task < collector->task_count);
    return &collector->tasks[task].receiver;
}

uint64_t row_collector_rows(const struct row_collector *collector)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < collector->task_count; i++)
        rows += collector->tasks[i].rows;
    return rows;
}

void row_collector_visit(const struct row_collector *collector,
                         bool (*fn)(void *arg, const struct batch *batch), void *arg)
{
    for (uint32_t i = 0; i < collector->task_count; i++)
        for (const struct kept *kept = collector->tasks[i].first; kept != NULL; kept = kept->next)
            if (!fn(arg, &kept->batch))
                return;
}
