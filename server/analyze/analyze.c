#include "analyze/analyze.h"

#include "analyze/analyzer.h"
#include "analyze/relation.h"
#include "base/check.h"
#include "spec/conf.h"
#include "spec/diagnostics.h"
#include "sql/parser.h"

#include <strings.h>
#include <time.h>

uint32_t analysis_add_watermark(struct analyzer *analyzer,
                                const struct analysis_watermark *watermark)
{
    struct analysis *analysis = analyzer->analysis;
    for (uint32_t i = 0; i < analysis->watermark_count; i++)
        if (analysis->watermarks[i].origin == watermark->origin)
            return i;
    if (analysis->watermark_count == analyzer->watermark_capacity) {
        uint32_t capacity =
            analyzer->watermark_capacity == 0 ? 4 : analyzer->watermark_capacity * 2;
        struct analysis_watermark *grown =
            arena_new_object(analyzer->arena, capacity * sizeof *grown);
        if (analysis->watermark_count > 0)
            memcpy(grown, analysis->watermarks, analysis->watermark_count * sizeof *grown);
        analysis->watermarks = grown;
        analyzer->watermark_capacity = capacity;
    }
    analysis->watermarks[analysis->watermark_count] = *watermark;
    return analysis->watermark_count++;
}

enum status analyze_output_mode(const char *text, enum output_mode *out, struct error *err)
{
    static const char *const names[] = {"append", "update", "complete"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcasecmp(text, names[i]) != 0)
            continue;
        *out = (enum output_mode)i;
        return OK;
    }
    return error_raise(err, STATUS_STREAMING_OUTPUT_MODE__INVALID, "outputMode", text, NULL);
}

static const char *conf_of(void *arg, const char *name)
{
    const struct query_spec *spec = arg;
    return options_get(&spec->conf, name);
}

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void init_functions(struct analyzer *analyzer, const struct query_spec *spec)
{
    struct resolve_context *functions = &analyzer->functions;
    resolve_context_init(functions, analyzer->arena);
    union {
        const struct query_spec *spec;
        void *arg;
    } arg = {.spec = spec};
    functions->conf = conf_of;
    functions->conf_arg = arg.arg;
    functions->ansi = conf_bool(&spec->conf, CONF_ansi_enabled);
    functions->now_us = now_us();
    const char *zone = conf_text(&spec->conf, CONF_session_timeZone);
    if (zone != NULL)
        functions->time_zone = zone;
    const char *timestamp = conf_text(&spec->conf, CONF_timestampType);
    functions->timestamp_ntz = timestamp != NULL && strcasecmp(timestamp, "TIMESTAMP_NTZ") == 0;
    functions->decimal_precision_loss =
        conf_bool(&spec->conf, CONF_decimalOperations_allowPrecisionLoss);
    const char *policy = conf_text(&spec->conf, CONF_mapKeyDedupPolicy);
    functions->map_key_last_wins = policy != NULL && strcasecmp(policy, "LAST_WIN") == 0;
}

/* Each view is resolved where it is defined, used or not. */
static enum status check_views(struct analyzer *analyzer, struct error *err)
{
    for (uint32_t i = 0; i < analyzer->spec->view_count; i++) {
        struct relation ignored;
        struct analysis saved = *analyzer->analysis;
        analyzer->view_end = i;
        uint32_t before = analyzer->broken;
        enum status status = catalog_view(analyzer, i, &ignored, err);
        analyzer->analysis->relation_count = saved.relation_count;
        analyzer->analysis->watermark_count = saved.watermark_count;
        TRY(analyzer_go_on(analyzer, before, status, err));
    }
    analyzer->view_end = (uint32_t)analyzer->spec->view_count;
    return OK;
}

