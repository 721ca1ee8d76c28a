/*
 * Generate: explode() and the like.  Every input row comes out once for each row that its
 * generator makes, beside the columns of that row; with OUTER a row that makes none comes out once
 * with NULLs.
 *
 * What comes out has memory of its own, which is given back with every batch of it: a row may make
 * more rows than the memory holds.  explode(array_repeat(constant, n)), which EXCEPT ALL makes of
 * its counts, builds no arrays.
 */
#include "base/check.h"
#include "exec/node.h"
#include "expr/function.h"
#include "expr/generator.h"

#include <string.h>

#define GENERATE_MAGIC 0x6e4e0001U
#define REPEATED_MAX   1000000000 /* longer arrays are for array_repeat() to refuse */

struct generate {
    uint32_t magic;
    const struct expr_program *program; /* the generator's arguments */
    struct expr_state *state;
    const struct expr_program *repeated; /* the constant and n; NULL: it is another generator */
    struct expr_state *repeated_state;
    struct arena *out; /* one batch that comes out, and what the operators after it make of it */
};

/* Output rows of one input batch, collected until there are enough for a batch. */
struct generated {
    const struct batch *input;
    const struct vector *rows;     /* STRUCT: what the generator made */
    const struct vector *constant; /* or what is repeated for each row */
    uint32_t input_rows[BATCH_ROWS_MAX];
    uint32_t made_rows[BATCH_ROWS_MAX]; /* UINT32_MAX: NULLs */
    uint32_t count;
};

/* The call of array_repeat() of a constant that is exploded; NULL: it is something else. */
static const struct expr *repeat_of(const struct expr *generator)
{
    const struct expr *list = generator->args[0];
    bool explodes = strcmp(generator->generator.function->name, "explode") == 0;
    return explodes && list->kind == EXPR_CALL &&
                   strcmp(list->call.function->name, "array_repeat") == 0 &&
                   list->args[0]->kind == EXPR_LITERAL
               ? list
               : NULL;
}

static enum status generate_open(struct exec_node *self, struct arena *query,
                                 const struct plan_node *node, struct error *err)
{
    CHECK(node->kind == PLAN_GENERATE);
    struct generate *generate = arena_new_object(query, sizeof *generate);
    generate->magic = GENERATE_MAGIC;
    generate->out = arena_new("generated", BATCH_ARENA_BYTES);
    self->state = generate;
    const struct expr *generator = node->generate.generator;
    const struct expr *repeat = generator->arg_count == 1 ? repeat_of(generator) : NULL;
    if (repeat != NULL) {
        TRY(expr_compile(query, repeat->args, 2, &generate->repeated, err));
        TRY(expr_state_new(query, generate->repeated, &generate->repeated_state, err));
    }
    TRY(expr_compile(query, generator->args, generator->arg_count, &generate->program, err));
    return expr_state_new(query, generate->program, &generate->state, err);
}

static void generate_close(struct exec_node *self)
{
    struct generate *generate = self->state;
    if (generate != NULL)
        arena_free(generate->out);
}

/* One column that the generator made; a NULL struct gives NULL in all of them. */
static enum status made_column(struct arena *arena, const struct generated *generated,
                               uint32_t column, struct vector **out, struct error *err)
{
    const struct vector *rows = generated->rows, *cells = generated->constant;
    if (rows == NULL)
        rows = cells;
    else
        cells = rows->children[column];
    CHECK(cells != NULL);
    void *memory = NULL;
    if (cells->length == 0)
        return vector_new_null(arena, cells->type, generated->count, out, err);
    TRY(arena_alloc_raw(arena, generated->count, sizeof(uint32_t), &memory, err));
    uint32_t *from = memory;
    bool nulls = false;
    for (uint32_t i = 0; i < generated->count; i++) {
        uint32_t made = generated->made_rows[i];
        nulls = nulls || made == UINT32_MAX || vector_is_null(rows, made);
        from[i] = made == UINT32_MAX ? 0 : made;
    }
    TRY(vector_gather(arena, cells, from, generated->count, out, err));
    if (!nulls || cells->type->id == TYPE_VOID)
        return OK;
    TRY(vector_make_nullable(arena, *out, err));
    for (uint32_t i = 0; i < generated->count; i++) {
        uint32_t made = generated->made_rows[i];
        if (made == UINT32_MAX || vector_is_null(rows, made))
            vector_set_null(*out, i);
    }
    return OK;
}

static enum status make_batch(struct exec_node *self, struct arena *arena,
                              const struct generated *generated, struct batch *out,
                              struct error *err)
{
    uint32_t width = self->plan->children[0]->schema->field_count;
    uint32_t made_width = self->plan->schema->field_count - width;
    void *columns = NULL;
    TRY(arena_alloc(arena, width + made_width + 1U, sizeof(struct vector *), &columns, err));
    *out = (struct batch){.schema = self->plan->schema,
                          .columns = columns,
                          .rows = generated->count,
                          .selected = generated->count};
    for (uint32_t c = 0; c < width; c++)
        TRY(vector_gather(arena, generated->input->columns[c], generated->input_rows,
                          generated->count, &out->columns[c], err));
    for (uint32_t c = 0; c < made_width; c++)
        TRY(made_column(arena, generated, c, &out->columns[width + c], err));
    return OK;
}

