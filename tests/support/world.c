#include "world.h"

#include "base/check.h"
#include "cell_text.h"
#include "columnar/interval_text.h"
#include "json_rows.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <jansson.h>

#define YEAR_US (INT64_C(365) * 86400 * 1000000)

static enum status refuse(struct error *err, const struct scn_record *record, const char *what)
{
    return error_set(err, SCENARIO_INVALID, "line %d: %s", record->line, what);
}

/* Without a log a scenario can do all but `expect log`. */
static void open_log(struct world *world)
{
    struct error err = ERROR_INIT;
    (void)snprintf(world->log_path, sizeof(world->log_path), "/tmp/tidemill-log-XXXXXX");
    int fd = mkstemp(world->log_path);
    if (fd < 0 || log_open(world->log_path, LOG_DEBUG, world->clock, &world->log, &err) != OK)
        world->log = NULL;
    if (fd >= 0)
        (void)close(fd);
}

static void close_log(struct world *world)
{
    log_close(world->log);
    (void)unlink(world->log_path);
}

struct world *world_new(void)
{
    struct world *world = calloc(1, sizeof(*world));
    CHECK(world != NULL);
    world->arena = arena_new("world", 0);
    world->progress_arena = arena_new("progress", 0);
    world->clock = clock_manual_new(SCENARIO_BEGIN_US);
    world->mem = vfs_mem_new(world->clock);
    world->vfs = vfs_fault_new(world->mem);
    world->parallelism = 2;
    world->spill = getenv("SCENARIO_SPILL") != NULL;
    world->mtime_us = SCENARIO_BEGIN_US + YEAR_US; /* newer than any mtime=+N */
    open_log(world);
    return world;
}

void world_free(struct world *world)
{
    if (world == NULL)
        return;
    world_stop(world);
    world_remove_root(world);
    close_log(world);
    for (size_t i = 0; i < world->relation_count; i++)
        memory_log_free(world->relations[i].log);
    for (size_t i = 0; i < world->sink_count; i++)
        collected_fini(&world->sinks[i]->collected);
    sink_collect_targets(NULL, 0);
    vfs_fault_free(world->vfs);
    vfs_mem_free(world->mem);
    clock_manual_free(world->clock);
    free(world->progress);
    buffer_fini(&world->actions);
    arena_free(world->progress_arena);
    arena_free(world->arena);
    free(world);
}

struct world_relation *world_relation(struct world *world, const char *name)
{
    for (size_t i = 0; i < world->relation_count; i++) {
        if (strcmp(world->relations[i].name, name) == 0)
            return &world->relations[i];
    }
    return NULL;
}

struct world_sink *world_sink(struct world *world, const char *name)
{
    for (size_t i = 0; i < world->sink_count; i++) {
        if (strcmp(world->sinks[i]->name, name) == 0)
            return world->sinks[i];
    }
    return NULL;
}

/* ---- definitions ---- */

/* Body lines `name TYPE` as DDL, and the watermark line. */
static void read_columns(struct world *world, const struct scn_record *record,
                         struct world_relation *relation)
{
    struct buffer ddl = {0};
    for (size_t i = 0; i < record->body_count; i++) {
        const char *line = record->body[i];
        size_t name = strcspn(line, " ");
        const char *rest = line + name + strspn(line + name, " ");
        if (name == 9 && strncmp(line, "watermark", 9) == 0) {
            size_t column = strcspn(rest, " ");
            relation->watermark_column = arena_strndup(world->arena, rest, column);
            rest += column + strspn(rest + column, " ");
            relation->watermark_delay = rest;
            continue;
        }
        buffer_add_text(&ddl, ddl.size_bytes > 0 ? ", " : "");
        buffer_printf(&ddl, "`%.*s` %s", (int)name, line, rest);
    }
    relation->columns = arena_strndup(world->arena, ddl.data, ddl.size_bytes);
    buffer_fini(&ddl);
}

static const char *pair_or(const struct scn_record *record, const char *key, const char *fallback)
{
    const char *value = scn_pair(record, key);
    return value == NULL ? fallback : value;
}

static enum status make_log(struct world *world, struct world_relation *relation, struct error *err)
{
    const char *partitions = pair_or(relation->record, "partitions", "1");
    (void)world;
    if (relation->schema == NULL)
        return refuse(err, relation->record, "a memory source needs columns");
    relation->log =
        memory_log_new(relation->name, relation->schema, (uint32_t)strtoul(partitions, NULL, 10));
    return OK;
}

