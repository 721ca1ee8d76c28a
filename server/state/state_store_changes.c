/*
 * See state_store_changes.h.
 */
#include "state/state_store_changes.h"

#include "base/buffer.h"
#include "base/check.h"
#include "base/heap.h"
#include "state/changelog.h"

#include <stdlib.h>

#define LOOK_AFTER 256 /* changes, at the limit */
#define SORT_BYTES 16  /* of memory for each, while they are sorted */

/* Of an operator in a partition: all buckets up to this one. */
struct drop {
    uint32_t operator_id;
    uint32_t partition;
    int64_t bucket;
    uint64_t order;
};

struct state_changes {
    struct arena *arena;
    struct buffer key;
    struct state_change *items;
    size_t count;
    size_t capacity;
    struct drop *drops;
    size_t drop_count;
    size_t drop_capacity;
    uint64_t order;
    struct state_range *ranges;
    size_t limit_bytes;
    struct state_changes_owner *owner; /* NULL: there is no limit */
};

struct state_changes *state_changes_new(void)
{
    struct state_changes *changes = heap_calloc(1, sizeof *changes);
    changes->arena = arena_new("state changes", 0);
    return changes;
}

void state_changes_limit(struct state_changes *changes, size_t limit_bytes,
                         struct state_changes_owner *owner)
{
    changes->limit_bytes = limit_bytes;
    changes->owner = owner;
}

static void free_results(struct state_changes *changes)
{
    free(changes->ranges);
    changes->ranges = NULL;
}

void state_changes_free(struct state_changes *changes)
{
    if (changes == NULL)
        return;
    free_results(changes);
    free(changes->items);
    free(changes->drops);
    buffer_fini(&changes->key);
    arena_free(changes->arena);
    free(changes);
}

void state_changes_clear(struct state_changes *changes)
{
    free_results(changes);
    arena_reset(changes->arena);
    changes->count = changes->drop_count = 0;
}

void state_changes_trim(struct state_changes *changes)
{
    state_changes_clear(changes);
    free(changes->items);
    free(changes->drops);
    changes->items = NULL;
    changes->drops = NULL;
    changes->capacity = changes->drop_capacity = 0;
    buffer_fini(&changes->key);
    arena_trim(changes->arena);
}

static void add_drop(struct state_changes *changes, struct drop drop)
{
    if (changes->drop_count == changes->drop_capacity) {
        changes->drop_capacity = changes->drop_capacity == 0 ? 16 : changes->drop_capacity * 2;
        changes->drops =
            heap_realloc(changes->drops, changes->drop_capacity * sizeof *changes->drops);
    }
    changes->drops[changes->drop_count++] = drop;
}

static void add_item(struct state_changes *changes, struct state_place place,
                     const struct change *change)
{
    if (changes->count == changes->capacity) {
        changes->capacity = changes->capacity == 0 ? 1024 : changes->capacity / 2 * 3;
        changes->items = heap_realloc(changes->items, changes->capacity * sizeof *changes->items);
    }
    uint8_t prefix[STATE_KEY_PREFIX_BYTES];
    place.bucket = change->bucket;
    state_key_prefix(prefix, place);
    buffer_clear(&changes->key);
    buffer_add(&changes->key, prefix, sizeof prefix);
    buffer_add_bytes(&changes->key, change->key);
    struct state_change *item = &changes->items[changes->count++];
    *item = (struct state_change){
        .key = arena_copy(changes->arena, buffer_bytes(&changes->key)),
        .gone = change->kind == CHANGE_TAKE,
        .order = changes->order,
    };
    if (!item->gone)
        item->value = arena_copy(changes->arena, change->value);
}

enum status state_changes_add(struct state_changes *changes, struct bytes record, struct error *err)
{
    struct state_place place = {0};
    struct changelog_reader reader = {0};
    struct change change;
    bool found = true;
    enum status status = OK;
    bool good = changelog_open(record, &place.operator_id, &place.partition, &reader.rest);
    while (good && found && status == OK) {
        if (changes->owner != NULL && changes->count % LOOK_AFTER == 0 && changes->count > 0 &&
            state_changes_bytes(changes) >= changes->limit_bytes)
            status = changes->owner->full(changes->owner, err);
        good = changelog_next(&reader, &change, &found);
        if (!good || !found)
            break;
        changes->order++;
        if (change.kind == CHANGE_DROP)
            add_drop(changes, (struct drop){.operator_id = place.operator_id,
                                            .partition = place.partition,
                                            .bucket = change.bucket,
                                            .order = changes->order});
        else
            add_item(changes, place, &change);
    }
    changelog_reader_fini(&reader);
    TRY(status);
    return good ? OK
                : error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "a record of state", NULL);
}

