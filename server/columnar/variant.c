/* Reading and printing of VARIANT values. */
#include "columnar/variant.h"

#include "base/check.h"
#include "columnar/number_text.h"
#include "columnar/timestamp_text.h"

/* Basic types: the lowest two bits of a value's first byte. */
enum {
    BASIC_PRIMITIVE,
    BASIC_SHORT_STRING,
    BASIC_OBJECT,
    BASIC_ARRAY,
};

static uint64_t read_number(const uint8_t *data, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)data[i] << (8 * i);
    return value;
}

static int64_t read_signed(const uint8_t *data, size_t size)
{
    uint64_t value = read_number(data, size);
    unsigned shift = 64 - 8 * (unsigned)size;
    return (int64_t)(value << shift) >> shift;
}

/* ---- metadata ---- */

struct dictionary {
    const uint8_t *offsets;
    const uint8_t *names;
    size_t names_size;
    size_t size; /* of the metadata */
    uint32_t count;
    uint8_t offset_size;
};

static bool open_dictionary(struct bytes metadata, struct dictionary *out)
{
    if (metadata.size_bytes < 3 || (metadata.data[0] & 0x0F) != 1)
        return false;
    size_t width = (size_t)(metadata.data[0] >> 6) + 1;
    if (metadata.size_bytes < 1 + 2 * width)
        return false;
    uint64_t count = read_number(metadata.data + 1, width);
    size_t names_at = 1 + (size_t)(count + 2) * width;
    if (count > metadata.size_bytes || names_at > metadata.size_bytes)
        return false;
    uint64_t size = read_number(metadata.data + names_at - width, width);
    if (size > metadata.size_bytes - names_at)
        return false;
    *out = (struct dictionary){.offsets = metadata.data + 1 + width,
                               .names = metadata.data + names_at,
                               .names_size = (size_t)size,
                               .size = names_at + (size_t)size,
                               .count = (uint32_t)count,
                               .offset_size = (uint8_t)width};
    return true;
}

static bool name_of(const struct dictionary *dictionary, uint64_t id, struct bytes *out)
{
    if (id >= dictionary->count)
        return false;
    size_t width = dictionary->offset_size;
    uint64_t start = read_number(dictionary->offsets + id * width, width);
    uint64_t end = read_number(dictionary->offsets + (id + 1) * width, width);
    if (start > end || end > dictionary->names_size)
        return false;
    *out = bytes_of(dictionary->names + start, (size_t)(end - start));
    return true;
}

struct variant variant_of_cell(struct bytes cell)
{
    struct dictionary dictionary;
    if (!open_dictionary(cell, &dictionary))
        return (struct variant){0};
    return (struct variant){
        bytes_of(cell.data, dictionary.size),
        bytes_of(cell.data + dictionary.size, cell.size_bytes - dictionary.size)};
}

/* ---- values ---- */

static bool read_decimal(struct bytes payload, size_t size, struct variant_item *out)
{
    if (payload.size_bytes < 1 + size || payload.data[0] > DECIMAL_PRECISION_MAX)
        return false;
    int128 value = 0;
    if (size < 16)
        value = read_signed(payload.data + 1, size);
    else
        memcpy(&value, payload.data + 1, sizeof(value));
    int scale = payload.data[0];
    for (; scale > 0 && value % 10 == 0; scale--)
        value /= 10;
    out->kind = VARIANT_DECIMAL;
    out->decimal = (struct decimal){value, scale};
    return true;
}

static bool read_long_text(struct bytes payload, enum variant_kind kind, struct variant_item *out)
{
    if (payload.size_bytes < 4)
        return false;
    uint64_t size = read_number(payload.data, 4);
    if (size > payload.size_bytes - 4)
        return false;
    out->kind = kind;
    out->text = bytes_of(payload.data + 4, (size_t)size);
    return true;
}

