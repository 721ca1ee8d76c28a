#include "isolate.h"

#include "base/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEADLINE_SECONDS 120 /* a case that takes longer has failed */

int isolate(const char *name, int (*run)(void *arg), void *arg)
{
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)alarm(DEADLINE_SECONDS);
        int result = run(arg);
        fflush(stdout);
        _exit(result);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        CHECK(errno == EINTR);
    if (WIFEXITED(status) && WEXITSTATUS(status) < 100)
        return WEXITSTATUS(status);
    if (WIFSIGNALED(status))
        printf("%s: the process died of signal %d (%s)\n", name, WTERMSIG(status),
               strsignal(WTERMSIG(status)));
    else
        printf("%s: the process died with exit code %d\n", name, WEXITSTATUS(status));
    return -1;
}
