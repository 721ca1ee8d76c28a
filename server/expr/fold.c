/* Constants at analysis time. */
#include "columnar/timezone.h"
#include "expr/function.h"
#include "expr/program.h"

enum status expr_constant(struct arena *arena, const struct expr *expr, const char *time_zone,
                          struct vector **out, struct error *err)
{
    if (expr->kind == EXPR_LITERAL) {
        *out = expr->literal.value;
        return OK;
    }
    const struct expr_program *program;
    struct expr_state *state;
    struct expr *copy = expr_copy(arena, expr);
    TRY(expr_compile(arena, &copy, 1, &program, err));
    TRY(expr_state_new(arena, program, &state, err));
    struct eval_context ctx = {.arena = arena,
                               .zone = timezone_utc(),
                               .time_zone = time_zone == NULL ? "UTC" : time_zone,
                               .input_file = "",
                               .user = "",
                               .database = "default"};
    TRY(timezone_find(bytes_of_text(ctx.time_zone), &ctx.zone, err));
    struct batch batch = {.rows = 1, .selected = 1};
    struct vector *value;
    TRY(expr_eval(program, state, &ctx, &batch, &value, err));
    struct vector *constant = arena_new_object(arena, sizeof *constant);
    *constant = *value;
    constant->constant = true;
    constant->length = 1;
    *out = constant;
    return OK;
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
    struct error err = ERROR_INIT;
    struct vector *value;
    struct expr *literal;
    if (is_null_by_argument(expr))
        literal = expr_null(arena, expr->type);
    else if ((expr->kind == EXPR_CALL || expr->kind == EXPR_CAST) && expr_is_foldable(expr) &&
             expr_constant(arena, expr, arg, &value, &err) == OK)
        literal = expr_literal(arena, value);
    else
        return expr;
    literal->type = expr->type;
    literal->position = expr->position;
    literal->position_end = expr->position_end;
    return literal;
}

struct expr *expr_fold(struct arena *arena, struct expr *expr, const char *time_zone)
{
    const void *zone = time_zone;
    return expr_rewrite(arena, expr, fold_one, (void *)(uintptr_t)zone);
}
