/* Text as bytes and bytes as text: base64, hex, character sets, URLs, UTF-8 checks. */
#include "base/check.h"
#include "base/utf8.h"
#include "expr/fn_string.h"
#include "expr/fn_support.h"

/* ---- base64 ---- */

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
#define BASE64_LINE 76

static void add_base64(struct buffer *out, struct bytes data)
{
    size_t column = 0;
    for (size_t i = 0; i < data.size_bytes; i += 3) {
        size_t left = data.size_bytes - i;
        uint32_t word = (uint32_t)data.data[i] << 16;
        word |= left > 1 ? (uint32_t)data.data[i + 1] << 8 : 0;
        word |= left > 2 ? data.data[i + 2] : 0U;
        if (column == BASE64_LINE) {
            buffer_add_text(out, "\r\n");
            column = 0;
        }
        buffer_add_byte(out, (uint8_t)base64_digits[word >> 18]);
        buffer_add_byte(out, (uint8_t)base64_digits[word >> 12 & 63]);
        buffer_add_byte(out, left > 1 ? (uint8_t)base64_digits[word >> 6 & 63] : '=');
        buffer_add_byte(out, left > 2 ? (uint8_t)base64_digits[word & 63] : '=');
        column += 4;
    }
}

static int base64_value(uint8_t c)
{
    const char *at = c == 0 ? NULL : strchr(base64_digits, c);
    return at == NULL ? -1 : (int)(at - base64_digits);
}

/* Characters outside the alphabet are passed over unless `strict` (where blanks still are). */
static bool read_base64(struct buffer *out, struct bytes text, bool strict)
{
    uint32_t word = 0;
    int digits = 0;
    size_t padding = 0;
    for (size_t i = 0; i < text.size_bytes; i++) {
        uint8_t c = text.data[i];
        int value = base64_value(c);
        if (c == '=') {
            padding++;
        } else if (value >= 0 && padding > 0 && strict) {
            return false;
        } else if (value >= 0 && padding == 0) {
            word = word << 6 | (uint32_t)value;
            if (++digits == 4) {
                buffer_add_byte(out, (uint8_t)(word >> 16));
                buffer_add_byte(out, (uint8_t)(word >> 8));
                buffer_add_byte(out, (uint8_t)word);
                word = 0;
                digits = 0;
            }
        } else if (value < 0 && strict && c != ' ' && c != '\r' && c != '\n' && c != '\t') {
            return false;
        }
    }
    if (digits == 1 || (strict && padding > 2))
        return false;
    if (digits >= 2)
        buffer_add_byte(out, (uint8_t)(word >> (digits == 3 ? 10 : 4)));
    if (digits == 3)
        buffer_add_byte(out, (uint8_t)(word >> 2));
    return true;
}

void text_add_base64(struct buffer *out, struct bytes data)
{
    for (size_t i = 0; i < data.size_bytes; i += 3)
        add_base64(out, bytes_of(data.data + i, data.size_bytes - i < 3 ? data.size_bytes - i : 3));
}

bool text_read_base64(struct buffer *out, struct bytes text)
{
    return read_base64(out, text, true);
}

static enum status cell_kernel_base64(const struct kernel_call *call, uint32_t row,
                                      struct error *err)
{
    struct buffer out = {0};
    add_base64(&out, kernel_text(call, 0, row));
    enum status status = kernel_set_buffer(call, row, &out, err);
    buffer_fini(&out);
    return status;
}

KERNEL_EACH(kernel_base64)

static enum status conversion_error(const struct kernel_call *call, struct bytes text,
                                    const char *format, struct error *err)
{
    return error_raise(err, STATUS_CONVERSION_INVALID_INPUT, "str", kernel_error_quoted(call, text),
                       "fmt", format, "targetType", "\"BINARY\"", "suggestion", "`try_to_binary`",
                       NULL);
}

