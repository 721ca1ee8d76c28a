/*
 * Inside the client: what its commands share.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/cli.h"
#include "cli/http_client.h"

#include <jansson.h>
#include <stdint.h>

struct options_given {
    struct http_client client;
    const char *target; /* query name or spec file; NULL: none */
    bool json;          /* -o json */
    bool follow;        /* -f */
    bool force, purge, stopped, immediate, dry_run;
    const char *wait; /* --wait STATE or seconds; NULL: none */
    const char *state, *label;
    const char *to_batch, *operator_id, *batch, *key; /* NULL: not given */
    int64_t count;                                    /* -n; 0: not given */
    int64_t timeout_s;                                /* --timeout; 0: none */
};

/* ---- call.c ---- */

/* Calls, and on an error answer prints its problem to standard error.  *exit_code is EXIT_OK if
 * the answer is good; then *document is its JSON (NULL if the body is empty or no JSON). */
void call_server(const struct options_given *given, const struct http_call *call, json_t **document,
                 struct http_reply *reply, int *exit_code);
/* "/v1/queries/<encoded name>" + suffix, in `out`. */
const char *query_path(const char *name, const char *suffix, struct buffer *out);
void print_json(const json_t *document);

/* ---- table.c ---- */

/* Rows of cells with columns as wide as their widest cell; headings in the first row. */
struct table {
    size_t columns;
    char ***rows;
    size_t row_count;
};

void table_add(struct table *table, const char *const *cells);
void table_print(const struct table *table);
/* JSON objects as rows, with a column for each name, NULL for what is not there; text with control
 * characters as it stands in JSON.  `count` is at least 1. */
void table_add_objects(struct table *table, const char *const *names, size_t count,
                       const json_t *rows);
void table_fini(struct table *table);

/* ---- commands ---- */

int command_submit(const struct options_given *given);
int command_ls(const struct options_given *given);
int command_get(const struct options_given *given);
int command_start(const struct options_given *given);
int command_start_plan(const struct options_given *given); /* start --dry-run */
int command_stop(const struct options_given *given);
int command_restart(const struct options_given *given);
int command_progress(const struct options_given *given);
int command_status(const struct options_given *given);
int command_results(const struct options_given *given);
int command_rewind(const struct options_given *given);
int command_state(const struct options_given *given);
int command_rm(const struct options_given *given);
int command_ready(const struct options_given *given);

const char *text_at(const json_t *object, const char *key); /* "" if absent */
int64_t int_at(const json_t *object, const char *key);      /* 0 if absent */
double real_at(const json_t *object, const char *key);

#endif
