/*
 * The file sink: part files that appear whole, exactly once.
 *
 * Tasks write under hidden temporary names (part_writer.h).  commit(N) renames them to
 *
 *     [k=v/]part-<task>-<query id>-<batch id>-c<n>.json
 *
 * syncs the directories that hold them, and then renames the marker ".tidemill-<query id>-<N-1>" to
 * "...-<N>", an empty file whose name says which batch is visible.  So last_batch() needs no log of
 * its own, and a batch costs one sync per part file and one per directory.
 *
 * The marker's own name is not synced: the next commit's sync of the directory does it.  So it
 * never is ahead of a file, whatever the order in which a disk takes renames, and a loss of power
 * may leave it one batch behind.  Then either the log has no COMMIT(N), and N runs again; or it
 * has, and nothing asks for N any more: only files of the batch at hand and later ones are ever
 * taken back.
 *
 * After a crash within commit(N) some files of N are visible and the marker says N-1: N runs again.
 * As a rule it makes the same files, byte for byte, and those that are visible stay what they are.
 * Where it does not (the number of tasks has changed), commit takes back what is visible of N and
 * differs, durably, before it shows anything.  So whoever lists the directory by "part-*" never
 * sees a partial file, nor a row twice, at no moment.  A commit that fails before all files of N
 * are visible (a partition directory cannot be made) hides those again that it has shown.
 *
 * Directories have to be durable, too: those above the output directory are synced when there is no
 * marker yet, those between it and a partition's files with the first commit that uses them, for
 * who made them may have died before it synced them.
 *
 * A directory with the marker of another query is refused: two queries that write to one directory
 * know nothing of each other's batches.
 */
#include "sink/sink_file.h"

#include "base/check.h"
#include "base/duration.h"
#include "base/failpoint.h"
#include "base/heap.h"
#include "base/path.h"
#include "base/uuid.h"
#include "sink/dir_table.h"
#include "sink/part_writer.h"
#include "sink/spark_metadata.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SINK_FILE_MAGIC 0xf11e0e01U
#define MARKER_PREFIX   ".tidemill-"
#define QUERY_ID_SIZE   36
#define DURABLE_MAX     65536

static const struct option_def file_options[] = {
    {"path", OPTION_TEXT, 0, 0, NULL, "Directory that is written to."},
    {"maxRecordsPerFile", OPTION_INT, 0, INT64_MAX, "0", "Most rows of one file; 0: no limit."},
    {"sparkMetadata", OPTION_BOOL, 0, 0, "false",
     "Keeps the log _spark_metadata, from which Spark knows the committed files."},
    {"retention", OPTION_DURATION, 0, 0, NULL,
     "With sparkMetadata: files older than this leave the log when it is compacted."},
    {0},
};

struct leftover {
    char *path; /* relative to the output directory */
    int64_t batch_id;
    struct leftover *next;
};

struct file_sink {
    struct sink base;
    uint32_t magic;
    struct arena *query;
    struct part_config config;
    const char *description;
    bool spark_metadata;
    struct spark_metadata log; /* if so */
    bool bounded;
    bool dir_made;
    int64_t last_batch; /* visible */
    int64_t staged_batch;
    struct part_writer **writers;
    uint32_t writer_count;
    struct leftover *leftovers; /* visible files of a batch that was not finished */
    struct dir_table durable;   /* partition directories that this process has made durable */
};

static struct file_sink *sink_of(struct sink *self)
{
    struct file_sink *sink = (struct file_sink *)self;
    CHECK_MAGIC(sink, SINK_FILE_MAGIC);
    return sink;
}

/* --- opening ---------------------------------------------------------------------------------- */

static enum status parse_path(struct file_sink *sink, const struct sink_config *config,
                              struct error *err)
{
    const char *path = options_get(config->options, "path");
    if (path == NULL || path[0] == '\0')
        return error_raise(err, STATUS_OPTION_REQUIRED, "option", "path", "connector",
                           config->format, NULL);
    const char *plain = path_strip_file_scheme(path);
    size_t scheme = path_scheme_length(path);
    if (scheme > 0 && plain == path)
        return error_raise(err, STATUS_NOT_SUPPORTED, "feature",
                           arena_sprintf(sink->query, "The file system %.*s", (int)scheme, path),
                           NULL);
    sink->config.dir = path_absolute(sink->query, path);
    sink->description = arena_sprintf(sink->query, "FileSink[file:%s]", sink->config.dir);
    return OK;
}

