/* aes_encrypt, aes_decrypt, hmac: over OpenSSL. */
#include "expr/fn_crypto.h"
#include "base/check.h"
#include "expr/fn_support.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#define GCM_TAG_SIZE 16
#define IV_SIZE_MAX  16

#define AES_FUNCTIONS "`aes_encrypt`/`aes_decrypt`" /* as messages name both */

enum aes_mode {
    AES_ECB,
    AES_CBC,
    AES_GCM,
};

struct aes {
    enum aes_mode mode;
    const EVP_CIPHER *cipher;
    size_t iv_size;
    struct bytes key;
    struct bytes iv;
    struct bytes aad;
};

/* ---- arguments ---- */

static const EVP_CIPHER *cipher_of(enum aes_mode mode, size_t key_size)
{
    switch (key_size) {
    case 16:
        return mode == AES_ECB   ? EVP_aes_128_ecb()
               : mode == AES_CBC ? EVP_aes_128_cbc()
                                 : EVP_aes_128_gcm();
    case 24:
        return mode == AES_ECB   ? EVP_aes_192_ecb()
               : mode == AES_CBC ? EVP_aes_192_cbc()
                                 : EVP_aes_192_gcm();
    case 32:
        return mode == AES_ECB   ? EVP_aes_256_ecb()
               : mode == AES_CBC ? EVP_aes_256_cbc()
                                 : EVP_aes_256_gcm();
    default:
        return NULL;
    }
}

static enum status crypto_error(const char *message, struct error *err)
{
    return error_raise(err, STATUS_INVALID_PARAMETER_VALUE__AES_CRYPTO_ERROR, "parameter",
                       "`expr`, `key`", "functionName", AES_FUNCTIONS, "detailMessage", message,
                       NULL);
}

static enum status read_mode(const struct kernel_call *call, uint32_t row, enum aes_mode *out,
                             struct error *err)
{
    struct bytes mode = kernel_text(call, 2, row);
    struct bytes padding = kernel_text(call, 3, row);
    bool standard = text_equals_ignoring_case(padding, "default");
    bool pkcs = standard || text_equals_ignoring_case(padding, "pkcs");
    bool none = standard || text_equals_ignoring_case(padding, "none");
    if (text_equals_ignoring_case(mode, "ecb") && pkcs)
        *out = AES_ECB;
    else if (text_equals_ignoring_case(mode, "cbc") && pkcs)
        *out = AES_CBC;
    else if (text_equals_ignoring_case(mode, "gcm") && none)
        *out = AES_GCM;
    else
        return error_raise(err, STATUS_UNSUPPORTED_FEATURE__AES_MODE, "mode",
                           kernel_error_text(call, mode), "padding",
                           kernel_error_text(call, padding), "functionName", AES_FUNCTIONS, NULL);
    return OK;
}

static enum status read_aes(const struct kernel_call *call, uint32_t row, struct aes *out,
                            struct error *err)
{
    *out = (struct aes){.key = kernel_text(call, 1, row)};
    TRY(read_mode(call, row, &out->mode, err));
    out->iv_size = out->mode == AES_ECB ? 0 : out->mode == AES_CBC ? 16 : 12;
    out->cipher = cipher_of(out->mode, out->key.size_bytes);
    if (out->cipher != NULL)
        return OK;
    return error_raise(err, STATUS_INVALID_PARAMETER_VALUE__AES_KEY_LENGTH, "parameter", "`key`",
                       "functionName", AES_FUNCTIONS, "actualLength",
                       kernel_error_number(call, (int64_t)out->key.size_bytes), NULL);
}

/* ---- AES ---- */

