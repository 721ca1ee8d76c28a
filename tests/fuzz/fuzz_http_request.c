/*
 * Any bytes on a connection of the API: the server answers or closes, and lives.
 *
 * A whole server runs in this process, on a Unix socket, with an empty catalog.  Queries that an
 * input creates stay stopped: the binary of the workers does not exist.
 */
#include "api/api.h"
#include "base/check.h"
#include "base/vfs_posix.h"
#include "spec/json_reader.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE_MS 20

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char socket_path[80];

static void *run(void *control)
{
    control_run(control);
    return NULL;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    (void)signal(SIGPIPE, SIG_IGN);
    json_init();
    static char dir[] = "/tmp/tidemill-fuzz-XXXXXX";
    char listen[100];
    CHECK(mkdtemp(dir) != NULL);
    (void)snprintf(socket_path, sizeof socket_path, "%s/socket", dir);
    (void)snprintf(listen, sizeof listen, "unix:%s", socket_path);
    struct error err = ERROR_INIT;
    struct config *config = config_new();
    CHECK(config_set(config, "listen", listen, ORIGIN_FLAG, &err) == OK);
    CHECK(config_set(config, "dataDir", dir, ORIGIN_FLAG, &err) == OK);
    CHECK(config_set(config, "maxBodyBytes", "64k", ORIGIN_FLAG, &err) == OK);
    struct control_options options = {
        .config = config, .vfs = vfs_posix(), .clock = clock_real(), .binary = "/nonexistent"};
    struct control *control = NULL;
    struct api *api = NULL;
    int port = 0;
    pthread_t thread;
    CHECK(control_begin(&options, &control, &err) == OK);
    CHECK(api_open(control, &api, &port, &err) == OK);
    CHECK(pthread_create(&thread, NULL, run, control) == 0);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", socket_path);
    CHECK(fd >= 0);
    CHECK(connect(fd, (const struct sockaddr *)&address, sizeof address) == 0);
    ssize_t sent = send(fd, data, size, MSG_NOSIGNAL); /* it may have been closed already */
    (void)sent;
    (void)shutdown(fd, SHUT_WR);
    char answer[4096];
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    while (poll(&ready, 1, PATIENCE_MS) > 0 && recv(fd, answer, sizeof answer, 0) > 0) {
    }
    (void)close(fd); /* a request without an end has no answer */
    return 0;
}
