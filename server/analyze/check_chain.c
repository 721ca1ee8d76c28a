/*
 * See check_chain.h.  query_fixes.c reads the names of columns from these texts.
 */
#include "analyze/check_chain.h"

#include "analyze/check_join.h"
#include "base/arena.h"

#include <stdio.h>
#include <string.h>

bool is_aggregation(const struct logical_node *node)
{
    return node->streaming && (node->kind == LOGICAL_AGGREGATE || node->kind == LOGICAL_DISTINCT);
}

const struct logical_node *topmost_aggregation(const struct logical_node *node)
{
    if (is_aggregation(node))
        return node;
    for (uint32_t i = 0; i < node->child_count; i++) {
        const struct logical_node *found = topmost_aggregation(node->children[i]);
        if (found != NULL)
            return found;
    }
    return NULL;
}

static const struct logical_node *watermark_below(const struct logical_node *node)
{
    const struct logical_node *found = node->kind == LOGICAL_WATERMARK ? node : NULL;
    for (uint32_t i = 0; found == NULL && i < node->child_count; i++)
        found = watermark_below(node->children[i]);
    return found;
}

/* The column that the watermark stands on in what `node` gives; NULL: none has come so far. */
static const struct attribute *event_time_of(const struct logical_node *node)
{
    for (uint32_t i = 0; i < node->output_count; i++)
        if (node->output[i]->event_time)
            return node->output[i];
    return NULL;
}

/* The same where the aggregation can group by it: below the list of SELECT DISTINCT. */
static const struct attribute *grouping_time_of(const struct logical_node *aggregate)
{
    const struct logical_node *child = aggregate->children[0];
    const struct attribute *time = event_time_of(child);
    if (time == NULL && aggregate->kind == LOGICAL_DISTINCT && child->kind == LOGICAL_PROJECT)
        time = event_time_of(child->children[0]);
    return time;
}

/* "is not used ...: a row is final only if ..." of the column that the grouping sees. */
static void add_grouping(struct buffer *text, const struct attribute *time)
{
    bool window = time->type->id == TYPE_STRUCT;
    buffer_printf(text, "a row is final only if it is of ");
    add_sql_name(text, time->name);
    buffer_add_text(text, window ? " itself or of another window of it, such as window("
                                 : " itself or of a window of it, such as window(");
    add_sql_name(text, time->name);
    buffer_add_text(text, window ? ", '1 hour')" : ", '1 minute')");
}

void say_unused_watermark(const struct logical_node *aggregate, bool chained, struct error *err)
{
    static const char other_mode[] = "Choose another output mode, or change the query";
    const struct logical_node *mark = watermark_below(aggregate);
    if (mark == NULL)
        return;
    const struct attribute *time = grouping_time_of(aggregate);
    struct buffer text = {0};
    const char *mode = strstr(err->text, other_mode);
    if (chained && mode != NULL)
        buffer_printf(&text,
                      "%.*sChange the query: no other output mode is possible above an aggregation",
                      (int)(mode - err->text), err->text);
    else
        buffer_add_text(&text, err->text);
    const char *name = mark->output[mark->watermark.column]->name;
    buffer_printf(&text,
                  ". The watermark that is declared on `%s` is not used by the grouping: ", name);
    if (time != NULL)
        add_grouping(&text, time);
    else if (chained)
        buffer_add_text(&text,
                        "the window of the aggregation below does not come up to it. Select that "
                        "window as a whole, not its start or end, and group by a window of it");
    else
        buffer_printf(&text,
                      "the column does not come up to it. Select `%s` as it is, and group by it or "
                      "by a window of it",
                      name);
    (void)snprintf(err->text, sizeof err->text, "%s", buffer_text(&text));
    buffer_fini(&text);
}

void say_chain_needs_append(const struct logical_node *node, struct buffer *text)
{
    buffer_add_text(text,
                    " Above an aggregation only the output mode append needs no such setting");
    if (node->kind != LOGICAL_AGGREGATE && node->kind != LOGICAL_DISTINCT)
        return;
    if (watermark_below(node) == NULL) {
        buffer_add_text(text, ", with a watermark, and only by windows of the window below");
        return;
    }
    uint32_t keys = node->kind == LOGICAL_DISTINCT ? node->output_count : node->aggregate.key_count;
    for (uint32_t i = 0; i < keys; i++)
        if (node->output[i]->event_time)
            return;
    const struct attribute *time = grouping_time_of(node);
    buffer_add_text(text, ". The watermark is not used by the grouping, which append mode needs: ");
    if (time != NULL)
        add_grouping(text, time);
    else
        buffer_add_text(text, "select the window below as a whole, not its start or end, and group "
                              "by a window of it");
}
