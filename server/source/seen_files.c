#include "source/seen_files.h"

#include "base/buffer.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/hash.h"
#include "base/heap.h"
#include "source/seen_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY_BYTES      SEEN_ENTRY_BYTES
#define MANIFEST_MAX     65536
#define TABLE_SLOTS      ((size_t)SEEN_MEMORY_MAX * 4) /* a batch may add more: the table grows */
#define WRITE_CHUNK      ((size_t)1 << 20)
#define RECORD_BYTES_MAX (WRITE_CHUNK * ENTRY_BYTES)
#define PATH_BYTES_MAX   4096
#define VERIFY_TRIES     3
#define CONFIRMED        INT64_MIN /* in the place of a time */
/* What a merge reads for each entry that is new: more than the times that an entry is merged. */
#define MERGE_RATE      16
#define MERGE_STEP      4096 /* entries; fewer are not worth a call */
#define RUNS_WHILE_BUSY 12   /* that come at the most while one merge goes on */

struct seen_files {
    struct vfs *vfs;
    char *dir; /* NULL: in memory only */
    int64_t max_age_us;
    int64_t latest_us;                   /* newest time added; INT64_MIN: none */
    int64_t purge_us;                    /* older entries do not count; INT64_MIN: none */
    struct seen_run runs[SEEN_RUNS_MAX]; /* largest first */
    size_t run_count;
    struct seen_merge *merge;                /* NULL: none goes on */
    bool merge_done;                         /* its run is durable, and does not count yet */
    bool run_made;                           /* by the flush before */
    struct seen_run replaced[SEEN_RUNS_MAX]; /* unmapped; their files are being removed */
    size_t replaced_count;
    uint64_t merge_generation;
    uint64_t merge_rate;
    uint64_t credit; /* entries that may be merged */
    uint64_t added;  /* entries since the last step of merging */
    size_t memory_max;
    uint64_t merge_step;
    /* Open addressing; high == low == 0 is an empty slot (a hash of 0 is stored as 1). */
    struct seen_entry *slots;
    size_t slot_count;
    size_t memory_count;
    struct buffer pending; /* entries not yet in the log, but none when a run is due */
    struct vfs_file *log;  /* NULL: closed since an append failed */
    uint64_t log_bytes;
    uint32_t log_crc; /* of log_bytes */
    struct seen_mark durable;
    struct buffer
        unmarked; /* entries behind the mark at the open, sorted; a confirmed one has CONFIRMED */
    uint64_t log_generation;
    uint64_t next_generation;
    bool manifest_unsure; /* writing it failed: the disk may have the new one */
};

static struct seen_entry entry_of(struct bytes identity, int64_t mtime_us)
{
    struct seen_entry entry = {
        .high = hash_bytes(identity.data, identity.size_bytes),
        .low = hash_bytes_seeded(identity.data, identity.size_bytes, 0x5ee0f11e5),
        .mtime_us = mtime_us,
    };
    if (entry.high == 0 && entry.low == 0)
        entry.low = 1;
    return entry;
}

/* The slot of the entry, or the empty one where it belongs. */
static struct seen_entry *find_slot(const struct seen_files *seen, const struct seen_entry *entry)
{
    size_t mask = seen->slot_count - 1;
    for (size_t i = (size_t)entry->low & mask;; i = (i + 1) & mask) {
        struct seen_entry *slot = &seen->slots[i];
        if ((slot->high == 0 && slot->low == 0) || seen_entry_same(slot, entry))
            return slot;
    }
}

static void grow_table(struct seen_files *seen)
{
    struct seen_entry *old = seen->slots;
    size_t old_count = seen->slot_count;
    seen->slot_count = old_count == 0 ? 1024 : old_count * 2;
    seen->slots = heap_calloc(seen->slot_count, sizeof *seen->slots);
    for (size_t i = 0; i < old_count; i++)
        if (old[i].high != 0 || old[i].low != 0)
            *find_slot(seen, &old[i]) = old[i];
    free(old);
}

static void clear_table(struct seen_files *seen)
{
    if (seen->slot_count > TABLE_SLOTS) {
        free(seen->slots);
        seen->slots = NULL;
        seen->slot_count = 0;
        grow_table(seen);
    } else {
        memset(seen->slots, 0, seen->slot_count * sizeof *seen->slots);
    }
    seen->memory_count = 0;
}

