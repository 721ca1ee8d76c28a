/* VARIANT: kernels and resolvers of fn_variant.c and variant_path.c, casts of variant_cast.c. */
#ifndef SERVER_EXPR_FN_VARIANT_H
#define SERVER_EXPR_FN_VARIANT_H

#include "columnar/variant.h"
#include "expr/cast_impl.h"
#include "expr/resolvers.h"

RESOLVER(resolve_parse_json);
RESOLVER(resolve_is_variant_null);
RESOLVER(resolve_to_variant_object);
RESOLVER(resolve_schema_of_variant);
RESOLVER(resolve_variant_explode);
RESOLVER(resolve_variant_get);

KERNEL(kernel_parse_json);
KERNEL(kernel_is_variant_null);
KERNEL(kernel_is_valid_variant);
KERNEL(kernel_to_variant_object);
KERNEL(kernel_schema_of_variant);
KERNEL(kernel_variant_explode);
KERNEL(kernel_variant_get);

/* ---- variant_cast.c ---- */

/* Whether a variant may be cast to the type, or a value of the type (not of structs and maps
 * without `objects`) be made one. */
bool variant_type_is_castable(const struct type *type, bool objects);

/* Values to be read as a type; those without bytes are NULL. */
struct variant_conversion {
    const struct eval_context *ctx;
    const struct zone *zone;
    bool fail; /* else what does not fit is NULL */
};
/* Errors: INVALID_VARIANT_CAST, LIMIT_EXCEEDED. */
MUST_USE enum status variant_convert(const struct variant_conversion *conversion,
                                     const struct variant *values, uint32_t count,
                                     const struct type *type, struct vector **out,
                                     struct error *err);

/* Adds a cell; structs and maps become objects. */
void variant_add_cell(struct variant_builder *builder, const struct vector *vector, uint32_t row);

/* Errors: VARIANT_SIZE_LIMIT. */
enum status variant_too_large(struct arena *arena, const char *function, struct error *err);

#endif
