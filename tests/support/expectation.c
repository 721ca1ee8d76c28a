/* What `expect` records compare. */
#include "base/check.h"
#include "base/vfs_posix.h"
#include "cell_text.h"
#include "checkpoint/inspect.h"
#include "json_rows.h"
#include "parquet_rows.h"
#include "play.h"
#include "worker/state_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#define FILE_BYTES_MAX ((size_t)1 << 26)

struct lines {
    char **items;
    size_t count, capacity;
};

static void lines_add(struct lines *lines, const char *text)
{
    if (lines->count == lines->capacity) {
        lines->capacity = lines->capacity * 2 + 16;
        lines->items = realloc(lines->items, lines->capacity * sizeof(*lines->items));
        CHECK(lines->items != NULL);
    }
    lines->items[lines->count++] = strdup(text);
}

static void lines_fini(struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        free(lines->items[i]);
    free(lines->items);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void lines_sort(struct lines *lines)
{
    if (lines->count > 1)
        qsort(lines->items, lines->count, sizeof(*lines->items), by_text);
}

static bool is_none(const struct scn_record *record)
{
    return record->body_count == 1 && strcmp(record->body[0], "(none)") == 0;
}

/* Compares and, if they differ, reports missing and extra lines. */
static bool compare(struct player *player, const struct scn_record *record, struct lines *want,
                    struct lines *got, bool ordered, struct buffer *out)
{
    if (!ordered) {
        lines_sort(want);
        lines_sort(got);
    }
    for (size_t i = 0; i < got->count; i++)
        buffer_printf(out, "%s\n", got->items[i]);
    if (got->count == 0)
        buffer_add_text(out, "(none)\n");
    bool equal = want->count == got->count;
    for (size_t i = 0; equal && i < want->count; i++)
        equal = strcmp(want->items[i], got->items[i]) == 0;
    if (equal || player->rewritten != NULL)
        return true;
    play_fail(player, record, "differs");
    size_t w = 0, g = 0;
    while (w < want->count || g < got->count) {
        int order = w == want->count  ? 1
                    : g == got->count ? -1
                                      : strcmp(want->items[w], got->items[g]);
        if (order == 0) {
            w++, g++;
            continue;
        }
        if (order < 0 || ordered)
            if (w < want->count)
                buffer_printf(player->report, "  missing   %s\n", want->items[w++]);
        if (order > 0 || ordered)
            if (g < got->count)
                buffer_printf(player->report, "  extra     %s\n", got->items[g++]);
    }
    return false;
}

static bool broken(struct player *player, const struct scn_record *record, const struct error *err)
{
    play_fail(player, record, err->text);
    return false;
}

/* ---- rows of a sink ---- */

static void add_batch(struct lines *got, const struct collected_batch *batch, bool with_id)
{
    struct buffer line = {0};
    for (size_t i = 0; i < batch->row_count; i++) {
        buffer_clear(&line);
        if (with_id)
            buffer_printf(&line, "%lld  ", (long long)batch->batch_id);
        buffer_add_text(&line, batch->rows[i]);
        lines_add(got, buffer_text(&line));
    }
    buffer_fini(&line);
}

static void rows_of(struct player *player, struct world_sink *sink, const struct scn_record *record,
                    struct lines *got)
{
    bool all = scn_has_word(record, "all"), with_id = scn_has_word(record, "batches");
    const struct collected *collected = &sink->collected;
    bool complete = player->world->current != NULL &&
                    strcasecmp(player->world->current->mode, "complete") == 0 && !with_id;
    for (size_t i = 0; i < collected->count; i++) {
        const struct collected_batch *batch = &collected->batches[i];
        bool last = i + 1 == collected->count;
        if (complete ? last : all || batch->batch_id > sink->seen)
            add_batch(got, batch, with_id);
    }
    if (collected->count > 0)
        sink->seen = collected->batches[collected->count - 1].batch_id;
}

/* The expected rows in canonical form; a batch id in front stays as it is. */
static bool wanted_rows(struct player *player, const struct scn_record *record,
                        const struct type *schema, struct lines *want)
{
    struct error err = ERROR_INIT;
    struct buffer text = {0};
    bool with_id = scn_has_word(record, "batches");
    bool good = true;
    for (size_t i = 0; good && i < record->body_count && !is_none(record); i++) {
        const char *row = record->body[i];
        buffer_clear(&text);
        if (with_id) {
            row += strspn(row, " ");
            size_t id = strcspn(row, " ");
            buffer_printf(&text, "%.*s  ", (int)id, row);
            row += id;
        }
        good = cell_add_expected(&text, player->world->arena, schema, row, &err) == OK;
        lines_add(want, buffer_text(&text));
    }
    buffer_fini(&text);
    return good ? true : broken(player, record, &err);
}

/* ---- rows of a file sink ---- */

struct file_rows {
    struct batch_receiver receiver; /* first */
    struct lines *got;
};

static enum status add_file_rows(struct batch_receiver *self, const struct batch *batch,
                                 struct error *err)
{
    struct file_rows *rows = (struct file_rows *)self;
    struct buffer line = {0};
    enum status status = OK;
    for (uint32_t i = 0; i < batch->selected && status == OK; i++) {
        buffer_clear(&line);
        status = cell_add_row(&line, batch, batch_row(batch, i), err);
        lines_add(rows->got, buffer_text(&line));
    }
    buffer_fini(&line);
    return status;
}

struct sink_walk {
    struct player *player;
    struct world_sink *sink;
    struct lines *got;
    bool all;
    struct error *err;
};

static bool was_seen(const struct world_sink *sink, const char *path)
{
    for (size_t i = 0; i < sink->file_count; i++) {
        if (strcmp(sink->files_seen[i], path) == 0)
            return true;
    }
    return false;
}

static void note_seen(struct world *world, struct world_sink *sink, const char *path)
{
    const char **grown = arena_new_object(world->arena, (sink->file_count + 1) * sizeof(*grown));
    if (sink->file_count > 0)
        memcpy(grown, sink->files_seen, sink->file_count * sizeof(*grown));
    grown[sink->file_count++] = arena_strdup(world->arena, path);
    sink->files_seen = grown;
}

/* A line of plain CSV, or of text, as a record: nothing is quoted, empty is null. */
static void add_plain_line(struct buffer *out, const struct type *schema, struct bytes line)
{
    size_t at = 0;
    buffer_add_byte(out, '{');
    for (uint32_t i = 0; i < schema->field_count; i++) {
        bool is_last = i + 1 == schema->field_count;
        size_t size = 0;
        while (at + size < line.size_bytes && (is_last || line.data[at + size] != ','))
            size++;
        struct bytes cell = bytes_of(line.data + at, size);
        at += size + 1;
        if (size == 0)
            continue;
        buffer_add_text(out, out->data[out->size_bytes - 1] == '{' ? "" : ",");
        buffer_add_json_string(out, bytes_of_text(schema->fields[i].name));
        buffer_add_byte(out, ':');
        if (schema->fields[i].type->id == TYPE_STRING)
            buffer_add_json_string(out, cell);
        else
            buffer_add_bytes(out, cell);
    }
    buffer_add_text(out, "}\n");
}

static struct bytes json_of_plain(struct arena *arena, const struct type *schema, struct bytes text)
{
    struct buffer out = {0};
    for (size_t at = 0; at < text.size_bytes;) {
        const uint8_t *end = memchr(text.data + at, '\n', text.size_bytes - at);
        size_t size = end == NULL ? text.size_bytes - at : (size_t)(end - text.data) - at;
        add_plain_line(&out, schema, bytes_of(text.data + at, size));
        at += size + 1;
    }
    struct bytes copy = arena_copy(arena, buffer_bytes(&out));
    buffer_fini(&out);
    return copy;
}

static struct bytes json_of_parquet(struct sink_walk *walk, struct bytes file)
{
    struct buffer out = {0};
    struct arena *arena = walk->player->world->arena;
    if (!parquet_rows_json(walk->sink->schema, file, &out, NULL))
        (void)error_raise(walk->err, STATUS_FAILED_READ_FILE__NO_HINT, "path", walk->sink->dir,
                          NULL);
    struct bytes copy = arena_copy(arena, buffer_bytes(&out));
    buffer_fini(&out);
    return copy;
}

static void on_sink_file(void *arg, const char *path, const struct vfs_stat *stat)
{
    struct sink_walk *walk = arg;
    struct world *world = walk->player->world;
    const char *name = strrchr(path, '/') + 1;
    bool seen = was_seen(walk->sink, path);
    if (stat->kind != VFS_FILE || name[0] == '.' || strstr(path, "/_") != NULL ||
        (seen && !walk->all) || walk->err->status != OK)
        return;
    if (!seen)
        note_seen(world, walk->sink, path);
    struct bytes text;
    struct file_rows rows = {.receiver = {.receive = add_file_rows}, .got = walk->got};
    if (vfs_get(world_disk(world), world_path(world, path), FILE_BYTES_MAX, world->arena, &text,
                walk->err) != OK ||
        text.size_bytes == 0)
        return;
    if (parquet_rows_is_file(text))
        text = json_of_parquet(walk, text);
    else if (walk->sink->other_format)
        text = json_of_plain(world->arena, walk->sink->schema, text);
    if (walk->err->status == OK)
        (void)(json_rows_read(world->arena, walk->sink->schema, text, &rows.receiver, walk->err) ==
               OK);
}

static bool file_sink_rows(struct player *player, struct world_sink *sink,
                           const struct scn_record *record, struct lines *got)
{
    struct error err = ERROR_INIT;
    struct sink_walk walk = {.player = player,
                             .sink = sink,
                             .got = got,
                             .all = scn_has_word(record, "all"),
                             .err = &err};
    if (sink->schema != NULL)
        world_walk(player->world, sink->dir, on_sink_file, &walk);
    return err.status == OK ? true : broken(player, record, &err);
}

static bool expect_sink(struct player *player, const struct scn_record *record, struct buffer *out)
{
    struct world_sink *sink = world_sink(player->world, record->words[0]);
    static const struct type no_columns = {.id = TYPE_STRUCT};
    if (sink == NULL) {
        play_fail(player, record, "there is no such sink");
        return false;
    }
    struct lines want = {0}, got = {0};
    const struct type *schema = sink->schema == NULL ? &no_columns : sink->schema;
    bool holds = true;
    if (sink->dir != NULL)
        holds = file_sink_rows(player, sink, record, &got);
    else
        rows_of(player, sink, record, &got);
    holds = holds && wanted_rows(player, record, schema, &want) &&
            compare(player, record, &want, &got, scn_has_word(record, "ordered"), out);
    lines_fini(&want);
    lines_fini(&got);
    return holds;
}

/* ---- key value lines ---- */

/* The member at a dotted path, NULL if there is none. */
static json_t *resolve(json_t *document, const char *path)
{
    json_t *at = document;
    while (at != NULL && *path != '\0') {
        size_t size = strcspn(path, ".");
        char key[128];
        if (size >= sizeof(key))
            return NULL;
        memcpy(key, path, size);
        key[size] = '\0';
        at = json_is_array(at) ? json_array_get(at, strtoul(key, NULL, 10))
                               : json_object_get(at, key);
        path += size + (path[size] == '.' ? 1 : 0);
        if (at == NULL && strchr(path, '.') != NULL)
            return NULL;
    }
    return at;
}

static void add_value(struct buffer *out, const json_t *value)
{
    int64_t time_us;
    if (value == NULL) {
        buffer_add_text(out, "(absent)");
    } else if (json_is_null(value)) {
        buffer_add_text(out, "NULL");
    } else if (json_is_string(value)) {
        const char *text = json_string_value(value);
        size_t size = strlen(text);
        bool time = size >= 20 && text[4] == '-' && text[10] == 'T' && text[size - 1] == 'Z';
        if (time && cell_read_timestamp(text, &time_us))
            cell_add_timestamp(out, time_us);
        else
            cell_add_text(out, bytes_of_text(text));
    } else if (json_is_real(value)) {
        buffer_printf(out, "%.17g", json_real_value(value));
    } else {
        char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        buffer_add_text(out, text);
        free(text);
    }
}

/* The names inside an object, sorted and joined by commas. */
static void add_names(struct buffer *out, json_t *object)
{
    struct lines names = {0};
    const char *key;
    json_t *member;
    json_object_foreach(object, key, member)
    {
        lines_add(&names, key);
    }
    lines_sort(&names);
    for (size_t i = 0; i < names.count; i++)
        buffer_printf(out, "%s%s", i > 0 ? "," : "", names.items[i]);
    lines_fini(&names);
}

/* numRowsDroppedByWatermark without a path: the sum over the operators. */
static void add_dropped(struct buffer *out, json_t *document)
{
    json_t *operators = json_object_get(document, "stateOperators");
    json_int_t sum = 0;
    for (size_t i = 0; i < json_array_size(operators); i++)
        sum += json_integer_value(
            json_object_get(json_array_get(operators, i), "numRowsDroppedByWatermark"));
    buffer_printf(out, "%lld", (long long)sum);
}

static void add_progress_value(struct buffer *out, json_t *document, const char *key)
{
    size_t size = strlen(key);
    char path[256];
    (void)snprintf(path, sizeof(path), "%s", key);
    if (strcmp(key, "watermark") == 0)
        (void)snprintf(path, sizeof(path), "eventTime.watermark");
    if (document == NULL) {
        buffer_add_text(out, "NULL");
    } else if (strcmp(key, "numRowsDroppedByWatermark") == 0) {
        add_dropped(out, document);
    } else if (strcmp(key, "*") == 0) {
        add_names(out, document);
    } else if (size > 2 && size < sizeof(path) && strcmp(key + size - 2, ".*") == 0) {
        path[size - 2] = '\0';
        json_t *value = resolve(document, path);
        if (json_is_object(value))
            add_names(out, value);
        else
            add_value(out, value);
    } else {
        add_value(out, resolve(document, path));
    }
}

/* One number of a key's value in the canonical form of add_value. */
static void add_wanted_value(struct buffer *out, const char *text)
{
    json_t *value = NULL;
    if (*text == '"' || *text == '{' || *text == '[')
        value = json_loads(text, JSON_DECODE_ANY, NULL);
    bool number = value == NULL && strpbrk(text, ".eE") != NULL &&
                  strspn(text, "0123456789.-+eE") == strlen(text) && *text != '+' && *text != '-';
    if (number)
        buffer_printf(out, "%.17g", strtod(text, NULL));
    else if (value != NULL)
        add_value(out, value);
    else
        buffer_add_text(out, text);
    json_decref(value);
}

static json_t *document_at(const struct world *world, long index)
{
    long count = (long)world->progress_count;
    long at = index < 0 ? count + index : index;
    if (at < 0 || at >= count)
        return NULL;
    return json_loads(world->progress[at], 0, NULL);
}

/* Splits "key   value" of a body line. */
static void split_line(const char *line, char *key, size_t key_size, const char **value)
{
    line += strspn(line, " ");
    size_t size = strcspn(line, " ");
    (void)snprintf(key, key_size, "%.*s", (int)size, line);
    *value = line + size + strspn(line + size, " ");
}

static void add_progress_line(struct world *world, const char *key, struct lines *got)
{
    struct buffer line = {0};
    long index = -1;
    const char *path = key;
    if (*key == '[') {
        char *end;
        index = strtol(key + 1, &end, 10);
        path = *end == ']' && end[1] == '.' ? end + 2 : key;
    }
    json_t *document = document_at(world, index);
    buffer_printf(&line, "%s  ", key);
    add_progress_value(&line, document, path);
    lines_add(got, buffer_text(&line));
    json_decref(document);
    buffer_fini(&line);
}

static void add_wanted_line(const char *key, const char *value, struct lines *want)
{
    struct buffer line = {0};
    buffer_printf(&line, "%s  ", key);
    add_wanted_value(&line, value);
    size_t size = line.size_bytes;
    while (size > 0 && line.data[size - 1] == ' ')
        size--;
    line.size_bytes = size;
    lines_add(want, buffer_text(&line));
    buffer_fini(&line);
}

static bool expect_progress(struct player *player, const struct scn_record *record,
                            struct buffer *out)
{
    struct lines want = {0}, got = {0};
    for (size_t i = 0; i < record->body_count; i++) {
        char key[256];
        const char *value;
        split_line(record->body[i], key, sizeof(key), &value);
        add_wanted_line(key, value, &want);
        add_progress_line(player->world, key, &got);
        char **last = &got.items[got.count - 1];
        const char *absent = strstr(*last, "  (absent)");
        if (absent != NULL && strcmp(value, "NULL") == 0) /* what is not there is no value */
            (void)snprintf(*last + (absent - *last), sizeof("  (absent)"), "  NULL");
    }
    bool holds = compare(player, record, &want, &got, true, out);
    lines_fini(&want);
    lines_fini(&got);
    return holds;
}

static bool expect_schema(struct player *player, const struct scn_record *record,
                          struct buffer *out)
{
    struct lines want = {0}, got = {0};
    const char *text = player->world->schema_text == NULL ? "" : player->world->schema_text;
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");
        char *line = strndup(text, size);
        lines_add(&got, line);
        free(line);
        text += size + 1;
    }
    for (size_t i = 0; i < record->body_count; i++) {
        char key[256];
        const char *value;
        split_line(record->body[i], key, sizeof(key), &value);
        struct buffer line = {0};
        buffer_printf(&line, "%s  %s", key, value);
        lines_add(&want, buffer_text(&line));
        buffer_fini(&line);
    }
    bool holds = compare(player, record, &want, &got, true, out);
    lines_fini(&want);
    lines_fini(&got);
    return holds;
}

