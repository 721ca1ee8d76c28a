#include "api/http/router.h"

#include "base/check.h"

#include <stdio.h>

/* True if the path fits; the params of {…} go to `param`. */
static bool path_matches(const char *pattern, const struct request *request,
                         const char *param[REQUEST_PARAMS_MAX])
{
    size_t params = 0;
    const char *at = pattern;
    for (size_t i = 0; i < request->segment_count; i++) {
        if (*at != '/')
            return false;
        at++;
        size_t size = strcspn(at, "/");
        if (*at == '{') {
            CHECK(params < REQUEST_PARAMS_MAX);
            if (*request->segment[i] == '\0')
                return false;
            param[params++] = request->segment[i];
        } else if (strlen(request->segment[i]) != size ||
                   strncmp(at, request->segment[i], size) != 0) {
            return false;
        }
        at += size;
    }
    return *at == '\0';
}

static enum method effective(enum method method)
{
    return method == METHOD_HEAD ? METHOD_GET : method;
}

static const char *method_name(enum method method)
{
    static const char *const names[] = {"GET",   "POST", "PUT",     "DELETE",
                                        "PATCH", "HEAD", "OPTIONS", "OTHER"};
    return names[method];
}

enum status router_find(struct request *request, const char **allow, struct error *err)
{
    struct buffer allowed = {0};
    bool path_known = false;
    for (const struct route *route = routes; route->path != NULL; route++) {
        const char *param[REQUEST_PARAMS_MAX] = {NULL};
        if (!path_matches(route->path, request, param))
            continue;
        path_known = true;
        if (route->method == effective(request->method)) {
            request->route = route;
            memcpy(request->param, param, sizeof param);
            buffer_fini(&allowed);
            return OK;
        }
        buffer_printf(&allowed, "%s%s", method_name(route->method),
                      route->method == METHOD_GET ? ", HEAD, " : ", ");
    }
    if (!path_known) {
        buffer_fini(&allowed);
        return error_raise(err, STATUS_ROUTE_NOT_FOUND, "path", request->path, NULL);
    }
    buffer_add_text(&allowed, "OPTIONS");
    *allow = arena_strdup(request->arena, buffer_text(&allowed));
    buffer_fini(&allowed);
    if (request->method == METHOD_OPTIONS)
        return OK;
    return error_raise(err, STATUS_METHOD_NOT_ALLOWED, "method", request->method_text, "allowed",
                       *allow, NULL);
}
