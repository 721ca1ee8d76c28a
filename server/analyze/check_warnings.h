/*
 * What is legal as a stream and still not what its author can want: a join that never pads, a table
 * that is subtracted in every batch, a watermark that nothing uses, a stream that the watermark of
 * the query does not wait for.
 */
#ifndef SERVER_ANALYZE_CHECK_WARNINGS_H
#define SERVER_ANALYZE_CHECK_WARNINGS_H

#include "analyze/analyze.h"

/* Adds what there is to say to analysis->warnings.  The analysis is finished and not yet planned:
 * planning takes its nodes apart. */
void check_warnings(struct arena *arena, struct analysis *analysis);

/* Part of it: constants below `node` that fail wherever they are computed. */
struct logical_node;
void check_constants(struct arena *arena, struct analysis *analysis,
                     const struct logical_node *node);

/* Adds a copy of `warning` at the end. */
void analysis_warn(struct arena *arena, struct analysis *analysis, struct analysis_warning warning);

#endif
