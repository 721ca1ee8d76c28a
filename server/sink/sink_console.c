/*
 * The console sink: prints every batch to standard output, as Spark's show() does.
 */
#include "sink/sink_console.h"

#include "base/buffer.h"
#include "base/check.h"
#include "base/heap.h"
#include "base/utf8.h"
#include "columnar/value_text.h"
#include "sink/row_collector.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONSOLE_MAGIC  0xc0501e01U
#define WIDTH_MIN      3
#define TRUNCATE_WIDTH 20
#define BYTES_MAX      ((size_t)64 << 20)

static const struct option_def console_options[] = {
    {"numRows", OPTION_INT, 0, 1000000, "20", "Rows printed of every batch."},
    {"truncate", OPTION_BOOL, 0, 0, "true", "Cuts cells longer than 20 characters."},
    {0},
};

struct console_sink {
    struct sink base;
    uint32_t magic;
    struct arena *query;
    const struct type *schema;
    const struct zone *zone;
    int64_t rows_max;
    bool truncate;
    struct row_collector *rows;
};

/* The cells of a table under construction, as text. */
struct table {
    struct console_sink *sink;
    struct arena *arena;
    struct bytes *cells; /* row by row, the header first */
    size_t *widths;
    size_t rows;
};

static struct console_sink *sink_of(struct sink *self)
{
    struct console_sink *sink = (struct console_sink *)self;
    CHECK_MAGIC(sink, CONSOLE_MAGIC);
    return sink;
}

static enum status read_options(const struct options *options, int64_t *rows_max, bool *truncate,
                                struct error *err)
{
    const struct option_def *const known[] = {console_options, NULL};
    TRY(options_check(options, known, err));
    TRY(options_int(options, "numRows", 0, 1000000, 20, rows_max, err));
    return options_bool(options, "truncate", true, truncate, err);
}

static enum status console_check(struct arena *request, const struct sink_config *config,
                                 struct error *err)
{
    (void)request;
    int64_t rows_max = 0;
    bool truncate = false;
    return read_options(config->options, &rows_max, &truncate, err);
}

static enum status console_open(struct arena *query, const struct sink_config *config,
                                struct sink **out, struct error *err)
{
    int64_t rows_max = 0;
    bool truncate = false;
    const struct zone *zone = timezone_utc();
    TRY(read_options(config->options, &rows_max, &truncate, err));
    if (config->time_zone != NULL)
        TRY(timezone_find(bytes_of_text(config->time_zone), &zone, err));
    struct console_sink *sink = heap_calloc(1, sizeof *sink);
    sink->base.ops = &sink_console;
    sink->magic = CONSOLE_MAGIC;
    sink->query = query;
    sink->schema = config->schema;
    sink->zone = zone;
    sink->rows_max = rows_max;
    sink->truncate = truncate;
    sink->rows = row_collector_new((uint64_t)rows_max, BYTES_MAX);
    *out = &sink->base;
    return OK;
}

static enum status console_last_batch(struct sink *self, int64_t *batch_id, struct error *err)
{
    (void)self;
    (void)err;
    *batch_id = SINK_CANNOT_TELL;
    return OK;
}

static enum status console_begin(struct sink *self, int64_t batch_id, uint32_t tasks,
                                 struct error *err)
{
    (void)batch_id;
    (void)err;
    struct console_sink *sink = sink_of(self);
    row_collector_begin(sink->rows, sink->schema, tasks);
    return OK;
}

static struct batch_receiver *console_writer(struct sink *self, uint32_t task)
{
    return row_collector_task(sink_of(self)->rows, task);
}

static enum status console_task_finish(struct sink *self, uint32_t task, struct error *err)
{
    (void)self;
    (void)task;
    (void)err;
    return OK;
}

static enum status console_stage(struct sink *self, bool *due, uint64_t *rows, struct error *err)
{
    (void)err;
    *due = true; /* a batch without rows is printed, too */
    *rows = row_collector_rows(sink_of(self)->rows);
    return OK;
}

static size_t cut_at(struct bytes text, size_t characters)
{
    size_t at = 0;
    while (at < text.size_bytes && characters > 0) {
        size_t size = utf8_sequence_size(bytes_of(text.data + at, text.size_bytes - at));
        at += size == 0 ? 1 : size;
        characters--;
    }
    return at;
}

static void set_cell(struct table *table, size_t column, struct buffer *text)
{
    struct bytes cell = buffer_bytes(text);
    if (table->sink->truncate && utf8_length(cell) > TRUNCATE_WIDTH) {
        text->size_bytes = cut_at(cell, TRUNCATE_WIDTH - 3);
        buffer_add_text(text, "...");
        cell = buffer_bytes(text);
    }
    size_t columns = table->sink->schema->field_count;
    table->cells[table->rows * columns + column] = arena_copy(table->arena, cell);
    size_t width = utf8_length(cell);
    if (width > table->widths[column])
        table->widths[column] = width;
}

