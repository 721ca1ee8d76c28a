#include "expr/signature.h"

#include "base/check.h"
#include "expr/coercion.h"
#include "expr/resolvers.h"

#include <stdlib.h>

/* ---- parsing ---- */

struct name_entry {
    const char *name;
    enum want_kind kind;
    int value;
};

static const struct name_entry names[] = {
    {"void", WANT_TYPE, TYPE_VOID},
    {"boolean", WANT_TYPE, TYPE_BOOLEAN},
    {"tinyint", WANT_TYPE, TYPE_BYTE},
    {"smallint", WANT_TYPE, TYPE_SHORT},
    {"int", WANT_TYPE, TYPE_INT},
    {"bigint", WANT_TYPE, TYPE_LONG},
    {"float", WANT_TYPE, TYPE_FLOAT},
    {"double", WANT_TYPE, TYPE_DOUBLE},
    {"string", WANT_TYPE, TYPE_STRING},
    {"binary", WANT_TYPE, TYPE_BINARY},
    {"date", WANT_TYPE, TYPE_DATE},
    {"timestamp", WANT_TYPE, TYPE_TIMESTAMP},
    {"timestamp_ntz", WANT_TYPE, TYPE_TIMESTAMP_NTZ},
    {"time", WANT_TYPE, TYPE_TIME},
    {"interval", WANT_TYPE, TYPE_INTERVAL},
    {"variant", WANT_TYPE, TYPE_VARIANT},
    {"any", WANT_CLASS, CLASS_ANY},
    {"numeric", WANT_CLASS, CLASS_NUMERIC},
    {"integral", WANT_CLASS, CLASS_INTEGRAL},
    {"fractional", WANT_CLASS, CLASS_FRACTIONAL},
    {"atomic", WANT_CLASS, CLASS_ATOMIC},
    {"orderable", WANT_CLASS, CLASS_ORDERABLE},
    {"decimal", WANT_CLASS, CLASS_DECIMAL},
    {"array", WANT_CLASS, CLASS_ARRAY},
    {"map", WANT_CLASS, CLASS_MAP},
    {"struct", WANT_CLASS, CLASS_STRUCT},
    {"timestamps", WANT_CLASS, CLASS_TIMESTAMPS},
    {"day_time", WANT_CLASS, CLASS_DAY_TIME},
    {"year_month", WANT_CLASS, CLASS_YEAR_MONTH},
    {"T", WANT_VARIABLE, 0},
    {"U", WANT_VARIABLE, 1},
    {"K", WANT_VARIABLE, 2},
    {"V", WANT_VARIABLE, 3},
};
#define VARIABLE_COUNT 4

static int16_t want_new(struct signature *signature, struct want want)
{
    CHECK(signature->want_count < SIGNATURE_NODES_MAX);
    signature->wants[signature->want_count] = want;
    return (int16_t)signature->want_count++;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int16_t parse_type(struct signature *signature, const char **at);

static int16_t parse_one(struct signature *signature, const char **at)
{
    const char *start = *at;
    if (*start >= '1' && *start <= '9') {
        ++*at;
        return want_new(signature,
                        (struct want){.kind = WANT_ARGUMENT, .variable = (uint8_t)(*start - '1')});
    }
    while (is_word(**at))
        ++*at;
    size_t length = (size_t)(*at - start);
    if (**at == '<') {
        bool map = strncmp(start, "map", 3) == 0;
        struct want want = {.kind = map ? WANT_MAP : WANT_ARRAY};
        ++*at;
        want.first = parse_type(signature, at);
        if (map) {
            CHECK(**at == ',');
            ++*at;
            want.second = parse_type(signature, at);
        }
        CHECK(**at == '>');
        ++*at;
        return want_new(signature, want);
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i].name) != length || memcmp(names[i].name, start, length) != 0)
            continue;
        struct want want = {.kind = names[i].kind};
        if (want.kind == WANT_TYPE)
            want.id = (enum type_id)names[i].value;
        else if (want.kind == WANT_CLASS)
            want.class_ = (enum want_class)names[i].value;
        else
            want.variable = (uint8_t)names[i].value;
        return want_new(signature, want);
    }
    CHECK(!"unknown type in a signature");
    return -1;
}

