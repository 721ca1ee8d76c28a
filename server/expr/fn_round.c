/*
 * round, bround, ceil, floor.  Doubles are rounded by the digits they print as, decimals by theirs;
 * the scale is a constant.
 */
#include "base/check.h"
#include "columnar/decimal.h"
#include "expr/fn_math.h"
#include "expr/fn_support.h"

#include <math.h>
#include <stdio.h>

struct round_options {
    int32_t scale;
    bool scale_null;
    bool ansi;
    enum decimal_rounding rounding;
};

/* ---- doubles ---- */

static double round_double(double x, int32_t scale, enum decimal_rounding rounding)
{
    if (!isfinite(x) || x == 0.0)
        return x == 0.0 ? 0.0 : x;
    int exponent;
    uint64_t digits = number_shortest_double(fabs(x), &exponent);
    if (scale > 400 || -exponent <= scale)
        return x;
    int64_t drop = -(int64_t)exponent - scale;
    if (drop > 25)
        return 0.0;
    int128 signed_digits = x < 0 ? -(int128)digits : (int128)digits;
    int128 rounded;
    if (!decimal_rescale((struct decimal){signed_digits, (int)drop}, 0, rounding, &rounded))
        return x;
    if (rounded == 0)
        return 0.0;
    char text[64];
    int size = snprintf(text, sizeof(text), "%llde%d", (long long)rounded, -scale);
    double result = x;
    (void)number_parse_double(bytes_of(text, (size_t)size), &result);
    return result;
}

/* ---- integers ---- */

static enum status round_overflow(struct error *err)
{
    return error_raise(err, STATUS_ARITHMETIC_OVERFLOW, "message", "Overflow", "alternative", "",
                       "config", "\"spark.sql.ansi.enabled\"", NULL);
}

static bool round_integer(int64_t x, int32_t scale, enum decimal_rounding rounding, int64_t *out)
{
    if (scale >= 0) {
        *out = x;
        return true;
    }
    if (scale < -20) {
        *out = 0;
        return true;
    }
    int128 rounded;
    if (!decimal_rescale((struct decimal){x, 0}, scale, rounding, &rounded))
        return false;
    int128 value = rounded * decimal_power10(-scale);
    *out = (int64_t)value;
    return value == *out;
}

static enum status store_integer(const struct kernel_call *call, uint32_t row, int64_t value,
                                 bool fits, struct error *err)
{
    const struct round_options *options = call->expr->call.bound;
    static const int64_t limits[] = {
        [TYPE_BYTE] = INT8_MAX, [TYPE_SHORT] = INT16_MAX, [TYPE_INT] = INT32_MAX};
    enum type_id id = call->out->type->id;
    if (id != TYPE_LONG && (value > limits[id] || value < -limits[id] - 1))
        fits = false;
    if (!fits && options->ansi)
        return round_overflow(err);
    switch ((int)id) {
    case TYPE_BYTE:
        KERNEL_OUT(int8_t, call)[row] = (int8_t)value;
        break;
    case TYPE_SHORT:
        KERNEL_OUT(int16_t, call)[row] = (int16_t)value;
        break;
    case TYPE_INT:
        KERNEL_OUT(int32_t, call)[row] = (int32_t)value;
        break;
    default:
        KERNEL_OUT(int64_t, call)[row] = value;
    }
    return OK;
}

static int64_t integer_at(const struct kernel_call *call, uint32_t row)
{
    switch ((int)call->args[0]->type->id) {
    case TYPE_BYTE:
        return KERNEL_ARG(int8_t, call, 0, row);
    case TYPE_SHORT:
        return KERNEL_ARG(int16_t, call, 0, row);
    case TYPE_INT:
        return kernel_int(call, 0, row);
    default:
        return kernel_long(call, 0, row);
    }
}

/* ---- decimals ---- */

