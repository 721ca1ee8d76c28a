/*
 * See spill.h.
 */
#include "state/spill.h"

#include "base/check.h"

#include <stdlib.h>

/* A scan passes about so many entries in the time of one look-up. */
#define SCAN_PER_LOOKUP 10

void spill_fini(struct spill *spill)
{
    free(spill->buckets);
    free(spill->wanted);
    *spill = (struct spill){0};
}

void spill_begin(struct spill *spill)
{
    spill->fetched = spill->keys_read = spill->entries_read = 0;
}

/* The index of the first bucket that ends at `end` or later. */
static uint32_t bucket_index(const struct spill *spill, int64_t end)
{
    uint32_t low = 0;
    uint32_t high = spill->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (spill->buckets[middle].end < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct spill_bucket *spill_find(const struct spill *spill, int64_t end)
{
    uint32_t index = bucket_index(spill, end);
    if (index < spill->count && spill->buckets[index].end == end)
        return &spill->buckets[index];
    return NULL;
}

struct spill_bucket *spill_first(const struct spill *spill)
{
    return spill->count == 0 ? NULL : &spill->buckets[0];
}

struct spill_bucket *spill_after(const struct spill *spill, int64_t end)
{
    uint32_t index = bucket_index(spill, end);
    if (index < spill->count && spill->buckets[index].end == end)
        index++;
    return index < spill->count ? &spill->buckets[index] : NULL;
}

void spill_add(struct spill *spill, int64_t end, uint64_t entries)
{
    uint32_t index = bucket_index(spill, end);
    if (entries == 0)
        return;
    if (index < spill->count && spill->buckets[index].end == end) {
        spill->buckets[index].entries += entries;
        return;
    }
    if (spill->count == spill->capacity) {
        spill->capacity = spill->capacity == 0 ? 8 : spill->capacity * 2;
        spill->buckets = realloc(spill->buckets, spill->capacity * sizeof *spill->buckets);
        CHECK(spill->buckets != NULL);
    }
    memmove(spill->buckets + index + 1, spill->buckets + index,
            (spill->count - index) * sizeof *spill->buckets);
    spill->buckets[index] = (struct spill_bucket){.end = end, .entries = entries};
    spill->count++;
}

uint64_t spill_drop(struct spill *spill, int64_t end)
{
    struct spill_bucket *bucket = spill_find(spill, end);
    if (bucket == NULL)
        return 0;
    uint64_t entries = bucket->entries;
    size_t index = (size_t)(bucket - spill->buckets);
    spill->count--;
    memmove(bucket, bucket + 1, (spill->count - index) * sizeof *bucket);
    return entries;
}

uint64_t spill_entries(const struct spill *spill)
{
    uint64_t entries = 0;
    for (uint32_t i = 0; i < spill->count; i++)
        entries += spill->buckets[i].entries;
    return entries;
}

uint64_t spill_bytes(const struct spill *spill)
{
    return spill->capacity * sizeof *spill->buckets +
           spill->wanted_capacity * sizeof *spill->wanted;
}

void spill_trim(struct spill *spill)
{
    free(spill->wanted);
    spill->wanted = NULL;
    spill->wanted_count = spill->wanted_capacity = 0;
}

static uint64_t prefix_of(struct bytes key)
{
    uint64_t prefix = 0;
    for (size_t i = 0; i < 8; i++)
        prefix = prefix << 8 | (i < key.size_bytes ? key.data[i] : 0);
    return prefix;
}

void spill_want(struct spill *spill, int64_t end, struct bytes key)
{
    if (spill->wanted_count == spill->wanted_capacity) {
        spill->wanted_capacity = spill->wanted_capacity == 0 ? 256 : spill->wanted_capacity * 2;
        spill->wanted = realloc(spill->wanted, spill->wanted_capacity * sizeof *spill->wanted);
        CHECK(spill->wanted != NULL);
    }
    spill->wanted[spill->wanted_count++] =
        (struct spill_key){.end = end, .prefix = prefix_of(key), .key = key};
}

static int compare_keys(const void *left, const void *right)
{
    const struct spill_key *a = left;
    const struct spill_key *b = right;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix ? -1 : 1;
    return bytes_compare(a->key, b->key);
}

/* The wanted keys of one bucket on their way. */
struct fetch {
    struct state_value_receiver values;
    struct state_entry_receiver entries;
    struct spill *spill;
    int64_t end;
    const struct bytes *keys; /* sorted; they differ */
    size_t count;
    size_t next; /* scan: the first key that has not been passed */
    struct spill_receiver *receiver;
};

static enum status take_found(struct fetch *fetch, struct bytes key, struct bytes value,
                              struct error *err)
{
    struct spill_bucket *bucket = spill_find(fetch->spill, fetch->end);
    if (bucket != NULL && bucket->entries > 0)
        bucket->entries--;
    fetch->spill->fetched++;
    return fetch->receiver->receive(fetch->receiver, fetch->end, key, value, err);
}

static enum status take_value(struct state_value_receiver *self, size_t index, struct bytes value,
                              struct error *err)
{
    struct fetch *fetch = (struct fetch *)self;
    return take_found(fetch, fetch->keys[index], value, err);
}

static enum status take_entry(struct state_entry_receiver *self,
                              const struct state_store_entry *entry, struct error *err)
{
    struct fetch *fetch =
        (struct fetch *)((uint8_t *)self - offsetof(struct fetch, entries)); // NOLINT: a member
    fetch->spill->entries_read++;
    int order = -1;
    while (fetch->next < fetch->count &&
           (order = bytes_compare(fetch->keys[fetch->next], entry->key)) < 0)
        fetch->next++;
    if (fetch->next == fetch->count || order != 0)
        return OK;
    fetch->next++;
    return take_found(fetch, entry->key, entry->value, err);
}

/* Reads keys[0..count) of the bucket. */
static enum status fetch_bucket(struct spill *spill, int64_t end, const struct bytes *keys,
                                size_t count, struct spill_receiver *receiver, struct error *err)
{
    const struct spill_bucket *bucket = spill_find(spill, end);
    struct state_place place = {
        .operator_id = spill->operator_id, .partition = spill->partition, .bucket = end};
    struct fetch fetch = {
        .values = {.receive = take_value},
        .entries = {.receive = take_entry},
        .spill = spill,
        .end = end,
        .keys = keys,
        .count = count,
        .receiver = receiver,
    };
    if (bucket == NULL || bucket->entries == 0)
        return OK;
    if (count * SCAN_PER_LOOKUP > bucket->entries)
        return state_store_scan(spill->store, place, &fetch.entries, err);
    spill->keys_read += count;
    return state_store_get_many(spill->store, place, keys, count, &fetch.values, err);
}

enum status spill_fetch(struct spill *spill, struct spill_receiver *receiver, struct error *err)
{
    enum status status = OK;
    size_t count = spill->wanted_count;
    spill->wanted_count = 0;
    if (count == 0)
        return OK;
    qsort(spill->wanted, count, sizeof *spill->wanted, compare_keys);
    struct bytes *keys = malloc(count * sizeof *keys);
    CHECK(keys != NULL);
    for (size_t at = 0; at < count && status == OK;) {
        int64_t end = spill->wanted[at].end;
        size_t found = 0;
        for (; at < count && spill->wanted[at].end == end; at++)
            if (found == 0 || !bytes_equal(keys[found - 1], spill->wanted[at].key))
                keys[found++] = spill->wanted[at].key;
        status = fetch_bucket(spill, end, keys, found, receiver, err);
    }
    free(keys);
    spill_trim(spill); /* there are many partitions */
    return status;
}

/* A scan without a choice. */
struct scan {
    struct state_entry_receiver base;
    struct spill *spill;
    struct spill_receiver *receiver;
};

static enum status pass_entry(struct state_entry_receiver *self,
                              const struct state_store_entry *entry, struct error *err)
{
    struct scan *scan = (struct scan *)self;
    scan->spill->entries_read++;
    return scan->receiver->receive(scan->receiver, entry->bucket, entry->key, entry->value, err);
}

enum status spill_scan(struct spill *spill, int64_t end, struct spill_receiver *receiver,
                       struct error *err)
{
    struct scan scan = {.base = {.receive = pass_entry}, .spill = spill, .receiver = receiver};
    struct state_place place = {
        .operator_id = spill->operator_id, .partition = spill->partition, .bucket = end};
    if (spill_find(spill, end) == NULL)
        return OK;
    return state_store_scan(spill->store, place, &scan.base, err);
}

enum status spill_load(struct spill *spill, int64_t end, struct spill_receiver *receiver,
                       struct error *err)
{
    TRY(spill_scan(spill, end, receiver, err));
    spill->fetched += spill_drop(spill, end);
    return OK;
}

struct reopening {
    struct state_bucket_receiver base;
    struct spill *spill;
};

static enum status note_bucket(struct state_bucket_receiver *self,
                               const struct state_bucket_info *info, struct error *err)
{
    struct reopening *reopening = (struct reopening *)self;
    (void)err;
    spill_add(reopening->spill, info->bucket, info->entries);
    return OK;
}

enum status spill_reopen(struct spill *spill, struct error *err)
{
    struct reopening reopening = {.base = {.receive = note_bucket}, .spill = spill};
    struct state_place place = {.operator_id = spill->operator_id, .partition = spill->partition};
    spill->reopened = true;
    return state_store_buckets(spill->store, place, &reopening.base, err);
}
