#include "base/task_pool.h"

#include "base/check.h"
#include "base/heap.h"
#include "base/memory_limit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define NO_TASK UINT32_MAX

/* Tasks that nobody has taken: the first << 32 | the end.  A worker takes the first of its own,
 * others the last. */
struct share {
    _Alignas(64) _Atomic uint64_t left;
};

struct task_run {
    task_fn *fn;
    void *arg;
    _Atomic uint32_t failed_index; /* the lowest, NO_TASK: none; written under the pool's lock */
    struct error *first_err;       /* under the pool's lock: the caller's */
};

struct task_pool {
    uint32_t parallelism;
    struct share *shares;    /* of the run, by worker */
    pthread_mutex_t lock;    /* protects all below */
    pthread_cond_t work;     /* a run has begun, or the pool ends */
    pthread_cond_t idle;     /* the last thread has left the run */
    uint64_t generation;     /* rises with every run */
    struct task_run *run;    /* NULL between runs */
    uint32_t helpers_wanted; /* threads that may still join the run */
    uint32_t helpers_in;     /* threads inside the run */
    bool stopping;
    uint32_t thread_count;
    pthread_t *threads;
};

struct thread_start {
    struct task_pool *pool;
    uint32_t worker;
};

struct task_pool *task_pool_new(uint32_t parallelism)
{
    CHECK(parallelism >= 1);
    struct task_pool *pool = heap_calloc(1, sizeof *pool);
    pool->parallelism = parallelism;
    pool->shares = aligned_alloc(_Alignof(struct share), parallelism * sizeof *pool->shares);
    if (pool->shares == NULL)
        memory_exhausted(parallelism * sizeof *pool->shares);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->idle, NULL);
    return pool;
}

uint32_t task_pool_parallelism(const struct task_pool *pool)
{
    return pool->parallelism;
}

static void share_out(struct task_pool *pool, uint32_t count)
{
    for (uint64_t i = 0; i < pool->parallelism; i++) {
        uint64_t first = count * i / pool->parallelism;
        uint64_t end = count * (i + 1) / pool->parallelism;
        atomic_init(&pool->shares[i].left, first << 32 | end);
    }
}

static uint32_t tasks_in(uint64_t left)
{
    return (uint32_t)left - (uint32_t)(left >> 32);
}

static uint32_t take_first(struct share *own)
{
    uint64_t left = atomic_load(&own->left);
    while (tasks_in(left) > 0)
        if (atomic_compare_exchange_weak(&own->left, &left, left + ((uint64_t)1 << 32)))
            return (uint32_t)(left >> 32);
    return NO_TASK;
}

/* The last task of who has most left. */
static uint32_t take_from_others(struct task_pool *pool)
{
    for (;;) {
        struct share *most = NULL;
        uint64_t left = 0;
        for (uint32_t i = 0; i < pool->parallelism; i++) {
            uint64_t found = atomic_load(&pool->shares[i].left);
            if (tasks_in(found) <= tasks_in(left))
                continue;
            most = &pool->shares[i];
            left = found;
        }
        if (most == NULL)
            return NO_TASK;
        if (atomic_compare_exchange_strong(&most->left, &left, left - 1))
            return (uint32_t)left - 1;
    }
}

static void record_failure(struct task_pool *pool, struct task_run *run, uint32_t index,
                           const struct error *err)
{
    pthread_mutex_lock(&pool->lock);
    if (index < atomic_load(&run->failed_index)) {
        atomic_store(&run->failed_index, index);
        *run->first_err = *err;
    }
    pthread_mutex_unlock(&pool->lock);
}

static void work_off(struct task_pool *pool, struct task_run *run, uint32_t worker)
{
    struct error err = ERROR_INIT;
    for (;;) {
        uint32_t index = take_first(&pool->shares[worker]);
        if (index == NO_TASK)
            index = take_from_others(pool);
        if (index == NO_TASK)
            return;
        if (index > atomic_load(&run->failed_index))
            continue;
        enum status status = run->fn(run->arg, index, worker, &err);
        if (status != OK) {
            err.status = status;
            record_failure(pool, run, index, &err);
        }
    }
}