/* False: it is there already, with this or a newer time. */
static bool remember(struct seen_files *seen, const struct seen_entry *entry)
{
    if ((seen->memory_count + 1) * 2 > seen->slot_count)
        grow_table(seen);
    struct seen_entry *slot = find_slot(seen, entry);
    bool known = slot->high != 0 || slot->low != 0;
    if (entry->mtime_us > seen->latest_us)
        seen->latest_us = entry->mtime_us;
    if (known && slot->mtime_us >= entry->mtime_us)
        return false;
    seen->memory_count += !known;
    *slot = *entry;
    return true;
}

bool seen_files_is_new(const struct seen_files *seen, struct bytes identity, int64_t mtime_us)
{
    CHECK(seen != NULL);
    if (mtime_us < seen->purge_us)
        return false;
    struct seen_entry entry = entry_of(identity, mtime_us);
    const struct seen_entry *slot = find_slot(seen, &entry);
    if ((slot->high != 0 || slot->low != 0) && slot->mtime_us >= seen->purge_us)
        return false;
    for (size_t i = 0; i < seen->run_count; i++) {
        const struct seen_entry *found = seen_run_find(&seen->runs[i], &entry);
        if (found != NULL && found->mtime_us >= seen->purge_us)
            return false;
    }
    return true;
}

int64_t seen_files_oldest_us(const struct seen_files *seen)
{
    CHECK(seen != NULL);
    return seen->purge_us;
}

void seen_files_add(struct seen_files *seen, struct bytes identity, int64_t mtime_us)
{
    CHECK(seen != NULL);
    struct seen_entry entry = entry_of(identity, mtime_us);
    if (!remember(seen, &entry) || seen->dir == NULL)
        return;
    seen->added++;
    if (seen->memory_count < seen->memory_max)
        buffer_add(&seen->pending, &entry, sizeof entry);
    else
        buffer_fini(&seen->pending); /* the run that is due will hold all of them */
}

void seen_files_purge(struct seen_files *seen)
{
    CHECK(seen != NULL);
    if (seen->latest_us == INT64_MIN || seen->max_age_us == INT64_MAX ||
        seen->latest_us < INT64_MIN + seen->max_age_us)
        return;
    seen->purge_us = seen->latest_us - seen->max_age_us;
}

static void file_path(const struct seen_files *seen, uint64_t generation, const char *extension,
                      char out[PATH_BYTES_MAX])
{
    (void)snprintf(out, PATH_BYTES_MAX, "%s/seen-%llu.%s", seen->dir,
                   (unsigned long long)generation, extension);
}

/* After an error the disk may have either manifest; then nothing else is written before this one.
 */
static enum status put_manifest(struct seen_files *seen, struct error *err)
{
    struct buffer text = {0};
    buffer_printf(&text, "tidemill-seen 1\nlog %llu\nlatest %lld\n",
                  (unsigned long long)seen->log_generation, (long long)seen->latest_us);
    for (size_t i = 0; i < seen->run_count; i++)
        buffer_printf(&text, "run %llu %llu\n", (unsigned long long)seen->runs[i].generation,
                      (unsigned long long)seen->runs[i].count);
    buffer_printf(&text, "crc %08x\n", crc32c(0, text.data, text.size_bytes));
    char path[PATH_BYTES_MAX];
    (void)snprintf(path, sizeof path, "%s/seen", seen->dir);
    enum status status = vfs_put(seen->vfs, path, buffer_bytes(&text), false, err);
    seen->manifest_unsure = status != OK;
    buffer_fini(&text);
    return status;
}

static enum status corrupt(struct error *err, const char *path, const char *reason)
{
    return error_raise(err, STATUS_CHECKPOINT__CORRUPT, "path", path, "reason", reason, NULL);
}

/* Puts a run where its size belongs. */
static void insert_run(struct seen_files *seen, struct seen_run run)
{
    CHECK(seen->run_count < SEEN_RUNS_MAX);
    size_t at = seen->run_count++;
    for (; at > 0 && seen->runs[at - 1].count < run.count; at--)
        seen->runs[at] = seen->runs[at - 1];
    seen->runs[at] = run;
}

