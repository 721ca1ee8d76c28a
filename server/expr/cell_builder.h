/*
 * Cells of any type, appended one by one, and turned into a vector at the end: for results whose
 * sizes are not known before (parsed records).
 */
#ifndef SERVER_EXPR_CELL_BUILDER_H
#define SERVER_EXPR_CELL_BUILDER_H

#include "base/buffer.h"
#include "columnar/vector.h"

/* More cells are dropped, and cell_builder_finish() refuses. */
#define CELL_BUILDER_MAX ((uint32_t)64 << 20)

struct cell_builder {
    const struct type *type;
    struct buffer cells;
    struct buffer nulls; /* a byte per cell, 1: NULL */
    uint32_t count;
    bool has_null;
    struct cell_builder *children; /* ARRAY 1, MAP 2, STRUCT one per field */
    uint32_t child_count;
};

void cell_builder_init(struct cell_builder *builder, const struct type *type);
void cell_builder_fini(struct cell_builder *builder);

/* A cell of `size` = type_value_bytes() bytes (STRUCT: 0, after its children got theirs). */
void cell_builder_add(struct cell_builder *builder, const void *cell, size_t size);
void cell_builder_add_null(struct cell_builder *builder);
/* Cell number `index` becomes NULL. */
void cell_builder_set_null(struct cell_builder *builder, uint32_t index);

/* Errors: LIMIT_EXCEEDED. */
MUST_USE enum status cell_builder_finish(const struct cell_builder *builder, struct arena *arena,
                                         struct vector **out, struct error *err);

#endif
