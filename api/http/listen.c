#include "api/http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 256

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
};

static enum status invalid(const char *address, const char *reason, struct error *err)
{
    return error_raise(err, STATUS_INVALID_SETTING, "name", "listen", "value", address, "reason",
                       reason, NULL);
}

static enum status parse_unix(const char *address, union address *out, socklen_t *size,
                              struct error *err)
{
    const char *path = address + 5;
    if (*path == '\0' || strlen(path) >= sizeof out->local.sun_path)
        return invalid(address, "the path of a Unix socket has 1 to 107 bytes", err);
    out->local.sun_family = AF_UNIX;
    memcpy(out->local.sun_path, path, strlen(path) + 1);
    *size = sizeof out->local;
    return OK;
}

static enum status parse(const char *address, union address *out, socklen_t *size,
                         struct error *err)
{
    memset(out, 0, sizeof *out);
    if (strncmp(address, "unix:", 5) == 0)
        return parse_unix(address, out, size, err);
    const char *colon = strrchr(address, ':');
    if (colon == NULL) {
        bool is_port = *address != '\0' && address[strspn(address, "0123456789")] == '\0';
        char reason[96];
        (void)snprintf(reason, sizeof reason, "expected is ADDRESS:PORT, as %s:%.5s", "127.0.0.1",
                       is_port ? address : "8088");
        return invalid(address, reason, err);
    }
    char *end = NULL;
    long port = strtol(colon + 1, &end, 10);
    if (end == colon + 1 || *end != '\0' || port < 0 || port > 65535)
        return invalid(address, "the port is a number from 0 to 65535", err);
    char host[64];
    size_t length = (size_t)(colon - address);
    bool bracketed = length >= 2 && address[0] == '[' && address[length - 1] == ']';
    (void)snprintf(host, sizeof host, "%.*s", (int)(bracketed ? length - 2 : length),
                   address + bracketed);
    if (strcmp(host, "localhost") == 0)
        (void)snprintf(host, sizeof host, "127.0.0.1");
    if (inet_pton(AF_INET, *host == '\0' ? "0.0.0.0" : host, &out->v4.sin_addr) == 1) {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = htons((uint16_t)port);
        *size = sizeof out->v4;
        return OK;
    }
    if (bracketed && inet_pton(AF_INET6, host, &out->v6.sin6_addr) == 1) {
        out->v6.sin6_family = AF_INET6;
        out->v6.sin6_port = htons((uint16_t)port);
        *size = sizeof out->v6;
        return OK;
    }
    return invalid(address, "the address is an IPv4 address, an IPv6 one in [], or localhost", err);
}

static enum status failed(const char *address, int fd, struct error *err)
{
    int error = errno;
    if (fd >= 0)
        (void)close(fd);
    return error_raise(err, STATUS_IO_FAILURE, "path", address, "reason", strerrordesc_np(error),
                       NULL);
}

enum status listen_check(const char *address, struct error *err)
{
    union address parsed;
    socklen_t size = 0;
    return parse(address, &parsed, &size, err);
}

enum status listen_open(const char *address, int *fd_out, int *port, struct error *err)
{
    union address parsed;
    socklen_t size = 0;
    TRY(parse(address, &parsed, &size, err));
    if (parsed.any.sa_family == AF_UNIX)
        (void)unlink(parsed.local.sun_path);
    int fd = socket(parsed.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return failed(address, fd, err);
    int one = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, &parsed.any, size) != 0 || listen(fd, BACKLOG) != 0)
        return failed(address, fd, err);
    size = sizeof parsed;
    if (getsockname(fd, &parsed.any, &size) != 0)
        return failed(address, fd, err);
    *port = parsed.any.sa_family == AF_INET    ? ntohs(parsed.v4.sin_port)
            : parsed.any.sa_family == AF_INET6 ? ntohs(parsed.v6.sin6_port)
                                               : 0;
    *fd_out = fd;
    return OK;
}
