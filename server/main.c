/*
 * tidemill: the subcommands, and the only place that sees all parts and puts them together.
 */
#include "api/api.h"
#include "base/failpoint.h"
#include "base/uuid.h"
#include "base/vfs_posix.h"
#include "checkpoint/inspect.h"
#include "checkpoint/rewind.h"
#include "cli/cli.h"
#include "config/config.h"
#include "control/control.h"
#include "control/query_validate.h"
#include "spec/conf.h"
#include "spec/json_reader.h"
#include "worker/start_plan.h"
#include "worker/state_view.h"
#include "worker/worker_process.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SPEC_BYTES_MAX ((size_t)64 << 20)

extern char **environ;

static void print_error(const struct error *err)
{
    (void)fprintf(stderr, "error: [%s] %s", status_name(err->status), err->text);
    if (err->pointer[0] != '\0')
        (void)fprintf(stderr, " (at %s)", err->pointer);
    (void)fputc('\n', stderr);
}

static int exit_code_of(const struct error *err)
{
    if (err->status == OK)
        return EXIT_OK;
    print_error(err);
    int http = status_http(err->status);
    if (http == 404 || http == 410)
        return EXIT_NOT_FOUND;
    if (http == 409)
        return EXIT_CONFLICT;
    return status_domain(err->status) == DOMAIN_USER ? EXIT_INVALID : EXIT_OTHER;
}

static int usage_error(const char *problem)
{
    (void)fprintf(stderr, "error: %s\nSee: tidemill help\n", problem);
    return EXIT_USAGE;
}

/* ---- flags ---- */

/* Takes "--name VALUE" or "--name=VALUE" out of argv; NULL if it is not there. */
static const char *take_value(int *argc, char **argv, const char *name)
{
    size_t size = strlen(name);
    for (int i = 1; i < *argc; i++) {
        bool joined = strncmp(argv[i], name, size) == 0 && argv[i][size] == '=';
        bool apart = strcmp(argv[i], name) == 0 && i + 1 < *argc;
        if (!joined && !apart)
            continue;
        const char *value = joined ? argv[i] + size + 1 : argv[i + 1];
        int width = joined ? 1 : 2;
        memmove(argv + i, argv + i + width, (size_t)(*argc - i - width) * sizeof *argv);
        *argc -= width;
        return value;
    }
    return NULL;
}

static bool take_flag(int *argc, char **argv, const char *name)
{
    for (int i = 1; i < *argc; i++) {
        if (strcmp(argv[i], name) != 0)
            continue;
        memmove(argv + i, argv + i + 1, (size_t)(*argc - i - 1) * sizeof *argv);
        --*argc;
        return true;
    }
    return false;
}

/* Settings in the order of precedence: defaults, file, environment, flags. */
static enum status load_config(int *argc, char **argv, struct config **out, struct error *err)
{
    struct config *config = config_new();
    const char *file = take_value(argc, argv, "--config");
    if (file == NULL)
        file = getenv("TIDEMILL_CONFIG");
    enum status status = OK;
    if (file != NULL && *file != '\0')
        status = config_load_file(config, file, err);
    if (status == OK)
        status = config_load_environment(config, environ, err);
    if (status == OK)
        status = config_load_flags(config, argc, argv, err);
    if (status != OK) {
        config_free(config);
        return status;
    }
    *out = config;
    return OK;
}

/* What is left of the flags, beyond `allowed` arguments, is an error. */
static bool has_leftover(int argc, char **argv, int allowed)
{
    const char *argument = argc > allowed + 1 ? argv[allowed + 1] : NULL;
    for (int i = 1; i < argc && argument == NULL; i++) {
        if (argv[i][0] == '-' && argv[i][1] != '\0')
            argument = argv[i];
    }
    if (argument != NULL)
        (void)fprintf(stderr, "error: there is no argument %s here\nSee: tidemill help\n",
                      argument);
    return argument != NULL;
}

/* ---- serve ---- */

struct server {
    struct config *config;
    struct log *log;
    struct vfs_lock *lock;
    struct control *control;
    struct api *api;
    char binary[PATH_MAX];
    int port;
};

