/*
 * Expressions as text: Spark's "pretty SQL", which names columns and quotes expressions in
 * messages.
 */
#include "base/check.h"
#include "columnar/decimal.h"
#include "columnar/value_text.h"
#include "expr/aggregate.h"
#include "expr/function.h"
#include "expr/resolvers.h"

#include <strings.h>

static void print(struct buffer *out, const struct expr *expr);

/* ---- literals ---- */

static void print_literal(struct buffer *out, const struct expr *expr)
{
    const struct vector *value = expr->literal.value;
    if (expr->literal.text != NULL) {
        buffer_add_text(out, expr->literal.text);
        return;
    }
    if (vector_is_null(value, 0)) {
        buffer_add_text(out, "NULL");
        return;
    }
    switch (expr->type->id) {
    case TYPE_DECIMAL: {
        char text[DECIMAL_TEXT_MAX];
        struct decimal decimal = {*VECTOR_VALUES(int128, value), expr->type->scale};
        buffer_add(out, text, decimal_print_java(text, decimal));
        return;
    }
    case TYPE_BINARY:
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_TIME:
        value_text_print_literal(out, value, 0, timezone_utc());
        return;
    default:
        value_text_print(out, value, 0, timezone_utc());
        return;
    }
}

/* ---- calls ---- */

static bool has_template(const char *print)
{
    return print != NULL && strchr(print, '%') != NULL;
}

static const char *print_name_of(const char *name, const char *main, const char *aliases,
                                 const char *word)
{
    bool is_main = strcasecmp(name, main) == 0;
    if (!is_main && !function_alias_prints_main(aliases, name))
        return name;
    return word == NULL || has_template(word) ? main : word;
}

const char *function_print_name(const struct expr *call)
{
    if (call->kind == EXPR_AGGREGATE) {
        const struct aggregate *aggregate = call->aggregate.aggregate;
        return print_name_of(call->aggregate.name, aggregate->name, aggregate->aliases,
                             aggregate->print);
    }
    if (call->kind == EXPR_GENERATOR)
        return call->generator.name;
    const struct function *function = call->call.function;
    return print_name_of(call->call.name, function->name, function->aliases, function->print);
}

static uint32_t shown_count(const struct expr *expr)
{
    bool hidden = expr->kind == EXPR_CALL &&
                  (expr->call.function->flags & FUNCTION_REPLACED) != 0 && expr->arg_count > 0 &&
                  expr->type != NULL;
    return expr->arg_count - hidden;
}

static void print_list(struct buffer *out, const struct expr *expr, uint32_t first)
{
    for (uint32_t i = first; i < shown_count(expr); i++) {
        if (i > first)
            buffer_add_text(out, ", ");
        print(out, expr->args[i]);
    }
}

static void print_template(struct buffer *out, const char *text, const struct expr *expr)
{
    for (; *text != '\0'; text++) {
        if (*text != '%') {
            buffer_add_byte(out, (uint8_t)*text);
            continue;
        }
        text++;
        if (*text == '*') {
            print_list(out, expr, 0);
        } else if (*text >= '0' && *text <= '9') {
            uint32_t index = (uint32_t)(*text - '0');
            if (text[1] == '*') {
                text++;
                print_list(out, expr, index);
            } else if (index < expr->arg_count) {
                print(out, expr->args[index]);
            }
        } else {
            buffer_add_byte(out, (uint8_t)*text);
        }
    }
}

static void print_case(struct buffer *out, const struct expr *expr)
{
    buffer_add_text(out, "CASE");
    uint32_t i = 0;
    for (; i + 1 < expr->arg_count; i += 2) {
        buffer_add_text(out, " WHEN ");
        print(out, expr->args[i]);
        buffer_add_text(out, " THEN ");
        print(out, expr->args[i + 1]);
    }
    if (i < expr->arg_count) {
        buffer_add_text(out, " ELSE ");
        print(out, expr->args[i]);
    }
    buffer_add_text(out, " END");
}

/* struct(1, b AS c): names are shown where the user gave them; args alternate name, value. */
static void print_struct(struct buffer *out, const struct expr *expr)
{
    buffer_add_text(out, "struct(");
    for (uint32_t i = 0; i + 1 < expr->arg_count; i += 2) {
        if (i > 0)
            buffer_add_text(out, ", ");
        print(out, expr->args[i + 1]);
        if (expr->args[i]->literal.text == NULL)
            continue;
        buffer_add_text(out, " AS ");
        buffer_add_text(out, expr->args[i]->literal.text);
    }
    buffer_add_byte(out, ')');
}

