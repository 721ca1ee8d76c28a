/*
 * tidemill: which command, the server, and the queries in a process of their own.  main*.c are the
 * only ones that see all parts and put them together.
 */
#include "main.h"
#include "api/api.h"
#include "base/failpoint.h"
#include "base/uuid.h"
#include "base/vfs_posix.h"
#include "cli/cli.h"
#include "control/control.h"
#include "spec/error_text.h"
#include "spec/json_reader.h"
#include "worker/worker_process.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define LOCK_TRIES    100
#define LOCK_PAUSE_MS 20

int exit_code_of(const struct error *err)
{
    struct buffer out = {0};
    if (err->status != OK) {
        error_text_add(&out, "error", err, NULL);
        (void)fwrite(out.data, 1, out.size_bytes, stderr);
    }
    buffer_fini(&out);
    return (int)exit_code_of_status(err->status);
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

/* Settings in the order of precedence: defaults, file, environment, flags. */
static enum status load_config(int *argc, char **argv, struct config **out, struct error *err)
{
    struct config *config = config_new();
    const char *file = take_value(argc, argv, "--config");
    if (file == NULL)
        file = getenv("TIDEMILL_CONFIG"); // NOLINT(concurrency-mt-unsafe): nothing sets it
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
    // NOLINTNEXTLINE(concurrency-mt-unsafe): before there are threads, which inherit it
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

/* The data directory, absolute, and nobody else's.  A server that was killed may have been starting
 * a worker: a process that is not yet another program has its lock for some moments more. */
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
    status = vfs_posix_lock_as(path, holder, &server->lock, err);
    for (int i = 0; i < LOCK_TRIES && status == STATUS_CHECKPOINT__LOCKED; i++) {
        error_clear(err);
        (void)poll(NULL, 0, LOCK_PAUSE_MS);
        status = vfs_posix_lock_as(path, holder, &server->lock, err);
    }
    return status == OK ? OK : error_wrap(err, "data directory");
}

#define FILES_OF_WORKER 3  /* its socket, and the files of its progress and its runs */
#define FILES_OF_THREAD 2  /* of one that answers requests: its event queue and what wakes it */
#define FILES_OF_SERVER 28 /* locks, logs, and what is open for moments */
#define FILES_OF_OTHERS 64 /* connections beyond the limit, that are being ended */

/* A server without free descriptors takes no connection, not even that of who would stop a query:
 * where they are too few, connections have a quarter or what workers leave, and workers the rest.
 */
static enum status fit_descriptors(struct server *server, struct error *err)
{
    struct rlimit files;
    struct config *config = server->config;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return OK;
    uint64_t workers = config_number(config, SETTING_maxRunningQueries);
    uint64_t connections = config_number(config, SETTING_maxConnections);
    uint64_t own = FILES_OF_SERVER + config_number(config, SETTING_httpThreads) * FILES_OF_THREAD;
    uint64_t wanted = own + FILES_OF_OTHERS + connections + workers * FILES_OF_WORKER;
    uint64_t most = files.rlim_cur;
    if (most < wanted && files.rlim_max > files.rlim_cur) {
        files.rlim_cur = files.rlim_max < wanted ? files.rlim_max : wanted;
        if (setrlimit(RLIMIT_NOFILE, &files) == 0)
            most = files.rlim_cur;
    }
    if (most >= wanted)
        return OK;
    uint64_t taken = own + FILES_OF_OTHERS + workers * FILES_OF_WORKER;
    uint64_t share = most < 8 ? 1 : most / 4;
    if (most > taken && most - taken > share)
        share = most - taken;
    if (connections > share)
        connections = share;
    uint64_t used = own + connections;
    uint64_t fit = most < used + FILES_OF_WORKER ? 1 : (most - used) / FILES_OF_WORKER;
    if (workers > fit)
        workers = fit;
    char value[2][24];
    (void)snprintf(value[0], sizeof value[0], "%llu", (unsigned long long)connections);
    (void)snprintf(value[1], sizeof value[1], "%llu", (unsigned long long)workers);
    TRY(config_set(config, "maxConnections", value[0],
                   config_origin(config, SETTING_maxConnections), err));
    TRY(config_set(config, "maxRunningQueries", value[1],
                   config_origin(config, SETTING_maxRunningQueries), err));
    log_event(server->log, LOG_WARN, "few_descriptors",
              (struct log_field[]){log_u64("openFiles", most),
                                   log_u64("maxConnections", connections),
                                   log_u64("maxRunningQueries", workers),
                                   {0}});
    return OK;
}

/* The file is of use to scripts that look for a port, and a full disk is no reason not to serve:
 * what is to be deleted from it is deleted by the API.  An older one would name another server. */
static void announce_in(struct server *server, const char *path, struct bytes json)
{
    struct error err = ERROR_INIT;
    if (vfs_put(vfs_posix(), path, json, false, &err) == OK)
        return;
    log_error_event(server->log, LOG_WARN, "server_not_announced", &err,
                    (struct log_field[]){log_text("path", path), {0}});
    error_clear(&err);
    if (vfs_remove(vfs_posix(), path, &err) != OK)
        error_clear(&err);
}

/* <dataDir>/server.json tells scripts and tests where the server listens. */
static void announce(struct server *server)
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
    announce_in(server, path, buffer_bytes(&json));
    (void)printf("Tidemill " TIDEMILL_VERSION " listens on %s\n", buffer_text(&url));
    (void)fflush(stdout);
    log_event(server->log, LOG_INFO, "server_started",
              (struct log_field[]){
                  log_text("version", TIDEMILL_VERSION), log_text("url", buffer_text(&url)), {0}});
    buffer_fini(&url);
    buffer_fini(&json);
}

