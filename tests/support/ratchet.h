/*
 * The lists beside the conformance suite.
 *
 * pending.txt names the cases that do not pass yet, one `<file>:<line>` or scenario path per line;
 * with it a runner is a ratchet: a listed case that passes and an unlisted one that fails are both
 * red.  deviations.tsv names the cases that are answered differently on purpose: rule, cases (a
 * pattern of `<file>:<text>` or `<file>:<line>`, with * and ?), what we answer, why a user is
 * better off.  A scenario is named by its path alone, and what we answer must stand in the report
 * of its failure.
 *
 * Files are named by their last two components: `expr/cast.jsonl`, `window/late.scn`.
 */
#ifndef TESTS_SUPPORT_RATCHET_H
#define TESTS_SUPPORT_RATCHET_H

#include "base/arena.h"
#include "base/buffer.h"

struct ratchet;

/* Reads the lists; a path that is NULL is an empty list.  Errors: IO_FAILURE, FILE_NOT_FOUND. */
MUST_USE enum status ratchet_open(const char *pending, const char *deviations, struct ratchet **out,
                                  struct error *err);
void ratchet_close(struct ratchet *ratchet); /* NULL is fine */

/* "expr/cast.jsonl" of a longer path. */
const char *ratchet_name(const char *path);

bool ratchet_has_pending(const struct ratchet *ratchet); /* a list was given */
bool ratchet_is_pending(struct ratchet *ratchet, const char *name);
/* Our answer to a case by the deviations, or NULL if Spark's holds. */
const char *ratchet_deviation(const struct ratchet *ratchet, const char *name);

/* Counts a case.  True: it is as the lists say.  Without a pending list: `passed`. */
bool ratchet_judge(struct ratchet *ratchet, const char *name, bool passed, struct buffer *report);

#endif
