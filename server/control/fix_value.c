#include "control/fix_value.h"

#include "base/buffer.h"
#include "columnar/interval_text.h"
#include "spec/json_reader.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ARGS_MAX 4

static const char *take(struct arena *arena, struct buffer *text)
{
    const char *copy = arena_strdup(arena, buffer_text(text));
    buffer_fini(text);
    return copy;
}

static const char *skip_blanks(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), end_size = strlen(end);
    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

/* ---- intervals ---- */

/* The unit that a word of `size` bytes means, NULL if none. */
static const char *unit_of(const char *word, size_t size)
{
    static const struct {
        const char *word, *unit;
    } units[] = {
        {"us", "microsecond"},
        {"micros", "microsecond"},
        {"microsecond", "microsecond"},
        {"ms", "millisecond"},
        {"msec", "millisecond"},
        {"millis", "millisecond"},
        {"milli", "millisecond"},
        {"s", "second"},
        {"sec", "second"},
        {"second", "second"},
        {"m", "minute"},
        {"min", "minute"},
        {"minute", "minute"},
        {"h", "hour"},
        {"hr", "hour"},
        {"hour", "hour"},
        {"d", "day"},
        {"day", "day"},
        {"w", "week"},
        {"wk", "week"},
        {"week", "week"},
        {"millisecond", "millisecond"},
    };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t length = strlen(units[i].word);
        bool plural =
            size == length + 1 && length > 1 && tolower((unsigned char)word[length]) == 's';
        if ((size == length || plural) && strncasecmp(word, units[i].word, length) == 0)
            return units[i].unit;
    }
    return NULL;
}

const char *fix_interval(struct arena *arena, const char *text)
{
    struct buffer out = {0};
    const char *at = skip_blanks(text);
    while (isdigit((unsigned char)*at)) {
        size_t digits = strspn(at, "0123456789");
        const char *word = skip_blanks(at + digits);
        size_t size = 0;
        while (isalpha((unsigned char)word[size]))
            size++;
        const char *unit = unit_of(word, size);
        if (unit == NULL)
            break;
        bool one = digits == 1 && *at == '1';
        buffer_printf(&out, "%s%.*s %s%s", out.size_bytes > 0 ? " " : "", (int)digits, at, unit,
                      one ? "" : "s");
        at = word + size;
        at += *skip_blanks(at) == ',';
        at = skip_blanks(at);
    }
    if (*at != '\0' || out.size_bytes == 0) {
        buffer_fini(&out);
        return NULL;
    }
    return take(arena, &out);
}

/* ---- values of the spec ---- */

static const char *json_of_text(struct arena *arena, const char *text)
{
    struct buffer out = {0};
    buffer_add_json_string(&out, bytes_of_text(text));
    return take(arena, &out);
}

/* The text as an interval that a trigger takes; NULL: it is none. */
static const char *interval_of(struct arena *arena, const char *text)
{
    struct calendar_interval ignored;
    struct error err = ERROR_INIT;
    if (interval_text_parse(bytes_of_text(text), &ignored, &err) == OK)
        return text;
    return fix_interval(arena, text);
}

static const char *interval_value(struct arena *arena, const json_t *value)
{
    const char *text = NULL;
    const char *given = json_string_value(value);
    bool digits = given != NULL && *given != '\0' && strspn(given, "0123456789") == strlen(given);
    if (given != NULL && !digits)
        text = fix_interval(arena, given);
    if (json_is_integer(value) || digits) {
        json_int_t number = digits ? strtoll(given, NULL, 10) : json_integer_value(value);
        bool millis = number % 1000 != 0 && number > 1000;
        number /= number > 0 && number % 1000 == 0 ? 1000 : 1;
        text =
            arena_sprintf(arena, "%lld %s", (long long)number, millis ? "milliseconds" : "seconds");
    }
    return text == NULL ? NULL : json_of_text(arena, text);
}

static const char *trigger_value(struct arena *arena, const json_t *value)
{
    const char *text = json_string_value(value);
    if (text == NULL)
        return NULL;
    if (strncasecmp(text, "available", 9) == 0)
        return "{\"availableNow\":true}";
    if (strcasecmp(text, "once") == 0)
        return "{\"once\":true}";
    const char *interval = interval_of(arena, text);
    return interval == NULL
               ? NULL
               : arena_sprintf(arena, "{\"processingTime\":%s}", json_of_text(arena, interval));
}

