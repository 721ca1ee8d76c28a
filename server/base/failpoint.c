#include "base/failpoint.h"

#include "base/check.h"
#include "base/heap.h"
#include "base/vfs_posix.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = {
#define FAILPOINT_DEF(name, where) #name,
#include "base/failpoints.def"
#undef FAILPOINT_DEF
};

struct armed {
    bool armed;
    bool set[FAILPOINT_COUNT_];
    struct failpoint_arming arming; /* hit counts down */
};

/* One slot per failpoint and one for a set of them. */
#define SLOTS ((size_t)FAILPOINT_COUNT_ + 1)

static void crash_default(void *arg, uint64_t torn_bytes)
{
    (void)arg;
    if (torn_bytes > 0)
        vfs_posix_tear((size_t)torn_bytes);
    _exit(137);
}

/* `lock` protects everything below it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct armed slots[SLOTS];
static uint64_t passings[FAILPOINT_COUNT_];
static bool fired;
static void (*crash_handler)(void *arg, uint64_t torn_bytes) = crash_default;
static void *crash_arg;

static bool slot_due(struct armed *slot, enum failpoint failpoint)
{
    if (!slot->armed || !slot->set[failpoint])
        return false;
    CHECK(slot->arming.hit > 0);
    if (--slot->arming.hit > 0)
        return false;
    slot->armed = false;
    return true;
}

enum status failpoint_pass(enum failpoint failpoint, struct error *err)
{
    CHECK((int)failpoint >= 0 && failpoint < FAILPOINT_COUNT_);
    struct failpoint_arming due = {0};
    bool act = false;
    pthread_mutex_lock(&lock);
    passings[failpoint]++;
    for (size_t i = 0; i < SLOTS && !act; i++)
        if (slot_due(&slots[i], failpoint)) {
            due = slots[i].arming;
            act = true;
        }
    fired = fired || act;
    void (*handler)(void *, uint64_t) = crash_handler;
    void *arg = crash_arg;
    pthread_mutex_unlock(&lock);
    if (!act)
        return OK;
    switch (due.action) {
    case FAILPOINT_ERROR:
        return error_set(err, due.status, "failpoint %s", names[failpoint]);
    case FAILPOINT_CRASH:
        handler(arg, 0);
        break;
    case FAILPOINT_TORN:
        handler(arg, due.torn_bytes);
        break;
    }
    return error_raise(err, STATUS_FAILPOINT_REACHED, "name", names[failpoint], NULL);
}

void failpoint_arm(enum failpoint failpoint, const struct failpoint_arming *arming)
{
    CHECK((int)failpoint >= 0 && failpoint < FAILPOINT_COUNT_ && arming->hit > 0);
    pthread_mutex_lock(&lock);
    struct armed *slot = &slots[failpoint];
    memset(slot, 0, sizeof *slot);
    slot->armed = true;
    slot->set[failpoint] = true;
    slot->arming = *arming;
    pthread_mutex_unlock(&lock);
}

void failpoint_arm_any(const bool set[FAILPOINT_COUNT_], const struct failpoint_arming *arming)
{
    CHECK(arming->hit > 0);
    pthread_mutex_lock(&lock);
    struct armed *slot = &slots[SLOTS - 1];
    slot->armed = true;
    for (size_t i = 0; i < FAILPOINT_COUNT_; i++)
        slot->set[i] = set == NULL || set[i];
    slot->arming = *arming;
    pthread_mutex_unlock(&lock);
}

static enum status refuse(struct error *err, const char *text, const char *reason)
{
    return error_raise(err, STATUS_INVALID_FAILPOINT, "text", text, "reason", reason, NULL);
}

static bool parse_number(const char *text, uint64_t *out)
{
    char *end = NULL;
    unsigned long long value = strtoull(text, &end, 10);
    *out = value;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0';
}

/* "name:hit:action" */
static enum status arm_one(char *item, struct error *err)
{
    char shown[128];
    (void)snprintf(shown, sizeof shown, "%s", item);
    char *hit = strchr(item, ':');
    char *action = hit == NULL ? NULL : strchr(hit + 1, ':');
    if (action == NULL)
        return refuse(err, shown, "name:hit:action is expected");
    *hit++ = '\0';
    *action++ = '\0';
    enum failpoint failpoint;
    struct failpoint_arming arming = {.action = FAILPOINT_CRASH};
    if (!failpoint_find(item, &failpoint))
        return refuse(err, shown, "there is no such failpoint");
    if (!parse_number(hit, &arming.hit) || arming.hit == 0)
        return refuse(err, shown, "the hit has to be a number from 1 on");
    if (strncmp(action, "error=", 6) == 0) {
        arming.action = FAILPOINT_ERROR;
        arming.status = status_find(action + 6);
        if (arming.status == OK)
            return refuse(err, shown, "there is no such condition");
    } else if (strncmp(action, "torn=", 5) == 0) {
        arming.action = FAILPOINT_TORN;
        if (!parse_number(action + 5, &arming.torn_bytes))
            return refuse(err, shown, "torn needs a number of bytes");
    } else if (strcmp(action, "crash") != 0) {
        return refuse(err, shown, "the action is crash, error=CONDITION or torn=BYTES");
    }
    failpoint_arm(failpoint, &arming);
    return OK;
}

