/* Programs and filters over hand-made batches. */
#include "columnar/value_text.h"
#include "expr/cast.h"
#include "expr/function.h"
#include "expr/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define ROWS 4096

/* Columns: a INT (NULL every 7th), b INT, s STRING, f BOOLEAN (NULL every 5th), l ARRAY<INT>. */
enum {
    COLUMN_A,
    COLUMN_B,
    COLUMN_S,
    COLUMN_F,
    COLUMN_L,
    COLUMN_COUNT,
};

struct fixture {
    struct arena *arena;
    struct resolve_context ctx;
    struct batch batch;
    struct vector *columns[COLUMN_COUNT];
};

static const char *const texts[] = {"view", "click", "buy", "view"};

static const struct type *column_type(struct arena *arena, int column)
{
    switch (column) {
    case COLUMN_S:
        return type_simple(TYPE_STRING);
    case COLUMN_F:
        return type_simple(TYPE_BOOLEAN);
    case COLUMN_L:
        return type_array(arena, type_simple(TYPE_INT), true);
    default:
        return type_simple(TYPE_INT);
    }
}

static void fill_lists(struct fixture *fixture)
{
    struct error err = ERROR_INIT;
    struct vector *list = fixture->columns[COLUMN_L];
    assert_int_equal(vector_resize_child(fixture->arena, list, 0, 3 * ROWS, &err), OK);
    struct vector *child = list->children[0];
    for (uint32_t i = 0; i < 3 * ROWS; i++)
        VECTOR_VALUES(int32_t, child)[i] = (int32_t)i;
    for (uint32_t row = 0; row < ROWS; row++)
        VECTOR_VALUES(struct list_entry, list)
    [row] = (struct list_entry){.offset = 3 * row, .length = row % 4};
}

static void set_up(struct fixture *fixture)
{
    struct error err = ERROR_INIT;
    *fixture = (struct fixture){.arena = arena_new("test", 0)};
    resolve_context_init(&fixture->ctx, fixture->arena);
    for (int c = 0; c < COLUMN_COUNT; c++)
        assert_int_equal(vector_new(fixture->arena, column_type(fixture->arena, c), ROWS,
                                    &fixture->columns[c], &err),
                         OK);
    assert_int_equal(vector_make_nullable(fixture->arena, fixture->columns[COLUMN_A], &err), OK);
    assert_int_equal(vector_make_nullable(fixture->arena, fixture->columns[COLUMN_F], &err), OK);
    for (uint32_t row = 0; row < ROWS; row++) {
        VECTOR_VALUES(int32_t, fixture->columns[COLUMN_A])[row] = (int32_t)row - 2000;
        VECTOR_VALUES(int32_t, fixture->columns[COLUMN_B])[row] = (int32_t)(row % 10);
        VECTOR_VALUES(struct bytes, fixture->columns[COLUMN_S])
        [row] = bytes_of_text(texts[row % 4]);
        VECTOR_VALUES(uint8_t, fixture->columns[COLUMN_F])[row] = row % 3 == 0;
        if (row % 7 == 0)
            vector_set_null(fixture->columns[COLUMN_A], row);
        if (row % 5 == 0)
            vector_set_null(fixture->columns[COLUMN_F], row);
    }
    fill_lists(fixture);
    fixture->batch = (struct batch){.columns = fixture->columns, .rows = ROWS, .selected = ROWS};
}

static struct expr *column(struct fixture *fixture, int index)
{
    static const char *const names[] = {"a", "b", "s", "f", "l"};
    struct expr *expr = expr_column(fixture->arena, (uint32_t)index, names[index],
                                    column_type(fixture->arena, index), true);
    expr->column.ordinal = index;
    return expr;
}

static struct expr *integer(struct fixture *fixture, int32_t value)
{
    return expr_literal_int(fixture->arena, value);
}

static struct expr *text(struct fixture *fixture, const char *value)
{
    return expr_literal_string(fixture->arena, bytes_of_text(value));
}

