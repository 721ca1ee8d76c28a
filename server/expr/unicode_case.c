#include "expr/unicode_case.h"

#include "base/utf8.h"

enum mapping {
    MAP_UPPER,
    MAP_LOWER,
    MAP_TITLE,
};

static const uint32_t *find_triple(const struct unicode_triple *table, size_t count, uint32_t code)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (table[middle].code == code)
            return table[middle].mapped;
        if (table[middle].code < code)
            low = middle + 1;
        else
            count = middle;
    }
    return NULL;
}

static uint32_t find_pair(const struct unicode_pair *table, size_t count, uint32_t code)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (table[middle].code == code)
            return table[middle].mapped;
        if (table[middle].code < code)
            low = middle + 1;
        else
            count = middle;
    }
    return code;
}

static void add_code(struct buffer *out, uint32_t code)
{
    uint8_t *at = buffer_reserve(out, 4);
    out->size_bytes += utf8_encode(code, at);
}

static void add_mapped(struct buffer *out, uint32_t code, enum mapping mapping)
{
    const uint32_t *triple = NULL;
    if (mapping == MAP_TITLE)
        triple = find_triple(unicode_title_triples, unicode_title_triples_count, code);
    if (triple == NULL && mapping == MAP_LOWER)
        triple = find_triple(unicode_lower_triples, unicode_lower_triples_count, code);
    else if (triple == NULL)
        triple = find_triple(unicode_upper_triples, unicode_upper_triples_count, code);
    if (triple != NULL) {
        for (int i = 0; i < 3 && triple[i] != 0; i++)
            add_code(out, triple[i]);
        return;
    }
    add_code(out, mapping == MAP_LOWER
                      ? find_pair(unicode_lower_pairs, unicode_lower_pairs_count, code)
                      : find_pair(unicode_upper_pairs, unicode_upper_pairs_count, code));
}

static bool has_lower(uint32_t code)
{
    return find_pair(unicode_lower_pairs, unicode_lower_pairs_count, code) != code ||
           find_triple(unicode_lower_triples, unicode_lower_triples_count, code) != NULL;
}

static bool has_upper(uint32_t code)
{
    return find_pair(unicode_upper_pairs, unicode_upper_pairs_count, code) != code ||
           find_triple(unicode_upper_triples, unicode_upper_triples_count, code) != NULL;
}

bool unicode_is_upper(uint32_t code)
{
    return has_lower(code) && !has_upper(code);
}

bool unicode_is_lower(uint32_t code)
{
    return has_upper(code) && !has_lower(code);
}

static bool is_cased(uint32_t code)
{
    if (code < 0x80)
        return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
    return has_lower(code) || has_upper(code);
}

#define CAPITAL_SIGMA 0x3A3
#define FINAL_SIGMA   0x3C2

/* A sigma is final behind a letter and before none. */
static uint32_t lower_sigma(struct bytes rest, bool behind_letter)
{
    size_t size;
    bool before_letter = rest.size_bytes > 0 && is_cased(utf8_decode(rest, &size));
    return behind_letter && !before_letter ? FINAL_SIGMA : CAPITAL_SIGMA + 0x20;
}

static uint8_t ascii_mapped(uint8_t byte, enum mapping mapping)
{
    if (mapping == MAP_LOWER)
        return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte + 32) : byte;
    return byte >= 'a' && byte <= 'z' ? (uint8_t)(byte - 32) : byte;
}

static void add_text(struct buffer *out, struct bytes text, enum mapping rest, bool words)
{
    bool start = words;
    bool behind_letter = false;
    while (text.size_bytes > 0) {
        enum mapping mapping = start ? MAP_TITLE : rest;
        size_t size = 1;
        start = words && *text.data == ' ';
        if (*text.data < 0x80) {
            buffer_add_byte(out, ascii_mapped(*text.data, mapping));
            behind_letter = is_cased(*text.data);
        } else {
            uint32_t code = utf8_decode(text, &size);
            if (size == 0) {
                size = 1;
                buffer_add_byte(out, *text.data);
            } else if (code == CAPITAL_SIGMA && mapping == MAP_LOWER) {
                add_code(out, lower_sigma(bytes_of(text.data + size, text.size_bytes - size),
                                          behind_letter));
            } else {
                add_mapped(out, code, mapping);
            }
            behind_letter = is_cased(code);
        }
        text = bytes_of(text.data + size, text.size_bytes - size);
    }
}

void unicode_add_upper(struct buffer *out, struct bytes text)
{
    add_text(out, text, MAP_UPPER, false);
}

void unicode_add_lower(struct buffer *out, struct bytes text)
{
    add_text(out, text, MAP_LOWER, false);
}

void unicode_add_title_words(struct buffer *out, struct bytes text)
{
    add_text(out, text, MAP_LOWER, true);
}