static uint32_t find_column(const struct type *schema, const char *name)
{
    uint32_t i = 0;
    while (i < schema->field_count && strcasecmp(schema->fields[i].name, name) != 0)
        i++;
    return i;
}

static enum status check_partition_column(struct file_sink *sink, const char *name, uint32_t at,
                                          struct error *err)
{
    const struct type *schema = sink->config.schema;
    if (at == schema->field_count) {
        char *columns = arena_strdup(sink->query, "");
        for (uint32_t i = 0; i < schema->field_count; i++)
            columns = arena_sprintf(sink->query, "%s%s%s", columns, i > 0 ? ", " : "",
                                    schema->fields[i].name);
        return error_raise(err, STATUS_SINK_COLUMN_NOT_FOUND, "columnName", name, "columns",
                           columns, NULL);
    }
    const struct type *type = schema->fields[at].type;
    if (type_is_nested(type) || type->id == TYPE_VOID || type->id == TYPE_INTERVAL)
        return error_raise(err, STATUS_INVALID_PARTITION_COLUMN_DATA_TYPE, "type",
                           arena_sprintf(sink->query, "\"%s\"", type_sql(sink->query, type)), NULL);
    return OK;
}

static enum status parse_partitions(struct file_sink *sink, const struct sink_config *config,
                                    struct error *err)
{
    struct arena *query = sink->query;
    const struct type *schema = config->schema;
    uint32_t count = (uint32_t)config->partition_by_count;
    uint32_t *columns = arena_new_object(query, (count + 1) * sizeof *columns);
    const char **names = arena_new_object(query, (count + 1) * sizeof *names);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = config->partition_by[i];
        columns[i] = find_column(schema, name);
        TRY(check_partition_column(sink, name, columns[i], err));
        names[i] = sink->bounded ? name : schema->fields[columns[i]].name;
        for (uint32_t j = 0; j < i; j++)
            if (columns[j] == columns[i])
                return error_raise(err, STATUS_COLUMN_ALREADY_EXISTS, "columnName",
                                   arena_sprintf(query, "`%s`", name), NULL);
    }
    if (count > 0 && count == schema->field_count)
        return error_raise(err, STATUS_ALL_PARTITION_COLUMNS_NOT_ALLOWED, NULL);
    struct type_field *fields = arena_new_object(query, (schema->field_count + 1) * sizeof *fields);
    uint32_t *data = arena_new_object(query, (schema->field_count + 1) * sizeof *data);
    uint32_t data_count = 0;
    for (uint32_t i = 0; i < schema->field_count; i++) {
        bool is_partition = false;
        for (uint32_t j = 0; j < count; j++)
            is_partition = is_partition || columns[j] == i;
        if (is_partition)
            continue;
        fields[data_count] = schema->fields[i];
        data[data_count++] = i;
    }
    sink->config.data_schema = count == 0 ? schema : type_struct(query, fields, data_count);
    sink->config.data_columns = data;
    sink->config.partition_columns = columns;
    sink->config.partition_names = names;
    sink->config.partition_count = count;
    return OK;
}

static enum status open_metadata(struct file_sink *sink, const struct sink_config *config,
                                 struct error *err)
{
    TRY(options_bool(config->options, "sparkMetadata", false, &sink->spark_metadata, err));
    spark_metadata_init(&sink->log, config, sink->config.dir);
    const char *retention = options_get(config->options, "retention");
    if (retention == NULL)
        return OK;
    struct error ignored = ERROR_INIT;
    const char *expected = sink->spark_metadata ? "a duration such as 50s, 5m, 1h or 2d"
                                                : "to be set with sparkMetadata=true only";
    if (sink->spark_metadata &&
        duration_parse_short_us(retention, 1000, &sink->log.retention_us, &ignored) == OK)
        return OK;
    error_clear(&ignored);
    enum status status = error_raise(err, STATUS_INVALID_OPTION_VALUE, "option", "retention",
                                     "value", retention, "expected", expected, NULL);
    options_point_at(config->options, "retention", err);
    return status;
}

