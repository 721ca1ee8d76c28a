#include "api/http/request.h"

#include "api/api.h"
#include "base/check.h"
#include "base/duration.h"
#include "base/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void response_header(struct response *response, const char *name, const char *value)
{
    CHECK(response->header_count < RESPONSE_HEADERS_MAX);
    response->header[response->header_count++] = (struct response_header){name, value};
}

const char *request_argument(const struct request *request, const char *name)
{
    for (size_t i = request->argument_count; i-- > 0;) {
        if (strcmp(request->argument[i].name, name) == 0)
            return request->argument[i].value;
    }
    return NULL;
}

/* " It takes a, b, c." */
static const char *known_names(struct arena *arena, const char *const *names)
{
    const char *list = names[0] == NULL ? "none" : names[0];
    for (size_t i = 1; names[0] != NULL && names[i] != NULL; i++)
        list = arena_sprintf(arena, "%s, %s", list, names[i]);
    return arena_sprintf(arena, " It takes %s.", list);
}

enum status request_check_arguments(const struct request *request, const char *const *names,
                                    struct error *err)
{
    size_t count = 0;
    while (names[count] != NULL)
        count++;
    for (size_t i = 0; i < request->argument_count; i++) {
        const char *name = request->argument[i].name;
        bool known = false;
        for (size_t j = 0; j < count && !known; j++)
            known = strcmp(names[j], name) == 0;
        if (known)
            continue;
        const char *nearest = nearest_name(name, names, count);
        const char *hint = nearest == NULL
                               ? known_names(request->arena, names)
                               : arena_sprintf(request->arena, " Did you mean %s?", nearest);
        return error_raise(err, STATUS_UNKNOWN_PARAMETER, "parameter", name, "hint", hint, NULL);
    }
    return OK;
}

static enum status invalid(const char *name, const char *value, const char *expected,
                           struct error *err)
{
    return error_raise(err, STATUS_INVALID_PARAMETER, "parameter", name, "value", value, "expected",
                       expected, NULL);
}

enum status request_bool(const struct request *request, const char *name, bool *out,
                         struct error *err)
{
    const char *value = request_argument(request, name);
    if (value == NULL)
        return OK;
    if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0 && *value != '\0')
        return invalid(name, value, "true or false", err);
    *out = *value != 'f';
    return OK;
}

enum status request_int(const struct request *request, const char *name, int64_t min, int64_t max,
                        int64_t *out, struct error *err)
{
    const char *value = request_argument(request, name);
    if (value == NULL)
        return OK;
    char *end = NULL;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || number < min || number > max) {
        char expected[80];
        (void)snprintf(expected, sizeof expected, "an integer from %lld to %lld", (long long)min,
                       (long long)max);
        return invalid(name, value, expected, err);
    }
    *out = number;
    return OK;
}

/* Long unit names as people write them; the short ones are base/duration's. */
static const struct {
    const char *word;
    const char *unit;
} units[] = {{"milliseconds", "ms"}, {"millisecond", "ms"}, {"seconds", "s"}, {"second", "s"},
             {"minutes", "m"},       {"minute", "m"},       {"hours", "h"},   {"hour", "h"},
             {"days", "d"},          {"day", "d"}};

enum status request_duration(const char *name, const char *text, int64_t *out_us, struct error *err)
{
    char copy[64];
    size_t digits = strspn(text, "0123456789");
    size_t blanks = strspn(text + digits, " ");
    const char *unit = text + digits + blanks;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(units[i].word, unit) == 0) {
            unit = units[i].unit;
            break;
        }
    }
    struct error ignored = ERROR_INIT;
    if (digits > 0 && digits < 18) {
        (void)snprintf(copy, sizeof copy, "%.*s%s", (int)digits, text, unit);
        if (duration_parse_short_us(copy, 1000000, out_us, &ignored) == OK) {
            if (*out_us > REQUEST_DURATION_MAX_US)
                *out_us = REQUEST_DURATION_MAX_US;
            return OK;
        }
    }
    return invalid(name, text, "a duration such as '10 seconds' or '500 ms'", err);
}

int64_t request_now_us(const struct request *request)
{
    return clock_monotonic_us(control_clock(request->api->control));
}

enum status request_command(struct request *request, struct command *take_command,
                            int64_t timeout_us, const char *what, const struct command **out,
                            struct error *err)
{
    *out = NULL;
    struct control *control = request->api->control;
    if (request->command == NULL) {
        CHECK(take_command != NULL);
        take_command->wake = request->api->wake;
        take_command->wake_ctx = request;
        request->command = take_command;
        TRY(control_post(control, take_command, err));
    }
    if (command_is_done(request->command)) {
        if (request->command->error.status != OK) {
            *err = request->command->error;
            return err->status;
        }
        *out = request->command;
        return OK;
    }
    int64_t until = timeout_us >= INT64_MAX / 2 ? INT64_MAX : request->arrived_us + timeout_us;
    if (request_now_us(request) >= until) {
        char seconds[32];
        (void)snprintf(seconds, sizeof seconds, "%.3g", (double)timeout_us / 1e6);
        return error_raise(err, STATUS_REQUEST_TIMEOUT, "what", what, "seconds", seconds, NULL);
    }
    request->waiting = true;
    request->watch = NULL;
    request->wait_until_us = until;
    return OK;
}

void request_wait(struct request *request, const char *query, int64_t until_us)
{
    request->waiting = true;
    request->watch = query;
    request->wait_until_us = until_us;
}

void request_fini(struct request *request)
{
    if (request->command != NULL)
        control_forget(request->api->control, request->command);
    request->command = NULL;
}