/* ---- the plan, the status, the log ---- */

static bool expect_plan(struct player *player, const struct scn_record *record, struct buffer *out)
{
    struct lines want = {0}, got = {0};
    const char *text = player->world->plan_text == NULL ? "" : player->world->plan_text;
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");
        char *line = strndup(text, size);
        lines_add(&got, line);
        free(line);
        text += size + (text[size] == '\n' ? 1 : 0);
    }
    for (size_t i = 0; i < record->body_count; i++)
        lines_add(&want, record->body[i]);
    bool holds = compare(player, record, &want, &got, true, out);
    lines_fini(&want);
    lines_fini(&got);
    return holds;
}

/* The named keys of a document against the body. */
static bool expect_document(struct player *player, const struct scn_record *record,
                            json_t *document, struct buffer *out)
{
    struct lines want = {0}, got = {0};
    for (size_t i = 0; i < record->body_count; i++) {
        char key[256];
        const char *value;
        split_line(record->body[i], key, sizeof(key), &value);
        add_wanted_line(key, value, &want);
        struct buffer line = {0};
        buffer_printf(&line, "%s  ", key);
        add_value(&line, document == NULL ? NULL : resolve(document, key));
        lines_add(&got, buffer_text(&line));
        buffer_fini(&line);
    }
    bool holds = compare(player, record, &want, &got, true, out);
    lines_fini(&want);
    lines_fini(&got);
    return holds;
}

