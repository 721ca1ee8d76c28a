/*
 * See state_budget.h.
 */
#include "worker/state_budget.h"

#include "base/check.h"
#include "base/memory_limit.h"
#include "state/state_store.h"
#include "worker/query.h"
#include "worker/state_snapshot.h"

#include <inttypes.h>
#include <stdio.h>

/* What a batch brings takes about as much again in the tables, and for its changes. */
#define GROWTH 2

void state_budget_init(struct query *query)
{
    int64_t limit = query->spec->memory_limit_bytes;
    query->budget.limit_bytes = limit > 0 ? (uint64_t)limit : memory_limit_bytes() / 2;
    atomic_init(&query->budget.used_bytes, 0);
}

static bool next_pipeline(const struct stage_graph *graph, uint32_t *stage, uint32_t *pipeline)
{
    for (; *stage < graph->count; (*stage)++, *pipeline = 0)
        for (; *pipeline < graph->stages[*stage].pipeline_count; (*pipeline)++)
            if (graph->stages[*stage].pipelines[*pipeline] != NULL)
                return true;
    return false;
}

static void add_all(const struct stage_graph *graph, struct pipeline_memory *memory)
{
    uint32_t pipeline = 0;
    for (uint32_t stage = 0; next_pipeline(graph, &stage, &pipeline); pipeline++)
        pipeline_add_memory(graph->stages[stage].pipelines[pipeline], memory);
}

uint64_t state_budget_bytes(const struct pipeline *pipeline)
{
    struct pipeline_memory memory = {0};
    pipeline_add_memory(pipeline, &memory);
    return memory.state_bytes + memory.fixed_bytes + memory.changes_bytes + memory.writer_bytes;
}

static enum status refuse(const struct query *query, uint64_t used,
                          const struct pipeline_memory *memory, struct error *err)
{
    uint64_t limit = query->budget.limit_bytes;
    char bytes_text[24];
    char limit_text[24];
    if (memory->fixed == NULL || memory->fixed_bytes < limit / 2)
        return pipeline_batch_too_large(used, limit, err);
    snprintf(bytes_text, sizeof bytes_text, "%" PRIu64, memory->fixed_bytes);
    snprintf(limit_text, sizeof limit_text, "%" PRIu64, limit);
    return error_raise(err, STATUS_STATE_MEMORY_EXCEEDED, "operator",
                       stateful_of(memory->fixed)->name, "bytes", bytes_text, "limit", limit_text,
                       NULL);
}

enum status state_budget_note(struct query *query, const struct pipeline *pipeline, uint64_t before,
                              struct error *err)
{
    struct state_budget *budget = &query->budget;
    int64_t delta = (int64_t)state_budget_bytes(pipeline) - (int64_t)before;
    int64_t used = atomic_fetch_add(&budget->used_bytes, delta) + delta;
    if (used <= 0 || (uint64_t)used <= budget->limit_bytes)
        return OK;
    struct pipeline_memory memory = {0};
    pipeline_add_memory(pipeline, &memory);
    memory.fixed_bytes *= query->partitions; /* the others are as large */
    return refuse(query, (uint64_t)used, &memory, err);
}

/* Lets go what stages [first, ...) have, partition after partition. */
static void let_go(struct query *query, uint32_t first, uint64_t bytes)
{
    const struct stage_graph *graph = query->graph;
    uint32_t pipeline = 0;
    uint64_t freed = 0;
    for (uint32_t stage = first; freed < bytes && next_pipeline(graph, &stage, &pipeline);
         pipeline++) {
        struct pipeline *each = graph->stages[stage].pipelines[pipeline];
        uint64_t before = state_budget_bytes(each);
        if (pipeline_change_count(each) == 0)
            continue;
        pipeline_let_go(each, bytes - freed);
        uint64_t after = state_budget_bytes(each);
        freed += before > after ? before - after : 0;
    }
    query->budget.spilled = true;
    query->budget.let_go++;
}

