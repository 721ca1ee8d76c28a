/*
 * Keys of the store and lists of its files.  See state_store_engine.h.
 *
 * The list is text, a line for each file, and a last line with the checksum of those before it:
 *
 *     tidemill state snapshot 1
 *     version 412
 *     file 000123.sst 1048576 9ac53e01
 *     end 1 7d0b22ee
 */
#include "base/buffer.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/path.h"
#include "state/state_store_engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SUM_BYTES ((size_t)1 << 20)

#define HEAD               "tidemill state snapshot 1\n"
#define MANIFEST_BYTES_MAX ((size_t)64 << 20)

static void put_be(uint8_t *out, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)(value >> (8 * (size - 1 - i)));
}

static uint64_t get_be(const uint8_t *from, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | from[i];
    return value;
}

void state_key_prefix(uint8_t out[STATE_KEY_PREFIX_BYTES], struct state_place place)
{
    put_be(out, place.operator_id, 4);
    put_be(out + 4, place.partition, 4);
    put_be(out + 8, (uint64_t)place.bucket ^ (uint64_t)1 << 63, 8);
}

bool state_key_split(struct bytes key, struct state_store_entry *out)
{
    if (key.size_bytes < STATE_KEY_PREFIX_BYTES)
        return false;
    out->operator_id = (uint32_t)get_be(key.data, 4);
    out->partition = (uint32_t)get_be(key.data + 4, 4);
    out->bucket = (int64_t)(get_be(key.data + 8, 8) ^ (uint64_t)1 << 63);
    out->key = bytes_of(key.data + STATE_KEY_PREFIX_BYTES, key.size_bytes - STATE_KEY_PREFIX_BYTES);
    return true;
}

size_t state_key_after(uint8_t *out, struct bytes prefix)
{
    size_t size = prefix.size_bytes;
    while (size > 0 && prefix.data[size - 1] == 0xff)
        size--;
    if (size == 0)
        return 0;
    memcpy(out, prefix.data, size);
    out[size - 1]++;
    return size;
}

static const struct state_file *find_file(const struct state_manifest *manifest, const char *name)
{
    for (size_t i = 0; manifest != NULL && i < manifest->count; i++)
        if (strcmp(manifest->files[i].name, name) == 0)
            return &manifest->files[i];
    return NULL;
}

static bool is_sst(const char *name)
{
    size_t size = strlen(name);
    return size > 4 && strcmp(name + size - 4, ".sst") == 0;
}

static enum status sum_file(struct vfs *vfs, const char *path, struct state_file *file,
                            struct error *err)
{
    struct vfs_map *map = NULL;
    struct bytes content;
    TRY(vfs_map(vfs, path, &map, &content, err));
    file->size_bytes = content.size_bytes;
    file->crc = crc32c(0, NULL, 0);
    for (size_t at = 0; at < content.size_bytes; at += SUM_BYTES) { /* not all in memory at once */
        size_t left = content.size_bytes - at;
        file->crc = crc32c(file->crc, content.data + at, left < SUM_BYTES ? left : SUM_BYTES);
        vfs_map_passed(map, at);
    }
    vfs_unmap(map);
    return OK;
}

static enum status list_files(struct vfs *vfs, const char *dir, const struct state_manifest *known,
                              struct arena *arena, struct state_manifest *out, struct error *err)
{
    struct vfs_entry *entries = NULL;
    size_t count = 0;
    TRY(vfs_list(vfs, dir, arena, &entries, &count, err));
    out->files = arena_new_object(arena, (count + 1) * sizeof *out->files);
    for (size_t i = 0; i < count; i++) {
        struct state_file *file = &out->files[out->count++];
        const struct state_file *same = find_file(known, entries[i].name);
        *file = (struct state_file){.name = entries[i].name};
        if (same != NULL && is_sst(file->name) && same->size_bytes == entries[i].stat.size_bytes)
            *file = (struct state_file){
                .name = file->name, .size_bytes = same->size_bytes, .crc = same->crc};
        else
            TRY(sum_file(vfs, path_join(arena, dir, file->name), file, err));
        out->bytes += file->size_bytes;
    }
    return OK;
}

