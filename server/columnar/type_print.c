/*
 * The three text forms of a type.  They differ in names, separators and in what they say about
 * nullability, so each is a table of names plus one recursive function.  Types are built with a
 * limited depth, which bounds the recursion.
 */
#include "base/check.h"
#include "columnar/interval_text.h"
#include "columnar/type.h"

static const char *const simple_names[TYPE_ID_COUNT] = {
    [TYPE_VOID] = "void",
    [TYPE_BOOLEAN] = "boolean",
    [TYPE_BYTE] = "tinyint",
    [TYPE_SHORT] = "smallint",
    [TYPE_INT] = "int",
    [TYPE_LONG] = "bigint",
    [TYPE_FLOAT] = "float",
    [TYPE_DOUBLE] = "double",
    [TYPE_DECIMAL] = "decimal",
    [TYPE_STRING] = "string",
    [TYPE_BINARY] = "binary",
    [TYPE_DATE] = "date",
    [TYPE_TIMESTAMP] = "timestamp",
    [TYPE_TIMESTAMP_NTZ] = "timestamp_ntz",
    [TYPE_TIME] = "time",
    [TYPE_INTERVAL_DT] = "interval",
    [TYPE_INTERVAL_YM] = "interval",
    [TYPE_INTERVAL] = "interval",
    [TYPE_VARIANT] = "variant",
    [TYPE_ARRAY] = "array",
    [TYPE_MAP] = "map",
    [TYPE_STRUCT] = "struct",
};

static const char *json_name(enum type_id id)
{
    switch ((int)id) {
    case TYPE_BYTE:
        return "byte";
    case TYPE_SHORT:
        return "short";
    case TYPE_INT:
        return "integer";
    case TYPE_LONG:
        return "long";
    default:
        return simple_names[id];
    }
}

/* The name with its parameters, in lower case: "decimal(10,2)", "interval day to second". */
static void print_scalar(struct buffer *out, const char *name, const struct type *type)
{
    buffer_add_text(out, name);
    switch ((int)type->id) {
    case TYPE_DECIMAL:
        buffer_printf(out, "(%d,%d)", type->precision, type->scale);
        break;
    case TYPE_TIME:
        buffer_printf(out, "(%d)", type->precision);
        break;
    case TYPE_INTERVAL_DT:
    case TYPE_INTERVAL_YM:
        buffer_printf(out, " %s", interval_field_name(type->interval_from));
        if (type->interval_to != type->interval_from)
            buffer_printf(out, " to %s", interval_field_name(type->interval_to));
        break;
    default:
        break;
    }
}

static void upper_from(struct buffer *out, size_t start)
{
    for (size_t i = start; i < out->size_bytes; i++)
        if (out->data[i] >= 'a' && out->data[i] <= 'z')
            out->data[i] = (uint8_t)(out->data[i] - 'a' + 'A');
}

static bool is_plain_name(const char *name)
{
    if (*name == '\0' || (*name >= '0' && *name <= '9'))
        return false;
    for (; *name != '\0'; name++) {
        char c = *name;
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!word && c != '_')
            return false;
    }
    return true;
}

static void print_quoted_name(struct buffer *out, const char *name)
{
    if (is_plain_name(name)) {
        buffer_add_text(out, name);
        return;
    }
    buffer_add_byte(out, '`');
    for (; *name != '\0'; name++) {
        if (*name == '`')
            buffer_add_byte(out, '`');
        buffer_add_byte(out, (uint8_t)*name);
    }
    buffer_add_byte(out, '`');
}

static void print_sql_field(struct buffer *out, const struct type_field *field)
{
    print_quoted_name(out, field->name);
    buffer_add_text(out, ": ");
    type_print_sql(out, field->type);
    if (!field->nullable)
        buffer_add_text(out, " NOT NULL");
    if (field->comment == NULL)
        return;
    buffer_add_text(out, " COMMENT '");
    for (const char *at = field->comment; *at != '\0'; at++) {
        if (*at == '\'' || *at == '\\')
            buffer_add_byte(out, '\\');
        buffer_add_byte(out, (uint8_t)*at);
    }
    buffer_add_byte(out, '\'');
}

