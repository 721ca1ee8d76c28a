/*
 * Our own test parser: any text is records or a mistake with its line, and the cells of its bodies
 * are cells or a mistake.
 */
#include "base/check.h"
#include "scn_file.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new("file", 0);
    struct error err = ERROR_INIT;
    struct scn_file file;
    if (scn_parse(arena, "fuzz.scn", bytes_of(data, size), &file, &err) != OK) {
        CHECK(err.status == SCENARIO_INVALID);
    } else {
        for (size_t i = 0; i < file.count; i++) {
            for (size_t k = 0; k < file.records[i].body_count; k++) {
                struct scn_cell *cells;
                size_t count;
                enum status status =
                    scn_cells(arena, file.records[i].body[k], &cells, &count, &err);
                CHECK(status == OK || status == SCENARIO_INVALID);
            }
        }
    }
    arena_free(arena);
    return 0;
}
