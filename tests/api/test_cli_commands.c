/*
 * Every operation of the API has its command: stories of a query told by the command line.
 */
#include "cli_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void a_query_is_driven_and_watched(void **state)
{
    (void)state;
    write_spec("drive", "\"sql\":\"SELECT b, count(*) AS n FROM c GROUP BY b\","
                        "\"outputMode\":\"complete\"");
    expect(0, with_file("submit --dry-run", "drive.spec"), "valid");
    expect(4, "status drive", "QUERY_NOT_FOUND");
    expect(0, with_file("submit", "drive.spec"), "drive: ");
    expect(0, "status drive --wait RUNNING --timeout 60", "drive: RUNNING");
    expect(0, "processAllAvailable drive --timeout 60", "last batch");
    expect(0, "trigger drive", "drive: RUNNING");
    expect(0, "batches drive", "batchId");
    expect(0, "batches drive --batch 0", "0        true");
    expect(0, "batches drive", "filesRead");
    expect(0, "batches drive --files", "  read  /");
    expect(0, "batches drive --batch 0 --files", "batch 0\n  read  /");
    expect(0, "batches drive -o json", "\"numInputRows\": 2");
    expect(4, "batches drive --batch 999", "BATCH_NOT_FOUND");
    expect(0, "runs drive", "RUNNING");
    expect(0, "plan drive", "Aggregate");
    expect(0, "plan drive -o json", "\"text\"");
    expect(0, "checkpoint show --query drive", "nextStart");
    expect(0, "checkpoint verify --query drive", "ok");
    expect(0, "get drive", "\"generation\": 1");
    expect(0, "get drive -o table", "checkpointLocation");
    expect(8, "awaitTermination drive --timeout 1", "REQUEST_TIMEOUT");
    expect(0, "stop drive --wait", "drive: STOPPED");
    expect(0, "awaitTermination drive", "drive: STOPPED");
    expect(5, "trigger drive", "INVALID_STATE");
    expect(0, "start drive --dry-run", "possible    yes");
    expect(0, "rm drive --purge -o json", "{}");
}

/* A new spec that waits for a start says so; what ended the run before is not this run's error. */
static void the_status_tells_runs_and_specs_apart(void **state)
{
    (void)state;
    write_spec("apart", "\"sql\":\"SELECT a FROM c\"");
    expect(0, with_file("submit", "apart.spec"), "apart: ");
    expect(0, "status apart --wait RUNNING --timeout 60", "apart: RUNNING");
    assert_null(strstr(output, "next start"));
    write_spec("apart", "\"sql\":\"SELECT b FROM c\"");
    expect(0, with_file("apply", "apart.spec"), "generation 1 runs; 2 waits for the next start");
    expect(0, "processAllAvailable apart", "2 waits for the next start");
    expect(0, "status apart -o json", "\"pid\": ");
    pid_t worker = (pid_t)strtol(strstr(output, "\"pid\": ") + 7, NULL, 10);
    assert_true(worker > 1);
    assert_int_equal(kill(worker, SIGKILL), 0);
    bool again = false;
    for (int i = 0; i < 10000 && !again; i++) {
        (void)tidemill("status apart");
        again = strstr(output, "apart: RUNNING") != NULL && strstr(output, "run before") != NULL;
    }
    assert_true(again);
    assert_null(strstr(output, "  error"));
    assert_null(strstr(output, "next start"));
    expect(0, "rm apart --force", "deleted");
}

