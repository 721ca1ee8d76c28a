/*
 * See start_plan.h.
 */
#include "worker/start_plan.h"

#include "base/check.h"
#include "base/json_writer.h"
#include "base/lock_probe.h"
#include "base/path.h"
#include "base/vfs_dry.h"
#include "plan/state_inputs.h"
#include "source/file_range.h"
#include "state/state_store.h"
#include "worker/fingerprint_check.h"
#include "worker/query_plan.h"

#include <inttypes.h>
#include <stdio.h>

#define LOST_LISTED    100
#define BATCHES_LISTED 1000
#define LOOK_BYTES_MAX ((size_t)1 << 30)
#define SPEC_BYTES_MAX ((size_t)16 << 20)

enum batch_kind {
    BATCH_NEW,
    BATCH_RERUN,
    BATCH_FINISH,
    BATCH_REPLAY,
    BATCH_NONE, /* the start would be refused */
};

enum duplicates {
    DUPLICATES_NONE,
    DUPLICATES_SUPPRESSED,
    DUPLICATES_POSSIBLE,
    DUPLICATES_CERTAIN,
};

struct look {
    struct query *query;
    struct vfs *dry;
    const char *dir; /* of the checkpoint */
    struct json_writer json;
    struct buffer problems, warnings; /* elements of arrays */
    struct recovery_facts facts;
    enum batch_kind kind;
    bool has_checkpoint, has_sink, held;
    bool changed;   /* the query is another one than the checkpoint's: said */
    bool recovered; /* the sources stand where a start would begin: they can be asked for more */
    uint64_t lost;
    struct buffer lost_files;
};

static void add_element(struct buffer *list, const char *name, const char *condition,
                        const char *message)
{
    struct json_writer json = json_writer_to(list);
    if (list->size_bytes > 0)
        buffer_add_text(list, ",");
    json_begin_object(&json, NULL);
    json_put_text(&json, name, condition);
    json_put_text(&json, "message", message);
    json_end_object(&json);
}

/* What a start would fail with; goes on.  That the query is another one is said once: the sources
 * find it, too. */
static void add_problem(struct look *look, struct error *err)
{
    if (err->status != STATUS_CHECKPOINT__QUERY_CHANGED || !look->changed)
        add_element(&look->problems, "condition", status_name(err->status), err->text);
    error_clear(err);
}

static void warn(struct look *look, const char *code, const char *message)
{
    add_element(&look->warnings, "code", code, message);
}

/* ---- what is there ---- */

static void look_at_checkpoint(struct look *look)
{
    struct error err = ERROR_INIT;
    struct query *query = look->query;
    enum status status = query_open_checkpoint(query, true, &err);
    look->facts = (struct recovery_facts){.last_intent = NO_BATCH,
                                          .last_changes = NO_BATCH,
                                          .last_commit = NO_BATCH,
                                          .last_sink_due = NO_BATCH,
                                          .sink_last = SINK_CANNOT_TELL};
    if (status == STATUS_CHECKPOINT_NOT_FOUND)
        return; /* it will be made */
    if (status != OK) {
        add_problem(look, &err);
        look->kind = BATCH_NONE;
        return;
    }
    look->has_checkpoint = true;
    checkpoint_facts(query->checkpoint, &look->facts);
    if (query_pin_plan(query, &err) != OK)
        add_problem(look, &err);
    if (fingerprint_check(query, &err) != OK) {
        add_problem(look, &err);
        look->changed = true;
    }
}

static void look_at_sink(struct look *look)
{
    struct error err = ERROR_INIT;
    struct query *query = look->query;
    if (query_open_sink(query, &err) != OK) {
        add_problem(look, &err);
        return;
    }
    look->has_sink = true;
    look->facts.sink_last = SINK_CANNOT_TELL;
    if (query->sink->ops->last_batch(query->sink, &look->facts.sink_last, &err) != OK)
        add_problem(look, &err);
}

