/*
 * Random numbers.  With a seed they are those of Spark's XORShiftRandom, so that rand(0) is the
 * same there; without one they depend on the batch's seed, the task and the place of the call.
 */
#include "base/check.h"
#include "columnar/decimal.h"
#include "expr/fn_math.h"
#include "expr/fn_support.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

struct random_options {
    bool seeded;
    uint64_t seed; /* not seeded: tells the calls of a query apart */
    double least;  /* of uniform() */
    double most;
    bool null;
    int32_t length; /* of randstr() */
};

struct generator {
    uint64_t state;
    uint64_t drawn; /* by the twister, which is made anew for each run of a kernel */
    bool started;
    bool has_gaussian;
    double gaussian;
};
_Static_assert(sizeof(struct generator) <= KERNEL_STATE_BYTES, "state of a kernel");

/* ---- the generator ---- */

static uint32_t rotate_left(uint32_t x, unsigned bits)
{
    return x << bits | x >> (32 - bits);
}

/* Scala's MurmurHash3.bytesHash of the eight bytes of a seed, highest first. */
static uint32_t hash_seed_once(uint64_t seed, uint32_t hash)
{
    for (unsigned i = 0; i < 2; i++) {
        uint32_t word = __builtin_bswap32((uint32_t)(seed >> (i == 0 ? 32 : 0)));
        word = rotate_left(word * 0xCC9E2D51U, 15) * 0x1B873593U;
        hash = rotate_left(hash ^ word, 13) * 5 + 0xE6546B64U;
    }
    hash ^= 8;
    hash = (hash ^ hash >> 16) * 0x85EBCA6BU;
    hash = (hash ^ hash >> 13) * 0xC2B2AE35U;
    return hash ^ hash >> 16;
}

static struct generator *start(const struct kernel_call *call)
{
    struct generator *generator = call->state;
    const struct random_options *options = call->expr->call.bound;
    if (generator->started)
        return generator;
    uint64_t seed = options->seed;
    if (!options->seeded)
        seed = (seed * UINT64_C(0x9E3779B97F4A7C15)) ^ call->ctx->seed;
    seed += call->ctx->partition;
    uint32_t low = hash_seed_once(seed, 0x3C074A61U);
    uint32_t high = hash_seed_once(seed, low);
    generator->state = (uint64_t)high << 32 | low;
    generator->started = true;
    return generator;
}

static uint32_t next_bits(struct generator *generator, unsigned bits)
{
    uint64_t x = generator->state;
    x ^= x << 21;
    x ^= x >> 35;
    x ^= x << 4;
    generator->state = x;
    return (uint32_t)(x & ((UINT64_C(1) << bits) - 1));
}

static double next_double(struct generator *generator)
{
    uint64_t high = next_bits(generator, 26);
    uint64_t low = next_bits(generator, 27);
    return (double)((high << 27) + low) * 0x1.0p-53;
}

/* Java's Random.nextGaussian: the polar method, two numbers at a time. */
static double next_gaussian(struct generator *generator)
{
    double x;
    double y;
    double square;
    if (generator->has_gaussian) {
        generator->has_gaussian = false;
        return generator->gaussian;
    }
    do {
        x = 2 * next_double(generator) - 1;
        y = 2 * next_double(generator) - 1;
        square = x * x + y * y;
    } while (square >= 1 || square == 0);
    double factor = sqrt(-2 * log(square) / square);
    generator->gaussian = y * factor;
    generator->has_gaussian = true;
    return x * factor;
}

/* ---- Mersenne Twister, as of shuffle() and uuid() with a seed ---- */

#define TWISTER_WORDS 624

struct twister {
    uint32_t words[TWISTER_WORDS];
    int next;
    uint64_t drawn;
};

/* Commons Math's setSeed(long): seeded by the array of its two halves. */
static void twister_start(struct twister *twister, uint64_t seed)
{
    const uint32_t key[2] = {(uint32_t)(seed >> 32), (uint32_t)seed};
    uint32_t *words = twister->words;
    words[0] = 19650218;
    for (uint32_t i = 1; i < TWISTER_WORDS; i++)
        words[i] = 1812433253U * (words[i - 1] ^ words[i - 1] >> 30) + i;
    uint32_t i = 1;
    for (uint32_t k = 0; k < TWISTER_WORDS; k++) {
        words[i] = (words[i] ^ (words[i - 1] ^ words[i - 1] >> 30) * 1664525U) + key[k % 2] + k % 2;
        if (++i == TWISTER_WORDS) {
            words[0] = words[TWISTER_WORDS - 1];
            i = 1;
        }
    }
    for (uint32_t k = 1; k < TWISTER_WORDS; k++) {
        words[i] = (words[i] ^ (words[i - 1] ^ words[i - 1] >> 30) * 1566083941U) - i;
        if (++i == TWISTER_WORDS) {
            words[0] = words[TWISTER_WORDS - 1];
            i = 1;
        }
    }
    words[0] = 0x80000000U;
    twister->next = TWISTER_WORDS;
}