static enum status define_relation(struct world *world, const struct scn_record *record,
                                   struct error *err)
{
    struct world_relation *relation = world_relation(world, record->words[0]);
    int feeds = relation == NULL ? 0 : relation->feeds;
    struct memory_log *log = relation == NULL ? NULL : relation->log;
    if (relation == NULL) {
        CHECK(world->relation_count < WORLD_DEFINITIONS_MAX);
        relation = &world->relations[world->relation_count++];
    }
    *relation = (struct world_relation){
        .name = record->words[0], .record = record, .feeds = feeds, .log = log};
    relation->table = strcmp(record->kind, "table") == 0;
    bool partitioned = scn_pair(record, "partitions") != NULL;
    relation->kind = pair_or(record, "kind", partitioned ? "memory" : "file");
    relation->format = pair_or(record, "format", "json");
    read_columns(world, record, relation);
    if (relation->columns[0] != '\0')
        TRY(type_parse_schema(world->arena, bytes_of_text(relation->columns), &relation->schema,
                              err));
    if (strcmp(relation->kind, "memory") == 0)
        return relation->log != NULL ? OK : make_log(world, relation, err);
    if (strcmp(relation->kind, "file") != 0)
        return OK;
    const char *glob = scn_pair(record, "glob");
    relation->dir = arena_sprintf(world->arena, "/%s/%s", relation->table ? "tables" : "in",
                                  pair_or(record, "dir", relation->name));
    relation->path =
        glob == NULL ? relation->dir : arena_sprintf(world->arena, "%s/%s", relation->dir, glob);
    if (strcmp(pair_or(record, "missing", ""), "true") != 0)
        world_make_dirs(world, relation->dir);
    return OK;
}

static struct world_sink *make_sink(struct world *world, const char *name)
{
    struct world_sink *sink = world_sink(world, name);
    if (sink != NULL)
        return sink;
    CHECK(world->sink_count < WORLD_DEFINITIONS_MAX);
    sink = arena_new_object(world->arena, sizeof(*sink));
    sink->name = name;
    sink->seen = NO_BATCH;
    world->sinks[world->sink_count++] = sink;
    return sink;
}

enum status world_define(struct world *world, const struct scn_record *record, struct error *err)
{
    if (strcmp(record->kind, "source") == 0 || strcmp(record->kind, "table") == 0)
        return define_relation(world, record, err);
    if (strcmp(record->kind, "view") == 0) {
        size_t at = 0; /* a second view of a name replaces the first */
        while (at < world->view_count && strcmp(world->views[at]->words[0], record->words[0]) != 0)
            at++;
        CHECK(at < WORLD_DEFINITIONS_MAX);
        world->views[at] = record;
        world->view_count += at == world->view_count ? 1 : 0;
    } else if (strcmp(record->kind, "conf") == 0) {
        CHECK(world->conf_count < WORLD_DEFINITIONS_MAX);
        world->confs[world->conf_count++] = record;
    } else {
        make_sink(world, record->words[0])->record = record;
    }
    return OK;
}

enum status world_define_query(struct world *world, const struct scn_record *record,
                               struct error *err)
{
    struct world_query *query = NULL;
    for (size_t i = 0; i < world->query_count; i++) {
        if (strcmp(world->queries[i]->name, record->words[0]) == 0)
            query = world->queries[i];
    }
    world_stop(world);
    if (query == NULL) {
        if (world->query_count == WORLD_DEFINITIONS_MAX)
            return refuse(err, record, "too many queries");
        query = arena_new_object(world->arena, sizeof(*query));
        query->last_batch = NO_BATCH;
        world->queries[world->query_count++] = query;
    }
    struct buffer sql = {0};
    for (size_t i = 0; i < record->body_count; i++) {
        if (record->body[i][0] != '!')
            buffer_printf(&sql, "%s%s", sql.size_bytes > 0 ? "\n" : "", record->body[i]);
    }
    query->name = record->words[0];
    query->record = record;
    query->sql = arena_strndup(world->arena, sql.data, sql.size_bytes);
    query->mode = pair_or(record, "mode", "append");
    query->sink = make_sink(world, pair_or(record, "into", "out"));
    buffer_fini(&sql);
    world->current = query;
    return OK;
}

/* ---- files ---- */

static enum status find_relation(struct world *world, const struct scn_record *record,
                                 struct world_relation **out, struct error *err)
{
    *out = world_relation(world, record->words[0]);
    return *out == NULL ? refuse(err, record, "there is no such source or table") : OK;
}

