/*
 * The commands that need no server, one function each, and what they share.  Only main*.c see all
 * parts of the program.
 */
#ifndef SERVER_MAIN_H
#define SERVER_MAIN_H

#include "cli/arguments.h"
#include "config/config.h"
#include "control/engine.h"

/* Prints the error, if it is one; the exit code of the command. */
int exit_code_of(const struct error *err);

/* ---- main_engine.c ---- */

/* What the engine can say without running a query. */
extern const struct engine engine;

/* ---- main_validate.c ---- */

int validate(const struct arguments *arguments, struct config *config);

/* ---- main_checkpoint.c ---- */

int command_checkpoint_show(const struct arguments *arguments, struct config *config);
int command_checkpoint_verify(const struct arguments *arguments, struct config *config);
int command_checkpoint_rewind(const struct arguments *arguments, struct config *config);
int command_checkpoint_state(const struct arguments *arguments, struct config *config);

/* ---- main_catalog.c ---- */

int print_config(const struct arguments *arguments, struct config *config);
int print_conf(const struct arguments *arguments, struct config *config);
int print_conditions(const struct arguments *arguments, struct config *config);
int print_connectors(const struct arguments *arguments, struct config *config);
int print_metrics(const struct arguments *arguments, struct config *config);
int print_version(const struct arguments *arguments, struct config *config);

#endif
