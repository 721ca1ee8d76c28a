/* format_number: what java.text.DecimalFormat does in the US locale, HALF_EVEN. */
#include "base/check.h"
#include "base/utf8.h"
#include "expr/digits.h"
#include "expr/fn_format.h"
#include "expr/fn_support.h"

#include <stdio.h>
#include <stdlib.h>

#define PLACES_MAX 340

struct affix {
    struct bytes prefix;
    struct bytes suffix;
};

struct number_format {
    struct affix positive;
    struct affix negative;
    bool has_negative;
    int whole_min;
    int group; /* 0: none */
    int places_min;
    int places_max;
    int shift; /* percent: 2, per mille: 3 */
    bool scientific;
    int exponent_min;
};

/* ---- patterns ---- */

static bool is_pattern_char(uint8_t c)
{
    return (c >= '0' && c <= '9') || c == '#' || c == ',' || c == '.';
}

/* Text before or behind the number; quotes are dropped by the caller of add_affix(). */
static struct bytes read_affix(struct bytes pattern, size_t *at, struct number_format *out)
{
    size_t start = *at;
    bool quoted = false;
    for (; *at < pattern.size_bytes; (*at)++) {
        uint8_t c = pattern.data[*at];
        if (c == '\'')
            quoted = !quoted;
        if (quoted)
            continue;
        if (c == ';' || is_pattern_char(c))
            break;
        if (c == '%')
            out->shift = 2;
        if (c == 0xE2 && pattern.size_bytes - *at >= 3 &&
            memcmp(pattern.data + *at, "\xE2\x80\xB0", 3) == 0)
            out->shift = 3;
    }
    return bytes_of(pattern.data + start, *at - start);
}

static void read_digits(struct bytes pattern, size_t *at, struct number_format *out)
{
    bool fraction = false;
    int since_comma = -1;
    for (; *at < pattern.size_bytes && is_pattern_char(pattern.data[*at]); (*at)++) {
        uint8_t c = pattern.data[*at];
        if (c == '.') {
            fraction = true;
        } else if (c == ',') {
            since_comma = 0;
        } else {
            if (!fraction)
                since_comma += since_comma >= 0;
            out->whole_min += !fraction && c != '#';
            out->places_min += fraction && c != '#';
            out->places_max += fraction;
        }
    }
    out->group = since_comma > 0 ? since_comma : 0;
    if (*at < pattern.size_bytes && pattern.data[*at] == 'E') {
        out->scientific = true;
        for ((*at)++; *at < pattern.size_bytes && pattern.data[*at] == '0'; (*at)++)
            out->exponent_min++;
    }
}

static void read_pattern(struct bytes pattern, struct number_format *out)
{
    size_t at = 0;
    *out = (struct number_format){0};
    if (pattern.size_bytes == 0) { /* Spark's own default */
        out->group = 3;
        out->whole_min = 1;
        return;
    }
    out->positive.prefix = read_affix(pattern, &at, out);
    read_digits(pattern, &at, out);
    out->positive.suffix = read_affix(pattern, &at, out);
    if (at >= pattern.size_bytes || pattern.data[at] != ';')
        return;
    struct number_format ignored = {0};
    at++;
    out->has_negative = true;
    out->negative.prefix = read_affix(pattern, &at, &ignored);
    read_digits(pattern, &at, &ignored);
    out->negative.suffix = read_affix(pattern, &at, &ignored);
}

/* ---- layout ---- */

static void add_affix(struct buffer *out, struct bytes affix)
{
    for (size_t i = 0; i < affix.size_bytes; i++) {
        bool quote = affix.data[i] == '\'';
        if (quote && i + 1 < affix.size_bytes && affix.data[i + 1] == '\'')
            i++;
        else if (quote)
            continue;
        buffer_add_byte(out, affix.data[i]);
    }
}

static void add_fixed(struct buffer *out, const struct number_format *format,
                      const struct digits *digits)
{
    int whole = digits->count > 0 && digits->point > 0 ? digits->point : 0;
    int width = whole > format->whole_min ? whole : format->whole_min;
    if (width == 0 && format->places_max == 0)
        width = 1;
    for (int left = width; left > 0; left--) {
        if (format->group > 0 && left != width && left % format->group == 0)
            buffer_add_byte(out, ',');
        buffer_add_byte(out, (uint8_t)digits_at(digits, digits->point - left));
    }
    int places = digits->count == 0 ? 0 : digits->count - digits->point;
    if (places < format->places_min)
        places = format->places_min;
    if (places > 0)
        buffer_add_byte(out, '.');
    for (int i = 0; i < places; i++)
        buffer_add_byte(out,
                        (uint8_t)(digits->count == 0 ? '0' : digits_at(digits, digits->point + i)));
}

static void add_scientific(struct buffer *out, const struct number_format *format,
                           struct digits digits)
{
    struct number_format mantissa = *format;
    int whole = format->whole_min > 0 ? format->whole_min : 1;
    digits_round(&digits, whole + format->places_max, DECIMAL_HALF_EVEN);
    int exponent = digits.count == 0 ? 0 : digits.point - whole;
    digits.point = whole;
    mantissa.group = 0;
    add_fixed(out, &mantissa, &digits);
    buffer_printf(out, "E%s%0*d", exponent < 0 ? "-" : "", format->exponent_min, abs(exponent));
}

