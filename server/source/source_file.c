/*
 * The file source: directories in which files appear, each read once.
 *
 * An offset counts the batches of files: {"logOffset":n}.  The files of a batch are in the range's
 * detail, which the checkpoint logs before anything is read; so a batch that runs again reads the
 * same files.
 *
 * Which files are known is a set of its own (seen_files.h), written behind: the files of batch N
 * go to its log when N+1 is planned, and are synced only now and then.  Until then they are carried
 * in the details of later batches, so that the newest committed range and the pending ones always
 * name every file that the set may have lost.
 *
 * New files are found by listing at the start and whenever the watch on the directories (inotify)
 * cannot vouch for having seen everything; otherwise the watch names them, and a trigger without
 * news costs nothing.
 */
#include "source/source_file.h"
#include "base/check.h"
#include "base/heap.h"
#include "base/path.h"
#include "base/vfs_posix.h"
#include "source/file_metadata.h"
#include "source/file_options.h"
#include "source/file_reader.h"
#include "source/seen_files.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FILE_SOURCE_MAGIC 0xf11e5001U
#define CARRY_BYTES_MAX   8192
#define CARRY_BATCHES_MAX 32
#define LARGE_LIST        4096
#define DETAIL_SLACK      64       /* what printing a number reserves beyond its size */
#define RELIST_US         30000000 /* what no watch tells, such as files over NFS */

struct file_source {
    struct source base;
    uint32_t magic;
    struct arena *query;
    struct source_config config;
    struct file_options options;
    struct listing_config listing_config;
    const char *dir; /* before the first magic of the path */
    const char *description;
    struct file_reader reader;
    struct format_config format_config;
    struct format_notes notes; /* of its readers */
    /* planning */
    struct seen_files *seen;
    struct dir_watch *watch;
    bool watches;       /* once it lists: `watch` is made then */
    int64_t log_offset; /* of the newest range; -1: none */
    bool frozen;
    bool unlimited; /* the batch at hand takes all there is */
    bool must_list;
    bool by_log;                 /* the directory is the output of a file sink that keeps a log */
    int64_t listed_us;           /* monotonic */
    struct listing found;        /* new files, sorted */
    size_t next;                 /* the first that no batch has */
    struct partition_dir layout; /* the partition columns of the last listing */
    struct arena *layout_arena;
    bool unsettled; /* the newest batch is not in the log of seen files */
    struct buffer carry;
    uint32_t carry_batches;
    bool carry_left_out; /* a batch had too many files: the next plan syncs the set */
    uint64_t uncleaned;  /* files, since progress was told */
};

static struct file_source *source_of(struct source *self)
{
    struct file_source *source = (struct file_source *)self;
    CHECK_MAGIC(source, FILE_SOURCE_MAGIC);
    return source;
}

static struct bytes identity_of(const struct file_source *source, const char *path)
{
    return bytes_of_text(source->options.name_only ? path_basename(path) : path);
}

/* Before a file is looked at: is it known, whatever its time? */
static bool want_path(void *arg, const char *path)
{
    struct file_source *source = arg;
    return seen_files_is_new(source->seen, identity_of(source, path), INT64_MAX);
}

/* --- opening ---------------------------------------------------------------------------------- */

static const struct type *nullable_type(struct arena *arena, const struct type *type)
{
    switch (type->id) {
    case TYPE_ARRAY:
        return type_array(arena, nullable_type(arena, type->element), true);
    case TYPE_MAP:
        return type_map(arena, nullable_type(arena, type->key), nullable_type(arena, type->element),
                        true);
    case TYPE_STRUCT: {
        struct type_field *fields =
            arena_new_object(arena, (type->field_count + 1) * sizeof *fields);
        for (uint32_t i = 0; i < type->field_count; i++) {
            fields[i] = type->fields[i];
            fields[i].nullable = true;
            fields[i].type = nullable_type(arena, type->fields[i].type);
        }
        return type_struct(arena, fields, type->field_count);
    }
    default:
        return type;
    }
}

static enum status declared_schema(struct arena *query, const struct source_config *config,
                                   const struct type **out, struct error *err)
{
    if (config->schema != NULL) {
        *out = nullable_type(query, config->schema);
        return OK;
    }
    if (strcasecmp(config->format, "text") != 0)
        return error_raise(err, STATUS_SCHEMA_REQUIRED, "connector", config->format, NULL);
    struct type_field value = {.name = "value", .type = type_simple(TYPE_STRING), .nullable = true};
    *out = type_struct(query, &value, 1);
    return OK;
}

