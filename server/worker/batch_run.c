/*
 * Computing a batch.  See batch_run.h.
 *
 * The stages of the plan run one after another.  In a map stage the splits of its sources are put
 * in a row and cut into tasks of about the same size, in order, so that the output of task i comes
 * before that of task i+1.  A partition stage has one task per partition.  A small batch runs on
 * the batch thread alone.
 */
#include "worker/batch_run.h"

#include "base/check.h"
#include "base/failpoint.h"
#include "worker/relation_reader.h"

#include <stdatomic.h>

#define INLINE_BYTES     ((uint64_t)1 << 20) /* about 10 k rows */
#define TASKS_PER_THREAD 2                   /* of a stage that writes: each is a file */
#define TASKS_TO_SHARE   8                   /* of another: threads are done at the same time */

/* A split of source use `use`. */
struct work {
    uint32_t use;
    const struct source_split *split;
};

struct task {
    const struct work *work;
    uint32_t work_count;
    uint64_t *input_rows; /* per source use */
    uint64_t output_rows;
    uint64_t noted_bytes; /* memory of the pipeline, as the budget knows it */
    struct event_time_stats *event_times;
};

struct stage_run {
    struct query *query;
    const struct batch_intent *intent;
    struct stage *stage;
    bool last; /* its rows go to the sink */
    bool on_batch_thread;
    struct work *work;
    uint32_t work_count;
    uint64_t bytes;
    struct task *tasks;
    uint32_t task_count;
    atomic_flag logging; /* a thread is at the log */
};

static bool stage_scans(const struct stage *stage, uint32_t relation)
{
    const struct pipeline *pipeline = stage->pipelines[0];
    for (uint32_t leaf = 0; leaf < pipeline_leaf_count(pipeline); leaf++)
        if (pipeline_leaf_is_scan(pipeline, leaf) &&
            pipeline_leaf(pipeline, leaf)->scan.relation == relation)
            return true;
    return false;
}

/* The splits of all sources that the stage reads. */
static enum status collect_work(struct stage_run *run, struct error *err)
{
    struct query *query = run->query;
    struct arena *arena = query->batch_arena;
    uint32_t uses = query->sources.count;
    size_t total = 0;
    struct source_split **splits = arena_new_object(arena, (uses + 1) * sizeof *splits);
    size_t *counts = arena_new_object(arena, (uses + 1) * sizeof *counts);
    for (uint32_t i = 0; i < uses; i++) {
        const struct source_use *use = &query->sources.uses[i];
        if (!run->intent->sources[i].has_data || !stage_scans(run->stage, use->relation))
            continue;
        TRY(use->source->ops->splits(use->source, &run->intent->sources[i].range, arena, &splits[i],
                                     &counts[i], err));
        total += counts[i];
    }
    if (total > UINT32_MAX / 2)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the splits of a batch", "limit",
                           "2147483647", NULL);
    void *work = NULL;
    TRY(arena_alloc(arena, total + 1, sizeof *run->work, &work, err));
    run->work = work;
    for (uint32_t i = 0; i < uses; i++)
        for (size_t j = 0; j < counts[i]; j++) {
            run->work[run->work_count++] = (struct work){.use = i, .split = &splits[i][j]};
            run->bytes += splits[i][j].estimated_bytes;
        }
    return OK;
}

static struct task *add_task(struct stage_run *run, uint32_t first, uint32_t count)
{
    struct arena *arena = run->query->batch_arena;
    struct task *task = &run->tasks[run->task_count++];
    *task = (struct task){
        .work = run->work + first,
        .work_count = count,
        .input_rows = arena_new_object(arena, (run->query->sources.count + 1) * sizeof(uint64_t)),
        .event_times = arena_new_object(arena, (run->query->plan->watermark_count + 1) *
                                                   sizeof(struct event_time_stats)),
    };
    return task;
}

/* Cuts the row of work into `wanted` pieces of about the same number of bytes: each where the bytes
 * up to it are nearest to its share. */
static void cut_by_bytes(struct stage_run *run, uint32_t wanted)
{
    uint32_t first = 0;
    uint64_t done = 0;
    for (uint32_t i = 0; i < run->work_count; i++) {
        done += run->work[i].split->estimated_bytes;
        uint64_t due = run->bytes / wanted * (run->task_count + 1);
        uint64_t next = i + 1 < run->work_count ? run->work[i + 1].split->estimated_bytes : 0;
        if (run->task_count + 1 < wanted && i + 1 < run->work_count && done + next / 2 >= due) {
            add_task(run, first, i + 1 - first);
            first = i + 1;
        }
    }
    if (first < run->work_count || run->task_count == 0)
        add_task(run, first, run->work_count - first);
}

