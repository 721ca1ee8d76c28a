#include "control/query_snapshot.h"

#include "base/heap.h"
#include "base/path.h"
#include "control/path_policy.h"

#include <stdlib.h>

static void *allocate(size_t size)
{
    void *memory = heap_calloc(1, size);
    return memory;
}

static char *copy_text(const char *text)
{
    char *copy = heap_strdup(text);
    return copy;
}

static void ref(atomic_uint *references)
{
    (void)atomic_fetch_add_explicit(references, 1, memory_order_relaxed);
}

/* True if that was the last one. */
static bool unref(atomic_uint *references)
{
    return atomic_fetch_sub_explicit(references, 1, memory_order_acq_rel) == 1;
}

struct shared_text *shared_text_new(struct bytes text)
{
    struct shared_text *shared = allocate(sizeof *shared + text.size_bytes + 1);
    shared->references = 1;
    shared->size_bytes = text.size_bytes;
    if (text.size_bytes != 0)
        memcpy(shared->text, text.data, text.size_bytes);
    return shared;
}

struct shared_text *shared_text_ref(struct shared_text *text)
{
    if (text != NULL)
        ref(&text->references);
    return text;
}

void shared_text_unref(struct shared_text *text)
{
    if (text != NULL && unref(&text->references))
        free(text);
}

struct shared_error *shared_error_new(const struct error *error, int64_t time_us)
{
    struct shared_error *shared = allocate(sizeof *shared);
    shared->references = 1;
    shared->time_us = time_us;
    shared->error = *error;
    return shared;
}

struct shared_error *shared_error_ref(struct shared_error *error)
{
    if (error != NULL)
        ref(&error->references);
    return error;
}

void shared_error_unref(struct shared_error *error)
{
    if (error != NULL && unref(&error->references))
        free(error);
}

struct query_definition *query_definition_new(const struct query_spec *spec, const char *name,
                                              const char *json)
{
    struct query_definition *definition = allocate(sizeof *definition);
    definition->references = 1;
    definition->name = copy_text(spec->name != NULL ? spec->name : name);
    definition->json = copy_text(json);
    const char *sink = options_get(&spec->sink.options, "path");
    if (spec->has_sink && sink != NULL && *sink != '\0') {
        struct arena *arena = arena_new("request", 0);
        definition->sink_path = copy_text(path_absolute(arena, sink));
        arena_free(arena);
    }
    if (spec->has_sink && spec->sink.format != NULL)
        definition->sink_format = copy_text(spec->sink.format);
    if (spec->checkpoint_location != NULL)
        definition->checkpoint = copy_text(spec->checkpoint_location);
    definition->restart_mode = spec->restart_mode;
    definition->restart_attempts_max = spec->restart_attempts_max;
    definition->ends_by_itself =
        spec->trigger == TRIGGER_AVAILABLE_NOW || spec->trigger == TRIGGER_ONCE;
    definition->labels = allocate((spec->label_count + 1) * sizeof *definition->labels);
    definition->label_count = spec->label_count;
    for (size_t i = 0; i < spec->label_count; i++) {
        definition->labels[i].name = copy_text(spec->labels[i].name);
        definition->labels[i].value = copy_text(spec->labels[i].value);
    }
    query_definition_resolve(definition);
    return definition;
}

void query_definition_resolve(struct query_definition *definition)
{
    struct arena *arena = arena_new("request", 0);
    free(definition->real_checkpoint);
    free(definition->real_sink);
    definition->real_checkpoint = definition->real_sink = NULL;
    if (definition->checkpoint != NULL)
        definition->real_checkpoint = copy_text(path_policy_resolve(arena, definition->checkpoint));
    if (definition->sink_path != NULL)
        definition->real_sink = copy_text(path_policy_resolve(arena, definition->sink_path));
    arena_free(arena);
}

struct query_definition *query_definition_ref(struct query_definition *definition)
{
    ref(&definition->references);
    return definition;
}

void query_definition_unref(struct query_definition *definition)
{
    if (definition == NULL || !unref(&definition->references))
        return;
    for (size_t i = 0; i < definition->label_count; i++) {
        free(definition->labels[i].name);
        free(definition->labels[i].value);
    }
    free(definition->labels);
    free(definition->name);
    free(definition->json);
    free(definition->checkpoint);
    free(definition->sink_path);
    free(definition->real_checkpoint);
    free(definition->real_sink);
    free(definition->sink_format);
    free(definition->directory);
    free(definition);
}

struct query_snapshot *query_snapshot_new(void)
{
    struct query_snapshot *snapshot = allocate(sizeof *snapshot);
    snapshot->references = 1;
    return snapshot;
}

struct query_snapshot *query_snapshot_ref(struct query_snapshot *snapshot)
{
    ref(&snapshot->references);
    return snapshot;
}

void query_snapshot_unref(struct query_snapshot *snapshot)
{
    if (snapshot == NULL || !unref(&snapshot->references))
        return;
    query_definition_unref(snapshot->definition);
    shared_error_unref(snapshot->first_error);
    shared_error_unref(snapshot->last_error);
    shared_text_unref(snapshot->progress);
    shared_text_unref(snapshot->plan_text);
    shared_text_unref(snapshot->plan_json);
    free(snapshot);
}
