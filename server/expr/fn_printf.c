/* format_string: the conversions of java.util.Formatter in the US locale. */
#include "base/check.h"
#include "base/utf8.h"
#include "columnar/decimal.h"
#include "columnar/value_text.h"
#include "expr/digits.h"
#include "expr/fn_format.h"
#include "expr/fn_support.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

enum {
    FLAG_LEFT = 1,
    FLAG_PLUS = 2,
    FLAG_SPACE = 4,
    FLAG_ZERO = 8,
    FLAG_GROUP = 16,
    FLAG_PARENTHESES = 32,
    FLAG_ALTERNATE = 64,
    FLAG_PREVIOUS = 128,
};

#define WIDTH_MAX 100000

struct spec {
    unsigned flags;
    int index; /* from 1; 0: the next one */
    int width;
    int precision; /* -1: none */
    char conversion;
};

/* ---- specifications ---- */

static int read_number(struct bytes format, size_t *at)
{
    int value = 0;
    while (*at < format.size_bytes && isdigit(format.data[*at]) && value < WIDTH_MAX)
        value = value * 10 + (format.data[(*at)++] - '0');
    return value;
}

static unsigned flag_of(uint8_t c)
{
    static const char flags[] = "-+ 0,(#<";
    const char *found = c == '\0' ? NULL : strchr(flags, c);
    return found == NULL ? 0 : 1U << (found - flags);
}

/* Reads what follows '%'. */
static bool read_spec(struct bytes format, size_t *at, struct spec *out)
{
    *out = (struct spec){.precision = -1};
    size_t start = *at;
    if (*at < format.size_bytes && format.data[*at] != '0') {
        int number = read_number(format, at);
        if (*at < format.size_bytes && format.data[*at] == '$' && *at > start) {
            out->index = number;
            (*at)++;
        } else {
            *at = start;
        }
    }
    while (*at < format.size_bytes && flag_of(format.data[*at]) != 0)
        out->flags |= flag_of(format.data[(*at)++]);
    out->width = read_number(format, at);
    if (*at < format.size_bytes && format.data[*at] == '.') {
        (*at)++;
        start = *at;
        out->precision = read_number(format, at);
        if (*at == start)
            return false;
    }
    if (*at >= format.size_bytes)
        return false;
    out->conversion = (char)format.data[(*at)++];
    return true;
}

/* The checks that java.util.Formatter makes of a specification before it looks at the argument. */
static bool spec_is_legal(const struct spec *spec)
{
    static const struct {
        const char *conversions;
        unsigned bad;
        bool precision;
    } rules[] = {
        {"sSbBhH",
         FLAG_PLUS | FLAG_SPACE | FLAG_ZERO | FLAG_GROUP | FLAG_PARENTHESES | FLAG_ALTERNATE, true},
        {"cC", FLAG_PLUS | FLAG_SPACE | FLAG_ZERO | FLAG_GROUP | FLAG_PARENTHESES | FLAG_ALTERNATE,
         false},
        {"d", FLAG_ALTERNATE, false},
        {"xXo", FLAG_GROUP | FLAG_PLUS | FLAG_SPACE | FLAG_PARENTHESES, false},
        {"eE", FLAG_GROUP, true},
        {"gG", FLAG_ALTERNATE, true},
        {"aA", FLAG_GROUP | FLAG_PARENTHESES, true},
    };
    unsigned flags = spec->flags;
    if (((flags & (FLAG_LEFT | FLAG_ZERO)) != 0 && spec->width == 0) ||
        (flags & (FLAG_LEFT | FLAG_ZERO)) == (FLAG_LEFT | FLAG_ZERO) ||
        (flags & (FLAG_PLUS | FLAG_SPACE)) == (FLAG_PLUS | FLAG_SPACE))
        return false;
    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
        if (spec->conversion == '\0' || strchr(rules[i].conversions, spec->conversion) == NULL)
            continue;
        return (flags & rules[i].bad) == 0 && (rules[i].precision || spec->precision < 0);
    }
    return true;
}

