/*
 * What this build knows: settings, conf, conditions, connectors, metrics; as lines, JSON or pages.
 */
#include "api/http/listen.h"
#include "base/exit_code.h"
#include "base/json_writer.h"
#include "base/metric.h"
#include "cli/cli.h"
#include "control/reports.h"
#include "format/format.h"
#include "main.h"
#include "sink/sink.h"
#include "source/source.h"
#include "spec/conf.h"

#include <stdio.h>

/* How a catalogue is printed. */
enum form {
    FORM_LINES,
    FORM_JSON,
    FORM_MARKDOWN,
};

static enum form form_of(const struct arguments *arguments)
{
    if (arguments->value[CLI_MARKDOWN] != NULL)
        return FORM_MARKDOWN;
    return arguments_json(arguments) ? FORM_JSON : FORM_LINES;
}

/* A catalogue: columns with names, and rows of texts. */
struct catalogue {
    struct buffer out;
    struct json_writer json;
    enum form form;
    const char *const *names;
    size_t columns;
};

static void begin(struct catalogue *it, const struct arguments *arguments, const char *const *names,
                  size_t columns)
{
    *it = (struct catalogue){.form = form_of(arguments), .names = names, .columns = columns};
    it->json = json_writer_to(&it->out);
    if (it->form == FORM_JSON)
        json_begin_array(&it->json, NULL);
    if (it->form != FORM_MARKDOWN)
        return;
    for (size_t i = 0; i < columns; i++)
        buffer_printf(&it->out, "%s %s ", i == 0 ? "|" : "", names[i]),
            buffer_add_text(&it->out, "|");
    buffer_add_text(&it->out, "\n|");
    for (size_t i = 0; i < columns; i++)
        buffer_add_text(&it->out, " --- |");
    buffer_add_text(&it->out, "\n");
}

/* A cell of a page: no bar and no line break may end it early. */
static void add_cell(struct buffer *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|' || *text == '<')
            buffer_add_text(out, "\\");
        buffer_add(out, *text == '\n' ? " " : text, 1);
    }
}

static void add_row(struct catalogue *it, const char *const *cells)
{
    if (it->form == FORM_JSON)
        json_begin_object(&it->json, NULL);
    for (size_t i = 0; i < it->columns; i++) {
        const char *cell = cells[i] == NULL ? "" : cells[i];
        if (it->form == FORM_JSON) {
            json_put_text(&it->json, it->names[i], cells[i]);
        } else if (it->form == FORM_LINES) {
            buffer_printf(&it->out, "%s%s", i == 0 ? "" : "\t", cell);
        } else {
            buffer_add_text(&it->out, i == 0 ? "| " : " | ");
            add_cell(&it->out, cell);
        }
    }
    if (it->form == FORM_JSON)
        json_end_object(&it->json);
    else
        buffer_add_text(&it->out, it->form == FORM_LINES ? "\n" : " |\n");
}

static int end(struct catalogue *it)
{
    if (it->form == FORM_JSON) {
        json_end_array(&it->json);
        cli_print_json(buffer_bytes(&it->out));
    } else {
        (void)fwrite(it->out.data, 1, it->out.size_bytes, stdout);
    }
    buffer_fini(&it->out);
    return EXIT_OK;
}

#define COLUMNS(names) (sizeof(names) / sizeof(names)[0])

int print_config(const struct arguments *arguments, struct config *config)
{
    struct error err = ERROR_INIT;
    if (listen_check(config_text(config, SETTING_listen), &err) != OK) {
        (void)fprintf(stderr, "error: [%s] %s\n", status_name(err.status), err.text);
        return (int)exit_code_of_status(err.status);
    }
    if (form_of(arguments) == FORM_LINES) {
        struct buffer out = {0};
        config_print(config, &out);
        (void)fwrite(out.data, 1, out.size_bytes, stdout);
        buffer_fini(&out);
        return EXIT_OK;
    }
    static const char *const names[] = {"name", "flag", "value", "origin", "description"};
    static const char *const page[] = {"Setting", "Flag", "Default", "Meaning"};
    struct catalogue it;
    bool is_page = form_of(arguments) == FORM_MARKDOWN;
    begin(&it, arguments, is_page ? page : names, is_page ? COLUMNS(page) : COLUMNS(names));
    for (int i = 0; i < SETTING_COUNT_; i++) {
        enum setting setting = (enum setting)i;
        char flag[SETTING_FLAG_SIZE];
        setting_flag(setting, flag);
        const char *const cells[] = {setting_name(setting), flag, config_text(config, setting),
                                     setting_origin_name(config_origin(config, setting)),
                                     setting_help(setting)};
        const char *const page_cells[] = {setting_name(setting), flag, setting_default(setting),
                                          setting_help(setting)};
        add_row(&it, is_page ? page_cells : cells);
    }
    return end(&it);
}

