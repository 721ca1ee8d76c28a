#include "analyze/check_warnings.h"

#include "analyze/check_join.h"
#include "spec/conf.h"

#include <string.h>

struct looker {
    struct arena *arena;
    struct analysis *analysis;
    bool min_policy;
    uint32_t used; /* watermarks that an operator with state goes by */
};

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

void analysis_warn(struct arena *arena, struct analysis *analysis, struct analysis_warning warning)
{
    struct analysis_warning **end = &analysis->warnings;
    for (; *end != NULL; end = &(*end)->next)
        if (same_text((*end)->text, warning.text) && same_text((*end)->pointer, warning.pointer) &&
            same_text((*end)->view, warning.view) && (*end)->position == warning.position)
            return; /* a stream that is read twice */
    *end = arena_new_object(arena, sizeof **end);
    **end = warning;
    (*end)->next = NULL;
}

static bool has_event_time(const struct logical_node *node)
{
    for (uint32_t i = 0; i < node->output_count; i++)
        if (node->output[i]->event_time)
            return true;
    return false;
}

static bool is_stream_join(const struct logical_node *node)
{
    return node->kind == LOGICAL_JOIN && node->children[0]->streaming &&
           node->children[1]->streaming;
}

/* An operator that drops late rows or forgets state by an event time. */
static bool goes_by_watermark(const struct logical_node *node)
{
    if (!node->streaming)
        return false;
    switch ((int)node->kind) {
    case LOGICAL_AGGREGATE:
        for (uint32_t i = 0; i < node->aggregate.key_count; i++)
            if (node->output[i]->event_time)
                return true;
        return false;
    case LOGICAL_DEDUP:
        for (uint32_t i = 0; i < node->dedup.column_count; i++)
            if (node->output[node->dedup.columns[i]]->event_time)
                return true;
        return node->dedup.within_watermark;
    case LOGICAL_DISTINCT:
    case LOGICAL_SET_OPERATION:
        return has_event_time(node);
    case LOGICAL_JOIN:
        return is_stream_join(node) &&
               (has_event_time(node->children[0]) || has_event_time(node->children[1]));
    default:
        return false;
    }
}

/* ---- a side that is never padded ---- */

static bool preserves(const struct logical_node *join, uint32_t side)
{
    return join->join.kind == LOGICAL_JOIN_FULL ||
           join->join.kind == (side == 0 ? LOGICAL_JOIN_LEFT : LOGICAL_JOIN_RIGHT);
}

static void look_at_join(struct looker *looker, const struct logical_node *join)
{
    static const char *const sides[] = {"left", "right"};
    if (!is_stream_join(join) || join_has_event_key(join))
        return;
    for (uint32_t side = 0; side < 2; side++) {
        if (!preserves(join, side) || has_event_time(join->children[side]) ||
            !has_event_time(join->children[1 - side]))
            continue;
        const char *text = arena_sprintf(
            looker->arena,
            "The outer join has a watermark on the nullable side only: a row of the %s side that "
            "finds no match is kept for ever and never comes out with nulls. Declare a watermark "
            "on the %s side, too",
            sides[side], sides[side]);
        analysis_warn(looker->arena, looker->analysis,
                      (struct analysis_warning){.name = "OUTER_JOIN_NEVER_PADS",
                                                .text = text,
                                                .position = join->position,
                                                .position_end = join->position_end,
                                                .view = join->view});
    }
}

/* ---- a table that is subtracted again and again ---- */

/* An aggregation stands above and takes in again what is let out again. */
static void look_at_counted(struct looker *looker, const struct logical_node *node)
{
    const char *all = node->set_operation.all ? "EXCEPT ALL" : "EXCEPT";
    const char *text = arena_sprintf(
        looker->arena,
        "%s lets its rows out %s, as in Spark, and the aggregation above counts them each time. A "
        "LEFT ANTI JOIN with the table lets each row through once",
        all,
        looker->analysis->mode == MODE_COMPLETE ? "again in every batch in complete mode"
                                                : "again whenever they come in update mode");
    analysis_warn(looker->arena, looker->analysis,
                  (struct analysis_warning){.name = "COUNTED_EVERY_BATCH",
                                            .text = text,
                                            .position = node->position,
                                            .position_end = node->position_end,
                                            .view = node->view});
}

static void look_at_set_operation(struct looker *looker, const struct logical_node *node,
                                  bool counted)
{
    if (node->kind != LOGICAL_SET_OPERATION || !node->streaming)
        return;
    if (counted && looker->analysis->mode != MODE_APPEND)
        look_at_counted(looker, node);
    if (!node->set_operation.all)
        return;
    analysis_warn(looker->arena, looker->analysis,
                  (struct analysis_warning){
                      .name = "SUBTRACTED_EVERY_BATCH",
                      .text = "EXCEPT ALL subtracts the rows of the table anew in every batch, as "
                              "in Spark: each batch, one without rows too, cancels one more row of "
                              "the stream for each row of the table. EXCEPT, or a LEFT ANTI JOIN, "
                              "leaves out what the table has",
                      .position = node->position,
                      .position_end = node->position_end,
                      .view = node->view});
}

