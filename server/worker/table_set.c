/*
 * See table_set.h.
 */
#include "worker/table_set.h"

#include "base/check.h"

void table_set_init(struct table_set *set, struct arena *query,
                    const struct relation_context *context, const struct physical_plan *plan)
{
    *set = (struct table_set){.plan = plan, .context = *context};
    set->uses = arena_new_object(query, (plan->relation_count + 1) * sizeof *set->uses);
    for (uint32_t i = 0; i < plan->relation_count; i++)
        if (!plan->relations[i].streaming) {
            set->uses[set->count].relation = i;
            set->uses[set->count++].arena = arena_new("table", 0);
        }
}

static void close_source(struct table_use *use)
{
    if (use->source != NULL)
        use->source->ops->close(use->source);
    use->source = NULL;
    arena_reset(use->arena);
}

void table_set_close(struct table_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        close_source(&set->uses[i]);
        arena_free(set->uses[i].arena);
    }
    set->count = 0;
}

/* A source that has planned nothing yet: it then lists everything. */
static enum status open_fresh(struct table_set *set, struct table_use *use, struct error *err)
{
    const struct plan_relation *relation = &set->plan->relations[use->relation];
    close_source(use);
    TRY(relation_open(&set->context, use->arena, relation->spec, NULL, &use->source, err));
    TRY(relation_bind(set->plan, use->relation, use->source, err));
    return use->source->ops->recover(use->source, NULL, NULL, 0, err);
}

enum status table_set_plan(struct table_set *set, struct arena *batch,
                           struct source_range *versions, struct error *err)
{
    for (uint32_t i = 0; i < set->count; i++) {
        struct table_use *use = &set->uses[i];
        bool found = false;
        TRY(open_fresh(set, use, err));
        versions[i] = (struct source_range){0};
        TRY(use->source->ops->plan(use->source, true, batch, &versions[i], &found, err));
        if (!found)
            versions[i] = (struct source_range){0};
    }
    return OK;
}

enum status table_set_begin(struct table_set *set, const struct batch_intent *intent,
                            struct arena *batch, struct error *err)
{
    for (uint32_t i = 0; i < set->count; i++) {
        struct table_use *use = &set->uses[i];
        use->splits = NULL;
        use->split_count = 0;
        if (use->source == NULL) /* a batch that runs again */
            TRY(open_fresh(set, use, err));
        if (i < intent->table_count && intent->tables[i].end.size_bytes > 0)
            TRY(use->source->ops->splits(use->source, &intent->tables[i], batch, &use->splits,
                                         &use->split_count, err));
    }
    return OK;
}

const struct table_use *table_set_find(const struct table_set *set, uint32_t relation)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->uses[i].relation == relation)
            return &set->uses[i];
    return NULL;
}
