/*
 * The world of a scenario: a disk in memory, a clock that stands still, sources and tables as
 * directories of files, sinks that keep their rows, and queries of the real worker code that run
 * in this process.  A crash freezes the disk and the sinks at that instant; what the dying code
 * still does is forgotten.
 *
 * Paths are those the expectations show: /in/<source>, /tables/<table>, /archive, /out/<sink>,
 * /checkpoints/<query>.
 *
 * A world of the process driver is the same on a real disk, below a directory of its own, with the
 * state in RocksDB: each run is a process of its own, and a crash its sudden end.  With `binary`
 * and in append mode it is `tidemill run` with the availableNow trigger, and sinks are directories
 * of JSON files; else a copy of this process, with everything that a scenario can say but sweeps
 * and sources in memory.
 */
#ifndef TESTS_SUPPORT_WORLD_H
#define TESTS_SUPPORT_WORLD_H

#include "base/vfs_fault.h"
#include "base/vfs_mem.h"
#include "scn_file.h"
#include "sink_collect.h"
#include "source/source_memory.h"
#include "worker/worker.h"

#include <sys/types.h>

#define WORLD_DEFINITIONS_MAX 64

struct world_relation {
    const char *name;
    bool table;
    const char *kind;          /* "file", "memory", or a format with a life of its own: "rate" */
    const char *format;        /* of files */
    const char *columns;       /* DDL; "" if none */
    const struct type *schema; /* of columns; NULL if none */
    const char *watermark_column, *watermark_delay;
    const struct scn_record *record; /* for its options */
    const char *dir, *path;          /* path: dir and glob */
    int feeds;
    struct memory_log *log;
};

struct world_sink {
    const char *name;
    const struct scn_record *record; /* NULL: made by a query's into= */
    struct collected collected;
    int64_t seen;            /* the newest batch that was expected */
    const char *dir;         /* of a file sink; NULL: the rows are in `collected` */
    bool other_format;       /* of the files, than JSON */
    const char **files_seen; /* that were expected */
    size_t file_count;
    const struct type *schema; /* of the newest run; a file sink's rows are read with it */
};

struct world_query {
    const char *name;
    const char *sql, *mode;
    const struct scn_record *record;
    struct world_sink *sink;
    int64_t last_batch; /* that the sink has of this query */
};

enum world_run {
    RUN_STEP,
    RUN_IDLE,
    RUN_AVAILABLE_NOW,
    RUN_ONCE,
    RUN_START, /* opens, with recovery, and runs nothing */
    RUN_STOP,
};

/* One file operation fails, or all from it on. */
struct world_fault {
    enum vfs_call call;
    uint64_t nth; /* 0: none */
    int errno_value;
    uint64_t runs; /* all, until so many runs have failed; 0: one operation */
};

/* The copy of this process that runs the query. */
struct world_forked {
    pid_t pid; /* 0: there is none */
    int in, out;
    size_t taken; /* of what it has reported */
    bool is_open; /* the query */
};

struct world {
    const char *root;   /* of a process world: "/tmp/..."; NULL in this process */
    const char *binary; /* tidemill; NULL: runs are copies of this process */
    struct world_forked forked;
    struct world_fault fault; /* for the next run of a copy */
    const char *armed;        /* failpoints of the next process */
    struct arena *arena;
    struct vfs *mem, *vfs; /* vfs: mem with faults around it */
    struct clock *clock;
    struct world_relation relations[WORLD_DEFINITIONS_MAX];
    size_t relation_count;
    const struct scn_record *views[WORLD_DEFINITIONS_MAX];
    size_t view_count;
    const struct scn_record *confs[WORLD_DEFINITIONS_MAX];
    size_t conf_count;
    struct world_sink *sinks[WORLD_DEFINITIONS_MAX];
    size_t sink_count;
    struct world_query *queries[WORLD_DEFINITIONS_MAX];
    size_t query_count;
    struct collect_target targets[WORLD_DEFINITIONS_MAX];

    struct world_query *current; /* NULL: none, or the last one was refused */
    struct query *handle;        /* of the running query */
    struct query_observer observer;
    const char **progress; /* documents of the latest run's batches */
    size_t progress_count, progress_capacity;
    struct arena *progress_arena;
    const char *schema_text; /* of the newest run: "name type" lines */
    const char *plan_text;   /* of the newest run: EXPLAIN */
    const char *status_json; /* the newest status: phase, message, isDataAvailable, ... */
    struct log *log;         /* of the queries, into a file that is removed with the world */
    char log_path[64];
    bool crashed; /* a failpoint has killed the run */
    uint64_t torn_bytes;
    uint32_t parallelism;  /* of the next start */
    bool spill;            /* all state that can is let go of memory before each batch */
    int64_t memory_bytes;  /* the limit of the next start; 0: none */
    int64_t mtime_us;      /* of the newest file */
    struct buffer actions; /* what has been done, for the report of a failure */
};

