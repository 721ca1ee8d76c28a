/*
 * Resolves binary and unary operators, in the order in which Spark does: strings are promoted,
 * integers meet decimals, then the tightest common type; what is left unequal is an error.
 */
#include "base/check.h"
#include "expr/arithmetic.h"
#include "expr/kernel_time.h"
#include "expr/resolvers.h"

#include <stdio.h>
#include <string.h>

#define NUMERIC_OR_INTERVAL                                                                        \
    "(\"NUMERIC\" or \"INTERVAL DAY TO SECOND\" or \"INTERVAL YEAR TO MONTH\" or \"INTERVAL\")"
#define DAYS      "(\"INT\" or \"SMALLINT\" or \"TINYINT\")"
#define DIVISIBLE "(\"DOUBLE\" or \"DECIMAL\")"
#define DIV_INPUT                                                                                  \
    "(\"BIGINT\" or \"DECIMAL\" or \"INTERVAL DAY TO SECOND\" or \"INTERVAL YEAR TO MONTH\")"

struct binary_rule {
    bool (*accepts)(const struct type *type);
    const char *input_type;
    enum type_id both_null; /* what NULL op NULL computes with */
    bool decimals_mix;      /* two decimals of different precision may meet */
    bool comparison;
};

static bool accepts_additive(const struct type *type)
{
    return type_is_numeric(type) || type->id == TYPE_INTERVAL_DT || type->id == TYPE_INTERVAL_YM ||
           type->id == TYPE_INTERVAL;
}

static bool accepts_numeric(const struct type *type)
{
    return type_is_numeric(type);
}

static bool accepts_integral(const struct type *type)
{
    return type_is_integral(type);
}

static bool accepts_boolean(const struct type *type)
{
    return type->id == TYPE_BOOLEAN;
}

static bool accepts_div(const struct type *type)
{
    return type_is_integral(type) || type->id == TYPE_DECIMAL || type->id == TYPE_INTERVAL_DT ||
           type->id == TYPE_INTERVAL_YM;
}

static bool accepts_any(const struct type *type)
{
    (void)type;
    return true;
}

static const struct binary_rule additive = {accepts_additive, NUMERIC_OR_INTERVAL, TYPE_DOUBLE,
                                            true, false};
static const struct binary_rule numeric = {accepts_numeric, "\"NUMERIC\"", TYPE_DOUBLE, true,
                                           false};
static const struct binary_rule divisible = {accepts_numeric, DIVISIBLE, TYPE_DOUBLE, true, false};
static const struct binary_rule integer_division = {accepts_div, DIV_INPUT, TYPE_LONG, true, false};
static const struct binary_rule integral = {accepts_integral, "\"INTEGRAL\"", TYPE_INT, false,
                                            false};
static const struct binary_rule boolean = {accepts_boolean, "\"BOOLEAN\"", TYPE_BOOLEAN, false,
                                           false};
static const struct binary_rule comparison = {accepts_any, "\"ANY\"", TYPE_VOID, true, true};

/* ---- the steps ---- */

static bool is_ansi_interval(const struct type *type)
{
    return type->id == TYPE_INTERVAL_DT || type->id == TYPE_INTERVAL_YM;
}

static bool is_floating(const struct type *type)
{
    return type->id == TYPE_FLOAT || type->id == TYPE_DOUBLE;
}

/* The type both sides get when one of them is a string; NULL: no promotion. */
static const struct type *string_partner(const struct resolve_context *ctx,
                                         const struct binary_rule *rule, const struct type *other)
{
    if (type_is_nested(other) || is_ansi_interval(other) || other->id == TYPE_INTERVAL)
        return NULL;
    if (other->id == TYPE_VOID)
        return type_simple(TYPE_STRING);
    if (ctx->ansi && type_is_integral(other))
        return type_simple(TYPE_LONG);
    if (ctx->ansi && type_is_numeric(other))
        return type_simple(TYPE_DOUBLE);
    if (!ctx->ansi && !rule->comparison)
        return NULL;
    return other;
}

