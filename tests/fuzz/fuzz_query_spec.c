/*
 * Any bytes as a query spec: refused with a pointer, or read; what was read has a canonical form
 * that reads as itself.
 */
#include "base/check.h"
#include "spec/diagnostics.h"
#include "spec/query_spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new("request", 1 << 24);
    struct query_spec *spec = NULL, *again = NULL;
    struct error err = ERROR_INIT;
    struct bytes text = bytes_of(data, size);
    struct diagnostics *diagnostics = diagnostics_new(arena);
    enum status collected = query_spec_parse(arena, text, diagnostics, &spec, &err);
    CHECK(collected == OK || status_domain(err.status) == DOMAIN_USER);
    error_clear(&err);
    if (query_spec_parse(arena, text, NULL, &spec, &err) == OK) {
        CHECK(collected == OK && !diagnostics_has_errors(diagnostics));
        CHECK(query_spec_parse(arena, bytes_of_text(spec->json), NULL, &again, &err) == OK);
        CHECK(strcmp(spec->json, again->json) == 0);
    } else {
        CHECK(status_domain(err.status) == DOMAIN_USER);
        CHECK(collected != OK || diagnostics_has_errors(diagnostics));
    }
    arena_free(arena);
    return 0;
}
