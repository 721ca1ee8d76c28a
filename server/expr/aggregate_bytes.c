/* Values of aggregate states as bytes: boxes, lists, sets; and how they are saved. */
#include "base/arena_own.h"
#include "base/check.h"
#include "base/hash.h"
#include "columnar/row_key.h"
#include "expr/aggregate_impl.h"

enum status aggregate_set_null(const struct aggregate_update *call, struct vector *out, uint32_t i,
                               struct error *err)
{
    if (out->validity == NULL)
        TRY(vector_make_nullable(call->ctx->arena, out, err));
    vector_set_null(out, i);
    return OK;
}

/* ---- numbers ---- */

enum status(aggregate_corrupt)(struct error *err)
{
    return error_set(err, STATUS_CHECKSUM_MISMATCH, "the state of an aggregate is damaged");
}

void aggregate_save_plain(const struct expr *expr, const uint8_t *state, struct buffer *out)
{
    buffer_add(out, state, aggregate_state_bytes(expr));
}

enum status aggregate_load_plain(const struct expr *expr, struct arena *arena, struct bytes in,
                                 uint8_t *state, struct error *err)
{
    (void)arena;
    if (in.size_bytes != aggregate_state_bytes(expr))
        return aggregate_corrupt(err);
    memcpy(state, in.data, in.size_bytes);
    return OK;
}

bool take_bytes(struct bytes *in, size_t size, struct bytes *out)
{
    if (in->size_bytes < size)
        return false;
    *out = bytes_of(in->data, size);
    *in = bytes_of(in->data + size, in->size_bytes - size);
    return true;
}

bool take_u32(struct bytes *in, uint32_t *out)
{
    struct bytes raw;
    if (!take_bytes(in, sizeof *out, &raw))
        return false;
    memcpy(out, raw.data, sizeof *out);
    return true;
}

bool take_u64(struct bytes *in, uint64_t *out)
{
    struct bytes raw;
    if (!take_bytes(in, sizeof *out, &raw))
        return false;
    memcpy(out, raw.data, sizeof *out);
    return true;
}

void put_u32(struct buffer *out, uint32_t value)
{
    buffer_add(out, &value, sizeof value);
}

void put_u64(struct buffer *out, uint64_t value)
{
    buffer_add(out, &value, sizeof value);
}

/* ---- cells ---- */

uint32_t value_width(const struct type *type)
{
    if (type->id == TYPE_STRING || type->id == TYPE_BINARY || type->id == TYPE_ARRAY ||
        type->id == TYPE_MAP || type->id == TYPE_VARIANT)
        return 0;
    return (uint32_t)type_value_bytes(type);
}

enum status values_of(const struct aggregate_update *update, uint32_t index, bool normal,
                      struct bytes **out, struct error *err)
{
    struct vector *arg = update->args[index];
    void *memory;
    TRY(arena_alloc(update->ctx->arena, (size_t)update->selected + 1, sizeof(struct bytes), &memory,
                    err));
    struct bytes *values = memory;
    *out = values;
    if (arg->type->id == TYPE_VOID)
        return OK;
    uint32_t width = normal ? 0 : value_width(arg->type);
    if (width == 0)
        TRY(row_key_encode(update->ctx->arena, &arg, 1, update->selection, update->selected, values,
                           err));
    for (uint32_t i = 0; i < update->selected; i++) {
        uint32_t row = aggregate_row(update, i);
        if (vector_is_null(arg, row))
            values[i] = (struct bytes){0};
        else if (width > 0)
            values[i] =
                bytes_of((uint8_t *)arg->values + (size_t)vector_index(arg, row) * width, width);
    }
    return OK;
}

enum status values_to_vector(struct arena *arena, const struct type *type, bool normal,
                             const struct bytes *values, uint32_t count, struct vector **out,
                             struct error *err)
{
    uint32_t width = normal ? 0 : value_width(type);
    if (type->id == TYPE_VOID)
        return vector_new(arena, type, count, out, err);
    if (width > 0) {
        TRY(vector_new(arena, type, count, out, err));
        for (uint32_t i = 0; i < count; i++) {
            if (values[i].data != NULL) {
                memcpy((uint8_t *)(*out)->values + (size_t)i * width, values[i].data, width);
                continue;
            }
            if ((*out)->validity == NULL)
                TRY(vector_make_nullable(arena, *out, err));
            vector_set_null(*out, i);
        }
        return OK;
    }
    static const uint8_t null_key[] = {0};
    void *memory;
    TRY(arena_alloc(arena, (size_t)count + 1, sizeof(struct bytes), &memory, err));
    struct bytes *keys = memory;
    for (uint32_t i = 0; i < count; i++)
        keys[i] = values[i].data == NULL ? bytes_of(null_key, 1) : values[i];
    return row_key_decode(arena, &type, 1, keys, count, out, err);
}

