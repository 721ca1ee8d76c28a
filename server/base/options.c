#include "base/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

const char *options_get(const struct options *options, const char *name)
{
    for (size_t i = options->count; i-- > 0;) {
        if (strcasecmp(options->items[i].name, name) == 0)
            return options->items[i].value;
    }
    return NULL;
}

#define NAME_MAX_BYTES 64

static size_t edit_distance(const char *a, const char *b)
{
    size_t row[NAME_MAX_BYTES + 1];
    size_t size_b = strlen(b);
    if (size_b > NAME_MAX_BYTES || strlen(a) > NAME_MAX_BYTES)
        return NAME_MAX_BYTES;
    for (size_t j = 0; j <= size_b; j++)
        row[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < size_b; j++) {
            size_t above = row[j + 1];
            size_t cost = strncasecmp(a + i, b + j, 1) == 0 ? diagonal : diagonal + 1;
            if (above + 1 < cost)
                cost = above + 1;
            if (row[j] + 1 < cost)
                cost = row[j] + 1;
            row[j + 1] = cost;
            diagonal = above;
        }
    }
    return row[size_b];
}

/* Two letters in a row in the other order: "coutn" for count. */
static bool is_swapped(const char *a, const char *b)
{
    size_t i = 0;
    if (strlen(a) != strlen(b))
        return false;
    while (a[i] != '\0' && a[i] == b[i])
        i++;
    return a[i] != '\0' && a[i + 1] != '\0' && a[i] == b[i + 1] && a[i + 1] == b[i] &&
           strcmp(a + i + 2, b + i + 2) == 0;
}

const char *nearest_name(const char *name, const char *const *candidates, size_t count)
{
    const char *best = NULL;
    size_t size = strlen(name), best_distance = size / 3 + 1;
    for (size_t i = 0; i < count; i++) {
        size_t distance = is_swapped(name, candidates[i]) ? 1 : edit_distance(name, candidates[i]);
        if (distance > 1 && distance > strlen(candidates[i]) / 2)
            continue; /* "day" is no misspelling of "a" */
        if (distance < best_distance || (distance == best_distance && best == NULL)) {
            best = candidates[i];
            best_distance = distance;
        }
    }
    return best;
}

static const char *nearest_option(const char *name, const struct option_def *const *tables)
{
    const char *best = NULL;
    for (; *tables != NULL; tables++) {
        for (const struct option_def *def = *tables; def->name != NULL; def++) {
            const char *both[] = {best, def->name};
            best = best == NULL ? nearest_name(name, both + 1, 1) : nearest_name(name, both, 2);
        }
    }
    return best;
}

static const struct option_def *option_find(const char *name,
                                            const struct option_def *const *tables)
{
    for (; *tables != NULL; tables++) {
        for (const struct option_def *def = *tables; def->name != NULL; def++) {
            if (strcasecmp(def->name, name) == 0)
                return def;
        }
    }
    return NULL;
}

struct options *options_of_table(struct arena *arena, const struct options *options,
                                 const struct option_def *table)
{
    const struct option_def *const tables[] = {table, NULL};
    struct options *out = arena_new_object(arena, sizeof *out);
    struct option *items = arena_new_object(arena, (options->count + 1) * sizeof *items);
    for (size_t i = 0; i < options->count; i++)
        if (option_find(options->items[i].name, tables) != NULL)
            items[out->count++] = options->items[i];
    out->items = items;
    out->pointer = options->pointer;
    return out;
}

void options_point_at(const struct options *options, const char *name, struct error *err)
{
    if (options->pointer == NULL)
        return;
    for (size_t i = 0; i < options->count; i++) {
        if (strcasecmp(options->items[i].name, name) == 0)
            name = options->items[i].name;
    }
    size_t used = (size_t)snprintf(err->pointer, sizeof err->pointer, "%s/", options->pointer);
    for (; *name != '\0' && used + 2 < sizeof err->pointer; name++) { /* RFC 6901 */
        if (*name == '~' || *name == '/') {
            err->pointer[used++] = '~';
            err->pointer[used++] = *name == '~' ? '0' : '1';
        } else {
            err->pointer[used++] = *name;
        }
    }
    if (used < sizeof err->pointer)
        err->pointer[used] = '\0';
}

static enum status invalid(const struct options *options, const char *name, const char *value,
                           const char *expected, struct error *err)
{
    enum status status = error_raise(err, STATUS_INVALID_OPTION_VALUE, "option", name, "value",
                                     value, "expected", expected, NULL);
    options_point_at(options, name, err);
    return status;
}

enum status options_bool(const struct options *options, const char *name, bool fallback, bool *out,
                         struct error *err)
{
    const char *value = options_get(options, name);
    if (value == NULL) {
        *out = fallback;
        return OK;
    }
    if (strcasecmp(value, "true") != 0 && strcasecmp(value, "false") != 0)
        return invalid(options, name, value, "true or false", err);
    *out = strcasecmp(value, "true") == 0;
    return OK;
}

