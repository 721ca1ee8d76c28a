/*
 * UTF-8 (RFC 3629): lengths, decoding, validity.  Surrogates and overlong forms are invalid.
 */
#ifndef SERVER_BASE_UTF8_H
#define SERVER_BASE_UTF8_H

#include "base/bytes.h"

/* Size in bytes of the valid sequence at the start of `text`, or 0 if there is none. */
size_t utf8_sequence_size(struct bytes text);

/* Decodes the sequence at the start of `text`; *size is 0 and the result U+FFFD if invalid. */
uint32_t utf8_decode(struct bytes text, size_t *size);

/* Writes `code` as 1 to 4 bytes and returns how many. */
size_t utf8_encode(uint32_t code, uint8_t out[4]);

/* How many bytes at the start of `text` (not empty, no UTF-8 there) one U+FFFD stands for: what
 * Java replaces at once, the longest start of a sequence; 1 at least. */
size_t utf8_malformed_size(struct bytes text);

bool utf8_is_valid(struct bytes text);

/* Number of code points; an invalid byte counts as one. */
size_t utf8_length(struct bytes text);

#endif
