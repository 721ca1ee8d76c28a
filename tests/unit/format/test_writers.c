/* The writers, by writing what the JSON reader read; codecs and the text format. */
#include "format/codec.h"
#include "format_case.h"

#include <stdio.h>

struct write_case {
    const char *format;
    const char *schema;
    const char *options[16];
    const char *rows; /* JSON lines */
};

static enum status write_all(const struct write_case *test, struct arena *query, struct buffer *out,
                             const char **extension, struct error *err)
{
    struct arena *batch_arena = arena_new("batch", 0);
    struct option items[8];
    struct options options = {.items = items};
    struct options none = {0};
    for (; test->options[options.count * 2] != NULL; options.count++)
        items[options.count] =
            (struct option){test->options[options.count * 2], test->options[options.count * 2 + 1]};
    uint32_t columns[64];
    struct format_config config = {.options = &none, .time_zone = "UTC", .columns = columns};
    struct format_reader *reader = NULL;
    struct record_reader *records = NULL;
    struct format_writer *writer = NULL;
    struct record_writer *file = NULL;
    const struct format_ops *from = format_find("json");
    const struct format_ops *to = format_find(test->format);
    enum status status = OK;
    TRY_OUT(type_parse_schema(query, bytes_of_text(test->schema), &config.schema, err));
    for (; config.column_count < config.schema->field_count; config.column_count++)
        columns[config.column_count] = config.column_count;
    TRY_OUT(from->reader_new(query, &config, &reader, err));
    config.options = &options;
    TRY_OUT(to->writer_new(query, &config, &writer, err));
    *extension = to->extension(writer);
    struct format_split split = {.path = "a", .end = strlen(test->rows)};
    TRY_OUT(
        from->open(reader, byte_stream_memory(bytes_of_text(test->rows)), &split, &records, err));
    TRY_OUT(to->write_open(writer, &file, err));
    for (;;) {
        struct batch *batch = NULL;
        arena_reset(batch_arena);
        TRY_OUT(from->next(records, batch_arena, &batch, err));
        if (batch == NULL)
            break;
        TRY_OUT(to->write(file, batch, out, err));
    }
    TRY_OUT(to->finish(file, out, err));
out:
    if (records != NULL)
        from->close(records);
    if (file != NULL)
        to->write_close(file);
    arena_free(batch_arena);
    return status;
}

static void expect_file(struct write_case test, const char *content)
{
    struct arena *query = arena_new("query", 0);
    struct buffer out = {0};
    struct error err = ERROR_INIT;
    const char *extension = NULL;
    enum status status = write_all(&test, query, &out, &extension, &err);
    if (status != OK)
        print_message("%s\n", err.text);
    assert_int_equal(status, OK);
    assert_string_equal(buffer_text(&out), content);
    buffer_fini(&out);
    arena_free(query);
}

static void expect_refusal(struct write_case test, enum status status)
{
    struct arena *query = arena_new("query", 0);
    struct buffer out = {0};
    struct error err = ERROR_INIT;
    const char *extension = NULL;
    assert_int_equal(write_all(&test, query, &out, &extension, &err), status);
    buffer_fini(&out);
    arena_free(query);
}

static void test_json(void **state)
{
    (void)state;
    struct write_case test = {
        .format = "json",
        .schema = "i INT, s STRING, d DOUBLE, z TIMESTAMP, y DATE, e DECIMAL(20,18), "
                  "a ARRAY<INT>, m MAP<STRING, INT>, t STRUCT<x: INT>, b BINARY",
        .rows = "{\"i\":-7,\"s\":\"a\\\"\\u0001\xC3\xA9\",\"d\":NaN,"
                "\"z\":\"2024-05-01T10:20:30.1239Z\",\"y\":\"2024-05-01\",\"e\":1e-18,"
                "\"a\":[1,null],\"m\":{\"k\":null},\"t\":{},\"b\":\"YWI=\"}\n{}\n"};
    expect_file(test, "{\"i\":-7,\"s\":\"a\\\"\\u0001\xC3\xA9\",\"d\":\"NaN\","
                      "\"z\":\"2024-05-01T10:20:30.123Z\",\"y\":\"2024-05-01\",\"e\":1E-18,"
                      "\"a\":[1,null],\"m\":{\"k\":null},\"t\":{},\"b\":\"YWI=\"}\n{}\n");
    test.schema = "s STRING, t STRUCT<x: INT>";
    test.options[0] = "ignoreNullFields";
    test.options[1] = "false";
    test.options[2] = "writeNonAsciiCharacterAsCodePoint";
    test.options[3] = "true";
    expect_file(test, "{\"s\":\"a\\\"\\u0001\\u00E9\",\"t\":{\"x\":null}}\n"
                      "{\"s\":null,\"t\":null}\n");
}