static uint32_t field_named(const struct type *schema, const char *name)
{
    uint32_t i = 0;
    while (i < schema->field_count && strcasecmp(schema->fields[i].name, name) != 0)
        i++;
    return i;
}

static const struct type *inferred_type(struct arena *query, const struct listing *listing,
                                        uint32_t column)
{
    const struct type *type = type_simple(TYPE_VOID);
    for (size_t i = 0; i < listing->dir_count; i++)
        type = partition_type_widen(
            query, type, partition_value_type(query, listing->dirs[i].columns[column].raw));
    return type;
}

/* Data columns first, then those of the directories: named in the schema with its type, or with a
 * type inferred from all values. */
static void arrange_columns(struct file_source *source, const struct type *declared,
                            const struct listing *listing)
{
    struct arena *query = source->query;
    const struct partition_dir *dir = listing->partitioned ? &listing->dirs[0] : NULL;
    uint32_t extra = dir == NULL ? 0 : dir->count;
    struct type_field *fields =
        arena_new_object(query, (declared->field_count + extra + 1) * sizeof *fields);
    uint32_t count = 0;
    for (uint32_t i = 0; i < declared->field_count; i++) {
        bool is_partition = false;
        for (uint32_t p = 0; p < extra; p++)
            is_partition =
                is_partition || strcasecmp(dir->columns[p].name, declared->fields[i].name) == 0;
        if (!is_partition)
            fields[count++] = declared->fields[i];
    }
    source->reader.data_count = count;
    for (uint32_t p = 0; p < extra; p++) {
        uint32_t at = field_named(declared, dir->columns[p].name);
        if (at < declared->field_count)
            fields[count++] = declared->fields[at];
        else
            fields[count++] = (struct type_field){
                .name = arena_strdup(query, dir->columns[p].name),
                .type = inferred_type(query, listing, p),
                .nullable = true,
            };
    }
    source->reader.schema = type_struct(query, fields, count);
    source->format_config.schema = type_struct(query, fields, source->reader.data_count);
}

static enum status check_path(struct file_source *source, struct error *err)
{
    for (size_t i = 0; i < source->options.pattern_count; i++) {
        const char *pattern = source->options.patterns[i];
        bool found = true;
        if (!glob_has_magic(pattern))
            TRY(vfs_find(source->config.vfs, pattern, &found, err));
        if (!found)
            return error_raise(err, STATUS_PATH_NOT_FOUND, "path",
                               arena_sprintf(source->query, "file:%s", pattern), NULL);
    }
    return OK;
}

/* Looks at the directories once, for the partition columns. */
static enum status open_columns(struct file_source *source, struct error *err)
{
    const struct type *declared = NULL;
    TRY(declared_schema(source->query, &source->config, &declared, err));
    CHECK(declared != NULL);
    struct listing listing;
    listing_init(&listing);
    struct listing_config names = source->listing_config;
    names.names_only = true;
    names.keep_max = 1;
    names.want = NULL;
    enum status status = OK;
    if (source->config.vfs != NULL) {
        TRY_OUT(check_path(source, err));
        TRY_OUT(listing_run(&names, &listing, err));
    }
    arrange_columns(source, declared, &listing);
out:
    listing_fini(&listing);
    return status;
}

static enum status open_format(struct file_source *source, struct error *err)
{
    struct arena *query = source->query;
    const struct source_config *config = &source->config;
    const struct format_ops *format = format_find(config->format);
    if (format == NULL)
        return error_raise(err, STATUS_DATA_SOURCE_NOT_FOUND, "provider", config->format, NULL);
    const struct option_def *const tables[] = {file_option_defs, format->read_options, NULL};
    TRY(options_check(config->options, tables, err));
    source->reader.format = format;
    source->format_config = (struct format_config){
        .options = options_of_table(query, config->options, format->read_options),
        .time_zone = config->time_zone,
        .ansi = config->ansi,
        .conf = config->conf,
        .conf_count = config->conf_count,
        .notes = &source->notes,
    };
    source->notes.log = config->log;
    source->notes.source = config->name;
    source->reader.zone = timezone_utc();
    if (config->time_zone != NULL)
        TRY(timezone_find(bytes_of_text(config->time_zone), &source->reader.zone, err));
    TRY(open_columns(source, err));
    /* Made once only to check the options: bind() makes the one that reads. */
    uint32_t *all = arena_new_object(query, (source->reader.data_count + 1) * sizeof *all);
    for (uint32_t i = 0; i < source->reader.data_count; i++)
        all[i] = i;
    source->format_config.columns = all;
    source->format_config.column_count = source->reader.data_count;
    struct format_reader *checked = NULL;
    return format->reader_new(query, &source->format_config, &checked, err);
}

