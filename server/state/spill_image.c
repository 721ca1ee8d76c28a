/*
 * See spill_image.h.
 */
#include "state/spill_image.h"

#include "base/check.h"
#include "base/crc32c.h"
#include "base/heap.h"

#include <stdio.h>
#include <stdlib.h>

#define IMAGE_MAGIC  0x59111a01U
#define HASH_BITS    32U
#define HEADER_BYTES 16U
#define LARGE        255U /* sizes stand in four bytes each */
#define SPARSE_BITS  3U   /* the directory has at most so many bits more than all pages need */
#define NO_PAGES     UINT8_MAX

struct header {
    uint32_t crc;
    uint32_t page;
    uint32_t bytes; /* of the entries */
    uint32_t count;
};
_Static_assert(sizeof(struct header) == HEADER_BYTES, "the header of a chunk");

struct chunk {
    uint32_t page;
    uint32_t bytes; /* of the entries; 0: there are none, and no pages */
    uint8_t depth;
    uint8_t size_class; /* NO_PAGES: none */
};

struct spill_image {
    uint32_t magic;
    uint32_t chunk_count;
    uint32_t chunk_capacity;
    uint32_t depth; /* of the directory */
    struct chunk *chunks;
    uint32_t *directory; /* 2^depth: indexes of chunks */
    int64_t end;
    uint64_t entries;
    uint64_t bytes; /* of all entries */
};

struct entry {
    uint32_t hash;
    struct bytes key;
    struct bytes value;
    const uint8_t *next;
};

struct spill_image *spill_image_new(int64_t end)
{
    struct spill_image *image = heap_calloc(1, sizeof *image);
    image->magic = IMAGE_MAGIC;
    image->end = end;
    image->chunk_count = image->chunk_capacity = 1;
    image->chunks = heap_calloc(1, sizeof *image->chunks);
    image->directory = heap_calloc(1, sizeof *image->directory);
    image->chunks[0].size_class = NO_PAGES;
    return image;
}

static void give_pages(struct chunk *chunk, struct spill_space *space)
{
    if (chunk->size_class != NO_PAGES)
        spill_space_give(space, chunk->size_class, chunk->page);
    chunk->size_class = NO_PAGES;
    chunk->bytes = 0;
}

void spill_image_free(struct spill_image *image, struct spill_space *space)
{
    if (image == NULL)
        return;
    CHECK_MAGIC(image, IMAGE_MAGIC);
    for (uint32_t i = 0; i < image->chunk_count; i++)
        give_pages(&image->chunks[i], space);
    free(image->chunks);
    free(image->directory);
    image->magic = 0;
    free(image);
}

uint64_t spill_image_entries(const struct spill_image *image)
{
    return image->entries;
}

uint64_t spill_image_disk_bytes(const struct spill_image *image)
{
    return image->bytes;
}

size_t spill_image_bytes(const struct spill_image *image)
{
    return sizeof *image + image->chunk_capacity * sizeof *image->chunks +
           ((size_t)1 << image->depth) * sizeof *image->directory;
}

/* ---- entries ---- */

static uint32_t get32(const uint8_t *data)
{
    uint32_t value = 0;
    memcpy(&value, data, sizeof value);
    return value;
}

/* False: it reaches beyond `end`. */
static bool read_entry(const uint8_t *at, const uint8_t *end, struct entry *out)
{
    if (end - at < 6)
        return false;
    size_t key_bytes = at[4];
    size_t value_bytes = at[5];
    out->hash = get32(at);
    at += 6;
    if (key_bytes == LARGE || value_bytes == LARGE) {
        if (end - at < 8)
            return false;
        key_bytes = get32(at);
        value_bytes = get32(at + 4);
        at += 8;
    }
    if ((size_t)(end - at) < key_bytes || (size_t)(end - at) - key_bytes < value_bytes)
        return false;
    out->key = bytes_of(at, key_bytes);
    out->value = bytes_of(at + key_bytes, value_bytes);
    out->next = at + key_bytes + value_bytes;
    return true;
}