/* The numbers behind a word of the manifest: "run 3 65536".  False: another line. */
static bool parse_line(const char *line, const char *word, long long *first, long long *second)
{
    size_t size = strlen(word);
    char *end = NULL;
    if (strncmp(line, word, size) != 0 || line[size] != ' ')
        return false;
    *first = strtoll(line + size + 1, &end, 10);
    if (end == line + size + 1)
        return false;
    *second = strtoll(end, &end, 10);
    return *end == '\0';
}

/* Reads the manifest's lines; false: it is broken. */
static bool parse_manifest(struct seen_files *seen, char *text)
{
    char *crc_line = strstr(text, "\ncrc ");
    char expected[24];
    if (crc_line == NULL)
        return false;
    (void)snprintf(expected, sizeof expected, "\ncrc %08x\n",
                   crc32c(0, text, (size_t)(crc_line + 1 - text)));
    if (strcmp(crc_line, expected) != 0)
        return false;
    crc_line[1] = '\0';
    char *rest = text;
    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        long long first = 0;
        long long second = 0;
        uint64_t generation = 0;
        if (parse_line(line, "latest", &first, &second)) {
            seen->latest_us = first;
        } else if (parse_line(line, "log", &first, &second)) {
            generation = seen->log_generation = (uint64_t)first;
        } else if (parse_line(line, "run", &first, &second)) {
            if (seen->run_count == SEEN_RUNS_MAX)
                return false;
            generation = (uint64_t)first;
            insert_run(seen,
                       (struct seen_run){.generation = generation, .count = (uint64_t)second});
        }
        if (generation >= seen->next_generation)
            seen->next_generation = generation + 1;
    }
    return true;
}

/* Whether a line says which version it is; what is damaged there has none. */
static bool has_version(const char *text)
{
    if (strncmp(text, "tidemill-seen ", 14) != 0)
        return false;
    size_t digits = strspn(text + 14, "0123456789");
    return digits > 0 && text[14] != '0' && text[14 + digits] == '\n';
}

static enum status load_manifest(struct seen_files *seen, struct arena *arena, struct error *err)
{
    char path[PATH_BYTES_MAX];
    (void)snprintf(path, sizeof path, "%s/seen", seen->dir);
    struct bytes content;
    TRY(vfs_get(seen->vfs, path, MANIFEST_MAX, arena, &content, err));
    char *text = arena_strndup(arena, content.data, content.size_bytes);
    if (!has_version(text))
        return corrupt(err, path, "the list of files read is damaged");
    if (strncmp(text, "tidemill-seen 1\n", 16) != 0)
        return error_raise(err, STATUS_CHECKPOINT__UNSUPPORTED_VERSION, "path", path, "version",
                           arena_strndup(arena, text, strcspn(text, "\n")), "supported",
                           "tidemill-seen 1", NULL);
    if (!parse_manifest(seen, text))
        return corrupt(err, path, "the list of files read is damaged");
    for (size_t i = 0; i < seen->run_count; i++) {
        file_path(seen, seen->runs[i].generation, "run", path);
        TRY(seen_run_map(seen->vfs, path, &seen->runs[i], err));
        TRY(seen_run_check(&seen->runs[i], path, err));
    }
    return OK;
}

/* Takes the whole records of the log; *valid is where they end, the mark stands at `marked`. */
static void replay_log(struct seen_files *seen, struct bytes content, uint64_t marked,
                       uint64_t *valid)
{
    size_t at = 0;
    while (content.size_bytes - at >= 8) {
        uint32_t size = 0;
        uint32_t crc = 0;
        memcpy(&size, content.data + at, sizeof size);
        memcpy(&crc, content.data + at + 4, sizeof crc);
        if (size == 0 || size % ENTRY_BYTES != 0 || size > content.size_bytes - at - 8 ||
            crc32c(0, content.data + at + 8, size) != crc)
            break;
        for (uint32_t i = 0; i < size; i += ENTRY_BYTES) {
            struct seen_entry entry;
            memcpy(&entry, content.data + at + 8 + i, sizeof entry);
            (void)remember(seen, &entry);
            if (at >= marked)
                buffer_add(&seen->unmarked, &entry, sizeof entry);
        }
        at += 8 + size;
    }
    *valid = at;
}

