/*
 * The handlers of the API, one file per resource, named as in the contract.  What each does is
 * said in openapi.yaml under its operationId, which api/routes.c joins to it.
 *
 * Threads: HTTP threads.
 */
#ifndef API_RESOURCES_RESOURCES_H
#define API_RESOURCES_RESOURCES_H

#include "api/http/request.h"

#define HANDLER(name)                                                                              \
    MUST_USE enum status name(struct request *request, struct response *response, struct error *err)

/* health.c */
HANDLER(get_liveness);
HANDLER(get_readiness);
HANDLER(get_metrics);
/* catalog.c */
HANDLER(get_version);
HANDLER(get_contract);
HANDLER(list_connectors);
HANDLER(list_conditions);
HANDLER(get_condition);
/* validate.c */
HANDLER(validate_query);
/* queries.c */
HANDLER(create_query);
HANDLER(list_queries);
HANDLER(get_query);
HANDLER(put_query);
HANDLER(delete_query);
/* query_actions.c */
HANDLER(start_query);
HANDLER(stop_query);
HANDLER(restart_query);
HANDLER(trigger_query);
HANDLER(process_all_available);
HANDLER(await_termination);
/* one file each */
HANDLER(get_status);
HANDLER(get_progress);
HANDLER(list_batches);
HANDLER(get_batch);
HANDLER(list_runs);
HANDLER(get_plan);
HANDLER(get_checkpoint);
HANDLER(verify_checkpoint);
HANDLER(get_results);
HANDLER(get_state);
HANDLER(get_operator_state);
HANDLER(rewind_query);

#undef HANDLER

#endif
