/* CSV records into values: see csv_token.h. */
#include "format/csv_token.h"

#include "base/heap.h"
#include "base/utf8.h"

#include <stdlib.h>

#define CH_NEWLINE (-2)

/* What a step of the state machine says. */
enum step {
    STEP_END, /* the value is complete; ch is what follows it */
    STEP_EOF, /* the text ended */
    STEP_AGAIN,
};

static enum status delimiter_char(const char *at, size_t *used, char *out, struct error *err)
{
    static const char from[] = "trbf\"'\\";
    static const char to[] = "\t\r\b\f\"'\\";
    *used = 1;
    *out = at[0];
    if (at[0] != '\\')
        return OK;
    if (at[1] == '\0')
        return error_raise(err, STATUS_INVALID_DELIMITER_VALUE__SINGLE_BACKSLASH, NULL);
    const char *known = strchr(from, at[1]);
    *used = 2;
    if (known != NULL) {
        *out = to[known - from];
        return OK;
    }
    char text[3] = {'\\', at[1], '\0'};
    return error_raise(err, STATUS_INVALID_DELIMITER_VALUE__UNSUPPORTED_SPECIAL_CHARACTER, "str",
                       text, NULL);
}

enum status csv_parse_delimiter(const struct options *options, uint8_t out[CSV_DELIMITER_MAX],
                                uint32_t *size, struct error *err)
{
    const char *value = options_get(options, "sep");
    if (value == NULL)
        value = options_get(options, "delimiter");
    if (value == NULL)
        value = ",";
    *size = 0;
    for (size_t used = 0; *value != '\0'; value += used) {
        char byte = '\0';
        TRY(delimiter_char(value, &used, &byte, err));
        if (*size == CSV_DELIMITER_MAX)
            return error_raise(err, STATUS_INVALID_DELIMITER_VALUE__DELIMITER_LONGER_THAN_EXPECTED,
                               "str", value, NULL);
        out[(*size)++] = (uint8_t)byte;
    }
    return OK;
}

void csv_parser_init(struct csv_parser *parser, const struct csv_dialect *dialect)
{
    *parser = (struct csv_parser){.dialect = dialect};
}

void csv_parser_fini(struct csv_parser *parser)
{
    free(parser->tokens);
    buffer_fini(&parser->value);
}

static size_t char_count(struct bytes text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.size_bytes; i++)
        count += (text.data[i] & 0xC0) != 0x80;
    return count;
}

static bool too_long(const struct csv_parser *parser, struct bytes text)
{
    int64_t limit = parser->dialect->chars_max;
    return limit >= 0 && text.size_bytes > (size_t)limit && char_count(text) > (size_t)limit;
}

static void push_slow(struct csv_parser *parser)
{
    parser->token_capacity = parser->token_capacity == 0 ? 32 : parser->token_capacity * 2;
    parser->tokens = heap_realloc(parser->tokens, parser->token_capacity * sizeof(struct bytes));
}

static inline void push(struct csv_parser *parser, struct bytes token)
{
    if (parser->token_count == parser->dialect->columns_max) {
        parser->overflow = true;
        return;
    }
    if (parser->token_count == parser->token_capacity)
        push_slow(parser);
    parser->tokens[parser->token_count++] = token;
}

/* The state machine. */

static inline bool is_blank(int32_t ch)
{
    return ch >= 0 && ch <= ' ';
}

static bool at_newline(const struct csv_parser *parser)
{
    const struct csv_dialect *dialect = parser->dialect;
    return !dialect->lines && (size_t)(parser->end - parser->at) >= dialect->newline_size &&
           memcmp(parser->at, dialect->newline, dialect->newline_size) == 0;
}

/* The next character into ch; false at the end, where ch stays. */
static bool next(struct csv_parser *parser)
{
    if (parser->at >= parser->end)
        return false;
    parser->ch_start = parser->at;
    if (at_newline(parser)) {
        parser->ch = CH_NEWLINE;
        parser->at += parser->dialect->newline_size;
        return true;
    }
    if (*parser->at < 0x80) {
        parser->ch = *parser->at++;
        return true;
    }
    size_t size = 0;
    uint32_t code = utf8_decode(bytes_of(parser->at, (size_t)(parser->end - parser->at)), &size);
    parser->ch = (int32_t)code;
    parser->at += size == 0 ? 1 : size;
    return true;
}

