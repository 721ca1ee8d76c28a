#include "config/config.h"

#include "base/arena.h"
#include "base/check.h"
#include "base/duration.h"
#include "base/options.h"
#include "base/vfs_posix.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CONFIG_FILE_MAX    (1U << 20)
#define FLAG_NAME_MAX      64
#define PATHS_MAX          256
#define DURATION_TEXT_SIZE 32

struct setting_def {
    const char *name;
    enum setting_kind kind;
    const char *default_value;
    int64_t min;
    int64_t max;
    const char *help;
};

static const struct setting_def defs[] = {
#define SETTING(name, kind, default_, min, max, help)                                              \
    {#name, SETTING_KIND_##kind, default_, min, max, help},
#include "config/settings.def"
#undef SETTING
};

struct value {
    const char *text;
    int64_t number; /* BOOL 0/1, COUNT, SIZE, DURATION in us, LEVEL */
    const char **paths;
    size_t path_count;
    enum setting_origin origin;
};

struct config {
    struct arena *arena;
    struct value values[SETTING_COUNT_];
};

static enum status invalid(struct error *err, const struct setting_def *def, const char *value,
                           const char *reason)
{
    return error_raise(err, STATUS_INVALID_SETTING, "name", def->name, "value", value, "reason",
                       reason, NULL);
}

static enum status parse_bool(const struct setting_def *def, const char *text, int64_t *out,
                              struct error *err)
{
    static const char *const yes[] = {"true", "yes", "on", "1"};
    static const char *const no[] = {"false", "no", "off", "0"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        if (strcasecmp(text, yes[i]) == 0 || strcasecmp(text, no[i]) == 0) {
            *out = strcasecmp(text, yes[i]) == 0;
            return OK;
        }
    }
    return invalid(err, def, text, "true or false is expected");
}

static enum status parse_number(const struct setting_def *def, const char *text, int64_t *out,
                                struct error *err)
{
    const char *at = text;
    int64_t number = 0;
    if (*at < '0' || *at > '9')
        return invalid(err, def, text, "a number is expected");
    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, *at - '0', &number))
            return invalid(err, def, text, "the number is too large");
    if (def->kind == SETTING_KIND_SIZE && *at != '\0') {
        static const char suffixes[] = "kmgt";
        const char *suffix = strchr(suffixes, tolower((unsigned char)*at));
        if (suffix == NULL ||
            (at[1] != '\0' && strcasecmp(at + 1, "b") != 0 && strcasecmp(at + 1, "ib") != 0))
            return invalid(err, def, text, "the unit of a size is k, m, g or t");
        if (__builtin_mul_overflow(number, (int64_t)1 << (10 * (suffix - suffixes + 1)), &number))
            return invalid(err, def, text, "the size is too large");
        at += strlen(at);
    }
    if (*at != '\0')
        return invalid(err, def, text, "a number is expected");
    *out = number;
    return OK;
}

static enum status parse_level(const struct setting_def *def, const char *text, int64_t *out,
                               struct error *err)
{
    enum log_level level;
    if (!log_level_find(text, &level))
        return invalid(err, def, text, "the level is DEBUG, INFO, WARN or ERROR");
    *out = (int64_t)level;
    return OK;
}

static enum status parse_duration(const struct setting_def *def, const char *text, int64_t *out,
                                  struct error *err)
{
    struct error why = ERROR_INIT;
    if (duration_parse_short_us(text, 1, out, &why) != OK)
        return invalid(err, def, text, error_param(&why, "reason"));
    if (*out != 0 && text[strspn(text, " \t0123456789")] == '\0')
        return invalid(err, def, text, "a duration has a unit, as 5 s, 500 ms or 10 m");
    return OK;
}

/* 600000000 -> "10 m": the largest unit of which it is a whole number. */
static void print_duration(int64_t us, char text[DURATION_TEXT_SIZE])
{
    static const struct {
        const char *name;
        int64_t us;
    } units[] = {{"d", 86400000000}, {"h", 3600000000}, {"m", 60000000},
                 {"s", 1000000},     {"ms", 1000},      {"us", 1}};
    size_t i = 0;
    while (us % units[i].us != 0 || (us == 0 && units[i].us > 1000000))
        i++;
    (void)snprintf(text, DURATION_TEXT_SIZE, "%lld %s", (long long)(us / units[i].us),
                   units[i].name);
}

