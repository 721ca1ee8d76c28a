/*
 * Which queries may run as a stream: one table of rules.
 *
 * First come the rules about the whole plan and the output mode, in Spark's order; then every
 * node, from the leaves up, is held against the rules of its kind.  A rule says what is wrong or
 * nothing; the first that speaks decides.
 */
#include "analyze/analyzer.h"
#include "analyze/check_chain.h"
#include "analyze/check_join.h"
#include "base/check.h"
#include "spec/conf.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

struct checker {
    const struct analysis *analysis;
    enum output_mode mode;
    struct error *err;
    const struct logical_node *aggregate; /* the topmost streaming aggregation, NULL if none */
    bool check_correctness;
};

/* ---- facts about plans ---- */

static const char *mode_name(enum output_mode mode)
{
    static const char *const names[] = {"append", "update", "complete"};
    return names[mode];
}

static const char *mode_title(enum output_mode mode)
{
    static const char *const names[] = {"Append", "Update", "Complete"};
    return names[mode];
}

static bool has_below(const struct logical_node *node, bool (*is)(const struct logical_node *node))
{
    for (uint32_t i = 0; i < node->child_count; i++)
        if (is(node->children[i]) || has_below(node->children[i], is))
            return true;
    return false;
}

static bool is_plain_aggregate(const struct logical_node *node)
{
    return node->streaming && node->kind == LOGICAL_AGGREGATE;
}

static bool is_watermark(const struct logical_node *node)
{
    return node->kind == LOGICAL_WATERMARK;
}

/* One that has a row without rows, too. */
static bool is_global_aggregate(const struct logical_node *node)
{
    return node->kind == LOGICAL_AGGREGATE && node->aggregate.key_count == 0;
}

static bool is_stream_join(const struct logical_node *node)
{
    return node->kind == LOGICAL_JOIN && node->children[0]->streaming &&
           node->children[1]->streaming;
}

/* Whether column `id` of the output of `node` is the session of an operator below. */
static bool is_session_column(const struct logical_node *node, uint32_t id)
{
    while (node->kind == LOGICAL_FILTER || node->kind == LOGICAL_PROJECT ||
           node->kind == LOGICAL_EXPAND || node->kind == LOGICAL_TIME_WINDOW ||
           node->kind == LOGICAL_WATERMARK) {
        uint32_t i = 0;
        if (node->kind == LOGICAL_PROJECT) {
            if (logical_find_output(node, id, &i) == NULL ||
                node->project.exprs[i]->kind != EXPR_COLUMN)
                return false;
            id = node->project.exprs[i]->column.attribute_id;
        }
        node = node->children[0];
    }
    return node->kind == LOGICAL_SESSION && node->output[node->output_count - 1]->id == id;
}

static bool groups_by_session(const struct logical_node *node)
{
    for (uint32_t i = 0; node->kind == LOGICAL_AGGREGATE && i < node->aggregate.key_count; i++)
        if (node->aggregate.keys[i]->kind == EXPR_COLUMN &&
            is_session_column(node->children[0], node->aggregate.keys[i]->column.attribute_id))
            return true;
    return false;
}

static uint32_t aggregation_keys(const struct logical_node *node)
{
    return node->kind == LOGICAL_DISTINCT ? node->output_count : node->aggregate.key_count;
}

static bool has_event_key(const struct logical_node *node)
{
    for (uint32_t i = 0; i < aggregation_keys(node); i++)
        if (node->output[i]->event_time)
            return true;
    return false;
}

/* ---- raising ---- */

/* A step of a view, which is no SQL: "/views/0/dropDuplicates".  False: it is SQL, or of a source.
 */
static bool point_at_step(const struct checker *checker, const struct logical_node *node)
{
    const struct query_spec *spec = checker->analysis->spec;
    const char *step = "from";
    if (node->kind == LOGICAL_DEDUP)
        step = node->dedup.within_watermark ? "dropDuplicatesWithinWatermark" : "dropDuplicates";
    else if (node->kind == LOGICAL_WATERMARK)
        step = "watermark";
    for (size_t i = 0; node->view != NULL && i < spec->view_count; i++) {
        if (strcmp(spec->views[i].name, node->view) != 0 || spec->views[i].from == NULL)
            continue;
        struct error *err = checker->err;
        (void)snprintf(err->pointer, sizeof err->pointer, "/views/%zu/%s", i, step);
        err->position = err->position_end = -1;
        return true;
    }
    return false;
}

