/*
 * Functions of text: lengths, parts, trimming, padding, searching.  Positions count characters from
 * 1; a character is what its first byte announces, also in invalid UTF-8, as in Spark.
 */
#include "expr/fn_string.h"

#include "base/check.h"
#include "expr/fn_support.h"

/* ---- concat ---- */

/* Concatenation of the arguments from `first` on, for all rows in one allocation. */
KERNEL(kernel_concat)
{
    size_t total = 0;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        for (uint32_t a = 0; a < call->arg_count; a++)
            total += kernel_text(call, a, row).size_bytes;
    }
    uint8_t *next;
    TRY(kernel_alloc(call, total, &next, err));
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        uint8_t *start = next;
        for (uint32_t a = 0; a < call->arg_count; a++) {
            struct bytes part = kernel_text(call, a, row);
            if (part.size_bytes > 0)
                memcpy(next, part.data, part.size_bytes);
            next += part.size_bytes;
        }
        kernel_set_view(call, row, bytes_of(start, (size_t)(next - start)));
    }
    return OK;
}

static void add_joined(struct buffer *out, bool *first, struct bytes separator, struct bytes part)
{
    if (!*first)
        buffer_add_bytes(out, separator);
    *first = false;
    buffer_add_bytes(out, part);
}

static enum status join_argument(const struct kernel_call *call, uint32_t index, uint32_t row,
                                 struct buffer *out, bool *first, struct error *err)
{
    const struct vector *arg = call->args[index];
    struct bytes separator = kernel_text(call, 0, row);
    if (vector_is_null(arg, row))
        return OK;
    if (arg->type->id == TYPE_STRING) {
        add_joined(out, first, separator, kernel_text(call, index, row));
        return OK;
    }
    struct list_entry list = KERNEL_ARG(struct list_entry, call, index, row);
    const struct vector *elements = arg->children[0];
    for (uint32_t i = 0; i < list.length; i++) {
        uint32_t at = list.offset + i;
        if (vector_is_null(elements, at))
            continue;
        add_joined(out, first, separator,
                   VECTOR_VALUES(struct bytes, elements)[vector_index(elements, at)]);
        TRY(kernel_check_text(call, out->size_bytes, err));
    }
    return OK;
}

KERNEL(kernel_concat_ws)
{
    struct buffer text = {0};
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        if (kernel_arg_is_null(call, 0, row)) {
            TRY_OUT(kernel_set_null(call, row, err));
            continue;
        }
        bool first = true;
        for (uint32_t a = 1; a < call->arg_count; a++)
            TRY_OUT(join_argument(call, a, row, &text, &first, err));
        TRY_OUT(kernel_set_buffer(call, row, &text, err));
    }
out:
    buffer_fini(&text);
    return status;
}

/* ---- lengths ---- */

KERNEL(kernel_char_length)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(int32_t, call)[row] = text_length(kernel_text(call, 0, row));
    }
    return OK;
}

KERNEL(kernel_octet_length)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(int32_t, call)[row] = (int32_t)kernel_text(call, 0, row).size_bytes;
    }
    return OK;
}

KERNEL(kernel_bit_length)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(int32_t, call)[row] = (int32_t)(kernel_text(call, 0, row).size_bytes * 8);
    }
    return OK;
}

/* ---- parts ---- */

/* The range [*from, *to) of a text of `length` units that substring(position, count) means. */
static void substring_range(int64_t length, int64_t position, int64_t count, int64_t *from,
                            int64_t *to)
{
    int64_t start = position > 0 ? position - 1 : position < 0 ? length + position : 0;
    int64_t end = count <= 0 ? start : start + count;
    start = start < 0 ? 0 : start > length ? length : start;
    end = end < start ? start : end > length ? length : end;
    *from = start;
    *to = end;
}

static struct bytes substring(struct bytes text, int64_t position, int64_t count)
{
    int64_t from;
    int64_t to;
    if (position >= 0) { /* no need to know the length */
        int64_t skip = position > 0 ? position - 1 : 0;
        size_t start = text_offset(text, skip);
        struct bytes rest = text_skip(text, start);
        return text_first(rest, count <= 0 ? 0 : text_offset(rest, count));
    }
    substring_range(text_length(text), position, count, &from, &to);
    size_t start = text_offset(text, from);
    struct bytes rest = text_skip(text, start);
    return text_first(rest, text_offset(rest, to - from));
}

KERNEL(kernel_substring)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        kernel_set_view(call, row,
                        substring(kernel_text(call, 0, row), kernel_int(call, 1, row),
                                  kernel_int(call, 2, row)));
    }
    return OK;
}