static void decide(struct look *look)
{
    struct query *query = look->query;
    struct error err = ERROR_INIT;
    enum recovery_step step = recovery_decide(&look->facts);
    query->next_batch_id = look->facts.last_intent + (step == RECOVERY_RERUN ? 0 : 1);
    if (look->kind == BATCH_NONE)
        return;
    if (step == RECOVERY_CORRUPT) {
        (void)error_raise(&err, STATUS_CHECKPOINT__INCONSISTENT, "path", look->dir, "facts",
                          recovery_contradiction(&look->facts), NULL);
        add_problem(look, &err);
        look->kind = BATCH_NONE;
    } else if (step == RECOVERY_RERUN) {
        look->kind = BATCH_RERUN;
    } else if (query->next_batch_id < look->facts.replay_end) {
        look->kind = BATCH_REPLAY;
    } else {
        look->kind = step == RECOVERY_FINISH ? BATCH_FINISH : BATCH_NEW;
    }
}

/* ---- the batches that run again ---- */

static const char *batch_reason(const struct look *look)
{
    const struct recovery_facts *facts = &look->facts;
    switch (look->kind) {
    case BATCH_NEW:
        return !look->has_checkpoint || facts->last_intent == NO_BATCH
                   ? "the checkpoint has no batch yet"
                   : "the last batch is committed";
    case BATCH_RERUN:
        return facts->last_changes < facts->last_intent
                   ? "the batch was begun and its changes did not become durable"
                   : "its changes are durable, but the sink does not say that it has the batch";
    case BATCH_FINISH:
        return "the sink has the last batch, only its commit record is missing";
    case BATCH_REPLAY:
        return "the checkpoint was rewound: the batch runs again with what it read before";
    case BATCH_NONE:
        return "a start would be refused";
    }
    return "";
}

/* The kinds of files that may be gone when a range is read again. */
static bool reads_files(const struct source_use *use)
{
    return strcmp(use->plan->spec->format, "json") == 0 ||
           strcmp(use->plan->spec->format, "csv") == 0 ||
           strcmp(use->plan->spec->format, "text") == 0;
}

static void note_lost(struct look *look, const struct source_use *use, int64_t batch_id,
                      const char *path)
{
    struct json_writer json = json_writer_to(&look->lost_files);
    if (look->lost++ >= LOST_LISTED)
        return;
    if (look->lost_files.size_bytes > 0)
        buffer_add_text(&look->lost_files, ",");
    json_begin_object(&json, NULL);
    json_put_int(&json, "batchId", batch_id);
    json_put_text(&json, "source", use->plan->spec->name);
    json_put_text(&json, "path", path);
    json_end_object(&json);
}

/* Files of a logged range that are gone: -1 where the source has none. */
static int64_t check_files(struct look *look, const struct source_use *use,
                           const struct batch_intent *intent, const struct source_range *range)
{
    struct error err = ERROR_INIT;
    const char *dir = NULL;
    struct range_file *files = NULL;
    size_t count = 0;
    int64_t start = -1, own = 0;
    struct arena *arena = arena_new("request", 0);
    if (!reads_files(use) || file_offset_parse(range->start, &start, &err) != OK ||
        file_range_parse(arena, range->detail, &dir, &files, &count, &err) != OK) {
        arena_free(arena);
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        if (files[i].log_offset <= start)
            continue; /* of an earlier batch */
        own++;
        if (!vfs_exists(look->dry, files[i].path))
            note_lost(look, use, intent->batch_id, files[i].path);
    }
    arena_free(arena);
    return own;
}

static void put_offset(struct json_writer *json, const char *key, struct bytes text)
{
    if (text.size_bytes == 0)
        json_put_null(json, key);
    else
        json_put_raw(json, key, text);
}

static void put_ranges(struct look *look, const struct batch_intent *intent)
{
    struct json_writer *json = &look->json;
    json_begin_array(json, "sources");
    for (uint32_t i = 0; i < look->query->sources.count && i < intent->source_count; i++) {
        const struct source_use *use = &look->query->sources.uses[i];
        const struct source_range *range = &intent->sources[i].range;
        json_begin_object(json, NULL);
        json_put_text(json, "name", use->plan->spec->name);
        put_offset(json, "startOffset", range->start);
        put_offset(json, "endOffset", range->end);
        int64_t files = intent->sources[i].has_data ? check_files(look, use, intent, range) : -1;
        if (files >= 0)
            json_put_int(json, "files", files);
        else
            json_put_null(json, "files");
        json_end_object(json);
    }
    json_end_array(json);
}

