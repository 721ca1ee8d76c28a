/*
 * The spilled entries of one bucket of one partition: a hash table on the disk (extendible
 * hashing).
 *
 * A chunk is a run of pages (nearly always one) with the entries whose hashes begin with certain
 * bits; a directory in memory says which chunk it is for the first `depth` bits.  A chunk that
 * would get too large is split by the next bit.  So what a batch needs costs the read of the
 * chunks that it is in, each once: a few for a few keys, and no more than a pass over all for many.
 *
 *     chunk = u32 CRC-32C of what follows | u32 first page | u32 bytes | u32 entries | entries
 *     entry = u32 hash | u8 key size | u8 value size | [u32 key size | u32 value size] | key |
 * value
 *
 * The entries of a chunk are sorted by their hashes.  A size of 255 in either small field means
 * that both stand in the large ones.  Numbers are those of the machine.
 *
 * Threads: one at a time.
 */
#ifndef SERVER_STATE_SPILL_IMAGE_H
#define SERVER_STATE_SPILL_IMAGE_H

#include "state/spill_file.h"

struct spill_image;

/* An entry that goes to the disk; `item` is known to the source. */
struct spill_item {
    uint32_t hash;
    const void *item;
};

/* Where the entries come from. */
struct spill_source {
    /* Borrowed until the next call. */
    struct bytes (*key)(struct spill_source *self, const void *item);
    /* Appends the value.  NULL: the entry goes away. */
    void (*value)(struct spill_source *self, const void *item, struct buffer *out);
};

/* A key or a value that is larger is refused. */
#define SPILL_VALUE_BYTES_MAX ((size_t)INT32_MAX - 1)

/* A key that is looked for. */
struct spill_key {
    int64_t end;
    uint32_t hash;
    struct bytes key;
};

/* Entry and bytes are valid during the call. */
struct spill_receiver {
    enum status (*receive)(struct spill_receiver *self, int64_t end, struct bytes key,
                           struct bytes value, struct error *err);
};

/* A way through all entries in the order of their hashes, in parts.  Zeroed in the beginning. */
struct spill_walk {
    uint32_t next; /* the first hash of the next part */
    bool over;
    uint64_t room; /* for the present part: the receiver takes of it for what it keeps */
};
static inline void spill_walk_take(struct spill_walk *walk, uint64_t bytes)
{
    walk->room -= bytes < walk->room ? bytes : walk->room;
}

/* What reading and writing need; a partition has one. */
struct spill_buffers {
    struct buffer in;
    struct buffer out;
    struct buffer value;
    uint64_t entries_read; /* by scans */
};

struct spill_image *spill_image_new(int64_t end);
/* Its pages go back to `space`. */
void spill_image_free(struct spill_image *image, struct spill_space *space);

uint64_t spill_image_entries(const struct spill_image *image);
size_t spill_image_bytes(const struct spill_image *image);        /* memory */
uint64_t spill_image_disk_bytes(const struct spill_image *image); /* of the entries */

/* The part of state_hash() that decides here. */
static inline uint32_t spill_hash(uint64_t hash)
{
    return (uint32_t)hash;
}

/* Puts, or takes away, items[0..count), sorted by hash, of different keys. */
MUST_USE enum status spill_image_write(struct spill_image *image, struct spill_space *space,
                                       struct spill_buffers *buffers,
                                       const struct spill_item *items, size_t count,
                                       struct spill_source *source, struct error *err);
/* Hands over the entries of keys[0..count), which are sorted by hash: each once. */
MUST_USE enum status spill_image_get(const struct spill_image *image, struct spill_space *space,
                                     struct spill_buffers *buffers, const struct spill_key *keys,
                                     size_t count, struct spill_receiver *receiver,
                                     struct error *err);
/* Hands over all entries. */
MUST_USE enum status spill_image_scan(const struct spill_image *image, struct spill_space *space,
                                      struct spill_buffers *buffers,
                                      struct spill_receiver *receiver, struct error *err);
/* Goes on until there is no room any more; entries of one hash are not parted.  Between two parts
 * entries may be written. */
MUST_USE enum status spill_image_walk(const struct spill_image *image, struct spill_space *space,
                                      struct spill_buffers *buffers, struct spill_walk *walk,
                                      struct spill_receiver *receiver, struct error *err);

#endif
