/*
 * Functions of arrays.  A result array is described by indices into a pool of elements, which are
 * moved once, for the whole batch, whatever their type.
 */
#include "expr/fn_array.h"

#include "base/check.h"
#include "expr/fn_support.h"
#include "expr/kernel_basic.h"

#include <stdlib.h>

#define ARRAY_LENGTH_MAX 2147483632

/* ---- building ---- */

void array_builder_begin(struct array_builder *builder, const struct kernel_call *call)
{
    *builder = (struct array_builder){.call = call, .entries = call->out->values};
    memset(builder->entries, 0, (call->rows > 0 ? call->rows : 1) * sizeof(*builder->entries));
}

static bool make_room(struct array_builder *builder)
{
    size_t capacity = builder->capacity == 0 ? 256 : builder->capacity * 2;
    uint32_t *indices = NULL;
    if (!builder->full && builder->capacity < kernel_elements_max(builder->call))
        indices = realloc(builder->indices, capacity * sizeof(*indices));
    builder->full = indices == NULL;
    if (builder->full)
        return false;
    builder->indices = indices;
    builder->capacity = capacity;
    return true;
}

void array_builder_add(struct array_builder *builder, uint32_t index)
{
    if (builder->count == builder->capacity && !make_room(builder))
        return;
    builder->indices[builder->count++] = index;
}

void array_builder_end_row(struct array_builder *builder, uint32_t row)
{
    size_t length = builder->count - builder->row_start;
    CHECK(builder->count <= KERNEL_ELEMENTS_MAX * 2);
    builder->entries[row] = (struct list_entry){(uint32_t)builder->row_start, (uint32_t)length};
    builder->row_start = builder->count;
}

void array_builder_free(struct array_builder *builder)
{
    free(builder->indices);
    builder->indices = NULL;
}

enum status array_builder_finish(struct array_builder *builder, const struct vector *pool,
                                 struct error *err)
{
    const struct kernel_call *call = builder->call;
    enum status status = OK;
    if (builder->full) {
        status = builder->capacity < kernel_elements_max(call)
                     ? kernel_no_memory(call, err)
                     : kernel_check_elements(call, KERNEL_ELEMENTS_MAX + 1, err);
    } else if (builder->count == 0) {
        status = vector_resize_child(call->ctx->arena, call->out, 0, 0, err);
    } else {
        struct vector *child;
        status = vector_gather_or_null(call->ctx->arena, pool, builder->indices,
                                       (uint32_t)builder->count, &child, err);
        if (status == OK)
            call->out->children[0] = child;
    }
    array_builder_free(builder);
    return status;
}

struct list_entry array_at(const struct kernel_call *call, uint32_t index, uint32_t row)
{
    if (vector_is_null(call->args[index], row))
        return (struct list_entry){0, 0};
    return KERNEL_ARG(struct list_entry, call, index, row);
}

const struct vector *array_elements(const struct kernel_call *call, uint32_t index)
{
    return call->args[index]->children[0];
}

enum status array_pool(const struct kernel_call *call, uint32_t first, uint32_t count,
                       uint32_t plain, uint32_t *bases, struct vector **out, struct error *err)
{
    struct arena *arena = call->ctx->arena;
    struct vector **parts = arena_new_object(arena, ((size_t)count + 1) * sizeof(*parts));
    uint32_t part_count = 0;
    uint64_t base = 0;
    for (uint32_t i = 0; i < count; i++) {
        bases[part_count] = (uint32_t)base;
        parts[part_count++] = call->args[first + i]->children[0];
        base += call->args[first + i]->children[0]->length;
    }
    if (plain != UINT32_MAX) {
        struct vector *view = arena_new_object(arena, sizeof(*view));
        *view = *call->args[plain];
        view->length = call->rows;
        bases[part_count] = (uint32_t)base;
        parts[part_count++] = view;
    }
    return vector_concat(arena, parts, part_count, out, err);
}

static void add_range(struct array_builder *builder, struct list_entry list, uint32_t base)
{
    for (uint32_t i = 0; i < list.length && !builder->full; i++)
        array_builder_add(builder, base + list.offset + i);
}

/* ---- concat, reverse, append, insert ---- */

