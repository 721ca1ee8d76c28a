/*
 * What keeps the entries of a state store: sorted, in a folder of its own (see state_store.h).
 *
 * To an engine a key is bytes that sort as the store wants it:
 *
 *     operator (4) · partition (4) · bucket (8, the sign flipped) · key        numbers big-endian
 *
 * Threads: apply and save are called by one thread at a time, reads by any, also meanwhile.
 */
#ifndef SERVER_STATE_STATE_STORE_ENGINE_H
#define SERVER_STATE_STATE_STORE_ENGINE_H

#include "base/vfs.h"
#include "state/state_store.h"

#include <stdatomic.h>

#define STATE_KEY_PREFIX_BYTES 16
#define STATE_KEY_GROUP_BYTES  8 /* operator and partition */

struct state_change {
    struct bytes key; /* with its prefix */
    struct bytes value;
    uint64_t order; /* of those of the same key the last counts; engines see only that one */
    bool gone;
};

/* All keys from `from` on and before `until`; an `until` of no bytes: all that follow. */
struct state_range {
    struct bytes from;
    struct bytes until;
};

struct state_raw_receiver {
    enum status (*receive)(struct state_raw_receiver *self, struct bytes key, struct bytes value,
                           struct error *err);
};

struct state_engine_config {
    struct vfs *vfs;
    const char *db;               /* the folder to work in; NULL: read-only */
    const char *snapshot;         /* what to begin with; NULL: nothing */
    bool small;                   /* changes come in many small pieces */
    const atomic_bool *abandoned; /* once true, apply and close hurry and leave things undone */
};

struct state_engine; /* an implementation begins with `const struct state_engine_ops *ops` */

struct state_engine_ops {
    /* `db` is not there yet. */
    enum status (*open)(const struct state_engine_config *config, struct state_engine **out,
                        struct error *err);
    void (*close)(struct state_engine *engine);
    /* First removes the ranges, then merges the changes, which are sorted and differ in keys. */
    enum status (*apply)(struct state_engine *engine, const struct state_range *ranges,
                         size_t range_count, const struct state_change *changes, size_t count,
                         struct error *err);
    /* Makes the folder `dir` hold all entries, synced but for the name of the folder. */
    enum status (*save)(struct state_engine *engine, const char *dir, struct error *err);
    enum status (*scan)(struct state_engine *engine, const struct state_range *range,
                        struct state_raw_receiver *receiver, struct error *err);
    bool inline_work; /* everything is done inside the calls */
};

struct state_engine {
    const struct state_engine_ops *ops;
};

extern const struct state_engine_ops state_engine_memory;
extern const struct state_engine_ops state_engine_rocksdb;

/* The prefix of the keys of a bucket. */
void state_key_prefix(uint8_t out[STATE_KEY_PREFIX_BYTES], struct state_place place);
/* False: too short. */
MUST_USE bool state_key_split(struct bytes key, struct state_store_entry *out);
/* The first key after all that begin with `prefix`; no bytes if there is none.  As large as it. */
size_t state_key_after(uint8_t *out, struct bytes prefix);

/* A snapshot's list of its files: written as the last file of `dir`, and read back.  SST files that
 * `known` has with the same size have the same content. */
struct state_file {
    const char *name;
    uint64_t size_bytes;
    uint32_t crc;
};
struct state_manifest {
    int64_t version;
    struct state_file *files;
    size_t count;
    uint64_t bytes;
};
#define STATE_MANIFEST_NAME "MANIFEST.tidemill"

MUST_USE enum status state_manifest_write(struct vfs *vfs, const char *dir, int64_t version,
                                          const struct state_manifest *known, struct arena *arena,
                                          struct state_manifest *out, struct error *err);
/* Reads it and checks every file.  *problem is NULL if the snapshot is whole, else says what is
 * wrong, in `arena`.  Errors: IO_FAILURE of another kind than a missing file. */
MUST_USE enum status state_manifest_check(struct vfs *vfs, const char *dir, int64_t version,
                                          struct arena *arena, struct state_manifest *out,
                                          const char **problem, struct error *err);

#endif
