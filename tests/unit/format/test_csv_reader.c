/* The CSV reader: values, quotes, NULLs, headers, broken records, several lines. */
#include "format_case.h"

#include <stdio.h>

static void test_values_of_every_kind(void **state)
{
    (void)state;
    expect_rows((struct format_case){.format = "csv",
                                     .schema = "b BOOLEAN, t TINYINT, l BIGINT, d DOUBLE, "
                                               "e DECIMAL(5,2), s STRING, y DATE, z TIMESTAMP",
                                     .input = "TRUE,+1,-5, 0x1p3 ,\"1,2.5\",x,2024-5-1,"
                                              "2024-05-01T10:20:30Z\n,,,NaN,,\"\",,\n"},
                "true|1|-5|8.0|12.50|x|2024-05-01|2024-05-01 10:20:30\n"
                "NULL|NULL|NULL|NaN|NULL|NULL|NULL|NULL\n");
}

static void test_quotes(void **state)
{
    (void)state;
    struct format_case test = {.format = "csv",
                               .schema = "a STRING, b STRING",
                               .input = "\"a,b\",c\n\"a\\\"b\" ,c\n\"a\"b,c\na\"b,\"\"\n"
                                        "\"a\\\\\",c\ne,\"f\n"};
    expect_rows(test, "a,b|c\na\"b|c\n\"a\"b|c\na\"b|NULL\na\\|c\ne|f\n");
    test.options[0] = "escape";
    test.options[1] = "\"";
    test.input = "\"a\"\"b\",c\n\"\",\"\"\"\"\n";
    expect_rows(test, "a\"b|c\nNULL|\"\n");
}

static void test_decimals_of_a_language(void **state)
{
    (void)state;
    struct format_case test = {.format = "csv",
                               .schema = "a DECIMAL(10,2)",
                               .options = {"locale", "fr", "sep", ";"},
                               .input = "1,5\n1.5\n1\342\200\257234,5\n"};
    expect_rows(test, "1.50\nNULL\n1234.50\n");
    test.options[1] = "de";
    expect_rows(test, "1.50\n15.00\nNULL\n");
    test.options[1] = "en-US";
    expect_rows(test, "15.00\n1.50\nNULL\n");
    test.options[1] = "fr_FR"; /* Spark passes over it, and reads 15.00 */
    expect_failure(test, STATUS_INVALID_OPTION_VALUE, OK);
    test.format = "json";
    expect_failure(test, STATUS_INVALID_OPTION_VALUE, OK);
    test.options[1] = "fr-FR";
    test.options[2] = NULL;
    test.input = "{\"a\":\"1,5\"}\n{\"a\":1.5}\n";
    expect_rows(test, "1.50\n1.50\n");
}

/* Thousands of digits: a value as any other, not a broken record. */
static void test_numbers_of_any_length(void **state)
{
    (void)state;
    static char input[32 * 1024];
    char digits[3001];
    memset(digits, '1', sizeof digits - 1);
    digits[sizeof digits - 1] = '\0';
    (void)snprintf(input, sizeof input, "0.%s,0.%s,0.%s,0.%s\n-%s,%sd,1,x%s\n", digits, digits,
                   digits, digits, digits, digits, digits);
    struct format_case test = {.format = "csv",
                               .schema = "d DOUBLE, f FLOAT, e DECIMAL(5,3), g DECIMAL(5,3)",
                               .input = input};
    expect_rows(test, "0.1111111111111111|0.11111111|0.111|0.111\n-Infinity|Infinity|1.000|NULL\n");
    test.schema = "e DECIMAL(5,3)";
    test.options[0] = "locale";
    test.options[1] = "de";
    (void)snprintf(input, sizeof input, "\"0,%s\"\n", digits);
    expect_rows(test, "0.111\n");
    test.format = "json";
    (void)snprintf(input, sizeof input, "{\"e\":\"0,%s\"}\n", digits);
    expect_rows(test, "0.111\n");
}

static void test_a_quote_that_stays_open(void **state)
{
    (void)state;
    struct format_case test = {.format = "csv",
                               .schema = "a INT, b INT, _corrupt_record STRING",
                               .options = {"multiLine", "true"},
                               .input = "2,\"open\nmore\n"};
    expect_rows(test, "2|NULL|2,\"open\nmore\n");
    test.input = "2,\"open\nmore";
    expect_rows(test, "2|NULL|2,\"open\nmore\n");
    test.input = "2,\"open\nmore\n\n";
    expect_rows(test, "2|NULL|2,\"open\nmore\n\n");
    test.input = "2,\"open\r\nmore\r\n";
    expect_rows(test, "2|NULL|2,\"open\r\nmore\n");
}

