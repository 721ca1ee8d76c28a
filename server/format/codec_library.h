/*
 * The libraries behind the codecs, loaded when the first file needs one.  Private to format/.
 */
#ifndef SERVER_FORMAT_CODEC_LIBRARY_H
#define SERVER_FORMAT_CODEC_LIBRARY_H

#include "format/codec.h"

#include <bzlib.h>
#include <zlib.h>
#include <zstd.h>

struct codec_library {
    /* zlib */
    int (*inflate_init)(z_streamp, int, const char *, int);
    int (*inflate)(z_streamp, int);
    int (*inflate_reset)(z_streamp);
    int (*inflate_end)(z_streamp);
    int (*deflate_init)(z_streamp, int, int, int, int, int, const char *, int);
    int (*deflate)(z_streamp, int);
    int (*deflate_end)(z_streamp);
    /* bzip2 */
    int (*bz_decompress_init)(bz_stream *, int, int);
    int (*bz_decompress)(bz_stream *);
    int (*bz_decompress_end)(bz_stream *);
    int (*bz_compress_init)(bz_stream *, int, int, int);
    int (*bz_compress)(bz_stream *, int);
    int (*bz_compress_end)(bz_stream *);
    /* zstd */
    ZSTD_DStream *(*zstd_new_reader)(void);
    size_t (*zstd_read)(ZSTD_DStream *, ZSTD_outBuffer *, ZSTD_inBuffer *);
    size_t (*zstd_free_reader)(ZSTD_DStream *);
    ZSTD_CStream *(*zstd_new_writer)(void);
    size_t (*zstd_init_writer)(ZSTD_CStream *, int);
    size_t (*zstd_write)(ZSTD_CCtx *, ZSTD_outBuffer *, ZSTD_inBuffer *, ZSTD_EndDirective);
    size_t (*zstd_free_writer)(ZSTD_CStream *);
    unsigned (*zstd_is_error)(size_t);
    /* lz4; its header and that of snappy are not needed to build */
    int (*lz4_bound)(int);
    int (*lz4_write)(const char *, char *, int, int);
    int (*lz4_read)(const char *, char *, int, int);
    /* snappy: 0 is good */
    size_t (*snappy_bound)(size_t);
    int (*snappy_write)(const char *, size_t, char *, size_t *);
    int (*snappy_read)(const char *, size_t, char *, size_t *);
    int (*snappy_plain_bytes)(const char *, size_t, size_t *);
};

/* Filled for the codecs that codec_load() was called for. */
extern struct codec_library codec_library;

#endif
