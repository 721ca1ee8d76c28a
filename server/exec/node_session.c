/*
 * Session: gives every row its session window, in a column behind the others.
 *
 * Over a stream that is the row's own session, [time, time + gap): the aggregation above merges
 * them (node_session_aggregate.c).  In a bounded run all rows are kept, sorted by key and time, and
 * each comes out with the session that it ended up in.
 *
 * A row without a time, or whose gap is not positive, is in no session and goes.
 */
#include "base/check.h"
#include "base/heap.h"
#include "columnar/civil.h"
#include "columnar/timezone.h"
#include "exec/node.h"
#include "exec/row_store.h"
#include "expr/program.h"

#include <stdlib.h>

#define SESSION_MAGIC 0x5e551001U

struct session_node {
    uint32_t magic;
    uint32_t width; /* columns of the child */
    uint32_t key_count;
    const struct type *time_type;       /* of start and end */
    const struct expr_program *program; /* time, gap, keys */
    struct expr_state *state;
    struct row_store store; /* bounded: child's columns, start, end, keys */
};

static enum status session_open(struct exec_node *self, struct arena *query,
                                const struct plan_node *node, struct error *err)
{
    CHECK(node->kind == PLAN_SESSION);
    struct session_node *session = arena_new_object(query, sizeof *session);
    self->state = session;
    session->magic = SESSION_MAGIC;
    session->width = node->children[0]->schema->field_count;
    session->key_count = node->session.key_count;
    CHECK(node->schema->field_count == session->width + 1);
    session->time_type = node->schema->fields[session->width].type->fields[0].type;
    struct expr **exprs = arena_new_object(query, (session->key_count + 2) * sizeof *exprs);
    exprs[0] = node->session.event_time;
    exprs[1] = node->session.gap;
    for (uint32_t i = 0; i < session->key_count; i++)
        exprs[2 + i] = node->session.keys[i];
    row_store_init(&session->store, session->width + 2 + session->key_count);
    TRY(expr_compile(query, exprs, session->key_count + 2, &session->program, err));
    return expr_state_new(query, session->program, &session->state, err);
}

static enum status session_begin(struct exec_node *self, struct exec_context *ctx,
                                 struct error *err)
{
    (void)ctx;
    (void)err;
    struct session_node *session = self->state;
    row_store_clear(&session->store);
    return OK;
}

/* Months and days of a gap are those of the calendar in the session's time zone. */
static bool add_calendar(const struct zone *zone, int64_t time_us,
                         const struct calendar_interval *gap, int64_t *out)
{
    int64_t day_us = 86400000000;
    int64_t local_us = zone == NULL ? time_us : timezone_to_local(zone, time_us);
    int64_t of_day_us = local_us % day_us;
    if (of_day_us < 0)
        of_day_us += day_us;
    int64_t days = civil_add_months((local_us - of_day_us) / day_us, gap->months) + gap->days;
    if (__builtin_mul_overflow(days, day_us, &local_us) ||
        __builtin_add_overflow(local_us, of_day_us, &local_us))
        return false;
    int64_t moved_us = zone == NULL ? local_us : timezone_to_utc(zone, local_us);
    return !__builtin_add_overflow(moved_us, gap->micros, out);
}

/* Where the session of a row ends; false if its gap is not positive. */
static bool session_end(const struct vector *gap, uint32_t row, const struct zone *zone,
                        int64_t start_us, int64_t *end_us)
{
    if (vector_is_null(gap, row))
        return false;
    uint32_t at = vector_index(gap, row);
    bool fits = false;
    if (gap->type->id == TYPE_INTERVAL_DT) {
        fits = !__builtin_add_overflow(start_us, VECTOR_VALUES(const int64_t, gap)[at], end_us);
    } else if (gap->type->id == TYPE_INTERVAL_YM) {
        struct calendar_interval months = {.months = VECTOR_VALUES(const int32_t, gap)[at]};
        fits = add_calendar(zone, start_us, &months, end_us);
    } else if (gap->type->id == TYPE_INTERVAL) {
        const struct calendar_interval *span =
            &VECTOR_VALUES(const struct calendar_interval, gap)[at];
        fits = span->months == 0 && span->days == 0
                   ? !__builtin_add_overflow(start_us, span->micros, end_us)
                   : add_calendar(zone, start_us, span, end_us);
    }
    return fits && *end_us > start_us;
}

