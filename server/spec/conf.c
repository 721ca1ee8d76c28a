#include "spec/conf.h"

#include "base/check.h"
#include "base/duration.h"
#include "columnar/timezone.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum conf_kind {
    BOOL,
    INT,
    COUNT,
    DOUBLE,
    BYTES,
    DURATION,
    TEXT,
    CHOICE,
    ZONE,
};

static const struct conf_def {
    const char *name;
    enum conf_kind kind;
    const char *default_value;
    const char *choices;
    const char *effect;
} defs[] = {
#define CONF(identifier, name, kind, default_, choices, effect)                                    \
    {name, kind, default_, choices, effect},
#include "spec/conf.def"
#undef CONF
};

static const struct conf_def *def_of(enum conf conf)
{
    CHECK((int)conf >= 0 && conf < CONF_COUNT_);
    return &defs[conf];
}

const char *conf_name(enum conf conf)
{
    return def_of(conf)->name;
}

const char *conf_kind_name(enum conf conf)
{
    static const char *const names[] = {"boolean",  "integer", "integer", "double", "bytes",
                                        "duration", "string",  "string",  "string"};
    return names[def_of(conf)->kind];
}

const char *conf_default(enum conf conf)
{
    const char *value = def_of(conf)->default_value;
    return *value == '\0' ? NULL : value;
}

const char *conf_effect(enum conf conf)
{
    return def_of(conf)->effect;
}

bool conf_find(const char *name, enum conf *out)
{
    if (strcmp(name, "partitions") == 0)
        name = conf_name(CONF_shuffle_partitions);
    for (int i = 0; i < CONF_COUNT_; i++) {
        if (strcmp(defs[i].name, name) == 0) {
            *out = (enum conf)i;
            return true;
        }
    }
    return false;
}

static enum status unknown(const char *name, struct error *err)
{
    const char *names[CONF_COUNT_ + 1];
    for (int i = 0; i < CONF_COUNT_; i++)
        names[i] = defs[i].name;
    names[CONF_COUNT_] = "partitions";
    const char *nearest = nearest_name(name, names, CONF_COUNT_ + 1);
    char hint[160] = " `tidemill conf` prints those there are";
    if (strcmp(name, "spark.executor.memory") == 0 || strcmp(name, "spark.driver.memory") == 0)
        (void)snprintf(hint, sizeof hint, " The memory of a query is its limits.memoryBytes");
    else if (nearest != NULL)
        (void)snprintf(hint, sizeof hint, " Did you mean %s?", nearest);
    return error_raise(err, STATUS_UNKNOWN_CONF, "confName", name, "hint", hint, NULL);
}

static bool is_integer(const char *value, int64_t *out)
{
    char *end = NULL;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || number < INT32_MIN || number > INT32_MAX)
        return false;
    *out = number;
    return true;
}

static bool is_double(const char *value, double *out)
{
    char *end = NULL;
    errno = 0;
    *out = strtod(value, &end);
    return errno == 0 && end != value && *end == '\0';
}

/* "10ms", "1min", "1h"; a number alone is milliseconds. */
static bool is_duration(const char *value, int64_t *out_us)
{
    struct error ignored = ERROR_INIT;
    return duration_parse_short_us(value, 1000, out_us, &ignored) == OK;
}

static bool is_bytes(const char *value, int64_t *out)
{
    struct option item = {"v", value};
    struct options options = {.items = &item, .count = 1};
    struct error ignored = ERROR_INIT;
    return options_bytes(&options, "v", 0, out, &ignored) == OK;
}

static bool in_choices(const char *choices, const char *value)
{
    size_t size = strlen(value);
    for (const char *at = choices; *at != '\0';) {
        size_t length = strcspn(at, ",");
        if (length == size && strncasecmp(at, value, size) == 0)
            return true;
        at += length + (at[length] == ',');
    }
    return false;
}

static enum status mismatch(const struct conf_def *def, const char *value, const char *type,
                            struct error *err)
{
    return error_raise(err, STATUS_INVALID_CONF_VALUE__TYPE_MISMATCH, "confValue", value,
                       "confName", def->name, "confType", type, NULL);
}

static enum status requirement(const struct conf_def *def, const char *value, const char *text,
                               struct error *err)
{
    return error_raise(err, STATUS_INVALID_CONF_VALUE__REQUIREMENT, "confValue", value, "confName",
                       def->name, "confRequirement", text, NULL);
}

