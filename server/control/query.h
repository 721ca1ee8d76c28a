/*
 * Inside control: a query as the main thread owns it, and the parts of the main thread.
 *
 *     control.c         the loop, the mailbox, the snapshots
 *     query_commands.c  what users ask for
 *     query_run.c       what follows: workers, their messages, their ends, the timers
 *
 * Threads: main, except where control.h says otherwise.
 */
#ifndef SERVER_CONTROL_QUERY_H
#define SERVER_CONTROL_QUERY_H

#include "control/control.h"
#include "control/history.h"
#include "control/path_policy.h"
#include "control/query_catalog.h"
#include "supervisor/supervisor.h"

#include <pthread.h>

/* Requests that wait for one worker: those whose client has gone away stay until it answers. */
#define QUERY_PENDING_MAX 1024

struct query {
    struct query_snapshot now;        /* the state; counted members are the query's references */
    struct query_snapshot *published; /* guarded by control->mutex */
    struct worker *worker;
    bool start_wanted; /* waits for its turn in start_some() */
    bool stop_asked;   /* the present run is to end as STOPPED */
    bool restart_asked;
    bool was_starting; /* before the worker fell silent */
    bool resumed;      /* started because the server was: its old worker may still hold the lock */
    bool deleting, purge;  /* removed when the worker is gone ... */
    int64_t delete_us;     /* ... and, without one, when this comes; monotonic */
    bool history_wanted;   /* the server has no progress documents of earlier runs */
    struct rewind *rewind; /* one is at work: nothing else may touch the checkpoint */
    bool damaged;          /* its record cannot be read: it is only shown, and can be deleted */
    int64_t store_us;      /* monotonic: when to write the record again; 0: it is written */
    bool failed;           /* FAILED was received */
    bool finished;         /* FINISHED was received */
    char finish_reason[32];
    struct error failure;
    int64_t stop_deadline_us; /* monotonic; 0: none */
    int64_t retry_us;         /* monotonic */
    int64_t pinged_us;        /* monotonic */
    int64_t heard_us;         /* monotonic */
    struct history *progress_log;
    struct history *runs_log;
    struct command *pending; /* waiting for the worker's answer */
    size_t pending_count;    /* at most QUERY_PENDING_MAX */
    struct buffer results;   /* RESULT chunks with request id 0 */
};

struct control {
    struct control_options options;
    struct path_policy *paths;
    struct query_catalog *catalog;
    struct supervisor *supervisor;
    struct query **queries; /* sorted by name; the array is guarded by `mutex` for other threads */
    size_t query_count, query_capacity;
    uint64_t version;
    int64_t request_id;
    int64_t opened_us; /* monotonic */
    bool stopping;
    int64_t stop_deadline_us;
    void (*changed)(void *ctx, const char *name);
    void *changed_ctx;

    /* Protects: queries (array), query->published, mailbox, command->wake. */
    pthread_mutex_t mutex;
    struct command *mailbox, **mailbox_last;
    size_t mailbox_count;
    atomic_bool stop_asked;
    struct rewind *rewinds; /* at work */
};

/* control.c */
struct query *query_find(struct control *control, const char *name);
/* Takes the reference to the definition.  Not yet published. */
struct query *query_insert(struct control *control, struct query_definition *definition);
void query_remove(struct control *control, struct query *query); /* frees it */
void query_publish(struct control *control, struct query *query);
/* Answers a command (error: its status is the answer) and ends the main thread's reference. */
void command_finish(struct control *control, struct command *command, struct query *query,
                    const struct error *error);
int64_t now_us(const struct control *control); /* wall */
int64_t monotonic_us(const struct control *control);

/* query_run.c */
void query_set_state(struct control *control, struct query *query, enum query_state state,
                     const char *reason);
/* As query_set_state for an end: it is on disk before anybody sees it, if the disk takes it. */
void query_end_as(struct control *control, struct query *query, enum query_state state,
                  const char *reason);
/* No failure before this counts any more: a batch has succeeded, or a person has asked for a start.
 */
void query_begin_streak(struct query *query);
void query_want_start(struct control *control, struct query *query, const char *reason);
void query_want_stop(struct control *control, struct query *query, bool immediate);
/* The list of runs has it from then on. */
/* Of runs whose server did not see their end. */
void query_record_lost_ends(struct control *control, struct query *query);
void query_record_rewind(struct control *control, struct query *query, int64_t from_batch,
                         int64_t to_batch);
/* RESULTS_NOT_AVAILABLE with the reason, which is the sink if that one keeps no rows. */
enum status query_raise_no_results(const struct query_definition *definition, const char *reason,
                                   struct error *err);
/* What the catalog is to know about the query. */
struct catalog_entry query_record(const struct query *query);
/* Stores spec, desired state and outcome.  Errors: IO_FAILURE, DISK_FULL. */
MUST_USE enum status query_store(struct control *control, struct query *query, struct error *err);
/* As query_store for what has happened or must happen whatever the disk says: a failure is logged,
 * shown (is_durable) and tried again. */
void query_store_or_later(struct control *control, struct query *query);
void query_on_message(void *ctx, void *owner, const struct message *message);
void query_on_end(void *ctx, void *owner, const struct worker_exit *how);
void query_start_some(struct control *control);
/* Deletions that wait for the worker of an earlier life of the server, or were begun in it. */
void query_delete_some(struct control *control);
/* Whether the earlier life of the server may have left a worker with a checkpoint. */
bool query_may_have_orphan(const struct control *control);
/* Begins a deletion that has to wait; `reason` is shown. */
void query_delete_later(struct control *control, struct query *query, const char *reason);
/* Whoever waits for the worker is told that it will not answer. */
void query_end_waiting(struct control *control, struct query *query);
/* What is due; returns the milliseconds until the next thing may be. */
int query_timers(struct control *control);

/* query_commands.c */
/* Whether checkpoint (if it is decided) or sink of a definition is one of another query, by
 * whatever links they are named. Errors: INVALID_CHECKPOINT_LOCATION, SINK_PATH_IN_USE, with the
 * pointer. */
MUST_USE enum status query_check_shared(const struct query_definition *definition,
                                        const struct query_definition *other, struct error *err);
void command_execute(struct control *control, struct command *command);
/* Errors: INVALID_STATE, QUERY_RECORD_DAMAGED, SERVER_BUSY while the query is being rewound. */
MUST_USE enum status query_check_allowed(const struct query *query, enum query_action action,
                                         struct error *err);
/* A FAILED query says why, whatever is refused because of it. */
void query_add_cause(const struct query *query, struct error *err);
/* Sends what was asked while the query waited for its worker. */
void query_send_pending(struct query *query);

/* query_rewind.c */
/* Answers the command when a thread has rewound the checkpoint. */
void query_begin_rewind(struct control *control, struct command *command, struct query *query);
/* Answers those that are done; true if some are still at work. */
bool query_end_rewinds(struct control *control);

#endif
