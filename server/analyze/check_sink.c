/*
 * The sink against the query: does it exist, does it take the output mode, are the partition
 * columns there.  Then the rules for streams.
 */
#include "analyze/analyzer.h"
#include "analyze/check_warnings.h"
#include "base/check.h"

#include <stdio.h>
#include <strings.h>

static enum status raise_no_sink(const char *format, struct error *err)
{
    if (strcasecmp(format, "binaryFile") == 0)
        return error_raise(err, STATUS_UNSUPPORTED_FEATURE__WRITE_FOR_BINARY_SOURCE, NULL);
    return connector_no_sink(format, err);
}

/* A column of partitionBy: "/sink/partitionBy/0". */
static void point_at_partition(const struct sink_spec *sink, size_t i, struct error *err)
{
    const char *base = sink->partition_by_pointer;
    if (base != NULL)
        (void)snprintf(err->pointer, sizeof err->pointer, "%s/%zu", base, i);
}

static enum status check_partition(struct analyzer *analyzer, const struct sink_spec *sink,
                                   size_t i, struct error *err)
{
    const struct type *schema = analyzer->analysis->schema;
    struct buffer names = {0};
    for (uint32_t j = 0; j < schema->field_count; j++)
        if (name_equal(analyzer, schema->fields[j].name, sink->partition_by[i]))
            return OK;
    for (uint32_t j = 0; j < schema->field_count; j++)
        buffer_printf(&names, "%s%s", j > 0 ? ", " : "", schema->fields[j].name);
    error_raise(err, STATUS__LEGACY_ERROR_TEMP_1196, "columnType", "Partition", "columnName",
                sink->partition_by[i], "validColumnNames", buffer_text(&names), NULL);
    buffer_fini(&names);
    point_at_partition(sink, i, err);
    return err->status;
}

static enum status check_partitions(struct analyzer *analyzer, const struct sink_spec *sink,
                                    struct error *err)
{
    const struct type *schema = analyzer->analysis->schema;
    if (sink->partition_by_count == 0)
        return OK;
    if (strcasecmp(sink->format, "memory") == 0) {
        (void)error_raise(err, STATUS__LEGACY_ERROR_TEMP_1197, "operation", sink->format, NULL);
        (void)snprintf(err->pointer, sizeof err->pointer, "%s",
                       sink->partition_by_pointer == NULL ? "" : sink->partition_by_pointer);
        return err->status;
    }
    uint32_t before = analyzer->broken;
    for (size_t i = 0; i < sink->partition_by_count; i++)
        TRY(analyzer_go_on(analyzer, analyzer->broken, check_partition(analyzer, sink, i, err),
                           err));
    if (sink->partition_by_count < schema->field_count || analyzer->broken > before)
        return OK;
    (void)error_raise(err, STATUS_ALL_PARTITION_COLUMNS_NOT_ALLOWED, NULL);
    (void)snprintf(err->pointer, sizeof err->pointer, "%s",
                   sink->partition_by_pointer == NULL ? "" : sink->partition_by_pointer);
    return err->status;
}

/* File formats of Spark that only append; which of them is not there is the second question. */
static bool only_appends(const char *format)
{
    static const char *const formats[] = {"binaryFile", "orc", "xml"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcasecmp(format, formats[i]) == 0)
            return true;
    return false;
}

enum status check_sink_mode(const struct sink_spec *sink, enum output_mode mode, struct error *err)
{
    static const char *const names[] = {"append", "update", "complete"};
    const struct sink_ops *ops = sink_find(sink->format);
    if (ops == NULL && (mode == MODE_APPEND || !only_appends(sink->format))) {
        (void)raise_no_sink(sink->format, err);
        (void)snprintf(err->pointer, sizeof err->pointer, "/sink/format");
        return err->status;
    }
    if (ops != NULL && ops->modes[mode])
        return OK;
    (void)error_raise(err, STATUS_STREAMING_OUTPUT_MODE__UNSUPPORTED_DATASOURCE, "outputMode",
                      names[mode], "className", sink->format, NULL);
    (void)snprintf(err->pointer, sizeof err->pointer, "/outputMode");
    return err->status;
}

