/*
 * Building and running a chain of operators.  See pipeline.h.
 */
#include "exec/pipeline.h"

#include "base/check.h"
#include "base/heap.h"
#include "exec/join_bounds.h"
#include "exec/node_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PIPELINE_MAGIC 0x919e1101U
#define PLAN_DEPTH_MAX 1000
#define LEAVES_MAX     1024

struct leaf {
    struct batch_receiver receiver; /* first member: what a source gets */
    struct pipeline *pipeline;
    struct exec_node *node;
};

struct node_list {
    struct exec_node *node;
    struct node_list *next;
};

/* The changes of one boundary's operator. */
struct change_record {
    struct exec_node *node;
    struct buffer bytes;
    struct spill_file *file;       /* where others were put away */
    struct spill_extents put_away; /* before those in `bytes` */
    uint32_t next;                 /* of both that is asked for */
    struct buffer brought;
    int64_t updates_us, removals_us, commit_us; /* of the batch */
};

struct pipeline {
    uint32_t magic;
    struct pipeline_config config;
    struct arena *query; /* operators */
    struct exec_context ctx;
    struct node_list *nodes; /* all, parents first */
    struct node_list **nodes_end;
    struct leaf *leaves;
    uint32_t leaf_count;
    struct exec_node *writer;      /* NULL: the sink is the end */
    struct change_record *changes; /* one per boundary */
    uint32_t boundary_count;
    const atomic_bool *cancelled;
    uint64_t memory_limit;
    uint64_t writer_limit;
    uint64_t put_away_from;
    struct spill_file *batch_file;
    int64_t late_watermark_us; /* the query's, for the present task */
    int64_t eviction_watermark_us;
};

enum status pipeline_batch_too_large(uint64_t bytes, uint64_t limit, struct error *err)
{
    char bytes_text[24];
    char limit_text[24];
    (void)snprintf(bytes_text, sizeof bytes_text, "%" PRIu64, bytes);
    (void)snprintf(limit_text, sizeof limit_text, "%" PRIu64, limit);
    return error_raise(err, STATUS_BATCH_MEMORY_EXCEEDED, "bytes", bytes_text, "limit", limit_text,
                       NULL);
}

static void drop_change(struct change_record *record)
{
    buffer_fini(&record->bytes);
    buffer_fini(&record->brought);
    spill_extents_fini(&record->put_away);
    record->next = 0;
}

enum status pipeline_put_away_rows(struct pipeline *pipeline, struct spill_file *file,
                                   struct error *err)
{
    struct exec_node *writer = pipeline->writer;
    if (writer == NULL || writer->ops->put_away == NULL || writer->ops->bytes(writer) == 0)
        return OK;
    return writer->ops->put_away(writer, file, err);
}

/* What a batch collects for the partitions is no state yet, but memory. */
static enum status check_writer(struct pipeline *pipeline, struct error *err)
{
    struct exec_node *writer = pipeline->writer;
    if (pipeline->memory_limit == 0 || writer == NULL || writer->ops->bytes == NULL)
        return OK;
    uint64_t bytes = writer->ops->bytes(writer);
    if (bytes > pipeline->put_away_from) {
        TRY(pipeline_put_away_rows(pipeline, pipeline->batch_file, err));
        bytes = writer->ops->bytes(writer);
    }
    return bytes <= pipeline->writer_limit
               ? OK
               : pipeline_batch_too_large(bytes, pipeline->memory_limit, err);
}

static enum status receive(struct batch_receiver *self, const struct batch *batch,
                           struct error *err)
{
    struct leaf *leaf = (struct leaf *)self;
    struct pipeline *pipeline = leaf->pipeline;
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    enum status status = OK;
    if (pipeline->cancelled != NULL &&
        atomic_load_explicit(pipeline->cancelled, memory_order_relaxed))
        return error_raise(err, STATUS_OPERATION_CANCELLED, NULL);
    if (batch->selected > 0 && !pipeline->ctx.enough)
        status = leaf->node->ops->push(leaf->node, &pipeline->ctx, 0, batch, err);
    if (status == OK)
        status = check_writer(pipeline, err);
    arena_reset(pipeline->ctx.batch_arena);
    return status;
}

