/*
 * The command line against a real server: what it prints, and its exit codes.
 */
#include "cli_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static void client_commands_by_story(void **state)
{
    (void)state;
    char line[256];
    write_spec("cli", "\"sql\":\"SELECT a, b FROM c\"");
    (void)snprintf(line, sizeof line, "submit %s/cli.spec --stopped", server.dir);
    expect(0, line, "cli: STOPPED");
    expect(5, line, "QUERY_ALREADY_EXISTS");
    expect(0, "ready", "ready");
    expect(0, "ls", "cli   STOPPED");
    expect(0, "ls -o json", "\"queries\"");
    expect(0, "get cli", "\"spec\"");
    expect(0, "start cli --wait", "cli: RUNNING");
    expect(0, "status cli --wait RUNNING", "cli: RUNNING");
    json_decref(post(&server, "/v1/queries/cli/processAllAvailable", NULL, 200));
    expect(0, "results cli", "a  b");
    expect(0, "results cli -o json", "{\"a\":1,\"b\":\"x\"}");
    expect(0, "progress cli", "batch 0");
    expect(0, "progress cli -o json -n 1", "\"batchId\"");
    expect(8, "status cli --wait FAILED --timeout 1", "FAILED");
    expect(5, "rm cli", "INVALID_STATE");
    expect(0, "stop cli --wait", "cli: STOPPED");
    expect(0, "restart cli --wait", "cli: RUNNING");
    expect(0, "rm cli --force --purge", "cli: deleted");
    expect(4, "status cli", "QUERY_NOT_FOUND");
}

static void every_command_has_its_help(void **state)
{
    (void)state;
    static const char *const commands[][2] = {
        {"serve", "--config"},
        {"run", "--bounded"},
        {"validate", "--config"},
        {"checkpoint show", "what a start does"},
        {"checkpoint verify", "every record"},
        {"checkpoint state", "--key COLUMN=VALUE"},
        {"checkpoint rewind", "--to-batch N"},
        {"config", "--markdown"},
        {"conf", "--markdown"},
        {"conditions", "--markdown"},
        {"connectors", "--markdown"},
        {"metrics", "--markdown"},
        {"version", "-o, --output FORMAT"},
        {"submit", "--stopped"},
        {"apply", "--if-match"},
        {"ls", "--label"},
        {"get", "--token"},
        {"start", "--dry-run"},
        {"stop", "--immediate"},
        {"restart", "--wait"},
        {"rm", "--purge"},
        {"trigger", "--timeout"},
        {"processAllAvailable", "--timeout"},
        {"awaitTermination", "exit code 9"},
        {"status", "--wait STATE"},
        {"progress", "-f, --follow"},
        {"batches", "--batch N"},
        {"runs", "rewinds"},
        {"plan", "running plan"},
        {"results", "-n, --limit N"},
        {"state", "--operator"},
        {"rewind", "--to-batch"},
        {"ready", "health checks"},
        {"call", "METHOD PATH"},
    };
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char line[64];
        (void)snprintf(line, sizeof line, "%s --help", commands[i][0]);
        expect(0, line, commands[i][1]);
        (void)snprintf(line, sizeof line, "Example: tidemill %s", commands[i][0]);
        char call[64];
        (void)snprintf(call, sizeof call, "help %s", commands[i][0]);
        expect(0, call, line);
        expect(0, call, "9 the query failed");
    }
    expect(0, "checkpoint --help", "checkpoint verify [DIR]");
    expect(0, "help --help", "tidemill help [COMMAND] [SUBCOMMAND]");
    expect(0, "help -h", "Example: tidemill help status");
    expect(0, "--help", "tidemill processAllAvailable QUERY");
    expect(0, "help", "tidemill processAllAvailable QUERY");
}

