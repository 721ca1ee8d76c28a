#include "api_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <curl/curl.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define START_SECONDS 60
#define AWAIT_SECONDS 60

extern char **environ;

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static pid_t spawn(const struct server *server, const char *const *flags, int out_fd)
{
    static char binary[1024]; /* TIDEMILL_* is the server's own name space: not handed on */
    if (getenv("TIDEMILL_BINARY") != NULL)
        (void)snprintf(binary, sizeof binary, "%s", getenv("TIDEMILL_BINARY"));
    (void)unsetenv("TIDEMILL_BINARY");
    if (*binary == '\0')
        fail_msg("TIDEMILL_BINARY is not set");
    char log[128];
    (void)snprintf(log, sizeof log, "%s/server.log", server->dir);
    const char *argv[32] = {binary,       "serve",          "--listen",   "127.0.0.1:0",
                            "--data-dir", server->data_dir, "--log-file", log};
    size_t count = 8;
    for (size_t i = 0; flags != NULL && flags[i] != NULL && count < 31; i++)
        argv[count++] = flags[i];
    posix_spawn_file_actions_t actions;
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    if (out_fd >= 0)
        assert_int_equal(posix_spawn_file_actions_adddup2(&actions, out_fd, 1), 0);
    union {
        const char **from;
        char *const *to;
    } arguments = {.from = argv};
    pid_t pid = 0;
    assert_int_equal(posix_spawn(&pid, binary, &actions, NULL, arguments.to, environ), 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    return pid;
}

/* The line that the server prints when it listens: no polling, no sleeping. */
static void launch(struct server *server, const char *const *flags)
{
    int pipe_fds[2];
    assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
    server->pid = spawn(server, flags, pipe_fds[1]);
    (void)close(pipe_fds[1]);
    FILE *output = fdopen(pipe_fds[0], "r");
    assert_non_null(output);
    char line[256] = "";
    if (fgets(line, sizeof line, output) == NULL || strstr(line, "http://") == NULL)
        fail_msg("the server does not start: '%s'", line);
    (void)snprintf(server->url, sizeof server->url, "%s", strstr(line, "http://"));
    server->url[strcspn(server->url, "\n")] = '\0';
    (void)fclose(output);
}

void server_start(struct server *server, const char *const *flags)
{
    *server = (struct server){0};
    (void)snprintf(server->dir, sizeof server->dir, "/tmp/tidemill-api-XXXXXX");
    assert_non_null(mkdtemp(server->dir));
    (void)snprintf(server->data_dir, sizeof server->data_dir, "%s/data", server->dir);
    launch(server, flags);
}

void server_restart(struct server *server, const char *const *flags)
{
    launch(server, flags);
}

void server_stop(struct server *server)
{
    int how = 0;
    assert_int_equal(kill(server->pid, SIGTERM), 0);
    assert_int_equal(waitpid(server->pid, &how, 0), server->pid);
    server->pid = 0;
    if (!WIFEXITED(how) || WEXITSTATUS(how) != 0)
        fail_msg("the server ended with %d", how);
}

void server_kill(struct server *server)
{
    assert_int_equal(kill(server->pid, SIGKILL), 0);
    assert_int_equal(waitpid(server->pid, NULL, 0), server->pid);
    server->pid = 0;
}

static void remove_tree(const char *path)
{
    DIR *dir = opendir(path);
    if (dir == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char child[4096];
        struct stat stat_buffer;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        (void)snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
        if (lstat(child, &stat_buffer) == 0 && S_ISDIR(stat_buffer.st_mode))
            remove_tree(child);
        else
            (void)unlink(child);
    }
    (void)closedir(dir);
    (void)rmdir(path);
}

void server_end(struct server *server)
{
    if (server->pid != 0) {
        (void)kill(server->pid, SIGTERM);
        (void)waitpid(server->pid, NULL, 0);
    }
    if (getenv("KEEP") == NULL)
        remove_tree(server->dir);
}

int server_refused(const char *const *flags)
{
    struct server server = {0};
    (void)snprintf(server.dir, sizeof server.dir, "/tmp/tidemill-api-XXXXXX");
    assert_non_null(mkdtemp(server.dir));
    (void)snprintf(server.data_dir, sizeof server.data_dir, "%s/data", server.dir);
    pid_t pid = spawn(&server, flags, -1);
    int how = 0;
    assert_int_equal(waitpid(pid, &how, 0), pid);
    remove_tree(server.dir);
    assert_true(WIFEXITED(how));
    return WEXITSTATUS(how);
}

/* ---- calls ---- */

static size_t on_body(char *data, size_t size, size_t count, void *ctx)
{
    struct reply *reply = ctx;
    size_t bytes = size * count;
    reply->text = realloc(reply->text, reply->size + bytes + 1);
    assert_non_null(reply->text);
    memcpy(reply->text + reply->size, data, bytes);
    reply->size += bytes;
    reply->text[reply->size] = '\0';
    return bytes;
}

static size_t on_header(char *data, size_t size, size_t count, void *ctx)
{
    struct reply *reply = ctx;
    size_t used = strlen(reply->headers), bytes = size * count;
    if (used + bytes < sizeof reply->headers) {
        memcpy(reply->headers + used, data, bytes);
        reply->headers[used + bytes] = '\0';
    }
    return bytes;
}

const char *reply_header(const struct reply *reply, const char *name)
{
    static char value[512];
    size_t size = strlen(name);
    for (const char *line = reply->headers; line != NULL && *line != '\0';) {
        if (strncasecmp(line, name, size) == 0 && line[size] == ':') {
            const char *at = line + size + 1;
            at += strspn(at, " ");
            (void)snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\r\n"), at);
            return value;
        }
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    return "";
}

/* One line for check_contract.py. */
static void record(const struct call *call, const struct reply *reply)
{
    const char *path = getenv("TEST_EXCHANGES");
    if (path == NULL)
        return;
    json_t *line =
        json_pack("{s:s, s:s, s:i, s:s}", "method", call->method == NULL ? "GET" : call->method,
                  "path", call->path, "status", (int)reply->status, "contentType",
                  reply_header(reply, "Content-Type"));
    if (reply->json != NULL)
        (void)json_object_set(line, "body", reply->json);
    /* One write per line: other test programs append to the same file. */
    char *text = json_dumps(line, JSON_COMPACT);
    size_t size = strlen(text);
    text = realloc(text, size + 2);
    assert_non_null(text);
    memcpy(text + size, "\n", 2);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, size + 1), size + 1);
    (void)close(fd);
    free(text);
    json_decref(line);
}

