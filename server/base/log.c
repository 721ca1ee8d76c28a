#include "base/log.h"

#include "base/check.h"
#include "base/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define LOG_CONTEXT_MAX 512
/* A field's text is cut here, so that the fields after it still fit. */
#define LOG_TEXT_MAX 8192

struct log {
    _Atomic int fd;
    bool owns_fd;
    char *path; /* NULL: a descriptor */
    _Atomic int level;
    const struct clock *clock;
    char context[LOG_CONTEXT_MAX]; /* ,"queryName":"...",...: JSON, ready to print */
    _Atomic int64_t batch_id;
};

static const char *const level_names[] = {"DEBUG", "INFO", "WARN", "ERROR"};

/* A line under construction; what does not fit is dropped and the line stays valid JSON. */
struct line {
    size_t size;
    char text[LOG_LINE_MAX];
};

#define LINE_ROOM 64 /* kept free for the closing */

static bool line_fits(const struct line *line, size_t more)
{
    return line->size + more + LINE_ROOM < sizeof line->text;
}

static void line_add(struct line *line, const char *text, size_t size)
{
    if (!line_fits(line, size))
        return;
    memcpy(line->text + line->size, text, size);
    line->size += size;
}

static void line_add_text(struct line *line, const char *text)
{
    line_add(line, text, strlen(text));
}

static void line_add_string(struct line *line, struct bytes value)
{
    static const char digits[] = "0123456789abcdef";
    line_add(line, "\"", 1);
    size_t size = value.size_bytes < LOG_TEXT_MAX ? value.size_bytes : LOG_TEXT_MAX;
    while (size < value.size_bytes && size > 0 && (value.data[size] & 0xc0) == 0x80)
        size--; /* not inside a character */
    for (size_t i = 0; i < size && line_fits(line, 8); i++) {
        uint8_t c = value.data[i];
        if (c == '"' || c == '\\') {
            char pair[2] = {'\\', (char)c};
            line_add(line, pair, 2);
        } else if (c < 0x20 || c == 0x7f) {
            char code[6] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};
            line_add(line, code, sizeof code);
        } else {
            line_add(line, (const char *)&value.data[i], 1);
        }
    }
    line->text[line->size++] = '"'; /* LINE_ROOM has place for it */
}

static void line_add_value(struct line *line, const struct log_field *field)
{
    char number[64];
    switch (field->kind) {
    case LOG_END:
        CHECK(false);
        break;
    case LOG_TEXT:
        line_add_string(line, field->text);
        return;
    case LOG_JSON:
        line_add(line, (const char *)field->text.data, field->text.size_bytes);
        return;
    case LOG_SECRET:
        line_add_text(line, "\"***\"");
        return;
    case LOG_BOOL:
        line_add_text(line, field->boolean ? "true" : "false");
        return;
    case LOG_I64:
        (void)snprintf(number, sizeof number, "%" PRId64, field->i64);
        break;
    case LOG_U64:
        (void)snprintf(number, sizeof number, "%" PRIu64, field->u64);
        break;
    case LOG_F64:
        if (isfinite(field->f64))
            (void)snprintf(number, sizeof number, "%.9g", field->f64);
        else
            (void)snprintf(number, sizeof number, "null");
        break;
    }
    line_add_text(line, number);
}

static void line_add_field(struct line *line, const struct log_field *field)
{
    size_t text_size =
        field->kind == LOG_TEXT || field->kind == LOG_JSON ? field->text.size_bytes : 0;
    if (field->kind == LOG_JSON && !line_fits(line, strlen(field->name) + text_size + 8))
        return; /* JSON cannot be cut */
    if (!line_fits(line, strlen(field->name) + 80))
        return;
    line_add_text(line, ",\"");
    line_add_text(line, field->name);
    line_add_text(line, "\":");
    line_add_value(line, field);
}

static struct log *log_new(enum log_level level, const struct clock *clock)
{
    struct log *log = heap_calloc(1, sizeof *log);
    CHECK(clock != NULL);
    atomic_store(&log->level, (int)level);
    atomic_store(&log->batch_id, -1);
    log->clock = clock;
    return log;
}

static enum status open_file(const char *path, int *out, struct error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (fd < 0)
        return error_raise(err, STATUS_IO_FAILURE, "path", path, "reason", strerrordesc_np(errno),
                           NULL);
    *out = fd;
    return OK;
}

