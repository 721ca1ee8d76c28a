/*
 * What is said about commands: --help, misspelt names, and docs/cli.md.
 */
#include "base/options.h"
#include "cli/arguments.h"

#include <stdio.h>
#include <string.h>

#define NAMES_MAX 128

static const char *const *setting_flags;
static size_t setting_flag_count;

void cli_know_settings(const char *const *flags, size_t count)
{
    setting_flags = flags;
    setting_flag_count = count;
}

/* The short name first. */
static void option_name(const struct cli_option_text *text, char *out, size_t size)
{
    bool other_first = text->other != NULL && text->other[1] != '-';
    const char *first = other_first ? text->other : text->name;
    const char *second = other_first ? text->name : text->other;
    (void)snprintf(out, size, "%s%s%s%s%s", first, second == NULL ? "" : ", ",
                   second == NULL ? "" : second, text->value == NULL ? "" : " ",
                   text->value == NULL ? "" : text->value);
}

static const char *help_of(const struct cli_option_use *use)
{
    return use->help == NULL ? cli_option_text(use->option)->help : use->help;
}

static void print_exit_codes(void)
{
    (void)puts(
        "\nExit codes: 0 ok, 2 usage, 3 invalid spec, 4 not found, 5 conflict, 6 authentication,\n"
        "7 unreachable, 8 timed out, 9 the query failed, 1 anything else; 130 after Ctrl-C");
}

void cli_help(const struct cli_command *command)
{
    (void)printf("tidemill %s%s%s [OPTIONS]\n\n%s\n\n", command->name,
                 *command->arguments == '\0' ? "" : " ", command->arguments, command->what);
    const struct cli_option_use *use = command->options;
    for (; use != NULL && use->option != CLI_END; use++) {
        char name[64];
        option_name(cli_option_text(use->option), name, sizeof name);
        (void)printf("  %-22s %s\n", name, help_of(use));
    }
    if (command->settings)
        (void)puts(
            "  --config FILE          settings; each is also --some-name and "
            "TIDEMILL_SOME_NAME:\n"
            "                         tidemill config lists them (--data-dir, --listen ...)");
    (void)printf("\nExample: %s\n", command->example);
    print_exit_codes();
}

static void print_group(bool on_server, const char *first_word)
{
    size_t size = first_word == NULL ? 0 : strlen(first_word);
    for (const struct cli_command *at = cli_commands; at->name != NULL; at++) {
        if (at->on_server != on_server ||
            strncmp(at->name, first_word == NULL ? "" : first_word, size) != 0)
            continue;
        char call[64];
        (void)snprintf(call, sizeof call, "%s %s", at->name, at->arguments);
        (void)printf("  tidemill %-26s %s\n", call, at->what);
    }
}

void cli_help_commands(const char *first_word)
{
    if (first_word == NULL)
        (void)puts("Tidemill: streaming SQL over micro-batches, exactly once.\n");
    print_group(false, first_word);
    if (first_word == NULL) {
        (void)puts("\nOn a server (--server URL or TIDEMILL_SERVER, -o json for programs):\n");
        print_group(true, first_word);
    }
    (void)puts("\ntidemill COMMAND --help: its options, and an example.");
    print_exit_codes();
}

static void markdown_group(bool on_server)
{
    (void)puts("| Command | | Options |\n| --- | --- | --- |");
    for (const struct cli_command *at = cli_commands; at->name != NULL; at++) {
        if (at->on_server != on_server)
            continue;
        (void)printf("| `%s%s%s` | %s | ", at->name, *at->arguments == '\0' ? "" : " ",
                     at->arguments, at->what);
        const char *between = "";
        const struct cli_option_use *use = at->options;
        for (; use != NULL && use->option != CLI_END; use++) {
            char name[64];
            if (on_server && (use->option == CLI_SERVER || use->option == CLI_TOKEN))
                continue; /* said above the table */
            option_name(cli_option_text(use->option), name, sizeof name);
            (void)printf("%s`%s` %s", between, name, help_of(use));
            between = "<br>";
        }
        (void)printf("%s%s |\n", at->settings ? between : "",
                     at->settings ? "`--config FILE` and the [settings](settings.md)" : "");
    }
}