/* An entry that the sizes of the format cannot say. */
static enum status check_entry(struct bytes key, struct bytes value, struct error *err)
{
    if (key.size_bytes <= SPILL_VALUE_BYTES_MAX && value.size_bytes <= SPILL_VALUE_BYTES_MAX)
        return OK;
    char limit[32];
    (void)snprintf(limit, sizeof limit, "%zu", SPILL_VALUE_BYTES_MAX);
    return error_raise(err, STATUS_LIMIT_EXCEEDED, "what",
                       "the bytes that the state has of one key, when it is put on the disk",
                       "limit", limit, NULL);
}

static void add_entry(struct buffer *out, uint32_t hash, struct bytes key, struct bytes value)
{
    bool large = key.size_bytes >= LARGE || value.size_bytes >= LARGE;
    uint32_t sizes[2] = {(uint32_t)key.size_bytes, (uint32_t)value.size_bytes};
    uint8_t head[14];
    size_t head_bytes = large ? 14 : 6;
    memcpy(head, &hash, sizeof hash);
    head[4] = large ? LARGE : (uint8_t)key.size_bytes;
    head[5] = large ? LARGE : (uint8_t)value.size_bytes;
    memcpy(head + 6, sizes, sizeof sizes);
    uint8_t *to = buffer_reserve(out, head_bytes + key.size_bytes + value.size_bytes);
    memcpy(to, head, head_bytes);
    if (key.size_bytes > 0)
        memcpy(to + head_bytes, key.data, key.size_bytes);
    if (value.size_bytes > 0)
        memcpy(to + head_bytes + key.size_bytes, value.data, value.size_bytes);
    out->size_bytes += head_bytes + key.size_bytes + value.size_bytes;
}

/* ---- chunks ---- */

/* *entries: those of the chunk, in `in`. */
static enum status read_chunk(const struct chunk *chunk, const struct spill_space *space,
                              struct buffer *in, struct bytes *entries, struct error *err)
{
    struct header header;
    *entries = bytes_of(NULL, 0);
    if (chunk->bytes == 0)
        return OK;
    TRY(spill_file_read(space->file, chunk->page, HEADER_BYTES + (size_t)chunk->bytes, in, err));
    memcpy(&header, in->data, sizeof header);
    uint32_t crc = crc32c(0, in->data + 4, in->size_bytes - 4);
    if (header.crc != crc || header.page != chunk->page || header.bytes != chunk->bytes)
        return spill_file_damaged(space->file, err);
    *entries = bytes_of(in->data + HEADER_BYTES, chunk->bytes);
    return OK;
}

static uint32_t class_of(size_t bytes)
{
    uint32_t size_class = 0;
    while (SPILL_PAGE_BYTES << size_class < bytes)
        size_class++;
    return size_class;
}

/* Entries of a chunk that are to be written.  HEADER_BYTES before them may be overwritten. */
struct content {
    uint8_t *data;
    size_t bytes;
    uint32_t count;
};

/* More entries of one hash than a chunk can have: they are not divided any further. */
static enum status check_chunk(const struct spill_space *space, size_t bytes, struct error *err)
{
    size_t most = space->chunk_bytes_max;
    if (most == 0)
        most = UINT32_MAX - HEADER_BYTES;
    if (bytes <= most)
        return OK;
    char limit[32];
    (void)snprintf(limit, sizeof limit, "%zu", most);
    return error_raise(
        err, STATUS_LIMIT_EXCEEDED, "what",
        "the bytes that the state has of keys with one hash, when it is put on the disk", "limit",
        limit, NULL);
}

static enum status write_chunk(struct spill_image *image, struct spill_space *space, uint32_t index,
                               struct content content, struct error *err)
{
    struct chunk *chunk = &image->chunks[index];
    uint8_t saved[HEADER_BYTES];
    if (content.count == 0) {
        give_pages(chunk, space);
        return OK;
    }
    TRY(check_chunk(space, content.bytes, err));
    uint32_t size_class = class_of(content.bytes + HEADER_BYTES);
    if (size_class != chunk->size_class) {
        give_pages(chunk, space);
        TRY(spill_space_take(space, size_class, &chunk->page, err));
        chunk->size_class = (uint8_t)size_class;
    }
    chunk->bytes = (uint32_t)content.bytes;
    struct header header = {.page = chunk->page, .bytes = chunk->bytes, .count = content.count};
    uint8_t *whole = content.data - HEADER_BYTES;
    memcpy(saved, whole, HEADER_BYTES); /* of its neighbour */
    memcpy(whole, &header, HEADER_BYTES);
    header.crc = crc32c(0, whole + 4, HEADER_BYTES - 4 + content.bytes);
    memcpy(whole, &header, HEADER_BYTES);
    enum status status = spill_file_write(space->file, chunk->page,
                                          bytes_of(whole, HEADER_BYTES + content.bytes), err);
    memcpy(whole, saved, HEADER_BYTES);
    return status;
}

