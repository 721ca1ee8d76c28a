/*
 * The HTTP server: sockets, the reading of requests within limits, and the waiting of those whose
 * answer is not there yet.
 *
 * A waiting request is a suspended connection: it costs no thread.  A suspended connection does
 * not notice that its peer has left, so it is woken every WAIT_TICK_US, asks its handler again and
 * goes on waiting.  One thread of its own watches the deadlines: those of waiting requests, and of
 * connections that send a request too slowly.
 *
 * Threads: http_server_open and _close: main; http_server_wake and _changed: any.
 */
#ifndef API_HTTP_HTTP_SERVER_H
#define API_HTTP_HTTP_SERVER_H

#include "api/api.h"

struct http_server;

/* Errors: INVALID_SETTING, INSECURE_LISTEN_ADDRESS, LIBRARY_MISSING, IO_FAILURE. */
MUST_USE enum status http_server_open(struct api *api, struct http_server **out, int *port,
                                      struct error *err);
void http_server_close(struct http_server *server); /* NULL is fine */

/* The request (a struct request) is called again. */
void http_server_wake(void *request);
/* So are all that wait for a change of this query; `ctx` is the server. */
void http_server_changed(void *ctx, const char *query);

#endif
