/*
 * The state of one operator in one partition, in memory: entries found by key, kept in buckets.
 *
 * A bucket holds the entries that end at one event time (the end of a window, an expiry time), or,
 * under STATE_NO_END, those that never end by themselves.  When the watermark passes that time the
 * whole bucket is read from front to back and dropped: nobody looks for entries one by one.
 *
 * An entry is a value of a fixed size, made by its operator, and the bytes of its key:
 *
 *     u32 size of the key | u32 stamp | value (value_bytes) | key | padding to 8
 *
 * Entries lie one behind another in blocks of the bucket; a slot of its hash table is 16 bits of
 * the hash and the address.  What a value points to lives in the bucket's arena.  Addresses of
 * entries are stable until they are removed.
 *
 * The stamp is the operator's: the batch that touched the entry last.  A removed entry stays in its
 * block as a hole until the bucket goes or is packed.
 *
 * Threads: one at a time.
 */
#ifndef SERVER_STATE_STATE_TABLE_H
#define SERVER_STATE_STATE_TABLE_H

#include "base/arena.h"
#include "base/bytes.h"

#define STATE_NO_END INT64_MAX

struct state_table;
struct state_bucket;

struct state_entry {
    uint32_t key_bytes; /* the highest bit: removed */
    uint32_t stamp;
    uint8_t data[]; /* value, then key */
};

/* Values are `value_bytes` large (a multiple of 8), zeroed when made. */
struct state_table *state_table_new(uint32_t value_bytes);
void state_table_free(struct state_table *table); /* NULL is fine */

/* The hash by which keys are found and spread over partitions. */
uint64_t state_hash(struct bytes key);

/* The bucket of `end`, made if it is not there. */
struct state_bucket *state_bucket_open(struct state_table *table, int64_t end);
/* NULL if there is none. */
struct state_bucket *state_bucket_find(struct state_table *table, int64_t end);
/* The buckets in the order of their ends; NULL after the last.  first: NULL. */
struct state_bucket *state_bucket_next(struct state_table *table, struct state_bucket *after);
/* The first bucket that ends after `end`; the first of all if `first`. */
struct state_bucket *state_bucket_after(struct state_table *table, bool first, int64_t end);
int64_t state_bucket_end(const struct state_bucket *bucket);
uint64_t state_bucket_count(const struct state_bucket *bucket);
/* Memory that lives as long as the bucket. */
struct arena *state_bucket_arena(struct state_bucket *bucket);
void state_bucket_drop(struct state_table *table, struct state_bucket *bucket);

/* Asks for the cache line where the search for this hash begins, and, somewhat later, for that of
 * the entry that stands there. */
void state_bucket_prefetch(const struct state_bucket *bucket, uint64_t hash);
void state_bucket_prefetch_entry(const struct state_bucket *bucket, uint64_t hash);

/* Bytes of an entry in its block. */
static inline size_t state_entry_bytes(uint32_t value_bytes, uint32_t key_bytes)
{
    return (sizeof(struct state_entry) + value_bytes + key_bytes + 7) & ~(size_t)7;
}

struct state_entry *state_find(const struct state_table *table, const struct state_bucket *bucket,
                               struct bytes key, uint64_t hash);
struct state_entry *state_add(struct state_table *table, struct state_bucket *bucket,
                              struct bytes key, uint64_t hash, bool *added);
/* As state_add(); a new entry is a copy of `image`, value and all (its stamp is 0). */
struct state_entry *state_take(struct state_table *table, struct state_bucket *bucket,
                               const struct state_entry *image, uint64_t hash, bool *added);
void state_remove(struct state_table *table, struct state_bucket *bucket,
                  struct state_entry *entry);

/* Closes the holes that removed entries left if they are more than what is there.  Addresses of
 * entries and cursors of this bucket are void afterwards.  False: nothing was done. */
bool state_bucket_pack(struct state_table *table, struct state_bucket *bucket);

/* The entries of a bucket in the order in which they were made; NULL after the last.  *at is 0 in
 * the beginning.  Removing the present entry is fine. */
struct state_cursor {
    uint32_t block;
    uint32_t offset;
};
struct state_entry *state_next(const struct state_table *table, const struct state_bucket *bucket,
                               struct state_cursor *cursor);

static inline uint8_t *state_value(struct state_entry *entry)
{
    return entry->data;
}

/* As memcmp(), which takes longer for a few bytes, to say so. */
static inline bool state_same_bytes(const uint8_t *a, const uint8_t *b, size_t size)
{
    uint64_t words[8];
    if (size - 16 <= 16) {
        memcpy(&words[0], a, 16);
        memcpy(&words[2], a + size - 16, 16);
        memcpy(&words[4], b, 16);
        memcpy(&words[6], b + size - 16, 16);
        return ((words[0] ^ words[4]) | (words[1] ^ words[5]) | (words[2] ^ words[6]) |
                (words[3] ^ words[7])) == 0;
    }
    if (size - 8 > 8) /* also less than 8 */
        return size == 0 || memcmp(a, b, size) == 0;
    memcpy(&words[0], a, 8);
    memcpy(&words[1], b, 8);
    memcpy(&words[2], a + size - 8, 8);
    memcpy(&words[3], b + size - 8, 8);
    return ((words[0] ^ words[1]) | (words[2] ^ words[3])) == 0;
}

/* As memcpy(), which takes longer for the sizes of most keys and entries. */
static inline void state_copy_bytes(uint8_t *to, const uint8_t *from, size_t size)
{
    uint64_t words[8];
    if (size - 16 <= 16) {
        memcpy(&words[0], from, 16);
        memcpy(&words[2], from + size - 16, 16);
        memcpy(to, &words[0], 16);
        memcpy(to + size - 16, &words[2], 16);
    } else if (size - 32 <= 32) {
        memcpy(&words[0], from, 32);
        memcpy(&words[4], from + size - 32, 32);
        memcpy(to, &words[0], 32);
        memcpy(to + size - 32, &words[4], 32);
    } else if (size > 0) {
        memcpy(to, from, size);
    }
}

struct bytes state_key(const struct state_table *table, const struct state_entry *entry);

uint64_t state_table_count(const struct state_table *table);
/* Memory of tables, entries and arenas. */
uint64_t state_table_bytes(const struct state_table *table);

#endif
