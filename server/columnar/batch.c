#include "columnar/batch.h"

#include "base/check.h"

enum status batch_new(struct arena *arena, const struct type *schema, uint32_t rows,
                      struct batch **out, struct error *err)
{
    CHECK(schema->id == TYPE_STRUCT && rows <= BATCH_ROWS_MAX);
    struct batch *batch = arena_new_object(arena, sizeof(*batch));
    batch->schema = schema;
    batch->rows = rows;
    batch->selected = rows;
    batch->columns = arena_new_object(arena, (schema->field_count + 1) * sizeof(*batch->columns));
    for (uint32_t i = 0; i < schema->field_count; i++)
        TRY(vector_new(arena, schema->fields[i].type, rows, &batch->columns[i], err));
    *out = batch;
    return OK;
}

enum status batch_compact(struct arena *arena, const struct batch *batch, struct batch *out,
                          struct error *err)
{
    if (batch->selection == NULL) {
        *out = *batch;
        return OK;
    }
    uint32_t rows[BATCH_ROWS_MAX];
    for (uint32_t i = 0; i < batch->selected; i++)
        rows[i] = batch->selection[i];
    struct vector **columns =
        arena_new_object(arena, (batch->schema->field_count + 1) * sizeof(*columns));
    for (uint32_t i = 0; i < batch->schema->field_count; i++) {
        const struct vector *column = batch->columns[i];
        if (column->constant) {
            columns[i] = arena_new_object(arena, sizeof(*columns[i]));
            *columns[i] = *column;
            columns[i]->length = batch->selected;
        } else {
            TRY(vector_gather(arena, column, rows, batch->selected, &columns[i], err));
        }
    }
    *out = (struct batch){.schema = batch->schema,
                          .columns = columns,
                          .rows = batch->selected,
                          .selected = batch->selected};
    return OK;
}

static void check_lists(const struct vector *vector, uint32_t rows)
{
    const struct list_entry *entries = vector->values;
    CHECK(entries != NULL || rows == 0);
    for (uint32_t c = 0; c < vector->child_count; c++)
        for (uint32_t row = 0; row < rows; row++)
            if (validity_get(vector->validity, row))
                CHECK((uint64_t)entries[row].offset + entries[row].length <=
                      vector->children[c]->length);
}

static void check_vector(const struct vector *vector, const struct type *type, uint32_t length)
{
    CHECK(vector != NULL && vector->type != NULL);
    CHECK_SLOW(type_equal_unnamed(vector->type, type));
    CHECK(vector->length >= length);
    uint32_t rows = vector->constant ? 1 : vector->length;
    CHECK(vector->values != NULL || type_value_bytes(type) == 0 || rows == 0);
    switch ((int)type->id) {
    case TYPE_ARRAY:
        CHECK(vector->child_count == 1);
        check_lists(vector, rows);
        check_vector(vector->children[0], type->element, 0);
        break;
    case TYPE_MAP:
        CHECK(vector->child_count == 2);
        check_lists(vector, rows);
        check_vector(vector->children[0], type->key, 0);
        check_vector(vector->children[1], type->element, 0);
        break;
    case TYPE_STRUCT:
        CHECK(vector->child_count == type->field_count);
        for (uint32_t i = 0; i < type->field_count; i++)
            check_vector(vector->children[i], type->fields[i].type, rows);
        break;
    default:
        CHECK(vector->child_count == 0);
    }
}

void batch_check(const struct batch *batch)
{
    CHECK(batch != NULL && batch->schema != NULL && batch->schema->id == TYPE_STRUCT);
    CHECK(batch->rows <= BATCH_ROWS_MAX && batch->selected <= batch->rows);
    CHECK(batch->selection != NULL || batch->selected == batch->rows);
    for (uint32_t i = 1; batch->selection != NULL && i < batch->selected; i++)
        CHECK(batch->selection[i - 1] < batch->selection[i]);
    if (batch->selection != NULL && batch->selected > 0)
        CHECK(batch->selection[batch->selected - 1] < batch->rows);
    for (uint32_t i = 0; i < batch->schema->field_count; i++)
        check_vector(batch->columns[i], batch->schema->fields[i].type, batch->rows);
}
