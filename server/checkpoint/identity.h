/*
 * identity.json: whose checkpoint this is.  Written once, when the checkpoint is made, before the
 * first record of the log.
 *
 *     {"formatVersion": 1, "queryId": "5d3c...", "queryName": "clicks-per-minute",
 *      "createdAt": "2026-07-30T09:12:44.184Z"}
 */
#ifndef SERVER_CHECKPOINT_IDENTITY_H
#define SERVER_CHECKPOINT_IDENTITY_H

#include "base/clock.h"
#include "base/uuid.h"
#include "base/vfs.h"

#define CHECKPOINT_FORMAT_VERSION 1

struct identity {
    char query_id[UUID_TEXT_SIZE];
    char query_name[256];
    char created_at[CLOCK_ISO_SIZE];
};

/* *found is false if the directory holds no identity.
 * Errors: CHECKPOINT.CORRUPT, CHECKPOINT.UNSUPPORTED_VERSION, IO_FAILURE. */
MUST_USE enum status identity_read(struct vfs *vfs, const char *dir, struct identity *out,
                                   bool *found, struct error *err);

/* Durable when it returns.  Errors: FILE_ALREADY_EXISTS, IO_FAILURE, DISK_FULL. */
MUST_USE enum status identity_write(struct vfs *vfs, const char *dir,
                                    const struct identity *identity, struct error *err);

#endif