/* A copy of the log: a worker that starts may cut its torn end at any moment, which nobody who has
 * it mapped would survive. */
static enum status copy_log(struct vfs *vfs, const char *path, struct buffer *out,
                            struct error *err)
{
    struct vfs_stat stat;
    size_t read_bytes = 0;
    TRY(vfs_stat(vfs, path, &stat, err));
    if (stat.size_bytes == 0)
        return OK;
    struct bytes_out into = {.data = buffer_reserve(out, stat.size_bytes),
                             .size_bytes = stat.size_bytes};
    TRY(vfs_read_at(vfs, path, 0, into, &read_bytes, err));
    out->size_bytes = read_bytes;
    return OK;
}

/* A torn end is cut, for the intents repeat it; but not before what was durable. */
static enum status read_log(struct seen_files *seen, const struct seen_mark *durable,
                            struct error *err)
{
    char path[PATH_BYTES_MAX];
    file_path(seen, seen->log_generation, "log", path);
    bool same = durable->generation == seen->log_generation;
    struct buffer copy = {0};
    enum status status = copy_log(seen->vfs, path, &copy, err);
    if (status == STATUS_FILE_NOT_FOUND) {
        error_clear(err);
        if (same && durable->log_bytes > 0)
            return corrupt(err, path, "the log of files read is gone");
        return OK;
    }
    TRY_OUT(status);
    struct bytes content = buffer_bytes(&copy);
    replay_log(seen, content, same ? durable->log_bytes : UINT64_MAX, &seen->log_bytes);
    if (seen->unmarked.size_bytes > 0)
        qsort(seen->unmarked.data, seen->unmarked.size_bytes / ENTRY_BYTES, ENTRY_BYTES,
              seen_entry_compare);
    seen->log_crc = crc32c(0, content.data, seen->log_bytes);
    if (same && seen->log_bytes < durable->log_bytes)
        status = corrupt(err, path, "the log of files read is damaged, cut short or an old copy");
    else if (same && crc32c(0, content.data, durable->log_bytes) != durable->crc)
        status = corrupt(err, path, "the log of files read is not the one this query wrote");
out:
    buffer_fini(&copy);
    return status;
}

/* Reads all there is; changes nothing. */
static enum status load(struct seen_files *seen, const struct seen_mark *durable, bool *found,
                        struct error *err)
{
    char path[PATH_BYTES_MAX];
    (void)snprintf(path, sizeof path, "%s/seen", seen->dir);
    TRY(vfs_find(seen->vfs, path, found, err));
    seen->next_generation = 1;
    if (*found) {
        struct arena *arena = arena_new("request", 0);
        enum status status = load_manifest(seen, arena, err);
        arena_free(arena);
        TRY(status);
    }
    if (seen->log_generation < durable->generation)
        return corrupt(err, path,
                       *found ? "the list of files read is an old copy"
                              : "the list of files read is gone");
    return read_log(seen, durable, err);
}

/* Opens the log for appending behind what is valid in it. */
static enum status open_log(struct seen_files *seen, struct error *err)
{
    char path[PATH_BYTES_MAX];
    file_path(seen, seen->log_generation, "log", path);
    return vfs_open(seen->vfs, path, seen->log_bytes, 0, &seen->log, err);
}

static void remove_file(struct seen_files *seen, uint64_t generation, const char *extension)
{
    struct error ignored = ERROR_INIT;
    char path[PATH_BYTES_MAX];
    file_path(seen, generation, extension, path);
    /* A file left behind costs space until the set is opened again, nothing else. */
    if (vfs_remove(seen->vfs, path, &ignored) != OK)
        error_clear(&ignored);
}

static bool counts(const struct seen_files *seen, unsigned long long generation,
                   const char *extension)
{
    if (strcmp(extension, "log") == 0)
        return generation == seen->log_generation;
    for (size_t i = 0; i < seen->run_count; i++)
        if (seen->runs[i].generation == generation)
            return true;
    return false;
}

/* Removes what a crash left: the runs of merges that did not end, and what ended merges replaced.
 */
