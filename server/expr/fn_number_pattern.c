/* to_char, to_number: number formats of 0 9 . D , G $ S MI PR. */
#include "base/check.h"
#include "columnar/decimal.h"
#include "expr/digits.h"
#include "expr/fn_format.h"
#include "expr/fn_support.h"

#include <ctype.h>

#define GROUPS_MAX  40
#define PATTERN_MAX 128

enum sign_place {
    SIGN_NONE,
    SIGN_FIRST,
    SIGN_LAST,
    SIGN_BRACKETS, /* PR */
};

/* A compiled format: what stands before, in, and behind the number. */
struct number_pattern {
    char body[PATTERN_MAX]; /* 0 9 , . as given, upper case */
    int body_size;
    enum sign_place sign;
    bool minus_only; /* MI: no plus sign */
    bool dollar;
    int whole; /* digits before the point */
    int places;
    bool valid;
    bool try_; /* to_number: NULL instead of an error */
};

/* ---- formats ---- */

static bool take(struct bytes *text, const char *word)
{
    size_t size = strlen(word);
    if (text->size_bytes < size)
        return false;
    for (size_t i = 0; i < size; i++)
        if (toupper(text->data[i]) != word[i])
            return false;
    *text = text_skip(*text, size);
    return true;
}

static bool take_sign(struct bytes *text, struct number_pattern *out, enum sign_place place)
{
    bool minus = take(text, "MI");
    if (!minus && !take(text, "S"))
        return false;
    out->sign = place;
    out->minus_only = minus;
    return true;
}

static bool take_body(struct bytes *text, struct number_pattern *out)
{
    bool point = false;
    while (text->size_bytes > 0) {
        int c = toupper(text->data[0]);
        if (c == 'G')
            c = ',';
        if (c == 'D')
            c = '.';
        bool digit = c == '0' || c == '9';
        if (!digit && c != ',' && c != '.')
            break;
        if (out->body_size == PATTERN_MAX || (point && !digit) || (c == ',' && out->whole == 0))
            return false;
        point = point || c == '.';
        out->whole += digit && !point;
        out->places += digit && point;
        out->body[out->body_size++] = (char)c;
        *text = text_skip(*text, 1);
    }
    return out->whole + out->places > 0 && out->whole + out->places <= DECIMAL_PRECISION_MAX;
}

static void pattern_compile(struct bytes text, struct number_pattern *out)
{
    *out = (struct number_pattern){0};
    (void)take_sign(&text, out, SIGN_FIRST);
    out->dollar = take(&text, "$");
    if (!take_body(&text, out))
        return;
    if (!out->dollar)
        out->dollar = take(&text, "$");
    if (out->sign == SIGN_NONE && take(&text, "PR"))
        out->sign = SIGN_BRACKETS;
    else if (out->sign == SIGN_NONE)
        (void)take_sign(&text, out, SIGN_LAST);
    out->valid = text.size_bytes == 0 && out->body[out->body_size - 1] != ',';
}

/* ---- text to number ---- */

static bool take_char(struct bytes *text, char c)
{
    bool found = text->size_bytes > 0 && text->data[0] == (uint8_t)c;
    if (found)
        *text = text_skip(*text, 1);
    return found;
}

static bool take_last(struct bytes *text, char c)
{
    bool found = text->size_bytes > 0 && text->data[text->size_bytes - 1] == (uint8_t)c;
    if (found)
        text->size_bytes--;
    return found;
}

/* Digits and separators of the whole part, compared from the point to the left. */
static bool match_whole(const struct number_pattern *pattern, struct bytes text)
{
    int at = 0;
    while (at < pattern->body_size && pattern->body[at] != '.')
        at++;
    size_t left = text.size_bytes;
    for (at--; at >= 0; at--) {
        char wanted = pattern->body[at];
        if (left == 0) { /* the rest may be missing if its groups start with 9 */
            if (wanted == '0')
                return false;
            continue;
        }
        uint8_t c = text.data[left - 1];
        if (wanted == ',' ? c != ',' : !isdigit(c))
            return false;
        left--;
    }
    return left == 0 && (text.size_bytes == 0 || isdigit(text.data[0]));
}

/* A group of format digits that starts with 0 wants exactly as many digits: all of them are 0. */
static void spread_zeros(struct number_pattern *pattern)
{
    bool zero = false;
    for (int i = 0; i < pattern->body_size; i++) {
        bool digit = isdigit((unsigned char)pattern->body[i]);
        bool starts = digit && (i == 0 || !isdigit((unsigned char)pattern->body[i - 1]));
        if (starts)
            zero = pattern->body[i] == '0';
        if (digit)
            pattern->body[i] = zero ? '0' : '9';
    }
}

