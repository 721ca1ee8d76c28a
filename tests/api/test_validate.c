/*
 * Validation: what only a worker could refuse is refused before there is one, every problem is said
 * at once, each with its place, and fixes are those that work.
 */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "validate_texts.h"

static int setup(void **state)
{
    (void)state;
    server_start(&server, NULL);
    make_dir(&server, "in");
    make_dir(&server, "in/day=2024-05-01");
    write_file(&server, "in/day=2024-05-01/a.json", "{\"a\":1}\n");
    make_dir(&server, "other");
    return 0;
}

static void expect(const struct expected *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        print_message("%s\n", cases[i].spec);
        json_t *answer = post(&server, "/v1/validate", at_home(cases[i].spec), 200);
        const json_t *diagnostics = json_object_get(answer, "diagnostics");
        bool valid = json_is_true(json_object_get(answer, "valid"));
        assert_int_equal(valid, cases[i].pointer == NULL);
        if (cases[i].pointer != NULL) {
            assert_int_equal(json_array_size(diagnostics), 1);
            assert_non_null(find(answer, &cases[i]));
            refused(&server,
                    &(struct call){
                        .method = "POST", .path = "/v1/queries", .body = at_home(cases[i].spec)},
                    422, cases[i].condition);
        }
        json_decref(answer);
    }
}
#define EXPECT(cases) expect(cases, sizeof(cases) / sizeof(cases)[0])

static void a_sink_is_checked_before_it_is_opened(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        {"{" IN "," GOOD_SQL "," OUT("json") "}", NULL, NULL},
        {"{" IN "," GOOD_SQL ",\"sink\":{\"format\":\"json\"}}", "/sink/options/path",
         "OPTION_REQUIRED"},
        {"{" IN "," GOOD_SQL "," OUT("jsno") "}", "/sink/format", "DATA_SOURCE_NOT_FOUND"},
        {"{" IN "," GOOD_SQL "," OUT("text") "}", "/sink/format",
         "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE"},
        {"{" IN "," SQL("SELECT b, b AS c FROM s") "," OUT("text") "}", "/sink/format",
         "_LEGACY_ERROR_TEMP_1290"},
        {"{" IN "," SQL("SELECT b FROM s") "," OUT("text") "}", NULL, NULL},
        {"{" IN "," GOOD_SQL
         ",\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"s3a://b/k\"}}}",
         "/sink/options/path", "NOT_SUPPORTED"},
        {"{" IN "," GOOD_SQL
         ",\"sink\":{\"format\":\"csv\",\"options\":{\"path\":\"$/out\",\"headr\":true}}}",
         "/sink/options/headr", "UNKNOWN_OPTION"},
        {"{" IN "," GOOD_SQL ",\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"$/"
         "out\",\"maxRecordsPerFile\":-1}}}",
         "/sink/options/maxRecordsPerFile", "INVALID_OPTION_VALUE"},
        {"{" IN "," GOOD_SQL ",\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"$/out\"},"
         "\"partitionBy\":[\"a\",\"c\"]}}",
         "/sink/partitionBy/1", "_LEGACY_ERROR_TEMP_1196"},
        {"{" IN "," GOOD_SQL ",\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"$/out\","
         "\"PartitionBy\":\"a, c\"}}}",
         "/sink/options/PartitionBy", "UNKNOWN_OPTION"},
        {"{" IN "," GOOD_SQL ",\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"$/out\","
         "\"partitionBy\":[\"a\"]},\"partitionBy\":[\"b\"]}}",
         "/sink/options/partitionBy", "UNKNOWN_OPTION"},
        {"{" IN "," GOOD_SQL ",\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"$/out\"},"
         "\"partitionBy\":[\"a\",\"b\"]}}",
         "/sink/partitionBy", "ALL_PARTITION_COLUMNS_NOT_ALLOWED"},
        {"{" IN "," GOOD_SQL
         ",\"sink\":{\"format\":\"memory\",\"options\":{\"maxBytes\":\"much\"}}}",
         "/sink/options/maxBytes", "INVALID_OPTION_VALUE"},
        {"{" IN "," GOOD_SQL
         ",\"sink\":{\"format\":\"console\",\"options\":{\"numRows\":\"few\"}}}",
         "/sink/options/numRows", "INVALID_OPTION_VALUE"},
        {"{" IN "," GOOD_SQL ",\"sink\":{\"format\":\"noop\",\"options\":{\"path\":\"$/out\"}}}",
         "/sink/options/path", "UNKNOWN_OPTION"},
    };
    EXPECT(cases);
}

static void a_source_is_checked_before_it_is_opened(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        {"{" SOURCE("") "," GOOD_SQL "," OUT("json") "}", "/sources/s/options/path",
         "OPTION_REQUIRED"},
        {"{" SOURCE("\"path\":\"$/nowhere\"") "," GOOD_SQL "," OUT("json") "}",
         "/sources/s/options/path", "PATH_NOT_FOUND"},
        {"{" SOURCE("\"path\":\"hdfs://n/in\"") "," GOOD_SQL "," OUT("json") "}",
         "/sources/s/options/path", "NOT_SUPPORTED"},
        {"{" SOURCE("\"path\":\"http://n/in\"") "," GOOD_SQL "," OUT("json") "}",
         "/sources/s/options/path", "NOT_SUPPORTED"},
        {"{" SOURCE("\"path\":\"$/in\",\"maxFilesPerTriger\":1") "," GOOD_SQL "," OUT("json") "}",
         "/sources/s/options/maxFilesPerTriger", "UNKNOWN_OPTION"},
        {"{" SOURCE("\"path\":\"$/in\",\"maxfilespertrigger\":0") "," GOOD_SQL "," OUT("json") "}",
         "/sources/s/options/maxfilespertrigger", "INVALID_OPTION_VALUE"},
        {"{" SOURCE("\"path\":\"$/in\",\"modifiedAfter\":\"2024-05-01T00:00:00\"") "," GOOD_SQL
                                                                                   "," OUT(
                                                                                       "json") "}",
         "/sources/s/options/modifiedAfter", "INVALID_OPTION_VALUE"},
        {"{" SOURCE("\"path\":\"$/in\",\"cleanSource\":\"archive\"") "," GOOD_SQL
                                                                     "," OUT("json") "}",
         "/sources/s/options/sourceArchiveDir", "OPTION_REQUIRED"},
        {"{\"sources\":{\"s\":{\"format\":\"json\",\"options\":{\"path\":\"$/in\"}}}," GOOD_SQL
         "," OUT("json") "}",
         "/sources/s/schema", "SCHEMA_REQUIRED"},
        {"{\"sources\":{\"s\":{\"format\":\"jsonn\",\"schema\":\"a INT, b STRING\"}}," GOOD_SQL
         "," OUT("json") "}",
         "/sources/s/format", "DATA_SOURCE_NOT_FOUND"},
        {"{\"sources\":{\"s\":{\"format\":\"rate\",\"schema\":\"a INT\"}}," SQL(
             "SELECT 1 FROM s") "," OUT("json") "}",
         "/sources/s/schema", "SCHEMA_NOT_ALLOWED"},
        {"{" IN
         ",\"tables\":{\"t\":{\"format\":\"json\",\"schema\":\"b STRING\",\"options\":{\"path\":"
         "\"$/in\"}}}," SQL(
             "SELECT b FROM s EXCEPT ALL SELECT b FROM t") ",\"sink\":{\"format\":"
                                                           "\"noop\"},\"outputMode\":\"update\"}",
         NULL, NULL},
        {"{" IN ",\"tables\":{\"t\":{\"format\":\"csv\",\"schema\":\"a INT\",\"options\":{\"path\":"
         "\"$/nowhere\"}}}," GOOD_SQL "," OUT("json") "}",
         "/tables/t/options/path", "PATH_NOT_FOUND"},
        /* Columns that the worker finds in directory names. */
        {"{" IN "," SQL("SELECT a, day FROM s") "," OUT("json") "}", NULL, NULL},
    };
    EXPECT(cases);
}

