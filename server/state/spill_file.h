/*
 * Disk space for what memory does not hold: pages of one scratch file, which all partitions of a
 * query share.
 *
 * Nothing in it is durable, or has to be: what was spilled is in the checkpoint (its log, and a
 * snapshot), and a new run begins with an empty file.  The file is made by the first write.
 *
 * A partition takes pages, and keeps those that it does not need any more for itself (struct
 * spill_space), so that only taking new ones is shared work, without a lock.
 *
 * Threads: any; a spill_space is that of one partition.
 */
#ifndef SERVER_STATE_SPILL_FILE_H
#define SERVER_STATE_SPILL_FILE_H

#include "base/buffer.h"
#include "base/vfs.h"

#define SPILL_PAGE_BYTES  ((size_t)8 << 10)
#define SPILL_SIZES_COUNT 20 /* runs of 2^0 to 2^19 pages */

struct spill_file;

/* The path is copied.  Its folder is made with the file. */
struct spill_file *spill_file_new(struct vfs *vfs, const char *path);
void spill_file_free(struct spill_file *file); /* NULL is fine */

/* The first of `count` pages that nobody else has.  Errors: DISK_FULL after 2^32 of them. */
MUST_USE enum status spill_file_take(struct spill_file *file, uint32_t count, uint32_t *page,
                                     struct error *err);
/* All pages are free again, and a large file goes.  Threads: nobody else uses the file. */
void spill_file_reset(struct spill_file *file);

MUST_USE enum status spill_file_write(struct spill_file *file, uint32_t page, struct bytes content,
                                      struct error *err);
/* Into `out`, which it fills with `size_bytes` bytes. */
MUST_USE enum status spill_file_read(struct spill_file *file, uint32_t page, size_t size_bytes,
                                     struct buffer *out, struct error *err);
/* Bytes in pages of their own. */
struct spill_extent {
    uint32_t page;
    uint32_t crc;
    size_t bytes; /* 0: there are none */
};
MUST_USE enum status spill_extent_write(struct spill_file *file, struct bytes content,
                                        struct spill_extent *out, struct error *err);
/* Into `out`, which holds nothing else afterwards.  Errors: also CHECKSUM_MISMATCH. */
MUST_USE enum status spill_extent_read(struct spill_file *file, const struct spill_extent *extent,
                                       struct buffer *out, struct error *err);

/* Some of them, in the order in which they were written.  A zeroed list is empty. */
struct spill_extents {
    struct spill_extent *list;
    uint32_t count;
    uint32_t capacity;
};
MUST_USE enum status spill_extents_write(struct spill_extents *extents, struct spill_file *file,
                                         struct bytes content, struct error *err);
void spill_extents_fini(struct spill_extents *extents); /* it is empty then */

/* CHECKSUM_MISMATCH: it holds something else than what was written. */
enum status spill_file_damaged(const struct spill_file *file, struct error *err);

/* The pages of one partition that are free. */
struct spill_space {
    struct spill_file *file; /* NULL: nothing can be spilled */
    struct spill_free_pages {
        uint32_t *pages;
        uint32_t count;
        uint32_t capacity;
    } free[SPILL_SIZES_COUNT]; /* by the logarithm of the size */
    size_t bytes;              /* of these lists */
    size_t chunk_bytes_max;    /* of one chunk of an image; 0: what its header can say */
};

void spill_space_fini(struct spill_space *space);
/* A run of 2^size_class pages.  Errors: DISK_FULL. */
MUST_USE enum status spill_space_take(struct spill_space *space, uint32_t size_class,
                                      uint32_t *page, struct error *err);
void spill_space_give(struct spill_space *space, uint32_t size_class, uint32_t page);

#endif
