#include "control/path_policy.h"

#include "base/heap.h"
#include "base/path.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

struct path_policy {
    struct arena *arena;
    bool everything;
    bool relative; /* paths may be relative */
    const char **roots;
    size_t root_count;
    const char *data_dir; /* links followed */
    char text[400];       /* "/a, /b" for messages */
};

bool listen_is_loopback(const char *listen)
{
    return strncmp(listen, "127.", 4) == 0 || strncmp(listen, "localhost:", 10) == 0 ||
           strncmp(listen, "[::1]:", 6) == 0 || strncmp(listen, "unix:", 5) == 0;
}

char *path_policy_resolve(struct arena *arena, const char *path)
{
    char *normal = path_normalize(arena, path);
    char *prefix = arena_strdup(arena, normal);
    for (;;) {
        char *real = realpath(prefix, NULL);
        if (real != NULL) {
            const char *rest = normal + strlen(prefix);
            char *result = *rest == '\0' ? arena_strdup(arena, real)
                                         : path_join(arena, real, rest + (*rest == '/'));
            free(real);
            return path_normalize(arena, result);
        }
        if (strcmp(prefix, "/") == 0 || strcmp(prefix, ".") == 0)
            return normal;
        prefix = path_dirname(arena, prefix);
    }
}

struct path_policy *path_policy_new(const struct config *config)
{
    struct path_policy *policy = heap_calloc(1, sizeof *policy);
    policy->arena = arena_new("server", 0);
    size_t count = 0;
    while (config_path(config, SETTING_allowPath, count) != NULL)
        count++;
    policy->everything = count == 0 && listen_is_loopback(config_text(config, SETTING_listen));
    policy->roots = arena_new_object(policy->arena, (count + 1) * sizeof(const char *));
    for (size_t i = 0; i < count; i++)
        policy->roots[policy->root_count++] =
            path_policy_resolve(policy->arena, config_path(config, SETTING_allowPath, i));
    if (count == 0 && !policy->everything)
        policy->roots[policy->root_count++] =
            path_policy_resolve(policy->arena, config_text(config, SETTING_dataDir));
    policy->data_dir = path_policy_resolve(
        policy->arena, path_absolute(policy->arena, config_text(config, SETTING_dataDir)));
    size_t used = 0;
    for (size_t i = 0; i < policy->root_count && used < sizeof policy->text; i++)
        used += (size_t)snprintf(policy->text + used, sizeof policy->text - used, "%s%s",
                                 i == 0 ? "" : ", ", policy->roots[i]);
    return policy;
}

void path_policy_allow_relative(struct path_policy *policy)
{
    policy->relative = true;
}

bool path_policy_relative(const struct path_policy *policy)
{
    return policy->relative;
}

void path_policy_free(struct path_policy *policy)
{
    if (policy == NULL)
        return;
    arena_free(policy->arena);
    free(policy);
}

/* A glob counts by the directory above its first wildcard. */
static char *fixed_part(struct arena *arena, const char *path)
{
    char *fixed = arena_strdup(arena, path_strip_file_scheme(path));
    size_t length = strcspn(fixed, "*?[{\\");
    if (fixed[length] == '\0')
        return fixed;
    while (length > 0 && fixed[length - 1] != '/')
        length--;
    fixed[length] = '\0';
    return fixed;
}

enum status path_policy_check(const struct path_policy *policy, const char *path, struct error *err)
{
    if (policy->everything)
        return OK;
    struct arena *arena = arena_new("request", 0);
    /* ".." after a wildcard could lead anywhere: such a path has no fixed part to trust. */
    const char *wild = path + strcspn(path, "*?[{\\");
    bool allowed = false;
    if (strstr(wild, "..") == NULL) {
        const char *real = path_policy_resolve(arena, fixed_part(arena, path));
        for (size_t i = 0; i < policy->root_count && !allowed; i++)
            allowed = path_is_below(real, policy->roots[i]);
    }
    arena_free(arena);
    if (allowed)
        return OK;
    return error_raise(err, STATUS_PATH_NOT_ALLOWED, "path", path, "roots", policy->text, NULL);
}

const char *path_policy_own(const struct path_policy *policy, struct arena *arena, const char *path)
{
    static const char *const names[] = {"queries", "checkpoints"};
    const char *real = path_policy_resolve(arena, path_absolute(arena, fixed_part(arena, path)));
    if (strcmp(real, policy->data_dir) == 0)
        return policy->data_dir;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *own = path_join(arena, policy->data_dir, names[i]);
        if (path_is_below(real, own))
            return own;
    }
    return NULL;
}

static enum status check_options(const struct path_policy *policy, const struct options *options,
                                 struct diagnostics *diagnostics, struct error *err)
{
    static const char *const names[] = {"path", "sourceArchiveDir", "badRecordsPath"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = options_get(options, names[i]);
        if (value == NULL || path_policy_check(policy, value, err) == OK)
            continue;
        (void)snprintf(err->pointer, sizeof err->pointer, "%s/%s",
                       options->pointer == NULL ? "" : options->pointer, names[i]);
        TRY(diagnostics_report(diagnostics, DIAGNOSTIC_ERROR, err, NULL));
    }
    return OK;
}

enum status path_policy_check_spec(const struct path_policy *policy, const struct query_spec *spec,
                                   struct diagnostics *diagnostics, struct error *err)
{
    for (size_t i = 0; i < spec->source_count; i++)
        TRY(check_options(policy, &spec->sources[i].options, diagnostics, err));
    for (size_t i = 0; i < spec->table_count; i++)
        TRY(check_options(policy, &spec->tables[i].options, diagnostics, err));
    TRY(check_options(policy, &spec->sink.options, diagnostics, err));
    if (spec->checkpoint_location == NULL ||
        path_policy_check(policy, spec->checkpoint_location, err) == OK)
        return OK;
    (void)snprintf(err->pointer, sizeof err->pointer, "/checkpointLocation");
    return diagnostics_report(diagnostics, DIAGNOSTIC_ERROR, err, NULL);
}