KERNEL(kernel_array_concat)
{
    struct array_builder builder;
    struct vector *pool;
    uint32_t *bases = arena_new_object(call->ctx->arena, call->arg_count * sizeof(*bases));
    TRY(array_pool(call, 0, call->arg_count, UINT32_MAX, bases, &pool, err));
    array_builder_begin(&builder, call);
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        for (uint32_t a = 0; a < call->arg_count; a++)
            add_range(&builder, array_at(call, a, row), bases[a]);
        array_builder_end_row(&builder, row);
    }
    return array_builder_finish(&builder, pool, err);
}

KERNEL(kernel_array_reverse)
{
    struct array_builder builder;
    array_builder_begin(&builder, call);
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry list = array_at(call, 0, row);
        for (uint32_t j = list.length; j > 0; j--)
            array_builder_add(&builder, list.offset + j - 1);
        array_builder_end_row(&builder, row);
    }
    return array_builder_finish(&builder, array_elements(call, 0), err);
}

/* (array, element) with the element at one end; a NULL array gives NULL. */
static enum status run_append(const struct kernel_call *call, bool front, struct error *err)
{
    struct array_builder builder;
    struct vector *pool;
    uint32_t bases[2];
    TRY(array_pool(call, 0, 1, 1, bases, &pool, err));
    array_builder_begin(&builder, call);
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        if (kernel_arg_is_null(call, 0, row)) {
            TRY(kernel_set_null(call, row, err));
            continue;
        }
        if (front)
            array_builder_add(&builder, bases[1] + row);
        add_range(&builder, array_at(call, 0, row), bases[0]);
        if (!front)
            array_builder_add(&builder, bases[1] + row);
        array_builder_end_row(&builder, row);
    }
    return array_builder_finish(&builder, pool, err);
}

KERNEL(kernel_array_append)
{
    return run_append(call, false, err);
}

KERNEL(kernel_array_prepend)
{
    return run_append(call, true, err);
}

static enum status too_long(const struct kernel_call *call, int64_t length, struct error *err)
{
    return error_raise(err, STATUS_COLLECTION_SIZE_LIMIT_EXCEEDED__FUNCTION, "numberOfElements",
                       kernel_error_number(call, length), "maxRoundedArrayLength",
                       kernel_error_number(call, ARRAY_LENGTH_MAX), "functionName",
                       kernel_error_function(call), NULL);
}

/* One row of array_insert: position from 1, or from the end; what is beyond is filled up. */
static enum status insert_row(struct array_builder *builder, uint32_t row, const uint32_t *bases,
                              struct error *err)
{
    const struct kernel_call *call = builder->call;
    struct list_entry list = array_at(call, 0, row);
    int64_t position = kernel_int(call, 1, row);
    int64_t length = list.length;
    if (position == 0)
        return error_raise(err, STATUS_INVALID_INDEX_OF_ZERO, NULL);
    int64_t distance = position < 0 ? -position : position;
    int64_t size = distance > length ? distance : length + 1;
    if (size > ARRAY_LENGTH_MAX)
        return too_long(call, size, err);
    TRY(kernel_check_elements(call, builder->count + (size_t)size, err));
    int64_t at = position > 0 ? position - 1 : length + position + 1;
    if (at < 0) { /* before the front: element, NULLs, array */
        array_builder_add(builder, bases[1] + row);
        for (; at < 0; at++)
            array_builder_add(builder, UINT32_MAX);
        add_range(builder, list, bases[0]);
        return OK;
    }
    for (int64_t i = 0; i < at; i++)
        array_builder_add(builder, i < length ? bases[0] + list.offset + (uint32_t)i : UINT32_MAX);
    array_builder_add(builder, bases[1] + row);
    for (int64_t i = at; i < length; i++)
        array_builder_add(builder, bases[0] + list.offset + (uint32_t)i);
    return OK;
}

KERNEL(kernel_array_insert)
{
    struct array_builder builder;
    struct vector *pool;
    uint32_t bases[2];
    enum status status = OK;
    TRY(array_pool(call, 0, 1, 2, bases, &pool, err));
    array_builder_begin(&builder, call);
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        if (kernel_arg_is_null(call, 0, row) || kernel_arg_is_null(call, 1, row)) {
            TRY_OUT(kernel_set_null(call, row, err));
            continue;
        }
        TRY_OUT(insert_row(&builder, row, bases, err));
        array_builder_end_row(&builder, row);
    }
    return array_builder_finish(&builder, pool, err);
