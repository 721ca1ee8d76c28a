/*
 * What each command takes: for --help, and for the nearest name of a misspelt one.
 */
#include "base/options.h"
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#define OUTPUT "  -o json            for scripts\n"
#define SERVER                                                                                     \
    "  --server URL       of the server; also TIDEMILL_SERVER; default http://127.0.0.1:8088, "    \
    "unix:/path\n"                                                                                 \
    "  --token TOKEN      bearer token; also TIDEMILL_TOKEN\n" OUTPUT
#define WAIT     "  --wait yes         waits for what follows; exit code 9 if that is FAILED\n"
#define SETTINGS "  --config FILE      settings; each is also --some-name and TIDEMILL_SOME_NAME\n"

static const struct {
    const char *name, *arguments, *what, *options;
} commands[] = {
    {"serve", "", "Serves the API and runs the queries.",
     SETTINGS "  --data-dir DIR     the server's directory\n"
              "  --listen ADDR:PORT where it listens; port 0: any free one\n"
              "All settings with their values: tidemill config\n"},
    {"run", "SPEC", "Runs a query in the foreground, without a server; - is standard input.",
     "  --bounded          reads every source once and prints the rows\n"
     "  -o json            a progress document per batch\n" SETTINGS},
    {"validate", "SPEC", "Says everything that is wrong with a spec, or its plan.", SETTINGS},
    {"checkpoint", "show|verify DIR", "Looks into a checkpoint; verify checks every record.",
     OUTPUT},
    {"config", "", "Prints every setting with its value and where it comes from.", SETTINGS},
    {"conf", "", "Prints what conf of a query may hold.", ""},
    {"conditions", "", "Prints the catalogue of errors.",
     "  --markdown         as a page of documentation\n"},
    {"version", "", "Prints the version.", ""},
    {"submit", "SPEC", "Creates a query; - is standard input.",
     "  --stopped          does not start it\n" SERVER},
    {"ls", "", "Lists all queries.",
     "  --state STATE      only those in it\n"
     "  --label NAME=VALUE only those with it\n"
     "  -n N               how many are asked for at a time\n" SERVER},
    {"ready", "", "Asks whether the server takes requests; needs no token.  For health checks.",
     SERVER},
    {"get", "QUERY", "Prints spec and status.", SERVER},
    {"start", "QUERY", "Starts a query.",
     "  --dry-run          only says what a start would do\n" WAIT SERVER},
    {"stop", "QUERY", "Stops a query at the end of its batch.",
     "  --immediate        in the middle of the batch\n" WAIT SERVER},
    {"restart", "QUERY", "Stops and starts a query.", WAIT SERVER},
    {"status", "QUERY", "Says what a query does now.",
     "  --wait STATE       until it is in the state; exit code 9 if it fails instead\n"
     "  --timeout SECONDS  gives up; exit code 8\n" SERVER},
    {"progress", "QUERY", "Prints the batches of a query.",
     "  -f, --follow       goes on with each new one\n"
     "  -n N               how many\n" SERVER},
    {"results", "QUERY", "Prints the rows of a memory sink.",
     "  -n N               how many\n" SERVER},
    {"rewind", "QUERY", "Of a stopped query: runs the batches after one again, with their input.",
     "  --to-batch N       the last that stays; -1: all run again\n" SERVER},
    {"state", "QUERY", "Prints the operators with state, or the rows of one.",
     "  --operator N       the rows of this one\n"
     "  --batch N          as they were after it\n"
     "  --key COLUMN=VALUE only those with it\n"
     "  -n N               how many\n" SERVER},
    {"rm", "QUERY", "Deletes a query.",
     "  --force            even while it runs\n"
     "  --purge            its checkpoint, too\n" SERVER},
};
#define COUNT (sizeof commands / sizeof commands[0])

static size_t find(const char *name)
{
    size_t at = 0;
    while (at < COUNT && strcmp(commands[at].name, name) != 0)
        at++;
    return at;
}

bool cli_asks_help(int argc, char *const *argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

bool cli_help(const char *name)
{
    size_t at = find(name);
    if (at == COUNT)
        return false;
    (void)printf("tidemill %s%s%s [OPTIONS]\n\n%s\n", name,
                 *commands[at].arguments == '\0' ? "" : " ", commands[at].arguments,
                 commands[at].what);
    if (*commands[at].options != '\0')
        (void)printf("\n%s", commands[at].options);
    (void)puts(
        "\nExit codes: 0 ok, 2 usage, 3 invalid spec, 4 not found, 5 conflict, 6 authentication,\n"
        "7 unreachable, 8 timed out, 9 the query failed, 1 anything else");
    return true;
}

const char *cli_nearest_command(const char *name)
{
    const char *names[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        names[i] = commands[i].name;
    return nearest_name(name, names, COUNT);
}

bool cli_nearest_option(const char *command, const char *option, char *out, size_t size)
{
    size_t at = find(command), best = SIZE_MAX;
    char written[64], candidate[64];
    (void)snprintf(written, sizeof written, "%.*s", (int)strcspn(option, "="), option);
    for (const char *text = at == COUNT ? "" : commands[at].options;
         (text = strstr(text, "-")) != NULL;) {
        size_t length = strcspn(text, " ,\n");
        (void)snprintf(candidate, sizeof candidate, "%.*s", (int)length, text);
        const char *candidates[] = {candidate};
        bool starts = text[-1] == ' ' && (candidate[1] == '-' || length == 2);
        if (starts && nearest_name(written, candidates, 1) != NULL) {
            size_t difference =
                length > strlen(written) ? length - strlen(written) : strlen(written) - length;
            if (difference < best)
                (void)snprintf(out, size, "%s", candidate);
            best = difference < best ? difference : best;
        }
        text += length;
    }
    return best != SIZE_MAX;
}
