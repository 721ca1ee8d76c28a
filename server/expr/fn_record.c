/* Cells of JSON and CSV records. */
#include "expr/fn_record.h"

#include "base/check.h"
#include "columnar/datetime_pattern.h"
#include "columnar/interval_text.h"
#include "columnar/timestamp_text.h"
#include "expr/fn_support.h"

/* ---- numbers ---- */

bool record_add_integer(int64_t value, struct cell_builder *out)
{
    int8_t tiny = (int8_t)value;
    int16_t small = (int16_t)value;
    int32_t plain = (int32_t)value;
    switch ((int)out->type->id) {
    case TYPE_BYTE:
        if (tiny == value)
            cell_builder_add(out, &tiny, sizeof(tiny));
        return tiny == value;
    case TYPE_SHORT:
        if (small == value)
            cell_builder_add(out, &small, sizeof(small));
        return small == value;
    case TYPE_INT:
        if (plain == value)
            cell_builder_add(out, &plain, sizeof(plain));
        return plain == value;
    default:
        cell_builder_add(out, &value, sizeof(value));
        return true;
    }
}

bool record_read_decimal(const struct record_format *format, struct bytes text,
                         struct cell_builder *out)
{
    int128 value;
    if (number_locale_parse_decimal(format->numbers, text, out->type, &value) != TEXT_OK)
        return false;
    cell_builder_add(out, &value, sizeof(value));
    return true;
}

/* ---- times ---- */

static bool read_date(const struct datetime_pattern *pattern, struct bytes text,
                      struct cell_builder *out)
{
    int32_t days;
    if ((pattern != NULL ? datetime_pattern_parse_date(pattern, text, &days)
                         : timestamp_text_parse_date(text, &days)) != TEXT_OK)
        return false;
    cell_builder_add(out, &days, sizeof(days));
    return true;
}

static bool read_timestamp(const struct record_format *format, const struct kernel_call *call,
                           struct bytes text, struct cell_builder *out)
{
    const struct zone *zone = format->zone != NULL ? format->zone : call->ctx->zone;
    struct timestamp_context context = {.zone = zone, .now_us = call->ctx->now_us};
    int64_t us;
    if ((format->timestamp != NULL ? datetime_pattern_parse(format->timestamp, text, zone, &us)
                                   : timestamp_text_parse(text, &context, &us)) != TEXT_OK)
        return false;
    cell_builder_add(out, &us, sizeof(us));
    return true;
}

static bool read_timestamp_ntz(const struct datetime_pattern *pattern, struct bytes text,
                               struct cell_builder *out)
{
    int64_t us;
    if ((pattern != NULL ? datetime_pattern_parse_ntz(pattern, text, false, &us)
                         : timestamp_text_parse_ntz(text, false, &us)) != TEXT_OK)
        return false;
    cell_builder_add(out, &us, sizeof(us));
    return true;
}

static bool read_interval(struct bytes text, struct cell_builder *out)
{
    struct error ignored = ERROR_INIT;
    struct calendar_interval calendar;
    int64_t value;
    if (out->type->id == TYPE_INTERVAL) {
        if (interval_text_parse(text, &calendar, &ignored) != OK)
            return false;
        cell_builder_add(out, &calendar, sizeof(calendar));
        return true;
    }
    if (interval_text_parse_fields(text, out->type, &value, &ignored) != OK)
        return false;
    int32_t months = (int32_t)value;
    if (out->type->id == TYPE_INTERVAL_YM)
        cell_builder_add(out, &months, sizeof(months));
    else
        cell_builder_add(out, &value, sizeof(value));
    return true;
}

bool record_read_time(const struct record_format *format, const struct kernel_call *call,
                      struct bytes text, struct cell_builder *out)
{
    switch ((int)out->type->id) {
    case TYPE_DATE:
        return read_date(format->date, text, out);
    case TYPE_TIMESTAMP:
        return read_timestamp(format, call, text, out);
    case TYPE_TIMESTAMP_NTZ:
        return read_timestamp_ntz(format->timestamp_ntz, text, out);
    default:
        return read_interval(text, out);
    }
}

void record_write_time(const struct record_format *format, const struct zone *zone,
                       const struct vector *vector, uint32_t at, struct buffer *out)
{
    char text[TIMESTAMP_TEXT_MAX];
    enum type_id id = vector->type->id;
    if (id == TYPE_DATE) {
        int32_t days = VECTOR_VALUES(int32_t, vector)[at];
        if (format->date != NULL)
            datetime_pattern_format_date(format->date, out, days);
        else
            buffer_add(out, text, timestamp_text_print_date(text, days));
        return;
    }
    int64_t us = VECTOR_VALUES(int64_t, vector)[at];
    if (id == TYPE_TIMESTAMP && format->timestamp != NULL)
        datetime_pattern_format(format->timestamp, out, us, zone);
    else if (id == TYPE_TIMESTAMP)
        buffer_add(out, text, timestamp_text_print_iso(text, us, zone));
    else if (format->timestamp_ntz != NULL)
        datetime_pattern_format_ntz(format->timestamp_ntz, out, us);
    else
        buffer_add(out, text, timestamp_text_print_iso_ntz(text, us));
}

/* ---- corrupt records ---- */

enum status record_corrupt_field(struct resolve_context *ctx, const struct type *type,
                                 const struct record_format *format, int *out, struct error *err)
{
    *out = -1;
    for (uint32_t i = 0; type->id == TYPE_STRUCT && i < type->field_count; i++) {
        const struct type_field *field = &type->fields[i];
        if (strcmp(field->name, format->corrupt_column) != 0)
            continue;
        if (field->type->id != TYPE_STRING)
            return error_raise(err, STATUS_INVALID_CORRUPT_RECORD_TYPE, "columnName",
                               arena_sprintf(ctx->arena, "`%s`", field->name), "actualType",
                               function_sql_type(ctx->arena, field->type), NULL);
        *out = (int)i;
    }
    return OK;
}

void record_set_corrupt(struct cell_builder *field, bool bad, struct bytes record)
{
    struct bytes *cell = (void *)(field->cells.data + field->cells.size_bytes - sizeof(*cell));
    field->nulls.data[field->count - 1] = !bad;
    field->has_null = true;
    *cell = bad ? record : bytes_of(NULL, 0);
}
