#include "api/http/mhd.h"

#include "base/dynlib.h"

struct mhd_functions mhd;

enum status mhd_load(struct error *err)
{
    const struct dynlib_symbol symbols[] = {
        {"MHD_start_daemon", &mhd.start_daemon},
        {"MHD_stop_daemon", &mhd.stop_daemon},
        {"MHD_suspend_connection", &mhd.suspend_connection},
        {"MHD_resume_connection", &mhd.resume_connection},
        {"MHD_queue_response", &mhd.queue_response},
        {"MHD_create_response_from_buffer", &mhd.create_response_from_buffer},
        {"MHD_add_response_header", &mhd.add_response_header},
        {"MHD_destroy_response", &mhd.destroy_response},
        {"MHD_get_connection_info", &mhd.get_connection_info},
        {"MHD_get_connection_values_n", &mhd.get_connection_values_n},
    };
    return dynlib_load("libmicrohttpd.so.12", symbols, sizeof symbols / sizeof symbols[0], err);
}