/* The rows that are in a session, and where theirs begin and end (by row). */
static enum status own_sessions(struct session_node *session, struct exec_context *ctx,
                                const struct batch *batch, struct vector **inputs,
                                struct batch *out, struct vector *bounds[2], struct error *err)
{
    TRY(expr_eval(session->program, session->state, &ctx->eval, batch, inputs, err));
    for (int i = 0; i < 2; i++)
        TRY(vector_new(ctx->batch_arena, session->time_type, batch->rows, &bounds[i], err));
    const struct zone *zone = session->time_type->id == TYPE_TIMESTAMP_NTZ ? NULL : ctx->eval.zone;
    int64_t *starts = VECTOR_VALUES(int64_t, bounds[0]);
    int64_t *ends = VECTOR_VALUES(int64_t, bounds[1]);
    memset(starts, 0, batch->rows * sizeof *starts);
    memset(ends, 0, batch->rows * sizeof *ends);
    uint16_t *rows = arena_new_object(ctx->batch_arena, (batch->selected + 1) * sizeof *rows);
    *out = *batch;
    out->selection = rows;
    out->selected = 0;
    const int64_t *times = VECTOR_VALUES(const int64_t, inputs[0]);
    for (uint32_t i = 0; i < batch->selected; i++) {
        uint32_t row = batch_row(batch, i);
        if (vector_is_null(inputs[0], row))
            continue;
        starts[row] = times[vector_index(inputs[0], row)];
        if (!session_end(inputs[1], row, zone, starts[row], &ends[row]))
            continue;
        rows[out->selected++] = (uint16_t)row;
    }
    return OK;
}

static enum status emit_sessions(struct exec_node *self, struct exec_context *ctx,
                                 struct vector *const *columns, struct vector *const bounds[2],
                                 const struct batch *shape, struct error *err)
{
    struct session_node *session = self->state;
    struct batch out = *shape;
    out.schema = self->plan->schema;
    out.columns =
        arena_new_object(ctx->batch_arena, (session->width + 1) * sizeof(struct vector *));
    for (uint32_t c = 0; c < session->width; c++)
        out.columns[c] = columns[c];
    struct vector *window = NULL;
    TRY(vector_new(ctx->batch_arena, out.schema->fields[session->width].type, shape->rows, &window,
                   err));
    window->children[0] = bounds[0];
    window->children[1] = bounds[1];
    out.columns[session->width] = window;
    return exec_emit(self, ctx, &out, err);
}

static enum status session_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                                const struct batch *batch, struct error *err)
{
    struct session_node *session = self->state;
    CHECK_MAGIC(session, SESSION_MAGIC);
    CHECK(input == 0);
    struct batch rows;
    struct vector *bounds[2];
    struct vector **inputs =
        arena_new_object(ctx->batch_arena, (session->key_count + 2) * sizeof *inputs);
    TRY(own_sessions(session, ctx, batch, inputs, &rows, bounds, err));
    if (rows.selected == 0)
        return OK;
    if (self->plan->streaming)
        return emit_sessions(self, ctx, batch->columns, bounds, &rows, err);
    struct vector **all =
        arena_new_object(ctx->batch_arena, (session->width + 2 + session->key_count) * sizeof *all);
    for (uint32_t c = 0; c < session->width; c++)
        all[c] = batch->columns[c];
    all[session->width] = bounds[0];
    all[session->width + 1] = bounds[1];
    for (uint32_t k = 0; k < session->key_count; k++)
        all[session->width + 2 + k] = inputs[2 + k];
    return row_store_add(&session->store, all, rows.rows, rows.selection, rows.selected, err);
}