static void print_text_literal(struct buffer *out, const struct expr *expr)
{
    if (expr->kind == EXPR_LITERAL && expr->type->id == TYPE_STRING &&
        !vector_is_null(expr->literal.value, 0))
        buffer_add_bytes(out, *VECTOR_VALUES(struct bytes, expr->literal.value));
    else
        print(out, expr);
}

/* What array_sort compares with when nothing is given. */
#define VARIABLE "namedlambdavariable()"
#define DEFAULT_COMPARATOR                                                                         \
    ", lambdafunction((IF(((" VARIABLE " IS NULL) AND (" VARIABLE " IS NULL)), 0, (IF((" VARIABLE  \
    " IS NULL), 1, (IF((" VARIABLE " IS NULL), -1, (IF((" VARIABLE " < " VARIABLE                  \
    "), -1, (IF((" VARIABLE " > " VARIABLE "), 1, 0)))))))))), " VARIABLE ", " VARIABLE "))"

static bool is_zip(const struct expr *expr)
{
    return expr->kind == EXPR_CALL && strcmp(expr->call.function->name, "arrays_zip") == 0 &&
           expr->type != NULL && expr->type->id == TYPE_ARRAY;
}

/* arrays_zip(a, b) under a field access shows the names of its fields as well. */
static void print_zip(struct buffer *out, const struct expr *expr)
{
    const struct type *fields = expr->type->element;
    buffer_add_text(out, "arrays_zip(");
    print_list(out, expr, 0);
    for (uint32_t i = 0; i < fields->field_count; i++)
        buffer_printf(out, ", %s", fields->fields[i].name);
    buffer_add_byte(out, ')');
}

static void print_call(struct buffer *out, const struct expr *expr)
{
    const struct function *function = expr->call.function;
    if (strcmp(function->name, "case") == 0) {
        print_case(out, expr);
        return;
    }
    if (strcmp(function->name, "struct") == 0) {
        print_struct(out, expr);
        return;
    }
    if (strcmp(function->name, "array_sort") == 0 && expr->arg_count == 1) {
        buffer_add_text(out, "array_sort(");
        print(out, expr->args[0]);
        buffer_add_text(out, DEFAULT_COMPARATOR);
        return;
    }
    if (strcmp(function->name, ".") == 0 && is_zip(expr->args[0])) {
        print_zip(out, expr->args[0]);
        buffer_add_byte(out, '.');
        print_text_literal(out, expr->args[1]);
        return;
    }
    if (strcmp(function->name, ".") == 0) {
        print(out, expr->args[0]);
        buffer_add_byte(out, '.');
        print_text_literal(out, expr->args[1]);
        return;
    }
    if (strcmp(function->name, "like") == 0 && expr->arg_count == 3) {
        print_template(out, "%0 LIKE %1 ESCAPE '%2'", expr);
        return;
    }
    bool as_main = strcasecmp(expr->call.name, function->name) == 0 ||
                   function_alias_prints_main(function->aliases, expr->call.name);
    if (as_main && has_template(function->print)) {
        print_template(out, function->print, expr);
        return;
    }
    buffer_add_text(out, function_print_name(expr));
    buffer_add_byte(out, '(');
    print_list(out, expr, 0);
    buffer_add_byte(out, ')');
}

/* ---- aggregates, windows ---- */

static void print_order(struct buffer *out, const struct sort_key *order, uint32_t count,
                        bool nulls)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            buffer_add_text(out, ", ");
        print(out, order[i].expr);
        if (nulls)
            buffer_printf(out, " %s NULLS %s", order[i].descending ? "DESC" : "ASC",
                          order[i].nulls_first ? "FIRST" : "LAST");
        else if (order[i].descending)
            buffer_add_text(out, " DESC");
    }
}

