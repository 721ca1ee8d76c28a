/*
 * A request as handlers see it, and the answer that they fill: parsed, limited, without a word of
 * the protocol.
 *
 * A handler runs on an HTTP thread and never blocks.  If it has to wait (for the answer of a
 * command, for a change of a query) it says so with request_command() or request_wait() and
 * returns OK; it is called again, from the start, when there is news or the wait is over.
 */
#ifndef API_HTTP_REQUEST_H
#define API_HTTP_REQUEST_H

#include "base/arena.h"
#include "base/buffer.h"
#include "control/control.h"

#define REQUEST_SEGMENTS_MAX  8
#define REQUEST_PARAMS_MAX    4
#define REQUEST_ARGUMENTS_MAX 32
#define REQUEST_ID_SIZE       24
#define RESPONSE_HEADERS_MAX  8

#define REQUEST_DURATION_MAX_US INT64_C(3155760000000000) /* 100 years */

struct api; /* what handlers work on: api/api.h */
struct route;

enum method {
    METHOD_GET,
    METHOD_POST,
    METHOD_PUT,
    METHOD_DELETE,
    METHOD_PATCH,
    METHOD_HEAD,
    METHOD_OPTIONS,
    METHOD_OTHER,
};

struct argument {
    const char *name;
    const char *value; /* "" if there was no '=' */
};

struct request {
    struct arena *arena; /* request lifetime */
    struct api *api;
    const struct route *route;
    enum method method;
    const char *method_text;
    const char *path;                          /* as sent, without the query */
    const char *segment[REQUEST_SEGMENTS_MAX]; /* decoded */
    size_t segment_count;
    const char *param[REQUEST_PARAMS_MAX]; /* of {…} in the route, in order */
    struct argument argument[REQUEST_ARGUMENTS_MAX];
    size_t argument_count;
    struct bytes body;
    const char *content_type;     /* NULL: none */
    const char *content_encoding; /* NULL: none, or identity */
    const char *accept;
    const char *if_match; /* a list of ETags (control/etag.h), or NULL */
    const char *if_none_match;
    const char *idempotency_key;
    const char *authorization;
    bool has_wait; /* Prefer: wait=N */
    int64_t wait_us;
    char id[REQUEST_ID_SIZE];
    int64_t arrived_us; /* monotonic */

    /* Waiting. */
    struct command *command; /* sent, not yet forgotten */
    const char *watch;       /* name of the query whose change ends the wait; NULL: none */
    bool waiting;            /* the handler returned without an answer */
    int64_t wait_until_us;   /* monotonic; the handler is called again then at the latest */
    uint64_t seen_version;   /* a handler's own: what it waits to change */
    void *connection;        /* of the server */
};

struct response_header {
    const char *name;
    const char *value;
};

struct response {
    int status; /* 0: 200 */
    const char *content_type;
    struct buffer body;
    struct response_header header[RESPONSE_HEADERS_MAX]; /* values in the request's arena */
    size_t header_count;
};

void response_header(struct response *response, const char *name, const char *value);

/* The value of a query argument, or NULL.  The last of equal names counts. */
const char *request_argument(const struct request *request, const char *name);
/* Every argument must stand in `names` (ended by NULL).  Errors: UNKNOWN_PARAMETER. */
MUST_USE enum status request_check_arguments(const struct request *request,
                                             const char *const *names, struct error *err);
/* Errors: INVALID_PARAMETER. */
MUST_USE enum status request_bool(const struct request *request, const char *name, bool *out,
                                  struct error *err);
MUST_USE enum status request_int(const struct request *request, const char *name, int64_t min,
                                 int64_t max, int64_t *out, struct error *err);
/* "10 seconds", "500 ms", "1s", or seconds as a number; at most REQUEST_DURATION_MAX_US, so that it
 * can be added to a time. */
MUST_USE enum status request_duration(const char *name, const char *text, int64_t *out_us,
                                      struct error *err);

/*
 * Sends the command (taken) at the first call and waits for its answer until `timeout_us` after
 * the arrival of the request.  *out is NULL while it is not there: the handler then returns OK.
 * Errors: those of the command; SERVER_BUSY; REQUEST_TIMEOUT naming `what`.
 */
MUST_USE enum status request_command(struct request *request, struct command *take_command,
                                     int64_t timeout_us, const char *what,
                                     const struct command **out, struct error *err);
/* True if the request has sent its command: a handler need not make it again. */
static inline bool request_has_command(const struct request *request)
{
    return request->command != NULL;
}

/* Waits for a change of `query`, at most until `until_us` (monotonic). */
void request_wait(struct request *request, const char *query, int64_t until_us);
int64_t request_now_us(const struct request *request); /* monotonic */

/* Ends what the request holds: the command, not the arena. */
void request_fini(struct request *request);

#endif
