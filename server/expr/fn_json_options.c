/* Options and schemas of the JSON and CSV functions, and how their dates are written. */
#include "base/check.h"
#include "columnar/datetime_pattern.h"
#include "expr/fn_json.h"
#include "expr/fn_support.h"

#include <stdlib.h>
#include <strings.h>

/* ---- options ---- */

static const char *text_at(struct arena *arena, const struct vector *vector, uint32_t at)
{
    struct bytes text = VECTOR_VALUES(struct bytes, vector)[vector_index(vector, at)];
    return arena_strndup(arena, text.data, text.size_bytes);
}

enum status function_options(struct resolve_context *ctx, const struct expr *call, uint32_t index,
                             struct function_options *out, struct error *err)
{
    *out = (struct function_options){0};
    if (index >= call->arg_count)
        return OK;
    const struct type *type = call->args[index]->type;
    if (type->id != TYPE_MAP)
        return error_raise_at(err, STATUS_INVALID_OPTIONS__NON_MAP_FUNCTION, call->position,
                              call->position_end, NULL);
    if (type->key->id != TYPE_STRING || type->element->id != TYPE_STRING)
        return error_raise_at(err, STATUS_INVALID_OPTIONS__NON_STRING_TYPE, call->position,
                              call->position_end, "mapType", function_sql_type(ctx->arena, type),
                              NULL);
    struct vector *map;
    TRY(function_constant(ctx, call, index, "options", &map, err));
    if (vector_is_null(map, 0))
        return OK;
    struct list_entry list = VECTOR_VALUES(struct list_entry, map)[0];
    out->names = arena_new_object(ctx->arena, ((size_t)list.length + 1) * sizeof(*out->names));
    out->values = arena_new_object(ctx->arena, ((size_t)list.length + 1) * sizeof(*out->values));
    for (uint32_t i = 0; i < list.length; i++) {
        uint32_t at = list.offset + i;
        if (vector_is_null(map->children[1], at))
            continue;
        out->names[out->count] = text_at(ctx->arena, map->children[0], at);
        out->values[out->count++] = text_at(ctx->arena, map->children[1], at);
    }
    return OK;
}

const char *function_option(const struct function_options *options, const char *name)
{
    for (uint32_t i = options->count; i > 0; i--)
        if (strcasecmp(options->names[i - 1], name) == 0)
            return options->values[i - 1];
    return NULL;
}

bool function_option_is(const struct function_options *options, const char *name, bool missing)
{
    const char *value = function_option(options, name);
    return value == NULL ? missing : strcasecmp(value, "true") == 0;
}

/* ---- schemas ---- */

enum status function_schema(struct resolve_context *ctx, const struct expr *call, uint32_t index,
                            const struct type **out, struct error *err)
{
    const struct expr *arg = call->args[index];
    struct vector *text = NULL;
    if (expr_is_foldable(arg) && arg->type->id == TYPE_STRING)
        TRY(function_constant(ctx, call, index, "schema", &text, err));
    if (text == NULL || vector_is_null(text, 0))
        return error_raise_at(err, STATUS_INVALID_SCHEMA__NON_STRING_LITERAL, call->position,
                              call->position_end, "inputSchema", function_sql(ctx->arena, arg),
                              NULL);
    enum status status = type_parse(ctx->arena, VECTOR_VALUES(struct bytes, text)[0], out, err);
    if (status != OK) { /* the place in the schema means nothing in the query */
        err->position = call->position;
        err->position_end = call->position_end;
    }
    return status;
}

const struct type *type_all_nullable(struct arena *arena, const struct type *type)
{
    switch ((int)type->id) {
    case TYPE_ARRAY:
        return type_array(arena, type_all_nullable(arena, type->element), true);
    case TYPE_MAP:
        return type_map(arena, type_all_nullable(arena, type->key),
                        type_all_nullable(arena, type->element), true);
    case TYPE_STRUCT: {
        struct type_field *fields =
            arena_new_object(arena, ((size_t)type->field_count + 1) * sizeof(*fields));
        for (uint32_t i = 0; i < type->field_count; i++) {
            fields[i] = type->fields[i];
            fields[i].type = type_all_nullable(arena, fields[i].type);
            fields[i].nullable = true;
        }
        return type_struct(arena, fields, type->field_count);
    }
    default:
        return type;
    }
}

/* ---- formats ---- */

static enum status read_pattern(struct resolve_context *ctx, const struct function_options *options,
                                const char *name, bool write, const struct datetime_pattern **out,
                                struct error *err)
{
    const char *text = function_option(options, name);
    if (text == NULL)
        return OK;
    return datetime_pattern_compile(ctx->arena, bytes_of_text(text),
                                    write ? DATETIME_PATTERN_FORMAT : DATETIME_PATTERN_PARSE, out,
                                    err);
}

static enum status read_mode(struct resolve_context *ctx, const struct expr *call,
                             const struct function_options *options, enum record_mode *out,
                             struct error *err)
{
    const char *mode = function_option(options, "mode");
    *out = RECORD_PERMISSIVE;
    if (mode == NULL)
        return OK;
    if (strcasecmp(mode, "FAILFAST") == 0)
        *out = RECORD_FAILFAST;
    if (strcasecmp(mode, "DROPMALFORMED") == 0)
        return error_raise(err, STATUS_PARSE_MODE_UNSUPPORTED, "funcName",
                           arena_sprintf(ctx->arena, "`%s`", call->call.function->name), "mode",
                           "DROPMALFORMED", NULL);
    return OK;
}

enum status record_format_read(struct resolve_context *ctx, const struct expr *call,
                               const struct function_options *options, bool write,
                               struct record_format *out, struct error *err)
{
    *out = (struct record_format){.corrupt_column = "_corrupt_record"};
    if (!write)
        TRY(read_mode(ctx, call, options, &out->mode, err));
    TRY(read_pattern(ctx, options, "dateFormat", write, &out->date, err));
    TRY(read_pattern(ctx, options, "timestampFormat", write, &out->timestamp, err));
    TRY(read_pattern(ctx, options, "timestampNTZFormat", write, &out->timestamp_ntz, err));
    const char *zone = function_option(options, "timeZone");
    if (zone != NULL)
        TRY(timezone_find(bytes_of_text(zone), &out->zone, err));
    const char *corrupt = function_option(options, "columnNameOfCorruptRecord");
    if (corrupt != NULL)
        out->corrupt_column = corrupt;
    const char *locale = function_option(options, "locale");
    out->numbers = locale == NULL ? number_locale_us() : number_locale_find(locale);
    if (out->numbers == NULL)
        return error_raise(err, STATUS_INVALID_OPTION_VALUE, "option", "locale", "value", locale,
                           "expected", "the tag of a language that is known, as de or de-CH", NULL);
    return OK;
}