/* Spark writes such records, too, but whoever reads them finds one of the fields. */
static void warn_of_equal_names(struct analyzer *analyzer)
{
    const struct type *schema = analyzer->analysis->schema;
    if (strcasecmp(analyzer->spec->sink.format, "json") != 0)
        return;
    for (uint32_t i = 0; i < schema->field_count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (name_equal(analyzer, schema->fields[i].name, schema->fields[j].name)) {
                const char *text =
                    arena_sprintf(analyzer->arena,
                                  "The output has two columns named %s: most readers of its JSON "
                                  "find only one of them. Give one another name",
                                  schema->fields[i].name);
                analysis_warn(analyzer->arena, analyzer->analysis,
                              (struct analysis_warning){.name = "EQUAL_COLUMN_NAMES",
                                                        .text = text,
                                                        .pointer = "/sql",
                                                        .position = -1,
                                                        .position_end = -1});
                return;
            }
}

static bool has_sink(const struct analyzer *analyzer)
{
    return analyzer->spec->has_sink && !analyzer->options->skip_sink &&
           analyzer->spec->sink.format != NULL;
}

/* Whether each item of the query has a name, even if something else is wrong with it. */
static bool names_are_known(const struct analysis *analysis)
{
    if (analysis->root == NULL)
        return false;
    for (uint32_t i = 0; i < analysis->schema->field_count; i++)
        if (analysis->schema->fields[i].name[0] == '\0')
            return false;
    return true;
}

enum status check_sink_alone(struct analyzer *analyzer, struct error *err)
{
    struct analysis *analysis = analyzer->analysis;
    const struct sink_spec *sink = &analyzer->spec->sink;
    enum status status = analyze_output_mode(analyzer->spec->output_mode, &analysis->mode, err);
    if (!has_sink(analyzer))
        return status;
    if (status == OK && !analyzer->spec->output_mode_wrong)
        status = check_sink_mode(sink, analysis->mode, err);
    TRY(analyzer_go_on(analyzer, analyzer->broken, status, err));
    if (names_are_known(analysis))
        TRY(analyzer_go_on(analyzer, analyzer->broken, check_partitions(analyzer, sink, err), err));
    return connector_sink(analyzer, NULL, err);
}

enum status check_query(struct analyzer *analyzer, struct error *err)
{
    const struct sink_spec *sink = &analyzer->spec->sink;
    struct analysis *analysis = analyzer->analysis;
    TRY(analyze_output_mode(analyzer->spec->output_mode, &analysis->mode, err));
    /* Nothing is said of a mode that is no mode, or of a query that lacks the watermark which is
     * reported as wrong. */
    bool judged = !analyzer->spec->output_mode_wrong && !analyzer->unmarked;
    if (!has_sink(analyzer))
        return judged ? check_streaming(analysis, analysis->mode, err) : OK;
    warn_of_equal_names(analyzer);
    uint32_t before = analyzer->broken;
    if (!analyzer->spec->output_mode_wrong)
        TRY(analyzer_go_on(analyzer, before, check_sink_mode(sink, analysis->mode, err), err));
    bool mode_fits = analyzer->broken == before;
    before = analyzer->broken;
    TRY(analyzer_go_on(analyzer, before, check_partitions(analyzer, sink, err), err));
    bool partitions_fit = analyzer->broken == before;
    /* A mode that the sink refuses is not judged a second time. */
    if (mode_fits && judged)
        TRY(analyzer_go_on(analyzer, analyzer->broken,
                           check_streaming(analysis, analysis->mode, err), err));
    return connector_sink(analyzer, partitions_fit ? analysis->schema : NULL, err);
}
