#include "play.h"

#include "base/check.h"
#include "base/failpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define BINARY_VARIABLE  "TIDEMILL_BINARY"
#define PROCESS_VARIABLE "SCENARIO_PROCESS" /* set: play every scenario with processes */

void play_fail(struct player *player, const struct scn_record *record, const char *what)
{
    buffer_printf(player->report, "%s:%d: %s: %s\n", player->file->path, record->line, record->head,
                  what);
    if (player->world != NULL)
        buffer_add_bytes(player->report, buffer_bytes(&player->world->actions));
    buffer_printf(player->report, "   =>  %s\n", record->head);
}

static bool fail_with(struct player *player, const struct scn_record *record,
                      const struct error *err)
{
    struct buffer text = {0};
    buffer_printf(&text, "[%s] %s", status_name(err->status), err->text);
    play_fail(player, record, buffer_text(&text));
    buffer_fini(&text);
    return false;
}

/* ---- conditions ---- */

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Names under which Spark throws what has no name; any refusal will do. */
static bool is_nameless(const char *want)
{
    return strcmp(want, "NO_CONDITION") == 0 || strcmp(want, "STREAM_FAILED") == 0 ||
           starts_with(want, "_LEGACY_ERROR_TEMP_");
}

static bool names(enum status status, const char *want)
{
    static const char family[] = "STREAMING_STATEFUL_OPERATOR_";
    const char *name = status_name(status);
    return strcmp(name, want) == 0 || (starts_with(want, family) && starts_with(name, family));
}

bool condition_matches(const struct error *err, const char *want)
{
    CHECK(err->status != OK);
    if (is_nameless(want) || names(err->status, want))
        return true;
    for (size_t i = 0; i < 3 && err->causes[i] != OK; i++) {
        if (names(err->causes[i], want))
            return true;
    }
    return false;
}

/* ---- query ---- */

/* The texts of `! text` lines, all of which the message must have. */
static bool has_texts(const struct scn_record *record, const struct error *err)
{
    for (size_t i = 0; i < record->body_count; i++) {
        const char *line = record->body[i];
        if (line[0] == '!' && strstr(err->text, line + 1 + strspn(line + 1, " ")) == NULL)
            return false;
    }
    return true;
}

static bool refused_query(struct player *player, const struct scn_record *record)
{
    struct error err = ERROR_INIT;
    struct world *world = player->world;
    enum status status = world_define_query(world, record, &err);
    if (status == OK)
        status = world->root != NULL ? world_run_forked(world, RUN_START, &err)
                                     : world_start(world, RUN_STEP, &err);
    if (status == OK)
        world_stop(world);
    world->current = NULL;
    if (status == OK) {
        play_fail(player, record, "the query was accepted");
        return false;
    }
    if (!condition_matches(&err, record->words[2]) || !has_texts(record, &err))
        return fail_with(player, record, &err);
    return true;
}

static bool play_query(struct player *player, const struct scn_record *record)
{
    struct error err = ERROR_INIT;
    if (record->word_count == 3 && strcmp(record->words[1], "fails") == 0)
        return refused_query(player, record);
    if (world_define_query(player->world, record, &err) != OK)
        return fail_with(player, record, &err);
    return true;
}

/* ---- run ---- */

static bool run_kind(const char *word, enum world_run *out)
{
    static const struct {
        const char *word;
        enum world_run kind;
    } kinds[] = {{"idle", RUN_IDLE}, {"availableNow", RUN_AVAILABLE_NOW}, {"once", RUN_ONCE}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (word != NULL && strcmp(kinds[i].word, word) == 0) {
            *out = kinds[i].kind;
            return true;
        }
    }
    return word == NULL;
}

static bool failing_run(struct player *player, const struct scn_record *record)
{
    struct error err = ERROR_INIT;
    enum world_run kind = RUN_IDLE;
    const char *want = record->word_count > 1 ? record->words[1] : "NO_CONDITION";
    if (record->word_count > 2 && !run_kind(record->words[2], &kind)) {
        play_fail(player, record, "expected idle or availableNow");
        return false;
    }
    if (world_run(player->world, kind, &err) == OK) {
        play_fail(player, record, "the run did not fail");
        return false;
    }
    return condition_matches(&err, want) ? true : fail_with(player, record, &err);
}

/* The next feed of a sweep's body, after `index`; 0 if there is none. */
static size_t next_feed(const struct player *player, size_t index)
{
    for (size_t i = index + 1; i < player->end; i++) {
        if (strcmp(player->file->records[i].kind, "feed") == 0)
            return i;
    }
    return 0;
}

