/*
 * Functions with Java patterns.  A call holds one compiled pattern at a time (struct use) and takes
 * another only where the pattern of the row differs, so a constant pattern costs one look into
 * the cache per batch.
 */
#include "expr/fn_regex.h"
#include "base/check.h"
#include "expr/fn_support.h"
#include "expr/regex.h"

struct use {
    const struct kernel_call *call;
    const char *function; /* as errors name it */
    struct regex *regex;
    struct regex_matcher *matcher;
};

static void use_end(struct use *use)
{
    regex_matcher_free(use->matcher);
    regex_release(use->regex);
    use->matcher = NULL;
    use->regex = NULL;
}

static enum status use_pattern(struct use *use, struct bytes pattern, struct error *err)
{
    if (use->regex != NULL && bytes_equal(regex_pattern(use->regex), pattern))
        return OK;
    use_end(use);
    use->regex = regex_acquire(pattern);
    if (use->regex == NULL)
        return error_raise(err, STATUS_INVALID_PARAMETER_VALUE__PATTERN, "parameter", "`regexp`",
                           "functionName", use->function, "value",
                           kernel_error_quoted(use->call, pattern), NULL);
    use->matcher = regex_matcher_new(use->regex);
    return OK;
}

/* Where the search goes on behind a match: at its end, one character on if it was empty. */
static size_t next_start(struct bytes text, size_t start, size_t end)
{
    if (end > start)
        return end;
    return end < text.size_bytes ? end + text_offset(text_skip(text, end), 1) : end + 1;
}

KERNEL(kernel_rlike)
{
    struct use use = {.call = call, .function = "`rlike`"};
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        TRY_OUT(use_pattern(&use, kernel_text(call, 1, row), err));
        KERNEL_OUT(uint8_t, call)[row] = regex_find(use.matcher, kernel_text(call, 0, row), 0);
    }
out:
    use_end(&use);
    return status;
}

/* ---- extract ---- */

static enum status check_group(const struct use *use, int32_t group, struct error *err)
{
    uint32_t count = regex_group_count(use->regex);
    if (group >= 0 && (uint32_t)group <= count)
        return OK;
    return error_raise(err, STATUS_INVALID_PARAMETER_VALUE__REGEX_GROUP_INDEX, "parameter", "`idx`",
                       "functionName", use->function, "groupCount",
                       kernel_error_number(use->call, count), "groupIndex",
                       kernel_error_number(use->call, group), NULL);
}

static struct bytes group_text(const struct use *use, uint32_t group, struct bytes text)
{
    size_t start;
    size_t end;
    if (!regex_group(use->matcher, group, &start, &end) || end < start)
        return bytes_of(text.data, 0);
    return bytes_of(text.data + start, end - start);
}

KERNEL(kernel_regexp_extract)
{
    struct use use = {.call = call, .function = "`regexp_extract`"};
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes text = kernel_text(call, 0, row);
        int32_t group = kernel_int(call, 2, row);
        TRY_OUT(use_pattern(&use, kernel_text(call, 1, row), err));
        struct bytes result = bytes_of(text.data, 0);
        if (regex_find(use.matcher, text, 0)) {
            TRY_OUT(check_group(&use, group, err));
            result = group_text(&use, (uint32_t)group, text);
        }
        kernel_set_view(call, row, result);
    }
out:
    use_end(&use);
    return status;
}

KERNEL(kernel_regexp_substr)
{
    struct use use = {.call = call, .function = "`regexp_extract`"};
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes text = kernel_text(call, 0, row);
        struct bytes result = bytes_of(text.data, 0);
        TRY_OUT(use_pattern(&use, kernel_text(call, 1, row), err));
        if (regex_find(use.matcher, text, 0))
            result = group_text(&use, 0, text);
        if (result.size_bytes == 0)
            TRY_OUT(kernel_set_null(call, row, err));
        kernel_set_view(call, row, result);
    }
out:
    use_end(&use);
    return status;
}

