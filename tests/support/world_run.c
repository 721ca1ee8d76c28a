/* Running the queries of a world in this process, and killing them. */
#include "base/check.h"
#include "base/failpoint.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/inspect.h"
#include "checkpoint/rewind.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>

#include <strings.h>

#include <jansson.h>

#define STEPS_MAX 10000 /* of one `run idle`: a query that never rests has failed */

static void note(struct world *world, const char *what, const char *text)
{
    buffer_printf(&world->actions, "       %-13s %s\n", what, text);
}

/* ---- progress ---- */

static void on_progress(struct query_observer *self, int64_t batch_id, int64_t output_rows,
                        struct bytes json)
{
    bool idle = output_rows < 0;
    struct world *world =
        (struct world *)(void *)((uint8_t *)self - offsetof(struct world, observer));
    (void)batch_id;
    if (idle)
        return;
    world_add_progress(world, json);
    world_fork_report(json);
}

void world_add_progress(struct world *world, struct bytes json)
{
    if (world->progress_count == world->progress_capacity) {
        world->progress_capacity = world->progress_capacity * 2 + 16;
        world->progress =
            realloc(world->progress, world->progress_capacity * sizeof(*world->progress));
        CHECK(world->progress != NULL);
    }
    world->progress[world->progress_count++] =
        arena_strndup(world->progress_arena, json.data, json.size_bytes);
}

static void on_status(struct query_observer *self, const struct query_status *status)
{
    struct world *world =
        (struct world *)(void *)((uint8_t *)self - offsetof(struct world, observer));
    world->status_json = arena_sprintf(
        world->arena,
        "{\"phase\":\"%s\",\"message\":\"%s\",\"isDataAvailable\":%s,\"isTriggerActive\":%s}",
        status->phase, status->message, status->is_data_available ? "true" : "false",
        status->is_trigger_active ? "true" : "false");
}

/* ---- crashes ---- */

static void on_crash(void *arg, uint64_t torn_bytes)
{
    struct world *world = arg;
    world->crashed = true;
    world->torn_bytes = torn_bytes;
    vfs_mem_freeze(world->mem);
    for (size_t i = 0; i < world->sink_count; i++)
        world->sinks[i]->collected.frozen = true;
}

/* The dead process is gone: the disk shows what is durable. */
static void after_death(struct world *world)
{
    vfs_mem_crash(world->mem, world->torn_bytes);
    world->crashed = false;
    world->torn_bytes = 0;
    for (size_t i = 0; i < world->sink_count; i++)
        world->sinks[i]->collected.frozen = false;
}

void world_stop(struct world *world)
{
    world_fork_stop(world);
    if (world->handle == NULL)
        return;
    query_close(world->handle, true);
    world->handle = NULL;
    if (world->crashed)
        after_death(world);
}

void world_kill(struct world *world)
{
    if (world->root != NULL) {
        world_fork_kill(world); /* of tidemill there is no process between runs */
        return;
    }
    on_crash(world, 0);
    if (world->handle != NULL)
        query_close(world->handle, false);
    world->handle = NULL;
    after_death(world);
    note(world, "kill", "");
}

void world_set_worker(struct world *world, const struct scn_record *record)
{
    const char *parallelism = scn_pair(record, "parallelism"), *spill = scn_pair(record, "spill");
    const char *memory = scn_pair(record, "memory");
    if (memory != NULL)
        world->memory_bytes = strtoll(memory, NULL, 10);
    if (parallelism != NULL)
        world->parallelism = (uint32_t)strtoul(parallelism, NULL, 10);
    if (world->parallelism == 0)
        world->parallelism = 1;
    if (spill != NULL)
        world->spill = strcmp(spill, "true") == 0;
}

