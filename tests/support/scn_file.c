#include "scn_file.h"

#include "base/buffer.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdlib.h>

/* What a directive may say.  `words`: how many besides the directive; `keys`: NULL = any. */
static const struct directive {
    const char *kind;
    size_t words_min, words_max;
    bool any_keys;
    const char *keys; /* blank-separated, if not any */
    bool body;        /* must have one; a record without one that may have is fine */
    bool no_body;
} directives[] = {
    {"scenario", 1, 1, false, "", false, true},
    {"require", 1, 9, false, "", false, true},
    {"source", 1, 1, true, NULL, false, false},
    {"table", 1, 1, true, NULL, true, false},
    {"view", 1, 1, false, "from watermark dropDuplicates dropDuplicatesWithinWatermark", false,
     false},
    {"conf", 0, 0, true, NULL, false, true},
    {"sink", 1, 1, true, NULL, false, true},
    {"query", 1, 3, true, NULL, true, false},
    {"feed", 1, 1, false, "partition file raw mtime", false, false},
    {"touch", 1, 1, false, "file mtime", false, true},
    {"remove", 1, 1, false, "file", false, true},
    {"mkdir", 1, 1, false, "dir", false, true},
    {"run", 0, 3, false, "", false, true},
    {"stop", 0, 0, false, "", false, true},
    {"start", 0, 0, false, "", false, true},
    {"restart", 0, 0, false, "", false, true},
    {"kill", 0, 0, false, "", false, true},
    {"rewind", 0, 1, false, "to back", false, true},
    {"worker", 0, 0, false, "parallelism spill memory", false, true},
    {"advance", 1, 4, false, "", false, true},
    {"arm", 1, 2, false, "hit error torn", false, true},
    {"disk", 1, 1, false, "call nth runs", false, true},
    {"damage", 1, 2, false, "file at", false, true},
    {"broker", 1, 1, false, "times", false, true},
    {"expect", 1, 4, false, "batch", true, false},
    {"sweep", 1, 2, false, "at min", false, true},
    {"end", 0, 0, false, "", false, true},
};

static enum status refuse(struct error *err, const char *path, int line, const char *what)
{
    return error_set(err, SCENARIO_INVALID, "%s:%d: %s", path, line, what);
}

const char *scn_pair(const struct scn_record *record, const char *key)
{
    for (size_t i = 0; i < record->pair_count; i++) {
        if (strcmp(record->pairs[i].key, key) == 0)
            return record->pairs[i].value;
    }
    return NULL;
}

bool scn_has_word(const struct scn_record *record, const char *word)
{
    for (size_t i = 0; i < record->word_count; i++) {
        if (strcmp(record->words[i], word) == 0)
            return true;
    }
    return false;
}

/* ---- the directive line ---- */

/* The next word, with its double quotes taken off; NULL at the end of the line. */
static const char *next_word(struct arena *arena, const char **at)
{
    const char *p = *at;
    while (isspace((unsigned char)*p))
        p++;
    if (*p == '\0')
        return NULL;
    struct buffer word = {0};
    bool quoted = false;
    for (; *p != '\0' && (quoted || !isspace((unsigned char)*p)); p++) {
        if (*p == '"')
            quoted = !quoted;
        else if (quoted && *p == '\\' && p[1] != '\0')
            buffer_add_byte(&word, (uint8_t) * ++p);
        else
            buffer_add_byte(&word, (uint8_t)*p);
    }
    *at = p;
    const char *out = arena_strndup(arena, word.data, word.size_bytes);
    buffer_fini(&word);
    return out;
}

/* The `=` of key=value, or NULL: the key begins with a letter, `_` or `.`. */
static const char *pair_sign(const char *word)
{
    const char *p = word;
    if (!isalpha((unsigned char)*p) && *p != '_' && *p != '.')
        return NULL;
    while (isalnum((unsigned char)*p) || *p == '_' || *p == '.')
        p++;
    return *p == '=' ? p : NULL;
}

static void read_head(struct arena *arena, const char *line, struct scn_record *record)
{
    size_t room = strlen(line) / 2 + 2;
    record->head = line;
    record->words = arena_new_object(arena, room * sizeof(*record->words));
    record->pairs = arena_new_object(arena, room * sizeof(*record->pairs));
    const char *at = line;
    record->kind = next_word(arena, &at);
    for (;;) {
        bool quoted = at[strspn(at, " \t")] == '"';
        const char *word = next_word(arena, &at);
        if (word == NULL)
            break;
        const char *sign = quoted ? NULL : pair_sign(word);
        if (sign == NULL) {
            record->words[record->word_count++] = word;
            continue;
        }
        struct scn_pair *pair = &record->pairs[record->pair_count++];
        pair->key = arena_strndup(arena, word, (size_t)(sign - word));
        pair->value = sign + 1;
    }
}