enum status state_manifest_write(struct vfs *vfs, const char *dir, int64_t version,
                                 const struct state_manifest *known, struct arena *arena,
                                 struct state_manifest *out, struct error *err)
{
    struct buffer text = {0};
    *out = (struct state_manifest){.version = version};
    TRY(list_files(vfs, dir, known, arena, out, err));
    buffer_printf(&text, HEAD "version %" PRId64 "\n", version);
    for (size_t i = 0; i < out->count; i++)
        buffer_printf(&text, "file %s %" PRIu64 " %08" PRIx32 "\n", out->files[i].name,
                      out->files[i].size_bytes, out->files[i].crc);
    uint32_t crc = crc32c(0, text.data, text.size_bytes);
    buffer_printf(&text, "end %zu %08" PRIx32 "\n", out->count, crc);
    enum status status =
        vfs_put(vfs, path_join(arena, dir, STATE_MANIFEST_NAME), buffer_bytes(&text), false, err);
    buffer_fini(&text);
    return status;
}

/* Cuts the line that `text` begins with; NULL if there is none. */
static char *take_line(char **text)
{
    char *line = *text;
    char *end = strchr(line, '\n');
    if (end == NULL)
        return NULL;
    *end = '\0';
    *text = end + 1;
    return line;
}

static bool parse_end(const char *line, size_t count, uint32_t crc)
{
    char expected[64];
    (void)snprintf(expected, sizeof expected, "end %zu %08" PRIx32, count, crc);
    return strcmp(line, expected) == 0;
}

static bool parse_file(char *line, struct state_file *out)
{
    char *name = line + strlen("file ");
    char *size = strchr(name, ' ');
    if (strncmp(line, "file ", 5) != 0 || size == NULL)
        return false;
    *size++ = '\0';
    out->name = name;
    return strchr(name, '/') == NULL &&
           // NOLINTNEXTLINE(cert-err34-c): the file is compared with it
           sscanf(size, "%" SCNu64 " %" SCNx32, &out->size_bytes, &out->crc) == 2;
}

static bool parse_manifest(struct arena *arena, struct bytes content, int64_t version,
                           struct state_manifest *out)
{
    char *text = arena_strndup(arena, content.data, content.size_bytes);
    char *begin = text;
    char *line = NULL;
    size_t head = strlen(HEAD);
    int64_t said = 0;
    *out = (struct state_manifest){.version = version};
    if (strncmp(text, HEAD, head) != 0)
        return false;
    text += head;
    line = take_line(&text);
    // NOLINTNEXTLINE(cert-err34-c): it is compared with the one of the folder
    if (line == NULL || sscanf(line, "version %" SCNd64, &said) != 1 || said != version)
        return false;
    size_t lines = 0;
    for (const char *at = text; *at != '\0'; at++)
        lines += *at == '\n';
    out->files = arena_new_object(arena, (lines + 1) * sizeof *out->files);
    for (;;) {
        size_t summed = (size_t)(text - begin);
        line = take_line(&text);
        if (line == NULL)
            return false;
        if (strncmp(line, "end ", 4) == 0)
            return *text == '\0' && summed + strlen(line) + 1 == content.size_bytes &&
                   parse_end(line, out->count, crc32c(0, content.data, summed));
        if (!parse_file(line, &out->files[out->count]))
            return false;
        out->bytes += out->files[out->count++].size_bytes;
    }
}

static enum status check_file(struct vfs *vfs, const char *dir, const struct state_file *file,
                              struct arena *arena, const char **problem, struct error *err)
{
    bool found = false;
    const char *path = path_join(arena, dir, file->name);
    struct state_file seen = {0};
    TRY(vfs_find(vfs, path, &found, err));
    if (found)
        TRY(sum_file(vfs, path, &seen, err));
    if (!found)
        *problem = arena_sprintf(arena, "%s is missing", file->name);
    else if (seen.size_bytes != file->size_bytes)
        *problem = arena_sprintf(arena, "%s has %" PRIu64 " bytes in place of %" PRIu64, file->name,
                                 seen.size_bytes, file->size_bytes);
    else if (seen.crc != file->crc)
        *problem = arena_sprintf(arena, "%s does not match its checksum", file->name);
    return OK;
}

enum status state_manifest_check(struct vfs *vfs, const char *dir, int64_t version,
                                 struct arena *arena, struct state_manifest *out,
                                 const char **problem, struct error *err)
{
    struct bytes content;
    const char *path = path_join(arena, dir, STATE_MANIFEST_NAME);
    bool found = false;
    *problem = NULL;
    TRY(vfs_find(vfs, path, &found, err));
    if (!found) {
        *problem = STATE_MANIFEST_NAME " is missing";
        return OK;
    }
    TRY(vfs_get(vfs, path, MANIFEST_BYTES_MAX, arena, &content, err));
    if (!parse_manifest(arena, content, version, out)) {
        *problem = STATE_MANIFEST_NAME " does not match its checksum";
        return OK;
    }
    for (size_t i = 0; i < out->count && *problem == NULL; i++)
        TRY(check_file(vfs, dir, &out->files[i], arena, problem, err));
    return OK;
}
