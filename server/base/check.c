#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void check_failed(const char *expr, const char *file, int line, const char *func)
{
    (void)fprintf(stderr, "%s:%d: %s: CHECK failed: %s\n", file, line, func, expr);
    (void)fflush(stderr);
    abort();
}
