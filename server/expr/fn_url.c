/* parse_url: a URL taken apart by the rules of java.net.URI. */
#include "expr/fn_string.h"
#include "expr/fn_support.h"

struct url {
    struct bytes scheme, authority, user, host, path, query, fragment;
    bool has_scheme, has_authority, has_user, has_host, has_path, has_query, has_fragment;
};

static bool is_letter(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(uint8_t c)
{
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* Every byte is one that may stand in a URI, and percent signs are followed by two digits. */
static bool is_legal(struct bytes text)
{
    for (size_t i = 0; i < text.size_bytes; i++) {
        uint8_t c = text.data[i];
        if (c == '%') {
            if (i + 2 >= text.size_bytes || !is_hex(text.data[i + 1]) || !is_hex(text.data[i + 2]))
                return false;
        } else if (c <= ' ' || c == 0x7F || strchr("<>\"{}|\\^`", c) != NULL) {
            return false;
        }
    }
    return true;
}

static size_t find_any(struct bytes text, const char *set)
{
    size_t i = 0;
    while (i < text.size_bytes && (text.data[i] == 0 || strchr(set, text.data[i]) == NULL))
        i++;
    return i;
}

/* [user@]host[:port]; a host that is no name makes the authority one without host. */
static void split_authority(struct url *url)
{
    struct bytes rest = url->authority;
    size_t at = text_find(rest, bytes_of_text("@"), 0);
    if (at != SIZE_MAX) {
        url->user = text_first(rest, at);
        url->has_user = true;
        rest = text_skip(rest, at + 1);
    }
    size_t end = rest.size_bytes;
    if (end > 0 && *rest.data == '[') {
        size_t close = text_find(rest, bytes_of_text("]"), 0);
        end = close == SIZE_MAX ? end : close + 1;
    } else {
        size_t colon = text_find(rest, bytes_of_text(":"), 0);
        end = colon == SIZE_MAX ? end : colon;
    }
    url->host = text_first(rest, end);
    url->has_host = end > 0;
    for (size_t i = 0; i < end && *rest.data != '['; i++)
        if (!is_letter(rest.data[i]) && !is_digit(rest.data[i]) && rest.data[i] != '-' &&
            rest.data[i] != '.')
            url->has_host = false;
    for (size_t i = end + 1; i < rest.size_bytes; i++)
        if (!is_digit(rest.data[i]))
            url->has_host = false;
    url->has_user = url->has_user && url->has_host;
}

static bool parse(struct bytes text, struct url *url)
{
    *url = (struct url){0};
    if (!is_legal(text))
        return false;
    size_t hash = text_find(text, bytes_of_text("#"), 0);
    if (hash != SIZE_MAX) {
        url->fragment = text_skip(text, hash + 1);
        url->has_fragment = true;
        text = text_first(text, hash);
    }
    size_t end = find_any(text, ":/?");
    if (end < text.size_bytes && text.data[end] == ':') {
        if (end == 0 || !is_letter(*text.data))
            return false;
        url->scheme = text_first(text, end);
        url->has_scheme = true;
        text = text_skip(text, end + 1);
        if (text.size_bytes == 0)
            return false;
        if (*text.data != '/')
            return true; /* opaque: mailto:a@b */
    }
    if (text.size_bytes >= 2 && text.data[0] == '/' && text.data[1] == '/') {
        text = text_skip(text, 2);
        end = find_any(text, "/?");
        url->authority = text_first(text, end);
        url->has_authority = end > 0;
        if (end == 0 && text.size_bytes == 0)
            return false;
        split_authority(url);
        text = text_skip(text, end);
    }
    end = find_any(text, "?");
    url->path = text_first(text, end);
    url->has_path = true;
    if (end < text.size_bytes) {
        url->query = text_skip(text, end + 1);
        url->has_query = true;
    }
    return true;
}

/* The value of `key` in a query string. */
static bool query_value(struct bytes query, struct bytes key, struct bytes *out)
{
    while (true) {
        size_t amp = text_find(query, bytes_of_text("&"), 0);
        struct bytes pair = text_first(query, amp == SIZE_MAX ? query.size_bytes : amp);
        if (pair.size_bytes > key.size_bytes && pair.data[key.size_bytes] == '=' &&
            bytes_equal(text_first(pair, key.size_bytes), key)) {
            *out = text_skip(pair, key.size_bytes + 1);
            return true;
        }
        if (amp == SIZE_MAX)
            return false;
        query = text_skip(query, amp + 1);
    }
}

static bool part_of(const struct url *url, struct bytes text, struct bytes part, struct bytes *out)
{
    const struct {
        const char *name;
        bool has;
        struct bytes value;
    } parts[] = {
        {"HOST", url->has_host, url->host},
        {"PATH", url->has_path, url->path},
        {"QUERY", url->has_query, url->query},
        {"REF", url->has_fragment, url->fragment},
        {"PROTOCOL", url->has_scheme, url->scheme},
        {"AUTHORITY", url->has_authority, url->authority},
        {"USERINFO", url->has_user, url->user},
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        if (text_equals(part, parts[i].name)) {
            *out = parts[i].value;
            return parts[i].has;
        }
    }
    if (!text_equals(part, "FILE") || !url->has_path)
        return false;
    /* Path and query stand side by side in the text. */
    const uint8_t *start = url->path.size_bytes > 0 ? url->path.data : url->query.data - 1;
    const uint8_t *end = url->has_query ? url->query.data + url->query.size_bytes
                                        : url->path.data + url->path.size_bytes;
    if (start < text.data || end < start)
        return false;
    *out = bytes_of(start, (size_t)(end - start));
    return true;
}

static enum status parse_url(const struct kernel_call *call, uint32_t row, bool try_,
                             struct error *err)
{
    struct bytes text = kernel_text(call, 0, row);
    struct bytes part = kernel_text(call, 1, row);
    struct bytes result;
    struct url url;
    if (!parse(text, &url)) {
        if (try_)
            return kernel_set_null(call, row, err);
        return error_raise(err, STATUS_INVALID_URL, "url", kernel_error_text(call, text),
                           "ansiConfig", "\"spark.sql.ansi.enabled\"", NULL);
    }
    bool found = part_of(&url, text, part, &result);
    if (call->arg_count > 2)
        found = found && text_equals(part, "QUERY") &&
                query_value(result, kernel_text(call, 2, row), &result);
    if (!found)
        return kernel_set_null(call, row, err);
    kernel_set_view(call, row, result);
    return OK;
}

static enum status cell_kernel_parse_url(const struct kernel_call *call, uint32_t row,
                                         struct error *err)
{
    return parse_url(call, row, !kernel_is_ansi(call), err);
}

static enum status cell_kernel_try_parse_url(const struct kernel_call *call, uint32_t row,
                                             struct error *err)
{
    return parse_url(call, row, true, err);
}

KERNEL_EACH(kernel_parse_url)
KERNEL_EACH(kernel_try_parse_url)
