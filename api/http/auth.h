/*
 * Bearer tokens.  A token file holds one token per line and its scopes: "TOKEN read,operate".
 * Only SHA-256 hashes of the tokens are kept.  Without a file everybody may do everything, which
 * api_open allows on loopback only.
 *
 * Threads: any, after auth_open.
 */
#ifndef API_HTTP_AUTH_H
#define API_HTTP_AUTH_H

#include "api/http/router.h"

struct auth;

/* `path` empty: no authentication.  Errors: FILE_NOT_FOUND, IO_FAILURE, INVALID_SETTING,
 * LIBRARY_MISSING. */
MUST_USE enum status auth_open(const char *path, struct auth **out, struct error *err);
void auth_close(struct auth *auth); /* NULL is fine */
bool auth_is_open_to_all(const struct auth *auth);

/* Errors: AUTHENTICATION_REQUIRED, ACCESS_DENIED. */
MUST_USE enum status auth_check(const struct auth *auth, const char *authorization,
                                enum scope scope, struct error *err);

#endif
