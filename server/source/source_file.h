/*
 * The file source (source_file.c), once per format that files can have.
 */
#ifndef SERVER_SOURCE_SOURCE_FILE_H
#define SERVER_SOURCE_SOURCE_FILE_H

#include "source/source.h"

extern const struct source_ops source_file_json;
extern const struct source_ops source_file_csv;
extern const struct source_ops source_file_text;

#endif
