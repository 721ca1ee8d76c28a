/* Kernels of small operators: NOT, IS NULL, shifts, GREATEST. */
#include "expr/kernel_basic.h"

KERNEL_UNARY(kernel_not, uint8_t, uint8_t, x == 0)

static enum status is_null(const struct kernel_call *call, bool wanted)
{
    const struct vector *arg = call->args[0];
    uint8_t *out = call->out->values;
    if (!arg->constant && arg->validity == NULL && arg->type->id != TYPE_VOID) {
        memset(out, wanted ? 0 : 1, call->rows);
        return OK;
    }
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        out[row] = vector_is_null(arg, row) == wanted;
    }
    return OK;
}

KERNEL(kernel_is_null)
{
    (void)err;
    return is_null(call, true);
}

KERNEL(kernel_is_not_null)
{
    (void)err;
    return is_null(call, false);
}

/* Shift counts are taken modulo the width, as in Java. */
/* clang-format off */
static KERNEL_BINARY(left_int, int32_t, int32_t, int32_t, (uint32_t)x << (y & 31))
static KERNEL_BINARY(left_long, int64_t, int64_t, int32_t, (uint64_t)x << (y & 63))
static KERNEL_BINARY(right_int, int32_t, int32_t, int32_t, x >> (y & 31))
static KERNEL_BINARY(right_long, int64_t, int64_t, int32_t, x >> (y & 63))
static KERNEL_BINARY(unsigned_int, int32_t, int32_t, int32_t, (uint32_t)x >> (y & 31))
static KERNEL_BINARY(unsigned_long, int64_t, int64_t, int32_t, (uint64_t)x >> (y & 63))
    /* clang-format on */

    KERNEL(kernel_shift_left)
{
    return call->args[0]->type->id == TYPE_INT ? left_int(call, err) : left_long(call, err);
}

KERNEL(kernel_shift_right)
{
    return call->args[0]->type->id == TYPE_INT ? right_int(call, err) : right_long(call, err);
}

KERNEL(kernel_shift_right_unsigned)
{
    return call->args[0]->type->id == TYPE_INT ? unsigned_int(call, err) : unsigned_long(call, err);
}

/* ---- GREATEST, LEAST: NULLs are passed over ---- */

static enum status extreme(const struct kernel_call *call, int sign, struct error *err)
{
    void *memory;
    TRY(arena_alloc_raw(call->ctx->arena, (size_t)call->rows + 1, sizeof(uint32_t), &memory, err));
    uint32_t *winner = memory; /* argument number; arg_count: none */
    for (uint32_t row = 0; row < call->rows; row++)
        winner[row] = 0;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        winner[row] = call->arg_count;
        for (uint32_t k = 0; k < call->arg_count; k++) {
            const struct vector *arg = call->args[k];
            if (vector_is_null(arg, row))
                continue;
            if (winner[row] == call->arg_count) {
                winner[row] = k;
                continue;
            }
            const struct vector *best = call->args[winner[row]];
            if (sign * vector_compare(arg, vector_index(arg, row), best, vector_index(best, row)) >
                0)
                winner[row] = k;
        }
    }
    struct vector *all;
    TRY(kernel_concat_args(call, 0, call->arg_count, &all, err));
    for (uint32_t row = 0; row < call->rows; row++)
        winner[row] = winner[row] == call->arg_count ? UINT32_MAX : winner[row] * call->rows + row;
    return kernel_gather(call, all, winner, err);
}

KERNEL(kernel_greatest)
{
    return extreme(call, 1, err);
}

KERNEL(kernel_least)
{
    return extreme(call, -1, err);
}

/* ---- help for kernels that move cells of any type ---- */

enum status kernel_concat_args(const struct kernel_call *call, uint32_t first, uint32_t count,
                               struct vector **out, struct error *err)
{
    struct arena *arena = call->ctx->arena;
    struct vector **flat = arena_new_object(arena, ((size_t)count + 1) * sizeof *flat);
    for (uint32_t i = 0; i < count; i++) {
        const struct vector *arg = call->args[first + i];
        struct vector *view = arena_new_object(arena, sizeof *view);
        *view = *arg;
        view->length = call->rows;
        flat[i] = view;
    }
    return vector_concat(arena, flat, count, out, err);
}

enum status vector_gather_or_null(struct arena *arena, const struct vector *vector,
                                  const uint32_t *indices, uint32_t count, struct vector **out,
                                  struct error *err)
{
    bool nulls = false;
    for (uint32_t i = 0; i < count; i++)
        nulls |= indices[i] == UINT32_MAX;
    if (!nulls && vector->type->id != TYPE_VOID)
        return vector_gather(arena, vector, indices, count, out, err);
    if (vector->length == 0 || vector->type->id == TYPE_VOID) {
        TRY(vector_new(arena, vector->type, count, out, err));
        if (vector->type->id == TYPE_ARRAY || vector->type->id == TYPE_MAP)
            memset((*out)->values, 0, count * sizeof(struct list_entry));
        TRY(vector_make_nullable(arena, *out, err));
        memset((*out)->validity, 0, validity_words(count) * sizeof(uint64_t));
        return OK;
    }
    void *memory;
    TRY(arena_alloc_raw(arena, (size_t)count + 1, sizeof(uint32_t), &memory, err));
    uint32_t *safe = memory;
    for (uint32_t i = 0; i < count; i++)
        safe[i] = indices[i] == UINT32_MAX ? 0 : indices[i];
    TRY(vector_gather(arena, vector, safe, count, out, err));
    TRY(vector_make_nullable(arena, *out, err));
    for (uint32_t i = 0; i < count; i++) {
        if (indices[i] == UINT32_MAX)
            vector_set_null(*out, i);
    }
    return OK;
}

enum status kernel_gather(const struct kernel_call *call, const struct vector *vector,
                          const uint32_t *indices, struct error *err)
{
    struct vector *gathered;
    TRY(vector_gather_or_null(call->ctx->arena, vector, indices, call->rows, &gathered, err));
    const struct type *type = call->out->type;
    *call->out = *gathered;
    call->out->type = type;
    return OK;
}
