/*
 * The façade over lock, identity and log.  See checkpoint.h.
 */
#include "checkpoint/checkpoint.h"

#include "base/check.h"
#include "base/heap.h"
#include "base/path.h"
#include "base/vfs_posix.h"
#include "checkpoint/epoch.h"
#include "checkpoint/identity.h"
#include "checkpoint/log_index.h"
#include "checkpoint/snapshot_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHECKPOINT_MAGIC 0xc4ec4901U
#define SCRATCH_KEPT     ((size_t)1 << 20)

struct progress_document {
    int64_t batch_id;
    uint8_t *data;
    size_t size_bytes;
};

struct checkpoint {
    uint32_t magic;
    struct arena *arena; /* lives as long as the checkpoint */
    struct vfs *vfs;
    struct clock *clock;
    const char *dir;
    const char *log_dir;
    const char *epoch_path;
    const char *begun_path;
    bool begun; /* the log has been durable: from now on it cannot be empty */
    struct vfs_lock *lock;
    struct identity identity;
    struct run_record run;
    char holder[160];
    uint32_t epoch;
    int64_t batches_keep;
    uint64_t segment_bytes;
    int64_t oldest_needed;

    struct log_index index; /* what the log held when it was opened */
    struct log_summary summary;
    struct run_record *last_run;
    struct batch_intent *last_intent;
    struct batch_intent *previous_intent;

    struct checkpoint_log *log;
    struct buffer scratch;
    int64_t intent, changes, commit; /* the last batch id of each kind */
    int64_t durable_commit;
    int64_t snapshots_end;  /* found at open */
    uint32_t state_records; /* of the present attempt */

    struct progress_document *progress; /* a ring */
    uint32_t progress_keep;
    uint32_t progress_first;
    uint32_t progress_count;
};

static void keep_progress(struct checkpoint *checkpoint, int64_t batch_id, struct bytes json)
{
    struct progress_document *slot = NULL;
    if (checkpoint->progress_count == checkpoint->progress_keep) {
        slot = &checkpoint->progress[checkpoint->progress_first];
        checkpoint->progress_first = (checkpoint->progress_first + 1) % checkpoint->progress_keep;
    } else {
        slot = &checkpoint->progress[(checkpoint->progress_first + checkpoint->progress_count) %
                                     checkpoint->progress_keep];
        checkpoint->progress_count++;
    }
    free(slot->data);
    slot->data = heap_malloc(json.size_bytes + 1);
    memcpy(slot->data, json.data, json.size_bytes);
    slot->size_bytes = json.size_bytes;
    slot->batch_id = batch_id;
}

/* The lock comes first: nothing is read or written without it. */
static enum status take_lock(struct checkpoint *checkpoint, struct error *err)
{
    char host[64] = "localhost";
    const char *path = path_join(checkpoint->arena, checkpoint->dir, "lock");
    gethostname(host, sizeof host - 1);
    (void)snprintf(checkpoint->holder, sizeof checkpoint->holder, "host %s, process %ld, run %s",
                   host, (long)getpid(), checkpoint->run.run_id);
    if (checkpoint->vfs == vfs_posix())
        return vfs_posix_lock_as(path, checkpoint->holder, &checkpoint->lock, err);
    return vfs_lock(checkpoint->vfs, path, &checkpoint->lock, err);
}

static enum status take_epoch(struct checkpoint *checkpoint, struct error *err)
{
    uint32_t found = 0;
    char text[24];
    TRY(epoch_read(checkpoint->vfs, checkpoint->epoch_path, &found, err));
    if (found < checkpoint->index.last_epoch)
        found = checkpoint->index.last_epoch;
    checkpoint->epoch = found + 1;
    (void)snprintf(text, sizeof text, "%" PRIu32 "\n", checkpoint->epoch);
    return vfs_put(checkpoint->vfs, checkpoint->epoch_path, bytes_of_text(text), false, err);
}

