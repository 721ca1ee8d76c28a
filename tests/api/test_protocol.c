/*
 * What holds for every resource: probes, the catalog, methods, limits, headers.
 */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int setup(void **state)
{
    (void)state;
    static const char *const flags[] = {"--max-body-bytes", "64k", NULL};
    server_start(&server, flags);
    return 0;
}

static void probes_answer(void **state)
{
    (void)state;
    json_t *live = get(&server, "/livez", 200);
    assert_string_equal(text_of(live, "status"), "alive");
    json_decref(live);
    json_decref(get(&server, "/readyz", 200));
    struct reply metrics = call(&server, &(struct call){.path = "/metrics"});
    assert_int_equal(metrics.status, 200);
    assert_non_null(strstr(metrics.text, "tidemill_http_requests_total{operation=\"getLiveness\""));
    reply_free(&metrics);
}

static void the_catalog_answers(void **state)
{
    (void)state;
    json_t *version = get(&server, "/v1/version", 200);
    assert_string_equal(text_of(version, "name"), "tidemill");
    json_decref(version);
    struct reply contract = call(&server, &(struct call){.path = "/v1/openapi.yaml"});
    assert_int_equal(contract.status, 200);
    assert_int_equal(strncmp(contract.text, "openapi: 3.1.0", 14), 0);
    reply_free(&contract);
    json_t *connectors = get(&server, "/v1/connectors", 200);
    assert_true(json_array_size(json_object_get(connectors, "connectors")) > 4);
    json_decref(connectors);
    json_t *conditions = get(&server, "/v1/error-conditions", 200);
    assert_true(json_array_size(json_object_get(conditions, "conditions")) > 100);
    json_decref(conditions);
    json_t *one = get(&server, "/v1/error-conditions/UNRESOLVED_COLUMN.WITH_SUGGESTION", 200);
    assert_string_equal(text_of(one, "sqlState"), "42703");
    json_decref(one);
    refused(&server, &(struct call){.path = "/v1/error-conditions/NO_SUCH"}, 404,
            "CONDITION_NOT_FOUND");
}

