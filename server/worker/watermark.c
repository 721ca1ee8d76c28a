/*
 * See watermark.h.
 */
#include "worker/watermark.h"

#include "base/check.h"

static void find_delays(const struct plan_node *node, struct watermark_tracker *tracker)
{
    if (node->kind == PLAN_WATERMARK) {
        CHECK(node->watermark.watermark_id < tracker->count);
        tracker->delay_ms[node->watermark.watermark_id] = node->watermark.delay_us / 1000;
    }
    for (uint32_t i = 0; i < node->child_count; i++)
        find_delays(node->children[i], tracker);
}

void watermark_init(struct watermark_tracker *tracker, struct arena *query,
                    const struct physical_plan *plan, enum watermark_policy policy)
{
    tracker->policy = policy;
    tracker->count = plan->watermark_count;
    tracker->delay_ms = arena_new_object(query, (tracker->count + 1) * sizeof(int64_t));
    tracker->value_ms = arena_new_object(query, (tracker->count + 1) * sizeof(int64_t));
    tracker->global_ms = 0;
    for (uint32_t i = 0; i < tracker->count; i++)
        tracker->value_ms[i] = INT64_MIN;
    find_delays(plan->root, tracker);
}

void watermark_restore(struct watermark_tracker *tracker, int64_t global_us)
{
    if (global_us / 1000 > tracker->global_ms)
        tracker->global_ms = global_us / 1000;
}

static int64_t saturating_subtract(int64_t a, int64_t b)
{
    int64_t result = 0;
    if (__builtin_sub_overflow(a, b, &result))
        return b > 0 ? INT64_MIN + 1 : INT64_MAX;
    return result;
}

void watermark_update(struct watermark_tracker *tracker, const struct event_time_stats *stats)
{
    if (tracker->count == 0)
        return;
    int64_t chosen = 0;
    for (uint32_t i = 0; i < tracker->count; i++) {
        if (stats[i].count > 0) {
            int64_t value = saturating_subtract(stats[i].max_ms, tracker->delay_ms[i]);
            if (value > tracker->value_ms[i])
                tracker->value_ms[i] = value;
        }
        int64_t value = tracker->value_ms[i] == INT64_MIN ? 0 : tracker->value_ms[i];
        bool better = tracker->policy == WATERMARK_MIN ? value < chosen : value > chosen;
        if (i == 0 || better)
            chosen = value;
    }
    if (chosen > tracker->global_ms)
        tracker->global_ms = chosen;
}

int64_t watermark_global_us(const struct watermark_tracker *tracker)
{
    return tracker->global_ms > INT64_MAX / 1000 ? INT64_MAX : tracker->global_ms * 1000;
}
