/* Functions of maps.  A map is a list of keys and a list of values under the same entries. */
#include "base/check.h"
#include "expr/fn_array.h"
#include "expr/fn_support.h"
#include "expr/kernel_basic.h"
#include "expr/kernel_nested.h"
#include "expr/regex.h"

#include <stdlib.h>

/* The lists of the map, one of its children under them. */
static enum status part_of_map(const struct kernel_call *call, uint32_t child)
{
    const struct vector *map = call->args[0];
    struct list_entry *entries = call->out->values;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        entries[row] = array_at(call, 0, row);
    }
    call->out->children[0] = map->children[child];
    return OK;
}

KERNEL(kernel_map_keys)
{
    (void)err;
    memset(call->out->values, 0, (call->rows > 0 ? call->rows : 1) * sizeof(struct list_entry));
    return part_of_map(call, 0);
}

KERNEL(kernel_map_values)
{
    (void)err;
    memset(call->out->values, 0, (call->rows > 0 ? call->rows : 1) * sizeof(struct list_entry));
    return part_of_map(call, 1);
}

KERNEL(kernel_map_entries)
{
    const struct vector *map = call->args[0];
    memset(call->out->values, 0, (call->rows > 0 ? call->rows : 1) * sizeof(struct list_entry));
    TRY(part_of_map(call, 0));
    TRY(vector_resize_child(call->ctx->arena, call->out, 0, map->children[0]->length, err));
    call->out->children[0]->children[0] = map->children[0];
    call->out->children[0]->children[1] = map->children[1];
    return OK;
}

KERNEL(kernel_map_contains_key)
{
    (void)err;
    const struct vector *keys = call->args[0]->children[0];
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry list = array_at(call, 0, row);
        bool found = false;
        for (uint32_t j = 0; j < list.length && !found; j++)
            found = vector_equal(keys, list.offset + j, call->args[1], row);
        KERNEL_OUT(uint8_t, call)[row] = found;
    }
    return OK;
}

static struct list_entry *new_entries(const struct kernel_call *call)
{
    return arena_new_object(call->ctx->arena, ((size_t)call->rows + 1) * sizeof(struct list_entry));
}

/* Indices of keys and of values, row by row. */
struct pair_list {
    uint32_t *keys;
    uint32_t *values;
    size_t count;
    size_t capacity;
    bool full; /* what is more than a batch may have is dropped; pair_finish() says so */
};

static bool pair_room(struct pair_list *pairs)
{
    size_t capacity = pairs->capacity == 0 ? 256 : pairs->capacity * 2;
    pairs->full = pairs->full || capacity > KERNEL_ELEMENTS_MAX;
    if (pairs->full)
        return false;
    uint32_t *keys = realloc(pairs->keys, capacity * sizeof(*keys));
    if (keys != NULL)
        pairs->keys = keys;
    uint32_t *values = realloc(pairs->values, capacity * sizeof(*values));
    if (values != NULL)
        pairs->values = values;
    pairs->full = keys == NULL || values == NULL;
    if (!pairs->full)
        pairs->capacity = capacity;
    return !pairs->full;
}

static void pair_add(struct pair_list *pairs, uint32_t key, uint32_t value)
{
    if (pairs->count == pairs->capacity && !pair_room(pairs))
        return;
    pairs->keys[pairs->count] = key;
    pairs->values[pairs->count++] = value;
}

static enum status pair_finish(const struct kernel_call *call, struct pair_list *pairs,
                               struct list_entry *entries, const struct vector *keys,
                               const struct vector *values, struct error *err)
{
    struct vector *key_vector;
    struct vector *value_vector;
    enum status status = OK;
    uint32_t none = 0;
    uint32_t count = (uint32_t)pairs->count;
    if (pairs->full) {
        status = pairs->capacity < KERNEL_ELEMENTS_MAX
                     ? kernel_no_memory(call, err)
                     : kernel_check_elements(call, KERNEL_ELEMENTS_MAX + 1, err);
        goto out;
    }
    TRY_OUT(vector_gather_or_null(call->ctx->arena, keys, count > 0 ? pairs->keys : &none, count,
                                  &key_vector, err));
    TRY_OUT(vector_gather_or_null(call->ctx->arena, values, count > 0 ? pairs->values : &none,
                                  count, &value_vector, err));
    status = map_finish(call, entries, key_vector, value_vector, call->expr->call.bound, err);
out:
    free(pairs->keys);
    free(pairs->values);
    return status;
}

