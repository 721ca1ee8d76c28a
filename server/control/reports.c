#include "control/reports.h"

#include "base/json_writer.h"
#include "base/path.h"
#include "checkpoint/inspect.h"
#include "control/batch_files.h"
#include "control/history.h"
#include "format/format.h"
#include "sink/sink.h"
#include "source/source.h"
#include "spec/json_reader.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define RUNS_NAME "runs.ndjson"
#define RUNS_READ 400 /* lines */

static const char *kind_name(enum option_kind kind)
{
    static const char *const names[] = {"text",     "boolean",   "integer", "size",
                                        "duration", "character", "word",    "ratio"};
    return names[kind];
}

static void put_list(struct json_writer *json, const struct option_def *options)
{
    for (; options != NULL && options->name != NULL; options++) {
        json_begin_object(json, NULL);
        json_put_text(json, "name", options->name);
        json_put_text(json, "type", kind_name(options->kind));
        json_put_text(json, "default", options->default_value);
        json_put_text(json, "description", options->help == NULL ? "" : options->help);
        json_end_object(json);
    }
}

/* The connector's own options, then those of the format of that name. */
static void put_options(struct json_writer *json, const struct option_def *own,
                        const struct option_def *of_format)
{
    json_begin_array(json, "options");
    put_list(json, own);
    put_list(json, of_format);
    json_end_array(json);
}

static void put_sources(struct json_writer *json)
{
    for (const struct source_ops *const *at = source_all(); *at != NULL; at++) {
        json_begin_object(json, NULL);
        json_put_text(json, "format", (*at)->kind);
        json_put_text(json, "role", "source");
        json_put_bool(json, "replayable", (*at)->replayable);
        const struct format_ops *format = format_find((*at)->kind);
        put_options(json, (*at)->options, format == NULL ? NULL : format->read_options);
        json_end_object(json);
    }
}

static void put_sinks(struct json_writer *json)
{
    static const char *const deliveries[] = {"idempotent", "transactional", "neither"};
    static const char *const modes[] = {"append", "update", "complete"};
    for (const struct sink_ops *const *at = sink_all(); *at != NULL; at++) {
        json_begin_object(json, NULL);
        json_put_text(json, "format", (*at)->kind);
        json_put_text(json, "role", "sink");
        json_put_text(json, "delivery", deliveries[(*at)->delivery]);
        json_begin_array(json, "outputModes");
        for (int i = 0; i < 3; i++) {
            if ((*at)->modes[i])
                json_put_text(json, NULL, modes[i]);
        }
        json_end_array(json);
        const struct format_ops *format = format_find((*at)->kind);
        put_options(json, (*at)->options, format == NULL ? NULL : format->write_options);
        json_end_object(json);
    }
}

void report_connectors(struct buffer *out)
{
    struct json_writer json = json_writer_to(out);
    json_begin_array(&json, NULL);
    put_sources(&json);
    put_sinks(&json);
    json_end_array(&json);
}

enum status report_batches(struct control *control, const struct query_snapshot *query,
                           const struct batches_wanted *wanted, int64_t *first, struct buffer *out,
                           struct error *err)
{
    static_assert(REPORT_BATCHES_MAX == BATCHES_MAX, "what inspect.h takes");
    const char *sink = wanted->outputs ? query->definition->sink_path : NULL;
    struct batch_files *files =
        sink == NULL ? NULL : batch_files_new(control_vfs(control), sink, wanted->files);
    const struct batch_request request = {
        .batch_id = wanted->batch_id,
        .before = wanted->before,
        .limit = wanted->limit,
        .files = wanted->files,
        .outputs = files == NULL ? NULL : batch_files_outputs(files),
    };
    *first = -1;
    enum status status = checkpoint_batches(control_vfs(control), query->definition->checkpoint,
                                            &request, first, out, err);
    batch_files_free(files);
    if (status != STATUS_CHECKPOINT_NOT_FOUND)
        return status;
    error_clear(err);
    buffer_clear(out);
    buffer_add_text(out, "[]");
    return OK;
}

