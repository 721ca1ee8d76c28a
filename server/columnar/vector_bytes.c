/*
 * See vector_bytes.h.
 */
#include "columnar/vector_bytes.h"

#include "base/check.h"

struct head {
    uint32_t rows;
    uint8_t constant;
    uint8_t nulls;
    uint16_t unused;
};

static bool is_text(const struct type *type)
{
    return type->id == TYPE_STRING || type->id == TYPE_BINARY || type->id == TYPE_VARIANT;
}

/* ---- there ---- */

static void save_text(const struct vector *vector, uint32_t rows, struct buffer *out)
{
    const struct bytes *cells = vector->values;
    for (uint32_t row = 0; row < rows; row++) {
        bool null = !validity_get(vector->validity, row);
        CHECK(null || cells[row].size_bytes <= UINT32_MAX);
        uint32_t size = null ? 0 : (uint32_t)cells[row].size_bytes;
        buffer_add(out, &size, sizeof size);
    }
    for (uint32_t row = 0; row < rows; row++)
        if (validity_get(vector->validity, row))
            buffer_add_bytes(out, cells[row]);
}

void vector_save(const struct vector *vector, struct buffer *out)
{
    size_t cell = type_value_bytes(vector->type);
    uint32_t rows = vector->constant ? 1 : vector->length;
    struct head head = {.rows = vector->length,
                        .constant = vector->constant ? 1 : 0,
                        .nulls = vector->validity != NULL ? 1 : 0};
    buffer_add(out, &head, sizeof head);
    if (vector->validity != NULL)
        buffer_add(out, vector->validity, validity_words(rows) * sizeof *vector->validity);
    if (is_text(vector->type))
        save_text(vector, rows, out);
    else if (cell > 0)
        buffer_add(out, vector->values, rows * cell);
    for (uint32_t i = 0; i < vector->child_count; i++)
        vector_save(vector->children[i], out);
}

/* ---- and back ---- */

static enum status damaged(struct error *err)
{
    return error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "rows on the disk", NULL);
}

static bool take(struct bytes *in, void *to, size_t size)
{
    if (size > in->size_bytes)
        return false;
    if (size > 0)
        memcpy(to, in->data, size);
    *in = bytes_of(in->data + size, in->size_bytes - size);
    return true;
}

static enum status load_text(struct arena *arena, struct vector *vector, uint32_t rows,
                             struct bytes *in, struct error *err)
{
    struct bytes *cells = vector->values;
    uint64_t total = 0;
    void *memory = NULL;
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t size = 0;
        if (!take(in, &size, sizeof size))
            return damaged(err);
        cells[row].size_bytes = size;
        total += size;
    }
    if (total > in->size_bytes)
        return damaged(err);
    TRY(arena_alloc_raw(arena, (size_t)total + 1, 1, &memory, err));
    uint8_t *next = memory;
    for (uint32_t row = 0; row < rows; row++) {
        cells[row].data = next;
        next += cells[row].size_bytes;
    }
    return take(in, memory, (size_t)total) ? OK : damaged(err);
}

enum status vector_load(struct arena *arena, const struct type *type, struct bytes *in,
                        struct vector **out, struct error *err)
{
    struct head head;
    size_t cell = type_value_bytes(type);
    if (!take(in, &head, sizeof head))
        return damaged(err);
    uint32_t rows = head.constant != 0 ? 1 : head.rows;
    size_t least = (head.nulls != 0 ? validity_words(rows) * sizeof(uint64_t) : 0) +
                   (size_t)rows * (is_text(type) ? sizeof(uint32_t) : cell);
    if (least > in->size_bytes)
        return damaged(err);
    TRY(vector_new(arena, type, rows, out, err));
    struct vector *vector = *out;
    vector->length = head.rows;
    vector->constant = head.constant != 0;
    if (head.nulls != 0) {
        TRY(vector_make_nullable(arena, vector, err));
        if (!take(in, vector->validity, validity_words(rows) * sizeof *vector->validity))
            return damaged(err);
    }
    if (is_text(type))
        TRY(load_text(arena, vector, rows, in, err));
    else if (!take(in, vector->values, rows * cell))
        return damaged(err);
    for (uint32_t i = 0; i < vector->child_count; i++)
        TRY(vector_load(arena, vector->children[i]->type, in, &vector->children[i], err));
    return OK;
}
