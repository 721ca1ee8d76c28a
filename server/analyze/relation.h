/*
 * Relations: the parts that several files of the analyser share.
 */
#ifndef SERVER_ANALYZE_RELATION_H
#define SERVER_ANALYZE_RELATION_H

#include "analyze/analyzer.h"

/* VALUES of one row without columns: SELECT without FROM. */
struct logical_node *relation_one_row(struct analyzer *analyzer);

/* The input's columns and those of the generator. */
MUST_USE enum status relation_generate(struct analyzer *analyzer, struct relation *input,
                                       struct expr *generator, bool outer,
                                       struct logical_node **out, struct error *err);

/* join.c */
MUST_USE enum status resolve_join(struct analyzer *analyzer, const struct ast_relation *ast,
                                  struct scope *outer, struct expr_list *outer_refs,
                                  struct relation *input, struct relation *out, struct error *err);

/* analyze.c: a watermark of the query; its id, which is that of the same one if it is there. */
uint32_t analysis_add_watermark(struct analyzer *analyzer,
                                const struct analysis_watermark *watermark);

#endif
