#include "base/crc32c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void known_checksums(void **state)
{
    (void)state;
    uint8_t block[32] = {0};
    assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283U);
    assert_int_equal(crc32c(0, block, 32), 0x8a9136aaU); /* RFC 3720 */
    memset(block, 0xff, 32);
    assert_int_equal(crc32c(0, block, 32), 0x62a8ab43U);
    assert_int_equal(crc32c(0, NULL, 0), 0);
}

static void both_versions_and_all_cuts_agree(void **state)
{
    (void)state;
    uint8_t data[100];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 37 + 11);
    for (size_t size = 0; size <= sizeof data; size++) {
        uint32_t want = crc32c_portable(0, data, size);
        assert_int_equal(crc32c(0, data, size), want);
        for (size_t cut = 0; cut <= size; cut++)
            assert_int_equal(crc32c(crc32c(0, data, cut), data + cut, size - cut), want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_checksums),
        cmocka_unit_test(both_versions_and_all_cuts_agree),
    };
    return cmocka_run_group_tests_name("base/crc32c", tests, NULL, NULL);
}