static enum status server_open(struct server *server, struct error *err)
{
    const struct config *config = server->config;
    TRY(find_binary(server->binary, err));
    TRY(take_data_dir(server, err));
    const char *log_file = config_text(config, SETTING_logFile);
    TRY(log_open(*log_file == '\0' ? NULL : log_file, config_level(config, SETTING_logLevel),
                 clock_real(), &server->log, err));
    TRY(fit_descriptors(server, err));
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
    announce(server);
    return OK;
}

static int serve(const struct arguments *arguments, struct config *config)
{
    struct error err = ERROR_INIT;
    struct server server = {.config = config};
    (void)arguments;
    enum status status = server_open(&server, &err);
    if (status == OK)
        control_run(server.control);
    api_close(server.api);
    control_end(server.control);
    if (status == OK)
        log_event(server.log, LOG_INFO, "server_stopped", NULL);
    log_close(server.log);
    vfs_unlock(server.lock);
    return exit_code_of(&err);
}

/* ---- worker and run ---- */

static int worker(int argc, char **argv)
{
    struct error err = ERROR_INIT;
    struct config *config = NULL;
    const char *spec = take_value(&argc, argv, "--spec");
    const char *fd = take_value(&argc, argv, "--fd");
    if (spec == NULL || fd == NULL) {
        (void)fputs("error: a worker is started by the server: --spec FILE --fd N\n", stderr);
        return EXIT_USAGE;
    }
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

static int run(const struct arguments *arguments, struct config *config)
{
    const char *log_file = config_text(config, SETTING_logFile);
    /* People read the output of a run: of the log they see what needs them. */
    bool chosen = config_origin(config, SETTING_logLevel) != ORIGIN_DEFAULT;
    const struct foreground_options options = {
        .spec_path = arguments->target[0],
        .json = arguments_json(arguments),
        .bounded = arguments->value[CLI_BOUNDED] != NULL,
        .data_dir = config_text(config, SETTING_dataDir),
        .parallelism = (uint32_t)config_number(config, SETTING_parallelism),
        .log_file = *log_file == '\0' ? NULL : log_file,
        .log_level =
            chosen || *log_file != '\0' ? config_level(config, SETTING_logLevel) : LOG_WARN,
    };
    return foreground_run(&options);
}

static int help(const struct arguments *arguments, struct config *config)
{
    int words = 0;
    const char *name = arguments->target[0];
    (void)config;
    if (arguments->value[CLI_MARKDOWN] != NULL) {
        cli_help_markdown();
        return EXIT_OK;
    }
    const struct cli_command *command =
        name == NULL ? NULL : cli_find(name, arguments->target[1], &words);
    if (command != NULL)
        cli_help(command);
    else if (name == NULL || cli_is_group(name))
        cli_help_commands(name);
    else
        return (int)cli_no_command(name, arguments->target[1]);
    return EXIT_OK;
}

/* ---- which command ---- */

static const struct {
    const char *name;
    int (*run)(const struct arguments *arguments, struct config *config);
} commands[] = {
    {"serve", serve},
    {"run", run},
    {"validate", validate},
    {"checkpoint show", command_checkpoint_show},
    {"checkpoint verify", command_checkpoint_verify},
    {"checkpoint state", command_checkpoint_state},
    {"checkpoint rewind", command_checkpoint_rewind},
    {"config", print_config},
    {"conf", print_conf},
    {"conditions", print_conditions},
    {"connectors", print_connectors},
    {"metrics", print_metrics},
    {"version", print_version},
    {"help", help},
};

static void know_settings(void)
{
    static char flags[SETTING_COUNT_][SETTING_FLAG_SIZE];
    static const char *names[SETTING_COUNT_ + 1];
    for (int i = 0; i < SETTING_COUNT_; i++) {
        setting_flag((enum setting)i, flags[i]);
        names[i] = flags[i];
    }
    names[SETTING_COUNT_] = "--config";
    cli_know_settings(names, SETTING_COUNT_ + 1);
}

/* Takes the settings, then the rest of the arguments, and runs the command. */
static int run_command(const struct cli_command *command, int argc, char **argv)
{
    struct error err = ERROR_INIT;
    struct config *config = NULL;
    struct arguments arguments;
    json_init();
    know_settings();
    if (command->settings && load_config(&argc, argv, &config, &err) != OK)
        return exit_code_of(&err);
    int code = (int)cli_parse(command, argc, argv, &arguments);
    for (size_t i = 0; code == EXIT_OK && i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, command->name) != 0)
            continue;
        code = commands[i].run(&arguments, config);
        config_free(config);
        return code;
    }
    config_free(config);
    return code == EXIT_OK ? cli_run(&arguments) : code;
}