/* A checkpoint is not begun among somebody's files: purging it would take them with it. */
static enum status check_is_free(struct checkpoint *checkpoint, struct error *err)
{
    static const char *const own[] = {"lock", "epoch", "log", "state", "sources", "sink"};
    struct vfs_entry *entries = NULL;
    size_t count = 0;
    TRY(vfs_list(checkpoint->vfs, checkpoint->dir, checkpoint->arena, &entries, &count, err));
    for (size_t i = 0; i < count; i++) {
        bool known = strncmp(entries[i].name, "epoch", strlen("epoch")) == 0 ||
                     strncmp(entries[i].name, "identity.json", strlen("identity.json")) == 0;
        for (size_t k = 0; k < sizeof own / sizeof own[0] && !known; k++)
            known = strcmp(entries[i].name, own[k]) == 0;
        if (!known)
            return error_raise(err, STATUS_STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY,
                               "checkpointLocation", checkpoint->dir, "entry", entries[i].name,
                               NULL);
    }
    return OK;
}

/* The log of a checkpoint that has run cannot be empty: somebody removed it. */
static enum status check_begun(struct checkpoint *checkpoint, struct error *err)
{
    checkpoint->begun = vfs_exists(checkpoint->vfs, checkpoint->begun_path);
    if (checkpoint->begun && checkpoint->summary.records == 0)
        return error_raise(err, STATUS_CHECKPOINT__CORRUPT, "path", checkpoint->log_dir, "reason",
                           "its records are gone, though this query has run", NULL);
    return OK;
}

static enum status check_identity(struct checkpoint *checkpoint,
                                  const struct checkpoint_config *config, struct error *err)
{
    bool found = false;
    struct identity *identity = &checkpoint->identity;
    TRY(identity_read(checkpoint->vfs, checkpoint->dir, identity, &found, err));
    if (found) {
        if (config->query_id == NULL || strcmp(config->query_id, identity->query_id) == 0)
            return OK;
        char owner[320];
        (void)snprintf(owner, sizeof owner, "query %s ('%s', created %s)", identity->query_id,
                       identity->query_name, identity->created_at);
        return error_raise(err, STATUS_CHECKPOINT__FOREIGN, "path", checkpoint->dir, "owner", owner,
                           "query", config->query_id, NULL);
    }
    if (checkpoint->summary.records > 0)
        return error_raise(err, STATUS_STREAMING_CHECKPOINT_MISSING_METADATA_FILE,
                           "checkpointLocation", checkpoint->dir, NULL);
    if (config->look_only)
        return error_raise(err, STATUS_CHECKPOINT_NOT_FOUND, "path", checkpoint->dir, NULL);
    TRY(check_is_free(checkpoint, err));
    if (config->query_id != NULL)
        (void)snprintf(identity->query_id, sizeof identity->query_id, "%s", config->query_id);
    else
        uuid_random_text(identity->query_id);
    (void)snprintf(identity->query_name, sizeof identity->query_name, "%s",
                   config->query_name == NULL ? "" : config->query_name);
    clock_format_iso(clock_now_us(checkpoint->clock), identity->created_at);
    return identity_write(checkpoint->vfs, checkpoint->dir, identity, err);
}

static enum status payload_damaged(struct checkpoint *checkpoint, struct error *err)
{
    return error_raise(err, STATUS_CHECKPOINT__CORRUPT, "path", checkpoint->log_dir, "reason",
                       "a record holds something else than this version writes", NULL);
}

enum status checkpoint_read_intent(struct checkpoint *checkpoint,
                                   const struct log_position *position, struct arena *arena,
                                   struct batch_intent **out, struct error *err)
{
    struct log_record record;
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    TRY(checkpoint_log_read(checkpoint->vfs, checkpoint->log_dir, position, arena, &record, err));
    struct batch_intent *intent = arena_new_object(arena, sizeof *intent);
    if (record.kind != RECORD_INTENT || !batch_intent_decode(arena, record.payload, intent))
        return payload_damaged(checkpoint, err);
    intent->batch_id = record.batch_id;
    intent->epoch = record.epoch;
    *out = intent;
    return OK;
}

