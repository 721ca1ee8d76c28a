/*
 * See fingerprint_check.h.
 *
 * The fingerprint is a text that says what it covers (plan/fingerprint.h), so two of them can be
 * compared part by part and the answer can be Spark's: sources by position; operators with state by
 * number and kind; then their keys and values.  Spark looks at types alone and reads the state of
 * another key of the same type as if it were its own; here a changed name or function is refused,
 * too.
 */
#include "worker/fingerprint_check.h"

#include "base/check.h"
#include "columnar/interval_text.h"
#include "plan/fingerprint.h"
#include "plan/state_inputs.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const file_formats[] = {"json", "csv", "text", "parquet", "avro"};

static bool is_file_format(const char *format)
{
    for (size_t i = 0; i < sizeof file_formats / sizeof file_formats[0]; i++)
        if (strcmp(format, file_formats[i]) == 0)
            return true;
    return false;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text == NULL ? "" : text;
}

static enum status changed(const struct query *query, struct error *err, const char *fmt, ...)
    PRINTF(3, 4);

static enum status changed(const struct query *query, struct error *err, const char *fmt, ...)
{
    char difference[400];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(difference, sizeof difference, fmt, args);
    va_end(args);
    const char *said =
        arena_sprintf(query->arena, "%s. Use the old query, or a new checkpoint", difference);
    const char *dir = query->checkpoint == NULL ? "" : checkpoint_dir(query->checkpoint);
    return error_raise(err, STATUS_CHECKPOINT__QUERY_CHANGED, "path", dir, "difference", said,
                       NULL);
}

static enum status check_sources(const struct query *query, const json_t *was, const json_t *now,
                                 struct error *err)
{
    size_t count = json_array_size(was);
    if (json_array_size(now) != count)
        return changed(query, err, "it reads %zu sources, the checkpoint counts %zu",
                       json_array_size(now), count);
    for (size_t i = 0; i < count; i++) {
        const json_t *old = json_array_get(was, i);
        const json_t *new_ = json_array_get(now, i);
        if (strcmp(text_of(old, "name"), text_of(new_, "name")) != 0)
            return changed(query, err, "source %zu was %s and would be %s", i, text_of(old, "name"),
                           text_of(new_, "name"));
        const char *from = text_of(old, "format");
        const char *to = text_of(new_, "format");
        if (strcmp(from, to) != 0 && !(is_file_format(from) && is_file_format(to)))
            return changed(query, err, "the format of source %s was %s and would be %s",
                           text_of(old, "name"), from, to);
    }
    return OK;
}

/* "Aggregate, Dedup": what an error says of a list of operators. */
static void add_operators(struct buffer *out, const json_t *operators)
{
    for (size_t i = 0; i < json_array_size(operators); i++) {
        const json_t *one = json_array_get(operators, i);
        buffer_printf(out, "%s%s", i == 0 ? "" : ", ", text_of(one, "kind"));
        if (json_is_true(json_object_get(one, "withinWatermark")))
            buffer_add_text(out, " within watermark");
    }
}

static enum status other_operators(enum status condition, const json_t *was, const json_t *now,
                                   struct error *err)
{
    struct buffer old = {0};
    struct buffer new_ = {0};
    add_operators(&old, was);
    add_operators(&new_, now);
    if (old.size_bytes == 0)
        buffer_add_text(&old, "none");
    if (new_.size_bytes == 0)
        buffer_add_text(&new_, "none");
    if (condition == STATUS_STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY)
        error_raise(err, condition, "OpsInCurBatchSeq", buffer_text(&new_), NULL);
    else
        error_raise(err, condition, "OpsInMetadataSeq", buffer_text(&old), "OpsInCurBatchSeq",
                    buffer_text(&new_), NULL);
    buffer_fini(&old);
    buffer_fini(&new_);
    return err->status;
}

static bool same_operators(const json_t *was, const json_t *now)
{
    if (json_array_size(was) != json_array_size(now))
        return false;
    for (size_t i = 0; i < json_array_size(was); i++) {
        const json_t *old = json_array_get(was, i);
        const json_t *new_ = json_array_get(now, i);
        if (strcmp(text_of(old, "kind"), text_of(new_, "kind")) != 0 ||
            !json_equal(json_object_get(old, "id"), json_object_get(new_, "id")) ||
            json_is_true(json_object_get(old, "withinWatermark")) !=
                json_is_true(json_object_get(new_, "withinWatermark")))
            return false;
    }
    return true;
}

