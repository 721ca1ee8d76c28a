/* The two halves of the JSON format: json_reader.c and json_writer.c.  Private to format/. */
#ifndef SERVER_FORMAT_JSON_FORMAT_H
#define SERVER_FORMAT_JSON_FORMAT_H

#include "format/format.h"

extern const struct format_ops json_format;
extern const struct option_def json_read_options[];
extern const struct option_def json_write_options[];

enum status json_writer_new(struct arena *query, const struct format_config *config,
                            struct format_writer **out, struct error *err);
const char *json_extension(const struct format_writer *opaque);
enum status json_write_open(const struct format_writer *opaque, struct record_writer **out,
                            struct error *err);
enum status json_write(struct record_writer *opaque, const struct batch *batch, struct buffer *out,
                       struct error *err);
enum status json_finish(struct record_writer *opaque, struct buffer *out, struct error *err);
void json_write_close(struct record_writer *opaque);

#endif
