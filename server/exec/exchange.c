/*
 * See exchange.h.
 */
#include "exec/exchange.h"

#include "base/check.h"
#include "base/hash.h"
#include "base/heap.h"
#include "columnar/row_key.h"
#include "columnar/vector_bytes.h"
#include "expr/program.h"
#include "state/spill_file.h"
#include "state/state_table.h"

#include <stdlib.h>

#define EXCHANGE_MAGIC 0xe8c4a001U
#define MOVED_BYTES    ((size_t)128 << 10) /* at once, unless a piece is larger */
#define PARTS          16

struct piece {
    struct batch batch;
    const uint8_t *parts; /* by row; NULL: there are no keys */
    struct piece *next;
};

struct lane { /* what goes to one partition */
    struct piece *first;
    struct piece **end;
    uint64_t bytes; /* of the pieces' memory */
    uint64_t rows;  /* of all */
    uint64_t moved_bytes;
    struct spill_extents moved[PARTS]; /* what came before */
};

struct exchange_writer {
    uint32_t magic;
    uint32_t key_count;
    const uint32_t *columns;
    const struct expr_program *program;
    struct expr_state *state;
    const struct type *schema;
    struct arena *arena; /* the copies */
    struct lane *lanes;
    uint32_t lane_count;
    uint32_t run;
    struct spill_file *file; /* where pieces have been moved to */
};

enum status exchange_writer_new(struct arena *query, const struct exchange_keys *keys,
                                const struct type *schema, struct exchange_writer **out,
                                struct error *err)
{
    struct exchange_writer *writer = arena_new_object(query, sizeof *writer);
    writer->magic = EXCHANGE_MAGIC;
    writer->key_count = keys->count;
    writer->columns = keys->columns;
    writer->schema = schema;
    *out = writer;
    if (keys->count > 0 && keys->exprs != NULL) {
        TRY(expr_compile(query, keys->exprs, keys->count, &writer->program, err));
        TRY(expr_state_new(query, writer->program, &writer->state, err));
    }
    writer->arena = arena_new("exchange", 0);
    return OK;
}

static void forget_moved(struct lane *lane)
{
    for (uint32_t part = 0; part < PARTS; part++)
        spill_extents_fini(&lane->moved[part]);
    lane->moved_bytes = 0;
}

static void free_lanes(struct exchange_writer *writer)
{
    for (uint32_t i = 0; i < writer->lane_count; i++)
        forget_moved(&writer->lanes[i]);
    free(writer->lanes);
    writer->lanes = NULL;
    writer->lane_count = 0;
}

void exchange_writer_free(struct exchange_writer *writer)
{
    if (writer == NULL)
        return;
    CHECK_MAGIC(writer, EXCHANGE_MAGIC);
    free_lanes(writer);
    arena_free(writer->arena);
    writer->magic = 0;
}

static void clear_lane(struct lane *lane)
{
    lane->first = NULL;
    lane->end = &lane->first;
    lane->bytes = 0;
}

void exchange_begin(struct exchange_writer *writer, const struct exec_context *ctx)
{
    CHECK_MAGIC(writer, EXCHANGE_MAGIC);
    if (writer->run == ctx->run)
        return;
    writer->run = ctx->run;
    arena_reset(writer->arena);
    if (writer->lane_count != ctx->partitions) {
        free_lanes(writer);
        writer->lane_count = ctx->partitions;
        writer->lanes = heap_calloc(writer->lane_count, sizeof *writer->lanes);
    }
    for (uint32_t i = 0; i < writer->lane_count; i++) {
        forget_moved(&writer->lanes[i]);
        clear_lane(&writer->lanes[i]);
        writer->lanes[i].rows = 0;
    }
}

static enum status key_columns(struct exchange_writer *writer, struct exec_context *ctx,
                               const struct batch *batch, struct vector ***out, struct error *err)
{
    void *memory = NULL;
    TRY(arena_alloc(ctx->batch_arena, writer->key_count, sizeof(struct vector *), &memory, err));
    *out = memory;
    if (writer->program != NULL)
        return expr_eval(writer->program, writer->state, &ctx->eval, batch, *out, err);
    for (uint32_t i = 0; i < writer->key_count; i++)
        (*out)[i] = batch->columns[writer->columns[i]];
    return OK;
}