static enum status add_leaf(struct pipeline *pipeline, struct exec_node *node, struct error *err)
{
    if (pipeline->leaf_count == LEAVES_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the inputs of a query", "limit",
                           "1024", NULL);
    pipeline->leaves[pipeline->leaf_count++] = (struct leaf){
        .receiver = {.receive = receive},
        .pipeline = pipeline,
        .node = node,
    };
    return OK;
}

static struct exec_node *add_node(struct pipeline *pipeline, const struct exec_node_ops *ops,
                                  const struct plan_node *plan, struct exec_node *next,
                                  uint32_t next_input)
{
    struct exec_node *node = arena_new_object(pipeline->query, sizeof *node);
    struct node_list *entry = arena_new_object(pipeline->query, sizeof *entry);
    *node = (struct exec_node){
        .magic = EXEC_NODE_MAGIC,
        .ops = ops,
        .plan = plan,
        .next = next,
        .next_input = next_input,
        .inputs = plan->child_count == 0 ? 1 : plan->child_count,
    };
    entry->node = node;
    *pipeline->nodes_end = entry;
    pipeline->nodes_end = &entry->next;
    return node;
}

static enum status add_boundary(struct pipeline *pipeline, const struct plan_node *plan,
                                struct exec_node *next, uint32_t next_input, struct error *err)
{
    const struct exec_node_ops *ops = stateful_of(plan);
    struct exec_node *node = add_node(pipeline, ops, plan, next, next_input);
    node->inputs = 1; /* its stage's leaf: all producers are done before it begins */
    for (uint32_t i = 0; i < plan->child_count; i++) {
        int64_t shift_us = join_watermark_shift_us(plan->children[i]);
        if (shift_us > node->watermark_shift_us)
            node->watermark_shift_us = shift_us;
    }
    pipeline->changes[pipeline->boundary_count++].node = node;
    TRY(ops->open(node, pipeline->query, plan, err));
    return add_leaf(pipeline, node, err);
}

static enum status build(struct pipeline *pipeline, const struct plan_node *plan,
                         struct exec_node *next, uint32_t next_input, int depth, struct error *err)
{
    if (depth > PLAN_DEPTH_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the depth of a plan", "limit",
                           "1000", NULL);
    if (!pipeline->config.bounded && stateful_is_boundary(plan))
        return add_boundary(pipeline, plan, next, next_input, err);
    const struct exec_node_ops *ops = exec_node_find(plan->kind);
    if (ops == NULL)
        return error_raise(err, STATUS_NOT_SUPPORTED, "feature", plan_kind_name(plan->kind), NULL);
    struct exec_node *node = add_node(pipeline, ops, plan, next, next_input);
    TRY(ops->open(node, pipeline->query, plan, err));
    if (plan->child_count == 0)
        return add_leaf(pipeline, node, err);
    if (plan->kind == PLAN_JOIN || plan->kind == PLAN_SET_OPERATION) {
        CHECK(plan->child_count == 2);
        TRY(build(pipeline, plan->children[1], node, 1, depth + 1, err));
        return build(pipeline, plan->children[0], node, 0, depth + 1, err);
    }
    for (uint32_t i = 0; i < plan->child_count; i++)
        TRY(build(pipeline, plan->children[i], node, i, depth + 1, err));
    return OK;
}

static enum status build_all(struct pipeline *pipeline, struct error *err)
{
    const struct pipeline_config *config = &pipeline->config;
    struct bytes zone = bytes_of_text(config->time_zone);
    TRY(timezone_find(zone, &pipeline->ctx.eval.zone, err));
    if (config->consumer != NULL) {
        const struct exec_node_ops *ops = stateful_of(config->consumer)->stateful->writer;
        pipeline->writer = add_node(pipeline, ops, config->consumer, NULL, config->consumer_input);
        pipeline->writer->inputs = 1;
        TRY(ops->open(pipeline->writer, pipeline->query, config->consumer, err));
    }
    return build(pipeline, config->root, pipeline->writer, 0, 0, err);
}

