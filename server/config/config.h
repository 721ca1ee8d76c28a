/*
 * Settings: what an operator may choose about a process, each with the origin of its value.
 *
 * The list is settings.def.  In rising order of precedence a value comes from the default, the
 * settings file (lines `name = value`, '#' begins a comment), the environment
 * (TIDEMILL_MAX_BODY_BYTES), a flag (--max-body-bytes 4m or --max-body-bytes=4m; a list's flag
 * may be repeated).  Unknown names and impossible values are errors that name the origin.
 * Threads: one while loading; afterwards any, for reading.
 */
#ifndef SERVER_CONFIG_CONFIG_H
#define SERVER_CONFIG_CONFIG_H

#include "base/buffer.h"
#include "base/log.h"

enum setting {
#define SETTING(name, kind, default_, min, max, help) SETTING_##name,
#include "config/settings.def"
#undef SETTING
    SETTING_COUNT_
};

enum setting_kind {
    SETTING_KIND_TEXT,
    SETTING_KIND_PATHS,
    SETTING_KIND_BOOL,
    SETTING_KIND_COUNT,
    SETTING_KIND_SIZE,
    SETTING_KIND_DURATION,
    SETTING_KIND_LEVEL,
};

enum setting_origin {
    ORIGIN_DEFAULT,
    ORIGIN_FILE,
    ORIGIN_ENVIRONMENT,
    ORIGIN_FLAG,
};

struct config;

/* All settings at their defaults. */
struct config *config_new(void);
void config_free(struct config *config); /* NULL is fine */

/* Errors of the loaders: UNKNOWN_SETTING, INVALID_SETTING, FILE_NOT_FOUND, IO_FAILURE. */
MUST_USE enum status config_load_file(struct config *config, const char *path, struct error *err);
/* `environment` is a list of NAME=value ended by NULL.  TIDEMILL_* names that are no setting are
 * errors, but for TIDEMILL_SERVER, _TOKEN, _CONFIG, _FAILPOINTS and _BINARY. */
MUST_USE enum status config_load_environment(struct config *config, char *const *environment,
                                             struct error *err);
/*
 * Takes the flags that are settings out of argv: *argc and argv then hold the rest, argv[0]
 * included.  Other flags are left alone; "--" ends the flags.
 */
MUST_USE enum status config_load_flags(struct config *config, int *argc, char **argv,
                                       struct error *err);
MUST_USE enum status config_set(struct config *config, const char *name, const char *value,
                                enum setting_origin origin, struct error *err);

const char *config_text(const struct config *config, enum setting setting);
uint64_t config_number(const struct config *config, enum setting setting); /* COUNT and SIZE */
bool config_bool(const struct config *config, enum setting setting);
int64_t config_duration_us(const struct config *config, enum setting setting);
enum log_level config_level(const struct config *config, enum setting setting);
/* The i-th path of a list, or NULL after the last. */
const char *config_path(const struct config *config, enum setting setting, size_t i);

enum setting_origin config_origin(const struct config *config, enum setting setting);
const char *setting_name(enum setting setting);
#define SETTING_FLAG_SIZE 68
/* "--max-body-bytes" */
void setting_flag(enum setting setting, char out[SETTING_FLAG_SIZE]);
const char *setting_default(enum setting setting);
const char *setting_help(enum setting setting);
enum setting_kind setting_kind(enum setting setting);
const char *setting_origin_name(enum setting_origin origin);

/* Appends one line per setting, "name = value  # origin", as `tidemill config` prints it. */
void config_print(const struct config *config, struct buffer *out);

#endif
