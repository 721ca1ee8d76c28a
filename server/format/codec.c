/* Codecs: see codec.h.  Each codec is one step function from input bytes to output bytes. */
#include "format/codec.h"

#include "base/check.h"
#include "base/heap.h"
#include "format/block_codec.h"
#include "format/codec_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define IN_BYTES       ((size_t)64 * 1024)
#define OUT_STEP_BYTES ((size_t)64 * 1024)

static const struct {
    enum codec codec;
    const char *name;
    const char *extension;
} codecs[] = {
    {CODEC_GZIP, "gzip", ".gz"},    {CODEC_DEFLATE, "deflate", ".deflate"},
    {CODEC_BZIP2, "bzip2", ".bz2"}, {CODEC_ZSTD, "zstd", ".zst"},
    {CODEC_LZ4, "lz4", ".lz4"},     {CODEC_SNAPPY, "snappy", ".snappy"},
    {CODEC_NONE, "none", ""},       {CODEC_NONE, "uncompressed", ""},
};
#define CODEC_COUNT (sizeof codecs / sizeof codecs[0])

enum codec codec_of_path(const char *path)
{
    size_t size = strlen(path);
    for (size_t i = 0; i < CODEC_COUNT; i++) {
        size_t ending = strlen(codecs[i].extension);
        if (ending > 0 && size >= ending && strcmp(path + size - ending, codecs[i].extension) == 0)
            return codecs[i].codec;
    }
    return CODEC_NONE;
}

bool path_is_compressed(const char *path)
{
    return codec_of_path(path) != CODEC_NONE;
}

enum status codec_find(const char *name, enum codec *out, struct error *err)
{
    for (size_t i = 0; i < CODEC_COUNT; i++) {
        if (strcasecmp(codecs[i].name, name) == 0) {
            *out = codecs[i].codec;
            return OK;
        }
    }
    return error_raise(err, STATUS_CODEC_NOT_AVAILABLE__WITH_AVAILABLE_CODECS_SUGGESTION,
                       "codecName", name, "availableCodecs",
                       "bzip2, deflate, gzip, lz4, none, snappy, uncompressed, zstd", NULL);
}

const char *codec_extension(enum codec codec)
{
    for (size_t i = 0; i < CODEC_COUNT; i++) {
        if (codecs[i].codec == codec)
            return codecs[i].extension;
    }
    return "";
}

/* Reading. */

struct codec_stream {
    struct byte_stream base;
    enum codec codec;
    struct byte_stream *inner;
    char *path;
    uint8_t *in;
    size_t in_start, in_end;
    bool inner_done;
    bool between; /* at the start of a compressed stream: the end of the file is fine here */
    bool some;    /* one has been read to its end */
    z_stream zlib;
    bz_stream bzip2;
    ZSTD_DStream *zstd;
    struct block_reader *blocks;
};

static enum status broken(const struct codec_stream *stream, bool ends_early, struct error *err)
{
    const char *name = "";
    for (size_t i = 0; i < CODEC_COUNT; i++) {
        if (codecs[i].codec == stream->codec)
            name = codecs[i].name;
    }
    (void)error_raise(err, STATUS_FAILED_READ_FILE__NO_HINT, "path", stream->path, NULL);
    size_t used = strlen(err->text);
    (void)snprintf(
        err->text + used, sizeof err->text - used,
        ends_early ? ": it ends within its %s data" : ": its %s data is damaged, or none", name);
    return err->status;
}

/* zlib's "32 +" detects gzip; deflate files of Hadoop have the zlib header. */
static bool step_begin(struct codec_stream *stream)
{
    switch (stream->codec) {
    case CODEC_GZIP:
    case CODEC_DEFLATE:
        stream->zlib = (z_stream){0};
        return codec_library.inflate_init(&stream->zlib, stream->codec == CODEC_GZIP ? 16 + 15 : 15,
                                          ZLIB_VERSION, (int)sizeof(z_stream)) == Z_OK;
    case CODEC_BZIP2:
        stream->bzip2 = (bz_stream){0};
        return codec_library.bz_decompress_init(&stream->bzip2, 0, 0) == BZ_OK;
    case CODEC_ZSTD:
        stream->zstd = codec_library.zstd_new_reader();
        return stream->zstd != NULL;
    case CODEC_LZ4:
    case CODEC_SNAPPY:
        stream->blocks = block_reader_new(stream->codec);
        return true;
    case CODEC_NONE:
        break;
    }
    return false;
}