static enum status remove_leftovers(struct seen_files *seen, struct error *err)
{
    struct vfs_entry *entries = NULL;
    size_t count = 0;
    struct arena *arena = arena_new("request", 0);
    enum status status = vfs_list(seen->vfs, seen->dir, arena, &entries, &count, err);
    for (size_t i = 0; status == OK && i < count; i++) {
        char *end = NULL;
        if (strncmp(entries[i].name, "seen-", 5) != 0)
            continue;
        unsigned long long generation = strtoull(entries[i].name + 5, &end, 10);
        bool ours = strcmp(end, ".log") == 0 || strcmp(end, ".run") == 0;
        if (ours && !counts(seen, generation, end + 1))
            remove_file(seen, generation, end + 1);
    }
    arena_free(arena);
    if (status != STATUS_FILE_NOT_FOUND) /* a start plan makes no directory */
        return status;
    error_clear(err);
    return OK;
}

static struct seen_files *new_set(struct vfs *vfs, const char *dir, int64_t max_age_us)
{
    struct seen_files *seen = heap_calloc(1, sizeof *seen);
    seen->vfs = vfs;
    seen->max_age_us = max_age_us;
    seen->memory_max = SEEN_MEMORY_MAX;
    seen->merge_step = MERGE_STEP;
    seen->latest_us = INT64_MIN;
    seen->purge_us = INT64_MIN;
    grow_table(seen);
    if (dir != NULL) {
        seen->dir = heap_strdup(dir);
    }
    return seen;
}

enum status seen_files_open(struct vfs *vfs, const char *dir, int64_t max_age_us,
                            const struct seen_mark *durable, struct seen_files **out,
                            struct error *err)
{
    CHECK(max_age_us >= 0);
    enum status status = OK;
    struct seen_files *seen = new_set(vfs, dir, max_age_us);
    if (dir != NULL) {
        bool found = false;
        TRY_OUT(vfs_make_dirs(vfs, dir, err));
        TRY_OUT(load(seen, durable, &found, err));
        seen->durable = *durable;
        if (!found)
            TRY_OUT(vfs_sync_above(vfs, dir, err));
        if (!found)
            TRY_OUT(put_manifest(seen, err));
        TRY_OUT(remove_leftovers(seen, err));
        TRY_OUT(open_log(seen, err));
        seen_files_purge(seen);
    }
    *out = seen;
out:
    if (status != OK)
        seen_files_close(seen);
    return status;
}

static enum status verify_once(struct vfs *vfs, const char *dir, const struct seen_mark *durable,
                               struct error *err)
{
    bool found = false;
    struct seen_files *seen = new_set(vfs, dir, INT64_MAX);
    enum status status = load(seen, durable, &found, err);
    seen_files_close(seen);
    return status;
}

enum status seen_files_verify(struct vfs *vfs, const char *dir, const struct seen_mark *durable,
                              struct error *err)
{
    enum status status = verify_once(vfs, dir, durable, err);
    for (int i = 1; i < VERIFY_TRIES && status == STATUS_CHECKPOINT__CORRUPT; i++) {
        error_clear(err); /* a worker may have replaced what was read at that moment */
        status = verify_once(vfs, dir, durable, err);
    }
    return status;
}

void seen_files_close(struct seen_files *seen)
{
    if (seen == NULL)
        return;
    seen_merge_end(seen->merge);
    for (size_t i = 0; i < seen->run_count; i++)
        vfs_unmap(seen->runs[i].map);
    vfs_close(seen->log);
    buffer_fini(&seen->pending);
    buffer_fini(&seen->unmarked);
    free(seen->slots);
    free(seen->dir);
    free(seen);
}

/* The entries in memory, sorted; the caller frees *out. */
static struct seen_run memory_as_run(const struct seen_files *seen, struct seen_entry **out)
{
    struct seen_entry *entries = heap_calloc(seen->memory_count + 1, sizeof *entries);
    *out = entries;
    size_t count = 0;
    for (size_t i = 0; i < seen->slot_count; i++)
        if (seen->slots[i].high != 0 || seen->slots[i].low != 0)
            entries[count++] = seen->slots[i];
    qsort(entries, count, sizeof *entries, seen_entry_compare);
    return (struct seen_run){.count = count, .entries = entries};
}

/* The first of the runs to merge, which are all from there on: the largest that is not twice as
 * large as all smaller ones together; run_count: none. */