/* Workers, the watch of children and the threads of the API all rest on this. */
static void prepare_signals(void)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

static enum status find_binary(char binary[PATH_MAX], struct error *err)
{
    ssize_t size = readlink("/proc/self/exe", binary, PATH_MAX - 1);
    if (size <= 0)
        return error_raise(err, STATUS_IO_FAILURE, "path", "/proc/self/exe", "reason",
                           "the program's own path is not known", NULL);
    binary[size] = '\0';
    return OK;
}

/* The data directory, absolute, and nobody else's. */
static enum status take_data_dir(struct server *server, struct error *err)
{
    const char *dir = config_text(server->config, SETTING_dataDir);
    TRY(vfs_make_dirs(vfs_posix(), dir, err));
    char *real = realpath(dir, NULL);
    if (real == NULL)
        return error_raise(err, STATUS_IO_FAILURE, "path", dir, "reason", "it cannot be resolved",
                           NULL);
    enum status status = config_set(server->config, "dataDir", real,
                                    config_origin(server->config, SETTING_dataDir), err);
    free(real);
    TRY(status);
    char path[PATH_MAX], holder[64];
    (void)snprintf(path, sizeof path, "%s/server.lock",
                   config_text(server->config, SETTING_dataDir));
    (void)snprintf(holder, sizeof holder, "the server with process id %ld", (long)getpid());
    if (vfs_posix_lock_as(path, holder, &server->lock, err) != OK)
        return error_wrap(err, "data directory");
    return OK;
}

/* <dataDir>/server.json tells scripts and tests where the server listens. */
static enum status announce(struct server *server, struct error *err)
{
    const char *listen = config_text(server->config, SETTING_listen);
    struct buffer url = {0}, json = {0};
    if (server->port == 0) {
        buffer_add_text(&url, listen);
    } else {
        const char *colon = strrchr(listen, ':');
        buffer_printf(&url, "http%s://%.*s:%d",
                      *config_text(server->config, SETTING_tlsCertificate) == '\0' ? "" : "s",
                      (int)(colon - listen), listen, server->port);
    }
    buffer_add_text(&json, "{\"url\":");
    buffer_add_json_string(&json, buffer_bytes(&url));
    buffer_printf(&json, ",\"pid\":%ld}\n", (long)getpid());
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/server.json",
                   config_text(server->config, SETTING_dataDir));
    enum status status = vfs_put(vfs_posix(), path, buffer_bytes(&json), false, err);
    if (status == OK) {
        (void)printf("Tidemill " TIDEMILL_VERSION " listens on %s\n", buffer_text(&url));
        (void)fflush(stdout);
        log_event(server->log, LOG_INFO, "server_started",
                  (struct log_field[]){log_text("version", TIDEMILL_VERSION),
                                       log_text("url", buffer_text(&url)),
                                       {0}});
    }
    buffer_fini(&url);
    buffer_fini(&json);
    return status;
}

/* ---- what the engine can say without running a query ---- */

static struct query_config config_of(const struct engine_query *query)
{
    return (struct query_config){
        .vfs = query->vfs,
        .clock = query->clock,
        .spec_json = query->spec_json,
        .default_checkpoint_dir = query->checkpoint,
        .parallelism = 1,
        .state_store = STATE_STORE_ROCKSDB,
    };
}

static enum status engine_start_plan(const struct engine_query *query, struct buffer *out,
                                     struct error *err)
{
    const struct query_config config = config_of(query);
    return start_plan_make(&config, out, err);
}

static enum status engine_state(const struct engine_query *query,
                                const struct engine_state_request *request, bool *found,
                                struct buffer *out, struct error *err)
{
    const struct query_config config = config_of(query);
    const struct state_view_request view = {
        .operator_id = request->operator_id,
        .batch_id = request->batch_id,
        .limit = request->limit,
        .key = request->key,
    };
    return state_view_make(&config, &view, found, out, err);
}

static const struct engine engine = {.start_plan = engine_start_plan, .state = engine_state};

