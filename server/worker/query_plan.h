/*
 * From the text of a spec to a physical plan: parse, analyse, plan.
 */
#ifndef SERVER_WORKER_QUERY_PLAN_H
#define SERVER_WORKER_QUERY_PLAN_H

#include "checkpoint/batch_record.h"
#include "sink/sink.h"
#include "worker/relation_reader.h"

struct query_plan {
    struct query_spec *spec;
    struct physical_plan *plan;
    const struct type *schema; /* of the output */
    enum output_mode mode;
    const char *time_zone;
    bool ansi;
};

struct query_plan_config {
    struct bytes spec_json;
    bool bounded; /* every source is a table */
    struct vfs *vfs;
    struct clock *clock;
    const struct source_ops *(*find_source)(const char *format); /* NULL: the registry */
    const struct batch_intent *pinned; /* settings of the checkpoint, which win; NULL: none */
    bool whole_windows;                /* sliding windows are kept one by one, not as panes */
};

/* All in `query`.  Errors: those of parsing, analysis and planning. */
MUST_USE enum status query_plan_make(struct arena *query, const struct query_plan_config *config,
                                     struct query_plan *out, struct error *err);

/* The settings that the first batch of a checkpoint pins, with their values now. */
void query_plan_pinned(struct arena *arena, const struct query_spec *spec,
                       struct pinned_setting **out, uint32_t *count);

/* Whether the spec says otherwise than what is pinned. */
bool query_plan_differs(const struct query_spec *spec, const struct batch_intent *pinned);

/* What the spec sets and the checkpoint keeps otherwise, for people; NULL: nothing. */
const char *query_plan_kept(struct arena *arena, const struct query_spec *spec,
                            const struct batch_intent *pinned);

#endif
