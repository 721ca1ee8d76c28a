#include "control/history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];

static int setup(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/history-XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    (void)close(fd);
    return unlink(path);
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(path);
    return 0;
}

static void append(struct history *history, int number)
{
    char line[32];
    struct error err = ERROR_INIT;
    (void)snprintf(line, sizeof line, "{\"n\":%d}", number);
    assert_int_equal(history_append(history, bytes_of_text(line), &err), OK);
}

static void expect(size_t count, const char *want)
{
    struct buffer out = {0};
    struct error err = ERROR_INIT;
    assert_int_equal(history_read(path, count, &out, &err), OK);
    assert_string_equal(buffer_text(&out), want);
    buffer_fini(&out);
}

static void a_missing_file_has_no_lines(void **state)
{
    (void)state;
    expect(10, "");
}

static void the_last_lines_are_read_oldest_first(void **state)
{
    (void)state;
    struct history *history = history_new(path, 100);
    for (int i = 0; i < 5; i++)
        append(history, i);
    history_free(history);
    expect(2, "{\"n\":3}\n{\"n\":4}\n");
    expect(5, "{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n");
    expect(SIZE_MAX, "{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n");
    expect(0, "");
}

static void the_file_is_bounded(void **state)
{
    (void)state;
    struct history *history = history_new(path, 3);
    for (int i = 0; i < 1000; i++) {
        append(history, i);
        if (i % 100 == 50)
            history_rest(history);
    }
    history_free(history);
    struct buffer out = {0};
    struct error err = ERROR_INIT;
    assert_int_equal(history_read(path, SIZE_MAX, &out, &err), OK);
    assert_in_range(out.size_bytes, 3 * strlen("{\"n\":999}\n"), 6 * strlen("{\"n\":999}\n"));
    buffer_fini(&out);
    expect(3, "{\"n\":997}\n{\"n\":998}\n{\"n\":999}\n");
}

static void a_torn_line_is_no_line(void **state)
{
    (void)state;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs("{\"n\":1}\n{\"n\":", file);
    (void)fclose(file);
    expect(10, "{\"n\":1}\n");
    struct history *history = history_new(path, 10);
    append(history, 2);
    history_free(history);
    expect(1, "{\"n\":2}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_missing_file_has_no_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(the_last_lines_are_read_oldest_first, setup, teardown),
        cmocka_unit_test_setup_teardown(the_file_is_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(a_torn_line_is_no_line, setup, teardown),
    };
    return cmocka_run_group_tests_name("control/history", tests, NULL, NULL) != 0;
}
