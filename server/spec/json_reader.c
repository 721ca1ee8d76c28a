#include "spec/json_reader.h"

#include "base/buffer.h"
#include "base/check.h"
#include "base/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* True if no value is nested deeper than `depth`. */
static bool depth_within(json_t *value, int depth)
{
    if (!json_is_object(value) && !json_is_array(value))
        return true;
    if (depth == 0)
        return false;
    size_t i;
    json_t *item;
    json_array_foreach(value, i, item)
    {
        if (!depth_within(item, depth - 1))
            return false;
    }
    const char *key;
    json_object_foreach(value, key, item)
    {
        if (!depth_within(item, depth - 1))
            return false;
    }
    return true;
}

void json_init(void)
{
    json_object_seed(0);
}

/* Where the token begins that ends at `end`, which is all that the library notes; `end` itself if
 * that is inside of a token. */
static size_t token_begin(struct bytes text, size_t end)
{
    size_t at = 0, begin = 0;
    while (at < end && at < text.size_bytes) {
        begin = at;
        uint8_t first = text.data[at++];
        if (first == '"') {
            while (at < text.size_bytes && text.data[at] != '"')
                at += text.data[at] == '\\' ? 2 : 1;
            at++;
        } else if (isalnum(first) || first == '-') {
            while (at < text.size_bytes && (isalnum(text.data[at]) || text.data[at] == '.' ||
                                            text.data[at] == '+' || text.data[at] == '-'))
                at++;
        }
    }
    return at == end ? begin : end;
}

static enum status raise_no_json(struct bytes text, const json_error_t *where, struct error *err)
{
    static const char at_end[] = "end of file";
    const char *reason = where->text;
    size_t size = strlen(reason), end = (size_t)(where->position < 0 ? 0 : where->position);
    bool is_end =
        size >= sizeof at_end - 1 && strcmp(reason + size - (sizeof at_end - 1), at_end) == 0;
    size_t place = is_end ? text.size_bytes : token_begin(text, end), blanks = 0;
    long long line = 1, column = 1;
    for (size_t i = 0; i < place && i < text.size_bytes; i++) {
        blanks += isspace(text.data[i]) != 0;
        if (text.data[i] == '\n') {
            line++;
            column = 1;
        } else if ((text.data[i] & 0xC0) != 0x80) {
            column++;
        }
    }
    if (is_end && blanks == text.size_bytes)
        reason = "it is empty";
    if (!is_end && place == end) {
        line = where->line;
        column = where->column;
    }
    char line_text[24], column_text[24];
    (void)snprintf(line_text, sizeof line_text, "%lld", line);
    (void)snprintf(column_text, sizeof column_text, "%lld", column);
    return error_raise(err, STATUS_INVALID_JSON, "reason", reason, "line", line_text, "column",
                       column_text, NULL);
}

enum status json_load(struct bytes text, json_t **out, struct error *err)
{
    json_error_t where;
    json_t *root = json_loadb(text.data == NULL ? "" : (const char *)text.data, text.size_bytes,
                              JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &where);
    if (root == NULL)
        return raise_no_json(text, &where, err);
    if (!depth_within(root, JSON_DEPTH_MAX)) {
        json_decref(root);
        char limit[16];
        (void)snprintf(limit, sizeof limit, "%d", JSON_DEPTH_MAX);
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the nesting of the document",
                           "limit", limit, NULL);
    }
    *out = root;
    return OK;
}

const char *json_pointer_join(struct json_reader *reader, const char *pointer, const char *name)
{
    struct buffer text = {0};
    buffer_add_text(&text, pointer);
    buffer_add_byte(&text, '/');
    for (; *name != '\0'; name++) {
        if (*name == '~')
            buffer_add_text(&text, "~0");
        else if (*name == '/')
            buffer_add_text(&text, "~1");
        else
            buffer_add_byte(&text, (uint8_t)*name);
    }
    const char *result = arena_strndup(reader->arena, text.data, text.size_bytes);
    buffer_fini(&text);
    return result;
}

