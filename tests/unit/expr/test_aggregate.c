/*
 * Every aggregate function gives the same result computed at once, in two parts that are merged,
 * and from states that have been written out and read back.
 */
#include "columnar/value_text.h"
#include "expr/aggregate.h"
#include "expr/function.h"
#include "expr/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define ROWS 600

static void fill(struct vector *vector, const struct type *type, struct arena *arena)
{
    for (uint32_t row = 0; row < ROWS; row++) {
        int value = (int)(row * 37 % 101) - 50;
        switch ((int)type->id) {
        case TYPE_BOOLEAN:
            VECTOR_VALUES(uint8_t, vector)[row] = value > 0;
            break;
        case TYPE_INT:
            VECTOR_VALUES(int32_t, vector)[row] = value;
            break;
        case TYPE_LONG:
            VECTOR_VALUES(int64_t, vector)[row] = value;
            break;
        case TYPE_DOUBLE:
            VECTOR_VALUES(double, vector)[row] = value * 0.5;
            break;
        case TYPE_DECIMAL:
            VECTOR_VALUES(int128, vector)[row] = value * 7;
            break;
        case TYPE_STRING:
            VECTOR_VALUES(struct bytes, vector)
            [row] = bytes_of_text(arena_sprintf(arena, "text %d", value));
            break;
        default:
            fail();
        }
        if (row % 11 == 3)
            vector_set_null(vector, row);
    }
}

static struct expr *argument(struct arena *arena, const struct type *type)
{
    if (type->id == TYPE_VOID) /* stands for a percentage */
        return expr_literal_int(arena, 1);
    return expr_column(arena, 1, "x", type, true);
}

struct run {
    struct arena *arena;
    struct expr *expr;
    struct eval_context ctx;
    struct vector *args[3];
    uint32_t arg_count;
};

static void update(struct run *run, uint32_t first, uint32_t last, uint8_t *state)
{
    static uint16_t selection[ROWS];
    for (uint32_t i = first; i < last; i++)
        selection[i - first] = (uint16_t)i;
    struct aggregate_update update = {
        .ctx = &run->ctx,
        .expr = run->expr,
        .args = run->args,
        .arg_count = run->arg_count,
        .selection = selection,
        .rows = ROWS,
        .selected = last - first,
        .state = state,
        .arena = run->arena,
    };
    struct error err = ERROR_INIT;
    assert_int_equal(aggregate_update(&update, &err), OK);
}

static uint8_t *new_state(struct run *run)
{
    uint8_t *state = arena_new_object(run->arena, aggregate_state_bytes(run->expr));
    aggregate_init(run->expr, state);
    return state;
}

static const char *finish(struct run *run, uint8_t *state)
{
    struct error err = ERROR_INIT;
    struct aggregate_update call = {.ctx = &run->ctx, .expr = run->expr, .arena = run->arena};
    struct vector *out;
    assert_int_equal(vector_new(run->arena, run->expr->type, 1, &out, &err), OK);
    uint8_t *states[] = {state};
    assert_int_equal(run->expr->aggregate.aggregate->ops->finish(&call, states, 1, out, &err), OK);
    if (vector_is_null(out, 0))
        return "NULL";
    struct buffer text = {0};
    value_text_print(&text, out, 0, timezone_utc());
    const char *copy = arena_strndup(run->arena, text.data, text.size_bytes);
    buffer_fini(&text);
    return copy;
}

static uint8_t *saved_and_loaded(struct run *run, const uint8_t *state)
{
    struct error err = ERROR_INIT;
    const struct aggregate_ops *ops = run->expr->aggregate.aggregate->ops;
    struct buffer bytes = {0};
    ops->save(run->expr, state, &bytes);
    uint8_t *copy = new_state(run);
    assert_int_equal(ops->load(run->expr, run->arena, buffer_bytes(&bytes), copy, &err), OK);
    if (bytes.size_bytes > 0) {
        uint8_t *broken = new_state(run);
        struct error damage = ERROR_INIT;
        struct bytes cut = bytes_of(bytes.data, bytes.size_bytes - 1);
        assert_int_equal(ops->load(run->expr, run->arena, cut, broken, &damage),
                         STATUS_CHECKSUM_MISMATCH);
    }
    buffer_fini(&bytes);
    return copy;
}