/* Of a long rewind one line for all batches of which the sink makes the same. */
static void a_start_plan_is_short_and_says_what_there_is(void **state)
{
    (void)state;
    char more[512];
    make_dir(&server, "long");
    for (int i = 0; i < 5; i++) {
        char file[32];
        (void)snprintf(file, sizeof file, "long/%d.json", i);
        write_file(&server, file, "{\"a\":1,\"b\":\"x\"}\n");
    }
#define LONG(sql)                                                                                  \
    "{\"name\":\"long\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"a INT, b "            \
    "STRING\",\"options\":{\"path\":\"%s/long\",\"maxFilesPerTrigger\":1}}},\"sql\":\"" sql        \
    "\",\"outputMode\":\"update\",\"sink\":{\"format\":\"memory\"}}"
    (void)snprintf(more, sizeof more, LONG("SELECT b, min(a) AS n FROM c GROUP BY b"), server.dir);
    write_file(&server, "long.spec", more);
    expect(0, with_file("submit", "long.spec"), "long: ");
    expect(0, "processAllAvailable long --timeout 60", "last batch   4");
    expect(0, "stop long --wait", "long: STOPPED");
    (void)snprintf(more, sizeof more, LONG("SELECT b, max(a) AS n FROM c GROUP BY b"), server.dir);
    write_file(&server, "long.spec", more);
    expect(0, with_file("apply", "long.spec"), "long: STOPPED");
    tidemill("start long --dry-run");
    assert_non_null(strstr(output, "the state of Aggregate was "));
    (void)snprintf(more, sizeof more, LONG("SELECT b, a FROM c"), server.dir);
    write_file(&server, "long.spec", more);
    expect(0, with_file("apply", "long.spec"), "long: STOPPED");
    tidemill("start long --dry-run");
    assert_non_null(strstr(output, "the query now has none. Use"));
    expect(0, "rewind long --to-batch -1", "  batches 0 to 4 run again: 5 rows in, 5 rows out");
    assert_null(strstr(output, "  batch 1"));
    expect(0, "rm long --force", "deleted");
}

static void a_spec_is_applied_as_it_stands_there(void **state)
{
    (void)state;
    write_spec("put", "\"sql\":\"SELECT a FROM c\",\"desiredState\":\"STOPPED\"");
    expect(0, with_file("apply", "put.spec"), "put: STOPPED");
    expect(0, with_file("apply", "put.spec"), "put: STOPPED");
    expect(0, "get put", "\"generation\": 1");
    write_spec("put", "\"sql\":\"SELECT b FROM c\",\"desiredState\":\"STOPPED\"");
    expect(5, with_file("apply --if-match 0000", "put.spec"), "error:");
    expect(0, with_file("apply --now", "put.spec"), "put: STOPPED");
    expect(0, "get put", "\"generation\": 2");
    write_spec("put", "\"sql\":\"SELECT x FROM c\"");
    expect(3, with_file("apply", "put.spec"), "line 1 column 8");
    write_file(&server, "nameless.spec", "{\"sql\":\"SELECT 1\",\"sink\":{\"format\":\"noop\"}}");
    expect(3, with_file("apply", "nameless.spec"), "\"name\"");
    expect(4, with_file("apply", "nowhere.spec"), "FILE_NOT_FOUND");
    expect(0, "rm put", "deleted");
}

/* The place in the SQL is marked, whoever finds the error. */
static void errors_are_marked_in_the_sql(void **state)
{
    (void)state;
    static const char *const commands[] = {"validate", "run",   "run --bounded",
                                           "submit",   "apply", "submit --dry-run"};
    write_spec("mark", "\"sql\":\"SELECT a,\\n   bb + 1 AS x\\nFROM c\"");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        expect(3, with_file(commands[i], "mark.spec"), "line 2 column 4");
        assert_non_null(strstr(output, "    2 |    bb + 1 AS x\n      |    ^^"));
        assert_null(strchr(output, '\033')); /* no colour when this is no terminal */
    }
    char line[256];
    (void)snprintf(line, sizeof line, "validate %s/mark.spec --server %s", server.dir, server.url);
    expect(3, line, "      |    ^^");
    expect(3, with_file("validate -o json", "mark.spec"), "\"line\": 2");
    write_spec("mark", "\"views\":[{\"name\":\"v\",\"sql\":\"SELECT zz FROM c\"}],"
                       "\"sql\":\"SELECT * FROM v\"");
    expect(3, with_file("validate", "mark.spec"), "(at /views/0/sql line 1 column 8)");
    write_spec("mark", "\"sql\":\"SELECT a FROM c\"");
    expect(0, with_file("validate -o json", "mark.spec"), "\"valid\": true");
    (void)snprintf(line, sizeof line, "validate %s/mark.spec --server %s", server.dir, server.url);
    expect(0, line, "valid; delivery");
}

