/*
 * Compression of pages.  The libraries are loaded when the first writer needs one.
 *
 * Threads: page_codec_load() any; a compressor belongs to one thread.
 */
#ifndef SERVER_PARQUET_PAGE_CODEC_H
#define SERVER_PARQUET_PAGE_CODEC_H

#include "base/buffer.h"

/* The numbers are those of the file format. */
enum page_codec {
    PAGE_PLAIN = 0,
    PAGE_SNAPPY = 1,
    PAGE_GZIP = 2,
    PAGE_LZ4 = 5, /* blocks with Hadoop's heads */
    PAGE_ZSTD = 6,
    PAGE_LZ4_RAW = 7,
};

#define PAGE_BYTES_MAX ((size_t)0x70000000) /* what every codec takes, and 32 bits count */

/* By the value of `compression`, any case.
 * Errors: CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION. */
MUST_USE enum status page_codec_find(const char *name, enum page_codec *out, struct error *err);

/* ".snappy": what stands in front of ".parquet"; "" for none. */
const char *page_codec_extension(enum page_codec codec);

/* Loads the codec's library, once.  Errors: LIBRARY_MISSING. */
MUST_USE enum status page_codec_load(enum page_codec codec, struct error *err);

struct page_compressor;
struct page_compressor *page_compressor_new(enum page_codec codec); /* it is loaded */
void page_compressor_free(struct page_compressor *compressor);      /* NULL is fine */

/* Appends the compressed `plain`, which has PAGE_BYTES_MAX bytes at most. */
void page_compress(struct page_compressor *compressor, struct bytes plain, struct buffer *out);

#endif