static void *thread_main(void *arg)
{
    struct thread_start start = *(struct thread_start *)arg;
    free(arg);
    struct task_pool *pool = start.pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    while (!pool->stopping) {
        if (pool->run == NULL || pool->generation == seen || pool->helpers_wanted == 0) {
            pthread_cond_wait(&pool->work, &pool->lock);
            continue;
        }
        struct task_run *run = pool->run;
        seen = pool->generation;
        pool->helpers_wanted--;
        pool->helpers_in++;
        pthread_mutex_unlock(&pool->lock);
        work_off(pool, run, start.worker);
        pthread_mutex_lock(&pool->lock);
        if (--pool->helpers_in == 0)
            pthread_cond_signal(&pool->idle);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* A thread that cannot be started is no error: the others do its work. */
static void start_threads(struct task_pool *pool)
{
    if (pool->threads != NULL)
        return;
    pool->threads = heap_calloc(pool->parallelism, sizeof *pool->threads);
    while (pool->thread_count + 1 < pool->parallelism) {
        struct thread_start *start = heap_malloc(sizeof *start);
        *start = (struct thread_start){.pool = pool, .worker = pool->thread_count + 1};
        if (pthread_create(&pool->threads[pool->thread_count], NULL, thread_main, start) != 0) {
            free(start);
            return;
        }
        pool->thread_count++;
    }
}

static enum status run_inline(uint32_t count, task_fn *fn, void *arg, struct error *err)
{
    for (uint32_t i = 0; i < count; i++)
        TRY(fn(arg, i, 0, err));
    return OK;
}

enum status task_pool_run(struct task_pool *pool, uint32_t count, task_fn *fn, void *arg,
                          struct error *err)
{
    CHECK(pool != NULL && fn != NULL);
    if (pool->parallelism == 1 || count <= 1)
        return run_inline(count, fn, arg, err);
    start_threads(pool);
    struct task_run run = {.fn = fn, .arg = arg, .failed_index = NO_TASK, .first_err = err};
    share_out(pool, count);
    pthread_mutex_lock(&pool->lock);
    CHECK(pool->run == NULL);
    pool->run = &run;
    pool->generation++;
    pool->helpers_wanted = count - 1 < pool->thread_count ? count - 1 : pool->thread_count;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);

    work_off(pool, &run, 0);

    pthread_mutex_lock(&pool->lock);
    pool->helpers_wanted = 0;
    while (pool->helpers_in > 0)
        pthread_cond_wait(&pool->idle, &pool->lock);
    pool->run = NULL;
    pthread_mutex_unlock(&pool->lock);
    return atomic_load(&run.failed_index) == NO_TASK ? OK : err->status;
}

void task_pool_free(struct task_pool *pool)
{
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->lock);
    CHECK(pool->run == NULL);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->thread_count; i++)
        pthread_join(pool->threads[i], NULL);
    free(pool->threads);
    free(pool->shares);
    pthread_cond_destroy(&pool->work);
    pthread_cond_destroy(&pool->idle);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

struct background_job {
    background_fn *fn;
    void *arg;
};

struct background {
    pthread_mutex_t lock; /* protects all below but `thread` and `started` */
    pthread_cond_t changed;
    struct background_job jobs[BACKGROUND_JOBS_MAX];
    size_t first;
    size_t count; /* waiting */
    bool busy;    /* one is running */
    bool stopping;
    bool started; /* submitter's */
    pthread_t thread;
};

struct background *background_new(void)
{
    struct background *background = heap_calloc(1, sizeof *background);
    pthread_mutex_init(&background->lock, NULL);
    pthread_cond_init(&background->changed, NULL);
    return background;
}

static void *background_main(void *arg)
{
    struct background *background = arg;
    pthread_mutex_lock(&background->lock);
    while (!background->stopping || background->count > 0) {
        if (background->count == 0) {
            pthread_cond_wait(&background->changed, &background->lock);
            continue;
        }
        struct background_job job = background->jobs[background->first];
        background->first = (background->first + 1) % BACKGROUND_JOBS_MAX;
        background->count--;
        background->busy = true;
        pthread_mutex_unlock(&background->lock);
        job.fn(job.arg);
        pthread_mutex_lock(&background->lock);
        background->busy = false;
        pthread_cond_broadcast(&background->changed);
    }
    pthread_mutex_unlock(&background->lock);
    return NULL;
}

bool background_submit(struct background *background, background_fn *fn, void *arg)
{
    CHECK(background != NULL && fn != NULL);
    if (!background->started) {
        if (pthread_create(&background->thread, NULL, background_main, background) != 0)
            return false;
        background->started = true;
    }
    pthread_mutex_lock(&background->lock);
    bool room = background->count < BACKGROUND_JOBS_MAX;
    if (room) {
        size_t at = (background->first + background->count) % BACKGROUND_JOBS_MAX;
        background->jobs[at] = (struct background_job){.fn = fn, .arg = arg};
        background->count++;
        pthread_cond_broadcast(&background->changed);
    }
    pthread_mutex_unlock(&background->lock);
    return room;
}

void background_wait(struct background *background)
{
    pthread_mutex_lock(&background->lock);
    while (background->count > 0 || background->busy)
        pthread_cond_wait(&background->changed, &background->lock);
    pthread_mutex_unlock(&background->lock);
}

void background_free(struct background *background)
{
    if (background == NULL)
        return;
    pthread_mutex_lock(&background->lock);
    background->stopping = true;
    pthread_cond_broadcast(&background->changed);
    pthread_mutex_unlock(&background->lock);
    if (background->started)
        pthread_join(background->thread, NULL);
    pthread_cond_destroy(&background->changed);
    pthread_mutex_destroy(&background->lock);
    free(background);
}