static enum status round_decimal(const struct kernel_call *call, uint32_t row, struct error *err)
{
    const struct round_options *options = call->expr->call.bound;
    const struct type *to = call->out->type;
    struct decimal value = {KERNEL_ARG(int128, call, 0, row), call->args[0]->type->scale};
    int scale = options->scale > value.scale ? value.scale
                : options->scale < -38       ? -38
                                             : options->scale;
    int128 rounded;
    int128 result;
    if (decimal_rescale(value, scale, options->rounding, &rounded) &&
        decimal_convert((struct decimal){rounded, scale}, to->precision, to->scale, &result)) {
        KERNEL_OUT(int128, call)[row] = result;
        return OK;
    }
    if (!options->ansi)
        return kernel_set_null(call, row, err);
    char text[DECIMAL_TEXT_MAX + 1];
    text[decimal_print(text, value)] = '\0';
    return error_raise(err, STATUS_NUMERIC_VALUE_OUT_OF_RANGE__WITH_SUGGESTION, "value", text,
                       "precision", kernel_error_number(call, to->precision), "scale",
                       kernel_error_number(call, to->scale), "config", "\"spark.sql.ansi.enabled\"",
                       NULL);
}

static enum status cell_kernel_round(const struct kernel_call *call, uint32_t row,
                                     struct error *err)
{
    const struct round_options *options = call->expr->call.bound;
    if (options->scale_null || kernel_arg_is_null(call, 0, row))
        return kernel_set_null(call, row, err);
    switch ((int)call->args[0]->type->id) {
    case TYPE_DECIMAL:
        return round_decimal(call, row, err);
    case TYPE_DOUBLE:
        KERNEL_OUT(double, call)
        [row] = round_double(KERNEL_ARG(double, call, 0, row), options->scale, options->rounding);
        return OK;
    case TYPE_FLOAT:
        KERNEL_OUT(float, call)
        [row] = (float)round_double((double)KERNEL_ARG(float, call, 0, row), options->scale,
                                    options->rounding);
        return OK;
    default: {
        int64_t value = 0;
        bool fits = round_integer(integer_at(call, row), options->scale, options->rounding, &value);
        return store_integer(call, row, value, fits, err);
    }
    }
}

KERNEL_EACH(kernel_round)

/* ceil and floor without a scale: DOUBLE and BIGINT give BIGINT, DECIMAL gives DECIMAL. */
static enum status cell_kernel_ceil(const struct kernel_call *call, uint32_t row, struct error *err)
{
    const struct round_options *options = call->expr->call.bound;
    switch ((int)call->args[0]->type->id) {
    case TYPE_DECIMAL:
        return round_decimal(call, row, err);
    case TYPE_DOUBLE: {
        double x = KERNEL_ARG(double, call, 0, row);
        x = options->rounding == DECIMAL_CEILING ? ceil(x) : floor(x);
        bool fits = isnan(x) || (x >= -9.2233720368547758e18 && x < 9.2233720368547758e18);
        if (!fits && options->ansi)
            return error_raise(err, STATUS_ARITHMETIC_OVERFLOW, "message", "overflow",
                               "alternative", "", "config", "\"spark.sql.ansi.enabled\"", NULL);
        KERNEL_OUT(int64_t, call)
        [row] = isnan(x) ? 0 : fits ? (int64_t)x : x < 0 ? INT64_MIN : INT64_MAX;
        return OK;
    }
    default:
        KERNEL_OUT(int64_t, call)[row] = kernel_long(call, 0, row);
        return OK;
    }
}

KERNEL_EACH(kernel_ceil)

/* ---- resolvers ---- */

/* The type of a DECIMAL rounded to `scale`: one more digit before the point may be needed. */
static const struct type *rounded_type(struct arena *arena, const struct type *type, int32_t scale)
{
    int whole = type->precision - type->scale + 1;
    if (scale < 0) {
        int precision = whole > -scale + 1 ? whole : -scale + 1;
        return type_decimal(arena, precision < 38 ? precision : 38, 0);
    }
    int kept = type->scale < scale ? type->scale : scale;
    return type_decimal(arena, whole + kept < 38 ? whole + kept : 38, kept);
}

