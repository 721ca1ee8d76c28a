/*
 * Constants that cannot be computed, such as CAST('abc' AS INT).  Spark starts such a query, and so
 * do we: it fails with the first row that comes to the constant, which may never happen.  So it is
 * said, and not refused.
 */
#include "analyze/check_warnings.h"
#include "expr/program.h"

struct search {
    struct arena *arena;
    struct analysis *analysis;
    const struct logical_node *node;
    uint32_t found;
};

static bool is_about_the_value(const struct error *err)
{
    return status_domain(err->status) == DOMAIN_USER && err->status != STATUS_LIMIT_EXCEEDED &&
           err->status != STATUS_USER_RAISED_EXCEPTION;
}

static void report(struct search *search, const struct expr *expr, const struct error *err)
{
    bool placed = expr->position >= 0;
    const char *text = arena_sprintf(
        search->arena,
        "This constant cannot be computed: [%s] %s. Every row that comes to it fails the query",
        status_name(err->status), err->text);
    analysis_warn(search->arena, search->analysis,
                  (struct analysis_warning){
                      .name = "CONSTANT_FAILS",
                      .text = text,
                      .position = placed ? expr->position : search->node->position,
                      .position_end = placed ? expr->position_end : search->node->position_end,
                      .view = search->node->view,
                  });
    search->found++;
}

/* The innermost ones that fail. */
static void look(struct search *search, const struct expr *expr)
{
    struct error err = ERROR_INIT;
    struct vector *ignored = NULL;
    uint32_t before = search->found;
    bool constant = (expr->kind == EXPR_CAST || expr->kind == EXPR_CALL) && expr_is_foldable(expr);
    if (expr->kind == EXPR_LITERAL || expr->kind == EXPR_LAMBDA)
        return;
    if (constant &&
        expr_constant(search->arena, expr, search->analysis->time_zone, &ignored, &err) == OK)
        return;
    for (uint32_t i = 0; i < expr->arg_count; i++)
        look(search, expr->args[i]);
    if (expr->kind == EXPR_AGGREGATE && expr->aggregate.filter != NULL)
        look(search, expr->aggregate.filter);
    if (constant && search->found == before && is_about_the_value(&err))
        report(search, expr, &err);
}

static enum status look_at_slot(struct expr **slot, void *arg, struct error *err)
{
    (void)err;
    look(arg, *slot);
    return OK;
}

static bool is_longer_than_zero(const struct vector *gap)
{
    const struct calendar_interval *value = &VECTOR_VALUES(struct calendar_interval, gap)[0];
    return value->months > 0 || value->days > 0 || value->micros > 0;
}

/* Without a gap a row is in no session, and is left out. */
static void look_at_gap(const struct search *search)
{
    struct error err = ERROR_INIT;
    struct vector *gap = NULL;
    const struct logical_node *node = search->node;
    if (!expr_is_foldable(node->session.gap) ||
        expr_constant(search->arena, node->session.gap, search->analysis->time_zone, &gap, &err) !=
            OK)
        return;
    bool null = vector_is_null(gap, 0);
    if (!null && (gap->type->id != TYPE_INTERVAL || is_longer_than_zero(gap)))
        return;
    const struct expr *place = node->session.gap;
    while (place->position < 0 && place->arg_count == 1)
        place = place->args[0];
    analysis_warn(
        search->arena, search->analysis,
        (struct analysis_warning){
            .name = "NO_SESSIONS",
            .text = null ? "The gap of session_window() is no interval: every row is left out. "
                           "Write a number and a unit, such as '5 minutes'"
                         : "The gap of session_window() is not longer than zero: every row is left "
                           "out",
            .position = place->position < 0 ? node->position : place->position,
            .position_end = place->position < 0 ? node->position_end : place->position_end,
            .view = node->view,
        });
}

void check_constants(struct arena *arena, struct analysis *analysis,
                     const struct logical_node *node)
{
    struct search search = {.arena = arena, .analysis = analysis, .node = node};
    struct logical_node copy = *node;
    struct error ignored = ERROR_INIT;
    (void)!logical_each_expr(&copy, look_at_slot, &search, &ignored);
    if (node->kind == LOGICAL_SESSION)
        look_at_gap(&search);
    for (uint32_t i = 0; i < node->child_count; i++)
        check_constants(arena, analysis, node->children[i]);
}
