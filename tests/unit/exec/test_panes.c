#include "exec/pane_grid.h"
#include "exec/pane_store.h"
#include "exec/pipeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define KEYS        5
#define WINDOWS     400 /* numbers from -WINDOWS to WINDOWS */
#define CHUNK_ITEMS 6

static uint64_t drawn = 1;

static int64_t draw(int64_t below)
{
    drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(drawn >> 33) % below;
}

static struct pane_grid grid_of(int64_t size_us, int64_t slide_us, int64_t start_us)
{
    struct plan_node node = {.kind = PLAN_AGGREGATE};
    node.aggregate.pane_key = 0;
    node.aggregate.window_size_us = size_us;
    node.aggregate.window_slide_us = slide_us;
    node.aggregate.window_start_us = start_us;
    return pane_grid_of(&node);
}

static struct pane_grid draw_grid(void)
{
    int64_t slide_us = 1 + draw(9);
    int64_t size_us = slide_us + 1 + draw(40);
    return grid_of(size_us, slide_us, draw(2 * slide_us - 1) - slide_us + 1);
}

static void a_pane_is_in_the_windows_of_its_times(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct pane_grid grid = draw_grid();
        for (int64_t time_us = -60; time_us < 60; time_us++) {
            int64_t pane = pane_at(&grid, time_us);
            int64_t first = pane_first_window(&grid, pane);
            int64_t last = pane_last_window(&grid, pane);
            for (int64_t window = first - 1; window <= last + 1; window++) {
                bool inside = window_start_us(&grid, window) <= time_us &&
                              time_us < window_end_us(&grid, window);
                assert_int_equal(inside, window >= first && window <= last);
                bool made_of = window_first_pane(&grid, window) <= pane &&
                               pane < window_first_pane(&grid, window) + grid.per_window;
                assert_int_equal(inside, made_of);
            }
            assert_true(pane_end_us(&grid, pane) > time_us);
            assert_int_equal(pane_at(&grid, pane_end_us(&grid, pane) - 1), pane);
            assert_int_equal(pane_at(&grid, pane_end_us(&grid, pane)), pane + 1);
        }
    }
}

static void a_window_is_closed_when_its_end_is_reached(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct pane_grid grid = draw_grid();
        for (int64_t watermark_us = -60; watermark_us < 60; watermark_us++) {
            int64_t closed = window_closed_at(&grid, watermark_us);
            assert_true(window_end_us(&grid, closed) <= watermark_us);
            assert_true(window_end_us(&grid, closed + 1) > watermark_us);
        }
        assert_int_equal(window_closed_at(&grid, INT64_MIN), WINDOW_NONE);
    }
}

static void the_windows_of_generations_follow_one_another(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct pane_grid grid = draw_grid();
        for (int64_t number = -5; number < 5; number++) {
            int64_t first = generation_first_window(&grid, number);
            int64_t last = generation_last_window(&grid, number);
            assert_int_equal(last + 1, generation_first_window(&grid, number + 1));
            for (int64_t window = first; window <= last; window++)
                assert_int_equal(pane_generation(&grid, window_first_pane(&grid, window)), number);
        }
    }
}

static void times_at_the_end_of_their_range_have_a_pane(void **state)
{
    (void)state;
    struct pane_grid grids[] = {grid_of(2, 1, 0), grid_of(5, 2, 1), grid_of(60000000, 7000000, 3)};
    const int64_t times_us[] = {INT64_MIN, INT64_MIN + 1, INT64_MAX - 1, INT64_MAX};
    for (size_t g = 0; g < sizeof grids / sizeof grids[0]; g++)
        for (size_t i = 0; i < sizeof times_us / sizeof times_us[0]; i++) {
            int64_t pane = pane_at(&grids[g], times_us[i]);
            assert_true(pane_first_window(&grids[g], pane) <= pane_last_window(&grids[g], pane));
        }
}

/* What a store of panes should know: which windows a key has rows in. */
struct model {
    bool rows[KEYS][2 * WINDOWS];
    int64_t closed;
};

static uint64_t count_open(const struct model *model, int64_t from, int64_t to)
{
    uint64_t count = 0;
    for (int key = 0; key < KEYS; key++)
        for (int64_t window = from; window <= to; window++)
            count += model->rows[key][window + WINDOWS] ? 1 : 0;
    return count;
}

struct row {
    struct bytes key;
    int64_t pane;
};

static struct pane_place place_of(struct pane_store *store, const struct row *row)
{
    bool added = false;
    struct pane_place place = {
        .generation = pane_store_open(store, pane_generation(&store->grid, row->pane)),
        .hash = state_hash(row->key),
    };
    place.entry = state_add(store->table, place.generation->bucket, row->key, place.hash, &added);
    return place;
}

