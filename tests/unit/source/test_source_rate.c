#include "source/source_rate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct arena *arena;
static struct clock *clock_;
static struct error err;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new("query", 0);
    clock_ = clock_manual_new(1714521600000000);
    err = (struct error)ERROR_INIT;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    clock_manual_free(clock_);
    return 0;
}

static enum status open_kind(const char *kind, const struct option *items, size_t count,
                             struct source **out)
{
    static struct options options;
    options = (struct options){.items = items, .count = count};
    struct source_config config = {
        .name = "r", .format = kind, .options = &options, .clock = clock_, .state_dir = "/cp"};
    return source_find(kind)->open(arena, &config, out, &err);
}

struct sum {
    struct batch_receiver receiver;
    uint64_t rows;
    int64_t first_us;
    int64_t last_value;
};

static enum status add_up(struct batch_receiver *self, const struct batch *batch, struct error *e)
{
    (void)e;
    struct sum *sum = (struct sum *)self;
    if (sum->rows == 0)
        sum->first_us = VECTOR_VALUES(int64_t, batch->columns[0])[0];
    sum->rows += batch->rows;
    sum->last_value = VECTOR_VALUES(int64_t, batch->columns[1])[batch->rows - 1];
    return OK;
}

static struct sum read_range(struct source *source, const struct source_range *range)
{
    struct sum sum = {.receiver = {.receive = add_up}};
    static const uint32_t columns[] = {0, 1};
    struct source_split *splits = NULL;
    size_t count = 0;
    assert_int_equal(source->ops->bind(source, columns, 2, &err), OK);
    assert_int_equal(source->ops->splits(source, range, arena, &splits, &count, &err), OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(source->ops->read(source, &splits[i], &sum.receiver, &err), OK);
    return sum;
}

static void rate_follows_the_clock_and_goes_on_after_a_restart(void **state)
{
    (void)state;
    const struct option items[] = {{"rowsPerSecond", "10"}, {"rampUpTime", "4s"}};
    struct source *source = NULL;
    struct source_range range = {0};
    bool found = false;
    assert_int_equal(open_kind("rate", items, 2, &source), OK);
    assert_int_equal(source->ops->recover(source, NULL, NULL, 0, &err), OK);
    assert_int_equal(source->ops->plan(source, false, arena, &range, &found, &err), OK);
    assert_true(found);
    assert_int_equal(read_range(source, &range).rows, 0);
    clock_manual_advance(clock_, 3999999);
    assert_int_equal(source->ops->plan(source, false, arena, &range, &found, &err), OK);
    assert_true(found);
    assert_true(bytes_equal(range.end, bytes_of_text("3")));
    struct sum sum = read_range(source, &range); /* 0, 2, 6, 12, 20, 30 */
    assert_int_equal(sum.rows, 12);
    assert_int_equal(sum.first_us, 1714521600000000);
    assert_int_equal(source->ops->plan(source, false, arena, &range, &found, &err), OK);
    assert_false(found);
    struct source_range committed = range;
    source->ops->close(source);

    clock_manual_advance(clock_, 2000001);
    assert_int_equal(open_kind("rate", items, 2, &source), OK);
    assert_int_equal(source->ops->recover(source, &committed, NULL, 0, &err), OK);
    assert_int_equal(source->ops->freeze(source, &err), OK);
    assert_int_equal(source->ops->plan(source, false, arena, &range, &found, &err), OK);
    assert_true(found);
    sum = read_range(source, &range);
    assert_int_equal(sum.rows, 40 - 12);
    assert_int_equal(sum.last_value, 39);
    clock_manual_advance(clock_, 9000000);
    assert_int_equal(source->ops->plan(source, false, arena, &range, &found, &err), OK);
    assert_false(found);
    source->ops->close(source);
}

static void a_micro_batch_has_its_rows(void **state)
{
    (void)state;
    const struct option items[] = {
        {"rowsPerBatch", "5000"}, {"startTimestamp", "1714521600000"}, {"numPartitions", "3"}};
    struct source *source = NULL;
    struct source_range range = {0};
    bool found = false;
    assert_int_equal(open_kind("rate-micro-batch", items, 3, &source), OK);
    assert_int_equal(source->ops->recover(source, NULL, NULL, 0, &err), OK);
    assert_int_equal(source->ops->freeze(source, &err), OK);
    assert_int_equal(source->ops->plan(source, true, arena, &range, &found, &err), OK);
    assert_true(found);
    assert_true(
        bytes_equal(range.end, bytes_of_text("{\"offset\":5000,\"timestamp\":1714521601000}")));
    assert_int_equal(read_range(source, &range).rows, 5000);
    assert_int_equal(source->ops->plan(source, true, arena, &range, &found, &err), OK);
    assert_false(found);
    range.start = bytes_of_text("{\"offset\":9,\"timestamp\":0}");
    range.end = bytes_of_text("{\"offset\":8,\"timestamp\":0}");
    struct source_split *splits = NULL;
    size_t count = 0;
    assert_int_equal(source->ops->splits(source, &range, arena, &splits, &count, &err),
                     STATUS_MALFORMED_STATE_IN_RATE_PER_MICRO_BATCH_SOURCE__INVALID_OFFSET);
    range.start = bytes_of_text("{\"offset\":7,\"timestamp\":1}");
    assert_int_equal(source->ops->splits(source, &range, arena, &splits, &count, &err),
                     STATUS_MALFORMED_STATE_IN_RATE_PER_MICRO_BATCH_SOURCE__INVALID_TIMESTAMP);
    source->ops->close(source);
}

static void mistakes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        struct option item;
        const char *want;
    } cases[] = {
        {"rate", {"rowsPerSecond", "-1"}, "INVALID_OPTION_VALUE"},
        {"rate", {"rowsPerSecond", "abc"}, "INVALID_OPTION_VALUE"},
        {"rate", {"numPartitions", "0"}, "INVALID_OPTION_VALUE"},
        {"rate", {"rampUpTime", "abc"}, "INVALID_DURATION"},
        {"rate", {"rows", "1"}, "UNKNOWN_OPTION"},
        {"rate-micro-batch", {"numPartitions", "1"}, "OPTION_REQUIRED"},
        {"rate-micro-batch", {"rowsPerBatch", "0"}, "INVALID_OPTION_VALUE"},
    };
    struct source *source = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s %s\n", cases[i].kind, cases[i].item.name);
        assert_string_equal(status_name(open_kind(cases[i].kind, &cases[i].item, 1, &source)),
                            cases[i].want);
    }
    const struct option steep[] = {{"rowsPerSecond", "9223372036854775807"}, {"rampUpTime", "10s"}};
    assert_int_equal(open_kind("rate", steep, 2, &source), STATUS_INCORRECT_RAMP_UP_RATE);
    assert_string_equal(error_param(&err, "maxSeconds"), "1");
    assert_string_equal(error_param(&err, "rampUpTimeSeconds"), "10");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rate_follows_the_clock_and_goes_on_after_a_restart, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_micro_batch_has_its_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mistakes_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("source/source_rate", tests, NULL, NULL);
}
