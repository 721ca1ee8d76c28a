/*
 * The rows of one side of a stream-stream join: found by join key, let go by time.
 *
 * A row is kept as the bytes of its columns (columnar/row_key.h).  Rows of one key form a list;
 * rows that have an end stand, besides, in the list of the second in which they end.
 */
#ifndef SERVER_EXEC_JOIN_ROWS_H
#define SERVER_EXEC_JOIN_ROWS_H

#include "state/state_table.h"

struct join_row {
    struct join_row *next; /* of the same key */
    struct join_row *prev;
    struct state_entry *key;
    int64_t end_us; /* STATE_NO_END: none */
    uint64_t seq;   /* names the row in the changelog */
    uint32_t size;
    uint32_t run;    /* the batch in which it came */
    uint32_t at;     /* place in the list of its second */
    uint32_t change; /* 1 + place in the operator's list of changes; 0: not in it */
    bool matched;
    uint8_t bytes[];
};

struct join_rows;

struct join_rows *join_rows_new(void);
void join_rows_free(struct join_rows *rows); /* NULL is fine */

/* The first row of a key; NULL if there is none. */
struct join_row *join_rows_find(const struct join_rows *rows, struct bytes key, uint64_t hash);

/* Adds a copy of `bytes`. */
struct join_row *join_rows_add(struct join_rows *rows, struct bytes key, uint64_t hash,
                               struct bytes bytes, int64_t end_us, uint64_t seq);

/* Calls gone() for every row that ends at `limit_us` or before, and removes it afterwards. */
MUST_USE enum status join_rows_evict(struct join_rows *rows, int64_t limit_us,
                                     enum status (*gone)(void *arg, struct join_row *row,
                                                         struct error *err),
                                     void *arg, struct error *err);

void join_rows_remove(struct join_rows *rows, struct join_row *row);

struct bytes join_row_key(const struct join_rows *rows, const struct join_row *row);

/* The keys, in no order; NULL after the last.  *cursor is 0 in the beginning. */
struct state_entry *join_rows_next_key(const struct join_rows *rows, struct state_cursor *cursor);
struct bytes join_rows_entry_key(const struct join_rows *rows, const struct state_entry *entry);

/* Removes all. */
void join_rows_clear(struct join_rows *rows);

uint64_t join_rows_count(const struct join_rows *rows);
uint64_t join_rows_bytes(const struct join_rows *rows);

/* Closes holes; between batches. */
void join_rows_pack(struct join_rows *rows);

#endif