/* In a sweep: the worker died or failed; it is started again, perhaps after more rows. */
static bool run_again(struct player *player, size_t index, enum world_run kind, struct error *err)
{
    struct error ignored = ERROR_INIT;
    vfs_fault_disarm(player->world->vfs);
    if (player->pull && player->pulled == 0) {
        player->pulled = next_feed(player, index);
        if (player->pulled != 0 &&
            world_feed(player->world, &player->file->records[player->pulled], &ignored) != OK)
            return false;
    }
    error_clear(err);
    return world_run(player->world, kind, err) == OK;
}

/* The worker may die or fail of what was armed; then it is started again, and gets through. */
static bool surviving_run(struct player *player, const struct scn_record *record)
{
    struct error err = ERROR_INIT;
    enum status status = OK;
    struct world_fault fault = player->world->fault;
    for (uint64_t attempt = 0; attempt < 3 + fault.runs; attempt++) {
        error_clear(&err);
        status = world_run(player->world, RUN_IDLE, &err);
        vfs_fault_disarm(player->world->vfs);
        if (status == OK)
            break;
        if (attempt + 1 < fault.runs) { /* it is still like that */
            fault.nth = 1;
            world_arm_fault(player->world, fault);
        }
    }
    world_disarm(player->world);
    return status == OK ? true : fail_with(player, record, &err);
}

static bool play_run(struct player *player, size_t index)
{
    const struct scn_record *record = &player->file->records[index];
    const char *word = record->word_count > 0 ? record->words[0] : NULL;
    struct error err = ERROR_INIT;
    enum world_run kind = RUN_STEP;
    if (word != NULL && strcmp(word, "fails") == 0)
        return failing_run(player, record);
    if (word != NULL && strcmp(word, "survives") == 0)
        return surviving_run(player, record);
    bool crashes = word != NULL && strcmp(word, "crashes") == 0;
    if (!crashes && !run_kind(word, &kind)) {
        play_fail(player, record, "expected idle, availableNow, once, crashes, survives or fails");
        return false;
    }
    enum status status = world_run(player->world, kind, &err);
    if (crashes && status == OK) {
        play_fail(player, record, "the worker did not die");
        return false;
    }
    if (crashes && player->world->root != NULL && status != STATUS_FAILPOINT_REACHED)
        return fail_with(player, record, &err); /* it ended, but in another way */
    if (crashes || status == OK)
        return true;
    if (player->sweeping && run_again(player, index, kind, &err))
        return true;
    return fail_with(player, record, &err);
}

/* ---- faults ---- */

static bool play_arm(struct player *player, const struct scn_record *record)
{
    struct error err = ERROR_INIT;
    struct buffer text = {0};
    const char *error = scn_pair(record, "error"), *torn = scn_pair(record, "torn");
    const char *hit = scn_pair(record, "hit");
    buffer_printf(&text, "%s:%s:", record->words[0], hit == NULL ? "1" : hit);
    if (error != NULL)
        buffer_printf(&text, "error=%s", error);
    else if (torn != NULL)
        buffer_printf(&text, "torn=%s", torn);
    else
        buffer_add_text(&text, "crash");
    enum status status = OK;
    if (player->world->root != NULL)
        player->world->armed = arena_strdup(player->world->arena, buffer_text(&text));
    else
        status = failpoint_arm_text(buffer_text(&text), &err);
    buffer_fini(&text);
    return status == OK ? true : fail_with(player, record, &err);
}

static bool play_disk(struct player *player, const struct scn_record *record)
{
    const char *call_name = scn_pair(record, "call"), *nth = scn_pair(record, "nth");
    const char *runs = scn_pair(record, "runs");
    enum vfs_call call = VFS_CALL_ANY;
    int errno_value = 0;
    if (call_name != NULL && !vfs_fault_find(call_name, &call)) {
        play_fail(player, record, "there is no such call");
        return false;
    }
    if (!disk_errno(record->words[0], &errno_value)) {
        play_fail(player, record, "expected ENOSPC or EIO");
        return false;
    }
    world_arm_fault(player->world, (struct world_fault){
                                       .call = call,
                                       .nth = nth == NULL ? 1 : strtoull(nth, NULL, 10),
                                       .errno_value = errno_value,
                                       .runs = runs == NULL ? 0 : strtoull(runs, NULL, 10),
                                   });
    return true;
}

/* ---- records ---- */

