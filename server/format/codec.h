/*
 * Compression of whole files, chosen by the ending of the name: gzip, deflate (zlib), bzip2, zstd,
 * lz4 and snappy (as Hadoop has them: format/block_codec.h).
 * Several compressed streams one after another are one stream.
 * Threads: an object belongs to one thread.
 */
#ifndef SERVER_FORMAT_CODEC_H
#define SERVER_FORMAT_CODEC_H

#include "base/buffer.h"
#include "format/format.h"

enum codec {
    CODEC_NONE,
    CODEC_GZIP,
    CODEC_DEFLATE,
    CODEC_BZIP2,
    CODEC_ZSTD,
    CODEC_LZ4,
    CODEC_SNAPPY,
};

/* By the ending of the path. */
enum codec codec_of_path(const char *path);

/* By the value of the writer's option `compression`, any case.
 * Errors: CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION. */
MUST_USE enum status codec_find(const char *name, enum codec *out, struct error *err);

/* Loads the codec's library, once.  Errors: LIBRARY_MISSING. */
MUST_USE enum status codec_load(enum codec codec, struct error *err);

/* ".gz"; "" for none. */
const char *codec_extension(enum codec codec);

/* The plain bytes of `take` (closed with the result, also after an error).  `path` is for errors
 * and copied.  Reading fails with FAILED_READ_FILE.NO_HINT if the bytes are not of the codec or
 * end too early. */
MUST_USE enum status codec_stream_open(enum codec codec, struct byte_stream *take, const char *path,
                                       struct byte_stream **out, struct error *err);

/* A compressor of one file; its codec is loaded. */
struct encoder;
struct encoder *encoder_new(enum codec codec);
void encoder_free(struct encoder *encoder); /* NULL is fine */

/* Appends what is ready of the compressed `plain` to `out`; `last` ends the stream. */
MUST_USE enum status encoder_write(struct encoder *encoder, struct bytes plain, bool last,
                                   struct buffer *out, struct error *err);

#endif