KERNEL(kernel_map_from_arrays)
{
    struct pair_list pairs = {0};
    struct list_entry *entries = new_entries(call);
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry keys = array_at(call, 0, row);
        struct list_entry values = array_at(call, 1, row);
        if (keys.length != values.length) {
            free(pairs.keys);
            free(pairs.values);
            return error_set(err, STATUS_INVALID_PARAMETER_VALUE__LENGTH,
                             "The array of keys and the array of values of map_from_arrays() "
                             "differ in length");
        }
        entries[row] = (struct list_entry){(uint32_t)pairs.count, keys.length};
        for (uint32_t j = 0; j < keys.length; j++)
            pair_add(&pairs, keys.offset + j, values.offset + j);
    }
    return pair_finish(call, &pairs, entries, array_elements(call, 0), array_elements(call, 1),
                       err);
}

/* A NULL entry makes the whole map NULL. */
KERNEL(kernel_map_from_entries)
{
    struct pair_list pairs = {0};
    struct list_entry *entries = new_entries(call);
    const struct vector *structs = array_elements(call, 0);
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry list = array_at(call, 0, row);
        bool null = false;
        for (uint32_t j = 0; j < list.length; j++)
            null = null || vector_is_null(structs, list.offset + j);
        if (null) {
            TRY_OUT(kernel_set_null(call, row, err));
            continue;
        }
        entries[row] = (struct list_entry){(uint32_t)pairs.count, list.length};
        for (uint32_t j = 0; j < list.length; j++) {
            uint32_t at = vector_index(structs, list.offset + j);
            pair_add(&pairs, at, at);
        }
    }
    return pair_finish(call, &pairs, entries, structs->children[0], structs->children[1], err);
out:
    free(pairs.keys);
    free(pairs.values);
    return status;
}

/* The child `child` of all map arguments as one vector. */
static enum status map_pool(const struct kernel_call *call, uint32_t child, struct vector **out,
                            struct error *err)
{
    struct vector **parts =
        arena_new_object(call->ctx->arena, ((size_t)call->arg_count + 1) * sizeof(*parts));
    for (uint32_t a = 0; a < call->arg_count; a++)
        parts[a] = call->args[a]->children[child];
    return vector_concat(call->ctx->arena, parts, call->arg_count, out, err);
}

KERNEL(kernel_map_concat)
{
    struct pair_list pairs = {0};
    struct list_entry *entries = new_entries(call);
    struct vector *keys;
    struct vector *values;
    if (call->arg_count == 0) {
        memset(call->out->values, 0, (call->rows > 0 ? call->rows : 1) * sizeof(*entries));
        return OK;
    }
    TRY(map_pool(call, 0, &keys, err));
    TRY(map_pool(call, 1, &values, err));
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        uint32_t base = 0;
        entries[row].offset = (uint32_t)pairs.count;
        for (uint32_t a = 0; a < call->arg_count; a++) {
            struct list_entry list = array_at(call, a, row);
            for (uint32_t j = 0; j < list.length; j++)
                pair_add(&pairs, base + list.offset + j, base + list.offset + j);
            base += call->args[a]->children[0]->length;
        }
        entries[row].length = (uint32_t)pairs.count - entries[row].offset;
    }
    return pair_finish(call, &pairs, entries, keys, values, err);
}

/* ---- str_to_map ---- */

/* Keys and values of all rows; a value may be NULL. */
struct text_pairs {
    struct buffer keys; /* struct bytes */
    struct buffer values;
    uint32_t count;
};

