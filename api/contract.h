/*
 * openapi.yaml, compiled in (cmake writes contract.c from the file).
 */
#ifndef API_CONTRACT_H
#define API_CONTRACT_H

#include <stddef.h>

extern const unsigned char contract_text[];
extern const size_t contract_size;

#endif
