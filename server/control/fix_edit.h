/*
 * The edits of a fix, made to the JSON of a spec.
 */
#ifndef SERVER_CONTROL_FIX_EDIT_H
#define SERVER_CONTROL_FIX_EDIT_H

#include "spec/diagnostics.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The container and the last name of a JSON pointer; NULL: there is no such place. */
json_t *fix_container(json_t *root, const char *pointer, char *last, size_t last_size);

/* False: it does not fit what is there. */
bool fix_apply(json_t *root, const struct fix_edit *edit);

#endif
