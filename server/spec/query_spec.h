/*
 * A query as the user wrote it: parsed JSON, nothing resolved.  What crosses the process boundary
 * is this document, not a plan.
 *
 * All memory is in the arena passed to query_spec_parse (query or request lifetime).
 */
#ifndef SERVER_SPEC_QUERY_SPEC_H
#define SERVER_SPEC_QUERY_SPEC_H

#include "base/options.h"
#include "columnar/type.h"

/* Limits of a spec; each has a named error (LIMIT_EXCEEDED). */
#define QUERY_NAME_MAX     128
#define SPEC_SQL_BYTES_MAX (1U << 20)
#define SPEC_RELATIONS_MAX 256
#define SPEC_VIEWS_MAX     256
#define SPEC_OPTIONS_MAX   1000
#define SPEC_LABELS_MAX    64
#define QUERY_NAME_RULE                                                                            \
    "1 to 128 letters, digits, '-', '_' and '.', the first a letter, a digit or '_'"

enum trigger_kind {
    TRIGGER_DEFAULT, /* next batch at once */
    TRIGGER_PROCESSING_TIME,
    TRIGGER_AVAILABLE_NOW,
    TRIGGER_ONCE,
};

struct watermark_spec {
    const char *column; /* NULL: none */
    const char *delay;  /* as written */
};

/* A stream (sources) or the static side of joins (tables). */
struct relation_spec {
    const char *name;
    const char *format;
    const char *schema_text;   /* DDL or JSON text as written, NULL if absent */
    const struct type *schema; /* parsed, NULL if absent */
    struct options options;    /* with pointer */
    struct watermark_spec watermark;
};

struct view_spec {
    const char *name;
    const char *sql;  /* either sql ... */
    const char *from; /* ... or from with one step: */
    bool drop_duplicates;
    bool drop_duplicates_within_watermark;
    const char **columns; /* of the two above; none = all columns */
    size_t column_count;
    struct watermark_spec watermark;
};

struct sink_spec {
    const char *format;
    struct options options;
    const char **partition_by;
    size_t partition_by_count;
    const char *partition_by_pointer; /* where they stand; NULL: nowhere */
};

enum restart_mode {
    RESTART_NEVER,
    RESTART_ON_FAILURE,
    RESTART_ALWAYS,
};

struct query_spec {
    const char *name; /* NULL: the server makes one up */
    struct relation_spec *sources;
    size_t source_count;
    struct relation_spec *tables;
    size_t table_count;
    struct view_spec *views;
    size_t view_count;
    const char *sql;
    struct sink_spec sink;
    bool has_sink;
    const char *output_mode; /* as written; "append" if absent */
    bool output_mode_wrong;  /* no mode at all: reported, and "append" stands in its place */
    enum trigger_kind trigger;
    const char *trigger_interval; /* processingTime as written */
    int64_t trigger_interval_us;
    const char *checkpoint_location; /* NULL: the server's own directory */
    struct options conf;             /* checked, full names; read with spec/conf.h */
    int64_t memory_limit_bytes;      /* 0: none given */
    enum restart_mode restart_mode;
    int32_t restart_attempts_max;
    struct option *labels;
    size_t label_count;
    bool desired_stopped; /* desiredState STOPPED */
    bool has_desired_state;
    const char *json; /* the document in canonical form: fields in the order of api.md */
};

/* Collects what is wrong (spec/diagnostics.h); NULL: the first problem is returned. */
struct diagnostics;

bool query_name_is_valid(const char *name);

/*
 * Parses and checks the form of a spec: types, unknown fields (with the nearest name), names,
 * trigger, paths.  Everything that needs the SQL or the connectors is left to the analyser.
 * With `diagnostics` every problem of form is reported there and the result is what could be read
 * (OK even then: see diagnostics_has_errors); only a document that is no JSON object is returned.
 * Errors: with err->pointer set to the JSON pointer of the place.
 */
MUST_USE enum status query_spec_parse(struct arena *arena, struct bytes json,
                                      struct diagnostics *diagnostics, struct query_spec **out,
                                      struct error *err);

#endif
