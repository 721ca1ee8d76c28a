/* Cases that are bounded runs: expressions, aggregates, queries, readers. */
#include "base/check.h"
#include "base/utf8.h"
#include "cell_text.h"
#include "columnar/civil.h"
#include "columnar/number_text.h"
#include "columnar/timestamp_text.h"
#include "columnar/value_text.h"
#include "columnar/variant.h"
#include "conformance_case.h"
#include "play.h"
#include "worker/bounded.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- reading the line ---- */

static bool has(const json_t *json, const char *key)
{
    return json_object_get(json, key) != NULL;
}

static const char *text_of(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text == NULL ? "" : text;
}

bool case_read(const char *path, int line, const char *text, struct conformance_case *out)
{
    if (text[strspn(text, " \t")] != '{')
        return false;
    json_error_t problem;
    *out = (struct conformance_case){.path = path, .line = line};
    out->json = json_loads(text, JSON_ALLOW_NUL, &problem);
    if (out->json == NULL)
        return false;
    static const char *const keys[] = {"sql", "agg", "query", "stream"};
    bool input =
        has(out->json, "input") || has(out->json, "inputBase64") || has(out->json, "files");
    if (has(out->json, "format")) {
        out->kind = input ? CASE_READER : CASE_WRITER;
        out->text = text_of(out->json, "name");
        return true;
    }
    for (size_t i = 0; i < 4; i++) {
        if (has(out->json, keys[i])) {
            out->kind = (enum case_kind)i;
            out->text = text_of(out->json, keys[i]);
            return true;
        }
    }
    case_fini(out);
    return false;
}

void case_fini(struct conformance_case *one)
{
    json_decref(one->json);
    one->json = NULL;
}

/* ---- the disk ---- */

void case_disk_init(const struct conformance_case *one, struct case_disk *disk)
{
    int64_t now_us = SCENARIO_BEGIN_US;
    int32_t today = 0;
    if (has(one->json, "today")) {
        CHECK(timestamp_text_parse_date(bytes_of_text(text_of(one->json, "today")), &today) ==
              TEXT_OK);
        now_us = today * CIVIL_DAY_US + CIVIL_DAY_US / 2;
    }
    disk->clock = clock_manual_new(now_us);
    disk->vfs = vfs_mem_new(disk->clock);
    disk->dirs = 0;
}

void case_disk_fini(struct case_disk *disk)
{
    vfs_mem_free(disk->vfs);
    clock_manual_free(disk->clock);
}

const char *case_disk_dir(struct arena *arena, struct case_disk *disk)
{
    const char *dir = arena_sprintf(arena, "/case/%d", ++disk->dirs);
    vfs_mem_make_dirs(disk->vfs, dir);
    return dir;
}

const char *case_disk_rows(struct arena *arena, struct case_disk *disk, const json_t *rows)
{
    const char *dir = case_disk_dir(arena, disk);
    struct buffer text = {0};
    for (size_t i = 0; i < json_array_size(rows); i++) {
        char *row = json_dumps(json_array_get(rows, i), JSON_COMPACT | JSON_REAL_PRECISION(17));
        buffer_printf(&text, "%s\n", row);
        free(row);
    }
    vfs_mem_write(disk->vfs, arena_sprintf(arena, "%s/a.json", dir), buffer_bytes(&text),
                  SCENARIO_BEGIN_US);
    buffer_fini(&text);
    return dir;
}

/* ---- specs ---- */

json_t *case_relation(const char *format, const char *schema, const char *dir)
{
    json_t *relation = json_object(), *options = json_object();
    (void)json_object_set_new(relation, "format", json_string(format));
    if (schema != NULL)
        (void)json_object_set_new(relation, "schema", json_string(schema));
    (void)json_object_set_new(options, "path", json_string(dir));
    (void)json_object_set_new(relation, "options", options);
    return relation;
}

static void fail_fast(json_t *relation)
{
    (void)json_object_set_new(json_object_get(relation, "options"), "mode",
                              json_string("FAILFAST"));
}

