/*
 * Encoding of record payloads.  See batch_record.h.
 */
#include "checkpoint/batch_record.h"

#include "base/check.h"

#define LIST_MAX 65536 /* sources, tables or settings of one intent */

static void put_u64(struct buffer *out, uint64_t value)
{
    uint8_t *data = buffer_reserve(out, 8);
    for (int i = 0; i < 8; i++)
        data[i] = (uint8_t)(value >> (8 * i));
    out->size_bytes += 8;
}

static void put_bytes(struct buffer *out, struct bytes bytes)
{
    CHECK(bytes.size_bytes <= UINT32_MAX);
    uint8_t *data = buffer_reserve(out, 4);
    for (int i = 0; i < 4; i++)
        data[i] = (uint8_t)(bytes.size_bytes >> (8 * i));
    out->size_bytes += 4;
    buffer_add_bytes(out, bytes);
}

/* Reads from the front; `bad` sticks once the input was too short. */
struct cursor {
    struct bytes left;
    struct arena *arena;
    bool bad;
};

static uint64_t take_u64(struct cursor *cursor)
{
    if (cursor->left.size_bytes < 8) {
        cursor->bad = true;
        return 0;
    }
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)cursor->left.data[i] << (8 * i);
    cursor->left.data += 8;
    cursor->left.size_bytes -= 8;
    return value;
}

static struct bytes take_view(struct cursor *cursor)
{
    if (cursor->left.size_bytes < 4) {
        cursor->bad = true;
        return (struct bytes){0};
    }
    const uint8_t *data = cursor->left.data;
    size_t size =
        (size_t)data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16 | (size_t)data[3] << 24;
    cursor->left = bytes_of(data + 4, cursor->left.size_bytes - 4);
    if (size > cursor->left.size_bytes) {
        cursor->bad = true;
        return (struct bytes){0};
    }
    struct bytes view = bytes_of(cursor->left.data, size);
    cursor->left = bytes_of(cursor->left.data + size, cursor->left.size_bytes - size);
    return view;
}

static struct bytes take_bytes(struct cursor *cursor)
{
    struct bytes view = take_view(cursor);
    return cursor->bad || view.size_bytes == 0 ? (struct bytes){0}
                                               : arena_copy(cursor->arena, view);
}

static void take_uuid(struct cursor *cursor, char out[UUID_TEXT_SIZE])
{
    struct bytes text = take_view(cursor);
    struct uuid uuid;
    out[0] = '\0';
    if (cursor->bad || text.size_bytes == 0)
        return;
    if (!uuid_parse(text, &uuid)) {
        cursor->bad = true;
        return;
    }
    uuid_format(uuid, out);
}

/* Room for a list whose entries take at least `entry_size` bytes of the input each. */
static uint32_t take_list(struct cursor *cursor, size_t entry_size, size_t item_size, void **out)
{
    uint64_t count = take_u64(cursor);
    if (cursor->bad || count > LIST_MAX || count * entry_size > cursor->left.size_bytes) {
        cursor->bad = true;
        return 0;
    }
    *out = count == 0 ? NULL : arena_new_object(cursor->arena, (size_t)count * item_size);
    return (uint32_t)count;
}

static bool finished(const struct cursor *cursor)
{
    return !cursor->bad && cursor->left.size_bytes == 0;
}

void run_record_encode(const struct run_record *run, struct buffer *out)
{
    put_bytes(out, bytes_of_text(run->run_id));
    put_bytes(out, bytes_of_text(run->query_id));
    put_u64(out, (uint64_t)run->started_us);
    put_u64(out, run->fingerprint);
    put_bytes(out, run->fingerprint_text);
    put_bytes(out, run->holder);
}

bool run_record_decode(struct arena *arena, struct bytes payload, struct run_record *out)
{
    struct cursor cursor = {.left = payload, .arena = arena};
    *out = (struct run_record){0};
    take_uuid(&cursor, out->run_id);
    take_uuid(&cursor, out->query_id);
    out->started_us = (int64_t)take_u64(&cursor);
    out->fingerprint = take_u64(&cursor);
    out->fingerprint_text = take_bytes(&cursor);
    out->holder = take_bytes(&cursor);
    return finished(&cursor);
}

static void put_range(struct buffer *out, const struct source_range *range)
{
    put_bytes(out, range->start);
    put_bytes(out, range->end);
    put_bytes(out, range->detail);
}

static void take_range(struct cursor *cursor, struct source_range *out)
{
    out->start = take_bytes(cursor);
    out->end = take_bytes(cursor);
    out->detail = take_bytes(cursor);
}

void batch_intent_encode(const struct batch_intent *intent, struct buffer *out)
{
    put_u64(out, (uint64_t)intent->late_watermark_us);
    put_u64(out, (uint64_t)intent->eviction_watermark_us);
    put_u64(out, (uint64_t)intent->batch_timestamp_us);
    put_u64(out, intent->random_seed);
    put_u64(out, intent->fingerprint);
    put_bytes(out, bytes_of_text(intent->run_id));
    put_u64(out, intent->source_count);
    for (uint32_t i = 0; i < intent->source_count; i++) {
        put_u64(out, intent->sources[i].has_data ? 1 : 0);
        put_range(out, &intent->sources[i].range);
    }
    put_u64(out, intent->table_count);
    for (uint32_t i = 0; i < intent->table_count; i++)
        put_range(out, &intent->tables[i]);
    put_u64(out, intent->setting_count);
    for (uint32_t i = 0; i < intent->setting_count; i++) {
        put_bytes(out, intent->settings[i].name);
        put_bytes(out, intent->settings[i].value);
    }
}

