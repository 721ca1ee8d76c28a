/*
 * Scalar functions, operators, generators and higher-order functions: one table, functions.def.
 *
 * A line of the table names a function, how it is printed, its signature and its kernel:
 *
 *   FUNCTION("substring", "substr", NULL, "string|binary,int,int=2147483647->1",
 *            NULL_INTOLERANT, NULL, kernel_substring)
 *
 * aliases    "substr|=mid": other names, separated by '|'.  A call prints the name it was called
 *            by (lower case), unless '=' stands before the alias: then it prints the main name.
 * print      what the main name prints as: NULL the name itself; a word ("SQRT"), or a template if
 *            it has a '%': %0 %1 ... one argument, %* all, %1* all from the second, %% a percent
 *            sign: "(%0 + %1)", "(%0 IN (%1*))".
 * signature  see below; it also says how many arguments are allowed.
 * flags      enum function_flag, ORed; the names in the table lack the prefix FUNCTION_.
 * resolve    NULL: the signature says all.  Otherwise it is called in its place, after the number
 *            of arguments has been checked; it may call function_apply_signature() itself.
 * kernel     how it is computed, expr/kernel.h.  A resolver may choose another one (call->call.
 *            kernel), e.g. by argument type.  NULL for what the program evaluates itself (AND, IF,
 *            CASE, ...) and for generators.
 *
 * The signature language:
 *
 *   signature  = [param {"," param}] "->" result
 *   param      = type ["!"] ["?" | "*" | "+" | "=" literal]
 *                !  must be a constant (else DATATYPE_MISMATCH.NON_FOLDABLE_INPUT)
 *                ?  may be missing (stays missing);  =5, ='x'  the value if missing
 *                *  any number of it, + one or more of it (last param only)
 *   type       = void boolean tinyint smallint int bigint float double decimal string binary date
 *                timestamp timestamp_ntz time interval
 *              | day_time | year_month                any fields
 *              | any numeric integral fractional atomic orderable array map struct timestamps
 *              | T | U | K | V                        a variable: all its uses get one common type
 *              | array<type> | map<type,type>
 *              | type "|" type                        the first that fits, else the closest cast
 *   result     = type, or a digit: the type of that argument (1 = the first)
 *
 * `decimal` as a parameter takes any DECIMAL.  `timestamps` is TIMESTAMP or TIMESTAMP_NTZ.
 *
 * Errors of resolving are Spark's: WRONG_NUM_ARGS.*, DATATYPE_MISMATCH.*.  All of them carry
 * sqlExpr and the place of the call.
 */
#ifndef SERVER_EXPR_FUNCTION_H
#define SERVER_EXPR_FUNCTION_H

#include "expr/expr.h"

struct kernel_call;

enum function_kind {
    FUNCTION_SCALAR,
    FUNCTION_HIGHER_ORDER, /* has lambda arguments */
    FUNCTION_GENERATOR,    /* explode() ...: resolves to EXPR_GENERATOR, type = STRUCT of columns */
    FUNCTION_WINDOW,       /* row_number() ...: only below OVER */
};

enum function_flag {
    FUNCTION_NULL_INTOLERANT = 1 << 0, /* a NULL argument makes NULL; the kernel never sees one */
    FUNCTION_NULLABLE = 1 << 1,        /* may be NULL though no argument is */
    FUNCTION_NEVER_NULL = 1 << 2,
    FUNCTION_TOTAL = 1 << 3,      /* does no harm on NULL and unselected rows: kernel.h */
    FUNCTION_LAZY = 1 << 4,       /* the program evaluates it, under narrowed selections */
    FUNCTION_RANDOM = 1 << 5,     /* not deterministic */
    FUNCTION_PER_BATCH = 1 << 6,  /* constant within a batch (current_timestamp): never folded */
    FUNCTION_OPERATOR = 1 << 7,   /* not callable by that name: not listed, not suggested */
    FUNCTION_REPLACED = 1 << 8,   /* its last argument, which is not printed, is what it means:
                                     between(a, 1, 2) has (a >= 1 AND a <= 2) there */
    FUNCTION_EXACT = 1 << 10,     /* what is of another type is refused, not cast: soundex(1) */
    FUNCTION_BOUND_TAIL = 1 << 9, /* with call.bound set only the first argument is computed: the
                                    others are constants that are in `bound` */
};

/* What resolving needs to know.  Plain data; borrowed for the query's analysis. */
struct resolve_context {
    struct arena *arena;         /* query lifetime: where nodes are made */
    bool ansi;                   /* spark.sql.ansi.enabled */
    bool decimal_precision_loss; /* spark.sql.decimalOperations.allowPrecisionLoss */
    bool timestamp_ntz;          /* spark.sql.timestampType = TIMESTAMP_NTZ */
    bool map_key_last_wins;      /* spark.sql.mapKeyDedupPolicy = LAST_WIN */
    const char *time_zone;       /* spark.sql.session.timeZone, valid */
    int64_t now_us;              /* of this analysis: folds 'now' in typed literals only */
    /* Any other setting, NULL if it is not set; may be NULL. */
    const char *(*conf)(void *conf_arg, const char *name);
    void *conf_arg;
};

/* Defaults: ANSI, UTC, precision loss allowed. */
void resolve_context_init(struct resolve_context *ctx, struct arena *arena);

