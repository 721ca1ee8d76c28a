#include "api/api.h"
#include "api/resources/query_view.h"
#include "api/resources/resources.h"
#include "control/etag.h"

#include <stdio.h>

static void respond(struct request *request, struct response *response,
                    const struct query_snapshot *query, const char *etag)
{
    struct json_writer json = json_writer_to(&response->body);
    json_begin_object(&json, NULL);
    json_put_text(&json, "name", query->definition->name);
    view_put_status(&json, query);
    json_end_object(&json);
    view_put_etag(request, response, etag);
}

/*
 * With `Prefer: wait=N` the answer comes at the next change: away from what If-None-Match names,
 * or, without one, from what was true when the request came.
 */
enum status get_status(struct request *request, struct response *response, struct error *err)
{
    static const char *const arguments[] = {NULL};
    TRY(request_check_arguments(request, arguments, err));
    struct query_snapshot *query = NULL;
    TRY(view_find(request, &query, err));
    uint64_t hash = view_status_hash(query);
    char etag[QUERY_ETAG_SIZE];
    (void)snprintf(etag, sizeof etag, "%016llx", (unsigned long long)hash);
    if (request->seen_version == 0)
        request->seen_version = hash;
    const char *known = request->if_none_match;
    bool same =
        known != NULL ? etag_list_has(known, etag, ETAG_WEAK) : request->seen_version == hash;
    int64_t until = request->arrived_us + request->wait_us;
    if (same && request->has_wait && request_now_us(request) < until) {
        request_wait(request, request->param[0], until);
    } else if (known != NULL && same) {
        response->status = 304;
        view_put_etag(request, response, etag);
    } else {
        respond(request, response, query, etag);
    }
    query_snapshot_unref(query);
    return OK;
}