static void what_is_written_is_not_read_again(void **state)
{
    (void)state;
    char link_path[128], target[128];
    (void)snprintf(link_path, sizeof link_path, "%s/alias", server.dir);
    (void)snprintf(target, sizeof target, "%s/in", server.dir);
    assert_int_equal(symlink(target, link_path), 0);
    static const struct {
        const char *path;
        bool refused;
    } sinks[] = {{"$/in", true},       {"$/in/", true},      {"$/in/x/y", true}, {"$", true},
                 {"file:$/in", true},  {"$/alias/x", true},  {"$/in/_x", false}, {"$/inn", false},
                 {"$/in/../in", true}, {"$/in/../o", false}, {"$/other", false}};
    for (size_t i = 0; i < sizeof sinks / sizeof sinks[0]; i++) {
        char spec[512];
        (void)snprintf(spec, sizeof spec,
                       "{" IN "," GOOD_SQL
                       ",\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"%s\"}}}",
                       sinks[i].path);
        const struct expected expected = {spec, sinks[i].refused ? "/sink/options/path" : NULL,
                                          "SINK_PATH_OVERLAPS_SOURCE"};
        expect(&expected, 1);
    }
    static const struct expected others[] = {
        {"{" SOURCE("\"path\":\"$/i*\"") "," GOOD_SQL ",\"sink\":{\"format\":\"json\",\"options\":{"
                                         "\"path\":\"$/index\"}}}",
         "/sink/options/path", "SINK_PATH_OVERLAPS_SOURCE"},
        {"{" IN "," GOOD_SQL "," OUT("json") ",\"checkpointLocation\":\"$/in/cp\"}",
         "/checkpointLocation", "INVALID_CHECKPOINT_LOCATION"},
        {"{" IN "," GOOD_SQL "," OUT("json") ",\"checkpointLocation\":\"$/out\"}",
         "/checkpointLocation", "INVALID_CHECKPOINT_LOCATION"},
        {"{" IN "," GOOD_SQL "," OUT("json") ",\"checkpointLocation\":\"$/out/_cp\"}", NULL, NULL},
    };
    EXPECT(others);
}

/* What others write there damages records and checkpoints. */
static void directories_of_the_server_are_no_places_for_output(void **state)
{
    (void)state;
#define SINK_AT(dir)                                                                               \
    "{" IN "," GOOD_SQL ",\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"" dir "\"}}"
    static const struct expected cases[] = {
        {SINK_AT("$/data") "}", "/sink/options/path", "INVALID_OPTION_VALUE"},
        {SINK_AT("$/data/queries/x") "}", "/sink/options/path", "INVALID_OPTION_VALUE"},
        {SINK_AT("file:$/data/../data/checkpoints") "}", "/sink/options/path",
         "INVALID_OPTION_VALUE"},
        {SINK_AT("$/data/out") "}", NULL, NULL},
        {SINK_AT("$/cp/out") ",\"checkpointLocation\":\"$/cp\"}", "/checkpointLocation",
         "INVALID_CHECKPOINT_LOCATION"},
        {SINK_AT("$/o") ",\"checkpointLocation\":\"$/data/queries/cp\"}", "/checkpointLocation",
         "INVALID_CHECKPOINT_LOCATION"},
        {SINK_AT("$/o") ",\"checkpointLocation\":\"$/data\"}", "/checkpointLocation",
         "INVALID_CHECKPOINT_LOCATION"},
        {"{" SOURCE("\"path\":\"$/in\",\"cleanSource\":\"archive\",\"sourceArchiveDir\":"
                    "\"$/data/checkpoints/a\"") "," GOOD_SQL "," OUT("json") "}",
         "/sources/s/options/sourceArchiveDir", "INVALID_OPTION_VALUE"},
        {"{" SOURCE("\"path\":\"$/in\",\"cleanSource\":\"archive\",\"sourceArchiveDir\":"
                    "\"$/cp/a\"") "," GOOD_SQL "," OUT("json") ",\"checkpointLocation\":\"$/cp\"}",
         "/sources/s/options/sourceArchiveDir", "INVALID_OPTION_VALUE"},
    };
    EXPECT(cases);
}

