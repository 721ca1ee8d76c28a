#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(const struct given *given);
} commands[] = {
    {"submit", command_submit},
    {"apply", command_apply},
    {"ls", command_ls},
    {"get", command_get},
    {"start", command_start},
    {"stop", command_stop},
    {"restart", command_restart},
    {"rm", command_rm},
    {"trigger", command_trigger},
    {"processAllAvailable", command_process_all},
    {"awaitTermination", command_await},
    {"status", command_status},
    {"progress", command_progress},
    {"batches", command_batches},
    {"runs", command_runs},
    {"plan", command_plan},
    {"results", command_results},
    {"state", command_state},
    {"rewind", command_rewind},
    {"ready", command_ready},
    {"call", command_call},
};

/* The option, or the variable of the environment, or `absent`. */
static const char *option_or_environment(const struct arguments *arguments, enum cli_option option,
                                         const char *variable, const char *absent)
{
    if (arguments->value[option] != NULL)
        return arguments->value[option];
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the client has one thread
    const char *value = getenv(variable);
    return value == NULL || *value == '\0' ? absent : value;
}

/* False: something is wrong, and standard error says what. */
static bool take(const struct arguments *arguments, struct given *out)
{
    bool good = true;
    *out = (struct given){
        .arguments = arguments,
        .client.server = option_or_environment(arguments, CLI_SERVER, "TIDEMILL_SERVER",
                                               "http://127.0.0.1:8088"),
        .client.token = option_or_environment(arguments, CLI_TOKEN, "TIDEMILL_TOKEN", NULL),
        .target = arguments->target[0],
        .json = arguments_json(arguments),
        .count = arguments_number(arguments, CLI_COUNT, 0, 1, &good),
        .timeout_s = arguments_number(arguments, CLI_TIMEOUT, 0, 1, &good),
    };
    return good;
}

int cli_run(const struct arguments *arguments)
{
    struct given given;
    if (!take(arguments, &given))
        return EXIT_USAGE;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, arguments->command->name) == 0)
            return commands[i].run(&given);
    return EXIT_USAGE;
}

static void print_validation(const struct given *given, const json_t *answer)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(answer, "diagnostics"), i, item)
    {
        print_diagnostic(item, given->spec);
    }
    if (!json_is_true(json_object_get(answer, "valid")))
        return;
    json_array_foreach(json_object_get(answer, "statefulOperators"), i, item)
    {
        bool bounded = json_is_true(json_object_get(item, "bounded"));
        (void)printf("state of %s (operator %lld): %s, because %s\n", text_at(item, "kind"),
                     (long long)int_at(item, "operatorId"),
                     bounded ? "bounded" : "grows without limit", text_at(item, "reason"));
    }
    bool once = strcmp(text_at(answer, "delivery"), "exactlyOnce") == 0;
    (void)printf("valid; delivery: %s\n%s", once ? "exactly once" : "at least once",
                 text_at(answer, "planText"));
}

int cli_validate(const struct arguments *arguments)
{
    struct given given;
    struct buffer spec = {0};
    json_t *document = NULL;
    struct http_reply reply = {0};
    if (!take(arguments, &given))
        return EXIT_USAGE;
    int code = cli_read_spec(given.target, &spec);
    given.spec = buffer_bytes(&spec);
    const struct http_call call = {.method = "POST", .path = "/v1/validate", .body = given.spec};
    if (code == EXIT_OK)
        call_server(&given, &call, &document, &reply, &code);
    if (code == EXIT_OK && given.json)
        print_json_text(buffer_bytes(&reply.body));
    else if (code == EXIT_OK)
        print_validation(&given, document);
    if (code == EXIT_OK && !json_is_true(json_object_get(document, "valid")))
        code = EXIT_INVALID;
    json_decref(document);
    http_reply_fini(&reply);
    buffer_fini(&spec);
    return code;
}

static void print_pairs(const json_t *document)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)document, key, value)
    {
        char *text = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY);
        (void)printf("%-14s %s\n", key, text == NULL ? json_string_value(value) : text);
        free(text);
    }
}

int cli_checkpoint(const struct arguments *arguments, bool verify)
{
    struct given given;
    struct buffer path = {0};
    if (!take(arguments, &given))
        return EXIT_USAGE;
    const struct http_call call = {
        .method = verify ? "POST" : "GET",
        .path = query_path(value_of(&given, CLI_QUERY),
                           verify ? "/checkpoint/verify" : "/checkpoint", &path),
    };
    int code = call_and_print(&given, &call, print_pairs);
    buffer_fini(&path);
    return code;
}

void cli_print_json(struct bytes json)
{
    print_json_text(json);
}