static void test_stray_quotes(void **state)
{
    (void)state;
    struct format_case test = {.format = "csv",
                               .schema = "a STRING, b STRING",
                               .options = {"unescapedQuoteHandling", "STOP_AT_CLOSING_QUOTE"},
                               .input = "\"a\"b\",c\n"};
    expect_rows(test, "a\"b|c\n");
    test.options[1] = "BACK_TO_DELIMITER";
    expect_rows(test, "ab|c\n");
    test.options[1] = "SKIP_VALUE";
    expect_rows(test, "NULL|c\n");
    test.options[1] = "RAISE_ERROR";
    expect_failure(test, STATUS_FAILED_READ_FILE__NO_HINT, STATUS_MALFORMED_CSV_RECORD);
    test.options[1] = "NO_SUCH";
    expect_failure(test, STATUS_INVALID_OPTION_VALUE, OK);
}

static void test_separators(void **state)
{
    (void)state;
    struct format_case test = {.format = "csv",
                               .schema = "a STRING, b STRING",
                               .options = {"sep", "||"},
                               .input = "x|y||z\n\"x||y\"||\n"};
    expect_rows(test, "x|y|z\nx||y|NULL\n");
    test.options[1] = "\\v";
    expect_failure(test, STATUS_INVALID_DELIMITER_VALUE__UNSUPPORTED_SPECIAL_CHARACTER, OK);
    test.options[1] = "\\";
    expect_failure(test, STATUS_INVALID_DELIMITER_VALUE__SINGLE_BACKSLASH, OK);
    test.options[1] = "12345678901234567";
    expect_failure(test, STATUS_INVALID_DELIMITER_VALUE__DELIMITER_LONGER_THAN_EXPECTED, OK);
    test.options[1] = "";
    expect_failure(test, STATUS_FAILED_READ_FILE__NO_HINT,
                   STATUS_INVALID_DELIMITER_VALUE__EMPTY_STRING);
    test.options[0] = "quote";
    test.options[1] = "\"\"";
    expect_failure(test, STATUS_OPTION_VALUE_EXCEEDS_ONE_CHARACTER, OK);
    test.options[0] = "lineSep";
    test.options[1] = "###";
    expect_failure(test, STATUS_INVALID_LINE_SEPARATOR__TOO_LONG, OK);
}

static void test_blanks_and_nulls(void **state)
{
    (void)state;
    expect_rows((struct format_case){.format = "csv",
                                     .schema = "a STRING, b STRING",
                                     .options = {"ignoreLeadingWhiteSpace", "true",
                                                 "ignoreTrailingWhiteSpace", "true", "nullValue",
                                                 "NA", "emptyValue", "E"},
                                     .input = " x , NA \n\" x \",\"\"\n   \n , y\n"},
                "x|NULL\n x |E\nNULL|y\n");
}

static void test_headers(void **state)
{
    (void)state;
    struct format_case test = {
        .format = "csv",
        .schema = "id INT, v STRING",
        .options = {"header", "true", "enforceSchema", "false", "comment", "#"},
        .input = "\xEF\xBB\xBF# c\n\nid,V\n1,x\n#2,y\n3,z\n"};
    expect_rows((struct format_case){.format = "csv",
                                     .schema = "id INT, v STRING",
                                     .options = {"header", "true", "comment", "#"},
                                     .input = "# c\n\nq,r\n1,x\n#2,y\n3,z\n"},
                "1|x\n3|z\n");
    test.input = "# c\nid,V\n1,x\n";
    expect_rows(test, "1|x\n");
    test.input = "v,id\n1,x\n";
    expect_failure(test, STATUS_FAILED_READ_FILE__NO_HINT, OK);
    expect_reason(test, "column 1 of the header is 'v', and in the schema it is 'id'");
    test.input = "id\n1\n";
    expect_reason(test, "column 2 of the header is 'nothing', and in the schema it is 'v'");
    test.input = "id,v,w\n1,x,2\n";
    expect_reason(test, "the header names 3 columns, and the schema has 2");
}

