/*
 * max_by(x, y, k), min_by(x, y, k): the k values with the largest (smallest) keys, best first.
 *
 * The state is a list of entries (u32 key size, key, u8 value is not NULL, value); it is pruned to
 * the best k whenever it has grown well beyond them.
 */
#include "expr/aggregate_impl.h"
#include "expr/program.h"

#include <stdlib.h>

#define TOP_MAX 100000

RESOLVER(aggregate_resolve_by)
{
    *out = call;
    if (call->arg_count == 2)
        return aggregate_apply(ctx, call, "any,orderable->1", err);
    struct vector *value;
    TRY(aggregate_apply(ctx, call, "any,orderable,int!k->1", err));
    TRY(expr_constant(ctx->arena, call->args[2], ctx->time_zone, &value, err));
    int32_t k = vector_is_null(value, 0) ? 0 : *VECTOR_VALUES(int32_t, value);
    if (k < 1 || k > TOP_MAX)
        return error_raise_at(err, STATUS_DATATYPE_MISMATCH__VALUE_OUT_OF_RANGE, call->position,
                              call->position_end, "sqlExpr", function_sql(ctx->arena, call),
                              "exprName", "`k`", "valueRange", "[1, 100000]", "currentValue",
                              arena_sprintf(ctx->arena, "%d", (int)k), NULL);
    struct aggregate_options *options = arena_new_object(ctx->arena, sizeof *options);
    options->accuracy = k;
    options->reverse = strcmp(call->aggregate.aggregate->name, "max_by") == 0;
    call->aggregate.bound = options;
    call->aggregate.aggregate = aggregate_find(options->reverse ? "max_by k" : "min_by k");
    aggregate_finish_call(call, type_array(ctx->arena, call->args[0]->type, true));
    return OK;
}

struct top_item {
    struct bytes entry, key, value;
    uint32_t position;
};

static int compare_keys(const struct top_item *x, const struct top_item *y)
{
    int order = bytes_compare(x->key, y->key);
    return order != 0 ? order : (x->position > y->position) - (x->position < y->position);
}

static int compare_up(const void *a, const void *b)
{
    return compare_keys(a, b);
}

static int compare_down(const void *a, const void *b)
{
    const struct top_item *x = a;
    const struct top_item *y = b;
    int order = bytes_compare(y->key, x->key);
    return order != 0 ? order : (x->position > y->position) - (x->position < y->position);
}

static const struct aggregate_options *options_of(const struct expr *expr)
{
    return expr->aggregate.bound;
}

static bool read_entry(struct bytes entry, struct top_item *item)
{
    uint32_t size;
    struct bytes rest = entry, present;
    item->entry = entry;
    if (!take_u32(&rest, &size) || !take_bytes(&rest, size, &item->key) ||
        !take_bytes(&rest, 1, &present))
        return false;
    item->value = *present.data != 0 ? rest : (struct bytes){0};
    return true;
}

/* The entries, best first. */
static enum status ranked_items(const struct expr *expr, struct arena *arena,
                                const struct value_list *list, struct top_item **out,
                                struct error *err)
{
    void *memory;
    TRY(arena_alloc(arena, (size_t)list->count + 1, sizeof(struct top_item), &memory, err));
    struct top_item *items = memory;
    uint32_t offset = 0;
    struct bytes entry;
    for (uint32_t i = 0; i < list->count && value_list_next(list, &offset, &entry); i++) {
        if (!read_entry(entry, &items[i]))
            return aggregate_corrupt(err);
        items[i].position = i;
    }
    qsort(items, list->count, sizeof *items, options_of(expr)->reverse ? compare_down : compare_up);
    *out = items;
    return OK;
}

static enum status prune(const struct expr *expr, struct arena *arena, struct value_list *list,
                         struct error *err)
{
    uint32_t k = (uint32_t)options_of(expr)->accuracy;
    if (list->count < 2 * k + 64)
        return OK;
    struct arena *work = arena_new("batch", 0);
    struct top_item *items;
    struct value_list best = {0};
    enum status status = ranked_items(expr, work, list, &items, err);
    for (uint32_t i = 0; status == OK && i < k; i++)
        status = value_list_add(&best, work, items[i].entry, err);
    list->size = 0;
    list->count = 0;
    uint32_t offset = 0;
    struct bytes entry;
    while (status == OK && value_list_next(&best, &offset, &entry))
        status = value_list_add(list, arena, entry, err);
    arena_free(work);
    return status;
}

static size_t top_bytes(const struct expr *expr)
{
    (void)expr;
    return sizeof(struct value_list);
}

static enum status top_update(const struct aggregate_update *update, struct error *err)
{
    struct bytes *values;
    struct bytes *keys;
    TRY(values_of(update, 0, false, &values, err));
    TRY(values_of(update, 1, true, &keys, err));
    struct buffer entry = {0};
    enum status status = OK;
    for (uint32_t i = 0; i < update->selected; i++) {
        if (keys[i].data == NULL)
            continue;
        buffer_clear(&entry);
        put_u32(&entry, (uint32_t)keys[i].size_bytes);
        buffer_add_bytes(&entry, keys[i]);
        buffer_add_byte(&entry, values[i].data != NULL);
        if (values[i].data != NULL)
            buffer_add_bytes(&entry, values[i]);
        struct value_list *list = (void *)aggregate_state(update, i);
        TRY_OUT(value_list_add(list, update->arena, buffer_bytes(&entry), err));
        TRY_OUT(prune(update->expr, update->arena, list, err));
    }
out:
    buffer_fini(&entry);
    return status;
}

static enum status top_merge(const struct expr *expr, struct arena *arena, uint8_t *into,
                             const uint8_t *from, struct error *err)
{
    uint32_t offset = 0;
    struct bytes entry;
    while (value_list_next((const void *)from, &offset, &entry)) {
        TRY(value_list_add((void *)into, arena, entry, err));
        TRY(prune(expr, arena, (void *)into, err));
    }
    return OK;
}

static enum status top_finish(const struct aggregate_update *call, uint8_t *const *states,
                              uint32_t count, struct vector *out, struct error *err)
{
    uint32_t k = (uint32_t)options_of(call->expr)->accuracy;
    void *memory;
    size_t most = 0;
    for (uint32_t i = 0; i < count; i++)
        most += ((const struct value_list *)(const void *)states[i])->count;
    TRY(arena_alloc(call->ctx->arena, most + 1, sizeof(struct bytes), &memory, err));
    struct bytes *values = memory;
    uint32_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct value_list *list = (const void *)states[i];
        struct top_item *items;
        TRY(ranked_items(call->expr, call->ctx->arena, list, &items, err));
        uint32_t length = list->count < k ? list->count : k;
        VECTOR_VALUES(struct list_entry, out)[i] = (struct list_entry){total, length};
        for (uint32_t n = 0; n < length; n++)
            values[total++] = items[n].value;
        if (list->count == 0)
            TRY(aggregate_set_null(call, out, i, err));
    }
    return values_to_vector(call->ctx->arena, out->type->element, false, values, total,
                            &out->children[0], err);
}

static void top_save(const struct expr *expr, const uint8_t *state, struct buffer *out)
{
    (void)expr;
    value_list_save((const void *)state, out);
}

static enum status top_load(const struct expr *expr, struct arena *arena, struct bytes in,
                            uint8_t *state, struct error *err)
{
    (void)expr;
    return value_list_load((void *)state, arena, &in, err);
}

const struct aggregate_ops aggregate_top = {
    .state_bytes = top_bytes,
    .update = top_update,
    .merge = top_merge,
    .finish = top_finish,
    .save = top_save,
    .load = top_load,
};
