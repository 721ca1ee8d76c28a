#include "sql/lexer.h"

#include "base/check.h"
#include "base/utf8.h"

#include <limits.h>
#include <strings.h>

static const char *const keyword_names[] = {
    [KW_NONE] = "",
#define KEYWORD(word) [KW_##word] = #word,
#include "sql/keywords.def"
#undef KEYWORD
};

/* Longest first among those with a common start. */
static const struct symbol {
    char text[4];
    enum token_kind kind;
} symbols[] = {
    {">>>", TOKEN_SHIFT_RIGHT_UNSIGNED},
    {"<=>", TOKEN_NULL_EQUAL},
    {"<<", TOKEN_SHIFT_LEFT},
    {"<=", TOKEN_LESS_EQUAL},
    {"<>", TOKEN_NOT_EQUAL},
    {">>", TOKEN_SHIFT_RIGHT},
    {">=", TOKEN_GREATER_EQUAL},
    {"!=", TOKEN_NOT_EQUAL},
    {"!>", TOKEN_LESS_EQUAL},
    {"!<", TOKEN_GREATER_EQUAL},
    {"==", TOKEN_EQUAL},
    {"=>", TOKEN_FAT_ARROW},
    {"->", TOKEN_ARROW},
    {"||", TOKEN_CONCAT},
    {"|>", TOKEN_PIPE_STEP},
    {"::", TOKEN_DOUBLE_COLON},
    {"*/", TOKEN_HINT_END},
    {"$$", TOKEN_UNRECOGNIZED},
    {"<", TOKEN_LESS},
    {">", TOKEN_GREATER},
    {"=", TOKEN_EQUAL},
    {"!", TOKEN_BANG},
    {"|", TOKEN_BAR},
    {"&", TOKEN_AMPERSAND},
    {"^", TOKEN_HAT},
    {"~", TOKEN_TILDE},
    {"+", TOKEN_PLUS},
    {"-", TOKEN_MINUS},
    {"*", TOKEN_STAR},
    {"/", TOKEN_SLASH},
    {"%", TOKEN_PERCENT},
    {"(", TOKEN_LEFT_PAREN},
    {")", TOKEN_RIGHT_PAREN},
    {"[", TOKEN_LEFT_BRACKET},
    {"]", TOKEN_RIGHT_BRACKET},
    {",", TOKEN_COMMA},
    {".", TOKEN_DOT},
    {";", TOKEN_SEMICOLON},
    {":", TOKEN_COLON},
    {"?", TOKEN_QUESTION},
};

struct lexer {
    const uint8_t *data;
    size_t size_bytes;
    size_t at;
    struct token_list list;
    size_t capacity;
    struct arena *arena;
};

const char *keyword_name(enum keyword keyword)
{
    CHECK((unsigned)keyword < KW_COUNT_);
    return keyword_names[keyword];
}

