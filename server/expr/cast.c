#include "expr/cast.h"

#include "base/check.h"
#include "columnar/decimal.h"
#include "columnar/number_text.h"
#include "columnar/timestamp_text.h"
#include "columnar/value_text.h"
#include "expr/cast_impl.h"
#include "expr/decimal_error.h"
#include "expr/fn_variant.h"
#include "expr/resolvers.h"

#include <math.h>

#define ANSI_CONFIG "\"spark.sql.ansi.enabled\""

/* ---- which casts exist ---- */

static bool is_ansi_interval(const struct type *type)
{
    return type->id == TYPE_INTERVAL_DT || type->id == TYPE_INTERVAL_YM;
}

static bool is_exact_number(const struct type *type)
{
    return type_is_integral(type) || type->id == TYPE_DECIMAL;
}

static bool nested_exists(const struct type *from, const struct type *to, enum cast_mode mode)
{
    if (from->id != to->id)
        return false;
    if (from->id != TYPE_STRUCT)
        return cast_exists(from->element, to->element, mode) &&
               (from->id == TYPE_ARRAY ||
                (cast_exists(from->key, to->key, mode) &&
                 (mode == CAST_ANSI || cast_is_total(from->key, to->key, mode))));
    if (from->field_count != to->field_count)
        return false;
    for (uint32_t i = 0; i < from->field_count; i++) {
        if (!cast_exists(from->fields[i].type, to->fields[i].type, mode))
            return false;
    }
    return true;
}

static bool to_number_exists(const struct type *from, const struct type *to, enum cast_mode mode)
{
    switch (from->id) {
    case TYPE_BOOLEAN:
    case TYPE_STRING:
        return true;
    case TYPE_TIMESTAMP:
        return true;
    case TYPE_DATE:
        return mode == CAST_LEGACY;
    case TYPE_TIME:
        return type_is_integral(to) || to->id == TYPE_DECIMAL;
    case TYPE_INTERVAL_DT:
    case TYPE_INTERVAL_YM:
        return is_exact_number(to);
    default:
        return type_is_numeric(from);
    }
}

static bool to_interval_exists(const struct type *from, const struct type *to)
{
    return from->id == to->id || from->id == TYPE_STRING ||
           (to->id != TYPE_INTERVAL && is_exact_number(from));
}

static bool is_datetime(const struct type *type)
{
    return type->id == TYPE_DATE || type->id == TYPE_TIMESTAMP || type->id == TYPE_TIMESTAMP_NTZ;
}

bool cast_exists(const struct type *from, const struct type *to, enum cast_mode mode)
{
    if (from->id == TYPE_VOID || type_equal(from, to))
        return true;
    if (to->id == TYPE_VARIANT)
        return variant_type_is_castable(from, false);
    if (from->id == TYPE_VARIANT)
        return variant_type_is_castable(to, true);
    if (to->id == TYPE_STRING)
        return true;
    if (type_is_nested(from) || type_is_nested(to))
        return nested_exists(from, to, mode);
    switch (to->id) {
    case TYPE_BOOLEAN:
        return type_is_numeric(from) || from->id == TYPE_STRING ||
               (mode == CAST_LEGACY && (from->id == TYPE_DATE || from->id == TYPE_TIMESTAMP));
    case TYPE_BYTE:
    case TYPE_SHORT:
    case TYPE_INT:
    case TYPE_LONG:
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_DECIMAL:
        return to_number_exists(from, to, mode);
    case TYPE_BINARY:
        return from->id == TYPE_STRING || (mode == CAST_LEGACY && type_is_integral(from));
    case TYPE_DATE:
    case TYPE_TIMESTAMP_NTZ:
        return is_datetime(from) || from->id == TYPE_STRING;
    case TYPE_TIMESTAMP:
        return is_datetime(from) || from->id == TYPE_STRING || type_is_numeric(from) ||
               (mode == CAST_LEGACY && from->id == TYPE_BOOLEAN);
    case TYPE_TIME:
        return from->id == TYPE_STRING || from->id == TYPE_TIME;
    case TYPE_INTERVAL_DT:
    case TYPE_INTERVAL_YM:
    case TYPE_INTERVAL:
        return to_interval_exists(from, to);
    case TYPE_VOID:
    case TYPE_STRING:
    case TYPE_VARIANT:
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
        return false;
    }
    return false;
}

static bool number_is_total(const struct type *from, const struct type *to)
{
    if (to->id == TYPE_DECIMAL) {
        int whole = to->precision - to->scale;
        switch (from->id) {
        case TYPE_BYTE:
            return whole >= 3;
        case TYPE_SHORT:
            return whole >= 5;
        case TYPE_INT:
            return whole >= 10;
        case TYPE_LONG:
            return whole >= 19;
        case TYPE_DECIMAL:
            return whole >= from->precision - from->scale && to->scale >= from->scale;
        default:
            return false;
        }
    }
    if (to->id == TYPE_FLOAT || to->id == TYPE_DOUBLE)
        return true;
    return type_is_integral(from) && from->id <= to->id;
}

