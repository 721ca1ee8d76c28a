/* collect_list, collect_set, listagg, mode: states that keep values. */
#include "base/check.h"
#include "expr/aggregate_impl.h"
#include "expr/program.h"

#include <stdlib.h>

/* ---- collect_list, collect_set ---- */

RESOLVER(aggregate_resolve_collect)
{
    *out = call;
    const struct type *type = call->args[0]->type;
    bool set = call->aggregate.aggregate->ops == &aggregate_collect_set;
    if (set && type->id == TYPE_MAP)
        return error_raise_at(err, STATUS_DATATYPE_MISMATCH__UNSUPPORTED_INPUT_TYPE, call->position,
                              call->position_end, "sqlExpr", function_sql(ctx->arena, call),
                              "functionName", "`collect_set`", "dataType",
                              "\"MAP\" or \"COLLATED STRING\"", NULL);
    aggregate_finish_call(call, type_array(ctx->arena, type, false));
    return OK;
}

static size_t list_bytes(const struct expr *expr)
{
    (void)expr;
    return sizeof(struct value_list);
}

static enum status list_update(const struct aggregate_update *update, struct error *err)
{
    struct bytes *values;
    TRY(values_of(update, 0, false, &values, err));
    for (uint32_t i = 0; i < update->selected; i++) {
        if (values[i].data != NULL)
            TRY(value_list_add((void *)aggregate_state(update, i), update->arena, values[i], err));
    }
    return OK;
}

static enum status list_merge(const struct expr *expr, struct arena *arena, uint8_t *into,
                              const uint8_t *from, struct error *err)
{
    (void)expr;
    const struct value_list *list = (const void *)from;
    uint32_t offset = 0;
    struct bytes value;
    while (value_list_next(list, &offset, &value))
        TRY(value_list_add((void *)into, arena, value, err));
    return OK;
}

/* Makes `out` arrays of the values, lengths[i] of them for result i, one after another. */
static enum status make_arrays(const struct aggregate_update *call, const struct bytes *values,
                               const uint32_t *lengths, uint32_t count, bool normal,
                               struct vector *out, struct error *err)
{
    struct list_entry *entries = out->values;
    uint32_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        entries[i] = (struct list_entry){.offset = total, .length = lengths[i]};
        total += lengths[i];
    }
    return values_to_vector(call->ctx->arena, out->type->element, normal, values, total,
                            &out->children[0], err);
}

static enum status new_lengths(const struct aggregate_update *call, uint32_t count,
                               uint32_t **lengths, struct error *err)
{
    void *memory;
    TRY(arena_alloc(call->ctx->arena, (size_t)count + 1, sizeof(uint32_t), &memory, err));
    *lengths = memory;
    return OK;
}

static enum status list_finish(const struct aggregate_update *call, uint8_t *const *states,
                               uint32_t count, struct vector *out, struct error *err)
{
    uint32_t *lengths;
    size_t total = 0;
    TRY(new_lengths(call, count, &lengths, err));
    for (uint32_t i = 0; i < count; i++) {
        lengths[i] = ((const struct value_list *)(const void *)states[i])->count;
        total += lengths[i];
    }
    void *memory;
    TRY(arena_alloc(call->ctx->arena, total + 1, sizeof(struct bytes), &memory, err));
    struct bytes *values = memory;
    size_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t offset = 0;
        while (value_list_next((const void *)states[i], &offset, &values[at]))
            at++;
    }
    return make_arrays(call, values, lengths, count, false, out, err);
}

static void list_save(const struct expr *expr, const uint8_t *state, struct buffer *out)
{
    (void)expr;
    value_list_save((const void *)state, out);
}

static enum status list_load(const struct expr *expr, struct arena *arena, struct bytes in,
                             uint8_t *state, struct error *err)
{
    (void)expr;
    return value_list_load((void *)state, arena, &in, err);
}

const struct aggregate_ops aggregate_collect_list = {
    .state_bytes = list_bytes,
    .update = list_update,
    .merge = list_merge,
    .finish = list_finish,
    .save = list_save,
    .load = list_load,
};

static size_t set_bytes(const struct expr *expr)
{
    (void)expr;
    return sizeof(struct value_set);
}

static enum status set_update(const struct aggregate_update *update, struct error *err)
{
    struct bytes *values;
    TRY(values_of(update, 0, true, &values, err));
    for (uint32_t i = 0; i < update->selected; i++) {
        if (values[i].data != NULL)
            TRY(value_set_add((void *)aggregate_state(update, i), update->arena, values[i], 1,
                              err));
    }
    return OK;
}