static void paths_and_methods_by_table(void **state)
{
    (void)state;
    static const struct {
        const char *method, *path;
        long status;
        const char *condition;
    } cases[] = {
        {"GET", "/", 404, "ROUTE_NOT_FOUND"},
        {"GET", "/v1", 404, "ROUTE_NOT_FOUND"},
        {"GET", "/v1/queries/", 404, "ROUTE_NOT_FOUND"},
        {"GET", "/v1/queries/a/b/c/d/e/f/g/h/i/j", 404, "ROUTE_NOT_FOUND"},
        {"GET", "/v1/queries/a%2Fstatus", 404, "QUERY_NOT_FOUND"},
        {"GET", "/v1/queries/%00", 404, "ROUTE_NOT_FOUND"},
        {"GET", "/v1/queries/%ff", 404, "ROUTE_NOT_FOUND"},
        {"GET", "/v1/queries/../version", 404, "ROUTE_NOT_FOUND"},
        {"GET", "/v1/queries/absent", 404, "QUERY_NOT_FOUND"},
        {"GET", "/v1/queries/absent/status", 404, "QUERY_NOT_FOUND"},
        {"GET", "/v1/queries/absent/progress", 404, "QUERY_NOT_FOUND"},
        {"GET", "/v1/queries/absent/batches", 404, "QUERY_NOT_FOUND"},
        {"GET", "/v1/queries/absent/batches/0", 404, "QUERY_NOT_FOUND"},
        {"GET", "/v1/queries/absent/runs", 404, "QUERY_NOT_FOUND"},
        {"GET", "/v1/queries/absent/plan", 404, "QUERY_NOT_FOUND"},
        {"GET", "/v1/queries/absent/checkpoint", 404, "QUERY_NOT_FOUND"},
        {"GET", "/v1/queries/absent/results", 404, "QUERY_NOT_FOUND"},
        {"POST", "/v1/queries/absent/start", 404, "QUERY_NOT_FOUND"},
        {"POST", "/v1/queries/absent/stop", 404, "QUERY_NOT_FOUND"},
        {"POST", "/v1/queries/absent/awaitTermination", 404, "QUERY_NOT_FOUND"},
        {"POST", "/v1/queries/absent/checkpoint/verify", 404, "QUERY_NOT_FOUND"},
        {"DELETE", "/v1/queries/absent", 404, "QUERY_NOT_FOUND"},
        {"POST", "/v1/version", 405, "METHOD_NOT_ALLOWED"},
        {"PATCH", "/v1/queries", 405, "METHOD_NOT_ALLOWED"},
        {"GET", "/v1/validate", 405, "METHOD_NOT_ALLOWED"},
        {"FOO", "/v1/queries", 405, "METHOD_NOT_ALLOWED"},
        {"TRACE", "/livez", 405, "METHOD_NOT_ALLOWED"},
        {"GET", "/v1/queries?pagesize=1", 400, "UNKNOWN_PARAMETER"},
        {"GET", "/v1/queries?limit=-1", 400, "UNKNOWN_PARAMETER"},
        {"GET", "/v1/queries?pageSize=0", 400, "INVALID_PARAMETER"},
        {"GET", "/v1/queries?pageSize=x", 400, "INVALID_PARAMETER"},
        {"GET", "/v1/queries?state=running", 400, "INVALID_PARAMETER"},
        {"GET", "/v1/queries?pageToken=zzz", 400, "INVALID_PARAMETER"},
        {"GET", "/v1/queries?label=", 400, "INVALID_PARAMETER"},
        {"GET", "/v1/queries?label=%3Dweb", 400, "INVALID_PARAMETER"},
        {"GET", "/v1/connectors?role=sink", 400, "UNKNOWN_PARAMETER"},
        {"GET", "/v1/error-conditions?pageSize=2", 400, "UNKNOWN_PARAMETER"},
        {"GET", "/v1/error-conditions/INVALID_NAME?x", 400, "UNKNOWN_PARAMETER"},
        {"GET", "/v1/version?x=1", 400, "UNKNOWN_PARAMETER"},
        {"GET", "/v1/openapi.yaml?x=1", 400, "UNKNOWN_PARAMETER"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s %s\n", cases[i].method, cases[i].path);
        refused(&server, &(struct call){.method = cases[i].method, .path = cases[i].path},
                cases[i].status, cases[i].condition);
    }
    struct reply reply = call(&server, &(struct call){.path = "/v1/queries?limit=-1"});
    assert_non_null(strstr(text_of(reply.json, "detail"), "limit here. It takes "));
    assert_non_null(strstr(text_of(reply.json, "detail"), "pageSize"));
    reply_free(&reply);
}

static void allow_lists_the_methods(void **state)
{
    (void)state;
    struct reply reply = call(&server, &(struct call){.method = "PATCH", .path = "/v1/queries/q"});
    assert_int_equal(reply.status, 405);
    assert_string_equal(reply_header(&reply, "Allow"), "GET, HEAD, PUT, DELETE, OPTIONS");
    reply_free(&reply);
    reply = call(&server, &(struct call){.method = "OPTIONS", .path = "/v1/queries"});
    assert_int_equal(reply.status, 204);
    assert_string_equal(reply_header(&reply, "Allow"), "POST, GET, HEAD, OPTIONS");
    reply_free(&reply);
    reply = call(&server, &(struct call){.method = "HEAD", .path = "/v1/version"});
    assert_int_equal(reply.status, 200);
    assert_int_equal(reply.size, 0);
    assert_true(atoi(reply_header(&reply, "Content-Length")) > 10);
    reply_free(&reply);
}

static void bodies_by_table(void **state)
{
    (void)state;
    static const struct {
        const char *body, *content_type;
        long status;
        const char *condition;
    } cases[] = {
        {"", NULL, 400, "INVALID_JSON"},
        {"{", NULL, 400, "INVALID_JSON"},
        {"{\"a\":1,\"a\":2}", NULL, 400, "INVALID_JSON"},
        {"[]", NULL, 400, "INVALID_FIELD_TYPE"},
        {"\"x\"", NULL, 400, "INVALID_FIELD_TYPE"},
        {"{}", "text/plain", 415, "UNSUPPORTED_MEDIA_TYPE"},
        {"{}", "application/json; charset=utf-16", 415, "UNSUPPORTED_MEDIA_TYPE"},
        {"{}", "application/json;charset=\"ISO-8859-1\"", 415, "UNSUPPORTED_MEDIA_TYPE"},
        {"{}", "application/json; charset=latin1", 415, "UNSUPPORTED_MEDIA_TYPE"},
        {"{", "application/json; charset=\"UTF-8\"", 400, "INVALID_JSON"},
        {"a=b", "application/x-www-form-urlencoded", 415, "UNSUPPORTED_MEDIA_TYPE"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].body);
        refused(&server,
                &(struct call){.method = "POST",
                               .path = "/v1/validate",
                               .body = cases[i].body,
                               .content_type = cases[i].content_type},
                cases[i].status, cases[i].condition);
    }
    struct call post = {.method = "POST",
                        .path = "/v1/queries",
                        .body = "{}",
                        .content_type = "application/json; charset=us-ascii"};
    refused(&server, &post, 422, "MISSING_FIELD");
    post.headers[0] = "Content-Encoding: identity";
    refused(&server, &post, 422, "MISSING_FIELD");
    post.headers[0] = "Content-Encoding: gzip";
    refused(&server, &post, 415, "UNSUPPORTED_MEDIA_TYPE");
}