static enum status open_format(struct file_sink *sink, const struct sink_config *config,
                               struct error *err)
{
    const struct format_ops *format = format_find(config->format);
    if (format == NULL || format->writer_new == NULL)
        return error_raise(err, STATUS_DATA_SOURCE_NOT_FOUND, "provider", config->format, NULL);
    const struct option_def *const tables[] = {file_options, format->write_options, NULL};
    TRY(options_check(config->options, tables, err));
    int64_t records_max = 0;
    TRY(options_int(config->options, "maxRecordsPerFile", 0, INT64_MAX, 0, &records_max, err));
    TRY(open_metadata(sink, config, err));
    const char *zone = options_get(config->options, "timeZone");
    if (zone == NULL)
        zone = config->time_zone;
    sink->config.zone = timezone_utc();
    if (zone != NULL)
        TRY(timezone_find(bytes_of_text(zone), &sink->config.zone, err));
    sink->config.records_max = (uint64_t)records_max;
    sink->config.format = format;
    struct format_config format_config = {
        .options = options_of_table(sink->query, config->options, format->write_options),
        .schema = sink->config.data_schema,
        .time_zone = config->time_zone,
        .conf = config->conf,
        .conf_count = config->conf_count,
    };
    TRY(format->writer_new(sink->query, &format_config, &sink->config.writer, err));
    sink->config.extension = format->extension(sink->config.writer);
    return OK;
}

/* The output directory, as it is found. */
struct search {
    struct vfs_visitor visitor;
    struct file_sink *sink;
    const char *dir; /* relative; "" is the output directory */
    const char *foreign;
    struct leftover *staged;
    struct leftover *subdirs;
    bool want_parts;
};

static void add_path(struct leftover **list, const char *dir, const char *name, int64_t batch_id)
{
    struct leftover *item = heap_calloc(1, sizeof *item);
    size_t size = strlen(dir) + strlen(name) + 2;
    item->path = heap_malloc(size);
    (void)snprintf(item->path, size, "%s%s%s", dir, dir[0] == '\0' ? "" : "/", name);
    item->batch_id = batch_id;
    item->next = *list;
    *list = item;
}

static void free_paths(struct leftover **list)
{
    while (*list != NULL) {
        struct leftover *item = *list;
        *list = item->next;
        free(item->path);
        free(item);
    }
}

/* A number that fills the text up to `end`. */
static bool parse_id(const char *text, char end, int64_t *out)
{
    char *stop = NULL;
    long long value = strtoll(text, &stop, 10);
    *out = value;
    return stop != text && *stop == end && text[0] >= '0' && text[0] <= '9';
}

bool sink_file_part(const char *name, const char *query_id, int64_t *batch_id)
{
    if (strncmp(name, "part-", 5) != 0)
        return false;
    const char *at = name + 5 + strspn(name + 5, "0123456789");
    if (at[0] != '-' || strncmp(at + 1, query_id, QUERY_ID_SIZE) != 0 ||
        at[1 + QUERY_ID_SIZE] != '-')
        return false;
    at += QUERY_ID_SIZE + 2;
    char end = at[strspn(at, "0123456789")];
    return (end == '-' || end == '.') && parse_id(at, end, batch_id);
}

static void visit_hidden(struct search *search, const char *name)
{
    struct file_sink *sink = search->sink;
    size_t prefix = sizeof MARKER_PREFIX - 1;
    if (strncmp(name, MARKER_PREFIX, prefix) != 0 || strlen(name) < prefix + QUERY_ID_SIZE + 2)
        return;
    const char *rest = name + prefix + QUERY_ID_SIZE;
    bool own = strncmp(name + prefix, sink->config.query_id, QUERY_ID_SIZE) == 0;
    int64_t batch_id = 0;
    if (own && rest[0] == '.')
        add_path(&search->staged, "", name,
                 parse_id(rest + 1, '.', &batch_id) ? batch_id : NO_BATCH);
    else if (rest[0] == '-' && parse_id(rest + 1, '\0', &batch_id)) {
        if (!own)
            search->foreign = arena_strndup(sink->query, name + prefix, QUERY_ID_SIZE);
        else if (batch_id > sink->last_batch)
            sink->last_batch = batch_id;
    }
}

