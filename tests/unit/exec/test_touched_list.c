/*
 * The entries that a batch touches are given back in their order with their buckets, and cost about
 * 8 bytes each.
 */
#include "exec/touched_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define ENTRIES     1000
#define VALUE_BYTES 24 /* count(*) and sum(BIGINT) */
#define KEY_BYTES   9  /* a BIGINT that may be NULL */
#define MANY_KEYS   600000

static uint64_t places[ENTRIES];

static struct state_entry *entry_at(uint32_t i)
{
    return (struct state_entry *)(void *)&places[i];
}

/* Entry i is of the bucket i / `each` % `buckets`. */
static void add_all(struct touched_list *list, uint32_t count, uint32_t each, uint32_t buckets)
{
    for (uint32_t i = 0; i < count; i++)
        touched_add(list, -(int64_t)(i / each % buckets), entry_at(i));
}

static void assert_all(const struct touched_list *list, uint32_t count, uint32_t each,
                       uint32_t buckets)
{
    struct touched_cursor cursor = {0};
    for (uint32_t i = 0; i < count; i++) {
        assert_ptr_equal(touched_next(list, &cursor), entry_at(i));
        assert_int_equal(cursor.bucket, -(int64_t)(i / each % buckets));
    }
    assert_null(touched_next(list, &cursor));
    assert_int_equal(list->entries, count);
}

static void entries_come_back_with_their_buckets(void **state)
{
    (void)state;
    static const uint32_t shapes[][2] = {{1, 1}, {1, 2}, {100, 3}, {1, 31}, {1, 33}, {7, 1000}};
    struct touched_list list = {0};
    assert_all(&list, 0, 1, 1);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        touched_clear(&list);
        add_all(&list, ENTRIES, shapes[i][0], shapes[i][1]);
        assert_all(&list, ENTRIES, shapes[i][0], shapes[i][1]);
    }
    touched_fini(&list);
    assert_all(&list, 0, 1, 1);
}

static void what_a_large_batch_took_is_given_back(void **state)
{
    (void)state;
    struct touched_list list = {0};
    add_all(&list, ENTRIES, 1, 1);
    uint64_t large = touched_bytes(&list);
    assert_in_range(large, ENTRIES * 8, ENTRIES * 10 + 64);
    for (int batch = 0; batch < 2; batch++) {
        touched_clear(&list);
        add_all(&list, 10, 1, 1);
        assert_all(&list, 10, 1, 1);
    }
    assert_in_range(touched_bytes(&list), 80, 1000);
    touched_fini(&list);
    assert_int_equal(touched_bytes(&list), 0);
}

/* With the entry, its slot and its place in the list, at every size that a partition may have. */
static void a_small_group_that_a_batch_has_made_takes_at_most_80_bytes(void **state)
{
    (void)state;
    struct state_table *table = state_table_new(VALUE_BYTES);
    struct state_bucket *bucket = state_bucket_open(table, STATE_NO_END);
    struct touched_list list = {0};
    for (uint64_t i = 0; i < MANY_KEYS; i++) {
        uint8_t key[KEY_BYTES] = {0};
        bool added = false;
        memcpy(key + 1, &i, sizeof i);
        struct bytes bytes = bytes_of(key, sizeof key);
        touched_add(&list, STATE_NO_END,
                    state_add(table, bucket, bytes, state_hash(bytes), &added));
        uint64_t keys = i + 1;
        uint64_t memory = state_table_bytes(table) + touched_bytes(&list);
        if (keys >= 256 && memory > keys * 80)
            fail_msg("%llu keys take %llu bytes", (unsigned long long)keys,
                     (unsigned long long)memory);
    }
    touched_fini(&list);
    state_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_come_back_with_their_buckets),
        cmocka_unit_test(what_a_large_batch_took_is_given_back),
        cmocka_unit_test(a_small_group_that_a_batch_has_made_takes_at_most_80_bytes),
    };
    return cmocka_run_group_tests_name("exec/touched_list", tests, NULL, NULL);
}
