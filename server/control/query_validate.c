#include "control/query_validate.h"

#include "analyze/analyze.h"
#include "analyze/check_warnings.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/vfs_posix.h"
#include "plan/planner.h"
#include "sink/sink.h"
#include "source/source.h"
#include "spec/conf.h"
#include "spec/json_reader.h"

#include <stdio.h>
#include <string.h>

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
    if (json_was_meant(diagnostics, "sink"))
        return OK;
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

/* The pointer of the text that a warning's position counts in. */
static const char *warning_pointer(struct arena *arena, const struct analysis_warning *warning,
                                   const struct query_spec *spec)
{
    if (warning->pointer != NULL)
        return warning->pointer;
    for (size_t i = 0; warning->view != NULL && i < spec->view_count; i++)
        if (strcmp(spec->views[i].name, warning->view) == 0)
            return arena_sprintf(arena, "/views/%zu/sql", i);
    return "/sql";
}

void query_warn(struct arena *arena, const struct analysis_warning *warning, struct validation *out)
{
    struct error err = ERROR_INIT;
    (void)error_raise(&err, STATUS_QUERY_WARNING, "message", warning->text, NULL);
    const char *pointer = warning_pointer(arena, warning, out->spec);
    if (warning->pointer != NULL || warning->position < 0)
        (void)snprintf(err.pointer, sizeof err.pointer, "%s", pointer);
    else
        (void)snprintf(err.view, sizeof err.view, "%s", warning->view ? warning->view : "");
    err.position = warning->pointer == NULL ? warning->position : -1;
    err.position_end = warning->pointer == NULL ? warning->position_end : -1;
    (void)diagnostics_add(out->diagnostics, DIAGNOSTIC_WARNING, &err);
    struct validation_warning **end = &out->warnings;
    while (*end != NULL)
        end = &(*end)->next;
    *end = arena_new_object(arena, sizeof **end);
    **end = (struct validation_warning){
        .name = warning->name, .text = warning->text, .pointer = pointer};
}

static void add_warnings(struct arena *arena, const struct analysis *analysis,
                         struct validation *out)
{
    for (const struct analysis_warning *at = analysis->warnings; at != NULL; at = at->next)
        query_warn(arena, at, out);
}

static void count_operators(const struct plan_node *node, size_t *count)
{
    *count += node->operator_id >= 0;
    for (uint32_t i = 0; i < node->child_count; i++)
        count_operators(node->children[i], count);
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
    struct buffer text = {0}, json = {0};
    plan_print_text(&text, plan);
    plan_print_json(&json, plan);
    out->plan_text = take_text(arena, &text);
    out->plan_json = take_text(arena, &json);
    size_t count = 0;
    count_operators(plan->root, &count);
    out->operators = arena_new_object(arena, (count + 1) * sizeof *out->operators);
    query_add_operators(arena, plan->root, analysis->mode, out);
    out->analyzed = true;
}

/* True if nothing of the form stands in the way of looking at the SQL. */
static bool can_analyze(const struct query_spec *spec, const struct diagnostics *diagnostics)
{
    if (spec->sql == NULL || json_was_meant(diagnostics, "sources"))
        return false;
    for (const struct diagnostic *at = diagnostics->first; at != NULL; at = at->next) {
        if (strcmp(at->error.pointer, "/sources") == 0 ||
            strcmp(at->error.pointer, "/tables") == 0 || strcmp(at->error.pointer, "/views") == 0)
            return false; /* what the SQL names is there, but not read */
    }
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

/* Looks at the relations of a spec as the worker will, on disk where the policy allows it: does the
 * path exist, which columns come from directory names. */
struct disk_catalog {
    struct analyze_catalog base;
    const struct query_spec *spec;
    const struct path_policy *paths;
};

static bool may_look(const struct disk_catalog *catalog, const struct relation_spec *relation)
{
    static const char *const names[] = {"path", "basePath"};
    struct error ignored = ERROR_INIT;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *path = options_get(&relation->options, names[i]);
        if (path != NULL && path_policy_check(catalog->paths, path, &ignored) != OK)
            return false;
    }
    return true;
}

static enum status relation_schema(struct analyze_catalog *self, struct arena *arena,
                                   const struct relation_spec *relation, bool streaming,
                                   const struct type **out, struct error *err)
{
    const struct disk_catalog *catalog = (const struct disk_catalog *)self;
    const struct source_ops *ops = source_find(relation->format);
    if (ops == NULL)
        return error_raise(err, STATUS_DATA_SOURCE_NOT_FOUND, "provider", relation->format, NULL);
    struct source_config config = {
        .name = relation->name,
        .format = relation->format,
        .options = &relation->options,
        .schema = relation->schema,
        .time_zone = conf_text(&catalog->spec->conf, CONF_session_timeZone),
        .ansi = conf_bool(&catalog->spec->conf, CONF_ansi_enabled),
        .vfs = may_look(catalog, relation) ? vfs_posix() : NULL,
        .clock = clock_real(),
        .stream = streaming,
        .conf = catalog->spec->conf.items,
        .conf_count = catalog->spec->conf.count,
    };
    struct source *source = NULL;
    TRY(ops->open(arena, &config, &source, err));
    *out = type_clone(arena, ops->schema(source));
    ops->close(source);
    return OK;
}

static struct disk_catalog disk_catalog_of(const struct query_spec *spec,
                                           const struct path_policy *paths)
{
    return (struct disk_catalog){.base = {.schema = relation_schema}, .spec = spec, .paths = paths};
}