/* ---- one function under several names ---- */

/* What the call at the beginning of an entry is called, whichever of its names was written. */
static const char *main_name(const char *entry, size_t length)
{
    char name[64];
    if (length == 0 || length >= sizeof name)
        return NULL;
    memcpy(name, entry, length);
    name[length] = '\0';
    return state_function_name(name);
}

/* What stands behind the value in "percentile(v, 0.5, 1) double", which is "median(v) double";
 * NULL: the entry is neither. */
static const char *median_end(const char *entry)
{
    if (strncmp(entry, "median(", 7) == 0)
        return strrchr(entry, ')');
    const char *last = strncmp(entry, "percentile(", 11) == 0 ? strrchr(entry, ',') : NULL;
    if (last == NULL || strncmp(last, ", 1) ", 5) != 0)
        return NULL;
    const char *comma = last;
    while (comma > entry && strchr("0123456789.D ", comma[-1]) != NULL)
        comma--;
    comma--;
    char *end = NULL;
    bool half = comma > entry && *comma == ',' && strtod(comma + 1, &end) == 0.5;
    return half && (end == last || (*end == 'D' && end + 1 == last)) ? comma : NULL;
}

static bool same_median(const char *old, const char *new_)
{
    const char *old_end = median_end(old), *new_end = median_end(new_);
    if (old_end == NULL || new_end == NULL)
        return false;
    old += strcspn(old, "(");
    new_ += strcspn(new_, "(");
    return old_end - old == new_end - new_ && memcmp(old, new_, (size_t)(old_end - old)) == 0 &&
           strcmp(strrchr(old_end, ')'), strrchr(new_end, ')')) == 0;
}

/* "mean(v) double" is "avg(v) double". */
static bool same_entry(const char *old, const char *new_)
{
    if (same_median(old, new_))
        return true;
    size_t old_length = strcspn(old, "("), new_length = strcspn(new_, "(");
    const char *was = main_name(old, old_length), *is = main_name(new_, new_length);
    return strcmp(old, new_) == 0 || (was != NULL && is != NULL && strcmp(was, is) == 0 &&
                                      strcmp(old + old_length, new_ + new_length) == 0);
}

/* Lists whose entries are the same. */
static bool same_entries(const json_t *was, const json_t *now)
{
    if (!json_is_array(was) || json_array_size(was) != json_array_size(now))
        return false;
    for (size_t i = 0; i < json_array_size(was); i++) {
        const char *old = json_string_value(json_array_get(was, i));
        const char *new_ = json_string_value(json_array_get(now, i));
        if (old == NULL || new_ == NULL || !same_entry(old, new_))
            return false;
    }
    return true;
}

/* An entry is "name type"; a name may hold blanks, and so may few types: intervals. */
static const char *type_of(const char *entry)
{
    const char *interval = strstr(entry, " interval ");
    if (interval != NULL)
        return interval + 1;
    const char *blank = strrchr(entry, ' ');
    return blank == NULL ? entry : blank + 1;
}

/* What Spark keeps for an aggregate where its type does not say it: bytes of its own making, or
 * several values.  "": one value of the type. */
static const char *buffer_of(const char *entry)
{
    static const char *const kinds[][2] = {
        {"mode", "bytes"},
        {"collect_list", "bytes"},
        {"collect_set", "bytes"},
        {"listagg", "bytes"},
        {"percentile", "bytes"},
        {"percentile_approx", "bytes"},
        {"median", "bytes"},
        {"percentile_cont", "bytes"},
        {"percentile_disc", "bytes"},
        {"count_min_sketch", "bytes"},
        {"hll_sketch_agg", "bytes"},
        {"hll_union_agg", "bytes"},
        {"histogram_numeric", "bytes"},
        {"avg", "sum and count"},
        {"try_avg", "sum and count"},
        {"approx_count_distinct", "words"},
        {"first", "value and flag"},
        {"last", "value and flag"},
        {"max_by", "value and ordering"},
        {"min_by", "value and ordering"},
    };
    const char *name = main_name(entry, strcspn(entry, "("));
    for (size_t i = 0; name != NULL && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(name, kinds[i][0]) == 0)
            return kinds[i][1];
    return "";
}

