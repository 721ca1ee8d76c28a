#include "json_rows.h"

#include "format/format.h"

static enum status read_all(const struct format_ops *format, struct record_reader *records,
                            struct arena *arena, struct batch_receiver *receiver, struct error *err)
{
    for (;;) {
        struct batch *batch = NULL;
        TRY(format->next(records, arena, &batch, err));
        if (batch == NULL)
            return OK;
        TRY(batch_receive(receiver, batch, err));
    }
}

enum status json_rows_read(struct arena *arena, const struct type *schema, struct bytes text,
                           struct batch_receiver *receiver, struct error *err)
{
    static const struct option strict[] = {{"mode", "FAILFAST"}};
    const struct format_ops *format = format_find("json");
    struct options options = {.items = strict, .count = 1, .pointer = ""};
    uint32_t *columns = arena_new_object(arena, (schema->field_count + 1) * sizeof(*columns));
    for (uint32_t i = 0; i < schema->field_count; i++)
        columns[i] = i;
    struct format_config config = {
        .options = &options,
        .schema = schema,
        .columns = columns,
        .column_count = schema->field_count,
        .time_zone = "UTC",
        .ansi = true,
    };
    struct format_split split = {
        .path = "rows", .end = text.size_bytes, .file_size_bytes = text.size_bytes};
    struct format_reader *reader;
    struct record_reader *records;
    TRY(format->reader_new(arena, &config, &reader, err));
    TRY(format->open(reader, byte_stream_memory(text), &split, &records, err));
    enum status status = read_all(format, records, arena, receiver, err);
    format->close(records);
    return status;
}