static bool asks_help(int argc, char *const *argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

/* One command; its exit code. */
static int dispatch(int argc, char **argv)
{
    int words = 0;
    if (argc < 2) {
        cli_help_commands(NULL);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "worker") == 0)
        return worker(argc - 1, argv + 1);
    if (strcmp(name, "--version") == 0)
        name = "version";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    const char *second = argc > 2 ? argv[2] : NULL;
    const struct cli_command *command = cli_find(name, second, &words);
    bool helping = asks_help(argc - 1, argv + 1);
    if (command != NULL && helping && strcmp(argv[1], "--help") != 0 &&
        strcmp(argv[1], "-h") != 0) {
        cli_help(command);
        return EXIT_OK;
    }
    if (command == NULL && helping && cli_is_group(name)) {
        cli_help_commands(name);
        return EXIT_OK;
    }
    if (command == NULL)
        return (int)cli_no_command(name, second);
    if (strcmp(command->name, "serve") == 0)
        prepare_signals();
    return run_command(command, argc - words, argv + words);
}

/* What a command has printed and could not be written is a failure of the command: all of it goes
 * through stdio, which remembers.  A server does not depend on who reads its first line. */
static int finish_output(bool serves, int code)
{
    bool lost = ferror(stdout) != 0;
    errno = 0;
    if (fclose(stdout) == 0 && !lost)
        return code;
    if (serves || (errno == EBADF && !lost)) /* closed from the beginning, and not used */
        return code;
    char reason[128] = "not everything could be written";
    const char *text = errno == 0 ? reason : strerror_r(errno, reason, sizeof reason);
    (void)fprintf(stderr, "error: [%s] standard output: %s\n", status_name(STATUS_IO_FAILURE),
                  text);
    return code == EXIT_OK ? EXIT_OTHER : code;
}

int main(int argc, char **argv)
{
    bool serves = argc > 1 && (strcmp(argv[1], "serve") == 0 || strcmp(argv[1], "worker") == 0);
    return finish_output(serves, dispatch(argc, argv));
}