static int16_t parse_type(struct signature *signature, const char **at)
{
    int16_t first = parse_one(signature, at);
    if (**at != '|')
        return first;
    ++*at;
    int16_t second = parse_type(signature, at);
    return want_new(signature,
                    (struct want){.kind = WANT_CHOICE, .first = first, .second = second});
}

static const char *parse_default(struct param *param, const char *at)
{
    const char *start = at;
    if (*at == '\'') {
        at = strchr(at + 1, '\'');
        CHECK(at != NULL);
        at++;
    } else {
        while (*at != ',' && *at != '-' && *at != '\0')
            at++;
        if (*at == '-' && at == start)
            at = start + 1 + strspn(start + 1, "0123456789");
    }
    param->count = PARAM_DEFAULT;
    param->value = bytes_of(start, (size_t)(at - start));
    return at;
}

static void parse_param(struct signature *signature, const char **at)
{
    CHECK(signature->param_count < SIGNATURE_PARAMS_MAX);
    struct param *param = &signature->params[signature->param_count++];
    *param = (struct param){.want = parse_type(signature, at)};
    if (**at == '!') {
        const char *start = ++*at;
        while (is_word(**at))
            ++*at;
        param->constant = true;
        param->name = bytes_of(start, (size_t)(*at - start));
    }
    switch (**at) {
    case '?':
        param->count = PARAM_OPTIONAL;
        ++*at;
        break;
    case '*':
        param->count = PARAM_ANY_NUMBER;
        ++*at;
        break;
    case '+':
        param->count = PARAM_ONE_OR_MORE;
        ++*at;
        break;
    case '=':
        *at = parse_default(param, *at + 1);
        break;
    default:
        break;
    }
}

void signature_parse(struct signature *signature, const char *text)
{
    signature->want_count = 0;
    signature->param_count = 0;
    const char *at = text;
    while (*at != '-') {
        parse_param(signature, &at);
        if (*at == ',')
            at++;
    }
    CHECK(at[0] == '-' && at[1] == '>');
    at += 2;
    signature->result = parse_type(signature, &at);
    CHECK(*at == '\0');
}

void signature_arity(const struct signature *signature, uint32_t *least, uint32_t *most)
{
    *least = 0;
    *most = 0;
    for (uint32_t i = 0; i < signature->param_count; i++) {
        enum param_count count = signature->params[i].count;
        *least += count == PARAM_ONE || count == PARAM_ONE_OR_MORE;
        if (count == PARAM_ANY_NUMBER || count == PARAM_ONE_OR_MORE)
            *most = UINT32_MAX;
        else
            ++*most;
    }
}

/* ---- printing what is wanted ---- */

static const char *class_sql(enum want_class class_)
{
    switch (class_) {
    case CLASS_ANY:
    case CLASS_ORDERABLE:
        return "ANY";
    case CLASS_NUMERIC:
        return "NUMERIC";
    case CLASS_INTEGRAL:
        return "INTEGRAL";
    case CLASS_FRACTIONAL:
        return "FRACTIONAL";
    case CLASS_ATOMIC:
        return "ATOMIC";
    case CLASS_DECIMAL:
        return "DECIMAL";
    case CLASS_ARRAY:
        return "ARRAY";
    case CLASS_MAP:
        return "MAP";
    case CLASS_STRUCT:
        return "STRUCT";
    case CLASS_TIMESTAMPS:
        return "(TIMESTAMP OR TIMESTAMP WITHOUT TIME ZONE)";
    case CLASS_DAY_TIME:
        return "INTERVAL DAY TO SECOND";
    case CLASS_YEAR_MONTH:
        return "INTERVAL YEAR TO MONTH";
    }
    return "";
}

