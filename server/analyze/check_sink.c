/*
 * The sink against the query: does it exist, does it take the output mode, are the partition
 * columns there.  Then the rules for streams.
 */
#include "analyze/analyzer.h"
#include "base/check.h"

#include <strings.h>

static enum status raise_no_sink(const char *format, struct error *err)
{
    if (strcasecmp(format, "avro") == 0)
        return error_raise(err, STATUS_AVRO_DATA_SOURCE_NOT_ENABLED, "provider", "avro", NULL);
    if (strcasecmp(format, "kafka") == 0)
        return error_raise(err, STATUS_KAFKA_DATA_SOURCE_NOT_ENABLED, "provider", "kafka", NULL);
    if (strcasecmp(format, "binaryFile") == 0)
        return error_raise(err, STATUS_UNSUPPORTED_FEATURE__WRITE_FOR_BINARY_SOURCE, NULL);
    return error_raise(err, STATUS_DATA_SOURCE_NOT_FOUND, "provider", format, NULL);
}

static enum status check_partitions(struct analyzer *analyzer, const struct sink_spec *sink,
                                    struct error *err)
{
    const struct type *schema = analyzer->analysis->schema;
    struct buffer names = {0};
    if (sink->partition_by_count == 0)
        return OK;
    if (strcasecmp(sink->format, "memory") == 0)
        return error_raise(err, STATUS__LEGACY_ERROR_TEMP_1197, "operation", sink->format, NULL);
    for (size_t i = 0; i < sink->partition_by_count; i++) {
        bool found = false;
        for (uint32_t j = 0; j < schema->field_count; j++)
            found = found || name_equal(analyzer, schema->fields[j].name, sink->partition_by[i]);
        if (found)
            continue;
        for (uint32_t j = 0; j < schema->field_count; j++)
            buffer_printf(&names, "%s%s", j > 0 ? ", " : "", schema->fields[j].name);
        error_raise(err, STATUS__LEGACY_ERROR_TEMP_1196, "columnType", "Partition", "columnName",
                    sink->partition_by[i], "validColumnNames", buffer_text(&names), NULL);
        buffer_fini(&names);
        return err->status;
    }
    if (sink->partition_by_count >= schema->field_count)
        return error_raise(err, STATUS_ALL_PARTITION_COLUMNS_NOT_ALLOWED, NULL);
    return OK;
}

static enum status check_sink_mode(const struct sink_spec *sink, enum output_mode mode,
                                   struct error *err)
{
    static const char *const names[] = {"append", "update", "complete"};
    const struct sink_ops *ops = sink_find(sink->format);
    if (ops == NULL)
        return raise_no_sink(sink->format, err);
    if (ops->modes[mode])
        return OK;
    return error_raise(err, STATUS_STREAMING_OUTPUT_MODE__UNSUPPORTED_DATASOURCE, "outputMode",
                       names[mode], "className", sink->format, NULL);
}

enum status check_query(struct analyzer *analyzer, struct error *err)
{
    const struct query_spec *spec = analyzer->spec;
    const struct sink_spec *sink = &spec->sink;
    struct analysis *analysis = analyzer->analysis;
    bool with_sink = spec->has_sink && !analyzer->options->skip_sink && sink->format != NULL;
    TRY(analyze_output_mode(spec->output_mode, &analysis->mode, err));
    if (with_sink)
        TRY(check_sink_mode(sink, analysis->mode, err));
    if (with_sink)
        TRY(check_partitions(analyzer, sink, err));
    return check_streaming(analysis, analysis->mode, err);
}