static bool play_life(struct player *player, const struct scn_record *record)
{
    struct error err = ERROR_INIT;
    struct world *world = player->world;
    if (strcmp(record->kind, "kill") == 0) {
        world_kill(world);
        return true;
    }
    if (strcmp(record->kind, "start") != 0) {
        world_stop(world); /* stop, restart: the next run starts it */
        return true;
    }
    if (world->current == NULL || world->handle != NULL || world->forked.is_open)
        return true;
    enum status status = world_forks(world)    ? world_run_forked(world, RUN_START, &err)
                         : world->root == NULL ? world_start(world, RUN_STEP, &err)
                                               : OK; /* the next run does */
    return status == OK ? true : fail_with(player, record, &err);
}

static bool play_expect(struct player *player, const struct scn_record *record)
{
    struct buffer out = {0};
    bool holds = expectation_holds(player, record, &out);
    if (player->rewritten != NULL) {
        struct buffer *body = &player->rewritten[record - player->file->records];
        buffer_clear(body);
        buffer_add_bytes(body, buffer_bytes(&out));
    }
    buffer_fini(&out);
    return holds;
}

static bool play_feed(struct player *player, size_t index)
{
    struct error err = ERROR_INIT;
    const struct scn_record *record = &player->file->records[index];
    if (player->pulled == index && index != 0) {
        player->pulled = 0; /* it was fed while the worker was down */
        return true;
    }
    buffer_printf(&player->world->actions, "       feed          %s  %zu rows\n", record->words[0],
                  record->body_count);
    return world_feed(player->world, record, &err) == OK ? true : fail_with(player, record, &err);
}

bool play_record(struct player *player, size_t *index)
{
    struct error err = ERROR_INIT;
    const struct scn_record *record = &player->file->records[*index];
    const char *kind = record->kind;
    *index += 1;
    if (strcmp(kind, "scenario") == 0 || strcmp(kind, "require") == 0)
        return true;
    if (strcmp(kind, "query") == 0)
        return play_query(player, record);
    if (strcmp(kind, "feed") == 0)
        return play_feed(player, *index - 1);
    if (strcmp(kind, "run") == 0)
        return play_run(player, *index - 1);
    if (strcmp(kind, "expect") == 0)
        return play_expect(player, record);
    if (strcmp(kind, "arm") == 0)
        return play_arm(player, record);
    if (strcmp(kind, "disk") == 0)
        return play_disk(player, record);
    if (strcmp(kind, "stop") == 0 || strcmp(kind, "start") == 0 || strcmp(kind, "restart") == 0 ||
        strcmp(kind, "kill") == 0)
        return play_life(player, record);
    if (strcmp(kind, "worker") == 0) {
        world_set_worker(player->world, record);
        return true;
    }
    if (strcmp(kind, "sweep") == 0) {
        *index -= 1;
        return play_sweep(player, index);
    }
    enum status status;
    if (strcmp(kind, "advance") == 0)
        status = world_advance(player->world, record, &err);
    else if (strcmp(kind, "rewind") == 0)
        status = world_rewind(player->world, record, &err);
    else if (strcmp(kind, "damage") == 0)
        status = world_damage(player->world, record, &err);
    else if (strcmp(kind, "touch") == 0 || strcmp(kind, "remove") == 0 ||
             strcmp(kind, "mkdir") == 0)
        status = world_handle_files(player->world, record, &err);
    else if (strcmp(kind, "end") == 0 || strcmp(kind, "broker") == 0)
        status = error_set(&err, SCENARIO_INVALID, "not here");
    else
        status = world_define(player->world, record, &err);
    return status == OK ? true : fail_with(player, record, &err);
}

/* ---- files ---- */

/* All files are played by processes: what those cannot do, NULL if nothing. */
static const char *beyond_processes(const struct scn_file *file)
{
    for (size_t i = 0; i < file->count; i++) {
        const struct scn_record *record = &file->records[i];
        const char *kind = scn_pair(record, "kind");
        if (strcmp(record->kind, "sweep") == 0)
            return "sweeps in this process";
        if (strcmp(record->kind, "source") == 0 && (scn_pair(record, "partitions") != NULL ||
                                                    (kind != NULL && strcmp(kind, "memory") == 0)))
            return "a source in memory";
    }
    return NULL;
}

/* What the file requires that neither driver has here; *process says which one it wants. */
static const char *missing_requirement(const struct scn_file *file, bool *process)
{
    *process = false;
    for (size_t i = 0; i < file->count; i++) {
        const struct scn_record *record = &file->records[i];
        for (size_t k = 0; strcmp(record->kind, "require") == 0 && k < record->word_count; k++) {
            bool wants_process = strcmp(record->words[k], "process") == 0;
            if (wants_process && getenv(BINARY_VARIABLE) != NULL)
                *process = true;
            else if (strcmp(record->words[k], "rocksdb") != 0)
                return record->words[k];
        }
    }
    return NULL;
}

