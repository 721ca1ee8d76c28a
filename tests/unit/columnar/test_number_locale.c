/* Numbers of languages: what Spark 4.3 and java.text.DecimalFormat of JDK 17 make of them. */
#include "columnar/number_locale.h"

#include "columnar/decimal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

struct answer {
    const char *tag, *text, *want; /* NULL: refused */
};

static void check(const struct answer *answers, size_t count)
{
    const struct type type = {.id = TYPE_DECIMAL, .precision = 10, .scale = 2};
    for (size_t i = 0; i < count; i++) {
        const struct answer *answer = &answers[i];
        const struct number_locale *locale = number_locale_find(answer->tag);
        assert_non_null(locale);
        int128 value = 0;
        char text[DECIMAL_TEXT_MAX + 1] = "refused";
        if (number_locale_parse_decimal(locale, bytes_of_text(answer->text), &type, &value) ==
            TEXT_OK)
            text[decimal_print(text, (struct decimal){value, 2})] = '\0';
        print_message("%s %s\n", answer->tag, answer->text);
        assert_string_equal(text, answer->want == NULL ? "refused" : answer->want);
    }
}

/* clang-format off */
static const struct answer by_language[] = {
    {"en-US", "1,5", "15.00"}, {"en-US", "1.5", "1.50"}, {"en-US", "1.234,5", "1.23"},
    {"en-US", "1 234,5", NULL}, {"en-US", "1\342" "\200" "\231" "234.5", NULL},
    {"en-US", "1,234.5", "1234.50"}, {"en-US", "1\342" "\200" "\257" "234,5", NULL},
    {"en-US", "1\302" "\240" "234,5", NULL}, {"en-US", "-1,5", "-15.00"},
    {"en-US", "\342" "\210" "\222" "1,5", NULL}, {"en-US", "1'234,5", NULL},
    {"fr", "1,5", "1.50"}, {"fr", "1.5", NULL}, {"fr", "1.234,5", NULL},
    {"fr", "1 234,5", NULL}, {"fr", "1\342" "\200" "\231" "234.5", NULL},
    {"fr", "1,234.5", NULL}, {"fr", "1\342" "\200" "\257" "234,5", "1234.50"},
    {"fr", "1\302" "\240" "234,5", NULL}, {"fr", "-1,5", "-1.50"},
    {"fr", "\342" "\210" "\222" "1,5", NULL}, {"fr", "1'234,5", NULL}, {"fr-CA", "1,5", "1.50"},
    {"fr-CA", "1.5", NULL}, {"fr-CA", "1.234,5", NULL}, {"fr-CA", "1 234,5", NULL},
    {"fr-CA", "1\342" "\200" "\231" "234.5", NULL}, {"fr-CA", "1,234.5", NULL},
    {"fr-CA", "1\342" "\200" "\257" "234,5", NULL},
    {"fr-CA", "1\302" "\240" "234,5", "1234.50"}, {"fr-CA", "-1,5", "-1.50"},
    {"fr-CA", "\342" "\210" "\222" "1,5", NULL}, {"fr-CA", "1'234,5", NULL},
    {"de-AT", "1,5", "1.50"}, {"de-AT", "1.5", NULL}, {"de-AT", "1.234,5", NULL},
    {"de-AT", "1 234,5", NULL}, {"de-AT", "1\342" "\200" "\231" "234.5", NULL},
    {"de-AT", "1,234.5", NULL}, {"de-AT", "1\342" "\200" "\257" "234,5", NULL},
    {"de-AT", "1\302" "\240" "234,5", "1234.50"}, {"de-AT", "-1,5", "-1.50"},
    {"de-AT", "\342" "\210" "\222" "1,5", NULL}, {"de-AT", "1'234,5", NULL},
    {"de-CH", "1,5", NULL}, {"de-CH", "1.5", "1.50"}, {"de-CH", "1.234,5", NULL},
    {"de-CH", "1 234,5", NULL}, {"de-CH", "1\342" "\200" "\231" "234.5", "1234.50"},
    {"de-CH", "1,234.5", NULL}, {"de-CH", "1\342" "\200" "\257" "234,5", NULL},
    {"de-CH", "1\302" "\240" "234,5", NULL}, {"de-CH", "-1,5", NULL},
    {"de-CH", "\342" "\210" "\222" "1,5", NULL}, {"de-CH", "1'234,5", NULL},
    {"pl", "1,5", "1.50"}, {"pl", "1.5", NULL}, {"pl", "1.234,5", NULL},
    {"pl", "1 234,5", NULL}, {"pl", "1\342" "\200" "\231" "234.5", NULL},
    {"pl", "1,234.5", NULL}, {"pl", "1\342" "\200" "\257" "234,5", NULL},
    {"pl", "1\302" "\240" "234,5", "1234.50"}, {"pl", "-1,5", "-1.50"},
    {"pl", "\342" "\210" "\222" "1,5", NULL}, {"pl", "1'234,5", NULL}, {"sv", "1,5", "1.50"},
    {"sv", "1.5", NULL}, {"sv", "1.234,5", NULL}, {"sv", "1 234,5", NULL},
    {"sv", "1\342" "\200" "\231" "234.5", NULL}, {"sv", "1,234.5", NULL},
    {"sv", "1\342" "\200" "\257" "234,5", NULL}, {"sv", "1\302" "\240" "234,5", "1234.50"},
    {"sv", "-1,5", NULL}, {"sv", "\342" "\210" "\222" "1,5", "-1.50"}, {"sv", "1'234,5", NULL},
    {"ru", "1,5", "1.50"}, {"ru", "1.5", NULL}, {"ru", "1.234,5", NULL},
    {"ru", "1 234,5", NULL}, {"ru", "1\342" "\200" "\231" "234.5", NULL},
    {"ru", "1,234.5", NULL}, {"ru", "1\342" "\200" "\257" "234,5", NULL},
    {"ru", "1\302" "\240" "234,5", "1234.50"}, {"ru", "-1,5", "-1.50"},
    {"ru", "\342" "\210" "\222" "1,5", NULL}, {"ru", "1'234,5", NULL}, {"cs", "1,5", "1.50"},
    {"cs", "1.5", NULL}, {"cs", "1.234,5", NULL}, {"cs", "1 234,5", NULL},
    {"cs", "1\342" "\200" "\231" "234.5", NULL}, {"cs", "1,234.5", NULL},
    {"cs", "1\342" "\200" "\257" "234,5", NULL}, {"cs", "1\302" "\240" "234,5", "1234.50"},
    {"cs", "-1,5", "-1.50"}, {"cs", "\342" "\210" "\222" "1,5", NULL}, {"cs", "1'234,5", NULL},
    {"fi", "1,5", "1.50"}, {"fi", "1.5", NULL}, {"fi", "1.234,5", NULL},
    {"fi", "1 234,5", NULL}, {"fi", "1\342" "\200" "\231" "234.5", NULL},
    {"fi", "1,234.5", NULL}, {"fi", "1\342" "\200" "\257" "234,5", NULL},
    {"fi", "1\302" "\240" "234,5", "1234.50"}, {"fi", "-1,5", NULL},
    {"fi", "\342" "\210" "\222" "1,5", "-1.50"}, {"fi", "1'234,5", NULL}, {"nb", "1,5", "1.50"},
    {"nb", "1.5", NULL}, {"nb", "1.234,5", NULL}, {"nb", "1 234,5", NULL},
    {"nb", "1\342" "\200" "\231" "234.5", NULL}, {"nb", "1,234.5", NULL},
    {"nb", "1\342" "\200" "\257" "234,5", NULL}, {"nb", "1\302" "\240" "234,5", "1234.50"},
    {"nb", "-1,5", NULL}, {"nb", "\342" "\210" "\222" "1,5", "-1.50"}, {"nb", "1'234,5", NULL},
    {"da", "1,5", "1.50"}, {"da", "1.5", "15.00"}, {"da", "1.234,5", "1234.50"},
    {"da", "1 234,5", NULL}, {"da", "1\342" "\200" "\231" "234.5", NULL},
    {"da", "1,234.5", NULL}, {"da", "1\342" "\200" "\257" "234,5", NULL},
    {"da", "1\302" "\240" "234,5", NULL}, {"da", "-1,5", "-1.50"},
    {"da", "\342" "\210" "\222" "1,5", NULL}, {"da", "1'234,5", NULL}, {"tr", "1,5", "1.50"},
    {"tr", "1.5", "15.00"}, {"tr", "1.234,5", "1234.50"}, {"tr", "1 234,5", NULL},
    {"tr", "1\342" "\200" "\231" "234.5", NULL}, {"tr", "1,234.5", NULL},
    {"tr", "1\342" "\200" "\257" "234,5", NULL}, {"tr", "1\302" "\240" "234,5", NULL},
    {"tr", "-1,5", "-1.50"}, {"tr", "\342" "\210" "\222" "1,5", NULL}, {"tr", "1'234,5", NULL},
    {"uk", "1,5", "1.50"}, {"uk", "1.5", NULL}, {"uk", "1.234,5", NULL},
    {"uk", "1 234,5", NULL}, {"uk", "1\342" "\200" "\231" "234.5", NULL},
    {"uk", "1,234.5", NULL}, {"uk", "1\342" "\200" "\257" "234,5", NULL},
    {"uk", "1\302" "\240" "234,5", "1234.50"}, {"uk", "-1,5", "-1.50"},
    {"uk", "\342" "\210" "\222" "1,5", NULL}, {"uk", "1'234,5", NULL}, {"pt", "1,5", "1.50"},
    {"pt", "1.5", "15.00"}, {"pt", "1.234,5", "1234.50"}, {"pt", "1 234,5", NULL},
    {"pt", "1\342" "\200" "\231" "234.5", NULL}, {"pt", "1,234.5", NULL},
    {"pt", "1\342" "\200" "\257" "234,5", NULL}, {"pt", "1\302" "\240" "234,5", NULL},
    {"pt", "-1,5", "-1.50"}, {"pt", "\342" "\210" "\222" "1,5", NULL}, {"pt", "1'234,5", NULL},
    {"pt-PT", "1,5", "1.50"}, {"pt-PT", "1.5", NULL}, {"pt-PT", "1.234,5", NULL},
    {"pt-PT", "1 234,5", NULL}, {"pt-PT", "1\342" "\200" "\231" "234.5", NULL},
    {"pt-PT", "1,234.5", NULL}, {"pt-PT", "1\342" "\200" "\257" "234,5", NULL},
    {"pt-PT", "1\302" "\240" "234,5", "1234.50"}, {"pt-PT", "-1,5", "-1.50"},
    {"pt-PT", "\342" "\210" "\222" "1,5", NULL}, {"pt-PT", "1'234,5", NULL},
    {"es", "1,5", "1.50"}, {"es", "1.5", "15.00"}, {"es", "1.234,5", "1234.50"},
    {"es", "1 234,5", NULL}, {"es", "1\342" "\200" "\231" "234.5", NULL},
    {"es", "1,234.5", NULL}, {"es", "1\342" "\200" "\257" "234,5", NULL},
    {"es", "1\302" "\240" "234,5", NULL}, {"es", "-1,5", "-1.50"},
    {"es", "\342" "\210" "\222" "1,5", NULL}, {"es", "1'234,5", NULL},
    {"es-MX", "1,5", "15.00"}, {"es-MX", "1.5", "1.50"}, {"es-MX", "1.234,5", NULL},
    {"es-MX", "1 234,5", NULL}, {"es-MX", "1\342" "\200" "\231" "234.5", NULL},
    {"es-MX", "1,234.5", "1234.50"}, {"es-MX", "1\342" "\200" "\257" "234,5", NULL},
    {"es-MX", "1\302" "\240" "234,5", NULL}, {"es-MX", "-1,5", "-15.00"},
    {"es-MX", "\342" "\210" "\222" "1,5", NULL}, {"es-MX", "1'234,5", NULL},
    {"es-AR", "1,5", "1.50"}, {"es-AR", "1.5", "15.00"}, {"es-AR", "1.234,5", "1234.50"},
    {"es-AR", "1 234,5", NULL}, {"es-AR", "1\342" "\200" "\231" "234.5", NULL},
    {"es-AR", "1,234.5", NULL}, {"es-AR", "1\342" "\200" "\257" "234,5", NULL},
    {"es-AR", "1\302" "\240" "234,5", NULL}, {"es-AR", "-1,5", "-1.50"},
    {"es-AR", "\342" "\210" "\222" "1,5", NULL}, {"es-AR", "1'234,5", NULL},
    {"it", "1,5", "1.50"}, {"it", "1.5", "15.00"}, {"it", "1.234,5", "1234.50"},
    {"it", "1 234,5", NULL}, {"it", "1\342" "\200" "\231" "234.5", NULL},
    {"it", "1,234.5", NULL}, {"it", "1\342" "\200" "\257" "234,5", NULL},
    {"it", "1\302" "\240" "234,5", NULL}, {"it", "-1,5", "-1.50"},
    {"it", "\342" "\210" "\222" "1,5", NULL}, {"it", "1'234,5", NULL}, {"it-CH", "1,5", NULL},
    {"it-CH", "1.5", "1.50"}, {"it-CH", "1.234,5", NULL}, {"it-CH", "1 234,5", NULL},
    {"it-CH", "1\342" "\200" "\231" "234.5", "1234.50"}, {"it-CH", "1,234.5", NULL},
    {"it-CH", "1\342" "\200" "\257" "234,5", NULL}, {"it-CH", "1\302" "\240" "234,5", NULL},
    {"it-CH", "-1,5", NULL}, {"it-CH", "\342" "\210" "\222" "1,5", NULL},
    {"it-CH", "1'234,5", NULL}, {"nl", "1,5", "1.50"}, {"nl", "1.5", "15.00"},
    {"nl", "1.234,5", "1234.50"}, {"nl", "1 234,5", NULL},
    {"nl", "1\342" "\200" "\231" "234.5", NULL}, {"nl", "1,234.5", NULL},
    {"nl", "1\342" "\200" "\257" "234,5", NULL}, {"nl", "1\302" "\240" "234,5", NULL},
    {"nl", "-1,5", "-1.50"}, {"nl", "\342" "\210" "\222" "1,5", NULL}, {"nl", "1'234,5", NULL},
    {"hu", "1,5", "1.50"}, {"hu", "1.5", NULL}, {"hu", "1.234,5", NULL},
    {"hu", "1 234,5", NULL}, {"hu", "1\342" "\200" "\231" "234.5", NULL},
    {"hu", "1,234.5", NULL}, {"hu", "1\342" "\200" "\257" "234,5", NULL},
    {"hu", "1\302" "\240" "234,5", "1234.50"}, {"hu", "-1,5", "-1.50"},
    {"hu", "\342" "\210" "\222" "1,5", NULL}, {"hu", "1'234,5", NULL}, {"ar", "1,5", NULL},
    {"ar", "1.5", NULL}, {"ar", "1.234,5", NULL}, {"ar", "1 234,5", NULL},
    {"ar", "1\342" "\200" "\231" "234.5", NULL}, {"ar", "1,234.5", NULL},
    {"ar", "1\342" "\200" "\257" "234,5", NULL}, {"ar", "1\302" "\240" "234,5", NULL},
    {"ar", "-1,5", NULL}, {"ar", "\342" "\210" "\222" "1,5", NULL}, {"ar", "1'234,5", NULL},
    {"he", "1,5", "15.00"}, {"he", "1.5", "1.50"}, {"he", "1.234,5", NULL},
    {"he", "1 234,5", NULL}, {"he", "1\342" "\200" "\231" "234.5", NULL},
    {"he", "1,234.5", "1234.50"}, {"he", "1\342" "\200" "\257" "234,5", NULL},
    {"he", "1\302" "\240" "234,5", NULL}, {"he", "-1,5", NULL},
    {"he", "\342" "\210" "\222" "1,5", NULL}, {"he", "1'234,5", NULL}, {"en-ZA", "1,5", "1.50"},
    {"en-ZA", "1.5", NULL}, {"en-ZA", "1.234,5", NULL}, {"en-ZA", "1 234,5", NULL},
    {"en-ZA", "1\342" "\200" "\231" "234.5", NULL}, {"en-ZA", "1,234.5", NULL},
    {"en-ZA", "1\342" "\200" "\257" "234,5", NULL},
    {"en-ZA", "1\302" "\240" "234,5", "1234.50"}, {"en-ZA", "-1,5", "-1.50"},
    {"en-ZA", "\342" "\210" "\222" "1,5", NULL}, {"en-ZA", "1'234,5", NULL},
};
/* clang-format on */