static void promote_strings(const struct resolve_context *ctx, const struct binary_rule *rule,
                            struct expr **args)
{
    bool left = args[0]->type->id == TYPE_STRING;
    bool right = args[1]->type->id == TYPE_STRING;
    if (!left && !right)
        return;
    if (!ctx->ansi && rule == &boolean)
        return;
    if (!ctx->ansi && !rule->comparison) {
        const struct type *other = args[left ? 1 : 0]->type;
        if (is_ansi_interval(other) || other->id == TYPE_INTERVAL)
            return;
        const struct type *number = type_simple(TYPE_DOUBLE);
        args[left ? 0 : 1] = coercion_cast(ctx, args[left ? 0 : 1], number);
        if (left && right)
            args[1] = coercion_cast(ctx, args[1], number);
        return;
    }
    if (left && right)
        return;
    const struct type *type = string_partner(ctx, rule, args[left ? 1 : 0]->type);
    if (type == NULL)
        return;
    args[0] = coercion_cast(ctx, args[0], type);
    args[1] = coercion_cast(ctx, args[1], type);
}

static void meet_decimals(const struct resolve_context *ctx, const struct binary_rule *rule,
                          struct expr **args)
{
    for (int i = 0; i < 2; i++) {
        struct expr **one = &args[i];
        struct expr **other = &args[1 - i];
        if ((*one)->type->id != TYPE_DECIMAL || (*other)->type->id == TYPE_DECIMAL)
            continue;
        if (type_is_integral((*other)->type))
            *other = coercion_cast(ctx, *other, coercion_decimal_of_expr(ctx, *other));
        else if (is_floating((*other)->type))
            *one = coercion_cast(ctx, *one, type_simple(TYPE_DOUBLE));
    }
    if (rule->comparison && args[0]->type->id == TYPE_DECIMAL && args[1]->type->id == TYPE_DECIMAL)
        coercion_unify(ctx, args, 2, false);
}

/* The tightest common type, where decimals only meet if one holds the other. */
static const struct type *strict_common(const struct resolve_context *ctx, const struct type *a,
                                        const struct type *b);

static const struct type *strict_struct(const struct resolve_context *ctx, const struct type *a,
                                        const struct type *b)
{
    if (a->field_count != b->field_count)
        return NULL;
    struct type_field *fields =
        arena_new_object(ctx->arena, ((size_t)a->field_count + 1) * sizeof *fields);
    for (uint32_t i = 0; i < a->field_count; i++) {
        const struct type *type = strict_common(ctx, a->fields[i].type, b->fields[i].type);
        if (type == NULL)
            return NULL;
        fields[i] = a->fields[i];
        fields[i].type = type;
        fields[i].nullable = a->fields[i].nullable || b->fields[i].nullable;
    }
    return type_struct(ctx->arena, fields, a->field_count);
}

static const struct type *strict_common(const struct resolve_context *ctx, const struct type *a,
                                        const struct type *b)
{
    if (a->id == TYPE_DECIMAL || b->id == TYPE_DECIMAL) {
        if (type_equal(a, b) || b->id == TYPE_VOID)
            return a;
        if (a->id == TYPE_VOID)
            return b;
        const struct type *decimal = a->id == TYPE_DECIMAL ? a : b;
        const struct type *other = a->id == TYPE_DECIMAL ? b : a;
        if (!type_is_integral(other))
            return NULL;
        const struct type *need = coercion_decimal_of(ctx, other);
        return decimal->precision - decimal->scale >= need->precision ? decimal : NULL;
    }
    if (a->id == TYPE_STRUCT && b->id == TYPE_STRUCT) {
        const struct type *named = coercion_tightest(ctx, a, b);
        return named == NULL ? NULL : strict_struct(ctx, a, b);
    }
    if (a->id == TYPE_ARRAY && b->id == TYPE_ARRAY) {
        const struct type *element = strict_common(ctx, a->element, b->element);
        return element == NULL
                   ? NULL
                   : type_array(ctx->arena, element, a->element_nullable || b->element_nullable);
    }
    return coercion_tightest(ctx, a, b);
}

static enum status diff_types(const struct expr *call, struct error *err)
{
    struct arena *arena = arena_new("message", 0);
    enum status status = error_raise_at(
        err, STATUS_DATATYPE_MISMATCH__BINARY_OP_DIFF_TYPES, call->position, call->position_end,
        "sqlExpr", function_sql(arena, call), "left", function_sql_type(arena, call->args[0]->type),
        "right", function_sql_type(arena, call->args[1]->type), NULL);
    arena_free(arena);
    return status;
}

static enum status wrong_operand(const struct expr *call, const char *input_type, struct error *err)
{
    struct arena *arena = arena_new("message", 0);
    enum status status = error_raise_at(
        err, STATUS_DATATYPE_MISMATCH__BINARY_OP_WRONG_TYPE, call->position, call->position_end,
        "sqlExpr", function_sql(arena, call), "inputType", input_type, "actualDataType",
        function_sql_type(arena, call->args[0]->type), NULL);
    arena_free(arena);
    return status;
}

