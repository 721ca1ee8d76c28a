/*
 * The kinds of sources.  These lists are the only ones.
 */
#include "source/source.h"
#include "source/source_file.h"
#include "source/source_memory.h"
#include "source/source_rate.h"

#include <strings.h>

static const struct source_ops *const all[] = {
    &source_file_json, &source_file_csv,         &source_file_text,
    &source_rate,      &source_rate_micro_batch, NULL,
};

/* Only a program that fills logs can use these. */
static const struct source_ops *const internal[] = {
    &source_memory,
    NULL,
};

static const struct source_ops *find_in(const struct source_ops *const *ops, const char *format)
{
    for (; *ops != NULL; ops++)
        if (strcasecmp((*ops)->kind, format) == 0)
            return *ops;
    return NULL;
}

const struct source_ops *source_find(const char *format)
{
    const struct source_ops *found = find_in(all, format);
    return found != NULL ? found : find_in(internal, format);
}

const struct source_ops *const *source_all(void)
{
    return all;
}
