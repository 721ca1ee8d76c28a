/*
 * Sources, tables and the sink against their kinds: does the format exist, are the options and the
 * schema possible.  The server and the worker ask the same functions, so a spec that the server has
 * accepted is not refused by the worker for what it says.
 *
 * A kind refuses one thing at a time.  With a collector the option that it refused is reported and
 * left out, and it is asked again.
 */
#include "analyze/analyzer.h"
#include "base/check.h"
#include "columnar/datetime_pattern.h"
#include "source/file_options.h"
#include "spec/diagnostics.h"

#include <stdio.h>
#include <strings.h>

/* ---- where it is wrong ---- */

static const char *part_of(enum status status)
{
    switch ((int)status) {
    case STATUS_SCHEMA_REQUIRED:
    case STATUS_SCHEMA_NOT_ALLOWED:
    case STATUS_UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE:
    case STATUS_INVALID_CORRUPT_RECORD_TYPE:
    case STATUS_UNSUPPORTED_PARTITION_TYPE:
    case STATUS_COLUMN_ALREADY_EXISTS:
    case STATUS__LEGACY_ERROR_TEMP_1290:
        return "schema";
    case STATUS_PATH_NOT_FOUND:
    case STATUS_PATH_NOT_USABLE:
    case STATUS_FILE_NOT_FOUND:
    case STATUS_IO_FAILURE:
    case STATUS_INVALID_GLOB:
    case STATUS_NOT_SUPPORTED:
        return "options/path";
    case STATUS_CONFLICTING_FIELDS:
        return "options";
    default:
        return "format";
    }
}

static const char *written_of(const struct options *options, const char *name, const char *other)
{
    return options_get(options, name) != NULL || options_get(options, other) == NULL ? name : other;
}

/* The option with a pattern that nobody can read. */
static const char *pattern_option(const struct options *options)
{
    static const char *const names[] = {"dateFormat", "timestampFormat", "timestampNTZFormat"};
    const char *found = NULL;
    struct arena *arena = arena_new("request", 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0] && found == NULL; i++) {
        const char *value = options_get(options, names[i]);
        struct error ignored = ERROR_INIT;
        const struct datetime_pattern *pattern = NULL;
        if (value != NULL &&
            datetime_pattern_compile(arena, bytes_of_text(value), DATETIME_PATTERN_FORMAT, &pattern,
                                     &ignored) != OK)
            found = names[i];
    }
    arena_free(arena);
    return found;
}

/* The option that the error is about; NULL: none, or it does not say. */
static const char *option_meant(const struct options *options, const struct error *err)
{
    const char *glob = options_get(options, "pathGlobFilter");
    const char *pattern = error_param(err, "pattern");
    switch ((int)err->status) {
    case STATUS_INVALID_TIMEZONE:
        return "timeZone";
    case STATUS_INVALID_PARAMETER_VALUE__CHARSET:
        return written_of(options, "encoding", "charset");
    case STATUS_CODEC_NOT_AVAILABLE__WITH_AVAILABLE_CODECS_SUGGESTION:
        return written_of(options, "compression", "codec");
    case STATUS_OPTION_VALUE_EXCEEDS_ONE_CHARACTER:
        return error_param(err, "paramName");
    case STATUS_INVALID_DURATION:
        return options_get(options, "rampUpTime") != NULL ? "rampUpTime" : NULL;
    case STATUS_INVALID_GLOB:
        return glob != NULL && pattern != NULL && strcmp(glob, pattern) == 0 ? "pathGlobFilter"
                                                                             : "path";
    case STATUS_INVALID_DATETIME_PATTERN__ILLEGAL_CHARACTER:
    case STATUS_INVALID_DATETIME_PATTERN__LENGTH:
    case STATUS_INVALID_DATETIME_PATTERN__WITH_SUGGESTION:
    case STATUS_INCONSISTENT_BEHAVIOR_CROSS_VERSION__DATETIME_WEEK_BASED_PATTERN:
    case STATUS_INCONSISTENT_BEHAVIOR_CROSS_VERSION__DATETIME_PATTERN_RECOGNITION:
        return pattern_option(options);
    default:
        return error_param(err, "option");
    }
}