static void step_end(struct codec_stream *stream)
{
    switch (stream->codec) {
    case CODEC_GZIP:
    case CODEC_DEFLATE:
        (void)codec_library.inflate_end(&stream->zlib);
        break;
    case CODEC_BZIP2:
        (void)codec_library.bz_decompress_end(&stream->bzip2);
        break;
    case CODEC_ZSTD:
        (void)codec_library.zstd_free_reader(stream->zstd);
        break;
    case CODEC_LZ4:
    case CODEC_SNAPPY:
        block_reader_free(stream->blocks);
        break;
    case CODEC_NONE:
        break;
    }
}

static enum step_result step_zlib(struct codec_stream *stream, struct bytes_out *out)
{
    z_stream *zlib = &stream->zlib;
    zlib->next_in = stream->in + stream->in_start;
    zlib->avail_in = (uInt)(stream->in_end - stream->in_start);
    zlib->next_out = out->data;
    zlib->avail_out = (uInt)(out->size_bytes > IN_BYTES * 64 ? IN_BYTES * 64 : out->size_bytes);
    uInt room = zlib->avail_out;
    int result = codec_library.inflate(zlib, Z_NO_FLUSH);
    stream->in_start = stream->in_end - zlib->avail_in;
    size_t made = room - zlib->avail_out;
    out->data += made;
    out->size_bytes -= made;
    if (result == Z_STREAM_END) {
        (void)codec_library.inflate_reset(zlib);
        return STEP_STREAM_END;
    }
    return result == Z_OK || result == Z_BUF_ERROR ? STEP_MORE : STEP_BROKEN;
}

static enum step_result step_bzip2(struct codec_stream *stream, struct bytes_out *out)
{
    bz_stream *bzip2 = &stream->bzip2;
    bzip2->next_in = (char *)stream->in + stream->in_start;
    bzip2->avail_in = (unsigned)(stream->in_end - stream->in_start);
    bzip2->next_out = (char *)out->data;
    bzip2->avail_out =
        (unsigned)(out->size_bytes > IN_BYTES * 64 ? IN_BYTES * 64 : out->size_bytes);
    unsigned room = bzip2->avail_out;
    int result = codec_library.bz_decompress(bzip2);
    stream->in_start = stream->in_end - bzip2->avail_in;
    size_t made = room - bzip2->avail_out;
    out->data += made;
    out->size_bytes -= made;
    if (result != BZ_STREAM_END)
        return result == BZ_OK ? STEP_MORE : STEP_BROKEN;
    (void)codec_library.bz_decompress_end(bzip2);
    *bzip2 = (bz_stream){0};
    return codec_library.bz_decompress_init(bzip2, 0, 0) == BZ_OK ? STEP_STREAM_END : STEP_BROKEN;
}

static enum step_result step_zstd(struct codec_stream *stream, struct bytes_out *out)
{
    ZSTD_inBuffer in = {stream->in + stream->in_start, stream->in_end - stream->in_start, 0};
    ZSTD_outBuffer to = {out->data, out->size_bytes, 0};
    size_t result = codec_library.zstd_read(stream->zstd, &to, &in);
    stream->in_start += in.pos;
    out->data += to.pos;
    out->size_bytes -= to.pos;
    if (codec_library.zstd_is_error(result))
        return STEP_BROKEN;
    return result == 0 ? STEP_STREAM_END : STEP_MORE;
}

static enum step_result step_blocks(struct codec_stream *stream, struct bytes_out *out)
{
    struct bytes in = bytes_of(stream->in + stream->in_start, stream->in_end - stream->in_start);
    enum step_result result = block_read(stream->blocks, &in, out);
    stream->in_start = stream->in_end - in.size_bytes;
    return result;
}

static enum step_result step(struct codec_stream *stream, struct bytes_out *out)
{
    switch (stream->codec) {
    case CODEC_GZIP:
    case CODEC_DEFLATE:
        return step_zlib(stream, out);
    case CODEC_BZIP2:
        return step_bzip2(stream, out);
    case CODEC_ZSTD:
        return step_zstd(stream, out);
    case CODEC_LZ4:
    case CODEC_SNAPPY:
        return step_blocks(stream, out);
    case CODEC_NONE:
        break;
    }
    return STEP_BROKEN;
}