static struct expr *call(struct fixture *fixture, const char *name, struct expr *a, struct expr *b,
                         struct expr *c)
{
    struct error err = ERROR_INIT;
    struct expr *args[] = {a, b, c};
    struct function_call request = {.name = name,
                                    .args = args,
                                    .arg_count = c != NULL   ? 3
                                                 : b != NULL ? 2
                                                             : 1};
    struct expr *out = NULL;
    enum status status = function_resolve(&fixture->ctx, &request, &out, &err);
    if (status != OK)
        print_message("%s: %s\n", name, err.text);
    assert_int_equal(status, OK);
    return out;
}

static enum status evaluate(struct fixture *fixture, struct expr *expr, struct vector **out,
                            struct error *err)
{
    const struct expr_program *program;
    struct expr_state *state;
    struct eval_context ctx = {
        .arena = fixture->arena, .zone = timezone_utc(), .time_zone = "UTC", .input_file = ""};
    TRY(expr_compile(fixture->arena, &expr, 1, &program, err));
    TRY(expr_state_new(fixture->arena, program, &state, err));
    return expr_eval(program, state, &ctx, &fixture->batch, out, err);
}

static void assert_cell(const struct vector *vector, uint32_t row, const char *expected)
{
    struct buffer printed = {0};
    if (vector_is_null(vector, row))
        buffer_add_text(&printed, "NULL");
    else
        value_text_print(&printed, vector, vector_index(vector, row), timezone_utc());
    assert_string_equal(buffer_text(&printed), expected);
    buffer_fini(&printed);
}

static void assert_value(struct fixture *fixture, struct expr *expr, uint32_t row,
                         const char *expected)
{
    struct error err = ERROR_INIT;
    struct vector *out = NULL;
    enum status status = evaluate(fixture, expr, &out, &err);
    if (status != OK)
        print_message("%s\n", err.text);
    assert_int_equal(status, OK);
    assert_cell(out, row, expected);
}

static void test_arithmetic(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    struct expr *sum = call(&f, "+", column(&f, COLUMN_A), column(&f, COLUMN_B), NULL);
    assert_value(&f, sum, 7, "NULL");
    assert_value(&f, sum, 4094, "2098");
    assert_value(&f, call(&f, "*", integer(&f, 6), integer(&f, 7), NULL), 12, "42");
    assert_value(&f, call(&f, "try_add", integer(&f, INT32_MAX), column(&f, COLUMN_B), NULL), 1,
                 "NULL");
    arena_free(f.arena);
}

/* An error of a row counts only if the row is selected and not NULL. */
static void test_errors_follow_the_selection(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    struct error err = ERROR_INIT;
    struct vector *out;
    struct expr *ratio = call(&f, "div", integer(&f, 100), column(&f, COLUMN_B), NULL);
    assert_int_equal(evaluate(&f, ratio, &out, &err), STATUS_DIVIDE_BY_ZERO);
    static uint16_t selection[ROWS];
    uint32_t count = 0;
    for (uint32_t row = 0; row < ROWS; row++) {
        if (row % 10 != 0)
            selection[count++] = (uint16_t)row;
    }
    f.batch.selection = selection;
    f.batch.selected = count;
    assert_int_equal(evaluate(&f, ratio, &out, &err), OK);
    assert_cell(out, 4, "25");
    struct expr *big = call(&f, "*", column(&f, COLUMN_A), integer(&f, INT32_MAX), NULL);
    error_clear(&err);
    assert_int_equal(evaluate(&f, big, &out, &err), STATUS_ARITHMETIC_OVERFLOW);
    selection[0] = 7; /* NULL in column a */
    f.batch.selected = 1;
    error_clear(&err);
    assert_int_equal(evaluate(&f, big, &out, &err), OK);
    assert_cell(out, 7, "NULL");
    arena_free(f.arena);
}

static uint16_t only_row[1];

static void select_row(struct fixture *f, uint16_t row)
{
    only_row[0] = row;
    f->batch.selection = only_row;
    f->batch.selected = 1;
}