/* What a query failed with, and when it tries again. */
static void a_status_says_what_is_wrong(void **state)
{
    (void)state;
    write_spec("wrong", "\"sql\":\"SELECT 1 DIV (a - a) AS z FROM c\","
                        "\"restartPolicy\":{\"mode\":\"never\"}");
    expect(0, with_file("submit --stopped", "wrong.spec"), "STOPPED");
    (void)tidemill("start wrong --wait");
    expect(0, "status wrong --wait FAILED --timeout 60", "[DIVIDE_BY_ZERO]");
    expect(9, "awaitTermination wrong", "[DIVIDE_BY_ZERO]");
    expect(0, "rm wrong", "deleted");
    make_dir(&server, "gone");
    char spec[1024];
    (void)snprintf(spec, sizeof spec,
                   "{\"name\":\"retry\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"a "
                   "INT\",\"options\":{\"path\":\"%s/in\"}}},\"sql\":\"SELECT a FROM c\","
                   "\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"%s/gone/out\"}}}",
                   server.dir, server.dir);
    write_file(&server, "retry.spec", spec);
    expect(0, with_file("submit --stopped", "retry.spec"), "STOPPED");
    write_file(&server, "gone/out", "a file where a directory should be");
    expect(9, "start retry --dry-run", "possible    no");
    expect(9, "start retry --dry-run -o json", "\"possible\": false");
    (void)tidemill("start retry");
    int code = tidemill("status retry --wait RETRYING --timeout 60");
    if (code == 0) { /* or it is FAILED, with the same text */
        assert_non_null(strstr(output, "next retry"));
        assert_non_null(strstr(output, "attempt "));
    }
    assert_non_null(strstr(output, "error        ["));
    expect(0, "rm retry --force", "deleted");
}

/* A run that fails on a record is exit code 9, whichever way it is run. */
static void a_failed_run_is_nine_both_ways(void **state)
{
    (void)state;
    char spec[1024];
    (void)snprintf(
        spec, sizeof spec,
        "{\"name\":\"fast\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"a INT, b "
        "INT\",\"options\":{\"path\":\"%s/in\",\"mode\":\"FAILFAST\"}}},"
        "\"sql\":\"SELECT a, b FROM c\",\"sink\":{\"format\":\"noop\"},"
        "\"checkpointLocation\":\"%s/fast.cp\"}",
        server.dir, server.dir);
    write_file(&server, "fast.spec", spec);
    expect(9, with_file("run", "fast.spec"), "FAILED_READ_FILE");
    expect(9, with_file("run --bounded", "fast.spec"), "FAILED_READ_FILE");
    assert_null(strstr(output, "a\tb")); /* no table without rows before an error */
}

