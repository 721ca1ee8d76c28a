#include "expr/in_set.h"

#include "expr/program.h"

struct in_set {
    struct vector *values; /* the constants that are not NULL */
    bool has_null;
    uint32_t *slots; /* row + 1, 0: free */
    uint32_t mask;
};

static bool find(const struct in_set *set, const struct vector *vector, uint32_t row)
{
    uint64_t hash = vector_hash(vector, row, 0);
    for (uint32_t slot = (uint32_t)hash & set->mask; set->slots[slot] != 0;
         slot = (slot + 1) & set->mask) {
        if (vector_equal(set->values, set->slots[slot] - 1, vector, row))
            return true;
    }
    return false;
}

static void insert(struct in_set *set, uint32_t row)
{
    if (find(set, set->values, row))
        return;
    uint32_t slot = (uint32_t)vector_hash(set->values, row, 0) & set->mask;
    while (set->slots[slot] != 0)
        slot = (slot + 1) & set->mask;
    set->slots[slot] = row + 1;
}

const struct in_set *in_set_of(struct resolve_context *ctx, struct expr *const *items,
                               uint32_t count)
{
    struct error err = ERROR_INIT;
    struct in_set *set = arena_new_object(ctx->arena, sizeof *set);
    struct vector **values = arena_new_object(ctx->arena, ((size_t)count + 1) * sizeof *values);
    uint32_t present = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct vector *value;
        if (!expr_is_foldable(items[i]) ||
            expr_constant(ctx->arena, items[i], ctx->time_zone, &value, &err) != OK)
            return NULL;
        if (vector_is_null(value, 0))
            set->has_null = true;
        else
            values[present++] = value;
    }
    if (present > 0 && vector_concat(ctx->arena, values, present, &set->values, &err) != OK)
        return NULL;
    uint32_t capacity = 4;
    while (capacity < 2 * present)
        capacity *= 2;
    set->mask = capacity - 1;
    set->slots = arena_new_object(ctx->arena, capacity * sizeof *set->slots);
    for (uint32_t row = 0; row < present; row++)
        insert(set, row);
    return set;
}

static enum status in_row(const struct kernel_call *call, uint32_t row, struct error *err)
{
    const struct vector *value = call->args[0];
    bool unknown = false;
    bool found = false;
    for (uint32_t i = 1; i < call->arg_count && !found; i++) {
        const struct vector *item = call->args[i];
        if (vector_is_null(item, row))
            unknown = true;
        else
            found =
                vector_compare(value, vector_index(value, row), item, vector_index(item, row)) == 0;
    }
    KERNEL_OUT(uint8_t, call)[row] = found;
    return !found && unknown ? kernel_set_null(call, row, err) : OK;
}

enum status kernel_in(const struct kernel_call *call, struct error *err)
{
    const struct vector *value = call->args[0];
    const struct in_set *set = call->expr->call.bound;
    uint8_t *out = call->out->values;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        if (vector_is_null(value, row)) {
            TRY(kernel_set_null(call, row, err));
        } else if (set == NULL) {
            TRY(in_row(call, row, err));
        } else {
            out[row] = set->values != NULL && find(set, value, vector_index(value, row));
            if (!out[row] && set->has_null)
                TRY(kernel_set_null(call, row, err));
        }
    }
    return OK;
}