static uint32_t twister_word(struct twister *twister)
{
    uint32_t *words = twister->words;
    for (int i = 0; twister->next == TWISTER_WORDS && i < TWISTER_WORDS; i++) {
        uint32_t y = (words[i] & 0x80000000U) | (words[(i + 1) % TWISTER_WORDS] & 0x7FFFFFFFU);
        words[i] = words[(i + 397) % TWISTER_WORDS] ^ y >> 1 ^ ((y & 1) != 0 ? 0x9908B0DFU : 0);
    }
    if (twister->next == TWISTER_WORDS)
        twister->next = 0;
    twister->drawn++;
    uint32_t y = words[twister->next++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9D2C5680U;
    y ^= y << 15 & 0xEFC60000U;
    return y ^ y >> 18;
}

/* In [0, count), count > 0. */
static uint32_t twister_below(struct twister *twister, uint32_t count)
{
    if ((count & (count - 1)) == 0)
        return (uint32_t)((uint64_t)count * (twister_word(twister) >> 1) >> 31);
    for (;;) {
        uint32_t bits = twister_word(twister) >> 1;
        uint32_t value = bits % count;
        if (bits - value + (count - 1) <= INT32_MAX)
            return value;
    }
}

/* ---- kernels ---- */

KERNEL(kernel_rand)
{
    struct generator *generator = start(call);
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++)
        KERNEL_OUT(double, call)[kernel_row(call, i)] = next_double(generator);
    return OK;
}

KERNEL(kernel_randn)
{
    struct generator *generator = start(call);
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++)
        KERNEL_OUT(double, call)[kernel_row(call, i)] = next_gaussian(generator);
    return OK;
}

static void set_number(const struct kernel_call *call, uint32_t row, double value)
{
    const struct type *type = call->out->type;
    switch ((int)type->id) {
    case TYPE_BYTE:
        KERNEL_OUT(int8_t, call)[row] = (int8_t)value;
        break;
    case TYPE_SHORT:
        KERNEL_OUT(int16_t, call)[row] = (int16_t)value;
        break;
    case TYPE_INT:
        KERNEL_OUT(int32_t, call)[row] = (int32_t)value;
        break;
    case TYPE_LONG:
        KERNEL_OUT(int64_t, call)[row] = (int64_t)value;
        break;
    case TYPE_FLOAT:
        KERNEL_OUT(float, call)[row] = (float)value;
        break;
    case TYPE_DECIMAL:
        KERNEL_OUT(int128, call)[row] = 0;
        (void)decimal_from_double(value, type->precision, type->scale,
                                  &KERNEL_OUT(int128, call)[row]);
        break;
    default:
        KERNEL_OUT(double, call)[row] = value;
    }
}

KERNEL(kernel_uniform)
{
    const struct random_options *options = call->expr->call.bound;
    struct generator *generator = start(call);
    for (uint32_t i = 0; i < call->selected; i++) {
        if (options->null)
            TRY(kernel_set_null(call, kernel_row(call, i), err));
        else
            set_number(call, kernel_row(call, i),
                       options->least + (options->most - options->least) * next_double(generator));
    }
    return OK;
}

KERNEL(kernel_randstr)
{
    static const char characters[] =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const struct random_options *options = call->expr->call.bound;
    struct generator *generator = start(call);
    size_t size = (size_t)options->length;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint8_t *text;
        TRY(kernel_alloc(call, size, &text, err));
        for (size_t k = 0; k < size; k++)
            text[k] = (uint8_t)characters[abs((int32_t)next_bits(generator, 32) % 62)];
        kernel_set_view(call, kernel_row(call, i), bytes_of(text, size));
    }
    return OK;
}

/* The twister of a call, where its last run left it; in the batch's arena. */
static struct twister *twister_of(const struct kernel_call *call, struct generator *generator)
{
    const struct random_options *options = call->expr->call.bound;
    struct twister *twister = arena_new_object(call->ctx->arena, sizeof *twister);
    twister_start(twister, options->seed + call->ctx->partition);
    for (uint64_t i = 0; i < generator->drawn; i++)
        (void)twister_word(twister);
    return twister;
}

