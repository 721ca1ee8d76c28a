#include "spec/query_spec.h"

#include "spec/diagnostics.h"
#include "spec/spec_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A legal spec around further fields. */
#define SPEC(more)                                                                                 \
    "{\"sql\":\"SELECT a FROM c\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"a INT\"}}," \
    "\"sink\":{\"format\":\"noop\"}" more "}"

static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = arena_new("test", 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static struct query_spec *parse(const char *json)
{
    struct query_spec *spec = NULL;
    struct error err = ERROR_INIT;
    if (query_spec_parse(arena, bytes_of_text(json), NULL, &spec, &err) != OK)
        fail_msg("%s: %s at %s", status_name(err.status), err.text, err.pointer);
    return spec;
}

static void every_field_is_read(void **state)
{
    (void)state;
    struct query_spec *spec = parse(
        "{\"name\":\"clicks-per-minute\",\"sources\":{\"clicks\":{\"format\":\"json\",\"schema\":"
        "\"at TIMESTAMP, visitor STRING\",\"options\":{\"path\":\"/data/clicks\","
        "\"maxFilesPerTrigger\":100,\"header\":true},\"watermark\":{\"column\":\"at\",\"delay\":"
        "\"10 seconds\"}}},\"tables\":{\"pages\":{\"format\":\"csv\",\"schema\":\"url STRING\"}},"
        "\"views\":[{\"name\":\"u\",\"from\":\"clicks\",\"dropDuplicates\":[\"visitor\",\"at\"]},"
        "{\"name\":\"v\",\"sql\":\"SELECT * FROM u\"}],\"sql\":\"SELECT * FROM v\",\"sink\":{"
        "\"format\":\"json\",\"options\":{\"path\":\"/out\"},\"partitionBy\":[\"a\",\"b\"]},"
        "\"outputMode\":\"Append\",\"trigger\":{\"processingTime\":\"10 seconds\"},"
        "\"checkpointLocation\":\"/data//cp/./q/\",\"conf\":{\"partitions\":8},\"limits\":{"
        "\"memoryBytes\":536870912},\"restartPolicy\":{\"mode\":\"never\",\"maxAttempts\":\"3\"},"
        "\"labels\":{\"team\":\"web\"},\"desiredState\":\"STOPPED\"}");
    assert_string_equal(spec->name, "clicks-per-minute");
    assert_int_equal(spec->source_count, 1);
    assert_string_equal(spec->sources[0].name, "clicks");
    assert_string_equal(options_get(&spec->sources[0].options, "MAXFILESPERTRIGGER"), "100");
    assert_string_equal(options_get(&spec->sources[0].options, "header"), "true");
    assert_string_equal(spec->sources[0].options.pointer, "/sources/clicks/options");
    assert_string_equal(spec->sources[0].watermark.delay, "10 seconds");
    assert_int_equal(spec->sources[0].schema->field_count, 2);
    assert_int_equal(spec->table_count, 1);
    assert_int_equal(spec->view_count, 2);
    assert_true(spec->views[0].drop_duplicates);
    assert_int_equal(spec->views[0].column_count, 2);
    assert_int_equal(spec->sink.partition_by_count, 2);
    assert_string_equal(spec->sink.partition_by[1], "b");
    assert_int_equal(spec->trigger, TRIGGER_PROCESSING_TIME);
    assert_int_equal(spec->trigger_interval_us, 10000000);
    assert_string_equal(spec->checkpoint_location, "/data/cp/q");
    assert_string_equal(spec->conf.items[0].name, "spark.sql.shuffle.partitions");
    assert_int_equal(spec->memory_limit_bytes, 536870912);
    assert_int_equal(spec->restart_mode, RESTART_NEVER);
    assert_int_equal(spec->restart_attempts_max, 3);
    assert_string_equal(spec->labels[0].value, "web");
    assert_true(spec->desired_stopped);
}

static void defaults_are_sparks(void **state)
{
    (void)state;
    struct query_spec *spec = parse(SPEC(""));
    assert_null(spec->name);
    assert_string_equal(spec->output_mode, "append");
    assert_int_equal(spec->trigger, TRIGGER_DEFAULT);
    assert_null(spec->checkpoint_location);
    assert_int_equal(spec->restart_mode, RESTART_ON_FAILURE);
    assert_false(spec->desired_stopped);
}

static void triggers_by_table(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        enum trigger_kind kind;
        int64_t interval_us;
    } cases[] = {
        {SPEC(",\"trigger\":{}"), TRIGGER_DEFAULT, 0},
        {SPEC(",\"trigger\":{\"availableNow\":true}"), TRIGGER_AVAILABLE_NOW, 0},
        {SPEC(",\"trigger\":{\"once\":true}"), TRIGGER_ONCE, 0},
        {SPEC(",\"trigger\":{\"processingTime\":\"interval 1 second\"}"), TRIGGER_PROCESSING_TIME,
         1000000},
        {SPEC(",\"trigger\":{\"processingTime\":\"1 minute 1 second\"}"), TRIGGER_PROCESSING_TIME,
         61000000},
        {SPEC(",\"trigger\":{\"processingTime\":\"0.5 seconds\"}"), TRIGGER_PROCESSING_TIME,
         500000},
        {SPEC(",\"trigger\":{\"processingTime\":\"1 day\"}"), TRIGGER_PROCESSING_TIME, 86400000000},
        {SPEC(",\"trigger\":{\"processingTime\":\"0 seconds\"}"), TRIGGER_PROCESSING_TIME, 0},
        {SPEC(",\"trigger\":{\"processingTime\":\"1s\"}"), TRIGGER_PROCESSING_TIME, 1000000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].json);
        struct query_spec *spec = parse(cases[i].json);
        assert_int_equal(spec->trigger, cases[i].kind);
        assert_int_equal(spec->trigger_interval_us, cases[i].interval_us);
    }
}

