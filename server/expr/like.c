#include "expr/like.h"

#include "base/check.h"
#include "base/utf8.h"
#include "expr/program.h"

enum like_op {
    LIKE_BYTE,
    LIKE_ONE,  /* _ */
    LIKE_MANY, /* % */
};

enum like_shape {
    SHAPE_ANY,
    SHAPE_EXACT,
    SHAPE_PREFIX,   /* abc% */
    SHAPE_SUFFIX,   /* %abc */
    SHAPE_CONTAINS, /* %abc% */
};

struct like_pattern {
    enum like_shape shape;
    uint8_t *ops;
    uint8_t *bytes;
    uint32_t count;
    struct bytes literal; /* of the simple shapes */
};

/* ---- patterns ---- */

static void print_quoted(struct buffer *out, struct bytes text)
{
    buffer_add_byte(out, '\'');
    for (size_t i = 0; i < text.size_bytes; i++) {
        if (text.data[i] == '\\' || text.data[i] == '\'')
            buffer_add_byte(out, '\\');
        buffer_add_byte(out, text.data[i]);
    }
    buffer_add_byte(out, '\'');
}

static enum status bad_escape(struct bytes pattern, struct bytes at, struct error *err)
{
    struct buffer format = {0};
    struct buffer character = {0};
    print_quoted(&format, pattern);
    enum status status;
    if (at.size_bytes == 0) {
        status = error_raise(err, STATUS_INVALID_FORMAT__ESC_AT_THE_END, "format",
                             buffer_text(&format), NULL);
    } else {
        print_quoted(&character, bytes_of(at.data, utf8_sequence_size(at)));
        status = error_raise(err, STATUS_INVALID_FORMAT__ESC_IN_THE_MIDDLE, "format",
                             buffer_text(&format), "char", buffer_text(&character), NULL);
    }
    buffer_fini(&format);
    buffer_fini(&character);
    return status;
}

static bool starts_with(struct bytes text, struct bytes prefix)
{
    return prefix.size_bytes > 0 && text.size_bytes >= prefix.size_bytes &&
           memcmp(text.data, prefix.data, prefix.size_bytes) == 0;
}

static struct bytes rest_of(struct bytes text, size_t skip)
{
    return bytes_of(text.data + skip, text.size_bytes - skip);
}

static void find_shape(struct like_pattern *pattern)
{
    uint32_t many = 0;
    pattern->shape = SHAPE_ANY;
    for (uint32_t i = 0; i < pattern->count; i++) {
        if (pattern->ops[i] == LIKE_ONE)
            return;
        bool end = i == 0 || i == pattern->count - 1;
        if (pattern->ops[i] == LIKE_MANY && !end)
            return;
        many += pattern->ops[i] == LIKE_MANY;
    }
    bool first = pattern->count > 0 && pattern->ops[0] == LIKE_MANY;
    bool last = pattern->count > 1 && pattern->ops[pattern->count - 1] == LIKE_MANY;
    pattern->literal = bytes_of(pattern->bytes + first, pattern->count - many);
    pattern->shape = first && last ? SHAPE_CONTAINS
                     : first       ? SHAPE_SUFFIX
                     : last        ? SHAPE_PREFIX
                                   : SHAPE_EXACT;
}

static enum status compile(struct arena *arena, struct bytes text, struct bytes escape,
                           struct like_pattern *out, struct error *err)
{
    void *memory;
    TRY(arena_alloc_raw(arena, 2 * text.size_bytes + 1, 1, &memory, err));
    out->ops = memory;
    out->bytes = out->ops + text.size_bytes;
    out->count = 0;
    struct bytes rest = text;
    while (rest.size_bytes > 0) {
        enum like_op op = *rest.data == '_' ? LIKE_ONE : *rest.data == '%' ? LIKE_MANY : LIKE_BYTE;
        if (starts_with(rest, escape)) {
            rest = rest_of(rest, escape.size_bytes);
            bool special = rest.size_bytes > 0 &&
                           (*rest.data == '_' || *rest.data == '%' || starts_with(rest, escape));
            if (!special)
                return bad_escape(text, rest, err);
            op = LIKE_BYTE;
        }
        out->ops[out->count] = (uint8_t)op;
        out->bytes[out->count++] = *rest.data;
        rest = rest_of(rest, 1);
    }
    find_shape(out);
    return OK;
}

