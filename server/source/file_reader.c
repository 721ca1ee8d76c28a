#include "source/file_reader.h"

#include "base/check.h"
#include "base/path.h"
#include "source/file_metadata.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TASK_ARENA_MAX ((size_t)1 << 30)

struct file_split {
    struct format_split format;
    int64_t mtime_us;
    struct vector **constants; /* per bound column: the directory's value, or NULL */
};

/* The splits of one batch under construction. */
struct splitter {
    const struct file_reader *reader;
    struct arena *batch;
    struct source_split *splits;
    size_t count;
    size_t capacity;
    const char *last_dir; /* the directory that `constants` are of */
    struct vector **constants;
};

static void add_split(struct splitter *splitter, const struct range_file *file, uint64_t start,
                      uint64_t end)
{
    if (splitter->count == splitter->capacity) {
        splitter->capacity = splitter->capacity == 0 ? 16 : splitter->capacity * 2;
        splitter->splits = realloc(splitter->splits, splitter->capacity * sizeof *splitter->splits);
        CHECK(splitter->splits != NULL);
    }
    struct file_split *split = arena_new_object(splitter->batch, sizeof *split);
    *split = (struct file_split){
        .format = {.path = file->path,
                   .start = start,
                   .end = end,
                   .file_size_bytes = file->size_bytes},
        .mtime_us = file->mtime_us,
        .constants = splitter->constants,
    };
    splitter->splits[splitter->count++] =
        (struct source_split){.estimated_bytes = end - start, .detail = split};
}

/* The value that the directory gives to a column of the schema, or NULL. */
static const struct partition_column *directory_value(const struct partition_dir *dir,
                                                      const char *name)
{
    for (uint32_t i = 0; i < dir->count; i++)
        if (strcasecmp(dir->columns[i].name, name) == 0)
            return &dir->columns[i];
    return NULL;
}

static enum status directory_constants(struct splitter *splitter, const char *dir,
                                       struct error *err)
{
    const struct file_reader *reader = splitter->reader;
    struct arena *batch = splitter->batch;
    splitter->constants =
        arena_new_object(batch, (reader->column_count + 1) * sizeof *splitter->constants);
    struct partition_dir partition = {0};
    struct listing_config any_name = *reader->listing; /* a filter of names says nothing of dirs */
    any_name.name_glob = NULL;
    const char *root = listing_root_of(&any_name, batch, path_join(batch, dir, "x"));
    if (reader->listing->base_path != NULL && path_is_below(dir, reader->listing->base_path))
        root = reader->listing->base_path;
    if (!reader->listing->recursive && root != NULL && path_is_below(dir, root))
        TRY(partition_path_parse(batch, root, dir, &partition, err));
    for (uint32_t i = 0; i < reader->column_count; i++) {
        if (reader->columns[i] == reader->schema->field_count)
            continue; /* _metadata differs from file to file */
        const struct type_field *field = &reader->schema->fields[reader->columns[i]];
        const struct partition_column *value = directory_value(&partition, field->name);
        if (value != NULL)
            TRY(partition_value_cast(batch, value, field, reader->zone, &splitter->constants[i],
                                     err));
        else if (reader->columns[i] >= reader->data_count)
            TRY(vector_new_null(batch, field->type, 1, &splitter->constants[i], err));
    }
    return OK;
}

/* Compares the file with what it was when the batch was planned; *there is false if it is left
 * out. */
static enum status check_file(const struct file_reader *reader, struct arena *batch,
                              const struct range_file *file, bool *there, struct error *err)
{
    struct vfs_stat stat;
    enum status status = vfs_stat(reader->vfs, file->path, &stat, err);
    *there = status == OK;
    if (status == STATUS_FILE_NOT_FOUND) {
        if (reader->ignore_missing)
            return OK;
        error_clear(err);
        return error_raise(err, STATUS_FAILED_READ_FILE__FILE_NOT_EXIST, "path",
                           path_to_uri(batch, file->path), NULL);
    }
    TRY(status);
    if (stat.size_bytes >= file->size_bytes)
        return OK;
    return error_raise(err, STATUS_SOURCE_FILE_CHANGED, "path", file->path, "planned",
                       arena_sprintf(batch, "%llu", (unsigned long long)file->size_bytes), "found",
                       arena_sprintf(batch, "%llu", (unsigned long long)stat.size_bytes), NULL);
}

static enum status split_file(struct splitter *splitter, const struct range_file *file,
                              struct error *err)
{
    const struct file_reader *reader = splitter->reader;
    bool there = false;
    TRY(check_file(reader, splitter->batch, file, &there, err));
    if (!there)
        return OK;
    const char *dir = path_dirname(splitter->batch, file->path);
    if (splitter->last_dir == NULL || strcmp(dir, splitter->last_dir) != 0) {
        TRY(directory_constants(splitter, dir, err));
        splitter->last_dir = dir;
    }
    uint64_t size = file->size_bytes;
    bool whole = size < 2 * FILE_SPLIT_BYTES || path_is_compressed(file->path) ||
                 !reader->format->splittable(reader->reader);
    uint64_t pieces = whole ? 1 : size / FILE_SPLIT_BYTES;
    for (uint64_t i = 0; i < pieces; i++)
        add_split(splitter, file, size / pieces * i,
                  i + 1 == pieces ? size : size / pieces * (i + 1));
    return OK;
}

