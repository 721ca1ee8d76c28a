/*
 * One pass over the checkpoint log: the last record of each kind, and whether the order of the
 * records is one that a worker can have written.
 */
#ifndef SERVER_CHECKPOINT_LOG_INDEX_H
#define SERVER_CHECKPOINT_LOG_INDEX_H

#include "checkpoint/batch_record.h"
#include "checkpoint/checkpoint_log.h"

struct log_index {
    struct log_visitor visitor;
    const char *dir;
    int64_t first_intent; /* the oldest batch that is still there */
    int64_t last_intent;
    int64_t last_changes;
    int64_t last_commit;
    int64_t last_sink_due;
    int64_t sink_due_before; /* ... of the batches before last_intent */
    uint32_t last_epoch;
    struct batch_changes changes; /* of last_changes */
    uint32_t state_records;       /* since the last intent */
    bool has_run;
    bool has_previous_intent;
    bool closed;        /* the last record is CLOSE */
    bool rewound;       /* there is a REWIND */
    int64_t replay_end; /* batches below it have been run before a REWIND; 0: none */
    struct log_position run;
    struct log_position intent;
    struct log_position previous_intent;
    struct log_position *progress; /* a ring */
    uint32_t progress_keep;
    uint64_t progress_seen;
};

/* `progress_keep` may be 0. */
void log_index_init(struct log_index *index, uint32_t progress_keep, struct arena *arena);

/* Reads the log in `dir`.  Errors: CHECKPOINT.CORRUPT and those of checkpoint_log_scan. */
MUST_USE enum status log_index_build(struct log_index *index, struct vfs *vfs, const char *dir,
                                     struct log_summary *summary, struct error *err);

/* The positions of the newest progress records, oldest first. */
uint32_t log_index_progress_count(const struct log_index *index);
const struct log_position *log_index_progress(const struct log_index *index, uint32_t i);

#endif
