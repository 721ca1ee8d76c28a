/*
 * The analyser: the SQL of a spec, and its views, into a resolved and typed logical plan that is
 * legal as a stream.
 *
 * The steps are: parse, resolve names and types (Catalyst's rules and messages), then the rules of
 * check_streaming.c.  Positions of errors are byte offsets into the text that err->view names
 * (empty: the query's own SQL).
 *
 * Threads: any; one analysis uses one arena.
 */
#ifndef SERVER_ANALYZE_ANALYZE_H
#define SERVER_ANALYZE_ANALYZE_H

#include "analyze/logical_plan.h"
#include "sink/sink.h"

struct diagnostics;

/* Says what columns a relation of the spec has.  `streaming`: it is one of spec->sources. */
struct analyze_catalog {
    enum status (*schema)(struct analyze_catalog *self, struct arena *arena,
                          const struct relation_spec *relation, bool streaming,
                          const struct type **out, struct error *err);
};

struct analyze_options {
    bool bounded;                    /* all sources are finite: no streaming rules, no watermarks */
    struct analyze_catalog *catalog; /* NULL: the schema that the source itself gives */
    bool skip_sink;                  /* do not check the sink and the output mode */
};

struct analysis_relation {
    const struct relation_spec *spec;
    bool streaming;
    uint32_t source_index;
};

struct analysis_watermark {
    const char *column;
    int64_t delay_us;
    const void *origin; /* where it is declared: used twice, it is one watermark */
};

/* Accepted, but worth saying. */
struct analysis_warning {
    const char *name; /* OUTER_JOIN_NEVER_PADS, ... */
    const char *text;
    const char *pointer;        /* into the spec; NULL: the place in the SQL */
    int position, position_end; /* in the SQL of `view` (NULL: the query's own); -1: unknown */
    const char *view;
    struct analysis_warning *next;
};

struct analysis {
    const struct query_spec *spec;
    struct logical_node *root;
    const struct type *schema; /* STRUCT of the output columns */
    enum output_mode mode;
    bool bounded;
    bool streaming; /* reads at least one stream */
    struct analysis_relation *relations;
    uint32_t relation_count;
    struct analysis_watermark *watermarks;
    uint32_t watermark_count;
    struct analysis_warning *warnings; /* oldest first */
    uint32_t next_id;                  /* first attribute id that is free */
    bool ansi;
    const char *time_zone;
    /* Set by who plans: no panes, since a checkpoint has the state of whole windows. */
    bool whole_windows;
};

/*
 * Resolves spec->sql.  The result lives in `query`.  With a collector, everything that can be said
 * is added to it (sources and tables, views one by one, the items of each SELECT, the sink, the
 * streaming rules), each once, and the first of the errors is returned; *out is there even so if
 * names, types and watermarks are known, and untouched if not.
 * Errors: every condition of analysis that Spark has, by its name; NOT_SUPPORTED.
 */
MUST_USE enum status analyze_query(struct arena *query, const struct query_spec *spec,
                                   const struct analyze_options *options,
                                   struct diagnostics *diagnostics, struct analysis **out,
                                   struct error *err);

/* What the sink and the streaming rules say about one output mode of an analysis: for "which modes
 * are legal, and why not".  OK: legal. */
MUST_USE enum status analyze_check_mode(const struct analysis *analysis, enum output_mode mode,
                                        struct error *err);

/* Parses "append", "update", "complete" in any case.  Errors: STREAMING_OUTPUT_MODE.INVALID. */
MUST_USE enum status analyze_output_mode(const char *text, enum output_mode *out,
                                         struct error *err);

#endif