enum status parse_text(struct analyzer *analyzer, struct bytes text, struct ast_query **out,
                       struct error *err)
{
    bool names = analyzer->analysis->ansi &&
                 conf_bool(&analyzer->spec->conf, CONF_ansi_doubleQuotedIdentifiers);
    return parser_query_with(analyzer->arena, text,
                             names ? PARSER_QUOTES_NAMES : PARSER_QUOTES_TEXT, out, err);
}

static enum status resolve_main(struct analyzer *analyzer, struct error *err)
{
    struct analysis *analysis = analyzer->analysis;
    struct ast_query *ast;
    struct relation relation;
    analyzer->text = bytes_of_text(analyzer->spec->sql);
    TRY(parse_text(analyzer, analyzer->text, &ast, err));
    TRY(resolve_query(analyzer, ast, NULL, NULL, &relation, err));
    analysis->root = relation.node;
    analysis->streaming = relation.node->streaming;
    analysis->schema = logical_schema(analyzer->arena, relation.node);
    return OK;
}

/* Everything, as far as it can be looked at; the result is the first that was collected.
 * *resolved: the SQL itself has names and types. */
static enum status collect(struct analyzer *analyzer, bool *resolved, struct error *err)
{
    size_t known = analyzer->diagnostics->count;
    connector_collect(analyzer);
    TRY(check_views(analyzer, err));
    uint32_t before = analyzer->broken;
    enum status status = resolve_main(analyzer, err);
    TRY(analyzer_go_on(analyzer, before, status, err));
    analyzer->analysis->next_id = analyzer->next_id;
    *resolved = status == OK && analyzer->broken == before;
    if (!analyzer->options->bounded) {
        status = *resolved ? check_query(analyzer, err) : check_sink_alone(analyzer, err);
        TRY(analyzer_go_on(analyzer, analyzer->broken, status, err));
    }
    if (analyzer->broken == 0 && analyzer->refused == 0)
        return OK;
    const struct diagnostic *at = analyzer->diagnostics->first;
    while (known-- > 0)
        at = at->next;
    while (at != NULL && at->severity != DIAGNOSTIC_ERROR)
        at = at->next;
    if (at == NULL) /* all of it beyond the limit of the list */
        at = diagnostics_first_error(analyzer->diagnostics);
    CHECK(at != NULL);
    *err = at->error;
    return err->status;
}

static enum status stop_at_first(struct analyzer *analyzer, struct error *err)
{
    TRY(check_views(analyzer, err));
    TRY(resolve_main(analyzer, err));
    analyzer->analysis->next_id = analyzer->next_id;
    return analyzer->options->bounded ? OK : check_query(analyzer, err);
}

enum status analyze_query(struct arena *query, const struct query_spec *spec,
                          const struct analyze_options *options, struct diagnostics *diagnostics,
                          struct analysis **out, struct error *err)
{
    struct analysis *analysis = arena_new_object(query, sizeof *analysis);
    struct analyzer analyzer = {
        .arena = query,
        .diagnostics = diagnostics,
        .spec = spec,
        .options = options,
        .analysis = analysis,
        .next_id = 1,
    };
    analysis->spec = spec;
    analysis->bounded = options->bounded;
    init_functions(&analyzer, spec);
    analyzer.case_sensitive = conf_bool(&spec->conf, CONF_caseSensitive);
    analysis->ansi = analyzer.functions.ansi;
    analysis->time_zone = analyzer.functions.time_zone;
    bool resolved = false;
    enum status status =
        diagnostics == NULL ? stop_at_first(&analyzer, err) : collect(&analyzer, &resolved, err);
    if (status == OK || (resolved && !analyzer.unmarked))
        *out = analysis;
    return status;
}

enum status analyze_check_mode(const struct analysis *analysis, enum output_mode mode,
                               struct error *err)
{
    const struct query_spec *spec = analysis->spec;
    if (spec->has_sink && sink_find(spec->sink.format) != NULL)
        TRY(check_sink_mode(&spec->sink, mode, err));
    return check_streaming(analysis, mode, err);
}
