/*
 * See worker_process.h.
 */
#include "worker/worker_process.h"

#include "base/check.h"
#include "base/exit_code.h"
#include "base/failpoint.h"
#include "base/heap.h"
#include "base/path.h"
#include "base/vfs_posix.h"
#include "spec/error_text.h"
#include "worker/bounded.h"
#include "worker/results.h"
#include "worker/worker.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SPEC_BYTES_MAX    ((size_t)16 << 20)
#define RESULTS_KEPT_ROWS 100000

/* Reports to the server. */
struct server_observer {
    struct query_observer base;
    struct control *control;
};

static void send_status(struct query_observer *self, const struct query_status *status)
{
    struct server_observer *observer = (struct server_observer *)self;
    struct message message = {
        .kind = MESSAGE_STATE,
        .number = {status->is_data_available, status->is_trigger_active},
        .text = {bytes_of_text(status->phase), bytes_of_text(status->message), bytes_of_text("")},
    };
    control_send(observer->control, &message);
}

static void send_progress(struct query_observer *self, int64_t batch_id, int64_t output_rows,
                          struct bytes json)
{
    struct server_observer *observer = (struct server_observer *)self;
    struct message message = {
        .kind = MESSAGE_PROGRESS, .number = {batch_id, output_rows < 0}, .text = {json}};
    control_send(observer->control, &message);
    struct message batch = {.kind = MESSAGE_BATCH, .number = {batch_id, output_rows}};
    if (output_rows >= 0)
        control_send(observer->control, &batch);
}

static uint32_t processors(uint32_t wanted)
{
    cpu_set_t set;
    if (wanted > 0)
        return wanted;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int count = CPU_COUNT(&set);
    return count < 1 ? 1 : (uint32_t)count;
}

static enum status read_spec(struct arena *arena, const char *path, struct bytes *out,
                             struct error *err)
{
    if (strcmp(path, "-") != 0)
        return vfs_get(vfs_posix(), path, SPEC_BYTES_MAX, arena, out, err);
    struct buffer text = {0};
    for (;;) {
        uint8_t *room = buffer_reserve(&text, 65536);
        ssize_t got = read(STDIN_FILENO, room, 65536);
        if (got <= 0)
            break;
        text.size_bytes += (size_t)got;
        if (text.size_bytes > SPEC_BYTES_MAX) {
            buffer_fini(&text);
            return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "a query spec", "limit",
                               "16777216", NULL);
        }
    }
    *out = arena_copy(arena, buffer_bytes(&text));
    buffer_fini(&text);
    return OK;
}

static void say_hello(struct control *control, const struct query *query)
{
    struct message message = {
        .kind = MESSAGE_HELLO,
        .number = {MESSAGE_PROTOCOL_VERSION, getpid()},
        .text = {bytes_of_text(checkpoint_query_id(query->checkpoint)),
                 bytes_of_text(query->run_id), bytes_of_text(checkpoint_dir(query->checkpoint))},
    };
    control_send(control, &message);
}

static void send_plan(struct control *control, const struct query *query)
{
    struct buffer text = {0};
    struct buffer json = {0};
    plan_print_text(&text, query->plan);
    plan_print_json(&json, query->plan);
    struct message message = {.kind = MESSAGE_PLAN,
                              .text = {buffer_bytes(&text), buffer_bytes(&json)}};
    control_send(control, &message);
    buffer_fini(&text);
    buffer_fini(&json);
}

/* The documents that the log remembers, for a server that has forgotten them. */
static void send_history(struct control *control, const struct query *query)
{
    for (uint32_t i = 0; i < checkpoint_progress_count(query->checkpoint); i++) {
        struct message message = {.kind = MESSAGE_PROGRESS};
        message.text[0] = checkpoint_progress_at(query->checkpoint, i, &message.number[0]);
        control_send(control, &message);
    }
}

static void send_end(struct control *control, const struct error *err, const char *reason)
{
    char causes[MESSAGE_CAUSES_SIZE];
    struct message message = {.kind = MESSAGE_FINISHED, .text = {bytes_of_text(reason)}};
    if (err->status != OK)
        message_from_error(err, causes, &message);
    control_send(control, &message);
}

/* A wish to stop at once ends a batch with OPERATION_CANCELLED: that is no failure. */
static enum status loop(struct query *query, struct control *control, const char **reason,
                        struct error *err)
{
    enum status status = worker_loop(query, control, reason, err);
    if (status == STATUS_OPERATION_CANCELLED && control_stop_wish(control) == STOP_IMMEDIATE) {
        error_clear(err);
        *reason = "stopped";
        return OK;
    }
    return status;
}

/* <checkpoint>/spec.json: for people, and for the start plan and the view of the state, which say
 * less without it.  No run depends on it, so a disk that refuses it is met again by what has to be
 * durable. */
static void keep_spec(const struct query *query)
{
    struct error ignored = ERROR_INIT;
    const char *path = path_join(query->arena, checkpoint_dir(query->checkpoint), "spec.json");
    if (vfs_put(query->config.vfs, path, query->config.spec_json, false, &ignored) != OK)
        log_error_event(query->config.log, LOG_WARN, "spec_not_kept", &ignored, NULL);
}