json_t *case_spec(const struct conformance_case *one, const char *sql)
{
    json_t *spec = json_object(), *conf = json_object();
    (void)json_object_update(conf, json_object_get(one->json, "conf"));
    if (!has(conf, "spark.sql.shuffle.partitions"))
        (void)json_object_set_new(conf, "spark.sql.shuffle.partitions", json_string("1"));
    (void)json_object_set_new(spec, "name", json_string("case"));
    (void)json_object_set_new(spec, "sql", json_string(sql));
    (void)json_object_set_new(spec, "conf", conf);
    (void)json_object_set_new(spec, "tables", json_object());
    return spec;
}

/* ---- running ---- */

struct row_receiver {
    struct batch_receiver receiver; /* first */
    struct arena *arena;
    const struct zone *zone;
    const char ***rows;
    size_t count, capacity;
};

/* How many bytes of an invalid sequence Java's decoder replaces by one U+FFFD. */
static size_t malformed_size(struct bytes text)
{
    uint8_t a = text.data[0];
    size_t left = text.size_bytes;
    uint8_t b = left > 1 ? text.data[1] : 0, c = left > 2 ? text.data[2] : 0;
    bool b_continues = (b & 0xC0) == 0x80, c_continues = (c & 0xC0) == 0x80;
    if (a >= 0xE0 && a <= 0xEF) {
        if ((a == 0xE0 && (b & 0xE0) == 0x80) || !b_continues)
            return 1;
        return left > 2 && c_continues ? 3 : 2; /* 3: a surrogate */
    }
    if (a >= 0xF0 && a <= 0xF4) {
        if ((a == 0xF0 && (b < 0x90 || b > 0xBF)) || (a == 0xF4 && (b & 0xF0) != 0x80) ||
            !b_continues)
            return 1;
        return left > 2 && c_continues ? 3 : 2;
    }
    return 1;
}

/* Text as Java shows it: what is no UTF-8 becomes U+FFFD. */
static void add_decoded(struct buffer *out, struct bytes text)
{
    while (text.size_bytes > 0) {
        size_t size = utf8_sequence_size(text);
        if (size > 0) {
            buffer_add(out, text.data, size);
        } else {
            buffer_add_text(out, "\xEF\xBF\xBD");
            size = malformed_size(text);
        }
        text = bytes_of(text.data + size, text.size_bytes - size);
    }
}

/* As CAST to STRING.  False: NULL. */
static bool add_variant(struct buffer *out, struct bytes cell)
{
    struct variant variant = variant_of_cell(cell);
    struct variant_item item;
    char text[TIMESTAMP_TEXT_MAX];
    variant_read(&variant, &item);
    if (item.kind == VARIANT_STRING || item.kind == VARIANT_BINARY)
        buffer_add_bytes(out, item.text);
    else if (item.kind == VARIANT_DATE)
        buffer_add(out, text, timestamp_text_print_date(text, (int32_t)item.integer));
    else if (item.kind == VARIANT_TIMESTAMP || item.kind == VARIANT_TIMESTAMP_NTZ)
        buffer_add(out, text, timestamp_text_print_ntz(text, item.integer));
    else if (item.kind == VARIANT_DOUBLE)
        buffer_add(out, text, number_print_double(text, item.real));
    else
        variant_print_json(out, &variant, timezone_utc());
    return item.kind != VARIANT_NULL;
}

static const char *cell_text(struct arena *arena, const struct vector *vector, uint32_t row,
                             const struct zone *zone)
{
    if (vector_is_null(vector, row))
        return NULL;
    struct buffer text = {0};
    if (vector->type->id == TYPE_VARIANT) {
        if (!add_variant(&text, VECTOR_VALUES(struct bytes, vector)[vector_index(vector, row)]))
            return NULL;
    } else if (vector->type->id == TYPE_BINARY) {
        struct bytes bytes = VECTOR_VALUES(struct bytes, vector)[vector_index(vector, row)];
        for (size_t i = 0; i < bytes.size_bytes; i++)
            buffer_printf(&text, "%02X", bytes.data[i]);
    } else {
        struct buffer raw = {0};
        value_text_print(&raw, vector, row, zone);
        add_decoded(&text, buffer_bytes(&raw));
        buffer_fini(&raw);
    }
    const char *out =
        arena_strndup(arena, text.data == NULL ? (const uint8_t *)"" : text.data, text.size_bytes);
    buffer_fini(&text);
    return out;
}

