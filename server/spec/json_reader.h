/*
 * Reading JSON documents of users strictly: every field has a type, every object a list of the
 * fields it may have, and every complaint a JSON pointer and, for an unknown field, the nearest
 * right name.  Used for query specs and for the bodies of requests.
 *
 * Each function reports a problem through diagnostics_report(): with a list of diagnostics it
 * returns OK and leaves the result as if the field were absent.
 * Threads: one at a time.
 */
#ifndef SERVER_SPEC_JSON_READER_H
#define SERVER_SPEC_JSON_READER_H

#include "spec/diagnostics.h"

#include <jansson.h>

#define JSON_DEPTH_MAX 100

struct json_reader {
    struct arena *arena;             /* results */
    struct diagnostics *diagnostics; /* NULL: the first problem is returned */
    struct error *err;
};

/* Once per process, before threads start. */
void json_init(void);

/* A place in the document: `pointer` is "" for the whole of it. */
struct json_place {
    json_t *object;
    const char *pointer;
};

/* Loads a document; the caller owns *out (json_decref).  Errors (returned, never collected):
 * INVALID_JSON, LIMIT_EXCEEDED (nested deeper than JSON_DEPTH_MAX). */
MUST_USE enum status json_load(struct bytes text, json_t **out, struct error *err);

/* "/sources/clicks" + "a/b" -> "/sources/clicks/a~1b", in the reader's arena. */
const char *json_pointer_join(struct json_reader *reader, const char *pointer, const char *name);

/* Reports reader->err as an error at `pointer`. */
MUST_USE enum status json_report(struct json_reader *reader, const char *pointer);
/* Reports that the field is there in another form; `expected` shows the right one. */
MUST_USE enum status json_wrong_type(struct json_reader *reader, struct json_place place,
                                     const char *field, const char *expected);

/* Said of an unknown field beside options. */
#define JSON_HINT_OPTIONS " If it is an option of the format, it stands in options"

/* Whether an unknown field was taken for a misspelling of `field`.  NULL: false. */
bool json_was_meant(const struct diagnostics *diagnostics, const char *field);

/* Every field of the object must be in `names`, a list of `count`. */
MUST_USE enum status json_check_fields(struct json_reader *reader, struct json_place place,
                                       const char *const *names, size_t count);

/* Whether the field is given.  A field that is null counts as absent, everywhere. */
bool json_has_field(struct json_place place, const char *field);

/* The typed fields: *out is left alone if the field is absent (or null, or reported as wrong). */
MUST_USE enum status json_read_text(struct json_reader *reader, struct json_place place,
                                    const char *field, const char **out);
MUST_USE enum status json_read_bool(struct json_reader *reader, struct json_place place,
                                    const char *field, bool *out);
/* An integer, or a text of digits, within [min, max]. */
MUST_USE enum status json_read_int(struct json_reader *reader, struct json_place place,
                                   const char *field, int64_t min, int64_t max, int64_t *out);
MUST_USE enum status json_read_object(struct json_reader *reader, struct json_place place,
                                      const char *field, struct json_place *out);
MUST_USE enum status json_read_array(struct json_reader *reader, struct json_place place,
                                     const char *field, struct json_place *out);
/* An array of texts. */
MUST_USE enum status json_read_texts(struct json_reader *reader, struct json_place place,
                                     const char *field, const char ***out, size_t *count);

/* A scalar as the text Spark would see: true, 10, 1.5, abc.  NULL if it is no scalar. */
const char *json_scalar_text(struct arena *arena, const json_t *value);

const char *json_type_name(const json_t *value); /* "a string", "an object" */

/* Compact text of a document in `arena`. */
const char *json_print(struct arena *arena, const json_t *value);

#endif