static enum status visit(struct vfs_visitor *visitor, const char *name, enum vfs_kind kind,
                         struct error *err)
{
    (void)err;
    struct search *search = (struct search *)visitor;
    int64_t batch_id = 0;
    if (!search->want_parts)
        visit_hidden(search, name);
    else if (kind == VFS_DIR && strchr(name, '=') != NULL)
        add_path(&search->subdirs, search->dir, name, NO_BATCH);
    else if (sink_file_part(name, search->sink->config.query_id, &batch_id) &&
             batch_id > search->sink->last_batch)
        add_path(&search->sink->leftovers, search->dir, name, batch_id);
    return OK;
}

static enum status scan(struct search *search, struct error *err)
{
    struct file_sink *sink = search->sink;
    struct arena *request = arena_new("request", 0);
    enum status status = vfs_scan(
        sink->config.vfs, path_join(request, sink->config.dir, search->dir), &search->visitor, err);
    if (status == STATUS_FILE_NOT_FOUND) {
        error_clear(err);
        status = OK;
    }
    arena_free(request);
    return status;
}

/* Files of batches after the marker's, below partition directories, too. */
static enum status find_leftovers(struct file_sink *sink, struct error *err)
{
    enum status status = OK;
    struct search search = {
        .visitor = {.visit = visit}, .sink = sink, .dir = "", .want_parts = true};
    TRY_OUT(scan(&search, err));
    while (sink->config.partition_count > 0 && search.subdirs != NULL) {
        struct leftover *dir = search.subdirs;
        search.subdirs = dir->next;
        search.dir = dir->path;
        status = scan(&search, err);
        free(dir->path);
        free(dir);
        TRY_OUT(status);
    }
out:
    free_paths(&search.subdirs);
    return status;
}

static char *marker_path(const struct file_sink *sink, struct arena *request, int64_t batch_id)
{
    return arena_sprintf(request, "%s/" MARKER_PREFIX "%s-%" PRId64, sink->config.dir,
                         sink->config.query_id, batch_id);
}

static enum status inspect_directory(struct file_sink *sink, struct error *err)
{
    enum status status = OK;
    struct search search = {.visitor = {.visit = visit}, .sink = sink, .dir = ""};
    TRY_OUT(scan(&search, err));
    if (search.foreign != NULL)
        TRY_OUT(error_raise(err, STATUS_SINK_PATH_IN_USE, "path", sink->config.dir, "queryId",
                            search.foreign, NULL));
    for (const struct leftover *item = search.staged; item != NULL; item = item->next)
        TRY_OUT(vfs_remove(sink->config.vfs, path_join(sink->query, sink->config.dir, item->path),
                           err));
    TRY_OUT(find_leftovers(sink, err));
out:
    free_paths(&search.staged);
    return status;
}

static void file_close(struct sink *self);

static enum status check_mode(const struct sink_config *config, struct error *err)
{
    if (config->mode == MODE_APPEND)
        return OK;
    return error_raise(err, STATUS_STREAMING_OUTPUT_MODE__UNSUPPORTED_DATASOURCE, "outputMode",
                       config->mode == MODE_UPDATE ? "update" : "complete", "className",
                       config->format, NULL);
}

/* All that the spec says; nothing is touched. */
static enum status configure(struct file_sink *sink, const struct sink_config *config,
                             struct error *err)
{
    TRY(check_mode(config, err));
    sink->config.schema = config->schema;
    TRY(parse_path(sink, config, err));
    TRY(parse_partitions(sink, config, err));
    return open_format(sink, config, err);
}

static enum status file_check(struct arena *request, const struct sink_config *config,
                              struct error *err)
{
    struct file_sink sink = {.magic = SINK_FILE_MAGIC, .query = request};
    return configure(&sink, config, err);
}

