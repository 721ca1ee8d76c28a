/*
 * Keys get consecutive numbers; a table that cannot take one more ends the process by name.
 */
#include "base/memory_limit.h"
#include "exec/group_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

#define KEYS 5000

static struct bytes key_text(char *room, uint32_t number)
{
    (void)snprintf(room, 16, "key %u", number);
    return bytes_of_text(room);
}

static void keys_are_numbered_in_the_order_of_their_first_appearance(void **state)
{
    (void)state;
    struct group_table table;
    char room[16];
    bool added = false;
    group_table_init(&table);
    for (uint32_t i = 0; i < 2 * KEYS; i++) {
        assert_int_equal(group_table_add(&table, key_text(room, i % KEYS), &added), i % KEYS);
        assert_int_equal(added, i < KEYS);
    }
    assert_int_equal(group_table_find(&table, key_text(room, 77)), 77);
    assert_int_equal(group_table_find(&table, key_text(room, KEYS)), GROUP_NONE);
    group_table_clear(&table);
    assert_int_equal(group_table_find(&table, key_text(room, 77)), GROUP_NONE);
    assert_int_equal(group_table_add(&table, key_text(room, 77), NULL), 0);
    group_table_fini(&table);
}

static void a_full_table_ends_the_process_as_one_without_memory(void **state)
{
    (void)state;
    struct group_table table;
    char room[16];
    group_table_init(&table);
    table.keys_max = 3;
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(group_table_add(&table, key_text(room, i % 3), NULL), i % 3);
    pid_t child = fork();
    if (child == 0) {
        (void)group_table_add(&table, key_text(room, 3), NULL);
        _exit(0);
    }
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), MEMORY_EXIT_STATUS);
    group_table_fini(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_numbered_in_the_order_of_their_first_appearance),
        cmocka_unit_test(a_full_table_ends_the_process_as_one_without_memory),
    };
    return cmocka_run_group_tests_name("exec/group_table", tests, NULL, NULL) != 0;
}
