/*
 * Unsigned integers of up to 512 bits: what decimal arithmetic needs between two 128-bit operands
 * and a 128-bit result.  A value on the stack, limbs from low to high, no leading zero limbs.
 */
#ifndef SERVER_COLUMNAR_WIDE_INT_H
#define SERVER_COLUMNAR_WIDE_INT_H

#include <stdbool.h>
#include <stdint.h>

#define WIDE_LIMBS_MAX 16

__extension__ typedef unsigned __int128 uint128;

struct wide_int {
    uint32_t limbs[WIDE_LIMBS_MAX];
    int size; /* limbs in use; 0 for the number 0 */
};

struct wide_int wide_of(uint128 value);
/* False: more than 128 bits. */
bool wide_to(const struct wide_int *value, uint128 *out);

int wide_compare(const struct wide_int *a, const struct wide_int *b);
/* Results fit by the callers' bounds (CHECKed). */
void wide_add(struct wide_int *a, const struct wide_int *b);
void wide_subtract(struct wide_int *a, const struct wide_int *b); /* a >= b */
struct wide_int wide_multiply(const struct wide_int *a, const struct wide_int *b);
void wide_multiply_power10(struct wide_int *value, int exponent);

/* Divides by `divisor` > 0: value becomes the quotient; result: the remainder. */
struct wide_int wide_divide(struct wide_int *value, const struct wide_int *divisor);

#endif
