/* Numbers of languages: see number_locale.h. */
#include "columnar/number_locale.h"

#include "base/heap.h"
#include "base/utf8.h"
#include "columnar/decimal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* clang-format off */
static const struct number_locale locales[] = {
    {".", ",", "-", "E",
     " ak am as asa bem bez bm bn bo brx ccp ce ceb cgg chr cy dav doi dz ebu ee "
     "en es-419 es-BR es-BZ es-CU es-DO es-GT es-HN es-MX es-NI es-PA es-PE es-PR "
     "es-SV es-US ff-Adlm fil ga gd gu guz gv ha haw hi ig ii ja jmc kam kde ki "
     "kln kn ko kok ksb kw lag lg lkt luo luy mai mas mer mg mgo mi ml mn mni mr "
     "ms mt my naq nd nds ne nus nyn om or pa pcm qu rof rwk sa saq sat sbp "
     "sd-Deva si sn so sw ta te teo th ti to ug vai vun xog yi yo yue zh zu "},
    {",", ".", "-", "E",
     " ast az bs ca da de dsb en-AT en-BE en-DE en-DK en-NL es fr-LU fr-MA fur fy "
     "gl hsb ia id is it jgo jv kkj kl km ku lb ln lo lu mgh mk ms-BN ms-ID mua nl "
     "nnh pt qu-BO rn ro rw seh sg sr su sw-CD tr vi wo "},
    {",", "\302\240", "-", "E",
     " af agq bas be bg br cs de-AT dua dyo en-FI en-ZA eo es-CR ewo ff fr-CA hu "
     "hy ka kab kea kk ksf ky lv nmg os pl pt-AO pt-CH pt-CV pt-GQ pt-GW pt-LU "
     "pt-MO pt-MZ pt-PT pt-ST pt-TL ru sah shi smn sq tg tk tt tzm uz yav zgh "},
    {"\331\253", "\331\254", "\342\200\216-\342\200\216", "\303\227\333\261\333\260^",
     " ks lrc mzn pa-Arab ps ur-IN uz-Arab "},
    {".", "\302\240", "-", "E",
     " dje khq mfe ses twq xh "},
    {",", ".", "\342\200\216-", "E",
     " ar-DZ ar-LY ar-MA ar-TN "},
    {",", "\302\240", "\342\210\222", "E",
     " fi nb nn no "},
    {",", "\302\240", "\342\210\222", "\303\22710^",
     " et ksh lt sv "},
    {".", "\342\200\231", "-", "E",
     " de-CH de-LI en-CH it-CH "},
    {",", ".", "\342\210\222", "E",
     " eu fo hr "},
    {".", ",", "\342\200\216-", "E",
     " ar-EH he ur "},
    {",", ".", "-", "e",
     " el en-SI "},
    {".", ",", "-", "e",
     " en-AU en-CA "},
    {".", "\342\200\231", "\342\210\222", "E",
     " gsw rm "},
    {"\331\253", "\331\254", "\330\234-", "\330\247\330\263",
     " ar sd "},
    {",", ".", "\342\210\222", "e",
     " sl "},
    {",", "\302\240", "-", "\303\22710^",
     " en-SE "},
    {",", "\302\240", "-", "\320\225",
     " uk "},
    {",", "\302\240", "-", "e",
     " sk "},
    {",", "\302\240", "\342\210\222", "\302\26710^",
     " se "},
    {",", "\342\200\231", "-", "E",
     " wae "},
    {",", "\342\200\257", "-", "E",
     " fr "},
    {"\331\253", "\331\254", "\342\200\216\342\210\222", "\303\227\333\261\333\260^",
     " fa "},
    {"\331\253", "\331\254", "\342\200\217-", "\330\247\330\263",
     " ckb "},
};
/* clang-format on */
#define LOCALE_COUNT (sizeof locales / sizeof *locales)

static const struct number_locale united_states = {".", ",", "-", "E", " en-US "};

const struct number_locale *number_locale_us(void)
{
    return &united_states;
}

/* Of " language " or " language-part ", or NULL. */
static const struct number_locale *find_tag(struct bytes language, struct bytes part)
{
    char wanted[24];
    (void)snprintf(wanted, sizeof wanted, " %.*s%s%.*s ", (int)language.size_bytes,
                   (const char *)language.data, part.size_bytes > 0 ? "-" : "",
                   (int)part.size_bytes, (const char *)part.data);
    for (size_t i = 0; i < LOCALE_COUNT; i++) {
        if (strcasestr(locales[i].tags, wanted) != NULL)
            return &locales[i];
    }
    return NULL;
}

static bool all_of(struct bytes part, int (*is)(int))
{
    for (size_t i = 0; i < part.size_bytes; i++) {
        if (part.data[i] >= 0x80 || !is(part.data[i]))
            return false;
    }
    return true;
}

