/*
 * The noop sink: takes rows and forgets them; for measuring, and for queries kept for their state.
 */
#include "base/check.h"
#include "base/heap.h"
#include "sink/sink_console.h"

#include <stdlib.h>

#define NOOP_MAGIC 0x30090e01U

static const struct option_def noop_options[] = {{0}};

struct noop_task {
    struct batch_receiver receiver;
    uint64_t rows;
    uint8_t padding[48]; /* a cache line each: the tasks count at the same time */
};

struct noop_sink {
    struct sink base;
    uint32_t magic;
    struct noop_task *tasks;
    uint32_t task_count;
};

static struct noop_sink *sink_of(struct sink *self)
{
    struct noop_sink *sink = (struct noop_sink *)self;
    CHECK_MAGIC(sink, NOOP_MAGIC);
    return sink;
}

static enum status noop_check(struct arena *request, const struct sink_config *config,
                              struct error *err)
{
    (void)request;
    const struct option_def *const known[] = {noop_options, NULL};
    return options_check(config->options, known, err);
}

static enum status noop_open(struct arena *query, const struct sink_config *config,
                             struct sink **out, struct error *err)
{
    TRY(noop_check(query, config, err));
    struct noop_sink *sink = heap_calloc(1, sizeof *sink);
    sink->base.ops = &sink_noop;
    sink->magic = NOOP_MAGIC;
    *out = &sink->base;
    return OK;
}

static enum status noop_last_batch(struct sink *self, int64_t *batch_id, struct error *err)
{
    (void)self;
    (void)err;
    *batch_id = SINK_CANNOT_TELL;
    return OK;
}

static enum status count_rows(struct batch_receiver *self, const struct batch *batch,
                              struct error *err)
{
    (void)err;
    ((struct noop_task *)self)->rows += batch->selected;
    return OK;
}

static enum status noop_begin(struct sink *self, int64_t batch_id, uint32_t tasks,
                              struct error *err)
{
    (void)batch_id;
    (void)err;
    struct noop_sink *sink = sink_of(self);
    free(sink->tasks);
    sink->tasks = heap_calloc(tasks + 1, sizeof *sink->tasks);
    sink->task_count = tasks;
    for (uint32_t i = 0; i < tasks; i++)
        sink->tasks[i].receiver.receive = count_rows;
    return OK;
}

static struct batch_receiver *noop_writer(struct sink *self, uint32_t task)
{
    struct noop_sink *sink = sink_of(self);
    CHECK(task < sink->task_count);
    return &sink->tasks[task].receiver;
}

static enum status noop_task_finish(struct sink *self, uint32_t task, struct error *err)
{
    (void)self;
    (void)task;
    (void)err;
    return OK;
}

static enum status noop_stage(struct sink *self, bool *due, uint64_t *rows, struct error *err)
{
    (void)err;
    const struct noop_sink *sink = sink_of(self);
    *due = false;
    *rows = 0;
    for (uint32_t i = 0; i < sink->task_count; i++)
        *rows += sink->tasks[i].rows;
    return OK;
}

static enum status noop_commit(struct sink *self, int64_t batch_id, struct error *err)
{
    (void)self;
    (void)batch_id;
    (void)err;
    return OK;
}

static void noop_abort(struct sink *self)
{
    (void)self;
}

static const char *noop_description(const struct sink *self)
{
    (void)self;
    return "NoopTable"; /* as Spark calls it */
}

static void noop_close(struct sink *self)
{
    struct noop_sink *sink = sink_of(self);
    free(sink->tasks);
    sink->magic = 0;
    free(sink);
}

const struct sink_ops sink_noop = {
    .kind = "noop",
    .delivery = SINK_IDEMPOTENT,
    .modes = {true, true, true},
    .options = noop_options,
    .counts_rows = true,
    .check = noop_check,
    .open = noop_open,
    .last_batch = noop_last_batch,
    .begin = noop_begin,
    .writer = noop_writer,
    .task_finish = noop_task_finish,
    .stage = noop_stage,
    .commit = noop_commit,
    .abort = noop_abort,
    .description = noop_description,
    .close = noop_close,
};
