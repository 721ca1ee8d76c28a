#include "api/api.h"

#include "api/http/http_server.h"
#include "base/heap.h"
#include "base/metric.h"

#include <stdlib.h>

/* The server is beside the part that handlers see. */
struct running_api {
    struct api api; /* first member */
    struct http_server *server;
};

enum status api_open(struct control *control, struct api **out, int *port, struct error *err)
{
    struct running_api *running = heap_calloc(1, sizeof *running);
    running->api.control = control;
    running->api.wake = http_server_wake;
    running->api.started_us = clock_now_us(control_clock(control));
    enum status status = http_server_open(&running->api, &running->server, port, err);
    if (status != OK) {
        free(running);
        return status;
    }
    control_listen(control, http_server_changed, running->server);
    metric_set(metric_series(METRIC_build_info, &(struct metric_labels){{TIDEMILL_VERSION}}), 1);
    *out = &running->api;
    return OK;
}

void api_close(struct api *api)
{
    if (api == NULL)
        return;
    struct running_api *running = (struct running_api *)api;
    control_listen(api->control, NULL, NULL);
    http_server_close(running->server);
    free(running);
}
