#include "expr/kernel_nested.h"

#include "base/check.h"
#include "columnar/value_text.h"
#include "expr/kernel_basic.h"

#include <math.h>
#include <stdio.h>

#define ANSI_CONFIG "\"spark.sql.ansi.enabled\""

/* ---- constructors ---- */

/* Argument k's row r of `all` (kernel_concat_args) in the order row by row. */
static enum status interleave(const struct kernel_call *call, const struct vector *all,
                              uint32_t count, struct vector **out, struct error *err)
{
    size_t total = (size_t)count * call->rows;
    void *memory;
    TRY(arena_alloc_raw(call->ctx->arena, total + 1, sizeof(uint32_t), &memory, err));
    uint32_t *indices = memory;
    for (uint32_t row = 0; row < call->rows; row++) {
        for (uint32_t k = 0; k < count; k++)
            indices[(size_t)row * count + k] = k * call->rows + row;
    }
    return vector_gather(call->ctx->arena, all, indices, (uint32_t)total, out, err);
}

KERNEL(kernel_array)
{
    struct list_entry *entries = call->out->values;
    for (uint32_t row = 0; row < call->rows; row++)
        entries[row] =
            (struct list_entry){.offset = row * call->arg_count, .length = call->arg_count};
    if (call->arg_count == 0)
        return OK;
    struct vector *all;
    TRY(kernel_concat_args(call, 0, call->arg_count, &all, err));
    return interleave(call, all, call->arg_count, &call->out->children[0], err);
}

KERNEL(kernel_map)
{
    uint32_t count = call->arg_count / 2;
    struct arena *arena = call->ctx->arena;
    struct list_entry *entries = call->out->values;
    memset(entries, 0, call->rows * sizeof *entries);
    if (count == 0)
        return OK;
    struct vector *parts[2];
    struct vector **args = arena_new_object(arena, ((size_t)count + 1) * sizeof *args);
    for (uint32_t side = 0; side < 2; side++) {
        struct kernel_call half = *call;
        struct vector *all;
        for (uint32_t k = 0; k < count; k++)
            args[k] = call->args[2 * k + side];
        half.args = args;
        TRY(kernel_concat_args(&half, 0, count, &all, err));
        TRY(interleave(&half, all, count, &parts[side], err));
    }
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        entries[row] = (struct list_entry){.offset = row * count, .length = count};
    }
    return map_finish(call, entries, parts[0], parts[1], call->expr->call.bound, err);
}

KERNEL(kernel_named_struct)
{
    (void)err;
    for (uint32_t i = 0; i < call->arg_count / 2; i++) {
        struct vector *field = arena_new_object(call->ctx->arena, sizeof *field);
        *field = *call->args[2 * i + 1];
        field->length = call->rows;
        call->out->children[i] = field;
    }
    return OK;
}

/* ---- maps ---- */

static enum status duplicate_key(const struct kernel_call *call, const struct vector *keys,
                                 uint32_t index, struct error *err)
{
    struct buffer key = {0};
    value_text_print(&key, keys, index, call->ctx->zone);
    enum status status = error_raise(err, STATUS_DUPLICATED_MAP_KEY, "key", buffer_text(&key),
                                     "mapKeyDedupPolicy", "\"spark.sql.mapKeyDedupPolicy\"", NULL);
    buffer_fini(&key);
    return status;
}

/* The place of an equal key among kept[0..count), or count. */
static uint32_t find_key(const struct vector *keys, const uint32_t *kept, uint32_t count,
                         uint32_t index)
{
    uint32_t i = 0;
    while (i < count && !vector_equal(keys, kept[i], keys, index))
        i++;
    return i;
}

static bool is_minus_zero(const struct vector *keys, uint32_t index)
{
    if (keys->type->id == TYPE_DOUBLE)
        return VECTOR_VALUES(double, keys)[index] == 0 &&
               signbit(VECTOR_VALUES(double, keys)[index]);
    return VECTOR_VALUES(float, keys)[index] == 0 && signbit(VECTOR_VALUES(float, keys)[index]);
}

