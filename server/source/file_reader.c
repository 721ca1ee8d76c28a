#include "source/file_reader.h"

#include "base/check.h"
#include "base/heap.h"
#include "base/path.h"
#include "source/file_metadata.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TASK_ARENA_MAX ((size_t)1 << 30)

#define WHOLE_FILE UINT32_MAX

/* What the files of one directory have in common. */
struct split_dir {
    const char *base;          /* where relative paths begin */
    struct vector **constants; /* per bound column: the directory's value, or NULL */
};

/* Small, for there may be many. */
struct file_split {
    const uint8_t *text; /* of the file's line in the detail */
    const struct split_dir *dir;
    uint32_t text_bytes;
    uint32_t piece; /* of the file's pieces; WHOLE_FILE: it has one */
};

/* The splits of one batch under construction. */
struct splitter {
    const struct file_reader *reader;
    struct arena *batch;
    const char *base;            /* where relative paths begin */
    struct source_split *splits; /* room for as many as there can be */
    size_t count;
    const struct split_dir *dir;
    struct buffer path;     /* of the file at hand */
    struct buffer last_dir; /* the directory that `dir` is of */
};

static uint64_t piece_count(uint64_t size_bytes)
{
    return size_bytes < 2 * FILE_SPLIT_BYTES ? 1 : size_bytes / FILE_SPLIT_BYTES;
}

/* Pieces are of one size, but for the last. */
static void piece_range(uint64_t size_bytes, uint32_t piece, uint64_t *start, uint64_t *end)
{
    uint64_t count = piece == WHOLE_FILE ? 1 : piece_count(size_bytes);
    uint64_t index = piece == WHOLE_FILE ? 0 : piece;
    *start = size_bytes / count * index;
    *end = index + 1 == count ? size_bytes : size_bytes / count * (index + 1);
}

static struct range_line split_line(const struct file_split *split)
{
    struct range_line line = {0};
    CHECK(
        file_range_line(bytes_of(split->text, split->text_bytes), &line)); /* it was read before */
    return line;
}

/* What the format is told; the path goes into `arena`. */
static struct format_split format_split_of(const struct file_split *split, int64_t now_us,
                                           struct arena *arena)
{
    struct range_line line = split_line(split);
    struct buffer path = {0};
    struct format_split out = {.file_size_bytes = line.size_bytes, .now_us = now_us};
    piece_range(line.size_bytes, split->piece, &out.start, &out.end);
    file_range_path(split->dir->base, line.path, &path);
    out.path = arena_strdup(arena, buffer_text(&path));
    buffer_fini(&path);
    return out;
}

static void add_split(struct splitter *splitter, const struct range_line *line, uint32_t piece)
{
    struct file_split *split = arena_new_object(splitter->batch, sizeof *split);
    *split = (struct file_split){
        .text = line->text.data,
        .dir = splitter->dir,
        .text_bytes = (uint32_t)line->text.size_bytes,
        .piece = piece,
    };
    uint64_t start = 0;
    uint64_t end = 0;
    piece_range(line->size_bytes, piece, &start, &end);
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
    struct split_dir *made = arena_new_object(batch, sizeof *made);
    made->base = splitter->base;
    made->constants = arena_new_object(batch, (reader->column_count + 1) * sizeof *made->constants);
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
            TRY(partition_value_cast(batch, value, field, reader->zone, &made->constants[i], err));
        else if (reader->columns[i] >= reader->data_count)
            TRY(vector_new_null(batch, field->type, 1, &made->constants[i], err));
    }
    splitter->dir = made;
    return OK;
}

/* Whether the file can be read in pieces, and no further than to where it was planned. */
static bool reads_lines(const struct file_reader *reader, const char *path)
{
    return !path_is_compressed(path) && reader->format->splittable(reader->reader);
}

/* What was added behind the planned end is in no batch. */
static void log_grown(const struct file_reader *reader, const char *path, uint64_t planned,
                      uint64_t found)
{
    if (reader->log != NULL)
        log_event(reader->log, LOG_WARN, "source_file_grew",
                  (struct log_field[]){log_text("source", reader->name),
                                       log_text("path", path),
                                       log_u64("plannedBytes", planned),
                                       log_u64("foundBytes", found),
                                       {0}});
}