bool cast_is_total(const struct type *from, const struct type *to, enum cast_mode mode)
{
    if (type_equal(from, to) || (to->id == TYPE_STRING && from->id != TYPE_VARIANT))
        return true;
    if (from->id == TYPE_VOID || from->id == TYPE_VARIANT)
        return false;
    if (type_is_numeric(from) && type_is_numeric(to))
        return number_is_total(from, to);
    if (is_datetime(from) && is_datetime(to))
        return true;
    if (from->id == TYPE_STRING && to->id == TYPE_BINARY)
        return true;
    if (is_ansi_interval(from) && from->id == to->id)
        return true;
    if (from->id == TYPE_ARRAY && to->id == TYPE_ARRAY)
        return cast_is_total(from->element, to->element, mode);
    return to->id == TYPE_BOOLEAN && type_is_numeric(from);
}

/* ---- resolving ---- */

/* The functions that do what the cast does not; NULL: none. */
static const char *suggested_functions(const struct type *from, const struct type *to)
{
    if (type_is_numeric(from) && to->id == TYPE_DATE)
        return "`DATE_FROM_UNIX_DATE`";
    if (from->id == TYPE_DATE && type_is_numeric(to))
        return "`UNIX_DATE`";
    return NULL;
}

static enum status no_such_cast(struct resolve_context *ctx, const struct expr *cast, bool ansi,
                                struct error *err)
{
    const struct type *from = cast->args[0]->type;
    const struct type *to = cast->type;
    const char *sql = function_sql(ctx->arena, cast);
    const char *source = function_sql_type(ctx->arena, from);
    const char *target = function_sql_type(ctx->arena, to);
    const char *functions = suggested_functions(from, to);
    if (cast->cast.mode != CAST_LEGACY && functions != NULL)
        return error_raise(err, STATUS_DATATYPE_MISMATCH__CAST_WITH_FUNC_SUGGESTION, "sqlExpr", sql,
                           "srcType", source, "targetType", target, "functionNames", functions,
                           NULL);
    if (ansi && cast->cast.mode == CAST_ANSI && cast_exists(from, to, CAST_LEGACY))
        return error_raise(err, STATUS_DATATYPE_MISMATCH__CAST_WITH_CONF_SUGGESTION, "sqlExpr", sql,
                           "srcType", source, "targetType", target, "config", ANSI_CONFIG,
                           "configVal", "'false'", NULL);
    return error_raise(err, STATUS_DATATYPE_MISMATCH__CAST_WITHOUT_SUGGESTION, "sqlExpr", sql,
                       "srcType", source, "targetType", target, NULL);
}

/* CAST('epoch' AS DATE): the special words are read in constants only; the name stays. */
static struct expr *special_word(struct resolve_context *ctx, struct expr *operand,
                                 const struct type *type)
{
    bool time =
        type->id == TYPE_DATE || type->id == TYPE_TIMESTAMP || type->id == TYPE_TIMESTAMP_NTZ;
    if (!time || operand->kind != EXPR_LITERAL || operand->type->id != TYPE_STRING ||
        vector_is_null(operand->literal.value, 0))
        return operand;
    const struct zone *zone = timezone_lookup(bytes_of_text(ctx->time_zone));
    struct timestamp_context context = {.zone = zone == NULL ? timezone_utc() : zone,
                                        .now_us = ctx->now_us};
    struct bytes word = *VECTOR_VALUES(struct bytes, operand->literal.value);
    int64_t us;
    if (!timestamp_text_special(word, &context, &us))
        return operand;
    char text[TIMESTAMP_TEXT_MAX];
    size_t size = timestamp_text_print(text, us, context.zone);
    struct expr *literal = expr_literal_string(ctx->arena, bytes_of(text, size));
    literal->literal.text = arena_strndup(ctx->arena, word.data, word.size_bytes);
    return literal;
}

enum status cast_resolve(struct resolve_context *ctx, struct expr *operand, const struct type *type,
                         bool try_cast, struct expr **out, struct error *err)
{
    enum cast_mode mode = try_cast ? CAST_TRY : ctx->ansi ? CAST_ANSI : CAST_LEGACY;
    struct expr *cast =
        expr_cast(ctx->arena, special_word(ctx, operand, type), type, mode, ctx->time_zone);
    cast->position = operand->position;
    cast->position_end = operand->position_end;
    if (!cast_exists(operand->type, type, mode)) {
        enum status status = no_such_cast(ctx, cast, ctx->ansi, err);
        error_at(err, operand->position, operand->position_end);
        return status;
    }
    bool total = cast_is_total(operand->type, type, mode);
    cast->nullable = operand->nullable || (!total && mode != CAST_ANSI) ||
                     (operand->type->id == TYPE_VARIANT && type->id != TYPE_VARIANT);
    *out = cast;
    return OK;
}