static enum status out_of_range(struct error *err, const struct setting_def *def, const char *text)
{
    char min[DURATION_TEXT_SIZE], max[DURATION_TEXT_SIZE];
    (void)snprintf(min, sizeof min, "%lld", (long long)def->min);
    (void)snprintf(max, sizeof max, "%lld", (long long)def->max);
    if (def->kind == SETTING_KIND_DURATION) {
        print_duration(def->min, min);
        print_duration(def->max, max);
    }
    char reason[2 * DURATION_TEXT_SIZE + 32];
    (void)snprintf(reason, sizeof reason, "%s to %s are allowed", min, max);
    return invalid(err, def, text, reason);
}

static enum status parse_value(const struct setting_def *def, const char *text, int64_t *out,
                               struct error *err)
{
    switch (def->kind) {
    case SETTING_KIND_TEXT:
    case SETTING_KIND_PATHS:
        return def->min > 0 && *text == '\0' ? invalid(err, def, text, "it cannot be empty") : OK;
    case SETTING_KIND_BOOL:
        return parse_bool(def, text, out, err);
    case SETTING_KIND_COUNT:
    case SETTING_KIND_SIZE:
        TRY(parse_number(def, text, out, err));
        break;
    case SETTING_KIND_DURATION:
        TRY(parse_duration(def, text, out, err));
        break;
    case SETTING_KIND_LEVEL:
        return parse_level(def, text, out, err);
    }
    if ((def->min != 0 || def->max != 0) && (*out < def->min || *out > def->max))
        return out_of_range(err, def, text);
    return OK;
}

/* Adds the parts of "a:b" to a list; a list from a stronger origin replaces a weaker one. */
static enum status add_paths(struct config *config, const struct setting_def *def,
                             struct value *value, const char *text, struct error *err)
{
    if (value->paths == NULL)
        value->paths = arena_new_object(config->arena, PATHS_MAX * sizeof *value->paths);
    for (const char *at = text; *at != '\0';) {
        size_t length = strcspn(at, ":");
        if (length > 0 && value->path_count == PATHS_MAX)
            return invalid(err, def, text, "at most 256 paths are allowed");
        if (length > 0)
            value->paths[value->path_count++] = arena_strndup(config->arena, at, length);
        at += length + (at[length] == ':');
    }
    return OK;
}

static enum status set_value(struct config *config, enum setting setting, const char *text,
                             enum setting_origin origin, struct error *err)
{
    const struct setting_def *def = &defs[setting];
    struct value *value = &config->values[setting];
    int64_t number = 0;
    TRY(parse_value(def, text, &number, err));
    if (def->kind == SETTING_KIND_PATHS) {
        if (value->origin != origin)
            value->path_count = 0;
        TRY(add_paths(config, def, value, text, err));
    }
    value->number = number;
    value->text = arena_strdup(config->arena, text);
    value->origin = origin;
    return OK;
}

struct config *config_new(void)
{
    struct arena *arena = arena_new("process", 0);
    struct config *config = arena_new_object(arena, sizeof *config);
    config->arena = arena;
    struct error err = ERROR_INIT;
    for (int i = 0; i < SETTING_COUNT_; i++)
        CHECK(set_value(config, (enum setting)i, defs[i].default_value, ORIGIN_DEFAULT, &err) ==
              OK);
    return config;
}

void config_free(struct config *config)
{
    if (config != NULL)
        arena_free(config->arena);
}

/* maxBodyBytes -> max-body-bytes or MAX_BODY_BYTES */
static void split_words(const char *name, char between, bool upper, char out[FLAG_NAME_MAX])
{
    size_t length = 0;
    for (; *name != '\0'; name++) {
        if (isupper((unsigned char)*name))
            out[length++] = between;
        CHECK(length + 2 < FLAG_NAME_MAX);
        out[length++] =
            (char)(upper ? toupper((unsigned char)*name) : tolower((unsigned char)*name));
    }
    out[length] = '\0';
}

