/*
 * See fix_stream.h.
 */
#include "control/fix_stream.h"

#include "control/fix_name.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

bool fix_window_bound(const char *sql, size_t at, struct fix_bound *out)
{
    while (sql[at] != '\0') {
        size_t behind = fix_behind_quotes(sql, at);
        size_t size = strncasecmp(sql + at, ".start", 6) == 0 ? 6
                      : strncasecmp(sql + at, ".end", 4) == 0 ? 4
                                                              : 0;
        if (behind == at && size > 0 && at > 0 && fix_is_word_byte(sql[at - 1]) &&
            !fix_is_word_byte(sql[at + size])) {
            *out = (struct fix_bound){.from = at, .dot = at, .to = at + size};
            while (out->from > 0 && fix_is_word_byte(sql[out->from - 1]))
                out->from--;
            return true;
        }
        at = behind > at ? behind : at + 1;
    }
    return false;
}
