/*
 * Memory that there is, and the end of a process that wants more than there is.
 */
#include "base/heap.h"
#include "base/memory_limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

/* With a sanitizer malloc() ends the process by itself unless it is asked not to. */
const char *__asan_default_options(void); // NOLINT: the sanitizer's name
const char *__asan_default_options(void)  // NOLINT: the sanitizer's name
{
    return "allocator_may_return_null=1";
}

static void memory_is_as_c_says(void **state)
{
    (void)state;
    char *memory = heap_malloc(0);
    assert_non_null(memory);
    memory = heap_realloc(memory, 3);
    memcpy(memory, "ab", 3);
    memory = heap_realloc(memory, 300);
    assert_string_equal(memory, "ab");
    free(memory);
    memory = heap_calloc(0, 7);
    assert_non_null(memory);
    free(memory);
    memory = heap_calloc(3, 7);
    for (int i = 0; i < 21; i++)
        assert_int_equal(memory[i], 0);
    free(memory);
    char *copy = heap_strdup("text");
    assert_string_equal(copy, "text");
    free(copy);
    copy = heap_strndup("text", 2);
    assert_string_equal(copy, "te");
    free(copy);
    copy = heap_strndup("text", 9);
    assert_string_equal(copy, "text");
    free(copy);
}

enum {
    BY_MALLOC,
    BY_CALLOC,
    BY_PRODUCT,
    BY_REALLOC,
    BY_ZEROES,
    WAYS
};

static void *ask(int way, size_t bytes)
{
    switch (way) {
    case BY_MALLOC:
        return heap_malloc(bytes);
    case BY_CALLOC:
        return heap_calloc(1, bytes);
    case BY_PRODUCT: /* more than a size can say */
        return heap_calloc(bytes, 8);
    case BY_REALLOC:
        return heap_realloc(heap_malloc(1), bytes);
    default:
        return heap_zeroes(bytes, 8);
    }
}

static void without_memory_the_process_ends_by_name(void **state)
{
    (void)state;
    volatile size_t bytes = SIZE_MAX / 4;
    for (int way = 0; way < WAYS; way++) {
        pid_t child = fork();
        if (child == 0) {
            free(ask(way, bytes));
            _exit(0);
        }
        int how = 0;
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFEXITED(how));
        assert_int_equal(WEXITSTATUS(how), MEMORY_EXIT_STATUS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_as_c_says),
        cmocka_unit_test(without_memory_the_process_ends_by_name),
    };
    return cmocka_run_group_tests_name("base/heap", tests, NULL, NULL) != 0;
}