static enum status flush(struct exec_node *self, struct exec_context *ctx,
                         struct generated *generated, struct error *err)
{
    struct generate *generate = self->state;
    struct arena *whole = ctx->batch_arena;
    struct batch out;
    if (generated->count == 0)
        return OK;
    ctx->batch_arena = ctx->eval.arena = generate->out;
    enum status status = make_batch(self, generate->out, generated, &out, err);
    if (status == OK)
        status = exec_emit(self, ctx, &out, err);
    ctx->batch_arena = ctx->eval.arena = whole;
    arena_reset(generate->out);
    generated->count = 0;
    return status;
}

static enum status add(struct exec_node *self, struct exec_context *ctx,
                       struct generated *generated, uint32_t input, uint32_t made,
                       struct error *err)
{
    generated->input_rows[generated->count] = input;
    generated->made_rows[generated->count++] = made;
    return generated->count == BATCH_ROWS_MAX ? flush(self, ctx, generated, err) : OK;
}

static enum status begin_rows(struct exec_context *ctx, const struct batch *batch,
                              struct generated **out, struct error *err)
{
    void *memory = NULL;
    TRY(arena_alloc_raw(ctx->batch_arena, 1, sizeof(struct generated), &memory, err));
    *out = memory;
    (*out)->input = batch;
    (*out)->rows = (*out)->constant = NULL;
    (*out)->count = 0;
    return OK;
}

static bool is_outer(const struct exec_node *self)
{
    return self->plan->generate.outer || self->plan->generate.generator->generator.outer;
}

/* *done: every array was short enough to be one. */
static enum status push_repeated(struct exec_node *self, struct exec_context *ctx,
                                 const struct batch *batch, bool *done, struct error *err)
{
    struct generate *generate = self->state;
    struct vector *args[2];
    struct generated *generated = NULL;
    TRY(expr_eval(generate->repeated, generate->repeated_state, &ctx->eval, batch, args, err));
    const struct vector *times = args[1];
    for (uint32_t i = 0; i < batch->selected; i++) {
        uint32_t row = batch_row(batch, i);
        if (!vector_is_null(times, row) &&
            VECTOR_VALUES(int32_t, times)[vector_index(times, row)] > REPEATED_MAX)
            return OK;
    }
    *done = true;
    TRY(begin_rows(ctx, batch, &generated, err));
    generated->constant = args[0];
    for (uint32_t i = 0; i < batch->selected; i++) {
        uint32_t row = batch_row(batch, i);
        int32_t count = vector_is_null(times, row)
                            ? 0
                            : VECTOR_VALUES(int32_t, times)[vector_index(times, row)];
        for (int32_t e = 0; e < count; e++)
            TRY(add(self, ctx, generated, row, row, err));
        if (count <= 0 && is_outer(self))
            TRY(add(self, ctx, generated, row, UINT32_MAX, err));
    }
    return flush(self, ctx, generated, err);
}

static enum status generate_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                                 const struct batch *batch, struct error *err)
{
    struct generate *generate = self->state;
    CHECK_MAGIC(generate, GENERATE_MAGIC);
    CHECK(input == 0);
    const struct expr *generator = self->plan->generate.generator;
    bool done = false;
    if (generate->repeated != NULL)
        TRY(push_repeated(self, ctx, batch, &done, err));
    if (done)
        return OK;
    void *memory = NULL;
    TRY(arena_alloc(ctx->batch_arena, generator->arg_count + 1U, sizeof(struct vector *), &memory,
                    err));
    struct vector **args = memory;
    TRY(expr_eval(generate->program, generate->state, &ctx->eval, batch, args, err));
    struct vector *lists = NULL;
    TRY(generator_run(generator, &ctx->eval, args, batch, &lists, err));
    struct generated *generated = NULL;
    TRY(begin_rows(ctx, batch, &generated, err));
    generated->rows = lists->children[0];
    for (uint32_t i = 0; i < batch->selected; i++) {
        uint32_t row = batch_row(batch, i);
        struct list_entry list = VECTOR_VALUES(struct list_entry, lists)[row];
        for (uint32_t e = 0; e < list.length; e++)
            TRY(add(self, ctx, generated, row, list.offset + e, err));
        if (list.length == 0 && is_outer(self))
            TRY(add(self, ctx, generated, row, UINT32_MAX, err));
    }
    return flush(self, ctx, generated, err);
}

const struct exec_node_ops node_generate = {
    .name = "Generate",
    .open = generate_open,
    .push = generate_push,
    .close = generate_close,
};
