/*
 * A run of the files read: entries in a file, sorted, that is written once and then only mapped
 * (seen_files.h has the format); and the merge of runs into one, in steps as small as one likes.
 *
 * A merge only reads its inputs, which stay what they are until whoever runs it has made the
 * result count.  It reads each of them once, from its first entry to its last, and takes their
 * checksums on the way: what has been damaged since they were opened does not get into a run with
 * a good checksum.  What a merge has written and nobody made count is worth nothing.
 * Threads: the batch thread.
 */
#ifndef SERVER_SOURCE_SEEN_RUN_H
#define SERVER_SOURCE_SEEN_RUN_H

#include "base/vfs.h"

#define SEEN_RUNS_MAX    48
#define SEEN_ENTRY_BYTES 24

struct seen_entry {
    uint64_t high; /* the order of runs */
    uint64_t low;
    int64_t mtime_us;
};

struct seen_run {
    uint64_t generation;
    uint64_t count;
    uint32_t crc; /* of the entries, as the footer says */
    struct vfs_map *map;
    const struct seen_entry *entries; /* in the map */
};

bool seen_entry_same(const struct seen_entry *a, const struct seen_entry *b);
int seen_entry_compare(const void *a, const void *b); /* for qsort */

/* Maps the file of a run whose count is known, and looks at its footer.  CHECKPOINT__CORRUPT: it
 * is gone or has another size. */
MUST_USE enum status seen_run_map(struct vfs *vfs, const char *path, struct seen_run *run,
                                  struct error *err);
/* Whether the entries have their checksum: reads all of them. */
MUST_USE enum status seen_run_check(const struct seen_run *run, const char *path,
                                    struct error *err);
/* NULL: not in it. */
const struct seen_entry *seen_run_find(const struct seen_run *run, const struct seen_entry *entry);

struct seen_merge;

/* Merges up to SEEN_RUNS_MAX runs, sorted entries in memory (no map) among them, into the file
 * `path`, which is written anew.  The inputs are copied, their entries borrowed. */
MUST_USE enum status seen_merge_begin(struct vfs *vfs, const char *path,
                                      const struct seen_run *inputs, size_t count,
                                      struct seen_merge **out, struct error *err);
/*
 * Reads about `entries` more, without those older than purge_us; of a file that is in several
 * inputs the newest time counts.  *done: the run is whole and durable, its name too.
 * After an error the merge can only be ended.  Errors: CHECKPOINT__CORRUPT, those of vfs.
 */
MUST_USE enum status seen_merge_step(struct seen_merge *merge, uint64_t entries, int64_t purge_us,
                                     bool *done, struct error *err);
uint64_t seen_merge_count(const struct seen_merge *merge); /* entries written */
bool seen_merge_reads(const struct seen_merge *merge, const struct seen_run *run);
void seen_merge_end(struct seen_merge *merge); /* NULL is fine; leaves the file */

#endif