static bool read_real(struct bytes payload, bool narrow, struct variant_item *out)
{
    float single;
    if (payload.size_bytes < (narrow ? sizeof(float) : sizeof(double)))
        return false;
    out->kind = narrow ? VARIANT_FLOAT : VARIANT_DOUBLE;
    if (narrow) {
        memcpy(&single, payload.data, sizeof(single));
        out->real = (double)single;
    } else {
        memcpy(&out->real, payload.data, sizeof(double));
    }
    return true;
}

static bool read_primitive(uint8_t type, struct bytes payload, struct variant_item *out)
{
    static const struct {
        enum variant_kind kind;
        uint8_t size;
    } integers[] = {
        [3] = {VARIANT_LONG, 1},           [4] = {VARIANT_LONG, 2},  [5] = {VARIANT_LONG, 4},
        [6] = {VARIANT_LONG, 8},           [11] = {VARIANT_DATE, 4}, [12] = {VARIANT_TIMESTAMP, 8},
        [13] = {VARIANT_TIMESTAMP_NTZ, 8},
    };
    if (type <= 2) {
        out->kind = type == 0 ? VARIANT_NULL : VARIANT_BOOLEAN;
        out->integer = type == 1;
        return true;
    }
    if (type == 7 || type == 14)
        return read_real(payload, type == 14, out);
    if (type >= 8 && type <= 10)
        return read_decimal(payload, type == 8 ? 4 : type == 9 ? 8 : 16, out);
    if (type == 15 || type == 16)
        return read_long_text(payload, type == 15 ? VARIANT_BINARY : VARIANT_STRING, out);
    if (type >= sizeof(integers) / sizeof(*integers) || integers[type].size == 0 ||
        payload.size_bytes < integers[type].size)
        return false;
    out->kind = integers[type].kind;
    out->integer = read_signed(payload.data, integers[type].size);
    return true;
}

/* An array or an object. */
static bool read_container(struct bytes value, struct variant_item *out)
{
    bool object = (value.data[0] & 3) == BASIC_OBJECT;
    unsigned info = value.data[0] >> 2;
    bool large = (object ? info >> 4 : info >> 2) & 1;
    size_t count_size = large ? 4 : 1;
    if (value.size_bytes < 1 + count_size)
        return false;
    uint64_t count = read_number(value.data + 1, count_size);
    out->kind = object ? VARIANT_OBJECT : VARIANT_ARRAY;
    out->offset_size = (uint8_t)((info & 3) + 1);
    out->id_size = (uint8_t)(object ? (info >> 2 & 3) + 1 : 0);
    out->ids_at = 1 + count_size;
    out->offsets_at = out->ids_at + (size_t)count * out->id_size;
    out->data_at = out->offsets_at + ((size_t)count + 1) * out->offset_size;
    out->count = (uint32_t)count;
    return out->data_at <= value.size_bytes;
}

static bool read_item(const struct variant *variant, struct variant_item *out)
{
    struct bytes value = variant->value;
    *out = (struct variant_item){.kind = VARIANT_NULL};
    if (value.size_bytes == 0)
        return false;
    uint8_t first = value.data[0];
    struct bytes payload = bytes_of(value.data + 1, value.size_bytes - 1);
    switch (first & 3) {
    case BASIC_PRIMITIVE:
        return read_primitive(first >> 2, payload, out);
    case BASIC_SHORT_STRING:
        out->kind = VARIANT_STRING;
        out->text = bytes_of(payload.data, first >> 2);
        return payload.size_bytes >= out->text.size_bytes;
    default:
        return read_container(value, out);
    }
}

void variant_read(const struct variant *variant, struct variant_item *out)
{
    if (!read_item(variant, out))
        *out = (struct variant_item){.kind = VARIANT_NULL};
}

