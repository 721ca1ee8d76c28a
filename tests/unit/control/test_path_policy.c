#include "control/path_policy.h"

#include "control/query_validate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64], link_path[96], inside[96];

static int setup(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/paths-XXXXXX");
    if (mkdtemp(dir) == NULL)
        return -1;
    (void)snprintf(link_path, sizeof link_path, "%s/out", dir);
    (void)snprintf(inside, sizeof inside, "%s/data", dir);
    return mkdir(inside, 0755) != 0 || symlink("/etc", link_path) != 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(link_path);
    (void)rmdir(inside);
    return rmdir(dir);
}

static struct path_policy *policy_of(const char *listen, const char *allow)
{
    struct error err = ERROR_INIT;
    struct config *config = config_new();
    assert_int_equal(config_set(config, "listen", listen, ORIGIN_FLAG, &err), OK);
    if (allow != NULL)
        assert_int_equal(config_set(config, "allowPath", allow, ORIGIN_FLAG, &err), OK);
    assert_int_equal(config_set(config, "dataDir", inside, ORIGIN_FLAG, &err), OK);
    struct path_policy *policy = path_policy_new(config);
    config_free(config);
    return policy;
}

static enum status check(const struct path_policy *policy, const char *format)
{
    char path[256];
    struct error err = ERROR_INIT;
    if (strncmp(format, "DIR", 3) == 0)
        (void)snprintf(path, sizeof path, "%s%s", dir, format + 3);
    else
        (void)snprintf(path, sizeof path, "%s", format);
    return path_policy_check(policy, path, &err);
}

static void loopback_by_table(void **state)
{
    (void)state;
    static const struct {
        const char *listen;
        bool want;
    } cases[] = {{"127.0.0.1:8088", true}, {"127.1.2.3:0", true},  {"localhost:80", true},
                 {"[::1]:80", true},       {"unix:/s", true},      {"0.0.0.0:80", false},
                 {"[::]:80", false},       {"10.0.0.1:80", false}, {"localhost.evil:80", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(listen_is_loopback(cases[i].listen), cases[i].want);
}

static void everything_is_allowed_on_loopback(void **state)
{
    (void)state;
    struct path_policy *policy = policy_of("127.0.0.1:0", NULL);
    assert_int_equal(check(policy, "/etc/passwd"), OK);
    path_policy_free(policy);
}

static void the_data_directory_is_allowed_elsewhere(void **state)
{
    (void)state;
    struct path_policy *policy = policy_of("0.0.0.0:0", NULL);
    assert_int_equal(check(policy, "DIR/data/in"), OK);
    assert_int_equal(check(policy, "DIR/other"), STATUS_PATH_NOT_ALLOWED);
    path_policy_free(policy);
}

static void roots_by_table(void **state)
{
    (void)state;
    static const struct {
        const char *why, *path;
        bool allowed;
    } cases[] = {
        {"the root", "DIR", true},
        {"below it", "DIR/data/in", true},
        {"below it, not there yet", "DIR/a/b/c", true},
        {"a glob below it", "DIR/data/*/x-[0-9].json", true},
        {"beside it", "DIR-other/in", false},
        {"above it", "/tmp", false},
        {"up again", "DIR/data/../../etc", false},
        {"up after a wildcard", "DIR/*/../../etc", false},
        {"a link that leads out", "DIR/out/passwd", false},
        {"a link that leads out, new file", "DIR/out/new/file", false},
        {"relative", "data/in", false},
        {"elsewhere", "/etc/passwd", false},
    };
    struct path_policy *policy = policy_of("127.0.0.1:0", dir);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].why);
        assert_int_equal(check(policy, cases[i].path),
                         cases[i].allowed ? OK : STATUS_PATH_NOT_ALLOWED);
    }
    path_policy_free(policy);
}

/* How many errors the spec has whose source and sink have these paths. */
static size_t errors_of(const struct path_policy *policy, const char *in, const char *out)
{
    struct arena *arena = arena_new("test", 0);
    const char *json = arena_sprintf(
        arena,
        "{\"name\":\"q\",\"sources\":{\"s\":{\"format\":\"json\",\"schema\":\"a INT\","
        "\"options\":{\"path\":\"%s\"}}},\"sql\":\"SELECT a FROM s\","
        "\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"%s\"}}}",
        in, out);
    size_t count = query_count_problems(arena, policy, bytes_of_text(json)).errors;
    arena_free(arena);
    return count;
}

static void a_server_refuses_relative_paths(void **state)
{
    (void)state;
    char out[128], uri[128];
    (void)snprintf(out, sizeof out, "%s/new", dir);
    (void)snprintf(uri, sizeof uri, "file://%s/new", dir);
    struct path_policy *policy = policy_of("127.0.0.1:0", NULL);
    assert_int_equal(errors_of(policy, inside, out), 0);
    assert_int_equal(errors_of(policy, inside, uri), 0);
    assert_int_equal(errors_of(policy, ".", out), 1);
    assert_int_equal(errors_of(policy, inside, "some/out"), 1);
    assert_int_equal(errors_of(policy, inside, "file:some/out"), 1);
    path_policy_allow_relative(policy);
    assert_int_equal(errors_of(policy, ".", out), 0);
    assert_int_equal(errors_of(policy, inside, "some/out"), 0);
    path_policy_free(policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loopback_by_table),
        cmocka_unit_test(everything_is_allowed_on_loopback),
        cmocka_unit_test(the_data_directory_is_allowed_elsewhere),
        cmocka_unit_test(roots_by_table),
        cmocka_unit_test(a_server_refuses_relative_paths),
    };
    return cmocka_run_group_tests_name("control/path_policy", tests, setup, teardown) != 0;
}