/* Rows of a batch. */
struct choice {
    const uint32_t *rows;
    const uint8_t *parts; /* by place in `rows` */
    uint32_t count;
};

/* Copies them into a lane. */
static enum status add_piece(struct exchange_writer *writer, struct exec_context *ctx,
                             struct lane *lane, const struct batch *batch,
                             const struct choice *choice, struct error *err)
{
    uint32_t count = choice->count;
    uint32_t width = batch->schema->field_count;
    size_t before = arena_used_bytes(writer->arena);
    struct piece *piece = arena_new_object(writer->arena, sizeof *piece);
    piece->batch = (struct batch){.schema = writer->schema, .rows = count, .selected = count};
    piece->batch.columns =
        arena_new_object(writer->arena, (width + 1) * sizeof *piece->batch.columns);
    for (uint32_t c = 0; c < width; c++) {
        struct vector *dense = NULL;
        TRY(vector_gather(ctx->batch_arena, batch->columns[c], choice->rows, count, &dense, err));
        TRY(vector_clone(writer->arena, dense, &piece->batch.columns[c], err));
    }
    if (writer->key_count > 0)
        piece->parts = arena_copy(writer->arena, bytes_of(choice->parts, count)).data;
    *lane->end = piece;
    lane->end = &piece->next;
    lane->bytes += arena_used_bytes(writer->arena) - before;
    lane->rows += count;
    return OK;
}

enum status exchange_write(struct exchange_writer *writer, struct exec_context *ctx,
                           const struct batch *batch, struct error *err)
{
    exchange_begin(writer, ctx);
    uint32_t lanes = writer->lane_count;
    uint32_t selected = batch->selected;
    void *memory = NULL;
    TRY(arena_alloc_raw(ctx->batch_arena, (size_t)selected * 3 + lanes + 1, sizeof(uint32_t),
                        &memory, err));
    uint32_t *target = memory;
    uint32_t *rows = target + selected;
    uint32_t *start = rows + selected;              /* lanes + 1 */
    uint8_t *part = (uint8_t *)(start + lanes + 1); /* by row, and then by place in `rows` */
    uint8_t *parts = part + selected;
    memset(start, 0, (lanes + 1) * sizeof *start);
    if (writer->key_count == 0) {
        memset(target, 0, selected * sizeof *target);
        memset(part, 0, selected);
    } else {
        struct vector **columns = NULL;
        TRY(key_columns(writer, ctx, batch, &columns, err));
        TRY(arena_alloc_raw(ctx->batch_arena, selected, sizeof(struct bytes), &memory, err));
        struct bytes *keys = memory;
        TRY(row_key_encode(ctx->batch_arena, columns, writer->key_count, batch->selection, selected,
                           keys, err));
        for (uint32_t i = 0; i < selected; i++) {
            uint64_t hash = state_hash(keys[i]);
            target[i] = hash_bucket(hash, lanes);
            part[i] = (uint8_t)(((uint64_t)(uint32_t)hash * PARTS) >> 32);
        }
    }
    for (uint32_t i = 0; i < selected; i++)
        start[target[i] + 1]++;
    for (uint32_t lane = 0; lane < lanes; lane++)
        start[lane + 1] += start[lane];
    for (uint32_t i = 0; i < selected; i++) {
        uint32_t at = start[target[i]]++;
        rows[at] = batch_row(batch, i);
        parts[at] = part[i];
    }
    for (uint32_t lane = 0, first = 0; lane < lanes; first = start[lane++]) {
        struct choice choice = {
            .rows = rows + first, .parts = parts + first, .count = start[lane] - first};
        if (choice.count > 0)
            TRY(add_piece(writer, ctx, &writer->lanes[lane], batch, &choice, err));
    }
    return OK;
}