static void print_aggregate(struct buffer *out, const struct expr *expr)
{
    const struct aggregate *aggregate = expr->aggregate.aggregate;
    if (has_template(aggregate->print)) {
        print_template(out, aggregate->print, expr);
    } else {
        buffer_add_text(out, function_print_name(expr));
        buffer_add_byte(out, '(');
        if (expr->aggregate.distinct)
            buffer_add_text(out, "DISTINCT ");
        print_list(out, expr, 0);
        buffer_add_byte(out, ')');
    }
    if (expr->aggregate.order_count > 0) {
        buffer_add_text(out, " WITHIN GROUP (ORDER BY ");
        print_order(out, expr->aggregate.order, expr->aggregate.order_count,
                    (aggregate->flags & AGGREGATE_NEEDS_ORDER) == 0 &&
                        strcmp(aggregate->name, "mode") != 0);
        buffer_add_byte(out, ')');
    }
    if (expr->aggregate.filter != NULL) {
        buffer_add_text(out, " FILTER (WHERE ");
        print(out, expr->aggregate.filter);
        buffer_add_byte(out, ')');
    }
}

/* As messages show a call with WITHIN GROUP: "percentile_cont(a, 0.5)", "listagg(b, NULL, b ASC
 * NULLS FIRST)". */
const char *aggregate_children_sql(struct arena *arena, const struct expr *call)
{
    CHECK(call->kind == EXPR_AGGREGATE);
    const struct sort_key *order = call->aggregate.order;
    bool first = (call->aggregate.aggregate->flags & AGGREGATE_NEEDS_ORDER) != 0;
    struct buffer text = {0};
    buffer_printf(&text, "\"%s(", function_print_name(call));
    if (first && call->aggregate.order_count > 0)
        print(&text, order[0].expr);
    if (first && call->aggregate.order_count > 0 && call->arg_count > 0)
        buffer_add_text(&text, ", ");
    print_list(&text, call, 0);
    if (!first && call->aggregate.order_count > 0) {
        buffer_add_text(&text, call->arg_count > 0 ? ", " : "");
        print_order(&text, order, call->aggregate.order_count, true);
    }
    buffer_add_text(&text, ")\"");
    const char *copy = arena_strdup(arena, buffer_text(&text));
    buffer_fini(&text);
    return copy;
}

static void print_bound(struct buffer *out, const struct expr *bound, bool lower)
{
    if (bound == NULL) {
        buffer_add_text(out, lower ? "UNBOUNDED PRECEDING" : "UNBOUNDED FOLLOWING");
        return;
    }
    bool negated =
        bound->kind == EXPR_CALL && (strcmp(bound->call.function->name, "unary -") == 0 ||
                                     strcmp(bound->call.function->name, "negative") == 0);
    if (negated) {
        print(out, bound->args[0]);
        buffer_add_text(out, " PRECEDING");
        return;
    }
    struct buffer text = {0};
    print(&text, bound);
    const char *number = buffer_text(&text);
    if (strcmp(number, "0") == 0)
        buffer_add_text(out, "CURRENT ROW");
    else if (number[0] == '-')
        buffer_printf(out, "%s PRECEDING", number + 1);
    else
        buffer_printf(out, "%s FOLLOWING", number);
    buffer_fini(&text);
}

/* One row away, as lag and lead have it: the distance is never turned round. */
static void print_distance(struct buffer *out, const struct expr *distance)
{
    buffer_add_text(out, "ROWS BETWEEN ");
    print(out, distance);
    buffer_add_text(out, " FOLLOWING AND ");
    print(out, distance);
    buffer_add_text(out, " FOLLOWING");
}

static void print_window(struct buffer *out, const struct expr *expr)
{
    const struct window_frame *frame = &expr->window.frame;
    print(out, expr->args[0]);
    buffer_add_text(out, " OVER (");
    const char *gap = "";
    for (uint32_t i = 0; i < expr->window.partition_count; i++) {
        buffer_add_text(out, i == 0 ? "PARTITION BY " : ", ");
        print(out, expr->args[1 + i]);
        gap = " ";
    }
    if (expr->window.order_count > 0) {
        buffer_printf(out, "%sORDER BY ", gap);
        print_order(out, expr->window.order, expr->window.order_count, true);
        gap = " ";
    }
    if (expr->window.has_frame && frame->lower != NULL && frame->lower == frame->upper) {
        buffer_add_text(out, gap);
        print_distance(out, frame->lower);
    } else if (expr->window.has_frame) {
        buffer_printf(out, "%s%s BETWEEN ", gap, frame->rows ? "ROWS" : "RANGE");
        print_bound(out, frame->lower, true);
        buffer_add_text(out, " AND ");
        print_bound(out, frame->upper, false);
    }
    buffer_add_byte(out, ')');
}

