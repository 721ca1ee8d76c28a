/*
 * The words that dates and times are written with in a language: months, days of the week, halves
 * of the day, eras, quarters.  Threads: any.
 */
#ifndef SERVER_COLUMNAR_DATETIME_WORDS_H
#define SERVER_COLUMNAR_DATETIME_WORDS_H

/* [0] short, [1] long, as they stand within a date; everything in UTF-8. */
struct datetime_words {
    const char *tag;                 /* "de", "en-GB" */
    const char *months[2][12];       /* MMM, MMMM */
    const char *months_alone[2][12]; /* LLL, LLLL */
    const char *weekdays[2][7];      /* from Monday on */
    const char *halves[2];           /* AM, PM */
    const char *eras[2][2];          /* BC, AD */
    const char *quarters[2][4];
};

/* Of the locale ("de-DE"), or of its language if nothing else is known; NULL: not known. */
const struct datetime_words *datetime_words_find(const char *tag);

/* Those of the United States, which hold without a locale. */
const struct datetime_words *datetime_words_english(void);

/* All languages, for messages. */
#define DATETIME_WORDS_LANGUAGES "de, en, es, fr, it, nl, pt"

#endif
