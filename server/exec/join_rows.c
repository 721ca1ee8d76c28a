/*
 * See join_rows.h.
 */
#include "exec/join_rows.h"

#include "base/check.h"
#include "base/heap.h"

#include <stdlib.h>

#define SLICE_US 1000000

/* Rows that end within one second. */
struct slice {
    int64_t end; /* exclusive end of the second, in units of SLICE_US */
    struct join_row **rows;
    uint32_t count;
    uint32_t capacity;
};

struct join_rows {
    struct state_table *keys; /* value: the first row of the key */
    struct state_bucket *bucket;
    struct slice *slices; /* ascending */
    uint32_t slice_count;
    uint32_t slice_capacity;
    uint64_t count;
    uint64_t bytes;
};

struct join_rows *join_rows_new(void)
{
    struct join_rows *rows = heap_calloc(1, sizeof *rows);
    rows->keys = state_table_new(sizeof(struct join_row *));
    rows->bucket = state_bucket_open(rows->keys, STATE_NO_END);
    return rows;
}

static struct join_row *first_of(struct state_entry *entry)
{
    struct join_row *row = NULL;
    memcpy(&row, state_value(entry), sizeof row);
    return row;
}

static void set_first(struct state_entry *entry, struct join_row *row)
{
    memcpy(state_value(entry), &row, sizeof row);
}

static void free_content(struct join_rows *rows)
{
    struct state_cursor cursor = {0};
    struct state_entry *entry = NULL;
    while ((entry = state_next(rows->keys, rows->bucket, &cursor)) != NULL)
        for (struct join_row *row = first_of(entry), *next = NULL; row != NULL; row = next) {
            next = row->next;
            free(row);
        }
    state_table_free(rows->keys);
    for (uint32_t i = 0; i < rows->slice_count; i++)
        free(rows->slices[i].rows);
    free(rows->slices);
}

void join_rows_free(struct join_rows *rows)
{
    if (rows == NULL)
        return;
    free_content(rows);
    free(rows);
}

void join_rows_clear(struct join_rows *rows)
{
    free_content(rows);
    *rows = (struct join_rows){.keys = state_table_new(sizeof(struct join_row *))};
    rows->bucket = state_bucket_open(rows->keys, STATE_NO_END);
}

struct state_entry *join_rows_next_key(const struct join_rows *rows, struct state_cursor *cursor)
{
    return state_next(rows->keys, rows->bucket, cursor);
}

struct bytes join_rows_entry_key(const struct join_rows *rows, const struct state_entry *entry)
{
    return state_key(rows->keys, entry);
}

struct join_row *join_rows_find(const struct join_rows *rows, struct bytes key, uint64_t hash)
{
    struct state_entry *entry = state_find(rows->keys, rows->bucket, key, hash);
    return entry == NULL ? NULL : first_of(entry);
}

static int64_t slice_of(int64_t end_us)
{
    int64_t slice = end_us / SLICE_US;
    return end_us % SLICE_US < 0 ? slice - 1 : slice;
}