void cli_help_markdown(void)
{
    markdown_group(false);
    (void)puts("\nOn a server, all with `--server URL` and `--token TOKEN`:\n");
    markdown_group(true);
    (void)puts("\n| Exit code | |\n| --- | --- |");
    for (int i = 0; i < EXIT_CODE_COUNT; i++)
        (void)printf("| %d | %s |\n", i, exit_code_help((enum exit_code)i));
}

/* ---- misspelt names ---- */

bool cli_is_group(const char *word)
{
    size_t size = strlen(word);
    for (const struct cli_command *at = cli_commands; at->name != NULL; at++)
        if (strncmp(at->name, word, size) == 0 && at->name[size] == ' ')
            return true;
    return false;
}

enum exit_code cli_no_command(const char *first, const char *second)
{
    const char *names[NAMES_MAX];
    size_t count = 0, size = strlen(first);
    bool is_group = cli_is_group(first);
    for (const struct cli_command *at = cli_commands; at->name != NULL && count < NAMES_MAX; at++) {
        bool belongs = strncmp(at->name, first, size) == 0 && at->name[size] == ' ';
        if (is_group == belongs)
            names[count++] = is_group ? at->name + size + 1 : at->name;
    }
    if (!is_group && count < NAMES_MAX)
        names[count++] = "checkpoint";
    if (is_group && second == NULL) {
        (void)fprintf(stderr, "error: tidemill %s what? One of:\n", first);
        for (size_t i = 0; i < count; i++)
            (void)fprintf(stderr, "  tidemill %s %s\n", first, names[i]);
        return EXIT_USAGE;
    }
    const char *nearest = nearest_name(is_group ? second : first, names, count);
    if (strcmp(first, "explain") == 0)
        nearest = "plan QUERY, or validate SPEC, which prints the plan of a spec";
    (void)fprintf(stderr, "error: there is no command %s%s%s.", first, is_group ? " " : "",
                  is_group ? second : "");
    if (nearest != NULL)
        (void)fprintf(stderr, " Did you mean %s?", nearest);
    (void)fprintf(stderr, "\nSee: tidemill help\n");
    return EXIT_USAGE;
}

enum exit_code cli_no_option(const struct cli_command *command, const char *option)
{
    const char *names[NAMES_MAX];
    char written[64];
    size_t count = 0;
    (void)snprintf(written, sizeof written, "%.*s", (int)strcspn(option, "="), option);
    const struct cli_option_use *use = command->options;
    for (; use != NULL && use->option != CLI_END && count + 1 < NAMES_MAX; use++) {
        const struct cli_option_text *text = cli_option_text(use->option);
        names[count++] = text->name;
        if (text->other != NULL && text->other[1] == '-')
            names[count++] = text->other;
    }
    for (size_t i = 0; command->settings && i < setting_flag_count && count < NAMES_MAX; i++)
        names[count++] = setting_flags[i];
    const char *nearest = nearest_name(written, names, count);
    (void)fprintf(stderr, "error: tidemill %s has no option %s.", command->name, written);
    if (nearest != NULL)
        (void)fprintf(stderr, " Did you mean %s?", nearest);
    (void)fprintf(stderr, "\nSee: tidemill %s --help\n", command->name);
    return EXIT_USAGE;
}

enum exit_code cli_usage(const struct cli_command *command, const char *problem, const char *detail)
{
    (void)fprintf(stderr, "error: tidemill %s: %s%s%s\nSee: tidemill %s --help\n", command->name,
                  problem, *detail == '\0' ? "" : " ", detail, command->name);
    return EXIT_USAGE;
}
