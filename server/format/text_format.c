/*
 * The text format: one STRING column; a row is a line, or a whole file with wholetext.  Bytes are
 * kept as they are, valid UTF-8 or not; `encoding` only says in which bytes lineSep is to be
 * looked for.
 */
#include "format/text_format.h"
#include "base/check.h"
#include "base/heap.h"
#include "format/file_output.h"
#include "format/line_reader.h"
#include "format/text_print.h"

#include <stdio.h>
#include <stdlib.h>

#define TEXT_READER_MAGIC 0x7e872ead
#define TEXT_TASK_MAGIC   0x7e877a5c
#define TEXT_WRITER_MAGIC 0x7e873217
#define TEXT_FILE_MAGIC   0x7e87f11e

static const struct option_def read_options[] = {
    {"wholetext", OPTION_BOOL, 0, 0, "false", "a file is one row"},
    {"lineSep", OPTION_TEXT, 0, 0, NULL, "what separates rows; by default \\n, \\r and \\r\\n"},
    {"encoding", OPTION_TEXT, 0, 0, NULL, "charset of lineSep"},
    {"charset", OPTION_TEXT, 0, 0, NULL, "another name of encoding"},
    {NULL, OPTION_TEXT, 0, 0, NULL, NULL},
};

static const struct option_def write_options[] = {
    {"compression", OPTION_TEXT, 0, 0, "none", "none, gzip, deflate, bzip2, zstd, lz4 or snappy"},
    {"lineSep", OPTION_TEXT, 0, 0, "\n", "what is written behind each row"},
    {"encoding", OPTION_TEXT, 0, 0, NULL, "has no effect: texts are written as they are"},
    {"wholetext", OPTION_BOOL, 0, 0, "false", "for reading only"},
    {NULL, OPTION_TEXT, 0, 0, NULL, NULL},
};

struct text_reader {
    uint32_t magic;
    struct record_options options;
    bool whole;
};

struct text_task {
    uint32_t magic;
    const struct text_reader *reader;
    struct line_reader lines;
    bool whole_done;
};

static enum status wrong_size(const struct type *schema, struct error *err)
{
    char size[16];
    (void)snprintf(size, sizeof size, "%u", schema->field_count);
    return error_raise(err, STATUS__LEGACY_ERROR_TEMP_1290, "schemaSize", size, NULL);
}

/* Spark says so of the first column that is no text, however many there are. */
static enum status not_text(const struct type *schema, uint32_t index, struct error *err)
{
    (void)unsupported_type("Text", &schema->fields[index], err);
    size_t used = strlen(err->text);
    (void)snprintf(err->text + used, sizeof err->text - used,
                   ". The text format has one column of the type STRING%s: select one, such as "
                   "to_json(struct(*)) AS value",
                   schema->field_count == 1 ? "" : ", but there are several");
    return err->status;
}

static enum status text_reader_new(struct arena *query, const struct format_config *config,
                                   struct format_reader **out, struct error *err)
{
    struct text_reader *reader = arena_new_object(query, sizeof *reader);
    reader->magic = TEXT_READER_MAGIC;
    const struct type *schema = config->schema;
    if (schema->field_count != 1)
        return wrong_size(schema, err);
    if (schema->fields[0].type->id != TYPE_STRING)
        return unsupported_type("Text", &schema->fields[0], err);
    TRY(record_options_parse(query, config, "Text", &reader->options, err));
    TRY(options_bool(config->options, "wholetext", false, &reader->whole, err));
    *out = (struct format_reader *)reader;
    return OK;
}

static bool text_splittable(const struct format_reader *opaque)
{
    const struct text_reader *reader = (const struct text_reader *)opaque;
    CHECK_MAGIC(reader, TEXT_READER_MAGIC);
    return !reader->whole;
}

static enum status text_open(const struct format_reader *opaque, struct byte_stream *take,
                             const struct format_split *split, struct record_reader **out,
                             struct error *err)
{
    (void)err;
    const struct text_reader *reader = (const struct text_reader *)opaque;
    CHECK_MAGIC(reader, TEXT_READER_MAGIC);
    struct text_task *task = heap_calloc(1, sizeof *task);
    task->magic = TEXT_TASK_MAGIC;
    task->reader = reader;
    line_reader_init(&task->lines, take, split, reader->options.separator,
                     reader->options.record_bytes_max);
    if (reader->whole)
        line_reader_take_all(&task->lines);
    *out = (struct record_reader *)task;
    return OK;
}

static void text_close(struct record_reader *opaque)
{
    struct text_task *task = (struct text_task *)opaque;
    CHECK_MAGIC(task, TEXT_TASK_MAGIC);
    line_reader_fini(&task->lines);
    free(task);
}

static struct bytes without_mark(struct bytes line)
{
    if (line.size_bytes >= 3 && memcmp(line.data, "\xEF\xBB\xBF", 3) == 0)
        return bytes_of(line.data + 3, line.size_bytes - 3);
    return line;
}

static uint32_t read_lines(struct text_task *task, struct bytes *cells)
{
    uint32_t rows = 0;
    struct bytes line;
    while (rows < BATCH_ROWS_MAX && line_reader_next(&task->lines, &line))
        cells[rows++] = without_mark(line);
    return rows;
}