static void cut_tasks(struct stage_run *run)
{
    struct query *query = run->query;
    bool partitioned = stage_is_partitioned(run->stage);
    uint32_t wanted = partitioned ? query->partitions
                      : run->on_batch_thread
                          ? 1
                          : query->parallelism * (run->last ? TASKS_PER_THREAD : TASKS_TO_SHARE);
    run->tasks = arena_new_object(query->batch_arena, (wanted + 1) * sizeof(struct task));
    if (!partitioned) {
        cut_by_bytes(run, wanted);
        return;
    }
    for (uint32_t i = 0; i < wanted; i++) {
        uint32_t first = (uint32_t)((uint64_t)run->work_count * i / wanted);
        uint32_t end = (uint32_t)((uint64_t)run->work_count * (i + 1) / wanted);
        add_task(run, first, end - first);
    }
}

/* A table is read whole by every task that joins with it, and by the first of those that unite it
 * with a stream. */
static enum status read_table(const struct table_use *table, struct pipeline *pipeline,
                              uint32_t leaf, struct error *err)
{
    for (size_t i = 0; i < table->split_count; i++)
        TRY(relation_read_split(table->source, &table->splits[i], pipeline, leaf, err));
    return OK;
}

static enum status read_leaf(struct stage_run *run, struct pipeline *pipeline, uint32_t leaf,
                             const struct task *task, struct error *err)
{
    uint32_t relation = pipeline_leaf(pipeline, leaf)->scan.relation;
    const struct table_use *table = table_set_find(&run->query->tables, relation);
    if (table != NULL && task > run->tasks && pipeline_leaf_is_once(pipeline, leaf))
        return OK;
    if (table != NULL)
        return read_table(table, pipeline, leaf, err);
    for (uint32_t i = 0; i < task->work_count && !pipeline_has_enough(pipeline); i++) {
        const struct work *work = &task->work[i];
        const struct source_use *use = &run->query->sources.uses[work->use];
        if (use->relation == relation)
            TRY(relation_read_split(use->source, work->split, pipeline, leaf, err));
    }
    return OK;
}

static void count_task(struct stage_run *run, struct pipeline *pipeline, struct task *task)
{
    const struct query *query = run->query;
    for (uint32_t leaf = 0; leaf < pipeline_leaf_count(pipeline); leaf++) {
        if (!pipeline_leaf_is_scan(pipeline, leaf))
            continue;
        for (uint32_t i = 0; i < query->sources.count; i++)
            if (query->sources.uses[i].relation == pipeline_leaf(pipeline, leaf)->scan.relation)
                task->input_rows[i] += pipeline_input_rows(pipeline, leaf);
    }
    task->output_rows = run->last ? pipeline_output_rows(pipeline) : 0;
    pipeline_watermark_stats(pipeline, task->event_times, query->plan->watermark_count);
}

static uint32_t threads_of(const struct stage_run *run)
{
    return run->on_batch_thread ? 1 : run->query->parallelism;
}

static enum status pull_leaf(struct stage_run *run, struct pipeline *pipeline, uint32_t leaf,
                             struct task *task, struct error *err)
{
    struct query *query = run->query;
    struct exec_waiting waiting;
    stage_waiting(run->stage, pipeline, leaf, &waiting);
    uint32_t rounds = state_budget_rounds(query, pipeline, leaf, &waiting, threads_of(run));
    for (uint32_t round = 0; round < rounds; round++) {
        TRY(pipeline_begin_round(pipeline, leaf, round, rounds, err));
        TRY(stage_pull(run->stage, pipeline, leaf, err));
        if (round + 1 == rounds)
            break;
        TRY(pipeline_end_round(pipeline, leaf, err));
        state_budget_count(query, pipeline, &task->noted_bytes);
        TRY(pipeline_let_round_go(pipeline, leaf, err));
        state_budget_count(query, pipeline, &task->noted_bytes);
        TRY(FAILPOINT(mid_round, err));
    }
    return OK;
}

/* What the watermark has ended on the disk comes out part by part; of the last one, with what is in
 * memory, when the leaf finishes. */
static enum status expire_leaf(const struct stage_run *run, struct pipeline *pipeline,
                               uint32_t leaf, struct task *task, struct error *err)
{
    struct query *query = run->query;
    uint64_t room = state_budget_part_bytes(query, threads_of(run));
    bool more = false;
    for (;;) {
        TRY(pipeline_expire(pipeline, leaf, room, &more, err));
        if (!more)
            return OK;
        state_budget_count(query, pipeline, &task->noted_bytes);
        TRY(pipeline_let_round_go(pipeline, leaf, err));
        state_budget_count(query, pipeline, &task->noted_bytes);
        TRY(FAILPOINT(mid_expiry, err));
    }
}

