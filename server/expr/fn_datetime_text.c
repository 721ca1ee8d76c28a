/*
 * Times from and to text with patterns: to_date, to_timestamp, unix_timestamp, date_format,
 * from_unixtime.  A constant pattern is compiled when the call is resolved, which is also when a
 * wrong one is noticed; a pattern that varies is compiled anew where it changes.
 */
#include "base/check.h"
#include "columnar/civil.h"
#include "columnar/datetime_pattern.h"
#include "expr/cast.h"
#include "expr/fn_datetime.h"
#include "expr/fn_support.h"

#include <stdio.h>

struct text_options {
    const struct datetime_pattern *pattern; /* NULL: not constant */
    bool nulls;                             /* a text that does not match is NULL */
    bool date;                              /* to_date */
    bool ntz;
};

/* The pattern of a row. */
struct current_pattern {
    struct bytes source;
    const struct datetime_pattern *pattern;
};

static enum status use_pattern(const struct kernel_call *call, uint32_t row,
                               enum datetime_pattern_use use, struct current_pattern *current,
                               struct error *err)
{
    const struct text_options *options = call->expr->call.bound;
    if (options->pattern != NULL) {
        current->pattern = options->pattern;
        return OK;
    }
    struct bytes source = kernel_text(call, 1, row);
    if (current->pattern != NULL && bytes_equal(source, current->source))
        return OK;
    current->source = source;
    return datetime_pattern_compile(call->ctx->arena, source, use, &current->pattern, err);
}

/* ---- reading ---- */

static enum status refuse(const struct kernel_call *call, uint32_t row,
                          const struct datetime_pattern *pattern, struct error *err)
{
    const struct text_options *options = call->expr->call.bound;
    if (options->nulls)
        return kernel_set_null(call, row, err);
    struct buffer message = {0};
    datetime_pattern_explain(pattern, kernel_text(call, 0, row), &message);
    enum status status =
        error_raise(err, STATUS_CANNOT_PARSE_TIMESTAMP, "message", buffer_text(&message), "func",
                    options->date ? "`try_to_date`" : "`try_to_timestamp`", NULL);
    buffer_fini(&message);
    return status;
}

KERNEL(kernel_to_date)
{
    struct current_pattern current = {0};
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        TRY(use_pattern(call, row, DATETIME_PATTERN_PARSE, &current, err));
        int64_t us;
        if (datetime_pattern_parse(current.pattern, kernel_text(call, 0, row), call->ctx->zone,
                                   &us) != TEXT_OK)
            TRY(refuse(call, row, current.pattern, err));
        else
            KERNEL_OUT(int32_t, call)
        [row] = (int32_t)civil_floor_div(timezone_to_local(call->ctx->zone, us), CIVIL_DAY_US);
    }
    return OK;
}

KERNEL(kernel_to_timestamp)
{
    const struct text_options *options = call->expr->call.bound;
    struct current_pattern current = {0};
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes text = kernel_text(call, 0, row);
        int64_t *us = &KERNEL_OUT(int64_t, call)[row];
        TRY(use_pattern(call, row, DATETIME_PATTERN_PARSE, &current, err));
        enum text_result result =
            options->ntz ? datetime_pattern_parse_ntz(current.pattern, text, true, us)
                         : datetime_pattern_parse(current.pattern, text, call->ctx->zone, us);
        if (result != TEXT_OK)
            TRY(refuse(call, row, current.pattern, err));
    }
    return OK;
}

/* unix_timestamp of a text: cut towards zero. */
KERNEL(kernel_unix_timestamp_text)
{
    struct current_pattern current = {0};
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        int64_t us;
        TRY(use_pattern(call, row, DATETIME_PATTERN_PARSE, &current, err));
        if (datetime_pattern_parse(current.pattern, kernel_text(call, 0, row), call->ctx->zone,
                                   &us) != TEXT_OK)
            TRY(refuse(call, row, current.pattern, err));
        else
            KERNEL_OUT(int64_t, call)[row] = us / CIVIL_SECOND_US;
    }
    return OK;
}

