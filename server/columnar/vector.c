#include "columnar/vector.h"

#include "base/check.h"

static uint32_t physical_rows(const struct vector *vector)
{
    return vector->constant ? 1 : vector->length;
}

static uint32_t child_count_of(const struct type *type)
{
    switch ((int)type->id) {
    case TYPE_ARRAY:
        return 1;
    case TYPE_MAP:
        return 2;
    case TYPE_STRUCT:
        return type->field_count;
    default:
        return 0;
    }
}

static const struct type *child_type(const struct type *type, uint32_t index)
{
    if (type->id == TYPE_STRUCT)
        return type->fields[index].type;
    return type->id == TYPE_MAP && index == 0 ? type->key : type->element;
}

/* The vector itself and the array of its children, which are not made yet. */
static struct vector *vector_shell(struct arena *arena, const struct type *type, uint32_t length)
{
    struct vector *vector = arena_new_object(arena, sizeof(*vector));
    vector->type = type;
    vector->length = length;
    vector->child_count = child_count_of(type);
    if (vector->child_count > 0)
        vector->children = arena_new_object(arena, vector->child_count * sizeof(*vector->children));
    return vector;
}

static enum status alloc_values(struct arena *arena, struct vector *vector, uint32_t rows,
                                struct error *err)
{
    size_t cell = type_value_bytes(vector->type);
    if (cell == 0)
        return OK;
    return arena_alloc_raw(arena, rows > 0 ? rows : 1, cell, &vector->values, err);
}

enum status vector_new(struct arena *arena, const struct type *type, uint32_t length,
                       struct vector **out, struct error *err)
{
    CHECK(arena != NULL && type != NULL);
    struct vector *vector = vector_shell(arena, type, length);
    TRY(alloc_values(arena, vector, length, err));
    uint32_t child_length = type->id == TYPE_STRUCT ? length : 0;
    for (uint32_t i = 0; i < vector->child_count; i++)
        TRY(vector_new(arena, child_type(type, i), child_length, &vector->children[i], err));
    *out = vector;
    return OK;
}

enum status vector_new_null(struct arena *arena, const struct type *type, uint32_t length,
                            struct vector **out, struct error *err)
{
    CHECK(arena != NULL && type != NULL);
    struct vector *vector = vector_shell(arena, type, length);
    vector->constant = true;
    vector->validity = arena_new_object(arena, sizeof(uint64_t));
    vector->values = arena_new_object(arena, sizeof(int128));
    for (uint32_t i = 0; i < vector->child_count; i++) {
        const struct type *child = child_type(type, i);
        if (type->id == TYPE_STRUCT)
            TRY(vector_new_null(arena, child, 1, &vector->children[i], err));
        else
            TRY(vector_new(arena, child, 0, &vector->children[i], err));
    }
    *out = vector;
    return OK;
}

enum status vector_make_nullable(struct arena *arena, struct vector *vector, struct error *err)
{
    CHECK(vector != NULL);
    if (vector->validity != NULL)
        return OK;
    size_t words = validity_words(physical_rows(vector));
    if (words == 0)
        words = 1;
    void *bits = NULL;
    TRY(arena_alloc_raw(arena, words, sizeof(uint64_t), &bits, err));
    memset(bits, 0xFF, words * sizeof(uint64_t));
    vector->validity = bits;
    return OK;
}

enum status vector_resize_child(struct arena *arena, struct vector *vector, uint32_t index,
                                uint32_t length, struct error *err)
{
    CHECK(vector->type->id == TYPE_ARRAY || vector->type->id == TYPE_MAP);
    CHECK(index < vector->child_count);
    return vector_new(arena, child_type(vector->type, index), length, &vector->children[index],
                      err);
}

/* ---- gather ---- */

static void gather_values(void *to, const void *from, size_t cell, const uint32_t *rows,
                          uint32_t count)
{
    switch (cell) {
    case 1:
        for (uint32_t i = 0; i < count; i++)
            ((uint8_t *)to)[i] = ((const uint8_t *)from)[rows[i]];
        break;
    case 2:
        for (uint32_t i = 0; i < count; i++)
            ((uint16_t *)to)[i] = ((const uint16_t *)from)[rows[i]];
        break;
    case 4:
        for (uint32_t i = 0; i < count; i++)
            ((uint32_t *)to)[i] = ((const uint32_t *)from)[rows[i]];
        break;
    case 8:
        for (uint32_t i = 0; i < count; i++)
            ((uint64_t *)to)[i] = ((const uint64_t *)from)[rows[i]];
        break;
    default:
        for (uint32_t i = 0; i < count; i++)
            memcpy((uint8_t *)to + i * cell, (const uint8_t *)from + rows[i] * cell, cell);
    }
}