/* Of the SQL: "1:8" is where the span begins. */
static void every_reason_has_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *place, *condition, *text;
    } cases[] = {
        {"INSERT INTO t SELECT a FROM s", "1:1", "WRITE_STREAM_NOT_ALLOWED",
         "INSERT is no query: sql takes a SELECT"},
        {"\\n create table t AS SELECT a FROM s", "2:2", "WRITE_STREAM_NOT_ALLOWED",
         "create is no query"},
        {"SELECT count(*) FROM s GROUP BY window(at, '1 month')", "1:33", "_LEGACY_ERROR_TEMP_3231",
         "1 month"},
        {"SELECT window_time(named_struct('start', at, 'end', at)) FROM s", "1:8", "NOT_SUPPORTED",
         "window_time() takes the column that window()"},
        {"SELECT s.a FROM s JOIN s AS r ON s.a < r.a", "1:17", "NOT_SUPPORTED",
         "needs an equality of a column"},
        {"SELECT from_json(b, 'a INTT') FROM s", "1:8", "PARSE_SYNTAX_ERROR",
         "The data type \"INTT\" is not supported. Did you mean INT?"},
        {"SELECT at + INTERVAL '5' MINUTS FROM s", "1:13", "INVALID_TYPED_LITERAL",
         "The interval '5' has no unit, or what follows is none. Write it behind"},
        {"SELECT a, monotonically_increasing_id() AS i FROM s", "1:11", "_LEGACY_ERROR_TEMP_3102",
         "uuid() gives each row an id"},
        {"SELECT b + DATE '2026-01-01' FROM s", "1:8", "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
         "but \"b\" has the type \"STRING\""},
        {"SELECT INTERVAL '5 fortnights' FROM s", "1:8", "INVALID_TYPED_LITERAL",
         "'5 fortnights' cannot be read"},
        {"SELECT round(a / 3, b) FROM s", "1:8", "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT",
         "has to be a constant of the type \"INT\", but is \"b\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char spec[1024], place[32];
        (void)snprintf(spec, sizeof spec, "{" IN ",\"sql\":\"%s\"," OUT("json") "}", cases[i].sql);
        const struct expected expected = {spec, "/sql", cases[i].condition};
        json_t *answer = post(&server, "/v1/validate", at_home(spec), 200);
        const json_t *found = find(answer, &expected);
        assert_non_null(found);
        const json_t *span = json_object_get(found, "span");
        (void)snprintf(place, sizeof place, "%lld:%lld",
                       (long long)json_integer_value(json_object_get(span, "line")),
                       (long long)json_integer_value(json_object_get(span, "column")));
        assert_string_equal(place, cases[i].place);
        assert_non_null(strstr(text_of(found, "detail"), cases[i].text));
        json_decref(answer);
    }
}

/* In the text of a schema, too, counted in characters. */
static void a_schema_has_places(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *condition;
        int column;
    } cases[] = {
        {"a INT, b: BIGINT", "PARSE_SYNTAX_ERROR", 9},
        {"`\xc3\xa9` INT, b DOUBLE PRECISION", "PARSE_SYNTAX_ERROR", 19},
        {"a INT, b ROW<x INT>", "PARSE_SYNTAX_ERROR", 13},
        {"a INT, b BIGNT", "UNSUPPORTED_DATATYPE", 10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char spec[1024];
        (void)snprintf(spec, sizeof spec,
                       "{\"sources\":{\"s\":{\"format\":\"json\",\"schema\":\"%s\",\"options\":{"
                       "\"path\":\"$/in\"}}}," GOOD_SQL "," OUT("json") "}",
                       cases[i].schema);
        const struct expected expected = {spec, "/sources/s/schema", cases[i].condition};
        json_t *answer = post(&server, "/v1/validate", at_home(spec), 200);
        const json_t *span = json_object_get(find(answer, &expected), "span");
        print_message("%s\n", cases[i].schema);
        assert_int_equal(json_integer_value(json_object_get(span, "line")), 1);
        assert_int_equal(json_integer_value(json_object_get(span, "column")), cases[i].column);
        json_decref(answer);
    }
}

static void a_format_that_there_is_not_is_answered_with_those_that_there_are(void **state)
{
    (void)state;
    static const char *const formats[] = {"orc", "kafka", "avro"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char spec[512];
        (void)snprintf(spec, sizeof spec,
                       "{\"sources\":{\"s\":{\"format\":\"%s\",\"schema\":\"a INT\"}}," SQL(
                           "SELECT a FROM s") ",\"sink\":{\"format\":\"%s\"}}",
                       formats[i], formats[i]);
        struct reply reply =
            call(&server, &(struct call){.method = "POST", .path = "/v1/validate", .body = spec});
        assert_non_null(strstr(reply.text, "there are json, "));
        assert_non_null(strstr(reply.text, ", memory"));
        reply_free(&reply);
    }
}

static void every_place_has_a_pointer(void **state)
{
    (void)state;
#define WATERMARK(column, delay)                                                                   \
    "{\"sources\":{\"s\":{\"format\":\"json\",\"schema\":\"a INT, b STRING, at TIMESTAMP\","       \
    "\"options\":{\"path\":\"$/in\"},\"watermark\":{\"column\":\"" column "\",\"delay\":\"" delay  \
    "\"}}}," GOOD_SQL "," OUT("json") "}"
    static const struct expected cases[] = {
        {WATERMARK("att", "1 minute"), "/sources/s/watermark/column",
         "UNRESOLVED_COLUMN.WITH_SUGGESTION"},
        {WATERMARK("b", "1 minute"), "/sources/s/watermark/column",
         "EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE"},
        {WATERMARK("at", "soon"), "/sources/s/watermark/delay", "CANNOT_PARSE_INTERVAL"},
        {WATERMARK("at", "-1 minute"), "/sources/s/watermark/delay", "INVALID_DURATION"},
        {"{" IN
         ",\"views\":[{\"name\":\"v\",\"from\":\"s\"},{\"name\":\"S\",\"from\":\"s\"}]," GOOD_SQL
         "," OUT("json") "}",
         "/views/1/name", "DUPLICATE_NAME"},
        {"{" IN ",\"views\":[{\"name\":\"v\",\"from\":\"x\"}]," GOOD_SQL "," OUT("json") "}",
         "/views/0/from", "TABLE_OR_VIEW_NOT_FOUND"},
        {"{" IN ",\"views\":[{\"name\":\"v\",\"from\":\"s\",\"dropDuplicates\":[\"q\"]}]," GOOD_SQL
         "," OUT("json") "}",
         "/views/0/dropDuplicates", "UNRESOLVED_COLUMN_AMONG_FIELD_NAMES"},
        {"{" IN "," GOOD_SQL "," OUT("json") ",\"outputMode\":\"update\"}", "/outputMode",
         "STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE"},
    };
    EXPECT(cases);
}

