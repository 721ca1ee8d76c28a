#include "plan/check_state.h"

#include <stdio.h>

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

/* Counts joins of two streams, as they come in both trees, up to the one without a key. */
static bool find_keyless(const struct plan_node *node, uint32_t *before)
{
    for (uint32_t i = 0; i < node->child_count; i++)
        if (find_keyless(node->children[i], before))
            return true;
    if (node->kind != PLAN_JOIN || !node->children[0]->streaming || !node->children[1]->streaming)
        return false;
    if (node->join.key_count == 0)
        return true;
    (*before)++;
    return false;
}

static const struct logical_node *nth_join(const struct logical_node *node, uint32_t *before)
{
    for (uint32_t i = 0; i < node->child_count; i++) {
        const struct logical_node *found = nth_join(node->children[i], before);
        if (found != NULL)
            return found;
    }
    if (node->kind != LOGICAL_JOIN || !node->children[0]->streaming ||
        !node->children[1]->streaming)
        return NULL;
    return (*before)-- == 0 ? node : NULL;
}

enum status check_join_keys(const struct plan_node *node, const struct logical_node *logical,
                            struct error *err)
{
    uint32_t before = 0;
    if (!find_keyless(node, &before))
        return OK;
    const struct logical_node *join = nth_join(logical, &before);
    (void)error_raise(err, STATUS_NOT_SUPPORTED, "feature",
                      "A join of two streams without an equality of their columns", NULL);
    (void)snprintf(err->text, sizeof err->text,
                   "A join of two streams needs an equality of a column of the one and a column of "
                   "the other (ON a.id = b.id): by it rows that match are found");
    if (join != NULL) {
        err->position = join->position;
        err->position_end = join->position_end;
        (void)snprintf(err->view, sizeof err->view, "%s", join->view == NULL ? "" : join->view);
    }
    return err->status;
}
