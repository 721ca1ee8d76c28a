#include "expr/coercion.h"

#include "base/check.h"
#include "expr/cast.h"

#include <strings.h>

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

/* ---- decimals ---- */

const struct type *coercion_decimal_bounded(struct arena *arena, int precision, int scale)
{
    return type_decimal(arena, max_int(1, min_int(precision, DECIMAL_PRECISION_MAX)),
                        min_int(scale, DECIMAL_PRECISION_MAX));
}

const struct type *coercion_decimal_adjusted(struct arena *arena, int precision, int scale)
{
    if (precision <= DECIMAL_PRECISION_MAX)
        return type_decimal(arena, max_int(1, precision), scale);
    int whole = precision - scale;
    int fraction = max_int(DECIMAL_PRECISION_MAX - whole, min_int(scale, 6));
    return type_decimal(arena, DECIMAL_PRECISION_MAX, fraction);
}

const struct type *coercion_decimal_of(const struct resolve_context *ctx, const struct type *type)
{
    switch (type->id) {
    case TYPE_DECIMAL:
        return type;
    case TYPE_BYTE:
        return type_decimal(ctx->arena, 3, 0);
    case TYPE_SHORT:
        return type_decimal(ctx->arena, 5, 0);
    case TYPE_INT:
        return type_decimal(ctx->arena, 10, 0);
    case TYPE_LONG:
        return type_decimal(ctx->arena, 20, 0);
    case TYPE_FLOAT:
        return type_decimal(ctx->arena, 14, 7);
    case TYPE_DOUBLE:
        return type_decimal(ctx->arena, 30, 15);
    default:
        return NULL;
    }
}

const struct type *coercion_decimal_of_expr(const struct resolve_context *ctx,
                                            const struct expr *expr)
{
    if (expr->kind != EXPR_LITERAL || !type_is_integral(expr->type) ||
        expr->type->id == TYPE_BYTE || vector_is_null(expr->literal.value, 0))
        return coercion_decimal_of(ctx, expr->type);
    int64_t value = 0;
    switch (expr->type->id) {
    case TYPE_SHORT:
        value = *VECTOR_VALUES(int16_t, expr->literal.value);
        break;
    case TYPE_INT:
        value = *VECTOR_VALUES(int32_t, expr->literal.value);
        break;
    default:
        value = *VECTOR_VALUES(int64_t, expr->literal.value);
        break;
    }
    int digits = 1;
    while (value / 10 != 0) {
        value /= 10;
        digits++;
    }
    return type_decimal(ctx->arena, digits, 0);
}

/* The type that holds the values of both; the fraction is cut if 38 digits are too few. */
static const struct type *decimal_wider(struct arena *arena, const struct type *a,
                                        const struct type *b)
{
    int scale = max_int(a->scale, b->scale);
    int whole = max_int(a->precision - a->scale, b->precision - b->scale);
    if (whole + scale > DECIMAL_PRECISION_MAX)
        return type_decimal(arena, DECIMAL_PRECISION_MAX,
                            max_int(0, DECIMAL_PRECISION_MAX - whole));
    return type_decimal(arena, whole + scale, scale);
}

static const struct type *divide_without_loss(struct arena *arena, const struct type *a,
                                              const struct type *b)
{
    int whole = min_int(DECIMAL_PRECISION_MAX, a->precision - a->scale + b->scale);
    int fraction = min_int(DECIMAL_PRECISION_MAX, max_int(6, a->scale + b->precision + 1));
    int over = whole + fraction - DECIMAL_PRECISION_MAX;
    if (over > 0) {
        fraction -= over / 2 + 1;
        whole = DECIMAL_PRECISION_MAX - fraction;
    }
    return coercion_decimal_bounded(arena, whole + fraction, fraction);
}

const struct type *coercion_decimal_result(const struct resolve_context *ctx,
                                           enum decimal_operation operation, const struct type *a,
                                           const struct type *b)
{
    int precision = 0;
    int scale = 0;
    switch (operation) {
    case DECIMAL_OP_ADD:
        scale = max_int(a->scale, b->scale);
        precision = max_int(a->precision - a->scale, b->precision - b->scale) + scale + 1;
        break;
    case DECIMAL_OP_MULTIPLY:
        scale = a->scale + b->scale;
        precision = a->precision + b->precision + 1;
        break;
    case DECIMAL_OP_DIVIDE:
        if (!ctx->decimal_precision_loss)
            return divide_without_loss(ctx->arena, a, b);
        scale = max_int(6, a->scale + b->precision + 1);
        precision = a->precision - a->scale + b->scale + scale;
        break;
    case DECIMAL_OP_REMAINDER:
        scale = max_int(a->scale, b->scale);
        precision = min_int(a->precision - a->scale, b->precision - b->scale) + scale;
        break;
    }
    return ctx->decimal_precision_loss ? coercion_decimal_adjusted(ctx->arena, precision, scale)
                                       : coercion_decimal_bounded(ctx->arena, precision, scale);
}