/* ---- boxes ---- */

enum status value_box_set(struct value_box *box, struct arena *arena, struct bytes value,
                          struct error *err)
{
    box->set = true;
    box->null = value.data == NULL;
    if (value.size_bytes > UINT32_MAX / 2)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "a value of an aggregate", "limit",
                           "2147483647", NULL);
    if (value.size_bytes > box->capacity) {
        uint32_t capacity = (uint32_t)value.size_bytes + (uint32_t)value.size_bytes / 4 + 8;
        void *memory;
        TRY(arena_alloc_raw(arena, capacity, 1, &memory, err));
        box->data = memory;
        box->capacity = capacity;
    }
    box->size = (uint32_t)value.size_bytes;
    if (value.size_bytes > 0 && !box->null)
        memcpy(box->data, value.data, value.size_bytes);
    return OK;
}

void value_box_save(const struct value_box *box, struct buffer *out)
{
    buffer_add_byte(out, (uint8_t)(box->set | box->null << 1));
    put_u32(out, box->size);
    buffer_add(out, box->data, box->size);
}

enum status value_box_load(struct value_box *box, struct arena *arena, struct bytes *in,
                           struct error *err)
{
    struct bytes flags, value;
    uint32_t size;
    if (!take_bytes(in, 1, &flags) || !take_u32(in, &size) || !take_bytes(in, size, &value))
        return aggregate_corrupt(err);
    *box = (struct value_box){0};
    if (size > 0)
        TRY(value_box_set(box, arena, value, err));
    box->set = (*flags.data & 1) != 0;
    box->null = (*flags.data & 2) != 0;
    return OK;
}

/* ---- lists ---- */

/* A list of so many bytes has memory of its own: its former places would take as much again. */
#define OWN_BYTES ((size_t)32 << 10)

static enum status list_reserve(struct value_list *list, struct arena *arena, size_t more,
                                struct error *err)
{
    size_t wanted = list->size + more;
    if (wanted <= list->capacity)
        return OK;
    if (wanted > UINT32_MAX / 2)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the values of an aggregate",
                           "limit", "2147483647", NULL);
    bool owns = list->capacity >= OWN_BYTES;
    size_t capacity = list->capacity == 0 ? 64 : (size_t)list->capacity * 2;
    if (owns)
        capacity = (size_t)list->capacity + list->capacity / 4;
    if (capacity < wanted)
        capacity = wanted;
    void *memory;
    if (capacity >= OWN_BYTES)
        TRY(arena_own_resize(arena, owns ? list->data : NULL, capacity, &memory, err));
    else
        TRY(arena_alloc_raw(arena, capacity, 1, &memory, err));
    if (list->size > 0 && !owns)
        memcpy(memory, list->data, list->size);
    list->data = memory;
    list->capacity = (uint32_t)capacity;
    return OK;
}

enum status value_list_add(struct value_list *list, struct arena *arena, struct bytes value,
                           struct error *err)
{
    TRY(list_reserve(list, arena, value.size_bytes + sizeof(uint32_t), err));
    uint32_t size = value.data == NULL ? UINT32_MAX : (uint32_t)value.size_bytes;
    memcpy(list->data + list->size, &size, sizeof size);
    if (value.size_bytes > 0)
        memcpy(list->data + list->size + sizeof size, value.data, value.size_bytes);
    list->size += (uint32_t)(value.size_bytes + sizeof size);
    list->count++;
    return OK;
}

bool value_list_next(const struct value_list *list, uint32_t *offset, struct bytes *value)
{
    if (*offset >= list->size)
        return false;
    uint32_t size;
    memcpy(&size, list->data + *offset, sizeof size);
    *offset += (uint32_t)sizeof size;
    if (size == UINT32_MAX) {
        *value = (struct bytes){0};
        return true;
    }
    *value = bytes_of(list->data + *offset, size);
    *offset += size;
    return true;
}

enum status value_list_entries(const struct value_list *list, struct arena *arena,
                               struct bytes **out, struct error *err)
{
    void *memory;
    TRY(arena_alloc(arena, (size_t)list->count + 1, sizeof(struct bytes), &memory, err));
    struct bytes *entries = memory;
    uint32_t offset = 0;
    uint32_t count = 0;
    while (count < list->count && value_list_next(list, &offset, &entries[count]))
        count++;
    *out = entries;
    return OK;
}