/* Java counts UTF-16 units. */
static int32_t utf16_length(struct bytes text)
{
    int32_t units = 0;
    for (size_t at = 0; at < text.size_bytes; at += text_step(text.data[at]))
        units += text_step(text.data[at]) == 4 ? 2 : 1;
    return units;
}

KERNEL(kernel_regexp_instr)
{
    struct use use = {.call = call, .function = "`regexp_instr`"};
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes text = kernel_text(call, 0, row);
        int32_t position = 0;
        size_t start;
        size_t end;
        TRY_OUT(use_pattern(&use, kernel_text(call, 1, row), err));
        if (regex_find(use.matcher, text, 0) && regex_group(use.matcher, 0, &start, &end))
            position = utf16_length(text_first(text, start)) + 1;
        KERNEL_OUT(int32_t, call)[row] = position;
    }
out:
    use_end(&use);
    return status;
}

/* ---- lists of strings ---- */

/* The strings of an array result, row by row; `cells` holds struct bytes. */
struct list_builder {
    struct buffer cells;
    uint32_t count;
};

/* One more than a batch may have is kept: list_finish() refuses it. */
static void list_add(struct list_builder *list, struct bytes text)
{
    if (list->count > KERNEL_ELEMENTS_MAX)
        return;
    buffer_add(&list->cells, &text, sizeof(text));
    list->count++;
}

static void list_end_row(const struct kernel_call *call, uint32_t row, uint32_t start,
                         const struct list_builder *list)
{
    KERNEL_OUT(struct list_entry, call)[row] = (struct list_entry){start, list->count - start};
}

/* Makes the strings of all rows the child of the result. */
static enum status list_finish(const struct kernel_call *call, struct list_builder *list,
                               struct error *err)
{
    TRY(kernel_check_elements(call, list->count, err));
    TRY(kernel_check_built(call, err));
    TRY(vector_resize_child(call->ctx->arena, call->out, 0, list->count, err));
    if (list->count > 0)
        memcpy(call->out->children[0]->values, list->cells.data, list->cells.size_bytes);
    return OK;
}

KERNEL(kernel_regexp_extract_all)
{
    struct use use = {.call = call, .function = "`regexp_extract_all`"};
    struct list_builder list = {0};
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes text = kernel_text(call, 0, row);
        int32_t group = kernel_int(call, 2, row);
        uint32_t first = list.count;
        size_t from = 0;
        TRY_OUT(use_pattern(&use, kernel_text(call, 1, row), err));
        while (regex_find(use.matcher, text, from)) {
            size_t start;
            size_t end;
            TRY_OUT(check_group(&use, group, err));
            (void)regex_group(use.matcher, 0, &start, &end);
            list_add(&list, group_text(&use, (uint32_t)group, text));
            from = next_start(text, start, end);
        }
        list_end_row(call, row, first, &list);
    }
    TRY_OUT(list_finish(call, &list, err));
out:
    use_end(&use);
    buffer_fini(&list.cells);
    return status;
}

KERNEL(kernel_regexp_count)
{
    struct use use = {.call = call, .function = "`regexp_extract_all`"};
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes text = kernel_text(call, 0, row);
        int32_t count = 0;
        size_t from = 0;
        TRY_OUT(use_pattern(&use, kernel_text(call, 1, row), err));
        for (; regex_find(use.matcher, text, from); count++) {
            size_t start;
            size_t end;
            (void)regex_group(use.matcher, 0, &start, &end);
            from = next_start(text, start, end);
        }
        KERNEL_OUT(int32_t, call)[row] = count;
    }
out:
    use_end(&use);
    return status;
}

/* ---- replace ---- */

