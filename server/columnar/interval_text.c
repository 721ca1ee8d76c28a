/*
 * The unit form is read by the automaton of Spark's IntervalUtils, state by state, because its
 * errors name the state it was in.  The field form is a template per pair of fields.
 */
#include "columnar/interval_text.h"

#include "base/check.h"
#include "columnar/civil.h"

#include <stdio.h>

#define TEXT_MAX          512
#define FRACTION_SCALE    100000000 /* of the first digit behind the point, in nanoseconds */
#define DAYS_PER_MONTH_US (31 * CIVIL_DAY_US)

const char *interval_field_name(enum interval_field field)
{
    static const char *const names[] = {"year", "month", "day", "hour", "minute", "second"};
    CHECK(field >= INTERVAL_YEAR && field <= INTERVAL_SECOND);
    return names[field];
}

static bool is_space(char c)
{
    return (c >= 9 && c <= 13) || (c >= 28 && c <= 32);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A copy with NUL, cut at `size` - 1, for messages. */
static void copy_text(char *out, size_t size, struct bytes text)
{
    size_t used = text.size_bytes < size - 1 ? text.size_bytes : size - 1;
    if (used > 0)
        memcpy(out, text.data, used);
    out[used] = '\0';
}

/* ---- units ---- */

enum unit_state {
    PREFIX,
    TRIM_BEFORE_SIGN,
    SIGN,
    TRIM_BEFORE_VALUE,
    VALUE,
    VALUE_FRACTION,
    TRIM_BEFORE_UNIT,
    UNIT_BEGIN,
    UNIT_SUFFIX,
    UNIT_END,
};

struct unit_reader {
    struct bytes input;  /* as given, for errors */
    char text[TEXT_MAX]; /* trimmed, lower case */
    size_t size;
    size_t at;
    enum unit_state state;
    bool negative;
    bool point_first;
    int64_t value;
    int32_t fraction;
    int32_t fraction_scale; /* -1: no point seen */
    struct calendar_interval *out;
};

/* The word the reader is in, as Spark's errors name it. */
static const char *current_word(const struct unit_reader *reader, char word[64])
{
    size_t from = reader->at;
    if (from >= reader->size) {
        from = reader->size;
    } else {
        while (from < reader->size && is_space(reader->text[from]))
            from++;
    }
    while (from > 0 && !is_space(reader->text[from - 1]))
        from--;
    size_t to = from;
    while (to < reader->size && !is_space(reader->text[to]))
        to++;
    copy_text(word, 64, bytes_of(reader->text + from, to - from));
    return word;
}

static enum status unit_error(const struct unit_reader *reader, enum status status,
                              const char *parameter, struct error *err)
{
    char input[TEXT_MAX];
    char word[64];
    copy_text(input, sizeof(input), reader->input);
    if (parameter == NULL)
        return error_raise(err, status, "input", input, NULL);
    return error_raise(err, status, "input", input, parameter, current_word(reader, word), NULL);
}

static void skip_space(struct unit_reader *reader, char c, enum unit_state next)
{
    if (is_space(c))
        reader->at++;
    else
        reader->state = next;
}

static enum status read_prefix(struct unit_reader *reader, struct error *err)
{
    const size_t size = strlen("interval");
    reader->state = TRIM_BEFORE_SIGN;
    if (reader->size < size || memcmp(reader->text, "interval", size) != 0)
        return OK;
    if (reader->size == size)
        return unit_error(reader, STATUS_INVALID_INTERVAL_FORMAT__INPUT_IS_EMPTY, NULL, err);
    if (!is_space(reader->text[size]))
        return unit_error(reader, STATUS_INVALID_INTERVAL_FORMAT__INVALID_PREFIX, "prefix", err);
    reader->at += size + 1;
    return OK;
}

static enum status read_sign(struct unit_reader *reader, char c, struct error *err)
{
    reader->value = 0;
    reader->fraction = 0;
    reader->fraction_scale = -1;
    reader->point_first = false;
    reader->negative = c == '-';
    reader->state = TRIM_BEFORE_VALUE;
    if (c == '-' || c == '+') {
        reader->at++;
    } else if (c == '.') {
        reader->fraction_scale = FRACTION_SCALE;
        reader->point_first = true;
        reader->state = VALUE_FRACTION;
        reader->at++;
    } else if (!is_digit(c)) {
        return unit_error(reader, STATUS_INVALID_INTERVAL_FORMAT__UNRECOGNIZED_NUMBER, "number",
                          err);
    }
    return OK;
}

static enum status read_value(struct unit_reader *reader, char c, struct error *err)
{
    if (is_digit(c)) {
        if (__builtin_mul_overflow(reader->value, 10, &reader->value) ||
            __builtin_add_overflow(reader->value, c - '0', &reader->value))
            return unit_error(reader, STATUS_INVALID_INTERVAL_FORMAT__ARITHMETIC_EXCEPTION, NULL,
                              err);
    } else if (is_space(c)) {
        reader->state = TRIM_BEFORE_UNIT;
    } else if (c == '.') {
        reader->fraction_scale = FRACTION_SCALE;
        reader->state = VALUE_FRACTION;
    } else {
        return unit_error(reader, STATUS_INVALID_INTERVAL_FORMAT__INVALID_VALUE, "value", err);
    }
    reader->at++;
    return OK;
}

static enum status read_fraction(struct unit_reader *reader, char c, struct error *err)
{
    if (is_digit(c) && reader->fraction_scale > 0) {
        reader->fraction += (c - '0') * reader->fraction_scale;
        reader->fraction_scale /= 10;
    } else if (is_space(c) && (!reader->point_first || reader->fraction_scale < FRACTION_SCALE)) {
        reader->fraction /= 1000;
        reader->state = TRIM_BEFORE_UNIT;
    } else if (is_digit(c)) {
        return unit_error(reader, STATUS_INVALID_INTERVAL_FORMAT__INVALID_PRECISION, "value", err);
    } else {
        return unit_error(reader, STATUS_INVALID_INTERVAL_FORMAT__INVALID_VALUE, "value", err);
    }
    reader->at++;
    return OK;
}

static bool add_int(int32_t *total, int64_t value, int64_t factor)
{
    int64_t product;
    return !__builtin_mul_overflow(value, factor, &product) && product <= INT32_MAX &&
           product >= INT32_MIN && !__builtin_add_overflow(*total, (int32_t)product, total);
}

static bool add_micros(int64_t *total, int64_t value, int64_t factor)
{
    int64_t product;
    return !__builtin_mul_overflow(value, factor, &product) &&
           !__builtin_add_overflow(*total, product, total);
}

static enum status read_unit(struct unit_reader *reader, char c, struct error *err)
{
    static const struct {
        const char *name;
        enum {
            MONTHS,
            DAYS,
            MICROS
        } part;
        int64_t factor;
    } units[] = {
        {"year", MONTHS, 12},
        {"month", MONTHS, 1},
        {"week", DAYS, 7},
        {"day", DAYS, 1},
        {"hour", MICROS, CIVIL_HOUR_US},
        {"minute", MICROS, CIVIL_MINUTE_US},
        {"second", MICROS, CIVIL_SECOND_US},
        {"millisecond", MICROS, 1000},
        {"microsecond", MICROS, 1},
    };
    if (c != 's' && reader->fraction_scale >= 0)
        return unit_error(reader, STATUS_INVALID_INTERVAL_FORMAT__INVALID_FRACTION, "unit", err);
    struct calendar_interval *out = reader->out;
    int64_t value = reader->negative ? -reader->value : reader->value;
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        size_t size = strlen(units[i].name);
        if (reader->size - reader->at < size ||
            memcmp(reader->text + reader->at, units[i].name, size) != 0)
            continue;
        bool fits = false;
        switch (units[i].part) {
        case MONTHS:
            fits = add_int(&out->months, value, units[i].factor);
            break;
        case DAYS:
            fits = add_int(&out->days, value, units[i].factor);
            break;
        case MICROS:
            fits =
                add_micros(&out->micros, value, units[i].factor) &&
                (c != 's' || add_micros(&out->micros, reader->negative ? -1 : 1, reader->fraction));
            break;
        }
        if (!fits)
            return unit_error(reader, STATUS_INVALID_INTERVAL_FORMAT__ARITHMETIC_EXCEPTION, NULL,
                              err);
        reader->at += size;
        reader->state = UNIT_SUFFIX;
        return OK;
    }
    return unit_error(reader, STATUS_INVALID_INTERVAL_FORMAT__INVALID_UNIT, "unit", err);
}

