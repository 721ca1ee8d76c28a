/* Functions of text: replacing, single characters, distances, masks; and the resolvers. */
#include "base/check.h"
#include "base/utf8.h"
#include "columnar/decimal.h"
#include "expr/fn_array.h"
#include "expr/fn_string.h"
#include "expr/fn_support.h"
#include "expr/unicode_case.h"

#include <stdlib.h>

/* ---- replace, translate, overlay ---- */

static enum status cell_kernel_replace(const struct kernel_call *call, uint32_t row,
                                       struct error *err)
{
    struct bytes text = kernel_text(call, 0, row);
    struct bytes search = kernel_text(call, 1, row);
    struct bytes with = kernel_text(call, 2, row);
    size_t at = search.size_bytes == 0 ? SIZE_MAX : text_find(text, search, 0);
    if (at == SIZE_MAX) {
        kernel_set_view(call, row, text);
        return OK;
    }
    struct buffer out = {0};
    size_t from = 0;
    enum status status = OK;
    for (; at != SIZE_MAX; at = text_find(text, search, from)) {
        buffer_add(&out, text.data + from, at - from);
        buffer_add_bytes(&out, with);
        from = at + search.size_bytes;
        TRY_OUT(kernel_check_text(call, out.size_bytes, err));
    }
    buffer_add_bytes(&out, text_skip(text, from));
    status = kernel_set_buffer(call, row, &out, err);
out:
    buffer_fini(&out);
    return status;
}

KERNEL_EACH(kernel_replace)

/* The character of `with` at the place where `from` has it; whether it has it at all. */
static bool translation(struct bytes from, struct bytes with, struct bytes character,
                        struct bytes *out)
{
    size_t at = 0;
    int64_t index = 0;
    for (; at < from.size_bytes; at += text_step(from.data[at]), index++) {
        size_t size = text_offset(text_skip(from, at), 1);
        if (bytes_equal(bytes_of(from.data + at, size), character)) {
            struct bytes rest = text_skip(with, text_offset(with, index));
            *out = text_first(rest, text_offset(rest, 1));
            return true;
        }
    }
    return false;
}

static enum status cell_kernel_translate(const struct kernel_call *call, uint32_t row,
                                         struct error *err)
{
    struct bytes text = kernel_text(call, 0, row);
    struct bytes from = kernel_text(call, 1, row);
    struct bytes with = kernel_text(call, 2, row);
    TRY(kernel_check_work(call, text.size_bytes * from.size_bytes, err));
    struct buffer out = {0};
    while (text.size_bytes > 0) {
        struct bytes character = text_first(text, text_offset(text, 1));
        text = text_skip(text, character.size_bytes);
        (void)translation(from, with, character, &character);
        buffer_add_bytes(&out, character);
    }
    enum status status = kernel_set_buffer(call, row, &out, err);
    buffer_fini(&out);
    return status;
}

KERNEL_EACH(kernel_translate)

/* [1, count) and [position, end) as substring() counts them, in characters or bytes. */
static struct bytes head_part(struct bytes text, int64_t count, bool binary)
{
    if (count <= 0)
        return text_first(text, 0);
    size_t size = binary ? (size_t)count : text_offset(text, count);
    return text_first(text, size < text.size_bytes ? size : text.size_bytes);
}

static struct bytes tail_part(struct bytes text, int64_t position, bool binary)
{
    int64_t length = binary ? (int64_t)text.size_bytes : text_length(text);
    int64_t start = position > 0 ? position - 1 : position < 0 ? length + position : 0;
    start = start < 0 ? 0 : start > length ? length : start;
    return text_skip(text, binary ? (size_t)start : text_offset(text, start));
}