static bool is_char(const struct csv_parser *parser, uint32_t wanted)
{
    return parser->ch == (int32_t)wanted && wanted != 0;
}

static bool is_quote(const struct csv_parser *parser)
{
    return is_char(parser, parser->dialect->quote);
}

static bool was_quote(const struct csv_parser *parser)
{
    return parser->prev == (int32_t)parser->dialect->quote && parser->prev != 0;
}

static bool is_escape(const struct csv_parser *parser)
{
    return is_char(parser, parser->dialect->escape);
}

static bool at_delimiter(const struct csv_parser *parser)
{
    const struct csv_dialect *dialect = parser->dialect;
    return !parser->deaf && parser->ch >= 0 &&
           (size_t)(parser->end - parser->ch_start) >= dialect->delimiter_size &&
           memcmp(parser->ch_start, dialect->delimiter, dialect->delimiter_size) == 0;
}

static bool at_value_end(const struct csv_parser *parser)
{
    return parser->ch == CH_NEWLINE || at_delimiter(parser);
}

static void append_code(struct csv_parser *parser, uint32_t code)
{
    uint8_t bytes[4];
    buffer_add(&parser->value, bytes, utf8_encode(code, bytes));
}

/* A value that is too long is not kept any more: the record is malformed whatever follows. */
static void append_ch(struct csv_parser *parser)
{
    if (parser->overflow)
        return;
    if (parser->ch == CH_NEWLINE && parser->dialect->normalize_newlines)
        buffer_add_byte(&parser->value, '\n');
    else
        buffer_add(&parser->value, parser->ch_start, (size_t)(parser->at - parser->ch_start));
    if (parser->dialect->chars_max >= 0 && too_long(parser, buffer_bytes(&parser->value)))
        parser->overflow = true;
}

static void value_parsed(struct csv_parser *parser)
{
    struct bytes value = buffer_bytes(&parser->value);
    if (parser->trim) {
        while (value.size_bytes > 0 && value.data[value.size_bytes - 1] <= ' ')
            value.size_bytes--;
    }
    if (parser->skipped)
        push(parser, bytes_of(NULL, 0));
    else if (value.size_bytes == 0)
        push(parser, parser->dialect->empty_value);
    else
        push(parser, arena_copy(parser->arena, value));
    buffer_clear(&parser->value);
    parser->skipped = false;
    parser->trim = false;
}

static void empty_parsed(struct csv_parser *parser)
{
    push(parser, parser->dialect->null_value);
}

/* A place to go back to: what univocity does not store when the text ends. */
struct place {
    int32_t ch;
    const uint8_t *start;
};

static struct place here(const struct csv_parser *parser)
{
    return (struct place){parser->ch, parser->ch_start};
}

static enum step ended(struct csv_parser *parser, struct place place)
{
    parser->ch = place.ch;
    parser->ch_start = place.start;
    return STEP_EOF;
}

/* Appends up to the end of the value, quotes or not. */
static enum step append_to_end(struct csv_parser *parser)
{
    struct place place = here(parser);
    bool forgets = parser->deaf || !parser->dialect->delimiter_long;
    while (!at_value_end(parser)) {
        append_ch(parser);
        if (!next(parser))
            return forgets ? ended(parser, place) : STEP_EOF;
    }
    return STEP_END;
}

static enum step skip_value(struct csv_parser *parser)
{
    struct place place = here(parser);
    buffer_clear(&parser->value);
    parser->skipped = true;
    while (!at_value_end(parser)) {
        if (!next(parser))
            return ended(parser, place);
    }
    return STEP_END;
}

static bool until_delimiter(const struct csv_parser *parser)
{
    enum csv_stray_quote stray = parser->dialect->stray_quote;
    return stray == CSV_STOP_AT_DELIMITER || stray == CSV_SKIP_VALUE ||
           stray == CSV_BACK_TO_DELIMITER;
}