static bool expect_status(struct player *player, const struct scn_record *record,
                          struct buffer *out)
{
    const char *text = player->world->status_json;
    json_t *document = text == NULL ? NULL : json_loads(text, 0, NULL);
    bool holds = expect_document(player, record, document, out);
    json_decref(document);
    return holds;
}

/* Whether every named key of the line has the wanted value. */
static bool line_matches(json_t *document, const struct scn_record *record)
{
    bool matches = document != NULL;
    for (size_t i = 0; matches && i < record->body_count; i++) {
        char key[256];
        const char *value;
        struct buffer want = {0}, got = {0};
        split_line(record->body[i], key, sizeof(key), &value);
        add_wanted_value(&want, value);
        add_value(&got, resolve(document, key));
        matches = strcmp(buffer_text(&want), buffer_text(&got)) == 0;
        buffer_fini(&want);
        buffer_fini(&got);
    }
    return matches;
}

/* Some line of the log has all the named keys. */
static bool expect_log(struct player *player, const struct scn_record *record, struct buffer *out)
{
    struct error err = ERROR_INIT;
    struct bytes text;
    bool found = false;
    if (vfs_get(vfs_posix(), player->world->log_path, FILE_BYTES_MAX, player->world->arena, &text,
                &err) != OK)
        return broken(player, record, &err);
    for (size_t at = 0; at < text.size_bytes && !found;) {
        const uint8_t *end = memchr(text.data + at, '\n', text.size_bytes - at);
        size_t size = end == NULL ? text.size_bytes - at : (size_t)(end - (text.data + at));
        json_t *document = json_loadb((const char *)text.data + at, size, 0, NULL);
        found = line_matches(document, record);
        json_decref(document);
        at += size + 1;
    }
    for (size_t i = 0; i < record->body_count; i++)
        buffer_printf(out, "%s\n", record->body[i]);
    if (!found)
        play_fail(player, record, "no line of the log says so");
    return found;
}