void type_print_sql(struct buffer *out, const struct type *type)
{
    CHECK(type != NULL);
    switch ((int)type->id) {
    case TYPE_ARRAY:
        buffer_add_text(out, "ARRAY<");
        type_print_sql(out, type->element);
        break;
    case TYPE_MAP:
        buffer_add_text(out, "MAP<");
        type_print_sql(out, type->key);
        buffer_add_text(out, ", ");
        type_print_sql(out, type->element);
        break;
    case TYPE_STRUCT:
        buffer_add_text(out, "STRUCT<");
        for (uint32_t i = 0; i < type->field_count; i++) {
            if (i > 0)
                buffer_add_text(out, ", ");
            print_sql_field(out, &type->fields[i]);
        }
        break;
    default: {
        size_t start = out->size_bytes;
        print_scalar(out, simple_names[type->id], type);
        upper_from(out, start);
        return;
    }
    }
    buffer_add_byte(out, '>');
}

void type_print_simple(struct buffer *out, const struct type *type)
{
    CHECK(type != NULL);
    switch ((int)type->id) {
    case TYPE_ARRAY:
        buffer_add_text(out, "array<");
        type_print_simple(out, type->element);
        break;
    case TYPE_MAP:
        buffer_add_text(out, "map<");
        type_print_simple(out, type->key);
        buffer_add_byte(out, ',');
        type_print_simple(out, type->element);
        break;
    case TYPE_STRUCT:
        buffer_add_text(out, "struct<");
        for (uint32_t i = 0; i < type->field_count; i++) {
            if (i > 0)
                buffer_add_byte(out, ',');
            buffer_add_text(out, type->fields[i].name);
            buffer_add_byte(out, ':');
            type_print_simple(out, type->fields[i].type);
        }
        break;
    default:
        print_scalar(out, simple_names[type->id], type);
        return;
    }
    buffer_add_byte(out, '>');
}

static void print_json_field(struct buffer *out, const struct type_field *field)
{
    buffer_add_text(out, "{\"name\":");
    buffer_add_json_string(out, bytes_of_text(field->name));
    buffer_add_text(out, ",\"type\":");
    type_print_json(out, field->type);
    buffer_printf(out, ",\"nullable\":%s,\"metadata\":{", field->nullable ? "true" : "false");
    if (field->comment != NULL) {
        buffer_add_text(out, "\"comment\":");
        buffer_add_json_string(out, bytes_of_text(field->comment));
    }
    buffer_add_text(out, "}}");
}

void type_print_json(struct buffer *out, const struct type *type)
{
    CHECK(type != NULL);
    switch ((int)type->id) {
    case TYPE_ARRAY:
        buffer_add_text(out, "{\"type\":\"array\",\"elementType\":");
        type_print_json(out, type->element);
        buffer_printf(out, ",\"containsNull\":%s}", type->element_nullable ? "true" : "false");
        break;
    case TYPE_MAP:
        buffer_add_text(out, "{\"type\":\"map\",\"keyType\":");
        type_print_json(out, type->key);
        buffer_add_text(out, ",\"valueType\":");
        type_print_json(out, type->element);
        buffer_printf(out, ",\"valueContainsNull\":%s}", type->element_nullable ? "true" : "false");
        break;
    case TYPE_STRUCT:
        buffer_add_text(out, "{\"type\":\"struct\",\"fields\":[");
        for (uint32_t i = 0; i < type->field_count; i++) {
            if (i > 0)
                buffer_add_byte(out, ',');
            print_json_field(out, &type->fields[i]);
        }
        buffer_add_text(out, "]}");
        break;
    default:
        buffer_add_byte(out, '"');
        print_scalar(out, json_name(type->id), type);
        buffer_add_byte(out, '"');
    }
}

static const char *print_into(struct arena *arena, const struct type *type,
                              void (*print)(struct buffer *, const struct type *))
{
    struct buffer text = {0};
    print(&text, type);
    const char *copy = arena_strndup(arena, text.data, text.size_bytes);
    buffer_fini(&text);
    return copy;
}

const char *type_sql(struct arena *arena, const struct type *type)
{
    return print_into(arena, type, type_print_sql);
}

const char *type_name(struct arena *arena, const struct type *type)
{
    return print_into(arena, type, type_print_simple);
}