static enum status refill(struct codec_stream *stream, struct error *err)
{
    if (stream->in_start < stream->in_end || stream->inner_done)
        return OK;
    size_t got = 0;
    TRY(stream->inner->read(stream->inner, stream->in, IN_BYTES, &got, err));
    stream->in_start = 0;
    stream->in_end = got;
    stream->inner_done = got == 0;
    return OK;
}

static enum status codec_stream_read(struct byte_stream *self, uint8_t *out, size_t size_bytes,
                                     size_t *read_bytes, struct error *err)
{
    struct codec_stream *stream = (struct codec_stream *)self;
    struct bytes_out to = {.size_bytes = size_bytes};
    to.data = out;
    *read_bytes = 0;
    while (to.size_bytes == size_bytes && size_bytes > 0) {
        TRY(refill(stream, err));
        bool starved = stream->in_start == stream->in_end;
        if (starved && stream->between)
            return OK;
        if (stream->between && stream->codec == CODEC_BZIP2 && stream->some &&
            stream->in[stream->in_start] != 'B')
            return OK; /* as in Hadoop and bzip2, what follows the last stream is passed over */
        size_t before = stream->in_start;
        enum step_result result = step(stream, &to);
        if (result == STEP_BROKEN)
            return broken(stream, false, err);
        if (result == STEP_STREAM_END)
            stream->between = stream->some = true;
        else if (stream->in_start > before)
            stream->between = false;
        if (starved && result == STEP_MORE && to.size_bytes == size_bytes)
            return broken(stream, true, err);
    }
    *read_bytes = size_bytes - to.size_bytes;
    return OK;
}

static void codec_stream_close(struct byte_stream *self)
{
    struct codec_stream *stream = (struct codec_stream *)self;
    step_end(stream);
    stream->inner->close(stream->inner);
    free(stream->in);
    free(stream->path);
    free(stream);
}

enum status codec_stream_open(enum codec codec, struct byte_stream *take, const char *path,
                              struct byte_stream **out, struct error *err)
{
    enum status loaded = codec_load(codec, err);
    if (loaded != OK) {
        take->close(take);
        return loaded;
    }
    struct codec_stream *stream = heap_calloc(1, sizeof *stream);
    *stream = (struct codec_stream){
        .base = {codec_stream_read, codec_stream_close},
        .codec = codec,
        .inner = take,
        .path = heap_strdup(path),
        .in = heap_malloc(IN_BYTES),
        .between = true,
    };
    CHECK(step_begin(stream)); /* fails only for want of memory */
    *out = &stream->base;
    return OK;
}

/* Writing. */

struct encoder {
    enum codec codec;
    z_stream zlib;
    bz_stream bzip2;
    ZSTD_CStream *zstd;
    struct block_writer *blocks;
};

struct encoder *encoder_new(enum codec codec)
{
    struct encoder *encoder = heap_calloc(1, sizeof *encoder);
    encoder->codec = codec;
    bool ok = true;
    if (codec == CODEC_GZIP || codec == CODEC_DEFLATE) {
        ok = codec_library.deflate_init(&encoder->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                                        codec == CODEC_GZIP ? 16 + 15 : 15, 8, Z_DEFAULT_STRATEGY,
                                        ZLIB_VERSION, (int)sizeof(z_stream)) == Z_OK;
    } else if (codec == CODEC_BZIP2) {
        ok = codec_library.bz_compress_init(&encoder->bzip2, 9, 0, 0) == BZ_OK;
    } else if (codec == CODEC_ZSTD) {
        encoder->zstd = codec_library.zstd_new_writer();
        ok = encoder->zstd != NULL &&
             !codec_library.zstd_is_error(codec_library.zstd_init_writer(encoder->zstd, 3));
    } else if (codec == CODEC_LZ4 || codec == CODEC_SNAPPY) {
        encoder->blocks = block_writer_new(codec);
    }
    CHECK(ok); /* they fail only for want of memory */
    return encoder;
}