/* ---- errors of values ---- */

/* The value as Spark quotes it in messages: 128L, 1.5BD, 'text', DATE '...'. */
static void print_value(struct buffer *out, const struct vector *vector, uint32_t row,
                        const struct zone *zone)
{
    uint32_t index = vector_index(vector, row);
    char text[DECIMAL_TEXT_MAX];
    switch (vector->type->id) {
    case TYPE_STRING: {
        struct bytes value = VECTOR_VALUES(struct bytes, vector)[index];
        buffer_add_byte(out, '\'');
        for (size_t i = 0; i < value.size_bytes; i++) {
            if (value.data[i] == '\'' || value.data[i] == '\\')
                buffer_add_byte(out, '\\');
            buffer_add_byte(out, value.data[i]);
        }
        buffer_add_byte(out, '\'');
        return;
    }
    case TYPE_BYTE:
    case TYPE_SHORT:
    case TYPE_INT:
    case TYPE_LONG:
        buffer_add(out, text, number_print_int64(text, cast_integer(vector, index)));
        buffer_add_text(out, vector->type->id == TYPE_BYTE    ? "Y"
                             : vector->type->id == TYPE_SHORT ? "S"
                             : vector->type->id == TYPE_LONG  ? "L"
                                                              : "");
        return;
    case TYPE_FLOAT:
        buffer_add(out, text, number_print_float(text, VECTOR_VALUES(float, vector)[index]));
        return;
    case TYPE_DOUBLE: {
        double value = VECTOR_VALUES(double, vector)[index];
        buffer_add(out, text, number_print_double(text, value));
        if (value == value && value - value == 0)
            buffer_add_byte(out, 'D');
        return;
    }
    case TYPE_DECIMAL: {
        struct decimal decimal = {VECTOR_VALUES(int128, vector)[index], vector->type->scale};
        buffer_add(out, text, decimal_print(text, decimal));
        buffer_add_text(out, "BD");
        return;
    }
    default:
        value_text_print_literal(out, vector, index, zone);
        return;
    }
}

static enum status raise_value(const struct cast_job *job, uint32_t row, enum status status,
                               const char *name, struct error *err)
{
    struct arena *arena = arena_new("message", 0);
    struct buffer value = {0};
    print_value(&value, job->in, row, job->zone);
    error_raise(err, status, name, buffer_text(&value), "sourceType",
                function_sql_type(arena, job->in->type), "targetType",
                function_sql_type(arena, job->out->type), "ansiConfig", ANSI_CONFIG, NULL);
    buffer_fini(&value);
    arena_free(arena);
    return status;
}

enum status cast_set_null(const struct cast_job *job, uint32_t row, struct error *err)
{
    if (job->out->validity == NULL)
        TRY(vector_make_nullable(job->ctx->arena, job->out, err));
    vector_set_null(job->out, row);
    return OK;
}

enum status cast_invalid(const struct cast_job *job, uint32_t row, struct error *err)
{
    if (job->mode != CAST_ANSI)
        return cast_set_null(job, row, err);
    return raise_value(job, row, STATUS_CAST_INVALID_INPUT, "expression", err);
}

enum status cast_overflow(const struct cast_job *job, uint32_t row, struct error *err)
{
    if (job->mode != CAST_ANSI)
        return cast_set_null(job, row, err);
    return raise_value(job, row, STATUS_CAST_OVERFLOW, "value", err);
}

enum status cast_interval_overflow(const struct cast_job *job, uint32_t row, struct error *err)
{
    if (job->mode == CAST_TRY)
        return cast_set_null(job, row, err);
    return raise_value(job, row, STATUS_CAST_OVERFLOW, "value", err);
}

/* The digits a double prints as, if some are behind the point. */
static bool fraction_of_double(double value, struct decimal *out)
{
    int exponent;
    int128 digits = number_shortest_double(fabs(value), &exponent);
    *out = (struct decimal){value < 0 ? -digits : digits, -exponent};
    return exponent < 0 && exponent >= -DECIMAL_PRECISION_MAX;
}

