/*
 * A bounded, durable list of JSON lines: the progress documents of a query, its runs.
 *
 * The file grows by appending; when it holds twice what is kept, the newer half is written to a
 * new file that replaces it, so a reader always finds whole files.  Lines are not synced one by
 * one: the machine's crash may lose the last seconds, never more.  A torn last line is ignored.
 *
 * Threads: one writes; history_read is for any thread and needs only the path.
 */
#ifndef SERVER_CONTROL_HISTORY_H
#define SERVER_CONTROL_HISTORY_H

#include "base/buffer.h"

#define HISTORY_FILE_BYTES_MAX (64U << 20)

struct history;

/* `keep` lines at least are kept.  The file is opened with the first append. */
struct history *history_new(const char *path, size_t keep);
void history_free(struct history *history); /* NULL is fine */

/* `line` has no newline.  Errors: IO_FAILURE, DISK_FULL. */
MUST_USE enum status history_append(struct history *history, struct bytes line, struct error *err);

bool history_exists(const struct history *history);

/* Closes the file until the next append: a stopped query holds no descriptor. */
void history_rest(struct history *history);

/* Appends the last `count` lines, oldest first, each with its newline; a missing file has none.
 * Errors: IO_FAILURE. */
MUST_USE enum status history_read(const char *path, size_t count, struct buffer *out,
                                  struct error *err);

#endif
