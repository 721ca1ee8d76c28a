#include "sink/part_writer.h"

#include "base/check.h"
#include "base/failpoint.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/path.h"
#include "columnar/value_text.h"
#include "sink/dir_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_BYTES ((size_t)256 << 10)
#define KEEP_BYTES  ((size_t)4 << 20)
#define OPEN_MAX    1024 /* parts a task writes at the same time ... */
#define FILES_MAX   256  /* ... and those of them that have something on disk */

/* A directory, with the file that is being written to it. */
struct dir_part {
    const char *dir;                /* "k=v/k=v", "" without partitions */
    struct dir_part *older, *newer; /* of the open ones, as they were used */
    struct record_writer *records;  /* NULL: none is open */
    struct vfs_file *file;          /* NULL: nothing on disk yet */
    struct buffer out;
    char *staged;
    uint64_t rows;
    uint64_t size_bytes;
    uint32_t sequence; /* of the next file: c000, c001 */

    /* the rows of the batch at hand: places in its selection */
    uint32_t first, last;
    uint32_t selected;
};

struct finished {
    struct part part;
    enum part_state state;
};

struct part_writer {
    struct batch_receiver receiver;
    const struct part_config *config;
    int64_t batch_id;
    uint32_t task;
    struct arena *arena;     /* names */
    struct dir_part **parts; /* in the order they came */
    size_t part_count;
    size_t part_capacity;
    struct dir_part *oldest, *newest; /* the open ones */
    size_t open_count;
    size_t file_count;
    struct finished *finished;
    size_t finished_count;
    size_t finished_capacity;
    uint32_t staged_count;
    uint64_t rows;
    struct dir_table dirs; /* number: index + 1 of its part */
    struct buffer key;
    struct buffer cell;

    /* a batch, directory by directory */
    struct dir_part *touched[BATCH_ROWS_MAX];
    uint32_t touched_count;
    uint16_t next[BATCH_ROWS_MAX]; /* the place after one, of the same directory */
    uint16_t selection[BATCH_ROWS_MAX];
};

static bool must_escape(uint8_t c)
{
    return c < 0x20 || c == 0x7f || (c != 0 && strchr("\"#%'*/:=?\\{[]^", c) != NULL);
}

static void escape_text(struct buffer *out, struct bytes text)
{
    for (size_t i = 0; i < text.size_bytes; i++) {
        if (must_escape(text.data[i]))
            buffer_printf(out, "%%%02X", (unsigned)text.data[i]);
        else
            buffer_add_byte(out, text.data[i]);
    }
}

void part_escape(struct buffer *out, const char *name, struct bytes value, bool is_null)
{
    escape_text(out, bytes_of_text(name));
    buffer_add_byte(out, '=');
    if (is_null || value.size_bytes == 0)
        buffer_add_text(out, PART_DEFAULT_PARTITION);
    else
        escape_text(out, value);
}

static void part_free(struct part_writer *writer, struct dir_part *part)
{
    if (part->records != NULL)
        writer->config->format->write_close(part->records);
    vfs_close(part->file);
    buffer_fini(&part->out);
    free(part);
}

/* The directory of a row: "k=v/k=v". */
static void row_directory(struct part_writer *writer, const struct batch *batch, uint32_t row)
{
    const struct part_config *config = writer->config;
    buffer_clear(&writer->key);
    for (uint32_t i = 0; i < config->partition_count; i++) {
        const struct vector *vector = batch->columns[config->partition_columns[i]];
        bool is_null = vector_is_null(vector, row);
        buffer_clear(&writer->cell);
        if (!is_null)
            value_text_print(&writer->cell, vector, row, config->zone);
        if (i > 0)
            buffer_add_byte(&writer->key, '/');
        part_escape(&writer->key, config->partition_names[i], buffer_bytes(&writer->cell), is_null);
    }
}

/* ---- the open ones: the least recently used is the first to be ended ---- */