static void print_want(struct buffer *out, const struct signature *signature, int16_t index)
{
    const struct want *want = &signature->wants[index];
    switch (want->kind) {
    case WANT_TYPE:
        buffer_add_byte(out, '"');
        type_print_sql(out, type_simple(want->id));
        buffer_add_byte(out, '"');
        return;
    case WANT_CLASS:
        buffer_printf(out, "\"%s\"", class_sql(want->class_));
        return;
    case WANT_VARIABLE:
    case WANT_ARGUMENT:
        buffer_add_text(out, "\"ANY\"");
        return;
    case WANT_ARRAY: {
        const struct want *element = &signature->wants[want->first];
        if (element->kind == WANT_TYPE) {
            buffer_add_text(out, "\"ARRAY<");
            type_print_sql(out, type_simple(element->id));
            buffer_add_text(out, ">\"");
        } else if (element->kind == WANT_ARRAY) {
            buffer_add_text(out, "\"ARRAY\" of \"ARRAY\"");
        } else {
            buffer_add_text(out, "\"ARRAY\"");
        }
        return;
    }
    case WANT_MAP:
        buffer_add_text(out, "\"MAP\"");
        return;
    case WANT_CHOICE:
        print_want(out, signature, want->first);
        buffer_add_text(out, " or ");
        print_want(out, signature, want->second);
        return;
    }
}

static enum status wrong_type(const struct signature *signature, const struct expr *call,
                              uint32_t index, int16_t want, struct error *err)
{
    struct buffer text = {0};
    bool choice = signature->wants[want].kind == WANT_CHOICE;
    if (choice)
        buffer_add_byte(&text, '(');
    print_want(&text, signature, want);
    if (choice)
        buffer_add_byte(&text, ')');
    enum status status = function_wrong_type(call, index, buffer_text(&text), err);
    buffer_fini(&text);
    return status;
}

/* ---- fitting ---- */

static bool class_accepts(enum want_class class_, const struct type *type)
{
    switch (class_) {
    case CLASS_ANY:
    case CLASS_ORDERABLE:
        return true;
    case CLASS_NUMERIC:
        return type_is_numeric(type);
    case CLASS_INTEGRAL:
        return type_is_integral(type);
    case CLASS_FRACTIONAL:
        return type->id == TYPE_FLOAT || type->id == TYPE_DOUBLE || type->id == TYPE_DECIMAL;
    case CLASS_ATOMIC:
        return !type_is_nested(type) && type->id != TYPE_VOID && type->id != TYPE_INTERVAL;
    case CLASS_DECIMAL:
        return type->id == TYPE_DECIMAL;
    case CLASS_ARRAY:
        return type->id == TYPE_ARRAY;
    case CLASS_MAP:
        return type->id == TYPE_MAP;
    case CLASS_STRUCT:
        return type->id == TYPE_STRUCT;
    case CLASS_TIMESTAMPS:
        return type->id == TYPE_TIMESTAMP || type->id == TYPE_TIMESTAMP_NTZ;
    case CLASS_DAY_TIME:
        return type->id == TYPE_INTERVAL_DT;
    case CLASS_YEAR_MONTH:
        return type->id == TYPE_INTERVAL_YM;
    }
    return false;
}

static bool accepts(const struct signature *signature, int16_t index, const struct type *type)
{
    const struct want *want = &signature->wants[index];
    switch (want->kind) {
    case WANT_TYPE:
        return type->id == want->id;
    case WANT_CLASS:
        return class_accepts(want->class_, type);
    case WANT_VARIABLE:
    case WANT_ARGUMENT:
        return true;
    case WANT_ARRAY:
        return type->id == TYPE_ARRAY && accepts(signature, want->first, type->element);
    case WANT_MAP:
        return type->id == TYPE_MAP && accepts(signature, want->first, type->key) &&
               accepts(signature, want->second, type->element);
    case WANT_CHOICE:
        return accepts(signature, want->first, type) || accepts(signature, want->second, type);
    }
    return false;
}

