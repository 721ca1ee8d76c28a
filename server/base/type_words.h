/*
 * What somebody means who writes a type that there is not: one that other systems have, or a name
 * that is misspelt.  Parsers of SQL and of schemas suggest the same.
 *
 * Threads: any.
 */
#ifndef SERVER_BASE_TYPE_WORDS_H
#define SERVER_BASE_TYPE_WORDS_H

#include <stddef.h>

/* The type, in capitals, that is meant by `written` (a word without parameters), or NULL.  A type
 * that holds less than others of its kind is only suggested for a word that is one letter off. */
const char *type_word_meant(const char *written);

#endif