static void a_body_over_the_limit_is_413(void **state)
{
    (void)state;
    static char body[100000];
    memset(body, ' ', sizeof body - 1);
    refused(&server, &(struct call){.method = "POST", .path = "/v1/validate", .body = body}, 413,
            "LIMIT_EXCEEDED");
    struct call chunked = {.method = "POST",
                           .path = "/v1/validate",
                           .body = body,
                           .headers = {"Transfer-Encoding: chunked"}};
    refused(&server, &chunked, 413, "LIMIT_EXCEEDED");
}

/* Sends bytes as they stand; returns the status line. */
static void raw(const char *request, char *answer, size_t size)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(strrchr(server.url, ':') + 1)),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(write(fd, request, strlen(request)), strlen(request));
    size_t used = 0;
    for (ssize_t got; used + 1 < size && (got = read(fd, answer + used, size - used - 1)) > 0;)
        used += (size_t)got;
    answer[used] = '\0';
    (void)close(fd);
}

static void ambiguous_requests_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *why, *request;
        int status;
    } cases[] = {
        {"no Host", "GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n", 400},
        {"two Hosts", "GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n",
         400},
        {"two lengths",
         "POST /v1/validate HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n"
         "Connection: close\r\n\r\n{}",
         400},
        {"length and chunks",
         "POST /v1/validate HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\nTransfer-Encoding: "
         "chunked\r\nConnection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
         400},
        {"an encoding nobody knows: UNSUPPORTED_TRANSFER_ENCODING",
         "POST /v1/validate HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n"
         "Connection: close\r\n\r\n",
         501},
        {"no length", "POST /v1/validate HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n{}", 400},
        {"a length that no number holds",
         "POST /v1/validate HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n{}",
         413},
        {"no chunk",
         "POST /v1/validate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
         "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
         400},
        {"no header line", "GET /livez HTTP/1.1\r\nHost: a\r\nBad Header\r\n\r\n", 400},
        {"another version", "GET /livez HTTP/2.0\r\nHost: a\r\nConnection: close\r\n\r\n", 505},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char answer[4096];
        print_message("%s\n", cases[i].why);
        raw(cases[i].request, answer, sizeof answer);
        int status = 0;
        assert_int_equal(sscanf(answer, "HTTP/%*s %d", &status), 1);
        assert_int_equal(status, cases[i].status);
    }
}

static void heads_over_the_limit_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after, *status, *condition;
    } cases[] = {
        {"GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX: ", "\r\n\r\n", " 431 ",
         "\"LIMIT_EXCEEDED\""},
        {"GET /livez/", " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", " 414 ",
         "\"LIMIT_EXCEEDED\""},
        {"GET /livez?x=", " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", " 414 ",
         "\"LIMIT_EXCEEDED\""},
    };
    static const size_t sizes[] = {33000, 60000, 100000};
    static char request[200000], answer[65536];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; j++) {
            size_t used = (size_t)snprintf(request, sizeof request, "%s", cases[i].before);
            memset(request + used, 'x', sizes[j]);
            (void)snprintf(request + used + sizes[j], 100, "%s", cases[i].after);
            print_message("%s... %zu\n", cases[i].before, sizes[j]);
            raw(request, answer, sizeof answer);
            assert_non_null(strstr(answer, cases[i].status));
            assert_non_null(strstr(answer, "application/problem+json"));
            assert_non_null(strstr(answer, cases[i].condition));
        }
}

static void an_open_address_needs_authentication(void **state)
{
    (void)state;
    static const char *const open_flags[] = {"--listen", "0.0.0.0:0", NULL};
    assert_int_equal(server_refused(open_flags), 3);
    static const char *const no_address[] = {"--listen", "somewhere", NULL};
    assert_int_equal(server_refused(no_address), 3);
    static const char *const unknown[] = {"--no-such-flag", NULL};
    assert_int_equal(server_refused(unknown), 2);
}

