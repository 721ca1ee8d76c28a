#include "spec/spec_json.h"

#include "base/check.h"
#include "spec/json_reader.h"

const char *const spec_fields[] = {"name",       "sources",      "tables",
                                   "views",      "sql",          "sink",
                                   "outputMode", "trigger",      "checkpointLocation",
                                   "conf",       "limits",       "restartPolicy",
                                   "labels",     "desiredState", NULL};
const char *const spec_relation_fields[] = {"format", "schema", "options", "watermark", NULL};
const char *const spec_table_fields[] = {"format", "schema", "options", NULL};
const char *const spec_view_fields[] = {
    "name", "sql", "from", "watermark", "dropDuplicates", "dropDuplicatesWithinWatermark", NULL};
const char *const spec_sink_fields[] = {"format", "options", "partitionBy", NULL};
const char *const spec_watermark_fields[] = {"column", "delay", NULL};
const char *const spec_trigger_fields[] = {"processingTime", "availableNow", "once", NULL};
const char *const spec_limits_fields[] = {"memoryBytes", NULL};
const char *const spec_restart_fields[] = {"mode", "maxAttempts", NULL};

size_t spec_fields_count(const char *const *fields)
{
    size_t count = 0;
    while (fields[count] != NULL)
        count++;
    return count;
}

/* A new object: the fields of `fields` first, in that order, then the others as they stand. */
static json_t *ordered(json_t *object, const char *const *fields)
{
    json_t *result = json_object();
    for (; *fields != NULL; fields++) {
        json_t *value = json_object_get(object, *fields);
        if (value != NULL && !json_is_null(value))
            (void)json_object_set(result, *fields, value);
    }
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (!json_is_null(value) && json_object_get(result, key) == NULL)
            (void)json_object_set(result, key, value);
    }
    return result;
}

/* Puts the object at `field` in order, if there is one. */
static void order_field(json_t *object, const char *field, const char *const *fields)
{
    json_t *value = json_object_get(object, field);
    if (json_is_object(value))
        (void)json_object_set_new(object, field, ordered(value, fields));
}

static void order_relations(json_t *root, const char *field, const char *const *fields)
{
    json_t *relations = json_object_get(root, field);
    if (!json_is_object(relations))
        return;
    static const char *const none[] = {NULL};
    relations = ordered(relations, none);
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(relations, next, key, value)
    {
        if (!json_is_object(value))
            continue;
        json_t *relation = ordered(value, fields);
        order_field(relation, "watermark", spec_watermark_fields);
        (void)json_object_set_new(relations, key, relation);
    }
    (void)json_object_set_new(root, field, relations);
}

static void order_views(json_t *root)
{
    json_t *views = json_object_get(root, "views");
    if (!json_is_array(views))
        return;
    json_t *result = json_array();
    size_t i;
    json_t *item;
    json_array_foreach(views, i, item)
    {
        if (!json_is_object(item)) {
            (void)json_array_append(result, item);
            continue;
        }
        json_t *view = ordered(item, spec_view_fields);
        order_field(view, "watermark", spec_watermark_fields);
        (void)json_array_append_new(result, view);
    }
    (void)json_object_set_new(root, "views", result);
}

static json_t *canonical(json_t *root)
{
    json_t *result = ordered(root, spec_fields);
    order_relations(result, "sources", spec_relation_fields);
    order_relations(result, "tables", spec_table_fields);
    order_views(result);
    order_field(result, "sink", spec_sink_fields);
    order_field(result, "trigger", spec_trigger_fields);
    order_field(result, "limits", spec_limits_fields);
    order_field(result, "restartPolicy", spec_restart_fields);
    return result;
}

const char *spec_json_canonical(struct arena *arena, json_t *root)
{
    CHECK(json_is_object(root));
    json_t *result = canonical(root);
    const char *text = json_print(arena, result);
    json_decref(result);
    return text;
}

enum status spec_json_complete(struct arena *arena, const char *json, const char *name,
                               const char *checkpoint_location, const char **out, struct error *err)
{
    json_t *root = NULL;
    TRY(json_load(bytes_of_text(json), &root, err));
    CHECK(json_is_object(root));
    (void)json_object_set_new(root, "name", json_string(name));
    if (checkpoint_location != NULL)
        (void)json_object_set_new(root, "checkpointLocation", json_string(checkpoint_location));
    *out = spec_json_canonical(arena, root);
    json_decref(root);
    return OK;
}
