#include "cli_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

char output[1 << 20];
static char binary[1024];

int cli_setup(void **state)
{
    (void)state;
    (void)snprintf(binary, sizeof binary, "%s",
                   getenv("TIDEMILL_BINARY") == NULL ? "" : getenv("TIDEMILL_BINARY"));
    server_start(&server, NULL);
    (void)setenv("TIDEMILL_SERVER", server.url, 1);
    make_dir(&server, "in");
    write_file(&server, "in/1.json", "{\"a\":1,\"b\":\"x\"}\n{\"a\":2}\n");
    return 0;
}

int cli_teardown(void **state)
{
    return fixture_teardown(state);
}

/* Standard output goes to the file, or where standard error goes. */
static pid_t start(const char *arguments, const char *standard_output, int *fd)
{
    char copy[1024];
    char *argv[32] = {binary};
    size_t count = 1;
    (void)snprintf(copy, sizeof copy, "%s", arguments);
    for (char *word = strtok(copy, " "); word != NULL && count < 31; word = strtok(NULL, " "))
        argv[count++] = strcmp(word, "''") == 0 ? word + 2 : word;
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    if (standard_output == NULL)
        assert_int_equal(posix_spawn_file_actions_adddup2(&actions, fds[1], 1), 0);
    else
        assert_int_equal(
            posix_spawn_file_actions_addopen(&actions, 1, standard_output, O_WRONLY, 0), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, fds[1], 2), 0);
    pid_t pid = 0;
    assert_int_equal(posix_spawn(&pid, binary, &actions, NULL, argv, environ), 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(fds[1]);
    *fd = fds[0];
    return pid;
}

pid_t tidemill_start(const char *arguments, int *fd)
{
    return start(arguments, NULL, fd);
}

/* Reads to the end or, with a text, until it has come. */
static size_t read_output(int fd, size_t used, const char *until)
{
    output[used] = '\0';
    for (ssize_t got; used + 1 < sizeof output &&
                      (until == NULL || strstr(output, until) == NULL) &&
                      (got = read(fd, output + used, sizeof output - used - 1)) > 0;) {
        used += (size_t)got;
        output[used] = '\0';
    }
    return used;
}

static int finish(pid_t pid, int fd)
{
    int how = 0;
    (void)close(fd);
    assert_int_equal(waitpid(pid, &how, 0), pid);
    return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

int tidemill(const char *arguments)
{
    int fd = -1;
    pid_t pid = tidemill_start(arguments, &fd);
    (void)read_output(fd, 0, NULL);
    return finish(pid, fd);
}

int tidemill_until(const char *arguments, const char *text, int signal)
{
    int fd = -1;
    pid_t pid = tidemill_start(arguments, &fd);
    size_t used = read_output(fd, 0, text);
    if (strstr(output, text) == NULL)
        fail_msg("tidemill %s ended without '%s': %s", arguments, text, output);
    assert_int_equal(kill(pid, signal), 0);
    (void)read_output(fd, used, NULL);
    return finish(pid, fd);
}

static void check(int got, int code, const char *arguments, const char *text)
{
    if (got != code || (text != NULL && strstr(output, text) == NULL))
        fail_msg("tidemill %s: %d instead of %d, expected '%s': %s", arguments, got, code,
                 text == NULL ? "" : text, output);
}

void expect(int code, const char *arguments, const char *text)
{
    check(tidemill(arguments), code, arguments, text);
}

void expect_full(int code, const char *arguments, const char *text)
{
    int fd = -1;
    pid_t pid = start(arguments, "/dev/full", &fd);
    (void)read_output(fd, 0, NULL);
    check(finish(pid, fd), code, arguments, text);
}

void write_spec(const char *name, const char *more)
{
    char file[64], spec[1024];
    (void)snprintf(file, sizeof file, "%s.spec", name);
    (void)snprintf(
        spec, sizeof spec,
        "{\"name\":\"%s\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"a INT, b "
        "STRING\",\"options\":{\"path\":\"%s/in\"}}},\"sink\":{\"format\":\"memory\"},%s}",
        name, server.dir, more);
    write_file(&server, file, spec);
}

const char *with_file(const char *command, const char *name)
{
    static char line[1024];
    (void)snprintf(line, sizeof line, "%s %s/%s", command, server.dir, name);
    return line;
}