static void double_directory(struct spill_image *image)
{
    size_t size = (size_t)1 << image->depth;
    uint32_t *directory = heap_malloc(2 * size * sizeof *directory);
    for (size_t i = 0; i < size; i++)
        directory[2 * i] = directory[2 * i + 1] = image->directory[i];
    free(image->directory);
    image->directory = directory;
    image->depth++;
}

/* The first `bits` bits of a hash. */
static uint32_t prefix_of(uint32_t hash, uint32_t bits)
{
    return bits == 0 ? 0 : hash >> (HASH_BITS - bits);
}

/* The upper half of the chunk, in which `hash` is, becomes a chunk of its own; its index. */
static uint32_t split_chunk(struct spill_image *image, uint32_t index, uint32_t hash)
{
    uint32_t depth = image->chunks[index].depth;
    CHECK(depth < HASH_BITS);
    if (depth == image->depth)
        double_directory(image);
    if (image->chunk_count == image->chunk_capacity) {
        image->chunk_capacity += image->chunk_capacity / 2 + 1;
        image->chunks = heap_realloc(image->chunks, image->chunk_capacity * sizeof *image->chunks);
    }
    uint32_t upper = image->chunk_count++;
    image->chunks[index].depth = (uint8_t)(depth + 1);
    image->chunks[upper] = (struct chunk){.depth = (uint8_t)(depth + 1), .size_class = NO_PAGES};
    uint32_t places = 1U << (image->depth - depth - 1);
    uint32_t first = (prefix_of(hash, depth) * 2 + 1) * places;
    for (uint32_t i = 0; i < places; i++)
        image->directory[first + i] = upper;
    return upper;
}

/* Whether a chunk of this depth may be split: not if the directory would be nearly all the same. */
static bool may_split(const struct spill_image *image, uint32_t depth)
{
    uint64_t pages = image->bytes / SPILL_PAGE_BYTES;
    uint32_t bits = pages == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(pages);
    return depth < HASH_BITS && depth < bits + SPARSE_BITS;
}

/* Where the entries begin whose hash has `bit` set, and how many stand before it. */
static size_t find_bit(struct content content, uint32_t bit, uint32_t *before)
{
    const uint8_t *at = content.data;
    const uint8_t *end = content.data + content.bytes;
    struct entry entry;
    *before = 0;
    while (at < end && read_entry(at, end, &entry) && (entry.hash & bit) == 0) {
        at = entry.next;
        ++*before;
    }
    return (size_t)(at - content.data);
}

/* Writes what belongs to a chunk, which is split until each part fits into a page.  The depth of
 * the recursion is that of hashes. */
static enum status place(struct spill_image *image, struct spill_space *space, uint32_t index,
                         struct content content, struct error *err)
{
    uint32_t depth = image->chunks[index].depth;
    if (content.count < 2 || content.bytes + HEADER_BYTES <= SPILL_PAGE_BYTES ||
        !may_split(image, depth))
        return write_chunk(image, space, index, content, err);
    uint32_t before = 0;
    size_t cut = find_bit(content, 1U << (HASH_BITS - 1 - depth), &before);
    uint32_t upper = split_chunk(image, index, get32(content.data));
    struct content low = {.data = content.data, .bytes = cut, .count = before};
    struct content high = {
        .data = content.data + cut, .bytes = content.bytes - cut, .count = content.count - before};
    TRY(place(image, space, upper, high, err));
    return place(image, space, index, low, err);
}

/* ---- writing ---- */

/* Items of one chunk, and what it has. */
struct merge {
    struct spill_image *image;
    struct spill_buffers *buffers;
    struct spill_source *source;
    const struct spill_item *items;
    size_t count;
    uint32_t written;
    uint64_t entries; /* old ones */
};

