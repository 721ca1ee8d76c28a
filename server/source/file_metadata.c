#include "source/file_metadata.h"

#include "base/check.h"
#include "base/path.h"

#include <string.h>

enum fact {
    FACT_PATH,
    FACT_NAME,
    FACT_SIZE,
    FACT_BLOCK_START,
    FACT_BLOCK_LENGTH,
    FACT_MODIFICATION_TIME,
    FACT_COUNT,
};

static const char *const fact_names[FACT_COUNT] = {
    [FACT_PATH] = "file_path",
    [FACT_NAME] = "file_name",
    [FACT_SIZE] = "file_size",
    [FACT_BLOCK_START] = "file_block_start",
    [FACT_BLOCK_LENGTH] = "file_block_length",
    [FACT_MODIFICATION_TIME] = "file_modification_time",
};

const struct type *file_metadata_type(struct arena *arena)
{
    struct type_field fields[FACT_COUNT];
    for (int i = 0; i < FACT_COUNT; i++)
        fields[i] = (struct type_field){
            .name = fact_names[i],
            .type = type_simple(i <= FACT_NAME                ? TYPE_STRING
                                : i == FACT_MODIFICATION_TIME ? TYPE_TIMESTAMP
                                                              : TYPE_LONG),
        };
    return type_struct(arena, fields, FACT_COUNT);
}

static int64_t whole_milliseconds(int64_t time_us)
{
    int64_t rest = time_us % 1000;
    return time_us - (rest < 0 ? rest + 1000 : rest);
}

static void set_fact(struct arena *arena, const struct file_facts *facts, enum fact fact,
                     struct vector *cell)
{
    const char *path = path_to_uri(arena, facts->path) + strlen("file://");
    switch (fact) {
    case FACT_PATH:
        VECTOR_VALUES(struct bytes, cell)[0] = bytes_of_text(arena_sprintf(arena, "file:%s", path));
        return;
    case FACT_NAME:
        VECTOR_VALUES(struct bytes, cell)[0] = bytes_of_text(path_basename(path));
        return;
    case FACT_SIZE:
        VECTOR_VALUES(int64_t, cell)[0] = (int64_t)facts->size_bytes;
        return;
    case FACT_BLOCK_START:
        VECTOR_VALUES(int64_t, cell)[0] = (int64_t)facts->block_start;
        return;
    case FACT_BLOCK_LENGTH:
        VECTOR_VALUES(int64_t, cell)[0] = (int64_t)facts->block_length;
        return;
    case FACT_MODIFICATION_TIME:
        VECTOR_VALUES(int64_t, cell)[0] = whole_milliseconds(facts->mtime_us);
        return;
    case FACT_COUNT:
        break;
    }
}

enum status file_metadata_vector(struct arena *arena, const struct type *type,
                                 const struct file_facts *facts, struct vector **out,
                                 struct error *err)
{
    CHECK(type->id == TYPE_STRUCT);
    struct vector *vector = NULL;
    TRY(vector_new(arena, type, 1, &vector, err));
    vector->constant = true;
    for (uint32_t i = 0; i < type->field_count; i++) {
        int fact = 0;
        while (fact < FACT_COUNT && strcmp(fact_names[fact], type->fields[i].name) != 0)
            fact++;
        CHECK(fact < FACT_COUNT);
        vector->children[i]->constant = true;
        set_fact(arena, facts, (enum fact)fact, vector->children[i]);
    }
    *out = vector;
    return OK;
}
