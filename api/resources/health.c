#include "api/api.h"
#include "api/resources/resources.h"
#include "base/json_writer.h"
#include "base/metric.h"

static void respond_ok(struct response *response, const char *status)
{
    struct json_writer json = json_writer_to(&response->body);
    json_begin_object(&json, NULL);
    json_put_text(&json, "status", status);
    json_end_object(&json);
}

enum status get_liveness(struct request *request, struct response *response, struct error *err)
{
    (void)request;
    (void)err;
    respond_ok(response, "alive");
    return OK;
}

enum status get_readiness(struct request *request, struct response *response, struct error *err)
{
    if (control_is_stopping(request->api->control))
        return error_raise(err, STATUS_SERVER_STOPPING, NULL);
    respond_ok(response, "ready");
    return OK;
}

enum status get_metrics(struct request *request, struct response *response, struct error *err)
{
    (void)request;
    (void)err;
    metric_write(&response->body);
    response->content_type = "text/plain; version=0.0.4; charset=utf-8";
    return OK;
}