static bool encrypt_text(EVP_CIPHER_CTX *cipher, const struct aes *aes, const uint8_t *iv,
                         struct bytes text, uint8_t *out, size_t *out_size)
{
    int size = 0;
    int rest = 0;
    if (EVP_EncryptInit_ex(cipher, aes->cipher, NULL, aes->key.data, iv) != 1)
        return false;
    if (aes->mode == AES_GCM && aes->aad.size_bytes > 0 &&
        EVP_EncryptUpdate(cipher, NULL, &size, aes->aad.data, (int)aes->aad.size_bytes) != 1)
        return false;
    if (EVP_EncryptUpdate(cipher, out, &size, text.data, (int)text.size_bytes) != 1 ||
        EVP_EncryptFinal_ex(cipher, out + size, &rest) != 1)
        return false;
    *out_size = (size_t)size + (size_t)rest;
    if (aes->mode != AES_GCM)
        return true;
    *out_size += GCM_TAG_SIZE;
    return EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, GCM_TAG_SIZE, out + size + rest) == 1;
}

static bool decrypt(EVP_CIPHER_CTX *cipher, const struct aes *aes, struct bytes data, uint8_t *out,
                    size_t *out_size)
{
    int size = 0;
    int rest = 0;
    uint8_t tag[GCM_TAG_SIZE];
    size_t overhead = aes->iv_size + (aes->mode == AES_GCM ? GCM_TAG_SIZE : 0);
    if (data.size_bytes < overhead)
        return false;
    const uint8_t *text = data.data + aes->iv_size;
    size_t text_size = data.size_bytes - overhead;
    if (EVP_DecryptInit_ex(cipher, aes->cipher, NULL, aes->key.data, data.data) != 1)
        return false;
    if (aes->mode == AES_GCM) {
        memcpy(tag, text + text_size, sizeof(tag));
        if (EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_SET_TAG, GCM_TAG_SIZE, tag) != 1)
            return false;
        if (aes->aad.size_bytes > 0 &&
            EVP_DecryptUpdate(cipher, NULL, &size, aes->aad.data, (int)aes->aad.size_bytes) != 1)
            return false;
    }
    if (EVP_DecryptUpdate(cipher, out, &size, text, (int)text_size) != 1 ||
        EVP_DecryptFinal_ex(cipher, out + size, &rest) != 1)
        return false;
    *out_size = (size_t)size + (size_t)rest;
    return true;
}

/* Why Java's cipher refuses the text. */
static const char *decrypt_message(const struct aes *aes, struct bytes data)
{
    if (aes->mode == AES_GCM)
        return data.size_bytes < 12 ? "Invalid buffer arguments" : "Tag mismatch!";
    if (aes->mode == AES_CBC && data.size_bytes < 16)
        return "IV buffer too short for given offset/length combination";
    if (data.size_bytes % 16 != 0)
        return "Input length must be multiple of 16 when decrypting with padded cipher";
    return "Given final block not properly padded. Such issues can arise if a bad key is used "
           "during decryption.";
}

static enum status wrong_iv(const struct kernel_call *call, const struct aes *aes,
                            struct error *err)
{
    return error_raise(err, STATUS_INVALID_PARAMETER_VALUE__AES_IV_LENGTH, "mode",
                       aes->mode == AES_CBC ? "CBC" : "GCM", "parameter", "`iv`", "functionName",
                       AES_FUNCTIONS, "actualLength",
                       kernel_error_number(call, (int64_t)aes->iv.size_bytes), NULL);
}

static enum status cell_kernel_aes_encrypt(const struct kernel_call *call, uint32_t row,
                                           struct error *err)
{
    struct aes aes;
    uint8_t *out;
    size_t size = 0;
    struct bytes text = kernel_text(call, 0, row);
    TRY(read_aes(call, row, &aes, err));
    aes.iv = kernel_text(call, 4, row);
    aes.aad = kernel_text(call, 5, row);
    if (aes.iv.size_bytes > 0 && aes.mode == AES_ECB)
        return error_raise(err, STATUS_UNSUPPORTED_FEATURE__AES_MODE_IV, "mode", "ECB",
                           "functionName", "`aes_encrypt`", NULL);
    if (aes.aad.size_bytes > 0 && aes.mode != AES_GCM)
        return error_raise(err, STATUS_UNSUPPORTED_FEATURE__AES_MODE_AAD, "mode",
                           aes.mode == AES_ECB ? "ECB" : "CBC", "functionName", "`aes_encrypt`",
                           NULL);
    if (aes.iv.size_bytes > 0 && aes.iv.size_bytes != aes.iv_size)
        return wrong_iv(call, &aes, err);
    TRY(kernel_alloc(call, text.size_bytes + aes.iv_size + (size_t)2 * GCM_TAG_SIZE, &out, err));
    if (aes.iv.size_bytes > 0)
        memcpy(out, aes.iv.data, aes.iv_size);
    else if (aes.iv_size > 0 && RAND_bytes(out, (int)aes.iv_size) != 1)
        return crypto_error("There are no random bytes", err);
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    CHECK(cipher != NULL);
    bool ok = encrypt_text(cipher, &aes, out, text, out + aes.iv_size, &size);
    EVP_CIPHER_CTX_free(cipher);
    if (!ok)
        return crypto_error("The text cannot be encrypted", err);
    kernel_set_view(call, row, bytes_of(out, aes.iv_size + size));
    return OK;
}

