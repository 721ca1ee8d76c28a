/* Row groups and the footer: see file_writer.h. */
#include "parquet/file_writer.h"

#include "base/check.h"
#include "base/heap.h"

#include <stdlib.h>

#define FILE_WRITER_MAGIC 0x9a29e7f1U
#define FORMAT_MAGIC      "PAR1"
#define FORMAT_VERSION    1
#define SHARE             256

struct file_writer {
    uint32_t magic;
    const struct parquet_settings *settings;
    struct file_budget *budget;
    size_t counted; /* in the budget */
    struct column_scratch scratch;
    struct column_writer *columns;
    uint64_t position; /* in the file, of what comes next */
    uint64_t group_rows;
    uint64_t rows;
    struct buffer groups; /* encoded: the elements of the footer's list of row groups */
    uint32_t group_count;
};

struct file_writer *file_writer_new(const struct parquet_settings *settings,
                                    struct file_budget *budget)
{
    struct file_writer *writer = heap_calloc(1, sizeof *writer);
    writer->magic = FILE_WRITER_MAGIC;
    writer->settings = settings;
    writer->budget = budget;
    writer->scratch.compressor = page_compressor_new(settings->codec);
    writer->columns = heap_calloc(settings->schema.leaf_count + 1, sizeof *writer->columns);
    for (uint32_t i = 0; i < settings->schema.leaf_count; i++)
        column_writer_init(&writer->columns[i], settings, &settings->schema.leaves[i],
                           &writer->scratch);
    return writer;
}

static void count_memory(struct file_writer *writer, size_t bytes)
{
    if (bytes >= writer->counted)
        atomic_fetch_add_explicit(&writer->budget->bytes, bytes - writer->counted,
                                  memory_order_relaxed);
    else
        atomic_fetch_sub_explicit(&writer->budget->bytes, writer->counted - bytes,
                                  memory_order_relaxed);
    writer->counted = bytes;
}

void file_writer_free(struct file_writer *writer)
{
    CHECK_MAGIC(writer, FILE_WRITER_MAGIC);
    count_memory(writer, 0);
    for (uint32_t i = 0; i < writer->settings->schema.leaf_count; i++)
        column_writer_fini(&writer->columns[i]);
    free(writer->columns);
    shred_fini(&writer->scratch.shred);
    rle_fini(&writer->scratch.index_encoder);
    buffer_fini(&writer->scratch.body);
    buffer_fini(&writer->scratch.compressed);
    page_compressor_free(writer->scratch.compressor);
    buffer_fini(&writer->groups);
    writer->magic = 0;
    free(writer);
}

static void begin_file(struct file_writer *writer, struct buffer *out)
{
    if (writer->position > 0)
        return;
    buffer_add_text(out, FORMAT_MAGIC);
    writer->position = sizeof FORMAT_MAGIC - 1;
}

static enum status end_group(struct file_writer *writer, struct buffer *out, struct error *err)
{
    uint32_t count = writer->settings->schema.leaf_count;
    uint64_t start = writer->position, plain_bytes = 0;
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++)
        size += column_writer_size(&writer->columns[i]);
    (void)buffer_reserve(out, size);
    struct thrift group = thrift_to(&writer->groups);
    thrift_list(&group, 1, THRIFT_STRUCT, count);
    for (uint32_t i = 0; i < count; i++) {
        size_t before = out->size_bytes;
        uint64_t of_column = 0;
        TRY(column_writer_end(&writer->columns[i], writer->position, out, &group, &of_column, err));
        writer->position += out->size_bytes - before;
        plain_bytes += of_column;
    }
    thrift_i64(&group, 2, (int64_t)plain_bytes);
    thrift_i64(&group, 3, (int64_t)writer->group_rows);
    thrift_i64(&group, 5, (int64_t)start);
    thrift_i64(&group, 6, (int64_t)(writer->position - start));
    if (writer->group_count <= INT16_MAX)
        thrift_i16(&group, 7, (int16_t)writer->group_count);
    thrift_end(&group);
    writer->group_count++;
    writer->group_rows = 0;
    return OK;
}

/* What the file holds in memory, counted in the budget; true if its row group has to end. */
static bool group_is_full(struct file_writer *writer)
{
    const struct file_budget *budget = writer->budget;
    size_t size = 0, memory = writer->groups.capacity_bytes;
    for (uint32_t i = 0; i < writer->settings->schema.leaf_count; i++) {
        size += column_writer_size(&writer->columns[i]);
        memory += column_writer_memory(&writer->columns[i]);
    }
    count_memory(writer, memory);
    size_t all = atomic_load_explicit(&budget->bytes, memory_order_relaxed);
    return size >= writer->settings->block_bytes ||
           (all > budget->bytes_max && size >= budget->bytes_max / SHARE);
}

enum status file_writer_add(struct file_writer *writer, const struct batch *batch,
                            struct buffer *out, struct error *err)
{
    CHECK_MAGIC(writer, FILE_WRITER_MAGIC);
    if (batch->selected == 0)
        return OK;
    begin_file(writer, out);
    for (uint32_t i = 0; i < writer->settings->schema.leaf_count; i++)
        TRY(column_writer_add(&writer->columns[i], batch, err));
    writer->group_rows += batch->selected;
    writer->rows += batch->selected;
    if (!group_is_full(writer))
        return OK;
    TRY(end_group(writer, out, err));
    (void)group_is_full(writer);
    return OK;
}

static void put_footer(const struct file_writer *writer, struct buffer *out)
{
    const struct parquet_settings *settings = writer->settings;
    struct thrift footer = thrift_to(out);
    thrift_i32(&footer, 1, FORMAT_VERSION);
    thrift_list(&footer, 2, THRIFT_STRUCT, settings->schema.element_count);
    buffer_add_bytes(out, settings->schema.elements);
    thrift_i64(&footer, 3, (int64_t)writer->rows);
    thrift_list(&footer, 4, THRIFT_STRUCT, writer->group_count);
    buffer_add_bytes(out, buffer_bytes(&writer->groups));
    thrift_list(&footer, 5, THRIFT_STRUCT, settings->key_count);
    for (size_t i = 0; i < settings->key_count; i++) {
        thrift_begin(&footer);
        thrift_text(&footer, 1, settings->keys[i].key);
        thrift_text(&footer, 2, settings->keys[i].value);
        thrift_end(&footer);
    }
    thrift_text(&footer, 6, settings->created_by);
    thrift_list(&footer, 7, THRIFT_STRUCT, settings->schema.leaf_count);
    for (uint32_t i = 0; i < settings->schema.leaf_count; i++) { /* in the order of the type */
        thrift_begin(&footer);
        thrift_struct(&footer, 1);
        thrift_end(&footer);
        thrift_end(&footer);
    }
    thrift_end(&footer);
}

enum status file_writer_end(struct file_writer *writer, struct buffer *out, struct error *err)
{
    CHECK_MAGIC(writer, FILE_WRITER_MAGIC);
    begin_file(writer, out);
    if (writer->group_rows > 0)
        TRY(end_group(writer, out, err));
    size_t start = out->size_bytes;
    put_footer(writer, out);
    size_t size = out->size_bytes - start;
    if (size > INT32_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the footer of a Parquet file",
                           "limit", "2147483647 bytes", NULL);
    uint32_t size_bytes = (uint32_t)size;
    buffer_add(out, &size_bytes, sizeof size_bytes);
    buffer_add_text(out, FORMAT_MAGIC);
    return OK;
}