static enum status meet(struct resolve_context *ctx, const struct binary_rule *rule,
                        struct expr *call, struct error *err)
{
    struct expr **args = call->args;
    if (args[0]->type->id == TYPE_VOID && args[1]->type->id == TYPE_VOID &&
        rule->both_null != TYPE_VOID) {
        args[0] = coercion_cast(ctx, args[0], type_simple(rule->both_null));
        args[1] = coercion_cast(ctx, args[1], type_simple(rule->both_null));
        return OK;
    }
    promote_strings(ctx, rule, args);
    if (!type_equal(args[0]->type, args[1]->type))
        meet_decimals(ctx, rule, args);
    if (!type_equal(args[0]->type, args[1]->type)) {
        const struct type *type = strict_common(ctx, args[0]->type, args[1]->type);
        if (type != NULL && rule->accepts(type)) {
            args[0] = coercion_cast(ctx, args[0], type);
            args[1] = coercion_cast(ctx, args[1], type);
        }
    }
    bool mixed = rule->decimals_mix && args[0]->type->id == TYPE_DECIMAL &&
                 args[1]->type->id == TYPE_DECIMAL;
    if (!mixed && !type_equal_unnamed(args[0]->type, args[1]->type))
        return diff_types(call, err);
    if (!rule->accepts(args[0]->type))
        return wrong_operand(call, rule->input_type, err);
    return OK;
}

/* ---- arithmetic ---- */

static enum arithmetic_mode mode_of(const struct resolve_context *ctx)
{
    return ctx->ansi ? ARITHMETIC_ANSI : ARITHMETIC_LEGACY;
}

static void finish_arithmetic(struct expr *call, const struct type *type,
                              enum arithmetic_operation operation, enum arithmetic_mode mode)
{
    call->call.kernel = arithmetic_kernel(operation, call->args[0]->type->id, mode);
    CHECK(call->call.kernel != NULL);
    function_finish(call, type);
    bool fails_to_null = mode != ARITHMETIC_ANSI;
    bool divides = operation == ARITHMETIC_DIVIDE || operation == ARITHMETIC_DIV ||
                   operation == ARITHMETIC_REMAINDER || operation == ARITHMETIC_PMOD;
    call->nullable |= fails_to_null && (mode == ARITHMETIC_TRY || divides ||
                                        call->args[0]->type->id == TYPE_DECIMAL);
}

static enum status arithmetic(struct resolve_context *ctx, struct expr *call,
                              const struct binary_rule *rule, enum arithmetic_operation operation,
                              enum arithmetic_mode mode, struct error *err)
{
    static const enum decimal_operation decimal_operations[] = {
        [ARITHMETIC_ADD] = DECIMAL_OP_ADD,
        [ARITHMETIC_SUBTRACT] = DECIMAL_OP_ADD,
        [ARITHMETIC_MULTIPLY] = DECIMAL_OP_MULTIPLY,
        [ARITHMETIC_DIVIDE] = DECIMAL_OP_DIVIDE,
        [ARITHMETIC_REMAINDER] = DECIMAL_OP_REMAINDER,
        [ARITHMETIC_PMOD] = DECIMAL_OP_REMAINDER,
    };
    TRY(meet(ctx, rule, call, err));
    const struct type *type = call->args[0]->type;
    if (type->id == TYPE_DECIMAL) {
        CHECK((size_t)operation < sizeof decimal_operations / sizeof *decimal_operations);
        type =
            coercion_decimal_result(ctx, decimal_operations[operation], type, call->args[1]->type);
    }
    finish_arithmetic(call, type, operation, mode);
    return OK;
}

/* ---- + and - with dates, times, intervals ---- */

static bool is_timestamp(const struct type *type)
{
    return type->id == TYPE_TIMESTAMP || type->id == TYPE_TIMESTAMP_NTZ;
}

static bool is_day_interval(const struct type *type)
{
    return type->id == TYPE_INTERVAL_DT && type->interval_from == INTERVAL_DAY &&
           type->interval_to == INTERVAL_DAY;
}

static bool is_time_interval(const struct type *type)
{
    return type->id == TYPE_INTERVAL_DT || type->id == TYPE_INTERVAL;
}

