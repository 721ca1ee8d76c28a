/*
 * See state_decode.h.
 */
#include "exec/state_decode.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/json_writer.h"
#include "columnar/row_key.h"
#include "columnar/value_text.h"
#include "exec/aggregate_calls.h"
#include "exec/join_bounds.h"
#include "exec/session_key.h"
#include "exec/stateful.h"
#include "state/state_table.h"

#include <inttypes.h>
#include <stdio.h>

#define DECODER_MAGIC 0x57adec0dU
#define SEQ_BYTES     9 /* of a key of a join: side, number */

enum decoder_kind {
    DECODE_AGGREGATE,
    DECODE_PANES,
    DECODE_SESSIONS,
    DECODE_DEDUP,
    DECODE_JOIN,
    DECODE_LIMIT,
};

/* Columns that are encoded as a row key. */
struct columns {
    const struct type **types;
    const char **names;
    uint32_t count;
};

struct state_decoder {
    uint32_t magic;
    enum decoder_kind kind;
    const struct plan_node *node;
    const struct zone *zone;
    struct columns keys;
    struct columns sides[2];     /* of a join */
    struct join_limit limits[2]; /* of their rows */
    struct aggregate_calls calls;
    uint32_t omitted; /* the grouping key that is not in the keys; UINT32_MAX: none */
    struct arena *arena;
    struct buffer text;
};

static enum decoder_kind kind_of(const struct plan_node *node)
{
    switch ((int)node->kind) {
    case PLAN_DEDUP:
        return DECODE_DEDUP;
    case PLAN_JOIN:
        return DECODE_JOIN;
    case PLAN_AGGREGATE:
        if (session_key_of(node) >= 0)
            return DECODE_SESSIONS;
        return node->aggregate.pane_key >= 0 ? DECODE_PANES : DECODE_AGGREGATE;
    default:
        return DECODE_LIMIT;
    }
}

static void columns_init(struct arena *query, struct columns *columns, uint32_t room)
{
    columns->types = arena_new_object(query, (room + 1) * sizeof *columns->types);
    columns->names = arena_new_object(query, (room + 1) * sizeof *columns->names);
    columns->count = 0;
}

static void columns_add(struct columns *columns, const struct type_field *field)
{
    columns->types[columns->count] = field->type;
    columns->names[columns->count++] = field->name;
}

static enum status open_aggregate(struct arena *query, struct state_decoder *decoder,
                                  struct error *err)
{
    const struct plan_node *node = decoder->node;
    decoder->omitted = UINT32_MAX;
    if (decoder->kind == DECODE_PANES)
        decoder->omitted = (uint32_t)node->aggregate.pane_key;
    if (decoder->kind == DECODE_SESSIONS)
        decoder->omitted = (uint32_t)session_key_of(node);
    TRY(aggregate_calls_open(&decoder->calls, query, node, err));
    columns_init(query, &decoder->keys, decoder->calls.key_count);
    for (uint32_t i = 0; i < decoder->calls.key_count; i++)
        if (i != decoder->omitted) {
            columns_add(&decoder->keys, &node->schema->fields[i]);
            decoder->keys.types[decoder->keys.count - 1] = decoder->calls.key_types[i];
        }
    return OK;
}

/* Whether a row of a join has a field of the name of its column `at` before it. */
static bool is_taken(const struct columns *columns, uint32_t at)
{
    static const char *const own[] = {"partition", "side", "matched", "expiresAt"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(own[i], columns->names[at]) == 0)
            return true;
    for (uint32_t i = 0; i < at; i++)
        if (strcmp(columns->names[i], columns->names[at]) == 0)
            return true;
    return false;
}

/* A row is one JSON object, of which readers find one field of a name: others get a number. */
static void number_equal_names(struct arena *query, struct columns *columns)
{
    for (uint32_t i = 0; i < columns->count; i++) {
        const char *name = columns->names[i];
        for (unsigned n = 2; is_taken(columns, i); n++)
            columns->names[i] = arena_sprintf(query, "%s_%u", name, n);
    }
}