static uint8_t byte_at(const struct lexer *lexer, size_t at)
{
    return at < lexer->size_bytes ? lexer->data[at] : 0;
}

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_ascii_letter(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_word_ascii(uint8_t byte)
{
    return is_ascii_letter(byte) || is_digit(byte) || byte == '_';
}

static bool is_space_code(uint32_t code)
{
    return code == ' ' || (code >= 0x09 && code <= 0x0D) || code == 0xA0 || code == 0x1680 ||
           (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x202F ||
           code == 0x205F || code == 0x3000;
}

/* Letters outside ASCII, by blocks: the punctuation, symbol and private blocks are none. */
static bool is_letter_code(uint32_t code)
{
    static const struct {
        uint32_t from, to;
    } others[] = {
        {0x80, 0xA9},       {0xAB, 0xB4},        {0xB6, 0xB9},     {0xBB, 0xBF},
        {0xD7, 0xD7},       {0xF7, 0xF7},        {0x300, 0x36F},   {0x37E, 0x37E},
        {0x387, 0x387},     {0x1680, 0x1680},    {0x2000, 0x2070}, {0x2072, 0x207E},
        {0x2080, 0x208F},   {0x20A0, 0x2101},    {0x2190, 0x2BFF}, {0x2E00, 0x3004},
        {0x3007, 0x3030},   {0xD800, 0xF8FF},    {0xFE00, 0xFE6F}, {0xFF00, 0xFF20},
        {0xFF3B, 0xFF40},   {0xFF5B, 0xFF65},    {0xFFE0, 0xFFFF}, {0x1D000, 0x1D3FF},
        {0x1F000, 0x1FAFF}, {0xE0000, 0x10FFFF},
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (code >= others[i].from && code <= others[i].to)
            return false;
    }
    return code >= 0x80;
}

static struct bytes rest(const struct lexer *lexer, size_t at)
{
    return bytes_of(lexer->data + at, lexer->size_bytes - at);
}

/* The size of the letter, digit or underscore at `at`, or 0. */
static size_t word_char_size(const struct lexer *lexer, size_t at)
{
    if (at >= lexer->size_bytes)
        return 0;
    if (lexer->data[at] < 0x80)
        return is_word_ascii(lexer->data[at]) ? 1 : 0;
    size_t size;
    uint32_t code = utf8_decode(rest(lexer, at), &size);
    return size > 0 && is_letter_code(code) ? size : 0;
}

static size_t word_end(const struct lexer *lexer, size_t at)
{
    for (size_t size = word_char_size(lexer, at); size > 0; size = word_char_size(lexer, at))
        at += size;
    return at;
}

static size_t digits_end(const struct lexer *lexer, size_t at)
{
    while (is_digit(byte_at(lexer, at)))
        at++;
    return at;
}

enum keyword keyword_find(struct bytes word)
{
    int low = KW_NONE + 1, high = KW_COUNT_ - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        const char *name = keyword_names[middle];
        int order = strncasecmp((const char *)word.data, name, word.size_bytes);
        if (order == 0 && name[word.size_bytes] != '\0')
            order = -1;
        if (order == 0)
            return (enum keyword)middle;
        if (order < 0)
            high = middle - 1;
        else
            low = middle + 1;
    }
    return KW_NONE;
}

/* The end of an exponent (E, sign, digits) at `at`, or `at` if there is none. */
static size_t exponent_end(const struct lexer *lexer, size_t at)
{
    size_t end = at;
    if ((byte_at(lexer, end) | 0x20) != 'e')
        return at;
    end++;
    if (byte_at(lexer, end) == '+' || byte_at(lexer, end) == '-')
        end++;
    return is_digit(byte_at(lexer, end)) ? digits_end(lexer, end) : at;
}

static enum token_kind number_suffix(const struct lexer *lexer, size_t *end, bool integer)
{
    uint8_t first = byte_at(lexer, *end) | 0x20;
    *end += 1;
    switch (first) {
    case 'f':
        return TOKEN_FLOAT;
    case 'd':
        return TOKEN_DOUBLE;
    case 'b':
        if ((byte_at(lexer, *end) | 0x20) == 'd') {
            *end += 1;
            return TOKEN_BIGDECIMAL;
        }
        break;
    case 'l':
        if (integer)
            return TOKEN_BIGINT;
        break;
    case 's':
        if (integer)
            return TOKEN_SMALLINT;
        break;
    case 'y':
        if (integer)
            return TOKEN_TINYINT;
        break;
    default:
        break;
    }
    return TOKEN_END;
}

/*
 * The number at the lexer's place, or END.  A form counts only if no letter, digit or underscore
 * follows it; otherwise a shorter one is tried (1.a is 1 . a), or the text is a word (1a).
 */
static enum token_kind read_number(const struct lexer *lexer, size_t *end)
{
    size_t whole = digits_end(lexer, lexer->at);
    bool has_whole = whole > lexer->at;
    size_t ends[2] = {whole, whole};
    int forms = has_whole ? 1 : 0;
    if (byte_at(lexer, whole) == '.' && (has_whole || is_digit(byte_at(lexer, whole + 1))))
        ends[forms++] = digits_end(lexer, whole + 1);
    while (forms-- > 0) {
        bool integer = ends[forms] == whole && has_whole;
        size_t mantissa = ends[forms];
        size_t exponent = exponent_end(lexer, mantissa);
        size_t suffix = exponent;
        enum token_kind kind = number_suffix(lexer, &suffix, integer && exponent == mantissa);
        if (kind != TOKEN_END && word_char_size(lexer, suffix) == 0) {
            *end = suffix;
            return kind;
        }
        if (exponent > mantissa && word_char_size(lexer, exponent) == 0) {
            *end = exponent;
            return TOKEN_EXPONENT;
        }
        if (word_char_size(lexer, mantissa) == 0) {
            *end = mantissa;
            return integer ? TOKEN_INTEGER : TOKEN_DECIMAL;
        }
    }
    return TOKEN_END;
}

/* The end of a quoted text that starts at `at`, or 0 if it does not end. */
static size_t quoted_end(const struct lexer *lexer, size_t at, bool backslash, bool doubling)
{
    uint8_t quote = byte_at(lexer, at);
    for (size_t i = at + 1; i < lexer->size_bytes; i++) {
        if (backslash && lexer->data[i] == '\\') {
            i++;
        } else if (lexer->data[i] == quote) {
            if (!doubling || byte_at(lexer, i + 1) != quote)
                return i + 1;
            i++;
        }
    }
    return 0;
}

static bool after_select(const struct lexer *lexer)
{
    if (lexer->list.count == 0)
        return false;
    const struct token *last = &lexer->list.items[lexer->list.count - 1];
    return last->keyword == KW_SELECT || last->kind == TOKEN_HINT_END;
}

/* Skips white space and comments; false at a bracketed comment that does not end. */
static bool skip_blanks(struct lexer *lexer)
{
    while (lexer->at < lexer->size_bytes) {
        uint8_t byte = lexer->data[lexer->at];
        uint8_t next = byte_at(lexer, lexer->at + 1);
        if (byte == '-' && next == '-') {
            while (lexer->at < lexer->size_bytes && lexer->data[lexer->at] != '\n' &&
                   lexer->data[lexer->at] != '\r') {
                if (lexer->data[lexer->at] == '\\' && byte_at(lexer, lexer->at + 1) == '\n')
                    lexer->at++;
                lexer->at++;
            }
        } else if (byte == '/' && next == '*' &&
                   !(byte_at(lexer, lexer->at + 2) == '+' && after_select(lexer))) {
            int depth = 0;
            do {
                if (lexer->at + 1 >= lexer->size_bytes)
                    return false;
                uint8_t a = lexer->data[lexer->at], b = lexer->data[lexer->at + 1];
                int step = a == '/' && b == '*' ? 1 : a == '*' && b == '/' ? -1 : 0;
                depth += step;
                lexer->at += step == 0 ? 1 : 2;
            } while (depth > 0);
        } else {
            size_t size;
            uint32_t code = utf8_decode(rest(lexer, lexer->at), &size);
            if (size == 0 || !is_space_code(code))
                return true;
            lexer->at += size;
        }
    }
    return true;
}

static enum token_kind read_symbol(const struct lexer *lexer, size_t *end)
{
    struct bytes text = rest(lexer, lexer->at);
    if (text.size_bytes >= 3 && memcmp(text.data, "/*+", 3) == 0) {
        *end = lexer->at + 3;
        return TOKEN_HINT_START;
    }
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        size_t size = strlen(symbols[i].text);
        if (size <= text.size_bytes && memcmp(text.data, symbols[i].text, size) == 0) {
            *end = lexer->at + size;
            return symbols[i].kind;
        }
    }
    size_t size = utf8_sequence_size(text);
    *end = lexer->at + (size == 0 ? 1 : size);
    return TOKEN_UNRECOGNIZED;
}