static enum status read_unit_end(struct unit_reader *reader, char c, struct error *err)
{
    if (c == 's' && reader->state == UNIT_SUFFIX)
        reader->state = UNIT_END;
    else if (is_space(c))
        reader->state = TRIM_BEFORE_SIGN;
    else
        return unit_error(reader, STATUS_INVALID_INTERVAL_FORMAT__INVALID_UNIT, "unit", err);
    reader->at++;
    return OK;
}

static enum status read_step(struct unit_reader *reader, struct error *err)
{
    char c = reader->text[reader->at];
    switch (reader->state) {
    case PREFIX:
        return read_prefix(reader, err);
    case TRIM_BEFORE_SIGN:
        skip_space(reader, c, SIGN);
        return OK;
    case SIGN:
        return read_sign(reader, c, err);
    case TRIM_BEFORE_VALUE:
        skip_space(reader, c, VALUE);
        return OK;
    case VALUE:
        return read_value(reader, c, err);
    case VALUE_FRACTION:
        return read_fraction(reader, c, err);
    case TRIM_BEFORE_UNIT:
        skip_space(reader, c, UNIT_BEGIN);
        return OK;
    case UNIT_BEGIN:
        return read_unit(reader, c, err);
    case UNIT_SUFFIX:
    case UNIT_END:
        return read_unit_end(reader, c, err);
    }
    return OK;
}

