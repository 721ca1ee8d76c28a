/*
 * scenario_run [--rewrite] [--pending FILE] [--deviations FILE] [--list-failed] FILE...: plays
 * scenarios, prints what does not hold, and closes with "N passed, N failed".  --rewrite puts what
 * came out into the expect records of the files.  With --pending it is a ratchet (ratchet.h).
 * --list-failed prints only the names of the failing files, as pending.txt has them.
 */
#include "base/vfs_posix.h"
#include "isolate.h"
#include "play.h"
#include "ratchet.h"

#include <stdio.h>

#define FILE_BYTES_MAX ((size_t)16 << 20)

struct run {
    struct ratchet *ratchet;
    bool rewrite, list_failed;
    int passed, failed, skipped;
};

struct job {
    const struct run *run;
    const char *path;
};

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

/* 0: as the lists say; 1: not; 2: skipped. */
static int run_file(void *arg)
{
    const struct job *job = arg;
    struct buffer report = {0};
    const char *name = ratchet_name(job->path);
    enum play_result result = play_path(job->path, job->run->rewrite, &report);
    const char *ours = ratchet_deviation(job->run->ratchet, name);
    if (ours != NULL && result == PLAY_FAILED && strstr(buffer_text(&report), ours) != NULL)
        result = PLAY_PASSED;
    bool good = result == PLAY_SKIPPED ||
                ratchet_judge(job->run->ratchet, name, result == PLAY_PASSED, &report);
    if (!good && job->run->list_failed)
        printf("%s\n", name);
    else if (!good || result == PLAY_SKIPPED)
        fputs(buffer_text(&report), stdout);
    buffer_fini(&report);
    return result == PLAY_SKIPPED ? 2 : good ? 0 : 1;
}

static void count_file(struct run *run, const char *path)
{
    struct job job = {run, path};
    int result = isolate(path, run_file, &job);
    bool pending =
        ratchet_has_pending(run->ratchet) && ratchet_is_pending(run->ratchet, ratchet_name(path));
    if (result == 2)
        run->skipped++;
    else if (result == 0 || (result < 0 && pending))
        run->passed++;
    else
        run->failed++;
    if (result < 0 && run->list_failed)
        printf("%s\n", ratchet_name(path));
}

int main(int argc, char **argv)
{
    struct run run = {0};
    struct error err = ERROR_INIT;
    const char *pending = NULL, *deviations = NULL;
    int i = 1;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strcmp(argv[i], "--pending") == 0 && i + 1 < argc)
            pending = argv[++i];
        else if (strcmp(argv[i], "--deviations") == 0 && i + 1 < argc)
            deviations = argv[++i];
        else if (strcmp(argv[i], "--rewrite") == 0)
            run.rewrite = true;
        else
            run.list_failed = true;
    }
    if (deviations == NULL && vfs_exists(vfs_posix(), DEVIATIONS))
        deviations = DEVIATIONS;
    if (ratchet_open(pending, deviations, &run.ratchet, &err) != OK) {
        fprintf(stderr, "%s\n", err.text);
        return 2;
    }
    for (; i < argc; i++)
        count_file(&run, argv[i]);
    ratchet_close(run.ratchet);
    if (run.skipped > 0)
        printf("%d skipped\n", run.skipped);
    printf("%d passed, %d failed\n", run.passed, run.failed);
    return run.failed == 0 ? 0 : 1;
}