enum status pipeline_new(const struct pipeline_config *config, struct pipeline **out,
                         struct error *err)
{
    struct arena *query = arena_new("query", 0);
    struct pipeline *pipeline = arena_new_object(query, sizeof *pipeline);
    pipeline->magic = PIPELINE_MAGIC;
    pipeline->config = *config;
    pipeline->query = query;
    pipeline->nodes_end = &pipeline->nodes;
    pipeline->leaves = arena_new_object(query, LEAVES_MAX * sizeof *pipeline->leaves);
    pipeline->changes = arena_new_object(query, LEAVES_MAX * sizeof *pipeline->changes);
    pipeline->ctx.batch_arena = arena_new("batch", BATCH_ARENA_BYTES);
    pipeline->ctx.eval.arena = pipeline->ctx.batch_arena;
    pipeline->ctx.eval.time_zone = config->time_zone;
    pipeline->ctx.eval.input_file = "";
    pipeline->ctx.partition = config->partition;
    pipeline->ctx.partitions = config->partitions;
    pipeline->ctx.mode = config->mode;
    enum status status = build_all(pipeline, err);
    if (status != OK) {
        pipeline_free(pipeline);
        return status;
    }
    *out = pipeline;
    return OK;
}

void pipeline_free(struct pipeline *pipeline)
{
    if (pipeline == NULL)
        return;
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    for (struct node_list *entry = pipeline->nodes; entry != NULL; entry = entry->next)
        if (entry->node->ops->close != NULL)
            entry->node->ops->close(entry->node);
    for (uint32_t i = 0; i < pipeline->boundary_count; i++)
        drop_change(&pipeline->changes[i]);
    arena_free(pipeline->ctx.batch_arena);
    pipeline->magic = 0;
    arena_free(pipeline->query);
}

uint32_t pipeline_leaf_count(const struct pipeline *pipeline)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    return pipeline->leaf_count;
}

/* Behind a join that waits for partners the event time lags. */
static void set_watermarks(struct pipeline *pipeline, const struct exec_node *node)
{
    struct exec_context *ctx = &pipeline->ctx;
    ctx->late_watermark_us = pipeline->late_watermark_us - node->watermark_shift_us;
    ctx->eviction_watermark_us = pipeline->eviction_watermark_us - node->watermark_shift_us;
}

static const struct leaf *leaf_at(const struct pipeline *pipeline, uint32_t leaf)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    CHECK(leaf < pipeline->leaf_count);
    return &pipeline->leaves[leaf];
}

const struct plan_node *pipeline_leaf(const struct pipeline *pipeline, uint32_t leaf)
{
    return leaf_at(pipeline, leaf)->node->plan;
}

bool pipeline_leaf_is_scan(const struct pipeline *pipeline, uint32_t leaf)
{
    return pipeline_leaf(pipeline, leaf)->kind == PLAN_SCAN;
}

bool pipeline_leaf_is_boundary(const struct pipeline *pipeline, uint32_t leaf)
{
    return leaf_at(pipeline, leaf)->node->ops->stateful != NULL;
}

bool pipeline_leaf_is_once(const struct pipeline *pipeline, uint32_t leaf)
{
    for (const struct exec_node *node = leaf_at(pipeline, leaf)->node; node->next != NULL;
         node = node->next) {
        const struct plan_node *above = node->next->plan;
        if (above->kind == PLAN_UNION && above->streaming &&
            !above->children[node->next_input]->streaming)
            return true;
    }
    return false;
}

struct batch_receiver *pipeline_receiver(struct pipeline *pipeline, uint32_t leaf)
{
    CHECK(pipeline_leaf_is_scan(pipeline, leaf));
    return &pipeline->leaves[leaf].receiver;
}

void pipeline_set_input_file(struct pipeline *pipeline, const char *path, int64_t start,
                             int64_t length)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    pipeline->ctx.eval.input_file = path == NULL ? "" : path;
    pipeline->ctx.eval.input_start = start;
    pipeline->ctx.eval.input_length = length;
}

int64_t pipeline_batch_timestamp_us(const struct pipeline *pipeline)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    return pipeline->ctx.eval.now_us;
}

