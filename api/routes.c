/*
 * The table of contents of the API: method, path, operationId of openapi.yaml, handler.
 */
#include "api/http/router.h"
#include "api/resources/resources.h"

/* clang-format off */
const struct route routes[] = {
    {METHOD_GET,    "/livez",                                "getLiveness",          get_liveness,          SCOPE_NONE,    BODY_NONE},
    {METHOD_GET,    "/readyz",                               "getReadiness",         get_readiness,         SCOPE_NONE,    BODY_NONE},
    {METHOD_GET,    "/metrics",                              "getMetrics",           get_metrics,           SCOPE_READ,    BODY_NONE},
    {METHOD_GET,    "/v1/version",                           "getVersion",           get_version,           SCOPE_READ,    BODY_NONE},
    {METHOD_GET,    "/v1/openapi.yaml",                      "getContract",          get_contract,          SCOPE_READ,    BODY_NONE},
    {METHOD_GET,    "/v1/connectors",                        "listConnectors",       list_connectors,       SCOPE_READ,    BODY_NONE},
    {METHOD_GET,    "/v1/error-conditions",                  "listErrorConditions",  list_conditions,       SCOPE_READ,    BODY_NONE},
    {METHOD_GET,    "/v1/error-conditions/{c}",              "getErrorCondition",    get_condition,         SCOPE_READ,    BODY_NONE},
    {METHOD_POST,   "/v1/validate",                          "validateQuery",        validate_query,        SCOPE_READ,    BODY_JSON},
    {METHOD_POST,   "/v1/queries",                           "createQuery",          create_query,          SCOPE_WRITE,   BODY_JSON},
    {METHOD_GET,    "/v1/queries",                           "listQueries",          list_queries,          SCOPE_READ,    BODY_NONE},
    {METHOD_GET,    "/v1/queries/{q}",                       "getQuery",             get_query,             SCOPE_READ,    BODY_NONE},
    {METHOD_PUT,    "/v1/queries/{q}",                       "putQuery",             put_query,             SCOPE_WRITE,   BODY_JSON},
    {METHOD_DELETE, "/v1/queries/{q}",                       "deleteQuery",          delete_query,          SCOPE_WRITE,   BODY_NONE},
    {METHOD_POST,   "/v1/queries/{q}/start",                 "startQuery",           start_query,           SCOPE_OPERATE, BODY_OPTIONAL},
    {METHOD_POST,   "/v1/queries/{q}/stop",                  "stopQuery",            stop_query,            SCOPE_OPERATE, BODY_OPTIONAL},
    {METHOD_POST,   "/v1/queries/{q}/restart",               "restartQuery",         restart_query,         SCOPE_OPERATE, BODY_OPTIONAL},
    {METHOD_POST,   "/v1/queries/{q}/trigger",               "triggerQuery",         trigger_query,         SCOPE_OPERATE, BODY_OPTIONAL},
    {METHOD_POST,   "/v1/queries/{q}/processAllAvailable",   "processAllAvailable",  process_all_available, SCOPE_OPERATE, BODY_OPTIONAL},
    {METHOD_POST,   "/v1/queries/{q}/awaitTermination",      "awaitTermination",     await_termination,     SCOPE_READ,    BODY_OPTIONAL},
    {METHOD_GET,    "/v1/queries/{q}/status",                "getStatus",            get_status,            SCOPE_READ,    BODY_NONE},
    {METHOD_GET,    "/v1/queries/{q}/progress",              "getProgress",          get_progress,          SCOPE_READ,    BODY_NONE},
    {METHOD_GET,    "/v1/queries/{q}/batches",               "listBatches",          list_batches,          SCOPE_READ,    BODY_NONE},
    {METHOD_GET,    "/v1/queries/{q}/batches/{id}",          "getBatch",             get_batch,             SCOPE_READ,    BODY_NONE},
    {METHOD_GET,    "/v1/queries/{q}/runs",                  "listRuns",             list_runs,             SCOPE_READ,    BODY_NONE},
    {METHOD_GET,    "/v1/queries/{q}/plan",                  "getPlan",              get_plan,              SCOPE_READ,    BODY_NONE},
    {METHOD_GET,    "/v1/queries/{q}/checkpoint",            "getCheckpoint",        get_checkpoint,        SCOPE_READ,    BODY_NONE},
    {METHOD_POST,   "/v1/queries/{q}/checkpoint/verify",     "verifyCheckpoint",     verify_checkpoint,     SCOPE_READ,    BODY_OPTIONAL},
    {METHOD_POST,   "/v1/queries/{q}/rewind",                "rewindQuery",          rewind_query,          SCOPE_OPERATE, BODY_JSON},
    {METHOD_GET,    "/v1/queries/{q}/state",                 "getState",             get_state,             SCOPE_READ,    BODY_NONE},
    {METHOD_GET,    "/v1/queries/{q}/state/{operator}",      "getOperatorState",     get_operator_state,    SCOPE_READ,    BODY_NONE},
    {METHOD_GET,    "/v1/queries/{q}/results",               "getResults",           get_results,           SCOPE_READ,    BODY_NONE},
    {0},
};
/* clang-format on */
