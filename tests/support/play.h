/*
 * Playing a scenario: the records one after another against a world, until one does not hold.
 */
#ifndef TESTS_SUPPORT_PLAY_H
#define TESTS_SUPPORT_PLAY_H

#include "world.h"

/* Where a scenario stands; made by play_file for one file, by a sweep for each of its runs. */
struct player {
    const struct scn_file *file;
    struct world *world;
    struct buffer *report;    /* what did not hold: "path:line: expect out: rows differ" and more */
    bool sweeping;            /* a run that fails is started again */
    size_t pulled;            /* index of the feed that was pulled forward; 0: none.  Sweeps only */
    bool pull;                /* pull the next feed forward when the worker dies */
    size_t end;               /* where a sweep's body ends */
    struct buffer *rewritten; /* --rewrite: bodies by record; NULL: compare */
};

enum play_result {
    PLAY_PASSED,
    PLAY_FAILED,
    PLAY_SKIPPED, /* it requires what this driver has not */
};

/* Plays the file; appends to `report` what failed, or why it was skipped. */
enum play_result play_file(struct arena *arena, const char *path, struct bytes text,
                           struct buffer *report);

/* Of the scenarios played so far: at whose ends a log had lost its first batches. */
uint64_t play_purged_logs(void);

/* As play_file, and gives the text of the file with the bodies of expect records as they came
 * out. */
enum play_result play_rewrite(struct arena *arena, const char *path, struct bytes text,
                              struct buffer *report, struct buffer *rewritten);

/* Plays the record at *index and moves on; false: it does not hold, and why is in the report. */
bool play_record(struct player *player, size_t *index);

/* The errno of "ENOSPC", "EIO", ...; false if it is none of them. */
bool disk_errno(const char *name, int *out);

/* Plays a sweep whose record is at *index, and moves behind its `end`. */
bool play_sweep(struct player *player, size_t *index);

/* expect ...: the body that is true now, one line per row, and whether `record` says the same.
 * Beside what is read from a sink, the progress, the checkpoint and files: `expect state [batch=N]`
 * are the rows that the operators keep, each "id name  {json}", as they were after that batch.
 * False if it does not; `out` then holds what came. */
bool expectation_holds(struct player *player, const struct scn_record *record, struct buffer *out);

/* Appends "path:line: what" and the list of actions. */
void play_fail(struct player *player, const struct scn_record *record, const char *what);

/* Whether an error is the one that a test names: Spark's innermost condition is ours or one of our
 * causes; conditions without a name of their own only ask for a refusal. */
bool condition_matches(const struct error *err, const char *want);

#endif