static uint32_t slice_index(const struct join_rows *rows, int64_t end)
{
    uint32_t low = 0;
    uint32_t high = rows->slice_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (rows->slices[middle].end < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct slice *open_slice(struct join_rows *rows, int64_t end)
{
    uint32_t index = slice_index(rows, end);
    if (index < rows->slice_count && rows->slices[index].end == end)
        return &rows->slices[index];
    if (rows->slice_count == rows->slice_capacity) {
        rows->slice_capacity = rows->slice_capacity == 0 ? 16 : rows->slice_capacity * 2;
        rows->slices = heap_realloc(rows->slices, rows->slice_capacity * sizeof *rows->slices);
    }
    memmove(rows->slices + index + 1, rows->slices + index,
            (rows->slice_count - index) * sizeof *rows->slices);
    rows->slices[index] = (struct slice){.end = end};
    rows->slice_count++;
    return &rows->slices[index];
}

static void add_to_slice(struct slice *slice, struct join_row *row)
{
    if (slice->count == slice->capacity) {
        slice->capacity = slice->capacity == 0 ? 8 : slice->capacity * 2;
        slice->rows = heap_realloc(slice->rows, slice->capacity * sizeof *slice->rows);
    }
    row->at = slice->count;
    slice->rows[slice->count++] = row;
}

struct join_row *join_rows_add(struct join_rows *rows, struct bytes key, uint64_t hash,
                               struct bytes bytes, int64_t end_us, uint64_t seq)
{
    bool added = false;
    CHECK(bytes.size_bytes <= UINT32_MAX); /* a row of columnar/row_key.h has less */
    struct state_entry *entry = state_add(rows->keys, rows->bucket, key, hash, &added);
    struct join_row *row = heap_malloc(sizeof *row + bytes.size_bytes);
    *row = (struct join_row){
        .key = entry, .end_us = end_us, .seq = seq, .size = (uint32_t)bytes.size_bytes};
    if (bytes.size_bytes > 0)
        memcpy(row->bytes, bytes.data, bytes.size_bytes);
    struct join_row *first = added ? NULL : first_of(entry);
    row->next = first;
    if (first != NULL)
        first->prev = row;
    set_first(entry, row);
    if (end_us != STATE_NO_END)
        add_to_slice(open_slice(rows, slice_of(end_us)), row);
    rows->count++;
    rows->bytes += sizeof *row + bytes.size_bytes + sizeof(struct join_row *);
    return row;
}

/* Takes a row out of its key's list; the slice is the caller's business. */
static void unlink_row(struct join_rows *rows, struct join_row *row)
{
    if (row->prev != NULL)
        row->prev->next = row->next;
    else if (row->next != NULL)
        set_first(row->key, row->next);
    else
        state_remove(rows->keys, rows->bucket, row->key);
    if (row->next != NULL)
        row->next->prev = row->prev;
    rows->count--;
    rows->bytes -= sizeof *row + row->size + sizeof(struct join_row *);
    free(row);
}

void join_rows_remove(struct join_rows *rows, struct join_row *row)
{
    if (row->end_us != STATE_NO_END) {
        struct slice *slice = open_slice(rows, slice_of(row->end_us));
        CHECK(row->at < slice->count && slice->rows[row->at] == row);
        slice->rows[row->at] = slice->rows[--slice->count];
        slice->rows[row->at]->at = row->at;
    }
    unlink_row(rows, row);
}

enum status join_rows_evict(struct join_rows *rows, int64_t limit_us,
                            enum status (*gone)(void *arg, struct join_row *row, struct error *err),
                            void *arg, struct error *err)
{
    int64_t last = slice_of(limit_us);
    uint32_t emptied = 0;
    for (uint32_t i = 0; i < rows->slice_count && rows->slices[i].end <= last; i++) {
        struct slice *slice = &rows->slices[i];
        uint32_t kept = 0;
        for (uint32_t r = 0; r < slice->count; r++) {
            struct join_row *row = slice->rows[r];
            if (row->end_us > limit_us) {
                row->at = kept;
                slice->rows[kept++] = row;
                continue;
            }
            TRY(gone(arg, row, err));
            unlink_row(rows, row);
        }
        slice->count = kept;
        if (kept == 0 && i == emptied) {
            free(slice->rows);
            slice->rows = NULL;
            emptied++;
        }
    }
    if (emptied == 0)
        return OK;
    rows->slice_count -= emptied;
    memmove(rows->slices, rows->slices + emptied, rows->slice_count * sizeof *rows->slices);
    return OK;
}

struct bytes join_row_key(const struct join_rows *rows, const struct join_row *row)
{
    return state_key(rows->keys, row->key);
}

uint64_t join_rows_count(const struct join_rows *rows)
{
    return rows->count;
}

uint64_t join_rows_bytes(const struct join_rows *rows)
{
    uint64_t slices = rows->slice_capacity * sizeof *rows->slices;
    return rows->bytes + slices + state_table_bytes(rows->keys);
}

void join_rows_pack(struct join_rows *rows)
{
    struct state_cursor cursor = {0};
    struct state_entry *entry = NULL;
    if (!state_bucket_pack(rows->keys, rows->bucket))
        return;
    while ((entry = state_next(rows->keys, rows->bucket, &cursor)) != NULL)
        for (struct join_row *row = first_of(entry); row != NULL; row = row->next)
            row->key = entry;
}