static uint32_t pane_in_generation(const struct pane_store *store, int64_t pane)
{
    return (uint32_t)(pane - pane_generation(&store->grid, pane) * store->grid.per_window);
}

/* One pane by itself, or the panes up to it that follow it in its generation. */
static void add_panes(struct pane_store *store, const struct row *row, bool alone, uint32_t count)
{
    struct pane_place place = place_of(store, row);
    uint32_t pane = pane_in_generation(store, row->pane);
    bool added = false;
    if (alone) {
        const struct pane_item *item = pane_store_add(store, &place, pane, &added);
        assert_int_equal(item->pane, pane);
        return;
    }
    uint64_t memory[2][2 + CHUNK_ITEMS];
    struct pane_chunk *chunks[2] = {(void *)memory[0], (void *)memory[1]};
    *chunks[0] = (struct pane_chunk){0};
    *chunks[1] = (struct pane_chunk){.before = chunks[0]};
    for (uint32_t i = 0; i < count; i++) {
        struct pane_chunk *chunk = chunks[i < count / 2 ? 0 : 1];
        struct pane_item *item =
            (void *)(chunk->items + (size_t)chunk->count++ * store->item_bytes);
        *item = (struct pane_item){.pane = pane + i, .run = 1};
    }
    uint32_t taken = pane_store_append(store, &place, chunks[1]);
    assert_true(taken <= count);
    for (uint32_t i = 0; i < count - taken; i++)
        pane_store_add(store, &place, pane + i, &added);
}

static void check_order(const struct pane_store *store, struct state_entry *entry)
{
    const struct pane_list *list = pane_list_of(entry);
    for (uint32_t i = 1; i < list->count; i++)
        assert_true(pane_item_at(store, list, i - 1)->pane < pane_item_at(store, list, i)->pane);
    assert_int_equal(pane_item_at(store, list, list->count - 1)->pane, list->last);
    assert_int_equal(pane_item_at(store, list, 0)->pane, list->first);
}

static void add_row(struct pane_store *store, struct model *model, int64_t time_us)
{
    char text[8];
    int key_number = (int)draw(KEYS);
    snprintf(text, sizeof text, "k%d", key_number);
    struct row row = {.key = bytes_of_text(text), .pane = pane_at(&store->grid, time_us)};
    if (pane_is_over(store, row.pane))
        return;
    uint32_t room = (uint32_t)store->grid.per_window - pane_in_generation(store, row.pane);
    uint32_t count = 1 + (uint32_t)draw(CHUNK_ITEMS);
    bool alone = draw(2) == 0;
    count = alone ? 1 : count < room ? count : room;
    add_panes(store, &row, alone, count);
    check_order(store, place_of(store, &row).entry);
    for (int64_t pane = row.pane; pane < row.pane + count; pane++)
        for (int64_t window = pane_first_window(&store->grid, pane);
             window <= pane_last_window(&store->grid, pane); window++)
            if (window > model->closed)
                model->rows[key_number][window + WINDOWS] = true;
}

static void windows_are_counted_as_panes_come_and_go(void **state)
{
    (void)state;
    const struct aggregate_calls calls = {.plain = true};
    for (int round = 0; round < 200; round++) {
        struct pane_grid grid = draw_grid();
        struct pane_store store;
        struct model model = {.closed = WINDOW_NONE};
        pane_store_init(&store, &grid, &calls);
        for (int step = 0; step < 60; step++) {
            int64_t now_us = step * 3 - 90;
            for (int i = 0; i < 4; i++)
                add_row(&store, &model, now_us - draw(40));
            int64_t open = model.closed < -WINDOWS ? -WINDOWS : model.closed + 1;
            assert_int_equal(store.windows, count_open(&model, open, WINDOWS - 1));
            if (draw(3) != 0)
                continue;
            int64_t closed = window_closed_at(&grid, now_us - 20);
            uint64_t gone = closed < open ? 0 : count_open(&model, open, closed);
            assert_int_equal(pane_store_close(&store, closed), gone);
            model.closed = closed > model.closed ? closed : model.closed;
        }
        pane_store_fini(&store);
    }
}

/* Panes were the last that could only stay in memory; now hardly anything is refused by it. */
static void a_batch_that_cannot_be_moved_is_refused_by_its_name(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    assert_int_equal(pipeline_batch_too_large(7, 5, &err), STATUS_BATCH_MEMORY_EXCEEDED);
    assert_string_equal(error_param(&err, "limit"), "5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pane_is_in_the_windows_of_its_times),
        cmocka_unit_test(a_window_is_closed_when_its_end_is_reached),
        cmocka_unit_test(the_windows_of_generations_follow_one_another),
        cmocka_unit_test(times_at_the_end_of_their_range_have_a_pane),
        cmocka_unit_test(windows_are_counted_as_panes_come_and_go),
        cmocka_unit_test(a_batch_that_cannot_be_moved_is_refused_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
