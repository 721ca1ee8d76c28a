/* Runs what evaluates its parts under narrowed selections: AND, OR, CASE and IF, COALESCE. */
#include "base/check.h"
#include "expr/program_impl.h"

static enum status new_selection(const struct run *run, uint32_t count, uint16_t **out,
                                 struct error *err)
{
    void *memory;
    TRY(arena_alloc_raw(run->ctx->arena, (size_t)count + 1, sizeof(uint16_t), &memory, err));
    *out = memory;
    return OK;
}

static enum status run_branch(const struct run *run, const struct branch *branch,
                              const struct rows *rows, struct vector **out, struct error *err)
{
    TRY(program_run(run, branch->first, branch->last, rows, err));
    *out = run->state->registers[branch->result];
    return OK;
}

/* 0 false, 1 true, 2 NULL */
static inline int truth(const struct vector *vector, uint32_t row)
{
    if (vector_is_null(vector, row))
        return 2;
    return VECTOR_VALUES(uint8_t, vector)[vector_index(vector, row)] != 0;
}

/* The rows whose left side does not decide already. */
static enum status undecided(const struct run *run, const struct vector *left, int decisive,
                             const struct rows *rows, struct rows *out, struct error *err)
{
    if (left->constant && truth(left, 0) != decisive) {
        *out = *rows;
        return OK;
    }
    uint16_t *selection;
    TRY(new_selection(run, rows->selected, &selection, err));
    uint32_t count = 0;
    for (uint32_t i = 0; i < rows->selected; i++) {
        uint32_t row = rows_at(rows, i);
        selection[count] = (uint16_t)row;
        count += truth(left, row) != decisive;
    }
    *out = (struct rows){.selection = selection, .selected = count};
    return OK;
}

static enum status run_logic(const struct run *run, const struct step *step,
                             const struct rows *rows, struct error *err)
{
    int decisive = step->kind == STEP_OR; /* true decides OR, false decides AND */
    struct vector *left;
    struct vector *right;
    TRY(run_branch(run, &step->branches[0], rows, &left, err));
    struct rows rest;
    TRY(undecided(run, left, decisive, rows, &rest, err));
    if (rest.selected == 0) {
        run->state->registers[step->out] = left;
        return OK;
    }
    TRY(run_branch(run, &step->branches[1], &rest, &right, err));
    struct vector *out;
    TRY(vector_new(run->ctx->arena, step->expr->type, run->rows, &out, err));
    uint8_t *values = out->values;
    for (uint32_t i = 0; rest.selected < rows->selected && i < rows->selected; i++)
        values[rows_at(rows, i)] = (uint8_t)decisive;
    for (uint32_t i = 0; i < rest.selected; i++) {
        uint32_t row = rows_at(&rest, i);
        int l = truth(left, row);
        int r = truth(right, row);
        int result = r == decisive ? decisive : (l == 2 || r == 2) ? 2 : !decisive;
        values[row] = (uint8_t)(result & 1);
        if (result != 2)
            continue;
        if (out->validity == NULL)
            TRY(vector_make_nullable(run->ctx->arena, out, err));
        vector_set_null(out, row);
    }
    run->state->registers[step->out] = out;
    return OK;
}

/* Splits rows by a condition. */
static enum status split(const struct run *run, const struct vector *condition,
                         const struct rows *rows, struct rows *yes, struct rows *no,
                         struct error *err)
{
    uint16_t *accepted, *refused;
    TRY(new_selection(run, rows->selected, &accepted, err));
    TRY(new_selection(run, rows->selected, &refused, err));
    uint32_t yes_count = 0;
    uint32_t no_count = 0;
    for (uint32_t i = 0; i < rows->selected; i++) {
        uint32_t row = rows_at(rows, i);
        bool is_true = truth(condition, row) == 1;
        accepted[yes_count] = (uint16_t)row;
        refused[no_count] = (uint16_t)row;
        yes_count += is_true;
        no_count += !is_true;
    }
    *yes = (struct rows){.selection = accepted, .selected = yes_count};
    *no = (struct rows){.selection = refused, .selected = no_count};
    return OK;
}

