/* Bitmaps of 32768 bits, for counting distinct numbers; base 32. */
#include "expr/fn_crypto.h"
#include "expr/fn_support.h"

#define BITMAP_BITS 32768

static int64_t bit_position(int64_t value)
{
    return value > 0 ? (value - 1) % BITMAP_BITS : -(value % BITMAP_BITS);
}

static int64_t bucket_number(int64_t value)
{
    return value > 0 ? 1 + (value - 1) / BITMAP_BITS : value / BITMAP_BITS;
}

KERNEL_UNARY(kernel_bitmap_bit_position, int64_t, int64_t, bit_position(x))
KERNEL_UNARY(kernel_bitmap_bucket_number, int64_t, int64_t, bucket_number(x))

static enum status cell_kernel_bitmap_count(const struct kernel_call *call, uint32_t row,
                                            struct error *err)
{
    struct bytes bits = kernel_text(call, 0, row);
    int64_t count = 0;
    (void)err;
    for (size_t i = 0; i < bits.size_bytes; i++)
        count += __builtin_popcount(bits.data[i]);
    KERNEL_OUT(int64_t, call)[row] = count;
    return OK;
}

KERNEL_EACH(kernel_bitmap_count)

static enum status cell_kernel_to_base32(const struct kernel_call *call, uint32_t row,
                                         struct error *err)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    struct bytes data = kernel_text(call, 0, row);
    size_t size = (data.size_bytes + 4) / 5 * 8;
    uint8_t *text;
    TRY(kernel_alloc(call, size, &text, err));
    for (size_t i = 0; i < size; i++) {
        size_t bit = i * 5;
        size_t at = bit / 8;
        unsigned high = at < data.size_bytes ? data.data[at] : 0;
        unsigned low = at + 1 < data.size_bytes ? data.data[at + 1] : 0;
        unsigned digit = (high << 8 | low) >> (11 - bit % 8) & 31;
        text[i] = (uint8_t)(at < data.size_bytes ? digits[digit] : '=');
    }
    kernel_set_view(call, row, bytes_of(text, size));
    return OK;
}

KERNEL_EACH(kernel_to_base32)

/* What is no digit is passed over; padding ends the text. */
static enum status cell_kernel_from_base32(const struct kernel_call *call, uint32_t row,
                                           struct error *err)
{
    struct bytes text = kernel_text(call, 0, row);
    uint8_t *data;
    size_t size = 0;
    unsigned held = 0;
    unsigned bits = 0;
    TRY(kernel_alloc(call, text.size_bytes / 8 * 5 + 5, &data, err));
    for (size_t i = 0; i < text.size_bytes && text.data[i] != '='; i++) {
        uint8_t c = text.data[i];
        uint8_t lower = c | 0x20;
        bool letter = lower >= 'a' && lower <= 'z';
        if (!letter && (c < '2' || c > '7'))
            continue;
        held = (held << 5 | (letter ? lower - 97U : c - 24U)) & 0xFFFF;
        bits += 5;
        if (bits >= 8) {
            bits -= 8;
            data[size++] = (uint8_t)(held >> bits);
        }
    }
    kernel_set_view(call, row, bytes_of(data, size));
    return OK;
}

KERNEL_EACH(kernel_from_base32)