/* All at once: the form, a source, several places of one SQL text, views, the sink. */
static void everything_is_said_at_once(void **state)
{
    (void)state;
    json_t *answer = post(
        &server, "/v1/validate",
        at_home("{" SOURCE(
            "\"path\":\"$/in\",\"latestFirst\":\"perhaps\",\"maxFiles\":1") ","
                                                                            "\"views\":[{\"name\":"
                                                                            "\"v\",\"sql\":"
                                                                            "\"SELECT v1 FROM s\"},"
                                                                            "{\"name\":\"w\","
                                                                            "\"sql\":\"SELECT w1 "
                                                                            "FROM s\"}],"
                                                                            "\"sql\":\"SELECT aa, "
                                                                            "bb + cc, nosuch(a) "
                                                                            "FROM s WHERE dd > 1 "
                                                                            "UNION ALL "
                                                                            "SELECT a, a, ee FROM "
                                                                            "s\","
                                                                            "\"sink\":{\"format\":"
                                                                            "\"json\",\"options\":{"
                                                                            "\"path\":\"$/"
                                                                            "out\",\"compresion\":"
                                                                            "\"gzip\","
                                                                            "\"maxRecordsPerFile\":"
                                                                            "\"x\"}},\"triger\":{}"
                                                                            "}"),
        200);
    static const struct {
        const char *pointer;
        int column; /* of the span; 0: none */
    } places[] = {
        {"/triger", 0},
        {"/sources/s/options/latestFirst", 0},
        {"/sources/s/options/maxFiles", 0},
        {"/views/0/sql", 8},
        {"/views/1/sql", 8},
        {"/sql", 8},
        {"/sql", 12},
        {"/sql", 17},
        {"/sql", 21},
        {"/sql", 44},
        {"/sql", 74},
        {"/sink/options/compresion", 0},
        {"/sink/options/maxRecordsPerFile", 0},
    };
    const json_t *diagnostics = json_object_get(answer, "diagnostics");
    assert_int_equal(json_array_size(diagnostics), sizeof places / sizeof places[0]);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        bool found = false;
        size_t at;
        json_t *item;
        json_array_foreach(diagnostics, at, item)
        {
            const json_t *column = json_object_get(json_object_get(item, "span"), "column");
            found |= strcmp(text_of(item, "pointer"), places[i].pointer) == 0 &&
                     json_integer_value(column) == places[i].column;
        }
        print_message("%s %d\n", places[i].pointer, places[i].column);
        assert_true(found);
    }
    json_decref(answer);
}

/* Spark lets them pass, and so do we; but few want them. */
static void equal_names_in_json_are_warned_of(void **state)
{
    (void)state;
    json_t *answer =
        post(&server, "/v1/validate",
             at_home("{" IN "," SQL("SELECT a, b AS A FROM s") "," OUT("json") "}"), 200);
    assert_true(json_is_true(json_object_get(answer, "valid")));
    const json_t *warning = json_array_get(json_object_get(answer, "diagnostics"), 0);
    assert_string_equal(text_of(warning, "condition"), "QUERY_WARNING");
    assert_string_equal(text_of(warning, "severity"), "WARNING");
    json_decref(answer);
}

/* What follows from an error is not said as if it were another. */
static void what_follows_from_an_error_is_not_said(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        {"{" IN
         "," SQL("SELECT q.k + 1, q.m FROM (SELECT aa AS k, a AS m FROM s) q") "," OUT("json") "}",
         "/sql", "UNRESOLVED_COLUMN.WITH_SUGGESTION"},
        {"{" IN "," SQL("SELECT upper(aa) + 1 AS x, b FROM s ORDER BY x") "," OUT("json") "}",
         "/sql", "UNRESOLVED_COLUMN.WITH_SUGGESTION"},
        {"{" IN ",\"views\":[{\"name\":\"v\",\"sql\":\"SELECT aa AS x FROM s\"}],"
         "\"sql\":\"SELECT explode(x) FROM v\"," OUT("json") "}",
         "/views/0/sql", "UNRESOLVED_COLUMN.WITH_SUGGESTION"},
        {"{\"sources\":{\"s\":{\"format\":\"json\",\"schema\":\"a INTT\",\"options\":{\"path\":"
         "\"$/in\"}}}," GOOD_SQL "," OUT("json") "}",
         "/sources/s/schema", "UNSUPPORTED_DATATYPE"},
    };
    EXPECT(cases);
}

static void a_misspelling_has_a_fix(void **state)
{
    (void)state;
    static const struct {
        struct expected expected;
        const char *pointer, *value; /* of the last edit */
    } cases[] = {
        {{"{" IN "," GOOD_SQL "," OUT("jsno") "}", "/sink/format", "DATA_SOURCE_NOT_FOUND"},
         "/sink/format",
         "json"},
        {{"{" IN "," GOOD_SQL "," OUT("json") ",\"outputMode\":\"appnd\"}", "/outputMode",
          "STREAMING_OUTPUT_MODE.INVALID"},
         "/outputMode",
         "append"},
        {{"{" IN "," GOOD_SQL "," OUT("json") ",\"desiredState\":\"STOPED\"}", "/desiredState",
          "INVALID_FIELD_VALUE"},
         "/desiredState",
         "STOPPED"},
        {{"{" SOURCE("\"path\":\"$/in\",\"cleanSource\":\"delet\"") "," GOOD_SQL
                                                                    "," OUT("json") "}",
          "/sources/s/options/cleanSource", "INVALID_OPTION_VALUE"},
         "/sources/s/options/cleanSource",
         "delete"},
        {{"{" SOURCE("\"path\":\"$/in\",\"encodng\":\"UTF-8\"") "," GOOD_SQL "," OUT("json") "}",
          "/sources/s/options/encodng", "UNKNOWN_OPTION"},
         "/sources/s/options/encoding",
         "UTF-8"},
        {{"{" IN "," GOOD_SQL "," OUT("json") ",\"outputMod\":\"append\"}", "/outputMod",
          "UNKNOWN_FIELD"},
         "/outputMode",
         "append"},
        {{"{" IN "," GOOD_SQL "," OUT("json") ",\"conf\":{\"spark.sql.session.timeZon\":\"UTC\"}}",
          "/conf/spark.sql.session.timeZon", "UNKNOWN_CONF"},
         "/conf/spark.sql.session.timeZone",
         "UTC"},
        {{WATERMARK("att", "1 minute"), "/sources/s/watermark/column",
          "UNRESOLVED_COLUMN.WITH_SUGGESTION"},
         "/sources/s/watermark/column",
         "at"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].expected.spec);
        json_t *answer = post(&server, "/v1/validate", at_home(cases[i].expected.spec), 200);
        const json_t *diagnostic = find(answer, &cases[i].expected);
        assert_non_null(diagnostic);
        const json_t *fix = json_array_get(json_object_get(diagnostic, "fixes"), 0);
        assert_true(json_is_true(json_object_get(fix, "validated")));
        const json_t *edits = json_object_get(fix, "edits");
        const json_t *last = json_array_get(edits, json_array_size(edits) - 1);
        assert_string_equal(text_of(last, "pointer"), cases[i].pointer);
        assert_string_equal(text_of(last, "value"), cases[i].value);
        json_decref(answer);
    }
}

