#include "api/http/http_server.h"

#include "api/http/auth.h"
#include "api/http/cross_site.h"
#include "api/http/http_head.h"
#include "api/http/idempotency.h"
#include "api/http/listen.h"
#include "api/http/mhd.h"
#include "api/http/problem.h"
#include "api/http/router.h"
#include "base/check.h"
#include "base/heap.h"
#include "base/metric.h"
#include "base/uuid.h"
#include "base/vfs_posix.h"
#include "control/path_policy.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define WAIT_TICK_US        10000000
#define IDLE_CHECK_US       500000
#define ARENA_BYTES_MAX     ((size_t)256 << 20)
#define EXCHANGE_MAGIC      0x3c8a46e1U
#define CONNECTION_HEADROOM 64 /* per server, beyond maxConnections */
#define BODY_OVERRUN_MAX    4  /* times the limit that is swallowed before the connection is cut */
#define HEAD_ROOM           8  /* times the limit of headers: the memory of a connection */

/* One TCP connection; lives as long as its socket. */
struct connection {
    int fd;
    int64_t deadline_us; /* 0: none (a request is being answered) */
    bool cut;            /* it has been shut down */
    struct connection *next, **link;
};

/* One request and its answer. */
struct exchange {
    uint32_t magic;
    struct http_server *server;
    struct MHD_Connection *handle;
    struct connection *connection;
    struct request request;
    struct response response;
    struct http_head head;
    struct error early; /* what is wrong with the head; answered when the body has been read */
    const char *allow;
    struct buffer body;
    uint64_t body_bytes;   /* also what was swallowed */
    bool keyed;            /* the Idempotency-Key is in progress */
    bool suspended, woken; /* guarded by server->mutex */
    int64_t tick_us;
    struct exchange *next, **link; /* in server->waiting */
};

struct http_server {
    struct api *api;
    struct MHD_Daemon *daemon;
    struct auth *auth;
    struct idempotency *idempotency;
    uint64_t body_max;
    size_t header_max;
    int64_t request_timeout_us;
    bool is_open;     /* without tokens */
    bool is_loopback; /* ... and on a loopback address: pages of others could reach it */
    const char *certificate, *key; /* PEM, in `arena`; NULL: plain HTTP */
    struct arena *arena;
    pthread_t watcher;
    bool watching;

    atomic_bool closing; /* set under the mutex */

    /* Protects: waiting, connections, exchange->suspended and ->woken. */
    pthread_mutex_t mutex;
    pthread_cond_t news;
    struct exchange *waiting;
    struct connection *connections;
    size_t connection_count, connection_max;
};

static int64_t monotonic_now(const struct http_server *server)
{
    return clock_monotonic_us(control_clock(server->api->control));
}

/* ---- waiting ---- */

static void unlink_waiting(struct exchange *exchange)
{
    *exchange->link = exchange->next;
    if (exchange->next != NULL)
        exchange->next->link = exchange->link;
    exchange->link = NULL;
}

/* Under the mutex. */
static void resume(struct exchange *exchange)
{
    CHECK(exchange->suspended);
    exchange->suspended = false;
    unlink_waiting(exchange);
    mhd.resume_connection(exchange->handle);
}

static struct exchange *exchange_of(void *request)
{
    struct exchange *exchange = ((struct request *)request)->connection;
    CHECK_MAGIC(exchange, EXCHANGE_MAGIC);
    return exchange;
}

void http_server_wake(void *request)
{
    struct exchange *exchange = exchange_of(request);
    struct http_server *server = exchange->server;
    (void)pthread_mutex_lock(&server->mutex);
    if (exchange->suspended)
        resume(exchange);
    else
        exchange->woken = true;
    (void)pthread_mutex_unlock(&server->mutex);
}

void http_server_changed(void *ctx, const char *query)
{
    struct http_server *server = ctx;
    (void)pthread_mutex_lock(&server->mutex);
    for (struct exchange *exchange = server->waiting; exchange != NULL;) {
        struct exchange *next = exchange->next;
        const char *watch = exchange->request.watch;
        if (watch != NULL && strcmp(watch, query) == 0)
            resume(exchange);
        exchange = next;
    }
    (void)pthread_mutex_unlock(&server->mutex);
}