/* The parts of language[-Script][-REGION][-variant]...; false: no such tag. */
static bool split_tag(const char *tag, struct bytes *language, struct bytes *script,
                      struct bytes *region)
{
    size_t size = strcspn(tag, "-");
    *language = bytes_of(tag, size);
    if (size < 2 || size > 3 || !all_of(*language, isalpha))
        return false;
    bool variant = false;
    for (tag += size; *tag == '-'; tag += size) {
        tag++;
        size = strcspn(tag, "-");
        struct bytes part = bytes_of(tag, size);
        bool letters = all_of(part, isalpha);
        if (!variant && size == 4 && letters && script->size_bytes + region->size_bytes == 0)
            *script = part;
        else if (!variant && region->size_bytes == 0 &&
                 ((size == 2 && letters) || (size == 3 && all_of(part, isdigit))))
            *region = part;
        else if (size <= 8 && size >= (*tag >= '0' && *tag <= '9' ? 4 : 5) && all_of(part, isalnum))
            variant = true;
        else
            return false;
    }
    return true;
}

const struct number_locale *number_locale_find(const char *tag)
{
    struct bytes language = {0}, script = {0}, region = {0};
    if (strcasecmp(tag, "en-US") == 0)
        return &united_states;
    if (!split_tag(tag, &language, &script, &region))
        return NULL;
    const struct number_locale *found = NULL;
    if (region.size_bytes > 0)
        found = find_tag(language, region);
    if (found == NULL && script.size_bytes > 0)
        found = find_tag(language, script);
    return found == NULL ? find_tag(language, (struct bytes){0}) : found;
}

#define ROOM_BYTES 512

struct taking {
    struct bytes text;
    size_t used;
    uint8_t *room; /* the number as CAST reads it: never more bytes than the text */
};

/* Whether the text goes on with `what`, which is then passed over. */
static bool take(struct taking *taking, const char *what)
{
    size_t size = strlen(what);
    if (taking->text.size_bytes < size || memcmp(taking->text.data, what, size) != 0)
        return false;
    taking->text = bytes_of(taking->text.data + size, taking->text.size_bytes - size);
    return true;
}

static void put(struct taking *taking, uint8_t byte)
{
    taking->room[taking->used++] = byte;
}

/* A digit, or a character beyond ASCII, of which decimal_cast says whether it is one. */
static bool take_digit(struct taking *taking)
{
    struct bytes text = taking->text;
    size_t size = 1;
    if (text.size_bytes == 0 || (text.data[0] < 0x80 && !isdigit(text.data[0])))
        return false;
    if (text.data[0] >= 0x80)
        size = utf8_sequence_size(text);
    if (size == 0)
        return false;
    memcpy(taking->room + taking->used, text.data, size);
    taking->used += size;
    taking->text = bytes_of(text.data + size, text.size_bytes - size);
    return true;
}

static bool take_exponent(const struct number_locale *locale, struct taking *taking)
{
    put(taking, 'e');
    if (take(taking, locale->minus))
        put(taking, '-');
    size_t digits = 0;
    while (take_digit(taking))
        digits++;
    return digits > 0 && taking->text.size_bytes == 0;
}

static bool take_number(const struct number_locale *locale, struct taking *taking)
{
    bool pointed = false, grouped = false, some = false;
    if (take(taking, locale->minus))
        put(taking, '-');
    while (taking->text.size_bytes > 0) {
        if (!pointed && take(taking, locale->point)) {
            put(taking, '.');
            pointed = true;
        } else if (!pointed && take(taking, locale->grouping)) {
            grouped = true;
        } else if (some && !grouped && take(taking, locale->exponent)) {
            return take_exponent(locale, taking);
        } else if (take_digit(taking)) {
            grouped = false;
            some = true;
        } else {
            return false;
        }
    }
    return some && !grouped;
}

static bool take_us(struct taking *taking)
{
    while (taking->text.size_bytes > 0) {
        uint8_t byte = taking->text.data[0];
        if (take(taking, ",") || take_digit(taking))
            continue;
        if (byte <= ' ' || byte >= 0x80)
            return false;
        put(taking, byte);
        taking->text = bytes_of(taking->text.data + 1, taking->text.size_bytes - 1);
    }
    return true;
}

static enum text_result parse_in(uint8_t *room, const struct number_locale *locale,
                                 struct bytes text, const struct type *type, int128 *out)
{
    struct taking taking = {.text = text, .room = room};
    if (!(locale == &united_states ? take_us(&taking) : take_number(locale, &taking)))
        return TEXT_INVALID;
    return decimal_cast(bytes_of(room, taking.used), type->precision, type->scale, out);
}

enum text_result number_locale_parse_decimal(const struct number_locale *locale, struct bytes text,
                                             const struct type *type, int128 *out)
{
    uint8_t room[ROOM_BYTES];
    if (text.size_bytes <= sizeof room)
        return parse_in(room, locale, text, type, out);
    uint8_t *large = heap_malloc(text.size_bytes); /* a number of so many digits is rare */
    enum text_result result = parse_in(large, locale, text, type, out);
    free(large);
    return result;
}
