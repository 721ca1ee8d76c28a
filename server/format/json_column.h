/*
 * Columns being filled from JSON.  They belong to one reader and are reused for every batch: a
 * batch's vectors point into them until the next batch.
 *
 * The cells of the outermost columns, and of structs in them, lie at the index of their row; the
 * cells inside arrays and maps are appended.  A cell is NULL until its validity bit is set.
 * Private to format/.
 */
#ifndef SERVER_FORMAT_JSON_COLUMN_H
#define SERVER_FORMAT_JSON_COLUMN_H

#include "columnar/batch.h"
#include "format/text_scan.h"

#define KEY_LITERAL_BYTES 32
#define KEY_LITERALS_MAX  128
#define KEY_LITERAL_NONE  (KEY_LITERALS_MAX - 1) /* a slot that never matches */
#define FIELD_NONE        UINT32_MAX

/*
 * What stood between two values in an earlier object: `,"name":` as it was written.  Objects of
 * one stream look alike, so the next key is mostly the one that followed last time; comparing 16
 * or 32 bytes then replaces tokenizing, unescaping and looking up.
 */
struct key_literal {
    uint8_t text[KEY_LITERAL_BYTES]; /* padded with zeros */
    uint32_t mask_low, mask_high;    /* which bytes of either half count */
    uint8_t size_bytes;
    uint8_t next[2]; /* literals that followed, the latest first */
    uint32_t field;  /* index of the column, or FIELD_NONE: not wanted */
};

struct json_object {
    const struct type_field *fields;
    uint32_t field_count;
    uint32_t *slots; /* hash table of names: field + 1, or 0 */
    uint32_t slot_mask;
    uint32_t literal_count; /* literals[0] stands for the opening brace */
    struct key_literal *literals;
};

struct json_column {
    const struct type *type;
    enum type_id kind;
    uint32_t length; /* cells appended so far; not used for cells at the index of their row */
    uint32_t mark;   /* length to go back to */
    uint32_t capacity;
    uint64_t *validity;
    void *values;
    struct json_column *children;
    uint32_t child_count;
    struct json_object object; /* STRUCT */
    struct day_cache day;
};

/* An object whose fields are `fields` (borrowed). */
void json_object_init(struct json_object *object, const struct type_field *fields, uint32_t count);
void json_object_fini(struct json_object *object);

/* The field of that name, or FIELD_NONE.  The case counts. */
uint32_t json_object_find(const struct json_object *object, struct bytes name);

/* Remembers the bytes [from, to) in front of a value of `field`; `from` starts behind the value
 * before, whose literal is `before`.  Result: its index, or KEY_LITERAL_NONE. */
uint8_t json_object_learn(struct json_object *object, uint8_t before, struct bytes literal,
                          uint32_t field);

/* Makes a column with room for `capacity` cells. */
void json_column_init(struct json_column *column, const struct type *type, uint32_t capacity);
void json_column_fini(struct json_column *column);

/* Makes all `rows` cells NULL and everything inside empty. */
void json_column_reset(struct json_column *column, uint32_t rows);

/* Notes the lengths of everything inside; rewind() goes back to them. */
void json_column_mark(struct json_column *column);
void json_column_rewind(struct json_column *column);

/* Room for one more cell at `length`, which is NULL then. */
void json_column_grow(struct json_column *column);

void json_column_clear_fields(struct json_column *column, uint32_t index);

/* Makes one cell NULL again, and of a STRUCT all its fields, whatever of it has been filled. */
static inline void json_column_clear(struct json_column *column, uint32_t index)
{
    validity_clear(column->validity, index);
    if (column->kind == TYPE_STRUCT)
        json_column_clear_fields(column, index);
}

/* The first `rows` cells as a vector in `batch`, which points into the column. */
struct vector *json_column_vector(struct json_column *column, uint32_t rows, struct arena *batch);

#endif
