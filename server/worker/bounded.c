/*
 * See bounded.h.  The whole plan is one pipeline on the calling thread.
 */
#include "worker/bounded.h"

#include "base/check.h"
#include "base/uuid.h"
#include "base/vfs_posix.h"
#include "columnar/value_text.h"
#include "exec/pipeline.h"
#include "sink/row_json.h"
#include "worker/relation_reader.h"

#include <stdio.h>
#include <stdlib.h>

struct bounded_run {
    struct arena *arena;
    struct arena *splits_arena;
    struct bounded_config config;
    struct query_plan plan;
    struct source **sources; /* by relation; NULL while not open */
    struct pipeline *pipeline;
};

static enum status open_parts(struct bounded_run *run, struct error *err)
{
    struct query_plan_config config = {
        .spec_json = run->config.spec_json,
        .bounded = true,
        .vfs = run->config.vfs,
        .clock = run->config.clock,
        .find_source = run->config.find_source,
    };
    TRY(query_plan_make(run->arena, &config, &run->plan, err));
    const struct physical_plan *plan = run->plan.plan;
    struct relation_context context = {
        .spec = run->plan.spec,
        .vfs = run->config.vfs,
        .clock = run->config.clock,
        .time_zone = run->plan.time_zone,
        .ansi = run->plan.ansi,
        .find_source = run->config.find_source == NULL ? source_find : run->config.find_source,
    };
    run->sources = arena_new_object(run->arena, (plan->relation_count + 1) * sizeof *run->sources);
    for (uint32_t i = 0; i < plan->relation_count; i++) {
        TRY(relation_open(&context, run->arena, plan->relations[i].spec, NULL, &run->sources[i],
                          err));
        TRY(relation_bind(plan, i, run->sources[i], err));
    }
    struct pipeline_config pipeline_config = {
        .root = plan->root,
        .time_zone = run->plan.time_zone,
        .partitions = 1,
        .bounded = true,
    };
    return pipeline_new(&pipeline_config, &run->pipeline, err);
}

enum status bounded_open(const struct bounded_config *config, struct bounded_run **out,
                         struct error *err)
{
    struct arena *arena = arena_new("query", 0);
    struct bounded_run *run = arena_new_object(arena, sizeof *run);
    run->arena = arena;
    run->splits_arena = arena_new("splits", 0);
    run->config = *config;
    enum status status = open_parts(run, err);
    if (status != OK) {
        bounded_close(run);
        return status;
    }
    *out = run;
    return OK;
}

void bounded_close(struct bounded_run *run)
{
    if (run == NULL)
        return;
    pipeline_free(run->pipeline);
    for (uint32_t i = 0; run->sources != NULL && i < run->plan.plan->relation_count; i++)
        if (run->sources[i] != NULL)
            run->sources[i]->ops->close(run->sources[i]);
    arena_free(run->splits_arena);
    arena_free(run->arena);
}

const struct type *bounded_schema(const struct bounded_run *run)
{
    return run->plan.schema;
}

const struct query_plan *bounded_plan(const struct bounded_run *run)
{
    return &run->plan;
}

/* Everything that the source has now, range after range. */
static enum status read_all(struct bounded_run *run, struct source *source, uint32_t leaf,
                            struct error *err)
{
    for (;;) {
        struct source_range range = {0};
        struct source_split *splits = NULL;
        size_t count = 0;
        bool found = false;
        arena_reset(run->splits_arena);
        TRY(source->ops->plan(source, true, run->splits_arena, &range, &found, err));
        if (!found)
            return OK;
        TRY(source->ops->splits(source, &range, run->splits_arena, &splits, &count, err));
        for (size_t i = 0; i < count && !pipeline_has_enough(run->pipeline); i++)
            TRY(relation_read_split(source, &splits[i], run->pipeline, leaf, err));
        if (pipeline_has_enough(run->pipeline))
            return OK;
    }
}

