#include "expr/fn_support.h"

#include "base/check.h"

#define ERROR_TEXT_BYTES 400

size_t text_find(struct bytes text, struct bytes part, size_t from)
{
    if (part.size_bytes == 0)
        return from <= text.size_bytes ? from : SIZE_MAX;
    if (from >= text.size_bytes || text.size_bytes - from < part.size_bytes)
        return SIZE_MAX;
    const uint8_t *found =
        memmem(text.data + from, text.size_bytes - from, part.data, part.size_bytes);
    return found == NULL ? SIZE_MAX : (size_t)(found - text.data);
}

bool text_is_ascii(struct bytes text)
{
    uint8_t all = 0;
    for (size_t i = 0; i < text.size_bytes; i++)
        all |= text.data[i];
    return all < 0x80;
}

bool text_equals(struct bytes text, const char *word)
{
    return bytes_equal(text, bytes_of_text(word));
}

bool text_equals_ignoring_case(struct bytes text, const char *word)
{
    if (text.size_bytes != strlen(word))
        return false;
    for (size_t i = 0; i < text.size_bytes; i++) {
        uint8_t byte = text.data[i];
        if (byte >= 'A' && byte <= 'Z')
            byte = (uint8_t)(byte + ('a' - 'A'));
        if (byte != (uint8_t)word[i])
            return false;
    }
    return true;
}

static enum status too_large(const struct kernel_call *call, const char *what, size_t limit,
                             struct error *err)
{
    struct arena *arena = call->ctx->arena;
    return error_raise(err, STATUS_LIMIT_EXCEEDED, "what",
                       arena_sprintf(arena, "%s that %s makes", what, kernel_error_function(call)),
                       "limit", kernel_error_number(call, (int64_t)limit), NULL);
}

enum status kernel_check_text(const struct kernel_call *call, size_t bytes, struct error *err)
{
    if (bytes <= kernel_text_max(call))
        return OK;
    return too_large(call, "the bytes of a text", kernel_text_max(call), err);
}

enum status kernel_check_elements(const struct kernel_call *call, size_t elements,
                                  struct error *err)
{
    if (elements <= kernel_elements_max(call))
        return OK;
    return too_large(call, "the elements of a batch", kernel_elements_max(call), err);
}

enum status kernel_check_work(const struct kernel_call *call, size_t steps, struct error *err)
{
    size_t most = call->ctx->bytes_max == 0 ? SIZE_MAX : call->ctx->bytes_max;
    return steps <= most ? OK : too_large(call, "the steps", most, err);
}

enum status kernel_check_built(const struct kernel_call *call, struct error *err)
{
    return buffer_limit_refused() ? kernel_no_memory(call, err) : OK;
}

enum status kernel_no_memory(const struct kernel_call *call, struct error *err)
{
    return error_raise(err, STATUS_LIMIT_EXCEEDED, "what",
                       arena_sprintf(call->ctx->arena, "the memory for what %s makes",
                                     kernel_error_function(call)),
                       "limit", "what this machine has", NULL);
}

const char *kernel_error_text(const struct kernel_call *call, struct bytes text)
{
    size_t size = text.size_bytes < ERROR_TEXT_BYTES ? text.size_bytes : ERROR_TEXT_BYTES;
    return arena_strndup(call->ctx->arena, text.data, size);
}

const char *kernel_error_quoted(const struct kernel_call *call, struct bytes text)
{
    struct buffer out = {0};
    size_t size = text.size_bytes < ERROR_TEXT_BYTES ? text.size_bytes : ERROR_TEXT_BYTES;
    buffer_add_byte(&out, '\'');
    for (size_t i = 0; i < size; i++) {
        if (text.data[i] == '\'' || text.data[i] == '\\')
            buffer_add_byte(&out, '\\');
        buffer_add_byte(&out, text.data[i]);
    }
    buffer_add_byte(&out, '\'');
    const char *copy = arena_strndup(call->ctx->arena, out.data, out.size_bytes);
    buffer_fini(&out);
    return copy;
}

const char *kernel_error_number(const struct kernel_call *call, int64_t number)
{
    return arena_sprintf(call->ctx->arena, "%lld", (long long)number);
}

const char *kernel_error_function(const struct kernel_call *call)
{
    return arena_sprintf(call->ctx->arena, "`%s`", function_print_name(call->expr));
}

RESOLVER(resolve_ansi)
{
    static const bool yes = true;
    *out = call;
    call->call.bound = ctx->ansi ? &yes : NULL;
    return function_apply_signature(ctx, call, err);
}

void function_become(struct expr *call, const char *name)
{
    call->call.function = function_find(name);
    CHECK(call->call.function != NULL);
    call->call.name = call->call.function->name;
}