static enum token_kind read_token(const struct lexer *lexer, size_t *end)
{
    uint8_t byte = lexer->data[lexer->at];
    if (is_digit(byte) || byte == '.') {
        enum token_kind kind = read_number(lexer, end);
        if (kind != TOKEN_END)
            return kind;
    }
    uint8_t next = byte_at(lexer, lexer->at + 1);
    if (byte == '\'' || byte == '"' || byte == '`') {
        *end = quoted_end(lexer, lexer->at, byte != '`', true);
        if (*end != 0)
            return byte == '`' ? TOKEN_QUOTED : TOKEN_STRING;
    } else if ((byte == 'r' || byte == 'R') && (next == '\'' || next == '"')) {
        *end = quoted_end(lexer, lexer->at + 1, false, false);
        if (*end != 0)
            return TOKEN_STRING;
    }
    *end = word_end(lexer, lexer->at);
    return *end > lexer->at ? TOKEN_WORD : read_symbol(lexer, end);
}

static enum status push(struct lexer *lexer, struct token token, struct error *err)
{
    if (lexer->list.count == lexer->capacity) {
        size_t capacity = lexer->capacity == 0 ? 64 : lexer->capacity * 2;
        void *items;
        TRY(arena_alloc_raw(lexer->arena, capacity, sizeof(struct token), &items, err));
        if (lexer->list.count > 0)
            memcpy(items, lexer->list.items, lexer->list.count * sizeof(struct token));
        lexer->list.items = items;
        lexer->capacity = capacity;
    }
    lexer->list.items[lexer->list.count++] = token;
    return OK;
}

enum status lexer_read(struct arena *arena, struct bytes text, struct token_list *out,
                       struct error *err)
{
    CHECK(arena != NULL && out != NULL);
    if (text.size_bytes >= INT_MAX)
        return error_set(err, STATUS_LIMIT_EXCEEDED, "The SQL text is too long");
    struct lexer lexer = {.data = text.data, .size_bytes = text.size_bytes, .arena = arena};
    for (;;) {
        if (!skip_blanks(&lexer))
            return error_raise_at(err, STATUS_UNCLOSED_BRACKETED_COMMENT, (int)lexer.at,
                                  (int)lexer.size_bytes, NULL);
        struct token token = {.position = (int)lexer.at, .position_end = (int)lexer.at};
        if (lexer.at < lexer.size_bytes) {
            size_t end;
            token.kind = read_token(&lexer, &end);
            CHECK(end > lexer.at && end <= lexer.size_bytes);
            if (token.kind == TOKEN_WORD)
                token.keyword = keyword_find(bytes_of(lexer.data + lexer.at, end - lexer.at));
            token.position_end = (int)end;
            lexer.at = end;
        }
        TRY(push(&lexer, token, err));
        if (token.kind == TOKEN_END)
            break;
    }
    *out = lexer.list;
    return OK;
}
