/*
 * Paths and file name patterns, as users of Hadoop-style options expect them.  Text only: nothing
 * here looks at a file.  Results are in the caller's arena.  Threads: any.
 */
#ifndef SERVER_BASE_PATH_H
#define SERVER_BASE_PATH_H

#include "base/arena.h"
#include "base/buffer.h"

/* dir + "/" + name without doubling the slash; name alone if dir is "" . */
char *path_join(struct arena *arena, const char *dir, const char *name);
/* "/a/b" -> "/a"; "/a" -> "/"; "a" -> ".". */
char *path_dirname(struct arena *arena, const char *path);
/* "/a/b" -> "b"; borrowed from path. */
const char *path_basename(const char *path);
/* Removes doubled and trailing slashes, "." components, and resolves ".." by text. */
char *path_normalize(struct arena *arena, const char *path);
/* True if path is dir or lies below it; both normalized. */
bool path_is_below(const char *path, const char *dir);

/* "file:/a", "file:///a" and "file://localhost/a" -> "/a", percent-escapes kept as they are;
 * anything else as it stands.  Borrowed from path. */
const char *path_strip_file_scheme(const char *path);
/* "s3a://b/k" -> 3; 0 if there is no scheme. */
size_t path_scheme_length(const char *path);

/* The normalized path without a file scheme; a relative one counts from the working directory. */
char *path_absolute(struct arena *arena, const char *path);

/* "file:///a/b%20c": how input_file_name(), _metadata and _spark_metadata write a local path.  As
 * in Java, letters that are not ASCII stand as they are; bytes that are no UTF-8 are escaped. */
void path_add_uri(struct buffer *out, const char *path);
char *path_to_uri(struct arena *arena, const char *path);

/*
 * Hadoop's glob: '*', '?', '[abc]', '[a-z]', '[^a]', '{x,y}' (nested), '\' quotes.  A pattern is
 * matched against one path component; '*' does not match '/'.
 */
bool glob_has_magic(const char *pattern);
/* False also for a pattern that is malformed; use glob_check first. */
bool glob_matches(const char *pattern, const char *name);
/* Errors: INVALID_GLOB. */
MUST_USE enum status glob_check(const char *pattern, struct error *err);
/* Expands '{a,b}' groups that contain a '/', giving patterns whose components can be matched one
 * by one.  Errors: INVALID_GLOB, LIMIT_EXCEEDED. */
MUST_USE enum status glob_expand(struct arena *arena, const char *pattern, char ***out,
                                 size_t *count, struct error *err);

/* Percent-encodes every byte that is not unreserved (letters, digits, -._~) or in `keep`. */
void percent_encode(struct buffer *out, struct bytes text, const char *keep);
/* Decodes %XX; a '%' without two digits is kept.  Appends to out. */
void percent_decode(struct buffer *out, struct bytes text);

#endif
