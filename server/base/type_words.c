#include "base/type_words.h"

#include "base/options.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name, *meant;
} others[] = {
    {"TEXT", "STRING"},
    {"CLOB", "STRING"},
    {"NVARCHAR", "STRING"},
    {"VARCHAR2", "STRING"},
    {"NCHAR", "STRING"},
    {"UTF8", "STRING"},
    {"STR", "STRING"},
    {"UUID", "STRING"},
    {"ENUM", "STRING"},
    {"DATETIME", "TIMESTAMP"},
    {"TIMESTAMPTZ", "TIMESTAMP"},
    {"INSTANT", "TIMESTAMP"},
    {"DATETIME2", "TIMESTAMP"},
    {"BOOL", "BOOLEAN"},
    {"BIT", "BOOLEAN"},
    {"BYTES", "BINARY"},
    {"BLOB", "BINARY"},
    {"VARBINARY", "BINARY"},
    {"BYTEA", "BINARY"},
    {"INT2", "SMALLINT"},
    {"INT16", "SMALLINT"},
    {"INT4", "INT"},
    {"INT32", "INT"},
    {"MEDIUMINT", "INT"},
    {"UINT16", "INT"},
    {"INT8", "BIGINT"},
    {"INT64", "BIGINT"},
    {"LONGINT", "BIGINT"},
    {"BIGINTEGER", "BIGINT"},
    {"UINT", "BIGINT"},
    {"UINT32", "BIGINT"},
    {"UINT64", "DECIMAL(20, 0)"},
    {"SERIAL", "INT"},
    {"BIGSERIAL", "BIGINT"},
    {"FLOAT4", "FLOAT"},
    {"FLOAT32", "FLOAT"},
    {"FLOAT8", "DOUBLE"},
    {"FLOAT64", "DOUBLE"},
    {"NUMBER", "DECIMAL"},
    {"BIGDECIMAL", "DECIMAL"},
    {"MONEY", "DECIMAL(19, 4)"},
    {"JSON", "VARIANT"},
    {"JSONB", "VARIANT"},
    {"NULL", "VOID"},
    {"LIST", "ARRAY"},
    {"ROW", "STRUCT"},
    {"RECORD", "STRUCT"},
    {"OBJECT", "STRUCT"},
};

/* Names that a misspelling may mean; the narrow ones last. */
static const char *const names[] = {
    "STRING", "BIGINT",  "LONG",      "INTEGER",       "DOUBLE",        "DECIMAL", "NUMERIC",
    "BINARY", "BOOLEAN", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "VARIANT", "ARRAY",
    "MAP",    "STRUCT",  "INTERVAL",  "VARCHAR",       "CHARACTER",     "INT",     "SMALLINT",
    "SHORT",  "TINYINT", "BYTE",      "FLOAT",         "REAL",          "DATE",    "TIME",
    "DEC",    "CHAR",    "VOID",
};
#define NAME_COUNT (sizeof names / sizeof names[0])
#define WIDE_COUNT ((size_t)19)

/* One letter more, less or another, or two swapped. */
static bool is_one_off(const char *written, const char *name)
{
    size_t size = strlen(written), length = strlen(name), start = 0, end = 0;
    size_t least = size < length ? size : length;
    while (start < least && toupper((unsigned char)written[start]) == name[start])
        start++;
    while (end < least - start &&
           toupper((unsigned char)written[size - 1 - end]) == name[length - 1 - end])
        end++;
    size_t left = size - start - end, right = length - start - end;
    bool swapped = left == 2 && right == 2 &&
                   toupper((unsigned char)written[start]) == name[start + 1] &&
                   toupper((unsigned char)written[start + 1]) == name[start];
    return swapped || (left <= 1 && right <= 1);
}

const char *type_word_meant(const char *written)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcasecmp(written, others[i].name) == 0)
            return others[i].meant;
    const char *meant = nearest_name(written, names, NAME_COUNT);
    for (size_t i = WIDE_COUNT; meant != NULL && i < NAME_COUNT; i++)
        if (meant == names[i] && !is_one_off(written, meant))
            return nearest_name(written, names, WIDE_COUNT);
    return meant;
}
