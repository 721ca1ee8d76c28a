/*
 * tidemill checkpoint: looking into one, and rewinding it, without a server.
 */
#include "base/failpoint.h"
#include "base/path.h"
#include "base/vfs_posix.h"
#include "checkpoint/inspect.h"
#include "checkpoint/rewind.h"
#include "cli/cli.h"
#include "control/batch_files.h"
#include "main.h"
#include "sink/sink.h"
#include "spec/query_spec.h"

#include <stdio.h>
#include <string.h>

#define SPEC_BYTES_MAX ((size_t)64 << 20)

/* What is printed if the status is OK.  Returns the exit code. */
static int finish(struct buffer *out, bool json, const struct error *err)
{
    if (err->status == OK && json)
        cli_print_json(buffer_bytes(out));
    else if (err->status == OK)
        (void)fwrite(out->data, 1, out->size_bytes, stdout);
    buffer_fini(out);
    return exit_code_of(err);
}

/* The spec that the checkpoint's query had: given, beside the checkpoint, or with the server whose
 * data directory it is in. */
static enum status find_spec(struct arena *arena, const char *dir, const char *given,
                             struct bytes *out, struct error *err)
{
    if (given != NULL)
        return vfs_get(vfs_posix(), given, SPEC_BYTES_MAX, arena, out, err);
    size_t size = strlen(dir);
    while (size > 1 && dir[size - 1] == '/')
        size--;
    const char *name = dir + size;
    while (name > dir && name[-1] != '/')
        name--;
    const char *const places[] = {
        path_join(arena, dir, "spec.json"),
        arena_sprintf(arena, "%s/../../queries/%.*s/spec.json", dir, (int)(dir + size - name),
                      name),
    };
    for (size_t i = 0; i < 2; i++) {
        struct error ignored = ERROR_INIT;
        if (vfs_get(vfs_posix(), places[i], SPEC_BYTES_MAX, arena, out, &ignored) == OK)
            return OK;
    }
    return error_raise(err, STATUS_FILE_NOT_FOUND, "path",
                       arena_sprintf(arena, "%s (or say --spec FILE)", places[0]), NULL);
}

/* What the file sink of the checkpoint's query shows, if a spec says where it is. */
static int64_t sink_newest(struct arena *arena, const char *dir)
{
    struct error ignored = ERROR_INIT;
    struct bytes json;
    struct query_spec *spec = NULL;
    if (find_spec(arena, dir, NULL, &json, &ignored) != OK ||
        query_spec_parse(arena, json, NULL, &spec, &ignored) != OK || !spec->has_sink)
        return SINK_CANNOT_TELL;
    const char *path = options_get(&spec->sink.options, "path");
    return batch_files_newest(vfs_posix(), dir, path == NULL ? NULL : path_absolute(arena, path));
}

static enum status verify_dir(const char *dir, enum checkpoint_form form, struct buffer *out,
                              struct error *err)
{
    struct arena *arena = arena_new("request", 0);
    int64_t sink_last = sink_newest(arena, dir); /* before the log is read */
    enum status status = checkpoint_verify(vfs_posix(), dir, sink_last, form, out, err);
    arena_free(arena);
    return status;
}

/* The directory is given, or --query and a server to ask. */
static int look(const struct arguments *arguments, bool verify)
{
    struct buffer out = {0};
    struct error err = ERROR_INIT;
    const char *dir = arguments->target[0];
    bool json = arguments_json(arguments);
    enum checkpoint_form form = json ? CHECKPOINT_JSON : CHECKPOINT_TEXT;
    if ((dir == NULL) == (arguments->value[CLI_QUERY] == NULL))
        return (int)cli_usage(arguments->command, "it takes either DIR or --query QUERY", "");
    if (dir == NULL)
        return cli_checkpoint(arguments, verify);
    if (verify ? verify_dir(dir, form, &out, &err) != OK
               : checkpoint_show(vfs_posix(), dir, form, &out, &err) != OK)
        buffer_clear(&out);
    return finish(&out, json, &err);
}

