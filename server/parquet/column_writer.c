/* Chunks of columns: see column_writer.h. */
#include "parquet/column_writer.h"

#include "base/check.h"

enum {
    PAGE_DATA = 0,
    PAGE_DICTIONARY = 2,
    ENCODING_PLAIN = 0,
    ENCODING_RLE = 3,
    ENCODING_RLE_DICTIONARY = 8,
};

static void begin_chunk(struct column_writer *column)
{
    column->in_dictionary = column->settings->dictionaries && column->leaf->type != PARQUET_BOOLEAN;
    column->dictionary_pages = 0;
    column->plain_pages = 0;
    column->levels = 0;
    column->nulls = 0;
    column->plain_bytes = 0;
    dictionary_clear(&column->dictionary);
    statistics_clear(&column->statistics);
    buffer_fini(&column->pages);
}

static void begin_page(struct column_writer *column)
{
    rle_clear(&column->definitions);
    rle_clear(&column->repetitions);
    buffer_clear(&column->data);
    column->page_levels = 0;
    column->page_rows = 0;
    column->page_plain_bytes = 0;
}

void column_writer_init(struct column_writer *column, const struct parquet_settings *settings,
                        const struct parquet_leaf *leaf, struct column_scratch *scratch)
{
    *column = (struct column_writer){.settings = settings, .leaf = leaf, .scratch = scratch};
    column->definitions.width = rle_width(leaf->definition_max);
    column->repetitions.width = rle_width(leaf->repetition_max);
    column->dictionary.width = leaf->width;
    begin_chunk(column);
    begin_page(column);
}

void column_writer_fini(struct column_writer *column)
{
    rle_fini(&column->definitions);
    rle_fini(&column->repetitions);
    buffer_fini(&column->data);
    buffer_fini(&column->pages);
    dictionary_fini(&column->dictionary);
    statistics_fini(&column->statistics);
}

size_t column_writer_size(const struct column_writer *column)
{
    return column->pages.size_bytes + column->data.size_bytes + column->dictionary.page.size_bytes;
}

size_t column_writer_memory(const struct column_writer *column)
{
    return column->pages.capacity_bytes + column->data.capacity_bytes +
           column->definitions.out.capacity_bytes + column->repetitions.out.capacity_bytes +
           dictionary_memory(&column->dictionary);
}

/* ---- pages ---- */

/* The dictionary takes no more values: those that it has count for the statistics. */
static void close_dictionary(struct column_writer *column)
{
    column->in_dictionary = false;
    for (uint32_t i = 0; i < column->dictionary.count; i++)
        statistics_add_one(&column->statistics, column->leaf,
                           dictionary_value(&column->dictionary, i));
}

static void put_levels(struct buffer *body, struct rle_encoder *levels)
{
    if (levels->width == 0)
        return;
    rle_end(levels);
    uint32_t size = (uint32_t)levels->out.size_bytes;
    buffer_add(body, &size, sizeof size);
    buffer_add_bytes(body, buffer_bytes(&levels->out));
}

static void put_bits(struct buffer *body, struct bytes booleans)
{
    for (size_t i = 0; i < booleans.size_bytes; i += 8) {
        uint8_t bits = 0;
        for (size_t j = 0; j < 8 && i + j < booleans.size_bytes; j++)
            bits = (uint8_t)(bits | booleans.data[i + j] << j);
        buffer_add_byte(body, bits);
    }
}

static struct rle_encoder *encode_indexes(struct column_writer *column)
{
    struct rle_encoder *encoder = &column->scratch->index_encoder;
    uint32_t index = 0;
    rle_clear(encoder);
    encoder->width = rle_width(column->dictionary.count <= 1 ? 1 : column->dictionary.count - 1);
    for (size_t at = 0; at < column->data.size_bytes; at += sizeof index) {
        memcpy(&index, column->data.data + at, sizeof index);
        rle_add(encoder, index);
    }
    rle_end(encoder);
    return encoder;
}

static void put_value(const struct column_writer *column, struct buffer *out, struct bytes value)
{
    if (column->leaf->width == 0) {
        uint32_t size = (uint32_t)value.size_bytes;
        buffer_add(out, &size, sizeof size);
    }
    buffer_add_bytes(out, value);
}