static void misspelt_names_are_answered_with_the_nearest(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"stop cli --imediate", "Did you mean --immediate?"},
        {"rm cli --purg", "Did you mean --purge?"},
        {"start cli --dryrun", "Did you mean --dry-run?"},
        {"rewind cli --to-bach 3", "Did you mean --to-batch?"},
        {"checkpoint rewind /x --to-bach 3", "Did you mean --to-batch?"},
        {"run --bouded x", "Did you mean --bounded?"},
        {"run --paralelism 3 x", "Did you mean --parallelism?"},
        {"serve --listn 127.0.0.1:0", "Did you mean --listen?"},
        {"validate x --confg y", "Did you mean --config?"},
        {"conditions --markdwn", "Did you mean --markdown?"},
        {"stats cli", "Did you mean status?"},
        {"chekpoint show", "Did you mean checkpoint?"},
        {"checkpoint vrify x", "Did you mean verify?"},
        {"processallavailable q", "Did you mean processAllAvailable?"},
        {"rm cli --xyzzy", "has no option --xyzzy"},
        {"ls --to-batch 3", "has no option --to-batch"}, /* another command has it */
        {"checkpoint", "tidemill checkpoint rewind"},
        {"ls --state RUNING", "Did you mean RUNNING?"},
        {"help stats", "Did you mean status?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect(2, cases[i][0], cases[i][1]);
}

/* What is not there is 4, whoever looks for it. */
static void exit_codes_are_the_same_everywhere(void **state)
{
    (void)state;
    expect(4, "run /nowhere/nope.json", "FILE_NOT_FOUND");
    expect(4, "validate /nowhere/nope.json", "FILE_NOT_FOUND");
    expect(4, "submit /nowhere/nope.json", "FILE_NOT_FOUND");
    expect(4, "checkpoint show /nowhere", "CHECKPOINT_NOT_FOUND");
    expect(4, "start nowhere", "QUERY_NOT_FOUND");
    write_spec("bad", "\"sql\":\"SELECT x FROM c\"");
    char line[256];
    static const char *const commands[] = {"run", "validate", "submit"};
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(line, sizeof line, "%s %s/bad.spec", commands[i], server.dir);
        expect(3, line, "UNRESOLVED_COLUMN");
    }
}

/* ls asks for every page. */
static void all_pages_are_listed(void **state)
{
    (void)state;
    char line[256];
    static const char *const names[] = {"page-a", "page-b", "page-c"};
    for (size_t i = 0; i < 3; i++) {
        write_spec(names[i], "\"sql\":\"SELECT a FROM c\"");
        (void)snprintf(line, sizeof line, "submit %s/%s.spec --stopped", server.dir, names[i]);
        expect(0, line, "STOPPED");
    }
    for (size_t i = 0; i < 3; i++) {
        expect(0, "ls -n 1", names[i]);
        expect(0, "ls -n 2 -o json", names[i]);
    }
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(line, sizeof line, "rm %s", names[i]);
        expect(0, line, "deleted");
    }
}

static void progress_is_followed_to_the_end(void **state)
{
    (void)state;
    char line[256];
    write_spec("once", "\"sql\":\"SELECT a FROM c\",\"trigger\":{\"availableNow\":true}");
    (void)snprintf(line, sizeof line, "submit %s/once.spec", server.dir);
    expect(0, line, "once: ");
    expect(0, "progress once -f", "in 2");
    expect(0, "status once", "FINISHED");
    write_spec("bad", "\"sql\":\"SELECT 1 DIV (a - a) AS z FROM c\"");
    (void)snprintf(line, sizeof line, "submit %s/bad.spec", server.dir);
    expect(0, line, "bad: ");
    expect(9, "status bad --wait FINISHED", "FAILED");
    expect(0, "rm bad", NULL);
    expect(0, "rm once", NULL);
}

