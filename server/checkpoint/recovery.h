/*
 * What a start has to do, decided from what the log and the sink remember.
 *
 * This is the mirror image of worker/micro_batch.c: there the steps of a batch are in their order,
 * here every place between two of them is recognised.  Change them together.
 */
#ifndef SERVER_CHECKPOINT_RECOVERY_H
#define SERVER_CHECKPOINT_RECOVERY_H

#include "checkpoint/batch_record.h"

#ifndef SINK_CANNOT_TELL
#define SINK_CANNOT_TELL (-2)
#endif

enum recovery_step {
    RECOVERY_START,  /* plan the batch after the last one */
    RECOVERY_RERUN,  /* run the last logged batch again, with its logged intent */
    RECOVERY_FINISH, /* changes are durable and the sink has N: only the commit record is missing */
    RECOVERY_CORRUPT, /* no crash can lead here: stop and say so */
};

/* What the checkpoint and the sink know; NO_BATCH where there is nothing. */
struct recovery_facts {
    int64_t last_intent, last_changes, last_commit;
    int64_t last_sink_due; /* the last batch whose changes left the sink something to commit */
    int64_t sink_last;     /* SINK_CANNOT_TELL for a sink that keeps no record of batches */
    int64_t replay_end;    /* batches below it were run before a rewind: the sink may have them */
    int64_t snapshots_end; /* no snapshot of the state is of this batch or a later one */
};

/* Pure: reads and writes nothing. */
enum recovery_step recovery_decide(const struct recovery_facts *facts);

/* Why a start is refused, one sentence; "" unless the step is RECOVERY_CORRUPT. */
const char *recovery_contradiction(const struct recovery_facts *facts);

const char *recovery_step_name(enum recovery_step step);

#endif