static void unlink_part(struct part_writer *writer, struct dir_part *part)
{
    *(part->older == NULL ? &writer->oldest : &part->older->newer) = part->newer;
    *(part->newer == NULL ? &writer->newest : &part->newer->older) = part->older;
    part->older = part->newer = NULL;
    writer->open_count--;
}

static void link_newest(struct part_writer *writer, struct dir_part *part)
{
    part->older = writer->newest;
    *(writer->newest == NULL ? &writer->oldest : &writer->newest->newer) = part;
    writer->newest = part;
    writer->open_count++;
}

static enum status append_out(struct dir_part *part, struct error *err)
{
    TRY(vfs_append(part->file, buffer_bytes(&part->out), err));
    part->size_bytes += part->out.size_bytes;
    if (part->out.capacity_bytes > KEEP_BYTES) /* a whole row group of Parquet */
        buffer_fini(&part->out);
    buffer_clear(&part->out);
    return FAILPOINT(mid_write, err);
}

static char *final_name(struct part_writer *writer, const struct dir_part *part)
{
    const struct part_config *config = writer->config;
    bool plain = part->dir[0] == '\0';
    return arena_sprintf(writer->arena,
                         "%s%spart-%05" PRIu32 "-%s-%010" PRId64 "%cc%03" PRIu32 "%s", part->dir,
                         plain ? "" : "/", writer->task, config->query_id, writer->batch_id,
                         plain ? '-' : '.', part->sequence, config->extension);
}

/* Ends a part that has a file; its data is durable afterwards. */
static enum status end_file(struct part_writer *writer, struct dir_part *part, struct error *err)
{
    CHECK(part->records != NULL && part->file != NULL);
    TRY(writer->config->format->finish(part->records, &part->out, err));
    TRY(append_out(part, err));
    TRY(vfs_sync_data(part->file, err));
    if (writer->finished_count == writer->finished_capacity) {
        writer->finished_capacity =
            writer->finished_capacity == 0 ? 4 : writer->finished_capacity * 2;
        writer->finished =
            heap_realloc(writer->finished, writer->finished_capacity * sizeof *writer->finished);
    }
    writer->finished[writer->finished_count++] =
        (struct finished){.part = {.staged = part->staged,
                                   .final = final_name(writer, part),
                                   .rows = part->rows,
                                   .size_bytes = part->size_bytes}};
    writer->config->format->write_close(part->records);
    part->records = NULL;
    vfs_close(part->file);
    part->file = NULL;
    part->staged = NULL;
    part->sequence++;
    buffer_fini(&part->out);
    writer->file_count--;
    unlink_part(writer, part);
    return OK;
}

static enum status create_file(struct part_writer *writer, struct dir_part *part, struct error *err)
{
    const struct part_config *config = writer->config;
    if (writer->file_count == FILES_MAX) {
        struct dir_part *unused = writer->oldest;
        while (unused != NULL && unused->file == NULL)
            unused = unused->newer;
        CHECK(unused != NULL);
        TRY(end_file(writer, unused, err));
    }
    part->staged = arena_sprintf(
        writer->arena, "%s/.tidemill-%s.%" PRId64 ".%" PRIu32 ".%" PRIu32 ".tmp", config->dir,
        config->query_id, writer->batch_id, writer->task, writer->staged_count++);
    TRY(vfs_open(config->vfs, part->staged, 0, 0, &part->file, err));
    writer->file_count++;
    return OK;
}

static enum status flush_part(struct part_writer *writer, struct dir_part *part, struct error *err)
{
    if (part->file == NULL)
        TRY(create_file(writer, part, err));
    return append_out(part, err);
}

static enum status end_part(struct part_writer *writer, struct dir_part *part, struct error *err)
{
    if (part->file == NULL)
        TRY(create_file(writer, part, err));
    return end_file(writer, part, err);
}

