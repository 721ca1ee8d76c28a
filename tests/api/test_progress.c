/*
 * What the progress documents say of the operators with state.
 */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#define GROUPS "100000"

static json_int_t number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static json_t *progress_of(const char *query)
{
    char path[128];
    (void)snprintf(path, sizeof path, "/v1/queries/%s/progress?last=100", query);
    return get(&server, path, 200);
}

/* The times that one operator has taken in a batch. */
static json_int_t times_of(const json_t *entry)
{
    return number(entry, "allUpdatesTimeMs") + number(entry, "allRemovalsTimeMs") +
           number(entry, "commitTimeMs");
}

/* Waits for a batch in which the first operator has removed so many entries. */
static json_t *await_removal(const char *query, json_int_t rows)
{
    for (;;) {
        json_t *progress = progress_of(query), *each;
        size_t i;
        json_array_foreach(json_object_get(progress, "progress"), i, each)
        {
            const json_t *entry = json_array_get(json_object_get(each, "stateOperators"), 0);
            if (entry != NULL && number(entry, "numRowsRemoved") >= rows) {
                json_incref(each);
                json_decref(progress);
                return each;
            }
        }
        json_decref(progress);
    }
}

/* On one thread what operators do one after another is a part of the batch. */
static void operators_have_times_of_their_own(void **state)
{
    (void)state;
    char body[1024];
    (void)snprintf(
        body, sizeof body,
        "{\"name\":\"chain\",\"sources\":{\"c\":{\"format\":\"rate-micro-batch\",\"options\":{"
        "\"rowsPerBatch\":\"" GROUPS "\",\"advanceMillisPerBatch\":\"60000\"},"
        "\"watermark\":{\"column\":\"timestamp\",\"delay\":\"0 seconds\"}}},"
        "\"sql\":\"SELECT window(w, '10 minutes') AS ten, count(*) AS n FROM (SELECT "
        "window(timestamp, '1 minute') AS w, value, count(*) AS n FROM c GROUP BY "
        "window(timestamp, '1 minute'), value) GROUP BY window(w, '10 minutes')\","
        "\"outputMode\":\"append\",\"sink\":{\"format\":\"noop\"},"
        "\"conf\":{\"parallelism\":\"1\",\"partitions\":\"2\"}}");
    json_decref(post(&server, "/v1/queries", body, 201));
    json_t *document = await_removal("chain", 1);
    const json_t *entries = json_object_get(document, "stateOperators");
    assert_int_equal(json_array_size(entries), 2);
    json_decref(document);
    json_t *progress = progress_of("chain"), *each;
    json_int_t removals = 0, updates = 0;
    size_t i;
    json_array_foreach(json_object_get(progress, "progress"), i, each)
    {
        const json_t *own = json_object_get(each, "stateOperators");
        json_int_t took = times_of(json_array_get(own, 0)) + times_of(json_array_get(own, 1));
        assert_true(took <= number(json_object_get(each, "durationMs"), "triggerExecution"));
        /* the inner one: it has 100,000 groups, and lets them all go */
        updates += number(json_array_get(own, 1), "allUpdatesTimeMs");
        removals += number(json_array_get(own, 1), "allRemovalsTimeMs");
    }
    assert_true(updates > 0);
    assert_true(removals > 0);
    json_decref(progress);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_have_times_of_their_own),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
