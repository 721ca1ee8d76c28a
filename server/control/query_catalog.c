#include "control/query_catalog.h"

#include "base/check.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/path.h"
#include "spec/json_reader.h"
#include "spec/spec_json.h"

#include <stdio.h>
#include <stdlib.h>

#define RECORD_VERSION 1 /* of query.json */

#define RECORD_BYTES_MAX (32U << 20)

struct query_catalog {
    struct vfs *vfs;
    char *queries;     /* <dataDir>/queries */
    char *checkpoints; /* <dataDir>/checkpoints */
};

static char *joined(const char *a, const char *b)
{
    struct buffer text = {0};
    buffer_printf(&text, "%s/%s", a, b);
    char *copy = heap_strdup(buffer_text(&text));
    buffer_fini(&text);
    return copy;
}

enum status query_catalog_open(struct vfs *vfs, const char *data_dir, struct query_catalog **out,
                               struct error *err)
{
    struct query_catalog *catalog = heap_calloc(1, sizeof *catalog);
    catalog->vfs = vfs;
    catalog->queries = joined(data_dir, "queries");
    catalog->checkpoints = joined(data_dir, "checkpoints");
    enum status status = vfs_make_dirs(vfs, catalog->queries, err);
    if (status == OK)
        status = vfs_make_dirs(vfs, catalog->checkpoints, err);
    if (status != OK) {
        query_catalog_close(catalog);
        return status;
    }
    *out = catalog;
    return OK;
}

void query_catalog_close(struct query_catalog *catalog)
{
    if (catalog == NULL)
        return;
    free(catalog->queries);
    free(catalog->checkpoints);
    free(catalog);
}

static void set_etag(struct query_definition *definition)
{
    uint64_t hash = hash_bytes(definition->json, strlen(definition->json));
    (void)snprintf(definition->etag, sizeof definition->etag, "%016llx", (unsigned long long)hash);
}

/* Directory and checkpoint follow from the uid and the spec. */
static void place(struct query_catalog *catalog, struct query_definition *definition)
{
    set_etag(definition);
    if (definition->directory == NULL)
        definition->directory = joined(catalog->queries, definition->uid);
    if (definition->checkpoint == NULL) {
        definition->checkpoint = joined(catalog->checkpoints, definition->uid);
        definition->own_checkpoint = true;
        query_definition_resolve(definition);
    }
}

void query_catalog_adopt(struct query_catalog *catalog, struct query_definition *definition,
                         int64_t now_us)
{
    uuid_random_text(definition->uid);
    definition->generation = 1;
    definition->created_us = now_us;
    definition->updated_us = now_us;
    place(catalog, definition);
}

void query_catalog_succeed(struct query_catalog *catalog, struct query_definition *definition,
                           const struct query_definition *old, int64_t now_us)
{
    memcpy(definition->uid, old->uid, sizeof definition->uid);
    definition->generation = old->generation + 1;
    definition->created_us = old->created_us;
    definition->updated_us = now_us;
    place(catalog, definition);
}

static void add_error(struct buffer *out, const struct error *error)
{
    buffer_add_text(out, "{\"condition\":");
    buffer_add_json_string(out, bytes_of_text(status_name(error->status)));
    buffer_add_text(out, ",\"text\":");
    buffer_add_json_string(out, bytes_of_text(error->text));
    buffer_printf(out, ",\"position\":%d,\"positionEnd\":%d,\"pointer\":", error->position,
                  error->position_end);
    buffer_add_json_string(out, bytes_of_text(error->pointer));
    buffer_add_text(out, ",\"view\":");
    buffer_add_json_string(out, bytes_of_text(error->view));
    buffer_add_text(out, ",\"causes\":[");
    for (size_t i = 0; i < 3 && error->causes[i] != OK; i++) {
        if (i > 0)
            buffer_add_byte(out, ',');
        buffer_add_json_string(out, bytes_of_text(status_name(error->causes[i])));
    }
    buffer_add_text(out, "],\"parameters\":[");
    for (const char *at = error->params; *at != '\0';) { /* flat: name, value, name, value */
        const char *value = at + strlen(at) + 1;
        if (at != error->params)
            buffer_add_byte(out, ',');
        buffer_add_json_string(out, bytes_of_text(at));
        buffer_add_byte(out, ',');
        buffer_add_json_string(out, bytes_of_text(value));
        at = value + strlen(value) + 1;
    }
    buffer_add_text(out, "]}");
}

