#include "source/dir_watch.h"

#include "base/vfs_posix.h"
#include "source/file_listing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void names_files_that_are_complete(void **state)
{
    (void)state;
    char dir[] = "/tmp/tidemill-watch-XXXXXX";
    char path[128];
    struct error err = ERROR_INIT;
    assert_non_null(mkdtemp(dir));
    struct dir_watch *watch = dir_watch_new();
    assert_non_null(watch);
    assert_false(dir_watch_covers(watch));
    dir_watch_listed(watch);
    dir_watch_add(watch, dir);
    dir_watch_add(watch, dir);
    assert_true(dir_watch_covers(watch));

    (void)snprintf(path, sizeof path, "%s/.tmp", dir);
    assert_int_equal(vfs_put(vfs_posix(), path, bytes_of_text("x"), false, &err), OK);
    dir_watch_drain(watch);
    assert_true(dir_watch_covers(watch));
    assert_true(dir_watch_count(watch) >= 1);
    assert_string_equal(dir_watch_path(watch, dir_watch_count(watch) - 1), path);
    dir_watch_clear(watch);

    /* A new directory: only a listing can tell what is in it. */
    (void)snprintf(path, sizeof path, "%s/sub", dir);
    assert_int_equal(vfs_make_dirs(vfs_posix(), path, &err), OK);
    dir_watch_drain(watch);
    assert_false(dir_watch_covers(watch));
    dir_watch_listed(watch);
    dir_watch_add(watch, dir);
    dir_watch_add(watch, path);
    assert_true(dir_watch_covers(watch));
    dir_watch_add(watch, "/no/such/directory");
    assert_false(dir_watch_covers(watch));
    dir_watch_free(watch);
    assert_int_equal(vfs_remove_tree(vfs_posix(), dir, &err), OK);
}

static void a_missing_directory_is_noticed_when_it_comes(void **state)
{
    (void)state;
    char dir[] = "/tmp/tidemill-watch-XXXXXX";
    char path[128];
    struct error err = ERROR_INIT;
    struct listing listing;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/in", dir);
    const char *pattern = path;
    struct dir_watch *watch = dir_watch_new();
    assert_non_null(watch);
    struct listing_config config = {
        .vfs = vfs_posix(), .patterns = &pattern, .pattern_count = 1, .watch = watch};
    dir_watch_listed(watch);
    listing_init(&listing);
    assert_int_equal(listing_run(&config, &listing, &err), OK);
    assert_false(listing.found_root);
    listing_fini(&listing);
    assert_true(dir_watch_covers(watch));
    assert_int_equal(vfs_make_dirs(vfs_posix(), path, &err), OK);
    dir_watch_drain(watch);
    assert_false(dir_watch_covers(watch));
    dir_watch_free(watch);
    assert_int_equal(vfs_remove_tree(vfs_posix(), dir, &err), OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_files_that_are_complete),
        cmocka_unit_test(a_missing_directory_is_noticed_when_it_comes),
    };
    return cmocka_run_group_tests_name("source/dir_watch", tests, NULL, NULL);
}