static enum status read_relation(struct bounded_run *run, uint32_t leaf, struct error *err)
{
    struct source *source = run->sources[pipeline_leaf(run->pipeline, leaf)->scan.relation];
    if (source->ops->recover != NULL)
        TRY(source->ops->recover(source, NULL, NULL, 0, err));
    TRY(source->ops->freeze(source, err));
    return read_all(run, source, leaf, err);
}

enum status bounded_execute(struct bounded_run *run, struct batch_receiver *receiver,
                            uint64_t *input_rows, struct error *err)
{
    struct pipeline *pipeline = run->pipeline;
    struct pipeline_task task = {
        .run = 1,
        .batch_timestamp_us = clock_now_us(run->config.clock),
        .late_watermark_us = INT64_MIN,
        .eviction_watermark_us = INT64_MIN,
        .sink = receiver,
        .cancelled = run->config.cancelled,
    };
    random_bytes(&task.random_seed, sizeof task.random_seed);
    TRY(pipeline_begin(pipeline, &task, err));
    for (uint32_t leaf = 0; leaf < pipeline_leaf_count(pipeline); leaf++) {
        if (pipeline_leaf(pipeline, leaf)->kind == PLAN_SCAN && !pipeline_has_enough(pipeline))
            TRY(read_relation(run, leaf, err));
        TRY(pipeline_finish_leaf(pipeline, leaf, err));
    }
    *input_rows = 0;
    for (uint32_t leaf = 0; leaf < pipeline_leaf_count(pipeline); leaf++)
        if (pipeline_leaf(pipeline, leaf)->kind == PLAN_SCAN)
            *input_rows += pipeline_input_rows(pipeline, leaf);
    pipeline_end(pipeline);
    return OK;
}

/* Prints rows as they come. */
struct printer {
    struct batch_receiver base;
    const struct type *schema;
    const struct zone *zone;
    struct row_json *json; /* NULL: a table for people */
    struct buffer text;
    bool begun; /* the names of the columns are printed: not before the first row */
};

static void print_names(struct printer *printer)
{
    if (printer->begun || printer->json != NULL)
        return;
    printer->begun = true;
    for (uint32_t c = 0; c < printer->schema->field_count; c++)
        (void)printf("%s%s", c == 0 ? "" : "\t", printer->schema->fields[c].name);
    (void)printf("\n");
}

static enum status print_batch(struct batch_receiver *self, const struct batch *batch,
                               struct error *err)
{
    struct printer *printer = (struct printer *)self;
    struct buffer *text = &printer->text;
    buffer_clear(text);
    if (printer->json != NULL)
        TRY(row_json_add(printer->json, batch, text, err));
    for (uint32_t i = 0; printer->json == NULL && i < batch->selected; i++) {
        for (uint32_t c = 0; c < printer->schema->field_count; c++) {
            buffer_add_text(text, c == 0 ? "" : "\t");
            value_text_print(text, batch->columns[c], batch_row(batch, i), printer->zone);
        }
        buffer_add_byte(text, '\n');
    }
    if (batch->selected > 0)
        print_names(printer);
    (void)fwrite(text->data, 1, text->size_bytes, stdout);
    return OK;
}

enum status bounded_print(struct bytes spec_json, bool json, bool *started, struct error *err)
{
    enum status status = OK;
    struct bounded_run *run = NULL;
    uint64_t input_rows = 0;
    struct bounded_config config = {
        .spec_json = spec_json, .vfs = vfs_posix(), .clock = clock_real()};
    struct printer printer = {.base = {.receive = print_batch}};
    TRY(bounded_open(&config, &run, err));
    *started = true;
    printer.schema = bounded_schema(run);
    TRY_OUT(timezone_find(bytes_of_text(run->plan.time_zone), &printer.zone, err));
    if (json)
        TRY_OUT(row_json_new(printer.schema, run->plan.time_zone, &printer.json, err));
    TRY_OUT(bounded_execute(run, &printer.base, &input_rows, err));
    print_names(&printer); /* of no rows */
out:
    (void)fflush(stdout);
    row_json_free(printer.json);
    buffer_fini(&printer.text);
    bounded_close(run);
    return status;
}
