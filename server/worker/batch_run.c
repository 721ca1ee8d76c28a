/*
 * Computing a batch.  See batch_run.h.
 *
 * The splits of all sources are put in a row and cut into tasks of about the same size, in order,
 * so that the output of task i comes before that of task i+1.  A small batch is one task and runs
 * on the batch thread.
 */
#include "worker/batch_run.h"

#include "base/check.h"

#define INLINE_BYTES     ((uint64_t)1 << 20) /* about 10 k rows */
#define TASKS_PER_THREAD 2

/* A split of source use `use`. */
struct work {
    uint32_t use;
    const struct source_split *split;
};

struct task {
    uint32_t first; /* index of its first piece of work */
    uint32_t count;
    uint64_t *input_rows; /* per source use */
    uint64_t output_rows;
    struct event_time_stats *event_times;
};

struct stage {
    struct query *query;
    const struct batch_intent *intent;
    struct work *work;
    uint32_t work_count;
    struct task *tasks;
    uint32_t task_count;
};

static enum status collect_work(struct stage *stage, uint64_t *bytes, struct error *err)
{
    struct query *query = stage->query;
    struct source_split **splits = NULL;
    size_t *counts = NULL;
    size_t total = 0;
    struct arena *arena = query->batch_arena;
    *bytes = 0;
    splits = arena_new_object(arena, (query->sources.count + 1) * sizeof *splits);
    counts = arena_new_object(arena, (query->sources.count + 1) * sizeof *counts);
    for (uint32_t i = 0; i < query->sources.count; i++) {
        struct source *source = query->sources.uses[i].source;
        if (!stage->intent->sources[i].has_data)
            continue;
        TRY(source->ops->splits(source, &stage->intent->sources[i].range, arena, &splits[i],
                                &counts[i], err));
        total += counts[i];
    }
    if (total > UINT32_MAX / 2)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the splits of a batch", "limit",
                           "2147483647", NULL);
    void *work = NULL;
    TRY(arena_alloc(arena, total + 1, sizeof *stage->work, &work, err));
    stage->work = work;
    for (uint32_t i = 0; i < query->sources.count; i++)
        for (size_t j = 0; j < counts[i]; j++) {
            stage->work[stage->work_count++] = (struct work){.use = i, .split = &splits[i][j]};
            *bytes += splits[i][j].estimated_bytes;
        }
    return OK;
}

static void add_task(struct stage *stage, uint32_t first, uint32_t count)
{
    struct arena *arena = stage->query->batch_arena;
    stage->tasks[stage->task_count++] = (struct task){
        .first = first,
        .count = count,
        .input_rows = arena_new_object(arena, (stage->query->sources.count + 1) * sizeof(uint64_t)),
        .event_times = arena_new_object(arena, (stage->query->plan->watermark_count + 1) *
                                                   sizeof(struct event_time_stats)),
    };
}

static void cut_tasks(struct stage *stage, uint64_t bytes)
{
    uint32_t wanted = stage->query->parallelism * TASKS_PER_THREAD;
    if (stage->query->parallelism == 1 || bytes < INLINE_BYTES)
        wanted = 1;
    stage->tasks = arena_new_object(stage->query->batch_arena, (wanted + 1) * sizeof(struct task));
    uint32_t first = 0;
    uint64_t done = 0;
    for (uint32_t i = 0; i < stage->work_count; i++) {
        done += stage->work[i].split->estimated_bytes;
        uint64_t due = bytes / wanted * (stage->task_count + 1);
        if (stage->task_count + 1 < wanted && done >= due) {
            add_task(stage, first, i + 1 - first);
            first = i + 1;
        }
    }
    if (first < stage->work_count || stage->task_count == 0)
        add_task(stage, first, stage->work_count - first);
}