/* ---- files ---- */

struct walk {
    struct lines *lines;
    const char *dir;
};

static void on_file(void *arg, const char *path, const struct vfs_stat *stat)
{
    struct walk *walk = arg;
    if (stat->kind != VFS_FILE)
        return;
    struct buffer name = {0};
    const char *rest = path + strlen(walk->dir);
    cell_add_text(&name, bytes_of_text(rest + strspn(rest, "/")));
    lines_add(walk->lines, buffer_text(&name));
    buffer_fini(&name);
}

static bool expect_files(struct player *player, const struct scn_record *record, const char *dir,
                         struct buffer *out)
{
    struct lines want = {0}, got = {0};
    struct walk walk = {&got, dir};
    world_walk(player->world, dir, on_file, &walk);
    for (size_t i = 0; i < record->body_count && !is_none(record); i++)
        lines_add(&want, record->body[i] + strspn(record->body[i], " "));
    bool holds = compare(player, record, &want, &got, false, out);
    lines_fini(&want);
    lines_fini(&got);
    return holds;
}

/* ---- the checkpoint ---- */

/* The checkpoint of the current query as a document, read from the disk. */
static json_t *checkpoint_document(struct world *world, struct error *err)
{
    struct buffer text = {0};
    const char *dir = arena_sprintf(world->arena, "/checkpoints/%s",
                                    world->current == NULL ? "" : world->current->name);
    json_t *document = NULL;
    if (checkpoint_show(world_disk(world), world_path(world, dir), CHECKPOINT_JSON, &text, err) ==
        OK)
        document = json_loads(buffer_text(&text), 0, NULL);
    buffer_fini(&text);
    return document;
}