static enum status resolve_as(struct resolve_context *ctx, const struct expr *call,
                              const char *name, struct expr *a, struct expr *b, struct expr **out,
                              struct error *err)
{
    struct expr *args[] = {a, b};
    struct function_call inner = {.name = name,
                                  .args = args,
                                  .arg_count = 2,
                                  .position = call->position,
                                  .position_end = call->position_end};
    return function_resolve(ctx, &inner, out, err);
}

/* time (any type that a timestamp is made of) +- interval, given back as the type of `time`. */
static enum status time_add(struct resolve_context *ctx, const struct expr *call, bool plus,
                            struct expr *time, struct expr *interval, struct expr **out,
                            struct error *err)
{
    const struct type *type = time->type;
    TRY(resolve_as(ctx, call, plus ? "timestamp + interval" : "timestamp - interval", time,
                   interval, out, err));
    if (type->id == TYPE_STRING)
        *out = coercion_cast(ctx, *out, type);
    return OK;
}

static enum status date_and_interval(struct resolve_context *ctx, const struct expr *call,
                                     bool plus, struct expr *date, struct expr *interval,
                                     struct expr **out, struct error *err)
{
    if (interval->type->id == TYPE_INTERVAL_YM)
        return resolve_as(ctx, call, plus ? "date + months" : "date - months", date, interval, out,
                          err);
    if (interval->type->id == TYPE_INTERVAL)
        return resolve_as(ctx, call, plus ? "date + interval" : "date - interval", date, interval,
                          out, err);
    if (!is_day_interval(interval->type)) {
        struct expr *time = coercion_cast(ctx, date, type_simple(TYPE_TIMESTAMP));
        return resolve_as(ctx, call, plus ? "timestamp + interval" : "timestamp - interval", time,
                          interval, out, err);
    }
    struct expr *days;
    TRY(function_resolve_1(ctx, "extractansiintervaldays", interval, &days, err));
    if (!plus)
        TRY(function_resolve_1(ctx, "unary -", days, &days, err));
    return resolve_as(ctx, call, "date_add", date, days, out, err);
}

/* The parameters have the type that a string is cast to, as in Spark; the text, whose end that is,
 * has the type that the argument has. */
static void say_string(struct error *err)
{
    const char *cast = error_param(err, "inputType");
    size_t size = strlen(err->text), cast_size = cast == NULL ? 0 : strlen(cast);
    if (cast_size == 0 || cast_size > size || strcmp(err->text + size - cast_size, cast) != 0)
        return;
    (void)snprintf(err->text + size - cast_size, sizeof err->text - (size - cast_size),
                   "\"STRING\"");
}

/* date +- days: only integers; a string is refused though date_add() takes a literal one. */
static enum status date_and_days(struct resolve_context *ctx, const struct expr *call, bool plus,
                                 struct expr *date, struct expr *days, struct expr **out,
                                 struct error *err)
{
    const char *name = plus ? "date_add" : "date_sub";
    if (days->type->id != TYPE_STRING)
        return resolve_as(ctx, call, name, date, days, out, err);
    struct expr *args[] = {
        date, coercion_cast(ctx, days, type_simple(ctx->ansi ? TYPE_DATE : TYPE_DOUBLE))};
    struct expr *shown = expr_call(ctx->arena, function_find(name), name, args, 2);
    shown->position = call->position;
    shown->position_end = call->position_end;
    enum status status = function_wrong_type(shown, 1, DAYS, err);
    say_string(err);
    return status;
}

/* *done: the call was one of dates or times and *out is set. */
static enum status add_datetime(struct resolve_context *ctx, struct expr *call, bool *done,
                                struct expr **out, struct error *err)
{
    struct expr *l = call->args[0];
    struct expr *r = call->args[1];
    *done = true;
    for (int i = 0; i < 2; i++) {
        struct expr *date = i == 0 ? l : r;
        struct expr *other = i == 0 ? r : l;
        if (date->type->id == TYPE_DATE &&
            (is_ansi_interval(other->type) || other->type->id == TYPE_INTERVAL))
            return date_and_interval(ctx, call, true, date, other, out, err);
        if (is_timestamp(date->type) && other->type->id == TYPE_INTERVAL_YM)
            return resolve_as(ctx, call, "timestamp + months", date, other, out, err);
        if (other->type->id == TYPE_VOID &&
            (date->type->id == TYPE_DATE || is_timestamp(date->type)))
            return resolve_as(ctx, call, "timestamp + interval",
                              date->type->id == TYPE_DATE
                                  ? coercion_cast(ctx, date, type_simple(TYPE_TIMESTAMP))
                                  : date,
                              coercion_cast(ctx, other, type_simple(TYPE_INTERVAL_DT)), out, err);
    }
    bool same = l->type->id == r->type->id;
    bool null = l->type->id == TYPE_VOID || r->type->id == TYPE_VOID;
    if (!(same || null) || l->type->id == TYPE_DATE) {
        if (is_time_interval(r->type))
            return time_add(ctx, call, true, l, r, out, err);
        if (is_time_interval(l->type))
            return time_add(ctx, call, true, r, l, out, err);
        if (l->type->id == TYPE_DATE)
            return date_and_days(ctx, call, true, l, r, out, err);
        if (r->type->id == TYPE_DATE)
            return date_and_days(ctx, call, true, r, l, out, err);
    }
    *done = false;
    return OK;
}

