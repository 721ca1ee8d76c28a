/*
 * Sweeps: the records up to `end` run once undisturbed, then once more for every failpoint passed
 * (or file operation made), dying there.  Each run begins in a fresh world that holds the
 * definitions above the sweep, and each place is tried twice: started again at once, and only
 * after the next feed has been pulled forward.
 */
#include "base/check.h"
#include "base/failpoint.h"
#include "play.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

bool disk_errno(const char *name, int *out)
{
    static const struct {
        const char *name;
        int value;
    } values[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EDQUOT", EDQUOT}, {"EACCES", EACCES}};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        if (strcmp(values[i].name, name) == 0) {
            *out = values[i].value;
            return true;
        }
    }
    return false;
}

struct sweep {
    const struct scn_record *record;
    size_t first, end; /* the body */
    bool disk;
    int errno_value;
    bool set[FAILPOINT_COUNT_];
    bool any; /* all failpoints */
};

static bool is_definition(const char *kind)
{
    static const char *const kinds[] = {"source", "table", "view", "conf", "sink", "query"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i], kind) == 0)
            return true;
    }
    return false;
}

/* Reads at=FP,FP of the record; false if there is no such failpoint. */
static bool read_set(struct sweep *sweep)
{
    const char *at = scn_pair(sweep->record, "at");
    sweep->any = at == NULL;
    while (at != NULL && *at != '\0') {
        size_t size = strcspn(at, ",");
        char name[64];
        enum failpoint failpoint;
        (void)snprintf(name, sizeof(name), "%.*s", (int)size, at);
        if (!failpoint_find(name, &failpoint))
            return false;
        sweep->set[failpoint] = true;
        at += size + (at[size] == ',' ? 1 : 0);
    }
    return true;
}

static bool read_sweep(struct player *player, size_t index, struct sweep *out)
{
    const struct scn_file *file = player->file;
    *out = (struct sweep){.record = &file->records[index], .first = index + 1};
    out->disk = strcmp(out->record->words[0], "disk") == 0;
    out->end = out->first;
    while (out->end < file->count && strcmp(file->records[out->end].kind, "end") != 0)
        out->end++;
    if (out->end == file->count) {
        play_fail(player, out->record, "expected `end`");
        return false;
    }
    if (out->disk &&
        (out->record->word_count != 2 || !disk_errno(out->record->words[1], &out->errno_value))) {
        play_fail(player, out->record, "expected sweep disk ENOSPC or EIO");
        return false;
    }
    if (!out->disk && !read_set(out)) {
        play_fail(player, out->record, "there is no such failpoint");
        return false;
    }
    return true;
}

/* Plays the definitions above the record at `end`. */
static bool define_above(struct player *player, size_t end)
{
    bool holds = true;
    for (size_t i = 0; holds && i < end;) {
        if (is_definition(player->file->records[i].kind))
            holds = play_record(player, &i);
        else
            i++;
    }
    return holds;
}

/* One run of the body; place 0 is the undisturbed one, which counts. */
static bool run_body(struct player *outer, const struct sweep *sweep, uint64_t place, bool pull,
                     uint64_t *places)
{
    struct player player = {.file = outer->file,
                            .report = outer->report,
                            .sweeping = place > 0,
                            .pull = pull,
                            .end = sweep->end};
    struct buffer report = {0};
    player.report = &report;
    player.world = world_new();
    failpoint_reset();
    bool holds = define_above(&player, sweep->first - 1);
    const bool *set = sweep->any ? NULL : sweep->set;
    struct failpoint_arming arming = {.action = FAILPOINT_CRASH, .hit = place};
    vfs_fault_reset(player.world->vfs);
    if (place > 0 && sweep->disk)
        vfs_fault_arm(player.world->vfs, VFS_CALL_ANY, place, sweep->errno_value);
    else if (place > 0)
        failpoint_arm_any(set, &arming);
    for (size_t i = sweep->first; holds && i < sweep->end;)
        holds = play_record(&player, &i);
    *places =
        sweep->disk ? vfs_fault_calls(player.world->vfs, VFS_CALL_ANY) : failpoint_passings_of(set);
    world_free(player.world);
    failpoint_reset();
    if (!holds)
        buffer_printf(outer->report, "%s:%d: %s: place %llu%s\n%s", player.file->path,
                      sweep->record->line, sweep->record->head, (unsigned long long)place,
                      pull ? ", with the next feed pulled forward" : "", buffer_text(&report));
    buffer_fini(&report);
    return holds;
}

static bool run_places(struct player *player, const struct sweep *sweep)
{
    uint64_t places, ignored;
    if (!run_body(player, sweep, 0, false, &places))
        return false;
    const char *min = scn_pair(sweep->record, "min");
    if (places == 0 || (min != NULL && places < strtoull(min, NULL, 10))) {
        char what[80];
        (void)snprintf(what, sizeof(what), "the sweep has only %llu places",
                       (unsigned long long)places);
        play_fail(player, sweep->record, what);
        return false;
    }
    for (uint64_t place = 1; place <= places; place++) {
        for (int pull = 0; pull < (sweep->disk ? 1 : 2); pull++) {
            if (!run_body(player, sweep, place, pull == 1, &ignored))
                return false;
        }
    }
    return true;
}

bool play_sweep(struct player *player, size_t *index)
{
    struct sweep sweep;
    if (!read_sweep(player, *index, &sweep))
        return false;
    size_t above = *index;
    *index = sweep.end + 1;
    world_free(player->world); /* one world at a time: logs have names */
    player->world = NULL;
    bool holds = run_places(player, &sweep);
    player->world = world_new();
    return holds && define_above(player, above);
}
