#include "cli/arguments.h"

#include <string.h>

static const struct cli_option_text texts[CLI_OPTION_COUNT_] = {
    [CLI_SERVER] = {"--server", NULL, "URL",
                    "of the server, also unix:/path; TIDEMILL_SERVER; default "
                    "http://127.0.0.1:8088"},
    [CLI_TOKEN] = {"--token", NULL, "TOKEN", "bearer token; TIDEMILL_TOKEN"},
    [CLI_OUTPUT] = {"-o", "--output", "FORMAT", "table for people (default), json for programs"},
    [CLI_FOLLOW] = {"--follow", "-f", NULL, "goes on with each new one, until the query ends"},
    [CLI_COUNT] = {"-n", "--limit", "N", "at most so many"},
    [CLI_STATE] = {"--state", NULL, "STATE", "only those in it"},
    [CLI_LABEL] = {"--label", NULL, "NAME=VALUE", "only those with it"},
    [CLI_WAIT] = {"--wait", NULL, NULL, "waits for what follows; exit code 9 if that is FAILED"},
    [CLI_WAIT_STATE] = {"--wait", NULL, "STATE",
                        "until it is in the state; exit code 9 if it fails instead"},
    [CLI_TIMEOUT] = {"--timeout", NULL, "SECONDS", "gives up after them; exit code 8"},
    [CLI_FORCE] = {"--force", NULL, NULL, "even while it runs"},
    [CLI_PURGE] = {"--purge", NULL, NULL, "its checkpoint, too"},
    [CLI_STOPPED] = {"--stopped", NULL, NULL, "does not start it"},
    [CLI_IMMEDIATE] = {"--immediate", NULL, NULL, "in the middle of the batch"},
    [CLI_DRY_RUN] = {"--dry-run", NULL, NULL, "changes nothing"},
    [CLI_TO_BATCH] = {"--to-batch", NULL, "N", "the last that stays; -1: all run again"},
    [CLI_OPERATOR] = {"--operator", NULL, "N", "the rows of this one"},
    [CLI_BATCH] = {"--batch", NULL, "N", "as they were after it"},
    [CLI_KEY] = {"--key", NULL, "COLUMN=VALUE", "only rows with it"},
    [CLI_SPEC] = {"--spec", NULL, "FILE", "what the bytes mean, if the checkpoint does not say"},
    [CLI_QUERY] = {"--query", NULL, "QUERY", "asks a server for the checkpoint of this query"},
    [CLI_BOUNDED] = {"--bounded", NULL, NULL, "reads every source once and prints the rows"},
    [CLI_MARKDOWN] = {"--markdown", NULL, NULL, "as a page of documentation"},
    [CLI_NOW] = {"--now", NULL, NULL, "restarts a running query with it"},
    [CLI_FILES] = {"--files", NULL, NULL, "names the files that were read and written"},
    [CLI_IF_MATCH] = {"--if-match", NULL, "ETAG", "only if the spec is still this one"},
};

#define USES(...)                                                                                  \
    (const struct cli_option_use[])                                                                \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            CLI_END, NULL                                                                          \
        }                                                                                          \
    }
#define OUTPUT                                                                                     \
    {                                                                                              \
        CLI_OUTPUT, NULL                                                                           \
    }
#define SERVER {CLI_SERVER, NULL}, {CLI_TOKEN, NULL}, OUTPUT
#define SAME(x)                                                                                    \
    {                                                                                              \
        x, NULL                                                                                    \
    }

