/* bool_and, bool_or, bit_and, bit_or, bit_xor: one integer. */
#include "expr/aggregate_impl.h"

struct bits_state {
    int64_t value;
    int64_t set;
};

enum bits_operation {
    BITS_AND,
    BITS_OR,
    BITS_XOR,
};

static size_t bits_bytes(const struct expr *expr)
{
    (void)expr;
    return sizeof(struct bits_state);
}

static void combine(struct bits_state *state, int64_t value, enum bits_operation operation)
{
    if (state->set == 0)
        state->value = value;
    else if (operation == BITS_AND)
        state->value &= value;
    else if (operation == BITS_OR)
        state->value |= value;
    else
        state->value ^= value;
    state->set = 1;
}

static int64_t bits_arg(const struct aggregate_update *update, uint32_t row)
{
    switch ((int)update->args[0]->type->id) {
    case TYPE_BOOLEAN:
        return AGGREGATE_ARG(uint8_t, update, 0, row) != 0;
    case TYPE_BYTE:
        return AGGREGATE_ARG(int8_t, update, 0, row);
    case TYPE_SHORT:
        return AGGREGATE_ARG(int16_t, update, 0, row);
    case TYPE_INT:
        return AGGREGATE_ARG(int32_t, update, 0, row);
    default:
        return AGGREGATE_ARG(int64_t, update, 0, row);
    }
}

static enum status bits_update(const struct aggregate_update *update, enum bits_operation operation)
{
    for (uint32_t i = 0; i < update->selected; i++) {
        uint32_t row = aggregate_row(update, i);
        if (!aggregate_arg_is_null(update, 0, row))
            combine((void *)aggregate_state(update, i), bits_arg(update, row), operation);
    }
    return OK;
}

static enum status bits_finish(const struct aggregate_update *call, uint8_t *const *states,
                               uint32_t count, struct vector *out, struct error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct bits_state *state = (const void *)states[i];
        if (state->set == 0) {
            TRY(aggregate_set_null(call, out, i, err));
            continue;
        }
        switch (type_value_bytes(out->type)) {
        case 1:
            VECTOR_VALUES(int8_t, out)[i] = (int8_t)state->value;
            break;
        case 2:
            VECTOR_VALUES(int16_t, out)[i] = (int16_t)state->value;
            break;
        case 4:
            VECTOR_VALUES(int32_t, out)[i] = (int32_t)state->value;
            break;
        default:
            VECTOR_VALUES(int64_t, out)[i] = state->value;
            break;
        }
    }
    return OK;
}

#define BITS_AGGREGATE(name, operation)                                                            \
    static enum status name##_update(const struct aggregate_update *update, struct error *err)     \
    {                                                                                              \
        (void)err;                                                                                 \
        return bits_update(update, operation);                                                     \
    }                                                                                              \
    static enum status name##_merge(const struct expr *expr, struct arena *arena, uint8_t *into,   \
                                    const uint8_t *from, struct error *err)                        \
    {                                                                                              \
        (void)expr;                                                                                \
        (void)arena;                                                                               \
        (void)err;                                                                                 \
        const struct bits_state *other = (const void *)from;                                       \
        if (other->set != 0)                                                                       \
            combine((void *)into, other->value, operation);                                        \
        return OK;                                                                                 \
    }                                                                                              \
    const struct aggregate_ops aggregate_##name = {                                                \
        .state_bytes = bits_bytes,                                                                 \
        .update = name##_update,                                                                   \
        .merge = name##_merge,                                                                     \
        .finish = bits_finish,                                                                     \
        .save = aggregate_save_plain,                                                              \
        .load = aggregate_load_plain,                                                              \
    }

BITS_AGGREGATE(bool_and, BITS_AND);
BITS_AGGREGATE(bool_or, BITS_OR);
BITS_AGGREGATE(bit_and, BITS_AND);
BITS_AGGREGATE(bit_or, BITS_OR);
BITS_AGGREGATE(bit_xor, BITS_XOR);
