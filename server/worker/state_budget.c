/*
 * See state_budget.h.
 */
#include "worker/state_budget.h"

#include "base/check.h"
#include "base/failpoint.h"
#include "base/heap.h"
#include "base/memory_limit.h"
#include "base/path.h"
#include "worker/query.h"

#include <inttypes.h>
#include <stdio.h>

#define ENTRY_BYTES 120 /* of memory for a key that a batch has something for, and its change */
#define ROUNDS_MAX  (1U << 20)
#define ROUNDS_TEST 3
#define PART_TEST   1000

static uint64_t comfortable_bytes(const struct query *query)
{
    return query->config.spill_always ? 0 : query->budget.limit_bytes / 8 * 3;
}

uint64_t state_budget_writer_bytes(const struct query *query, uint32_t threads)
{
    return query->config.spill_always ? 0 : query->budget.limit_bytes / 8 / threads;
}

uint64_t state_budget_writer_limit(const struct query *query, uint32_t threads)
{
    return query->budget.limit_bytes / 2 / threads;
}

/* An entry takes its memory, that of the one on the disk, if there is one, and that of what is said
 * of both on their way. */
uint32_t state_budget_rounds(const struct query *query, struct pipeline *pipeline, uint32_t leaf,
                             const struct exec_waiting *waiting, uint32_t threads)
{
    uint64_t share = query->budget.limit_bytes / 4 / threads;
    uint64_t on_disk = 0;
    if (waiting->entries < 2 || !pipeline_has_rounds(pipeline, leaf))
        return 1;
    if (query->config.spill_always)
        return ROUNDS_TEST;
    for (uint32_t i = 0; i < pipeline_change_count(pipeline); i++)
        if (pipeline_boundary(pipeline, i) == pipeline_leaf(pipeline, leaf))
            on_disk = spill_entry_bytes(pipeline_spill(pipeline, i));
    uint64_t bytes =
        waiting->bytes + waiting->bytes / 2 + waiting->entries * (ENTRY_BYTES + 2 * on_disk);
    uint64_t rounds = bytes / (share + 1) + 1;
    return rounds < ROUNDS_MAX ? (uint32_t)rounds : ROUNDS_MAX;
}

uint64_t state_budget_part_bytes(const struct query *query, uint32_t threads)
{
    return query->config.spill_always ? PART_TEST : query->budget.limit_bytes / 8 / threads;
}

static bool next_pipeline(const struct stage_graph *graph, uint32_t *stage, uint32_t *pipeline)
{
    for (; *stage < graph->count; (*stage)++, *pipeline = 0)
        for (; *pipeline < graph->stages[*stage].pipeline_count; (*pipeline)++)
            if (graph->stages[*stage].pipelines[*pipeline] != NULL)
                return true;
    return false;
}

void state_budget_init(struct query *query)
{
    struct state_budget *budget = &query->budget;
    int64_t limit = query->spec->memory_limit_bytes;
    const char *dir = path_join(query->arena, checkpoint_dir(query->checkpoint), "state");
    uint32_t pipeline = 0;
    if (limit > 0)
        heap_keep_little((uint64_t)limit);
    budget->limit_bytes = limit > 0 ? (uint64_t)limit : memory_limit_bytes() / 2;
    atomic_init(&budget->used_bytes, 0);
    atomic_init(&budget->peak_bytes, 0);
    budget->state_file =
        spill_file_new(query->config.vfs, path_join(query->arena, dir, "spilled-state"));
    budget->batch_file =
        spill_file_new(query->config.vfs, path_join(query->arena, dir, "spilled-batch"));
    for (uint32_t stage = 0; next_pipeline(query->graph, &stage, &pipeline); pipeline++) {
        struct pipeline *each = query->graph->stages[stage].pipelines[pipeline];
        for (uint32_t i = 0; i < pipeline_change_count(each); i++)
            if (pipeline_spill(each, i) != NULL)
                pipeline_spill(each, i)->space.file = budget->state_file;
    }
}

void state_budget_fini(struct query *query)
{
    spill_file_free(query->budget.state_file);
    spill_file_free(query->budget.batch_file);
    query->budget.state_file = query->budget.batch_file = NULL;
}

void state_budget_begin(struct query *query)
{
    spill_file_reset(query->budget.batch_file);
    atomic_store(&query->budget.peak_bytes, 0);
}

void state_budget_end(struct query *query)
{
    spill_file_reset(query->budget.batch_file);
}

static void add_all(const struct stage_graph *graph, struct pipeline_memory *memory)
{
    uint32_t pipeline = 0;
    for (uint32_t stage = 0; next_pipeline(graph, &stage, &pipeline); pipeline++)
        pipeline_add_memory(graph->stages[stage].pipelines[pipeline], memory);
}

static uint64_t total(const struct pipeline_memory *memory)
{
    return memory->state_bytes + memory->fixed_bytes + memory->changes_bytes + memory->writer_bytes;
}

uint64_t state_budget_bytes(const struct pipeline *pipeline)
{
    struct pipeline_memory memory = {0};
    pipeline_add_memory(pipeline, &memory);
    return total(&memory);
}

/* Returns how much is used now. */
static int64_t count_bytes(struct state_budget *budget, int64_t delta)
{
    int64_t used = atomic_fetch_add(&budget->used_bytes, delta) + delta;
    int64_t peak = atomic_load(&budget->peak_bytes);
    while (used > peak && !atomic_compare_exchange_weak(&budget->peak_bytes, &peak, used))
        continue;
    return used;
}

