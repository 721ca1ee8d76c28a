/*
 * The file sink (sink_file.c), once per format that can be written.
 */
#ifndef SERVER_SINK_SINK_FILE_H
#define SERVER_SINK_SINK_FILE_H

#include "sink/sink.h"

extern const struct sink_ops sink_file_json;
extern const struct sink_ops sink_file_csv;
extern const struct sink_ops sink_file_text;

#endif
