#include "spec/query_spec.h"

#include "base/check.h"
#include "base/duration.h"
#include "base/path.h"
#include "columnar/interval_text.h"
#include "spec/conf.h"
#include "spec/json_reader.h"
#include "spec/spec_json.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#define DEFAULT_ATTEMPTS_MAX INT32_MAX /* the server's own limit, restartMax, holds */

static enum status check_fields(struct json_reader *reader, struct json_place place,
                                const char *const *fields)
{
    return json_check_fields(reader, place, fields, spec_fields_count(fields));
}

static enum status missing(struct json_reader *reader, struct json_place place, const char *field)
{
    if (json_was_meant(reader->diagnostics, field))
        return OK; /* it stands there under another name, which is said */
    (void)error_raise(reader->err, STATUS_MISSING_FIELD, "field", field, "where",
                      *place.pointer == '\0' ? "the query" : place.pointer, NULL);
    return json_report(reader, json_pointer_join(reader, place.pointer, field));
}

static enum status too_many(struct json_reader *reader, const char *pointer, const char *what,
                            size_t limit)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%zu", limit);
    (void)error_raise(reader->err, STATUS_LIMIT_EXCEEDED, "what", what, "limit", text, NULL);
    return json_report(reader, pointer);
}

static enum status invalid_value(struct json_reader *reader, struct json_place place,
                                 const char *field, const char *value, const char *expected)
{
    (void)error_raise(reader->err, STATUS_INVALID_FIELD_VALUE, "field", field, "value", value,
                      "expected", expected, NULL);
    return json_report(reader, json_pointer_join(reader, place.pointer, field));
}

bool query_name_is_valid(const char *name)
{
    size_t size = strlen(name);
    if (size == 0 || size > QUERY_NAME_MAX || (!isalnum((unsigned char)name[0]) && name[0] != '_'))
        return false;
    for (const char *at = name; *at != '\0'; at++) {
        if (!isalnum((unsigned char)*at) && strchr("-_.", *at) == NULL)
            return false;
    }
    return true;
}

/* Names of sources, tables and views: what SQL can quote. */
static bool relation_name_is_valid(const char *name)
{
    size_t size = strlen(name);
    if (size == 0 || size > QUERY_NAME_MAX)
        return false;
    for (const char *at = name; *at != '\0'; at++) {
        if ((unsigned char)*at < 0x20 || *at == '/' || *at == '`')
            return false;
    }
    return true;
}

static enum status check_relation_name(struct json_reader *reader, const char *pointer,
                                       const char *name)
{
    if (relation_name_is_valid(name))
        return OK;
    (void)error_raise(reader->err, STATUS_INVALID_NAME, "what", "relation", "name", name, "rule",
                      "1 to 128 bytes without control characters, '/' and '`'", NULL);
    return json_report(reader, pointer);
}

/* An object of scalars as a list of names and values. */
static enum status read_entries(struct json_reader *reader, struct json_place place,
                                struct option **out, size_t *count)
{
    size_t size = json_object_size(place.object);
    if (size > SPEC_OPTIONS_MAX)
        return too_many(reader, place.pointer, "the number of entries", SPEC_OPTIONS_MAX);
    void *memory = NULL;
    TRY(arena_alloc(reader->arena, size + 1, sizeof(struct option), &memory, reader->err));
    struct option *items = memory;
    size_t used = 0;
    const char *key;
    json_t *value;
    json_object_foreach(place.object, key, value)
    {
        const char *text = json_scalar_text(reader->arena, value);
        if (text != NULL) {
            items[used].name = arena_strdup(reader->arena, key);
            items[used++].value = text;
            continue;
        }
        if (json_is_null(value))
            (void)error_raise(reader->err, STATUS_NULL_DATA_SOURCE_OPTION, "option", key, NULL);
        else
            (void)error_raise(reader->err, STATUS_INVALID_FIELD_TYPE, "field", key, "expected",
                              "a string, a number or a boolean", "actual", json_type_name(value),
                              NULL);
        TRY(json_report(reader, json_pointer_join(reader, place.pointer, key)));
    }
    *out = items;
    *count = used;
    return OK;
}