static enum status receive(struct batch_receiver *self, const struct batch *batch,
                           struct error *err)
{
    struct row_receiver *receiver = (struct row_receiver *)self;
    (void)err;
    for (uint32_t i = 0; i < batch->selected; i++) {
        uint32_t row = batch_row(batch, i), columns = batch->schema->field_count;
        const char **cells = arena_new_object(receiver->arena, (columns + 1) * sizeof(*cells));
        for (uint32_t c = 0; c < columns; c++)
            cells[c] = cell_text(receiver->arena, batch->columns[c], row, receiver->zone);
        if (receiver->count == receiver->capacity) {
            receiver->capacity = receiver->capacity * 2 + 16;
            const char ***grown =
                arena_new_object(receiver->arena, receiver->capacity * sizeof(*grown));
            if (receiver->count > 0)
                memcpy(grown, receiver->rows, receiver->count * sizeof(*grown));
            receiver->rows = grown;
        }
        receiver->rows[receiver->count++] = cells;
    }
    return OK;
}

static void read_columns(struct arena *arena, const struct type *schema, struct case_answer *out)
{
    out->columns = arena_new_object(arena, (schema->field_count + 1) * sizeof(*out->columns));
    out->column_count = schema->field_count;
    for (uint32_t i = 0; i < schema->field_count; i++) {
        out->columns[i].name = arena_strdup(arena, schema->fields[i].name);
        out->columns[i].type = type_name(arena, schema->fields[i].type);
    }
}

void case_run_bounded(struct arena *arena, struct case_disk *disk, const json_t *spec,
                      struct batch_receiver *receiver, struct case_answer *out)
{
    char *text = json_dumps(spec, JSON_COMPACT);
    struct bounded_config config = {
        .spec_json = bytes_of_text(text), .vfs = disk->vfs, .clock = disk->clock};
    struct bounded_run *run = NULL;
    struct row_receiver rows = {.receiver = {.receive = receive}, .arena = arena};
    uint64_t input_rows = 0;
    enum status status = bounded_open(&config, &run, &out->err);
    if (status == OK) {
        read_columns(arena, bounded_schema(run), out);
        const char *zone = bounded_plan(run)->time_zone;
        rows.zone = timezone_lookup(bytes_of_text(zone == NULL ? "UTC" : zone));
        if (rows.zone == NULL)
            rows.zone = timezone_utc();
        status = bounded_execute(run, receiver == NULL ? &rows.receiver : receiver, &input_rows,
                                 &out->err);
    }
    CHECK(status == out->err.status);
    bounded_close(run);
    free(text);
    out->rows = rows.rows;
    out->row_count = rows.count;
}

static void answer_expression(struct arena *arena, const struct conformance_case *one,
                              struct case_disk *disk, struct case_answer *out)
{
    bool rows = has(one->json, "schema");
    const char *sql = arena_sprintf(arena, "SELECT %s%s", one->text, rows ? " FROM t" : "");
    json_t *spec = case_spec(one, sql);
    if (rows) {
        json_t *table =
            case_relation("json", text_of(one->json, "schema"),
                          case_disk_rows(arena, disk, json_object_get(one->json, "rows")));
        fail_fast(table);
        (void)json_object_set_new(json_object_get(spec, "tables"), "t", table);
    }
    out->error_sql = sql;
    out->error_shift = 7;
    case_run_bounded(arena, disk, spec, NULL, out);
    json_decref(spec);
}

