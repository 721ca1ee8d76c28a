/*
 * Unicode case mappings, full ones (one code point may become three), independent of any locale.
 */
#ifndef SERVER_EXPR_UNICODE_CASE_H
#define SERVER_EXPR_UNICODE_CASE_H

#include "base/buffer.h"

struct unicode_pair {
    uint32_t code;
    uint32_t mapped;
};

struct unicode_triple {
    uint32_t code;
    uint32_t mapped[3]; /* 0 ends it */
};

extern const struct unicode_pair unicode_upper_pairs[];
extern const size_t unicode_upper_pairs_count;
extern const struct unicode_triple unicode_upper_triples[];
extern const size_t unicode_upper_triples_count;
extern const struct unicode_pair unicode_lower_pairs[];
extern const size_t unicode_lower_pairs_count;
extern const struct unicode_triple unicode_lower_triples[];
extern const size_t unicode_lower_triples_count;
extern const struct unicode_triple unicode_title_triples[]; /* where title and upper differ */
extern const size_t unicode_title_triples_count;

/* Append the text in the other case; invalid bytes are kept. */
void unicode_add_upper(struct buffer *out, struct bytes text);
void unicode_add_lower(struct buffer *out, struct bytes text);
/* The first letter behind each blank (and the first of all) in title case, the others lower. */
void unicode_add_title_words(struct buffer *out, struct bytes text);

/* Letters that have a mapping to the other case, and only to it: those in title case have both. */
bool unicode_is_upper(uint32_t code);
bool unicode_is_lower(uint32_t code);

#endif
