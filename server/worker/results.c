/*
 * See results.h.
 */
#include "worker/results.h"

#include "base/check.h"

#define CHUNK_BYTES ((size_t)1 << 20)

/* The end of the last whole line within the limit. */
static size_t chunk_size(struct bytes text)
{
    if (text.size_bytes <= CHUNK_BYTES)
        return text.size_bytes;
    for (size_t i = CHUNK_BYTES; i > 0; i--)
        if (text.data[i - 1] == '\n')
            return i;
    return CHUNK_BYTES;
}

static void send_chunks(struct control *control, int64_t request_id, struct bytes text)
{
    do {
        size_t size = chunk_size(text);
        struct message message = {
            .kind = MESSAGE_RESULT,
            .number = {request_id, size == text.size_bytes ? 1 : 0},
            .text = {bytes_of(text.data, size)},
        };
        control_send(control, &message);
        text = bytes_of(text.data + size, text.size_bytes - size);
    } while (text.size_bytes > 0);
}

void results_send(struct query *query, struct control *control,
                  const struct control_command *command)
{
    struct error err = ERROR_INIT;
    struct buffer rows = {0};
    const struct sink_ops *ops = query->sink->ops;
    if (ops->results == NULL || command->rows < 0) {
        error_raise(&err, STATUS_RESULTS_NOT_AVAILABLE, "query", query->name, "reason",
                    "its sink keeps no rows that could be read here", NULL);
        control_reply(control, command->request_id, &err);
    } else if (ops->results(query->sink, (uint64_t)command->rows, &rows, &err) != OK) {
        control_reply(control, command->request_id, &err);
    } else {
        send_chunks(control, command->request_id, buffer_bytes(&rows));
    }
    buffer_fini(&rows);
}