static void file_close(struct source *self);

static enum status file_open(struct arena *query, const struct source_config *config,
                             struct source **out, struct error *err)
{
    struct file_source *source = heap_calloc(1, sizeof *source);
    source->base.ops = source_find(config->format);
    source->magic = FILE_SOURCE_MAGIC;
    source->query = query;
    source->config = *config;
    source->log_offset = -1;
    source->must_list = true;
    listing_init(&source->found);
    source->layout_arena = arena_new("query", 0);
    enum status status = OK;
    TRY_OUT(file_options_parse(query, config, &source->options, err));
    source->dir = listing_prefix(query, source->options.path);
    source->description = arena_sprintf(query, "FileStreamSource[file:%s]", source->options.path);
    source->listing_config = (struct listing_config){
        .vfs = config->vfs,
        .patterns = (const char *const *)source->options.patterns,
        .pattern_count = source->options.pattern_count,
        .base_path = source->options.base_path,
        .name_glob = source->options.name_glob,
        .recursive = source->options.recursive,
        .latest_first = source->options.latest_first,
        .oldest_us = INT64_MIN,
        .want = want_path,
        .arg = source,
    };
    source->reader.vfs = config->vfs;
    source->reader.log = config->log;
    source->reader.name = config->name;
    source->reader.listing = &source->listing_config;
    source->reader.ignore_missing = source->options.ignore_missing;
    source->reader.ignore_corrupt = source->options.ignore_corrupt;
    TRY_OUT(open_format(source, err));
    *out = &source->base;
out:
    if (status != OK)
        file_close(&source->base);
    return status;
}

static const struct type *file_schema(const struct source *self)
{
    const struct file_source *source = (const struct file_source *)self;
    CHECK_MAGIC(source, FILE_SOURCE_MAGIC);
    return source->reader.schema;
}

static enum status file_bind(struct source *self, const uint32_t *columns, uint32_t count,
                             struct error *err)
{
    struct file_source *source = source_of(self);
    struct arena *query = source->query;
    struct file_reader *reader = &source->reader;
    struct type_field *fields = arena_new_object(query, (count + 1) * sizeof *fields);
    uint32_t *bound = arena_new_object(query, (count + 1) * sizeof *bound);
    uint32_t *data = arena_new_object(query, (count + 1) * sizeof *data);
    uint32_t data_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        CHECK(columns[i] <= reader->schema->field_count && (i == 0 || columns[i] > columns[i - 1]));
        if (columns[i] == reader->schema->field_count)
            fields[i] =
                (struct type_field){.name = SOURCE_METADATA, .type = file_metadata_type(query)};
        else
            fields[i] = reader->schema->fields[columns[i]];
        bound[i] = columns[i];
        if (columns[i] < reader->data_count)
            data[data_count++] = columns[i];
    }
    reader->columns = bound;
    reader->column_count = count;
    reader->bound = type_struct(query, fields, count);
    source->format_config.columns = data;
    source->format_config.column_count = data_count;
    return reader->format->reader_new(query, &source->format_config, &reader->reader, err);
}

/* The decoder gets schemas that lack what nobody asks for, and skips it. */
static enum status file_narrow(struct source *self, const struct type *schema, struct error *err)
{
    struct file_source *source = source_of(self);
    struct arena *query = source->query;
    struct file_reader *reader = &source->reader;
    const struct type *data = source->format_config.schema;
    CHECK(schema->field_count == reader->column_count);
    if (type_equal_unnamed(schema, reader->bound))
        return OK;
    struct type_field *fields = arena_new_object(query, (data->field_count + 1) * sizeof *fields);
    struct type_field *bound = arena_new_object(query, (schema->field_count + 1) * sizeof *bound);
    for (uint32_t i = 0; i < data->field_count; i++)
        fields[i] = data->fields[i];
    for (uint32_t i = 0; i < schema->field_count; i++) {
        bound[i] = reader->bound->fields[i];
        bound[i].type = schema->fields[i].type;
        if (reader->columns[i] < reader->data_count)
            fields[reader->columns[i]].type = schema->fields[i].type;
    }
    reader->bound = type_struct(query, bound, schema->field_count);
    source->format_config.schema = type_struct(query, fields, data->field_count);
    return reader->format->reader_new(query, &source->format_config, &reader->reader, err);
}