static bool expect_checkpoint(struct player *player, const struct scn_record *record,
                              struct buffer *out)
{
    struct lines want = {0}, got = {0};
    struct error err = ERROR_INIT;
    json_t *document = checkpoint_document(player->world, &err);
    if (document == NULL)
        return broken(player, record, &err);
    for (size_t i = 0; i < record->body_count; i++) {
        char key[256];
        const char *value;
        split_line(record->body[i], key, sizeof(key), &value);
        add_wanted_line(key, value, &want);
        struct buffer line = {0};
        buffer_printf(&line, "%s  ", key);
        add_value(&line, json_object_get(document, key));
        lines_add(&got, buffer_text(&line));
        buffer_fini(&line);
    }
    json_decref(document);
    bool holds = compare(player, record, &want, &got, true, out);
    lines_fini(&want);
    lines_fini(&got);
    return holds;
}

/* ---- the state ---- */

struct forked_view {
    struct error err;
    char text[1 << 20];
};

/* RocksDB has threads, which a process that forks must not have: it is loaded by a copy. */
static json_t *forked_view(const struct query_config *config,
                           const struct state_view_request *request, struct error *err)
{
    struct forked_view *view =
        mmap(NULL, sizeof *view, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(view != MAP_FAILED);
    int how = 0;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        struct error failed = ERROR_INIT;
        struct buffer text = {0};
        (void)(state_view_make(config, request, &text, &failed) == OK);
        CHECK(text.size_bytes < sizeof view->text);
        memcpy(view->text, buffer_text(&text), text.size_bytes);
        view->err = failed;
        _exit(0);
    }
    CHECK(waitpid(pid, &how, 0) == pid);
    *err = view->err;
    json_t *document = json_loads(view->text, 0, NULL);
    (void)munmap(view, sizeof *view);
    if (how != 0)
        (void)error_set(err, STATUS_INTERNAL_ERROR, "looking at the state has ended with %d", how);
    return document;
}

