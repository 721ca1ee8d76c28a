/* variant_get: $.name, ['name'], ["name"] and [index], then a cast. */
#include "base/check.h"
#include "columnar/number_text.h"
#include "expr/fn_json.h"
#include "expr/fn_support.h"
#include "expr/fn_variant.h"

#define PATH_STEPS_MAX 64

struct path_step {
    struct bytes name; /* NULL data: an index */
    uint32_t index;
};

struct variant_path {
    struct path_step steps[PATH_STEPS_MAX];
    uint32_t count;
};

/* Behind '[': '...'] or "..."] or digits]. */
static bool read_bracket(struct bytes *text, struct path_step *step)
{
    if (text->size_bytes == 0)
        return false;
    uint8_t quote = text->data[0];
    bool named = quote == '\'' || quote == '"';
    struct bytes inner = named ? text_skip(*text, 1) : *text;
    size_t size = 0;
    while (size < inner.size_bytes && (named ? inner.data[size] != quote && inner.data[size] != '?'
                                             : inner.data[size] >= '0' && inner.data[size] <= '9'))
        size++;
    struct bytes part = text_first(inner, size);
    struct bytes rest = text_skip(inner, size);
    const char *close = !named ? "]" : quote == '"' ? "\"]" : "']";
    size_t close_size = strlen(close);
    if (size == 0 || rest.size_bytes < close_size || memcmp(rest.data, close, close_size) != 0)
        return false;
    *text = text_skip(rest, close_size);
    int64_t index = 0;
    if (!named && (number_parse_int64(part, &index) != TEXT_OK || index > INT32_MAX))
        return false;
    *step = (struct path_step){named ? part : (struct bytes){0}, (uint32_t)index};
    return true;
}

static bool read_path(struct bytes text, struct variant_path *path)
{
    path->count = 0;
    if (text.size_bytes == 0 || text.data[0] != '$')
        return false;
    text = text_skip(text, 1);
    while (text.size_bytes > 0) {
        if (path->count == PATH_STEPS_MAX)
            return false;
        struct path_step *step = &path->steps[path->count++];
        uint8_t c = text.data[0];
        text = text_skip(text, 1);
        if (c == '[') {
            if (!read_bracket(&text, step))
                return false;
            continue;
        }
        size_t size = 0;
        while (size < text.size_bytes && text.data[size] != '.' && text.data[size] != '[')
            size++;
        if (c != '.' || size == 0)
            return false;
        *step = (struct path_step){text_first(text, size), 0};
        text = text_skip(text, size);
    }
    return true;
}

static bool follow(const struct variant_path *path, struct variant *value)
{
    for (uint32_t i = 0; i < path->count; i++) {
        const struct path_step *step = &path->steps[i];
        struct variant_item item;
        variant_read(value, &item);
        if (step->name.data != NULL) {
            if (!variant_field(value, &item, step->name, value))
                return false;
        } else if (item.kind != VARIANT_ARRAY || step->index >= item.count ||
                   !variant_part(value, &item, step->index, NULL, value)) {
            return false;
        }
    }
    return true;
}

static enum status refuse_path(struct arena *arena, struct bytes path, const char *function,
                               struct error *err)
{
    return error_raise(err, STATUS_INVALID_VARIANT_GET_PATH, "path",
                       arena_strndup(arena, path.data, path.size_bytes), "functionName",
                       arena_sprintf(arena, "`%s`", function), NULL);
}

KERNEL(kernel_variant_get)
{
    struct arena *arena = call->ctx->arena;
    const char *name = call->expr->call.name;
    struct variant_conversion conversion = {
        .ctx = call->ctx, .zone = call->ctx->zone, .fail = name[0] != 't'};
    struct variant_path *path = arena_new_object(arena, sizeof(*path));
    struct bytes last = {0};
    void *memory;
    TRY(arena_alloc(arena, (size_t)call->rows + 1, sizeof(struct variant), &memory, err));
    struct variant *values = memory;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes source = kernel_text(call, 1, row);
        bool known = i > 0 && bytes_equal(source, last);
        if (!known && !read_path(source, path))
            return refuse_path(arena, source, name, err);
        last = source;
        struct variant value = variant_of_cell(kernel_text(call, 0, row));
        if (follow(path, &value))
            values[row] = value;
    }
    struct vector *result;
    TRY(variant_convert(&conversion, values, call->rows, call->out->type, &result, err));
    *call->out = *result;
    return OK;
}

RESOLVER(resolve_variant_get)
{
    *out = call;
    const struct type *type = type_simple(TYPE_VARIANT);
    if (call->arg_count == 3)
        TRY(function_schema(ctx, call, 2, &type, err));
    call->arg_count = 2;
    enum type_id id = call->args[0]->type->id;
    if (id != TYPE_VARIANT && id != TYPE_VOID)
        return function_wrong_type(call, 0, "\"VARIANT\"", err);
    if (!variant_type_is_castable(type, true))
        return error_raise_at(err, STATUS_DATATYPE_MISMATCH__CAST_WITHOUT_SUGGESTION,
                              call->position, call->position_end, "sqlExpr",
                              function_sql(ctx->arena, call), "srcType", "\"VARIANT\"",
                              "targetType", function_sql_type(ctx->arena, type), NULL);
    TRY(function_apply(ctx, call, "variant,string->variant", err));
    if (expr_is_foldable(call->args[1])) {
        struct vector *text;
        struct variant_path *path = arena_new_object(ctx->arena, sizeof(*path));
        TRY(function_constant(ctx, call, 1, "path", &text, err));
        if (!vector_is_null(text, 0) && !read_path(*VECTOR_VALUES(struct bytes, text), path))
            return refuse_path(ctx->arena, *VECTOR_VALUES(struct bytes, text), call->call.name,
                               err);
    }
    call->type = type;
    call->nullable = true;
    return OK;
}
