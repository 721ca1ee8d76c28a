/* Hadoop's block streams: see block_codec.h. */
#include "format/block_codec.h"

#include "base/check.h"
#include "base/heap.h"
#include "format/codec_library.h"

#include <stdlib.h>

#define BLOCK_BYTES     ((size_t)256 << 10) /* io.compression.codec.{lz4,snappy}.buffersize */
#define CHUNK_BYTES_MAX ((size_t)64 << 20)
#define PLAIN_BYTES_MAX ((size_t)256 << 20)
#define LZ4_RATIO_MAX   255
#define SNAPPY_RATIO    24 /* a copy of 64 bytes takes 3 */
#define NUMBER_BYTES    4

/* Reading. */

struct block_reader {
    enum codec codec;
    struct buffer held; /* of a number or a chunk that has not come to its end */
    bool in_chunk;
    size_t chunk_bytes;
    size_t block_left; /* plain bytes of the block that no chunk has given yet */
    uint8_t *plain;    /* of the last chunk */
    size_t plain_room;
    size_t plain_at;
    size_t plain_end;
};

struct block_reader *block_reader_new(enum codec codec)
{
    struct block_reader *reader = heap_calloc(1, sizeof *reader);
    reader->codec = codec;
    return reader;
}

void block_reader_free(struct block_reader *reader)
{
    if (reader == NULL)
        return;
    buffer_fini(&reader->held);
    free(reader->plain);
    free(reader);
}

/* True when `size_bytes` are held. */
static bool hold(struct block_reader *reader, struct bytes *in, size_t size_bytes)
{
    size_t wanted = size_bytes - reader->held.size_bytes;
    size_t part = wanted < in->size_bytes ? wanted : in->size_bytes;
    buffer_add_bytes(&reader->held, bytes_of(in->data, part));
    *in = bytes_of(in->data + part, in->size_bytes - part);
    return part == wanted;
}

static bool take_number(struct block_reader *reader, struct bytes *in, size_t *out)
{
    if (!hold(reader, in, NUMBER_BYTES))
        return false;
    *out = 0;
    for (int i = 0; i < NUMBER_BYTES; i++)
        *out = *out << 8 | reader->held.data[i];
    buffer_clear(&reader->held);
    return true;
}

/* How much the held chunk may give; 0 if it is broken. */
static size_t plain_bytes(const struct block_reader *reader)
{
    struct bytes chunk = buffer_bytes(&reader->held);
    size_t ratio = reader->codec == CODEC_LZ4 ? LZ4_RATIO_MAX : SNAPPY_RATIO;
    size_t limit = chunk.size_bytes * ratio;
    limit = limit < reader->block_left ? limit : reader->block_left;
    limit = limit < PLAIN_BYTES_MAX ? limit : PLAIN_BYTES_MAX;
    size_t size = 0;
    if (reader->codec == CODEC_LZ4)
        return limit;
    if (codec_library.snappy_plain_bytes((const char *)chunk.data, chunk.size_bytes, &size) != 0 ||
        size > limit)
        return 0;
    return size;
}

static bool expand(struct block_reader *reader)
{
    struct bytes chunk = buffer_bytes(&reader->held);
    size_t size = plain_bytes(reader);
    if (size == 0)
        return false;
    if (size > reader->plain_room) {
        free(reader->plain);
        reader->plain = heap_malloc(size);
        reader->plain_room = size;
    }
    char *plain = (char *)reader->plain;
    const char *data = (const char *)chunk.data;
    if (reader->codec == CODEC_SNAPPY) {
        if (codec_library.snappy_read(data, chunk.size_bytes, plain, &size) != 0)
            return false;
    } else {
        int made = codec_library.lz4_read(data, plain, (int)chunk.size_bytes, (int)size);
        if (made <= 0)
            return false;
        size = (size_t)made;
    }
    buffer_clear(&reader->held);
    reader->plain_at = 0;
    reader->plain_end = size;
    reader->block_left -= size;
    return true;
}