out:
    array_builder_free(&builder);
    return status;
}

/* ---- choosing elements ---- */

KERNEL(kernel_array_compact)
{
    struct array_builder builder;
    const struct vector *elements = array_elements(call, 0);
    array_builder_begin(&builder, call);
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry list = array_at(call, 0, row);
        for (uint32_t j = 0; j < list.length; j++)
            if (!vector_is_null(elements, list.offset + j))
                array_builder_add(&builder, list.offset + j);
        array_builder_end_row(&builder, row);
    }
    return array_builder_finish(&builder, elements, err);
}

KERNEL(kernel_array_remove)
{
    struct array_builder builder;
    const struct vector *elements = array_elements(call, 0);
    array_builder_begin(&builder, call);
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry list = array_at(call, 0, row);
        for (uint32_t j = 0; j < list.length; j++)
            if (vector_is_null(elements, list.offset + j) ||
                !vector_equal(elements, list.offset + j, call->args[1], row))
                array_builder_add(&builder, list.offset + j);
        array_builder_end_row(&builder, row);
    }
    return array_builder_finish(&builder, elements, err);
}

static enum status slice_error(const struct kernel_call *call, int32_t length, struct error *err)
{
    if (length >= 0)
        return error_raise(err, STATUS_INVALID_PARAMETER_VALUE__START, "parameter", "`start`",
                           "functionName", "`slice`", NULL);
    return error_raise(err, STATUS_INVALID_PARAMETER_VALUE__LENGTH, "parameter", "`length`",
                       "length", kernel_error_number(call, length), "functionName", "`slice`",
                       NULL);
}

KERNEL(kernel_array_slice)
{
    struct array_builder builder;
    array_builder_begin(&builder, call);
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry list = array_at(call, 0, row);
        int64_t start = kernel_int(call, 1, row);
        int64_t length = kernel_int(call, 2, row);
        if (start == 0 || length < 0) {
            array_builder_free(&builder);
            return slice_error(call, start == 0 ? 0 : (int32_t)length, err);
        }
        start = start > 0 ? start - 1 : list.length + start;
        for (int64_t j = start; start >= 0 && j < start + length && j < list.length; j++)
            array_builder_add(&builder, list.offset + (uint32_t)j);
        array_builder_end_row(&builder, row);
    }
    return array_builder_finish(&builder, array_elements(call, 0), err);
}

/* array_repeat(element, times): the element may be NULL. */
KERNEL(kernel_array_repeat)
{
    struct array_builder builder;
    struct vector *pool;
    uint32_t base;
    enum status status = OK;
    TRY(array_pool(call, 0, 0, 0, &base, &pool, err));
    array_builder_begin(&builder, call);
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        if (kernel_arg_is_null(call, 1, row)) {
            TRY_OUT(kernel_set_null(call, row, err));
            continue;
        }
        int32_t times = kernel_int(call, 1, row);
        if (times > ARRAY_LENGTH_MAX) {
            status = error_raise(
                err, STATUS_COLLECTION_SIZE_LIMIT_EXCEEDED__PARAMETER, "numberOfElements",
                kernel_error_number(call, times), "functionName", kernel_error_function(call),
                "maxRoundedArrayLength", kernel_error_number(call, ARRAY_LENGTH_MAX), "parameter",
                "`count`", NULL);
            goto out;
        }
        TRY_OUT(kernel_check_elements(call, builder.count + (size_t)(times > 0 ? times : 0), err));
        for (int32_t j = 0; j < times; j++)
            array_builder_add(&builder, row);
        array_builder_end_row(&builder, row);
    }
    return array_builder_finish(&builder, pool, err);
out:
    array_builder_free(&builder);
    return status;
}

