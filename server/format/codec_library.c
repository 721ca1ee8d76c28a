/* The libraries behind the codecs: see codec_library.h. */
#include "format/codec_library.h"

#include "base/dynlib.h"

#include <pthread.h>

struct codec_library codec_library;

/* What loading one library once led to. */
struct load {
    pthread_once_t once;
    enum status status;
    struct error err;
};

static struct load zlib = {.once = PTHREAD_ONCE_INIT, .err = ERROR_INIT};
static struct load bzip2 = {.once = PTHREAD_ONCE_INIT, .err = ERROR_INIT};
static struct load zstd = {.once = PTHREAD_ONCE_INIT, .err = ERROR_INIT};
static struct load lz4 = {.once = PTHREAD_ONCE_INIT, .err = ERROR_INIT};
static struct load snappy = {.once = PTHREAD_ONCE_INIT, .err = ERROR_INIT};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void load_zlib(void)
{
    static const struct dynlib_symbol symbols[] = {
        {"inflateInit2_", &codec_library.inflate_init}, {"inflate", &codec_library.inflate},
        {"inflateReset", &codec_library.inflate_reset}, {"inflateEnd", &codec_library.inflate_end},
        {"deflateInit2_", &codec_library.deflate_init}, {"deflate", &codec_library.deflate},
        {"deflateEnd", &codec_library.deflate_end},
    };
    zlib.status = dynlib_load("libz.so.1", symbols, COUNT(symbols), &zlib.err);
}

static void load_bzip2(void)
{
    static const struct dynlib_symbol symbols[] = {
        {"BZ2_bzDecompressInit", &codec_library.bz_decompress_init},
        {"BZ2_bzDecompress", &codec_library.bz_decompress},
        {"BZ2_bzDecompressEnd", &codec_library.bz_decompress_end},
        {"BZ2_bzCompressInit", &codec_library.bz_compress_init},
        {"BZ2_bzCompress", &codec_library.bz_compress},
        {"BZ2_bzCompressEnd", &codec_library.bz_compress_end},
    };
    bzip2.status = dynlib_load("libbz2.so.1.0", symbols, COUNT(symbols), &bzip2.err);
}

static void load_zstd(void)
{
    static const struct dynlib_symbol symbols[] = {
        {"ZSTD_createDStream", &codec_library.zstd_new_reader},
        {"ZSTD_decompressStream", &codec_library.zstd_read},
        {"ZSTD_freeDStream", &codec_library.zstd_free_reader},
        {"ZSTD_createCStream", &codec_library.zstd_new_writer},
        {"ZSTD_initCStream", &codec_library.zstd_init_writer},
        {"ZSTD_compressStream2", &codec_library.zstd_write},
        {"ZSTD_freeCStream", &codec_library.zstd_free_writer},
        {"ZSTD_isError", &codec_library.zstd_is_error},
    };
    zstd.status = dynlib_load("libzstd.so.1", symbols, COUNT(symbols), &zstd.err);
}

static void load_lz4(void)
{
    static const struct dynlib_symbol symbols[] = {
        {"LZ4_compressBound", &codec_library.lz4_bound},
        {"LZ4_compress_default", &codec_library.lz4_write},
        {"LZ4_decompress_safe", &codec_library.lz4_read},
    };
    lz4.status = dynlib_load("liblz4.so.1", symbols, COUNT(symbols), &lz4.err);
}

static void load_snappy(void)
{
    static const struct dynlib_symbol symbols[] = {
        {"snappy_max_compressed_length", &codec_library.snappy_bound},
        {"snappy_compress", &codec_library.snappy_write},
        {"snappy_uncompress", &codec_library.snappy_read},
        {"snappy_uncompressed_length", &codec_library.snappy_plain_bytes},
    };
    snappy.status = dynlib_load("libsnappy.so.1", symbols, COUNT(symbols), &snappy.err);
}

static enum status load(struct load *load, void (*run)(void), struct error *err)
{
    (void)pthread_once(&load->once, run);
    if (load->status != OK)
        *err = load->err;
    return load->status;
}

enum status codec_load(enum codec codec, struct error *err)
{
    switch (codec) {
    case CODEC_GZIP:
    case CODEC_DEFLATE:
        return load(&zlib, load_zlib, err);
    case CODEC_BZIP2:
        return load(&bzip2, load_bzip2, err);
    case CODEC_ZSTD:
        return load(&zstd, load_zstd, err);
    case CODEC_LZ4:
        return load(&lz4, load_lz4, err);
    case CODEC_SNAPPY:
        return load(&snappy, load_snappy, err);
    case CODEC_NONE:
        break;
    }
    return OK;
}
