/*
 * The last steps of writing a file: UTF-8 to the charset, bytes through the codec.  Without either
 * the formats write straight into the caller's buffer.  Private to format/.
 */
#ifndef SERVER_FORMAT_FILE_OUTPUT_H
#define SERVER_FORMAT_FILE_OUTPUT_H

#include "format/record_options.h"

struct file_output {
    const struct write_options *options;
    struct encoder *encoder; /* NULL: not compressed */
    struct buffer plain;     /* UTF-8 on its way to the charset or the codec */
    struct buffer encoded;   /* in the charset, on its way to the codec */
    bool begun;              /* the byte order mark is written */
};

void file_output_init(struct file_output *output, const struct write_options *options);
void file_output_fini(struct file_output *output);

/* Where to write UTF-8 to: `out` itself or the buffer in between. */
struct buffer *file_output_begin(struct file_output *output, struct buffer *out);

/* Moves what was written there on to `out`. */
MUST_USE enum status file_output_end(struct file_output *output, struct buffer *out,
                                     struct error *err);

/* The end of the compressed stream. */
MUST_USE enum status file_output_finish(struct file_output *output, struct buffer *out,
                                        struct error *err);

#endif