enum status query_catalog_put(struct query_catalog *catalog, const struct catalog_entry *entry,
                              struct error *err)
{
    const struct query_definition *definition = entry->definition;
    struct buffer out = {0};
    buffer_printf(&out, "{\"formatVersion\":%d,\"uid\":\"%s\",\"generation\":%llu,", RECORD_VERSION,
                  definition->uid, (unsigned long long)definition->generation);
    buffer_printf(&out, "\"createdUs\":%lld,\"updatedUs\":%lld,\"desiredState\":\"%s\",",
                  (long long)definition->created_us, (long long)definition->updated_us,
                  entry->desired_running ? "RUNNING" : "STOPPED");
    buffer_add_text(&out, "\"name\":");
    buffer_add_json_string(&out, bytes_of_text(definition->name));
    if (entry->deleting)
        buffer_printf(&out, ",\"deleting\":{\"purge\":%s}", entry->purge ? "true" : "false");
    if (entry->outcome.since_us != 0) {
        buffer_printf(&out, ",\"outcome\":{\"state\":\"%s\",\"sinceUs\":%lld,\"reason\":",
                      query_state_name(entry->outcome.state), (long long)entry->outcome.since_us);
        buffer_add_json_string(&out, bytes_of_text(entry->outcome.reason));
        if (entry->outcome.error.status != OK) {
            buffer_add_text(&out, ",\"error\":");
            add_error(&out, &entry->outcome.error);
        }
        buffer_add_byte(&out, '}');
    }
    buffer_printf(&out, ",\"spec\":%s}\n", definition->json);
    char *path = joined(definition->directory, "query.json");
    bool is_new = !vfs_exists(catalog->vfs, definition->directory);
    enum status status = vfs_make_dirs(catalog->vfs, definition->directory, err);
    if (status == OK)
        status = vfs_put(catalog->vfs, path, buffer_bytes(&out), false, err);
    if (status == OK)
        status = vfs_sync_dir(catalog->vfs, catalog->queries, err);
    if (status != OK && is_new) { /* refused: nothing of it stays */
        struct error ignored = ERROR_INIT;
        (void)!vfs_remove_tree(catalog->vfs, definition->directory, &ignored);
    }
    free(path);
    buffer_fini(&out);
    return status;
}

enum status query_catalog_write_spec(struct query_catalog *catalog, struct arena *arena,
                                     const struct query_definition *definition, const char **path,
                                     struct error *err)
{
    const char *json = NULL;
    TRY(spec_json_complete(arena, definition->json, definition->name, definition->checkpoint, &json,
                           err));
    const char *name = path_join(arena, definition->directory, "spec.json");
    TRY(vfs_put(catalog->vfs, name, bytes_of_text(json), false, err));
    *path = name;
    return OK;
}

/* What a process that was killed while it wrote one of `files` has left: "epoch.4711.0.tmp". */
static enum status remove_temporaries(struct vfs *vfs, struct arena *arena, const char *dir,
                                      const char *const *files, struct error *err)
{
    struct vfs_entry *entries = NULL;
    size_t count = 0;
    TRY(vfs_list(vfs, dir, arena, &entries, &count, err));
    for (size_t i = 0; i < count; i++) {
        const char *name = entries[i].name, *end = strrchr(name, '.');
        bool temporary = end != NULL && strcmp(end, ".tmp") == 0;
        for (const char *const *file = files; temporary && *file != NULL; file++) {
            size_t size = strlen(*file);
            if (strncmp(name, *file, size) == 0 && name[size] == '.')
                TRY(vfs_remove(vfs, path_join(arena, dir, name), err));
        }
    }
    return OK;
}

/* A disk that is full is a reason to purge: without the record the entry itself goes last. */
static enum status write_tombstone(struct query_catalog *catalog, const struct catalog_entry *entry,
                                   struct error *err)
{
    struct catalog_entry tombstone = *entry;
    tombstone.deleting = true;
    if (query_catalog_put(catalog, &tombstone, err) == STATUS_DISK_FULL)
        error_clear(err);
    return err->status;
}

/* An empty directory, durably: a crash does not bring it back. */
static enum status remove_place(struct vfs *vfs, struct arena *arena, const char *dir,
                                struct error *err)
{
    TRY(vfs_remove_tree(vfs, dir, err));
    return vfs_sync_dir(vfs, path_dirname(arena, dir), err);
}

