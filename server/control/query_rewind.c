/*
 * A rewind reads the whole log and checks the snapshots of the state, which takes as long as they
 * are large.  So a thread of its own does it; until it is done the query can neither start nor
 * change nor go, and stateReason says why.  The thread touches only what is its own: the main
 * thread finishes.
 *
 * The server does not end before its rewinds, unless its grace is over: then it leaves the thread
 * alone, and a checkpoint that is rewound or not (checkpoint/rewind.h).
 */
#include "base/heap.h"
#include "checkpoint/rewind.h"
#include "control/query.h"

#include <stdio.h>
#include <stdlib.h>

struct rewind {
    struct control *control; /* only to wake the main thread */
    struct query *query;     /* not touched by the thread; nobody removes it meanwhile */
    struct command *command;
    struct arena *arena;
    struct rewind_request request; /* texts in the arena */
    struct rewind_outcome outcome;
    struct error error;
    pthread_t thread;
    atomic_bool done;
    char reason[QUERY_REASON_SIZE];        /* shown meanwhile ... */
    char reason_before[QUERY_REASON_SIZE]; /* ... and again when it is done */
    int64_t since_before_us;
    struct rewind *next;
};

static void *rewind_run(void *ctx)
{
    struct rewind *rewind = ctx;
    (void)!checkpoint_rewind(rewind->arena, &rewind->request, &rewind->outcome, &rewind->error);
    struct control *control = rewind->control;
    atomic_store_explicit(&rewind->done, true, memory_order_release);
    supervisor_wake(control->supervisor); /* which is not closed while there are rewinds */
    return NULL;
}

static void show_rewinding(struct control *control, struct rewind *rewind)
{
    struct query *query = rewind->query;
    (void)snprintf(rewind->reason, sizeof rewind->reason, "being rewound to batch %lld",
                   (long long)rewind->request.to_batch);
    (void)snprintf(rewind->reason_before, sizeof rewind->reason_before, "%s", query->now.reason);
    rewind->since_before_us = query->now.since_us;
    query_set_state(control, query, query->now.state, rewind->reason);
}

/* Why it is what it is, as before; unless it was stopped meanwhile, which says so. */
static void show_as_before(struct control *control, const struct rewind *rewind)
{
    struct query_snapshot *now = &rewind->query->now;
    if (strcmp(now->reason, rewind->reason) != 0)
        return;
    (void)snprintf(now->reason, sizeof now->reason, "%s", rewind->reason_before);
    now->since_us = rewind->since_before_us;
    query_publish(control, rewind->query);
}

static void rewind_free(struct rewind *rewind)
{
    arena_free(rewind->arena);
    free(rewind);
}

static struct rewind *rewind_new(struct control *control, struct command *command,
                                 struct query *query)
{
    const struct query_definition *definition = query->now.definition;
    struct rewind *rewind = heap_calloc(1, sizeof *rewind);
    rewind->control = control;
    rewind->query = query;
    rewind->command = command;
    rewind->arena = arena_new("rewind", 0);
    error_clear(&rewind->error);
    rewind->request = (struct rewind_request){
        .vfs = control->options.vfs,
        .clock = control->options.clock,
        .dir = arena_strdup(rewind->arena, definition->checkpoint),
        .query_id = query->now.query_id[0] == '\0'
                        ? NULL
                        : arena_strdup(rewind->arena, query->now.query_id),
        .name = arena_strdup(rewind->arena, definition->name),
        .to_batch = command->to_batch,
    };
    return rewind;
}

void query_begin_rewind(struct control *control, struct command *command, struct query *query)
{
    struct error err = ERROR_INIT;
    enum status status = query_check_allowed(query, ACTION_REWIND, &err);
    if (status == OK && query->worker != NULL) /* it has ended, but is not gone yet */
        status = error_raise(&err, STATUS_SERVER_BUSY, "reason",
                             "the last worker of the query is still ending", NULL);
    if (status != OK) {
        command_finish(control, command, NULL, &err);
        return;
    }
    struct rewind *rewind = rewind_new(control, command, query);
    if (pthread_create(&rewind->thread, NULL, rewind_run, rewind) != 0) {
        (void)error_raise(&err, STATUS_SERVER_BUSY, "reason", "there is no thread for it", NULL);
        rewind_free(rewind);
        command_finish(control, command, NULL, &err);
        return;
    }
    query->rewind = rewind;
    show_rewinding(control, rewind);
    rewind->next = control->rewinds;
    control->rewinds = rewind;
}

static void end_rewind(struct control *control, struct rewind *rewind)
{
    struct query *query = rewind->query;
    struct command *command = rewind->command;
    const struct rewind_outcome *outcome = &rewind->outcome;
    (void)pthread_join(rewind->thread, NULL);
    query->rewind = NULL;
    show_as_before(control, rewind);
    if (rewind->error.status != OK) {
        command_finish(control, command, NULL, &rewind->error);
        return;
    }
    rewind_outcome_print(outcome, &command->output);
    command->changed = outcome->to_batch != outcome->last_batch;
    if (command->changed)
        query_record_rewind(control, query, outcome->last_batch, outcome->to_batch);
    command_finish(control, command, query, NULL);
}

bool query_end_rewinds(struct control *control)
{
    for (struct rewind **link = &control->rewinds; *link != NULL;) {
        struct rewind *rewind = *link;
        if (!atomic_load_explicit(&rewind->done, memory_order_acquire)) {
            link = &rewind->next;
            continue;
        }
        *link = rewind->next;
        end_rewind(control, rewind);
        rewind_free(rewind);
    }
    return control->rewinds != NULL;
}