static enum status gather_validity(struct arena *arena, const struct vector *vector,
                                   const uint32_t *rows, uint32_t count, struct vector *out,
                                   struct error *err)
{
    if (vector->validity == NULL)
        return OK;
    TRY(vector_make_nullable(arena, out, err));
    for (uint32_t i = 0; i < count; i++)
        if (!validity_get(vector->validity, rows[i]))
            validity_clear(out->validity, i);
    return OK;
}

/* Makes the lists of `out` (offsets already those of `vector`) dense, and gathers the children. */
static enum status gather_lists(struct arena *arena, const struct vector *vector, uint32_t count,
                                struct vector *out, struct error *err)
{
    struct list_entry *entries = out->values;
    uint64_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!validity_get(out->validity, i))
            entries[i] = (struct list_entry){0, 0};
        total += entries[i].length;
    }
    if (total > UINT32_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "a batch of arrays", "limit",
                           "4294967295", NULL);
    void *memory = NULL;
    TRY(arena_alloc_raw(arena, total > 0 ? (size_t)total : 1, sizeof(uint32_t), &memory, err));
    uint32_t *child_rows = memory;
    uint32_t next = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t start = next;
        for (uint32_t j = 0; j < entries[i].length; j++)
            child_rows[next++] = entries[i].offset + j;
        entries[i].offset = start;
    }
    for (uint32_t c = 0; c < vector->child_count; c++)
        TRY(vector_gather(arena, vector->children[c], child_rows, next, &out->children[c], err));
    return OK;
}

/* The identity 0, 1, 2... or all zeros, as row numbers. */
static enum status make_rows(struct arena *arena, uint32_t count, bool zeros, uint32_t **out,
                             struct error *err)
{
    void *memory = NULL;
    TRY(arena_alloc(arena, count > 0 ? count : 1, sizeof(uint32_t), &memory, err));
    *out = memory;
    if (!zeros)
        for (uint32_t i = 0; i < count; i++)
            (*out)[i] = i;
    return OK;
}

enum status vector_gather(struct arena *arena, const struct vector *vector, const uint32_t *rows,
                          uint32_t count, struct vector **out, struct error *err)
{
    CHECK(vector != NULL);
    CHECK(rows != NULL || count <= vector->length);
    if (vector->constant || rows == NULL) {
        uint32_t *made = NULL;
        TRY(make_rows(arena, count, vector->constant, &made, err));
        rows = made;
    }
    struct vector *copy = vector_shell(arena, vector->type, count);
    TRY(alloc_values(arena, copy, count, err));
    if (copy->values != NULL)
        gather_values(copy->values, vector->values, type_value_bytes(vector->type), rows, count);
    TRY(gather_validity(arena, vector, rows, count, copy, err));
    if (vector->type->id == TYPE_STRUCT) {
        for (uint32_t c = 0; c < vector->child_count; c++)
            TRY(vector_gather(arena, vector->children[c], rows, count, &copy->children[c], err));
    } else if (vector->child_count > 0) {
        TRY(gather_lists(arena, vector, count, copy, err));
    }
    *out = copy;
    return OK;
}

/* ---- concat ---- */

static enum status concat_validity(struct arena *arena, struct vector *const *vectors,
                                   uint32_t count, struct vector *out, struct error *err)
{
    uint32_t base = 0;
    for (uint32_t v = 0; v < count; v++) {
        const struct vector *vector = vectors[v];
        if (vector->validity != NULL) {
            TRY(vector_make_nullable(arena, out, err));
            for (uint32_t row = 0; row < vector->length; row++)
                if (!validity_get(vector->validity, row))
                    validity_clear(out->validity, base + row);
        }
        base += vector->length;
    }
    return OK;
}

