/* The JSON reader: values, broken records, modes, arrays of rows, chunk and split boundaries. */
#include "format_case.h"

static void test_values_of_every_kind(void **state)
{
    (void)state;
    expect_rows(
        (struct format_case){
            .format = "json",
            .schema = "b BOOLEAN, t TINYINT, i INT, l BIGINT, d DOUBLE, f FLOAT, e DECIMAL(5,2), "
                      "s STRING, y DATE, z TIMESTAMP, n TIMESTAMP_NTZ, x BINARY",
            .input = "{\"b\":true,\"t\":127,\"i\":-2147483648,\"l\":9223372036854775807,"
                     "\"d\":-0.5,\"f\":1.25,\"e\":\"1,2.345\",\"s\":\"a\",\"y\":\"2024-05-01\","
                     "\"z\":\"2024-05-01T10:20:30.5Z\",\"n\":\"2024-05-01 00:00:00\","
                     "\"x\":\"YWI=\"}\n"},
        "true|127|-2147483648|9223372036854775807|-0.5|1.25|12.35|a|2024-05-01|"
        "2024-05-01 10:20:30.5|2024-05-01 00:00:00|ab\n");
}

static void test_nested_values(void **state)
{
    (void)state;
    expect_rows((struct format_case){.format = "json",
                                     .schema = "a ARRAY<STRUCT<x: INT>>, m MAP<STRING, INT>, "
                                               "s STRUCT<p: STRING, q: ARRAY<INT>>",
                                     .input = "{\"a\":[{\"x\":1},null,{}],\"m\":{\"k\":1,\"j\":"
                                              "null},\"s\":{\"q\":[1,2],\"p\":\"v\"}}\n"
                                              "{\"s\":{\"z\":1}}\n{\"m\":{},\"a\":[]}\n"},
                "[{1}, null, {null}]|{k -> 1, j -> null}|{v, [1, 2]}\n"
                "NULL|NULL|{null, null}\n[]|{}|NULL\n");
}

/* An element that is NULL has nothing of the element that was at its place in the batch before. */
static void test_nulls_in_a_later_batch(void **state)
{
    (void)state;
    struct buffer input = {0}, rows = {0};
    for (int i = 0; i < BATCH_ROWS_MAX; i++) {
        buffer_add_text(&input, "{\"a\":[{\"s\":{\"w\":[1,2]}}]}\n");
        buffer_add_text(&rows, "[{{[1, 2]}}]\n");
    }
    buffer_add_text(&input, "{\"a\":[null,{\"s\":null},{}]}\n");
    buffer_add_text(&rows, "[null, {null}, {null}]\n");
    expect_rows((struct format_case){.format = "json",
                                     .schema = "a ARRAY<STRUCT<s: STRUCT<w: ARRAY<INT>>>>",
                                     .input = buffer_text(&input)},
                buffer_text(&rows));
    buffer_fini(&input);
    buffer_fini(&rows);
}

static void test_broken_records_permissive(void **state)
{
    (void)state;
    expect_rows((struct format_case){.format = "json",
                                     .schema = "a INT, b STRING, _corrupt_record STRING",
                                     .input = "{\"a\":1,\"b\":\"x\"\n{\"a\":\"q\",\"b\":\"y\"}\n"
                                              "{\"a\":1} rest\n\n  \nnull\n{\"a\":01}\n"
                                              "{\"z\":\"\\q\",\"a\":1}\n{\"z\":[1,{}],\"a\":2}\n"},
                "NULL|NULL|{\"a\":1,\"b\":\"x\"\nNULL|y|{\"a\":\"q\",\"b\":\"y\"}\n1|NULL|NULL\n"
                "NULL|NULL|null\nNULL|NULL|{\"a\":01}\nNULL|NULL|{\"z\":\"\\q\",\"a\":1}\n"
                "2|NULL|NULL\n");
}

static void test_modes(void **state)
{
    (void)state;
    struct format_case test = {.format = "json",
                               .schema = "a INT, s STRUCT<x: INT>",
                               .options = {"mode", "DROPMALFORMED"},
                               .input = "{\"a\":1,\"s\":{\"x\":1}}\n{\"s\":{\"x\":\"q\"}}\n"
                                        "{\"a\":2}\n{bad\n[{\"a\":3},{\"a\":4}]\n"
                                        "[{\"a\":5},{\"a\":\"q\"}]\n"};
    expect_rows(test, "1|{1}\n2|NULL\n3|NULL\n4|NULL\n");
    test.options[1] = "FAILFAST";
    expect_failure(test, STATUS_FAILED_READ_FILE__NO_HINT,
                   STATUS_MALFORMED_RECORD_IN_PARSING__WITHOUT_SUGGESTION);
}