static const struct refusal {
    const char *json;
    enum status want;
    const char *pointer;
    const char *text; /* in the message; NULL: any */
} refusals[] = {
    {"", STATUS_INVALID_JSON, "", "it is empty (line 1, column 1)"},
    {" \n", STATUS_INVALID_JSON, "", "it is empty (line 2, column 1)"},
    {"{\"sql\":", STATUS_INVALID_JSON, "", "(line 1, column 8)"},
    {"{\"sql\":1,\"sql\":2}", STATUS_INVALID_JSON, "", "(line 1, column 10)"},
    {"{\"name\":\"q\" \"sql\":1}", STATUS_INVALID_JSON, "", "(line 1, column 13)"},
    {"{\n \"n\\\"\u00e4\": tru}", STATUS_INVALID_JSON, "", "(line 2, column 10)"},
    {"{\"a\": \"x\001\"}", STATUS_INVALID_JSON, "", "(line 1, column 8)"},
    {"[]", STATUS_INVALID_FIELD_TYPE, "", "an array"},
    {SPEC(",\"outputmode\":\"append\""), STATUS_UNKNOWN_FIELD, "/outputmode", "outputMode"},
    {SPEC(",\"a/b~c\":1"), STATUS_UNKNOWN_FIELD, "/a~1b~0c", NULL},
    {SPEC(",\"outputMode\":\"delta\""), STATUS_STREAMING_OUTPUT_MODE__INVALID, "/outputMode",
     "delta"},
    {SPEC(",\"outputMode\":\" append\""), STATUS_STREAMING_OUTPUT_MODE__INVALID, "/outputMode",
     NULL},
    {SPEC(",\"name\":\"a b\""), STATUS_INVALID_NAME, "/name", NULL},
    {SPEC(",\"name\":\"\""), STATUS_INVALID_NAME, "/name", NULL},
    {SPEC(",\"name\":7"), STATUS_INVALID_FIELD_TYPE, "/name", "a string"},
    {SPEC(",\"trigger\":\"1 second\""), STATUS_INVALID_FIELD_TYPE, "/trigger", NULL},
    {SPEC(",\"trigger\":{\"processingTime\":10}"), STATUS_INVALID_FIELD_TYPE,
     "/trigger/processingTime", "such as \"10 seconds\""},
    {SPEC(",\"trigger\":{\"interval\":\"10 seconds\"}"), STATUS_UNKNOWN_FIELD, "/trigger/interval",
     "Did you mean processingTime?"},
    {SPEC(",\"limits\":{\"memoryBytes\":\"512m\"}"), STATUS_INVALID_FIELD_VALUE,
     "/limits/memoryBytes", "a number of bytes"},
    {SPEC(",\"path\":\"/x\""), STATUS_UNKNOWN_FIELD, "/path", NULL},
    {"{\"sql\":\"S\",\"sources\":{\"c\":{\"format\":\"json\",\"path\":\"/x\"}}}",
     STATUS_UNKNOWN_FIELD, "/sources/c/path", "it stands in options"},
    {"{\"sql\":\"S\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":[]}}}",
     STATUS_INVALID_FIELD_TYPE, "/sources/c/schema", "not an array"},
    {SPEC(",\"trigger\":{\"once\":true,\"availableNow\":true}"), STATUS_CONFLICTING_FIELDS,
     "/trigger", NULL},
    {SPEC(",\"trigger\":{\"availableNow\":false}"), STATUS_INVALID_TRIGGER, "/trigger/availableNow",
     NULL},
    {SPEC(",\"trigger\":{\"processingtime\":\"1 second\"}"), STATUS_UNKNOWN_FIELD,
     "/trigger/processingtime", "processingTime"},
    {SPEC(",\"trigger\":{\"continuous\":\"1 second\"}"), STATUS_NOT_SUPPORTED,
     "/trigger/continuous", NULL},
    {SPEC(",\"trigger\":{\"processingTime\":\"5\"}"), STATUS_INVALID_INTERVAL_FORMAT__MISSING_UNIT,
     "/trigger/processingTime", NULL},
    {SPEC(",\"trigger\":{\"processingTime\":\"-1 seconds\"}"), STATUS_INVALID_TRIGGER,
     "/trigger/processingTime", "negative"},
    {SPEC(",\"trigger\":{\"processingTime\":\"1 month\"}"), STATUS_INVALID_TRIGGER,
     "/trigger/processingTime", NULL},
    {SPEC(",\"checkpointLocation\":\"relative/path\""), STATUS_INVALID_CHECKPOINT_LOCATION,
     "/checkpointLocation", "absolute"},
    {SPEC(",\"checkpointLocation\":\"\""), STATUS_INVALID_CHECKPOINT_LOCATION,
     "/checkpointLocation", NULL},
    {SPEC(",\"checkpointLocation\":\"s3a://b/c\""), STATUS_INVALID_CHECKPOINT_LOCATION,
     "/checkpointLocation", "local"},
    {SPEC(",\"conf\":{\"spark.sql.shuffle.partition\":1}"), STATUS_UNKNOWN_CONF,
     "/conf/spark.sql.shuffle.partition", "spark.sql.shuffle.partitions"},
    {SPEC(",\"conf\":{\"partitions\":0}"), STATUS_INVALID_CONF_VALUE__REQUIREMENT,
     "/conf/partitions", NULL},
    {SPEC(",\"conf\":{\"partitions\":4097}"), STATUS_INVALID_CONF_VALUE__REQUIREMENT,
     "/conf/partitions", NULL},
    {SPEC(",\"conf\":{\"partitions\":[]}"), STATUS_INVALID_FIELD_TYPE, "/conf/partitions", NULL},
    {SPEC(",\"limits\":{\"memoryBytes\":-1}"), STATUS_INVALID_FIELD_VALUE, "/limits/memoryBytes",
     NULL},
    {SPEC(",\"restartPolicy\":{\"mode\":\"sometimes\"}"), STATUS_INVALID_FIELD_VALUE,
     "/restartPolicy/mode", "onFailure"},
    {SPEC(",\"desiredState\":\"PAUSED\""), STATUS_INVALID_FIELD_VALUE, "/desiredState", NULL},
    {SPEC(",\"tables\":{\"C\":{\"format\":\"csv\"}}"), STATUS_DUPLICATE_NAME, "/tables/C", NULL},
    {SPEC(",\"tables\":{\"t\":{\"format\":\"csv\",\"watermark\":{}}}"), STATUS_UNKNOWN_FIELD,
     "/tables/t/watermark", "Only a source or a view has a watermark"},
    {SPEC(",\"conf\":{\"spark.executor.memory\":1}"), STATUS_UNKNOWN_CONF,
     "/conf/spark.executor.memory", "limits.memoryBytes"},
    {SPEC(",\"views\":[{\"name\":\"v\"}]"), STATUS_MISSING_FIELD, "/views/0/sql", NULL},
    {SPEC(",\"views\":[{\"sql\":\"SELECT 1\"}]"), STATUS_MISSING_FIELD, "/views/0/name", NULL},
    {SPEC(",\"views\":[{\"name\":\"v\",\"sql\":\"S\",\"from\":\"c\"}]"), STATUS_CONFLICTING_FIELDS,
     "/views/0", NULL},
    {"{\"sink\":{\"format\":\"noop\"}}", STATUS_MISSING_FIELD, "/sql", NULL},
    {"{\"sql\":\"S\",\"sources\":{\"c\":{}}}", STATUS_MISSING_FIELD, "/sources/c/format", NULL},
    {"{\"sql\":\"S\",\"sources\":{\"c\":7}}", STATUS_INVALID_FIELD_TYPE, "/sources/c", NULL},
    {"{\"sql\":\"S\",\"sources\":{\"c\":{\"format\":\"json\",\"options\":{\"path\":null}}}}",
     STATUS_NULL_DATA_SOURCE_OPTION, "/sources/c/options/path", NULL},
    {"{\"sql\":\"S\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"a NOSUCH\"}}}",
     STATUS_UNSUPPORTED_DATATYPE, "/sources/c/schema", NULL},
    {"{\"sql\":\"S\",\"sources\":{\"c\":{\"format\":\"json\",\"watermark\":{\"column\":\"a\"}}}}",
     STATUS_MISSING_FIELD, "/sources/c/watermark/delay", NULL},
};