/* As Jackson prints: to_json with the same option writes the same. */
static void test_json_pretty(void **state)
{
    (void)state;
    expect_file(
        (struct write_case){.format = "json",
                            .schema = "s STRING, a ARRAY<STRUCT<x: INT, y: ARRAY<INT>>>, "
                                      "t STRUCT<u: STRUCT<v: INT>>, m MAP<STRING, INT>",
                            .options = {"pretty", "true"},
                            .rows = "{\"s\":\"a,\\\"{:\",\"a\":[{\"x\":1,\"y\":[1,2]},{}],"
                                    "\"t\":{\"u\":{\"v\":2}},\"m\":{\"k\":3}}\n"
                                    "{\"a\":[],\"m\":{}}\n{}\n"},
        "{\n  \"s\" : \"a,\\\"{:\",\n  \"a\" : [ {\n    \"x\" : 1,\n    \"y\" : [ 1, 2 ]\n  }, "
        "{ } ],\n  \"t\" : {\n    \"u\" : {\n      \"v\" : 2\n    }\n  },\n  \"m\" : {\n"
        "    \"k\" : 3\n  }\n}\n{\n  \"a\" : [ ],\n  \"m\" : { }\n}\n{ }\n");
}

static void test_json_numbers(void **state)
{
    (void)state;
    struct buffer rows = {0};
    struct buffer want = {0};
    int64_t number = 1;
    for (int i = 0; i < 18; i++, number *= 10) {
        for (int64_t k = -1; k <= 1; k++) {
            long long value = number + k;
            buffer_printf(&rows, "{\"l\" : %lld}\n{\"l\" : %lld}\n", value, -value);
            buffer_printf(&want, "{\"l\":%lld}\n{\"l\":%lld}\n", value, -value);
        }
    }
    expect_file(
        (struct write_case){.format = "json", .schema = "l BIGINT", .rows = buffer_text(&rows)},
        buffer_text(&want));
    buffer_fini(&rows);
    buffer_fini(&want);
}

/* Whole seconds are printed once and remembered: by zone or without, and however long. */
static void test_json_times(void **state)
{
    (void)state;
    struct write_case test = {.format = "json", .schema = "z TIMESTAMP, n TIMESTAMP_NTZ"};
    struct buffer rows = {0};
    struct buffer want = {0};
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 300; i++) {
            buffer_printf(&rows, "{\"z\":\"2024-05-01T10:%02d:%02dZ\",", i / 60, i % 60);
            buffer_printf(&rows, "\"n\":\"2024-05-01T10:%02d:%02d\"}\n", i / 60, i % 60);
            buffer_printf(&want, "{\"z\":\"2024-05-01T10:%02d:%02d.000Z\",", i / 60, i % 60);
            buffer_printf(&want, "\"n\":\"2024-05-01T10:%02d:%02d.000\"}\n", i / 60, i % 60);
        }
    test.rows = buffer_text(&rows);
    expect_file(test, buffer_text(&want));
    buffer_fini(&rows);
    buffer_fini(&want);
    test.rows = "{\"z\":\"1970-01-01T00:00:00Z\",\"n\":\"1970-01-01T00:00:00\"}\n"
                "{\"z\":\"+12024-05-01T10:20:30Z\",\"n\":\"+12024-05-01T10:20:30\"}\n"
                "{\"z\":\"+12024-05-01T10:20:30Z\",\"n\":\"+12024-05-01T10:20:30\"}\n";
    expect_file(test, "{\"z\":\"1970-01-01T00:00:00.000Z\",\"n\":\"1970-01-01T00:00:00.000\"}\n"
                      "{\"z\":\"+12024-05-01T10:20:30.000Z\","
                      "\"n\":\"+12024-05-01T10:20:30.000\"}\n"
                      "{\"z\":\"+12024-05-01T10:20:30.000Z\","
                      "\"n\":\"+12024-05-01T10:20:30.000\"}\n");
    test.options[0] = "timeZone";
    test.options[1] = "Europe/Berlin";
    test.rows = "{\"z\":\"1890-05-01T10:20:30Z\",\"n\":\"2024-05-01T10:20:30\"}\n"
                "{\"z\":\"1890-05-01T10:20:30Z\",\"n\":\"2024-05-01T10:20:30\"}\n"
                "{\"z\":\"2024-05-01T10:20:30Z\",\"n\":\"2024-05-01T10:20:30\"}\n"
                "{\"z\":\"2024-05-01T10:20:30Z\",\"n\":\"2024-05-01T12:20:30\"}\n";
    expect_file(test, "{\"z\":\"1890-05-01T11:13:58.000+00:53:28\","
                      "\"n\":\"2024-05-01T10:20:30.000\"}\n"
                      "{\"z\":\"1890-05-01T11:13:58.000+00:53:28\","
                      "\"n\":\"2024-05-01T10:20:30.000\"}\n"
                      "{\"z\":\"2024-05-01T12:20:30.000+02:00\","
                      "\"n\":\"2024-05-01T10:20:30.000\"}\n"
                      "{\"z\":\"2024-05-01T12:20:30.000+02:00\","
                      "\"n\":\"2024-05-01T12:20:30.000\"}\n");
}

