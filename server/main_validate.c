/*
 * tidemill validate: everything that is wrong with a spec, with the place in the SQL marked.
 */
#include "api/api.h"
#include "cli/cli.h"
#include "control/query_validate.h"
#include "main.h"
#include "spec/error_text.h"

#include <stdio.h>

/* As `validate --server` says it. */
static void add_operators(struct buffer *out, const struct validation *validation)
{
    for (size_t i = 0; i < validation->operator_count; i++) {
        const struct validation_operator *it = &validation->operators[i];
        buffer_printf(out, "state of %s (operator %d): %s, because %s\n", it->kind, it->id,
                      it->bounded ? "bounded" : "grows without limit", it->reason);
    }
}

static void print_diagnostics(const struct validation *validation)
{
    static const char *const words[] = {"error", "warning", "note"};
    struct buffer out = {0};
    for (const struct diagnostic *at = validation->diagnostics->first; at != NULL; at = at->next) {
        error_text_add(&out, words[at->severity], &at->error, validation->spec);
        for (const struct fix *fix = at->fixes; fix != NULL; fix = fix->next)
            buffer_printf(&out, "  fix: %s. %s\n", fix->title, fix->consequence);
    }
    if (!diagnostics_has_errors(validation->diagnostics)) {
        add_operators(&out, validation);
        buffer_printf(&out, "valid; delivery: %s\n%s",
                      validation->exactly_once ? "exactly once" : "at least once",
                      validation->plan_text == NULL ? "" : validation->plan_text);
    }
    (void)fwrite(out.data, 1, out.size_bytes, stdout);
    buffer_fini(&out);
}

static void print_json(const struct validation *validation)
{
    struct buffer out = {0};
    api_put_validation(&out, validation);
    cli_print_json(buffer_bytes(&out));
    buffer_fini(&out);
}

int validate(const struct arguments *arguments, struct config *config)
{
    struct error err = ERROR_INIT;
    struct buffer json = {0};
    struct validation validation;
    if (arguments->value[CLI_SERVER] != NULL)
        return cli_validate(arguments);
    int code = cli_read_spec(arguments->target[0], &json);
    if (code != EXIT_OK)
        return code;
    struct arena *arena = arena_new("request", 0);
    struct path_policy *paths = path_policy_new(config);
    path_policy_allow_relative(paths); /* as `run` does */
    if (query_validate(arena, paths, buffer_bytes(&json), &validation, &err) == OK) {
        if (arguments_json(arguments))
            print_json(&validation);
        else
            print_diagnostics(&validation);
        code = diagnostics_has_errors(validation.diagnostics) ? EXIT_INVALID : EXIT_OK;
    } else {
        code = exit_code_of(&err);
    }
    path_policy_free(paths);
    arena_free(arena);
    buffer_fini(&json);
    return code;
}