static enum status concat_children(struct arena *arena, struct vector *const *vectors,
                                   uint32_t count, struct vector *out, struct error *err)
{
    void *memory = NULL;
    TRY(arena_alloc(arena, count, sizeof(struct vector *), &memory, err));
    struct vector **parts = memory;
    for (uint32_t c = 0; c < out->child_count; c++) {
        for (uint32_t v = 0; v < count; v++)
            parts[v] = vectors[v]->children[c];
        TRY(vector_concat(arena, parts, count, &out->children[c], err));
    }
    if (out->type->id == TYPE_STRUCT)
        return OK;
    struct list_entry *entries = out->values;
    uint32_t row = 0;
    uint32_t shift = 0;
    for (uint32_t v = 0; v < count; v++) {
        for (uint32_t i = 0; i < vectors[v]->length; i++, row++)
            entries[row].offset += validity_get(out->validity, row) ? shift : 0;
        shift += vectors[v]->children[0]->length;
    }
    return OK;
}

enum status vector_concat(struct arena *arena, struct vector *const *vectors, uint32_t count,
                          struct vector **out, struct error *err)
{
    CHECK(count > 0);
    void *memory = NULL;
    TRY(arena_alloc(arena, count, sizeof(struct vector *), &memory, err));
    struct vector **flat = memory;
    uint64_t total = 0;
    for (uint32_t v = 0; v < count; v++) {
        flat[v] = vectors[v];
        if (vectors[v]->constant)
            TRY(vector_gather(arena, vectors[v], NULL, vectors[v]->length, &flat[v], err));
        total += flat[v]->length;
    }
    if (total > UINT32_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "a vector", "limit", "4294967295",
                           NULL);
    struct vector *joined = vector_shell(arena, vectors[0]->type, (uint32_t)total);
    TRY(alloc_values(arena, joined, (uint32_t)total, err));
    size_t cell = type_value_bytes(joined->type);
    size_t base = 0;
    for (uint32_t v = 0; v < count && cell > 0; v++) {
        CHECK_SLOW(type_equal_unnamed(flat[v]->type, joined->type));
        if (flat[v]->length > 0)
            memcpy((uint8_t *)joined->values + base * cell, flat[v]->values,
                   flat[v]->length * cell);
        base += flat[v]->length;
    }
    TRY(concat_validity(arena, flat, count, joined, err));
    if (joined->child_count > 0)
        TRY(concat_children(arena, flat, count, joined, err));
    *out = joined;
    return OK;
}

/* ---- clone ---- */

static enum status clone_text(struct arena *arena, struct vector *vector, struct error *err)
{
    struct bytes *cells = vector->values;
    uint32_t rows = physical_rows(vector);
    size_t total = 0;
    for (uint32_t row = 0; row < rows; row++) {
        if (!validity_get(vector->validity, row))
            cells[row] = bytes_of(NULL, 0);
        total += cells[row].size_bytes;
    }
    void *memory = NULL;
    TRY(arena_alloc_raw(arena, total > 0 ? total : 1, 1, &memory, err));
    uint8_t *next = memory;
    for (uint32_t row = 0; row < rows; row++) {
        if (cells[row].size_bytes > 0)
            memcpy(next, cells[row].data, cells[row].size_bytes);
        cells[row].data = next;
        next += cells[row].size_bytes;
    }
    return OK;
}

enum status vector_clone(struct arena *arena, const struct vector *vector, struct vector **out,
                         struct error *err)
{
    CHECK(vector != NULL);
    uint32_t rows = physical_rows(vector);
    struct vector *copy = vector_shell(arena, vector->type, vector->length);
    copy->constant = vector->constant;
    TRY(alloc_values(arena, copy, rows, err));
    size_t cell = type_value_bytes(vector->type);
    if (cell > 0 && rows > 0)
        memcpy(copy->values, vector->values, rows * cell);
    if (vector->validity != NULL) {
        TRY(vector_make_nullable(arena, copy, err));
        memcpy(copy->validity, vector->validity, validity_words(rows) * sizeof(uint64_t));
    }
    if (vector->type->id == TYPE_STRING || vector->type->id == TYPE_BINARY ||
        vector->type->id == TYPE_VARIANT)
        TRY(clone_text(arena, copy, err));
    for (uint32_t c = 0; c < vector->child_count; c++)
        TRY(vector_clone(arena, vector->children[c], &copy->children[c], err));
    *out = copy;
    return OK;
}