static enum status cell_kernel_unbase64(const struct kernel_call *call, uint32_t row,
                                        struct error *err)
{
    struct buffer out = {0};
    struct bytes text = kernel_text(call, 0, row);
    enum status status = read_base64(&out, text, false)
                             ? kernel_set_buffer(call, row, &out, err)
                             : conversion_error(call, text, "'BASE64'", err);
    buffer_fini(&out);
    return status;
}

KERNEL_EACH(kernel_unbase64)

/* ---- hex ---- */

static const char hex_digits[] = "0123456789ABCDEF";

static enum status cell_kernel_hex_bigint(const struct kernel_call *call, uint32_t row,
                                          struct error *err)
{
    uint64_t value = (uint64_t)kernel_long(call, 0, row);
    uint8_t text[16];
    size_t at = sizeof(text);
    do {
        text[--at] = (uint8_t)hex_digits[value & 15];
        value >>= 4;
    } while (value != 0);
    return kernel_set_bytes(call, row, bytes_of(text + at, sizeof(text) - at), err);
}

static enum status cell_kernel_hex_bytes(const struct kernel_call *call, uint32_t row,
                                         struct error *err)
{
    struct bytes data = kernel_text(call, 0, row);
    uint8_t *out;
    TRY(kernel_alloc(call, data.size_bytes * 2, &out, err));
    for (size_t i = 0; i < data.size_bytes; i++) {
        out[2 * i] = (uint8_t)hex_digits[data.data[i] >> 4];
        out[2 * i + 1] = (uint8_t)hex_digits[data.data[i] & 15];
    }
    kernel_set_view(call, row, bytes_of(out, data.size_bytes * 2));
    return OK;
}

KERNEL_EACH(kernel_hex_bigint)
KERNEL_EACH(kernel_hex_bytes)

static int hex_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* An odd number of digits starts with a half byte. */
static bool read_hex(struct bytes text, uint8_t *out)
{
    CHECK(out != NULL);
    size_t at = 0;
    if (text.size_bytes % 2 == 1) {
        int low = hex_value(text.data[at++]);
        if (low < 0)
            return false;
        *out++ = (uint8_t)low;
    }
    for (; at < text.size_bytes; at += 2) {
        int high = hex_value(text.data[at]);
        int low = hex_value(text.data[at + 1]);
        if (high < 0 || low < 0)
            return false;
        *out++ = (uint8_t)(high * 16 + low);
    }
    return true;
}

static enum status cell_kernel_unhex(const struct kernel_call *call, uint32_t row,
                                     struct error *err)
{
    struct bytes text = kernel_text(call, 0, row);
    uint8_t *out;
    TRY(kernel_alloc(call, (text.size_bytes + 1) / 2, &out, err));
    if (!read_hex(text, out))
        return kernel_set_null(call, row, err);
    kernel_set_view(call, row, bytes_of(out, (text.size_bytes + 1) / 2));
    return OK;
}

KERNEL_EACH(kernel_unhex)

/* ---- to_binary ---- */

static enum status to_binary(const struct kernel_call *call, uint32_t row, bool try_,
                             struct error *err)
{
    struct bytes text = kernel_text(call, 0, row);
    struct bytes format = call->arg_count > 1 ? kernel_text(call, 1, row) : bytes_of_text("hex");
    if (text_equals_ignoring_case(format, "utf-8") || text_equals_ignoring_case(format, "utf8")) {
        kernel_set_view(call, row, text);
        return OK;
    }
    struct buffer out = {0};
    bool base64 = text_equals_ignoring_case(format, "base64");
    bool ok = false;
    if (base64) {
        ok = read_base64(&out, text, true);
    } else if (text_equals_ignoring_case(format, "hex")) {
        size_t size = (text.size_bytes + 1) / 2;
        ok = size == 0 || read_hex(text, buffer_reserve(&out, size));
        out.size_bytes = ok ? size : 0;
    }
    enum status status = ok     ? kernel_set_buffer(call, row, &out, err)
                         : try_ ? kernel_set_null(call, row, err)
                                : conversion_error(call, text, base64 ? "'BASE64'" : "'HEX'", err);
    buffer_fini(&out);
    return status;
}

