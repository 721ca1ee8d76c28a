#include "base/failpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static int crashes;
static uint64_t torn;

static void count_crash(void *arg, uint64_t torn_bytes)
{
    (void)arg;
    crashes++;
    torn = torn_bytes;
}

static int set_up(void **state)
{
    (void)state;
    failpoint_reset();
    failpoint_set_crash_handler(count_crash, NULL);
    crashes = 0;
    torn = 0;
    return 0;
}

static enum status pass(enum failpoint failpoint)
{
    struct error err = ERROR_INIT;
    return failpoint_pass(failpoint, &err);
}

static void acts_at_the_nth_passing_and_once(void **state)
{
    (void)state;
    failpoint_arm(FAILPOINT_AT_post_sync,
                  &(struct failpoint_arming){.action = FAILPOINT_CRASH, .hit = 3});
    assert_int_equal(pass(FAILPOINT_AT_post_sync), OK);
    assert_int_equal(pass(FAILPOINT_AT_pre_intent), OK);
    assert_int_equal(pass(FAILPOINT_AT_post_sync), OK);
    assert_int_equal(crashes, 0);
    assert_int_equal(pass(FAILPOINT_AT_post_sync), STATUS_FAILPOINT_REACHED);
    assert_int_equal(crashes, 1);
    assert_true(failpoint_fired());
    assert_int_equal(pass(FAILPOINT_AT_post_sync), OK);
    assert_int_equal(failpoint_passings(FAILPOINT_AT_post_sync), 4);
    assert_int_equal(failpoint_passings_of(NULL), 5);
}

static void any_of_a_set_counts_together(void **state)
{
    (void)state;
    bool set[FAILPOINT_COUNT_] = {false};
    set[FAILPOINT_AT_post_sync] = true;
    set[FAILPOINT_AT_post_sink] = true;
    failpoint_arm_any(set, &(struct failpoint_arming){.action = FAILPOINT_CRASH, .hit = 2});
    assert_int_equal(pass(FAILPOINT_AT_post_sync), OK);
    assert_int_equal(pass(FAILPOINT_AT_post_commit), OK);
    assert_int_equal(pass(FAILPOINT_AT_post_sink), STATUS_FAILPOINT_REACHED);
    assert_int_equal(failpoint_passings_of(set), 2);
}

static void arms_from_text(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    assert_int_equal(failpoint_arm_text(
                         "post_sync:1:error=DISK_FULL,mid_write:2:torn=17,post_sink:1:crash", &err),
                     OK);
    assert_int_equal(pass(FAILPOINT_AT_post_sync), STATUS_DISK_FULL);
    assert_int_equal(pass(FAILPOINT_AT_mid_write), OK);
    assert_int_equal(pass(FAILPOINT_AT_mid_write), STATUS_FAILPOINT_REACHED);
    assert_int_equal(torn, 17);
    static const char *const bad[] = {"post_sync",         "nowhere:1:crash",
                                      "post_sync:0:crash", "post_sync:1:sleep",
                                      "post_sync:x:crash", "post_sync:1:error=NO"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(failpoint_arm_text(bad[i], &err), STATUS_INVALID_FAILPOINT);
    assert_int_equal(setenv("TIDEMILL_FAILPOINTS", "pre_intent:1:crash", 1), 0);
    assert_int_equal(failpoint_arm_environment(&err),
                     failpoint_available() ? OK : STATUS_INVALID_FAILPOINT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(acts_at_the_nth_passing_and_once, set_up),
        cmocka_unit_test_setup(any_of_a_set_counts_together, set_up),
        cmocka_unit_test_setup(arms_from_text, set_up),
    };
    return cmocka_run_group_tests_name("base/failpoint", tests, NULL, NULL);
}