static enum status server_open(struct server *server, struct error *err)
{
    const struct config *config = server->config;
    TRY(find_binary(server->binary, err));
    TRY(take_data_dir(server, err));
    const char *log_file = config_text(config, SETTING_logFile);
    TRY(log_open(*log_file == '\0' ? NULL : log_file, config_level(config, SETTING_logLevel),
                 clock_real(), &server->log, err));
    const struct control_options options = {
        .config = config,
        .vfs = vfs_posix(),
        .clock = clock_real(),
        .log = server->log,
        .binary = server->binary,
        .engine = &engine,
    };
    TRY(control_begin(&options, &server->control, err));
    TRY(api_open(server->control, &server->api, &server->port, err));
    return announce(server, err);
}

static int serve(int argc, char **argv)
{
    struct error err = ERROR_INIT;
    struct server server = {0};
    prepare_signals();
    json_init();
    enum status status = load_config(&argc, argv, &server.config, &err);
    if (status == OK && has_leftover(argc, argv, 0)) {
        config_free(server.config);
        return EXIT_USAGE;
    }
    if (status == OK)
        status = server_open(&server, &err);
    if (status == OK)
        control_run(server.control);
    api_close(server.api);
    control_end(server.control);
    if (status == OK)
        log_event(server.log, LOG_INFO, "server_stopped", NULL);
    log_close(server.log);
    vfs_unlock(server.lock);
    config_free(server.config);
    return exit_code_of(&err);
}

/* ---- worker and run ---- */

static int worker(int argc, char **argv)
{
    struct error err = ERROR_INIT;
    struct config *config = NULL;
    const char *spec = take_value(&argc, argv, "--spec");
    const char *fd = take_value(&argc, argv, "--fd");
    if (spec == NULL || fd == NULL)
        return usage_error("a worker is started by the server: --spec FILE --fd N");
    if (load_config(&argc, argv, &config, &err) != OK)
        return exit_code_of(&err);
    (void)signal(SIGPIPE, SIG_IGN);
    json_init();
    char checkpoint[PATH_MAX], run_id[UUID_TEXT_SIZE];
    uuid_random_text(run_id);
    (void)snprintf(checkpoint, sizeof checkpoint, "%s/checkpoints/default",
                   config_text(config, SETTING_dataDir));
    const struct worker_options options = {
        .spec_path = spec,
        .socket_fd = (int)strtol(fd, NULL, 10),
        .run_id = run_id,
        .default_checkpoint_dir = checkpoint,
        .parallelism = (uint32_t)config_number(config, SETTING_parallelism),
        .log_level = config_level(config, SETTING_logLevel),
    };
    int code = worker_process_run(&options);
    config_free(config);
    return code;
}

/* Whether the arguments of run are as they should be. */
static bool run_arguments_fit(int argc, char **argv, const char *output)
{
    if (has_leftover(argc, argv, 1))
        return false;
    if (argc < 2)
        (void)usage_error("tidemill run SPEC: the file of a query, or - for standard input");
    else if (output != NULL && strcmp(output, "json") != 0 && strcmp(output, "text") != 0)
        (void)usage_error("-o is json or text");
    else
        return true;
    return false;
}

static int run(int argc, char **argv)
{
    struct error err = ERROR_INIT;
    struct config *config = NULL;
    bool bounded = take_flag(&argc, argv, "--bounded");
    const char *output = take_value(&argc, argv, "-o");
    if (load_config(&argc, argv, &config, &err) != OK)
        return exit_code_of(&err);
    if (!run_arguments_fit(argc, argv, output)) {
        config_free(config);
        return EXIT_USAGE;
    }
    json_init();
    const char *log_file = config_text(config, SETTING_logFile);
    /* People read the output of a run: of the log they see what needs them. */
    bool chosen = config_origin(config, SETTING_logLevel) != ORIGIN_DEFAULT;
    const struct foreground_options options = {
        .spec_path = argv[1],
        .json = output != NULL && strcmp(output, "json") == 0,
        .bounded = bounded,
        .data_dir = config_text(config, SETTING_dataDir),
        .parallelism = (uint32_t)config_number(config, SETTING_parallelism),
        .log_file = *log_file == '\0' ? NULL : log_file,
        .log_level =
            chosen || *log_file != '\0' ? config_level(config, SETTING_logLevel) : LOG_WARN,
    };
    int code = foreground_run(&options);
    config_free(config);
    return code;
}