static void add_padded(struct buffer *out, const struct spec *spec, struct bytes text)
{
    int64_t missing = (int64_t)spec->width - text_length(text);
    for (size_t i = 0; i < text.size_bytes; i++) /* Java counts such characters twice */
        missing -= text.data[i] >= 0xf0;
    if ((spec->flags & FLAG_LEFT) == 0)
        buffer_add_repeated(out, ' ', missing);
    buffer_add(out, text.data, text.size_bytes);
    if ((spec->flags & FLAG_LEFT) != 0)
        buffer_add_repeated(out, ' ', missing);
}

/* ---- numbers ---- */

/* A number without its sign: digits of the whole and, from a point on, the rest. */
static void add_number(struct buffer *out, const struct spec *spec, bool negative,
                       struct bytes digits)
{
    struct buffer body = {0};
    size_t whole = 0;
    while (whole < digits.size_bytes && isdigit(digits.data[whole]))
        whole++;
    for (size_t i = 0; i < digits.size_bytes; i++) {
        if ((spec->flags & FLAG_GROUP) != 0 && i > 0 && i < whole && (whole - i) % 3 == 0)
            buffer_add_byte(&body, ',');
        buffer_add_byte(&body, digits.data[i]);
    }
    bool parentheses = negative && (spec->flags & FLAG_PARENTHESES) != 0;
    const char *sign = parentheses                       ? "("
                       : negative                        ? "-"
                       : (spec->flags & FLAG_PLUS) != 0  ? "+"
                       : (spec->flags & FLAG_SPACE) != 0 ? " "
                                                         : "";
    struct buffer text = {0};
    buffer_add_text(&text, sign);
    int64_t used = (int64_t)(body.size_bytes + strlen(sign)) + parentheses;
    if ((spec->flags & FLAG_ZERO) != 0)
        buffer_add_repeated(&text, '0', spec->width - used);
    buffer_add(&text, body.data, body.size_bytes);
    if (parentheses)
        buffer_add_byte(&text, ')');
    add_padded(out, spec, buffer_bytes(&text));
    buffer_fini(&body);
    buffer_fini(&text);
}

/* `count` digits from `first` on; far behind the last they are all 0. */
static void add_digits(struct buffer *out, const struct digits *digits, int first, int count)
{
    int own = digits->count - first;
    own = own < 0 ? 0 : own > count ? count : own;
    for (int i = 0; i < own; i++)
        buffer_add_byte(out, (uint8_t)digits_at(digits, first + i));
    buffer_add_repeated(out, '0', count - own);
}

static void add_fixed(struct buffer *out, const struct spec *spec, struct digits digits)
{
    int places = spec->precision < 0 ? 6 : spec->precision;
    struct buffer text = {0};
    digits_round(&digits, digits.point + places, DECIMAL_HALF_UP);
    for (int i = 0; i < digits.point; i++)
        buffer_add_byte(&text, (uint8_t)digits_at(&digits, i));
    if (digits.point <= 0)
        buffer_add_byte(&text, '0');
    if (places > 0 || (spec->flags & FLAG_ALTERNATE) != 0)
        buffer_add_byte(&text, '.');
    add_digits(&text, &digits, digits.point, places);
    add_number(out, spec, digits.negative, buffer_bytes(&text));
    buffer_fini(&text);
}

static void add_scientific(struct buffer *out, const struct spec *spec, struct digits digits)
{
    int places = spec->precision < 0 ? 6 : spec->precision;
    struct buffer text = {0};
    digits_round(&digits, places + 1, DECIMAL_HALF_UP);
    int exponent = digits.count == 0 ? 0 : digits.point - 1;
    buffer_add_byte(&text, (uint8_t)digits_at(&digits, 0));
    if (places > 0)
        buffer_add_byte(&text, '.');
    add_digits(&text, &digits, 1, places);
    buffer_printf(&text, "e%c%02d", exponent < 0 ? '-' : '+', exponent < 0 ? -exponent : exponent);
    struct spec plain = *spec;
    plain.flags &= ~(unsigned)FLAG_GROUP;
    add_number(out, &plain, digits.negative, buffer_bytes(&text));
    buffer_fini(&text);
}