/* ---- to the disk ---- */

static void save_piece(const struct batch *batch, struct buffer *out)
{
    buffer_add(out, &batch->rows, sizeof batch->rows);
    for (uint32_t c = 0; c < batch->schema->field_count; c++)
        vector_save(batch->columns[c], out);
}

/* Takes one from the front of *in. */
static enum status load_piece(struct arena *arena, const struct type *schema, struct bytes *in,
                              struct batch *out, struct error *err)
{
    uint32_t rows = 0;
    if (in->size_bytes < sizeof rows)
        return error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "rows on the disk", NULL);
    memcpy(&rows, in->data, sizeof rows);
    *in = bytes_of(in->data + sizeof rows, in->size_bytes - sizeof rows);
    *out = (struct batch){.schema = schema, .rows = rows, .selected = rows};
    out->columns = arena_new_object(arena, (schema->field_count + 1) * sizeof *out->columns);
    for (uint32_t c = 0; c < schema->field_count; c++)
        TRY(vector_load(arena, schema->fields[c].type, in, &out->columns[c], err));
    return OK;
}

/* What is on its way to the disk. */
struct moving {
    struct arena *arena;
    struct buffer bytes; /* of one part */
    uint32_t rows[BATCH_ROWS_MAX];
};

static enum status move_part(struct exchange_writer *writer, struct lane *lane,
                             struct moving *moving, uint32_t part, struct error *err)
{
    struct buffer *bytes = &moving->bytes;
    if (bytes->size_bytes == 0)
        return OK;
    TRY(spill_extents_write(&lane->moved[part], writer->file, buffer_bytes(bytes), err));
    lane->moved_bytes += bytes->size_bytes;
    buffer_clear(bytes);
    return OK;
}

/* The rows of a piece that belong to this part. */
static enum status save_part(struct moving *moving, const struct piece *piece, uint32_t part,
                             struct error *err)
{
    struct batch some = {.schema = piece->batch.schema};
    uint32_t width = some.schema->field_count;
    for (uint32_t i = 0; i < piece->batch.rows; i++)
        if (piece->parts[i] == part)
            moving->rows[some.rows++] = i;
    if (some.rows == 0)
        return OK;
    arena_reset(moving->arena);
    some.columns = arena_new_object(moving->arena, (width + 1) * sizeof *some.columns);
    for (uint32_t c = 0; c < width; c++)
        TRY(vector_gather(moving->arena, piece->batch.columns[c], moving->rows, some.rows,
                          &some.columns[c], err));
    save_piece(&some, &moving->bytes);
    return OK;
}

static enum status move_lane(struct exchange_writer *writer, struct lane *lane,
                             struct moving *moving, struct error *err)
{
    for (uint32_t part = 0; part < PARTS; part++) {
        for (const struct piece *piece = lane->first; piece != NULL; piece = piece->next) {
            if (piece->parts != NULL)
                TRY(save_part(moving, piece, part, err));
            else if (part == 0)
                save_piece(&piece->batch, &moving->bytes);
            if (moving->bytes.size_bytes >= MOVED_BYTES)
                TRY(move_part(writer, lane, moving, part, err));
        }
        TRY(move_part(writer, lane, moving, part, err));
    }
    clear_lane(lane);
    return OK;
}

enum status exchange_put_away(struct exchange_writer *writer, struct spill_file *file,
                              struct error *err)
{
    CHECK_MAGIC(writer, EXCHANGE_MAGIC);
    struct moving *moving = heap_calloc(1, sizeof *moving);
    enum status status = OK;
    writer->file = file;
    moving->arena = arena_new("rows that move", 0);
    for (uint32_t i = 0; i < writer->lane_count && status == OK; i++)
        status = move_lane(writer, &writer->lanes[i], moving, err);
    arena_free(moving->arena);
    buffer_fini(&moving->bytes);
    free(moving);
    if (status != OK)
        return status;
    arena_reset(writer->arena);
    arena_trim(writer->arena);
    return OK;
}