static void test_texts_with_escapes(void **state)
{
    (void)state;
    expect_rows((struct format_case){.format = "json",
                                     .schema = "a STRING, b STRING",
                                     .input = "{\"a\":\"\\u00e9\\ud83d\\ude00\\n\",\"b\":\"x\"}\n"
                                              "{\"a\":\"\\ud83d\",\"b\":{\"k\" : [1, \"\\\"\"]}}\n"
                                              "{'a':'it\\'s \"q\"','b':1.50}\n"},
                "\xC3\xA9\xF0\x9F\x98\x80\n|x\n?|{\"k\" : [1, \"\\\"\"]}\nit's \"q\"|1.50\n");
}

static void test_lenient_syntax(void **state)
{
    (void)state;
    expect_rows((struct format_case){.format = "json",
                                     .schema = "a INT, b STRING",
                                     .options = {"allowComments", "true", "allowUnquotedFieldNames",
                                                 "true", "allowNumericLeadingZeros", "true",
                                                 "allowUnquotedControlChars", "true",
                                                 "allowBackslashEscapingAnyCharacter", "true"},
                                     .input = "{/*c*/a:007,\"b\" :\"\t\\q\"} // x\n"},
                "7|\tq\n");
}

static void test_keys_that_come_and_go(void **state)
{
    (void)state;
    expect_rows((struct format_case){.format = "json",
                                     .schema = "a INT, b INT, c INT",
                                     .input = "{\"a\":1,\"b\":2,\"c\":3}\n{\"c\":3,\"a\":1}\n"
                                              "{ \"a\" : 1 , \"x\" : null , \"c\" : 3 }\n"
                                              "{\"b\":1,\"b\":2}\n{\"\\u0061\":5}\n{}\n{ }\n"},
                "1|2|3\n1|NULL|3\n1|NULL|3\nNULL|2|NULL\n5|NULL|NULL\nNULL|NULL|NULL\n"
                "NULL|NULL|NULL\n");
}

static void test_only_wanted_columns(void **state)
{
    (void)state;
    static const uint32_t columns[] = {1};
    expect_rows((struct format_case){.format = "json",
                                     .schema = "a INT, b INT, c STRING",
                                     .columns = columns,
                                     .column_count = 1,
                                     .input = "{\"a\":\"bad\",\"b\":1,\"c\":\"\xC3\xA9\"}\n"
                                              "{\"a\":{\"x\":[1,2,\"]\"]},\"b\":2}\n"
                                              "{\"c\":\"\xFF\",\"b\":3}\n{\"a\":-1.5e3,\"b\":4}\n"},
                "1\n2\nNULL\n4\n");
}

static void test_arrays_longer_than_a_batch(void **state)
{
    (void)state;
    struct buffer input = {0};
    struct buffer rows = {0};
    buffer_add_text(&input, "[");
    for (int i = 0; i < 10000; i++) {
        buffer_printf(&input, "%s{\"a\":%d,\"l\":[%d]}", i == 0 ? "" : ",", i, i);
        buffer_printf(&rows, "%d|[%d]\n", i, i);
    }
    buffer_add_text(&input, "]\n{\"a\":-1}\n");
    buffer_add_text(&rows, "-1|NULL\n");
    expect_rows((struct format_case){.format = "json",
                                     .schema = "a INT, l ARRAY<INT>",
                                     .input = buffer_text(&input)},
                buffer_text(&rows));
    buffer_fini(&input);
    buffer_fini(&rows);
}

