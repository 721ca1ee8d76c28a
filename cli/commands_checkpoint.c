/*
 * The commands around a query's checkpoint: the start plan, the rewind, the state.
 */
#include "cli/command.h"

#include "base/heap.h"
#include "base/path.h"

#include <stdio.h>
#include <stdlib.h>

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

/* "?" for what is not known. */
static const char *number_or(const json_t *object, const char *key, char out[24])
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value))
        return "?";
    (void)snprintf(out, 24, "%lld", (long long)json_integer_value(value));
    return out;
}

/* The sum of a number over elements; "?" if one is not known. */
static const char *sum_or(const json_t *list, size_t begin, size_t end, const char *key,
                          char out[24])
{
    long long sum = 0;
    for (size_t i = begin; i < end; i++) {
        const char *one = number_or(json_array_get(list, i), key, out);
        if (strcmp(one, "?") == 0)
            return one;
        sum += strtoll(one, NULL, 10);
    }
    (void)snprintf(out, 24, "%lld", sum);
    return out;
}

/* A line for those in a row of which the sink makes the same. */
static void print_reruns(const json_t *plan)
{
    const json_t *list = json_object_get(plan, "reruns");
    for (size_t begin = 0, end = 0; begin < json_array_size(list); begin = end) {
        const char *sink = text_at(json_array_get(list, begin), "sink");
        long long first = (long long)int_at(json_array_get(list, begin), "batchId");
        char in[24], out[24], batches[64];
        for (end = begin + 1; end < json_array_size(list); end++)
            if (strcmp(text_at(json_array_get(list, end), "sink"), sink) != 0)
                break;
        (void)snprintf(batches, sizeof batches, "batch %lld runs", first);
        if (end - begin > 1)
            (void)snprintf(batches, sizeof batches, "batches %lld to %lld run", first,
                           first + (long long)(end - begin) - 1);
        (void)printf("  %s again: %s rows in, %s rows out, sink: %s\n", batches,
                     sum_or(list, begin, end, "numInputRows", in),
                     sum_or(list, begin, end, "numOutputRows", out), sink);
    }
    if (json_is_true(json_object_get(plan, "rerunsTruncated")))
        (void)puts("  and those after them");
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

/* That of a start which fails as the plan says: by the first of its problems. */
static int plan_exit_code(const json_t *plan)
{
    if (!json_is_false(json_object_get(plan, "possible")))
        return EXIT_OK;
    const json_t *first = json_array_get(json_object_get(plan, "problems"), 0);
    enum status status = status_find(text_at(first, "condition"));
    return status == OK ? EXIT_FAILED_QUERY : (int)exit_code_of_query(status, false);
}

int command_start_plan(const struct given *given)
{
    struct buffer path = {0};
    const struct http_call call = {
        .method = "POST",
        .path = query_path(given->target, "/start?validateOnly=true", &path),
        .body = bytes_of_text(""),
    };
    json_t *plan = NULL;
    struct http_reply reply = {0};
    int code = EXIT_OK;
    call_server(given, &call, &plan, &reply, &code);
    if (code == EXIT_OK) {
        given->json ? print_json_text(buffer_bytes(&reply.body)) : print_plan(plan);
        code = plan_exit_code(plan);
    }
    json_decref(plan);
    http_reply_fini(&reply);
    buffer_fini(&path);
    return code;
}

static void print_rewind(const json_t *document)
{
    (void)printf("rewound to batch %lld (from %lld)\n", (long long)int_at(document, "toBatchId"),
                 (long long)int_at(document, "previousBatchId"));
    print_plan(json_object_get(document, "startPlan"));
}

int command_rewind(const struct given *given)
{
    struct buffer path = {0}, body = {0};
    bool good = true;
    int64_t to_batch = arguments_number(given->arguments, CLI_TO_BATCH, -1, -1, &good);
    if (!good)
        return EXIT_USAGE;
    if (!has(given, CLI_TO_BATCH))
        return (int)cli_usage(given->arguments->command, "it needs --to-batch N", "");
    buffer_printf(&body, "{\"toBatchId\":%lld}", (long long)to_batch);
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

/* A row of a join is of one side: the other's columns, which may have the same names, are not its.
 */
static const json_t *value_in(const json_t *row, const json_t *column)
{
    const char *role = text_at(column, "role"), *side = text_at(row, "side");
    bool is_left = strcmp(side, "left") == 0, is_right = strcmp(side, "right") == 0;
    if ((is_left && strcmp(role, "right") == 0) || (is_right && strcmp(role, "left") == 0))
        return NULL;
    return json_object_get(row, text_at(column, "name"));
}

static void print_rows(const json_t *document)
{
    const json_t *columns = json_object_get(document, "columns");
    size_t count = json_array_size(columns), c, r;
    json_t *column, *row;
    if (count == 0)
        return;
    const char **names = heap_calloc(count, sizeof *names);
    json_array_foreach(columns, c, column)
    {
        names[c] = text_at(column, "name");
    }
    const json_t **values = heap_calloc(count, sizeof *values);
    struct table table = {.columns = count};
    table_add(&table, names);
    json_array_foreach(json_object_get(document, "rows"), r, row)
    {
        json_array_foreach(columns, c, column)
        {
            values[c] = value_in(row, column);
        }
        table_add_values(&table, values);
    }
    table_print(&table);
    table_fini(&table);
    free((void *)values);
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

void cli_print_state(struct bytes json, bool operators)
{
    json_t *document = operators ? json_loadb((const char *)json.data, json.size_bytes,
                                              JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL)
                                 : load_rows(json);
    if (operators)
        print_operators(document);
    else
        print_rows(document);
    json_decref(document);
}

int command_state(const struct given *given)
{
    struct buffer path = {0}, suffix = {0};
    bool good = true;
    int64_t operator_id = arguments_number(given->arguments, CLI_OPERATOR, -1, 0, &good);
    int64_t batch = arguments_number(given->arguments, CLI_BATCH, -1, 0, &good);
    if (!good)
        return EXIT_USAGE;
    buffer_add_text(&suffix, "/state");
    if (operator_id >= 0)
        buffer_printf(&suffix, "/%lld", (long long)operator_id);
    buffer_printf(&suffix, "?limit=%lld", (long long)(given->count == 0 ? 100 : given->count));
    if (batch >= 0)
        buffer_printf(&suffix, "&batchId=%lld", (long long)batch);
    if (has(given, CLI_KEY)) {
        buffer_add_text(&suffix, "&key=");
        percent_encode(&suffix, bytes_of_text(value_of(given, CLI_KEY)), "");
    }
    const struct http_call call = {.method = "GET",
                                   .path = query_path(given->target, buffer_text(&suffix), &path)};
    json_t *document = NULL;
    struct http_reply reply = {0};
    int code = EXIT_OK;
    call_server(given, &call, &document, &reply, &code);
    if (code == EXIT_OK && given->json)
        print_json_text(buffer_bytes(&reply.body));
    else if (code == EXIT_OK)
        cli_print_state(buffer_bytes(&reply.body), operator_id < 0 && !has(given, CLI_KEY));
    json_decref(document);
    http_reply_fini(&reply);
    buffer_fini(&path);
    buffer_fini(&suffix);
    return code;
}
