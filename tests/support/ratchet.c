#include "ratchet.h"

#include "base/check.h"
#include "base/vfs_posix.h"

#include <fnmatch.h>
#include <stdlib.h>

#define LIST_BYTES_MAX ((size_t)1 << 24)

struct deviation {
    const char *pattern, *answer;
};

struct ratchet {
    struct arena *arena;
    bool has_pending;
    const char **pending; /* sorted */
    size_t pending_count;
    struct deviation *deviations;
    size_t deviation_count;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The lines of a file that are neither empty nor comments. */
static enum status read_lines(struct arena *arena, const char *path, const char ***out,
                              size_t *count, struct error *err)
{
    struct bytes text;
    TRY(vfs_get(vfs_posix(), path, LIST_BYTES_MAX, arena, &text, err));
    size_t lines = 1;
    for (size_t i = 0; i < text.size_bytes; i++)
        lines += text.data[i] == '\n';
    *out = arena_new_object(arena, lines * sizeof(**out));
    *count = 0;
    for (size_t at = 0; at < text.size_bytes;) {
        const uint8_t *end = memchr(text.data + at, '\n', text.size_bytes - at);
        size_t size = end == NULL ? text.size_bytes - at : (size_t)(end - (text.data + at));
        if (size > 0 && text.data[at] != '#')
            (*out)[(*count)++] = arena_strndup(arena, text.data + at, size);
        at += size + 1;
    }
    return OK;
}

static enum status read_deviations(struct ratchet *ratchet, const char *path, struct error *err)
{
    const char **lines;
    size_t count;
    TRY(read_lines(ratchet->arena, path, &lines, &count, err));
    ratchet->deviations = arena_new_object(ratchet->arena, (count + 1) * sizeof(struct deviation));
    for (size_t i = 0; i < count; i++) {
        const char *pattern = strchr(lines[i], '\t');
        const char *answer = pattern == NULL ? NULL : strchr(pattern + 1, '\t');
        const char *why = answer == NULL ? NULL : strchr(answer + 1, '\t');
        if (why == NULL)
            return error_set(err, STATUS_INTERNAL_ERROR, "%s: expected four fields: %s", path,
                             lines[i]);
        ratchet->deviations[ratchet->deviation_count++] = (struct deviation){
            arena_strndup(ratchet->arena, pattern + 1, (size_t)(answer - pattern - 1)),
            arena_strndup(ratchet->arena, answer + 1, (size_t)(why - answer - 1))};
    }
    return OK;
}

enum status ratchet_open(const char *pending, const char *deviations, struct ratchet **out,
                         struct error *err)
{
    struct ratchet *ratchet = calloc(1, sizeof(*ratchet));
    CHECK(ratchet != NULL);
    ratchet->arena = arena_new("ratchet", 0);
    ratchet->has_pending = pending != NULL;
    *out = ratchet;
    if (pending != NULL) {
        TRY(read_lines(ratchet->arena, pending, &ratchet->pending, &ratchet->pending_count, err));
        if (ratchet->pending_count > 1)
            qsort(ratchet->pending, ratchet->pending_count, sizeof(*ratchet->pending), by_text);
    }
    return deviations == NULL ? OK : read_deviations(ratchet, deviations, err);
}

void ratchet_close(struct ratchet *ratchet)
{
    if (ratchet == NULL)
        return;
    arena_free(ratchet->arena);
    free(ratchet);
}

const char *ratchet_name(const char *path)
{
    const char *name = path, *previous = path;
    for (const char *p = path; *p != '\0'; p++) {
        if (*p == '/') {
            name = previous;
            previous = p + 1;
        }
    }
    return name;
}

bool ratchet_has_pending(const struct ratchet *ratchet)
{
    return ratchet->has_pending;
}

bool ratchet_is_pending(struct ratchet *ratchet, const char *name)
{
    return ratchet->pending_count > 0 && bsearch(&name, ratchet->pending, ratchet->pending_count,
                                                 sizeof(*ratchet->pending), by_text) != NULL;
}

const char *ratchet_deviation(const struct ratchet *ratchet, const char *name)
{
    for (size_t i = 0; i < ratchet->deviation_count; i++) {
        if (fnmatch(ratchet->deviations[i].pattern, name, 0) == 0)
            return ratchet->deviations[i].answer;
    }
    return NULL;
}

bool ratchet_judge(struct ratchet *ratchet, const char *name, bool passed, struct buffer *report)
{
    if (!ratchet->has_pending)
        return passed;
    bool pending = ratchet_is_pending(ratchet, name);
    if (pending && passed)
        buffer_printf(report, "%s passes: take it out of pending.txt\n", name);
    return pending != passed;
}
