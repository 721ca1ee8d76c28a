/* The last steps of writing a file: see file_output.h. */
#include "format/file_output.h"

void file_output_init(struct file_output *output, const struct write_options *options)
{
    *output = (struct file_output){.options = options};
    if (options->codec != CODEC_NONE)
        output->encoder = encoder_new(options->codec);
}

void file_output_fini(struct file_output *output)
{
    encoder_free(output->encoder);
    buffer_fini(&output->plain);
    buffer_fini(&output->encoded);
}

struct buffer *file_output_begin(struct file_output *output, struct buffer *out)
{
    bool direct = output->encoder == NULL && output->options->charset == CHARSET_UTF8;
    return direct ? out : &output->plain;
}

enum status file_output_end(struct file_output *output, struct buffer *out, struct error *err)
{
    struct buffer *plain = file_output_begin(output, out);
    if (plain == out || plain->size_bytes == 0)
        return OK;
    enum status status = OK;
    enum charset charset = output->options->charset;
    struct bytes ready = buffer_bytes(plain);
    if (charset != CHARSET_UTF8) {
        buffer_clear(&output->encoded);
        if (!output->begun)
            buffer_add_bytes(&output->encoded, charset_mark(charset));
        output->begun = true;
        charset_encode(charset, ready, &output->encoded);
        ready = buffer_bytes(&output->encoded);
    }
    if (output->encoder != NULL)
        status = encoder_write(output->encoder, ready, false, out, err);
    else
        buffer_add_bytes(out, ready);
    buffer_clear(plain);
    return status;
}

enum status file_output_finish(struct file_output *output, struct buffer *out, struct error *err)
{
    TRY(file_output_end(output, out, err));
    if (output->encoder == NULL)
        return OK;
    return encoder_write(output->encoder, bytes_of(NULL, 0), true, out, err);
}
