/*
 * How a query looks in answers, and the parts that several resources share.
 * Threads: any.
 */
#ifndef API_RESOURCES_QUERY_VIEW_H
#define API_RESOURCES_QUERY_VIEW_H

#include "api/api.h"
#include "api/http/request.h"
#include "base/json_writer.h"
#include "spec/json_reader.h"

/* A reference to the query of the path's {q}.  Errors: QUERY_NOT_FOUND. */
MUST_USE enum status view_find(const struct request *request, struct query_snapshot **out,
                               struct error *err);

/* The members of a status object, without braces. */
void view_put_status(struct json_writer *json, const struct query_snapshot *query);
/* {"name", "uid", ..., "spec", "status"}. */
void view_put_query(struct json_writer *json, const struct query_snapshot *query);

/* Answers with the whole query and its ETag. */
void view_respond(struct request *request, struct response *response, int status,
                  const struct query_snapshot *query);

/* A hash of what a status says, so that a reader can wait for the next change. */
uint64_t view_status_hash(const struct query_snapshot *query);

/* The ETag header of a definition, and of a hash. */
void view_put_etag(struct request *request, struct response *response, const char *etag);

/*
 * The optional JSON body as an object (empty if there is none), with the fields that it may have.
 * The caller ends it with json_decref(body->object).  Errors: INVALID_JSON, UNKNOWN_FIELD, ...
 */
MUST_USE enum status view_read_body(struct request *request, struct json_reader *reader,
                                    const char *const *fields, struct json_place *body,
                                    struct error *err);
/* A field of the body that is a duration as text. */
MUST_USE enum status view_read_duration(struct json_reader *reader, struct json_place body,
                                        const char *field, int64_t *out_us);

#endif
