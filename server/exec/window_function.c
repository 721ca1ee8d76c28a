#include "exec/window_function.h"

#include "base/check.h"
#include "expr/aggregate.h"

/* ---- ranks ---- */

enum rank_kind {
    RANK_ROW_NUMBER,
    RANK_RANK,
    RANK_DENSE,
    RANK_PERCENT,
    RANK_CUME_DIST,
};

static double rank_fraction(const struct window_rows *rows, uint32_t position, enum rank_kind kind)
{
    uint32_t size = rows->partition_end[position] - rows->partition_begin[position];
    uint32_t begin = rows->peers_begin[position] - rows->partition_begin[position];
    uint32_t end = rows->peers_end[position] - rows->partition_begin[position];
    if (kind == RANK_CUME_DIST)
        return (double)end / (double)size;
    return size == 1 ? 0.0 : (double)begin / (double)(size - 1);
}

static enum status run_rank(const struct window_call *call, enum rank_kind kind,
                            struct vector **out, struct error *err)
{
    const struct window_rows *rows = call->rows;
    TRY(vector_new(call->arena, call->function->type, rows->count, out, err));
    int32_t dense = 0;
    for (uint32_t p = 0; p < rows->count; p++) {
        uint32_t row = rows->order[p];
        uint32_t begin = rows->partition_begin[p];
        if (p == begin)
            dense = 0;
        if (p == rows->peers_begin[p])
            dense++;
        switch (kind) {
        case RANK_ROW_NUMBER:
            VECTOR_VALUES(int32_t, *out)[row] = (int32_t)(p - begin + 1);
            break;
        case RANK_RANK:
            VECTOR_VALUES(int32_t, *out)[row] = (int32_t)(rows->peers_begin[p] - begin + 1);
            break;
        case RANK_DENSE:
            VECTOR_VALUES(int32_t, *out)[row] = dense;
            break;
        case RANK_PERCENT:
        case RANK_CUME_DIST:
            VECTOR_VALUES(double, *out)[row] = rank_fraction(rows, p, kind);
            break;
        }
    }
    return OK;
}

/* The first `rest` buckets have one row more. */
static enum status run_ntile(const struct window_call *call, struct vector **out, struct error *err)
{
    const struct window_rows *rows = call->rows;
    TRY(vector_new(call->arena, call->function->type, rows->count, out, err));
    for (uint32_t p = 0; p < rows->count; p++) {
        uint32_t buckets = 1;
        uint32_t size = rows->partition_end[p] - rows->partition_begin[p];
        if (call->arg_count > 0)
            buckets = (uint32_t)VECTOR_VALUES(
                int32_t, call->args[0])[vector_index(call->args[0], rows->order[p])];
        if (buckets == 0) /* analysis refuses it */
            return error_set(err, STATUS_INTERNAL_ERROR, "ntile into no buckets");
        uint32_t each = size / buckets;
        uint32_t rest = size % buckets;
        uint32_t at = p - rows->partition_begin[p];
        uint32_t bucket =
            at < rest * (each + 1) ? at / (each + 1) : rest + (at - rest * (each + 1)) / each;
        VECTOR_VALUES(int32_t, *out)[rows->order[p]] = (int32_t)(bucket + 1);
    }
    return OK;
}

/* ---- rows at an offset ---- */

static bool ignores_nulls(const struct window_call *call)
{
    return strchr(call->function->call.function->name, ' ') != NULL;
}

/*
 * out[row] = value[from[row]], the default of the row where from[row] is UINT32_MAX - 1, and NULL
 * where it is UINT32_MAX.
 */
static enum status pick(const struct window_call *call, const struct vector *fallback,
                        uint32_t *from, struct vector **out, struct error *err)
{
    uint32_t count = call->rows->count;
    struct vector *flat = NULL;
    TRY(vector_gather(call->arena, call->args[0], NULL, count, &flat, err));
    if (fallback != NULL) {
        struct vector *both[2] = {flat, NULL};
        TRY(vector_gather(call->arena, fallback, NULL, count, &both[1], err));
        TRY(vector_concat(call->arena, both, 2, &flat, err));
    }
    void *memory = NULL;
    TRY(arena_alloc(call->arena, count, sizeof(bool), &memory, err));
    bool *nulls = memory;
    for (uint32_t row = 0; row < count; row++) {
        if (from[row] == UINT32_MAX - 1 && fallback != NULL)
            from[row] = count + row;
        else if (from[row] >= UINT32_MAX - 1)
            nulls[row] = true;
        if (nulls[row])
            from[row] = 0;
    }
    TRY(vector_gather(call->arena, flat, from, count, out, err));
    if ((*out)->type->id == TYPE_VOID)
        return OK;
    TRY(vector_make_nullable(call->arena, *out, err));
    for (uint32_t row = 0; row < count; row++) {
        if (nulls[row])
            vector_set_null(*out, row);
    }
    return OK;
}

