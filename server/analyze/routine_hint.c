/*
 * What somebody means who calls a function that there is not: one of Spark that is not here yet,
 * one of another system, or a name that is misspelt.
 */
#include "analyze/resolve_call.h"
#include "expr/aggregate.h"
#include "expr/function.h"

#include <stdio.h>
#include <strings.h>

#define NAMES_MAX   1024
#define SEARCH_PATH "[`system`.`builtin`, `system`.`session`, `spark_catalog`.`default`]"

/* The functions of Spark 4.3 that are not in functions.def and aggregates.def. */
static const char not_here_yet[] =
    "approx_top_k approx_top_k_accumulate approx_top_k_combine approx_top_k_estimate "
    "bitmap_and_agg bitmap_construct_agg bitmap_or_agg collate collation collations "
    "collect_union count_min_sketch counter_diff current_path current_time from_avro "
    "from_protobuf from_xml histogram_numeric hll_sketch_agg hll_sketch_estimate hll_union "
    "hll_union_agg java_method kll_merge_agg_bigint kll_merge_agg_double kll_merge_agg_float "
    "kll_sketch_agg_bigint kll_sketch_agg_double kll_sketch_agg_float kll_sketch_get_n_bigint "
    "kll_sketch_get_n_double kll_sketch_get_n_float kll_sketch_get_quantile_bigint "
    "kll_sketch_get_quantile_double kll_sketch_get_quantile_float kll_sketch_get_rank_bigint "
    "kll_sketch_get_rank_double kll_sketch_get_rank_float kll_sketch_merge_bigint "
    "kll_sketch_merge_double kll_sketch_merge_float kll_sketch_to_string_bigint "
    "kll_sketch_to_string_double kll_sketch_to_string_float localtime make_time reflect "
    "schema_of_avro schema_of_variant_agg schema_of_xml sentences sql_keywords st_asbinary "
    "st_geogfromwkb st_geomfromwkb st_setsrid st_srid theta_difference theta_intersection "
    "theta_intersection_agg theta_sketch_agg theta_sketch_estimate theta_union "
    "theta_union_agg time_diff time_from_micros time_from_millis time_from_seconds "
    "time_to_micros time_to_millis time_to_seconds time_trunc timestamp_nanos to_avro "
    "to_protobuf to_time to_xml try_reflect try_to_time try_variant_array_append "
    "try_variant_insert try_variant_set tuple_difference_double tuple_difference_integer "
    "tuple_difference_theta_double tuple_difference_theta_integer "
    "tuple_intersection_agg_double tuple_intersection_agg_integer tuple_intersection_double "
    "tuple_intersection_integer tuple_intersection_theta_double "
    "tuple_intersection_theta_integer tuple_sketch_agg_double tuple_sketch_agg_integer "
    "tuple_sketch_estimate_double tuple_sketch_estimate_integer tuple_sketch_summary_double "
    "tuple_sketch_summary_integer tuple_sketch_theta_double tuple_sketch_theta_integer "
    "tuple_union_agg_double tuple_union_agg_integer tuple_union_double tuple_union_integer "
    "tuple_union_theta_double tuple_union_theta_integer unix_nanos variant_array_append "
    "variant_delete variant_insert variant_set variant_strip_nulls vector_avg "
    "vector_cosine_similarity vector_inner_product vector_l2_distance vector_norm "
    "vector_normalize vector_sum xpath xpath_boolean xpath_double xpath_float xpath_int "
    "xpath_long xpath_number xpath_short xpath_string ";

static void add_text(struct error *err, const char *text)
{
    size_t used = strlen(err->text);
    if (used < sizeof err->text)
        (void)snprintf(err->text + used, sizeof err->text - used, ". %s", text);
}

static const char *window_hint(const char *name)
{
    static const struct {
        const char *name, *hint;
    } known[] = {
        {"TUMBLE", "Tumbling windows are written GROUP BY window(time, '10 minutes')"},
        {"HOP", "Sliding windows are written GROUP BY window(time, '10 minutes', '5 minutes'): "
                "the size, then the slide"},
        {"CUMULATE", "There are no cumulating windows. Tumbling ones are written GROUP BY "
                     "window(time, '10 minutes')"},
        {"SESSION", "Session windows are written GROUP BY session_window(time, '5 minutes')"},
        {"TUMBLE_START", "The start of window(time, '10 minutes') is window.start"},
        {"TUMBLE_END", "The end of window(time, '10 minutes') is window.end"},
        {"TUMBLE_ROWTIME", "The last instant of a window is window_time(window)"},
        {"HOP_START", "The start of window(time, '10 minutes', '5 minutes') is window.start"},
        {"HOP_END", "The end of window(time, '10 minutes', '5 minutes') is window.end"},
        {"HOP_ROWTIME", "The last instant of a window is window_time(window)"},
        {"SESSION_START", "The start of session_window(time, '5 minutes') is session_window.start"},
        {"SESSION_END", "The end of session_window(time, '5 minutes') is session_window.end"},
        {"TABLE",
         "The windows of other systems, such as TUMBLE(TABLE t, ...), are written GROUP BY "
         "window(time, '10 minutes')"},
        {"PROCTIME", "The time of the batch is current_timestamp()"},
        {"DESCRIPTOR", "A column is named as it is, as in window(time, '10 minutes')"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcasecmp(name, known[i].name) == 0)
            return known[i].hint;
    return NULL;
}

struct names {
    const char *items[NAMES_MAX];
    size_t count;
    struct arena *arena;
};

static void add_name(struct names *names, const char *name)
{
    if (names->count < NAMES_MAX)
        names->items[names->count++] = arena_strdup(names->arena, name);
}

static void add_function(void *arg, const char *name, const struct function *function)
{
    (void)function;
    add_name(arg, name);
}

static void add_aggregate(void *arg, const char *name, const struct aggregate *aggregate)
{
    (void)aggregate;
    add_name(arg, name);
}

bool routine_window_hint(const char *name, struct error *err)
{
    const char *hint = window_hint(name);
    if (hint != NULL)
        add_text(err, hint);
    return hint != NULL;
}

static bool is_not_here_yet(const char *name)
{
    size_t size = strlen(name);
    for (const char *word = not_here_yet; *word != '\0'; word += strcspn(word, " ") + 1) {
        if (strncasecmp(word, name, size) == 0 && word[size] == ' ')
            return true;
    }
    return false;
}

static void add_hint(struct arena *arena, const char *name, struct error *err)
{
    if (routine_window_hint(name, err))
        return;
    struct names *names = arena_new_object(arena, sizeof *names);
    names->arena = arena;
    function_each_name(add_function, names);
    aggregate_each_name(add_aggregate, names);
    const char *nearest = nearest_name(name, names->items, names->count);
    if (nearest != NULL)
        add_text(err, arena_sprintf(arena, "Did you mean %s?", nearest));
}

void routine_unresolved(struct analyzer *analyzer, const struct ast_path *path, struct error *err)
{
    const char *name = name_text(analyzer, &path->parts[path->count - 1]);
    if (is_not_here_yet(name)) {
        (void)error_raise(err, STATUS_NOT_SUPPORTED, "feature",
                          arena_sprintf(analyzer->arena, "The function %s", name), NULL);
        return;
    }
    (void)error_raise(err, STATUS_UNRESOLVED_ROUTINE, "routineName", path_quoted(analyzer, path),
                      "searchPath", SEARCH_PATH, NULL);
    if (path->count == 1)
        add_hint(analyzer->arena, name, err);
}