/* Opens it if need be; it is the newest then. */
static enum status use_part(struct part_writer *writer, struct dir_part *part, struct error *err)
{
    if (part->records != NULL) {
        unlink_part(writer, part);
    } else {
        if (writer->open_count == OPEN_MAX)
            TRY(end_part(writer, writer->oldest, err));
        part->rows = 0;
        part->size_bytes = 0;
        TRY(writer->config->format->write_open(writer->config->writer, &part->records, err));
    }
    link_newest(writer, part);
    return OK;
}

/* The part of the directory `dir`, open or not. */
static struct dir_part *part_of(struct part_writer *writer, const char *dir)
{
    struct dir_entry *entry = dir_table_at(&writer->dirs, dir);
    if (entry->number > 0)
        return writer->parts[entry->number - 1];
    if (writer->part_count == writer->part_capacity) {
        writer->part_capacity = writer->part_capacity == 0 ? 8 : writer->part_capacity * 2;
        writer->parts = heap_realloc(writer->parts, writer->part_capacity * sizeof *writer->parts);
    }
    struct dir_part *part = heap_calloc(1, sizeof *part);
    part->dir = entry->dir;
    writer->parts[writer->part_count++] = part;
    entry->number = (uint32_t)writer->part_count;
    return part;
}

/* Encodes the rows of `batch`, whose columns are those of the files, into one part. */
static enum status write_rows(struct part_writer *writer, struct dir_part *part,
                              const struct batch *batch, struct error *err)
{
    const struct part_config *config = writer->config;
    struct batch slice = *batch;
    uint16_t selection[BATCH_ROWS_MAX];
    TRY(use_part(writer, part, err));
    for (uint32_t done = 0; done < batch->selected;) {
        uint32_t count = batch->selected - done;
        if (config->records_max > 0 && part->rows == config->records_max) {
            TRY(end_part(writer, part, err));
            TRY(use_part(writer, part, err));
        }
        if (config->records_max > 0 && count > config->records_max - part->rows)
            count = (uint32_t)(config->records_max - part->rows);
        if (count < batch->selected) {
            for (uint32_t i = 0; i < count; i++)
                selection[i] = (uint16_t)batch_row(batch, done + i);
            slice.selection = selection;
            slice.selected = count;
        }
        TRY(config->format->write(part->records, &slice, &part->out, err));
        part->rows += count;
        done += count;
        if (part->out.size_bytes >= FLUSH_BYTES)
            TRY(flush_part(writer, part, err));
    }
    return OK;
}

/* The columns that go into the files, the rows as they are selected. */
static struct batch data_batch(const struct part_config *config, const struct batch *batch,
                               struct vector **columns)
{
    struct batch out = *batch;
    for (uint32_t i = 0; i < config->data_schema->field_count; i++)
        columns[i] = batch->columns[config->data_columns[i]];
    out.schema = config->data_schema;
    out.columns = columns;
    return out;
}

/* The rows of one directory. */
static enum status write_touched(struct part_writer *writer, struct dir_part *part,
                                 const struct batch *data, struct error *err)
{
    struct batch out = *data;
    uint32_t place = part->first;
    for (uint32_t i = 0; i < part->selected; i++, place = writer->next[place])
        writer->selection[i] = (uint16_t)batch_row(data, place);
    out.selection = writer->selection;
    out.selected = part->selected;
    part->selected = 0;
    return write_rows(writer, part, &out, err);
}

/* Directory by directory, first those that are open, before others end them. */
static enum status scatter(struct part_writer *writer, const struct batch *batch,
                           const struct batch *data, struct error *err)
{
    struct dir_part *part = NULL;
    writer->touched_count = 0;
    for (uint32_t i = 0; i < batch->selected; i++) {
        row_directory(writer, batch, batch_row(batch, i));
        if (part == NULL || !bytes_equal(bytes_of_text(part->dir), buffer_bytes(&writer->key)))
            part = part_of(writer, buffer_text(&writer->key));
        if (part->selected == 0) {
            writer->touched[writer->touched_count++] = part;
            part->first = i;
        } else {
            writer->next[part->last] = (uint16_t)i;
        }
        part->last = i;
        part->selected++;
    }
    for (uint32_t i = 0; i < writer->touched_count; i++)
        if (writer->touched[i]->records != NULL)
            TRY(write_touched(writer, writer->touched[i], data, err));
    for (uint32_t i = 0; i < writer->touched_count; i++)
        if (writer->touched[i]->selected > 0)
            TRY(write_touched(writer, writer->touched[i], data, err));
    return OK;
}