/* The first page again, without the dictionary that it has made. */
static void undo_dictionary(struct column_writer *column, struct buffer *body)
{
    uint32_t index = 0;
    for (size_t at = 0; at < column->data.size_bytes; at += sizeof index) {
        memcpy(&index, column->data.data + at, sizeof index);
        put_value(column, body, dictionary_value(&column->dictionary, index));
    }
    dictionary_clear(&column->dictionary);
}

/* False: the page is PLAIN. */
static bool put_data(struct column_writer *column, struct buffer *body)
{
    if (!column->in_dictionary) {
        if (column->leaf->form == FORM_BOOLEAN)
            put_bits(body, buffer_bytes(&column->data));
        else
            buffer_add_bytes(body, buffer_bytes(&column->data));
        return false;
    }
    if (column->dictionary.count == 0)
        return false; /* nothing but NULLs so far: as good as PLAIN, and the next page may have more
                       */
    const struct rle_encoder *indexes = encode_indexes(column);
    if (column->dictionary_pages == 0 &&
        indexes->out.size_bytes + column->dictionary.page.size_bytes >= column->page_plain_bytes) {
        close_dictionary(column);
        undo_dictionary(column, body);
        return false;
    }
    buffer_add_byte(body, (uint8_t)indexes->width);
    buffer_add_bytes(body, buffer_bytes(&indexes->out));
    return true;
}

/* Head and compressed body.  `values` counts what is missing, too. */
static enum status put_page(struct column_writer *column, int type, int encoding, uint32_t values,
                            struct bytes plain, struct buffer *out, struct error *err)
{
    if (plain.size_bytes > PAGE_BYTES_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "a page of Parquet", "limit",
                           "1879048192 bytes", NULL);
    struct buffer *compressed = &column->scratch->compressed;
    buffer_clear(compressed);
    page_compress(column->scratch->compressor, plain, compressed);
    size_t before = out->size_bytes;
    struct thrift head = thrift_to(out);
    thrift_i32(&head, 1, type);
    thrift_i32(&head, 2, (int32_t)plain.size_bytes);
    thrift_i32(&head, 3, (int32_t)compressed->size_bytes);
    thrift_struct(&head, type == PAGE_DATA ? 5 : 7);
    thrift_i32(&head, 1, (int32_t)values);
    thrift_i32(&head, 2, encoding);
    if (type == PAGE_DATA) {
        thrift_i32(&head, 3, ENCODING_RLE);
        thrift_i32(&head, 4, ENCODING_RLE);
    }
    thrift_end(&head);
    thrift_end(&head);
    column->plain_bytes += out->size_bytes - before + plain.size_bytes;
    buffer_add_bytes(out, buffer_bytes(compressed));
    return OK;
}

static enum status end_page(struct column_writer *column, struct error *err)
{
    if (column->page_levels == 0)
        return OK;
    struct buffer *body = &column->scratch->body;
    buffer_clear(body);
    put_levels(body, &column->repetitions);
    put_levels(body, &column->definitions);
    bool indexed = put_data(column, body);
    TRY(put_page(column, PAGE_DATA, indexed ? ENCODING_RLE_DICTIONARY : ENCODING_PLAIN,
                 column->page_levels, buffer_bytes(body), &column->pages, err));
    if (indexed)
        column->dictionary_pages++;
    else
        column->plain_pages++;
    begin_page(column);
    return OK;
}

/* ---- values ---- */

static void count_plain(struct column_writer *column, const struct values *values)
{
    if (column->leaf->width > 0) {
        column->page_plain_bytes += (size_t)values->count * column->leaf->width;
        return;
    }
    for (uint32_t i = 0; i < values->count; i++)
        column->page_plain_bytes += sizeof(uint32_t) + values->views[i].size_bytes;
}

static void add_indexes(struct column_writer *column)
{
    struct column_scratch *scratch = column->scratch;
    dictionary_add(&column->dictionary, &scratch->values, scratch->indexes);
    buffer_add(&column->data, scratch->indexes, scratch->values.count * sizeof(uint32_t));
    count_plain(column, &scratch->values);
}