/* The text of an edit is the first of its kind, wherever the misspelling stands. */
static void a_text_edit_names_its_place(void **state)
{
    (void)state;
    json_t *answer =
        post(&server, "/v1/validate",
             at_home("{" IN "," SQL("SELECT at, a, att FROM sss") "," OUT("json") "}"), 200);
    const struct expected relation = {NULL, "/sql", "TABLE_OR_VIEW_NOT_FOUND"};
    assert_non_null(find(answer, &relation));
    json_decref(answer);
    answer = post(
        &server, "/v1/validate",
        at_home("{" IN "," SQL("SELECT b AS att_, a AS ab, att FROM s") "," OUT("json") "}"), 200);
    const struct expected column = {NULL, "/sql", "UNRESOLVED_COLUMN.WITH_SUGGESTION"};
    const json_t *fix = json_array_get(json_object_get(find(answer, &column), "fixes"), 0);
    const json_t *edit = json_array_get(json_object_get(fix, "edits"), 0);
    assert_string_equal(text_of(edit, "replace"), ", att");
    assert_string_equal(text_of(edit, "text"), ", at");
    json_decref(answer);
}

/* The first fix of the only diagnostic, NULL if there is none. */
static const json_t *only_fix(const json_t *answer)
{
    const json_t *diagnostics = json_object_get(answer, "diagnostics");
    assert_int_equal(json_array_size(diagnostics), 1);
    return json_array_get(json_object_get(json_array_get(diagnostics, 0), "fixes"), 0);
}

#define INTO_MEMORY "\"sink\":{\"format\":\"memory\"}"

/* A column that is misspelt where it is not read but named, and where it stands twice. */
static void a_misspelt_column_has_a_fix_wherever_it_stands(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *pointer, *replace, *text; /* of the last edit; replace NULL: a value */
        size_t edits;
    } cases[] = {
        {"{" MARKED_SOURCE "," SQL("SELECT * EXCEPT (cst) FROM s") "," OUT("json") "}", "/sql",
         "cst", "cust", 1},
        {"{" MARKED_SOURCE "," SQL("SELECT * EXCEPT (id, cst) FROM s") "," OUT("json") "}", "/sql",
         "cst", "cust", 1},
        {"{" MARKED_SOURCE "," SQL(
             "SELECT idd, 'idd', count(*) AS idds FROM s GROUP BY idd") ",\"outputMode\":"
                                                                        "\"update\"," INTO_MEMORY
                                                                        "}",
         "/sql", "Y idd", "Y id", 2},
        {"{" MARKED_SOURCE
         ",\"views\":[{\"name\":\"d\",\"from\":\"s\",\"dropDuplicates\":[\"ts\",\"idd\"]}]," SQL(
             "SELECT * FROM d") "," OUT("json") "}",
         "/views/0/dropDuplicates/1", NULL, "id", 1},
        {"{" MARKED_SOURCE "," SQL(
             "SELECT * FROM s") ",\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"$/out\"},"
                                "\"partitionBy\":[\"ts\",\"cst\"]}}",
         "/sink/partitionBy/1", NULL, "cust", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].spec);
        json_t *answer = post(&server, "/v1/validate", at_home(cases[i].spec), 200);
        const json_t *edits = json_object_get(only_fix(answer), "edits");
        assert_int_equal(json_array_size(edits), cases[i].edits);
        const json_t *last = json_array_get(edits, cases[i].edits - 1);
        assert_string_equal(text_of(last, "pointer"), cases[i].pointer);
        if (cases[i].replace != NULL)
            assert_string_equal(text_of(last, "replace"), cases[i].replace);
        assert_string_equal(text_of(last, cases[i].replace != NULL ? "text" : "value"),
                            cases[i].text);
        json_decref(answer);
    }
}

static void a_mode_that_a_join_does_not_have_is_replaced(void **state)
{
    (void)state;
    json_t *answer = post(
        &server, "/v1/validate",
        at_home("{" MARKED_SOURCE "," SQL(
            "SELECT a.id FROM s a LEFT JOIN s b ON a.id = b.id AND a.ts "
            "BETWEEN b.ts AND b.ts + INTERVAL 1 HOUR") ",\"outputMode\":\"update\"," INTO_MEMORY
                                                       "}"),
        200);
    const json_t *edit = json_array_get(json_object_get(only_fix(answer), "edits"), 0);
    assert_string_equal(text_of(edit, "pointer"), "/outputMode");
    assert_string_equal(text_of(edit, "value"), "append");
    json_decref(answer);
}

static const json_t *trigger_of(const json_t *answer, const char *kind)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(answer, "triggers"), i, item)
    {
        if (strcmp(text_of(item, "trigger"), kind) == 0)
            return item;
    }
    fail_msg("no trigger %s", kind);
    return NULL;
}