static void log_left_out(const struct file_reader *reader, const char *path)
{
    if (reader->log != NULL)
        log_event(
            reader->log, LOG_WARN, "source_file_left_out",
            (struct log_field[]){log_text("source", reader->name), log_text("path", path), {0}});
}

/* What is found under the name of a planned file has to be that file: the batch may have been read
 * before, and must not have other rows now.  *wanted is false if ignoreCorruptFiles leaves it out;
 * of one that is cut it takes what there is. */
static enum status judge_difference(const struct file_reader *reader, const char *path,
                                    const struct range_line *line, const struct vfs_stat *found,
                                    bool *wanted, struct error *err)
{
    char now[64] = "those of another file";
    switch (file_range_differs(line, found)) {
    case RANGE_SAME:
    case RANGE_GROWN:
        return OK;
    case RANGE_CUT:
        if (reader->ignore_corrupt)
            return OK;
        (void)snprintf(now, sizeof now, "%" PRIu64, found->size_bytes);
        break;
    case RANGE_REWRITTEN:
        (void)snprintf(now, sizeof now, "%" PRIu64 ", written since,", found->size_bytes);
        break;
    case RANGE_REPLACED:
        break;
    }
    *wanted = false;
    if (reader->ignore_corrupt) {
        log_left_out(reader, path);
        return OK;
    }
    char planned[32];
    (void)snprintf(planned, sizeof planned, "%" PRIu64, line->size_bytes);
    return error_raise(err, STATUS_SOURCE_FILE_CHANGED, "path", path, "planned", planned, "found",
                       now, NULL);
}

/* Compares the file with what it was when the batch was planned; *there is false if it is left
 * out. */
static enum status check_file(struct splitter *splitter, const char *path,
                              const struct range_line *line, bool *there, struct error *err)
{
    const struct file_reader *reader = splitter->reader;
    struct arena *batch = splitter->batch;
    struct vfs_stat stat;
    enum status status = vfs_stat(reader->vfs, path, &stat, err);
    *there = status == OK;
    if (status == STATUS_FILE_NOT_FOUND) {
        error_clear(err);
        if (reader->ignore_missing)
            return OK;
        return error_raise(err, STATUS_FAILED_READ_FILE__FILE_NOT_EXIST, "path",
                           path_to_uri(batch, path), NULL);
    }
    TRY(status);
    return judge_difference(reader, path, line, &stat, there, err);
}

/* Files of one directory follow each other: its values are looked up once. */
static enum status enter_directory(struct splitter *splitter, const char *path, struct error *err)
{
    size_t size = (size_t)(path_basename(path) - path);
    struct buffer *last = &splitter->last_dir;
    if (splitter->dir != NULL && bytes_equal(buffer_bytes(last), bytes_of(path, size)))
        return OK;
    buffer_clear(last);
    buffer_add(last, path, size);
    return directory_constants(splitter, path_dirname(splitter->batch, path), err);
}

static enum status split_file(struct splitter *splitter, const struct range_line *line,
                              struct error *err)
{
    const struct file_reader *reader = splitter->reader;
    bool there = false;
    file_range_path(splitter->base, line->path, &splitter->path);
    const char *path = buffer_text(&splitter->path);
    TRY(check_file(splitter, path, line, &there, err));
    if (!there)
        return OK;
    TRY(enter_directory(splitter, path, err));
    uint64_t pieces = piece_count(line->size_bytes);
    if (pieces == 1 || !reads_lines(reader, path)) {
        add_split(splitter, line, WHOLE_FILE);
        return OK;
    }
    for (uint64_t i = 0; i < pieces; i++)
        add_split(splitter, line, (uint32_t)i);
    return OK;
}