static enum status read_options(struct json_reader *reader, struct json_place place,
                                struct options *out)
{
    struct json_place object = {0};
    out->pointer = json_pointer_join(reader, place.pointer, "options");
    TRY(json_read_object(reader, place, "options", &object));
    if (object.object == NULL)
        return OK;
    struct option *items = NULL;
    TRY(read_entries(reader, object, &items, &out->count));
    out->items = items;
    return OK;
}

static enum status read_watermark(struct json_reader *reader, struct json_place place,
                                  struct watermark_spec *out)
{
    struct json_place object = {0};
    TRY(json_read_object(reader, place, "watermark", &object));
    if (object.object == NULL)
        return OK;
    TRY(check_fields(reader, object, spec_watermark_fields));
    struct watermark_spec watermark = {0};
    TRY(json_read_text(reader, object, "column", &watermark.column));
    TRY(json_read_text(reader, object, "delay", &watermark.delay));
    if (!json_has_field(object, "column"))
        TRY(missing(reader, object, "column"));
    if (!json_has_field(object, "delay"))
        TRY(missing(reader, object, "delay"));
    if (watermark.column != NULL && watermark.delay != NULL)
        *out = watermark;
    return OK;
}

/* The schema: DDL or JSON as a string, or the JSON schema as an object. */
static enum status read_schema(struct json_reader *reader, struct json_place place,
                               struct relation_spec *out)
{
    json_t *value = json_object_get(place.object, "schema");
    if (value == NULL || json_is_null(value))
        return OK;
    out->schema_text = json_is_string(value) ? arena_strdup(reader->arena, json_string_value(value))
                                             : json_print(reader->arena, value);
    if (!json_is_string(value) && !json_is_object(value))
        return json_wrong_type(reader, place, "schema",
                               "text, such as \"a INT, b STRING\", or Spark's JSON of a struct");
    enum status status = type_parse_schema(reader->arena, bytes_of_text(out->schema_text),
                                           &out->schema, reader->err);
    if (status == OK)
        return OK;
    out->schema = NULL; /* half of it would be taken for all */
    return json_report(reader, json_pointer_join(reader, place.pointer, "schema"));
}

static enum status read_relation(struct json_reader *reader, struct json_place place,
                                 const char *const *fields, struct relation_spec *out)
{
    TRY(check_fields(reader, place, fields));
    TRY(json_read_text(reader, place, "format", &out->format));
    if (!json_has_field(place, "format"))
        TRY(missing(reader, place, "format"));
    TRY(read_schema(reader, place, out));
    TRY(read_options(reader, place, &out->options));
    return read_watermark(reader, place, &out->watermark);
}

static enum status read_relations(struct json_reader *reader, struct json_place root,
                                  const char *field, struct relation_spec **out, size_t *count)
{
    struct json_place place = {0};
    TRY(json_read_object(reader, root, field, &place));
    if (place.object == NULL)
        return OK;
    size_t size = json_object_size(place.object);
    if (size > SPEC_RELATIONS_MAX)
        return too_many(reader, place.pointer, "the number of sources or tables",
                        SPEC_RELATIONS_MAX);
    void *memory = NULL;
    TRY(arena_alloc(reader->arena, size + 1, sizeof(struct relation_spec), &memory, reader->err));
    struct relation_spec *list = memory;
    const char *const *fields =
        strcmp(field, "tables") == 0 ? spec_table_fields : spec_relation_fields;
    size_t used = 0;
    const char *key;
    json_t *value;
    json_object_foreach(place.object, key, value)
    {
        const char *pointer = json_pointer_join(reader, place.pointer, key);
        TRY(check_relation_name(reader, pointer, key));
        if (!json_is_object(value)) {
            (void)error_raise(reader->err, STATUS_INVALID_FIELD_TYPE, "field", key, "expected",
                              "an object", "actual", json_type_name(value), NULL);
            TRY(json_report(reader, pointer));
            continue;
        }
        list[used].name = arena_strdup(reader->arena, key);
        TRY(read_relation(reader, (struct json_place){value, pointer}, fields, &list[used]));
        used++;
    }
    *out = list;
    *count = used;
    return OK;
}

