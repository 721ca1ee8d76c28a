/*
 * The signature language of functions.def (function.h), parsed and applied.
 */
#ifndef SERVER_EXPR_SIGNATURE_H
#define SERVER_EXPR_SIGNATURE_H

#include "expr/function.h"

#define SIGNATURE_PARAMS_MAX 12
#define SIGNATURE_NODES_MAX  64

enum want_kind {
    WANT_TYPE,     /* a concrete type without parameters */
    WANT_CLASS,    /* one of several types */
    WANT_VARIABLE, /* T, U, K, V */
    WANT_ARRAY,    /* of `first` */
    WANT_MAP,      /* of `first`, `second` */
    WANT_CHOICE,   /* `first`, then `second` (a list by its second) */
    WANT_ARGUMENT, /* result only: the type of an argument */
};

enum want_class {
    CLASS_ANY,
    CLASS_NUMERIC,
    CLASS_INTEGRAL,
    CLASS_FRACTIONAL,
    CLASS_ATOMIC,
    CLASS_ORDERABLE,
    CLASS_DECIMAL,
    CLASS_ARRAY,
    CLASS_MAP,
    CLASS_STRUCT,
    CLASS_TIMESTAMPS,
    CLASS_DAY_TIME,
    CLASS_YEAR_MONTH,
};

struct want {
    enum want_kind kind;
    enum type_id id;
    enum want_class class_;
    uint8_t variable; /* index into variables, or argument number */
    int16_t first, second;
};

enum param_count {
    PARAM_ONE,
    PARAM_OPTIONAL,
    PARAM_DEFAULT,
    PARAM_ANY_NUMBER,
    PARAM_ONE_OR_MORE,
};

struct param {
    int16_t want;
    enum param_count count;
    bool constant;
    struct bytes name;  /* of a constant, for its error */
    struct bytes value; /* the default, as written */
};

struct signature {
    struct want wants[SIGNATURE_NODES_MAX];
    uint32_t want_count;
    struct param params[SIGNATURE_PARAMS_MAX];
    uint32_t param_count;
    int16_t result;
};

/* The text is ours: an error in it is a CHECK. */
void signature_parse(struct signature *signature, const char *text);
void signature_arity(const struct signature *signature, uint32_t *least, uint32_t *most);
/* Adds defaults, casts arguments, gives the result type.  Works for aggregates too. */
MUST_USE enum status signature_apply(struct resolve_context *ctx, const struct signature *signature,
                                     struct expr *call, const struct type **type,
                                     struct error *err);

#endif