static enum status feed_text(struct world *world, const struct scn_record *record,
                             const struct world_relation *relation, struct buffer *text,
                             struct error *err)
{
    bool raw = strcmp(pair_or(record, "raw", "false"), "true") == 0;
    for (size_t i = 0; i < record->body_count; i++) {
        if (raw) {
            buffer_add_text(text, record->body[i]);
        } else {
            if (relation->schema == NULL)
                return refuse(err, record, "a source without columns takes only raw=true");
            TRY(cell_row_json(text, world->arena, relation->schema, record->body[i], err));
        }
        buffer_add_byte(text, '\n');
    }
    return OK;
}

struct log_receiver {
    struct batch_receiver receiver; /* first */
    struct memory_log *log;
    uint32_t partition;
};

static enum status append_to_log(struct batch_receiver *self, const struct batch *batch,
                                 struct error *err)
{
    struct log_receiver *receiver = (struct log_receiver *)self;
    return memory_log_append(receiver->log, receiver->partition, batch, err);
}

static enum status feed_log(struct world *world, const struct world_relation *relation,
                            const struct scn_record *record, struct bytes text, struct error *err)
{
    struct log_receiver receiver = {
        .receiver = {.receive = append_to_log},
        .log = relation->log,
        .partition = (uint32_t)strtoul(pair_or(record, "partition", "0"), NULL, 10)};
    return json_rows_read(world->arena, relation->schema, text, &receiver.receiver, err);
}

static enum status mtime_of(const struct scn_record *record, int64_t *mtime_us, struct error *err)
{
    const char *mtime = scn_pair(record, "mtime");
    if (mtime != NULL && !cell_read_timestamp(mtime, mtime_us))
        return refuse(err, record, "mtime is +N");
    return OK;
}

enum status world_feed(struct world *world, const struct scn_record *record, struct error *err)
{
    struct world_relation *relation;
    struct buffer text = {0};
    TRY(find_relation(world, record, &relation, err));
    enum status status = feed_text(world, record, relation, &text, err);
    relation->feeds++;
    world->mtime_us += 1000000;
    int64_t mtime_us = world->mtime_us;
    if (status == OK)
        status = mtime_of(record, &mtime_us, err);
    if (status == OK && relation->log != NULL) {
        struct bytes copy = arena_copy(world->arena, buffer_bytes(&text));
        status = feed_log(world, relation, record, copy, err);
    } else if (status == OK && relation->dir == NULL) {
        status = refuse(err, record, "this kind of source takes no rows");
    } else if (status == OK) {
        const char *name = scn_pair(record, "file");
        if (name == NULL)
            name = arena_sprintf(world->arena, "%05d.%s", relation->feeds,
                                 relation->table ? "json" : "json");
        world_write(world, arena_sprintf(world->arena, "%s/%s", relation->dir, name),
                    buffer_bytes(&text), mtime_us);
    }
    buffer_fini(&text);
    return status;
}

enum status world_handle_files(struct world *world, const struct scn_record *record,
                               struct error *err)
{
    struct world_relation *relation;
    TRY(find_relation(world, record, &relation, err));
    bool make = strcmp(record->kind, "mkdir") == 0;
    const char *name = scn_pair(record, make ? "dir" : "file");
    if (name == NULL || relation->dir == NULL)
        return refuse(err, record, "expected file= or dir= of a file source");
    const char *path = arena_sprintf(world->arena, "%s/%s", relation->dir, name);
    int64_t mtime_us = world->mtime_us;
    TRY(mtime_of(record, &mtime_us, err));
    if (make)
        world_make_dirs(world, path);
    else if (strcmp(record->kind, "touch") == 0)
        world_touch(world, path, mtime_us);
    else
        world_delete(world, path);
    return OK;
}

enum status world_advance(struct world *world, const struct scn_record *record, struct error *err)
{
    struct buffer text = {0};
    for (size_t i = 0; i < record->word_count; i++)
        buffer_printf(&text, "%s%s", i > 0 ? " " : "", record->words[i]);
    int64_t delta_us = 0;
    enum status status = interval_parse_duration_us(buffer_bytes(&text), &delta_us, err);
    buffer_fini(&text);
    if (status == OK)
        clock_manual_advance(world->clock, delta_us);
    return status;
}

/* ---- the spec ---- */

static void set_text(json_t *object, const char *key, const char *value)
{
    (void)json_object_set_new(object, key, json_string(value));
}