static enum status choice_check(const struct conf_def *def, const char *value, struct error *err)
{
    if (in_choices(def->choices, value))
        return OK;
    if (def == &defs[CONF_streaming_multipleWatermarkPolicy]) {
        char text[160];
        (void)snprintf(text, sizeof text, "one of %s is needed", def->choices);
        return requirement(def, value, text, err);
    }
    return error_raise(err, STATUS_INVALID_CONF_VALUE__OUT_OF_RANGE_OF_OPTIONS, "confValue", value,
                       "confName", def->name, "confOptions", def->choices, NULL);
}

static enum status value_check(const struct conf_def *def, const char *value, struct error *err)
{
    int64_t number = 0;
    double real = 0;
    switch (def->kind) {
    case BOOL:
        if (strcasecmp(value, "true") != 0 && strcasecmp(value, "false") != 0)
            return mismatch(def, value, "boolean", err);
        return *def->choices == '\0' ? OK : choice_check(def, value, err);
    case INT:
        if (!is_integer(value, &number))
            return mismatch(def, value, "int", err);
        if (def == &defs[CONF_parallelism] && (number < 0 || number > CONF_THREADS_MAX))
            return requirement(def, value, "a number of threads from 0 to 1024 is needed", err);
        return OK;
    case COUNT:
        if (!is_integer(value, &number))
            return mismatch(def, value, "int", err);
        if (def == &defs[CONF_shuffle_partitions] && number > CONF_PARTITIONS_MAX)
            return requirement(def, value,
                               "at most 4096 partitions are possible, each of which takes memory",
                               err);
        return number >= 1 ? OK : requirement(def, value, "the value has to be positive", err);
    case DOUBLE:
        return is_double(value, &real) ? OK : mismatch(def, value, "double", err);
    case BYTES:
        return is_bytes(value, &number) ? OK : mismatch(def, value, "bytes", err);
    case DURATION:
        return is_duration(value, &number) ? OK : mismatch(def, value, "duration", err);
    case TEXT:
        return *def->choices == '\0' ? OK : choice_check(def, value, err);
    case CHOICE:
        return choice_check(def, value, err);
    case ZONE:
        if (timezone_lookup(bytes_of_text(value)) == NULL)
            return error_raise(err, STATUS_INVALID_CONF_VALUE__TIME_ZONE, "confValue", value,
                               "confName", def->name, NULL);
        return OK;
    }
    CHECK(false);
}

enum status conf_check(const char *name, const char *value, const char **name_out,
                       struct error *err)
{
    enum conf conf;
    if (!conf_find(name, &conf))
        return unknown(name, err);
    TRY(value_check(&defs[conf], value, err));
    *name_out = defs[conf].name;
    return OK;
}

const char *conf_text(const struct options *conf, enum conf key)
{
    const struct conf_def *def = def_of(key);
    for (size_t i = conf->count; i-- > 0;) {
        if (strcmp(conf->items[i].name, def->name) == 0)
            return conf->items[i].value;
    }
    return conf_default(key);
}

bool conf_bool(const struct options *conf, enum conf key)
{
    CHECK(def_of(key)->kind == BOOL);
    const char *value = conf_text(conf, key);
    return value != NULL && strcasecmp(value, "true") == 0;
}

int64_t conf_int(const struct options *conf, enum conf key)
{
    CHECK(def_of(key)->kind == INT || def_of(key)->kind == COUNT);
    const char *value = conf_text(conf, key);
    int64_t number = 0;
    if (value != NULL && !is_integer(value, &number))
        return 0;
    return number;
}

int64_t conf_bytes(const struct options *conf, enum conf key)
{
    CHECK(def_of(key)->kind == BYTES);
    const char *value = conf_text(conf, key);
    int64_t number = 0;
    if (value != NULL && !is_bytes(value, &number))
        return 0;
    return number;
}

int64_t conf_duration_us(const struct options *conf, enum conf key)
{
    CHECK(def_of(key)->kind == DURATION);
    const char *value = conf_text(conf, key);
    int64_t number = 0;
    if (value != NULL && !is_duration(value, &number))
        return 0;
    return number;
}

double conf_double(const struct options *conf, enum conf key)
{
    CHECK(def_of(key)->kind == DOUBLE);
    const char *value = conf_text(conf, key);
    double number = 0;
    if (value != NULL && !is_double(value, &number))
        return 0;
    return number;
}