static enum status read_rows(struct text_task *task, struct bytes *cells, uint32_t *rows,
                             struct error *err)
{
    *rows = 0;
    if (task->reader->whole) {
        if (task->whole_done)
            return OK;
        task->whole_done = true;
        TRY(line_reader_whole(&task->lines, &cells[0], err));
        *rows = cells[0].size_bytes > 0;
        return OK;
    }
    *rows = read_lines(task, cells);
    while (*rows == 0 && !line_reader_done(&task->lines)) {
        TRY(line_reader_fill(&task->lines, err));
        *rows = read_lines(task, cells);
    }
    return OK;
}

static enum status text_next(struct record_reader *opaque, struct arena *arena, struct batch **out,
                             struct error *err)
{
    struct text_task *task = (struct text_task *)opaque;
    CHECK_MAGIC(task, TEXT_TASK_MAGIC);
    const struct type *schema = task->reader->options.delivered;
    void *cells = NULL;
    uint32_t rows = 0;
    TRY(arena_alloc_raw(arena, BATCH_ROWS_MAX, sizeof(struct bytes), &cells, err));
    TRY(read_rows(task, cells, &rows, err));
    *out = NULL;
    if (rows == 0)
        return OK;
    struct batch *batch = arena_new_object(arena, sizeof *batch);
    *batch = (struct batch){.schema = schema, .rows = rows, .selected = rows};
    batch->columns = arena_new_object(arena, sizeof *batch->columns);
    if (schema->field_count > 0) {
        struct vector *vector = arena_new_object(arena, sizeof *vector);
        *vector = (struct vector){.type = schema->fields[0].type, .length = rows, .values = cells};
        batch->columns[0] = vector;
    }
    *out = batch;
    return OK;
}

/* Writing. */

struct text_writer {
    uint32_t magic;
    struct write_options options;
};

struct text_file {
    uint32_t magic;
    const struct text_writer *writer;
    struct file_output output;
};

static enum status text_writer_new(struct arena *query, const struct format_config *config,
                                   struct format_writer **out, struct error *err)
{
    struct text_writer *writer = arena_new_object(query, sizeof *writer);
    writer->magic = TEXT_WRITER_MAGIC;
    const struct type *schema = config->schema;
    for (uint32_t i = 0; i < schema->field_count; i++) {
        if (schema->fields[i].type->id != TYPE_STRING)
            return not_text(schema, i, err);
    }
    if (schema->field_count != 1)
        return wrong_size(schema, err);
    TRY(write_options_parse(query, config, "Text", ".txt", &writer->options, err));
    writer->options.charset = CHARSET_UTF8;
    *out = (struct format_writer *)writer;
    return OK;
}

static const char *text_extension(const struct format_writer *opaque)
{
    const struct text_writer *writer = (const struct text_writer *)opaque;
    CHECK_MAGIC(writer, TEXT_WRITER_MAGIC);
    return writer->options.extension;
}

static enum status text_write_open(const struct format_writer *opaque, struct record_writer **out,
                                   struct error *err)
{
    (void)err;
    const struct text_writer *writer = (const struct text_writer *)opaque;
    CHECK_MAGIC(writer, TEXT_WRITER_MAGIC);
    struct text_file *file = heap_calloc(1, sizeof *file);
    file->magic = TEXT_FILE_MAGIC;
    file->writer = writer;
    file_output_init(&file->output, &writer->options);
    *out = (struct record_writer *)file;
    return OK;
}

static enum status text_write(struct record_writer *opaque, const struct batch *batch,
                              struct buffer *out, struct error *err)
{
    struct text_file *file = (struct text_file *)opaque;
    CHECK_MAGIC(file, TEXT_FILE_MAGIC);
    CHECK(batch->schema->field_count == 1);
    const struct vector *vector = batch->columns[0];
    struct bytes separator = file->writer->options.separator;
    struct buffer *to = file_output_begin(&file->output, out);
    for (uint32_t i = 0; i < batch->selected; i++) {
        uint32_t row = batch_row(batch, i);
        if (!vector_is_null(vector, row))
            buffer_add_bytes(to, VECTOR_VALUES(struct bytes, vector)[vector_index(vector, row)]);
        buffer_add_bytes(to, separator);
    }
    return file_output_end(&file->output, out, err);
}

static enum status text_finish(struct record_writer *opaque, struct buffer *out, struct error *err)
{
    struct text_file *file = (struct text_file *)opaque;
    CHECK_MAGIC(file, TEXT_FILE_MAGIC);
    return file_output_finish(&file->output, out, err);
}

static void text_write_close(struct record_writer *opaque)
{
    struct text_file *file = (struct text_file *)opaque;
    CHECK_MAGIC(file, TEXT_FILE_MAGIC);
    file_output_fini(&file->output);
    free(file);
}

const struct format_ops text_format = {
    .name = "text",
    .read_options = read_options,
    .write_options = write_options,
    .reader_new = text_reader_new,
    .splittable = text_splittable,
    .open = text_open,
    .next = text_next,
    .close = text_close,
    .writer_new = text_writer_new,
    .extension = text_extension,
    .write_open = text_write_open,
    .write = text_write,
    .finish = text_finish,
    .write_close = text_write_close,
};