static enum status receive(struct batch_receiver *self, const struct batch *batch,
                           struct error *err)
{
    struct part_writer *writer = (struct part_writer *)self;
    const struct part_config *config = writer->config;
    if (batch->selected == 0)
        return OK;
    writer->rows += batch->selected;
    if (config->partition_count == 0)
        return write_rows(writer, part_of(writer, ""), batch, err);
    struct vector **columns =
        heap_calloc(config->data_schema->field_count + 1, sizeof(struct vector *));
    struct batch data = data_batch(config, batch, columns);
    enum status status = scatter(writer, batch, &data, err);
    free(columns);
    return status;
}

struct part_writer *part_writer_new(const struct part_config *config, int64_t batch_id,
                                    uint32_t task)
{
    struct part_writer *writer = heap_calloc(1, sizeof *writer);
    writer->receiver.receive = receive;
    writer->config = config;
    writer->batch_id = batch_id;
    writer->task = task;
    writer->arena = arena_new("batch", 0);
    return writer;
}

static void remove_staged(struct part_writer *writer, const char *staged)
{
    struct error ignored = ERROR_INIT;
    if (staged != NULL && vfs_remove(writer->config->vfs, staged, &ignored) != OK)
        error_clear(&ignored); /* the next open of the sink finds it */
}

void part_writer_free(struct part_writer *writer)
{
    if (writer == NULL)
        return;
    for (size_t i = 0; i < writer->part_count; i++) {
        const char *staged = writer->parts[i]->staged;
        part_free(writer, writer->parts[i]);
        remove_staged(writer, staged);
    }
    free(writer->parts);
    for (size_t i = 0; i < writer->finished_count; i++)
        if (writer->finished[i].state == PART_STAGED)
            remove_staged(writer, writer->finished[i].part.staged);
    free(writer->finished);
    dir_table_fini(&writer->dirs);
    buffer_fini(&writer->key);
    buffer_fini(&writer->cell);
    arena_free(writer->arena);
    free(writer);
}

struct batch_receiver *part_writer_receiver(struct part_writer *writer)
{
    return &writer->receiver;
}

static int compare_finished(const void *a, const void *b)
{
    const struct finished *left = a;
    const struct finished *right = b;
    return strcmp(left->part.final, right->part.final);
}

enum status part_writer_finish(struct part_writer *writer, struct error *err)
{
    if (writer->config->empty_file && writer->task == 0 && writer->rows == 0)
        TRY(use_part(writer, part_of(writer, ""), err));
    while (writer->oldest != NULL)
        TRY(end_part(writer, writer->oldest, err));
    if (writer->finished_count > 1)
        qsort(writer->finished, writer->finished_count, sizeof *writer->finished, compare_finished);
    return OK;
}

size_t part_writer_count(const struct part_writer *writer)
{
    return writer->finished_count;
}

const struct part *part_writer_part(const struct part_writer *writer, size_t i)
{
    CHECK(i < writer->finished_count);
    return &writer->finished[i].part;
}

uint64_t part_writer_rows(const struct part_writer *writer)
{
    return writer->rows;
}

enum part_state part_writer_state(const struct part_writer *writer, size_t i)
{
    CHECK(i < writer->finished_count);
    return writer->finished[i].state;
}

void part_writer_set_state(struct part_writer *writer, size_t i, enum part_state state)
{
    CHECK(i < writer->finished_count);
    writer->finished[i].state = state;
}