void value_list_save(const struct value_list *list, struct buffer *out)
{
    put_u32(out, list->count);
    put_u32(out, list->size);
    buffer_add(out, list->data, list->size);
}

enum status value_list_load(struct value_list *list, struct arena *arena, struct bytes *in,
                            struct error *err)
{
    struct bytes data;
    *list = (struct value_list){0};
    uint32_t count, size;
    if (!take_u32(in, &count) || !take_u32(in, &size) || !take_bytes(in, size, &data))
        return aggregate_corrupt(err);
    while (data.size_bytes > 0) {
        uint32_t length;
        struct bytes value = {0};
        if (!take_u32(&data, &length) ||
            (length != UINT32_MAX && !take_bytes(&data, length, &value)))
            return aggregate_corrupt(err);
        TRY(value_list_add(list, arena, value, err));
    }
    return list->count == count ? OK : aggregate_corrupt(err);
}

/* ---- sets ---- */

static struct bytes set_entry(const struct value_set *set, uint32_t offset)
{
    struct bytes entry = {0};
    (void)value_list_next(&set->list, &offset, &entry);
    return entry;
}

static struct bytes entry_value(struct bytes entry)
{
    CHECK(entry.data != NULL);
    return bytes_of(entry.data + sizeof(uint64_t), entry.size_bytes - sizeof(uint64_t));
}

static uint32_t *find_slot(const struct value_set *set, struct bytes value)
{
    uint32_t mask = set->slot_count - 1;
    uint32_t slot = (uint32_t)hash_bytes(value.data, value.size_bytes) & mask;
    while (set->slots[slot] != 0 &&
           !bytes_equal(entry_value(set_entry(set, set->slots[slot] - 1)), value))
        slot = (slot + 1) & mask;
    return &set->slots[slot];
}

static enum status grow_slots(struct value_set *set, struct arena *arena, struct error *err)
{
    if (set->list.count * 2 < set->slot_count)
        return OK;
    uint32_t count = set->slot_count == 0 ? 8 : set->slot_count * 2;
    void *memory;
    TRY(arena_alloc(arena, count, sizeof(uint32_t), &memory, err));
    set->slots = memory;
    set->slot_count = count;
    uint32_t offset = 0;
    uint32_t start = 0;
    struct bytes entry;
    while (value_list_next(&set->list, &offset, &entry)) {
        *find_slot(set, entry_value(entry)) = start + 1;
        start = offset;
    }
    return OK;
}

enum status value_set_add(struct value_set *set, struct arena *arena, struct bytes value,
                          uint64_t count, struct error *err)
{
    CHECK(value.data != NULL || value.size_bytes == 0);
    TRY(grow_slots(set, arena, err));
    uint32_t *slot = find_slot(set, value);
    if (*slot != 0) {
        uint8_t *at = set->list.data + *slot - 1 + sizeof(uint32_t);
        uint64_t sum;
        memcpy(&sum, at, sizeof sum);
        sum += count;
        memcpy(at, &sum, sizeof sum);
        return OK;
    }
    *slot = set->list.size + 1;
    /* the entry is put together in place: count, then the value */
    TRY(list_reserve(&set->list, arena, value.size_bytes + sizeof(uint32_t) + sizeof count, err));
    uint8_t *at = set->list.data + set->list.size;
    uint32_t size = (uint32_t)(value.size_bytes + sizeof count);
    memcpy(at, &size, sizeof size);
    memcpy(at + sizeof size, &count, sizeof count);
    if (value.size_bytes > 0)
        memcpy(at + sizeof size + sizeof count, value.data, value.size_bytes);
    set->list.size += size + (uint32_t)sizeof size;
    set->list.count++;
    return OK;
}

bool value_set_next(const struct value_set *set, uint32_t *offset, struct bytes *value,
                    uint64_t *count)
{
    struct bytes entry;
    if (!value_list_next(&set->list, offset, &entry) || entry.data == NULL)
        return false;
    memcpy(count, entry.data, sizeof *count);
    *value = entry_value(entry);
    return true;
}

enum status value_set_load(struct value_set *set, struct arena *arena, struct bytes *in,
                           struct error *err)
{
    struct value_list list;
    TRY(value_list_load(&list, arena, in, err));
    *set = (struct value_set){0};
    uint32_t offset = 0;
    struct bytes entry;
    while (value_list_next(&list, &offset, &entry)) {
        uint64_t count;
        if (entry.size_bytes < sizeof count)
            return aggregate_corrupt(err);
        memcpy(&count, entry.data, sizeof count);
        TRY(value_set_add(set, arena, entry_value(entry), count, err));
    }
    return OK;
}