/* Points at the option, or the part of the relation or sink at `base`, that the error is about. */
static void point_at(const char *base, const struct options *options, struct error *err)
{
    if (err->pointer[0] != '\0')
        return;
    const char *option = option_meant(options, err);
    if (option != NULL && options->pointer != NULL)
        options_point_at(options, option, err);
    else
        (void)snprintf(err->pointer, sizeof err->pointer, "%s/%s", base, part_of(err->status));
}

/* "/sources/clicks" of its options "/sources/clicks/options". */
static const char *base_of(struct arena *arena, const struct options *options)
{
    const char *pointer = options->pointer == NULL ? "" : options->pointer;
    const char *end = strrchr(pointer, '/');
    return arena_strndup(arena, pointer, end == NULL ? 0 : (size_t)(end - pointer));
}

/* ---- collecting ---- */

static bool same_place(const struct error *a, const struct error *b)
{
    return a->status == b->status && a->position == b->position &&
           strcmp(a->pointer, b->pointer) == 0 && strcmp(a->view, b->view) == 0;
}

/* A missing option that is there in another form, or beside the options: that is reported. */
static bool is_misplaced(const struct diagnostics *list, const struct error *err)
{
    static const char options[] = "/options/";
    const char *at = err->status == STATUS_OPTION_REQUIRED ? strstr(err->pointer, options) : NULL;
    char beside[sizeof err->pointer];
    if (at == NULL)
        return false;
    (void)snprintf(beside, sizeof beside, "%.*s/%s", (int)(at - err->pointer), err->pointer,
                   at + sizeof options - 1);
    for (const struct diagnostic *one = list->first; one != NULL; one = one->next)
        if (strcmp(one->error.pointer, err->pointer) == 0 ||
            strcmp(one->error.pointer, beside) == 0)
            return true;
    return false;
}

void analyzer_collect(struct analyzer *analyzer, struct error *err)
{
    CHECK(analyzer->diagnostics != NULL && err->status != OK);
    analyzer->broken++;
    if (err->view[0] == '\0' && analyzer->view != NULL && err->pointer[0] == '\0')
        (void)snprintf(err->view, sizeof err->view, "%s", analyzer->view);
    if (is_misplaced(analyzer->diagnostics, err)) {
        error_clear(err);
        return;
    }
    for (const struct diagnostic *at = analyzer->diagnostics->first; at != NULL; at = at->next) {
        if (at->severity == DIAGNOSTIC_ERROR && same_place(&at->error, err)) {
            error_clear(err); /* a view or a CTE is resolved wherever it is used */
            return;
        }
    }
    (void)diagnostics_add(analyzer->diagnostics, DIAGNOSTIC_ERROR, err);
    error_clear(err);
}

enum status analyzer_go_on(struct analyzer *analyzer, uint32_t broken_before, enum status status,
                           struct error *err)
{
    if (status == OK || analyzer->diagnostics == NULL)
        return status;
    if (analyzer->broken == broken_before)
        analyzer_collect(analyzer, err);
    else
        error_clear(err); /* most likely follows from what is reported already */
    return OK;
}

/* The options without number `at`. */
static struct options without(struct arena *arena, const struct options *options, size_t at)
{
    struct options rest = *options;
    struct option *items = arena_new_object(arena, (options->count + 1) * sizeof *items);
    rest.count = 0;
    for (size_t i = 0; i < options->count; i++)
        if (i != at)
            items[rest.count++] = options->items[i];
    rest.items = items;
    return rest;
}

/* The number of the option that the error points at; count if it is none. */
static size_t option_at(const struct options *options, const struct error *err)
{
    for (size_t i = options->count; i-- > 0;) {
        struct error place = ERROR_INIT;
        options_point_at(options, options->items[i].name, &place);
        if (strcmp(place.pointer, err->pointer) == 0)
            return i;
    }
    return options->count;
}

/* ---- sources and tables ---- */

