/*
 * Data types: Spark's, all of them, any nesting.  Types are immutable; a `const struct type *` is
 * borrowed from the arena it was made in (usually query lifetime) or from the table of simple
 * types (static).  Compare with type_equal(), never by address.
 */
#ifndef SERVER_COLUMNAR_TYPE_H
#define SERVER_COLUMNAR_TYPE_H

#include "base/arena.h"
#include "base/buffer.h"

enum type_id {
    TYPE_VOID,          /* the type of NULL */
    TYPE_BOOLEAN,       /* uint8_t, 0 or 1 */
    TYPE_BYTE,          /* int8_t   TINYINT */
    TYPE_SHORT,         /* int16_t  SMALLINT */
    TYPE_INT,           /* int32_t */
    TYPE_LONG,          /* int64_t  BIGINT */
    TYPE_FLOAT,         /* float */
    TYPE_DOUBLE,        /* double */
    TYPE_DECIMAL,       /* int128, unscaled; precision 1..38, scale 0..precision */
    TYPE_STRING,        /* struct bytes, UTF-8 by convention, never assumed valid */
    TYPE_BINARY,        /* struct bytes */
    TYPE_DATE,          /* int32_t, days since 1970-01-01, proleptic Gregorian */
    TYPE_TIMESTAMP,     /* int64_t, microseconds since the epoch, UTC */
    TYPE_TIMESTAMP_NTZ, /* int64_t, microseconds since 1970-01-01 00:00 local */
    TYPE_TIME,          /* int64_t, nanoseconds of the day; precision 0..6 */
    TYPE_INTERVAL_DT,   /* int64_t, microseconds; day-time interval with fields */
    TYPE_INTERVAL_YM,   /* int32_t, months; year-month interval with fields */
    TYPE_INTERVAL,      /* struct calendar_interval: the legacy INTERVAL of make_interval() */
    TYPE_VARIANT,       /* struct bytes: variant.h */
    TYPE_ARRAY,         /* struct list_entry + 1 child */
    TYPE_MAP,           /* struct list_entry + 2 children: keys, values */
    TYPE_STRUCT,        /* no values; one child per field */
};
#define TYPE_ID_COUNT ((int)TYPE_STRUCT + 1)

__extension__ typedef __int128 int128; /* the one typedef: GCC and Clang have no keyword for it */

/* Fields of interval types, in Spark's order. */
enum interval_field {
    INTERVAL_YEAR,
    INTERVAL_MONTH,
    INTERVAL_DAY,
    INTERVAL_HOUR,
    INTERVAL_MINUTE,
    INTERVAL_SECOND,
};

struct calendar_interval {
    int32_t months;
    int32_t days;
    int64_t micros;
};

struct type_field {
    const char *name;
    const struct type *type;
    bool nullable;
    const char *comment; /* NULL if none */
};

struct type {
    enum type_id id;
    uint8_t precision;     /* DECIMAL, TIME */
    uint8_t scale;         /* DECIMAL */
    uint8_t interval_from; /* enum interval_field: INTERVAL_DT, INTERVAL_YM */
    uint8_t interval_to;
    bool element_nullable;           /* ARRAY: elements; MAP: values */
    const struct type *key;          /* MAP */
    const struct type *element;      /* ARRAY: element; MAP: value */
    const struct type_field *fields; /* STRUCT */
    uint32_t field_count;
};

#define DECIMAL_PRECISION_MAX 38

/* Types without parameters (also INTERVAL DAY TO SECOND and YEAR TO MONTH).  Static. */
const struct type *type_simple(enum type_id id);

/* Borrowed from `arena`.  Arguments must be valid (CHECKed): validate user input before. */
const struct type *type_decimal(struct arena *arena, int precision, int scale);
const struct type *type_interval(struct arena *arena, enum interval_field from,
                                 enum interval_field to); /* DT or YM by the fields */
const struct type *type_time(struct arena *arena, int precision);
const struct type *type_array(struct arena *arena, const struct type *element, bool nullable);
const struct type *type_map(struct arena *arena, const struct type *key, const struct type *value,
                            bool value_nullable);
/* Copies the array of fields, not the names. */
const struct type *type_struct(struct arena *arena, const struct type_field *fields,
                               uint32_t field_count);
const struct type *type_clone(struct arena *arena, const struct type *type);

/* Same type; nullability and comments do not count, field names do (exact case). */
bool type_equal(const struct type *a, const struct type *b);
/* As type_equal, field names not compared (Spark's sameType for unions). */
bool type_equal_unnamed(const struct type *a, const struct type *b);

bool type_is_numeric(const struct type *type);  /* BYTE..DECIMAL */
bool type_is_integral(const struct type *type); /* BYTE..LONG */
bool type_is_orderable(const struct type *type);
bool type_is_nested(const struct type *type);

/* Bytes of one cell of `values`; 0 for VOID and STRUCT. */
size_t type_value_bytes(const struct type *type);

/* "STRUCT<a: INT, b: ARRAY<STRING>>": Spark's DataType.sql, as error messages show it. */
void type_print_sql(struct buffer *out, const struct type *type);
/* "struct<a:int,b:array<string>>": Spark's simpleString/catalogString, as schemas show it. */
void type_print_simple(struct buffer *out, const struct type *type);
/* Spark's DataType.json. */
void type_print_json(struct buffer *out, const struct type *type);
/* The above two as NUL-ended text in `arena`. */
const char *type_sql(struct arena *arena, const struct type *type);
const char *type_name(struct arena *arena, const struct type *type); /* simple form */

/*
 * Parses one type or a list of columns ("a INT, b STRUCT<x: STRING> NOT NULL COMMENT 'c'") in
 * Spark's DDL, or the JSON form of a schema (first character '{').  `text` is copied.
 * type_parse_schema gives a STRUCT.  Errors: PARSE_SYNTAX_ERROR, UNSUPPORTED_DATATYPE,
 * DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION, ... with a position; nesting is limited.
 */
MUST_USE enum status type_parse(struct arena *arena, struct bytes text, const struct type **out,
                                struct error *err);
MUST_USE enum status type_parse_schema(struct arena *arena, struct bytes text,
                                       const struct type **out, struct error *err);

#endif