/* Whether the sink keeps no rows that another run could repeat. */
static bool begins_empty(const struct look *look)
{
    const char *format = look->query->spec->sink.format;
    return strcmp(format, "memory") == 0 || strcmp(format, "noop") == 0;
}

static bool sink_has(const struct look *look, int64_t batch_id)
{
    return look->facts.sink_last >= batch_id;
}

/* What the sink makes of a batch that runs again. */
static const char *sink_verdict(const struct look *look, int64_t batch_id, bool was_written)
{
    if (!look->has_sink)
        return "UNKNOWN";
    if (sink_has(look, batch_id))
        return "SUPPRESSED";
    if (look->facts.sink_last == SINK_CANNOT_TELL && !begins_empty(look) && was_written)
        return "REPEATED";
    return "WRITTEN";
}

static enum duplicates worse(enum duplicates a, enum duplicates b)
{
    return a > b ? a : b;
}

/* One batch that runs again. */
static enum duplicates put_again(struct look *look, int64_t batch_id,
                                 const struct logged_batch *logged,
                                 const struct batch_intent *intent)
{
    struct json_writer *json = &look->json;
    bool computed = logged->has_changes;
    const char *verdict = sink_verdict(look, batch_id, computed);
    json_begin_object(json, NULL);
    json_put_int(json, "batchId", batch_id);
    if (computed) {
        json_put_int(json, "numInputRows", (int64_t)logged->changes.input_rows);
        json_put_int(json, "numOutputRows", (int64_t)logged->changes.output_rows);
    } else {
        json_put_null(json, "numInputRows");
        json_put_null(json, "numOutputRows");
    }
    json_put_text(json, "sink", verdict);
    put_ranges(look, intent);
    json_end_object(json);
    bool rows = !computed || logged->changes.output_rows > 0;
    if (strcmp(verdict, "SUPPRESSED") == 0 && rows)
        return DUPLICATES_SUPPRESSED;
    if (strcmp(verdict, "REPEATED") != 0 || !rows)
        return DUPLICATES_NONE;
    return logged->committed ? DUPLICATES_CERTAIN : DUPLICATES_POSSIBLE;
}

/* All batches that run again, with their logged intents. */
static enum status put_reruns(struct look *look, enum duplicates *worst, struct error *err)
{
    struct query *query = look->query;
    struct arena *arena = arena_new("reruns", LOOK_BYTES_MAX);
    struct logged_batch *logged = NULL;
    int64_t first = query->next_batch_id;
    int64_t end = look->facts.replay_end;
    enum status status = OK;
    *worst = DUPLICATES_NONE;
    json_begin_array(&look->json, "reruns");
    if (look->kind == BATCH_RERUN && end <= first)
        end = first + 1;
    if ((look->kind == BATCH_RERUN || look->kind == BATCH_REPLAY) && end > first) {
        TRY_OUT(checkpoint_logged_batches(query->checkpoint, arena, first, end, &logged, err));
        for (int64_t id = first; id < end && id - first < BATCHES_LISTED; id++) {
            struct batch_intent *intent = NULL;
            struct arena *one = arena_new("intent", LOOK_BYTES_MAX);
            if (logged[id - first].has_intent)
                status = checkpoint_read_intent(query->checkpoint, &logged[id - first].intent, one,
                                                &intent, err);
            if (status == OK && intent != NULL)
                *worst = worse(*worst, put_again(look, id, &logged[id - first], intent));
            arena_free(one);
            TRY_OUT(status);
        }
    }
out:
    json_end_array(&look->json);
    json_put_bool(&look->json, "rerunsTruncated", end - first > BATCHES_LISTED);
    arena_free(arena);
    return status;
}

/* ---- the parts of the answer ---- */

