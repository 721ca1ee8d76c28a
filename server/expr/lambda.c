/*
 * Kernels of the higher-order functions: the elements of all rows are laid end to end, the lambda
 * is evaluated over them, and the results are cut into rows again.
 */
#include "expr/lambda.h"

#include "base/check.h"
#include "expr/kernel_basic.h"
#include "expr/kernel_nested.h"

/* The elements of the selected rows. */
struct elements {
    struct list_entry *entries; /* per row; length 0 where not selected or NULL */
    uint32_t *indices;          /* into the children */
    uint32_t *rows;             /* the row of each element */
    uint32_t count;
};

static enum status new_array(const struct kernel_call *call, size_t count, size_t size, void *out,
                             struct error *err)
{
    void *memory;
    TRY(arena_alloc(call->ctx->arena, count + 1, size, &memory, err));
    memcpy(out, &memory, sizeof memory);
    return OK;
}

static enum status collect(const struct kernel_call *call, const struct vector *list,
                           struct elements *out, struct error *err)
{
    TRY(new_array(call, call->rows, sizeof(struct list_entry), &out->entries, err));
    uint64_t total = 0;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        if (!vector_is_null(list, row))
            total += VECTOR_VALUES(struct list_entry, list)[vector_index(list, row)].length;
    }
    if (total >= UINT32_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "elements of a batch", "limit",
                           "4294967295", NULL);
    TRY(new_array(call, total, sizeof(uint32_t), &out->indices, err));
    TRY(new_array(call, total, sizeof(uint32_t), &out->rows, err));
    out->count = 0;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        if (vector_is_null(list, row))
            continue;
        struct list_entry entry = VECTOR_VALUES(struct list_entry, list)[vector_index(list, row)];
        out->entries[row] = (struct list_entry){.offset = out->count, .length = entry.length};
        for (uint32_t k = 0; k < entry.length; k++) {
            out->indices[out->count] = entry.offset + k;
            out->rows[out->count++] = row;
        }
    }
    return OK;
}

static enum status element_values(const struct kernel_call *call, const struct vector *list,
                                  uint32_t child, const struct elements *elements,
                                  struct vector **out, struct error *err)
{
    return vector_gather(call->ctx->arena, list->children[child], elements->indices,
                         elements->count, out, err);
}

static enum status flatten(const struct kernel_call *call, struct vector **vector, uint32_t count,
                           struct error *err)
{
    if (!(*vector)->constant)
        return OK;
    struct vector view = **vector;
    view.length = count;
    return vector_gather(call->ctx->arena, &view, NULL, count, vector, err);
}

/* Evaluates a lambda; the result is flat. */
static enum status evaluate(const struct kernel_call *call, uint32_t index,
                            const struct lambda_input *input, struct vector **out,
                            struct error *err)
{
    TRY(lambda_eval(call, index, input, out, err));
    return flatten(call, out, input->count, err);
}

static enum status position_vector(const struct kernel_call *call, const struct elements *elements,
                                   struct vector **out, struct error *err)
{
    TRY(vector_new(call->ctx->arena, type_simple(TYPE_INT), elements->count, out, err));
    int32_t *cells = (*out)->values;
    for (uint32_t k = 0; k < elements->count; k++)
        cells[k] = (int32_t)(k - elements->entries[elements->rows[k]].offset);
    return OK;
}

/* The lambda of one array argument over all elements. */
static enum status over_elements(const struct kernel_call *call, struct elements *elements,
                                 struct vector **values, struct vector **result, struct error *err)
{
    const struct vector *list = call->args[0];
    TRY(collect(call, list, elements, err));
    TRY(element_values(call, list, 0, elements, values, err));
    struct lambda_input input = {
        .variables = {*values}, .rows = elements->rows, .count = elements->count};
    if (lambda_variable_count(call, 0) == 2)
        TRY(position_vector(call, elements, &input.variables[1], err));
    return evaluate(call, 0, &input, result, err);
}

static void store_entries(const struct kernel_call *call, const struct elements *elements)
{
    memcpy(call->out->values, elements->entries, call->rows * sizeof(struct list_entry));
}

