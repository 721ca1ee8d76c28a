/*
 * Requests to a Tidemill server.  libcurl is loaded on the first one.
 *
 * Threads: one at a time.
 */
#ifndef CLI_HTTP_CLIENT_H
#define CLI_HTTP_CLIENT_H

#include "base/buffer.h"

struct http_client {
    const char *server; /* "http://127.0.0.1:8088", or "unix:/path" */
    const char *token;  /* NULL: none */
};

struct http_call {
    const char *method;
    const char *path; /* with arguments, encoded */
    struct bytes body;
    const char *accept;        /* NULL: application/json */
    int wait_seconds;          /* Prefer: wait; 0: none */
    bool patient;              /* waits for the answer however long it takes */
    const char *if_none_match; /* NULL: none */
    const char *if_match;
    bool only_create; /* If-None-Match: * */
};

struct http_reply {
    long status;
    struct buffer body;
    char etag[64]; /* without quotes; "" if there was none */
};

/* Errors: UNREACHABLE, LIBRARY_MISSING.  An answer of any status is OK. */
MUST_USE enum status http_client_call(const struct http_client *client,
                                      const struct http_call *call, struct http_reply *reply,
                                      struct error *err);
void http_reply_fini(struct http_reply *reply);

#endif