static enum status filter_rows(struct fixture *f, struct expr *predicate, struct error *err)
{
    const struct expr_filter *filter;
    struct expr_state *state;
    struct eval_context ctx = {
        .arena = f->arena, .zone = timezone_utc(), .time_zone = "UTC", .input_file = ""};
    TRY(expr_filter_compile(f->arena, predicate, &filter, err));
    TRY(expr_filter_state_new(f->arena, filter, &state, err));
    struct batch batch = f->batch;
    return expr_filter_run(filter, state, &ctx, &batch, err);
}

/* What fails beside an argument that is NULL before it is not evaluated; after it, or where the
 * value is wanted for itself, it is. */
static void test_errors_beside_nulls(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    struct error err = ERROR_INIT;
    struct vector *out;
    struct expr *ratio = call(&f, "div", integer(&f, 100), column(&f, COLUMN_B), NULL);
    struct expr *a = call(&f, "bigint", column(&f, COLUMN_A), NULL, NULL);
    struct expr *sum = call(&f, "+", a, ratio, NULL);
    struct expr *reversed = call(&f, "+", ratio, a, NULL);
    struct expr *both = call(&f, "array", sum, ratio, NULL);
    struct expr *larger = call(&f, "<", a, ratio, NULL);
    assert_int_equal(evaluate(&f, sum, &out, &err), STATUS_DIVIDE_BY_ZERO); /* row 10 */
    select_row(&f, 70);                                                     /* a NULL, b 0 */
    error_clear(&err);
    assert_value(&f, sum, 70, "NULL");
    assert_value(&f, call(&f, "coalesce", sum, integer(&f, 5), NULL), 70, "5");
    assert_int_equal(filter_rows(&f, larger, &err), OK);
    assert_int_equal(evaluate(&f, reversed, &out, &err), STATUS_DIVIDE_BY_ZERO);
    error_clear(&err);
    assert_int_equal(evaluate(&f, both, &out, &err), STATUS_DIVIDE_BY_ZERO);
    error_clear(&err);
    select_row(&f, 10);
    assert_int_equal(filter_rows(&f, larger, &err), STATUS_DIVIDE_BY_ZERO);
    arena_free(f.arena);
}

static void test_lazy_evaluation(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    struct expr *zero = call(&f, "=", column(&f, COLUMN_B), integer(&f, 0), NULL);
    struct expr *ratio = call(&f, "div", integer(&f, 100), column(&f, COLUMN_B), NULL);
    struct expr *large = call(&f, ">", ratio, integer(&f, 20), NULL);
    assert_value(&f, call(&f, "or", zero, large, NULL), 10, "true");
    assert_value(&f, call(&f, "or", zero, large, NULL), 9, "false");
    struct expr *safe = call(&f, "if", zero, expr_null(f.arena, type_simple(TYPE_VOID)), ratio);
    assert_value(&f, safe, 20, "NULL");
    assert_value(&f, safe, 25, "20");
    struct expr *first = call(&f, "coalesce", column(&f, COLUMN_A), column(&f, COLUMN_B), NULL);
    assert_value(&f, first, 14, "4");
    assert_value(&f, first, 15, "-1985");
    struct expr *lists = call(&f, "if", column(&f, COLUMN_F), column(&f, COLUMN_L),
                              call(&f, "array", integer(&f, -1), NULL, NULL));
    assert_value(&f, lists, 3, "[9, 10, 11]");
    assert_value(&f, lists, 4, "[-1]");
    arena_free(f.arena);
}

/* The slow way: a boolean column, row by row. */
static uint32_t count_true(struct fixture *fixture, struct expr *expr)
{
    struct error err = ERROR_INIT;
    struct vector *out;
    assert_int_equal(evaluate(fixture, expr, &out, &err), OK);
    uint32_t count = 0;
    for (uint32_t row = 0; row < ROWS; row++)
        count +=
            !vector_is_null(out, row) && VECTOR_VALUES(uint8_t, out)[vector_index(out, row)] != 0;
    return count;
}

