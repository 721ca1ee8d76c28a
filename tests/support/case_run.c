/*
 * case_run [--pending FILE] [--deviations FILE] [--list-failed] FILE...: runs conformance cases,
 * prints one line per failing one with what was expected and what came, and closes with
 * "N passed, N failed".  With --pending it is a ratchet (ratchet.h).  --list-failed prints only
 * the names of the failing cases, as pending.txt has them.  Without --deviations the list of the
 * source tree is used, if it is there.
 */
#include "base/check.h"
#include "base/vfs_posix.h"
#include "conformance_case.h"
#include "isolate.h"
#include "ratchet.h"

#include <stdio.h>
#include <stdlib.h>

#define FILE_BYTES_MAX ((size_t)1 << 28)

struct run {
    struct ratchet *ratchet;
    bool list_failed;
    int passed, failed;
};

/* What of a case's text can stand in a name: no tabs, no line ends, not too long. */
static const char *name_of(struct arena *arena, const struct conformance_case *one)
{
    char *name = arena_sprintf(arena, "%s:%s", ratchet_name(one->path), one->text);
    for (char *c = name; *c != '\0'; c++)
        *c = *c == '\t' || *c == '\n' ? ' ' : *c;
    return name;
}

static bool passes(struct arena *arena, const struct run *run, const struct conformance_case *one,
                   struct buffer *report)
{
    struct case_answer answer;
    case_answer(arena, one, &answer);
    const char *place = arena_sprintf(arena, "%s:%d", ratchet_name(one->path), one->line);
    const char *ours = ratchet_deviation(run->ratchet, name_of(arena, one));
    if (ours == NULL)
        ours = ratchet_deviation(run->ratchet, place);
    if (ours == NULL)
        return case_compare(one, &answer, report);
    struct buffer said = {0};
    case_describe(&answer, &said);
    bool equal = strcmp(buffer_text(&said), ours) == 0;
    if (!equal)
        buffer_printf(report, "  a deviation: expected %s, got %s\n", ours, buffer_text(&said));
    buffer_fini(&said);
    return equal;
}

struct job {
    const struct run *run;
    const struct conformance_case *one;
    const char *place;
};

/* 0: as the lists say; 1: not. */
static int run_case(void *arg)
{
    const struct job *job = arg;
    struct arena *arena = arena_new("case", 0);
    struct buffer report = {0};
    bool passed = passes(arena, job->run, job->one, &report);
    bool good = ratchet_judge(job->run->ratchet, job->place, passed, &report);
    if (!good && job->run->list_failed)
        printf("%s\n", job->place);
    else if (!good)
        printf("%s:%d: %s\n%s", job->one->path, job->one->line, job->one->text,
               buffer_text(&report));
    buffer_fini(&report);
    arena_free(arena);
    return good ? 0 : 1;
}

static void count_case(struct run *run, const struct conformance_case *one)
{
    struct buffer place = {0};
    buffer_printf(&place, "%s:%d", ratchet_name(one->path), one->line);
    struct job job = {run, one, buffer_text(&place)};
    int result = isolate(job.place, run_case, &job);
    bool pending = ratchet_has_pending(run->ratchet) && ratchet_is_pending(run->ratchet, job.place);
    if (result == 0 || (result < 0 && pending))
        run->passed++;
    else
        run->failed++;
    if (result < 0 && run->list_failed)
        printf("%s\n", job.place);
    buffer_fini(&place);
}

static void run_file(struct run *run, const char *path)
{
    struct arena *arena = arena_new("file", 0);
    struct error err = ERROR_INIT;
    struct bytes text;
    if (vfs_get(vfs_posix(), path, FILE_BYTES_MAX, arena, &text, &err) != OK) {
        printf("%s: %s\n", path, err.text);
        run->failed++;
        text = (struct bytes){0};
    }
    int line = 1;
    json_t *session = json_object();
    for (size_t at = 0; at < text.size_bytes; line++) {
        const uint8_t *end = memchr(text.data + at, '\n', text.size_bytes - at);
        size_t size = end == NULL ? text.size_bytes - at : (size_t)(end - (text.data + at));
        char *copy = strndup((const char *)text.data + at, size);
        struct conformance_case one;
        CHECK(copy != NULL);
        if (case_read(path, line, copy, &one)) {
            one.session = session;
            count_case(run, &one);
            (void)json_object_update(session, json_object_get(one.json, "tables"));
            case_fini(&one);
        }
        free(copy);
        at += size + 1;
    }
    json_decref(session);
    arena_free(arena);
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
        run_file(&run, argv[i]);
    ratchet_close(run.ratchet);
    printf("%d passed, %d failed\n", run.passed, run.failed);
    return run.failed == 0 ? 0 : 1;
}