int command_checkpoint_show(const struct arguments *arguments, struct config *config)
{
    (void)config;
    return look(arguments, false);
}

int command_checkpoint_verify(const struct arguments *arguments, struct config *config)
{
    (void)config;
    return look(arguments, true);
}

static enum status rewind_to(struct arena *arena, const char *dir, int64_t batch, bool json,
                             struct buffer *out, struct error *err)
{
    struct rewind_outcome outcome;
    const struct rewind_request request = {
        .vfs = vfs_posix(), .clock = clock_real(), .dir = dir, .to_batch = batch};
    TRY(failpoint_arm_environment(err));
    TRY(checkpoint_rewind(arena, &request, &outcome, err));
    if (json) {
        rewind_outcome_print(&outcome, out);
        buffer_add_text(out, "}");
        return OK;
    }
    buffer_printf(out, "rewound to batch %lld (from %lld); the next batch is %lld\n",
                  (long long)outcome.to_batch, (long long)outcome.last_batch,
                  (long long)outcome.to_batch + 1);
    if (outcome.replay_end > outcome.to_batch + 1)
        buffer_printf(out, "batches %lld to %lld run again with the input that they had\n",
                      (long long)outcome.to_batch + 1, (long long)outcome.replay_end - 1);
    return OK;
}

int command_checkpoint_rewind(const struct arguments *arguments, struct config *config)
{
    (void)config;
    bool good = true, json = arguments_json(arguments);
    struct buffer out = {0};
    struct error err = ERROR_INIT;
    int64_t batch = arguments_number(arguments, CLI_TO_BATCH, NO_BATCH, NO_BATCH, &good);
    if (!good)
        return EXIT_USAGE;
    if (arguments->value[CLI_TO_BATCH] == NULL)
        return (int)cli_usage(arguments->command, "it needs --to-batch N", "");
    struct arena *arena = arena_new("request", 0);
    if (rewind_to(arena, arguments->target[0], batch, json, &out, &err) != OK)
        buffer_clear(&out);
    arena_free(arena);
    return finish(&out, json, &err);
}

/* Prints the rows of `document` below each other; the operators if no one was asked for. */
static enum status state_of(struct arena *arena, const struct arguments *arguments,
                            const struct engine_state_request *request, struct buffer *out,
                            struct error *err)
{
    struct engine_query query = {
        .vfs = vfs_posix(), .clock = clock_real(), .checkpoint = arguments->target[0]};
    struct buffer shown = {0};
    TRY(checkpoint_show(vfs_posix(), query.checkpoint, CHECKPOINT_JSON, &shown, err));
    buffer_fini(&shown);
    TRY(find_spec(arena, query.checkpoint, arguments->value[CLI_SPEC], &query.spec_json, err));
    return engine.state(&query, request, out, err);
}

int command_checkpoint_state(const struct arguments *arguments, struct config *config)
{
    (void)config;
    bool good = true;
    struct buffer out = {0};
    struct error err = ERROR_INIT;
    const struct engine_state_request request = {
        .operator_id = arguments_number(arguments, CLI_OPERATOR, -1, 0, &good),
        .batch_id = arguments_number(arguments, CLI_BATCH, -1, 0, &good),
        .limit = (uint32_t)arguments_number(arguments, CLI_COUNT, 100, 1, &good),
        .key = arguments->value[CLI_KEY],
    };
    if (!good)
        return EXIT_USAGE;
    struct arena *arena = arena_new("request", 0);
    enum status status = state_of(arena, arguments, &request, &out, &err);
    if (status == OK && !arguments_json(arguments))
        cli_print_state(buffer_bytes(&out), request.operator_id < 0 && request.key == NULL);
    else if (status == OK)
        cli_print_json(buffer_bytes(&out));
    arena_free(arena);
    buffer_fini(&out);
    return exit_code_of(&err);
}
