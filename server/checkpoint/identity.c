/*
 * Reading and writing identity.json.  See identity.h.
 */
#include "checkpoint/identity.h"

#include "base/buffer.h"
#include "base/path.h"

#include <jansson.h>
#include <stdio.h>

#define IDENTITY_BYTES_MAX 65536

static enum status damaged(struct error *err, const char *path, const char *reason)
{
    return error_raise(err, STATUS_CHECKPOINT__CORRUPT, "path", path, "reason", reason, NULL);
}

static enum status from_json(const json_t *root, const char *path, struct identity *out,
                             struct error *err)
{
    const json_t *version = json_object_get(root, "formatVersion");
    const char *query_id = json_string_value(json_object_get(root, "queryId"));
    const char *name = json_string_value(json_object_get(root, "queryName"));
    const char *created_at = json_string_value(json_object_get(root, "createdAt"));
    struct uuid uuid;
    if (!json_is_integer(version))
        return damaged(err, path, "it has no formatVersion");
    if (json_integer_value(version) != CHECKPOINT_FORMAT_VERSION) {
        char text[32];
        (void)snprintf(text, sizeof text, "%lld", (long long)json_integer_value(version));
        return error_raise(err, STATUS_CHECKPOINT__UNSUPPORTED_VERSION, "path", path, "version",
                           text, "supported", "1", NULL);
    }
    if (query_id == NULL || !uuid_parse(bytes_of_text(query_id), &uuid))
        return damaged(err, path, "it has no queryId");
    uuid_format(uuid, out->query_id);
    (void)snprintf(out->query_name, sizeof out->query_name, "%s", name == NULL ? "" : name);
    (void)snprintf(out->created_at, sizeof out->created_at, "%s",
                   created_at == NULL ? "" : created_at);
    return OK;
}

enum status identity_read(struct vfs *vfs, const char *dir, struct identity *out, bool *found,
                          struct error *err)
{
    enum status status = OK;
    json_t *root = NULL;
    struct bytes text;
    struct arena *arena = arena_new("identity", 0);
    const char *path = path_join(arena, dir, "identity.json");
    *out = (struct identity){0};
    *found = false;
    TRY_OUT(vfs_find(vfs, path, found, err));
    if (!*found)
        goto out;
    TRY_OUT(vfs_get(vfs, path, IDENTITY_BYTES_MAX, arena, &text, err));
    root = json_loadb((const char *)text.data, text.size_bytes, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(root)) {
        status = damaged(err, path, "it is not a JSON object");
        goto out;
    }
    status = from_json(root, path, out, err);
out:
    json_decref(root);
    arena_free(arena);
    return status;
}

enum status identity_write(struct vfs *vfs, const char *dir, const struct identity *identity,
                           struct error *err)
{
    struct buffer text = {0};
    struct arena *arena = arena_new("identity", 0);
    buffer_printf(&text, "{\"formatVersion\": %d, \"queryId\": \"%s\", \"queryName\": ",
                  CHECKPOINT_FORMAT_VERSION, identity->query_id);
    buffer_add_json_string(&text, bytes_of_text(identity->query_name));
    buffer_printf(&text, ", \"createdAt\": \"%s\"}\n", identity->created_at);
    enum status status =
        vfs_put(vfs, path_join(arena, dir, "identity.json"), buffer_bytes(&text), true, err);
    buffer_fini(&text);
    arena_free(arena);
    return status;
}