static void exit_codes_by_table(void **state)
{
    (void)state;
    static const struct {
        const char *arguments;
        int code;
        const char *text;
    } cases[] = {
        {"version", 0, "tidemill "},
        {"help", 0, "Exit codes"},
        {"config", 0, "listen"},
        {"conf", 0, "spark.sql.ansi.enabled"},
        {"conditions", 0, "PARSE_SYNTAX_ERROR\t42601"},
        {"conditions --markdown", 0, "| PARSE_SYNTAX_ERROR | 42601 |"},
        {"nosuch", 2, "nosuch"},
        {"explain x.json", 2, "Did you mean plan QUERY, or validate SPEC"},
        {"help --markdown", 0,
         "its plan. | `--server URL` asks this server, with the paths that it allows<br>`--token"},
        {"config --listen 8580", 3, "ADDRESS:PORT, as 127.0.0.1:8580"},
        {"ls extra", 2, "extra"},
        {"get", 2, "QUERY"},
        {"ls --nosuch", 2, "--nosuch"},
        {"ls -o xml", 2, NULL},
        {"run", 2, "SPEC"},
        {"run x -o xml", 2, "json or table"},
        {"get q -o", 2, "no value after -o"},
        {"status q --timeout 3x", 2, "--timeout is a number"},
        {"status q --wait RUNING", 2, "a state is"},
        {"stop q --immediate=3", 2, "takes no value"},
        {"rewind q", 2, "--to-batch N"},
        {"checkpoint rewind /nonexistent", 2, "--to-batch N"},
        {"checkpoint show", 2, "--query QUERY"},
        {"checkpoint state /nonexistent --limit 0", 2, "at least 1"},
        {"checkpoint state /nonexistent", 4, "CHECKPOINT_NOT_FOUND"},
        {"call GET v1/version", 2, "begins with /"},
        {"config -o json", 0, "\"origin\": \"default\""},
        {"conf -o json", 0, "\"effect\""},
        {"conditions -o json", 0, "\"PARSE_SYNTAX_ERROR\""},
        {"connectors -o json", 0, "\"role\": \"sink\""},
        {"connectors", 0, "json\tsource\tpath"},
        {"metrics", 0, "tidemill_queries\tgauge\tstate"},
        {"metrics -o json", 0, "\"tidemill_build_info\""},
        {"version -o json", 0, "\"version\""},
        {"checkpoint show /nonexistent", 4, "CHECKPOINT_NOT_FOUND"},
        {"submit /nonexistent", 4, "FILE_NOT_FOUND"},
        {"get nosuch", 4, "QUERY_NOT_FOUND"},
        {"ls --server http://127.0.0.1:1", 7, "UNREACHABLE"},
        {"ready --server http://127.0.0.1:1", 7, "UNREACHABLE"},
        {"serve --listen nowhere", 3, NULL},
        {"serve --data-dir ''", 3, "cannot be empty"},
        {"run ''", 2, "an argument is empty"},
        {"validate ''", 2, "an argument is empty"},
        {"submit ''", 2, "an argument is empty"},
        {"status ''", 2, "an argument is empty"},
        {"call POST /v1/validate ''", 2, "an argument is empty"},
        {"checkpoint state /nonexistent --spec ''", 2, "no value after --spec"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect(cases[i].code, cases[i].arguments, cases[i].text);
}

static void a_second_server_says_what_is_taken(void **state)
{
    (void)state;
    char line[256];
    const char *address = server.url + strlen("http://");
    (void)snprintf(line, sizeof line, "serve --listen %s --data-dir %s/second", address,
                   server.dir);
    expect(1, line, "Address already in use");
    expect(1, line, address);
    (void)snprintf(line, sizeof line, "serve --listen 127.0.0.1:0 --data-dir %s", server.data_dir);
    expect(5, line, "is in use by the server with process id");
}

static void specs_are_validated_and_run_without_a_server(void **state)
{
    (void)state;
    char line[256];
    write_spec("local", "\"sql\":\"SELECT a FROM c WHERE a > 1\"");
    (void)snprintf(line, sizeof line, "validate %s/local.spec", server.dir);
    expect(0, line, "valid");
    assert_null(strstr(output, "state of"));
    write_spec("bounded", "\"sql\":\"SELECT count(*) AS n FROM c\",\"outputMode\":\"complete\"");
    (void)snprintf(line, sizeof line, "validate %s/bounded.spec", server.dir);
    expect(0, line, "state of Aggregate (operator 0): bounded, because there is one group\n");
    write_spec("grows",
               "\"sql\":\"SELECT collect_list(a) AS n FROM c\",\"outputMode\":\"complete\"");
    (void)snprintf(line, sizeof line, "validate %s/grows.spec", server.dir);
    static const char grows[] =
        "state of Aggregate (operator 0): grows without limit, because collect_list keeps each "
        "value\n";
    expect(0, line, grows);
    (void)snprintf(line, sizeof line, "validate %s/grows.spec --server %s", server.dir, server.url);
    expect(0, line, grows);
    (void)snprintf(line, sizeof line, "run --bounded -o json %s/local.spec", server.dir);
    expect(0, line, "{\"a\":");
    write_spec("nested", "\"sql\":\"SELECT array(a, 7) AS l, named_struct('b', b, 'n', null) AS s, "
                         "map('k', 1.50) AS m FROM c WHERE a > 1\"");
    (void)snprintf(line, sizeof line, "run --bounded -o json %s/nested.spec", server.dir);
    expect(0, line, ",7],\"s\":{\"b\":");
    assert_non_null(strstr(output, "\"n\":null},\"m\":{\"k\":1.50}}"));
    write_file(&server, "empty.spec", "");
    (void)snprintf(line, sizeof line, "validate %s/empty.spec", server.dir);
    expect(3, line, "it is empty (line 1, column 1)");
    write_spec("conf", "\"sql\":\"SELECT a FROM c\",\"conf\":{\"spark.executor.cores\":1}");
    (void)snprintf(line, sizeof line, "validate %s/conf.spec", server.dir);
    expect(3, line, "`tidemill conf` prints those there are (at /conf/spark.executor.cores)");
    write_spec("wrong", "\"sql\":\"SELECT aa FROM c\"");
    (void)snprintf(line, sizeof line, "validate %s/wrong.spec", server.dir);
    expect(3, line, "UNRESOLVED_COLUMN.WITH_SUGGESTION");
    (void)snprintf(line, sizeof line, "submit %s/wrong.spec", server.dir);
    expect(3, line, "line 1 column 8");
    (void)snprintf(line, sizeof line, "run %s/wrong.spec", server.dir);
    expect(3, line, "UNRESOLVED_COLUMN");
}

/* More columns than fit a screen, and text that no terminal should see. */
static void results_are_shown_whatever_is_in_them(void **state)
{
    char line[512];
    (void)state;
    make_dir(&server, "odd");
    write_file(&server, "odd/1.json", "{\"a\":\"x\\u0000y\\u001bz\"}\n");
    char spec[1024];
    (void)snprintf(
        spec, sizeof spec,
        "{\"name\":\"odd\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"a STRING\","
        "\"options\":{\"path\":\"%s/odd\"}}},\"sink\":{\"format\":\"memory\"},\"outputMode\":"
        "\"complete\",\"checkpointLocation\":\"%s/odd.cp\",\"sql\":\"SELECT a, 1 AS c1, 2 AS c2, "
        "3 AS c3, 4 AS c4, 5 AS c5, 6 AS c6, 7 AS c7, 8 AS c8, 9 AS c9, 10 AS c10, 11 AS c11, 12 "
        "AS c12, count(*) AS c13 FROM c GROUP BY a\"}",
        server.dir, server.dir);
    write_file(&server, "odd.spec", spec);
    (void)snprintf(line, sizeof line, "submit %s/odd.spec", server.dir);
    expect(0, line, "odd");
    expect(0, "status odd --wait RUNNING --timeout 30", "RUNNING");
    json_decref(post(&server, "/v1/queries/odd/processAllAvailable", NULL, 200));
    expect(0, "results odd", "\"x\\u0000y\\u001Bz\"");
    expect(0, "results odd", "c13");
    expect(0, "state odd --operator 0", "\\u0000");
    (void)snprintf(line, sizeof line, "run %s/odd.spec", server.dir);
    expect(5, line, "CHECKPOINT.LOCKED");
}

/* Batches whose files were cleaned away cannot run again: nothing is rewound. */
static void a_rewind_into_cleaned_input_is_refused(void **state)
{
    char file[32], spec[1024], line[512];
    (void)state;
    make_dir(&server, "cleaned");
    for (int i = 0; i < 3; i++) {
        (void)snprintf(file, sizeof file, "cleaned/%d.json", i);
        write_file(&server, file, "{\"a\":1}\n");
    }
    (void)snprintf(spec, sizeof spec,
                   "{\"name\":\"cleaned\",\"sql\":\"SELECT a FROM "
                   "c\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"a "
                   "INT\",\"options\":{\"path\":\"%s/"
                   "cleaned\",\"maxFilesPerTrigger\":1,\"cleanSource\":\"delete\"}}},\"sink\":{"
                   "\"format\":\"noop\"},\"trigger\":{\"availableNow\":true},"
                   "\"checkpointLocation\":\"%s/cleaned.cp\"}",
                   server.dir, server.dir);
    write_file(&server, "cleaned.spec", spec);
    (void)snprintf(line, sizeof line, "run %s/cleaned.spec", server.dir);
    expect(0, line, "batch 2");
    (void)snprintf(line, sizeof line, "checkpoint rewind %s/cleaned.cp --to-batch 0", server.dir);
    expect(3, line, "FAILED_READ_FILE.FILE_NOT_EXIST");
    (void)snprintf(line, sizeof line, "checkpoint rewind %s/cleaned.cp --to-batch 1", server.dir);
    expect(0, line, NULL);
    (void)snprintf(line, sizeof line, "run %s/cleaned.spec", server.dir);
    expect(0, line, "batch 2");
}

/* Durations, not the microseconds of the fingerprint. */
static void other_sliding_windows_are_refused_in_words(void **state)
{
    (void)state;
    static const char *const windows[] = {"'20 seconds', '10 seconds'",
                                          "'20 seconds', '5 seconds'"};
    char more[512];
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(
            more, sizeof more,
            "\"sql\":\"SELECT count(*) AS n FROM c GROUP BY window(timestamp_seconds(a), "
            "%s)\",\"outputMode\":\"update\",\"trigger\":{\"availableNow\":true},"
            "\"checkpointLocation\":\"%s/slides.cp\"",
            windows[i], server.dir);
        write_spec("slides", more);
        if (i == 0)
            expect(0, with_file("run", "slides.spec"), "committed");
    }
    expect(5, with_file("run", "slides.spec"),
           "Aggregate has the state of windows of 20 seconds every 10 seconds, but would need that "
           "of windows of 20 seconds every 5 seconds");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(client_commands_by_story),
        cmocka_unit_test(every_command_has_its_help),
        cmocka_unit_test(misspelt_names_are_answered_with_the_nearest),
        cmocka_unit_test(exit_codes_are_the_same_everywhere),
        cmocka_unit_test(all_pages_are_listed),
        cmocka_unit_test(progress_is_followed_to_the_end),
        cmocka_unit_test(exit_codes_by_table),
        cmocka_unit_test(results_are_shown_whatever_is_in_them),
        cmocka_unit_test(other_sliding_windows_are_refused_in_words),
        cmocka_unit_test(a_rewind_into_cleaned_input_is_refused),
        cmocka_unit_test(a_second_server_says_what_is_taken),
        cmocka_unit_test(specs_are_validated_and_run_without_a_server),
    };
    return cmocka_run_group_tests_name("api/cli", tests, cli_setup, cli_teardown) != 0;
}
