#include "sink_collect.h"

#include "base/check.h"
#include "cell_text.h"

#include <stdlib.h>
#include <strings.h>

struct row_list {
    char **rows;
    size_t count, capacity;
};

struct task_writer {
    struct batch_receiver receiver; /* first */
    struct row_list rows;
};

struct collect_sink {
    struct sink base; /* first */
    struct collected *collected;
    int64_t *last_batch;
    struct task_writer *writers;
    uint32_t writer_count;
};

static const struct collect_target *all_targets;
static size_t all_target_count;

static void (*commit_fn)(void *arg, const struct collected *collected,
                         const struct collected_batch *batch);
static void *commit_arg;

void sink_collect_on_commit(void (*fn)(void *arg, const struct collected *collected,
                                       const struct collected_batch *batch),
                            void *arg)
{
    commit_fn = fn;
    commit_arg = arg;
}

void sink_collect_targets(const struct collect_target *targets, size_t count)
{
    all_targets = targets;
    all_target_count = count;
}

static void *grow(void *items, size_t item_size, size_t *capacity)
{
    *capacity = *capacity == 0 ? 16 : *capacity * 2;
    void *grown = realloc(items, *capacity * item_size);
    CHECK(grown != NULL);
    return grown;
}

static void free_rows(char **rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(rows[i]);
    free(rows);
}

void collected_fini(struct collected *collected)
{
    for (size_t i = 0; i < collected->count; i++)
        free_rows(collected->batches[i].rows, collected->batches[i].row_count);
    free(collected->batches);
    arena_free(collected->arena);
    *collected = (struct collected){0};
}

size_t collected_rows(const struct collected *collected)
{
    size_t rows = 0;
    for (size_t i = 0; i < collected->count; i++)
        rows += collected->batches[i].row_count;
    return rows;
}

static enum status receive(struct batch_receiver *receiver, const struct batch *batch,
                           struct error *err)
{
    struct task_writer *writer = (struct task_writer *)receiver;
    struct buffer text = {0};
    for (uint32_t i = 0; i < batch->selected; i++) {
        buffer_clear(&text);
        if (cell_add_row(&text, batch, batch_row(batch, i), err) != OK)
            break;
        if (writer->rows.count == writer->rows.capacity)
            writer->rows.rows = grow(writer->rows.rows, sizeof(char *), &writer->rows.capacity);
        writer->rows.rows[writer->rows.count++] = strdup(buffer_text(&text));
    }
    buffer_fini(&text);
    return err->status;
}

static void drop_writers(struct collect_sink *sink)
{
    for (uint32_t i = 0; i < sink->writer_count; i++)
        free_rows(sink->writers[i].rows.rows, sink->writers[i].rows.count);
    free(sink->writers);
    sink->writers = NULL;
    sink->writer_count = 0;
}

static enum status collect_open(struct arena *query, const struct sink_config *config,
                                struct sink **out, struct error *err)
{
    const struct collect_target *target = NULL;
    (void)query;
    for (size_t i = 0; i < all_target_count; i++) {
        if (config->name != NULL && strcmp(all_targets[i].query_name, config->name) == 0)
            target = &all_targets[i];
    }
    if (target == NULL)
        return error_set(err, STATUS_INTERNAL_ERROR, "no test sink for this query");
    struct collected *collected = target->collected;
    if (collected->arena == NULL)
        collected->arena = arena_new("sink", 0);
    collected->schema = type_clone(collected->arena, config->schema);
    struct collect_sink *sink = calloc(1, sizeof(*sink));
    CHECK(sink != NULL);
    sink->base.ops = sink_collect_find("memory");
    sink->collected = collected;
    sink->last_batch = target->last_batch;
    *out = &sink->base;
    return OK;
}

static enum status last_batch(struct sink *self, int64_t *batch_id, struct error *err)
{
    (void)err;
    *batch_id = *((struct collect_sink *)self)->last_batch;
    return OK;
}

