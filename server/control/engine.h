/*
 * What the engine can say about a query without running it.  The control layer knows no engine:
 * whoever puts the program together hands it over (main.c).
 *
 * Threads: any.
 */
#ifndef SERVER_CONTROL_ENGINE_H
#define SERVER_CONTROL_ENGINE_H

#include "base/buffer.h"
#include "base/clock.h"
#include "base/vfs.h"

/* A query by what it is made of. */
struct engine_query {
    struct vfs *vfs;
    struct clock *clock;
    struct bytes spec_json;
    const char *checkpoint; /* its directory */
};

struct engine_state_request {
    int64_t operator_id; /* -1: counts of all operators */
    int64_t batch_id;    /* -1: the newest committed one */
    uint32_t limit;
    const char *key; /* "column=value"; NULL: all rows */
};

struct engine {
    /* Appends the start plan as a JSON object; changes nothing.  Errors: LIMIT_EXCEEDED. */
    enum status (*start_plan)(const struct engine_query *query, struct buffer *out,
                              struct error *err);
    /* Appends the state as a JSON object.
     * Errors: ROUTE_NOT_FOUND (operator), INVALID_PARAMETER (key), BATCH_NOT_FOUND, BATCH_EXPIRED,
     * CHECKPOINT_NOT_FOUND, those of the spec. */
    enum status (*state)(const struct engine_query *query,
                         const struct engine_state_request *request, struct buffer *out,
                         struct error *err);
};

#endif