static void test_csv(void **state)
{
    (void)state;
    struct write_case test = {.format = "csv",
                              .schema = "s STRING, i INT, z TIMESTAMP",
                              .options = {"header", "true"},
                              .rows = "{\"s\":\" a,\\\"b\\\\ \",\"i\":1,\"z\":0}\n{\"s\":\"\"}\n"
                                      "{\"s\":\"#c\",\"i\":-5}\n"};
    expect_file(test, "s,i,z\n\"a,\\\"b\\\\\",1,1970-01-01T00:00:00.000Z\n\"\",,\n\"#c\",-5,\n");
    test.options[0] = "quoteAll";
    expect_file(test, "\"a,\\\"b\\\\\",\"1\",\"1970-01-01T00:00:00.000Z\"\n\"\",\"\",\"\"\n"
                      "\"#c\",\"-5\",\"\"\n");
    test.options[0] = "sep";
    test.options[1] = "";
    expect_refusal(test, STATUS_INVALID_DELIMITER_VALUE__EMPTY_STRING);
    test.options[0] = NULL;
    test.schema = "a ARRAY<INT>";
    expect_refusal(test, STATUS_UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE);
}

static void test_text(void **state)
{
    (void)state;
    struct write_case test = {.format = "text",
                              .schema = "value STRING",
                              .options = {"lineSep", "||"},
                              .rows = "{\"value\":\"x\"}\n{}\n"};
    expect_file(test, "x||||");
    test.schema = "value INT";
    expect_refusal(test, STATUS_UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE);
    expect_rows((struct format_case){.format = "text",
                                     .schema = "v STRING",
                                     .input = "one\r\ntwo\n\n\xEF\xBB\xBFthree"},
                "one\ntwo\n\nthree\n");
    expect_rows((struct format_case){.format = "text",
                                     .schema = "v STRING",
                                     .options = {"wholetext", "true"},
                                     .input = "one\ntwo\n"},
                "one\ntwo\n\n");
    expect_rows((struct format_case){.format = "text",
                                     .schema = "v STRING",
                                     .options = {"lineSep", "XX"},
                                     .input = "aXXXbXXc"},
                "a\nXb\nc\n");
}

static void test_charsets(void **state)
{
    (void)state;
    struct write_case test = {.format = "json",
                              .schema = "a STRING",
                              .options = {"encoding", "ISO-8859-1"},
                              .rows = "{\"a\":\"\xC3\xA9\xE2\x82\xAC\"}\n"};
    expect_file(test, "{\"a\":\"\xE9?\"}\n");
    test.options[1] = "nope";
    expect_refusal(test, STATUS_INVALID_PARAMETER_VALUE__CHARSET);
}