static size_t first_to_merge(const struct seen_files *seen)
{
    size_t first = seen->run_count;
    uint64_t sum = 0;
    for (size_t i = seen->run_count; i-- > 0;) {
        if (i + 1 < seen->run_count && seen->runs[i].count <= 2 * sum)
            first = i;
        sum += seen->runs[i].count;
    }
    return first;
}

/* A failed merge costs its work.  What it wrote may count if it was the manifest that failed. */
static void drop_merge(struct seen_files *seen)
{
    seen_merge_end(seen->merge);
    seen->merge = NULL;
    seen->credit = 0;
    if (!seen->manifest_unsure)
        remove_file(seen, seen->merge_generation, "run");
}

/* What a merge of the runs from `first` on reads for each entry that is new: so much that it ends
 * before too many runs have come. */
static uint64_t rate_of(const struct seen_files *seen, size_t first)
{
    uint64_t total = 0;
    for (size_t i = first; i < seen->run_count; i++)
        total += seen->runs[i].count;
    uint64_t least = total / (RUNS_WHILE_BUSY * seen->memory_max) + 1;
    return least > MERGE_RATE ? least : MERGE_RATE;
}

static enum status begin_merge(struct seen_files *seen, size_t first, struct error *err)
{
    char path[PATH_BYTES_MAX];
    seen->merge_generation = seen->next_generation++;
    seen->merge_done = false;
    file_path(seen, seen->merge_generation, "run", path);
    return seen_merge_begin(seen->vfs, path, &seen->runs[first], seen->run_count - first,
                            &seen->merge, err);
}

/* The run of the merge, which is durable, takes the place of its inputs. */
static enum status end_merge(struct seen_files *seen, struct error *err)
{
    struct seen_run before[SEEN_RUNS_MAX];
    size_t before_count = seen->run_count;
    char path[PATH_BYTES_MAX];
    struct seen_run merged = {.generation = seen->merge_generation,
                              .count = seen_merge_count(seen->merge)};
    file_path(seen, merged.generation, "run", path);
    TRY(seen_run_map(seen->vfs, path, &merged, err));
    memcpy(before, seen->runs, sizeof before);
    seen->run_count = 0;
    for (size_t i = 0; i < before_count; i++)
        if (!seen_merge_reads(seen->merge, &before[i]))
            seen->runs[seen->run_count++] = before[i];
    insert_run(seen, merged);
    enum status status = put_manifest(seen, err);
    if (status != OK) {
        vfs_unmap(merged.map);
        memcpy(seen->runs, before, sizeof before);
        seen->run_count = before_count;
        return status;
    }
    for (size_t i = 0; i < before_count; i++)
        if (seen_merge_reads(seen->merge, &before[i])) {
            vfs_unmap(before[i].map);
            seen->replaced[seen->replaced_count++] = before[i];
        }
    seen_merge_end(seen->merge);
    seen->merge = NULL;
    return OK;
}

/* Reads so many entries more, or makes what is done count. */
static enum status advance_merge(struct seen_files *seen, uint64_t entries, struct error *err)
{
    enum status status = OK;
    if (seen->merge_done)
        status = end_merge(seen, err);
    else
        status = seen_merge_step(seen->merge, entries, seen->purge_us, &seen->merge_done, err);
    if (status != OK)
        drop_merge(seen);
    return status;
}

/* Removes what was replaced, at the pace of so many bytes in a call.  No file is cut in place:
 * whoever has it mapped, as a server that looks at the checkpoint, would die reading it. */
static void remove_replaced(struct seen_files *seen, uint64_t bytes)
{
    while (seen->replaced_count > 0) {
        struct seen_run *last = &seen->replaced[seen->replaced_count - 1];
        uint64_t size = last->count * ENTRY_BYTES; /* for which no call has paid yet */
        if (size > bytes) {
            last->count -= bytes / ENTRY_BYTES;
            return;
        }
        bytes -= size;
        remove_file(seen, last->generation, "run");
        seen->replaced_count--;
    }
}

