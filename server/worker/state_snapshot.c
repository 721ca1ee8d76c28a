/*
 * See state_snapshot.h.
 */
#include "worker/state_snapshot.h"

#include "base/heap.h"
#include "base/path.h"
#include "spec/conf.h"
#include "state/changelog.h"
#include "worker/query.h"

#include <stdlib.h>

#define LOG_BYTES_BETWEEN ((uint64_t)64 << 20) /* of changes: so much is replayed by a start */
#define LOG_BYTES_RETRY   ((uint64_t)8 << 20)  /* after a failure */
#define LOAD_BYTES        ((size_t)32 << 20)   /* of changes, put into the tables at once */
#define LOAD_ENTRIES      4096                 /* between looks at the memory */
#define FAILURES_MAX      16
#define SETTING           "spark.sql.streaming.stateStore.minDeltasForSnapshot"

/* The store's view of the checkpoint log. */
struct log_feed {
    struct state_feed base;
    struct checkpoint *checkpoint;
};

struct log_receiver {
    struct state_receiver base;
    struct state_record_receiver *receiver;
};

static enum status pass_on(struct state_receiver *self, struct bytes record, struct error *err)
{
    struct log_receiver *from = (struct log_receiver *)self;
    return from->receiver->receive(from->receiver, record, err);
}

static enum status replay(struct state_feed *self, int64_t from, int64_t to,
                          struct state_record_receiver *receiver, struct error *err)
{
    struct log_feed *feed = (struct log_feed *)self;
    struct log_receiver log = {.base = {.receive = pass_on}, .receiver = receiver};
    return checkpoint_replay_state(feed->checkpoint, from, to, &log.base, err);
}

static enum status open_store(struct query *query, int64_t version, struct error *err)
{
    struct log_feed *feed = arena_new_object(query->arena, sizeof *feed);
    int64_t keep = conf_int(&query->spec->conf, CONF_streaming_minBatchesToRetain);
    *feed = (struct log_feed){.base = {.replay = replay}, .checkpoint = query->checkpoint};
    struct state_store_config config = {
        .kind = query->config.state_store,
        .vfs = query->config.vfs,
        .log = query->config.log,
        .dir = path_join(query->arena, checkpoint_dir(query->checkpoint), "state"),
        .feed = &feed->base,
        .version = version,
        .first_batch = checkpoint_first_batch(query->checkpoint),
        .versions_kept = keep < 2 ? 2 : keep,
        .memory_bytes = query->budget.limit_bytes,
    };
    TRY(state_store_open(&config, &query->state_snapshot.store, err));
    checkpoint_hold(query->checkpoint, state_store_oldest_needed(query->state_snapshot.store));
    return OK;
}

/* The state of one partition of a stage. */
struct load_part {
    const struct stage *stage;
    struct pipeline *pipeline;
    uint32_t partition;
};

struct load {
    struct query *query;
    struct state_store *store;
    struct load_part *parts;
    uint32_t count;
};

struct load_receiver {
    struct state_entry_receiver base;
    struct query *query;
    struct pipeline *pipeline;
    struct pipeline_restorer *restorer;
    uint64_t entries;
    uint64_t bytes; /* of the pipeline, when it was last looked at */
};

static enum status note_memory(struct load_receiver *receiver, struct error *err)
{
    TRY(pipeline_restorer_finish(receiver->restorer, err));
    TRY(state_budget_note(receiver->query, receiver->pipeline, receiver->bytes, err));
    receiver->bytes = state_budget_bytes(receiver->pipeline);
    return OK;
}

static enum status load_entry(struct state_entry_receiver *self,
                              const struct state_store_entry *entry, struct error *err)
{
    struct load_receiver *receiver = (struct load_receiver *)self;
    struct change change = {
        .kind = CHANGE_PUT, .bucket = entry->bucket, .key = entry->key, .value = entry->value};
    TRY(pipeline_restorer_add(receiver->restorer, &change, err));
    uint64_t between = receiver->query->config.spill_always ? 3 : LOAD_ENTRIES;
    return ++receiver->entries % between == 0 ? note_memory(receiver, err) : OK;
}