/* date - date and timestamp - timestamp, in any mixture. */
static enum status subtract_times(struct resolve_context *ctx, struct expr *call, struct expr **out,
                                  struct error *err)
{
    struct expr *args[] = {call->args[0], call->args[1]};
    bool dates = !is_timestamp(args[0]->type) && !is_timestamp(args[1]->type);
    for (uint32_t i = 0; !dates && !ctx->ansi && i < 2; i++) {
        if (args[i]->type->id == TYPE_STRING)
            return function_wrong_type(
                call, i,
                "(\"(TIMESTAMP OR TIMESTAMP WITHOUT TIME ZONE)\" or \"(TIMESTAMP_LTZ(P) OR "
                "TIMESTAMP_NTZ(P) WITH P IN [7, 9])\")",
                err);
    }
    if (dates)
        return resolve_as(ctx, call, "date - date", args[0], args[1], out, err);
    for (int i = 0; i < 2; i++) {
        if (args[i]->type->id == TYPE_DATE)
            args[i] = coercion_cast(ctx, args[i], args[1 - i]->type);
    }
    if (is_timestamp(args[0]->type) && is_timestamp(args[1]->type) &&
        args[0]->type->id != args[1]->type->id) {
        for (int i = 0; i < 2; i++)
            args[i] = coercion_cast(ctx, args[i], type_simple(TYPE_TIMESTAMP_NTZ));
    }
    return resolve_as(ctx, call, "timestamp - timestamp", args[0], args[1], out, err);
}

static enum status subtract_datetime(struct resolve_context *ctx, struct expr *call, bool *done,
                                     struct expr **out, struct error *err)
{
    struct expr *l = call->args[0];
    struct expr *r = call->args[1];
    *done = true;
    if (l->type->id == TYPE_DATE && (is_ansi_interval(r->type) || r->type->id == TYPE_INTERVAL))
        return date_and_interval(ctx, call, false, l, r, out, err);
    if (is_timestamp(l->type) && r->type->id == TYPE_INTERVAL_YM)
        return resolve_as(ctx, call, "timestamp - months", l, r, out, err);
    bool same = l->type->id == r->type->id || l->type->id == TYPE_VOID;
    if (is_time_interval(r->type) && !same)
        return time_add(ctx, call, false, l, r, out, err);
    if (is_timestamp(l->type) || is_timestamp(r->type))
        return subtract_times(ctx, call, out, err);
    if (r->type->id == TYPE_DATE)
        return subtract_times(ctx, call, out, err);
    if (l->type->id == TYPE_DATE &&
        (r->type->id == TYPE_VOID || (ctx->ansi && r->type->id == TYPE_STRING)))
        return subtract_times(ctx, call, out, err);
    if (l->type->id == TYPE_DATE)
        return date_and_days(ctx, call, false, l, r, out, err);
    *done = false;
    return OK;
}

static enum status add_or_subtract(struct resolve_context *ctx, struct expr *call, bool plus,
                                   enum arithmetic_mode mode, struct expr **out, struct error *err)
{
    bool done;
    TRY(plus ? add_datetime(ctx, call, &done, out, err)
             : subtract_datetime(ctx, call, &done, out, err));
    if (done)
        return OK;
    *out = call;
    return arithmetic(ctx, call, &additive, plus ? ARITHMETIC_ADD : ARITHMETIC_SUBTRACT, mode, err);
}