static void what_is_wrong_is_named_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct refusal *refusal = &refusals[i];
        print_message("%s\n", refusal->json);
        struct query_spec *spec = NULL;
        struct error err = ERROR_INIT;
        enum status status =
            query_spec_parse(arena, bytes_of_text(refusal->json), NULL, &spec, &err);
        assert_string_equal(status_name(status), status_name(refusal->want));
        assert_string_equal(err.pointer, refusal->pointer);
        if (refusal->text != NULL && strstr(err.text, refusal->text) == NULL)
            fail_msg("'%s' does not contain '%s'", err.text, refusal->text);
    }
}

static void a_list_collects_all_problems(void **state)
{
    (void)state;
    struct diagnostics *diagnostics = diagnostics_new(arena);
    struct query_spec *spec = NULL;
    struct error err = ERROR_INIT;
    const char *json = "{\"nam\":\"x\",\"outputMode\":\"delta\",\"trigger\":{\"once\":false},"
                       "\"sources\":{\"c\":{\"format\":\"json\"}}}";
    assert_int_equal(query_spec_parse(arena, bytes_of_text(json), diagnostics, &spec, &err), OK);
    static const char *const pointers[] = {"/nam", "/sql", "/outputMode", "/trigger/once"};
    assert_int_equal(diagnostics->error_count, 4);
    const struct diagnostic *at = diagnostics->first;
    for (size_t i = 0; i < 4; i++, at = at->next)
        assert_string_equal(at->error.pointer, pointers[i]);
    assert_int_equal(spec->source_count, 1);
}

