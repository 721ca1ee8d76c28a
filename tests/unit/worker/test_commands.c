/*
 * The worker's ear and its list of requests, with the server's end of the socket in the test.
 */
#include "worker/commands.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

struct world {
    struct message_channel *server;
    struct control *control;
    struct commands *commands;
};

static int setup(void **state)
{
    struct world *world = test_calloc(1, sizeof *world);
    struct error err = ERROR_INIT;
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    world->server = message_channel_open(fds[0]);
    assert_int_equal(control_open(fds[1], &world->control, &err), OK);
    world->commands = test_calloc(1, sizeof *world->commands);
    world->commands->control = world->control;
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    control_close(world->control);
    message_channel_close(world->server);
    test_free(world->commands);
    test_free(world);
    return 0;
}

static void ask(struct world *world, enum message_kind kind, int64_t request_id)
{
    struct error err = ERROR_INIT;
    struct message message = {.kind = kind, .number = {request_id}};
    assert_int_equal(message_send_wait(world->server, &message, -1, &err), OK);
}

/* Waits for the next message of the worker. */
static struct message hear(struct world *world)
{
    struct error err = ERROR_INIT;
    struct message message;
    bool found = false;
    assert_int_equal(message_next(world->server, &message, &found, &err), OK);
    while (!found) {
        struct pollfd poll_fd = {.fd = message_channel_fd(world->server), .events = POLLIN};
        (void)poll(&poll_fd, 1, -1);
        assert_int_equal(message_receive(world->server, &err), OK);
        assert_int_equal(message_next(world->server, &message, &found, &err), OK);
    }
    return message;
}

/* The answer to a request, and with what condition. */
static void assert_answer(struct world *world, int64_t request_id, enum status status)
{
    struct message message = hear(world);
    const char *name = status == OK ? "" : status_name(status);
    assert_int_equal(message.kind, MESSAGE_REPLY);
    assert_int_equal(message.number[0], request_id);
    assert_int_equal(message.text[0].size_bytes, strlen(name));
    assert_memory_equal(message.text[0].data, name, strlen(name));
}

static void take_one(struct world *world)
{
    uint32_t before = world->commands->count;
    while (world->commands->count == before) {
        struct pollfd poll_fd = {.fd = control_wake_fd(world->control), .events = POLLIN};
        (void)poll(&poll_fd, 1, -1);
        control_woken(world->control);
        (void)commands_take(world->commands);
    }
}

static void a_trigger_is_answered_by_a_batch_and_all_available_by_none(void **state)
{
    struct world *world = *state;
    ask(world, MESSAGE_TRIGGER, 1);
    take_one(world);
    ask(world, MESSAGE_PROCESS_ALL_AVAILABLE, 2);
    take_one(world);
    commands_answer(world->commands, true);
    assert_answer(world, 1, OK);
    assert_true(commands_open(world->commands));
    commands_answer(world->commands, false);
    assert_answer(world, 2, OK);
    assert_false(commands_open(world->commands));
}

static void who_still_waits_at_the_end_is_told(void **state)
{
    struct world *world = *state;
    ask(world, MESSAGE_PROCESS_ALL_AVAILABLE, 7);
    take_one(world);
    commands_end(world->commands);
    assert_answer(world, 7, STATUS_OPERATION_CANCELLED);
    assert_false(commands_open(world->commands));
}

/* A batch thread that takes no requests, and a server that goes on asking. */
static void too_many_requests_are_refused_and_the_others_kept(void **state)
{
    struct world *world = *state;
    for (int64_t id = 0; id < COMMANDS_OPEN_MAX + 3; id++)
        ask(world, MESSAGE_TRIGGER, id);
    for (int64_t id = COMMANDS_OPEN_MAX; id < COMMANDS_OPEN_MAX + 3; id++)
        assert_answer(world, id, STATUS_SERVER_BUSY);
    assert_true(commands_take(world->commands));
    assert_int_equal(world->commands->count, COMMANDS_OPEN_MAX);
    commands_answer(world->commands, true);
    for (int64_t id = 0; id < COMMANDS_OPEN_MAX; id++)
        assert_answer(world, id, OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        T(a_trigger_is_answered_by_a_batch_and_all_available_by_none),
        T(who_still_waits_at_the_end_is_told),
        T(too_many_requests_are_refused_and_the_others_kept),
    };
    return cmocka_run_group_tests_name("worker/commands", tests, NULL, NULL);
}
