/*
 * CRC-32C (Castagnoli), with the processor's instruction where it has one.  Threads: any.
 */
#ifndef SERVER_BASE_CRC32C_H
#define SERVER_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of `data` after `crc`: start with 0; pieces may follow each other. */
uint32_t crc32c(uint32_t crc, const void *data, size_t size_bytes);

/* The table version, for tests of the other one. */
uint32_t crc32c_portable(uint32_t crc, const void *data, size_t size_bytes);

#endif