static uint64_t twister_long(struct twister *twister)
{
    uint64_t high = twister_word(twister);
    return high << 32 | twister_word(twister);
}

KERNEL(kernel_uuid)
{
    static const char hex[] = "0123456789abcdef";
    struct generator *generator = start(call);
    const struct random_options *options = call->expr->call.bound;
    struct twister *twister = options->seeded ? twister_of(call, generator) : NULL;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint8_t *text;
        uint64_t halves[2] = {0, 0};
        uint32_t shown = 0;
        TRY(kernel_alloc(call, 36, &text, err));
        for (int half = 0; twister != NULL && half < 2; half++)
            halves[half] = twister_long(twister);
        for (size_t k = 0; k < 36; k++) {
            bool dash = k == 8 || k == 13 || k == 18 || k == 23;
            uint32_t digit = twister == NULL
                                 ? next_bits(generator, 32) >> 13 & 15
                                 : (uint32_t)(halves[shown / 16] >> (60 - shown % 16 * 4)) & 15;
            shown += !dash && shown < 31;
            digit = k == 14 ? 4 : k == 19 ? (digit & 3) | 8 : digit;
            text[k] = (uint8_t)(dash ? '-' : hex[digit]);
        }
        kernel_set_view(call, kernel_row(call, i), bytes_of(text, 36));
    }
    if (twister != NULL)
        generator->drawn = twister->drawn;
    return OK;
}

/* The elements stay where they are; the result is a list of picks among them. */
KERNEL(kernel_shuffle)
{
    struct generator *generator = start(call);
    const struct random_options *options = call->expr->call.bound;
    struct twister *twister = options->seeded ? twister_of(call, generator) : NULL;
    struct vector *elements = call->args[0]->children[0];
    uint32_t total = 0;
    for (uint32_t i = 0; i < call->selected; i++)
        total += KERNEL_ARG(struct list_entry, call, 0, kernel_row(call, i)).length;
    uint32_t *picks = arena_new_object(call->ctx->arena, ((size_t)total + 1) * sizeof(*picks));
    uint32_t at = 0;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry list = KERNEL_ARG(struct list_entry, call, 0, row);
        for (uint32_t k = 0; k < list.length; k++) {
            uint32_t other = twister == NULL ? (uint32_t)(next_double(generator) * (k + 1))
                                             : twister_below(twister, k + 1);
            picks[at + k] = picks[at + other];
            picks[at + other] = list.offset + k;
        }
        KERNEL_OUT(struct list_entry, call)[row] = (struct list_entry){at, list.length};
        at += list.length;
    }
    if (twister != NULL)
        generator->drawn = twister->drawn;
    return vector_gather(call->ctx->arena, elements, picks, total, &call->out->children[0], err);
}

/* ---- resolving ---- */

static enum status constant_long(struct resolve_context *ctx, struct expr *call, uint32_t index,
                                 const char *name, int64_t *out, struct error *err)
{
    struct vector *value;
    call->args[index] = coercion_cast(ctx, call->args[index], type_simple(TYPE_LONG));
    TRY(function_constant(ctx, call, index, name, &value, err));
    *out = vector_is_null(value, 0) ? 0 : VECTOR_VALUES(int64_t, value)[0];
    return OK;
}

/* Options of a call whose argument `index`, if there is one, is the seed. */
static enum status read_seed(struct resolve_context *ctx, struct expr *call, uint32_t index,
                             struct random_options **out, struct error *err)
{
    static _Atomic uint64_t calls;
    struct random_options *options = arena_new_object(ctx->arena, sizeof(*options));
    int64_t seed = 0;
    *out = options;
    options->seeded = index < call->arg_count;
    if (!options->seeded) {
        options->seed = atomic_fetch_add(&calls, 1) + 1;
        return OK;
    }
    const struct type *type = call->args[index]->type;
    const char *name = call->call.function->name;
    bool parameter = strcmp(name, "shuffle") == 0 || strcmp(name, "uuid") == 0;
    bool fits = type->id == TYPE_INT || type->id == TYPE_LONG || type->id == TYPE_VOID;
    if (parameter && (!fits || call->args[index]->kind != EXPR_LITERAL))
        return error_raise_at(err, STATUS_INVALID_PARAMETER_VALUE__LONG, call->position,
                              call->position_end, "parameter", "`seed`", "functionName",
                              strcmp(name, "uuid") == 0 ? "`UUID`" : "`shuffle`", "invalidValue",
                              function_sql(ctx->arena, call->args[index]), NULL);
    if (!fits)
        return function_wrong_type(call, index, "(\"INT\" or \"BIGINT\")", err);
    if (index == 0 && !expr_is_foldable(call->args[0]))
        return error_raise_at(err, STATUS_SEED_EXPRESSION_IS_UNFOLDABLE, call->position,
                              call->position_end, "seedExpr",
                              function_sql(ctx->arena, call->args[0]), "exprWithSeed",
                              function_sql(ctx->arena, call), NULL);
    TRY(constant_long(ctx, call, index, "seed", &seed, err));
    options->seed = (uint64_t)seed;
    return OK;
}