/* Decodes what the index points to. */
static enum status read_history(struct checkpoint *checkpoint, struct error *err)
{
    struct log_index *index = &checkpoint->index;
    struct log_record record;
    if (index->has_run) {
        TRY(checkpoint_log_read(checkpoint->vfs, checkpoint->log_dir, &index->run,
                                checkpoint->arena, &record, err));
        checkpoint->last_run = arena_new_object(checkpoint->arena, sizeof *checkpoint->last_run);
        if (!run_record_decode(checkpoint->arena, record.payload, checkpoint->last_run))
            return payload_damaged(checkpoint, err);
    }
    if (index->last_intent != NO_BATCH)
        TRY(checkpoint_read_intent(checkpoint, &index->intent, checkpoint->arena,
                                   &checkpoint->last_intent, err));
    if (index->has_previous_intent)
        TRY(checkpoint_read_intent(checkpoint, &index->previous_intent, checkpoint->arena,
                                   &checkpoint->previous_intent, err));
    for (uint32_t i = 0; i < log_index_progress_count(index); i++) {
        TRY(checkpoint_log_read(checkpoint->vfs, checkpoint->log_dir, log_index_progress(index, i),
                                checkpoint->arena, &record, err));
        keep_progress(checkpoint, record.batch_id, record.payload);
    }
    return OK;
}

static enum status open_parts(struct checkpoint *checkpoint, const struct checkpoint_config *config,
                              struct error *err)
{
    if (!config->look_only) {
        TRY(vfs_make_dirs(checkpoint->vfs, checkpoint->dir, err));
        TRY(take_lock(checkpoint, err));
    }
    /* first, because a checkpoint that is only looked at may go on */
    TRY(snapshot_list_end(checkpoint->vfs, checkpoint->dir, &checkpoint->snapshots_end, err));
    TRY(log_index_build(&checkpoint->index, checkpoint->vfs, checkpoint->log_dir,
                        &checkpoint->summary, err));
    TRY(check_begun(checkpoint, err));
    TRY(check_identity(checkpoint, config, err));
    if (config->look_only)
        checkpoint->epoch = checkpoint->index.last_epoch;
    else
        TRY(take_epoch(checkpoint, err));
    TRY(read_history(checkpoint, err));
    checkpoint->intent = checkpoint->index.last_intent;
    checkpoint->changes = checkpoint->index.last_changes;
    checkpoint->commit = checkpoint->index.last_commit;
    return OK;
}

enum status checkpoint_open(const struct checkpoint_config *config, struct checkpoint **out,
                            struct error *err)
{
    CHECK(config->batches_keep >= 2 && config->progress_keep >= 1);
    struct arena *arena = arena_new("checkpoint", 0);
    struct checkpoint *checkpoint = arena_new_object(arena, sizeof *checkpoint);
    checkpoint->magic = CHECKPOINT_MAGIC;
    checkpoint->arena = arena;
    checkpoint->vfs = config->vfs;
    checkpoint->clock = config->clock;
    checkpoint->dir = path_normalize(arena, config->dir);
    checkpoint->log_dir = path_join(arena, checkpoint->dir, "log");
    checkpoint->epoch_path = path_join(arena, checkpoint->dir, "epoch");
    checkpoint->begun_path = path_join(arena, checkpoint->dir, "begun");
    checkpoint->batches_keep = config->batches_keep;
    checkpoint->segment_bytes =
        config->segment_bytes == 0 ? LOG_SEGMENT_BYTES : config->segment_bytes;
    checkpoint->oldest_needed = INT64_MAX;
    checkpoint->progress_keep = config->progress_keep;
    checkpoint->progress =
        arena_new_object(arena, config->progress_keep * sizeof *checkpoint->progress);
    checkpoint->durable_commit = NO_BATCH;
    (void)snprintf(checkpoint->run.run_id, sizeof checkpoint->run.run_id, "%s", config->run_id);
    log_index_init(&checkpoint->index, config->progress_keep, arena);
    enum status status = open_parts(checkpoint, config, err);
    if (status != OK) {
        checkpoint_close(checkpoint);
        return status;
    }
    *out = checkpoint;
    return OK;
}

