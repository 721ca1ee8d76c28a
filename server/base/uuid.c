#include "base/uuid.h"

#include "base/check.h"
#include "base/hash.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/random.h>

static _Atomic uint64_t seed_state; /* 0: the system's randomness */

void uuid_seed(uint64_t seed)
{
    atomic_store(&seed_state, seed);
}

void random_bytes(void *out, size_t size_bytes)
{
    uint8_t *to = out;
    while (size_bytes > 0) {
        if (atomic_load(&seed_state) != 0) {
            uint64_t word = hash_u64(atomic_fetch_add(&seed_state, 0x9e3779b97f4a7c15U));
            size_t part = size_bytes < sizeof word ? size_bytes : sizeof word;
            memcpy(to, &word, part);
            to += part;
            size_bytes -= part;
            continue;
        }
        ssize_t got = getrandom(to, size_bytes, 0);
        CHECK(got > 0 || errno == EINTR);
        if (got > 0) {
            to += got;
            size_bytes -= (size_t)got;
        }
    }
}

struct uuid uuid_random(void)
{
    struct uuid uuid;
    random_bytes(uuid.byte, sizeof uuid.byte);
    uuid.byte[6] = (uint8_t)((uuid.byte[6] & 0x0f) | 0x40);
    uuid.byte[8] = (uint8_t)((uuid.byte[8] & 0x3f) | 0x80);
    return uuid;
}

void uuid_format(struct uuid uuid, char out[UUID_TEXT_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    char *to = out;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *to++ = '-';
        *to++ = digits[uuid.byte[i] >> 4];
        *to++ = digits[uuid.byte[i] & 15];
    }
    *to = '\0';
    CHECK(to - out == UUID_TEXT_SIZE - 1);
}

static int hex_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool uuid_parse(struct bytes text, struct uuid *out)
{
    if (text.size_bytes != UUID_TEXT_SIZE - 1)
        return false;
    struct uuid uuid;
    size_t at = 0;
    for (int i = 0; i < 16; i++) {
        if ((i == 4 || i == 6 || i == 8 || i == 10) && text.data[at++] != '-')
            return false;
        int high = hex_value(text.data[at]);
        int low = hex_value(text.data[at + 1]);
        if (high < 0 || low < 0)
            return false;
        uuid.byte[i] = (uint8_t)(high << 4 | low);
        at += 2;
    }
    *out = uuid;
    return true;
}

void uuid_random_text(char out[UUID_TEXT_SIZE])
{
    uuid_format(uuid_random(), out);
}
