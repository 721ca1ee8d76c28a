/* format_number: what java.text.DecimalFormat does in the US locale, HALF_EVEN. */
#include "base/check.h"
#include "base/utf8.h"
#include "expr/digits.h"
#include "expr/fn_format.h"
#include "expr/fn_support.h"

#include <math.h>
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
    int whole_max; /* of the mantissa, with an exponent */
    int group;     /* 0: none */
    int places_min;
    int places_max;
    int shift;  /* percent: 2, per mille: 3 */
    bool point; /* the point is always shown */
    bool scientific;
    int exponent_min;
};

/* ---- patterns: DecimalFormat.applyPattern ---- */

/* What the digits of a pattern are, as they are read. */
struct pattern_reading {
    struct bytes pattern;
    size_t at;
    int left;        /* '#' in front of the zeros */
    int zeros;       /* '0' */
    int right;       /* '#' behind the zeros */
    int since_group; /* digits since the last ','; -1: there was none */
    int point;       /* how many digits stand before the point; -1: there is none */
};

static bool is_pattern_char(uint8_t c)
{
    return c == '0' || c == '#' || c == ',' || c == '.';
}

/* Text before or behind the number; quotes are dropped by add_affix().  False: malformed. */
static bool read_affix(struct pattern_reading *in, bool suffix, struct number_format *out,
                       struct bytes *affix)
{
    size_t start = in->at;
    bool quoted = false;
    for (; in->at < in->pattern.size_bytes; in->at++) {
        struct bytes rest = text_skip(in->pattern, in->at);
        if (*rest.data == '\'')
            quoted = !quoted;
        if (quoted)
            continue;
        if (is_pattern_char(*rest.data) || (*rest.data == ';' && suffix))
            break;
        bool mille = rest.size_bytes >= 3 && memcmp(rest.data, "\xE2\x80\xB0", 3) == 0;
        if (*rest.data == ';' || ((*rest.data == '%' || mille) && out->shift != 0))
            return false;
        if (*rest.data == '%' || mille)
            out->shift = mille ? 3 : 2;
    }
    *affix = bytes_of(in->pattern.data + start, in->at - start);
    return !quoted;
}

/* Behind 'E'. */
static bool read_exponent(struct pattern_reading *in, struct number_format *out)
{
    in->at++;
    out->scientific = true;
    for (; in->at < in->pattern.size_bytes && in->pattern.data[in->at] == '0'; in->at++)
        out->exponent_min++;
    return in->left + in->zeros > 0 && out->exponent_min > 0;
}

static bool read_digits(struct pattern_reading *in, struct number_format *out)
{
    for (; in->at < in->pattern.size_bytes; in->at++) {
        uint8_t c = in->pattern.data[in->at];
        if (c == 'E' && !out->scientific)
            return read_exponent(in, out);
        if (!is_pattern_char(c))
            return true;
        if (c == ',') {
            in->since_group = 0;
            continue;
        }
        if (c == '.') {
            if (in->point >= 0)
                return false;
            in->point = in->left + in->zeros + in->right;
            continue;
        }
        if (c == '0' && in->right > 0)
            return false;
        in->zeros += c == '0';
        in->left += c == '#' && in->zeros == 0;
        in->right += c == '#' && in->zeros > 0;
        if (in->since_group >= 0 && in->point < 0)
            in->since_group++;
    }
    return true;
}

static bool apply_digits(struct pattern_reading *in, struct number_format *out)
{
    if (in->zeros == 0 && in->left > 0 && in->point >= 0) { /* "#.#" is "0.#" */
        int whole = in->point == 0 ? 1 : in->point;
        in->right = in->left - whole;
        in->left = whole - 1;
        in->zeros = 1;
    }
    int total = in->left + in->zeros + in->right;
    if ((in->point < 0 && in->right > 0) || in->since_group == 0 ||
        (in->point >= 0 && (in->point < in->left || in->point > in->left + in->zeros)))
        return false;
    out->whole_min = (in->point >= 0 ? in->point : total) - in->left;
    out->whole_max = in->left + out->whole_min;
    out->places_max = in->point >= 0 ? total - in->point : 0;
    out->places_min = in->point >= 0 ? in->left + in->zeros - in->point : 0;
    out->group = in->since_group > 0 ? in->since_group : 0;
    out->point = in->point == 0 || in->point == total;
    return true;
}

