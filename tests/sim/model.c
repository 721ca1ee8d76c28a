/* The naive model: each answer is computed from the list of all rows. */
#include "draw.h"

bool shape_has_watermark(enum query_shape shape)
{
    return shape >= SHAPE_DEDUP_EVENT && shape != SHAPE_LIMIT;
}

bool shape_has_two_streams(enum query_shape shape)
{
    return shape == SHAPE_JOIN || shape == SHAPE_OUTER || shape == SHAPE_DEDUP_OUTER ||
           shape == SHAPE_JOIN_WINDOW;
}

bool shape_drops_duplicates(enum query_shape shape)
{
    return shape == SHAPE_DEDUP_EVENT || shape == SHAPE_DEDUP_SESSION || shape == SHAPE_DEDUP_OUTER;
}

static bool seen_before(const struct draw *draw, size_t index)
{
    const struct row *row = &draw->rows[index];
    for (size_t i = 0; i < index; i++) {
        const struct row *other = &draw->rows[i];
        bool same_time = !shape_drops_duplicates(draw->shape) || other->at == row->at;
        if (!other->right && other->key == row->key && other->value == row->value && same_time)
            return true;
    }
    return false;
}

static int expect_rows(struct draw *draw)
{
    int lines = 0;
    for (size_t i = 0; i < draw->row_count; i++) {
        const struct row *row = &draw->rows[i];
        if (draw->shape == SHAPE_FILTER && row->value % 3 == 0)
            continue;
        if ((draw->shape == SHAPE_DEDUP || draw->shape == SHAPE_DEDUP_EVENT) &&
            seen_before(draw, i))
            continue;
        if (shape_has_watermark(draw->shape) && row->at >= CUT_SECONDS)
            continue;
        buffer_printf(&draw->text, "  %d  %d\n", row->key,
                      draw->shape == SHAPE_FILTER ? row->value * 2 : row->value);
        lines++;
    }
    return lines;
}

struct total {
    int count, sum;
};

/* Of the rows of a key (-1: all) in [from, to). */
static struct total total_of(const struct draw *draw, int key, int from, int to)
{
    struct total total = {0, 0};
    for (size_t i = 0; i < draw->row_count; i++) {
        const struct row *row = &draw->rows[i];
        if ((key >= 0 && row->key != key) || row->at < from || row->at >= to)
            continue;
        total.count++;
        total.sum += row->value;
    }
    return total;
}

static int expect_totals(struct draw *draw)
{
    int lines = 0;
    if (draw->shape == SHAPE_GLOBAL) {
        struct total total = total_of(draw, -1, 0, INT32_MAX);
        if (total.count == 0)
            return 0; /* no batch has run */
        buffer_printf(&draw->text, "  %d  %d\n", total.count, total.sum);
        return 1;
    }
    for (int key = 0; key < KEYS; key++) {
        struct total total = total_of(draw, key, 0, INT32_MAX);
        if (total.count > 0)
            buffer_printf(&draw->text, "  %d  %d  %d\n", key, total.sum, total.count);
        lines += total.count > 0 ? 1 : 0;
    }
    return lines;
}

/* Windows begin at all multiples of the slide since 1970: the first that has second 0. */
static int first_start(int size, int slide)
{
    int64_t clock_s = INT64_C(1714521600); /* the scenario's: 2024-05-01T00:00:00Z */
    int start = -(int)(clock_s % slide);
    while (start - slide + size > 0)
        start -= slide;
    return start;
}

static int expect_windows(struct draw *draw, int until)
{
    int lines = 0;
    bool by_key = draw->shape != SHAPE_TUMBLING;
    for (int start = first_start(draw->size, draw->slide); start + draw->size <= until;
         start += draw->slide) {
        for (int key = by_key ? 0 : -1; key < (by_key ? KEYS : 0); key++) {
            struct total total = total_of(draw, key, start, start + draw->size);
            if (total.count == 0 || (draw->shape == SHAPE_HAVING && total.count < 2))
                continue;
            if (by_key)
                buffer_printf(&draw->text, "  %+d  %d  %d  %d\n", start, key, total.count,
                              total.sum);
            else
                buffer_printf(&draw->text, "  %+d  %d  %d\n", start, total.count, total.sum);
            lines++;
        }
    }
    return lines;
}

static void add_cell(struct draw *draw, struct total total)
{
    if (total.count == 0)
        buffer_add_text(&draw->text, "  NULL");
    else
        buffer_printf(&draw->text, "  %d", total.sum);
}

static int expect_pivoted(struct draw *draw, int until)
{
    int lines = 0;
    int size = draw->size;
    for (int start = first_start(size, size); start + size <= until; start += size) {
        if (total_of(draw, -1, start, start + size).count == 0)
            continue;
        buffer_printf(&draw->text, "  %+d", start);
        add_cell(draw, total_of(draw, 0, start, start + size));
        add_cell(draw, total_of(draw, 1, start, start + size));
        buffer_add_text(&draw->text, "\n");
        lines++;
    }
    return lines;
}

/* Per window of twice the size: how many windows were in it, and how many rows. */
static int expect_chained(struct draw *draw, int until)
{
    int lines = 0;
    int size = draw->size;
    for (int start = first_start(2 * size, 2 * size); start + 2 * size <= until;
         start += 2 * size) {
        struct total first = total_of(draw, -1, start, start + size);
        struct total second = total_of(draw, -1, start + size, start + 2 * size);
        if (first.count + second.count == 0)
            continue;
        buffer_printf(&draw->text, "  %+d  %d  %d\n", start, (first.count > 0) + (second.count > 0),
                      first.count + second.count);
        lines++;
    }
    return lines;
}

