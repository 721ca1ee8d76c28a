/*
 * Runs a reader or writer of format/ over a text in memory and shows what came out: a line for
 * each row, cells separated by '|', NULL for NULL.
 */
#ifndef TESTS_UNIT_FORMAT_FORMAT_CASE_H
#define TESTS_UNIT_FORMAT_FORMAT_CASE_H

#include "columnar/timezone.h"
#include "columnar/value_text.h"
#include "format/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct format_case {
    const char *format;
    const char *schema;
    const char *options[16]; /* name, value, ..., NULL */
    const char *input;
    size_t input_size; /* 0: strlen */
    size_t step;       /* bytes given at a time; 0: all */
    const uint32_t *columns;
    uint32_t column_count; /* 0: all */
    size_t record_bytes_max;
    uint64_t start, end; /* end 0: the whole file */
    struct format_notes *notes;
};

struct stepping_stream {
    struct byte_stream base;
    struct bytes rest;
    size_t step;
};

static inline enum status stepping_read(struct byte_stream *self, uint8_t *out, size_t size_bytes,
                                        size_t *read_bytes, struct error *err)
{
    (void)err;
    struct stepping_stream *stream = (struct stepping_stream *)self;
    size_t size = size_bytes;
    if (stream->step > 0 && size > stream->step)
        size = stream->step;
    if (size > stream->rest.size_bytes)
        size = stream->rest.size_bytes;
    if (size > 0)
        memcpy(out, stream->rest.data, size);
    stream->rest = bytes_of(stream->rest.data + size, stream->rest.size_bytes - size);
    *read_bytes = size;
    return OK;
}

static inline void stepping_close(struct byte_stream *self)
{
    free(self);
}

static inline struct byte_stream *stepping_open(struct bytes content, size_t step)
{
    struct stepping_stream *stream = calloc(1, sizeof *stream);
    assert_non_null(stream);
    stream->base = (struct byte_stream){stepping_read, stepping_close};
    stream->rest = content;
    stream->step = step;
    return &stream->base;
}

static inline void show_batch(const struct batch *batch, struct buffer *out)
{
    batch_check(batch);
    for (uint32_t i = 0; i < batch->selected; i++) {
        uint32_t row = batch_row(batch, i);
        for (uint32_t c = 0; c < batch->schema->field_count; c++) {
            if (c > 0)
                buffer_add_byte(out, '|');
            if (vector_is_null(batch->columns[c], row))
                buffer_add_text(out, "NULL");
            else
                value_text_print(out, batch->columns[c], row, timezone_utc());
        }
        buffer_add_byte(out, '\n');
    }
}

/* Reads everything into `out`; the status is that of the first failure. */
static inline enum status format_case_read(const struct format_case *test, struct buffer *out,
                                           struct error *err)
{
    struct arena *query = arena_new("query", 0);
    struct arena *batch_arena = arena_new("batch", 0);
    struct option items[8];
    struct options options = {.items = items};
    for (; test->options[options.count * 2] != NULL; options.count++)
        items[options.count] =
            (struct option){test->options[options.count * 2], test->options[options.count * 2 + 1]};
    uint32_t all[64];
    struct format_config config = {.options = &options, .time_zone = "UTC", .ansi = true};
    config.record_bytes_max = test->record_bytes_max;
    config.notes = test->notes;
    struct format_reader *reader = NULL;
    struct record_reader *records = NULL;
    struct error ignored = ERROR_INIT;
    const struct format_ops *ops = format_find(test->format);
    assert_non_null(ops);
    enum status status = OK;
    TRY_OUT(type_parse_schema(query, bytes_of_text(test->schema), &config.schema, err));
    config.columns = test->columns;
    config.column_count = test->column_count;
    if (config.column_count == 0) {
        for (uint32_t i = 0; i < config.schema->field_count; i++)
            all[i] = i;
        config.columns = all;
        config.column_count = config.schema->field_count;
    }
    TRY_OUT(ops->reader_new(query, &config, &reader, err));
    size_t size = test->input_size == 0 ? strlen(test->input) : test->input_size;
    struct bytes content = bytes_of(test->input + test->start, size - (size_t)test->start);
    struct format_split split = {"a", test->start, test->end == 0 ? size : test->end, size, 0};
    TRY_OUT(ops->open(reader, stepping_open(content, test->step), &split, &records, err));
    for (;;) {
        struct batch *batch = NULL;
        arena_reset(batch_arena);
        TRY_OUT(ops->next(records, batch_arena, &batch, err));
        if (batch == NULL)
            break;
        batch_check(batch);
        show_batch(batch, out);
    }
out:
    (void)ignored;
    if (records != NULL)
        ops->close(records);
    arena_free(query);
    arena_free(batch_arena);
    return status;
}

/* Reads and compares with `rows`; also when every byte comes alone. */
static inline void expect_rows(struct format_case test, const char *rows)
{
    static const size_t steps[] = {0, 1, 7};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct buffer out = {0};
        struct error err = ERROR_INIT;
        test.step = steps[i];
        enum status status = format_case_read(&test, &out, &err);
        if (status != OK)
            print_message("%s: %s\n", status_name(status), err.text);
        assert_int_equal(status, OK);
        assert_string_equal(buffer_text(&out), rows);
        buffer_fini(&out);
    }
}

static inline void expect_failure(struct format_case test, enum status status, enum status cause)
{
    struct buffer out = {0};
    struct error err = ERROR_INIT;
    assert_int_equal(format_case_read(&test, &out, &err), status);
    assert_int_equal(err.causes[0], cause);
    buffer_fini(&out);
}

/* It fails, and says `reason`. */
static inline void expect_reason(struct format_case test, const char *reason)
{
    struct buffer out = {0};
    struct error err = ERROR_INIT;
    assert_int_not_equal(format_case_read(&test, &out, &err), OK);
    if (strstr(err.text, reason) == NULL)
        fail_msg("'%s' does not contain '%s'", err.text, reason);
    buffer_fini(&out);
}

#endif
