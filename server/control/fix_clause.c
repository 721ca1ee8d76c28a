/*
 * See fix_clause.h.
 */
#include "control/fix_clause.h"

#include "control/fix_name.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Behind blanks and comments. */
static size_t skip_blanks(const char *sql, size_t at)
{
    for (;;) {
        if (isspace((unsigned char)sql[at])) {
            at++;
        } else if (sql[at] == '-' && sql[at + 1] == '-') {
            at += strcspn(sql + at, "\n");
        } else if (sql[at] == '/' && sql[at + 1] == '*') {
            const char *end = strstr(sql + at + 2, "*/");
            at = end == NULL ? strlen(sql) : (size_t)(end + 2 - sql);
        } else {
            return at;
        }
    }
}

/* A word, a text in quotes or a byte, and how deep in parentheses it stands. */
struct token {
    size_t from, to;
    int depth;
};

/* The next one; false: the text, or the parentheses that it began in, have ended. */
static bool next_token(const char *sql, struct token *token)
{
    size_t at = skip_blanks(sql, token->to);
    token->from = at;
    if (sql[at] == '\0')
        return false;
    if (sql[at] == '\'' || sql[at] == '"') {
        token->to = fix_behind_quotes(sql, at);
        return true;
    }
    while (fix_is_word_byte(sql[at]))
        at = sql[at] == '`' ? fix_behind_quotes(sql, at) : at + 1;
    token->to = at == token->from ? at + 1 : at;
    token->depth += at > token->from ? 0 : (sql[at] == '(') - (sql[at] == ')');
    return token->depth >= 0;
}

static bool is_word(const char *sql, const struct token *token, const char *word)
{
    return token->to - token->from == strlen(word) &&
           strncasecmp(sql + token->from, word, strlen(word)) == 0;
}

static bool is_one_of(const char *sql, const struct token *token, const char *const *words)
{
    for (; *words != NULL; words++)
        if (is_word(sql, token, *words))
            return true;
    return false;
}

/* A word that begins what may follow the keys of GROUP BY; `window(` is none. */
static bool ends_grouping(const char *sql, const struct token *token)
{
    static const char *const words[] = {"HAVING", "ORDER",     "SORT",  "CLUSTER", "DISTRIBUTE",
                                        "LIMIT",  "OFFSET",    "UNION", "EXCEPT",  "MINUS",
                                        "WINDOW", "INTERSECT", ";",     NULL};
    bool pipe = strncmp(sql + token->from, "|>", 2) == 0;
    return pipe || (is_one_of(sql, token, words) && sql[skip_blanks(sql, token->to)] != '(');
}

/* GROUP BY ends at `by`: whether ALL follows, and nothing more. */
static bool is_all(const char *sql, size_t by)
{
    struct token token = {.to = by};
    if (!next_token(sql, &token) || !is_word(sql, &token, "ALL"))
        return false;
    return !next_token(sql, &token) || ends_grouping(sql, &token);
}

enum fix_grouping fix_grouping_at(const char *sql, size_t from, size_t *at)
{
    struct token token = {.to = from};
    size_t list = 0, last = from;
    bool tail = false, distinct = false;
    while (next_token(sql, &token)) {
        if (token.depth > 0) {
            last = token.to;
            continue;
        }
        if (list == 0 && is_word(sql, &token, "SELECT"))
            list = token.to;
        else if (list == last && list > 0 && is_word(sql, &token, "DISTINCT"))
            distinct = (list = token.to) > 0;
        tail = tail || is_word(sql, &token, "FROM") || is_word(sql, &token, "AGGREGATE");
        if (tail && is_word(sql, &token, "GROUP")) {
            struct token by = token;
            if (next_token(sql, &by) && is_word(sql, &by, "BY")) {
                *at = is_all(sql, by.to) && list > 0 ? list : by.to;
                return *at == by.to ? FIX_GROUPING_KEYS : FIX_GROUPING_SELECT;
            }
        }
        if (tail && ends_grouping(sql, &token))
            break;
        last = token.to;
    }
    *at = distinct ? list : last;
    return distinct ? FIX_GROUPING_SELECT : FIX_GROUPING_CLAUSE;
}

/* Whether the clause that begins with `word` ends before the token. */
static bool ends_clause(const char *sql, const struct token *token, const char *word)
{
    static const char *const words[] = {"LIMIT", "OFFSET", ";", NULL};
    return strncmp(sql + token->from, "|>", 2) == 0 ||
           (is_one_of(sql, token, words) && !is_word(sql, token, word));
}

bool fix_clause_of(const char *sql, size_t from, const char *word, size_t *begin, size_t *end)
{
    struct token token = {.to = from};
    size_t last = from;
    bool found = false;
    while (next_token(sql, &token)) {
        if (token.depth == 0 && found && ends_clause(sql, &token, word))
            break;
        if (token.depth == 0 && !found && is_word(sql, &token, word)) {
            *begin = token.from;
            found = true;
        }
        last = token.to;
    }
    *end = last;
    while (found && *begin > 0 && isspace((unsigned char)sql[*begin - 1]))
        --*begin;
    if (found && *begin > 1 && sql[*begin - 1] == '>' && sql[*begin - 2] == '|')
        *begin -= 2;
    return found;
}
