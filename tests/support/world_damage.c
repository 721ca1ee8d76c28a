/* What happens to the snapshots of a world besides crashes: a file is flipped, cut or taken away.
 */
#include "base/check.h"
#include "world.h"

#include <stdlib.h>

#define FILE_BYTES_MAX ((size_t)64 << 20)

struct files {
    struct world *world;
    const char **paths;
    size_t count, capacity;
};

static void add_file(void *arg, const char *path, const struct vfs_stat *stat)
{
    struct files *files = arg;
    if (stat->kind == VFS_DIR || strstr(path, "/snapshot-") == NULL ||
        strstr(path, ".part/") != NULL)
        return;
    if (files->count == files->capacity) {
        files->capacity = files->capacity * 2 + 16;
        files->paths = realloc(files->paths, files->capacity * sizeof *files->paths);
        CHECK(files->paths != NULL);
    }
    files->paths[files->count++] = arena_strdup(files->world->arena, path);
}

static uint64_t number_of(const struct scn_record *record, const char *name)
{
    const char *text = scn_pair(record, name);
    return text == NULL ? 0 : strtoull(text, NULL, 10);
}

static void damage(struct world *world, const struct scn_record *record, const char *path)
{
    struct error err = ERROR_INIT;
    struct bytes content;
    struct buffer changed = {0};
    enum status status = vfs_get(world_disk(world), world_path(world, path), FILE_BYTES_MAX,
                                 world->arena, &content, &err);
    CHECK(status == OK);
    uint64_t at = content.size_bytes == 0 ? 0 : number_of(record, "at") % content.size_bytes;
    buffer_add_bytes(&changed, content);
    if (scn_has_word(record, "cut"))
        changed.size_bytes = (size_t)at;
    else if (changed.size_bytes > 0)
        changed.data[at] ^= 0x10;
    if (scn_has_word(record, "gone"))
        world_delete(world, path);
    else
        world_write(world, path, buffer_bytes(&changed), 0);
    buffer_fini(&changed);
}

enum status world_damage(struct world *world, const struct scn_record *record, struct error *err)
{
    struct files files = {.world = world};
    if (world->current == NULL)
        return error_set(err, SCENARIO_INVALID, "there is no query yet");
    world_stop(world);
    const char *dir = arena_sprintf(world->arena, "/checkpoints/%s/state", world->current->name);
    world_walk(world, dir, add_file, &files);
    if (files.count > 0) /* counted from the newest snapshot's end */
        damage(world, record,
               files.paths[files.count - 1 - number_of(record, "file") % files.count]);
    free(files.paths);
    return OK;
}