static enum status multiply_or_divide(struct resolve_context *ctx, struct expr *call, bool multiply,
                                      enum arithmetic_mode mode, struct expr **out,
                                      struct error *err)
{
    struct expr *l = call->args[0];
    struct expr *r = call->args[1];
    bool interval = is_ansi_interval(l->type) || l->type->id == TYPE_INTERVAL;
    bool try = mode == ARITHMETIC_TRY;
    if (interval)
        return resolve_as(ctx, call,
                          multiply ? (try ? "try interval * number" : "interval * number")
                                   : (try ? "try interval / number" : "interval / number"),
                          l, r, out, err);
    if (multiply && (is_ansi_interval(r->type) || r->type->id == TYPE_INTERVAL))
        return resolve_as(ctx, call, try ? "try interval * number" : "interval * number", r, l, out,
                          err);
    *out = call;
    if (multiply)
        return arithmetic(ctx, call, &numeric, ARITHMETIC_MULTIPLY, mode, err);
    if (l->type->id == TYPE_VOID && r->type->id == TYPE_DECIMAL) /* NULL / x is a double */
        call->args[1] = coercion_cast(ctx, r, type_simple(TYPE_DOUBLE));
    TRY(meet(ctx, &divisible, call, err));
    if (call->args[0]->type->id != TYPE_DECIMAL) {
        call->args[0] = coercion_cast(ctx, call->args[0], type_simple(TYPE_DOUBLE));
        call->args[1] = coercion_cast(ctx, call->args[1], type_simple(TYPE_DOUBLE));
    }
    return arithmetic(ctx, call, &divisible, ARITHMETIC_DIVIDE, mode, err);
}

RESOLVER(resolve_add)
{
    return add_or_subtract(ctx, call, true, mode_of(ctx), out, err);
}

RESOLVER(resolve_subtract)
{
    return add_or_subtract(ctx, call, false, mode_of(ctx), out, err);
}

RESOLVER(resolve_multiply)
{
    return multiply_or_divide(ctx, call, true, mode_of(ctx), out, err);
}

RESOLVER(resolve_divide)
{
    return multiply_or_divide(ctx, call, false, mode_of(ctx), out, err);
}

RESOLVER(resolve_remainder)
{
    *out = call;
    return arithmetic(ctx, call, &numeric, ARITHMETIC_REMAINDER, mode_of(ctx), err);
}

RESOLVER(resolve_pmod)
{
    *out = call;
    return arithmetic(ctx, call, &numeric, ARITHMETIC_PMOD, mode_of(ctx), err);
}

RESOLVER(resolve_div)
{
    *out = call;
    for (uint32_t i = 0; i < 2; i++) {
        if (type_is_integral(call->args[i]->type))
            call->args[i] = coercion_cast(ctx, call->args[i], type_simple(TYPE_LONG));
    }
    TRY(meet(ctx, &integer_division, call, err));
    finish_arithmetic(call, type_simple(TYPE_LONG), ARITHMETIC_DIV, mode_of(ctx));
    return OK;
}

/* ---- try_add and the others: they print as calls, errors as operators ---- */

static enum status try_operator(struct resolve_context *ctx, struct expr *call, const char *symbol,
                                struct expr **out, struct error *err)
{
    struct expr *inner =
        expr_call(ctx->arena, function_find(symbol), symbol, call->args, call->arg_count);
    inner->position = call->position;
    inner->position_end = call->position_end;
    struct expr *result = inner;
    switch (*symbol) {
    case '+':
    case '-':
        TRY(add_or_subtract(ctx, inner, *symbol == '+', ARITHMETIC_TRY, &result, err));
        break;
    case '*':
    case '/':
        TRY(multiply_or_divide(ctx, inner, *symbol == '*', ARITHMETIC_TRY, &result, err));
        break;
    default:
        TRY(arithmetic(ctx, inner, &numeric, ARITHMETIC_REMAINDER, ARITHMETIC_TRY, err));
        break;
    }
    struct expr *inside = result->kind == EXPR_CAST ? result->args[0] : result;
    if (inside->kind == EXPR_CALL)
        kernel_time_try(inside);
    for (uint32_t i = 0; i < inside->arg_count; i++) {
        /* strings that do not read are NULL, too, and dates that are no times */
        struct expr *arg = inside->args[i];
        if (arg->kind == EXPR_CAST && arg->cast.implicit &&
            (arg->args[0]->type->id == TYPE_STRING || arg->args[0]->type->id == TYPE_DATE))
            arg->cast.mode = CAST_TRY;
    }
    function_replace(ctx, call, result);
    call->nullable = true;
    *out = call;
    return OK;
}

RESOLVER(resolve_try_add)
{
    return try_operator(ctx, call, "+", out, err);
}