static enum status file_open(struct arena *query, const struct sink_config *config,
                             struct sink **out, struct error *err)
{
    TRY(check_mode(config, err));
    struct file_sink *sink = heap_calloc(1, sizeof *sink);
    sink->base.ops = sink_find(config->format);
    sink->magic = SINK_FILE_MAGIC;
    sink->query = query;
    sink->last_batch = NO_BATCH;
    sink->staged_batch = NO_BATCH;
    sink->bounded = config->state_dir == NULL;
    sink->config.vfs = config->vfs;
    sink->config.query_id = config->query_id;
    if (config->query_id == NULL || strlen(config->query_id) != QUERY_ID_SIZE) {
        char made_up[UUID_TEXT_SIZE];
        uuid_random_text(made_up);
        sink->config.query_id = arena_strdup(query, made_up);
    }
    enum status status = OK;
    TRY_OUT(configure(sink, config, err));
    sink->config.empty_file = sink->bounded && sink->config.partition_count == 0;
    if (!sink->bounded)
        TRY_OUT(inspect_directory(sink, err));
    if (sink->spark_metadata)
        TRY_OUT(spark_metadata_open(&sink->log, err));
    if (sink->last_batch != NO_BATCH) /* what is seen may not be durable: its writer has died */
        TRY_OUT(vfs_sync_dir(sink->config.vfs, sink->config.dir, err));
    *out = &sink->base;
out:
    if (status != OK)
        file_close(&sink->base);
    return status;
}

/* --- a batch ---------------------------------------------------------------------------------- */

static enum status file_last_batch(struct sink *self, int64_t *batch_id, struct error *err)
{
    (void)err;
    *batch_id = sink_of(self)->last_batch;
    return OK;
}

static void drop_writers(struct file_sink *sink)
{
    for (uint32_t i = 0; i < sink->writer_count; i++)
        part_writer_free(sink->writers[i]);
    free(sink->writers);
    sink->writers = NULL;
    sink->writer_count = 0;
}

static enum status file_begin(struct sink *self, int64_t batch_id, uint32_t tasks,
                              struct error *err)
{
    struct file_sink *sink = sink_of(self);
    if (!sink->dir_made)
        TRY(vfs_make_dirs(sink->config.vfs, sink->config.dir, err));
    if (!sink->dir_made && sink->last_batch == NO_BATCH)
        TRY(vfs_sync_above(sink->config.vfs, sink->config.dir, err));
    sink->dir_made = true;
    drop_writers(sink);
    sink->staged_batch = batch_id;
    sink->writers = heap_calloc(tasks + 1, sizeof(struct part_writer *));
    sink->writer_count = tasks;
    for (uint32_t i = 0; i < tasks; i++)
        sink->writers[i] = part_writer_new(&sink->config, batch_id, i);
    return OK;
}

static struct batch_receiver *file_writer(struct sink *self, uint32_t task)
{
    struct file_sink *sink = sink_of(self);
    CHECK(task < sink->writer_count);
    return part_writer_receiver(sink->writers[task]);
}

static enum status file_task_finish(struct sink *self, uint32_t task, struct error *err)
{
    struct file_sink *sink = sink_of(self);
    CHECK(task < sink->writer_count);
    return part_writer_finish(sink->writers[task], err);
}

static enum status file_stage(struct sink *self, bool *due, uint64_t *rows, struct error *err)
{
    (void)err;
    const struct file_sink *sink = sink_of(self);
    *due = false;
    *rows = 0;
    for (uint32_t i = 0; i < sink->writer_count; i++) {
        *due = *due || part_writer_count(sink->writers[i]) > 0;
        *rows += part_writer_rows(sink->writers[i]);
    }
    /* What an earlier attempt has shown has to go, even if nothing comes in its place. */
    for (const struct leftover *item = sink->leftovers; item != NULL; item = item->next)
        *due = *due || item->batch_id >= sink->staged_batch;
    return OK;
}

/* The directories between the output directory and `dir` are to be synced, too, unless this process
 * has done it. */
