/*
 * The messages between server and worker, over one end each of a socketpair.
 *
 * The list is message.def.  On the wire a message is
 *
 *     u32 length of what follows · u8 type · its numbers, 8 bytes each · its texts, u32 length +
 * bytes
 *
 * all little-endian, the counts being those of message.def.  Anything else (an unknown type, a
 * length over MESSAGE_BYTES_MAX, a text beyond the end, bytes left over) is an error after which
 * the channel is useless: the peer is another version or broken.
 *
 * The protocol: the worker says HELLO first, then PLAN once it has one, STATE at each change of
 * phase (at most a few per batch), PROGRESS and BATCH after each committed batch, and ends with
 * FINISHED or FAILED before it closes.  TRIGGER, PROCESS_ALL_AVAILABLE and READ_RESULTS carry a
 * request id that comes back in REPLY or RESULT.  A closed socket means the other side is gone:
 * a worker then finishes or abandons its batch and exits.
 *
 * Threads: one thread at a time per channel and direction (one may send while another receives).
 */
#ifndef SERVER_IPC_MESSAGE_H
#define SERVER_IPC_MESSAGE_H

#include "base/buffer.h"

#define MESSAGE_PROTOCOL_VERSION 1
#define MESSAGE_BYTES_MAX        (16U << 20)
#define MESSAGE_BACKLOG_MAX      (64U << 20)
#define MESSAGE_NUMBERS_MAX      2
#define MESSAGE_TEXTS_MAX        6

enum message_kind {
#define MESSAGE(name, direction, numbers, texts) MESSAGE_##name,
#include "ipc/message.def"
#undef MESSAGE
    MESSAGE_COUNT_
};

struct message {
    enum message_kind kind;
    int64_t number[MESSAGE_NUMBERS_MAX];
    struct bytes text[MESSAGE_TEXTS_MAX]; /* received: borrowed until the next receive */
};

const char *message_name(enum message_kind kind); /* "HELLO" */
bool message_is_from_worker(enum message_kind kind);

/* Appends the wire form.  Errors: LIMIT_EXCEEDED. */
MUST_USE enum status message_encode(const struct message *message, struct buffer *out,
                                    struct error *err);

/*
 * Takes the message at the start of `in`: *size is the number of bytes it occupied, 0 if it is
 * not complete yet.  Texts point into `in`.  Errors: IPC_PROTOCOL.
 */
MUST_USE enum status message_decode(struct bytes in, struct message *out, size_t *size,
                                    struct error *err);

struct message_channel;

/* Takes the descriptor of a connected stream socket. */
struct message_channel *message_channel_open(int take_fd);
void message_channel_close(struct message_channel *channel); /* NULL is fine */
int message_channel_fd(const struct message_channel *channel);

/*
 * Queues a message and writes as much as goes without waiting; message_pending() tells whether
 * something is left, which message_flush() writes when poll says POLLOUT.
 * Errors: IPC_CLOSED, LIMIT_EXCEEDED (the peer has not read MESSAGE_BACKLOG_MAX bytes).
 */
MUST_USE enum status message_send(struct message_channel *channel, const struct message *message,
                                  struct error *err);
bool message_pending(const struct message_channel *channel);
MUST_USE enum status message_flush(struct message_channel *channel, struct error *err);

/* As message_send, and waits up to timeout_ms (-1: for ever) until all is written.
 * Errors: also IPC_TIMEOUT; the rest stays queued. */
MUST_USE enum status message_send_wait(struct message_channel *channel,
                                       const struct message *message, int timeout_ms,
                                       struct error *err);

/*
 * Reads what is there, without waiting; then message_next() gives the messages one by one until
 * *found is false.  Errors: IPC_CLOSED when the peer is gone and all is read; IPC_PROTOCOL.
 */
MUST_USE enum status message_receive(struct message_channel *channel, struct error *err);
MUST_USE enum status message_next(struct message_channel *channel, struct message *out, bool *found,
                                  struct error *err);

/* FAILED from an error, and back.  Texts are borrowed from err and `causes`. */
#define MESSAGE_CAUSES_SIZE 400
void message_from_error(const struct error *err, char causes[MESSAGE_CAUSES_SIZE],
                        struct message *out);
void message_to_error(const struct message *failed, struct error *out);

#endif
