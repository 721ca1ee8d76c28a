/* The Parquet format: written by server/parquet/, not read.  Private to format/. */
#ifndef SERVER_FORMAT_PARQUET_FORMAT_H
#define SERVER_FORMAT_PARQUET_FORMAT_H

#include "format/format.h"

extern const struct format_ops parquet_format;

#endif
