#include "analyze_fixture.h"
#include "plan/fingerprint.h"
#include "plan/planner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void plan_of(struct fixture *fixture, const char *sql, const char *mode, bool bounded,
                    struct physical_plan **plan)
{
    enum status status = fixture_analyze(fixture, sql, mode, bounded);
    assert_string_equal(fixture->err.text, "");
    assert_int_equal(status, OK);
    status = plan_query(fixture->arena, fixture->analysis, plan, &fixture->err);
    assert_string_equal(fixture->err.text, "");
    assert_int_equal(status, OK);
}

static void plans_are_as_small_as_they_can_be(void **state)
{
    (void)state;
    static const struct {
        const char *why, *sql, *explain;
    } cases[] = {
        {"only the needed columns are read", "SELECT url FROM pages",
         "Scan pages memory struct<url:string>\n"},
        {"filters reach the scan through projections and views",
         "SELECT u FROM (SELECT url AS u, rank AS r FROM pages) WHERE r > 1",
         "Project [url]\n"
         "  Filter (rank > 1)\n"
         "    Scan pages memory struct<url:string,rank:int>\n"},
        {"only the used fields of a struct are read",
         "SELECT s.a, s.t.x FROM nested WHERE s.t.y > 1",
         "Project [s.a, s.t.x]\n"
         "  Filter (s.t.y > 1)\n"
         "    Scan nested json struct<s:struct<a:int,t:struct<x:int,y:int>>>\n"},
        {"a struct that is used whole is read whole", "SELECT s.a, s FROM nested",
         "Project [s.a, s]\n"
         "  Scan nested json "
         "struct<s:struct<a:int,b:int,t:struct<x:int,y:int,z:int>>>\n"},
        {"constants are folded", "SELECT 1 + 1 AS two FROM pages",
         "Project [2]\n"
         "  Scan pages memory struct<url:string>\n"},
        {"equalities are the keys of a join",
         "SELECT a.rank FROM pages a JOIN pages b ON a.url = b.url AND a.rank < b.rank",
         "Project [rank]\n"
         "  Join Inner [url] = [url] if (rank < rank)\n"
         "    Scan pages memory struct<url:string,rank:int>\n"
         "    Scan pages memory struct<url:string,rank:int>\n"},
        {"a union of unions is one", "SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 3",
         "Union [a]\n"
         "  Project [1]\n"
         "    Values 1 rows []\n"
         "  Project [2]\n"
         "    Values 1 rows []\n"
         "  Project [3]\n"
         "    Values 1 rows []\n"},
        {"IN is a semi join", "SELECT rank FROM pages WHERE url IN (SELECT section FROM pages)",
         "Project [rank]\n"
         "  Join LeftSemi [url] = [section]\n"
         "    Scan pages memory struct<url:string,rank:int>\n"
         "    Scan pages memory struct<section:string>\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fixture;
        struct physical_plan *plan;
        struct buffer text = {0};
        fixture_open(&fixture);
        print_message("%s\n", cases[i].why);
        plan_of(&fixture, cases[i].sql, "append", true, &plan);
        plan_print_text(&text, plan);
        assert_string_equal(buffer_text(&text), cases[i].explain);
        buffer_fini(&text);
        fixture_close(&fixture);
    }
}

static void the_fingerprint_covers_state_and_sources(void **state)
{
    (void)state;
    static const struct {
        const char *why, *sql;
        bool same;
    } cases[] = {
        {"another filter", "SELECT visitor, count(*) FROM clicks WHERE n > 9 GROUP BY visitor",
         true},
        {"another name of the result", "SELECT visitor v, count(*) c FROM clicks GROUP BY visitor",
         true},
        {"another key", "SELECT url, count(*) FROM clicks GROUP BY url", false},
        {"another aggregate", "SELECT visitor, max(n) FROM clicks GROUP BY visitor", false},
        {"another source", "SELECT visitor, count(*) FROM wclicks GROUP BY visitor", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fixture;
        struct physical_plan *first, *second;
        fixture_open(&fixture);
        print_message("%s\n", cases[i].why);
        plan_of(&fixture, "SELECT visitor, count(*) FROM clicks WHERE n > 1 GROUP BY visitor",
                "update", false, &first);
        plan_of(&fixture, cases[i].sql, "update", false, &second);
        assert_int_equal(first->fingerprint == second->fingerprint, cases[i].same);
        if (!cases[i].same) {
            struct error err = ERROR_INIT;
            assert_int_equal(
                fingerprint_compare(bytes_of_text(first->fingerprint_text), second, &err),
                STATUS_CHECKPOINT__QUERY_CHANGED);
        }
        fixture_close(&fixture);
    }
}

static void two_event_times_at_one_operator_are_refused(void **state)
{
    (void)state;
    struct fixture fixture;
    struct physical_plan *plan;
    fixture_open(&fixture);
    assert_int_equal(
        fixture_analyze(&fixture,
                        "SELECT o.at, p.at AS pat, count(*) FROM worders o JOIN wpayments p ON "
                        "o.id = p.order_id GROUP BY o.at, p.at",
                        "append", false),
        OK);
    assert_int_equal(plan_query(fixture.arena, fixture.analysis, &plan, &fixture.err),
                     STATUS_MULTIPLE_EVENT_TIME_COLUMNS);
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_as_small_as_they_can_be),
        cmocka_unit_test(the_fingerprint_covers_state_and_sources),
        cmocka_unit_test(two_event_times_at_one_operator_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
