/*
 * The function behind window(): the window of a row.
 *
 * A time t lies in the windows that start at t - ((t - offset) mod slide) - i * slide for
 * i = 0, 1, ... as long as they end after t.  Times are microseconds: of UTC for TIMESTAMP, of the
 * wall clock for TIMESTAMP_NTZ.
 *
 * Windows begin once per slide, and end once per slide, `size mod slide` after one begins: these
 * boundaries cut the time into panes.
 */
#include "base/check.h"
#include "expr/kernel.h"
#include "plan/physical.h"

/* What would help if a window of some selected row begins before the first TIMESTAMP, or ends after
 * the last; NULL: none does. */
static const char *window_overflow(const struct kernel_call *call, const int64_t *starts,
                                   const int64_t *ends)
{
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        if (kernel_arg_is_null(call, 0, row))
            continue;
        if (starts[row] > KERNEL_ARG(int64_t, call, 0, row))
            return " Use 'try_subtract' to tolerate overflow and return NULL instead.";
        if (ends[row] < starts[row])
            return " Use 'try_add' to tolerate overflow and return NULL instead.";
    }
    return NULL;
}

static enum status kernel_time_window(const struct kernel_call *call, struct error *err)
{
    const struct type *time = call->out->type->fields[0].type;
    struct vector *start, *end;
    TRY(vector_new(call->ctx->arena, time, call->rows, &start, err));
    TRY(vector_new(call->ctx->arena, time, call->rows, &end, err));
    const int64_t *restrict in = call->args[0]->values;
    int64_t *restrict starts = start->values;
    int64_t *restrict ends = end->values;
    int64_t size = KERNEL_ARG(int64_t, call, 1, 0), slide = KERNEL_ARG(int64_t, call, 2, 0);
    int64_t offset = KERNEL_ARG(int64_t, call, 3, 0), back = KERNEL_ARG(int64_t, call, 4, 0);
    uint32_t step = kernel_step(call->args[0]);
    bool wraps = false;
    for (uint32_t row = 0; row < call->rows; row++) {
        uint64_t t = (uint64_t)in[(size_t)row * step];
        int64_t rest = (int64_t)(t - (uint64_t)offset) % slide;
        uint64_t first = t - (uint64_t)(rest < 0 ? rest + slide : rest) - (uint64_t)back;
        starts[row] = (int64_t)first;
        ends[row] = (int64_t)(first + (uint64_t)size);
        wraps |= starts[row] > (int64_t)t || ends[row] < starts[row];
    }
    const char *instead = wraps ? window_overflow(call, starts, ends) : NULL;
    if (instead != NULL) /* rows that are not selected may wrap */
        return error_raise(err, STATUS_ARITHMETIC_OVERFLOW, "message", "overflow", "alternative",
                           instead, "config", "\"spark.sql.ansi.enabled\"", NULL);
    CHECK(call->out->child_count == 2);
    call->out->children[0] = start;
    call->out->children[1] = end;
    return OK;
}

static const struct function time_window_function = {
    .name = "window",
    .print = "window(%*)",
    .kind = FUNCTION_SCALAR,
    .flags = FUNCTION_NULL_INTOLERANT | FUNCTION_TOTAL,
    .kernel = kernel_time_window,
};

static enum status kernel_time_pane(const struct kernel_call *call, struct error *err)
{
    const struct type *time = call->out->type->fields[0].type;
    struct vector *start, *end;
    TRY(vector_new(call->ctx->arena, time, call->rows, &start, err));
    TRY(vector_new(call->ctx->arena, time, call->rows, &end, err));
    const int64_t *restrict in = call->args[0]->values;
    int64_t *restrict starts = start->values;
    int64_t *restrict ends = end->values;
    int64_t slide = KERNEL_ARG(int64_t, call, 2, 0), offset = KERNEL_ARG(int64_t, call, 3, 0);
    int64_t cut = KERNEL_ARG(int64_t, call, 1, 0) % slide; /* 0: where windows begin, others end */
    uint32_t step = kernel_step(call->args[0]);
    for (uint32_t row = 0; row < call->rows; row++) {
        uint64_t t = (uint64_t)in[(size_t)row * step];
        int64_t rest = (int64_t)(t - (uint64_t)offset) % slide;
        rest += rest < 0 ? slide : 0;
        int64_t from = rest < cut ? 0 : cut, to = rest < cut ? cut : slide;
        starts[row] = (int64_t)(t - (uint64_t)rest + (uint64_t)from);
        ends[row] = (int64_t)(t - (uint64_t)rest + (uint64_t)to);
    }
    CHECK(call->out->child_count == 2);
    call->out->children[0] = start;
    call->out->children[1] = end;
    return OK;
}

static const struct function time_pane_function = {
    .name = "pane",
    .print = "pane(%*)",
    .kind = FUNCTION_SCALAR,
    .flags = FUNCTION_NULL_INTOLERANT | FUNCTION_TOTAL,
    .kernel = kernel_time_pane,
};

struct expr *time_window_expr(struct rewriter *rewriter, struct expr *time, const int64_t spec[3],
                              uint32_t index, const struct type *type)
{
    struct arena *arena = rewriter->arena;
    struct expr *args[] = {
        time,
        expr_literal_long(arena, spec[0]),
        expr_literal_long(arena, spec[1]),
        expr_literal_long(arena, spec[2]),
        expr_literal_long(arena, spec[1] * index),
    };
    struct expr *call = expr_call(arena, &time_window_function, "window", args, 5);
    function_finish(call, type);
    return call;
}

struct expr *time_pane_expr(struct rewriter *rewriter, struct expr *time, const int64_t spec[3],
                            const struct type *type)
{
    struct arena *arena = rewriter->arena;
    struct expr *args[] = {
        time,
        expr_literal_long(arena, spec[0]),
        expr_literal_long(arena, spec[1]),
        expr_literal_long(arena, spec[2]),
    };
    struct expr *call = expr_call(arena, &time_pane_function, "pane", args, 4);
    function_finish(call, type);
    return call;
}
