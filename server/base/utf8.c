#include "base/utf8.h"

uint32_t utf8_decode(struct bytes text, size_t *size)
{
    const uint8_t *p = text.data;
    size_t left = text.size_bytes;
    *size = 0;
    if (left == 0)
        return 0xfffd;
    if (p[0] < 0x80) {
        *size = 1;
        return p[0];
    }
    if (p[0] >= 0xc2 && p[0] <= 0xdf && left >= 2 && (p[1] & 0xc0) == 0x80) {
        *size = 2;
        return (uint32_t)((p[0] & 0x1f) << 6 | (p[1] & 0x3f));
    }
    if ((p[0] & 0xf0) == 0xe0 && left >= 3 && (p[1] & 0xc0) == 0x80 && (p[2] & 0xc0) == 0x80) {
        uint32_t code = (uint32_t)((p[0] & 0x0f) << 12 | (p[1] & 0x3f) << 6 | (p[2] & 0x3f));
        if (code < 0x800 || (code >= 0xd800 && code <= 0xdfff))
            return 0xfffd;
        *size = 3;
        return code;
    }
    if (p[0] >= 0xf0 && p[0] <= 0xf4 && left >= 4 && (p[1] & 0xc0) == 0x80 &&
        (p[2] & 0xc0) == 0x80 && (p[3] & 0xc0) == 0x80) {
        uint32_t code = (uint32_t)((p[0] & 0x07) << 18 | (p[1] & 0x3f) << 12 | (p[2] & 0x3f) << 6 |
                                   (p[3] & 0x3f));
        if (code < 0x10000 || code > 0x10ffff)
            return 0xfffd;
        *size = 4;
        return code;
    }
    return 0xfffd;
}

size_t utf8_sequence_size(struct bytes text)
{
    size_t size = 0;
    (void)utf8_decode(text, &size);
    return size;
}

size_t utf8_encode(uint32_t code, uint8_t out[4])
{
    if (code < 0x80) {
        out[0] = (uint8_t)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (uint8_t)(0xc0 | code >> 6);
        out[1] = (uint8_t)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (uint8_t)(0xe0 | code >> 12);
        out[1] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
        out[2] = (uint8_t)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (uint8_t)(0xf0 | code >> 18);
    out[1] = (uint8_t)(0x80 | (code >> 12 & 0x3f));
    out[2] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
    out[3] = (uint8_t)(0x80 | (code & 0x3f));
    return 4;
}

bool utf8_is_valid(struct bytes text)
{
    size_t i = 0;
    while (i < text.size_bytes) {
        uint64_t word = 0;
        if (text.size_bytes - i >= sizeof word) {
            memcpy(&word, text.data + i, sizeof word);
            if ((word & 0x8080808080808080U) == 0) {
                i += sizeof word;
                continue;
            }
        }
        size_t size = utf8_sequence_size(bytes_of(text.data + i, text.size_bytes - i));
        if (size == 0)
            return false;
        i += size;
    }
    return true;
}

size_t utf8_length(struct bytes text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.size_bytes; count++) {
        size_t size = utf8_sequence_size(bytes_of(text.data + i, text.size_bytes - i));
        i += size == 0 ? 1 : size;
    }
    return count;
}

static bool continues(struct bytes text, size_t index)
{
    return (text.data[index] & 0xC0) == 0x80;
}

size_t utf8_malformed_size(struct bytes text)
{
    uint8_t lead = text.data[0];
    size_t size = text.size_bytes;
    if (lead < 0xE0 || lead > 0xF4 || size < 2)
        return 1;
    uint8_t next = text.data[1];
    if (!continues(text, 1) || (lead == 0xE0 && next < 0xA0) || (lead == 0xF0 && next < 0x90) ||
        (lead == 0xF4 && next > 0x8F))
        return 1;
    if (size < 3)
        return 2;
    if (lead < 0xF0)
        return continues(text, 2) ? 3 : 2; /* 3: a surrogate */
    return continues(text, 2) ? 3 : 2;
}
