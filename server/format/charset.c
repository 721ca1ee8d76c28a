/* Charsets: see charset.h.  One decoder per unit size; everything goes through code points. */
#include "format/charset.h"

#include "base/utf8.h"
#include "format/text_print.h"

#include <strings.h>

#define REPLACEMENT 0xFFFDU

bool charset_find(const char *name, enum charset *out)
{
    static const struct {
        const char *name;
        enum charset charset;
    } names[] = {
        {"utf-8", CHARSET_UTF8},       {"utf8", CHARSET_UTF8},    {"iso-8859-1", CHARSET_LATIN1},
        {"us-ascii", CHARSET_ASCII},   {"utf-16", CHARSET_UTF16}, {"utf-16be", CHARSET_UTF16BE},
        {"utf-16le", CHARSET_UTF16LE}, {"utf-32", CHARSET_UTF32},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcasecmp(names[i].name, name) == 0) {
            *out = names[i].charset;
            return true;
        }
    }
    return false;
}

static void add_code(struct buffer *out, uint32_t code)
{
    uint8_t bytes[4];
    buffer_add(out, bytes, utf8_encode(code, bytes));
}

static bool decode_utf8(struct bytes text, struct buffer *out)
{
    bool clean = true;
    while (text.size_bytes > 0) {
        size_t size = utf8_sequence_size(text);
        if (size == 0) {
            add_code(out, REPLACEMENT);
            clean = false;
            size = utf8_malformed_size(text);
        } else {
            buffer_add(out, text.data, size);
        }
        text.data += size;
        text.size_bytes -= size;
    }
    return clean;
}

static bool decode_bytes(struct bytes text, uint8_t last, struct buffer *out)
{
    bool clean = true;
    for (size_t i = 0; i < text.size_bytes; i++) {
        uint8_t byte = text.data[i];
        if (byte < 0x80) {
            buffer_add_byte(out, byte);
        } else if (byte <= last) {
            add_code(out, byte);
        } else {
            add_code(out, REPLACEMENT);
            clean = false;
        }
    }
    return clean;
}

static uint32_t unit16(const uint8_t *at, bool little)
{
    return little ? (uint32_t)at[0] | (uint32_t)at[1] << 8 : (uint32_t)at[1] | (uint32_t)at[0] << 8;
}

static uint32_t unit32(const uint8_t *at, bool little)
{
    uint32_t low = unit16(at + (little ? 0 : 2), little);
    return low | unit16(at + (little ? 2 : 0), little) << 16;
}

static bool decode_utf16(struct bytes text, bool little, struct buffer *out)
{
    bool clean = true;
    size_t i = 0;
    for (; i + 2 <= text.size_bytes; i += 2) {
        uint32_t code = unit16(text.data + i, little);
        if (code >= 0xD800 && code <= 0xDBFF && i + 4 <= text.size_bytes) {
            uint32_t low = unit16(text.data + i + 2, little);
            if (low >= 0xDC00 && low <= 0xDFFF) {
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                i += 2;
            }
        }
        if (code >= 0xD800 && code <= 0xDFFF) {
            code = REPLACEMENT;
            clean = false;
        }
        add_code(out, code);
    }
    if (i < text.size_bytes) {
        add_code(out, REPLACEMENT);
        clean = false;
    }
    return clean;
}

static bool decode_utf32(struct bytes text, bool little, struct buffer *out)
{
    bool clean = true;
    size_t i = 0;
    for (; i + 4 <= text.size_bytes; i += 4) {
        uint32_t code = unit32(text.data + i, little);
        if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
            code = REPLACEMENT;
            clean = false;
        }
        add_code(out, code);
    }
    if (i < text.size_bytes) {
        add_code(out, REPLACEMENT);
        clean = false;
    }
    return clean;
}

/* Reads the byte order mark, if there is one. */
static bool take_mark16(struct bytes *text, bool *little)
{
    if (text->size_bytes < 2)
        return false;
    uint32_t mark = unit16(text->data, false);
    if (mark != 0xFEFF && mark != 0xFFFE)
        return false;
    *little = mark == 0xFFFE;
    *text = bytes_of(text->data + 2, text->size_bytes - 2);
    return true;
}

static bool take_mark32(struct bytes *text, bool *little)
{
    if (text->size_bytes < 4)
        return false;
    uint32_t mark = unit32(text->data, false);
    if (mark != 0xFEFF && mark != 0xFFFE0000U)
        return false;
    *little = mark == 0xFFFE0000U;
    *text = bytes_of(text->data + 4, text->size_bytes - 4);
    return true;
}

