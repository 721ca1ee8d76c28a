#include "plan/planner.h"

#include "base/check.h"
#include "plan/check_state.h"
#include "plan/fingerprint.h"
#include "plan/physical.h"
#include "plan/rewrite.h"
#include "spec/conf.h"

static void init_rewriter(struct rewriter *rewriter, struct arena *arena,
                          const struct analysis *analysis)
{
    rewriter->arena = arena;
    rewriter->analysis = analysis;
    rewriter->next_id = analysis->next_id;
    rewriter->infers = conf_bool(&analysis->spec->conf, CONF_constraintPropagation_enabled);
    resolve_context_init(&rewriter->functions, arena);
    rewriter->functions.ansi = analysis->ansi;
    rewriter->functions.time_zone = analysis->time_zone;
}

static void copy_relations(struct arena *arena, const struct analysis *analysis,
                           struct physical_plan *plan)
{
    plan->relation_count = analysis->relation_count;
    plan->relations =
        arena_new_object(arena, (analysis->relation_count + 1) * sizeof *plan->relations);
    for (uint32_t i = 0; i < analysis->relation_count; i++) {
        plan->relations[i].spec = analysis->relations[i].spec;
        plan->relations[i].streaming = analysis->relations[i].streaming;
        plan->relations[i].source_index = analysis->relations[i].source_index;
    }
    plan->watermark_count = analysis->watermark_count;
}

/* The names of the result are those of the query, whatever the last node calls its columns. */
static void name_root(struct arena *arena, const struct analysis *analysis, struct plan_node *root)
{
    struct type_field *fields =
        arena_new_object(arena, (root->schema->field_count + 1) * sizeof *fields);
    CHECK(root->schema->field_count == analysis->schema->field_count);
    for (uint32_t i = 0; i < root->schema->field_count; i++) {
        fields[i] = root->schema->fields[i];
        fields[i].name = analysis->schema->fields[i].name;
    }
    root->schema = type_struct(arena, fields, root->schema->field_count);
}

enum status plan_query(struct arena *query, const struct analysis *analysis,
                       struct physical_plan **out, struct error *err)
{
    struct rewriter rewriter;
    struct logical_node *node = analysis->root;
    init_rewriter(&rewriter, query, analysis);
    node = lower_subquery_filters(&rewriter, node);
    TRY(rewrite_subqueries(&rewriter, node, &node, err));
    TRY(rewrite_set_operations(&rewriter, node, &node, err));
    node = fold_constants(&rewriter, node);
    node = push_filters(&rewriter, node);
    node = collapse_projects(&rewriter, node);
    TRY(prune_columns(&rewriter, node, &node, err));
    node = collapse_projects(&rewriter, node);
    TRY(check_event_times(node, err));

    TRY(fill_session_keys(&rewriter, node, err));
    struct physical_plan *plan = arena_new_object(query, sizeof *plan);
    copy_relations(query, analysis, plan);
    TRY(physical_make(&rewriter, node, plan, err));
    TRY(check_join_keys(plan->root, node, err));
    name_root(query, analysis, plan->root);
    fingerprint_fill(query, plan);
    *out = plan;
    return OK;
}