/* What NULL becomes where a class is wanted. */
static const struct type *class_default(struct resolve_context *ctx, enum want_class class_)
{
    switch (class_) {
    case CLASS_ANY:
    case CLASS_ORDERABLE:
    case CLASS_ATOMIC:
        return type_simple(TYPE_VOID);
    case CLASS_NUMERIC:
    case CLASS_FRACTIONAL:
        return type_simple(TYPE_DOUBLE);
    case CLASS_INTEGRAL:
        return type_simple(TYPE_INT);
    case CLASS_DECIMAL:
        return type_decimal(ctx->arena, 38, 18);
    case CLASS_ARRAY:
        return type_array(ctx->arena, type_simple(TYPE_VOID), true);
    case CLASS_MAP:
        return type_map(ctx->arena, type_simple(TYPE_VOID), type_simple(TYPE_VOID), true);
    case CLASS_STRUCT:
        return type_struct(ctx->arena, NULL, 0);
    case CLASS_TIMESTAMPS:
        return type_simple(TYPE_TIMESTAMP);
    case CLASS_DAY_TIME:
        return type_simple(TYPE_INTERVAL_DT);
    case CLASS_YEAR_MONTH:
        return type_simple(TYPE_INTERVAL_YM);
    }
    return NULL;
}

static const struct type *cast_to_class(struct resolve_context *ctx, enum want_class class_,
                                        const struct type *type)
{
    if (type->id == TYPE_VOID)
        return class_default(ctx, class_);
    if (type->id == TYPE_STRING) {
        if (class_ == CLASS_NUMERIC || class_ == CLASS_FRACTIONAL)
            return type_simple(TYPE_DOUBLE);
        if (class_ == CLASS_DECIMAL)
            return type_decimal(ctx->arena, 38, 18);
        if (class_ == CLASS_TIMESTAMPS || class_ == CLASS_DAY_TIME || class_ == CLASS_YEAR_MONTH)
            return class_default(ctx, class_);
    }
    if (class_ == CLASS_DECIMAL && type_is_numeric(type))
        return coercion_decimal_of(ctx, type);
    if (class_ == CLASS_TIMESTAMPS && type->id == TYPE_DATE)
        return type_simple(TYPE_TIMESTAMP);
    return NULL;
}

/* The type to cast to, NULL if there is none. */
static const struct type *fit(struct resolve_context *ctx, const struct signature *signature,
                              int16_t index, const struct type *type);

static const struct type *fit_choice(struct resolve_context *ctx, const struct signature *signature,
                                     int16_t index, const struct type *type)
{
    const struct type *found[8];
    uint32_t count = 0;
    for (;;) {
        const struct want *want = &signature->wants[index];
        bool more = want->kind == WANT_CHOICE;
        const struct type *to = fit(ctx, signature, more ? want->first : index, type);
        if (to != NULL && count < 8)
            found[count++] = to;
        if (!more)
            break;
        index = want->second;
    }
    for (uint32_t i = 0; ctx->ansi && i < count; i++) {
        bool closest = true;
        for (uint32_t j = 0; j < count && closest; j++)
            closest = coercion_can_cast_implicitly(ctx, found[i], found[j]);
        if (!closest)
            continue;
        for (uint32_t j = 0; j < count && found[i]->id == TYPE_FLOAT; j++) {
            if (found[j]->id == TYPE_DOUBLE)
                return found[j];
        }
        return found[i];
    }
    return count == 0 ? NULL : found[0];
}

static const struct type *fit(struct resolve_context *ctx, const struct signature *signature,
                              int16_t index, const struct type *type)
{
    if (accepts(signature, index, type))
        return type;
    const struct want *want = &signature->wants[index];
    switch (want->kind) {
    case WANT_TYPE: {
        const struct type *to = type_simple(want->id);
        return coercion_can_cast_implicitly(ctx, type, to) ? to : NULL;
    }
    case WANT_CLASS:
        return cast_to_class(ctx, want->class_, type);
    case WANT_VARIABLE:
    case WANT_ARGUMENT:
        return type;
    case WANT_ARRAY: {
        bool null = type->id == TYPE_VOID;
        if (type->id != TYPE_ARRAY && !null)
            return NULL;
        const struct type *element = fit(ctx, signature, want->first, null ? type : type->element);
        return element == NULL ? NULL
                               : type_array(ctx->arena, element, null || type->element_nullable);
    }
    case WANT_MAP: {
        bool null = type->id == TYPE_VOID;
        if (type->id != TYPE_MAP && !null)
            return NULL;
        const struct type *key = fit(ctx, signature, want->first, null ? type : type->key);
        const struct type *value = fit(ctx, signature, want->second, null ? type : type->element);
        if (key == NULL || value == NULL)
            return NULL;
        return type_map(ctx->arena, key, value, null || type->element_nullable);
    }
    case WANT_CHOICE:
        return fit_choice(ctx, signature, index, type);
    }
    return NULL;
}