static bool match_fraction(const struct number_pattern *pattern, struct bytes text)
{
    const char *point = memchr(pattern->body, '.', (size_t)pattern->body_size);
    bool exact = point != NULL && pattern->places > 0 && point[1] == '0';
    for (size_t i = 0; i < text.size_bytes; i++)
        if (!isdigit(text.data[i]))
            return false;
    return exact ? text.size_bytes == (size_t)pattern->places
                 : text.size_bytes <= (size_t)pattern->places;
}

static bool take_affixes(const struct number_pattern *pattern, struct bytes *text, bool *negative)
{
    *negative = false;
    switch (pattern->sign) {
    case SIGN_FIRST:
        *negative = take_char(text, '-');
        if (!*negative && !pattern->minus_only)
            (void)take_char(text, '+');
        break;
    case SIGN_LAST:
        *negative = take_last(text, '-');
        if (!*negative && !pattern->minus_only)
            (void)take_last(text, '+');
        break;
    case SIGN_BRACKETS:
        *negative = take_char(text, '<');
        if (*negative && !take_last(text, '>'))
            return false;
        break;
    case SIGN_NONE:
        break;
    }
    return !pattern->dollar || take_char(text, '$') || take_last(text, '$');
}

static bool pattern_parse(const struct number_pattern *pattern, struct bytes text, int128 *out)
{
    char plain[PATTERN_MAX * 2];
    size_t size = 0;
    bool negative;
    text = number_trim_all(text);
    if (!take_affixes(pattern, &text, &negative) || text.size_bytes >= sizeof(plain))
        return false;
    size_t point = 0;
    while (point < text.size_bytes && text.data[point] != '.')
        point++;
    struct bytes whole = text_first(text, point);
    bool has_point = point < text.size_bytes;
    struct bytes fraction = text_skip(text, point + has_point);
    bool wants_point = memchr(pattern->body, '.', (size_t)pattern->body_size) != NULL;
    if ((has_point && !wants_point) || whole.size_bytes + fraction.size_bytes == 0)
        return false;
    if (!match_whole(pattern, whole) || !match_fraction(pattern, fraction))
        return false;
    for (size_t i = 0; i < text.size_bytes; i++)
        if (text.data[i] != ',')
            plain[size++] = (char)text.data[i];
    if (decimal_parse(bytes_of(plain, size), DECIMAL_PRECISION_MAX, pattern->places, out) !=
        TEXT_OK)
        return false;
    if (negative)
        *out = -*out;
    return true;
}

KERNEL(kernel_to_number)
{
    const struct number_pattern *pattern = call->expr->call.bound;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes text = kernel_text(call, 0, row);
        if (pattern_parse(pattern, text, &KERNEL_OUT(int128, call)[row]))
            continue;
        if (!pattern->try_)
            return error_raise(err, STATUS_INVALID_FORMAT__MISMATCH_INPUT, "inputType",
                               "\"STRING\"", "input", kernel_error_text(call, text), "format",
                               kernel_error_text(call, kernel_text(call, 1, row)), NULL);
        TRY(kernel_set_null(call, row, err));
    }
    return OK;
}

/* The token at the start of `text`; *size is its length. */
static const char *token_name(struct bytes text, size_t *size)
{
    static const struct {
        const char *word, *name;
    } tokens[] = {{".", ". or D"}, {"D", ". or D"}, {"$", "$"},      {"S", "S"},
                  {"MI", "MI"},    {"PR", "PR"},    {",", ", or G"}, {"G", ", or G"}};
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        struct bytes rest = text;
        if (!take(&rest, tokens[i].word))
            continue;
        *size = strlen(tokens[i].word);
        return tokens[i].name;
    }
    *size = 1;
    return NULL;
}

/* Whether some token other than a separator stands twice; *name is that token. */
static bool token_repeats(struct bytes text, const char **name)
{
    const char *seen[PATTERN_MAX];
    size_t count = 0, size;
    for (; text.size_bytes > 0; text = text_skip(text, size)) {
        *name = token_name(text, &size);
        if (*name == NULL || (*name)[0] == ',')
            continue;
        for (size_t i = 0; i < count; i++)
            if (seen[i] == *name)
                return true;
        if (count < PATTERN_MAX)
            seen[count++] = *name;
    }
    return false;
}

static bool separator_stands_alone(struct bytes text)
{
    for (size_t i = 0; i < text.size_bytes; i++) {
        int c = toupper(text.data[i]);
        if (c != ',' && c != 'G')
            continue;
        if (i == 0 || i + 1 == text.size_bytes || !isdigit(text.data[i - 1]) ||
            !isdigit(text.data[i + 1]))
            return true;
    }
    return false;
}