static void add_dirs_above(struct file_sink *sink, struct arena *request, const char *dir,
                           struct dir_table *dirs)
{
    if (sink->durable.count > DURABLE_MAX)
        dir_table_fini(&sink->durable);
    if (dir_table_at(&sink->durable, dir)->number++ > 0)
        return;
    for (const char *above = path_dirname(request, dir);
         path_is_below(above, sink->config.dir) && strcmp(above, sink->config.dir) != 0;
         above = path_dirname(request, above))
        (void)dir_table_at(dirs, above);
}

/* `dirs` are the partition directories of a commit that have to be synced. */
static enum status publish_part(struct file_sink *sink, struct arena *request,
                                struct dir_table *dirs, struct part_writer *writer, size_t i,
                                struct error *err)
{
    const struct part *part = part_writer_part(writer, i);
    const char *target = path_join(request, sink->config.dir, part->final);
    if (sink->config.partition_count > 0) {
        const char *dir = path_dirname(request, target);
        struct dir_entry *entry = dir_table_at(dirs, dir);
        if (entry->number++ == 0) {
            TRY(vfs_make_dirs(sink->config.vfs, dir, err));
            add_dirs_above(sink, request, dir, dirs);
        }
    }
    if (part_writer_state(writer, i) != PART_STAGED)
        return OK;
    TRY(vfs_rename(sink->config.vfs, part->staged, target, err));
    part_writer_set_state(writer, i, PART_PUBLISHED);
    return FAILPOINT(mid_commit, err);
}

/* The staged files of the batch by their final paths, numbered from 1: there may be many thousands.
 */
static void index_staged(const struct file_sink *sink, struct dir_table *staged)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < sink->writer_count; i++)
        for (size_t p = 0; p < part_writer_count(sink->writers[i]); p++)
            dir_table_at(staged, part_writer_part(sink->writers[i], p)->final)->number = ++number;
}

/* The writer of staged file `number` and its place there. */
static struct part_writer *staged_at(const struct file_sink *sink, uint32_t number, size_t *at)
{
    CHECK(number > 0);
    size_t left = number - 1;
    uint32_t i = 0;
    while (left >= part_writer_count(sink->writers[i])) {
        left -= part_writer_count(sink->writers[i++]);
        CHECK(i < sink->writer_count);
    }
    *at = left;
    return sink->writers[i];
}

/* Whether both files hold the same bytes.  *same is false, too, if one of them is gone. */
static enum status compare_files(struct vfs *vfs, const char *a, const char *b, bool *same,
                                 struct error *err)
{
    struct vfs_map *maps[2] = {NULL, NULL};
    struct bytes content[2];
    *same = false;
    enum status status = vfs_map(vfs, a, &maps[0], &content[0], err);
    if (status == OK)
        status = vfs_map(vfs, b, &maps[1], &content[1], err);
    if (status == OK)
        *same = bytes_equal(content[0], content[1]);
    vfs_unmap(maps[0]);
    vfs_unmap(maps[1]);
    if (status != STATUS_FILE_NOT_FOUND)
        return status;
    error_clear(err);
    return OK;
}

/* What an earlier attempt at this batch has left visible: kept, if the new one has the same. */
static enum status settle_leftover(struct file_sink *sink, struct arena *request,
                                   const struct leftover *item, uint32_t staged,
                                   struct dir_table *dirs, struct error *err)
{
    struct vfs *vfs = sink->config.vfs;
    const char *path = path_join(request, sink->config.dir, item->path);
    if (staged > 0) {
        size_t at = 0;
        struct part_writer *writer = staged_at(sink, staged, &at);
        const struct part *part = part_writer_part(writer, at);
        bool same = false;
        TRY(compare_files(vfs, part->staged, path, &same, err));
        if (same) {
            TRY(vfs_remove(vfs, part->staged, err));
            part_writer_set_state(writer, at, PART_KEPT);
            return OK;
        }
    }
    (void)dir_table_at(dirs, path_dirname(request, path));
    enum status status = vfs_remove(vfs, path, err);
    if (status != STATUS_FILE_NOT_FOUND) /* taken back by a commit that failed, or by a consumer */
        return status;
    error_clear(err);
    return OK;
}

/* Before anything of a batch that was not finished is shown again.  Files of earlier batches are
 * not unfinished, though the marker does not know them: it is behind, or gone, which no crash does.
 */
