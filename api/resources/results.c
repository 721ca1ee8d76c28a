#include "api/api.h"
#include "api/resources/query_view.h"
#include "api/resources/resources.h"

#define LIMIT_DEFAULT   1000
#define LIMIT_MAX       100000
#define READ_TIMEOUT_US 30000000

/* The rows as an array, each line being one JSON object. */
static void put_rows(struct buffer *out, struct bytes lines)
{
    buffer_add_text(out, "{\"rows\":[");
    bool first = true;
    while (lines.size_bytes > 0) {
        const uint8_t *end = memchr(lines.data, '\n', lines.size_bytes);
        size_t size = end == NULL ? lines.size_bytes : (size_t)(end - lines.data);
        if (size > 0) {
            if (!first)
                buffer_add_byte(out, ',');
            buffer_add(out, lines.data, size);
            first = false;
        }
        size_t step = end == NULL ? size : size + 1;
        lines = bytes_of(lines.data + step, lines.size_bytes - step);
    }
    buffer_add_text(out, "]}");
}

/* The last `limit` lines: a run that has ended left all it could. */
static struct bytes last_lines(struct bytes lines, int64_t limit)
{
    size_t at = lines.size_bytes;
    int64_t found = 0;
    while (at > 0) {
        if (lines.data[at - 1] == '\n' && at != lines.size_bytes && ++found == limit)
            break;
        at--;
    }
    return bytes_of(lines.data + at, lines.size_bytes - at);
}

static enum status choose_form(const struct request *request, bool *lines, struct error *err)
{
    const char *accept = request->accept == NULL ? "*/*" : request->accept;
    *lines = strstr(accept, "application/x-ndjson") != NULL;
    if (*lines || strstr(accept, "*/*") != NULL || strstr(accept, "application/json") != NULL ||
        strstr(accept, "application/*") != NULL)
        return OK;
    return error_raise(err, STATUS_NOT_ACCEPTABLE, "accept", accept, "possible",
                       "application/json, application/x-ndjson", NULL);
}

enum status get_results(struct request *request, struct response *response, struct error *err)
{
    static const char *const arguments[] = {"limit", NULL};
    int64_t limit = LIMIT_DEFAULT;
    bool as_lines = false;
    TRY(request_check_arguments(request, arguments, err));
    TRY(request_int(request, "limit", 1, LIMIT_MAX, &limit, err));
    TRY(choose_form(request, &as_lines, err));
    struct command *command = NULL;
    if (!request_has_command(request)) {
        command = command_new(COMMAND_RESULTS, request->param[0]);
        command->limit = limit;
    }
    const struct command *result = NULL;
    TRY(request_command(request, command, READ_TIMEOUT_US, "the worker's answer", &result, err));
    if (result == NULL)
        return OK;
    struct bytes rows = last_lines(buffer_bytes(&result->output), limit);
    if (as_lines) {
        buffer_add_bytes(&response->body, rows);
        response->content_type = "application/x-ndjson";
    } else {
        put_rows(&response->body, rows);
    }
    return OK;
}