const struct cli_command cli_commands[] = {
    /* without a server */
    {"serve", "", "Serves the API and runs the queries.",
     "tidemill serve --data-dir /var/lib/tidemill --listen 127.0.0.1:8088", true, false, NULL},
    {"run", "SPEC", "Runs a query in the foreground, without a server; - is standard input.",
     "tidemill run --bounded spec.json", true, false, USES(SAME(CLI_BOUNDED), OUTPUT)},
    {"validate", "SPEC", "Says everything that is wrong with a spec and where, or its plan.",
     "tidemill validate spec.json", true, false,
     USES({CLI_SERVER, "asks this server, with the paths that it allows"}, SAME(CLI_TOKEN),
          OUTPUT)},
    {"checkpoint show", "[DIR]", "Says whose a checkpoint is, where it stands, what a start does.",
     "tidemill checkpoint show /data/checkpoints/shop", false, false,
     USES(SAME(CLI_QUERY), SERVER)},
    {"checkpoint verify", "[DIR]",
     "Checks every record and every snapshot of a checkpoint, and its file sink against them.",
     "tidemill checkpoint verify /data/checkpoints/shop", false, false,
     USES(SAME(CLI_QUERY), SERVER)},
    {"checkpoint state", "DIR", "Prints the operators with state, or the rows of one.",
     "tidemill checkpoint state /data/checkpoints/shop --operator 0 --key visitor=ann", false,
     false,
     USES(SAME(CLI_OPERATOR), SAME(CLI_BATCH), SAME(CLI_KEY), SAME(CLI_COUNT), SAME(CLI_SPEC),
          OUTPUT)},
    {"checkpoint rewind", "DIR",
     "Makes the batches after one run again, with their input; nobody may hold the checkpoint.",
     "tidemill checkpoint rewind /data/checkpoints/shop --to-batch 41", false, false,
     USES(SAME(CLI_TO_BATCH), OUTPUT)},
    {"config", "", "Prints every setting with its value and where it comes from.",
     "tidemill config --config /etc/tidemill.conf", true, false, USES(SAME(CLI_MARKDOWN), OUTPUT)},
    {"conf", "", "Prints what conf of a query may hold.", "tidemill conf -o json", false, false,
     USES(SAME(CLI_MARKDOWN), OUTPUT)},
    {"conditions", "", "Prints the catalogue of errors.", "tidemill conditions | grep WATERMARK",
     false, false, USES(SAME(CLI_MARKDOWN), OUTPUT)},
    {"connectors", "", "Prints sources and sinks with their options.", "tidemill connectors", false,
     false, USES(SAME(CLI_MARKDOWN), OUTPUT)},
    {"metrics", "", "Prints the catalogue of metrics.", "tidemill metrics", false, false,
     USES(SAME(CLI_MARKDOWN), OUTPUT)},
    {"version", "", "Prints the version.", "tidemill version", false, false, USES(OUTPUT)},
    {"help", "[COMMAND] [SUBCOMMAND]", "Prints what there is, or what a command takes.",
     "tidemill help status", false, false, USES(SAME(CLI_MARKDOWN))},

    /* on a server */
    {"submit", "SPEC", "Creates a query; - is standard input.", "tidemill submit spec.json", false,
     true, USES(SAME(CLI_STOPPED), {CLI_DRY_RUN, "only checks it, as the server would"}, SERVER)},
    {"apply", "SPEC", "Creates the query of that name, or replaces its spec at the next start.",
     "tidemill apply spec.json --now", false, true,
     USES(SAME(CLI_NOW), SAME(CLI_IF_MATCH), SERVER)},
    {"ls", "", "Lists all queries.", "tidemill ls --state FAILED", false, true,
     USES(SAME(CLI_STATE), SAME(CLI_LABEL), {CLI_COUNT, "how many are asked for at a time"},
          SERVER)},
    {"get", "QUERY", "Prints spec and status.", "tidemill get shop -o table", false, true,
     USES({CLI_OUTPUT, "json (default), or table for people"}, SAME(CLI_SERVER), SAME(CLI_TOKEN))},
    {"start", "QUERY", "Starts a query.", "tidemill start shop --wait", false, true,
     USES({CLI_DRY_RUN,
           "only says what a start would do; exit code as that of `run` if it would fail"},
          SAME(CLI_WAIT), SERVER)},
    {"stop", "QUERY", "Stops a query at the end of its batch.", "tidemill stop shop --wait", false,
     true, USES(SAME(CLI_IMMEDIATE), SAME(CLI_WAIT), SERVER)},
    {"restart", "QUERY", "Stops and starts a query.", "tidemill restart shop --wait", false, true,
     USES({CLI_IMMEDIATE, "stops in the middle of the batch"}, SAME(CLI_WAIT), SERVER)},
    {"rm", "QUERY", "Deletes a query.", "tidemill rm shop --force --purge", false, true,
     USES(SAME(CLI_FORCE), SAME(CLI_PURGE), SERVER)},
    {"trigger", "QUERY", "Runs one batch now and waits until it is committed.",
     "tidemill trigger shop", false, true, USES(SAME(CLI_TIMEOUT), SERVER)},
    {"processAllAvailable", "QUERY", "Waits until all input that is there now is processed.",
     "tidemill processAllAvailable shop --timeout 60", false, true,
     USES(SAME(CLI_TIMEOUT), SERVER)},
    {"awaitTermination", "QUERY", "Waits until the query has ended; exit code 9 if it failed.",
     "tidemill awaitTermination shop --timeout 3600", false, true, USES(SAME(CLI_TIMEOUT), SERVER)},
    {"status", "QUERY", "Says what a query does now, and what it failed with.",
     "tidemill status shop --wait RUNNING --timeout 30", false, true,
     USES(SAME(CLI_WAIT_STATE), SAME(CLI_TIMEOUT), SERVER)},
    {"progress", "QUERY", "Prints the batches of a query with their rows, times and watermark.",
     "tidemill progress shop --follow", false, true,
     USES(SAME(CLI_FOLLOW), SAME(CLI_COUNT), SERVER)},
    {"batches", "QUERY", "Prints where the rows of the last batches came from, and went to.",
     "tidemill batches shop -n 3 --files", false, true,
     USES({CLI_BATCH, "only this one"}, SAME(CLI_FILES), SAME(CLI_COUNT), SERVER)},
    {"runs", "QUERY", "Prints starts and ends with their causes, and rewinds.",
     "tidemill runs shop", false, true, USES(SAME(CLI_COUNT), SERVER)},
    {"plan", "QUERY", "Prints the running plan.", "tidemill plan shop", false, true, USES(SERVER)},
    {"results", "QUERY", "Prints the rows of a memory sink.", "tidemill results shop -n 20", false,
     true, USES(SAME(CLI_COUNT), SERVER)},
    {"state", "QUERY", "Prints the operators with state, or the rows of one.",
     "tidemill state shop --operator 0 --key visitor=ann", false, true,
     USES(SAME(CLI_OPERATOR), SAME(CLI_BATCH), SAME(CLI_KEY), SAME(CLI_COUNT), SERVER)},
    {"rewind", "QUERY", "Of a stopped query: runs the batches after one again, with their input.",
     "tidemill rewind shop --to-batch 41", false, true, USES(SAME(CLI_TO_BATCH), SERVER)},
    {"ready", "", "Asks whether the server takes requests; needs no token.  For health checks.",
     "tidemill ready", false, true, USES(SERVER)},
    {"call", "METHOD PATH [FILE]", "Calls any operation of the API and prints the answer.",
     "tidemill call GET /metrics", false, true, USES(SAME(CLI_SERVER), SAME(CLI_TOKEN))},
    {0},
};

const struct cli_option_text *cli_option_text(enum cli_option option)
{
    return &texts[option];
}

const struct cli_command *cli_find(const char *first, const char *second, int *words)
{
    size_t size = strlen(first);
    for (const struct cli_command *at = cli_commands; at->name != NULL; at++) {
        const char *blank = strchr(at->name, ' ');
        *words = blank == NULL ? 1 : 2;
        if (blank == NULL && strcmp(at->name, first) == 0)
            return at;
        if (blank != NULL && second != NULL && strncmp(at->name, first, size) == 0 &&
            at->name[size] == ' ' && strcmp(at->name + size + 1, second) == 0)
            return at;
    }
    return NULL;
}
