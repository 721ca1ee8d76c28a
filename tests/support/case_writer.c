/* Writer cases: rows of a bounded run through a sink, and the files that it leaves. */
#include "base/check.h"
#include "conformance_case.h"
#include "format/format.h"
#include "sink/sink.h"

#include <stdio.h>
#include <stdlib.h>

#define OUT_DIR        "/out"
#define FILE_BYTES_MAX ((size_t)1 << 26)

/* Opens the sink with the first batch, because only then the columns are known to be right. */
struct sink_receiver {
    struct batch_receiver receiver; /* first */
    struct sink *sink;
};

static enum status receive(struct batch_receiver *self, const struct batch *batch,
                           struct error *err)
{
    struct sink *sink = ((struct sink_receiver *)self)->sink;
    return batch_receive(sink->ops->writer(sink, 0), batch, err);
}

static struct options read_options(struct arena *arena, const json_t *object)
{
    const char *key;
    json_t *value;
    struct option *items = arena_new_object(arena, (json_object_size(object) + 2) * sizeof(*items));
    size_t count = 0;
    items[count++] = (struct option){"path", OUT_DIR};
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        items[count++] = (struct option){key, json_string_value(value)};
    }
    return (struct options){.items = items, .count = count, .pointer = "/sink/options"};
}

static const char *const *read_names(struct arena *arena, const json_t *list)
{
    const char **names = arena_new_object(arena, (json_array_size(list) + 1) * sizeof(*names));
    for (size_t i = 0; i < json_array_size(list); i++)
        names[i] = json_string_value(json_array_get(list, i));
    return names;
}

/* ---- what was written ---- */

struct walk {
    struct arena *arena;
    struct vfs *vfs;
    struct case_answer *out;
    size_t capacity;
};

/* The whole content, decompressed by the ending of the name. */
static struct bytes read_file(struct walk *walk, const char *path)
{
    struct byte_stream *stream;
    struct error err = ERROR_INIT;
    struct buffer content = {0};
    size_t size = 1;
    struct format_split whole = {.path = path};
    if (byte_stream_open(walk->vfs, &whole, &stream, &err) != OK)
        return (struct bytes){0};
    while (size > 0 && content.size_bytes < FILE_BYTES_MAX) {
        if (stream->read(stream, buffer_reserve(&content, 65536), 65536, &size, &err) != OK)
            break;
        content.size_bytes += size;
    }
    stream->close(stream);
    struct bytes out = arena_copy(walk->arena, buffer_bytes(&content));
    buffer_fini(&content);
    return out;
}

static void on_file(void *arg, const char *path, const struct vfs_stat *stat)
{
    struct walk *walk = arg;
    const char *name = strrchr(path, '/') + 1;
    const char *relative = path + strlen(OUT_DIR) + 1;
    if (stat->kind != VFS_FILE || name[0] == '.' || name[0] == '_' ||
        strncmp(relative, "_spark_metadata/", 16) == 0)
        return;
    struct case_answer *out = walk->out;
    if (out->file_count == walk->capacity) {
        walk->capacity = walk->capacity * 2 + 16;
        struct case_file *files = arena_new_object(walk->arena, walk->capacity * sizeof(*files));
        if (out->file_count > 0)
            memcpy(files, out->files, out->file_count * sizeof(*files));
        out->files = files;
    }
    out->files[out->file_count++] =
        (struct case_file){arena_strdup(walk->arena, relative), read_file(walk, path)};
}

/* As expectations list them: by the whole path, not directory by directory. */
static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct case_file *)a)->name, ((const struct case_file *)b)->name);
}

/* ---- writing ---- */

