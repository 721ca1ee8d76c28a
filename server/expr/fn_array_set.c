/* Arrays as sets and in order: distinct, union, intersect, except, overlap, sort, zip. */
#include "base/check.h"
#include "expr/fn_array.h"
#include "expr/fn_support.h"
#include "expr/kernel_basic.h"

#include <stdlib.h>

/*
 * Elements seen so far in a row: an open hash table of pool indices, emptied for each row.  NULL is
 * an element like any other.
 */
struct element_set {
    const struct vector *pool;
    uint32_t *slots; /* index + 1; 0: free */
    size_t size;     /* a power of two */
};

/* False: there is no memory for it. */
static bool set_begin(struct element_set *set, size_t most)
{
    size_t wanted = 16;
    while (wanted < most * 2)
        wanted *= 2;
    if (wanted > set->size) {
        free(set->slots);
        set->slots = malloc(wanted * sizeof(*set->slots));
        set->size = set->slots == NULL ? 0 : wanted;
    }
    if (set->slots != NULL)
        memset(set->slots, 0, set->size * sizeof(*set->slots));
    return set->slots != NULL;
}

/* Where the element is, or the free slot where it belongs. */
static uint32_t *set_slot(const struct element_set *set, uint32_t index)
{
    uint64_t hash = vector_hash(set->pool, index, 0);
    for (size_t at = (size_t)hash & (set->size - 1);; at = (at + 1) & (set->size - 1)) {
        uint32_t *slot = &set->slots[at];
        if (*slot == 0 || vector_equal(set->pool, *slot - 1, set->pool, index))
            return slot;
    }
}

/* True if the element is new. */
static bool set_add(struct element_set *set, uint32_t index)
{
    uint32_t *slot = set_slot(set, index);
    bool is_new = *slot == 0;
    if (is_new)
        *slot = index + 1;
    return is_new;
}

static bool set_has(const struct element_set *set, uint32_t index)
{
    return *set_slot(set, index) != 0;
}

enum set_operation {
    SET_DISTINCT,
    SET_UNION,
    SET_INTERSECT,
    SET_EXCEPT,
};

/* False: there is no memory for it. */
static bool set_row(struct array_builder *builder, struct element_set *seen,
                    struct element_set *right, enum set_operation operation,
                    const struct list_entry lists[2])
{
    if (!set_begin(seen, (size_t)lists[0].length + lists[1].length) ||
        !set_begin(right, lists[1].length))
        return false;
    for (uint32_t j = 0; j < lists[1].length; j++)
        (void)set_add(right, lists[1].offset + j);
    for (uint32_t j = 0; j < lists[0].length; j++) {
        uint32_t index = lists[0].offset + j;
        bool wanted = operation == SET_INTERSECT ? set_has(right, index)
                      : operation == SET_EXCEPT  ? !set_has(right, index)
                                                 : true;
        if (wanted && set_add(seen, index))
            array_builder_add(builder, index);
    }
    for (uint32_t j = 0; operation == SET_UNION && j < lists[1].length; j++)
        if (set_add(seen, lists[1].offset + j))
            array_builder_add(builder, lists[1].offset + j);
    return true;
}

/* -0.0 is 0.0 in a set.  The elements of the result are a copy. */
static void drop_minus_zeros(struct vector *elements)
{
    enum type_id id = elements->type->id;
    for (uint32_t i = 0; i < elements->length && id == TYPE_DOUBLE; i++)
        VECTOR_VALUES(double, elements)[i] += 0.0;
    for (uint32_t i = 0; i < elements->length && id == TYPE_FLOAT; i++)
        VECTOR_VALUES(float, elements)[i] += 0.0F;
}

static enum status run_set(const struct kernel_call *call, enum set_operation operation,
                           struct error *err)
{
    struct array_builder builder;
    struct vector *pool;
    uint32_t bases[2] = {0, 0};
    TRY(array_pool(call, 0, call->arg_count, UINT32_MAX, bases, &pool, err));
    struct element_set seen = {.pool = pool};
    struct element_set right = {.pool = pool};
    array_builder_begin(&builder, call);
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry lists[2] = {array_at(call, 0, row), {0, 0}};
        if (call->arg_count > 1) {
            lists[1] = array_at(call, 1, row);
            lists[1].offset += bases[1];
        }
        builder.full = builder.full || !set_row(&builder, &seen, &right, operation, lists);
        array_builder_end_row(&builder, row);
    }
    free(seen.slots);
    free(right.slots);
    TRY(array_builder_finish(&builder, pool, err));
    drop_minus_zeros(call->out->children[0]);
    return OK;
}

KERNEL(kernel_array_distinct)
{
    return run_set(call, SET_DISTINCT, err);
}

KERNEL(kernel_array_union)
{
    return run_set(call, SET_UNION, err);
}