/* ---- validate ---- */

static void print_diagnostics(const struct validation *validation)
{
    static const char *const words[] = {"error", "warning", "note"};
    for (const struct diagnostic *at = validation->diagnostics->first; at != NULL; at = at->next) {
        (void)printf("%s: [%s] %s", words[at->severity], status_name(at->error.status),
                     at->error.text);
        if (at->error.pointer[0] != '\0')
            (void)printf(" (at %s)", at->error.pointer);
        (void)putchar('\n');
        for (const struct fix *fix = at->fixes; fix != NULL; fix = fix->next)
            (void)printf("  fix: %s. %s\n", fix->title, fix->consequence);
    }
    if (!diagnostics_has_errors(validation->diagnostics))
        (void)printf("valid; delivery: %s\n%s",
                     validation->exactly_once ? "exactly once" : "at least once",
                     validation->plan_text == NULL ? "" : validation->plan_text);
}

static int validate(int argc, char **argv)
{
    struct error err = ERROR_INIT;
    struct config *config = NULL;
    if (load_config(&argc, argv, &config, &err) != OK)
        return exit_code_of(&err);
    if (argc != 2) {
        config_free(config);
        return usage_error("tidemill validate SPEC");
    }
    json_init();
    struct arena *arena = arena_new("request", 0);
    struct path_policy *paths = path_policy_new(config);
    struct bytes json;
    struct validation validation;
    enum status status = vfs_get(vfs_posix(), argv[1], SPEC_BYTES_MAX, arena, &json, &err);
    if (status == OK)
        status = query_validate(arena, paths, json, &validation, &err);
    int code = EXIT_OK;
    if (status == OK) {
        print_diagnostics(&validation);
        code = diagnostics_has_errors(validation.diagnostics) ? EXIT_INVALID : EXIT_OK;
    } else {
        code = exit_code_of(&err);
    }
    path_policy_free(paths);
    arena_free(arena);
    config_free(config);
    return code;
}

/* ---- what can be looked at ---- */

/* What the commands that look at a checkpoint are given. */
struct look {
    const char *dir;
    const char *spec; /* a file; NULL: not given */
    bool json;
    int64_t to_batch, operator_id, batch_id, limit;
    const char *key;
};

static enum status look_show(const struct look *look, struct buffer *out, struct error *err)
{
    return checkpoint_show(vfs_posix(), look->dir, look->json ? CHECKPOINT_JSON : CHECKPOINT_TEXT,
                           out, err);
}

static enum status look_verify(const struct look *look, struct buffer *out, struct error *err)
{
    return checkpoint_verify(vfs_posix(), look->dir, look->json ? CHECKPOINT_JSON : CHECKPOINT_TEXT,
                             out, err);
}

static enum status look_rewind(const struct look *look, struct buffer *out, struct error *err)
{
    struct arena *arena = arena_new("request", 0);
    struct rewind_outcome outcome;
    const struct rewind_request request = {
        .vfs = vfs_posix(), .clock = clock_real(), .dir = look->dir, .to_batch = look->to_batch};
    enum status status = failpoint_arm_environment(err);
    if (status == OK)
        status = checkpoint_rewind(arena, &request, &outcome, err);
    if (status == OK && look->json) {
        rewind_outcome_print(&outcome, out);
        buffer_add_text(out, "}");
    } else if (status == OK) {
        buffer_printf(out, "rewound to batch %lld (from %lld); the next batch is %lld\n",
                      (long long)outcome.to_batch, (long long)outcome.last_batch,
                      (long long)outcome.to_batch + 1);
        if (outcome.replay_end > outcome.to_batch + 1)
            buffer_printf(out, "batches %lld to %lld run again with the input that they had\n",
                          (long long)outcome.to_batch + 1, (long long)outcome.replay_end - 1);
    }
    arena_free(arena);
    return status;
}

