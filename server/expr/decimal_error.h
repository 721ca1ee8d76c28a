/*
 * The errors of decimals that do not fit, which show the exact value, however long it is.
 */
#ifndef SERVER_EXPR_DECIMAL_ERROR_H
#define SERVER_EXPR_DECIMAL_ERROR_H

#include "columnar/decimal.h"

/* a op b (op one of + - * / %) did not fit `type`.  Returns the status it raises. */
enum status decimal_error_of(struct decimal a, struct decimal b, char op, const struct type *type,
                             struct error *err);

/* sum / count did not fit `type`. */
enum status decimal_error_of_average(struct decimal sum, int64_t count, const struct type *type,
                                     struct error *err);

/* A value did not fit `type`: `text` is how the message shows it. */
enum status decimal_error(const char *text, const struct type *type, struct error *err);

#endif
