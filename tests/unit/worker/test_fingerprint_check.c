/*
 * Fingerprints of older checkpoints lack parts: those are not compared.
 */
#include "worker/fingerprint_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#define TEXT(parts) "{\"sources\":[],\"operators\":[{\"id\":0,\"kind\":\"Aggregate\"," parts "}]}"
#define WINDOWS     "\"keys\":[\"window struct<start:timestamp,end:timestamp>\"]"

static enum status check(const char *was, const char *now, struct error *err)
{
    struct query query = {.arena = arena_new("test", 0)};
    struct physical_plan plan = {.fingerprint_text = now};
    enum status status = fingerprint_check_texts(&query, bytes_of_text(was), &plan, err);
    arena_free(query.arena);
    return status;
}

static void a_part_that_one_of_two_lacks_is_not_compared(void **state)
{
    (void)state;
    static const struct {
        const char *was, *now;
        enum status status;
    } cases[] = {
        /* which time */
        {TEXT(WINDOWS), TEXT(WINDOWS ",\"times\":[\"t timestamp\"],\"timeForms\":[\"1\"]"), OK},
        {TEXT(WINDOWS ",\"times\":[\"t timestamp\"],\"timeForms\":[\"1\"]"), TEXT(WINDOWS), OK},
        {TEXT(WINDOWS ",\"times\":[\"t timestamp\"],\"timeForms\":[\"1\"]"),
         TEXT(WINDOWS ",\"times\":[\"u timestamp\"],\"timeForms\":[\"2\"]"),
         STATUS_CHECKPOINT__QUERY_CHANGED},
        /* computed otherwise below, or called otherwise */
        {TEXT(WINDOWS ",\"times\":[\"t timestamp\"],\"timeForms\":[\"1\"]"),
         TEXT(WINDOWS ",\"times\":[\"t timestamp\"],\"timeForms\":[\"2\"]"), OK},
        {TEXT(WINDOWS ",\"times\":[\"t timestamp\"],\"timeForms\":[\"1\"]"),
         TEXT(WINDOWS ",\"times\":[\"u timestamp\"],\"timeForms\":[\"1\"]"), OK},
        /* how an aggregate goes about it */
        {TEXT("\"state\":[\"first(v) bigint\"]"),
         TEXT("\"state\":[\"first(v) bigint\"],\"details\":[\"IGNORE NULLS\"]"), OK},
        {TEXT("\"state\":[\"first(v) bigint\"],\"details\":[\"RESPECT NULLS\"]"),
         TEXT("\"state\":[\"first(v) bigint\"],\"details\":[\"IGNORE NULLS\"]"),
         STATUS_CHECKPOINT__QUERY_CHANGED},
        /* grouping sets */
        {TEXT("\"keys\":[]"), TEXT("\"keys\":[],\"groupingSets\":[0,1]"), OK},
        {TEXT("\"keys\":[],\"groupingSets\":[0,1]"), TEXT("\"keys\":[],\"groupingSets\":[0]"),
         STATUS_CHECKPOINT__QUERY_CHANGED},
        /* names of one function, as older checkpoints wrote them */
        {TEXT("\"state\":[\"mean(v) double\"]"), TEXT("\"state\":[\"avg(v) double\"]"), OK},
        {TEXT("\"state\":[\"mean(v) double\"]"), TEXT("\"state\":[\"avg(w) double\"]"),
         STATUS_CHECKPOINT__QUERY_CHANGED},
        {TEXT("\"state\":[\"percentile(v, 0.5, 1) double\"]"),
         TEXT("\"state\":[\"median(v) double\"]"), OK},
        {TEXT("\"state\":[\"median((v, w)) double\"]"),
         TEXT("\"state\":[\"percentile((v, w), 0.50, 1) double\"]"), OK},
        {TEXT("\"state\":[\"percentile(v, 0.4, 1) double\"]"),
         TEXT("\"state\":[\"median(v) double\"]"), STATUS_CHECKPOINT__QUERY_CHANGED},
        {TEXT("\"state\":[\"percentile(v, 0.5, n) double\"]"),
         TEXT("\"state\":[\"median(v) double\"]"), STATUS_CHECKPOINT__QUERY_CHANGED},
        {TEXT("\"state\":[\"percentile(v, 0.5, 1) double\"]"),
         TEXT("\"state\":[\"median(w) double\"]"), STATUS_CHECKPOINT__QUERY_CHANGED},
        {TEXT("\"state\":[\"max(v) bigint\"]"), TEXT("\"state\":[\"min(v) bigint\"]"),
         STATUS_CHECKPOINT__QUERY_CHANGED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = ERROR_INIT;
        enum status status = check(cases[i].was, cases[i].now, &err);
        if (status != cases[i].status)
            fail_msg("case %zu: %s %s", i, status_name(status), err.text);
        if (status == STATUS_CHECKPOINT__QUERY_CHANGED) /* and how to go on */
            assert_non_null(strstr(err.text, ". Use the old query, or a new checkpoint"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_that_one_of_two_lacks_is_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
