/*
 * The seven charsets that Spark reads and writes, to UTF-8 and back.  UTF-8 itself is checked, not
 * converted.  Threads: any.
 */
#ifndef SERVER_FORMAT_CHARSET_H
#define SERVER_FORMAT_CHARSET_H

#include "base/buffer.h"

enum charset {
    CHARSET_UTF8,
    CHARSET_LATIN1,
    CHARSET_ASCII,
    CHARSET_UTF16, /* a byte order mark decides; without one big endian */
    CHARSET_UTF16BE,
    CHARSET_UTF16LE,
    CHARSET_UTF32,   /* as UTF-16 */
    CHARSET_UTF32LE, /* only guessed, has no name */
};

/* False if the name (any case) is none of the seven. */
bool charset_find(const char *name, enum charset *out);

/*
 * Appends `text` as UTF-8; what is malformed becomes U+FFFD.  Result: false if anything was.
 * `at_start` says that `text` begins the file, where UTF-16 and UTF-32 look for their mark.
 */
bool charset_decode(enum charset charset, struct bytes text, bool at_start, struct buffer *out);

/* Appends UTF-8 `text` in the charset; what it lacks becomes '?'.  No byte order mark. */
void charset_encode(enum charset charset, struct bytes text, struct buffer *out);

/* What an encoded file begins with: the mark of UTF-16, nothing for the others. */
struct bytes charset_mark(enum charset charset);

/* Guesses from the first bytes of a JSON text, as RFC 4627 allows: UTF-8, UTF-16 or UTF-32 in
 * either order; *mark_size is the size of the byte order mark, which is to be skipped. */
enum charset charset_guess_json(struct bytes head, size_t *mark_size);

#endif
