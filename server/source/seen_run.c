#include "source/seen_run.h"

#include "base/buffer.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

#define RUN_MAGIC   "TMSEEN1\n"
#define RUN_FOOTER  24
#define WRITE_CHUNK ((size_t)1 << 20)
#define SYNC_BYTES  ((uint64_t)4 << 20) /* so that no sync has much to write */

_Static_assert(sizeof(struct seen_entry) == SEEN_ENTRY_BYTES, "entries are written as they are");

struct seen_merge {
    char *path;
    struct vfs_file *file;
    struct buffer chunk;
    uint64_t count; /* written */
    uint32_t crc;   /* of what was written */
    uint64_t unsynced_bytes;
    size_t input_count;
    struct seen_run inputs[SEEN_RUNS_MAX];
    uint64_t at[SEEN_RUNS_MAX];      /* the next entry of each */
    uint64_t checked[SEEN_RUNS_MAX]; /* entries whose checksum is taken */
    uint32_t crcs[SEEN_RUNS_MAX];    /* of them */
};

bool seen_entry_same(const struct seen_entry *a, const struct seen_entry *b)
{
    return a->high == b->high && a->low == b->low;
}

int seen_entry_compare(const void *a, const void *b)
{
    const struct seen_entry *left = a;
    const struct seen_entry *right = b;
    if (left->high != right->high)
        return left->high < right->high ? -1 : 1;
    return left->low < right->low ? -1 : left->low > right->low;
}

static enum status corrupt(struct error *err, const char *path, const char *reason)
{
    return error_raise(err, STATUS_CHECKPOINT__CORRUPT, "path", path, "reason", reason, NULL);
}

enum status seen_run_map(struct vfs *vfs, const char *path, struct seen_run *run, struct error *err)
{
    struct bytes content;
    enum status status = vfs_map(vfs, path, &run->map, &content, err);
    if (status == STATUS_FILE_NOT_FOUND) {
        error_clear(err);
        return corrupt(err, path, "this part of the list of files read is gone");
    }
    TRY(status);
    bool whole = content.size_bytes >= RUN_FOOTER &&
                 (content.size_bytes - RUN_FOOTER) % SEEN_ENTRY_BYTES == 0 &&
                 (content.size_bytes - RUN_FOOTER) / SEEN_ENTRY_BYTES == run->count;
    if (whole) {
        const uint8_t *footer = content.data + run->count * SEEN_ENTRY_BYTES;
        uint64_t count = 0;
        uint32_t zero = 0;
        memcpy(&count, footer + 8, sizeof count);
        memcpy(&run->crc, footer + 16, sizeof run->crc);
        memcpy(&zero, footer + 20, sizeof zero);
        whole = memcmp(footer, RUN_MAGIC, 8) == 0 && count == run->count && zero == 0;
    }
    if (!whole) {
        vfs_unmap(run->map);
        run->map = NULL;
        return corrupt(err, path, "this part of the list of files read is damaged");
    }
    run->entries = (const void *)content.data;
    return OK;
}

enum status seen_run_check(const struct seen_run *run, const char *path, struct error *err)
{
    if (crc32c(0, run->entries, run->count * SEEN_ENTRY_BYTES) != run->crc)
        return corrupt(err, path, "the checksum of this part of the list of files read is wrong");
    return OK;
}

const struct seen_entry *seen_run_find(const struct seen_run *run, const struct seen_entry *entry)
{
    uint64_t low = 0;
    uint64_t high = run->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        const struct seen_entry *at = &run->entries[middle];
        if (at->high < entry->high || (at->high == entry->high && at->low < entry->low))
            low = middle + 1;
        else
            high = middle;
    }
    return low < run->count && seen_entry_same(&run->entries[low], entry) ? &run->entries[low]
                                                                          : NULL;
}

enum status seen_merge_begin(struct vfs *vfs, const char *path, const struct seen_run *inputs,
                             size_t count, struct seen_merge **out, struct error *err)
{
    CHECK(count <= SEEN_RUNS_MAX);
    struct seen_merge *merge = heap_calloc(1, sizeof *merge);
    merge->path = heap_strdup(path);
    merge->input_count = count;
    memcpy(merge->inputs, inputs, count * sizeof *inputs);
    enum status status = vfs_open(vfs, path, 0, 0, &merge->file, err);
    if (status != OK) {
        seen_merge_end(merge);
        return status;
    }
    *out = merge;
    return OK;
}

