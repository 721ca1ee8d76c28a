#include "source/source_memory.h"

#include "base/buffer.h"
#include "base/check.h"
#include "base/heap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_MAGIC 0x3e301001U

struct memory_chunk {
    uint64_t first;     /* row number of its first row */
    struct batch batch; /* dense */
    struct memory_chunk *next;
};

struct memory_partition {
    struct memory_chunk *chunks;
    struct memory_chunk *last;
    uint64_t rows;
};

struct memory_log {
    char *name;
    struct arena *arena;
    const struct type *schema;
    uint32_t partition_count;
    struct memory_partition partitions[MEMORY_PARTITIONS_MAX];
    struct memory_log *next;
};

static struct memory_log *logs; /* published; changed by the test's thread only */

struct memory_log *memory_log_find(const char *name)
{
    struct memory_log *log = logs;
    while (log != NULL && strcmp(log->name, name) != 0)
        log = log->next;
    return log;
}

struct memory_log *memory_log_new(const char *name, const struct type *schema, uint32_t partitions)
{
    CHECK(partitions >= 1 && partitions <= MEMORY_PARTITIONS_MAX);
    CHECK(memory_log_find(name) == NULL);
    struct memory_log *log = heap_calloc(1, sizeof *log);
    log->name = heap_strdup(name);
    log->arena = arena_new("test", 0);
    log->schema = type_clone(log->arena, schema);
    log->partition_count = partitions;
    log->next = logs;
    logs = log;
    return log;
}

void memory_log_free(struct memory_log *log)
{
    if (log == NULL)
        return;
    struct memory_log **at = &logs;
    while (*at != NULL && *at != log)
        at = &(*at)->next;
    CHECK(*at == log);
    *at = log->next;
    arena_free(log->arena);
    free(log->name);
    free(log);
}

enum status memory_log_append(struct memory_log *log, uint32_t partition, const struct batch *batch,
                              struct error *err)
{
    CHECK(partition < log->partition_count);
    struct memory_partition *target = &log->partitions[partition];
    struct memory_chunk *chunk = arena_new_object(log->arena, sizeof *chunk);
    struct batch dense;
    TRY(batch_compact(log->arena, batch, &dense, err));
    chunk->first = target->rows;
    chunk->batch = dense;
    chunk->batch.schema = log->schema;
    chunk->batch.columns =
        arena_new_object(log->arena, (log->schema->field_count + 1) * sizeof(struct vector *));
    for (uint32_t i = 0; i < log->schema->field_count; i++)
        TRY(vector_clone(log->arena, dense.columns[i], &chunk->batch.columns[i], err));
    if (target->last == NULL)
        target->chunks = chunk;
    else
        target->last->next = chunk;
    target->last = chunk;
    target->rows += dense.rows;
    return OK;
}

uint64_t memory_log_rows(const struct memory_log *log, uint32_t partition)
{
    CHECK(partition < log->partition_count);
    return log->partitions[partition].rows;
}

static const struct option_def memory_options[] = {
    {"log", OPTION_TEXT, 0, 0, NULL, "Name of the log; default: the source's name."},
    {0},
};

struct memory_offset {
    uint64_t rows[MEMORY_PARTITIONS_MAX];
};

struct memory_source {
    struct source base;
    uint32_t magic;
    struct arena *query;
    struct memory_log *log;
    const uint32_t *columns;
    uint32_t column_count;
    const struct type *bound;
    struct memory_offset planned;
    struct memory_offset frozen;
    bool is_frozen;
};

struct memory_split {
    uint32_t partition;
    uint64_t start;
    uint64_t end;
};

static struct memory_source *source_of(struct source *self)
{
    struct memory_source *source = (struct memory_source *)self;
    CHECK_MAGIC(source, MEMORY_MAGIC);
    return source;
}

static enum status memory_open(struct arena *query, const struct source_config *config,
                               struct source **out, struct error *err)
{
    const struct option_def *const tables[] = {memory_options, NULL};
    TRY(options_check(config->options, tables, err));
    const char *name = options_get(config->options, "log");
    struct memory_log *log = memory_log_find(name == NULL ? config->name : name);
    if (log == NULL)
        return error_raise(err, STATUS_DATA_SOURCE_NOT_FOUND, "provider", "memory", NULL);
    struct memory_source *source = heap_calloc(1, sizeof *source);
    source->base.ops = &source_memory;
    source->magic = MEMORY_MAGIC;
    source->query = query;
    source->log = log;
    *out = &source->base;
    return OK;
}

static const struct type *memory_schema(const struct source *self)
{
    return ((const struct memory_source *)self)->log->schema;
}

static enum status memory_bind(struct source *self, const uint32_t *columns, uint32_t count,
                               struct error *err)
{
    (void)err;
    struct memory_source *source = source_of(self);
    const struct type *schema = source->log->schema;
    struct type_field *fields = arena_new_object(source->query, (count + 1) * sizeof *fields);
    uint32_t *copy = arena_new_object(source->query, (count + 1) * sizeof *copy);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(columns[i] < schema->field_count);
        copy[i] = columns[i];
        fields[i] = schema->fields[columns[i]];
    }
    source->columns = copy;
    source->column_count = count;
    source->bound = type_struct(source->query, fields, count);
    return OK;
}

static struct bytes offset_text(const struct memory_source *source, struct arena *batch,
                                const struct memory_offset *offset)
{
    struct buffer out = {0};
    for (uint32_t i = 0; i < source->log->partition_count; i++)
        buffer_printf(&out, "%s\"%u\":%" PRIu64, i == 0 ? "{" : ",", i, offset->rows[i]);
    buffer_add_byte(&out, '}');
    struct bytes text = arena_copy(batch, buffer_bytes(&out));
    buffer_fini(&out);
    return text;
}

