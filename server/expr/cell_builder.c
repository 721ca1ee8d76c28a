#include "expr/cell_builder.h"

#include "base/check.h"
#include "base/heap.h"

#include <stdlib.h>

void cell_builder_init(struct cell_builder *builder, const struct type *type)
{
    *builder = (struct cell_builder){.type = type};
    if (type->id == TYPE_STRUCT)
        builder->child_count = type->field_count;
    else if (type->id == TYPE_ARRAY)
        builder->child_count = 1;
    else if (type->id == TYPE_MAP)
        builder->child_count = 2;
    if (builder->child_count == 0)
        return;
    builder->children = heap_calloc(builder->child_count, sizeof(*builder->children));
    for (uint32_t i = 0; i < builder->child_count; i++)
        cell_builder_init(&builder->children[i], type->id == TYPE_STRUCT ? type->fields[i].type
                                                 : type->id == TYPE_MAP && i == 0 ? type->key
                                                                                  : type->element);
}

void cell_builder_fini(struct cell_builder *builder)
{
    for (uint32_t i = 0; i < builder->child_count; i++)
        cell_builder_fini(&builder->children[i]);
    free(builder->children);
    buffer_fini(&builder->cells);
    buffer_fini(&builder->nulls);
}

void cell_builder_add(struct cell_builder *builder, const void *cell, size_t size)
{
    CHECK(size == type_value_bytes(builder->type));
    if (builder->count > CELL_BUILDER_MAX) { /* finishing fails: what the cell is does not matter */
        builder->nulls.data[builder->count - 1] = 0;
        return;
    }
    buffer_add(&builder->cells, cell, size);
    buffer_add_byte(&builder->nulls, 0);
    builder->count = (uint32_t)builder->nulls.size_bytes; /* it may have been refused */
}

void cell_builder_add_null(struct cell_builder *builder)
{
    static const uint8_t zeros[16];
    if (builder->type->id == TYPE_STRUCT)
        for (uint32_t i = 0; i < builder->child_count; i++)
            cell_builder_add_null(&builder->children[i]);
    cell_builder_add(builder, zeros, type_value_bytes(builder->type));
    builder->nulls.data[builder->count - 1] = 1;
    builder->has_null = true;
}

void cell_builder_set_null(struct cell_builder *builder, uint32_t index)
{
    CHECK(index < builder->count || builder->count > CELL_BUILDER_MAX || buffer_limit_refused());
    if (index >= builder->count)
        return;
    builder->nulls.data[index] = 1;
    builder->has_null = true;
}

enum status cell_builder_finish(const struct cell_builder *builder, struct arena *arena,
                                struct vector **out, struct error *err)
{
    struct vector *vector;
    if (builder->count > CELL_BUILDER_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the nested values of a batch",
                           "limit", "67108864", NULL);
    if (buffer_limit_refused())
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what",
                           "the memory for the nested values of a batch", "limit",
                           "what this machine has", NULL);
    TRY(vector_new(arena, builder->type, builder->count, &vector, err));
    if (builder->cells.size_bytes > 0)
        memcpy(vector->values, builder->cells.data, builder->cells.size_bytes);
    if (builder->has_null) {
        TRY(vector_make_nullable(arena, vector, err));
        for (uint32_t i = 0; i < builder->count; i++)
            if (builder->nulls.data[i] != 0)
                vector_set_null(vector, i);
    }
    for (uint32_t i = 0; i < builder->child_count; i++)
        TRY(cell_builder_finish(&builder->children[i], arena, &vector->children[i], err));
    *out = vector;
    return OK;
}
