/* CAST to STRING and BINARY. */
#include "columnar/decimal.h"
#include "columnar/value_text.h"
#include "expr/cast_impl.h"

/* Printed texts of a batch go into one buffer, which is copied into the arena at the end. */
static enum status keep_texts(const struct cast_job *job, struct buffer *text,
                              const size_t *offsets, struct error *err)
{
    void *memory;
    TRY(arena_alloc_raw(job->ctx->arena, text->size_bytes + 1, 1, &memory, err));
    if (text->size_bytes > 0)
        memcpy(memory, text->data, text->size_bytes);
    uint32_t i = 0, row;
    uint32_t index = 0;
    while (cast_next(job, &i, &row)) {
        CAST_OUT(struct bytes, job, row) =
            bytes_of((uint8_t *)memory + offsets[index], offsets[index + 1] - offsets[index]);
        index++;
    }
    return OK;
}

static void print_cell(const struct cast_job *job, uint32_t row, struct buffer *text)
{
    uint32_t index = vector_index(job->in, row);
    if (job->in->type->id == TYPE_DECIMAL && job->mode == CAST_LEGACY) {
        char digits[DECIMAL_TEXT_MAX];
        struct decimal value = {VECTOR_VALUES(int128, job->in)[index], job->in->type->scale};
        buffer_add(text, digits, decimal_print_java(digits, value));
        return;
    }
    value_text_print(text, job->in, index, job->zone);
}

static enum status to_string(const struct cast_job *job, struct error *err)
{
    void *memory;
    TRY(arena_alloc_raw(job->ctx->arena, (size_t)job->rows->selected + 1, sizeof(size_t), &memory,
                        err));
    size_t *offsets = memory;
    struct buffer text = {0};
    uint32_t i = 0, row;
    uint32_t index = 0;
    while (cast_next(job, &i, &row) && text.size_bytes <= VALUE_TEXT_BYTES_MAX) {
        offsets[index++] = text.size_bytes;
        print_cell(job, row, &text);
    }
    offsets[index] = text.size_bytes;
    enum status status =
        text.size_bytes <= VALUE_TEXT_BYTES_MAX
            ? keep_texts(job, &text, offsets, err)
            : error_raise(err, STATUS_LIMIT_EXCEEDED, "what",
                          "the texts that a cast makes in a batch", "limit", "2147483632", NULL);
    buffer_fini(&text);
    return status;
}

/* Without ANSI mode: the bytes of the number, big-endian. */
static enum status integer_to_binary(const struct cast_job *job, struct error *err)
{
    size_t size = type_value_bytes(job->in->type);
    void *memory;
    TRY(arena_alloc_raw(job->ctx->arena, (size_t)job->rows->rows + 1, size, &memory, err));
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        uint8_t *cell = (uint8_t *)memory + row * size;
        uint64_t value = (uint64_t)cast_integer(job->in, row);
        for (size_t byte = size; byte > 0; byte--) {
            cell[byte - 1] = (uint8_t)value;
            value >>= 8;
        }
        CAST_OUT(struct bytes, job, row) = bytes_of(cell, size);
    }
    return OK;
}

cast_function *cast_to_text(const struct type *from, const struct type *to)
{
    if (to->id == TYPE_STRING)
        return to_string;
    return type_is_integral(from) ? integer_to_binary : NULL;
}
