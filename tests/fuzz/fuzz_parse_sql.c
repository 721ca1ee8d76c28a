/*
 * Any bytes: the parser answers with a tree or with a diagnostic inside the text.  A tree printed
 * and parsed again is the same tree.
 */
#include "base/check.h"
#include "sql/parser.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new("request", 1 << 22);
    struct bytes text = {.data = data, .size_bytes = size};
    struct ast_query *first = NULL;
    struct ast_query *second = NULL;
    struct buffer printed = {0};
    struct error err = ERROR_INIT;
    if (parser_query(arena, text, &first, &err) != OK) {
        CHECK(status_domain(err.status) == DOMAIN_USER);
        CHECK(err.position >= -1 && err.position <= (int)size);
        CHECK(err.position_end >= -1 && err.position_end <= (int)size);
    } else {
        ast_query_print(&printed, first);
        if (parser_query(arena, buffer_bytes(&printed), &second, &err) == OK)
            CHECK(ast_query_equal(first, second));
        else /* the parentheses that printing adds count as depth */
            CHECK(err.status == STATUS_LIMIT_EXCEEDED ||
                  err.status == STATUS_FAILED_TO_PARSE_TOO_COMPLEX);
    }
    buffer_fini(&printed);
    arena_free(arena);
    return 0;
}