/* The first time of a key's rows that is not before `from`; INT32_MAX if there is none. */
static int next_time(const struct draw *draw, int key, int from)
{
    int next = INT32_MAX;
    for (size_t i = 0; i < draw->row_count; i++) {
        const struct row *row = &draw->rows[i];
        if (row->key == key && row->at >= from && row->at < next)
            next = row->at;
    }
    return next;
}

static int expect_sessions(struct draw *draw, int until)
{
    int lines = 0;
    for (int key = 0; key < KEYS; key++) {
        int start = next_time(draw, key, 0);
        while (start != INT32_MAX) {
            int end = start + draw->size;
            int next = next_time(draw, key, start + 1);
            while (next <= end) { /* sessions that touch are one */
                end = next + draw->size;
                next = next_time(draw, key, next + 1);
            }
            struct total total = total_of(draw, key, start, end);
            if (end <= until) {
                buffer_printf(&draw->text, "  %d  +%d  +%d  %d  %d\n", key, start, end, total.count,
                              total.sum);
                lines++;
            }
            start = next;
        }
    }
    return lines;
}

static int expect_pairs(struct draw *draw)
{
    int lines = 0;
    for (size_t i = 0; i < draw->row_count; i++) {
        const struct row *left = &draw->rows[i];
        int matches = 0;
        if (left->right || left->at >= CUT_SECONDS)
            continue;
        for (size_t k = 0; k < draw->row_count; k++) {
            const struct row *right = &draw->rows[k];
            if (!right->right || right->key != left->key || right->at < left->at ||
                right->at > left->at + draw->size)
                continue;
            buffer_printf(&draw->text, "  %d  %d  %d\n", left->key, left->value, right->value);
            matches++;
        }
        if (matches == 0 && draw->shape != SHAPE_JOIN)
            buffer_printf(&draw->text, "  %d  %d  NULL\n", left->key, left->value);
        lines += matches + (matches == 0 && draw->shape != SHAPE_JOIN ? 1 : 0);
    }
    return lines;
}

/* How many rows of a limit pass. */
static int expect_limited(struct draw *draw)
{
    int lines = 0;
    for (size_t i = 0; i < draw->row_count && lines < draw->limit; i++) {
        if (seen_before(draw, i))
            continue;
        buffer_add_text(&draw->text, "  1\n");
        lines++;
    }
    return lines;
}

/* Pairs of an inner join, in tumbling windows of the left row's time. */
static int expect_pair_windows(struct draw *draw, int until)
{
    int lines = 0;
    int size = draw->size;
    for (int start = first_start(size, size); start + size <= until; start += size) {
        int pairs = 0;
        for (size_t i = 0; i < draw->row_count; i++) {
            const struct row *left = &draw->rows[i];
            if (left->right || left->at < start || left->at >= start + size)
                continue;
            for (size_t k = 0; k < draw->row_count; k++) {
                const struct row *right = &draw->rows[k];
                pairs += right->right && right->key == left->key && right->at >= left->at &&
                         right->at <= left->at + size;
            }
        }
        if (pairs > 0)
            buffer_printf(&draw->text, "  %+d  %d\n", start, pairs);
        lines += pairs > 0 ? 1 : 0;
    }
    return lines;
}

/* The rows without duplicates of the first stream, in the place of all; they stay so. */
static void drop_duplicates(struct draw *draw)
{
    size_t kept = 0;
    for (size_t i = 0; i < draw->row_count; i++) {
        bool again = false;
        for (size_t k = 0; k < kept && !draw->rows[i].right; k++)
            again = again || (!draw->rows[k].right && draw->rows[k].key == draw->rows[i].key &&
                              draw->rows[k].value == draw->rows[i].value &&
                              draw->rows[k].at == draw->rows[i].at);
        if (!again)
            draw->rows[kept++] = draw->rows[i];
    }
    draw->row_count = kept;
}

int model_expect(struct draw *draw, int until)
{
    if (shape_drops_duplicates(draw->shape))
        drop_duplicates(draw);
    switch (draw->shape) {
    case SHAPE_LIMIT:
        return expect_limited(draw);
    case SHAPE_JOIN_WINDOW:
        return expect_pair_windows(draw, until);
    case SHAPE_DEDUP_SESSION:
        return expect_sessions(draw, until);
    case SHAPE_TOTALS:
    case SHAPE_GLOBAL:
        return expect_totals(draw);
    case SHAPE_TUMBLING:
    case SHAPE_HAVING:
    case SHAPE_SLIDING:
        return expect_windows(draw, until);
    case SHAPE_SESSION:
        return expect_sessions(draw, until);
    case SHAPE_PIVOT:
        return expect_pivoted(draw, until);
    case SHAPE_CHAINED:
        return expect_chained(draw, until);
    case SHAPE_JOIN:
    case SHAPE_OUTER:
    case SHAPE_DEDUP_OUTER:
        return expect_pairs(draw);
    case SHAPE_FILTER:
    case SHAPE_DEDUP:
    case SHAPE_DEDUP_EVENT:
    case SHAPE_EXCEPT_ALL:
    case SHAPE_COUNT_:
        break;
    }
    return expect_rows(draw);
}