enum status failpoint_arm_text(const char *text, struct error *err)
{
    enum status status = OK;
    char *copy = heap_strdup(text);
    char *rest = copy;
    for (char *item = strsep(&rest, ","); item != NULL; item = strsep(&rest, ","))
        if (item[0] != '\0')
            TRY_OUT(arm_one(item, err));
out:
    free(copy);
    return status;
}

enum status failpoint_arm_environment(struct error *err)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): at start, before there are threads
    const char *text = getenv("TIDEMILL_FAILPOINTS");
    if (text == NULL || text[0] == '\0')
        return OK;
    if (!failpoint_available())
        return refuse(err, text, "this build has no failpoints");
    return failpoint_arm_text(text, err);
}

void failpoint_reset(void)
{
    pthread_mutex_lock(&lock);
    memset(slots, 0, sizeof slots);
    memset(passings, 0, sizeof passings);
    fired = false;
    pthread_mutex_unlock(&lock);
}

uint64_t failpoint_passings(enum failpoint failpoint)
{
    CHECK((int)failpoint >= 0 && failpoint < FAILPOINT_COUNT_);
    pthread_mutex_lock(&lock);
    uint64_t count = passings[failpoint];
    pthread_mutex_unlock(&lock);
    return count;
}

uint64_t failpoint_passings_of(const bool set[FAILPOINT_COUNT_])
{
    uint64_t sum = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < FAILPOINT_COUNT_; i++)
        if (set == NULL || set[i])
            sum += passings[i];
    pthread_mutex_unlock(&lock);
    return sum;
}

bool failpoint_fired(void)
{
    pthread_mutex_lock(&lock);
    bool result = fired;
    pthread_mutex_unlock(&lock);
    return result;
}

void failpoint_set_crash_handler(void (*handler)(void *arg, uint64_t torn_bytes), void *arg)
{
    pthread_mutex_lock(&lock);
    crash_handler = handler == NULL ? crash_default : handler;
    crash_arg = arg;
    pthread_mutex_unlock(&lock);
}

const char *failpoint_name(enum failpoint failpoint)
{
    CHECK((int)failpoint >= 0 && failpoint < FAILPOINT_COUNT_);
    return names[failpoint];
}

bool failpoint_find(const char *name, enum failpoint *out)
{
    for (int i = 0; i < FAILPOINT_COUNT_; i++)
        if (strcmp(names[i], name) == 0) {
            *out = (enum failpoint)i;
            return true;
        }
    return false;
}

bool failpoint_available(void)
{
#ifdef FAILPOINTS
    return true;
#else
    return false;
#endif
}