/* %g: fixed for 10^-4 <= x < 10^precision. */
static void add_general(struct buffer *out, const struct spec *spec, struct digits digits)
{
    struct spec used = *spec;
    int precision = spec->precision < 0 ? 6 : spec->precision == 0 ? 1 : spec->precision;
    digits_round(&digits, precision, DECIMAL_HALF_UP);
    if (digits.count == 0 || (digits.point > -4 && digits.point <= precision)) {
        used.precision = precision - (digits.count == 0 ? 1 : digits.point);
        add_fixed(out, &used, digits);
    } else {
        used.precision = precision - 1;
        add_scientific(out, &used, digits);
    }
}

static void add_not_finite(struct buffer *out, const struct spec *spec, double value)
{
    struct spec used = *spec;
    used.flags &= ~(unsigned)(FLAG_ZERO | FLAG_GROUP);
    if (value != value)
        add_padded(out, &used, bytes_of_text("NaN"));
    else
        add_number(out, &used, value < 0, bytes_of_text("Infinity"));
}

static double number_of(const struct vector *arg, uint32_t at)
{
    return arg->type->id == TYPE_DOUBLE ? VECTOR_VALUES(double, arg)[at]
                                        : (double)VECTOR_VALUES(float, arg)[at];
}

/* %a without a precision, as Double.toHexString writes it: 0x1.8p0. */
static bool add_hexadecimal(struct buffer *out, const struct spec *spec, double value)
{
    char text[64];
    if (spec->precision >= 0)
        return false;
    double size = fabs(value);
    bool subnormal = size > 0 && size < 0x1p-1022;
    int length = snprintf(text, sizeof(text), "%a", subnormal ? size + 0x1p-1022 : size);
    char *power = memchr(text, 'p', (size_t)length);
    if (power == NULL)
        return false;
    struct buffer digits = {0};
    buffer_printf(&digits, "0x%c", size == 0 || subnormal ? '0' : '1');
    bool fraction = text[3] == '.';
    buffer_add_byte(&digits, '.');
    buffer_add(&digits, fraction ? text + 4 : "0", fraction ? (size_t)(power - text) - 4 : 1);
    buffer_add_byte(&digits, 'p');
    buffer_add_text(&digits, power[1] == '+' ? power + 2 : power + 1);
    struct spec plain = *spec;
    plain.flags &= ~(unsigned)(FLAG_GROUP | FLAG_ZERO);
    add_number(out, &plain, signbit(value), buffer_bytes(&digits));
    buffer_fini(&digits);
    return true;
}

/* False: the argument is no DOUBLE or FLOAT. */
static bool add_floating(struct buffer *out, const struct spec *spec, const struct vector *arg,
                         uint32_t row)
{
    struct digits digits;
    uint32_t at = vector_index(arg, row);
    enum type_id id = arg->type->id;
    if (id == TYPE_DOUBLE || id == TYPE_FLOAT) {
        double value = id == TYPE_DOUBLE ? VECTOR_VALUES(double, arg)[at]
                                         : (double)VECTOR_VALUES(float, arg)[at];
        if (value - value != 0.0) {
            add_not_finite(out, spec, value);
            return true;
        }
        if (id == TYPE_DOUBLE)
            digits_of_double(value, &digits);
        else
            digits_of_float(VECTOR_VALUES(float, arg)[at], &digits);
    } else {
        return false;
    }
    if (spec->conversion == 'a')
        return add_hexadecimal(out, spec, number_of(arg, at));
    if (spec->conversion == 'f')
        add_fixed(out, spec, digits);
    else if (spec->conversion == 'e')
        add_scientific(out, spec, digits);
    else
        add_general(out, spec, digits);
    return true;
}

static bool integer_of(const struct vector *arg, uint32_t row, int64_t *out, unsigned *bits)
{
    uint32_t at = vector_index(arg, row);
    switch ((int)arg->type->id) {
    case TYPE_BYTE:
        *out = VECTOR_VALUES(int8_t, arg)[at];
        *bits = 8;
        return true;
    case TYPE_SHORT:
        *out = VECTOR_VALUES(int16_t, arg)[at];
        *bits = 16;
        return true;
    case TYPE_INT:
    case TYPE_DATE:
        *out = VECTOR_VALUES(int32_t, arg)[at];
        *bits = 32;
        return true;
    case TYPE_LONG:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        *out = VECTOR_VALUES(int64_t, arg)[at];
        *bits = 64;
        return true;
    default:
        return false;
    }
}

