#include "plan/check_state.h"

static enum status raise_event_times(const struct logical_node *node,
                                     struct attribute *const *columns, uint32_t count,
                                     struct error *err)
{
    struct buffer list = {0};
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!columns[i]->event_time)
            continue;
        buffer_printf(&list, "%s%s#-T%lldms", found > 0 ? "," : "(", columns[i]->name,
                      (long long)(columns[i]->delay_us / 1000));
        found++;
    }
    buffer_add_byte(&list, ')');
    if (found > 1)
        error_raise_at(err, STATUS_MULTIPLE_EVENT_TIME_COLUMNS, node->position, node->position_end,
                       "eventTimeCols", buffer_text(&list), NULL);
    buffer_fini(&list);
    return found > 1 ? err->status : OK;
}

static enum status check_keys(const struct logical_node *node, struct error *err)
{
    switch (node->kind) {
    case LOGICAL_AGGREGATE:
        return raise_event_times(node, node->output, node->aggregate.key_count, err);
    case LOGICAL_DISTINCT:
        return raise_event_times(node, node->output, node->output_count, err);
    case LOGICAL_DEDUP: {
        struct attribute *keys[64];
        uint32_t count = 0;
        if (node->dedup.within_watermark)
            return raise_event_times(node, node->output, node->output_count, err);
        for (uint32_t i = 0; i < node->dedup.column_count && count < 64; i++)
            keys[count++] = node->output[node->dedup.columns[i]];
        return raise_event_times(node, keys, count, err);
    }
    case LOGICAL_JOIN:
        if (!node->children[0]->streaming || !node->children[1]->streaming)
            return OK;
        for (uint32_t i = 0; i < 2; i++)
            TRY(raise_event_times(node, node->children[i]->output, node->children[i]->output_count,
                                  err));
        return OK;
    default:
        return OK;
    }
}

enum status check_event_times(const struct logical_node *node, struct error *err)
{
    for (uint32_t i = 0; i < node->child_count; i++)
        TRY(check_event_times(node->children[i], err));
    return node->streaming ? check_keys(node, err) : OK;
}

enum status check_join_keys(const struct plan_node *node, struct error *err)
{
    for (uint32_t i = 0; i < node->child_count; i++)
        TRY(check_join_keys(node->children[i], err));
    if (node->kind != PLAN_JOIN || !node->children[0]->streaming || !node->children[1]->streaming ||
        node->join.key_count > 0)
        return OK;
    return error_raise(err, STATUS_NOT_SUPPORTED, "feature",
                       "A join of two streams without an equality of their columns", NULL);
}
