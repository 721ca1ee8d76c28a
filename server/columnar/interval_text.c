#include "columnar/interval_text.h"
const char *interval_field_name(enum interval_field field)
{
    static const char *const names[] = {"year", "month", "day", "hour", "minute", "second"};
    return names[field];
}