static bool same_buffer(const char *old, const char *new_)
{
    const char *of_old = buffer_of(old);
    const char *of_new = buffer_of(new_);
    if (strcmp(of_old, of_new) != 0)
        return false;
    return strcmp(of_old, "bytes") == 0 || strcmp(type_of(old), type_of(new_)) == 0;
}

static bool same_types(const json_t *was, const json_t *now)
{
    if (json_array_size(was) != json_array_size(now))
        return false;
    for (size_t i = 0; i < json_array_size(was); i++) {
        const char *old = json_string_value(json_array_get(was, i));
        const char *new_ = json_string_value(json_array_get(now, i));
        if (old == NULL || new_ == NULL || !same_buffer(old, new_))
            return false;
    }
    return true;
}

static const struct {
    const char *part;
    enum status condition; /* its types differ */
    const char *stored, *now;
} parts[] = {
    {"keys", STATUS_STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE, "storedKeySchema", "newKeySchema"},
    {"slidingWindow", STATUS_CHECKPOINT__QUERY_CHANGED, "", ""},
    {"leftKeys", STATUS_STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE, "storedKeySchema", "newKeySchema"},
    {"rightKeys", STATUS_STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE, "storedKeySchema", "newKeySchema"},
    {"state", STATUS_STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE, "storedValueSchema",
     "newValueSchema"},
    {"left", STATUS_STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE, "storedValueSchema", "newValueSchema"},
    {"right", STATUS_STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE, "storedValueSchema",
     "newValueSchema"},
};

/* Keys that differ in the names of the fields of a struct alone. */
static bool same_forms(const json_t *was, const json_t *now)
{
    const json_t *old = json_object_get(was, "keyForms");
    return old != NULL && json_equal(old, json_object_get(now, "keyForms"));
}

static void add_duration(struct buffer *out, const char *word, const json_t *us)
{
    buffer_add_text(out, word);
    interval_text_print_calendar(out, (struct calendar_interval){.micros = json_integer_value(us)});
}

/* "windows of 10 seconds every 5 seconds"; of a fingerprint that has none: whole windows. */
static void add_windows(struct buffer *out, const json_t *panes)
{
    if (panes == NULL) {
        buffer_add_text(out, "windows that are kept one by one");
        return;
    }
    add_duration(out, "windows of ", json_array_get(panes, 0));
    add_duration(out, " every ", json_array_get(panes, 1));
    if (json_integer_value(json_array_get(panes, 2)) != 0)
        add_duration(out, " from ", json_array_get(panes, 2));
}

static enum status changed_windows(const struct query *query, const json_t *was, const json_t *now,
                                   struct error *err)
{
    struct buffer old = {0}, new_ = {0};
    add_windows(&old, json_object_get(was, "slidingWindow"));
    add_windows(&new_, json_object_get(now, "slidingWindow"));
    enum status status = changed(query, err, "%s has the state of %s, but would need that of %s",
                                 text_of(was, "kind"), buffer_text(&old), buffer_text(&new_));
    buffer_fini(&old);
    buffer_fini(&new_);
    return status;
}

/* Whether both fingerprints have a part (older ones lack some), and it differs. */
static bool differs(const json_t *was, const json_t *now, const char *part)
{
    const json_t *old = json_object_get(was, part), *new_ = json_object_get(now, part);
    return old != NULL && new_ != NULL && !json_equal(old, new_);
}

/* How an aggregate goes about it: what the name does not say. */
static enum status changed_detail(const struct query *query, const json_t *was, const json_t *now,
                                  struct error *err)
{
    const json_t *old = json_object_get(was, "details"), *new_ = json_object_get(now, "details");
    const json_t *state = json_object_get(now, "state");
    for (size_t i = 0; i < json_array_size(new_); i++) {
        const char *from = json_string_value(json_array_get(old, i));
        const char *to = json_string_value(json_array_get(new_, i));
        const char *entry = json_string_value(json_array_get(state, i));
        if (from == NULL || to == NULL || entry == NULL || strcmp(from, to) == 0)
            continue;
        if (strcmp(buffer_of(entry), "words") != 0)
            return changed(query, err, "the state of %s was %s %s and would be %s %s",
                           text_of(was, "kind"), entry, from, entry, to);
        return error_raise(err, STATUS_STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE, "storedValueSchema",
                           arena_sprintf(query->arena, "%s %s", entry, from), "newValueSchema",
                           arena_sprintf(query->arena, "%s %s", entry, to), NULL);
    }
    return OK;
}