/* ---- variables ---- */

struct variables {
    const struct type *types[VARIABLE_COUNT];
    bool failed[VARIABLE_COUNT];
};

/* Adds what an argument says about the variables. */
static void learn(struct resolve_context *ctx, const struct signature *signature, int16_t index,
                  const struct type *type, struct variables *variables)
{
    const struct want *want = &signature->wants[index];
    if (want->kind == WANT_ARRAY && type->id == TYPE_ARRAY)
        learn(ctx, signature, want->first, type->element, variables);
    if (want->kind == WANT_MAP && type->id == TYPE_MAP) {
        learn(ctx, signature, want->first, type->key, variables);
        learn(ctx, signature, want->second, type->element, variables);
    }
    if (want->kind != WANT_VARIABLE)
        return;
    const struct type **known = &variables->types[want->variable];
    const struct type *common = *known == NULL ? type : coercion_common(ctx, *known, type);
    if (common == NULL)
        variables->failed[want->variable] = true;
    else
        *known = common;
}

/* The type the argument must get once the variables are known. */
static const struct type *instantiate(struct resolve_context *ctx,
                                      const struct signature *signature, int16_t index,
                                      const struct type *type, const struct variables *variables)
{
    const struct want *want = &signature->wants[index];
    switch (want->kind) {
    case WANT_TYPE:
        return type != NULL && type->id == want->id ? type : type_simple(want->id);
    case WANT_VARIABLE:
        return variables->types[want->variable] == NULL ? type_simple(TYPE_VOID)
                                                        : variables->types[want->variable];
    case WANT_ARRAY: {
        bool known = type != NULL && type->id == TYPE_ARRAY;
        return type_array(
            ctx->arena,
            instantiate(ctx, signature, want->first, known ? type->element : NULL, variables),
            !known || type->element_nullable);
    }
    case WANT_MAP: {
        bool known = type != NULL && type->id == TYPE_MAP;
        return type_map(
            ctx->arena,
            instantiate(ctx, signature, want->first, known ? type->key : NULL, variables),
            instantiate(ctx, signature, want->second, known ? type->element : NULL, variables),
            !known || type->element_nullable);
    }
    case WANT_CLASS:
    case WANT_CHOICE:
    case WANT_ARGUMENT:
        return type;
    }
    return type;
}

static bool has_variable(const struct signature *signature, int16_t index)
{
    const struct want *want = &signature->wants[index];
    if (want->kind == WANT_VARIABLE)
        return true;
    if (want->kind == WANT_ARRAY)
        return has_variable(signature, want->first);
    return want->kind == WANT_MAP &&
           (has_variable(signature, want->first) || has_variable(signature, want->second));
}

/* ---- applying ---- */

static const struct param *param_of(const struct signature *signature, uint32_t index)
{
    return &signature->params[index < signature->param_count ? index : signature->param_count - 1];
}

static struct expr *default_value(struct resolve_context *ctx, const struct param *param)
{
    const char *text = (const char *)param->value.data;
    if (*text == '\'')
        return expr_literal_string(ctx->arena, bytes_of(text + 1, param->value.size_bytes - 2));
    if (*text == 't' || *text == 'f')
        return expr_literal_boolean(ctx->arena, *text == 't');
    if (*text == 'n')
        return expr_null(ctx->arena, type_simple(TYPE_VOID));
    return expr_literal_int(ctx->arena, (int32_t)strtol(text, NULL, 10));
}

