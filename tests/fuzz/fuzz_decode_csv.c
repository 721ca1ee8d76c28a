/* Any bytes through the CSV reader. */
#include "fuzz_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct option options[] = {
        {"mode", "DROPMALFORMED"},
        {"multiLine", "true"},
        {"header", "true"},
        {"escape", "\""},
        {"sep", "||"},
        {"ignoreLeadingWhiteSpace", "true"},
        {"ignoreTrailingWhiteSpace", "true"},
        {"comment", "#"},
        {"unescapedQuoteHandling", "STOP_AT_CLOSING_QUOTE"},
        {"unescapedQuoteHandling", "BACK_TO_DELIMITER"},
        {"unescapedQuoteHandling", "SKIP_VALUE"},
        {"unescapedQuoteHandling", "RAISE_ERROR"},
        {"maxCharsPerColumn", "8"},
        {"lineSep", "\n"},
        {"nullValue", "NA"},
        {"maxColumns", "6"},
    };
    static const char schema[] = "a INT, b STRING, c DOUBLE, d DECIMAL(10,2), e TIMESTAMP, "
                                 "_corrupt_record STRING";
    return fuzz_format("csv", schema, options, sizeof options / sizeof options[0],
                       bytes_of(data, size));
}