/* ---- common types ---- */

typedef const struct type *pair_rule(const struct resolve_context *ctx, const struct type *a,
                                     const struct type *b);

static const struct type *numbers(const struct resolve_context *ctx, const struct type *a,
                                  const struct type *b)
{
    bool floating_a = a->id == TYPE_FLOAT || a->id == TYPE_DOUBLE;
    bool floating_b = b->id == TYPE_FLOAT || b->id == TYPE_DOUBLE;
    if (a->id == TYPE_DECIMAL || b->id == TYPE_DECIMAL) {
        if (floating_a || floating_b)
            return type_simple(TYPE_DOUBLE);
        return decimal_wider(ctx->arena, coercion_decimal_of(ctx, a), coercion_decimal_of(ctx, b));
    }
    if (a->id == b->id)
        return a;
    if (ctx->ansi && (floating_a || floating_b))
        return type_simple(TYPE_DOUBLE);
    return a->id > b->id ? a : b; /* type ids of numbers are in order of width */
}

static bool is_datetime(const struct type *type)
{
    return type->id == TYPE_DATE || type->id == TYPE_TIMESTAMP || type->id == TYPE_TIMESTAMP_NTZ;
}

static const struct type *datetimes(const struct type *a, const struct type *b)
{
    if (a->id == TYPE_TIMESTAMP || b->id == TYPE_TIMESTAMP)
        return type_simple(TYPE_TIMESTAMP);
    if (a->id == TYPE_TIMESTAMP_NTZ || b->id == TYPE_TIMESTAMP_NTZ)
        return type_simple(TYPE_TIMESTAMP_NTZ);
    return a;
}

static const struct type *intervals(struct arena *arena, const struct type *a, const struct type *b)
{
    enum interval_field from =
        (enum interval_field)min_int((int)a->interval_from, (int)b->interval_from);
    enum interval_field to = (enum interval_field)max_int((int)a->interval_to, (int)b->interval_to);
    return type_interval(arena, from, to);
}

static bool same_field_names(const struct type *a, const struct type *b)
{
    for (uint32_t i = 0; i < a->field_count; i++) {
        if (strcasecmp(a->fields[i].name, b->fields[i].name) != 0)
            return false;
    }
    return true;
}

static const struct type *structs(const struct resolve_context *ctx, const struct type *a,
                                  const struct type *b, pair_rule *rule)
{
    if (a->field_count != b->field_count || !same_field_names(a, b))
        return NULL;
    struct type_field *fields =
        arena_new_object(ctx->arena, ((size_t)a->field_count + 1) * sizeof *fields);
    for (uint32_t i = 0; i < a->field_count; i++) {
        const struct type_field *x = &a->fields[i];
        const struct type_field *y = &b->fields[i];
        const struct type *type = rule(ctx, x->type, y->type);
        if (type == NULL)
            return NULL;
        fields[i] = *x;
        fields[i].type = type;
        fields[i].nullable = x->nullable || y->nullable;
    }
    return type_struct(ctx->arena, fields, a->field_count);
}

/* Arrays, maps, structs: part by part with the rule. */
static const struct type *nested(const struct resolve_context *ctx, const struct type *a,
                                 const struct type *b, pair_rule *rule)
{
    CHECK(a != NULL && b != NULL);
    if (a->id != b->id)
        return NULL;
    if (a->id == TYPE_STRUCT)
        return structs(ctx, a, b, rule);
    const struct type *element = rule(ctx, a->element, b->element);
    if (element == NULL)
        return NULL;
    bool nullable = a->element_nullable || b->element_nullable;
    if (a->id == TYPE_ARRAY)
        return type_array(ctx->arena, element, nullable);
    const struct type *key = rule(ctx, a->key, b->key);
    return key == NULL ? NULL : type_map(ctx->arena, key, element, nullable);
}

static const struct type *common_atomic(const struct resolve_context *ctx, const struct type *a,
                                        const struct type *b)
{
    if (a->id == TYPE_VOID)
        return b;
    if (b->id == TYPE_VOID)
        return a;
    if (type_is_numeric(a) && type_is_numeric(b))
        return numbers(ctx, a, b);
    if (is_datetime(a) && is_datetime(b))
        return datetimes(a, b);
    if (a->id == b->id && (a->id == TYPE_INTERVAL_DT || a->id == TYPE_INTERVAL_YM))
        return intervals(ctx->arena, a, b);
    if (a->id == b->id && a->id == TYPE_TIME)
        return a->precision > b->precision ? a : b;
    if (a->id == b->id && !type_is_nested(a))
        return a;
    return NULL;
}

const struct type *coercion_tightest(const struct resolve_context *ctx, const struct type *a,
                                     const struct type *b)
{
    const struct type *type = common_atomic(ctx, a, b);
    if (type == NULL && type_is_nested(a) && type_is_nested(b))
        type = nested(ctx, a, b, coercion_tightest);
    return type;
}

