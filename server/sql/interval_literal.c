/*
 * The value and type of interval literals.
 *
 * A literal is either of months or of days and time, never both; its fields run from the largest
 * to the smallest unit that was named, where a week counts as days, milli- and microseconds as
 * seconds.
 */
#include "base/check.h"
#include "sql/parse.h"

#include <stdio.h>
#include <strings.h>

#define MICROS_PER_SECOND INT64_C(1000000)
#define MICROS_PER_DAY    (INT64_C(86400) * MICROS_PER_SECOND)

enum {
    FRACTION_DIGITS_MAX = 9
};

static const struct interval_unit {
    const char *name;
    enum ast_unit field; /* of the literal's type */
    int64_t months, micros;
} units[] = {
    {"YEAR", AST_UNIT_YEAR, 12, 0},
    {"MONTH", AST_UNIT_MONTH, 1, 0},
    {"WEEK", AST_UNIT_DAY, 0, 7 * MICROS_PER_DAY},
    {"DAY", AST_UNIT_DAY, 0, MICROS_PER_DAY},
    {"HOUR", AST_UNIT_HOUR, 0, 3600 * MICROS_PER_SECOND},
    {"MINUTE", AST_UNIT_MINUTE, 0, 60 * MICROS_PER_SECOND},
    {"SECOND", AST_UNIT_SECOND, 0, MICROS_PER_SECOND},
    {"MILLISECOND", AST_UNIT_SECOND, 0, 1000},
    {"MICROSECOND", AST_UNIT_SECOND, 0, 1},
};

struct scan {
    struct bytes text;
    size_t at;
    int64_t months, micros;
    int64_t sign; /* of the whole literal, in the UNIT TO UNIT form */
    enum ast_unit year_month_from, year_month_to, day_time_from, day_time_to;
    struct error *err;
};

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || (byte >= 0x09 && byte <= 0x0D);
}

static void skip_blanks(struct scan *scan)
{
    while (scan->at < scan->text.size_bytes && is_blank(scan->text.data[scan->at]))
        scan->at++;
}

static size_t word_end(const struct scan *scan, size_t from)
{
    while (from < scan->text.size_bytes && !is_blank(scan->text.data[from]))
        from++;
    return from;
}

/* Raises `status` with the whole input and the word at `from` as parameter `name`. */
static enum status refuse(struct scan *scan, enum status status, const char *name, size_t from)
{
    char input[256], word[64];
    size_t input_size = scan->text.size_bytes < sizeof(input) ? scan->text.size_bytes : 255;
    size_t word_size = word_end(scan, from) - from;
    if (word_size >= sizeof(word))
        word_size = sizeof(word) - 1;
    if (input_size > 0)
        memcpy(input, scan->text.data, input_size);
    input[input_size] = '\0';
    if (word_size > 0)
        memcpy(word, scan->text.data + from, word_size);
    for (size_t i = 0; i < word_size; i++)
        word[i] = (char)(word[i] >= 'A' && word[i] <= 'Z' ? word[i] + 0x20 : word[i]);
    word[word_size] = '\0';
    if (name == NULL)
        return error_raise(scan->err, status, "input", input, NULL);
    return error_raise(scan->err, status, "input", input, name, word, NULL);
}

static enum status overflow(struct scan *scan)
{
    return refuse(scan, STATUS_INVALID_INTERVAL_FORMAT__ARITHMETIC_EXCEPTION, NULL, 0);
}

static const struct interval_unit *find_unit(struct bytes word)
{
    if (word.size_bytes > 1 && (word.data[word.size_bytes - 1] | 0x20) == 's')
        word.size_bytes--;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (word.size_bytes == strlen(units[i].name) &&
            strncasecmp((const char *)word.data, units[i].name, word.size_bytes) == 0)
            return &units[i];
    }
    return NULL;
}

struct amount {
    bool negative;
    int64_t whole;
    int fraction_digits; /* -1: no point was written */
    int64_t nanos;
};

