/*
 * The snapshots of a state store on the disk: their names, which of them are whole, and which are
 * kept.
 *
 * A snapshot is made under the name snapshot-<version>.part, gets its list of files last, is
 * synced, renamed, and the folder synced; one that is removed goes the way back.  So a name without
 * .part means that everything was there once, and the list says whether it still is.
 *
 * Kept are the two newest, and so many older ones that every version of the last `versions_kept`
 * can be built from a snapshot at or below it and the changes since.
 *
 * Threads: one at a time.
 */
#ifndef SERVER_STATE_STATE_STORE_FILES_H
#define SERVER_STATE_STATE_STORE_FILES_H

#include "state/state_store_engine.h"

struct state_files {
    const struct state_store_config *config;
    struct arena *arena; /* of the manifest */
    struct state_manifest manifest;
    int64_t *versions; /* ascending */
    size_t count;
};

void state_files_init(struct state_files *files, const struct state_store_config *config);
void state_files_fini(struct state_files *files);

/* Finds the newest whole snapshot that is not after the version of the config: afterwards it is the
 * newest.  Unless read-only, what is half written or damaged, and the db, are removed. */
MUST_USE enum status state_files_open(struct state_files *files, struct error *err);

/* What it would find. */
MUST_USE enum status state_files_foresee(const struct state_store_config *config,
                                         struct arena *arena, struct state_start *out,
                                         struct error *err);

/* STATE_NO_VERSION if there is none. */
int64_t state_files_newest(const struct state_files *files);
int64_t state_files_oldest_needed(const struct state_files *files);

/* Takes a snapshot and removes what is not to be kept any more. */
MUST_USE enum status state_files_save(struct state_files *files, struct state_engine *engine,
                                      int64_t version, struct error *err);

/* Whether `name` is snapshot-<version><suffix>; *suffix is borrowed from it. */
bool state_files_parse(const char *name, int64_t *version, const char **suffix);

/* state/snapshot-<version><suffix> */
char *state_files_path(const struct state_files *files, struct arena *arena, int64_t version,
                       const char *suffix);

#endif