static void open_join(struct arena *query, struct state_decoder *decoder)
{
    for (int side = 0; side < 2; side++) {
        const struct type *schema = decoder->node->children[side]->schema;
        columns_init(query, &decoder->sides[side], schema->field_count);
        for (uint32_t i = 0; i < schema->field_count; i++)
            columns_add(&decoder->sides[side], &schema->fields[i]);
        number_equal_names(query, &decoder->sides[side]);
    }
    join_limits(decoder->node, decoder->limits);
}

enum status state_decoder_new(struct arena *query, const struct plan_node *node,
                              const char *time_zone, struct state_decoder **out, struct error *err)
{
    struct state_decoder *decoder = arena_new_object(query, sizeof *decoder);
    decoder->magic = DECODER_MAGIC;
    decoder->node = node;
    decoder->kind = kind_of(node);
    decoder->zone = timezone_utc();
    if (time_zone != NULL)
        TRY(timezone_find(bytes_of_text(time_zone), &decoder->zone, err));
    switch (decoder->kind) {
    case DECODE_AGGREGATE:
    case DECODE_PANES:
    case DECODE_SESSIONS:
        TRY(open_aggregate(query, decoder, err));
        break;
    case DECODE_DEDUP:
        columns_init(query, &decoder->keys, node->dedup.column_count);
        for (uint32_t i = 0; i < node->dedup.column_count; i++)
            columns_add(&decoder->keys, &node->schema->fields[node->dedup.columns[i]]);
        break;
    case DECODE_JOIN:
        open_join(query, decoder);
        break;
    case DECODE_LIMIT:
        break;
    }
    decoder->arena = arena_new("state rows", 0);
    *out = decoder;
    return OK;
}

void state_decoder_free(struct state_decoder *decoder)
{
    if (decoder == NULL)
        return;
    CHECK_MAGIC(decoder, DECODER_MAGIC);
    arena_free(decoder->arena);
    buffer_fini(&decoder->text);
}

/* ---- what the columns are ---- */

static void put_column(struct json_writer *json, const char *name, const char *type,
                       const char *role)
{
    json_begin_object(json, NULL);
    json_put_text(json, "name", name);
    json_put_text(json, "type", type);
    json_put_text(json, "role", role);
    json_end_object(json);
}

static void put_typed(struct json_writer *json, const char *name, const struct type *type,
                      const char *role)
{
    struct buffer text = {0};
    type_print_simple(&text, type);
    put_column(json, name, buffer_text(&text), role);
    buffer_fini(&text);
}

static void put_columns(struct json_writer *json, const struct columns *columns, const char *role)
{
    for (uint32_t i = 0; i < columns->count; i++)
        put_typed(json, columns->names[i], columns->types[i], role);
}

static void put_values(struct json_writer *json, const struct state_decoder *decoder)
{
    const struct plan_node *node = decoder->node;
    for (uint32_t i = 0; i < decoder->calls.count; i++) {
        const struct type_field *field = &node->schema->fields[decoder->calls.key_count + i];
        put_typed(json, field->name, field->type, "value");
    }
}

void state_decoder_columns(const struct state_decoder *decoder, struct buffer *out)
{
    struct json_writer json = json_writer_to(out);
    CHECK_MAGIC(decoder, DECODER_MAGIC);
    json_begin_array(&json, NULL);
    put_columns(&json, &decoder->keys, "key");
    switch (decoder->kind) {
    case DECODE_AGGREGATE:
        put_values(&json, decoder);
        put_column(&json, "endsAt", "timestamp", "time");
        break;
    case DECODE_PANES:
        put_values(&json, decoder);
        put_column(&json, "paneEnd", "timestamp", "time");
        break;
    case DECODE_SESSIONS:
        put_column(&json, "sessionStart", "timestamp", "key");
        put_column(&json, "sessionEnd", "timestamp", "key");
        put_values(&json, decoder);
        break;
    case DECODE_DEDUP:
        put_column(&json, "expiresAt", "timestamp", "time");
        break;
    case DECODE_JOIN:
        put_column(&json, "side", "string", "key");
        put_columns(&json, &decoder->sides[0], "left");
        put_columns(&json, &decoder->sides[1], "right");
        put_column(&json, "matched", "boolean", "value");
        put_column(&json, "expiresAt", "timestamp", "time");
        break;
    case DECODE_LIMIT:
        put_column(&json, "rowsPassed", "bigint", "value");
        break;
    }
    json_end_array(&json);
}

