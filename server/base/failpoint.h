/*
 * Failpoints: named places at which a test can make the process die, fail, or tear a write.
 *
 * FAILPOINT(name, err) stands where something just became true (see failpoints.def); it is OK in
 * production builds and costs nothing there.  Armed with a crash, the crash handler is called: in
 * a process the default one ends it at once with status 137; the handler of an in-process test
 * freezes the disk and returns, and the failpoint then fails with FAILPOINT_REACHED so that the
 * code unwinds as after any error.
 *
 * Threads: any.
 */
#ifndef SERVER_BASE_FAILPOINT_H
#define SERVER_BASE_FAILPOINT_H

#include "base/error.h"

#include <stdint.h>

enum failpoint {
#define FAILPOINT_DEF(name, where) FAILPOINT_AT_##name,
#include "base/failpoints.def"
#undef FAILPOINT_DEF
    FAILPOINT_COUNT_
};

#ifdef FAILPOINTS
#define FAILPOINT(name, err) failpoint_pass(FAILPOINT_AT_##name, (err))
#else
#define FAILPOINT(name, err) ((void)(err), OK)
#endif

enum failpoint_action {
    FAILPOINT_CRASH,
    FAILPOINT_ERROR,
    FAILPOINT_TORN, /* a crash that leaves `torn_bytes` of what was not yet synced */
};

struct failpoint_arming {
    enum failpoint_action action;
    enum status status;  /* for FAILPOINT_ERROR */
    uint64_t torn_bytes; /* for FAILPOINT_TORN */
    uint64_t hit;        /* the passing at which it acts, from now; 1 = the next one */
};

/* Counts the passing and acts if armed for it.  Use FAILPOINT(). */
MUST_USE enum status failpoint_pass(enum failpoint failpoint, struct error *err);

/* Each acts once and is then disarmed. */
void failpoint_arm(enum failpoint failpoint, const struct failpoint_arming *arming);
/* Acts at the arming->hit-th passing of any failpoint of the set (one flag each; NULL: all). */
void failpoint_arm_any(const bool set[FAILPOINT_COUNT_], const struct failpoint_arming *arming);

/*
 * Arms from text: "name:hit:action,..." where action is crash, error=CONDITION or torn=BYTES.
 * Errors: INVALID_FAILPOINT.
 */
MUST_USE enum status failpoint_arm_text(const char *text, struct error *err);
/* As failpoint_arm_text with the environment variable TIDEMILL_FAILPOINTS, if it is set. */
MUST_USE enum status failpoint_arm_environment(struct error *err);

/* Disarms all and sets the counts of passings to 0. */
void failpoint_reset(void);
uint64_t failpoint_passings(enum failpoint failpoint);
uint64_t failpoint_passings_of(const bool set[FAILPOINT_COUNT_]); /* NULL: all */
/* True if something armed has acted since the last reset. */
bool failpoint_fired(void);

/* torn_bytes is 0 for a plain crash.  NULL restores the default handler. */
void failpoint_set_crash_handler(void (*handler)(void *arg, uint64_t torn_bytes), void *arg);

const char *failpoint_name(enum failpoint failpoint);
bool failpoint_find(const char *name, enum failpoint *out);
/* Whether this build has failpoints. */
bool failpoint_available(void);

#endif
