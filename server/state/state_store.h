/*
 * The state store: the sorted, durable home of the state of one query, beside the tables in memory.
 *
 *     state/db/                      what works at the moment: scratch, made again at every start
 *     state/snapshot-<version>/      all entries as they were after batch <version>
 *         MANIFEST.tidemill          its files with their sizes and checksums, itself checksummed
 *         ...                        the files, shared with other snapshots by hard links
 *     state/snapshot-<version>.part  one that is being written; removed by the next start
 *
 * An entry is a key in a bucket of an operator in a partition, and a value; keys and values are
 * those of the changelog (state/changelog.h).  Entries are sorted by operator, partition, bucket
 * (as a signed number) and key (bytes).
 *
 * The store is fed from the changelog and from nothing else: state_store_advance() hands over a
 * version and returns; a thread in the background reads the records of the batches since the last
 * one from the feed, lets the last change of each key win, sorts, and merges the result into the
 * db.  The batch thread never waits, unless it asks to (state_store_wait()).
 *
 * At a start the newest snapshot whose files are all whole is taken; a damaged one is passed over
 * with a warning.  Which changes the feed must still have is state_store_oldest_needed().
 *
 * There are two engines: RocksDB, whose library is loaded when there is something to
 * keep, and memory, which keeps its snapshots through the vfs, so that the crash model applies to
 * them, and does its work inside the calls, so that tests are the same every time.
 *
 * Threads: open, close, advance and wait are called by one thread; reads by any number of threads,
 * also while the background works.  A read sees every change up to state_store_applied() and may
 * see some of later versions that were asked for: it is exact for keys that did not change since.
 */
#ifndef SERVER_STATE_STATE_STORE_H
#define SERVER_STATE_STATE_STORE_H

#include "base/log.h"
#include "base/vfs.h"

#define STATE_NO_VERSION (-1)

struct state_store;

enum state_store_kind {
    STATE_STORE_MEMORY,
    STATE_STORE_ROCKSDB,
};

/* Takes the payloads of STATE records, which are valid during the call. */
struct state_record_receiver {
    enum status (*receive)(struct state_record_receiver *self, struct bytes record,
                           struct error *err);
};

/* Where changes come from.  Called in the background; must not use what the batch thread uses. */
struct state_feed {
    /* The records of the batches [from, to], in their order. */
    enum status (*replay)(struct state_feed *self, int64_t from, int64_t to,
                          struct state_record_receiver *receiver, struct error *err);
};

struct state_store_config {
    enum state_store_kind kind;
    struct vfs *vfs;
    struct log *log; /* NULL: none */
    const char *dir; /* the folder state/ of the checkpoint */
    struct state_feed *feed;
    int64_t version;       /* the newest state; snapshots after it are left alone */
    int64_t first_batch;   /* the oldest batch that the feed has */
    int64_t versions_kept; /* so many versions stay within reach, at least 1 */
    uint64_t memory_bytes; /* about so much is used, if that is possible; 0: no matter */
    /* Only looks: changes nothing on the disk, applies the feed up to `version` in memory.  For
     * the inspection of any version that is within reach; no advance. */
    bool read_only;
};

/*
 * Opens what is in `dir`.  Half-written snapshots and the old db are removed.
 * Errors: CHECKPOINT.CORRUPT if no whole snapshot is left that the feed reaches back to;
 * LIBRARY_MISSING, IO_FAILURE, DISK_FULL; the feed's.
 */
MUST_USE enum status state_store_open(const struct state_store_config *config,
                                      struct state_store **out, struct error *err);
/* What is in the background is not worth waiting for: it ends as soon as it can, and nothing of it
 * is kept.  The next start has the changes from the feed.  Only close may follow. */
void state_store_abandon(struct state_store *store);
/* Waits for what is in the background.  NULL is fine. */
void state_store_close(struct state_store *store);

/* The version whose changes are all in the store; STATE_NO_VERSION: empty.  After an open (not
 * read-only) it is that of the snapshot: later changes are the caller's to replay into its tables.
 */
