/*
 * Idempotency-Key: a POST that comes again with its key gets the answer of the first one.
 *
 * Answers below 500 other than 408 (the next try may find it done) are remembered for `keep_us`,
 * at most IDEMPOTENCY_MAX and about IDEMPOTENCY_BYTES_MAX of them (the oldest goes first).  A key
 * belongs to one method, path and body.
 *
 * Threads: any.
 */
#ifndef API_HTTP_IDEMPOTENCY_H
#define API_HTTP_IDEMPOTENCY_H

#include "api/http/request.h"

#define IDEMPOTENCY_MAX       4096
#define IDEMPOTENCY_KEY_MAX   128
#define IDEMPOTENCY_BODY_MAX  (256U << 10) /* a larger answer is not remembered */
#define IDEMPOTENCY_BYTES_MAX ((size_t)16 << 20)

struct idempotency;

struct idempotency *idempotency_new(int64_t keep_us);
void idempotency_free(struct idempotency *idempotency); /* NULL is fine */

/*
 * Looks the request's key up.  *replayed: the response is filled.  Otherwise the key is now in
 * progress and idempotency_finish() must follow.
 * Errors: IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_KEY_IN_PROGRESS, INVALID_HEADER.
 */
MUST_USE enum status idempotency_begin(struct idempotency *idempotency, struct request *request,
                                       struct response *response, bool *replayed,
                                       struct error *err);
/* Remembers the answer, or forgets the key if it is not worth it (response NULL, status 500+). */
void idempotency_finish(struct idempotency *idempotency, struct request *request,
                        const struct response *response);

#endif
