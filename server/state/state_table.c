/*
 * See state_table.h.
 */
#include "state/state_table.h"

#include "base/check.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/huge.h"

#include <stdlib.h>

#define TABLE_MAGIC       0x57a7e001U
#define REMOVED           0x80000000U
#define BLOCK_BYTES_FIRST ((uint32_t)1 << 10)
#define KEY_BYTES_MAX     ((uint32_t)1 << 31) /* more than a record can have */
#define SLOTS_MIN         16
#define REHASH_AT_ONCE    32
#define ADDRESS_BITS      48
#define ADDRESS_MASK      (((uint64_t)1 << ADDRESS_BITS) - 1)

/* Blocks and tables of slots of HUGE_PIECE_MIN or more come from huge_alloc(). */
struct block {
    uint8_t *data;
    uint32_t used;
    uint32_t size;
};

struct state_bucket {
    int64_t end;
    uint64_t *slots; /* tag << 48 | address; 0: free; address 0 with a tag: was removed */
    uint64_t mask;   /* slots - 1 */
    uint64_t filled; /* slots that are not free */
    uint64_t count;  /* entries */
    uint64_t used;   /* bytes of them in blocks */
    uint64_t holes;  /* bytes of removed ones */
    struct block *blocks;
    uint32_t block_count;
    uint32_t block_capacity;
    struct arena *arena; /* made when asked for */
};

struct state_table {
    uint32_t magic;
    uint32_t value_bytes;
    struct state_bucket **buckets; /* by end */
    uint32_t bucket_count;
    uint32_t bucket_capacity;
    uint64_t count;
    uint64_t bytes; /* slots and blocks */
};

static void *take_memory(size_t size)
{
    if (size >= HUGE_PIECE_MIN && (size & (size - 1)) == 0)
        return huge_alloc(size);
    void *memory = heap_malloc(size);
    return memory;
}

static void give_memory(void *memory, size_t size)
{
    if (size >= HUGE_PIECE_MIN && (size & (size - 1)) == 0)
        huge_free(memory, size);
    else
        free(memory);
}

static size_t slots_bytes(const struct state_bucket *bucket)
{
    return bucket->slots == NULL ? 0 : (bucket->mask + 1) * sizeof *bucket->slots;
}

struct state_table *state_table_new(uint32_t value_bytes)
{
    CHECK(value_bytes % 8 == 0);
    struct state_table *table = heap_calloc(1, sizeof *table);
    table->magic = TABLE_MAGIC;
    table->value_bytes = value_bytes;
    return table;
}

static void bucket_free(struct state_table *table, struct state_bucket *bucket)
{
    for (uint32_t i = 0; i < bucket->block_count; i++) {
        table->bytes -= bucket->blocks[i].size;
        give_memory(bucket->blocks[i].data, bucket->blocks[i].size);
    }
    table->bytes -= slots_bytes(bucket);
    table->count -= bucket->count;
    free(bucket->blocks);
    give_memory(bucket->slots, slots_bytes(bucket));
    arena_free(bucket->arena);
    free(bucket);
}

void state_table_free(struct state_table *table)
{
    if (table == NULL)
        return;
    CHECK_MAGIC(table, TABLE_MAGIC);
    for (uint32_t i = 0; i < table->bucket_count; i++)
        bucket_free(table, table->buckets[i]);
    CHECK(table->count == 0 && table->bytes == 0);
    free(table->buckets);
    table->magic = 0;
    free(table);
}

uint64_t state_hash(struct bytes key)
{
    return hash_bytes(key.data, key.size_bytes);
}