/* The first thing that no format has at its place. */
static const char *unexpected_token(struct arena *arena, struct bytes text)
{
    struct number_pattern ignored = {0};
    if (take(&text, "PR"))
        return "digit sequence";
    (void)take_sign(&text, &ignored, SIGN_FIRST);
    (void)take(&text, "$");
    while (text.size_bytes > 0 && (isdigit(text.data[0]) || strchr(".,", text.data[0]) != NULL ||
                                   strchr("DG", toupper(text.data[0])) != NULL))
        text = text_skip(text, 1);
    size_t size;
    const char *name = text.size_bytes > 0 ? token_name(text, &size) : "digit sequence";
    return name != NULL ? name : arena_sprintf(arena, "character '%c''", toupper(text.data[0]));
}

static enum status raise_pattern(struct resolve_context *ctx, const struct expr *call,
                                 struct bytes text, struct error *err)
{
    bool digits = false;
    char *format =
        arena_sprintf(ctx->arena, "'%.*s'", (int)text.size_bytes, (const char *)text.data);
    for (char *c = format; *c != '\0'; c++) {
        digits = digits || *c == '0' || *c == '9';
        *c = (char)toupper((unsigned char)*c);
    }
    int position = call->position, end = call->position_end;
    const char *token;
    if (!digits)
        return error_raise_at(err, STATUS_INVALID_FORMAT__WRONG_NUM_DIGIT, position, end, "format",
                              format, NULL);
    if (separator_stands_alone(text))
        return error_raise_at(err, STATUS_INVALID_FORMAT__CONT_THOUSANDS_SEPS, position, end,
                              "format", format, NULL);
    if (token_repeats(text, &token))
        return error_raise_at(err, STATUS_INVALID_FORMAT__WRONG_NUM_TOKEN, position, end, "format",
                              format, "token", token, NULL);
    return error_raise_at(err, STATUS_INVALID_FORMAT__UNEXPECTED_TOKEN, position, end, "format",
                          format, "token", unexpected_token(ctx->arena, text), NULL);
}

/* The pattern of argument 1, constant; NULL if it is NULL. */
static enum status read_pattern(struct resolve_context *ctx, const struct expr *call,
                                struct number_pattern **out, struct error *err)
{
    struct vector *format;
    *out = NULL;
    TRY(function_constant(ctx, call, 1, "format", &format, err));
    if (vector_is_null(format, 0))
        return OK;
    struct bytes text = VECTOR_VALUES(struct bytes, format)[0];
    struct number_pattern *pattern = arena_new_object(ctx->arena, sizeof(*pattern));
    pattern_compile(text, pattern);
    if (text.size_bytes == 0)
        return error_raise_at(err, STATUS_INVALID_FORMAT__EMPTY, call->position, call->position_end,
                              "format", "''", NULL);
    if (!pattern->valid)
        return raise_pattern(ctx, call, text, err);
    *out = pattern;
    return OK;
}

RESOLVER(resolve_to_number)
{
    *out = call;
    struct number_pattern *pattern;
    TRY(function_apply(ctx, call, "string,string->decimal", err));
    TRY(read_pattern(ctx, call, &pattern, err));
    const struct type *type = type_decimal(ctx->arena, 10, 0);
    if (pattern != NULL) {
        type = type_decimal(ctx->arena, pattern->whole + pattern->places, pattern->places);
        pattern->try_ = strcmp(call->call.function->name, "try_to_number") == 0;
        spread_zeros(pattern);
    }
    call->call.bound = pattern;
    function_finish(call, type);
    return OK;
}

/* ---- number to text ---- */

static void add_overflow(const struct number_pattern *pattern, struct buffer *out)
{
    for (int i = 0; i < pattern->body_size; i++) {
        char c = pattern->body[i];
        buffer_add_byte(out, (uint8_t)(c == ',' ? ' ' : isdigit((unsigned char)c) ? '#' : c));
    }
}

/* The digits into `out`; *blank is how many blanks stand before the first of them. */
static void add_body(const struct number_pattern *pattern, const struct digits *digits,
                     struct buffer *out)
{
    int at = digits->point - pattern->whole; /* the digit of the first place */
    bool shown = false;
    bool fraction = false;
    for (int i = 0; i < pattern->body_size; i++) {
        char c = pattern->body[i];
        if (c == '.') {
            fraction = true;
        } else if (c == ',') {
            c = shown ? ',' : ' ';
        } else {
            bool last = i + 1 < pattern->body_size && pattern->body[i + 1] == '.';
            shown = shown || fraction || last || c == '0' || (digits->count > 0 && at >= 0);
            c = shown ? digits_at(digits, at) : ' ';
            at++;
        }
        buffer_add_byte(out, (uint8_t)c);
    }
}