/* [sign] digits [. digits], which a blank must end. */
static enum status read_amount(struct scan *scan, struct amount *out)
{
    *out = (struct amount){.fraction_digits = -1};
    size_t word = scan->at;
    uint8_t byte = scan->text.data[scan->at];
    if (byte == '+' || byte == '-') {
        out->negative = byte == '-';
        scan->at++;
        skip_blanks(scan);
    }
    size_t start = scan->at;
    for (; scan->at < scan->text.size_bytes; scan->at++) {
        byte = scan->text.data[scan->at];
        bool digit = byte >= '0' && byte <= '9';
        if (digit && out->fraction_digits < 0) {
            if (__builtin_mul_overflow(out->whole, 10, &out->whole) ||
                __builtin_add_overflow(out->whole, byte - '0', &out->whole))
                return overflow(scan);
        } else if (digit) {
            if (out->fraction_digits == FRACTION_DIGITS_MAX)
                return refuse(scan, STATUS_INVALID_INTERVAL_FORMAT__INVALID_PRECISION, "value",
                              word);
            out->nanos = out->nanos * 10 + (byte - '0');
            out->fraction_digits++;
        } else if (byte == '.' && out->fraction_digits < 0) {
            out->fraction_digits = 0;
        } else {
            break;
        }
    }
    for (int i = out->fraction_digits; i >= 0 && i < FRACTION_DIGITS_MAX; i++)
        out->nanos *= 10;
    if (scan->at == start)
        return refuse(scan, STATUS_INVALID_INTERVAL_FORMAT__UNRECOGNIZED_NUMBER, "number", word);
    if (scan->at < scan->text.size_bytes && !is_blank(scan->text.data[scan->at]))
        return refuse(scan, STATUS_INVALID_INTERVAL_FORMAT__INVALID_VALUE, "value", word);
    return OK;
}

static void widen(enum ast_unit *from, enum ast_unit *to, enum ast_unit field)
{
    if (*from == AST_UNIT_NONE || field < *from)
        *from = field;
    if (*to == AST_UNIT_NONE || field > *to)
        *to = field;
}

static enum status add(struct scan *scan, const struct amount *amount,
                       const struct interval_unit *unit)
{
    int64_t sign = amount->negative ? -1 : 1;
    int64_t value;
    if (unit->months != 0) {
        if (__builtin_mul_overflow(amount->whole, unit->months, &value) ||
            __builtin_add_overflow(scan->months, sign * value, &scan->months) ||
            scan->months > INT32_MAX || scan->months < INT32_MIN)
            return overflow(scan);
        widen(&scan->year_month_from, &scan->year_month_to, unit->field);
        return OK;
    }
    CHECK(unit->field != AST_UNIT_DAY || unit->micros >= MICROS_PER_DAY);
    int64_t days_max = INT32_MAX + (int64_t)amount->negative; /* days are an INT */
    if (unit->field == AST_UNIT_DAY && amount->whole > days_max / (unit->micros / MICROS_PER_DAY))
        return overflow(scan);
    if (__builtin_mul_overflow(amount->whole, unit->micros, &value) ||
        __builtin_add_overflow(scan->micros, sign * value, &scan->micros) ||
        __builtin_add_overflow(scan->micros, sign * (amount->nanos / 1000), &scan->micros)) {
        if (unit->field == AST_UNIT_DAY)
            return error_raise(scan->err, STATUS_INTERVAL_ARITHMETIC_OVERFLOW__WITHOUT_SUGGESTION,
                               NULL);
        return overflow(scan);
    }
    widen(&scan->day_time_from, &scan->day_time_to, unit->field);
    return OK;
}

/* Pairs of amount and unit until the end. */
static enum status read_pairs(struct scan *scan)
{
    skip_blanks(scan);
    if (scan->at == scan->text.size_bytes)
        return refuse(scan, STATUS_INVALID_INTERVAL_FORMAT__INPUT_IS_EMPTY, NULL, 0);
    while (scan->at < scan->text.size_bytes) {
        struct amount amount;
        size_t value = scan->at;
        TRY(read_amount(scan, &amount));
        skip_blanks(scan);
        if (scan->at == scan->text.size_bytes)
            return refuse(scan, STATUS_INVALID_INTERVAL_FORMAT__MISSING_UNIT, "word", value);
        size_t start = scan->at;
        scan->at = word_end(scan, start);
        const struct interval_unit *unit =
            find_unit(bytes_of(scan->text.data + start, scan->at - start));
        if (unit == NULL)
            return refuse(scan, STATUS_INVALID_INTERVAL_FORMAT__INVALID_UNIT, "unit", start);
        if (amount.fraction_digits >= 0 && (unit->micros != MICROS_PER_SECOND))
            return refuse(scan, STATUS_INVALID_INTERVAL_FORMAT__INVALID_FRACTION, "unit", start);
        TRY(add(scan, &amount, unit));
        skip_blanks(scan);
    }
    return OK;
}

