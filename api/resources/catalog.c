/*
 * What this build is and knows: version and limits, the contract, connectors, error conditions.
 */
#include "api/api.h"
#include "api/contract.h"
#include "api/resources/resources.h"
#include "base/json_writer.h"
#include "control/reports.h"

static void put_limits(struct json_writer *json, const struct config *config)
{
    static const struct {
        const char *name;
        enum setting setting;
    } limits[] = {
        {"maxBodyBytes", SETTING_maxBodyBytes},
        {"maxHeaderBytes", SETTING_maxHeaderBytes},
        {"maxConnections", SETTING_maxConnections},
        {"maxQueries", SETTING_maxQueries},
        {"maxRunningQueries", SETTING_maxRunningQueries},
    };
    json_begin_object(json, "limits");
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        json_put_int(json, limits[i].name, (int64_t)config_number(config, limits[i].setting));
    json_put_int(json, "maxSqlBytes", SPEC_SQL_BYTES_MAX);
    json_end_object(json);
}

static enum status no_arguments(const struct request *request, struct error *err)
{
    static const char *const arguments[] = {NULL};
    return request_check_arguments(request, arguments, err);
}

enum status get_version(struct request *request, struct response *response, struct error *err)
{
    TRY(no_arguments(request, err));
    struct json_writer json = json_writer_to(&response->body);
    json_begin_object(&json, NULL);
    json_put_text(&json, "name", "tidemill");
    json_put_text(&json, "version", TIDEMILL_VERSION);
    json_put_text(&json, "semantics", "Apache Spark 4.3 Structured Streaming");
    json_put_text(&json, "apiVersion", "v1");
    json_put_time(&json, "startedAt", request->api->started_us);
    put_limits(&json, control_config(request->api->control));
    json_end_object(&json);
    return OK;
}

enum status get_contract(struct request *request, struct response *response, struct error *err)
{
    TRY(no_arguments(request, err));
    buffer_add(&response->body, contract_text, contract_size);
    response->content_type = "application/yaml";
    return OK;
}

enum status list_connectors(struct request *request, struct response *response, struct error *err)
{
    TRY(no_arguments(request, err));
    buffer_add_text(&response->body, "{\"connectors\":");
    report_connectors(&response->body);
    buffer_add_text(&response->body, "}");
    return OK;
}

static void put_condition(struct json_writer *json, enum status status)
{
    static const char *const domains[] = {"none", "user", "external", "internal"};
    json_begin_object(json, NULL);
    json_put_text(json, "condition", status_name(status));
    const char *state = status_sqlstate(status);
    json_put_text(json, "sqlState", *state == '\0' ? NULL : state);
    json_put_text(json, "domain", domains[status_domain(status)]);
    json_put_bool(json, "retryable", status_retryable(status));
    json_put_int(json, "status", status_http(status));
    json_put_text(json, "message", status_template(status));
    json_begin_array(json, "parameters");
    for (const char *at = status_params(status); *at != '\0';) {
        size_t size = 0;
        while (at[size] != '\0' && at[size] != ',')
            size++;
        json_put_bytes(json, NULL, bytes_of(at, size));
        at += size + (at[size] == ',');
    }
    json_end_array(json);
    json_end_object(json);
}

enum status list_conditions(struct request *request, struct response *response, struct error *err)
{
    TRY(no_arguments(request, err));
    struct json_writer json = json_writer_to(&response->body);
    json_begin_object(&json, NULL);
    json_begin_array(&json, "conditions");
    for (int i = 1; i < STATUS_COUNT_; i++)
        put_condition(&json, (enum status)i);
    json_end_array(&json);
    json_end_object(&json);
    return OK;
}

enum status get_condition(struct request *request, struct response *response, struct error *err)
{
    TRY(no_arguments(request, err));
    enum status status = status_find(request->param[0]);
    if (status == OK)
        return error_raise(err, STATUS_CONDITION_NOT_FOUND, "condition", request->param[0], NULL);
    struct json_writer json = json_writer_to(&response->body);
    put_condition(&json, status);
    return OK;
}
