/*
 * Inside expr/: what the aggregate functions share.
 *
 * Values that a state keeps are bytes: the cell itself for types of fixed width, else a row key
 * (columnar/row_key.h), so that they can be compared, hashed, stored and read back alike.
 */
#ifndef SERVER_EXPR_AGGREGATE_IMPL_H
#define SERVER_EXPR_AGGREGATE_IMPL_H

#include "expr/aggregate.h"
#include "expr/resolvers.h"

/* The state of the i-th selected row. */
static inline uint8_t *aggregate_state(const struct aggregate_update *update, uint32_t i)
{
    return update->states == NULL ? update->state : update->states[i];
}

static inline uint32_t aggregate_row(const struct aggregate_update *update, uint32_t i)
{
    return update->selection == NULL ? i : update->selection[i];
}

#define AGGREGATE_ARG(T, update, index, row)                                                       \
    (VECTOR_VALUES(T, (update)->args[index])[vector_index((update)->args[index], row)])

static inline bool aggregate_arg_is_null(const struct aggregate_update *update, uint32_t index,
                                         uint32_t row)
{
    return vector_is_null(update->args[index], row);
}

/* Marks result row i NULL. */
enum status aggregate_set_null(const struct aggregate_update *call, struct vector *out, uint32_t i,
                               struct error *err);

/* ---- values as bytes ---- */

/* Width of the cell that stands for a value of this type, 0: row keys. */
uint32_t value_width(const struct type *type);

/*
 * The bytes of argument `index` for each selected row (data NULL: NULL).  `normal` makes equal
 * values equal bytes (-0.0, NaN), by row keys.  In the batch arena.
 */
MUST_USE enum status values_of(const struct aggregate_update *update, uint32_t index, bool normal,
                               struct bytes **out, struct error *err);

/* A flat vector of `type` made of such bytes (data NULL: NULL). */
MUST_USE enum status values_to_vector(struct arena *arena, const struct type *type, bool normal,
                                      const struct bytes *values, uint32_t count,
                                      struct vector **out, struct error *err);

/* One value with room to be replaced. */
struct value_box {
    uint8_t *data;
    uint32_t size, capacity;
    bool set;
    bool null;
};
MUST_USE enum status value_box_set(struct value_box *box, struct arena *arena, struct bytes value,
                                   struct error *err);
void value_box_save(const struct value_box *box, struct buffer *out);
MUST_USE enum status value_box_load(struct value_box *box, struct arena *arena, struct bytes *in,
                                    struct error *err);

/* A growing list of entries: u32 size, bytes. */
struct value_list {
    uint8_t *data;
    uint32_t size, capacity;
    uint32_t count;
};
MUST_USE enum status value_list_add(struct value_list *list, struct arena *arena,
                                    struct bytes value, struct error *err);
/* The entry at *offset (0 first), which moves on; false at the end. */
bool value_list_next(const struct value_list *list, uint32_t *offset, struct bytes *value);
/* All entries as an array in `arena`. */
MUST_USE enum status value_list_entries(const struct value_list *list, struct arena *arena,
                                        struct bytes **out, struct error *err);
void value_list_save(const struct value_list *list, struct buffer *out);
MUST_USE enum status value_list_load(struct value_list *list, struct arena *arena, struct bytes *in,
                                     struct error *err);

/* A set of values with a count each; the entries of the list are u64 count, value. */
struct value_set {
    struct value_list list;
    uint32_t *slots; /* offset of the entry + 1 */
    uint32_t slot_count;
};
MUST_USE enum status value_set_add(struct value_set *set, struct arena *arena, struct bytes value,
                                   uint64_t count, struct error *err);
bool value_set_next(const struct value_set *set, uint32_t *offset, struct bytes *value,
                    uint64_t *count);
MUST_USE enum status value_set_load(struct value_set *set, struct arena *arena, struct bytes *in,
                                    struct error *err);

/* ---- saving numbers ---- */

/* States that are plain numbers are saved as they are (little-endian machines only). */
void aggregate_save_plain(const struct expr *expr, const uint8_t *state, struct buffer *out);
enum status aggregate_load_plain(const struct expr *expr, struct arena *arena, struct bytes in,
                                 uint8_t *state, struct error *err);
bool take_u32(struct bytes *in, uint32_t *out);
bool take_u64(struct bytes *in, uint64_t *out);
bool take_bytes(struct bytes *in, size_t size, struct bytes *out);
void put_u32(struct buffer *out, uint32_t value);
void put_u64(struct buffer *out, uint64_t value);
enum status aggregate_corrupt(struct error *err);
#ifdef __clang_analyzer__ /* does not see that it is never OK */
#define aggregate_corrupt(err) STATUS_NOT_OK(aggregate_corrupt(err))
#endif

/* ---- resolving ---- */

/* What resolvers put into aggregate.bound. */
struct aggregate_options {
    bool ansi; /* overflow is an error */
    bool try;
    bool reverse;
    double *percents;
    uint32_t percent_count;
    bool percent_list;
    int accuracy;       /* or the k of max_by */
    uint32_t precision; /* of the distinct sketch */
};

/* Type, nullable by the flags. */
void aggregate_finish_call(struct expr *call, const struct type *type);
/* What the signature says. */
MUST_USE enum status aggregate_apply(struct resolve_context *ctx, struct expr *call,
                                     const char *signature, struct error *err);

RESOLVER(aggregate_resolve_count);
RESOLVER(aggregate_resolve_sum);
RESOLVER(aggregate_resolve_first);
RESOLVER(aggregate_resolve_by);
RESOLVER(aggregate_resolve_collect);
RESOLVER(aggregate_resolve_listagg);
RESOLVER(aggregate_resolve_mode);
RESOLVER(aggregate_resolve_percentile);
RESOLVER(aggregate_resolve_median);
RESOLVER(aggregate_resolve_ordered_percentile);
RESOLVER(aggregate_resolve_percentile_approx);
RESOLVER(aggregate_resolve_distinct);

extern const struct aggregate_ops aggregate_count, aggregate_count_if, aggregate_sum, aggregate_avg;
extern const struct aggregate_ops aggregate_min, aggregate_max, aggregate_first, aggregate_last;
extern const struct aggregate_ops aggregate_max_by, aggregate_min_by, aggregate_top;
extern const struct aggregate_ops aggregate_bool_and, aggregate_bool_or, aggregate_bit_and,
    aggregate_bit_or, aggregate_bit_xor;
extern const struct aggregate_ops aggregate_stddev_samp, aggregate_stddev_pop, aggregate_var_samp,
    aggregate_var_pop, aggregate_skewness, aggregate_kurtosis;
extern const struct aggregate_ops aggregate_corr, aggregate_covar_pop, aggregate_covar_samp,
    aggregate_regr_count, aggregate_regr_avgx, aggregate_regr_avgy, aggregate_regr_sxx,
    aggregate_regr_syy, aggregate_regr_sxy, aggregate_regr_slope, aggregate_regr_intercept,
    aggregate_regr_r2;
extern const struct aggregate_ops aggregate_collect_list, aggregate_collect_set, aggregate_listagg,
    aggregate_mode;
extern const struct aggregate_ops aggregate_percentile, aggregate_percentile_disc,
    aggregate_percentile_approx, aggregate_distinct;

#endif