static enum status finish(const struct scan *scan, struct bytes source, struct ast_literal *out)
{
    if (scan->year_month_from != AST_UNIT_NONE && scan->day_time_from != AST_UNIT_NONE) {
        char text[512];
        size_t size = source.size_bytes < sizeof(text) ? source.size_bytes : sizeof(text) - 1;
        memcpy(text, source.data, size);
        text[size] = '\0';
        return error_raise(scan->err, STATUS__LEGACY_ERROR_TEMP_0029, "literal", text, NULL);
    }
    if (scan->year_month_from != AST_UNIT_NONE) {
        out->kind = AST_LITERAL_YEAR_MONTH;
        out->integer = scan->months;
        out->from = scan->year_month_from;
        out->to = scan->year_month_to;
    } else {
        out->kind = AST_LITERAL_DAY_TIME;
        out->integer = scan->micros;
        out->from = scan->day_time_from;
        out->to = scan->day_time_to;
    }
    return OK;
}

static bool has_letter(struct bytes text)
{
    for (size_t i = 0; i < text.size_bytes; i++) {
        uint8_t byte = text.data[i] | 0x20;
        if ((byte >= 'a' && byte <= 'z') || text.data[i] >= 0x80)
            return true;
    }
    return false;
}

enum status interval_from_pairs(const struct interval_pair *pairs, size_t count,
                                struct bytes source, struct ast_literal *out, struct error *err)
{
    CHECK(count > 0);
    struct buffer text = {0};
    enum status status = OK;
    for (size_t i = 0; i < count && status == OK; i++) {
        struct bytes value = pairs[i].value;
        if (pairs[i].quoted && has_letter(value)) {
            buffer_clear(&text);
            buffer_add_bytes(&text, value);
            status =
                error_raise(err, STATUS__LEGACY_ERROR_TEMP_0026, "value", buffer_text(&text), NULL);
            break;
        }
        buffer_add_byte(&text, ' ');
        bool minus = pairs[i].quoted && pairs[i].minus;
        if (minus && value.size_bytes > 0 && value.data[0] == '-')
            value = bytes_of(value.data + 1, value.size_bytes - 1);
        else if (minus)
            buffer_add_byte(&text, '-');
        buffer_add_bytes(&text, value);
        buffer_add_byte(&text, ' ');
        buffer_add_bytes(&text, pairs[i].unit);
    }
    struct scan scan = {.text = buffer_bytes(&text), .err = err};
    if (status == OK)
        status = read_pairs(&scan);
    if (status == OK)
        status = finish(&scan, source, out);
    buffer_fini(&text);
    return status;
}

enum status interval_from_text(struct bytes text, struct bytes source, struct ast_literal *out,
                               struct error *err)
{
    struct scan scan = {.text = text, .err = err};
    skip_blanks(&scan);
    size_t first = word_end(&scan, scan.at);
    if (first - scan.at == 8 && strncasecmp((const char *)text.data + scan.at, "interval", 8) == 0)
        scan.at = first;
    if (read_pairs(&scan) == OK)
        return finish(&scan, source, out);
    bool no_unit = err->status == STATUS_INVALID_INTERVAL_FORMAT__MISSING_UNIT;
    error_clear(err);
    char shown[512];
    int size = text.size_bytes < sizeof(shown) - 3 ? (int)text.size_bytes : (int)sizeof(shown) - 3;
    shown[0] = '\'';
    if (size > 0)
        memcpy(shown + 1, text.data, (size_t)size);
    memcpy(shown + 1 + size, "'", 2);
    (void)error_raise(err, STATUS_INVALID_TYPED_LITERAL, "valueType", "\"INTERVAL\"", "value",
                      shown, NULL);
    if (no_unit)
        (void)snprintf(err->text, sizeof err->text,
                       "The interval %s has no unit, or what follows is none. Write it behind the "
                       "text, as in INTERVAL '10' MINUTE, or in it, as in INTERVAL '10 minutes'",
                       shown);
    return err->status;
}

/* ---- 'text' UNIT TO UNIT ---- */

