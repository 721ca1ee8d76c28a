#include "cli/arguments.h"

#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int count_words(const char *text, bool required_only)
{
    int count = 0;
    for (const char *at = text; *at != '\0';) {
        size_t size = strcspn(at, " ");
        count += !required_only || *at != '[';
        at += size + (at[size] == ' ');
    }
    return count;
}

/* The option of the command that `arg` names; *joined is what follows '=', or NULL. */
static enum cli_option find_option(const struct cli_command *command, const char *arg,
                                   const char **joined)
{
    size_t size = strcspn(arg, "=");
    *joined = arg[size] == '=' ? arg + size + 1 : NULL;
    const struct cli_option_use *use = command->options;
    for (; use != NULL && use->option != CLI_END; use++) {
        const struct cli_option_text *text = cli_option_text(use->option);
        const char *const names[] = {text->name, text->other};
        for (size_t i = 0; i < 2; i++)
            if (names[i] != NULL && strlen(names[i]) == size && memcmp(names[i], arg, size) == 0)
                return use->option;
    }
    return CLI_END;
}

/* Takes the option at argv[*at] and, if it has one, its value. */
static enum exit_code take_option(struct arguments *out, int argc, char **argv, int *at)
{
    const char *joined = NULL;
    const char *arg = argv[*at];
    enum cli_option option = find_option(out->command, arg, &joined);
    if (option == CLI_END)
        return cli_no_option(out->command, arg);
    bool is_flag = cli_option_text(option)->value == NULL;
    if (is_flag) {
        /* "--wait yes" was how it was written once. */
        if (option == CLI_WAIT && *at + 1 < argc && strcmp(argv[*at + 1], "yes") == 0)
            ++*at;
        if (joined != NULL && strcmp(joined, "yes") != 0 && strcmp(joined, "true") != 0)
            return cli_usage(out->command, "this option takes no value:", arg);
        out->value[option] = "";
        return EXIT_OK;
    }
    if (joined == NULL && *at + 1 >= argc)
        return cli_usage(out->command, "there is no value after", arg);
    out->value[option] = joined != NULL ? joined : argv[++*at];
    if (option == CLI_SPEC && *out->value[option] == '\0')
        return cli_usage(out->command, "there is no value after", arg);
    if (option == CLI_OUTPUT && strcmp(out->value[option], "json") != 0 &&
        strcmp(out->value[option], "table") != 0)
        return cli_usage(out->command, "-o is json or table, not", out->value[option]);
    return EXIT_OK;
}

enum exit_code cli_parse(const struct cli_command *command, int argc, char **argv,
                         struct arguments *out)
{
    CHECK(command != NULL && argc >= 1);
    int taken = 0, most = count_words(command->arguments, false);
    bool only_targets = false;
    *out = (struct arguments){.command = command};
    for (int at = 1; at < argc; at++) {
        const char *arg = argv[at];
        if (!only_targets && strcmp(arg, "--") == 0) {
            only_targets = true;
        } else if (!only_targets && arg[0] == '-' && arg[1] != '\0') {
            enum exit_code code = take_option(out, argc, argv, &at);
            if (code != EXIT_OK)
                return code;
        } else if (taken == most || taken == CLI_TARGETS_MAX) {
            return cli_usage(command, "there is no argument", arg);
        } else if (*arg == '\0') { /* of a script whose variable was not set */
            return cli_usage(command, "an argument is empty; it takes", command->arguments);
        } else {
            out->target[taken++] = arg;
        }
    }
    if (taken < count_words(command->arguments, true))
        return cli_usage(command, "something is missing: it takes", command->arguments);
    return EXIT_OK;
}

bool arguments_json(const struct arguments *arguments)
{
    const char *output = arguments->value[CLI_OUTPUT];
    return output != NULL && strcmp(output, "json") == 0;
}

int64_t arguments_number(const struct arguments *arguments, enum cli_option option, int64_t absent,
                         int64_t min, bool *good)
{
    const char *text = arguments->value[option];
    char *end = NULL;
    if (text == NULL)
        return absent;
    long long value = strtoll(text, &end, 10);
    if (end != text && *end == '\0' && value >= min && value <= INT32_MAX)
        return value;
    char detail[96];
    (void)snprintf(detail, sizeof detail, "%s is a number of at least %lld, not '%.32s'",
                   cli_option_text(option)->name, (long long)min, text);
    (void)cli_usage(arguments->command, detail, "");
    *good = false;
    return absent;
}