static enum status read_view_steps(struct json_reader *reader, struct json_place place,
                                   struct view_spec *view)
{
    view->drop_duplicates = json_has_field(place, "dropDuplicates");
    view->drop_duplicates_within_watermark = json_has_field(place, "dropDuplicatesWithinWatermark");
    TRY(json_read_texts(reader, place, "dropDuplicates", &view->columns, &view->column_count));
    if (!view->drop_duplicates)
        TRY(json_read_texts(reader, place, "dropDuplicatesWithinWatermark", &view->columns,
                            &view->column_count));
    TRY(read_watermark(reader, place, &view->watermark));
    const char *reason = NULL;
    if (view->drop_duplicates && view->drop_duplicates_within_watermark)
        reason = "a view makes one of both steps";
    bool steps = view->drop_duplicates || view->drop_duplicates_within_watermark ||
                 view->watermark.column != NULL;
    if (view->sql != NULL && (view->from != NULL || steps))
        reason = "a view is either SQL, or from with steps";
    if (reason == NULL)
        return OK;
    (void)error_raise(reader->err, STATUS_CONFLICTING_FIELDS, "fields",
                      view->sql != NULL ? "sql, from"
                                        : "dropDuplicates, dropDuplicatesWithinWatermark",
                      "reason", reason, NULL);
    return json_report(reader, place.pointer);
}

static enum status check_sql_size(struct json_reader *reader, const char *pointer, const char *sql)
{
    if (sql == NULL || strlen(sql) <= SPEC_SQL_BYTES_MAX)
        return OK;
    return too_many(reader, pointer, "the text of a SQL statement", SPEC_SQL_BYTES_MAX);
}

static enum status read_view(struct json_reader *reader, struct json_place place,
                             struct view_spec *view)
{
    TRY(check_fields(reader, place, spec_view_fields));
    TRY(json_read_text(reader, place, "name", &view->name));
    if (!json_has_field(place, "name"))
        TRY(missing(reader, place, "name"));
    if (view->name != NULL)
        TRY(check_relation_name(reader, json_pointer_join(reader, place.pointer, "name"),
                                view->name));
    TRY(json_read_text(reader, place, "sql", &view->sql));
    TRY(json_read_text(reader, place, "from", &view->from));
    TRY(check_sql_size(reader, json_pointer_join(reader, place.pointer, "sql"), view->sql));
    if (!json_has_field(place, "sql") && !json_has_field(place, "from"))
        TRY(missing(reader, place, "sql"));
    return read_view_steps(reader, place, view);
}

static enum status read_views(struct json_reader *reader, struct json_place root,
                              struct query_spec *spec)
{
    struct json_place place = {0};
    TRY(json_read_array(reader, root, "views", &place));
    if (place.object == NULL)
        return OK;
    size_t size = json_array_size(place.object);
    if (size > SPEC_VIEWS_MAX)
        return too_many(reader, place.pointer, "the number of views", SPEC_VIEWS_MAX);
    void *memory = NULL;
    TRY(arena_alloc(reader->arena, size + 1, sizeof(struct view_spec), &memory, reader->err));
    spec->views = memory;
    size_t i;
    json_t *item;
    json_array_foreach(place.object, i, item)
    {
        char index[24];
        (void)snprintf(index, sizeof index, "%zu", i);
        const char *pointer = json_pointer_join(reader, place.pointer, index);
        if (!json_is_object(item)) {
            (void)error_raise(reader->err, STATUS_INVALID_FIELD_TYPE, "field", index, "expected",
                              "an object", "actual", json_type_name(item), NULL);
            TRY(json_report(reader, pointer));
            continue;
        }
        struct view_spec *view = &spec->views[spec->view_count];
        TRY(read_view(reader, (struct json_place){item, pointer}, view));
        if (view->name != NULL && (view->sql != NULL || view->from != NULL))
            spec->view_count++;
        else
            *view = (struct view_spec){0};
    }
    return OK;
}