static enum status settle_leftovers(struct file_sink *sink, struct arena *request,
                                    struct error *err)
{
    if (sink->leftovers == NULL)
        return OK;
    enum status status = OK;
    struct dir_table staged = {0};
    struct dir_table dirs = {0};
    index_staged(sink, &staged);
    if (sink->spark_metadata) /* Spark must not look for files that are about to go */
        TRY_OUT(spark_metadata_remove(&sink->log, sink->staged_batch, err));
    for (const struct leftover *item = sink->leftovers; item != NULL; item = item->next)
        if (item->batch_id >= sink->staged_batch)
            TRY_OUT(settle_leftover(sink, request, item, dir_table_at(&staged, item->path)->number,
                                    &dirs, err));
    for (size_t i = 0; i < dirs.count; i++)
        TRY_OUT(vfs_sync_dir(sink->config.vfs, dirs.entries[i].dir, err));
    free_paths(&sink->leftovers);
out:
    dir_table_fini(&dirs);
    dir_table_fini(&staged);
    return status;
}

static enum status put_metadata(struct file_sink *sink, struct arena *request, int64_t batch_id,
                                struct error *err)
{
    enum status status = OK;
    struct buffer lines = {0};
    for (uint32_t i = 0; i < sink->writer_count; i++)
        for (size_t p = 0; p < part_writer_count(sink->writers[i]); p++) {
            const char *path =
                path_join(request, sink->config.dir, part_writer_part(sink->writers[i], p)->final);
            struct vfs_stat stat;
            TRY_OUT(vfs_stat(sink->config.vfs, path, &stat, err));
            spark_metadata_add(&lines, path, &stat);
        }
    TRY_OUT(spark_metadata_put(&sink->log, batch_id, buffer_bytes(&lines), err));
out:
    buffer_fini(&lines);
    return status;
}

/* When all files of the batch are durable under their names. */
static enum status move_marker(struct file_sink *sink, struct arena *request, int64_t batch_id,
                               struct error *err)
{
    struct vfs *vfs = sink->config.vfs;
    const char *marker = marker_path(sink, request, batch_id);
    if (sink->bounded)
        return OK;
    if (sink->last_batch == NO_BATCH)
        return vfs_put(vfs, marker, bytes_of(NULL, 0), false, err);
    return vfs_rename(vfs, marker_path(sink, request, sink->last_batch), marker, err);
}

/* Gives what a commit that failed half-way has published its temporary names again, as far as that
 * can be done: what stays visible is settled by the next start. */
static void take_back(struct file_sink *sink, struct arena *request)
{
    struct error ignored = ERROR_INIT;
    for (uint32_t i = 0; i < sink->writer_count; i++)
        for (size_t p = 0; p < part_writer_count(sink->writers[i]); p++) {
            if (part_writer_state(sink->writers[i], p) != PART_PUBLISHED)
                continue;
            const struct part *part = part_writer_part(sink->writers[i], p);
            const char *target = path_join(request, sink->config.dir, part->final);
            if (vfs_rename(sink->config.vfs, target, part->staged, &ignored) == OK)
                part_writer_set_state(sink->writers[i], p, PART_STAGED);
            error_clear(&ignored);
        }
}

static enum status publish_all(struct file_sink *sink, struct arena *request,
                               struct dir_table *dirs, struct error *err)
{
    enum status status = OK;
    for (uint32_t i = 0; i < sink->writer_count; i++)
        for (size_t p = 0; p < part_writer_count(sink->writers[i]); p++)
            TRY_OUT(publish_part(sink, request, dirs, sink->writers[i], p, err));
out:
    if (status != OK)
        take_back(sink, request);
    return status;
}

