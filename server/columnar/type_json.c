#include "columnar/type_json.h"

#include "base/check.h"

#include <jansson.h>
#include <stdio.h>

#define NESTING_MAX 100

static enum status read_type(struct arena *arena, const json_t *json, int depth,
                             const struct type **out, struct error *err);

static enum status refuse(struct arena *arena, const json_t *json, struct error *err)
{
    char *text = json == NULL ? NULL : json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT);
    const char *copy = arena_sprintf(arena, "%.200s", text == NULL ? "" : text);
    free(text);
    return error_raise(err, STATUS_INVALID_JSON_DATA_TYPE, "invalidType", copy, NULL);
}

static enum status read_decimal(struct arena *arena, const char *name, const json_t *json,
                                const struct type **out, struct error *err)
{
    int precision = 10;
    int scale = 0;
    char end = '\0';
    if (strcmp(name, "decimal") != 0 &&
        // NOLINTNEXTLINE(cert-err34-c): the widths leave no room for an overflow
        (sscanf(name, "decimal(%5d,%5d%c", &precision, &scale, &end) != 3 || end != ')'))
        return refuse(arena, json, err);
    if (precision > DECIMAL_PRECISION_MAX)
        return error_raise(err, STATUS_DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION, "precision",
                           arena_sprintf(arena, "%d", precision), "maxPrecision", "38", NULL);
    if (precision < 1 || scale < 0)
        return refuse(arena, json, err);
    if (scale > precision)
        return error_raise(err, STATUS_DECIMAL_SCALE_EXCEEDS_PRECISION, "scale",
                           arena_sprintf(arena, "%d", scale), "precision",
                           arena_sprintf(arena, "%d", precision), NULL);
    *out = type_decimal(arena, precision, scale);
    return OK;
}

static enum status read_interval(struct arena *arena, const char *name, const json_t *json,
                                 const struct type **out, struct error *err)
{
    static const char *const words[] = {"year", "month", "day", "hour", "minute", "second"};
    for (int from = 0; from < 6; from++) {
        for (int to = from; to < 6; to++) {
            char text[48];
            if ((from <= INTERVAL_MONTH) != (to <= INTERVAL_MONTH))
                continue;
            if (from == to)
                (void)snprintf(text, sizeof(text), "interval %s", words[from]);
            else
                (void)snprintf(text, sizeof(text), "interval %s to %s", words[from], words[to]);
            if (strcmp(text, name) == 0) {
                *out = type_interval(arena, (enum interval_field)from, (enum interval_field)to);
                return OK;
            }
        }
    }
    return refuse(arena, json, err);
}

static enum status read_name(struct arena *arena, const json_t *json, const struct type **out,
                             struct error *err)
{
    static const struct {
        const char *name;
        enum type_id id;
    } names[] = {
        {"byte", TYPE_BYTE},
        {"short", TYPE_SHORT},
        {"integer", TYPE_INT},
        {"long", TYPE_LONG},
        {"float", TYPE_FLOAT},
        {"double", TYPE_DOUBLE},
        {"string", TYPE_STRING},
        {"binary", TYPE_BINARY},
        {"boolean", TYPE_BOOLEAN},
        {"date", TYPE_DATE},
        {"timestamp", TYPE_TIMESTAMP},
        {"timestamp_ntz", TYPE_TIMESTAMP_NTZ},
        {"timestamp_ltz", TYPE_TIMESTAMP},
        {"void", TYPE_VOID},
        {"null", TYPE_VOID},
        {"variant", TYPE_VARIANT},
        {"interval", TYPE_INTERVAL},
        {"calendarinterval", TYPE_INTERVAL},
    };
    const char *name = json_string_value(json);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strcmp(name, names[i].name) == 0) {
            *out = type_simple(names[i].id);
            return OK;
        }
    }
    int size;
    char end = '\0';
    if (strncmp(name, "decimal", 7) == 0)
        return read_decimal(arena, name, json, out, err);
    if (strncmp(name, "interval ", 9) == 0)
        return read_interval(arena, name, json, out, err);
    // NOLINTNEXTLINE(cert-err34-c): the widths leave no room for an overflow
    if ((sscanf(name, "char(%9d%c", &size, &end) == 2 ||
         // NOLINTNEXTLINE(cert-err34-c): the widths leave no room for an overflow
         sscanf(name, "varchar(%9d%c", &size, &end) == 2) &&
        end == ')') {
        *out = type_simple(TYPE_STRING);
        return OK;
    }
    // NOLINTNEXTLINE(cert-err34-c): the widths leave no room for an overflow
    if (sscanf(name, "time(%1d%c", &size, &end) == 2 && end == ')' && size <= 6) {
        *out = type_time(arena, size);
        return OK;
    }
    return refuse(arena, json, err);
}