struct world *world_new(void);
/* `binary` is the tidemill to run; NULL: none.  Errors: IO_FAILURE. */
MUST_USE enum status world_new_process(const char *binary, struct world **out, struct error *err);
void world_free(struct world *world);

/* source, table, view, conf, sink. */
MUST_USE enum status world_define(struct world *world, const struct scn_record *record,
                                  struct error *err);
/* Makes it the current one; a running query of the same name is stopped. */
MUST_USE enum status world_define_query(struct world *world, const struct scn_record *record,
                                        struct error *err);

/* feed, touch, remove, mkdir, advance. */
MUST_USE enum status world_feed(struct world *world, const struct scn_record *record,
                                struct error *err);
MUST_USE enum status world_handle_files(struct world *world, const struct scn_record *record,
                                        struct error *err);
MUST_USE enum status world_advance(struct world *world, const struct scn_record *record,
                                   struct error *err);

/* Starts the current query if it does not run, and runs.  After an error it does not run. */
MUST_USE enum status world_run(struct world *world, enum world_run kind, struct error *err);
/* world_run of the process drivers: a copy of this process, which calls world_run_here. */
MUST_USE enum status world_run_forked(struct world *world, enum world_run kind, struct error *err);
MUST_USE enum status world_run_here(struct world *world, enum world_run kind, struct error *err);
void world_fork_stop(struct world *world);
void world_fork_kill(struct world *world);
/* In the copy: what the other one shall know. */
void world_fork_report(struct bytes progress);
void world_add_progress(struct world *world, struct bytes json);
/* What came of a run, for the report: the batches from `seen` on; `failure` NULL: none. */
void world_note_run(struct world *world, size_t seen, const char *failure);
/* The columns of the sink's rows, from the spec. */
void world_read_schema(struct world *world, enum world_run kind);
/* Whether the current query runs in copies of this process, or in `binary`. */
bool world_forks(const struct world *world);
/* Arms the fault of a disk, here or in the next copy. */
void world_arm_fault(struct world *world, struct world_fault fault);
/* What is armed and has not acted is forgotten.  A copy ends for it, perhaps by what was armed: its
 * snapshots, taken beside the batches, could meet it at any time. */
void world_disarm(struct world *world);
/* Opens the current query, with recovery. */
MUST_USE enum status world_start(struct world *world, enum world_run kind, struct error *err);
void world_stop(struct world *world);
/* worker parallelism=N memory=BYTES spill=true: how the next start runs, and the next batch. */
void world_set_worker(struct world *world, const struct scn_record *record);
/* rewind to=N: stops the query and takes back the batches after N; back=N: the last N batches. With
 * the word `try` it is no error if they are out of reach. */
MUST_USE enum status world_rewind(struct world *world, const struct scn_record *record,
                                  struct error *err);
/* damage snapshot file=N at=N: stops the query, and flips the byte `at` (modulo the size) of the
 * file N of its snapshots, counted from the newest one's end (modulo their number); with the word
 * `cut` it ends there, with `gone` it is removed.  Without snapshots nothing happens. */
MUST_USE enum status world_damage(struct world *world, const struct scn_record *record,
                                  struct error *err);
/* SIGKILL: the disk goes back to what is durable. */
void world_kill(struct world *world);

/* The disk as the test sees it, without faults; and where a path of the scenario is on it. */
struct vfs *world_disk(const struct world *world);
const char *world_path(const struct world *world, const char *path);
/* What people do to files: made durable at once. */
void world_write(struct world *world, const char *path, struct bytes content, int64_t mtime_us);
void world_touch(struct world *world, const char *path, int64_t mtime_us);
void world_delete(struct world *world, const char *path);
void world_make_dirs(struct world *world, const char *path);
/* One run of the current query in a process of its own (world_process.c). */
MUST_USE enum status world_run_process(struct world *world, enum world_run kind, struct error *err);
void world_remove_root(struct world *world);
/* Calls fn for what is below a directory, in the order of the paths. */
void world_walk(const struct world *world, const char *dir,
                void (*fn)(void *arg, const char *path, const struct vfs_stat *stat), void *arg);

struct world_relation *world_relation(struct world *world, const char *name);
struct world_sink *world_sink(struct world *world, const char *name); /* NULL: unknown */

/* The spec of the current query as JSON, in the world's arena. */
const char *world_spec(struct world *world, enum world_run kind);

#endif
