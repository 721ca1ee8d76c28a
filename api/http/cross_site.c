#include "api/http/cross_site.h"

#include <string.h>
#include <strings.h>

/* "localhost:8088", "127.0.0.1", "[::1]:80" */
static bool is_loopback_name(const char *host)
{
    size_t size = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    if (size == 9 && strncasecmp(host, "localhost", 9) == 0)
        return true;
    if (size == 5 && strncmp(host, "[::1]", 5) == 0)
        return true;
    return size >= 7 && strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == size;
}

static enum status refuse(const char *header, const char *value, struct error *err)
{
    return error_raise(err, STATUS_CROSS_SITE_REQUEST, "header", header, "value", value, NULL);
}

enum status cross_site_check(const char *host, const char *origin, bool is_loopback,
                             struct error *err)
{
    if (is_loopback && host != NULL && !is_loopback_name(host))
        return refuse("Host", host, err);
    if (origin == NULL)
        return OK;
    const char *authority = strstr(origin, "://");
    if (authority == NULL || host == NULL || strcasecmp(authority + 3, host) != 0)
        return refuse("Origin", origin, err);
    return OK;
}

bool cross_site_type(const char *content_type)
{
    static const char *const types[] = {"application/x-www-form-urlencoded", "multipart/form-data",
                                        "text/plain"};
    if (content_type == NULL)
        return true;
    size_t size = strcspn(content_type, "; ");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i]) == size && strncasecmp(types[i], content_type, size) == 0)
            return true;
    return false;
}