static bool is_ansi_interval(const struct type *type)
{
    return type->id == TYPE_INTERVAL_DT || type->id == TYPE_INTERVAL_YM;
}

/* What a string becomes next to `other`; NULL: they do not meet. */
static const struct type *string_with(const struct resolve_context *ctx, const struct type *other)
{
    if (type_is_nested(other) || other->id == TYPE_INTERVAL)
        return NULL;
    if (!ctx->ansi)
        return other->id == TYPE_BINARY || other->id == TYPE_BOOLEAN ? NULL
                                                                     : type_simple(TYPE_STRING);
    if (is_ansi_interval(other))
        return NULL;
    if (type_is_integral(other))
        return type_simple(TYPE_LONG);
    if (type_is_numeric(other))
        return type_simple(TYPE_DOUBLE);
    return other;
}

const struct type *coercion_common(const struct resolve_context *ctx, const struct type *a,
                                   const struct type *b)
{
    CHECK(a != NULL && b != NULL);
    const struct type *type = common_atomic(ctx, a, b);
    if (type != NULL)
        return type;
    if (a->id == TYPE_STRING)
        return string_with(ctx, b);
    if (b->id == TYPE_STRING)
        return string_with(ctx, a);
    if (type_is_nested(a) && type_is_nested(b))
        return nested(ctx, a, b, coercion_common);
    return NULL;
}

const struct type *coercion_common_of(const struct resolve_context *ctx, struct expr *const *exprs,
                                      uint32_t count, bool strings)
{
    const struct type *type = type_simple(TYPE_VOID);
    /* Without ANSI mode strings come first, so that 1, 'a', 2.5 meets as text. */
    bool first = false;
    for (uint32_t i = 0; i < count && strings && !ctx->ansi; i++)
        first |= exprs[i]->type->id == TYPE_STRING;
    if (first)
        type = type_simple(TYPE_STRING);
    for (uint32_t i = 0; i < count; i++) {
        type = strings ? coercion_common(ctx, type, exprs[i]->type)
                       : coercion_tightest(ctx, type, exprs[i]->type);
        if (type == NULL)
            return NULL;
    }
    return type;
}

const struct type *coercion_union(const struct resolve_context *ctx, const struct type *a,
                                  const struct type *b)
{
    /* structs may differ in their names: those of the first side win */
    return type_equal_unnamed(a, b) ? a : coercion_common(ctx, a, b);
}

/* ---- casts ---- */

struct expr *coercion_cast(const struct resolve_context *ctx, struct expr *expr,
                           const struct type *type)
{
    CHECK(expr->type != NULL);
    if (type_equal(expr->type, type))
        return expr;
    if (expr->kind == EXPR_LITERAL && expr->type->id == TYPE_VOID) {
        struct expr *null = expr_null(ctx->arena, type);
        null->position = expr->position;
        null->position_end = expr->position_end;
        return null;
    }
    struct expr *cast =
        expr_cast(ctx->arena, expr, type, ctx->ansi ? CAST_ANSI : CAST_LEGACY, ctx->time_zone);
    cast->cast.implicit = true;
    bool total = cast_is_total(expr->type, type, cast->cast.mode);
    cast->nullable = expr->nullable || (!ctx->ansi && !total);
    return cast;
}

bool coercion_unify(const struct resolve_context *ctx, struct expr **args, uint32_t count,
                    bool strings)
{
    const struct type *type = coercion_common_of(ctx, args, count, strings);
    if (type == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        args[i] = coercion_cast(ctx, args[i], type);
    return true;
}

static bool nested_fits(const struct resolve_context *ctx, const struct type *from,
                        const struct type *to)
{
    if (from->id != to->id)
        return false;
    if (from->id == TYPE_STRUCT) {
        if (from->field_count != to->field_count)
            return false;
        for (uint32_t i = 0; i < from->field_count; i++) {
            if (!coercion_can_cast_implicitly(ctx, from->fields[i].type, to->fields[i].type))
                return false;
        }
        return true;
    }
    return coercion_can_cast_implicitly(ctx, from->element, to->element) &&
           (from->id != TYPE_MAP || coercion_can_cast_implicitly(ctx, from->key, to->key));
}

bool coercion_can_cast_implicitly(const struct resolve_context *ctx, const struct type *from,
                                  const struct type *to)
{
    if (type_equal(from, to) || from->id == TYPE_VOID)
        return true;
    if (type_is_nested(from) || type_is_nested(to))
        return nested_fits(ctx, from, to);
    if (type_is_numeric(from) && type_is_numeric(to))
        return true; /* as a stored assignment: a value that does not fit fails at run time */
    if (is_datetime(from) && is_datetime(to))
        return true;
    if (from->id == to->id)
        return true;
    if (from->id == TYPE_INTERVAL || to->id == TYPE_INTERVAL)
        return false;
    if (from->id == TYPE_STRING)
        return ctx->ansi || (to->id != TYPE_BOOLEAN && !is_ansi_interval(to));
    return to->id == TYPE_STRING;
}