RESOLVER(resolve_rand)
{
    *out = call;
    struct random_options *options;
    TRY(read_seed(ctx, call, 0, &options, err));
    call->call.bound = options;
    return function_apply(ctx, call, "bigint?->double", err);
}

RESOLVER(resolve_uuid)
{
    *out = call;
    struct random_options *options;
    TRY(read_seed(ctx, call, 0, &options, err));
    call->call.bound = options;
    return function_apply(ctx, call, "bigint?->string", err);
}

static enum status bound_of(struct resolve_context *ctx, struct expr *call, uint32_t index,
                            const char *name, double *out, bool *null, struct error *err)
{
    struct vector *value;
    struct expr copy = *call;
    struct expr *number = coercion_cast(ctx, call->args[index], type_simple(TYPE_DOUBLE));
    copy.args = &number;
    if (!type_is_numeric(call->args[index]->type) && call->args[index]->type->id != TYPE_VOID)
        return function_wrong_type(call, index, "integer or floating-point", err);
    if (!expr_is_foldable(call->args[index]))
        return function_not_foldable(call, index, name, err);
    TRY(function_constant(ctx, &copy, 0, name, &value, err));
    *null = *null || vector_is_null(value, 0);
    *out = vector_is_null(value, 0) ? 0.0 : VECTOR_VALUES(double, value)[0];
    return OK;
}

RESOLVER(resolve_uniform)
{
    *out = call;
    struct random_options *options;
    bool null = false;
    TRY(read_seed(ctx, call, 2, &options, err));
    TRY(bound_of(ctx, call, 0, "min", &options->least, &null, err));
    TRY(bound_of(ctx, call, 1, "max", &options->most, &null, err));
    const struct type *type = coercion_common(ctx, call->args[0]->type, call->args[1]->type);
    if (type == NULL)
        return function_diff_types(call, err);
    options->null = null;
    call->call.bound = options;
    function_finish(call, type);
    call->nullable = null;
    return OK;
}

RESOLVER(resolve_randstr)
{
    *out = call;
    struct random_options *options;
    int64_t length;
    TRY(read_seed(ctx, call, 1, &options, err));
    if (!type_is_integral(call->args[0]->type))
        return function_wrong_type(call, 0, "(\"INT\" or \"SMALLINT\")", err);
    TRY(constant_long(ctx, call, 0, "length", &length, err));
    if (length < 0)
        return error_raise_at(err, STATUS_DATATYPE_MISMATCH__VALUE_OUT_OF_RANGE, call->position,
                              call->position_end, "sqlExpr", function_sql(ctx->arena, call),
                              "exprName", "`length`", "valueRange", "[0, 2147483647]",
                              "currentValue", arena_sprintf(ctx->arena, "%lld", (long long)length),
                              NULL);
    if (length > 1 << 20)
        return error_raise_at(err, STATUS_INVALID_PARAMETER_VALUE__LENGTH, call->position,
                              call->position_end, "parameter", "`length`", "length",
                              arena_sprintf(ctx->arena, "%lld", (long long)length), "functionName",
                              "`randstr`", NULL);
    options->length = (int32_t)length;
    call->call.bound = options;
    function_finish(call, type_simple(TYPE_STRING));
    return OK;
}

RESOLVER(resolve_shuffle)
{
    *out = call;
    struct random_options *options;
    TRY(read_seed(ctx, call, 1, &options, err));
    if (call->args[0]->type->id != TYPE_ARRAY)
        return function_wrong_type(call, 0, "\"ARRAY\"", err);
    call->call.bound = options;
    function_finish(call, call->args[0]->type);
    return OK;
}