/* The format is one of four, known before the first row. */
RESOLVER(resolve_to_binary)
{
    *out = call;
    TRY(function_apply(ctx, call, "string,string?->binary", err));
    bool try_ = strcmp(call->call.function->name, "try_to_binary") == 0;
    call->nullable |= try_;
    struct vector *format;
    if (call->arg_count < 2)
        return OK;
    if (!expr_is_foldable(call->args[1]))
        return function_not_foldable(call, 1, "fmt", err);
    TRY(function_constant(ctx, call, 1, "fmt", &format, err));
    if (vector_is_null(format, 0))
        return OK;
    struct bytes text = *VECTOR_VALUES(struct bytes, format);
    static const char *const known[] = {"hex", "utf-8", "utf8", "base64"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (text_equals_ignoring_case(text, known[i]))
            return OK;
    if (try_)
        return OK;
    return error_raise_at(
        err, STATUS_DATATYPE_MISMATCH__INVALID_ARG_VALUE, call->position, call->position_end,
        "sqlExpr", function_sql(ctx->arena, call), "inputName", "fmt", "requireType",
        "case-insensitive \"STRING\"", "validValues", "'hex', 'utf-8', 'utf8', or 'base64'",
        "inputValue",
        arena_sprintf(ctx->arena, "'%.*s'", (int)text.size_bytes, (const char *)text.data), NULL);
}

static enum status cell_kernel_to_binary(const struct kernel_call *call, uint32_t row,
                                         struct error *err)
{
    return to_binary(call, row, false, err);
}

static enum status cell_kernel_try_to_binary(const struct kernel_call *call, uint32_t row,
                                             struct error *err)
{
    return to_binary(call, row, true, err);
}

KERNEL_EACH(kernel_to_binary)
KERNEL_EACH(kernel_try_to_binary)

/* ---- character sets ---- */

enum charset {
    CHARSET_NONE,
    CHARSET_ASCII,
    CHARSET_LATIN1,
    CHARSET_UTF8,
    CHARSET_UTF16,
    CHARSET_UTF16BE,
    CHARSET_UTF16LE,
    CHARSET_UTF32,
};

static enum charset find_charset(struct bytes name)
{
    static const struct {
        const char *name;
        enum charset charset;
    } charsets[] = {
        {"us-ascii", CHARSET_ASCII}, {"iso-8859-1", CHARSET_LATIN1}, {"utf-8", CHARSET_UTF8},
        {"utf-16", CHARSET_UTF16},   {"utf-16be", CHARSET_UTF16BE},  {"utf-16le", CHARSET_UTF16LE},
        {"utf-32", CHARSET_UTF32},
    };
    for (size_t i = 0; i < sizeof(charsets) / sizeof(*charsets); i++)
        if (text_equals_ignoring_case(name, charsets[i].name))
            return charsets[i].charset;
    return CHARSET_NONE;
}

static enum status unknown_charset(const struct kernel_call *call, struct bytes name,
                                   struct error *err)
{
    return error_raise(err, STATUS_INVALID_PARAMETER_VALUE__CHARSET, "functionName",
                       kernel_error_function(call), "parameter", "`charset`", "charset",
                       kernel_error_text(call, name), "charsets",
                       "iso-8859-1, us-ascii, utf-16, utf-16be, utf-16le, utf-32, utf-8", NULL);
}

static enum status malformed(const struct kernel_call *call, struct bytes charset,
                             struct error *err)
{
    return error_raise(err, STATUS_MALFORMED_CHARACTER_CODING, "function",
                       kernel_error_function(call), "charset", kernel_error_text(call, charset),
                       NULL);
}

static void add_unit(struct buffer *out, uint32_t unit, bool little)
{
    buffer_add_byte(out, (uint8_t)(little ? unit : unit >> 8));
    buffer_add_byte(out, (uint8_t)(little ? unit >> 8 : unit));
}

static bool encode_code(struct buffer *out, uint32_t code, enum charset charset)
{
    switch (charset) {
    case CHARSET_ASCII:
    case CHARSET_LATIN1:
        buffer_add_byte(out, (uint8_t)code);
        return code < (charset == CHARSET_ASCII ? 0x80U : 0x100U);
    case CHARSET_UTF16:
    case CHARSET_UTF16BE:
    case CHARSET_UTF16LE:
        if (code >= 0x10000) {
            add_unit(out, 0xD800 + ((code - 0x10000) >> 10), charset == CHARSET_UTF16LE);
            code = 0xDC00 + ((code - 0x10000) & 0x3FF);
        }
        add_unit(out, code, charset == CHARSET_UTF16LE);
        return true;
    case CHARSET_UTF32:
        add_unit(out, code >> 16, false);
        add_unit(out, code & 0xFFFF, false);
        return true;
    case CHARSET_UTF8:
    case CHARSET_NONE:
        break;
    }
    return true;
}

static enum status cell_kernel_encode(const struct kernel_call *call, uint32_t row,
                                      struct error *err)
{
    struct bytes text = kernel_text(call, 0, row);
    struct bytes name = kernel_text(call, 1, row);
    enum charset charset = find_charset(name);
    if (charset == CHARSET_NONE)
        return unknown_charset(call, name, err);
    if (charset == CHARSET_UTF8) {
        kernel_set_view(call, row, text);
        return OK;
    }
    struct buffer out = {0};
    bool ok = true;
    if (charset == CHARSET_UTF16 && text.size_bytes > 0)
        add_unit(&out, 0xFEFF, false);
    while (text.size_bytes > 0 && ok) {
        size_t size;
        uint32_t code = utf8_decode(text, &size);
        ok = encode_code(&out, code, charset);
        text = text_skip(text, size == 0 ? 1 : size);
    }
    enum status status = ok ? kernel_set_buffer(call, row, &out, err) : malformed(call, name, err);
    buffer_fini(&out);
    return status;
}

KERNEL_EACH(kernel_encode)

static void add_utf8(struct buffer *out, uint32_t code)
{
    uint8_t *at = buffer_reserve(out, 4);
    out->size_bytes += utf8_encode(code, at);
}

static uint32_t unit_at(struct bytes data, size_t at, bool little)
{
    return little ? data.data[at] | (uint32_t)data.data[at + 1] << 8
                  : (uint32_t)data.data[at] << 8 | data.data[at + 1];
}

static bool decode_utf16(struct buffer *out, struct bytes data, bool little)
{
    if (data.size_bytes % 2 != 0)
        return false;
    for (size_t at = 0; at < data.size_bytes; at += 2) {
        uint32_t code = unit_at(data, at, little);
        if (code >= 0xD800 && code < 0xDC00) {
            at += 2;
            uint32_t low = at < data.size_bytes ? unit_at(data, at, little) : 0;
            if (low < 0xDC00 || low > 0xDFFF)
                return false;
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        } else if (code >= 0xDC00 && code < 0xE000) {
            return false;
        }
        add_utf8(out, code);
    }
    return true;
}

static bool decode_bytes(struct buffer *out, struct bytes data, enum charset charset)
{
    bool ok = true;
    switch (charset) {
    case CHARSET_UTF8:
        buffer_add_bytes(out, data);
        return utf8_is_valid(data);
    case CHARSET_ASCII:
    case CHARSET_LATIN1:
        for (size_t i = 0; i < data.size_bytes; i++) {
            ok = ok && (charset == CHARSET_LATIN1 || data.data[i] < 0x80);
            add_utf8(out, data.data[i]);
        }
        return ok;
    case CHARSET_UTF16: {
        uint32_t mark = data.size_bytes >= 2 ? unit_at(data, 0, false) : 0;
        bool marked = mark == 0xFEFF || mark == 0xFFFE;
        return decode_utf16(out, text_skip(data, marked ? 2 : 0), mark == 0xFFFE);
    }
    case CHARSET_UTF16BE:
    case CHARSET_UTF16LE:
        return decode_utf16(out, data, charset == CHARSET_UTF16LE);
    case CHARSET_UTF32:
        if (data.size_bytes % 4 != 0)
            return false;
        for (size_t at = 0; at < data.size_bytes; at += 4) {
            uint32_t code = unit_at(data, at, false) << 16 | unit_at(data, at + 2, false);
            ok = ok && code < 0x110000 && (code < 0xD800 || code > 0xDFFF);
            if (ok)
                add_utf8(out, code);
        }
        return ok;
    case CHARSET_NONE:
        break;
    }
    return false;
}

static enum status cell_kernel_decode(const struct kernel_call *call, uint32_t row,
                                      struct error *err)
{
    struct bytes name = kernel_text(call, 1, row);
    enum charset charset = find_charset(name);
    if (charset == CHARSET_NONE)
        return unknown_charset(call, name, err);
    struct buffer out = {0};
    enum status status = decode_bytes(&out, kernel_text(call, 0, row), charset)
                             ? kernel_set_buffer(call, row, &out, err)
                             : malformed(call, name, err);
    buffer_fini(&out);
    return status;
}

KERNEL_EACH(kernel_decode)

/* decode(bytes, charset), or decode(x, search, result ... [, default]), which is a CASE. */
RESOLVER(resolve_decode)
{
    *out = call;
    if (call->arg_count == 2)
        return function_apply(ctx, call, "binary,string->string", err);
    uint32_t count = call->arg_count - 1;
    struct expr **parts = arena_new_object(ctx->arena, (count + 1) * sizeof(*parts));
    for (uint32_t i = 0; i < count; i++)
        parts[i] = call->args[i + 1];
    for (uint32_t i = 0; i + 1 < count; i += 2)
        TRY(function_resolve_2(ctx, "<=>", call->args[0], parts[i], &parts[i], err));
    struct function_call choice = {.name = "when",
                                   .args = parts,
                                   .arg_count = count,
                                   .position = call->position,
                                   .position_end = call->position_end};
    struct expr *meaning;
    TRY(function_resolve(ctx, &choice, &meaning, err));
    function_become(call, "decode case");
    function_replace(ctx, call, meaning);
    return OK;
}

/* ---- URLs ---- */

static enum status cell_kernel_url_encode(const struct kernel_call *call, uint32_t row,
                                          struct error *err)
{
    struct bytes text = kernel_text(call, 0, row);
    struct buffer out = {0};
    for (size_t i = 0; i < text.size_bytes; i++) {
        uint8_t c = text.data[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '.' || c == '-' || c == '*' || c == '_';
        if (plain) {
            buffer_add_byte(&out, c);
        } else if (c == ' ') {
            buffer_add_byte(&out, '+');
        } else {
            buffer_add_byte(&out, '%');
            buffer_add_byte(&out, (uint8_t)hex_digits[c >> 4]);
            buffer_add_byte(&out, (uint8_t)hex_digits[c & 15]);
        }
    }
    enum status status = kernel_set_buffer(call, row, &out, err);
    buffer_fini(&out);
    return status;
}

KERNEL_EACH(kernel_url_encode)

/* Replaces what is no UTF-8 by U+FFFD. */
static void add_valid_utf8(struct buffer *out, struct bytes text)
{
    while (text.size_bytes > 0) {
        size_t size = utf8_sequence_size(text);
        if (size > 0) {
            buffer_add(out, text.data, size);
        } else { /* one mark for the longest start of a sequence */
            size = 1;
            size_t wanted = text_step(*text.data);
            while (size < wanted && size < text.size_bytes && (text.data[size] & 0xC0) == 0x80 &&
                   !(size == 1 && *text.data == 0xE0 && text.data[1] < 0xA0) &&
                   !(size == 1 && *text.data == 0xED && text.data[1] > 0x9F) &&
                   !(size == 1 && *text.data == 0xF0 && text.data[1] < 0x90) &&
                   !(size == 1 && *text.data == 0xF4 && text.data[1] > 0x8F))
                size++;
            add_utf8(out, 0xFFFD);
        }
        text = text_skip(text, size);
    }
}

static bool url_decode(struct buffer *out, struct bytes text)
{
    struct buffer raw = {0};
    bool ok = true;
    for (size_t i = 0; i < text.size_bytes && ok; i++) {
        uint8_t c = text.data[i];
        if (c == '%') {
            int high = i + 2 < text.size_bytes ? hex_value(text.data[i + 1]) : -1;
            int low = i + 2 < text.size_bytes ? hex_value(text.data[i + 2]) : -1;
            ok = high >= 0 && low >= 0;
            buffer_add_byte(&raw, (uint8_t)(high * 16 + low));
            i += 2;
        } else {
            buffer_add_byte(&raw, c == '+' ? ' ' : c);
        }
    }
    if (ok)
        add_valid_utf8(out, buffer_bytes(&raw));
    buffer_fini(&raw);
    return ok;
}

static enum status run_url_decode(const struct kernel_call *call, uint32_t row, bool try_,
                                  struct error *err)
{
    struct bytes text = kernel_text(call, 0, row);
    struct buffer out = {0};
    enum status status;
    if (url_decode(&out, text))
        status = kernel_set_buffer(call, row, &out, err);
    else if (try_)
        status = kernel_set_null(call, row, err);
    else
        status =
            error_raise(err, STATUS_CANNOT_DECODE_URL, "url", kernel_error_text(call, text), NULL);
    buffer_fini(&out);
    return status;
}

static enum status cell_kernel_url_decode(const struct kernel_call *call, uint32_t row,
                                          struct error *err)
{
    return run_url_decode(call, row, false, err);
}

static enum status cell_kernel_try_url_decode(const struct kernel_call *call, uint32_t row,
                                              struct error *err)
{
    return run_url_decode(call, row, true, err);
}

KERNEL_EACH(kernel_url_decode)
KERNEL_EACH(kernel_try_url_decode)

/* ---- UTF-8 ---- */

KERNEL(kernel_is_valid_utf8)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(uint8_t, call)[row] = utf8_is_valid(kernel_text(call, 0, row));
    }
    return OK;
}