static bool same_number(const char *a, const char *b)
{
    double x = strtod(a, NULL);
    double y = strtod(b, NULL);
    double size = x < 0 ? -x : x;
    double gap = x - y < 0 ? y - x : x - y;
    return gap <= 1e-9 * (size + 1);
}

static void check(const char *name, enum type_id first, enum type_id second)
{
    struct run run = {.arena = arena_new("test", 0)};
    run.ctx = (struct eval_context){.arena = run.arena, .zone = timezone_utc(), .time_zone = "UTC"};
    struct resolve_context ctx;
    resolve_context_init(&ctx, run.arena);
    bool one = second == TYPE_ARRAY;
    const struct type *types[2] = {first == TYPE_DECIMAL ? type_decimal(run.arena, 10, 2)
                                                         : type_simple(first),
                                   one ? NULL : type_simple(second)};
    struct expr *args[2] = {argument(run.arena, types[0]),
                            one ? NULL : argument(run.arena, types[1])};
    struct aggregate_call call = {.name = name, .args = args, .arg_count = one ? 1 : 2};
    struct error err = ERROR_INIT;
    enum status status = aggregate_resolve(&ctx, &call, &run.expr, &err);
    if (status != OK)
        print_message("%s: %s\n", name, err.text);
    assert_int_equal(status, OK);
    run.arg_count = run.expr->arg_count;
    for (uint32_t i = 0; i < run.arg_count; i++) {
        const struct expr *arg = run.expr->args[i];
        if (expr_is_foldable(arg)) {
            assert_int_equal(expr_constant(run.arena, arg, "UTC", &run.args[i], &err), OK);
            continue;
        }
        assert_int_equal(vector_new(run.arena, arg->type, ROWS, &run.args[i], &err), OK);
        assert_int_equal(vector_make_nullable(run.arena, run.args[i], &err), OK);
        fill(run.args[i], arg->type, run.arena);
    }
    uint8_t *whole = new_state(&run);
    update(&run, 0, ROWS, whole);
    uint8_t *left = new_state(&run);
    uint8_t *right = new_state(&run);
    update(&run, 0, 217, left);
    update(&run, 217, ROWS, right);
    left = saved_and_loaded(&run, left);
    assert_int_equal(
        run.expr->aggregate.aggregate->ops->merge(run.expr, run.arena, left, right, &err), OK);
    const char *expected = finish(&run, whole);
    const char *merged = finish(&run, left);
    bool number = run.expr->type->id == TYPE_DOUBLE;
    if (strcmp(expected, merged) != 0 && !(number && same_number(expected, merged))) {
        print_message("%s: %s at once, %s merged\n", name, expected, merged);
        fail();
    }
    arena_free(run.arena);
}

static void test_one_argument(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum type_id type;
    } calls[] = {
        {"count", TYPE_INT},
        {"count_if", TYPE_BOOLEAN},
        {"sum", TYPE_INT},
        {"sum", TYPE_DOUBLE},
        {"sum", TYPE_DECIMAL},
        {"try_sum", TYPE_LONG},
        {"avg", TYPE_INT},
        {"avg", TYPE_DECIMAL},
        {"try_avg", TYPE_DOUBLE},
        {"min", TYPE_INT},
        {"max", TYPE_DOUBLE},
        {"min", TYPE_STRING},
        {"max", TYPE_STRING},
        {"max", TYPE_DECIMAL},
        {"first", TYPE_STRING},
        {"last", TYPE_INT},
        {"any_value", TYPE_DOUBLE},
        {"bool_and", TYPE_BOOLEAN},
        {"some", TYPE_BOOLEAN},
        {"bit_and", TYPE_INT},
        {"bit_or", TYPE_LONG},
        {"bit_xor", TYPE_INT},
        {"stddev", TYPE_DOUBLE},
        {"stddev_pop", TYPE_DOUBLE},
        {"variance", TYPE_DOUBLE},
        {"var_pop", TYPE_DOUBLE},
        {"skewness", TYPE_DOUBLE},
        {"kurtosis", TYPE_DOUBLE},
        {"collect_list", TYPE_INT},
        {"collect_list", TYPE_STRING},
        {"collect_set", TYPE_STRING},
        {"collect_set", TYPE_INT},
        {"listagg", TYPE_STRING},
        {"mode", TYPE_INT},
        {"median", TYPE_DOUBLE},
        {"approx_count_distinct", TYPE_INT},
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        check(calls[i].name, calls[i].type, TYPE_ARRAY);
}

