/*
 * Constants that are folded.  Every function of the table meets arguments that ask for much: the
 * server, which analyses for all, must neither compute nor keep it.
 */
#include "expr/function.h"
#include "expr/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ARGS_MAX 3

/* Of the sanitizer, if there is one: told of every allocation. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier): the sanitizer's name */
int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void *, size_t),
                                              void (*free_hook)(const volatile void *))
    __attribute__((weak));

static size_t largest, allocations;
static uint32_t folded;

static void note_malloc(const volatile void *memory, size_t size)
{
    (void)memory;
    allocations++;
    if (size > largest)
        largest = size;
}

static void note_free(const volatile void *memory)
{
    (void)memory;
}

struct fixture {
    struct arena *arena;
    struct resolve_context ctx;
};

static struct fixture setup(void)
{
    struct fixture f = {.arena = arena_new("query", 0)};
    resolve_context_init(&f.ctx, f.arena);
    return f;
}

static struct expr *large_text(struct arena *arena)
{
    static char text[12000];
    memset(text, 'a', sizeof text);
    return expr_literal_string(arena, bytes_of(text, sizeof text));
}

static struct expr *argument(struct arena *arena, int kind)
{
    switch (kind) {
    case 0:
        return large_text(arena);
    case 1:
        return expr_literal_int(arena, 2147483600);
    case 2:
        return expr_literal_int(arena, 2);
    default:
        return expr_literal_string(arena, bytes_of_text("a"));
    }
}
#define KINDS 4

static struct expr *call(struct fixture *f, const char *name, struct expr **args, uint32_t count)
{
    struct error err = ERROR_INIT;
    struct expr *out = NULL;
    struct function_call call = {
        .name = name, .args = args, .arg_count = count, .position = -1, .position_end = -1};
    return function_resolve(&f->ctx, &call, &out, &err) == OK ? out : NULL;
}

static void fold_with(const struct function *function, uint32_t count, unsigned kinds)
{
    struct fixture f = setup();
    struct expr *args[ARGS_MAX];
    for (uint32_t i = 0; i < count; i++, kinds /= KINDS)
        args[i] = argument(f.arena, (int)(kinds % KINDS));
    struct expr *expr = call(&f, function->name, args, count);
    size_t before = arena_used_bytes(f.arena);
    largest = 0;
    if (expr != NULL) {
        (void)expr_fold(f.arena, expr, "UTC");
        folded++;
    }
    size_t kept = arena_used_bytes(f.arena) - before;
    if (largest > (size_t)9 << 20 || kept > (size_t)5 << 20)
        print_error("%s of %u arguments\n", function->name, count);
    assert_true(largest <= (size_t)9 << 20);
    assert_true(kept <= (size_t)5 << 20);
    arena_free(f.arena);
}

static void no_function_makes_the_server_build_what_it_throws_away(void **state)
{
    (void)state;
    uint32_t total;
    const struct function *functions = function_list(&total);
    if (__sanitizer_install_malloc_and_free_hooks != NULL)
        (void)__sanitizer_install_malloc_and_free_hooks(note_malloc, note_free);
    for (uint32_t i = 0; i < total; i++) {
        uint32_t least, most;
        unsigned combinations = 1;
        function_arity(&functions[i], &least, &most);
        if (functions[i].kind != FUNCTION_SCALAR || strchr(functions[i].name, ' ') != NULL)
            continue;
        for (uint32_t count = 0; count <= ARGS_MAX && count <= most; count++) {
            for (unsigned kinds = 0; count >= least && kinds < combinations; kinds++)
                fold_with(&functions[i], count, kinds);
            combinations *= KINDS;
        }
    }
    assert_true(folded > 2000); /* it was not for nothing */
    assert_true(allocations > folded || __sanitizer_install_malloc_and_free_hooks == NULL);
}

static void what_is_too_much_is_left_to_the_query(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *text; /* the first argument; NULL: none */
        int32_t number;
        const char *last; /* the last argument; NULL: none */
        bool folded;
    } cases[] = {
        {"lpad", "a", 2000000000, "b", false},        {"rpad", "a", 2000000000, "b", false},
        {"repeat", "a", 2000000000, NULL, false},     {"space", NULL, 2000000000, NULL, false},
        {"array_repeat", "a", 60000000, NULL, false}, {"lpad", "a", 20, "b", true},
        {"repeat", "a", 20000, NULL, true},           {"repeat", "a", 100000, NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f = setup();
        struct expr *args[3];
        uint32_t count = 0;
        if (cases[i].text != NULL)
            args[count++] = expr_literal_string(f.arena, bytes_of_text(cases[i].text));
        args[count++] = expr_literal_int(f.arena, cases[i].number);
        if (cases[i].last != NULL)
            args[count++] = expr_literal_string(f.arena, bytes_of_text(cases[i].last));
        struct expr *expr = call(&f, cases[i].name, args, count);
        assert_non_null(expr);
        expr = expr_fold(f.arena, expr, "UTC");
        assert_int_equal(expr->kind == EXPR_LITERAL, cases[i].folded);
        arena_free(f.arena);
    }
}

static void what_is_made_of_too_much_is_not_tried(void **state)
{
    (void)state;
    struct fixture f = setup();
    struct expr *args[2] = {expr_literal_string(f.arena, bytes_of_text("a")),
                            expr_literal_int(f.arena, 2000000000)};
    struct expr *length = call(&f, "repeat", args, 2);
    length = call(&f, "length", &length, 1);
    assert_non_null(length);
    assert_int_equal(expr_fold(f.arena, length, "UTC")->kind, EXPR_CALL);
    struct error err = ERROR_INIT;
    struct vector *value = NULL;
    assert_int_equal(expr_constant(f.arena, length, "UTC", &value, &err), STATUS_LIMIT_EXCEEDED);
    arena_free(f.arena);
}

/* A folded value owns all that it has: it outlives what it was computed in. */
static void nested_values_are_folded(void **state)
{
    (void)state;
    struct fixture f = setup();
    struct error err = ERROR_INIT;
    struct vector *value = NULL;
    struct expr *args[2] = {expr_literal_string(f.arena, bytes_of_text("a b c")),
                            expr_literal_string(f.arena, bytes_of_text(" "))};
    struct expr *list = call(&f, "split", args, 2);
    assert_non_null(list);
    list = expr_fold(f.arena, list, "UTC");
    assert_int_equal(list->kind, EXPR_LITERAL);
    assert_int_equal(expr_constant(f.arena, list, "UTC", &value, &err), OK);
    assert_int_equal(VECTOR_VALUES(struct list_entry, value)[0].length, 3);
    struct expr *last = call(&f, "array_max", &list, 1);
    assert_int_equal(expr_constant(f.arena, last, "UTC", &value, &err), OK);
    assert_true(bytes_equal(VECTOR_VALUES(struct bytes, value)[0], bytes_of_text("c")));
    arena_free(f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_function_makes_the_server_build_what_it_throws_away),
        cmocka_unit_test(what_is_too_much_is_left_to_the_query),
        cmocka_unit_test(what_is_made_of_too_much_is_not_tried),
        cmocka_unit_test(nested_values_are_folded),
    };
    return cmocka_run_group_tests_name("expr/fold", tests, NULL, NULL);
}