/* Suspends the connection unless there was news meanwhile (false: ask the handler again). */
static bool suspend(struct exchange *exchange)
{
    struct http_server *server = exchange->server;
    (void)pthread_mutex_lock(&server->mutex);
    bool woken = exchange->woken || server->closing;
    exchange->woken = false;
    if (!woken) {
        exchange->suspended = true;
        exchange->tick_us = monotonic_now(server) + WAIT_TICK_US;
        exchange->next = server->waiting;
        exchange->link = &server->waiting;
        if (server->waiting != NULL)
            server->waiting->link = &exchange->next;
        server->waiting = exchange;
        mhd.suspend_connection(exchange->handle);
        (void)pthread_cond_signal(&server->news);
    }
    (void)pthread_mutex_unlock(&server->mutex);
    return !woken;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Wakes whose time has come, cuts who is too slow; returns when to look again. */
static int64_t watch_once(struct http_server *server)
{
    int64_t now = monotonic_now(server);
    int64_t next = INT64_MAX;
    for (struct exchange *exchange = server->waiting; exchange != NULL;) {
        struct exchange *following = exchange->next;
        int64_t due = earlier(exchange->tick_us, exchange->request.wait_until_us);
        if (now >= due)
            resume(exchange);
        else
            next = earlier(next, due);
        exchange = following;
    }
    for (struct connection *at = server->connections; at != NULL; at = at->next) {
        if (at->deadline_us == 0)
            continue;
        if (now >= at->deadline_us) {
            at->deadline_us = 0;
            (void)shutdown(at->fd, SHUT_RDWR);
        } else {
            next = earlier(next, earlier(at->deadline_us, now + IDLE_CHECK_US));
        }
    }
    return next;
}

static void *watch(void *ctx)
{
    struct http_server *server = ctx;
    (void)pthread_mutex_lock(&server->mutex);
    while (!server->closing) {
        int64_t next = watch_once(server);
        if (next == INT64_MAX) {
            (void)pthread_cond_wait(&server->news, &server->mutex);
            continue;
        }
        struct timespec until = {.tv_sec = next / 1000000, .tv_nsec = (next % 1000000) * 1000};
        (void)pthread_cond_timedwait(&server->news, &server->mutex, &until);
    }
    (void)pthread_mutex_unlock(&server->mutex);
    return NULL;
}

/* ---- connections ---- */

static void set_deadline(struct exchange *exchange, int64_t deadline_us)
{
    struct http_server *server = exchange->server;
    if (exchange->connection == NULL)
        return;
    (void)pthread_mutex_lock(&server->mutex);
    if (!exchange->connection->cut)
        exchange->connection->deadline_us = deadline_us;
    (void)pthread_mutex_unlock(&server->mutex);
}

/*
 * Under the mutex: makes room for a new connection.  Who has waited longest without a request being
 * answered goes: clients that open connections and say nothing cannot keep out a health check.
 */
static void make_room(struct http_server *server, const struct connection *own)
{
    struct connection *oldest = NULL;
    if (server->connection_count <= server->connection_max)
        return;
    for (struct connection *at = server->connections; at != NULL; at = at->next) {
        if (at != own && at->deadline_us != 0 &&
            (oldest == NULL || at->deadline_us < oldest->deadline_us))
            oldest = at;
    }
    if (oldest == NULL)
        return;
    oldest->deadline_us = 0;
    oldest->cut = true;
    (void)shutdown(oldest->fd, SHUT_RDWR);
}

static void on_connection(void *ctx, struct MHD_Connection *handle, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http_server *server = ctx;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            mhd.get_connection_info(handle, MHD_CONNECTION_INFO_CONNECTION_FD);
        struct connection *connection = heap_calloc(1, sizeof *connection);
        CHECK(info != NULL);
        connection->fd = info->connect_fd;
        (void)pthread_mutex_lock(&server->mutex);
        connection->deadline_us = monotonic_now(server) + server->request_timeout_us;
        connection->next = server->connections;
        connection->link = &server->connections;
        if (server->connections != NULL)
            server->connections->link = &connection->next;
        server->connections = connection;
        server->connection_count++;
        make_room(server, connection);
        (void)pthread_cond_signal(&server->news);
        (void)pthread_mutex_unlock(&server->mutex);
        metric_add(metric_series(METRIC_http_connections, NULL), 1);
        *socket_context = connection;
        return;
    }
    struct connection *connection = *socket_context;
    if (connection == NULL)
        return;
    (void)pthread_mutex_lock(&server->mutex);
    *connection->link = connection->next;
    if (connection->next != NULL)
        connection->next->link = connection->link;
    server->connection_count--;
    (void)pthread_mutex_unlock(&server->mutex);
    free(connection);
    *socket_context = NULL;
    metric_add(metric_series(METRIC_http_connections, NULL), -1);
}