KERNEL(kernel_transform)
{
    struct elements elements;
    struct vector *values, *result;
    TRY(over_elements(call, &elements, &values, &result, err));
    store_entries(call, &elements);
    call->out->children[0] = result;
    return OK;
}

static bool is_true(const struct vector *vector, uint32_t row)
{
    return !vector_is_null(vector, row) && VECTOR_VALUES(uint8_t, vector)[row] != 0;
}

/* Keeps the elements for which `keep` is true; *count of them are left in `kept`. */
static enum status keep_elements(const struct kernel_call *call, const struct elements *elements,
                                 const struct vector *keep, uint32_t **kept, uint32_t *count,
                                 struct error *err)
{
    TRY(new_array(call, elements->count, sizeof(uint32_t), kept, err));
    struct list_entry *out = call->out->values;
    uint32_t total = 0;
    for (uint32_t row = 0; row < call->rows; row++) {
        struct list_entry entry = elements->entries[row];
        out[row].offset = total;
        for (uint32_t k = entry.offset; k < entry.offset + entry.length; k++) {
            (*kept)[total] = k;
            total += is_true(keep, k);
        }
        out[row].length = total - out[row].offset;
    }
    *count = total;
    return OK;
}

KERNEL(kernel_array_filter)
{
    struct elements elements;
    struct vector *values, *keep;
    TRY(over_elements(call, &elements, &values, &keep, err));
    uint32_t *kept;
    uint32_t count;
    TRY(keep_elements(call, &elements, keep, &kept, &count, err));
    return vector_gather(call->ctx->arena, values, kept, count, &call->out->children[0], err);
}

/* exists: any true; forall: any false; NULL if undecided because of a NULL. */
static enum status decide(const struct kernel_call *call, bool decisive, struct error *err)
{
    struct elements elements;
    struct vector *values, *result;
    TRY(over_elements(call, &elements, &values, &result, err));
    uint8_t *out = call->out->values;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry entry = elements.entries[row];
        bool null = false;
        bool found = false;
        for (uint32_t k = entry.offset; k < entry.offset + entry.length && !found; k++) {
            if (vector_is_null(result, k))
                null = true;
            else
                found = (VECTOR_VALUES(uint8_t, result)[k] != 0) == decisive;
        }
        out[row] = found ? decisive : !decisive;
        if (!found && null)
            TRY(kernel_set_null(call, row, err));
    }
    return OK;
}

KERNEL(kernel_exists)
{
    return decide(call, true, err);
}

KERNEL(kernel_forall)
{
    return decide(call, false, err);
}

/* ---- aggregate: one step for the k-th elements of all rows at once ---- */

struct fold {
    struct vector *accumulators; /* one per row */
    uint32_t *rows;              /* rows that have a k-th element */
    uint32_t *places;
    uint32_t count;
};

static enum status fold_step(const struct kernel_call *call, const struct vector *elements,
                             struct fold *fold, struct error *err)
{
    struct arena *arena = call->ctx->arena;
    struct lambda_input input = {.rows = fold->rows, .count = fold->count};
    TRY(vector_gather(arena, fold->accumulators, fold->rows, fold->count, &input.variables[0],
                      err));
    TRY(vector_gather(arena, elements, fold->places, fold->count, &input.variables[1], err));
    struct vector *result;
    TRY(evaluate(call, 0, &input, &result, err));
    uint32_t *from;
    TRY(new_array(call, call->rows, sizeof(uint32_t), &from, err));
    for (uint32_t row = 0; row < call->rows; row++)
        from[row] = row;
    for (uint32_t k = 0; k < fold->count; k++)
        from[fold->rows[k]] = call->rows + k;
    struct vector *both[2] = {fold->accumulators, result};
    struct vector typed = *result;
    typed.type = fold->accumulators->type;
    both[1] = &typed;
    struct vector *all;
    TRY(vector_concat(arena, both, 2, &all, err));
    return vector_gather(arena, all, from, call->rows, &fold->accumulators, err);
}