int64_t state_store_applied(const struct state_store *store);

/* Versions below or at `version`, which is durable in the feed, may be applied; with `snapshot` one
 * is taken there.  Returns at once (the engine in memory has then done it).  Failures are logged;
 * the next request tries again.  A request while another is under way is put off to the next. */
void state_store_advance(struct state_store *store, int64_t version, bool snapshot);

/* Waits until `version` is applied.  Errors: what stopped it. */
MUST_USE enum status state_store_wait(struct state_store *store, int64_t version,
                                      struct error *err);

/* Whether a request is under way. */
bool state_store_busy(const struct state_store *store);

/* How many requests have failed one after another; *last (NULL: not wanted) is what the last of
 * them said, set if there is one and nothing is under way. */
uint32_t state_store_failures(const struct state_store *store, struct error *last);

/* The oldest batch whose changes the feed has to keep. */
int64_t state_store_oldest_needed(const struct state_store *store);
/* The newest snapshot that is durable, STATE_NO_VERSION: none; and what its files hold. */
int64_t state_store_newest_snapshot(const struct state_store *store);
uint64_t state_store_snapshot_bytes(const struct state_store *store);

struct state_store_entry {
    uint32_t operator_id;
    uint32_t partition;
    int64_t bucket;
    struct bytes key;
    struct bytes value;
};

/* Entry and bytes are valid during the call.  An error ends the scan and is returned by it. */
struct state_entry_receiver {
    enum status (*receive)(struct state_entry_receiver *self, const struct state_store_entry *entry,
                           struct error *err);
};

struct state_place {
    uint32_t operator_id;
    uint32_t partition;
    int64_t bucket; /* not used where all buckets are meant */
};

/* The entries of one bucket; of all buckets of a partition; and of everything; in their order. */
MUST_USE enum status state_store_scan(struct state_store *store, struct state_place place,
                                      struct state_entry_receiver *receiver, struct error *err);
MUST_USE enum status state_store_scan_partition(struct state_store *store, struct state_place place,
                                                struct state_entry_receiver *receiver,
                                                struct error *err);
MUST_USE enum status state_store_scan_all(struct state_store *store,
                                          struct state_entry_receiver *receiver, struct error *err);

struct state_bucket_info {
    int64_t bucket;
    uint64_t entries;
    uint64_t bytes; /* of keys and values */
};
struct state_bucket_receiver {
    enum status (*receive)(struct state_bucket_receiver *self, const struct state_bucket_info *info,
                           struct error *err);
};
/* The buckets of a partition that have entries, by their ends.  Reads all of them. */
MUST_USE enum status state_store_buckets(struct state_store *store, struct state_place place,
                                         struct state_bucket_receiver *receiver, struct error *err);

/* What the check of one snapshot found. */
struct state_snapshot_info {
    int64_t version;
    uint64_t files;
    uint64_t bytes;
    bool whole;
    const char *problem; /* of one that is not */
};
/* Checks all snapshots in `dir`, ascending, in `arena`.  Errors: IO_FAILURE. */
MUST_USE enum status state_store_verify(struct vfs *vfs, const char *dir, struct arena *arena,
                                        struct state_snapshot_info **out, size_t *count,
                                        struct error *err);

/* What a store that is opened would begin with. */
struct state_start {
    int64_t version;     /* of the newest whole snapshot; STATE_NO_VERSION: of none */
    int64_t damaged;     /* the newest, if it is not whole, else STATE_NO_VERSION */
    const char *problem; /* of that one */
};
/* Looks, with vfs, dir, version and first_batch of the config, and changes nothing: reads the files
 * of the newest snapshot, and of older ones until one is whole.  Errors: IO_FAILURE, and
 * CHECKPOINT.CORRUPT if it could not begin. */
MUST_USE enum status state_store_foresee(const struct state_store_config *config,
                                         struct arena *arena, struct state_start *out,
                                         struct error *err);

#endif