/* ---- one exchange ---- */

static void make_id(char id[REQUEST_ID_SIZE])
{
    static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    uint8_t random[16];
    random_bytes(random, sizeof random);
    for (size_t i = 0; i < sizeof random; i++)
        id[i] = digits[random[i] & 31];
    id[sizeof random] = '\0';
}

static struct exchange *exchange_new(struct http_server *server, struct MHD_Connection *handle)
{
    struct exchange *exchange = heap_calloc(1, sizeof *exchange);
    exchange->magic = EXCHANGE_MAGIC;
    exchange->server = server;
    exchange->handle = handle;
    error_clear(&exchange->early);
    exchange->request.arena = arena_new("request", ARENA_BYTES_MAX);
    exchange->request.api = server->api;
    exchange->request.connection = exchange;
    exchange->request.arrived_us = monotonic_now(server);
    make_id(exchange->request.id);
    const union MHD_ConnectionInfo *info =
        mhd.get_connection_info(handle, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    exchange->connection = info == NULL ? NULL : info->socket_context;
    return exchange;
}

static void exchange_free(struct exchange *exchange)
{
    if (exchange->keyed)
        idempotency_finish(exchange->server->idempotency, &exchange->request, NULL);
    request_fini(&exchange->request); /* after this nobody wakes it */
    (void)pthread_mutex_lock(&exchange->server->mutex);
    if (exchange->link != NULL)
        unlink_waiting(exchange);
    (void)pthread_mutex_unlock(&exchange->server->mutex);
    buffer_fini(&exchange->response.body);
    buffer_fini(&exchange->body);
    arena_free(exchange->request.arena);
    exchange->magic = 0;
    free(exchange);
}

static enum status body_limit(const struct http_server *server, struct error *err)
{
    char limit[24];
    (void)snprintf(limit, sizeof limit, "%llu", (unsigned long long)server->body_max);
    return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the body of a request", "limit", limit,
                       NULL);
}

/* What can be said before the body is there. */
static enum status check_head(struct exchange *exchange, const char *method, const char *url,
                              struct error *err)
{
    struct http_server *server = exchange->server;
    struct request *request = &exchange->request;
    exchange->head.bytes_max = server->header_max;
    TRY(http_head_read(exchange->handle, method, url, request, &exchange->head, err));
    if (server->is_open)
        TRY(cross_site_check(exchange->head.host, exchange->head.origin, server->is_loopback, err));
    TRY(router_find(request, &exchange->allow, err));
    if (request->route != NULL)
        TRY(auth_check(server->auth, request->authorization, request->route->scope, err));
    if (exchange->head.has_content_length && exchange->head.content_length > server->body_max)
        return body_limit(server, err);
    return OK;
}

/* JSON is UTF-8 (RFC 8259), and US-ASCII is a part of it; other parameters say nothing. */
static bool is_utf8(const char *content_type)
{
    static const char key[] = "charset=";
    const char *at = strcasestr(content_type, key);
    if (at == NULL)
        return true;
    at += sizeof key - 1 + (at[sizeof key - 1] == '"');
    size_t size = strcspn(at, "\"; ");
    return (size == 5 && strncasecmp(at, "utf-8", size) == 0) ||
           (size == 4 && strncasecmp(at, "utf8", size) == 0) ||
           (size == 8 && strncasecmp(at, "us-ascii", size) == 0);
}

static bool is_json_type(const char *content_type)
{
    if (content_type == NULL)
        return false; /* any page of the web can send such a body */
    size_t size = strcspn(content_type, "; ");
    return (size == 16 && strncasecmp(content_type, "application/json", 16) == 0) ||
           (size > 5 && strncasecmp(content_type + size - 5, "+json", 5) == 0);
}

