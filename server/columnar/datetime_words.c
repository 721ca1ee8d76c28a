/* Words of dates, from the CLDR of JDK 17: see datetime_words.h. */
#include "columnar/datetime_words.h"

#include <string.h>
#include <strings.h>

/* Lists that stand in several places: of a language and its countries, beside a day and alone. */
#define EN_SHORT_MONTHS                                                                            \
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"
#define EN_MONTHS                                                                                  \
    "January", "February", "March", "April", "May", "June", "July", "August", "September",         \
        "October", "November", "December"
#define EN_WEEKDAYS "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"
#define EN_QUARTERS "1st quarter", "2nd quarter", "3rd quarter", "4th quarter"
#define EN_CA_SHORT_MONTHS                                                                         \
    "Jan.", "Feb.", "Mar.", "Apr.", "May", "Jun.", "Jul.", "Aug.", "Sep.", "Oct.", "Nov.", "Dec."
#define EN_GB_SHORT_MONTHS                                                                         \
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sept", "Oct", "Nov", "Dec"
#define DE_MONTHS                                                                                  \
    "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", \
        "November", "Dezember"
#define DE_WEEKDAYS "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"
#define DE_AT_MONTHS                                                                               \
    "Jänner", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", \
        "November", "Dezember"
#define ES_SHORT_MONTHS                                                                            \
    "ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sept", "oct", "nov", "dic"
#define ES_MONTHS                                                                                  \
    "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre",        \
        "octubre", "noviembre", "diciembre"
#define ES_WEEKDAYS "lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"
#define ES_QUARTERS "1.er trimestre", "2.º trimestre", "3.er trimestre", "4.º trimestre"
#define ES_MX_SHORT_MONTHS                                                                         \
    "ene.", "feb.", "mar.", "abr.", "may.", "jun.", "jul.", "ago.", "sep.", "oct.", "nov.", "dic."
#define FR_SHORT_MONTHS                                                                            \
    "janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.",     \
        "déc."
#define FR_MONTHS                                                                                  \
    "janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre",          \
        "octobre", "novembre", "décembre"
#define FR_WEEKDAYS "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"
#define FR_QUARTERS "1er trimestre", "2e trimestre", "3e trimestre", "4e trimestre"
#define FR_CA_SHORT_MONTHS                                                                         \
    "janv.", "févr.", "mars", "avr.", "mai", "juin", "juill.", "août", "sept.", "oct.", "nov.",    \
        "déc."
#define IT_SHORT_MONTHS                                                                            \
    "gen", "feb", "mar", "apr", "mag", "giu", "lug", "ago", "set", "ott", "nov", "dic"
#define IT_MONTHS                                                                                  \
    "gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre", \
        "ottobre", "novembre", "dicembre"
#define IT_QUARTERS "1º trimestre", "2º trimestre", "3º trimestre", "4º trimestre"
#define NL_SHORT_MONTHS                                                                            \
    "jan.", "feb.", "mrt.", "apr.", "mei", "jun.", "jul.", "aug.", "sep.", "okt.", "nov.", "dec."
#define NL_MONTHS                                                                                  \
    "januari", "februari", "maart", "april", "mei", "juni", "juli", "augustus", "september",       \
        "oktober", "november", "december"
#define PT_SHORT_MONTHS                                                                            \
    "jan.", "fev.", "mar.", "abr.", "mai.", "jun.", "jul.", "ago.", "set.", "out.", "nov.", "dez."
#define PT_MONTHS                                                                                  \
    "janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro",      \
        "outubro", "novembro", "dezembro"
#define PT_WEEKDAYS                                                                                \
    "segunda-feira", "terça-feira", "quarta-feira", "quinta-feira", "sexta-feira", "sábado",       \
        "domingo"
#define PT_PT_QUARTERS "1.º trimestre", "2.º trimestre", "3.º trimestre", "4.º trimestre"

