/*
 * Errors.
 *
 * A function that can fail returns enum status and fills the caller's struct error.  A status is a
 * condition from conditions.def, the catalogue that the API publishes; its domain and whether it
 * may be retried are part of the catalogue, so exactly two places decide what a failure leads to:
 * api/http/problem.c (the response) and supervisor/restart_policy.c (retry, or give up).
 *
 * Conditions that Spark has carry Spark's name, SQLSTATE and parameter names.  Raise them with
 * error_raise(), which fills the template of the catalogue, so that the parameters reach the API
 * by name.  error_set() is for a condition whose text is prose.
 */
#ifndef SERVER_BASE_ERROR_H
#define SERVER_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#define MUST_USE     __attribute__((warn_unused_result))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))

#define ERROR_TEXT_MAX   1024
#define ERROR_PARAMS_MAX 1536

enum error_domain {
    DOMAIN_NONE,
    DOMAIN_USER,     /* the request or the SQL has to change */
    DOMAIN_EXTERNAL, /* a broker, a disk, a network has to recover */
    DOMAIN_INTERNAL, /* we have to change */
};

enum status {
    OK = 0,
#define CONDITION(name, domain, retry, http, sqlstate, params, template_) STATUS_##name,
#include "base/conditions.def"
#undef CONDITION
    STATUS_COUNT_
};

/* On the stack or embedded; never allocates, so that it works when memory is the problem. */
struct error {
    enum status status;
    enum status causes[3]; /* what the condition wraps, outermost first; OK ends the list */
    int position;          /* byte offset into the SQL text (of `view`, if set), or -1 */
    int position_end;      /* byte offset just after the place, or -1 */
    char view[64];         /* name of the view whose SQL text `position` counts in; "" = /sql */
    char pointer[128];     /* JSON pointer into the request or spec, "" if none */
    char text[ERROR_TEXT_MAX];
    char params[ERROR_PARAMS_MAX]; /* name NUL value NUL ... NUL NUL, in catalogue order */
};

#define ERROR_INIT                                                                                 \
    {                                                                                              \
        .position = -1, .position_end = -1                                                         \
    }

/* Records the error with prose as its text and returns `status`: return error_set(...). */
enum status error_set(struct error *err, enum status status, const char *fmt, ...) PRINTF(3, 4);

/*
 * Records the error with named parameters and returns `status`.  The arguments after `status` are
 * pairs of `const char *name, const char *value`, ended by one NULL.  The text is the catalogue's
 * template with <name> replaced.
 */
enum status error_raise(struct error *err, enum status status, ...) __attribute__((sentinel));

/* As error_raise, and the place in the SQL text: bytes [position, position_end). */
enum status error_raise_at(struct error *err, enum status status, int position, int position_end,
                           ...) __attribute__((sentinel));

/* Sets the place if none is set yet.  Returns err->status. */
enum status error_at(struct error *err, int position, int position_end);

/* Puts context in front on the way up: "checkpoint log: batch 7: No space left on device". */
enum status error_wrap(struct error *err, const char *fmt, ...) PRINTF(2, 3);

/* Makes `outer` the condition and keeps the present one as its first cause; the text gets the
 * prefix.  Returns `outer`. */
enum status error_cause(struct error *err, enum status outer, const char *fmt, ...) PRINTF(3, 4);

/* The value of a parameter, or NULL.  Borrowed from err. */
const char *error_param(const struct error *err, const char *name);

void error_clear(struct error *err);

/* The catalogue.  Names are published with dots: "CHECKPOINT.LOCKED".  Threads: any. */
const char *status_name(enum status status);
const char *status_sqlstate(enum status status); /* "" if the condition has none */
const char *status_params(enum status status);   /* "a,b,c" */
const char *status_template(enum status status);
enum error_domain status_domain(enum status status);
bool status_retryable(enum status status);
int status_http(enum status status);
/* The status of a published name, or OK if there is none. */
enum status status_find(const char *name);

/* TRY leaves a function that holds nothing; TRY_OUT leaves through its `out:` label. */
#define TRY(expr)                                                                                  \
    do {                                                                                           \
        enum status try_status_ = (expr);                                                          \
        if (try_status_ != OK)                                                                     \
            return try_status_;                                                                    \
    } while (0)

#define TRY_OUT(expr)                                                                              \
    do {                                                                                           \
        status = (expr);                                                                           \
        if (status != OK)                                                                          \
            goto out;                                                                              \
    } while (0)

/* The static analyzer does not see that what is raised is never OK. */
#ifdef __clang_analyzer__
#define STATUS_NOT_OK(raised) ((enum status) __extension__((raised) ?: STATUS_INTERNAL_ERROR))
#define error_set(err, status, ...)                                                                \
    ((void)error_set(err, status, __VA_ARGS__), STATUS_NOT_OK(status))
#define error_raise(err, status, ...)                                                              \
    ((void)error_raise(err, status, __VA_ARGS__), STATUS_NOT_OK(status))
#define error_raise_at(err, status, ...)                                                           \
    ((void)error_raise_at(err, status, __VA_ARGS__), STATUS_NOT_OK(status))
#define error_at(err, ...)   STATUS_NOT_OK(error_at(err, __VA_ARGS__))
#define error_wrap(err, ...) STATUS_NOT_OK(error_wrap(err, __VA_ARGS__))
#define error_cause(err, outer, ...)                                                               \
    ((void)error_cause(err, outer, __VA_ARGS__), STATUS_NOT_OK(outer))
#endif

#endif
