/*
 * See join_spill.h.
 */
#include "exec/join_spill.h"

#include "base/check.h"
#include "base/heap.h"

#include <stdlib.h>

#define MATCHED 2 /* in the byte of the side */

struct saved_row {
    uint64_t seq;
    int64_t end_us;
    uint32_t size;
    uint8_t flags;
};
#define SAVED_BYTES 21
#define KEY_BYTES   150 /* of memory for a key that comes back to go, besides its bytes */
#define ROW_BYTES   250 /* for each of its rows */

void join_spill_init(struct join_spill *self, struct join_rows *left, struct join_rows *right)
{
    self->rows[0] = left;
    self->rows[1] = right;
    self->first_us[0] = self->first_us[1] = INT64_MAX;
}

void join_spill_fini(struct join_spill *self)
{
    spill_fini(&self->spill);
    arena_free(self->wanted);
    arena_free(self->gone_keys);
    free(self->gone);
}

static bool is_in_memory(const struct join_spill *self, struct bytes key, uint64_t hash)
{
    return join_rows_find(self->rows[0], key, hash) != NULL ||
           join_rows_find(self->rows[1], key, hash) != NULL;
}

/* ---- the bytes of a key's rows ---- */

static void save_row(int side, const struct join_row *row, struct buffer *out)
{
    uint8_t flags = (uint8_t)(side + (row->matched ? MATCHED : 0));
    buffer_add_byte(out, flags);
    buffer_add(out, &row->end_us, sizeof row->end_us);
    buffer_add(out, &row->seq, sizeof row->seq);
    buffer_add(out, &row->size, sizeof row->size);
    buffer_add(out, row->bytes, row->size);
}

/* The last first: each that is loaded comes before those that are there. */
static void save_rows(const struct join_spill *self, int side, struct bytes key, struct buffer *out)
{
    const struct join_row *row = join_rows_find(self->rows[side], key, state_hash(key));
    while (row != NULL && row->next != NULL)
        row = row->next;
    for (; row != NULL; row = row->prev)
        save_row(side, row, out);
}

static enum status read_row(struct bytes *value, struct saved_row *out, struct bytes *bytes,
                            struct error *err)
{
    const uint8_t *at = value->data;
    bool whole = value->size_bytes >= SAVED_BYTES;
    if (whole) {
        out->flags = at[0];
        memcpy(&out->end_us, at + 1, sizeof out->end_us);
        memcpy(&out->seq, at + 9, sizeof out->seq);
        memcpy(&out->size, at + 17, sizeof out->size);
        whole = value->size_bytes - SAVED_BYTES >= out->size && out->flags < 2 * MATCHED;
    }
    if (!whole)
        return error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "rows of a join on the disk",
                           NULL);
    *bytes = bytes_of(at + SAVED_BYTES, out->size);
    *value = bytes_of(at + SAVED_BYTES + out->size, value->size_bytes - SAVED_BYTES - out->size);
    return OK;
}

/* ---- back into memory ---- */

struct pass {
    struct spill_receiver base;
    struct join_spill *join;
    const int64_t *limits_us;
    uint64_t keys; /* that came back */
};

static enum status load_key(struct spill_receiver *self, int64_t bucket, struct bytes key,
                            struct bytes value, struct error *err)
{
    struct pass *pass = (struct pass *)self;
    struct join_spill *join = pass->join;
    uint64_t hash = state_hash(key);
    (void)bucket;
    while (value.size_bytes > 0) {
        struct saved_row saved = {0};
        struct bytes bytes;
        TRY(read_row(&value, &saved, &bytes, err));
        struct join_row *row = join_rows_add(join->rows[saved.flags % MATCHED], key, hash, bytes,
                                             saved.end_us, saved.seq);
        row->matched = saved.flags >= MATCHED;
        join->row_count -= join->row_count > 0 ? 1 : 0;
    }
    pass->keys++;
    return OK;
}

void join_spill_want(struct join_spill *self, struct bytes key, uint64_t hash)
{
    if (spill_is_empty(&self->spill) || is_in_memory(self, key, hash))
        return;
    if (self->wanted == NULL)
        self->wanted = arena_new("wanted keys", 0);
    spill_want(&self->spill, STATE_NO_END, hash, arena_copy(self->wanted, key));
}

enum status join_spill_fetch(struct join_spill *self, struct error *err)
{
    struct pass pass = {.base = {.receive = load_key}, .join = self};
    TRY(spill_fetch(&self->spill, &pass.base, err));
    if (self->wanted != NULL)
        arena_reset(self->wanted);
    return OK;
}

/* Loads the key if one of its rows has ended. */
static enum status load_ended(struct spill_receiver *self, int64_t bucket, struct bytes key,
                              struct bytes value, struct error *err)
{
    struct pass *pass = (struct pass *)self;
    struct join_spill *join = pass->join;
    int64_t first_us[2] = {INT64_MAX, INT64_MAX};
    bool ended = false;
    uint64_t memory = KEY_BYTES + 4 * (key.size_bytes + value.size_bytes);
    if (is_in_memory(join, key, state_hash(key)))
        return OK;
    for (struct bytes rest = value; rest.size_bytes > 0;) {
        struct saved_row saved = {0};
        struct bytes bytes;
        TRY(read_row(&rest, &saved, &bytes, err));
        int side = saved.flags % MATCHED;
        memory += ROW_BYTES;
        ended = ended || saved.end_us <= pass->limits_us[side];
        if (saved.end_us < first_us[side])
            first_us[side] = saved.end_us;
    }
    if (ended) {
        spill_walk_take(&join->walk, memory);
        return load_key(self, bucket, key, value, err);
    }
    for (int side = 0; side < 2; side++)
        if (first_us[side] < join->first_us[side])
            join->first_us[side] = first_us[side];
    return OK;
}