bool batch_intent_decode(struct arena *arena, struct bytes payload, struct batch_intent *out)
{
    struct cursor cursor = {.left = payload, .arena = arena};
    void *list = NULL;
    *out = (struct batch_intent){0};
    out->late_watermark_us = (int64_t)take_u64(&cursor);
    out->eviction_watermark_us = (int64_t)take_u64(&cursor);
    out->batch_timestamp_us = (int64_t)take_u64(&cursor);
    out->random_seed = take_u64(&cursor);
    out->fingerprint = take_u64(&cursor);
    take_uuid(&cursor, out->run_id);
    out->source_count = take_list(&cursor, 20, sizeof *out->sources, &list);
    out->sources = list;
    for (uint32_t i = 0; i < out->source_count && !cursor.bad; i++) {
        uint64_t has_data = take_u64(&cursor);
        cursor.bad = cursor.bad || has_data > 1;
        out->sources[i].has_data = has_data == 1;
        take_range(&cursor, &out->sources[i].range);
    }
    out->table_count = take_list(&cursor, 12, sizeof *out->tables, &list);
    out->tables = list;
    for (uint32_t i = 0; i < out->table_count && !cursor.bad; i++)
        take_range(&cursor, &out->tables[i]);
    out->setting_count = take_list(&cursor, 8, sizeof *out->settings, &list);
    out->settings = list;
    for (uint32_t i = 0; i < out->setting_count && !cursor.bad; i++) {
        out->settings[i].name = take_bytes(&cursor);
        out->settings[i].value = take_bytes(&cursor);
    }
    return finished(&cursor);
}

static bool take_flag(struct cursor *cursor)
{
    uint64_t value = take_u64(cursor);
    cursor->bad = cursor->bad || value > 1;
    return value == 1;
}

static void take_changes(struct cursor *cursor, struct batch_changes *out)
{
    out->next_watermark_us = (int64_t)take_u64(cursor);
    out->sink_due = take_flag(cursor);
    out->input_rows = take_u64(cursor);
    out->output_rows = take_u64(cursor);
    uint64_t state_records = take_u64(cursor);
    out->state_records = (uint32_t)state_records;
    cursor->bad = cursor->bad || state_records > UINT32_MAX;
}

void batch_changes_encode(const struct batch_changes *changes, struct buffer *out)
{
    put_u64(out, (uint64_t)changes->next_watermark_us);
    put_u64(out, changes->sink_due ? 1 : 0);
    put_u64(out, changes->input_rows);
    put_u64(out, changes->output_rows);
    put_u64(out, changes->state_records);
}

bool batch_changes_decode(struct bytes payload, struct batch_changes *out)
{
    struct cursor cursor = {.left = payload};
    *out = (struct batch_changes){0};
    take_changes(&cursor, out);
    return finished(&cursor);
}

static void put_place(struct buffer *out, const struct rewind_place *place)
{
    put_u64(out, place->is_set ? 1 : 0);
    put_u64(out, (uint64_t)place->segment);
    put_u64(out, place->offset);
}

static void take_place(struct cursor *cursor, struct rewind_place *out)
{
    out->is_set = take_flag(cursor);
    out->segment = (int64_t)take_u64(cursor);
    out->offset = take_u64(cursor);
    cursor->bad = cursor->bad || out->segment < 0;
}

void rewind_record_encode(const struct rewind_record *rewind, struct buffer *out)
{
    put_u64(out, (uint64_t)rewind->replay_end);
    put_u64(out, (uint64_t)rewind->last_sink_due);
    put_place(out, &rewind->intent);
    put_place(out, &rewind->previous);
    batch_changes_encode(&rewind->changes, out);
}

bool rewind_record_decode(struct bytes payload, struct rewind_record *out)
{
    struct cursor cursor = {.left = payload};
    *out = (struct rewind_record){0};
    out->replay_end = (int64_t)take_u64(&cursor);
    out->last_sink_due = (int64_t)take_u64(&cursor);
    take_place(&cursor, &out->intent);
    take_place(&cursor, &out->previous);
    take_changes(&cursor, &out->changes);
    return finished(&cursor) && out->replay_end >= 0 && out->last_sink_due >= NO_BATCH;
}

struct batch_intent *batch_intent_clone(struct arena *arena, const struct batch_intent *intent)
{
    struct buffer buffer = {0};
    struct batch_intent *copy = arena_new_object(arena, sizeof *copy);
    batch_intent_encode(intent, &buffer);
    CHECK(batch_intent_decode(arena, buffer_bytes(&buffer), copy));
    copy->batch_id = intent->batch_id;
    copy->epoch = intent->epoch;
    buffer_fini(&buffer);
    return copy;
}

struct bytes batch_intent_setting(const struct batch_intent *intent, const char *name)
{
    for (uint32_t i = 0; i < intent->setting_count; i++)
        if (bytes_equal(intent->settings[i].name, bytes_of_text(name)))
            return intent->settings[i].value.data == NULL ? bytes_of_text("")
                                                          : intent->settings[i].value;
    return (struct bytes){0};
}