static enum status set_merge(const struct expr *expr, struct arena *arena, uint8_t *into,
                             const uint8_t *from, struct error *err)
{
    (void)expr;
    uint32_t offset = 0;
    struct bytes value;
    uint64_t count;
    while (value_set_next((const void *)from, &offset, &value, &count))
        TRY(value_set_add((void *)into, arena, value, count, err));
    return OK;
}

static enum status set_finish(const struct aggregate_update *call, uint8_t *const *states,
                              uint32_t count, struct vector *out, struct error *err)
{
    uint32_t *lengths;
    size_t total = 0;
    TRY(new_lengths(call, count, &lengths, err));
    for (uint32_t i = 0; i < count; i++) {
        lengths[i] = ((const struct value_set *)(const void *)states[i])->list.count;
        total += lengths[i];
    }
    void *memory;
    TRY(arena_alloc(call->ctx->arena, total + 1, sizeof(struct bytes), &memory, err));
    struct bytes *values = memory;
    size_t at = 0;
    uint64_t ignored;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t offset = 0;
        while (value_set_next((const void *)states[i], &offset, &values[at], &ignored))
            at++;
    }
    return make_arrays(call, values, lengths, count, true, out, err);
}

static void set_save(const struct expr *expr, const uint8_t *state, struct buffer *out)
{
    (void)expr;
    value_list_save(&((const struct value_set *)(const void *)state)->list, out);
}

static enum status set_load(const struct expr *expr, struct arena *arena, struct bytes in,
                            uint8_t *state, struct error *err)
{
    (void)expr;
    return value_set_load((void *)state, arena, &in, err);
}

const struct aggregate_ops aggregate_collect_set = {
    .state_bytes = set_bytes,
    .update = set_update,
    .merge = set_merge,
    .finish = set_finish,
    .save = set_save,
    .load = set_load,
};

/* ---- mode: the most frequent value; of several the first in order, or the first seen ---- */

/* mode(x, true) is named mode() WITHIN GROUP (ORDER BY x DESC). */
static void show_as_ordered(struct resolve_context *ctx, struct expr *call)
{
    struct sort_key *key = arena_new_object(ctx->arena, sizeof *key);
    *key = (struct sort_key){.expr = call->args[0], .descending = true};
    call->aggregate.order = key;
    call->aggregate.order_count = 1;
    call->arg_count = 0;
}

RESOLVER(aggregate_resolve_mode)
{
    *out = call;
    struct aggregate_options *options = arena_new_object(ctx->arena, sizeof *options);
    call->aggregate.bound = options;
    if (call->aggregate.order_count > 0) {
        uint32_t wanted = call->arg_count > 0 ? 0 : 1;
        if (call->aggregate.order_count != wanted)
            return error_raise_at(
                err, STATUS_INVALID_WITHIN_GROUP_EXPRESSION__WRONG_NUM_ORDERINGS, call->position,
                call->position_end, "funcName", wanted == 0 ? "`mode`" : "`Mode`", "expectedNum",
                wanted == 0 ? "0" : "1", "actualNum",
                arena_sprintf(ctx->arena, "%u", call->aggregate.order_count), NULL);
        /* mode() WITHIN GROUP (ORDER BY x) prints its order the other way round */
        struct sort_key *key = arena_new_object(ctx->arena, sizeof *key);
        *key = call->aggregate.order[0];
        options->reverse = key->descending;
        options->try = true; /* deterministic */
        call->args[0] = key->expr;
        key->descending = !key->descending;
        call->aggregate.order = key;
        aggregate_finish_call(call, key->expr->type);
        return OK;
    }
    if (call->arg_count == 0)
        return function_wrong_count(call, "[1, 2]", err);
    if (call->arg_count == 2) {
        struct vector *flag;
        if (call->args[1]->type->id != TYPE_BOOLEAN)
            return function_wrong_type(call, 1, "\"BOOLEAN\"", err);
        TRY(function_constant(ctx, call, 1, "deterministic", &flag, err));
        options->try = !vector_is_null(flag, 0) && *VECTOR_VALUES(uint8_t, flag) != 0;
        call->arg_count = 1;
        if (options->try)
            show_as_ordered(ctx, call);
    }
    aggregate_finish_call(call, call->args[0]->type);
    return OK;
}

