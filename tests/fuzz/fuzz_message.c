/*
 * Any bytes as messages between server and worker: each is refused, incomplete, or a message that
 * encodes to the same bytes again; an error in it survives.
 */
#include "base/check.h"
#include "ipc/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes rest = bytes_of(data, size);
    for (;;) {
        struct message message;
        struct error err = ERROR_INIT, carried;
        size_t taken = 0;
        if (message_decode(rest, &message, &taken, &err) != OK) {
            CHECK(err.status == STATUS_IPC_PROTOCOL);
            return 0;
        }
        if (taken == 0)
            return 0;
        CHECK(taken <= rest.size_bytes);
        struct buffer again = {0};
        CHECK(message_encode(&message, &again, &err) == OK);
        CHECK(bytes_equal(buffer_bytes(&again), bytes_of(rest.data, taken)));
        buffer_fini(&again);
        if (message.kind == MESSAGE_FAILED) {
            message_to_error(&message, &carried);
            CHECK(carried.status != OK);
            (void)error_param(&carried, "x");
        }
        rest = bytes_of(rest.data + taken, rest.size_bytes - taken);
    }
}
