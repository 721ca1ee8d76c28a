#include "expr/function.h"

#include "base/check.h"
#include "expr/aggregate.h"
#include "expr/in_set.h"
#include "expr/kernel_basic.h"
#include "expr/kernel_nested.h"
#include "expr/kernel_time.h"
#include "expr/lambda.h"
#include "expr/like.h"
#include "expr/program.h"
#include "expr/resolvers.h"
#include "expr/signature.h"

#include <stdio.h>
#include <strings.h>

#define DOCROOT "https://spark.apache.org/docs/latest"

/* Flags as functions.def writes them. */
enum {
    NULL_INTOLERANT = FUNCTION_NULL_INTOLERANT,
    NULLABLE = FUNCTION_NULLABLE,
    NEVER_NULL = FUNCTION_NEVER_NULL,
    TOTAL = FUNCTION_TOTAL,
    LAZY = FUNCTION_LAZY,
    RANDOM = FUNCTION_RANDOM,
    PER_BATCH = FUNCTION_PER_BATCH,
    OPERATOR = FUNCTION_OPERATOR,
    REPLACED = FUNCTION_REPLACED,
    BOUND_TAIL = FUNCTION_BOUND_TAIL,
    EXACT = FUNCTION_EXACT,
};

#define FUNCTION_AS(kind_, name_, aliases_, print_, signature_, flags_, resolve_, kernel_)         \
    {.name = (name_),                                                                              \
     .aliases = (aliases_),                                                                        \
     .print = (print_),                                                                            \
     .signature = (signature_),                                                                    \
     .kind = (kind_),                                                                              \
     .flags = (flags_),                                                                            \
     .resolve = (resolve_),                                                                        \
     .kernel = (kernel_)},
#define FUNCTION(...)     FUNCTION_AS(FUNCTION_SCALAR, __VA_ARGS__)
#define HIGHER_ORDER(...) FUNCTION_AS(FUNCTION_HIGHER_ORDER, __VA_ARGS__)
#define GENERATOR(...)    FUNCTION_AS(FUNCTION_GENERATOR, __VA_ARGS__)
#define WINDOW(...)       FUNCTION_AS(FUNCTION_WINDOW, __VA_ARGS__)

static const struct function functions[] = {
#include "expr/functions.def"
};

#undef FUNCTION
#undef HIGHER_ORDER
#undef GENERATOR
#undef WINDOW

#define FUNCTION_COUNT (sizeof functions / sizeof functions[0])

const struct function *function_list(uint32_t *count)
{
    *count = (uint32_t)FUNCTION_COUNT;
    return functions;
}

/* The next alias of a list "a|=b"; false at its end. */
static bool next_alias(const char **list, const char **name, size_t *length)
{
    if (*list == NULL || **list == '\0')
        return false;
    const char *start = *list + (**list == '=');
    size_t size = strcspn(start, "|");
    *name = start;
    *length = size;
    *list = start + size + (start[size] == '|');
    return true;
}

bool function_name_matches(const char *name, const char *aliases, const char *wanted)
{
    if (strcasecmp(name, wanted) == 0)
        return true;
    const char *alias;
    size_t length;
    size_t wanted_length = strlen(wanted);
    while (next_alias(&aliases, &alias, &length)) {
        if (length == wanted_length && strncasecmp(alias, wanted, length) == 0)
            return true;
    }
    return false;
}

bool function_alias_prints_main(const char *aliases, const char *name)
{
    if (aliases == NULL)
        return false;
    size_t wanted = strlen(name);
    while (*aliases != '\0') {
        bool main = *aliases == '=';
        aliases += main;
        size_t length = strcspn(aliases, "|");
        if (length == wanted && strncasecmp(aliases, name, length) == 0)
            return main;
        aliases += length + (aliases[length] == '|');
    }
    return false;
}

const struct function *function_find(const char *name)
{
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        if (function_name_matches(functions[i].name, functions[i].aliases, name))
            return &functions[i];
    }
    return NULL;
}