KERNEL(kernel_aggregate_fold)
{
    const struct vector *list = call->args[0];
    struct fold fold = {.accumulators = call->args[1]};
    struct vector view = *call->args[1];
    view.length = call->rows;
    fold.accumulators = &view;
    TRY(flatten(call, &fold.accumulators, call->rows, err));
    TRY(new_array(call, call->selected, sizeof(uint32_t), &fold.rows, err));
    TRY(new_array(call, call->selected, sizeof(uint32_t), &fold.places, err));
    for (uint32_t k = 0;; k++) {
        fold.count = 0;
        for (uint32_t i = 0; i < call->selected; i++) {
            uint32_t row = kernel_row(call, i);
            if (vector_is_null(list, row))
                continue;
            struct list_entry entry = KERNEL_ARG(struct list_entry, call, 0, row);
            if (k >= entry.length)
                continue;
            fold.rows[fold.count] = row;
            fold.places[fold.count++] = entry.offset + k;
        }
        if (fold.count == 0)
            break;
        TRY(fold_step(call, list->children[0], &fold, err));
    }
    /* the last lambda, for rows that have an array */
    uint32_t *from;
    TRY(new_array(call, call->rows, sizeof(uint32_t), &from, err));
    memset(from, 0xff, call->rows * sizeof *from);
    fold.count = 0;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        if (vector_is_null(list, row))
            continue;
        from[row] = fold.count;
        fold.rows[fold.count++] = row;
    }
    struct lambda_input input = {.rows = fold.rows, .count = fold.count};
    TRY(vector_gather(call->ctx->arena, fold.accumulators, fold.rows, fold.count,
                      &input.variables[0], err));
    struct vector *result;
    TRY(evaluate(call, 1, &input, &result, err));
    return kernel_gather(call, result, from, err);
}

/* ---- zip_with ---- */

static struct list_entry entry_of(const struct vector *list, uint32_t row)
{
    return VECTOR_VALUES(struct list_entry, list)[vector_index(list, row)];
}

KERNEL(kernel_zip_with)
{
    struct list_entry *out = call->out->values;
    memset(out, 0, call->rows * sizeof *out);
    uint32_t total = 0;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        uint32_t a = entry_of(call->args[0], row).length;
        uint32_t b = entry_of(call->args[1], row).length;
        out[row] = (struct list_entry){.offset = total, .length = a > b ? a : b};
        total += out[row].length;
    }
    uint32_t *rows;
    uint32_t *indices[2];
    TRY(new_array(call, total, sizeof(uint32_t), &rows, err));
    struct lambda_input input = {.rows = rows, .count = total};
    for (uint32_t side = 0; side < 2; side++) {
        TRY(new_array(call, total, sizeof(uint32_t), &indices[side], err));
        for (uint32_t i = 0; i < call->selected; i++) {
            uint32_t row = kernel_row(call, i);
            struct list_entry entry = entry_of(call->args[side], row);
            for (uint32_t k = 0; k < out[row].length; k++) {
                rows[out[row].offset + k] = row;
                indices[side][out[row].offset + k] =
                    k < entry.length ? entry.offset + k : UINT32_MAX;
            }
        }
        TRY(vector_gather_or_null(call->ctx->arena, call->args[side]->children[0], indices[side],
                                  total, &input.variables[side], err));
    }
    return evaluate(call, 0, &input, &call->out->children[0], err);
}

/* ---- maps ---- */

static enum status over_entries(const struct kernel_call *call, struct elements *elements,
                                struct vector **keys, struct vector **values,
                                struct vector **result, struct error *err)
{
    const struct vector *map = call->args[0];
    TRY(collect(call, map, elements, err));
    TRY(element_values(call, map, 0, elements, keys, err));
    TRY(element_values(call, map, 1, elements, values, err));
    struct lambda_input input = {
        .variables = {*keys, *values}, .rows = elements->rows, .count = elements->count};
    return evaluate(call, 0, &input, result, err);
}