/* The state of the current query: of one operator its rows, of all their counts.  NULL: an error.
 */
static json_t *state_document(struct world *world, int64_t operator_id, int64_t batch_id,
                              struct error *err)
{
    const struct query_config config = {
        .vfs = world_disk(world),
        .clock = world->clock,
        .spec_json = bytes_of_text(world_spec(world, RUN_IDLE)),
        .default_checkpoint_dir = world_path(world, "/checkpoints"),
        .parallelism = 1,
        .state_store = world->root == NULL ? STATE_STORE_MEMORY : STATE_STORE_ROCKSDB,
        .find_sink = sink_collect_find,
    };
    const struct state_view_request request = {
        .operator_id = operator_id, .batch_id = batch_id, .limit = 1000};
    struct buffer text = {0};
    json_t *document = NULL;
    if (world->root != NULL)
        return forked_view(&config, &request, err);
    if (state_view_make(&config, &request, &text, err) == OK)
        document = json_loads(buffer_text(&text), 0, NULL);
    buffer_fini(&text);
    return document;
}

/* "operator name  {row}"; which partition a row is in is nobody's business. */
static void add_state_line(struct lines *lines, const char *head, size_t head_size, json_t *row)
{
    struct buffer line = {0};
    (void)json_object_del(row, "partition");
    char *text = json_dumps(row, JSON_COMPACT | JSON_PRESERVE_ORDER);
    buffer_printf(&line, "%.*s  %s", (int)head_size, head, text == NULL ? "" : text);
    lines_add(lines, buffer_text(&line));
    buffer_fini(&line);
    free(text);
}