/* Calls for each file of the range: counts its splits into *count, or makes them. */
static enum status each_file(struct splitter *splitter, const struct file_reader_range *range,
                             size_t *count, struct error *err)
{
    struct file_range_cursor cursor;
    struct range_line line;
    bool found = true;
    TRY(file_range_open(splitter->batch, range->detail, &cursor, err));
    splitter->base = cursor.dir;
    for (;;) {
        TRY(file_range_next(&cursor, &line, &found, err));
        if (!found)
            return OK;
        if (line.log_offset <= range->after || line.log_offset > range->up_to)
            continue;
        if (count != NULL)
            *count += piece_count(line.size_bytes);
        else
            TRY(split_file(splitter, &line, err));
    }
}

enum status file_reader_splits(const struct file_reader *reader,
                               const struct file_reader_range *range, struct arena *batch,
                               struct source_split **out, size_t *out_count, struct error *err)
{
    enum status status = OK;
    struct splitter splitter = {.reader = reader, .batch = batch};
    size_t room = 0;
    void *splits = NULL;
    TRY_OUT(each_file(&splitter, range, &room, err));
    TRY_OUT(arena_alloc_raw(batch, room + 1, sizeof **out, &splits, err));
    splitter.splits = splits;
    TRY_OUT(each_file(&splitter, range, NULL, err));
    CHECK(splitter.count <= room);
    *out = splits;
    *out_count = splitter.count;
out:
    buffer_fini(&splitter.path);
    buffer_fini(&splitter.last_dir);
    return status;
}

/* What one task holds while it reads a split. */
struct reading {
    const struct file_reader *reader;
    const struct file_split *split;
    const struct format_split *format;
    struct arena *arena;
    struct arena *split_arena; /* of the path and of `metadata` */
    struct vector *metadata;   /* NULL: not asked for */
    struct vector **columns;   /* of the batch that is delivered */
    struct vector *constants;  /* copies of the split's, with the length of the batch */
};