static void answer_query(struct arena *arena, const struct conformance_case *one,
                         struct case_disk *disk, struct case_answer *out)
{
    json_t *spec = case_spec(one, one->text);
    const char *name;
    json_t *table, *tables = json_object_get(one->json, "tables");
    if (tables == NULL)
        tables = (json_t *)(uintptr_t)one->session;
    json_object_foreach(tables, name, table)
    {
        json_t *relation =
            case_relation("json", text_of(table, "schema"),
                          case_disk_rows(arena, disk, json_object_get(table, "rows")));
        fail_fast(relation);
        (void)json_object_set_new(json_object_get(spec, "tables"), name, relation);
    }
    out->error_sql = one->text;
    case_run_bounded(arena, disk, spec, NULL, out);
    json_decref(spec);
}

/* ---- readers ---- */

static int base64_value(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c == '\0' ? NULL : strchr(digits, c);
    return found == NULL ? -1 : (int)(found - digits);
}

static struct bytes base64_decode(struct arena *arena, const char *text)
{
    uint8_t *data = arena_new_object(arena, strlen(text) + 1);
    size_t size = 0;
    uint32_t bits = 0;
    int count = 0;
    for (; *text != '\0'; text++) {
        int value = base64_value(*text);
        if (value < 0)
            continue;
        bits = bits << 6 | (uint32_t)value;
        count += 6;
        if (count >= 8) {
            count -= 8;
            data[size++] = (uint8_t)(bits >> count);
        }
    }
    return bytes_of(data, size);
}

static void write_inputs(struct arena *arena, const struct conformance_case *one,
                         struct case_disk *disk, const char *dir)
{
    const char *name;
    json_t *content, *files = json_object_get(one->json, "files");
    json_object_foreach(files, name, content)
    {
        vfs_mem_write(disk->vfs, arena_sprintf(arena, "%s/%s", dir, name),
                      bytes_of(json_string_value(content), json_string_length(content)),
                      SCENARIO_BEGIN_US);
    }
    if (files != NULL)
        return;
    const json_t *input = json_object_get(one->json, "input");
    struct bytes data = has(one->json, "inputBase64")
                            ? base64_decode(arena, text_of(one->json, "inputBase64"))
                            : bytes_of(json_string_value(input), json_string_length(input));
    const char *file = has(one->json, "fileName")
                           ? text_of(one->json, "fileName")
                           : arena_sprintf(arena, "a.%s", text_of(one->json, "format"));
    vfs_mem_write(disk->vfs, arena_sprintf(arena, "%s/%s", dir, file), data, SCENARIO_BEGIN_US);
}

static void answer_reader(struct arena *arena, const struct conformance_case *one,
                          struct case_disk *disk, struct case_answer *out)
{
    const char *dir = case_disk_dir(arena, disk);
    json_t *spec = case_spec(one, "SELECT * FROM t");
    json_t *relation =
        case_relation(text_of(one->json, "format"),
                      has(one->json, "schema") ? text_of(one->json, "schema") : NULL, dir);
    write_inputs(arena, one, disk, dir);
    (void)json_object_update(json_object_get(relation, "options"),
                             json_object_get(one->json, "options"));
    (void)json_object_set_new(json_object_get(spec, "tables"), "t", relation);
    out->error_sql = "SELECT * FROM t";
    case_run_bounded(arena, disk, spec, NULL, out);
    json_decref(spec);
}

void case_answer(struct arena *arena, const struct conformance_case *one, struct case_answer *out)
{
    struct case_disk disk;
    *out = (struct case_answer){.err = ERROR_INIT, .error_sql = ""};
    case_disk_init(one, &disk);
    switch (one->kind) {
    case CASE_SQL:
    case CASE_AGG:
        answer_expression(arena, one, &disk, out);
        break;
    case CASE_QUERY:
        answer_query(arena, one, &disk, out);
        break;
    case CASE_STREAM:
        case_answer_stream(arena, one, &disk, out);
        break;
    case CASE_READER:
        answer_reader(arena, one, &disk, out);
        break;
    case CASE_WRITER:
        case_answer_writer(arena, one, &disk, out);
        break;
    }
    case_disk_fini(&disk);
}