enum status report_checkpoint(struct control *control, const struct query_snapshot *query,
                              bool verify, struct buffer *out, struct error *err)
{
    const char *dir = query->definition->checkpoint;
    if (verify) {
        struct vfs *vfs = control_vfs(control);
        int64_t sink_last = batch_files_newest(vfs, dir, query->definition->sink_path);
        return checkpoint_verify(vfs, dir, sink_last, CHECKPOINT_JSON, out, err);
    }
    return checkpoint_show(control_vfs(control), dir, CHECKPOINT_JSON, out, err);
}

int64_t report_last_batch(struct control *control, const struct query_definition *definition)
{
    struct error ignored = ERROR_INIT;
    struct buffer text = {0};
    json_t *document = NULL;
    int64_t last = -1;
    if (checkpoint_show(control_vfs(control), definition->checkpoint, CHECKPOINT_JSON, &text,
                        &ignored) == OK &&
        json_load(buffer_bytes(&text), &document, &ignored) == OK &&
        json_is_integer(json_object_get(document, "commit")))
        last = json_integer_value(json_object_get(document, "commit"));
    json_decref(document);
    buffer_fini(&text);
    return last < 0 ? -1 : last;
}

static struct engine_query engine_query_of(struct control *control,
                                           const struct query_snapshot *query)
{
    return (struct engine_query){
        .vfs = control_vfs(control),
        .clock = control_clock(control),
        .spec_json = bytes_of_text(query->definition->json),
        .checkpoint = query->definition->checkpoint,
    };
}

enum status report_start_plan(struct control *control, const struct query_snapshot *query,
                              struct buffer *out, struct error *err)
{
    const struct engine_query it = engine_query_of(control, query);
    return control_engine(control)->start_plan(&it, out, err);
}

enum status report_state(struct control *control, const struct query_snapshot *query,
                         const struct engine_state_request *request, struct buffer *out,
                         struct error *err)
{
    const struct engine_query it = engine_query_of(control, query);
    return control_engine(control)->state(&it, request, out, err);
}

static enum status read_history(const struct query_definition *definition, const char *name,
                                size_t count, struct buffer *out, struct error *err)
{
    struct buffer path = {0};
    buffer_printf(&path, "%s/%s", definition->directory, name);
    enum status status = history_read(buffer_text(&path), count, out, err);
    buffer_fini(&path);
    return status;
}

enum status report_progress(struct control *control, const struct query_snapshot *query,
                            size_t count, struct buffer *out, struct error *err)
{
    (void)control;
    return read_history(query->definition, "progress.ndjson", count, out, err);
}

enum status report_runs(struct control *control, const struct query_snapshot *query,
                        struct buffer *out, struct error *err)
{
    (void)control;
    return read_history(query->definition, RUNS_NAME, RUNS_READ, out, err);
}

static void drop_run(struct open_runs *runs, size_t at)
{
    runs->count--;
    memmove(runs->ids[at], runs->ids[at + 1], (runs->count - at) * sizeof runs->ids[0]);
}

static void note_event(struct open_runs *runs, const json_t *event)
{
    const char *id = json_string_value(json_object_get(event, "runId"));
    if (id == NULL)
        return;
    if (json_object_get(event, "end") == NULL) {
        if (runs->count == OPEN_RUNS_MAX)
            drop_run(runs, 0);
        (void)snprintf(runs->ids[runs->count++], sizeof runs->ids[0], "%s", id);
        return;
    }
    for (size_t i = runs->count; i-- > 0;)
        if (strcmp(runs->ids[i], id) == 0)
            drop_run(runs, i);
}

void report_open_runs(const struct query_definition *definition, struct open_runs *out)
{
    struct error ignored = ERROR_INIT;
    struct buffer lines = {0};
    out->count = 0;
    if (read_history(definition, RUNS_NAME, RUNS_READ, &lines, &ignored) != OK)
        error_clear(&ignored);
    for (size_t at = 0; at < lines.size_bytes;) {
        const uint8_t *line = lines.data + at;
        const uint8_t *end = memchr(line, '\n', lines.size_bytes - at);
        size_t size = end == NULL ? lines.size_bytes - at : (size_t)(end - line);
        json_t *event = NULL;
        if (json_load(bytes_of(line, size), &event, &ignored) == OK)
            note_event(out, event);
        error_clear(&ignored);
        json_decref(event);
        at += size + 1;
    }
    buffer_fini(&lines);
}