static void print_generator(struct buffer *out, const struct expr *expr)
{
    buffer_add_text(out, expr->generator.name);
    buffer_add_byte(out, '(');
    print_list(out, expr, 0);
    buffer_add_byte(out, ')');
}

static void print_lambda(struct buffer *out, const struct expr *expr)
{
    buffer_add_text(out, "lambdafunction(");
    print(out, expr->args[0]);
    for (uint32_t i = 0; i < expr->lambda.variable_count; i++)
        buffer_add_text(out, ", namedlambdavariable()");
    buffer_add_byte(out, ')');
}

static void print_cast(struct buffer *out, const struct expr *expr)
{
    if (expr->cast.implicit || type_is_nested(expr->type)) {
        print(out, expr->args[0]);
        return;
    }
    buffer_add_text(out, expr->cast.mode == CAST_TRY ? "TRY_CAST(" : "CAST(");
    print(out, expr->args[0]);
    buffer_add_text(out, " AS ");
    type_print_sql(out, expr->type);
    buffer_add_byte(out, ')');
}

static void print_subquery(struct buffer *out, const struct expr *expr)
{
    switch (expr->subquery.kind) {
    case SUBQUERY_SCALAR:
        buffer_add_text(out, "scalarsubquery(");
        print_list(out, expr, 0);
        buffer_add_byte(out, ')');
        return;
    case SUBQUERY_EXISTS:
        buffer_add_text(out, expr->subquery.negated ? "(NOT exists(" : "exists(");
        print_list(out, expr, 0);
        buffer_add_text(out, expr->subquery.negated ? "))" : ")");
        return;
    case SUBQUERY_IN:
        buffer_add_text(out, expr->subquery.negated ? "(NOT (" : "(");
        if (expr->arg_count == 1) {
            print(out, expr->args[0]);
        } else {
            buffer_add_text(out, "named_struct(");
            print_list(out, expr, 0);
            buffer_add_byte(out, ')');
        }
        buffer_add_text(out, expr->subquery.negated ? " IN (listquery())))" : " IN (listquery()))");
        return;
    }
}

static void print(struct buffer *out, const struct expr *expr)
{
    switch (expr->kind) {
    case EXPR_LITERAL:
        print_literal(out, expr);
        return;
    case EXPR_COLUMN:
    case EXPR_OUTER:
        buffer_add_text(out, expr->column.name);
        return;
    case EXPR_CALL:
        print_call(out, expr);
        return;
    case EXPR_CAST:
        print_cast(out, expr);
        return;
    case EXPR_LAMBDA:
        print_lambda(out, expr);
        return;
    case EXPR_LAMBDA_VARIABLE:
        buffer_add_text(out, "namedlambdavariable()");
        return;
    case EXPR_AGGREGATE:
        print_aggregate(out, expr);
        return;
    case EXPR_WINDOW:
        print_window(out, expr);
        return;
    case EXPR_GENERATOR:
        print_generator(out, expr);
        return;
    case EXPR_SUBQUERY:
        print_subquery(out, expr);
        return;
    }
}

static bool shows_no_alias(const struct expr *expr, void *arg)
{
    (void)arg;
    return expr->kind != EXPR_CALL || strcmp(expr->call.function->name, "struct") != 0;
}

static struct expr *without_aliases(struct arena *arena, struct expr *expr, void *arg)
{
    if (shows_no_alias(expr, arg))
        return expr;
    struct expr *copy = expr_copy(arena, expr);
    for (uint32_t i = 0; i < copy->arg_count; i += 2) {
        copy->args[i] = expr_copy(arena, copy->args[i]);
        copy->args[i]->literal.text = NULL;
    }
    return copy;
}

/* As the name, but struct(1 AS a) is struct(1). */
void expr_print_sql(struct buffer *out, const struct expr *expr)
{
    if (expr_walk(expr, shows_no_alias, NULL)) {
        print(out, expr);
        return;
    }
    struct arena *arena = arena_new("message", 0);
    print(out, expr_rewrite(arena, expr_copy(arena, expr), without_aliases, NULL));
    arena_free(arena);
}

static bool names_operand(const struct expr *expr)
{
    if (expr->kind != EXPR_CAST)
        return false;
    const struct expr *operand = expr->args[0];
    return expr->cast.implicit || operand->kind == EXPR_COLUMN || type_is_nested(expr->type);
}

void expr_print_name(struct buffer *out, const struct expr *expr)
{
    while (names_operand(expr))
        expr = expr->args[0];
    print(out, expr);
}
