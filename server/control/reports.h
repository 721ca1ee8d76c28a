/*
 * What can be read about the product and about a checkpoint, as JSON text: the answers whose
 * content comes from layers that the API does not know.
 *
 * Threads: any.
 */
#ifndef SERVER_CONTROL_REPORTS_H
#define SERVER_CONTROL_REPORTS_H

#include "base/buffer.h"
#include "control/control.h"

/* The catalog of connectors with their options and capabilities: an array. */
void report_connectors(struct buffer *out);

#define REPORT_BATCHES_MAX 10000

struct batches_wanted {
    int64_t batch_id; /* -1: the newest `limit` */
    int64_t before;   /* -1: of all, else of those before this one */
    uint32_t limit;   /* from 1 to REPORT_BATCHES_MAX */
    uint32_t files;   /* how many files of each source and of the sink are named */
    bool outputs;     /* the files of the sink, too, for which its directory is read */
};

/* An array of provenance documents, oldest first; *first is the oldest batch that there is, -1 if
 * there is none.  A query without a checkpoint yet has none. */
MUST_USE enum status report_batches(struct control *control, const struct query_snapshot *query,
                                    const struct batches_wanted *wanted, int64_t *first,
                                    struct buffer *out, struct error *err);

/* The checkpoint as a JSON object; `verify` checks every record, and the sink.  Errors:
 * CHECKPOINT_NOT_FOUND, CHECKPOINT.*. */
MUST_USE enum status report_checkpoint(struct control *control, const struct query_snapshot *query,
                                       bool verify, struct buffer *out, struct error *err);

/* The last batch that the checkpoint says is committed, -1 if it has none or cannot be read. */
int64_t report_last_batch(struct control *control, const struct query_definition *definition);

/* What a start would do, as a JSON object (worker/start_plan.h); nothing is changed. */
MUST_USE enum status report_start_plan(struct control *control, const struct query_snapshot *query,
                                       struct buffer *out, struct error *err);

/* The state of the query as a JSON object (worker/state_view.h).  A query without a checkpoint yet
 * has none: CHECKPOINT_NOT_FOUND. */
MUST_USE enum status report_state(struct control *control, const struct query_snapshot *query,
                                  const struct engine_state_request *request, struct buffer *out,
                                  struct error *err);

/* The last `count` progress documents, one per line, oldest first. */
MUST_USE enum status report_progress(struct control *control, const struct query_snapshot *query,
                                     size_t count, struct buffer *out, struct error *err);
/* The starts and ends of runs, one event per line, oldest first. */
MUST_USE enum status report_runs(struct control *control, const struct query_snapshot *query,
                                 struct buffer *out, struct error *err);

#define OPEN_RUNS_MAX 8

/* Runs that have begun and whose end is not recorded, oldest first; the newest if there are more.
 */
struct open_runs {
    char ids[OPEN_RUNS_MAX][UUID_TEXT_SIZE];
    size_t count;
};
/* A list that cannot be read has none. */
void report_open_runs(const struct query_definition *definition, struct open_runs *out);

#endif
