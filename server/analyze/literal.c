/*
 * Literals and types of the syntax tree.
 *
 * Typed literals (DATE '...') are read here, so that a bad one is INVALID_TYPED_LITERAL; their
 * special words (now, today, ...) take the time of the analysis.
 */
#include "analyze/analyzer.h"
#include "base/check.h"
#include "columnar/civil.h"
#include "columnar/decimal.h"
#include "columnar/timestamp_text.h"
#include "columnar/timezone.h"
#include "columnar/value_text.h"
#include "spec/conf.h"

static enum status constant(struct resolver *resolver, const struct type *type, struct vector **out,
                            struct error *err)
{
    TRY(vector_new(resolver->analyzer->arena, type, 1, out, err));
    (*out)->constant = true;
    return OK;
}

static enum status make_integer(struct resolver *resolver, enum type_id id, int64_t value,
                                struct vector **out, struct error *err)
{
    TRY(constant(resolver, type_simple(id), out, err));
    switch (id) {
    case TYPE_BOOLEAN:
        VECTOR_VALUES(uint8_t, *out)[0] = value != 0;
        break;
    case TYPE_BYTE:
        VECTOR_VALUES(int8_t, *out)[0] = (int8_t)value;
        break;
    case TYPE_SHORT:
        VECTOR_VALUES(int16_t, *out)[0] = (int16_t)value;
        break;
    case TYPE_INT:
    case TYPE_DATE:
        VECTOR_VALUES(int32_t, *out)[0] = (int32_t)value;
        break;
    default:
        VECTOR_VALUES(int64_t, *out)[0] = value;
        break;
    }
    return OK;
}

static enum interval_field unit_field(enum ast_unit unit)
{
    switch (unit) {
    case AST_UNIT_YEAR:
        return INTERVAL_YEAR;
    case AST_UNIT_MONTH:
        return INTERVAL_MONTH;
    case AST_UNIT_DAY:
        return INTERVAL_DAY;
    case AST_UNIT_HOUR:
        return INTERVAL_HOUR;
    case AST_UNIT_MINUTE:
        return INTERVAL_MINUTE;
    case AST_UNIT_NONE:
    case AST_UNIT_QUARTER:
    case AST_UNIT_WEEK:
    case AST_UNIT_DAYOFYEAR:
    case AST_UNIT_SECOND:
    case AST_UNIT_MILLISECOND:
    case AST_UNIT_MICROSECOND:
        break;
    }
    return INTERVAL_SECOND;
}

static enum status make_interval(struct resolver *resolver, const struct ast_literal *literal,
                                 struct vector **out, struct error *err)
{
    const struct type *type = type_interval(resolver->analyzer->arena, unit_field(literal->from),
                                            unit_field(literal->to));
    TRY(constant(resolver, type, out, err));
    if (type->id == TYPE_INTERVAL_YM)
        VECTOR_VALUES(int32_t, *out)[0] = (int32_t)literal->integer;
    else
        VECTOR_VALUES(int64_t, *out)[0] = literal->integer;
    return OK;
}

static enum status make_decimal(struct resolver *resolver, const struct ast_literal *literal,
                                struct vector **out, struct error *err)
{
    const struct type *type =
        type_decimal(resolver->analyzer->arena, literal->precision, literal->scale);
    TRY(constant(resolver, type, out, err));
    struct decimal value = {0};
    int precision = 0;
    int128 unscaled = 0;
    if (decimal_parse_exact(literal->text, &value, &precision) != TEXT_OK ||
        !decimal_convert(value, literal->precision, literal->scale, &unscaled))
        return error_set(err, STATUS_INTERNAL_ERROR, "unreadable decimal literal");
    VECTOR_VALUES(int128, *out)[0] = unscaled;
    return OK;
}

static enum status make_text(struct resolver *resolver, enum type_id id, struct bytes text,
                             struct vector **out, struct error *err)
{
    TRY(constant(resolver, type_simple(id), out, err));
    VECTOR_VALUES(struct bytes, *out)[0] = arena_copy(resolver->analyzer->arena, text);
    return OK;
}

