/*
 * A real server for a test, and calls to it.
 *
 * server_start() runs `tidemill serve` (TIDEMILL_BINARY) on a free port with a data directory of
 * its own below a temporary directory, and returns when it answers.  Every exchange is written to
 * the file of TEST_EXCHANGES, if that is set: check_contract.py holds them against
 * openapi.yaml.
 *
 * Functions fail the test themselves.  Threads: one.
 */
#ifndef TESTS_API_API_TEST_H
#define TESTS_API_API_TEST_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

struct server {
    char dir[64];      /* everything of the test */
    char data_dir[80]; /* below dir */
    char url[128];
    pid_t pid;
};

/* `flags` are further flags of serve, ended by NULL; NULL: none. */
void server_start(struct server *server, const char *const *flags);
/* Starts it again on the same data directory. */
void server_restart(struct server *server, const char *const *flags);
/* SIGTERM and wait; the exit status must be 0. */
void server_stop(struct server *server);
/* SIGKILL and wait. */
void server_kill(struct server *server);
/* Stops if it runs, and removes the directory (unless KEEP is set, to look into it). */
void server_end(struct server *server);
/* Runs serve and expects it to refuse: returns its exit status. */
int server_refused(const char *const *flags);

struct call {
    const char *method; /* "GET" if NULL */
    const char *path;
    const char *body;         /* JSON, NULL: none */
    const char *headers[8];   /* "Name: value", ended by NULL */
    const char *content_type; /* of the body; application/json if NULL */
    size_t body_size;         /* 0: strlen(body) */
};

struct reply {
    long status;
    char *text;
    size_t size;
    json_t *json; /* NULL if the body is no JSON */
    char headers[4096];
};

struct reply call(struct server *server, const struct call *call);
void reply_free(struct reply *reply);
/* The value of a header, "" if it is not there; valid until the next call of it. */
const char *reply_header(const struct reply *reply, const char *name);

/* One call that must answer `status`; its JSON (a new reference, or NULL). */
json_t *get(struct server *server, const char *path, long status);
json_t *post(struct server *server, const char *path, const char *body, long status);
/* An error answer of this status and condition. */
void refused(struct server *server, const struct call *call, long status, const char *condition);

/* Waits until the query is in `state`, by Prefer: wait; gives up after 60 s. */
void await_state(struct server *server, const char *query, const char *state);

/* Files below the test's directory. */
void make_dir(const struct server *server, const char *name);
void write_file(const struct server *server, const char *name, const char *content);
/* The lines of all files ending in `suffix` in a directory, sorted, joined; to be freed. */
char *read_lines(const struct server *server, const char *dir, const char *suffix);

const char *text_of(const json_t *object, const char *key); /* fails if it is no text */

#endif