static int compare_keys(const struct session_node *session, uint32_t a, uint32_t b)
{
    for (uint32_t k = 0; k < session->key_count; k++) {
        const struct vector *key = session->store.columns[session->width + 2 + k];
        bool null_a = vector_is_null(key, a);
        bool null_b = vector_is_null(key, b);
        if (null_a != null_b)
            return null_a ? -1 : 1;
        int order = null_a ? 0 : vector_compare(key, a, key, b);
        if (order != 0)
            return order;
    }
    return 0;
}

static int compare_rows(const void *a, const void *b, void *arg)
{
    const struct session_node *session = arg;
    uint32_t row_a = *(const uint32_t *)a;
    uint32_t row_b = *(const uint32_t *)b;
    int order = compare_keys(session, row_a, row_b);
    if (order != 0)
        return order;
    const int64_t *starts = VECTOR_VALUES(const int64_t, session->store.columns[session->width]);
    if (starts[row_a] != starts[row_b])
        return starts[row_a] < starts[row_b] ? -1 : 1;
    return (row_a > row_b) - (row_a < row_b);
}

/* Sets start and end of the sorted rows to those of the sessions they merge into. */
static void merge_sessions(struct session_node *session, const uint32_t *rows, uint32_t count)
{
    int64_t *starts = VECTOR_VALUES(int64_t, session->store.columns[session->width]);
    int64_t *ends = VECTOR_VALUES(int64_t, session->store.columns[session->width + 1]);
    for (uint32_t first = 0, next = 0; first < count; first = next) {
        int64_t end_us = ends[rows[first]];
        for (next = first + 1; next < count && starts[rows[next]] <= end_us &&
                               compare_keys(session, rows[first], rows[next]) == 0;
             next++)
            if (ends[rows[next]] > end_us)
                end_us = ends[rows[next]];
        int64_t start_us = starts[rows[first]];
        for (uint32_t i = first; i < next; i++) {
            starts[rows[i]] = start_us;
            ends[rows[i]] = end_us;
        }
    }
}

static enum status session_finish(struct exec_node *self, struct exec_context *ctx,
                                  struct error *err)
{
    struct session_node *session = self->state;
    CHECK_MAGIC(session, SESSION_MAGIC);
    uint32_t count = session->store.rows;
    if (self->plan->streaming || count == 0)
        return OK;
    TRY(row_store_seal(&session->store, err));
    uint32_t *rows = heap_malloc(count * sizeof *rows);
    enum status status = OK;
    for (uint32_t i = 0; i < count; i++)
        rows[i] = i;
    qsort_r(rows, count, sizeof *rows, compare_rows, session);
    merge_sessions(session, rows, count);
    for (uint32_t first = 0; first < count && !ctx->enough; first += BATCH_ROWS_MAX) {
        uint32_t size = count - first < BATCH_ROWS_MAX ? count - first : BATCH_ROWS_MAX;
        struct batch shape = {.rows = size, .selected = size};
        arena_reset(ctx->batch_arena);
        struct vector **columns =
            arena_new_object(ctx->batch_arena, (session->store.column_count + 1) * sizeof *columns);
        TRY_OUT(
            row_store_gather(&session->store, ctx->batch_arena, rows + first, size, columns, err));
        TRY_OUT(emit_sessions(self, ctx, columns, columns + session->width, &shape, err));
    }
out:
    free(rows);
    return status;
}

static void session_close(struct exec_node *self)
{
    struct session_node *session = self->state;
    if (session != NULL)
        row_store_fini(&session->store);
}

const struct exec_node_ops node_session = {
    .name = "Session",
    .open = session_open,
    .begin = session_begin,
    .push = session_push,
    .finish = session_finish,
    .close = session_close,
};