/* The position `offset` rows further in the partition; with IGNORE NULLS only others count. */
static int64_t step(const struct window_call *call, bool ignore, uint32_t position, int64_t offset)
{
    const struct window_rows *rows = call->rows;
    int64_t begin = rows->partition_begin[position];
    int64_t end = rows->partition_end[position];
    int64_t at = position;
    if (!ignore || offset == 0) {
        at += offset;
        return at < begin || at >= end ? -1 : at;
    }
    int64_t direction = offset < 0 ? -1 : 1;
    for (int64_t left = offset < 0 ? -offset : offset; left > 0;) {
        at += direction;
        if (at < begin || at >= end)
            return -1;
        if (!vector_is_null(call->args[0], rows->order[at]))
            left--;
    }
    return at;
}

static enum status run_offset(const struct window_call *call, int direction, struct vector **out,
                              struct error *err)
{
    const struct window_rows *rows = call->rows;
    void *memory = NULL;
    TRY(arena_alloc(call->arena, rows->count, sizeof(uint32_t), &memory, err));
    uint32_t *from = memory;
    bool ignore = ignores_nulls(call);
    for (uint32_t p = 0; p < rows->count; p++) {
        uint32_t row = rows->order[p];
        int64_t offset = 1;
        if (call->arg_count > 1)
            offset = VECTOR_VALUES(int32_t, call->args[1])[vector_index(call->args[1], row)];
        int64_t at = step(call, ignore, p, direction * offset);
        from[row] = at < 0 ? UINT32_MAX - 1 : rows->order[at];
    }
    return pick(call, call->arg_count > 2 ? call->args[2] : NULL, from, out, err);
}

static enum status run_lag(const struct window_call *call, struct vector **out, struct error *err)
{
    return run_offset(call, -1, out, err);
}

static enum status run_lead(const struct window_call *call, struct vector **out, struct error *err)
{
    return run_offset(call, 1, out, err);
}

static enum status run_nth_value(const struct window_call *call, struct vector **out,
                                 struct error *err)
{
    const struct window_rows *rows = call->rows;
    void *memory = NULL;
    TRY(arena_alloc(call->arena, rows->count, sizeof(uint32_t), &memory, err));
    uint32_t *from = memory;
    bool ignore = ignores_nulls(call);
    for (uint32_t p = 0; p < rows->count; p++) {
        uint32_t row = rows->order[p];
        uint32_t begin = 0;
        uint32_t end = 0;
        window_frame_at(call->frame, rows, p, &begin, &end);
        int64_t left = VECTOR_VALUES(int32_t, call->args[1])[vector_index(call->args[1], row)];
        from[row] = UINT32_MAX;
        for (uint32_t at = begin; at < end && left > 0; at++) {
            if (ignore && vector_is_null(call->args[0], rows->order[at]))
                continue;
            if (--left == 0)
                from[row] = rows->order[at];
        }
    }
    return pick(call, NULL, from, out, err);
}

/* ---- aggregates over frames ---- */

struct running {
    const struct window_call *call;
    struct arena *arena; /* of the state; reset when it starts anew */
    uint8_t *state;
    uint32_t begin, end; /* what it has taken in */
};

static enum status running_restart(struct running *running, uint32_t begin, struct error *err)
{
    void *memory = NULL;
    arena_reset(running->arena);
    TRY(arena_alloc(running->arena, 1, aggregate_state_bytes(running->call->function) + 1, &memory,
                    err));
    running->state = memory;
    aggregate_init(running->call->function, running->state);
    running->begin = begin;
    running->end = begin;
    return OK;
}

/* Takes in the rows of at most one batch at positions [at, at + count). */
static enum status running_add(struct running *running, uint32_t at, uint32_t count,
                               struct error *err)
{
    const struct window_call *call = running->call;
    uint32_t stored[BATCH_ROWS_MAX];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = call->rows->order[at + i];
        if (call->filter != NULL &&
            (vector_is_null(call->filter, row) ||
             VECTOR_VALUES(uint8_t, call->filter)[vector_index(call->filter, row)] == 0))
            continue;
        stored[kept++] = row;
    }
    if (kept == 0)
        return OK;
    void *memory = NULL;
    TRY(arena_alloc(running->arena, call->arg_count + 1U, sizeof(struct vector *), &memory, err));
    struct vector **args = memory;
    for (uint32_t a = 0; a < call->arg_count; a++)
        TRY(vector_gather(running->arena, call->args[a], stored, kept, &args[a], err));
    struct aggregate_update update = {
        .ctx = call->ctx,
        .expr = call->function,
        .args = args,
        .arg_count = call->arg_count,
        .rows = kept,
        .selected = kept,
        .state = running->state,
        .arena = running->arena,
    };
    return aggregate_update(&update, err);
}

