/*
 * What is true about a query: immutable, counted pictures that the main thread makes and any
 * thread reads.  A definition is what the user wrote; a snapshot is the definition and the state
 * at one moment.
 *
 * Threads: any, for reading and counting; the maker fills a new one before it is shared.
 */
#ifndef SERVER_CONTROL_QUERY_SNAPSHOT_H
#define SERVER_CONTROL_QUERY_SNAPSHOT_H

#include "base/error.h"
#include "base/uuid.h"
#include "control/query_state.h"
#include "spec/query_spec.h"

#include <stdatomic.h>

#define QUERY_ETAG_SIZE    24
#define QUERY_SPEC_UNKNOWN "{}" /* the json of a definition whose record is damaged */

/* Bytes with a count; NUL after them. */
struct shared_text {
    atomic_uint references;
    size_t size_bytes;
    char text[];
};

struct shared_text *shared_text_new(struct bytes text);
struct shared_text *shared_text_ref(struct shared_text *text); /* NULL gives NULL */
void shared_text_unref(struct shared_text *text);              /* NULL is fine */

struct shared_error {
    atomic_uint references;
    int64_t time_us;
    struct error error;
};

struct shared_error *shared_error_new(const struct error *error, int64_t time_us);
struct shared_error *shared_error_ref(struct shared_error *error);
void shared_error_unref(struct shared_error *error);

struct query_label {
    char *name;
    char *value;
};

struct query_definition {
    atomic_uint references;
    char uid[UUID_TEXT_SIZE];
    char *name;
    uint64_t generation; /* 1, 2, ... with each replacement */
    int64_t created_us, updated_us;
    char *json; /* canonical spec, name included */
    char etag[QUERY_ETAG_SIZE];
    char *checkpoint;                  /* absolute directory */
    bool own_checkpoint;               /* the server chose it */
    char *sink_path;                   /* absolute directory that the sink writes to; NULL: none */
    char *real_checkpoint, *real_sink; /* the same with links followed, as they were then */
    char *sink_format;                 /* NULL: none */
    char *directory;                   /* the server's directory for it */
    enum restart_mode restart_mode;
    int32_t restart_attempts_max;
    bool ends_by_itself; /* availableNow or once */
    struct query_label *labels;
    size_t label_count;
};

/* Takes what a catalog entry needs out of a parsed spec; uid, times, etag, directory and, if the
 * spec names none, the checkpoint are filled by the catalog.  `name` is used if the spec has
 * none. */
struct query_definition *query_definition_new(const struct query_spec *spec, const char *name,
                                              const char *json);
/* Follows links anew, once checkpoint and sink_path are known. */
void query_definition_resolve(struct query_definition *definition);
struct query_definition *query_definition_ref(struct query_definition *definition);
void query_definition_unref(struct query_definition *definition); /* NULL is fine */

#define QUERY_PHASE_SIZE   32
#define QUERY_REASON_SIZE  160
#define QUERY_MESSAGE_SIZE 240

struct query_snapshot {
    atomic_uint references;
    uint64_t version; /* rises with every change of any query */
    struct query_definition *definition;
    enum query_state state;
    bool desired_running;
    bool is_durable; /* the desired state and the end, if it has ended, are on disk */
    char reason[QUERY_REASON_SIZE];
    int64_t since_us;
    char phase[QUERY_PHASE_SIZE]; /* while RUNNING */
    char message[QUERY_MESSAGE_SIZE];
    bool is_data_available;
    bool is_trigger_active;
    int64_t attempt; /* restarts in a row */
    int64_t next_retry_us;
    struct shared_error *first_error; /* of the streak */
    struct shared_error *last_error;
    char run_id[UUID_TEXT_SIZE];   /* "" if there was none */
    char query_id[UUID_TEXT_SIZE]; /* of the checkpoint, "" until known */
    int64_t pid;                   /* 0: no worker */
    int64_t run_started_us;
    uint64_t running_generation;  /* of the worker */
    int64_t last_batch_id;        /* -1: none known */
    int64_t heard_us;             /* when the worker was heard last */
    struct shared_text *progress; /* the newest document */
    struct shared_text *plan_text, *plan_json;
};

struct query_snapshot *query_snapshot_new(void);
struct query_snapshot *query_snapshot_ref(struct query_snapshot *snapshot);
void query_snapshot_unref(struct query_snapshot *snapshot); /* NULL is fine */

#endif