/* What types and names do not show: Spark would go on with state of another meaning. */
static enum status check_meaning(const struct query *query, const json_t *was, const json_t *now,
                                 struct error *err)
{
    static const char *const meanings[][2] = {
        {"times", "the time of the windows"},
        {"groupingSets", "the grouping sets (by the keys that each leaves out, as grouping_id())"},
    };
    enum status status = OK;
    TRY(changed_detail(query, was, now, err));
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0] && status == OK; i++) {
        const char *part = meanings[i][0];
        if (!differs(was, now, part) || (i == 0 && !differs(was, now, "timeForms")))
            continue;
        char *from = json_dumps(json_object_get(was, part), JSON_COMPACT);
        char *to = json_dumps(json_object_get(now, part), JSON_COMPACT);
        status = changed(query, err, "%s of %s was %s and would be %s", meanings[i][1],
                         text_of(was, "kind"), from == NULL ? "" : from, to == NULL ? "" : to);
        free(from);
        free(to);
    }
    return status;
}

static enum status check_operator(const struct query *query, const json_t *was, const json_t *now,
                                  struct error *err)
{
    enum status status = OK;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && status == OK; i++) {
        const json_t *old = json_object_get(was, parts[i].part);
        const json_t *new_ = json_object_get(now, parts[i].part);
        if (json_equal(old, new_) || (old == NULL && new_ == NULL) || same_entries(old, new_) ||
            (strcmp(parts[i].part, "keys") == 0 && same_forms(was, now)))
            continue;
        if (strcmp(parts[i].part, "slidingWindow") == 0)
            return changed_windows(query, was, now, err);
        char *old_text = json_dumps(old, JSON_COMPACT | JSON_ENCODE_ANY);
        char *new_text = json_dumps(new_, JSON_COMPACT | JSON_ENCODE_ANY);
        if (!same_types(old, new_))
            status = error_raise(err, parts[i].condition, parts[i].stored,
                                 old_text == NULL ? "" : old_text, parts[i].now,
                                 new_text == NULL ? "" : new_text, NULL);
        else
            status =
                changed(query, err, "the %s of %s %s %s and would be %s", parts[i].part,
                        text_of(was, "kind"), strcmp(parts[i].part, "state") == 0 ? "was" : "were",
                        old_text == NULL ? "" : old_text, new_text == NULL ? "" : new_text);
        free(old_text);
        free(new_text);
    }
    return status == OK ? check_meaning(query, was, now, err) : status;
}

static enum status compare(const struct query *query, const json_t *was, const json_t *now,
                           struct error *err)
{
    const json_t *old = json_object_get(was, "operators");
    const json_t *new_ = json_object_get(now, "operators");
    TRY(check_sources(query, json_object_get(was, "sources"), json_object_get(now, "sources"),
                      err));
    if (json_array_size(old) == 0 && json_array_size(new_) > 0)
        return other_operators(STATUS_STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY, old,
                               new_, err);
    if (!same_operators(old, new_))
        return other_operators(STATUS_STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA, old,
                               new_, err);
    for (size_t i = 0; i < json_array_size(old); i++)
        TRY(check_operator(query, json_array_get(old, i), json_array_get(new_, i), err));
    return OK;
}

/* What the checkpoint was made by; NULL: no batch has run. */
static const struct run_record *last_run(const struct query *query)
{
    bool has_run = checkpoint_last_intent(query->checkpoint) != NULL ||
                   checkpoint_replay_end(query->checkpoint) > 0;
    return has_run ? checkpoint_last_run(query->checkpoint) : NULL;
}