static enum status parse_offset(struct arena *arena, struct bytes text, struct memory_offset *out,
                                struct error *err)
{
    memset(out, 0, sizeof *out);
    char *at = arena_strndup(arena, text.data, text.size_bytes);
    while (*at != '\0') {
        at += strcspn(at, "\"");
        if (*at == '\0')
            break;
        char *end = NULL;
        unsigned long partition = strtoul(at + 1, &end, 10);
        if (partition >= MEMORY_PARTITIONS_MAX || end[0] != '"' || end[1] != ':')
            return error_raise(err, STATUS_CHECKPOINT__INCONSISTENT, "path", "sources", "facts",
                               "an offset of a memory source cannot be read", NULL);
        out->rows[partition] = strtoull(end + 2, &at, 10);
    }
    return OK;
}

static enum status memory_recover(struct source *self, const struct source_range *committed,
                                  const struct source_range *pending, size_t pending_count,
                                  struct error *err)
{
    struct memory_source *source = source_of(self);
    if (committed != NULL)
        TRY(parse_offset(source->query, committed->end, &source->planned, err));
    for (size_t i = 0; i < pending_count; i++)
        TRY(parse_offset(source->query, pending[i].end, &source->planned, err));
    return OK;
}

static struct memory_offset offset_now(const struct memory_source *source)
{
    struct memory_offset now = {0};
    for (uint32_t i = 0; i < source->log->partition_count; i++)
        now.rows[i] = source->log->partitions[i].rows;
    return now;
}

static enum status memory_freeze(struct source *self, struct error *err)
{
    (void)err;
    struct memory_source *source = source_of(self);
    source->is_frozen = true;
    source->frozen = offset_now(source);
    return OK;
}

static enum status memory_plan(struct source *self, bool unlimited, struct arena *batch,
                               struct source_range *range, bool *found, struct error *err)
{
    (void)unlimited;
    (void)err;
    struct memory_source *source = source_of(self);
    struct memory_offset end = source->is_frozen ? source->frozen : offset_now(source);
    *found = memcmp(&end, &source->planned, sizeof end) != 0;
    if (!*found)
        return OK;
    range->start = offset_text(source, batch, &source->planned);
    range->end = offset_text(source, batch, &end);
    source->planned = end;
    return OK;
}

static struct bytes memory_latest(struct source *self, struct arena *batch)
{
    struct memory_source *source = source_of(self);
    struct memory_offset now = offset_now(source);
    return offset_text(source, batch, &now);
}

static enum status memory_splits(struct source *self, const struct source_range *range,
                                 struct arena *batch, struct source_split **out, size_t *count,
                                 struct error *err)
{
    struct memory_source *source = source_of(self);
    struct memory_offset start;
    struct memory_offset end;
    TRY(parse_offset(batch, range->start, &start, err));
    TRY(parse_offset(batch, range->end, &end, err));
    uint32_t partitions = source->log->partition_count;
    struct source_split *splits = arena_new_object(batch, (partitions + 1) * sizeof *splits);
    *count = 0;
    for (uint32_t i = 0; i < partitions; i++) {
        if (end.rows[i] <= start.rows[i])
            continue;
        struct memory_split *detail = arena_new_object(batch, sizeof *detail);
        *detail = (struct memory_split){i, start.rows[i], end.rows[i]};
        uint64_t rows = end.rows[i] - start.rows[i];
        splits[(*count)++] = (struct source_split){
            .estimated_rows = rows, .estimated_bytes = rows * 64, .detail = detail};
    }
    *out = splits;
    return OK;
}

/* The rows [from, to) of a chunk, as a selection. */
static enum status deliver_chunk(const struct memory_source *source,
                                 const struct memory_chunk *chunk, const struct memory_split *split,
                                 struct batch_receiver *receiver, struct error *err)
{
    struct vector *columns[1024];
    uint16_t selection[BATCH_ROWS_MAX];
    struct batch out = {.schema = source->bound,
                        .columns = columns,
                        .rows = chunk->batch.rows,
                        .selection = selection};
    CHECK(source->column_count <= 1024);
    for (uint32_t i = 0; i < source->column_count; i++)
        columns[i] = chunk->batch.columns[source->columns[i]];
    for (uint32_t row = 0; row < chunk->batch.rows; row++)
        if (chunk->first + row >= split->start && chunk->first + row < split->end)
            selection[out.selected++] = (uint16_t)row;
    if (out.selected == 0)
        return OK;
    if (out.selected == out.rows)
        out.selection = NULL;
    return batch_receive(receiver, &out, err);
}

static enum status memory_read(struct source *self, const struct source_split *split,
                               struct batch_receiver *receiver, struct error *err)
{
    const struct memory_source *source = source_of(self);
    const struct memory_split *detail = split->detail;
    for (const struct memory_chunk *chunk = source->log->partitions[detail->partition].chunks;
         chunk != NULL; chunk = chunk->next)
        TRY(deliver_chunk(source, chunk, detail, receiver, err));
    return OK;
}

static const char *memory_description(const struct source *self)
{
    (void)self;
    return "MemoryStream";
}

static void memory_close(struct source *self)
{
    struct memory_source *source = source_of(self);
    source->magic = 0;
    free(source);
}

const struct source_ops source_memory = {
    .kind = "memory",
    .replayable = true,
    .options = memory_options,
    .open = memory_open,
    .schema = memory_schema,
    .bind = memory_bind,
    .recover = memory_recover,
    .freeze = memory_freeze,
    .plan = memory_plan,
    .latest = memory_latest,
    .splits = memory_splits,
    .read = memory_read,
    .description = memory_description,
    .close = memory_close,
};