static enum status look_state(const struct look *look, struct buffer *out, struct error *err)
{
    struct arena *arena = arena_new("request", 0);
    struct engine_query query = {
        .vfs = vfs_posix(), .clock = clock_real(), .checkpoint = look->dir};
    const struct engine_state_request request = {
        .operator_id = look->operator_id,
        .batch_id = look->batch_id,
        .limit = (uint32_t)look->limit,
        .key = look->key,
    };
    bool found = false;
    enum status status =
        vfs_get(vfs_posix(), look->spec, SPEC_BYTES_MAX, arena, &query.spec_json, err);
    if (status == OK)
        status = engine_state(&query, &request, &found, out, err);
    if (status == OK && !found)
        status = error_raise(err, STATUS_ROUTE_NOT_FOUND, "path", "this operator", NULL);
    buffer_add_text(out, look->json ? "" : "\n");
    arena_free(arena);
    return status;
}

static const struct {
    const char *name;
    enum status (*run)(const struct look *look, struct buffer *out, struct error *err);
    bool needs_spec, needs_batch;
} looks[] = {
    {"show", look_show, false, false},
    {"verify", look_verify, false, false},
    {"rewind", look_rewind, false, true},
    {"state", look_state, true, false},
};

/* A number of at least `min`; *good is false if the text is none. */
static int64_t number_of(const char *text, int64_t absent, int64_t min, bool *good)
{
    char *end = NULL;
    if (text == NULL)
        return absent;
    long long value = strtoll(text, &end, 10);
    *good = *good && end != text && *end == '\0' && value >= min;
    return value;
}

static int checkpoint(int argc, char **argv)
{
    static const char usage[] =
        "tidemill checkpoint show|verify DIR [-o json] | rewind DIR --to-batch N [-o json] | "
        "state DIR --spec SPEC [--operator N] [--batch N] [--limit N] [--key COLUMN=VALUE]";
    bool good = true;
    const char *output = take_value(&argc, argv, "-o");
    const char *to_batch = take_value(&argc, argv, "--to-batch");
    const char *spec = take_value(&argc, argv, "--spec");
    struct look look = {
        .json = output != NULL && strcmp(output, "json") == 0,
        .spec = spec,
        .to_batch = number_of(to_batch, NO_BATCH, NO_BATCH, &good),
        .operator_id = number_of(take_value(&argc, argv, "--operator"), -1, 0, &good),
        .batch_id = number_of(take_value(&argc, argv, "--batch"), -1, 0, &good),
        .limit = number_of(take_value(&argc, argv, "--limit"), 100, 1, &good),
        .key = take_value(&argc, argv, "--key"),
    };
    size_t at = 0, count = sizeof looks / sizeof looks[0];
    while (at < count && (argc != 3 || strcmp(looks[at].name, argv[1]) != 0))
        at++;
    if (at == count || !good || look.limit > INT32_MAX || looks[at].needs_spec != (spec != NULL) ||
        looks[at].needs_batch != (to_batch != NULL))
        return usage_error(usage);
    json_init();
    look.dir = argv[2];
    struct buffer out = {0};
    struct error err = ERROR_INIT;
    enum status status = looks[at].run(&look, &out, &err);
    if (status == OK)
        (void)fwrite(out.data, 1, out.size_bytes, stdout);
    if (status == OK && look.json)
        (void)putchar('\n');
    buffer_fini(&out);
    return exit_code_of(&err);
}

static int print_config(int argc, char **argv)
{
    struct error err = ERROR_INIT;
    struct config *config = NULL;
    if (load_config(&argc, argv, &config, &err) != OK)
        return exit_code_of(&err);
    struct buffer out = {0};
    config_print(config, &out);
    (void)fwrite(out.data, 1, out.size_bytes, stdout);
    buffer_fini(&out);
    config_free(config);
    return EXIT_OK;
}

