/*
 * UUIDs, version 4.  Threads: any; uuid_seed is for tests, before the threads start.
 */
#ifndef SERVER_BASE_UUID_H
#define SERVER_BASE_UUID_H

#include "base/bytes.h"

#define UUID_TEXT_SIZE 37 /* 36 characters and NUL */

struct uuid {
    uint8_t byte[16];
};

struct uuid uuid_random(void);
void uuid_format(struct uuid uuid, char out[UUID_TEXT_SIZE]);
/* 8-4-4-4-12 hexadecimal digits of either case; false otherwise. */
bool uuid_parse(struct bytes text, struct uuid *out);
void uuid_random_text(char out[UUID_TEXT_SIZE]);

/* Random bytes from the system (or from the seed). */
void random_bytes(void *out, size_t size_bytes);

/* From now on the sequence follows from the seed; 0: back to the system. */
void uuid_seed(uint64_t seed);

#endif