static void add_plain(struct column_writer *column)
{
    const struct parquet_leaf *leaf = column->leaf;
    const struct values *values = &column->scratch->values;
    statistics_add(&column->statistics, leaf, values);
    if (leaf->form == FORM_BOOLEAN) {
        buffer_add(&column->data, values->fixed, values->count);
    } else if (leaf->width > 0) {
        buffer_add(&column->data, values->fixed, (size_t)values->count * leaf->width);
    } else {
        for (uint32_t i = 0; i < values->count; i++)
            put_value(column, &column->data, values->views[i]);
    }
}

static void add_levels(struct rle_encoder *encoder, const uint8_t *levels, uint32_t count)
{
    for (uint32_t i = 0; i < count;) {
        uint32_t end = i + 1;
        while (end < count && levels[end] == levels[i])
            end++;
        rle_add_run(encoder, levels[i], end - i);
        i = end;
    }
}

/* How many places to take at once, so that long values do not make pages of many times the size. */
static uint32_t piece_size(const struct column_writer *column, const struct shred *shred)
{
    if (column->leaf->type != PARQUET_BYTES || shred->value_count == 0)
        return VALUES_PIECE;
    uint64_t bytes = 0;
    const struct bytes *cells = VECTOR_VALUES(struct bytes, shred->vector);
    for (uint32_t i = 0; i < shred->value_count; i++)
        bytes += cells[shred->cells[i]].size_bytes;
    uint64_t size = column->settings->page_bytes * (uint64_t)shred->value_count / (bytes + 1);
    return size == 0 ? 1 : size < VALUES_PIECE ? (uint32_t)size : VALUES_PIECE;
}

/* How many places of the next `count` to take, so that they end where a row does, if one does. */
static uint32_t whole_rows(const struct shred *shred, uint32_t at, uint32_t count)
{
    uint32_t end = at + count;
    while (end > at && end < shred->count && shred->repetitions[end] != 0)
        end--;
    return end == at ? count : end - at;
}

static bool dictionary_is_full(const struct column_writer *column)
{
    return column->in_dictionary &&
           column->dictionary.page.size_bytes > column->settings->dictionary_bytes;
}

static bool page_is_full(const struct column_writer *column)
{
    size_t size = column->data.size_bytes;
    if (column->leaf->form == FORM_BOOLEAN)
        size /= 8;
    return column->page_rows >= PAGE_ROWS_MAX ||
           size + column->definitions.out.size_bytes + column->repetitions.out.size_bytes >=
               column->settings->page_bytes;
}

/* Places [at, at + count) and their values, which begin with `value`; *value goes on. */
static void add_piece(struct column_writer *column, uint32_t at, uint32_t count, uint32_t *value)
{
    const struct shred *shred = &column->scratch->shred;
    uint32_t values = 0, rows = 0;
    for (uint32_t i = at; i < at + count; i++) {
        values += shred->definitions[i] == column->leaf->definition_max;
        rows += shred->repetitions[i] == 0;
    }
    if (column->definitions.width > 0)
        add_levels(&column->definitions, shred->definitions + at, count);
    if (column->repetitions.width > 0)
        add_levels(&column->repetitions, shred->repetitions + at, count);
    column->page_levels += count;
    column->page_rows += rows;
    column->levels += count;
    column->nulls += count - values;
    if (values == 0)
        return;
    values_gather(&column->scratch->values, column->leaf, shred->vector, shred->cells + *value,
                  values);
    *value += values;
    if (column->in_dictionary)
        add_indexes(column);
    else
        add_plain(column);
}

/* Between two rows. */
static enum status end_what_is_full(struct column_writer *column, struct error *err)
{
    bool leave = dictionary_is_full(column);
    if (leave || page_is_full(column))
        TRY(end_page(column, err));
    if (leave && column->in_dictionary)
        close_dictionary(column);
    return OK;
}

enum status column_writer_add(struct column_writer *column, const struct batch *batch,
                              struct error *err)
{
    struct shred *shred = &column->scratch->shred;
    TRY(shred_batch(shred, column->leaf, batch, err));
    uint32_t piece = piece_size(column, shred);
    uint32_t value = 0;
    for (uint32_t at = 0; at < shred->count;) {
        uint32_t count = shred->count - at < piece ? shred->count - at : piece;
        count = whole_rows(shred, at, count);
        add_piece(column, at, count, &value);
        at += count;
        if (at == shred->count || shred->repetitions[at] == 0)
            TRY(end_what_is_full(column, err));
    }
    return OK;
}