static enum status overlay(const struct kernel_call *call, uint32_t row, bool binary,
                           struct error *err)
{
    struct bytes text = kernel_text(call, 0, row);
    struct bytes with = kernel_text(call, 1, row);
    int64_t position = kernel_int(call, 2, row);
    int64_t length = kernel_int(call, 3, row);
    if (length < 0)
        length = binary ? (int64_t)with.size_bytes : text_length(with);
    struct buffer out = {0};
    buffer_add_bytes(&out, head_part(text, position - 1, binary));
    buffer_add_bytes(&out, with);
    buffer_add_bytes(&out, tail_part(text, position + length, binary));
    enum status status = kernel_set_buffer(call, row, &out, err);
    buffer_fini(&out);
    return status;
}

static enum status cell_kernel_overlay(const struct kernel_call *call, uint32_t row,
                                       struct error *err)
{
    return overlay(call, row, false, err);
}

static enum status cell_kernel_overlay_binary(const struct kernel_call *call, uint32_t row,
                                              struct error *err)
{
    return overlay(call, row, true, err);
}

KERNEL_EACH(kernel_overlay)
KERNEL_EACH(kernel_overlay_binary)

/* ---- characters ---- */

KERNEL(kernel_ascii)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes text = kernel_text(call, 0, row);
        size_t size;
        KERNEL_OUT(int32_t, call)
        [row] = text.size_bytes == 0 ? 0 : (int32_t)utf8_decode(text, &size);
    }
    return OK;
}

static enum status cell_kernel_chr(const struct kernel_call *call, uint32_t row, struct error *err)
{
    int64_t code = kernel_long(call, 0, row);
    uint8_t text[4];
    size_t size = code < 0 ? 0 : utf8_encode((uint32_t)(code & 0xFF), text);
    return kernel_set_bytes(call, row, bytes_of(text, size), err);
}

KERNEL_EACH(kernel_chr)

static enum status cell_kernel_elt(const struct kernel_call *call, uint32_t row, struct error *err)
{
    if (kernel_arg_is_null(call, 0, row))
        return kernel_set_null(call, row, err);
    int32_t index = kernel_int(call, 0, row);
    if (index < 1 || (uint32_t)index >= call->arg_count) {
        if (!kernel_is_ansi(call))
            return kernel_set_null(call, row, err);
        return error_raise(err, STATUS_INVALID_ARRAY_INDEX, "indexValue",
                           kernel_error_number(call, index), "arraySize",
                           kernel_error_number(call, call->arg_count - 1), "ansiConfig",
                           "\"spark.sql.ansi.enabled\"", NULL);
    }
    if (kernel_arg_is_null(call, (uint32_t)index, row))
        return kernel_set_null(call, row, err);
    kernel_set_view(call, row, kernel_text(call, (uint32_t)index, row));
    return OK;
}

KERNEL_EACH(kernel_elt)

/* ---- distances and checks ---- */

/* The code points of a text; the caller frees.  NULL: there is no memory for them. */
static int32_t *decode_all(struct bytes text, int32_t *count)
{
    int32_t *codes = malloc((text.size_bytes + 1) * sizeof(*codes));
    *count = 0;
    while (codes != NULL && text.size_bytes > 0) {
        size_t size;
        uint32_t code = utf8_decode(text, &size);
        if (size == 0) {
            code = 0x110000U + *text.data;
            size = 1;
        }
        codes[(*count)++] = (int32_t)code;
        text = text_skip(text, size);
    }
    return codes;
}