enum status options_int(const struct options *options, const char *name, int64_t min, int64_t max,
                        int64_t fallback, int64_t *out, struct error *err)
{
    const char *value = options_get(options, name);
    if (value == NULL) {
        *out = fallback;
        return OK;
    }
    char *end = NULL;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || number < min || number > max) {
        char expected[96];
        (void)snprintf(expected, sizeof expected, "an integer from %lld to %lld", (long long)min,
                       (long long)max);
        return invalid(options, name, value, expected, err);
    }
    *out = number;
    return OK;
}

enum status options_bytes(const struct options *options, const char *name, int64_t fallback,
                          int64_t *out, struct error *err)
{
    static const struct {
        const char *suffix;
        int shift;
    } units[] = {{"", 0},   {"b", 0},   {"k", 10}, {"kb", 10}, {"m", 20}, {"mb", 20},
                 {"g", 30}, {"gb", 30}, {"t", 40}, {"tb", 40}, {"p", 50}, {"pb", 50}};
    const char *value = options_get(options, name);
    if (value == NULL) {
        *out = fallback;
        return OK;
    }
    char *end = NULL;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (errno == 0 && end != value && number > 0) {
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
            if (strcasecmp(end, units[i].suffix) == 0 && number <= (INT64_MAX >> units[i].shift)) {
                *out = (int64_t)number << units[i].shift;
                return OK;
            }
        }
    }
    return invalid(options, name, value, "a positive size such as 1048576, 10m or 1g", err);
}

#define WORDS_MAX       8
#define WORD_BYTES_MAX  32
#define WORDS_BYTES_MAX 160

/* "off, archive or delete: what becomes of ..." -> its words, and their list as written. */
static size_t split_words(const char *help, char words[WORDS_MAX][WORD_BYTES_MAX],
                          char list[WORDS_BYTES_MAX])
{
    size_t count = 0;
    size_t size = strcspn(help, ":");
    (void)snprintf(list, WORDS_BYTES_MAX, "%.*s", (int)size, help);
    for (const char *at = list; *at != '\0' && count < WORDS_MAX;) {
        at += strspn(at, ", ");
        size_t length = strcspn(at, ", ");
        if (length > 0 && !(length == 2 && strncmp(at, "or", 2) == 0))
            (void)snprintf(words[count++], WORD_BYTES_MAX, "%.*s", (int)length, at);
        at += length;
    }
    return count;
}

static enum status check_word(const struct options *options, const struct option_def *def,
                              struct error *err)
{
    char words[WORDS_MAX][WORD_BYTES_MAX], list[WORDS_BYTES_MAX];
    const char *names[WORDS_MAX];
    size_t count = split_words(def->help, words, list);
    const char *value = options_get(options, def->name);
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(words[i], value) == 0)
            return OK;
        names[i] = words[i];
    }
    enum status status = invalid(options, def->name, value, list, err);
    const char *nearest = nearest_name(value, names, count);
    size_t used = strlen(err->text);
    if (nearest != NULL && used < sizeof err->text)
        (void)snprintf(err->text + used, sizeof err->text - used, ". Did you mean %s?", nearest);
    return status;
}

static enum status check_ratio(const struct options *options, const char *name, struct error *err)
{
    const char *value = options_get(options, name);
    char *end = NULL;
    double number = strtod(value, &end);
    if (end == value || *end != '\0' || !(number >= 0 && number <= 1))
        return invalid(options, name, value, "a number from 0 to 1", err);
    return OK;
}

/* The value that counts, whatever becomes of it later. */
static enum status check_value(const struct options *options, const struct option_def *def,
                               struct error *err)
{
    bool flag = false;
    int64_t number = 0;
    switch (def->kind) {
    case OPTION_BOOL:
        return options_bool(options, def->name, false, &flag, err);
    case OPTION_INT: {
        bool any = def->min == 0 && def->max == 0;
        return options_int(options, def->name, any ? INT64_MIN : def->min,
                           any ? INT64_MAX : def->max, 0, &number, err);
    }
    case OPTION_BYTES:
        return options_bytes(options, def->name, 0, &number, err);
    case OPTION_WORD:
        return check_word(options, def, err);
    case OPTION_RATIO:
        return check_ratio(options, def->name, err);
    case OPTION_TEXT:
    case OPTION_DURATION: /* with and without a unit: the reader of the option knows which */
    case OPTION_CHAR:
        return OK;
    }
    return OK;
}

enum status options_check(const struct options *options, const struct option_def *const *tables,
                          struct error *err)
{
    for (size_t i = 0; i < options->count; i++) {
        const char *name = options->items[i].name;
        const struct option_def *def = option_find(name, tables);
        if (def != NULL) {
            TRY(check_value(options, def, err));
            continue;
        }
        const char *nearest = nearest_option(name, tables);
        char hint[128] = "";
        if (nearest != NULL)
            (void)snprintf(hint, sizeof hint, " Did you mean %s?", nearest);
        enum status status =
            error_raise(err, STATUS_UNKNOWN_OPTION, "option", name, "hint", hint, NULL);
        options_point_at(options, name, err);
        return status;
    }
    return OK;
}
