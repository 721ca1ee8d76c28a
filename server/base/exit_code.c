#include "base/exit_code.h"

#include "base/check.h"

const char *exit_code_help(enum exit_code code)
{
    static const char *const texts[EXIT_CODE_COUNT] = {
        "ok",
        "anything else",
        "usage: no such command, option or value",
        "the spec is invalid, or what was asked for cannot be done with it",
        "not found: a query, a checkpoint, a file, whichever command looks for it",
        "conflict: the name is taken, the state forbids it, the checkpoint is in use",
        "authentication",
        "the server cannot be reached, or takes no requests now",
        "timed out",
        "the query failed",
    };
    CHECK((int)code >= 0 && code < EXIT_CODE_COUNT);
    return texts[code];
}

enum exit_code exit_code_of_http(long http)
{
    switch (http) {
    case 400:
    case 413:
    case 415:
    case 422:
        return EXIT_INVALID;
    case 404:
    case 410:
        return EXIT_NOT_FOUND;
    case 409:
    case 412:
    case 428:
    case 429:
        return EXIT_CONFLICT;
    case 401:
    case 403:
        return EXIT_AUTH;
    case 408:
        return EXIT_TIMED_OUT;
    case 503:
        return EXIT_UNREACHABLE;
    default:
        return http < 400 ? EXIT_OK : EXIT_OTHER;
    }
}

enum exit_code exit_code_of_status(enum status status)
{
    if (status == OK)
        return EXIT_OK;
    if (status == STATUS_UNREACHABLE)
        return EXIT_UNREACHABLE;
    int http = status_http(status);
    if (http == 404 || http == 410)
        return EXIT_NOT_FOUND;
    if (http == 409)
        return EXIT_CONFLICT;
    return status_domain(status) == DOMAIN_USER ? EXIT_INVALID : EXIT_OTHER;
}

enum exit_code exit_code_of_query(enum status status, bool started)
{
    if (status != OK && started)
        return EXIT_FAILED_QUERY;
    enum exit_code code = exit_code_of_status(status);
    return code == EXIT_OTHER ? EXIT_FAILED_QUERY : code;
}