/* A key -0.0 is the key 0.0: the keys, or a copy of them without. */
static enum status without_minus_zeros(struct arena *arena, struct vector **keys, struct error *err)
{
    enum type_id id = (*keys)->type->id;
    uint32_t length = (*keys)->constant ? 1 : (*keys)->length;
    uint32_t first = 0;
    if (id != TYPE_DOUBLE && id != TYPE_FLOAT)
        return OK;
    while (first < length && !is_minus_zero(*keys, first))
        first++;
    if (first == length)
        return OK;
    struct vector *copy;
    TRY(vector_gather(arena, *keys, NULL, (*keys)->length, &copy, err));
    for (uint32_t i = 0; i < copy->length; i++) {
        if (!is_minus_zero(copy, i))
            continue;
        if (id == TYPE_DOUBLE)
            VECTOR_VALUES(double, copy)[i] = 0;
        else
            VECTOR_VALUES(float, copy)[i] = 0;
    }
    *keys = copy;
    return OK;
}

enum status map_finish(const struct kernel_call *call, struct list_entry *entries,
                       struct vector *keys, struct vector *values, const void *policy,
                       struct error *err)
{
    struct arena *arena = call->ctx->arena;
    void *memory;
    const struct vector *given = keys;
    if (strcmp(call->expr->call.function->name, "transform_keys") != 0)
        TRY(without_minus_zeros(arena, &keys, err));
    TRY(arena_alloc_raw(arena, (size_t)keys->length + 1, 2 * sizeof(uint32_t), &memory, err));
    uint32_t *kept_keys = memory;
    uint32_t *kept_values = kept_keys + keys->length;
    uint32_t total = 0;
    bool dropped = false;
    struct list_entry *out = call->out->values;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry entry = entries[row];
        uint32_t start = total;
        for (uint32_t k = entry.offset; k < entry.offset + entry.length; k++) {
            if (vector_is_null(keys, k))
                return error_raise(err, STATUS_NULL_MAP_KEY, NULL);
            uint32_t place = start + find_key(keys, kept_keys + start, total - start, k);
            if (place < total && policy == NULL)
                return duplicate_key(call, given, k, err);
            dropped |= place < total;
            kept_values[place] = k;
            if (place == total)
                kept_keys[total++] = k;
        }
        out[row] = (struct list_entry){.offset = start, .length = total - start};
    }
    if (!dropped && total == keys->length) {
        call->out->children[0] = keys;
        call->out->children[1] = values;
        bool in_order = true;
        for (uint32_t k = 0; k < total && in_order; k++)
            in_order = kept_keys[k] == k;
        if (in_order)
            return OK;
    }
    TRY(vector_gather(arena, keys, kept_keys, total, &call->out->children[0], err));
    return vector_gather(arena, values, kept_values, total, &call->out->children[1], err);
}

/* ---- fields ---- */

/* `field` of the struct vector `base`, NULL where the struct is. */
static enum status field_of(const struct kernel_call *call, const struct vector *base,
                            const struct vector *field, uint32_t rows, struct vector *out,
                            struct error *err)
{
    const struct type *type = out->type;
    if (base->constant && !field->constant) {
        /* one row, which stands for all */
        *out = *field;
        out->constant = true;
        out->length = rows;
        out->type = type;
        return OK;
    }
    if (base->validity == NULL || (base->constant && !vector_is_null(base, 0))) {
        *out = *field;
        out->length = rows;
        out->type = type;
        return OK;
    }
    struct arena *arena = call->ctx->arena;
    struct vector *flat = NULL;
    if (field->constant) {
        struct vector view = *field;
        view.length = rows;
        TRY(vector_gather(arena, &view, NULL, rows, &flat, err));
        field = flat;
    }
    size_t words = validity_words(rows);
    void *memory;
    TRY(arena_alloc_raw(arena, words + 1, sizeof(uint64_t), &memory, err));
    uint64_t *validity = memory;
    memcpy(validity, base->validity, words * sizeof(uint64_t));
    for (size_t word = 0; field->validity != NULL && word < words; word++)
        validity[word] &= field->validity[word];
    *out = *field;
    out->type = type;
    out->length = rows;
    out->validity = validity;
    return OK;
}

KERNEL(kernel_field)
{
    uint32_t index = *(const uint32_t *)call->expr->call.bound;
    const struct vector *base = call->args[0];
    CHECK(index < base->child_count);
    if (base->constant) { /* the driver runs constants for one row */
        const struct vector *field = base->children[index];
        const struct type *type = call->out->type;
        if (vector_is_null(base, 0)) {
            struct vector *null;
            TRY(vector_new_null(call->ctx->arena, type, call->rows, &null, err));
            *call->out = *null;
            return OK;
        }
        *call->out = *field;
        call->out->type = type;
        call->out->length = call->rows;
        return OK;
    }
    return field_of(call, base, base->children[index], call->rows, call->out, err);
}

