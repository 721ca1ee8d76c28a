#include "base/metric.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void prints_what_was_counted(void **state)
{
    (void)state;
    struct metric_labels visits = {{"vis\"its"}};
    struct metric_labels other = {{"other"}};
    metric_add(metric_series(METRIC_query_batches_total, &visits), 2);
    metric_add(metric_series(METRIC_query_batches_total, &visits), 1);
    metric_add(metric_series(METRIC_query_batches_total, &other), 1);
    metric_observe(metric_series(METRIC_query_batch_duration_seconds, &other), 0.003);
    metric_observe(metric_series(METRIC_query_batch_duration_seconds, &other), 100);
    metric_set(metric_series(METRIC_http_connections, NULL), 5);
    struct buffer out = {0};
    metric_write(&out);
    const char *text = buffer_text(&out);
    static const char *const want[] = {
        "# TYPE tidemill_query_batches_total counter\n",
        "tidemill_query_batches_total{query=\"vis\\\"its\"} 3\n",
        "tidemill_query_batches_total{query=\"other\"} 1\n",
        "tidemill_query_batch_duration_seconds_bucket{query=\"other\",le=\"0.0025\"} 0\n",
        "tidemill_query_batch_duration_seconds_bucket{query=\"other\",le=\"0.005\"} 1\n",
        "tidemill_query_batch_duration_seconds_bucket{query=\"other\",le=\"+Inf\"} 2\n",
        "tidemill_query_batch_duration_seconds_sum{query=\"other\"} 100.003\n",
        "tidemill_query_batch_duration_seconds_count{query=\"other\"} 2\n",
        "tidemill_http_connections 5\n",
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        print_message("%s", want[i]);
        assert_non_null(strstr(text, want[i]));
    }
    metric_forget("query", "other");
    buffer_clear(&out);
    metric_write(&out);
    assert_null(strstr(buffer_text(&out), "other"));
    assert_non_null(strstr(buffer_text(&out), "vis\\\"its"));
    metric_forget("query", "vis\"its");
    buffer_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(prints_what_was_counted)};
    return cmocka_run_group_tests_name("base/metric", tests, NULL, NULL);
}
