/*
 * The head of a request: method, path segments, arguments and headers into a struct request.
 * Threads: the one of the connection.
 */
#ifndef API_HTTP_HTTP_HEAD_H
#define API_HTTP_HTTP_HEAD_H

#include "api/http/mhd.h"
#include "api/http/request.h"

#define PREFER_WAIT_MAX_US 300000000

struct http_head {
    size_t bytes_max; /* of the header fields, and of the target; set by the caller */
    uint64_t content_length;
    bool has_content_length;
    const char *host, *origin; /* NULL: not there */
};

/* Errors: INVALID_HEADER, INVALID_PARAMETER, UNSUPPORTED_TRANSFER_ENCODING, ROUTE_NOT_FOUND (a
 * path of too many segments), LIMIT_EXCEEDED. */
MUST_USE enum status http_head_read(struct MHD_Connection *connection, const char *method,
                                    const char *url, struct request *request,
                                    struct http_head *head, struct error *err);

#endif