static enum status run_case(const struct run *run, const struct step *step, const struct rows *rows,
                            struct error *err)
{
    uint32_t whens = step->branch_count / 2;
    struct merge_source *sources =
        arena_new_object(run->ctx->arena, ((size_t)whens + 1) * sizeof *sources);
    uint32_t count = 0;
    struct rows rest = *rows;
    for (size_t i = 0; i < whens && rest.selected > 0; i++) {
        struct vector *condition;
        TRY(run_branch(run, &step->branches[2 * i], &rest, &condition, err));
        struct rows yes, no;
        TRY(split(run, condition, &rest, &yes, &no, err));
        rest = no;
        if (yes.selected == 0)
            continue;
        struct vector *value;
        TRY(run_branch(run, &step->branches[2 * i + 1], &yes, &value, err));
        sources[count++] = (struct merge_source){.vector = value, .rows = yes};
    }
    if (rest.selected > 0) {
        struct vector *value = NULL;
        if (step->branch_count % 2 == 1)
            TRY(run_branch(run, &step->branches[step->branch_count - 1], &rest, &value, err));
        sources[count++] = (struct merge_source){.vector = value, .rows = rest};
    }
    struct vector **out = &run->state->registers[step->out];
    if (count == 1 && sources[0].vector != NULL) {
        struct vector *view = arena_new_object(run->ctx->arena, sizeof *view);
        *view = *sources[0].vector;
        *out = view;
        return OK;
    }
    return vector_merge(run->ctx->arena, step->expr->type, run->rows, sources, count, out, err);
}

static enum status run_coalesce(const struct run *run, const struct step *step,
                                const struct rows *rows, struct error *err)
{
    struct merge_source *sources =
        arena_new_object(run->ctx->arena, ((size_t)step->branch_count + 1) * sizeof *sources);
    uint32_t count = 0;
    struct rows rest = *rows;
    for (uint32_t i = 0; i < step->branch_count && rest.selected > 0; i++) {
        struct vector *value;
        TRY(run_branch(run, &step->branches[i], &rest, &value, err));
        uint16_t *present, *absent;
        TRY(new_selection(run, rest.selected, &present, err));
        TRY(new_selection(run, rest.selected, &absent, err));
        uint32_t present_count = 0;
        uint32_t absent_count = 0;
        for (uint32_t k = 0; k < rest.selected; k++) {
            uint32_t row = rows_at(&rest, k);
            bool null = vector_is_null(value, row);
            present[present_count] = (uint16_t)row;
            absent[absent_count] = (uint16_t)row;
            present_count += !null;
            absent_count += null;
        }
        struct rows yes = {.selection = present, .selected = present_count};
        rest = (struct rows){.selection = absent, .selected = absent_count};
        if (present_count > 0)
            sources[count++] = (struct merge_source){.vector = value, .rows = yes};
    }
    struct vector **out = &run->state->registers[step->out];
    if (rest.selected == 0 && count == 1) {
        struct vector *view = arena_new_object(run->ctx->arena, sizeof *view);
        *view = *sources[0].vector;
        *out = view;
        return OK;
    }
    if (rest.selected > 0)
        sources[count++] = (struct merge_source){.rows = rest};
    return vector_merge(run->ctx->arena, step->expr->type, run->rows, sources, count, out, err);
}

enum status program_run_lazy(const struct run *run, const struct step *step,
                             const struct rows *rows, struct error *err)
{
    switch (step->kind) {
    case STEP_AND:
    case STEP_OR:
        return run_logic(run, step, rows, err);
    case STEP_CASE:
        return run_case(run, step, rows, err);
    case STEP_COALESCE:
        return run_coalesce(run, step, rows, err);
    case STEP_COLUMN:
    case STEP_CONSTANT:
    case STEP_CALL:
    case STEP_STRICT_CALL:
    case STEP_CAST:
        break;
    }
    CHECK(!"a step that is not lazy");
    return OK;
}