/* What is known of a query that is legal but for its mode, its sink or its options, too. */
static void judge_modes(struct arena *arena, const struct analysis *analysis,
                        struct validation *out)
{
    struct buffer schema = {0};
    type_print_json(&schema, analysis->schema);
    out->schema_json = take_text(arena, &schema);
    for (int i = 0; i < OUTPUT_MODE_COUNT; i++)
        (void)!analyze_check_mode(analysis, (enum output_mode)i, &out->mode[i]);
    out->analysis = analysis;
    out->resolved = true;
}

static void analyze(struct arena *arena, const struct path_policy *paths, struct validation *out)
{
    struct error err = ERROR_INIT;
    struct analysis *analysis = NULL;
    struct disk_catalog catalog = disk_catalog_of(out->spec, paths);
    const struct analyze_options options = {.skip_sink = !out->spec->has_sink,
                                            .catalog = &catalog.base};
    enum status status =
        analyze_query(arena, out->spec, &options, out->diagnostics, &analysis, &err);
    if (status != OK && !diagnostics_has_errors(out->diagnostics))
        (void)diagnostics_add(out->diagnostics, DIAGNOSTIC_ERROR, &err);
    if (analysis != NULL)
        judge_modes(arena, analysis, out);
    if (status != OK)
        return;
    CHECK(analysis != NULL);
    check_warnings(arena, analysis);
    add_warnings(arena, analysis, out);
    struct physical_plan *plan = NULL;
    if (plan_query(arena, analysis, &plan, &err) != OK)
        (void)diagnostics_add(out->diagnostics, DIAGNOSTIC_ERROR, &err);
    else
        describe(arena, analysis, plan, out);
}

/* Which limits of the sources trigger `once` passes over: "maxFilesPerTrigger of s". */
static const char *limits_of(struct arena *arena, const struct query_spec *spec)
{
    static const char *const limits[] = {"maxFilesPerTrigger", "maxBytesPerTrigger"};
    const char *list = NULL;
    for (size_t i = 0; i < spec->source_count; i++)
        for (size_t j = 0; j < sizeof limits / sizeof limits[0]; j++)
            if (options_get(&spec->sources[i].options, limits[j]) != NULL)
                list = arena_sprintf(arena, "%s%s%s of %s", list == NULL ? "" : list,
                                     list == NULL ? "" : ", ", limits[j], spec->sources[i].name);
    return list;
}

static void refuse_trigger(struct validation_trigger *trigger, const char *feature)
{
    (void)error_raise(&trigger->why, STATUS_NOT_SUPPORTED, "feature", feature, NULL);
    trigger->reason = trigger->why.text;
}

/* Every source can stop at what is there (freeze) and read all of it at once; what differs is what
 * becomes of its limits. */
static void judge_triggers(struct arena *arena, const struct query_spec *spec,
                           struct validation *out)
{
    static const char *const kinds[TRIGGER_KIND_COUNT] = {
        "default", "processingTime", "availableNow", "once", "continuous", "realTime"};
    for (int i = 0; i < TRIGGER_KIND_COUNT; i++) {
        out->trigger[i] = (struct validation_trigger){.kind = kinds[i]};
        error_clear(&out->trigger[i].why);
    }
    const char *limits = limits_of(arena, spec);
    for (size_t i = 0; i < spec->source_count; i++)
        if (spec->sources[i].format != NULL &&
            strcmp(spec->sources[i].format, "rate-micro-batch") == 0)
            out->trigger[TRIGGER_AVAILABLE_NOW].reason =
                arena_sprintf(arena, "one batch of rowsPerBatch rows of %s, then the query ends",
                              spec->sources[i].name);
    if (limits != NULL) {
        out->trigger[TRIGGER_AVAILABLE_NOW].reason =
            arena_sprintf(arena, "batches within %s until all that is there is read", limits);
        out->trigger[TRIGGER_ONCE].reason =
            arena_sprintf(arena, "everything is one batch: %s does not count", limits);
    }
    refuse_trigger(&out->trigger[4], "Continuous processing");
    refuse_trigger(&out->trigger[5], "Real-time mode");
}

/* Everything but the fixes. */
static enum status look_at(struct arena *arena, const struct path_policy *paths, struct bytes json,
                           struct validation *out, struct error *err)
{
    *out = (struct validation){.diagnostics = diagnostics_new(arena)};
    for (int i = 0; i < OUTPUT_MODE_COUNT; i++)
        error_clear(&out->mode[i]);
    struct query_spec *spec = NULL;
    TRY(query_spec_parse(arena, json, out->diagnostics, &spec, err));
    out->spec = spec;
    TRY(check_sink(spec, out->diagnostics, err));
    TRY(query_check_paths(arena, paths, spec, out->diagnostics, err));
    if (can_analyze(spec, out->diagnostics))
        analyze(arena, paths, out);
    judge_triggers(arena, spec, out);
    out->exactly_once = is_exactly_once(spec);
    return OK;
}

enum status query_validate(struct arena *arena, const struct path_policy *paths, struct bytes json,
                           struct validation *out, struct error *err)
{
    TRY(look_at(arena, paths, json, out, err));
    query_add_fixes(arena, paths, json, out);
    return OK;
}

struct problem_count query_count_problems(struct arena *arena, const struct path_policy *paths,
                                          struct bytes json)
{
    struct validation validation;
    struct error ignored = ERROR_INIT;
    if (look_at(arena, paths, json, &validation, &ignored) != OK)
        return (struct problem_count){SIZE_MAX, SIZE_MAX};
    const struct diagnostics *found = validation.diagnostics;
    size_t silent = 0; /* legal, but rows never come out: no fix leads there */
    for (const struct validation_warning *at = validation.warnings; at != NULL; at = at->next)
        silent += strcmp(at->name, "GROUPS_NEVER_COME_OUT") == 0;
    return (struct problem_count){found->error_count + silent, found->count + found->dropped};
}