static enum status read_struct(struct arena *arena, const json_t *json, int depth,
                               const struct type **out, struct error *err)
{
    const json_t *list = json_object_get(json, "fields");
    if (!json_is_array(list))
        return refuse(arena, json, err);
    size_t count = json_array_size(list);
    void *memory = NULL;
    TRY(arena_alloc(arena, count + 1, sizeof(struct type_field), &memory, err));
    struct type_field *fields = memory;
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(item, "name"));
        const json_t *nullable = json_object_get(item, "nullable");
        const char *comment =
            json_string_value(json_object_get(json_object_get(item, "metadata"), "comment"));
        if (name == NULL)
            return refuse(arena, item, err);
        fields[i].name = arena_strdup(arena, name);
        fields[i].nullable = nullable == NULL || !json_is_false(nullable);
        fields[i].comment = comment == NULL ? NULL : arena_strdup(arena, comment);
        TRY(read_type(arena, json_object_get(item, "type"), depth + 1, &fields[i].type, err));
    }
    *out = type_struct(arena, fields, (uint32_t)count);
    return OK;
}

static bool flag(const json_t *json, const char *name)
{
    return !json_is_false(json_object_get(json, name));
}

static enum status read_type(struct arena *arena, const json_t *json, int depth,
                             const struct type **out, struct error *err)
{
    if (depth > NESTING_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the nesting of a type", "limit",
                           "100", NULL);
    if (json_is_string(json))
        return read_name(arena, json, out, err);
    const char *kind = json_string_value(json_object_get(json, "type"));
    const struct type *key = NULL;
    const struct type *element = NULL;
    if (kind == NULL)
        return refuse(arena, json, err);
    if (strcmp(kind, "struct") == 0)
        return read_struct(arena, json, depth, out, err);
    if (strcmp(kind, "array") == 0) {
        TRY(read_type(arena, json_object_get(json, "elementType"), depth + 1, &element, err));
        *out = type_array(arena, element, flag(json, "containsNull"));
        return OK;
    }
    if (strcmp(kind, "map") == 0) {
        TRY(read_type(arena, json_object_get(json, "keyType"), depth + 1, &key, err));
        TRY(read_type(arena, json_object_get(json, "valueType"), depth + 1, &element, err));
        *out = type_map(arena, key, element, flag(json, "valueContainsNull"));
        return OK;
    }
    return refuse(arena, json, err);
}

enum status type_parse_json(struct arena *arena, struct bytes text, const struct type **out,
                            struct error *err)
{
    json_error_t ignored;
    json_t *json = json_loadb((const char *)text.data, text.size_bytes, JSON_DECODE_ANY, &ignored);
    enum status status;
    if (json == NULL)
        status = error_raise(err, STATUS_INVALID_JSON_DATA_TYPE, "invalidType",
                             arena_sprintf(arena, "%.*s",
                                           (int)(text.size_bytes < 200 ? text.size_bytes : 200),
                                           (const char *)text.data),
                             NULL);
    else
        status = read_type(arena, json, 0, out, err);
    json_decref(json);
    return status;
}