static bool is_reserved(const char *key, const char *const *reserved)
{
    for (; *reserved != NULL; reserved++) {
        if (strcmp(*reserved, key) == 0)
            return true;
    }
    return false;
}

static json_t *options_of(struct world *world, const struct scn_record *record,
                          const char *const *reserved)
{
    json_t *options = json_object();
    for (size_t i = 0; record != NULL && i < record->pair_count; i++) {
        const char *value = record->pairs[i].value;
        if (is_reserved(record->pairs[i].key, reserved))
            continue;
        const char *archive = strstr(value, "ARCHIVE");
        if (archive != NULL)
            value = arena_sprintf(world->arena, "%.*s%s%s", (int)(archive - value), value,
                                  world_path(world, "/archive"), archive + 7);
        set_text(options, record->pairs[i].key, value);
    }
    return options;
}

static json_t *relation_spec(struct world *world, const struct world_relation *relation)
{
    static const char *const reserved[] = {"kind", "format",  "partitions", "dir",
                                           "glob", "missing", NULL};
    static const char *const reserved_other[] = {"kind", "dir", "glob", "missing", NULL};
    json_t *spec = json_object();
    bool file = relation->dir != NULL;
    json_t *options = options_of(world, relation->record,
                                 file || relation->log != NULL ? reserved : reserved_other);
    set_text(spec, "format", file ? relation->format : relation->kind);
    if (file)
        set_text(options, "path", world_path(world, relation->path));
    if (relation->log != NULL)
        set_text(options, "log", relation->name);
    if (relation->columns[0] != '\0' && (file || relation->log != NULL))
        set_text(spec, "schema", relation->columns);
    (void)json_object_set_new(spec, "options", options);
    if (relation->watermark_column != NULL) {
        json_t *watermark = json_object();
        set_text(watermark, "column", relation->watermark_column);
        set_text(watermark, "delay", relation->watermark_delay);
        (void)json_object_set_new(spec, "watermark", watermark);
    }
    return spec;
}

static json_t *column_list(const char *names)
{
    json_t *list = json_array();
    while (*names != '\0') {
        size_t size = strcspn(names, ",");
        const char *start = names + strspn(names, " ");
        size_t end = size - (size_t)(start - names);
        while (end > 0 && start[end - 1] == ' ')
            end--;
        if (end > 0)
            (void)json_array_append_new(list, json_stringn(start, end));
        names += size + (names[size] == ',' ? 1 : 0);
    }
    return list;
}

/* The steps that a view's record adds to what it reads. */
static void add_steps(json_t *spec, const struct scn_record *record)
{
    static const char *const steps[] = {"dropDuplicates", "dropDuplicatesWithinWatermark"};
    for (size_t i = 0; i < 2; i++) {
        const char *columns = scn_pair(record, steps[i]);
        if (columns != NULL)
            (void)json_object_set_new(spec, steps[i], column_list(columns));
    }
    const char *watermark = scn_pair(record, "watermark");
    if (watermark != NULL) {
        size_t column = strcspn(watermark, " ");
        json_t *object = json_object();
        (void)json_object_set_new(object, "column", json_stringn(watermark, column));
        set_text(object, "delay", watermark + column + strspn(watermark + column, " "));
        (void)json_object_set_new(spec, "watermark", object);
    }
}

/* A record with SQL and steps is two views: the SQL, and the steps over it. */
static void add_view(struct world *world, json_t *views, const struct scn_record *record)
{
    const char *name = record->words[0], *from = scn_pair(record, "from");
    bool steps = scn_pair(record, "dropDuplicates") != NULL ||
                 scn_pair(record, "dropDuplicatesWithinWatermark") != NULL ||
                 scn_pair(record, "watermark") != NULL;
    if (record->body_count > 0) {
        struct buffer sql = {0};
        json_t *spec = json_object();
        for (size_t i = 0; i < record->body_count; i++)
            buffer_printf(&sql, "%s%s", i > 0 ? "\n" : "", record->body[i]);
        from = steps ? arena_sprintf(world->arena, "%s_sql", name) : name;
        set_text(spec, "name", from);
        set_text(spec, "sql", buffer_text(&sql));
        (void)json_array_append_new(views, spec);
        buffer_fini(&sql);
        if (!steps)
            return;
    }
    json_t *spec = json_object();
    set_text(spec, "name", name);
    set_text(spec, "from", from == NULL ? "" : from);
    add_steps(spec, record);
    (void)json_array_append_new(views, spec);
}