static bool listed(const char *keys, const char *key)
{
    size_t size = strlen(key);
    for (const char *p = keys; *p != '\0';) {
        size_t word = strcspn(p, " ");
        if (word == size && memcmp(p, key, size) == 0)
            return true;
        p += word + (p[word] == ' ' ? 1 : 0);
    }
    return false;
}

static enum status check_record(const struct scn_file *file, const struct scn_record *record,
                                struct error *err)
{
    const struct directive *directive = NULL;
    for (size_t i = 0; i < sizeof(directives) / sizeof(directives[0]); i++) {
        if (strcmp(directives[i].kind, record->kind) == 0)
            directive = &directives[i];
    }
    if (directive == NULL)
        return refuse(err, file->path, record->line, "expected a directive");
    if (record->word_count < directive->words_min || record->word_count > directive->words_max)
        return refuse(err, file->path, record->line, "wrong number of words");
    for (size_t i = 0; !directive->any_keys && i < record->pair_count; i++) {
        if (!listed(directive->keys, record->pairs[i].key))
            return refuse(err, file->path, record->line, "unknown key=value");
    }
    if (directive->body && record->body_count == 0)
        return refuse(err, file->path, record->line, "expected a body; an empty one is (none)");
    if (directive->no_body && record->body_count > 0)
        return refuse(err, file->path, record->body_line, "this record has no body");
    return OK;
}

/* ---- the file ---- */

static const char *next_line(struct arena *arena, struct bytes text, size_t *at)
{
    size_t start = *at, end = start;
    while (end < text.size_bytes && text.data[end] != '\n')
        end++;
    *at = end + 1;
    return arena_strndup(arena, text.data + start, end - start);
}

static bool is_blank(const char *line)
{
    return line[strspn(line, " \t\r\v\f")] == '\0';
}

enum status scn_parse(struct arena *arena, const char *path, struct bytes text,
                      struct scn_file *out, struct error *err)
{
    size_t lines = 2;
    if (!utf8_is_valid(text))
        return refuse(err, path, 1, "expected UTF-8");
    for (size_t i = 0; i < text.size_bytes; i++)
        lines += text.data[i] == '\n';
    *out = (struct scn_file){.path = path};
    out->records = arena_new_object(arena, lines * sizeof(*out->records));
    struct scn_record *record = NULL;
    size_t at = 0;
    for (int number = 1; at < text.size_bytes; number++) {
        const char *line = next_line(arena, text, &at);
        if (line[0] == '#')
            continue;
        if (is_blank(line)) {
            record = NULL;
        } else if (strncmp(line, "  ", 2) == 0) {
            if (record == NULL)
                return refuse(err, path, number, "a body line outside a record");
            if (record->body_count == 0) {
                record->body_line = number;
                record->body = arena_new_object(arena, lines * sizeof(*record->body));
            }
            record->body[record->body_count++] = line + 2;
        } else {
            record = &out->records[out->count++];
            record->line = number;
            record->body_line = number + 1;
            read_head(arena, line, record);
        }
    }
    for (size_t i = 0; i < out->count; i++)
        TRY(check_record(out, &out->records[i], err));
    if (out->count == 0 || strcmp(out->records[0].kind, "scenario") != 0)
        return refuse(err, path, 1, "expected `scenario \"sentence\"` first");
    return OK;
}

/* ---- cells ---- */

/* The end of the JSON value that begins at `p`, or NULL. */
static const char *json_end(const char *p)
{
    int depth = 0;
    bool quoted = false;
    for (; *p != '\0'; p++) {
        if (quoted) {
            if (*p == '\\' && p[1] != '\0')
                p++;
            else if (*p == '"')
                quoted = false;
        } else if (*p == '"') {
            quoted = true;
        } else if (*p == '{' || *p == '[') {
            depth++;
        } else if (*p == '}' || *p == ']') {
            depth--;
        }
        if (depth == 0 && !quoted)
            return p + 1;
    }
    return NULL;
}

enum status scn_cells(struct arena *arena, const char *row, struct scn_cell **out, size_t *count,
                      struct error *err)
{
    *out = arena_new_object(arena, (strlen(row) / 2 + 2) * sizeof(**out));
    *count = 0;
    for (const char *p = row; *p != '\0';) {
        if (isspace((unsigned char)*p)) {
            p++;
            continue;
        }
        bool json = *p == '"' || *p == '{' || *p == '[';
        const char *end = json ? json_end(p) : p + strcspn(p, " \t\r");
        if (end == NULL)
            return error_set(err, SCENARIO_INVALID, "a cell does not end: %s", p);
        (*out)[*count].json = json;
        (*out)[*count].text = arena_strndup(arena, p, (size_t)(end - p));
        *count += 1;
        p = end;
    }
    return OK;
}
