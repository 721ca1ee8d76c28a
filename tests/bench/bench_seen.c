/*
 * What the set of files that a source has read costs, without the files.
 *
 *     bench_seen DIRECTORY FILES PER_BATCH
 *
 * Adds FILES names, PER_BATCH at a time, as batches do; opens the set again; asks for names that
 * are in it and for some that are not.  Prints one JSON line.
 */
#include "base/vfs_posix.h"
#include "source/seen_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ASKED 100000

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double seconds(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

/* Memory that is the process's own: pages of mapped runs belong to the file cache. */
static long anonymous_kib(void)
{
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "RssAnon:", 8) == 0)
            kib = strtol(line + 8, NULL, 10);
    if (file != NULL)
        (void)fclose(file);
    return kib;
}

static struct bytes name_of(char *out, size_t size, unsigned long i)
{
    (void)snprintf(out, size, "/data/incoming/2024/clicks-%012lu.json", i);
    return bytes_of_text(out);
}

struct result {
    double add_s, slowest_flush_s, slowest_flush_cpu_s, open_s, ask_s;
    long adding_kib, open_kib;
    unsigned long wrong;
};

static enum status add_all(struct seen_files *seen, unsigned long files, unsigned long per_batch,
                           struct result *result, struct error *err)
{
    char name[64];
    double begin = seconds();
    for (unsigned long i = 0; i < files; i++) {
        seen_files_add(seen, name_of(name, sizeof name, i), (int64_t)i);
        if ((i + 1) % per_batch != 0 && i + 1 < files)
            continue;
        bool synced = false;
        double before = seconds();
        double cpu_before = seconds_of(CLOCK_THREAD_CPUTIME_ID);
        TRY(seen_files_flush(seen, &synced, err));
        TRY(seen_files_merge(seen, err));
        double took = seconds() - before;
        double cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu_before;
        if (took > result->slowest_flush_s)
            result->slowest_flush_s = took;
        if (cpu > result->slowest_flush_cpu_s)
            result->slowest_flush_cpu_s = cpu;
        if (anonymous_kib() > result->adding_kib)
            result->adding_kib = anonymous_kib();
    }
    TRY(seen_files_sync(seen, err));
    result->add_s = seconds() - begin;
    return OK;
}

static void ask(const struct seen_files *seen, unsigned long files, struct result *result)
{
    char name[64];
    double begin = seconds();
    for (unsigned long i = 0; i < ASKED; i++) {
        unsigned long known = i * 7919 % files;
        result->wrong += seen_files_is_new(seen, name_of(name, sizeof name, known), INT64_MAX);
        result->wrong += !seen_files_is_new(seen, name_of(name, sizeof name, files + i), INT64_MAX);
    }
    result->ask_s = seconds() - begin;
}

static enum status measure(const char *dir, unsigned long files, unsigned long per_batch,
                           struct result *result, struct error *err)
{
    struct seen_mark mark = {0};
    struct seen_files *seen = NULL;
    TRY(seen_files_open(vfs_posix(), dir, INT64_MAX, &mark, &seen, err));
    enum status status = add_all(seen, files, per_batch, result, err);
    mark = seen_files_mark(seen);
    seen_files_close(seen);
    TRY(status);
    double begin = seconds();
    TRY(seen_files_open(vfs_posix(), dir, INT64_MAX, &mark, &seen, err));
    result->open_s = seconds() - begin;
    ask(seen, files, result);
    result->open_kib = anonymous_kib();
    seen_files_close(seen);
    return OK;
}

int main(int argc, char **argv)
{
    struct error err = ERROR_INIT;
    struct result result = {0};
    unsigned long files = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
    unsigned long per_batch = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
    if (files == 0 || per_batch == 0) {
        (void)fprintf(stderr, "usage: bench_seen DIRECTORY FILES PER_BATCH\n");
        return 2;
    }
    if (measure(argv[1], files, per_batch, &result, &err) != OK) {
        (void)fprintf(stderr, "bench_seen: failed with status %d\n", (int)err.status);
        return 1;
    }
    (void)printf("{\"measure\": \"seen\", \"files\": %lu, \"per_batch\": %lu, \"add_s\": %.2f, "
                 "\"slowest_flush_ms\": %.1f, \"slowest_flush_cpu_ms\": %.1f, \"adding_anon_kib\": "
                 "%ld, \"open_ms\": %.1f, "
                 "\"lookup_us\": %.3f, \"open_anon_kib\": %ld, \"wrong\": %lu}\n",
                 files, per_batch, result.add_s, result.slowest_flush_s * 1e3,
                 result.slowest_flush_cpu_s * 1e3, result.adding_kib, result.open_s * 1e3,
                 result.ask_s * 1e6 / (2 * ASKED), result.open_kib, result.wrong);
    return result.wrong == 0 ? 0 : 1;
}