static struct curl_slist *headers_of(const struct call *call)
{
    struct curl_slist *headers = curl_slist_append(NULL, "Expect:");
    if (call->body != NULL) {
        char line[256];
        (void)snprintf(line, sizeof line, "Content-Type: %s",
                       call->content_type == NULL ? "application/json" : call->content_type);
        headers = curl_slist_append(headers, line);
    }
    for (size_t i = 0; i < 8 && call->headers[i] != NULL; i++)
        headers = curl_slist_append(headers, call->headers[i]);
    return headers;
}

struct reply call(struct server *server, const struct call *call)
{
    struct reply reply = {0};
    const char *method = call->method == NULL ? "GET" : call->method;
    CURL *handle = curl_easy_init();
    assert_non_null(handle);
    char url[4096];
    (void)snprintf(url, sizeof url, "%s%s", server->url, call->path);
    struct curl_slist *headers = headers_of(call);
    (void)curl_easy_setopt(handle, CURLOPT_URL, url);
    (void)curl_easy_setopt(handle, CURLOPT_PATH_AS_IS, 1L);
    (void)curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
    (void)curl_easy_setopt(handle, CURLOPT_WRITEDATA, &reply);
    (void)curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl_easy_setopt(handle, CURLOPT_HEADERDATA, &reply);
    (void)curl_easy_setopt(handle, CURLOPT_TIMEOUT, 120L);
    if (call->body != NULL || strcmp(method, "POST") == 0) {
        size_t size = call->body == NULL ? 0 : call->body_size;
        if (size == 0 && call->body != NULL)
            size = strlen(call->body);
        (void)curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
        (void)curl_easy_setopt(handle, CURLOPT_POSTFIELDS, call->body == NULL ? "" : call->body);
    }
    if (strcmp(method, "HEAD") == 0)
        (void)curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
    else
        (void)curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, method);
    CURLcode code = curl_easy_perform(handle);
    (void)curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &reply.status);
    if (code != CURLE_OK && reply.status == 0)
        fail_msg("%s %s: %s", method, call->path, curl_easy_strerror(code));
    curl_slist_free_all(headers);
    curl_easy_cleanup(handle);
    if (reply.text != NULL && strstr(reply_header(&reply, "Content-Type"), "json") != NULL)
        reply.json = json_loadb(reply.text, reply.size, JSON_DECODE_ANY, NULL);
    if (strcmp(method, "HEAD") != 0 && strcmp(method, "OPTIONS") != 0)
        record(call, &reply);
    return reply;
}