static void assert_filter(struct fixture *fixture, struct expr *predicate)
{
    struct error err = ERROR_INIT;
    uint32_t expected = count_true(fixture, predicate);
    const struct expr_filter *filter;
    struct expr_state *state;
    struct eval_context ctx = {
        .arena = fixture->arena, .zone = timezone_utc(), .time_zone = "UTC", .input_file = ""};
    assert_int_equal(expr_filter_compile(fixture->arena, predicate, &filter, &err), OK);
    assert_int_equal(expr_filter_state_new(fixture->arena, filter, &state, &err), OK);
    struct batch batch = fixture->batch;
    assert_int_equal(expr_filter_run(filter, state, &ctx, &batch, &err), OK);
    assert_int_equal(batch.selected, expected);
    for (uint32_t i = 1; i < batch.selected; i++)
        assert_true(batch_row(&batch, i) > batch_row(&batch, i - 1));
}

static void test_filters(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    struct expr *is_view = call(&f, "=", column(&f, COLUMN_S), text(&f, "view"), NULL);
    struct expr *small = call(&f, "<", column(&f, COLUMN_A), integer(&f, 5), NULL);
    struct expr *mirrored = call(&f, ">=", integer(&f, 5), column(&f, COLUMN_A), NULL);
    struct expr *flag = column(&f, COLUMN_F);
    assert_filter(&f, is_view);
    assert_filter(&f, small);
    assert_filter(&f, mirrored);
    assert_filter(&f, flag);
    assert_filter(&f, call(&f, "not", flag, NULL, NULL));
    assert_filter(&f, call(&f, "isnotnull", column(&f, COLUMN_A), NULL, NULL));
    assert_filter(&f, call(&f, "and", flag, small, NULL));
    assert_filter(&f, call(&f, "and", call(&f, "and", flag, small, NULL), is_view, NULL));
    assert_filter(&f,
                  call(&f, "between", column(&f, COLUMN_A), integer(&f, -100), integer(&f, 100)));
    assert_filter(&f, call(&f, "or", is_view, small, NULL));
    assert_filter(&f, call(&f, "like", column(&f, COLUMN_S), text(&f, "%i%"), NULL));
    assert_filter(&f, call(&f, "in", column(&f, COLUMN_B), integer(&f, 3), integer(&f, 9)));
    assert_filter(&f, expr_literal_boolean(f.arena, false));
    arena_free(f.arena);
}

/* x -> x + outer column */
static struct expr *add_lambda(struct fixture *f)
{
    struct expr *variable = arena_new_object(f->arena, sizeof *variable);
    *variable = *integer(f, 0);
    variable->kind = EXPR_LAMBDA_VARIABLE;
    variable->variable.id = 77;
    variable->variable.name = "x";
    struct expr *body = call(f, "+", variable, column(f, COLUMN_B), NULL);
    struct expr *lambda = arena_new_object(f->arena, sizeof *lambda);
    lambda->kind = EXPR_LAMBDA;
    lambda->type = body->type;
    lambda->nullable = body->nullable;
    lambda->args = arena_new_object(f->arena, sizeof(struct expr *));
    lambda->args[0] = body;
    lambda->arg_count = 1;
    lambda->lambda.variable_ids = arena_new_object(f->arena, sizeof(uint32_t));
    lambda->lambda.variable_ids[0] = 77;
    lambda->lambda.variable_count = 1;
    return lambda;
}

/* More elements than a batch has rows, with a column of the outer row in the body. */
static void test_lambdas_in_slices(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    struct expr *mapped = call(&f, "transform", column(&f, COLUMN_L), add_lambda(&f), NULL);
    assert_value(&f, mapped, 0, "[]");
    assert_value(&f, mapped, 2, "[8, 9]");
    assert_value(&f, mapped, 4095, "[12290, 12291, 12292]");
    arena_free(f.arena);
}

static void test_casts(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    struct error err = ERROR_INIT;
    struct expr *cast;
    assert_int_equal(cast_resolve(&f.ctx, column(&f, COLUMN_L),
                                  type_array(f.arena, type_simple(TYPE_STRING), true), false, &cast,
                                  &err),
                     OK);
    assert_value(&f, cast, 3, "[9, 10, 11]");
    assert_int_equal(
        cast_resolve(&f.ctx, column(&f, COLUMN_S), type_simple(TYPE_INT), false, &cast, &err), OK);
    struct vector *out;
    assert_int_equal(evaluate(&f, cast, &out, &err), STATUS_CAST_INVALID_INPUT);
    assert_string_equal(error_param(&err, "expression"), "'view'");
    assert_int_equal(
        cast_resolve(&f.ctx, column(&f, COLUMN_S), type_simple(TYPE_INT), true, &cast, &err), OK);
    assert_value(&f, cast, 0, "NULL");
    arena_free(f.arena);
}