static bool add_integer(struct buffer *out, const struct spec *spec, const struct vector *arg,
                        uint32_t row)
{
    char text[32];
    int64_t value;
    unsigned bits;
    if (!integer_of(arg, row, &value, &bits))
        return false;
    uint64_t shown = (uint64_t)value;
    if (spec->conversion == 'd') {
        size_t size = number_print_uint64(text, value < 0 ? 0 - shown : shown);
        add_number(out, spec, value < 0, bytes_of(text, size));
        return true;
    }
    if (bits < 64)
        shown &= (UINT64_C(1) << bits) - 1;
    bool alternate = (spec->flags & FLAG_ALTERNATE) != 0;
    int size = spec->conversion == 'x' ? snprintf(text, sizeof(text), "%s%llx",
                                                  alternate ? "0x" : "", (unsigned long long)shown)
                                       : snprintf(text, sizeof(text), "%s%llo",
                                                  alternate ? "0" : "", (unsigned long long)shown);
    struct spec plain = *spec;
    plain.flags &= FLAG_LEFT | FLAG_ZERO;
    add_number(out, &plain, false, bytes_of(text, (size_t)size));
    return true;
}

/* ---- other conversions ---- */

static void add_text(struct buffer *out, const struct spec *spec, struct bytes text)
{
    size_t size = 0;
    for (int units = 0; spec->precision >= 0 && size < text.size_bytes;) { /* of UTF-16 */
        size_t step = text_step(text.data[size]);
        units += step == 4 ? 2 : 1;
        if (units > spec->precision)
            break;
        size += step;
    }
    if (spec->precision >= 0)
        text = text_first(text, size < text.size_bytes ? size : text.size_bytes);
    add_padded(out, spec, text);
}

/* Dates and times are the numbers the engine holds. */
static void add_value(struct buffer *out, const struct spec *spec, const struct kernel_call *call,
                      uint32_t index, uint32_t row)
{
    const struct vector *arg = call->args[index];
    struct buffer text = {0};
    int64_t number;
    unsigned bits;
    if (integer_of(arg, row, &number, &bits))
        buffer_printf(&text, "%lld", (long long)number);
    else
        value_text_print(&text, arg, row, call->ctx->zone);
    add_text(out, spec, buffer_bytes(&text));
    buffer_fini(&text);
}

static bool add_character(struct buffer *out, const struct spec *spec, const struct vector *arg,
                          uint32_t row)
{
    uint8_t text[4];
    int64_t code;
    unsigned bits;
    if (!integer_of(arg, row, &code, &bits) || bits > 32 || code < 0 || code > 0x10FFFF)
        return false;
    add_padded(out, spec, bytes_of(text, utf8_encode((uint32_t)code, text)));
    return true;
}

static bool add_boolean(struct buffer *out, const struct spec *spec, const struct vector *arg,
                        uint32_t row)
{
    bool value = !vector_is_null(arg, row);
    if (value && arg->type->id == TYPE_BOOLEAN)
        value = VECTOR_VALUES(uint8_t, arg)[vector_index(arg, row)] != 0;
    add_text(out, spec, bytes_of_text(value ? "true" : "false"));
    return true;
}

/* The hash of a number as Java's boxes have it. */
static bool add_hash(struct buffer *out, const struct spec *spec, const struct vector *arg,
                     uint32_t row)
{
    char text[16];
    int64_t value;
    unsigned bits;
    uint64_t shown;
    if (arg->type->id == TYPE_STRING)
        shown = text_hash_code(VECTOR_VALUES(struct bytes, arg)[vector_index(arg, row)]);
    else if (integer_of(arg, row, &value, &bits))
        shown = bits == 64 ? (uint64_t)value ^ (uint64_t)value >> 32 : (uint64_t)value;
    else
        return false;
    int size = snprintf(text, sizeof(text), "%x", (unsigned)shown);
    add_text(out, spec, bytes_of(text, (size_t)size));
    return true;
}

