/*
 * The dictionary of one column chunk: the different values, as a dictionary page has them, and a
 * hash table over them.
 */
#ifndef SERVER_PARQUET_DICTIONARY_H
#define SERVER_PARQUET_DICTIONARY_H

#include "parquet/parquet_schema.h"
#include "parquet/values.h"

/* Zeroed but for the width (0: byte arrays), it is empty. */
struct dictionary {
    uint32_t width;
    uint32_t count;
    struct buffer page; /* the values in PLAIN encoding */
    struct buffer ends; /* uint32_t each: where a value of a byte array ends in the page */
    uint32_t *slots;    /* index + 1 by hash, open addressing; 0: free */
    uint32_t slot_count;
};

void dictionary_fini(struct dictionary *dictionary);
void dictionary_clear(struct dictionary *dictionary); /* keeps its memory */

/* Writes the index of each value to out[0..values->count). */
void dictionary_add(struct dictionary *dictionary, const struct values *values, uint32_t *out);

/* A value of a byte array, or the `width` bytes.  Borrowed until the dictionary changes. */
struct bytes dictionary_value(const struct dictionary *dictionary, uint32_t index);

size_t dictionary_memory(const struct dictionary *dictionary);

#endif
