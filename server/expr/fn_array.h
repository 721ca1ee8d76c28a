/* Kernels and resolvers of fn_array.c, fn_array_set.c, fn_map.c, fn_sequence.c. */
#ifndef SERVER_EXPR_FN_ARRAY_H
#define SERVER_EXPR_FN_ARRAY_H

#include "expr/resolvers.h"

/* ---- building array results: fn_array.c ---- */

/*
 * The elements of an array result, gathered from a pool: row by row, the indices of the elements
 * that the row's array has (UINT32_MAX: NULL).  What is more than a batch may have is dropped, and
 * array_builder_finish() says so.
 */
struct array_builder {
    const struct kernel_call *call;
    struct list_entry *entries; /* of call->out */
    uint32_t *indices;
    size_t count;
    size_t capacity;
    size_t row_start;
    bool full;
};

void array_builder_begin(struct array_builder *builder, const struct kernel_call *call);
void array_builder_add(struct array_builder *builder, uint32_t index);
/* The row's array is what was added since the last row. */
void array_builder_end_row(struct array_builder *builder, uint32_t row);
/* Gathers from the pool into the only child of the result; frees the builder. */
MUST_USE enum status array_builder_finish(struct array_builder *builder, const struct vector *pool,
                                          struct error *err);
void array_builder_free(struct array_builder *builder);

/* Elements of argument `index` at `row`; {0, 0} if it is NULL. */
struct list_entry array_at(const struct kernel_call *call, uint32_t index, uint32_t row);
/* The vector of all elements of an array argument. */
const struct vector *array_elements(const struct kernel_call *call, uint32_t index);

/* One vector of the elements of array arguments [first, first + count), then the cells of the
 * plain argument `plain` (UINT32_MAX: none); bases[i] is where each begins. */
MUST_USE enum status array_pool(const struct kernel_call *call, uint32_t first, uint32_t count,
                                uint32_t plain, uint32_t *bases, struct vector **out,
                                struct error *err);

RESOLVER(resolve_array_element_function); /* array_contains, _position, _remove: (array, element) */
RESOLVER(resolve_array_insert);
RESOLVER(resolve_array_extreme); /* array_min, array_max, sort_array */
RESOLVER(resolve_array_set);     /* union, intersect, except, overlap */
RESOLVER(resolve_arrays_zip);
RESOLVER(resolve_array_join);
RESOLVER(resolve_array_repeat);
RESOLVER(resolve_flatten);
RESOLVER(resolve_size);
RESOLVER(resolve_sequence);
RESOLVER(resolve_map_parts); /* map_keys, map_values, map_entries */
RESOLVER(resolve_map_from_arrays);
RESOLVER(resolve_map_from_entries);
RESOLVER(resolve_map_concat);
RESOLVER(resolve_map_contains_key);
RESOLVER(resolve_str_to_map);
RESOLVER(resolve_same_array); /* the result is of the first argument's type */

KERNEL(kernel_array_concat);
KERNEL(kernel_array_reverse);
KERNEL(kernel_array_append);
KERNEL(kernel_array_prepend);
KERNEL(kernel_array_insert);
KERNEL(kernel_array_compact);
KERNEL(kernel_array_remove);
KERNEL(kernel_array_repeat);
KERNEL(kernel_array_slice);
KERNEL(kernel_flatten);
KERNEL(kernel_array_contains);
KERNEL(kernel_array_position);
KERNEL(kernel_array_min);
KERNEL(kernel_array_max);
KERNEL(kernel_sort_array);
KERNEL(kernel_array_join);
KERNEL(kernel_array_distinct);
KERNEL(kernel_array_union);
KERNEL(kernel_array_intersect);
KERNEL(kernel_array_except);
KERNEL(kernel_arrays_overlap);
KERNEL(kernel_arrays_zip);
KERNEL(kernel_size);
KERNEL(kernel_sequence);
KERNEL(kernel_map_keys);
KERNEL(kernel_map_values);
KERNEL(kernel_map_entries);
KERNEL(kernel_map_from_arrays);
KERNEL(kernel_map_from_entries);
KERNEL(kernel_map_concat);
KERNEL(kernel_map_contains_key);
KERNEL(kernel_str_to_map);

#endif
