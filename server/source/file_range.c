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
    buffer_add_text(out, "files 1 ");
    add_escaped(out, dir);
    if (durable->generation > 0 || durable->log_bytes > 0)
        buffer_printf(out, "seen %" PRIu64 " %" PRIu64 " %08" PRIx32 "\n", durable->generation,
                      durable->log_bytes, durable->crc);
}

void file_range_add_batch(struct buffer *out, int64_t log_offset)
{
    buffer_printf(out, "batch %" PRId64 "\n", log_offset);
}

void file_range_add_file(struct buffer *out, const char *dir, const struct range_file *file)
{
    buffer_printf(out, "%" PRIu64 " %" PRId64 " ", file->size_bytes, file->mtime_us);
    size_t size = strlen(dir);
    bool below = size > 1 && strncmp(file->path, dir, size) == 0 && file->path[size] == '/';
    add_escaped(out, below ? file->path + size + 1 : file->path);
}

static char *unescape(struct arena *arena, struct bytes text)
{
    struct buffer out = {0};
    percent_decode(&out, text);
    char *copy = arena_strdup(arena, buffer_text(&out));
    buffer_fini(&out);
    return copy;
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

static bool take_number(struct bytes *line, int64_t *out)
{
    bool negative = line->size_bytes > 0 && line->data[0] == '-';
    size_t at = negative;
    uint64_t value = 0;
    for (; at < line->size_bytes && line->data[at] >= '0' && line->data[at] <= '9'; at++)
        value = value * 10 + (uint64_t)(line->data[at] - '0');
    if (at == (size_t)negative || at >= line->size_bytes || line->data[at] != ' ')
        return false;
    *out = negative ? -(int64_t)value : (int64_t)value;
    *line = bytes_of(line->data + at + 1, line->size_bytes - at - 1);
    return true;
}

static bool starts_with(struct bytes line, const char *text)
{
    size_t size = strlen(text);
    return line.size_bytes >= size && memcmp(line.data, text, size) == 0;
}

static bool parse_file(struct arena *arena, struct bytes line, const char *dir,
                       struct range_file *out)
{
    int64_t size = 0;
    if (!take_number(&line, &size) || !take_number(&line, &out->mtime_us) || size < 0)
        return false;
    char *path = unescape(arena, line);
    out->size_bytes = (uint64_t)size;
    out->path = path[0] == '/' ? path : path_join(arena, dir, path);
    return path[0] != '\0';
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
    return next_line(&detail, &line) && starts_with(line, "files 1 ") &&
           next_line(&detail, &line) && parse_mark(line, out);
}

enum status file_range_parse(struct arena *arena, struct bytes detail, const char **dir,
                             struct range_file **out, size_t *count, struct error *err)
{
    *dir = NULL;
    *out = NULL;
    *count = 0;
    struct bytes line;
    if (!next_line(&detail, &line))
        return OK;
    if (!starts_with(line, "files 1 "))
        return broken(err, "a list of files has an unknown version");
    *dir = unescape(arena, bytes_of(line.data + 8, line.size_bytes - 8));
    void *files = NULL;
    TRY(arena_alloc(arena, count_lines(detail), sizeof(struct range_file), &files, err));
    *out = files;
    int64_t log_offset = -1;
    struct seen_mark mark;
    struct bytes after = detail;
    if (next_line(&after, &line) && starts_with(line, "seen ")) {
        if (!parse_mark(line, &mark))
            return broken(err, "a mark of files read cannot be read");
        detail = after;
    }
    while (next_line(&detail, &line)) {
        if (starts_with(line, "batch ")) {
            struct bytes number = bytes_of(line.data + 6, line.size_bytes - 6);
            TRY(file_offset_parse(number, &log_offset, err));
            continue;
        }
        struct range_file *file = &(*out)[*count];
        if (log_offset < 0 || !parse_file(arena, line, *dir, file))
            return broken(err, "a list of files cannot be read");
        file->log_offset = log_offset;
        (*count)++;
    }
    return OK;
}
