/* The only list of formats. */
#include "base/check.h"
#include "format/csv_format.h"
#include "format/format.h"
#include "format/json_format.h"
#include "format/parquet_format.h"
#include "format/text_format.h"

#include <strings.h>

static const struct format_ops *const formats[] = {&json_format, &csv_format, &text_format,
                                                   &parquet_format, NULL};

const struct format_ops *const *format_all(void)
{
    return formats;
}

const struct format_ops *format_find(const char *name)
{
    CHECK(name != NULL);
    for (const struct format_ops *const *format = formats; *format != NULL; format++) {
        if (strcasecmp((*format)->name, name) == 0)
            return *format;
    }
    return NULL;
}
