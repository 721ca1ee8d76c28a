/*
 * Sinks that keep nothing: console prints each batch as a table, noop counts.
 */
#ifndef SERVER_SINK_SINK_CONSOLE_H
#define SERVER_SINK_SINK_CONSOLE_H

#include "sink/sink.h"

extern const struct sink_ops sink_console;
extern const struct sink_ops sink_noop;

#endif