void function_each_name(void (*visit)(void *arg, const char *name, const struct function *function),
                        void *arg)
{
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        const struct function *function = &functions[i];
        if ((function->flags & FUNCTION_OPERATOR) != 0)
            continue;
        visit(arg, function->name, function);
        const char *aliases = function->aliases;
        const char *alias;
        size_t length;
        while (next_alias(&aliases, &alias, &length)) {
            char name[64];
            CHECK(length < sizeof name);
            memcpy(name, alias, length);
            name[length] = '\0';
            visit(arg, name, function);
        }
    }
}

void resolve_context_init(struct resolve_context *ctx, struct arena *arena)
{
    *ctx = (struct resolve_context){
        .arena = arena,
        .ansi = true,
        .decimal_precision_loss = true,
        .time_zone = "UTC",
    };
}

void function_arity(const struct function *function, uint32_t *least, uint32_t *most)
{
    struct signature signature;
    signature_parse(&signature, function->signature);
    signature_arity(&signature, least, most);
}

/* "2", "[2, 3]", "> 1" */
static enum status wrong_number(const char *name, const struct signature *signature,
                                const struct function_call *call, struct error *err)
{
    uint32_t least, most;
    signature_arity(signature, &least, &most);
    char expected[64];
    char actual[16];
    char quoted[128];
    bool open = most == UINT32_MAX;
    if (open) {
        (void)snprintf(expected, sizeof expected, "> %d", (int)least - 1);
    } else if (least == most) {
        (void)snprintf(expected, sizeof expected, "%u", (unsigned)least);
    } else {
        size_t used = 0;
        for (uint32_t i = least; i <= most && used < sizeof expected - 8; i++)
            used += (size_t)snprintf(expected + used, sizeof expected - used, "%s%u",
                                     i == least ? "[" : ", ", (unsigned)i);
        (void)snprintf(expected + used, sizeof expected - used, "]");
    }
    (void)snprintf(actual, sizeof actual, "%u", (unsigned)call->arg_count);
    (void)snprintf(quoted, sizeof quoted, "`%s`", name);
    return error_raise_at(err, STATUS_WRONG_NUM_ARGS__WITHOUT_SUGGESTION,
                          open ? -1 : call->position, open ? -1 : call->position_end,
                          "functionName", quoted, "expectedNum", expected, "actualNum", actual,
                          "docroot", DOCROOT, NULL);
}

enum status function_check_count(const char *name, const char *text,
                                 const struct function_call *call, struct error *err)
{
    struct signature signature;
    signature_parse(&signature, text);
    uint32_t least, most;
    signature_arity(&signature, &least, &most);
    if (call->arg_count < least || call->arg_count > most)
        return wrong_number(name, &signature, call, err);
    return OK;
}

const char *function_lower_name(struct arena *arena, const char *name)
{
    char *lower = arena_strdup(arena, name);
    for (char *at = lower; *at != '\0'; at++) {
        if (*at >= 'A' && *at <= 'Z')
            *at = (char)(*at + 'a' - 'A');
    }
    return lower;
}

enum status function_resolve(struct resolve_context *ctx, const struct function_call *call,
                             struct expr **out, struct error *err)
{
    const struct function *function = function_find(call->name);
    if (function == NULL) {
        char quoted[256];
        (void)snprintf(quoted, sizeof quoted, "`%s`", call->name);
        return error_raise_at(err, STATUS_UNRESOLVED_ROUTINE, call->position, call->position_end,
                              "routineName", quoted, "searchPath", "", NULL);
    }
    const char *name = function_lower_name(ctx->arena, call->name);
    TRY(function_check_count(name, function->signature, call, err));
    struct expr *node = expr_call(ctx->arena, function, name, call->args, call->arg_count);
    node->position = call->position;
    node->position_end = call->position_end;
    *out = node;
    if (function->kind == FUNCTION_HIGHER_ORDER && function->resolve == NULL)
        return error_set(err, STATUS_INTERNAL_ERROR, "%s has no resolver", function->name);
    if (function->resolve != NULL)
        return function->resolve(ctx, node, out, err);
    return function_apply_signature(ctx, node, err);
}