RESOLVER(resolve_try_subtract)
{
    return try_operator(ctx, call, "-", out, err);
}

RESOLVER(resolve_try_multiply)
{
    return try_operator(ctx, call, "*", out, err);
}

RESOLVER(resolve_try_divide)
{
    return try_operator(ctx, call, "/", out, err);
}

RESOLVER(resolve_try_mod)
{
    return try_operator(ctx, call, "%", out, err);
}

/* ---- bits ---- */

static enum status bits(struct resolve_context *ctx, struct expr *call,
                        enum arithmetic_operation operation, struct error *err)
{
    return arithmetic(ctx, call, &integral, operation, ARITHMETIC_LEGACY, err);
}

RESOLVER(resolve_bit_and)
{
    *out = call;
    return bits(ctx, call, ARITHMETIC_BIT_AND, err);
}

RESOLVER(resolve_bit_or)
{
    *out = call;
    return bits(ctx, call, ARITHMETIC_BIT_OR, err);
}

RESOLVER(resolve_bit_xor)
{
    *out = call;
    return bits(ctx, call, ARITHMETIC_BIT_XOR, err);
}

/* ---- unary ---- */

static enum status unary(struct resolve_context *ctx, struct expr *call, const char *signature,
                         enum arithmetic_operation operation, struct error *err)
{
    const struct type *type = call->args[0]->type;
    if (type->id == TYPE_VOID)
        type = type_simple(operation == ARITHMETIC_BIT_NOT ? TYPE_INT : TYPE_DOUBLE);
    else if (type->id == TYPE_STRING && operation != ARITHMETIC_BIT_NOT)
        type = type_simple(TYPE_DOUBLE);
    call->args[0] = coercion_cast(ctx, call->args[0], type);
    TRY(function_apply(ctx, call, signature, err));
    type = call->args[0]->type;
    call->call.kernel = arithmetic_kernel(operation, type->id, mode_of(ctx));
    CHECK(call->call.kernel != NULL);
    function_finish(call, type);
    return OK;
}

RESOLVER(resolve_negative)
{
    *out = call;
    return unary(ctx, call, "numeric|day_time|year_month|interval->1", ARITHMETIC_NEGATE, err);
}

RESOLVER(resolve_positive)
{
    *out = call;
    return unary(ctx, call, "numeric|day_time|year_month|interval->1", ARITHMETIC_POSITIVE, err);
}

RESOLVER(resolve_abs)
{
    *out = call;
    return unary(ctx, call, "numeric|day_time|year_month->1", ARITHMETIC_ABS, err);
}

RESOLVER(resolve_bit_not)
{
    *out = call;
    return unary(ctx, call, "integral->1", ARITHMETIC_BIT_NOT, err);
}

/* Smaller integers are shifted as INT. */
RESOLVER(resolve_shift)
{
    *out = call;
    const struct type *type = call->args[0]->type;
    if (type->id == TYPE_BYTE || type->id == TYPE_SHORT)
        call->args[0] = coercion_cast(ctx, call->args[0], type_simple(TYPE_INT));
    return function_apply_signature(ctx, call, err);
}

/* ---- comparison ---- */

static void equal_to_boolean(struct resolve_context *ctx, struct expr *call)
{
    /* without ANSI mode 1 = true compares numbers */
    for (int i = 0; i < 2 && !ctx->ansi; i++) {
        if (call->args[i]->type->id == TYPE_BOOLEAN && type_is_numeric(call->args[1 - i]->type))
            call->args[i] = coercion_cast(ctx, call->args[i], call->args[1 - i]->type);
    }
}

/* Without ANSI mode b = 1 is b. */
static struct expr *boolean_itself(const struct resolve_context *ctx, const struct expr *call)
{
    for (int i = 0; i < 2 && !ctx->ansi; i++) {
        const struct expr *one = call->args[1 - i];
        if (call->args[i]->type->id == TYPE_BOOLEAN && one->kind == EXPR_LITERAL &&
            one->type->id == TYPE_INT && !vector_is_null(one->literal.value, 0) &&
            *VECTOR_VALUES(int32_t, one->literal.value) == 1)
            return call->args[i];
    }
    return NULL;
}

/*
 * An integer beside a decimal literal is compared with the whole number next to it.  Sets *always,
 * if the literal is beyond all integers, to what the comparison always is.
 */
