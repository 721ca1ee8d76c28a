/*
 * What the kernels of the function library (fn_*.c) share.  Inside expr/ only.
 */
#ifndef SERVER_EXPR_FN_SUPPORT_H
#define SERVER_EXPR_FN_SUPPORT_H

#include "base/buffer.h"
#include "expr/resolvers.h"

/* Computes one row; call->out is flat. */
typedef enum status cell_fn(const struct kernel_call *call, uint32_t row, struct error *err);

/* Calls cell() for every selected row: for functions whose work is more than the call. */
static inline enum status kernel_each(const struct kernel_call *call, cell_fn *cell,
                                      struct error *err)
{
    for (uint32_t i = 0; i < call->selected; i++)
        TRY(cell(call, kernel_row(call, i), err));
    return OK;
}

/* Defines the kernel `name` as cell_`name` for every row. */
#define KERNEL_EACH(name)                                                                          \
    KERNEL(name)                                                                                   \
    {                                                                                              \
        return kernel_each(call, cell_##name, err);                                                \
    }

static inline struct bytes kernel_text(const struct kernel_call *call, uint32_t index, uint32_t row)
{
    return KERNEL_ARG(struct bytes, call, index, row);
}

static inline int32_t kernel_int(const struct kernel_call *call, uint32_t index, uint32_t row)
{
    return KERNEL_ARG(int32_t, call, index, row);
}

static inline int64_t kernel_long(const struct kernel_call *call, uint32_t index, uint32_t row)
{
    return KERNEL_ARG(int64_t, call, index, row);
}

/* The cell of a STRING result, not copied: it points into an argument. */
static inline void kernel_set_view(const struct kernel_call *call, uint32_t row, struct bytes view)
{
    KERNEL_OUT(struct bytes, call)[row] = view;
}

/* Sets the cell to the content of `buffer`, copied, and empties it (memory is kept). */
static inline enum status kernel_set_buffer(const struct kernel_call *call, uint32_t row,
                                            struct buffer *buffer, struct error *err)
{
    enum status status = kernel_set_bytes(call, row, buffer_bytes(buffer), err);
    buffer_clear(buffer);
    return status;
}

/*
 * What a function may make whose result is not bounded by its arguments: bytes of one text, and
 * elements of all arrays and maps of one batch.
 */
#define KERNEL_TEXT_BYTES_MAX ((size_t)2147483632)
#define KERNEL_ELEMENTS_MAX   ((size_t)64 << 20)

static inline size_t kernel_text_max(const struct kernel_call *call)
{
    size_t most = call->ctx->bytes_max;
    return most == 0 || most > KERNEL_TEXT_BYTES_MAX ? KERNEL_TEXT_BYTES_MAX : most;
}

static inline size_t kernel_elements_max(const struct kernel_call *call)
{
    size_t most = call->ctx->bytes_max / 16;
    return most == 0 || most > KERNEL_ELEMENTS_MAX ? KERNEL_ELEMENTS_MAX : most;
}

/* Errors: LIMIT_EXCEEDED if something was dropped from a buffer, so that there is less than was
 * put in: to be asked before its content is counted on. */
MUST_USE enum status kernel_check_built(const struct kernel_call *call, struct error *err);
/* Errors: LIMIT_EXCEEDED if a text of `bytes` would be too long. */
MUST_USE enum status kernel_check_text(const struct kernel_call *call, size_t bytes,
                                       struct error *err);
/* Errors: LIMIT_EXCEEDED if `elements` are too many for the arrays of one batch. */
MUST_USE enum status kernel_check_elements(const struct kernel_call *call, size_t elements,
                                           struct error *err);
/* Errors: LIMIT_EXCEEDED if a row asks for more steps than an evaluation with bytes_max may take;
 * for functions whose time is not in proportion to their arguments. */
MUST_USE enum status kernel_check_work(const struct kernel_call *call, size_t steps,
                                       struct error *err);
/* LIMIT_EXCEEDED: the memory that the function needs cannot be had. */
MUST_USE enum status kernel_no_memory(const struct kernel_call *call, struct error *err);

/* Any NULL among the arguments of a row. */
static inline bool kernel_any_null(const struct kernel_call *call, uint32_t row)
{
    for (uint32_t i = 0; i < call->arg_count; i++)
        if (kernel_arg_is_null(call, i, row))
            return true;
    return false;
}

/* Makes the call one of another, internal function, by whose name it prints too. */
void function_become(struct expr *call, const char *name);

/* Applies the signature and lets the kernel know whether ANSI mode is on: kernel_is_ansi(). */
RESOLVER(resolve_ansi);

static inline bool kernel_is_ansi(const struct kernel_call *call)
{
    return call->expr->call.bound != NULL;
}

/* ---- characters, as Spark's UTF8String steps over them: by the first byte alone ---- */

static inline size_t text_step(uint8_t first)
{
    if (first < 0xC2 || first > 0xF4)
        return 1;
    return first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

/* Bytes of the first `chars` characters. */
static inline size_t text_offset(struct bytes text, int64_t chars)
{
    size_t at = 0;
    while (chars > 0 && at < text.size_bytes) {
        at += text_step(text.data[at]);
        chars--;
    }
    return at < text.size_bytes ? at : text.size_bytes;
}

static inline int32_t text_length(struct bytes text)
{
    int32_t chars = 0;
    for (size_t at = 0; at < text.size_bytes; at += text_step(text.data[at]))
        chars++;
    return chars;
}

static inline struct bytes text_skip(struct bytes text, size_t bytes)
{
    return bytes_of(text.data + bytes, text.size_bytes - bytes);
}

static inline struct bytes text_first(struct bytes text, size_t bytes)
{
    return bytes_of(text.data, bytes);
}

/* Where `part` is in `text` from byte `from` on, or SIZE_MAX.  An empty part is found at once. */
size_t text_find(struct bytes text, struct bytes part, size_t from);

bool text_is_ascii(struct bytes text);
bool text_equals(struct bytes text, const char *word);               /* exact */
bool text_equals_ignoring_case(struct bytes text, const char *word); /* ASCII; word in lower case */

/* Base64 in one line, and read strictly: fn_encode.c. */
void text_add_base64(struct buffer *out, struct bytes data);
bool text_read_base64(struct buffer *out, struct bytes text);

/* NUL-ended copies for error parameters, cut at a sane length; in the batch arena. */
const char *kernel_error_text(const struct kernel_call *call, struct bytes text);
/* 'text' in single quotes, as SQL. */
const char *kernel_error_quoted(const struct kernel_call *call, struct bytes text);
const char *kernel_error_number(const struct kernel_call *call, int64_t number);
/* "`name`": the function as it was called. */
const char *kernel_error_function(const struct kernel_call *call);

/* hashCode() of a STRING: Murmur 3 of its bytes with the seed 42. */
uint32_t text_hash_code(struct bytes text);

#endif