/* $12 takes as many digits as still name a group. */
static bool add_numbered_group(struct buffer *out, const struct use *use, struct bytes text,
                               struct bytes replacement, size_t *at)
{
    uint32_t groups = regex_group_count(use->regex);
    uint32_t number = (uint32_t)(replacement.data[(*at)++] - '0');
    if (number > groups)
        return false;
    while (*at < replacement.size_bytes && replacement.data[*at] >= '0' &&
           replacement.data[*at] <= '9') {
        uint32_t longer = number * 10 + (uint32_t)(replacement.data[*at] - '0');
        if (longer > groups)
            break;
        number = longer;
        ++*at;
    }
    buffer_add_bytes(out, group_text(use, number, text));
    return true;
}

static bool add_named_group(struct buffer *out, const struct use *use, struct bytes text,
                            struct bytes replacement, size_t *at)
{
    size_t close = text_find(replacement, bytes_of_text("}"), *at);
    if (close == SIZE_MAX)
        return false;
    int number =
        regex_group_number(use->regex, bytes_of(replacement.data + *at + 1, close - *at - 1));
    if (number < 0)
        return false;
    buffer_add_bytes(out, group_text(use, (uint32_t)number, text));
    *at = close + 1;
    return true;
}

static bool add_replacement(struct buffer *out, const struct use *use, struct bytes text,
                            struct bytes replacement)
{
    for (size_t at = 0; at < replacement.size_bytes;) {
        uint8_t c = replacement.data[at++];
        if (c == '\\') {
            if (at == replacement.size_bytes)
                return false;
            buffer_add_byte(out, replacement.data[at++]);
        } else if (c != '$') {
            buffer_add_byte(out, c);
        } else if (at == replacement.size_bytes) {
            return false;
        } else if (replacement.data[at] == '{') {
            if (!add_named_group(out, use, text, replacement, &at))
                return false;
        } else if (replacement.data[at] >= '0' && replacement.data[at] <= '9') {
            if (!add_numbered_group(out, use, text, replacement, &at))
                return false;
        } else {
            return false;
        }
    }
    return true;
}

/* Bytes before UTF-16 unit `units`, or SIZE_MAX if the text is not longer. */
static size_t utf16_offset(struct bytes text, int32_t units)
{
    size_t at = 0;
    while (units > 0 && at < text.size_bytes) {
        size_t step = text_step(text.data[at]);
        units -= step == 4 ? 2 : 1;
        at += step;
    }
    return units > 0 || at >= text.size_bytes ? SIZE_MAX : at;
}

static enum status replace_row(struct use *use, uint32_t row, struct buffer *out, struct error *err)
{
    const struct kernel_call *call = use->call;
    struct bytes source = kernel_text(call, 0, row);
    struct bytes replacement = kernel_text(call, 2, row);
    int32_t position = kernel_int(call, 3, row);
    size_t skip = position <= 1 ? 0 : utf16_offset(source, position - 1);
    if (skip == SIZE_MAX) {
        kernel_set_view(call, row, source);
        return OK;
    }
    struct bytes text = text_skip(source, skip); /* ^ matches where the search begins */
    size_t copied = 0;
    size_t from = 0;
    buffer_add(out, source.data, skip);
    while (regex_find(use->matcher, text, from)) {
        size_t start;
        size_t end;
        (void)regex_group(use->matcher, 0, &start, &end);
        buffer_add(out, text.data + copied, start - copied);
        if (!add_replacement(out, use, text, replacement))
            return error_raise(err, STATUS_INVALID_REGEXP_REPLACE, "source",
                               kernel_error_text(call, source), "pattern",
                               kernel_error_text(call, regex_pattern(use->regex)), "replacement",
                               kernel_error_text(call, replacement), "position",
                               kernel_error_number(call, position), NULL);
        TRY(kernel_check_text(call, out->size_bytes, err));
        copied = end;
        from = next_start(text, start, end);
    }
    buffer_add(out, text.data + copied, text.size_bytes - copied);
    return kernel_set_buffer(call, row, out, err);
}

KERNEL(kernel_regexp_replace)
{
    struct use use = {.call = call, .function = "`regexp_replace`"};
    struct buffer text = {0};
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        TRY_OUT(use_pattern(&use, kernel_text(call, 1, row), err));
        buffer_clear(&text);
        TRY_OUT(replace_row(&use, row, &text, err));
    }