/* Emits the values that are already in the one being read: they were no part of it. */
static void back_to_delimiter(struct csv_parser *parser)
{
    const struct csv_dialect *dialect = parser->dialect;
    for (;;) {
        struct bytes value = buffer_bytes(&parser->value);
        const uint8_t *found =
            value.size_bytes == 0
                ? NULL
                : memmem(value.data, value.size_bytes, dialect->delimiter, dialect->delimiter_size);
        if (found == NULL)
            return;
        size_t size = (size_t)(found - value.data);
        push(parser, arena_copy(parser->arena, bytes_of(value.data, size)));
        size_t rest = value.size_bytes - size - dialect->delimiter_size;
        memmove(parser->value.data, found + dialect->delimiter_size, rest);
        parser->value.size_bytes = rest;
    }
}

/* A quote inside a quoted value that is neither its end nor escaped; ch is what follows it. */
static enum step stray_quote(struct csv_parser *parser)
{
    parser->unescaped = true;
    switch (parser->dialect->stray_quote) {
    case CSV_BACK_TO_DELIMITER:
        back_to_delimiter(parser);
        append_ch(parser);
        parser->prev = 0;
        return STEP_AGAIN;
    case CSV_STOP_AT_CLOSING_QUOTE:
    case CSV_STOP_AT_DELIMITER:
        append_code(parser, parser->dialect->quote);
        append_ch(parser);
        parser->prev = parser->ch;
        return STEP_AGAIN;
    case CSV_SKIP_VALUE:
        return skip_value(parser);
    case CSV_RAISE_ERROR:
        break;
    }
    parser->stray = true;
    return STEP_EOF;
}

/*
 * A quote or an escape inside a value.  True: it follows a quote that is neither escaped nor the
 * end of the value.
 */
static bool quote_or_escape(struct csv_parser *parser)
{
    const struct csv_dialect *dialect = parser->dialect;
    if (is_escape(parser) && dialect->escape_escape != 0 &&
        parser->prev == (int32_t)dialect->escape_escape) {
        append_code(parser, dialect->escape);
        parser->ch = 0;
    } else if (parser->prev == (int32_t)dialect->escape) {
        if (is_quote(parser)) {
            append_code(parser, dialect->quote);
            parser->ch = 0;
        } else if (dialect->escape != 0) {
            append_code(parser, dialect->escape);
        }
    } else if (is_quote(parser) && was_quote(parser)) {
        append_code(parser, dialect->quote);
    } else {
        return was_quote(parser);
    }
    return false;
}

/*
 * Behind an escape that follows a stray quote.  Each further one of them makes univocity call
 * itself, and on return it steps over the delimiter that ended the inner call: `depth` counts the
 * calls.
 */
static enum step behind_stray_quote(struct csv_parser *parser)
{
    const struct csv_dialect *dialect = parser->dialect;
    if (dialect->stray_quote == CSV_SKIP_VALUE)
        return skip_value(parser);
    parser->deaf = dialect->delimiter_long;
    append_code(parser, dialect->quote);
    parser->prev = parser->ch;
    for (size_t depth = 0;;) {
        if (at_value_end(parser)) {
            if (depth-- == 0)
                break;
        } else if (!is_quote(parser) && !is_escape(parser)) {
            if (was_quote(parser))
                append_code(parser, dialect->quote);
            append_ch(parser);
        } else if (quote_or_escape(parser)) {
            append_code(parser, dialect->quote);
            parser->prev = parser->ch;
            depth++;
            continue;
        }
        parser->prev = parser->ch;
        if (!next(parser))
            return STEP_EOF;
    }
    parser->deaf = false;
    return STEP_END;
}

/* Plain characters inside a quoted value. */
static enum step quoted_run(struct csv_parser *parser)
{
    const struct csv_dialect *dialect = parser->dialect;
    if (parser->prev == (int32_t)dialect->escape && dialect->escape != 0)
        append_code(parser, dialect->escape);
    struct place place = here(parser);
    while (!is_quote(parser) && !is_escape(parser) && !is_char(parser, dialect->escape_escape)) {
        append_ch(parser);
        if (!next(parser))
            return ended(parser, place);
    }
    return STEP_END;
}

