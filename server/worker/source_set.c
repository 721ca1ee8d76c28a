/*
 * See source_set.h.
 */
#include "worker/source_set.h"

#include "base/check.h"
#include "base/path.h"

#include <stdio.h>

static uint32_t count_streams(const struct physical_plan *plan)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->relation_count; i++)
        count += plan->relations[i].streaming ? 1 : 0;
    return count;
}

enum status source_set_open(struct arena *query, const struct relation_context *context,
                            const struct physical_plan *plan, const char *checkpoint_dir,
                            struct source_set *out, struct error *err)
{
    out->count = 0;
    out->uses = arena_new_object(query, (count_streams(plan) + 1) * sizeof *out->uses);
    for (uint32_t i = 0; i < plan->relation_count; i++) {
        if (!plan->relations[i].streaming)
            continue;
        struct source_use *use = &out->uses[out->count];
        const char *state_dir =
            arena_sprintf(query, "%s/sources/%u", checkpoint_dir, (unsigned)out->count);
        use->relation = i;
        use->plan = &plan->relations[i];
        TRY(relation_open(context, query, use->plan->spec, state_dir, &use->source, err));
        out->count++;
        TRY(relation_bind(plan, i, use->source, err));
    }
    return OK;
}

void source_set_close(struct source_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        set->uses[i].source->ops->close(set->uses[i].source);
        buffer_fini(&set->uses[i].end);
    }
    set->count = 0;
}

static enum status check_count(const struct source_set *set, const struct batch_intent *intent,
                               struct error *err)
{
    if (intent == NULL || intent->source_count == set->count)
        return OK;
    char difference[96];
    (void)snprintf(difference, sizeof difference, "it has %u sources, the checkpoint counts %u",
                   (unsigned)set->count, (unsigned)intent->source_count);
    return error_raise(err, STATUS_CHECKPOINT__QUERY_CHANGED, "path", "", "difference", difference,
                       NULL);
}

static void remember_end(struct source_use *use, struct bytes end)
{
    buffer_clear(&use->end);
    buffer_add_bytes(&use->end, end);
}

static enum status recover_use(struct source_use *use, uint32_t index,
                               const struct batch_intent *committed,
                               struct batch_intent *const *pending, size_t pending_count,
                               struct error *err)
{
    struct arena *arena = arena_new("pending ranges", 0);
    struct source_range *again = arena_new_object(arena, (pending_count + 1) * sizeof *again);
    const struct source_range *last = NULL;
    size_t count = 0;
    if (committed != NULL && committed->sources[index].range.end.size_bytes > 0)
        last = &committed->sources[index].range;
    for (size_t i = 0; i < pending_count; i++)
        if (pending[i]->sources[index].has_data)
            again[count++] = pending[i]->sources[index].range;
    enum status status =
        use->source->ops->recover(use->source, last, count == 0 ? NULL : again, count, err);
    if (status == OK && count > 0)
        remember_end(use, again[count - 1].end);
    else if (status == OK && last != NULL)
        remember_end(use, last->end);
    arena_free(arena);
    return status;
}

enum status source_set_recover(struct source_set *set, const struct batch_intent *committed,
                               struct batch_intent *const *pending, size_t pending_count,
                               struct error *err)
{
    TRY(check_count(set, committed, err));
    for (size_t i = 0; i < pending_count; i++)
        TRY(check_count(set, pending[i], err));
    for (uint32_t i = 0; i < set->count; i++)
        TRY(recover_use(&set->uses[i], i, committed, pending, pending_count, err));
    return OK;
}

enum status source_set_freeze(struct source_set *set, struct error *err)
{
    for (uint32_t i = 0; i < set->count; i++)
        TRY(set->uses[i].source->ops->freeze(set->uses[i].source, err));
    return OK;
}

enum status source_set_plan(struct source_set *set, bool unlimited, struct arena *batch,
                            struct intent_range *ranges, bool *any, struct error *err)
{
    *any = false;
    for (uint32_t i = 0; i < set->count; i++) {
        struct source_use *use = &set->uses[i];
        struct intent_range *out = &ranges[i];
        *out = (struct intent_range){0};
        TRY(use->source->ops->plan(use->source, unlimited, batch, &out->range, &out->has_data,
                                   err));
        if (out->has_data) {
            *any = true;
            continue;
        }
        if (out->range.end.size_bytes > 0) /* what the source wants to find again */
            continue;
        struct bytes end = buffer_bytes(&use->end);
        out->range = (struct source_range){0};
        if (end.size_bytes > 0)
            out->range.start = out->range.end = arena_copy(batch, end);
    }
    /* Only now, when no source has failed: all move on together. */
    for (uint32_t i = 0; i < set->count; i++)
        if (ranges[i].has_data)
            remember_end(&set->uses[i], ranges[i].range.end);
    return OK;
}

void source_set_acknowledge(struct source_set *set, const struct batch_intent *intent)
{
    CHECK(intent->source_count == set->count);
    for (uint32_t i = 0; i < set->count; i++) {
        struct source *source = set->uses[i].source;
        if (source->ops->acknowledge != NULL && intent->sources[i].has_data)
            source->ops->acknowledge(source, &intent->sources[i].range);
    }
}

uint32_t source_set_poll(struct source_set *set, struct pollfd *out, uint32_t room, bool *all)
{
    uint32_t count = 0;
    *all = true;
    for (uint32_t i = 0; i < set->count; i++) {
        struct source *source = set->uses[i].source;
        int fd = source->ops->wake_fd == NULL ? -1 : source->ops->wake_fd(source);
        if (fd < 0 || count == room)
            *all = false;
        else
            out[count++] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
    return count;
}

void source_set_woken(struct source_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        struct source *source = set->uses[i].source;
        if (source->ops->woken != NULL)
            source->ops->woken(source);
    }
}

const char *source_description(const struct source_use *use)
{
    const struct source_ops *ops = use->source->ops;
    return ops->description == NULL ? use->plan->spec->format : ops->description(use->source);
}