/* Somebody's files where a new checkpoint is going to write. */
static bool sink_holds_files(const struct look *look)
{
    const char *path = options_get(&look->query->spec->sink.options, "path");
    struct vfs_entry *entries = NULL;
    size_t count = 0;
    struct error ignored = ERROR_INIT;
    bool found = false;
    if (path == NULL || *path == '\0' || strcmp(look->query->spec->sink.format, "console") == 0)
        return false;
    struct arena *arena = arena_new("request", 0);
    if (vfs_list(look->dry, path_absolute(arena, path), arena, &entries, &count, &ignored) == OK)
        for (size_t i = 0; i < count && !found; i++)
            found = entries[i].name[0] != '.' && entries[i].name[0] != '_';
    arena_free(arena);
    return found;
}

static void put_duplicates(struct look *look, enum duplicates worst)
{
    static const char *const names[] = {"NONE", "SUPPRESSED", "POSSIBLE", "CERTAIN"};
    static const char *const reasons[] = {
        "no batch that the sink may have shown runs again",
        "the sink has batches that run again, and drops their rows",
        "a batch runs again that the sink may have shown, and the sink cannot tell",
        "batches run again that the sink has shown, and the sink cannot tell",
    };
    const char *reason = reasons[worst];
    bool first = look->facts.last_intent == NO_BATCH && look->kind == BATCH_NEW;
    if (worst == DUPLICATES_NONE && first && sink_holds_files(look)) {
        worst = DUPLICATES_POSSIBLE;
        reason = "the checkpoint is new, so that all input is read from its beginning, and the "
                 "sink's directory holds files already: of an earlier query with this input they "
                 "would be written once more";
    }
    json_put_text(&look->json, "duplicates", names[worst]);
    json_put_text(&look->json, "duplicatesReason", reason);
}

static void put_batch(struct look *look)
{
    static const char *const kinds[] = {"NEW", "RERUN", "FINISH", "REPLAY", "NONE"};
    struct json_writer *json = &look->json;
    json_put_int(json, "nextBatchId", look->query->next_batch_id);
    json_put_text(json, "kind", kinds[look->kind]);
    json_put_text(json, "reason", batch_reason(look));
    if (look->facts.last_commit == NO_BATCH)
        json_put_null(json, "lastCommittedBatchId");
    else
        json_put_int(json, "lastCommittedBatchId", look->facts.last_commit);
}

static void put_sink(struct look *look)
{
    static const char *const deliveries[] = {"idempotent", "transactional", "neither"};
    struct json_writer *json = &look->json;
    json_begin_object(json, "sink");
    json_put_text(json, "format", look->query->spec->sink.format);
    json_put_text(json, "delivery",
                  look->has_sink ? deliveries[look->query->sink->ops->delivery] : NULL);
    json_put_bool(json, "canTell", look->has_sink && look->facts.sink_last != SINK_CANNOT_TELL);
    if (look->has_sink && look->facts.sink_last >= 0)
        json_put_int(json, "lastBatchId", look->facts.sink_last);
    else
        json_put_null(json, "lastBatchId");
    json_end_object(json);
}

