#include "source/seen_files.h"

#include "base/buffer.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN_MAGIC        "TMSEEN1\n"
#define RUN_FOOTER       24
#define ENTRY_BYTES      24
#define RUNS_MAX         48
#define MANIFEST_MAX     65536
#define TABLE_SLOTS      ((size_t)SEEN_MEMORY_MAX * 4) /* a batch may add more: the table grows */
#define WRITE_CHUNK      ((size_t)1 << 20)
#define RECORD_BYTES_MAX (WRITE_CHUNK * ENTRY_BYTES)
#define PATH_BYTES_MAX   4096
#define VERIFY_TRIES     3

struct seen_entry {
    uint64_t high; /* the order of runs */
    uint64_t low;
    int64_t mtime_us;
};

_Static_assert(sizeof(struct seen_entry) == ENTRY_BYTES, "entries are written as they are");

struct run {
    uint64_t generation;
    uint64_t count;
    struct vfs_map *map;
    const struct seen_entry *entries; /* in the map */
};

struct seen_files {
    struct vfs *vfs;
    char *dir; /* NULL: in memory only */
    int64_t max_age_us;
    int64_t latest_us;         /* newest time added; INT64_MIN: none */
    int64_t purge_us;          /* older entries do not count; INT64_MIN: none */
    struct run runs[RUNS_MAX]; /* oldest first */
    size_t run_count;
    /* Open addressing; high == low == 0 is an empty slot (a hash of 0 is stored as 1). */
    struct seen_entry *slots;
    size_t slot_count;
    size_t memory_count;
    struct buffer pending; /* entries not yet in the log, but none when a run is due */
    struct vfs_file *log;  /* NULL: closed since an append failed */
    uint64_t log_bytes;
    uint32_t log_crc; /* of log_bytes */
    struct seen_mark durable;
    uint64_t log_generation;
    uint64_t next_generation;
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

static bool same_file(const struct seen_entry *a, const struct seen_entry *b)
{
    return a->high == b->high && a->low == b->low;
}

/* The slot of the entry, or the empty one where it belongs. */
static struct seen_entry *find_slot(const struct seen_files *seen, const struct seen_entry *entry)
{
    size_t mask = seen->slot_count - 1;
    for (size_t i = (size_t)entry->low & mask;; i = (i + 1) & mask) {
        struct seen_entry *slot = &seen->slots[i];
        if ((slot->high == 0 && slot->low == 0) || same_file(slot, entry))
            return slot;
    }
}

static void grow_table(struct seen_files *seen)
{
    struct seen_entry *old = seen->slots;
    size_t old_count = seen->slot_count;
    seen->slot_count = old_count == 0 ? 1024 : old_count * 2;
    seen->slots = calloc(seen->slot_count, sizeof *seen->slots);
    CHECK(seen->slots != NULL);
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

static const struct seen_entry *find_in_run(const struct run *run, const struct seen_entry *entry)
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
    return low < run->count && same_file(&run->entries[low], entry) ? &run->entries[low] : NULL;
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
        const struct seen_entry *found = find_in_run(&seen->runs[i], &entry);
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
    if (seen->memory_count < SEEN_MEMORY_MAX)
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
    buffer_fini(&text);
    return status;
}

static enum status corrupt(struct error *err, const char *path, const char *reason)
{
    return error_raise(err, STATUS_CHECKPOINT__CORRUPT, "path", path, "reason", reason, NULL);
}

static enum status map_run(struct seen_files *seen, struct run *run, struct error *err)
{
    char path[PATH_BYTES_MAX];
    file_path(seen, run->generation, "run", path);
    struct bytes content;
    enum status status = vfs_map(seen->vfs, path, &run->map, &content, err);
    if (status == STATUS_FILE_NOT_FOUND) {
        error_clear(err);
        return corrupt(err, path, "this part of the list of files read is gone");
    }
    TRY(status);
    bool whole = content.size_bytes >= RUN_FOOTER &&
                 content.size_bytes - RUN_FOOTER == run->count * ENTRY_BYTES;
    if (whole) {
        const uint8_t *footer = content.data + run->count * ENTRY_BYTES;
        uint64_t count = 0;
        uint32_t crc = 0;
        memcpy(&count, footer + 8, sizeof count);
        memcpy(&crc, footer + 16, sizeof crc);
        whole = memcmp(footer, RUN_MAGIC, 8) == 0 && count == run->count &&
                crc32c(0, content.data, content.size_bytes - RUN_FOOTER) == crc;
    }
    if (!whole) {
        vfs_unmap(run->map);
        run->map = NULL;
        return corrupt(err, path, "this part of the list of files read is damaged");
    }
    run->entries = (const void *)content.data;
    return OK;
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
        } else if (parse_line(line, "run", &first, &second) && seen->run_count < RUNS_MAX) {
            generation = (uint64_t)first;
            seen->runs[seen->run_count++] =
                (struct run){.generation = generation, .count = (uint64_t)second};
        }
        if (generation >= seen->next_generation)
            seen->next_generation = generation + 1;
    }
    return true;
}

