/*
 * See relation_reader.h.
 */
#include "worker/relation_reader.h"

#include "base/check.h"

enum status relation_open(const struct relation_context *context, struct arena *query,
                          const struct relation_spec *relation, const char *state_dir,
                          struct source **out, struct error *err)
{
    const struct source_ops *ops = context->find_source(relation->format);
    if (ops == NULL)
        return error_raise(err, STATUS_DATA_SOURCE_NOT_FOUND, "provider", relation->format, NULL);
    struct source_config config = {
        .name = relation->name,
        .format = relation->format,
        .options = &relation->options,
        .schema = relation->schema,
        .time_zone = context->time_zone,
        .ansi = context->ansi,
        .vfs = context->vfs,
        .clock = context->clock,
        .log = context->log,
        .state_dir = state_dir,
        .stream = context->stream,
        .conf = context->spec->conf.items,
        .conf_count = context->spec->conf.count,
    };
    return ops->open(query, &config, out, err);
}

const struct plan_node *plan_scan_of(const struct plan_node *root, uint32_t index)
{
    if (root->kind == PLAN_SCAN)
        return root->scan.relation == index ? root : NULL;
    for (uint32_t i = 0; i < root->child_count; i++) {
        const struct plan_node *found = plan_scan_of(root->children[i], index);
        if (found != NULL)
            return found;
    }
    return NULL;
}

enum status relation_bind(const struct physical_plan *plan, uint32_t index, struct source *source,
                          struct error *err)
{
    CHECK(index < plan->relation_count);
    const struct plan_node *scan = plan_scan_of(plan->root, index);
    if (scan == NULL)
        return source->ops->bind(source, NULL, 0, err);
    TRY(source->ops->bind(source, scan->scan.columns, scan->scan.column_count, err));
    return source->ops->narrow == NULL ? OK : source->ops->narrow(source, scan->schema, err);
}

enum status relation_read_split(struct source *source, const struct source_split *split,
                                struct pipeline *pipeline, uint32_t leaf, struct error *err)
{
    struct batch_receiver *receiver = pipeline_receiver(pipeline, leaf);
    struct source_split timed = *split;
    timed.now_us = pipeline_batch_timestamp_us(pipeline);
    if (source->ops->block == NULL)
        return source->ops->read(source, &timed, receiver, err);
    struct arena *arena = arena_new("request", 0);
    struct source_block block = {0};
    source->ops->block(source, &timed, arena, &block);
    pipeline_set_input_file(pipeline, block.uri, (int64_t)block.start, (int64_t)block.length);
    enum status status = source->ops->read(source, &timed, receiver, err);
    pipeline_set_input_file(pipeline, NULL, 0, 0);
    arena_free(arena);
    return status;
}
