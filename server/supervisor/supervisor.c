#include "supervisor/supervisor.h"

#include "base/check.h"
#include "base/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKER_MAGIC     0x3072ce2U
#define SUPERVISOR_MAGIC 0x50be2715U
#define WORKER_FD        3

struct worker {
    uint32_t magic;
    struct supervisor *supervisor;
    void *owner;
    pid_t pid;
    struct message_channel *channel; /* NULL once the socket is closed */
    bool reaped;
    struct worker_exit how;
    struct worker *next;
};

struct supervisor {
    uint32_t magic;
    struct supervisor_events events;
    int signal_fd;
    int wake_fd;
    struct worker *workers;
    size_t worker_count;
    struct pollfd *polls;   /* scratch: signal, wake, then one per worker with a channel */
    struct worker **polled; /* the worker of polls[i + 2] */
    size_t poll_capacity;
};

static enum status system_error(struct error *err, const char *what)
{
    return error_raise(err, STATUS_IO_FAILURE, "path", what, "reason", strerrordesc_np(errno),
                       NULL);
}

static void watched_signals(sigset_t *set)
{
    (void)sigemptyset(set);
    (void)sigaddset(set, SIGCHLD);
    (void)sigaddset(set, SIGTERM);
    (void)sigaddset(set, SIGINT);
    (void)sigaddset(set, SIGHUP);
}

enum status supervisor_open(const struct supervisor_events *events, struct supervisor **out,
                            struct error *err)
{
    CHECK(events->message != NULL && events->ended != NULL && events->signalled != NULL);
    sigset_t set;
    watched_signals(&set);
    int signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signal_fd < 0)
        return system_error(err, "signalfd");
    int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_fd < 0) {
        (void)close(signal_fd);
        return system_error(err, "eventfd");
    }
    struct supervisor *supervisor = heap_calloc(1, sizeof *supervisor);
    supervisor->magic = SUPERVISOR_MAGIC;
    supervisor->events = *events;
    supervisor->signal_fd = signal_fd;
    supervisor->wake_fd = wake_fd;
    *out = supervisor;
    return OK;
}

static void worker_free(struct worker *worker)
{
    message_channel_close(worker->channel);
    worker->magic = 0;
    free(worker);
}

void supervisor_close(struct supervisor *supervisor)
{
    if (supervisor == NULL)
        return;
    CHECK_MAGIC(supervisor, SUPERVISOR_MAGIC);
    for (struct worker *worker = supervisor->workers; worker != NULL;) {
        struct worker *next = worker->next;
        if (!worker->reaped) {
            (void)kill(worker->pid, SIGKILL);
            (void)waitpid(worker->pid, NULL, 0);
        }
        worker_free(worker);
        worker = next;
    }
    (void)close(supervisor->signal_fd);
    (void)close(supervisor->wake_fd);
    free(supervisor->polls);
    free(supervisor->polled);
    free(supervisor);
}

size_t supervisor_worker_count(const struct supervisor *supervisor)
{
    return supervisor->worker_count;
}

void supervisor_wake(struct supervisor *supervisor)
{
    CHECK_MAGIC(supervisor, SUPERVISOR_MAGIC);
    uint64_t one = 1;
    ssize_t wrote = write(supervisor->wake_fd, &one, sizeof one);
    (void)wrote; /* a full counter wakes as well */
}

/* Keeps the last log beside the new one, so that a crash loop cannot fill the disk. */
static void rotate_log(const struct worker_start *start)
{
    struct stat stat_buffer;
    if (stat(start->log_path, &stat_buffer) != 0 ||
        (uint64_t)stat_buffer.st_size <= start->log_keep_bytes)
        return;
    struct buffer old = {0};
    buffer_printf(&old, "%s.1", start->log_path);
    (void)rename(start->log_path, buffer_text(&old));
    buffer_fini(&old);
}

