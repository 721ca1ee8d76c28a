#include "control/history.h"

#include "base/check.h"
#include "base/heap.h"
#include "base/vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct history {
    char *path;
    size_t keep;
    size_t lines; /* in the file; counted when it is opened */
    int fd;       /* -1: closed */
};

struct history *history_new(const char *path, size_t keep)
{
    CHECK(keep > 0);
    struct history *history = heap_calloc(1, sizeof *history);
    history->path = heap_strdup(path);
    history->keep = keep;
    history->fd = -1;
    return history;
}

void history_rest(struct history *history)
{
    if (history->fd >= 0)
        (void)close(history->fd);
    history->fd = -1;
}

bool history_exists(const struct history *history)
{
    return access(history->path, F_OK) == 0;
}

void history_free(struct history *history)
{
    if (history == NULL)
        return;
    history_rest(history);
    free(history->path);
    free(history);
}

/* The whole file; a missing one is empty. */
static enum status read_file(const char *path, struct buffer *out, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? OK : vfs_error(err, path, errno);
    enum status status = OK;
    while (out->size_bytes < HISTORY_FILE_BYTES_MAX) {
        ssize_t got = read(fd, buffer_reserve(out, 65536), 65536);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            status = vfs_error(err, path, errno);
        if (got <= 0)
            break;
        out->size_bytes += (size_t)got;
    }
    (void)close(fd);
    return status;
}

/* Where the last `count` whole lines begin; *size is the end of the last whole line. */
static size_t tail_start(const struct buffer *content, size_t count, size_t *size)
{
    size_t end = content->size_bytes;
    while (end > 0 && content->data[end - 1] != '\n')
        end--;
    *size = end;
    size_t at = end, found = 0;
    while (at > 0) {
        if (content->data[at - 1] == '\n' && at != end && ++found == count)
            break;
        at--;
    }
    return at;
}

enum status history_read(const char *path, size_t count, struct buffer *out, struct error *err)
{
    struct buffer content = {0};
    enum status status = read_file(path, &content, err);
    if (status == OK && count > 0 && content.data != NULL) {
        size_t end = 0;
        size_t start = tail_start(&content, count, &end);
        buffer_add(out, content.data + start, end - start);
    }
    buffer_fini(&content);
    return status;
}

static enum status write_all(int fd, const char *path, struct bytes text, struct error *err)
{
    while (text.size_bytes > 0) {
        ssize_t wrote = write(fd, text.data, text.size_bytes);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return vfs_error(err, path, errno);
        text = bytes_of(text.data + wrote, text.size_bytes - (size_t)wrote);
    }
    return OK;
}

static size_t count_lines(const struct buffer *content)
{
    size_t lines = 0;
    for (size_t i = 0; i < content->size_bytes; i++)
        lines += content->data[i] == '\n';
    return lines;
}

static enum status open_file(struct history *history, struct error *err)
{
    struct buffer content = {0};
    TRY(read_file(history->path, &content, err));
    history->lines = count_lines(&content);
    bool torn = content.size_bytes > 0 && content.data[content.size_bytes - 1] != '\n';
    buffer_fini(&content);
    history->fd = open(history->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (history->fd < 0)
        return vfs_error(err, history->path, errno);
    if (torn) /* the rest of a line that a crash cut becomes a line of its own */
        return write_all(history->fd, history->path, bytes_of("\n", 1), err);
    return OK;
}

static enum status rewrite(struct history *history, struct error *err)
{
    struct buffer kept = {0}, temporary = {0};
    enum status status = history_read(history->path, history->keep, &kept, err);
    buffer_printf(&temporary, "%s.tmp", history->path);
    int fd = -1;
    if (status == OK) {
        fd = open(buffer_text(&temporary), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
        if (fd < 0)
            status = vfs_error(err, history->path, errno);
    }
    if (status == OK)
        status = write_all(fd, history->path, buffer_bytes(&kept), err);
    if (fd >= 0)
        (void)close(fd);
    if (status == OK && rename(buffer_text(&temporary), history->path) != 0)
        status = vfs_error(err, history->path, errno);
    buffer_fini(&kept);
    buffer_fini(&temporary);
    history_rest(history);
    return status == OK ? open_file(history, err) : status;
}

enum status history_append(struct history *history, struct bytes line, struct error *err)
{
    if (history->fd < 0)
        TRY(open_file(history, err));
    if (history->lines >= 2 * history->keep)
        TRY(rewrite(history, err));
    struct buffer text = {0};
    buffer_add_bytes(&text, line);
    buffer_add_byte(&text, '\n');
    enum status status = write_all(history->fd, history->path, buffer_bytes(&text), err);
    buffer_fini(&text);
    if (status == OK)
        history->lines++;
    return status;
}