/* The inside of a quoted value up to its closing quote; ch is then what follows it. */
static enum step quoted_inside(struct csv_parser *parser)
{
    while (!was_quote(parser) || !(is_blank(parser->ch) || at_value_end(parser))) {
        if (!is_quote(parser) && !is_escape(parser)) {
            if (was_quote(parser))
                return stray_quote(parser);
            if (quoted_run(parser) == STEP_EOF)
                return STEP_EOF;
        } else if (quote_or_escape(parser) && behind_stray_quote(parser) == STEP_EOF) {
            return STEP_EOF;
        }
        parser->prev = parser->ch;
        if (!next(parser))
            return STEP_EOF;
        if (parser->unescaped && at_value_end(parser))
            return STEP_END;
    }
    return STEP_END;
}

/* Blanks behind the closing quote are dropped, unless more follows them. */
static enum step quoted_behind(struct csv_parser *parser)
{
    const uint8_t *blanks = parser->ch_start;
    do {
        if (!next(parser))
            return STEP_EOF;
        if (parser->ch == CH_NEWLINE)
            return STEP_END;
    } while (is_blank(parser->ch) && !at_delimiter(parser));
    if (at_delimiter(parser))
        return STEP_END;
    if (parser->dialect->stray_quote == CSV_RAISE_ERROR) {
        parser->stray = true;
        return STEP_EOF;
    }
    append_code(parser, parser->dialect->quote);
    buffer_add(&parser->value, blanks, (size_t)(parser->ch_start - blanks));
    if (until_delimiter(parser) || (!is_quote(parser) && !is_escape(parser)))
        append_ch(parser);
    parser->prev = parser->ch;
    parser->deaf = parser->dialect->delimiter_long;
    return STEP_AGAIN;
}

static void prepend_quote(struct csv_parser *parser)
{
    uint8_t bytes[4];
    size_t size = utf8_encode(parser->dialect->quote, bytes);
    (void)buffer_reserve(&parser->value, size);
    memmove(parser->value.data + size, parser->value.data, parser->value.size_bytes);
    memcpy(parser->value.data, bytes, size);
    parser->value.size_bytes += size;
}

/* A quoted value; ch is its opening quote, or the place where it goes on behind a stray one. */
static enum step parse_quoted(struct csv_parser *parser)
{
    for (;;) {
        if (parser->prev != 0 && until_delimiter(parser)) {
            if (parser->dialect->stray_quote == CSV_SKIP_VALUE)
                return skip_value(parser);
            prepend_quote(parser);
            if (!next(parser))
                return STEP_EOF;
            parser->trim = parser->dialect->trim_trailing;
            return append_to_end(parser);
        }
        if (!next(parser))
            return STEP_EOF;
        enum step step = quoted_inside(parser);
        if (step == STEP_END && !at_value_end(parser) && is_blank(parser->ch) &&
            was_quote(parser) && !parser->skipped)
            step = quoted_behind(parser);
        if (step != STEP_AGAIN)
            return step;
    }
}

static const uint8_t *find_byte(const uint8_t *at, const uint8_t *end, uint8_t byte)
{
    const uint8_t *found = at < end ? memchr(at, byte, (size_t)(end - at)) : NULL;
    return found == NULL ? end : found;
}

/* True if univocity takes the inside of a quoted value as it is. */
static bool plain_inside(const struct csv_dialect *dialect, struct bytes value, bool at_end)
{
    if (at_end && value.size_bytes == 0 && dialect->escape == 0)
        return false;
    if (value.size_bytes == 0)
        return true;
    const uint8_t *end = value.data + value.size_bytes;
    if (at_end && dialect->escape_escape != dialect->escape && dialect->escape_escape != 0 &&
        find_byte(value.data, end, (uint8_t)dialect->escape_escape) != end)
        return false;
    if (dialect->escape == dialect->quote || dialect->escape == 0)
        return true;
    const uint8_t *at = find_byte(value.data, end, (uint8_t)dialect->escape);
    for (; at < end; at = find_byte(at + 1, end, (uint8_t)dialect->escape)) {
        if (at + 1 == end || at[1] == dialect->escape_escape)
            return false;
    }
    return true;
}

/*
 * A quoted value that is taken as it is, up to a delimiter or (in a line) the end; the result is
 * behind its closing quote.  NULL: look closer.
 */
