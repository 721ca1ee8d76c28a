/*
 * Files of lz4 and snappy as Hadoop writes them
 * (org.apache.hadoop.io.compress.BlockCompressorStream):
 *
 *     block = u32 plain bytes | chunks until these are there;  chunk = u32 compressed bytes | them
 *
 * numbers big-endian.  Neither is the format of the command lz4 or of snappy's own frames.
 *
 * The library is loaded (codec_load()).  Threads: an object belongs to one thread.
 */
#ifndef SERVER_FORMAT_BLOCK_CODEC_H
#define SERVER_FORMAT_BLOCK_CODEC_H

#include "format/codec.h"

/* What a step of reading did besides moving the two positions. */
enum step_result {
    STEP_MORE,
    STEP_STREAM_END, /* the file may end here */
    STEP_BROKEN,
};

struct block_reader;
struct block_reader *block_reader_new(enum codec codec);
void block_reader_free(struct block_reader *reader); /* NULL is fine */
/* Takes from the front of `in` and fills the front of `out`.  Memory: a chunk and what it holds; a
 * chunk that says that it holds more than its bytes can is broken. */
enum step_result block_read(struct block_reader *reader, struct bytes *in, struct bytes_out *out);

struct block_writer;
struct block_writer *block_writer_new(enum codec codec);
void block_writer_free(struct block_writer *writer); /* NULL is fine */
/* Appends the blocks that `plain` has filled; with `last` what is left, too. */
void block_write(struct block_writer *writer, struct bytes plain, bool last, struct buffer *out);

#endif
