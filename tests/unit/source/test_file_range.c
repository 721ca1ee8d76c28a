#include "source/file_range.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void files_are_read_back(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct arena *arena = arena_new("request", 0);
    struct buffer out = {0};
    struct range_file first = {.path = "/in/a b%\n", .size_bytes = 5, .mtime_us = -7};
    struct range_file second = {.path = "/elsewhere/c", .mtime_us = 9, .inode = 77};
    struct seen_mark mark = {.generation = 3, .log_bytes = 32, .crc = 0xabc};
    struct seen_mark read = {0};
    file_range_begin(&out, "/in", &mark);
    file_range_add_batch(&out, 3);
    file_range_add_file(&out, "/in", &first);
    file_range_add_batch(&out, 4);
    file_range_add_file(&out, "/in", &second);
    assert_string_equal(
        buffer_text(&out),
        "files 2 /in\nseen 3 32 00000abc\nbatch 3\n5 -7 a b%25%0A\nbatch 4\n0 9@77 /elsewhere/c\n");
    assert_int_equal(file_range_batch_bytes(3), strlen("batch 3\n"));
    assert_int_equal(file_range_batch_bytes(1234567), strlen("batch 1234567\n"));
    assert_int_equal(file_range_file_bytes("/in", &first), strlen("5 -7 a b%25%0A\n"));
    assert_int_equal(file_range_file_bytes("/in", &second), strlen("0 9@77 /elsewhere/c\n"));
    assert_true(file_range_mark(buffer_bytes(&out), &read));
    assert_true(read.generation == 3 && read.log_bytes == 32 && read.crc == 0xabc);
    assert_false(file_range_mark(bytes_of_text("files 1 /in\nbatch 3\n"), &read));
    assert_false(file_range_mark(bytes_of_text("{}"), &read));
    const char *dir = NULL;
    struct range_file *files = NULL;
    size_t count = 0;
    assert_int_equal(file_range_parse(arena, buffer_bytes(&out), &dir, &files, &count, &err), OK);
    assert_string_equal(dir, "/in");
    assert_int_equal(count, 2);
    assert_string_equal(files[0].path, first.path);
    assert_int_equal(files[0].mtime_us, -7);
    assert_int_equal(files[0].log_offset, 3);
    assert_string_equal(files[1].path, second.path);
    assert_int_equal(files[1].log_offset, 4);
    assert_true(files[0].inode == 0 && files[1].inode == 77);
    struct bytes before = bytes_of_text("files 1 /in\nbatch 4\n0 9 7@7 c\n");
    assert_int_equal(file_range_parse(arena, before, &dir, &files, &count, &err), OK);
    assert_string_equal(files[0].path, "/in/7@7 c");
    static const char *const bad[] = {"files 3 /in\n",
                                      "files 1 /in\nseen 1 2\n",
                                      "files 1 /in\nseen 1 2 3x\n",
                                      "files 1 /in\n5 5 a\n",
                                      "files 1 /in\nbatch 1\nx 5 a\n",
                                      "files 1 /in\nbatch 1\n5 5 \n",
                                      "files 2 /in\nbatch 1\n5 5@ a\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(file_range_parse(arena, bytes_of_text(bad[i]), &dir, &files, &count, &err),
                         STATUS_CHECKPOINT__INCONSISTENT);
    buffer_fini(&out);
    arena_free(arena);
}

static void a_planned_file_is_known_again(void **state)
{
    (void)state;
    static const struct {
        struct vfs_stat found;
        enum range_difference known;   /* the plan says which inode */
        enum range_difference unknown; /* the plan of an earlier version does not */
    } cases[] = {
        {{VFS_FILE, 10, 5, 7}, RANGE_SAME, RANGE_SAME},
        {{VFS_FILE, 10, 5, 8}, RANGE_SAME, RANGE_SAME},
        {{VFS_FILE, 9, 5, 7}, RANGE_CUT, RANGE_CUT},
        {{VFS_FILE, 9, 6, 8}, RANGE_CUT, RANGE_CUT},
        {{VFS_FILE, 11, 6, 7}, RANGE_GROWN, RANGE_GROWN},
        {{VFS_FILE, 11, 6, 8}, RANGE_REPLACED, RANGE_GROWN},
        {{VFS_FILE, 11, 5, 8}, RANGE_REPLACED, RANGE_GROWN},
        {{VFS_FILE, 10, 6, 8}, RANGE_REPLACED, RANGE_SAME},
        {{VFS_FILE, 10, 6, 7}, RANGE_REWRITTEN, RANGE_SAME},
    };
    struct range_line planned = {.size_bytes = 10, .mtime_us = 5};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        planned.inode = 7;
        assert_int_equal(file_range_differs(&planned, &cases[i].found), cases[i].known);
        planned.inode = 0;
        assert_int_equal(file_range_differs(&planned, &cases[i].found), cases[i].unknown);
    }
}

static void offsets_are_read_back(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct buffer out = {0};
    int64_t offset = 0;
    file_offset_print(&out, 12);
    assert_string_equal(buffer_text(&out), "{\"logOffset\":12}");
    assert_int_equal(file_offset_parse(buffer_bytes(&out), &offset, &err), OK);
    assert_int_equal(offset, 12);
    assert_int_equal(file_offset_parse(bytes_of_text("7"), &offset, &err), OK);
    assert_int_equal(offset, 7);
    assert_int_equal(file_offset_parse(bytes_of_text(""), &offset, &err), OK);
    assert_int_equal(offset, -1);
    assert_int_equal(file_offset_parse(bytes_of_text("{\"x\":1}"), &offset, &err),
                     STATUS_CHECKPOINT__INCONSISTENT);
    buffer_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_back),
        cmocka_unit_test(a_planned_file_is_known_again),
        cmocka_unit_test(offsets_are_read_back),
    };
    return cmocka_run_group_tests_name("source/file_range", tests, NULL, NULL);
}
