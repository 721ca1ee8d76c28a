/*
 * Names in SQL texts: where a word stands, which of the names that there are a misspelt one means,
 * and whether a name needs its backquotes.
 *
 * All results are in the arena.  Threads: any.
 */
#ifndef SERVER_CONTROL_FIX_NAME_H
#define SERVER_CONTROL_FIX_NAME_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Of a name with its dots and backquotes. */
bool fix_is_word_byte(char c);

/* Behind the text or the name in quotes that begins at `at`; `at` if none does.  A backslash in a
 * name is a byte like others. */
size_t fix_behind_quotes(const char *sql, size_t at);

/* The place at or after `from` where the word stands outside of quotes; SIZE_MAX: nowhere. */
size_t fix_find_word(const char *sql, size_t from, const char *word);

/* `a` -> a; the quoted name if it has bytes that need quotes. */
const char *fix_bare_name(struct arena *arena, const char *quoted);

/* As fix_bare_name(), but 1, NULL or CURRENT_DATE, which mean something else in SQL, stay quoted.
 */
const char *fix_sql_name(struct arena *arena, const char *quoted);

/* A name as SQL has it: t, `my t`, `null`. */
const char *fix_quote_name(struct arena *arena, const char *name);

/* `s`.`visitr` -> visitr */
const char *fix_last_part(struct arena *arena, const char *name);

/* Of "`s`.`a`, `s`.`b`" the one that is meant by the name, as it stands there: a misspelling, not
 * just the nearest.  NULL: none; the two may be NULL. */
const char *fix_meant_name(struct arena *arena, const char *quoted, const char *proposals);

#endif
