/*
 * Constants that cannot be computed, such as CAST('abc' AS INT).  Spark starts such a query, and so
 * do we: it fails with the first row that comes to the constant, which may never happen.  So it is
 * said, and not refused.
 *
 * So are calls that fail by their constants whatever the other arguments are, such as id / 0 and
 * split(k, '('): they are computed with samples for those.  And so are those that are NULL whatever
 * the other arguments are: date_trunc('minut', at).
 */
#include "analyze/check_warnings.h"
#include "expr/function.h"
#include "expr/program.h"

#include <string.h>

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

static void report(struct search *search, const struct expr *expr, const struct error *err,
                   bool constant)
{
    bool placed = expr->position >= 0;
    const char *text =
        arena_sprintf(search->arena,
                      "This %s cannot be computed: [%s] %s. Every row that comes to it%s fails the "
                      "query",
                      constant ? "constant" : "call", status_name(err->status), err->text,
                      constant ? "" : " with values");
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

/* ---- calls that fail by a constant argument ---- */

static bool may_fail_by_constant(const char *name)
{
    static const char *const names[] = {
        "/",
        "%",
        "div",
        "mod",
        "pmod",
        "like",
        "likeany",
        "likeall",
        "rlike",
        "regexp",
        "regexp_like",
        "regexp_extract",
        "regexp_extract_all",
        "regexp_substr",
        "regexp_count",
        "regexp_instr",
        "regexp_replace",
        "split",
        "split_part",
        "element_at",
        "encode",
        "decode",
        "from_utc_timestamp",
        "to_utc_timestamp",
        "convert_timezone",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* What no value of the other arguments changes. */
static bool is_about_a_constant(enum status status)
{
    switch ((int)status) {
    case STATUS_DIVIDE_BY_ZERO:
    case STATUS_REMAINDER_BY_ZERO:
    case STATUS_INTERVAL_DIVIDED_BY_ZERO:
    case STATUS_INVALID_INDEX_OF_ZERO:
    case STATUS_INVALID_FORMAT__ESC_AT_THE_END:
    case STATUS_INVALID_FORMAT__ESC_IN_THE_MIDDLE:
    case STATUS_INVALID_PARAMETER_VALUE__CHARSET:
    case STATUS_INVALID_PARAMETER_VALUE__PATTERN:
    case STATUS_INVALID_TIMEZONE:
        return true;
    default:
        return false;
    }
}

/* A value that is right in the place of a divisor, an index, a pattern; NULL: of no such type. */
static struct expr *sample(struct search *search, const struct expr *arg, const char *text)
{
    const struct type *type = arg->type;
    struct error ignored = ERROR_INIT;
    struct vector *value = NULL;
    if (type->id == TYPE_STRING)
        return expr_literal_string(search->arena, bytes_of_text(text));
    if (type_is_numeric(type))
        return expr_cast(search->arena, expr_literal_int(search->arena, 1), type, CAST_ANSI,
                         search->analysis->time_zone);
    if ((type->id != TYPE_BINARY && type->id != TYPE_ARRAY && type->id != TYPE_MAP &&
         type->id != TYPE_TIMESTAMP && type->id != TYPE_TIMESTAMP_NTZ) ||
        vector_new(search->arena, type, 1, &value, &ignored) != OK)
        return NULL;
    value->constant = true;
    memset(value->values, 0, type_value_bytes(type));
    if (type->id == TYPE_BINARY)
        VECTOR_VALUES(struct bytes, value)[0] = bytes_of_text("");
    return expr_literal(search->arena, value);
}

/* Whether the call fails with samples; a charset and a time zone have no text in common. */
static bool fails_by_constants(struct search *search, const struct expr *expr, struct error *err)
{
    static const char *const texts[] = {"UTF-8", "UTC"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct expr *call = expr_copy(search->arena, expr);
        struct vector *ignored = NULL;
        bool has_constant = false;
        for (uint32_t j = 0; j < call->arg_count; j++) {
            bool constant = expr_is_foldable(call->args[j]);
            has_constant = has_constant || constant;
            if (!constant)
                call->args[j] = sample(search, call->args[j], texts[i]);
            if (call->args[j] == NULL)
                return false;
        }
        error_clear(err);
        if (!has_constant || !expr_is_foldable(call) ||
            expr_constant(search->arena, call, search->analysis->time_zone, &ignored, err) == OK ||
            !is_about_a_constant(err->status))
            return false;
    }
    return true;
}

/* ---- calls that are NULL by a constant argument ---- */

/* trunc(at, 'minut') and date_trunc('minut', at): the unit is none, which is no error in Spark. */
static bool is_null_by_its_unit(struct search *search, const struct expr *expr)
{
    struct error ignored = ERROR_INIT;
    struct vector *value = NULL;
    const char *name = expr->kind == EXPR_CALL ? expr->call.function->name : "";
    bool unit_first = strcmp(name, "date_trunc") == 0;
    if ((!unit_first && strcmp(name, "trunc") != 0) || expr->arg_count != 2)
        return false;
    struct expr *call = expr_copy(search->arena, expr);
    uint32_t unit = unit_first ? 0 : 1;
    const struct type *type = call->args[1 - unit]->type;
    if (!expr_is_foldable(call->args[unit]) ||
        vector_new(search->arena, type, 1, &value, &ignored) != OK)
        return false;
    value->constant = true;
    memset(value->values, 0, type_value_bytes(type));
    call->args[1 - unit] = expr_literal(search->arena, value);
    return expr_constant(search->arena, call, search->analysis->time_zone, &value, &ignored) ==
               OK &&
           vector_is_null(value, 0);
}

static void report_null(struct search *search, const struct expr *expr)
{
    bool placed = expr->position >= 0;
    analysis_warn(
        search->arena, search->analysis,
        (struct analysis_warning){
            .name = "ALWAYS_NULL",
            .text = arena_sprintf(search->arena,
                                  "%s() is NULL in every row: its unit is none. Units are "
                                  "YEAR, QUARTER, MONTH, WEEK%s",
                                  expr->call.function->name,
                                  strcmp(expr->call.function->name, "trunc") == 0
                                      ? ""
                                      : ", DAY, HOUR, MINUTE, SECOND, MILLISECOND and "
                                        "MICROSECOND"),
            .position = placed ? expr->position : search->node->position,
            .position_end = placed ? expr->position_end : search->node->position_end,
            .view = search->node->view,
        });
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
        report(search, expr, &err, true);
    else if (!constant && search->found == before && expr->kind == EXPR_CALL &&
             may_fail_by_constant(expr->call.function->name) &&
             fails_by_constants(search, expr, &err))
        report(search, expr, &err, false);
    else if (is_null_by_its_unit(search, expr))
        report_null(search, expr);
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
