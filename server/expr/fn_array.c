/*
 * Functions of arrays.  A result array is described by indices into a pool of elements, which are
 * moved once, for the whole batch, whatever their type.
 */
#include "expr/fn_array.h"

#include "base/check.h"
#include "expr/fn_support.h"
#include "expr/kernel_basic.h"

#include <stdlib.h>

#define ARRAY_LENGTH_MAX 2147483632

/* ---- building ---- */

void array_builder_begin(struct array_builder *builder, const struct kernel_call *call)
{
    *builder = (struct array_builder){.call = call, .entries = call->out->values};
    memset(builder->entries, 0, (call->rows > 0 ? call->rows : 1) * sizeof(*builder->entries));
}

void array_builder_add(struct array_builder *builder, uint32_t index)
{
    if (builder->count == builder->capacity) {
        builder->capacity = builder->capacity == 0 ? 256 : builder->capacity * 2;
        builder->indices =
            realloc(builder->indices, builder->capacity * sizeof(*builder->indices));
        CHECK(builder->indices != NULL);
    }
    builder->indices[builder->count++] = index;
}

static size_t row_start(const struct array_builder *builder, uint32_t row)
{
    return builder->entries[row].offset;
}

void array_builder_end_row(struct array_builder *builder, uint32_t row)
{
    /* Rows come in order: the last finished row ended where this one starts. */
    size_t start = row == 0 ? 0 : 0;
    (void)row_start;
    for (uint32_t before = row; before > 0; before--) {
        const struct list_entry *entry = &builder->entries[before - 1];
        if (entry->length > 0 || entry->offset > 0) {
            start = (size_t)entry->offset + entry->length;
            break;
        }
    }
    builder->entries[row] =
        (struct list_entry){(uint32_t)start, (uint32_t)(builder->count - start)};
}
