/*
 * Compiling patterns.  Two sets of rules apply one after the other: Spark's (letters of week-based
 * years, letters and lengths it forbids), then Java's for what is left.  What only Java's old
 * SimpleDateFormat understands is told apart, because that is what an upgrade stumbles over.
 */
#include "columnar/datetime_pattern.h"

#include "base/check.h"
#include "columnar/datetime_program.h"

#include <stdio.h>

#define PATTERN_BYTES_MAX 512
#define STEPS_MAX         512

#define CONFIG  "\"spark.sql.legacy.timeParserPolicy\""
#define DOCROOT "https://spark.apache.org/docs/latest"

struct compiler {
    struct arena *arena;
    char pattern[PATTERN_BYTES_MAX];
    size_t size;
    enum datetime_pattern_use use;
    bool has_era;
    struct datetime_step steps[STEPS_MAX];
    uint32_t count;
    int value_step;    /* a number that fixed-width numbers may follow; -1: none */
    uint32_t open[32]; /* optional sections */
    int open_count;
    bool has_time;
    bool too_long;
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* ---- which error ---- */

/* Whether SimpleDateFormat would take the pattern. */
static bool is_legacy_pattern(const struct compiler *compiler)
{
    bool quoted = false;
    for (size_t i = 0; i < compiler->size; i++) {
        char c = compiler->pattern[i];
        if (c == '\'') {
            quoted = !quoted;
        } else if (!quoted && is_letter(c)) {
            if (strchr("GyYMLwWDdFEuaHkKhmsSzZX", c) == NULL)
                return false;
            if (c == 'X' && compiler->size - i >= 4 &&
                memcmp(compiler->pattern + i, "XXXX", 4) == 0)
                return false;
        }
    }
    return !quoted;
}

static const char *quoted_pattern(const struct compiler *compiler)
{
    char *out = arena_new_object(compiler->arena, 2 * compiler->size + 3);
    size_t size = 0;
    out[size++] = '\'';
    for (size_t i = 0; i < compiler->size; i++) {
        if (compiler->pattern[i] == '\'' || compiler->pattern[i] == '\\')
            out[size++] = '\\';
        out[size++] = compiler->pattern[i];
    }
    out[size] = '\'';
    return out;
}

/* Raises the legacy condition if that applies; false if the caller has to raise its own. */
static bool raise_legacy(const struct compiler *compiler, struct error *err)
{
    if (!is_legacy_pattern(compiler))
        return false;
    (void)error_raise(err, STATUS_INCONSISTENT_BEHAVIOR_CROSS_VERSION__DATETIME_PATTERN_RECOGNITION,
                      "pattern", quoted_pattern(compiler), "config", CONFIG, "docroot", DOCROOT,
                      NULL);
    return true;
}

static enum status refuse(const struct compiler *compiler, struct error *err)
{
    if (raise_legacy(compiler, err))
        return err->status;
    return error_raise(err, STATUS_INVALID_DATETIME_PATTERN__WITH_SUGGESTION, "pattern",
                       quoted_pattern(compiler), "docroot", DOCROOT, NULL);
}

static enum status refuse_letter(const struct compiler *compiler, enum status status, char c,
                                 struct error *err)
{
    const char letter[2] = {c, '\0'};
    if (raise_legacy(compiler, err))
        return err->status;
    if (status == STATUS_INCONSISTENT_BEHAVIOR_CROSS_VERSION__DATETIME_WEEK_BASED_PATTERN)
        return error_raise(err, status, "c", letter, NULL);
    return error_raise(err, status, "c", letter, "pattern", compiler->pattern, NULL);
}

/* First letter outside quotes within [from, to) that is one of `letters`, or 0. */
static char find_letter(const struct compiler *compiler, size_t from, size_t to,
                        const char *letters)
{
    for (size_t i = from; i < to; i++)
        if (strchr(letters, compiler->pattern[i]) != NULL)
            return compiler->pattern[i];
    return '\0';
}

static enum status check_part(const struct compiler *compiler, size_t from, size_t to,
                              struct error *err)
{
    static const char *const lengths[] = {"GGGGG", "MMMMM", "LLLLL",  "EEEEE",
                                          "QQQQQ", "qqqqq", "yyyyyyy"};
    char c = find_letter(compiler, from, to, "YWwuec");
    if (c != '\0')
        return refuse_letter(
            compiler, STATUS_INCONSISTENT_BEHAVIOR_CROSS_VERSION__DATETIME_WEEK_BASED_PATTERN, c,
            err);
    bool parse = compiler->use == DATETIME_PATTERN_PARSE;
    c = find_letter(compiler, from, to, parse ? "ABnNpEFqQ" : "ABnNp");
    if (c != '\0')
        return refuse_letter(compiler, STATUS_INVALID_DATETIME_PATTERN__ILLEGAL_CHARACTER, c, err);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        if (memmem(compiler->pattern + from, to - from, lengths[i], strlen(lengths[i])) == NULL)
            continue;
        if (raise_legacy(compiler, err))
            return err->status;
        return error_raise(err, STATUS_INVALID_DATETIME_PATTERN__LENGTH, "pattern", lengths[i],
                           NULL);
    }
    return OK;
}

