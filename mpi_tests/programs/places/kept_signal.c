// Programs to which signal 32 matters, which libc keeps for itself: they cancel threads, have a handler of their own by
// a system call, or block all that can be blocked. The arguments: what, and for how many seconds of CPU time to
// compute.

#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { KEPT = 32, OWN = 3 };

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static volatile double sum;

static void compute(double seconds)
{
    for (double end = cpu_s() + seconds; cpu_s() < end;)
        for (int i = 0; i < 100000; i++) sum += i;
}

static int blocked;

// At the end of a thread that was cancelled: are signals blocked that were not?
static void at_end(void *unused)
{
    sigset_t now;
    (void)unused;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    for (int i = 1; i < KEPT; i++) blocked += sigismember(&now, i) == 1;
}

static void *until_cancelled(void *at_once)
{
    pthread_setcanceltype(at_once ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED, NULL);
    pthread_cleanup_push(at_end, NULL);
    for (;;)
        if (!at_once) pause();
    pthread_cleanup_pop(0);
    return NULL;
}

static int cancel_one(void *at_once)
{
    pthread_t thread;
    void *result;
    if (pthread_create(&thread, NULL, until_cancelled, at_once)) exit(1);
    usleep(30000); // the thread is there, and who samples us has begun, and does not look again for a while
    pthread_cancel(thread);
    pthread_join(thread, &result);
    return result == PTHREAD_CANCELED;
}

static void cancels(double seconds)
{
    int cancelled = cancel_one(NULL);
    compute(seconds);
    cancelled += cancel_one(&cancelled);
    printf("cancelled %d, blocked at the end %d\n", cancelled, blocked);
}

static volatile sig_atomic_t received;

static void on_own(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    received += info->si_code == SI_TKILL;
}

extern void restore(void);
__asm__("restore: movq $15, %rax\n syscall\n");

static void use(double seconds)
{
    struct {
        void (*handler)(int, siginfo_t *, void *);
        unsigned long flags;
        void (*restorer)(void);
        uint64_t mask;
    } action = {on_own, SA_SIGINFO | 0x04000000, restore, 0};
    syscall(SYS_rt_sigaction, KEPT, &action, NULL, sizeof action.mask);
    compute(seconds);
    for (int i = 0; i < OWN; i++) syscall(SYS_tgkill, getpid(), (int)syscall(SYS_gettid), KEPT);
    printf("own signals %d\n", (int)received);
}

// Before anything else of the process, as far as a program can.
__attribute__((constructor(101))) static void at_once(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "at-once") == 0) use(0);
}

int main(int argc, char **argv)
{
    double seconds = argc > 2 ? atof(argv[2]) : 0;
    const char *act = argv[1];
    if (strcmp(act, "cancels") == 0) cancels(seconds);
    if (strcmp(act, "at-once") == 0) compute(seconds);
    if (strcmp(act, "later") == 0) {
        compute(seconds);
        use(seconds);
    }
    if (strcmp(act, "blocks") == 0) {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, NULL);
        compute(seconds);
    }
    return 0;
}