static enum status bind_scale(struct resolve_context *ctx, struct expr *call,
                              struct round_options **out, struct error *err)
{
    struct round_options *options = arena_new_object(ctx->arena, sizeof(*options));
    options->ansi = ctx->ansi;
    call->call.bound = options;
    *out = options;
    struct vector *scale;
    if (call->args[1]->type->id != TYPE_INT)
        call->args[1] = coercion_cast(ctx, call->args[1], type_simple(TYPE_INT));
    if (!expr_is_foldable(call->args[1]))
        return function_not_foldable(call, 1, "scale", err);
    TRY(function_constant(ctx, call, 1, "scale", &scale, err));
    options->scale_null = vector_is_null(scale, 0);
    if (!options->scale_null)
        options->scale = VECTOR_VALUES(int32_t, scale)[0];
    return OK;
}

RESOLVER(resolve_round)
{
    *out = call;
    struct round_options *options;
    bool even = strcmp(call->call.function->name, "bround") == 0;
    if (call->arg_count == 1)
        function_add_arg(ctx, call, expr_literal_int(ctx->arena, 0));
    const struct type *type = call->args[0]->type;
    if (!type_is_numeric(type)) {
        if (!coercion_can_cast_implicitly(ctx, type, type_simple(TYPE_DOUBLE)))
            return function_wrong_type(call, 0, "\"NUMERIC\"", err);
        call->args[0] = coercion_cast(ctx, call->args[0], type_simple(TYPE_DOUBLE));
    }
    if (!type_is_numeric(call->args[1]->type) && call->args[1]->type->id != TYPE_STRING &&
        call->args[1]->type->id != TYPE_VOID)
        return function_wrong_type(call, 1, "\"INT\"", err);
    TRY(bind_scale(ctx, call, &options, err));
    options->rounding = even ? DECIMAL_HALF_EVEN : DECIMAL_HALF_UP;
    type = call->args[0]->type;
    if (type->id == TYPE_DECIMAL)
        type = rounded_type(ctx->arena, type, options->scale);
    function_finish(call, type);
    call->nullable = true;
    return OK;
}

/* ceil(x, scale): always over decimals. */
static enum status resolve_ceil_scale(struct resolve_context *ctx, struct expr *call,
                                      struct round_options **options, struct error *err)
{
    const struct type *type = call->args[0]->type;
    call->call.function = function_find(
        strcmp(call->call.function->name, "ceil") == 0 ? "ceil scale" : "floor scale");
    CHECK(call->call.function != NULL);
    TRY(bind_scale(ctx, call, options, err));
    if ((*options)->scale_null)
        return error_raise_at(err, STATUS_NON_FOLDABLE_ARGUMENT, call->position, call->position_end,
                              "funcName", arena_sprintf(ctx->arena, "`%s`", call->call.name),
                              "paramName", "`scale`", "paramType", "\"INT\"", NULL);
    if (type->id != TYPE_DECIMAL) {
        const struct type *decimal = type_is_numeric(type) ? coercion_decimal_of(ctx, type)
                                                           : type_decimal(ctx->arena, 38, 18);
        if (!type_is_numeric(type) && type->id != TYPE_STRING && type->id != TYPE_VOID)
            return function_wrong_type(call, 0, "\"DECIMAL\"", err);
        call->args[0] = coercion_cast(ctx, call->args[0], decimal);
    }
    call->call.kernel = kernel_round;
    function_finish(call, rounded_type(ctx->arena, call->args[0]->type, (*options)->scale));
    return OK;
}

RESOLVER(resolve_ceil)
{
    static const struct round_options plain[2][2] = {
        {{.rounding = DECIMAL_FLOOR}, {.rounding = DECIMAL_FLOOR, .ansi = true}},
        {{.rounding = DECIMAL_CEILING}, {.rounding = DECIMAL_CEILING, .ansi = true}},
    };
    *out = call;
    bool up = strcmp(call->call.function->name, "ceil") == 0;
    if (call->arg_count == 2) {
        struct round_options *options;
        TRY(resolve_ceil_scale(ctx, call, &options, err));
        options->rounding = up ? DECIMAL_CEILING : DECIMAL_FLOOR;
        return OK;
    }
    call->call.bound = &plain[up][ctx->ansi];
    const struct type *type = call->args[0]->type;
    if (type->id == TYPE_DECIMAL) {
        function_finish(call, rounded_type(ctx->arena, type, 0));
        return OK;
    }
    return function_apply(ctx, call, type_is_integral(type) ? "bigint->bigint" : "double->bigint",
                          err);
}
