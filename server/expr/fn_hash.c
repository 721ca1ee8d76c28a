/*
 * hash (Murmur3, 32 bits) and xxhash64 as Spark folds them over the arguments, and digests.
 * Spark's Murmur3 takes the last bytes of a text one by one, which is not the published variant.
 */
#include "base/check.h"
#include "expr/fn_math.h"
#include "expr/fn_support.h"

#include <openssl/evp.h>
#include <zlib.h>

#define HASH_SEED 42

/* ---- Murmur3 ---- */

static uint32_t rotate32(uint32_t x, int bits)
{
    return x << bits | x >> (32 - bits);
}

static uint32_t murmur_mix(uint32_t hash, uint32_t word)
{
    word *= 0xCC9E2D51U;
    word = rotate32(word, 15);
    word *= 0x1B873593U;
    hash ^= word;
    return rotate32(hash, 13) * 5 + 0xE6546B64U;
}

static uint32_t murmur_end(uint32_t hash, uint32_t size)
{
    hash ^= size;
    hash ^= hash >> 16;
    hash *= 0x85EBCA6BU;
    hash ^= hash >> 13;
    hash *= 0xC2B2AE35U;
    return hash ^ hash >> 16;
}

static uint64_t murmur_int(uint32_t value, uint64_t seed)
{
    return murmur_end(murmur_mix((uint32_t)seed, value), 4);
}

static uint64_t murmur_long(uint64_t value, uint64_t seed)
{
    uint32_t hash = murmur_mix((uint32_t)seed, (uint32_t)value);
    return murmur_end(murmur_mix(hash, (uint32_t)(value >> 32)), 8);
}

static uint64_t murmur_bytes(struct bytes data, uint64_t seed)
{
    uint32_t hash = (uint32_t)seed;
    size_t at = 0;
    for (; at + 4 <= data.size_bytes; at += 4) {
        uint32_t word;
        memcpy(&word, data.data + at, sizeof(word));
        hash = murmur_mix(hash, word);
    }
    for (; at < data.size_bytes; at++)
        hash = murmur_mix(hash, (uint32_t)(int32_t)(int8_t)data.data[at]);
    return murmur_end(hash, (uint32_t)data.size_bytes);
}

/* ---- xxHash64 ---- */

#define PRIME1 UINT64_C(0x9E3779B185EBCA87)
#define PRIME2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define PRIME3 UINT64_C(0x165667B19E3779F9)
#define PRIME4 UINT64_C(0x85EBCA77C2B2AE63)
#define PRIME5 UINT64_C(0x27D4EB2F165667C5)