enum status interval_text_parse(struct bytes text, struct calendar_interval *out, struct error *err)
{
    struct calendar_interval result = {0, 0, 0};
    struct unit_reader reader = {.input = text, .out = &result};
    struct bytes trimmed = number_trim_all(text);
    if (trimmed.size_bytes == 0)
        return unit_error(&reader, STATUS_INVALID_INTERVAL_FORMAT__INPUT_IS_EMPTY, NULL, err);
    if (trimmed.size_bytes >= TEXT_MAX)
        return unit_error(&reader, STATUS_INVALID_INTERVAL_FORMAT__UNKNOWN_PARSING_ERROR, "word",
                          err);
    for (size_t i = 0; i < trimmed.size_bytes; i++) {
        char c = (char)trimmed.data[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        reader.text[i] = c;
    }
    reader.size = trimmed.size_bytes;
    while (reader.at < reader.size)
        TRY(read_step(&reader, err));
    switch ((int)reader.state) {
    case UNIT_SUFFIX:
    case UNIT_END:
    case TRIM_BEFORE_SIGN:
        *out = result;
        return OK;
    case TRIM_BEFORE_VALUE:
        return unit_error(&reader, STATUS_INVALID_INTERVAL_FORMAT__MISSING_NUMBER, "word", err);
    case VALUE:
    case VALUE_FRACTION:
        return unit_error(&reader, STATUS_INVALID_INTERVAL_FORMAT__MISSING_UNIT, "word", err);
    default:
        return unit_error(&reader, STATUS_INVALID_INTERVAL_FORMAT__UNKNOWN_PARSING_ERROR, "word",
                          err);
    }
}

enum status interval_parse_duration_us(struct bytes text, int64_t *out_us, struct error *err)
{
    struct calendar_interval interval;
    struct error ignored = ERROR_INIT;
    int64_t us;
    if (interval_text_parse(text, &interval, &ignored) == OK) {
        us = interval.micros;
        if (add_micros(&us, interval.days, CIVIL_DAY_US) &&
            add_micros(&us, interval.months, DAYS_PER_MONTH_US)) {
            *out_us = us;
            return OK;
        }
    }
    char quoted[TEXT_MAX];
    quoted[0] = '\'';
    copy_text(quoted + 1, sizeof(quoted) - 2, text);
    size_t size = strlen(quoted);
    quoted[size] = '\'';
    quoted[size + 1] = '\0';
    return error_raise(err, STATUS_CANNOT_PARSE_INTERVAL, "intervalString", quoted, NULL);
}

/* ---- fields ---- */

struct field_reader {
    const char *at;
    const char *end;
};

static bool take(struct field_reader *reader, char c)
{
    if (reader->at == reader->end || *reader->at != c)
        return false;
    reader->at++;
    return true;
}

/* An optional sign; *sign is multiplied. */
static void take_sign(struct field_reader *reader, int *sign)
{
    if (reader->at < reader->end && (*reader->at == '-' || *reader->at == '+'))
        *sign *= *reader->at++ == '-' ? -1 : 1;
}

static bool take_spaces(struct field_reader *reader, bool needed)
{
    const char *start = reader->at;
    while (reader->at < reader->end && is_space(*reader->at))
        reader->at++;
    return !needed || reader->at > start;
}

static bool take_word(struct field_reader *reader, const char *word)
{
    size_t size = strlen(word);
    if ((size_t)(reader->end - reader->at) < size)
        return false;
    for (size_t i = 0; i < size; i++)
        if ((reader->at[i] | 0x20) != word[i])
            return false;
    reader->at += size;
    return true;
}

/* One to `digits_max` digits. */
static bool take_number(struct field_reader *reader, int digits_max, int64_t *out)
{
    int64_t value = 0;
    int digits = 0;
    for (; reader->at < reader->end && is_digit(*reader->at); reader->at++) {
        if (++digits > digits_max)
            return false;
        value = value * 10 + (*reader->at - '0');
    }
    *out = value;
    return digits > 0;
}

enum fields_result {
    FIELDS_OK,
    FIELDS_UNMATCHED,
    FIELDS_RANGE,    /* a field beyond its range: "1 24:00:00" */
    FIELDS_OVERFLOW, /* the whole value does not fit */
};

static const int64_t field_us[] = {[INTERVAL_DAY] = CIVIL_DAY_US,
                                   [INTERVAL_HOUR] = CIVIL_HOUR_US,
                                   [INTERVAL_MINUTE] = CIVIL_MINUTE_US,
                                   [INTERVAL_SECOND] = CIVIL_SECOND_US};

/* ".123456789" behind seconds, cut to microseconds. */
static bool take_second_fraction(struct field_reader *reader, int64_t *us)
{
    *us = 0;
    if (!take(reader, '.'))
        return true;
    int64_t unit = 100000000;
    int digits = 0;
    int64_t nanos = 0;
    for (; reader->at < reader->end && is_digit(*reader->at); reader->at++) {
        if (++digits > 9)
            return false;
        nanos += (*reader->at - '0') * unit;
        unit /= 10;
    }
    *us = nanos / 1000;
    return digits > 0;
}

/* d h:m:s.n from `from` to `to`, added up in negative numbers, whose range is larger. */
static enum fields_result take_day_time(struct field_reader *reader, int from, int to,
                                        int64_t *negated)
{
    static const int leading_digits[] = {
        [INTERVAL_DAY] = 9, [INTERVAL_HOUR] = 10, [INTERVAL_MINUTE] = 12, [INTERVAL_SECOND] = 13};
    int64_t total = 0;
    enum fields_result result = FIELDS_OK;
    for (int field = from; field <= to; field++) {
        int64_t value;
        if (field > from && !take(reader, field == INTERVAL_HOUR ? ' ' : ':'))
            return FIELDS_UNMATCHED;
        if (!take_number(reader, field == from ? leading_digits[field] : 2, &value))
            return FIELDS_UNMATCHED;
        if (field > from && value > (field == INTERVAL_HOUR ? 23 : 59))
            result = FIELDS_RANGE;
        if (__builtin_mul_overflow(value, -field_us[field], &value) ||
            __builtin_add_overflow(total, value, &total))
            result = FIELDS_OVERFLOW;
    }
    int64_t fraction = 0;
    if (to == INTERVAL_SECOND && !take_second_fraction(reader, &fraction))
        return FIELDS_UNMATCHED;
    if (__builtin_sub_overflow(total, fraction, &total))
        result = FIELDS_OVERFLOW;
    *negated = total;
    return result;
}

static enum fields_result take_year_month(struct field_reader *reader, int from, int to,
                                          int64_t *negated)
{
    int64_t values[2] = {0, 0};
    enum fields_result result = FIELDS_OK;
    for (int field = from; field <= to; field++) {
        if (field > from && !take(reader, '-'))
            return FIELDS_UNMATCHED;
        if (!take_number(reader, 18, &values[field]))
            return FIELDS_UNMATCHED;
    }
    if (from != to && values[INTERVAL_MONTH] > 11)
        result = FIELDS_RANGE;
    if (values[INTERVAL_YEAR] > INT32_MAX || values[INTERVAL_MONTH] > INT64_C(1) << 32)
        return FIELDS_OVERFLOW;
    *negated = -(values[INTERVAL_YEAR] * 12 + values[INTERVAL_MONTH]);
    return result;
}

/* [sign] fields, or INTERVAL [sign] '[sign] fields' FROM [TO TO]. */
static enum fields_result read_fields(struct bytes text, int from, int to, int64_t *out)
{
    struct bytes trimmed = number_trim_all(text);
    struct field_reader reader = {(const char *)trimmed.data,
                                  (const char *)trimmed.data + trimmed.size_bytes};
    int sign = 1;
    bool literal = take_word(&reader, "interval");
    if (literal && !take_spaces(&reader, true))
        return FIELDS_UNMATCHED;
    take_sign(&reader, &sign);
    if (literal) {
        if (!take(&reader, '\''))
            return FIELDS_UNMATCHED;
        take_sign(&reader, &sign);
    }
    int64_t negated;
    enum fields_result result = from <= INTERVAL_MONTH
                                    ? take_year_month(&reader, from, to, &negated)
                                    : take_day_time(&reader, from, to, &negated);
    if (result == FIELDS_UNMATCHED)
        return result;
    if (literal) {
        if (!take(&reader, '\'') || !take_spaces(&reader, true) ||
            !take_word(&reader, interval_field_name((enum interval_field)from)))
            return FIELDS_UNMATCHED;
        if (from != to && (!take_spaces(&reader, true) || !take_word(&reader, "to") ||
                           !take_spaces(&reader, true) ||
                           !take_word(&reader, interval_field_name((enum interval_field)to))))
            return FIELDS_UNMATCHED;
    }
    if (reader.at != reader.end)
        return FIELDS_UNMATCHED;
    if (result != FIELDS_OK)
        return result;
    int64_t value = negated;
    if (sign > 0 && __builtin_sub_overflow(0, negated, &value))
        return FIELDS_OVERFLOW;
    if (from <= INTERVAL_MONTH && (value > INT32_MAX || value < INT32_MIN))
        return FIELDS_OVERFLOW;
    *out = value;
    return FIELDS_OK;
}

/* The notation of the fields in error messages. */
static const char *field_notation(int from, int to)
{
    static const char *const notations[6][6] = {
        [INTERVAL_YEAR] = {[INTERVAL_YEAR] = "y", [INTERVAL_MONTH] = "y-m"},
        [INTERVAL_MONTH] = {[INTERVAL_MONTH] = "m"},
        [INTERVAL_DAY] = {[INTERVAL_DAY] = "d",
                          [INTERVAL_HOUR] = "d h",
                          [INTERVAL_MINUTE] = "d h:m",
                          [INTERVAL_SECOND] = "d h:m:s.n"},
        [INTERVAL_HOUR] =
            {[INTERVAL_HOUR] = "h", [INTERVAL_MINUTE] = "h:m", [INTERVAL_SECOND] = "h:m:s.n"},
        [INTERVAL_MINUTE] = {[INTERVAL_MINUTE] = "m", [INTERVAL_SECOND] = "m:s.n"},
        [INTERVAL_SECOND] = {[INTERVAL_SECOND] = "s.n"},
    };
    return notations[from][to];
}

static void upper_fields(char *out, size_t size, int from, int to)
{
    const char *name = interval_field_name((enum interval_field)from);
    if (from == to)
        (void)snprintf(out, size, "%s", name);
    else
        (void)snprintf(out, size, "%s to %s", name, interval_field_name((enum interval_field)to));
    for (; *out != '\0'; out++)
        if (*out >= 'a' && *out <= 'z')
            *out = (char)(*out - 'a' + 'A');
}

static enum status fields_error(struct bytes text, int from, int to, enum fields_result result,
                                struct error *err)
{
    bool year_month = from <= INTERVAL_MONTH;
    const char *kind = year_month ? "year-month" : "day-time";
    char input[TEXT_MAX];
    copy_text(input, sizeof(input), text);
    if (result == FIELDS_RANGE)
        return error_raise(err, STATUS_INVALID_INTERVAL_FORMAT__INTERVAL_PARSING, "input", input,
                           "interval", kind, NULL);
    if (result == FIELDS_OVERFLOW)
        return error_raise(err, STATUS_INVALID_INTERVAL_FORMAT__ARITHMETIC_EXCEPTION, "input",
                           input, NULL);
    char upper[32];
    char format[128];
    char type_text[48];
    upper_fields(upper, sizeof(upper), from, to);
    const char *notation = field_notation(from, to);
    (void)snprintf(format, sizeof(format), "`[+|-]%s`, `INTERVAL [+|-]'[+|-]%s' %s`", notation,
                   notation, upper);
    if (from == to)
        (void)snprintf(type_text, sizeof(type_text), "interval %s",
                       interval_field_name((enum interval_field)from));
    else
        (void)snprintf(type_text, sizeof(type_text), "interval %s to %s",
                       interval_field_name((enum interval_field)from),
                       interval_field_name((enum interval_field)to));
    enum status status = year_month
                             ? STATUS_INVALID_INTERVAL_FORMAT__UNMATCHED_FORMAT_STRING
                             : STATUS_INVALID_INTERVAL_FORMAT__UNMATCHED_FORMAT_STRING_WITH_NOTICE;
    return error_raise(err, status, "input", input, "intervalStr", kind, "supportedFormat", format,
                       "typeName", type_text, NULL);
}

enum status interval_text_parse_fields(struct bytes text, const struct type *type, int64_t *out,
                                       struct error *err)
{
    CHECK(type->id == TYPE_INTERVAL_DT || type->id == TYPE_INTERVAL_YM);
    enum fields_result result = read_fields(text, type->interval_from, type->interval_to, out);
    if (result == FIELDS_OK)
        return OK;
    return fields_error(text, type->interval_from, type->interval_to, result, err);
}

static enum status parse_single(struct bytes text, enum interval_field field, int64_t *out,
                                struct error *err)
{
    char unit_form[TEXT_MAX];
    char number[TEXT_MAX - 16];
    copy_text(number, sizeof(number), text);
    const char *at = number;
    while (is_space(*at) || *at == '-' || *at == '+')
        at++;
    if (!is_digit(*at) && *at != '.')
        return error_raise(err, STATUS__LEGACY_ERROR_TEMP_0026, "value", number, NULL);
    char upper[16];
    upper_fields(upper, sizeof(upper), (int)field, (int)field);
    (void)snprintf(unit_form, sizeof(unit_form), " %s %s", number, upper);
    struct calendar_interval interval;
    TRY(interval_text_parse(bytes_of_text(unit_form), &interval, err));
    *out = field <= INTERVAL_MONTH ? interval.months : interval.micros;
    if (field == INTERVAL_DAY)
        *out = interval.days * CIVIL_DAY_US;
    return OK;
}

enum status interval_text_parse_literal(struct bytes text, enum interval_field from,
                                        enum interval_field to, int64_t *out, struct error *err)
{
    if (from == to)
        return parse_single(text, from, out, err);
    if (from < to && field_notation((int)from, (int)to) != NULL) {
        enum fields_result result = read_fields(text, (int)from, (int)to, out);
        return result == FIELDS_OK ? OK : fields_error(text, (int)from, (int)to, result, err);
    }
    char input[TEXT_MAX];
    copy_text(input, sizeof(input), text);
    return error_raise(err, STATUS_INVALID_INTERVAL_FORMAT__UNSUPPORTED_FROM_TO_EXPRESSION, "input",
                       input, "from", interval_field_name(from), "to", interval_field_name(to),
                       NULL);
}

/* ---- printing ---- */

static void print_fraction(struct buffer *out, uint64_t us)
{
    if (us == 0)
        return;
    int digits = 6;
    while (us % 10 == 0) {
        us /= 10;
        digits--;
    }
    buffer_printf(out, ".%0*llu", digits, (unsigned long long)us);
}

static void print_day_time(struct buffer *out, int from, int to, uint64_t rest)
{
    for (int field = from; field <= to; field++) {
        uint64_t unit = (uint64_t)field_us[field];
        if (field > from)
            buffer_add_byte(out, field == INTERVAL_HOUR ? ' ' : ':');
        buffer_printf(out, field == INTERVAL_DAY ? "%llu" : "%02llu",
                      (unsigned long long)(rest / unit));
        rest %= unit;
    }
    if (to == INTERVAL_SECOND)
        print_fraction(out, rest);
}

void interval_text_print_fields(struct buffer *out, const struct type *type, int64_t value)
{
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int from = type->interval_from;
    int to = type->interval_to;
    if (value < 0)
        buffer_add_byte(out, '-');
    if (type->id == TYPE_INTERVAL_DT)
        print_day_time(out, from, to, size);
    else if (to == INTERVAL_YEAR)
        buffer_printf(out, "%llu", (unsigned long long)(size / 12));
    else if (from == INTERVAL_MONTH)
        buffer_printf(out, "%llu", (unsigned long long)size);
    else
        buffer_printf(out, "%llu-%llu", (unsigned long long)(size / 12),
                      (unsigned long long)(size % 12));
}

void interval_text_print(struct buffer *out, const struct type *type, int64_t value)
{
    char upper[32];
    upper_fields(upper, sizeof(upper), type->interval_from, type->interval_to);
    buffer_add_text(out, "INTERVAL '");
    interval_text_print_fields(out, type, value);
    buffer_printf(out, "' %s", upper);
}

static void print_unit(struct buffer *out, int64_t value, const char *unit)
{
    if (value == 0)
        return;
    if (out->size_bytes > 0 && out->data[out->size_bytes - 1] != ' ')
        buffer_add_byte(out, ' ');
    buffer_printf(out, "%lld %s", (long long)value, unit);
}

void interval_text_print_calendar(struct buffer *out, struct calendar_interval interval)
{
    struct buffer text = {0};
    int64_t rest = interval.micros;
    print_unit(&text, interval.months / 12, "years");
    print_unit(&text, interval.months % 12, "months");
    print_unit(&text, interval.days, "days");
    print_unit(&text, rest / CIVIL_HOUR_US, "hours");
    rest %= CIVIL_HOUR_US;
    print_unit(&text, rest / CIVIL_MINUTE_US, "minutes");
    rest %= CIVIL_MINUTE_US;
    if (rest != 0) {
        uint64_t size = rest < 0 ? (uint64_t)-rest : (uint64_t)rest;
        buffer_printf(&text, "%s%s%llu", text.size_bytes > 0 ? " " : "", rest < 0 ? "-" : "",
                      (unsigned long long)(size / 1000000));
        print_fraction(&text, size % 1000000);
        buffer_add_text(&text, " seconds");
    }
    if (text.size_bytes == 0)
        buffer_add_text(&text, "0 seconds");
    buffer_add_bytes(out, buffer_bytes(&text));
    buffer_fini(&text);
}
