#include "control/etag.h"

#include <stddef.h>
#include <string.h>

bool etag_list_is_any(const char *list)
{
    list += strspn(list, " \t");
    return *list == '*' && list[1 + strspn(list + 1, " \t")] == '\0';
}

bool etag_list_has(const char *list, const char *etag, enum etag_comparison comparison)
{
    size_t size = strlen(etag);
    if (etag_list_is_any(list))
        return true;
    while (*(list += strspn(list, " \t,")) != '\0') {
        bool weak = strncmp(list, "W/", 2) == 0;
        list += weak ? 2 : 0;
        bool quoted = *list == '"';
        list += quoted;
        size_t length = strcspn(list, quoted ? "\"" : ", \t");
        bool fits = length == size && memcmp(list, etag, size) == 0;
        if (fits && (!weak || comparison == ETAG_WEAK))
            return true;
        list += length;
        list += quoted && *list == '"';
    }
    return false;
}
