/*
 * See state_view.h.
 */
#include "worker/state_view.h"

#include "base/check.h"
#include "base/json_writer.h"
#include "base/path.h"
#include "exec/state_decode.h"
#include "state/state_store.h"
#include "worker/fingerprint_check.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#define OPERATORS_MAX  64
#define COLUMNS_MAX    1024 /* that a key may be one of */
#define SPEC_BYTES_MAX ((size_t)16 << 20)
#define ATTEMPTS       5 /* the worker may remove what is being read */

/* An operator with state, and what was counted of it. */
struct viewed {
    const struct plan_node *node;
    uint64_t entries;
    uint64_t bytes;
};

struct view {
    struct state_entry_receiver receiver;
    struct query *query;
    const struct state_view_request *request;
    int64_t operator_id; /* STATE_VIEW_ALL: all are counted */
    int64_t version;
    struct viewed operators[OPERATORS_MAX];
    uint32_t operator_count;
    struct state_decoder *decoder; /* of the one that is asked for; NULL: all are counted */
    struct buffer rows, row;
    uint64_t row_count;
    bool truncated;
};

/* The changelog as the store wants to be fed. */
struct feed {
    struct state_feed base;
    struct checkpoint *checkpoint;
};

struct passing {
    struct state_receiver base;
    struct state_record_receiver *to;
};

static enum status pass_on(struct state_receiver *self, struct bytes record, struct error *err)
{
    struct passing *passing = (struct passing *)self;
    return passing->to->receive(passing->to, record, err);
}

static enum status replay(struct state_feed *self, int64_t from, int64_t to,
                          struct state_record_receiver *receiver, struct error *err)
{
    struct feed *feed = (struct feed *)self;
    struct passing passing = {.base = {.receive = pass_on}, .to = receiver};
    return checkpoint_replay_state(feed->checkpoint, from, to, &passing.base, err);
}

/* In the order of their numbers, which is that of the plan. */
static void find_operators(struct view *view, const struct plan_node *node)
{
    const struct exec_node_ops *ops = stateful_is_boundary(node) ? stateful_of(node) : NULL;
    if (ops != NULL && ops->stateful != NULL && ops->stateful->name != NULL &&
        node->operator_id >= 0 && view->operator_count < OPERATORS_MAX)
        view->operators[view->operator_count++] = (struct viewed){.node = node};
    for (uint32_t i = 0; i < node->child_count; i++)
        find_operators(view, node->children[i]);
}

static struct viewed *find(struct view *view, int64_t operator_id)
{
    for (uint32_t i = 0; i < view->operator_count; i++)
        if (view->operators[i].node->operator_id == operator_id)
            return &view->operators[i];
    return NULL;
}

/* Whether the row has "name":value or "name":"value" of the request's key. */
static bool row_matches(const struct view *view, const char *row)
{
    const char *key = view->request->key;
    const char *equals = key == NULL ? NULL : strchr(key, '=');
    struct buffer text = {0}, quoted = {0};
    if (equals == NULL)
        return true;
    buffer_add_json_string(&quoted, bytes_of(key, (size_t)(equals - key)));
    buffer_add_text(&quoted, ":");
    buffer_add_bytes(&text, buffer_bytes(&quoted));
    buffer_add_text(&text, equals + 1);
    buffer_add_json_string(&quoted, bytes_of_text(equals + 1));
    bool found = false;
    const char *const forms[] = {buffer_text(&text), buffer_text(&quoted)};
    for (size_t i = 0; i < 2 && !found; i++) {
        const char *at = strstr(row, forms[i]);
        char after = at == NULL ? ' ' : at[strlen(forms[i])];
        found = after == ',' || after == '}';
    }
    buffer_fini(&text);
    buffer_fini(&quoted);
    return found;
}