static void the_canonical_form_does_not_depend_on_the_order(void **state)
{
    (void)state;
    struct query_spec *a = parse("{\"sql\":\"SELECT 1\",\"name\":\"n\",\"sink\":{\"options\":{},"
                                 "\"format\":\"noop\"},\"labels\":null}");
    struct query_spec *b = parse("{\"sink\":{\"format\":\"noop\",\"options\":{}},\"name\":\"n\","
                                 "\"sql\":\"SELECT 1\"}");
    assert_string_equal(a->json, b->json);
    assert_string_equal(
        a->json,
        "{\"name\":\"n\",\"sql\":\"SELECT 1\",\"sink\":{\"format\":\"noop\",\"options\":{}}}");
    struct query_spec *again = parse(a->json);
    assert_string_equal(again->json, a->json);
}

static void a_completed_spec_names_its_checkpoint(void **state)
{
    (void)state;
    struct query_spec *spec = parse(SPEC(""));
    struct error err = ERROR_INIT;
    const char *json = NULL;
    assert_int_equal(spec_json_complete(arena, spec->json, "q", "/cp", &json, &err), OK);
    struct query_spec *complete = parse(json);
    assert_string_equal(complete->name, "q");
    assert_string_equal(complete->checkpoint_location, "/cp");
}

