/*
 * The changelog: what a batch did to the state of one operator in one partition, as the payload of
 * a STATE record.
 *
 *     version (1 byte, 3) · operator (4) · partition (4) · changes
 *
 *     PUT   01 · bucket (8) · key size (varint) · key · value size (varint) · value
 *     DROP  02 · bucket (8): all buckets that end here or before are gone
 *     TAKE  03 · bucket (8) · key size (varint) · key: this entry is gone
 *     NEAR  04 · shared (varint) · rest size (varint) · rest · value size (varint) · value: a PUT
 *           into the bucket of the last PUT, TAKE or NEAR, whose key is the first `shared` bytes of
 *           the key of that change, and the rest
 *     AGAIN 05 · step (varint) · value size (varint) · value: a PUT of the key of that change into
 *           the bucket that is `step` behind or before its bucket: 0, -1, 1, -2, ... are 0, 1, 2,
 * ...
 *
 * Version 2 has no AGAIN, and is read as well.  Numbers are little-endian.  Each touched key stands
 * in it once, with the value that it has after the batch, so that replaying a record twice is
 * replaying it once.  A value is what its operator wrote.
 */
#ifndef SERVER_STATE_CHANGELOG_H
#define SERVER_STATE_CHANGELOG_H

#include "base/buffer.h"

#define CHANGELOG_VERSION        3
#define CHANGELOG_VERSION_OLDEST 2

enum change_kind {
    CHANGE_PUT = 1,
    CHANGE_DROP,
    CHANGE_TAKE,
    CHANGE_NEAR, /* in the bytes only: readers see a PUT */
    CHANGE_AGAIN,
};

struct change {
    enum change_kind kind;
    int64_t bucket;
    struct bytes key;
    struct bytes value;
};

void changelog_begin(struct buffer *out, uint32_t operator_id, uint32_t partition);
/* Size of what begin wrote: a record of this size has no changes. */
#define CHANGELOG_HEADER_BYTES 9

void changelog_put(struct buffer *out, int64_t bucket, struct bytes key, struct bytes value);
void changelog_drop(struct buffer *out, int64_t bucket);

/* A run of puts, each written as what it differs in from the one before.  Nothing else is written
 * to `out` between them.  Keys are borrowed until the next put. */
struct changelog_run {
    struct buffer *out;
    bool begun;
    int64_t bucket;
    struct bytes key; /* the last one */
};
void changelog_run_put(struct changelog_run *run, int64_t bucket, struct bytes key,
                       struct bytes value);
void changelog_take(struct buffer *out, int64_t bucket, struct bytes key);

/* False if this is no changelog of a version that is known. */
MUST_USE bool changelog_open(struct bytes record, uint32_t *operator_id, uint32_t *partition,
                             struct bytes *changes);
/* Reads changes one after another.  A zeroed reader with `rest` set is ready. */
struct changelog_reader {
    struct bytes rest;
    int64_t bucket;    /* of the last change with a key */
    struct bytes last; /* its key */
    struct buffer key; /* one that was put together */
};
/* The next change; *found is false at the end.  False: the bytes are damaged.  The key is borrowed
 * until the next call, the value as long as the bytes. */
MUST_USE bool changelog_next(struct changelog_reader *reader, struct change *out, bool *found);
void changelog_reader_fini(struct changelog_reader *reader);

/* Varints are for values, too. */
void varint_put(struct buffer *out, uint64_t value);
MUST_USE bool varint_take(struct bytes *from, uint64_t *out);

#endif
