/*
 * Bounded runs: every source is read once, as a table, and the query has its batch meaning.  For
 * looking at data (`tidemill run --bounded`, POST /v1/preview) and for tests.  No checkpoint.
 */
#ifndef SERVER_WORKER_BOUNDED_H
#define SERVER_WORKER_BOUNDED_H

#include "worker/query_plan.h"

#include <stdatomic.h>

struct bounded_config {
    struct bytes spec_json;
    struct vfs *vfs;
    struct clock *clock;
    const atomic_bool *cancelled;                                /* NULL: never */
    const struct source_ops *(*find_source)(const char *format); /* NULL: the registry */
};

struct bounded_run;

/* Parses, analyses, plans and opens the sources. */
MUST_USE enum status bounded_open(const struct bounded_config *config, struct bounded_run **out,
                                  struct error *err);
void bounded_close(struct bounded_run *run); /* NULL is fine */

/* STRUCT of the output's columns. */
const struct type *bounded_schema(const struct bounded_run *run);
const struct query_plan *bounded_plan(const struct bounded_run *run);

/* Reads everything once and hands the rows to `receiver`.  May be called once.
 * Errors: those of sources and expressions, and the receiver's; OPERATION_CANCELLED. */
MUST_USE enum status bounded_execute(struct bounded_run *run, struct batch_receiver *receiver,
                                     uint64_t *input_rows, struct error *err);

/* Runs and prints the rows: JSON objects, one per line, or tab-separated with the column names.
 * *started becomes true once the spec is right and the sources are open: what fails then is the
 * run. */
MUST_USE enum status bounded_print(struct bytes spec_json, bool json, bool *started,
                                   struct error *err);

#endif
