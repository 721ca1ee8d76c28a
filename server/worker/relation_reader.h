/*
 * Opening what a scan of the plan reads: the source of a relation, with its columns bound.
 */
#ifndef SERVER_WORKER_RELATION_READER_H
#define SERVER_WORKER_RELATION_READER_H

#include "exec/pipeline.h"
#include "plan/physical_plan.h"
#include "source/source.h"

/* What all sources of a query share. */
struct relation_context {
    const struct query_spec *spec;
    struct vfs *vfs;
    struct clock *clock;
    struct log *log; /* NULL: nobody listens */
    const char *time_zone;
    bool ansi;
    bool stream; /* what is only looked at is a stream */
    const struct source_ops *(*find_source)(const char *format);
};

/* The source of a relation, unbound; state_dir NULL: only to look at, or bounded.
 * Errors: DATA_SOURCE_NOT_FOUND and those of the source. */
MUST_USE enum status relation_open(const struct relation_context *context, struct arena *query,
                                   const struct relation_spec *relation, const char *state_dir,
                                   struct source **out, struct error *err);

/* Binds the columns that the scan of relation `index` delivers. */
MUST_USE enum status relation_bind(const struct physical_plan *plan, uint32_t index,
                                   struct source *source, struct error *err);

/* Reads a split into a leaf of the pipeline, which knows meanwhile what file it comes from. */
MUST_USE enum status relation_read_split(struct source *source, const struct source_split *split,
                                         struct pipeline *pipeline, uint32_t leaf,
                                         struct error *err);

/* The scan of relation `index`; NULL if the optimiser has removed it. */
const struct plan_node *plan_scan_of(const struct plan_node *root, uint32_t index);

#endif