KERNEL(kernel_substring_binary)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes text = kernel_text(call, 0, row);
        int64_t from;
        int64_t to;
        substring_range((int64_t)text.size_bytes, kernel_int(call, 1, row),
                        kernel_int(call, 2, row), &from, &to);
        kernel_set_view(call, row, bytes_of(text.data + from, (size_t)(to - from)));
    }
    return OK;
}

KERNEL(kernel_left)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        kernel_set_view(call, row,
                        substring(kernel_text(call, 0, row), 1, kernel_int(call, 1, row)));
    }
    return OK;
}

KERNEL(kernel_left_binary)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes text = kernel_text(call, 0, row);
        int32_t count = kernel_int(call, 1, row);
        size_t size = count <= 0 ? 0 : (size_t)count;
        kernel_set_view(call, row,
                        text_first(text, size < text.size_bytes ? size : text.size_bytes));
    }
    return OK;
}

KERNEL(kernel_right)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes text = kernel_text(call, 0, row);
        int32_t count = kernel_int(call, 1, row);
        int32_t length = text_length(text);
        size_t skip = count <= 0       ? text.size_bytes
                      : count < length ? text_offset(text, length - count)
                                       : 0;
        kernel_set_view(call, row, text_skip(text, skip));
    }
    return OK;
}

/* ---- trim ---- */

enum trim_side {
    TRIM_LEFT = 1,
    TRIM_RIGHT = 2,
};

static struct bytes trim_blanks(struct bytes text, int sides)
{
    while ((sides & TRIM_LEFT) != 0 && text.size_bytes > 0 && *text.data == ' ')
        text = text_skip(text, 1);
    while ((sides & TRIM_RIGHT) != 0 && text.size_bytes > 0 &&
           text.data[text.size_bytes - 1] == ' ')
        text.size_bytes--;
    return text;
}

static bool set_holds(struct bytes set, struct bytes character)
{
    for (size_t at = 0; at < set.size_bytes; at += text_step(set.data[at])) {
        size_t size = text_step(set.data[at]);
        if (size == character.size_bytes && set.size_bytes - at >= size &&
            memcmp(set.data + at, character.data, size) == 0)
            return true;
    }
    return false;
}

/* The last character of a text that is not empty. */
static struct bytes last_character(struct bytes text)
{
    size_t start = text.size_bytes - 1;
    while (start > 0 && (text.data[start] & 0xC0) == 0x80 && text.size_bytes - start < 4)
        start--;
    if (text_step(text.data[start]) != text.size_bytes - start)
        start = text.size_bytes - 1;
    return text_skip(text, start);
}

static struct bytes trim_set(struct bytes text, struct bytes set, int sides)
{
    while ((sides & TRIM_LEFT) != 0 && text.size_bytes > 0) {
        size_t size = text_offset(text, 1);
        if (!set_holds(set, text_first(text, size)))
            break;
        text = text_skip(text, size);
    }
    while ((sides & TRIM_RIGHT) != 0 && text.size_bytes > 0) {
        struct bytes last = last_character(text);
        if (!set_holds(set, last))
            break;
        text.size_bytes -= last.size_bytes;
    }
    return text;
}

/* One argument: blanks.  Two: the characters are argument `set`, the text is the other one. */
static enum status run_trim(const struct kernel_call *call, int sides, uint32_t set)
{
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes text;
        if (call->arg_count == 1)
            text = trim_blanks(kernel_text(call, 0, row), sides);
        else
            text = trim_set(kernel_text(call, 1 - set, row), kernel_text(call, set, row), sides);
        kernel_set_view(call, row, text);
    }
    return OK;
}

KERNEL(kernel_trim)
{
    (void)err;
    return run_trim(call, TRIM_LEFT | TRIM_RIGHT, 0);
}

KERNEL(kernel_btrim)
{
    (void)err;
    return run_trim(call, TRIM_LEFT | TRIM_RIGHT, 1);
}

KERNEL(kernel_ltrim)
{
    (void)err;
    return run_trim(call, TRIM_LEFT, 0);
}

KERNEL(kernel_rtrim)
{
    (void)err;
    return run_trim(call, TRIM_RIGHT, 0);
}

/* ---- padding and repeating ---- */

static void add_padding(struct buffer *out, struct bytes pad, int64_t chars, bool binary)
{
    int64_t pad_chars = binary ? (int64_t)pad.size_bytes : text_length(pad);
    for (; chars >= pad_chars; chars -= pad_chars)
        buffer_add_bytes(out, pad);
    buffer_add_bytes(out, text_first(pad, binary ? (size_t)chars : text_offset(pad, chars)));
}

