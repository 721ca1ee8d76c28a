#include "base/error.h"

#include "base/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct condition {
    const char *name;
    enum error_domain domain;
    bool retryable;
    int http;
    const char *sqlstate;
    const char *params;
    const char *text;
};

#define USER     DOMAIN_USER
#define EXTERNAL DOMAIN_EXTERNAL
#define INTERNAL DOMAIN_INTERNAL
static const struct condition conditions[] = {
    {"OK", DOMAIN_NONE, false, 200, "00000", "", ""},
#define CONDITION(name, domain, retry, http, sqlstate, params, template_)                          \
    {#name, domain, retry, http, sqlstate, params, template_},
#include "base/conditions.def"
#undef CONDITION
};
#undef USER
#undef EXTERNAL
#undef INTERNAL

_Static_assert(sizeof conditions / sizeof conditions[0] == STATUS_COUNT_, "one row per status");

/* The published names: "A__B" in C is "A.B" outside.  Filled once, before main. */
#define STATUS_NAME_MAX 128
static char published_names[STATUS_COUNT_][STATUS_NAME_MAX];

__attribute__((constructor)) static void published_names_init(void)
{
    for (size_t i = 0; i < STATUS_COUNT_; i++) {
        const char *from = conditions[i].name;
        char *to = published_names[i];
        const char *end = to + STATUS_NAME_MAX - 1;
        while (*from != '\0' && to < end) {
            if (from[0] == '_' && from[1] == '_' && to != published_names[i]) {
                *to++ = '.';
                from += 2;
            } else {
                *to++ = *from++;
            }
        }
        *to = '\0';
    }
}

static const struct condition *condition_of(enum status status)
{
    CHECK((int)status >= 0 && status < STATUS_COUNT_);
    return &conditions[status];
}

const char *status_name(enum status status)
{
    (void)condition_of(status);
    return published_names[status];
}

const char *status_sqlstate(enum status status)
{
    return condition_of(status)->sqlstate;
}

const char *status_params(enum status status)
{
    return condition_of(status)->params;
}

const char *status_template(enum status status)
{
    return condition_of(status)->text;
}

enum error_domain status_domain(enum status status)
{
    return condition_of(status)->domain;
}

bool status_retryable(enum status status)
{
    return condition_of(status)->retryable;
}

int status_http(enum status status)
{
    return condition_of(status)->http;
}

enum status status_find(const char *name)
{
    for (size_t i = 1; i < STATUS_COUNT_; i++) {
        if (strcmp(published_names[i], name) == 0)
            return (enum status)i;
    }
    return OK;
}

void error_clear(struct error *err)
{
    *err = (struct error)ERROR_INIT;
}

static void error_start(struct error *err, enum status status)
{
    CHECK(status != OK);
    error_clear(err);
    err->status = status;
}

enum status(error_set)(struct error *err, enum status status, const char *fmt, ...)
{
    error_start(err, status);
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
    return status;
}

const char *error_param(const struct error *err, const char *name)
{
    for (const char *p = err->params; *p != '\0';) {
        const char *value = p + strlen(p) + 1;
        if (strcmp(p, name) == 0)
            return value;
        p = value + strlen(value) + 1;
    }
    return NULL;
}

/* Appends one pair; a pair that does not fit is cut, the list stays well-formed. */
static size_t params_add(struct error *err, size_t used, const char *name, const char *value)
{
    size_t name_size = strlen(name) + 1;
    if (used + name_size + 2 > ERROR_PARAMS_MAX)
        return used;
    size_t room = ERROR_PARAMS_MAX - used - name_size - 2;
    size_t value_size = strlen(value);
    if (value_size > room)
        value_size = room;
    memcpy(err->params + used, name, name_size);
    memcpy(err->params + used + name_size, value, value_size);
    err->params[used + name_size + value_size] = '\0';
    return used + name_size + value_size + 1;
}

/* Fills the template: <name> becomes the parameter's value, anything else stays. */
static void error_format(struct error *err, const char *text)
{
    size_t used = 0;
    while (*text != '\0' && used + 1 < ERROR_TEXT_MAX) {
        const char *close = *text == '<' ? strchr(text, '>') : NULL;
        char name[64];
        if (close != NULL && (size_t)(close - text) < sizeof name) {
            size_t size = (size_t)(close - text) - 1;
            memcpy(name, text + 1, size);
            name[size] = '\0';
            const char *value = error_param(err, name);
            if (value != NULL) {
                int wrote = snprintf(err->text + used, ERROR_TEXT_MAX - used, "%s", value);
                used += wrote > 0 ? (size_t)wrote : 0;
                text = close + 1;
                continue;
            }
        }
        err->text[used++] = *text++;
    }
    err->text[used < ERROR_TEXT_MAX ? used : ERROR_TEXT_MAX - 1] = '\0';
}

static void error_fill(struct error *err, va_list args)
{
    size_t used = 0;
    for (const char *name = va_arg(args, const char *); name != NULL;
         name = va_arg(args, const char *)) {
        const char *value = va_arg(args, const char *);
        used = params_add(err, used, name, value == NULL ? "null" : value);
    }
    error_format(err, condition_of(err->status)->text);
}

enum status(error_raise)(struct error *err, enum status status, ...)
{
    error_start(err, status);
    va_list args;
    va_start(args, status);
    error_fill(err, args);
    va_end(args);
    return status;
}

enum status(error_raise_at)(struct error *err, enum status status, int position, int position_end,
                            ...)
{
    error_start(err, status);
    err->position = position;
    err->position_end = position_end;
    va_list args;
    va_start(args, position_end);
    error_fill(err, args);
    va_end(args);
    return status;
}

enum status(error_at)(struct error *err, int position, int position_end)
{
    if (err->position < 0) {
        err->position = position;
        err->position_end = position_end;
    }
    return err->status;
}

static PRINTF(2, 0) void text_prefix(struct error *err, const char *fmt, va_list args)
{
    char old[ERROR_TEXT_MAX];
    memcpy(old, err->text, sizeof old);
    int wrote = vsnprintf(err->text, sizeof err->text, fmt, args);
    size_t used = wrote < 0 ? 0 : (size_t)wrote;
    if (used + 2 < sizeof err->text) {
        size_t room = sizeof err->text - used - 3;
        size_t keep = strnlen(old, room);
        memcpy(err->text + used, ": ", 2);
        memcpy(err->text + used + 2, old, keep);
        err->text[used + 2 + keep] = '\0';
    }
}

enum status(error_wrap)(struct error *err, const char *fmt, ...)
{
    CHECK(err->status != OK);
    va_list args;
    va_start(args, fmt);
    text_prefix(err, fmt, args);
    va_end(args);
    return err->status;
}

enum status(error_cause)(struct error *err, enum status outer, const char *fmt, ...)
{
    CHECK(err->status != OK && outer != OK);
    err->causes[2] = err->causes[1];
    err->causes[1] = err->causes[0];
    err->causes[0] = err->status;
    err->status = outer;
    va_list args;
    va_start(args, fmt);
    text_prefix(err, fmt, args);
    va_end(args);
    return outer;
}