enum status pipeline_begin(struct pipeline *pipeline, const struct pipeline_task *task,
                           struct error *err)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    struct exec_context *ctx = &pipeline->ctx;
    arena_reset(ctx->batch_arena);
    ctx->batch_id = task->batch_id;
    ctx->run = task->run;
    pipeline->late_watermark_us = ctx->late_watermark_us = task->late_watermark_us;
    pipeline->eviction_watermark_us = ctx->eviction_watermark_us = task->eviction_watermark_us;
    ctx->eval.now_us = task->batch_timestamp_us;
    ctx->eval.seed = task->random_seed;
    ctx->eval.partition = task->task;
    ctx->sink = task->sink;
    ctx->output_rows = 0;
    ctx->enough = false;
    pipeline->cancelled = task->cancelled;
    pipeline->memory_limit = task->memory_limit;
    pipeline->writer_limit = task->writer_limit;
    pipeline->put_away_from = task->put_away_from;
    pipeline->batch_file = task->batch_file;
    ctx->clock = task->clock;
    for (struct node_list *entry = pipeline->nodes; entry != NULL; entry = entry->next) {
        entry->node->inputs_finished = 0;
        if (entry->node->ops->begin != NULL)
            TRY(entry->node->ops->begin(entry->node, ctx, err));
    }
    for (uint32_t i = 0; i < pipeline->boundary_count; i++) {
        buffer_clear(&pipeline->changes[i].bytes);
        spill_extents_fini(&pipeline->changes[i].put_away);
        pipeline->changes[i].next = 0;
        pipeline->changes[i].updates_us = 0;
        pipeline->changes[i].removals_us = pipeline->changes[i].commit_us = 0;
    }
    ctx->round = ctx->rounds = 0;
    return OK;
}

static struct change_record *record_at(struct pipeline *pipeline, uint32_t leaf)
{
    const struct exec_node *node = leaf_at(pipeline, leaf)->node;
    for (uint32_t i = 0; i < pipeline->boundary_count; i++)
        if (pipeline->changes[i].node == node)
            return &pipeline->changes[i];
    return NULL;
}

enum status pipeline_finish_leaf(struct pipeline *pipeline, uint32_t leaf, struct error *err)
{
    struct exec_node *node = leaf_at(pipeline, leaf)->node;
    struct change_record *record = record_at(pipeline, leaf);
    struct exec_context *ctx = &pipeline->ctx;
    set_watermarks(pipeline, node);
    ctx->removal_us = 0;
    int64_t began_us = record == NULL ? 0 : exec_clock_us(ctx);
    enum status status = exec_finish_input(node, ctx, err);
    if (record != NULL) {
        record->updates_us += exec_clock_us(ctx) - began_us - ctx->removal_us;
        record->removals_us += ctx->removal_us;
    }
    arena_reset(ctx->batch_arena);
    return status;
}

void pipeline_end(struct pipeline *pipeline)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    arena_reset(pipeline->ctx.batch_arena);
    pipeline->ctx.sink = NULL;
    pipeline_set_input_file(pipeline, NULL, 0, 0);
}

struct exec_node *pipeline_writer(struct pipeline *pipeline)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    CHECK(pipeline->writer != NULL);
    return pipeline->writer;
}

enum status pipeline_pull(struct pipeline *pipeline, uint32_t leaf, uint32_t input,
                          struct exec_node *writer, struct error *err)
{
    struct exec_node *node = leaf_at(pipeline, leaf)->node;
    struct change_record *record = record_at(pipeline, leaf);
    CHECK(node->ops->stateful != NULL && writer->plan == node->plan && record != NULL);
    set_watermarks(pipeline, node);
    int64_t began_us = exec_clock_us(&pipeline->ctx);
    enum status status = node->ops->stateful->pull(node, &pipeline->ctx, input, writer, err);
    record->updates_us += exec_clock_us(&pipeline->ctx) - began_us;
    arena_reset(pipeline->ctx.batch_arena);
    return status;
}

static enum status add_changes(struct pipeline *pipeline, struct change_record *record,
                               struct error *err)
{
    const struct stateful_ops *ops = record->node->ops->stateful;
    buffer_clear(&record->bytes);
    if (ops->changes == NULL)
        return OK;
    int64_t began_us = exec_clock_us(&pipeline->ctx);
    changelog_begin(&record->bytes, (uint32_t)record->node->plan->operator_id,
                    pipeline->ctx.partition);
    TRY(ops->changes(record->node, &pipeline->ctx, &record->bytes, err));
    if (record->bytes.size_bytes <= CHANGELOG_HEADER_BYTES)
        buffer_clear(&record->bytes);
    record->commit_us += exec_clock_us(&pipeline->ctx) - began_us;
    return OK;
}

enum status pipeline_changes(struct pipeline *pipeline, struct error *err)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    for (uint32_t i = 0; i < pipeline->boundary_count; i++)
        TRY(add_changes(pipeline, &pipeline->changes[i], err));
    return OK;
}