static enum status put_item(struct merge *merge, const struct spill_item *item, struct error *err)
{
    struct spill_buffers *buffers = merge->buffers;
    if (merge->source->value == NULL)
        return OK;
    buffer_clear(&buffers->value);
    merge->source->value(merge->source, item->item, &buffers->value);
    struct bytes key = merge->source->key(merge->source, item->item);
    TRY(check_entry(key, buffer_bytes(&buffers->value), err));
    add_entry(&buffers->out, item->hash, key, buffer_bytes(&buffers->value));
    merge->written++;
    return OK;
}

/* Whether one of the items with this hash, from `at` on, is about this entry. */
static bool is_replaced(const struct merge *merge, size_t at, const struct entry *entry)
{
    for (; at < merge->count && merge->items[at].hash == entry->hash; at++)
        if (bytes_equal(merge->source->key(merge->source, merge->items[at].item), entry->key))
            return true;
    return false;
}

static enum status merge_entries(struct merge *merge, struct bytes old,
                                 const struct spill_space *space, struct error *err)
{
    const uint8_t *at = old.data;
    const uint8_t *end = old.size_bytes == 0 ? at : old.data + old.size_bytes;
    struct buffer *out = &merge->buffers->out;
    struct entry entry;
    size_t next = 0;
    for (; at < end; at = entry.next) {
        if (!read_entry(at, end, &entry))
            return spill_file_damaged(space->file, err);
        while (next < merge->count && merge->items[next].hash < entry.hash)
            TRY(put_item(merge, &merge->items[next++], err));
        merge->entries++;
        if (is_replaced(merge, next, &entry))
            continue;
        buffer_add(out, at, (size_t)(entry.next - at));
        merge->written++;
    }
    while (next < merge->count)
        TRY(put_item(merge, &merge->items[next++], err));
    return OK;
}

static uint32_t chunk_of(const struct spill_image *image, uint32_t hash)
{
    return image->directory[prefix_of(hash, image->depth)];
}

/* The first hash behind those of a chunk; 0: there are none. */
static uint32_t hash_after(const struct chunk *chunk, uint32_t hash)
{
    if (chunk->depth == 0)
        return 0;
    uint32_t span = chunk->depth == HASH_BITS ? 1 : 1U << (HASH_BITS - chunk->depth);
    return (hash & ~(span - 1)) + span;
}

static enum status write_part(struct merge *merge, struct spill_space *space, struct error *err)
{
    struct spill_image *image = merge->image;
    struct buffer *out = &merge->buffers->out;
    struct bytes old;
    uint32_t index = chunk_of(image, merge->items[0].hash);
    TRY(read_chunk(&image->chunks[index], space, &merge->buffers->in, &old, err));
    buffer_clear(out);
    memset(buffer_reserve(out, HEADER_BYTES), 0, HEADER_BYTES);
    out->size_bytes = HEADER_BYTES;
    TRY(merge_entries(merge, old, space, err));
    image->bytes = image->bytes - old.size_bytes + out->size_bytes - HEADER_BYTES;
    image->entries = image->entries - merge->entries + merge->written;
    struct content content = {.data = out->data + HEADER_BYTES,
                              .bytes = out->size_bytes - HEADER_BYTES,
                              .count = merge->written};
    return place(image, space, index, content, err);
}

enum status spill_image_write(struct spill_image *image, struct spill_space *space,
                              struct spill_buffers *buffers, const struct spill_item *items,
                              size_t count, struct spill_source *source, struct error *err)
{
    CHECK_MAGIC(image, IMAGE_MAGIC);
    for (size_t first = 0; first < count;) {
        const struct chunk *chunk = &image->chunks[chunk_of(image, items[first].hash)];
        uint32_t after = hash_after(chunk, items[first].hash);
        size_t end = first + 1;
        while (end < count && (after == 0 || items[end].hash < after))
            end++;
        struct merge merge = {.image = image,
                              .buffers = buffers,
                              .source = source,
                              .items = items + first,
                              .count = end - first};
        TRY(write_part(&merge, space, err));
        first = end;
    }
    return OK;
}

/* ---- reading ---- */