static int spawn_worker(const struct worker_start *start, int socket_fd, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    CHECK(posix_spawn_file_actions_init(&actions) == 0);
    CHECK(posix_spawnattr_init(&attributes) == 0);
    sigset_t none, all;
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setsigdefault(&attributes, &all);
    (void)posix_spawnattr_setpgroup(&attributes, 0); /* ^C at the terminal is the server's */
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                    POSIX_SPAWN_SETPGROUP);
    int error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_addopen(&actions, 1, start->log_path,
                                                 O_WRONLY | O_CREAT | O_APPEND, 0640);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, socket_fd, WORKER_FD);
    if (error == 0)
        error = posix_spawn_file_actions_addclosefrom_np(&actions, WORKER_FD + 1);

    char fd_text[8];
    (void)snprintf(fd_text, sizeof fd_text, "%d", WORKER_FD);
    const char *argv[40] = {start->binary, "worker", "--spec",     start->spec_path,
                            "--fd",        fd_text,  "--data-dir", start->data_dir};
    size_t count = 8;
    for (size_t i = 0; start->settings != NULL && start->settings[i] != NULL && count < 39; i++)
        argv[count++] = start->settings[i];
    if (error == 0) {
        union { /* posix_spawn takes texts that it does not change */
            const char **from;
            char *const *to;
        } arguments = {.from = argv};
        error = posix_spawn(pid, start->binary, &actions, &attributes, arguments.to, environ);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    return error;
}

/* A descriptor above WORKER_FD, so that dup2 onto it clears close-on-exec in the child. */
static int above_worker_fd(int fd)
{
    if (fd > WORKER_FD)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, WORKER_FD + 1);
    (void)close(fd);
    return moved;
}

enum status supervisor_start(struct supervisor *supervisor, const struct worker_start *start,
                             void *owner, struct worker **out, struct error *err)
{
    CHECK_MAGIC(supervisor, SUPERVISOR_MAGIC);
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        return error_raise(err, STATUS_WORKER_NOT_STARTED, "reason", strerrordesc_np(errno), NULL);
    fds[1] = above_worker_fd(fds[1]);
    rotate_log(start);
    pid_t pid = 0;
    int error = fds[1] < 0 ? EMFILE : spawn_worker(start, fds[1], &pid);
    if (fds[1] >= 0)
        (void)close(fds[1]);
    if (error != 0) {
        (void)close(fds[0]);
        return error_raise(err, STATUS_WORKER_NOT_STARTED, "reason", strerrordesc_np(error), NULL);
    }
    struct worker *worker = heap_calloc(1, sizeof *worker);
    worker->magic = WORKER_MAGIC;
    worker->supervisor = supervisor;
    worker->owner = owner;
    worker->pid = pid;
    worker->channel = message_channel_open(fds[0]);
    worker->next = supervisor->workers;
    supervisor->workers = worker;
    supervisor->worker_count++;
    *out = worker;
    return OK;
}

void worker_send(struct worker *worker, const struct message *message)
{
    CHECK_MAGIC(worker, WORKER_MAGIC);
    struct error ignored = ERROR_INIT; /* the end of the process tells the rest */
    if (worker->channel != NULL)
        (void)!message_send(worker->channel, message, &ignored);
}

void worker_kill(struct worker *worker, int signo)
{
    CHECK_MAGIC(worker, WORKER_MAGIC);
    if (!worker->reaped)
        (void)kill(worker->pid, signo);
}

pid_t worker_pid(const struct worker *worker)
{
    CHECK_MAGIC(worker, WORKER_MAGIC);
    return worker->pid;
}

static void close_channel(struct worker *worker)
{
    message_channel_close(worker->channel);
    worker->channel = NULL;
}

/* Delivers what has arrived; a channel that ended or is broken is closed. */
static void drain(struct supervisor *supervisor, struct worker *worker)
{
    while (worker->channel != NULL) {
        struct error err = ERROR_INIT;
        if (message_receive(worker->channel, &err) != OK) {
            close_channel(worker);
            return;
        }
        size_t delivered = 0;
        for (;;) {
            struct message message;
            bool found = false;
            if (message_next(worker->channel, &message, &found, &err) != OK) {
                close_channel(worker); /* it will notice and exit; the kill makes sure */
                worker_kill(worker, SIGKILL);
                return;
            }
            if (!found)
                break;
            delivered++;
            if (message_is_from_worker(message.kind))
                supervisor->events.message(supervisor->events.ctx, worker->owner, &message);
            if (worker->channel == NULL)
                return;
        }
        if (delivered == 0)
            return;
    }
}