/* Writes with each codec and reads it back in small steps. */
static void test_codecs(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"gzip", ".txt.gz"},   {"deflate", ".txt.deflate"},
                                           {"bzip2", ".txt.bz2"}, {"zstd", ".txt.zst"},
                                           {"lz4", ".txt.lz4"},   {"snappy", ".txt.snappy"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct arena *query = arena_new("query", 0);
        struct buffer out = {0};
        struct error err = ERROR_INIT;
        const char *extension = NULL;
        struct write_case test = {.format = "text",
                                  .schema = "value STRING",
                                  .options = {"compression", names[i][0]},
                                  .rows = "{\"value\":\"one\"}\n{\"value\":\"two\"}\n"};
        assert_int_equal(write_all(&test, query, &out, &extension, &err), OK);
        assert_string_equal(extension, names[i][1]);
        assert_true(path_is_compressed(extension));
        size_t member = out.size_bytes;
        assert_int_equal(write_all(&test, query, &out, &extension, &err), OK);
        struct byte_stream *stream = NULL;
        assert_int_equal(codec_stream_open(codec_of_path(extension),
                                           stepping_open(buffer_bytes(&out), 3), extension, &stream,
                                           &err),
                         OK);
        char text[64] = "";
        size_t size = 0;
        size_t got = 1;
        while (got > 0) {
            assert_int_equal(stream->read(stream, (uint8_t *)text + size, 5, &got, &err), OK);
            size += got;
        }
        stream->close(stream);
        assert_string_equal(text, "one\ntwo\none\ntwo\n");

        /* cut short */
        assert_int_equal(codec_stream_open(codec_of_path(extension),
                                           stepping_open(bytes_of(out.data, member - 2), 0),
                                           extension, &stream, &err),
                         OK);
        enum status status = OK;
        for (got = 1; status == OK && got > 0;)
            status = stream->read(stream, (uint8_t *)text, sizeof text, &got, &err);
        assert_int_equal(status, STATUS_FAILED_READ_FILE__NO_HINT);
        assert_non_null(strstr(err.text, "it ends within its "));
        stream->close(stream);

        /* not of the codec */
        assert_int_equal(codec_stream_open(codec_of_path(extension),
                                           stepping_open(bytes_of_text("{\"plain\": 1}\n"), 0),
                                           extension, &stream, &err),
                         OK);
        status = stream->read(stream, (uint8_t *)text, sizeof text, &got, &err);
        assert_int_equal(status, STATUS_FAILED_READ_FILE__NO_HINT);
        assert_non_null(strstr(err.text, " data is damaged"));
        stream->close(stream);
        buffer_fini(&out);
        arena_free(query);
    }
}

/* Many blocks; damages are named. */
static void test_blocks_of_hadoop(void **state)
{
    (void)state;
    static const char *const names[] = {"lz4", "snappy"};
    for (size_t n = 0; n < 2; n++) {
        struct arena *arena = arena_new("query", 0);
        struct error err = ERROR_INIT;
        struct buffer plain = {0};
        struct buffer out = {0};
        enum codec codec = CODEC_NONE;
        for (uint32_t i = 0; i < 100000; i++)
            buffer_printf(&plain, "%u,%u\n", i, i * 2654435761U);
        assert_int_equal(codec_find(names[n], &codec, &err), OK);
        assert_int_equal(codec_load(codec, &err), OK);
        struct encoder *encoder = encoder_new(codec);
        size_t half = plain.size_bytes / 2;
        assert_int_equal(encoder_write(encoder, bytes_of(plain.data, half), false, &out, &err), OK);
        assert_int_equal(encoder_write(encoder,
                                       bytes_of(plain.data + half, plain.size_bytes - half), true,
                                       &out, &err),
                         OK);
        encoder_free(encoder);
        struct byte_stream *stream = NULL;
        assert_int_equal(
            codec_stream_open(codec, stepping_open(buffer_bytes(&out), 4099), "a", &stream, &err),
            OK);
        uint8_t *text = arena_new_object(arena, plain.size_bytes + 1);
        size_t size = 0;
        for (size_t got = 1; got > 0; size += got)
            assert_int_equal(
                stream->read(stream, text + size, plain.size_bytes + 1 - size, &got, &err), OK);
        stream->close(stream);
        assert_int_equal(size, plain.size_bytes);
        assert_memory_equal(text, plain.data, size);

        /* Every byte of the first kilobyte damaged: an error, or other text, and no more of it. */
        for (size_t at = 0; at < 1024; at++) {
            out.data[at] ^= 0xFF;
            assert_int_equal(
                codec_stream_open(codec, stepping_open(buffer_bytes(&out), 0), "a", &stream, &err),
                OK);
            enum status status = OK;
            size = 0;
            for (size_t got = 1; status == OK && got > 0; size += got) {
                status = stream->read(stream, text, plain.size_bytes, &got, &err);
                got = status == OK ? got : 0;
            }
            stream->close(stream);
            assert_true(size <= plain.size_bytes);
            if (at < 8) /* the sizes */
                assert_int_equal(status, STATUS_FAILED_READ_FILE__NO_HINT);
            out.data[at] ^= 0xFF;
        }
        buffer_fini(&plain);
        buffer_fini(&out);
        arena_free(arena);
    }
}

