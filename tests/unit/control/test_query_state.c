#include "control/query_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void names_are_found_again(void **state)
{
    (void)state;
    for (int i = 0; i < QUERY_STATE_COUNT; i++) {
        enum query_state found;
        assert_true(query_state_find(query_state_name((enum query_state)i), &found));
        assert_int_equal(found, i);
    }
    enum query_state found;
    assert_false(query_state_find("running", &found));
}

static void every_state_can_be_started_and_stopped(void **state)
{
    (void)state;
    for (int i = 0; i < QUERY_STATE_COUNT; i++) {
        assert_true(query_action_allowed((enum query_state)i, ACTION_START));
        assert_true(query_action_allowed((enum query_state)i, ACTION_STOP));
    }
}

static void a_query_with_a_worker_is_not_deleted(void **state)
{
    (void)state;
    for (int i = 0; i < QUERY_STATE_COUNT; i++)
        assert_int_equal(query_action_allowed((enum query_state)i, ACTION_DELETE),
                         query_state_is_ended((enum query_state)i));
}

static void what_the_worker_answers_waits_until_it_is_known(void **state)
{
    (void)state;
    static const enum query_action asked[] = {ACTION_TRIGGER, ACTION_PROCESS_ALL,
                                              ACTION_READ_RESULTS};
    for (int i = 0; i < 3; i++) {
        assert_true(query_action_allowed(QUERY_STARTING, asked[i]));
        assert_true(query_action_allowed(QUERY_UNKNOWN, asked[i]));
    }
    assert_false(query_action_allowed(QUERY_UNKNOWN, ACTION_REWIND));
}

static void allowed_actions_are_listed(void **state)
{
    (void)state;
    char text[128];
    query_allowed_actions(QUERY_STOPPED, text, sizeof text);
    assert_string_equal(text, "start, stop, restart, delete, rewind");
    char cut[8];
    query_allowed_actions(QUERY_STOPPED, cut, sizeof cut);
    assert_string_equal(cut, "start, ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found_again),
        cmocka_unit_test(every_state_can_be_started_and_stopped),
        cmocka_unit_test(a_query_with_a_worker_is_not_deleted),
        cmocka_unit_test(what_the_worker_answers_waits_until_it_is_known),
        cmocka_unit_test(allowed_actions_are_listed),
    };
    return cmocka_run_group_tests_name("control/query_state", tests, NULL, NULL) != 0;
}