static enum status at_node(const struct checker *checker, const struct logical_node *node)
{
    struct error *err = checker->err;
    if (err->position < 0) {
        err->position = node->position;
        err->position_end = node->position_end;
    }
    if (point_at_step(checker, node))
        return err->status;
    if (node->view != NULL && err->view[0] == '\0')
        (void)snprintf(err->view, sizeof err->view, "%s", node->view);
    return err->status;
}

static enum status raise_text(const struct checker *checker, const struct logical_node *node,
                              const char *text)
{
    error_raise(checker->err, STATUS__LEGACY_ERROR_TEMP_3102, "msg", text, NULL);
    return at_node(checker, node);
}

static enum status raise_mode(const struct checker *checker, const struct logical_node *node,
                              const char *operation)
{
    error_raise(checker->err, STATUS_STREAMING_OUTPUT_MODE__UNSUPPORTED_OPERATION, "outputMode",
                mode_name(checker->mode), "operation", operation, NULL);
    return at_node(checker, node);
}

/* The expression is what is wrong at the node. */
static void at_expr(const struct checker *checker, const struct expr *expr)
{
    if (expr->position < 0 || checker->err->pointer[0] != '\0')
        return;
    checker->err->position = expr->position;
    checker->err->position_end = expr->position_end;
}

/* What was written there, NULL if nothing was. */
static const char *written(const struct checker *checker, const struct logical_node *node,
                           const struct expr *expr, int *size)
{
    const struct query_spec *spec = checker->analysis->spec;
    const char *sql = spec->sql;
    for (size_t i = 0; node->view != NULL && i < spec->view_count; i++)
        if (strcmp(spec->views[i].name, node->view) == 0)
            sql = spec->views[i].sql;
    if (sql == NULL || expr->position < 0 || (size_t)expr->position_end > strlen(sql))
        return NULL;
    *size = expr->position_end - expr->position;
    return sql + expr->position;
}

/* ---- rules about the whole plan ---- */

static enum status rule_reads_a_stream(const struct checker *checker,
                                       const struct logical_node *root)
{
    if (root->streaming)
        return OK;
    error_raise(checker->err, STATUS_WRITE_STREAM_NOT_ALLOWED, NULL);
    return at_node(checker, root);
}

static enum status rule_append_needs_watermark(const struct checker *checker,
                                               const struct logical_node *root)
{
    (void)root;
    if (checker->mode != MODE_APPEND || checker->aggregate == NULL ||
        has_event_key(checker->aggregate))
        return OK;
    (void)raise_mode(checker, checker->aggregate, "streaming aggregations without watermark");
    say_unused_watermark(
        checker->aggregate,
        checker->check_correctness && has_below(checker->aggregate, is_aggregation), checker->err);
    return checker->err->status;
}

static enum status rule_update_without_session(const struct checker *checker,
                                               const struct logical_node *root)
{
    (void)root;
    if (checker->mode != MODE_UPDATE || checker->aggregate == NULL ||
        !groups_by_session(checker->aggregate))
        return OK;
    return raise_mode(checker, checker->aggregate, "session window streaming aggregations");
}

static enum status rule_complete_needs_aggregation(const struct checker *checker,
                                                   const struct logical_node *root)
{
    if (checker->mode != MODE_COMPLETE || checker->aggregate != NULL)
        return OK;
    return raise_mode(checker, root, "no streaming aggregations");
}

static enum status (*const plan_rules[])(const struct checker *checker,
                                         const struct logical_node *root) = {
    rule_reads_a_stream,
    rule_append_needs_watermark,
    rule_update_without_session,
    rule_complete_needs_aggregation,
};

/* ---- rules about nodes ---- */

static bool find_distinct(const struct expr *expr, void *arg)
{
    const struct expr **found = arg;
    if (expr->kind == EXPR_AGGREGATE && expr->aggregate.distinct)
        *found = expr;
    return *found == NULL;
}