static int conditions(int argc, char **argv)
{
    bool markdown = take_flag(&argc, argv, "--markdown");
    static const char *const domains[] = {"none", "user", "external", "internal"};
    if (markdown)
        (void)puts("| Condition | SQLSTATE | HTTP | Domain | Retried | Parameters | Text |\n"
                   "| --- | --- | --- | --- | --- | --- | --- |");
    for (int i = 1; i < STATUS_COUNT_; i++) {
        enum status status = (enum status)i;
        (void)printf(markdown ? "| %s | %s | %d | %s | %s | %s | %s |\n"
                              : "%s\t%s\t%d\t%s\t%s\t%s\t%s\n",
                     status_name(status), status_sqlstate(status), status_http(status),
                     domains[status_domain(status)], status_retryable(status) ? "yes" : "no",
                     status_params(status), status_template(status));
    }
    return EXIT_OK;
}

static int confs(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    for (int i = 0; i < CONF_COUNT_; i++) {
        enum conf conf = (enum conf)i;
        (void)printf("%s\t%s\t%s\t%s\n", conf_name(conf), conf_kind_name(conf),
                     conf_default(conf) == NULL ? "" : conf_default(conf), conf_effect(conf));
    }
    return EXIT_OK;
}

static int version(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    (void)puts("tidemill " TIDEMILL_VERSION);
    return EXIT_OK;
}

static int help(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    puts("Tidemill: streaming SQL over micro-batches, exactly once.\n"
         "\n"
         "  tidemill serve [--data-dir DIR] [--listen ADDR:PORT] [--config FILE]\n"
         "  tidemill run SPEC [-o json] [--bounded]     a query in the foreground, without a "
         "server\n"
         "  tidemill validate SPEC                      what is wrong with it, and its plan\n"
         "  tidemill checkpoint show|verify DIR         look into a checkpoint\n"
         "  tidemill checkpoint state DIR --spec SPEC   what the operators keep\n"
         "  tidemill checkpoint rewind DIR --to-batch N run batches again\n"
         "  tidemill config | conf | conditions | version\n"
         "\n"
         "On a server (--server URL or TIDEMILL_SERVER, -o json for scripts):\n"
         "\n"
         "  tidemill submit SPEC [--stopped]            create a query\n"
         "  tidemill ready                              whether it takes requests\n"
         "  tidemill ls [--state S] [--label k=v]       all queries\n"
         "  tidemill get | start | restart QUERY [--wait yes]\n"
         "  tidemill start QUERY --dry-run              what a start would do\n"
         "  tidemill rewind QUERY --to-batch N          a stopped query: run batches again\n"
         "  tidemill state QUERY [--operator N] [--batch N] [--key C=V] [-n N]\n"
         "  tidemill stop QUERY [--immediate]           at the batch boundary, or at once\n"
         "  tidemill status QUERY [--wait STATE] [--timeout SECONDS]\n"
         "  tidemill progress QUERY [-f] [-n N]         its batches, live with -f\n"
         "  tidemill results QUERY [-n N]               rows of a memory sink\n"
         "  tidemill rm QUERY [--force] [--purge]       delete; --purge: its checkpoint, too\n"
         "\n"
         "Exit codes: 0 ok, 2 usage, 3 invalid spec, 4 not found, 5 conflict, 6 auth,\n"
         "7 unreachable, 8 timed out, 9 the query failed.");
    return EXIT_OK;
}

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"serve", serve},
    {"worker", worker},
    {"run", run},
    {"validate", validate},
    {"checkpoint", checkpoint},
    {"config", print_config},
    {"conditions", conditions},
    {"conf", confs},
    {"version", version},
    {"--version", version},
    {"help", help},
    {"--help", help},
    {"-h", help},
};

int main(int argc, char **argv)
{
    if (argc < 2) {
        (void)help(argc, argv);
        return EXIT_USAGE;
    }
    if (cli_asks_help(argc - 1, argv + 1) && cli_help(argv[1]))
        return EXIT_OK;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, argv[1]) == 0)
            return commands[i].run(argc - 1, argv + 1);
    }
    if (cli_knows(argv[1]))
        return cli_main(argc - 1, argv + 1);
    const char *nearest = cli_nearest_command(argv[1]);
    (void)fprintf(stderr, "error: there is no command %s.%s%s%s\nSee: tidemill help\n", argv[1],
                  nearest == NULL ? "" : " Did you mean ", nearest == NULL ? "" : nearest,
                  nearest == NULL ? "" : "?");
    return EXIT_USAGE;
}