void checkpoint_close(struct checkpoint *checkpoint)
{
    if (checkpoint == NULL)
        return;
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    checkpoint_log_close(checkpoint->log);
    vfs_unlock(checkpoint->lock);
    for (uint32_t i = 0; i < checkpoint->progress_keep; i++)
        free(checkpoint->progress[i].data);
    buffer_fini(&checkpoint->scratch);
    checkpoint->magic = 0;
    arena_free(checkpoint->arena);
}

const char *checkpoint_query_id(const struct checkpoint *checkpoint)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    return checkpoint->identity.query_id;
}

const char *checkpoint_dir(const struct checkpoint *checkpoint)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    return checkpoint->dir;
}

uint32_t checkpoint_epoch(const struct checkpoint *checkpoint)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    return checkpoint->epoch;
}

void checkpoint_facts(const struct checkpoint *checkpoint, struct recovery_facts *facts)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    facts->last_intent = checkpoint->index.last_intent;
    facts->last_changes = checkpoint->index.last_changes;
    facts->last_commit = checkpoint->index.last_commit;
    facts->last_sink_due = checkpoint->index.last_sink_due;
    facts->replay_end = checkpoint->index.replay_end;
    facts->snapshots_end = checkpoint->snapshots_end;
}

int64_t checkpoint_replay_end(const struct checkpoint *checkpoint)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    return checkpoint->index.replay_end;
}

enum status checkpoint_rewinds(struct checkpoint *checkpoint, struct arena *arena,
                               struct log_rewinds *out, struct error *err)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    *out = (struct log_rewinds){0};
    if (!checkpoint->index.rewound)
        return OK;
    return log_rewinds_read(checkpoint->vfs, checkpoint->log_dir, arena, out, err);
}

enum status checkpoint_logged_batches(struct checkpoint *checkpoint, struct arena *arena,
                                      int64_t first, int64_t end, struct logged_batch **out,
                                      struct error *err)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    return logged_batches_read(checkpoint->vfs, checkpoint->log_dir, arena, first, end, out, err);
}

const struct run_record *checkpoint_last_run(const struct checkpoint *checkpoint)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    return checkpoint->last_run;
}

const struct batch_intent *checkpoint_last_intent(const struct checkpoint *checkpoint)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    return checkpoint->last_intent;
}

const struct batch_intent *checkpoint_previous_intent(const struct checkpoint *checkpoint)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    return checkpoint->previous_intent;
}

const struct batch_changes *checkpoint_last_changes(const struct checkpoint *checkpoint)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    return checkpoint->index.last_changes == NO_BATCH ? NULL : &checkpoint->index.changes;
}

int64_t checkpoint_first_batch(const struct checkpoint *checkpoint)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    return checkpoint->index.first_intent == NO_BATCH ? 0 : checkpoint->index.first_intent;
}

static enum status append(struct checkpoint *checkpoint, enum record_kind kind, int64_t batch_id,
                          struct error *err)
{
    return checkpoint_log_append(checkpoint->log, kind, batch_id,
                                 buffer_bytes(&checkpoint->scratch), NULL, err);
}

static enum status append_start(struct checkpoint *checkpoint, struct error *err)
{
    buffer_clear(&checkpoint->scratch);
    run_record_encode(&checkpoint->run, &checkpoint->scratch);
    return append(checkpoint, RECORD_START, NO_BATCH, err);
}