static uint64_t rotate64(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

uint32_t text_hash_code(struct bytes text)
{
    return (uint32_t)murmur_bytes(text, 42);
}

static uint64_t xx_end(uint64_t hash)
{
    hash ^= hash >> 33;
    hash *= PRIME2;
    hash ^= hash >> 29;
    hash *= PRIME3;
    return hash ^ hash >> 32;
}

static uint64_t xx_add_long(uint64_t hash, uint64_t value)
{
    hash ^= rotate64(value * PRIME2, 31) * PRIME1;
    return rotate64(hash, 27) * PRIME1 + PRIME4;
}

static uint64_t xx_add_int(uint64_t hash, uint32_t value)
{
    hash ^= value * PRIME1;
    return rotate64(hash, 23) * PRIME2 + PRIME3;
}

static uint64_t xx_int(uint32_t value, uint64_t seed)
{
    return xx_end(xx_add_int(seed + PRIME5 + 4, value));
}

static uint64_t xx_long(uint64_t value, uint64_t seed)
{
    return xx_end(xx_add_long(seed + PRIME5 + 8, value));
}

static uint64_t load64(const uint8_t *data)
{
    uint64_t word;
    memcpy(&word, data, sizeof(word));
    return word;
}

/* The blocks of 32 bytes. */
static uint64_t xx_blocks(struct bytes data, uint64_t seed)
{
    uint64_t lanes[4] = {seed + PRIME1 + PRIME2, seed + PRIME2, seed, seed - PRIME1};
    for (size_t at = 0; at + 32 <= data.size_bytes; at += 32)
        for (size_t lane = 0; lane < 4; lane++)
            lanes[lane] =
                rotate64(lanes[lane] + load64(data.data + at + lane * 8) * PRIME2, 31) * PRIME1;
    uint64_t hash = rotate64(lanes[0], 1) + rotate64(lanes[1], 7) + rotate64(lanes[2], 12) +
                    rotate64(lanes[3], 18);
    for (size_t lane = 0; lane < 4; lane++)
        hash = (hash ^ rotate64(lanes[lane] * PRIME2, 31) * PRIME1) * PRIME1 + PRIME4;
    return hash;
}

static uint64_t xx_bytes(struct bytes data, uint64_t seed)
{
    uint64_t hash = data.size_bytes >= 32 ? xx_blocks(data, seed) : seed + PRIME5;
    size_t at = data.size_bytes / 32 * 32;
    hash += data.size_bytes;
    for (; at + 8 <= data.size_bytes; at += 8)
        hash = xx_add_long(hash, load64(data.data + at));
    if (at + 4 <= data.size_bytes) {
        uint32_t word;
        memcpy(&word, data.data + at, sizeof(word));
        hash = xx_add_int(hash, word);
        at += 4;
    }
    for (; at < data.size_bytes; at++)
        hash = rotate64(hash ^ data.data[at] * PRIME5, 11) * PRIME1;
    return xx_end(hash);
}

/* ---- over cells ---- */

struct hasher {
    uint64_t (*of_int)(uint32_t value, uint64_t seed);
    uint64_t (*of_long)(uint64_t value, uint64_t seed);
    uint64_t (*of_bytes)(struct bytes data, uint64_t seed);
};

static const struct hasher murmur = {murmur_int, murmur_long, murmur_bytes};
static const struct hasher xx = {xx_int, xx_long, xx_bytes};

/* Big-endian two's complement without redundant bytes: BigInteger.toByteArray. */
static struct bytes big_integer(int128 value, uint8_t out[16])
{
    for (int i = 15; i >= 0; i--) {
        out[i] = (uint8_t)value;
        value >>= 8;
    }
    size_t at = 0;
    while (at < 15 &&
           ((out[at] == 0 && out[at + 1] < 0x80) || (out[at] == 0xFF && out[at + 1] >= 0x80)))
        at++;
    return bytes_of(out + at, 16 - at);
}

static uint64_t hash_double(const struct hasher *hasher, double value, uint64_t seed)
{
    uint64_t bits = UINT64_C(0x7FF8000000000000);
    if (value == 0.0)
        value = 0.0;
    if (value == value)
        memcpy(&bits, &value, sizeof(bits));
    return hasher->of_long(bits, seed);
}

static uint64_t hash_float(const struct hasher *hasher, float value, uint64_t seed)
{
    uint32_t bits = 0x7FC00000U;
    if (value == 0.0F)
        value = 0.0F;
    if (value == value)
        memcpy(&bits, &value, sizeof(bits));
    return hasher->of_int(bits, seed);
}

static uint64_t hash_decimal(const struct hasher *hasher, const struct vector *vector, uint32_t at,
                             uint64_t seed)
{
    uint8_t memory[16];
    int128 value = VECTOR_VALUES(int128, vector)[at];
    if (vector->type->precision <= 18)
        return hasher->of_long((uint64_t)value, seed);
    return hasher->of_bytes(big_integer(value, memory), seed);
}

static uint64_t hash_interval(const struct hasher *hasher, struct calendar_interval interval,
                              uint64_t seed)
{
    uint64_t hash = hasher->of_long((uint64_t)interval.micros, seed);
    hash = hasher->of_int((uint32_t)interval.days, hash);
    return hasher->of_int((uint32_t)interval.months, hash);
}

static uint64_t hash_cell(const struct hasher *hasher, const struct vector *vector, uint32_t row,
                          uint64_t seed);

static uint64_t hash_nested(const struct hasher *hasher, const struct vector *vector, uint32_t at,
                            uint64_t seed)
{
    uint64_t hash = seed;
    struct list_entry list = {at, 1};
    if (vector->type->id != TYPE_STRUCT)
        list = VECTOR_VALUES(struct list_entry, vector)[at];
    for (uint32_t i = 0; i < list.length; i++)
        for (uint32_t c = 0; c < vector->child_count; c++)
            hash = hash_cell(hasher, vector->children[c], list.offset + i, hash);
    return hash;
}

static uint64_t hash_cell(const struct hasher *hasher, const struct vector *vector, uint32_t row,
                          uint64_t seed)
{
    if (vector_is_null(vector, row))
        return seed;
    uint32_t at = vector_index(vector, row);
    switch (vector->type->id) {
    case TYPE_VOID:
        return seed;
    case TYPE_BOOLEAN:
        return hasher->of_int(VECTOR_VALUES(uint8_t, vector)[at], seed);
    case TYPE_BYTE:
        return hasher->of_int((uint32_t)(int32_t)VECTOR_VALUES(int8_t, vector)[at], seed);
    case TYPE_SHORT:
        return hasher->of_int((uint32_t)(int32_t)VECTOR_VALUES(int16_t, vector)[at], seed);
    case TYPE_INT:
    case TYPE_DATE:
    case TYPE_INTERVAL_YM:
        return hasher->of_int((uint32_t)VECTOR_VALUES(int32_t, vector)[at], seed);
    case TYPE_LONG:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_TIME:
    case TYPE_INTERVAL_DT:
        return hasher->of_long((uint64_t)VECTOR_VALUES(int64_t, vector)[at], seed);
    case TYPE_FLOAT:
        return hash_float(hasher, VECTOR_VALUES(float, vector)[at], seed);
    case TYPE_DOUBLE:
        return hash_double(hasher, VECTOR_VALUES(double, vector)[at], seed);
    case TYPE_DECIMAL:
        return hash_decimal(hasher, vector, at, seed);
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_VARIANT:
        return hasher->of_bytes(VECTOR_VALUES(struct bytes, vector)[at], seed);
    case TYPE_INTERVAL:
        return hash_interval(hasher, VECTOR_VALUES(struct calendar_interval, vector)[at], seed);
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
        return hash_nested(hasher, vector, at, seed);
    }
    return seed;
}

KERNEL(kernel_hash)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        uint64_t hash = HASH_SEED;
        for (uint32_t a = 0; a < call->arg_count; a++)
            hash = hash_cell(&murmur, call->args[a], row, hash);
        KERNEL_OUT(int32_t, call)[row] = (int32_t)(uint32_t)hash;
    }
    return OK;
}