enum status seen_files_merge(struct seen_files *seen, struct error *err)
{
    CHECK(seen != NULL);
    uint64_t added = seen->added;
    bool run_made = seen->run_made && added < seen->memory_max;
    seen->added = 0;
    seen->run_made = false;
    if (seen->replaced_count > 0) {
        if (!run_made)
            remove_replaced(seen, (4 * seen->memory_max + 64 * added) * ENTRY_BYTES);
        return OK;
    }
    size_t first = first_to_merge(seen);
    if (seen->merge == NULL && first == seen->run_count) {
        seen->credit = 0;
        return OK;
    }
    if (seen->merge == NULL)
        seen->merge_rate = rate_of(seen, first);
    seen->credit += added * seen->merge_rate;
    if (seen->credit < seen->merge_step || run_made) /* this batch has waited for a run */
        return OK;
    if (seen->manifest_unsure)
        TRY(put_manifest(seen, err));
    if (seen->merge == NULL)
        TRY(begin_merge(seen, first, err));
    uint64_t entries = seen->credit;
    seen->credit = 0;
    return advance_merge(seen, entries, err);
}

/* There is always room for one more run. */
static enum status make_room(struct seen_files *seen, struct error *err)
{
    if (seen->run_count < SEEN_RUNS_MAX)
        return OK;
    remove_replaced(seen, UINT64_MAX);
    size_t first = first_to_merge(seen);
    if (seen->merge == NULL)
        TRY(begin_merge(seen, first < seen->run_count ? first : seen->run_count - 2, err));
    while (seen->merge != NULL)
        TRY(advance_merge(seen, UINT64_MAX, err));
    return OK;
}

/* Makes the new run and the new, empty log the ones that count. */
static enum status publish_run(struct seen_files *seen, struct seen_run run, struct error *err)
{
    struct seen_run before[SEEN_RUNS_MAX];
    size_t before_count = seen->run_count;
    uint64_t log_before = seen->log_generation;
    memcpy(before, seen->runs, sizeof before);
    insert_run(seen, run);
    seen->log_generation = seen->next_generation++;
    enum status status = put_manifest(seen, err);
    if (status != OK) {
        memcpy(seen->runs, before, sizeof before);
        seen->run_count = before_count;
        seen->log_generation = log_before;
        return status;
    }
    vfs_close(seen->log);
    seen->log = NULL;
    seen->log_bytes = 0;
    seen->log_crc = 0;
    seen->durable = (struct seen_mark){.generation = seen->log_generation};
    remove_file(seen, log_before, "log");
    clear_table(seen);
    return OK;
}

static enum status write_run(struct seen_files *seen, const char *path,
                             const struct seen_run *memory, uint64_t *count, struct error *err)
{
    bool done = false;
    struct seen_merge *merge = NULL;
    TRY(seen_merge_begin(seen->vfs, path, memory, 1, &merge, err));
    enum status status = seen_merge_step(merge, UINT64_MAX, seen->purge_us, &done, err);
    *count = seen_merge_count(merge);
    seen_merge_end(merge);
    return status;
}

static enum status make_run(struct seen_files *seen, struct error *err)
{
    TRY(make_room(seen, err));
    struct seen_entry *entries = NULL;
    struct seen_run memory = memory_as_run(seen, &entries);
    struct seen_run run = {.generation = seen->next_generation++};
    char path[PATH_BYTES_MAX];
    file_path(seen, run.generation, "run", path);
    enum status status = write_run(seen, path, &memory, &run.count, err);
    if (status == OK)
        status = seen_run_map(seen->vfs, path, &run, err);
    if (status == OK)
        status = seen_run_check(&run, path, err);
    if (status == OK)
        status = publish_run(seen, run, err);
    free(entries);
    if (status == OK)
        return open_log(seen, err);
    vfs_unmap(run.map);
    if (!seen->manifest_unsure)
        remove_file(seen, run.generation, "run");
    return status;
}

static enum status append_record(struct seen_files *seen, struct bytes entries, struct error *err)
{
    uint32_t header[2] = {(uint32_t)entries.size_bytes,
                          crc32c(0, entries.data, entries.size_bytes)};
    TRY(vfs_append(seen->log, bytes_of(header, sizeof header), err));
    TRY(vfs_append(seen->log, entries, err));
    seen->log_crc = crc32c(seen->log_crc, header, sizeof header);
    seen->log_crc = crc32c(seen->log_crc, entries.data, entries.size_bytes);
    seen->log_bytes += sizeof header + entries.size_bytes;
    return OK;
}

