#include "control/query_state.h"

#include "base/check.h"

#include <stdio.h>
#include <string.h>

static const char *const state_names[QUERY_STATE_COUNT] = {
    "STOPPED", "STARTING", "RUNNING", "STOPPING", "RETRYING", "FAILED", "FINISHED", "UNKNOWN"};

static const char *const action_names[QUERY_ACTION_COUNT] = {
    "start", "stop", "restart", "trigger", "processAllAvailable", "results", "delete", "rewind"};

/* Rows: states; columns: start, stop, restart, trigger, processAllAvailable, results, delete,
 * rewind.
 * Asking for what is so already is allowed and changes nothing.  What only the worker can answer
 * waits for it where the server does not know yet how it is. */
static const bool allowed[QUERY_STATE_COUNT][QUERY_ACTION_COUNT] = {
    [QUERY_STOPPED] = {true, true, true, false, false, false, true, true},
    [QUERY_STARTING] = {true, true, true, true, true, true, false, false},
    [QUERY_RUNNING] = {true, true, true, true, true, true, false, false},
    [QUERY_STOPPING] = {true, true, true, false, false, false, false, false},
    [QUERY_RETRYING] = {true, true, true, false, true, false, false, false},
    [QUERY_FAILED] = {true, true, true, false, false, true, true, true},
    [QUERY_FINISHED] = {true, true, true, false, true, true, true, true},
    [QUERY_UNKNOWN] = {true, true, true, true, true, true, false, false},
};

const char *query_state_name(enum query_state state)
{
    CHECK((int)state >= 0 && (int)state < QUERY_STATE_COUNT);
    return state_names[state];
}

bool query_state_find(const char *name, enum query_state *out)
{
    for (int i = 0; i < QUERY_STATE_COUNT; i++) {
        if (strcmp(state_names[i], name) == 0) {
            *out = (enum query_state)i;
            return true;
        }
    }
    return false;
}

const char *query_action_name(enum query_action action)
{
    CHECK((int)action >= 0 && (int)action < QUERY_ACTION_COUNT);
    return action_names[action];
}

bool query_action_allowed(enum query_state state, enum query_action action)
{
    CHECK((int)state >= 0 && (int)state < QUERY_STATE_COUNT);
    CHECK((int)action >= 0 && (int)action < QUERY_ACTION_COUNT);
    return allowed[state][action];
}

void query_allowed_actions(enum query_state state, char *out, size_t size)
{
    CHECK(size > 0);
    out[0] = '\0';
    size_t used = 0;
    for (int i = 0; i < QUERY_ACTION_COUNT && used < size; i++) {
        if (!query_action_allowed(state, (enum query_action)i))
            continue;
        int wrote =
            snprintf(out + used, size - used, "%s%s", used == 0 ? "" : ", ", action_names[i]);
        used += (size_t)wrote;
    }
}

bool query_state_is_ended(enum query_state state)
{
    return state == QUERY_STOPPED || state == QUERY_FAILED || state == QUERY_FINISHED;
}