/* unix_timestamp of a TIMESTAMP. */
KERNEL(kernel_unix_timestamp)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(int64_t, call)[row] = kernel_long(call, 0, row) / CIVIL_SECOND_US;
    }
    return OK;
}

/* ---- printing ---- */

static enum status run_format(const struct kernel_call *call, int64_t factor, struct error *err)
{
    struct current_pattern current = {0};
    struct buffer text = {0};
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        int64_t us;
        int64_t value = kernel_long(call, 0, row);
        TRY_OUT(use_pattern(call, row, DATETIME_PATTERN_FORMAT, &current, err));
        us = (int64_t)((uint64_t)value * (uint64_t)factor); /* wraps, as in Spark */
        datetime_pattern_format(current.pattern, &text, us, call->ctx->zone);
        TRY_OUT(kernel_set_buffer(call, row, &text, err));
    }
out:
    buffer_fini(&text);
    return status;
}

KERNEL(kernel_date_format)
{
    return run_format(call, 1, err);
}

KERNEL(kernel_from_unixtime)
{
    return run_format(call, CIVIL_SECOND_US, err);
}

/* ---- resolvers ---- */

/* Letters that are easily taken for others. */
static void explain_letters(struct bytes pattern, struct error *err)
{
    static const struct {
        char letter;
        const char *hint;
    } letters[] = {
        {'Y', ". Y is the year of weeks: the year is yyyy"},
        {'D', ". D is the day of the year: the day of the month is dd"},
        {'A', ". A is the millisecond of the day: AM and PM are a"},
    };
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++) {
        size_t used = strlen(err->text);
        if (memchr(pattern.data, letters[i].letter, pattern.size_bytes) != NULL &&
            used < sizeof err->text)
            (void)snprintf(err->text + used, sizeof err->text - used, "%s", letters[i].hint);
    }
}

/* Binds the options; compiles argument 1 if it is constant. */
static enum status bind_pattern(struct resolve_context *ctx, struct expr *call,
                                enum datetime_pattern_use use, struct text_options **out,
                                struct error *err)
{
    struct text_options *options = arena_new_object(ctx->arena, sizeof(*options));
    const char *name = call->call.function->name;
    options->nulls = !ctx->ansi || strncmp(name, "try_", 4) == 0;
    options->date = strstr(name, "to_date") != NULL;
    options->ntz = strstr(name, "ntz") != NULL ||
                   (ctx->timestamp_ntz && strstr(name, "ltz") == NULL && !options->date);
    call->call.bound = options;
    *out = options;
    if (!expr_is_foldable(call->args[1]))
        return OK;
    struct vector *pattern;
    TRY(function_constant(ctx, call, 1, "format", &pattern, err));
    if (pattern->type->id != TYPE_STRING || vector_is_null(pattern, 0))
        return OK;
    struct bytes text = VECTOR_VALUES(struct bytes, pattern)[0];
    enum status status = datetime_pattern_compile(ctx->arena, text, use, &options->pattern, err);
    if (status != OK && text.size_bytes > 0)
        explain_letters(text, err);
    return status;
}

/* Without a pattern these are casts. */
static enum status resolve_as_cast(struct resolve_context *ctx, struct expr *call,
                                   const struct type *type, struct error *err)
{
    struct expr *cast;
    bool try_ = strncmp(call->call.function->name, "try_", 4) == 0;
    struct expr *value = call->args[0];
    if (type->id == TYPE_DATE && type_is_numeric(value->type)) /* read as text */
        value = coercion_cast(ctx, value, type_simple(TYPE_STRING));
    TRY(cast_resolve(ctx, value, type, try_, &cast, err));
    function_replace(ctx, call, cast);
    return OK;
}

/* The function without the flag REPLACED, which reads with a pattern. */
static void use_pattern_form(struct expr *call)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "%s pattern", call->call.function->name);
    function_become(call, name);
}

