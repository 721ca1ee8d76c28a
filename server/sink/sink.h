/*
 * Sinks: output that can be committed under a batch id.
 *
 * One batch:  begin -> writer() for each task -> (tasks write; task_finish) -> stage ->
 * [the checkpoint's sync] -> commit.  Before commit nothing of the batch is visible to a reader;
 * commit(N) makes all of it visible at once and may be called again for the same N after a crash.
 * The delivery guarantee that the API shows is computed from `delivery`, never claimed.
 *
 * Threads: all calls come from the batch thread, but those of a task writer (receive and
 * task_finish), which come from the thread of the task.
 */
#ifndef SERVER_SINK_SINK_H
#define SERVER_SINK_SINK_H

#include "base/clock.h"
#include "base/options.h"
#include "base/vfs.h"
#include "columnar/batch.h"

struct sink;

enum sink_delivery {
    SINK_IDEMPOTENT,    /* commit(N) twice is commit(N) once: exactly once */
    SINK_TRANSACTIONAL, /* keeps the batch id with the data: exactly once */
    SINK_NEITHER,       /* a rerun shows rows again: at least once */
};

enum output_mode {
    MODE_APPEND,
    MODE_UPDATE,
    MODE_COMPLETE,
};

struct sink_config {
    const char *name;     /* query name */
    const char *query_id; /* uuid of the checkpoint; file names carry it */
    const char *format;   /* "json", "memory", ... */
    const struct options *options;
    const struct type *schema; /* what the query delivers */
    const char *const *partition_by;
    size_t partition_by_count;
    enum output_mode mode;
    const char *time_zone;
    struct vfs *vfs;
    const struct clock *clock;
    const char *state_dir;     /* <checkpoint>/sink; NULL when only validated */
    const struct option *conf; /* the spec's conf entries, Spark names */
    size_t conf_count;
};

#define SINK_CANNOT_TELL (-2)
#define NO_BATCH         (-1)

struct sink_ops {
    const char *kind;
    enum sink_delivery delivery;
    bool modes[3];    /* by enum output_mode */
    bool counts_rows; /* progress shows numOutputRows; Spark's older sinks show -1 */
    const struct option_def *options;

    /* What can be said of options, partition columns and schema without touching anything: what
     * open() would refuse.  Scratch is in `request`. */
    enum status (*check)(struct arena *request, const struct sink_config *config,
                         struct error *err);

    enum status (*open)(struct arena *query, const struct sink_config *config, struct sink **out,
                        struct error *err);

    /* The newest batch that is visible, NO_BATCH, or SINK_CANNOT_TELL. */
    enum status (*last_batch)(struct sink *self, int64_t *batch_id, struct error *err);

    /* Starts batch N with `tasks` writers; what is left of an unfinished batch goes away. */
    enum status (*begin)(struct sink *self, int64_t batch_id, uint32_t tasks, struct error *err);
    /* The receiver of task `task` (0-based; the order of tasks is the order of rows). */
    struct batch_receiver *(*writer)(struct sink *self, uint32_t task);
    /* The task has no more rows: its part of the output is complete and durable (files: synced
     * under a temporary name).  Threads: the task's. */
    enum status (*task_finish)(struct sink *self, uint32_t task, struct error *err);

    /* All tasks are done: *due says whether commit has anything to do, *rows how many. */
    enum status (*stage)(struct sink *self, bool *due, uint64_t *rows, struct error *err);
    enum status (*commit)(struct sink *self, int64_t batch_id, struct error *err);
    void (*abort)(struct sink *self); /* forgets what is staged; does nothing after commit */

    /* Optional (memory): appends the newest committed rows, at most `rows_max`, oldest first, as
     * one JSON object per line. */
    enum status (*results)(struct sink *self, uint64_t rows_max, struct buffer *out,
                           struct error *err);

    /* Optional: what progress shows as sink.description. */
    const char *(*description)(const struct sink *self);
    void (*close)(struct sink *self);
};

struct sink {
    const struct sink_ops *ops; /* first member of every implementation */
};

const struct sink_ops *sink_find(const char *format);
const struct sink_ops *const *sink_all(void); /* ended by NULL */

#endif
