/*
 * The aggregate functions of a streaming aggregation: what to compute of the input, and where the
 * state of each lies in the block of a group.
 */
#ifndef SERVER_EXEC_AGGREGATE_CALLS_H
#define SERVER_EXEC_AGGREGATE_CALLS_H

#include "exec/exec_context.h"
#include "expr/aggregate.h"
#include "plan/physical_plan.h"

#define AGGREGATE_ADDS_MAX 8

typedef enum status aggregate_merge_fn(const struct expr *expr, struct arena *arena, uint8_t *into,
                                       const uint8_t *from, struct error *err);

struct aggregate_call_slot {
    const struct expr *expr; /* EXPR_AGGREGATE */
    uint32_t first_input;    /* among the inputs: its arguments, then its order keys */
    uint32_t input_count;
    int filter_input; /* -1: none */
    uint32_t offset;  /* of its state in the block */
    bool plain;       /* its state points to nothing: copying the block copies it */
    bool copies;      /* merge and load leave nothing of theirs pointing to what they were given */
    aggregate_merge_fn *merge; /* of its function */
};

struct aggregate_calls {
    struct aggregate_call_slot *slots;
    uint32_t count;
    uint32_t block_bytes; /* multiple of 8 */
    uint32_t key_count;
    uint32_t input_count; /* keys included */
    const struct expr_program *program;
    struct expr_state *state;
    const struct type **key_types;
    bool plain;         /* all are */
    uint32_t adds;      /* words of a block, if aggregate_calls_add() is for them, or 0 */
    uint64_t *counters; /* of these: all bits set if the word is a counter, else none */
};

/* Errors: NOT_SUPPORTED (DISTINCT over a stream), LIMIT_EXCEEDED. */
MUST_USE enum status aggregate_calls_open(struct aggregate_calls *calls, struct arena *query,
                                          const struct plan_node *node, struct error *err);

/* *inputs: keys, then the inputs of all functions, in the batch arena. */
MUST_USE enum status aggregate_calls_eval(const struct aggregate_calls *calls,
                                          struct exec_context *ctx, const struct batch *batch,
                                          struct vector ***inputs, struct error *err);

/* An empty group in zeroed memory. */
void aggregate_calls_init(const struct aggregate_calls *calls, uint8_t *block);

/* blocks[row]: the group of each selected row. */
MUST_USE enum status aggregate_calls_update(const struct aggregate_calls *calls,
                                            struct exec_context *ctx, const struct batch *batch,
                                            struct vector **inputs, uint8_t *const *blocks,
                                            struct arena *arena, struct error *err);

/* into += from, where `from` and what it points to will not live on; `arena` does. */
MUST_USE enum status aggregate_calls_merge(const struct aggregate_calls *calls, struct arena *arena,
                                           uint8_t *into, const uint8_t *from,
                                           struct buffer *scratch, struct error *err);

/* sums[i] += from[i], for states that are integers to be added: calls->adds words.  The highest bit
 * of the result is set if that is not what the functions would do.  Where the compiler knows the
 * number of words, it keeps the sums in registers. */
static inline __attribute__((always_inline)) uint64_t
aggregate_calls_add(const struct aggregate_calls *calls, uint64_t *sums, const uint8_t *from,
                    uint32_t words)
{
    uint64_t odd = 0;
    for (uint32_t i = 0; i < words; i++) {
        uint64_t word;
        memcpy(&word, from + (size_t)i * 8, sizeof word);
        uint64_t sum = sums[i] + word;
        odd |= ((sums[i] ^ sum) & (word ^ sum)) | ((sums[i] | word) & calls->counters[i]);
        sums[i] = sum;
    }
    return odd;
}

/* One column per function, behind the keys. */
MUST_USE enum status aggregate_calls_finish(const struct aggregate_calls *calls,
                                            struct exec_context *ctx, uint8_t *const *blocks,
                                            uint32_t count, struct vector **out, struct error *err);

/* A block as bytes, for the changelog, and back. */
void aggregate_calls_save(const struct aggregate_calls *calls, const uint8_t *block,
                          struct buffer *out, struct buffer *scratch);
MUST_USE enum status aggregate_calls_load(const struct aggregate_calls *calls, struct arena *arena,
                                          struct bytes in, uint8_t *block, struct error *err);

/* What the state of a call keeps of its input: "each value", "each distinct value"; NULL: its size
 * does not depend on how many rows there are. */
const char *aggregate_call_keeps(const struct expr *call);

#endif
