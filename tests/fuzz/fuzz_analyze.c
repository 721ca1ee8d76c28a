/*
 * Any SQL text over a small catalog: analysis and planning answer with a plan or with a
 * diagnostic inside the text, bounded or as a stream.
 */
#include "analyze/analyze.h"
#include "base/check.h"
#include "plan/planner.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum status schema_of(struct analyze_catalog *self, struct arena *arena,
                             const struct relation_spec *relation, bool streaming,
                             const struct type **out, struct error *err)
{
    (void)self;
    (void)streaming;
    return type_parse_schema(arena, bytes_of_text(relation->schema_text), out, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct relation_spec source = {
        .name = "t",
        .format = "memory",
        .schema_text = "a INT, b STRING, at TIMESTAMP, s STRUCT<x: INT, y: STRING>, l ARRAY<INT>",
        .watermark = {.column = "at", .delay = "10 seconds"},
    };
    struct relation_spec table = {
        .name = "u", .format = "memory", .schema_text = "a BIGINT, m MAP<STRING, INT>"};
    struct analyze_catalog catalog = {.schema = schema_of};
    for (int bounded = 0; bounded < 2; bounded++) {
        struct arena *arena = arena_new("request", 64 << 20);
        struct query_spec spec = {
            .sources = &source,
            .source_count = 1,
            .tables = &table,
            .table_count = 1,
            .sql = arena_strndup(arena, data, strnlen((const char *)data, size)),
            .output_mode = "append",
        };
        struct analyze_options options = {
            .bounded = bounded != 0, .catalog = &catalog, .skip_sink = true};
        struct analysis *analysis = NULL;
        struct physical_plan *plan = NULL;
        struct error err = ERROR_INIT;
        enum status status = analyze_query(arena, &spec, &options, NULL, &analysis, &err);
        if (status == OK)
            status = plan_query(arena, analysis, &plan, &err);
        if (status != OK) {
            CHECK(err.position >= -1 && err.position <= (int)size);
            CHECK(err.position_end >= -1 && err.position_end <= (int)size);
        }
        arena_free(arena);
    }
    return 0;
}
