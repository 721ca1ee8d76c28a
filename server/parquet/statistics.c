/* Least and greatest values: see statistics.h. */
#include "parquet/statistics.h"

#include <math.h>

void statistics_fini(struct statistics *statistics)
{
    buffer_fini(&statistics->min);
    buffer_fini(&statistics->max);
}

void statistics_clear(struct statistics *statistics)
{
    statistics->some = false;
    statistics->unknown = false;
}

static void set(struct buffer *to, struct bytes value)
{
    buffer_clear(to);
    buffer_add_bytes(to, value);
}

/* Signed and big endian: the first byte has the sign. */
static int compare_fixed(struct bytes a, struct bytes b)
{
    uint8_t first_a = a.data[0] ^ 0x80, first_b = b.data[0] ^ 0x80;
    if (first_a != first_b)
        return first_a < first_b ? -1 : 1;
    return bytes_compare(a, b);
}

static int compare(const struct parquet_leaf *leaf, struct bytes a, struct bytes b)
{
    int32_t int_a = 0, int_b = 0;
    int64_t long_a = 0, long_b = 0;
    float float_a = 0, float_b = 0;
    double double_a = 0, double_b = 0;
    switch (leaf->type) {
    case PARQUET_INT32:
        memcpy(&int_a, a.data, sizeof int_a);
        memcpy(&int_b, b.data, sizeof int_b);
        return (int_a > int_b) - (int_a < int_b);
    case PARQUET_INT64:
        memcpy(&long_a, a.data, sizeof long_a);
        memcpy(&long_b, b.data, sizeof long_b);
        return (long_a > long_b) - (long_a < long_b);
    case PARQUET_FLOAT:
        memcpy(&float_a, a.data, sizeof float_a);
        memcpy(&float_b, b.data, sizeof float_b);
        return (float_a > float_b) - (float_a < float_b);
    case PARQUET_DOUBLE:
        memcpy(&double_a, a.data, sizeof double_a);
        memcpy(&double_b, b.data, sizeof double_b);
        return (double_a > double_b) - (double_a < double_b);
    case PARQUET_FIXED:
        return compare_fixed(a, b);
    case PARQUET_BOOLEAN:
    case PARQUET_BYTES:
    case PARQUET_INT96:
        break;
    }
    return bytes_compare(a, b);
}

static bool is_nan(const struct parquet_leaf *leaf, struct bytes value)
{
    float single = 0;
    double real = 0;
    if (leaf->type == PARQUET_FLOAT) {
        memcpy(&single, value.data, sizeof single);
        return isnan(single) != 0;
    }
    if (leaf->type == PARQUET_DOUBLE) {
        memcpy(&real, value.data, sizeof real);
        return isnan(real) != 0;
    }
    return false;
}

static bool is_zero(const struct parquet_leaf *leaf, const struct buffer *value)
{
    static const uint8_t zero[8] = {0};
    return (leaf->type == PARQUET_FLOAT || leaf->type == PARQUET_DOUBLE) &&
           compare(leaf, buffer_bytes(value), bytes_of(zero, value->size_bytes)) == 0;
}

void statistics_add_one(struct statistics *statistics, const struct parquet_leaf *leaf,
                        struct bytes value)
{
    if (statistics->unknown)
        return;
    if (leaf->type == PARQUET_INT96 || value.size_bytes > STATISTICS_BYTES_MAX ||
        is_nan(leaf, value)) {
        statistics->unknown = true;
        return;
    }
    if (!statistics->some || compare(leaf, value, buffer_bytes(&statistics->min)) < 0)
        set(&statistics->min, value);
    if (!statistics->some || compare(leaf, value, buffer_bytes(&statistics->max)) > 0)
        set(&statistics->max, value);
    statistics->some = true;
}

#define LEAST_AND_GREATEST(type_)                                                                  \
    do {                                                                                           \
        const type_ *cells = (const type_ *)(const void *)values->fixed;                           \
        type_ least = cells[0], greatest = cells[0];                                               \
        for (uint32_t i = 1; i < values->count; i++) {                                             \
            least = cells[i] < least ? cells[i] : least;                                           \
            greatest = cells[i] > greatest ? cells[i] : greatest;                                  \
        }                                                                                          \
        statistics_add_one(statistics, leaf, bytes_of(&least, sizeof least));                      \
        statistics_add_one(statistics, leaf, bytes_of(&greatest, sizeof greatest));                \
    } while (0)

/* A NaN anywhere: there will be no statistics. */
static bool has_nan(const struct parquet_leaf *leaf, const struct values *values)
{
    const float *floats = (const float *)(const void *)values->fixed;
    const double *doubles = (const double *)(const void *)values->fixed;
    bool found = false;
    for (uint32_t i = 0; i < values->count; i++)
        found |= leaf->type == PARQUET_FLOAT ? isnan(floats[i]) != 0 : isnan(doubles[i]) != 0;
    return found;
}

void statistics_add(struct statistics *statistics, const struct parquet_leaf *leaf,
                    const struct values *values)
{
    if (statistics->unknown || values->count == 0 || leaf->form == FORM_VOID)
        return;
    if (leaf->type == PARQUET_INT32) {
        LEAST_AND_GREATEST(int32_t);
        return;
    }
    if (leaf->type == PARQUET_INT64) {
        LEAST_AND_GREATEST(int64_t);
        return;
    }
    if (leaf->type == PARQUET_FLOAT || leaf->type == PARQUET_DOUBLE) {
        if (has_nan(leaf, values))
            statistics->unknown = true;
        else if (leaf->type == PARQUET_FLOAT)
            LEAST_AND_GREATEST(float);
        else
            LEAST_AND_GREATEST(double);
        return;
    }
    if (leaf->type == PARQUET_BOOLEAN) {
        LEAST_AND_GREATEST(uint8_t);
        return;
    }
    for (uint32_t i = 0; i < values->count && !statistics->unknown; i++) {
        size_t at = (size_t)i * leaf->width;
        statistics_add_one(statistics, leaf,
                           leaf->width == 0 ? values->views[i]
                                            : bytes_of(values->fixed + at, leaf->width));
    }
}

bool statistics_end(struct statistics *statistics, const struct parquet_leaf *leaf)
{
    if (!statistics->some || statistics->unknown)
        return false;
    if (is_zero(leaf, &statistics->min))
        statistics->min.data[statistics->min.size_bytes - 1] |= 0x80;
    if (is_zero(leaf, &statistics->max))
        statistics->max.data[statistics->max.size_bytes - 1] &= 0x7F;
    return true;
}
