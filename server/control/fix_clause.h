/*
 * Clauses of a SQL text, found by their words: where a grouping key is put, which part of the text
 * an ORDER BY is.  Texts in quotes, comments and what stands in parentheses are passed over.
 * What these functions find is a guess; only what the analyser accepts is offered.
 *
 * Threads: any.
 */
#ifndef SERVER_CONTROL_FIX_CLAUSE_H
#define SERVER_CONTROL_FIX_CLAUSE_H

#include <stdbool.h>
#include <stddef.h>

enum fix_grouping {
    FIX_GROUPING_KEYS,   /* behind GROUP BY, before its keys */
    FIX_GROUPING_CLAUSE, /* there is no GROUP BY: it would stand here */
    FIX_GROUPING_SELECT, /* the keys are those of the SELECT list, which begins here */
};

/* Where the SELECT (or the AGGREGATE of a pipe) that begins at `from` takes another grouping key.
 */
enum fix_grouping fix_grouping_at(const char *sql, size_t from, size_t *at);

/* The clause that begins with the word, ORDER, LIMIT or OFFSET, at or after `from`, and the blanks
 * (in a pipe the |>) before it: [*begin, *end).  False: there is none. */
bool fix_clause_of(const char *sql, size_t from, const char *word, size_t *begin, size_t *end);

#endif
