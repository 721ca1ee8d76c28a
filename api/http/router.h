/*
 * The routes: which method on which path is which operation.  The table itself is api/routes.c.
 * Threads: any.
 */
#ifndef API_HTTP_ROUTER_H
#define API_HTTP_ROUTER_H

#include "api/http/request.h"

enum scope {
    SCOPE_NONE, /* probes */
    SCOPE_READ,
    SCOPE_OPERATE,
    SCOPE_WRITE,
};

enum body_kind {
    BODY_NONE,     /* a body is ignored if empty, else 400 */
    BODY_OPTIONAL, /* JSON, may be absent */
    BODY_JSON,     /* JSON, required */
};

struct route {
    enum method method;
    const char *path;      /* "/v1/queries/{q}/start" */
    const char *operation; /* operationId of openapi.yaml */
    enum status (*handler)(struct request *request, struct response *response, struct error *err);
    enum scope scope;
    enum body_kind body;
};

/* api/routes.c; ended by a NULL path. */
extern const struct route routes[];

/*
 * Finds the route of the request and fills its params.  HEAD is answered as GET.
 * Errors: ROUTE_NOT_FOUND; METHOD_NOT_ALLOWED, `allow` ("GET, HEAD, OPTIONS") is set for it and
 * for OPTIONS, which gives OK and no route.
 */
MUST_USE enum status router_find(struct request *request, const char **allow, struct error *err);

#endif
