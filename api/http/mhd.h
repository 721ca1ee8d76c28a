/*
 * libmicrohttpd, loaded on first use: a worker, which is the same program, must not map it and the
 * TLS library behind it.  `mhd.<name>` is MHD_<name>.
 *
 * Threads: mhd_load by one thread before the others.
 */
#ifndef API_HTTP_MHD_H
#define API_HTTP_MHD_H

#include "base/error.h"

#include <microhttpd.h>

struct mhd_functions {
    __typeof__(&MHD_start_daemon) start_daemon;
    __typeof__(&MHD_stop_daemon) stop_daemon;
    __typeof__(&MHD_suspend_connection) suspend_connection;
    __typeof__(&MHD_resume_connection) resume_connection;
    __typeof__(&MHD_queue_response) queue_response;
    __typeof__(&MHD_create_response_from_buffer) create_response_from_buffer;
    __typeof__(&MHD_add_response_header) add_response_header;
    __typeof__(&MHD_destroy_response) destroy_response;
    __typeof__(&MHD_get_connection_info) get_connection_info;
    __typeof__(&MHD_get_connection_values_n) get_connection_values_n;
};

extern struct mhd_functions mhd;

/* Errors: LIBRARY_MISSING. */
MUST_USE enum status mhd_load(struct error *err);

#endif
