/*
 * The kinds of sources.  This list is the only one.
 */
#include "source/source.h"
#include "source/source_file.h"
#include "source/source_memory.h"
#include "source/source_rate.h"

#include <strings.h>

static const struct source_ops *const all[] = {
    &source_file_json,
    &source_file_csv,
    &source_file_text,
    &source_rate,
    &source_rate_micro_batch,
    &source_memory,
    NULL,
};

const struct source_ops *source_find(const char *format)
{
    for (const struct source_ops *const *ops = all; *ops != NULL; ops++)
        if (strcasecmp((*ops)->kind, format) == 0)
            return *ops;
    return NULL;
}

const struct source_ops *const *source_all(void)
{
    return all;
}