/* A NULL array inside makes NULL. */
KERNEL(kernel_flatten)
{
    struct array_builder builder;
    const struct vector *lists = array_elements(call, 0);
    array_builder_begin(&builder, call);
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry list = array_at(call, 0, row);
        bool null = false;
        for (uint32_t j = 0; j < list.length; j++)
            null = null || vector_is_null(lists, list.offset + j);
        if (null) {
            enum status status = kernel_set_null(call, row, err);
            if (status != OK) {
                array_builder_free(&builder);
                return status;
            }
            continue;
        }
        for (uint32_t j = 0; j < list.length; j++)
            add_range(&builder,
                      VECTOR_VALUES(struct list_entry, lists)[vector_index(lists, list.offset + j)],
                      0);
        array_builder_end_row(&builder, row);
    }
    return array_builder_finish(&builder, lists->children[0], err);
}

/* ---- searching ---- */

KERNEL(kernel_array_contains)
{
    const struct vector *elements = array_elements(call, 0);
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry list = array_at(call, 0, row);
        bool found = false;
        bool null = false;
        for (uint32_t j = 0; j < list.length && !found; j++) {
            if (vector_is_null(elements, list.offset + j))
                null = true;
            else
                found = vector_equal(elements, list.offset + j, call->args[1], row);
        }
        KERNEL_OUT(uint8_t, call)[row] = found;
        if (!found && null)
            TRY(kernel_set_null(call, row, err));
    }
    return OK;
}

KERNEL(kernel_array_position)
{
    (void)err;
    const struct vector *elements = array_elements(call, 0);
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry list = array_at(call, 0, row);
        int64_t position = 0;
        for (uint32_t j = 0; j < list.length && position == 0; j++)
            if (!vector_is_null(elements, list.offset + j) &&
                vector_equal(elements, list.offset + j, call->args[1], row))
                position = j + 1;
        KERNEL_OUT(int64_t, call)[row] = position;
    }
    return OK;
}

static enum status run_extreme(const struct kernel_call *call, int sign, struct error *err)
{
    const struct vector *elements = array_elements(call, 0);
    uint32_t *winner =
        arena_new_object(call->ctx->arena, ((size_t)call->rows + 1) * sizeof(*winner));
    memset(winner, 0xFF, ((size_t)call->rows + 1) * sizeof(*winner));
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry list = array_at(call, 0, row);
        for (uint32_t j = 0; j < list.length; j++) {
            uint32_t at = list.offset + j;
            if (!vector_is_null(elements, at) &&
                (winner[row] == UINT32_MAX ||
                 sign * vector_compare(elements, at, elements, winner[row]) > 0))
                winner[row] = at;
        }
    }
    return kernel_gather(call, elements, winner, err);
}

KERNEL(kernel_array_min)
{
    return run_extreme(call, -1, err);
}

KERNEL(kernel_array_max)
{
    return run_extreme(call, 1, err);
}

/* ---- sizes, text ---- */

/* size(NULL) is NULL, or -1 with the legacy setting: call.bound. */
KERNEL(kernel_size)
{
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        if (!kernel_arg_is_null(call, 0, row))
            KERNEL_OUT(int32_t, call)[row] = (int32_t)array_at(call, 0, row).length;
        else if (call->expr->call.bound != NULL)
            KERNEL_OUT(int32_t, call)[row] = -1;
        else
            TRY(kernel_set_null(call, row, err));
    }
    return OK;
}

/* array_join(array, delimiter [, what stands for NULL]) */
KERNEL(kernel_array_join)
{
    const struct vector *elements = array_elements(call, 0);
    struct buffer text = {0};
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry list = array_at(call, 0, row);
        bool first = true;
        for (uint32_t j = 0; j < list.length; j++) {
            uint32_t at = list.offset + j;
            bool null = vector_is_null(elements, at);
            if (null && call->arg_count < 3)
                continue;
            if (!first)
                buffer_add_bytes(&text, kernel_text(call, 1, row));
            first = false;
            buffer_add_bytes(
                &text, null ? kernel_text(call, 2, row)
                            : VECTOR_VALUES(struct bytes, elements)[vector_index(elements, at)]);
            TRY_OUT(kernel_check_text(call, text.size_bytes, err));
        }
        TRY_OUT(kernel_set_buffer(call, row, &text, err));
    }
out:
    buffer_fini(&text);
    return status;
}