/*
 * Checks and completes a call.  `call` is a fresh EXPR_CALL (expr_call()) whose args are resolved;
 * the resolver may change it (casts around args, added args, bound, kernel, type, nullable) and
 * sets *out to it or to whatever replaces it.
 */
typedef enum status function_resolve_fn(struct resolve_context *ctx, struct expr *call,
                                        struct expr **out, struct error *err);
typedef enum status function_kernel_fn(const struct kernel_call *call, struct error *err);

struct function {
    const char *name;
    const char *aliases;
    const char *print;
    const char *signature;
    enum function_kind kind;
    uint32_t flags;
    function_resolve_fn *resolve;
    function_kernel_fn *kernel;
};

/* The function of that name (any case), operators included ("+", "and", "cast" is none); NULL if
 * there is none.  Threads: any. */
const struct function *function_find(const char *name);

/* All functions, operators included, in order of the table. */
const struct function *function_list(uint32_t *count);

/* Visits every callable name, aliases included: for "did you mean" and the reference page. */
void function_each_name(void (*visit)(void *arg, const char *name, const struct function *function),
                        void *arg);

/* How many arguments the signature allows; *most is UINT32_MAX if there is no end. */
void function_arity(const struct function *function, uint32_t *least, uint32_t *most);

/*
 * Resolves a call by name: finds the function, checks the number of arguments, coerces them,
 * decides type and kernel.  `args` are resolved expressions (copied array; lambdas as EXPR_LAMBDA
 * made by the analyser with the types of function_lambda_types()).  Positions go into the node and
 * into errors.
 * Errors: UNRESOLVED_ROUTINE (routineName only: the analyser adds the rest), WRONG_NUM_ARGS.*,
 * DATATYPE_MISMATCH.*, and what a resolver raises for its constants.
 */
/* Whether arguments behind one that is NULL are not evaluated: not of calls with any number of
 * them, such as concat. */
bool function_stops_at_null(const struct expr *call);

struct function_call {
    const char *name;
    struct expr **args;
    uint32_t arg_count;
    int position, position_end;
};
MUST_USE enum status function_resolve(struct resolve_context *ctx, const struct function_call *call,
                                      struct expr **out, struct error *err);

/* Shorthand for rewrites: resolve `name(a)` and `name(a, b)` at the place of `a`. */
MUST_USE enum status function_resolve_1(struct resolve_context *ctx, const char *name,
                                        struct expr *a, struct expr **out, struct error *err);
MUST_USE enum status function_resolve_2(struct resolve_context *ctx, const char *name,
                                        struct expr *a, struct expr *b, struct expr **out,
                                        struct error *err);

/*
 * The types of the variables of lambda argument `index` of a higher-order function, given the
 * arguments before it (`args`, resolved; earlier lambdas too).  `variable_count` is how many the
 * lambda declares.  types[] and nullable[] have room for 4.
 * Errors: INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH, DATATYPE_MISMATCH.*.
 */
struct lambda_types {
    const struct type *types[4];
    bool nullable[4];
    uint32_t count;
};
MUST_USE enum status function_lambda_types(struct resolve_context *ctx,
                                           const struct function_call *call, uint32_t index,
                                           uint32_t variable_count, struct lambda_types *out,
                                           struct error *err);
/* True if argument `index` of the function is a lambda. */
bool function_takes_lambda(const struct function *function, uint32_t index);

/* ---- for resolvers ---- */

/* Does what the signature says: defaults, constants, implicit casts, type, nullable, kernel. */
MUST_USE enum status function_apply_signature(struct resolve_context *ctx, struct expr *call,
                                              struct error *err);

/* As above with another signature text than the table's. */
MUST_USE enum status function_apply(struct resolve_context *ctx, struct expr *call,
                                    const char *signature, struct error *err);

/* type, and nullable by the flags; then kernel is the table's if none was chosen. */
void function_finish(struct expr *call, const struct type *type);

/* Makes the call mean `replacement`, which becomes its last argument, type, nullability; the
 * function must have the flag REPLACED. */
void function_replace(struct resolve_context *ctx, struct expr *call, struct expr *replacement);

/* Appends an argument. */
void function_add_arg(struct resolve_context *ctx, struct expr *call, struct expr *arg);

/*
 * The value of a constant argument: *out is a constant vector in the query arena (foldable
 * expressions are evaluated).  Errors: DATATYPE_MISMATCH.NON_FOLDABLE_INPUT with `input_name`.
 */
MUST_USE enum status function_constant(struct resolve_context *ctx, const struct expr *call,
                                       uint32_t index, const char *input_name, struct vector **out,
                                       struct error *err);

/* Raise the usual mismatches; sqlExpr and the place are filled in.  index counts from 0. */
enum status function_wrong_type(const struct expr *call, uint32_t index, const char *required_type,
                                struct error *err);
enum status function_wrong_count(const struct expr *call, const char *expected_num,
                                 struct error *err);
/* The ordinal words Spark uses for paramIndex: "first", "second", ... */
const char *function_ordinal(uint32_t index);
/* "\"...\"": the quoted SQL form of an expression or type, in the arena. */
const char *function_sql(struct arena *arena, const struct expr *expr);
const char *function_sql_type(struct arena *arena, const struct type *type);

#endif