static enum status mode_finish(const struct aggregate_update *call, uint8_t *const *states,
                               uint32_t count, struct vector *out, struct error *err)
{
    const struct aggregate_options *options = call->expr->aggregate.bound;
    void *memory;
    TRY(arena_alloc(call->ctx->arena, (size_t)count + 1, sizeof(struct bytes), &memory, err));
    struct bytes *winners = memory;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t offset = 0;
        uint64_t best = 0;
        uint64_t seen;
        struct bytes value;
        while (value_set_next((const void *)states[i], &offset, &value, &seen)) {
            int order = best == 0 ? 0 : bytes_compare(value, winners[i]);
            bool first = options->reverse ? order > 0 : order < 0;
            if (seen > best || (seen == best && options->try && first)) {
                best = seen;
                winners[i] = value;
            }
        }
    }
    const struct type *type = out->type;
    struct vector *vector;
    TRY(values_to_vector(call->ctx->arena, type, true, winners, count, &vector, err));
    *out = *vector;
    out->type = type;
    return OK;
}

const struct aggregate_ops aggregate_mode = {
    .state_bytes = set_bytes,
    .update = set_update,
    .merge = set_merge,
    .finish = mode_finish,
    .save = set_save,
    .load = set_load,
};

/* ---- listagg: entries are u32 size of the order, the order, the text ---- */

static enum status distinct_mismatch(struct resolve_context *ctx, const struct expr *call,
                                     struct error *err)
{
    return error_raise(err, STATUS_INVALID_WITHIN_GROUP_EXPRESSION__MISMATCH_WITH_DISTINCT_INPUT,
                       "funcName", arena_sprintf(ctx->arena, "`%s`", call->aggregate.name),
                       "funcArg", function_sql(ctx->arena, call->args[0]), "orderingExpr",
                       function_sql(ctx->arena, call->aggregate.order[0].expr), NULL);
}

static const struct expr *without_text_cast(const struct expr *expr)
{
    return expr->kind == EXPR_CAST && expr->type->id == TYPE_STRING ? expr->args[0] : expr;
}

/* What is listed once is ordered by itself, or by what it was before it became text, if texts are
 * equal only where the values are. */
static enum status check_distinct_order(struct resolve_context *ctx, const struct expr *call,
                                        struct error *err)
{
    const struct expr *order = call->aggregate.order[0].expr;
    if (!expr_equal(without_text_cast(call->args[0]), without_text_cast(order)))
        return distinct_mismatch(ctx, call, err);
    enum type_id id = order->type->id;
    if (id != TYPE_DOUBLE && id != TYPE_FLOAT && id != TYPE_TIMESTAMP)
        return OK;
    return error_raise(
        err, STATUS_INVALID_WITHIN_GROUP_EXPRESSION__MISMATCH_WITH_DISTINCT_INPUT_UNSAFE_CAST,
        "funcName", arena_sprintf(ctx->arena, "`%s`", call->aggregate.name), "inputType",
        function_sql_type(ctx->arena, order->type), "castType", "\"STRING\"", NULL);
}

RESOLVER(aggregate_resolve_listagg)
{
    *out = call;
    if (call->arg_count == 1)
        call->args[call->arg_count++] = expr_null(ctx->arena, type_simple(TYPE_VOID));
    enum type_id first = call->args[0]->type->id;
    bool binary = first == TYPE_BINARY;
    if (call->aggregate.order_count > 0)
        call->aggregate.name = "listagg";
    if (first == TYPE_ARRAY || first == TYPE_MAP || first == TYPE_STRUCT)
        return function_wrong_type(call, 0, "(\"STRING\" or \"BINARY\")", err);
    if (binary && call->args[1]->type->id == TYPE_STRING)
        return error_raise_at(err, STATUS_DATATYPE_MISMATCH__DATA_DIFF_TYPES, call->position,
                              call->position_end, "sqlExpr", function_sql(ctx->arena, call),
                              "functionName", "`listagg`", "dataType", "(\"BINARY\" or \"STRING\")",
                              NULL);
    if (call->aggregate.distinct && call->aggregate.order_count > 0)
        TRY(check_distinct_order(ctx, call, err));
    TRY(aggregate_apply(ctx, call,
                        binary ? "binary,binary!delimiter->1" : "string,string!delimiter->1", err));
    return OK;
}

/* Order keys whose bytes sort as the ORDER BY says. */
static enum status order_bytes(const struct aggregate_update *update, struct bytes *out,
                               struct error *err)
{
    const struct expr *expr = update->expr;
    uint32_t first = update->arg_count - expr->aggregate.order_count;
    struct buffer text = {0};
    enum status status = OK;
    struct bytes **keys = arena_new_object(
        update->ctx->arena, ((size_t)expr->aggregate.order_count + 1) * sizeof *keys);
    for (uint32_t k = 0; k < expr->aggregate.order_count; k++)
        TRY_OUT(values_of(update, first + k, true, &keys[k], err));
    for (uint32_t i = 0; i < update->selected; i++) {
        buffer_clear(&text);
        for (uint32_t k = 0; k < expr->aggregate.order_count; k++) {
            const struct sort_key *key = &expr->aggregate.order[k];
            struct bytes value = keys[k][i];
            bool null = value.data == NULL;
            buffer_add_byte(&text, null ? (key->nulls_first ? 0 : 2) : 1);
            for (size_t at = 0; !null && at < value.size_bytes; at++)
                buffer_add_byte(&text, key->descending ? (uint8_t)~value.data[at] : value.data[at]);
        }
        out[i] = arena_copy(update->ctx->arena, buffer_bytes(&text));
    }
out:
    buffer_fini(&text);
    return status;
}

