/*
 * Everything that is wrong or noteworthy about a spec, at once: the form (spec/), names, types and
 * streaming rules (analyze/), the plan (plan/), and what this server allows (paths).
 *
 * Nothing is kept and no worker is needed.  All memory is in the arena.
 * Threads: any.
 */
#ifndef SERVER_CONTROL_QUERY_VALIDATE_H
#define SERVER_CONTROL_QUERY_VALIDATE_H

#include "control/path_policy.h"
#include "sink/sink.h"
#include "spec/diagnostics.h"

#define OUTPUT_MODE_COUNT  3 /* append, update, complete */
#define TRIGGER_KIND_COUNT 6 /* default, processingTime, availableNow, once; those not offered */

struct analysis;

/* An operator that keeps state between batches. */
struct validation_operator {
    const char *kind; /* as in EXPLAIN: "Aggregate" */
    int id;
    bool bounded;       /* its state does not grow for ever */
    const char *reason; /* why it is bounded, or why it is not */
};

/* A kind of trigger, and what it means for this query. */
struct validation_trigger {
    const char *kind;   /* "default", or the field of `trigger` */
    struct error why;   /* why not; status OK: legal */
    const char *reason; /* what it does with these sources, NULL: nothing to say */
};

/* Legal, but worth saying; a diagnostic of severity WARNING each, too. */
struct validation_warning {
    const char *name; /* UNUSED_WATERMARK, UNBOUNDED_STATE, ... */
    const char *text;
    const char *pointer;
    struct validation_warning *next;
};

struct validation {
    struct diagnostics *diagnostics;
    const struct query_spec *spec;
    bool resolved;                   /* names and types are known: modes and schema are there */
    const struct analysis *analysis; /* of it; once it is planned only its text is left */
    struct error mode[OUTPUT_MODE_COUNT]; /* why not; status OK: legal */
    const char *schema_json;              /* of the output: Spark's JSON form */
    bool analyzed; /* what follows is there; otherwise an error stood in the way */
    const char *plan_text, *plan_json;
    struct validation_operator *operators;
    size_t operator_count;
    struct validation_trigger trigger[TRIGGER_KIND_COUNT];
    struct validation_warning *warnings;
    bool exactly_once; /* the sink keeps rows exactly once and the sources can be read again */
};

/* Errors: INVALID_JSON, INVALID_FIELD_TYPE (no JSON object), LIMIT_EXCEEDED: there is no spec. */
MUST_USE enum status query_validate(struct arena *arena, const struct path_policy *paths,
                                    struct bytes json, struct validation *out, struct error *err);

/* How much query_validate would report, SIZE_MAX if there is no spec: for checking a fix. */
struct problem_count {
    size_t errors, all; /* all: with warnings */
};
struct problem_count query_count_problems(struct arena *arena, const struct path_policy *paths,
                                          struct bytes json);

/* control/query_operators.c: the operators with state below `node`, and a warning for each that
 * grows without limit; there is room for them. */
struct plan_node;
void query_add_operators(struct arena *arena, const struct plan_node *node, enum output_mode mode,
                         struct validation *out);

/* control/query_paths.c: what this server allows and the disk offers: the policy, a sink among the
 * files of a source, directories that cannot be written to.  Nothing is made or changed. */
MUST_USE enum status query_check_paths(struct arena *arena, const struct path_policy *paths,
                                       const struct query_spec *spec,
                                       struct diagnostics *diagnostics, struct error *err);

/* Adds a warning to both lists. */
struct analysis_warning;
void query_warn(struct arena *arena, const struct analysis_warning *warning,
                struct validation *out);

/* control/query_fixes.c: adds the fixes that are known for the errors of the list: those with which
 * the validation finds one error less, and with the last one none.  Where nothing is wrong, those
 * of warnings, with which there is one less. */
void query_add_fixes(struct arena *arena, const struct path_policy *paths, struct bytes json,
                     struct validation *validation);

#endif