static enum status put_away(struct change_record *record, struct spill_file *file,
                            struct error *err)
{
    struct bytes bytes = buffer_bytes(&record->bytes);
    record->file = file;
    if (bytes.size_bytes > 0)
        TRY(spill_extents_write(&record->put_away, file, bytes, err));
    buffer_fini(&record->bytes);
    return OK;
}

bool pipeline_has_rounds(struct pipeline *pipeline, uint32_t leaf)
{
    const struct change_record *record = record_at(pipeline, leaf);
    if (record == NULL || record->node->ops->stateful->end_round == NULL)
        return false;
    return record->node->ops->stateful->spill(record->node) != NULL;
}

void pipeline_waiting(struct pipeline *pipeline, uint32_t leaf, const struct exec_node *writer,
                      struct exec_waiting *out)
{
    CHECK(writer->plan == leaf_at(pipeline, leaf)->node->plan);
    if (writer->ops->waiting != NULL)
        writer->ops->waiting(writer, pipeline->ctx.run, pipeline->ctx.partition, out);
}

enum status pipeline_begin_round(struct pipeline *pipeline, uint32_t leaf, uint32_t round,
                                 uint32_t rounds, struct error *err)
{
    struct exec_node *node = leaf_at(pipeline, leaf)->node;
    pipeline->ctx.round = round;
    pipeline->ctx.rounds = rounds;
    if (round > 0 || rounds <= 1)
        return OK;
    return node->ops->stateful->let_go(node, UINT64_MAX, err);
}

enum status pipeline_end_round(struct pipeline *pipeline, uint32_t leaf, struct error *err)
{
    struct change_record *record = record_at(pipeline, leaf);
    CHECK(record != NULL);
    int64_t began_us = exec_clock_us(&pipeline->ctx);
    TRY(record->node->ops->stateful->end_round(record->node, &pipeline->ctx, err));
    record->updates_us += exec_clock_us(&pipeline->ctx) - began_us;
    arena_reset(pipeline->ctx.batch_arena);
    return add_changes(pipeline, record, err);
}

enum status pipeline_let_round_go(struct pipeline *pipeline, uint32_t leaf, struct error *err)
{
    struct change_record *record = record_at(pipeline, leaf);
    CHECK(record != NULL);
    const struct exec_node *writer = pipeline->writer;
    int64_t began_us = exec_clock_us(&pipeline->ctx);
    TRY(put_away(record, pipeline->batch_file, err));
    if (writer != NULL && writer->ops->bytes != NULL &&
        writer->ops->bytes(writer) > pipeline->put_away_from)
        TRY(pipeline_put_away_rows(pipeline, pipeline->batch_file, err));
    TRY(record->node->ops->stateful->let_go(record->node, UINT64_MAX, err));
    record->commit_us += exec_clock_us(&pipeline->ctx) - began_us;
    return OK;
}

enum status pipeline_expire(struct pipeline *pipeline, uint32_t leaf, uint64_t room, bool *more,
                            struct error *err)
{
    struct change_record *record = record_at(pipeline, leaf);
    *more = false;
    if (record == NULL || record->node->ops->stateful->expire == NULL)
        return OK;
    set_watermarks(pipeline, record->node);
    int64_t began_us = exec_clock_us(&pipeline->ctx);
    TRY(record->node->ops->stateful->expire(record->node, &pipeline->ctx, room, more, err));
    record->removals_us += exec_clock_us(&pipeline->ctx) - began_us;
    arena_reset(pipeline->ctx.batch_arena);
    return *more ? add_changes(pipeline, record, err) : OK;
}

uint32_t pipeline_change_count(const struct pipeline *pipeline)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    return pipeline->boundary_count;
}

enum status pipeline_next_change(struct pipeline *pipeline, uint32_t index, struct bytes *out,
                                 struct error *err)
{
    CHECK(index < pipeline_change_count(pipeline));
    struct change_record *record = &pipeline->changes[index];
    uint32_t next = record->next++;
    *out = bytes_of(NULL, 0);
    if (next < record->put_away.count) {
        TRY(spill_extent_read(record->file, &record->put_away.list[next], &record->brought, err));
        *out = buffer_bytes(&record->brought);
        return OK;
    }
    buffer_fini(&record->brought);
    if (next == record->put_away.count)
        *out = buffer_bytes(&record->bytes);
    return OK;
}