enum status log_open(const char *path, enum log_level level, const struct clock *clock,
                     struct log **out, struct error *err)
{
    int fd = STDERR_FILENO;
    if (path != NULL)
        TRY(open_file(path, &fd, err));
    struct log *log = log_new(level, clock);
    atomic_store(&log->fd, fd);
    log->owns_fd = path != NULL;
    if (path != NULL) {
        log->path = heap_strdup(path);
    }
    *out = log;
    return OK;
}

struct log *log_open_fd(int fd, enum log_level level, const struct clock *clock)
{
    struct log *log = log_new(level, clock);
    atomic_store(&log->fd, fd);
    return log;
}

void log_close(struct log *log)
{
    if (log == NULL)
        return;
    if (log->owns_fd)
        close(atomic_load(&log->fd));
    free(log->path);
    free(log);
}

enum status log_reopen(struct log *log, struct error *err)
{
    CHECK(log != NULL);
    if (log->path == NULL)
        return OK;
    int fd = -1;
    TRY(open_file(log->path, &fd, err));
    /* Another thread may be between loading the number and writing: it must stay the same. */
    int have = atomic_load(&log->fd);
    int moved = dup3(fd, have, O_CLOEXEC);
    int reason = errno;
    close(fd);
    if (moved < 0)
        return error_raise(err, STATUS_IO_FAILURE, "path", log->path, "reason",
                           strerrordesc_np(reason), NULL);
    return OK;
}

void log_set_level(struct log *log, enum log_level level)
{
    atomic_store(&log->level, (int)level);
}

bool log_level_find(const char *name, enum log_level *out)
{
    for (size_t i = 0; i < sizeof level_names / sizeof level_names[0]; i++)
        if (strcasecmp(name, level_names[i]) == 0) {
            *out = (enum log_level)i;
            return true;
        }
    return false;
}

const char *log_level_name(enum log_level level)
{
    CHECK((int)level >= 0 && level <= LOG_ERROR);
    return level_names[level];
}

void log_set_query(struct log *log, const char *query_name, const char *query_id,
                   const char *run_id)
{
    if (log == NULL)
        return;
    struct line line = {0};
    const char *names[] = {"queryName", "queryId", "runId"};
    const char *values[] = {query_name, query_id, run_id};
    for (size_t i = 0; i < 3; i++) {
        if (values[i] == NULL)
            continue;
        size_t before = line.size;
        struct log_field field = log_text(names[i], values[i]);
        line_add_field(&line, &field);
        if (line.size >= LOG_CONTEXT_MAX)
            line.size = before;
    }
    line.text[line.size] = '\0';
    memcpy(log->context, line.text, line.size + 1);
}

void log_set_batch(struct log *log, int64_t batch_id)
{
    if (log == NULL)
        return;
    atomic_store(&log->batch_id, batch_id);
}

static void write_line(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, text, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return; /* there is nowhere to report it to */
        text += written;
        size -= (size_t)written;
    }
}

void log_event(struct log *log, enum log_level level, const char *event,
               const struct log_field *fields)
{
    CHECK(event != NULL);
    if (log == NULL || (int)level < atomic_load(&log->level) || atomic_load(&log->fd) < 0)
        return;
    char stamp[CLOCK_ISO_SIZE];
    clock_format_iso(clock_now_us(log->clock), stamp);
    struct line line;
    line.size = (size_t)snprintf(line.text, sizeof line.text,
                                 "{\"ts\":\"%s\",\"level\":\"%s\",\"event\":\"%.100s\"%s", stamp,
                                 log_level_name(level), event, log->context);
    int64_t batch_id = atomic_load(&log->batch_id);
    if (batch_id >= 0) {
        struct log_field field = log_i64("batchId", batch_id);
        line_add_field(&line, &field);
    }
    for (const struct log_field *field = fields; field != NULL && field->kind != LOG_END; field++)
        line_add_field(&line, field);
    line.text[line.size++] = '}';
    line.text[line.size++] = '\n';
    write_line(atomic_load(&log->fd), line.text, line.size);
}

void log_error_event(struct log *log, enum log_level level, const char *event,
                     const struct error *error, const struct log_field *fields)
{
    struct log_field all[16] = {
        log_text("condition", status_name(error->status)),
        log_text("sqlState", status_sqlstate(error->status)),
        log_text("message", error->text),
    };
    size_t count = 3;
    for (const struct log_field *field = fields;
         field != NULL && field->kind != LOG_END && count + 1 < sizeof all / sizeof all[0]; field++)
        all[count++] = *field;
    all[count] = (struct log_field){0};
    log_event(log, level, event, all);
}