/* Brings the state to the frame [begin, end): by adding rows if it only grew, otherwise anew. */
static enum status running_move(struct running *running, uint32_t begin, uint32_t end,
                                struct error *err)
{
    if (end < begin)
        end = begin;
    if (running->state == NULL || begin != running->begin || end < running->end)
        TRY(running_restart(running, begin, err));
    while (running->end < end) {
        uint32_t left = end - running->end;
        uint32_t count = left < BATCH_ROWS_MAX ? left : BATCH_ROWS_MAX;
        TRY(running_add(running, running->end, count, err));
        running->end += count;
    }
    return OK;
}

static enum status running_value(const struct running *running, struct vector **out,
                                 struct error *err)
{
    const struct window_call *call = running->call;
    uint8_t *const states[] = {running->state};
    struct aggregate_update finish = {
        .ctx = call->ctx, .expr = call->function, .arena = call->arena};
    struct vector *one = NULL;
    TRY(vector_new(call->arena, call->function->type, 1, &one, err));
    TRY(call->function->aggregate.aggregate->ops->finish(&finish, states, 1, one, err));
    /* What a value points to may lie with the state, which does not last. */
    return vector_clone(call->arena, one, out, err);
}

static enum status run_frames(const struct window_call *call, struct running *running,
                              struct vector **out, struct error *err)
{
    const struct window_rows *rows = call->rows;
    void *memory = NULL;
    TRY(arena_alloc(call->arena, rows->count + 1U, sizeof(struct vector *), &memory, err));
    struct vector **values = memory;
    TRY(arena_alloc(call->arena, rows->count + 1U, sizeof(uint32_t), &memory, err));
    uint32_t *from = memory;
    uint32_t value_count = 0;
    uint32_t last_begin = UINT32_MAX;
    uint32_t last_end = UINT32_MAX;
    for (uint32_t p = 0; p < rows->count; p++) {
        uint32_t begin = 0;
        uint32_t end = 0;
        window_frame_at(call->frame, rows, p, &begin, &end);
        if (begin != last_begin || end != last_end) {
            TRY(running_move(running, begin, end, err));
            TRY(running_value(running, &values[value_count], err));
            value_count++;
            last_begin = begin;
            last_end = end;
        }
        from[rows->order[p]] = value_count - 1;
    }
    struct vector *all = NULL;
    TRY(vector_concat(call->arena, values, value_count, &all, err));
    return vector_gather(call->arena, all, from, rows->count, out, err);
}

static enum status run_aggregate(const struct window_call *call, struct vector **out,
                                 struct error *err)
{
    struct running running = {.call = call, .arena = arena_new("window frame", 0)};
    enum status status = run_frames(call, &running, out, err);
    arena_free(running.arena);
    return status;
}

/* ---- the table ---- */

static enum status run_row_number(const struct window_call *call, struct vector **out,
                                  struct error *err)
{
    return run_rank(call, RANK_ROW_NUMBER, out, err);
}

static enum status run_rank_plain(const struct window_call *call, struct vector **out,
                                  struct error *err)
{
    return run_rank(call, RANK_RANK, out, err);
}

static enum status run_dense_rank(const struct window_call *call, struct vector **out,
                                  struct error *err)
{
    return run_rank(call, RANK_DENSE, out, err);
}

static enum status run_percent_rank(const struct window_call *call, struct vector **out,
                                    struct error *err)
{
    return run_rank(call, RANK_PERCENT, out, err);
}

static enum status run_cume_dist(const struct window_call *call, struct vector **out,
                                 struct error *err)
{
    return run_rank(call, RANK_CUME_DIST, out, err);
}

static const struct {
    const char *name;
    enum status (*run)(const struct window_call *call, struct vector **out, struct error *err);
} functions[] = {
    {"row_number", run_row_number},
    {"rank", run_rank_plain},
    {"dense_rank", run_dense_rank},
    {"percent_rank", run_percent_rank},
    {"cume_dist", run_cume_dist},
    {"ntile", run_ntile},
    {"lag", run_lag},
    {"lead", run_lead},
    {"nth_value", run_nth_value},
    {"lag ignore nulls", run_lag},
    {"lead ignore nulls", run_lead},
    {"nth_value ignore nulls", run_nth_value},
};

enum status window_function_run(const struct window_call *call, struct vector **out,
                                struct error *err)
{
    if (call->function->kind == EXPR_AGGREGATE)
        return run_aggregate(call, out, err);
    CHECK(call->function->kind == EXPR_CALL);
    const char *name = call->function->call.function->name;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].run(call, out, err);
    }
    return error_raise(err, STATUS_NOT_SUPPORTED, "feature", name, NULL);
}
