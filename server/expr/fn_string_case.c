/* upper, lower, initcap: ASCII in place of one allocation per batch, the rest by unicode_case.h. */
#include "expr/fn_string.h"
#include "expr/fn_support.h"
#include "expr/unicode_case.h"

static uint8_t upper_byte(uint8_t byte)
{
    return (uint8_t)(byte - (((uint8_t)(byte - 'a') < 26) << 5));
}

static uint8_t lower_byte(uint8_t byte)
{
    return (uint8_t)(byte + (((uint8_t)(byte - 'A') < 26) << 5));
}

static enum status run_case(const struct kernel_call *call, uint8_t (*ascii)(uint8_t byte),
                            void (*unicode)(struct buffer *out, struct bytes text),
                            struct error *err)
{
    struct buffer text = {0};
    enum status status = OK;
    size_t total = 0;
    for (uint32_t i = 0; i < call->selected; i++)
        total += kernel_text(call, 0, kernel_row(call, i)).size_bytes;
    uint8_t *next;
    TRY(kernel_alloc(call, total, &next, err));
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes from = kernel_text(call, 0, row);
        uint8_t all = 0;
        for (size_t j = 0; j < from.size_bytes; j++) {
            next[j] = ascii(from.data[j]);
            all |= from.data[j];
        }
        if (all < 0x80) {
            kernel_set_view(call, row, bytes_of(next, from.size_bytes));
            next += from.size_bytes;
            continue;
        }
        unicode(&text, from);
        TRY_OUT(kernel_set_buffer(call, row, &text, err));
    }
out:
    buffer_fini(&text);
    return status;
}

KERNEL(kernel_upper)
{
    return run_case(call, upper_byte, unicode_add_upper, err);
}

KERNEL(kernel_lower)
{
    return run_case(call, lower_byte, unicode_add_lower, err);
}

static enum status cell_kernel_initcap(const struct kernel_call *call, uint32_t row,
                                       struct error *err)
{
    struct buffer text = {0};
    unicode_add_title_words(&text, kernel_text(call, 0, row));
    enum status status = kernel_set_buffer(call, row, &text, err);
    buffer_fini(&text);
    return status;
}

KERNEL_EACH(kernel_initcap)