static json_t *sink_spec(struct world *world, const struct world_query *query)
{
    static const char *const reserved[] = {"kind", "format", "partitionBy", NULL};
    struct world_sink *sink = query->sink;
    const char *of_query = scn_pair(query->record, "sink");
    const char *kind = sink->record == NULL ? "memory" : pair_or(sink->record, "kind", "memory");
    if (of_query != NULL || (world->root != NULL && !world_forks(world)))
        kind = "file";
    json_t *spec = json_object();
    json_t *options = options_of(world, sink->record, reserved);
    bool file = strcmp(kind, "file") == 0;
    const char *format = sink->record == NULL ? "json" : pair_or(sink->record, "format", "json");
    if (of_query != NULL)
        format = of_query;
    set_text(spec, "format", file ? format : kind);
    bool directory = file && strcmp(format, "noop") != 0 && strcmp(format, "console") != 0 &&
                     strcmp(format, "memory") != 0;
    if (directory) {
        sink->dir = arena_sprintf(world->arena, "/out/%s", sink->name);
        sink->other_format = strcmp(format, "json") != 0;
        set_text(options, "path", world_path(world, sink->dir));
    }
    (void)json_object_set_new(spec, "options", options);
    const char *columns = sink->record == NULL ? NULL : scn_pair(sink->record, "partitionBy");
    if (columns != NULL)
        (void)json_object_set_new(spec, "partitionBy", column_list(columns));
    return spec;
}

static json_t *conf_spec(const struct world *world)
{
    json_t *conf = json_object();
    const char *partitions = getenv("SCENARIO_PARTITIONS");
    set_text(conf, "spark.sql.shuffle.partitions", partitions != NULL ? partitions : "2");
    for (size_t i = 0; i < world->conf_count; i++) {
        for (size_t k = 0; k < world->confs[i]->pair_count; k++)
            set_text(conf, world->confs[i]->pairs[k].key, world->confs[i]->pairs[k].value);
    }
    const struct scn_record *record = world->current->record;
    for (size_t k = 0; k < record->pair_count; k++) {
        if (strncmp(record->pairs[k].key, "spark.", 6) == 0)
            set_text(conf, record->pairs[k].key, record->pairs[k].value);
        else if (strcmp(record->pairs[k].key, "partitions") == 0)
            set_text(conf, "spark.sql.shuffle.partitions", record->pairs[k].value);
    }
    return conf;
}

static json_t *trigger_spec(const struct world *world, enum world_run kind)
{
    json_t *trigger = json_object();
    const char *interval = scn_pair(world->current->record, "trigger");
    if (kind == RUN_AVAILABLE_NOW ||
        (world->root != NULL && !world_forks(world) && kind != RUN_ONCE))
        (void)json_object_set_new(trigger, "availableNow", json_true());
    else if (kind == RUN_ONCE)
        (void)json_object_set_new(trigger, "once", json_true());
    else if (interval != NULL)
        set_text(trigger, "processingTime", interval);
    return trigger;
}

const char *world_spec(struct world *world, enum world_run kind)
{
    const struct world_query *query = world->current;
    json_t *spec = json_object(), *sources = json_object(), *tables = json_object();
    json_t *views = json_array();
    set_text(spec, "name", query->name);
    for (size_t i = 0; i < world->relation_count; i++) {
        const struct world_relation *relation = &world->relations[i];
        (void)json_object_set_new(relation->table ? tables : sources, relation->name,
                                  relation_spec(world, relation));
    }
    for (size_t i = 0; i < world->view_count; i++)
        add_view(world, views, world->views[i]);
    (void)json_object_set_new(spec, "sources", sources);
    (void)json_object_set_new(spec, "tables", tables);
    (void)json_object_set_new(spec, "views", views);
    set_text(spec, "sql", query->sql);
    (void)json_object_set_new(spec, "sink", sink_spec(world, query));
    set_text(spec, "outputMode", query->mode);
    (void)json_object_set_new(spec, "trigger", trigger_spec(world, kind));
    set_text(spec, "checkpointLocation",
             world_path(world, arena_sprintf(world->arena, "/checkpoints/%s", query->name)));
    (void)json_object_set_new(spec, "conf", conf_spec(world));
    if (world->memory_bytes > 0)
        (void)json_object_set_new(
            spec, "limits", json_pack("{s:I}", "memoryBytes", (json_int_t)world->memory_bytes));
    char *text = json_dumps(spec, JSON_COMPACT);
    CHECK(text != NULL);
    const char *out = arena_strdup(world->arena, text);
    free(text);
    json_decref(spec);
    return out;
}
