/*
 * Runs in a process of their own that is a copy of this one: what it does to the disk is real.  It
 * lives until the query is stopped or killed, or dies, and runs what it is told to.  What it has
 * committed, and what it reports, comes back through memory that both share, also if it dies on the
 * way.
 */
#include "base/check.h"
#include "base/failpoint.h"
#include "world.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOURNAL_BYTES ((size_t)64 << 20) /* touched pages only */
#define EXIT_CRASHED  137

enum entry_kind {
    ENTRY_PROGRESS,
    ENTRY_ROWS, /* of a batch of the sink with the number, ended by line feeds */
    ENTRY_SCHEMA,
    ENTRY_PLAN,
    ENTRY_STATUS,
};

struct entry {
    enum entry_kind kind;
    size_t sink;
    int64_t batch_id;
    size_t size_bytes; /* of what follows */
};

struct journal {
    struct error err;
    _Atomic size_t used;
    uint8_t bytes[JOURNAL_BYTES];
};

/* What the copy is told. */
struct order {
    enum world_run kind; /* RUN_STOP: to close the query and end */
    int64_t now_us;      /* of the scenario's clock */
    bool spill;
    char armed[256];          /* failpoints to arm, as text */
    struct world_fault fault; /* of the disk */
};

static struct journal *journal;

/* An entry is there when it is whole: the process may end at any time. */
static void write_entry(struct entry entry, struct bytes text)
{
    size_t at = (journal->used + 15) / 16 * 16;
    entry.size_bytes = text.size_bytes;
    CHECK(at + sizeof entry + text.size_bytes <= JOURNAL_BYTES);
    memcpy(journal->bytes + at, &entry, sizeof entry);
    if (text.size_bytes > 0)
        memcpy(journal->bytes + at + sizeof entry, text.data, text.size_bytes);
    journal->used = at + sizeof entry + text.size_bytes;
}

static void on_commit(void *arg, const struct collected *collected,
                      const struct collected_batch *batch)
{
    const struct world *world = arg;
    struct entry entry = {.kind = ENTRY_ROWS, .batch_id = batch->batch_id};
    struct buffer text = {0};
    while (&world->sinks[entry.sink]->collected != collected)
        entry.sink++;
    for (size_t i = 0; i < batch->row_count; i++)
        buffer_printf(&text, "%s\n", batch->rows[i]);
    write_entry(entry, buffer_bytes(&text));
    buffer_fini(&text);
}

void world_fork_report(const struct bytes progress)
{
    if (journal != NULL)
        write_entry((struct entry){.kind = ENTRY_PROGRESS}, progress);
}

static void write_text(enum entry_kind kind, const char *text)
{
    if (text != NULL)
        write_entry((struct entry){.kind = kind}, bytes_of_text(text));
}

static enum status obey(struct world *world, const struct order *order, struct error *err)
{
    clock_manual_advance(world->clock, order->now_us - clock_now_us(world->clock));
    world->spill = order->spill;
    if (order->armed[0] != '\0')
        TRY(failpoint_arm_text(order->armed, err));
    if (order->fault.nth > 0 && order->fault.runs > 0)
        vfs_fault_arm_forever(world->vfs, order->fault.call, order->fault.nth,
                              order->fault.errno_value);
    else if (order->fault.nth > 0)
        vfs_fault_arm(world->vfs, order->fault.call, order->fault.nth, order->fault.errno_value);
    return world_run_here(world, order->kind, err);
}

static _Noreturn void child(struct world *world, int in, int out)
{
    struct order order;
    sink_collect_on_commit(on_commit, world);
    while (read(in, &order, sizeof order) == (ssize_t)sizeof order && order.kind != RUN_STOP) {
        journal->err = (struct error)ERROR_INIT;
        struct error err = ERROR_INIT;
        char done = obey(world, &order, &err) == OK ? 'y' : 'n';
        write_text(ENTRY_SCHEMA, world->schema_text);
        write_text(ENTRY_PLAN, world->plan_text);
        write_text(ENTRY_STATUS, world->status_json);
        journal->err = err;
        if (write(out, &done, 1) != 1)
            break;
    }
    world->forked.pid = 0; /* it is this one */
    world_stop(world);
    _exit(EXIT_SUCCESS);
}

/* ---- what comes back ---- */

static void take_rows(struct world *world, const struct entry *entry, const char *text)
{
    struct collected *collected = &world->sinks[entry->sink]->collected;
    char **rows = NULL;
    size_t count = 0;
    for (size_t at = 0; at < entry->size_bytes; count++) {
        size_t size = strcspn(text + at, "\n");
        rows = realloc(rows, (count + 1) * sizeof *rows);
        CHECK(rows != NULL);
        rows[count] = strndup(text + at, size);
        at += size + 1;
    }
    collected_put(collected, (struct collected_batch){entry->batch_id, rows, count});
    world->current->last_batch = entry->batch_id;
}