static enum status begin(struct sink *self, int64_t batch_id, uint32_t tasks, struct error *err)
{
    struct collect_sink *sink = (struct collect_sink *)self;
    (void)err;
    (void)batch_id;
    drop_writers(sink);
    sink->writers = calloc(tasks == 0 ? 1 : tasks, sizeof(*sink->writers));
    CHECK(sink->writers != NULL);
    sink->writer_count = tasks;
    for (uint32_t i = 0; i < tasks; i++)
        sink->writers[i].receiver.receive = receive;
    return OK;
}

static struct batch_receiver *writer(struct sink *self, uint32_t task)
{
    struct collect_sink *sink = (struct collect_sink *)self;
    CHECK(task < sink->writer_count);
    return &sink->writers[task].receiver;
}

static enum status task_finish(struct sink *self, uint32_t task, struct error *err)
{
    (void)self;
    (void)task;
    (void)err;
    return OK;
}

static enum status stage(struct sink *self, bool *due, uint64_t *rows, struct error *err)
{
    struct collect_sink *sink = (struct collect_sink *)self;
    (void)err;
    *due = true;
    *rows = 0;
    for (uint32_t i = 0; i < sink->writer_count; i++)
        *rows += sink->writers[i].rows.count;
    return OK;
}

/* The batch's place; a new one is made in order. */
static struct collected_batch *place_of(struct collected *collected, int64_t batch_id)
{
    size_t at = collected->count;
    while (at > 0 && collected->batches[at - 1].batch_id >= batch_id)
        at--;
    if (at < collected->count && collected->batches[at].batch_id == batch_id) {
        free_rows(collected->batches[at].rows, collected->batches[at].row_count);
        return &collected->batches[at];
    }
    if (collected->count == collected->capacity)
        collected->batches =
            grow(collected->batches, sizeof(*collected->batches), &collected->capacity);
    memmove(&collected->batches[at + 1], &collected->batches[at],
            (collected->count - at) * sizeof(*collected->batches));
    collected->count++;
    return &collected->batches[at];
}

void collected_put(struct collected *collected, struct collected_batch take_batch)
{
    *place_of(collected, take_batch.batch_id) = take_batch;
}

static enum status commit(struct sink *self, int64_t batch_id, struct error *err)
{
    struct collect_sink *sink = (struct collect_sink *)self;
    (void)err;
    if (sink->writers == NULL || sink->collected->frozen)
        return OK; /* committed before, or too late */
    struct row_list all = {0};
    for (uint32_t i = 0; i < sink->writer_count; i++) {
        struct row_list *rows = &sink->writers[i].rows;
        for (size_t k = 0; k < rows->count; k++) {
            if (all.count == all.capacity)
                all.rows = grow(all.rows, sizeof(char *), &all.capacity);
            all.rows[all.count++] = rows->rows[k];
        }
        free(rows->rows);
        *rows = (struct row_list){0};
    }
    struct collected_batch batch = {batch_id, all.rows, all.count};
    collected_put(sink->collected, batch);
    *sink->last_batch = batch_id;
    if (commit_fn != NULL)
        commit_fn(commit_arg, sink->collected, &batch);
    drop_writers(sink);
    return OK;
}

static void abort_batch(struct sink *self)
{
    drop_writers((struct collect_sink *)self);
}

static void close_sink(struct sink *self)
{
    drop_writers((struct collect_sink *)self);
    free(self);
}

static const struct option_def no_options[] = {{.name = NULL}};

static const struct sink_ops collect_ops = {
    .kind = "memory",
    .delivery = SINK_TRANSACTIONAL,
    .modes = {true, true, true},
    .options = no_options,
    .open = collect_open,
    .last_batch = last_batch,
    .begin = begin,
    .writer = writer,
    .task_finish = task_finish,
    .stage = stage,
    .commit = commit,
    .abort = abort_batch,
    .close = close_sink,
};

const struct sink_ops *sink_collect_find(const char *format)
{
    if (strcasecmp(format, "memory") == 0)
        return &collect_ops;
    return sink_find(format);
}
