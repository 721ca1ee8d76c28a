/*
 * Scan: the leaf where the rows of a source enter.  It counts them, then lets those pass that
 * fulfil the predicates pushed down to it.
 */
#include "exec/node_scan.h"

#include "base/check.h"
#include "expr/program.h"

#define SCAN_MAGIC 0x5ca40001U

struct scan {
    uint32_t magic;
    uint32_t predicate_count;
    const struct expr_filter **predicates;
    struct expr_state **states;
    uint64_t rows;
};

static enum status scan_open(struct exec_node *self, struct arena *query,
                             const struct plan_node *node, struct error *err)
{
    CHECK(node->kind == PLAN_SCAN);
    uint32_t count = node->scan.predicate_count;
    struct scan *scan = arena_new_object(query, sizeof *scan);
    scan->magic = SCAN_MAGIC;
    scan->predicate_count = count;
    scan->predicates = arena_new_object(query, (count + 1) * sizeof *scan->predicates);
    scan->states = arena_new_object(query, (count + 1) * sizeof *scan->states);
    self->state = scan;
    for (uint32_t i = 0; i < count; i++) {
        TRY(expr_filter_compile(query, node->scan.predicates[i], &scan->predicates[i], err));
        TRY(expr_filter_state_new(query, scan->predicates[i], &scan->states[i], err));
    }
    return OK;
}

static enum status scan_begin(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    (void)ctx;
    (void)err;
    struct scan *scan = self->state;
    scan->rows = 0;
    return OK;
}

static enum status scan_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                             const struct batch *batch, struct error *err)
{
    struct scan *scan = self->state;
    CHECK_MAGIC(scan, SCAN_MAGIC);
    CHECK(input == 0);
    struct batch out = *batch;
    out.schema = self->plan->schema;
    scan->rows += batch->selected;
    for (uint32_t i = 0; i < scan->predicate_count && out.selected > 0; i++)
        TRY(expr_filter_run(scan->predicates[i], scan->states[i], &ctx->eval, &out, err));
    return exec_emit(self, ctx, &out, err);
}

uint64_t node_scan_rows(const struct exec_node *self)
{
    const struct scan *scan = self->state;
    CHECK_MAGIC(scan, SCAN_MAGIC);
    return scan->rows;
}

const struct exec_node_ops node_scan = {
    .name = "Scan",
    .open = scan_open,
    .begin = scan_begin,
    .push = scan_push,
};