/* What there is, and the nearest of a misspelt one. */
static void suggest(const char *format, const char *const *kinds, size_t count, struct error *err)
{
    const char *nearest = nearest_name(format, kinds, count);
    struct buffer list = {0};
    for (size_t i = 0; i < count; i++)
        buffer_printf(&list, "%s%s", i > 0 ? ", " : "", kinds[i]);
    size_t used = strlen(err->text);
    if (used < sizeof err->text)
        (void)snprintf(err->text + used, sizeof err->text - used, ": there are %s%s%s%s",
                       buffer_text(&list), nearest == NULL ? "" : ". Did you mean ",
                       nearest == NULL ? "" : nearest, nearest == NULL ? "" : "?");
    buffer_fini(&list);
}

/* A format of Spark is not a misspelling. */
static void raise_no_format(const char *format, struct error *err)
{
    static const char *const of_spark[] = {"parquet", "orc", "xml", "binaryFile", "jdbc", "socket"};
    if (strcasecmp(format, "avro") == 0) {
        (void)error_raise(err, STATUS_AVRO_DATA_SOURCE_NOT_ENABLED, "provider", "avro", NULL);
        return;
    }
    if (strcasecmp(format, "kafka") == 0) {
        (void)error_raise(err, STATUS_KAFKA_DATA_SOURCE_NOT_ENABLED, "provider", "kafka", NULL);
        return;
    }
    for (size_t i = 0; i < sizeof of_spark / sizeof of_spark[0]; i++) {
        if (strcasecmp(format, of_spark[i]) == 0) {
            char feature[64];
            bool written = sink_find(format) != NULL;
            (void)snprintf(feature, sizeof feature, "%s format %s", written ? "Reading the" : "The",
                           of_spark[i]);
            (void)error_raise(err, STATUS_NOT_SUPPORTED, "feature", feature, NULL);
            return;
        }
    }
    (void)error_raise(err, STATUS_DATA_SOURCE_NOT_FOUND, "provider", format, NULL);
}

static bool is_offered(const char *format)
{
    for (const struct source_ops *const *ops = source_all(); *ops != NULL; ops++)
        if (strcasecmp((*ops)->kind, format) == 0)
            return true;
    return false;
}

static enum status raise_no_source(const struct relation_spec *spec, struct error *err)
{
    const char *kinds[64];
    size_t count = 0;
    for (const struct source_ops *const *ops = source_all(); *ops != NULL && count < 64; ops++)
        kinds[count++] = (*ops)->kind;
    raise_no_format(spec->format, err);
    suggest(spec->format, kinds, count, err);
    if (spec->options.pointer != NULL)
        (void)snprintf(err->pointer, sizeof err->pointer, "%.*s/format",
                       (int)(strrchr(spec->options.pointer, '/') - spec->options.pointer),
                       spec->options.pointer);
    return err->status;
}

/* Asks the kind without the system behind it. */
static enum status ask_kind(struct analyzer *analyzer, const struct relation_spec *spec,
                            bool stream, const struct type **out, struct error *err)
{
    const struct source_ops *ops = source_find(spec->format);
    if (ops == NULL)
        return raise_no_source(spec, err);
    struct source_config config = {
        .name = spec->name,
        .format = spec->format,
        .options = &spec->options,
        .schema = spec->schema,
        .time_zone = analyzer->functions.time_zone,
        .ansi = analyzer->functions.ansi,
        .stream = stream,
        .conf = analyzer->spec->conf.items,
        .conf_count = analyzer->spec->conf.count,
    };
    struct source *source;
    TRY(ops->open(analyzer->arena, &config, &source, err));
    *out = type_clone(analyzer->arena, ops->schema(source));
    ops->close(source);
    return OK;
}

