/*
 * The Parquet format: options and Spark's metadata; the files are server/parquet/'s.
 *
 * The metadata holds the schema as Spark writes it, so that Spark reads back intervals and
 * timestamps without zone as such, and the version that says that dates are of the proleptic
 * calendar.
 */
#include "format/parquet_format.h"

#include "base/check.h"
#include "base/heap.h"
#include "format/record_options.h"
#include "parquet/file_writer.h"

#include <stdlib.h>
#include <strings.h>

#define PARQUET_WRITER_MAGIC 0x9a29e701U
#define PARQUET_FILE_MAGIC   0x9a29e702U
#define SPARK_VERSION        "4.3.0" /* whose rules the files follow */
#define KEY_COUNT            2
#define BYTES_MAX            (INT64_C(1) << 30)

static const struct option_def write_options[] = {
    {"compression", OPTION_TEXT, 0, 0, "snappy", "none, snappy, gzip, zstd, lz4 or lz4_raw"},
    {"parquet.compression", OPTION_TEXT, 0, 0, NULL, "another name of compression"},
    {"parquet.block.size", OPTION_INT, 1, BYTES_MAX, "134217728",
     "bytes of a row group, which waits in memory until it is complete"},
    {"parquet.page.size", OPTION_INT, 1, BYTES_MAX, "1048576",
     "bytes of a page before compression; it ends after 20000 rows at the latest"},
    {"parquet.dictionary.page.size", OPTION_INT, 1, BYTES_MAX, "1048576",
     "bytes of a dictionary; a column with more goes on without"},
    {"parquet.enable.dictionary", OPTION_BOOL, 0, 0, "true", "columns begin with a dictionary"},
    {NULL, OPTION_TEXT, 0, 0, NULL, NULL},
};

struct parquet_writer {
    uint32_t magic;
    struct parquet_settings settings;
    const char *extension;
    struct file_budget budget; /* of all files that are open: the one thing that changes */
};

struct parquet_file {
    uint32_t magic;
    struct file_writer *writer;
};

static enum status find_codec(const struct format_config *config, enum page_codec *out,
                              struct error *err)
{
    static const char *const names[] = {"compression", "parquet.compression"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *name = options_get(config->options, names[i]);
        if (name == NULL)
            continue;
        enum status status = page_codec_find(name, out, err);
        if (status != OK)
            options_point_at(config->options, names[i], err);
        return status;
    }
    const char *conf = format_conf(config, "spark.sql.parquet.compression.codec");
    return page_codec_find(conf == NULL ? "snappy" : conf, out, err);
}

static enum status parse_size(const struct options *options, const char *name, int64_t fallback,
                              size_t *out, struct error *err)
{
    int64_t value = 0;
    TRY(options_int(options, name, 1, BYTES_MAX, fallback, &value, err));
    *out = (size_t)value;
    return OK;
}

static enum parquet_timestamps timestamps_of(const struct format_config *config)
{
    const char *conf = format_conf(config, "spark.sql.parquet.outputTimestampType");
    if (conf != NULL && strcasecmp(conf, "TIMESTAMP_MICROS") == 0)
        return PARQUET_TIMESTAMPS_MICROS;
    if (conf != NULL && strcasecmp(conf, "TIMESTAMP_MILLIS") == 0)
        return PARQUET_TIMESTAMPS_MILLIS;
    return PARQUET_TIMESTAMPS_INT96;
}

static enum status build_schema(struct arena *query, const struct format_config *config,
                                struct parquet_schema *out, struct error *err)
{
    struct parquet_schema_error wrong =
        parquet_schema_build(query, config->schema, timestamps_of(config), out);
    switch (wrong.result) {
    case PARQUET_SCHEMA_OK:
        break;
    case PARQUET_SCHEMA_NO_SUCH_TYPE:
        return unsupported_type("Parquet", &config->schema->fields[wrong.column], err);
    case PARQUET_SCHEMA_TOO_DEEP:
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the nesting of a column of Parquet",
                           "limit", "200 levels", NULL);
    case PARQUET_SCHEMA_REPEATED_NAME:
        return error_raise(err, STATUS_COLUMN_ALREADY_EXISTS, "columnName",
                           arena_sprintf(query, "`%s`", wrong.name), NULL);
    }
    return OK;
}