static enum status take_rows(struct view *view, const struct state_store_entry *entry,
                             struct error *err)
{
    uint32_t rows = 0;
    const struct state_decoder_entry it = {
        .partition = entry->partition,
        .bucket = entry->bucket,
        .key = entry->key,
        .value = entry->value,
    };
    buffer_clear(&view->row);
    TRY(state_decoder_print(view->decoder, &it, &view->row, &rows, err));
    if (rows == 0 || !row_matches(view, buffer_text(&view->row)))
        return OK;
    if (view->row_count + rows > view->request->limit) {
        view->truncated = true;
        return OK;
    }
    if (view->row_count > 0)
        buffer_add_text(&view->rows, ",");
    buffer_add_bytes(&view->rows, buffer_bytes(&view->row));
    view->row_count += rows;
    return OK;
}

static enum status take_entry(struct state_entry_receiver *self,
                              const struct state_store_entry *entry, struct error *err)
{
    struct view *view = (struct view *)self;
    struct viewed *of = find(view, entry->operator_id);
    if (of == NULL)
        return OK;
    of->entries++;
    of->bytes += entry->key.size_bytes + entry->value.size_bytes;
    if (view->decoder == NULL || of->node->operator_id != view->operator_id || view->truncated)
        return OK;
    return take_rows(view, entry, err);
}

static enum status refuse(const struct view *view, enum status status, int64_t oldest,
                          struct error *err)
{
    char batch[24], first[24];
    const char *name = view->query->name;
    if (name == NULL)
        name = checkpoint_dir(view->query->checkpoint);
    (void)snprintf(batch, sizeof batch, "%" PRId64, view->version);
    (void)snprintf(first, sizeof first, "%" PRId64, oldest);
    if (status == STATUS_BATCH_EXPIRED)
        return error_raise(err, status, "query", name, "batchId", batch, "oldest", first, NULL);
    return error_raise(err, status, "query", name, "batchId", batch, NULL);
}

static enum status scan_version(struct view *view, struct error *err)
{
    struct query *query = view->query;
    struct feed feed = {.base = {.replay = replay}, .checkpoint = query->checkpoint};
    struct state_store *store = NULL;
    const struct state_store_config config = {
        .kind = query->config.state_store,
        .vfs = query->config.vfs,
        .dir = path_join(query->arena, checkpoint_dir(query->checkpoint), "state"),
        .feed = &feed.base,
        .version = view->version,
        .first_batch = checkpoint_first_batch(query->checkpoint),
        .versions_kept = 1,
        .read_only = true,
    };
    enum status status = state_store_open(&config, &store, err);
    if (status == STATUS_CHECKPOINT__CORRUPT && view->request->batch_id != STATE_VIEW_NEWEST &&
        config.first_batch > 0) {
        error_clear(err);
        return refuse(view, STATUS_BATCH_EXPIRED, config.first_batch, err);
    }
    if (status == OK)
        status = state_store_scan_all(store, &view->receiver, err);
    state_store_close(store);
    return status;
}

/* Which version is meant, and whether there is one. */
static enum status choose_version(struct view *view, struct error *err)
{
    struct recovery_facts facts;
    int64_t first = checkpoint_first_batch(view->query->checkpoint);
    checkpoint_facts(view->query->checkpoint, &facts);
    view->version = view->request->batch_id;
    if (view->version == STATE_VIEW_NEWEST)
        view->version = facts.last_commit;
    if (view->version > facts.last_commit)
        return refuse(view, STATUS_BATCH_NOT_FOUND, first, err);
    if (view->version < first - 1)
        return refuse(view, STATUS_BATCH_EXPIRED, first, err);
    return OK;
}

