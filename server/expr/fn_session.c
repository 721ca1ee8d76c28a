/* What the session and the task are: current_user(), spark_partition_id() ... */
#include "expr/fn_session.h"

#include "expr/fn_support.h"

static void set_all_text(const struct kernel_call *call, const char *text)
{
    struct bytes value = bytes_of_text(text == NULL ? "" : text);
    for (uint32_t i = 0; i < call->selected; i++)
        kernel_set_view(call, kernel_row(call, i), value);
}

static void set_all_long(const struct kernel_call *call, int64_t value)
{
    for (uint32_t i = 0; i < call->selected; i++)
        KERNEL_OUT(int64_t, call)[kernel_row(call, i)] = value;
}

KERNEL(kernel_current_user)
{
    (void)err;
    set_all_text(call, call->ctx->user);
    return OK;
}

KERNEL(kernel_current_catalog)
{
    (void)err;
    set_all_text(call, "spark_catalog");
    return OK;
}

KERNEL(kernel_current_schema)
{
    (void)err;
    set_all_text(call, call->ctx->database == NULL ? "default" : call->ctx->database);
    return OK;
}

KERNEL(kernel_version)
{
    (void)err;
    set_all_text(call, "4.3.0 0000000000000000000000000000000000000000");
    return OK;
}

KERNEL(kernel_spark_partition_id)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++)
        KERNEL_OUT(int32_t, call)[kernel_row(call, i)] = (int32_t)call->ctx->partition;
    return OK;
}

/* The task in the upper 31 bits, the row in the lower 33. */
KERNEL(kernel_monotonically_increasing_id)
{
    uint64_t *next = call->state;
    int64_t *out = KERNEL_OUT(int64_t, call);
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++)
        out[kernel_row(call, i)] = (int64_t)(((uint64_t)call->ctx->partition << 33) + (*next)++);
    return OK;
}

KERNEL(kernel_input_file_name)
{
    (void)err;
    set_all_text(call, call->ctx->input_file);
    return OK;
}

static bool has_input_file(const struct kernel_call *call)
{
    return call->ctx->input_file != NULL && *call->ctx->input_file != '\0';
}

KERNEL(kernel_input_file_block_start)
{
    (void)err;
    set_all_long(call, has_input_file(call) ? call->ctx->input_start : -1);
    return OK;
}

KERNEL(kernel_input_file_block_length)
{
    (void)err;
    set_all_long(call, has_input_file(call) ? call->ctx->input_length : -1);
    return OK;
}
