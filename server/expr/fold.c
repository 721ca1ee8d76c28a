/*
 * Constants at analysis time.
 *
 * A few characters can ask for terabytes, as array_repeat(repeat('a', 1000000), 1000000) does, and
 * it is the server that analyses them, for all.  So a constant is computed here only if it, and
 * what it is computed from, is small; and not if it calls a lambda, which may make anything of
 * little.  Others are computed where the query runs.
 *
 * What a call needs on the way is limited, too: by an arena of its own, by the limit of the buffers
 * (base/buffer.h) that its evaluation sets, and for those that know it before by what they ask
 * kernel_check_text(), kernel_check_elements() and kernel_check_work().
 */
#include "columnar/timezone.h"
#include "columnar/vector_bytes.h"
#include "expr/function.h"
#include "expr/program.h"

#define SMALL_BYTES ((size_t)64 << 10)  /* what two texts make of each other is their product */
#define BUILT_BYTES ((size_t)256 << 10) /* on the way */

/* About the bytes of a value as a text; of a large one, some number above SMALL_BYTES. */
static size_t value_bytes(const struct vector *vector, uint32_t row)
{
    size_t bytes = type_value_bytes(vector->type);
    if (vector_is_null(vector, row))
        return bytes;
    uint32_t at = vector_index(vector, row);
    struct list_entry list = {0};
    switch (vector->type->id) {
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_VARIANT:
        return bytes + VECTOR_VALUES(struct bytes, vector)[at].size_bytes;
    case TYPE_STRUCT:
        list = (struct list_entry){.offset = at, .length = 1};
        break;
    case TYPE_ARRAY:
    case TYPE_MAP:
        list = VECTOR_VALUES(struct list_entry, vector)[at];
        break;
    default:
        return bytes;
    }
    for (uint32_t i = 0; i < list.length && bytes <= SMALL_BYTES; i++)
        for (uint32_t c = 0; c < vector->child_count; c++)
            bytes += value_bytes(vector->children[c], (uint32_t)list.offset + i);
    return bytes;
}

/* A constant that is not computed here. */
struct large {
    const struct expr *expr;
    struct large *before;
};

struct folding {
    const char *time_zone;
    struct large *large; /* the last found first: what is asked for is near */
};

static bool is_large(const struct folding *folding, const struct expr *expr)
{
    const struct large *large = folding->large;
    while (large != NULL && large->expr != expr)
        large = large->before;
    return large != NULL;
}

static struct expr *note_large(struct arena *arena, struct folding *folding, struct expr *expr)
{
    struct large *large = arena_new_object(arena, sizeof *large);
    *large = (struct large){.expr = expr, .before = folding->large};
    folding->large = large;
    return expr;
}

static bool args_are_small(const struct folding *folding, const struct expr *expr)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        const struct expr *arg = expr->args[i];
        if (arg->kind == EXPR_LAMBDA || (arg->kind != EXPR_LITERAL && is_large(folding, arg)))
            return false;
        if (arg->kind == EXPR_LITERAL)
            bytes += value_bytes(arg->literal.value, 0);
    }
    return bytes <= SMALL_BYTES;
}

/* *out is in `scratch`, or the literal's. */
static enum status evaluate(struct arena *scratch, const struct expr *expr, const char *time_zone,
                            struct vector **out, struct error *err)
{
    const struct expr_program *program;
    struct expr_state *state;
    struct expr *copy = expr_copy(scratch, expr);
    TRY(expr_compile(scratch, &copy, 1, &program, err));
    TRY(expr_state_new(scratch, program, &state, err));
    struct eval_context ctx = {.arena = scratch,
                               .zone = timezone_utc(),
                               .time_zone = time_zone == NULL ? "UTC" : time_zone,
                               .input_file = "",
                               .user = "",
                               .database = "default",
                               .bytes_max = BUILT_BYTES};
    TRY(timezone_find(bytes_of_text(ctx.time_zone), &ctx.zone, err));
    struct batch batch = {.rows = 1, .selected = 1};
    return expr_eval(program, state, &ctx, &batch, out, err);
}

static enum status copy_constant(struct arena *arena, const struct vector *value,
                                 struct vector **out, struct error *err)
{
    struct buffer bytes = {0};
    struct vector one = *value;
    one.constant = true;
    one.length = 1;
    vector_save(&one, &bytes);
    struct bytes rest = buffer_bytes(&bytes);
    enum status status = vector_load(arena, value->type, &rest, out, err);
    buffer_fini(&bytes);
    return status;
}

/* *out is NULL if the value is above `most` bytes. */
static enum status compute(struct arena *arena, const struct expr *expr, const char *time_zone,
                           size_t most, struct vector **out, struct error *err)
{
    struct arena *scratch = arena_new("constant", 8 * BUILT_BYTES);
    struct vector *value = NULL;
    enum status status = evaluate(scratch, expr, time_zone, &value, err);
    *out = NULL;
    if (status == OK && value_bytes(value, 0) <= most)
        status = copy_constant(arena, value, out, err);
    arena_free(scratch);
    return status;
}

/* A call with an argument that is the constant NULL, whatever the others are. */
static bool is_null_by_argument(const struct expr *expr)
{
    if (!function_stops_at_null(expr))
        return false;
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        const struct expr *arg = expr->args[i];
        if (arg->kind == EXPR_LITERAL && vector_is_null(arg->literal.value, 0))
            return true;
    }
    return false;
}

static struct expr *fold_one(struct arena *arena, struct expr *expr, void *arg)
{
    struct folding *folding = arg;
    struct error err = ERROR_INIT;
    struct vector *value;
    struct expr *literal;
    if (is_null_by_argument(expr)) {
        literal = expr_null(arena, expr->type);
    } else {
        if ((expr->kind != EXPR_CALL && expr->kind != EXPR_CAST) || !expr_is_foldable(expr))
            return expr;
        if (!args_are_small(folding, expr))
            return note_large(arena, folding, expr);
        enum status status = compute(arena, expr, folding->time_zone, SMALL_BYTES, &value, &err);
        if (status == STATUS_LIMIT_EXCEEDED || (status == OK && value == NULL))
            return note_large(arena, folding, expr);
        if (status != OK)
            return expr;
        literal = expr_literal(arena, value);
    }
    literal->type = expr->type;
    literal->position = expr->position;
    literal->position_end = expr->position_end;
    return literal;
}

struct expr *expr_fold(struct arena *arena, struct expr *expr, const char *time_zone)
{
    struct folding folding = {.time_zone = time_zone};
    return expr_rewrite(arena, expr, fold_one, &folding);
}

enum status expr_constant(struct arena *arena, const struct expr *expr, const char *time_zone,
                          struct vector **out, struct error *err)
{
    struct folding folding = {.time_zone = time_zone};
    if (expr->kind == EXPR_LITERAL) {
        *out = expr->literal.value;
        return OK;
    }
    const struct expr *folded = expr_rewrite(arena, expr_copy(arena, expr), fold_one, &folding);
    if (folded->kind == EXPR_LITERAL) {
        *out = folded->literal.value;
        return OK;
    }
    if (is_large(&folding, folded))
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what",
                           "the bytes of a constant that has to be known before the query runs",
                           "limit", "65536", NULL);
    return compute(arena, folded, time_zone, SIZE_MAX, out, err);
}