static const struct range {
    enum ast_unit from, to;
    const char *pattern; /* as messages show it; each letter is one number */
    const char *name;    /* in capitals */
    const char *type_name;
} ranges[] = {
    {AST_UNIT_YEAR, AST_UNIT_MONTH, "y-m", "YEAR TO MONTH", "interval year to month"},
    {AST_UNIT_DAY, AST_UNIT_HOUR, "d h", "DAY TO HOUR", "interval day to hour"},
    {AST_UNIT_DAY, AST_UNIT_MINUTE, "d h:m", "DAY TO MINUTE", "interval day to minute"},
    {AST_UNIT_DAY, AST_UNIT_SECOND, "d h:m:s.n", "DAY TO SECOND", "interval day to second"},
    {AST_UNIT_HOUR, AST_UNIT_MINUTE, "h:m", "HOUR TO MINUTE", "interval hour to minute"},
    {AST_UNIT_HOUR, AST_UNIT_SECOND, "h:m:s.n", "HOUR TO SECOND", "interval hour to second"},
    {AST_UNIT_MINUTE, AST_UNIT_SECOND, "m:s.n", "MINUTE TO SECOND", "interval minute to second"},
};

static const struct field {
    char letter;
    const char *name;
    int64_t months, micros;
    int64_t max; /* below the leading field */
} fields[] = {
    {'y', "year", 12, 0, INT32_MAX},
    {'m', "minute", 0, 60 * MICROS_PER_SECOND, 59},
    {'d', "day", 0, MICROS_PER_DAY, INT32_MAX},
    {'h', "hour", 0, 3600 * MICROS_PER_SECOND, 23},
    {'s', "second", 0, MICROS_PER_SECOND, 59},
};

static const char *lower_unit(enum ast_unit unit)
{
    switch (unit) {
    case AST_UNIT_YEAR:
        return "year";
    case AST_UNIT_MONTH:
        return "month";
    case AST_UNIT_WEEK:
        return "week";
    case AST_UNIT_DAY:
        return "day";
    case AST_UNIT_HOUR:
        return "hour";
    case AST_UNIT_MINUTE:
        return "minute";
    case AST_UNIT_SECOND:
        return "second";
    case AST_UNIT_MILLISECOND:
        return "millisecond";
    case AST_UNIT_MICROSECOND:
        return "microsecond";
    case AST_UNIT_NONE:
    case AST_UNIT_QUARTER:
    case AST_UNIT_DAYOFYEAR:
        break;
    }
    return "";
}

static enum status unmatched(const struct scan *scan, const char *input, const struct range *range)
{
    bool months = range->from == AST_UNIT_YEAR;
    char format[128];
    struct buffer text = {0};
    buffer_printf(&text, "`[+|-]%s`, `INTERVAL [+|-]'[+|-]%s' %s`", range->pattern, range->pattern,
                  range->name);
    size_t size = text.size_bytes < sizeof(format) ? text.size_bytes : sizeof(format) - 1;
    memcpy(format, text.data, size);
    format[size] = '\0';
    buffer_fini(&text);
    return error_raise(scan->err,
                       months ? STATUS_INVALID_INTERVAL_FORMAT__UNMATCHED_FORMAT_STRING
                              : STATUS_INVALID_INTERVAL_FORMAT__UNMATCHED_FORMAT_STRING_WITH_NOTICE,
                       "intervalStr", months ? "year-month" : "day-time", "supportedFormat", format,
                       "typeName", range->type_name, "input", input, NULL);
}

/* Digits into *out; false if there are none, or more than fit. */
static bool read_number(struct scan *scan, int digits_max, int64_t *out)
{
    int digits = 0;
    *out = 0;
    while (scan->at < scan->text.size_bytes && scan->text.data[scan->at] >= '0' &&
           scan->text.data[scan->at] <= '9') {
        if (++digits > digits_max)
            return false;
        *out = *out * 10 + (scan->text.data[scan->at++] - '0');
    }
    return digits > 0;
}

static const struct field *field_of(char letter, bool months)
{
    static const struct field month = {'m', "month", 1, 0, 11};
    if (letter == 'm' && months)
        return &month;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (fields[i].letter == letter)
            return &fields[i];
    }
    return NULL;
}