/* `row` has room for size_b + 1 numbers. */
static int32_t edit_distance(const int32_t *a, int32_t size_a, const int32_t *b, int32_t size_b,
                             int32_t *row)
{
    CHECK(size_a >= 0 && size_b >= 0);
    for (int32_t j = 0; j <= size_b; j++)
        row[j] = j;
    for (int32_t i = 1; i <= size_a; i++) {
        int32_t diagonal = row[0];
        row[0] = i;
        for (int32_t j = 1; j <= size_b; j++) {
            int32_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[size_b];
}

/* They compare each character with each. */
static enum status check_pairs(const struct kernel_call *call, uint32_t row, struct error *err)
{
    size_t one = kernel_text(call, 0, row).size_bytes;
    return kernel_check_work(call, one * kernel_text(call, 1, row).size_bytes, err);
}

KERNEL(kernel_levenshtein)
{
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        int32_t size_a;
        int32_t size_b;
        TRY(check_pairs(call, row, err));
        int32_t *a = decode_all(kernel_text(call, 0, row), &size_a);
        int32_t *b = decode_all(kernel_text(call, 1, row), &size_b);
        int32_t *memory = malloc(((size_t)size_b + 1) * sizeof(*memory));
        bool enough = a != NULL && b != NULL && memory != NULL;
        int32_t distance = enough ? edit_distance(a, size_a, b, size_b, memory) : 0;
        if (call->arg_count > 2 && distance > kernel_int(call, 2, row))
            distance = -1;
        KERNEL_OUT(int32_t, call)[row] = distance;
        free(a);
        free(b);
        free(memory);
        if (!enough)
            return kernel_no_memory(call, err);
    }
    return OK;
}

struct similarity {
    int32_t matches;
    int32_t moved;  /* matches that are not in the same order */
    int32_t prefix; /* equal characters at the start, 4 at most */
};

/* `taken` and `order` have room for size_long and size_short numbers. */
static struct similarity match_characters(const int32_t *shorter, int32_t size_short,
                                          const int32_t *longer, int32_t size_long, int32_t *taken,
                                          int32_t *order)
{
    struct similarity found = {0};
    int32_t range = size_long / 2 - 1 > 0 ? size_long / 2 - 1 : 0;
    memset(taken, 0, (size_t)size_long * sizeof(*taken));
    for (int32_t i = 0; i < size_short; i++) {
        int32_t at = i - range > 0 ? i - range : 0;
        int32_t end = i + range + 1 < size_long ? i + range + 1 : size_long;
        while (at < end && (taken[at] != 0 || longer[at] != shorter[i]))
            at++;
        if (at >= end)
            continue;
        taken[at] = 1;
        order[found.matches++] = shorter[i];
    }
    int32_t next = 0;
    for (int32_t i = 0; i < size_long; i++)
        found.moved += taken[i] != 0 && order[next++] != longer[i];
    while (found.prefix < 4 && found.prefix < size_short &&
           shorter[found.prefix] == longer[found.prefix])
        found.prefix++;
    return found;
}

static double jaro_winkler(struct similarity found, int32_t size_a, int32_t size_b)
{
    if (found.matches == 0)
        return 0;
    double m = found.matches;
    int32_t swapped = found.moved / 2;
    double jaro = (m / size_a + m / size_b + (m - swapped) / m) / 3;
    return jaro < 0.7 ? jaro : jaro + 0.1 * found.prefix * (1 - jaro);
}

KERNEL(kernel_jaro_winkler)
{
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        int32_t size_a;
        int32_t size_b;
        TRY(check_pairs(call, row, err));
        int32_t *a = decode_all(kernel_text(call, 0, row), &size_a);
        int32_t *b = decode_all(kernel_text(call, 1, row), &size_b);
        int32_t *memory = malloc(((size_t)size_a + (size_t)size_b + 2) * sizeof(*memory));
        bool enough = a != NULL && b != NULL && memory != NULL;
        bool swap = size_a > size_b;
        if (enough)
            KERNEL_OUT(double, call)
        [row] = jaro_winkler(match_characters(swap ? b : a, swap ? size_b : size_a, swap ? a : b,
                                              swap ? size_a : size_b, memory,
                                              memory + (swap ? size_a : size_b)),
                             size_a, size_b);
        free(a);
        free(b);
        free(memory);
        if (!enough)
            return kernel_no_memory(call, err);
    }
    return OK;
}

/* The digit of a letter; '7' for H and W, which do not separate, '0' for vowels. */
static char soundex_digit(uint8_t letter)
{
    static const char digits[] = "01230127022455012623017202";
    return digits[letter - 'A'];
}