/* Spark's own rules, on the parts outside quotes. */
static enum status check_spark_rules(struct compiler *compiler, struct error *err)
{
    bool quoted = false;
    size_t start = 0;
    for (size_t i = 0; i <= compiler->size; i++) {
        if (i < compiler->size && compiler->pattern[i] != '\'')
            continue;
        if (!quoted) {
            TRY(check_part(compiler, start, i, err));
            compiler->has_era =
                compiler->has_era || memchr(compiler->pattern + start, 'G', i - start) != NULL;
        }
        quoted = !quoted;
        start = i + 1;
    }
    return OK;
}

/* ---- steps ---- */

static struct datetime_step *add_step(struct compiler *compiler, enum datetime_step_kind kind)
{
    if (compiler->count == STEPS_MAX) {
        compiler->too_long = true;
        compiler->count--;
    }
    struct datetime_step *step = &compiler->steps[compiler->count++];
    *step = (struct datetime_step){.kind = kind};
    compiler->value_step = -1;
    return step;
}

/*
 * Numbers side by side: those of a fixed width tell the first one how many digits to leave for
 * them; one of variable width starts a new run.
 */
static void add_number(struct compiler *compiler, struct datetime_step number)
{
    int base = compiler->value_step;
    bool fixed = number.min == number.max && number.sign == SIGN_NEVER;
    int index = (int)compiler->count;
    if (base >= 0) {
        if (fixed) {
            compiler->steps[base].following += number.max;
            number.following = -1;
            index = base;
        } else {
            compiler->steps[base].following = -1;
        }
    }
    *add_step(compiler, number.kind) = number;
    compiler->value_step = index;
}

static void add_value(struct compiler *compiler, enum datetime_field field, int min, int max,
                      enum datetime_sign sign)
{
    add_number(compiler,
               (struct datetime_step){
                   .kind = STEP_NUMBER, .field = field, .min = min, .max = max, .sign = sign});
}

/* One digit or more, or exactly two. */
static bool add_one_or_two(struct compiler *compiler, enum datetime_field field, int count)
{
    if (count == 1)
        add_value(compiler, field, 1, 19, SIGN_NORMAL);
    else if (count == 2)
        add_value(compiler, field, 2, 2, SIGN_NEVER);
    return count <= 2;
}

static bool add_text(struct compiler *compiler, enum datetime_field field, bool full)
{
    struct datetime_step *step = add_step(compiler, STEP_TEXT);
    step->field = field;
    step->full = full;
    return true;
}

static bool add_year(struct compiler *compiler, int count)
{
    enum datetime_field field = compiler->has_era ? FIELD_YEAR_OF_ERA : FIELD_YEAR;
    if (count == 2)
        add_number(
            compiler,
            (struct datetime_step){
                .kind = STEP_REDUCED_YEAR, .field = field, .min = 2, .max = 2, .sign = SIGN_NEVER});
    else
        add_value(compiler, field, count, 19, count < 4 ? SIGN_NORMAL : SIGN_EXCEEDS_PAD);
    return true;
}

static bool add_month_like(struct compiler *compiler, enum datetime_field field, int count)
{
    if (count <= 2)
        return add_one_or_two(compiler, field, count);
    return count <= 4 && add_text(compiler, field, count == 4);
}

