#include "spec/conf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void entries_are_checked_by_table(void **state)
{
    (void)state;
    static const struct {
        const char *why, *name, *value;
        enum status want;
    } cases[] = {
        {"a boolean", "spark.sql.ansi.enabled", "FALSE", OK},
        {"no boolean", "spark.sql.ansi.enabled", "no", STATUS_INVALID_CONF_VALUE__TYPE_MISMATCH},
        {"our short name", "partitions", "16", OK},
        {"no partition", "partitions", "0", STATUS_INVALID_CONF_VALUE__REQUIREMENT},
        {"as many threads as there are processors", "parallelism", "0", OK},
        {"too many threads", "parallelism", "1025", STATUS_INVALID_CONF_VALUE__REQUIREMENT},
        {"fewer than none", "parallelism", "-1", STATUS_INVALID_CONF_VALUE__REQUIREMENT},
        {"a text for a number", "spark.sql.shuffle.partitions", "many",
         STATUS_INVALID_CONF_VALUE__TYPE_MISMATCH},
        {"a number over 32 bits", "spark.sql.shuffle.partitions", "4294967296",
         STATUS_INVALID_CONF_VALUE__TYPE_MISMATCH},
        {"a region", "spark.sql.session.timeZone", "America/New_York", OK},
        {"an offset", "spark.sql.session.timeZone", "+02:00", OK},
        {"no zone", "spark.sql.session.timeZone", "Nowhere/Land",
         STATUS_INVALID_CONF_VALUE__TIME_ZONE},
        {"a choice in another case", "spark.sql.timestampType", "timestamp_ntz", OK},
        {"no choice", "spark.sql.timestampType", "TIMESTAMP",
         STATUS_INVALID_CONF_VALUE__OUT_OF_RANGE_OF_OPTIONS},
        {"Spark calls this a requirement", "spark.sql.streaming.multipleWatermarkPolicy", "median",
         STATUS_INVALID_CONF_VALUE__REQUIREMENT},
        {"a duration", "spark.sql.streaming.pollingDelay", "10ms", OK},
        {"no duration", "spark.sql.streaming.pollingDelay", "soon",
         STATUS_INVALID_CONF_VALUE__TYPE_MISMATCH},
        {"a size", "spark.sql.files.maxPartitionBytes", "64m", OK},
        {"what there is", "spark.sql.streaming.statefulOperator.allowMultiple", "true", OK},
        {"what there is not", "spark.sql.streaming.statefulOperator.allowMultiple", "false",
         STATUS_INVALID_CONF_VALUE__OUT_OF_RANGE_OF_OPTIONS},
        {"a state store of Spark", "spark.sql.streaming.stateStore.providerClass",
         "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider", OK},
        {"no state store", "spark.sql.streaming.stateStore.providerClass", "x",
         STATUS_INVALID_CONF_VALUE__OUT_OF_RANGE_OF_OPTIONS},
        {"a misspelled name", "spark.sql.shuffel.partitions", "8", STATUS_UNKNOWN_CONF},
        {"names are of exact case", "spark.sql.ANSI.enabled", "true", STATUS_UNKNOWN_CONF},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].why);
        struct error err = ERROR_INIT;
        const char *name = NULL;
        assert_int_equal(conf_check(cases[i].name, cases[i].value, &name, &err), cases[i].want);
    }
}

static void a_misspelled_name_gets_the_nearest_one(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    const char *name = NULL;
    assert_int_equal(conf_check("spark.sql.shuffel.partitions", "8", &name, &err),
                     STATUS_UNKNOWN_CONF);
    assert_non_null(strstr(err.text, "spark.sql.shuffle.partitions"));
}

static void every_default_is_legal(void **state)
{
    (void)state;
    for (int i = 0; i < CONF_COUNT_; i++) {
        const char *value = conf_default((enum conf)i);
        const char *name = NULL;
        struct error err = ERROR_INIT;
        if (value == NULL)
            continue;
        print_message("%s = %s\n", conf_name((enum conf)i), value);
        assert_int_equal(conf_check(conf_name((enum conf)i), value, &name, &err), OK);
    }
}

static void getters_read_the_spec_or_the_default(void **state)
{
    (void)state;
    const struct option items[] = {{"spark.sql.ansi.enabled", "false"},
                                   {"spark.sql.shuffle.partitions", "3"}};
    const struct options given = {.items = items, .count = 2};
    const struct options none = {0};
    assert_false(conf_bool(&given, CONF_ansi_enabled));
    assert_true(conf_bool(&none, CONF_ansi_enabled));
    assert_int_equal(conf_int(&given, CONF_shuffle_partitions), 3);
    assert_int_equal(conf_int(&none, CONF_shuffle_partitions), 8);
    assert_int_equal(conf_duration_us(&none, CONF_streaming_pollingDelay), 10000);
    assert_int_equal(conf_bytes(&none, CONF_files_maxPartitionBytes), 128 << 20);
    assert_null(conf_text(&none, CONF_streaming_checkpointLocation));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_checked_by_table),
        cmocka_unit_test(a_misspelled_name_gets_the_nearest_one),
        cmocka_unit_test(every_default_is_legal),
        cmocka_unit_test(getters_read_the_spec_or_the_default),
    };
    return cmocka_run_group_tests_name("spec/conf", tests, NULL, NULL) != 0;
}
