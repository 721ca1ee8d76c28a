/* Parquet for tests: see parquet_rows.h.  Written from the format's specification. */
#include "parquet_rows.h"

#include <inttypes.h>
#include <stdlib.h>

struct cursor {
    const uint8_t *at, *end;
    bool bad;
};

static uint8_t next_byte(struct cursor *cursor)
{
    if (cursor->at >= cursor->end) {
        cursor->bad = true;
        return 0;
    }
    return *cursor->at++;
}

static uint64_t varint(struct cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = next_byte(cursor);
        value |= (uint64_t)(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0)
            break;
    }
    return value;
}

static int64_t zigzag(struct cursor *cursor)
{
    uint64_t value = varint(cursor);
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static void skip_bytes(struct cursor *cursor, uint64_t size)
{
    if (size > (uint64_t)(cursor->end - cursor->at)) {
        cursor->bad = true;
        cursor->at = cursor->end;
        return;
    }
    cursor->at += size;
}

static void skip(struct cursor *cursor, unsigned type);

/* The next field of a struct; false at its end. */
static bool next_field(struct cursor *cursor, int *id, unsigned *type)
{
    uint8_t head = next_byte(cursor);
    if (head == 0 || cursor->bad)
        return false;
    *type = head & 15;
    *id = head >> 4 != 0 ? *id + (head >> 4) : (int)zigzag(cursor);
    return true;
}

static uint64_t list_head(struct cursor *cursor, unsigned *type)
{
    uint8_t head = next_byte(cursor);
    *type = head & 15;
    return head >> 4 == 15 ? varint(cursor) : head >> 4;
}

static void skip(struct cursor *cursor, unsigned type)
{
    int id = 0;
    unsigned inner = 0;
    switch (type) {
    case 1:
    case 2:
        break;
    case 3:
        (void)next_byte(cursor);
        break;
    case 4:
    case 5:
    case 6:
        (void)varint(cursor);
        break;
    case 8:
        skip_bytes(cursor, varint(cursor));
        break;
    case 9:
        for (uint64_t left = list_head(cursor, &inner); left > 0 && !cursor->bad; left--)
            skip(cursor, inner);
        break;
    case 12:
        while (next_field(cursor, &id, &inner))
            skip(cursor, inner);
        break;
    default:
        cursor->bad = true;
    }
}

/* Field `id` of the struct that begins at `start`. */
static bool find_field(struct cursor start, int id, struct cursor *out)
{
    int at = 0;
    unsigned type = 0;
    while (next_field(&start, &at, &type)) {
        if (at == id) {
            *out = start;
            return true;
        }
        skip(&start, type);
    }
    return false;
}

static int64_t number(struct cursor start, int id, int64_t fallback)
{
    struct cursor field;
    return find_field(start, id, &field) ? zigzag(&field) : fallback;
}

/* ---- pages ---- */

struct column_reader {
    const struct type *type;
    struct bytes dictionary;
    uint32_t dictionary_count;
    uint32_t *starts; /* of the strings in it */
    char **cells;     /* texts: heap */
    uint64_t cell_count;
    uint64_t cells_wanted;
};

/* Up to `count` values of the hybrid of runs and packed bits. */
static bool read_hybrid(struct cursor *cursor, unsigned width, uint32_t *out, uint64_t count)
{
    uint64_t done = 0;
    while (done < count && !cursor->bad) {
        uint64_t head = varint(cursor);
        if ((head & 1) == 0) {
            uint32_t value = 0;
            for (unsigned shift = 0; shift < width; shift += 8)
                value |= (uint32_t)next_byte(cursor) << shift;
            for (uint64_t i = head >> 1; i > 0 && done < count; i--)
                out[done++] = value;
            continue;
        }
        const uint8_t *bits = cursor->at;
        skip_bytes(cursor, (head >> 1) * width);
        for (uint64_t i = 0; i < (head >> 1) * 8 && done < count && !cursor->bad; i++) {
            uint32_t value = 0;
            for (unsigned bit = 0; bit < width; bit++) {
                uint64_t at = i * width + bit;
                value |= (uint32_t)(bits[at / 8] >> at % 8 & 1) << bit;
            }
            out[done++] = value;
        }
    }
    return !cursor->bad;
}

static size_t value_width(const struct type *type)
{
    return type->id == TYPE_LONG || type->id == TYPE_DOUBLE ? 8 : 4;
}

/* A value in PLAIN encoding; `index` counts booleans within the page. */
static char *read_plain(struct cursor *cursor, const struct type *type, uint64_t index)
{
    struct buffer text = {0};
    uint32_t size = 0;
    int64_t integer = 0;
    int32_t small = 0;
    double real = 0;
    const uint8_t *at = cursor->at;
    if (type->id == TYPE_BOOLEAN) {
        buffer_add_text(&text, at + index / 8 < cursor->end && (at[index / 8] >> index % 8 & 1)
                                   ? "true"
                                   : "false");
    } else if (type->id == TYPE_STRING) {
        skip_bytes(cursor, sizeof size);
        if (!cursor->bad)
            memcpy(&size, at, sizeof size);
        skip_bytes(cursor, size);
        buffer_add_json_string(&text, bytes_of(at + sizeof size, cursor->bad ? 0 : size));
    } else {
        skip_bytes(cursor, value_width(type));
        if (cursor->bad)
            return strdup("");
        memcpy(&small, at, sizeof small);
        if (value_width(type) == 8)
            memcpy(&integer, at, sizeof integer);
        memcpy(&real, &integer, sizeof real);
        if (type->id == TYPE_DOUBLE)
            buffer_printf(&text, "%.17g", real);
        else
            buffer_printf(&text, "%" PRId64, value_width(type) == 8 ? integer : small);
    }
    char *copy = strdup(buffer_text(&text));
    buffer_fini(&text);
    return copy;
}

static bool read_dictionary(struct column_reader *column, struct bytes body, uint32_t count)
{
    struct cursor cursor = {body.data, body.data + body.size_bytes, false};
    column->dictionary = body;
    column->dictionary_count = count;
    free(column->starts);
    column->starts = calloc(count + 1, sizeof *column->starts);
    for (uint32_t i = 0; i < count && !cursor.bad; i++) {
        column->starts[i] = (uint32_t)(cursor.at - body.data);
        free(read_plain(&cursor, column->type, i));
    }
    return !cursor.bad && cursor.at == cursor.end;
}

static bool read_data(struct column_reader *column, struct bytes body, uint64_t count,
                      bool dictionary)
{
    struct cursor cursor = {body.data, body.data + body.size_bytes, false};
    uint32_t *levels = calloc(count + 1, sizeof *levels);
    uint32_t *indexes = calloc(count + 1, sizeof *indexes);
    uint32_t size = 0;
    uint64_t some = 0;
    memcpy(&size, body.data, sizeof size);
    struct cursor of_levels = {body.data + 4, body.data + 4 + size, false};
    skip_bytes(&cursor, 4 + (uint64_t)size);
    bool ok = !cursor.bad && read_hybrid(&of_levels, 1, levels, count);
    for (uint64_t i = 0; ok && i < count; i++)
        some += levels[i];
    if (ok && dictionary && some > 0) {
        unsigned width = next_byte(&cursor);
        ok = read_hybrid(&cursor, width, indexes, some);
    }
    for (uint64_t i = 0, value = 0; ok && i < count; i++) {
        struct cursor from = cursor;
        ok = column->cell_count < column->cells_wanted;
        if (!ok)
            break;
        char **cell = &column->cells[column->cell_count++];
        if (levels[i] == 0) {
            *cell = strdup("null");
            continue;
        }
        if (dictionary) {
            ok = indexes[value] < column->dictionary_count;
            const uint8_t *start =
                column->dictionary.data + column->starts[ok ? indexes[value] : 0];
            from = (struct cursor){start, column->dictionary.data + column->dictionary.size_bytes,
                                   false};
        }
        *cell = read_plain(&from, column->type, dictionary ? 0 : value);
        ok = ok && !from.bad;
        if (!dictionary)
            cursor = from;
        value++;
    }
    free(levels);
    free(indexes);
    return ok;
}

static bool read_chunk(struct column_reader *column, struct bytes file, struct cursor metadata,
                       struct parquet_facts *facts)
{
    int64_t dictionary = number(metadata, 11, -1);
    int64_t start = dictionary >= 0 ? dictionary : number(metadata, 9, -1);
    int64_t size = number(metadata, 7, -1);
    uint64_t values = (uint64_t)number(metadata, 5, -1), done = 0;
    if (number(metadata, 4, -1) != 0 || start < 4 || size < 0 ||
        (uint64_t)start + (uint64_t)size > file.size_bytes)
        return false;
    struct cursor cursor = {file.data + start, file.data + start + size, false};
    while (cursor.at < cursor.end && !cursor.bad) {
        struct cursor head = cursor, inner;
        skip(&cursor, 12);
        struct bytes body = bytes_of(cursor.at, (size_t)number(head, 3, 0));
        skip_bytes(&cursor, body.size_bytes);
        bool is_dictionary = number(head, 1, -1) == 2;
        if (cursor.bad || !find_field(head, is_dictionary ? 7 : 5, &inner))
            return false;
        uint64_t count = (uint64_t)number(inner, 1, 0);
        bool indexed = !is_dictionary && number(inner, 2, -1) == 8;
        facts->dictionaries += is_dictionary;
        facts->dictionary_pages += indexed;
        facts->plain_pages += !is_dictionary && !indexed;
        if (!(is_dictionary ? read_dictionary(column, body, (uint32_t)count)
                            : read_data(column, body, count, indexed)))
            return false;
        done += is_dictionary ? 0 : count;
    }
    return !cursor.bad && done == values;
}

/* ---- the file ---- */

bool parquet_rows_is_file(struct bytes file)
{
    return file.size_bytes >= 12 && memcmp(file.data, "PAR1", 4) == 0 &&
           memcmp(file.data + file.size_bytes - 4, "PAR1", 4) == 0;
}

static bool read_groups(struct column_reader *columns, uint32_t count, struct bytes file,
                        struct cursor footer, struct parquet_facts *facts)
{
    struct cursor groups, chunks, metadata;
    unsigned type = 0;
    if (!find_field(footer, 4, &groups))
        return false;
    facts->groups = (uint32_t)list_head(&groups, &type);
    for (uint32_t i = 0; i < facts->groups; i++) {
        if (!find_field(groups, 1, &chunks) || list_head(&chunks, &type) != count)
            return false;
        for (uint32_t j = 0; j < count; j++) {
            if (!find_field(chunks, 3, &metadata) ||
                !read_chunk(&columns[j], file, metadata, facts))
                return false;
            skip(&chunks, 12);
        }
        skip(&groups, 12);
    }
    return !groups.bad;
}

static void print_rows(const struct type *schema, const struct column_reader *columns,
                       uint64_t rows, struct buffer *out)
{
    for (uint64_t row = 0; row < rows; row++) {
        for (uint32_t i = 0; i < schema->field_count; i++) {
            buffer_add_byte(out, i == 0 ? '{' : ',');
            buffer_add_json_string(out, bytes_of_text(schema->fields[i].name));
            buffer_add_byte(out, ':');
            buffer_add_text(out, columns[i].cells[row]);
        }
        buffer_add_text(out, "}\n");
    }
}

bool parquet_rows_json(const struct type *schema, struct bytes file, struct buffer *out,
                       struct parquet_facts *facts)
{
    struct parquet_facts own = {0};
    facts = facts == NULL ? &own : facts;
    *facts = own;
    uint32_t size = 0, count = schema->field_count;
    if (!parquet_rows_is_file(file))
        return false;
    memcpy(&size, file.data + file.size_bytes - 8, sizeof size);
    if (size > file.size_bytes - 12)
        return false;
    const uint8_t *end = file.data + file.size_bytes - 8;
    struct cursor footer = {end - size, end, false};
    facts->rows = (uint64_t)number(footer, 3, 0);
    struct column_reader *columns = calloc(count + 1, sizeof *columns);
    for (uint32_t i = 0; i < count; i++) {
        columns[i].type = schema->fields[i].type;
        columns[i].cells = calloc(facts->rows + 1, sizeof(char *));
        columns[i].cells_wanted = facts->rows;
    }
    bool ok = read_groups(columns, count, file, footer, facts);
    for (uint32_t i = 0; i < count; i++)
        ok = ok && columns[i].cell_count == facts->rows;
    if (ok)
        print_rows(schema, columns, facts->rows, out);
    for (uint32_t i = 0; i < count; i++) {
        for (uint64_t j = 0; j < columns[i].cell_count; j++)
            free(columns[i].cells[j]);
        free(columns[i].cells);
        free(columns[i].starts);
    }
    free(columns);
    return ok;
}