/* ---- rows ---- */

static void put_key(struct buffer *out, const char *name)
{
    buffer_add_text(out, ",");
    buffer_add_json_string(out, bytes_of_text(name));
    buffer_add_text(out, ":");
}

/* Numbers that JSON can hold, and truth values, as themselves; everything else as its text. */
static bool is_bare(const struct type *type, const char *text)
{
    switch ((int)type->id) {
    case TYPE_BOOLEAN:
    case TYPE_BYTE:
    case TYPE_SHORT:
    case TYPE_INT:
    case TYPE_LONG:
        return true;
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_DECIMAL:
        return strspn(text, "0123456789+-.eE") == strlen(text);
    default:
        return false;
    }
}

static void put_cell(struct state_decoder *decoder, struct buffer *out, const char *name,
                     const struct vector *vector)
{
    put_key(out, name);
    if (vector_is_null(vector, 0)) {
        buffer_add_text(out, "null");
        return;
    }
    buffer_clear(&decoder->text);
    value_text_print(&decoder->text, vector, 0, decoder->zone);
    if (is_bare(vector->type, buffer_text(&decoder->text)))
        buffer_add_bytes(out, buffer_bytes(&decoder->text));
    else
        buffer_add_json_string(out, buffer_bytes(&decoder->text));
}

static void put_time(struct buffer *out, const char *name, int64_t time_us)
{
    char iso[CLOCK_ISO_SIZE];
    put_key(out, name);
    if (time_us == STATE_NO_END) {
        buffer_add_text(out, "null");
        return;
    }
    clock_format_iso(time_us, iso);
    buffer_printf(out, "\"%s\"", iso);
}

static enum status put_row_key(struct state_decoder *decoder, const struct columns *columns,
                               struct bytes key, struct buffer *out, struct error *err)
{
    struct vector **vectors =
        arena_new_object(decoder->arena, (columns->count + 1) * sizeof(struct vector *));
    if (columns->count > 0)
        TRY(row_key_decode(decoder->arena, columns->types, columns->count, &key, 1, vectors, err));
    for (uint32_t i = 0; i < columns->count; i++)
        put_cell(decoder, out, columns->names[i], vectors[i]);
    return OK;
}

static enum status put_functions(struct state_decoder *decoder, struct bytes value,
                                 struct buffer *out, struct error *err)
{
    const struct aggregate_calls *calls = &decoder->calls;
    struct exec_context ctx = {.batch_arena = decoder->arena};
    ctx.eval.arena = decoder->arena;
    ctx.eval.zone = decoder->zone;
    uint8_t *block = arena_new_object(decoder->arena, calls->block_bytes + 8);
    struct vector **vectors =
        arena_new_object(decoder->arena, (calls->count + 1) * sizeof(struct vector *));
    aggregate_calls_init(calls, block);
    TRY(aggregate_calls_load(calls, decoder->arena, value, block, err));
    TRY(aggregate_calls_finish(calls, &ctx, &block, 1, vectors, err));
    for (uint32_t i = 0; i < calls->count; i++)
        put_cell(decoder, out, decoder->node->schema->fields[calls->key_count + i].name,
                 vectors[i]);
    return OK;
}

static enum status damaged(struct error *err)
{
    return error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "an entry of the state", NULL);
}

static enum status begin_row(struct state_decoder *decoder, const struct state_decoder_entry *entry,
                             struct buffer *out, uint32_t *rows, struct error *err)
{
    buffer_printf(out, "%s{\"partition\":%" PRIu32, (*rows)++ == 0 ? "" : ",", entry->partition);
    return put_row_key(decoder, &decoder->keys, entry->key, out, err);
}

static enum status print_sessions(struct state_decoder *decoder,
                                  const struct state_decoder_entry *entry, struct buffer *out,
                                  uint32_t *rows, struct error *err)
{
    struct bytes value = entry->value;
    while (value.size_bytes > 0) {
        uint64_t start = 0, end = 0, size = 0;
        if (!varint_take(&value, &start) || !varint_take(&value, &end) ||
            !varint_take(&value, &size) || size > value.size_bytes)
            return damaged(err);
        TRY(begin_row(decoder, entry, out, rows, err));
        put_time(out, "sessionStart", (int64_t)start);
        put_time(out, "sessionEnd", (int64_t)end);
        TRY(put_functions(decoder, bytes_of(value.data, (size_t)size), out, err));
        buffer_add_text(out, "}");
        value = bytes_of(value.data + size, value.size_bytes - (size_t)size);
    }
    return OK;
}

