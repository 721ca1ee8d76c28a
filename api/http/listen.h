/*
 * "127.0.0.1:8088", "[::1]:0", "localhost:8088" or "unix:/path" as a listening socket.
 * Threads: any.
 */
#ifndef API_HTTP_LISTEN_H
#define API_HTTP_LISTEN_H

#include "base/error.h"

/* That it is an address.  Errors: INVALID_SETTING. */
MUST_USE enum status listen_check(const char *address, struct error *err);

/* *port is 0 for a Unix socket.  Errors: INVALID_SETTING (listen), IO_FAILURE. */
MUST_USE enum status listen_open(const char *address, int *fd, int *port, struct error *err);

#endif
