#include "source/file_listing.h"

#include "base/vfs_mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct vfs *vfs;

static int set_up(void **state)
{
    (void)state;
    vfs = vfs_mem_new(NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    vfs_mem_free(vfs);
    return 0;
}

static void put(const char *path, int64_t mtime_us)
{
    vfs_mem_write(vfs, path, bytes_of_text("x"), mtime_us);
}

/* The paths a listing finds, one after another, or the condition it fails with. */
static void assert_lists(const struct listing_config *base, const char *pattern, const char *want)
{
    struct error err = ERROR_INIT;
    struct listing_config config = *base;
    struct listing listing;
    struct buffer text = {0};
    config.vfs = vfs;
    config.patterns = &pattern;
    config.pattern_count = 1;
    listing_init(&listing);
    enum status status = listing_run(&config, &listing, &err);
    if (status != OK)
        buffer_add_text(&text, status_name(status));
    for (size_t i = 0; status == OK && i < listing.count; i++)
        buffer_printf(&text, "%s%s", i > 0 ? " " : "", listing.files[i].path);
    assert_string_equal(buffer_text(&text), want);
    buffer_fini(&text);
    listing_fini(&listing);
}

static void hidden_names_and_plain_subdirectories_are_left_out(void **state)
{
    (void)state;
    static const char *const paths[] = {"/in/a",           "/in/_b",    "/in/.c",   "/in/_d/e",
                                        "/in/f._COPYING_", "/in/g.tmp", "/in/_k=v", "/in/sub/h"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        put(paths[i], (int64_t)i);
    assert_lists(&(struct listing_config){0}, "/in", "/in/a /in/g.tmp /in/_k=v");
    assert_lists(&(struct listing_config){.recursive = true}, "/in",
                 "/in/a /in/g.tmp /in/_k=v /in/sub/h");
    assert_lists(&(struct listing_config){.latest_first = true}, "/in", "/in/_k=v /in/g.tmp /in/a");
    assert_lists(&(struct listing_config){.name_glob = "*.tmp"}, "/in", "/in/g.tmp");
    assert_lists(&(struct listing_config){.keep_max = 1}, "/in", "/in/a");
    assert_lists(&(struct listing_config){.keep_max = 1, .oldest_us = 3}, "/in", "/in/g.tmp");
    assert_lists(&(struct listing_config){0}, "/none", "");
    assert_lists(&(struct listing_config){0}, "/in/a", "/in/a");
}

static void patterns_match_directories_and_files(void **state)
{
    (void)state;
    put("/in/2024/a", 1);
    put("/in/2025/b", 2);
    put("/in/other/c", 3);
    assert_lists(&(struct listing_config){0}, "/in/20*", "/in/2024/a /in/2025/b");
    assert_lists(&(struct listing_config){0}, "/in/*/[bc]", "/in/2025/b /in/other/c");
    assert_lists(&(struct listing_config){0}, "/in/20*/a/x", "");
    assert_lists(&(struct listing_config){0}, "/none/*", "");
}

/* What Spark 4.3 lists: '*' matches hidden directories, but no hidden file is read. */
static void a_pattern_finds_no_hidden_files(void **state)
{
    (void)state;
    static const char *const paths[] = {
        "/in/a.json",    "/in/.b.json",  "/in/_c.json",   "/in/_k=v.json", "/in/.d/x.json",
        "/in/_e/x.json", "/in/f/x.json", "/in/f/.y.json", "/in/f/_z.json", "/in/g._COPYING_"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        put(paths[i], (int64_t)i);
    const struct listing_config plain = {0};
    assert_lists(&plain, "/in/*.json", "/in/a.json /in/_k=v.json");
    assert_lists(&(struct listing_config){.name_glob = "[._]*"}, "/in/*", "/in/_k=v.json");
    assert_lists(&plain, "/in/*/*.json", "/in/.d/x.json /in/_e/x.json /in/f/x.json");
    assert_lists(&plain, "/in/.[a-z]*", "/in/.d/x.json");
    assert_lists(&plain, "/in/.b.json", "");
    assert_lists(&plain, "/in/g._COPYING_", "");
    assert_lists(&plain, "/in/.d", "/in/.d/x.json");
    assert_lists(&plain, "/in/f", "/in/f/x.json");
}

static void a_path_is_below_a_pattern_if_it_would_be_listed(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        const char *path;
        const char *want;
    } cases[] = {
        {"/in/*.json", "/in/a.json", "/in/a.json"},
        {"/in/*.json", "/in/.b.json", ""},
        {"/in/*.json", "/in/_c.json", ""},
        {"/in/*.json", "/in/_k=v.json", "/in/_k=v.json"},
        {"/in/*", "/in/.d/x.json", "/in/.d"},
        {"/in/*", "/in/f/.y.json", ""},
        {"/in/*/*.json", "/in/f/.y.json", ""},
        {"/in", "/in/.b.json", ""},
    };
    struct arena *arena = arena_new("test", 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct listing_config config = {.patterns = &cases[i].pattern, .pattern_count = 1};
        const char *root = listing_root_of(&config, arena, cases[i].path);
        assert_string_equal(root == NULL ? "" : root, cases[i].want);
    }
    arena_free(arena);
}

static void partition_directories_have_to_agree(void **state)
{
    (void)state;
    put("/in/p=1/a", 1);
    put("/in/beside", 2);
    assert_lists(&(struct listing_config){0}, "/in", "/in/p=1/a");
    assert_lists(&(struct listing_config){.recursive = true}, "/in", "/in/p=1/a /in/beside");
    put("/in/q=1/b", 3);
    assert_lists(&(struct listing_config){0}, "/in", "CONFLICTING_PARTITION_COLUMN_NAMES");
    vfs_mem_delete(vfs, "/in/q=1/b");
    put("/in/plain/b", 3);
    assert_lists(&(struct listing_config){0}, "/in", "CONFLICTING_DIRECTORY_STRUCTURES");
}

static void a_path_knows_its_root(void **state)
{
    (void)state;
    struct arena *arena = arena_new("request", 0);
    const char *pattern = "/in/20*";
    struct listing_config config = {.patterns = &pattern, .pattern_count = 1};
    assert_string_equal(listing_root_of(&config, arena, "/in/2024/a"), "/in/2024");
    assert_string_equal(listing_root_of(&config, arena, "/in/2024/p=1/a"), "/in/2024");
    assert_null(listing_root_of(&config, arena, "/in/other/a"));
    assert_null(listing_root_of(&config, arena, "/in/2024/.hidden"));
    assert_string_equal(listing_prefix(arena, "/in/20*/x"), "/in");
    assert_string_equal(listing_prefix(arena, "/in/a"), "/in/a");
    assert_string_equal(listing_prefix(arena, "/*"), "/");
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(hidden_names_and_plain_subdirectories_are_left_out, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(patterns_match_directories_and_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_pattern_finds_no_hidden_files, set_up, tear_down),
        cmocka_unit_test(a_path_is_below_a_pattern_if_it_would_be_listed),
        cmocka_unit_test_setup_teardown(partition_directories_have_to_agree, set_up, tear_down),
        cmocka_unit_test(a_path_knows_its_root),
    };
    return cmocka_run_group_tests_name("source/file_listing", tests, NULL, NULL);
}
