#include "source/file_options.h"

#include "base/check.h"
#include "base/duration.h"
#include "base/path.h"
#include "columnar/timestamp_text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct option_def file_option_defs[] = {
    {"path", OPTION_TEXT, 0, 0, NULL, "File, directory or pattern that is read."},
    {"maxFilesPerTrigger", OPTION_INT, 1, INT64_MAX, NULL, "Most files of one batch."},
    {"maxBytesPerTrigger", OPTION_INT, 1, INT64_MAX, NULL,
     "Files are added to a batch while their sizes stay within this; the first always fits."},
    {"latestFirst", OPTION_BOOL, 0, 0, "false", "Reads the newest files first."},
    {"maxFileAge", OPTION_DURATION, 0, 0, "7d",
     "Files older than the newest one read by more than this are left out."},
    {"maxCachedFiles", OPTION_INT, 0, INT64_MAX, "10000",
     "Listed files kept for later batches, so that not every batch lists."},
    {"discardCachedInputRatio", OPTION_RATIO, 0, 0, "0.2",
     "Listed files that would fill less than this part of a batch are listed again."},
    {"fileNameOnly", OPTION_BOOL, 0, 0, "false", "A file is known by its name, not its path."},
    {"cleanSource", OPTION_WORD, 0, 0, "off",
     "off, archive or delete: what becomes of read files."},
    {"sourceArchiveDir", OPTION_TEXT, 0, 0, NULL, "Where cleanSource=archive moves files to."},
    {"pathGlobFilter", OPTION_TEXT, 0, 0, NULL, "Pattern that file names have to match."},
    {"recursiveFileLookup", OPTION_BOOL, 0, 0, "false",
     "Reads all subdirectories; k=v directories are then no columns."},
    {"basePath", OPTION_TEXT, 0, 0, NULL, "Directory in which k=v directories begin."},
    {"ignoreMissingFiles", OPTION_BOOL, 0, 0, "false", "Goes on without files that are gone."},
    {"ignoreCorruptFiles", OPTION_BOOL, 0, 0, "false", "Goes on after files that cannot be read."},
    {"modifiedBefore", OPTION_TEXT, 0, 0, NULL,
     "Tables and bounded runs: only files older than this time."},
    {"modifiedAfter", OPTION_TEXT, 0, 0, NULL,
     "Tables and bounded runs: only files newer than this time."},
    {0},
};

static enum status invalid(const struct options *options, const char *name, const char *expected,
                           struct error *err)
{
    const char *value = options_get(options, name);
    enum status status = error_raise(err, STATUS_INVALID_OPTION_VALUE, "option", name, "value",
                                     value == NULL ? "" : value, "expected", expected, NULL);
    options_point_at(options, name, err);
    return status;
}

static enum status parse_path(struct arena *query, const struct source_config *config,
                              struct file_options *out, struct error *err)
{
    const char *path = options_get(config->options, "path");
    if (path == NULL || path[0] == '\0')
        return error_raise(err, STATUS_OPTION_REQUIRED, "option", "path", "connector",
                           config->format, NULL);
    size_t scheme = path_scheme_length(path);
    if (scheme > 0 && path_strip_file_scheme(path) == path)
        return error_raise(err, STATUS_NOT_SUPPORTED, "feature",
                           arena_sprintf(query, "The file system %.*s", (int)scheme, path), NULL);
    out->path = path_absolute(query, path);
    TRY(glob_expand(query, out->path, &out->patterns, &out->pattern_count, err));
    const char *base = options_get(config->options, "basePath");
    out->base_path = base == NULL ? NULL : path_absolute(query, base);
    out->name_glob = options_get(config->options, "pathGlobFilter");
    return out->name_glob == NULL ? OK : glob_check(out->name_glob, err);
}

static enum status parse_limits(const struct options *options, struct file_options *out,
                                struct error *err)
{
    TRY(options_int(options, "maxFilesPerTrigger", 1, INT32_MAX, 0, &out->max_files, err));
    TRY(options_int(options, "maxBytesPerTrigger", 1, INT64_MAX, 0, &out->max_bytes, err));
    if (out->max_files > 0 && out->max_bytes > 0)
        return error_raise(err, STATUS_CONFLICTING_FIELDS, "fields",
                           "maxFilesPerTrigger, maxBytesPerTrigger", "reason",
                           "a batch has one limit", NULL);
    TRY(options_int(options, "maxCachedFiles", 0, INT32_MAX, 10000, &out->max_cached_files, err));
    const char *ratio = options_get(options, "discardCachedInputRatio");
    out->discard_cached_ratio = 0.2;
    if (ratio != NULL) {
        char *end = NULL;
        out->discard_cached_ratio = strtod(ratio, &end);
        if (end == ratio || *end != '\0' ||
            !(out->discard_cached_ratio >= 0 && out->discard_cached_ratio <= 1))
            return invalid(options, "discardCachedInputRatio", "a number from 0 to 1", err);
    }
    return OK;
}

static enum status parse_age(const struct options *options, struct file_options *out,
                             struct error *err)
{
    const char *age = options_get(options, "maxFileAge");
    struct error ignored = ERROR_INIT;
    if (duration_parse_short_us(age == NULL ? "7d" : age, 1000, &out->max_file_age_us, &ignored) !=
        OK)
        return invalid(options, "maxFileAge", "a duration such as 7d, 10min or 500ms", err);
    if (out->latest_first && (out->max_files > 0 || out->max_bytes > 0))
        out->max_file_age_us = INT64_MAX;
    return OK;
}