static enum status unknown(struct error *err, const char *name, const char *origin)
{
    const char *names[SETTING_COUNT_];
    for (int i = 0; i < SETTING_COUNT_; i++)
        names[i] = defs[i].name;
    const char *near = nearest_name(name, names, SETTING_COUNT_);
    return error_raise(err, STATUS_UNKNOWN_SETTING, "name", name, "origin", origin, "suggestion",
                       near == NULL ? "one of those that tidemill config lists" : near, NULL);
}

enum status config_set(struct config *config, const char *name, const char *value,
                       enum setting_origin origin, struct error *err)
{
    for (int i = 0; i < SETTING_COUNT_; i++)
        if (strcmp(defs[i].name, name) == 0)
            return set_value(config, (enum setting)i, value, origin, err);
    return unknown(err, name, setting_origin_name(origin));
}

static char *trim(char *text)
{
    while (*text == ' ' || *text == '\t')
        text++;
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]) != NULL)
        length--;
    text[length] = '\0';
    return text;
}

/* One line of a settings file; `line` is changed. */
static enum status load_line(struct config *config, char *line, struct error *err)
{
    char *text = trim(line);
    if (text[0] == '\0' || text[0] == '#')
        return OK;
    char *equals = strchr(text, '=');
    if (equals == NULL)
        return error_raise(err, STATUS_INVALID_SETTING, "name", text, "value", "", "reason",
                           "a line has the form name = value", NULL);
    *equals = '\0';
    return config_set(config, trim(text), trim(equals + 1), ORIGIN_FILE, err);
}

enum status config_load_file(struct config *config, const char *path, struct error *err)
{
    struct bytes content;
    TRY(vfs_get(vfs_posix(), path, CONFIG_FILE_MAX, config->arena, &content, err));
    char *text = arena_strndup(config->arena, content.data, content.size_bytes);
    int number = 1;
    for (char *line = strsep(&text, "\n"); line != NULL; line = strsep(&text, "\n"), number++) {
        enum status status = load_line(config, line, err);
        if (status != OK)
            return error_wrap(err, "%s:%d", path, number);
    }
    return OK;
}

enum status config_load_environment(struct config *config, char *const *environment,
                                    struct error *err)
{
    static const char prefix[] = "TIDEMILL_";
    static const char *const others[] = {"SERVER", "TOKEN", "CONFIG", "FAILPOINTS",
                                         "BINARY" /* where tests find the program */};
    for (; *environment != NULL; environment++) {
        const char *entry = *environment;
        const char *equals = strchr(entry, '=');
        if (equals == NULL || strncmp(entry, prefix, sizeof prefix - 1) != 0)
            continue;
        const char *name = entry + sizeof prefix - 1;
        size_t length = (size_t)(equals - name);
        bool known = false;
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
            known = known || (strlen(others[i]) == length && memcmp(others[i], name, length) == 0);
        for (int i = 0; i < SETTING_COUNT_ && !known; i++) {
            char upper[FLAG_NAME_MAX];
            split_words(defs[i].name, '_', true, upper);
            if (strlen(upper) != length || memcmp(upper, name, length) != 0)
                continue;
            TRY(set_value(config, (enum setting)i, equals + 1, ORIGIN_ENVIRONMENT, err));
            known = true;
        }
        if (!known)
            return unknown(err, arena_strndup(config->arena, entry, (size_t)(equals - entry)),
                           "environment");
    }
    return OK;
}

/* The setting of "--max-body-bytes" or "--max-body-bytes=..."; *value is what follows '='. */
static bool find_flag(const char *arg, enum setting *out, const char **value)
{
    if (arg[0] != '-' || arg[1] != '-')
        return false;
    for (int i = 0; i < SETTING_COUNT_; i++) {
        char flag[FLAG_NAME_MAX];
        split_words(defs[i].name, '-', false, flag);
        size_t length = strlen(flag);
        if (strncmp(arg + 2, flag, length) != 0 ||
            (arg[2 + length] != '\0' && arg[2 + length] != '='))
            continue;
        *out = (enum setting)i;
        *value = arg[2 + length] == '=' ? arg + 3 + length : NULL;
        return true;
    }
    return false;
}

