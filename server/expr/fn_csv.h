/* CSV records in texts: fn_csv.c.  Inside expr/ only. */
#ifndef SERVER_EXPR_FN_CSV_H
#define SERVER_EXPR_FN_CSV_H

#include "expr/fn_json.h"

struct csv_dialect {
    struct bytes separator;
    char quote;  /* 0: none */
    char escape; /* of quotes; 0: none */
    struct bytes null_value;
    struct bytes empty_value;
    const char *nan;
    const char *positive;
    const char *negative;
    bool trim_start;
    bool trim_end;
    bool quote_all;
    bool escape_quotes;
};

MUST_USE enum status csv_dialect_read(struct arena *arena, const struct function_options *options,
                                      bool write, struct csv_dialect *out, struct error *err);

struct csv_reader {
    const struct csv_dialect *dialect;
    struct arena *arena;
    struct bytes record;
    size_t at;
    bool done;
};

/* The next field of the record, without quotes and escapes.  False: there is none. */
bool csv_next_field(struct csv_reader *reader, struct bytes *out);

#endif
