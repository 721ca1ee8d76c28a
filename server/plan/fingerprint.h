/*
 * The fingerprint: what of a plan must not change while its checkpoint lives.
 *
 * It covers the sources in their order (name, format, location) and the stateful operators with
 * the names and types of their keys and state and the functions that made them.  Filters and
 * projections may change.  The text is JSON:
 *
 *   {"sources":[{"name":"clicks","format":"json"}],
 *    "operators":[{"id":0,"kind":"Aggregate",
 *      "keys":["visitor string","window struct<...>"],
 *      "state":["first(url) string"],
 *      "details":["IGNORE NULLS"],      what the name of an aggregate does not say
 *      "times":["at timestamp"],        what windows among the keys are made of,
 *      "timeForms":["6c0f..."],         and a hash of what that is computed from
 *      "groupingSets":[0,1,3]}]}        ROLLUP(a, b)
 *
 * A part that the text of an older checkpoint does not have is not compared.
 */
#ifndef SERVER_PLAN_FINGERPRINT_H
#define SERVER_PLAN_FINGERPRINT_H

#include "plan/physical_plan.h"

/* Sets plan->fingerprint and plan->fingerprint_text. */
void fingerprint_fill(struct arena *arena, struct physical_plan *plan);

/* Compares with the text of a checkpoint whose fingerprint differs: says what.
 * Errors: CHECKPOINT.QUERY_CHANGED (path empty: the caller knows it), with Spark's condition as the
 * cause where the state has changed. */
MUST_USE enum status fingerprint_compare(struct bytes stored, const struct physical_plan *plan,
                                         struct error *err);

#endif