static void put_operators(struct look *look)
{
    struct json_writer *json = &look->json;
    struct operator_verdict *verdicts = NULL;
    uint32_t count = 0;
    fingerprint_operators(look->query, look->query->arena, &verdicts, &count);
    json_begin_array(json, "stateOperators");
    for (uint32_t i = 0; i < count; i++) {
        const struct operator_verdict *it = &verdicts[i];
        json_begin_object(json, NULL);
        json_put_int(json, "operatorId", it->index); /* counted in the same order */
        json_put_text(json, "kind", it->kind);
        json_put_text(json, "verdict", it->is_new ? "NEW" : it->fits ? "KEEP" : "INCOMPATIBLE");
        json_put_text(json, "condition", it->fits ? NULL : status_name(it->why.status));
        json_put_text(json, "difference", it->fits ? NULL : it->why.text);
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_lock(struct look *look)
{
    char holder[256] = "";
    struct json_writer *json = &look->json;
    const char *path = path_join(look->query->arena, look->dir, "lock");
    bool held = lock_probe(path, holder, sizeof holder);
    look->held = held;
    json_begin_object(json, "lock");
    json_put_text(json, "verdict", held ? "HELD" : "FREE");
    json_put_text(json, "holder", held ? holder : NULL);
    json_end_object(json);
}

static void put_known(struct json_writer *json, const char *key, bool known, int64_t number)
{
    if (known)
        json_put_int(json, key, number);
    else
        json_put_null(json, key);
}

/* What is there beyond the logged batches: one range without limits.  Of files the bytes are known,
 * of what is generated the rows. */
static void put_catch_up_of(struct look *look, struct source_use *use, struct arena *arena)
{
    struct error err = ERROR_INIT;
    struct json_writer *json = &look->json;
    struct source_range range = {0};
    struct source_split *splits = NULL;
    size_t count = 0;
    bool found = false;
    uint64_t bytes = 0, rows = 0;
    json_begin_object(json, NULL);
    json_put_text(json, "name", use->plan->spec->name);
    json_put_text(json, "format", use->plan->spec->format);
    put_offset(json, "startOffset", buffer_bytes(&use->end));
    enum status status = OK;
    if (look->recovered)
        status = use->source->ops->plan(use->source, true, arena, &range, &found, &err);
    if (status == OK && found)
        status = use->source->ops->splits(use->source, &range, arena, &splits, &count, &err);
    if (status != OK)
        add_problem(look, &err);
    for (size_t i = 0; i < count; i++) {
        bytes += splits[i].estimated_bytes;
        rows += splits[i].estimated_rows;
    }
    bool known = look->recovered && status == OK, files = reads_files(use);
    put_offset(json, "latestOffset", known && found ? range.end : buffer_bytes(&use->end));
    struct batch_intent none = {.batch_id = NO_BATCH};
    int64_t file_count = known && found ? check_files(look, use, &none, &range) : 0;
    put_known(json, "bytesToCatchUp", known && files, (int64_t)bytes);
    put_known(json, "rowsToCatchUp", known && !files, (int64_t)rows);
    put_known(json, "filesToCatchUp", known && files && file_count >= 0, file_count);
    json_end_object(json);
}

static void put_sources(struct look *look)
{
    struct query *query = look->query;
    struct arena *arena = arena_new("catch up", LOOK_BYTES_MAX);
    json_begin_array(&look->json, "sources");
    for (uint32_t i = 0; i < query->sources.count; i++)
        put_catch_up_of(look, &query->sources.uses[i], arena);
    json_end_array(&look->json);
    arena_free(arena);
}

static void put_list(struct json_writer *json, const char *key, struct buffer *list)
{
    struct buffer text = {0};
    buffer_add_text(&text, "[");
    buffer_add_bytes(&text, buffer_bytes(list));
    buffer_add_text(&text, "]");
    json_put_raw(json, key, buffer_bytes(&text));
    buffer_fini(&text);
    buffer_fini(list);
}

/* ---- the way ---- */

static void look_at_sources(struct look *look)
{
    struct error err = ERROR_INIT;
    struct query *query = look->query;
    struct relation_context context;
    if (query_open_sources(query, &context, look->dir, &err) != OK) {
        add_problem(look, &err);
        return;
    }
    if (look->has_checkpoint && look->kind != BATCH_NONE) {
        const struct batch_intent *last = checkpoint_last_intent(query->checkpoint);
        bool again = look->kind == BATCH_RERUN;
        query->intent = again && last != NULL ? batch_intent_clone(query->arena, last) : NULL;
        last = again ? checkpoint_previous_intent(query->checkpoint) : last;
        query->previous = last == NULL ? NULL : batch_intent_clone(query->arena, last);
        if (query_find_replays(query, &err) != OK)
            add_problem(look, &err);
    }
    look->recovered = query_recover_sources(query, &err) == OK;
    if (!look->recovered)
        add_problem(look, &err);
}

/* The plan of the query that ran last on this checkpoint; false: nobody knows it. */
static bool former_plan(const struct look *look, struct query_plan *out)
{
    struct error ignored = ERROR_INIT;
    const struct query *query = look->query;
    const char *path = path_join(query->arena, look->dir, "spec.json");
    struct query_plan_config config = {
        .vfs = query->config.vfs,
        .clock = query->config.clock,
        .find_source = query->config.find_source,
        .pinned = checkpoint_last_intent(query->checkpoint),
        .whole_windows = fingerprint_has_whole_windows(query),
    };
    return vfs_exists(look->dry, path) &&
           vfs_get(look->dry, path, SPEC_BYTES_MAX, query->arena, &config.spec_json, &ignored) ==
               OK &&
           query_plan_make(query->arena, &config, out, &ignored) == OK;
}

static void warn_of_state(struct look *look, const struct operator_verdict *verdict,
                          const struct state_inputs *was, const struct state_inputs *now)
{
    struct buffer what = {0};
    bool join = was->join != now->join;
    const struct {
        bool differs;
        const char *text;
    } parts[] = {
        {join ? was->rows_of_join != now->rows_of_join : was->rows != now->rows,
         "which rows reach it (a filter, a join, a limit)"},
        {was->keys != now->keys, "what its keys are computed from (expressions, windows)"},
        {was->values != now->values, "what its values are computed from"},
        {join, "the join itself (its kind, its condition)"},
        {was->watermarks != now->watermarks, "a watermark (its column or its delay)"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].differs)
            buffer_printf(&what, "%s%s", what.size_bytes == 0 ? "" : ", ", parts[i].text);
    if (what.size_bytes > 0)
        warn(look, "STATE_OF_FORMER_QUERY",
             arena_sprintf(look->query->arena,
                           "operator %u (%s) was changed in: %s. Its state holds results of the "
                           "former query, which stay and meet those of the new one, as in Spark. "
                           "Where that is not meant: rewind, or a new checkpointLocation, to "
                           "compute them again",
                           verdict->index, verdict->kind, buffer_text(&what)));
    buffer_fini(&what);
}

/* State that is kept and was computed otherwise.  Where the start is refused, none is kept. */
static void warn_of_states(struct look *look)
{
    struct query *query = look->query;
    struct operator_verdict *verdicts = NULL;
    struct state_inputs *was = NULL, *now = NULL;
    struct query_plan former = {0};
    uint32_t count = 0, was_count = 0, now_count = 0;
    if (!look->has_checkpoint || look->changed)
        return;
    fingerprint_operators(query, query->arena, &verdicts, &count);
    if (count == 0 || verdicts[0].is_new || !former_plan(look, &former))
        return;
    state_inputs_of(query->arena, former.plan, &was, &was_count);
    state_inputs_of(query->arena, query->plan, &now, &now_count);
    for (uint32_t i = 0; i < count && i < was_count && i < now_count; i++)
        if (verdicts[i].fits)
            warn_of_state(look, &verdicts[i], &was[i], &now[i]);
}

/* The snapshot of the state that a start begins with, checked as a start checks it. */
static void look_at_snapshots(struct look *look)
{
    struct query *query = look->query;
    struct error err = ERROR_INIT;
    struct operator_verdict *verdicts = NULL;
    struct state_start start;
    uint32_t count = 0;
    if (!look->has_checkpoint || look->kind == BATCH_NONE)
        return;
    fingerprint_operators(query, query->arena, &verdicts, &count);
    const struct state_store_config config = {
        .vfs = look->dry,
        .dir = path_join(query->arena, look->dir, "state"),
        .version = query->next_batch_id - 1,
        .first_batch = checkpoint_first_batch(query->checkpoint),
    };
    if (count == 0)
        return;
    if (state_store_foresee(&config, query->arena, &start, &err) != OK)
        add_problem(look, &err);
    else if (start.problem != NULL && start.version == STATE_NO_VERSION)
        warn(look, "SNAPSHOT_DAMAGED",
             arena_sprintf(query->arena,
                           "the snapshot of the state of batch %" PRId64
                           " is damaged, and no other is whole (%s): the state is made again from "
                           "all changes, which the log still has",
                           start.damaged, start.problem));
    else if (start.problem != NULL)
        warn(look, "SNAPSHOT_DAMAGED",
             arena_sprintf(query->arena,
                           "the newest snapshot of the state, of batch %" PRId64
                           ", is damaged (%s): a start begins with that of batch %" PRId64
                           " and the changes since",
                           start.damaged, start.problem, start.version));
}

static void add_warnings(struct look *look)
{
    warn_of_states(look);
    if (look->lost > 0)
        warn(look, "INPUT_LOST",
             "files that batches are to read again are gone: those batches would fail");
    if (look->kind == BATCH_REPLAY)
        warn(look, "REPLAY",
             "batches that were taken back run again with the input that they had; a sink that has "
             "them keeps what it has, even if the query was changed since");
    if (look->query->kept != NULL)
        warn(look, "SETTINGS_KEPT", look->query->kept);
    if (look->held)
        warn(look, "CHECKPOINT_LOCKED",
             "a worker holds the checkpoint: unless it is this query's own, a start is refused");
}

static enum status put_plan(struct look *look, struct error *err)
{
    enum duplicates worst = DUPLICATES_NONE;
    struct json_writer *json = &look->json;
    put_batch(look);
    put_sink(look);
    look_at_sources(look);
    TRY(put_reruns(look, &worst, err));
    put_duplicates(look, worst);
    put_operators(look);
    look_at_snapshots(look);
    put_sources(look);
    json_put_int(json, "lostFiles", (int64_t)look->lost);
    put_list(json, "lost", &look->lost_files);
    return OK;
}

static enum status look_around(struct look *look, struct error *err)
{
    struct error problem = ERROR_INIT;
    struct json_writer *json = &look->json;
    enum status status = OK;
    bool planned = query_make_plan(look->query, &problem) == OK;
    if (planned && look->query->spec->checkpoint_location != NULL)
        look->dir = path_strip_file_scheme(look->query->spec->checkpoint_location);
    look->query->config.default_checkpoint_dir = look->dir;
    json_begin_object(json, NULL);
    json_put_text(json, "checkpointLocation", look->dir);
    if (!planned) {
        add_problem(look, &problem);
    } else {
        look_at_checkpoint(look);
        look_at_sink(look);
        decide(look);
        status = put_plan(look, err);
    }
    put_lock(look);
    add_warnings(look);
    json_put_bool(json, "possible", look->problems.size_bytes == 0);
    put_list(json, "problems", &look->problems);
    put_list(json, "warnings", &look->warnings);
    json_end_object(json);
    return status;
}

static void end_look(struct look *look)
{
    struct query *query = look->query;
    if (query->sink != NULL)
        query->sink->ops->close(query->sink);
    source_set_close(&query->sources);
    checkpoint_close(query->checkpoint);
    arena_free(query->intent_arena[0]);
    arena_free(query->intent_arena[1]);
    arena_free(query->arena);
    vfs_dry_free(look->dry);
    buffer_fini(&look->lost_files);
}

enum status start_plan_make(const struct query_config *config, struct buffer *out,
                            struct error *err)
{
    struct arena *arena = arena_new("start plan", 0);
    struct query *query = arena_new_object(arena, sizeof *query);
    struct look look = {
        .query = query,
        .dry = vfs_dry_new(config->vfs),
        .dir = config->default_checkpoint_dir,
        .json = json_writer_to(out),
    };
    CHECK(config->default_checkpoint_dir != NULL);
    query->arena = arena;
    query->config = *config;
    query->config.vfs = look.dry;
    query->config.observer = NULL;
    if (query->config.find_source == NULL)
        query->config.find_source = source_find;
    if (query->config.find_sink == NULL)
        query->config.find_sink = sink_find;
    uuid_random_text(query->run_id);
    query->intent_arena[0] = arena_new("intent", LOOK_BYTES_MAX);
    query->intent_arena[1] = arena_new("intent", LOOK_BYTES_MAX);
    enum status status = look_around(&look, err);
    end_look(&look);
    return status;
}