/* ---- matching ---- */

static bool match_any(const struct like_pattern *pattern, struct bytes text)
{
    uint32_t op = 0;
    size_t at = 0;
    uint32_t star = UINT32_MAX;
    size_t star_at = 0;
    for (;;) {
        if (op < pattern->count && pattern->ops[op] == LIKE_MANY) {
            star = ++op;
            star_at = at;
            continue;
        }
        if (at == text.size_bytes && op == pattern->count)
            return true;
        if (at < text.size_bytes && op < pattern->count) {
            if (pattern->ops[op] == LIKE_ONE) {
                at += utf8_sequence_size(rest_of(text, at));
                op++;
                continue;
            }
            if (pattern->bytes[op] == text.data[at]) {
                at++;
                op++;
                continue;
            }
        }
        if (star == UINT32_MAX || star_at >= text.size_bytes)
            return false;
        star_at += utf8_sequence_size(rest_of(text, star_at));
        at = star_at;
        op = star;
    }
}

static bool matches(const struct like_pattern *pattern, struct bytes text)
{
    struct bytes literal = pattern->literal;
    switch (pattern->shape) {
    case SHAPE_EXACT:
        return bytes_equal(text, literal);
    case SHAPE_PREFIX:
        return text.size_bytes >= literal.size_bytes &&
               memcmp(text.data, literal.data, literal.size_bytes) == 0;
    case SHAPE_SUFFIX:
        return text.size_bytes >= literal.size_bytes &&
               (literal.size_bytes == 0 ||
                memcmp(text.data + (text.size_bytes - literal.size_bytes), literal.data,
                       literal.size_bytes) == 0);
    case SHAPE_CONTAINS:
        return literal.size_bytes == 0 ||
               (text.size_bytes >= literal.size_bytes &&
                memmem(text.data, text.size_bytes, literal.data, literal.size_bytes) != NULL);
    case SHAPE_ANY:
        return match_any(pattern, text);
    }
    return false;
}

static struct bytes escape_of(const struct kernel_call *call)
{
    const struct bytes *escape = call->arg_count > 2 ? kernel_constant_bytes(call, 2) : NULL;
    return escape == NULL ? bytes_of_text("\\") : *escape;
}

KERNEL(kernel_like)
{
    uint8_t *out = call->out->values;
    struct bytes escape = escape_of(call);
    const struct bytes *constant = kernel_constant_bytes(call, 1);
    struct like_pattern pattern;
    if (constant != NULL && call->selected > 0)
        TRY(compile(call->ctx->arena, *constant, escape, &pattern, err));
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        if (constant == NULL)
            TRY(compile(call->ctx->arena, KERNEL_ARG(struct bytes, call, 1, row), escape, &pattern,
                        err));
        out[row] = matches(&pattern, KERNEL_ARG(struct bytes, call, 0, row));
    }
    return OK;
}

/* bound: which of the four */
struct like_many {
    bool all;
    bool negated;
};

KERNEL(kernel_like_many)
{
    const struct like_many *kind = call->expr->call.bound;
    uint8_t *out = call->out->values;
    uint32_t count = call->arg_count - 1;
    struct like_pattern *patterns =
        arena_new_object(call->ctx->arena, ((size_t)count + 1) * sizeof *patterns);
    for (uint32_t k = 0; k < count && call->selected > 0; k++)
        TRY(compile(call->ctx->arena, *kernel_constant_bytes(call, k + 1), bytes_of_text("\\"),
                    &patterns[k], err));
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes text = KERNEL_ARG(struct bytes, call, 0, row);
        bool result = kind->all;
        for (uint32_t k = 0; k < count && result == kind->all; k++)
            result = matches(&patterns[k], text) != kind->negated;
        out[row] = result;
    }
    return OK;
}

