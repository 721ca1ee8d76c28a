/*
 * Java's regular expressions on PCRE2: a pattern is checked and rewritten (classes with unions and
 * intersections, \p{IsX}, \uXXXX, flags), then compiled with JIT.
 *
 * Compiled patterns are kept in a cache of the process with a limit; who uses one holds it between
 * regex_acquire() and regex_release() (a kernel: for a batch).  Threads: any.
 */
#ifndef SERVER_EXPR_REGEX_H
#define SERVER_EXPR_REGEX_H

#include "base/buffer.h"

struct regex;

/* NULL: the pattern is not valid in Java. */
struct regex *regex_acquire(struct bytes pattern);
void regex_release(struct regex *regex); /* NULL is fine */

struct bytes regex_pattern(const struct regex *regex);
uint32_t regex_group_count(const struct regex *regex);
/* The number of a named group, or -1. */
int regex_group_number(const struct regex *regex, struct bytes name);

/* Finds with one pattern; belongs to one thread. */
struct regex_matcher;
struct regex_matcher *regex_matcher_new(struct regex *regex); /* does not hold the regex */
void regex_matcher_free(struct regex_matcher *matcher);       /* NULL is fine */

/* The first match at or behind byte `from`.  False: none. */
bool regex_find(struct regex_matcher *matcher, struct bytes text, size_t from);
/* Bytes of a group of the last match, 0 the whole; false if the group took no part. */
bool regex_group(const struct regex_matcher *matcher, uint32_t group, size_t *start, size_t *end);

/* Rewrites a Java pattern for PCRE2.  *unicode: classes are Unicode's ((?U)).  False: invalid. */
bool regex_translate(struct bytes pattern, struct buffer *out, bool *unicode);

#endif