static enum status rule_no_distinct_aggregates(const struct checker *checker,
                                               const struct logical_node *node)
{
    const struct expr *found = NULL;
    for (uint32_t i = 0; node->kind == LOGICAL_AGGREGATE && i < node->aggregate.aggregate_count;
         i++) {
        if (expr_walk(node->aggregate.aggregates[i], find_distinct, &found))
            continue;
        bool count = strcasecmp(found->aggregate.name, "count") == 0;
        (void)raise_text(checker, node,
                         count ? "Distinct aggregations are not supported on streaming "
                                 "DataFrames/Datasets. Consider using approx_count_distinct() "
                                 "instead."
                               : "Distinct aggregations are not supported on streaming "
                                 "DataFrames/Datasets. Leave DISTINCT out, or drop the duplicates "
                                 "in a view before (dropDuplicates)");
        at_expr(checker, found);
        return checker->err->status;
    }
    return OK;
}

static enum status rule_session_has_another_key(const struct checker *checker,
                                                const struct logical_node *node)
{
    if (!groups_by_session(node))
        return OK;
    for (uint32_t i = 0; i < node->aggregate.key_count; i++) {
        const struct expr *key = node->aggregate.keys[i];
        bool session = key->kind == EXPR_COLUMN &&
                       is_session_column(node->children[0], key->column.attribute_id);
        if (!expr_is_foldable(key) && !session)
            return OK;
    }
    return raise_text(
        checker, node,
        "A session window of a stream needs another grouping key besides it. Group by "
        "a column, too, such as that of the user");
}

static enum status rule_sort(const struct checker *checker, const struct logical_node *node)
{
    if (node->kind != LOGICAL_SORT ||
        (checker->mode == MODE_COMPLETE && has_below(node, is_plain_aggregate)))
        return OK;
    return raise_text(
        checker, node,
        "Sorting is not supported on streaming DataFrames/Datasets, unless it is on "
        "aggregated DataFrame/Dataset in Complete output mode. Leave ORDER BY out, or "
        "sort what reads the output");
}

static enum status rule_limit(const struct checker *checker, const struct logical_node *node)
{
    if (node->kind != LOGICAL_LIMIT)
        return OK;
    if (node->limit.offset > 0)
        return raise_text(checker, node,
                          "Offset is not supported on streaming DataFrames/Datasets. Leave OFFSET "
                          "out");
    if (node->limit.limit >= 0 && checker->mode == MODE_UPDATE)
        return raise_text(checker, node,
                          "Limits are not supported on streaming DataFrames/Datasets in Update "
                          "output mode. Leave LIMIT out, or use append or complete mode");
    return OK;
}

static enum status rule_union(const struct checker *checker, const struct logical_node *node)
{
    if (node->kind != LOGICAL_UNION)
        return OK;
    for (uint32_t i = 0; i < node->child_count; i++)
        if (!node->children[i]->streaming)
            return raise_text(checker, node,
                              "Union between streaming and batch DataFrames/Datasets is not "
                              "supported. Declare both under sources: a source reads once what is "
                              "there, too");
    return OK;
}

static bool has_event_output(const struct logical_node *node)
{
    for (uint32_t i = 0; i < node->output_count; i++)
        if (node->output[i]->event_time)
            return true;
    return false;
}

static enum status rule_set_operation(const struct checker *checker,
                                      const struct logical_node *node)
{
    if (node->kind != LOGICAL_SET_OPERATION)
        return OK;
    if (node->set_operation.is_intersect)
        return raise_text(checker, node,
                          "Intersect of streaming DataFrames/Datasets is not supported. Join them "
                          "on their columns (LEFT SEMI JOIN)");
    if (node->children[1]->streaming)
        return raise_text(
            checker, node,
            "Except on a streaming DataFrame/Dataset on the right is not supported. A "
            "table may stand there: declare it under tables");
    if (checker->mode != MODE_APPEND || has_event_output(node))
        return OK;
    error_raise(checker->err, STATUS_UNSUPPORTED_STREAMING_OPERATOR_WITHOUT_WATERMARK, "outputMode",
                "Append", "statefulOperator", "aggregations", NULL);
    return at_node(checker, node);
}

static const char *window_columns(const struct checker *checker, const struct logical_node *node,
                                  struct buffer *spec)
{
    (void)checker;
    const struct expr *window = node->window.functions[0];
    expr_print_sql(spec, window);
    return node->output[node->output_count - node->window.function_count]->name;
}

/* What a window needs from below it, numbered as Spark meets it: what is no column is shown as
 * _W0, _W1, ...  Columns of the select list are there already. */