/* --- starting --------------------------------------------------------------------------------- */

static enum status recover_range(struct file_source *source, const struct source_range *range,
                                 struct error *err)
{
    enum status status = OK;
    struct arena *request = arena_new("request", 0);
    int64_t end = -1;
    const char *dir = NULL;
    struct range_file *files = NULL;
    size_t count = 0;
    TRY_OUT(file_offset_parse(range->end, &end, err));
    TRY_OUT(file_range_parse(request, range->detail, &dir, &files, &count, err));
    if (dir != NULL && strcmp(dir, source->dir) != 0)
        TRY_OUT(
            error_raise(err, STATUS_SOURCE_PATH_CHANGED, "before", dir, "now", source->dir, NULL));
    for (size_t i = 0; i < count; i++) {
        seen_files_add(source->seen, identity_of(source, files[i].path), files[i].mtime_us);
        seen_files_confirm(source->seen, bytes_of_text(files[i].path));
        seen_files_confirm(source->seen, bytes_of_text(path_basename(files[i].path)));
    }
    if (end > source->log_offset)
        source->log_offset = end;
out:
    arena_free(request);
    return status;
}

static void raise_mark(struct seen_mark *newest, const struct source_range *range)
{
    struct seen_mark mark;
    if (file_range_mark(range->detail, &mark) && seen_mark_after(&mark, newest))
        *newest = mark;
}

static enum status file_recover(struct source *self, const struct source_range *committed,
                                const struct source_range *pending, size_t pending_count,
                                struct error *err)
{
    struct file_source *source = source_of(self);
    struct seen_mark durable = {0};
    if (committed != NULL)
        raise_mark(&durable, committed);
    for (size_t i = 0; i < pending_count; i++)
        raise_mark(&durable, &pending[i]);
    TRY(seen_files_open(source->config.vfs, source->config.state_dir,
                        source->options.max_file_age_us, &durable, &source->seen, err));
    if (committed != NULL)
        TRY(recover_range(source, committed, err));
    for (size_t i = 0; i < pending_count; i++)
        TRY(recover_range(source, &pending[i], err));
    TRY(seen_files_check(source->seen, err));
    if (source->log_offset >= 0) {
        bool synced = false;
        seen_files_purge(source->seen);
        TRY(seen_files_flush(source->seen, &synced, err));
        TRY(seen_files_sync(source->seen, err));
    }
    source->watches = source->config.vfs == vfs_posix();
    return OK;
}

/* --- finding files ---------------------------------------------------------------------------- */

static void clear_found(struct file_source *source)
{
    listing_fini(&source->found);
    listing_init(&source->found);
    source->next = 0;
}

/* Remembers the partition columns, for files that the watch names. */
static void keep_layout(struct file_source *source)
{
    arena_reset(source->layout_arena);
    source->layout = (struct partition_dir){0};
    if (!source->found.partitioned)
        return;
    const struct partition_dir *dir = &source->found.dirs[0];
    struct partition_column *columns =
        arena_new_object(source->layout_arena, (dir->count + 1) * sizeof *columns);
    for (uint32_t i = 0; i < dir->count; i++)
        columns[i].name = arena_strdup(source->layout_arena, dir->columns[i].name);
    source->layout = (struct partition_dir){
        .columns = columns,
        .count = dir->count,
        .base = arena_strdup(source->layout_arena, dir->base),
    };
}

static void drop_known(struct file_source *source)
{
    struct listing *found = &source->found;
    size_t kept = 0;
    for (size_t i = 0; i < found->count; i++) {
        struct listed_file *file = &found->files[i];
        bool same = kept > 0 && strcmp(found->files[kept - 1].path, file->path) == 0;
        bool in_time = file->mtime_us > source->options.modified_after_us &&
                       file->mtime_us < source->options.modified_before_us;
        if (!same && in_time &&
            seen_files_is_new(source->seen, identity_of(source, file->path), file->mtime_us))
            found->files[kept++] = *file;
    }
    found->count = kept;
}

