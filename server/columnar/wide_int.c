#include "columnar/wide_int.h"

#include "base/check.h"

static void trim(struct wide_int *value)
{
    while (value->size > 0 && value->limbs[value->size - 1] == 0)
        value->size--;
}

struct wide_int wide_of(uint128 value)
{
    struct wide_int wide = {.size = 0};
    for (; value != 0; value >>= 32)
        wide.limbs[wide.size++] = (uint32_t)value;
    return wide;
}

bool wide_to(const struct wide_int *value, uint128 *out)
{
    if (value->size > 4)
        return false;
    uint128 result = 0;
    for (int i = value->size - 1; i >= 0; i--)
        result = result << 32 | value->limbs[i];
    *out = result;
    return true;
}

int wide_compare(const struct wide_int *a, const struct wide_int *b)
{
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    for (int i = a->size - 1; i >= 0; i--)
        if (a->limbs[i] != b->limbs[i])
            return a->limbs[i] < b->limbs[i] ? -1 : 1;
    return 0;
}

void wide_add(struct wide_int *a, const struct wide_int *b)
{
    uint64_t carry = 0;
    int size = a->size > b->size ? a->size : b->size;
    CHECK(size < WIDE_LIMBS_MAX);
    for (int i = 0; i < size; i++) {
        carry += i < a->size ? a->limbs[i] : 0;
        carry += i < b->size ? b->limbs[i] : 0;
        a->limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
    a->limbs[size] = (uint32_t)carry;
    a->size = size + 1;
    trim(a);
}

void wide_subtract(struct wide_int *a, const struct wide_int *b)
{
    CHECK(wide_compare(a, b) >= 0);
    int64_t borrow = 0;
    for (int i = 0; i < a->size; i++) {
        int64_t limb = (int64_t)a->limbs[i] - (i < b->size ? (int64_t)b->limbs[i] : 0) + borrow;
        a->limbs[i] = (uint32_t)limb;
        borrow = limb < 0 ? -1 : 0;
    }
    trim(a);
}

struct wide_int wide_multiply(const struct wide_int *a, const struct wide_int *b)
{
    struct wide_int product = {.size = a->size + b->size};
    CHECK(product.size <= WIDE_LIMBS_MAX);
    for (int i = 0; i < a->size; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < b->size; j++) {
            carry += (uint64_t)a->limbs[i] * b->limbs[j] + product.limbs[i + j];
            product.limbs[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        product.limbs[i + b->size] = (uint32_t)carry;
    }
    trim(&product);
    return product;
}

static void multiply_small(struct wide_int *value, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < value->size; i++) {
        carry += (uint64_t)value->limbs[i] * factor;
        value->limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) {
        CHECK(value->size < WIDE_LIMBS_MAX);
        value->limbs[value->size++] = (uint32_t)carry;
    }
}

void wide_multiply_power10(struct wide_int *value, int exponent)
{
    for (; exponent >= 9; exponent -= 9)
        multiply_small(value, 1000000000);
    for (; exponent > 0; exponent--)
        multiply_small(value, 10);
}

static void shift_left(struct wide_int *value, int bits)
{
    uint32_t carry = 0;
    CHECK(value->size < WIDE_LIMBS_MAX);
    for (int i = 0; i < value->size; i++) {
        uint64_t limb = (uint64_t)value->limbs[i] << bits | carry;
        value->limbs[i] = (uint32_t)limb;
        carry = (uint32_t)(limb >> 32);
    }
    value->limbs[value->size++] = carry; /* may be a leading zero: the caller wants it */
}

static void shift_right(struct wide_int *value, int bits)
{
    for (int i = 0; i < value->size; i++) {
        uint64_t high = i + 1 < value->size ? value->limbs[i + 1] : 0;
        value->limbs[i] = (uint32_t)((high << 32 | value->limbs[i]) >> bits);
    }
    trim(value);
}

static uint32_t divide_small(struct wide_int *value, uint32_t divisor)
{
    uint64_t rest = 0;
    for (int i = value->size - 1; i >= 0; i--) {
        rest = rest << 32 | value->limbs[i];
        value->limbs[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    trim(value);
    return (uint32_t)rest;
}

/* One digit of Knuth's algorithm D: rest[at..at+n] is reduced by the returned multiple. */
static uint32_t quotient_digit(uint32_t *rest, const uint32_t *divisor, int n)
{
    uint64_t top = (uint64_t)rest[n] << 32 | rest[n - 1];
    uint64_t digit = top / divisor[n - 1];
    uint64_t left = top % divisor[n - 1];
    while (digit > UINT32_MAX || digit * divisor[n - 2] > (left << 32 | rest[n - 2])) {
        digit--;
        left += divisor[n - 1];
        if (left > UINT32_MAX)
            break;
    }
    int64_t borrow = 0;
    uint64_t carry = 0;
    for (int i = 0; i < n; i++) {
        carry += digit * divisor[i];
        int64_t limb = (int64_t)rest[i] - (int64_t)(uint32_t)carry + borrow;
        rest[i] = (uint32_t)limb;
        borrow = limb < 0 ? -1 : 0;
        carry >>= 32;
    }
    int64_t limb = (int64_t)rest[n] - (int64_t)carry + borrow;
    rest[n] = (uint32_t)limb;
    if (limb >= 0)
        return (uint32_t)digit;
    carry = 0; /* one too many: add the divisor back */
    for (int i = 0; i < n; i++) {
        carry += (uint64_t)rest[i] + divisor[i];
        rest[i] = (uint32_t)carry;
        carry >>= 32;
    }
    rest[n] += (uint32_t)carry;
    return (uint32_t)digit - 1;
}

struct wide_int wide_divide(struct wide_int *value, const struct wide_int *divisor)
{
    CHECK(divisor->size > 0);
    if (wide_compare(value, divisor) < 0) {
        struct wide_int rest = *value;
        value->size = 0;
        return rest;
    }
    if (divisor->size == 1)
        return wide_of(divide_small(value, divisor->limbs[0]));
    int n = divisor->size;
    int bits = __builtin_clz(divisor->limbs[n - 1]);
    struct wide_int scaled = *divisor;
    struct wide_int rest = *value;
    shift_left(&scaled, bits);
    shift_left(&rest, bits);
    struct wide_int quotient = {.size = rest.size - n};
    for (int at = rest.size - n - 1; at >= 0; at--)
        quotient.limbs[at] = quotient_digit(rest.limbs + at, scaled.limbs, n);
    trim(&quotient);
    trim(&rest);
    shift_right(&rest, bits);
    *value = quotient;
    return rest;
}