static void separators_by_language(void **state)
{
    (void)state;
    check(by_language, sizeof by_language / sizeof *by_language);
}

/* clang-format off */
static const struct answer by_grammar[] = {
    {"de", "1E2", "100.00"}, {"de", "1e2", NULL}, {"de", "1,5E1", "15.00"},
    {"de", "1.5E1", "150.00"}, {"de", "1E-1", "0.10"}, {"de", "1E+1", NULL},
    {"de", "1.,5", "1.50"}, {"de", "1,.5", NULL}, {"de", "1.", NULL}, {"de", ",5", "0.50"},
    {"de", ".5", "5.00"}, {"de", "1,", "1.00"}, {"de", "+1", NULL}, {"de", "--1", NULL},
    {"de", "1 ", NULL}, {"de", "1..2", "12.00"}, {"de", "1,,2", NULL},
    {"de", "1.2.3", "123.00"}, {"de", "1,2,3", NULL}, {"de", "1E", NULL}, {"de", "1E1E1", NULL},
    {"de", "\331" "\241" "", "1.00"}, {"de", "\331" "\241" ",5", "1.50"}, {"de", "-", NULL},
    {"de", "", NULL}, {"de", "-0,5", "-0.50"}, {"de", "12.34.5,6", "12345.60"},
    {"de", "1E2,5", NULL}, {"de", "E1", NULL}, {"de", "1,E1", "10.00"}, {"de", "1.E1", NULL},
    {"de", " 1", NULL}, {"en", "1E2", "100.00"}, {"en", "1e2", NULL}, {"en", "1,5E1", "150.00"},
    {"en", "1.5E1", "15.00"}, {"en", "1E-1", "0.10"}, {"en", "1E+1", NULL},
    {"en", "1.,5", NULL}, {"en", "1,.5", "1.50"}, {"en", "1.", "1.00"}, {"en", ",5", "5.00"},
    {"en", ".5", "0.50"}, {"en", "1,", NULL}, {"en", "+1", NULL}, {"en", "--1", NULL},
    {"en", "1 ", NULL}, {"en", "1..2", NULL}, {"en", "1,,2", "12.00"}, {"en", "1.2.3", NULL},
    {"en", "1,2,3", "123.00"}, {"en", "1E", NULL}, {"en", "1E1E1", NULL},
    {"en", "\331" "\241" "", "1.00"}, {"en", "\331" "\241" ",5", "15.00"}, {"en", "-", NULL},
    {"en", "", NULL}, {"en", "-0,5", "-5.00"}, {"en", "12.34.5,6", NULL}, {"en", "1E2,5", NULL},
    {"en", "E1", NULL}, {"en", "1,E1", NULL}, {"en", "1.E1", "10.00"}, {"en", " 1", NULL},
    {"fr", "1E2", "100.00"}, {"fr", "1e2", NULL}, {"fr", "1,5E1", "15.00"},
    {"fr", "1.5E1", NULL}, {"fr", "1E-1", "0.10"}, {"fr", "1E+1", NULL}, {"fr", "1.,5", NULL},
    {"fr", "1,.5", NULL}, {"fr", "1.", NULL}, {"fr", ",5", "0.50"}, {"fr", ".5", NULL},
    {"fr", "1,", "1.00"}, {"fr", "+1", NULL}, {"fr", "--1", NULL}, {"fr", "1 ", NULL},
    {"fr", "1..2", NULL}, {"fr", "1,,2", NULL}, {"fr", "1.2.3", NULL}, {"fr", "1,2,3", NULL},
    {"fr", "1E", NULL}, {"fr", "1E1E1", NULL}, {"fr", "\331" "\241" "", "1.00"},
    {"fr", "\331" "\241" ",5", "1.50"}, {"fr", "-", NULL}, {"fr", "", NULL},
    {"fr", "-0,5", "-0.50"}, {"fr", "12.34.5,6", NULL}, {"fr", "1E2,5", NULL},
    {"fr", "E1", NULL}, {"fr", "1,E1", "10.00"}, {"fr", "1.E1", NULL}, {"fr", " 1", NULL},
    {"sv", "1E2", NULL}, {"sv", "1e2", NULL}, {"sv", "1,5E1", NULL}, {"sv", "1.5E1", NULL},
    {"sv", "1E-1", NULL}, {"sv", "1E+1", NULL}, {"sv", "1.,5", NULL}, {"sv", "1,.5", NULL},
    {"sv", "1.", NULL}, {"sv", ",5", "0.50"}, {"sv", ".5", NULL}, {"sv", "1,", "1.00"},
    {"sv", "+1", NULL}, {"sv", "--1", NULL}, {"sv", "1 ", NULL}, {"sv", "1..2", NULL},
    {"sv", "1,,2", NULL}, {"sv", "1.2.3", NULL}, {"sv", "1,2,3", NULL}, {"sv", "1E", NULL},
    {"sv", "1E1E1", NULL}, {"sv", "\331" "\241" "", "1.00"}, {"sv", "\331" "\241" ",5", "1.50"},
    {"sv", "-", NULL}, {"sv", "", NULL}, {"sv", "-0,5", NULL}, {"sv", "12.34.5,6", NULL},
    {"sv", "1E2,5", NULL}, {"sv", "E1", NULL}, {"sv", "1,E1", NULL}, {"sv", "1.E1", NULL},
    {"sv", " 1", NULL},
};
/* clang-format on */

static void the_grammar_of_decimal_format(void **state)
{
    (void)state;
    check(by_grammar, sizeof by_grammar / sizeof *by_grammar);
}

static void tags(void **state)
{
    (void)state;
    static const char *const unknown[] = {"",        "d",        "xx",  "xx-YY",           "de_DE",
                                          "klingon", "de--DE",   "de-", "de-DE-u-nu-thai", "e n",
                                          "-de",     "d\303\244"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        print_message("%s\n", unknown[i]);
        assert_null(number_locale_find(unknown[i]));
    }
    assert_ptr_equal(number_locale_find("de"), number_locale_find("DE-de"));
    assert_ptr_equal(number_locale_find("de"), number_locale_find("de-Latn-DE-1996"));
    assert_ptr_equal(number_locale_find("uz-Arab-AF"), number_locale_find("ps"));
    assert_ptr_equal(number_locale_find("es-419"), number_locale_find("en"));
    assert_ptr_equal(number_locale_find("en-us"), number_locale_us());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(separators_by_language),
        cmocka_unit_test(the_grammar_of_decimal_format),
        cmocka_unit_test(tags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
