#include "ipc/message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/socket.h>
#include <unistd.h>

static const struct message progress = {.kind = MESSAGE_PROGRESS, .number = {7}};

static void every_kind_survives_the_wire(void **state)
{
    (void)state;
    for (int kind = 0; kind < MESSAGE_COUNT_; kind++) {
        struct error err = ERROR_INIT;
        struct buffer out = {0};
        struct message sent = {.kind = (enum message_kind)kind, .number = {-3, 1LL << 40}};
        for (size_t i = 0; i < MESSAGE_TEXTS_MAX; i++)
            sent.text[i] = bytes_of("abcdef", i);
        assert_int_equal(message_encode(&sent, &out, &err), OK);
        struct message got;
        size_t size = 0;
        assert_int_equal(message_decode(buffer_bytes(&out), &got, &size, &err), OK);
        assert_int_equal(size, out.size_bytes);
        assert_int_equal(got.kind, kind);
        for (size_t cut = 0; cut < out.size_bytes; cut++) {
            assert_int_equal(message_decode(bytes_of(out.data, cut), &got, &size, &err), OK);
            assert_int_equal(size, 0);
        }
        buffer_fini(&out);
    }
}

static void broken_messages_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *why;
        uint8_t bytes[16];
        size_t size;
    } cases[] = {
        {"length zero", {0, 0, 0, 0}, 4},
        {"length over the limit", {0, 0, 0, 0x7f}, 4},
        {"unknown type", {1, 0, 0, 0, 200}, 5},
        {"ends within its numbers", {3, 0, 0, 0, MESSAGE_PING, 1, 2}, 7},
        {"bytes left over", {10, 0, 0, 0, MESSAGE_PING, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 14},
        {"text beyond the end", {5, 0, 0, 0, MESSAGE_FINISHED, 9, 0, 0, 0}, 9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].why);
        struct error err = ERROR_INIT;
        struct message got;
        size_t size = 0;
        assert_int_equal(message_decode(bytes_of(cases[i].bytes, cases[i].size), &got, &size, &err),
                         STATUS_IPC_PROTOCOL);
    }
}

static void an_error_survives_the_wire(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    (void)error_raise_at(&err, STATUS_IO_FAILURE, 3, 9, "path", "/a", "reason", "", NULL);
    (void)error_cause(&err, STATUS_FAILED_READ_FILE__NO_HINT, "while reading");
    char causes[MESSAGE_CAUSES_SIZE];
    struct message sent, got;
    message_from_error(&err, causes, &sent);
    struct buffer out = {0};
    size_t size = 0;
    struct error back = ERROR_INIT;
    assert_int_equal(message_encode(&sent, &out, &back), OK);
    assert_int_equal(message_decode(buffer_bytes(&out), &got, &size, &back), OK);
    message_to_error(&got, &back);
    assert_int_equal(back.status, STATUS_FAILED_READ_FILE__NO_HINT);
    assert_int_equal(back.causes[0], STATUS_IO_FAILURE);
    assert_int_equal(back.causes[1], OK);
    assert_int_equal(back.position, 3);
    assert_int_equal(back.position_end, 9);
    assert_string_equal(back.text, err.text);
    assert_string_equal(error_param(&back, "path"), "/a");
    assert_string_equal(error_param(&back, "reason"), "");
    buffer_fini(&out);
}

static void a_channel_delivers_in_order_and_notices_the_end(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    struct message_channel *a = message_channel_open(fds[0]);
    struct message_channel *b = message_channel_open(fds[1]);
    struct error err = ERROR_INIT;
    struct message message = progress;
    for (int i = 0; i < 100; i++) {
        message.number[0] = i;
        message.text[0] = bytes_of("{}", 2);
        assert_int_equal(message_send(a, &message, &err), OK);
    }
    assert_false(message_pending(a));
    message_channel_close(a);
    assert_int_equal(message_receive(b, &err), OK);
    bool found = true;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(message_next(b, &message, &found, &err), OK);
        assert_true(found);
        assert_int_equal(message.number[0], i);
    }
    assert_int_equal(message_next(b, &message, &found, &err), OK);
    assert_false(found);
    assert_int_equal(message_receive(b, &err), STATUS_IPC_CLOSED);
    message_channel_close(b);
}

static void a_torn_message_is_never_delivered(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    struct message_channel *b = message_channel_open(fds[1]);
    assert_int_equal(write(fds[0], "\x09\0\0\0\x0e\1", 6), 6);
    assert_int_equal(close(fds[0]), 0);
    struct error err = ERROR_INIT;
    struct message message;
    bool found = true;
    enum status status = OK;
    for (int i = 0; i < 3 && status == OK; i++) {
        status = message_receive(b, &err);
        if (status == OK) {
            assert_int_equal(message_next(b, &message, &found, &err), OK);
            assert_false(found);
        }
    }
    assert_int_equal(status, STATUS_IPC_CLOSED);
    message_channel_close(b);
}

static void what_the_peer_does_not_read_is_bounded(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    struct message_channel *a = message_channel_open(fds[0]);
    static uint8_t big[8U << 20];
    struct message message = {.kind = MESSAGE_PROGRESS, .text = {bytes_of(big, sizeof big)}};
    struct error err = ERROR_INIT;
    enum status status = OK;
    for (int i = 0; i < 12 && status == OK; i++)
        status = message_send(a, &message, &err);
    assert_int_equal(status, STATUS_LIMIT_EXCEEDED);
    assert_int_equal(message_send_wait(a, &progress, 0, &err), STATUS_LIMIT_EXCEEDED);
    message_channel_close(a);
    (void)close(fds[1]);
}

static void a_peer_that_has_stopped_reading_is_not_waited_for_for_ever(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    struct message_channel *a = message_channel_open(fds[0]);
    struct message_channel *b = message_channel_open(fds[1]);
    static uint8_t big[8U << 20];
    struct message message = {.kind = MESSAGE_PROGRESS, .text = {bytes_of(big, sizeof big)}};
    struct error err = ERROR_INIT;
    assert_int_equal(message_send_wait(a, &message, 0, &err), STATUS_IPC_TIMEOUT);
    assert_true(message_pending(a)); /* and nothing of it is lost */
    struct message got;
    bool found = false;
    error_clear(&err);
    while (!found) {
        assert_int_equal(message_flush(a, &err), OK);
        assert_int_equal(message_receive(b, &err), OK);
        assert_int_equal(message_next(b, &got, &found, &err), OK);
    }
    assert_int_equal(got.text[0].size_bytes, sizeof big);
    assert_false(message_pending(a));
    message_channel_close(a);
    message_channel_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_survives_the_wire),
        cmocka_unit_test(broken_messages_are_refused),
        cmocka_unit_test(an_error_survives_the_wire),
        cmocka_unit_test(a_channel_delivers_in_order_and_notices_the_end),
        cmocka_unit_test(a_torn_message_is_never_delivered),
        cmocka_unit_test(what_the_peer_does_not_read_is_bounded),
        cmocka_unit_test(a_peer_that_has_stopped_reading_is_not_waited_for_for_ever),
    };
    return cmocka_run_group_tests_name("ipc/message", tests, NULL, NULL) != 0;
}
