/*
 * See query_plan.h.
 */
#include "worker/query_plan.h"

#include "analyze/analyze.h"
#include "base/check.h"
#include "plan/planner.h"
#include "spec/conf.h"

#include <string.h>
#include <strings.h>

static const enum conf pinned_confs[] = {
    CONF_shuffle_partitions,
    CONF_session_timeZone,
    CONF_streaming_multipleWatermarkPolicy,
};
#define PINNED_COUNT (sizeof pinned_confs / sizeof pinned_confs[0])

/* Gives the analyser the schema of a relation, from the kinds of source that this query uses. */
struct catalog {
    struct analyze_catalog base;
    struct relation_context context;
};

static enum status relation_schema(struct analyze_catalog *self, struct arena *arena,
                                   const struct relation_spec *relation, bool streaming,
                                   const struct type **out, struct error *err)
{
    struct catalog *catalog = (struct catalog *)self;
    struct source *source = NULL;
    catalog->context.stream = streaming;
    TRY(relation_open(&catalog->context, arena, relation, NULL, &source, err));
    *out = type_clone(arena, source->ops->schema(source));
    source->ops->close(source);
    return OK;
}

void query_plan_pinned(struct arena *arena, const struct query_spec *spec,
                       struct pinned_setting **out, uint32_t *count)
{
    struct pinned_setting *settings = arena_new_object(arena, PINNED_COUNT * sizeof *settings);
    for (size_t i = 0; i < PINNED_COUNT; i++) {
        const char *value = conf_text(&spec->conf, pinned_confs[i]);
        settings[i].name = bytes_of_text(conf_name(pinned_confs[i]));
        settings[i].value = bytes_of_text(value == NULL ? "" : value);
    }
    *out = settings;
    *count = PINNED_COUNT;
}

bool query_plan_differs(const struct query_spec *spec, const struct batch_intent *pinned)
{
    for (size_t i = 0; i < PINNED_COUNT; i++) {
        struct bytes was = batch_intent_setting(pinned, conf_name(pinned_confs[i]));
        const char *value = conf_text(&spec->conf, pinned_confs[i]);
        if (was.data != NULL && !bytes_equal(was, bytes_of_text(value == NULL ? "" : value)))
            return true;
    }
    return false;
}

const char *query_plan_kept(struct arena *arena, const struct query_spec *spec,
                            const struct batch_intent *pinned)
{
    const char *list = NULL;
    for (size_t i = 0; i < PINNED_COUNT; i++) {
        const char *name = conf_name(pinned_confs[i]);
        const char *value = options_get(&spec->conf, name);
        struct bytes was = batch_intent_setting(pinned, name);
        if (value == NULL || was.data == NULL || bytes_equal(was, bytes_of_text(value)))
            continue;
        list = arena_sprintf(arena, "%s%s%s is %s in the spec and stays %.*s",
                             list == NULL ? "" : list, list == NULL ? "" : "; ", name, value,
                             (int)was.size_bytes, (const char *)was.data);
    }
    return list == NULL ? NULL
                        : arena_sprintf(arena, "%s, with which the checkpoint was begun", list);
}

/* What is pinned wins over what the spec says. */
static void apply_pinned(struct arena *query, struct query_spec *spec,
                         const struct batch_intent *pinned)
{
    size_t count = spec->conf.count;
    struct option *items = arena_new_object(query, (count + PINNED_COUNT) * sizeof *items);
    if (count > 0)
        memcpy(items, spec->conf.items, count * sizeof *items);
    for (size_t i = 0; i < PINNED_COUNT; i++) {
        const char *name = conf_name(pinned_confs[i]);
        struct bytes was = batch_intent_setting(pinned, name);
        if (was.size_bytes == 0)
            continue;
        items[count].name = name;
        items[count].value = arena_strndup(query, was.data, was.size_bytes);
        count++;
    }
    spec->conf.items = items;
    spec->conf.count = count;
}

enum status query_plan_make(struct arena *query, const struct query_plan_config *config,
                            struct query_plan *out, struct error *err)
{
    struct analysis *analysis = NULL;
    TRY(query_spec_parse(query, config->spec_json, NULL, &out->spec, err));
    if (config->pinned != NULL)
        apply_pinned(query, out->spec, config->pinned);
    out->time_zone = conf_text(&out->spec->conf, CONF_session_timeZone);
    out->ansi = conf_bool(&out->spec->conf, CONF_ansi_enabled);
    struct catalog catalog = {
        .base = {.schema = relation_schema},
        .context =
            {
                .spec = out->spec,
                .vfs = config->vfs,
                .clock = config->clock,
                .time_zone = out->time_zone,
                .ansi = out->ansi,
                .find_source = config->find_source == NULL ? source_find : config->find_source,
            },
    };
    struct analyze_options options = {
        .bounded = config->bounded,
        .catalog = &catalog.base,
        .skip_sink = config->bounded,
    };
    TRY(analyze_query(query, out->spec, &options, NULL, &analysis, err));
    out->schema = analysis->schema;
    out->mode = analysis->mode;
    analysis->whole_windows = config->whole_windows;
    return plan_query(query, analysis, &out->plan, err);
}
