/* See epoch.h. */
#include "checkpoint/epoch.h"

enum status epoch_read(struct vfs *vfs, const char *path, uint32_t *out, struct error *err)
{
    uint8_t text[24];
    size_t size = 0;
    bool found = false;
    *out = 0;
    TRY(vfs_find(vfs, path, &found, err));
    if (!found)
        return OK;
    TRY(vfs_read_at(vfs, path, 0, (struct bytes_out){.data = text, .size_bytes = sizeof text},
                    &size, err));
    uint64_t value = 0;
    size_t digits = 0;
    while (digits < size && text[digits] >= '0' && text[digits] <= '9')
        value = value * 10 + (uint64_t)(text[digits++] - '0');
    if (digits == 0 || digits > 10 || digits + 1 != size || text[digits] != '\n' ||
        value >= UINT32_MAX)
        return error_raise(err, STATUS_CHECKPOINT__CORRUPT, "path", path, "reason",
                           "it is not a number", NULL);
    *out = (uint32_t)value;
    return OK;
}
