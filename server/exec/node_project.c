/*
 * Project: computes one column per expression.
 *
 * The rows stay where they are: the new columns are as long as the input's and share its selection.
 */
#include "base/check.h"
#include "exec/node.h"
#include "expr/program.h"

#define PROJECT_MAGIC 0x9607ec71U

struct project {
    uint32_t magic;
    const struct expr_program *program;
    struct expr_state *state;
};

static enum status project_open(struct exec_node *self, struct arena *query,
                                const struct plan_node *node, struct error *err)
{
    CHECK(node->kind == PLAN_PROJECT);
    struct project *project = arena_new_object(query, sizeof *project);
    project->magic = PROJECT_MAGIC;
    self->state = project;
    TRY(expr_compile(query, node->project.exprs, node->schema->field_count, &project->program,
                     err));
    return expr_state_new(query, project->program, &project->state, err);
}

static enum status project_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                                const struct batch *batch, struct error *err)
{
    struct project *project = self->state;
    CHECK_MAGIC(project, PROJECT_MAGIC);
    CHECK(input == 0);
    void *columns = NULL;
    const struct type *schema = self->plan->schema;
    TRY(arena_alloc(ctx->batch_arena, schema->field_count + 1, sizeof(struct vector *), &columns,
                    err));
    struct batch out = *batch;
    out.schema = schema;
    out.columns = columns;
    TRY(expr_eval(project->program, project->state, &ctx->eval, batch, out.columns, err));
    return exec_emit(self, ctx, &out, err);
}

const struct exec_node_ops node_project = {
    .name = "Project",
    .open = project_open,
    .push = project_push,
};
