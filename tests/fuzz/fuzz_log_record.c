/*
 * Any bytes: a record of the checkpoint log, its end, or a refusal; never a part of a record.  What
 * was decoded encodes to the same bytes.
 */
#include "base/check.h"
#include "checkpoint/batch_record.h"
#include "checkpoint/log_record.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode_payload(const struct log_record *record)
{
    struct arena *arena = arena_new("fuzz", (size_t)16 << 20);
    struct run_record run;
    struct batch_intent intent;
    struct batch_changes changes;
    struct buffer again = {0};
    if (run_record_decode(arena, record->payload, &run))
        run_record_encode(&run, &again);
    if (batch_intent_decode(arena, record->payload, &intent)) {
        buffer_clear(&again);
        batch_intent_encode(&intent, &again);
        CHECK(batch_intent_decode(arena, buffer_bytes(&again), &intent));
    }
    if (batch_changes_decode(record->payload, &changes)) {
        buffer_clear(&again);
        batch_changes_encode(&changes, &again);
        CHECK(bytes_equal(buffer_bytes(&again), record->payload));
    }
    buffer_fini(&again);
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct log_record record;
    uint64_t whole = 0;
    struct buffer again = {0};
    switch (log_record_decode(bytes_of(data, size), &record, &whole)) {
    case RECORD_VALID:
        CHECK(whole <= size && whole == log_record_size(record.payload.size_bytes));
        log_record_encode(&record, &again);
        CHECK(again.size_bytes == whole);
        break;
    case RECORD_UNSUPPORTED:
        CHECK(whole <= size);
        break;
    case RECORD_END:
    case RECORD_BROKEN:
        break;
    }
    buffer_fini(&again);
    record.payload = bytes_of(data, size); /* payloads alone: a fuzzer seldom finds a checksum */
    decode_payload(&record);
    return 0;
}
