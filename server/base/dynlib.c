#include "base/dynlib.h"

#include "base/check.h"

#include <dlfcn.h>
#include <string.h>

static enum status missing(struct error *err, const char *soname)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the text is per thread in glibc
    const char *reason = dlerror();
    return error_raise(err, STATUS_LIBRARY_MISSING, "library", soname, "reason",
                       reason == NULL ? "unknown" : reason, NULL);
}

enum status dynlib_load(const char *soname, const struct dynlib_symbol *symbols, size_t count,
                        struct error *err)
{
    CHECK(soname != NULL && symbols != NULL);
    void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return missing(err, soname);
    for (size_t i = 0; i < count; i++)
        if (dlsym(library, symbols[i].name) == NULL)
            return missing(err, soname);
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(library, symbols[i].name);
        memcpy(symbols[i].address, &address, sizeof address);
    }
    return OK;
}
