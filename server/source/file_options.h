/*
 * Options of the file source, parsed and checked.  Values, defaults and refusals are Spark's.
 */
#ifndef SERVER_SOURCE_FILE_OPTIONS_H
#define SERVER_SOURCE_FILE_OPTIONS_H

#include "source/source.h"

enum clean_source {
    CLEAN_OFF,
    CLEAN_ARCHIVE,
    CLEAN_DELETE,
};

struct file_options {
    const char *path; /* absolute, normalized, without scheme; may hold magic */
    char **patterns;  /* path, groups that hold slashes expanded */
    size_t pattern_count;
    const char *base_path;   /* NULL: the matched directories */
    const char *name_glob;   /* NULL: all */
    int64_t max_files;       /* 0: no limit */
    int64_t max_bytes;       /* 0: no limit */
    int64_t max_file_age_us; /* INT64_MAX: none */
    int64_t max_cached_files;
    int64_t modified_after_us;  /* INT64_MIN: none */
    int64_t modified_before_us; /* INT64_MAX: none */
    double discard_cached_ratio;
    bool latest_first;
    bool name_only;
    bool recursive;
    bool ignore_missing;
    bool ignore_corrupt;
    enum clean_source clean;
    const char *archive_dir;
};

/* The table of these options, ended by a NULL name. */
extern const struct option_def file_option_defs[];

/* Spark's comparison of a directory with a pattern: equal in every component, as deep as both go.
 */
bool file_pattern_meets(struct arena *arena, const char *pattern, const char *dir);

/* Whether a source with the option path=`path` would read what is written to `dir`: the directory
 * is one of those that are read, lies inside of one (not below a name that begins with _ or .), or
 * holds one. */
bool file_options_would_read(struct arena *arena, const char *path, const char *dir);

/* Errors: OPTION_REQUIRED, INVALID_OPTION_VALUE, INVALID_GLOB, CONFLICTING_FIELDS. */
MUST_USE enum status file_options_parse(struct arena *query, const struct source_config *config,
                                        struct file_options *out, struct error *err);

#endif
