/*
 * Partition directories: "k=v" components of a path that become columns, by Spark's rules.
 *
 * Columns are looked for from the innermost directory outwards until the root of the listing, or
 * until a directory that is none after at least one was found; what is left is the base.  Values
 * are text with %XX escapes, each standing for one character up to U+00FF; the value
 * __HIVE_DEFAULT_PARTITION__ is NULL.  Columns that no schema names get a type inferred from all
 * their values.
 * Threads: any.
 */
#ifndef SERVER_SOURCE_PARTITION_PATH_H
#define SERVER_SOURCE_PARTITION_PATH_H

#include "columnar/timezone.h"
#include "columnar/vector.h"

#define PARTITION_DEFAULT "__HIVE_DEFAULT_PARTITION__"

struct partition_column {
    const char *name; /* unescaped */
    const char *raw;  /* the value as it stands in the path */
};

struct partition_dir {
    const struct partition_column *columns; /* outermost first */
    uint32_t count;                         /* 0: no partition directory */
    const char *base;                       /* the directory in which the columns begin */
};

/*
 * Takes `dir` apart, which is `root` or lies below it.  Results are in `arena`.
 * Errors: EMPTY_PARTITION_COLUMN_NAME, EMPTY_PARTITION_COLUMN_VALUE, COLUMN_ALREADY_EXISTS.
 */
MUST_USE enum status partition_path_parse(struct arena *arena, const char *root, const char *dir,
                                          struct partition_dir *out, struct error *err);

/* True if the directory name is a "k=v". */
bool partition_path_is_column(const char *name);

/* The type of one value: VOID, INT, BIGINT, DECIMAL, DOUBLE, DATE, TIMESTAMP or STRING. */
const struct type *partition_value_type(struct arena *arena, const char *raw);

/* The type that holds values of both, as Spark widens partition columns. */
const struct type *partition_type_widen(struct arena *arena, const struct type *a,
                                        const struct type *b);

/*
 * The value as a constant vector of one row.  Errors: INVALID_PARTITION_VALUE, and
 * UNSUPPORTED_PARTITION_TYPE for types that no directory name can hold.
 */
MUST_USE enum status partition_value_cast(struct arena *arena,
                                          const struct partition_column *column,
                                          const struct type_field *field, const struct zone *zone,
                                          struct vector **out, struct error *err);

#endif
