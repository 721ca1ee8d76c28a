#include "state/changelog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void changes_come_back_and_cut_ones_are_refused(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    changelog_begin(&buffer, 3, 7);
    changelog_put(&buffer, -5, bytes_of_text("key"), bytes_of_text("value"));
    changelog_drop(&buffer, INT64_MAX);
    changelog_take(&buffer, 9, bytes_of_text(""));
    uint32_t operator_id = 0;
    uint32_t partition = 0;
    struct bytes changes;
    struct change change;
    bool found = false;
    assert_true(changelog_open(buffer_bytes(&buffer), &operator_id, &partition, &changes));
    assert_int_equal(operator_id, 3);
    assert_int_equal(partition, 7);
    struct changelog_reader reader = {.rest = changes};
    assert_true(changelog_next(&reader, &change, &found) && found);
    assert_int_equal(change.kind, CHANGE_PUT);
    assert_int_equal(change.bucket, -5);
    assert_true(bytes_equal(change.key, bytes_of_text("key")));
    assert_true(bytes_equal(change.value, bytes_of_text("value")));
    assert_true(changelog_next(&reader, &change, &found) && found);
    assert_int_equal(change.kind, CHANGE_DROP);
    assert_true(changelog_next(&reader, &change, &found) && found);
    assert_int_equal(change.kind, CHANGE_TAKE);
    assert_true(changelog_next(&reader, &change, &found) && !found);

    /* Cut anywhere, it never gives more than whole changes. */
    for (size_t size = 0; size < buffer.size_bytes; size++) {
        int whole = 0;
        if (!changelog_open(bytes_of(buffer.data, size), &operator_id, &partition, &changes)) {
            assert_true(size < CHANGELOG_HEADER_BYTES);
            continue;
        }
        found = true;
        struct changelog_reader cut = {.rest = changes};
        while (changelog_next(&cut, &change, &found) && found)
            whole++;
        changelog_reader_fini(&cut);
        assert_true(whole < 3);
    }
    changelog_reader_fini(&reader);
    buffer_fini(&buffer);
}

struct run_case {
    int64_t bucket;
    const char *key;
};

static void a_run_of_puts_comes_back_and_takes_less_room(void **state)
{
    (void)state;
    static const struct run_case cases[] = {
        {7, "window-0001-first"},
        {7, "window-0001-second"},
        {7, "window-0001-second"},
        {7, ""},
        {7, "window-0002"},
        {8, "window-0002"},
        {8, "window-0002"},
        {8, "window"},
        {-1, "other"},
        {-6, "other"},
        {INT64_MAX, "other"},
        {INT64_MIN, "other"},
        {INT64_MIN, "another"},
        {0, "another"},
        {5000000, ""},
        {10000000, ""},
        {10000000, "other"},
    };
    const size_t count = sizeof cases / sizeof cases[0];
    struct buffer buffer = {0};
    struct buffer plain = {0};
    struct changelog_run run = {.out = &buffer};
    for (size_t i = 0; i < count; i++) {
        struct bytes value = bytes_of("value", i % 6);
        changelog_run_put(&run, cases[i].bucket, bytes_of_text(cases[i].key), value);
        changelog_put(&plain, cases[i].bucket, bytes_of_text(cases[i].key), value);
    }
    assert_true(buffer.size_bytes + 60 < plain.size_bytes);
    changelog_drop(&buffer, 3);
    changelog_run_put(&run, -1, bytes_of_text("over"), bytes_of_text(""));
    struct changelog_reader reader = {.rest = buffer_bytes(&buffer)};
    struct change change;
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        assert_true(changelog_next(&reader, &change, &found) && found);
        assert_int_equal(change.kind, CHANGE_PUT);
        assert_int_equal(change.bucket, cases[i].bucket);
        assert_true(bytes_equal(change.key, bytes_of_text(cases[i].key)));
        assert_true(bytes_equal(change.value, bytes_of("value", i % 6)));
    }
    assert_true(changelog_next(&reader, &change, &found) && found);
    assert_int_equal(change.kind, CHANGE_DROP);
    assert_true(changelog_next(&reader, &change, &found) && found);
    assert_true(bytes_equal(change.key, bytes_of_text("over")));
    assert_true(changelog_next(&reader, &change, &found) && !found);
    changelog_reader_fini(&reader);
    buffer_fini(&plain);
    buffer_fini(&buffer);
}

static void a_near_put_without_one_before_or_with_too_much_shared_is_refused(void **state)
{
    (void)state;
    struct change change;
    bool found = false;
    struct changelog_reader first = {.rest = bytes_of("\4\0\1k\0", 5)};
    assert_false(changelog_next(&first, &change, &found));
    struct changelog_reader again = {.rest = bytes_of("\5\2\0", 3)};
    assert_false(changelog_next(&again, &change, &found));
    struct buffer buffer = {0};
    changelog_put(&buffer, 1, bytes_of_text("key"), bytes_of_text(""));
    buffer_add(&buffer, "\4\4\1k\0", 5);
    struct changelog_reader reader = {.rest = buffer_bytes(&buffer)};
    assert_true(changelog_next(&reader, &change, &found) && found);
    assert_false(changelog_next(&reader, &change, &found));
    changelog_reader_fini(&reader);
    buffer_fini(&buffer);
}

static void changes_of_the_version_before_are_read_and_others_are_not(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    uint32_t operator_id = 0;
    uint32_t partition = 0;
    struct bytes changes;
    changelog_begin(&buffer, 3, 7);
    for (uint8_t version = 0; version < 6; version++) {
        buffer.data[0] = version;
        assert_int_equal(changelog_open(buffer_bytes(&buffer), &operator_id, &partition, &changes),
                         version == 2 || version == 3);
    }
    buffer_fini(&buffer);
}

static void varints_of_any_size_come_back(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    for (unsigned bits = 0; bits < 64; bits++) {
        uint64_t value = ((uint64_t)1 << bits) - 1 + bits;
        uint64_t out = 0;
        buffer_clear(&buffer);
        varint_put(&buffer, value);
        struct bytes from = buffer_bytes(&buffer);
        assert_true(varint_take(&from, &out));
        assert_true(out == value);
        assert_int_equal(from.size_bytes, 0);
        assert_false(varint_take(&from, &out));
    }
    buffer_fini(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_come_back_and_cut_ones_are_refused),
        cmocka_unit_test(a_run_of_puts_comes_back_and_takes_less_room),
        cmocka_unit_test(a_near_put_without_one_before_or_with_too_much_shared_is_refused),
        cmocka_unit_test(changes_of_the_version_before_are_read_and_others_are_not),
        cmocka_unit_test(varints_of_any_size_come_back),
    };
    return cmocka_run_group_tests_name("state/changelog", tests, NULL, NULL);
}
