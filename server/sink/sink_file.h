/*
 * The file sink (sink_file.c), once per format that can be written.
 */
#ifndef SERVER_SINK_SINK_FILE_H
#define SERVER_SINK_SINK_FILE_H

#include "base/vfs.h"
#include "sink/sink.h"

extern const struct sink_ops sink_file_json;
extern const struct sink_ops sink_file_csv;
extern const struct sink_ops sink_file_text;
extern const struct sink_ops sink_file_parquet;

#define SINK_OWNER_SIZE 37 /* a UUID and its NUL */

/* The id of a query whose batches lie in the directory, which is no other's then.  False: none. */
bool sink_file_owner(struct vfs *vfs, const char *dir, char owner[SINK_OWNER_SIZE]);

/* The newest batch of the query that the directory shows; NO_BATCH: it has no marker of the query.
 */
int64_t sink_file_newest(struct vfs *vfs, const char *dir, const char *query_id);

/* The batch of a visible file of the query, by its name: "part-<task>-<query id>-<batch id>...". */
bool sink_file_part(const char *name, const char *query_id, int64_t *batch_id);

#endif