static enum status run_pad(const struct kernel_call *call, bool left, bool binary,
                           struct error *err)
{
    struct buffer out = {0};
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes text = kernel_text(call, 0, row);
        struct bytes pad = kernel_text(call, 2, row);
        int64_t wanted = kernel_int(call, 1, row);
        int64_t length = binary ? (int64_t)text.size_bytes : text_length(text);
        if (wanted <= length || pad.size_bytes == 0) {
            size_t size = binary ? (size_t)(wanted < 0 ? 0 : wanted)
                                 : text_offset(text, wanted < 0 ? 0 : wanted);
            kernel_set_view(call, row,
                            text_first(text, size < text.size_bytes ? size : text.size_bytes));
            continue;
        }
        TRY_OUT(kernel_check_text(call, (size_t)wanted * pad.size_bytes, err));
        if (left)
            add_padding(&out, pad, wanted - length, binary);
        buffer_add_bytes(&out, text);
        if (!left)
            add_padding(&out, pad, wanted - length, binary);
        TRY_OUT(kernel_set_buffer(call, row, &out, err));
    }
out:
    buffer_fini(&out);
    return status;
}

KERNEL(kernel_lpad)
{
    return run_pad(call, true, false, err);
}

KERNEL(kernel_rpad)
{
    return run_pad(call, false, false, err);
}

KERNEL(kernel_lpad_binary)
{
    return run_pad(call, true, true, err);
}

KERNEL(kernel_rpad_binary)
{
    return run_pad(call, false, true, err);
}

static enum status set_repeated(const struct kernel_call *call, uint32_t row, struct bytes text,
                                int32_t times, struct error *err)
{
    size_t count = times > 0 ? (size_t)times : 0;
    uint8_t *out;
    TRY(kernel_check_text(call, count * text.size_bytes, err));
    TRY(kernel_alloc(call, count * text.size_bytes, &out, err));
    for (size_t i = 0; i < count && text.size_bytes > 0; i++)
        memcpy(out + i * text.size_bytes, text.data, text.size_bytes);
    kernel_set_view(call, row, bytes_of(out, count * text.size_bytes));
    return OK;
}

static enum status cell_kernel_repeat(const struct kernel_call *call, uint32_t row,
                                      struct error *err)
{
    return set_repeated(call, row, kernel_text(call, 0, row), kernel_int(call, 1, row), err);
}

static enum status cell_kernel_space(const struct kernel_call *call, uint32_t row,
                                     struct error *err)
{
    return set_repeated(call, row, bytes_of_text(" "), kernel_int(call, 0, row), err);
}

KERNEL_EACH(kernel_repeat)
KERNEL_EACH(kernel_space)

static enum status reverse(const struct kernel_call *call, uint32_t row, bool binary,
                           struct error *err)
{
    struct bytes text = kernel_text(call, 0, row);
    uint8_t *out;
    TRY(kernel_alloc(call, text.size_bytes, &out, err));
    uint8_t *end = out + text.size_bytes;
    for (size_t at = 0; at < text.size_bytes;) {
        size_t size = binary ? 1 : text_step(text.data[at]);
        size = size < text.size_bytes - at ? size : text.size_bytes - at;
        end -= size;
        memcpy(end, text.data + at, size);
        at += size;
    }
    kernel_set_view(call, row, bytes_of(out, text.size_bytes));
    return OK;
}

static enum status cell_kernel_reverse(const struct kernel_call *call, uint32_t row,
                                       struct error *err)
{
    return reverse(call, row, false, err);
}

static enum status cell_kernel_reverse_binary(const struct kernel_call *call, uint32_t row,
                                              struct error *err)
{
    return reverse(call, row, true, err);
}

KERNEL_EACH(kernel_reverse)
KERNEL_EACH(kernel_reverse_binary)

/* ---- searching ---- */

static int32_t position_of(struct bytes text, size_t at)
{
    return at == SIZE_MAX ? 0 : text_length(text_first(text, at)) + 1;
}

KERNEL(kernel_instr)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes text = kernel_text(call, 0, row);
        KERNEL_OUT(int32_t, call)
        [row] = position_of(text, text_find(text, kernel_text(call, 1, row), 0));
    }
    return OK;
}

/* locate(part, text, start): 0 if start < 1; an empty part is at 1 wherever the search starts. */
KERNEL(kernel_locate)
{
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        int32_t result = 0;
        if (kernel_arg_is_null(call, 2, row)) {
            KERNEL_OUT(int32_t, call)[row] = 0;
            continue;
        }
        if (kernel_arg_is_null(call, 0, row) || kernel_arg_is_null(call, 1, row)) {
            TRY(kernel_set_null(call, row, err));
            continue;
        }
        struct bytes part = kernel_text(call, 0, row);
        struct bytes text = kernel_text(call, 1, row);
        int32_t start = kernel_int(call, 2, row);
        if (start >= 1 && part.size_bytes == 0)
            result = 1;
        else if (start >= 1)
            result = position_of(text, text_find(text, part, text_offset(text, start - 1)));
        KERNEL_OUT(int32_t, call)[row] = result;
    }
    return OK;
}