enum status join_spill_sift(struct join_spill *self, const int64_t limits_us[2], uint64_t room,
                            bool *more, struct error *err)
{
    struct pass pass = {.base = {.receive = load_ended}, .join = self, .limits_us = limits_us};
    struct spill_bucket *spilled = spill_find(&self->spill, STATE_NO_END);
    bool none = self->first_us[0] > limits_us[0] && self->first_us[1] > limits_us[1];
    *more = false;
    if (spilled == NULL || (!self->walking && none))
        return OK;
    if (!self->walking) {
        self->walk = (struct spill_walk){0};
        self->first_us[0] = self->first_us[1] = INT64_MAX;
    }
    self->walk.room = room;
    TRY(spill_walk(&self->spill, STATE_NO_END, &self->walk, &pass.base, err));
    self->walking = *more = !self->walk.over;
    spilled->entries -= pass.keys < spilled->entries ? pass.keys : spilled->entries;
    self->spill.fetched += pass.keys;
    return OK;
}

/* ---- what has gone ---- */

void join_spill_note_gone(struct join_spill *self, struct bytes key)
{
    if (spill_is_empty(&self->spill))
        return;
    if (self->gone_keys == NULL)
        self->gone_keys = arena_new("keys that have gone", 0);
    if (self->gone_count == self->gone_capacity) {
        self->gone_capacity = self->gone_capacity == 0 ? 256 : self->gone_capacity * 2;
        self->gone = heap_realloc(self->gone, self->gone_capacity * sizeof *self->gone);
    }
    self->gone[self->gone_count++] = arena_copy(self->gone_keys, key);
}

static struct bytes gone_key(struct spill_source *self, const void *item)
{
    (void)self;
    return *(const struct bytes *)item;
}

enum status join_spill_forget_gone(struct join_spill *self, struct error *err)
{
    struct spill_source source = {.key = gone_key};
    uint32_t count = self->gone_count;
    if (count == 0)
        return OK;
    self->gone_count = self->gone_capacity = 0;
    enum status status = OK;
    for (uint32_t i = 0; i < count && status == OK; i++) {
        uint64_t hash = state_hash(self->gone[i]);
        if (!is_in_memory(self, self->gone[i], hash))
            status = spill_put(&self->spill, STATE_NO_END, hash, &self->gone[i], &source, err);
    }
    if (status == OK)
        status = spill_flush(&self->spill, STATE_NO_END, &source, err);
    free(self->gone);
    self->gone = NULL;
    arena_reset(self->gone_keys);
    arena_trim(self->gone_keys);
    return status;
}

/* ---- to the disk ---- */

struct leaving {
    struct spill_source base;
    const struct join_spill *join;
};

static struct bytes leaving_key(struct spill_source *self, const void *item)
{
    return join_rows_entry_key(((struct leaving *)self)->join->rows[0], item);
}

static void leaving_value(struct spill_source *self, const void *item, struct buffer *out)
{
    const struct join_spill *join = ((struct leaving *)self)->join;
    struct bytes key = join_rows_entry_key(join->rows[0], item);
    save_rows(join, 0, key, out);
    save_rows(join, 1, key, out);
}

static enum status leave(struct join_spill *self, int side, struct error *err)
{
    struct leaving leaving = {.base = {.key = leaving_key, .value = leaving_value}, .join = self};
    struct state_cursor cursor = {0};
    struct state_entry *entry = NULL;
    while ((entry = join_rows_next_key(self->rows[side], &cursor)) != NULL) {
        struct bytes key = join_rows_entry_key(self->rows[side], entry);
        uint64_t hash = state_hash(key);
        for (const struct join_row *row = join_rows_find(self->rows[side], key, hash); row != NULL;
             row = row->next)
            if (row->end_us < self->first_us[side])
                self->first_us[side] = row->end_us;
        if (side == 0 || join_rows_find(self->rows[0], key, hash) == NULL)
            TRY(spill_put(&self->spill, STATE_NO_END, hash, entry, &leaving.base, err));
    }
    return side == 0 ? OK : spill_flush(&self->spill, STATE_NO_END, &leaving.base, err);
}

enum status join_spill_let_go(struct join_spill *self, struct error *err)
{
    TRY(leave(self, 0, err));
    TRY(leave(self, 1, err));
    for (int side = 0; side < 2; side++) {
        self->row_count += join_rows_count(self->rows[side]);
        join_rows_clear(self->rows[side]);
    }
    spill_let_go(&self->spill, STATE_NO_END);
    spill_trim(&self->spill);
    if (self->wanted != NULL)
        arena_trim(self->wanted);
    return OK;
}

uint64_t join_spill_bytes(const struct join_spill *self)
{
    uint64_t bytes = spill_bytes(&self->spill) + self->gone_capacity * sizeof *self->gone;
    if (self->wanted != NULL)
        bytes += arena_used_bytes(self->wanted);
    if (self->gone_keys != NULL)
        bytes += arena_used_bytes(self->gone_keys);
    return bytes;
}