enum status function_resolve_1(struct resolve_context *ctx, const char *name, struct expr *a,
                               struct expr **out, struct error *err)
{
    struct function_call call = {.name = name,
                                 .args = &a,
                                 .arg_count = 1,
                                 .position = a->position,
                                 .position_end = a->position_end};
    return function_resolve(ctx, &call, out, err);
}

enum status function_resolve_2(struct resolve_context *ctx, const char *name, struct expr *a,
                               struct expr *b, struct expr **out, struct error *err)
{
    struct expr *args[] = {a, b};
    struct function_call call = {.name = name,
                                 .args = args,
                                 .arg_count = 2,
                                 .position = a->position,
                                 .position_end = b->position_end};
    return function_resolve(ctx, &call, out, err);
}

void function_finish(struct expr *call, const struct type *type)
{
    const struct function *function = call->call.function;
    call->type = type;
    if (call->call.kernel == NULL)
        call->call.kernel = function->kernel;
    bool any = (function->flags & (FUNCTION_NULL_INTOLERANT | FUNCTION_NEVER_NULL)) == 0;
    if ((function->flags & FUNCTION_NULL_INTOLERANT) != 0) {
        for (uint32_t i = 0; i < call->arg_count; i++)
            any |= call->args[i]->nullable;
    }
    call->nullable = any || (function->flags & FUNCTION_NULLABLE) != 0;
}

void function_insert_arg(struct resolve_context *ctx, struct expr *call, uint32_t index,
                         struct expr *arg)
{
    CHECK(index <= call->arg_count);
    struct expr **args =
        arena_new_object(ctx->arena, ((size_t)call->arg_count + 2) * sizeof(struct expr *));
    for (uint32_t i = 0; i < index; i++)
        args[i] = call->args[i];
    args[index] = arg;
    for (uint32_t i = index; i < call->arg_count; i++)
        args[i + 1] = call->args[i];
    call->args = args;
    call->arg_count++;
}

void function_replace(struct resolve_context *ctx, struct expr *call, struct expr *replacement)
{
    CHECK((call->call.function->flags & FUNCTION_REPLACED) != 0);
    function_add_arg(ctx, call, replacement);
    call->type = replacement->type;
    call->nullable = replacement->nullable;
}

void function_add_arg(struct resolve_context *ctx, struct expr *call, struct expr *arg)
{
    function_insert_arg(ctx, call, call->arg_count, arg);
}

const char *function_sql(struct arena *arena, const struct expr *expr)
{
    struct buffer text = {0};
    buffer_add_byte(&text, '"');
    expr_print_sql(&text, expr);
    buffer_add_byte(&text, '"');
    const char *copy = arena_strndup(arena, text.data, text.size_bytes);
    buffer_fini(&text);
    return copy;
}

const char *function_sql_type(struct arena *arena, const struct type *type)
{
    return arena_sprintf(arena, "\"%s\"", type_sql(arena, type));
}

const char *function_ordinal(uint32_t index)
{
    static const char *const words[] = {"first",    "second",  "third",      "fourth",    "fifth",
                                        "sixth",    "seventh", "eighth",     "ninth",     "tenth",
                                        "eleventh", "twelfth", "thirteenth", "fourteenth"};
    return index < sizeof words / sizeof words[0] ? words[index] : "later";
}

enum status function_wrong_type(const struct expr *call, uint32_t index, const char *required_type,
                                struct error *err)
{
    struct arena *arena = arena_new("message", 0);
    struct expr plain = *call;
    if (call->kind == EXPR_AGGREGATE) { /* the function, without what modifies the call */
        plain.aggregate.distinct = false;
        plain.aggregate.filter = NULL;
    }
    enum status status = error_raise_at(
        err, STATUS_DATATYPE_MISMATCH__UNEXPECTED_INPUT_TYPE, call->position, call->position_end,
        "sqlExpr", function_sql(arena, &plain), "paramIndex", function_ordinal(index),
        "requiredType", required_type, "inputSql", function_sql(arena, call->args[index]),
        "inputType", function_sql_type(arena, call->args[index]->type), NULL);
    arena_free(arena);
    return status;
}