/* Of a frozen list: what batches have taken, and what they have made known (fileNameOnly). */
static void drop_taken(struct file_source *source)
{
    struct listing *found = &source->found;
    if (source->next == 0)
        return;
    found->count -= source->next;
    memmove(found->files, found->files + source->next, found->count * sizeof *found->files);
    source->next = 0;
    drop_known(source);
}

static size_t files_to_keep(const struct file_source *source)
{
    const struct file_options *options = &source->options;
    if (source->frozen || source->unlimited || (options->max_files == 0 && options->max_bytes == 0))
        return 0;
    return (size_t)(options->max_files + options->max_cached_files + 1000);
}

/* Nothing is watched before the first listing, nor where that is the only one: to let go of a watch
 * takes the kernel some 10 ms. */
static void begin_watch(struct file_source *source)
{
    if (!source->watches || source->frozen)
        return;
    source->watches = false;
    source->watch = dir_watch_new();
    source->listing_config.watch = source->watch;
}

static enum status list_all(struct file_source *source, struct error *err)
{
    clear_found(source);
    begin_watch(source);
    source->listing_config.keep_max = files_to_keep(source);
    source->listing_config.oldest_us = seen_files_oldest_us(source->seen);
    if (source->watch != NULL)
        dir_watch_listed(source->watch);
    TRY(listing_run(&source->listing_config, &source->found, err));
    source->must_list = source->found.truncated;
    source->by_log = source->found.by_log;
    if (source->by_log && source->options.clean != CLEAN_OFF)
        return error_raise(err, STATUS_NOT_SUPPORTED, "feature",
                           "cleanSource on the output directory of a file sink with its log", NULL);
    source->listed_us = clock_monotonic_us(source->config.clock);
    keep_layout(source);
    drop_known(source);
    return OK;
}

/* A file the watch has named: *plain is false if only a listing can judge it. */
static enum status add_named(struct file_source *source, const char *path, bool *plain,
                             struct error *err)
{
    enum status status = OK;
    struct arena *request = arena_new("request", 0);
    struct vfs_stat stat;
    struct partition_dir dir = {0};
    const struct listing_config *config = &source->listing_config;
    const char *root = listing_root_of(config, request, path);
    const char *parent = path_dirname(request, path);
    if (root == NULL || !want_path(source, path))
        goto out;
    if (!config->recursive && strcmp(root, path) != 0) {
        if (config->base_path != NULL && path_is_below(parent, config->base_path))
            root = config->base_path;
        TRY_OUT(partition_path_parse(request, root, parent, &dir, err));
        *plain = dir.count == source->layout.count && (dir.count > 0 || strcmp(parent, root) == 0);
        for (uint32_t i = 0; *plain && i < dir.count; i++)
            *plain = strcmp(dir.columns[i].name, source->layout.columns[i].name) == 0;
        if (!*plain)
            goto out;
    }
    status = vfs_stat(source->config.vfs, path, &stat, err);
    if (status == STATUS_FILE_NOT_FOUND || (status == OK && stat.kind == VFS_DIR)) {
        status = OK;
        goto out;
    }
    TRY_OUT(status);
    listing_add(&source->found, &(struct listed_file){.path = path,
                                                      .size_bytes = stat.size_bytes,
                                                      .mtime_us = stat.mtime_us,
                                                      .inode = stat.inode});
out:
    arena_free(request);
    return status;
}

/* Takes what the watch has named; *listed is false if that is not the whole truth. */
static enum status take_named(struct file_source *source, bool *complete, struct error *err)
{
    clear_found(source);
    *complete = true;
    for (size_t i = 0; *complete && i < dir_watch_count(source->watch); i++)
        TRY(add_named(source, dir_watch_path(source->watch, i), complete, err));
    dir_watch_clear(source->watch);
    listing_sort(source->found.files, source->found.count, source->options.latest_first);
    drop_known(source);
    return OK;
}

static enum status find_files(struct file_source *source, struct error *err)
{
    if (source->next < source->found.count || source->frozen)
        return OK;
    bool complete = false;
    if (source->watch != NULL)
        dir_watch_drain(source->watch);
    if (source->watch != NULL && dir_watch_covers(source->watch) && !source->must_list &&
        clock_monotonic_us(source->config.clock) - source->listed_us < RELIST_US) {
        if (!source->by_log)
            TRY(take_named(source, &complete, err));
        else
            complete = dir_watch_count(source->watch) == 0;
    }
    return complete ? OK : list_all(source, err);
}