/* Whether an entry that the store may have was removed since it was last waited for. */
static bool forget_taken(struct query *query)
{
    const struct stage_graph *graph = query->graph;
    uint32_t pipeline = 0;
    bool taken = false;
    for (uint32_t stage = 0; next_pipeline(graph, &stage, &pipeline); pipeline++) {
        struct pipeline *each = graph->stages[stage].pipelines[pipeline];
        for (uint32_t i = 0; i < pipeline_change_count(each); i++) {
            struct spill *spill = pipeline_spill(each, i);
            taken = taken || (spill != NULL && spill->taken);
            if (spill != NULL)
                spill->taken = false;
        }
    }
    return taken;
}

static void give_store(struct query *query)
{
    const struct stage_graph *graph = query->graph;
    uint32_t pipeline = 0;
    for (uint32_t stage = 0; next_pipeline(graph, &stage, &pipeline); pipeline++) {
        struct pipeline *each = graph->stages[stage].pipelines[pipeline];
        for (uint32_t i = 0; i < pipeline_change_count(each); i++) {
            struct spill *spill = pipeline_spill(each, i);
            if (spill == NULL)
                continue;
            spill->store = query->state_snapshot.store;
            spill->operator_id = (uint32_t)pipeline_boundary(each, i)->operator_id;
            spill->partition = pipeline;
        }
    }
}

enum status state_budget_prepare(struct query *query, uint32_t index, struct error *err)
{
    struct state_budget *budget = &query->budget;
    struct pipeline_memory memory = {0};
    int64_t committed = query->next_batch_id - 1;
    if (!stage_is_partitioned(&query->graph->stages[index]))
        return OK;
    add_all(query->graph, &memory);
    uint64_t limit = budget->limit_bytes;
    uint64_t fixed = memory.fixed_bytes + memory.writer_bytes;
    uint64_t used = fixed + memory.state_bytes + memory.changes_bytes;
    uint64_t wanted = used + GROWTH * memory.writer_bytes;
    if (query->config.spill_always)
        wanted = UINT64_MAX;
    if (fixed > limit)
        return refuse(query, fixed, &memory, err);
    if (query->state_snapshot.store != NULL && budget->spilled && forget_taken(query))
        TRY(state_store_wait(query->state_snapshot.store, committed, err));
    if (wanted > limit && query->state_snapshot.store != NULL && memory.state_bytes > 0 &&
        committed >= 0) {
        give_store(query);
        TRY(state_store_wait(query->state_snapshot.store, committed, err));
        uint64_t room = limit > fixed + GROWTH * memory.writer_bytes
                            ? limit - fixed - GROWTH * memory.writer_bytes
                            : 0;
        if (query->config.spill_always)
            room = 0;
        let_go(query, index, memory.state_bytes + memory.changes_bytes - room / 2);
        memory = (struct pipeline_memory){0};
        add_all(query->graph, &memory);
        used = memory.fixed_bytes + memory.writer_bytes + memory.state_bytes + memory.changes_bytes;
    }
    atomic_store(&budget->used_bytes, (int64_t)used);
    return OK;
}

void state_budget_committed(struct query *query, int64_t version)
{
    if (query->state_snapshot.store != NULL && query->budget.spilled)
        state_store_advance(query->state_snapshot.store, version, false);
}

/* ---- a run that begins ---- */

static enum status load_or_leave(struct query *query, struct pipeline *each, uint32_t index,
                                 uint32_t partition, struct error *err)
{
    struct spill *spill = pipeline_spill(each, index);
    const struct plan_node *boundary = pipeline_boundary(each, index);
    if (spill != NULL)
        return spill_reopen(spill, err);
    return state_snapshot_load_part(query->state_snapshot.store, each, boundary, partition, err);
}

enum status state_budget_leave(struct query *query, int64_t version, bool *left, struct error *err)
{
    const struct stage_graph *graph = query->graph;
    uint32_t pipeline = 0;
    *left = false;
    if (!query->config.spill_always &&
        state_store_snapshot_bytes(query->state_snapshot.store) < query->budget.limit_bytes / 4)
        return OK;
    TRY(state_store_wait(query->state_snapshot.store, version, err));
    give_store(query);
    for (uint32_t stage = 0; next_pipeline(graph, &stage, &pipeline); pipeline++) {
        struct pipeline *each = graph->stages[stage].pipelines[pipeline];
        for (uint32_t i = 0; i < pipeline_change_count(each); i++)
            TRY(load_or_leave(query, each, i, pipeline, err));
    }
    query->budget.spilled = true;
    *left = true;
    return OK;
}