/* Makes _metadata, if it is among the columns: it is the last then. */
static enum status make_metadata(struct reading *reading, struct error *err)
{
    const struct file_reader *reader = reading->reader;
    uint32_t last = reader->column_count - 1;
    if (reader->column_count == 0 || reader->columns[last] < reader->schema->field_count)
        return OK;
    const struct format_split *split = reading->format;
    struct file_facts facts = {
        .path = split->path,
        .size_bytes = split->file_size_bytes,
        .block_start = split->start,
        .block_length = split->end - split->start,
        .mtime_us = split_line(reading->split).mtime_us,
    };
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
                                            : reading->split->dir->constants[i];
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
static bool is_corrupt_file(enum status status, const struct error *err)
{
    if (err->causes[0] == STATUS_MALFORMED_RECORD_IN_PARSING__WITHOUT_SUGGESTION)
        return false;
    return status == STATUS_FAILED_READ_FILE__NO_HINT || status == STATUS_CHECKSUM_MISMATCH ||
           status == STATUS_IO_FAILURE || status == STATUS_PATH_NOT_USABLE ||
           status == STATUS_SOURCE_FILE_CHANGED;
}

/* What a failure of the file leads to. */
static enum status judge(const struct file_reader *reader, const struct format_split *split,
                         struct arena *arena, enum status status, struct error *err)
{
    if (status == OK)
        return OK;
    if ((status == STATUS_FILE_NOT_FOUND && reader->ignore_missing) ||
        (is_corrupt_file(status, err) && reader->ignore_corrupt)) {
        error_clear(err);
        return OK;
    }
    if (status == STATUS_FILE_NOT_FOUND) {
        error_clear(err);
        return error_raise(err, STATUS_FAILED_READ_FILE__FILE_NOT_EXIST, "path",
                           path_to_uri(arena, split->path), NULL);
    }
    if (status == STATUS_FAILED_READ_FILE__NO_HINT && is_corrupt_file(status, err)) {
        size_t used = strlen(err->text);
        (void)snprintf(err->text + used, sizeof err->text - used,
                       "; with ignoreCorruptFiles its rows before the fault are taken");
    }
    return status;
}

/* A file is opened anew for every piece that is read of it: all have to be of the planned file.
 * *inode is 0 if it is gone, which is fine once it has been read. */
static enum status check_planned(const struct reading *reading, uint64_t *inode, bool *wanted,
                                 struct error *err)
{
    struct error ignored = ERROR_INIT;
    struct vfs_stat stat;
    struct range_line line = split_line(reading->split);
    const char *path = reading->format->path;
    *inode = 0;
    if (vfs_stat(reading->reader->vfs, path, &stat, &ignored) != OK ||
        stat.size_bytes < line.size_bytes) { /* what is cut is met with by who reads it */
        error_clear(&ignored);
        return OK;
    }
    *inode = stat.inode;
    return judge_difference(reading->reader, path, &line, &stat, wanted, err);
}

/* Looks once the last piece of a file has been read, and before an empty one is. */
static bool has_grown(const struct file_reader *reader, const struct format_split *split)
{
    struct error ignored = ERROR_INIT;
    struct vfs_stat stat = {0};
    if (split->end < split->file_size_bytes || !reads_lines(reader, split->path) ||
        vfs_stat(reader->vfs, split->path, &stat, &ignored) != OK ||
        stat.size_bytes <= split->file_size_bytes)
        return false;
    log_grown(reader, split->path, split->file_size_bytes, stat.size_bytes);
    return true;
}

static enum status read_split(struct reading *reading, struct record_reader *records,
                              struct batch_receiver *receiver, struct error *err)
{
    const struct file_reader *reader = reading->reader;
    enum status file_status = OK;
    TRY(make_metadata(reading, err));
    uint64_t before = 0;
    uint64_t after = 0;
    bool wanted = true;
    TRY(check_planned(reading, &before, &wanted, err));
    if (!wanted)
        return OK;
    TRY(deliver(reading, records, receiver, &file_status, err));
    if (file_status == OK)
        file_status = check_planned(reading, &after, &wanted, err);
    if (file_status == OK && after != before && after != 0)
        file_status = error_raise(
            err, STATUS_SOURCE_FILE_CHANGED, "path", reading->format->path, "planned",
            arena_sprintf(reading->split_arena, "%" PRIu64, reading->format->file_size_bytes),
            "found", "those of another file", NULL);
    if (file_status == OK)
        (void)has_grown(reader, reading->format);
    return judge(reader, reading->format, reading->split_arena, file_status, err);
}

enum status file_reader_read(const struct file_reader *reader, const struct source_split *split,
                             struct batch_receiver *receiver, struct error *err)
{
    const struct file_split *file = split->detail;
    CHECK(file != NULL && reader->reader != NULL);
    struct arena *split_arena = arena_new("request", 0);
    struct format_split format = format_split_of(file, split->now_us, split_arena);
    if (format.file_size_bytes == 0 && has_grown(reader, &format)) { /* no record was begun */
        arena_free(split_arena);
        return OK;
    }
    struct byte_stream *stream = NULL;
    struct record_reader *records = NULL;
    enum status status = byte_stream_open(reader->vfs, &format, &stream, err);
    if (status == OK)
        status = reader->format->open(reader->reader, stream, &format, &records, err);
    if (status != OK) {
        status = judge(reader, &format, split_arena, status, err);
        arena_free(split_arena);
        return status;
    }
    struct reading reading = {
        .reader = reader,
        .split = file,
        .format = &format,
        .arena = arena_new("batch", TASK_ARENA_MAX),
        .split_arena = split_arena,
        .columns = heap_calloc(reader->column_count + 1, sizeof *reading.columns),
        .constants = heap_calloc(reader->column_count + 1, sizeof *reading.constants),
    };
    status = read_split(&reading, records, receiver, err);
    reader->format->close(records);
    arena_free(reading.arena);
    arena_free(split_arena);
    free(reading.columns);
    free(reading.constants);
    return status;
}

void file_reader_block(const struct source_split *split, struct arena *arena,
                       struct source_block *out)
{
    struct format_split file = format_split_of(split->detail, split->now_us, arena);
    *out = (struct source_block){
        .uri = path_to_uri(arena, file.path),
        .start = file.start,
        .length = file.end - file.start,
    };
}
