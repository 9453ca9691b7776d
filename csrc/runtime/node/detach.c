#define _GNU_SOURCE
#include "node/internal/detach.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK_BYTES = 32 << 10, LEAST_PRIORITY = 19, MOST_DESCRIPTORS = 1 << 16 };

/* Two processes one after the other run on the memory of ours, which waits meanwhile, each on a stack of its own. */
struct start {
    char *const *argv, *const *envp;
    char *stacks;
    int error;
};

static void close_descriptors(void)
{
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++)
        if (null < 0)
            close(fd);
        else
            dup2(null, fd);
#ifdef SYS_close_range
    if (syscall(SYS_close_range, 3, ~0U, 0) == 0) return;
#endif
    struct rlimit limit = {.rlim_cur = MOST_DESCRIPTORS};
    getrlimit(RLIMIT_NOFILE, &limit);
    int last = limit.rlim_cur < MOST_DESCRIPTORS ? (int)limit.rlim_cur : MOST_DESCRIPTORS;
    for (int fd = 3; fd < last; fd++) close(fd);
}

static void reset_signals(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int s = 1; s < NSIG; s++) sigaction(s, &action, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static int become(void *data)
{
    struct start *start = data;
    cpu_set_t all;
    memset(&all, 0xff, sizeof all);
    setsid();
    setpriority(PRIO_PROCESS, 0, LEAST_PRIORITY);
    sched_setaffinity(0, sizeof all, &all); /* a rank may be bound to one CPU, where the sampler would be in its way */
    close_descriptors();
    reset_signals();
    if (chdir("/") == 0) execve(start->argv[0], start->argv, start->envp);
    start->error = errno;
    return 127;
}

/* Ends at once, so that the kernel gives its child to init. */
static int go_between(void *data)
{
    struct start *start = data;
    if (clone(become, start->stacks + STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, start) < 0) start->error = errno;
    return 0;
}

/* A process that ends with no signal (the low byte of the flags) is invisible to a wait() without __WALL. */
static int start_apart(struct start *start)
{
    pid_t between = clone(go_between, start->stacks + 2 * STACK_BYTES, CLONE_VM | CLONE_VFORK, start);
    if (between < 0) return errno;
    while (waitpid(between, NULL, __WALL) < 0 && errno == EINTR) continue;
    return start->error;
}

int detached_start(char *const argv[], char *const envp[])
{
    int saved = errno, adopts = 0;
    sigset_t all, before;
    char *stacks = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stacks == MAP_FAILED) return errno;
    struct start start = {argv, envp, stacks, 0};
    sigfillset(&all); /* a handler of the program must not run in a process that shares its memory */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    prctl(PR_GET_CHILD_SUBREAPER, &adopts); /* a program that adopts orphans must not get this one */
    if (adopts) prctl(PR_SET_CHILD_SUBREAPER, 0);
    int error = start_apart(&start);
    if (adopts) prctl(PR_SET_CHILD_SUBREAPER, 1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(stacks, 2 * STACK_BYTES);
    errno = saved;
    return error;
}
