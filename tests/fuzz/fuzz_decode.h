/*
 * Decodes any bytes with a format's reader, in one piece and in small pieces: the rows have to be
 * the same, every batch has to be whole, and nothing else may happen but a named error.
 */
#ifndef TESTS_FUZZ_FUZZ_DECODE_H
#define TESTS_FUZZ_FUZZ_DECODE_H

#include "base/check.h"
#include "columnar/timezone.h"
#include "columnar/value_text.h"
#include "format/format.h"

#include <stdlib.h>

struct fuzz_stream {
    struct byte_stream base;
    struct bytes rest;
    size_t step;
};

static enum status fuzz_stream_read(struct byte_stream *self, uint8_t *out, size_t size_bytes,
                                    size_t *read_bytes, struct error *err)
{
    (void)err;
    struct fuzz_stream *stream = (struct fuzz_stream *)self;
    size_t size = size_bytes < stream->step ? size_bytes : stream->step;
    if (size > stream->rest.size_bytes)
        size = stream->rest.size_bytes;
    if (size > 0)
        memcpy(out, stream->rest.data, size);
    stream->rest = bytes_of(stream->rest.data + size, stream->rest.size_bytes - size);
    *read_bytes = size;
    return OK;
}

static void fuzz_stream_close(struct byte_stream *self)
{
    free(self);
}

/* What came out, as text; or the name of the error. */
static void fuzz_decode(const struct format_ops *ops, const struct format_config *config,
                        struct bytes content, size_t step, struct buffer *out)
{
    struct arena *query = arena_new("query", 0);
    struct arena *batch_arena = arena_new("batch", (size_t)64 << 20);
    struct error err = ERROR_INIT;
    struct format_reader *reader = NULL;
    struct record_reader *records = NULL;
    struct fuzz_stream *stream = calloc(1, sizeof *stream);
    CHECK(stream != NULL);
    stream->base = (struct byte_stream){fuzz_stream_read, fuzz_stream_close};
    stream->rest = content;
    stream->step = step;
    struct format_split split = {"fuzz", 0, content.size_bytes, content.size_bytes, 0};
    enum status status = ops->reader_new(query, config, &reader, &err);
    CHECK(status == OK);
    if (ops->open(reader, &stream->base, &split, &records, &err) == OK) {
        struct batch *batch = NULL;
        while ((status = ops->next(records, batch_arena, &batch, &err)) == OK && batch != NULL) {
            batch_check(batch);
            for (uint32_t row = 0; row < batch->rows; row++) {
                for (uint32_t i = 0; i < batch->schema->field_count; i++) {
                    value_text_print(out, batch->columns[i], row, timezone_utc());
                    buffer_add_byte(out, '|');
                }
                buffer_add_byte(out, '\n');
            }
            arena_reset(batch_arena);
        }
        ops->close(records);
    }
    if (status != OK) { /* how many rows come before it depends on the pieces */
        buffer_clear(out);
        buffer_add_text(out, status_name(status));
    }
    arena_free(query);
    arena_free(batch_arena);
}

/* The first two bytes choose options; the rest is the file. */
static int fuzz_format(const char *format, const char *schema, const struct option *options,
                       size_t option_count, struct bytes input)
{
    if (input.size_bytes < 2)
        return 0;
    uint32_t choice = (uint32_t)input.data[0] | (uint32_t)input.data[1] << 8;
    struct bytes content = bytes_of(input.data + 2, input.size_bytes - 2);
    struct option chosen[16];
    struct options given = {.items = chosen};
    for (size_t i = 0; i < option_count; i++) {
        if ((choice >> i & 1) != 0)
            chosen[given.count++] = options[i];
    }
    struct arena *arena = arena_new("fuzz", 0);
    struct error err = ERROR_INIT;
    struct format_config config = {.options = &given, .time_zone = "UTC"};
    uint32_t columns[32];
    CHECK(type_parse_schema(arena, bytes_of_text(schema), &config.schema, &err) == OK);
    for (; config.column_count < config.schema->field_count; config.column_count++)
        columns[config.column_count] = config.column_count;
    config.columns = columns;
    struct buffer whole = {0};
    struct buffer pieces = {0};
    fuzz_decode(format_find(format), &config, content, SIZE_MAX, &whole);
    fuzz_decode(format_find(format), &config, content, 1 + choice % 5, &pieces);
    CHECK(bytes_equal(buffer_bytes(&whole), buffer_bytes(&pieces)));
    buffer_fini(&whole);
    buffer_fini(&pieces);
    arena_free(arena);
    return 0;
}

#endif
