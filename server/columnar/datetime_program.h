/*
 * What a date-time pattern compiles to: a flat list of steps, shared by the reader and the printer
 * of datetime_pattern.h.  Internal to those files.
 */
#ifndef SERVER_COLUMNAR_DATETIME_PROGRAM_H
#define SERVER_COLUMNAR_DATETIME_PROGRAM_H

#include "columnar/datetime_pattern.h"

enum datetime_field {
    FIELD_YEAR,
    FIELD_YEAR_OF_ERA,
    FIELD_ERA, /* 0 BC, 1 AD */
    FIELD_QUARTER,
    FIELD_MONTH,
    FIELD_DAY,
    FIELD_DAY_OF_YEAR,
    FIELD_WEEKDAY,      /* printed only */
    FIELD_DAY_IN_SEVEN, /* F: day of the month in groups of seven; printed only */
    FIELD_AMPM,
    FIELD_HOUR,            /* H 0..23 */
    FIELD_CLOCK_HOUR,      /* k 1..24 */
    FIELD_HOUR_AMPM,       /* K 0..11 */
    FIELD_CLOCK_HOUR_AMPM, /* h 1..12 */
    FIELD_MINUTE,
    FIELD_SECOND,
    FIELD_NANO,
    FIELD_COUNT,
};

enum datetime_step_kind {
    STEP_LITERAL,
    STEP_NUMBER,
    STEP_REDUCED_YEAR, /* yy */
    STEP_FRACTION,
    STEP_TEXT,
    STEP_OFFSET,           /* X, x, Z */
    STEP_LOCALIZED_OFFSET, /* O, ZZZZ: GMT+2 */
    STEP_ZONE_ID,          /* VV */
    STEP_ZONE_NAME,        /* z */
    STEP_OPTIONAL_BEGIN,   /* `skip` steps on if the section does not match */
    STEP_OPTIONAL_END,
};

enum datetime_sign {
    SIGN_NORMAL,      /* minus only */
    SIGN_EXCEEDS_PAD, /* plus if longer than the padding */
    SIGN_NEVER,
};

struct datetime_step {
    enum datetime_step_kind kind;
    enum datetime_field field;
    int min; /* digits */
    int max;
    enum datetime_sign sign;
    int following; /* digits of the fixed-width fields right behind; -1: fixed itself */
    bool full;     /* long texts */
    bool alone;    /* a month by itself: LLL */
    uint32_t skip;
    struct bytes literal;
    /* STEP_OFFSET */
    bool colon;
    enum {
        OFFSET_HOUR_MINUTE_IF_NOT_ZERO,
        OFFSET_HOUR_MINUTE,
        OFFSET_SECOND_IF_NOT_ZERO
    } precision;
    const char *zero; /* the text of offset 0 */
};

struct datetime_pattern {
    const struct datetime_step *steps;
    uint32_t count;
    bool has_time;
    const struct datetime_words *words;
};

#endif
