#include "cli/command.h"

#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *name;
    int (*run)(const struct options_given *given);
    const char *target; /* what it needs, for the usage; NULL: nothing */
} commands[] = {
    {"submit", command_submit, "SPEC"},      {"ls", command_ls, NULL},
    {"get", command_get, "QUERY"},           {"start", command_start, "QUERY"},
    {"stop", command_stop, "QUERY"},         {"restart", command_restart, "QUERY"},
    {"progress", command_progress, "QUERY"}, {"status", command_status, "QUERY"},
    {"results", command_results, "QUERY"},   {"rm", command_rm, "QUERY"},
    {"rewind", command_rewind, "QUERY"},     {"state", command_state, "QUERY"},
    {"ready", command_ready, NULL},
};
#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

bool cli_knows(const char *command)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i].name, command) == 0)
            return true;
    }
    return false;
}

static int usage(const char *problem, const char *detail)
{
    (void)fprintf(stderr, "error: %s %s\nSee: tidemill help\n", problem, detail);
    return EXIT_USAGE;
}

/* The value of an option: "--name value" or "--name=value"; NULL if `arg` is another one. */
static const char *value_of(const char *name, int argc, char **argv, int *at)
{
    CHECK(*at < argc && argv[*at] != NULL);
    size_t size = strlen(name);
    if (strncmp(argv[*at], name, size) != 0)
        return NULL;
    if (argv[*at][size] == '=')
        return argv[*at] + size + 1;
    if (argv[*at][size] != '\0' || *at + 1 >= argc)
        return NULL;
    return argv[++*at];
}

static bool read_flag(const char *arg, struct options_given *given)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {
        {"-f", &given->follow},         {"--follow", &given->follow},
        {"--force", &given->force},     {"--purge", &given->purge},
        {"--stopped", &given->stopped}, {"--immediate", &given->immediate},
        {"--dry-run", &given->dry_run},
    };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (strcmp(arg, flags[i].name) == 0) {
            *flags[i].flag = true;
            return true;
        }
    }
    return false;
}

static bool read_value(int argc, char **argv, int *at, struct options_given *given, bool *good)
{
    const char *value = NULL;
    if ((value = value_of("--server", argc, argv, at)) != NULL) {
        given->client.server = value;
    } else if ((value = value_of("--token", argc, argv, at)) != NULL) {
        given->client.token = value;
    } else if ((value = value_of("-o", argc, argv, at)) != NULL) {
        given->json = strcmp(value, "json") == 0;
        *good = given->json || strcmp(value, "table") == 0;
    } else if ((value = value_of("--state", argc, argv, at)) != NULL) {
        given->state = value;
    } else if ((value = value_of("--to-batch", argc, argv, at)) != NULL) {
        given->to_batch = value;
    } else if ((value = value_of("--operator", argc, argv, at)) != NULL) {
        given->operator_id = value;
    } else if ((value = value_of("--batch", argc, argv, at)) != NULL) {
        given->batch = value;
    } else if ((value = value_of("--key", argc, argv, at)) != NULL) {
        given->key = value;
    } else if ((value = value_of("--label", argc, argv, at)) != NULL) {
        given->label = value;
    } else if ((value = value_of("--wait", argc, argv, at)) != NULL) {
        given->wait = value;
    } else if ((value = value_of("--timeout", argc, argv, at)) != NULL) {
        given->timeout_s = strtoll(value, NULL, 10);
        *good = given->timeout_s > 0;
    } else if ((value = value_of("-n", argc, argv, at)) != NULL) {
        given->count = strtoll(value, NULL, 10);
        *good = given->count > 0;
    }
    return value != NULL;
}

static void defaults(struct options_given *given)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the client has one thread
    const char *server = getenv("TIDEMILL_SERVER");
    // NOLINTNEXTLINE(concurrency-mt-unsafe): as above
    const char *token = getenv("TIDEMILL_TOKEN");
    *given = (struct options_given){0};
    given->client.server = server == NULL || *server == '\0' ? "http://127.0.0.1:8088" : server;
    given->client.token = token == NULL || *token == '\0' ? NULL : token;
}

static int no_option(const char *command, const char *option)
{
    char nearest[64];
    if (!cli_nearest_option(command, option, nearest, sizeof nearest))
        return usage("there is no option", option);
    (void)fprintf(stderr,
                  "error: there is no option %s. Did you mean %s?\nSee: tidemill %s --help\n",
                  option, nearest, command);
    return EXIT_USAGE;
}

int cli_main(int argc, char **argv)
{
    size_t command = 0;
    while (command < COMMAND_COUNT && strcmp(commands[command].name, argv[0]) != 0)
        command++;
    if (command == COMMAND_COUNT)
        return usage("there is no command", argv[0]);
    struct options_given given;
    defaults(&given);
    for (int at = 1; at < argc; at++) {
        bool good = true;
        const char *arg = argv[at];
        if (read_flag(arg, &given))
            continue;
        if (read_value(argc, argv, &at, &given, &good)) {
            if (!good)
                return usage("the value is not possible:", arg);
            continue;
        }
        if (arg[0] == '-' && arg[1] != '\0')
            return no_option(argv[0], arg);
        if (given.target != NULL)
            return usage("too many arguments:", arg);
        given.target = arg;
    }
    if (commands[command].target != NULL && given.target == NULL)
        return usage(argv[0], commands[command].target);
    if (commands[command].target == NULL && given.target != NULL)
        return usage("too many arguments:", given.target);
    return commands[command].run(&given);
}