/* Keys of one chunk. */
static enum status get_part(const struct spill_image *image, const struct spill_space *space,
                            struct bytes entries, const struct spill_key *keys, size_t count,
                            struct spill_receiver *receiver, struct error *err)
{
    const uint8_t *at = entries.data;
    const uint8_t *end = entries.size_bytes == 0 ? at : entries.data + entries.size_bytes;
    struct entry entry;
    size_t next = 0;
    for (; at < end && next < count; at = entry.next) {
        if (!read_entry(at, end, &entry))
            return spill_file_damaged(space->file, err);
        while (next < count && keys[next].hash < entry.hash)
            next++;
        for (size_t i = next; i < count && keys[i].hash == entry.hash; i++)
            if (bytes_equal(keys[i].key, entry.key)) {
                TRY(receiver->receive(receiver, image->end, entry.key, entry.value, err));
                break;
            }
    }
    return OK;
}

enum status spill_image_get(const struct spill_image *image, struct spill_space *space,
                            struct spill_buffers *buffers, const struct spill_key *keys,
                            size_t count, struct spill_receiver *receiver, struct error *err)
{
    CHECK_MAGIC(image, IMAGE_MAGIC);
    for (size_t first = 0; first < count;) {
        const struct chunk *chunk = &image->chunks[chunk_of(image, keys[first].hash)];
        uint32_t after = hash_after(chunk, keys[first].hash);
        struct bytes entries;
        size_t end = first + 1;
        while (end < count && (after == 0 || keys[end].hash < after))
            end++;
        TRY(read_chunk(chunk, space, &buffers->in, &entries, err));
        TRY(get_part(image, space, entries, keys + first, end - first, receiver, err));
        first = end;
    }
    return OK;
}

enum status spill_image_scan(const struct spill_image *image, struct spill_space *space,
                             struct spill_buffers *buffers, struct spill_receiver *receiver,
                             struct error *err)
{
    CHECK_MAGIC(image, IMAGE_MAGIC);
    for (uint32_t i = 0; i < image->chunk_count; i++) {
        struct bytes entries;
        struct entry entry;
        TRY(read_chunk(&image->chunks[i], space, &buffers->in, &entries, err));
        if (entries.size_bytes == 0)
            continue;
        const uint8_t *end = entries.data + entries.size_bytes;
        for (const uint8_t *at = entries.data; at < end; at = entry.next) {
            if (!read_entry(at, end, &entry))
                return spill_file_damaged(space->file, err);
            buffers->entries_read++;
            TRY(receiver->receive(receiver, image->end, entry.key, entry.value, err));
        }
    }
    return OK;
}

/* What is left of one chunk. */
static enum status walk_part(const struct spill_image *image, const struct spill_space *space,
                             struct bytes entries, struct spill_walk *walk,
                             struct spill_receiver *receiver, struct error *err)
{
    const struct chunk *chunk = &image->chunks[chunk_of(image, walk->next)];
    const uint8_t *at = entries.data;
    const uint8_t *end = entries.size_bytes == 0 ? at : entries.data + entries.size_bytes;
    struct entry entry;
    for (; at < end; at = entry.next) {
        if (!read_entry(at, end, &entry))
            return spill_file_damaged(space->file, err);
        if (entry.hash < walk->next)
            continue;
        if (walk->room == 0 && entry.hash != walk->next) {
            walk->next = entry.hash;
            return OK;
        }
        walk->next = entry.hash;
        TRY(receiver->receive(receiver, image->end, entry.key, entry.value, err));
    }
    walk->next = hash_after(chunk, walk->next);
    walk->over = walk->next == 0;
    return OK;
}

enum status spill_image_walk(const struct spill_image *image, struct spill_space *space,
                             struct spill_buffers *buffers, struct spill_walk *walk,
                             struct spill_receiver *receiver, struct error *err)
{
    CHECK_MAGIC(image, IMAGE_MAGIC);
    while (!walk->over && walk->room > 0) {
        struct bytes entries;
        TRY(read_chunk(&image->chunks[chunk_of(image, walk->next)], space, &buffers->in, &entries,
                       err));
        TRY(walk_part(image, space, entries, walk, receiver, err));
    }
    return OK;
}
