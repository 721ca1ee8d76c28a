/*
 * Records of the checkpoint log: their bytes.
 *
 * A segment of the log is a run of records and then zeros, the space that was preallocated.  All
 * numbers are little-endian; a record begins at a multiple of 8 bytes.
 *
 *     offset  bytes
 *          0      4  CRC-32C of everything after it, payload and padding included
 *          4      2  "TR"
 *          6      1  version of the format, 1
 *          7      1  kind
 *          8      8  size of the payload
 *         16      8  batch id, signed; -1 where the record belongs to no batch
 *         24      4  fencing epoch of the worker that wrote it
 *         28      4  zero
 *         32      8  synced: how much of this segment was durable when the record was made
 *         40         payload, then zeros up to the next multiple of 8
 *
 * `synced` is what tells a torn tail from damage.  A crash may keep any part of what was written
 * after the last sync, later parts without earlier ones even; so a record that does not check is
 * a torn tail, and is cut, unless a record that does check says that this place had been synced.
 * Then no crash explains it, and the log is refused.
 *
 * The kinds, and what their payloads hold, are in batch_record.h.  A kind or version that is not
 * known is never passed over: the log is from a newer program, and is refused.
 */
#ifndef SERVER_CHECKPOINT_LOG_RECORD_H
#define SERVER_CHECKPOINT_LOG_RECORD_H

#include "base/buffer.h"

#define LOG_RECORD_VERSION     1
#define LOG_RECORD_HEADER_SIZE 40
#define LOG_RECORD_PAYLOAD_MAX ((uint64_t)1 << 32)

enum record_kind {
    RECORD_START = 1, /* the first of each segment, and one per run: who writes, what query it is */
    RECORD_INTENT,    /* what batch N is */
    RECORD_STATE,     /* new values of touched keys of one operator and partition */
    RECORD_CHANGES,   /* batch N has been computed: next watermark, whether the sink has work */
    RECORD_COMMIT,    /* the sink has batch N */
    RECORD_PROGRESS,  /* the progress document of batch N, JSON */
    RECORD_CLOSE,     /* the run ended of its own accord, all before it is complete */
    RECORD_REWIND,    /* the batches after this one are to be run again */
};
#define RECORD_KIND_COUNT ((int)RECORD_REWIND + 1)

struct log_record {
    enum record_kind kind;
    uint32_t epoch;
    int64_t batch_id;
    uint64_t synced;
    struct bytes payload; /* decoded: borrowed from the input */
};

enum record_verdict {
    RECORD_VALID,
    RECORD_END,         /* zeros or nothing: the log ends here */
    RECORD_BROKEN,      /* cut short, or the checksum does not fit */
    RECORD_UNSUPPORTED, /* whole, but of a version or kind that this program does not know */
};

/* Bytes of a record with this payload, padding included. */
uint64_t log_record_size(uint64_t payload_size);

/* Writes the header for `record`, whose payload must be given whole. */
void log_record_encode_header(const struct log_record *record, uint8_t out[LOG_RECORD_HEADER_SIZE]);

/* Appends the whole record. */
void log_record_encode(const struct log_record *record, struct buffer *out);

/*
 * Looks at the record at the start of `from`, which reaches to the end of the segment.  *out is
 * set if valid, *size also if unsupported.
 */
enum record_verdict log_record_decode(struct bytes from, struct log_record *out, uint64_t *size);

/* "INTENT", ...; NULL if there is no such kind. */
const char *record_kind_name(enum record_kind kind);

#endif
