/*
 * What the records of a checkpoint log say: the payloads of the kinds in log_record.h.
 *
 * A payload is a list of fields in a fixed order: numbers as 8 bytes little-endian, texts as their
 * length (4 bytes) and their bytes.  A payload that ends early or has something left over is
 * refused; fields are only ever added together with a new version of the record format.
 */
#ifndef SERVER_CHECKPOINT_BATCH_RECORD_H
#define SERVER_CHECKPOINT_BATCH_RECORD_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/uuid.h"
#include "source/source.h"

#define NO_BATCH (-1)

/* START: who writes from here on, and for which query. */
struct run_record {
    char run_id[UUID_TEXT_SIZE];
    char query_id[UUID_TEXT_SIZE];
    int64_t started_us;
    uint64_t fingerprint;
    struct bytes fingerprint_text; /* JSON: what the fingerprint covers */
    struct bytes holder;           /* "host pid" */
};

/* What a source contributes to a batch. */
struct intent_range {
    bool has_data; /* there is something between start and end */
    struct source_range range;
};

struct pinned_setting {
    struct bytes name;
    struct bytes value;
};

/* INTENT: everything that decides the result of batch N besides the state before it. */
struct batch_intent {
    int64_t batch_id;
    int64_t late_watermark_us;     /* rows up to it are dropped: the watermark of batch N-1 */
    int64_t eviction_watermark_us; /* state up to it is closed */
    int64_t batch_timestamp_us;    /* now(), current_date() */
    uint64_t random_seed;
    uint64_t fingerprint;
    char run_id[UUID_TEXT_SIZE];
    uint32_t epoch; /* from the record's header */
    struct intent_range *sources;
    uint32_t source_count;
    struct source_range *tables; /* the version of each static table: what was listed */
    uint32_t table_count;
    struct pinned_setting *settings;
    uint32_t setting_count;
};

/* CHANGES: batch N has been computed; with the STATE records before it this is state version N. */
struct batch_changes {
    int64_t next_watermark_us; /* the eviction watermark of batch N+1 */
    bool sink_due;             /* sink commit has something to do */
    uint64_t input_rows;
    uint64_t output_rows;
    uint32_t state_records; /* STATE records of this attempt, all before this one */
};

/*
 * REWIND: the checkpoint goes back to batch `to` (in the record's header; NO_BATCH: to before the
 * first one).  Batches after it do not count any more, but for their intents: those below
 * `replay_end` are run again with the intents that the log has of them.  The record carries what a
 * reader of the log would have to go back for.
 */
struct rewind_place {
    bool is_set;
    int64_t segment;
    uint64_t offset;
};

struct rewind_record {
    int64_t replay_end;
    int64_t last_sink_due;
    struct rewind_place intent;   /* of `to` */
    struct rewind_place previous; /* of the batch before */
    struct batch_changes changes; /* of `to`; meaningless for NO_BATCH */
};

void run_record_encode(const struct run_record *run, struct buffer *out);
void batch_intent_encode(const struct batch_intent *intent, struct buffer *out);
void batch_changes_encode(const struct batch_changes *changes, struct buffer *out);
void rewind_record_encode(const struct rewind_record *rewind, struct buffer *out);

/*
 * Decoded texts are copied into `arena`.  False: the payload is not what this version writes.
 * batch_id and epoch of an intent are not in the payload: the caller takes them from the record.
 */
MUST_USE bool run_record_decode(struct arena *arena, struct bytes payload, struct run_record *out);
MUST_USE bool batch_intent_decode(struct arena *arena, struct bytes payload,
                                  struct batch_intent *out);
MUST_USE bool batch_changes_decode(struct bytes payload, struct batch_changes *out);
MUST_USE bool rewind_record_decode(struct bytes payload, struct rewind_record *out);

/* A deep copy in `arena`. */
struct batch_intent *batch_intent_clone(struct arena *arena, const struct batch_intent *intent);

/* The value of a pinned setting; .data is NULL if it is not pinned. */
struct bytes batch_intent_setting(const struct batch_intent *intent, const char *name);

#endif