static uint64_t purged_logs;

uint64_t play_purged_logs(void)
{
    return purged_logs;
}

/* Whether the log of a query begins behind its first batch. */
static bool has_purged_log(const struct world *world)
{
    struct error ignored = ERROR_INIT;
    struct vfs_entry *entries = NULL;
    size_t count = 0;
    if (world->current == NULL)
        return false;
    const char *dir =
        world_path(world, arena_sprintf(world->arena, "/checkpoints/%s/log", world->current->name));
    if (vfs_list(world_disk(world), dir, world->arena, &entries, &count, &ignored) != OK)
        return false;
    bool first = false;
    for (size_t i = 0; i < count; i++)
        first = first || strcmp(entries[i].name, "00000000000000000000") == 0;
    return count > 0 && !first;
}

static enum play_result play_parsed(struct arena *arena, const struct scn_file *file,
                                    struct buffer *report, struct buffer *rewritten)
{
    bool process;
    struct error err = ERROR_INIT;
    bool all_processes = getenv(PROCESS_VARIABLE) != NULL;
    const char *binary = all_processes ? NULL : getenv(BINARY_VARIABLE);
    const char *missing = missing_requirement(file, &process);
    if (missing == NULL && all_processes)
        missing = beyond_processes(file);
    if (missing != NULL) {
        buffer_printf(report, "%s: skipped: requires %s\n", file->path, missing);
        return PLAY_SKIPPED;
    }
    (void)arena;
    failpoint_reset();
    struct player player = {.file = file, .report = report, .rewritten = rewritten};
    if (!process && !all_processes) {
        player.world = world_new();
    } else if (world_new_process(binary, &player.world, &err) != OK) {
        buffer_printf(report, "%s: %s\n", file->path, err.text);
        return PLAY_FAILED;
    }
    bool holds = true;
    for (size_t i = 0; holds && i < file->count;)
        holds = play_record(&player, &i);
    purged_logs += has_purged_log(player.world) ? 1 : 0;
    world_free(player.world);
    failpoint_reset();
    failpoint_set_crash_handler(NULL, NULL);
    return holds ? PLAY_PASSED : PLAY_FAILED;
}

enum play_result play_file(struct arena *arena, const char *path, struct bytes text,
                           struct buffer *report)
{
    struct scn_file file;
    struct error err = ERROR_INIT;
    if (scn_parse(arena, path, text, &file, &err) != OK) {
        buffer_printf(report, "%s\n", err.text);
        return PLAY_FAILED;
    }
    return play_parsed(arena, &file, report, NULL);
}

/* Puts the new bodies in place of the old ones; everything else stays as it is. */
static void merge(struct bytes text, const struct scn_file *file, const struct buffer *bodies,
                  struct buffer *out)
{
    size_t at = 0;
    int line = 1;
    for (size_t i = 0; i < file->count; i++) {
        const struct scn_record *record = &file->records[i];
        if (bodies[i].size_bytes == 0)
            continue;
        while (at < text.size_bytes && line <= record->line) {
            line += text.data[at] == '\n';
            buffer_add_byte(out, text.data[at++]);
        }
        const uint8_t *body = bodies[i].data;
        size_t left = bodies[i].size_bytes;
        while (left > 0) {
            const uint8_t *end = memchr(body, '\n', left);
            size_t size = end == NULL ? left : (size_t)(end - body) + 1;
            buffer_add_text(out, "  ");
            buffer_add(out, body, size);
            body += size;
            left -= size;
        }
        while (at < text.size_bytes && text.data[at] == ' ') { /* the old body */
            while (at < text.size_bytes && text.data[at] != '\n')
                at++;
            at += at < text.size_bytes;
            line++;
        }
    }
    buffer_add(out, text.data + at, text.size_bytes - at);
}

enum play_result play_rewrite(struct arena *arena, const char *path, struct bytes text,
                              struct buffer *report, struct buffer *rewritten)
{
    struct scn_file file;
    struct error err = ERROR_INIT;
    if (scn_parse(arena, path, text, &file, &err) != OK) {
        buffer_printf(report, "%s\n", err.text);
        return PLAY_FAILED;
    }
    struct buffer *bodies = arena_new_object(arena, file.count * sizeof(*bodies));
    enum play_result result = play_parsed(arena, &file, report, bodies);
    if (result == PLAY_PASSED)
        merge(text, &file, bodies, rewritten);
    for (size_t i = 0; i < file.count; i++)
        buffer_fini(&bodies[i]);
    return result;
}
