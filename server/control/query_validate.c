#include "control/query_validate.h"

#include "analyze/analyze.h"
#include "base/check.h"
#include "plan/planner.h"
#include "sink/sink.h"
#include "source/source.h"

#include <stdio.h>

static enum status check_sink(const struct query_spec *spec, struct diagnostics *diagnostics,
                              struct error *err)
{
    if (spec->has_sink)
        return OK;
    for (const struct diagnostic *at = diagnostics == NULL ? NULL : diagnostics->first; at != NULL;
         at = at->next) {
        if (strncmp(at->error.pointer, "/sink", 5) == 0)
            return OK; /* it is there, and wrong */
    }
    (void)error_raise(err, STATUS_MISSING_FIELD, "field", "sink", "where", "the query", NULL);
    (void)snprintf(err->pointer, sizeof err->pointer, "/sink");
    return diagnostics_report(diagnostics, DIAGNOSTIC_ERROR, err, NULL);
}

static bool is_exactly_once(const struct query_spec *spec)
{
    const struct sink_ops *sink = spec->has_sink ? sink_find(spec->sink.format) : NULL;
    if (sink == NULL || sink->delivery == SINK_NEITHER)
        return false;
    for (size_t i = 0; i < spec->source_count; i++) {
        const struct source_ops *source =
            spec->sources[i].format == NULL ? NULL : source_find(spec->sources[i].format);
        if (source == NULL || !source->replayable)
            return false;
    }
    return true;
}

static void add_warnings(const struct analysis *analysis, struct validation *out)
{
    size_t count = sizeof analysis->warnings / sizeof analysis->warnings[0];
    for (size_t i = 0; i < count && analysis->warnings[i] != NULL; i++) {
        struct error warning = ERROR_INIT;
        (void)error_raise(&warning, STATUS_QUERY_WARNING, "message", analysis->warnings[i], NULL);
        (void)diagnostics_add(out->diagnostics, DIAGNOSTIC_WARNING, &warning);
    }
}

static void count_operators(const struct plan_node *node, size_t *count)
{
    *count += node->operator_id >= 0;
    for (uint32_t i = 0; i < node->child_count; i++)
        count_operators(node->children[i], count);
}

/* Whether the state of the operator stops growing: it is one row, or a watermark clears it. */
static bool is_bounded(const struct plan_node *node, const struct analysis *analysis)
{
    switch ((int)node->kind) {
    case PLAN_LIMIT:
        return true;
    case PLAN_AGGREGATE:
        return node->aggregate.key_count == 0 ||
               (node->aggregate.event_time_key >= 0 && analysis->mode != MODE_COMPLETE);
    case PLAN_DEDUP:
        return node->dedup.event_time_column >= 0;
    default:
        return analysis->watermark_count > 0;
    }
}

static void add_operators(const struct plan_node *node, const struct analysis *analysis,
                          struct validation *out)
{
    for (uint32_t i = 0; i < node->child_count; i++)
        add_operators(node->children[i], analysis, out);
    if (node->operator_id >= 0)
        out->operators[out->operator_count++] = (struct validation_operator){
            plan_kind_name(node->kind), node->operator_id, is_bounded(node, analysis)};
}

static const char *take_text(struct arena *arena, struct buffer *text)
{
    const char *copy = arena_strdup(arena, buffer_text(text));
    buffer_fini(text);
    return copy;
}

static void describe(struct arena *arena, const struct analysis *analysis,
                     const struct physical_plan *plan, struct validation *out)
{
    struct buffer schema = {0}, text = {0}, json = {0};
    type_print_json(&schema, analysis->schema);
    plan_print_text(&text, plan);
    plan_print_json(&json, plan);
    out->schema_json = take_text(arena, &schema);
    out->plan_text = take_text(arena, &text);
    out->plan_json = take_text(arena, &json);
    size_t count = 0;
    count_operators(plan->root, &count);
    out->operators = arena_new_object(arena, (count + 1) * sizeof *out->operators);
    add_operators(plan->root, analysis, out);
    out->analyzed = true;
}

/* True if nothing of the form stands in the way of looking at the SQL. */
static bool can_analyze(const struct query_spec *spec)
{
    if (spec->sql == NULL)
        return false;
    for (size_t i = 0; i < spec->source_count; i++) {
        if (spec->sources[i].format == NULL)
            return false;
    }
    for (size_t i = 0; i < spec->table_count; i++) {
        if (spec->tables[i].format == NULL)
            return false;
    }
    return true;
}

static void analyze(struct arena *arena, struct validation *out)
{
    struct error err = ERROR_INIT;
    struct analysis *analysis = NULL;
    const struct analyze_options options = {.skip_sink = !out->spec->has_sink};
    size_t before = out->diagnostics->error_count;
    if (analyze_query(arena, out->spec, &options, out->diagnostics, &analysis, &err) != OK) {
        if (out->diagnostics->error_count == before)
            (void)diagnostics_add(out->diagnostics, DIAGNOSTIC_ERROR, &err);
        return;
    }
    add_warnings(analysis, out);
    for (int i = 0; i < OUTPUT_MODE_COUNT; i++)
        (void)!analyze_check_mode(analysis, (enum output_mode)i, &out->mode[i]);
    struct physical_plan *plan = NULL;
    if (plan_query(arena, analysis, &plan, &err) != OK)
        (void)diagnostics_add(out->diagnostics, DIAGNOSTIC_ERROR, &err);
    else
        describe(arena, analysis, plan, out);
}

enum status query_validate(struct arena *arena, const struct path_policy *paths, struct bytes json,
                           struct validation *out, struct error *err)
{
    *out = (struct validation){.diagnostics = diagnostics_new(arena)};
    for (int i = 0; i < OUTPUT_MODE_COUNT; i++)
        error_clear(&out->mode[i]);
    struct query_spec *spec = NULL;
    TRY(query_spec_parse(arena, json, out->diagnostics, &spec, err));
    out->spec = spec;
    TRY(check_sink(spec, out->diagnostics, err));
    TRY(path_policy_check_spec(paths, spec, out->diagnostics, err));
    if (can_analyze(spec))
        analyze(arena, out);
    out->exactly_once = is_exactly_once(spec);
    query_add_fixes(arena, json, out);
    return OK;
}

enum status query_check(struct arena *arena, struct bytes json, struct error *err)
{
    struct query_spec *spec = NULL;
    struct analysis *analysis = NULL;
    struct physical_plan *plan = NULL;
    const struct analyze_options options = {0};
    TRY(query_spec_parse(arena, json, NULL, &spec, err));
    TRY(check_sink(spec, NULL, err));
    TRY(analyze_query(arena, spec, &options, NULL, &analysis, err));
    return plan_query(arena, analysis, &plan, err);
}