static enum status cell_kernel_soundex(const struct kernel_call *call, uint32_t row,
                                       struct error *err)
{
    struct bytes text = kernel_text(call, 0, row);
    uint8_t code[4] = "0000";
    if (text.size_bytes == 0 || ((*text.data | 0x20) < 'a' || (*text.data | 0x20) > 'z')) {
        kernel_set_view(call, row, text);
        return OK;
    }
    code[0] = *text.data & 0xDF;
    char last = soundex_digit(code[0]);
    size_t size = 1;
    for (size_t i = 1; i < text.size_bytes && size < 4; i++) {
        uint8_t c = text.data[i];
        if ((c | 0x20) < 'a' || (c | 0x20) > 'z') {
            last = '0';
            continue;
        }
        char digit = soundex_digit(c & 0xDF);
        if (digit == '7')
            continue;
        if (digit != '0' && digit != last)
            code[size++] = (uint8_t)digit;
        last = digit;
    }
    return kernel_set_bytes(call, row, bytes_of(code, 4), err);
}

KERNEL_EACH(kernel_soundex)

static bool luhn_holds(struct bytes text)
{
    int32_t sum = 0;
    bool twice = false;
    if (text.size_bytes == 0)
        return false;
    for (size_t i = text.size_bytes; i > 0; i--, twice = !twice) {
        uint8_t digit = (uint8_t)(text.data[i - 1] - '0');
        if (digit > 9)
            return false;
        int32_t value = twice ? digit * 2 : digit;
        sum += value > 9 ? value - 9 : value;
    }
    return sum % 10 == 0;
}

KERNEL(kernel_luhn_check)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(uint8_t, call)[row] = luhn_holds(kernel_text(call, 0, row));
    }
    return OK;
}

/* ---- mask, quote ---- */

/* Which of the four replacements a character gets: 1 upper, 2 lower, 3 digit, 4 other. */
static uint32_t mask_class(uint32_t code)
{
    if (code < 0x80) {
        if (code >= 'A' && code <= 'Z')
            return 1;
        if (code >= 'a' && code <= 'z')
            return 2;
        return code >= '0' && code <= '9' ? 3 : 4;
    }
    if ((code >= 0x2160 && code <= 0x217F) || (code >= 0x24B6 && code <= 0x24E9))
        return 4; /* Roman numbers and circled letters are no letters */
    return unicode_is_upper(code)             ? 1
           : unicode_is_lower(code)           ? 2
           : decimal_foreign_digit(code) >= 0 ? 3
                                              : 4;
}

static enum status cell_kernel_mask(const struct kernel_call *call, uint32_t row, struct error *err)
{
    if (kernel_arg_is_null(call, 0, row))
        return kernel_set_null(call, row, err);
    struct bytes text = kernel_text(call, 0, row);
    struct buffer out = {0};
    while (text.size_bytes > 0) {
        size_t size;
        uint32_t code = utf8_decode(text, &size);
        size = size == 0 ? 1 : size;
        uint32_t index = mask_class(code);
        if (kernel_arg_is_null(call, index, row))
            buffer_add(&out, text.data, size);
        else
            buffer_add_bytes(&out, kernel_text(call, index, row));
        text = text_skip(text, size);
    }
    enum status status = kernel_set_buffer(call, row, &out, err);
    buffer_fini(&out);
    return status;
}

KERNEL_EACH(kernel_mask)

static enum status cell_kernel_quote(const struct kernel_call *call, uint32_t row,
                                     struct error *err)
{
    struct bytes text = kernel_text(call, 0, row);
    struct buffer out = {0};
    buffer_add_byte(&out, '\'');
    for (size_t i = 0; i < text.size_bytes; i++) {
        if (text.data[i] == '\'')
            buffer_add_byte(&out, '\\');
        buffer_add_byte(&out, text.data[i]);
    }
    buffer_add_byte(&out, '\'');
    enum status status = kernel_set_buffer(call, row, &out, err);
    buffer_fini(&out);
    return status;
}

KERNEL_EACH(kernel_quote)

/* ---- resolvers ---- */