/* The beginning of a block, of a chunk, or the end of a chunk. */
static enum step_result advance(struct block_reader *reader, struct bytes *in)
{
    if (reader->in_chunk) {
        if (!hold(reader, in, reader->chunk_bytes))
            return STEP_MORE;
        reader->in_chunk = false;
        return expand(reader) ? STEP_MORE : STEP_BROKEN;
    }
    if (reader->block_left == 0) {
        if (!take_number(reader, in, &reader->block_left))
            return STEP_MORE;
        return reader->block_left == 0 ? STEP_STREAM_END : STEP_MORE;
    }
    if (!take_number(reader, in, &reader->chunk_bytes))
        return STEP_MORE;
    if (reader->chunk_bytes == 0 || reader->chunk_bytes > CHUNK_BYTES_MAX)
        return STEP_BROKEN;
    reader->in_chunk = true;
    return STEP_MORE;
}

enum step_result block_read(struct block_reader *reader, struct bytes *in, struct bytes_out *out)
{
    enum step_result result = STEP_MORE;
    while (result == STEP_MORE && reader->plain_at == reader->plain_end && in->size_bytes > 0)
        result = advance(reader, in);
    size_t part = reader->plain_end - reader->plain_at;
    if (result == STEP_BROKEN || part == 0)
        return result;
    part = part < out->size_bytes ? part : out->size_bytes;
    memcpy(out->data, reader->plain + reader->plain_at, part);
    out->data += part;
    out->size_bytes -= part;
    reader->plain_at += part;
    bool over = reader->plain_at == reader->plain_end && reader->block_left == 0;
    return over ? STEP_STREAM_END : STEP_MORE;
}

/* Writing. */

struct block_writer {
    enum codec codec;
    size_t block_bytes;
    struct buffer plain;
    bool some; /* a block is written */
};

/* A block and the most that compression can add to it fit Hadoop's buffer. */
struct block_writer *block_writer_new(enum codec codec)
{
    struct block_writer *writer = heap_calloc(1, sizeof *writer);
    writer->codec = codec;
    writer->block_bytes = codec == CODEC_LZ4 ? BLOCK_BYTES - (BLOCK_BYTES / 255 + 16)
                                             : BLOCK_BYTES - (BLOCK_BYTES / 6 + 32);
    return writer;
}

void block_writer_free(struct block_writer *writer)
{
    if (writer == NULL)
        return;
    buffer_fini(&writer->plain);
    free(writer);
}

static void put_number(struct buffer *out, size_t value)
{
    for (int i = NUMBER_BYTES - 1; i >= 0; i--)
        buffer_add_byte(out, (uint8_t)(value >> (8 * i)));
}

static void put_block(struct block_writer *writer, struct buffer *out)
{
    struct bytes plain = buffer_bytes(&writer->plain);
    put_number(out, plain.size_bytes);
    writer->some = true;
    if (plain.size_bytes == 0)
        return;
    size_t size = writer->codec == CODEC_LZ4
                      ? (size_t)codec_library.lz4_bound((int)plain.size_bytes)
                      : codec_library.snappy_bound(plain.size_bytes);
    size_t head = out->size_bytes;
    put_number(out, 0);
    char *to = (char *)buffer_reserve(out, size);
    if (writer->codec == CODEC_SNAPPY) {
        CHECK(codec_library.snappy_write((const char *)plain.data, plain.size_bytes, to, &size) ==
              0);
    } else {
        int made =
            codec_library.lz4_write((const char *)plain.data, to, (int)plain.size_bytes, (int)size);
        CHECK(made > 0);
        size = (size_t)made;
    }
    out->size_bytes = head;
    put_number(out, size);
    out->size_bytes += size;
    buffer_clear(&writer->plain);
}

void block_write(struct block_writer *writer, struct bytes plain, bool last, struct buffer *out)
{
    while (plain.size_bytes > 0) {
        size_t room = writer->block_bytes - writer->plain.size_bytes;
        size_t part = room < plain.size_bytes ? room : plain.size_bytes;
        buffer_add_bytes(&writer->plain, bytes_of(plain.data, part));
        plain = bytes_of(plain.data + part, plain.size_bytes - part);
        if (writer->plain.size_bytes == writer->block_bytes)
            put_block(writer, out);
    }
    if (last && (writer->plain.size_bytes > 0 || !writer->some))
        put_block(writer, out);
}
