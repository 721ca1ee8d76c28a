/*
 * The conditions If-Match and If-None-Match (RFC 9110, 13.1): lists of entity tags against the tag
 * of what is there.  Pure functions.  Threads: any.
 */
#ifndef SERVER_CONTROL_ETAG_H
#define SERVER_CONTROL_ETAG_H

#include <stdbool.h>

enum etag_comparison {
    ETAG_STRONG, /* If-Match: a weak tag equals nothing */
    ETAG_WEAK,   /* If-None-Match: W/ or not */
};

/* Whether the list is "*": whatever is there. */
bool etag_list_is_any(const char *list);
/* Whether `etag` (without quotes, a strong one) is in the list, or the list is "*".  A tag without
 * quotes, as people write it, is one up to the next comma or blank. */
bool etag_list_has(const char *list, const char *etag, enum etag_comparison comparison);

#endif
