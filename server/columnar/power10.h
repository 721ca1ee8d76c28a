/*
 * Powers of ten in binary: 10^e = (high:low) * 2^x, high's top bit set, the rest cut off.  One
 * table serves reading doubles (Eisel and Lemire's algorithm) and printing them (Schubfach).
 */
#ifndef SERVER_COLUMNAR_POWER10_H
#define SERVER_COLUMNAR_POWER10_H

#include <stdint.h>

#define POWER10_MIN (-342)
#define POWER10_MAX 324

struct power10 {
    uint64_t high;
    uint64_t low;
};

extern const struct power10 power10_table[POWER10_MAX - POWER10_MIN + 1];

static inline struct power10 power10_of(int exponent)
{
    return power10_table[exponent - POWER10_MIN];
}

#endif
