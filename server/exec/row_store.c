#include "exec/row_store.h"

#include "base/check.h"
#include "base/heap.h"

#include <stdlib.h>

#define ROWS_MAX ((uint32_t)1 << 31)

void row_store_init(struct row_store *store, uint32_t column_count)
{
    *store = (struct row_store){.column_count = column_count};
    store->arena = arena_new("bounded run", 0);
    store->pieces = heap_calloc(column_count + 1U, sizeof *store->pieces);
}

void row_store_fini(struct row_store *store)
{
    for (uint32_t c = 0; store->pieces != NULL && c < store->column_count; c++)
        free(store->pieces[c]);
    free(store->pieces);
    arena_free(store->arena);
    *store = (struct row_store){0};
}

void row_store_clear(struct row_store *store)
{
    arena_reset(store->arena);
    store->piece_count = 0;
    store->rows = 0;
    store->columns = NULL;
}

static void grow(struct row_store *store)
{
    if (store->piece_count < store->piece_capacity)
        return;
    store->piece_capacity = store->piece_capacity == 0 ? 16 : store->piece_capacity * 2;
    for (uint32_t c = 0; c < store->column_count; c++) {
        store->pieces[c] =
            heap_realloc(store->pieces[c], store->piece_capacity * sizeof *store->pieces[c]);
    }
}

enum status row_store_add(struct row_store *store, struct vector *const *columns, uint32_t rows,
                          const uint16_t *selection, uint32_t selected, struct error *err)
{
    CHECK(store->columns == NULL && selected <= rows);
    if (selected > ROWS_MAX - store->rows)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the rows of one operator", "limit",
                           "2147483648", NULL);
    uint32_t wide[BATCH_ROWS_MAX];
    CHECK(selected <= BATCH_ROWS_MAX);
    for (uint32_t i = 0; i < selected; i++)
        wide[i] = selection == NULL ? i : selection[i];
    grow(store);
    for (uint32_t c = 0; c < store->column_count; c++) {
        struct vector *dense = NULL;
        struct vector **piece = &store->pieces[c][store->piece_count];
        TRY(vector_gather(store->arena, columns[c], wide, selected, &dense, err));
        TRY(vector_clone(store->arena, dense, piece, err));
    }
    store->piece_count++;
    store->rows += selected;
    return OK;
}

enum status row_store_seal(struct row_store *store, struct error *err)
{
    void *memory = NULL;
    TRY(arena_alloc(store->arena, store->column_count + 1U, sizeof(struct vector *), &memory, err));
    struct vector **columns = memory;
    for (uint32_t c = 0; c < store->column_count && store->piece_count > 0; c++)
        TRY(vector_concat(store->arena, store->pieces[c], store->piece_count, &columns[c], err));
    store->columns = columns;
    return OK;
}

/* Rows that stand for NULLs are gathered from row 0 first and then marked. */
static enum status gather_column(const struct vector *column, struct arena *arena,
                                 const uint32_t *rows, uint32_t count, bool has_nulls,
                                 struct vector **out, struct error *err)
{
    if (!has_nulls)
        return vector_gather(arena, column, rows, count, out, err);
    void *memory = NULL;
    TRY(arena_alloc_raw(arena, count, sizeof(uint32_t), &memory, err));
    uint32_t *safe = memory;
    for (uint32_t i = 0; i < count; i++)
        safe[i] = rows[i] == UINT32_MAX ? 0 : rows[i];
    TRY(vector_gather(arena, column, safe, count, out, err));
    if ((*out)->type->id == TYPE_VOID)
        return OK;
    TRY(vector_make_nullable(arena, *out, err));
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i] == UINT32_MAX)
            vector_set_null(*out, i);
    }
    return OK;
}

enum status row_store_gather(const struct row_store *store, struct arena *arena,
                             const uint32_t *rows, uint32_t count, struct vector **out,
                             struct error *err)
{
    CHECK(store->columns != NULL && store->rows > 0);
    bool has_nulls = false;
    for (uint32_t i = 0; i < count; i++)
        has_nulls = has_nulls || rows[i] == UINT32_MAX;
    for (uint32_t c = 0; c < store->column_count; c++)
        TRY(gather_column(store->columns[c], arena, rows, count, has_nulls, &out[c], err));
    return OK;
}

enum status row_store_emit(const struct row_store *store, struct exec_node *node,
                           struct exec_context *ctx, const uint32_t *order, uint32_t count,
                           struct error *err)
{
    for (uint32_t at = 0; at < count && !ctx->enough; at += BATCH_ROWS_MAX) {
        uint32_t rows = count - at < BATCH_ROWS_MAX ? count - at : BATCH_ROWS_MAX;
        void *columns = NULL;
        TRY(arena_alloc(ctx->batch_arena, store->column_count + 1U, sizeof(struct vector *),
                        &columns, err));
        TRY(row_store_gather(store, ctx->batch_arena, order + at, rows, columns, err));
        struct batch out = {
            .schema = node->plan->schema, .columns = columns, .rows = rows, .selected = rows};
        TRY(exec_emit(node, ctx, &out, err));
        arena_reset(ctx->batch_arena);
    }
    return OK;
}