static void test_many_rows_and_long_records(void **state)
{
    (void)state;
    struct buffer input = {0};
    struct buffer rows = {0};
    for (int i = 0; i < 9000; i++) {
        buffer_printf(&input, "{\"a\":%d,\"s\":\"", i);
        buffer_printf(&rows, "%d|", i);
        for (int k = 0; k < i % 200; k++) {
            buffer_add_byte(&input, 'x');
            buffer_add_byte(&rows, 'x');
        }
        buffer_add_text(&input, "\"}\r\n");
        buffer_add_byte(&rows, '\n');
    }
    struct format_case test = {
        .format = "json", .schema = "a INT, s STRING", .input = buffer_text(&input)};
    struct buffer out = {0};
    struct error err = ERROR_INIT;
    assert_int_equal(format_case_read(&test, &out, &err), OK);
    assert_string_equal(buffer_text(&out), buffer_text(&rows));
    buffer_fini(&out);
    buffer_fini(&input);
    buffer_fini(&rows);
}

static void test_splits_read_every_row_once(void **state)
{
    (void)state;
    const char *input = "{\"a\":1}\n{\"a\":22}\r\n\r{\"a\":333}\n\n{\"a\":4}";
    size_t size = strlen(input);
    for (uint64_t cut = 1; cut < size; cut++) {
        struct buffer out = {0};
        struct error err = ERROR_INIT;
        struct format_case test = {.format = "json", .schema = "a INT", .input = input};
        test.end = cut;
        assert_int_equal(format_case_read(&test, &out, &err), OK);
        test.start = cut;
        test.end = size;
        assert_int_equal(format_case_read(&test, &out, &err), OK);
        assert_string_equal(buffer_text(&out), "1\n22\n333\n4\n");
        buffer_fini(&out);
    }
}

static void test_limits(void **state)
{
    (void)state;
    char long_line[4096];
    memset(long_line, ' ', sizeof long_line);
    long_line[sizeof long_line - 1] = '\0';
    expect_failure((struct format_case){.format = "json",
                                        .schema = "a INT",
                                        .input = long_line,
                                        .step = 1000,
                                        .record_bytes_max = 1000},
                   STATUS_LIMIT_EXCEEDED, OK);
    expect_rows((struct format_case){.format = "json",
                                     .schema = "a ARRAY<ARRAY<INT>>, _corrupt_record STRING",
                                     .options = {"maxNestingDepth", "3"},
                                     .input = "{\"a\":[[1]]}\n{\"a\":[[[1]]]}\n{\"z\":[[[]]]}\n"},
                "[[1]]|NULL\nNULL|{\"a\":[[[1]]]}\nNULL|{\"z\":[[[]]]}\n");
}

static void test_refused_options_and_types(void **state)
{
    (void)state;
    struct format_case test = {.format = "json", .schema = "a INT", .input = ""};
    test.options[0] = "allowComments";
    test.options[1] = "yes";
    expect_failure(test, STATUS_INVALID_OPTION_VALUE, OK);
    test.options[0] = "encoding";
    test.options[1] = "windows-1252";
    expect_failure(test, STATUS_INVALID_PARAMETER_VALUE__CHARSET, OK);
    test.options[1] = "UTF-16LE";
    expect_failure(test, STATUS_INVALID_OPTION_VALUE, OK);
    test.options[0] = NULL;
    test.schema = "a INT, _corrupt_record INT";
    expect_failure(test, STATUS_INVALID_CORRUPT_RECORD_TYPE, OK);
    test.schema = "_corrupt_record STRING";
    expect_failure(test, STATUS_UNSUPPORTED_FEATURE__QUERY_ONLY_CORRUPT_RECORD_COLUMN, OK);
    test.schema = "a TIME(6)";
    expect_failure(test, STATUS_UNSUPPORTED_TIME_TYPE, OK);
    test.schema = "a MAP<INT, INT>";
    expect_failure(test, STATUS_UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE, OK);
    test.schema = "a INT, A INT";
    expect_failure(test, STATUS_COLUMN_ALREADY_EXISTS, OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_of_every_kind),
        cmocka_unit_test(test_nested_values),
        cmocka_unit_test(test_broken_records_permissive),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_texts_with_escapes),
        cmocka_unit_test(test_lenient_syntax),
        cmocka_unit_test(test_keys_that_come_and_go),
        cmocka_unit_test(test_only_wanted_columns),
        cmocka_unit_test(test_arrays_longer_than_a_batch),
        cmocka_unit_test(test_many_rows_and_long_records),
        cmocka_unit_test(test_splits_read_every_row_once),
        cmocka_unit_test(test_nulls_in_a_later_batch),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_refused_options_and_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
