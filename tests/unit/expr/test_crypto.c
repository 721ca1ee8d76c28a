/* aes_encrypt, aes_decrypt, hmac: known answers and what is refused. */
#include "expr/function.h"
#include "expr/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define ARGS_MAX 6

struct row {
    const char *name;
    const char *args[ARGS_MAX]; /* texts; hex if they start with "0x" */
    enum status status;
    const char *result; /* hex */
};

static struct expr *argument(struct resolve_context *ctx, const char *text)
{
    struct expr *value;
    struct error err = ERROR_INIT;
    bool hex = strncmp(text, "0x", 2) == 0;
    struct expr *literal = expr_literal_string(ctx->arena, bytes_of_text(text + (hex ? 2 : 0)));
    if (!hex)
        return literal;
    assert_int_equal(function_resolve_1(ctx, "unhex", literal, &value, &err), OK);
    return value;
}

static enum status evaluate(struct arena *arena, const struct row *row, struct vector **out)
{
    struct resolve_context ctx;
    struct error err = ERROR_INIT;
    struct expr *args[ARGS_MAX];
    struct expr *call;
    struct expr *hex;
    struct function_call wanted = {.name = row->name, .args = args};
    resolve_context_init(&ctx, arena);
    while (wanted.arg_count < ARGS_MAX && row->args[wanted.arg_count] != NULL) {
        args[wanted.arg_count] = argument(&ctx, row->args[wanted.arg_count]);
        wanted.arg_count++;
    }
    assert_int_equal(function_resolve(&ctx, &wanted, &call, &err), OK);
    assert_int_equal(function_resolve_1(&ctx, "hex", call, &hex, &err), OK);
    return expr_constant(arena, hex, "UTC", out, &err);
}

static const struct row rows[] = {
    {"aes_decrypt",
     {"0x60B020EAD6B8E0A5F1B5C8F1D3A2E0F1", "0000111122223333", "ECB"},
     STATUS_INVALID_PARAMETER_VALUE__AES_CRYPTO_ERROR,
     NULL},
    {"aes_decrypt",
     {"0x00", "0000111122223333"},
     STATUS_INVALID_PARAMETER_VALUE__AES_CRYPTO_ERROR,
     NULL},
    {"aes_decrypt", {"0x00", "short"}, STATUS_INVALID_PARAMETER_VALUE__AES_KEY_LENGTH, NULL},
    {"aes_decrypt",
     {"0x00", "0000111122223333", "CTR"},
     STATUS_UNSUPPORTED_FEATURE__AES_MODE,
     NULL},
    {"aes_encrypt",
     {"Spark", "0000111122223333", "CBC", "PKCS", "0x00"},
     STATUS_INVALID_PARAMETER_VALUE__AES_IV_LENGTH,
     NULL},
    {"aes_decrypt",
     {"0xDE59B0BBE330D07DDF8B9343BDCBBD96", "1234567890abcdef", "ECB", "PKCS"},
     OK,
     "537061726B2053514C"},
    {"try_aes_decrypt", {"0x00", "0000111122223333"}, OK, NULL},
    {"hmac",
     {"key", "The quick brown fox jumps over the lazy dog"},
     OK,
     "F7BC83F430538424B13298E6AA6FB143EF4D59A14946175997479DBC2D1A3CD8"},
    {"hmac",
     {"key", "The quick brown fox jumps over the lazy dog", "MD5"},
     OK,
     "80070713463E7749B90C2DC24911E275"},
    {"hmac", {"key", "text", "CRC"}, STATUS_INVALID_PARAMETER_VALUE__HMAC_ALGORITHM, NULL},
};

static void answers_are_those_of_spark(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct arena *arena = arena_new("test", 0);
        struct vector *value;
        assert_int_equal(evaluate(arena, &rows[i], &value), rows[i].status);
        if (rows[i].status == OK && rows[i].result == NULL)
            assert_true(vector_is_null(value, 0));
        if (rows[i].status == OK && rows[i].result != NULL) {
            struct bytes text = VECTOR_VALUES(struct bytes, value)[0];
            assert_int_equal(text.size_bytes, strlen(rows[i].result));
            assert_memory_equal(text.data, rows[i].result, text.size_bytes);
        }
        arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_spark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
