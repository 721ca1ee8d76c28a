/* Cells to values: see values.h. */
#include "parquet/values.h"

#include "base/check.h"
#include "columnar/civil.h"
#include "columnar/variant.h"

#define US_PER_DAY          INT64_C(86400000000)
#define JULIAN_DAY_OF_EPOCH 2440588
#define LOOP(type_, to_, ...)                                                                      \
    for (uint32_t i = 0; i < count; i++) {                                                         \
        type_ cell = ((const type_ *)vector->values)[cells[i]];                                    \
        to_ value = __VA_ARGS__;                                                                   \
        memcpy(fixed + i * sizeof value, &value, sizeof value);                                    \
    }

/* Nanoseconds of the day, then the Julian day. */
static void put_int96(uint8_t *at, int64_t us)
{
    int64_t days = civil_floor_div(us, US_PER_DAY);
    int64_t nanos = civil_floor_mod(us, US_PER_DAY) * 1000;
    int32_t julian = (int32_t)(days + JULIAN_DAY_OF_EPOCH);
    memcpy(at, &nanos, sizeof nanos);
    memcpy(at + sizeof nanos, &julian, sizeof julian);
}

static void put_decimal(uint8_t *at, int128 value, uint32_t width)
{
    for (uint32_t i = width; i-- > 0; value >>= 8)
        at[i] = (uint8_t)value;
}

static void gather_wide(uint8_t *fixed, const struct parquet_leaf *leaf,
                        const struct vector *vector, const uint32_t *cells, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (leaf->form == FORM_INT96)
            put_int96(fixed + (size_t)i * 12, VECTOR_VALUES(int64_t, vector)[cells[i]]);
        else
            put_decimal(fixed + (size_t)i * leaf->width, VECTOR_VALUES(int128, vector)[cells[i]],
                        leaf->width);
    }
}

static void gather_variants(struct bytes *views, const struct parquet_leaf *leaf,
                            const struct vector *vector, const uint32_t *cells, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct variant variant = variant_of_cell(VECTOR_VALUES(struct bytes, vector)[cells[i]]);
        views[i] = leaf->form == FORM_VARIANT_VALUE ? variant.value : variant.metadata;
    }
}

void values_gather(struct values *out, const struct parquet_leaf *leaf, const struct vector *vector,
                   const uint32_t *cells, uint32_t count)
{
    CHECK(count <= VALUES_PIECE);
    out->count = count;
    uint8_t *fixed = out->fixed;
    switch (leaf->form) {
    case FORM_VOID:
        break;
    case FORM_BOOLEAN:
        LOOP(uint8_t, uint8_t, cell)
        break;
    case FORM_INT8:
        LOOP(int8_t, int32_t, cell)
        break;
    case FORM_INT16:
        LOOP(int16_t, int32_t, cell)
        break;
    case FORM_COPY4:
        LOOP(uint32_t, uint32_t, cell)
        break;
    case FORM_COPY8:
        LOOP(uint64_t, uint64_t, cell)
        break;
    case FORM_MILLIS:
        LOOP(int64_t, int64_t, civil_floor_div(cell, 1000))
        break;
    case FORM_MICROS:
        LOOP(int64_t, int64_t, cell / 1000)
        break;
    case FORM_DECIMAL4:
        LOOP(int128, int32_t, (int32_t)cell)
        break;
    case FORM_DECIMAL8:
        LOOP(int128, int64_t, (int64_t)cell)
        break;
    case FORM_INT96:
    case FORM_DECIMAL:
        gather_wide(fixed, leaf, vector, cells, count);
        break;
    case FORM_BYTES:
        for (uint32_t i = 0; i < count; i++)
            out->views[i] = VECTOR_VALUES(struct bytes, vector)[cells[i]];
        break;
    case FORM_VARIANT_METADATA:
    case FORM_VARIANT_VALUE:
        gather_variants(out->views, leaf, vector, cells, count);
        break;
    }
}
