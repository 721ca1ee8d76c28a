#include "checkpoint/recovery.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Last batch id seen in: intent, changes, commit records; due in the sink; in the sink. */
static void decides_by_table(void **state)
{
    (void)state;
    static const struct {
        const char *died;
        struct recovery_facts facts;
        enum recovery_step want;
    } cases[] = {
        {"before the first batch", {-1, -1, -1, -1, -1, 0, 0}, RECOVERY_START},
        {"before the first batch, sink cannot tell", {-1, -1, -1, -1, -2, 0, 0}, RECOVERY_START},
        {"after the first intent", {0, -1, -1, -1, -1, 0, 0}, RECOVERY_RERUN},
        {"after the first sync", {0, 0, -1, 0, -1, 0, 0}, RECOVERY_RERUN},
        {"after the first sync, nothing due", {0, 0, -1, -1, -1, 0, 0}, RECOVERY_FINISH},
        {"after the first sink commit", {0, 0, -1, 0, 0, 0, 0}, RECOVERY_FINISH},
        {"between batches", {7, 7, 7, 7, 7, 0, 0}, RECOVERY_START},
        {"between batches, sink cannot tell", {7, 7, 7, 7, -2, 0, 0}, RECOVERY_START},
        {"between batches, the last left the sink nothing", {8, 8, 8, 7, 7, 0, 0}, RECOVERY_START},
        {"between batches, the sink is a new one", {8, 8, 8, 7, -1, 0, 0}, RECOVERY_START},
        {"after an intent", {8, 7, 7, 7, 7, 0, 0}, RECOVERY_RERUN},
        {"after an intent, the commit before it was lost: impossible",
         {8, 7, 6, 7, 7, 0, 0},
         RECOVERY_CORRUPT},
        {"after a sync that left the sink nothing", {8, 8, 7, 7, 7, 0, 0}, RECOVERY_FINISH},
        {"after a sync", {8, 8, 7, 8, 7, 0, 0}, RECOVERY_RERUN},
        {"after a sync, sink cannot tell", {8, 8, 7, 8, -2, 0, 0}, RECOVERY_RERUN},
        {"after a sink commit", {8, 8, 7, 8, 8, 0, 0}, RECOVERY_FINISH},
        {"never: changes are ahead of the intent", {7, 8, 7, 8, 7, 0, 0}, RECOVERY_CORRUPT},
        {"never: the commit is ahead of the changes", {8, 7, 8, 7, 7, 0, 0}, RECOVERY_CORRUPT},
        {"never: the sink is ahead of the sync", {8, 7, 7, 7, 8, 0, 0}, RECOVERY_CORRUPT},
        {"never: the sink is far ahead", {8, 8, 8, 8, 12, 0, 0}, RECOVERY_CORRUPT},
        {"never: the sink has what left it nothing", {8, 8, 8, 7, 8, 0, 0}, RECOVERY_CORRUPT},
        {"never: a gap in the commits", {8, 8, 6, 8, 7, 0, 0}, RECOVERY_CORRUPT},
        {"never: a gap in the changes", {8, 6, 6, 6, 6, 0, 0}, RECOVERY_CORRUPT},
        {"rewound, the sink has what runs again", {3, 3, 3, 3, 8, 9, 0}, RECOVERY_START},
        {"rewound, after a sync, the sink has it", {4, 4, 3, 4, 8, 9, 0}, RECOVERY_FINISH},
        {"rewound, after an intent", {4, 3, 3, 3, 8, 9, 0}, RECOVERY_RERUN},
        {"rewound, never: the sink has what was not there",
         {3, 3, 3, 3, 9, 9, 0},
         RECOVERY_CORRUPT},
        {"never: due beyond the changes", {8, 7, 7, 8, 7, 0, 0}, RECOVERY_CORRUPT},
        {"after a snapshot", {7, 7, 7, 7, 7, 0, 8}, RECOVERY_START},
        {"after a snapshot, its commit is not durable", {7, 7, 6, 7, 7, 0, 8}, RECOVERY_FINISH},
        {"never: the log has lost batches", {7, 7, 7, 7, 7, 0, 9}, RECOVERY_CORRUPT},
        {"never: the log has lost all", {-1, -1, -1, -1, SINK_CANNOT_TELL, 0, 1}, RECOVERY_CORRUPT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("died %s\n", cases[i].died);
        assert_int_equal(recovery_decide(&cases[i].facts), cases[i].want);
        assert_int_equal(recovery_contradiction(&cases[i].facts)[0] != '\0',
                         cases[i].want == RECOVERY_CORRUPT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(decides_by_table)};
    return cmocka_run_group_tests_name("checkpoint/recovery", tests, NULL, NULL);
}
