/*
 * Windows on their way out of a store of panes, a batch at a time.
 */
#ifndef SERVER_EXEC_PANE_EMISSION_H
#define SERVER_EXEC_PANE_EMISSION_H

#include "exec/node.h"
#include "exec/pane_store.h"

struct pane_emission;

/* What the operator of an emission has to say. */
struct pane_output {
    struct exec_node *node;
    struct exec_context *ctx;
    struct pane_store *store;
    const struct type *const *other_types; /* of the keys but the window */
    uint32_t other_count;
};

struct pane_emission *pane_emission_new(const struct pane_output *output);
void pane_emission_free(struct pane_emission *emission); /* NULL is fine */

/* All windows with rows among [from, to], of all keys. */
MUST_USE enum status pane_emit_windows(struct pane_emission *emission, int64_t from, int64_t to,
                                       struct error *err);

/* The panes of one key, by generation; none is empty. */
struct pane_key_list {
    int64_t generation;
    struct pane_list list;
};

struct pane_key_lists {
    const struct pane_key_list *lists;
    uint32_t count;
};

/* The windows among [from, to] of a key; it and the lists are borrowed until the flush. */
MUST_USE enum status pane_emit_lists(struct pane_emission *emission, struct bytes key,
                                     const struct pane_key_lists *lists, int64_t from, int64_t to,
                                     struct error *err);

/* The windows behind `closed` that the present run has touched in the panes of an entry of
 * generation `number`, as far as no other touched entry of the key has them. */
MUST_USE enum status pane_emit_touched(struct pane_emission *emission, int64_t number,
                                       struct state_entry *entry, int64_t closed,
                                       struct error *err);

/* Sends what has been collected. */
MUST_USE enum status pane_emission_flush(struct pane_emission *emission, struct error *err);

#endif