/* Removes what a checkpoint consists of, its identity last, and the directory if nothing is left.
 * First goes what says that there must be a log: who looks meanwhile, or after a crash in between,
 * does not find a damaged checkpoint. */
static enum status purge_checkpoint(struct query_catalog *catalog,
                                    const struct catalog_entry *entry, struct error *err)
{
    struct vfs *vfs = catalog->vfs;
    const char *dir = entry->definition->checkpoint;
    static const char *const parts[] = {"log", "state", "sources", "sink"};
    static const char *const files[] = {"spec.json", "epoch", "lock", "identity.json"};
    static const char *const written[] = {"begun", "spec.json", "epoch", "identity.json", NULL};
    enum status status = OK;
    size_t left = 0;
    struct vfs_entry *entries = NULL;
    struct vfs_lock *lock = NULL;
    struct arena *arena = arena_new("request", 0);
    TRY_OUT(vfs_lock(vfs, path_join(arena, dir, "lock"), &lock, err));
    TRY_OUT(write_tombstone(catalog, entry, err));
    TRY_OUT(vfs_remove(vfs, path_join(arena, dir, "begun"), err));
    TRY_OUT(vfs_sync_dir(vfs, dir, err));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const char *path = path_join(arena, dir, parts[i]);
        if (vfs_exists(vfs, path))
            TRY_OUT(vfs_remove_tree(vfs, path, err));
    }
    TRY_OUT(remove_temporaries(vfs, arena, dir, written, err));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        TRY_OUT(vfs_remove(vfs, path_join(arena, dir, files[i]), err));
    TRY_OUT(vfs_list(vfs, dir, arena, &entries, &left, err));
    if (left == 0)
        status = remove_place(vfs, arena, dir, err);
out:
    vfs_unlock(lock);
    arena_free(arena);
    return status;
}

/* Of a checkpoint that another purge has left without its identity, or that was never begun: what
 * can be left is an empty directory. */
static enum status purge_rest(struct vfs *vfs, const char *dir, struct error *err)
{
    struct vfs_entry *entries = NULL;
    size_t left = 0;
    if (!vfs_exists(vfs, dir))
        return OK;
    struct arena *arena = arena_new("request", 0);
    enum status status = vfs_list(vfs, dir, arena, &entries, &left, err);
    if (status == OK && left == 0)
        status = remove_place(vfs, arena, dir, err);
    arena_free(arena);
    return status;
}

enum status query_catalog_remove(struct query_catalog *catalog, const struct catalog_entry *entry,
                                 struct error *err)
{
    const struct query_definition *definition = entry->definition;
    if (entry->purge) {
        char *identity = joined(definition->checkpoint, "identity.json");
        bool is_checkpoint = vfs_exists(catalog->vfs, identity); /* never a directory of others */
        free(identity);
        TRY(is_checkpoint ? purge_checkpoint(catalog, entry, err)
                          : purge_rest(catalog->vfs, definition->checkpoint, err));
    }
    char *path = joined(definition->directory, "query.json");
    enum status status = vfs_remove(catalog->vfs, path, err);
    free(path);
    TRY(status);
    TRY(vfs_sync_dir(catalog->vfs, definition->directory, err));
    return vfs_remove_tree(catalog->vfs, definition->directory, err);
}

static void read_error(struct json_reader *reader, struct json_place place, struct error *out)
{
    error_clear(out);
    const json_t *condition = json_object_get(place.object, "condition");
    out->status = json_is_string(condition) ? status_find(json_string_value(condition)) : OK;
    if (out->status == OK)
        out->status = STATUS_INTERNAL_ERROR;
    const char *text = "", *pointer = "", *view = "";
    int64_t position = -1, position_end = -1;
    (void)!json_read_text(reader, place, "text", &text);
    (void)!json_read_text(reader, place, "pointer", &pointer);
    (void)!json_read_text(reader, place, "view", &view);
    (void)!json_read_int(reader, place, "position", -1, INT32_MAX, &position);
    (void)!json_read_int(reader, place, "positionEnd", -1, INT32_MAX, &position_end);
    (void)snprintf(out->text, sizeof out->text, "%s", text);
    (void)snprintf(out->pointer, sizeof out->pointer, "%s", pointer);
    (void)snprintf(out->view, sizeof out->view, "%s", view);
    out->position = (int)position;
    out->position_end = (int)position_end;
    const char **items = NULL;
    size_t count = 0, used = 0;
    (void)!json_read_texts(reader, place, "causes", &items, &count);
    for (size_t i = 0; i < count && i < 3; i++)
        out->causes[i] = status_find(items[i]);
    items = NULL;
    count = 0;
    (void)!json_read_texts(reader, place, "parameters", &items, &count);
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(items[i]) + 1;
        if (used + size + 2 > sizeof out->params)
            break;
        memcpy(out->params + used, items[i], size);
        used += size;
    }
}