static void reap(struct supervisor *supervisor)
{
    for (struct worker *worker = supervisor->workers; worker != NULL; worker = worker->next) {
        int how = 0;
        if (worker->reaped || waitpid(worker->pid, &how, WNOHANG) != worker->pid)
            continue;
        worker->reaped = true;
        worker->how.by_signal = WIFSIGNALED(how);
        worker->how.code = WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how);
    }
}

/* Ended workers leave the list before their end is told, since that may start another. */
static void deliver_ends(struct supervisor *supervisor)
{
    for (;;) {
        struct worker **link = &supervisor->workers;
        while (*link != NULL && !(*link)->reaped)
            link = &(*link)->next;
        struct worker *worker = *link;
        if (worker == NULL)
            return;
        drain(supervisor, worker);
        *link = worker->next;
        supervisor->worker_count--;
        supervisor->events.ended(supervisor->events.ctx, worker->owner, &worker->how);
        worker_free(worker);
    }
}

static void read_signals(struct supervisor *supervisor)
{
    struct signalfd_siginfo info;
    while (read(supervisor->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo != SIGCHLD)
            supervisor->events.signalled(supervisor->events.ctx, (int)info.ssi_signo);
    }
}

static void grow_polls(struct supervisor *supervisor)
{
    size_t need = supervisor->worker_count + 2;
    if (need <= supervisor->poll_capacity)
        return;
    supervisor->poll_capacity = need * 2;
    supervisor->polls =
        heap_realloc(supervisor->polls, supervisor->poll_capacity * sizeof *supervisor->polls);
    supervisor->polled =
        heap_realloc(supervisor->polled, supervisor->poll_capacity * sizeof(struct worker *));
}

static size_t fill_polls(struct supervisor *supervisor)
{
    grow_polls(supervisor);
    supervisor->polls[0] = (struct pollfd){.fd = supervisor->signal_fd, .events = POLLIN};
    supervisor->polls[1] = (struct pollfd){.fd = supervisor->wake_fd, .events = POLLIN};
    size_t count = 2;
    for (struct worker *worker = supervisor->workers; worker != NULL; worker = worker->next) {
        if (worker->channel == NULL)
            continue;
        bool pending = message_pending(worker->channel);
        supervisor->polled[count] = worker;
        supervisor->polls[count++] =
            (struct pollfd){.fd = message_channel_fd(worker->channel),
                            .events = (short)(POLLIN | (pending ? POLLOUT : 0))};
    }
    return count;
}

void supervisor_poll(struct supervisor *supervisor, int timeout_ms)
{
    CHECK_MAGIC(supervisor, SUPERVISOR_MAGIC);
    size_t count = fill_polls(supervisor);
    int ready = poll(supervisor->polls, count, timeout_ms);
    if (ready <= 0)
        return;
    uint64_t ignored;
    if (supervisor->polls[1].revents != 0) {
        ssize_t got = read(supervisor->wake_fd, &ignored, sizeof ignored);
        (void)got;
    }
    for (size_t i = 2; i < count; i++) { /* no worker is freed before deliver_ends */
        struct worker *worker = supervisor->polled[i];
        if ((supervisor->polls[i].revents & POLLOUT) != 0 && worker->channel != NULL) {
            struct error err = ERROR_INIT;
            if (message_flush(worker->channel, &err) != OK)
                close_channel(worker);
        }
        if ((supervisor->polls[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0)
            drain(supervisor, worker);
    }
    if (supervisor->polls[0].revents != 0) {
        read_signals(supervisor);
        reap(supervisor);
        deliver_ends(supervisor);
    }
}