static const uint8_t *quick_quoted(struct csv_parser *parser, const uint8_t *at, const uint8_t *end)
{
    const struct csv_dialect *dialect = parser->dialect;
    const uint8_t *stop = find_byte(at + 1, end, (uint8_t)dialect->quote);
    if (stop == end || (stop + 1 < end && stop[1] != dialect->delimiter[0]))
        return NULL;
    struct bytes value = bytes_of(at + 1, (size_t)(stop - at - 1));
    if (!plain_inside(dialect, value, stop + 1 == end) || too_long(parser, value))
        return NULL;
    push(parser, value.size_bytes == 0 ? dialect->empty_value : value);
    return stop + 1;
}

static bool is_quick(const struct csv_dialect *dialect)
{
    return dialect->delimiter_size == 1 && dialect->quote < 0x80 && dialect->escape < 0x80 &&
           dialect->escape_escape < 0x80 && dialect->delimiter[0] != dialect->quote;
}

/* A quoted value inside a record that is not quick as a whole. */
static bool quick_value(struct csv_parser *parser)
{
    if (!is_quick(parser->dialect) || !parser->dialect->lines)
        return false;
    const uint8_t *stop =
        find_byte(parser->ch_start + 1, parser->end, (uint8_t)parser->dialect->quote);
    if (stop + 1 >= parser->end)
        return false;
    stop = quick_quoted(parser, parser->ch_start, parser->end);
    if (stop == NULL)
        return false;
    parser->at = stop;
    return true;
}

static enum step parse_value(struct csv_parser *parser)
{
    parser->unescaped = false;
    parser->prev = 0;
    enum step step = STEP_END;
    if (is_quote(parser)) {
        if (quick_value(parser))
            return next(parser) ? STEP_END : STEP_EOF;
        step = parse_quoted(parser);
        if (step == STEP_EOF)
            return step;
        parser->deaf = false;
        bool back = parser->unescaped && parser->dialect->stray_quote == CSV_BACK_TO_DELIMITER;
        if (!back || parser->value.size_bytes > 0 || parser->skipped)
            value_parsed(parser);
        return STEP_END;
    }
    parser->trim = parser->dialect->trim_trailing;
    step = append_to_end(parser);
    if (step == STEP_EOF)
        return step;
    bool blank = parser->trim;
    for (size_t i = 0; blank && i < parser->value.size_bytes; i++)
        blank = parser->value.data[i] <= ' ';
    if (blank) {
        buffer_clear(&parser->value);
        parser->trim = false;
        empty_parsed(parser);
    } else {
        value_parsed(parser);
    }
    return STEP_END;
}

/* False at the end of the text. */
static bool skip_blanks(struct csv_parser *parser)
{
    if (!parser->dialect->trim_leading)
        return true;
    while (is_blank(parser->ch) && !at_delimiter(parser) && !is_quote(parser)) {
        if (!next(parser))
            return false;
    }
    return true;
}

/* A record from ch on; false if the text ended first. */
static bool parse_values(struct csv_parser *parser)
{
    if (!skip_blanks(parser))
        return false;
    while (parser->ch != CH_NEWLINE) {
        if (!skip_blanks(parser))
            return false;
        if (at_value_end(parser))
            empty_parsed(parser);
        else if (parse_value(parser) == STEP_EOF)
            return false;
        if (parser->ch == CH_NEWLINE)
            break;
        parser->at = parser->ch_start + parser->dialect->delimiter_size;
        if (!next(parser))
            return false;
        if (parser->ch == CH_NEWLINE)
            empty_parsed(parser);
    }
    return true;
}

/* What is left when the text ends inside a record. */
static void finish_at_end(struct csv_parser *parser, bool any)
{
    bool consume = false;
    if (is_quote(parser)) {
        if (was_quote(parser))
            consume = true;
        else if (!parser->unescaped)
            append_code(parser, parser->dialect->quote);
    }
    consume = consume || (parser->prev != 0 && !at_value_end(parser) &&
                          !is_char(parser, parser->dialect->comment));
    if (parser->skipped || parser->value.size_bytes > 0 || consume)
        value_parsed(parser);
    else if (parser->token_count > 0 || any)
        empty_parsed(parser);
}