static enum status raise_typed(struct resolver *resolver, const char *type,
                               const struct ast_expr *ast, struct error *err)
{
    struct bytes text = ast->literal.text;
    const char *value = arena_sprintf(resolver->analyzer->arena, "'%.*s'", (int)text.size_bytes,
                                      (const char *)text.data);
    return error_raise(err, STATUS_INVALID_TYPED_LITERAL, "valueType", type, "value", value, NULL);
}

/* Whether the text names a zone: then TIMESTAMP means TIMESTAMP_LTZ whatever the setting says. */
static bool names_zone(struct bytes text)
{
    int64_t ignored;
    return timestamp_text_parse_ntz(text, false, &ignored) != TEXT_OK;
}

static enum status make_timestamp(struct resolver *resolver, const struct ast_expr *ast, bool ntz,
                                  const struct timestamp_context *context, struct vector **out,
                                  struct error *err)
{
    struct bytes text = ast->literal.text;
    int64_t us = 0;
    enum text_result result;
    if (timestamp_text_special(text, context, &us)) {
        if (ntz)
            us = timezone_to_local(context->zone, us);
        result = TEXT_OK;
    } else {
        result = ntz ? timestamp_text_parse_ntz(text, true, &us)
                     : timestamp_text_parse(text, context, &us);
    }
    if (result != TEXT_OK)
        return raise_typed(resolver,
                           ast->literal.kind == AST_LITERAL_TIMESTAMP_NTZ   ? "\"TIMESTAMP_NTZ\""
                           : ast->literal.kind == AST_LITERAL_TIMESTAMP_LTZ ? "\"TIMESTAMP_LTZ\""
                                                                            : "\"TIMESTAMP\"",
                           ast, err);
    return make_integer(resolver, ntz ? TYPE_TIMESTAMP_NTZ : TYPE_TIMESTAMP, us, out, err);
}

static enum status make_date(struct resolver *resolver, const struct ast_expr *ast,
                             const struct timestamp_context *context, struct vector **out,
                             struct error *err)
{
    int32_t days = 0;
    int64_t us = 0;
    if (timestamp_text_special(ast->literal.text, context, &us))
        days = (int32_t)civil_floor_div(timezone_to_local(context->zone, us), CIVIL_DAY_US);
    else if (timestamp_text_parse_date(ast->literal.text, &days) != TEXT_OK)
        return raise_typed(resolver, "\"DATE\"", ast, err);
    return make_integer(resolver, TYPE_DATE, days, out, err);
}

static enum status make_time(struct resolver *resolver, const struct ast_expr *ast,
                             struct vector **out, struct error *err)
{
    int64_t ns = 0;
    if (timestamp_text_parse_time(ast->literal.text, &ns) != TEXT_OK)
        return raise_typed(resolver, "\"TIME\"", ast, err);
    TRY(constant(resolver, type_time(resolver->analyzer->arena, 6), out, err));
    VECTOR_VALUES(int64_t, *out)[0] = ns;
    return OK;
}

static enum status make_temporal(struct resolver *resolver, const struct ast_expr *ast,
                                 struct vector **out, struct error *err)
{
    const struct resolve_context *functions = &resolver->analyzer->functions;
    const struct zone *zone = timezone_lookup(bytes_of_text(functions->time_zone));
    struct timestamp_context context = {
        .zone = zone != NULL ? zone : timezone_utc(),
        .now_us = functions->now_us,
    };
    enum ast_literal_kind kind = ast->literal.kind;
    if (kind == AST_LITERAL_DATE)
        return make_date(resolver, ast, &context, out, err);
    if (kind == AST_LITERAL_TIME)
        return make_time(resolver, ast, out, err);
    bool ntz = kind == AST_LITERAL_TIMESTAMP_NTZ ||
               (kind == AST_LITERAL_TIMESTAMP && functions->timestamp_ntz &&
                !names_zone(ast->literal.text));
    return make_timestamp(resolver, ast, ntz, &context, out, err);
}