static enum status ask(struct analyzer *analyzer, const struct relation_spec *spec, bool streaming,
                       const struct type **out, struct error *err)
{
    struct analyze_catalog *catalog = analyzer->options->catalog;
    bool stream = streaming && !analyzer->options->bounded;
    enum status status = catalog == NULL
                             ? ask_kind(analyzer, spec, stream, out, err)
                             : catalog->schema(catalog, analyzer->arena, spec, stream, out, err);
    if (status == STATUS_DATA_SOURCE_NOT_FOUND && !is_offered(spec->format)) {
        error_clear(err);
        status = raise_no_source(spec, err);
    }
    if (status != OK && spec->options.pointer != NULL)
        point_at(base_of(analyzer->arena, &spec->options), &spec->options, err);
    return status;
}

static struct connector *connector_of(struct analyzer *analyzer, uint32_t index, bool is_table)
{
    const struct query_spec *spec = analyzer->spec;
    if (analyzer->connectors == NULL)
        analyzer->connectors =
            arena_new_object(analyzer->arena, (spec->source_count + spec->table_count + 1) *
                                                  sizeof *analyzer->connectors);
    return &analyzer->connectors[is_table ? spec->source_count + index : index];
}

/* Reports all that is wrong; the columns are known as long as the spec says them. */
static void collect_relation(struct analyzer *analyzer, const struct relation_spec *spec,
                             bool streaming, struct connector *out)
{
    struct error err = ERROR_INIT;
    struct relation_spec left = *spec;
    out->type = NULL;
    out->asked = true;
    if (spec->schema_text != NULL && spec->schema == NULL)
        return; /* its form is wrong: that is reported */
    while (ask(analyzer, &left, streaming, &out->type, &err) != OK) {
        size_t at = option_at(&left.options, &err);
        bool is_path =
            at < left.options.count && strcasecmp(left.options.items[at].name, "path") == 0;
        analyzer_collect(analyzer, &err);
        out->type = NULL;
        if (at == left.options.count || is_path)
            break; /* nothing more can be asked of it */
        left.options = without(analyzer->arena, &left.options, at);
    }
    if (out->type == NULL)
        out->type = spec->schema;
}

void connector_collect(struct analyzer *analyzer)
{
    const struct query_spec *spec = analyzer->spec;
    for (uint32_t i = 0; i < spec->source_count; i++)
        collect_relation(analyzer, &spec->sources[i], true, connector_of(analyzer, i, false));
    for (uint32_t i = 0; i < spec->table_count; i++)
        collect_relation(analyzer, &spec->tables[i], false, connector_of(analyzer, i, true));
}

enum status connector_schema(struct analyzer *analyzer, uint32_t index, bool is_table,
                             const struct type **out, struct error *err)
{
    const struct relation_spec *spec =
        is_table ? &analyzer->spec->tables[index] : &analyzer->spec->sources[index];
    struct connector *connector = connector_of(analyzer, index, is_table);
    if (!connector->asked) {
        TRY(ask(analyzer, spec, !is_table, &connector->type, err));
        connector->asked = true;
    }
    *out = connector->type;
    if (connector->type != NULL)
        return OK;
    analyzer->broken++; /* what is wrong with it is reported */
    return error_raise(err, STATUS_SCHEMA_REQUIRED, "connector", spec->format, NULL);
}

/* ---- the sink ---- */

enum status connector_no_sink(const char *format, struct error *err)
{
    const char *kinds[64];
    size_t count = 0;
    for (const struct sink_ops *const *ops = sink_all(); *ops != NULL && count < 64; ops++)
        kinds[count++] = (*ops)->kind;
    if (err->status == OK) /* else that there is none has Spark's own name */
        raise_no_format(format, err);
    suggest(format, kinds, count, err);
    return err->status;
}

/* The first column of partitionBy that is of the type at fault. */
static void point_at_partition_type(struct analyzer *analyzer, struct error *err)
{
    const struct sink_spec *sink = &analyzer->spec->sink;
    const struct type *schema = analyzer->analysis->schema;
    const char *base = sink->partition_by_pointer, *wrong = error_param(err, "type");
    (void)snprintf(err->pointer, sizeof err->pointer, "%s", base == NULL ? "" : base);
    for (size_t i = 0; base != NULL && wrong != NULL && i < sink->partition_by_count; i++)
        for (uint32_t j = 0; schema != NULL && j < schema->field_count; j++) {
            const char *type = arena_sprintf(analyzer->arena, "\"%s\"",
                                             type_sql(analyzer->arena, schema->fields[j].type));
            if (name_equal(analyzer, schema->fields[j].name, sink->partition_by[i]) &&
                strcmp(type, wrong) == 0) {
                (void)snprintf(err->pointer, sizeof err->pointer, "%s/%zu", base, i);
                return;
            }
        }
}

