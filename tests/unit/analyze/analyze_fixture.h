/*
 * A small spec for tests of the analyser and the planner: streams clicks, wclicks (watermark of 10
 * seconds), orders and wpayments, the table pages; schemas come from the spec alone.
 */
#ifndef TESTS_UNIT_ANALYZE_ANALYZE_FIXTURE_H
#define TESTS_UNIT_ANALYZE_ANALYZE_FIXTURE_H

#include "analyze/analyze.h"

#include <string.h>

struct fixture {
    struct arena *arena;
    struct relation_spec sources[4];
    struct relation_spec tables[2];
    struct query_spec spec;
    struct analyze_catalog catalog;
    struct analysis *analysis;
    struct error err;
};

static inline enum status fixture_schema(struct analyze_catalog *self, struct arena *arena,
                                         const struct relation_spec *relation, bool streaming,
                                         const struct type **out, struct error *err)
{
    (void)self;
    (void)streaming;
    return type_parse_schema(arena, bytes_of_text(relation->schema_text), out, err);
}

static inline struct relation_spec fixture_relation(const char *name, const char *schema,
                                                    const char *delay)
{
    return (struct relation_spec){
        .name = name,
        .format = "memory",
        .schema_text = schema,
        .watermark = {.column = delay != NULL ? "at" : NULL, .delay = delay},
    };
}

static inline void fixture_open(struct fixture *fixture)
{
    static const char clicks[] = "visitor STRING, url STRING, n INT, at TIMESTAMP";
    memset(fixture, 0, sizeof *fixture);
    fixture->arena = arena_new("query", 0);
    fixture->catalog.schema = fixture_schema;
    fixture->sources[0] = fixture_relation("clicks", clicks, NULL);
    fixture->sources[1] = fixture_relation("wclicks", clicks, "10 seconds");
    fixture->sources[2] =
        fixture_relation("worders", "id BIGINT, amount DOUBLE, at TIMESTAMP", "10 seconds");
    fixture->sources[3] =
        fixture_relation("wpayments", "order_id BIGINT, paid DOUBLE, at TIMESTAMP", "20 seconds");
    fixture->tables[0] = fixture_relation("pages", "url STRING, section STRING, rank INT", NULL);
    fixture->tables[1] = fixture_relation(
        "nested", "k INT, s STRUCT<a: INT, b: INT, t: STRUCT<x: INT, y: INT, z: INT>>", NULL);
    fixture->tables[1].format = "json";
    fixture->spec.sources = fixture->sources;
    fixture->spec.source_count = 4;
    fixture->spec.tables = fixture->tables;
    fixture->spec.table_count = 2;
}

static inline enum status fixture_analyze(struct fixture *fixture, const char *sql,
                                          const char *mode, bool bounded)
{
    struct analyze_options options = {
        .bounded = bounded, .catalog = &fixture->catalog, .skip_sink = true};
    fixture->spec.sql = sql;
    fixture->spec.output_mode = mode;
    fixture->err = (struct error)ERROR_INIT;
    return analyze_query(fixture->arena, &fixture->spec, &options, NULL, &fixture->analysis,
                         &fixture->err);
}

static inline void fixture_close(struct fixture *fixture)
{
    arena_free(fixture->arena);
}

#endif
