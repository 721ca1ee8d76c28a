#include "source/file_range.h"

#include "base/check.h"
#include "base/path.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum status broken(struct error *err, const char *what)
{
    return error_raise(err, STATUS_CHECKPOINT__INCONSISTENT, "path", "sources", "facts", what,
                       NULL);
}

void file_offset_print(struct buffer *out, int64_t log_offset)
{
    buffer_printf(out, "{\"logOffset\":%" PRId64 "}", log_offset);
}

enum status file_offset_parse(struct bytes text, int64_t *out, struct error *err)
{
    static const char key[] = "{\"logOffset\":";
    char copy[64];
    if (text.size_bytes == 0) {
        *out = -1;
        return OK;
    }
    if (text.size_bytes >= sizeof copy)
        return broken(err, "an offset of a file source is too long");
    memcpy(copy, text.data, text.size_bytes);
    copy[text.size_bytes] = '\0';
    const char *at = strncmp(copy, key, sizeof key - 1) == 0 ? copy + sizeof key - 1 : copy;
    char *end = NULL;
    long long value = strtoll(at, &end, 10);
    if (end == at || (strcmp(end, "}") != 0 && end[0] != '\0') || value < -1)
        return broken(err, "an offset of a file source cannot be read");
    *out = value;
    return OK;
}

static void add_escaped(struct buffer *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '%' || *text == '\n' || *text == '\r')
            buffer_printf(out, "%%%02X", (unsigned)(unsigned char)*text);
        else
            buffer_add_byte(out, (uint8_t)*text);
    }
    buffer_add_byte(out, '\n');
}

void file_range_begin(struct buffer *out, const char *dir, const struct seen_mark *durable)
{
    buffer_add_text(out, "files 2 ");
    add_escaped(out, dir);
    if (durable->generation > 0 || durable->log_bytes > 0)
        buffer_printf(out, "seen %" PRIu64 " %" PRIu64 " %08" PRIx32 "\n", durable->generation,
                      durable->log_bytes, durable->crc);
}

static size_t digits_of(uint64_t number)
{
    size_t count = 1;
    for (; number >= 10; number /= 10)
        count++;
    return count;
}

static size_t number_bytes(int64_t number)
{
    return number < 0 ? 1 + digits_of(-(uint64_t)number) : digits_of((uint64_t)number);
}

size_t file_range_batch_bytes(int64_t log_offset)
{
    return sizeof "batch \n" - 1 + number_bytes(log_offset);
}

/* The path as it is written: relative, if it lies below the directory. */
static const char *written_path(const char *dir, const char *path)
{
    size_t size = strlen(dir);
    bool below = size > 1 && strncmp(path, dir, size) == 0 && path[size] == '/';
    return below ? path + size + 1 : path;
}

size_t file_range_file_bytes(const char *dir, const struct range_file *file)
{
    size_t size = digits_of(file->size_bytes) + number_bytes(file->mtime_us) + 3;
    size += file->inode == 0 ? 0 : digits_of(file->inode) + 1;
    for (const char *at = written_path(dir, file->path); *at != '\0'; at++)
        size += *at == '%' || *at == '\n' || *at == '\r' ? 3 : 1;
    return size;
}

void file_range_add_batch(struct buffer *out, int64_t log_offset)
{
    buffer_printf(out, "batch %" PRId64 "\n", log_offset);
}

void file_range_add_file(struct buffer *out, const char *dir, const struct range_file *file)
{
    buffer_printf(out, "%" PRIu64 " %" PRId64, file->size_bytes, file->mtime_us);
    if (file->inode != 0)
        buffer_printf(out, "@%" PRIu64, file->inode);
    buffer_add_byte(out, ' ');
    add_escaped(out, written_path(dir, file->path));
}

/* The next line without its end; false at the end of the text. */
static bool next_line(struct bytes *rest, struct bytes *line)
{
    if (rest->size_bytes == 0)
        return false;
    const uint8_t *end = memchr(rest->data, '\n', rest->size_bytes);
    size_t size = end == NULL ? rest->size_bytes : (size_t)(end - rest->data);
    *line = bytes_of(rest->data, size);
    size += end != NULL;
    *rest = bytes_of(rest->data + size, rest->size_bytes - size);
    return true;
}

/* A number and what ends it: a blank, or `other`; *end is which. */
static bool take_number(struct bytes *line, char other, int64_t *out, char *end)
{
    bool negative = line->size_bytes > 0 && line->data[0] == '-';
    size_t at = negative;
    uint64_t value = 0;
    for (; at < line->size_bytes && line->data[at] >= '0' && line->data[at] <= '9'; at++)
        value = value * 10 + (uint64_t)(line->data[at] - '0');
    if (at == (size_t)negative || at >= line->size_bytes ||
        (line->data[at] != ' ' && line->data[at] != (uint8_t)other))
        return false;
    *end = (char)line->data[at];
    *out = negative ? -(int64_t)value : (int64_t)value;
    *line = bytes_of(line->data + at + 1, line->size_bytes - at - 1);
    return true;
}

static bool starts_with(struct bytes line, const char *text)
{
    size_t size = strlen(text);
    return line.size_bytes >= size && memcmp(line.data, text, size) == 0;
}