static enum status listagg_update(const struct aggregate_update *update, struct error *err)
{
    void *memory;
    TRY(arena_alloc(update->ctx->arena, (size_t)update->selected + 1, sizeof(struct bytes), &memory,
                    err));
    struct bytes *orders = memory;
    if (update->args[0]->type->id == TYPE_VOID)
        return OK;
    if (update->expr->aggregate.order_count > 0)
        TRY(order_bytes(update, orders, err));
    struct buffer entry = {0};
    enum status status = OK;
    for (uint32_t i = 0; i < update->selected; i++) {
        uint32_t row = aggregate_row(update, i);
        if (aggregate_arg_is_null(update, 0, row))
            continue;
        buffer_clear(&entry);
        put_u32(&entry, (uint32_t)orders[i].size_bytes);
        buffer_add_bytes(&entry, orders[i]);
        buffer_add_bytes(&entry, AGGREGATE_ARG(struct bytes, update, 0, row));
        TRY_OUT(value_list_add((void *)aggregate_state(update, i), update->arena,
                               buffer_bytes(&entry), err));
    }
out:
    buffer_fini(&entry);
    return status;
}

struct listagg_item {
    struct bytes order;
    struct bytes text;
    uint32_t position;
};

static int compare_items(const void *a, const void *b)
{
    const struct listagg_item *x = a;
    const struct listagg_item *y = b;
    int order = bytes_compare(x->order, y->order);
    return order != 0 ? order : (x->position > y->position) - (x->position < y->position);
}

static enum status listagg_items(const struct aggregate_update *call, const struct value_list *list,
                                 struct listagg_item **out, struct error *err)
{
    void *memory;
    TRY(arena_alloc(call->ctx->arena, (size_t)list->count + 1, sizeof(struct listagg_item), &memory,
                    err));
    struct listagg_item *items = memory;
    uint32_t offset = 0;
    struct bytes entry;
    for (uint32_t i = 0; i < list->count && value_list_next(list, &offset, &entry); i++) {
        uint32_t size = 0;
        if (!take_u32(&entry, &size) || !take_bytes(&entry, size, &items[i].order))
            return aggregate_corrupt(err);
        items[i].text = entry;
        items[i].position = i;
    }
    qsort(items, list->count, sizeof *items, compare_items);
    *out = items;
    return OK;
}

static enum status delimiter_of(const struct aggregate_update *call, struct bytes *out,
                                struct error *err)
{
    struct vector *value;
    TRY(expr_constant(call->ctx->arena, call->expr->args[1], call->ctx->time_zone, &value, err));
    *out = vector_is_null(value, 0) ? (struct bytes){0} : *VECTOR_VALUES(struct bytes, value);
    return OK;
}

static enum status listagg_finish(const struct aggregate_update *call, uint8_t *const *states,
                                  uint32_t count, struct vector *out, struct error *err)
{
    struct bytes delimiter = {0};
    TRY(delimiter_of(call, &delimiter, err));
    struct buffer text = {0};
    enum status status = OK;
    for (uint32_t i = 0; i < count; i++) {
        const struct value_list *list = (const void *)states[i];
        if (list->count == 0) {
            TRY_OUT(aggregate_set_null(call, out, i, err));
            continue;
        }
        struct listagg_item *items = NULL;
        TRY_OUT(listagg_items(call, list, &items, err));
        buffer_clear(&text);
        for (uint32_t k = 0; k < list->count; k++) {
            if (k > 0)
                buffer_add_bytes(&text, delimiter);
            buffer_add_bytes(&text, items[k].text);
        }
        VECTOR_VALUES(struct bytes, out)[i] = arena_copy(call->ctx->arena, buffer_bytes(&text));
    }
out:
    buffer_fini(&text);
    return status;
}

const struct aggregate_ops aggregate_listagg = {
    .state_bytes = list_bytes,
    .update = listagg_update,
    .merge = list_merge,
    .finish = listagg_finish,
    .save = list_save,
    .load = list_load,
};
