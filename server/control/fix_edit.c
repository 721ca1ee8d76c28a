/*
 * See fix_edit.h.
 */
#include "control/fix_edit.h"

#include "base/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *fix_container(json_t *root, const char *pointer, char *last, size_t last_size)
{
    json_t *at = root;
    while (*pointer == '/') {
        pointer++;
        size_t size = strcspn(pointer, "/");
        char name[160];
        size_t used = 0;
        for (size_t i = 0; i < size && used + 1 < sizeof name; i++) {
            if (pointer[i] == '~' && i + 1 < size) {
                name[used++] = pointer[i + 1] == '1' ? '/' : '~';
                i++;
            } else {
                name[used++] = pointer[i];
            }
        }
        name[used] = '\0';
        pointer += size;
        if (*pointer == '\0') {
            (void)snprintf(last, last_size, "%s", name);
            return at;
        }
        at = json_is_array(at) ? json_array_get(at, strtoul(name, NULL, 10))
                               : json_object_get(at, name);
    }
    return NULL;
}

/* `text` with the piece at its first occurrence replaced; NULL if it is not there. */
static json_t *replaced(const char *text, const char *replace, const char *with)
{
    const char *at = strstr(text, replace);
    if (at == NULL)
        return NULL;
    struct buffer out = {0};
    buffer_add(&out, text, (size_t)(at - text));
    buffer_add_text(&out, with);
    buffer_add_text(&out, at + strlen(replace));
    json_t *result = json_stringn((const char *)out.data, out.size_bytes);
    buffer_fini(&out);
    return result;
}

bool fix_apply(json_t *root, const struct fix_edit *edit)
{
    char last[160];
    json_t *container = fix_container(root, edit->pointer, last, sizeof last);
    if (!json_is_object(container) && !json_is_array(container))
        return false;
    if (edit->remove)
        return json_is_object(container) && json_object_del(container, last) == 0;
    json_t *old = json_is_array(container) ? json_array_get(container, strtoul(last, NULL, 10))
                                           : json_object_get(container, last);
    json_t *value = NULL;
    if (edit->value_json != NULL)
        value = json_loads(edit->value_json, JSON_DECODE_ANY, NULL);
    else if (json_is_string(old))
        value = replaced(json_string_value(old), edit->replace, edit->text);
    if (value == NULL)
        return false;
    return json_is_array(container)
               ? json_array_set_new(container, strtoul(last, NULL, 10), value) == 0
               : json_object_set_new(container, last, value) == 0;
}