static enum status file_freeze(struct source *self, struct error *err)
{
    struct file_source *source = source_of(self);
    source->frozen = true;
    return list_all(source, err);
}

/* --- planning --------------------------------------------------------------------------------- */

/* The batch planned before is committed: its files go to the log of seen files. */
static enum status settle(struct file_source *source, struct error *err)
{
    if (!source->unsettled)
        return OK;
    bool synced = false;
    TRY(seen_files_flush(source->seen, &synced, err));
    TRY(seen_files_merge(source->seen, err));
    if (!synced && (source->carry_left_out || source->carry.size_bytes > CARRY_BYTES_MAX ||
                    source->carry_batches >= CARRY_BATCHES_MAX)) {
        TRY(seen_files_sync(source->seen, err));
        synced = true;
    }
    if (synced) {
        buffer_clear(&source->carry);
        source->carry_batches = 0;
        source->carry_left_out = false;
    }
    source->unsettled = false;
    return OK;
}

/* How many of the files found make the next batch. */
static size_t count_taken(const struct file_source *source, bool unlimited)
{
    const struct listed_file *files = source->found.files;
    size_t left = source->found.count - source->next;
    if (!unlimited && source->options.max_files > 0 && (size_t)source->options.max_files < left)
        return (size_t)source->options.max_files;
    if (unlimited || source->options.max_bytes == 0 || left == 0)
        return left;
    uint64_t limit = (uint64_t)source->options.max_bytes;
    uint64_t sum = files[source->next].size_bytes;
    size_t count = 1;
    while (count < left && sum <= limit && files[source->next + count].size_bytes <= limit - sum) {
        sum += files[source->next + count].size_bytes;
        count++;
    }
    return count;
}

/* Spark keeps what it has listed only as far as it pays. */
static void discard_rest(struct file_source *source, size_t taken)
{
    const struct file_options *options = &source->options;
    size_t left = source->found.count - source->next;
    if (source->frozen || left == 0)
        return;
    bool few = (double)left < (double)taken * options->discard_cached_ratio;
    if (!options->latest_first && options->max_cached_files > 0 && !few)
        return;
    clear_found(source);
    source->must_list = true;
}

static void print_offset(struct arena *batch, int64_t log_offset, struct bytes *out)
{
    struct buffer text = {0};
    if (log_offset >= 0)
        file_offset_print(&text, log_offset);
    *out = arena_copy(batch, buffer_bytes(&text));
    buffer_fini(&text);
}

static struct range_file range_file_of(const struct listed_file *file)
{
    return (struct range_file){.path = file->path,
                               .size_bytes = file->size_bytes,
                               .mtime_us = file->mtime_us,
                               .inode = file->inode};
}

/* The next `count` files as batch log_offset, into memory that has room for exactly that. */
static void add_files(const struct file_source *source, size_t count, struct buffer *out)
{
    if (count > 0)
        file_range_add_batch(out, source->log_offset);
    for (size_t i = 0; i < count; i++) {
        struct range_file file = range_file_of(&source->found.files[source->next + i]);
        file_range_add_file(out, source->dir, &file);
    }
}

static size_t added_bytes(const struct file_source *source, size_t count)
{
    size_t size = count == 0 ? 0 : file_range_batch_bytes(source->log_offset);
    for (size_t i = 0; i < count; i++) {
        struct range_file file = range_file_of(&source->found.files[source->next + i]);
        size += file_range_file_bytes(source->dir, &file);
    }
    return size;
}

/* The detail, with the next `count` files at its end: written once, where it stays. */
static enum status print_detail(struct file_source *source, size_t count, struct arena *batch,
                                struct bytes *out, struct error *err)
{
    struct buffer header = {0};
    struct seen_mark durable = seen_files_mark(source->seen);
    file_range_begin(&header, source->dir, &durable);
    buffer_add_bytes(&header, buffer_bytes(&source->carry));
    size_t size = header.size_bytes + added_bytes(source, count);
    struct buffer text = {0};
    void *memory = NULL;
    enum status status = OK;
    /* The buffer is never grown, so it need not be freed. */
    TRY_OUT(arena_alloc_raw(batch, size + DETAIL_SLACK, 1, &memory, err));
    text = (struct buffer){.data = memory, .capacity_bytes = size + DETAIL_SLACK};
    buffer_add_bytes(&text, buffer_bytes(&header));
    add_files(source, count, &text);
    CHECK(text.size_bytes == size && text.data == memory);
    *out = buffer_bytes(&text);
out:
    buffer_fini(&header);
    return status;
}