void reply_free(struct reply *reply)
{
    json_decref(reply->json);
    free(reply->text);
    *reply = (struct reply){0};
}

static json_t *expect(struct server *server, const struct call *request, long status)
{
    struct reply reply = call(server, request);
    if (reply.status != status)
        fail_msg("%s %s: %ld instead of %ld: %s", request->method == NULL ? "GET" : request->method,
                 request->path, reply.status, status, reply.text == NULL ? "" : reply.text);
    json_t *json = json_incref(reply.json);
    reply_free(&reply);
    return json;
}

json_t *get(struct server *server, const char *path, long status)
{
    return expect(server, &(struct call){.path = path}, status);
}

json_t *post(struct server *server, const char *path, const char *body, long status)
{
    return expect(server, &(struct call){.method = "POST", .path = path, .body = body}, status);
}

void refused(struct server *server, const struct call *request, long status, const char *condition)
{
    struct reply reply = call(server, request);
    const char *got = json_string_value(json_object_get(reply.json, "condition"));
    if (reply.status != status || got == NULL || strcmp(got, condition) != 0)
        fail_msg("%s %s: %ld %s instead of %ld %s: %s",
                 request->method == NULL ? "GET" : request->method, request->path, reply.status,
                 got == NULL ? "" : got, status, condition, reply.text == NULL ? "" : reply.text);
    assert_string_equal(reply_header(&reply, "Content-Type"), "application/problem+json");
    assert_string_not_equal(reply_header(&reply, "X-Request-Id"), "");
    reply_free(&reply);
}

const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (text == NULL)
        fail_msg("%s is no text", key);
    return text;
}

void await_state(struct server *server, const char *query, const char *state)
{
    char path[256], etag[160] = "";
    (void)snprintf(path, sizeof path, "/v1/queries/%s/status", query);
    double until = now() + AWAIT_SECONDS;
    for (;;) {
        struct call request = {.path = path};
        if (*etag != '\0') {
            request.headers[0] = etag;
            request.headers[1] = "Prefer: wait=10";
        }
        struct reply reply = call(server, &request);
        bool there = reply.status == 200 && strcmp(text_of(reply.json, "state"), state) == 0;
        (void)snprintf(etag, sizeof etag, "If-None-Match: %.100s", reply_header(&reply, "ETag"));
        bool gone = reply.status != 200 && reply.status != 304;
        reply_free(&reply);
        if (!there && (now() > until || gone)) {
            reply = call(server, &(struct call){.path = path});
            fail_msg("%s is not %s: %s", query, state, reply.text == NULL ? "" : reply.text);
        }
        if (there)
            return;
    }
}

/* ---- files ---- */

void make_dir(const struct server *server, const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", server->dir, name);
    assert_int_equal(mkdir(path, 0755), 0);
}

/* Appears at once: written under another name in the test's own directory, then renamed. */
void write_file(const struct server *server, const char *name, const char *content)
{
    char temporary[256], path[256];
    (void)snprintf(temporary, sizeof temporary, "%s/.incoming", server->dir);
    (void)snprintf(path, sizeof path, "%s/%s", server->dir, name);
    FILE *file = fopen(temporary, "w");
    assert_non_null(file);
    (void)fputs(content, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(rename(temporary, path), 0);
}

struct lines {
    char **items;
    size_t count;
};

static void read_file_lines(const char *path, struct lines *lines)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, file) > 0) {
        lines->items = realloc(lines->items, (lines->count + 1) * sizeof *lines->items);
        assert_non_null(lines->items);
        lines->items[lines->count++] = strdup(line);
    }
    free(line);
    (void)fclose(file);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char *read_lines(const struct server *server, const char *name, const char *suffix)
{
    struct lines lines = {0};
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", server->dir, name);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        size_t size = strlen(entry->d_name), tail = strlen(suffix);
        if (entry->d_name[0] == '.' || entry->d_name[0] == '_' || size < tail ||
            strcmp(entry->d_name + size - tail, suffix) != 0)
            continue;
        char file[600];
        (void)snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        read_file_lines(file, &lines);
    }
    if (dir != NULL)
        (void)closedir(dir);
    if (lines.count > 0)
        qsort(lines.items, lines.count, sizeof *lines.items, by_text);
    size_t size = 0;
    for (size_t i = 0; i < lines.count; i++)
        size += strlen(lines.items[i]);
    char *text = calloc(1, size + 1);
    assert_non_null(text);
    char *at = text;
    for (size_t i = 0; i < lines.count; i++) {
        at = stpcpy(at, lines.items[i]);
        free(lines.items[i]);
    }
    free(lines.items);
    return text;
}
