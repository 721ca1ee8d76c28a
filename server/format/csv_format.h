/* The two halves of the CSV format: csv_reader.c and csv_writer.c.  Private to format/. */
#ifndef SERVER_FORMAT_CSV_FORMAT_H
#define SERVER_FORMAT_CSV_FORMAT_H

#include "format/format.h"

extern const struct format_ops csv_format;
extern const struct option_def csv_write_options[];

enum status csv_writer_new(struct arena *query, const struct format_config *config,
                           struct format_writer **out, struct error *err);
const char *csv_extension(const struct format_writer *opaque);
enum status csv_write_open(const struct format_writer *opaque, struct record_writer **out,
                           struct error *err);
enum status csv_write(struct record_writer *opaque, const struct batch *batch, struct buffer *out,
                      struct error *err);
enum status csv_finish(struct record_writer *opaque, struct buffer *out, struct error *err);
void csv_write_close(struct record_writer *opaque);

#endif