/* The last committed batch, from the checkpoint on the disk. */
static enum status read_last_commit(struct world *world, const char *dir, int64_t *out,
                                    struct error *err)
{
    struct buffer text = {0};
    enum status status = checkpoint_show(world_disk(world), dir, CHECKPOINT_JSON, &text, err);
    json_t *document = status == OK ? json_loads(buffer_text(&text), 0, NULL) : NULL;
    const json_t *commit = json_object_get(document, "commit");
    *out = json_is_integer(commit) ? json_integer_value(commit) : NO_BATCH;
    json_decref(document);
    buffer_fini(&text);
    return status;
}

static enum status rewind_stopped(struct world *world, const struct scn_record *record,
                                  struct error *err)
{
    const char *to = scn_pair(record, "to"), *back = scn_pair(record, "back");
    const char *dir =
        world_path(world, arena_sprintf(world->arena, "/checkpoints/%s", world->current->name));
    struct rewind_request request = {
        .vfs = world->vfs, .clock = world->clock, .dir = dir, .name = world->current->name};
    struct rewind_outcome outcome;
    int64_t last = NO_BATCH;
    if (world->root != NULL)
        request.vfs = world_disk(world);
    TRY(read_last_commit(world, dir, &last, err));
    request.to_batch = last;
    if (to != NULL)
        request.to_batch = strtoll(to, NULL, 10);
    else if (back != NULL)
        request.to_batch = last - strtoll(back, NULL, 10);
    if (request.to_batch < NO_BATCH)
        request.to_batch = NO_BATCH;
    return checkpoint_rewind(world->arena, &request, &outcome, err);
}

enum status world_rewind(struct world *world, const struct scn_record *record, struct error *err)
{
    if (world->current == NULL)
        return error_set(err, SCENARIO_INVALID, "there is no query to rewind");
    world_stop(world);
    enum status status = rewind_stopped(world, record, err);
    note(world, "rewind", status == OK ? "" : err->text);
    if (scn_has_word(record, "try") &&
        (status == STATUS_BATCH_EXPIRED || status == STATUS_CHECKPOINT_NOT_FOUND)) {
        error_clear(err);
        return OK;
    }
    return status;
}

/* ---- running ---- */

static const char *schema_lines(struct world *world, const struct type *schema)
{
    struct buffer text = {0};
    for (uint32_t i = 0; i < schema->field_count; i++) {
        buffer_printf(&text, "%s  ", schema->fields[i].name);
        type_print_simple(&text, schema->fields[i].type);
        buffer_add_byte(&text, '\n');
    }
    const char *out = arena_strndup(world->arena, text.data, text.size_bytes);
    buffer_fini(&text);
    return out;
}

enum status world_start(struct world *world, enum world_run kind, struct error *err)
{
    CHECK(world->current != NULL && world->handle == NULL);
    for (size_t i = 0; i < world->query_count; i++)
        world->targets[i] =
            (struct collect_target){world->queries[i]->name, &world->queries[i]->sink->collected,
                                    &world->queries[i]->last_batch};
    sink_collect_targets(world->targets, world->query_count);
    if (world->root == NULL) /* a process of its own just dies */
        failpoint_set_crash_handler(on_crash, world);
    world->observer.progress = on_progress;
    world->observer.status = on_status;
    world->progress_count = 0;
    struct query_config config = {
        .vfs = world->vfs,
        .clock = world->clock,
        .log = world->log,
        .spec_json = bytes_of_text(world_spec(world, kind)),
        .parallelism = world->parallelism,
        .state_store = world->root == NULL ? STATE_STORE_MEMORY : STATE_STORE_ROCKSDB,
        .observer = &world->observer,
        .find_sink = sink_collect_find,
        .spill_always = world->spill,
    };
    enum status status = query_open(&config, &world->handle, err);
    if (status != OK) {
        world->handle = NULL;
        note(world, "start", err->text);
        if (world->crashed)
            after_death(world);
        return status;
    }
    world->schema_text = schema_lines(world, world->handle->schema);
    struct buffer plan = {0};
    plan_print_text(&plan, world->handle->plan);
    world->plan_text = arena_strdup(world->arena, buffer_text(&plan));
    buffer_fini(&plan);
    world->current->sink->schema = type_clone(world->arena, world->handle->schema);
    return OK;
}