static enum status load_manifest(struct seen_files *seen, struct arena *arena, struct error *err)
{
    char path[PATH_BYTES_MAX];
    (void)snprintf(path, sizeof path, "%s/seen", seen->dir);
    struct bytes content;
    TRY(vfs_get(seen->vfs, path, MANIFEST_MAX, arena, &content, err));
    char *text = arena_strndup(arena, content.data, content.size_bytes);
    if (strncmp(text, "tidemill-seen 1\n", 16) != 0)
        return error_raise(err, STATUS_CHECKPOINT__UNSUPPORTED_VERSION, "path", path, "version",
                           arena_strndup(arena, text, strcspn(text, "\n")), "supported",
                           "tidemill-seen 1", NULL);
    if (!parse_manifest(seen, text))
        return corrupt(err, path, "the list of files read is damaged");
    for (size_t i = 0; i < seen->run_count; i++)
        TRY(map_run(seen, &seen->runs[i], err));
    return OK;
}

/* Takes the whole records of the log; *valid is where they end. */
static void replay_log(struct seen_files *seen, struct bytes content, uint64_t *valid)
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
        }
        at += 8 + size;
    }
    *valid = at;
}

/* A torn end is cut, for the intents repeat it; but not before what was durable. */
static enum status read_log(struct seen_files *seen, const struct seen_mark *durable,
                            struct error *err)
{
    char path[PATH_BYTES_MAX];
    file_path(seen, seen->log_generation, "log", path);
    bool same = durable->generation == seen->log_generation;
    struct vfs_map *map = NULL;
    struct bytes content = bytes_of(NULL, 0);
    enum status status = vfs_map(seen->vfs, path, &map, &content, err);
    if (status == STATUS_FILE_NOT_FOUND) {
        error_clear(err);
        if (same && durable->log_bytes > 0)
            return corrupt(err, path, "the log of files read is gone");
        return OK;
    }
    TRY(status);
    replay_log(seen, content, &seen->log_bytes);
    seen->log_crc = crc32c(0, content.data, seen->log_bytes);
    if (same && seen->log_bytes < durable->log_bytes)
        status = corrupt(err, path, "the log of files read is damaged, cut short or an old copy");
    else if (same && crc32c(0, content.data, durable->log_bytes) != durable->crc)
        status = corrupt(err, path, "the log of files read is not the one this query wrote");
    vfs_unmap(map);
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

static struct seen_files *new_set(struct vfs *vfs, const char *dir, int64_t max_age_us)
{
    struct seen_files *seen = calloc(1, sizeof *seen);
    CHECK(seen != NULL);
    seen->vfs = vfs;
    seen->max_age_us = max_age_us;
    seen->latest_us = INT64_MIN;
    seen->purge_us = INT64_MIN;
    grow_table(seen);
    if (dir != NULL) {
        seen->dir = strdup(dir);
        CHECK(seen->dir != NULL);
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
            TRY_OUT(put_manifest(seen, err));
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
    for (size_t i = 0; i < seen->run_count; i++)
        vfs_unmap(seen->runs[i].map);
    vfs_close(seen->log);
    buffer_fini(&seen->pending);
    free(seen->slots);
    free(seen->dir);
    free(seen);
}

static int compare_entries(const void *a, const void *b)
{
    const struct seen_entry *left = a;
    const struct seen_entry *right = b;
    if (left->high != right->high)
        return left->high < right->high ? -1 : 1;
    return left->low < right->low ? -1 : left->low > right->low;
}

/* The entries in memory, sorted; the caller frees *out. */
static struct run memory_as_run(const struct seen_files *seen, struct seen_entry **out)
{
    struct seen_entry *entries = calloc(seen->memory_count + 1, sizeof *entries);
    CHECK(entries != NULL);
    *out = entries;
    size_t count = 0;
    for (size_t i = 0; i < seen->slot_count; i++)
        if (seen->slots[i].high != 0 || seen->slots[i].low != 0)
            entries[count++] = seen->slots[i];
    qsort(entries, count, sizeof *entries, compare_entries);
    return (struct run){.count = count, .entries = entries};
}

struct run_writer {
    struct vfs_file *file;
    struct buffer chunk;
    uint64_t count;
    uint32_t crc;
};

static enum status write_chunk(struct run_writer *writer, struct error *err)
{
    writer->crc = crc32c(writer->crc, writer->chunk.data, writer->chunk.size_bytes);
    TRY(vfs_append(writer->file, buffer_bytes(&writer->chunk), err));
    buffer_clear(&writer->chunk);
    return OK;
}

/* Merges the inputs, newest time of a file winning, without what is too old. */
static enum status merge_entries(struct run_writer *writer, const struct run *inputs, size_t count,
                                 int64_t purge_us, struct error *err)
{
    uint64_t at[RUNS_MAX + 1] = {0};
    for (;;) {
        const struct seen_entry *least = NULL;
        for (size_t i = 0; i < count; i++)
            if (at[i] < inputs[i].count &&
                (least == NULL || compare_entries(&inputs[i].entries[at[i]], least) < 0))
                least = &inputs[i].entries[at[i]];
        if (least == NULL)
            return OK;
        struct seen_entry entry = *least;
        for (size_t i = 0; i < count; i++) {
            if (at[i] == inputs[i].count || !same_file(&inputs[i].entries[at[i]], &entry))
                continue;
            if (inputs[i].entries[at[i]].mtime_us > entry.mtime_us)
                entry.mtime_us = inputs[i].entries[at[i]].mtime_us;
            at[i]++;
        }
        if (entry.mtime_us < purge_us)
            continue;
        buffer_add(&writer->chunk, &entry, sizeof entry);
        writer->count++;
        if (writer->chunk.size_bytes >= WRITE_CHUNK)
            TRY(write_chunk(writer, err));
    }
}

static enum status write_run(struct seen_files *seen, const char *path, const struct run *inputs,
                             size_t count, uint64_t *written, struct error *err)
{
    enum status status = OK;
    struct run_writer writer = {0};
    TRY(vfs_open(seen->vfs, path, 0, 0, &writer.file, err));
    TRY_OUT(merge_entries(&writer, inputs, count, seen->purge_us, err));
    TRY_OUT(write_chunk(&writer, err));
    uint8_t footer[RUN_FOOTER] = {0};
    memcpy(footer, RUN_MAGIC, sizeof RUN_MAGIC - 1);
    memcpy(footer + 8, &writer.count, sizeof writer.count);
    memcpy(footer + 16, &writer.crc, sizeof writer.crc);
    TRY_OUT(vfs_append(writer.file, bytes_of(footer, sizeof footer), err));
    TRY_OUT(vfs_sync(writer.file, err));
    *written = writer.count;
out:
    vfs_close(writer.file);
    buffer_fini(&writer.chunk);
    return status;
}

/* How many of the newest runs are merged with `count` new entries: those not twice as large as
 * what follows them, and as many as it takes to stay below the limit. */
static size_t runs_to_merge(const struct seen_files *seen, uint64_t count)
{
    size_t merged = 0;
    uint64_t sum = count;
    while (merged < seen->run_count) {
        uint64_t next = seen->runs[seen->run_count - 1 - merged].count;
        if (next > 2 * sum && seen->run_count - merged < RUNS_MAX)
            break;
        sum += next;
        merged++;
    }
    return merged;
}

static void remove_file(struct seen_files *seen, uint64_t generation, const char *extension)
{
    struct error ignored = ERROR_INIT;
    char path[PATH_BYTES_MAX];
    file_path(seen, generation, extension, path);
    /* A file left behind costs space, nothing else. */
    if (vfs_remove(seen->vfs, path, &ignored) != OK)
        error_clear(&ignored);
}

/* Makes the new run and the new, empty log the ones that count. */
static enum status publish_run(struct seen_files *seen, struct run run, size_t merged,
                               struct error *err)
{
    struct run before[RUNS_MAX];
    size_t before_count = seen->run_count;
    uint64_t log_before = seen->log_generation;
    memcpy(before, seen->runs, sizeof before);
    TRY(map_run(seen, &run, err));
    seen->run_count -= merged;
    seen->runs[seen->run_count++] = run;
    seen->log_generation = seen->next_generation++;
    enum status status = put_manifest(seen, err);
    if (status != OK) {
        vfs_unmap(run.map);
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
    for (size_t i = before_count - merged; i < before_count; i++) {
        vfs_unmap(before[i].map);
        remove_file(seen, before[i].generation, "run");
    }
    clear_table(seen);
    return open_log(seen, err);
}

static enum status make_run(struct seen_files *seen, struct error *err)
{
    struct run inputs[RUNS_MAX + 1];
    struct seen_entry *entries = NULL;
    struct run memory = memory_as_run(seen, &entries);
    size_t merged = runs_to_merge(seen, memory.count);
    for (size_t i = 0; i < merged; i++)
        inputs[i] = seen->runs[seen->run_count - merged + i];
    inputs[merged] = memory;
    struct run run = {.generation = seen->next_generation++};
    char path[PATH_BYTES_MAX];
    file_path(seen, run.generation, "run", path);
    enum status status = write_run(seen, path, inputs, merged + 1, &run.count, err);
    if (status == OK)
        status = publish_run(seen, run, merged, err);
    free(entries);
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

enum status seen_files_flush(struct seen_files *seen, bool *synced, struct error *err)
{
    CHECK(seen != NULL);
    *synced = false;
    if (seen->dir == NULL)
        return OK;
    if (seen->memory_count < SEEN_MEMORY_MAX)
        return write_pending(seen, err);
    buffer_fini(&seen->pending);
    *synced = true;
    return make_run(seen, err);
}

enum status seen_files_sync(struct seen_files *seen, struct error *err)
{
    CHECK(seen != NULL);
    if (seen->dir == NULL)
        return OK;
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
