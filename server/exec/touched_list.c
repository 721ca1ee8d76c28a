/*
 * See touched_list.h.
 */
#include "exec/touched_list.h"

#include "base/heap.h"

#include <stdlib.h>

#define CAPACITY_MIN 8
#define BUCKETS_BACK 32 /* so many of the last ones are looked at before one is added again */

void touched_clear(struct touched_list *list)
{
    if (list->count < list->capacity / 4)
        touched_fini(list);
    list->count = list->bucket_count = list->current = 0;
    list->entries = 0;
}

void touched_fini(struct touched_list *list)
{
    free(list->words);
    free(list->buckets);
    *list = (struct touched_list){0};
}

uint64_t touched_bytes(const struct touched_list *list)
{
    return list->capacity * sizeof *list->words + list->bucket_capacity * sizeof *list->buckets;
}

/* By an eighth: doubling would leave too much unused. */
static size_t larger(size_t capacity)
{
    return capacity + capacity / 8 + CAPACITY_MIN;
}

void touched_grow(struct touched_list *list)
{
    list->capacity = larger(list->capacity);
    list->words = heap_realloc(list->words, list->capacity * sizeof *list->words);
}

/* The index of the bucket, if it is one of the last. */
static size_t bucket_index(const struct touched_list *list, int64_t bucket)
{
    size_t i = list->bucket_count;
    size_t end = i > BUCKETS_BACK ? i - BUCKETS_BACK : 0;
    while (i > end)
        if (list->buckets[--i] == bucket)
            return i;
    return list->bucket_count;
}

void touched_add_bucket(struct touched_list *list, int64_t bucket)
{
    list->current = bucket_index(list, bucket);
    if (list->current == list->bucket_count) {
        if (list->bucket_count == list->bucket_capacity) {
            list->bucket_capacity = larger(list->bucket_capacity);
            list->buckets =
                heap_realloc(list->buckets, list->bucket_capacity * sizeof *list->buckets);
        }
        list->buckets[list->bucket_count++] = bucket;
    }
    if (list->count == list->capacity)
        touched_grow(list);
    list->words[list->count++] = (uintptr_t)(list->current << 1 | 1);
}
