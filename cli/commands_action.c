/*
 * What can be asked of a query, and what it says of itself.
 */
#include "cli/command.h"

#include "base/options.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define LONG_WAIT_S 60

static void print_error(const char *label, const json_t *error)
{
    (void)printf("  %-12s [%s] %s\n", label, text_at(error, "condition"), text_at(error, "detail"));
}

/* That the worker runs an older spec than the one that was stored last. */
void print_waiting_spec(const json_t *status)
{
    long long now = int_at(status, "runningGeneration"), next = int_at(status, "generation");
    if (json_is_integer(json_object_get(status, "runningGeneration")) && now != next)
        (void)printf("  spec         generation %lld runs; %lld waits for the next start (at once: "
                     "apply --now)\n",
                     now, next);
}

/* Name, state and why; then what it failed with and when it tries again. */
void print_status(const json_t *status)
{
    const char *state = text_at(status, "state");
    const json_t *first = json_object_get(status, "firstError");
    const json_t *last = json_object_get(status, "lastError");
    (void)printf("%s: %s", text_at(status, "name"), state);
    if (*text_at(status, "stateReason") != '\0')
        (void)printf(" (%s)", text_at(status, "stateReason"));
    if (*text_at(status, "phase") != '\0')
        (void)printf(", %s", text_at(status, "message"));
    (void)putchar('\n');
    if (json_is_integer(json_object_get(status, "lastBatchId")))
        (void)printf("  last batch   %lld\n", (long long)int_at(status, "lastBatchId"));
    bool running = strcmp(state, "RUNNING") == 0; /* again: the error is not that of this run */
    bool failing = strcmp(state, "FAILED") == 0 || int_at(status, "attempt") > 0;
    if (json_is_object(last) && failing)
        print_error(running ? "run before" : "error", last);
    if (json_is_object(first) && failing && !running &&
        strcmp(text_at(first, "detail"), text_at(last, "detail")) != 0)
        print_error("first error", first);
    if (*text_at(status, "nextRetryAt") != '\0')
        (void)printf("  next retry   %s, attempt %lld\n", text_at(status, "nextRetryAt"),
                     (long long)int_at(status, "attempt"));
    print_waiting_spec(status);
    if (json_is_false(json_object_get(status, "desiredStateDurable")))
        (void)puts("  the disk refuses the record of this query: a restart of the server would not "
                   "know the wish");
}

/* A call whose answer is a status object. */
static int call_action(const struct given *given, const struct http_call *call)
{
    json_t *document = NULL;
    struct http_reply reply = {0};
    int code = EXIT_OK;
    call_server(given, call, &document, &reply, &code);
    if (code == EXIT_OK && given->json)
        print_json(document);
    else if (code == EXIT_OK)
        print_status(document);
    if (code == EXIT_OK && has(given, CLI_WAIT) &&
        strcmp(text_at(document, "state"), "FAILED") == 0)
        code = EXIT_FAILED_QUERY; /* it was waited for, and this is what came */
    if (code == EXIT_OK && json_is_object(json_object_get(document, "exception")))
        code = EXIT_FAILED_QUERY;
    json_decref(document);
    http_reply_fini(&reply);
    return code;
}

static int action(const struct given *given, const char *suffix, const char *body)
{
    struct buffer path = {0};
    const struct http_call call = {
        .method = "POST",
        .path = query_path(given->target, suffix, &path),
        .body = bytes_of_text(body),
        .wait_seconds = has(given, CLI_WAIT) ? LONG_WAIT_S : 0,
    };
    int code = call_action(given, &call);
    buffer_fini(&path);
    return code;
}

int command_start(const struct given *given)
{
    if (has(given, CLI_DRY_RUN))
        return command_start_plan(given);
    return action(given, "/start", "");
}

int command_stop(const struct given *given)
{
    return action(given, "/stop", has(given, CLI_IMMEDIATE) ? "{\"mode\":\"immediate\"}" : "");
}

int command_restart(const struct given *given)
{
    return action(given, "/restart", has(given, CLI_IMMEDIATE) ? "{\"mode\":\"immediate\"}" : "");
}

