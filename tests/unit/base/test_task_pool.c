#include "base/task_pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define TASKS 1000

struct work {
    _Atomic uint32_t runs[TASKS];
    _Atomic uint32_t workers_seen;
    uint32_t fail_from;
};

static enum status count_run(void *arg, uint32_t index, uint32_t worker, struct error *err)
{
    struct work *work = arg;
    atomic_fetch_add(&work->runs[index], 1);
    atomic_fetch_or(&work->workers_seen, 1U << worker);
    if (index >= work->fail_from)
        return error_set(err, STATUS_INTERNAL_ERROR, "task %u", index);
    return OK;
}

static void every_task_runs_once(void **state)
{
    (void)state;
    for (uint32_t parallelism = 1; parallelism <= 4; parallelism++) {
        struct task_pool *pool = task_pool_new(parallelism);
        assert_int_equal(task_pool_parallelism(pool), parallelism);
        for (int round = 0; round < 50; round++) {
            struct work *work = calloc(1, sizeof *work);
            work->fail_from = TASKS;
            struct error err = ERROR_INIT;
            assert_int_equal(task_pool_run(pool, TASKS, count_run, work, &err), OK);
            for (int i = 0; i < TASKS; i++)
                assert_int_equal(work->runs[i], 1);
            assert_true(work->workers_seen < 1U << parallelism);
            free(work);
        }
        struct error err = ERROR_INIT;
        assert_int_equal(task_pool_run(pool, 0, count_run, NULL, &err), OK);
        task_pool_free(pool);
    }
}

static void the_first_error_wins(void **state)
{
    (void)state;
    for (uint32_t parallelism = 1; parallelism <= 4; parallelism++) {
        struct task_pool *pool = task_pool_new(parallelism);
        struct work *work = calloc(1, sizeof *work);
        work->fail_from = 10;
        struct error err = ERROR_INIT;
        assert_int_equal(task_pool_run(pool, TASKS, count_run, work, &err), STATUS_INTERNAL_ERROR);
        assert_string_equal(err.text, "task 10");
        assert_int_equal(work->runs[TASKS - 1], 0);
        work->fail_from = TASKS;
        assert_int_equal(task_pool_run(pool, TASKS, count_run, work, &err), OK);
        free(work);
        task_pool_free(pool);
    }
}

#define NEIGHBOURS 8

struct places {
    _Atomic uint32_t arrived;
    _Atomic uint32_t workers[NEIGHBOURS]; /* who ran it, + 1 */
};

/* The first task of each half waits for that of the other: both threads are there then. */
static enum status note_worker(void *arg, uint32_t index, uint32_t worker, struct error *err)
{
    (void)err;
    struct places *places = arg;
    atomic_store(&places->workers[index], worker + 1);
    if (index % (NEIGHBOURS / 2) != 0)
        return OK;
    atomic_fetch_add(&places->arrived, 1);
    while (atomic_load(&places->arrived) < 2)
        continue;
    return OK;
}

static void neighbours_run_in_the_same_thread(void **state)
{
    (void)state;
    struct task_pool *pool = task_pool_new(2);
    for (int round = 0; round < 50; round++) {
        struct places places = {0};
        struct error err = ERROR_INIT;
        assert_int_equal(task_pool_run(pool, NEIGHBOURS, note_worker, &places, &err), OK);
        assert_int_equal(places.workers[0], 1);
        assert_int_equal(places.workers[NEIGHBOURS / 2], 2);
        uint32_t changes = 0; /* what one takes from the other is the last of it */
        for (uint32_t i = 1; i < NEIGHBOURS; i++)
            changes += places.workers[i] != places.workers[i - 1];
        assert_true(changes == 1 || changes == 2);
    }
    task_pool_free(pool);
}

static void add_one(void *arg)
{
    atomic_fetch_add((_Atomic uint32_t *)arg, 1);
}

static void background_jobs_end_before_wait_returns(void **state)
{
    (void)state;
    struct background *background = background_new();
    _Atomic uint32_t count = 0;
    uint32_t submitted = 0;
    for (int i = 0; i < 200; i++)
        submitted += background_submit(background, add_one, &count);
    background_wait(background);
    assert_int_equal(count, submitted);
    assert_true(background_submit(background, add_one, &count));
    background_free(background);
    assert_int_equal(count, submitted + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_runs_once),
        cmocka_unit_test(the_first_error_wins),
        cmocka_unit_test(neighbours_run_in_the_same_thread),
        cmocka_unit_test(background_jobs_end_before_wait_returns),
    };
    return cmocka_run_group_tests_name("base/task_pool", tests, NULL, NULL);
}