static void add_text_pair(struct text_pairs *pairs, struct bytes key, struct bytes value)
{
    buffer_add(&pairs->keys, &key, sizeof(key));
    buffer_add(&pairs->values, &value, sizeof(value));
    pairs->count++;
}

/* The next part of `text` before the delimiter; *text becomes the rest.  False: the last one. */
static bool next_part(struct regex_matcher *matcher, struct bytes *text, struct bytes *part)
{
    size_t start;
    size_t end;
    size_t from = 0;
    bool found = regex_find(matcher, *text, from) && regex_group(matcher, 0, &start, &end);
    if (found && end == 0) { /* an empty match does not split off nothing */
        from = text_offset(*text, 1);
        found =
            from > 0 && regex_find(matcher, *text, from) && regex_group(matcher, 0, &start, &end);
    }
    if (!found || (start == end && start == text->size_bytes)) {
        *part = *text;
        return false;
    }
    *part = text_first(*text, start);
    *text = text_skip(*text, end);
    return true;
}

static void split_pairs(struct text_pairs *pairs, struct bytes text,
                        struct regex_matcher *between_pairs, struct regex_matcher *in_pair)
{
    bool more = true;
    while (more && pairs->count <= KERNEL_ELEMENTS_MAX) {
        struct bytes part;
        struct bytes key;
        more = next_part(between_pairs, &text, &part);
        bool has_value = next_part(in_pair, &part, &key);
        add_text_pair(pairs, key, has_value ? part : bytes_of(NULL, 0));
    }
}

static enum status text_pairs_finish(const struct kernel_call *call, struct text_pairs *pairs,
                                     struct list_entry *entries, struct error *err)
{
    struct vector *keys;
    struct vector *values;
    struct arena *arena = call->ctx->arena;
    TRY(kernel_check_elements(call, pairs->count, err));
    TRY(kernel_check_built(call, err));
    TRY(vector_new(arena, type_simple(TYPE_STRING), pairs->count, &keys, err));
    TRY(vector_new(arena, type_simple(TYPE_STRING), pairs->count, &values, err));
    TRY(vector_make_nullable(arena, values, err));
    if (pairs->count > 0) {
        memcpy(keys->values, pairs->keys.data, pairs->keys.size_bytes);
        memcpy(values->values, pairs->values.data, pairs->values.size_bytes);
    }
    for (uint32_t i = 0; i < pairs->count; i++)
        if (VECTOR_VALUES(struct bytes, values)[i].data == NULL)
            vector_set_null(values, i);
    return map_finish(call, entries, keys, values, call->expr->call.bound, err);
}

KERNEL(kernel_str_to_map)
{
    struct text_pairs pairs = {0};
    struct list_entry *entries = new_entries(call);
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct regex *between_pairs = regex_acquire(kernel_text(call, 1, row));
        struct regex *in_pair = regex_acquire(kernel_text(call, 2, row));
        if (between_pairs == NULL || in_pair == NULL) {
            uint32_t wrong = between_pairs == NULL ? 1 : 2;
            regex_release(between_pairs);
            regex_release(in_pair);
            status = error_raise(err, STATUS_INVALID_PARAMETER_VALUE__PATTERN, "parameter",
                                 "`regexp`", "functionName", "`str_to_map`", "value",
                                 kernel_error_quoted(call, kernel_text(call, wrong, row)), NULL);
            goto out;
        }
        struct regex_matcher *outer = regex_matcher_new(between_pairs);
        struct regex_matcher *inner = regex_matcher_new(in_pair);
        entries[row].offset = pairs.count;
        split_pairs(&pairs, kernel_text(call, 0, row), outer, inner);
        entries[row].length = pairs.count - entries[row].offset;
        regex_matcher_free(outer);
        regex_matcher_free(inner);
        regex_release(between_pairs);
        regex_release(in_pair);
    }
    status = text_pairs_finish(call, &pairs, entries, err);
out:
    buffer_fini(&pairs.keys);
    buffer_fini(&pairs.values);
    return status;
}
