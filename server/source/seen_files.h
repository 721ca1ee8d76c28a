/*
 * Which files a source has read: a set that is durable, compact, and bounded in memory.
 *
 * A file is remembered as a 128-bit hash of its identity (path or name) and its modification time.
 * Entries older than the newest time seen minus maxFileAge no longer count, and are dropped when
 * runs are merged: such a file is too old to be read anyway.
 *
 * On disk, in the source's directory of the checkpoint (numbers little-endian):
 *
 *     seen            the manifest, replaced as a whole: which log and which runs count
 *     seen-<g>.log    records  size:u32  crc32c(payload):u32  payload: entries
 *     seen-<g>.run    entries, sorted; then "TMSEEN1\n"  count:u64  crc32c(entries):u32  0:u32
 *
 * An entry is hash:u64 hash:u64 mtime_us:i64.  New entries are in memory and in the log; when
 * there are SEEN_MEMORY_MAX of them they become a run.  Runs are mapped, not loaded.
 *
 * Runs of similar size are merged (seen_run.h), one merge at a time, a piece with each batch: so
 * many entries for each new one (MERGE_RATE, more if the merge is so large that too many runs would
 * come meanwhile) that merging keeps up, and no batch waits for more than what is in proportion to
 * its own files.  Until the merge is at its end, its inputs count; then its run is durable, and
 * the manifest that names it instead of them is the one step that makes it count.  A crash before
 * that step leaves a file that the next open removes, and the merge begins anew.
 *
 * While no merge goes on each run is larger than twice all smaller ones together: there are few.
 * Should there ever be SEEN_RUNS_MAX of them, the next run waits for a whole merge.
 *
 * The log is not synced with every batch: whoever adds entries has to keep them elsewhere (in the
 * intent of the batches) until seen_files_sync().  There belongs the mark of what is durable, too:
 * it says how much of which log a crash cannot have taken.  So a log that is damaged, cut short,
 * removed or replaced by an old copy is told from one that a crash cut, and is refused; only what
 * lies behind the mark is cut, and that the intent repeats.
 *
 * Entries come to the log when the batch that read them is durable.  What stands behind the mark
 * must therefore be in the intents that the start finds: if it is not, the checkpoint's log has
 * lost batches, whose files would never be read again (seen_files_confirm, seen_files_check).
 *
 * Others may read the files while a worker writes them (the server, for a start plan or to verify a
 * checkpoint): so a run, which is mapped, is never shortened, only removed, and the log, whose torn
 * end is cut at a start, is read and not mapped.
 * Threads: the batch thread.
 */
#ifndef SERVER_SOURCE_SEEN_FILES_H
#define SERVER_SOURCE_SEEN_FILES_H

#include "base/vfs.h"

#define SEEN_MEMORY_MAX 65536

struct seen_files;

/* So much is durable: this log up to log_bytes, which have this CRC-32C, and all older ones. */
struct seen_mark {
    uint64_t generation;
    uint64_t log_bytes;
    uint32_t crc;
};

/* Opens or creates the set in `dir` (NULL: in memory only), which holds at least what `durable`
 * says.  max_age_us INT64_MAX: no age counts.
 * Errors: CHECKPOINT__CORRUPT, CHECKPOINT__UNSUPPORTED_VERSION, those of vfs. */
MUST_USE enum status seen_files_open(struct vfs *vfs, const char *dir, int64_t max_age_us,
                                     const struct seen_mark *durable, struct seen_files **out,
                                     struct error *err);
/* The same checks; nothing is changed, and what was never there is fine. */
MUST_USE enum status seen_files_verify(struct vfs *vfs, const char *dir,
                                       const struct seen_mark *durable, struct error *err);
void seen_files_close(struct seen_files *seen); /* NULL is fine */

/* Neither seen nor too old. */
bool seen_files_is_new(const struct seen_files *seen, struct bytes identity, int64_t mtime_us);

/* Files older than this are too old; INT64_MIN: none is. */
int64_t seen_files_oldest_us(const struct seen_files *seen);

/* Adds one; age is counted from the new times only after seen_files_purge(). */
void seen_files_add(struct seen_files *seen, struct bytes identity, int64_t mtime_us);
/* Counts age from the newest time added so far: at the end of planning a batch. */
void seen_files_purge(struct seen_files *seen);

/* An intent has this file.  seen_files_check, when all that the intents have were confirmed: what
 * the log of files has behind the mark was in them.  Errors: CHECKPOINT__CORRUPT. */
void seen_files_confirm(struct seen_files *seen, struct bytes identity);
MUST_USE enum status seen_files_check(struct seen_files *seen, struct error *err);

/* Writes what was added to the log, without a sync; may turn it into a run (which syncs).
 * *synced: everything added so far is durable. */
MUST_USE enum status seen_files_flush(struct seen_files *seen, bool *synced, struct error *err);
/* Merges runs for a while: as much as the files added since the last call call for.  After an
 * error nothing is lost but the merge, which begins anew. */
MUST_USE enum status seen_files_merge(struct seen_files *seen, struct error *err);
/* Makes everything flushed durable. */
MUST_USE enum status seen_files_sync(struct seen_files *seen, struct error *err);
/* What is durable now. */
struct seen_mark seen_files_mark(const struct seen_files *seen);
/* Whether `a` claims more than `b`. */
bool seen_mark_after(const struct seen_mark *a, const struct seen_mark *b);

/* Entries held, runs included. */
uint64_t seen_files_count(const struct seen_files *seen);
/* Runs there are, for tests. */
size_t seen_files_runs(const struct seen_files *seen);
/* For tests: a run is made of so many entries, and a step of a merge reads no fewer than those. */
void seen_files_resize(struct seen_files *seen, size_t memory_max, uint64_t merge_step);

#endif