static void assert_name(struct expr *expr, const char *expected)
{
    struct buffer name = {0};
    expr_print_name(&name, expr);
    assert_string_equal(buffer_text(&name), expected);
    buffer_fini(&name);
}

static void test_names(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    struct expr *a = column(&f, COLUMN_A);
    assert_name(call(&f, "+", a, integer(&f, 1), NULL), "(a + 1)");
    assert_name(call(&f, "%", a, integer(&f, 2), NULL), "(a % 2)");
    assert_name(call(&f, "<>", a, integer(&f, 1), NULL), "(NOT (a = 1))");
    assert_name(call(&f, "between", a, integer(&f, 1), integer(&f, 2)), "between(a, 1, 2)");
    assert_name(call(&f, "in", a, integer(&f, 1), integer(&f, 2)), "(a IN (1, 2))");
    assert_name(call(&f, "when", column(&f, COLUMN_F), a, integer(&f, 0)),
                "CASE WHEN f THEN a ELSE 0 END");
    assert_name(call(&f, "[]", column(&f, COLUMN_L), integer(&f, 0), NULL), "l[0]");
    arena_free(f.arena);
}

static void test_fold(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    struct expr *seven = call(&f, "+", integer(&f, 3), integer(&f, 4), NULL);
    struct expr *sum = call(&f, "+", column(&f, COLUMN_B), seven, NULL);
    assert_true(expr_is_foldable(seven));
    assert_false(expr_is_foldable(sum));
    struct expr *folded = expr_fold(f.arena, sum, "UTC");
    assert_int_equal(folded->args[1]->kind, EXPR_LITERAL);
    assert_value(&f, folded, 5, "12");
    struct expr *broken = call(&f, "div", integer(&f, 1), integer(&f, 0), NULL);
    assert_int_equal(expr_fold(f.arena, broken, "UTC")->kind, EXPR_CALL);
    arena_free(f.arena);
}

/* Else the server would compute a terabyte for whoever asks for it. */
static void test_what_is_large_is_not_folded(void **state)
{
    (void)state;
    struct fixture f;
    struct error err = ERROR_INIT;
    struct vector *value = NULL;
    set_up(&f);
    struct expr *small = call(&f, "repeat", text(&f, "a"), integer(&f, 1000), NULL);
    assert_int_equal(expr_fold(f.arena, small, "UTC")->kind, EXPR_LITERAL);
    struct expr *element = call(&f, "repeat", text(&f, "a"), integer(&f, 1000000), NULL);
    struct expr *array = call(&f, "array_repeat", element, integer(&f, 1000000), NULL);
    struct expr *all = call(&f, "array_join", array, text(&f, ""), NULL);
    struct expr *size = call(&f, "length", all, NULL, NULL);
    assert_int_equal(expr_fold(f.arena, element, "UTC")->kind, EXPR_CALL);
    assert_int_equal(expr_fold(f.arena, size, "UTC")->kind, EXPR_CALL);
    assert_int_equal(expr_constant(f.arena, size, "UTC", &value, &err), STATUS_LIMIT_EXCEEDED);
    error_clear(&err);
    struct expr *many = call(&f, "array_repeat", small, integer(&f, 60), NULL);
    assert_int_equal(expr_fold(f.arena, many, "UTC")->kind, EXPR_LITERAL);
    many = call(&f, "array_repeat", small, integer(&f, 70), NULL);
    assert_int_equal(expr_fold(f.arena, many, "UTC")->kind, EXPR_CALL);
    arena_free(f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_errors_follow_the_selection),
        cmocka_unit_test(test_errors_beside_nulls),
        cmocka_unit_test(test_lazy_evaluation),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_lambdas_in_slices),
        cmocka_unit_test(test_casts),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_fold),
        cmocka_unit_test(test_what_is_large_is_not_folded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
