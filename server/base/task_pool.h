/*
 * A pool of threads that runs the tasks of one stage and waits for all of them: the only code of
 * the engine that starts or synchronises threads.
 *
 * A pool of `parallelism` has parallelism - 1 threads of its own, started by the first run that
 * can use them; the calling thread takes part as worker 0.  A pool of 1 runs everything inline.
 * Threads: one thread at a time calls task_pool_run.
 */
#ifndef SERVER_BASE_TASK_POOL_H
#define SERVER_BASE_TASK_POOL_H

#include "base/error.h"

#include <stdint.h>

struct task_pool;

/* One task: index in [0, count), worker in [0, parallelism): which thread's scratch to use. */
typedef enum status task_fn(void *arg, uint32_t index, uint32_t worker, struct error *err);

struct task_pool *task_pool_new(uint32_t parallelism);
void task_pool_free(struct task_pool *pool); /* NULL is fine; not during a run */
uint32_t task_pool_parallelism(const struct task_pool *pool);

/*
 * Runs fn for every index below count, in any order, each once; returns when all have ended.  Each
 * thread takes tasks next to each other, from a place of its own on, before it takes over what
 * others have not begun: what neighbouring tasks have in common, as the groups of about the same
 * time, then comes together in one thread.  The error of the failing task with the lowest index is
 * returned; after an error only tasks with a lower index are started.  What the tasks wrote is
 * visible to the caller afterwards.
 */
MUST_USE enum status task_pool_run(struct task_pool *pool, uint32_t count, task_fn *fn, void *arg,
                                   struct error *err);

/*
 * One thread of its own for background work (snapshots, archiving of files): runs jobs in order.
 * background_submit never blocks; the queue holds at most BACKGROUND_JOBS_MAX jobs and refuses
 * more (false).  background_wait returns when everything submitted so far has ended.
 * Threads: one thread submits and waits.
 */
#define BACKGROUND_JOBS_MAX 64

struct background;
typedef void background_fn(void *arg);

struct background *background_new(void);             /* the thread starts with the first job */
void background_free(struct background *background); /* waits for the jobs; NULL is fine */
bool background_submit(struct background *background, background_fn *fn, void *arg);
void background_wait(struct background *background);

#endif
