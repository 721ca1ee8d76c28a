/*
 * When rows of a join of two streams may be forgotten, by what the condition says: each condition
 * is parsed, analysed and planned as that of a query.
 */
#include "base/buffer.h"
#include "base/vfs_mem.h"
#include "exec/join_bounds.h"
#include "worker/query_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000)
#define MILLI  INT64_C(1000)

static const char spec_head[] =
    "{\"name\":\"q\",\"sources\":{"
    "\"l\":{\"format\":\"json\",\"schema\":\"id BIGINT, at TIMESTAMP, other TIMESTAMP\","
    "\"options\":{\"path\":\"/l\"},\"watermark\":{\"column\":\"at\",\"delay\":\"1 second\"}},"
    "\"r\":{\"format\":\"json\",\"schema\":\"id BIGINT, at TIMESTAMP, other TIMESTAMP\","
    "\"options\":{\"path\":\"/r\"},\"watermark\":{\"column\":\"at\",\"delay\":\"1 second\"}}},"
    "\"sink\":{\"format\":\"memory\"},\"sql\":\"SELECT l.id FROM l JOIN r ON l.id = r.id AND ";

static const struct plan_node *find_join(const struct plan_node *node)
{
    const struct plan_node *found = node->kind == PLAN_JOIN ? node : NULL;
    for (uint32_t i = 0; found == NULL && i < node->child_count; i++)
        found = find_join(node->children[i]);
    return found;
}

static void limits_of(struct arena *arena, const char *condition, struct join_limit limits[2])
{
    struct clock *clock = clock_manual_new(0);
    struct vfs *vfs = vfs_mem_new(clock);
    struct buffer spec = {0};
    struct query_plan plan;
    struct error err = ERROR_INIT;
    vfs_mem_make_dirs(vfs, "/l");
    vfs_mem_make_dirs(vfs, "/r");
    buffer_printf(&spec, "%s%s\"}", spec_head, condition);
    struct query_plan_config config = {
        .spec_json = buffer_bytes(&spec), .vfs = vfs, .clock = clock};
    if (query_plan_make(arena, &config, &plan, &err) != OK)
        fail_msg("%s", err.text);
    const struct plan_node *join = find_join(plan.plan->root);
    assert_non_null(join);
    join_limits(join, limits);
    buffer_fini(&spec);
    vfs_mem_free(vfs);
    clock_manual_free(clock);
}

static void limits_by_table(void **state)
{
    (void)state;
    static const struct {
        const char *why, *condition;
        enum join_limit_kind left_kind;
        int64_t left_us;
        enum join_limit_kind right_kind;
        int64_t right_us;
    } cases[] = {
        {"a range with its ends", "r.at BETWEEN l.at AND l.at + INTERVAL 5 SECONDS",
         JOIN_LIMIT_VALUE, -5 * SECOND - MILLI, JOIN_LIMIT_VALUE, -MILLI},
        {"a range without its ends", "r.at > l.at AND r.at < l.at + INTERVAL 5 SECONDS",
         JOIN_LIMIT_VALUE, -5 * SECOND, JOIN_LIMIT_VALUE, 0},
        {"nothing of time", "l.id > 3", JOIN_LIMIT_NONE, 0, JOIN_LIMIT_NONE, 0},
        {"the times are equal", "l.at = r.at", JOIN_LIMIT_KEY, 0, JOIN_LIMIT_KEY, 0},
        {"one side only", "r.at > l.at", JOIN_LIMIT_NONE, 0, JOIN_LIMIT_VALUE, 0},
        {"an interval taken away", "l.at > r.at - INTERVAL 1 MINUTE", JOIN_LIMIT_VALUE,
         -60 * SECOND, JOIN_LIMIT_NONE, 0},
        {"of two bounds the smaller",
         "l.at > r.at - INTERVAL 1 MINUTE AND l.at > r.at + INTERVAL 1 SECOND", JOIN_LIMIT_VALUE,
         -60 * SECOND, JOIN_LIMIT_NONE, 0},
        {"a day has a length", "l.at > r.at + INTERVAL 1 DAY", JOIN_LIMIT_VALUE, 86400 * SECOND,
         JOIN_LIMIT_NONE, 0},
        {"a month has none", "l.at > r.at + INTERVAL 1 MONTH", JOIN_LIMIT_NONE, 0, JOIN_LIMIT_NONE,
         0},
        {"one of two may hold", "(l.at > r.at OR l.id > 3)", JOIN_LIMIT_NONE, 0, JOIN_LIMIT_NONE,
         0},
        {"the sum stands on the greater side", "r.at + INTERVAL 5 SECONDS > l.at", JOIN_LIMIT_NONE,
         0, JOIN_LIMIT_VALUE, -5 * SECOND},
        {"a time without a watermark", "l.other > r.at", JOIN_LIMIT_NONE, 0, JOIN_LIMIT_NONE, 0},
        {"both of one side", "l.at > l.other", JOIN_LIMIT_NONE, 0, JOIN_LIMIT_NONE, 0},
        {"as seconds", "CAST(l.at AS BIGINT) > CAST(r.at AS BIGINT) + 5", JOIN_LIMIT_VALUE,
         5 * SECOND, JOIN_LIMIT_NONE, 0},
        {"a negative interval", "l.at > r.at + INTERVAL -5 SECONDS", JOIN_LIMIT_VALUE, -5 * SECOND,
         JOIN_LIMIT_NONE, 0},
        {"lengths on both sides", "l.at + INTERVAL 2 SECONDS >= r.at - INTERVAL 3 SECONDS",
         JOIN_LIMIT_VALUE, -5 * SECOND - MILLI, JOIN_LIMIT_NONE, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena *arena = arena_new("test", 0);
        struct join_limit limits[2];
        print_message("%s: %s\n", cases[i].why, cases[i].condition);
        limits_of(arena, cases[i].condition, limits);
        assert_int_equal(limits[0].kind, cases[i].left_kind);
        assert_int_equal(limits[1].kind, cases[i].right_kind);
        if (limits[0].kind == JOIN_LIMIT_VALUE)
            assert_int_equal(limits[0].offset_us, cases[i].left_us);
        if (limits[1].kind == JOIN_LIMIT_VALUE)
            assert_int_equal(limits[1].offset_us, cases[i].right_us);
        arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(limits_by_table)};
    return cmocka_run_group_tests_name("worker/join_bounds", tests, NULL, NULL);
}
