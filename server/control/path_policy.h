/*
 * Which paths queries of this server may read and write: those below the allowed roots, symbolic
 * links followed.  Immutable.  Threads: any.
 */
#ifndef SERVER_CONTROL_PATH_POLICY_H
#define SERVER_CONTROL_PATH_POLICY_H

#include "config/config.h"
#include "spec/diagnostics.h"
#include "spec/query_spec.h"

struct path_policy;

/* The roots of allowPath; none: everything while listening on loopback, else the data directory. */
struct path_policy *path_policy_new(const struct config *config);
void path_policy_free(struct path_policy *policy); /* NULL is fine */
/* Relative paths count from the working directory of the caller.  Otherwise query_check_paths()
 * refuses them: a server may be started again elsewhere. */
void path_policy_allow_relative(struct path_policy *policy);
bool path_policy_relative(const struct path_policy *policy);

/* True for "127.0.0.0/8:port", "[::1]:port" and "localhost:port". */
bool listen_is_loopback(const char *listen);

/* Errors: PATH_NOT_ALLOWED. */
MUST_USE enum status path_policy_check(const struct path_policy *policy, const char *path,
                                       struct error *err);
/* Every path of the spec: the options of sources, tables and sink, and the checkpoint. */
MUST_USE enum status path_policy_check_spec(const struct path_policy *policy,
                                            const struct query_spec *spec,
                                            struct diagnostics *diagnostics, struct error *err);

/* The directory of the server's own that the path is, or lies in: the data directory itself, or
 * below it the records of queries and the checkpoints.  NULL: none. */
const char *path_policy_own(const struct path_policy *policy, struct arena *arena,
                            const char *path);

/* The path with links of its existing part followed: realpath of the longest prefix that exists,
 * and the rest by text. */
char *path_policy_resolve(struct arena *arena, const char *path);

#endif
