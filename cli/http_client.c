#include "cli/http_client.h"

#include "base/dynlib.h"

#include <curl/curl.h>
#include <stdio.h>
#include <strings.h>

#define CONNECT_TIMEOUT_MS 5000
#define ANSWER_TIMEOUT_S   90

static struct {
    __typeof__(&curl_global_init) global_init;
    CURL *(*easy_init)(void);
    CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
    CURLcode (*easy_perform)(CURL *);
    CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
    void (*easy_cleanup)(CURL *);
    const char *(*easy_strerror)(CURLcode);
    struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
    void (*slist_free_all)(struct curl_slist *);
} curl;

static enum status load(struct error *err)
{
    static bool loaded;
    if (loaded)
        return OK;
    const struct dynlib_symbol symbols[] = {
        {"curl_global_init", &curl.global_init},       {"curl_easy_init", &curl.easy_init},
        {"curl_easy_setopt", &curl.easy_setopt},       {"curl_easy_perform", &curl.easy_perform},
        {"curl_easy_getinfo", &curl.easy_getinfo},     {"curl_easy_cleanup", &curl.easy_cleanup},
        {"curl_easy_strerror", &curl.easy_strerror},   {"curl_slist_append", &curl.slist_append},
        {"curl_slist_free_all", &curl.slist_free_all},
    };
    TRY(dynlib_load("libcurl.so.4", symbols, sizeof symbols / sizeof symbols[0], err));
    (void)curl.global_init(CURL_GLOBAL_DEFAULT);
    loaded = true;
    return OK;
}

static size_t on_body(char *data, size_t size, size_t count, void *ctx)
{
    struct http_reply *reply = ctx;
    buffer_add(&reply->body, data, size * count);
    return size * count;
}

static size_t on_header(char *data, size_t size, size_t count, void *ctx)
{
    struct http_reply *reply = ctx;
    size_t length = size * count;
    if (length > 5 && strncasecmp(data, "etag:", 5) == 0) {
        const char *at = data + 5;
        const char *end = data + length;
        while (at < end && (*at == ' ' || *at == '"'))
            at++;
        size_t used = 0;
        while (at < end && *at != '"' && *at != '\r' && used + 1 < sizeof reply->etag)
            reply->etag[used++] = *at++;
        reply->etag[used] = '\0';
    }
    return length;
}

static struct curl_slist *add_header(struct curl_slist *list, const char *format, const char *value)
{
    struct buffer text = {0};
    buffer_add_text(&text, format);
    buffer_add_text(&text, value);
    list = curl.slist_append(list, buffer_text(&text));
    buffer_fini(&text);
    return list;
}

static struct curl_slist *headers_of(const struct http_client *client, const struct http_call *call)
{
    struct curl_slist *list = NULL;
    list = add_header(list, "Accept: ", call->accept == NULL ? "application/json" : call->accept);
    list = add_header(list, "Expect:", "");
    if (call->body.size_bytes > 0)
        list = add_header(list, "Content-Type: ", "application/json");
    if (client->token != NULL)
        list = add_header(list, "Authorization: Bearer ", client->token);
    if (call->if_none_match != NULL)
        list = add_header(list, "If-None-Match: ", call->if_none_match);
    if (call->only_create)
        list = add_header(list, "If-None-Match: *", "");
    if (call->if_match != NULL)
        list = add_header(list, "If-Match: ", call->if_match);
    if (call->wait_seconds > 0) {
        char wait[32];
        (void)snprintf(wait, sizeof wait, "%d", call->wait_seconds);
        list = add_header(list, "Prefer: wait=", wait);
    }
    return list;
}

enum status http_client_call(const struct http_client *client, const struct http_call *call,
                             struct http_reply *reply, struct error *err)
{
    TRY(load(err));
    CURL *handle = curl.easy_init();
    if (handle == NULL)
        return error_raise(err, STATUS_UNREACHABLE, "server", client->server, "reason",
                           "libcurl does not start", NULL);
    bool local = strncmp(client->server, "unix:", 5) == 0;
    struct buffer url = {0};
    buffer_printf(&url, "%s%s", local ? "http://localhost" : client->server, call->path);
    struct curl_slist *headers = headers_of(client, call);
    (void)curl.easy_setopt(handle, CURLOPT_URL, buffer_text(&url));
    if (local)
        (void)curl.easy_setopt(handle, CURLOPT_UNIX_SOCKET_PATH, client->server + 5);
    (void)curl.easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    (void)curl.easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    (void)curl.easy_setopt(handle, CURLOPT_TIMEOUT,
                           call->patient ? 0L : (long)ANSWER_TIMEOUT_S + call->wait_seconds);
    (void)curl.easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
    (void)curl.easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
    (void)curl.easy_setopt(handle, CURLOPT_WRITEDATA, reply);
    (void)curl.easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl.easy_setopt(handle, CURLOPT_HEADERDATA, reply);
    bool has_body = call->body.size_bytes > 0 || strcmp(call->method, "POST") == 0;
    if (has_body) {
        (void)curl.easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                               (curl_off_t)call->body.size_bytes);
        (void)curl.easy_setopt(handle, CURLOPT_POSTFIELDS,
                               call->body.size_bytes == 0 ? (const void *)""
                                                          : (const void *)call->body.data);
    }
    (void)curl.easy_setopt(handle, CURLOPT_CUSTOMREQUEST, call->method);
    CURLcode code = curl.easy_perform(handle);
    enum status status = OK;
    if (code == CURLE_OK)
        (void)curl.easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &reply->status);
    else
        status = error_raise(err, STATUS_UNREACHABLE, "server", client->server, "reason",
                             curl.easy_strerror(code), NULL);
    curl.slist_free_all(headers);
    curl.easy_cleanup(handle);
    buffer_fini(&url);
    return status;
}

void http_reply_fini(struct http_reply *reply)
{
    buffer_fini(&reply->body);
}