static void read_outcome(struct json_reader *reader, struct json_place root,
                         struct query_outcome *out)
{
    struct json_place place = {0}, error = {0};
    const char *state = "STOPPED", *reason = "";
    (void)!json_read_object(reader, root, "outcome", &place);
    if (place.object == NULL)
        return;
    (void)!json_read_text(reader, place, "state", &state);
    (void)!json_read_text(reader, place, "reason", &reason);
    (void)!json_read_int(reader, place, "sinceUs", 0, INT64_MAX, &out->since_us);
    if (!query_state_find(state, &out->state))
        out->state = QUERY_STOPPED;
    (void)snprintf(out->reason, sizeof out->reason, "%s", reason);
    (void)!json_read_object(reader, place, "error", &error);
    if (error.object != NULL)
        read_error(reader, error, &out->error);
}

/* A record that this or an older version wrote. */
static enum status read_record(struct arena *arena, json_t *root, struct catalog_entry *out,
                               struct error *err)
{
    struct json_reader reader = {.arena = arena, .err = err};
    struct json_place place = {root, ""};
    const char *uid = NULL, *name = NULL, *desired = "STOPPED";
    struct json_place deleting = {0};
    int64_t version = RECORD_VERSION, generation = 1, created = 0, updated = 0;
    TRY(json_read_int(&reader, place, "formatVersion", 1, INT64_MAX, &version));
    if (version > RECORD_VERSION)
        return error_set(
            err, STATUS_CHECKSUM_MISMATCH,
            "a later version of Tidemill wrote it, with format %lld; this one reads %d",
            (long long)version, RECORD_VERSION);
    TRY(json_read_text(&reader, place, "uid", &uid));
    TRY(json_read_text(&reader, place, "name", &name));
    TRY(json_read_text(&reader, place, "desiredState", &desired));
    TRY(json_read_int(&reader, place, "generation", 1, INT64_MAX, &generation));
    TRY(json_read_int(&reader, place, "createdUs", 0, INT64_MAX, &created));
    TRY(json_read_int(&reader, place, "updatedUs", 0, INT64_MAX, &updated));
    json_t *json = json_object_get(root, "spec");
    struct uuid ignored;
    if (uid == NULL || !uuid_parse(bytes_of_text(uid), &ignored) || name == NULL ||
        !json_is_object(json))
        return error_set(err, STATUS_CHECKSUM_MISMATCH, "the record lacks uid, name or spec");
    struct query_spec *spec = NULL;
    const char *text = json_print(arena, json);
    /* Collected: an older version may have accepted what this one warns about; the worker says. */
    TRY(query_spec_parse(arena, bytes_of_text(text), diagnostics_new(arena), &spec, err));
    struct query_definition *definition = query_definition_new(spec, name, text);
    (void)snprintf(definition->uid, sizeof definition->uid, "%s", uid);
    definition->generation = (uint64_t)generation;
    definition->created_us = created;
    definition->updated_us = updated;
    read_outcome(&reader, place, &out->outcome);
    (void)!json_read_object(&reader, place, "deleting", &deleting);
    out->deleting = deleting.object != NULL;
    if (out->deleting)
        (void)!json_read_bool(&reader, deleting, "purge", &out->purge);
    out->definition = definition;
    out->desired_running = strcmp(desired, "RUNNING") == 0;
    return OK;
}

static enum status load_one(struct query_catalog *catalog, struct arena *arena, const char *path,
                            struct catalog_entry *out, struct error *err)
{
    struct bytes content;
    TRY(vfs_get(catalog->vfs, path, RECORD_BYTES_MAX, arena, &content, err));
    json_t *root = NULL;
    TRY(json_load(content, &root, err));
    enum status status = read_record(arena, root, out, err);
    json_decref(root);
    if (status == OK)
        place(catalog, out->definition);
    return status;
}