/* An option partitionBy would be a second place for the field: it is reported and left out. */
static enum status refuse_partition_option(struct json_reader *reader, struct json_place place)
{
    json_t *options = json_object_get(place.object, "options");
    const char *pointer = json_pointer_join(reader, place.pointer, "options");
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(options, next, key, value)
    {
        if (strcasecmp(key, "partitionBy") != 0)
            continue;
        pointer = json_pointer_join(reader, pointer, key);
        (void)error_raise(reader->err, STATUS_UNKNOWN_OPTION, "option", key, "hint",
                          " It is the field partitionBy of the sink, beside its options", NULL);
        (void)json_object_del(options, key);
        return json_report(reader, pointer);
    }
    return OK;
}

static enum status read_sink(struct json_reader *reader, struct json_place root,
                             struct query_spec *spec)
{
    struct json_place place = {0};
    TRY(json_read_object(reader, root, "sink", &place));
    if (place.object == NULL)
        return OK;
    TRY(check_fields(reader, place, spec_sink_fields));
    TRY(json_read_text(reader, place, "format", &spec->sink.format));
    if (!json_has_field(place, "format"))
        TRY(missing(reader, place, "format"));
    TRY(refuse_partition_option(reader, place));
    TRY(read_options(reader, place, &spec->sink.options));
    TRY(json_read_texts(reader, place, "partitionBy", &spec->sink.partition_by,
                        &spec->sink.partition_by_count));
    if (spec->sink.partition_by_count > 0)
        spec->sink.partition_by_pointer = json_pointer_join(reader, place.pointer, "partitionBy");
    spec->has_sink = spec->sink.format != NULL;
    return OK;
}

static enum status invalid_trigger(struct json_reader *reader, const char *pointer,
                                   const char *trigger, const char *reason)
{
    (void)error_raise(reader->err, STATUS_INVALID_TRIGGER, "trigger", trigger, "reason", reason,
                      NULL);
    return json_report(reader, pointer);
}

static enum status read_processing_time(struct json_reader *reader, struct json_place place,
                                        struct query_spec *spec)
{
    const char *pointer = json_pointer_join(reader, place.pointer, "processingTime");
    const char *text = NULL;
    if (json_has_field(place, "processingTime") &&
        !json_is_string(json_object_get(place.object, "processingTime")))
        return json_wrong_type(reader, place, "processingTime",
                               "a text with number and unit, such as \"10 seconds\"");
    TRY(json_read_text(reader, place, "processingTime", &text));
    if (text == NULL)
        return OK;
    struct calendar_interval duration = {0};
    if (interval_text_parse(bytes_of_text(text), &duration, reader->err) != OK) {
        struct error ignored = ERROR_INIT;
        if (!isalpha((unsigned char)text[*text == '\0' ? 0 : strlen(text) - 1]) ||
            duration_parse_short_us(text, 1000, &duration.micros, &ignored) != OK)
            return json_report(reader, pointer);
        error_clear(reader->err); /* "1s" and "500ms" are ours */
    }
    if (duration.months != 0)
        return invalid_trigger(reader, pointer, text,
                               "months and years have no fixed length; use days or less");
    int64_t day_us = 0, us = 0;
    if (__builtin_mul_overflow((int64_t)duration.days, INT64_C(86400000000), &day_us) ||
        __builtin_add_overflow(day_us, duration.micros, &us))
        return invalid_trigger(reader, pointer, text, "the interval is too long");
    if (us < 0)
        return invalid_trigger(reader, pointer, text,
                               "the interval of a trigger cannot be negative");
    spec->trigger = TRIGGER_PROCESSING_TIME;
    spec->trigger_interval = text;
    spec->trigger_interval_us = us - us % 1000; /* Spark counts milliseconds */
    return OK;
}