static enum status read_leaf(struct stage *stage, struct pipeline *pipeline, uint32_t leaf,
                             const struct task *task, struct error *err)
{
    uint32_t relation = pipeline_leaf(pipeline, leaf)->scan.relation;
    for (uint32_t i = task->first; i < task->first + task->count; i++) {
        const struct work *work = &stage->work[i];
        const struct source_use *use = &stage->query->sources.uses[work->use];
        if (use->relation != relation)
            continue;
        TRY(use->source->ops->read(use->source, work->split, pipeline_receiver(pipeline, leaf),
                                   err));
        if (pipeline_has_enough(pipeline))
            break;
    }
    return OK;
}

static void count_task(struct stage *stage, struct pipeline *pipeline, struct task *task)
{
    for (uint32_t leaf = 0; leaf < pipeline_leaf_count(pipeline); leaf++) {
        const struct plan_node *node = pipeline_leaf(pipeline, leaf);
        if (node->kind != PLAN_SCAN)
            continue;
        for (uint32_t i = 0; i < stage->query->sources.count; i++)
            if (stage->query->sources.uses[i].relation == node->scan.relation)
                task->input_rows[i] += pipeline_input_rows(pipeline, leaf);
    }
    task->output_rows = pipeline_output_rows(pipeline);
    pipeline_watermark_stats(pipeline, task->event_times, stage->query->plan->watermark_count);
}

static enum status run_task(void *arg, uint32_t index, uint32_t worker, struct error *err)
{
    struct stage *stage = arg;
    struct query *query = stage->query;
    struct task *task = &stage->tasks[index];
    struct pipeline **slot = &query->pipelines[worker];
    if (*slot == NULL)
        TRY(pipeline_new(query->plan->root, query->time_zone, slot, err));
    struct pipeline *pipeline = *slot;
    struct pipeline_task config = {
        .batch_id = stage->intent->batch_id,
        .late_watermark_us = stage->intent->late_watermark_us,
        .eviction_watermark_us = stage->intent->eviction_watermark_us,
        .batch_timestamp_us = stage->intent->batch_timestamp_us,
        .random_seed = stage->intent->random_seed,
        .task = index,
        .sink = query->sink->ops->writer(query->sink, index),
        .cancelled = &query->cancelled,
    };
    TRY(pipeline_begin(pipeline, &config, err));
    for (uint32_t leaf = 0; leaf < pipeline_leaf_count(pipeline); leaf++) {
        if (pipeline_leaf(pipeline, leaf)->kind == PLAN_SCAN)
            TRY(read_leaf(stage, pipeline, leaf, task, err));
        TRY(pipeline_finish_leaf(pipeline, leaf, err));
    }
    count_task(stage, pipeline, task);
    pipeline_end(pipeline);
    return query->sink->ops->task_finish(query->sink, index, err);
}

static void add_up(const struct stage *stage, struct batch_result *result)
{
    const struct query *query = stage->query;
    for (uint32_t t = 0; t < stage->task_count; t++) {
        const struct task *task = &stage->tasks[t];
        for (uint32_t i = 0; i < query->sources.count; i++) {
            result->input_rows[i] += task->input_rows[i];
            result->input_rows_all += task->input_rows[i];
        }
        result->output_rows += task->output_rows;
        for (uint32_t i = 0; i < query->plan->watermark_count; i++)
            event_time_stats_merge(&result->event_times[i], &task->event_times[i]);
    }
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

enum status batch_run(struct query *query, const struct batch_intent *intent, struct error *err)
{
    struct stage stage = {.query = query, .intent = intent};
    uint64_t bytes = 0;
    int64_t began_us = clock_monotonic_us(query->config.clock);
    clear_result(query, &query->result);
    TRY(collect_work(&stage, &bytes, err));
    cut_tasks(&stage, bytes);
    query->timing.get_batch_us = clock_monotonic_us(query->config.clock) - began_us;
    TRY(query->sink->ops->begin(query->sink, intent->batch_id, stage.task_count, err));
    TRY(task_pool_run(query->pool, stage.task_count, run_task, &stage, err));
    add_up(&stage, &query->result);
    return query->sink->ops->stage(query->sink, &query->result.sink_due, &query->result.sink_rows,
                                   err);
}
