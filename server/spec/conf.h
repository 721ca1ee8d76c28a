/*
 * The `conf` of a query: Spark's configuration names.  The list with defaults and meaning is
 * conf.def; the values in a query_spec are checked and under their full names (`partitions` has
 * become spark.sql.shuffle.partitions), so that the getters cannot fail.
 *
 * Threads: any.
 */
#ifndef SERVER_SPEC_CONF_H
#define SERVER_SPEC_CONF_H

#include "base/options.h"

enum conf {
#define CONF(identifier, name, kind, default_, choices, effect) CONF_##identifier,
#include "spec/conf.def"
#undef CONF
    CONF_COUNT_
};

#define CONF_PARTITIONS_MAX 4096 /* as of the setting of a server */
#define CONF_THREADS_MAX    1024 /* likewise */

/* The catalog. */
const char *conf_name(enum conf conf);
const char *conf_kind_name(enum conf conf); /* "boolean", "integer", ... */
const char *conf_default(enum conf conf);   /* NULL: not set */
const char *conf_effect(enum conf conf);
bool conf_find(const char *name, enum conf *out); /* also "partitions" */

/*
 * Checks one entry.  *name_out is the full name (static).
 * Errors: UNKNOWN_CONF with the nearest name; INVALID_CONF_VALUE.*.
 */
MUST_USE enum status conf_check(const char *name, const char *value, const char **name_out,
                                struct error *err);

/* The value of the spec's conf, or the default; text may be NULL if neither is there. */
const char *conf_text(const struct options *conf, enum conf key);
bool conf_bool(const struct options *conf, enum conf key);
int64_t conf_int(const struct options *conf, enum conf key);         /* INT, COUNT */
int64_t conf_bytes(const struct options *conf, enum conf key);       /* BYTES */
int64_t conf_duration_us(const struct options *conf, enum conf key); /* DURATION */
double conf_double(const struct options *conf, enum conf key);

#endif