static bool all_are(const struct expr *call, uint32_t first, enum type_id id)
{
    for (uint32_t i = first; i < call->arg_count; i++)
        if (call->args[i]->type->id != id)
            return false;
    return call->arg_count > first;
}

RESOLVER(resolve_concat)
{
    *out = call;
    uint32_t arrays = 0;
    for (uint32_t i = 0; i < call->arg_count; i++)
        arrays += call->args[i]->type->id == TYPE_ARRAY;
    if (arrays > 0 && arrays < call->arg_count) {
        for (uint32_t i = 0; i < call->arg_count; i++)
            if (!type_is_nested(call->args[i]->type))
                call->args[i] = coercion_cast(ctx, call->args[i], type_simple(TYPE_STRING));
        return function_diff_types(call, err);
    }
    if (arrays > 0) {
        for (uint32_t i = 0; i < call->arg_count; i++) { /* what is no array would be text */
            if (call->args[i]->type->id != TYPE_ARRAY && !type_is_nested(call->args[i]->type))
                call->args[i] = coercion_cast(ctx, call->args[i], type_simple(TYPE_STRING));
        }
        if (!coercion_unify(ctx, call->args, call->arg_count, true))
            return function_diff_types(call, err);
        call->call.kernel = kernel_array_concat;
        function_finish(call, call->args[0]->type);
        return OK;
    }
    if (all_are(call, 0, TYPE_BINARY))
        return function_apply(ctx, call, "binary*->binary", err);
    return function_apply(ctx, call, "string*->string", err);
}

RESOLVER(resolve_concat_ws)
{
    *out = call;
    for (uint32_t i = 0; i < call->arg_count; i++) {
        const struct type *type = call->args[i]->type;
        if (i > 0 && type->id == TYPE_ARRAY) {
            const struct type *strings = type_array(ctx->arena, type_simple(TYPE_STRING), true);
            if (type->element->id != TYPE_STRING)
                call->args[i] = coercion_cast(ctx, call->args[i], strings);
            continue;
        }
        if (type->id == TYPE_STRING)
            continue;
        if (!coercion_can_cast_implicitly(ctx, type, type_simple(TYPE_STRING)))
            return function_wrong_type(
                call, i, i == 0 ? "\"STRING\"" : "(\"STRING\" or \"ARRAY<STRING>\")", err);
        call->args[i] = coercion_cast(ctx, call->args[i], type_simple(TYPE_STRING));
    }
    function_finish(call, type_simple(TYPE_STRING));
    call->nullable = call->args[0]->nullable;
    return OK;
}

RESOLVER(resolve_elt)
{
    *out = call;
    if (call->arg_count < 2)
        return function_wrong_count(call, "> 1", err);
    static const bool yes = true;
    call->call.bound = ctx->ansi ? &yes : NULL;
    return function_apply(
        ctx, call, all_are(call, 1, TYPE_BINARY) ? "int,binary+->binary" : "int,string+->string",
        err);
}

RESOLVER(resolve_overlay)
{
    *out = call;
    bool binary = call->args[0]->type->id == TYPE_BINARY;
    if (call->arg_count < 4)
        function_add_arg(ctx, call, expr_literal_int(ctx->arena, -1));
    if (binary != (call->args[1]->type->id == TYPE_BINARY) &&
        call->args[0]->type->id != TYPE_VOID && call->args[1]->type->id != TYPE_VOID) {
        struct expr shown = *call;
        shown.arg_count = 2;
        struct error mismatch = ERROR_INIT;
        (void)function_diff_types(&shown, &mismatch);
        struct arena *arena = arena_new("message", 0);
        enum status status =
            error_raise_at(err, STATUS_DATATYPE_MISMATCH__DATA_DIFF_TYPES, call->position,
                           call->position_end, "sqlExpr", function_sql(arena, call), "functionName",
                           "`overlay`", "dataType", error_param(&mismatch, "dataType"), NULL);
        arena_free(arena);
        return status;
    }
    call->call.kernel = binary ? kernel_overlay_binary : kernel_overlay;
    return function_apply(
        ctx, call, binary ? "binary,binary,int,int->binary" : "string,string,int,int->string", err);
}