struct needed {
    const struct logical_node *aggregate; /* of the same SELECT, or NULL */
    const struct logical_node *list;      /* the project of the select list, or NULL */
    uint32_t columns[16];
    uint32_t column_count, count;
};

static const struct logical_node *aggregate_of_window(const struct logical_node *node)
{
    const struct logical_node *below = node->children[0];
    while (below->kind == LOGICAL_FILTER || below->kind == LOGICAL_WINDOW)
        below = below->children[0];
    return below->kind == LOGICAL_AGGREGATE ? below : NULL;
}

static bool is_result_of(const struct logical_node *aggregate, const struct expr *column)
{
    for (uint32_t i = 0; aggregate != NULL && i < aggregate->aggregate.aggregate_count; i++)
        if (aggregate->aggregate.aggregates[i]->aggregate.result_id == column->column.attribute_id)
            return true;
    return false;
}

static bool is_selected(const struct logical_node *list, uint32_t id)
{
    for (uint32_t i = 0; list != NULL && i < list->output_count; i++)
        if (list->project.exprs[i]->kind == EXPR_COLUMN &&
            list->project.exprs[i]->column.attribute_id == id)
            return true;
    return false;
}

/* The number that a part is shown by, -1: it is shown as it is. */
static int number_of(struct needed *needed, const struct expr *expr)
{
    if (expr->kind != EXPR_COLUMN)
        return expr_is_foldable(expr) ? -1 : (int)needed->count++;
    if (is_result_of(needed->aggregate, expr))
        return (int)needed->count++;
    uint32_t id = expr->column.attribute_id;
    for (uint32_t i = 0; i < needed->column_count; i++)
        if (needed->columns[i] == id)
            return -1;
    if (is_selected(needed->list, id) ||
        needed->column_count == sizeof needed->columns / sizeof needed->columns[0])
        return -1;
    needed->columns[needed->column_count++] = id;
    needed->count++;
    return -1;
}

static void add_upper(struct buffer *out, struct buffer *part)
{
    for (size_t i = 0; i < part->size_bytes; i++)
        buffer_add_byte(out,
                        (uint8_t)(part->data[i] >= 'a' && part->data[i] <= 'z' ? part->data[i] - 32
                                                                               : part->data[i]));
    buffer_fini(part);
}

static bool is_rank(const char *name)
{
    return strncasecmp(name, "rank", 4) == 0 || strncasecmp(name, "dense_rank", 10) == 0 ||
           strncasecmp(name, "percent_rank", 12) == 0;
}

