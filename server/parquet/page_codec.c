/*
 * Codecs of pages: see page_codec.h.
 *
 * The headers of snappy and lz4 are not needed: their C functions have had these types since they
 * are there.
 */
#include "parquet/page_codec.h"

#include "base/check.h"
#include "base/dynlib.h"
#include "base/heap.h"

#include <pthread.h>
#include <stdlib.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ZSTD_LEVEL   3 /* Spark's */

static struct {
    int (*deflate_init)(z_streamp, int, int, int, int, int, const char *, int);
    int (*deflate)(z_streamp, int);
    int (*deflate_reset)(z_streamp);
    uLong (*deflate_bound)(z_streamp, uLong);
    int (*deflate_end)(z_streamp);
    ZSTD_CCtx *(*zstd_new)(void);
    size_t (*zstd_free)(ZSTD_CCtx *);
    size_t (*zstd_bound)(size_t);
    size_t (*zstd_compress)(ZSTD_CCtx *, void *, size_t, const void *, size_t, int);
    unsigned (*zstd_is_error)(size_t);
    size_t (*snappy_bound)(size_t);
    int (*snappy_compress)(const char *, size_t, char *, size_t *);
    int (*lz4_bound)(int);
    int (*lz4_compress)(const char *, char *, int, int);
} library;

static const struct dynlib_symbol zlib_symbols[] = {
    {"deflateInit2_", &library.deflate_init}, {"deflate", &library.deflate},
    {"deflateReset", &library.deflate_reset}, {"deflateBound", &library.deflate_bound},
    {"deflateEnd", &library.deflate_end},
};
static const struct dynlib_symbol zstd_symbols[] = {
    {"ZSTD_createCCtx", &library.zstd_new},      {"ZSTD_freeCCtx", &library.zstd_free},
    {"ZSTD_compressBound", &library.zstd_bound}, {"ZSTD_compressCCtx", &library.zstd_compress},
    {"ZSTD_isError", &library.zstd_is_error},
};
static const struct dynlib_symbol snappy_symbols[] = {
    {"snappy_max_compressed_length", &library.snappy_bound},
    {"snappy_compress", &library.snappy_compress},
};
static const struct dynlib_symbol lz4_symbols[] = {
    {"LZ4_compressBound", &library.lz4_bound},
    {"LZ4_compress_default", &library.lz4_compress},
};

/* What loading one library once led to. */
struct load {
    pthread_once_t once;
    enum status status;
    struct error err;
};
static struct load zlib = {.once = PTHREAD_ONCE_INIT, .err = ERROR_INIT};
static struct load zstd = {.once = PTHREAD_ONCE_INIT, .err = ERROR_INIT};
static struct load snappy = {.once = PTHREAD_ONCE_INIT, .err = ERROR_INIT};
static struct load lz4 = {.once = PTHREAD_ONCE_INIT, .err = ERROR_INIT};

static void load_zlib(void)
{
    zlib.status = dynlib_load("libz.so.1", zlib_symbols, COUNT(zlib_symbols), &zlib.err);
}

static void load_zstd(void)
{
    zstd.status = dynlib_load("libzstd.so.1", zstd_symbols, COUNT(zstd_symbols), &zstd.err);
}

static void load_snappy(void)
{
    snappy.status =
        dynlib_load("libsnappy.so.1", snappy_symbols, COUNT(snappy_symbols), &snappy.err);
}

static void load_lz4(void)
{
    lz4.status = dynlib_load("liblz4.so.1", lz4_symbols, COUNT(lz4_symbols), &lz4.err);
}

static const struct {
    enum page_codec codec;
    const char *name;
    const char *extension;
} codecs[] = {
    {PAGE_PLAIN, "none", ""},
    {PAGE_PLAIN, "uncompressed", ""},
    {PAGE_SNAPPY, "snappy", ".snappy"},
    {PAGE_GZIP, "gzip", ".gz"},
    {PAGE_ZSTD, "zstd", ".zstd"},
    {PAGE_LZ4, "lz4", ".lz4hadoop"},
    {PAGE_LZ4_RAW, "lz4_raw", ".lz4raw"},
};

enum status page_codec_find(const char *name, enum page_codec *out, struct error *err)
{
    for (size_t i = 0; i < COUNT(codecs); i++) {
        if (strcasecmp(codecs[i].name, name) == 0) {
            *out = codecs[i].codec;
            return OK;
        }
    }
    return error_raise(err, STATUS_CODEC_NOT_AVAILABLE__WITH_AVAILABLE_CODECS_SUGGESTION,
                       "codecName", name, "availableCodecs",
                       "gzip, lz4, lz4_raw, none, snappy, uncompressed, zstd", NULL);
}

const char *page_codec_extension(enum page_codec codec)
{
    size_t i = 0;
    while (codecs[i].codec != codec)
        CHECK(++i < COUNT(codecs));
    return codecs[i].extension;
}

