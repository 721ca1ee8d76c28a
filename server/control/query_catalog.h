/*
 * The durable side of queries: what survives the server.
 *
 *     <dataDir>/queries/<uid>/query.json     spec, generation, desired state, outcome
 *                            /spec.json      what the worker is started with
 *                            /progress.ndjson  runs.ndjson  results.ndjson  worker.log
 *     <dataDir>/checkpoints/<uid>/           checkpoint of a query that names none
 *
 * query.json is replaced atomically and synced before the API answers; a directory without it is
 * what is left of an interrupted create or delete, and is removed at start.
 *
 * A deletion that takes more than one step is written into query.json first ("deleting"): whoever
 * loads such a record has to finish it with query_catalog_remove(), which may be done again however
 * far it came before.
 *
 * Threads: the main thread.
 */
#ifndef SERVER_CONTROL_QUERY_CATALOG_H
#define SERVER_CONTROL_QUERY_CATALOG_H

#include "base/vfs.h"
#include "control/query_snapshot.h"

struct query_catalog;

/* What is durable about the state: an end that a restart of the server does not change. */
struct query_outcome {
    enum query_state state; /* STOPPED, FINISHED, FAILED */
    int64_t since_us;       /* 0: it has not ended */
    char reason[QUERY_REASON_SIZE];
    struct error error; /* FAILED */
};

struct catalog_entry {
    struct query_definition *definition; /* the caller's reference */
    bool desired_running;
    bool damaged;
    bool deleting, purge; /* it is to be removed; purge: with its checkpoint */
    struct query_outcome outcome;
};

/* Errors: IO_FAILURE. */
MUST_USE enum status query_catalog_open(struct vfs *vfs, const char *data_dir,
                                        struct query_catalog **out, struct error *err);
void query_catalog_close(struct query_catalog *catalog); /* NULL is fine */

/* All entries, in one allocation that the caller frees (the definitions are its references too).
 * A record that cannot be read is left alone; its entry is `damaged`: FAILED with
 * QUERY_RECORD_DAMAGED, under the name that the record still says or else "damaged-<directory>". */
MUST_USE enum status query_catalog_load(struct query_catalog *catalog, struct catalog_entry **out,
                                        size_t *count, struct error *err);

/* Gives a new definition its uid, times, generation 1, directory and checkpoint. */
void query_catalog_adopt(struct query_catalog *catalog, struct query_definition *definition,
                         int64_t now_us);
/* As adopt, for the successor of `old`: same uid and directory, next generation. */
void query_catalog_succeed(struct query_catalog *catalog, struct query_definition *definition,
                           const struct query_definition *old, int64_t now_us);

/* Durable when it returns.  Errors: IO_FAILURE, DISK_FULL. */
MUST_USE enum status query_catalog_put(struct query_catalog *catalog,
                                       const struct catalog_entry *entry, struct error *err);
/* Writes the worker's spec file; *path is in `arena`. */
MUST_USE enum status query_catalog_write_spec(struct query_catalog *catalog, struct arena *arena,
                                              const struct query_definition *definition,
                                              const char **path, struct error *err);
/* Removes the entry and its directory; with `purge` also the checkpoint, under its lock, and the
 * record says so before anything is gone (unless the disk is too full for that: then the entry is
 * the last that goes).  An error leaves the entry, perhaps as one that is `deleting`: put it again
 * if it is to stay.  Errors: CHECKPOINT.LOCKED, IO_FAILURE. */
MUST_USE enum status query_catalog_remove(struct query_catalog *catalog,
                                          const struct catalog_entry *entry, struct error *err);

#endif
