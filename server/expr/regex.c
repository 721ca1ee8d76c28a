#define PCRE2_CODE_UNIT_WIDTH 8

#include "expr/regex.h"

#include "base/check.h"
#include "base/heap.h"

#include <pcre2.h>
#include <pthread.h>
#include <stdlib.h>

#define CACHE_MAX 256

struct regex {
    pcre2_code *code;
    uint8_t *pattern;
    size_t pattern_bytes;
    uint32_t uses;
    uint64_t last_use;
};

struct regex_matcher {
    const struct regex *regex;
    pcre2_match_data *data;
};

/* `lock` guards the cache, the counts of uses and the clock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct regex *cache[CACHE_MAX];
static size_t cache_count;
static uint64_t use_clock;

static void regex_free(struct regex *regex)
{
    pcre2_code_free(regex->code);
    free(regex->pattern);
    free(regex);
}

static struct regex *compile(struct bytes pattern)
{
    struct buffer text = {0};
    bool unicode;
    int error;
    PCRE2_SIZE offset;
    pcre2_code *code = NULL;
    if (regex_translate(pattern, &text, &unicode)) {
        uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C |
                           (unicode ? PCRE2_UCP : 0U);
        pcre2_compile_context *context = pcre2_compile_context_create(NULL);
        CHECK(context != NULL);
        (void)pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF);
        code = pcre2_compile((PCRE2_SPTR)(text.data == NULL ? (const uint8_t *)"" : text.data),
                             text.size_bytes, options, &error, &offset, context);
        pcre2_compile_context_free(context);
    }
    buffer_fini(&text);
    if (code == NULL)
        return NULL;
    (void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE); /* without it matching is only slower */
    struct regex *regex = heap_calloc(1, sizeof(*regex));
    regex->code = code;
    regex->pattern = heap_malloc(pattern.size_bytes + 1);
    if (pattern.size_bytes > 0)
        memcpy(regex->pattern, pattern.data, pattern.size_bytes);
    regex->pattern_bytes = pattern.size_bytes;
    return regex;
}

/* A place in the cache for a new entry: a free one, else that of the oldest entry not in use. */
static size_t cache_place(void)
{
    if (cache_count < CACHE_MAX)
        return cache_count++;
    size_t place = CACHE_MAX;
    for (size_t i = 0; i < CACHE_MAX; i++)
        if (cache[i]->uses == 0 &&
            (place == CACHE_MAX || cache[i]->last_use < cache[place]->last_use))
            place = i;
    if (place < CACHE_MAX)
        regex_free(cache[place]);
    return place;
}

struct regex *regex_acquire(struct bytes pattern)
{
    struct regex *found = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < cache_count && found == NULL; i++)
        if (bytes_equal(regex_pattern(cache[i]), pattern))
            found = cache[i];
    if (found == NULL) {
        found = compile(pattern);
        size_t place = found == NULL ? CACHE_MAX : cache_place();
        if (place < CACHE_MAX)
            cache[place] = found;
        else if (found != NULL)
            found->uses = 1; /* not in the cache: lives until the process ends */
    }
    if (found != NULL) {
        found->uses++;
        found->last_use = ++use_clock;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void regex_release(struct regex *regex)
{
    if (regex == NULL)
        return;
    pthread_mutex_lock(&lock);
    CHECK(regex->uses > 0);
    regex->uses--;
    pthread_mutex_unlock(&lock);
}

struct bytes regex_pattern(const struct regex *regex)
{
    return bytes_of(regex->pattern, regex->pattern_bytes);
}

uint32_t regex_group_count(const struct regex *regex)
{
    uint32_t count = 0;
    (void)pcre2_pattern_info(regex->code, PCRE2_INFO_CAPTURECOUNT, &count);
    return count;
}

int regex_group_number(const struct regex *regex, struct bytes name)
{
    char text[64];
    if (name.size_bytes >= sizeof(text))
        return -1;
    memcpy(text, name.data, name.size_bytes);
    text[name.size_bytes] = '\0';
    int number = pcre2_substring_number_from_name(regex->code, (PCRE2_SPTR)text);
    return number < 0 ? -1 : number;
}

struct regex_matcher *regex_matcher_new(struct regex *regex)
{
    struct regex_matcher *matcher = heap_calloc(1, sizeof(*matcher));
    matcher->regex = regex;
    matcher->data = pcre2_match_data_create_from_pattern(regex->code, NULL);
    CHECK(matcher->data != NULL);
    return matcher;
}

void regex_matcher_free(struct regex_matcher *matcher)
{
    if (matcher == NULL)
        return;
    pcre2_match_data_free(matcher->data);
    free(matcher);
}

bool regex_find(struct regex_matcher *matcher, struct bytes text, size_t from)
{
    if (from > text.size_bytes)
        return false;
    PCRE2_SPTR data = text.data == NULL ? (PCRE2_SPTR) "" : (PCRE2_SPTR)text.data;
    return pcre2_match(matcher->regex->code, data, text.size_bytes, from, 0, matcher->data, NULL) >
           0;
}

bool regex_group(const struct regex_matcher *matcher, uint32_t group, size_t *start, size_t *end)
{
    const PCRE2_SIZE *offsets = pcre2_get_ovector_pointer(matcher->data);
    CHECK(group < pcre2_get_ovector_count(matcher->data));
    *start = offsets[2 * (size_t)group];
    *end = offsets[2 * (size_t)group + 1];
    return *start != PCRE2_UNSET;
}
