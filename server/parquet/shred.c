/* Rows to levels: see shred.h. */
#include "parquet/shred.h"

#include "base/check.h"
#include "base/heap.h"

#include <stdlib.h>

#define PLACE_ENDED UINT32_MAX
#define PLACES_MAX  ((uint64_t)UINT32_MAX - 1)

void shred_fini(struct shred *shred)
{
    free(shred->definitions);
    free(shred->repetitions);
    free(shred->cells);
    free(shred->places);
    free(shred->spare.definitions);
    free(shred->spare.repetitions);
    free(shred->spare.places);
    *shred = (struct shred){0};
}

static enum status make_room(struct shred *shred, uint64_t count, struct error *err)
{
    if (count <= shred->capacity)
        return OK;
    if (count > PLACES_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what",
                           "the values of one column of a batch in Parquet", "limit", "4294967294",
                           NULL);
    size_t capacity = BATCH_ROWS_MAX;
    while (capacity < count)
        capacity *= 2;
    if (capacity > PLACES_MAX)
        capacity = PLACES_MAX;
    shred->definitions = heap_realloc(shred->definitions, capacity);
    shred->repetitions = heap_realloc(shred->repetitions, capacity);
    shred->cells = heap_realloc(shred->cells, capacity * sizeof(uint32_t));
    shred->places = heap_realloc(shred->places, capacity * sizeof(uint32_t));
    shred->spare.definitions = heap_realloc(shred->spare.definitions, capacity);
    shred->spare.repetitions = heap_realloc(shred->spare.repetitions, capacity);
    shred->spare.places = heap_realloc(shred->spare.places, capacity * sizeof(uint32_t));
    shred->capacity = (uint32_t)capacity;
    return OK;
}

/* Each list becomes its elements; a missing or an empty one stays one place, which has ended. */
static enum status expand(struct shred *shred, uint8_t repetition, struct error *err)
{
    const struct list_entry *lists = VECTOR_VALUES(struct list_entry, shred->vector);
    uint64_t total = 0;
    for (uint32_t i = 0; i < shred->count; i++) {
        uint32_t cell = shred->places[i];
        uint32_t length = cell == PLACE_ENDED ? 1 : lists[vector_index(shred->vector, cell)].length;
        total += length == 0 ? 1 : length;
    }
    TRY(make_room(shred, total, err));
    struct shred_spare to = shred->spare;
    uint32_t at = 0;
    for (uint32_t i = 0; i < shred->count; i++) {
        uint32_t cell = shred->places[i];
        struct list_entry list = {0};
        if (cell != PLACE_ENDED)
            list = lists[vector_index(shred->vector, cell)];
        to.definitions[at] = (uint8_t)(shred->definitions[i] + (list.length > 0));
        to.repetitions[at] = shred->repetitions[i];
        to.places[at++] = list.length > 0 ? list.offset : PLACE_ENDED;
        for (uint32_t j = 1; j < list.length; j++, at++) {
            to.definitions[at] = (uint8_t)(shred->definitions[i] + 1);
            to.repetitions[at] = repetition;
            to.places[at] = list.offset + j;
        }
    }
    shred->spare = (struct shred_spare){shred->definitions, shred->repetitions, shred->places};
    shred->definitions = to.definitions;
    shred->repetitions = to.repetitions;
    shred->places = to.places;
    shred->count = at;
    return OK;
}

/* What is NULL ends; what is there is defined one level more. */
static void end_nulls(struct shred *shred)
{
    const struct vector *vector = shred->vector;
    bool all_null = vector->type->id == TYPE_VOID;
    for (uint32_t i = 0; i < shred->count; i++) {
        if (shred->places[i] == PLACE_ENDED)
            continue;
        if (all_null || !validity_get(vector->validity, vector_index(vector, shred->places[i])))
            shred->places[i] = PLACE_ENDED;
        else
            shred->definitions[i]++;
    }
}

static enum status no_nulls(const struct shred *shred, struct error *err)
{
    for (uint32_t i = 0; i < shred->count; i++)
        if (shred->places[i] != PLACE_ENDED && vector_is_null(shred->vector, shred->places[i]))
            return error_raise(err, STATUS_NULL_MAP_KEY, NULL);
    return OK;
}

/* The values that are there, as places in a vector that is not constant. */
static void collect(struct shred *shred)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < shred->count; i++) {
        shred->cells[count] = vector_index(shred->vector, shred->places[i]);
        count += shred->places[i] != PLACE_ENDED;
    }
    shred->value_count = count;
}

enum status shred_batch(struct shred *shred, const struct parquet_leaf *leaf,
                        const struct batch *batch, struct error *err)
{
    TRY(make_room(shred, batch->selected, err));
    shred->count = batch->selected;
    memset(shred->definitions, 0, batch->selected);
    memset(shred->repetitions, 0, batch->selected);
    for (uint32_t i = 0; i < batch->selected; i++)
        shred->places[i] = batch_row(batch, i);
    shred->vector = batch->columns[leaf->steps[0].child];
    uint8_t repetition = 0;
    for (uint32_t i = 0; i < leaf->step_count; i++) {
        const struct parquet_step *step = &leaf->steps[i];
        if (step->repeated)
            TRY(expand(shred, ++repetition, err));
        if (i > 0) {
            const struct vector *above = shred->vector;
            CHECK(step->child < above->child_count);
            if (!step->repeated && above->constant)
                for (uint32_t j = 0; j < shred->count; j++)
                    shred->places[j] = shred->places[j] == PLACE_ENDED ? PLACE_ENDED : 0;
            shred->vector = above->children[step->child];
        }
        if (step->optional)
            end_nulls(shred);
        else
            TRY(no_nulls(shred, err));
    }
    collect(shred);
    return OK;
}