static enum status run_query(const struct query_config *config, struct control *control,
                             void (*opened)(struct control *, const struct query *),
                             const char **reason, bool *was_open, struct error *err)
{
    struct query *query = NULL;
    TRY(query_open(config, &query, err));
    *was_open = true;
    keep_spec(query);
    control_watch(control, &query->cancelled);
    if (opened != NULL)
        opened(control, query);
    log_event(config->log, LOG_INFO, "query_started", NULL);
    enum status status = loop(query, control, reason, err);
    if (status == OK)
        log_event(config->log, LOG_INFO, "query_ended",
                  (struct log_field[]){log_text("reason", *reason), {0}});
    if (query->sink->ops->results != NULL) /* what the server keeps when the worker is gone */
        results_send(
            query, control,
            &(struct control_command){.kind = MESSAGE_READ_RESULTS, .rows = RESULTS_KEPT_ROWS});
    query_set_status(query, "STOPPED", status == OK ? "Stopped" : "Terminated with exception",
                     false);
    control_watch(control, NULL);
    query_close(query, status == OK && !atomic_load(&query->cancelled));
    return status;
}

static void greet(struct control *control, const struct query *query)
{
    say_hello(control, query);
    send_plan(control, query);
    send_history(control, query);
}

int worker_process_run(const struct worker_options *options)
{
    struct error err = ERROR_INIT;
    struct arena *arena = arena_new("worker", 0);
    struct log *log = NULL;
    struct control *control = NULL;
    const char *reason = "stopped";
    bool was_open = false;
    enum status status = OK;
    heap_keep_freed();
    TRY_OUT(failpoint_arm_environment(&err));
    TRY_OUT(log_open(options->log_file, options->log_level, clock_real(), &log, &err));
    TRY_OUT(control_open(options->socket_fd, &control, &err));
    struct server_observer observer = {.base = {.status = send_status, .progress = send_progress},
                                       .control = control};
    struct query_config config = {
        .vfs = vfs_posix(),
        .clock = clock_real(),
        .log = log,
        .query_id = options->query_id,
        .run_id = options->run_id,
        .default_checkpoint_dir = options->default_checkpoint_dir,
        .parallelism = processors(options->parallelism),
        .state_store = STATE_STORE_ROCKSDB,
        .observer = &observer.base,
    };
    TRY_OUT(read_spec(arena, options->spec_path, &config.spec_json, &err));
    TRY_OUT(run_query(&config, control, greet, &reason, &was_open, &err));
out:
    if (status != OK)
        log_error_event(log, LOG_ERROR, "query_failed", &err, NULL);
    if (control != NULL)
        send_end(control, &err, reason);
    control_close(control);
    log_close(log);
    arena_free(arena);
    return (int)exit_code_of_query(status, was_open);
}

/* Prints for a person, or one document per line. */
struct printing_observer {
    struct query_observer base;
    bool json;
};

static void print_progress(struct query_observer *self, int64_t batch_id, int64_t output_rows,
                           struct bytes json)
{
    const struct printing_observer *observer = (const struct printing_observer *)self;
    if (output_rows < 0)
        return;
    if (observer->json)
        (void)printf("%.*s\n", (int)json.size_bytes, (const char *)json.data);
    else
        (void)printf("batch %" PRId64 " committed\n", batch_id);
    (void)fflush(stdout);
}

static void print_error(const struct error *err, struct bytes spec_json)
{
    struct arena *arena = arena_new("error", 0);
    struct error ignored = ERROR_INIT; /* then there is no place to show */
    struct query_spec *spec = NULL;
    struct buffer out = {0};
    if (query_spec_parse(arena, spec_json, NULL, &spec, &ignored) != OK)
        spec = NULL;
    error_text_add(&out, "error", err, spec);
    (void)fwrite(out.data, 1, out.size_bytes, stderr);
    buffer_fini(&out);
    arena_free(arena);
}

/* Where a query without a checkpointLocation keeps it: by its name, so that two do not meet. */
static const char *own_checkpoint(struct arena *arena, const char *data_dir, struct bytes spec_json)
{
    struct error ignored = ERROR_INIT; /* query_open says what is wrong */
    struct query_spec *spec = NULL;
    bool named =
        query_spec_parse(arena, spec_json, NULL, &spec, &ignored) == OK && spec->name != NULL;
    return arena_sprintf(arena, "%s/checkpoints/%s", data_dir, named ? spec->name : "default");
}

static enum status run_streaming(const struct foreground_options *options, struct bytes spec_json,
                                 struct log *log, bool *was_open, struct error *err)
{
    struct control *control = NULL;
    const char *reason = "";
    TRY(control_open(-1, &control, err));
    struct printing_observer observer = {.base = {.progress = print_progress},
                                         .json = options->json};
    struct arena *arena = arena_new("run", 0);
    const char *dir = own_checkpoint(arena, options->data_dir, spec_json);
    struct query_config config = {
        .vfs = vfs_posix(),
        .clock = clock_real(),
        .log = log,
        .spec_json = spec_json,
        .default_checkpoint_dir = dir,
        .parallelism = processors(options->parallelism),
        .state_store = STATE_STORE_ROCKSDB,
        .observer = &observer.base,
    };
    enum status status = run_query(&config, control, NULL, &reason, was_open, err);
    control_close(control);
    arena_free(arena);
    return status;
}

int foreground_run(const struct foreground_options *options)
{
    struct error err = ERROR_INIT;
    struct arena *arena = arena_new("run", 0);
    struct log *log = NULL;
    struct bytes spec_json = {0};
    bool was_open = false;
    enum status status = OK;
    heap_keep_freed();
    TRY_OUT(failpoint_arm_environment(&err));
    TRY_OUT(log_open(options->log_file, options->log_level, clock_real(), &log, &err));
    TRY_OUT(read_spec(arena, options->spec_path, &spec_json, &err));
    if (options->bounded)
        status = bounded_print(spec_json, options->json, &was_open, &err);
    else
        status = run_streaming(options, spec_json, log, &was_open, &err);
out:
    if (status != OK)
        print_error(&err, spec_json);
    log_close(log);
    arena_free(arena);
    return (int)exit_code_of_query(status, was_open);
}