enum status json_report(struct json_reader *reader, const char *pointer)
{
    struct error *err = reader->err;
    CHECK(err->status != OK);
    (void)snprintf(err->pointer, sizeof err->pointer, "%s", pointer);
    return diagnostics_report(reader->diagnostics, DIAGNOSTIC_ERROR, err, NULL);
}

/* The field that another system's name for it means, NULL if it is not of these. */
static const char *field_meant(const char *key, const char *const *names, size_t count)
{
    static const struct {
        const char *key, *field;
    } known[] = {
        {"eventTime", "column"},
        {"delayThreshold", "delay"},
        {"queryName", "name"},
        {"interval", "processingTime"},
        {"every", "processingTime"},
        {"query", "sql"},
        {"statement", "sql"},
        {"checkpoint", "checkpointLocation"},
        {"checkpointDir", "checkpointLocation"},
        {"mode", "outputMode"},
        {"source", "sources"},
        {"input", "sources"},
        {"output", "sink"},
        {"sinks", "sink"},
        {"config", "conf"},
        {"properties", "conf"},
        {"memory", "memoryBytes"},
        {"readStream", "sources"},
        {"writeStream", "sink"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        for (size_t j = 0; strcasecmp(key, known[i].key) == 0 && j < count; j++)
            if (strcmp(names[j], known[i].field) == 0)
                return names[j];
    return nearest_name(key, names, count);
}

bool json_was_meant(const struct diagnostics *diagnostics, const char *field)
{
    char hint[80];
    (void)snprintf(hint, sizeof hint, " Did you mean %s?", field);
    for (const struct diagnostic *at = diagnostics == NULL ? NULL : diagnostics->first; at != NULL;
         at = at->next)
        if (at->error.status == STATUS_UNKNOWN_FIELD && strstr(at->error.text, hint) != NULL)
            return true;
    return false;
}

enum status json_check_fields(struct json_reader *reader, struct json_place place,
                              const char *const *names, size_t count)
{
    const char *key;
    json_t *value;
    json_object_foreach(place.object, key, value)
    {
        bool known = false;
        for (size_t i = 0; i < count && !known; i++)
            known = strcmp(names[i], key) == 0;
        if (known)
            continue;
        const char *nearest = field_meant(key, names, count);
        char hint[128] = "";
        for (size_t i = 0; i < count && nearest == NULL; i++)
            if (strcmp(names[i], "options") == 0)
                (void)snprintf(hint, sizeof hint, "%s", JSON_HINT_OPTIONS);
        if (strcmp(key, "watermark") == 0)
            (void)snprintf(hint, sizeof hint, " Only a source or a view has a watermark");
        else if (nearest != NULL)
            (void)snprintf(hint, sizeof hint, " Did you mean %s?", nearest);
        (void)error_raise(reader->err, STATUS_UNKNOWN_FIELD, "field", key, "hint", hint, NULL);
        TRY(json_report(reader, json_pointer_join(reader, place.pointer, key)));
    }
    return OK;
}

const char *json_type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    case JSON_NULL:
        return "null";
    }
    CHECK(false);
}

enum status json_wrong_type(struct json_reader *reader, struct json_place place, const char *field,
                            const char *expected)
{
    const json_t *value = json_object_get(place.object, field);
    (void)error_raise(reader->err, STATUS_INVALID_FIELD_TYPE, "field", field, "expected", expected,
                      "actual", json_type_name(value), NULL);
    return json_report(reader, json_pointer_join(reader, place.pointer, field));
}

/* The field, or NULL if it is absent or null. */
static json_t *field_of(struct json_place place, const char *field)
{
    json_t *value = json_object_get(place.object, field);
    return json_is_null(value) ? NULL : value;
}

bool json_has_field(struct json_place place, const char *field)
{
    return field_of(place, field) != NULL;
}

enum status json_read_text(struct json_reader *reader, struct json_place place, const char *field,
                           const char **out)
{
    json_t *value = field_of(place, field);
    if (value == NULL)
        return OK;
    if (!json_is_string(value))
        return json_wrong_type(reader, place, field, "a string");
    *out = arena_strndup(reader->arena, json_string_value(value), json_string_length(value));
    return OK;
}

