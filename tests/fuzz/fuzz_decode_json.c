/* Any bytes through the JSON reader. */
#include "fuzz_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct option options[] = {
        {"mode", "DROPMALFORMED"},
        {"multiLine", "true"},
        {"allowComments", "true"},
        {"allowUnquotedFieldNames", "true"},
        {"allowNumericLeadingZeros", "true"},
        {"allowBackslashEscapingAnyCharacter", "true"},
        {"allowUnquotedControlChars", "true"},
        {"encoding", "UTF-8"},
        {"mode", "FAILFAST"},
        {"maxNestingDepth", "4"},
        {"lineSep", ";"},
        {"maxStringLen", "8"},
        {"timestampFormat", "yyyy-MM-dd HH:mm"},
    };
    static const char schema[] =
        "a INT, b STRING, c DOUBLE, d DECIMAL(10,2), e TIMESTAMP, f DATE, g ARRAY<INT>, "
        "h MAP<STRING, STRUCT<x: INT, y: ARRAY<STRING>>>, i STRUCT<x: BOOLEAN, y: STRING>, "
        "j BINARY, k TINYINT, l FLOAT, m TIMESTAMP_NTZ, _corrupt_record STRING";
    return fuzz_format("json", schema, options, sizeof options / sizeof options[0],
                       bytes_of(data, size));
}