KERNEL(kernel_field_of_elements)
{
    uint32_t index = *(const uint32_t *)call->expr->call.bound;
    const struct vector *base = call->args[0];
    const struct vector *elements = base->children[0];
    struct list_entry *out = call->out->values;
    for (uint32_t row = 0; row < call->rows; row++)
        out[row] = vector_is_null(base, row)
                       ? (struct list_entry){0}
                       : VECTOR_VALUES(struct list_entry, base)[vector_index(base, row)];
    for (uint32_t i = 0; i < call->rows; i++) {
        if (vector_is_null(base, i))
            TRY(kernel_set_null(call, i, err));
    }
    if (elements->length == 0)
        return OK;
    struct vector *child = call->out->children[0];
    TRY(field_of(call, elements, elements->children[index], elements->length, child, err));
    if (child->constant) {
        struct vector view = *child;
        return vector_gather(call->ctx->arena, &view, NULL, elements->length,
                             &call->out->children[0], err);
    }
    return OK;
}

/* ---- elements ---- */

static enum status bad_index(int64_t index, uint32_t length, enum status status, struct error *err)
{
    char value[24], size[16];
    (void)snprintf(value, sizeof value, "%lld", (long long)index);
    (void)snprintf(size, sizeof size, "%u", (unsigned)length);
    return error_raise(err, status, "indexValue", value, "arraySize", size, "ansiConfig",
                       ANSI_CONFIG, NULL);
}

static enum status new_indices(const struct kernel_call *call, uint32_t **out, struct error *err)
{
    void *memory;
    TRY(arena_alloc_raw(call->ctx->arena, (size_t)call->rows + 1, sizeof(uint32_t), &memory, err));
    memset(memory, 0xff, call->rows * sizeof(uint32_t));
    *out = memory;
    return OK;
}

KERNEL(kernel_array_element)
{
    const struct vector *array = call->args[0];
    bool ansi = call->expr->call.bound != NULL;
    uint32_t *indices;
    TRY(new_indices(call, &indices, err));
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry entry = KERNEL_ARG(struct list_entry, call, 0, row);
        int64_t index = KERNEL_ARG(int64_t, call, 1, row);
        if (index >= 0 && index < entry.length)
            indices[row] = entry.offset + (uint32_t)index;
        else if (ansi)
            return bad_index(index, entry.length, STATUS_INVALID_ARRAY_INDEX, err);
    }
    return kernel_gather(call, array->children[0], indices, err);
}

KERNEL(kernel_element_at)
{
    const struct vector *array = call->args[0];
    bool ansi = call->expr->call.bound != NULL;
    uint32_t *indices;
    TRY(new_indices(call, &indices, err));
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry entry = KERNEL_ARG(struct list_entry, call, 0, row);
        int64_t index = KERNEL_ARG(int32_t, call, 1, row);
        if (index == 0)
            return error_raise(err, STATUS_INVALID_INDEX_OF_ZERO, NULL);
        int64_t place = index > 0 ? index - 1 : index + entry.length;
        if (place >= 0 && place < entry.length)
            indices[row] = entry.offset + (uint32_t)place;
        else if (ansi)
            return bad_index(index, entry.length, STATUS_INVALID_ARRAY_INDEX_IN_ELEMENT_AT, err);
    }
    return kernel_gather(call, array->children[0], indices, err);
}

KERNEL(kernel_map_value)
{
    const struct vector *map = call->args[0];
    const struct vector *keys = map->children[0];
    const struct vector *wanted = call->args[1];
    uint32_t *indices;
    TRY(new_indices(call, &indices, err));
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry entry = KERNEL_ARG(struct list_entry, call, 0, row);
        uint32_t key = vector_index(wanted, row);
        for (uint32_t k = entry.offset; k < entry.offset + entry.length; k++) {
            if (vector_compare(keys, k, wanted, key) == 0) {
                indices[row] = k;
                break;
            }
        }
    }
    return kernel_gather(call, map->children[1], indices, err);
}