static enum status check_body(struct exchange *exchange, struct error *err)
{
    struct request *request = &exchange->request;
    if (exchange->body_bytes > exchange->server->body_max)
        return body_limit(exchange->server, err);
    request->body = buffer_bytes(&exchange->body);
    bool suspect = exchange->server->is_open && request->body.size_bytes > 0 &&
                   cross_site_type(request->content_type);
    bool changes = request->method != METHOD_GET && request->method != METHOD_HEAD;
    if (suspect && changes)
        return error_raise(err, STATUS_UNSUPPORTED_MEDIA_TYPE, "contentType",
                           request->content_type == NULL ? "of no type" : request->content_type,
                           "expected", "application/json", NULL);
    if (request->route->body == BODY_NONE)
        return OK;
    if (request->body.size_bytes > 0 && request->content_encoding != NULL)
        return error_raise(
            err, STATUS_UNSUPPORTED_MEDIA_TYPE, "contentType",
            arena_sprintf(request->arena, "encoded as %s", request->content_encoding), "expected",
            "a body without Content-Encoding", NULL);
    if (request->body.size_bytes > 0 && !is_json_type(request->content_type))
        return error_raise(err, STATUS_UNSUPPORTED_MEDIA_TYPE, "contentType",
                           request->content_type == NULL ? "of no type" : request->content_type,
                           "expected", "application/json", NULL);
    if (request->body.size_bytes > 0 && !is_utf8(request->content_type))
        return error_raise(err, STATUS_UNSUPPORTED_MEDIA_TYPE, "contentType", request->content_type,
                           "expected", "application/json in UTF-8", NULL);
    if (request->body.size_bytes == 0 && request->route->body == BODY_JSON)
        return error_raise(err, STATUS_INVALID_JSON, "reason", "the body is empty", "line", "1",
                           "column", "1", NULL);
    return OK;
}

static enum status dispatch(struct exchange *exchange, struct error *err)
{
    struct http_server *server = exchange->server;
    struct request *request = &exchange->request;
    struct response *response = &exchange->response;
    if (exchange->early.status != OK) {
        *err = exchange->early;
        return err->status;
    }
    if (request->route == NULL) { /* OPTIONS */
        response->status = 204;
        response_header(response, "Allow", exchange->allow);
        return OK;
    }
    TRY(check_body(exchange, err));
    if (request->idempotency_key != NULL && request->method == METHOD_POST && !exchange->keyed) {
        bool replayed = false;
        TRY(idempotency_begin(server->idempotency, request, response, &replayed, err));
        if (replayed)
            return OK;
        exchange->keyed = true;
    }
    return request->route->handler(request, response, err);
}

static void count(const struct exchange *exchange)
{
    char status[8];
    (void)snprintf(status, sizeof status, "%d", exchange->response.status);
    const struct route *route = exchange->request.route;
    const char *operation = route == NULL ? "none" : route->operation;
    const struct metric_labels labels = {{operation, status}};
    metric_add(metric_series(METRIC_http_requests_total, &labels), 1);
    const struct metric_labels duration_labels = {{operation}};
    int64_t took = monotonic_now(exchange->server) - exchange->request.arrived_us;
    metric_observe(metric_series(METRIC_http_request_duration_seconds, &duration_labels),
                   (double)took / 1e6);
}

static enum MHD_Result send_response(struct exchange *exchange)
{
    struct response *response = &exchange->response;
    if (response->status == 0)
        response->status = 200;
    if (exchange->keyed) {
        idempotency_finish(exchange->server->idempotency, &exchange->request, response);
        exchange->keyed = false;
    }
    count(exchange);
    struct MHD_Response *handle = mhd.create_response_from_buffer(
        response->body.size_bytes, response->body.data, MHD_RESPMEM_MUST_FREE);
    CHECK(handle != NULL);
    response->body = (struct buffer){0}; /* it is the library's now */
    (void)mhd.add_response_header(handle, "X-Request-Id", exchange->request.id);
    (void)mhd.add_response_header(handle, "Cache-Control", "no-store");
    (void)mhd.add_response_header(handle, "X-Content-Type-Options", "nosniff");
    if (response->status != 204 && response->status != 304)
        (void)mhd.add_response_header(handle, "Content-Type",
                                      response->content_type == NULL ? "application/json"
                                                                     : response->content_type);
    for (size_t i = 0; i < response->header_count; i++)
        (void)mhd.add_response_header(handle, response->header[i].name, response->header[i].value);
    enum MHD_Result result =
        mhd.queue_response(exchange->handle, (unsigned)response->status, handle);
    mhd.destroy_response(handle);
    set_deadline(exchange,
                 monotonic_now(exchange->server) + 2 * exchange->server->request_timeout_us);
    return result;
}

