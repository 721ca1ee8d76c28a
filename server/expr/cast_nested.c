/* CAST of arrays, maps and structs: part by part, with the mode of the whole. */
#include "base/check.h"
#include "expr/cast_impl.h"

static enum status cast_part(const struct cast_job *job, const struct vector *part,
                             const struct type *type, const struct cast_rows *rows,
                             struct vector **out, struct error *err)
{
    struct expr cast = {.kind = EXPR_CAST, .type = type};
    cast.cast.mode = job->mode;
    cast.cast.time_zone = timezone_id(job->zone);
    if (part->constant) {
        struct vector one = *part;
        one.constant = false;
        one.length = 1;
        struct cast_rows first = {.selected = 1, .rows = 1};
        struct vector *result;
        if (vector_is_null(part, 0))
            return vector_new_null(job->ctx->arena, type, rows->rows, out, err);
        TRY(cast_vector(job->ctx, &cast, &one, &first, &result, err));
        struct vector *constant = arena_new_object(job->ctx->arena, sizeof *constant);
        *constant = *result;
        constant->constant = true;
        constant->length = rows->rows;
        *out = constant;
        return OK;
    }
    return cast_vector(job->ctx, &cast, part, rows, out, err);
}

/* Only elements of rows that are selected may raise errors: the child is made of just those. */
static enum status gather_elements(const struct cast_job *job, const struct vector *in,
                                   uint32_t **indices, uint32_t *count, struct error *err)
{
    const struct list_entry *entries = in->values;
    struct list_entry *to = job->out->values;
    memset(to, 0, job->rows->rows * sizeof *to);
    uint64_t total = 0;
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row))
        total += entries[vector_index(in, row)].length;
    if (total > UINT32_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "elements of a batch", "limit",
                           "4294967295", NULL);
    void *memory;
    TRY(arena_alloc_raw(job->ctx->arena, total + 1, sizeof(uint32_t), &memory, err));
    uint32_t *list = memory;
    uint32_t at = 0;
    i = 0;
    while (cast_next(job, &i, &row)) {
        struct list_entry entry = entries[vector_index(in, row)];
        to[row] = (struct list_entry){.offset = at, .length = entry.length};
        for (uint32_t k = 0; k < entry.length; k++)
            list[at++] = entry.offset + k;
    }
    *indices = list;
    *count = at;
    return OK;
}

static enum status lists(const struct cast_job *job, struct error *err)
{
    uint32_t *indices = NULL;
    uint32_t count = 0;
    TRY(gather_elements(job, job->in, &indices, &count, err));
    struct cast_rows all = {.selected = count, .rows = count};
    for (uint32_t k = 0; k < job->out->child_count; k++) {
        const struct type *type =
            job->out->child_count == 2 && k == 0 ? job->out->type->key : job->out->type->element;
        struct vector *part = NULL;
        if (count == 0) {
            TRY(vector_new(job->ctx->arena, type, 0, &job->out->children[k], err));
            continue;
        }
        TRY(vector_gather(job->ctx->arena, job->in->children[k], indices, count, &part, err));
        TRY(cast_part(job, part, type, &all, &job->out->children[k], err));
    }
    return OK;
}

/* A view of a field that is NULL where its struct is. */
static enum status masked_field(const struct cast_job *job, const struct vector *field,
                                const struct vector **out, struct error *err)
{
    *out = field;
    if (job->in->validity == NULL || field->constant)
        return OK;
    size_t words = validity_words(job->rows->rows);
    void *memory;
    TRY(arena_alloc_raw(job->ctx->arena, words + 1, sizeof(uint64_t), &memory, err));
    uint64_t *validity = memory;
    memcpy(validity, job->in->validity, words * sizeof(uint64_t));
    for (size_t word = 0; field->validity != NULL && word < words; word++)
        validity[word] &= field->validity[word];
    struct vector *view = arena_new_object(job->ctx->arena, sizeof *view);
    *view = *field;
    view->validity = validity;
    *out = view;
    return OK;
}

static enum status structs(const struct cast_job *job, struct error *err)
{
    for (uint32_t k = 0; k < job->out->child_count; k++) {
        const struct vector *field;
        TRY(masked_field(job, job->in->children[k], &field, err));
        TRY(cast_part(job, field, job->out->type->fields[k].type, job->rows, &job->out->children[k],
                      err));
    }
    return OK;
}

cast_function *cast_to_nested(const struct type *from, const struct type *to)
{
    if (from->id != to->id)
        return NULL;
    return to->id == TYPE_STRUCT ? structs : lists;
}
