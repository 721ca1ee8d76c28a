/*
 * Any bytes are a small program for a stack of expressions: push a column or a literal, call a
 * function on what is on top, cast it.  What resolves is computed over a batch; nothing may fail
 * for a reason of ours, and a filter keeps the rows for which its expression is true.
 */
#include "base/check.h"
#include "expr/cast.h"
#include "expr/function.h"
#include "expr/program.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROWS      64
#define STACK_MAX 16
#define COLUMNS   8
#define BYTES_MAX ((size_t)1 << 18) /* a text of 2 GiB is no error, but takes its time */

struct machine {
    struct arena *arena;
    struct resolve_context ctx;
    struct batch batch;
    struct vector *columns[COLUMNS];
    struct expr *stack[STACK_MAX];
    uint32_t depth;
};

static const struct type *type_of(struct arena *arena, uint32_t index)
{
    static const enum type_id ids[] = {TYPE_INT,    TYPE_LONG, TYPE_DOUBLE,
                                       TYPE_STRING, TYPE_DATE, TYPE_TIMESTAMP};
    if (index == 6)
        return type_decimal(arena, 20, 4);
    if (index == 7)
        return type_array(arena, type_simple(TYPE_INT), true);
    return type_simple(ids[index % 6]);
}

static void fill_cell(struct vector *vector, uint32_t row, uint32_t seed)
{
    int32_t value = (int32_t)(seed * 2654435761u) >> (seed % 24);
    switch ((int)vector->type->id) {
    case TYPE_INT:
    case TYPE_DATE:
        VECTOR_VALUES(int32_t, vector)[row] = value;
        break;
    case TYPE_LONG:
    case TYPE_TIMESTAMP:
        VECTOR_VALUES(int64_t, vector)[row] = (int64_t)value * 1000003;
        break;
    case TYPE_DOUBLE:
        VECTOR_VALUES(double, vector)[row] = value * 0.25;
        break;
    case TYPE_DECIMAL:
        VECTOR_VALUES(int128, vector)[row] = value;
        break;
    case TYPE_STRING: {
        static const char *const texts[] = {"",    "12",  "2024-02-29",        "x%y_z",    "-1.5e3",
                                            "NaN", "yes", "\xc3\xa9t\xc3\xa9", "{\"a\":1}"};
        VECTOR_VALUES(struct bytes, vector)[row] = bytes_of_text(texts[seed % 9]);
        break;
    }
    default:
        VECTOR_VALUES(struct list_entry, vector)
        [row] = (struct list_entry){.offset = seed % 20, .length = seed % 4};
        break;
    }
}

static void start(struct machine *machine)
{
    struct error err = ERROR_INIT;
    machine->arena = arena_new("query", 1 << 26);
    resolve_context_init(&machine->ctx, machine->arena);
    for (uint32_t c = 0; c < COLUMNS; c++) {
        struct vector **column = &machine->columns[c];
        const struct type *type = type_of(machine->arena, c);
        CHECK(vector_new(machine->arena, type, ROWS, column, &err) == OK);
        CHECK(vector_make_nullable(machine->arena, *column, &err) == OK);
        if (type->id == TYPE_ARRAY) {
            CHECK(vector_resize_child(machine->arena, *column, 0, 24, &err) == OK);
            for (uint32_t i = 0; i < 24; i++)
                fill_cell((*column)->children[0], i, i);
        }
        for (uint32_t row = 0; row < ROWS; row++) {
            fill_cell(*column, row, row + c * 7);
            if ((row + c) % 6 == 0)
                vector_set_null(*column, row);
        }
    }
    machine->batch = (struct batch){.columns = machine->columns, .rows = ROWS, .selected = ROWS};
}

static void check_status(enum status status)
{
    CHECK(status == OK || status_domain(status) == DOMAIN_USER);
}

static void push(struct machine *machine, struct expr *expr)
{
    if (machine->depth < STACK_MAX)
        machine->stack[machine->depth++] = expr;
}