/* The watermark at which a row is forgotten: entries are put by the time in the row itself. */
static int64_t expiry_of(const struct join_limit *limit, int64_t bucket)
{
    int64_t expires_us = bucket;
    if (limit->kind == JOIN_LIMIT_VALUE && bucket != STATE_NO_END &&
        __builtin_sub_overflow(bucket, limit->offset_us, &expires_us))
        return STATE_NO_END;
    return expires_us;
}

static enum status print_join(struct state_decoder *decoder,
                              const struct state_decoder_entry *entry, struct buffer *out,
                              struct error *err)
{
    if (entry->key.size_bytes < SEQ_BYTES || entry->key.data[0] > 1 || entry->value.size_bytes == 0)
        return damaged(err);
    int side = entry->key.data[0];
    buffer_printf(out, "{\"partition\":%" PRIu32 ",\"side\":\"%s\"", entry->partition,
                  side == 0 ? "left" : "right");
    TRY(put_row_key(decoder, &decoder->sides[side],
                    bytes_of(entry->value.data + 1, entry->value.size_bytes - 1), out, err));
    buffer_printf(out, ",\"matched\":%s", entry->value.data[0] != 0 ? "true" : "false");
    put_time(out, "expiresAt", expiry_of(&decoder->limits[side], entry->bucket));
    buffer_add_text(out, "}");
    return OK;
}

static enum status print_dedup(struct state_decoder *decoder,
                               const struct state_decoder_entry *entry, struct buffer *out,
                               uint32_t *rows, struct error *err)
{
    int64_t end_us = 0;
    if (entry->value.size_bytes != sizeof end_us)
        return damaged(err);
    memcpy(&end_us, entry->value.data, sizeof end_us);
    TRY(begin_row(decoder, entry, out, rows, err));
    put_time(out, "expiresAt", end_us);
    buffer_add_text(out, "}");
    return OK;
}

static enum status print_limit(const struct state_decoder_entry *entry, struct buffer *out,
                               struct error *err)
{
    struct bytes value = entry->value;
    uint64_t passed = 0;
    if (!varint_take(&value, &passed))
        return damaged(err);
    buffer_printf(out, "{\"partition\":%" PRIu32 ",\"rowsPassed\":%" PRIu64 "}", entry->partition,
                  passed);
    return OK;
}

static enum status print_group(struct state_decoder *decoder,
                               const struct state_decoder_entry *entry, struct buffer *out,
                               uint32_t *rows, struct error *err)
{
    bool panes = decoder->kind == DECODE_PANES;
    if (panes && entry->bucket == INT64_MIN)
        return OK; /* which windows are closed: no group */
    TRY(begin_row(decoder, entry, out, rows, err));
    TRY(put_functions(decoder, entry->value, out, err));
    put_time(out, panes ? "paneEnd" : "endsAt", entry->bucket);
    buffer_add_text(out, "}");
    return OK;
}

enum status state_decoder_print(struct state_decoder *decoder,
                                const struct state_decoder_entry *entry, struct buffer *out,
                                uint32_t *rows, struct error *err)
{
    CHECK_MAGIC(decoder, DECODER_MAGIC);
    *rows = 0;
    arena_reset(decoder->arena);
    switch (decoder->kind) {
    case DECODE_AGGREGATE:
    case DECODE_PANES:
        return print_group(decoder, entry, out, rows, err);
    case DECODE_SESSIONS:
        return print_sessions(decoder, entry, out, rows, err);
    case DECODE_DEDUP:
        return print_dedup(decoder, entry, out, rows, err);
    case DECODE_JOIN:
        *rows = 1;
        return print_join(decoder, entry, out, err);
    case DECODE_LIMIT:
        *rows = 1;
        return print_limit(entry, out, err);
    }
    return OK;
}