out:
    use_end(&use);
    buffer_fini(&text);
    return status;
}

RESOLVER(resolve_regexp_replace)
{
    *out = call;
    TRY(function_apply_signature(ctx, call, err));
    struct vector *value;
    TRY(function_constant(ctx, call, 3, "position", &value, err));
    if (vector_is_null(value, 0) || VECTOR_VALUES(int32_t, value)[0] > 0)
        return OK;
    struct arena *arena = arena_new("message", 0);
    enum status status =
        error_raise_at(err, STATUS_DATATYPE_MISMATCH__VALUE_OUT_OF_RANGE, call->position,
                       call->position_end, "sqlExpr", function_sql(arena, call), "exprName",
                       "position", "valueRange", "(0, 2147483647]", "currentValue",
                       arena_sprintf(arena, "%d", VECTOR_VALUES(int32_t, value)[0]), NULL);
    arena_free(arena);
    return status;
}

/* ---- split ---- */

/* Without a pattern every character is an element. */
static void split_characters(struct list_builder *list, struct bytes text, int32_t limit)
{
    int32_t parts = 1;
    while (text.size_bytes > 0) {
        size_t size = parts == limit ? text.size_bytes : text_offset(text, 1);
        list_add(list, text_first(text, size));
        text = text_skip(text, size);
        parts++;
    }
}

static bool is_plain(struct bytes pattern)
{
    for (size_t i = 0; i < pattern.size_bytes; i++)
        if (pattern.data[i] == 0 || strchr("\\^$.|?*+()[]{}", pattern.data[i]) != NULL)
            return false;
    return true;
}

static void split_plain(struct list_builder *list, struct bytes text, struct bytes separator,
                        int32_t limit)
{
    size_t from = 0;
    for (int32_t parts = 1; parts != limit; parts++) {
        size_t found = text_find(text, separator, from);
        if (found == SIZE_MAX)
            break;
        list_add(list, bytes_of(text.data + from, found - from));
        from = found + separator.size_bytes;
    }
    list_add(list, text_skip(text, from));
}

/* As Java's String.split: an empty match at the start makes no empty element. */
static void split_regex(struct list_builder *list, const struct use *use, struct bytes text,
                        int32_t limit)
{
    size_t copied = 0;
    size_t from = 0;
    int32_t parts = 1;
    while (parts != limit && regex_find(use->matcher, text, from)) {
        size_t start;
        size_t end;
        (void)regex_group(use->matcher, 0, &start, &end);
        from = next_start(text, start, end);
        if (end == 0)
            continue;
        if (start == end && start == text.size_bytes) {
            list_add(list, bytes_of(text.data + copied, start - copied));
            copied = end;
            break;
        }
        list_add(list, bytes_of(text.data + copied, start - copied));
        copied = end;
        parts++;
    }
    list_add(list, text_skip(text, copied));
}

KERNEL(kernel_split)
{
    struct use use = {.call = call, .function = "`split`"};
    struct list_builder list = {0};
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes text = kernel_text(call, 0, row);
        struct bytes pattern = kernel_text(call, 1, row);
        int32_t limit = call->arg_count > 2 ? kernel_int(call, 2, row) : -1;
        uint32_t first = list.count;
        limit = limit == 0 ? -1 : limit;
        if (text.size_bytes > 0 && pattern.size_bytes == 0) {
            split_characters(&list, text, limit);
        } else if (text.size_bytes == 0) {
            list_add(&list, text);
        } else if (is_plain(pattern)) {
            split_plain(&list, text, pattern, limit);
        } else {
            TRY_OUT(use_pattern(&use, pattern, err));
            split_regex(&list, &use, text, limit);
        }
        list_end_row(call, row, first, &list);
    }
    TRY_OUT(list_finish(call, &list, err));
out:
    use_end(&use);
    buffer_fini(&list.cells);
    return status;
}