static const struct datetime_words locales[] = {
    {
        .tag = "en",
        .months = {{EN_SHORT_MONTHS}, {EN_MONTHS}},
        .months_alone = {{EN_SHORT_MONTHS}, {EN_MONTHS}},
        .weekdays = {{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}, {EN_WEEKDAYS}},
        .halves = {"AM", "PM"},
        .eras = {{"BC", "AD"}, {"Before Christ", "Anno Domini"}},
        .quarters = {{"Q1", "Q2", "Q3", "Q4"}, {EN_QUARTERS}},
    },
    {
        .tag = "en-AU",
        .months = {{"Jan", "Feb", "Mar", "Apr", "May", "June", "July", "Aug", "Sept", "Oct", "Nov",
                    "Dec"},
                   {EN_MONTHS}},
        .months_alone = {{EN_SHORT_MONTHS}, {EN_MONTHS}},
        .weekdays = {{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}, {EN_WEEKDAYS}},
        .halves = {"am", "pm"},
        .eras = {{"BC", "AD"}, {"Before Christ", "Anno Domini"}},
        .quarters = {{"Q1", "Q2", "Q3", "Q4"}, {EN_QUARTERS}},
    },
    {
        .tag = "en-CA",
        .months = {{EN_CA_SHORT_MONTHS}, {EN_MONTHS}},
        .months_alone = {{EN_CA_SHORT_MONTHS}, {EN_MONTHS}},
        .weekdays = {{"Mon.", "Tue.", "Wed.", "Thu.", "Fri.", "Sat.", "Sun."}, {EN_WEEKDAYS}},
        .halves = {"a.m.", "p.m."},
        .eras = {{"BC", "AD"}, {"Before Christ", "Anno Domini"}},
        .quarters = {{"Q1", "Q2", "Q3", "Q4"}, {EN_QUARTERS}},
    },
    {
        .tag = "en-GB",
        .months = {{EN_GB_SHORT_MONTHS}, {EN_MONTHS}},
        .months_alone = {{EN_GB_SHORT_MONTHS}, {EN_MONTHS}},
        .weekdays = {{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}, {EN_WEEKDAYS}},
        .halves = {"am", "pm"},
        .eras = {{"BC", "AD"}, {"Before Christ", "Anno Domini"}},
        .quarters = {{"Q1", "Q2", "Q3", "Q4"}, {EN_QUARTERS}},
    },
    {
        .tag = "de",
        .months = {{"Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sept.", "Okt.",
                    "Nov.", "Dez."},
                   {DE_MONTHS}},
        .months_alone = {{"Jan", "Feb", "Mär", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt",
                          "Nov", "Dez"},
                         {DE_MONTHS}},
        .weekdays = {{"Mo.", "Di.", "Mi.", "Do.", "Fr.", "Sa.", "So."}, {DE_WEEKDAYS}},
        .halves = {"AM", "PM"},
        .eras = {{"v. Chr.", "n. Chr."}, {"v. Chr.", "n. Chr."}},
        .quarters = {{"Q1", "Q2", "Q3", "Q4"},
                     {"1. Quartal", "2. Quartal", "3. Quartal", "4. Quartal"}},
    },
    {
        .tag = "de-AT",
        .months = {{"Jän.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sep.", "Okt.",
                    "Nov.", "Dez."},
                   {DE_AT_MONTHS}},
        .months_alone = {{"Jän", "Feb", "Mär", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt",
                          "Nov", "Dez"},
                         {DE_AT_MONTHS}},
        .weekdays = {{"Mo.", "Di.", "Mi.", "Do.", "Fr.", "Sa.", "So."}, {DE_WEEKDAYS}},
        .halves = {"AM", "PM"},
        .eras = {{"v. Chr.", "n. Chr."}, {"v. Chr.", "n. Chr."}},
        .quarters = {{"Q1", "Q2", "Q3", "Q4"},
                     {"1. Quartal", "2. Quartal", "3. Quartal", "4. Quartal"}},
    },
    {
        .tag = "es",
        .months = {{ES_SHORT_MONTHS}, {ES_MONTHS}},
        .months_alone = {{ES_SHORT_MONTHS}, {ES_MONTHS}},
        .weekdays = {{"lun", "mar", "mié", "jue", "vie", "sáb", "dom"}, {ES_WEEKDAYS}},
        .halves = {"a.\u00a0m.", "p.\u00a0m."},
        .eras = {{"antes de Cristo", "anno Dómini"}, {"antes de Cristo", "después de Cristo"}},
        .quarters = {{"T1", "T2", "T3", "T4"}, {ES_QUARTERS}},
    },
    {
        .tag = "es-MX",
        .months = {{ES_MX_SHORT_MONTHS}, {ES_MONTHS}},
        .months_alone = {{ES_MX_SHORT_MONTHS}, {ES_MONTHS}},
        .weekdays = {{"lun", "mar", "mié", "jue", "vie", "sáb", "dom"}, {ES_WEEKDAYS}},
        .halves = {"a.\u00a0m.", "p.\u00a0m."},
        .eras = {{"antes de Cristo", "anno Dómini"}, {"antes de Cristo", "después de Cristo"}},
        .quarters = {{ES_QUARTERS}, {ES_QUARTERS}},
    },
    {
        .tag = "fr",
        .months = {{FR_SHORT_MONTHS}, {FR_MONTHS}},
        .months_alone = {{FR_SHORT_MONTHS}, {FR_MONTHS}},
        .weekdays = {{"lun.", "mar.", "mer.", "jeu.", "ven.", "sam.", "dim."}, {FR_WEEKDAYS}},
        .halves = {"AM", "PM"},
        .eras = {{"BC", "ap. J.-C."}, {"avant Jésus-Christ", "après Jésus-Christ"}},
        .quarters = {{"T1", "T2", "T3", "T4"}, {FR_QUARTERS}},
    },
    {
        .tag = "fr-CA",
        .months = {{FR_CA_SHORT_MONTHS}, {FR_MONTHS}},
        .months_alone = {{FR_CA_SHORT_MONTHS}, {FR_MONTHS}},
        .weekdays = {{"lun.", "mar.", "mer.", "jeu.", "ven.", "sam.", "dim."}, {FR_WEEKDAYS}},
        .halves = {"a.m.", "p.m."},
        .eras = {{"BC", "ap. J.-C."}, {"avant Jésus-Christ", "après Jésus-Christ"}},
        .quarters = {{"T1", "T2", "T3", "T4"}, {FR_QUARTERS}},
    },
    {
        .tag = "it",
        .months = {{IT_SHORT_MONTHS}, {IT_MONTHS}},
        .months_alone = {{IT_SHORT_MONTHS}, {IT_MONTHS}},
        .weekdays = {{"lun", "mar", "mer", "gio", "ven", "sab", "dom"},
                     {"lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato",
                      "domenica"}},
        .halves = {"AM", "PM"},
        .eras = {{"BC", "dopo Cristo"}, {"a.C.", "d.C."}},
        .quarters = {{"T1", "T2", "T3", "T4"}, {IT_QUARTERS}},
    },
    {
        .tag = "nl",
        .months = {{NL_SHORT_MONTHS}, {NL_MONTHS}},
        .months_alone = {{NL_SHORT_MONTHS}, {NL_MONTHS}},
        .weekdays = {{"ma", "di", "wo", "do", "vr", "za", "zo"},
                     {"maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag",
                      "zondag"}},
        .halves = {"a.m.", "p.m."},
        .eras = {{"v. Chr.", "n. Chr."}, {"voor Christus", "na Christus"}},
        .quarters = {{"K1", "K2", "K3", "K4"},
                     {"1e kwartaal", "2e kwartaal", "3e kwartaal", "4e kwartaal"}},
    },
    {
        .tag = "pt",
        .months = {{PT_SHORT_MONTHS}, {PT_MONTHS}},
        .months_alone = {{PT_SHORT_MONTHS}, {PT_MONTHS}},
        .weekdays = {{"seg.", "ter.", "qua.", "qui.", "sex.", "sáb.", "dom."}, {PT_WEEKDAYS}},
        .halves = {"AM", "PM"},
        .eras = {{"a.C.", "d.C."}, {"antes de Cristo", "depois de Cristo"}},
        .quarters = {{"T1", "T2", "T3", "T4"}, {IT_QUARTERS}},
    },
    {
        .tag = "pt-PT",
        .months = {{PT_SHORT_MONTHS}, {PT_MONTHS}},
        .months_alone = {{PT_SHORT_MONTHS}, {PT_MONTHS}},
        .weekdays = {{"segunda", "terça", "quarta", "quinta", "sexta", "sábado", "domingo"},
                     {PT_WEEKDAYS}},
        .halves = {"da manhã", "da tarde"},
        .eras = {{"a.C.", "d.C."}, {"antes de Cristo", "depois de Cristo"}},
        .quarters = {{PT_PT_QUARTERS}, {PT_PT_QUARTERS}},
    },
};
#define LOCALE_COUNT (sizeof locales / sizeof *locales)

const struct datetime_words *datetime_words_english(void)
{
    return &locales[0];
}

const struct datetime_words *datetime_words_find(const char *tag)
{
    size_t language = strcspn(tag, "-");
    const struct datetime_words *found = NULL;
    for (size_t i = 0; i < LOCALE_COUNT; i++) {
        const char *known = locales[i].tag;
        if (strcasecmp(known, tag) == 0)
            return &locales[i];
        if (strlen(known) == language && strncasecmp(known, tag, language) == 0)
            found = &locales[i];
    }
    return found;
}
