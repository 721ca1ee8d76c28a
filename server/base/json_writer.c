#include "base/json_writer.h"

#include "base/clock.h"

static void begin_value(struct json_writer *json, const char *key)
{
    if (json->comma)
        buffer_add_byte(json->out, ',');
    json->comma = true;
    if (key != NULL) {
        buffer_add_json_string(json->out, bytes_of_text(key));
        buffer_add_byte(json->out, ':');
    }
}

void json_begin_object(struct json_writer *json, const char *key)
{
    begin_value(json, key);
    buffer_add_byte(json->out, '{');
    json->comma = false;
}

void json_end_object(struct json_writer *json)
{
    buffer_add_byte(json->out, '}');
    json->comma = true;
}

void json_begin_array(struct json_writer *json, const char *key)
{
    begin_value(json, key);
    buffer_add_byte(json->out, '[');
    json->comma = false;
}

void json_end_array(struct json_writer *json)
{
    buffer_add_byte(json->out, ']');
    json->comma = true;
}

void json_put_text(struct json_writer *json, const char *key, const char *value)
{
    if (value == NULL)
        json_put_null(json, key);
    else
        json_put_bytes(json, key, bytes_of_text(value));
}

void json_put_bytes(struct json_writer *json, const char *key, struct bytes value)
{
    begin_value(json, key);
    buffer_add_json_string(json->out, value);
}

void json_put_int(struct json_writer *json, const char *key, int64_t value)
{
    begin_value(json, key);
    buffer_printf(json->out, "%lld", (long long)value);
}

void json_put_bool(struct json_writer *json, const char *key, bool value)
{
    begin_value(json, key);
    buffer_add_text(json->out, value ? "true" : "false");
}

void json_put_null(struct json_writer *json, const char *key)
{
    begin_value(json, key);
    buffer_add_text(json->out, "null");
}

void json_put_raw(struct json_writer *json, const char *key, struct bytes value)
{
    begin_value(json, key);
    buffer_add_bytes(json->out, value);
}

void json_put_time(struct json_writer *json, const char *key, int64_t time_us)
{
    if (time_us == 0) {
        json_put_null(json, key);
        return;
    }
    char text[CLOCK_ISO_SIZE];
    clock_format_iso(time_us, text);
    json_put_text(json, key, text);
}
