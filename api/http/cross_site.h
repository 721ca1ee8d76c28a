/*
 * Requests that a web page of somebody else makes with the browser of somebody who may reach this
 * server: a server without tokens has nothing else to tell them by.
 *
 *   Origin        has to be the server's own address, as in Host
 *   Host          of a server on loopback has to be a loopback name: a name that an attacker lets
 *                 point at 127.0.0.1 (DNS rebinding) is none
 *   Content-Type  of a body has to be JSON: what a form can send without being asked (no type,
 *                 text/plain, form types) is refused
 *
 * Threads: any.
 */
#ifndef API_HTTP_CROSS_SITE_H
#define API_HTTP_CROSS_SITE_H

#include "base/error.h"

/* `is_loopback`: the server listens there (a Unix socket is none).  Errors: CROSS_SITE_REQUEST. */
MUST_USE enum status cross_site_check(const char *host, const char *origin, bool is_loopback,
                                      struct error *err);
/* Whether a browser sends a body of this type without asking the server first. */
bool cross_site_type(const char *content_type);

#endif
