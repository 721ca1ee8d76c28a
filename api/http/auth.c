#include "api/http/auth.h"

#include "base/dynlib.h"
#include "base/heap.h"
#include "base/vfs_posix.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define TOKENS_MAX     1000
#define HASH_SIZE      32
#define FILE_BYTES_MAX (1U << 20)

struct token {
    uint8_t hash[HASH_SIZE];
    bool scope[SCOPE_WRITE + 1];
};

struct auth {
    bool open_to_all;
    struct token tokens[TOKENS_MAX];
    size_t token_count;
};

static unsigned char *(*sha256)(const unsigned char *data, size_t size, unsigned char *out);

static const char *const scope_names[] = {"none", "read", "operate", "write"};

static enum status parse_error(const char *path, int line, const char *reason, struct error *err)
{
    char text[96];
    (void)snprintf(text, sizeof text, "line %d: %s", line, reason);
    return error_raise(err, STATUS_INVALID_SETTING, "name", "tokenFile", "value", path, "reason",
                       text, NULL);
}

/* "read,operate": each scope includes those before it only if it is listed. */
static bool parse_scopes(const char *text, size_t size, struct token *token)
{
    token->scope[SCOPE_NONE] = true;
    while (size > 0) {
        size_t length = 0;
        while (length < size && text[length] != ',')
            length++;
        bool known = false;
        for (int i = SCOPE_READ; i <= SCOPE_WRITE; i++) {
            if (strlen(scope_names[i]) == length && memcmp(scope_names[i], text, length) == 0)
                known = token->scope[i] = true;
        }
        if (!known)
            return false;
        size_t step = length < size ? length + 1 : length;
        text += step;
        size -= step;
    }
    return token->scope[SCOPE_READ] || token->scope[SCOPE_OPERATE] || token->scope[SCOPE_WRITE];
}

static enum status parse_line(struct auth *auth, const char *path, int number, struct bytes line,
                              struct error *err)
{
    const char *text = (const char *)line.data;
    size_t size = line.size_bytes;
    while (size > 0 && isspace((unsigned char)text[size - 1]))
        size--;
    if (size == 0 || *text == '#')
        return OK;
    size_t token_size = 0;
    while (token_size < size && !isspace((unsigned char)text[token_size]))
        token_size++;
    size_t scopes = token_size;
    while (scopes < size && isspace((unsigned char)text[scopes]))
        scopes++;
    if (token_size < 16)
        return parse_error(path, number, "a token has 16 characters or more", err);
    if (auth->token_count == TOKENS_MAX)
        return parse_error(path, number, "there are too many tokens", err);
    struct token *token = &auth->tokens[auth->token_count];
    if (scopes == size || !parse_scopes(text + scopes, size - scopes, token))
        return parse_error(path, number, "scopes are read, operate and write, with commas", err);
    (void)sha256((const unsigned char *)text, token_size, token->hash);
    auth->token_count++;
    return OK;
}

static enum status load(struct auth *auth, const char *path, struct error *err)
{
    const struct dynlib_symbol symbols[] = {{"SHA256", &sha256}};
    TRY(dynlib_load("libcrypto.so.3", symbols, 1, err));
    struct arena *arena = arena_new("request", 0);
    struct bytes content = {0};
    enum status status = vfs_get(vfs_posix(), path, FILE_BYTES_MAX, arena, &content, err);
    int number = 1;
    while (status == OK && content.size_bytes > 0) {
        const uint8_t *end = memchr(content.data, '\n', content.size_bytes);
        size_t size = end == NULL ? content.size_bytes : (size_t)(end - content.data);
        status = parse_line(auth, path, number++, bytes_of(content.data, size), err);
        size_t step = end == NULL ? size : size + 1;
        content = bytes_of(content.data + step, content.size_bytes - step);
    }
    arena_free(arena);
    if (status == OK && auth->token_count == 0)
        return parse_error(path, number, "there is no token", err);
    return status;
}

enum status auth_open(const char *path, struct auth **out, struct error *err)
{
    struct auth *auth = heap_calloc(1, sizeof *auth);
    auth->open_to_all = *path == '\0';
    if (!auth->open_to_all) {
        enum status status = load(auth, path, err);
        if (status != OK) {
            auth_close(auth);
            return status;
        }
    }
    *out = auth;
    return OK;
}

void auth_close(struct auth *auth)
{
    free(auth);
}

bool auth_is_open_to_all(const struct auth *auth)
{
    return auth->open_to_all;
}

/* All bytes are looked at, wherever the first difference is. */
static bool same_hash(const uint8_t *a, const uint8_t *b)
{
    uint8_t difference = 0;
    for (size_t i = 0; i < HASH_SIZE; i++)
        difference |= a[i] ^ b[i];
    return difference == 0;
}

enum status auth_check(const struct auth *auth, const char *authorization, enum scope scope,
                       struct error *err)
{
    if (auth->open_to_all || scope == SCOPE_NONE)
        return OK;
    if (authorization == NULL || strncmp(authorization, "Bearer ", 7) != 0)
        return error_raise(err, STATUS_AUTHENTICATION_REQUIRED, NULL);
    const char *text = authorization + 7;
    uint8_t hash[HASH_SIZE];
    (void)sha256((const unsigned char *)text, strlen(text), hash);
    const struct token *found = NULL;
    for (size_t i = 0; i < auth->token_count; i++) {
        if (same_hash(auth->tokens[i].hash, hash))
            found = &auth->tokens[i];
    }
    if (found == NULL)
        return error_raise(err, STATUS_AUTHENTICATION_REQUIRED, NULL);
    if (found->scope[scope])
        return OK;
    return error_raise(err, STATUS_ACCESS_DENIED, "scope", scope_names[scope], NULL);
}
