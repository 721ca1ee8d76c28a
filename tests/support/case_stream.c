/* Cases about the legality of streaming queries, over the fixture streams. */
#include "base/check.h"
#include "cell_text.h"
#include "conformance_case.h"
#include "sink_collect.h"
#include "worker/worker.h"

#include <stdio.h>
#include <stdlib.h>

#define STEPS_MAX 100

static const struct fixture {
    const char *name, *schema, *rows, *delay; /* of a watermark on `at` */
    bool table;
} fixtures[] = {
    {"clicks", "visitor STRING, url STRING, n INT, at TIMESTAMP",
     "[{\"visitor\":\"ann\",\"url\":\"/a\",\"n\":1,\"at\":\"2024-05-01T00:00:01Z\"},"
     "{\"visitor\":\"bob\",\"url\":\"/b\",\"n\":2,\"at\":\"2024-05-01T00:00:40Z\"}]",
     NULL, false},
    {"wclicks", "visitor STRING, url STRING, n INT, at TIMESTAMP",
     "[{\"visitor\":\"ann\",\"url\":\"/a\",\"n\":1,\"at\":\"2024-05-01T00:00:01Z\"},"
     "{\"visitor\":\"bob\",\"url\":\"/b\",\"n\":2,\"at\":\"2024-05-01T00:00:40Z\"}]",
     "10 seconds", false},
    {"orders", "id BIGINT, customer STRING, amount DOUBLE, at TIMESTAMP",
     "[{\"id\":1,\"customer\":\"ann\",\"amount\":2.5,\"at\":\"2024-05-01T00:00:02Z\"},"
     "{\"id\":2,\"customer\":\"bob\",\"amount\":4.0,\"at\":\"2024-05-01T00:00:41Z\"}]",
     NULL, false},
    {"worders", "id BIGINT, customer STRING, amount DOUBLE, at TIMESTAMP",
     "[{\"id\":1,\"customer\":\"ann\",\"amount\":2.5,\"at\":\"2024-05-01T00:00:02Z\"},"
     "{\"id\":2,\"customer\":\"bob\",\"amount\":4.0,\"at\":\"2024-05-01T00:00:41Z\"}]",
     "10 seconds", false},
    {"wpayments", "order_id BIGINT, paid DOUBLE, at TIMESTAMP",
     "[{\"order_id\":1,\"paid\":2.5,\"at\":\"2024-05-01T00:00:03Z\"},"
     "{\"order_id\":2,\"paid\":1.0,\"at\":\"2024-05-01T00:00:42Z\"}]",
     "20 seconds", false},
    {"pages", "url STRING, section STRING, rank INT",
     "[{\"url\":\"/a\",\"section\":\"home\",\"rank\":1},"
     "{\"url\":\"/b\",\"section\":\"shop\",\"rank\":2}]",
     NULL, true},
};

static void add_fixtures(struct arena *arena, struct case_disk *disk, json_t *sources,
                         json_t *tables)
{
    for (size_t i = 0; i < sizeof(fixtures) / sizeof(fixtures[0]); i++) {
        const struct fixture *fixture = &fixtures[i];
        json_t *rows = json_loads(fixture->rows, 0, NULL);
        json_t *relation =
            case_relation("json", fixture->schema, case_disk_rows(arena, disk, rows));
        json_decref(rows);
        if (fixture->delay != NULL)
            (void)json_object_set_new(relation, "watermark",
                                      json_pack("{ssss}", "column", "at", "delay", fixture->delay));
        (void)json_object_set_new(fixture->table ? tables : sources, fixture->name, relation);
    }
}

static bool is_file_format(const char *format)
{
    static const char *const formats[] = {"json", "csv", "text", "parquet", "orc", "xml", "avro"};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (strcmp(formats[i], format) == 0)
            return true;
    }
    return false;
}

/* A stream that the case brings: a directory of its own for file formats without a path. */
static void add_source(struct arena *arena, struct case_disk *disk, const json_t *source,
                       json_t *sources)
{
    static const char *const copied[] = {"format", "schema", "watermark"};
    json_t *relation = json_object(), *options = json_object();
    const char *format = json_string_value(json_object_get(source, "format"));
    for (size_t i = 0; i < 3; i++) {
        json_t *value = json_object_get(source, copied[i]);
        if (value != NULL)
            (void)json_object_set(relation, copied[i], value);
    }
    (void)json_object_update(options, json_object_get(source, "options"));
    if (format != NULL && is_file_format(format) && json_object_get(options, "path") == NULL) {
        const json_t *rows = json_object_get(source, "rows");
        const char *dir =
            rows != NULL ? case_disk_rows(arena, disk, rows) : case_disk_dir(arena, disk);
        if (json_object_get(source, "missing") != NULL)
            dir = arena_sprintf(arena, "%s/absent", dir);
        (void)json_object_set_new(options, "path", json_string(dir));
    }
    (void)json_object_set_new(relation, "options", options);
    (void)json_object_set_new(sources, json_string_value(json_object_get(source, "name")),
                              relation);
}

static bool omits(const struct conformance_case *one, const char *what)
{
    const json_t *omit = json_object_get(one->json, "omit");
    for (size_t i = 0; i < json_array_size(omit); i++) {
        if (strcmp(json_string_value(json_array_get(omit, i)), what) == 0)
            return true;
    }
    return false;
}