KERNEL(kernel_array_intersect)
{
    return run_set(call, SET_INTERSECT, err);
}

KERNEL(kernel_array_except)
{
    return run_set(call, SET_EXCEPT, err);
}

/* True if they share an element; NULL if not but there is a NULL in two arrays with elements. */
static enum status overlap_row(const struct kernel_call *call, uint32_t row,
                               struct element_set *set, uint32_t base, struct error *err)
{
    struct list_entry left = array_at(call, 0, row);
    struct list_entry right = array_at(call, 1, row);
    bool null = false;
    bool found = false;
    right.offset += base;
    set_begin(set, right.length);
    for (uint32_t j = 0; j < right.length; j++) {
        if (vector_is_null(set->pool, right.offset + j))
            null = true;
        else
            (void)set_add(set, right.offset + j);
    }
    for (uint32_t j = 0; j < left.length && !found; j++) {
        if (vector_is_null(set->pool, left.offset + j))
            null = true;
        else
            found = set_has(set, left.offset + j);
    }
    KERNEL_OUT(uint8_t, call)[row] = found;
    if (!found && null && left.length > 0 && right.length > 0)
        return kernel_set_null(call, row, err);
    return OK;
}

KERNEL(kernel_arrays_overlap)
{
    struct vector *pool;
    uint32_t bases[2];
    enum status status = OK;
    TRY(array_pool(call, 0, 2, UINT32_MAX, bases, &pool, err));
    struct element_set set = {.pool = pool};
    for (uint32_t i = 0; i < call->selected; i++)
        TRY_OUT(overlap_row(call, kernel_row(call, i), &set, bases[1], err));
out:
    free(set.slots);
    return status;
}

/* ---- sort_array ---- */

struct sort_context {
    const struct vector *elements;
    bool descending; /* NULL is the smallest */
};

static int compare_elements(const void *a, const void *b, void *arg)
{
    const struct sort_context *context = arg;
    uint32_t at_a = *(const uint32_t *)a;
    uint32_t at_b = *(const uint32_t *)b;
    bool null_a = vector_is_null(context->elements, at_a);
    bool null_b = vector_is_null(context->elements, at_b);
    int order = null_a || null_b ? (int)null_b - (int)null_a
                                 : vector_compare(context->elements, at_a, context->elements, at_b);
    if (order == 0)
        return at_a < at_b ? -1 : at_a > at_b;
    return context->descending ? -order : order;
}

KERNEL(kernel_sort_array)
{
    struct array_builder builder;
    struct sort_context context = {.elements = array_elements(call, 0)};
    array_builder_begin(&builder, call);
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry list = array_at(call, 0, row);
        for (uint32_t j = 0; j < list.length; j++)
            array_builder_add(&builder, list.offset + j);
        context.descending = KERNEL_ARG(uint8_t, call, 1, row) == 0;
        if (list.length > 1 && !builder.full)
            qsort_r(builder.indices + builder.row_start, list.length, sizeof(uint32_t),
                    compare_elements, &context);
        array_builder_end_row(&builder, row);
    }
    return array_builder_finish(&builder, context.elements, err);
}

/* ---- arrays_zip ---- */

/* Field f of element j is element j of argument f, or NULL beyond its end. */
KERNEL(kernel_arrays_zip)
{
    struct list_entry *entries = call->out->values;
    uint64_t total = 0;
    memset(entries, 0, (call->rows > 0 ? call->rows : 1) * sizeof(*entries));
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        uint32_t longest = 0;
        for (uint32_t a = 0; a < call->arg_count; a++) {
            uint32_t length = array_at(call, a, row).length;
            longest = length > longest ? length : longest;
        }
        entries[row] = (struct list_entry){(uint32_t)total, longest};
        total += longest;
    }
    TRY(kernel_check_elements(call, total, err));
    TRY(vector_resize_child(call->ctx->arena, call->out, 0, (uint32_t)total, err));
    struct vector *zipped = call->out->children[0];
    uint32_t *indices = malloc((total + 1) * sizeof(*indices));
    if (indices == NULL)
        return kernel_no_memory(call, err);
    enum status status = OK;
    for (uint32_t a = 0; a < call->arg_count && status == OK; a++) {
        for (uint32_t i = 0; i < call->selected; i++) {
            uint32_t row = kernel_row(call, i);
            struct list_entry list = array_at(call, a, row);
            for (uint32_t j = 0; j < entries[row].length; j++)
                indices[entries[row].offset + j] = j < list.length ? list.offset + j : UINT32_MAX;
        }
        status = vector_gather_or_null(call->ctx->arena, array_elements(call, a), indices,
                                       (uint32_t)total, &zipped->children[a], err);
    }
    free(indices);
    return status;
}