/* After a failure the log is opened anew and cut to its last whole record: what follows a torn one
 * would not be read. */
static enum status write_pending(struct seen_files *seen, struct error *err)
{
    struct buffer *pending = &seen->pending;
    size_t written = 0;
    enum status status = OK;
    if (seen->log == NULL)
        TRY(open_log(seen, err));
    while (status == OK && written < pending->size_bytes) {
        size_t left = pending->size_bytes - written;
        size_t part = left < RECORD_BYTES_MAX ? left : RECORD_BYTES_MAX;
        status = append_record(seen, bytes_of(pending->data + written, part), err);
        if (status == OK)
            written += part;
    }
    if (status != OK) {
        vfs_close(seen->log);
        seen->log = NULL;
        memmove(pending->data, pending->data + written, pending->size_bytes - written);
        pending->size_bytes -= written;
    } else if (written > WRITE_CHUNK) {
        buffer_fini(pending);
    } else {
        pending->size_bytes = 0;
    }
    return status;
}

void seen_files_confirm(struct seen_files *seen, struct bytes identity)
{
    CHECK(seen != NULL);
    struct seen_entry entry = entry_of(identity, 0);
    struct seen_entry *entries = (struct seen_entry *)(void *)seen->unmarked.data;
    size_t count = seen->unmarked.size_bytes / sizeof entry;
    size_t from = 0;
    for (size_t to = count; from < to;) { /* the first that is not before it */
        size_t middle = from + (to - from) / 2;
        if (seen_entry_compare(&entries[middle], &entry) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    for (; from < count && seen_entry_compare(&entries[from], &entry) == 0; from++)
        entries[from].mtime_us = CONFIRMED;
}

enum status seen_files_check(struct seen_files *seen, struct error *err)
{
    CHECK(seen != NULL);
    char path[PATH_BYTES_MAX];
    const struct seen_entry *entries = (const struct seen_entry *)(const void *)seen->unmarked.data;
    for (size_t i = 0; i < seen->unmarked.size_bytes / sizeof *entries; i++) {
        if (entries[i].mtime_us == CONFIRMED)
            continue;
        file_path(seen, seen->log_generation, "log", path);
        return corrupt(err, path,
                       "it has files of batches that the log of the checkpoint does not have: that "
                       "was cut short, or is an old copy");
    }
    buffer_fini(&seen->unmarked);
    return OK;
}

enum status seen_files_flush(struct seen_files *seen, bool *synced, struct error *err)
{
    CHECK(seen != NULL);
    *synced = false;
    if (seen->dir == NULL)
        return OK;
    if (seen->manifest_unsure)
        TRY(put_manifest(seen, err));
    if (seen->memory_count < seen->memory_max)
        return write_pending(seen, err);
    buffer_fini(&seen->pending);
    TRY(make_run(seen, err));
    seen->run_made = true;
    *synced = true;
    return OK;
}

enum status seen_files_sync(struct seen_files *seen, struct error *err)
{
    CHECK(seen != NULL);
    if (seen->dir == NULL)
        return OK;
    if (seen->manifest_unsure)
        TRY(put_manifest(seen, err));
    if (seen->log == NULL)
        TRY(open_log(seen, err));
    TRY(vfs_sync(seen->log, err));
    seen->durable = (struct seen_mark){
        .generation = seen->log_generation, .log_bytes = seen->log_bytes, .crc = seen->log_crc};
    return OK;
}

struct seen_mark seen_files_mark(const struct seen_files *seen)
{
    CHECK(seen != NULL);
    return seen->durable;
}

bool seen_mark_after(const struct seen_mark *a, const struct seen_mark *b)
{
    return a->generation != b->generation ? a->generation > b->generation
                                          : a->log_bytes > b->log_bytes;
}

uint64_t seen_files_count(const struct seen_files *seen)
{
    uint64_t count = seen->memory_count;
    for (size_t i = 0; i < seen->run_count; i++)
        count += seen->runs[i].count;
    return count;
}

size_t seen_files_runs(const struct seen_files *seen)
{
    return seen->run_count;
}

void seen_files_resize(struct seen_files *seen, size_t memory_max, uint64_t merge_step)
{
    CHECK(memory_max > 0);
    seen->memory_max = memory_max;
    seen->merge_step = merge_step;
}
