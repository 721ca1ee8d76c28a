/*
 * Streams of bytes over a file and over memory.  A file is read in the pieces the caller asks for
 * (large ones: a line reader asks for its whole free buffer), by position, so that nothing stays
 * open between the reads.
 */
#include "base/check.h"
#include "base/heap.h"
#include "format/codec.h"
#include "format/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct file_stream {
    struct byte_stream base;
    struct vfs *vfs;
    char *path;
    uint64_t offset;
    uint64_t planned_bytes; /* the size the file had when it was planned to be read */
    bool at_end;
};

static enum status cut_short(const struct file_stream *stream, struct error *err)
{
    char planned[24];
    char found[24];
    (void)snprintf(planned, sizeof planned, "%" PRIu64, stream->planned_bytes);
    (void)snprintf(found, sizeof found, "%" PRIu64, stream->offset);
    return error_raise(err, STATUS_SOURCE_FILE_CHANGED, "path", stream->path, "planned", planned,
                       "found", found, NULL);
}

static enum status file_stream_read(struct byte_stream *self, uint8_t *out, size_t size_bytes,
                                    size_t *read_bytes, struct error *err)
{
    struct file_stream *stream = (struct file_stream *)self;
    *read_bytes = 0;
    if (stream->at_end && stream->offset < stream->planned_bytes)
        return cut_short(stream, err);
    if (stream->at_end || size_bytes == 0)
        return OK;
    size_t got = 0;
    TRY(vfs_read_at(stream->vfs, stream->path, stream->offset, (struct bytes_out){out, size_bytes},
                    &got, err));
    stream->offset += got;
    stream->at_end = got < size_bytes;
    if (got == 0 && stream->offset < stream->planned_bytes)
        return cut_short(stream, err);
    *read_bytes = got;
    return OK;
}

static void file_stream_close(struct byte_stream *self)
{
    struct file_stream *stream = (struct file_stream *)self;
    free(stream->path);
    free(stream);
}

enum status byte_stream_open(struct vfs *vfs, const struct format_split *split,
                             struct byte_stream **out, struct error *err)
{
    struct file_stream *stream = heap_calloc(1, sizeof *stream);
    *stream = (struct file_stream){
        .base = {file_stream_read, file_stream_close},
        .vfs = vfs,
        .path = heap_strdup(split->path),
        .offset = split->start,
        .planned_bytes = split->file_size_bytes,
    };
    enum codec codec = codec_of_path(split->path);
    if (codec == CODEC_NONE) {
        *out = &stream->base;
        return OK;
    }
    CHECK(split->start == 0);
    return codec_stream_open(codec, &stream->base, split->path, out, err);
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
    struct memory_stream *stream = heap_calloc(1, sizeof *stream);
    stream->base = (struct byte_stream){memory_stream_read, memory_stream_close};
    stream->rest = content;
    return &stream->base;
}