/* ---- a watermark that nothing uses ---- */

static const char *source_pointer(struct looker *looker, const struct relation_spec *spec)
{
    const char *options = spec->options.pointer;
    if (options == NULL)
        return arena_sprintf(looker->arena, "/sources/%s", spec->name);
    return arena_sprintf(looker->arena, "%.*s", (int)(strlen(options) - strlen("/options")),
                         options);
}

/* Where a watermark of the spec stands; NULL: it is a clause of the SQL. */
static const char *watermark_pointer(struct looker *looker, const struct logical_node *node)
{
    const struct query_spec *spec = looker->analysis->spec;
    if (node->position >= 0)
        return NULL;
    const struct logical_node *child = node->children[0];
    if (child->kind == LOGICAL_RELATION && child->relation.spec->watermark.column != NULL)
        return arena_sprintf(looker->arena, "%s/watermark",
                             source_pointer(looker, child->relation.spec));
    for (size_t i = 0; i < spec->view_count; i++)
        if (node->view != NULL && strcmp(spec->views[i].name, node->view) == 0)
            return arena_sprintf(looker->arena, "/views/%zu/watermark", i);
    return NULL;
}

static void look_at_watermark(struct looker *looker, const struct logical_node *node, bool used)
{
    looker->used += used;
    if (used)
        return;
    bool holds_back = looker->min_policy && looker->analysis->watermark_count > 1;
    const char *text = arena_sprintf(
        looker->arena,
        "No operator with state uses the watermark of %s: it drops no row and removes no state%s",
        node->output[node->watermark.column]->name,
        holds_back ? ", but the watermark of the whole query waits for it" : "");
    analysis_warn(looker->arena, looker->analysis,
                  (struct analysis_warning){.name = "UNUSED_WATERMARK",
                                            .text = text,
                                            .pointer = watermark_pointer(looker, node),
                                            .position = node->position,
                                            .position_end = node->position_end,
                                            .view = node->view});
}

/* ---- a duration of microseconds ---- */

static void look_at_window(struct looker *looker, const struct logical_node *node)
{
    long long bare_us = node->kind == LOGICAL_TIME_WINDOW ? node->time_window.bare_us : 0;
    if (bare_us == 0)
        return;
    const char *text =
        arena_sprintf(looker->arena,
                      "A number without a unit counts microseconds in window(): %lld is less than "
                      "a second. Write the unit, as in '%lld seconds'",
                      bare_us, bare_us);
    analysis_warn(looker->arena, looker->analysis,
                  (struct analysis_warning){.name = "WINDOW_OF_MICROSECONDS",
                                            .text = text,
                                            .position = node->time_window.bare_position,
                                            .position_end = node->time_window.bare_end,
                                            .view = node->view});
}

/* `used`: an operator above goes by the watermarks below it; `counted`: one above aggregates. */
static void look_at_operators(struct looker *looker, const struct logical_node *node, bool used,
                              bool counted)
{
    look_at_join(looker, node);
    look_at_set_operation(looker, node, counted);
    look_at_window(looker, node);
    if (node->kind == LOGICAL_WATERMARK)
        look_at_watermark(looker, node, used);
    used = used || goes_by_watermark(node);
    counted = counted || node->kind == LOGICAL_AGGREGATE;
    for (uint32_t i = 0; i < node->child_count; i++)
        look_at_operators(looker, node->children[i], used, counted);
}

/* ---- a stream that the watermark does not wait for ---- */

static void look_at_streams(struct looker *looker, const struct logical_node *node)
{
    if (node->kind == LOGICAL_WATERMARK)
        return;
    for (uint32_t i = 0; i < node->child_count; i++)
        look_at_streams(looker, node->children[i]);
    if (node->kind != LOGICAL_RELATION || !node->streaming)
        return;
    const struct relation_spec *source = node->relation.spec;
    const char *text =
        arena_sprintf(looker->arena,
                      "The source %s has no watermark: under the policy min the watermark of the "
                      "query is the least of the other sources and does not wait for it",
                      source->name);
    analysis_warn(looker->arena, looker->analysis,
                  (struct analysis_warning){.name = "SOURCE_WITHOUT_WATERMARK",
                                            .text = text,
                                            .pointer = source_pointer(looker, source),
                                            .position = -1,
                                            .position_end = -1});
}

void check_warnings(struct arena *arena, struct analysis *analysis)
{
    const char *policy = conf_text(&analysis->spec->conf, CONF_streaming_multipleWatermarkPolicy);
    struct looker looker = {
        .arena = arena,
        .analysis = analysis,
        .min_policy = policy == NULL || strcmp(policy, "max") != 0,
    };
    check_constants(arena, analysis, analysis->root);
    look_at_operators(&looker, analysis->root, false, false);
    if (looker.used > 0 && looker.min_policy)
        look_at_streams(&looker, analysis->root);
}