static bool add_offset(struct compiler *compiler, char letter, int count)
{
    if (count > 5)
        return false;
    if (letter == 'Z' && count == 4) {
        add_step(compiler, STEP_LOCALIZED_OFFSET)->full = true;
        return true;
    }
    struct datetime_step *step = add_step(compiler, STEP_OFFSET);
    if (letter == 'Z') {
        step->colon = count == 5;
        step->precision = count == 5 ? OFFSET_SECOND_IF_NOT_ZERO : OFFSET_HOUR_MINUTE;
        step->zero = count == 5 ? "Z" : "+0000";
        return true;
    }
    step->colon = count == 3 || count == 5;
    step->precision = count == 1  ? OFFSET_HOUR_MINUTE_IF_NOT_ZERO
                      : count > 3 ? OFFSET_SECOND_IF_NOT_ZERO
                                  : OFFSET_HOUR_MINUTE;
    step->zero = letter == 'X' ? "Z" : count == 1 ? "+00" : step->colon ? "+00:00" : "+0000";
    return true;
}

static bool add_fraction(struct compiler *compiler, int count)
{
    if (count > 9)
        return false;
    int min = compiler->use == DATETIME_PATTERN_PARSE ? 1 : count;
    struct datetime_step step = {
        .kind = STEP_FRACTION, .field = FIELD_NANO, .min = min, .max = count, .sign = SIGN_NEVER};
    if (min == count)
        add_number(compiler, step);
    else
        *add_step(compiler, STEP_FRACTION) = step;
    return true;
}

/* `count` times the letter.  False: Java has no such field. */
static bool add_field(struct compiler *compiler, char letter, int count)
{
    static const struct {
        char letter;
        enum datetime_field field;
    } clocks[] = {
        {'d', FIELD_DAY},       {'H', FIELD_HOUR},   {'k', FIELD_CLOCK_HOUR},
        {'K', FIELD_HOUR_AMPM}, {'m', FIELD_MINUTE}, {'h', FIELD_CLOCK_HOUR_AMPM},
        {'s', FIELD_SECOND},
    };
    compiler->has_time = compiler->has_time || strchr("aHkKhmsSzZXxOVv", letter) != NULL;
    for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
        if (clocks[i].letter == letter)
            return add_one_or_two(compiler, clocks[i].field, count);
    switch (letter) {
    case 'y':
        return add_year(compiler, count);
    case 'M':
        return add_month_like(compiler, FIELD_MONTH, count);
    case 'L':
        if (!add_month_like(compiler, FIELD_MONTH, count))
            return false;
        compiler->steps[compiler->count - 1].alone = true;
        return true;
    case 'Q':
    case 'q':
        return add_month_like(compiler, FIELD_QUARTER, count);
    case 'G':
        return count <= 4 && add_text(compiler, FIELD_ERA, count == 4);
    case 'E':
        return count <= 4 && add_text(compiler, FIELD_WEEKDAY, count == 4);
    case 'a':
        return count == 1 && add_text(compiler, FIELD_AMPM, false);
    case 'D':
        if (count == 1)
            add_value(compiler, FIELD_DAY_OF_YEAR, 1, 19, SIGN_NORMAL);
        else if (count <= 3)
            add_value(compiler, FIELD_DAY_OF_YEAR, count, 3, SIGN_NEVER);
        return count <= 3;
    case 'F':
        if (count == 1)
            add_value(compiler, FIELD_DAY_IN_SEVEN, 1, 19, SIGN_NORMAL);
        return count == 1;
    case 'S':
        return add_fraction(compiler, count);
    case 'X':
    case 'x':
    case 'Z':
        return add_offset(compiler, letter, count);
    case 'O':
        add_step(compiler, STEP_LOCALIZED_OFFSET)->full = count == 4;
        return count == 1 || count == 4;
    case 'V':
        (void)add_step(compiler, STEP_ZONE_ID);
        return count == 2;
    case 'z':
    case 'v':
        add_step(compiler, STEP_ZONE_NAME)->full = count == 4;
        return count <= 4;
    default:
        return false;
    }
}

static void add_literal(struct compiler *compiler, const char *text, size_t size)
{
    struct datetime_step *step = add_step(compiler, STEP_LITERAL);
    step->literal = bytes_of(arena_strndup(compiler->arena, text, size), size);
}

