#include "sink/row_json.h"

#include "base/check.h"
#include "format/format.h"

struct row_json {
    struct arena *arena;
    const struct format_ops *format;
    struct record_writer *writer;
};

enum status row_json_new(const struct type *schema, const char *time_zone, struct row_json **out,
                         struct error *err)
{
    static const struct option keep_nulls = {"ignoreNullFields", "false"};
    struct arena *arena = arena_new("results", 0);
    struct options options = {.items = &keep_nulls, .count = 1};
    const struct format_config config = {
        .options = &options, .schema = schema, .time_zone = time_zone};
    struct row_json *json = arena_new_object(arena, sizeof *json);
    struct format_writer *writer = NULL;
    *json = (struct row_json){.arena = arena, .format = format_find("json")};
    CHECK(json->format != NULL);
    enum status status = json->format->writer_new(arena, &config, &writer, err);
    if (status == OK)
        status = json->format->write_open(writer, &json->writer, err);
    if (status == OK)
        *out = json;
    else
        row_json_free(json);
    return status;
}

void row_json_free(struct row_json *json)
{
    if (json == NULL)
        return;
    if (json->writer != NULL)
        json->format->write_close(json->writer);
    arena_free(json->arena);
}

enum status row_json_add(struct row_json *json, const struct batch *batch, struct buffer *out,
                         struct error *err)
{
    return json->format->write(json->writer, batch, out, err);
}