/* As Hadoop writes of a long line, and an empty block behind it. */
static void test_a_block_of_two_chunks(void **state)
{
    (void)state;
    static const uint8_t chunks[] = {0, 0, 0, 4, 0,    0,   0,    3, 0x20, 'a', 'b',
                                     0, 0, 0, 3, 0x20, 'c', '\n', 0, 0,    0,   0};
    struct error err = ERROR_INIT;
    struct byte_stream *stream = NULL;
    uint8_t text[16];
    size_t size = 0;
    assert_int_equal(codec_stream_open(CODEC_LZ4, stepping_open(bytes_of(chunks, sizeof chunks), 1),
                                       "a", &stream, &err),
                     OK);
    for (size_t got = 1; got > 0; size += got)
        assert_int_equal(stream->read(stream, text + size, sizeof text - size, &got, &err), OK);
    stream->close(stream);
    assert_int_equal(size, 4);
    assert_memory_equal(text, "abc\n", 4);
}

static const char *parquet_extension(const char *option, const char *value)
{
    static char shown[64];
    struct write_case test = {
        .format = "parquet", .schema = "a INT", .options = {option, value}, .rows = "{\"a\":1}\n"};
    struct arena *query = arena_new("query", 0);
    struct buffer out = {0};
    struct error err = ERROR_INIT;
    const char *extension = NULL;
    assert_int_equal(write_all(&test, query, &out, &extension, &err), OK);
    assert_memory_equal(out.data, "PAR1", 4);
    assert_memory_equal(out.data + out.size_bytes - 4, "PAR1", 4);
    (void)snprintf(shown, sizeof shown, "%s", extension);
    buffer_fini(&out);
    arena_free(query);
    return shown;
}

static void test_parquet_names_its_codec(void **state)
{
    (void)state;
    assert_string_equal(parquet_extension(NULL, NULL), ".snappy.parquet");
    assert_string_equal(parquet_extension("compression", "none"), ".parquet");
    assert_string_equal(parquet_extension("compression", "UNCOMPRESSED"), ".parquet");
    assert_string_equal(parquet_extension("compression", "gzip"), ".gz.parquet");
    assert_string_equal(parquet_extension("parquet.compression", "zstd"), ".zstd.parquet");
    assert_string_equal(parquet_extension("compression", "lz4"), ".lz4hadoop.parquet");
    assert_string_equal(parquet_extension("compression", "lz4_raw"), ".lz4raw.parquet");
}

static void test_parquet_refuses(void **state)
{
    (void)state;
    struct write_case test = {.format = "parquet", .schema = "a INT, b INTERVAL", .rows = ""};
    expect_refusal(test, STATUS_UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE);
    test.schema = "a INT, b STRUCT<x: STRUCT<>>";
    expect_refusal(test, STATUS_UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE);
    test.schema = "a INT, b STRUCT<x: INT, x: INT>";
    expect_refusal(test, STATUS_COLUMN_ALREADY_EXISTS);
    test.schema = "a INT";
    test.options[0] = "compression";
    test.options[1] = "brotli";
    expect_refusal(test, STATUS_CODEC_NOT_AVAILABLE__WITH_AVAILABLE_CODECS_SUGGESTION);
    test.options[0] = "parquet.page.size";
    test.options[1] = "0";
    expect_refusal(test, STATUS_INVALID_OPTION_VALUE);
    test.options[0] = "parquet.block.size";
    test.options[1] = "64m";
    expect_refusal(test, STATUS_INVALID_OPTION_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_json_numbers),
        cmocka_unit_test(test_json_times),
        cmocka_unit_test(test_json_pretty),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_charsets),
        cmocka_unit_test(test_codecs),
        cmocka_unit_test(test_blocks_of_hadoop),
        cmocka_unit_test(test_a_block_of_two_chunks),
        cmocka_unit_test(test_parquet_names_its_codec),
        cmocka_unit_test(test_parquet_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
