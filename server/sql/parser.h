/*
 * The parser of Spark 4.3's query language: text to tree, nothing resolved.
 *
 * Recursive descent, with operator precedence climbing for expressions.  Nearly all keywords may
 * be names (spark.sql.ansi.enforceReservedKeywords is off), so where Spark's parser looks ahead
 * this one tries the keyword's reading and falls back to the name.  Nesting is limited; a deeper
 * statement is FAILED_TO_PARSE_TOO_COMPLEX.
 *
 * Errors carry the place of the offending token as byte offsets; parser_place() turns an offset
 * into Spark's line and column.
 *
 * Threads: any (no shared state).
 */
#ifndef SERVER_SQL_PARSER_H
#define SERVER_SQL_PARSER_H

#include "sql/ast.h"

/* Parses a statement: a query and any number of `;`.
 * Errors: PARSE_SYNTAX_ERROR, PARSE_EMPTY_STATEMENT, and what Spark's parser raises. */
MUST_USE enum status parser_query(struct arena *arena, struct bytes text, struct ast_query **out,
                                  struct error *err);

/* What "x" is: a string, or a name as spark.sql.ansi.doubleQuotedIdentifiers wants it. */
enum parser_quotes {
    PARSER_QUOTES_TEXT,
    PARSER_QUOTES_NAMES
};

/* As parser_query. */
MUST_USE enum status parser_query_with(struct arena *arena, struct bytes text,
                                       enum parser_quotes quotes, struct ast_query **out,
                                       struct error *err);

/* Parses one expression, which must be the whole text (no alias). */
MUST_USE enum status parser_expr(struct arena *arena, struct bytes text, struct ast_expr **out,
                                 struct error *err);

/* Parses a type, which must be the whole text. */
MUST_USE enum status parser_type(struct arena *arena, struct bytes text, struct ast_type **out,
                                 struct error *err);

/* Line and column, both from 1, in code points, of a byte offset; LF and CR LF end a line. */
void parser_place(struct bytes text, int position, int *line, int *column);

#endif