static void each_trigger_is_judged(void **state)
{
    (void)state;
    json_t *answer =
        post(&server, "/v1/validate",
             at_home("{" SOURCE("\"path\":\"$/in\",\"maxFilesPerTrigger\":1") "," GOOD_SQL
                                                                              "," OUT("json") "}"),
             200);
    static const struct {
        const char *kind, *condition, *reason; /* NULL: null */
    } triggers[] = {
        {"default", NULL, NULL},
        {"processingTime", NULL, NULL},
        {"availableNow", NULL,
         "batches within maxFilesPerTrigger of s until all that is there is read"},
        {"once", NULL, "everything is one batch: maxFilesPerTrigger of s does not count"},
        {"continuous", "NOT_SUPPORTED",
         "Continuous processing is not supported by this version of Tidemill"},
        {"realTime", "NOT_SUPPORTED",
         "Real-time mode is not supported by this version of Tidemill"},
    };
    for (size_t i = 0; i < sizeof triggers / sizeof triggers[0]; i++) {
        const json_t *it = trigger_of(answer, triggers[i].kind);
        assert_int_equal(json_is_true(json_object_get(it, "legal")), triggers[i].condition == NULL);
        if (triggers[i].condition != NULL)
            assert_string_equal(text_of(it, "condition"), triggers[i].condition);
        if (triggers[i].reason != NULL)
            assert_string_equal(text_of(it, "reason"), triggers[i].reason);
        else
            assert_true(json_is_null(json_object_get(it, "reason")));
    }
    json_decref(answer);
    answer = post(&server, "/v1/validate",
                  "{\"sources\":{\"r\":{\"format\":\"rate-micro-batch\",\"options\":{"
                  "\"rowsPerBatch\":5}}},\"sql\":\"SELECT value FROM r\",\"sink\":{"
                  "\"format\":\"noop\"}}",
                  200);
    assert_string_equal(text_of(trigger_of(answer, "availableNow"), "reason"),
                        "one batch of rowsPerBatch rows of r, then the query ends");
    assert_true(json_is_null(json_object_get(trigger_of(answer, "once"), "reason")));
    json_decref(answer);
}

#define STREAM(name, watermark)                                                                    \
    "\"" name "\":{\"format\":\"json\",\"schema\":\"a INT, at TIMESTAMP\",\"options\":{"           \
    "\"path\":\"$/in\"}" watermark "}"
#define MARKED          ",\"watermark\":{\"column\":\"at\",\"delay\":\"1 minute\"}"
#define NOOP            "\"sink\":{\"format\":\"noop\"}"
#define TWO(x, y, text) "{\"sources\":{" STREAM("x", x) "," STREAM("y", y) "}," SQL(text) "," NOOP

static bool warns(const json_t *answer, const char *name, const char *pointer)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(answer, "warnings"), i, item)
    {
        if (strcmp(text_of(item, "name"), name) != 0)
            continue;
        assert_string_equal(text_of(item, "pointer"), pointer);
        const json_t *diagnostic = NULL;
        size_t j;
        json_t *other;
        json_array_foreach(json_object_get(answer, "diagnostics"), j, other)
        {
            if (strcmp(text_of(other, "detail"), text_of(item, "text")) == 0)
                diagnostic = other;
        }
        assert_non_null(diagnostic);
        assert_string_equal(text_of(diagnostic, "severity"), "WARNING");
        assert_string_equal(text_of(diagnostic, "pointer"), pointer);
        return true;
    }
    return false;
}

/* Once for each place, however often the stream is read. */
static void each_place_is_warned_of_once(void **state)
{
    (void)state;
    json_t *answer = post(&server, "/v1/validate",
                          at_home(TWO(MARKED, MARKED,
                                      "SELECT a FROM x UNION ALL SELECT a FROM y UNION ALL SELECT "
                                      "a FROM x") "}"),
                          200);
    const json_t *warnings = json_object_get(answer, "warnings");
    assert_int_equal(json_array_size(warnings), 2);
    assert_string_equal(text_of(json_array_get(warnings, 0), "pointer"), "/sources/x/watermark");
    assert_string_equal(text_of(json_array_get(warnings, 1), "pointer"), "/sources/y/watermark");
    json_decref(answer);
}

static void what_watermarks_do_not_do_is_warned_of(void **state)
{
    (void)state;
#define RANGE(kind)                                                                                \
    "SELECT x.a FROM x " kind " JOIN y ON x.a = y.a AND x.at >= y.at - INTERVAL 10 SECONDS AND "   \
    "x.at <= y.at + INTERVAL 10 SECONDS"
#define BY_WINDOW(from) "SELECT window(at, '1 minute') AS w, count(*) AS n FROM " from " GROUP BY 1"
    static const struct {
        const char *spec, *name, *pointer; /* pointer NULL: not warned of by that name */
    } cases[] = {
        {TWO("", MARKED, RANGE("LEFT")) "}", "OUTER_JOIN_NEVER_PADS", "/sql"},
        {TWO(MARKED, "", RANGE("RIGHT")) "}", "OUTER_JOIN_NEVER_PADS", "/sql"},
        {TWO(MARKED, "", RANGE("FULL")) "}", "OUTER_JOIN_NEVER_PADS", "/sql"},
        {TWO(MARKED, MARKED, RANGE("LEFT")) "}", "OUTER_JOIN_NEVER_PADS", NULL},
        {TWO("", MARKED, "SELECT x.a FROM x LEFT JOIN y ON x.at = y.at") "}",
         "OUTER_JOIN_NEVER_PADS", NULL},
        {TWO(MARKED, "", "SELECT a FROM x") "}", "UNUSED_WATERMARK", "/sources/x/watermark"},
        {TWO("", "", "SELECT a FROM x WATERMARK at DELAY OF INTERVAL 1 MINUTE") "}",
         "UNUSED_WATERMARK", "/sql"},
        {TWO("", "", "SELECT a FROM v") ",\"views\":[{\"name\":\"v\",\"from\":\"x\"" MARKED "}]}",
         "UNUSED_WATERMARK", "/views/0/watermark"},
        {TWO(MARKED, "", BY_WINDOW("x")) "}", "UNUSED_WATERMARK", NULL},
        {TWO(MARKED, "", BY_WINDOW("x")) "}", "SOURCE_WITHOUT_WATERMARK", NULL},
        {TWO(MARKED, "", RANGE("INNER")) "}", "SOURCE_WITHOUT_WATERMARK", "/sources/y"},
        {TWO(MARKED, MARKED, RANGE("INNER")) "}", "SOURCE_WITHOUT_WATERMARK", NULL},
        {TWO(MARKED, "",
             RANGE("INNER")) ",\"conf\":{"
                             "\"spark.sql.streaming.multipleWatermarkPolicy\":\"max\"}}",
         "SOURCE_WITHOUT_WATERMARK", NULL},
        {TWO("", "", "SELECT a FROM x EXCEPT ALL VALUES (1)") ",\"outputMode\":\"update\"}",
         "SUBTRACTED_EVERY_BATCH", "/sql"},
        {TWO("", "", "SELECT a FROM x EXCEPT VALUES (1)") ",\"outputMode\":\"update\"}",
         "SUBTRACTED_EVERY_BATCH", NULL},
        {TWO("", "",
             "SELECT count(*) AS n FROM (SELECT a FROM x EXCEPT VALUES (1))") ",\"outputMode\":"
                                                                              "\"complete\"}",
         "COUNTED_EVERY_BATCH", "/sql"},
        {TWO("", "",
             "SELECT count(*) AS n FROM (SELECT a FROM x EXCEPT ALL VALUES (1))") ",\"outputMode\":"
                                                                                  "\"update\"}",
         "COUNTED_EVERY_BATCH", "/sql"},
        {TWO("", "", "SELECT a FROM x EXCEPT VALUES (1)") ",\"outputMode\":\"update\"}",
         "COUNTED_EVERY_BATCH", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].spec);
        json_t *answer = post(&server, "/v1/validate", at_home(cases[i].spec), 200);
        assert_true(json_is_true(json_object_get(answer, "valid")));
        const char *pointer = cases[i].pointer == NULL ? "" : cases[i].pointer;
        assert_int_equal(warns(answer, cases[i].name, pointer), cases[i].pointer != NULL);
        json_decref(answer);
    }
}

