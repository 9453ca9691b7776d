/* Checks everything that a tracer's signal, thread or descriptor could change in the program: it prints the
 * same whether or not it is sampled. Each part computes for a while in between. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile double sink;

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void __attribute__((noinline)) compute(double seconds)
{
    double s = 0, until = cpu_s() + seconds;
    while (cpu_s() < until)
        for (int i = 1; i < 20000; i++) s += 1.0 / i;
    sink = s;
}

/* System calls that no SA_RESTART starts again: each is entered while samples are due, and waits 2 ms. */
static void slow_calls(void)
{
    int interrupted = 0, pipes[2];
    sem_t never;
    sem_init(&never, 0, 0);
    if (pipe(pipes)) abort();
    for (int i = 0; i < 40; i++) {
        struct timespec wait = {0, 2000000}, until;
        struct timeval tv = {0, 2000};
        struct pollfd none = {.fd = pipes[0], .events = POLLIN};
        compute(0.002);
        interrupted += nanosleep(&wait, NULL) < 0;
        compute(0.001);
        interrupted += poll(&none, 1, 2) < 0;
        compute(0.001);
        interrupted += select(0, NULL, NULL, NULL, &tv) < 0;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 2000000;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        interrupted += sem_timedwait(&never, &until) < 0 && errno == EINTR;
    }
    printf("interrupted %d\n", interrupted);
}

/* A handler's errno is nobody else's. */
static void keeps_errno(void)
{
    int wrong = 0;
    for (int i = 0; i < 100; i++) {
        double s = 0;
        errno = 1000 + i;
        for (int k = 1; k < 200000; k++) s += 1.0 / k;
        sink = s;
        wrong += errno != 1000 + i;
    }
    printf("errno changed %d\n", wrong);
}

static void signals_and_masks(void)
{
    sigset_t all, old, pending;
    int there = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    compute(0.05);
    sigpending(&pending);
    for (int i = 1; i <= SIGRTMAX; i++) there += sigismember(&pending, i) == 1;
    struct timespec at_once = {0, 0};
    int got = sigtimedwait(&all, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    int handlers = 0;
    for (int i = 1; i <= SIGRTMAX; i++) {
        struct sigaction is;
        handlers += sigaction(i, NULL, &is) == 0 && is.sa_handler != SIG_DFL && is.sa_handler != SIG_IGN;
    }
    printf("pending %d got %d handlers %d\n", there, got, handlers);
}

static volatile sig_atomic_t rang, on_timer;

static void ring(int number)
{
    rang++;
    (void)number;
}

static void count_timer(int number, siginfo_t *info, void *context)
{
    on_timer += info->si_value.sival_int == 4711;
    compute(0.003);
    (void)number, (void)context;
}

/* The program's own timers, the latter with a handler on a stack of its own. */
static void own_timers(void)
{
    struct itimerval often = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536}, none = {.ss_flags = SS_DISABLE};
    struct sigaction act = {.sa_sigaction = count_timer, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 4711};
    struct itimerspec each = {{0, 20000000}, {0, 20000000}};
    timer_t timer;
    signal(SIGPROF, ring);
    setitimer(ITIMER_PROF, &often, NULL);
    compute(0.1);
    setitimer(ITIMER_PROF, &never, NULL);
    sigaltstack(&stack, NULL);
    sigaction(SIGRTMIN, &act, NULL);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &each, NULL);
    compute(0.1);
    timer_delete(timer);
    sigaltstack(&none, NULL);
    free(stack.ss_sp);
    printf("rang %d on timer %d\n", rang > 0, on_timer > 0);
}

static ucontext_t caller, coroutine;

static void inside(void)
{
    for (int i = 0; i < 20; i++) {
        compute(0.002);
        swapcontext(&coroutine, &caller);
    }
}

static void other_stacks(void)
{
    char *stack = malloc(65536);
    getcontext(&coroutine);
    coroutine.uc_stack = (stack_t){.ss_sp = stack, .ss_size = 65536};
    coroutine.uc_link = &caller;
    makecontext(&coroutine, inside, 0);
    int n = 0;
    for (; n < 20; n++) swapcontext(&caller, &coroutine);
    printf("switched %d\n", n);
    free(stack);
}

static void *computes(void *ends)
{
    compute(0.05);
    return ends;
}

static void *is_cancelled(void *unused)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;) compute(0.01);
    return unused;
}

/* libc uses signals of its own to cancel threads, and to give all of them another user. */
static void threads(void)
{
    pthread_t one[8], loops;
    int number[8];
    void *result;
    int ended = 0;
    for (int i = 0; i < 8; i++) pthread_create(&one[i], NULL, computes, &number[i]);
    if (seteuid(geteuid())) abort();
    for (int i = 0; i < 8; i++) ended += pthread_join(one[i], &result) == 0 && result == &number[i];
    pthread_create(&loops, NULL, is_cancelled, NULL);
    compute(0.05);
    pthread_cancel(loops);
    pthread_join(loops, &result);
    printf("ended %d cancelled %d\n", ended, result == PTHREAD_CANCELED);
}

static void *after_cancel(void *unused)
{
    compute(0.2); /* the signal may be libc's own again by now */
    return unused;
}

static void children(const char *program)
{
    int status, forked, replaced;
    pid_t child = fork();
    if (child == 0) {
        compute(0.05);
        _exit(3);
    }
    waitpid(child, &status, 0);
    forked = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    child = vfork();
    if (child == 0) {
        execl(program, program, "child", NULL);
        _exit(9);
    }
    waitpid(child, &status, 0);
    replaced = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    int other = system("exit 5");
    pid_t none = waitpid(-1, &status, WNOHANG);
    printf("forked %d replaced %d system %d others %d\n", forked, replaced, WEXITSTATUS(other), none > 0);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "child") == 0) {
        compute(0.05);
        return 4;
    }
    if (argc > 1 && strcmp(argv[1], "becomes") == 0) {
        for (int i = argc > 2 ? atoi(argv[2]) : 0; i > 0; i--) {
            char left[16];
            snprintf(left, sizeof left, "%d", i - 1);
            compute(0.01);
            execl(argv[0], argv[0], "becomes", left, NULL);
        }
        return 0;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    slow_calls();
    keeps_errno();
    signals_and_masks();
    own_timers();
    other_stacks();
    threads();
    pthread_t last;
    pthread_create(&last, NULL, after_cancel, NULL);
    pthread_join(last, NULL);
    children(argv[0]);
    return 0;
}
