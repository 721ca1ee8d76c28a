/*
 * What somebody means who calls a function that there is not: one of another system, or a name that
 * is misspelt.
 */
#include "analyze/resolve_call.h"
#include "expr/aggregate.h"
#include "expr/function.h"

#include <stdio.h>
#include <strings.h>

#define NAMES_MAX 1024

static void add_text(struct error *err, const char *text)
{
    size_t used = strlen(err->text);
    if (used < sizeof err->text)
        (void)snprintf(err->text + used, sizeof err->text - used, ". %s", text);
}

static const char *window_hint(const char *name)
{
    static const struct {
        const char *name, *hint;
    } known[] = {
        {"TUMBLE", "Tumbling windows are written GROUP BY window(time, '10 minutes')"},
        {"HOP", "Sliding windows are written GROUP BY window(time, '10 minutes', '5 minutes'): "
                "the size, then the slide"},
        {"CUMULATE", "There are no cumulating windows. Tumbling ones are written GROUP BY "
                     "window(time, '10 minutes')"},
        {"SESSION", "Session windows are written GROUP BY session_window(time, '5 minutes')"},
        {"TUMBLE_START", "The start of window(time, '10 minutes') is window.start"},
        {"TUMBLE_END", "The end of window(time, '10 minutes') is window.end"},
        {"TUMBLE_ROWTIME", "The last instant of a window is window_time(window)"},
        {"HOP_START", "The start of window(time, '10 minutes', '5 minutes') is window.start"},
        {"HOP_END", "The end of window(time, '10 minutes', '5 minutes') is window.end"},
        {"HOP_ROWTIME", "The last instant of a window is window_time(window)"},
        {"SESSION_START", "The start of session_window(time, '5 minutes') is session_window.start"},
        {"SESSION_END", "The end of session_window(time, '5 minutes') is session_window.end"},
        {"TABLE",
         "The windows of other systems, such as TUMBLE(TABLE t, ...), are written GROUP BY "
         "window(time, '10 minutes')"},
        {"PROCTIME", "The time of the batch is current_timestamp()"},
        {"DESCRIPTOR", "A column is named as it is, as in window(time, '10 minutes')"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcasecmp(name, known[i].name) == 0)
            return known[i].hint;
    return NULL;
}

struct names {
    const char *items[NAMES_MAX];
    size_t count;
    struct arena *arena;
};

static void add_name(struct names *names, const char *name)
{
    if (names->count < NAMES_MAX)
        names->items[names->count++] = arena_strdup(names->arena, name);
}

static void add_function(void *arg, const char *name, const struct function *function)
{
    (void)function;
    add_name(arg, name);
}

static void add_aggregate(void *arg, const char *name, const struct aggregate *aggregate)
{
    (void)aggregate;
    add_name(arg, name);
}

bool routine_window_hint(const char *name, struct error *err)
{
    const char *hint = window_hint(name);
    if (hint != NULL)
        add_text(err, hint);
    return hint != NULL;
}

void routine_hint(struct arena *arena, const char *name, struct error *err)
{
    if (routine_window_hint(name, err))
        return;
    struct names *names = arena_new_object(arena, sizeof *names);
    names->arena = arena;
    function_each_name(add_function, names);
    aggregate_each_name(add_aggregate, names);
    const char *nearest = nearest_name(name, names->items, names->count);
    if (nearest != NULL)
        add_text(err, arena_sprintf(arena, "Did you mean %s?", nearest));
}