KERNEL(kernel_map_filter)
{
    struct elements elements;
    struct vector *keys, *values, *keep;
    TRY(over_entries(call, &elements, &keys, &values, &keep, err));
    uint32_t *kept;
    uint32_t count;
    TRY(keep_elements(call, &elements, keep, &kept, &count, err));
    TRY(vector_gather(call->ctx->arena, keys, kept, count, &call->out->children[0], err));
    return vector_gather(call->ctx->arena, values, kept, count, &call->out->children[1], err);
}

KERNEL(kernel_transform_keys)
{
    struct elements elements;
    struct vector *keys, *values, *result;
    TRY(over_entries(call, &elements, &keys, &values, &result, err));
    memset(call->out->values, 0, call->rows * sizeof(struct list_entry));
    return map_finish(call, elements.entries, result, values, call->expr->call.bound, err);
}

KERNEL(kernel_transform_values)
{
    struct elements elements;
    struct vector *keys, *values, *result;
    TRY(over_entries(call, &elements, &keys, &values, &result, err));
    store_entries(call, &elements);
    call->out->children[0] = keys;
    call->out->children[1] = result;
    return OK;
}

/* The keys of both maps: where each key and the two values are. */
struct joined {
    uint32_t *rows, *keys, *left, *right;
    uint32_t count;
};

static uint32_t find_key(const struct vector *keys, struct list_entry entry,
                         const struct vector *wanted, uint32_t index)
{
    for (uint32_t k = entry.offset; k < entry.offset + entry.length; k++) {
        if (vector_compare(keys, k, wanted, index) == 0)
            return k;
    }
    return UINT32_MAX;
}

static void join_row(const struct kernel_call *call, uint32_t row, struct joined *joined)
{
    const struct vector *a = call->args[0];
    const struct vector *b = call->args[1];
    struct list_entry left = entry_of(a, row);
    struct list_entry right = entry_of(b, row);
    for (uint32_t k = left.offset; k < left.offset + left.length; k++) {
        joined->rows[joined->count] = row;
        joined->keys[joined->count] = k;
        joined->left[joined->count] = k;
        joined->right[joined->count++] = find_key(b->children[0], right, a->children[0], k);
    }
    for (uint32_t k = right.offset; k < right.offset + right.length; k++) {
        if (find_key(a->children[0], left, b->children[0], k) != UINT32_MAX)
            continue;
        joined->rows[joined->count] = row;
        joined->keys[joined->count] = a->children[0]->length + k;
        joined->left[joined->count] = UINT32_MAX;
        joined->right[joined->count++] = k;
    }
}

KERNEL(kernel_map_zip_with)
{
    struct arena *arena = call->ctx->arena;
    struct list_entry *out = call->out->values;
    memset(out, 0, call->rows * sizeof *out);
    size_t most = 0;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        most += entry_of(call->args[0], row).length + entry_of(call->args[1], row).length;
    }
    struct joined joined = {0};
    TRY(new_array(call, most, sizeof(uint32_t), &joined.rows, err));
    TRY(new_array(call, most, sizeof(uint32_t), &joined.keys, err));
    TRY(new_array(call, most, sizeof(uint32_t), &joined.left, err));
    TRY(new_array(call, most, sizeof(uint32_t), &joined.right, err));
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        out[row].offset = joined.count;
        join_row(call, row, &joined);
        out[row].length = joined.count - out[row].offset;
    }
    struct vector *key_parts[2] = {call->args[0]->children[0], call->args[1]->children[0]};
    struct vector *all;
    struct lambda_input input = {.rows = joined.rows, .count = joined.count};
    TRY(vector_concat(arena, key_parts, 2, &all, err));
    TRY(vector_gather(arena, all, joined.keys, joined.count, &input.variables[0], err));
    TRY(vector_gather_or_null(arena, call->args[0]->children[1], joined.left, joined.count,
                              &input.variables[1], err));
    TRY(vector_gather_or_null(arena, call->args[1]->children[1], joined.right, joined.count,
                              &input.variables[2], err));
    call->out->children[0] = input.variables[0];
    return evaluate(call, 0, &input, &call->out->children[1], err);
}
