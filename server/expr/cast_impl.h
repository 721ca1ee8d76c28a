/*
 * Inside expr/: what the parts of CAST share.
 */
#ifndef SERVER_EXPR_CAST_IMPL_H
#define SERVER_EXPR_CAST_IMPL_H

#include "columnar/timezone.h"
#include "expr/cast.h"

/* One vector being cast.  out has in's validity; rows that are NULL are passed over. */
struct cast_job {
    const struct eval_context *ctx;
    enum cast_mode mode;
    const struct zone *zone;
    const struct vector *in;
    struct vector *out;
    const struct cast_rows *rows;
};

typedef enum status cast_function(const struct cast_job *job, struct error *err);

/* The next row that is selected and not NULL; *i starts at 0. */
static inline bool cast_next(const struct cast_job *job, uint32_t *i, uint32_t *row)
{
    while (*i < job->rows->selected) {
        *row = job->rows->selection == NULL ? *i : job->rows->selection[*i];
        ++*i;
        if (!vector_is_null(job->in, *row))
            return true;
    }
    return false;
}

#define CAST_IN(T, job, row)  (VECTOR_VALUES(T, (job)->in)[vector_index((job)->in, row)])
#define CAST_OUT(T, job, row) (VECTOR_VALUES(T, (job)->out)[row])

enum status cast_set_null(const struct cast_job *job, uint32_t row, struct error *err);
/* The text does not read: CAST_INVALID_INPUT in ANSI mode, else NULL. */
enum status cast_invalid(const struct cast_job *job, uint32_t row, struct error *err);
/* The value does not fit: CAST_OVERFLOW in ANSI mode, else NULL. */
enum status cast_overflow(const struct cast_job *job, uint32_t row, struct error *err);
/* The same, but an error without ANSI as well. */
enum status cast_interval_overflow(const struct cast_job *job, uint32_t row, struct error *err);
/* A decimal does not fit: NUMERIC_VALUE_OUT_OF_RANGE in ANSI mode, else NULL. */
enum status cast_decimal_overflow(const struct cast_job *job, uint32_t row, struct error *err);

/* A cell of an integral type as int64. */
int64_t cast_integer(const struct vector *vector, uint32_t row);
/* Stores into a cell of an integral type; false: does not fit. */
bool cast_store_integer(const struct cast_job *job, uint32_t row, int128 value);
/* As above, wrapped. */
void cast_wrap_integer(const struct cast_job *job, uint32_t row, int64_t value);

/* NULL: this file has no function for the pair. */
cast_function *cast_to_number(const struct type *from, const struct type *to); /* cast_number.c */
cast_function *cast_to_time(const struct type *from, const struct type *to);   /* cast_time.c */
cast_function *cast_to_interval(const struct type *from,
                                const struct type *to);                        /* cast_interval.c */
cast_function *cast_to_text(const struct type *from, const struct type *to);   /* cast_text.c */
cast_function *cast_to_nested(const struct type *from, const struct type *to); /* cast_nested.c */
cast_function *cast_to_variant(const struct type *from,
                               const struct type *to); /* variant_cast.c: also from a variant */

/* Microseconds of the last field of a day-time interval, months of a year-month one. */
int64_t cast_interval_unit(const struct type *type);

#endif