static enum status run_leaves(struct stage_run *run, struct pipeline *pipeline, struct task *task,
                              struct error *err)
{
    for (uint32_t leaf = 0; leaf < pipeline_leaf_count(pipeline); leaf++) {
        if (pipeline_leaf_is_scan(pipeline, leaf)) {
            TRY(read_leaf(run, pipeline, leaf, task, err));
        } else if (pipeline_leaf_is_boundary(pipeline, leaf)) {
            TRY(pull_leaf(run, pipeline, leaf, task, err));
            TRY(expire_leaf(run, pipeline, leaf, task, err));
        }
        TRY(pipeline_finish_leaf(pipeline, leaf, err));
    }
    return OK;
}

static enum status append_change(struct query *query, struct pipeline *pipeline, uint32_t index,
                                 struct error *err)
{
    for (;;) {
        struct bytes record;
        TRY(pipeline_next_change(pipeline, index, &record, err));
        if (record.size_bytes == 0)
            return OK;
        query->state_snapshot.log_bytes += record.size_bytes;
        TRY(checkpoint_append_state(query->checkpoint, query->intent->batch_id, record, err));
    }
}

/* What has been logged is not logged again. */
static enum status append_partition(struct query *query, struct pipeline *pipeline,
                                    struct error *err)
{
    int64_t began_us = clock_monotonic_us(query->config.clock);
    for (uint32_t c = 0; c < pipeline_change_count(pipeline); c++) {
        TRY(append_change(query, pipeline, c, err));
        int64_t now_us = clock_monotonic_us(query->config.clock);
        pipeline_add_commit_us(pipeline, c, now_us - began_us);
        began_us = now_us;
    }
    return OK;
}

/* Logs what a partition has changed while others are at work.  When another thread is at the log,
 * it waits until all are done; so does a batch that runs again, which may fail each time (a full
 * disk) and would leave as much in the log each time. */
static enum status append_early(struct stage_run *run, struct pipeline *pipeline, struct error *err)
{
    if (run->on_batch_thread || !run->query->timing.planned ||
        atomic_flag_test_and_set_explicit(&run->logging, memory_order_acquire))
        return OK;
    enum status status = append_partition(run->query, pipeline, err);
    atomic_flag_clear_explicit(&run->logging, memory_order_release);
    return status;
}

/* Map tasks have a sink writer each; partition tasks share that of their thread. */
static enum status run_task(void *arg, uint32_t index, uint32_t worker, struct error *err)
{
    struct stage_run *run = arg;
    struct query *query = run->query;
    struct task *task = &run->tasks[index];
    bool partitioned = stage_is_partitioned(run->stage);
    uint32_t threads = threads_of(run);
    struct pipeline *pipeline = NULL;
    TRY(stage_pipeline(query->graph, run->stage, partitioned ? index : worker, &pipeline, err));
    struct pipeline_task config = {
        .batch_id = run->intent->batch_id,
        .run = query->run,
        .late_watermark_us = run->intent->late_watermark_us,
        .eviction_watermark_us = run->intent->eviction_watermark_us,
        .batch_timestamp_us = run->intent->batch_timestamp_us,
        .random_seed = run->intent->random_seed,
        .task = index,
        .cancelled = &query->cancelled,
        .memory_limit = query->budget.limit_bytes,
        .writer_limit = state_budget_writer_limit(query, threads),
        .put_away_from = state_budget_writer_bytes(query, threads),
        .batch_file = query->budget.batch_file,
        .clock = query->config.clock,
    };
    if (run->last)
        config.sink = query->sink->ops->writer(query->sink, partitioned ? worker : index);
    if (pipeline_change_count(pipeline) > 0)
        task->noted_bytes = state_budget_bytes(pipeline);
    TRY(pipeline_begin(pipeline, &config, err));
    TRY(run_leaves(run, pipeline, task, err));
    count_task(run, pipeline, task);
    pipeline_end(pipeline);
    if (partitioned) {
        TRY(pipeline_changes(pipeline, err));
        TRY(state_budget_note(query, pipeline, task->noted_bytes, err));
        return append_early(run, pipeline, err);
    }
    return run->last ? query->sink->ops->task_finish(query->sink, index, err) : OK;
}

static enum status run_tasks(struct stage_run *run, struct error *err)
{
    if (!run->on_batch_thread)
        return task_pool_run(run->query->pool, run->task_count, run_task, run, err);
    for (uint32_t i = 0; i < run->task_count; i++)
        TRY(run_task(run, i, 0, err));
    return OK;
}

static void add_up(const struct stage_run *run, struct batch_result *result)
{
    const struct query *query = run->query;
    for (uint32_t t = 0; t < run->task_count; t++) {
        const struct task *task = &run->tasks[t];
        for (uint32_t i = 0; i < query->sources.count; i++) {
            result->input_rows[i] += task->input_rows[i];
            result->input_rows_all += task->input_rows[i];
        }
        result->output_rows += task->output_rows;
        for (uint32_t i = 0; i < query->plan->watermark_count; i++)
            event_time_stats_merge(&result->event_times[i], &task->event_times[i]);
    }
}