static enum status cell_kernel_make_valid_utf8(const struct kernel_call *call, uint32_t row,
                                               struct error *err)
{
    struct buffer out = {0};
    add_valid_utf8(&out, kernel_text(call, 0, row));
    enum status status = kernel_set_buffer(call, row, &out, err);
    buffer_fini(&out);
    return status;
}

KERNEL_EACH(kernel_make_valid_utf8)

static enum status validate_utf8(const struct kernel_call *call, uint32_t row, bool try_,
                                 struct error *err)
{
    struct bytes text = kernel_text(call, 0, row);
    if (utf8_is_valid(text)) {
        kernel_set_view(call, row, text);
        return OK;
    }
    if (try_)
        return kernel_set_null(call, row, err);
    struct buffer shown = {0};
    for (size_t i = 0; i < text.size_bytes && i < 100; i++)
        buffer_printf(&shown, "\\x%02X", text.data[i]);
    enum status status =
        error_raise(err, STATUS_INVALID_UTF8_STRING, "str", buffer_text(&shown), NULL);
    buffer_fini(&shown);
    return status;
}

static enum status cell_kernel_validate_utf8(const struct kernel_call *call, uint32_t row,
                                             struct error *err)
{
    return validate_utf8(call, row, false, err);
}

static enum status cell_kernel_try_validate_utf8(const struct kernel_call *call, uint32_t row,
                                                 struct error *err)
{
    return validate_utf8(call, row, true, err);
}

KERNEL_EACH(kernel_validate_utf8)
KERNEL_EACH(kernel_try_validate_utf8)