/* The part behind ';': only what stands around its digits counts. */
static bool read_negative(struct pattern_reading *in, struct number_format *out)
{
    struct number_format ignored = {0};
    in->at++;
    if (!read_affix(in, false, &ignored, &out->negative.prefix))
        return false;
    while (in->at < in->pattern.size_bytes &&
           (is_pattern_char(in->pattern.data[in->at]) || in->pattern.data[in->at] == 'E'))
        in->at++;
    if (!read_affix(in, true, &ignored, &out->negative.suffix) || in->at < in->pattern.size_bytes)
        return false;
    out->has_negative = !bytes_equal(out->negative.prefix, out->positive.prefix) ||
                        !bytes_equal(out->negative.suffix, out->positive.suffix);
    return true;
}

/* False: no pattern of DecimalFormat. */
static bool read_pattern(struct bytes pattern, struct number_format *out)
{
    struct pattern_reading in = {.pattern = pattern, .since_group = -1, .point = -1};
    *out = (struct number_format){0};
    if (pattern.size_bytes == 0) { /* Spark's own default */
        out->group = 3;
        out->whole_min = 1;
        return true;
    }
    struct bytes part;
    if (!read_affix(&in, false, out, &out->positive.prefix))
        return false;
    out->positive.suffix = bytes_of(pattern.data + in.at, 0);
    while (in.at < pattern.size_bytes && pattern.data[in.at] != ';') {
        if (!read_digits(&in, out) || !read_affix(&in, true, out, &part))
            return false;
        if (out->positive.suffix.size_bytes == 0)
            out->positive.suffix = part;
    }
    if (!apply_digits(&in, out))
        return false;
    return in.at >= pattern.size_bytes || read_negative(&in, out);
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
    int places = digits->count == 0 ? 0 : digits->count - digits->point;
    if (places < format->places_min)
        places = format->places_min;
    if (width == 0 && places <= 0)
        width = 1;
    for (int left = width; left > 0; left--) {
        if (format->group > 0 && left != width && left % format->group == 0)
            buffer_add_byte(out, ',');
        buffer_add_byte(out, (uint8_t)digits_at(digits, digits->point - left));
    }
    if (places > 0 || format->point)
        buffer_add_byte(out, '.');
    for (int i = 0; i < places; i++)
        buffer_add_byte(out,
                        (uint8_t)(digits->count == 0 ? '0' : digits_at(digits, digits->point + i)));
}

static void add_scientific(struct buffer *out, const struct number_format *format,
                           struct digits digits)
{
    int whole = format->whole_min;
    int exponent = digits.count == 0 ? 0 : digits.point;
    if (format->whole_max > 1 && format->whole_max > format->whole_min) { /* steps of whole_max */
        int step = format->whole_max;
        exponent = (exponent >= 1 ? exponent - 1 : exponent - step) / step * step;
        whole = 1;
    } else {
        exponent -= whole;
    }
    if (digits.count > 0 && format->whole_max + format->places_max > 0)
        digits_round(&digits, format->whole_max + format->places_max, DECIMAL_HALF_EVEN);
    int shown = digits.count == 0 ? whole : digits.point - exponent;
    int total = format->whole_min + format->places_min;
    total = total < shown ? shown : total;
    total = total < digits.count ? digits.count : total;
    for (int i = 0; i < total; i++) {
        if (i == shown)
            buffer_add_byte(out, '.');
        buffer_add_byte(out, (uint8_t)digits_at(&digits, i));
    }
    if (format->point && total == shown)
        buffer_add_byte(out, '.');
    if (digits.count == 0)
        exponent = 0;
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
    struct digits digits = {.negative = signbit(value)};
    if (value != value) {
        buffer_add_text(out, "NaN");
        return;
    }
    bool finite = value - value == 0.0;
    if (finite)
        digits_of_cell(vector, row, format, &digits);
    digits.negative |= signbit(value) != 0;
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

static enum status malformed(const struct kernel_call *call, uint32_t row, struct error *err)
{
    return error_raise(err, STATUS_INVALID_FORMAT__MISMATCH_INPUT, "inputType",
                       function_sql_type(call->ctx->arena, call->args[0]->type), "input",
                       "the number", "format", kernel_error_text(call, kernel_text(call, 1, row)),
                       NULL);
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
        } else if (!read_pattern(kernel_text(call, 1, row), &format)) {
            status = malformed(call, row, err);
            goto out;
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
