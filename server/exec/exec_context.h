/*
 * What operators know about the batch they work on.  One per task; the batch thread fills it
 * before the task begins, and only the task's thread uses it until the task has ended.
 */
#ifndef SERVER_EXEC_EXEC_CONTEXT_H
#define SERVER_EXEC_EXEC_CONTEXT_H

#include "base/clock.h"
#include "columnar/batch.h"
#include "expr/kernel.h"

/* What an operator with state lets out of a batch. */
enum emit_mode {
    EMIT_APPEND,   /* what is final */
    EMIT_UPDATE,   /* what the batch changed */
    EMIT_COMPLETE, /* everything */
};

#define BATCH_ARENA_BYTES ((size_t)4 << 30) /* what an arena of a batch may hand out */

struct exec_context {
    struct arena *batch_arena; /* reset after each input batch has gone through; = eval.arena */
    struct eval_context eval;  /* now, zone, seed, partition */
    int64_t batch_id;
    uint32_t run;       /* of the stages: rises with every batch that is run; never 0 */
    uint32_t partition; /* of a partition stage */
    uint32_t partitions;
    uint32_t round; /* of `rounds`, in which a partition takes what waits for it; 0 of 0: at once */
    uint32_t rounds;
    enum emit_mode mode;
    int64_t late_watermark_us;     /* rows up to it are too late */
    int64_t eviction_watermark_us; /* state up to it is complete */
    struct batch_receiver *sink;   /* where the last operator's output goes */
    uint64_t output_rows;          /* handed to it */
    bool enough;                   /* nobody needs further input: a LIMIT is satisfied */
    const struct clock *clock;     /* how long something takes; NULL: nobody wants to know */
    int64_t removal_us;            /* of the present finish(): what ended went away */
};

/* For differences only. */
static inline int64_t exec_clock_us(const struct exec_context *ctx)
{
    return ctx->clock == NULL ? 0 : clock_monotonic_us(ctx->clock);
}

/* Whether a key with this state_hash() is taken in the present round.  A round is a range of the
 * bits by which what is spilled is sorted (state/spill_image.h), so that each has its own pages. */
static inline bool exec_in_round(const struct exec_context *ctx, uint64_t hash)
{
    return ctx->rounds <= 1 ||
           (uint32_t)(((uint64_t)(uint32_t)hash * ctx->rounds) >> 32) == ctx->round;
}

#endif
