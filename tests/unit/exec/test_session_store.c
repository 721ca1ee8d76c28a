#include "exec/session_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND_US INT64_C(1000000)
#define TIMES     600 /* in seconds */

static uint64_t drawn = 7;

static int64_t draw(int64_t below)
{
    drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(drawn >> 33) % below;
}

/* Seconds that are inside a session; two that touch are one. */
struct model {
    bool inside[TIMES];
};

static void add(struct session_store *store, struct model *model, int64_t start, int64_t end)
{
    struct bytes key = bytes_of_text("key");
    struct error err = ERROR_INIT;
    const struct session_part part = {start * SECOND_US, end * SECOND_US, (const uint8_t *)""};
    struct state_entry *entry = session_store_open(store, key, state_hash(key));
    assert_int_equal(session_store_add(store, entry, &part, 1, &err), OK);
    for (int64_t t = start; t < end; t++)
        model->inside[t] = true;
}

static void check(const struct session_store *store, const struct model *model)
{
    struct bytes key = bytes_of_text("key");
    struct state_entry *entry = state_find(store->table, store->bucket, key, state_hash(key));
    struct session_list *list = session_list_of(entry);
    uint32_t at = 0;
    for (int64_t t = 0; t < TIMES; t++) {
        if (!model->inside[t])
            continue;
        int64_t end = t;
        while (end < TIMES && model->inside[end])
            end++;
        assert_true(at < list->count);
        assert_int_equal(session_item_at(store, list, at)->start_us, t * SECOND_US);
        assert_int_equal(session_item_at(store, list, at++)->end_us, end * SECOND_US);
        t = end;
    }
    assert_int_equal(at, list->count);
    assert_int_equal(store->sessions, list->count);
}

static void sessions_that_touch_are_one(void **state)
{
    (void)state;
    const struct aggregate_calls calls = {.plain = true};
    for (int round = 0; round < 200; round++) {
        struct session_store store;
        struct model model = {0};
        session_store_init(&store, &calls);
        for (int i = 0; i < 60; i++) {
            int64_t start = draw(TIMES - 10);
            add(&store, &model, start, start + 1 + draw(9));
            check(&store, &model);
        }
        session_store_fini(&store);
    }
}

static void a_session_is_found_in_the_slice_of_its_end(void **state)
{
    (void)state;
    const struct aggregate_calls calls = {.plain = true};
    struct session_store store;
    struct model model = {0};
    struct session_slice slice;
    session_store_init(&store, &calls);
    add(&store, &model, 10, 15);
    add(&store, &model, 14, 20); /* it has grown: it is still noted for its first end */
    assert_false(session_store_take_slice(&store, 14, &slice));
    assert_true(session_store_take_slice(&store, 17, &slice));
    assert_int_equal(slice.number, 15);
    assert_int_equal(slice.count, 1);
    session_store_note(&store, slice.entries[0], slice.number);
    free(slice.entries);
    assert_false(session_store_take_slice(&store, 19, &slice));
    assert_true(session_store_take_slice(&store, 20, &slice));
    session_store_remove_key(&store, slice.entries[0]);
    assert_true(session_entry_is_gone(slice.entries[0]));
    free(slice.entries);
    assert_int_equal(store.sessions, 0);
    session_store_fini(&store);
}

static void notes_outlive_the_closing_of_holes(void **state)
{
    (void)state;
    const struct aggregate_calls calls = {.plain = true};
    struct session_store store;
    struct session_slice slice;
    struct error err = ERROR_INIT;
    session_store_init(&store, &calls);
    for (uint64_t i = 0; i < 1000; i++) {
        struct bytes key = bytes_of(&i, sizeof i);
        struct session_part part = {0, (int64_t)(i + 1) * SECOND_US, (const uint8_t *)""};
        struct state_entry *entry = session_store_open(&store, key, state_hash(key));
        assert_int_equal(session_store_add(&store, entry, &part, 1, &err), OK);
        if (i < 900)
            session_store_remove_key(&store, entry);
    }
    session_store_pack(&store);
    uint32_t found = 0;
    for (int64_t i = 0; session_store_take_slice(&store, 2000, &slice); i++) {
        assert_int_equal(slice.number, 901 + i);
        assert_false(session_entry_is_gone(slice.entries[0]));
        found += slice.count;
        free(slice.entries);
    }
    assert_int_equal(found, 100);
    session_store_fini(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_that_touch_are_one),
        cmocka_unit_test(a_session_is_found_in_the_slice_of_its_end),
        cmocka_unit_test(notes_outlive_the_closing_of_holes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
