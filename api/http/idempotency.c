#include "api/http/idempotency.h"

#include "base/check.h"
#include "base/hash.h"
#include "base/heap.h"

#include <pthread.h>
#include <stdlib.h>

struct entry {
    char key[IDEMPOTENCY_KEY_MAX + 1];
    uint64_t fingerprint; /* of method, path and body */
    int64_t since_us;
    bool in_progress;
    int status;
    const char *content_type; /* a literal */
    struct buffer body;
    char *location; /* NULL: none */
    char *etag;
    struct entry *next; /* newer */
};

struct idempotency {
    int64_t keep_us;
    pthread_mutex_t mutex; /* protects all below */
    struct entry *oldest, **newest;
    size_t count;
    size_t bytes; /* of the bodies */
};

struct idempotency *idempotency_new(int64_t keep_us)
{
    struct idempotency *idempotency = heap_calloc(1, sizeof *idempotency);
    idempotency->keep_us = keep_us;
    idempotency->newest = &idempotency->oldest;
    CHECK(pthread_mutex_init(&idempotency->mutex, NULL) == 0);
    return idempotency;
}

static void entry_free(struct entry *entry)
{
    buffer_fini(&entry->body);
    free(entry->location);
    free(entry->etag);
    free(entry);
}

void idempotency_free(struct idempotency *idempotency)
{
    if (idempotency == NULL)
        return;
    for (struct entry *entry = idempotency->oldest; entry != NULL;) {
        struct entry *next = entry->next;
        entry_free(entry);
        entry = next;
    }
    (void)pthread_mutex_destroy(&idempotency->mutex);
    free(idempotency);
}

static void unlink_entry(struct idempotency *idempotency, struct entry **link)
{
    struct entry *entry = *link;
    *link = entry->next;
    if (entry->next == NULL)
        idempotency->newest = link;
    idempotency->count--;
    idempotency->bytes -= entry->body.size_bytes;
    entry_free(entry);
}

/* Drops what is too old, and the oldest finished entries while there are too many. */
static void expire(struct idempotency *idempotency, int64_t now_us)
{
    for (struct entry **link = &idempotency->oldest; *link != NULL;) {
        bool old = now_us - (*link)->since_us > idempotency->keep_us;
        bool many =
            idempotency->count >= IDEMPOTENCY_MAX || idempotency->bytes >= IDEMPOTENCY_BYTES_MAX;
        if (!(*link)->in_progress && (old || many))
            unlink_entry(idempotency, link);
        else if (!old && !many)
            return;
        else
            link = &(*link)->next;
    }
}

static struct entry **find(struct idempotency *idempotency, const char *key)
{
    struct entry **link = &idempotency->oldest;
    while (*link != NULL && strcmp((*link)->key, key) != 0)
        link = &(*link)->next;
    return link;
}

static uint64_t fingerprint_of(const struct request *request)
{
    uint64_t hash = hash_bytes(request->body.data, request->body.size_bytes);
    hash = hash_bytes_seeded(request->path, strlen(request->path), hash);
    return hash_bytes_seeded(request->method_text, strlen(request->method_text), hash);
}

static bool key_is_valid(const char *key)
{
    size_t size = strlen(key);
    if (size == 0 || size > IDEMPOTENCY_KEY_MAX)
        return false;
    for (; *key != '\0'; key++) {
        if (*key < 0x21 || *key > 0x7e)
            return false;
    }
    return true;
}

static void replay(const struct entry *entry, struct request *request, struct response *response)
{
    response->status = entry->status;
    response->content_type = entry->content_type;
    buffer_add_bytes(&response->body, buffer_bytes(&entry->body));
    response_header(response, "Idempotency-Replayed", "true");
    if (entry->location != NULL)
        response_header(response, "Location", arena_strdup(request->arena, entry->location));
    if (entry->etag != NULL)
        response_header(response, "ETag", arena_strdup(request->arena, entry->etag));
}

static void add(struct idempotency *idempotency, const char *key, uint64_t fingerprint,
                int64_t now_us)
{
    struct entry *entry = heap_calloc(1, sizeof *entry);
    memcpy(entry->key, key, strlen(key) + 1);
    entry->fingerprint = fingerprint;
    entry->since_us = now_us;
    entry->in_progress = true;
    *idempotency->newest = entry;
    idempotency->newest = &entry->next;
    idempotency->count++;
}

enum status idempotency_begin(struct idempotency *idempotency, struct request *request,
                              struct response *response, bool *replayed, struct error *err)
{
    const char *key = request->idempotency_key;
    *replayed = false;
    if (!key_is_valid(key))
        return error_raise(err, STATUS_INVALID_HEADER, "header", "Idempotency-Key", "reason",
                           "it has 1 to 128 visible ASCII characters", NULL);
    int64_t now_us = request_now_us(request);
    uint64_t fingerprint = fingerprint_of(request);
    enum status status = OK;
    (void)pthread_mutex_lock(&idempotency->mutex);
    expire(idempotency, now_us);
    const struct entry *entry = *find(idempotency, key);
    if (entry == NULL)
        add(idempotency, key, fingerprint, now_us);
    else if (entry->fingerprint != fingerprint)
        status = error_raise(err, STATUS_IDEMPOTENCY_KEY_REUSED, "key", key, NULL);
    else if (entry->in_progress)
        status = error_raise(err, STATUS_IDEMPOTENCY_KEY_IN_PROGRESS, "key", key, NULL);
    else
        replay(entry, request, response);
    *replayed = status == OK && entry != NULL;
    (void)pthread_mutex_unlock(&idempotency->mutex);
    return status;
}

static char *copy_header(const struct response *response, const char *name)
{
    for (size_t i = 0; i < response->header_count; i++) {
        if (strcmp(response->header[i].name, name) == 0)
            return strdup(response->header[i].value);
    }
    return NULL;
}

void idempotency_finish(struct idempotency *idempotency, struct request *request,
                        const struct response *response)
{
    (void)pthread_mutex_lock(&idempotency->mutex);
    struct entry **link = find(idempotency, request->idempotency_key);
    struct entry *entry = *link;
    if (entry != NULL && entry->in_progress) {
        if (response == NULL || response->status >= 500 || response->status == 408 ||
            response->body.size_bytes > IDEMPOTENCY_BODY_MAX) {
            unlink_entry(idempotency, link);
        } else {
            entry->in_progress = false;
            entry->status = response->status;
            entry->content_type = response->content_type;
            buffer_add_bytes(&entry->body, buffer_bytes(&response->body));
            idempotency->bytes += entry->body.size_bytes;
            entry->location = copy_header(response, "Location");
            entry->etag = copy_header(response, "ETag");
        }
    }
    (void)pthread_mutex_unlock(&idempotency->mutex);
}