static enum status write_rows(struct arena *arena, const struct conformance_case *one,
                              struct case_disk *disk, const json_t *spec, struct sink *sink,
                              struct case_answer *out)
{
    struct sink_receiver receiver = {.receiver = {.receive = receive}, .sink = sink};
    bool due;
    uint64_t rows;
    (void)one;
    TRY(sink->ops->begin(sink, 0, 1, &out->err));
    case_run_bounded(arena, disk, spec, &receiver.receiver, out);
    if (out->err.status != OK)
        return out->err.status;
    TRY(sink->ops->task_finish(sink, 0, &out->err));
    TRY(sink->ops->stage(sink, &due, &rows, &out->err));
    return due ? sink->ops->commit(sink, 0, &out->err) : OK;
}

/* The columns are known only when the query is planned: a first run that keeps its rows. */
static const struct type *columns_of(struct arena *arena, struct case_disk *disk,
                                     const json_t *spec, struct case_answer *out)
{
    struct buffer ddl = {0};
    const struct type *schema = NULL;
    case_run_bounded(arena, disk, spec, NULL, out);
    for (size_t i = 0; i < out->column_count; i++)
        buffer_printf(&ddl, "%s`%s` %s", i > 0 ? ", " : "", out->columns[i].name,
                      out->columns[i].type);
    if (out->err.status == OK &&
        type_parse_schema(arena, buffer_bytes(&ddl), &schema, &out->err) != OK)
        schema = NULL;
    buffer_fini(&ddl);
    return schema;
}

static json_t *writer_spec(struct arena *arena, const struct conformance_case *one,
                           struct case_disk *disk)
{
    const char *sql = json_string_value(json_object_get(one->json, "query"));
    json_t *spec = case_spec(one, sql == NULL ? "SELECT * FROM t" : sql);
    if (sql != NULL)
        return spec;
    json_t *table = case_relation("json", json_string_value(json_object_get(one->json, "schema")),
                                  case_disk_rows(arena, disk, json_object_get(one->json, "rows")));
    (void)json_object_set_new(json_object_get(table, "options"), "mode", json_string("FAILFAST"));
    (void)json_object_set_new(json_object_get(spec, "tables"), "t", table);
    return spec;
}

void case_answer_writer(struct arena *arena, const struct conformance_case *one,
                        struct case_disk *disk, struct case_answer *out)
{
    const char *format = json_string_value(json_object_get(one->json, "format"));
    const json_t *partition_by = json_object_get(one->json, "partitionBy");
    struct options options = read_options(arena, json_object_get(one->json, "options"));
    struct options conf = read_options(arena, json_object_get(one->json, "conf"));
    const char *zone = json_string_value(
        json_object_get(json_object_get(one->json, "conf"), "spark.sql.session.timeZone"));
    json_t *spec = writer_spec(arena, one, disk);
    const struct sink_ops *ops = sink_find(format);
    const struct type *schema = columns_of(arena, disk, spec, out);
    struct sink *sink = NULL;
    if (ops == NULL && out->err.status == OK)
        (void)error_set(&out->err, STATUS_DATA_SOURCE_NOT_FOUND, "no sink %s", format);
    struct sink_config config = {
        .name = "case",
        .query_id = "11111111-2222-3333-4444-555555555555",
        .format = format,
        .options = &options,
        .schema = schema,
        .partition_by = read_names(arena, partition_by),
        .partition_by_count = json_array_size(partition_by),
        .mode = MODE_APPEND,
        .time_zone = zone == NULL ? "UTC" : zone,
        .vfs = disk->vfs,
        .clock = disk->clock,
        .conf = conf.items,
        .conf_count = conf.count,
    };
    if (out->err.status == OK && ops->open(arena, &config, &sink, &out->err) == OK) {
        enum status status = write_rows(arena, one, disk, spec, sink, out);
        if (status != OK)
            sink->ops->abort(sink);
        sink->ops->close(sink);
    }
    struct walk walk = {.arena = arena, .vfs = disk->vfs, .out = out};
    vfs_mem_walk(disk->vfs, OUT_DIR, on_file, &walk);
    if (out->file_count > 1)
        qsort(out->files, out->file_count, sizeof(*out->files), by_name);
    json_decref(spec);
}