/* A large list is given back as soon as batches have all of it. */
static void drop_large_list(struct file_source *source)
{
    if (source->next == source->found.count && source->found.count > LARGE_LIST)
        clear_found(source);
}

/* The files of the newest batch, from its detail: their list may be gone. */
static enum status know_files(struct file_source *source, struct bytes detail, struct error *err)
{
    struct file_range_cursor cursor;
    struct range_line line;
    struct buffer path = {0};
    bool found = true;
    enum status status = OK;
    struct arena *request = arena_new("request", 0);
    TRY_OUT(file_range_open(request, detail, &cursor, err));
    for (;;) {
        TRY_OUT(file_range_next(&cursor, &line, &found, err));
        if (!found)
            break;
        if (line.log_offset < source->log_offset)
            continue;
        file_range_path(cursor.dir, line.path, &path);
        seen_files_add(source->seen, identity_of(source, buffer_text(&path)), line.mtime_us);
    }
    seen_files_purge(source->seen);
    source->unsettled = true;
out:
    buffer_fini(&path);
    arena_free(request);
    return status;
}

/* The files of the batch are known from now on, and carried, unless they are too many. */
static enum status take_files(struct file_source *source, size_t count, struct bytes detail,
                              struct error *err)
{
    size_t size = added_bytes(source, count);
    if (source->carry.size_bytes + size > CARRY_BYTES_MAX)
        source->carry_left_out = true;
    else
        add_files(source, count, &source->carry);
    source->carry_batches++;
    source->next += count;
    drop_large_list(source);
    TRY(know_files(source, detail, err));
    discard_rest(source, count);
    return OK;
}

static enum status file_plan(struct source *self, bool unlimited, struct arena *batch,
                             struct source_range *range, bool *found, struct error *err)
{
    struct file_source *source = source_of(self);
    source->unlimited = unlimited;
    TRY(settle(source, err));
    TRY(find_files(source, err));
    if (source->frozen)
        drop_taken(source);
    size_t count = count_taken(source, unlimited);
    *found = count > 0;
    print_offset(batch, source->log_offset, &range->start);
    source->log_offset += count > 0;
    print_offset(batch, source->log_offset, &range->end);
    range->detail = bytes_of(NULL, 0);
    if (source->log_offset >= 0)
        TRY(print_detail(source, count, batch, &range->detail, err));
    return count > 0 ? take_files(source, count, range->detail, err) : OK;
}

static struct bytes file_latest(struct source *self, struct arena *batch)
{
    (void)self;
    (void)batch;
    return bytes_of(NULL, 0);
}

/* The files of the range itself, without those that are only carried. */
static enum status range_files(const struct source_range *range, struct arena *arena,
                               struct range_file **out, size_t *count, struct error *err)
{
    int64_t start = -1;
    int64_t end = -1;
    const char *dir = NULL;
    struct range_file *files = NULL;
    size_t all = 0;
    TRY(file_offset_parse(range->start, &start, err));
    TRY(file_offset_parse(range->end, &end, err));
    TRY(file_range_parse(arena, range->detail, &dir, &files, &all, err));
    *count = 0;
    for (size_t i = 0; i < all; i++)
        if (files[i].log_offset > start && files[i].log_offset <= end)
            files[(*count)++] = files[i];
    *out = files;
    return OK;
}

static enum status file_splits(struct source *self, const struct source_range *range,
                               struct arena *batch, struct source_split **out, size_t *count,
                               struct error *err)
{
    struct file_source *source = source_of(self);
    struct file_reader_range files = {.detail = range->detail, .after = -1, .up_to = -1};
    TRY(file_offset_parse(range->start, &files.after, err));
    TRY(file_offset_parse(range->end, &files.up_to, err));
    return file_reader_splits(&source->reader, &files, batch, out, count, err);
}

static enum status file_read(struct source *self, const struct source_split *split,
                             struct batch_receiver *receiver, struct error *err)
{
    return file_reader_read(&source_of(self)->reader, split, receiver, err);
}

static void file_block(const struct source *self, const struct source_split *split,
                       struct arena *arena, struct source_block *out)
{
    (void)self;
    file_reader_block(split, arena, out);
}

/* --- afterwards ------------------------------------------------------------------------------- */

