#include "cli/command.h"

#include "base/check.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>

void table_add(struct table *table, const char *const *cells)
{
    CHECK(table->columns > 0 && table->columns <= TABLE_COLUMNS_MAX);
    table->rows = realloc(table->rows, (table->row_count + 1) * sizeof *table->rows);
    CHECK(table->rows != NULL);
    char **row = calloc(table->columns, sizeof *row);
    CHECK(row != NULL);
    for (size_t i = 0; i < table->columns; i++) {
        row[i] = strdup(cells[i]);
        CHECK(row[i] != NULL);
    }
    table->rows[table->row_count++] = row;
}

static int width_of(const char *text)
{
    return (int)utf8_length(bytes_of_text(text));
}

void table_print(const struct table *table)
{
    int widths[TABLE_COLUMNS_MAX] = {0};
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