static enum status read_flag_trigger(struct json_reader *reader, struct json_place place,
                                     const char *field, enum trigger_kind kind,
                                     struct query_spec *spec)
{
    if (!json_has_field(place, field))
        return OK;
    bool value = true;
    TRY(json_read_bool(reader, place, field, &value));
    if (!value)
        return invalid_trigger(reader, json_pointer_join(reader, place.pointer, field), field,
                               "its value can only be true");
    spec->trigger = kind;
    return OK;
}

static enum status read_trigger(struct json_reader *reader, struct json_place root,
                                struct query_spec *spec)
{
    struct json_place place = {0};
    if (json_has_field(root, "trigger") && !json_is_object(json_object_get(root.object, "trigger")))
        return json_wrong_type(reader, root, "trigger",
                               "an object: {\"processingTime\": \"10 seconds\"}, "
                               "{\"availableNow\": true} or {\"once\": true}");
    TRY(json_read_object(reader, root, "trigger", &place));
    if (place.object == NULL)
        return OK;
    static const char *const other[] = {"continuous", "realTime"};
    for (size_t i = 0; i < 2; i++) {
        if (!json_has_field(place, other[i]))
            continue;
        (void)error_raise(reader->err, STATUS_NOT_SUPPORTED, "feature",
                          i == 0 ? "Continuous processing" : "Real-time mode", NULL);
        return json_report(reader, json_pointer_join(reader, place.pointer, other[i]));
    }
    TRY(check_fields(reader, place, spec_trigger_fields));
    size_t given = 0;
    const char *names = "";
    for (size_t i = 0; spec_trigger_fields[i] != NULL; i++)
        if (json_has_field(place, spec_trigger_fields[i]))
            names = arena_sprintf(reader->arena, "%s%s%s", names, given++ > 0 ? ", " : "",
                                  spec_trigger_fields[i]);
    if (given > 1) {
        (void)error_raise(reader->err, STATUS_CONFLICTING_FIELDS, "fields", names, "reason",
                          "a query has one trigger", NULL);
        return json_report(reader, place.pointer);
    }
    TRY(read_processing_time(reader, place, spec));
    TRY(read_flag_trigger(reader, place, "availableNow", TRIGGER_AVAILABLE_NOW, spec));
    return read_flag_trigger(reader, place, "once", TRIGGER_ONCE, spec);
}

static enum status read_output_mode(struct json_reader *reader, struct json_place root,
                                    struct query_spec *spec)
{
    spec->output_mode = "append";
    const char *mode = NULL;
    TRY(json_read_text(reader, root, "outputMode", &mode));
    if (mode == NULL)
        return OK;
    static const char *const modes[] = {"append", "update", "complete"};
    for (size_t i = 0; i < 3; i++) {
        if (strcasecmp(mode, modes[i]) == 0) {
            spec->output_mode = mode;
            return OK;
        }
    }
    spec->output_mode_wrong = true;
    (void)error_raise(reader->err, STATUS_STREAMING_OUTPUT_MODE__INVALID, "outputMode", mode, NULL);
    return json_report(reader, "/outputMode");
}

static enum status check_checkpoint(struct json_reader *reader, struct query_spec *spec)
{
    const char *path = spec->checkpoint_location;
    if (path == NULL)
        return OK;
    const char *reason = NULL;
    const char *local = path_strip_file_scheme(path);
    if (*path == '\0')
        reason = "it is empty";
    else if (path_scheme_length(local) > 0)
        reason = "only local paths are supported";
    else if (*local != '/')
        reason = "the path has to be absolute";
    if (reason == NULL) {
        spec->checkpoint_location = path_normalize(reader->arena, local);
        return OK;
    }
    spec->checkpoint_location = NULL;
    (void)error_raise(reader->err, STATUS_INVALID_CHECKPOINT_LOCATION, "path", path, "reason",
                      reason, NULL);
    return json_report(reader, "/checkpointLocation");
}

