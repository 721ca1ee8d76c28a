/*
 * What the handlers of the API work on, and the way in: api_open() starts the HTTP server.
 *
 * Threads: api_open and api_close: main.
 */
#ifndef API_API_H
#define API_API_H

#include "control/control.h"

struct http_server;

struct api {
    struct control *control;
    void (*wake)(void *request); /* ends the wait of a request; any thread */
    int64_t started_us;          /* wall */
};

/* Starts to answer.  *port is the port that was bound (0 for a Unix socket).
 * Errors: INVALID_SETTING, INSECURE_LISTEN_ADDRESS, LIBRARY_MISSING, IO_FAILURE. */
MUST_USE enum status api_open(struct control *control, struct api **out, int *port,
                              struct error *err);
/* Ends waiting requests and closes all connections.  NULL is fine. */
void api_close(struct api *api);

/* Appends the answer of POST /v1/validate, for a command line without a server.  Threads: any. */
struct validation;
void api_put_validation(struct buffer *out, const struct validation *validation);

#endif
