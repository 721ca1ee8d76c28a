#include "ipc/message.h"

#include "base/check.h"
#include "base/heap.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum direction {
    WORKER,
    SERVER,
};

static const struct {
    const char *name;
    enum direction direction;
    uint8_t numbers;
    uint8_t texts;
} kinds[] = {
#define MESSAGE(name, direction, numbers, texts) {#name, direction, numbers, texts},
#include "ipc/message.def"
#undef MESSAGE
};

#define MESSAGE(name, direction, numbers, texts)                                                   \
    _Static_assert((numbers) <= MESSAGE_NUMBERS_MAX && (texts) <= MESSAGE_TEXTS_MAX, #name);
#include "ipc/message.def"
#undef MESSAGE

const char *message_name(enum message_kind kind)
{
    CHECK((int)kind >= 0 && kind < MESSAGE_COUNT_);
    return kinds[kind].name;
}

bool message_is_from_worker(enum message_kind kind)
{
    CHECK((int)kind >= 0 && kind < MESSAGE_COUNT_);
    return kinds[kind].direction == WORKER;
}

static void put_u32(uint8_t *out, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

static uint32_t get_u32(const uint8_t *in)
{
    return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

static void put_u64(uint8_t *out, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get_u64(const uint8_t *in)
{
    return (uint64_t)get_u32(in) | (uint64_t)get_u32(in + 4) << 32;
}

enum status message_encode(const struct message *message, struct buffer *out, struct error *err)
{
    CHECK((int)message->kind >= 0 && message->kind < MESSAGE_COUNT_);
    size_t numbers = kinds[message->kind].numbers;
    size_t texts = kinds[message->kind].texts;
    size_t size = 1 + 8 * numbers;
    for (size_t i = 0; i < texts; i++) {
        if (message->text[i].size_bytes > MESSAGE_BYTES_MAX)
            size = (size_t)MESSAGE_BYTES_MAX + 1;
        else
            size += 4 + message->text[i].size_bytes;
    }
    if (size > MESSAGE_BYTES_MAX) {
        char limit[24];
        (void)snprintf(limit, sizeof limit, "%u", MESSAGE_BYTES_MAX);
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "a message between processes",
                           "limit", limit, NULL);
    }
    uint8_t *to = buffer_reserve(out, size + 4);
    put_u32(to, (uint32_t)size);
    to[4] = (uint8_t)message->kind;
    to += 5;
    for (size_t i = 0; i < numbers; i++, to += 8)
        put_u64(to, (uint64_t)message->number[i]);
    for (size_t i = 0; i < texts; i++) {
        size_t bytes = message->text[i].size_bytes;
        put_u32(to, (uint32_t)bytes);
        if (bytes != 0)
            memcpy(to + 4, message->text[i].data, bytes);
        to += 4 + bytes;
    }
    out->size_bytes += size + 4;
    return OK;
}

static enum status broken(struct error *err, const char *reason)
{
    return error_raise(err, STATUS_IPC_PROTOCOL, "reason", reason, NULL);
}

enum status message_decode(struct bytes in, struct message *out, size_t *size, struct error *err)
{
    *size = 0;
    if (in.size_bytes < 4)
        return OK;
    uint32_t length = get_u32(in.data);
    if (length < 1 || length > MESSAGE_BYTES_MAX)
        return broken(err, "the length of a message is out of range");
    if (in.size_bytes - 4 < length)
        return OK;
    const uint8_t *at = in.data + 4;
    const uint8_t *end = at + length;
    uint8_t type = *at++;
    if (type >= MESSAGE_COUNT_)
        return broken(err, "unknown type of message");
    struct message message = {.kind = (enum message_kind)type};
    size_t numbers = kinds[type].numbers;
    if ((size_t)(end - at) < 8 * numbers)
        return broken(err, "a message ends within its numbers");
    for (size_t i = 0; i < numbers; i++, at += 8)
        message.number[i] = (int64_t)get_u64(at);
    for (size_t i = 0; i < kinds[type].texts; i++) {
        if (end - at < 4)
            return broken(err, "a message ends within its texts");
        uint32_t bytes = get_u32(at);
        at += 4;
        if ((size_t)(end - at) < bytes)
            return broken(err, "a text goes beyond its message");
        message.text[i] = bytes_of(at, bytes);
        at += bytes;
    }
    if (at != end)
        return broken(err, "a message has bytes left over");
    *out = message;
    *size = (size_t)length + 4;
    return OK;
}

#define CHANNEL_MAGIC 0xc4a22e1U

struct message_channel {
    uint32_t magic;
    int fd;
    struct buffer in; /* received, from `taken` on not yet handed out */
    size_t taken;
    bool ended;        /* the peer has closed; what it wrote may not be handed out yet */
    struct buffer out; /* queued, from `written` on not yet written */
    size_t written;
};

struct message_channel *message_channel_open(int take_fd)
{
    CHECK(take_fd >= 0);
    struct message_channel *channel = heap_calloc(1, sizeof *channel);
    channel->magic = CHANNEL_MAGIC;
    channel->fd = take_fd;
    return channel;
}

void message_channel_close(struct message_channel *channel)
{
    if (channel == NULL)
        return;
    CHECK_MAGIC(channel, CHANNEL_MAGIC);
    (void)close(channel->fd);
    buffer_fini(&channel->in);
    buffer_fini(&channel->out);
    channel->magic = 0;
    free(channel);
}

int message_channel_fd(const struct message_channel *channel)
{
    CHECK_MAGIC(channel, CHANNEL_MAGIC);
    return channel->fd;
}

bool message_pending(const struct message_channel *channel)
{
    CHECK_MAGIC(channel, CHANNEL_MAGIC);
    return channel->written < channel->out.size_bytes;
}

static enum status closed(struct error *err, const char *reason)
{
    return error_raise(err, STATUS_IPC_CLOSED, "reason", reason, NULL);
}

enum status message_flush(struct message_channel *channel, struct error *err)
{
    CHECK_MAGIC(channel, CHANNEL_MAGIC);
    while (message_pending(channel)) {
        ssize_t wrote =
            send(channel->fd, channel->out.data + channel->written,
                 channel->out.size_bytes - channel->written, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (wrote > 0) {
            channel->written += (size_t)wrote;
            continue;
        }
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0 && errno == EAGAIN)
            return OK;
        return closed(err, wrote < 0 ? strerrordesc_np(errno) : "nothing was written");
    }
    channel->written = 0;
    buffer_clear(&channel->out);
    if (channel->out.capacity_bytes > 1U << 20)
        buffer_fini(&channel->out);
    return OK;
}

enum status message_send(struct message_channel *channel, const struct message *message,
                         struct error *err)
{
    CHECK_MAGIC(channel, CHANNEL_MAGIC);
    if (channel->out.size_bytes - channel->written > MESSAGE_BACKLOG_MAX) {
        char limit[24];
        (void)snprintf(limit, sizeof limit, "%u", MESSAGE_BACKLOG_MAX);
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what",
                           "what the other process has not read", "limit", limit, NULL);
    }
    if (channel->written > 0 && channel->written >= channel->out.size_bytes / 2) {
        size_t rest = channel->out.size_bytes - channel->written;
        memmove(channel->out.data, channel->out.data + channel->written, rest);
        channel->out.size_bytes = rest;
        channel->written = 0;
    }
    TRY(message_encode(message, &channel->out, err));
    return message_flush(channel, err);
}

enum status message_send_wait(struct message_channel *channel, const struct message *message,
                              int timeout_ms, struct error *err)
{
    TRY(message_send(channel, message, err));
    while (message_pending(channel)) {
        struct pollfd poll_fd = {.fd = channel->fd, .events = POLLOUT};
        int ready = poll(&poll_fd, 1, timeout_ms);
        if (ready == 0)
            return error_raise(err, STATUS_IPC_TIMEOUT, NULL);
        if (ready < 0 && errno != EINTR)
            return closed(err, strerrordesc_np(errno));
        TRY(message_flush(channel, err));
    }
    return OK;
}

#define RECEIVE_STEP_BYTES 65536

enum status message_receive(struct message_channel *channel, struct error *err)
{
    CHECK_MAGIC(channel, CHANNEL_MAGIC);
    if (channel->taken > 0) {
        size_t rest = channel->in.size_bytes - channel->taken;
        if (rest != 0)
            memmove(channel->in.data, channel->in.data + channel->taken, rest);
        channel->in.size_bytes = rest;
        channel->taken = 0;
        if (rest == 0 && channel->in.capacity_bytes > 1U << 20)
            buffer_fini(&channel->in);
    }
    for (;;) {
        uint8_t *to = buffer_reserve(&channel->in, RECEIVE_STEP_BYTES);
        ssize_t got = recv(channel->fd, to, RECEIVE_STEP_BYTES, MSG_DONTWAIT);
        if (got > 0) {
            channel->in.size_bytes += (size_t)got;
            if (got < RECEIVE_STEP_BYTES || channel->in.size_bytes > MESSAGE_BYTES_MAX)
                return OK;
            continue;
        }
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return OK;
        if (channel->in.size_bytes > 0 && !channel->ended) {
            channel->ended = true; /* what is complete is handed out first */
            return OK;
        }
        return closed(err, got < 0 ? strerrordesc_np(errno) : "the other process closed it");
    }
}

enum status message_next(struct message_channel *channel, struct message *out, bool *found,
                         struct error *err)
{
    CHECK_MAGIC(channel, CHANNEL_MAGIC);
    size_t size = 0;
    *found = false;
    TRY(message_decode(
        bytes_of(channel->in.data + channel->taken, channel->in.size_bytes - channel->taken), out,
        &size, err));
    if (size == 0)
        return OK;
    channel->taken += size;
    *found = true;
    return OK;
}

static size_t params_size(const struct error *err)
{
    const char *at = err->params;
    while (*at != '\0') {
        at += strlen(at) + 1; /* name */
        at += strlen(at) + 1; /* value */
    }
    return (size_t)(at - err->params);
}

void message_from_error(const struct error *err, char causes[MESSAGE_CAUSES_SIZE],
                        struct message *out)
{
    CHECK(err->status != OK);
    size_t used = 0;
    causes[0] = '\0';
    for (size_t i = 0; i < 3 && err->causes[i] != OK; i++) {
        int wrote = snprintf(causes + used, MESSAGE_CAUSES_SIZE - used, "%s%s", i == 0 ? "" : ",",
                             status_name(err->causes[i]));
        used += (size_t)wrote;
    }
    *out = (struct message){
        .kind = MESSAGE_FAILED,
        .number = {err->position, err->position_end},
        .text = {bytes_of_text(status_name(err->status)), bytes_of_text(err->text),
                 bytes_of(err->params, params_size(err)), bytes_of_text(err->pointer),
                 bytes_of_text(err->view), bytes_of_text(causes)},
    };
}

static void copy_text(char *to, size_t size, struct bytes from)
{
    size_t keep = from.size_bytes < size ? from.size_bytes : size - 1;
    if (keep != 0)
        memcpy(to, from.data, keep);
    to[keep] = '\0';
}

static enum status find_status(struct bytes name)
{
    char text[128];
    copy_text(text, sizeof text, name);
    return status_find(text);
}

/* Copies pairs of NUL-ended names and values; a list that is not well-formed ends early. */
static void copy_params(struct error *out, struct bytes params)
{
    size_t used = 0;
    while (used < params.size_bytes) {
        const uint8_t *name = params.data + used;
        size_t left = params.size_bytes - used;
        const uint8_t *name_end = memchr(name, 0, left);
        if (name_end == NULL || name_end == name)
            break;
        left -= (size_t)(name_end + 1 - name);
        const uint8_t *value_end = left == 0 ? NULL : memchr(name_end + 1, 0, left);
        if (value_end == NULL)
            break;
        size_t pair = (size_t)(value_end + 1 - name);
        if (used + pair + 2 > ERROR_PARAMS_MAX)
            break;
        memcpy(out->params + used, name, pair);
        used += pair;
    }
    out->params[used] = '\0';
    out->params[used + 1] = '\0';
}

void message_to_error(const struct message *failed, struct error *out)
{
    CHECK(failed->kind == MESSAGE_FAILED);
    error_clear(out);
    out->status = find_status(failed->text[0]);
    if (out->status == OK)
        out->status = STATUS_INTERNAL_ERROR;
    out->position =
        failed->number[0] < -1 || failed->number[0] > INT32_MAX ? -1 : (int)failed->number[0];
    out->position_end =
        failed->number[1] < -1 || failed->number[1] > INT32_MAX ? -1 : (int)failed->number[1];
    copy_text(out->text, sizeof out->text, failed->text[1]);
    copy_params(out, failed->text[2]);
    copy_text(out->pointer, sizeof out->pointer, failed->text[3]);
    copy_text(out->view, sizeof out->view, failed->text[4]);
    struct bytes causes = failed->text[5];
    for (size_t i = 0; i < 3 && causes.size_bytes != 0; i++) {
        const uint8_t *comma = memchr(causes.data, ',', causes.size_bytes);
        size_t size = comma == NULL ? causes.size_bytes : (size_t)(comma - causes.data);
        out->causes[i] = find_status(bytes_of(causes.data, size));
        if (out->causes[i] == OK)
            break;
        if (comma == NULL)
            break;
        causes = bytes_of(comma + 1, causes.size_bytes - size - 1);
    }
}