static void add_signed(const struct number_pattern *pattern, bool negative, struct bytes body,
                       struct buffer *out)
{
    size_t blank = 0;
    const char *minus = negative ? "-" : pattern->minus_only ? " " : "+";
    bool lone_point = body.size_bytes > 0 && body.data[body.size_bytes - 1] == '.';
    body.size_bytes -= lone_point; /* becomes a blank, behind the sign */
    while (!pattern->dollar && blank < body.size_bytes && body.data[blank] == ' ')
        blank++;
    buffer_add(out, body.data, blank);
    if (pattern->sign == SIGN_FIRST)
        buffer_add_text(out, minus);
    if (pattern->sign == SIGN_BRACKETS && negative)
        buffer_add_byte(out, '<');
    if (pattern->dollar)
        buffer_add_byte(out, '$');
    buffer_add(out, body.data + blank, body.size_bytes - blank);
    if (pattern->sign == SIGN_LAST)
        buffer_add_text(out, minus);
    if (pattern->sign == SIGN_BRACKETS)
        buffer_add_text(out, negative ? ">" : "  ");
    if (lone_point)
        buffer_add_byte(out, ' ');
}

static void pattern_print(const struct number_pattern *pattern, struct decimal value,
                          struct buffer *out)
{
    struct digits digits;
    struct buffer body = {0};
    digits_of_decimal(value, &digits);
    if (digits.count == 0)
        digits.point = 0;
    if (digits.point > pattern->whole || digits.count - digits.point > pattern->places) {
        add_overflow(pattern, &body);
    } else {
        add_body(pattern, &digits, &body);
    }
    add_signed(pattern, digits.negative, buffer_bytes(&body), out);
    buffer_fini(&body);
}

KERNEL(kernel_to_char)
{
    const struct number_pattern *pattern = call->expr->call.bound;
    struct buffer text = {0};
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct decimal value = {KERNEL_ARG(int128, call, 0, row), call->args[0]->type->scale};
        pattern_print(pattern, value, &text);
        TRY_OUT(kernel_set_buffer(call, row, &text, err));
    }
out:
    buffer_fini(&text);
    return status;
}

/* ---- to_char of other types ---- */

static enum status resolve_binary(struct resolve_context *ctx, struct expr *call, struct expr **out,
                                  struct error *err)
{
    struct vector *format;
    TRY(function_constant(ctx, call, 1, "format", &format, err));
    struct bytes text =
        vector_is_null(format, 0) ? bytes_of("", 0) : VECTOR_VALUES(struct bytes, format)[0];
    const char *name = text_equals_ignoring_case(text, "hex")      ? "hex"
                       : text_equals_ignoring_case(text, "base64") ? "base64"
                       : text_equals_ignoring_case(text, "utf-8")  ? "decode"
                                                                   : NULL;
    if (name == NULL)
        return error_raise_at(
            err, STATUS_INVALID_PARAMETER_VALUE__BINARY_FORMAT, call->position, call->position_end,
            "parameter", "`format`", "functionName", "`to_char`", "invalidFormat",
            arena_sprintf(ctx->arena, "'%.*s'", (int)text.size_bytes, (const char *)text.data),
            NULL);
    if (strcmp(name, "decode") == 0)
        return function_resolve_2(ctx, name, call->args[0], call->args[1], out, err);
    return function_resolve_1(ctx, name, call->args[0], out, err);
}

RESOLVER(resolve_to_char)
{
    *out = call;
    enum type_id id = call->args[0]->type->id;
    struct number_pattern *pattern;
    if (id == TYPE_DATE || id == TYPE_TIMESTAMP || id == TYPE_TIMESTAMP_NTZ)
        return function_resolve_2(ctx, "date_format", call->args[0], call->args[1], out, err);
    if (id == TYPE_BINARY)
        return resolve_binary(ctx, call, out, err);
    const struct type *wanted = NULL;
    if (id == TYPE_STRING)
        wanted = type_decimal(ctx->arena, 38, 18);
    else if (type_is_numeric(call->args[0]->type) && id != TYPE_DECIMAL)
        wanted = coercion_decimal_of(ctx, call->args[0]->type);
    if (wanted != NULL)
        call->args[0] = coercion_cast(ctx, call->args[0], wanted);
    TRY(function_apply(ctx, call, "decimal,string->string", err));
    TRY(read_pattern(ctx, call, &pattern, err));
    call->call.bound = pattern;
    return OK;
}
