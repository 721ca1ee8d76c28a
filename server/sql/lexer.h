/*
 * SQL text to tokens.
 *
 * The whole text is read before parsing, because Spark's grammar looks ahead without bound.
 * Comments are dropped here; a hint's opening directly after SELECT is a token, elsewhere a
 * comment.  What fits no rule becomes one UNRECOGNIZED token of one code point, which no grammar
 * rule accepts, so that the parser reports it in its place.
 *
 * A word is letters of any script, digits and `_`; whether a word outside ASCII may be a name is
 * the parser's business (INVALID_IDENTIFIER).
 *
 * Threads: any.
 */
#ifndef SERVER_SQL_LEXER_H
#define SERVER_SQL_LEXER_H

#include "base/arena.h"
#include "base/bytes.h"

enum keyword {
    KW_NONE,
#define KEYWORD(word) KW_##word,
#include "sql/keywords.def"
#undef KEYWORD
    KW_COUNT_
};

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,   /* keyword says which; KW_NONE for any other */
    TOKEN_QUOTED, /* `name` */
    TOKEN_STRING, /* 'a', "a", r'a' */
    TOKEN_INTEGER,
    TOKEN_DECIMAL,    /* 1.5 */
    TOKEN_EXPONENT,   /* 1e3 */
    TOKEN_TINYINT,    /* 1Y */
    TOKEN_SMALLINT,   /* 1S */
    TOKEN_BIGINT,     /* 1L */
    TOKEN_FLOAT,      /* 1F */
    TOKEN_DOUBLE,     /* 1D */
    TOKEN_BIGDECIMAL, /* 1BD */
    TOKEN_LEFT_PAREN,
    TOKEN_RIGHT_PAREN,
    TOKEN_LEFT_BRACKET,
    TOKEN_RIGHT_BRACKET,
    TOKEN_COMMA,
    TOKEN_DOT,
    TOKEN_SEMICOLON,
    TOKEN_COLON,
    TOKEN_DOUBLE_COLON,
    TOKEN_QUESTION,
    TOKEN_ARROW,     /* -> */
    TOKEN_FAT_ARROW, /* => */
    TOKEN_PIPE_STEP, /* |> */
    TOKEN_HINT_START,
    TOKEN_HINT_END, /* a star and a slash, anywhere */
    TOKEN_EQUAL,    /* =, == */
    TOKEN_NULL_EQUAL,
    TOKEN_NOT_EQUAL, /* <>, != */
    TOKEN_LESS,
    TOKEN_LESS_EQUAL, /* <=, !> */
    TOKEN_GREATER,
    TOKEN_GREATER_EQUAL, /* >=, !< */
    TOKEN_SHIFT_LEFT,
    TOKEN_SHIFT_RIGHT,
    TOKEN_SHIFT_RIGHT_UNSIGNED,
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_STAR,
    TOKEN_SLASH,
    TOKEN_PERCENT,
    TOKEN_TILDE,
    TOKEN_AMPERSAND,
    TOKEN_BAR,
    TOKEN_CONCAT,
    TOKEN_HAT,
    TOKEN_BANG,
    TOKEN_UNRECOGNIZED,
};

struct token {
    enum token_kind kind;
    enum keyword keyword;
    int position, position_end;
};

struct token_list {
    struct token *items; /* the last one is END, whose position is the size of the text */
    size_t count;
};

/*
 * Errors: UNCLOSED_BRACKETED_COMMENT; LIMIT_EXCEEDED when the text has more than INT_MAX bytes or
 * the arena is full.
 */
MUST_USE enum status lexer_read(struct arena *arena, struct bytes text, struct token_list *out,
                                struct error *err);

/* The keyword that a word is, in any case, or KW_NONE. */
enum keyword keyword_find(struct bytes word);

/* The word in capitals, as in messages. */
const char *keyword_name(enum keyword keyword);

#endif