static void spark_conf_gives_the_parent_of_checkpoints(void **state)
{
    (void)state;
    struct query_spec *spec = parse(SPEC(
        ",\"name\":\"q\",\"conf\":{\"spark.sql.streaming.checkpointLocation\":\"/data/cps\"}"));
    assert_string_equal(spec->checkpoint_location, "/data/cps/q");
}

static void limits_have_a_named_error(void **state)
{
    (void)state;
    struct query_spec *spec = NULL;
    struct error err = ERROR_INIT;
    struct buffer json = {0};
    buffer_add_text(&json, "{\"sql\":\"");
    for (size_t i = 0; i <= SPEC_SQL_BYTES_MAX; i++)
        buffer_add_byte(&json, 'x');
    buffer_add_text(&json, "\"}");
    assert_int_equal(query_spec_parse(arena, buffer_bytes(&json), NULL, &spec, &err),
                     STATUS_LIMIT_EXCEEDED);
    assert_string_equal(err.pointer, "/sql");
    buffer_clear(&json);
    for (int i = 0; i < 200; i++)
        buffer_add_text(&json, "{\"a\":");
    buffer_add_text(&json, "1");
    for (int i = 0; i < 200; i++)
        buffer_add_text(&json, "}");
    assert_int_equal(query_spec_parse(arena, buffer_bytes(&json), NULL, &spec, &err),
                     STATUS_LIMIT_EXCEEDED);
    buffer_clear(&json);
    buffer_add_text(&json, "{\"sql\":\"S\",\"sources\":{");
    for (int i = 0; i <= SPEC_RELATIONS_MAX; i++)
        buffer_printf(&json, "%s\"s%d\":{\"format\":\"json\"}", i == 0 ? "" : ",", i);
    buffer_add_text(&json, "}}");
    assert_int_equal(query_spec_parse(arena, buffer_bytes(&json), NULL, &spec, &err),
                     STATUS_LIMIT_EXCEEDED);
    buffer_fini(&json);
}

