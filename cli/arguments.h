/*
 * The commands and their options: one table (command_table.c), from which come the parser, --help,
 * the nearest right name of a misspelt one, and the pages of the documentation.
 *
 * A command's name may have two words ("checkpoint show").  Settings of the server (--listen ...)
 * are not in the table; commands that take them say so.
 * Threads: one.
 */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include "base/buffer.h"
#include "base/exit_code.h"

#include <stdbool.h>
#include <stdint.h>

#define CLI_TARGETS_MAX 3

enum cli_option {
    CLI_END, /* ends a list */
    CLI_SERVER,
    CLI_TOKEN,
    CLI_OUTPUT,
    CLI_FOLLOW,
    CLI_COUNT,
    CLI_STATE,
    CLI_LABEL,
    CLI_WAIT,
    CLI_WAIT_STATE,
    CLI_TIMEOUT,
    CLI_FORCE,
    CLI_PURGE,
    CLI_STOPPED,
    CLI_IMMEDIATE,
    CLI_DRY_RUN,
    CLI_TO_BATCH,
    CLI_OPERATOR,
    CLI_BATCH,
    CLI_KEY,
    CLI_SPEC,
    CLI_QUERY,
    CLI_BOUNDED,
    CLI_MARKDOWN,
    CLI_NOW,
    CLI_IF_MATCH,
    CLI_FILES,
    CLI_OPTION_COUNT_
};

struct cli_option_use {
    enum cli_option option;
    const char *help; /* what it means for this command; NULL: the same as everywhere */
};

struct cli_command {
    const char *name;
    const char *arguments; /* "QUERY", "METHOD PATH [FILE]", "" */
    const char *what;      /* one sentence */
    const char *example;
    bool settings;  /* takes the settings of the server, and --config */
    bool on_server; /* a client command */
    const struct cli_option_use *options;
};

/* All commands, ended by one without a name. */
extern const struct cli_command cli_commands[];

/* NULL: there is none.  `second` may be NULL; *words says how many words the name has. */
const struct cli_command *cli_find(const char *first, const char *second, int *words);

struct cli_option_text {
    const char *name;  /* "--follow" */
    const char *other; /* "-f", or NULL */
    const char *value; /* "N"; NULL: a flag */
    const char *help;
};

const struct cli_option_text *cli_option_text(enum cli_option option);

struct arguments {
    const struct cli_command *command;
    const char *target[CLI_TARGETS_MAX];  /* NULL: not given */
    const char *value[CLI_OPTION_COUNT_]; /* NULL: not given; "" for flags */
};

/* argv[0] is the (last word of the) command.  Anything that is wrong goes to standard error, and
 * the result is EXIT_USAGE. */
enum exit_code cli_parse(const struct cli_command *command, int argc, char **argv,
                         struct arguments *out);

/* -o json; what else -o may say has been checked. */
bool arguments_json(const struct arguments *arguments);
/* The number of an option, `absent` if it is not given.  *good is false if it is no number of at
 * least `min`, and then standard error says so. */
int64_t arguments_number(const struct arguments *arguments, enum cli_option option, int64_t absent,
                         int64_t min, bool *good);

/* ---- help.c ---- */

/* The flags of the settings ("--listen"), for the nearest of a misspelt one; kept. */
void cli_know_settings(const char *const *flags, size_t count);
void cli_help(const struct cli_command *command);
/* All commands whose name begins with the word (NULL: all). */
void cli_help_commands(const char *first_word);
void cli_help_markdown(void);
/* Whether there are commands of two words whose first this is. */
bool cli_is_group(const char *word);
/* Standard error: that there is no such command, and the nearest. */
enum exit_code cli_no_command(const char *first, const char *second);
/* Standard error: that the command has no such option, and the nearest. */
enum exit_code cli_no_option(const struct cli_command *command, const char *option);
/* Standard error: what is wrong with the arguments, and where to look. */
enum exit_code cli_usage(const struct cli_command *command, const char *problem,
                         const char *detail);

#endif
