/*
 * The schema of a Parquet file: what a STRUCT becomes, and where the values of each column are.
 *
 * A column of the file is a leaf of the tree of types.  Its values are found by a path from the
 * row: into a field, or into the elements, keys or values of a list.  Each step that may be
 * missing, and each list, adds one to the definition level; each list adds one to the repetition
 * level.
 *
 * All fields are optional in the file, whatever the query knows of NULLs; keys of maps are not.
 * The types are Spark's (spark.sql.parquet.writeLegacyFormat=false):
 *
 *     BOOLEAN                       BOOLEAN
 *     TINYINT, SMALLINT, INT        INT32 INTEGER(8|16), INT32
 *     BIGINT, FLOAT, DOUBLE         INT64, FLOAT, DOUBLE
 *     DECIMAL(p)                    INT32 to 9 digits, INT64 to 18, FIXED_LEN_BYTE_ARRAY
 *     STRING, BINARY                BYTE_ARRAY STRING, BYTE_ARRAY
 *     DATE, TIME                    INT32 DATE, INT64 TIME(MICROS)
 *     TIMESTAMP                     INT96, or INT64 TIMESTAMP(UTC, MICROS or MILLIS)
 *     TIMESTAMP_NTZ                 INT64 TIMESTAMP(local, MICROS)
 *     INTERVAL DAY.., YEAR..        INT64, INT32
 *     VARIANT                       group VARIANT of metadata and value
 *     VOID                          BOOLEAN UNKNOWN
 *     ARRAY                         group LIST of list.element
 *     MAP                           group MAP of key_value.key, .value
 */
#ifndef SERVER_PARQUET_PARQUET_SCHEMA_H
#define SERVER_PARQUET_PARQUET_SCHEMA_H

#include "columnar/type.h"

/* The numbers are those of the file format. */
enum parquet_type {
    PARQUET_BOOLEAN = 0,
    PARQUET_INT32 = 1,
    PARQUET_INT64 = 2,
    PARQUET_INT96 = 3,
    PARQUET_FLOAT = 4,
    PARQUET_DOUBLE = 5,
    PARQUET_BYTES = 6,
    PARQUET_FIXED = 7,
};

/* How a cell becomes a value. */
enum parquet_form {
    FORM_VOID, /* there is none */
    FORM_BOOLEAN,
    FORM_INT8,
    FORM_INT16,
    FORM_COPY4,
    FORM_COPY8,
    FORM_INT96,  /* microseconds -> nanoseconds of the day, Julian day */
    FORM_MILLIS, /* microseconds -> milliseconds, rounded down */
    FORM_MICROS, /* nanoseconds -> microseconds */
    FORM_DECIMAL4,
    FORM_DECIMAL8,
    FORM_DECIMAL, /* big endian, as many bytes as the precision needs */
    FORM_BYTES,
    FORM_VARIANT_METADATA,
    FORM_VARIANT_VALUE,
};

enum parquet_timestamps {
    PARQUET_TIMESTAMPS_INT96,
    PARQUET_TIMESTAMPS_MICROS,
    PARQUET_TIMESTAMPS_MILLIS,
};

struct parquet_step {
    bool repeated; /* the elements of the list, of which the child is taken */
    bool optional; /* what is reached may be NULL */
    uint32_t child;
};

#define PARQUET_LEVEL_MAX 200

struct parquet_leaf {
    enum parquet_type type;
    enum parquet_form form;
    uint32_t width; /* bytes of a value; 0: each has its own size (BYTES), or is a bit */
    uint8_t definition_max;
    uint8_t repetition_max;
    uint32_t step_count;
    const struct parquet_step *steps;
    uint32_t path_count;
    const char *const *path; /* names, those of groups that stand for lists included */
};

struct parquet_schema {
    const struct type *type;
    struct bytes elements; /* encoded: the list of schema elements without its head */
    uint32_t element_count;
    struct parquet_leaf *leaves;
    uint32_t leaf_count;
    uint32_t leaf_capacity;
};

/* What a type cannot be written: the column at fault is *wrong. */
enum parquet_schema_result {
    PARQUET_SCHEMA_OK,
    PARQUET_SCHEMA_NO_SUCH_TYPE,  /* a calendar interval, a STRUCT without fields */
    PARQUET_SCHEMA_TOO_DEEP,      /* more than PARQUET_LEVEL_MAX levels */
    PARQUET_SCHEMA_REPEATED_NAME, /* *name twice in one group: no reader finds both */
};

struct parquet_schema_error {
    enum parquet_schema_result result;
    uint32_t column; /* of `type` */
    const char *name;
};

/* Everything lives in `arena`. */
struct parquet_schema_error parquet_schema_build(struct arena *arena, const struct type *type,
                                                 enum parquet_timestamps timestamps,
                                                 struct parquet_schema *out);

#endif