static enum MHD_Result process(struct exchange *exchange)
{
    struct request *request = &exchange->request;
    set_deadline(exchange, 0);
    for (;;) {
        struct error err = ERROR_INIT;
        request->waiting = false;
        request->watch = NULL;
        buffer_clear(&exchange->response.body);
        exchange->response.header_count = 0;
        exchange->response.status = 0;
        exchange->response.content_type = NULL;
        enum status status = dispatch(exchange, &err);
        if (status == OK && request->waiting && exchange->server->closing)
            status = error_raise(&err, STATUS_SERVER_STOPPING, NULL);
        if (status != OK) {
            request->waiting = false;
            problem_respond(request, &exchange->response, &err, exchange->allow);
        }
        if (!request->waiting)
            return send_response(exchange);
        if (suspend(exchange))
            return MHD_YES;
    }
}

/* Keeps the body up to the limit, swallows the rest, cuts who goes on for ever. */
static enum MHD_Result take_body(struct exchange *exchange, const char *data, size_t size)
{
    struct http_server *server = exchange->server;
    exchange->body_bytes += size;
    if (exchange->body_bytes <= server->body_max)
        buffer_add(&exchange->body, data, size);
    else if (exchange->body_bytes > server->body_max * BODY_OVERRUN_MAX)
        return MHD_NO;
    return MHD_YES;
}

// NOLINTNEXTLINE(readability-function-size): the parameters are those of libmicrohttpd
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *handle, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **state)
{
    (void)version;
    struct http_server *server = ctx;
    struct exchange *exchange = *state;
    if (exchange == NULL) {
        exchange = exchange_new(server, handle);
        *state = exchange;
        set_deadline(exchange, exchange->request.arrived_us + server->request_timeout_us);
        enum status status = check_head(exchange, method, url, &exchange->early);
        /* These close the connection without reading a body that nobody wants. */
        if (status == STATUS_LIMIT_EXCEEDED || status == STATUS_AUTHENTICATION_REQUIRED ||
            status == STATUS_UNSUPPORTED_TRANSFER_ENCODING)
            return process(exchange);
        return MHD_YES;
    }
    CHECK_MAGIC(exchange, EXCHANGE_MAGIC);
    if (*size > 0) {
        size_t taken = *size;
        *size = 0;
        return take_body(exchange, data, taken);
    }
    return process(exchange);
}

static void on_completed(void *ctx, struct MHD_Connection *handle, void **state,
                         enum MHD_RequestTerminationCode code)
{
    (void)ctx;
    (void)handle;
    (void)code;
    if (*state != NULL)
        exchange_free(*state);
    *state = NULL;
}

/* Paths and arguments are decoded piece by piece after they were split. */
static size_t keep_escapes(void *ctx, struct MHD_Connection *handle, char *text)
{
    (void)ctx;
    (void)handle;
    return strlen(text);
}

PRINTF(2, 0) static void on_mhd_log(void *ctx, const char *format, va_list args)
{
    struct http_server *server = ctx;
    char text[256];
    (void)vsnprintf(text, sizeof text, format, args);
    text[strcspn(text, "\n")] = '\0';
    log_event(control_log(server->api->control), LOG_DEBUG, "http_library_message",
              (struct log_field[]){log_text("text", text), {0}});
}

/* ---- the server ---- */

static enum status load_pem(struct http_server *server, const char *path, const char **out,
                            struct error *err)
{
    struct bytes content;
    TRY(vfs_get(vfs_posix(), path, 1U << 20, server->arena, &content, err));
    *out = arena_strndup(server->arena, content.data, content.size_bytes);
    return OK;
}

static enum status configure(struct http_server *server, struct error *err)
{
    const struct config *config = control_config(server->api->control);
    const char *certificate = config_text(config, SETTING_tlsCertificate);
    const char *key = config_text(config, SETTING_tlsKey);
    if ((*certificate == '\0') != (*key == '\0'))
        return error_raise(err, STATUS_INVALID_SETTING, "name", "tlsKey", "value", key, "reason",
                           "tlsCertificate and tlsKey belong together", NULL);
    if (*certificate != '\0') {
        TRY(load_pem(server, certificate, &server->certificate, err));
        TRY(load_pem(server, key, &server->key, err));
    }
    TRY(auth_open(config_text(config, SETTING_tokenFile), &server->auth, err));
    const char *listen = config_text(config, SETTING_listen);
    TRY(listen_check(listen, err)); /* before it is called insecure: it may be no address at all */
    if (auth_is_open_to_all(server->auth) && !listen_is_loopback(listen) &&
        !config_bool(config, SETTING_insecureAllowAnonymous))
        return error_raise(err, STATUS_INSECURE_LISTEN_ADDRESS, "address", listen, NULL);
    server->is_open = auth_is_open_to_all(server->auth);
    server->is_loopback = listen_is_loopback(listen) && strncmp(listen, "unix:", 5) != 0;
    server->connection_max = (size_t)config_number(config, SETTING_maxConnections);
    server->body_max = config_number(config, SETTING_maxBodyBytes);
    server->header_max = (size_t)config_number(config, SETTING_maxHeaderBytes);
    server->request_timeout_us = config_duration_us(config, SETTING_requestTimeout);
    server->idempotency = idempotency_new(config_duration_us(config, SETTING_idempotencyKeep));
    return OK;
}