static bool takes_ignore_nulls(const char *name)
{
    static const char *const names[] = {"first_value(", "last_value(", "nth_value(",
                                        "first(",       "last(",       "any_value("};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncasecmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Aggregates are shown with their columns: SUM(N#), LAG(N#, -1, NULL), SUM(_W0#). */
static void add_window_function(struct buffer *out, const struct expr *window,
                                struct needed *needed)
{
    const struct expr *function = window->args[0];
    struct buffer text = {0};
    expr_print_name(&text, function);
    const char *name = buffer_text(&text);
    struct buffer head = {0};
    buffer_add(&head, text.data, strcspn(name, "("));
    add_upper(out, &head);
    buffer_add_byte(out, '(');
    for (uint32_t i = 0; !is_rank(name) && i < function->arg_count; i++) {
        const struct expr *arg = function->args[i];
        struct buffer part = {0};
        int number = number_of(needed, arg);
        buffer_add_text(&part, i > 0 ? ", " : "");
        if (strncasecmp(name, "lag(", 4) == 0 && i == 1)
            buffer_add_byte(&part, '-');
        if (number >= 0)
            buffer_printf(&part, "_w%d", number);
        else
            expr_print_name(&part, arg);
        buffer_add_text(&part, number >= 0 || arg->kind == EXPR_COLUMN ? "#" : "");
        add_upper(out, &part);
    }
    if (takes_ignore_nulls(name))
        buffer_add_text(out, ", FALSE");
    if (function->kind == EXPR_AGGREGATE && function->aggregate.filter != NULL)
        buffer_printf(out, ") FILTER (WHERE _W%d#", number_of(needed, function->aggregate.filter));
    buffer_fini(&text);
}

static void add_upper_qualified(struct buffer *out, const struct expr *expr, int number)
{
    struct buffer part = {0};
    if (number >= 0)
        buffer_printf(&part, "_w%d", number);
    else if (expr->kind == EXPR_COLUMN && expr->column.qualifier != NULL)
        buffer_printf(&part, "%s.", expr->column.qualifier);
    else if (expr->kind == EXPR_COLUMN && strcasecmp(expr->column.name, "window") != 0)
        buffer_add_text(&part, "__auto_generated_subquery_name.");
    if (number < 0)
        expr_print_name(&part, expr);
    add_upper(out, &part);
}

/* A rank gets its order keys as arguments: into `function`, whose list is still open. */
static void add_window_spec(struct buffer *out, const struct expr *window, struct needed *needed,
                            struct buffer *function)
{
    bool rank = is_rank(buffer_text(function));
    buffer_add_byte(out, '(');
    for (uint32_t i = 0; i < window->window.partition_count; i++) {
        const struct expr *key = window->args[1 + i];
        buffer_add_text(out, i == 0 ? "PARTITION BY " : ", ");
        add_upper_qualified(out, key, number_of(needed, key));
    }
    for (uint32_t i = 0; i < window->window.order_count; i++) {
        const struct sort_key *key = &window->window.order[i];
        int number = number_of(needed, key->expr);
        buffer_add_text(out, i > 0                                ? ", "
                             : window->window.partition_count > 0 ? " ORDER BY "
                                                                  : "ORDER BY ");
        add_upper_qualified(out, key->expr, number);
        buffer_printf(out, " %s NULLS %s", key->descending ? "DESC" : "ASC",
                      key->nulls_first ? "FIRST" : "LAST");
        struct buffer part = {0};
        buffer_add_text(&part, i > 0 ? ", " : "");
        if (number >= 0)
            buffer_printf(&part, "_w%d", number);
        else
            expr_print_name(&part, key->expr);
        buffer_add_text(&part, "#");
        if (rank)
            add_upper(function, &part);
        else
            buffer_fini(&part);
    }
    buffer_add_byte(function, ')');
    struct buffer sql = {0};
    expr_print_sql(&sql, window);
    const char *text = buffer_text(&sql);
    const char *frame = strstr(text, "ROWS BETWEEN");
    if (frame == NULL)
        frame = strstr(text, "RANGE BETWEEN");
    if (frame != NULL)
        buffer_printf(out, "%s%s", out->size_bytes > 1 ? " " : "", frame);
    else
        buffer_add_byte(out, ')');
    buffer_fini(&sql);
}

static const struct logical_node *list_of(const struct checker *checker)
{
    const struct logical_node *root = checker->analysis->root;
    while (root->kind != LOGICAL_PROJECT && root->child_count == 1)
        root = root->children[0];
    return root->kind == LOGICAL_PROJECT ? root : NULL;
}

static const char *window_alias(const struct checker *checker, const struct logical_node *node)
{
    /* The select item that is nothing but the window gives it its name. */
    uint32_t id = node->output[node->output_count - node->window.function_count]->id;
    const struct logical_node *root = list_of(checker);
    for (uint32_t i = 0; root != NULL && i < root->output_count; i++)
        if (root->project.exprs[i]->kind == EXPR_COLUMN &&
            root->project.exprs[i]->column.attribute_id == id)
            return root->output[i]->name;
    return NULL;
}

/* As it is written; the parameters have Spark's form. */
static void say_row_window(const struct checker *checker, const struct logical_node *node,
                           const char *printed)
{
    struct error *err = checker->err;
    int size = (int)strlen(printed);
    const char *text = written(checker, node, node->window.functions[0], &size);
    (void)snprintf(err->text, sizeof err->text,
                   "Windows over rows are not possible on a stream, which has no last row: %.*s. "
                   "Group by window(...), a time window, instead",
                   size < 600 ? size : 600, text == NULL ? printed : text);
}

static enum status rule_no_row_windows(const struct checker *checker,
                                       const struct logical_node *node)
{
    if (node->kind != LOGICAL_WINDOW)
        return OK;
    struct buffer function = {0}, spec = {0}, name = {0}, sql = {0};
    const char *alias = window_alias(checker, node);
    struct needed needed = {.aggregate = aggregate_of_window(node), .list = list_of(checker)};
    add_window_function(&function, node->window.functions[0], &needed);
    add_window_spec(&spec, node->window.functions[0], &needed, &function);
    const char *column = window_columns(checker, node, &sql);
    buffer_printf(&name, "`%s`", alias != NULL ? alias : column);
    error_raise(checker->err, STATUS_NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING, "windowFunc",
                buffer_text(&function), "columnName", buffer_text(&name), "windowSpec",
                buffer_text(&spec), NULL);
    say_row_window(checker, node, buffer_text(&sql));
    buffer_fini(&function);
    buffer_fini(&spec);
    buffer_fini(&name);
    buffer_fini(&sql);
    return at_node(checker, needed.aggregate == NULL ? node : needed.aggregate);
}

static enum status rule_dedup_within_needs_watermark(const struct checker *checker,
                                                     const struct logical_node *node)
{
    if (node->kind != LOGICAL_DEDUP || !node->dedup.within_watermark)
        return OK;
    if (has_event_output(node))
        return OK;
    return raise_text(
        checker, node,
        "dropDuplicatesWithinWatermark is not supported on streaming "
        "DataFrames/DataSets without watermark: a key is forgotten by the event time. "
        "Declare the watermark on the source or on the view before");
}

static enum status rule_one_watermark(const struct checker *checker,
                                      const struct logical_node *node)
{
    if (node->kind != LOGICAL_WATERMARK || !has_below(node, is_watermark))
        return OK;
    return raise_text(checker, node,
                      "Redefining the watermark of a stream is not possible: its input has one "
                      "already, and rows would wait for both");
}

/* ---- rules about joins ---- */

static const char *join_name(enum logical_join kind)
{
    switch (kind) {
    case LOGICAL_JOIN_INNER:
    case LOGICAL_JOIN_CROSS:
        return "Inner";
    case LOGICAL_JOIN_LEFT:
    case LOGICAL_JOIN_SINGLE:
        return "LeftOuter";
    case LOGICAL_JOIN_RIGHT:
        return "RightOuter";
    case LOGICAL_JOIN_FULL:
        return "FullOuter";
    case LOGICAL_JOIN_LEFT_SEMI:
    case LOGICAL_JOIN_EXISTENCE:
        return "LeftSemi";
    case LOGICAL_JOIN_LEFT_ANTI:
        return "LeftAnti";
    }
    return "";
}

static enum status raise_join(const struct checker *checker, const struct logical_node *node,
                              const char *format, const char *mode)
{
    struct buffer text = {0};
    buffer_printf(&text, "%s ", join_name(node->join.kind));
    buffer_add_text(&text, format);
    if (mode != NULL)
        buffer_printf(&text, " is not supported in %s output mode, only in Append output mode",
                      mode);
    enum status status = raise_text(checker, node, buffer_text(&text));
    buffer_fini(&text);
    return status;
}

static enum status rule_static_side(const struct checker *checker, const struct logical_node *node)
{
    if (node->kind != LOGICAL_JOIN)
        return OK;
    bool left = node->children[0]->streaming, right = node->children[1]->streaming;
    switch (node->join.kind) {
    case LOGICAL_JOIN_LEFT_ANTI:
        if (right)
            return raise_join(checker, node,
                              "joins with a streaming DataFrame/Dataset on the right are not "
                              "supported",
                              NULL);
        return OK;
    case LOGICAL_JOIN_LEFT:
    case LOGICAL_JOIN_LEFT_SEMI:
        if (right && !left)
            return raise_join(checker, node,
                              "join with a streaming DataFrame/Dataset on the right and a static "
                              "DataFrame/Dataset on the left is not supported",
                              NULL);
        return OK;
    case LOGICAL_JOIN_RIGHT:
        if (left && !right)
            return raise_join(checker, node,
                              "join with a streaming DataFrame/Dataset on the left and a static "
                              "DataFrame/DataSet on the right is not supported",
                              NULL);
        return OK;
    case LOGICAL_JOIN_FULL:
        if (left != right)
            return raise_join(checker, node,
                              "joins of a streaming and a static DataFrame/Dataset are not "
                              "supported",
                              NULL);
        return OK;
    case LOGICAL_JOIN_INNER:
    case LOGICAL_JOIN_CROSS:
    case LOGICAL_JOIN_SINGLE:
    case LOGICAL_JOIN_EXISTENCE:
        return OK;
    }
    return OK;
}

static enum status rule_stream_join_mode(const struct checker *checker,
                                         const struct logical_node *node)
{
    if (!is_stream_join(node))
        return OK;
    enum logical_join kind = node->join.kind;
    bool plain =
        kind == LOGICAL_JOIN_INNER || kind == LOGICAL_JOIN_CROSS || kind == LOGICAL_JOIN_LEFT_SEMI;
    if (checker->mode == MODE_COMPLETE || (checker->mode == MODE_UPDATE && !plain))
        return raise_join(checker, node, "join between two streaming DataFrames/Datasets",
                          mode_title(checker->mode));
    return OK;
}

static enum status rule_stream_join_state(const struct checker *checker,
                                          const struct logical_node *node)
{
    if (!is_stream_join(node))
        return OK;
    bool bounded = true;
    switch (node->join.kind) {
    case LOGICAL_JOIN_LEFT:
    case LOGICAL_JOIN_LEFT_SEMI:
        bounded = join_bounds_side(node, 0);
        break;
    case LOGICAL_JOIN_RIGHT:
        bounded = join_bounds_side(node, 1);
        break;
    case LOGICAL_JOIN_FULL:
        bounded = join_bounds_side(node, 0) || join_bounds_side(node, 1);
        break;
    case LOGICAL_JOIN_INNER:
    case LOGICAL_JOIN_CROSS:
    case LOGICAL_JOIN_LEFT_ANTI:
    case LOGICAL_JOIN_SINGLE:
    case LOGICAL_JOIN_EXISTENCE:
        return OK;
    }
    if (bounded || join_has_event_key(node))
        return OK;
    struct buffer text = {0};
    buffer_printf(&text,
                  "Stream-stream %s join between two streaming DataFrame/Datasets is not supported "
                  "without a watermark in the join keys, or a watermark on the nullable side and "
                  "an appropriate range condition",
                  join_name(node->join.kind));
    say_join_bound(node, &text);
    enum status status = raise_text(checker, node, buffer_text(&text));
    buffer_fini(&text);
    return status;
}

/* Spark groups such an aggregation by what the stream has, and joins it with the stream: in append
 * mode that lacks a watermark.  In other modes rows of the stream come out again and again. */
static enum status rule_lateral(const struct checker *checker, const struct logical_node *node)
{
    if (node->kind != LOGICAL_JOIN || !node->join.lateral || !node->children[0]->streaming)
        return OK;
    if (!is_global_aggregate(node->children[1]) &&
        !has_below(node->children[1], is_global_aggregate))
        return OK;
    if (checker->mode != MODE_APPEND) {
        error_raise(checker->err, STATUS_NOT_SUPPORTED, "feature",
                    "LATERAL with an aggregate and no GROUP BY, beside a stream in this mode,",
                    NULL);
        return at_node(checker, node);
    }
    error_raise(checker->err, STATUS_UNSUPPORTED_STREAMING_OPERATOR_WITHOUT_WATERMARK, "outputMode",
                mode_title(checker->mode), "statefulOperator", "aggregations", NULL);
    return at_node(checker, node);
}

/* ---- chains of stateful operators ---- */

static bool has_event_column(const struct logical_node *dedup)
{
    for (uint32_t i = 0; i < dedup->dedup.column_count; i++)
        if (dedup->output[dedup->dedup.columns[i]]->event_time)
            return true;
    return false;
}

static bool is_stateful(const struct logical_node *node)
{
    if (!node->streaming)
        return false;
    if (node->kind == LOGICAL_DEDUP)
        return node->dedup.within_watermark || has_event_column(node);
    return is_aggregation(node) || is_stream_join(node);
}

static enum status rule_nothing_after_aggregation(const struct checker *checker,
                                                  const struct logical_node *node)
{
    if (!checker->check_correctness || checker->mode == MODE_APPEND || !is_stateful(node) ||
        !has_below(node, is_aggregation))
        return OK;
    if (node->kind == LOGICAL_AGGREGATE && node->aggregate.pivot)
        return raise_text(checker, node,
                          "Detected pattern of possible 'correctness' issue due to global "
                          "watermark: PIVOT is two aggregations. Write one, such as sum(x) FILTER "
                          "(WHERE k = 'a') for each column, or use append mode");
    struct buffer text = {0};
    buffer_add_text(
        &text,
        "Detected pattern of possible 'correctness' issue due to global watermark. The query "
        "contains stateful operation which can emit rows older than the current watermark plus "
        "allowed late record delay, which are \"late rows\" in downstream stateful operations and "
        "these rows can be discarded. Please refer the programming guide doc for more details. If "
        "you understand the possible risk of correctness issue and still need to run the query, "
        "you can disable this check by setting the config "
        "`spark.sql.streaming.statefulOperator.checkCorrectness.enabled` to false.");
    say_chain_needs_append(node, &text);
    enum status status = raise_text(checker, node, buffer_text(&text));
    buffer_fini(&text);
    return status;
}

/* ---- expressions ---- */

static bool find_increasing_id(const struct expr *expr, void *arg)
{
    const struct expr **found = arg;
    if (expr->kind == EXPR_CALL &&
        strcmp(expr->call.function->name, "monotonically_increasing_id") == 0)
        *found = expr;
    return *found == NULL;
}

static enum status see_increasing_id(struct expr **slot, void *arg, struct error *err)
{
    (void)err;
    (void)expr_walk(*slot, find_increasing_id, arg);
    return OK;
}

static enum status rule_no_increasing_id(const struct checker *checker,
                                         const struct logical_node *node)
{
    struct logical_node copy = *node;
    struct error ignored = ERROR_INIT;
    const struct expr *found = NULL;
    if (logical_each_expr(&copy, see_increasing_id, &found, &ignored) != OK || found == NULL)
        return OK;
    (void)raise_text(checker, node,
                     "Expression(s): monotonically_increasing_id() is not supported with "
                     "streaming DataFrames/Datasets. uuid() gives each row an id");
    at_expr(checker, found);
    return checker->err->status;
}

static enum status (*const node_rules[])(const struct checker *checker,
                                         const struct logical_node *node) = {
    rule_no_increasing_id,
    rule_no_row_windows,
    rule_no_distinct_aggregates,
    rule_session_has_another_key,
    rule_stream_join_mode,
    rule_nothing_after_aggregation,
    rule_static_side,
    rule_stream_join_state,
    rule_lateral,
    rule_dedup_within_needs_watermark,
    rule_one_watermark,
    rule_sort,
    rule_limit,
    rule_union,
    rule_set_operation,
};

static enum status check_node(const struct checker *checker, const struct logical_node *node)
{
    for (uint32_t i = 0; i < node->child_count; i++)
        TRY(check_node(checker, node->children[i]));
    if (!node->streaming)
        return OK;
    for (size_t i = 0; i < sizeof node_rules / sizeof node_rules[0]; i++)
        TRY(node_rules[i](checker, node));
    return OK;
}

static const struct logical_node *unmarked_aggregation(const struct logical_node *node)
{
    if (is_aggregation(node) && !has_event_key(node))
        return node;
    for (uint32_t i = 0; i < node->child_count; i++) {
        const struct logical_node *found = unmarked_aggregation(node->children[i]);
        if (found != NULL)
            return found;
    }
    return NULL;
}

/* What no setting turns off: in append mode an aggregation lets out what the watermark has passed,
 * so that without one it would never say anything.  Spark ends it with the first batch. */
static enum status check_can_run(const struct checker *checker)
{
    const struct logical_node *found = unmarked_aggregation(checker->analysis->root);
    if (checker->mode != MODE_APPEND || found == NULL)
        return OK;
    error_raise(checker->err, STATUS_UNSUPPORTED_STREAMING_OPERATOR_WITHOUT_WATERMARK, "outputMode",
                "Append", "statefulOperator", "aggregations", NULL);
    return at_node(checker, found);
}

enum status check_streaming(const struct analysis *analysis, enum output_mode mode,
                            struct error *err)
{
    const struct options *conf = &analysis->spec->conf;
    struct checker checker = {
        .analysis = analysis,
        .mode = mode,
        .err = err,
        .aggregate = topmost_aggregation(analysis->root),
        .check_correctness =
            conf_bool(conf, CONF_streaming_statefulOperator_checkCorrectness_enabled),
    };
    TRY(plan_rules[0](&checker, analysis->root));
    if (!conf_bool(conf, CONF_streaming_unsupportedOperationCheck))
        return check_can_run(&checker);
    for (size_t i = 1; i < sizeof plan_rules / sizeof plan_rules[0]; i++)
        TRY(plan_rules[i](&checker, analysis->root));
    return check_node(&checker, analysis->root);
}
