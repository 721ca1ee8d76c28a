/*
 * The kinds of sinks.  This list is the only one.
 */
#include "sink/sink.h"
#include "sink/sink_console.h"
#include "sink/sink_file.h"
#include "sink/sink_memory.h"

#include <strings.h>

static const struct sink_ops *const all[] = {
    &sink_file_json, &sink_file_csv, &sink_file_text, &sink_file_parquet,
    &sink_memory,    &sink_console,  &sink_noop,      NULL,
};

const struct sink_ops *sink_find(const char *format)
{
    for (const struct sink_ops *const *ops = all; *ops != NULL; ops++)
        if (strcasecmp((*ops)->kind, format) == 0)
            return *ops;
    return NULL;
}

const struct sink_ops *const *sink_all(void)
{
    return all;
}
