#include "base/path.h"

#include "base/check.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define GLOB_DEPTH_MAX    16
#define GLOB_EXPANDED_MAX 1000

char *path_join(struct arena *arena, const char *dir, const char *name)
{
    size_t length = strlen(dir);
    if (length == 0)
        return arena_strdup(arena, name);
    const char *slash = dir[length - 1] == '/' ? "" : "/";
    return arena_sprintf(arena, "%s%s%s", dir, slash, name);
}

char *path_dirname(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return arena_strdup(arena, ".");
    return arena_strndup(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

const char *path_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* Appends one component to a path of `length` characters in `out`; ".." takes the last one off. */
static size_t add_component(char *out, size_t length, const char *part, size_t size)
{
    if (size == 0 || (size == 1 && part[0] == '.'))
        return length;
    if (size == 2 && part[0] == '.' && part[1] == '.') {
        size_t cut = length;
        while (cut > 0 && out[cut - 1] != '/')
            cut--;
        bool is_up = length - cut == 2 && out[cut] == '.' && out[cut + 1] == '.';
        if (length > cut && !is_up)
            return cut > 1 ? cut - 1 : cut;
        if (length > 0 && cut == length)
            return length; /* the root has no parent */
    }
    if (length > 0 && out[length - 1] != '/')
        out[length++] = '/';
    memcpy(out + length, part, size);
    return length + size;
}

char *path_normalize(struct arena *arena, const char *path)
{
    size_t size = strlen(path);
    char *out = arena_new_object(arena, size + 2);
    size_t length = 0;
    if (path[0] == '/')
        out[length++] = '/';
    for (const char *at = path; *at != '\0';) {
        size_t part = strcspn(at, "/");
        length = add_component(out, length, at, part);
        at += part + (at[part] == '/');
    }
    if (length == 0)
        out[length++] = '.';
    CHECK(length <= size + 1);
    out[length] = '\0';
    return out;
}

bool path_is_below(const char *path, const char *dir)
{
    size_t length = strlen(dir);
    if (length == 1 && dir[0] == '/')
        return path[0] == '/';
    return strncmp(path, dir, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

size_t path_scheme_length(const char *path)
{
    size_t length = 0;
    while ((path[length] >= 'a' && path[length] <= 'z') ||
           (path[length] >= 'A' && path[length] <= 'Z') ||
           (length > 0 && ((path[length] >= '0' && path[length] <= '9') || path[length] == '+' ||
                           path[length] == '-' || path[length] == '.')))
        length++;
    return path[length] == ':' && path[length + 1] == '/' ? length : 0;
}

const char *path_strip_file_scheme(const char *path)
{
    if (path_scheme_length(path) != 4 || strncasecmp(path, "file", 4) != 0)
        return path;
    path += 5;
    if (path[0] != '/' || path[1] != '/')
        return path;
    const char *authority = path + 2;
    if (strncmp(authority, "localhost/", 10) == 0)
        return authority + 9;
    return authority[0] == '/' ? authority : path;
}

char *path_absolute(struct arena *arena, const char *path)
{
    const char *plain = path_strip_file_scheme(path);
    char here[4096];
    if (plain[0] == '/' || getcwd(here, sizeof here) == NULL)
        return path_normalize(arena, plain);
    return path_normalize(arena, path_join(arena, here, plain));
}

/* A character that a java.net.URI leaves as it is, although it is not ASCII. */
static bool uri_keeps(uint32_t code)
{
    bool is_control = code < 0xa0;
    bool is_space = code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) ||
                    code == 0x2028 || code == 0x2029 || code == 0x202f || code == 0x205f ||
                    code == 0x3000;
    return !is_control && !is_space;
}

void path_add_uri(struct buffer *out, const char *path)
{
    buffer_add_text(out, "file://");
    struct bytes rest = bytes_of_text(path);
    while (rest.size_bytes > 0) {
        size_t size = 0;
        uint32_t code = utf8_decode(rest, &size);
        struct bytes character = bytes_of(rest.data, size == 0 ? 1 : size);
        if (size > 1 && uri_keeps(code))
            buffer_add(out, character.data, size);
        else
            percent_encode(out, character, "/-_.!~*'()@&=+$,:;");
        rest = bytes_of(rest.data + character.size_bytes, rest.size_bytes - character.size_bytes);
    }
}

char *path_to_uri(struct arena *arena, const char *path)
{
    struct buffer out = {0};
    path_add_uri(&out, path);
    char *result = arena_strdup(arena, buffer_text(&out));
    buffer_fini(&out);
    return result;
}

bool glob_has_magic(const char *pattern)
{
    return strpbrk(pattern, "*?[{\\") != NULL;
}

/* The end of the class that begins after '[' at `at` (its ']'), or NULL. */
static const char *class_end(const char *at)
{
    const char *first = at + (*at == '^' || *at == '!');
    for (const char *end = first; *end != '\0'; end++) {
        if (*end == '\\' && end[1] != '\0')
            end++;
        else if (*end == ']' && end > first)
            return end;
    }
    return NULL;
}

static bool class_matches(const char *at, const char *end, unsigned char c)
{
    bool negated = *at == '^' || *at == '!';
    at += negated;
    bool found = false;
    while (at < end) {
        if (*at == '\\' && at + 1 < end)
            at++;
        unsigned char low = (unsigned char)*at++;
        unsigned char high = low;
        if (at + 1 < end && *at == '-') {
            at++;
            if (*at == '\\' && at + 1 < end)
                at++;
            high = (unsigned char)*at++;
        }
        found = found || (c >= low && c <= high);
    }
    return found != negated;
}

/* The '}' that closes the group begun before `at`, or NULL. */
static const char *group_end(const char *at)
{
    int depth = 1;
    for (; *at != '\0'; at++) {
        if (*at == '\\' && at[1] != '\0')
            at++;
        else if (*at == '{')
            depth++;
        else if (*at == '}' && --depth == 0)
            return at;
    }
    return NULL;
}

/* The end of the alternative at `at` of a group: its ',' or `end`. */
static const char *alternative_end(const char *at, const char *end)
{
    int depth = 0;
    for (; at < end; at++) {
        if (*at == '\\' && at + 1 < end)
            at++;
        else if (*at == '{')
            depth++;
        else if (*at == '}')
            depth--;
        else if (*at == ',' && depth == 0)
            return at;
    }
    return end;
}

/*
 * Matching: a pattern position is a stack of spans, the innermost alternative of a group first,
 * then what follows the group.  The stack lives in the callers' frames.
 */
struct span {
    const char *at;
    const char *end;
    const struct span *after; /* what follows; NULL: the end of the pattern */
};

/* `budget` bounds the work of patterns such as "*a*a*a*". */
static bool match(struct span span, const char *name, int depth, uint32_t *budget);

static bool match_group(struct span span, const char *name, int depth, uint32_t *budget)
{
    const char *close = group_end(span.at);
    if (close == NULL || close >= span.end)
        return false;
    struct span rest = {.at = close + 1, .end = span.end, .after = span.after};
    for (const char *at = span.at;; at++) {
        const char *end = alternative_end(at, close);
        if (match((struct span){.at = at, .end = end, .after = &rest}, name, depth + 1, budget))
            return true;
        if (end == close)
            return false;
        at = end;
    }
}

static bool match_star(struct span span, const char *name, int depth, uint32_t *budget)
{
    for (;; name++) {
        if (match(span, name, depth, budget))
            return true;
        if (*name == '\0' || *name == '/')
            return false;
    }
}

static bool match(struct span span, const char *name, int depth, uint32_t *budget)
{
    if (depth > GLOB_DEPTH_MAX || *budget == 0)
        return false;
    (*budget)--;
    for (;;) {
        if (span.at == span.end) {
            if (span.after == NULL)
                return *name == '\0';
            span = *span.after;
            continue;
        }
        char c = *span.at++;
        if (c == '*')
            return match_star(span, name, depth, budget);
        if (c == '{')
            return match_group(span, name, depth, budget);
        if (*name == '\0')
            return false;
        if (c == '[') {
            const char *end = class_end(span.at);
            if (end == NULL || !class_matches(span.at, end, (unsigned char)*name))
                return false;
            span.at = end + 1;
        } else if (c == '\\' && span.at < span.end) {
            if (*span.at++ != *name)
                return false;
        } else if (c == '?' ? *name == '/' : c != *name) {
            return false;
        }
        name++;
    }
}

bool glob_matches(const char *pattern, const char *name)
{
    uint32_t budget = 100000;
    return match((struct span){.at = pattern, .end = pattern + strlen(pattern)}, name, 0, &budget);
}

static enum status refuse(struct error *err, const char *pattern, const char *reason)
{
    return error_raise(err, STATUS_INVALID_GLOB, "pattern", pattern, "reason", reason, NULL);
}

enum status glob_check(const char *pattern, struct error *err)
{
    int depth = 0;
    for (const char *at = pattern; *at != '\0'; at++) {
        if (*at == '\\') {
            if (at[1] == '\0')
                return refuse(err, pattern, "it ends with a backslash");
            at++;
        } else if (*at == '[') {
            at = class_end(at + 1);
            if (at == NULL)
                return refuse(err, pattern, "a '[' is not closed");
        } else if (*at == '{') {
            if (++depth > GLOB_DEPTH_MAX)
                return refuse(err, pattern, "its groups are nested too deeply");
        } else if (*at == '}' && depth > 0) {
            depth--;
        }
    }
    return depth == 0 ? OK : refuse(err, pattern, "a '{' is not closed");
}

struct expansion {
    struct arena *arena;
    const char *pattern; /* for errors */
    char **items;
    size_t count;
};

/* The first group of `text` that has a '/' inside; its '{', or NULL. */
static const char *slash_group(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '\\' && at[1] != '\0') {
            at++;
        } else if (*at == '{') {
            const char *end = group_end(at + 1);
            if (end != NULL && memchr(at, '/', (size_t)(end - at)) != NULL)
                return at;
        }
    }
    return NULL;
}

static enum status expand(struct expansion *expansion, const char *text, int depth,
                          struct error *err)
{
    if (depth > GLOB_DEPTH_MAX)
        return refuse(err, expansion->pattern, "its groups are nested too deeply");
    const char *open = slash_group(text);
    if (open == NULL) {
        if (expansion->count >= GLOB_EXPANDED_MAX)
            return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "a file name pattern's groups",
                               "limit", "1000", NULL);
        expansion->items[expansion->count++] = arena_strdup(expansion->arena, text);
        return OK;
    }
    const char *close = group_end(open + 1);
    for (const char *at = open + 1;; at++) {
        const char *end = alternative_end(at, close);
        TRY(expand(expansion,
                   arena_sprintf(expansion->arena, "%.*s%.*s%s", (int)(open - text), text,
                                 (int)(end - at), at, close + 1),
                   depth + 1, err));
        if (end == close)
            return OK;
        at = end;
    }
}