void encoder_free(struct encoder *encoder)
{
    if (encoder == NULL)
        return;
    if (encoder->codec == CODEC_GZIP || encoder->codec == CODEC_DEFLATE)
        (void)codec_library.deflate_end(&encoder->zlib);
    if (encoder->codec == CODEC_BZIP2)
        (void)codec_library.bz_compress_end(&encoder->bzip2);
    if (encoder->codec == CODEC_ZSTD)
        (void)codec_library.zstd_free_writer(encoder->zstd);
    block_writer_free(encoder->blocks);
    free(encoder);
}

static bool write_zlib(struct encoder *encoder, struct bytes *plain, bool last, struct buffer *out)
{
    z_stream *zlib = &encoder->zlib;
    zlib->next_in = (Bytef *)(uintptr_t)plain->data;
    zlib->avail_in = (uInt)plain->size_bytes;
    zlib->next_out = buffer_reserve(out, OUT_STEP_BYTES);
    zlib->avail_out = (uInt)OUT_STEP_BYTES;
    int result = codec_library.deflate(zlib, last ? Z_FINISH : Z_NO_FLUSH);
    CHECK(result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR);
    *plain = bytes_of(zlib->next_in, zlib->avail_in);
    out->size_bytes += OUT_STEP_BYTES - zlib->avail_out;
    return last ? result == Z_STREAM_END : plain->size_bytes == 0;
}

static bool write_bzip2(struct encoder *encoder, struct bytes *plain, bool last, struct buffer *out)
{
    bz_stream *bzip2 = &encoder->bzip2;
    bzip2->next_in = (char *)(uintptr_t)plain->data;
    bzip2->avail_in = (unsigned)plain->size_bytes;
    bzip2->next_out = (char *)buffer_reserve(out, OUT_STEP_BYTES);
    bzip2->avail_out = (unsigned)OUT_STEP_BYTES;
    if (!last && plain->size_bytes == 0)
        return true;
    int result = codec_library.bz_compress(bzip2, last ? BZ_FINISH : BZ_RUN);
    CHECK(result >= 0);
    *plain = bytes_of(bzip2->next_in, bzip2->avail_in);
    out->size_bytes += OUT_STEP_BYTES - bzip2->avail_out;
    return last ? result == BZ_STREAM_END : plain->size_bytes == 0;
}

static bool write_zstd(struct encoder *encoder, struct bytes *plain, bool last, struct buffer *out)
{
    ZSTD_inBuffer in = {plain->data, plain->size_bytes, 0};
    ZSTD_outBuffer to = {buffer_reserve(out, OUT_STEP_BYTES), OUT_STEP_BYTES, 0};
    size_t left =
        codec_library.zstd_write(encoder->zstd, &to, &in, last ? ZSTD_e_end : ZSTD_e_continue);
    CHECK(!codec_library.zstd_is_error(left));
    *plain = bytes_of(plain->data + in.pos, plain->size_bytes - in.pos);
    out->size_bytes += to.pos;
    return last ? left == 0 : plain->size_bytes == 0;
}

enum status encoder_write(struct encoder *encoder, struct bytes plain, bool last,
                          struct buffer *out, struct error *err)
{
    (void)err;
    bool done = false;
    while (!done) {
        struct bytes part = plain;
        bool part_last = last;
        if (part.size_bytes > ((size_t)1 << 30)) {
            part.size_bytes = (size_t)1 << 30;
            part_last = false;
        }
        size_t before = part.size_bytes;
        switch (encoder->codec) {
        case CODEC_GZIP:
        case CODEC_DEFLATE:
            done = write_zlib(encoder, &part, part_last, out);
            break;
        case CODEC_BZIP2:
            done = write_bzip2(encoder, &part, part_last, out);
            break;
        case CODEC_ZSTD:
            done = write_zstd(encoder, &part, part_last, out);
            break;
        case CODEC_LZ4:
        case CODEC_SNAPPY:
            block_write(encoder->blocks, part, part_last, out);
            part.size_bytes = 0;
            done = true;
            break;
        case CODEC_NONE:
            buffer_add_bytes(out, part);
            part.size_bytes = 0;
            done = true;
            break;
        }
        size_t used = before - part.size_bytes;
        plain = bytes_of(plain.data + used, plain.size_bytes - used);
        done = done && plain.size_bytes == 0;
    }
    return OK;
}
