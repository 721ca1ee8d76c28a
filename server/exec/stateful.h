/*
 * Operators with state.
 *
 * Over a stream such an operator is a boundary: the stage before it ends in its `writer`, which
 * spreads what arrives over the partitions of the state, and a partition stage begins with the
 * operator itself, once per partition, each with its own share of the state.  In every batch
 *
 *     begin()  ->  pull() from each writer of each input  ->  finish()  ->  changes()
 *
 * If more waits for a partition than it may have in memory at once, its keys are taken in rounds,
 * those of one range of their hashes after those of another (exec_in_round()):
 *
 *     begin()  ->  (pull() from all  ->  end_round()  ->  changes()  ->  let_go())*  ->  pull()
 * from all  ->  finish()  ->  changes()
 *
 * What a watermark ends of the state on the disk is let out in parts, too: behind the last pull(),
 *
 *     (expire()  ->  changes()  ->  let_go())*  ->  expire()  ->  finish()  ->  changes()
 *
 * The state is memory; changes() is what makes it durable.  A batch that fails leaves the state in
 * any shape: the run ends, and the next one restores it from the changelog.
 */
#ifndef SERVER_EXEC_STATEFUL_H
#define SERVER_EXEC_STATEFUL_H

#include "exec/node.h"
#include "state/changelog.h"
#include "state/spill.h"

struct operator_stats {
    uint64_t rows_total;   /* entries now */
    uint64_t rows_updated; /* entries written in the batch */
    uint64_t rows_removed;
    uint64_t rows_dropped; /* as too late */
    uint64_t memory_bytes;
    uint64_t duplicates;    /* dedup: rows dropped as such */
    bool spills;            /* can keep part of its state on the disk only */
    uint64_t rows_spilled;  /* entries that are on the disk only */
    uint64_t rows_fetched;  /* in the batch: came back into memory */
    uint64_t spill_lookups; /* in the batch: keys looked up */
    uint64_t spill_scanned; /* in the batch: entries seen by scans */
    /* In the batch, added up over the partitions, and measured by the pipeline: */
    int64_t updates_us;  /* rows were taken, and what they changed came out */
    int64_t removals_us; /* what the watermark has ended came out and went */
    int64_t commit_us;   /* changes were put together and written to the log */
};

struct stateful_ops {
    const char *name; /* as in Spark's progress documents: "stateStoreSave"; NULL: keeps nothing,
                         and changes and restore are NULL, too: all rows only have to meet */

    /* The end of the stage before: an operator whose push() takes the rows of one input. */
    const struct exec_node_ops *writer;

    /* Takes what one writer of input `input` has for this partition.  The writer is read only. */
    enum status (*pull)(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                        struct exec_node *writer, struct error *err);

    /* Appends the changes of the batch in the form of state/changelog.h, without its head. */
    enum status (*changes)(struct exec_node *self, struct exec_context *ctx, struct buffer *out,
                           struct error *err);

    /* Does again what a batch of a former run did.  Errors: CHECKSUM_MISMATCH. */
    enum status (*restore)(struct exec_node *self, const struct change *change, struct error *err);

    /* Optional: such a change is restored soon.  Asks for the memory where restore() will look. */
    void (*expect)(struct exec_node *self, const struct change *change);

    void (*stats)(const struct exec_node *self, struct operator_stats *out);

    /* Optional: the state may be larger than memory (state/spill.h).  NULL: not this one. */
    struct spill *(*spill)(struct exec_node *self);

    /* With spill: moves state to the disk until so many bytes of memory are free, if there are, the
     * coldest first.  Not between begin() and changes().  Errors: those of the disk. */
    enum status (*let_go)(struct exec_node *self, uint64_t bytes, struct error *err);

    /* With let_go: all that a batch has for some keys has been pulled, and they will not come again
     * in it.  What the batch lets out of them comes out now.  NULL: no rounds. */
    enum status (*end_round)(struct exec_node *self, struct exec_context *ctx, struct error *err);

    /* Optional: brings in what the watermark has ended of what is on the disk.  If that is not all,
     * because it would take more than `room`: *more, and what it has brought has come out. */
    enum status (*expire)(struct exec_node *self, struct exec_context *ctx, uint64_t room,
                          bool *more, struct error *err);

    /* Whether a batch without rows would do something at this watermark, given that of the last. */
    bool (*wants_batch)(const struct plan_node *node, enum emit_mode mode, int64_t watermark_us,
                        int64_t last_watermark_us);
};

/* What `spill` has to say of the batch. */
void stateful_spill_stats(const struct spill *spill, struct operator_stats *out);

/* The implementation of a node over streams; NULL if it keeps no state, or the engine cannot. */
const struct exec_node_ops *stateful_of(const struct plan_node *node);

/* Whether this node of a plan begins a partition stage. */
bool stateful_is_boundary(const struct plan_node *node);

/* A join of a stream with a table keeps nothing: the table is read in every batch. */
bool stateful_is_static_join(const struct plan_node *node);

/* Every implementation. */
#define EXEC_STATEFUL(plan_kind, ops) extern const struct exec_node_ops ops;
#include "exec/stateful_table.def"
#undef EXEC_STATEFUL
/* An aggregate by session windows is another operator than one by other keys. */
extern const struct exec_node_ops node_session_aggregate;
/* And so is one by sliding windows that are kept as panes. */
extern const struct exec_node_ops node_pane_aggregate;

#endif
