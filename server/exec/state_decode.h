/*
 * Entries of the state made readable: what the operators keep, as JSON rows.
 *
 * The bytes are those that the operators write (changes()); this is the only other place
 * that knows them, and it is where they are looked at, not worked with.
 *
 *     aggregation        keys; the value of each function as it would be now; endsAt, where the
 *                        watermark closes the group
 *     sliding windows    the same for each pane: paneEnd in place of the window
 *     session windows    a row per open session: keys, the session, the values
 *     dropDuplicates     the key columns; expiresAt
 *     stream-stream join side, the columns of the row, matched, expiresAt; a name that is there
 *                        already has a number: ad, ad_2
 *     limit              rowsPassed
 *
 * Threads: one at a time.
 */
#ifndef SERVER_EXEC_STATE_DECODE_H
#define SERVER_EXEC_STATE_DECODE_H

#include "plan/physical_plan.h"

struct state_decoder;

/* For an operator with state; in `query`.  Errors: those of the aggregate functions. */
MUST_USE enum status state_decoder_new(struct arena *query, const struct plan_node *node,
                                       const char *time_zone, struct state_decoder **out,
                                       struct error *err);
void state_decoder_free(struct state_decoder *decoder); /* NULL is fine */

/* The columns of its rows as a JSON array: [{"name", "type", "role": "key" | "value" | "time"}]. */
void state_decoder_columns(const struct state_decoder *decoder, struct buffer *out);

struct state_decoder_entry {
    uint32_t partition;
    int64_t bucket;
    struct bytes key;
    struct bytes value;
};

/* Appends the rows of one entry, JSON objects with a comma between them; *rows is their number.
 * Errors: CHECKSUM_MISMATCH. */
MUST_USE enum status state_decoder_print(struct state_decoder *decoder,
                                         const struct state_decoder_entry *entry,
                                         struct buffer *out, uint32_t *rows, struct error *err);

#endif