/* The index of the first bucket that ends at `end` or later. */
static uint32_t bucket_index(const struct state_table *table, int64_t end)
{
    uint32_t low = 0;
    uint32_t high = table->bucket_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (table->buckets[middle]->end < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct state_bucket *state_bucket_find(struct state_table *table, int64_t end)
{
    CHECK_MAGIC(table, TABLE_MAGIC);
    uint32_t index = bucket_index(table, end);
    if (index < table->bucket_count && table->buckets[index]->end == end)
        return table->buckets[index];
    return NULL;
}

struct state_bucket *state_bucket_open(struct state_table *table, int64_t end)
{
    CHECK_MAGIC(table, TABLE_MAGIC);
    uint32_t index = bucket_index(table, end);
    if (index < table->bucket_count && table->buckets[index]->end == end)
        return table->buckets[index];
    if (table->bucket_count == table->bucket_capacity) {
        table->bucket_capacity = table->bucket_capacity == 0 ? 8 : table->bucket_capacity * 2;
        table->buckets =
            heap_realloc(table->buckets, table->bucket_capacity * sizeof *table->buckets);
    }
    struct state_bucket *bucket = heap_calloc(1, sizeof *bucket);
    bucket->end = end;
    memmove(table->buckets + index + 1, table->buckets + index,
            (table->bucket_count - index) * sizeof *table->buckets);
    table->buckets[index] = bucket;
    table->bucket_count++;
    return bucket;
}

struct state_bucket *state_bucket_next(struct state_table *table, struct state_bucket *after)
{
    CHECK_MAGIC(table, TABLE_MAGIC);
    uint32_t index = after == NULL ? 0 : bucket_index(table, after->end) + 1;
    return index < table->bucket_count ? table->buckets[index] : NULL;
}

struct state_bucket *state_bucket_after(struct state_table *table, bool first, int64_t end)
{
    CHECK_MAGIC(table, TABLE_MAGIC);
    uint32_t index = first ? 0 : bucket_index(table, end);
    if (!first && index < table->bucket_count && table->buckets[index]->end == end)
        index++;
    return index < table->bucket_count ? table->buckets[index] : NULL;
}

int64_t state_bucket_end(const struct state_bucket *bucket)
{
    return bucket->end;
}

uint64_t state_bucket_count(const struct state_bucket *bucket)
{
    return bucket->count;
}

struct arena *state_bucket_arena(struct state_bucket *bucket)
{
    if (bucket->arena == NULL)
        bucket->arena = arena_new("state bucket", 0);
    return bucket->arena;
}

void state_bucket_drop(struct state_table *table, struct state_bucket *bucket)
{
    CHECK_MAGIC(table, TABLE_MAGIC);
    uint32_t index = bucket_index(table, bucket->end);
    CHECK(index < table->bucket_count && table->buckets[index] == bucket);
    table->bucket_count--;
    memmove(table->buckets + index, table->buckets + index + 1,
            (table->bucket_count - index) * sizeof *table->buckets);
    bucket_free(table, bucket);
}

static uint64_t tag_of(uint64_t hash)
{
    return (hash >> ADDRESS_BITS | 1) << ADDRESS_BITS; /* never 0, so that no slot looks free */
}

static struct state_entry *entry_of(uint64_t slot)
{
    return (struct state_entry *)(uintptr_t)(slot & ADDRESS_MASK); // NOLINT: an address we stored
}

void state_bucket_prefetch(const struct state_bucket *bucket, uint64_t hash)
{
    if (bucket->slots != NULL)
        __builtin_prefetch(&bucket->slots[hash & bucket->mask]);
}

void state_bucket_prefetch_entry(const struct state_bucket *bucket, uint64_t hash)
{
    if (bucket->slots == NULL)
        return;
    uint64_t value = bucket->slots[hash & bucket->mask];
    if ((value & ~ADDRESS_MASK) != tag_of(hash) || (value & ADDRESS_MASK) == 0)
        return;
    __builtin_prefetch(entry_of(value));
    __builtin_prefetch((const uint8_t *)entry_of(value) + 48); /* where most of them end */
}

static size_t entry_bytes(const struct state_table *table, uint32_t key_bytes)
{
    return state_entry_bytes(table->value_bytes, key_bytes & ~REMOVED);
}

struct bytes state_key(const struct state_table *table, const struct state_entry *entry)
{
    return bytes_of(entry->data + table->value_bytes, entry->key_bytes & ~REMOVED);
}

/* A bucket does not know its table; the size of the values is where the key begins. */
static bool holds_key(const struct state_entry *entry, struct bytes key, uint32_t value_bytes)
{
    return entry->key_bytes == key.size_bytes &&
           state_same_bytes(entry->data + value_bytes, key.data, key.size_bytes);
}

/* The slot of the key, or the one that it would get. */
static uint64_t slot_of(const struct state_table *table, const struct state_bucket *bucket,
                        struct bytes key, uint64_t hash)
{
    uint64_t tag = tag_of(hash);
    for (uint64_t slot = hash & bucket->mask;; slot = (slot + 1) & bucket->mask) {
        uint64_t value = bucket->slots[slot];
        if (value == 0)
            return slot;
        if ((value & ~ADDRESS_MASK) == tag && (value & ADDRESS_MASK) != 0 &&
            holds_key(entry_of(value), key, table->value_bytes))
            return slot;
    }
}

struct state_entry *state_find(const struct state_table *table, const struct state_bucket *bucket,
                               struct bytes key, uint64_t hash)
{
    if (bucket->count == 0)
        return NULL;
    return entry_of(bucket->slots[slot_of(table, bucket, key, hash)]);
}

/* Blocks grow with what is there, a sixteenth of it, so that little lies unused at any time. */
static uint32_t block_bytes(const struct state_bucket *bucket, size_t size)
{
    uint64_t wanted = (bucket->used + bucket->holes) / 16;
    if (wanted >= HUGE_PIECE_MIN)
        wanted = HUGE_PIECE_MIN;
    else if (wanted < BLOCK_BYTES_FIRST)
        wanted = BLOCK_BYTES_FIRST;
    else
        wanted &= ~(uint64_t)(BLOCK_BYTES_FIRST - 1);
    return (uint32_t)(wanted < size ? size : wanted);
}

static uint8_t *take_block(struct state_table *table, struct state_bucket *bucket, size_t size)
{
    struct block *last = bucket->block_count == 0 ? NULL : &bucket->blocks[bucket->block_count - 1];
    if (last == NULL || last->size - last->used < size) {
        uint32_t wanted = block_bytes(bucket, size);
        if (bucket->block_count == bucket->block_capacity) {
            bucket->block_capacity = bucket->block_capacity == 0 ? 4 : bucket->block_capacity * 2;
            bucket->blocks =
                heap_realloc(bucket->blocks, bucket->block_capacity * sizeof *bucket->blocks);
        }
        last = &bucket->blocks[bucket->block_count++];
        *last = (struct block){.data = take_memory(wanted), .size = wanted};
        table->bytes += wanted;
    }
    uint8_t *memory = last->data + last->used;
    last->used += (uint32_t)size;
    return memory;
}

static uint64_t *take_slots(size_t size)
{
    uint64_t *slots = take_memory(size);
    if (size < HUGE_REGION) /* larger ones are zeroes that nobody has touched */
        memset(slots, 0, size);
    return slots;
}

/* Finds every entry anew, some at a time: each slot is asked for before it is needed. */
static void rehash(struct state_table *table, struct state_bucket *bucket, uint64_t wanted)
{
    size_t size = (size_t)wanted * sizeof *bucket->slots;
    table->bytes += size - slots_bytes(bucket);
    give_memory(bucket->slots, slots_bytes(bucket));
    bucket->slots = take_slots(size);
    bucket->mask = wanted - 1;
    bucket->filled = bucket->count;
    struct state_cursor cursor = {0};
    struct state_entry *entries[REHASH_AT_ONCE];
    uint64_t hashes[REHASH_AT_ONCE];
    uint32_t count = 0;
    do {
        count = 0;
        while (count < REHASH_AT_ONCE &&
               (entries[count] = state_next(table, bucket, &cursor)) != NULL) {
            hashes[count] = state_hash(state_key(table, entries[count]));
            state_bucket_prefetch(bucket, hashes[count++]);
        }
        for (uint32_t i = 0; i < count; i++) {
            uint64_t slot = hashes[i] & bucket->mask;
            while (bucket->slots[slot] != 0)
                slot = (slot + 1) & bucket->mask;
            bucket->slots[slot] = tag_of(hashes[i]) | (uint64_t)(uintptr_t)entries[i];
        }
    } while (count == REHASH_AT_ONCE);
}

/* Room for a further entry: at most four fifths of the slots are in use. */
static void grow(struct state_table *table, struct state_bucket *bucket)
{
    uint64_t slots = bucket->slots == NULL ? 0 : bucket->mask + 1;
    if (bucket->filled * 5 + 5 <= slots * 4)
        return;
    uint64_t wanted = slots == 0 ? SLOTS_MIN : slots;
    while (bucket->count * 2 + 2 > wanted) /* many removed ones: the same size will do */
        wanted *= 2;
    rehash(table, bucket, wanted);
}

/* Makes the entry that stands in `slot`. */
static struct state_entry *new_entry(struct state_table *table, struct state_bucket *bucket,
                                     uint64_t slot, size_t size, uint64_t hash)
{
    struct state_entry *entry = (struct state_entry *)(void *)take_block(table, bucket, size);
    CHECK(((uint64_t)(uintptr_t)entry & ~ADDRESS_MASK) == 0);
    bucket->slots[slot] = tag_of(hash) | (uint64_t)(uintptr_t)entry;
    bucket->filled++;
    bucket->count++;
    bucket->used += size;
    table->count++;
    return entry;
}

struct state_entry *state_add(struct state_table *table, struct state_bucket *bucket,
                              struct bytes key, uint64_t hash, bool *added)
{
    CHECK(key.size_bytes < KEY_BYTES_MAX);
    grow(table, bucket);
    uint64_t slot = slot_of(table, bucket, key, hash);
    *added = bucket->slots[slot] == 0;
    if (!*added)
        return entry_of(bucket->slots[slot]);
    size_t size = entry_bytes(table, (uint32_t)key.size_bytes);
    struct state_entry *entry = new_entry(table, bucket, slot, size, hash);
    entry->key_bytes = (uint32_t)key.size_bytes;
    entry->stamp = 0;
    memset(entry->data, 0, table->value_bytes);
    if (key.size_bytes > 0)
        memcpy(entry->data + table->value_bytes, key.data, key.size_bytes);
    return entry;
}

struct state_entry *state_take(struct state_table *table, struct state_bucket *bucket,
                               const struct state_entry *image, uint64_t hash, bool *added)
{
    CHECK(image->key_bytes < KEY_BYTES_MAX && image->stamp == 0);
    grow(table, bucket);
    uint64_t slot = slot_of(table, bucket, state_key(table, image), hash);
    *added = bucket->slots[slot] == 0;
    if (!*added)
        return entry_of(bucket->slots[slot]);
    size_t size = entry_bytes(table, image->key_bytes);
    struct state_entry *entry = new_entry(table, bucket, slot, size, hash);
    state_copy_bytes((uint8_t *)entry, (const uint8_t *)image, size);
    return entry;
}

void state_remove(struct state_table *table, struct state_bucket *bucket, struct state_entry *entry)
{
    CHECK((entry->key_bytes & REMOVED) == 0);
    struct bytes key = state_key(table, entry);
    uint64_t hash = state_hash(key);
    uint64_t slot = slot_of(table, bucket, key, hash);
    CHECK(entry_of(bucket->slots[slot]) == entry);
    bucket->slots[slot] = tag_of(hash); /* keeps later ones of the chain reachable */
    size_t size = entry_bytes(table, entry->key_bytes);
    entry->key_bytes |= REMOVED;
    bucket->used -= size;
    bucket->holes += size;
    bucket->count--;
    table->count--;
}

bool state_bucket_pack(struct state_table *table, struct state_bucket *bucket)
{
    if (bucket->holes <= bucket->used || bucket->holes < BLOCK_BYTES_FIRST)
        return false;
    struct state_bucket old = *bucket;
    struct state_cursor cursor = {0};
    struct state_entry *entry = NULL;
    bucket->blocks = NULL;
    bucket->block_count = bucket->block_capacity = 0;
    bucket->holes = 0;
    while ((entry = state_next(table, &old, &cursor)) != NULL) {
        size_t size = entry_bytes(table, entry->key_bytes);
        memcpy(take_block(table, bucket, size), entry, size);
    }
    for (uint32_t i = 0; i < old.block_count; i++) {
        table->bytes -= old.blocks[i].size;
        give_memory(old.blocks[i].data, old.blocks[i].size);
    }
    free(old.blocks);
    uint64_t wanted = SLOTS_MIN;
    while (bucket->count * 2 + 2 > wanted)
        wanted *= 2;
    rehash(table, bucket, wanted);
    return true;
}

struct state_entry *state_next(const struct state_table *table, const struct state_bucket *bucket,
                               struct state_cursor *cursor)
{
    while (cursor->block < bucket->block_count) {
        const struct block *block = &bucket->blocks[cursor->block];
        if (cursor->offset == block->used) {
            cursor->block++;
            cursor->offset = 0;
            continue;
        }
        struct state_entry *entry = (struct state_entry *)(void *)(block->data + cursor->offset);
        cursor->offset += (uint32_t)entry_bytes(table, entry->key_bytes);
        if ((entry->key_bytes & REMOVED) == 0)
            return entry;
    }
    return NULL;
}

uint64_t state_table_count(const struct state_table *table)
{
    CHECK_MAGIC(table, TABLE_MAGIC);
    return table->count;
}

uint64_t state_table_bytes(const struct state_table *table)
{
    CHECK_MAGIC(table, TABLE_MAGIC);
    uint64_t bytes = table->bytes;
    for (uint32_t i = 0; i < table->bucket_count; i++)
        if (table->buckets[i]->arena != NULL)
            bytes += arena_used_bytes(table->buckets[i]->arena);
    return bytes;
}
