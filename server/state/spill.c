/*
 * See spill.h.
 */
#include "state/spill.h"

#include "base/check.h"
#include "base/failpoint.h"
#include "base/heap.h"
#include "state/state_table.h"

#include <stdlib.h>

#define ITEMS_MAX ((size_t)64 << 10) /* are written at once */

static void free_image(struct spill *spill, struct spill_bucket *bucket)
{
    spill->image_bytes -= spill_image_bytes(bucket->image);
    spill_image_free(bucket->image, &spill->space);
}

void spill_fini(struct spill *spill)
{
    struct spill_file *file = spill->space.file;
    for (uint32_t i = 0; i < spill->count; i++)
        free_image(spill, &spill->buckets[i]);
    free(spill->buckets);
    spill_trim(spill);
    spill_space_fini(&spill->space);
    *spill = (struct spill){.space = {.file = file}};
}

void spill_begin(struct spill *spill)
{
    spill->fetched = spill->keys_read = spill->buffers.entries_read = 0;
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

/* The bucket, made if it is not there. */
static struct spill_bucket *open_bucket(struct spill *spill, int64_t end)
{
    uint32_t index = bucket_index(spill, end);
    if (index < spill->count && spill->buckets[index].end == end)
        return &spill->buckets[index];
    if (spill->count == spill->capacity) {
        spill->capacity = spill->capacity == 0 ? 1 : spill->capacity * 2;
        spill->buckets = heap_realloc(spill->buckets, spill->capacity * sizeof *spill->buckets);
    }
    memmove(spill->buckets + index + 1, spill->buckets + index,
            (spill->count - index) * sizeof *spill->buckets);
    spill->buckets[index] = (struct spill_bucket){.end = end, .image = spill_image_new(end)};
    spill->count++;
    spill->image_bytes += spill_image_bytes(spill->buckets[index].image);
    return &spill->buckets[index];
}

uint64_t spill_drop(struct spill *spill, int64_t end)
{
    struct spill_bucket *bucket = spill_find(spill, end);
    if (bucket == NULL)
        return 0;
    uint64_t entries = bucket->entries;
    size_t index = (size_t)(bucket - spill->buckets);
    free_image(spill, bucket);
    spill->count--;
    memmove(bucket, bucket + 1, (spill->count - index) * sizeof *bucket);
    return entries;
}

void spill_drop_until(struct spill *spill, int64_t end)
{
    while (spill->count > 0 && spill->buckets[0].end <= end)
        spill_drop(spill, spill->buckets[0].end);
}

uint64_t spill_entries(const struct spill *spill)
{
    uint64_t entries = 0;
    for (uint32_t i = 0; i < spill->count; i++)
        entries += spill->buckets[i].entries;
    return entries;
}

uint64_t spill_entry_bytes(const struct spill *spill)
{
    uint64_t entries = 0;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < spill->count; i++) {
        entries += spill_image_entries(spill->buckets[i].image);
        bytes += spill_image_disk_bytes(spill->buckets[i].image);
    }
    return entries == 0 ? 0 : bytes / entries;
}

uint64_t spill_bytes(const struct spill *spill)
{
    return spill->capacity * sizeof *spill->buckets + spill->image_bytes + spill->space.bytes +
           spill->wanted_capacity * sizeof *spill->wanted +
           spill->item_capacity * sizeof *spill->items + spill->buffers.in.capacity_bytes +
           spill->buffers.out.capacity_bytes + spill->buffers.value.capacity_bytes;
}

void spill_trim(struct spill *spill)
{
    free(spill->wanted);
    free(spill->items);
    spill->wanted = NULL;
    spill->items = NULL;
    spill->wanted_count = spill->wanted_capacity = 0;
    spill->item_count = spill->item_capacity = 0;
    buffer_fini(&spill->buffers.in);
    buffer_fini(&spill->buffers.out);
    buffer_fini(&spill->buffers.value);
}

/* ---- to the disk ---- */

static int compare_items(const void *left, const void *right)
{
    const struct spill_item *a = left;
    const struct spill_item *b = right;
    return (a->hash > b->hash) - (a->hash < b->hash);
}

enum status spill_flush(struct spill *spill, int64_t end, struct spill_source *source,
                        struct error *err)
{
    size_t count = spill->item_count;
    spill->item_count = 0;
    if (count == 0)
        return OK;
    struct spill_bucket *bucket = open_bucket(spill, end);
    qsort(spill->items, count, sizeof *spill->items, compare_items);
    spill->image_bytes -= spill_image_bytes(bucket->image);
    enum status status = spill_image_write(bucket->image, &spill->space, &spill->buffers,
                                           spill->items, count, source, err);
    spill->image_bytes += spill_image_bytes(bucket->image);
    return status;
}

enum status spill_put(struct spill *spill, int64_t end, uint64_t hash, const void *item,
                      struct spill_source *source, struct error *err)
{
    if (spill->item_count == spill->item_capacity) {
        spill->item_capacity = spill->item_capacity == 0 ? 256 : spill->item_capacity * 2;
        spill->items = heap_realloc(spill->items, spill->item_capacity * sizeof *spill->items);
    }
    spill->items[spill->item_count++] = (struct spill_item){.hash = spill_hash(hash), .item = item};
    return spill->item_count < ITEMS_MAX ? OK : spill_flush(spill, end, source, err);
}