/* The value of the first `"name":"..."` of a text that is no JSON any more. */
static const char *salvage_name(struct arena *arena, struct bytes content)
{
    static const char key[] = "\"name\":\"";
    const char *text = arena_strndup(arena, content.data, content.size_bytes);
    const char *at = strstr(text, key);
    if (at == NULL)
        return NULL;
    at += sizeof key - 1;
    size_t size = strcspn(at, "\"");
    const char *name = arena_strndup(arena, at, size);
    return at[size] == '"' && query_name_is_valid(name) ? name : NULL;
}

/* Something to show for a record that cannot be read. */
static void make_damaged(struct query_catalog *catalog, struct arena *arena, const char *dir,
                         const struct error *why, struct catalog_entry *out)
{
    struct error ignored = ERROR_INIT;
    struct bytes content = {0};
    const char *path = path_join(arena, dir, "query.json");
    const char *base = path_basename(dir);
    const char *name = NULL;
    if (vfs_get(catalog->vfs, path, RECORD_BYTES_MAX, arena, &content, &ignored) == OK)
        name = salvage_name(arena, content);
    if (name == NULL)
        name = arena_sprintf(arena, "damaged-%.100s", base);
    struct query_spec *spec = arena_new_object(arena, sizeof *spec);
    struct query_definition *definition = query_definition_new(spec, name, QUERY_SPEC_UNKNOWN);
    struct uuid uuid;
    if (uuid_parse(bytes_of_text(base), &uuid))
        (void)snprintf(definition->uid, sizeof definition->uid, "%s", base);
    else
        uuid_random_text(definition->uid);
    definition->generation = 1;
    definition->directory = joined(catalog->queries, base);
    place(catalog, definition);
    struct vfs_stat stat = {0};
    if (vfs_stat(catalog->vfs, path, &stat, &ignored) == OK)
        definition->created_us = definition->updated_us = stat.mtime_us;
    *out = (struct catalog_entry){.definition = definition, .damaged = true};
    out->outcome.state = QUERY_FAILED;
    out->outcome.since_us = definition->updated_us;
    error_clear(&out->outcome.error);
    (void)error_raise(&out->outcome.error, STATUS_QUERY_RECORD_DAMAGED, "path", path, "reason",
                      why->text, NULL);
    (void)snprintf(out->outcome.reason, sizeof out->outcome.reason, "%s",
                   status_name(STATUS_QUERY_RECORD_DAMAGED));
}

/* One directory; false: nothing was there but what an interrupted create or delete has left. */
static bool load_dir(struct query_catalog *catalog, struct arena *arena, const char *dir,
                     struct catalog_entry *out)
{
    static const char *const written[] = {"query.json", "spec.json", "results.ndjson", NULL};
    struct error why = ERROR_INIT;
    const char *path = path_join(arena, dir, "query.json");
    if (!vfs_exists(catalog->vfs, path)) {
        (void)!vfs_remove_tree(catalog->vfs, dir, &why);
        return false;
    }
    (void)!remove_temporaries(catalog->vfs, arena, dir, written, &why);
    error_clear(&why);
    if (load_one(catalog, arena, path, out, &why) != OK)
        make_damaged(catalog, arena, dir, &why, out);
    return true;
}

enum status query_catalog_load(struct query_catalog *catalog, struct catalog_entry **out,
                               size_t *count, struct error *err)
{
    struct arena *arena = arena_new("catalog", 0);
    struct vfs_entry *names = NULL;
    size_t name_count = 0;
    enum status status = vfs_list(catalog->vfs, catalog->queries, arena, &names, &name_count, err);
    struct catalog_entry *entries = heap_calloc(name_count + 1, sizeof *entries);
    struct arena *one = arena_new("request", 0);
    size_t used = 0;
    for (size_t i = 0; status == OK && i < name_count; i++) {
        if (names[i].stat.kind != VFS_DIR)
            continue;
        arena_reset(one);
        used += load_dir(catalog, one, path_join(arena, catalog->queries, names[i].name),
                         &entries[used]);
    }
    arena_free(one);
    arena_free(arena);
    if (status != OK) {
        free(entries);
        return status;
    }
    *out = entries;
    *count = used;
    return OK;
}
