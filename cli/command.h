/*
 * Inside the client: what its commands share.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/cli.h"
#include "cli/http_client.h"

#include <jansson.h>
#include <stdint.h>

/* What a command was given. */
struct given {
    const struct arguments *arguments;
    struct http_client client;
    const char *target; /* query name or spec file; NULL: none */
    bool json;          /* -o json */
    int64_t count;      /* -n; 0: not given */
    int64_t timeout_s;  /* --timeout; 0: none */
    struct bytes spec;  /* that was sent: errors are marked in it */
};

static inline bool has(const struct given *given, enum cli_option option)
{
    return given->arguments->value[option] != NULL;
}

static inline const char *value_of(const struct given *given, enum cli_option option)
{
    return given->arguments->value[option];
}

/* ---- call.c ---- */

/* Calls, and on an error answer prints its problem to standard error.  *exit_code is EXIT_OK if
 * the answer is good; then *document is its JSON (NULL if the body is empty or no JSON). */
void call_server(const struct given *given, const struct http_call *call, json_t **document,
                 struct http_reply *reply, int *exit_code);
/* A call whose document is printed by `print`, or the JSON as it came.  Returns the exit code. */
int call_and_print(const struct given *given, const struct http_call *call,
                   void (*print)(const json_t *document));
/* "/v1/queries/<encoded name>" + suffix, in `out`. */
const char *query_path(const char *name, const char *suffix, struct buffer *out);
void print_json(const json_t *document);
/* JSON text with line breaks, its numbers as they stand. */
void print_json_text(struct bytes json);
/* {"rows": [...], ...} for a table: as json_text_keep_cells(); NULL if it is no JSON. */
json_t *load_rows(struct bytes json);

/* ---- json_text.c ---- */

/* Documents with a line for each value; what is no JSON comes out somehow. */
void json_text_indent(struct bytes json, struct buffer *out);
/* Of {"rows": [{"column": CELL}]}: numbers, arrays and objects as texts of what the server wrote,
 * so that no digit is lost. */
void json_text_keep_cells(struct bytes json, struct buffer *out);

/* ---- problem.c ---- */

/* An error answer; `spec` is the JSON text that it is about, or empty. */
void print_problem(const json_t *problem, long status, struct bytes spec);
/* A diagnostic of a validation. */
void print_diagnostic(const json_t *diagnostic, struct bytes spec);

/* ---- table.c ---- */

/* Rows of cells with columns as wide as their widest cell; headings in the first row. */
struct table {
    size_t columns;
    char ***rows;
    size_t row_count;
};

void table_add(struct table *table, const char *const *cells);
/* One JSON value for each of the table's columns; NULL is printed as that. */
void table_add_values(struct table *table, const json_t *const *values);
void table_print(const struct table *table);
/* JSON objects as rows, with a column for each name, NULL for what is not there; text with control
 * characters as it stands in JSON.  `count` is at least 1. */
void table_add_objects(struct table *table, const char *const *names, size_t count,
                       const json_t *rows);
void table_fini(struct table *table);

/* ---- commands_query.c: what there is ---- */

int command_submit(const struct given *asked);
int command_apply(const struct given *asked);
int command_ls(const struct given *given);
int command_get(const struct given *asked);
int command_rm(const struct given *given);
int command_ready(const struct given *given);
int command_call(const struct given *given);

/* ---- commands_action.c: what is asked of a query, and its status ---- */

int command_start(const struct given *given);
int command_stop(const struct given *given);
int command_restart(const struct given *given);
int command_trigger(const struct given *given);
int command_process_all(const struct given *given);
int command_await(const struct given *given);
int command_status(const struct given *given);
void print_status(const json_t *status);
void print_waiting_spec(const json_t *status); /* nothing if none waits */
bool state_is_ended(const char *state);
/* That the option, if it is given, names a state of queries; says so if not.  The exit code. */
int check_state(const struct given *given, enum cli_option option);

/* ---- commands_watch.c: what it does and did ---- */

int command_progress(const struct given *given);
int command_batches(const struct given *given);
int command_runs(const struct given *given);
int command_plan(const struct given *given);
int command_results(const struct given *given);

/* ---- commands_checkpoint.c ---- */

int command_start_plan(const struct given *given); /* start --dry-run */
int command_rewind(const struct given *given);
int command_state(const struct given *given);

const char *text_at(const json_t *object, const char *key); /* "" if absent */
int64_t int_at(const json_t *object, const char *key);      /* 0 if absent */
double real_at(const json_t *object, const char *key);

#endif