enum status checkpoint_start_run(struct checkpoint *checkpoint, uint64_t fingerprint,
                                 struct bytes fingerprint_text, struct error *err)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    CHECK(checkpoint->log == NULL);
    struct run_record *run = &checkpoint->run;
    (void)snprintf(run->query_id, sizeof run->query_id, "%s", checkpoint->identity.query_id);
    run->started_us = clock_now_us(checkpoint->clock);
    run->fingerprint = fingerprint;
    run->fingerprint_text = arena_copy(checkpoint->arena, fingerprint_text);
    run->holder = bytes_of_text(checkpoint->holder);
    TRY(checkpoint_log_open(checkpoint->vfs, checkpoint->log_dir, checkpoint->epoch,
                            &checkpoint->summary, &checkpoint->log, err));
    if (checkpoint->summary.last_segment == NO_BATCH)
        TRY(checkpoint_log_rotate(checkpoint->log, 0, err));
    return append_start(checkpoint, err);
}

static enum status begin_segment(struct checkpoint *checkpoint, int64_t batch_id, struct error *err)
{
    uint32_t removed = 0;
    TRY(checkpoint_log_rotate(checkpoint->log, batch_id, err));
    checkpoint->durable_commit = checkpoint->commit;
    TRY(append_start(checkpoint, err));
    int64_t oldest = batch_id - checkpoint->batches_keep;
    if (oldest > checkpoint->oldest_needed)
        oldest = checkpoint->oldest_needed;
    return checkpoint_log_trim(checkpoint->log, oldest, &removed, err);
}

enum status checkpoint_append_intent(struct checkpoint *checkpoint,
                                     const struct batch_intent *intent, struct error *err)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    CHECK(intent->batch_id == checkpoint->commit + 1);
    CHECK(intent->batch_id == checkpoint->intent || intent->batch_id == checkpoint->intent + 1);
    /* While batches run again their intents are needed, and their ids name segments already. */
    if (intent->batch_id > checkpoint->intent && intent->batch_id >= checkpoint->index.replay_end &&
        checkpoint_log_is_full(checkpoint->log, checkpoint->segment_bytes, intent->batch_id))
        TRY(begin_segment(checkpoint, intent->batch_id, err));
    buffer_clear(&checkpoint->scratch);
    batch_intent_encode(intent, &checkpoint->scratch);
    enum status status = append(checkpoint, RECORD_INTENT, intent->batch_id, err);
    if (checkpoint->scratch.capacity_bytes > SCRATCH_KEPT)
        buffer_fini(&checkpoint->scratch); /* a million files */
    TRY(status);
    checkpoint->intent = intent->batch_id;
    checkpoint->state_records = 0;
    return OK;
}

enum status checkpoint_append_state(struct checkpoint *checkpoint, int64_t batch_id,
                                    struct bytes content, struct error *err)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    CHECK(batch_id == checkpoint->intent);
    TRY(checkpoint_log_append(checkpoint->log, RECORD_STATE, batch_id, content, NULL, err));
    checkpoint->state_records++;
    return OK;
}

enum status checkpoint_append_changes(struct checkpoint *checkpoint, int64_t batch_id,
                                      struct batch_changes *changes, struct error *err)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    CHECK(batch_id == checkpoint->intent);
    changes->state_records = checkpoint->state_records;
    buffer_clear(&checkpoint->scratch);
    batch_changes_encode(changes, &checkpoint->scratch);
    TRY(append(checkpoint, RECORD_CHANGES, batch_id, err));
    checkpoint->changes = batch_id;
    return OK;
}

enum status checkpoint_sync(struct checkpoint *checkpoint, struct error *err)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    TRY(checkpoint_log_sync(checkpoint->log, err));
    checkpoint->durable_commit = checkpoint->commit;
    if (checkpoint->begun)
        return OK;
    checkpoint->begun = true;
    TRY(vfs_sync_above(checkpoint->vfs, checkpoint->dir, err));
    return vfs_put(checkpoint->vfs, checkpoint->begun_path, bytes_of_text("1\n"), false, err);
}

