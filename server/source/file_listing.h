/*
 * Listing what a file source watches: patterns become directories, directories become files.
 *
 * Names that begin with '.', or with '_' and hold no '=', and names that end with "._COPYING_" are
 * hidden, as files and as directories.  Directories are always walked to the leaves: plain
 * subdirectories give files only with `recursive`, "k=v" directories make the listing partitioned,
 * and then only files below such directories count.  A directory with the log _spark_metadata, if
 * it is named without magic, is listed by that log instead.
 * Threads: the batch thread.
 */
#ifndef SERVER_SOURCE_FILE_LISTING_H
#define SERVER_SOURCE_FILE_LISTING_H

#include "base/vfs.h"
#include "source/dir_watch.h"
#include "source/partition_path.h"

#define LISTING_DEPTH_MAX 64

struct listed_file {
    const char *path; /* in the listing's memory */
    uint64_t size_bytes;
    int64_t mtime_us;
    uint64_t inode;
    uint8_t kind; /* the listing's own */
};

struct listing_config {
    struct vfs *vfs;
    const char *const *patterns; /* absolute, normalized, may hold magic */
    size_t pattern_count;
    const char *base_path; /* where partition columns begin; NULL: each matched directory */
    const char *name_glob; /* NULL: all names */
    bool recursive;
    bool names_only;         /* sizes and times are not wanted */
    bool latest_first;       /* the order of the files */
    size_t keep_max;         /* 0: all files, else about the first so many in order */
    int64_t oldest_us;       /* older files are left out, and take no room of keep_max */
    struct dir_watch *watch; /* told each directory before it is read; may be NULL */
    /* Says before the file is looked at whether it is wanted; NULL: all. */
    bool (*want)(void *arg, const char *path);
    void *arg;
};

struct listing {
    struct arena *arena; /* of partition directories */
    struct arena *paths; /* of the files */
    struct listed_file *files;
    size_t count;
    size_t capacity;
    bool truncated; /* keep_max left files out */
    bool by_log;    /* a directory was listed by its log _spark_metadata */
    bool partitioned;
    struct partition_dir *dirs; /* those that hold files, if partitioned */
    size_t dir_count;
    size_t dir_capacity;
    bool found_root;       /* a pattern matched something */
    const char *plain_dir; /* a directory with files that is neither root nor partition */
    const char *root_with_files;
};

void listing_init(struct listing *listing);
void listing_fini(struct listing *listing);

/* Adds one; its path is copied. */
void listing_add(struct listing *listing, const struct listed_file *file);

/*
 * Fills `listing`, the files sorted by time, then path.  A missing directory gives no files.
 * Errors: CONFLICTING_DIRECTORY_STRUCTURES, CONFLICTING_PARTITION_COLUMN_NAMES, those of
 * partition_path_parse and vfs.
 */
MUST_USE enum status listing_run(const struct listing_config *config, struct listing *listing,
                                 struct error *err);

bool listing_name_hidden(const char *name);

/* The root (matched pattern) that `path` lies below: what listing_run would have parsed against.
 * NULL if none, or if a directory between them is hidden or the name is not wanted. */
const char *listing_root_of(const struct listing_config *config, struct arena *arena,
                            const char *path);

/* The directory before the first component with magic. */
char *listing_prefix(struct arena *arena, const char *pattern);

void listing_sort(struct listed_file *files, size_t count, bool latest_first);

#endif
