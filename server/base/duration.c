#include "base/duration.h"

#include "base/check.h"

#include <stddef.h>
#include <strings.h>

static const struct unit {
    const char *name;
    int64_t us;
} units[] = {
    {"us", 1},
    {"ms", 1000},
    {"s", 1000000},
    {"sec", 1000000},
    {"second", 1000000},
    {"seconds", 1000000},
    {"m", 60000000},
    {"min", 60000000},
    {"minutes", 60000000},
    {"h", 3600000000},
    {"hours", 3600000000},
    {"d", 86400000000},
    {"days", 86400000000},
};

static enum status refuse(struct error *err, const char *text, const char *reason)
{
    return error_raise(err, STATUS_INVALID_DURATION, "text", text, "reason", reason, NULL);
}

enum status duration_parse_short_us(const char *text, int64_t default_unit_us, int64_t *out_us,
                                    struct error *err)
{
    CHECK(text != NULL && default_unit_us > 0);
    const char *at = text;
    while (*at == ' ' || *at == '\t')
        at++;
    if (*at < '0' || *at > '9')
        return refuse(err, text, "it has to begin with a number");
    int64_t number = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, *at - '0', &number))
            return refuse(err, text, "the number is too large");
    while (*at == ' ' || *at == '\t')
        at++;
    size_t length = 0;
    while (at[length] != '\0' && at[length] != ' ' && at[length] != '\t')
        length++;
    for (const char *rest = at + length; *rest != '\0'; rest++)
        if (*rest != ' ' && *rest != '\t')
            return refuse(err, text, "one number and one unit are expected");
    int64_t unit_us = length == 0 ? default_unit_us : 0;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (length > 0 && strncasecmp(at, units[i].name, length) == 0 &&
            units[i].name[length] == '\0')
            unit_us = units[i].us;
    if (unit_us == 0)
        return refuse(err, text, "the unit has to be us, ms, s, m, min, h or d");
    if (__builtin_mul_overflow(number, unit_us, out_us))
        return refuse(err, text, "the duration is too long");
    return OK;
}