static enum status outside(const struct scan *scan, const char *input, const struct field *field,
                           int64_t value)
{
    if (field->months != 0)
        return error_raise(scan->err, STATUS_INVALID_INTERVAL_FORMAT__INTERVAL_PARSING, "input",
                           input, "interval", "year-month", NULL);
    char message[96];
    struct buffer text = {0};
    buffer_printf(&text, "%s %lld outside range [0, %lld]", field->name, (long long)value,
                  (long long)field->max);
    size_t size = text.size_bytes < sizeof(message) ? text.size_bytes : sizeof(message) - 1;
    memcpy(message, text.data, size);
    message[size] = '\0';
    buffer_fini(&text);
    return error_raise(scan->err, STATUS_INVALID_INTERVAL_FORMAT__DAY_TIME_PARSING, "input", input,
                       "msg", message, NULL);
}

/* An optional fraction of a second, in microseconds; false if a point has no digits. */
static bool read_fraction(struct scan *scan, int64_t *micros)
{
    *micros = 0;
    if (scan->at == scan->text.size_bytes || scan->text.data[scan->at] != '.')
        return true;
    scan->at++;
    size_t start = scan->at;
    int64_t nanos;
    if (!read_number(scan, FRACTION_DIGITS_MAX, &nanos))
        return false;
    for (size_t digits = scan->at - start; digits < FRACTION_DIGITS_MAX; digits++)
        nanos *= 10;
    *micros = nanos / 1000;
    return true;
}

/* Reads the fields of `range` and adds them up. */
static enum status read_fields(struct scan *scan, const char *input, const struct range *range)
{
    bool months = range->from == AST_UNIT_YEAR;
    for (const char *p = range->pattern; *p != '\0'; p++) {
        const struct field *field = field_of(*p, months);
        if (*p == '.') { /* .n, which is optional */
            int64_t micros;
            if (!read_fraction(scan, &micros))
                return unmatched(scan, input, range);
            if (__builtin_add_overflow(scan->micros, scan->sign * micros, &scan->micros))
                return overflow(scan);
            break;
        }
        if (field == NULL) { /* a separator */
            if (scan->at == scan->text.size_bytes || scan->text.data[scan->at] != (uint8_t)*p)
                return unmatched(scan, input, range);
            scan->at++;
            continue;
        }
        int64_t value, part;
        bool leading = p == range->pattern;
        if (!read_number(scan, leading ? 13 : 2, &value))
            return unmatched(scan, input, range);
        if (!leading && value > field->max)
            return outside(scan, input, field, value);
        if (__builtin_mul_overflow(value, field->micros, &part) ||
            __builtin_add_overflow(scan->micros, scan->sign * part, &scan->micros))
            return overflow(scan);
        scan->months += scan->sign * value * field->months;
    }
    return scan->at == scan->text.size_bytes ? OK : unmatched(scan, input, range);
}

enum status interval_from_to(struct bytes text, enum ast_unit from, enum ast_unit to,
                             struct ast_literal *out, struct error *err)
{
    char input[256];
    size_t size = text.size_bytes < sizeof(input) ? text.size_bytes : sizeof(input) - 1;
    if (size > 0)
        memcpy(input, text.data, size);
    input[size] = '\0';
    const struct range *range = NULL;
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (ranges[i].from == from && ranges[i].to == to)
            range = &ranges[i];
    }
    if (range == NULL)
        return error_raise(err, STATUS_INVALID_INTERVAL_FORMAT__UNSUPPORTED_FROM_TO_EXPRESSION,
                           "input", input, "from", lower_unit(from), "to", lower_unit(to), NULL);
    struct scan scan = {.text = text, .sign = 1, .err = err};
    skip_blanks(&scan);
    while (scan.text.size_bytes > scan.at && is_blank(scan.text.data[scan.text.size_bytes - 1]))
        scan.text.size_bytes--;
    for (int signs = 0; signs < 2 && scan.at < scan.text.size_bytes; signs++) {
        uint8_t byte = scan.text.data[scan.at];
        if (byte != '+' && byte != '-')
            break;
        scan.sign = byte == '-' ? -scan.sign : scan.sign;
        scan.at++;
    }
    TRY(read_fields(&scan, input, range));
    if (scan.months > INT32_MAX || scan.months < INT32_MIN)
        return error_raise(err, STATUS_INVALID_INTERVAL_FORMAT__INTERVAL_PARSING, "input", input,
                           "interval", "year-month", NULL);
    out->kind = from == AST_UNIT_YEAR ? AST_LITERAL_YEAR_MONTH : AST_LITERAL_DAY_TIME;
    out->integer = from == AST_UNIT_YEAR ? scan.months : scan.micros;
    out->from = from;
    out->to = to;
    return OK;
}
