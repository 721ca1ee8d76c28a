/* Kernels and resolvers of fn_json_path.c, fn_from_json.c, fn_to_json.c, fn_json_schema.c,
 * fn_csv.c. */
#ifndef SERVER_EXPR_FN_JSON_H
#define SERVER_EXPR_FN_JSON_H

#include "columnar/number_locale.h"
#include "expr/json_dom.h"
#include "expr/resolvers.h"

/* ---- options: fn_json_options.c ---- */

/* A MAP of strings, constant; value of a name in any case, or NULL. */
struct function_options {
    const char **names;
    const char **values;
    uint32_t count;
};

/* Argument `index` as options (none if the call has no such argument). */
MUST_USE enum status function_options(struct resolve_context *ctx, const struct expr *call,
                                      uint32_t index, struct function_options *out,
                                      struct error *err);
const char *function_option(const struct function_options *options, const char *name);
bool function_option_is(const struct function_options *options, const char *name, bool missing);

/* The schema argument of from_json and from_csv: DDL or JSON, constant. */
MUST_USE enum status function_schema(struct resolve_context *ctx, const struct expr *call,
                                     uint32_t index, const struct type **out, struct error *err);
/* The type with everything nullable. */
const struct type *type_all_nullable(struct arena *arena, const struct type *type);

/* ---- what JSON and CSV records are read and written with ---- */

enum record_mode {
    RECORD_PERMISSIVE,
    RECORD_FAILFAST,
};

struct datetime_pattern;
struct record_format {
    enum record_mode mode;
    const struct datetime_pattern *date;      /* NULL: the rules of casts */
    const struct datetime_pattern *timestamp; /* NULL: the rules of casts; written: ISO */
    const struct datetime_pattern *timestamp_ntz;
    const struct zone *zone; /* of the option timeZone; NULL: the session's */
    const char *corrupt_column;
    const struct number_locale *numbers; /* of DECIMALs in texts */
};

/* Reads mode, dateFormat, timestampFormat, timestampNTZFormat, timeZone,
 * columnNameOfCorruptRecord, locale.  Errors: those of patterns and zones, PARSE_MODE_UNSUPPORTED,
 * INVALID_OPTION_VALUE (locale). */
MUST_USE enum status record_format_read(struct resolve_context *ctx, const struct expr *call,
                                        const struct function_options *options, bool write,
                                        struct record_format *out, struct error *err);

RESOLVER(resolve_from_json);
RESOLVER(resolve_to_json);
RESOLVER(resolve_schema_of_json);
RESOLVER(resolve_json_tuple);
RESOLVER(resolve_from_csv);
RESOLVER(resolve_to_csv);
RESOLVER(resolve_schema_of_csv);

KERNEL(kernel_get_json_object);
KERNEL(kernel_json_array_length);
KERNEL(kernel_json_object_keys);
KERNEL(kernel_json_tuple);
KERNEL(kernel_from_json);
KERNEL(kernel_to_json);
KERNEL(kernel_from_csv);
KERNEL(kernel_to_csv);

/* Errors: LIMIT_EXCEEDED if the text last read was too large for a tree. */
MUST_USE enum status json_dom_fits(const struct kernel_call *call, const struct json_dom *dom,
                                   struct error *err);

#endif
