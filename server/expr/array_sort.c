/*
 * array_sort, with and without a comparator.
 *
 * A comparator is a lambda, which wants many pairs at once.  So all rows are sorted in step: each
 * row is a binary insertion sort (the one of Java's TimSort for short arrays, so that comparators
 * that contradict themselves give the same result) that stops where it needs a comparison; the
 * pairs of all rows are compared together.
 */
#include "base/check.h"
#include "columnar/value_text.h"
#include "expr/lambda.h"

#include <stdlib.h>

enum phase {
    PHASE_RUN,   /* finding the run at the start */
    PHASE_PLACE, /* finding the place of element `next` */
    PHASE_DONE,
};

struct sorter {
    uint32_t *items; /* element numbers, the sorted part first */
    uint32_t length;
    uint32_t next;
    uint32_t low, high;
    bool descending;
    enum phase phase;
};

static void begin_place(struct sorter *sorter)
{
    if (sorter->next >= sorter->length) {
        sorter->phase = PHASE_DONE;
        return;
    }
    sorter->phase = PHASE_PLACE;
    sorter->low = 0;
    sorter->high = sorter->next;
}

static void sorter_begin(struct sorter *sorter)
{
    sorter->next = 1;
    sorter->phase = sorter->length < 2 ? PHASE_DONE : PHASE_RUN;
}

/* The pair to compare now. */
static void sorter_pair(const struct sorter *sorter, uint32_t *a, uint32_t *b)
{
    *a = sorter->items[sorter->next];
    *b = sorter->phase == PHASE_RUN ? sorter->items[sorter->next - 1]
                                    : sorter->items[(sorter->low + sorter->high) / 2];
}

static void end_run(struct sorter *sorter)
{
    if (sorter->descending) {
        for (uint32_t i = 0, k = sorter->next - 1; i < k; i++, k--) {
            uint32_t item = sorter->items[i];
            sorter->items[i] = sorter->items[k];
            sorter->items[k] = item;
        }
    }
    begin_place(sorter);
}

static void sorter_answer(struct sorter *sorter, int order)
{
    if (sorter->phase == PHASE_RUN) {
        if (sorter->next == 1)
            sorter->descending = order < 0;
        if ((order < 0) != sorter->descending) {
            end_run(sorter);
            return;
        }
        if (++sorter->next == sorter->length)
            end_run(sorter);
        return;
    }
    uint32_t middle = (sorter->low + sorter->high) / 2;
    if (order < 0)
        sorter->high = middle;
    else
        sorter->low = middle + 1;
    if (sorter->low < sorter->high)
        return;
    uint32_t item = sorter->items[sorter->next];
    memmove(sorter->items + sorter->low + 1, sorter->items + sorter->low,
            (sorter->next - sorter->low) * sizeof item);
    sorter->items[sorter->low] = item;
    sorter->next++;
    begin_place(sorter);
}

static enum status null_order(const struct kernel_call *call, const struct vector *elements,
                              uint32_t a, uint32_t b, struct error *err)
{
    struct buffer first = {0};
    struct buffer second = {0};
    value_text_print(&first, elements, a, call->ctx->zone);
    value_text_print(&second, elements, b, call->ctx->zone);
    enum status status =
        error_raise(err, STATUS_COMPARATOR_RETURNS_NULL, "firstValue", buffer_text(&first),
                    "secondValue", buffer_text(&second), NULL);
    buffer_fini(&first);
    buffer_fini(&second);
    return status;
}

struct round {
    uint32_t *rows, *left, *right;
    struct sorter **sorters;
    uint32_t count;
};

static enum status compare_round(const struct kernel_call *call, const struct vector *elements,
                                 const struct round *round, struct error *err)
{
    struct arena *arena = call->ctx->arena;
    struct lambda_input input = {.rows = round->rows, .count = round->count};
    TRY(vector_gather(arena, elements, round->left, round->count, &input.variables[0], err));
    TRY(vector_gather(arena, elements, round->right, round->count, &input.variables[1], err));
    struct vector *order;
    TRY(lambda_eval(call, 0, &input, &order, err));
    for (uint32_t k = 0; k < round->count; k++) {
        if (vector_is_null(order, k))
            return null_order(call, elements, round->left[k], round->right[k], err);
        sorter_answer(round->sorters[k], VECTOR_VALUES(int32_t, order)[vector_index(order, k)]);
    }
    return OK;
}

static enum status sort_by_lambda(const struct kernel_call *call, const struct vector *elements,
                                  struct sorter *sorters, struct error *err)
{
    struct arena *arena = call->ctx->arena;
    size_t count = (size_t)call->selected + 1;
    struct round round = {
        .rows = arena_new_object(arena, count * sizeof(uint32_t)),
        .left = arena_new_object(arena, count * sizeof(uint32_t)),
        .right = arena_new_object(arena, count * sizeof(uint32_t)),
        .sorters = arena_new_object(arena, count * sizeof(struct sorter *)),
    };
    for (uint32_t i = 0; i < call->selected; i++)
        sorter_begin(&sorters[i]);
    do {
        round.count = 0;
        for (uint32_t i = 0; i < call->selected; i++) {
            if (sorters[i].phase == PHASE_DONE)
                continue;
            uint32_t k = round.count++;
            round.rows[k] = kernel_row(call, i);
            round.sorters[k] = &sorters[i];
            sorter_pair(&sorters[i], &round.left[k], &round.right[k]);
        }
        if (round.count > 0)
            TRY(compare_round(call, elements, &round, err));
    } while (round.count > 0);
    return OK;
}

/* Natural order, NULLs last. */
static int natural(const void *a, const void *b, void *arg)
{
    const struct vector *elements = arg;
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    bool null_x = vector_is_null(elements, x);
    bool null_y = vector_is_null(elements, y);
    int order =
        null_x || null_y ? (int)null_x - (int)null_y : vector_compare(elements, x, elements, y);
    return order != 0 ? order : (x > y) - (x < y);
}

KERNEL(kernel_array_sort)
{
    struct arena *arena = call->ctx->arena;
    const struct vector *array = call->args[0];
    struct vector *elements = array->children[0];
    struct list_entry *out = call->out->values;
    memset(out, 0, call->rows * sizeof *out);
    size_t total = 0;
    for (uint32_t i = 0; i < call->selected; i++)
        total += KERNEL_ARG(struct list_entry, call, 0, kernel_row(call, i)).length;
    void *memory;
    TRY(arena_alloc_raw(arena, total + 1, sizeof(uint32_t), &memory, err));
    uint32_t *items = memory;
    struct sorter *sorters =
        arena_new_object(arena, ((size_t)call->selected + 1) * sizeof *sorters);
    uint32_t at = 0;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry entry = KERNEL_ARG(struct list_entry, call, 0, row);
        out[row] = (struct list_entry){.offset = at, .length = entry.length};
        sorters[i] = (struct sorter){.items = items + at, .length = entry.length};
        for (uint32_t k = 0; k < entry.length; k++)
            items[at++] = entry.offset + k;
        if (call->expr->arg_count == 1)
            qsort_r(sorters[i].items, entry.length, sizeof(uint32_t), natural, elements);
    }
    if (call->expr->arg_count > 1)
        TRY(sort_by_lambda(call, elements, sorters, err));
    return vector_gather(arena, elements, items, at, &call->out->children[0], err);
}
