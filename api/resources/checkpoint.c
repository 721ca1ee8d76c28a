#include "api/api.h"
#include "api/resources/query_view.h"
#include "api/resources/resources.h"
#include "control/reports.h"

static enum status respond(struct request *request, struct response *response, bool verify,
                           struct error *err)
{
    static const char *const arguments[] = {NULL};
    TRY(request_check_arguments(request, arguments, err));
    struct query_snapshot *query = NULL;
    TRY(view_find(request, &query, err));
    enum status status =
        report_checkpoint(request->api->control, query, verify, &response->body, err);
    query_snapshot_unref(query);
    return status;
}

enum status get_checkpoint(struct request *request, struct response *response, struct error *err)
{
    return respond(request, response, false, err);
}

enum status verify_checkpoint(struct request *request, struct response *response, struct error *err)
{
    return respond(request, response, true, err);
}
