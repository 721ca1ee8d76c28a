/*
 * What the engine can say without running a query, for the control plane, which links no engine.
 */
#include "base/clock.h"
#include "main.h"
#include "worker/start_plan.h"
#include "worker/state_view.h"

static struct query_config config_of(const struct engine_query *query)
{
    return (struct query_config){
        .vfs = query->vfs,
        .clock = query->clock,
        .spec_json = query->spec_json,
        .default_checkpoint_dir = query->checkpoint,
        .parallelism = 1,
        .state_store = STATE_STORE_ROCKSDB,
    };
}

static enum status engine_start_plan(const struct engine_query *query, struct buffer *out,
                                     struct error *err)
{
    const struct query_config config = config_of(query);
    return start_plan_make(&config, out, err);
}

static enum status engine_state(const struct engine_query *query,
                                const struct engine_state_request *request, struct buffer *out,
                                struct error *err)
{
    const struct query_config config = config_of(query);
    const struct state_view_request view = {
        .operator_id = request->operator_id,
        .batch_id = request->batch_id,
        .limit = request->limit,
        .key = request->key,
    };
    return state_view_make(&config, &view, out, err);
}

const struct engine engine = {.start_plan = engine_start_plan, .state = engine_state};