static enum status write_chunk(struct seen_merge *merge, struct error *err)
{
    if (merge->chunk.size_bytes == 0)
        return OK;
    merge->crc = crc32c(merge->crc, merge->chunk.data, merge->chunk.size_bytes);
    merge->unsynced_bytes += merge->chunk.size_bytes;
    TRY(vfs_append(merge->file, buffer_bytes(&merge->chunk), err));
    buffer_clear(&merge->chunk);
    if (merge->unsynced_bytes < SYNC_BYTES)
        return OK;
    merge->unsynced_bytes = 0;
    return vfs_sync_data(merge->file, err);
}

/* The least of the next entries, with its newest time; *read: how many inputs have it, 0 at the
 * end. */
static struct seen_entry take_least(struct seen_merge *merge, size_t *read)
{
    const struct seen_entry *least = NULL;
    *read = 0;
    for (size_t i = 0; i < merge->input_count; i++) {
        const struct seen_run *input = &merge->inputs[i];
        if (merge->at[i] < input->count &&
            (least == NULL || seen_entry_compare(&input->entries[merge->at[i]], least) < 0))
            least = &input->entries[merge->at[i]];
    }
    if (least == NULL)
        return (struct seen_entry){0};
    struct seen_entry entry = *least;
    for (size_t i = 0; i < merge->input_count; i++) {
        if (merge->at[i] == merge->inputs[i].count)
            continue;
        const struct seen_entry *next = &merge->inputs[i].entries[merge->at[i]];
        CHECK(next != NULL); /* a run with entries is mapped */
        if (!seen_entry_same(next, &entry))
            continue;
        if (next->mtime_us > entry.mtime_us)
            entry.mtime_us = next->mtime_us;
        merge->at[i]++;
        ++*read;
    }
    return entry;
}

/* Takes the checksums of what was read since the last time. */
static void check_read(struct seen_merge *merge)
{
    for (size_t i = 0; i < merge->input_count; i++) {
        merge->crcs[i] = crc32c(merge->crcs[i], merge->inputs[i].entries + merge->checked[i],
                                (merge->at[i] - merge->checked[i]) * SEEN_ENTRY_BYTES);
        merge->checked[i] = merge->at[i];
    }
}

static enum status finish(struct seen_merge *merge, struct error *err)
{
    for (size_t i = 0; i < merge->input_count; i++)
        if (merge->inputs[i].map != NULL && merge->crcs[i] != merge->inputs[i].crc)
            return corrupt(err, merge->path,
                           "a part of the list of files read that is merged into this one is "
                           "damaged");
    uint8_t footer[RUN_FOOTER] = {0};
    memcpy(footer, RUN_MAGIC, sizeof RUN_MAGIC - 1);
    memcpy(footer + 8, &merge->count, sizeof merge->count);
    memcpy(footer + 16, &merge->crc, sizeof merge->crc);
    TRY(vfs_append(merge->file, bytes_of(footer, sizeof footer), err));
    return vfs_sync(merge->file, err);
}

enum status seen_merge_step(struct seen_merge *merge, uint64_t entries, int64_t purge_us,
                            bool *done, struct error *err)
{
    size_t read = 0;
    *done = false;
    do {
        struct seen_entry entry = take_least(merge, &read);
        *done = read == 0;
        if (!*done && entry.mtime_us >= purge_us) {
            buffer_add(&merge->chunk, &entry, sizeof entry);
            merge->count++;
        }
        if (merge->chunk.size_bytes >= WRITE_CHUNK) {
            check_read(merge);
            TRY(write_chunk(merge, err));
        }
        entries -= read < entries ? read : entries;
    } while (!*done && entries > 0);
    check_read(merge);
    TRY(write_chunk(merge, err));
    return *done ? finish(merge, err) : OK;
}

uint64_t seen_merge_count(const struct seen_merge *merge)
{
    return merge->count;
}

bool seen_merge_reads(const struct seen_merge *merge, const struct seen_run *run)
{
    for (size_t i = 0; i < merge->input_count; i++)
        if (merge->inputs[i].generation == run->generation)
            return true;
    return false;
}

void seen_merge_end(struct seen_merge *merge)
{
    if (merge == NULL)
        return;
    vfs_close(merge->file);
    buffer_fini(&merge->chunk);
    free(merge->path);
    free(merge);
}
