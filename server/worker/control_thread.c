/*
 * See control_thread.h.
 *
 * One lock protects the channel's outgoing half and the list of commands; the thread alone reads.
 */
#include "worker/control_thread.h"

#include "base/check.h"
#include "base/heap.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define COMMANDS_MAX  256
#define CLOSE_WAIT_MS 1000
#define STACK_BYTES   ((size_t)128 << 10)

struct control {
    struct message_channel *channel; /* NULL: none */
    pthread_t thread;
    int wake_batch;   /* eventfd: something for the batch thread */
    int wake_control; /* eventfd: something to send, or the end */
    atomic_int wish;
    atomic_bool gone;
    atomic_bool closing;
    _Atomic(atomic_bool *) cancelled;

    pthread_mutex_t lock; /* protects: commands, command_count, sending on channel */
    struct control_command commands[COMMANDS_MAX];
    size_t command_count;
};

static _Atomic(struct control *) the_control; /* for the signal handler */

static void poke(int fd)
{
    uint64_t one = 1;
    ssize_t written = write(fd, &one, sizeof one);
    (void)written; /* a full counter wakes as well */
}

static void drain(int fd)
{
    uint64_t count = 0;
    ssize_t got = read(fd, &count, sizeof count);
    (void)got;
}

/* Async-signal-safe. */
static void wish(struct control *control, enum stop_wish stop)
{
    int old = atomic_load(&control->wish);
    while (old < (int)stop && !atomic_compare_exchange_weak(&control->wish, &old, (int)stop)) {
    }
    atomic_bool *cancelled = atomic_load(&control->cancelled);
    if (stop == STOP_IMMEDIATE && cancelled != NULL)
        atomic_store(cancelled, true);
    poke(control->wake_batch);
}

static void on_signal(int number)
{
    int saved = errno;
    struct control *control = atomic_load(&the_control);
    (void)number;
    if (control != NULL)
        wish(control, atomic_load(&control->wish) == STOP_NONE ? STOP_GRACEFUL : STOP_IMMEDIATE);
    errno = saved;
}