static bool starts_with(struct bytes text, struct bytes part)
{
    return text.size_bytes >= part.size_bytes &&
           (part.size_bytes == 0 || memcmp(text.data, part.data, part.size_bytes) == 0);
}

KERNEL(kernel_startswith)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(uint8_t, call)
        [row] = starts_with(kernel_text(call, 0, row), kernel_text(call, 1, row));
    }
    return OK;
}

KERNEL(kernel_endswith)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes text = kernel_text(call, 0, row);
        struct bytes part = kernel_text(call, 1, row);
        KERNEL_OUT(uint8_t, call)
        [row] = text.size_bytes >= part.size_bytes &&
                starts_with(text_skip(text, text.size_bytes - part.size_bytes), part);
    }
    return OK;
}

KERNEL(kernel_contains)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(uint8_t, call)
        [row] = text_find(kernel_text(call, 0, row), kernel_text(call, 1, row), 0) != SIZE_MAX;
    }
    return OK;
}

KERNEL(kernel_find_in_set)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes word = kernel_text(call, 0, row);
        struct bytes set = kernel_text(call, 1, row);
        int32_t found = 0;
        int32_t n = 1;
        for (size_t start = 0; text_find(word, bytes_of_text(","), 0) == SIZE_MAX; n++) {
            size_t comma = text_find(set, bytes_of_text(","), start);
            size_t end = comma == SIZE_MAX ? set.size_bytes : comma;
            if (bytes_equal(word, bytes_of(set.data + start, end - start))) {
                found = n;
                break;
            }
            if (comma == SIZE_MAX)
                break;
            start = comma + 1;
        }
        KERNEL_OUT(int32_t, call)[row] = found;
    }
    return OK;
}

/* substring_index(text, delimiter, n): what is before the n-th delimiter, or behind the n-th last
 */
static struct bytes substring_index(struct bytes text, struct bytes delimiter, int32_t count)
{
    if (count == 0 || delimiter.size_bytes == 0)
        return text_first(text, 0);
    if (count > 0) {
        size_t at = 0;
        for (; count > 0; count--) {
            size_t found = text_find(text, delimiter, at);
            if (found == SIZE_MAX)
                return text;
            if (count == 1)
                return text_first(text, found);
            at = found + 1;
        }
    }
    size_t end = text.size_bytes;
    for (int64_t left = -(int64_t)count; left > 0; left--) {
        size_t at = end;
        bool found = false;
        while (at >= delimiter.size_bytes && !found) {
            at--;
            found = text.size_bytes - at >= delimiter.size_bytes &&
                    at + delimiter.size_bytes <= end + delimiter.size_bytes - 1 &&
                    memcmp(text.data + at, delimiter.data, delimiter.size_bytes) == 0;
            if (at == 0)
                break;
        }
        if (!found)
            return text;
        if (left == 1)
            return text_skip(text, at + delimiter.size_bytes);
        end = at;
    }
    return text;
}

KERNEL(kernel_substring_index)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        kernel_set_view(call, row,
                        substring_index(kernel_text(call, 0, row), kernel_text(call, 1, row),
                                        kernel_int(call, 2, row)));
    }
    return OK;
}

static uint32_t count_parts(struct bytes text, struct bytes delimiter)
{
    uint32_t parts = 1;
    size_t at = 0;
    while ((at = text_find(text, delimiter, at)) != SIZE_MAX) {
        parts++;
        at += delimiter.size_bytes;
    }
    return parts;
}

/* split_part(text, delimiter, n): an empty delimiter does not split. */
static enum status cell_kernel_split_part(const struct kernel_call *call, uint32_t row,
                                          struct error *err)
{
    struct bytes text = kernel_text(call, 0, row);
    struct bytes delimiter = kernel_text(call, 1, row);
    int64_t index = kernel_int(call, 2, row);
    if (index == 0)
        return error_raise(err, STATUS_INVALID_INDEX_OF_ZERO, NULL);
    int64_t parts = delimiter.size_bytes == 0 ? 1 : count_parts(text, delimiter);
    if (index < 0)
        index = parts + index + 1;
    if (index < 1 || index > parts) {
        kernel_set_view(call, row, bytes_of(text.data, 0));
        return OK;
    }
    size_t start = 0;
    for (; index > 1; index--)
        start = text_find(text, delimiter, start) + delimiter.size_bytes;
    size_t end = delimiter.size_bytes == 0 ? SIZE_MAX : text_find(text, delimiter, start);
    end = end == SIZE_MAX ? text.size_bytes : end;
    kernel_set_view(call, row, bytes_of(text.data + start, end - start));
    return OK;
}

KERNEL_EACH(kernel_split_part)
