#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    int pipe[2];
    struct clock *clock;
    struct log *log;
    char text[LOG_LINE_MAX * 2];
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_int_equal(pipe(fixture->pipe), 0);
    fixture->clock = clock_manual_new(1714521600123000);
    fixture->log = log_open_fd(fixture->pipe[1], LOG_INFO, fixture->clock);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    log_close(fixture->log);
    clock_manual_free(fixture->clock);
    close(fixture->pipe[0]);
    close(fixture->pipe[1]);
    free(fixture);
    return 0;
}

static const char *read_back(struct fixture *fixture)
{
    ssize_t size = read(fixture->pipe[0], fixture->text, sizeof fixture->text - 1);
    assert_true(size >= 0);
    fixture->text[size] = '\0';
    return fixture->text;
}

static void one_event_is_one_json_line(void **state)
{
    struct fixture *fixture = *state;
    log_set_query(fixture->log, "visits", NULL, "r-1");
    log_set_batch(fixture->log, 7);
    log_event(fixture->log, LOG_DEBUG, "hidden", NULL);
    log_event(fixture->log, LOG_INFO, "batch_committed",
              (struct log_field[]){
                  log_u64("rows", 3),
                  log_text("text", "a\"b\\c\nd"),
                  log_bool("ok", true),
                  log_f64("ratio", 0.5),
                  log_json("more", bytes_of_text("[1]")),
                  log_secret("token", (struct secret){bytes_of_text("hunter2")}),
                  {0},
              });
    assert_string_equal(
        read_back(fixture),
        "{\"ts\":\"2024-05-01T00:00:00.123Z\",\"level\":\"INFO\",\"event\":"
        "\"batch_committed\",\"queryName\":\"visits\",\"runId\":\"r-1\",\"batchId\":7,"
        "\"rows\":3,\"text\":\"a\\\"b\\\\c\\u000ad\",\"ok\":true,\"ratio\":0.5,"
        "\"more\":[1],\"token\":\"***\"}\n");
}

static void a_long_field_is_cut_and_the_line_stays_whole(void **state)
{
    struct fixture *fixture = *state;
    char *long_text = malloc(100001);
    assert_non_null(long_text);
    memset(long_text, '\n', 100000);
    long_text[100000] = '\0';
    log_event(fixture->log, LOG_ERROR, "e",
              (struct log_field[]){
                  log_text("a", long_text), log_text("b", long_text), log_i64("c", -1), {0}});
    free(long_text);
    const char *text = read_back(fixture);
    size_t size = strlen(text);
    assert_true(size <= LOG_LINE_MAX);
    assert_string_equal(text + size - 3, "\"}\n");
    assert_ptr_equal(strchr(text, '\n'), text + size - 1);
}

static void an_error_names_its_condition(void **state)
{
    struct fixture *fixture = *state;
    struct error err = ERROR_INIT;
    (void)error_raise(&err, STATUS_DISK_FULL, "path", "/x", NULL);
    log_error_event(fixture->log, LOG_ERROR, "query_failed", &err, NULL);
    assert_non_null(
        strstr(read_back(fixture), "\"condition\":\"DISK_FULL\",\"sqlState\":\"53100\""));
    log_event(NULL, LOG_ERROR, "nowhere", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_event_is_one_json_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_long_field_is_cut_and_the_line_stays_whole, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_error_names_its_condition, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("base/log", tests, NULL, NULL);
}
