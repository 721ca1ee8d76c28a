/*
 * Streams of bytes over a file and over memory.  A file is read in the pieces the caller asks for
 * (large ones: a line reader asks for its whole free buffer), by position, so that nothing stays
 * open between the reads.
 */
#include "base/check.h"
#include "format/codec.h"
#include "format/format.h"

#include <stdlib.h>

struct file_stream {
    struct byte_stream base;
    struct vfs *vfs;
    char *path;
    uint64_t offset;
    bool at_end;
};

static enum status file_stream_read(struct byte_stream *self, uint8_t *out, size_t size_bytes,
                                    size_t *read_bytes, struct error *err)
{
    struct file_stream *stream = (struct file_stream *)self;
    *read_bytes = 0;
    if (stream->at_end || size_bytes == 0)
        return OK;
    TRY(vfs_read_at(stream->vfs, stream->path, stream->offset, (struct bytes_out){out, size_bytes},
                    read_bytes, err));
    stream->offset += *read_bytes;
    stream->at_end = *read_bytes < size_bytes;
    return OK;
}

static void file_stream_close(struct byte_stream *self)
{
    struct file_stream *stream = (struct file_stream *)self;
    free(stream->path);
    free(stream);
}

enum status byte_stream_open(struct vfs *vfs, const char *path, uint64_t start,
                             struct byte_stream **out, struct error *err)
{
    struct file_stream *stream = calloc(1, sizeof *stream);
    CHECK(stream != NULL);
    *stream = (struct file_stream){
        .base = {file_stream_read, file_stream_close},
        .vfs = vfs,
        .path = strdup(path),
        .offset = start,
    };
    CHECK(stream->path != NULL);
    enum codec codec = codec_of_path(path);
    if (codec == CODEC_NONE) {
        *out = &stream->base;
        return OK;
    }
    CHECK(start == 0);
    return codec_stream_open(codec, &stream->base, path, out, err);
}

struct memory_stream {
    struct byte_stream base;
    struct bytes rest;
};

static enum status memory_stream_read(struct byte_stream *self, uint8_t *out, size_t size_bytes,
                                      size_t *read_bytes, struct error *err)
{
    (void)err;
    struct memory_stream *stream = (struct memory_stream *)self;
    size_t size = size_bytes < stream->rest.size_bytes ? size_bytes : stream->rest.size_bytes;
    if (size > 0)
        memcpy(out, stream->rest.data, size);
    stream->rest = bytes_of(stream->rest.data + size, stream->rest.size_bytes - size);
    *read_bytes = size;
    return OK;
}

static void memory_stream_close(struct byte_stream *self)
{
    free(self);
}

struct byte_stream *byte_stream_memory(struct bytes content)
{
    struct memory_stream *stream = calloc(1, sizeof *stream);
    CHECK(stream != NULL);
    stream->base = (struct byte_stream){memory_stream_read, memory_stream_close};
    stream->rest = content;
    return &stream->base;
}