/* What the answer says of a mode: its condition, "" if it is legal, NULL if nothing is said. */
static const char *mode_of(const json_t *answer, const char *mode)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(answer, "outputModes"), i, item)
    {
        if (strcmp(text_of(item, "mode"), mode) == 0)
            return json_is_true(json_object_get(item, "legal")) ? "" : text_of(item, "condition");
    }
    return NULL;
}

static void modes_are_judged_whatever_else_is_wrong(void **state)
{
    (void)state;
#define OPERATION "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION"
#define SINK      "STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE"
#define NOOP      "\"sink\":{\"format\":\"noop\"}"
    static const struct {
        const char *spec, *append, *update, *complete; /* NULL: nothing can be said */
    } cases[] = {
        {"{" IN "," SQL("SELECT b, count(*) AS c FROM s GROUP BY b") "," NOOP "}", OPERATION, "",
         ""},
        {"{" IN "," SQL("SELECT b, count(*) AS c FROM s GROUP BY b") "," OUT("json") "}", OPERATION,
         SINK, SINK},
        {"{" IN "," GOOD_SQL "," OUT("json") "}", "", SINK, SINK},
        {"{" IN "," GOOD_SQL ",\"outputMode\":\"appendd\"," NOOP "}", "", "", OPERATION},
        {"{" SOURCE("\"path\":\"$/in\",\"mode\":\"PERMISIVE\"") "," GOOD_SQL "," NOOP "}", "", "",
         OPERATION},
        {"{" IN "," SQL("SELECT nosuch FROM s") "," NOOP "}", NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].spec);
        json_t *answer = post(&server, "/v1/validate", at_home(cases[i].spec), 200);
        const char *const expected[] = {cases[i].append, cases[i].update, cases[i].complete};
        static const char *const modes[] = {"append", "update", "complete"};
        for (size_t j = 0; j < 3; j++) {
            const char *said = mode_of(answer, modes[j]);
            assert_true((said == NULL) == (expected[j] == NULL));
            if (said != NULL)
                assert_string_equal(said, expected[j]);
        }
        assert_int_equal(json_is_null(json_object_get(answer, "outputSchema")),
                         cases[i].append == NULL);
        json_decref(answer);
    }
}

static void a_missing_watermark_has_a_fix(void **state)
{
    (void)state;
    static const char *const sinks[] = {OUT("json"), NOOP};
    for (size_t i = 0; i < 2; i++) {
        char spec[1024];
        (void)snprintf(spec, sizeof spec, "{%s,%s,%s}", IN,
                       SQL("SELECT window, count(*) AS c FROM s GROUP BY window(at, '1 minute')"),
                       sinks[i]);
        json_t *answer = post(&server, "/v1/validate", at_home(spec), 200);
        const struct expected place = {NULL, "/sql", OPERATION};
        const json_t *fixes = json_object_get(find(answer, &place), "fixes");
        const json_t *fix = json_array_get(fixes, 0);
        assert_string_equal(text_of(fix, "title"), "Add a watermark on at of s");
        const json_t *edit = json_array_get(json_object_get(fix, "edits"), 0);
        assert_string_equal(text_of(edit, "pointer"), "/sources/s/watermark");
        assert_string_equal(text_of(json_object_get(edit, "value"), "column"), "at");
        json_decref(answer);
    }
}

static void a_deduplication_within_a_watermark_gets_one(void **state)
{
    (void)state;
    json_t *answer = post(
        &server, "/v1/validate",
        at_home("{" IN ",\"views\":[{\"name\":\"v\",\"from\":\"s\","
                "\"dropDuplicatesWithinWatermark\":[\"b\"]}]," SQL("SELECT b FROM v") "," NOOP "}"),
        200);
    const json_t *diagnostic = json_array_get(json_object_get(answer, "diagnostics"), 0);
    const json_t *fix = json_array_get(json_object_get(diagnostic, "fixes"), 0);
    assert_string_equal(text_of(fix, "title"), "Add a watermark on at of s");
    json_decref(answer);
}

static void a_wrong_watermark_hides_nothing(void **state)
{
    (void)state;
#define WITH_MARK(column, delay)                                                                   \
    "\"sources\":{\"s\":{\"format\":\"json\",\"schema\":\"a INT, b STRING, at TIMESTAMP\","        \
    "\"options\":{\"path\":\"$/in\"},\"watermark\":{\"column\":\"" column "\",\"delay\":\"" delay  \
    "\"}}}"
#define PARTS(list)                                                                                \
    "\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"$/out\"},\"partitionBy\":[" list "]}"
#define UNRESOLVED "UNRESOLVED_COLUMN.WITH_SUGGESTION"
    static const struct {
        const char *spec;
        struct expected said[4];
    } cases[] = {
        {"{" WITH_MARK("att", "10 seconds") "," SQL("SELECT nosuch, b FROM s") "," PARTS(
             "\"zz\",\"nosuch\"") "}",
         {{NULL, "/sources/s/watermark/column", UNRESOLVED},
          {NULL, "/sql", UNRESOLVED},
          {NULL, "/sink/partitionBy/0", "_LEGACY_ERROR_TEMP_1196"}}},
        {"{" WITH_MARK("at", "10 secnds") "," SQL("SELECT nosuch FROM s") "," OUT("json") "}",
         {{NULL, "/sources/s/watermark/delay", "CANNOT_PARSE_INTERVAL"},
          {NULL, "/sql", UNRESOLVED}}},
        /* The rules for streams are not asked about a watermark that is known to be wrong. */
        {"{" WITH_MARK("att", "1 second") "," SQL(
             "SELECT count(*) AS c FROM s GROUP BY at") "," OUT("json") "}",
         {{NULL, "/sources/s/watermark/column", UNRESOLVED}}},
        {"{" IN "," GOOD_SQL "," PARTS("\"y\",\"a\",\"z\"") "}",
         {{NULL, "/sink/partitionBy/0", "_LEGACY_ERROR_TEMP_1196"},
          {NULL, "/sink/partitionBy/2", "_LEGACY_ERROR_TEMP_1196"}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].spec);
        json_t *answer = post(&server, "/v1/validate", at_home(cases[i].spec), 200);
        size_t count = 0;
        for (; cases[i].said[count].pointer != NULL; count++)
            assert_non_null(find(answer, &cases[i].said[count]));
        assert_int_equal(json_array_size(json_object_get(answer, "diagnostics")), count);
        json_decref(answer);
    }
}