bool file_pattern_meets(struct arena *arena, const char *pattern, const char *dir)
{
    for (;;) {
        while (*pattern == '/')
            pattern++;
        while (*dir == '/')
            dir++;
        if (*pattern == '\0' || *dir == '\0')
            return true;
        size_t pattern_size = strcspn(pattern, "/");
        size_t dir_size = strcspn(dir, "/");
        if (!glob_matches(arena_strndup(arena, pattern, pattern_size),
                          arena_strndup(arena, dir, dir_size)))
            return false;
        pattern += pattern_size;
        dir += dir_size;
    }
}

/* Whether a component of `path` below the pattern's depth is one that no listing enters. */
static bool is_hidden_below(const char *pattern, const char *path)
{
    size_t depth = 0, at = 0;
    for (const char *p = pattern; *p != '\0'; p++)
        depth += *p == '/' && p[1] != '/' && p[1] != '\0';
    for (const char *p = path; *p != '\0'; p++) {
        if (*p != '/' || p[1] == '/' || p[1] == '\0')
            continue;
        if (++at > depth && (p[1] == '_' || p[1] == '.'))
            return true;
    }
    return false;
}

bool file_options_would_read(struct arena *arena, const char *path, const char *dir)
{
    struct error ignored = ERROR_INIT;
    char **patterns = NULL;
    size_t count = 0;
    if (glob_expand(arena, path_absolute(arena, path), &patterns, &count, &ignored) != OK)
        return false; /* the source itself refuses it */
    const char *absolute = path_absolute(arena, dir);
    for (size_t i = 0; i < count; i++)
        if (file_pattern_meets(arena, patterns[i], absolute) &&
            !is_hidden_below(patterns[i], absolute))
            return true;
    return false;
}

static enum status parse_clean(struct arena *query, const struct options *options,
                               struct file_options *out, struct error *err)
{
    const char *clean = options_get(options, "cleanSource");
    const char *archive = options_get(options, "sourceArchiveDir");
    if (clean == NULL || strcasecmp(clean, "off") == 0)
        return OK;
    if (strcasecmp(clean, "delete") == 0) {
        out->clean = CLEAN_DELETE;
        return OK;
    }
    if (strcasecmp(clean, "archive") != 0)
        return invalid(options, "cleanSource", "off, archive or delete", err);
    out->clean = CLEAN_ARCHIVE;
    if (archive == NULL || archive[0] == '\0')
        return error_raise(err, STATUS_OPTION_REQUIRED, "option", "sourceArchiveDir", "connector",
                           "cleanSource=archive", NULL);
    out->archive_dir = path_absolute(query, archive);
    for (size_t i = 0; i < out->pattern_count; i++)
        if (file_pattern_meets(query, out->patterns[i], out->archive_dir))
            return invalid(options, "sourceArchiveDir",
                           "a directory outside of those that are read", err);
    return OK;
}

static enum status parse_time(const struct source_config *config, const char *name, int64_t *out,
                              struct error *err)
{
    const char *text = options_get(config->options, name);
    if (text == NULL)
        return OK;
    if (config->stream || config->state_dir != NULL)
        return invalid(config->options, name,
                       "not to be set for a stream: tables and bounded runs have it", err);
    const struct zone *zone = timezone_utc();
    if (config->time_zone != NULL)
        TRY(timezone_find(bytes_of_text(config->time_zone), &zone, err));
    struct timestamp_context context = {.zone = zone};
    if (timestamp_text_parse(bytes_of_text(text), &context, out) != TEXT_OK)
        return invalid(config->options, name, "a time such as 2024-05-01T00:00:00", err);
    return OK;
}

/* An option, or else the entry of the spec's conf with Spark's name. */
static enum status bool_or_conf(const struct source_config *config, const char *option,
                                const char *conf, bool *out, struct error *err)
{
    bool fallback = false;
    for (size_t i = 0; i < config->conf_count; i++)
        if (strcmp(config->conf[i].name, conf) == 0)
            fallback = strcasecmp(config->conf[i].value, "true") == 0;
    return options_bool(config->options, option, fallback, out, err);
}

enum status file_options_parse(struct arena *query, const struct source_config *config,
                               struct file_options *out, struct error *err)
{
    CHECK(config->options != NULL);
    const struct options *options = config->options;
    *out = (struct file_options){
        .modified_after_us = INT64_MIN,
        .modified_before_us = INT64_MAX,
    };
    TRY(parse_path(query, config, out, err));
    TRY(options_bool(options, "latestFirst", false, &out->latest_first, err));
    TRY(options_bool(options, "fileNameOnly", false, &out->name_only, err));
    TRY(options_bool(options, "recursiveFileLookup", false, &out->recursive, err));
    TRY(bool_or_conf(config, "ignoreMissingFiles", "spark.sql.files.ignoreMissingFiles",
                     &out->ignore_missing, err));
    TRY(bool_or_conf(config, "ignoreCorruptFiles", "spark.sql.files.ignoreCorruptFiles",
                     &out->ignore_corrupt, err));
    TRY(parse_limits(options, out, err));
    TRY(parse_age(options, out, err));
    TRY(parse_clean(query, options, out, err));
    TRY(parse_time(config, "modifiedAfter", &out->modified_after_us, err));
    return parse_time(config, "modifiedBefore", &out->modified_before_us, err);
}