enum status json_read_bool(struct json_reader *reader, struct json_place place, const char *field,
                           bool *out)
{
    json_t *value = field_of(place, field);
    if (value == NULL)
        return OK;
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    if (json_is_boolean(value))
        *out = json_is_true(value);
    else if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        *out = text[0] == 't';
    else
        return json_wrong_type(reader, place, field, "true or false");
    return OK;
}

enum status json_read_int(struct json_reader *reader, struct json_place place, const char *field,
                          int64_t min, int64_t max, int64_t *out)
{
    json_t *value = field_of(place, field);
    if (value == NULL)
        return OK;
    int64_t number = 0;
    if (json_is_integer(value)) {
        number = json_integer_value(value);
    } else if (json_is_string(value)) {
        char *end = NULL;
        errno = 0;
        number = strtoll(json_string_value(value), &end, 10);
        if (errno != 0 || end == json_string_value(value) || *end != '\0')
            return json_wrong_type(reader, place, field, "an integer");
    } else {
        return json_wrong_type(reader, place, field, "an integer");
    }
    if (number < min || number > max) {
        char text[32], expected[80];
        (void)snprintf(text, sizeof text, "%lld", (long long)number);
        (void)snprintf(expected, sizeof expected, "an integer from %lld to %lld", (long long)min,
                       (long long)max);
        (void)error_raise(reader->err, STATUS_INVALID_FIELD_VALUE, "field", field, "value", text,
                          "expected", expected, NULL);
        return json_report(reader, json_pointer_join(reader, place.pointer, field));
    }
    *out = number;
    return OK;
}

enum status json_read_object(struct json_reader *reader, struct json_place place, const char *field,
                             struct json_place *out)
{
    json_t *value = field_of(place, field);
    if (value == NULL)
        return OK;
    if (!json_is_object(value))
        return json_wrong_type(reader, place, field, "an object");
    *out = (struct json_place){value, json_pointer_join(reader, place.pointer, field)};
    return OK;
}

enum status json_read_array(struct json_reader *reader, struct json_place place, const char *field,
                            struct json_place *out)
{
    json_t *value = field_of(place, field);
    if (value == NULL)
        return OK;
    if (!json_is_array(value))
        return json_wrong_type(reader, place, field, "an array");
    *out = (struct json_place){value, json_pointer_join(reader, place.pointer, field)};
    return OK;
}

enum status json_read_texts(struct json_reader *reader, struct json_place place, const char *field,
                            const char ***out, size_t *count)
{
    struct json_place array = {0};
    TRY(json_read_array(reader, place, field, &array));
    if (array.object == NULL)
        return OK;
    size_t size = json_array_size(array.object);
    void *texts = NULL;
    TRY(arena_alloc(reader->arena, size + 1, sizeof(const char *), &texts, reader->err));
    const char **list = texts;
    for (size_t i = 0; i < size; i++) {
        const json_t *item = json_array_get(array.object, i);
        if (!json_is_string(item))
            return json_wrong_type(reader, place, field, "an array of strings");
        list[i] = arena_strndup(reader->arena, json_string_value(item), json_string_length(item));
    }
    *out = list;
    *count = size;
    return OK;
}

/* The shortest of %.15g, %.16g, %.17g that reads back as the same number. */
static const char *print_real(struct arena *arena, double number)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    return arena_strdup(arena, text);
}

const char *json_scalar_text(struct arena *arena, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        return arena_strndup(arena, json_string_value(value), json_string_length(value));
    case JSON_INTEGER:
        return arena_sprintf(arena, "%lld", (long long)json_integer_value(value));
    case JSON_REAL:
        return print_real(arena, json_real_value(value));
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_OBJECT:
    case JSON_ARRAY:
    case JSON_NULL:
        return NULL;
    }
    CHECK(false);
}

const char *json_print(struct arena *arena, const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    CHECK(text != NULL);
    const char *copy = arena_strdup(arena, text);
    free(text);
    return copy;
}
