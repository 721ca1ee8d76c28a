#include "cli/command.h"

#include "base/check.h"
#include "base/heap.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>

void table_add(struct table *table, const char *const *cells)
{
    CHECK(table->columns > 0);
    table->rows = heap_realloc(table->rows, (table->row_count + 1) * sizeof *table->rows);
    char **row = heap_calloc(table->columns, sizeof *row);
    for (size_t i = 0; i < table->columns; i++) {
        row[i] = heap_strdup(cells[i]);
    }
    table->rows[table->row_count++] = row;
}

static int width_of(const char *text)
{
    return (int)utf8_length(bytes_of_text(text));
}

void table_print(const struct table *table)
{
    int *widths = heap_calloc(table->columns, sizeof *widths);
    for (size_t r = 0; r < table->row_count; r++) {
        for (size_t c = 0; c < table->columns; c++) {
            int width = width_of(table->rows[r][c]);
            if (width > widths[c])
                widths[c] = width;
        }
    }
    for (size_t r = 0; r < table->row_count; r++) {
        for (size_t c = 0; c < table->columns; c++) {
            const char *cell = table->rows[r][c];
            bool last = c + 1 == table->columns;
            (void)printf("%s%*s", cell, last ? 0 : widths[c] - width_of(cell) + 2, "");
        }
        (void)putchar('\n');
    }
    free(widths);
}

static bool is_printable(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return false;
    return true;
}

/* *dumped is to be freed. */
static const char *cell_text(const json_t *value, char **dumped)
{
    *dumped = NULL;
    if (value == NULL || json_is_null(value))
        return "NULL";
    if (json_is_string(value) && is_printable(json_string_value(value), json_string_length(value)))
        return json_string_value(value);
    *dumped = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    return *dumped;
}

void table_add_values(struct table *table, const json_t *const *values)
{
    const char **cells = heap_calloc(table->columns, sizeof *cells);
    char **dumped = heap_calloc(table->columns, sizeof *dumped);
    for (size_t c = 0; c < table->columns; c++)
        cells[c] = cell_text(values[c], &dumped[c]);
    table_add(table, cells);
    for (size_t c = 0; c < table->columns; c++)
        free(dumped[c]);
    free(dumped);
    free((void *)cells);
}

void table_add_objects(struct table *table, const char *const *names, size_t count,
                       const json_t *rows)
{
    size_t i;
    json_t *row;
    const json_t **values = heap_calloc(count, sizeof *values);
    table->columns = count;
    table_add(table, names);
    json_array_foreach(rows, i, row)
    {
        for (size_t c = 0; c < count; c++)
            values[c] = json_object_get(row, names[c]);
        table_add_values(table, values);
    }
    free((void *)values);
}

void table_fini(struct table *table)
{
    for (size_t r = 0; r < table->row_count; r++) {
        for (size_t c = 0; c < table->columns; c++)
            free(table->rows[r][c]);
        free(table->rows[r]);
    }
    free(table->rows);
    *table = (struct table){0};
}