static enum status read_conf(struct json_reader *reader, struct json_place root,
                             struct query_spec *spec)
{
    spec->conf.pointer = "/conf";
    struct json_place place = {0};
    TRY(json_read_object(reader, root, "conf", &place));
    if (place.object == NULL)
        return OK;
    struct option *items = NULL;
    size_t count = 0;
    TRY(read_entries(reader, place, &items, &count));
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = NULL;
        if (conf_check(items[i].name, items[i].value, &name, reader->err) == OK)
            items[used++] = (struct option){name, items[i].value};
        else
            TRY(json_report(reader, json_pointer_join(reader, "/conf", items[i].name)));
    }
    spec->conf.items = items;
    spec->conf.count = used;
    return OK;
}

static enum status read_restart_policy(struct json_reader *reader, struct json_place root,
                                       struct query_spec *spec)
{
    spec->restart_mode = RESTART_ON_FAILURE;
    int64_t attempts = DEFAULT_ATTEMPTS_MAX;
    const char *mode = NULL;
    struct json_place place = {0};
    TRY(json_read_object(reader, root, "restartPolicy", &place));
    if (place.object != NULL) {
        TRY(check_fields(reader, place, spec_restart_fields));
        TRY(json_read_text(reader, place, "mode", &mode));
        TRY(json_read_int(reader, place, "maxAttempts", 0, INT32_MAX, &attempts));
    }
    spec->restart_attempts_max = (int32_t)attempts;
    if (mode == NULL || strcmp(mode, "onFailure") == 0)
        return OK;
    if (strcmp(mode, "never") == 0)
        spec->restart_mode = RESTART_NEVER;
    else if (strcmp(mode, "always") == 0)
        spec->restart_mode = RESTART_ALWAYS;
    else
        return invalid_value(reader, place, "mode", mode, "onFailure, always or never");
    return OK;
}

static enum status read_limits(struct json_reader *reader, struct json_place root,
                               struct query_spec *spec)
{
    struct json_place place = {0};
    TRY(json_read_object(reader, root, "limits", &place));
    if (place.object == NULL)
        return OK;
    TRY(check_fields(reader, place, spec_limits_fields));
    const char *text = json_string_value(json_object_get(place.object, "memoryBytes"));
    if (text != NULL && (*text == '\0' || text[strspn(text, "0123456789")] != '\0'))
        return invalid_value(reader, place, "memoryBytes", text,
                             "a number of bytes, such as 536870912 for 512 MiB");
    return json_read_int(reader, place, "memoryBytes", 1 << 20, INT64_MAX,
                         &spec->memory_limit_bytes);
}

static enum status read_labels(struct json_reader *reader, struct json_place root,
                               struct query_spec *spec)
{
    struct json_place place = {0};
    TRY(json_read_object(reader, root, "labels", &place));
    if (place.object == NULL)
        return OK;
    if (json_object_size(place.object) > SPEC_LABELS_MAX)
        return too_many(reader, place.pointer, "the number of labels", SPEC_LABELS_MAX);
    return read_entries(reader, place, &spec->labels, &spec->label_count);
}

static enum status read_desired_state(struct json_reader *reader, struct json_place root,
                                      struct query_spec *spec)
{
    const char *state = "RUNNING";
    TRY(json_read_text(reader, root, "desiredState", &state));
    spec->has_desired_state = json_is_string(json_object_get(root.object, "desiredState"));
    spec->desired_stopped = strcmp(state, "STOPPED") == 0;
    if (!spec->desired_stopped && strcmp(state, "RUNNING") != 0)
        return invalid_value(reader, root, "desiredState", state, "RUNNING or STOPPED");
    return OK;
}