void connector_point_at_sink(struct analyzer *analyzer, struct error *err)
{
    const struct sink_spec *sink = &analyzer->spec->sink;
    if (err->pointer[0] != '\0')
        return;
    if (err->status == STATUS_COLUMN_ALREADY_EXISTS)
        (void)snprintf(err->pointer, sizeof err->pointer, "/sql"); /* columns of the output */
    else if (err->status == STATUS_INVALID_PARTITION_COLUMN_DATA_TYPE)
        point_at_partition_type(analyzer, err);
    else if (err->status == STATUS_UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE ||
             err->status == STATUS__LEGACY_ERROR_TEMP_1290)
        (void)snprintf(err->pointer, sizeof err->pointer, "/sink/format");
    else
        point_at(base_of(analyzer->arena, &sink->options), &sink->options, err);
}

static enum status ask_sink(struct analyzer *analyzer, const struct options *options,
                            const struct type *schema, struct error *err)
{
    const struct sink_spec *sink = &analyzer->spec->sink;
    const struct sink_ops *ops = sink_find(sink->format);
    if (ops == NULL || ops->check == NULL)
        return OK; /* the mode's check says that there is none */
    static const struct type_field value = {.name = "value", .nullable = true};
    struct type_field field = value;
    field.type = type_simple(TYPE_STRING);
    bool known = schema != NULL;
    struct sink_config config = {
        .format = sink->format,
        .options = options,
        .schema = known ? schema : type_struct(analyzer->arena, &field, 1),
        .partition_by = sink->partition_by,
        .partition_by_count = known ? sink->partition_by_count : 0,
        .mode = ops->modes[MODE_APPEND] ? MODE_APPEND : MODE_UPDATE,
        .time_zone = analyzer->functions.time_zone,
        .conf = analyzer->spec->conf.items,
        .conf_count = analyzer->spec->conf.count,
    };
    enum status status = ops->check(analyzer->arena, &config, err);
    if (status != OK)
        connector_point_at_sink(analyzer, err);
    return status;
}

/* A query that reads what it writes never ends. */
static enum status check_overlap(struct analyzer *analyzer, struct error *err)
{
    const struct query_spec *spec = analyzer->spec;
    const char *dir = options_get(&spec->sink.options, "path");
    if (dir == NULL || *dir == '\0' || sink_find(spec->sink.format) == NULL)
        return OK;
    for (size_t i = 0; i < spec->source_count; i++) {
        const struct relation_spec *source = &spec->sources[i];
        const char *path = options_get(&source->options, "path");
        if (path == NULL || *path == '\0' || !file_options_would_read(analyzer->arena, path, dir))
            continue;
        (void)error_raise(err, STATUS_SINK_PATH_OVERLAPS_SOURCE, "path", dir, "source",
                          source->name, "sourcePath", path, NULL);
        options_point_at(&spec->sink.options, "path", err);
        return err->status;
    }
    return OK;
}

enum status connector_sink(struct analyzer *analyzer, const struct type *schema, struct error *err)
{
    struct options left = analyzer->spec->sink.options;
    if (analyzer->diagnostics == NULL) {
        TRY(ask_sink(analyzer, &left, schema, err));
        return check_overlap(analyzer, err);
    }
    while (ask_sink(analyzer, &left, schema, err) != OK) {
        size_t at = option_at(&left, err);
        bool is_path = at < left.count && strcasecmp(left.items[at].name, "path") == 0;
        analyzer_collect(analyzer, err);
        if (at == left.count || is_path)
            break;
        left = without(analyzer->arena, &left, at);
    }
    if (check_overlap(analyzer, err) != OK)
        analyzer_collect(analyzer, err);
    return OK;
}
