#include "fixture.h"

struct server server;
const char *const quick_restarts[] = {"--restart-delay", "1 ms", NULL};

int fixture_setup(void **state)
{
    (void)state;
    server_start(&server, quick_restarts);
    make_dir(&server, "in");
    return 0;
}

int fixture_teardown(void **state)
{
    (void)state;
    if (server.pid != 0)
        server_stop(&server);
    server_end(&server);
    return 0;
}