static void push_column(struct machine *machine, uint8_t index)
{
    uint32_t ordinal = index % COLUMNS;
    struct expr *column =
        expr_column(machine->arena, ordinal, "c", machine->columns[ordinal]->type, true);
    column->column.ordinal = (int)ordinal;
    push(machine, column);
}

/* Generators, windows and lambdas have no place in a plain expression. */
static void call_function(struct machine *machine, uint32_t which, uint32_t arg_count)
{
    uint32_t total;
    const struct function *functions = function_list(&total);
    const struct function *function = &functions[which % total];
    uint32_t count = arg_count % 4;
    bool internal = strchr(function->name, ' ') != NULL; /* what resolvers call themselves */
    if (function->kind != FUNCTION_SCALAR || internal || count > machine->depth)
        return;
    struct error err = ERROR_INIT;
    struct function_call call = {.name = function->name,
                                 .args = &machine->stack[machine->depth - count],
                                 .arg_count = count,
                                 .position = -1,
                                 .position_end = -1};
    struct expr *out;
    enum status status = function_resolve(&machine->ctx, &call, &out, &err);
    check_status(status);
    if (status != OK)
        return;
    machine->depth -= count;
    push(machine, out);
}

static void cast_top(struct machine *machine, uint8_t to, bool try_cast)
{
    struct error err = ERROR_INIT;
    struct expr *out;
    if (machine->depth == 0)
        return;
    const struct type *type = type_of(machine->arena, to % COLUMNS);
    enum status status =
        cast_resolve(&machine->ctx, machine->stack[machine->depth - 1], type, try_cast, &out, &err);
    check_status(status);
    if (status == OK)
        machine->stack[machine->depth - 1] = out;
}

static void build(struct machine *machine, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i + 2 < size && i < 3 * 40; i += 3) {
        switch (data[i] % 5) {
        case 0:
            push_column(machine, data[i + 1]);
            break;
        case 1:
            push(machine, expr_literal_int(machine->arena, (int8_t)data[i + 1]));
            break;
        case 2:
            push(machine, expr_literal_string(machine->arena, bytes_of(&data[i + 1], 2)));
            break;
        case 3:
            call_function(machine, data[i + 1] | (uint32_t)data[i + 2] << 8, data[i] / 5u);
            break;
        default:
            cast_top(machine, data[i + 1], data[i + 2] % 2 == 0);
            break;
        }
    }
}

static void compute(struct machine *machine, struct expr *expr)
{
    struct error err = ERROR_INIT;
    const struct expr_program *program;
    const struct expr_filter *filter;
    struct expr_state *state;
    struct vector *out = NULL;
    struct eval_context ctx = {.arena = machine->arena,
                               .zone = timezone_utc(),
                               .time_zone = "UTC",
                               .input_file = "",
                               .user = "user",
                               .database = "default",
                               .bytes_max = BYTES_MAX};
    check_status(expr_compile(machine->arena, &expr, 1, &program, &err));
    check_status(expr_state_new(machine->arena, program, &state, &err));
    enum status status = expr_eval(program, state, &ctx, &machine->batch, &out, &err);
    check_status(status);
    if (status != OK || expr->type->id != TYPE_BOOLEAN || !expr_is_deterministic(expr))
        return;
    uint32_t expected = 0;
    for (uint32_t row = 0; row < ROWS; row++)
        expected +=
            !vector_is_null(out, row) && VECTOR_VALUES(uint8_t, out)[vector_index(out, row)] != 0;
    struct batch batch = machine->batch;
    CHECK(expr_filter_compile(machine->arena, expr, &filter, &err) == OK);
    CHECK(expr_filter_state_new(machine->arena, filter, &state, &err) == OK);
    status = expr_filter_run(filter, state, &ctx, &batch, &err);
    check_status(status);
    CHECK(status != OK || batch.selected == expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct machine machine = {0};
    struct buffer name = {0};
    start(&machine);
    build(&machine, data, size);
    for (uint32_t i = 0; i < machine.depth; i++) {
        expr_print_name(&name, machine.stack[i]);
        compute(&machine, machine.stack[i]);
    }
    buffer_fini(&name);
    arena_free(machine.arena);
    return 0;
}