static enum csv_result state_machine(struct csv_parser *parser, struct bytes text, bool at_end)
{
    parser->at = text.data;
    parser->end = text.data + text.size_bytes;
    parser->ch = 0;
    parser->prev = 0;
    parser->ch_start = text.data;
    parser->unescaped = false;
    parser->skipped = false;
    parser->trim = false;
    parser->deaf = false;
    buffer_clear(&parser->value);
    if (!next(parser))
        return at_end ? CSV_NOTHING : CSV_MORE;
    if (!parse_values(parser) && !parser->overflow && !parser->stray) {
        if (!at_end)
            return CSV_MORE;
        finish_at_end(parser, true);
    }
    if (parser->stray)
        return CSV_STRAY;
    if (parser->overflow)
        return CSV_TOO_BIG;
    return parser->token_count > 0 ? CSV_RECORD : CSV_NOTHING;
}

/* The fast path: one-byte delimiter and quote, no escapes, nothing behind a closing quote. */

static const uint8_t *quick_plain(struct csv_parser *parser, const uint8_t *at, const uint8_t *end)
{
    const struct csv_dialect *dialect = parser->dialect;
    const uint8_t *stop = find_byte(at, end, dialect->delimiter[0]);
    struct bytes value = bytes_of(at, (size_t)(stop - at));
    if (dialect->trim_trailing) {
        while (value.size_bytes > 0 && value.data[value.size_bytes - 1] <= ' ')
            value.size_bytes--;
    }
    if (too_long(parser, value))
        return NULL;
    bool blank = value.size_bytes == 0;
    if (blank && stop > at && stop == end)
        push(parser, dialect->empty_value);
    else
        push(parser, blank ? dialect->null_value : value);
    return stop;
}

static bool quick_line(struct csv_parser *parser, struct bytes line)
{
    const struct csv_dialect *dialect = parser->dialect;
    const uint8_t *at = line.data;
    const uint8_t *end = line.data + line.size_bytes;
    if (!is_quick(dialect))
        return false;
    for (;;) {
        while (dialect->trim_leading && at < end && *at <= ' ' && *at != dialect->delimiter[0] &&
               *at != dialect->quote)
            at++;
        if (at < end && *at == dialect->quote && dialect->quote != 0)
            at = quick_quoted(parser, at, end);
        else
            at = quick_plain(parser, at, end);
        if (at == NULL || parser->overflow)
            return false;
        if (at == end)
            return true;
        at++;
        if (at == end) {
            push(parser, dialect->null_value);
            return !parser->overflow;
        }
    }
}

static bool is_comment(const struct csv_parser *parser, struct bytes line)
{
    size_t size = 0;
    return parser->dialect->comment != 0 && line.size_bytes > 0 &&
           utf8_decode(line, &size) == parser->dialect->comment;
}

enum csv_result csv_parse_line(struct csv_parser *parser, struct bytes line)
{
    parser->token_count = 0;
    parser->overflow = false;
    parser->stray = false;
    if (is_comment(parser, line))
        return CSV_NOTHING;
    if (quick_line(parser, line))
        return CSV_RECORD;
    parser->token_count = 0;
    parser->overflow = false;
    return state_machine(parser, line, true);
}

enum csv_result csv_parse_record(struct csv_parser *parser, struct bytes text, bool at_end,
                                 size_t *used, size_t *size)
{
    const struct csv_dialect *dialect = parser->dialect;
    parser->token_count = 0;
    parser->overflow = false;
    parser->stray = false;
    if (is_comment(parser, text)) {
        const uint8_t *found =
            memmem(text.data, text.size_bytes, dialect->newline, dialect->newline_size);
        if (found == NULL && !at_end)
            return CSV_MORE;
        *size = found == NULL ? text.size_bytes : (size_t)(found - text.data);
        *used = found == NULL ? text.size_bytes : *size + dialect->newline_size;
        return CSV_NOTHING;
    }
    enum csv_result result = state_machine(parser, text, at_end);
    *used = (size_t)(parser->at - text.data);
    /* The line break that ends the record, or the text where a quote is still open. */
    bool broken =
        *used >= dialect->newline_size && memcmp(text.data + *used - dialect->newline_size,
                                                 dialect->newline, dialect->newline_size) == 0;
    *size = broken ? *used - dialect->newline_size : *used;
    return result;
}