static void wanted_state(const struct scn_record *record, struct lines *want)
{
    for (size_t i = 0; i < record->body_count; i++) {
        const char *line = record->body[i];
        size_t head = strcspn(line, "{");
        json_t *row = json_loads(line + head, 0, NULL);
        while (head > 0 && line[head - 1] == ' ')
            head--;
        if (row != NULL)
            add_state_line(want, line, head, row);
        else if (strcmp(line, "(none)") != 0)
            lines_add(want, line);
        json_decref(row);
    }
}

/* expect state [batch=N]: what all operators keep, in the version after that batch. */
static bool expect_state(struct player *player, const struct scn_record *record, struct buffer *out)
{
    struct lines want = {0}, got = {0};
    struct error err = ERROR_INIT;
    const char *batch = scn_pair(record, "batch");
    int64_t batch_id = batch == NULL ? STATE_VIEW_NEWEST : strtoll(batch, NULL, 10);
    json_t *all = state_document(player->world, STATE_VIEW_ALL, batch_id, &err), *one, *row;
    size_t i, k;
    json_array_foreach(json_object_get(all, "operators"), i, one)
    {
        int64_t id = json_integer_value(json_object_get(one, "operatorId"));
        char head[128];
        (void)snprintf(head, sizeof head, "%lld %s", (long long)id,
                       json_string_value(json_object_get(one, "name")));
        json_t *rows = state_document(player->world, id, batch_id, &err);
        json_array_foreach(json_object_get(rows, "rows"), k, row)
            add_state_line(&got, head, strlen(head), row);
        json_decref(rows);
    }
    json_decref(all);
    if (err.status != OK)
        return broken(player, record, &err);
    wanted_state(record, &want);
    bool holds = compare(player, record, &want, &got, false, out);
    lines_fini(&want);
    lines_fini(&got);
    return holds;
}

bool expectation_holds(struct player *player, const struct scn_record *record, struct buffer *out)
{
    const char *what = record->words[0];
    if (strcmp(what, "progress") == 0)
        return expect_progress(player, record, out);
    if (strcmp(what, "schema") == 0)
        return expect_schema(player, record, out);
    if (strcmp(what, "plan") == 0)
        return expect_plan(player, record, out);
    if (strcmp(what, "status") == 0)
        return expect_status(player, record, out);
    if (strcmp(what, "log") == 0)
        return expect_log(player, record, out);
    if (strcmp(what, "archive") == 0)
        return expect_files(player, record, "/archive", out);
    if (strcmp(what, "checkpoint") == 0)
        return expect_checkpoint(player, record, out);
    if (strcmp(what, "state") == 0)
        return expect_state(player, record, out);
    if (strcmp(what, "files") == 0 && record->word_count == 2) {
        const struct world_relation *relation = world_relation(player->world, record->words[1]);
        if (relation != NULL && relation->dir != NULL)
            return expect_files(player, record, relation->dir, out);
        play_fail(player, record, "there is no such file source");
        return false;
    }
    return expect_sink(player, record, out);
}