void state_budget_count(struct query *query, const struct pipeline *pipeline, uint64_t *noted)
{
    uint64_t before = *noted;
    *noted = state_budget_bytes(pipeline);
    (void)count_bytes(&query->budget, (int64_t)(*noted - before));
}

int64_t state_budget_peak_bytes(const struct query *query)
{
    return atomic_load(&query->budget.peak_bytes);
}

/* It is in one partition, and goes with no watermark. */
static bool has_one_group(const struct plan_node *node)
{
    return node->kind == PLAN_AGGREGATE && node->aggregate.key_count == 0;
}

static enum status refuse(const struct query *query, uint64_t used,
                          const struct pipeline_memory *memory, struct error *err)
{
    uint64_t limit = query->budget.limit_bytes;
    char bytes_text[24];
    char limit_text[24];
    if (memory->fixed == NULL || memory->fixed_bytes < limit / 2)
        return pipeline_batch_too_large(used, limit, err);
    (void)snprintf(bytes_text, sizeof bytes_text, "%" PRIu64, memory->fixed_bytes);
    (void)snprintf(limit_text, sizeof limit_text, "%" PRIu64, limit);
    (void)error_raise(err, STATUS_STATE_MEMORY_EXCEEDED, "operator",
                      stateful_of(memory->fixed)->name, "bytes", bytes_text, "limit", limit_text,
                      NULL);
    if (has_one_group(memory->fixed))
        (void)snprintf(err->text, sizeof err->text,
                       "The state of the operator %s takes %s bytes of memory; limits.memoryBytes "
                       "is %s. It has no keys: all of it has to fit. Raise limits.memoryBytes, or "
                       "keep less of each row",
                       stateful_of(memory->fixed)->name, bytes_text, limit_text);
    return err->status;
}

static bool can_let_go(struct pipeline *pipeline)
{
    for (uint32_t i = 0; i < pipeline_change_count(pipeline); i++)
        if (pipeline_spill(pipeline, i) != NULL)
            return true;
    return false;
}

enum status state_budget_note(struct query *query, struct pipeline *pipeline, uint64_t before,
                              struct error *err)
{
    struct state_budget *budget = &query->budget;
    struct pipeline_memory memory = {0};
    pipeline_add_memory(pipeline, &memory);
    uint64_t after = total(&memory);
    int64_t used = count_bytes(budget, (int64_t)(after - before));
    if (used <= (int64_t)comfortable_bytes(query) && !query->config.spill_always)
        return OK;
    bool lets_go = can_let_go(pipeline);
    TRY(pipeline_put_away_rows(pipeline, budget->batch_file, err));
    if (lets_go) {
        TRY(pipeline_put_away(pipeline, budget->batch_file, err));
        TRY(pipeline_let_go(pipeline, UINT64_MAX, err));
        TRY(FAILPOINT(mid_spill, err));
    }
    used = count_bytes(budget, (int64_t)(state_budget_bytes(pipeline) - after));
    if (used <= (int64_t)budget->limit_bytes || (lets_go && after <= budget->limit_bytes))
        return OK;
    if (memory.fixed != NULL && !has_one_group(memory.fixed))
        memory.fixed_bytes *= query->partitions; /* the others are as large */
    return refuse(query, (uint64_t)used, &memory, err);
}

enum status state_budget_prepare(struct query *query, uint32_t index, struct error *err)
{
    const struct stage_graph *graph = query->graph;
    struct pipeline_memory memory = {0};
    uint32_t pipeline = 0;
    if (!stage_is_partitioned(&graph->stages[index]))
        return OK;
    add_all(graph, &memory);
    uint64_t used = total(&memory);
    if (memory.fixed_bytes + memory.writer_bytes > query->budget.limit_bytes)
        return refuse(query, memory.fixed_bytes + memory.writer_bytes, &memory, err);
    for (uint32_t stage = index; used > comfortable_bytes(query) && memory.state_bytes > 0 &&
                                 next_pipeline(graph, &stage, &pipeline);
         pipeline++) {
        struct pipeline *each = graph->stages[stage].pipelines[pipeline];
        uint64_t before = state_budget_bytes(each);
        if (can_let_go(each) && before > 0) {
            for (uint32_t i = 0; i < pipeline_change_count(each); i++)
                pipeline_drop_change(each, i); /* those of the batch before */
            TRY(pipeline_let_go(each, UINT64_MAX, err));
        }
        used = used + state_budget_bytes(each) - before;
    }
    atomic_store(&query->budget.used_bytes, (int64_t)used);
    return OK;
}

/* ---- a run that begins ---- */

enum status state_budget_loaded(struct query *query, struct error *err)
{
    const struct stage_graph *graph = query->graph;
    uint32_t pipeline = 0;
    for (uint32_t stage = 0; next_pipeline(graph, &stage, &pipeline); pipeline++) {
        struct pipeline *each = graph->stages[stage].pipelines[pipeline];
        bool spilled = false;
        for (uint32_t i = 0; i < pipeline_change_count(each); i++) {
            const struct spill *spill = pipeline_spill(each, i);
            spilled = spilled || (spill != NULL && !spill_is_empty(spill));
        }
        if (spilled)
            TRY(pipeline_let_go(each, UINT64_MAX, err));
    }
    return OK;
}