enum status glob_expand(struct arena *arena, const char *pattern, char ***out, size_t *count,
                        struct error *err)
{
    TRY(glob_check(pattern, err));
    struct expansion expansion = {.arena = arena, .pattern = pattern};
    expansion.items = arena_new_object(arena, GLOB_EXPANDED_MAX * sizeof(char *));
    TRY(expand(&expansion, pattern, 0, err));
    *out = expansion.items;
    *count = expansion.count;
    return OK;
}

void percent_encode(struct buffer *out, struct bytes text, const char *keep)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.size_bytes; i++) {
        uint8_t c = text.data[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     (c != 0 && (strchr("-._~", c) != NULL || strchr(keep, c) != NULL));
        if (plain) {
            buffer_add_byte(out, c);
        } else {
            uint8_t code[3] = {'%', (uint8_t)digits[c >> 4], (uint8_t)digits[c & 15]};
            buffer_add(out, code, sizeof code);
        }
    }
}

static int hex_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void percent_decode(struct buffer *out, struct bytes text)
{
    for (size_t i = 0; i < text.size_bytes; i++) {
        uint8_t c = text.data[i];
        if (c == '%' && text.size_bytes - i > 2) {
            int high = hex_value(text.data[i + 1]);
            int low = hex_value(text.data[i + 2]);
            if (high >= 0 && low >= 0) {
                c = (uint8_t)(high << 4 | low);
                i += 2;
            }
        }
        buffer_add_byte(out, c);
    }
}