enum status config_load_flags(struct config *config, int *argc, char **argv, struct error *err)
{
    int kept = 0;
    int at = 0;
    for (; at < *argc; at++) {
        enum setting setting;
        const char *value = NULL;
        if (strcmp(argv[at], "--") == 0)
            break;
        if (!find_flag(argv[at], &setting, &value)) {
            argv[kept++] = argv[at];
            continue;
        }
        if (value == NULL && defs[setting].kind == SETTING_KIND_BOOL)
            value = "true";
        if (value == NULL && at + 1 < *argc)
            value = argv[++at];
        if (value == NULL)
            return invalid(err, &defs[setting], "", "the flag needs a value");
        TRY(set_value(config, setting, value, ORIGIN_FLAG, err));
    }
    for (; at < *argc; at++)
        argv[kept++] = argv[at];
    *argc = kept;
    return OK;
}

static const struct value *value_of(const struct config *config, enum setting setting)
{
    CHECK(config != NULL && (int)setting >= 0 && setting < SETTING_COUNT_);
    return &config->values[setting];
}

const char *config_text(const struct config *config, enum setting setting)
{
    return value_of(config, setting)->text;
}

uint64_t config_number(const struct config *config, enum setting setting)
{
    CHECK(defs[setting].kind == SETTING_KIND_COUNT || defs[setting].kind == SETTING_KIND_SIZE);
    return (uint64_t)value_of(config, setting)->number;
}

bool config_bool(const struct config *config, enum setting setting)
{
    CHECK(defs[setting].kind == SETTING_KIND_BOOL);
    return value_of(config, setting)->number != 0;
}

int64_t config_duration_us(const struct config *config, enum setting setting)
{
    CHECK(defs[setting].kind == SETTING_KIND_DURATION);
    return value_of(config, setting)->number;
}

enum log_level config_level(const struct config *config, enum setting setting)
{
    CHECK(defs[setting].kind == SETTING_KIND_LEVEL);
    return (enum log_level)value_of(config, setting)->number;
}

const char *config_path(const struct config *config, enum setting setting, size_t i)
{
    const struct value *value = value_of(config, setting);
    return i < value->path_count ? value->paths[i] : NULL;
}

enum setting_origin config_origin(const struct config *config, enum setting setting)
{
    return value_of(config, setting)->origin;
}

const char *setting_name(enum setting setting)
{
    return defs[setting].name;
}

void setting_flag(enum setting setting, char out[SETTING_FLAG_SIZE])
{
    out[0] = '-';
    out[1] = '-';
    split_words(defs[setting].name, '-', false, out + 2);
}

const char *setting_default(enum setting setting)
{
    return defs[setting].default_value;
}

const char *setting_help(enum setting setting)
{
    return defs[setting].help;
}

enum setting_kind setting_kind(enum setting setting)
{
    return defs[setting].kind;
}

const char *setting_origin_name(enum setting_origin origin)
{
    static const char *const names[] = {"default", "file", "environment", "flag"};
    CHECK((int)origin >= 0 && origin <= ORIGIN_FLAG);
    return names[origin];
}

void config_print(const struct config *config, struct buffer *out)
{
    for (int i = 0; i < SETTING_COUNT_; i++) {
        const struct value *value = value_of(config, (enum setting)i);
        buffer_printf(out, "%s = ", defs[i].name);
        if (defs[i].kind == SETTING_KIND_PATHS) {
            for (size_t p = 0; p < value->path_count; p++)
                buffer_printf(out, "%s%s", p > 0 ? ":" : "", value->paths[p]);
        } else {
            buffer_add_text(out, value->text);
        }
        buffer_printf(out, "  # %s\n", setting_origin_name(value->origin));
    }
}