static void tokens_and_scopes(void **state)
{
    (void)state;
    struct server guarded;
    char path[128];
    (void)snprintf(path, sizeof path, "%s/tokens", server.dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs("# tokens\nreader-0123456789abcdef read\nwriter-0123456789abcdef "
                "read,operate,write\n",
                file);
    (void)fclose(file);
    const char *const flags[] = {"--token-file", path, NULL};
    server_start(&guarded, flags);
    json_decref(get(&guarded, "/livez", 200));
    refused(&guarded, &(struct call){.path = "/v1/queries"}, 401, "AUTHENTICATION_REQUIRED");
    refused(&guarded,
            &(struct call){.path = "/v1/queries",
                           .headers = {"Authorization: Bearer wrong-0123456789abcdef"}},
            401, "AUTHENTICATION_REQUIRED");
    struct call read = {.path = "/v1/queries",
                        .headers = {"Authorization: Bearer reader-0123456789abcdef"}};
    struct reply reply = call(&guarded, &read);
    assert_int_equal(reply.status, 200);
    reply_free(&reply);
    struct call write = {.method = "POST",
                         .path = "/v1/queries",
                         .body = "{}",
                         .headers = {"Authorization: Bearer reader-0123456789abcdef"}};
    refused(&guarded, &write, 403, "ACCESS_DENIED");
    write.headers[0] = "Authorization: Bearer writer-0123456789abcdef";
    write.content_type = ""; /* as any page could send it: no JSON, whoever it is from */
    refused(&guarded, &write, 415, "UNSUPPORTED_MEDIA_TYPE");
    write.content_type = NULL;
    refused(&guarded, &write, 422, "MISSING_FIELD");
    server_end(&guarded);
}

/* A page of another site can send what a form can, and a name of its own to this address. */
static void pages_of_other_sites_are_refused(void **state)
{
    (void)state;
    static const char spec[] = "{\"sql\":\"SELECT 1\"}";
    static const char *const types[] = {"text/plain", "application/x-www-form-urlencoded",
                                        "multipart/form-data; boundary=x", "text/plain;charset=a"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        refused(
            &server,
            &(struct call){
                .method = "POST", .path = "/v1/validate", .body = spec, .content_type = types[i]},
            415, "UNSUPPORTED_MEDIA_TYPE");
        refused(&server,
                &(struct call){.method = "POST",
                               .path = "/v1/queries/none/start",
                               .body = "x=1",
                               .content_type = types[i]},
                415, "UNSUPPORTED_MEDIA_TYPE");
    }
    refused(
        &server,
        &(struct call){.method = "POST", .path = "/v1/validate", .body = spec, .content_type = ""},
        415, "UNSUPPORTED_MEDIA_TYPE");
    static const char *const headers[] = {"Origin: http://evil.example", "Origin: null",
                                          "Host: evil.example", "Host: 127.0.0.1.evil.example:80",
                                          "Origin: http://localhost.evil.example"};
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        print_message("%s\n", headers[i]);
        refused(&server, &(struct call){.path = "/v1/queries", .headers = {headers[i], NULL}}, 403,
                "CROSS_SITE_REQUEST");
    }
    char origin[160];
    (void)snprintf(origin, sizeof origin, "Origin: %s", server.url);
    static const char *const hosts[] = {"Host: localhost", "Host: localhost:1", "Host: [::1]:80",
                                        "Host: 127.1.2.3"};
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        struct reply reply =
            call(&server, &(struct call){.path = "/v1/queries", .headers = {hosts[i], NULL}});
        assert_int_equal(reply.status, 200);
        reply_free(&reply);
    }
    struct reply reply =
        call(&server, &(struct call){.path = "/v1/queries", .headers = {origin, NULL}});
    assert_int_equal(reply.status, 200);
    reply_free(&reply);
}

/* Many who connect and say nothing, or half a request, keep nobody out. */
static void half_open_connections_keep_nobody_out(void **state)
{
    (void)state;
    enum {
        COUNT = 300
    };
    static int sockets[COUNT];
    const char *colon = strrchr(server.url, ':');
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)strtol(colon + 1, NULL, 10)),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    for (size_t i = 0; i < COUNT; i++) {
        sockets[i] = socket(AF_INET, SOCK_STREAM, 0);
        assert_true(sockets[i] >= 0);
        assert_int_equal(connect(sockets[i], (const struct sockaddr *)&address, sizeof address), 0);
        if (i % 2 == 0)
            assert_int_equal(send(sockets[i], "GET /livez HT", 13, MSG_NOSIGNAL), 13);
        if (i % 50 == 49)
            json_decref(get(&server, "/livez", 200));
    }
    json_decref(get(&server, "/livez", 200));
    json_decref(get(&server, "/v1/version", 200));
    for (size_t i = 0; i < COUNT; i++)
        (void)close(sockets[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probes_answer),
        cmocka_unit_test(the_catalog_answers),
        cmocka_unit_test(paths_and_methods_by_table),
        cmocka_unit_test(allow_lists_the_methods),
        cmocka_unit_test(bodies_by_table),
        cmocka_unit_test(a_body_over_the_limit_is_413),
        cmocka_unit_test(ambiguous_requests_are_refused),
        cmocka_unit_test(heads_over_the_limit_are_refused),
        cmocka_unit_test(an_open_address_needs_authentication),
        cmocka_unit_test(tokens_and_scopes),
        cmocka_unit_test(pages_of_other_sites_are_refused),
        cmocka_unit_test(half_open_connections_keep_nobody_out),
    };
    return cmocka_run_group_tests_name("api/protocol", tests, setup, fixture_teardown) != 0;
}
