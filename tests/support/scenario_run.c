/*
 * scenario_run [--rewrite] [-v] FILE...: plays scenarios, prints what does not hold, and closes
 * with "N passed, N failed".  --rewrite puts what came out into the expect records of the files.
 */
#include "base/vfs_posix.h"
#include "play.h"

#include <stdio.h>

#define FILE_BYTES_MAX ((size_t)16 << 20)

struct totals {
    int passed, failed, skipped;
};

static void count(struct totals *totals, enum play_result result)
{
    switch (result) {
    case PLAY_PASSED:
        totals->passed++;
        break;
    case PLAY_FAILED:
        totals->failed++;
        break;
    case PLAY_SKIPPED:
        totals->skipped++;
        break;
    }
}

static enum play_result play_path(const char *path, bool rewrite, struct buffer *report)
{
    struct arena *arena = arena_new("file", 0);
    struct error err = ERROR_INIT;
    struct bytes text;
    enum play_result result = PLAY_FAILED;
    struct buffer rewritten = {0};
    if (vfs_get(vfs_posix(), path, FILE_BYTES_MAX, arena, &text, &err) != OK) {
        buffer_printf(report, "%s: %s\n", path, err.text);
    } else if (rewrite) {
        result = play_rewrite(arena, path, text, report, &rewritten);
        if (result == PLAY_PASSED &&
            vfs_put(vfs_posix(), path, buffer_bytes(&rewritten), false, &err) != OK) {
            buffer_printf(report, "%s: %s\n", path, err.text);
            result = PLAY_FAILED;
        }
    } else {
        result = play_file(arena, path, text, report);
    }
    buffer_fini(&rewritten);
    arena_free(arena);
    return result;
}

int main(int argc, char **argv)
{
    struct totals totals = {0};
    bool rewrite = false;
    for (int i = 1; i < argc; i++) {
        struct buffer report = {0};
        if (strcmp(argv[i], "--rewrite") == 0) {
            rewrite = true;
            continue;
        }
        count(&totals, play_path(argv[i], rewrite, &report));
        fputs(buffer_text(&report), stdout);
        fflush(stdout);
        buffer_fini(&report);
    }
    if (totals.skipped > 0)
        printf("%d skipped\n", totals.skipped);
    printf("%d passed, %d failed\n", totals.passed, totals.failed);
    return totals.failed == 0 ? 0 : 1;
}
