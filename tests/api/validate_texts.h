/*
 * Texts of specs for the tests of validation, and the diagnostics that it answers with.
 * Include it behind cmocka.h.
 */
#ifndef TESTS_API_VALIDATE_TEXTS_H
#define TESTS_API_VALIDATE_TEXTS_H

#include "fixture.h"

#include <stdio.h>
#include <string.h>

/* `spec` with $ standing for the test's directory. */
static inline const char *at_home(const char *spec)
{
    static char text[4096];
    size_t used = 0;
    for (; *spec != '\0'; spec++) {
        if (*spec == '$')
            used += (size_t)snprintf(text + used, sizeof text - used, "%s", server.dir);
        else
            text[used++] = *spec;
        assert_true(used + 100 < sizeof text);
    }
    text[used] = '\0';
    return text;
}

#define SOURCE(options)                                                                            \
    "\"sources\":{\"s\":{\"format\":\"json\",\"schema\":\"a INT, b STRING, at TIMESTAMP\","        \
    "\"options\":{" options "}}}"
#define IN          SOURCE("\"path\":\"$/in\"")
#define SQL(text)   "\"sql\":\"" text "\""
#define OUT(format) "\"sink\":{\"format\":\"" format "\",\"options\":{\"path\":\"$/out\"}}"
#define GOOD_SQL    SQL("SELECT a, b FROM s")

struct expected {
    const char *spec;
    const char *pointer, *condition; /* of one diagnostic; NULL: the spec is valid */
};

static inline const json_t *find(const json_t *answer, const struct expected *expected)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(answer, "diagnostics"), i, item)
    {
        if (strcmp(text_of(item, "pointer"), expected->pointer) == 0 &&
            strcmp(text_of(item, "condition"), expected->condition) == 0)
            return item;
    }
    return NULL;
}

#define MARKED_SOURCE                                                                              \
    "\"sources\":{\"s\":{\"format\":\"json\",\"schema\":\"id INT, ts TIMESTAMP, cust STRING\","    \
    "\"options\":{\"path\":\"$/in\"},\"watermark\":{\"column\":\"ts\",\"delay\":\"1 minute\"}}}"

#endif
