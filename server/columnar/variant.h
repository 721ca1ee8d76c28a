/*
 * VARIANT values: a cell is one piece of bytes, the metadata and then the value, both as the
 * Parquet Variant specification (version 1) has them:
 *
 *     metadata = header | n | n + 1 offsets | the names, one behind the other
 *     value    = header | payload; what is in arrays and objects lies behind their offsets
 *
 * The metadata says where it ends, so no length is kept.  The fields of an object are sorted by
 * name.  Numbers take the smallest form that holds them.
 *
 * Reading never fails: bytes that are no variant read as null (variant_is_valid tells), and no
 * more than VARIANT_DEPTH_MAX levels are gone into.
 *
 * Threads: any; nothing is shared.
 */
#ifndef SERVER_COLUMNAR_VARIANT_H
#define SERVER_COLUMNAR_VARIANT_H

#include "columnar/decimal.h"
#include "columnar/timezone.h"

#define VARIANT_DEPTH_MAX 1000
#define VARIANT_BYTES_MAX ((size_t)128 << 20)

enum variant_kind {
    VARIANT_NULL,
    VARIANT_BOOLEAN,
    VARIANT_LONG,
    VARIANT_DOUBLE,
    VARIANT_FLOAT,
    VARIANT_DECIMAL,
    VARIANT_STRING,
    VARIANT_BINARY,
    VARIANT_DATE,
    VARIANT_TIMESTAMP,
    VARIANT_TIMESTAMP_NTZ,
    VARIANT_ARRAY,
    VARIANT_OBJECT,
};

/* A value, or one within another: a view. */
struct variant {
    struct bytes metadata;
    struct bytes value;
};

/* What a value says of itself. */
struct variant_item {
    enum variant_kind kind;
    int64_t integer;        /* BOOLEAN, LONG, DATE, TIMESTAMP, TIMESTAMP_NTZ */
    double real;            /* DOUBLE, FLOAT */
    struct decimal decimal; /* without zeros at its end */
    struct bytes text;      /* STRING, BINARY */
    uint32_t count;         /* ARRAY, OBJECT */
    size_t ids_at, offsets_at, data_at;
    uint8_t id_size, offset_size;
};

/* The value in a cell. */
struct variant variant_of_cell(struct bytes cell);
bool variant_is_valid(const struct variant *variant);
void variant_read(const struct variant *variant, struct variant_item *out);
/* Part `index` < item->count; its name (objects) into *name, which may be NULL.  False: damaged. */
bool variant_part(const struct variant *variant, const struct variant_item *item, uint32_t index,
                  struct bytes *name, struct variant *out);
/* The field of an object.  False: there is none. */
bool variant_field(const struct variant *variant, const struct variant_item *item,
                   struct bytes name, struct variant *out);

/* As JSON; dates and times in quotes, times in `zone` with their offset. */
void variant_print_json(struct buffer *out, const struct variant *variant, const struct zone *zone);

/* ---- making ---- */

/* A zeroed one is empty and valid. */
struct variant_builder {
    struct buffer value;
    struct buffer names; /* the texts */
    struct buffer ends;  /* uint32_t each: where the text ends */
    struct buffer table; /* uint32_t: name id + 1 by hash, open addressing */
    struct buffer parts; /* struct variant_slot: of the arrays and objects that are open */
    struct buffer cell;
};

struct variant_mark {
    size_t value_at;
    size_t parts_at;
};

void variant_builder_fini(struct variant_builder *builder);
void variant_builder_clear(struct variant_builder *builder);

void variant_add_null(struct variant_builder *builder);
void variant_add_boolean(struct variant_builder *builder, bool value);
void variant_add_long(struct variant_builder *builder, int64_t value);
void variant_add_double(struct variant_builder *builder, double value);
void variant_add_float(struct variant_builder *builder, float value);
void variant_add_decimal(struct variant_builder *builder, struct decimal value);
void variant_add_string(struct variant_builder *builder, struct bytes text);
void variant_add_binary(struct variant_builder *builder, struct bytes data);
void variant_add_date(struct variant_builder *builder, int32_t days);
void variant_add_timestamp(struct variant_builder *builder, int64_t us, bool ntz);
/* A copy of a value. */
void variant_add(struct variant_builder *builder, const struct variant *variant);

/* Between begin and end each part is announced and then added. */
struct variant_mark variant_begin(const struct variant_builder *builder);
void variant_next_element(struct variant_builder *builder);
void variant_next_field(struct variant_builder *builder, struct bytes name);
void variant_end_array(struct variant_builder *builder, struct variant_mark mark);
/* Of fields with the same name the last one counts.  False: there are such, the first into
 * *repeated (valid until the builder is used again). */
bool variant_end_object(struct variant_builder *builder, struct variant_mark mark,
                        struct bytes *repeated);

/* The cell; valid until the builder is used again.  False: longer than VARIANT_BYTES_MAX. */
bool variant_finish(struct variant_builder *builder, struct bytes *out);

/* ---- from JSON (variant_json.c) ---- */

struct variant_json_options {
    bool repeated_names; /* the last one counts */
    bool single_quotes;
};

enum variant_json_result {
    VARIANT_JSON_OK,
    VARIANT_JSON_MALFORMED,
    VARIANT_JSON_REPEATED_NAME, /* *repeated says which */
};

/* Adds the value that a text holds.  Integers are LONG, or DECIMAL if they are too large; numbers
 * with a point DECIMAL if 38 digits hold them; all others DOUBLE. */
enum variant_json_result variant_add_json(struct variant_builder *builder, struct bytes text,
                                          const struct variant_json_options *options,
                                          struct bytes *repeated);

#endif
