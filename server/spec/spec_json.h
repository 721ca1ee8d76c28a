/*
 * The canonical form of a spec: the fields in the order of the API's documentation, defaults that
 * were not written stay unwritten, the order inside sources, tables, views and options as the user
 * gave it.  Equal specs give equal bytes, so the ETag is a hash of it.
 */
#ifndef SERVER_SPEC_SPEC_JSON_H
#define SERVER_SPEC_SPEC_JSON_H

#include "base/arena.h"

#include <jansson.h>

/* The fields a spec may have, and those of its parts; each list ends with NULL. */
extern const char *const spec_fields[];
extern const char *const spec_relation_fields[];
extern const char *const spec_table_fields[];
extern const char *const spec_view_fields[];
extern const char *const spec_sink_fields[];
extern const char *const spec_watermark_fields[];
extern const char *const spec_trigger_fields[];
extern const char *const spec_limits_fields[];
extern const char *const spec_restart_fields[];

size_t spec_fields_count(const char *const *fields);

/* Compact canonical text in `arena`.  `root` is an object, checked or not. */
const char *spec_json_canonical(struct arena *arena, json_t *root);

/*
 * The canonical text of `json` (a canonical spec) with name and checkpointLocation set where they
 * were absent: what a worker is started with.  Errors: INVALID_JSON.
 */
MUST_USE enum status spec_json_complete(struct arena *arena, const char *json, const char *name,
                                        const char *checkpoint_location, const char **out,
                                        struct error *err);

#endif
