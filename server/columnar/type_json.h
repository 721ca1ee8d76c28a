/* Types in Spark's JSON form (DataType.json).  Internal to type_parse.c. */
#ifndef SERVER_COLUMNAR_TYPE_JSON_H
#define SERVER_COLUMNAR_TYPE_JSON_H

#include "columnar/type.h"

/* Errors: INVALID_JSON_DATA_TYPE, and those of decimals. */
MUST_USE enum status type_parse_json(struct arena *arena, struct bytes text,
                                     const struct type **out, struct error *err);

#endif