enum status file_reader_splits(const struct file_reader *reader, const struct range_file *files,
                               size_t count, struct arena *batch, struct source_split **out,
                               size_t *out_count, struct error *err)
{
    enum status status = OK;
    struct splitter splitter = {.reader = reader, .batch = batch};
    for (size_t i = 0; i < count; i++)
        TRY_OUT(split_file(&splitter, &files[i], err));
    void *splits = NULL;
    TRY_OUT(arena_alloc(batch, splitter.count + 1, sizeof **out, &splits, err));
    if (splitter.count > 0)
        memcpy(splits, splitter.splits, splitter.count * sizeof **out);
    *out = splits;
    *out_count = splitter.count;
out:
    free(splitter.splits);
    return status;
}

/* What one task holds while it reads a split. */
struct reading {
    const struct file_reader *reader;
    const struct file_split *split;
    struct arena *arena;
    struct arena *split_arena; /* of `metadata`; NULL: not asked for */
    struct vector *metadata;
    struct vector **columns;  /* of the batch that is delivered */
    struct vector *constants; /* copies of the split's, with the length of the batch */
};

/* Makes _metadata, if it is among the columns: it is the last then. */
static enum status make_metadata(struct reading *reading, struct error *err)
{
    const struct file_reader *reader = reading->reader;
    uint32_t last = reader->column_count - 1;
    if (reader->column_count == 0 || reader->columns[last] < reader->schema->field_count)
        return OK;
    const struct format_split *split = &reading->split->format;
    struct file_facts facts = {
        .path = split->path,
        .size_bytes = split->file_size_bytes,
        .block_start = split->start,
        .block_length = split->end - split->start,
        .mtime_us = reading->split->mtime_us,
    };
    reading->split_arena = arena_new("request", 0);
    return file_metadata_vector(reading->split_arena, reader->bound->fields[last].type, &facts,
                                &reading->metadata, err);
}

/* The batch the format gave, with the directory's values put in. */
static struct batch complete_batch(struct reading *reading, const struct batch *in)
{
    const struct file_reader *reader = reading->reader;
    uint32_t from = 0;
    for (uint32_t i = 0; i < reader->column_count; i++) {
        const struct vector *constant = reader->columns[i] == reader->schema->field_count
                                            ? reading->metadata
                                            : reading->split->constants[i];
        if (constant != NULL) {
            reading->constants[i] = *constant;
            reading->constants[i].length = in->rows;
            reading->columns[i] = &reading->constants[i];
        } else {
            reading->columns[i] = in->columns[from];
        }
        from += reader->columns[i] < reader->data_count;
    }
    return (struct batch){
        .schema = reader->bound,
        .columns = reading->columns,
        .rows = in->rows,
        .selected = in->selected,
        .selection = in->selection,
    };
}

/* Errors of the file are left to the caller in *file_status; the result is the receiver's. */
static enum status deliver(struct reading *reading, struct record_reader *records,
                           struct batch_receiver *receiver, enum status *file_status,
                           struct error *err)
{
    for (;;) {
        struct batch *in = NULL;
        arena_reset(reading->arena);
        *file_status = reading->reader->format->next(records, reading->arena, &in, err);
        if (*file_status != OK || in == NULL)
            return OK;
        struct batch out = complete_batch(reading, in);
        TRY(batch_receive(receiver, &out, err));
    }
}

/* Whether ignoreCorruptFiles covers this failure: the file, not what one record says. */
static bool is_corrupt_file(enum status status)
{
    return status == STATUS_FAILED_READ_FILE__NO_HINT || status == STATUS_CHECKSUM_MISMATCH ||
           status == STATUS_IO_FAILURE || status == STATUS_PATH_NOT_USABLE;
}

/* What a failure of the file leads to. */
static enum status judge(const struct file_reader *reader, const struct file_split *split,
                         enum status status, struct error *err)
{
    if (status == OK)
        return OK;
    if ((status == STATUS_FILE_NOT_FOUND && reader->ignore_missing) ||
        (is_corrupt_file(status) && reader->ignore_corrupt)) {
        error_clear(err);
        return OK;
    }
    if (status == STATUS_FILE_NOT_FOUND) {
        error_clear(err);
        return error_raise(err, STATUS_FAILED_READ_FILE__FILE_NOT_EXIST, "path", split->format.path,
                           NULL);
    }
    return status;
}

enum status file_reader_read(const struct file_reader *reader, const struct source_split *split,
                             struct batch_receiver *receiver, struct error *err)
{
    const struct file_split *file = split->detail;
    CHECK(file != NULL && reader->reader != NULL);
    struct byte_stream *stream = NULL;
    struct record_reader *records = NULL;
    enum status status =
        byte_stream_open(reader->vfs, file->format.path, file->format.start, &stream, err);
    if (status == OK)
        status = reader->format->open(reader->reader, stream, &file->format, &records, err);
    if (status != OK)
        return judge(reader, file, status, err);
    struct reading reading = {
        .reader = reader,
        .split = file,
        .arena = arena_new("batch", TASK_ARENA_MAX),
        .columns = calloc(reader->column_count + 1, sizeof *reading.columns),
        .constants = calloc(reader->column_count + 1, sizeof *reading.constants),
    };
    CHECK(reading.columns != NULL && reading.constants != NULL);
    enum status file_status = OK;
    status = make_metadata(&reading, err);
    if (status == OK)
        status = deliver(&reading, records, receiver, &file_status, err);
    if (status == OK)
        status = judge(reader, file, file_status, err);
    reader->format->close(records);
    arena_free(reading.arena);
    arena_free(reading.split_arena);
    free(reading.columns);
    free(reading.constants);
    return status;
}

void file_reader_block(const struct source_split *split, struct arena *arena,
                       struct source_block *out)
{
    const struct file_split *file = split->detail;
    *out = (struct source_block){
        .uri = path_to_uri(arena, file->format.path),
        .start = file->format.start,
        .length = file->format.end - file->format.start,
    };
}
