/*
 * The commands around a query's checkpoint: the start plan, the rewind, the state.
 */
#include "cli/command.h"

#include "base/check.h"
#include "base/path.h"

#include <stdio.h>
#include <stdlib.h>

static int usage(const char *problem)
{
    (void)fprintf(stderr, "error: %s\nSee: tidemill help\n", problem);
    return EXIT_USAGE;
}

static void print_problems(const json_t *plan)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(plan, "problems"), i, item)
    {
        (void)printf("  problem: [%s] %s\n", text_at(item, "condition"), text_at(item, "message"));
    }
    json_array_foreach(json_object_get(plan, "warnings"), i, item)
    {
        (void)printf("  warning: %s\n", text_at(item, "message"));
    }
}

static void print_reruns(const json_t *plan)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(plan, "reruns"), i, item)
    {
        (void)printf("  batch %lld runs again: %lld rows in, %lld rows out, sink: %s\n",
                     (long long)int_at(item, "batchId"), (long long)int_at(item, "numInputRows"),
                     (long long)int_at(item, "numOutputRows"), text_at(item, "sink"));
    }
}

static void print_plan(const json_t *plan)
{
    size_t i;
    json_t *item;
    (void)printf("next batch  %lld (%s: %s)\n", (long long)int_at(plan, "nextBatchId"),
                 text_at(plan, "kind"), text_at(plan, "reason"));
    (void)printf("duplicates  %s (%s)\n", text_at(plan, "duplicates"),
                 text_at(plan, "duplicatesReason"));
    print_reruns(plan);
    json_array_foreach(json_object_get(plan, "stateOperators"), i, item)
    {
        (void)printf("  state of %s: %s %s\n", text_at(item, "kind"), text_at(item, "verdict"),
                     text_at(item, "difference"));
    }
    print_problems(plan);
    (void)printf("possible    %s\n",
                 json_is_true(json_object_get(plan, "possible")) ? "yes" : "no");
}

/* A call whose document is printed by `print`, or as JSON. */
static int call_and_print(const struct options_given *given, const struct http_call *call,
                          void (*print)(const json_t *document))
{
    json_t *document = NULL;
    struct http_reply reply = {0};
    int code = EXIT_OK;
    call_server(given, call, &document, &reply, &code);
    if (code == EXIT_OK && given->json)
        print_json(document);
    else if (code == EXIT_OK)
        print(document);
    json_decref(document);
    http_reply_fini(&reply);
    return code;
}

int command_start_plan(const struct options_given *given)
{
    struct buffer path = {0};
    const struct http_call call = {
        .method = "POST",
        .path = query_path(given->target, "/start?validateOnly=true", &path),
        .body = bytes_of_text(""),
    };
    int code = call_and_print(given, &call, print_plan);
    buffer_fini(&path);
    return code;
}

static void print_rewind(const json_t *document)
{
    (void)printf("rewound to batch %lld (from %lld)\n", (long long)int_at(document, "toBatchId"),
                 (long long)int_at(document, "previousBatchId"));
    print_plan(json_object_get(document, "startPlan"));
}

static bool is_number(const char *text)
{
    char *end = NULL;
    if (text == NULL)
        return false;
    (void)strtoll(text, &end, 10);
    return end != text && *end == '\0';
}

int command_rewind(const struct options_given *given)
{
    struct buffer path = {0}, body = {0};
    if (!is_number(given->to_batch))
        return usage("tidemill rewind QUERY --to-batch N");
    buffer_printf(&body, "{\"toBatchId\":%lld}", strtoll(given->to_batch, NULL, 10));
    const struct http_call call = {
        .method = "POST",
        .path = query_path(given->target, "/rewind", &path),
        .body = buffer_bytes(&body),
    };
    int code = call_and_print(given, &call, print_rewind);
    buffer_fini(&path);
    buffer_fini(&body);
    return code;
}

static void print_rows(const json_t *document)
{
    const json_t *columns = json_object_get(document, "columns");
    size_t count = json_array_size(columns), c;
    json_t *column;
    if (count == 0)
        return;
    const char **names = calloc(count, sizeof *names);
    CHECK(names != NULL);
    json_array_foreach(columns, c, column)
    {
        names[c] = text_at(column, "name");
    }
    struct table table = {0};
    table_add_objects(&table, names, count, json_object_get(document, "rows"));
    table_print(&table);
    table_fini(&table);
    free((void *)names);
    if (json_is_true(json_object_get(document, "truncated")))
        (void)puts("... there is more: -n N");
}

static void print_operators(const json_t *document)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(document, "operators"), i, item)
    {
        (void)printf("%lld  %s (%s): %lld entries, %lld bytes\n",
                     (long long)int_at(item, "operatorId"), text_at(item, "kind"),
                     text_at(item, "name"), (long long)int_at(item, "entries"),
                     (long long)int_at(item, "bytes"));
    }
}

int command_state(const struct options_given *given)
{
    struct buffer path = {0}, suffix = {0};
    buffer_add_text(&suffix, "/state");
    if (given->operator_id != NULL)
        buffer_printf(&suffix, "/%s", given->operator_id);
    buffer_printf(&suffix, "?limit=%lld", (long long)(given->count == 0 ? 100 : given->count));
    if (given->batch != NULL)
        buffer_printf(&suffix, "&batchId=%s", given->batch);
    if (given->key != NULL) {
        buffer_add_text(&suffix, "&key=");
        percent_encode(&suffix, bytes_of_text(given->key), "");
    }
    const struct http_call call = {.method = "GET",
                                   .path = query_path(given->target, buffer_text(&suffix), &path)};
    int code =
        call_and_print(given, &call, given->operator_id == NULL ? print_operators : print_rows);
    buffer_fini(&path);
    buffer_fini(&suffix);
    return code;
}
