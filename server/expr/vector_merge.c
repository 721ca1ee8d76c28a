#include "base/check.h"
#include "expr/program_impl.h"

static enum status merge_nulls(struct arena *arena, struct vector *out,
                               const struct merge_source *source, struct error *err)
{
    const struct vector *vector = source->vector;
    if (vector != NULL && vector->validity == NULL && vector->type->id != TYPE_VOID)
        return OK;
    if (out->type->id == TYPE_VOID)
        return OK;
    TRY(vector_make_nullable(arena, out, err));
    for (uint32_t i = 0; i < source->rows.selected; i++) {
        uint32_t row = rows_at(&source->rows, i);
        if (vector == NULL || vector_is_null(vector, row))
            vector_set_null(out, row);
    }
    return OK;
}

/* Cells of any type by their size. */
typedef uint16_t __attribute__((may_alias)) cell2;
typedef uint32_t __attribute__((may_alias)) cell4;
typedef uint64_t __attribute__((may_alias)) cell8;
struct __attribute__((may_alias)) cell16 {
    uint64_t half[2];
};

#define COPY_CELLS(T)                                                                              \
    do {                                                                                           \
        T *to = out->values;                                                                       \
        const T *from = source->vector->values;                                                    \
        size_t step = source->vector->constant ? 0 : 1;                                            \
        for (uint32_t i = 0; i < source->rows.selected; i++) {                                     \
            uint32_t row = rows_at(&source->rows, i);                                              \
            to[row] = from[row * step];                                                            \
        }                                                                                          \
    } while (0)

static void merge_cells(struct vector *out, const struct merge_source *source)
{
    switch (type_value_bytes(out->type)) {
    case 0:
        break;
    case 1:
        COPY_CELLS(uint8_t);
        break;
    case 2:
        COPY_CELLS(cell2);
        break;
    case 4:
        COPY_CELLS(cell4);
        break;
    case 8:
        COPY_CELLS(cell8);
        break;
    case 16:
        COPY_CELLS(struct cell16);
        break;
    default:
        CHECK(!"a cell of unknown size");
    }
}

/* Children of lists are put one after another; the entries of source k shift by bases[k]. */
static enum status merge_lists(struct arena *arena, struct vector *out,
                               const struct merge_source *sources, uint32_t source_count,
                               struct error *err)
{
    struct vector **parts = arena_new_object(arena, ((size_t)source_count + 1) * sizeof *parts);
    for (uint32_t child = 0; child < out->child_count; child++) {
        uint32_t count = 0;
        uint32_t base = 0;
        for (uint32_t k = 0; k < source_count; k++) {
            const struct vector *vector = sources[k].vector;
            if (vector == NULL || vector->type->id == TYPE_VOID)
                continue;
            parts[count++] = vector->children[child];
            const struct list_entry *from = vector->values;
            struct list_entry *to = out->values;
            for (uint32_t i = 0; i < sources[k].rows.selected; i++) {
                uint32_t row = rows_at(&sources[k].rows, i);
                struct list_entry entry = {0, 0};
                if (!vector_is_null(vector, row))
                    entry = from[vector_index(vector, row)];
                to[row] = (struct list_entry){entry.offset + base, entry.length};
            }
            base += vector->children[child]->length;
        }
        if (count == 1)
            out->children[child] = parts[0];
        else if (count > 1)
            TRY(vector_concat(arena, parts, count, &out->children[child], err));
    }
    return OK;
}

static enum status merge_structs(struct arena *arena, struct vector *out,
                                 const struct merge_source *sources, uint32_t source_count,
                                 struct error *err)
{
    struct merge_source *parts =
        arena_new_object(arena, ((size_t)source_count + 1) * sizeof *parts);
    for (uint32_t child = 0; child < out->child_count; child++) {
        for (uint32_t k = 0; k < source_count; k++) {
            parts[k] = sources[k];
            const struct vector *vector = sources[k].vector;
            if (vector == NULL || vector->type->id == TYPE_VOID) {
                parts[k].vector = NULL;
                continue;
            }
            const struct vector *field = vector->children[child];
            if (vector->constant && !field->constant) {
                struct vector *constant = arena_new_object(arena, sizeof *constant);
                *constant = *field;
                constant->constant = true;
                field = constant;
            }
            parts[k].vector = field;
        }
        TRY(vector_merge(arena, out->type->fields[child].type, out->length, parts, source_count,
                         &out->children[child], err));
    }
    return OK;
}

enum status vector_merge(struct arena *arena, const struct type *type, uint32_t count,
                         const struct merge_source *sources, uint32_t source_count,
                         struct vector **result, struct error *err)
{
    struct vector *out;
    TRY(vector_new(arena, type, count, &out, err));
    for (uint32_t k = 0; k < source_count; k++)
        TRY(merge_nulls(arena, out, &sources[k], err));
    switch (type->id) {
    case TYPE_ARRAY:
    case TYPE_MAP:
        memset(out->values, 0, count * sizeof(struct list_entry));
        TRY(merge_lists(arena, out, sources, source_count, err));
        break;
    case TYPE_STRUCT:
        TRY(merge_structs(arena, out, sources, source_count, err));
        break;
    default:
        for (uint32_t k = 0; k < source_count; k++) {
            if (sources[k].vector != NULL && sources[k].vector->type->id != TYPE_VOID)
                merge_cells(out, &sources[k]);
        }
        break;
    }
    *result = out;
    return OK;
}