/* One rule: a field that is null counts as absent; what has to be given is missing. */
static void null_is_absent_in_every_field(void **state)
{
    (void)state;
#define SOURCE(fields) "{\"sql\":\"S\",\"sources\":{\"c\":{" fields "}}}"
#define FORMAT         "\"format\":\"json\""
#define VIEW(fields)   "{\"sql\":\"S\",\"views\":[{" fields "}]}"
#define SINK(fields)   "{\"sql\":\"S\",\"sink\":{" fields "}}"
    static const struct {
        const char *json, *missing; /* the pointer to what has to be given, or NULL */
    } cases[] = {
        {"{\"sql\":null}", "/sql"},
        {SPEC(",\"name\":null"), NULL},
        {SPEC(",\"tables\":null"), NULL},
        {SPEC(",\"views\":null"), NULL},
        {SPEC(",\"outputMode\":null"), NULL},
        {SPEC(",\"trigger\":null"), NULL},
        {SPEC(",\"trigger\":{\"processingTime\":null}"), NULL},
        {SPEC(",\"trigger\":{\"availableNow\":null}"), NULL},
        {SPEC(",\"trigger\":{\"once\":null}"), NULL},
        {SPEC(",\"checkpointLocation\":null"), NULL},
        {SPEC(",\"conf\":null"), NULL},
        {SPEC(",\"limits\":null"), NULL},
        {SPEC(",\"limits\":{\"memoryBytes\":null}"), NULL},
        {SPEC(",\"restartPolicy\":null"), NULL},
        {SPEC(",\"restartPolicy\":{\"mode\":null,\"maxAttempts\":null}"), NULL},
        {SPEC(",\"labels\":null"), NULL},
        {SPEC(",\"desiredState\":null"), NULL},
        {"{\"sql\":\"S\",\"sources\":null,\"sink\":null}", NULL},
        {SOURCE("\"format\":null"), "/sources/c/format"},
        {SOURCE(FORMAT ",\"schema\":null"), NULL},
        {SOURCE(FORMAT ",\"options\":null"), NULL},
        {SOURCE(FORMAT ",\"watermark\":null"), NULL},
        {SOURCE(FORMAT ",\"watermark\":{\"column\":null,\"delay\":\"1 second\"}"),
         "/sources/c/watermark/column"},
        {SOURCE(FORMAT ",\"watermark\":{\"column\":\"c\",\"delay\":null}"),
         "/sources/c/watermark/delay"},
        {"{\"sql\":\"S\",\"tables\":{\"t\":{\"format\":null}}}", "/tables/t/format"},
        {VIEW("\"name\":null,\"sql\":\"S\""), "/views/0/name"},
        {VIEW("\"name\":\"v\",\"sql\":null"), "/views/0/sql"},
        {VIEW("\"name\":\"v\",\"sql\":null,\"from\":null"), "/views/0/sql"},
        {VIEW("\"name\":\"v\",\"sql\":\"S\",\"from\":null,\"watermark\":null,"
              "\"dropDuplicates\":null,\"dropDuplicatesWithinWatermark\":null"),
         NULL},
        {SINK("\"format\":null"), "/sink/format"},
        {SINK(FORMAT ",\"options\":null,\"partitionBy\":null"), NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct query_spec *spec = NULL;
        struct error err = ERROR_INIT;
        enum status expected = cases[i].missing == NULL ? OK : STATUS_MISSING_FIELD;
        enum status status =
            query_spec_parse(arena, bytes_of_text(cases[i].json), NULL, &spec, &err);
        if (status != expected)
            fail_msg("%s: %s at %s", cases[i].json, status_name(status), err.pointer);
        if (expected != OK) {
            assert_string_equal(err.pointer, cases[i].missing);
            continue;
        }
        assert_int_equal(spec->trigger, TRIGGER_DEFAULT);
        assert_null(strstr(spec->json, "null"));
    }
}

static void null_does_not_stand_in_the_way_of_what_is_given(void **state)
{
    (void)state;
    struct query_spec *spec = parse(SPEC(",\"trigger\":{\"processingTime\":null,\"once\":true}"));
    assert_int_equal(spec->trigger, TRIGGER_ONCE);
    spec = parse(SPEC(",\"views\":[{\"name\":\"v\",\"from\":\"c\",\"dropDuplicates\":null,"
                      "\"dropDuplicatesWithinWatermark\":[\"a\"]}]"));
    assert_false(spec->views[0].drop_duplicates);
    assert_true(spec->views[0].drop_duplicates_within_watermark);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_read),
        cmocka_unit_test(defaults_are_sparks),
        cmocka_unit_test(triggers_by_table),
        cmocka_unit_test(what_is_wrong_is_named_with_its_place),
        cmocka_unit_test(a_list_collects_all_problems),
        cmocka_unit_test(the_canonical_form_does_not_depend_on_the_order),
        cmocka_unit_test(a_completed_spec_names_its_checkpoint),
        cmocka_unit_test(spark_conf_gives_the_parent_of_checkpoints),
        cmocka_unit_test(limits_have_a_named_error),
        cmocka_unit_test(null_is_absent_in_every_field),
        cmocka_unit_test(null_does_not_stand_in_the_way_of_what_is_given),
    };
    return cmocka_run_group_tests_name("spec/query_spec", tests, setup, teardown) != 0;
}