static enum status load_operator(const struct load *load, const struct load_part *part,
                                 const struct plan_node *node, struct error *err)
{
    struct load_receiver receiver = {
        .base = {.receive = load_entry},
        .query = load->query,
        .pipeline = part->pipeline,
        .restorer = pipeline_restorer_new(part->pipeline, node),
        .bytes = state_budget_bytes(part->pipeline),
    };
    struct state_place place = {
        .operator_id = (uint32_t)node->operator_id,
        .partition = part->partition,
    };
    enum status status = state_store_scan_partition(load->store, place, &receiver.base, err);
    if (status == OK)
        status = note_memory(&receiver, err);
    pipeline_restorer_free(receiver.restorer);
    return status;
}

/* The operators of a pipeline in turn: what one of them loads may move the tables of all to the
 * disk. */
static enum status load_part(void *arg, uint32_t index, uint32_t worker, struct error *err)
{
    const struct load *load = arg;
    const struct load_part *part = &load->parts[index];
    (void)worker;
    for (uint32_t b = 0; b < part->stage->boundary_count; b++)
        TRY(load_operator(load, part, part->stage->boundaries[b].node, err));
    return OK;
}

static void add_parts(struct load *load, const struct stage *stage)
{
    for (uint32_t p = 0; p < stage->pipeline_count; p++)
        load->parts[load->count++] =
            (struct load_part){.stage = stage, .pipeline = stage->pipelines[p], .partition = p};
}

/* Puts what is in the store into the tables. */
static enum status load_store(struct query *query, struct error *err)
{
    const struct stage_graph *graph = query->graph;
    struct load load = {.query = query, .store = query->state_snapshot.store};
    size_t room = 0;
    for (uint32_t i = 0; i < graph->count; i++)
        room += graph->stages[i].pipeline_count;
    load.parts = heap_calloc(room + 1, sizeof *load.parts);
    for (uint32_t i = 0; i < graph->count; i++)
        if (stage_is_partitioned(&graph->stages[i]))
            add_parts(&load, &graph->stages[i]);
    enum status status = task_pool_run(query->pool, load.count, load_part, &load, err);
    free(load.parts);
    return status;
}

/* Changes that wait to be put into the tables, partitions side by side. */
struct table_loader {
    struct state_receiver base;
    struct query *query;
    struct arena *arena;
    struct bytes *records; /* in their order */
    size_t count;
    size_t capacity;
    size_t bytes;
    size_t bytes_max;
};

/* Memory of the pipelines of a partition, by stage.  The caller frees it. */
static uint64_t *bytes_of_partition(const struct query *query, uint32_t partition)
{
    uint64_t *bytes = heap_calloc(query->graph->count + 1, sizeof *bytes);
    for (uint32_t i = 0; i < query->graph->count; i++)
        if (stage_is_partitioned(&query->graph->stages[i]))
            bytes[i] = state_budget_bytes(query->graph->stages[i].pipelines[partition]);
    return bytes;
}

/* Each of them may have grown. */
static enum status note_partition(struct query *query, uint32_t partition, const uint64_t *before,
                                  struct error *err)
{
    for (uint32_t i = 0; i < query->graph->count; i++)
        if (stage_is_partitioned(&query->graph->stages[i]))
            TRY(state_budget_note(query, query->graph->stages[i].pipelines[partition], before[i],
                                  err));
    return OK;
}

/* The records of one partition. */
static enum status load_changes(void *arg, uint32_t index, uint32_t worker, struct error *err)
{
    const struct table_loader *loader = arg;
    struct query *query = loader->query;
    uint64_t *before = bytes_of_partition(query, index);
    enum status status = OK;
    (void)worker;
    for (size_t i = 0; i < loader->count && status == OK; i++) {
        uint32_t operator_id = 0;
        uint32_t partition = 0;
        struct bytes changes;
        /* What is no record is for everybody: the first to meet it refuses it. */
        if (!changelog_open(loader->records[i], &operator_id, &partition, &changes) ||
            partition % query->partitions == index)
            status = stage_graph_restore(query->graph, loader->records[i], err);
    }
    if (status == OK)
        status = note_partition(query, index, before, err);
    free(before);
    return status;
}