/* At a tie of the shortest digits the exact value of the double decides. */
static void round_double(struct digits *digits, int places, double value)
{
    int keep = digits->point + places;
    bool tie = keep >= 0 && keep + 1 == digits->count && digits->digits[keep] == '5';
    if (!tie) {
        digits_round(digits, keep, DECIMAL_HALF_EVEN);
        return;
    }
    char exact[PLACES_MAX + 32];
    int size = snprintf(exact, sizeof(exact), "%.*f", places, value < 0 ? -value : value);
    char last = size > 0 && size < (int)sizeof(exact) ? exact[size - 1] : '0';
    bool down = last == (keep > 0 ? digits->digits[keep - 1] : '0');
    if (down)
        digits->digits[keep] = '4';
    else
        digits->digits[keep] = '6';
    digits_round(digits, keep, DECIMAL_HALF_EVEN);
}

static void digits_of_cell(const struct vector *vector, uint32_t row,
                           const struct number_format *format, struct digits *out)
{
    uint32_t at = vector_index(vector, row);
    double value = 0.0;
    switch ((int)vector->type->id) {
    case TYPE_DOUBLE:
        value = VECTOR_VALUES(double, vector)[at];
        digits_of_double(value, out);
        break;
    case TYPE_FLOAT:
        value = (double)VECTOR_VALUES(float, vector)[at];
        digits_of_double(value, out);
        break;
    case TYPE_DECIMAL:
        digits_of_decimal((struct decimal){VECTOR_VALUES(int128, vector)[at], vector->type->scale},
                          out);
        break;
    default:
        digits_of_int64(VECTOR_VALUES(int64_t, vector)[at], out);
    }
    if (out->count > 0)
        out->point += format->shift;
    if (format->scientific)
        return;
    if (value != 0.0 && format->shift == 0)
        round_double(out, format->places_max, value);
    else
        digits_round(out, out->point + format->places_max, DECIMAL_HALF_EVEN);
    if (out->count == 0)
        out->point = 0;
}

static double floating(const struct vector *vector, uint32_t row)
{
    uint32_t at = vector_index(vector, row);
    if (vector->type->id == TYPE_DOUBLE)
        return VECTOR_VALUES(double, vector)[at];
    return vector->type->id == TYPE_FLOAT ? (double)VECTOR_VALUES(float, vector)[at] : 0.0;
}

static void format_cell(const struct vector *vector, uint32_t row,
                        const struct number_format *format, struct buffer *out)
{
    double value = floating(vector, row);
    struct digits digits = {.negative = value < 0};
    if (value != value) {
        buffer_add_text(out, "NaN");
        return;
    }
    bool finite = value - value == 0.0;
    if (finite)
        digits_of_cell(vector, row, format, &digits);
    const struct affix *affix =
        digits.negative && format->has_negative ? &format->negative : &format->positive;
    if (digits.negative && !format->has_negative)
        buffer_add_byte(out, '-');
    add_affix(out, affix->prefix);
    if (!finite)
        buffer_add_text(out, "\xE2\x88\x9E");
    else if (format->scientific)
        add_scientific(out, format, digits);
    else
        add_fixed(out, format, &digits);
    add_affix(out, affix->suffix);
}

KERNEL(kernel_format_number)
{
    bool places = call->args[1]->type->id == TYPE_INT;
    struct number_format format = {.group = 3, .whole_min = 1};
    struct buffer text = {0};
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        if (places && kernel_int(call, 1, row) < 0) {
            TRY_OUT(kernel_set_null(call, row, err));
            continue;
        }
        if (places) {
            int32_t wanted = kernel_int(call, 1, row);
            format.places_min = wanted < PLACES_MAX ? wanted : PLACES_MAX;
            format.places_max = format.places_min;
        } else {
            read_pattern(kernel_text(call, 1, row), &format);
        }
        format_cell(call->args[0], row, &format, &text);
        TRY_OUT(kernel_set_buffer(call, row, &text, err));
    }
out:
    buffer_fini(&text);
    return status;
}

RESOLVER(resolve_format_number)
{
    *out = call;
    const struct type *type = call->args[0]->type;
    if (type->id == TYPE_VOID)
        call->args[0] = coercion_cast(ctx, call->args[0], type_simple(TYPE_INT));
    else if (!type_is_numeric(type))
        return function_wrong_type(call, 0, "\"NUMERIC\"", err);
    enum type_id id = call->args[0]->type->id;
    const char *signature = id == TYPE_DOUBLE    ? "double,int|string->string"
                            : id == TYPE_FLOAT   ? "float,int|string->string"
                            : id == TYPE_DECIMAL ? "decimal,int|string->string"
                                                 : "bigint,int|string->string";
    return function_apply(ctx, call, signature, err);
}