static void test_two_arguments(void **state)
{
    (void)state;
    static const char *const pairs[] = {
        "corr",     "covar_pop", "covar_samp", "regr_count",     "regr_avgx", "regr_avgy",
        "regr_sxx", "regr_syy",  "regr_sxy",   "regr_intercept", "regr_r2",   "regr_slope",
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        check(pairs[i], TYPE_DOUBLE, TYPE_DOUBLE);
    check("max_by", TYPE_STRING, TYPE_INT);
    check("min_by", TYPE_INT, TYPE_DOUBLE);
    check("percentile", TYPE_INT, TYPE_VOID);
    check("percentile_approx", TYPE_DOUBLE, TYPE_VOID);
}

/* Many distinct values: the state stays small and the answer within the accuracy. */
static void test_approximate_percentile(void **state)
{
    (void)state;
    struct arena *arena = arena_new("test", 0);
    struct resolve_context ctx;
    resolve_context_init(&ctx, arena);
    struct error err = ERROR_INIT;
    struct run run = {.arena = arena, .arg_count = 3};
    run.ctx = (struct eval_context){.arena = arena, .zone = timezone_utc(), .time_zone = "UTC"};
    struct expr *args[] = {expr_column(arena, 1, "x", type_simple(TYPE_LONG), true),
                           expr_literal_int(arena, 1), expr_literal_int(arena, 20)};
    struct aggregate_call call = {.name = "percentile_approx", .args = args, .arg_count = 3};
    assert_int_equal(aggregate_resolve(&ctx, &call, &run.expr, &err), OK);
    uint8_t *sketch = new_state(&run);
    for (int batch = 0; batch < 100; batch++) {
        assert_int_equal(vector_new(arena, type_simple(TYPE_LONG), ROWS, &run.args[0], &err), OK);
        for (int row = 0; row < ROWS; row++)
            VECTOR_VALUES(int64_t, run.args[0])[row] = (int64_t)batch + (int64_t)row * 100;
        for (uint32_t i = 1; i < 3; i++)
            run.args[i] = args[i]->literal.value;
        update(&run, 0, ROWS, sketch);
    }
    struct buffer bytes = {0};
    run.expr->aggregate.aggregate->ops->save(run.expr, sketch, &bytes);
    assert_true(bytes.size_bytes < 20000);
    buffer_fini(&bytes);
    assert_string_equal(finish(&run, sketch), "59999");
    arena_free(arena);
}

static void expect_error(const char *name, struct expr *const *args, uint32_t count,
                         struct resolve_context *ctx, enum status expected)
{
    struct error err = ERROR_INIT;
    struct expr *copy[4] = {NULL};
    for (uint32_t i = 0; i < count; i++)
        copy[i] = args[i];
    struct aggregate_call call = {.name = name, .args = copy, .arg_count = count};
    struct expr *out;
    assert_int_equal(aggregate_resolve(ctx, &call, &out, &err), expected);
}

static void test_errors(void **state)
{
    (void)state;
    struct arena *arena = arena_new("test", 0);
    struct resolve_context ctx;
    resolve_context_init(&ctx, arena);
    struct expr *flag[] = {expr_literal_boolean(arena, true)};
    struct expr *number[] = {expr_literal_int(arena, 1)};
    struct expr *sketch[] = {number[0], expr_literal_int(arena, 0)};
    expect_error("sum", flag, 1, &ctx, STATUS_DATATYPE_MISMATCH__UNEXPECTED_INPUT_TYPE);
    expect_error("bool_and", number, 1, &ctx, STATUS_DATATYPE_MISMATCH__UNEXPECTED_INPUT_TYPE);
    expect_error("count", NULL, 0, &ctx, STATUS_WRONG_NUM_ARGS__WITH_SUGGESTION);
    expect_error("max", number, 0, &ctx, STATUS_WRONG_NUM_ARGS__WITHOUT_SUGGESTION);
    expect_error("percentile_cont", number, 1, &ctx,
                 STATUS_INVALID_WITHIN_GROUP_EXPRESSION__WITHIN_GROUP_MISSING);
    expect_error("approx_count_distinct", sketch, 2, &ctx, STATUS__LEGACY_ERROR_TEMP_1104);
    expect_error("nosuch", number, 1, &ctx, STATUS_UNRESOLVED_ROUTINE);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_argument),
        cmocka_unit_test(test_two_arguments),
        cmocka_unit_test(test_approximate_percentile),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