/* The first line of a detail, of this version or the one before. */
static bool begins_files(struct bytes line)
{
    return starts_with(line, "files 2 ") || starts_with(line, "files 1 ");
}

static size_t count_lines(struct bytes text)
{
    size_t count = 1;
    for (size_t i = 0; i < text.size_bytes; i++)
        count += text.data[i] == '\n';
    return count;
}

static bool parse_mark(struct bytes line, struct seen_mark *out)
{
    char copy[96];
    int end = 0;
    if (line.size_bytes >= sizeof copy)
        return false;
    memcpy(copy, line.data, line.size_bytes);
    copy[line.size_bytes] = '\0';
    // NOLINTNEXTLINE(cert-err34-c): a number that overflows belongs to no log there is
    return sscanf(copy, "seen %" SCNu64 " %" SCNu64 " %" SCNx32 "%n", &out->generation,
                  &out->log_bytes, &out->crc, &end) == 3 &&
           copy[end] == '\0';
}

bool file_range_mark(struct bytes detail, struct seen_mark *out)
{
    struct bytes line;
    return next_line(&detail, &line) && begins_files(line) && next_line(&detail, &line) &&
           parse_mark(line, out);
}

enum status file_range_open(struct arena *arena, struct bytes detail, struct file_range_cursor *out,
                            struct error *err)
{
    struct bytes line;
    *out = (struct file_range_cursor){.log_offset = -1, .left = detail};
    if (!next_line(&out->left, &line))
        return OK;
    if (!begins_files(line))
        return broken(err, "a list of files has an unknown version");
    struct buffer dir = {0};
    percent_decode(&dir, bytes_of(line.data + 8, line.size_bytes - 8));
    out->dir = arena_strdup(arena, buffer_text(&dir));
    buffer_fini(&dir);
    struct seen_mark mark;
    struct bytes after = out->left;
    if (next_line(&after, &line) && starts_with(line, "seen ")) {
        if (!parse_mark(line, &mark))
            return broken(err, "a mark of files read cannot be read");
        out->left = after;
    }
    return OK;
}

bool file_range_line(struct bytes text, struct range_line *out)
{
    int64_t size = 0;
    int64_t inode = 0;
    char end = ' ';
    out->text = text;
    if (!take_number(&text, ' ', &size, &end) || size < 0 ||
        !take_number(&text, '@', &out->mtime_us, &end) ||
        (end == '@' && !take_number(&text, ' ', &inode, &end)))
        return false;
    out->inode = (uint64_t)inode;
    out->path = text;
    out->size_bytes = (uint64_t)size;
    return text.size_bytes > 0;
}

enum status file_range_next(struct file_range_cursor *cursor, struct range_line *out, bool *found,
                            struct error *err)
{
    struct bytes line;
    while ((*found = next_line(&cursor->left, &line))) {
        if (starts_with(line, "batch ")) {
            struct bytes number = bytes_of(line.data + 6, line.size_bytes - 6);
            TRY(file_offset_parse(number, &cursor->log_offset, err));
            continue;
        }
        if (cursor->log_offset < 0 || !file_range_line(line, out))
            return broken(err, "a list of files cannot be read");
        out->log_offset = cursor->log_offset;
        return OK;
    }
    return OK;
}

enum range_difference file_range_differs(const struct range_line *planned,
                                         const struct vfs_stat *found)
{
    bool known = planned->inode != 0 && found->inode != 0;
    if (found->size_bytes < planned->size_bytes)
        return RANGE_CUT;
    if (found->size_bytes == planned->size_bytes && found->mtime_us == planned->mtime_us)
        return RANGE_SAME;
    if (known && found->inode != planned->inode)
        return RANGE_REPLACED;
    if (found->size_bytes > planned->size_bytes)
        return RANGE_GROWN;
    return known ? RANGE_REWRITTEN : RANGE_SAME;
}

void file_range_path(const char *dir, struct bytes path, struct buffer *out)
{
    buffer_clear(out);
    if (path.data[0] != '/') {
        buffer_add_text(out, dir);
        if (out->size_bytes == 0 || out->data[out->size_bytes - 1] != '/')
            buffer_add_byte(out, '/');
    }
    percent_decode(out, path);
}

enum status file_range_parse(struct arena *arena, struct bytes detail, const char **dir,
                             struct range_file **out, size_t *count, struct error *err)
{
    struct file_range_cursor cursor;
    struct range_line line;
    struct buffer path = {0};
    enum status status = OK;
    void *files = NULL;
    bool found = true;
    *dir = NULL;
    *out = NULL;
    *count = 0;
    TRY(file_range_open(arena, detail, &cursor, err));
    *dir = cursor.dir;
    if (cursor.dir == NULL)
        return OK;
    TRY(arena_alloc(arena, count_lines(cursor.left), sizeof(struct range_file), &files, err));
    *out = files;
    for (;;) {
        TRY_OUT(file_range_next(&cursor, &line, &found, err));
        if (!found)
            break;
        file_range_path(cursor.dir, line.path, &path);
        (*out)[(*count)++] = (struct range_file){
            .path = arena_strdup(arena, buffer_text(&path)),
            .size_bytes = line.size_bytes,
            .mtime_us = line.mtime_us,
            .inode = line.inode,
            .log_offset = line.log_offset,
        };
    }
out:
    buffer_fini(&path);
    return status;
}
