/*
 * The façade of the server: what users may do with queries, and what is true about them now.
 *
 * One thread, the main thread, owns every query and every worker (control_run).  Other threads
 * read snapshots, which are immutable and counted, and send commands, which wait in a bounded
 * mailbox; neither ever waits for a worker.  A command is done when the main thread (or, for
 * those that say so, the worker) has answered; `wake` is called then.
 *
 * Threads: stated at each function.
 */
#ifndef SERVER_CONTROL_CONTROL_H
#define SERVER_CONTROL_CONTROL_H

#include "base/clock.h"
#include "base/log.h"
#include "base/vfs.h"
#include "config/config.h"
#include "control/engine.h"
#include "control/query_snapshot.h"

#define CONTROL_MAILBOX_MAX 1024

struct control;

struct control_options {
    const struct config *config;
    struct vfs *vfs;
    struct clock *clock;
    struct log *log;
    const char *binary; /* of the workers: this program */
    const struct engine *engine;
};

/* Reads the catalog; every query that should run is UNKNOWN until control_run starts it.
 * Errors: IO_FAILURE.  Threads: main. */
MUST_USE enum status control_begin(const struct control_options *options, struct control **out,
                                   struct error *err);
void control_end(struct control *control); /* NULL is fine */

/* The main loop: until SIGTERM or SIGINT and then until the workers have reached the end of their
 * batches, or the grace is over.  Threads: main. */
void control_run(struct control *control);
/* As SIGTERM.  Threads: any. */
void control_stop(struct control *control);
bool control_is_stopping(const struct control *control); /* Threads: any. */

/* `changed` is called by the main thread after each change of a query (by name). */
void control_listen(struct control *control, void (*changed)(void *ctx, const char *name),
                    void *ctx);

/* A reference to the newest snapshot, or NULL.  Threads: any. */
struct query_snapshot *control_find(struct control *control, const char *name);
/* References to all, sorted by name, in one allocation that the caller frees.  Threads: any. */
struct query_snapshot **control_list(struct control *control, size_t *count);

/* Whether the directories of a spec are those of another query (not of `name`; NULL: a new one):
 * reported to the list.  Threads: any. */
void control_check_shared(struct control *control, const struct query_spec *spec, const char *name,
                          struct diagnostics *diagnostics);

/* Whether the sink's directory holds the batches of another query, also of one that is gone: those
 * of this query (`name`; NULL: a new one) have the id of its checkpoint.  Threads: any. */
void control_check_leftover(struct control *control, const struct query_spec *spec,
                            const char *name, struct diagnostics *diagnostics);

enum command_kind {
    COMMAND_CREATE,  /* definition, desired_running */
    COMMAND_REPLACE, /* definition, apply_now, rule, if_match */
    COMMAND_DELETE,  /* force, purge, if_match, if_none_match */
    COMMAND_START,
    COMMAND_STOP, /* immediate, timeout_us (0: none), kill_on_timeout */
    COMMAND_RESTART,
    COMMAND_TRIGGER,     /* done when the batch is committed */
    COMMAND_PROCESS_ALL, /* done when the worker has processed all input of now */
    COMMAND_RESULTS,     /* limit; `output` has the rows as NDJSON */
    COMMAND_REWIND,      /* to_batch; `output` has what rewind_outcome_print says */
};

enum replace_rule {
    REPLACE_MATCHING, /* the present ETag must be in if_match */
    REPLACE_NONE,     /* there must be no query of that name */
};

struct command {
    enum command_kind kind;
    char name[QUERY_NAME_MAX + 1];
    struct query_definition *definition; /* CREATE, REPLACE: taken */
    bool desired_running, has_desired;   /* the spec says it */
    bool apply_now, force, purge, immediate, kill_on_timeout;
    enum replace_rule rule;
    char *if_match, *if_none_match; /* lists of ETags (etag.h), freed with the command; NULL */
    int64_t timeout_us;
    int64_t limit;
    int64_t to_batch;
    void (*wake)(void *ctx); /* any thread; must not call control */
    void *wake_ctx;

    /* The answer, to be read once command_is_done(). */
    struct error error; /* status OK: done */
    struct query_snapshot *snapshot;
    bool changed; /* something was set in motion; false: it was so already */
    bool created;
    struct buffer output;

    /* Inside. */
    atomic_uint references;
    atomic_bool done;
    int64_t request_id;
    struct command *next;
};

/* No query has a name longer than QUERY_NAME_MAX: the command is then answered QUERY_NOT_FOUND. */
struct command *command_new(enum command_kind kind, const char *name);
/* Gives the command to the mailbox; the caller keeps its reference.
 * Errors: SERVER_BUSY, SERVER_STOPPING.  Threads: any. */
MUST_USE enum status control_post(struct control *control, struct command *command,
                                  struct error *err);
bool command_is_done(const struct command *command);
/* The caller is no longer interested: wake will not be called any more.  Ends its reference.
 * Threads: any. */
void control_forget(struct control *control, struct command *command);

/* What the server may touch (control/path_policy.h). */
struct path_policy;
const struct path_policy *control_paths(const struct control *control);
const struct config *control_config(const struct control *control);
const struct engine *control_engine(const struct control *control);
struct vfs *control_vfs(const struct control *control);
struct clock *control_clock(const struct control *control);
struct log *control_log(const struct control *control);

#endif