/* A constant number may become any number, also a narrower one: what does not fit is an error
 * (or is cut) when it is cast. */
static const struct type *narrowed(const struct signature *signature, int16_t index,
                                   const struct expr *arg)
{
    const struct want *want = &signature->wants[index];
    if (want->kind != WANT_TYPE || !type_is_numeric(arg->type) || !expr_is_foldable(arg))
        return NULL;
    const struct type *to = type_simple(want->id);
    return type_is_numeric(to) ? to : NULL;
}

static bool is_exact(const struct expr *call)
{
    return call->kind == EXPR_CALL && (call->call.function->flags & FUNCTION_EXACT) != 0;
}

static enum status check_args(struct resolve_context *ctx, const struct signature *signature,
                              struct expr *call, struct error *err)
{
    const struct type *types[64];
    CHECK(signature->param_count > 0 || call->arg_count == 0);
    for (uint32_t i = 0; i < call->arg_count; i++) {
        const struct param *param = param_of(signature, i);
        const struct type *from = call->args[i]->type;
        CHECK(from != NULL);
        const struct type *type = fit(ctx, signature, param->want, from);
        if (type == NULL)
            type = narrowed(signature, param->want, call->args[i]);
        bool null = from->id == TYPE_VOID;
        if (is_exact(call) && (!null || call->call.function->kind == FUNCTION_WINDOW) &&
            !accepts(signature, param->want, from))
            type = NULL;
        if (type == NULL)
            return wrong_type(signature, call, i, param->want, err);
        if (i < 64)
            types[i] = type;
        else
            call->args[i] = coercion_cast(ctx, call->args[i], type);
    }
    for (uint32_t i = 0; i < call->arg_count; i++) {
        const struct param *param = param_of(signature, i);
        if (param->constant && !expr_is_foldable(call->args[i]))
            return function_not_foldable(
                call, i, arena_strndup(ctx->arena, param->name.data, param->name.size_bytes), err);
        if (signature->wants[param->want].kind == WANT_CLASS &&
            signature->wants[param->want].class_ == CLASS_ORDERABLE &&
            !type_is_orderable(call->args[i]->type))
            return function_not_orderable(call, call->args[i]->type, err);
    }
    for (uint32_t i = 0; i < call->arg_count && i < 64; i++)
        call->args[i] = coercion_cast(ctx, call->args[i], types[i]);
    return OK;
}

static enum status unify_variables(struct resolve_context *ctx, const struct signature *signature,
                                   struct expr *call, struct variables *variables,
                                   struct error *err)
{
    for (uint32_t i = 0; i < call->arg_count; i++)
        learn(ctx, signature, param_of(signature, i)->want, call->args[i]->type, variables);
    for (int i = 0; i < VARIABLE_COUNT; i++) {
        if (variables->failed[i])
            return function_diff_types(call, err);
    }
    for (uint32_t i = 0; i < call->arg_count; i++) {
        int16_t want = param_of(signature, i)->want;
        if (has_variable(signature, want))
            call->args[i] =
                coercion_cast(ctx, call->args[i],
                              instantiate(ctx, signature, want, call->args[i]->type, variables));
    }
    return OK;
}

enum status signature_apply(struct resolve_context *ctx, const struct signature *signature,
                            struct expr *call, const struct type **type, struct error *err)
{
    for (uint32_t i = call->arg_count; i < signature->param_count; i++) {
        if (signature->params[i].count != PARAM_DEFAULT)
            break;
        function_add_arg(ctx, call, default_value(ctx, &signature->params[i]));
    }
    TRY(check_args(ctx, signature, call, err));
    struct variables variables = {0};
    TRY(unify_variables(ctx, signature, call, &variables, err));
    const struct want *result = &signature->wants[signature->result];
    if (result->kind == WANT_ARGUMENT) {
        CHECK(result->variable < call->arg_count);
        *type = call->args[result->variable]->type;
    } else {
        *type = instantiate(ctx, signature, signature->result, NULL, &variables);
    }
    return OK;
}