static enum status file_commit(struct sink *self, int64_t batch_id, struct error *err)
{
    struct file_sink *sink = sink_of(self);
    if (batch_id <= sink->last_batch) { /* run again after a rewind */
        drop_writers(sink);
        return OK;
    }
    CHECK(sink->staged_batch == batch_id);
    enum status status = OK;
    struct dir_table dirs = {0};
    struct arena *request = arena_new("request", 0);
    TRY_OUT(settle_leftovers(sink, request, err));
    TRY_OUT(publish_all(sink, request, &dirs, err));
    for (size_t i = 0; i < dirs.count; i++)
        TRY_OUT(vfs_sync_dir(sink->config.vfs, dirs.entries[i].dir, err));
    TRY_OUT(vfs_sync_dir(sink->config.vfs, sink->config.dir, err));
    if (sink->spark_metadata)
        TRY_OUT(put_metadata(sink, request, batch_id, err));
    TRY_OUT(move_marker(sink, request, batch_id, err));
    sink->last_batch = batch_id;
    sink->staged_batch = NO_BATCH;
    drop_writers(sink);
out:
    dir_table_fini(&dirs);
    arena_free(request);
    return status;
}

static void file_abort(struct sink *self)
{
    struct file_sink *sink = sink_of(self);
    drop_writers(sink);
    sink->staged_batch = NO_BATCH;
}

static const char *file_description(const struct sink *self)
{
    const struct file_sink *sink = (const struct file_sink *)self;
    CHECK_MAGIC(sink, SINK_FILE_MAGIC);
    return sink->description;
}

static void file_close(struct sink *self)
{
    struct file_sink *sink = sink_of(self);
    drop_writers(sink);
    free_paths(&sink->leftovers);
    dir_table_fini(&sink->durable);
    sink->magic = 0;
    free(sink);
}

#define FILE_SINK(kind_)                                                                           \
    {                                                                                              \
        .kind = (kind_), .delivery = SINK_IDEMPOTENT, .modes = {true, false, false},               \
        .options = file_options, .check = file_check, .open = file_open,                           \
        .last_batch = file_last_batch, .begin = file_begin, .writer = file_writer,                 \
        .task_finish = file_task_finish, .stage = file_stage, .commit = file_commit,               \
        .abort = file_abort, .description = file_description, .close = file_close                  \
    }

const struct sink_ops sink_file_json = FILE_SINK("json");
const struct sink_ops sink_file_csv = FILE_SINK("csv");
const struct sink_ops sink_file_text = FILE_SINK("text");
const struct sink_ops sink_file_parquet = FILE_SINK("parquet");

/* ---- whose directory it is ---- */

struct owner_search {
    struct vfs_visitor visitor;
    char *owner;
    const char *query_id; /* whose newest batch is asked for, or NULL */
    int64_t newest;
};

static enum status visit_for_owner(struct vfs_visitor *visitor, const char *name,
                                   enum vfs_kind kind, struct error *err)
{
    (void)kind;
    (void)err;
    struct owner_search *search = (struct owner_search *)visitor;
    size_t prefix = sizeof MARKER_PREFIX - 1;
    int64_t batch_id = 0;
    if (strncmp(name, MARKER_PREFIX, prefix) != 0 || strlen(name) < prefix + QUERY_ID_SIZE + 2 ||
        name[prefix + QUERY_ID_SIZE] != '-' ||
        !parse_id(name + prefix + QUERY_ID_SIZE + 1, '\0', &batch_id))
        return OK;
    memcpy(search->owner, name + prefix, QUERY_ID_SIZE);
    search->owner[QUERY_ID_SIZE] = '\0';
    if (search->query_id != NULL && strcmp(search->owner, search->query_id) == 0 &&
        batch_id > search->newest)
        search->newest = batch_id;
    return OK;
}

int64_t sink_file_newest(struct vfs *vfs, const char *dir, const char *query_id)
{
    struct error ignored = ERROR_INIT;
    char owner[SINK_OWNER_SIZE];
    struct owner_search search = {.visitor = {.visit = visit_for_owner},
                                  .owner = owner,
                                  .query_id = query_id,
                                  .newest = NO_BATCH};
    (void)!vfs_scan(vfs, dir, &search.visitor, &ignored);
    return search.newest;
}

bool sink_file_owner(struct vfs *vfs, const char *dir, char owner[SINK_OWNER_SIZE])
{
    struct error ignored = ERROR_INIT;
    struct owner_search search = {.visitor = {.visit = visit_for_owner}, .owner = owner};
    owner[0] = '\0';
    (void)!vfs_scan(vfs, dir, &search.visitor, &ignored);
    return owner[0] != '\0';
}