/* How many writers of the sink the tasks share, one for each thread; 0: each has its own. */
static uint32_t shared_writers(const struct stage_run *run)
{
    return run->last && stage_is_partitioned(run->stage) ? threads_of(run) : 0;
}

static enum status run_stage(struct stage_run *run, struct error *err)
{
    struct query *query = run->query;
    cut_tasks(run);
    if (run->last) {
        uint32_t shared = shared_writers(run);
        TRY(query->sink->ops->begin(query->sink, run->intent->batch_id,
                                    shared > 0 ? shared : run->task_count, err));
    }
    TRY(run_tasks(run, err));
    add_up(run, &query->result);
    return OK;
}

/* Logs what the batch has changed in the state and is not in the log yet. */
static enum status append_state(struct query *query, struct error *err)
{
    struct stage_graph *graph = query->graph;
    for (uint32_t i = 0; i < graph->count; i++) {
        struct stage *stage = &graph->stages[i];
        for (uint32_t p = 0; stage_is_partitioned(stage) && p < stage->pipeline_count; p++)
            TRY(append_partition(query, stage->pipelines[p], err));
    }
    return OK;
}

/* The first logs, the others end what the writers of the sink have begun: the disk has to do with
 * both at the same time. */
static enum status finish_task(void *arg, uint32_t index, uint32_t worker, struct error *err)
{
    struct query *query = arg;
    (void)worker;
    return index == 0 ? append_state(query, err)
                      : query->sink->ops->task_finish(query->sink, index - 1, err);
}

/* `writers`: those that all tasks of their thread have shared. */
static enum status finish_batch(struct query *query, uint32_t writers, struct error *err)
{
    if (writers > 1)
        return task_pool_run(query->pool, writers + 1, finish_task, query, err);
    for (uint32_t i = 0; i <= writers; i++)
        TRY(finish_task(query, i, 0, err));
    return OK;
}

static void clear_result(const struct query *query, struct batch_result *result)
{
    result->input_rows_all = result->output_rows = result->sink_rows = 0;
    result->sink_due = false;
    for (uint32_t i = 0; i < query->sources.count; i++)
        result->input_rows[i] = 0;
    for (uint32_t i = 0; i < query->plan->watermark_count; i++)
        result->event_times[i] = (struct event_time_stats){0};
}

/* The state may come out, of a batch without rows as well: windows that close, or all groups. */
static uint64_t state_bytes(const struct query *query)
{
    const struct stage_graph *graph = query->graph;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < graph->count; i++) {
        const struct stage *stage = &graph->stages[i];
        for (uint32_t p = 0; stage_is_partitioned(stage) && p < stage->pipeline_count; p++)
            if (stage->pipelines[p] != NULL)
                bytes += state_budget_bytes(stage->pipelines[p]);
    }
    return bytes;
}

enum status batch_run(struct query *query, const struct batch_intent *intent, struct error *err)
{
    struct stage_graph *graph = query->graph;
    int64_t began_us = clock_monotonic_us(query->config.clock);
    struct stage_run *runs =
        arena_new_object(query->batch_arena, graph->count * sizeof(struct stage_run));
    uint64_t bytes = 0;
    clear_result(query, &query->result);
    state_budget_begin(query);
    query->run++;
    TRY(table_set_begin(&query->tables, intent, query->batch_arena, err));
    for (uint32_t i = 0; i < graph->count; i++) {
        runs[i] = (struct stage_run){.query = query,
                                     .intent = intent,
                                     .stage = &graph->stages[i],
                                     .last = graph->stages[i].consumer == NULL,
                                     .logging = ATOMIC_FLAG_INIT};
        TRY(collect_work(&runs[i], err));
        bytes += runs[i].bytes;
    }
    query->timing.get_batch_us = clock_monotonic_us(query->config.clock) - began_us;
    uint32_t writers = 0;
    if (bytes == 0 || (bytes < INLINE_BYTES && query->mode == MODE_COMPLETE))
        bytes += state_bytes(query);
    for (uint32_t i = 0; i < graph->count; i++) {
        runs[i].on_batch_thread = query->parallelism == 1 || bytes < INLINE_BYTES;
        TRY(state_budget_prepare(query, i, err));
        TRY(run_stage(&runs[i], err));
        writers += shared_writers(&runs[i]);
    }
    TRY(finish_batch(query, writers, err));
    return query->sink->ops->stage(query->sink, &query->result.sink_due, &query->result.sink_rows,
                                   err);
}
