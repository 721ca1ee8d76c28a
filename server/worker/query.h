/*
 * A query that runs: what its spec became, its checkpoint, sources and sink.
 *
 * query_open() does everything up to the first batch: parse, lock the checkpoint, analyse, plan,
 * compare with what the checkpoint belongs to, open sources and sink, decide what the last run left
 * to do.  The steps of its life are in worker.c, those of a batch in micro_batch.c.
 *
 * Threads: the batch thread; `cancelled` may be set by any.
 */
#ifndef SERVER_WORKER_QUERY_H
#define SERVER_WORKER_QUERY_H

#include "base/log.h"
#include "base/task_pool.h"
#include "checkpoint/checkpoint.h"
#include "exec/stage_graph.h"
#include "sink/sink.h"
#include "state/state_store.h"
#include "worker/source_set.h"
#include "worker/state_budget.h"
#include "worker/table_set.h"
#include "worker/watermark.h"

#include <stdatomic.h>

/* Spark's status of a query. */
struct query_status {
    const char *phase;   /* as in the API: "PROCESSING" */
    const char *message; /* Spark's: "Processing new data" */
    bool is_data_available;
    bool is_trigger_active;
};

/* Who wants to know what happens.  Members may be NULL.  Threads: the batch thread. */
struct query_observer {
    void (*status)(struct query_observer *self, const struct query_status *status);
    /* A batch has been committed, with so many rows for the sink; or, with -1 rows, the query is
     * idle and the interval for saying so has passed. */
    void (*progress)(struct query_observer *self, int64_t batch_id, int64_t output_rows,
                     struct bytes json);
};

struct query_config {
    struct vfs *vfs;
    struct clock *clock;
    struct log *log; /* NULL: none */
    struct bytes spec_json;
    const char *query_id;               /* NULL: that of the checkpoint, or a new one */
    const char *run_id;                 /* NULL: a new one */
    const char *default_checkpoint_dir; /* if the spec names none */
    uint32_t parallelism;
    enum state_store_kind state_store; /* where the state is kept beside memory */
    struct query_observer *observer;   /* NULL: nobody */
    bool spill_always; /* for tests: all state that can is let go of memory, at the start as well */
    /* Other implementations of sources and sinks, for tests; NULL: the registries. */
    const struct source_ops *(*find_source)(const char *format);
    const struct sink_ops *(*find_sink)(const char *format);
};

/* How long the parts of a trigger took, and when it began. */
struct trigger_timing {
    int64_t started_wall_us;
    int64_t started_us; /* monotonic */
    int64_t ended_us;
    int64_t latest_offset_us;
    int64_t wal_commit_us;
    int64_t get_batch_us;
    int64_t planning_us;
    int64_t add_batch_us;
    int64_t commit_us;
    bool planned; /* not a rerun: it has latestOffset and walCommit */
};

/* What a batch did. */
struct batch_result {
    uint64_t *input_rows; /* per source use */
    uint64_t input_rows_all;
    uint64_t output_rows;
    uint64_t sink_rows; /* as the sink counts them */
    bool sink_due;
    struct event_time_stats *event_times; /* per watermark operator */
};

/* See state_snapshot.h. */
struct query_durability {
    struct state_store *store; /* NULL: the query has no state */
    uint64_t log_bytes;        /* of changes since the last snapshot was asked for */
    uint64_t batches;          /* since then */
};

struct query {
    struct arena *arena; /* lives as long as the query */
    struct query_config config;
    const struct query_spec *spec;
    const char *name;
    char run_id[UUID_TEXT_SIZE];
    struct physical_plan *plan;
    enum output_mode mode;
    const struct type *schema; /* of the output */
    const char *time_zone;
    bool ansi;
    const char *kept; /* what the spec sets and the checkpoint keeps otherwise; NULL: nothing */

    struct checkpoint *checkpoint;
    struct source_set sources;
    struct table_set tables;
    struct sink *sink;
    struct task_pool *pool;
    struct stage_graph *graph;
    uint32_t parallelism;
    uint32_t partitions; /* of the state: pinned */
    uint32_t run;        /* counts the batches that were begun, for the operators */
    struct watermark_tracker watermark;
    atomic_bool cancelled; /* stop at once: the batch is abandoned */

    int64_t next_batch_id;
    /* The intents of the batch at hand and the one before it, each in an arena of its own. */
    struct arena *intent_arena[2];
    struct batch_intent *intent;   /* planned or logged, and not yet committed; NULL: none */
    struct batch_intent *previous; /* the newest committed one; NULL: none */
    /* After a rewind: the batches [next_batch_id at the start, replay_end) are in the log, and run
     * again as they were. */
    struct logged_batch *replays;
    int64_t replay_first, replay_end;
    int64_t sink_last; /* what the sink had at the start */
    bool acknowledged; /* the sources know that `previous` is committed */
    struct arena *batch_arena;
    struct batch_result result;
    struct trigger_timing timing;
    int64_t last_trigger_us;  /* when the trigger before this one began; 0: none */
    int64_t last_progress_us; /* monotonic, for idle reports */
    bool ran_once;            /* trigger once: its batch is done */
    uint64_t batches;         /* committed in this run */
    bool is_data_available;
    struct buffer scratch;
    struct query_durability state_snapshot;
    struct state_budget budget;
};

/* Errors: those of parsing, analysis, planning, the checkpoint, sources and sink. */
MUST_USE enum status query_open(const struct query_config *config, struct query **out,
                                struct error *err);

/* Ends the run in order if it is `clean`: COMMIT becomes durable, the lock is given back. */
void query_close(struct query *query, bool clean);

/*
 * The parts of query_open(), for those who only look (start_plan.c, state_view.c): a query in which
 * arena, config and intent arenas are set.  Nothing is started.
 */
MUST_USE enum status query_make_plan(struct query *query, struct error *err);
/* With `look_only` nothing is locked or changed.  Errors: those of checkpoint_open. */
MUST_USE enum status query_open_checkpoint(struct query *query, bool look_only, struct error *err);
/* Plans again if the checkpoint pins other settings than the spec has, or keeps windows one by one
 * where the plan would have panes (of a query whose windows did not slide, say). */
MUST_USE enum status query_pin_plan(struct query *query, struct error *err);
MUST_USE enum status query_open_sink(struct query *query, struct error *err);
MUST_USE enum status query_open_sources(struct query *query, struct relation_context *context,
                                        const char *dir, struct error *err);
/* What a rewind left to be run again, from next_batch_id on. */
MUST_USE enum status query_find_replays(struct query *query, struct error *err);
MUST_USE enum status query_recover_sources(struct query *query, struct error *err);

/* Tells the observer. */
void query_set_status(struct query *query, const char *phase, const char *message,
                      bool is_trigger_active);

/* Gives back the memory of busy times. */
void query_trim(struct query *query);

#endif
