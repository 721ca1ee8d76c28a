/* The operators' result types and the casts that exist, against the full matrices. */
#include "expr/cast.h"
#include "expr/coercion.h"
#include "expr/function.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct table {
    FILE *file;
    char line[512];
    char *fields[8];
    int count;
};

static void table_open(struct table *table, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%.*s/data/%s", (int)(strrchr(__FILE__, '/') - __FILE__), __FILE__,
             name);
    table->file = fopen(path, "r");
    assert_non_null(table->file);
    assert_non_null(fgets(table->line, sizeof table->line, table->file));
}

static bool table_next(struct table *table)
{
    if (fgets(table->line, sizeof table->line, table->file) == NULL) {
        fclose(table->file);
        return false;
    }
    table->line[strcspn(table->line, "\n")] = '\0';
    table->count = 0;
    char *at = table->line;
    while (table->count < 8) {
        table->fields[table->count++] = at;
        at = strchr(at, '\t');
        if (at == NULL)
            return true;
        *at++ = '\0';
    }
    return true;
}

static const struct type *parse(struct arena *arena, const char *text)
{
    const struct type *type = NULL;
    struct error err = ERROR_INIT;
    assert_int_equal(type_parse(arena, bytes_of_text(text), &type, &err), OK);
    return type;
}

static struct expr *operand(struct arena *arena, uint32_t id, const char *text)
{
    const struct type *type = parse(arena, text);
    if (type->id == TYPE_VOID)
        return expr_null(arena, type);
    struct expr *column = expr_column(arena, id, id == 1 ? "l" : "r", type, true);
    column->column.ordinal = (int)id - 1;
    return column;
}

/* How the matrix writes each operator as a call. */
static enum status apply(struct resolve_context *ctx, const char *name, struct expr *l,
                         struct expr *r, struct expr **out, struct error *err)
{
    struct expr *one = expr_literal_int(ctx->arena, 1);
    struct expr *two = expr_literal_int(ctx->arena, 2);
    struct expr *args[4] = {l, r, NULL, NULL};
    struct function_call call = {.name = name, .args = args, .arg_count = 2};
    if (strcmp(name, "if") == 0) {
        args[0] = expr_literal_boolean(ctx->arena, true);
        args[1] = l;
        args[2] = r;
        call.arg_count = 3;
    } else if (strcmp(name, "map keys") == 0) {
        call.name = "map";
        args[1] = one;
        args[2] = r;
        args[3] = two;
        call.arg_count = 4;
    } else if (strcmp(name, "map values") == 0) {
        call.name = "map";
        args[0] = one;
        args[1] = l;
        args[2] = two;
        args[3] = r;
        call.arg_count = 4;
    }
    return function_resolve(ctx, &call, out, err);
}

static void check_matrix(const char *file, bool ansi)
{
    struct table table;
    table_open(&table, file);
    int wrong = 0;
    int total = 0;
    while (table_next(&table)) {
        const char *name = table.fields[0];
        if (strcmp(name, "union") == 0 || strcmp(name, "||") == 0 || strcmp(name, "concat") == 0)
            continue;
        struct arena *arena = arena_new("query", 0);
        struct resolve_context ctx;
        resolve_context_init(&ctx, arena);
        ctx.ansi = ansi;
        struct error err = ERROR_INIT;
        struct expr *out = NULL;
        enum status status = apply(&ctx, name, operand(arena, 1, table.fields[1]),
                                   operand(arena, 2, table.fields[2]), &out, &err);
        const char *got = status == OK ? type_name(arena, out->type)
                                       : arena_sprintf(arena, "!%s", status_name(status));
        total++;
        if (strcmp(got, table.fields[3]) != 0 && wrong++ < 40)
            print_message("%s %s %s: %s, not %s\n", table.fields[1], name, table.fields[2], got,
                          table.fields[3]);
        arena_free(arena);
    }
    if (wrong > 0)
        print_message("%d of %d differ\n", wrong, total);
    assert_int_equal(wrong, 0);
}

static void test_operators_ansi(void **state)
{
    (void)state;
    check_matrix("coercion.tsv", true);
}

static void test_operators_legacy(void **state)
{
    (void)state;
    check_matrix("coercion_nonansi.tsv", false);
}

static void test_unions(void **state)
{
    (void)state;
    struct table table;
    table_open(&table, "coercion.tsv");
    int wrong = 0;
    while (table_next(&table)) {
        if (strcmp(table.fields[0], "union") != 0)
            continue;
        struct arena *arena = arena_new("query", 0);
        struct resolve_context ctx;
        resolve_context_init(&ctx, arena);
        const struct type *type =
            coercion_union(&ctx, parse(arena, table.fields[1]), parse(arena, table.fields[2]));
        const char *got = type == NULL ? "!INCOMPATIBLE_COLUMN_TYPE" : type_name(arena, type);
        if (strcmp(got, table.fields[3]) != 0) {
            print_message("%s union %s: %s, not %s\n", table.fields[1], table.fields[2], got,
                          table.fields[3]);
            wrong++;
        }
        arena_free(arena);
    }
    assert_int_equal(wrong, 0);
}

static const char *cast_result(struct arena *arena, const char *from, const char *to, int mode)
{
    struct resolve_context ctx;
    resolve_context_init(&ctx, arena);
    ctx.ansi = mode != 1;
    struct error err = ERROR_INIT;
    struct expr *out;
    enum status status =
        cast_resolve(&ctx, operand(arena, 1, from), parse(arena, to), mode == 2, &out, &err);
    return status == OK ? "ok" : arena_sprintf(arena, "!%s", status_name(status));
}

static void test_casts(void **state)
{
    (void)state;
    struct table table;
    table_open(&table, "casts.tsv");
    int wrong = 0;
    while (table_next(&table)) {
        if (strcmp(table.fields[0], "variant") == 0 || strcmp(table.fields[1], "variant") == 0)
            continue;
        for (int mode = 0; mode < 3; mode++) {
            struct arena *arena = arena_new("query", 0);
            const char *got = cast_result(arena, table.fields[0], table.fields[1], mode);
            if (strcmp(got, table.fields[2 + mode]) != 0) {
                print_message("%s -> %s mode %d: %s, not %s\n", table.fields[0], table.fields[1],
                              mode, got, table.fields[2 + mode]);
                wrong++;
            }
            arena_free(arena);
        }
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators_ansi),
        cmocka_unit_test(test_operators_legacy),
        cmocka_unit_test(test_unions),
        cmocka_unit_test(test_casts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