enum status cast_decimal_overflow(const struct cast_job *job, uint32_t row, struct error *err)
{
    if (job->mode != CAST_ANSI)
        return cast_set_null(job, row, err);
    struct buffer value = {0};
    uint32_t index = vector_index(job->in, row);
    int128 exact;
    struct decimal fraction;
    char text[DECIMAL_TEXT_MAX];
    if (job->in->type->id == TYPE_BOOLEAN) {
        buffer_add_text(&value, VECTOR_VALUES(uint8_t, job->in)[index] != 0 ? "1" : "0");
    } else if (job->in->type->id == TYPE_DOUBLE &&
               fraction_of_double(VECTOR_VALUES(double, job->in)[index], &fraction)) {
        buffer_add(&value, text, decimal_print(text, fraction));
    } else if (job->in->type->id == TYPE_DOUBLE &&
               decimal_from_double(VECTOR_VALUES(double, job->in)[index], 38, 0, &exact)) {
        buffer_add(&value, text, decimal_print(text, (struct decimal){exact, 0}));
    } else {
        value_text_print(&value, job->in, index, job->zone);
    }
    enum status status = decimal_error(buffer_text(&value), job->out->type, err);
    buffer_fini(&value);
    return status;
}

/* ---- running ---- */

static cast_function *function_of(const struct type *from, const struct type *to)
{
    cast_function *function = cast_to_variant(from, to);
    if (function != NULL)
        return function;
    if (type_is_nested(to))
        return cast_to_nested(from, to);
    switch (to->id) {
    case TYPE_BOOLEAN:
    case TYPE_BYTE:
    case TYPE_SHORT:
    case TYPE_INT:
    case TYPE_LONG:
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_DECIMAL:
        function = cast_to_number(from, to);
        break;
    case TYPE_STRING:
    case TYPE_BINARY:
        function = cast_to_text(from, to);
        break;
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_TIME:
        function = cast_to_time(from, to);
        break;
    case TYPE_INTERVAL_DT:
    case TYPE_INTERVAL_YM:
    case TYPE_INTERVAL:
        function = cast_to_interval(from, to);
        break;
    case TYPE_VOID:
    case TYPE_VARIANT:
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
        break;
    }
    return function;
}

static enum status inherit_validity(const struct cast_job *job, struct error *err)
{
    if (job->in->constant || job->in->validity == NULL)
        return OK;
    void *copy;
    size_t words = validity_words(job->rows->rows);
    TRY(arena_alloc_raw(job->ctx->arena, words + 1, sizeof(uint64_t), &copy, err));
    memcpy(copy, job->in->validity, words * sizeof(uint64_t));
    job->out->validity = copy;
    return OK;
}

static bool same_cells(const struct type *from, const struct type *to)
{
    return type_equal_unnamed(from, to) || (from->id == TYPE_STRING && to->id == TYPE_BINARY) ||
           (from->id == TYPE_BINARY && to->id == TYPE_STRING);
}

/* A view of `in` as another type of the same cells. */
static struct vector *retype(struct arena *arena, const struct vector *in, const struct type *type)
{
    struct vector *view = arena_new_object(arena, sizeof *view);
    *view = *in;
    view->type = type;
    if (in->child_count == 0)
        return view;
    view->children = arena_new_object(arena, in->child_count * sizeof(struct vector *));
    for (uint32_t i = 0; i < in->child_count; i++) {
        const struct type *child = type->id == TYPE_STRUCT          ? type->fields[i].type
                                   : type->id == TYPE_MAP && i == 0 ? type->key
                                                                    : type->element;
        view->children[i] = retype(arena, in->children[i], child);
    }
    return view;
}

enum status cast_vector(const struct eval_context *ctx, const struct expr *cast,
                        const struct vector *in, const struct cast_rows *rows, struct vector **out,
                        struct error *err)
{
    const struct type *to = cast->type;
    if (in->type->id == TYPE_VOID)
        return vector_new_null(ctx->arena, to, rows->rows, out, err);
    if (same_cells(in->type, to)) {
        *out = retype(ctx->arena, in, to);
        return OK;
    }
    struct cast_job job = {
        .ctx = ctx, .mode = cast->cast.mode, .zone = ctx->zone, .in = in, .rows = rows};
    if (cast->cast.time_zone != NULL) {
        const struct zone *zone = timezone_lookup(bytes_of_text(cast->cast.time_zone));
        job.zone = zone == NULL ? ctx->zone : zone;
    }
    cast_function *function = function_of(in->type, to);
    if (function == NULL)
        return error_set(err, STATUS_INTERNAL_ERROR, "no cast from %s to %s",
                         type_name(ctx->arena, in->type), type_name(ctx->arena, to));
    TRY(vector_new(ctx->arena, to, rows->rows, &job.out, err));
    TRY(inherit_validity(&job, err));
    TRY(function(&job, err));
    *out = job.out;
    return OK;
}