RESOLVER(resolve_to_date)
{
    *out = call;
    if (call->arg_count == 1)
        return resolve_as_cast(ctx, call, type_simple(TYPE_DATE), err);
    enum type_id id = call->args[0]->type->id;
    if (id != TYPE_STRING && id != TYPE_VOID)
        return resolve_as_cast(ctx, call, type_simple(TYPE_DATE), err);
    struct text_options *options;
    use_pattern_form(call);
    TRY(function_apply(ctx, call, "string,string->date", err));
    TRY(bind_pattern(ctx, call, DATETIME_PATTERN_PARSE, &options, err));
    call->nullable = call->nullable || options->nulls;
    return OK;
}

RESOLVER(resolve_to_timestamp)
{
    *out = call;
    const char *name = call->call.function->name;
    bool ntz = strstr(name, "ntz") != NULL || (ctx->timestamp_ntz && strstr(name, "ltz") == NULL);
    enum type_id id = call->args[0]->type->id;
    if (call->arg_count == 1 || (id != TYPE_STRING && id != TYPE_VOID))
        return resolve_as_cast(ctx, call, type_simple(ntz ? TYPE_TIMESTAMP_NTZ : TYPE_TIMESTAMP),
                               err);
    struct text_options *options;
    use_pattern_form(call);
    TRY(function_apply(ctx, call, ntz ? "string,string->timestamp_ntz" : "string,string->timestamp",
                       err));
    TRY(bind_pattern(ctx, call, DATETIME_PATTERN_PARSE, &options, err));
    call->nullable = call->nullable || options->nulls;
    return OK;
}

RESOLVER(resolve_unix_timestamp)
{
    *out = call;
    if (call->arg_count == 0) {
        struct function_call now = {.name = "current_timestamp",
                                    .position = call->position,
                                    .position_end = call->position_end};
        struct expr *instant;
        TRY(function_resolve(ctx, &now, &instant, err));
        function_add_arg(ctx, call, instant);
    }
    if (call->arg_count == 1)
        function_add_arg(ctx, call,
                         expr_literal_string(ctx->arena, bytes_of_text("yyyy-MM-dd HH:mm:ss")));
    enum type_id id = call->args[0]->type->id;
    struct text_options *options;
    if (id != TYPE_STRING && id != TYPE_VOID) {
        call->call.kernel = kernel_unix_timestamp;
        return function_apply(ctx, call, "timestamp,string->bigint", err);
    }
    call->call.kernel = kernel_unix_timestamp_text;
    TRY(function_apply(ctx, call, "string,string->bigint", err));
    TRY(bind_pattern(ctx, call, DATETIME_PATTERN_PARSE, &options, err));
    call->nullable = call->nullable || options->nulls;
    return OK;
}

#define LONG_TIMESTAMPS "\"(TIMESTAMP_LTZ(P) OR TIMESTAMP_NTZ(P) WITH P IN [7, 9])\""

RESOLVER(resolve_date_trunc)
{
    *out = call;
    if (!coercion_can_cast_implicitly(ctx, call->args[1]->type, type_simple(TYPE_TIMESTAMP)))
        return function_wrong_type(call, 1, "(\"TIMESTAMP\" or " LONG_TIMESTAMPS ")", err);
    TRY(function_apply(ctx, call, "string,timestamp->timestamp", err));
    call->nullable = true;
    return OK;
}

RESOLVER(resolve_date_format)
{
    struct text_options *options;
    *out = call;
    if (!coercion_can_cast_implicitly(ctx, call->args[0]->type, type_simple(TYPE_TIMESTAMP)))
        return function_wrong_type(call, 0, "(\"TIMESTAMP\" or \"TIME\" or " LONG_TIMESTAMPS ")",
                                   err);
    TRY(function_apply(ctx, call, "timestamp,string->string", err));
    return bind_pattern(ctx, call, DATETIME_PATTERN_FORMAT, &options, err);
}

RESOLVER(resolve_from_unixtime)
{
    struct text_options *options;
    *out = call;
    if (call->arg_count == 1)
        function_add_arg(ctx, call,
                         expr_literal_string(ctx->arena, bytes_of_text("yyyy-MM-dd HH:mm:ss")));
    TRY(function_apply(ctx, call, "bigint,string->string", err));
    return bind_pattern(ctx, call, DATETIME_PATTERN_FORMAT, &options, err);
}
