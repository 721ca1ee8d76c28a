/*
 * Errors as application/problem+json (RFC 9457).  The one place that decides which HTTP status an
 * error leads to: that of its condition in the catalogue.
 *
 * Threads: any.
 */
#ifndef API_HTTP_PROBLEM_H
#define API_HTTP_PROBLEM_H

#include "api/http/request.h"
#include "base/json_writer.h"
#include "spec/diagnostics.h"

/* What LIMIT_EXCEEDED is about where HTTP has a status of its own: 431 and 414. */
#define LIMIT_OF_HEADERS "the header fields of a request"
#define LIMIT_OF_TARGET  "the path and the parameters of a request"

/* Makes `response` the answer for `err`; `allow` as from router_find, or NULL. */
void problem_respond(struct request *request, struct response *response, const struct error *err,
                     const char *allow);

/* As problem_respond for a spec with several problems: the first is the condition, all of them are
 * in errors[], their fixes in fixes[].  `spec` (may be NULL) gives the texts for line and column.
 */
void problem_respond_all(struct request *request, struct response *response,
                         const struct diagnostics *diagnostics, const struct query_spec *spec);

/* The members of one error (condition, sqlState, parameters, detail, domain, retryable, causes),
 * without braces. */
void problem_put_error(struct json_writer *json, const struct error *err);
/* {"pointer", "span", "condition", "detail", "severity", ...} of one diagnostic. */
void problem_put_diagnostic(struct json_writer *json, const struct diagnostic *diagnostic,
                            const struct query_spec *spec);
void problem_put_fixes(struct json_writer *json, const char *key, const struct fix *fixes);

#endif