static bool add_conversion(struct buffer *out, const struct spec *spec,
                           const struct kernel_call *call, uint32_t index, uint32_t row)
{
    const struct vector *arg = call->args[index];
    if (spec->conversion == 'b')
        return add_boolean(out, spec, arg, row);
    if (spec->conversion == '\0' || strchr("sdxofegcah", spec->conversion) == NULL)
        return false;
    if (vector_is_null(arg, row)) {
        add_text(out, spec, bytes_of_text("null"));
        return true;
    }
    switch (spec->conversion) {
    case 's':
        add_value(out, spec, call, index, row);
        return true;
    case 'd':
    case 'x':
    case 'o':
        return add_integer(out, spec, arg, row);
    case 'h':
        return add_hash(out, spec, arg, row);
    case 'c':
        return add_character(out, spec, arg, row);
    default:
        return add_floating(out, spec, arg, row);
    }
}

/* ---- formats ---- */

static bool convert(struct buffer *out, struct spec spec, const struct kernel_call *call,
                    uint32_t row, uint32_t index)
{
    if (index == 0 || index >= call->arg_count)
        return false;
    bool upper = spec.conversion != 'D' && strchr("SXEGBCAH", spec.conversion) != NULL;
    size_t start = out->size_bytes;
    if (upper)
        spec.conversion = (char)tolower(spec.conversion);
    if (!add_conversion(out, &spec, call, index, row))
        return false;
    for (size_t i = start; upper && i < out->size_bytes; i++)
        if (out->data[i] < 0x80)
            out->data[i] = (uint8_t)toupper(out->data[i]);
    return true;
}

static bool format_row(const struct kernel_call *call, uint32_t row, struct buffer *out)
{
    struct bytes format = kernel_text(call, 0, row);
    uint32_t next = 0;
    uint32_t last = 0;
    for (size_t at = 0; at < format.size_bytes;) {
        uint8_t c = format.data[at++];
        struct spec spec;
        if (c != '%') {
            buffer_add_byte(out, c);
            continue;
        }
        if (!read_spec(format, &at, &spec) || !spec_is_legal(&spec))
            return false;
        if (spec.conversion == '%' || spec.conversion == 'n') {
            add_padded(out, &spec, bytes_of_text(spec.conversion == 'n' ? "\n" : "%"));
            continue;
        }
        if ((spec.flags & FLAG_PREVIOUS) == 0)
            last = spec.index > 0 ? (uint32_t)spec.index : ++next;
        if (!convert(out, spec, call, row, last))
            return false;
    }
    return true;
}

static enum status mismatch(const struct kernel_call *call, uint32_t row, struct error *err)
{
    const struct type *type = call->arg_count > 1 ? call->args[1]->type : type_simple(TYPE_VOID);
    return error_raise(err, STATUS_INVALID_FORMAT__MISMATCH_INPUT, "inputType",
                       function_sql_type(call->ctx->arena, type), "input", "the arguments",
                       "format", kernel_error_text(call, kernel_text(call, 0, row)), NULL);
}

KERNEL(kernel_format_string)
{
    struct buffer text = {0};
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        if (kernel_arg_is_null(call, 0, row)) {
            TRY_OUT(kernel_set_null(call, row, err));
            continue;
        }
        if (!format_row(call, row, &text)) {
            status = mismatch(call, row, err);
            goto out;
        }
        TRY_OUT(kernel_set_buffer(call, row, &text, err));
    }
out:
    buffer_fini(&text);
    return status;
}

RESOLVER(resolve_format_string)
{
    *out = call;
    struct vector *format;
    TRY(function_apply_signature(ctx, call, err));
    if (!expr_is_foldable(call->args[0]))
        return OK;
    TRY(function_constant(ctx, call, 0, "strfmt", &format, err));
    if (vector_is_null(format, 0) ||
        text_find(VECTOR_VALUES(struct bytes, format)[0], bytes_of_text("%0$"), 0) == SIZE_MAX)
        return OK;
    return error_raise_at(err, STATUS_INVALID_PARAMETER_VALUE__ZERO_INDEX, call->position,
                          call->position_end, "parameter", "`strfmt`", "functionName",
                          "`format_string`", NULL);
}