static enum status make_value(struct resolver *resolver, const struct ast_expr *ast,
                              struct vector **out, struct error *err)
{
    const struct ast_literal *literal = &ast->literal;
    switch (literal->kind) {
    case AST_LITERAL_NULL:
        return vector_new_null(resolver->analyzer->arena, type_simple(TYPE_VOID), 1, out, err);
    case AST_LITERAL_BOOLEAN:
        return make_integer(resolver, TYPE_BOOLEAN, literal->boolean, out, err);
    case AST_LITERAL_TINYINT:
        return make_integer(resolver, TYPE_BYTE, literal->integer, out, err);
    case AST_LITERAL_SMALLINT:
        return make_integer(resolver, TYPE_SHORT, literal->integer, out, err);
    case AST_LITERAL_INT:
        return make_integer(resolver, TYPE_INT, literal->integer, out, err);
    case AST_LITERAL_BIGINT:
        return make_integer(resolver, TYPE_LONG, literal->integer, out, err);
    case AST_LITERAL_DECIMAL:
        return make_decimal(resolver, literal, out, err);
    case AST_LITERAL_FLOAT:
        TRY(constant(resolver, type_simple(TYPE_FLOAT), out, err));
        VECTOR_VALUES(float, *out)[0] = (float)literal->floating;
        return OK;
    case AST_LITERAL_DOUBLE:
        TRY(constant(resolver, type_simple(TYPE_DOUBLE), out, err));
        VECTOR_VALUES(double, *out)[0] = literal->floating;
        return OK;
    case AST_LITERAL_STRING:
        return make_text(resolver, TYPE_STRING, literal->text, out, err);
    case AST_LITERAL_BINARY:
        return make_text(resolver, TYPE_BINARY, literal->text, out, err);
    case AST_LITERAL_DATE:
    case AST_LITERAL_TIMESTAMP:
    case AST_LITERAL_TIMESTAMP_LTZ:
    case AST_LITERAL_TIMESTAMP_NTZ:
    case AST_LITERAL_TIME:
        return make_temporal(resolver, ast, out, err);
    case AST_LITERAL_YEAR_MONTH:
    case AST_LITERAL_DAY_TIME:
        return make_interval(resolver, literal, out, err);
    }
    return error_set(err, STATUS_INTERNAL_ERROR, "unknown literal");
}

/* A timestamp is named by its text in the session's zone. */
static const char *timestamp_name(struct analyzer *analyzer, const struct vector *value)
{
    const struct zone *zone = timezone_lookup(bytes_of_text(analyzer->functions.time_zone));
    struct buffer text = {0};
    value_text_print_literal(&text, value, 0, zone != NULL ? zone : timezone_utc());
    const char *name = arena_strndup(analyzer->arena, text.data, text.size_bytes);
    buffer_fini(&text);
    return name;
}

enum status resolve_literal(struct resolver *resolver, const struct ast_expr *ast,
                            struct expr **out, struct error *err)
{
    struct vector *value;
    TRY(make_value(resolver, ast, &value, err));
    *out = expr_literal(resolver->analyzer->arena, value);
    (*out)->position = ast->position;
    (*out)->position_end = ast->position_end;
    if (value->type->id == TYPE_TIMESTAMP)
        (*out)->literal.text = timestamp_name(resolver->analyzer, value);
    return OK;
}

/* ---- types ---- */

static enum status resolve_nested(struct analyzer *analyzer, const struct ast_type *ast,
                                  const struct type **out, struct error *err)
{
    const struct type *element = NULL, *key = NULL;
    if (ast->kind == AST_TYPE_ARRAY) {
        TRY(resolve_type(analyzer, ast->element, &element, err));
        *out = type_array(analyzer->arena, element, true);
        return OK;
    }
    if (ast->kind == AST_TYPE_MAP) {
        TRY(resolve_type(analyzer, ast->key, &key, err));
        TRY(resolve_type(analyzer, ast->element, &element, err));
        *out = type_map(analyzer->arena, key, element, true);
        return OK;
    }
    struct type_field *fields =
        arena_new_object(analyzer->arena, (ast->field_count + 1) * sizeof *fields);
    for (size_t i = 0; i < ast->field_count; i++) {
        fields[i].name = name_text(analyzer, &ast->fields[i].name);
        fields[i].nullable = !ast->fields[i].not_null;
        TRY(resolve_type(analyzer, ast->fields[i].type, &fields[i].type, err));
    }
    *out = type_struct(analyzer->arena, fields, (uint32_t)ast->field_count);
    return OK;
}