/* trim(text), or trim(characters, text), which prints as TRIM(BOTH characters FROM text). */
RESOLVER(resolve_trim)
{
    *out = call;
    if (call->arg_count == 1)
        return function_apply(ctx, call, "string->string", err);
    const char *name = call->call.function->name;
    function_become(call, *name == 'l'   ? "trim leading"
                          : *name == 'r' ? "trim trailing"
                                         : "trim both");
    return function_apply(ctx, call, "string,string->string", err);
}

RESOLVER(resolve_pad)
{
    *out = call;
    bool left = strcmp(call->call.function->name, "lpad") == 0;
    bool binary = call->args[0]->type->id == TYPE_BINARY &&
                  (call->arg_count < 3 || call->args[2]->type->id == TYPE_BINARY);
    if (call->arg_count < 3 && !binary)
        function_add_arg(ctx, call, expr_literal_string(ctx->arena, bytes_of_text(" ")));
    if (call->arg_count < 3) {
        struct expr *zero = expr_literal_string(ctx->arena, bytes_of("", 1));
        struct vector *value = arena_new_object(ctx->arena, sizeof(*value));
        *value = *zero->literal.value;
        value->type = type_simple(TYPE_BINARY);
        function_add_arg(ctx, call, expr_literal(ctx->arena, value));
    }
    if (binary)
        call->call.kernel = left ? kernel_lpad_binary : kernel_rpad_binary;
    return function_apply(ctx, call,
                          binary ? "binary,int,binary->binary" : "string,int,string->string", err);
}

RESOLVER(resolve_substring)
{
    *out = call;
    bool binary = call->args[0]->type->id == TYPE_BINARY;
    bool left = strcmp(call->call.function->name, "left") == 0;
    TRY(function_apply_signature(ctx, call, err));
    if (binary)
        call->call.kernel = left ? kernel_left_binary : kernel_substring_binary;
    return OK;
}

RESOLVER(resolve_length)
{
    *out = call;
    if (call->args[0]->type->id == TYPE_BINARY)
        call->call.kernel = kernel_octet_length;
    return function_apply_signature(ctx, call, err);
}

RESOLVER(resolve_reverse)
{
    *out = call;
    const struct type *type = call->args[0]->type;
    if (type->id == TYPE_ARRAY) {
        call->call.kernel = kernel_array_reverse;
        function_finish(call, type);
        return OK;
    }
    if (type->id == TYPE_BINARY)
        call->call.kernel = kernel_reverse_binary;
    return function_apply(ctx, call, "string|binary->1", err);
}

RESOLVER(resolve_mask)
{
    static const char *const names[] = {"upperChar", "lowerChar", "digitChar", "otherChar"};
    static const char *const defaults[] = {"X", "x", "n"};
    *out = call;
    while (call->arg_count < 4)
        function_add_arg(
            ctx, call,
            expr_literal_string(ctx->arena, bytes_of_text(defaults[call->arg_count - 1])));
    if (call->arg_count < 5)
        function_add_arg(ctx, call, expr_null(ctx->arena, type_simple(TYPE_STRING)));
    TRY(function_apply(ctx, call, "string,string,string,string,string->string", err));
    for (uint32_t i = 1; i < 5; i++) {
        struct vector *value;
        TRY(function_constant(ctx, call, i, names[i - 1], &value, err));
        if (vector_is_null(value, 0) || text_length(VECTOR_VALUES(struct bytes, value)[0]) == 1)
            continue;
        struct arena *arena = arena_new("message", 0);
        enum status status = error_raise_at(
            err, STATUS_DATATYPE_MISMATCH__INPUT_SIZE_NOT_ONE, call->position, call->position_end,
            "sqlExpr", function_sql(arena, call), "exprName", names[i - 1], NULL);
        arena_free(arena);
        return status;
    }
    call->nullable = call->args[0]->nullable;
    return OK;
}