static const struct change_record *record_of(const struct pipeline *pipeline,
                                             const struct plan_node *boundary)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    for (uint32_t i = 0; i < pipeline->boundary_count; i++)
        if (pipeline->changes[i].node->plan == boundary)
            return &pipeline->changes[i];
    return NULL;
}

#define RESTORE_AT_ONCE 32

struct pipeline_restorer {
    struct exec_node *node;
    struct change changes[RESTORE_AT_ONCE];
    uint32_t count;
    struct buffer bytes; /* keys and values of them, one behind another */
};

struct pipeline_restorer *pipeline_restorer_new(struct pipeline *pipeline,
                                                const struct plan_node *boundary)
{
    struct pipeline_restorer *restorer = heap_calloc(1, sizeof *restorer);
    const struct change_record *record = record_of(pipeline, boundary);
    CHECK(record != NULL);
    restorer->node = record->node;
    return restorer;
}

void pipeline_restorer_free(struct pipeline_restorer *restorer)
{
    if (restorer == NULL)
        return;
    buffer_fini(&restorer->bytes);
    free(restorer);
}

enum status pipeline_restorer_finish(struct pipeline_restorer *restorer, struct error *err)
{
    struct exec_node *node = restorer->node;
    const struct stateful_ops *ops = node->ops->stateful;
    size_t offset = 0;
    for (uint32_t i = 0; i < restorer->count; i++) {
        struct change *change = &restorer->changes[i];
        change->key = bytes_of(restorer->bytes.data + offset, change->key.size_bytes);
        offset += change->key.size_bytes;
        change->value = bytes_of(restorer->bytes.data + offset, change->value.size_bytes);
        offset += change->value.size_bytes;
        if (ops->expect != NULL && change->kind != CHANGE_DROP)
            ops->expect(node, change);
    }
    for (uint32_t i = 0; i < restorer->count; i++)
        TRY(ops->restore(node, &restorer->changes[i], err));
    restorer->count = 0;
    buffer_clear(&restorer->bytes);
    return OK;
}

enum status pipeline_restorer_add(struct pipeline_restorer *restorer, const struct change *change,
                                  struct error *err)
{
    size_t size = change->key.size_bytes + change->value.size_bytes;
    uint8_t *data = buffer_reserve(&restorer->bytes, size + 1); /* + 1: also nothing has a place */
    if (change->key.size_bytes > 0)
        memcpy(data, change->key.data, change->key.size_bytes);
    if (change->value.size_bytes > 0)
        memcpy(data + change->key.size_bytes, change->value.data, change->value.size_bytes);
    restorer->bytes.size_bytes += size;
    restorer->changes[restorer->count++] = *change;
    return restorer->count < RESTORE_AT_ONCE ? OK : pipeline_restorer_finish(restorer, err);
}

enum status pipeline_restore(struct pipeline *pipeline, const struct plan_node *boundary,
                             struct bytes changes, struct error *err)
{
    struct pipeline_restorer *restorer = pipeline_restorer_new(pipeline, boundary);
    struct changelog_reader reader = {.rest = changes};
    struct change change;
    bool found = true;
    enum status status = OK;
    while (status == OK && found) {
        if (!changelog_next(&reader, &change, &found))
            status = error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "a record of state", NULL);
        else if (found)
            status = pipeline_restorer_add(restorer, &change, err);
    }
    if (status == OK)
        status = pipeline_restorer_finish(restorer, err);
    changelog_reader_fini(&reader);
    pipeline_restorer_free(restorer);
    return status;
}

void pipeline_add_commit_us(struct pipeline *pipeline, uint32_t index, int64_t took_us)
{
    CHECK(index < pipeline_change_count(pipeline));
    pipeline->changes[index].commit_us += took_us;
}

