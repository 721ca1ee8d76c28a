/*
 * See fix_name.h.
 */
#include "control/fix_name.h"

#include "base/buffer.h"
#include "base/options.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define NAMES_MAX 64 /* that are looked at */

bool fix_is_word_byte(char c)
{
    return c == '_' || c == '`' || c == '.' || isalnum((unsigned char)c) || (c & 0x80) != 0;
}

size_t fix_behind_quotes(const char *sql, size_t at)
{
    char quote = sql[at];
    if (quote != '\'' && quote != '"' && quote != '`')
        return at;
    for (at++; sql[at] != '\0' && sql[at] != quote; at++)
        if (quote != '`' && sql[at] == '\\' && sql[at + 1] != '\0')
            at++;
    return sql[at] == '\0' ? at : at + 1;
}

size_t fix_find_word(const char *sql, size_t from, const char *word)
{
    size_t size = strlen(word);
    char quote = '\0';
    for (size_t i = 0; sql[i] != '\0'; i++) {
        if (quote != '\0') {
            if (sql[i] == '\\' && sql[i + 1] != '\0')
                i++;
            else if (sql[i] == quote)
                quote = '\0';
        } else if (sql[i] == '\'' || sql[i] == '"') {
            quote = sql[i];
        } else if (i >= from && strncasecmp(sql + i, word, size) == 0 &&
                   (i == 0 || !fix_is_word_byte(sql[i - 1])) && !fix_is_word_byte(sql[i + size])) {
            return i;
        }
    }
    return SIZE_MAX;
}

const char *fix_bare_name(struct arena *arena, const char *quoted)
{
    struct buffer out = {0};
    bool plain = true;
    for (const char *at = quoted; *at != '\0'; at++) {
        if (*at == '`')
            continue;
        plain &= *at == '_' || *at == '.' || isalnum((unsigned char)*at);
        buffer_add_byte(&out, (uint8_t)*at);
    }
    const char *result = plain && out.size_bytes > 0
                             ? arena_strndup(arena, out.data, out.size_bytes)
                             : arena_strdup(arena, quoted);
    buffer_fini(&out);
    return result;
}

static bool means_more(const char *part, size_t size)
{
    static const char *const words[] = {"all",          "case",
                                        "cast",         "current_date",
                                        "current_time", "current_timestamp",
                                        "current_user", "date",
                                        "distinct",     "exists",
                                        "false",        "from",
                                        "interval",     "not",
                                        "null",         "localtimestamp",
                                        "session_user", "timestamp",
                                        "true",         "user",
                                        "timestamp_ntz"};
    bool more = size == 0 || isdigit((unsigned char)*part);
    for (size_t i = 0; !more && i < sizeof words / sizeof words[0]; i++)
        more = size == strlen(words[i]) && strncasecmp(part, words[i], size) == 0;
    return more;
}

const char *fix_sql_name(struct arena *arena, const char *quoted)
{
    const char *bare = fix_bare_name(arena, quoted);
    for (const char *part = bare; part != NULL;) {
        size_t size = strcspn(part, ".");
        if (means_more(part, size))
            return arena_strdup(arena, quoted);
        part = part[size] == '.' ? part + size + 1 : NULL;
    }
    return bare;
}

const char *fix_quote_name(struct arena *arena, const char *name)
{
    struct buffer quoted = {0};
    buffer_add_byte(&quoted, '`');
    for (const char *at = name; *at != '\0'; at++) {
        if (*at == '`')
            buffer_add_byte(&quoted, '`');
        buffer_add_byte(&quoted, (uint8_t)*at);
    }
    buffer_add_byte(&quoted, '`');
    const char *text = strpbrk(name, ".`") == NULL ? fix_sql_name(arena, buffer_text(&quoted))
                                                   : arena_strdup(arena, buffer_text(&quoted));
    buffer_fini(&quoted);
    return text;
}

const char *fix_last_part(struct arena *arena, const char *name)
{
    const char *dot = strrchr(name, '.');
    name = dot == NULL ? name : dot + 1;
    name += *name == '`';
    return arena_strndup(arena, name, strcspn(name, "`"));
}

const char *fix_meant_name(struct arena *arena, const char *quoted, const char *proposals)
{
    const char *names[NAMES_MAX], *parts[NAMES_MAX];
    size_t count = 0;
    while (quoted != NULL && proposals != NULL && *proposals != '\0' && count < NAMES_MAX) {
        size_t size = strcspn(proposals, ",");
        names[count] = arena_strndup(arena, proposals, size);
        parts[count] = fix_last_part(arena, names[count]);
        count++;
        proposals += size;
        proposals += strspn(proposals, ", ");
    }
    const char *part = count == 0 ? NULL : nearest_name(fix_last_part(arena, quoted), parts, count);
    for (size_t i = 0; part != NULL && i < count; i++)
        if (parts[i] == part)
            return names[i];
    return NULL;
}