static enum status cell_kernel_aes_decrypt(const struct kernel_call *call, uint32_t row,
                                           struct error *err)
{
    struct aes aes;
    uint8_t *out;
    size_t size = 0;
    struct bytes data = kernel_text(call, 0, row);
    TRY(read_aes(call, row, &aes, err));
    aes.aad = kernel_text(call, 4, row);
    TRY(kernel_alloc(call, data.size_bytes + IV_SIZE_MAX, &out, err));
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    CHECK(cipher != NULL);
    bool ok = decrypt(cipher, &aes, data, out, &size);
    EVP_CIPHER_CTX_free(cipher);
    if (!ok)
        return crypto_error(decrypt_message(&aes, data), err);
    kernel_set_view(call, row, bytes_of(out, size));
    return OK;
}

KERNEL_EACH(kernel_aes_encrypt)
KERNEL_EACH(kernel_aes_decrypt)

/* try_aes_decrypt: what fails is NULL. */
KERNEL(kernel_try_aes_decrypt)
{
    for (uint32_t i = 0; i < call->selected; i++) {
        struct error ignored = ERROR_INIT;
        uint32_t row = kernel_row(call, i);
        if (cell_kernel_aes_decrypt(call, row, &ignored) != OK)
            TRY(kernel_set_null(call, row, err));
    }
    return OK;
}

/* ---- HMAC ---- */

static const EVP_MD *digest_of(struct bytes name)
{
    static const struct {
        const char *name;
        const EVP_MD *(*digest)(void);
    } digests[] = {{"sha-1", EVP_sha1},     {"sha1", EVP_sha1},      {"md5", EVP_md5},
                   {"sha-224", EVP_sha224}, {"sha224", EVP_sha224},  {"sha-256", EVP_sha256},
                   {"sha256", EVP_sha256},  {"sha-384", EVP_sha384}, {"sha384", EVP_sha384},
                   {"sha-512", EVP_sha512}, {"sha512", EVP_sha512}};
    for (size_t i = 0; i < sizeof(digests) / sizeof(*digests); i++)
        if (text_equals_ignoring_case(name, digests[i].name))
            return digests[i].digest();
    return NULL;
}

static enum status cell_kernel_hmac(const struct kernel_call *call, uint32_t row, struct error *err)
{
    uint8_t code[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    struct bytes key = kernel_text(call, 0, row);
    struct bytes message = kernel_text(call, 1, row);
    struct bytes name = kernel_text(call, 2, row);
    const EVP_MD *digest = digest_of(name);
    if (digest == NULL)
        return error_raise(err, STATUS_INVALID_PARAMETER_VALUE__HMAC_ALGORITHM, "parameter",
                           "`algorithm`", "functionName", "`hmac`", "algorithm",
                           kernel_error_quoted(call, name), NULL);
    const void *key_data = key.size_bytes > 0 ? (const void *)key.data : "";
    if (HMAC(digest, key_data, (int)key.size_bytes, message.data, message.size_bytes, code,
             &size) == NULL)
        return error_raise(err, STATUS_INTERNAL_ERROR, "message", "The code cannot be computed",
                           NULL);
    return kernel_set_bytes(call, row, bytes_of(code, size), err);
}

KERNEL_EACH(kernel_hmac)
