#include "sink/sink_memory.h"

#include "base/check.h"
#include "base/heap.h"
#include "sink/row_collector.h"
#include "sink/row_json.h"

#include <stdlib.h>
#include <string.h>

#define SINK_MEMORY_MAGIC 0x3e30e001U

struct memory_batch {
    int64_t batch_id;
    struct row_collector *rows;
    struct memory_batch *next;
};

struct memory_table {
    char *name;
    struct arena *arena;
    const struct type *schema;
    struct memory_batch *batches; /* by rising id */
    struct memory_table *next;
};

static struct memory_table *tables; /* of this process; changed by the batch thread only */

struct memory_table *memory_table_find(const char *name)
{
    struct memory_table *table = tables;
    while (table != NULL && strcmp(table->name, name) != 0)
        table = table->next;
    return table;
}

static void clear_batches(struct memory_table *table)
{
    while (table->batches != NULL) {
        struct memory_batch *batch = table->batches;
        table->batches = batch->next;
        row_collector_free(batch->rows);
        free(batch);
    }
}

void memory_table_drop(const char *name)
{
    struct memory_table **at = &tables;
    while (*at != NULL && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    if (*at == NULL)
        return;
    struct memory_table *table = *at;
    *at = table->next;
    clear_batches(table);
    arena_free(table->arena);
    free(table->name);
    free(table);
}

/* The table of this name; one with other columns is replaced. */
static struct memory_table *table_open(const char *name, const struct type *schema)
{
    struct memory_table *table = memory_table_find(name);
    if (table != NULL && type_equal(table->schema, schema))
        return table;
    memory_table_drop(name);
    table = heap_calloc(1, sizeof *table);
    table->name = heap_strdup(name);
    table->arena = arena_new("process", 0);
    table->schema = type_clone(table->arena, schema);
    table->next = tables;
    tables = table;
    return table;
}

const struct type *memory_table_schema(const struct memory_table *table)
{
    return table->schema;
}

int64_t memory_table_last_batch(const struct memory_table *table)
{
    int64_t last = NO_BATCH;
    for (const struct memory_batch *batch = table->batches; batch != NULL; batch = batch->next)
        last = batch->batch_id;
    return last;
}

uint64_t memory_table_rows(const struct memory_table *table)
{
    uint64_t rows = 0;
    for (const struct memory_batch *batch = table->batches; batch != NULL; batch = batch->next)
        rows += row_collector_rows(batch->rows);
    return rows;
}

struct visit {
    void (*fn)(void *arg, int64_t batch_id, const struct batch *batch);
    void *arg;
    int64_t batch_id;
};

static bool visit_batch(void *arg, const struct batch *batch)
{
    const struct visit *visit = arg;
    visit->fn(visit->arg, visit->batch_id, batch);
    return true;
}

void memory_table_visit(const struct memory_table *table, int64_t after,
                        void (*fn)(void *arg, int64_t batch_id, const struct batch *batch),
                        void *arg)
{
    for (const struct memory_batch *batch = table->batches; batch != NULL; batch = batch->next) {
        struct visit visit = {.fn = fn, .arg = arg, .batch_id = batch->batch_id};
        if (batch->batch_id > after)
            row_collector_visit(batch->rows, visit_batch, &visit);
    }
}

static const struct option_def memory_options[] = {
    {"maxBytes", OPTION_BYTES, 0, 0, "256m", "Most memory that the rows of one batch may take."},
    {0},
};

struct memory_sink {
    struct sink base;
    uint32_t magic;
    struct memory_table *table;
    enum output_mode mode;
    size_t bytes_max;
    struct row_collector *staged;
    int64_t staged_batch;
};

static struct memory_sink *sink_of(struct sink *self)
{
    struct memory_sink *sink = (struct memory_sink *)self;
    CHECK_MAGIC(sink, SINK_MEMORY_MAGIC);
    return sink;
}

static enum status read_options(const struct sink_config *config, int64_t *bytes_max,
                                struct error *err)
{
    const struct option_def *const known[] = {memory_options, NULL};
    TRY(options_check(config->options, known, err));
    TRY(options_bytes(config->options, "maxBytes", (int64_t)MEMORY_TABLE_BYTES_MAX, bytes_max,
                      err));
    if (config->partition_by_count > 0)
        return error_raise(err, STATUS_NOT_SUPPORTED, "feature", "partitionBy of a memory sink",
                           NULL);
    return OK;
}

static enum status memory_check(struct arena *request, const struct sink_config *config,
                                struct error *err)
{
    (void)request;
    int64_t bytes_max = 0;
    return read_options(config, &bytes_max, err);
}

static enum status memory_open(struct arena *query, const struct sink_config *config,
                               struct sink **out, struct error *err)
{
    (void)query;
    int64_t bytes_max = 0;
    TRY(read_options(config, &bytes_max, err));
    struct memory_sink *sink = heap_calloc(1, sizeof *sink);
    sink->base.ops = &sink_memory;
    sink->magic = SINK_MEMORY_MAGIC;
    sink->table = table_open(config->name == NULL ? "" : config->name, config->schema);
    sink->mode = config->mode;
    sink->bytes_max = (size_t)bytes_max;
    sink->staged_batch = NO_BATCH;
    *out = &sink->base;
    return OK;
}

static enum status memory_last_batch(struct sink *self, int64_t *batch_id, struct error *err)
{
    (void)err;
    struct memory_sink *sink = sink_of(self);
    *batch_id = memory_table_last_batch(sink->table);
    if (*batch_id == NO_BATCH)
        *batch_id = SINK_CANNOT_TELL; /* it may have been another process's memory */
    return OK;
}

static enum status memory_begin(struct sink *self, int64_t batch_id, uint32_t tasks,
                                struct error *err)
{
    (void)err;
    struct memory_sink *sink = sink_of(self);
    if (sink->staged == NULL)
        sink->staged = row_collector_new(UINT64_MAX, sink->bytes_max);
    row_collector_begin(sink->staged, sink->table->schema, tasks);
    sink->staged_batch = batch_id;
    return OK;
}

static struct batch_receiver *memory_writer(struct sink *self, uint32_t task)
{
    return row_collector_task(sink_of(self)->staged, task);
}

static enum status memory_task_finish(struct sink *self, uint32_t task, struct error *err)
{
    (void)self;
    (void)task;
    (void)err;
    return OK;
}

static enum status memory_stage(struct sink *self, bool *due, uint64_t *rows, struct error *err)
{
    (void)err;
    struct memory_sink *sink = sink_of(self);
    *rows = row_collector_rows(sink->staged);
    /* A complete result without rows empties the table. */
    *due = *rows > 0 || (sink->mode == MODE_COMPLETE && sink->table->batches != NULL);
    return OK;
}

static enum status memory_commit(struct sink *self, int64_t batch_id, struct error *err)
{
    (void)err;
    struct memory_sink *sink = sink_of(self);
    CHECK(sink->staged != NULL && sink->staged_batch == batch_id);
    if (sink->mode == MODE_COMPLETE)
        clear_batches(sink->table);
    struct memory_batch **at = &sink->table->batches;
    while (*at != NULL && (*at)->batch_id < batch_id)
        at = &(*at)->next;
    if (*at == NULL || (*at)->batch_id != batch_id) {
        struct memory_batch *batch = heap_calloc(1, sizeof *batch);
        batch->batch_id = batch_id;
        batch->next = *at;
        *at = batch;
    }
    row_collector_free((*at)->rows);
    (*at)->rows = sink->staged;
    sink->staged = NULL;
    sink->staged_batch = NO_BATCH;
    return OK;
}

static void memory_abort(struct sink *self)
{
    struct memory_sink *sink = sink_of(self);
    row_collector_free(sink->staged);
    sink->staged = NULL;
    sink->staged_batch = NO_BATCH;
}

/* Encodes all rows but the first `skip`. */
struct encoding {
    struct row_json *json;
    uint64_t skip;
    struct buffer *out;
    enum status status;
    struct error *err;
};

static void encode_batch(void *arg, int64_t batch_id, const struct batch *batch)
{
    struct encoding *encoding = arg;
    (void)batch_id;
    if (encoding->status != OK)
        return;
    if (encoding->skip >= batch->selected) {
        encoding->skip -= batch->selected;
        return;
    }
    encoding->status = row_json_add(encoding->json, batch, encoding->out, encoding->err);
    /* The first batch that is encoded may begin with rows that were not asked for. */
    size_t cut = 0;
    for (; encoding->skip > 0 && cut < encoding->out->size_bytes; cut++)
        encoding->skip -= encoding->out->data[cut] == '\n';
    memmove(encoding->out->data, encoding->out->data + cut, encoding->out->size_bytes - cut);
    encoding->out->size_bytes -= cut;
}

static enum status memory_results(struct sink *self, uint64_t rows_max, struct buffer *out,
                                  struct error *err)
{
    struct memory_sink *sink = sink_of(self);
    uint64_t rows = memory_table_rows(sink->table);
    if (rows == 0 || rows_max == 0)
        return OK;
    struct buffer lines = {0};
    struct encoding encoding = {
        .skip = rows > rows_max ? rows - rows_max : 0, .out = &lines, .err = err};
    enum status status = row_json_new(sink->table->schema, "UTC", &encoding.json, err);
    if (status == OK) {
        memory_table_visit(sink->table, NO_BATCH, encode_batch, &encoding);
        status = encoding.status;
    }
    if (status == OK)
        buffer_add_bytes(out, buffer_bytes(&lines));
    buffer_fini(&lines);
    row_json_free(encoding.json);
    return status;
}

static const char *memory_description(const struct sink *self)
{
    (void)self;
    return "MemorySink";
}

static void memory_close(struct sink *self)
{
    struct memory_sink *sink = sink_of(self);
    row_collector_free(sink->staged);
    sink->magic = 0;
    free(sink);
}

const struct sink_ops sink_memory = {
    .kind = "memory",
    .delivery = SINK_IDEMPOTENT,
    .modes = {true, true, true},
    .options = memory_options,
    .counts_rows = true,
    .check = memory_check,
    .open = memory_open,
    .last_batch = memory_last_batch,
    .begin = memory_begin,
    .writer = memory_writer,
    .task_finish = memory_task_finish,
    .stage = memory_stage,
    .commit = memory_commit,
    .abort = memory_abort,
    .results = memory_results,
    .description = memory_description,
    .close = memory_close,
};