static enum status start_daemon(struct http_server *server, int fd, struct error *err)
{
    const struct config *config = control_config(server->api->control);
    unsigned threads = (unsigned)config_number(config, SETTING_httpThreads);
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    if (server->certificate != NULL)
        flags |= MHD_USE_TLS;
    /* The library answers with a page of its own where its memory ends: up to there we do. */
    size_t memory = HEAD_ROOM * (size_t)config_number(config, SETTING_maxHeaderBytes);
    struct MHD_OptionItem options[] = {
        {MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)on_mhd_log, server},
        {MHD_OPTION_LISTEN_SOCKET, fd, NULL},
        /* Above the limit so that a new connection is seen at all: make_room() ends another. */
        {MHD_OPTION_CONNECTION_LIMIT, (intptr_t)(server->connection_max + CONNECTION_HEADROOM),
         NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)memory, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)(server->request_timeout_us / 1000000 + 1), NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)on_completed, server},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, server},
        {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)keep_escapes, NULL},
        {threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, (intptr_t)threads, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem tls[] = {
        /* Takes const away: the library only reads. */
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)server->certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)server->key},
        {MHD_OPTION_END, 0, NULL},
    };
    if (server->certificate == NULL)
        tls[0].option = MHD_OPTION_END;
    server->daemon = mhd.start_daemon(flags, 0, NULL, NULL, on_request, server, MHD_OPTION_ARRAY,
                                      options, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
    if (server->daemon == NULL)
        return error_raise(err, STATUS_IO_FAILURE, "path", config_text(config, SETTING_listen),
                           "reason", "the HTTP server does not start", NULL);
    return OK;
}

static enum status start_watcher(struct http_server *server, struct error *err)
{
    if (pthread_create(&server->watcher, NULL, watch, server) != 0)
        return error_raise(err, STATUS_IO_FAILURE, "path", "the HTTP server", "reason",
                           "no thread can be started", NULL);
    server->watching = true;
    return OK;
}

enum status http_server_open(struct api *api, struct http_server **out, int *port,
                             struct error *err)
{
    struct http_server *server = heap_calloc(1, sizeof *server);
    server->api = api;
    server->arena = arena_new("server", 0);
    CHECK(pthread_mutex_init(&server->mutex, NULL) == 0);
    pthread_condattr_t attributes;
    CHECK(pthread_condattr_init(&attributes) == 0);
    CHECK(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
    CHECK(pthread_cond_init(&server->news, &attributes) == 0);
    (void)pthread_condattr_destroy(&attributes);
    int fd = -1;
    enum status status = configure(server, err);
    if (status == OK)
        status = mhd_load(err);
    if (status == OK)
        status =
            listen_open(config_text(control_config(api->control), SETTING_listen), &fd, port, err);
    if (status == OK)
        status = start_watcher(server, err);
    if (status == OK)
        status = start_daemon(server, fd, err);
    if (status != OK) {
        if (fd >= 0)
            (void)close(fd);
        http_server_close(server);
        return status;
    }
    *out = server;
    return OK;
}

void http_server_close(struct http_server *server)
{
    if (server == NULL)
        return;
    (void)pthread_mutex_lock(&server->mutex);
    server->closing = true;
    while (server->waiting != NULL)
        resume(server->waiting);
    (void)pthread_cond_signal(&server->news);
    (void)pthread_mutex_unlock(&server->mutex);
    if (server->watching)
        (void)pthread_join(server->watcher, NULL);
    if (server->daemon != NULL)
        mhd.stop_daemon(server->daemon);
    auth_close(server->auth);
    idempotency_free(server->idempotency);
    (void)pthread_cond_destroy(&server->news);
    (void)pthread_mutex_destroy(&server->mutex);
    arena_free(server->arena);
    free(server);
}