static json_t *sink_spec(struct arena *arena, const struct conformance_case *one,
                         struct case_disk *disk)
{
    const char *format = json_string_value(json_object_get(one->json, "sink"));
    json_t *sink = json_object(), *options = json_object();
    bool own = format == NULL || strcmp(format, "memory") == 0 || strcmp(format, "console") == 0 ||
               strcmp(format, "noop") == 0;
    (void)json_object_set_new(sink, "format", json_string(format == NULL ? "memory" : format));
    if (!own && !omits(one, "path"))
        (void)json_object_set_new(options, "path", json_string(case_disk_dir(arena, disk)));
    (void)json_object_update(options, json_object_get(one->json, "writerOptions"));
    (void)json_object_set_new(sink, "options", options);
    json_t *partition_by = json_object_get(one->json, "partitionBy");
    if (partition_by != NULL)
        (void)json_object_set(sink, "partitionBy", partition_by);
    return sink;
}

/* SQL with steps over it: the SQL becomes a view of its own below them. */
static void split_sql(struct arena *arena, json_t *view, json_t *views)
{
    json_t *sql = json_object_get(view, "sql");
    if (sql == NULL || json_object_size(view) <= 2)
        return;
    const char *name =
        arena_sprintf(arena, "%s_sql", json_string_value(json_object_get(view, "name")));
    json_t *below = json_object();
    (void)json_object_set_new(below, "name", json_string(name));
    (void)json_object_set(below, "sql", sql);
    (void)json_array_append_new(views, below);
    (void)json_object_del(view, "sql");
    (void)json_object_set_new(view, "from", json_string(name));
}

/* A view's watermark may be a list: each but the last becomes a view of its own below it. */
static void add_view(struct arena *arena, const json_t *view, json_t *views)
{
    json_t *list = json_object_get(view, "watermark");
    json_t *last = json_copy((json_t *)(uintptr_t)view);
    split_sql(arena, last, views);
    for (size_t i = 0; i + 1 < json_array_size(list); i++) {
        json_t *below = json_object();
        const char *name =
            arena_sprintf(arena, "%s_%zu", json_string_value(json_object_get(view, "name")), i);
        (void)json_object_set_new(below, "name", json_string(name));
        (void)json_object_set(below, "from", json_object_get(last, "from"));
        (void)json_object_set(below, "watermark", json_array_get(list, i));
        (void)json_array_append_new(views, below);
        (void)json_object_set_new(last, "from", json_string(name));
    }
    if (json_is_array(list))
        (void)json_object_set(last, "watermark", json_array_get(list, json_array_size(list) - 1));
    (void)json_array_append_new(views, last);
}

static void add_views(struct arena *arena, const struct conformance_case *one, json_t *spec)
{
    const json_t *given = json_object_get(one->json, "views");
    json_t *views = json_array();
    for (size_t i = 0; i < json_array_size(given); i++)
        add_view(arena, json_array_get(given, i), views);
    (void)json_object_set_new(spec, "views", views);
}

static json_t *stream_spec(struct arena *arena, const struct conformance_case *one,
                           struct case_disk *disk)
{
    json_t *spec = case_spec(one, one->text), *sources = json_object();
    const json_t *more = json_object_get(one->json, "sources");
    add_fixtures(arena, disk, sources, json_object_get(spec, "tables"));
    for (size_t i = 0; i < json_array_size(more); i++)
        add_source(arena, disk, json_array_get(more, i), sources);
    (void)json_object_set_new(spec, "sources", sources);
    (void)json_object_set_new(spec, "sink", sink_spec(arena, one, disk));
    add_views(arena, one, spec);
    json_t *mode = json_object_get(one->json, "mode");
    if (mode != NULL)
        (void)json_object_set(spec, "outputMode", mode);
    json_t *trigger = json_object_get(one->json, "trigger");
    if (json_is_object(trigger))
        (void)json_object_set(spec, "trigger", trigger);
    else if (trigger == NULL)
        (void)json_object_set_new(spec, "trigger", json_pack("{sb}", "availableNow", 1));
    if (!omits(one, "checkpointLocation"))
        (void)json_object_set_new(spec, "checkpointLocation",
                                  json_string(case_disk_dir(arena, disk)));
    return spec;
}

static void read_columns(struct arena *arena, const struct type *schema, struct case_answer *out)
{
    out->columns = arena_new_object(arena, (schema->field_count + 1) * sizeof(*out->columns));
    out->column_count = schema->field_count;
    for (uint32_t i = 0; i < schema->field_count; i++) {
        out->columns[i].name = arena_strdup(arena, schema->fields[i].name);
        out->columns[i].type = type_name(arena, schema->fields[i].type);
    }
}

/* Runs until nothing is left to do; other triggers than those that end: one step is enough. */
static enum status run(struct query *query, struct error *err)
{
    enum step_outcome outcome = STEP_RAN;
    for (int i = 0; i < STEPS_MAX && outcome == STEP_RAN; i++)
        TRY(worker_step(query, &outcome, err));
    return OK;
}

void case_answer_stream(struct arena *arena, const struct conformance_case *one,
                        struct case_disk *disk, struct case_answer *out)
{
    json_t *spec = stream_spec(arena, one, disk);
    char *text = json_dumps(spec, JSON_COMPACT);
    struct collected collected = {0};
    int64_t last_batch = NO_BATCH;
    struct collect_target target = {"case", &collected, &last_batch};
    struct query *query = NULL;
    sink_collect_targets(&target, 1);
    struct query_config config = {
        .vfs = disk->vfs,
        .clock = disk->clock,
        .spec_json = bytes_of_text(text),
        .default_checkpoint_dir = "/case/checkpoint",
        .parallelism = 1,
        .find_sink = sink_collect_find,
    };
    out->error_sql = one->text;
    if (query_open(&config, &query, &out->err) == OK) {
        read_columns(arena, query->schema, out);
        enum status status = run(query, &out->err);
        query_close(query, status == OK);
    }
    sink_collect_targets(NULL, 0);
    collected_fini(&collected);
    free(text);
    json_decref(spec);
}
