/* Kernels and resolvers of fn_date_fields.c, fn_datetime.c, fn_datetime_make.c, fn_datetime_text.c.
 */
#ifndef SERVER_EXPR_FN_DATETIME_H
#define SERVER_EXPR_FN_DATETIME_H

#include "expr/resolvers.h"

RESOLVER(resolve_extract);
RESOLVER(resolve_timestamp_unit); /* timestampadd, timestampdiff */
RESOLVER(resolve_second_fraction);
RESOLVER(resolve_make_ym_interval);
RESOLVER(resolve_make_timestamp);
RESOLVER(resolve_make_interval);
RESOLVER(resolve_time_bucket);
RESOLVER(resolve_convert_timezone);
RESOLVER(resolve_timestamp_seconds);
RESOLVER(resolve_unix_timestamp);
RESOLVER(resolve_to_date);
RESOLVER(resolve_to_timestamp);
RESOLVER(resolve_date_format);
RESOLVER(resolve_date_trunc);
RESOLVER(resolve_from_unixtime);

KERNEL(kernel_year);
KERNEL(kernel_year_of_week);
KERNEL(kernel_quarter);
KERNEL(kernel_month);
KERNEL(kernel_day);
KERNEL(kernel_day_of_year);
KERNEL(kernel_day_of_week);
KERNEL(kernel_day_of_week_iso);
KERNEL(kernel_weekday);
KERNEL(kernel_week_of_year);
KERNEL(kernel_dayname);
KERNEL(kernel_monthname);
KERNEL(kernel_last_day);
KERNEL(kernel_unix_date);
KERNEL(kernel_hour);
KERNEL(kernel_minute);
KERNEL(kernel_second);
KERNEL(kernel_second_with_fraction);
KERNEL(kernel_interval_year);
KERNEL(kernel_interval_month);
KERNEL(kernel_interval_day);
KERNEL(kernel_interval_hour);
KERNEL(kernel_interval_minute);
KERNEL(kernel_interval_second);

KERNEL(kernel_datediff);
KERNEL(kernel_add_months);
KERNEL(kernel_months_between);
KERNEL(kernel_next_day);
KERNEL(kernel_trunc_date);
KERNEL(kernel_date_trunc);
KERNEL(kernel_unix_seconds);
KERNEL(kernel_unix_millis);
KERNEL(kernel_unix_micros);
KERNEL(kernel_timestamp_seconds);
KERNEL(kernel_timestamp_millis);
KERNEL(kernel_timestamp_micros);
KERNEL(kernel_from_utc_timestamp);
KERNEL(kernel_to_utc_timestamp);
KERNEL(kernel_convert_timezone);
KERNEL(kernel_current_timestamp);
KERNEL(kernel_current_date);
KERNEL(kernel_localtimestamp);
KERNEL(kernel_current_timezone);
KERNEL(kernel_timestamp_add);
KERNEL(kernel_timestamp_diff);
KERNEL(kernel_time_bucket);

KERNEL(kernel_make_date);
KERNEL(kernel_make_timestamp);
KERNEL(kernel_make_interval);
KERNEL(kernel_make_dt_interval);
KERNEL(kernel_make_ym_interval);

KERNEL(kernel_unix_timestamp);
KERNEL(kernel_unix_timestamp_text);
KERNEL(kernel_to_date);
KERNEL(kernel_to_timestamp);
KERNEL(kernel_date_format);
KERNEL(kernel_from_unixtime);

#endif