static void note_batches(struct world *world, size_t from)
{
    for (size_t i = from; i < world->progress_count; i++) {
        json_t *document = json_loads(world->progress[i], 0, NULL);
        char line[200];
        json_t *times = json_object_get(document, "eventTime");
        (void)snprintf(line, sizeof(line), "batch %lld: %lld rows in, watermark %s",
                       (long long)json_integer_value(json_object_get(document, "batchId")),
                       (long long)json_integer_value(json_object_get(document, "numInputRows")),
                       json_is_string(json_object_get(times, "watermark"))
                           ? json_string_value(json_object_get(times, "watermark"))
                           : "none");
        note(world, "run", line);
        json_decref(document);
    }
    if (from == world->progress_count)
        note(world, "run", "nothing to do");
}

/* What an idle worker does after a while: the last COMMIT becomes durable. */
static enum status rest(struct query *query, struct error *err)
{
    enum step_outcome outcome;
    TRY(checkpoint_sync(query->checkpoint, err));
    return worker_step(query, &outcome, err);
}

static enum status steps(struct world *world, enum world_run kind, struct error *err)
{
    enum step_outcome outcome = STEP_RAN;
    world->handle->config.spill_always = world->spill;
    for (int i = 0; i < STEPS_MAX && outcome == STEP_RAN; i++) {
        TRY(worker_step(world->handle, &outcome, err));
        if (kind == RUN_STEP)
            return OK;
    }
    if (outcome == STEP_RAN)
        return error_set(err, SCENARIO_INVALID, "the query does not come to rest");
    return rest(world->handle, err);
}

void world_arm_fault(struct world *world, struct world_fault fault)
{
    world->fault = fault;
    if (world->root == NULL && fault.runs > 0)
        vfs_fault_arm_forever(world->vfs, fault.call, fault.nth, fault.errno_value);
    else if (world->root == NULL)
        vfs_fault_arm(world->vfs, fault.call, fault.nth, fault.errno_value);
}

void world_disarm(struct world *world)
{
    failpoint_reset();
    vfs_fault_disarm(world->vfs);
    world_fork_stop(world);
    world->armed = NULL;
    world->fault = (struct world_fault){.nth = 0};
}

bool world_forks(const struct world *world)
{
    return world->root != NULL && world->current != NULL &&
           (world->binary == NULL || strcasecmp(world->current->mode, "append") != 0);
}

enum status world_run(struct world *world, enum world_run kind, struct error *err)
{
    if (world->current == NULL)
        return error_set(err, SCENARIO_INVALID, "there is no query to run");
    if (world_forks(world))
        return world_run_forked(world, kind, err);
    return world->root != NULL ? world_run_process(world, kind, err)
                               : world_run_here(world, kind, err);
}

void world_note_run(struct world *world, size_t seen, const char *failure)
{
    note_batches(world, seen);
    if (failure != NULL)
        note(world, "run", failure);
}

enum status world_run_here(struct world *world, enum world_run kind, struct error *err)
{
    bool own_run = kind == RUN_AVAILABLE_NOW || kind == RUN_ONCE;
    if (own_run)
        world_stop(world);
    size_t seen = world->progress_count;
    if (world->handle == NULL) {
        TRY(world_start(world, kind, err));
        seen = 0;
    }
    if (kind == RUN_START)
        return OK;
    enum status status = steps(world, kind, err);
    if (world->crashed && status == OK)
        status = error_set(err, STATUS_FAILPOINT_REACHED, "the worker has died");
    note_batches(world, seen);
    if (status != OK) {
        note(world, "run", world->crashed ? "the worker died" : err->text);
        query_close(world->handle, false);
        world->handle = NULL;
        if (world->crashed)
            after_death(world);
    } else if (own_run) {
        world_stop(world);
    }
    return status;
}