/* "512m", "1 GiB" -> its bytes. */
static const char *bytes_value(struct arena *arena, const json_t *value)
{
    static const char letters[] = "kmgt";
    const char *text = json_string_value(value);
    char *end = NULL;
    double number = text == NULL ? 0 : strtod(text, &end);
    if (text == NULL || end == text || number <= 0 || number > 1e12)
        return NULL;
    const char *unit = skip_blanks(end);
    const char *letter = *unit == '\0' ? NULL : strchr(letters, tolower((unsigned char)*unit));
    if (letter == NULL || strcspn(unit, "0123456789") != strlen(unit))
        return NULL;
    for (const char *at = letters; at <= letter; at++)
        number *= 1024;
    return number >= 9e18 ? NULL : arena_sprintf(arena, "%lld", (long long)number);
}

static void add_column(struct buffer *ddl, const char *name, const char *type)
{
    buffer_printf(ddl, "%s`%s` %s", ddl->size_bytes > 0 ? ", " : "", name, type);
}

/* [{"name": "a", "type": "int"}], ["a INT"] or {"a": "INT"} -> "a INT". */
static const char *schema_value(struct arena *arena, const json_t *value)
{
    struct buffer ddl = {0};
    size_t i;
    json_t *item;
    const char *key;
    json_array_foreach((json_t *)(uintptr_t)value, i, item)
    {
        const char *name = json_string_value(json_object_get(item, "name"));
        const char *type = json_string_value(json_object_get(item, "type"));
        if (name != NULL && type != NULL)
            add_column(&ddl, name, type);
        else if (json_is_string(item))
            buffer_printf(&ddl, "%s%s", i > 0 ? ", " : "", json_string_value(item));
    }
    json_object_foreach((json_t *)(uintptr_t)value, key, item)
    {
        if (json_is_string(item))
            add_column(&ddl, key, json_string_value(item));
    }
    const char *text = take(arena, &ddl);
    return *text == '\0' ? NULL : json_of_text(arena, text);
}

/* A list of objects with a name -> an object of them by their names. */
static const char *by_name(struct arena *arena, const json_t *list)
{
    json_t *object = json_object();
    const char *result = NULL;
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)(uintptr_t)list, i, item)
    {
        const char *name = json_string_value(json_object_get(item, "name"));
        json_t *copy = name == NULL ? NULL : json_copy(item);
        if (copy != NULL && json_object_del(copy, "name") == 0)
            (void)json_object_set(object, name, copy);
        json_decref(copy);
    }
    if (json_object_size(object) > 0 && json_object_size(object) == json_array_size(list))
        result = json_print(arena, object);
    json_decref(object);
    return result;
}

/* {"v": {"sql": ...}} or {"v": "SELECT ..."} -> a list of views with names. */
static const char *views_value(struct arena *arena, const json_t *object)
{
    json_t *list = json_array();
    const char *key;
    json_t *item;
    json_object_foreach((json_t *)(uintptr_t)object, key, item)
    {
        json_t *view = json_is_object(item) ? json_copy(item) : json_object();
        (void)json_object_set_new(view, "name", json_string(key));
        if (json_is_string(item))
            (void)json_object_set(view, "sql", item);
        (void)json_array_append_new(list, view);
    }
    const char *result = json_array_size(list) == 0 ? NULL : json_print(arena, list);
    json_decref(list);
    return result;
}

/* "a, b" -> ["a","b"] */
static const char *list_value(struct arena *arena, const json_t *value)
{
    const char *text = json_string_value(value);
    struct buffer out = {0};
    size_t size = 0, count = 0;
    if (json_is_true(value))
        return "[]"; /* of all columns */
    for (; text != NULL && *text != '\0'; text += size) {
        text += strspn(text, ", ");
        size = strcspn(text, ", ");
        if (size == 0)
            continue;
        buffer_add_text(&out, count++ == 0 ? "[" : ",");
        buffer_add_json_string(&out, bytes_of(text, size));
    }
    if (count == 0) {
        buffer_fini(&out);
        return NULL;
    }
    buffer_add_text(&out, "]");
    return take(arena, &out);
}