static void set_keys(struct arena *query, const struct type *schema,
                     struct parquet_settings *settings)
{
    struct parquet_key *keys = arena_new_object(query, KEY_COUNT * sizeof *keys);
    struct buffer json = {0};
    type_print_json(&json, schema);
    keys[0] = (struct parquet_key){"org.apache.spark.version", SPARK_VERSION};
    keys[1] = (struct parquet_key){"org.apache.spark.sql.parquet.row.metadata",
                                   arena_strdup(query, buffer_text(&json))};
    buffer_fini(&json);
    settings->keys = keys;
    settings->key_count = KEY_COUNT;
    settings->created_by = "tidemill version " TIDEMILL_VERSION " (build " TIDEMILL_VERSION ")";
}

static enum status parquet_writer_new(struct arena *query, const struct format_config *config,
                                      struct format_writer **out, struct error *err)
{
    struct parquet_writer *writer = arena_new_object(query, sizeof *writer);
    struct parquet_settings *settings = &writer->settings;
    const struct options *options = config->options;
    writer->magic = PARQUET_WRITER_MAGIC;
    TRY(build_schema(query, config, &settings->schema, err));
    TRY(find_codec(config, &settings->codec, err));
    TRY(parse_size(options, "parquet.block.size", INT64_C(128) << 20, &settings->block_bytes, err));
    TRY(parse_size(options, "parquet.page.size", INT64_C(1) << 20, &settings->page_bytes, err));
    TRY(parse_size(options, "parquet.dictionary.page.size", INT64_C(1) << 20,
                   &settings->dictionary_bytes, err));
    TRY(options_bool(options, "parquet.enable.dictionary", true, &settings->dictionaries, err));
    TRY(page_codec_load(settings->codec, err));
    set_keys(query, config->schema, settings);
    writer->extension = arena_sprintf(query, "%s.parquet", page_codec_extension(settings->codec));
    writer->budget.bytes_max = settings->block_bytes;
    *out = (struct format_writer *)writer;
    return OK;
}

static struct parquet_writer *writer_of(const struct format_writer *opaque)
{
    struct parquet_writer *writer = (struct parquet_writer *)(uintptr_t)opaque;
    CHECK_MAGIC(writer, PARQUET_WRITER_MAGIC);
    return writer;
}

static const char *parquet_extension(const struct format_writer *opaque)
{
    return writer_of(opaque)->extension;
}

static enum status parquet_write_open(const struct format_writer *opaque,
                                      struct record_writer **out, struct error *err)
{
    (void)err;
    struct parquet_writer *writer = writer_of(opaque);
    struct parquet_file *file = heap_calloc(1, sizeof *file);
    file->magic = PARQUET_FILE_MAGIC;
    file->writer = file_writer_new(&writer->settings, &writer->budget);
    *out = (struct record_writer *)file;
    return OK;
}

static enum status parquet_write(struct record_writer *opaque, const struct batch *batch,
                                 struct buffer *out, struct error *err)
{
    struct parquet_file *file = (struct parquet_file *)opaque;
    CHECK_MAGIC(file, PARQUET_FILE_MAGIC);
    return file_writer_add(file->writer, batch, out, err);
}

static enum status parquet_finish(struct record_writer *opaque, struct buffer *out,
                                  struct error *err)
{
    struct parquet_file *file = (struct parquet_file *)opaque;
    CHECK_MAGIC(file, PARQUET_FILE_MAGIC);
    return file_writer_end(file->writer, out, err);
}

static void parquet_write_close(struct record_writer *opaque)
{
    struct parquet_file *file = (struct parquet_file *)opaque;
    CHECK_MAGIC(file, PARQUET_FILE_MAGIC);
    file_writer_free(file->writer);
    file->magic = 0;
    free(file);
}

const struct format_ops parquet_format = {
    .name = "parquet",
    .write_options = write_options,
    .writer_new = parquet_writer_new,
    .extension = parquet_extension,
    .write_open = parquet_write_open,
    .write = parquet_write,
    .finish = parquet_finish,
    .write_close = parquet_write_close,
};
