#include "state/state_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static struct bytes key_of(char text[24], int i)
{
    snprintf(text, 24, "key-%d", i);
    return bytes_of_text(text);
}

static void entries_are_found_until_they_are_removed(void **state)
{
    (void)state;
    struct state_table *table = state_table_new(8);
    struct state_bucket *bucket = state_bucket_open(table, STATE_NO_END);
    char text[24];
    bool added = false;
    for (int i = 0; i < 20000; i++) {
        struct bytes key = key_of(text, i);
        struct state_entry *entry = state_add(table, bucket, key, state_hash(key), &added);
        assert_true(added);
        *(int64_t *)(void *)state_value(entry) = i;
    }
    for (int i = 0; i < 20000; i += 2) {
        struct bytes key = key_of(text, i);
        struct state_entry *entry = state_find(table, bucket, key, state_hash(key));
        assert_non_null(entry);
        state_remove(table, bucket, entry);
    }
    assert_int_equal(state_table_count(table), 10000);
    for (int i = 0; i < 20000; i++) {
        struct bytes key = key_of(text, i);
        struct state_entry *entry = state_find(table, bucket, key, state_hash(key));
        if (i % 2 == 0)
            assert_null(entry);
        else
            assert_int_equal(*(int64_t *)(void *)state_value(entry), i);
    }
    struct state_cursor cursor = {0};
    int seen = 0;
    for (struct state_entry *entry = NULL; (entry = state_next(table, bucket, &cursor)) != NULL;)
        assert_int_equal(*(int64_t *)(void *)state_value(entry), 2 * seen++ + 1);
    assert_int_equal(seen, 10000);
    state_table_free(table);
}

static void removed_keys_can_come_back_for_ever(void **state)
{
    (void)state;
    struct state_table *table = state_table_new(8);
    struct state_bucket *bucket = state_bucket_open(table, 1);
    char text[24];
    bool added = false;
    for (int round = 0; round < 2000; round++) {
        struct bytes key = key_of(text, round % 7);
        struct state_entry *entry = state_add(table, bucket, key, state_hash(key), &added);
        assert_true(added);
        state_remove(table, bucket, entry);
    }
    assert_int_equal(state_table_count(table), 0);
    state_table_free(table);
}

static void packing_keeps_what_is_there_and_bounds_the_memory(void **state)
{
    (void)state;
    struct state_table *table = state_table_new(8);
    struct state_bucket *bucket = state_bucket_open(table, STATE_NO_END);
    char text[24];
    bool added = false;
    for (int i = 0; i < 100000; i++) {
        struct bytes key = key_of(text, i);
        struct state_entry *entry = state_add(table, bucket, key, state_hash(key), &added);
        *(int64_t *)(void *)state_value(entry) = i;
        if (i >= 100) {
            key = key_of(text, i - 100);
            state_remove(table, bucket, state_find(table, bucket, key, state_hash(key)));
        }
        state_bucket_pack(table, bucket);
    }
    assert_int_equal(state_table_count(table), 100);
    assert_true(state_table_bytes(table) < 100000);
    for (int i = 99900; i < 100000; i++) {
        struct bytes key = key_of(text, i);
        struct state_entry *entry = state_find(table, bucket, key, state_hash(key));
        assert_non_null(entry);
        assert_int_equal(*(int64_t *)(void *)state_value(entry), i);
    }
    state_table_free(table);
}

static void buckets_are_in_order_and_go_as_a_whole(void **state)
{
    (void)state;
    struct state_table *table = state_table_new(0);
    char text[24];
    bool added = false;
    for (int i = 0; i < 100; i++) {
        struct state_bucket *bucket = state_bucket_open(table, (i * 37) % 100);
        struct bytes key = key_of(text, i);
        state_add(table, bucket, key, state_hash(key), &added);
    }
    assert_int_equal(state_table_count(table), 100);
    int64_t before = -1;
    struct state_bucket *bucket = NULL;
    while ((bucket = state_bucket_next(table, bucket)) != NULL) {
        assert_int_equal(state_bucket_end(bucket), before + 1);
        before = state_bucket_end(bucket);
    }
    while ((bucket = state_bucket_next(table, NULL)) != NULL && state_bucket_end(bucket) < 50)
        state_bucket_drop(table, bucket);
    assert_int_equal(state_table_count(table), 50);
    assert_null(state_bucket_find(table, 49));
    assert_non_null(state_bucket_find(table, 50));
    state_table_free(table);
}

/* BIGINT -> count, sum: 9 bytes of key, three words of value. */
static void a_small_group_takes_at_most_80_bytes(void **state)
{
    (void)state;
    struct state_table *table = state_table_new(24);
    struct state_bucket *bucket = state_bucket_open(table, 7);
    for (uint64_t i = 1; i <= 200000; i++) {
        uint8_t key[9] = {1};
        bool added = false;
        memcpy(key + 1, &i, sizeof i);
        struct bytes bytes = bytes_of(key, sizeof key);
        (void)state_add(table, bucket, bytes, state_hash(bytes), &added);
        assert_true(added);
        if (i >= 1000)
            assert_true(state_table_bytes(table) <= 80 * i);
    }
    state_table_free(table);
}

static void an_image_is_taken_as_it_is(void **state)
{
    (void)state;
    struct state_table *table = state_table_new(8);
    struct state_bucket *bucket = state_bucket_open(table, STATE_NO_END);
    uint64_t memory[3] = {0, 42, 0};
    struct state_entry *image = (struct state_entry *)(void *)memory;
    image->key_bytes = 3;
    memcpy(image->data + 8, "key", 3);
    bool added = false;
    uint64_t hash = state_hash(bytes_of_text("key"));
    struct state_entry *entry = state_take(table, bucket, image, hash, &added);
    assert_true(added);
    assert_true(bytes_equal(state_key(table, entry), bytes_of_text("key")));
    assert_int_equal(*(uint64_t *)(void *)state_value(entry), 42);
    memory[1] = 43;
    assert_ptr_equal(state_take(table, bucket, image, hash, &added), entry);
    assert_false(added);
    assert_int_equal(*(uint64_t *)(void *)state_value(entry), 42);
    assert_ptr_equal(state_find(table, bucket, bytes_of_text("key"), hash), entry);
    state_table_free(table);
}

static void bytes_are_the_same_only_if_all_are(void **state)
{
    (void)state;
    uint8_t left[80];
    uint8_t right[80];
    for (size_t size = 0; size <= sizeof left; size++) {
        memset(left, 7, sizeof left);
        memset(right, 8, sizeof right);
        memset(right, 7, size);
        assert_true(state_same_bytes(left, right, size));
        for (size_t at = 0; at < size; at++) {
            right[at] ^= 64;
            assert_false(state_same_bytes(left, right, size));
            right[at] ^= 64;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_found_until_they_are_removed),
        cmocka_unit_test(removed_keys_can_come_back_for_ever),
        cmocka_unit_test(packing_keeps_what_is_there_and_bounds_the_memory),
        cmocka_unit_test(buckets_are_in_order_and_go_as_a_whole),
        cmocka_unit_test(a_small_group_takes_at_most_80_bytes),
        cmocka_unit_test(an_image_is_taken_as_it_is),
        cmocka_unit_test(bytes_are_the_same_only_if_all_are),
    };
    return cmocka_run_group_tests_name("state/state_table", tests, NULL, NULL);
}