/* A row of one side has no value in the other's column of the same name. */
static void a_row_of_a_join_is_printed_on_its_side(void **state)
{
    (void)state;
    char spec[2048];
    make_dir(&server, "views");
    make_dir(&server, "buys");
    write_file(&server, "views/1.json", "{\"visitor\":\"zed\",\"at\":\"2024-05-01 00:00:01\"}\n");
    write_file(&server, "buys/1.json",
               "{\"visitor\":\"ann\",\"bt\":\"2024-05-01 00:00:02\",\"price\":7}\n");
    (void)snprintf(
        spec, sizeof spec,
        "{\"name\":\"sides\",\"sources\":{\"l\":{\"format\":\"json\",\"schema\":\"visitor STRING, "
        "at TIMESTAMP\",\"options\":{\"path\":\"%s/views\"},\"watermark\":{\"column\":\"at\","
        "\"delay\":\"1 hour\"}},\"r\":{\"format\":\"json\",\"schema\":\"visitor STRING, bt "
        "TIMESTAMP, price INT\",\"options\":{\"path\":\"%s/buys\"},\"watermark\":{\"column\":"
        "\"bt\",\"delay\":\"1 hour\"}}},\"sql\":\"SELECT l.visitor, at, price FROM l JOIN r ON "
        "l.visitor = r.visitor AND bt >= at AND bt <= at + INTERVAL 1 HOUR\",\"sink\":{\"format\":"
        "\"noop\"},\"trigger\":{\"availableNow\":true},\"checkpointLocation\":\"%s/sides.cp\"}",
        server.dir, server.dir, server.dir);
    write_file(&server, "sides.spec", spec);
    expect(0, with_file("run", "sides.spec"), "batch 0 committed");
    expect(0, with_file("checkpoint state --operator 0", "sides.cp"), "zed");
    assert_null(strstr(strstr(output, "zed") + 1, "zed"));
    assert_non_null(strstr(output, "ann"));
    assert_null(strstr(strstr(output, "ann") + 1, "ann"));
}

/* A checkpoint says what a start does, also after a rewind; and it knows its spec. */
static void a_checkpoint_is_looked_into_without_its_spec(void **state)
{
    (void)state;
    char spec[1024];
    make_dir(&server, "three");
    for (int i = 0; i < 3; i++) {
        char file[32];
        (void)snprintf(file, sizeof file, "three/%d.json", i);
        write_file(&server, file, "{\"a\":1,\"b\":\"x\"}\n");
    }
    (void)snprintf(
        spec, sizeof spec,
        "{\"name\":\"three\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"a INT, b "
        "STRING\",\"options\":{\"path\":\"%s/three\",\"maxFilesPerTrigger\":1}}},"
        "\"sql\":\"SELECT b, count(*) AS n FROM c GROUP BY b\",\"outputMode\":\"update\","
        "\"sink\":{\"format\":\"noop\"},\"trigger\":{\"availableNow\":true},"
        "\"checkpointLocation\":\"%s/three.cp\"}",
        server.dir, server.dir);
    write_file(&server, "three.spec", spec);
    expect(0, with_file("run", "three.spec"), "batch 2 committed");
    expect(0, with_file("checkpoint show", "three.cp"), "NEW: plans batch 3");
    expect(0, with_file("checkpoint state", "three.cp"), "1 entries");
    expect(0, with_file("checkpoint state --operator 0", "three.cp"), "x  3");
    expect(0, with_file("checkpoint state --operator 0 --batch 1 -o json", "three.cp"),
           "\"count(1)\": 2");
    expect(0, with_file("checkpoint state --operator 0 --key b=y", "three.cp"), NULL);
    assert_null(strstr(output, "x  3"));
    expect(4, with_file("checkpoint state --operator 9", "three.cp"), "0 (Aggregate)");
    expect(3, with_file("checkpoint state --operator 0 --key bb=x", "three.cp"), "Did you mean b?");
    expect(0, with_file("checkpoint rewind --to-batch 0", "three.cp"), "batches 1 to 2 run again");
    expect(0, with_file("checkpoint show", "three.cp"), "REPLAY: runs batches 1 to 2 again");
    expect(0, with_file("run", "three.spec"), "batch 2 committed");
    expect(0, with_file("checkpoint show -o json", "three.cp"), "\"nextStart\": \"NEW\"");
    expect(0, with_file("checkpoint verify", "three.cp"), "ok:");
}

