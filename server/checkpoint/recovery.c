/*
 * The decision after a crash.  See recovery.h.
 *
 * With N the last intent, the order of a batch is intent, changes, (sync), sink, commit; of each of
 * these the last batch is therefore N or N-1, and none is ahead of the one before it.  The sink is
 * measured against last_sink_due, because a batch without output leaves no trace in it.  A sink
 * that lacks committed batches is no contradiction: a query may be given another sink.  After a
 * rewind the sink may be ahead: it has what is run again, up to where the log was.
 */
#include "checkpoint/recovery.h"

#include "base/check.h"

const char *recovery_contradiction(const struct recovery_facts *facts)
{
    int64_t intent = facts->last_intent;
    int64_t changes = facts->last_changes;
    int64_t due = facts->last_sink_due;
    int64_t sink = facts->sink_last;
    if (changes > intent)
        return "changes are logged of a batch that has no intent";
    if (facts->last_commit > changes)
        return "a batch is committed whose changes are not logged";
    if (changes < intent - 1)
        return "a batch between the last changes and the last intent left no changes";
    if (facts->last_commit < intent - 1)
        return "a batch before the last intent was never committed";
    if (due > changes)
        return "the sink was due for a batch whose changes are not logged";
    if (facts->snapshots_end > changes + 1)
        return "the state has a snapshot of a batch that the log has lost";
    if (sink == SINK_CANNOT_TELL)
        return "";
    if (sink < facts->replay_end)
        return "";
    if (sink > changes)
        return "the sink shows a batch whose changes are not logged";
    if (sink > due)
        return "the sink shows a batch that left it nothing to commit";
    return "";
}

enum recovery_step recovery_decide(const struct recovery_facts *facts)
{
    CHECK(facts->last_intent >= NO_BATCH && facts->last_changes >= NO_BATCH);
    CHECK(facts->sink_last >= SINK_CANNOT_TELL);
    int64_t intent = facts->last_intent;
    if (recovery_contradiction(facts)[0] != '\0')
        return RECOVERY_CORRUPT;
    if (facts->last_commit == intent)
        return RECOVERY_START;
    if (facts->last_changes < intent)
        return RECOVERY_RERUN;
    if (facts->last_sink_due < intent || facts->sink_last >= intent)
        return RECOVERY_FINISH;
    return RECOVERY_RERUN;
}

const char *recovery_step_name(enum recovery_step step)
{
    switch (step) {
    case RECOVERY_START:
        return "START";
    case RECOVERY_RERUN:
        return "RERUN";
    case RECOVERY_FINISH:
        return "FINISH";
    case RECOVERY_CORRUPT:
        return "CORRUPT";
    }
    return "?";
}
