/*
 * SIGKILL at random instants, of the worker and of the server, over a query that copies rows: the
 * output is the input, no row lost and none repeated.  KILLS says how many times (default 20);
 * `./run test-all` does 1000.
 */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILLS_DEFAULT 20
#define ROWS_PER_FILE 50
#define INSTANTS      40 /* a kill comes within so many milliseconds after the query runs */
#define SERVER_EVERY  7  /* each seventh kill is the server's */

static const char *const flags[] = {"--restart-delay", "1 ms", "--restart-delay-max", "2 ms", NULL};
static uint32_t seed = 1;

static uint32_t random_below(uint32_t limit)
{
    seed = seed * 1664525U + 1013904223U;
    return (seed >> 8) % limit;
}

static int setup(void **state)
{
    (void)state;
    server_start(&server, flags);
    make_dir(&server, "in");
    char body[1024];
    (void)snprintf(
        body, sizeof body,
        "{\"name\":\"copy\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"a INT\","
        "\"options\":{\"path\":\"%s/in\",\"maxFilesPerTrigger\":3}}},\"sql\":\"SELECT a "
        "FROM c\",\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"%s/out\"}},"
        "\"restartPolicy\":{\"maxAttempts\":1000000}}",
        server.dir, server.dir);
    json_decref(post(&server, "/v1/queries", body, 201));
    return 0;
}

static void feed(int file)
{
    char name[32], rows[ROWS_PER_FILE * 16];
    size_t used = 0;
    for (int i = 0; i < ROWS_PER_FILE; i++)
        used += (size_t)snprintf(rows + used, sizeof rows - used, "{\"a\":%d}\n",
                                 file * ROWS_PER_FILE + i);
    (void)snprintf(name, sizeof name, "in/%06d.json", file);
    write_file(&server, name, rows);
}

/* The worker's process id, or 0 while there is none. */
static pid_t worker(void)
{
    json_t *status = get(&server, "/v1/queries/copy/status", 200);
    pid_t pid = (pid_t)json_integer_value(json_object_get(status, "pid"));
    json_decref(status);
    return pid;
}

static void kill_something(int turn)
{
    await_state(&server, "copy", "RUNNING");
    (void)poll(NULL, 0, (int)random_below(INSTANTS)); /* the instant is what is tested */
    if (turn % SERVER_EVERY == SERVER_EVERY - 1) {
        server_kill(&server);
        server_restart(&server, flags);
        return;
    }
    pid_t pid = worker();
    if (pid > 1)
        (void)kill(pid, SIGKILL); /* it may have gone meanwhile */
}

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void count_output(int files)
{
    int want = files * ROWS_PER_FILE, got = 0;
    char *lines = read_lines(&server, "out", ".json");
    int *numbers = calloc((size_t)want * 2 + 2, sizeof *numbers);
    assert_non_null(numbers);
    for (char *at = lines; *at != '\0' && got < want * 2 + 1; at = strchr(at, '\n') + 1)
        assert_int_equal(sscanf(at, "{\"a\":%d}", &numbers[got++]), 1);
    qsort(numbers, (size_t)got, sizeof *numbers, by_number);
    print_message("%d rows in, %d rows out\n", want, got);
    assert_int_equal(got, want);
    for (int i = 0; i < want; i++)
        assert_int_equal(numbers[i], i);
    free(numbers);
    free(lines);
}

static void the_output_is_the_input(void **state)
{
    (void)state;
    const char *text = getenv("KILLS");
    int kills = text == NULL ? KILLS_DEFAULT : atoi(text);
    int files = 0;
    for (int turn = 0; turn < kills; turn++) {
        for (uint32_t i = random_below(4); i > 0; i--)
            feed(files++);
        kill_something(turn);
    }
    feed(files++);
    for (;;) { /* refused while the last kill is being noticed */
        struct call all = {.method = "POST", .path = "/v1/queries/copy/processAllAvailable"};
        await_state(&server, "copy", "RUNNING");
        struct reply reply = call(&server, &all);
        bool done = reply.status == 200;
        reply_free(&reply);
        if (done)
            break;
    }
    count_output(files);
    json_t *verified = post(&server, "/v1/queries/copy/checkpoint/verify", NULL, 200);
    json_decref(verified);
}

/* Until the file has been opened so often by others. */
static void await_opens(int watch, int opens)
{
    char events[4096];
    while (opens > 0) {
        ssize_t size = read(watch, events, sizeof events);
        for (ssize_t at = 0; at < size;) {
            struct inotify_event event;
            memcpy(&event, events + at, sizeof event);
            at += (ssize_t)(sizeof event + event.len);
            opens--;
        }
    }
}

/* A process that the killed server was just starting has its lock, until it is another program. */
static void a_server_waits_for_the_lock_of_one_that_was_killed(void **state)
{
    (void)state;
    char path[128];
    int how = 0;
    server_kill(&server);
    (void)snprintf(path, sizeof path, "%s/server.lock", server.data_dir);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    int watch = inotify_init1(IN_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    assert_true(inotify_add_watch(watch, path, IN_OPEN) >= 0);
    pid_t pid = fork();
    if (pid == 0) {
        (void)alarm(60);
        await_opens(watch, 2); /* the first time it was in vain */
        _exit(0);
    }
    (void)close(fd);
    (void)close(watch);
    server_restart(&server, flags);
    assert_int_equal(waitpid(pid, &how, 0), pid);
    assert_true(WIFEXITED(how));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_output_is_the_input),
        cmocka_unit_test(a_server_waits_for_the_lock_of_one_that_was_killed),
    };
    return cmocka_run_group_tests_name("api/kills", tests, setup, fixture_teardown) != 0;
}