/* What is cut off may have been whole records: the sink shows that batches are missing. */
static void a_log_without_its_end_is_found_by_verify(void **state)
{
    (void)state;
    char spec[1024], path[1024];
    (void)snprintf(
        spec, sizeof spec,
        "{\"name\":\"cut\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"a INT\","
        "\"options\":{\"path\":\"%s/in\",\"maxFilesPerTrigger\":1}}},\"sql\":\"SELECT a FROM c\","
        "\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"%s/cut\"}},"
        "\"trigger\":{\"availableNow\":true},\"checkpointLocation\":\"%s/cut.cp\"}",
        server.dir, server.dir, server.dir);
    write_file(&server, "cut.spec", spec);
    expect(0, with_file("run", "cut.spec"), "batch 0 committed");
    expect(0, with_file("checkpoint verify", "cut.cp"), "ok:");
    (void)snprintf(path, sizeof path, "%s/cut.cp/log/%020d", server.dir, 0);
    struct stat whole;
    assert_int_equal(stat(path, &whole), 0);
    bool found = false;
    for (off_t size = whole.st_size / 2; size > 0 && !found; size -= size / 4 + 1) {
        assert_int_equal(truncate(path, size), 0);
        tidemill(with_file("checkpoint verify", "cut.cp"));
        found = strstr(output, "CHECKPOINT.INCONSISTENT") != NULL;
    }
    assert_true(found);
}

static void a_signal_ends_what_follows(void **state)
{
    (void)state;
    char spec[512];
    write_spec("follow", "\"sql\":\"SELECT a FROM c\"");
    expect(0, with_file("submit", "follow.spec"), "follow: ");
    expect(0, "processAllAvailable follow", NULL);
    assert_int_equal(tidemill_until("progress follow -f", "batch 0", SIGINT), 128 + SIGINT);
    expect(0, "rm follow --force", "deleted");
    (void)snprintf(spec, sizeof spec,
                   "{\"name\":\"endless\",\"sources\":{\"r\":{\"format\":\"rate\",\"options\":{"
                   "\"rowsPerSecond\":1000}}},\"sql\":\"SELECT value FROM r\",\"sink\":{\"format\":"
                   "\"noop\"},\"checkpointLocation\":\"%s/endless.cp\"}",
                   server.dir);
    write_file(&server, "endless.spec", spec);
    assert_int_equal(tidemill_until(with_file("run", "endless.spec"), "committed", SIGINT), 0);
    expect(0, with_file("checkpoint show", "endless.cp"), "closed in order");
}