static bool add_rows(void *arg, const struct batch *batch)
{
    struct table *table = arg;
    const struct console_sink *sink = table->sink;
    struct buffer text = {0};
    for (uint32_t row = 0; row < batch->rows && table->rows <= (size_t)sink->rows_max; row++) {
        for (uint32_t c = 0; c < sink->schema->field_count; c++) {
            buffer_clear(&text);
            if (vector_is_null(batch->columns[c], row))
                buffer_add_text(&text, "NULL");
            else
                value_text_print(&text, batch->columns[c], row, sink->zone);
            set_cell(table, c, &text);
        }
        table->rows++;
    }
    buffer_fini(&text);
    return table->rows <= (size_t)sink->rows_max;
}

static void print_rule(const struct table *table, struct buffer *out)
{
    for (uint32_t c = 0; c < table->sink->schema->field_count; c++) {
        buffer_add_byte(out, '+');
        for (size_t i = 0; i < table->widths[c]; i++)
            buffer_add_byte(out, '-');
    }
    buffer_add_text(out, "+\n");
}

static void print_row(const struct table *table, size_t row, struct buffer *out)
{
    size_t columns = table->sink->schema->field_count;
    for (size_t c = 0; c < columns; c++) {
        struct bytes cell = table->cells[row * columns + c];
        size_t pad = table->widths[c] - utf8_length(cell);
        buffer_add_byte(out, '|');
        for (size_t i = 0; table->sink->truncate && i < pad; i++)
            buffer_add_byte(out, ' ');
        buffer_add_bytes(out, cell);
        for (size_t i = 0; !table->sink->truncate && i < pad; i++)
            buffer_add_byte(out, ' ');
    }
    buffer_add_text(out, "|\n");
}

static void print_table(struct console_sink *sink, struct buffer *out)
{
    struct table table = {.sink = sink, .arena = arena_new("batch", 0)};
    size_t columns = sink->schema->field_count;
    uint64_t all = row_collector_rows(sink->rows);
    table.cells = arena_new_object(table.arena, ((size_t)sink->rows_max + 1) * (columns + 1) *
                                                    sizeof *table.cells);
    table.widths = arena_new_object(table.arena, (columns + 1) * sizeof *table.widths);
    struct buffer name = {0};
    for (uint32_t c = 0; c < columns; c++) {
        table.widths[c] = WIDTH_MIN;
        buffer_clear(&name);
        buffer_add_text(&name, sink->schema->fields[c].name);
        set_cell(&table, c, &name);
    }
    buffer_fini(&name);
    table.rows = 1;
    if (sink->rows_max > 0)
        row_collector_visit(sink->rows, add_rows, &table);
    print_rule(&table, out);
    print_row(&table, 0, out);
    print_rule(&table, out);
    for (size_t row = 1; row < table.rows; row++)
        print_row(&table, row, out);
    print_rule(&table, out);
    if (all > table.rows - 1)
        buffer_printf(out, "only showing top %zu row%s\n", table.rows - 1,
                      table.rows == 2 ? "" : "s");
    arena_free(table.arena);
}

static enum status console_commit(struct sink *self, int64_t batch_id, struct error *err)
{
    static const char rule[] = "-------------------------------------------\n";
    struct console_sink *sink = sink_of(self);
    struct buffer out = {0};
    buffer_printf(&out, "%sBatch: %" PRId64 "\n%s", rule, batch_id, rule);
    print_table(sink, &out);
    buffer_add_byte(&out, '\n');
    enum status status = OK;
    for (size_t at = 0; at < out.size_bytes;) {
        ssize_t written = write(STDOUT_FILENO, out.data + at, out.size_bytes - at);
        if (written < 0 && errno != EINTR) {
            status = vfs_error(err, "standard output", errno);
            break;
        }
        at += written > 0 ? (size_t)written : 0;
    }
    buffer_fini(&out);
    return status;
}

static void console_abort(struct sink *self)
{
    struct console_sink *sink = sink_of(self);
    row_collector_begin(sink->rows, sink->schema, 0);
}

static const char *console_description(const struct sink *self)
{
    (void)self;
    return "ConsoleSink";
}

static void console_close(struct sink *self)
{
    struct console_sink *sink = sink_of(self);
    row_collector_free(sink->rows);
    sink->magic = 0;
    free(sink);
}

const struct sink_ops sink_console = {
    .kind = "console",
    .delivery = SINK_NEITHER,
    .modes = {true, true, true},
    .options = console_options,
    .counts_rows = true,
    .check = console_check,
    .open = console_open,
    .last_batch = console_last_batch,
    .begin = console_begin,
    .writer = console_writer,
    .task_finish = console_task_finish,
    .stage = console_stage,
    .commit = console_commit,
    .abort = console_abort,
    .description = console_description,
    .close = console_close,
};
