/*
 * What names in FROM mean.  See catalog.c.
 */
#ifndef SERVER_ANALYZE_CATALOG_H
#define SERVER_ANALYZE_CATALOG_H

#include "analyze/analyzer.h"

/* A delay of a watermark ("10 seconds"; months count 31 days) in microseconds.
 * Errors: CANNOT_PARSE_INTERVAL, INVALID_DURATION. */
MUST_USE enum status catalog_delay(const char *text, struct arena *arena, int64_t *out,
                                   struct error *err);

#endif