static enum status resolve_interval_type(struct analyzer *analyzer, const struct ast_type *ast,
                                         const struct type **out)
{
    *out = ast->from == AST_UNIT_NONE
               ? type_simple(TYPE_INTERVAL)
               : type_interval(analyzer->arena, unit_field(ast->from), unit_field(ast->to));
    return OK;
}

static enum status resolve_string_type(const struct ast_type *ast, const struct type **out,
                                       struct error *err)
{
    if (ast->collation.size_bytes > 0 && !bytes_equal(ast->collation, bytes_of_text("UTF8_BINARY")))
        return error_raise_at(err, STATUS_NOT_SUPPORTED, ast->position, ast->position_end,
                              "feature", "The collation of a string type", NULL);
    *out = type_simple(TYPE_STRING);
    return OK;
}

enum status resolve_type(struct analyzer *analyzer, const struct ast_type *ast,
                         const struct type **out, struct error *err)
{
    static const enum type_id simple[] = {
        [AST_TYPE_BOOLEAN] = TYPE_BOOLEAN,
        [AST_TYPE_TINYINT] = TYPE_BYTE,
        [AST_TYPE_SMALLINT] = TYPE_SHORT,
        [AST_TYPE_INT] = TYPE_INT,
        [AST_TYPE_BIGINT] = TYPE_LONG,
        [AST_TYPE_FLOAT] = TYPE_FLOAT,
        [AST_TYPE_DOUBLE] = TYPE_DOUBLE,
        [AST_TYPE_BINARY] = TYPE_BINARY,
        [AST_TYPE_DATE] = TYPE_DATE,
        [AST_TYPE_TIMESTAMP_LTZ] = TYPE_TIMESTAMP,
        [AST_TYPE_TIMESTAMP_NTZ] = TYPE_TIMESTAMP_NTZ,
        [AST_TYPE_VARIANT] = TYPE_VARIANT,
        [AST_TYPE_VOID] = TYPE_VOID,
    };
    switch (ast->kind) {
    case AST_TYPE_DECIMAL:
        *out = type_decimal(analyzer->arena, ast->precision, ast->scale);
        return OK;
    case AST_TYPE_STRING:
    case AST_TYPE_CHAR:
    case AST_TYPE_VARCHAR:
        return resolve_string_type(ast, out, err);
    case AST_TYPE_TIMESTAMP:
        *out = type_simple(analyzer->functions.timestamp_ntz ? TYPE_TIMESTAMP_NTZ : TYPE_TIMESTAMP);
        return OK;
    case AST_TYPE_TIME:
        return error_raise(err, STATUS_UNSUPPORTED_TIME_TYPE, NULL);
    case AST_TYPE_INTERVAL:
        return resolve_interval_type(analyzer, ast, out);
    case AST_TYPE_ARRAY:
    case AST_TYPE_MAP:
    case AST_TYPE_STRUCT:
        return resolve_nested(analyzer, ast, out, err);
    case AST_TYPE_BOOLEAN:
    case AST_TYPE_TINYINT:
    case AST_TYPE_SMALLINT:
    case AST_TYPE_INT:
    case AST_TYPE_BIGINT:
    case AST_TYPE_FLOAT:
    case AST_TYPE_DOUBLE:
    case AST_TYPE_BINARY:
    case AST_TYPE_DATE:
    case AST_TYPE_TIMESTAMP_LTZ:
    case AST_TYPE_TIMESTAMP_NTZ:
    case AST_TYPE_VARIANT:
    case AST_TYPE_VOID:
        *out = type_simple(simple[ast->kind]);
        return OK;
    }
    return error_set(err, STATUS_INTERNAL_ERROR, "unknown type");
}
