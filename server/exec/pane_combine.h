/*
 * Windows put together from the panes of one key.
 *
 * The panes of a window lie in two neighbouring generations: the last ones of the first, the first
 * ones of the second.  For some windows in a row both ends are merged as they grow, so that each
 * pane is merged once and each window costs one merge more, however many panes it has.
 */
#ifndef SERVER_EXEC_PANE_COMBINE_H
#define SERVER_EXEC_PANE_COMBINE_H

#include "exec/pane_store.h"

#define COMBINE_WINDOWS_MAX 64

struct pane_windows {
    int64_t first; /* all of them have their first pane in the generation of lists[0] */
    uint32_t count;
    int64_t base;                     /* the first pane of that generation */
    const struct pane_list *lists[2]; /* of the generation and the one after it; NULL: no panes */
    uint32_t run;                     /* only windows with a pane touched in it; 0: all */
    struct arena *arena;              /* of states that are not plain */
    struct buffer *scratch;
    uint8_t *blocks;  /* count + 1 blocks; the last one is working memory */
    uint64_t present; /* out: bit k: block k is that of a window with rows */
};

MUST_USE enum status pane_combine(const struct pane_store *store, struct pane_windows *windows,
                                  struct error *err);

#endif