size_t state_changes_bytes(const struct state_changes *changes)
{
    return arena_used_bytes(changes->arena) +
           changes->count * (sizeof *changes->items + SORT_BYTES) +
           changes->drop_count * sizeof *changes->drops;
}

static int compare_items(const void *left, const void *right)
{
    const struct state_change *a = left;
    const struct state_change *b = right;
    int order = bytes_compare(a->key, b->key);
    return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}

static int compare_places(const struct drop *a, const struct drop *b)
{
    if (a->operator_id != b->operator_id)
        return a->operator_id < b->operator_id ? -1 : 1;
    return (a->partition > b->partition) - (a->partition < b->partition);
}

/* By place; the latest bucket first, and of those that are the same the latest drop. */
static int compare_drops(const void *left, const void *right)
{
    const struct drop *a = left;
    const struct drop *b = right;
    int order = compare_places(a, b);
    if (order != 0)
        return order;
    if (a->bucket != b->bucket)
        return a->bucket > b->bucket ? -1 : 1;
    return (a->order < b->order) - (a->order > b->order);
}

/* Leaves of each place the drops that another does not make needless: it would have to come later
 * and reach as far. */
static void reduce_drops(struct state_changes *changes)
{
    size_t kept = 0;
    if (changes->drop_count == 0)
        return;
    qsort(changes->drops, changes->drop_count, sizeof *changes->drops, compare_drops);
    for (size_t i = 0; i < changes->drop_count; i++) {
        const struct drop *drop = &changes->drops[i];
        if (kept > 0 && compare_places(&changes->drops[kept - 1], drop) == 0 &&
            changes->drops[kept - 1].order > drop->order)
            continue;
        changes->drops[kept++] = *drop;
    }
    changes->drop_count = kept;
}

/* Whether a drop came after the item.  *at: the first drop of its place or a later one; items come
 * sorted. */
static bool is_dropped(const struct state_changes *changes, const struct state_change *item,
                       size_t *at)
{
    struct state_store_entry entry;
    if (changes->drop_count == 0 || !state_key_split(item->key, &entry))
        return false;
    struct drop place = {.operator_id = entry.operator_id, .partition = entry.partition};
    while (*at < changes->drop_count && compare_places(&changes->drops[*at], &place) < 0)
        ++*at;
    for (size_t i = *at; i < changes->drop_count && compare_places(&changes->drops[i], &place) == 0;
         i++)
        if (changes->drops[i].bucket >= entry.bucket && changes->drops[i].order > item->order)
            return true;
    return false;
}

/* The range of all that the drops of a place remove: the first of them reaches farthest. */
static struct state_range range_of(struct arena *arena, const struct drop *drop)
{
    uint8_t prefix[STATE_KEY_PREFIX_BYTES];
    uint8_t after[STATE_KEY_PREFIX_BYTES];
    state_key_prefix(prefix, (struct state_place){.operator_id = drop->operator_id,
                                                  .partition = drop->partition,
                                                  .bucket = drop->bucket});
    size_t size = state_key_after(after, bytes_of(prefix, sizeof prefix));
    return (struct state_range){
        .from = arena_copy(arena, bytes_of(prefix, STATE_KEY_GROUP_BYTES)),
        .until = arena_copy(arena, bytes_of(after, size)),
    };
}

void state_changes_finish(struct state_changes *changes, const struct state_range **ranges,
                          size_t *range_count, const struct state_change **items, size_t *count)
{
    free_results(changes);
    reduce_drops(changes);
    changes->ranges = heap_calloc(changes->drop_count + 1, sizeof *changes->ranges);
    size_t at = 0;
    *count = *range_count = 0;
    if (changes->count > 0)
        qsort(changes->items, changes->count, sizeof *changes->items, compare_items);
    for (size_t i = 0; i < changes->count; i++) {
        const struct state_change *item = &changes->items[i];
        bool last = i + 1 == changes->count || !bytes_equal(item->key, changes->items[i + 1].key);
        if (last && !is_dropped(changes, item, &at))
            changes->items[(*count)++] = *item;
    }
    changes->count = *count;
    for (size_t i = 0; i < changes->drop_count; i++)
        if (i == 0 || compare_places(&changes->drops[i - 1], &changes->drops[i]) != 0)
            changes->ranges[(*range_count)++] = range_of(changes->arena, &changes->drops[i]);
    *ranges = changes->ranges;
    *items = changes->items;
}