static enum status load(struct load *load, void (*run)(void), struct error *err)
{
    (void)pthread_once(&load->once, run);
    if (load->status != OK)
        *err = load->err;
    return load->status;
}

enum status page_codec_load(enum page_codec codec, struct error *err)
{
    switch (codec) {
    case PAGE_GZIP:
        return load(&zlib, load_zlib, err);
    case PAGE_ZSTD:
        return load(&zstd, load_zstd, err);
    case PAGE_SNAPPY:
        return load(&snappy, load_snappy, err);
    case PAGE_LZ4:
    case PAGE_LZ4_RAW:
        return load(&lz4, load_lz4, err);
    case PAGE_PLAIN:
        break;
    }
    return OK;
}

struct page_compressor {
    enum page_codec codec;
    z_stream zlib;
    ZSTD_CCtx *zstd;
};

struct page_compressor *page_compressor_new(enum page_codec codec)
{
    struct page_compressor *compressor = heap_calloc(1, sizeof *compressor);
    compressor->codec = codec;
    bool ok = true;
    if (codec == PAGE_GZIP) {
        ok = library.deflate_init(&compressor->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + 15, 8,
                                  Z_DEFAULT_STRATEGY, ZLIB_VERSION, (int)sizeof(z_stream)) == Z_OK;
    } else if (codec == PAGE_ZSTD) {
        compressor->zstd = library.zstd_new();
        ok = compressor->zstd != NULL;
    }
    CHECK(ok); /* they fail only for want of memory */
    return compressor;
}

void page_compressor_free(struct page_compressor *compressor)
{
    if (compressor == NULL)
        return;
    if (compressor->codec == PAGE_GZIP)
        (void)library.deflate_end(&compressor->zlib);
    if (compressor->codec == PAGE_ZSTD)
        (void)library.zstd_free(compressor->zstd);
    free(compressor);
}

static size_t compress_gzip(z_stream *stream, struct bytes plain, struct buffer *out)
{
    CHECK(library.deflate_reset(stream) == Z_OK);
    size_t room = library.deflate_bound(stream, (uLong)plain.size_bytes);
    stream->next_in = (Bytef *)(uintptr_t)plain.data;
    stream->avail_in = (uInt)plain.size_bytes;
    stream->next_out = buffer_reserve(out, room);
    stream->avail_out = (uInt)room;
    CHECK(library.deflate(stream, Z_FINISH) == Z_STREAM_END);
    return room - stream->avail_out;
}

static size_t compress_zstd(ZSTD_CCtx *context, struct bytes plain, struct buffer *out)
{
    size_t room = library.zstd_bound(plain.size_bytes);
    uint8_t *at = buffer_reserve(out, room);
    size_t size =
        library.zstd_compress(context, at, room, plain.data, plain.size_bytes, ZSTD_LEVEL);
    CHECK(!library.zstd_is_error(size));
    return size;
}

static size_t compress_snappy(struct bytes plain, struct buffer *out)
{
    size_t size = library.snappy_bound(plain.size_bytes);
    uint8_t *at = buffer_reserve(out, size);
    CHECK(library.snappy_compress((const char *)plain.data, plain.size_bytes, (char *)at, &size) ==
          0);
    return size;
}

static void put_big_endian(uint8_t *at, size_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* `head` bytes in front of the block have the sizes, as Hadoop writes them. */
static size_t compress_lz4(struct bytes plain, size_t head, struct buffer *out)
{
    int room = library.lz4_bound((int)plain.size_bytes);
    uint8_t *at = buffer_reserve(out, head + (size_t)room);
    int size = library.lz4_compress((const char *)plain.data, (char *)at + head,
                                    (int)plain.size_bytes, room);
    CHECK(size > 0);
    if (head > 0) {
        put_big_endian(at, plain.size_bytes);
        put_big_endian(at + 4, (size_t)size);
    }
    return head + (size_t)size;
}

void page_compress(struct page_compressor *compressor, struct bytes plain, struct buffer *out)
{
    CHECK(plain.size_bytes <= PAGE_BYTES_MAX);
    switch (compressor->codec) {
    case PAGE_PLAIN:
        buffer_add_bytes(out, plain);
        break;
    case PAGE_SNAPPY:
        out->size_bytes += compress_snappy(plain, out);
        break;
    case PAGE_GZIP:
        out->size_bytes += compress_gzip(&compressor->zlib, plain, out);
        break;
    case PAGE_ZSTD:
        out->size_bytes += compress_zstd(compressor->zstd, plain, out);
        break;
    case PAGE_LZ4:
    case PAGE_LZ4_RAW:
        out->size_bytes += compress_lz4(plain, compressor->codec == PAGE_LZ4 ? 8 : 0, out);
        break;
    }
}