static enum status check_unique(struct json_reader *reader, const struct query_spec *spec)
{
    size_t total = spec->source_count + spec->table_count + spec->view_count;
    void *memory = NULL;
    TRY(arena_alloc(reader->arena, total + 1, sizeof(const char *), &memory, reader->err));
    const char **names = memory;
    for (size_t i = 0; i < total; i++) {
        const char *name, *pointer;
        if (i < spec->source_count) {
            name = spec->sources[i].name;
            pointer = "/sources";
        } else if (i < spec->source_count + spec->table_count) {
            name = spec->tables[i - spec->source_count].name;
            pointer = "/tables";
        } else {
            name = spec->views[i - spec->source_count - spec->table_count].name;
            pointer = NULL; /* an array */
        }
        for (size_t j = 0; j < i; j++) {
            if (strcasecmp(names[j], name) != 0)
                continue;
            (void)error_raise(reader->err, STATUS_DUPLICATE_NAME, "what", "relation", "name", name,
                              NULL);
            size_t view = i - spec->source_count - spec->table_count;
            TRY(json_report(reader, pointer == NULL
                                        ? arena_sprintf(reader->arena, "/views/%zu/name", view)
                                        : json_pointer_join(reader, pointer, name)));
        }
        names[i] = name;
    }
    return OK;
}

static enum status read_identity(struct json_reader *reader, struct json_place root,
                                 struct query_spec *spec)
{
    TRY(json_read_text(reader, root, "name", &spec->name));
    if (spec->name != NULL && !query_name_is_valid(spec->name)) {
        (void)error_raise(reader->err, STATUS_INVALID_NAME, "what", "query", "name", spec->name,
                          "rule", QUERY_NAME_RULE, NULL);
        TRY(json_report(reader, "/name"));
        spec->name = NULL;
    }
    TRY(json_read_text(reader, root, "sql", &spec->sql));
    if (!json_has_field(root, "sql"))
        TRY(missing(reader, root, "sql"));
    TRY(check_sql_size(reader, "/sql", spec->sql));
    TRY(json_read_text(reader, root, "checkpointLocation", &spec->checkpoint_location));
    return check_checkpoint(reader, spec);
}

/* conf spark.sql.streaming.checkpointLocation is the parent of checkpoints, as in Spark. */
static enum status apply_checkpoint_conf(struct json_reader *reader, struct query_spec *spec)
{
    const char *parent = conf_text(&spec->conf, CONF_streaming_checkpointLocation);
    if (spec->checkpoint_location != NULL || parent == NULL || spec->name == NULL)
        return OK;
    spec->checkpoint_location = path_join(reader->arena, parent, spec->name);
    return check_checkpoint(reader, spec);
}

static enum status read_spec(struct json_reader *reader, struct json_place root,
                             struct query_spec *spec)
{
    TRY(check_fields(reader, root, spec_fields));
    TRY(read_identity(reader, root, spec));
    TRY(read_relations(reader, root, "sources", &spec->sources, &spec->source_count));
    TRY(read_relations(reader, root, "tables", &spec->tables, &spec->table_count));
    TRY(read_views(reader, root, spec));
    TRY(check_unique(reader, spec));
    TRY(read_sink(reader, root, spec));
    TRY(read_output_mode(reader, root, spec));
    TRY(read_trigger(reader, root, spec));
    TRY(read_conf(reader, root, spec));
    TRY(apply_checkpoint_conf(reader, spec));
    TRY(read_limits(reader, root, spec));
    TRY(read_restart_policy(reader, root, spec));
    TRY(read_labels(reader, root, spec));
    return read_desired_state(reader, root, spec);
}

enum status query_spec_parse(struct arena *arena, struct bytes json,
                             struct diagnostics *diagnostics, struct query_spec **out,
                             struct error *err)
{
    json_t *root = NULL;
    TRY(json_load(json, &root, err));
    if (!json_is_object(root)) {
        (void)error_raise(err, STATUS_INVALID_FIELD_TYPE, "field", "query", "expected", "an object",
                          "actual", json_type_name(root), NULL);
        json_decref(root);
        return err->status;
    }
    struct query_spec *spec = arena_new_object(arena, sizeof *spec);
    struct json_reader reader = {.arena = arena, .diagnostics = diagnostics, .err = err};
    enum status status = read_spec(&reader, (struct json_place){root, ""}, spec);
    if (status == OK) {
        spec->json = spec_json_canonical(arena, root);
        *out = spec;
    }
    json_decref(root);
    return status;
}