bool fingerprint_has_whole_windows(const struct query *query)
{
    const struct run_record *last = last_run(query);
    if (last == NULL || last->fingerprint == query->plan->fingerprint)
        return false;
    json_t *was = json_loadb((const char *)last->fingerprint_text.data,
                             last->fingerprint_text.size_bytes, 0, NULL);
    json_t *now = json_loads(query->plan->fingerprint_text, 0, NULL);
    const json_t *old = json_object_get(was, "operators");
    const json_t *new_ = json_object_get(now, "operators");
    bool whole = false;
    for (size_t i = 0; i < json_array_size(old) && i < json_array_size(new_); i++)
        whole = whole || (json_object_get(json_array_get(old, i), "slidingWindow") == NULL &&
                          json_object_get(json_array_get(new_, i), "slidingWindow") != NULL);
    json_decref(was);
    json_decref(now);
    return whole;
}

enum status fingerprint_check_texts(const struct query *query, struct bytes stored,
                                    const struct physical_plan *plan, struct error *err)
{
    enum status status = OK;
    json_t *was = json_loadb((const char *)stored.data, stored.size_bytes, 0, NULL);
    json_t *now = json_loads(plan->fingerprint_text, 0, NULL);
    if (was == NULL || now == NULL)
        status = fingerprint_compare(stored, plan, err);
    else
        status = compare(query, was, now, err);
    json_decref(was);
    json_decref(now);
    return status;
}

enum status fingerprint_check(const struct query *query, struct error *err)
{
    const struct run_record *last = last_run(query);
    if (last == NULL || last->fingerprint == query->plan->fingerprint)
        return OK;
    return fingerprint_check_texts(query, last->fingerprint_text, query->plan, err);
}

/* `none`: the checkpoint has no state at all. */
static void compare_one(const struct query *query, const json_t *was, const json_t *now, bool none,
                        struct operator_verdict *out)
{
    json_t *old = json_array(), *new_ = json_array();
    if (was != NULL)
        (void)json_array_append(old, (json_t *)(uintptr_t)was);
    if (now != NULL)
        (void)json_array_append(new_, (json_t *)(uintptr_t)now);
    enum status status = OK;
    if (!same_operators(old, new_))
        status =
            other_operators(none ? STATUS_STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY
                                 : STATUS_STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA,
                            old, new_, &out->why);
    else
        status = check_operator(query, was, now, &out->why);
    out->fits = status == OK;
    json_decref(old);
    json_decref(new_);
}

/* Sessions are kept by the aggregation above them, whose number is theirs. */
static bool is_part(const json_t *operator_)
{
    return strcmp(text_of(operator_, "kind"), "Session") == 0;
}

static void add_verdicts(const struct query *query, const json_t *was, const json_t *now,
                         struct arena *arena, struct operator_verdict *out, uint32_t *count)
{
    const json_t *old = json_object_get(was, "operators");
    const json_t *new_ = json_object_get(now, "operators");
    for (size_t i = 0; i < json_array_size(old) || i < json_array_size(new_); i++) {
        const json_t *a = json_array_get(old, i), *b = json_array_get(new_, i);
        const json_t *shown = b != NULL ? b : a;
        struct operator_verdict verdict = {
            .kind = arena_strdup(arena, text_of(shown, "kind")),
            .index = *count,
            .is_new = was == NULL,
            .fits = true,
        };
        error_clear(&verdict.why);
        if (was != NULL)
            compare_one(query, a, b, json_array_size(old) == 0, &verdict);
        if (!is_part(shown) || *count == 0) {
            out[(*count)++] = verdict;
        } else if (out[*count - 1].fits && !verdict.fits) {
            out[*count - 1].fits = false;
            out[*count - 1].why = verdict.why;
        }
    }
}

void fingerprint_operators(const struct query *query, struct arena *arena,
                           struct operator_verdict **out, uint32_t *count)
{
    const struct run_record *last = query->checkpoint == NULL ? NULL : last_run(query);
    json_t *was = NULL;
    json_t *now = json_loads(query->plan->fingerprint_text, 0, NULL);
    if (last != NULL)
        was = json_loadb((const char *)last->fingerprint_text.data,
                         last->fingerprint_text.size_bytes, 0, NULL);
    size_t most = json_array_size(json_object_get(was, "operators")) +
                  json_array_size(json_object_get(now, "operators"));
    *out = arena_new_object(arena, (most + 1) * sizeof **out);
    *count = 0;
    add_verdicts(query, was, now, arena, *out, count);
    json_decref(was);
    json_decref(now);
}