void spill_let_go(struct spill *spill, int64_t end)
{
    struct spill_bucket *bucket = spill_find(spill, end);
    CHECK(spill->item_count == 0);
    if (bucket != NULL)
        bucket->entries = spill_image_entries(bucket->image);
}

static struct bytes item_as_key(struct spill_source *self, const void *item)
{
    (void)self;
    return *(const struct bytes *)item;
}

enum status spill_remove(struct spill *spill, int64_t end, struct bytes key, struct error *err)
{
    struct spill_source source = {.key = item_as_key};
    struct spill_item item = {.hash = spill_hash(state_hash(key)), .item = &key};
    struct spill_bucket *bucket = spill_find(spill, end);
    if (bucket == NULL)
        return OK;
    spill->image_bytes -= spill_image_bytes(bucket->image);
    enum status status =
        spill_image_write(bucket->image, &spill->space, &spill->buffers, &item, 1, &source, err);
    spill->image_bytes += spill_image_bytes(bucket->image);
    return status;
}

/* ---- and back ---- */

void spill_want(struct spill *spill, int64_t end, uint64_t hash, struct bytes key)
{
    if (spill->wanted_count == spill->wanted_capacity) {
        spill->wanted_capacity = spill->wanted_capacity == 0 ? 256 : spill->wanted_capacity * 2;
        spill->wanted = heap_realloc(spill->wanted, spill->wanted_capacity * sizeof *spill->wanted);
    }
    spill->wanted[spill->wanted_count++] =
        (struct spill_key){.end = end, .hash = spill_hash(hash), .key = key};
}

static int compare_keys(const void *left, const void *right)
{
    const struct spill_key *a = left;
    const struct spill_key *b = right;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return (a->hash > b->hash) - (a->hash < b->hash);
}

/* Counts what comes back. */
struct fetch {
    struct spill_receiver base;
    struct spill *spill;
    struct spill_receiver *receiver;
};

static enum status take_found(struct spill_receiver *self, int64_t end, struct bytes key,
                              struct bytes value, struct error *err)
{
    const struct fetch *fetch = (struct fetch *)self;
    struct spill_bucket *bucket = spill_find(fetch->spill, end);
    if (bucket->entries > 0)
        bucket->entries--;
    fetch->spill->fetched++;
    return fetch->receiver->receive(fetch->receiver, end, key, value, err);
}

enum status spill_fetch(struct spill *spill, struct spill_receiver *receiver, struct error *err)
{
    struct fetch fetch = {.base = {.receive = take_found}, .spill = spill, .receiver = receiver};
    size_t count = spill->wanted_count;
    enum status status = OK;
    spill->wanted_count = 0;
    if (count == 0)
        return OK;
    qsort(spill->wanted, count, sizeof *spill->wanted, compare_keys);
    for (size_t first = 0, end = 0; first < count && status == OK; first = end) {
        const struct spill_key *keys = spill->wanted + first;
        const struct spill_bucket *bucket = spill_find(spill, keys->end);
        for (end = first; end < count && spill->wanted[end].end == keys->end; end++)
            continue;
        if (bucket == NULL || bucket->entries == 0)
            continue;
        spill->keys_read += end - first;
        status = spill_image_get(bucket->image, &spill->space, &spill->buffers, keys, end - first,
                                 &fetch.base, err);
    }
    spill_trim(spill); /* there are many partitions */
    TRY(status);
    return FAILPOINT(mid_unspill, err);
}

enum status spill_scan(struct spill *spill, int64_t end, struct spill_receiver *receiver,
                       struct error *err)
{
    const struct spill_bucket *bucket = spill_find(spill, end);
    if (bucket == NULL)
        return OK;
    return spill_image_scan(bucket->image, &spill->space, &spill->buffers, receiver, err);
}

/* Counts what is seen. */
struct sight {
    struct spill_receiver base;
    struct spill *spill;
    struct spill_receiver *receiver;
};

static enum status take_seen(struct spill_receiver *self, int64_t end, struct bytes key,
                             struct bytes value, struct error *err)
{
    const struct sight *sight = (struct sight *)self;
    sight->spill->buffers.entries_read++;
    return sight->receiver->receive(sight->receiver, end, key, value, err);
}

enum status spill_walk(struct spill *spill, int64_t end, struct spill_walk *walk,
                       struct spill_receiver *receiver, struct error *err)
{
    struct sight sight = {.base = {.receive = take_seen}, .spill = spill, .receiver = receiver};
    const struct spill_bucket *bucket = spill_find(spill, end);
    walk->over = walk->over || bucket == NULL;
    if (walk->over)
        return OK;
    return spill_image_walk(bucket->image, &spill->space, &spill->buffers, walk, &sight.base, err);
}

enum status spill_load(struct spill *spill, int64_t end, struct spill_receiver *receiver,
                       struct error *err)
{
    TRY(spill_scan(spill, end, receiver, err));
    spill->fetched += spill_drop(spill, end);
    return OK;
}
