/*
 * A compact JSON text on several lines, as Jackson's DefaultPrettyPrinter writes it (option
 * pretty): each field of an object on a line of its own, two blanks further in for each object
 * around it; arrays on one line.
 */
#ifndef SERVER_FORMAT_JSON_PRETTY_H
#define SERVER_FORMAT_JSON_PRETTY_H

#include "base/buffer.h"

/* Appends to `out`; `compact` is what json_write makes of a row: correct, and without blanks. */
void json_pretty_print(struct bytes compact, struct buffer *out);

#endif
