/*
 * GET /v1/queries/{q}/state[/{operator}]: what the operators of a query keep, in a committed
 * version that is within reach.  The worker is not asked.
 */
#include "api/api.h"
#include "api/resources/query_view.h"
#include "api/resources/resources.h"
#include "control/reports.h"

#include <errno.h>
#include <stdlib.h>

#define LIMIT_DEFAULT 100
#define LIMIT_MAX     10000

static enum status respond(struct request *request, struct response *response, int64_t operator_id,
                           struct error *err)
{
    static const char *const arguments[] = {"key", "limit", "batchId", NULL};
    int64_t limit = LIMIT_DEFAULT, batch_id = -1;
    TRY(request_check_arguments(request, arguments, err));
    TRY(request_int(request, "limit", 1, LIMIT_MAX, &limit, err));
    TRY(request_int(request, "batchId", 0, INT64_MAX - 1, &batch_id, err));
    struct engine_state_request wanted = {
        .operator_id = operator_id,
        .batch_id = batch_id,
        .limit = (uint32_t)limit,
        .key = request_argument(request, "key"),
    };
    if (wanted.key != NULL && strchr(wanted.key, '=') == NULL)
        return error_raise(err, STATUS_INVALID_PARAMETER, "parameter", "key", "value", wanted.key,
                           "expected", "column=value", NULL);
    struct query_snapshot *query = NULL;
    TRY(view_find(request, &query, err));
    enum status status = report_state(request->api->control, query, &wanted, &response->body, err);
    query_snapshot_unref(query);
    return status;
}

enum status get_state(struct request *request, struct response *response, struct error *err)
{
    return respond(request, response, -1, err);
}

enum status get_operator_state(struct request *request, struct response *response,
                               struct error *err)
{
    char *end = NULL;
    errno = 0;
    long long operator_id = strtoll(request->param[1], &end, 10);
    if (errno != 0 || end == request->param[1] || *end != '\0' || operator_id < 0)
        return error_raise(err, STATUS_INVALID_PARAMETER, "parameter", "operator", "value",
                           request->param[1], "expected", "the number of an operator", NULL);
    return respond(request, response, operator_id, err);
}