int print_conf(const struct arguments *arguments, struct config *config)
{
    static const char *const names[] = {"name", "type", "default", "effect"};
    struct catalogue it;
    (void)config;
    begin(&it, arguments, names, COLUMNS(names));
    for (int i = 0; i < CONF_COUNT_; i++) {
        enum conf conf = (enum conf)i;
        const char *const cells[] = {conf_name(conf), conf_kind_name(conf), conf_default(conf),
                                     conf_effect(conf)};
        add_row(&it, cells);
    }
    return end(&it);
}

int print_conditions(const struct arguments *arguments, struct config *config)
{
    static const char *const domains[] = {"none", "user", "external", "internal"};
    static const char *const names[] = {"Condition", "SQLSTATE",   "HTTP", "Domain",
                                        "Retried",   "Parameters", "Text"};
    struct catalogue it;
    (void)config;
    begin(&it, arguments, names, COLUMNS(names));
    for (int i = 1; i < STATUS_COUNT_; i++) {
        enum status status = (enum status)i;
        char http[16];
        (void)snprintf(http, sizeof http, "%d", status_http(status));
        const char *const cells[] = {status_name(status),
                                     status_sqlstate(status),
                                     http,
                                     domains[status_domain(status)],
                                     status_retryable(status) ? "yes" : "no",
                                     status_params(status),
                                     status_template(status)};
        add_row(&it, cells);
    }
    return end(&it);
}

static const char *const option_columns[] = {"connector", "role", "option", "default", "meaning"};

static void add_options(struct catalogue *it, const char *format, const char *role,
                        const struct option_def *options)
{
    for (; options != NULL && options->name != NULL; options++) {
        const char *const cells[] = {format, role, options->name, options->default_value,
                                     options->help};
        add_row(it, cells);
    }
}

int print_connectors(const struct arguments *arguments, struct config *config)
{
    struct catalogue it;
    (void)config;
    if (form_of(arguments) == FORM_JSON) {
        struct buffer out = {0};
        report_connectors(&out);
        cli_print_json(buffer_bytes(&out));
        buffer_fini(&out);
        return EXIT_OK;
    }
    begin(&it, arguments, option_columns, COLUMNS(option_columns));
    for (const struct source_ops *const *at = source_all(); *at != NULL; at++) {
        const struct format_ops *format = format_find((*at)->kind);
        add_options(&it, (*at)->kind, "source", (*at)->options);
        add_options(&it, (*at)->kind, "source", format == NULL ? NULL : format->read_options);
    }
    for (const struct sink_ops *const *at = sink_all(); *at != NULL; at++) {
        const struct format_ops *format = format_find((*at)->kind);
        add_options(&it, (*at)->kind, "sink", (*at)->options);
        add_options(&it, (*at)->kind, "sink", format == NULL ? NULL : format->write_options);
    }
    return end(&it);
}

int print_metrics(const struct arguments *arguments, struct config *config)
{
    static const char *const names[] = {"metric", "type", "labels", "meaning"};
    struct catalogue it;
    (void)config;
    begin(&it, arguments, names, COLUMNS(names));
    for (int i = 0; i < METRIC_COUNT_; i++) {
        enum metric metric = (enum metric)i;
        char name[96];
        (void)snprintf(name, sizeof name, "tidemill_%s", metric_name(metric));
        const char *const cells[] = {name, metric_kind_name(metric), metric_label_names(metric),
                                     metric_help(metric)};
        add_row(&it, cells);
    }
    return end(&it);
}

int print_version(const struct arguments *arguments, struct config *config)
{
    (void)config;
    if (arguments_json(arguments))
        (void)puts("{\"name\": \"tidemill\", \"version\": \"" TIDEMILL_VERSION "\"}");
    else
        (void)puts("tidemill " TIDEMILL_VERSION);
    return EXIT_OK;
}