static void a_value_of_an_option_is_checked_by_its_kind(void **state)
{
    (void)state;
#define CSV(option)                                                                                \
    "{\"sources\":{\"s\":{\"format\":\"csv\",\"schema\":\"a INT, b STRING\",\"options\":{"         \
    "\"path\":\"$/in\"," option "}}}," GOOD_SQL "," OUT("json") "}"
#define TO_CSV(option)                                                                             \
    "{" IN "," GOOD_SQL ",\"sink\":{\"format\":\"csv\",\"options\":{\"path\":\"$/out\"," option    \
    "}}}"
#define INVALID "INVALID_OPTION_VALUE"
    static const struct expected cases[] = {
        {CSV("\"mode\":\"PERMISIVE\""), "/sources/s/options/mode", INVALID},
        {CSV("\"cleanSource\":\"archiv\""), "/sources/s/options/cleanSource", INVALID},
        {CSV("\"preferDate\":\"nein\""), "/sources/s/options/preferDate", INVALID},
        {CSV("\"samplingRatio\":\"2\""), "/sources/s/options/samplingRatio", INVALID},
        {CSV("\"header\":\"yse\""), "/sources/s/options/header", INVALID},
        {CSV("\"encoding\":\"utf8x\""), "/sources/s/options/encoding",
         "INVALID_PARAMETER_VALUE.CHARSET"},
        {CSV("\"quote\":\"ab\""), "/sources/s/options/quote", "OPTION_VALUE_EXCEEDS_ONE_CHARACTER"},
        {CSV("\"timestampFormat\":\"bbb\""), "/sources/s/options/timestampFormat",
         "INVALID_DATETIME_PATTERN.WITH_SUGGESTION"},
        {CSV("\"pathGlobFilter\":\"[\""), "/sources/s/options/pathGlobFilter", "INVALID_GLOB"},
        {CSV("\"basePath\":\"$/nowhere\""), "/sources/s/options/basePath", INVALID},
        {TO_CSV("\"compression\":\"gzp\""), "/sink/options/compression",
         "CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION"},
        {TO_CSV("\"dateFormat\":\"QQQQQQ\""), "/sink/options/dateFormat",
         "INVALID_DATETIME_PATTERN.LENGTH"},
        {TO_CSV("\"extension\":\"../x\""), "/sink/options/extension", INVALID},
    };
    EXPECT(cases);
}

static void a_sink_is_where_files_can_be_made(void **state)
{
    (void)state;
    write_file(&server, "plain", "no directory\n");
    static const struct expected cases[] = {
        {"{" IN "," GOOD_SQL ",\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"/proc/x\"}}}",
         "/sink/options/path", INVALID},
        {"{" IN "," GOOD_SQL ",\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"$/plain\"}}}",
         "/sink/options/path", INVALID},
        {"{" IN "," GOOD_SQL
         ",\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"$/plain/x/y\"}}}",
         "/sink/options/path", INVALID},
        {"{" IN "," GOOD_SQL "," OUT("json") ",\"checkpointLocation\":\"$/plain/c\"}",
         "/checkpointLocation", "INVALID_CHECKPOINT_LOCATION"},
        {"{" SOURCE("\"path\":\"$/in\",\"cleanSource\":\"archive\","
                    "\"sourceArchiveDir\":\"$/plain\"") "," GOOD_SQL "," OUT("json") "}",
         "/sources/s/options/sourceArchiveDir", INVALID},
        {"{" IN "," GOOD_SQL
         ",\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"$/new/deep/out\"}}}",
         NULL, NULL},
    };
    EXPECT(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sink_is_checked_before_it_is_opened),
        cmocka_unit_test(a_source_is_checked_before_it_is_opened),
        cmocka_unit_test(what_is_written_is_not_read_again),
        cmocka_unit_test(directories_of_the_server_are_no_places_for_output),
        cmocka_unit_test(every_reason_has_its_place),
        cmocka_unit_test(a_schema_has_places),
        cmocka_unit_test(a_format_that_there_is_not_is_answered_with_those_that_there_are),
        cmocka_unit_test(every_place_has_a_pointer),
        cmocka_unit_test(everything_is_said_at_once),
        cmocka_unit_test(equal_names_in_json_are_warned_of),
        cmocka_unit_test(what_follows_from_an_error_is_not_said),
        cmocka_unit_test(a_misspelling_has_a_fix),
        cmocka_unit_test(a_text_edit_names_its_place),
        cmocka_unit_test(a_misspelt_column_has_a_fix_wherever_it_stands),
        cmocka_unit_test(a_mode_that_a_join_does_not_have_is_replaced),
        cmocka_unit_test(each_trigger_is_judged),
        cmocka_unit_test(each_place_is_warned_of_once),
        cmocka_unit_test(what_watermarks_do_not_do_is_warned_of),
        cmocka_unit_test(modes_are_judged_whatever_else_is_wrong),
        cmocka_unit_test(a_missing_watermark_has_a_fix),
        cmocka_unit_test(a_deduplication_within_a_watermark_gets_one),
        cmocka_unit_test(a_wrong_watermark_hides_nothing),
        cmocka_unit_test(a_value_of_an_option_is_checked_by_its_kind),
        cmocka_unit_test(a_sink_is_where_files_can_be_made),
    };
    return cmocka_run_group_tests(tests, setup, fixture_teardown);
}