enum status checkpoint_check_fence(struct checkpoint *checkpoint, int64_t batch_id,
                                   struct error *err)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    uint32_t found = 0;
    TRY(epoch_read(checkpoint->vfs, checkpoint->epoch_path, &found, err));
    if (found == checkpoint->epoch)
        return OK;
    if (found == 0) {
        (void)error_raise(err, STATUS_CHECKPOINT_NOT_FOUND, "path", checkpoint->dir, NULL);
        (void)snprintf(err->text, sizeof err->text,
                       "The checkpoint %.1000s was removed while the query was running. Put it "
                       "back: a start without it reads all input again",
                       checkpoint->dir);
        return err->status;
    }
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRId64, batch_id);
    return error_raise(err, STATUS_CONCURRENT_STREAM_LOG_UPDATE, "batchId", text, NULL);
}

enum status checkpoint_append_commit(struct checkpoint *checkpoint, int64_t batch_id,
                                     struct error *err)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    CHECK(batch_id == checkpoint->changes && batch_id == checkpoint->commit + 1);
    buffer_clear(&checkpoint->scratch);
    TRY(append(checkpoint, RECORD_COMMIT, batch_id, err));
    checkpoint->commit = batch_id;
    return OK;
}

enum status checkpoint_append_progress(struct checkpoint *checkpoint, int64_t batch_id,
                                       struct bytes json, struct error *err)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    CHECK(batch_id == checkpoint->commit);
    keep_progress(checkpoint, batch_id, json);
    return checkpoint_log_append(checkpoint->log, RECORD_PROGRESS, batch_id, json, NULL, err);
}

enum status checkpoint_append_rewind(struct checkpoint *checkpoint, int64_t to_batch,
                                     const struct rewind_record *rewind, struct error *err)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    CHECK(checkpoint->log != NULL && to_batch >= NO_BATCH && to_batch <= checkpoint->commit);
    buffer_clear(&checkpoint->scratch);
    rewind_record_encode(rewind, &checkpoint->scratch);
    TRY(append(checkpoint, RECORD_REWIND, to_batch, err));
    return checkpoint_sync(checkpoint, err);
}

int64_t checkpoint_durable_commit(const struct checkpoint *checkpoint)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    return checkpoint->durable_commit;
}

enum status checkpoint_end_run(struct checkpoint *checkpoint, struct error *err)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    buffer_clear(&checkpoint->scratch);
    TRY(append(checkpoint, RECORD_CLOSE, NO_BATCH, err));
    return checkpoint_sync(checkpoint, err);
}

uint32_t checkpoint_progress_count(const struct checkpoint *checkpoint)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    return checkpoint->progress_count;
}

struct bytes checkpoint_progress_at(const struct checkpoint *checkpoint, uint32_t index,
                                    int64_t *batch_id)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    CHECK(index < checkpoint->progress_count);
    const struct progress_document *document =
        &checkpoint->progress[(checkpoint->progress_first + index) % checkpoint->progress_keep];
    *batch_id = document->batch_id;
    return bytes_of(document->data, document->size_bytes);
}

void checkpoint_hold(struct checkpoint *checkpoint, int64_t oldest_needed)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    checkpoint->oldest_needed = oldest_needed;
}

enum status checkpoint_scan(struct checkpoint *checkpoint, struct log_visitor *visitor,
                            struct error *err)
{
    struct log_summary summary;
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    return checkpoint_log_scan(checkpoint->vfs, checkpoint->log_dir, visitor, &summary, err);
}

enum status checkpoint_scan_from(struct checkpoint *checkpoint, int64_t batch_id,
                                 struct log_visitor *visitor, struct error *err)
{
    struct log_summary summary;
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    return checkpoint_log_scan_from(checkpoint->vfs, checkpoint->log_dir,
                                    checkpoint->index.rewound ? NO_BATCH : batch_id, visitor,
                                    &summary, err);
}

enum status checkpoint_read_record(struct checkpoint *checkpoint,
                                   const struct log_position *position, struct arena *arena,
                                   struct log_record *out, struct error *err)
{
    CHECK_MAGIC(checkpoint, CHECKPOINT_MAGIC);
    return checkpoint_log_read(checkpoint->vfs, checkpoint->log_dir, position, arena, out, err);
}