static void put_operators(struct view *view, struct json_writer *json)
{
    json_begin_array(json, "operators");
    for (uint32_t i = 0; i < view->operator_count; i++) {
        const struct viewed *it = &view->operators[i];
        struct error ignored = ERROR_INIT;
        struct state_decoder *decoder = NULL;
        json_begin_object(json, NULL);
        json_put_int(json, "operatorId", it->node->operator_id);
        json_put_text(json, "kind", plan_kind_name(it->node->kind));
        json_put_text(json, "name", stateful_of(it->node)->stateful->name);
        json_put_int(json, "entries", (int64_t)it->entries);
        json_put_int(json, "bytes", (int64_t)it->bytes);
        buffer_clear(&view->row);
        if (state_decoder_new(view->query->arena, it->node, view->query->time_zone, &decoder,
                              &ignored) == OK)
            state_decoder_columns(decoder, &view->row);
        else
            buffer_add_text(&view->row, "[]");
        json_put_raw(json, "columns", buffer_bytes(&view->row));
        state_decoder_free(decoder);
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_view(struct view *view, struct buffer *out)
{
    struct json_writer json = json_writer_to(out);
    json_begin_object(&json, NULL);
    if (view->version == NO_BATCH)
        json_put_null(&json, "batchId");
    else
        json_put_int(&json, "batchId", view->version);
    if (view->decoder == NULL) {
        put_operators(view, &json);
    } else {
        const struct viewed *it = find(view, view->operator_id);
        json_put_int(&json, "operatorId", it->node->operator_id);
        json_put_text(&json, "kind", plan_kind_name(it->node->kind));
        json_put_int(&json, "entries", (int64_t)it->entries);
        buffer_clear(&view->row);
        state_decoder_columns(view->decoder, &view->row);
        json_put_raw(&json, "columns", buffer_bytes(&view->row));
        buffer_clear(&view->row);
        buffer_add_text(&view->row, "[");
        buffer_add_bytes(&view->row, buffer_bytes(&view->rows));
        buffer_add_text(&view->row, "]");
        json_put_raw(&json, "rows", buffer_bytes(&view->row));
        json_put_bool(&json, "truncated", view->truncated);
    }
    json_end_object(&json);
}

/* "0 (Aggregate), 1 (Dedup)" or "none". */
static const char *list_operators(const struct view *view)
{
    const char *list = "none";
    for (uint32_t i = 0; i < view->operator_count; i++)
        list = arena_sprintf(view->query->arena, "%s%s%d (%s)", i > 0 ? list : "",
                             i > 0 ? ", " : "", (int)view->operators[i].node->operator_id,
                             plan_kind_name(view->operators[i].node->kind));
    return list;
}

static enum status no_operator(const struct view *view, struct error *err)
{
    char number[24];
    (void)snprintf(number, sizeof number, "%lld", (long long)view->operator_id);
    (void)error_raise(err, STATUS_ROUTE_NOT_FOUND, "path", number, NULL);
    (void)snprintf(err->text, sizeof err->text,
                   "There is no operator %s with state. The query has %.500s", number,
                   list_operators(view));
    return err->status;
}

/* A key alone is one of the only operator. */
static enum status choose_operator(struct view *view, struct error *err)
{
    const struct state_view_request *request = view->request;
    view->operator_id = request->operator_id;
    if (request->key == NULL || request->operator_id != STATE_VIEW_ALL)
        return OK;
    if (view->operator_count == 1) {
        view->operator_id = view->operators[0].node->operator_id;
        return OK;
    }
    return error_raise(
        err, STATUS_INVALID_PARAMETER, "parameter", "key", "value", request->key, "expected",
        arena_sprintf(view->query->arena, "an operator, too, and those with state are %.500s",
                      list_operators(view)),
        NULL);
}

/* The column of "column=value" is one of the rows'. */
static enum status check_key(struct view *view, struct error *err)
{
    const char *key = view->request->key;
    const char *names[COLUMNS_MAX];
    size_t count = 0, index = 0;
    json_t *column;
    if (key == NULL)
        return OK;
    const char *written = arena_strndup(view->query->arena, key, strcspn(key, "="));
    buffer_clear(&view->row);
    state_decoder_columns(view->decoder, &view->row);
    json_t *columns = json_loadb((const char *)view->row.data, view->row.size_bytes, 0, NULL);
    bool known = false;
    struct buffer list = {0};
    json_array_foreach(columns, index, column)
    {
        const char *name = json_string_value(json_object_get(column, "name"));
        if (name == NULL || count == COLUMNS_MAX)
            continue;
        known = known || strcmp(name, written) == 0;
        const char *role = json_string_value(json_object_get(column, "role"));
        if (role != NULL && strcmp(role, "time") == 0)
            continue; /* when it goes: nobody looks for it */
        buffer_printf(&list, "%s%s", count > 0 ? ", " : "", name);
        names[count++] = name;
    }
    if (!known) {
        const char *nearest = nearest_name(written, names, count);
        (void)error_raise(
            err, STATUS_INVALID_PARAMETER, "parameter", "key", "value", key, "expected",
            arena_sprintf(view->query->arena, "column=value, and the columns are %s%s%s%s",
                          buffer_text(&list), nearest == NULL ? "" : ". Did you mean ",
                          nearest == NULL ? "" : nearest, nearest == NULL ? "" : "?"),
            NULL);
    }
    buffer_fini(&list);
    json_decref(columns);
    return known ? OK : err->status;
}

/* The plan that the state is of.  Where the query was changed so that its state would be read as
 * something else: that of the query that ran last. */
static enum status make_plan(struct query *query, struct error *err)
{
    struct error ignored = ERROR_INIT;
    TRY(query_make_plan(query, err));
    TRY(query_open_checkpoint(query, true, err));
    TRY(query_pin_plan(query, err));
    if (fingerprint_check(query, err) == OK)
        return OK;
    const char *path = path_join(query->arena, checkpoint_dir(query->checkpoint), "spec.json");
    bool found = vfs_get(query->config.vfs, path, SPEC_BYTES_MAX, query->arena,
                         &query->config.spec_json, &ignored) == OK &&
                 query_make_plan(query, &ignored) == OK && query_pin_plan(query, &ignored) == OK &&
                 fingerprint_check(query, &ignored) == OK;
    if (!found)
        return err->status;
    error_clear(err);
    return OK;
}

static enum status look(struct view *view, struct buffer *out, struct error *err)
{
    struct query *query = view->query;
    TRY(make_plan(query, err));
    find_operators(view, query->plan->root);
    TRY(choose_operator(view, err));
    if (view->operator_id != STATE_VIEW_ALL) {
        const struct viewed *it = find(view, view->operator_id);
        if (it == NULL)
            return no_operator(view, err);
        TRY(state_decoder_new(query->arena, it->node, query->time_zone, &view->decoder, err));
        TRY(check_key(view, err));
    }
    TRY(choose_version(view, err));
    if (view->version != NO_BATCH && view->operator_count > 0)
        TRY(scan_version(view, err));
    put_view(view, out);
    return OK;
}

static enum status attempt(const struct query_config *config,
                           const struct state_view_request *request, struct buffer *out,
                           struct error *err)
{
    struct arena *arena = arena_new("state view", 0);
    struct query *query = arena_new_object(arena, sizeof *query);
    struct view *view = arena_new_object(arena, sizeof *view);
    view->receiver.receive = take_entry;
    view->query = query;
    view->request = request;
    query->arena = arena;
    query->config = *config;
    query->config.observer = NULL;
    if (query->config.find_source == NULL)
        query->config.find_source = source_find;
    if (query->config.find_sink == NULL)
        query->config.find_sink = sink_find;
    uuid_random_text(query->run_id);
    enum status status = look(view, out, err);
    state_decoder_free(view->decoder);
    buffer_fini(&view->rows);
    buffer_fini(&view->row);
    checkpoint_close(query->checkpoint);
    arena_free(arena);
    return status;
}

enum status state_view_make(const struct query_config *config,
                            const struct state_view_request *request, struct buffer *out,
                            struct error *err)
{
    CHECK(config->default_checkpoint_dir != NULL);
    enum status status = STATUS_FILE_NOT_FOUND;
    for (int i = 0; i < ATTEMPTS && status == STATUS_FILE_NOT_FOUND; i++) {
        error_clear(err);
        status = attempt(config, request, out, err);
    }
    return status;
}