enum status function_wrong_count(const struct expr *call, const char *expected_num,
                                 struct error *err)
{
    char actual[16];
    char quoted[128];
    (void)snprintf(actual, sizeof actual, "%u", (unsigned)call->arg_count);
    (void)snprintf(quoted, sizeof quoted, "`%s`", call->call.name);
    return error_raise(err, STATUS_WRONG_NUM_ARGS__WITHOUT_SUGGESTION, "functionName", quoted,
                       "expectedNum", expected_num, "actualNum", actual, "docroot", DOCROOT, NULL);
}

enum status function_diff_types(const struct expr *call, struct error *err)
{
    struct arena *arena = arena_new("message", 0);
    struct buffer types = {0};
    buffer_add_byte(&types, '(');
    for (uint32_t i = 0; i < call->arg_count; i++) {
        if (i > 0)
            buffer_add_text(&types, " or ");
        buffer_add_text(&types, function_sql_type(arena, call->args[i]->type));
    }
    buffer_add_byte(&types, ')');
    enum status status =
        error_raise_at(err, STATUS_DATATYPE_MISMATCH__DATA_DIFF_TYPES, call->position,
                       call->position_end, "sqlExpr", function_sql(arena, call), "functionName",
                       arena_sprintf(arena, "`%s`", function_print_name(call)), "dataType",
                       buffer_text(&types), NULL);
    buffer_fini(&types);
    arena_free(arena);
    return status;
}

enum status function_not_orderable(const struct expr *call, const struct type *type,
                                   struct error *err)
{
    struct arena *arena = arena_new("message", 0);
    enum status status =
        error_raise_at(err, STATUS_DATATYPE_MISMATCH__INVALID_ORDERING_TYPE, call->position,
                       call->position_end, "sqlExpr", function_sql(arena, call), "functionName",
                       arena_sprintf(arena, "`%s`", function_print_name(call)), "dataType",
                       function_sql_type(arena, type), NULL);
    arena_free(arena);
    return status;
}

enum status function_not_foldable(const struct expr *call, uint32_t index, const char *input_name,
                                  struct error *err)
{
    struct arena *arena = arena_new("message", 0);
    const struct expr *arg = call->args[index];
    bool ordered = call->kind == EXPR_AGGREGATE && call->aggregate.order_count > 0;
    enum status status = error_raise_at(
        err, STATUS_DATATYPE_MISMATCH__NON_FOLDABLE_INPUT, call->position, call->position_end,
        "sqlExpr", ordered ? aggregate_children_sql(arena, call) : function_sql(arena, call),
        "inputName", arena_sprintf(arena, "`%s`", input_name), "inputType",
        function_sql_type(arena, arg->type), "inputExpr", function_sql(arena, arg), NULL);
    arena_free(arena);
    return status;
}

enum status function_constant(struct resolve_context *ctx, const struct expr *call, uint32_t index,
                              const char *input_name, struct vector **out, struct error *err)
{
    CHECK(index < call->arg_count);
    const struct expr *arg = call->args[index];
    if (!expr_is_foldable(arg))
        return function_not_foldable(call, index, input_name, err);
    return expr_constant(ctx->arena, arg, ctx->time_zone, out, err);
}

enum status function_apply(struct resolve_context *ctx, struct expr *call, const char *text,
                           struct error *err)
{
    struct signature signature;
    signature_parse(&signature, text);
    const struct type *type;
    TRY(signature_apply(ctx, &signature, call, &type, err));
    function_finish(call, type);
    return OK;
}

enum status function_apply_signature(struct resolve_context *ctx, struct expr *call,
                                     struct error *err)
{
    return function_apply(ctx, call, call->call.function->signature, err);
}

bool function_stops_at_null(const struct expr *call)
{
    if (call->kind != EXPR_CALL)
        return false;
    const struct function *function = call->call.function;
    return (function->flags & FUNCTION_NULL_INTOLERANT) != 0 &&
           (function->signature == NULL || strchr(function->signature, '*') == NULL);
}
