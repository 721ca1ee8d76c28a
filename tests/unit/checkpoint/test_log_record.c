#include "checkpoint/batch_record.h"
#include "checkpoint/log_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void encode(struct buffer *out, const char *payload, uint64_t synced)
{
    struct log_record record = {
        .kind = RECORD_INTENT,
        .epoch = 7,
        .batch_id = 42,
        .synced = synced,
        .payload = bytes_of_text(payload),
    };
    log_record_encode(&record, out);
}

static void a_record_comes_back_whole(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    struct log_record record;
    uint64_t size = 0;
    encode(&buffer, "some payload", 128);
    assert_int_equal(buffer.size_bytes % 8, 0);
    assert_int_equal(buffer.size_bytes, log_record_size(12));
    assert_int_equal(log_record_decode(buffer_bytes(&buffer), &record, &size), RECORD_VALID);
    assert_int_equal(size, buffer.size_bytes);
    assert_int_equal(record.kind, RECORD_INTENT);
    assert_int_equal(record.epoch, 7);
    assert_int_equal(record.batch_id, 42);
    assert_int_equal(record.synced, 128);
    assert_true(bytes_equal(record.payload, bytes_of_text("some payload")));
    buffer_fini(&buffer);
}

static void any_flipped_bit_is_noticed(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    encode(&buffer, "payload", 0);
    for (size_t i = 0; i < buffer.size_bytes * 8; i++) {
        struct log_record record;
        uint64_t size = 0;
        buffer.data[i / 8] ^= (uint8_t)(1U << (i % 8));
        assert_int_equal(log_record_decode(buffer_bytes(&buffer), &record, &size), RECORD_BROKEN);
        buffer.data[i / 8] ^= (uint8_t)(1U << (i % 8));
    }
    buffer_fini(&buffer);
}

static void any_missing_byte_is_noticed(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    encode(&buffer, "payload", 0);
    for (size_t size_bytes = 1; size_bytes < buffer.size_bytes; size_bytes++) {
        struct log_record record;
        uint64_t size = 0;
        assert_int_equal(log_record_decode(bytes_of(buffer.data, size_bytes), &record, &size),
                         RECORD_BROKEN);
    }
    buffer_fini(&buffer);
}

static void zeros_are_the_end(void **state)
{
    (void)state;
    static const uint8_t zeros[100];
    struct log_record record;
    uint64_t size = 0;
    assert_int_equal(log_record_decode(bytes_of(zeros, 100), &record, &size), RECORD_END);
    assert_int_equal(log_record_decode(bytes_of(zeros, 9), &record, &size), RECORD_END);
    assert_int_equal(log_record_decode(bytes_of(zeros, 0), &record, &size), RECORD_END);
}

static void intents_come_back_and_short_payloads_are_refused(void **state)
{
    (void)state;
    struct arena *arena = arena_new("test", 0);
    struct buffer buffer = {0};
    struct intent_range sources[2] = {
        {.has_data = true,
         .range = {bytes_of_text("{\"o\":1}"), bytes_of_text("{\"o\":2}"), bytes_of_text("files")}},
        {.has_data = false},
    };
    struct pinned_setting settings[] = {{bytes_of_text("a.b"), bytes_of_text("8")}};
    struct source_range tables[] = {{.detail = bytes_of_text("t")}};
    struct batch_intent in = {
        .batch_id = 3,
        .late_watermark_us = -5,
        .eviction_watermark_us = 17,
        .batch_timestamp_us = 99,
        .random_seed = UINT64_MAX,
        .fingerprint = 12,
        .run_id = "01234567-89ab-4cde-8f01-23456789abcd",
        .sources = sources,
        .source_count = 2,
        .tables = tables,
        .table_count = 1,
        .settings = settings,
        .setting_count = 1,
    };
    batch_intent_encode(&in, &buffer);
    struct batch_intent out;
    assert_true(batch_intent_decode(arena, buffer_bytes(&buffer), &out));
    assert_int_equal(out.late_watermark_us, -5);
    assert_int_equal(out.source_count, 2);
    assert_true(out.sources[0].has_data);
    assert_true(bytes_equal(out.sources[0].range.detail, bytes_of_text("files")));
    assert_int_equal(out.sources[1].range.end.size_bytes, 0);
    assert_string_equal(out.run_id, in.run_id);
    assert_true(bytes_equal(batch_intent_setting(&out, "a.b"), bytes_of_text("8")));
    assert_null(batch_intent_setting(&out, "x").data);
    for (size_t size = 0; size < buffer.size_bytes; size++)
        assert_false(batch_intent_decode(arena, bytes_of(buffer.data, size), &out));
    buffer_add_byte(&buffer, 0);
    assert_false(batch_intent_decode(arena, buffer_bytes(&buffer), &out));
    buffer_fini(&buffer);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_comes_back_whole),
        cmocka_unit_test(any_flipped_bit_is_noticed),
        cmocka_unit_test(any_missing_byte_is_noticed),
        cmocka_unit_test(zeros_are_the_end),
        cmocka_unit_test(intents_come_back_and_short_payloads_are_refused),
    };
    return cmocka_run_group_tests_name("checkpoint/log_record", tests, NULL, NULL);
}