/* Every metric of the catalogue is published, by the name, type and labels that it says. */
static void the_catalogue_of_metrics_is_what_the_server_publishes(void **state)
{
    (void)state;
    char lines[8192], wanted[256], *rest = NULL;
    make_dir(&server, "times");
    write_file(&server, "times/1.json",
               "{\"at\":\"2026-01-01T00:00:10Z\"}\n{\"at\":\"2026-01-01T00:05:10Z\"}\n");
    char spec[1024];
    (void)snprintf(
        spec, sizeof spec,
        "{\"name\":\"times\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"at "
        "TIMESTAMP\",\"options\":{\"path\":\"%s/times\"},\"watermark\":{\"column\":\"at\","
        "\"delay\":\"10 seconds\"}}},\"sql\":\"SELECT window(at, '1 minute') AS w, count(*) "
        "AS n FROM c GROUP BY window(at, '1 minute')\",\"sink\":{\"format\":\"memory\"}}",
        server.dir);
    write_file(&server, "times.spec", spec);
    expect(0, with_file("submit", "times.spec"), "times: ");
    expect(0, "processAllAvailable times", NULL);
    expect(0, "processAllAvailable times", NULL);
    expect(0, "restart times --wait", "times: RUNNING");
    expect(0, "metrics", "tidemill_");
    (void)snprintf(lines, sizeof lines, "%s", output);
    assert_int_equal(tidemill("call GET /metrics"), 0);
    for (char *line = strtok_r(lines, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char name[96], type[16], first[32] = "";
        assert_true(sscanf(line, "%95[^\t]\t%15[^\t]\t%31[^,\t]", name, type, first) >= 2);
        (void)snprintf(wanted, sizeof wanted, "# TYPE %s %s\n", name, type);
        if (strstr(output, wanted) == NULL && strcmp(name, "tidemill_query_restarts_total") != 0)
            fail_msg("%s is not published", wanted);
        const char *label = strstr(line, "query") == NULL ? first : "query";
        (void)snprintf(wanted, sizeof wanted, "%s", label);
        assert_non_null(strstr(output, wanted));
    }
    assert_non_null(strstr(output, "tidemill_query_watermark_seconds{query=\"times\"} 1767225900"));
    expect(0, "rm times --force", "deleted");
}

/* No digit is lost on the way to the terminal, whatever the type. */
static void numbers_stay_as_the_server_wrote_them(void **state)
{
    (void)state;
    write_spec("digits",
               "\"outputMode\":\"complete\",\"sql\":\"SELECT CAST('12345678901234567890.123456789"
               "012345678' AS DECIMAL(38,18)) AS d, CAST(1.50 AS DECIMAL(10,2)) AS e, "
               "CAST('12345678901234567890123' AS DECIMAL(38,0)) AS w, array(CAST(2.50 AS "
               "DECIMAL(10,2))) AS l, named_struct('x', 'y') AS s, count(*) AS n FROM c GROUP BY "
               "1, 2, 3, 4, 5\"");
    expect(0, with_file("submit", "digits.spec"), "digits: ");
    expect(0, "processAllAvailable digits --timeout 60", NULL);
    static const char *const commands[] = {"results digits", "results digits -o json",
                                           "call GET /v1/queries/digits/results",
                                           "state digits --operator 0"};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        expect(0, commands[i], "12345678901234567890.123456789012345678");
        expect(0, commands[i], "1.50");
        expect(0, commands[i], "12345678901234567890123");
        expect(0, commands[i], "2.50");
    }
    expect(0, "results digits", "  [2.50]  {\"x\":\"y\"}  2");
    expect(0, "call GET /v1/queries/digits/results", "\"e\": 1.50,\n");
    expect(0, "rm digits --force", "deleted");
}

/* Whatever could not be written is said, with an exit code: a full disk loses nothing in silence.
 */
static void output_that_is_lost_is_an_error(void **state)
{
    (void)state;
    write_spec("full", "\"sql\":\"SELECT a, b FROM c\"");
    expect(0, with_file("submit", "full.spec"), "full: ");
    expect(0, "processAllAvailable full --timeout 60", NULL);
    static const char *const commands[] = {"results full",
                                           "results full -o json",
                                           "ls",
                                           "ls -o json",
                                           "status full",
                                           "call GET /metrics",
                                           "plan full",
                                           "version",
                                           "config",
                                           "metrics",
                                           "help",
                                           "results --help",
                                           "ready",
                                           "get full",
                                           "batches full",
                                           "progress full",
                                           "connectors -o json",
                                           "conf",
                                           "conditions"};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        expect_full(1, commands[i], "error: [IO_FAILURE] standard output: ");
    expect_full(1, with_file("run --bounded", "full.spec"), "[IO_FAILURE] standard output: ");
    expect_full(1, with_file("validate", "full.spec"), "[IO_FAILURE] standard output: ");
    expect_full(4, "status nowhere", "QUERY_NOT_FOUND");
    expect(0, "rm full --force", "deleted");
}

