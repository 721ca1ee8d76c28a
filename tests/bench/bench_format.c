/*
 * How fast a format decodes and encodes, without anything else: CPU time of one thread, the best
 * of ROUNDS.
 *
 *     bench_format FORMAT SCHEMA COLUMNS ROUNDS FILE...
 *
 * COLUMNS are indexes of the columns to read ("0,2,5") or "-" for all; they are written again.
 * Prints one JSON line.
 */
#include "base/vfs_posix.h"
#include "format/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define COLUMNS_MAX 256

struct result {
    double decode_s, encode_s;
    size_t rows, in_bytes, out_bytes;
};

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static enum status pass_file(const struct format_ops *ops, const struct format_reader *reader,
                             const struct format_writer *writer, const char *path,
                             struct result *result, struct error *err)
{
    struct vfs *vfs = vfs_posix();
    struct arena *arena = arena_new("batch", 0);
    struct byte_stream *stream = NULL;
    struct record_reader *records = NULL;
    struct record_writer *file = NULL;
    struct buffer out = {0};
    struct vfs_stat stat;
    enum status status = OK;
    TRY_OUT(vfs_stat(vfs, path, &stat, err));
    struct format_split split = {path, 0, stat.size_bytes, stat.size_bytes, 0};
    TRY_OUT(byte_stream_open(vfs, &split, &stream, err));
    TRY_OUT(ops->open(reader, stream, &split, &records, err));
    TRY_OUT(ops->write_open(writer, &file, err));
    result->in_bytes += (size_t)stat.size_bytes;
    for (;;) {
        struct batch *batch = NULL;
        arena_reset(arena);
        double start = cpu_seconds();
        TRY_OUT(ops->next(records, arena, &batch, err));
        double middle = cpu_seconds();
        result->decode_s += middle - start;
        if (batch == NULL)
            break;
        buffer_clear(&out);
        TRY_OUT(ops->write(file, batch, &out, err));
        result->encode_s += cpu_seconds() - middle;
        result->rows += batch->rows;
        result->out_bytes += out.size_bytes;
    }
out:
    if (records != NULL)
        ops->close(records);
    if (file != NULL)
        ops->write_close(file);
    buffer_fini(&out);
    arena_free(arena);
    return status;
}

static void keep_best(struct result *best, const struct result *result, bool first)
{
    double decode_s = first ? result->decode_s : best->decode_s;
    double encode_s = first ? result->encode_s : best->encode_s;
    *best = *result;
    if (decode_s < best->decode_s)
        best->decode_s = decode_s;
    if (encode_s < best->encode_s)
        best->encode_s = encode_s;
}

static uint32_t parse_columns(char *text, const struct type *schema, uint32_t *columns)
{
    uint32_t count = 0;
    if (text[0] == '-') {
        for (; count < schema->field_count && count < COLUMNS_MAX; count++)
            columns[count] = count;
        return count;
    }
    for (char *at = text; *at != '\0' && count < COLUMNS_MAX; at += *at == ',')
        columns[count++] = (uint32_t)strtoul(at, &at, 10);
    return count;
}

static enum status run(char **argv, int files, struct result *best, struct error *err)
{
    struct arena *query = arena_new("query", 0);
    struct options none = {0};
    uint32_t columns[COLUMNS_MAX];
    struct format_config config = {.options = &none, .columns = columns, .time_zone = "UTC"};
    struct format_reader *reader = NULL;
    struct format_writer *writer = NULL;
    const struct format_ops *ops = format_find(argv[1]);
    enum status status = OK;
    if (ops == NULL) {
        status = error_set(err, STATUS_INVALID_OPTION_VALUE, "no format %s", argv[1]);
        goto out;
    }
    TRY_OUT(type_parse_schema(query, bytes_of_text(argv[2]), &config.schema, err));
    config.column_count = parse_columns(argv[3], config.schema, columns);
    TRY_OUT(ops->reader_new(query, &config, &reader, err));
    struct type_field *fields = arena_new_object(query, (COLUMNS_MAX + 1) * sizeof *fields);
    for (uint32_t i = 0; i < config.column_count; i++)
        fields[i] = config.schema->fields[columns[i]];
    config.schema = type_struct(query, fields, config.column_count);
    TRY_OUT(ops->writer_new(query, &config, &writer, err));
    int rounds = (int)strtol(argv[4], NULL, 10);
    for (int round = 0; round < rounds; round++) {
        struct result result = {0};
        for (int i = 0; i < files; i++)
            TRY_OUT(pass_file(ops, reader, writer, argv[5 + i], &result, err));
        keep_best(best, &result, round == 0);
    }
out:
    arena_free(query);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        (void)fprintf(stderr, "usage: bench_format FORMAT SCHEMA COLUMNS ROUNDS FILE...\n");
        return 2;
    }
    struct result best = {0};
    struct error err = ERROR_INIT;
    if (run(argv, argc - 5, &best, &err) != OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    double rows = best.rows == 0 ? 1 : (double)best.rows;
    printf("{\"format\":\"%s\",\"rows\":%zu,\"decodeMBps\":%.0f,\"decodeNsPerRow\":%.0f,"
           "\"encodeMBps\":%.0f,\"encodeNsPerRow\":%.0f}\n",
           argv[1], best.rows, (double)best.in_bytes / best.decode_s / 1e6,
           best.decode_s / rows * 1e9, (double)best.out_bytes / best.encode_s / 1e6,
           best.encode_s / rows * 1e9);
    return 0;
}