/* A file that cannot be cleaned stays: it is known, so it is not read again.  Gone is fine: it was
 * cleaned before a crash.  A file of another time has come since, and is not the one that was read.
 */
static enum status clean_file(struct file_source *source, struct arena *request,
                              const struct range_file *file, struct error *err)
{
    struct vfs *vfs = source->config.vfs;
    const char *path = file->path;
    struct vfs_stat stat = {0};
    enum status found = vfs_stat(vfs, path, &stat, err);
    if (found == STATUS_FILE_NOT_FOUND || (found == OK && stat.mtime_us != file->mtime_us)) {
        error_clear(err);
        return OK;
    }
    TRY(found);
    if (source->options.clean == CLEAN_DELETE)
        return vfs_remove(vfs, path, err);
    const char *target =
        arena_sprintf(request, "%s%s", source->options.archive_dir, path); /* the whole path */
    TRY(vfs_make_dirs(vfs, path_dirname(request, target), err));
    enum status status = vfs_rename(vfs, path, target, err);
    if (status == STATUS_FILE_NOT_FOUND) {
        error_clear(err);
        return OK;
    }
    return status;
}

/* One line per batch, whatever fails. */
static void log_uncleaned(struct file_source *source, size_t count, const struct error *first)
{
    if (source->config.log != NULL)
        log_error_event(source->config.log, LOG_WARN, "source_clean_failed", first,
                        (struct log_field[]){log_text("source", source->config.name),
                                             log_u64("numFiles", count),
                                             {0}});
}

static void file_acknowledge(struct source *self, const struct source_range *range)
{
    struct file_source *source = source_of(self);
    if (source->options.clean == CLEAN_OFF)
        return;
    struct error first = ERROR_INIT;
    struct arena *request = arena_new("request", 0);
    struct range_file *files = NULL;
    size_t count = 0;
    size_t failed = range_files(range, request, &files, &count, &first) != OK;
    for (size_t i = 0; i < count; i++) {
        struct error ignored = ERROR_INIT;
        if (clean_file(source, request, &files[i], failed == 0 ? &first : &ignored) != OK)
            failed++;
        error_clear(&ignored);
    }
    if (failed > 0)
        log_uncleaned(source, failed, &first);
    source->uncleaned += failed;
    error_clear(&first);
    arena_free(request);
}

static uint64_t file_take_uncleaned(struct source *self)
{
    struct file_source *source = source_of(self);
    uint64_t count = source->uncleaned;
    source->uncleaned = 0;
    return count;
}

static uint64_t file_take_other_headers(struct source *self)
{
    return atomic_exchange(&source_of(self)->notes.other_headers, 0);
}

static int file_wake_fd(struct source *self)
{
    struct file_source *source = source_of(self);
    bool covered = source->watch != NULL && dir_watch_covers(source->watch) && !source->must_list;
    return covered ? dir_watch_fd(source->watch) : -1;
}

static void file_woken(struct source *self)
{
    struct file_source *source = source_of(self);
    if (source->watch != NULL)
        dir_watch_drain(source->watch);
}

static const char *file_description(const struct source *self)
{
    const struct file_source *source = (const struct file_source *)self;
    CHECK_MAGIC(source, FILE_SOURCE_MAGIC);
    return source->description;
}

static void file_close(struct source *self)
{
    struct file_source *source = source_of(self);
    seen_files_close(source->seen);
    dir_watch_free(source->watch);
    listing_fini(&source->found);
    arena_free(source->layout_arena);
    buffer_fini(&source->carry);
    source->magic = 0;
    free(source);
}

#define FILE_SOURCE(kind_)                                                                         \
    {                                                                                              \
        .kind = (kind_), .replayable = true, .options = file_option_defs, .open = file_open,       \
        .schema = file_schema, .metadata = file_metadata_type, .bind = file_bind,                  \
        .narrow = file_narrow, .recover = file_recover, .freeze = file_freeze, .plan = file_plan,  \
        .latest = file_latest, .splits = file_splits, .read = file_read, .block = file_block,      \
        .acknowledge = file_acknowledge, .take_uncleaned = file_take_uncleaned,                    \
        .take_other_headers = file_take_other_headers, .wake_fd = file_wake_fd,                    \
        .woken = file_woken, .description = file_description, .close = file_close                  \
    }

const struct source_ops source_file_json = FILE_SOURCE("json");
const struct source_ops source_file_csv = FILE_SOURCE("csv");
const struct source_ops source_file_text = FILE_SOURCE("text");
