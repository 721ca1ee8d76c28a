/*
 * Sources.
 *
 * A source is a replayable log: the rows of a range are the same rows every time they are read, on
 * any worker, for as long as the retention lasts.  Exactly-once rests on that promise, so an
 * implementation that cannot keep it says so in `replayable`.
 *
 * What the checkpoint keeps of a range are three texts that only the source understands: the start
 * and end offset as JSON (shown in progress as startOffset and endOffset) and `detail`, whatever
 * else read() needs to deliver exactly these rows (for files: their names, sizes and times).
 *
 * Threads: all calls come from the worker's batch thread, but read(), which task threads make at
 * the same time for different splits.
 */
#ifndef SERVER_SOURCE_SOURCE_H
#define SERVER_SOURCE_SOURCE_H

#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "base/vfs.h"
#include "columnar/batch.h"

struct source;

struct source_config {
    const char *name;   /* as in the spec: "clicks" */
    const char *format; /* "json", "rate", "memory", ... */
    const struct options *options;
    const struct type *schema; /* as declared; NULL if the source has a fixed one (rate, text) */
    const char *time_zone;     /* session's */
    bool ansi;
    struct vfs *vfs;
    const struct clock *clock;
    struct log *log;           /* NULL: nobody listens */
    const char *state_dir;     /* <checkpoint>/sources/<n>; NULL when only validated or bounded */
    bool stream;               /* validated as a stream; state_dir says so, too */
    const struct option *conf; /* the spec's conf entries, Spark names */
    size_t conf_count;
};

struct source_range {
    struct bytes start;  /* JSON of the offset before the range; empty: from the beginning */
    struct bytes end;    /* JSON of the offset after it */
    struct bytes detail; /* may be empty */
};

/* A piece of a range that one task reads. */
struct source_split {
    uint64_t estimated_bytes; /* for deciding whether to run inline */
    uint64_t estimated_rows;  /* 0: unknown */
    const void *detail;       /* the source's own, in the arena passed to splits() */
    int64_t now_us;           /* the batch's timestamp, set by who reads: the day of "10:11" */
};

/* The part of a file that a split is. */
struct source_block {
    const char *uri;
    uint64_t start;
    uint64_t length;
};

#define SOURCE_METADATA "_metadata" /* the name of the hidden column */

struct source_ops {
    const char *kind; /* as written in the API: "json", "rate", "memory" */
    bool replayable;
    const struct option_def *options; /* those beyond the format's, ended by a NULL name */

    /* Checks options and schema and, if config->state_dir is set, the real system.
     * *out is in `query` memory or heap; freed by close().  Errors: Spark's by name. */
    enum status (*open)(struct arena *query, const struct source_config *config,
                        struct source **out, struct error *err);

    /* The columns of the source, partition columns included.  Valid until close. */
    const struct type *(*schema)(const struct source *self);

    /* Optional: the type of the hidden column _metadata, which says of each row where it comes
     * from. bind() knows it as the column behind the last of schema(). */
    const struct type *(*metadata)(struct arena *arena);

    /* Says once, before the first read, which columns are delivered: indexes into schema(),
     * ascending. */
    enum status (*bind)(struct source *self, const uint32_t *columns, uint32_t count,
                        struct error *err);

    /*
     * Optional, after bind(): the columns that are delivered have the types of `schema`, a STRUCT
     * parallel to bind()'s columns, in which structs may lack fields of schema(): what is not
     * asked for need not be decoded.  Kept by reference; query lifetime.
     */
    enum status (*narrow)(struct source *self, const struct type *schema, struct error *err);

    /*
     * Called once at the start of a run, before plan(): `committed` is the newest range that is
     * committed (NULL: none), `pending` the ranges logged after it, oldest first; pending ranges
     * will be read again.
     */
    enum status (*recover)(struct source *self, const struct source_range *committed,
                           const struct source_range *pending, size_t pending_count,
                           struct error *err);

    /* availableNow and once: from now on plan() offers only what is there at this moment. */
    enum status (*freeze)(struct source *self, struct error *err);

    /*
     * Chooses the next range after the last planned one, within the source's own limits
     * (maxFilesPerTrigger, ...; ignored if `unlimited`, for trigger once).  *found is false if
     * there is nothing new; `range` may then be filled all the same (start = end), with a detail
     * that recover() wants to find in every committed batch.  The texts of `range` live in `batch`.
     */
    enum status (*plan)(struct source *self, bool unlimited, struct arena *batch,
                        struct source_range *range, bool *found, struct error *err);

    /* The newest offset known, JSON, for latestOffset in progress; empty: null. */
    struct bytes (*latest)(struct source *self, struct arena *batch);

    /* Cuts a range, new or logged, into splits; order of the splits = order of the rows. */
    enum status (*splits)(struct source *self, const struct source_range *range,
                          struct arena *batch, struct source_split **out, size_t *count,
                          struct error *err);

    /* Delivers the rows of one split as batches of the bound columns.  Threads: any. */
    enum status (*read)(struct source *self, const struct source_split *split,
                        struct batch_receiver *receiver, struct error *err);

    /* Optional: what input_file_name() and its like say while the split is read.  Threads: any. */
    void (*block)(const struct source *self, const struct source_split *split, struct arena *arena,
                  struct source_block *out);

    /* Optional: the range is committed, durably, and will never be read again (cleanSource).  May
     * come again after a crash.  What cannot be cleaned is logged; it harms nobody. */
    void (*acknowledge)(struct source *self, const struct source_range *range);

    /* Optional: how many files could not be cleaned since the last call. */
    uint64_t (*take_uncleaned)(struct source *self);
    /* Optional: how many files, since the last call, had a header with other columns than the
     * schema, which were read by their places all the same. */
    uint64_t (*take_other_headers)(struct source *self);

    /* Optional: a file descriptor that becomes readable when there may be something new, or -1;
     * woken() drains it.  Without one the worker polls. */
    int (*wake_fd)(struct source *self);
    void (*woken)(struct source *self);

    /* Optional: what progress shows as `description`: "FileStreamSource[file:/in]". */
    const char *(*description)(const struct source *self);

    void (*close)(struct source *self);
};

struct source {
    const struct source_ops *ops; /* first member of every implementation */
};

/* NULL if there is no such kind; the list of kinds is in source_registry.c and nowhere else. */
const struct source_ops *source_find(const char *format);
const struct source_ops *const *source_all(void); /* what users can name; ended by NULL */

#endif
