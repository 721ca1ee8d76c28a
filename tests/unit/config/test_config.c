#include "config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define TEXT(literal) ((char[]){literal})

static void a_stronger_origin_wins(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct config *config = config_new();
    assert_int_equal(config_number(config, SETTING_maxBodyBytes), 4 << 20);
    assert_int_equal(config_origin(config, SETTING_maxBodyBytes), ORIGIN_DEFAULT);

    char path[] = "/tmp/tidemill-config-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_true(dprintf(fd, "# settings\n\n maxBodyBytes = 1m\r\nlogLevel=debug\n"
                            "allowPath = /a:/b\nallowPath = /c\n") > 0);
    close(fd);
    assert_int_equal(config_load_file(config, path, &err), OK);
    unlink(path);
    assert_int_equal(config_number(config, SETTING_maxBodyBytes), 1 << 20);
    assert_int_equal(config_level(config, SETTING_logLevel), LOG_DEBUG);
    assert_string_equal(config_path(config, SETTING_allowPath, 2), "/c");
    assert_null(config_path(config, SETTING_allowPath, 3));

    char *environment[] = {TEXT("HOME=/x"), TEXT("TIDEMILL_MAX_BODY_BYTES=2m"),
                           TEXT("TIDEMILL_SERVER=http://x"), TEXT("TIDEMILL_ALLOW_PATH=/d"), NULL};
    assert_int_equal(config_load_environment(config, environment, &err), OK);
    assert_int_equal(config_number(config, SETTING_maxBodyBytes), 2 << 20);
    assert_string_equal(config_path(config, SETTING_allowPath, 0), "/d");
    assert_null(config_path(config, SETTING_allowPath, 1));

    char *argv[] = {TEXT("tidemill"),
                    TEXT("serve"),
                    TEXT("--max-body-bytes=3m"),
                    TEXT("--shutdown-grace"),
                    TEXT("5 s"),
                    TEXT("--insecure-allow-anonymous"),
                    TEXT("--other"),
                    TEXT("--"),
                    TEXT("--listen"),
                    NULL};
    int argc = 9;
    assert_int_equal(config_load_flags(config, &argc, argv, &err), OK);
    assert_int_equal(argc, 5);
    assert_string_equal(argv[2], "--other");
    assert_string_equal(argv[4], "--listen");
    assert_int_equal(config_number(config, SETTING_maxBodyBytes), 3 << 20);
    assert_int_equal(config_duration_us(config, SETTING_shutdownGrace), 5000000);
    assert_true(config_bool(config, SETTING_insecureAllowAnonymous));

    struct buffer out = {0};
    config_print(config, &out);
    assert_non_null(strstr(buffer_text(&out), "maxBodyBytes = 3m  # flag\n"));
    assert_non_null(strstr(buffer_text(&out), "allowPath = /d  # environment\n"));
    assert_non_null(strstr(buffer_text(&out), "logLevel = debug  # file\n"));
    buffer_fini(&out);
    config_free(config);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *value;
        enum status want;
        const char *text;
    } cases[] = {
        {"maxBodyByte", "1", STATUS_UNKNOWN_SETTING, "maxBodyBytes"},
        {"dataDir", "", STATUS_INVALID_SETTING, "empty"},
        {"maxBodyBytes", "1", STATUS_INVALID_SETTING, "1024 to"},
        {"maxBodyBytes", "1x", STATUS_INVALID_SETTING, "k, m, g"},
        {"maxBodyBytes", "99999999999999999999", STATUS_INVALID_SETTING, "too large"},
        {"maxBodyBytes", "-1", STATUS_INVALID_SETTING, "a number"},
        {"logLevel", "loud", STATUS_INVALID_SETTING, "DEBUG"},
        {"insecureAllowAnonymous", "maybe", STATUS_INVALID_SETTING, "true or false"},
        {"shutdownGrace", "soon", STATUS_INVALID_SETTING, "number"},
        {"restartDelay", "5", STATUS_INVALID_SETTING, "has a unit, as 5 s"},
        {"restartDelay", " 5000 ", STATUS_INVALID_SETTING, "has a unit, as 5 s"},
        {"heartbeatTimeout", "10 ms", STATUS_INVALID_SETTING, "50 ms to 10 m are allowed"},
        {"shutdownGrace", "2 h", STATUS_INVALID_SETTING, "0 s to 1 h are allowed"},
        {"idempotencyKeep", "31 d", STATUS_INVALID_SETTING, "1 s to 30 d are allowed"},
        {"stopTimeout", "0", OK, ""}, /* for ever */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct config *config = config_new();
        struct error err = ERROR_INIT;
        print_message("%s = %s\n", cases[i].name, cases[i].value);
        assert_int_equal(config_set(config, cases[i].name, cases[i].value, ORIGIN_FLAG, &err),
                         cases[i].want);
        assert_non_null(strstr(err.text, cases[i].text));
        config_free(config);
    }
    struct config *config = config_new();
    struct error err = ERROR_INIT;
    char *environment[] = {TEXT("TIDEMILL_LISTEM=x"), NULL};
    assert_int_equal(config_load_environment(config, environment, &err), STATUS_UNKNOWN_SETTING);
    char *argv[] = {TEXT("tidemill"), TEXT("--listen"), NULL};
    int argc = 2;
    assert_int_equal(config_load_flags(config, &argc, argv, &err), STATUS_INVALID_SETTING);
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stronger_origin_wins),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests_name("config/config", tests, NULL, NULL);
}
