/* The text format.  Private to format/. */
#ifndef SERVER_FORMAT_TEXT_FORMAT_H
#define SERVER_FORMAT_TEXT_FORMAT_H

#include "format/format.h"

extern const struct format_ops text_format;

#endif