/* ---- the chunk's end ---- */

static void put_statistics(struct column_writer *column, struct thrift *footer)
{
    thrift_struct(footer, 12);
    thrift_i64(footer, 3, (int64_t)column->nulls);
    if (statistics_end(&column->statistics, column->leaf)) {
        thrift_binary(footer, 5, buffer_bytes(&column->statistics.max));
        thrift_binary(footer, 6, buffer_bytes(&column->statistics.min));
        thrift_bool(footer, 7, true);
        thrift_bool(footer, 8, true);
    }
    thrift_end(footer);
}

static void put_page_counts(const struct column_writer *column, struct thrift *footer)
{
    const struct {
        int type, encoding;
        uint32_t count;
    } counts[] = {
        {PAGE_DICTIONARY, ENCODING_PLAIN, column->dictionary.count > 0},
        {PAGE_DATA, ENCODING_RLE_DICTIONARY, column->dictionary_pages},
        {PAGE_DATA, ENCODING_PLAIN, column->plain_pages},
    };
    size_t some = 0;
    for (size_t i = 0; i < 3; i++)
        some += counts[i].count > 0;
    thrift_list(footer, 13, THRIFT_STRUCT, some);
    for (size_t i = 0; i < 3; i++) {
        if (counts[i].count == 0)
            continue;
        thrift_begin(footer);
        thrift_i32(footer, 1, counts[i].type);
        thrift_i32(footer, 2, counts[i].encoding);
        thrift_i32(footer, 3, (int32_t)counts[i].count);
        thrift_end(footer);
    }
}

/* `dictionary_bytes` of the chunk's `size` are before its first data page. */
static void put_metadata(struct column_writer *column, uint64_t position, uint64_t size,
                         uint64_t dictionary_bytes, struct thrift *footer)
{
    const struct parquet_leaf *leaf = column->leaf;
    thrift_begin(footer);
    thrift_i64(footer, 2, (int64_t)position);
    thrift_struct(footer, 3);
    thrift_i32(footer, 1, (int32_t)leaf->type);
    thrift_list(footer, 2, THRIFT_I32, dictionary_bytes > 0 ? 3 : 2);
    thrift_item_i32(footer, ENCODING_RLE);
    thrift_item_i32(footer, ENCODING_PLAIN);
    if (dictionary_bytes > 0)
        thrift_item_i32(footer, ENCODING_RLE_DICTIONARY);
    thrift_list(footer, 3, THRIFT_BINARY, leaf->path_count);
    for (uint32_t i = 0; i < leaf->path_count; i++)
        thrift_item_text(footer, leaf->path[i]);
    thrift_i32(footer, 4, (int32_t)column->settings->codec);
    thrift_i64(footer, 5, (int64_t)column->levels);
    thrift_i64(footer, 6, (int64_t)column->plain_bytes);
    thrift_i64(footer, 7, (int64_t)size);
    thrift_i64(footer, 9, (int64_t)(position + dictionary_bytes));
    if (dictionary_bytes > 0)
        thrift_i64(footer, 11, (int64_t)position);
    put_statistics(column, footer);
    put_page_counts(column, footer);
    thrift_end(footer);
    thrift_end(footer);
}

enum status column_writer_end(struct column_writer *column, uint64_t position, struct buffer *out,
                              struct thrift *footer, uint64_t *plain_bytes, struct error *err)
{
    TRY(end_page(column, err));
    if (column->in_dictionary)
        close_dictionary(column);
    size_t start = out->size_bytes;
    if (column->dictionary.count > 0)
        TRY(put_page(column, PAGE_DICTIONARY, ENCODING_PLAIN, column->dictionary.count,
                     buffer_bytes(&column->dictionary.page), out, err));
    size_t dictionary_bytes = out->size_bytes - start;
    buffer_add_bytes(out, buffer_bytes(&column->pages));
    put_metadata(column, position, out->size_bytes - start, dictionary_bytes, footer);
    *plain_bytes = column->plain_bytes;
    begin_chunk(column);
    return OK;
}
