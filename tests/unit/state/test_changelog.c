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
    assert_true(changelog_next(&changes, &change, &found) && found);
    assert_int_equal(change.kind, CHANGE_PUT);
    assert_int_equal(change.bucket, -5);
    assert_true(bytes_equal(change.key, bytes_of_text("key")));
    assert_true(bytes_equal(change.value, bytes_of_text("value")));
    assert_true(changelog_next(&changes, &change, &found) && found);
    assert_int_equal(change.kind, CHANGE_DROP);
    assert_true(changelog_next(&changes, &change, &found) && found);
    assert_int_equal(change.kind, CHANGE_TAKE);
    assert_true(changelog_next(&changes, &change, &found) && !found);

    /* Cut anywhere, it never gives more than whole changes. */
    for (size_t size = 0; size < buffer.size_bytes; size++) {
        int whole = 0;
        if (!changelog_open(bytes_of(buffer.data, size), &operator_id, &partition, &changes)) {
            assert_true(size < CHANGELOG_HEADER_BYTES);
            continue;
        }
        found = true;
        while (changelog_next(&changes, &change, &found) && found)
            whole++;
        assert_true(whole < 3);
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
        cmocka_unit_test(varints_of_any_size_come_back),
    };
    return cmocka_run_group_tests_name("state/changelog", tests, NULL, NULL);
}