static void set_handlers(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

static void send_locked(struct control *control, const struct message *message)
{
    struct error err = ERROR_INIT;
    pthread_mutex_lock(&control->lock);
    if (message_send(control->channel, message, &err) != OK) {
        atomic_store(&control->gone, true);
        wish(control, STOP_GRACEFUL); /* nobody hears it any more: another worker will be heard */
    }
    bool pending = message_pending(control->channel);
    pthread_mutex_unlock(&control->lock);
    if (pending)
        poke(control->wake_control);
}

static void add_command(struct control *control, const struct message *message)
{
    struct control_command command = {
        .kind = message->kind,
        .request_id = message->number[0],
        .rows = message->number[1],
    };
    pthread_mutex_lock(&control->lock);
    bool full = control->command_count == COMMANDS_MAX;
    if (!full)
        control->commands[control->command_count++] = command;
    pthread_mutex_unlock(&control->lock);
    if (full) {
        struct error err = ERROR_INIT;
        error_raise(&err, STATUS_SERVER_BUSY, "reason", "the worker has too many open requests",
                    NULL);
        control_reply(control, command.request_id, &err);
        return;
    }
    poke(control->wake_batch);
}

static void handle(struct control *control, const struct message *message)
{
    switch (message->kind) {
    case MESSAGE_STOP:
        wish(control, message->number[0] == 0 ? STOP_GRACEFUL : STOP_IMMEDIATE);
        return;
    case MESSAGE_PING: {
        struct message answer = {.kind = MESSAGE_HEARTBEAT, .number = {message->number[0]}};
        send_locked(control, &answer);
        return;
    }
    case MESSAGE_TRIGGER:
    case MESSAGE_PROCESS_ALL_AVAILABLE:
    case MESSAGE_READ_RESULTS:
        add_command(control, message);
        return;
    case MESSAGE_HELLO:
    case MESSAGE_STATE:
    case MESSAGE_PLAN:
    case MESSAGE_PROGRESS:
    case MESSAGE_BATCH:
    case MESSAGE_HEARTBEAT:
    case MESSAGE_REPLY:
    case MESSAGE_RESULT:
    case MESSAGE_FAILED:
    case MESSAGE_FINISHED:
    case MESSAGE_COUNT_:
        break; /* a worker's own words: the peer is confused, and harmless */
    }
}

/* The server is gone or does not speak our language: finish the batch and end. */
static void lose_server(struct control *control)
{
    atomic_store(&control->gone, true);
    wish(control, STOP_GRACEFUL);
}

static bool read_messages(struct control *control)
{
    struct error err = ERROR_INIT;
    enum status status = message_receive(control->channel, &err);
    for (;;) {
        struct message message;
        bool found = false;
        if (message_next(control->channel, &message, &found, &err) != OK)
            return false;
        if (!found)
            return status == OK;
        handle(control, &message);
    }
}

static bool flush_messages(struct control *control)
{
    struct error err = ERROR_INIT;
    pthread_mutex_lock(&control->lock);
    enum status status = message_flush(control->channel, &err);
    pthread_mutex_unlock(&control->lock);
    return status == OK;
}

static bool has_pending(struct control *control)
{
    pthread_mutex_lock(&control->lock);
    bool pending = message_pending(control->channel);
    pthread_mutex_unlock(&control->lock);
    return pending;
}

static void *listen_to_server(void *arg)
{
    struct control *control = arg;
    int fd = message_channel_fd(control->channel);
    while (!atomic_load(&control->closing)) {
        struct pollfd fds[2] = {
            {.fd = fd, .events = (short)(POLLIN | (has_pending(control) ? POLLOUT : 0))},
            {.fd = control->wake_control, .events = POLLIN},
        };
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            break;
        if (fds[1].revents != 0)
            drain(control->wake_control);
        bool alive = true;
        if (fds[0].revents & POLLOUT)
            alive = flush_messages(control);
        if (alive && fds[0].revents & (POLLIN | POLLHUP | POLLERR))
            alive = read_messages(control);
        if (!alive)
            break;
    }
    if (!atomic_load(&control->closing))
        lose_server(control);
    return NULL;
}

static enum status start_thread(struct control *control, struct error *err)
{
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t old;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are for the batch thread */
    int failed = pthread_create(&control->thread, &attributes, listen_to_server, control);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    return failed == 0 ? OK
                       : error_raise(err, STATUS_IO_FAILURE, "path", "control thread", "reason",
                                     strerrordesc_np(failed), NULL);
}

enum status control_open(int take_fd, struct control **out, struct error *err)
{
    CHECK(atomic_load(&the_control) == NULL);
    struct control *control = heap_calloc(1, sizeof *control);
    pthread_mutex_init(&control->lock, NULL);
    control->wake_batch = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    control->wake_control = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    CHECK(control->wake_batch >= 0 && control->wake_control >= 0);
    if (take_fd >= 0) {
        control->channel = message_channel_open(take_fd);
        enum status status = start_thread(control, err);
        if (status != OK) {
            message_channel_close(control->channel);
            control->channel = NULL;
            control_close(control);
            return status;
        }
    }
    atomic_store(&the_control, control);
    set_handlers(on_signal);
    *out = control;
    return OK;
}

void control_close(struct control *control)
{
    if (control == NULL)
        return;
    set_handlers(SIG_DFL);
    atomic_store(&the_control, NULL);
    if (control->channel != NULL) {
        struct error err = ERROR_INIT;
        struct pollfd fd = {.fd = message_channel_fd(control->channel), .events = POLLOUT};
        atomic_store(&control->closing, true);
        poke(control->wake_control);
        pthread_join(control->thread, NULL);
        while (message_pending(control->channel) && poll(&fd, 1, CLOSE_WAIT_MS) > 0 &&
               message_flush(control->channel, &err) == OK) {
        }
        message_channel_close(control->channel);
    }
    close(control->wake_batch);
    close(control->wake_control);
    pthread_mutex_destroy(&control->lock);
    free(control);
}

void control_watch(struct control *control, atomic_bool *cancelled)
{
    atomic_store(&control->cancelled, cancelled);
    if (cancelled != NULL && atomic_load(&control->wish) == STOP_IMMEDIATE)
        atomic_store(cancelled, true);
}

enum stop_wish control_stop_wish(struct control *control)
{
    return (enum stop_wish)atomic_load(&control->wish);
}

bool control_server_gone(struct control *control)
{
    return atomic_load(&control->gone);
}

int control_wake_fd(const struct control *control)
{
    return control->wake_batch;
}

void control_woken(struct control *control)
{
    drain(control->wake_batch);
}

bool control_next_command(struct control *control, struct control_command *out)
{
    pthread_mutex_lock(&control->lock);
    bool found = control->command_count > 0;
    if (found) {
        *out = control->commands[0];
        control->command_count--;
        memmove(control->commands, control->commands + 1,
                control->command_count * sizeof control->commands[0]);
    }
    pthread_mutex_unlock(&control->lock);
    return found;
}

void control_send(struct control *control, const struct message *message)
{
    if (control->channel != NULL && !atomic_load(&control->gone))
        send_locked(control, message);
}

void control_reply(struct control *control, int64_t request_id, const struct error *err)
{
    struct message reply = {
        .kind = MESSAGE_REPLY,
        .number = {request_id},
        .text = {bytes_of_text(err == NULL ? "" : status_name(err->status))},
    };
    control_send(control, &reply);
}