static void round_decimal_literal(struct resolve_context *ctx, struct expr *call,
                                  enum comparison_operation operation, struct expr **always)
{
    uint32_t side = call->args[1]->type->id == TYPE_DECIMAL ? 1 : 0;
    const struct expr *literal = call->args[side];
    if (literal->kind != EXPR_LITERAL || literal->type->id != TYPE_DECIMAL ||
        !type_is_integral(call->args[1 - side]->type) || vector_is_null(literal->literal.value, 0))
        return;
    bool greater = operation == COMPARE_GREATER || operation == COMPARE_GREATER_EQUAL;
    bool equal = operation == COMPARE_GREATER_EQUAL || operation == COMPARE_LESS_EQUAL;
    if (!greater && !equal && operation != COMPARE_LESS)
        return;
    bool up = side == 1 ? greater == equal : greater != equal;
    int128 unit = 1;
    for (int i = 0; i < literal->type->scale; i++)
        unit *= 10;
    int128 value = *VECTOR_VALUES(int128, literal->literal.value);
    int128 whole = value / unit;
    int128 rest = value % unit;
    whole += up && rest > 0 ? 1 : !up && rest < 0 ? -1 : 0;
    if (value / unit >= INT64_MIN && value / unit <= INT64_MAX)
        call->args[side] = expr_literal_long(ctx->arena, (int64_t)whole);
    else
        *always = expr_literal_boolean(ctx->arena, greater == ((side == 1) == (value < 0)));
}

static enum status compare(struct resolve_context *ctx, struct expr *call,
                           enum comparison_operation operation, struct expr **out,
                           struct error *err)
{
    *out = call;
    struct expr *itself = operation == COMPARE_EQUAL ? boolean_itself(ctx, call) : NULL;
    if (itself != NULL) {
        *out = itself;
        return OK;
    }
    if (operation == COMPARE_EQUAL || operation == COMPARE_NULL_EQUAL)
        equal_to_boolean(ctx, call);
    else
        round_decimal_literal(ctx, call, operation, &itself);
    if (itself != NULL) {
        *out = itself;
        return OK;
    }
    TRY(meet(ctx, &comparison, call, err));
    if (!type_is_orderable(call->args[0]->type))
        return function_not_orderable(call, call->args[0]->type, err);
    call->call.kernel = comparison_kernel(operation, call->args[0]->type);
    function_finish(call, type_simple(TYPE_BOOLEAN));
    return OK;
}

#define COMPARISON(name, operation)                                                                \
    RESOLVER(name)                                                                                 \
    {                                                                                              \
        return compare(ctx, call, operation, out, err);                                            \
    }

COMPARISON(resolve_equal, COMPARE_EQUAL)
COMPARISON(resolve_null_equal, COMPARE_NULL_EQUAL)
COMPARISON(resolve_less, COMPARE_LESS)
COMPARISON(resolve_less_equal, COMPARE_LESS_EQUAL)
COMPARISON(resolve_greater, COMPARE_GREATER)
COMPARISON(resolve_greater_equal, COMPARE_GREATER_EQUAL)

RESOLVER(resolve_not_equal)
{
    struct expr *equal;
    TRY(resolve_as(ctx, call, "=", call->args[0], call->args[1], &equal, err));
    TRY(function_resolve_1(ctx, "not", equal, out, err));
    (*out)->position = call->position;
    (*out)->position_end = call->position_end;
    return OK;
}

RESOLVER(resolve_equal_null)
{
    struct expr *equal;
    TRY(resolve_as(ctx, call, "<=>", call->args[0], call->args[1], &equal, err));
    function_replace(ctx, call, equal);
    *out = call;
    return OK;
}

RESOLVER(resolve_between)
{
    struct expr *low;
    struct expr *high;
    struct expr *both;
    TRY(resolve_as(ctx, call, ">=", call->args[0], call->args[1], &low, err));
    TRY(resolve_as(ctx, call, "<=", call->args[0], call->args[2], &high, err));
    TRY(resolve_as(ctx, call, "and", low, high, &both, err));
    function_replace(ctx, call, both);
    *out = call;
    return OK;
}

/* ---- logic ---- */

static enum status logic(struct resolve_context *ctx, struct expr *call, struct error *err)
{
    TRY(meet(ctx, &boolean, call, err));
    function_finish(call, type_simple(TYPE_BOOLEAN));
    call->nullable = call->args[0]->nullable || call->args[1]->nullable;
    return OK;
}

RESOLVER(resolve_and)
{
    *out = call;
    return logic(ctx, call, err);
}

RESOLVER(resolve_or)
{
    *out = call;
    return logic(ctx, call, err);
}