/* Read by their places, as in Spark, which warns: how many files there were. */
static void test_headers_in_another_order(void **state)
{
    (void)state;
    static const uint32_t second[] = {1};
    static const struct {
        const char *input, *rows;
        bool pruned, differs;
    } cases[] = {
        {"id,V\n1,x\n", "1|x\n", false, false},    {"v,id\n1,x\n", "1|x\n", false, true},
        {"id,v,w\n1,x,2\n", "1|x\n", false, true}, {"id\n1\n", "1|NULL\n", false, true},
        {"other,v\n1,x\n", "x\n", true, false},    {"id,other\n1,x\n", "x\n", true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct format_notes notes = {.source = "s"};
        struct buffer out = {0};
        struct error err = ERROR_INIT;
        struct format_case test = {.format = "csv",
                                   .schema = "id INT, v STRING",
                                   .options = {"header", "true"},
                                   .input = cases[i].input,
                                   .columns = cases[i].pruned ? second : NULL,
                                   .column_count = cases[i].pruned ? 1 : 0,
                                   .notes = &notes};
        assert_int_equal(format_case_read(&test, &out, &err), OK);
        assert_string_equal(buffer_text(&out), cases[i].rows);
        assert_int_equal(notes.other_headers, cases[i].differs);
        buffer_fini(&out);
    }
}

static void test_broken_records(void **state)
{
    (void)state;
    struct format_case test = {.format = "csv",
                               .schema = "a INT, b STRING, _corrupt_record STRING",
                               .input = "x,y\n1\n2,y,z\n3,w\n"};
    expect_rows(test, "NULL|y|x,y\n1|NULL|1\n2|y|2,y,z\n3|w|NULL\n");
    test.options[0] = "mode";
    test.options[1] = "DROPMALFORMED";
    expect_rows(test, "3|w|NULL\n");
    test.options[1] = "FAILFAST";
    expect_failure(test, STATUS_FAILED_READ_FILE__NO_HINT,
                   STATUS_MALFORMED_RECORD_IN_PARSING__WITHOUT_SUGGESTION);
    static const uint32_t columns[] = {1};
    expect_rows((struct format_case){.format = "csv",
                                     .schema = "a INT, b STRING",
                                     .columns = columns,
                                     .column_count = 1,
                                     .input = "x,y\n1\n2,y,z\n"},
                "y\nNULL\ny\n");
}

static void test_several_lines(void **state)
{
    (void)state;
    struct format_case test = {.format = "csv",
                               .schema = "a INT, b STRING, _corrupt_record STRING",
                               .options = {"multiLine", "true"},
                               .input = "1,\"a\r\nb\"\r\n\r\n2,c\r\nx,\"p\r\nq\"\r\n"};
    expect_rows(test, "1|a\nb|NULL\n2|c|NULL\nNULL|p\nq|x,\"p\r\nq\"\n");
    struct buffer input = {0};
    struct buffer rows = {0};
    for (int i = 0; i < 6000; i++) {
        buffer_printf(&input, "%d,\"%d\n\\\"%d\"\n", i, i, i);
        buffer_printf(&rows, "%d|%d\n\"%d|NULL\n", i, i, i);
    }
    test.input = buffer_text(&input);
    struct buffer out = {0};
    struct error err = ERROR_INIT;
    assert_int_equal(format_case_read(&test, &out, &err), OK);
    assert_string_equal(buffer_text(&out), buffer_text(&rows));
    buffer_fini(&out);
    buffer_fini(&input);
    buffer_fini(&rows);
}

static void test_limits(void **state)
{
    (void)state;
    struct format_case test = {.format = "csv",
                               .schema = "a STRING, b STRING",
                               .options = {"maxColumns", "2"},
                               .input = "x,y,z\n"};
    expect_failure(test, STATUS_FAILED_READ_FILE__NO_HINT, STATUS_MALFORMED_CSV_RECORD);
    test.options[0] = "maxCharsPerColumn";
    test.options[1] = "3";
    test.input = "abc,\xC3\xA9\xC3\xA9\xC3\xA9\n\"a\\\"c\",x\n";
    expect_rows(test, "abc|\xC3\xA9\xC3\xA9\xC3\xA9\na\"c|x\n");
    test.input = "abcd,x\n";
    expect_failure(test, STATUS_FAILED_READ_FILE__NO_HINT, STATUS_MALFORMED_CSV_RECORD);
    /* What lies behind the limit is passed over, not counted again with every character. */
    size_t size = (size_t)8 << 20;
    char *text = malloc(size + 3);
    assert_non_null(text);
    memset(text, 'z', size);
    memcpy(text + size, ",x", 3);
    test.input = text;
    expect_failure(test, STATUS_FAILED_READ_FILE__NO_HINT, STATUS_MALFORMED_CSV_RECORD);
    free(text);
    test.schema = "a ARRAY<INT>";
    expect_failure(test, STATUS_UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE, OK);
}

static void test_charsets(void **state)
{
    (void)state;
    expect_rows((struct format_case){.format = "csv",
                                     .schema = "a STRING, b STRING",
                                     .options = {"encoding", "UTF-16", "multiLine", "true"},
                                     .input = "\xFF\xFE\xE9\0,\0x\0\n\0y\0,\0z\0\n\0",
                                     .input_size = 18},
                "\xC3\xA9|x\ny|z\n");
    expect_rows((struct format_case){.format = "csv",
                                     .schema = "a STRING, b STRING",
                                     .input = "\xE9,\xFC\n"},
                "\xEF\xBF\xBD|\xEF\xBF\xBD\n");
    expect_rows((struct format_case){.format = "csv",
                                     .schema = "a STRING, b STRING",
                                     .options = {"charset", "ISO-8859-1"},
                                     .input = "\xE9,\xFC\n"},
                "\xC3\xA9|\xC3\xBC\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_of_every_kind),
        cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_decimals_of_a_language),
        cmocka_unit_test(test_numbers_of_any_length),
        cmocka_unit_test(test_a_quote_that_stays_open),
        cmocka_unit_test(test_stray_quotes),
        cmocka_unit_test(test_separators),
        cmocka_unit_test(test_blanks_and_nulls),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_headers_in_another_order),
        cmocka_unit_test(test_broken_records),
        cmocka_unit_test(test_several_lines),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_charsets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
