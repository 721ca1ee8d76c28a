/*
 * How numbers are written in a language: what java.text.DecimalFormat takes, by the CLDR of JDK 17.
 * Threads: any.
 */
#ifndef SERVER_COLUMNAR_NUMBER_LOCALE_H
#define SERVER_COLUMNAR_NUMBER_LOCALE_H

#include "columnar/number_text.h"
#include "columnar/type.h"

/* In UTF-8. */
struct number_locale {
    const char *point, *grouping, *minus, *exponent;
    const char *tags; /* " de fr-LU pa-Arab ": languages, and their regions that differ */
};

/* Those of the United States, which hold without a locale. */
const struct number_locale *number_locale_us(void);

/* Of a language tag, in any case: "de", "de-CH", "uz-Arab-AF"; variants are passed over.  NULL: no
 * tag, or no language that is known. */
const struct number_locale *number_locale_find(const char *tag);

/*
 * The whole text as a DECIMAL of `type`, rounded HALF_UP; any Unicode digits.  The separators of
 * groups may stand anywhere before a digit.  In the United States the text is what CAST takes but
 * for blanks, with commas anywhere: "+1,5e3".
 */
enum text_result number_locale_parse_decimal(const struct number_locale *locale, struct bytes text,
                                             const struct type *type, int128 *out);

#endif