/* A path of the scenario is what stands behind the root. */
static const char *without_root(struct world *world, const void *text, size_t size,
                                size_t *out_size)
{
    size_t root = strlen(world->root), used = 0;
    char *out = arena_strndup(world->arena, text, size);
    for (size_t at = 0; at < size;) {
        bool here = at + root <= size && memcmp(out + at, world->root, root) == 0;
        at += here ? root : 0;
        if (at < size)
            out[used++] = out[at++];
    }
    out[used] = '\0';
    *out_size = used;
    return out;
}

static void take_entries(struct world *world)
{
    size_t at = world->forked.taken;
    while (at < journal->used) {
        struct entry entry;
        size_t size = 0;
        at = (at + 15) / 16 * 16;
        memcpy(&entry, journal->bytes + at, sizeof entry);
        const char *text =
            without_root(world, journal->bytes + at + sizeof entry, entry.size_bytes, &size);
        at += sizeof entry + entry.size_bytes;
        entry.size_bytes = size;
        switch (entry.kind) {
        case ENTRY_PROGRESS:
            world_add_progress(world, bytes_of(text, entry.size_bytes));
            break;
        case ENTRY_ROWS:
            take_rows(world, &entry, text);
            break;
        case ENTRY_SCHEMA:
            world->schema_text = text;
            break;
        case ENTRY_PLAN:
            world->plan_text = text;
            break;
        case ENTRY_STATUS:
            world->status_json = text;
            break;
        }
    }
    world->forked.taken = at;
}

/* ---- its life ---- */

static void begin(struct world *world)
{
    int in[2], out[2];
    CHECK(pipe(in) == 0 && pipe(out) == 0);
    journal =
        mmap(NULL, sizeof *journal, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(journal != MAP_FAILED);
    (void)fflush(NULL);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        (void)close(in[1]);
        (void)close(out[0]);
        child(world, in[0], out[1]);
    }
    (void)close(in[0]);
    (void)close(out[1]);
    world->forked = (struct world_forked){.pid = pid, .in = in[1], .out = out[0]};
}

/* Waits for its end; takes what it has left. */
static int end(struct world *world)
{
    int how = 0;
    while (waitpid(world->forked.pid, &how, 0) < 0)
        CHECK(errno == EINTR);
    take_entries(world);
    (void)close(world->forked.in);
    (void)close(world->forked.out);
    (void)munmap(journal, sizeof *journal);
    journal = NULL;
    world->forked = (struct world_forked){.pid = 0};
    return how;
}

static bool send_order(const struct world *world, const struct order *order)
{
    return write(world->forked.in, order, sizeof *order) == (ssize_t)sizeof *order;
}

void world_fork_stop(struct world *world)
{
    const struct order order = {.kind = RUN_STOP};
    if (world->forked.pid == 0)
        return;
    (void)send_order(world, &order);
    (void)end(world);
}

void world_fork_kill(struct world *world)
{
    if (world->forked.pid == 0)
        return;
    (void)kill(world->forked.pid, SIGKILL);
    (void)end(world);
}

static struct order make_order(struct world *world, enum world_run kind)
{
    struct order order = {.kind = kind,
                          .now_us = clock_now_us(world->clock),
                          .spill = world->spill,
                          .fault = world->fault};
    if (world->armed != NULL)
        (void)snprintf(order.armed, sizeof order.armed, "%s", world->armed);
    world->armed = NULL;
    world->fault = (struct world_fault){.nth = 0};
    return order;
}

static enum status run(struct world *world, const struct order *order, struct error *err)
{
    char done = 0;
    bool alive = send_order(world, order) && read(world->forked.out, &done, 1) == 1;
    if (!alive) {
        int how = end(world);
        bool crashed = WIFSIGNALED(how) || WEXITSTATUS(how) == EXIT_CRASHED;
        return error_set(err, crashed ? STATUS_FAILPOINT_REACHED : STATUS_INTERNAL_ERROR,
                         "the process has died");
    }
    take_entries(world);
    *err = journal->err;
    return done == 'y' ? OK : err->status;
}

enum status world_run_forked(struct world *world, enum world_run kind, struct error *err)
{
    bool own_run = kind == RUN_AVAILABLE_NOW || kind == RUN_ONCE;
    if (world->forked.pid == 0)
        begin(world);
    if (!world->forked.is_open || own_run)
        world->progress_count = 0;
    size_t seen = world->progress_count;
    const struct order order = make_order(world, kind);
    enum status status = run(world, &order, err);
    world->forked.is_open = status == OK && !own_run;
    world_note_run(world, seen, status == OK ? NULL : err->text);
    if (status != OK)
        world_fork_stop(world);
    world_read_schema(world, kind);
    return status;
}