bool variant_part(const struct variant *variant, const struct variant_item *item, uint32_t index,
                  struct bytes *name, struct variant *out)
{
    CHECK(index < item->count);
    const uint8_t *data = variant->value.data;
    uint64_t offset =
        read_number(data + item->offsets_at + (size_t)index * item->offset_size, item->offset_size);
    size_t rest = variant->value.size_bytes - item->data_at;
    if (offset >= rest)
        return false;
    *out = (struct variant){variant->metadata,
                            bytes_of(data + item->data_at + offset, rest - (size_t)offset)};
    if (name == NULL)
        return true;
    struct dictionary dictionary;
    uint64_t id = read_number(data + item->ids_at + (size_t)index * item->id_size, item->id_size);
    return open_dictionary(variant->metadata, &dictionary) && name_of(&dictionary, id, name);
}

static int compare_names(struct bytes a, struct bytes b)
{
    size_t common = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
    int order = common == 0 ? 0 : memcmp(a.data, b.data, common);
    return order != 0 ? order : (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

bool variant_field(const struct variant *variant, const struct variant_item *item,
                   struct bytes name, struct variant *out)
{
    struct dictionary dictionary;
    if (item->kind != VARIANT_OBJECT || !open_dictionary(variant->metadata, &dictionary))
        return false;
    uint32_t low = 0;
    uint32_t high = item->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const uint8_t *id = variant->value.data + item->ids_at + (size_t)middle * item->id_size;
        struct bytes found;
        if (!name_of(&dictionary, read_number(id, item->id_size), &found))
            return false;
        int order = compare_names(found, name);
        if (order == 0)
            return variant_part(variant, item, middle, NULL, out);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static bool valid_within(const struct variant *variant, int depth)
{
    struct variant_item item;
    if (depth > VARIANT_DEPTH_MAX || !read_item(variant, &item))
        return false;
    for (uint32_t i = 0; i < item.count; i++) {
        struct variant part;
        struct bytes name;
        if (!variant_part(variant, &item, i, item.kind == VARIANT_OBJECT ? &name : NULL, &part) ||
            !valid_within(&part, depth + 1))
            return false;
    }
    return true;
}

bool variant_is_valid(const struct variant *variant)
{
    struct dictionary dictionary;
    return open_dictionary(variant->metadata, &dictionary) && valid_within(variant, 0);
}

/* ---- printing ---- */

static void print_base64(struct buffer *out, struct bytes data)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < data.size_bytes; i += 3) {
        size_t have = data.size_bytes - i < 3 ? data.size_bytes - i : 3;
        uint32_t group = (uint32_t)data.data[i] << 16;
        group |= have > 1 ? (uint32_t)data.data[i + 1] << 8 : 0;
        group |= have > 2 ? data.data[i + 2] : 0;
        buffer_add_byte(out, (uint8_t)digits[group >> 18]);
        buffer_add_byte(out, (uint8_t)digits[group >> 12 & 63]);
        buffer_add_byte(out, have > 1 ? (uint8_t)digits[group >> 6 & 63] : '=');
        buffer_add_byte(out, have > 2 ? (uint8_t)digits[group & 63] : '=');
    }
}

/* As Jackson writes it. */
static void print_quoted(struct buffer *out, struct bytes text)
{
    static const char shorts[] = "btnvfr"; /* of 8 to 13; 11 has none */
    buffer_add_byte(out, '"');
    for (size_t i = 0; i < text.size_bytes; i++) {
        uint8_t c = text.data[i];
        if (c == '"' || c == '\\') {
            buffer_add_byte(out, '\\');
            buffer_add_byte(out, c);
        } else if (c >= 8 && c <= 13 && c != 11) {
            buffer_add_byte(out, '\\');
            buffer_add_byte(out, (uint8_t)shorts[c - 8]);
        } else if (c < 0x20) {
            buffer_printf(out, "\\u%04X", (unsigned)c);
        } else {
            buffer_add_byte(out, c);
        }
    }
    buffer_add_byte(out, '"');
}

/* With the offset behind it: 2024-05-01 01:02:03.5+00:00. */
static void print_timestamp(struct buffer *out, int64_t us, const struct zone *zone)
{
    char text[TIMESTAMP_TEXT_MAX];
    buffer_add(out, text, timestamp_text_print(text, us, zone));
    int32_t offset = timezone_offset_seconds(zone, us);
    int32_t size = offset < 0 ? -offset : offset;
    buffer_printf(out, "%c%02d:%02d", offset < 0 ? '-' : '+', size / 3600, size / 60 % 60);
}

/* Numbers, dates and times, without quotes. */
static void print_scalar(struct buffer *out, const struct variant_item *item,
                         const struct zone *zone)
{
    char text[DECIMAL_TEXT_MAX > TIMESTAMP_TEXT_MAX ? DECIMAL_TEXT_MAX : TIMESTAMP_TEXT_MAX];
    switch (item->kind) {
    case VARIANT_BOOLEAN:
        buffer_add_text(out, item->integer != 0 ? "true" : "false");
        break;
    case VARIANT_LONG:
        buffer_add(out, text, number_print_int64(text, item->integer));
        break;
    case VARIANT_DOUBLE:
        buffer_add(out, text, number_print_double(text, item->real));
        break;
    case VARIANT_FLOAT:
        buffer_add(out, text, number_print_float(text, (float)item->real));
        break;
    case VARIANT_DECIMAL:
        buffer_add(out, text, decimal_print(text, item->decimal));
        break;
    case VARIANT_DATE:
        buffer_add(out, text, timestamp_text_print_date(text, (int32_t)item->integer));
        break;
    case VARIANT_TIMESTAMP:
        print_timestamp(out, item->integer, zone);
        break;
    case VARIANT_TIMESTAMP_NTZ:
        buffer_add(out, text, timestamp_text_print_ntz(text, item->integer));
        break;
    case VARIANT_BINARY:
        print_base64(out, item->text);
        break;
    case VARIANT_NULL:
    case VARIANT_STRING:
    case VARIANT_ARRAY:
    case VARIANT_OBJECT:
        buffer_add_text(out, "null");
        break;
    }
}

static bool is_quoted(const struct variant_item *item)
{
    if (item->kind == VARIANT_DOUBLE || item->kind == VARIANT_FLOAT)
        return !(item->real - item->real == 0);
    return item->kind == VARIANT_DATE || item->kind == VARIANT_TIMESTAMP ||
           item->kind == VARIANT_TIMESTAMP_NTZ || item->kind == VARIANT_BINARY;
}

static void print_within(struct buffer *out, const struct variant *variant, const struct zone *zone,
                         int depth)
{
    struct variant_item item;
    variant_read(variant, &item);
    bool object = item.kind == VARIANT_OBJECT;
    if (item.kind == VARIANT_STRING) {
        print_quoted(out, item.text);
        return;
    }
    if (depth > VARIANT_DEPTH_MAX || (!object && item.kind != VARIANT_ARRAY)) {
        bool quoted = is_quoted(&item);
        if (quoted)
            buffer_add_byte(out, '"');
        print_scalar(out, &item, zone);
        if (quoted)
            buffer_add_byte(out, '"');
        return;
    }
    buffer_add_byte(out, object ? '{' : '[');
    for (uint32_t i = 0; i < item.count; i++) {
        struct variant part;
        struct bytes name;
        if (!variant_part(variant, &item, i, object ? &name : NULL, &part))
            break;
        if (i > 0)
            buffer_add_byte(out, ',');
        if (object) {
            print_quoted(out, name);
            buffer_add_byte(out, ':');
        }
        print_within(out, &part, zone, depth + 1);
    }
    buffer_add_byte(out, object ? '}' : ']');
}

void variant_print_json(struct buffer *out, const struct variant *variant, const struct zone *zone)
{
    print_within(out, variant, zone, 0);
}