/* Actions whose answer comes when it is done, however long that takes. */
static int patient_action(const struct given *given, const char *suffix)
{
    struct buffer path = {0}, body = {0};
    if (given->timeout_s > 0)
        buffer_printf(&body, "{\"timeout\":%lld}", (long long)given->timeout_s);
    const struct http_call call = {
        .method = "POST",
        .path = query_path(given->target, suffix, &path),
        .body = buffer_bytes(&body),
        .patient = true,
    };
    int code = call_action(given, &call);
    buffer_fini(&path);
    buffer_fini(&body);
    return code;
}

int command_trigger(const struct given *given)
{
    return patient_action(given, "/trigger");
}

int command_process_all(const struct given *given)
{
    return patient_action(given, "/processAllAvailable");
}

int command_await(const struct given *given)
{
    return patient_action(given, "/awaitTermination");
}

bool state_is_ended(const char *state)
{
    return strcmp(state, "STOPPED") == 0 || strcmp(state, "FAILED") == 0 ||
           strcmp(state, "FINISHED") == 0;
}

int check_state(const struct given *given, enum cli_option option)
{
    static const char *const states[] = {"STOPPED",  "STARTING", "RUNNING",  "STOPPING",
                                         "RETRYING", "FAILED",   "FINISHED", "UNKNOWN"};
    const size_t count = sizeof states / sizeof states[0];
    const char *state = value_of(given, option);
    for (size_t i = 0; state != NULL && i < count; i++)
        if (strcmp(states[i], state) == 0)
            return EXIT_OK;
    if (state == NULL)
        return EXIT_OK;
    const char *nearest = nearest_name(state, states, count);
    struct buffer detail = {0};
    buffer_add_text(&detail, state);
    if (nearest != NULL)
        buffer_printf(&detail, ". Did you mean %s?", nearest);
    int code = (int)cli_usage(given->arguments->command,
                              "a state is STOPPED, STARTING, RUNNING, STOPPING, RETRYING, FAILED, "
                              "FINISHED or UNKNOWN, not",
                              buffer_text(&detail));
    buffer_fini(&detail);
    return code;
}

static double seconds_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Waits until the query is in the wished state; a query that ended elsewhere will not come. */
static int wait_for_state(const struct given *given, const char *path)
{
    const char *wished = value_of(given, CLI_WAIT_STATE);
    double until = given->timeout_s > 0 ? seconds_now() + (double)given->timeout_s : 1e300;
    char etag[64] = "";
    int code = EXIT_OK;
    for (bool done = false; !done;) {
        double left = until - seconds_now();
        int wait = left < LONG_WAIT_S ? (int)left : LONG_WAIT_S;
        json_t *status = NULL;
        struct http_reply reply = {0};
        struct http_call call = {.method = "GET",
                                 .path = path,
                                 .wait_seconds = *etag == '\0' || wait < 1 ? 0 : wait,
                                 .if_none_match = *etag == '\0' ? NULL : etag};
        call_server(given, &call, &status, &reply, &code);
        const char *state = text_at(status, "state");
        if (*reply.etag != '\0')
            (void)snprintf(etag, sizeof etag, "%s", reply.etag);
        if (code != EXIT_OK) {
            done = true;
        } else if (strcmp(state, wished) == 0 || state_is_ended(state)) {
            given->json ? print_json(status) : print_status(status);
            code = strcmp(state, wished) == 0     ? EXIT_OK
                   : strcmp(state, "FAILED") == 0 ? EXIT_FAILED_QUERY
                                                  : EXIT_CONFLICT;
            done = true;
        } else if (seconds_now() >= until) {
            (void)fprintf(stderr, "error: the query is not %s within %lld s\n", wished,
                          (long long)given->timeout_s);
            code = EXIT_TIMED_OUT;
            done = true;
        }
        json_decref(status);
        http_reply_fini(&reply);
    }
    return code;
}

int command_status(const struct given *given)
{
    struct buffer path = {0};
    const char *text = query_path(given->target, "/status", &path);
    const char *wished = value_of(given, CLI_WAIT_STATE);
    int code = check_state(given, CLI_WAIT_STATE);
    if (code == EXIT_OK && wished != NULL) {
        code = wait_for_state(given, text);
    } else if (code == EXIT_OK) {
        const struct http_call call = {.method = "GET", .path = text};
        code = call_action(given, &call);
    }
    buffer_fini(&path);
    return code;
}