KERNEL(kernel_xxhash64)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        uint64_t hash = HASH_SEED;
        for (uint32_t a = 0; a < call->arg_count; a++)
            hash = hash_cell(&xx, call->args[a], row, hash);
        KERNEL_OUT(int64_t, call)[row] = (int64_t)hash;
    }
    return OK;
}

static bool holds(const struct type *type, enum type_id id)
{
    if (type->id == id)
        return true;
    if (type->id == TYPE_ARRAY)
        return holds(type->element, id);
    if (type->id == TYPE_MAP)
        return holds(type->key, id) || holds(type->element, id);
    for (uint32_t i = 0; i < type->field_count; i++)
        if (holds(type->fields[i].type, id))
            return true;
    return false;
}

RESOLVER(resolve_hash)
{
    (void)ctx;
    *out = call;
    bool wide = strcmp(call->call.function->name, "xxhash64") == 0;
    if (call->arg_count == 0)
        return function_wrong_count(call, "> 0", err);
    bool map = false, variant = false;
    for (uint32_t i = 0; i < call->arg_count; i++) {
        map = map || holds(call->args[i]->type, TYPE_MAP);
        variant = variant || holds(call->args[i]->type, TYPE_VARIANT);
    }
    if (map || variant) {
        struct arena *arena = arena_new("message", 0);
        enum status status =
            error_raise_at(err,
                           map ? STATUS_DATATYPE_MISMATCH__HASH_MAP_TYPE
                               : STATUS_DATATYPE_MISMATCH__HASH_VARIANT_TYPE,
                           call->position, call->position_end, "sqlExpr", function_sql(arena, call),
                           "functionName", wide ? "`xxhash64`" : "`hash`", NULL);
        arena_free(arena);
        return status;
    }
    function_finish(call, type_simple(wide ? TYPE_LONG : TYPE_INT));
    return OK;
}

/* ---- digests ---- */

KERNEL(kernel_crc32)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes data = kernel_text(call, 0, row);
        KERNEL_OUT(int64_t, call)
        [row] = (int64_t)crc32_z(crc32_z(0, NULL, 0), data.data, data.size_bytes);
    }
    return OK;
}

static enum status set_digest(const struct kernel_call *call, uint32_t row, const EVP_MD *algorithm,
                              struct error *err)
{
    static const char digits[] = "0123456789abcdef";
    struct bytes data = kernel_text(call, 0, row);
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (EVP_Digest(data.data, data.size_bytes, digest, &size, algorithm, NULL) != 1)
        return error_raise(err, STATUS_INTERNAL_ERROR, "message", "A digest cannot be computed",
                           NULL);
    uint8_t *text;
    TRY(kernel_alloc(call, (size_t)size * 2, &text, err));
    for (size_t i = 0; i < size; i++) {
        text[2 * i] = (uint8_t)digits[digest[i] >> 4];
        text[2 * i + 1] = (uint8_t)digits[digest[i] & 15];
    }
    kernel_set_view(call, row, bytes_of(text, (size_t)size * 2));
    return OK;
}

static enum status cell_kernel_md5(const struct kernel_call *call, uint32_t row, struct error *err)
{
    return set_digest(call, row, EVP_md5(), err);
}

static enum status cell_kernel_sha1(const struct kernel_call *call, uint32_t row, struct error *err)
{
    return set_digest(call, row, EVP_sha1(), err);
}

static enum status cell_kernel_sha2(const struct kernel_call *call, uint32_t row, struct error *err)
{
    switch (kernel_int(call, 1, row)) {
    case 224:
        return set_digest(call, row, EVP_sha224(), err);
    case 0:
    case 256:
        return set_digest(call, row, EVP_sha256(), err);
    case 384:
        return set_digest(call, row, EVP_sha384(), err);
    case 512:
        return set_digest(call, row, EVP_sha512(), err);
    default:
        return kernel_set_null(call, row, err);
    }
}

KERNEL_EACH(kernel_md5)
KERNEL_EACH(kernel_sha1)
KERNEL_EACH(kernel_sha2)