void pipeline_operator_stats(const struct pipeline *pipeline, const struct plan_node *boundary,
                             struct operator_stats *stats)
{
    const struct change_record *record = record_of(pipeline, boundary);
    struct operator_stats one = {0};
    CHECK(record != NULL && record->node->ops->stateful->stats != NULL);
    const struct exec_node *node = record->node;
    node->ops->stateful->stats(node, &one);
    stats->rows_total += one.rows_total;
    stats->rows_updated += one.rows_updated;
    stats->rows_removed += one.rows_removed;
    stats->rows_dropped += one.rows_dropped;
    stats->memory_bytes += one.memory_bytes;
    stats->duplicates += one.duplicates;
    stats->rows_spilled += one.rows_spilled;
    stats->rows_fetched += one.rows_fetched;
    stats->spill_lookups += one.spill_lookups;
    stats->spill_scanned += one.spill_scanned;
    stats->updates_us += record->updates_us;
    stats->removals_us += record->removals_us;
    stats->commit_us += record->commit_us;
}

struct spill *pipeline_spill(struct pipeline *pipeline, uint32_t index)
{
    CHECK(index < pipeline_change_count(pipeline));
    struct exec_node *node = pipeline->changes[index].node;
    const struct stateful_ops *ops = node->ops->stateful;
    return ops->spill == NULL ? NULL : ops->spill(node);
}

const struct plan_node *pipeline_boundary(const struct pipeline *pipeline, uint32_t index)
{
    CHECK(index < pipeline_change_count(pipeline));
    return pipeline->changes[index].node->plan;
}

void pipeline_add_memory(const struct pipeline *pipeline, struct pipeline_memory *memory)
{
    const struct exec_node *writer = pipeline->writer;
    if (writer != NULL && writer->ops->bytes != NULL)
        memory->writer_bytes += writer->ops->bytes(writer);
    for (uint32_t i = 0; i < pipeline_change_count(pipeline); i++) {
        struct exec_node *node = pipeline->changes[i].node;
        const struct stateful_ops *ops = node->ops->stateful;
        struct operator_stats stats = {0};
        memory->changes_bytes +=
            pipeline->changes[i].bytes.capacity_bytes + pipeline->changes[i].brought.capacity_bytes;
        if (ops->stats == NULL)
            continue;
        ops->stats(node, &stats);
        if (ops->spill != NULL && ops->spill(node) != NULL) {
            memory->state_bytes += stats.memory_bytes;
            continue;
        }
        memory->fixed_bytes += stats.memory_bytes;
        if (stats.memory_bytes <= memory->fixed_most)
            continue;
        memory->fixed_most = stats.memory_bytes;
        memory->fixed = node->plan;
    }
}

enum status pipeline_let_go(struct pipeline *pipeline, uint64_t bytes, struct error *err)
{
    for (uint32_t i = 0; i < pipeline_change_count(pipeline); i++) {
        struct exec_node *node = pipeline->changes[i].node;
        if (pipeline_spill(pipeline, i) != NULL)
            TRY(node->ops->stateful->let_go(node, bytes, err));
    }
    return OK;
}

enum status pipeline_put_away(struct pipeline *pipeline, struct spill_file *file, struct error *err)
{
    for (uint32_t i = 0; i < pipeline_change_count(pipeline); i++)
        TRY(put_away(&pipeline->changes[i], file, err));
    return OK;
}

void pipeline_drop_change(struct pipeline *pipeline, uint32_t index)
{
    CHECK(index < pipeline_change_count(pipeline));
    drop_change(&pipeline->changes[index]);
}

bool pipeline_has_enough(const struct pipeline *pipeline)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    return pipeline->ctx.enough;
}

uint64_t pipeline_input_rows(const struct pipeline *pipeline, uint32_t leaf)
{
    return node_scan_rows(leaf_at(pipeline, leaf)->node);
}

uint64_t pipeline_output_rows(const struct pipeline *pipeline)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    return pipeline->ctx.output_rows;
}

void pipeline_watermark_stats(const struct pipeline *pipeline, struct event_time_stats *stats,
                              uint32_t count)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    for (struct node_list *entry = pipeline->nodes; entry != NULL; entry = entry->next) {
        if (entry->node->plan->kind != PLAN_WATERMARK)
            continue;
        uint32_t id = entry->node->plan->watermark.watermark_id;
        CHECK(id < count);
        event_time_stats_merge(&stats[id], node_watermark_stats(entry->node));
    }
}

void pipeline_trim(struct pipeline *pipeline)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    for (uint32_t i = 0; i < pipeline->boundary_count; i++)
        drop_change(&pipeline->changes[i]);
    arena_trim(pipeline->ctx.batch_arena);
}