const char *fix_value(struct arena *arena, const char *pointer, const json_t *value)
{
    if (ends_with(pointer, "/processingTime") || ends_with(pointer, "/watermark/delay"))
        return interval_value(arena, value);
    if (strcmp(pointer, "/trigger") == 0)
        return trigger_value(arena, value);
    if (strcmp(pointer, "/limits/memoryBytes") == 0)
        return bytes_value(arena, value);
    if (ends_with(pointer, "/schema"))
        return schema_value(arena, value);
    if (strcmp(pointer, "/sources") == 0 || strcmp(pointer, "/tables") == 0)
        return by_name(arena, value);
    if (strcmp(pointer, "/views") == 0)
        return views_value(arena, value);
    if (strcmp(pointer, "/sink") == 0 && json_is_string(value))
        return arena_sprintf(arena, "{\"format\":%s}", json_print(arena, value));
    if (strcmp(pointer, "/restartPolicy") == 0 && json_is_string(value))
        return arena_sprintf(arena, "{\"mode\":%s}", json_print(arena, value));
    if (ends_with(pointer, "/partitionBy") || strstr(pointer, "/dropDuplicates") != NULL)
        return list_value(arena, value);
    return NULL;
}

/* ---- calls of windows ---- */

/* The arguments of "name(a, b)", each without blanks around it; their count, 0 if it is no call. */
static size_t split_call(struct arena *arena, const char *call, const char *args[ARGS_MAX])
{
    const char *from = strchr(call, '(');
    int depth = 0;
    size_t count = 0;
    char quote = '\0';
    if (from == NULL)
        return 0;
    from++;
    for (const char *at = from; *at != '\0'; at++) {
        if (quote != '\0') {
            quote = *at == quote ? '\0' : quote;
            continue;
        }
        if (*at == '\'' || *at == '"' || *at == '`')
            quote = *at;
        bool end = depth == 0 && (*at == ',' || *at == ')');
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        if (!end)
            continue;
        if (count == ARGS_MAX)
            return 0;
        const char *start = skip_blanks(from);
        size_t size = (size_t)(at - start);
        while (size > 0 && isspace((unsigned char)start[size - 1]))
            size--;
        args[count++] = arena_strndup(arena, start, size);
        from = at + 1;
        if (*at == ')')
            return *skip_blanks(from) == '\0' ? count : 0;
    }
    return 0;
}

/* INTERVAL '10' SECOND -> '10 seconds'; a text stays, with its unit written out; NULL: neither. */
static const char *duration_text(struct arena *arena, const char *arg)
{
    static const char word[] = "INTERVAL";
    struct buffer plain = {0};
    bool interval = strncasecmp(arg, word, sizeof word - 1) == 0;
    for (arg += interval ? sizeof word - 1 : 0; *arg != '\0'; arg++)
        if (*arg != '\'' && *arg != '"')
            buffer_add_byte(&plain, (uint8_t)*arg);
    const char *text = take(arena, &plain);
    const char *fixed = fix_interval(arena, text);
    return fixed == NULL ? NULL : arena_sprintf(arena, "'%s'", fixed);
}

const char *fix_window_call(struct arena *arena, const char *call)
{
    static const struct {
        const char *name, *meant;
        size_t args;
        size_t order[3]; /* which argument of the call comes where */
    } calls[] = {
        {"TUMBLE", "window", 2, {1}},       {"HOP", "window", 3, {2, 1}},
        {"HOP", "window", 4, {2, 1, 3}},    {"SESSION", "session_window", 2, {1}},
        {"window", "window", 2, {1}},       {"window", "window", 3, {1, 2}},
        {"window", "window", 4, {1, 2, 3}}, {"session_window", "session_window", 2, {1}},
    };
    const char *args[ARGS_MAX] = {NULL};
    size_t name_size = strcspn(call, "( \t\n"), count = split_call(arena, call, args);
    for (size_t i = 0; count >= 2 && i < sizeof calls / sizeof calls[0]; i++) {
        if (strlen(calls[i].name) != name_size || calls[i].args != count ||
            strncasecmp(calls[i].name, call, name_size) != 0)
            continue;
        struct buffer out = {0};
        buffer_printf(&out, "%s(%s", calls[i].meant, args[0]);
        for (size_t j = 0; j + 1 < count; j++) {
            const char *text = duration_text(arena, args[calls[i].order[j]]);
            buffer_printf(&out, ", %s", text == NULL ? "" : text);
            if (text == NULL) {
                buffer_fini(&out);
                return NULL;
            }
        }
        buffer_add_text(&out, ")");
        return take(arena, &out);
    }
    return NULL;
}
