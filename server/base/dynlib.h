/*
 * Shared libraries that are loaded on first use, so that a process that does not need one does not
 * pay for its pages.
 *
 *     static const struct dynlib_symbol symbols[] = {{"curl_easy_init", &curl.easy_init}, ...};
 *     TRY(dynlib_load("libcurl.so.4", symbols, COUNT, err));
 *
 * A library stays loaded until the process ends.  Threads: any.
 */
#ifndef SERVER_BASE_DYNLIB_H
#define SERVER_BASE_DYNLIB_H

#include "base/error.h"

struct dynlib_symbol {
    const char *name;
    void *address; /* of a function pointer variable, which is filled */
};

/* Loads `soname` and fills every symbol; nothing is filled on error.  Errors: LIBRARY_MISSING. */
MUST_USE enum status dynlib_load(const char *soname, const struct dynlib_symbol *symbols,
                                 size_t count, struct error *err);

#endif
