/*
 * A conformance case: one line of a .jsonl file, whose keys tell its kind, with the inputs and what
 * Spark answered.  case_answer() runs the inputs through the product's own entry points and
 * case_compare() says what differs.
 */
#ifndef TESTS_SUPPORT_CONFORMANCE_CASE_H
#define TESTS_SUPPORT_CONFORMANCE_CASE_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/vfs_mem.h"

#include <jansson.h>

enum case_kind {
    CASE_SQL,    /* an expression */
    CASE_AGG,    /* an aggregate over rows */
    CASE_QUERY,  /* a bounded SELECT */
    CASE_STREAM, /* a streaming query */
    CASE_READER,
    CASE_WRITER,
};

struct conformance_case {
    const char *path;
    int line;
    enum case_kind kind;
    json_t *json;
    const char *text;      /* what identifies it: its SQL, or its name */
    const json_t *session; /* tables of the cases above it in the file, for one that has none */
};

struct case_column {
    const char *name, *type;
};

struct case_file {
    const char *name; /* relative; the middle of the name as `*` */
    struct bytes content;
};

/* What we answer; all in the arena. */
struct case_answer {
    struct error err;      /* status OK: the rest holds */
    const char *error_sql; /* the text that err.position counts in */
    int error_shift;       /* bytes in front of the case's own text */
    struct case_column *columns;
    size_t column_count;
    const char ***rows; /* cells as text, NULL for NULL */
    size_t row_count;
    struct case_file *files; /* writer: sorted by name */
    size_t file_count;
};

/* False if the line is no case. */
bool case_read(const char *path, int line, const char *text, struct conformance_case *out);
void case_fini(struct conformance_case *one);

void case_answer(struct arena *arena, const struct conformance_case *one, struct case_answer *out);

/* True if the answer is Spark's; otherwise appends what was expected and what came. */
bool case_compare(const struct conformance_case *one, const struct case_answer *answer,
                  struct buffer *report);

/* The answer in a few words, as deviations.tsv has it: a condition, or the cells of the rows. */
void case_describe(const struct case_answer *answer, struct buffer *out);

/* ---- the kinds (case_bounded.c, case_stream.c, case_writer.c) ---- */

/* A directory of the case's own on its disk: /case/<n>. */
struct case_disk {
    struct vfs *vfs;
    struct clock *clock;
    int dirs;
};
/* Its clock stands at noon of the case's "today", the day on which Spark was asked, if the case has
 * one; at SCENARIO_BEGIN_US otherwise. */
void case_disk_init(const struct conformance_case *one, struct case_disk *disk);
void case_disk_fini(struct case_disk *disk);
const char *case_disk_dir(struct arena *arena, struct case_disk *disk);
/* Rows (JSON objects) as a file of JSON lines in a new directory; returns the directory. */
const char *case_disk_rows(struct arena *arena, struct case_disk *disk, const json_t *rows);

/* Runs a spec as a bounded query and keeps columns and rows; `receiver` gets the batches instead
 * if it is not NULL. */
struct batch_receiver;
void case_run_bounded(struct arena *arena, struct case_disk *disk, const json_t *spec,
                      struct batch_receiver *receiver, struct case_answer *out);
/* {"format", "schema", "options": {"path": dir}} */
json_t *case_relation(const char *format, const char *schema, const char *dir);
/* A spec with the case's conf. */
json_t *case_spec(const struct conformance_case *one, const char *sql);

void case_answer_stream(struct arena *arena, const struct conformance_case *one,
                        struct case_disk *disk, struct case_answer *out);
void case_answer_writer(struct arena *arena, const struct conformance_case *one,
                        struct case_disk *disk, struct case_answer *out);

#endif