bool charset_decode(enum charset charset, struct bytes text, bool at_start, struct buffer *out)
{
    bool little = false;
    switch (charset) {
    case CHARSET_UTF8:
        return decode_utf8(text, out);
    case CHARSET_LATIN1:
        return decode_bytes(text, 0xFF, out);
    case CHARSET_ASCII:
        return decode_bytes(text, 0x7F, out);
    case CHARSET_UTF16:
        if (at_start)
            (void)take_mark16(&text, &little);
        return decode_utf16(text, little, out);
    case CHARSET_UTF16BE:
        return decode_utf16(text, false, out);
    case CHARSET_UTF16LE:
        return decode_utf16(text, true, out);
    case CHARSET_UTF32:
        if (at_start)
            (void)take_mark32(&text, &little);
        return decode_utf32(text, little, out);
    case CHARSET_UTF32LE:
        return decode_utf32(text, true, out);
    }
    return false;
}

static void add_unit16(struct buffer *out, uint32_t unit, bool little)
{
    buffer_add_byte(out, (uint8_t)(little ? unit : unit >> 8));
    buffer_add_byte(out, (uint8_t)(little ? unit >> 8 : unit));
}

static void add_utf16(struct buffer *out, uint32_t code, bool little)
{
    if (code < 0x10000) {
        add_unit16(out, code, little);
        return;
    }
    add_unit16(out, 0xD800 + ((code - 0x10000) >> 10), little);
    add_unit16(out, 0xDC00 + ((code - 0x10000) & 0x3FF), little);
}

static void add_encoded(struct buffer *out, enum charset charset, uint32_t code)
{
    switch (charset) {
    case CHARSET_UTF8:
        add_code(out, code);
        return;
    case CHARSET_LATIN1:
        buffer_add_byte(out, code <= 0xFF ? (uint8_t)code : '?');
        return;
    case CHARSET_ASCII:
        buffer_add_byte(out, code <= 0x7F ? (uint8_t)code : '?');
        return;
    case CHARSET_UTF16:
    case CHARSET_UTF16BE:
        add_utf16(out, code, false);
        return;
    case CHARSET_UTF16LE:
        add_utf16(out, code, true);
        return;
    case CHARSET_UTF32:
        add_unit16(out, code >> 16, false);
        add_unit16(out, code & 0xFFFF, false);
        return;
    case CHARSET_UTF32LE:
        add_unit16(out, code & 0xFFFF, true);
        add_unit16(out, code >> 16, true);
        return;
    }
}

void charset_encode(enum charset charset, struct bytes text, struct buffer *out)
{
    while (text.size_bytes > 0) {
        size_t size = 0;
        uint32_t code = utf8_decode(text, &size);
        if (size == 0)
            size = 1;
        add_encoded(out, charset, code);
        text.data += size;
        text.size_bytes -= size;
    }
}

struct bytes charset_mark(enum charset charset)
{
    static const uint8_t mark[2] = {0xFE, 0xFF};
    return bytes_of(mark, charset == CHARSET_UTF16 ? sizeof mark : 0);
}

enum charset charset_guess_json(struct bytes head, size_t *mark_size)
{
    const uint8_t *at = head.data;
    struct bytes rest = head;
    bool little = false;
    *mark_size = 0;
    if (head.size_bytes >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0) {
        *mark_size = 3;
        return CHARSET_UTF8;
    }
    if (take_mark32(&rest, &little)) {
        *mark_size = 4;
        return little ? CHARSET_UTF32LE : CHARSET_UTF32;
    }
    if (take_mark16(&rest, &little)) {
        *mark_size = 2;
        return little ? CHARSET_UTF16LE : CHARSET_UTF16BE;
    }
    if (head.size_bytes >= 4 && at[0] == 0 && at[1] == 0 && at[2] == 0)
        return CHARSET_UTF32;
    little = head.size_bytes >= 2 && at[0] != 0 && at[1] == 0;
    if (little && head.size_bytes >= 4 && at[2] == 0 && at[3] == 0)
        return CHARSET_UTF32LE;
    if (little)
        return CHARSET_UTF16LE;
    return head.size_bytes >= 2 && at[0] == 0 && at[1] != 0 ? CHARSET_UTF16BE : CHARSET_UTF8;
}