/* An idle query has batches neither in its progress nor in its metrics; file sinks count rows. */
static void an_idle_query_runs_no_batches(void **state)
{
    (void)state;
    char spec[1024];
    (void)snprintf(
        spec, sizeof spec,
        "{\"name\":\"calm\",\"sources\":{\"c\":{\"format\":\"json\",\"schema\":\"a "
        "INT\",\"options\":{\"path\":\"%s/in\"}}},\"sql\":\"SELECT a FROM c\","
        "\"sink\":{\"format\":\"json\",\"options\":{\"path\":\"%s/calm.out\"}},\"conf\":{"
        "\"spark.sql.streaming.noDataProgressEventInterval\":\"1ms\"}}",
        server.dir, server.dir);
    write_file(&server, "calm.spec", spec);
    expect(0, with_file("submit", "calm.spec"), "calm: ");
    expect(0, "processAllAvailable calm --timeout 60", NULL);
    for (int i = 0; i < 3; i++)
        expect(0, "trigger calm", "calm: RUNNING");
    expect(0, "progress calm -n 100", "batch 0 ");
    expect(0, "batches calm --files", "/calm.out/part-");
    expect(0, "batches calm --batch 0 --files", "  wrote /");
    assert_null(strstr(output, "batch 1 "));
    static const char *const lines[] = {"batches_total{query=\"calm\"} 1\n",
                                        "input_rows_total{query=\"calm\"} 2\n",
                                        "output_rows_total{query=\"calm\"} 2\n",
                                        "batch_duration_seconds_count{query=\"calm\"} 1\n"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        expect(0, "call GET /metrics", lines[i]);
    expect(0, "rm calm --force", "deleted");
}

/* An interval of 0 does not mean that a query talks without pause: its server would hear nothing
 * else. */
static void a_query_that_reports_always_can_still_be_asked(void **state)
{
    (void)state;
    write_spec("chatty", "\"sql\":\"SELECT a FROM c\",\"conf\":{"
                         "\"spark.sql.streaming.noDataProgressEventInterval\":\"0ms\","
                         "\"spark.sql.streaming.pollingDelay\":\"0ms\"}");
    expect(0, with_file("submit", "chatty.spec"), "chatty: ");
    expect(0, "processAllAvailable chatty --timeout 60", NULL);
    for (int i = 0; i < 10; i++)
        expect(0, "trigger chatty --timeout 20", "chatty: RUNNING");
    expect(0, "status chatty", "chatty: RUNNING");
    expect(0, "rm chatty --force", "deleted");
}

static void any_operation_can_be_called(void **state)
{
    (void)state;
    write_spec("any", "\"sql\":\"SELECT a FROM c\",\"desiredState\":\"STOPPED\"");
    expect(0, "call GET /v1/version", "\"apiVersion\": \"v1\"");
    expect(0, "call GET /metrics", "# TYPE tidemill_build_info gauge");
    expect(0, "call GET /v1/openapi.yaml", "openapi: 3.1");
    expect(0, with_file("call POST /v1/queries", "any.spec"), "\"uid\"");
    expect(4, "call GET /v1/nowhere", "ROUTE_NOT_FOUND");
    expect(0, "call DELETE /v1/queries/any", NULL);
    expect(7, "call GET /v1/queries --server http://127.0.0.1:1", "UNREACHABLE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_query_is_driven_and_watched),
        cmocka_unit_test(the_status_tells_runs_and_specs_apart),
        cmocka_unit_test(a_start_plan_is_short_and_says_what_there_is),
        cmocka_unit_test(a_spec_is_applied_as_it_stands_there),
        cmocka_unit_test(errors_are_marked_in_the_sql),
        cmocka_unit_test(a_status_says_what_is_wrong),
        cmocka_unit_test(a_failed_run_is_nine_both_ways),
        cmocka_unit_test(a_row_of_a_join_is_printed_on_its_side),
        cmocka_unit_test(a_checkpoint_is_looked_into_without_its_spec),
        cmocka_unit_test(a_log_without_its_end_is_found_by_verify),
        cmocka_unit_test(a_signal_ends_what_follows),
        cmocka_unit_test(the_catalogue_of_metrics_is_what_the_server_publishes),
        cmocka_unit_test(numbers_stay_as_the_server_wrote_them),
        cmocka_unit_test(output_that_is_lost_is_an_error),
        cmocka_unit_test(an_idle_query_runs_no_batches),
        cmocka_unit_test(a_query_that_reports_always_can_still_be_asked),
        cmocka_unit_test(any_operation_can_be_called),
    };
    return cmocka_run_group_tests_name("api/cli_commands", tests, cli_setup, cli_teardown) != 0;
}
