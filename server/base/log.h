/*
 * The log: one JSON object per line.
 *
 *     {"ts":"2026-07-30T09:12:44.184Z","level":"INFO","event":"batch_committed",
 *      "queryName":"visits","runId":"...","batchId":7,"numInputRows":3}
 *
 * Event names are snake_case and past tense; they and the field names are API.  Values are fields,
 * never prose.  ERROR: a human must act; WARN: it healed or will be retried; INFO: one line per
 * change of state, at most one per batch; DEBUG: off by default.
 *
 * A line is one write(2) to a descriptor opened for appending, so lines of several threads and
 * processes do not mix and there is no lock.  A line longer than LOG_LINE_MAX has its longest
 * fields cut.  Threads: any; the context of a log is set by one thread.
 */
#ifndef SERVER_BASE_LOG_H
#define SERVER_BASE_LOG_H

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"

#define LOG_LINE_MAX 16384

struct log;

enum log_level {
    LOG_DEBUG,
    LOG_INFO,
    LOG_WARN,
    LOG_ERROR,
};

enum log_kind {
    LOG_END, /* ends a list of fields */
    LOG_TEXT,
    LOG_I64,
    LOG_U64,
    LOG_F64,
    LOG_BOOL,
    LOG_SECRET,
    LOG_JSON, /* text that is JSON already */
};

struct log_field {
    const char *name;
    enum log_kind kind;
    union {
        struct bytes text;
        int64_t i64;
        uint64_t u64;
        double f64;
        bool boolean;
    };
};

static inline struct log_field log_text(const char *name, const char *value)
{
    return (struct log_field){
        .name = name, .kind = LOG_TEXT, .text = bytes_of_text(value == NULL ? "" : value)};
}

static inline struct log_field log_bytes(const char *name, struct bytes value)
{
    return (struct log_field){.name = name, .kind = LOG_TEXT, .text = value};
}

static inline struct log_field log_i64(const char *name, int64_t value)
{
    return (struct log_field){.name = name, .kind = LOG_I64, .i64 = value};
}

static inline struct log_field log_u64(const char *name, uint64_t value)
{
    return (struct log_field){.name = name, .kind = LOG_U64, .u64 = value};
}

static inline struct log_field log_f64(const char *name, double value)
{
    return (struct log_field){.name = name, .kind = LOG_F64, .f64 = value};
}

static inline struct log_field log_bool(const char *name, bool value)
{
    return (struct log_field){.name = name, .kind = LOG_BOOL, .boolean = value};
}

static inline struct log_field log_json(const char *name, struct bytes value)
{
    return (struct log_field){.name = name, .kind = LOG_JSON, .text = value};
}

/* A password, token or key.  The type exists so that printing it gives *** everywhere. */
struct secret {
    struct bytes value;
};

static inline struct log_field log_secret(const char *name, struct secret value)
{
    return (struct log_field){.name = name, .kind = LOG_SECRET, .text = value.value};
}

/* Opens `path` for appending, or uses standard error if NULL.  Errors: IO_FAILURE. */
MUST_USE enum status log_open(const char *path, enum log_level level, const struct clock *clock,
                              struct log **out, struct error *err);
/* Writes to a descriptor that stays the caller's.  -1: throws everything away. */
struct log *log_open_fd(int fd, enum log_level level, const struct clock *clock);
void log_close(struct log *log); /* NULL is fine */

/* Opens the file again under its name (SIGHUP after a rotation); standard error: nothing. */
MUST_USE enum status log_reopen(struct log *log, struct error *err);

void log_set_level(struct log *log, enum log_level level);
bool log_level_find(const char *name, enum log_level *out); /* "debug", "INFO", ... */
const char *log_level_name(enum log_level level);

/* The context in every line; NULL leaves the key out.  Texts are copied.
 * log == NULL: nothing. */
void log_set_query(struct log *log, const char *query_name, const char *query_id,
                   const char *run_id);
void log_set_batch(struct log *log, int64_t batch_id); /* -1: none */

/* `fields` ends with {0}; NULL: none.  log == NULL writes nothing. */
void log_event(struct log *log, enum log_level level, const char *event,
               const struct log_field *fields);

/* An event with the condition, text and SQLSTATE of an error, and further fields (or NULL). */
void log_error_event(struct log *log, enum log_level level, const char *event,
                     const struct error *error, const struct log_field *fields);

#endif
