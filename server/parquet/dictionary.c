/* The different values of a column chunk: see dictionary.h. */
#include "parquet/dictionary.h"

#include "base/check.h"
#include "base/hash.h"
#include "base/heap.h"

#include <stdlib.h>

#define SLOTS_MIN 256

void dictionary_fini(struct dictionary *dictionary)
{
    buffer_fini(&dictionary->page);
    buffer_fini(&dictionary->ends);
    free(dictionary->slots);
    dictionary->slots = NULL;
    dictionary->slot_count = 0;
    dictionary->count = 0;
}

void dictionary_clear(struct dictionary *dictionary)
{
    buffer_clear(&dictionary->page);
    buffer_clear(&dictionary->ends);
    if (dictionary->count > 0)
        memset(dictionary->slots, 0, dictionary->slot_count * sizeof *dictionary->slots);
    dictionary->count = 0;
}

size_t dictionary_memory(const struct dictionary *dictionary)
{
    return dictionary->page.capacity_bytes + dictionary->ends.capacity_bytes +
           dictionary->slot_count * sizeof *dictionary->slots;
}

static uint32_t end_of(const struct dictionary *dictionary, uint32_t index)
{
    uint32_t end = 0;
    memcpy(&end, dictionary->ends.data + (size_t)index * sizeof end, sizeof end);
    return end;
}

struct bytes dictionary_value(const struct dictionary *dictionary, uint32_t index)
{
    CHECK(index < dictionary->count);
    if (dictionary->width > 0)
        return bytes_of(dictionary->page.data + (size_t)index * dictionary->width,
                        dictionary->width);
    uint32_t start = (index == 0 ? 0 : end_of(dictionary, index - 1)) + 4;
    return bytes_of(dictionary->page.data + start, end_of(dictionary, index) - start);
}

static uint64_t hash_of(const struct dictionary *dictionary, struct bytes value)
{
    uint64_t key = 0;
    if (dictionary->width == 0 || dictionary->width > sizeof key)
        return hash_bytes(value.data, value.size_bytes);
    memcpy(&key, value.data, value.size_bytes);
    return hash_u64(key);
}

static void place(struct dictionary *dictionary, uint64_t hash, uint32_t index)
{
    uint32_t mask = dictionary->slot_count - 1;
    uint32_t at = (uint32_t)hash & mask;
    while (dictionary->slots[at] != 0)
        at = (at + 1) & mask;
    dictionary->slots[at] = index + 1;
}

/* At most half of the slots are taken. */
static void make_room(struct dictionary *dictionary)
{
    if (dictionary->count * 2 < dictionary->slot_count)
        return;
    uint32_t slot_count = dictionary->slot_count == 0 ? SLOTS_MIN : dictionary->slot_count * 2;
    free(dictionary->slots);
    dictionary->slots = heap_calloc(slot_count, sizeof *dictionary->slots);
    dictionary->slot_count = slot_count;
    for (uint32_t i = 0; i < dictionary->count; i++)
        place(dictionary, hash_of(dictionary, dictionary_value(dictionary, i)), i);
}

static uint32_t append(struct dictionary *dictionary, struct bytes value)
{
    if (dictionary->width == 0) {
        uint32_t size = (uint32_t)value.size_bytes;
        buffer_add(&dictionary->page, &size, sizeof size);
        buffer_add_bytes(&dictionary->page, value);
        uint32_t end = (uint32_t)dictionary->page.size_bytes;
        buffer_add(&dictionary->ends, &end, sizeof end);
    } else {
        buffer_add_bytes(&dictionary->page, value);
    }
    return dictionary->count++;
}

static uint32_t index_of(struct dictionary *dictionary, struct bytes value)
{
    make_room(dictionary);
    uint64_t hash = hash_of(dictionary, value);
    uint32_t mask = dictionary->slot_count - 1;
    uint32_t at = (uint32_t)hash & mask;
    for (; dictionary->slots[at] != 0; at = (at + 1) & mask)
        if (bytes_equal(dictionary_value(dictionary, dictionary->slots[at] - 1), value))
            return dictionary->slots[at] - 1;
    uint32_t index = append(dictionary, value);
    dictionary->slots[at] = index + 1;
    return index;
}

/* A value of four or eight bytes as a number, whatever it is. */
static inline uint64_t load(const uint8_t *at, uint32_t width)
{
    uint32_t low = 0;
    uint64_t all = 0;
    if (width == sizeof low) {
        memcpy(&low, at, sizeof low);
        return low;
    }
    memcpy(&all, at, sizeof all);
    return all;
}

static inline uint32_t index_of_number(struct dictionary *dictionary, uint64_t key, uint32_t width)
{
    make_room(dictionary);
    uint32_t mask = dictionary->slot_count - 1;
    uint32_t at = (uint32_t)hash_u64(key) & mask;
    for (; dictionary->slots[at] != 0; at = (at + 1) & mask) {
        uint32_t index = dictionary->slots[at] - 1;
        if (load(dictionary->page.data + (size_t)index * width, width) == key)
            return index;
    }
    uint32_t index = append(dictionary, bytes_of(&key, width));
    dictionary->slots[at] = index + 1;
    return index;
}

static inline void add_numbers(struct dictionary *dictionary, const struct values *values,
                               uint32_t width, uint32_t *out)
{
    uint64_t before = 0;
    for (uint32_t i = 0; i < values->count; i++) {
        uint64_t key = load(values->fixed + (size_t)i * width, width);
        out[i] = i > 0 && key == before ? out[i - 1] : index_of_number(dictionary, key, width);
        before = key;
    }
}

void dictionary_add(struct dictionary *dictionary, const struct values *values, uint32_t *out)
{
    uint32_t width = dictionary->width;
    if (width == sizeof(uint64_t)) {
        add_numbers(dictionary, values, sizeof(uint64_t), out);
        return;
    }
    if (width == sizeof(uint32_t)) {
        add_numbers(dictionary, values, sizeof(uint32_t), out);
        return;
    }
    struct bytes before = {0};
    for (uint32_t i = 0; i < values->count; i++) {
        struct bytes value =
            width == 0 ? values->views[i] : bytes_of(values->fixed + (size_t)i * width, width);
        out[i] = i > 0 && bytes_equal(before, value) ? out[i - 1] : index_of(dictionary, value);
        before = value;
    }
}