size_t exchange_bytes(const struct exchange_writer *writer)
{
    CHECK_MAGIC(writer, EXCHANGE_MAGIC);
    return arena_used_bytes(writer->arena);
}

void exchange_waiting(const struct exchange_writer *writer, uint32_t run, uint32_t partition,
                      struct exec_waiting *out)
{
    CHECK_MAGIC(writer, EXCHANGE_MAGIC);
    if (writer->run != run)
        return;
    CHECK(partition < writer->lane_count);
    out->bytes += writer->lanes[partition].bytes + writer->lanes[partition].moved_bytes;
    out->entries += writer->lanes[partition].rows;
}

/* ---- reading ---- */

/* Who gets the batches of a partition. */
struct visit {
    struct exec_node *node;
    struct exec_context *ctx;
    exchange_look_fn *look; /* NULL: they are pushed */
    uint32_t input;
};

static enum status visit_batch(const struct visit *visit, const struct batch *batch,
                               struct error *err)
{
    if (visit->look != NULL)
        TRY(visit->look(visit->node, visit->ctx, batch, err));
    else
        TRY(visit->node->ops->push(visit->node, visit->ctx, visit->input, batch, err));
    arena_reset(visit->ctx->batch_arena);
    return OK;
}

static enum status visit_extent(const struct exchange_writer *writer, const struct visit *visit,
                                struct bytes rest, struct arena *arena, struct error *err)
{
    while (rest.size_bytes > 0) {
        struct batch batch;
        arena_reset(arena);
        TRY(load_piece(arena, writer->schema, &rest, &batch, err));
        TRY(visit_batch(visit, &batch, err));
    }
    return OK;
}

/* Those that may have rows of the present round. */
static enum status visit_moved(const struct exchange_writer *writer, const struct lane *lane,
                               const struct visit *visit, struct error *err)
{
    struct buffer bytes = {0};
    enum status status = OK;
    if (lane->moved_bytes == 0)
        return OK;
    uint32_t rounds = visit->ctx->rounds == 0 ? 1 : visit->ctx->rounds;
    uint64_t round = visit->ctx->round;
    uint32_t first = writer->key_count == 0 ? 0 : (uint32_t)(round * PARTS / rounds);
    uint32_t end =
        writer->key_count == 0 ? 1 : (uint32_t)(((round + 1) * PARTS + rounds - 1) / rounds);
    struct arena *arena = arena_new("rows that come back", 0);
    for (uint32_t part = first; part < end; part++)
        for (uint32_t i = 0; i < lane->moved[part].count && status == OK; i++) {
            status = spill_extent_read(writer->file, &lane->moved[part].list[i], &bytes, err);
            if (status == OK)
                status = visit_extent(writer, visit, buffer_bytes(&bytes), arena, err);
        }
    arena_free(arena);
    buffer_fini(&bytes);
    return status;
}

static enum status visit_all(const struct exchange_writer *writer, const struct visit *visit,
                             struct error *err)
{
    CHECK_MAGIC(writer, EXCHANGE_MAGIC);
    if (writer->run != visit->ctx->run) /* it had nothing to do in this batch */
        return OK;
    CHECK(visit->ctx->partition < writer->lane_count);
    const struct lane *lane = &writer->lanes[visit->ctx->partition];
    TRY(visit_moved(writer, lane, visit, err));
    for (const struct piece *piece = lane->first; piece != NULL; piece = piece->next)
        TRY(visit_batch(visit, &piece->batch, err));
    return OK;
}

enum status exchange_each(const struct exchange_writer *writer, struct exec_node *node,
                          struct exec_context *ctx, exchange_look_fn *look, struct error *err)
{
    struct visit visit = {.node = node, .ctx = ctx, .look = look};
    return visit_all(writer, &visit, err);
}

enum status exchange_read(const struct exchange_writer *writer, struct exec_node *node,
                          struct exec_context *ctx, uint32_t input, struct error *err)
{
    struct visit visit = {.node = node, .ctx = ctx, .input = input};
    return visit_all(writer, &visit, err);
}