static enum status flush_records(struct table_loader *loader, struct error *err)
{
    struct query *query = loader->query;
    enum status status = task_pool_run(query->pool, query->partitions, load_changes, loader, err);
    query->state_snapshot.log_bytes += loader->bytes;
    loader->count = loader->bytes = 0;
    arena_reset(loader->arena);
    return status;
}

static enum status load_record(struct state_receiver *self, struct bytes record, struct error *err)
{
    struct table_loader *loader = (struct table_loader *)self;
    if (loader->count == loader->capacity) {
        loader->capacity = loader->capacity == 0 ? 64 : loader->capacity * 2;
        loader->records = heap_realloc(loader->records, loader->capacity * sizeof *loader->records);
    }
    loader->records[loader->count++] = arena_copy(loader->arena, record);
    loader->bytes += record.size_bytes;
    return loader->bytes < loader->bytes_max ? OK : flush_records(loader, err);
}

/* The changes of the batches [from, to]. */
static enum status load_log(struct query *query, int64_t from, int64_t to, struct error *err)
{
    struct table_loader loader = {
        .base = {.receive = load_record}, .query = query, .arena = arena_new("state changes", 0)};
    uint64_t share = query->budget.limit_bytes / 8;
    loader.bytes_max = share < LOAD_BYTES ? (size_t)share : LOAD_BYTES;
    enum status status = checkpoint_replay_state(query->checkpoint, from, to, &loader.base, err);
    if (status == OK)
        status = flush_records(&loader, err);
    free(loader.records);
    arena_free(loader.arena);
    return status;
}

enum status state_snapshot_load(struct query *query, int64_t version, struct error *err)
{
    if (!stage_graph_has_state(query->graph))
        return OK;
    TRY(open_store(query, version, err));
    int64_t loaded = state_store_applied(query->state_snapshot.store);
    if (version == NO_BATCH)
        return OK;
    if (loaded != NO_BATCH)
        TRY(load_store(query, err));
    query->state_snapshot.batches = (uint64_t)(version - loaded);
    TRY(load_log(query, loaded + 1, version, err));
    return state_budget_loaded(query, err);
}

/* Spark's setting counts batches; without it the size of the log decides. */
static bool is_due(const struct query *query)
{
    const struct query_durability *snapshot = &query->state_snapshot;
    uint64_t limit = LOG_BYTES_BETWEEN;
    if (state_store_failures(snapshot->store, NULL) > 0)
        limit = LOG_BYTES_RETRY;
    if (snapshot->log_bytes >= limit)
        return true;
    if (options_get(&query->spec->conf, SETTING) == NULL)
        return false;
    int64_t batches = conf_int(&query->spec->conf, CONF_streaming_stateStore_minDeltasForSnapshot);
    return batches <= 0 || snapshot->batches >= (uint64_t)batches;
}

/* A failpoint in the store is as one in the batch; another failure is for the next time, unless
 * there were many. */
static enum status check_failures(const struct query *query, struct error *err)
{
    struct error last = ERROR_INIT;
    uint32_t failures = state_store_failures(query->state_snapshot.store, &last);
    if (failures == 0 || last.status == OK ||
        (failures < FAILURES_MAX && last.status != STATUS_FAILPOINT_REACHED))
        return OK;
    *err = last;
    return err->status;
}

enum status state_snapshot_consider(struct query *query, int64_t version, struct error *err)
{
    struct query_durability *snapshot = &query->state_snapshot;
    if (snapshot->store == NULL)
        return OK;
    snapshot->batches++;
    if (!state_store_busy(snapshot->store)) {
        if (is_due(query)) {
            snapshot->log_bytes = snapshot->batches = 0;
            state_store_advance(snapshot->store, version, true);
        }
        TRY(check_failures(query, err));
    }
    checkpoint_hold(query->checkpoint, state_store_oldest_needed(snapshot->store));
    return OK;
}

void state_snapshot_close(struct query *query)
{
    state_store_close(query->state_snapshot.store);
    query->state_snapshot.store = NULL;
}