/* The quoted text at pattern[*at].  False: it does not end (which only printing minds). */
static bool add_quoted(struct compiler *compiler, size_t *at)
{
    char text[PATTERN_BYTES_MAX];
    size_t size = 0;
    size_t i = *at + 1;
    bool closed = false;
    for (; i < compiler->size && !closed; i++) {
        if (compiler->pattern[i] != '\'') {
            text[size++] = compiler->pattern[i];
        } else if (i + 1 < compiler->size && compiler->pattern[i + 1] == '\'') {
            text[size++] = '\'';
            i++;
        } else {
            closed = true;
        }
    }
    if (size == 0) /* two quotes are one */
        text[size++] = '\'';
    add_literal(compiler, text, size);
    *at = i;
    return closed || compiler->use == DATETIME_PATTERN_PARSE;
}

static bool add_bracket(struct compiler *compiler, char c)
{
    if (c == '[') {
        if (compiler->open_count == (int)(sizeof(compiler->open) / sizeof(*compiler->open)))
            return false;
        (void)add_step(compiler, STEP_OPTIONAL_BEGIN);
        compiler->open[compiler->open_count++] = compiler->count - 1;
        return true;
    }
    if (compiler->open_count == 0)
        return false;
    uint32_t begin = compiler->open[--compiler->open_count];
    (void)add_step(compiler, STEP_OPTIONAL_END);
    compiler->steps[begin].skip = compiler->count - begin;
    return true;
}

static bool compile_java(struct compiler *compiler)
{
    static const char special[] = {'\'', '[', ']', '{', '}', '#'};
    size_t at = 0;
    while (at < compiler->size) {
        char c = compiler->pattern[at];
        size_t start = at;
        if (is_letter(c)) {
            while (at < compiler->size && compiler->pattern[at] == c)
                at++;
            if (!add_field(compiler, c, (int)(at - start)))
                return false;
        } else if (c == '\'') {
            if (!add_quoted(compiler, &at))
                return false;
        } else if (c == '[' || c == ']') {
            at++;
            if (!add_bracket(compiler, c))
                return false;
        } else if (c == '{' || c == '}' || c == '#') {
            return false;
        } else {
            while (at < compiler->size && !is_letter(compiler->pattern[at]) &&
                   memchr(special, compiler->pattern[at], sizeof special) == NULL)
                at++;
            add_literal(compiler, compiler->pattern + start, at - start);
        }
    }
    while (compiler->open_count > 0)
        (void)add_bracket(compiler, ']');
    return !compiler->too_long;
}

enum status datetime_pattern_compile(struct arena *arena, struct bytes pattern,
                                     enum datetime_pattern_use use,
                                     const struct datetime_pattern **out, struct error *err)
{
    return datetime_pattern_compile_in(arena, pattern, use, datetime_words_english(), out, err);
}

enum status datetime_pattern_compile_in(struct arena *arena, struct bytes pattern,
                                        enum datetime_pattern_use use,
                                        const struct datetime_words *words,
                                        const struct datetime_pattern **out, struct error *err)
{
    CHECK(arena != NULL);
    struct compiler *compiler = arena_new_object(arena, sizeof(*compiler));
    compiler->arena = arena;
    compiler->use = use;
    compiler->value_step = -1;
    compiler->size =
        pattern.size_bytes < PATTERN_BYTES_MAX ? pattern.size_bytes : PATTERN_BYTES_MAX - 1;
    if (compiler->size > 0)
        memcpy(compiler->pattern, pattern.data, compiler->size);
    if (pattern.size_bytes >= PATTERN_BYTES_MAX)
        return refuse(compiler, err);
    TRY(check_spark_rules(compiler, err));
    if (!compile_java(compiler))
        return refuse(compiler, err);
    struct datetime_pattern *compiled = arena_new_object(arena, sizeof(*compiled));
    struct datetime_step *steps = arena_new_object(arena, (compiler->count + 1) * sizeof(*steps));
    memcpy(steps, compiler->steps, compiler->count * sizeof(*steps));
    compiled->steps = steps;
    compiled->count = compiler->count;
    compiled->has_time = compiler->has_time;
    compiled->words = words;
    *out = compiled;
    return OK;
}

bool datetime_pattern_has_time(const struct datetime_pattern *pattern)
{
    return pattern->has_time;
}