/* ---- resolving ---- */

static enum status check_escape(struct resolve_context *ctx, struct expr *call, struct error *err)
{
    struct vector *value;
    struct error ignored = ERROR_INIT;
    if (expr_is_foldable(call->args[2]) &&
        expr_constant(ctx->arena, call->args[2], ctx->time_zone, &value, &ignored) == OK &&
        !vector_is_null(value, 0) && utf8_length(*VECTOR_VALUES(struct bytes, value)) == 1)
        return OK;
    const struct expr *escape = call->args[2];
    while (escape->kind == EXPR_CAST && escape->cast.implicit)
        escape = escape->args[0];
    return error_raise_at(err, STATUS_INVALID_ESCAPE_CHAR, call->position, call->position_end,
                          "sqlExpr", function_sql(ctx->arena, escape), NULL);
}

RESOLVER(resolve_like)
{
    *out = call;
    TRY(function_apply_signature(ctx, call, err));
    return call->arg_count > 2 ? check_escape(ctx, call, err) : OK;
}

/* lower(s) LIKE lower(pattern) */
RESOLVER(resolve_ilike)
{
    *out = call;
    TRY(function_apply_signature(ctx, call, err));
    if (call->arg_count > 2)
        TRY(check_escape(ctx, call, err));
    struct expr *args[3] = {NULL, NULL, call->arg_count > 2 ? call->args[2] : NULL};
    for (uint32_t i = 0; i < 2; i++)
        TRY(function_resolve_1(ctx, "lower", call->args[i], &args[i], err));
    struct function_call like = {.name = "like",
                                 .args = args,
                                 .arg_count = call->arg_count,
                                 .position = call->position,
                                 .position_end = call->position_end};
    struct expr *inner;
    TRY(function_resolve(ctx, &like, &inner, err));
    function_replace(ctx, call, inner);
    return OK;
}

/* s LIKE a OR s LIKE b ... */
static enum status like_chain(struct resolve_context *ctx, const struct expr *call,
                              const struct like_many *kind, struct expr **out, struct error *err)
{
    struct expr *chain = NULL;
    for (uint32_t k = 1; k < call->arg_count; k++) {
        struct expr *one;
        TRY(function_resolve_2(ctx, "like", call->args[0], call->args[k], &one, err));
        if (kind->negated)
            TRY(function_resolve_1(ctx, "not", one, &one, err));
        if (chain == NULL)
            chain = one;
        else
            TRY(function_resolve_2(ctx, kind->all ? "and" : "or", chain, one, &chain, err));
    }
    *out = chain;
    return OK;
}

RESOLVER(resolve_like_many)
{
    *out = call;
    if (call->arg_count < 2)
        return error_raise(err, STATUS_INVALID_SQL_SYNTAX__EMPTY_QUANTIFIED_PATTERN, NULL);
    struct like_many *kind = arena_new_object(ctx->arena, sizeof *kind);
    const char *name = call->call.function->name;
    kind->negated = strncmp(name, "not", 3) == 0;
    kind->all = strcmp(name + strlen(name) - 3, "all") == 0;
    TRY(function_apply(ctx, call, "string,string*->boolean", err));
    for (uint32_t k = 1; k < call->arg_count; k++) {
        struct error ignored = ERROR_INIT;
        struct vector *value;
        if (!expr_is_foldable(call->args[k]) ||
            expr_constant(ctx->arena, call->args[k], ctx->time_zone, &value, &ignored) != OK ||
            vector_is_null(value, 0))
            return like_chain(ctx, call, kind, out, err);
    }
    call->call.bound = kind;
    return OK;
}
