/*
 * See static_join.h.
 */
#include "exec/static_join.h"

#include "base/check.h"
#include "exec/stateful.h"

struct widths {
    int left, right;
};

/* left ++ right becomes right ++ left. */
static struct expr *turn_column(struct arena *arena, struct expr *expr, void *arg)
{
    const struct widths *widths = arg;
    if (expr->kind != EXPR_COLUMN)
        return expr;
    struct expr *turned = expr_copy(arena, expr);
    turned->column.ordinal += expr->column.ordinal < widths->left ? widths->right : -widths->left;
    return turned;
}

static const struct type *join_schema(struct arena *query, const struct type *first,
                                      const struct type *second)
{
    uint32_t count = first->field_count + second->field_count;
    struct type_field *fields = arena_new_object(query, (count + 1) * sizeof *fields);
    for (uint32_t i = 0; i < count; i++)
        fields[i] =
            i < first->field_count ? first->fields[i] : second->fields[i - first->field_count];
    return type_struct(query, fields, count);
}

static struct plan_node *turn(struct arena *query, struct plan_node *join)
{
    struct plan_node *left = join->children[0];
    struct plan_node *right = join->children[1];
    struct widths widths = {(int)left->schema->field_count, (int)right->schema->field_count};
    struct plan_node *turned = arena_new_object(query, sizeof *turned);
    *turned = *join;
    turned->children = arena_new_object(query, 2 * sizeof(struct plan_node *));
    turned->children[0] = right;
    turned->children[1] = left;
    turned->schema = join_schema(query, right->schema, left->schema);
    turned->join.kind = join->join.kind == JOIN_RIGHT ? JOIN_LEFT : JOIN_INNER;
    turned->join.left_keys = join->join.right_keys;
    turned->join.right_keys = join->join.left_keys;
    if (join->join.condition != NULL)
        turned->join.condition = expr_rewrite(query, join->join.condition, turn_column, &widths);

    struct plan_node *project = arena_new_object(query, sizeof *project);
    uint32_t count = join->schema->field_count;
    *project = (struct plan_node){
        .kind = PLAN_PROJECT,
        .child_count = 1,
        .schema = join->schema,
        .streaming = true,
        .operator_id = -1,
    };
    project->children = arena_new_object(query, sizeof(struct plan_node *));
    project->children[0] = turned;
    project->project.exprs = arena_new_object(query, (count + 1) * sizeof(struct expr *));
    for (uint32_t i = 0; i < count; i++) {
        const struct type_field *field = &join->schema->fields[i];
        struct expr *column = expr_column(query, 0, field->name, field->type, field->nullable);
        column->column.ordinal =
            (int)i < widths.left ? (int)i + widths.right : (int)i - widths.left;
        project->project.exprs[i] = column;
    }
    return project;
}

struct plan_node *static_join_turn(struct arena *query, struct plan_node *root)
{
    for (uint32_t i = 0; i < root->child_count; i++)
        root->children[i] = static_join_turn(query, root->children[i]);
    if (!stateful_is_static_join(root) || root->children[0]->streaming)
        return root;
    CHECK(root->join.kind == JOIN_INNER || root->join.kind == JOIN_RIGHT);
    return turn(query, root);
}
