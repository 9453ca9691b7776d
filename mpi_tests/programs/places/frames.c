// Frames of all kinds between main and MPI, each with its hand-kept stack.

#define _GNU_SOURCE
#define KEEPS_STACK
#include "hand_kept.h"

#include <alloca.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static inline void sends(void)
{
    ENTERED;
    SEND;
    SEND;
    LEFT;
}

static __attribute__((noinline)) void uses(volatile void *room)
{
    __asm__ volatile("" : : "r"(room) : "memory");
}

__attribute__((noinline)) static void with_alloca(int n)
{
    ENTERED;
    volatile char *room = (volatile char *)alloca(16 + n * 48);
    uses(room);
    AT(sends());
    if (n > 0) AT(with_alloca(n - 1));
    SEND;
    LEFT;
}

__attribute__((noinline)) static void with_array(int n)
{
    ENTERED;
    char room[n * 24 + 1];
    uses(room);
    if (n > 0) AT(with_array(n - 1));
    AT(sends());
    LEFT;
}

__attribute__((noinline)) static void aligned(int n)
{
    ENTERED;
    _Alignas(64) char room[256];
    uses(room);
    AT(with_alloca(n));
    SEND;
    LEFT;
}

__attribute__((noinline)) static int many_arguments(int a, int b, int c, int d, int e, int f, int g, int h, int i)
{
    ENTERED;
    if (i > 0) AT(many_arguments(b, c, d, e, f, g, h, a, i - 1));
    AT(aligned(i % 3));
    LEFT;
    return a + b + c + d + e + f + g + h;
}

__attribute__((noinline)) static void recurse(int n)
{
    ENTERED;
    if (n > 0)
        AT(recurse(n - 1));
    else
        AT(sends());
    LEFT;
}

static int compare(const void *a, const void *b)
{
    ENTERED;
    SEND;
    LEFT;
    return *(const int *)a - *(const int *)b;
}

static void through_libc(void)
{
    ENTERED;
    int numbers[] = {3, 1, 2, 5, 4};
    AT(qsort(numbers, 5, sizeof *numbers, compare));
    LEFT;
}

static jmp_buf back;

__attribute__((noinline)) static void jumps(int n)
{
    ENTERED;
    AT(sends());
    if (n > 0) AT(jumps(n - 1));
    SEND;
    longjmp(back, 1);
}

static void catches(void)
{
    ENTERED;
    const int depth = stack.depth;
    if (setjmp(back) == 0) AT(jumps(5));
    stack.depth = depth;
    AT(sends());
    LEFT;
}

static void handle(int number)
{
    (void)number;
    ENTERED;
    SEND;
    LEFT;
}

__attribute__((noinline)) static void is_interrupted(void)
{
    ENTERED;
    AT(raise(SIGUSR1));
    LEFT;
}

static void step_over(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    ENTERED;
    SEND;
    LEFT;
    ucontext_t *interrupted = context;
    extern char behind_fault[];
    interrupted->uc_mcontext.gregs[REG_RIP] = (greg_t)behind_fault;
}

// A fault: the place is not behind a call.
__attribute__((noinline)) static void faults(void)
{
    ENTERED;
    AT(__asm__ volatile("movl $1, 0\n.globl behind_fault\nbehind_fault:" : : : "memory"));
    LEFT;
}

static void signals(void)
{
    ENTERED;
    static char other[65536];
    stack_t own = {.ss_sp = other, .ss_size = sizeof other};
    struct sigaction action = {.sa_handler = handle};
    sigaction(SIGUSR1, &action, NULL);
    AT(raise(SIGUSR1));
    sigaltstack(&own, NULL);
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, NULL);
    AT(raise(SIGUSR1));
    action = (struct sigaction){.sa_sigaction = step_over, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    AT(faults());
    signal(SIGSEGV, SIG_DFL);
    LEFT;
}

static void call_back(int n)
{
    ENTERED;
    if (n % 2) SEND;
    SEND;
    LEFT;
}

// Two libraries, one after the other where the first one was.
static void plugins(void)
{
    ENTERED;
    const char *names[] = {getenv("PLUGIN_A"), getenv("PLUGIN_B")};
    for (int i = 0; i < 6; i++) {
        void *plugin = dlopen(names[i % 2], RTLD_NOW | RTLD_LOCAL);
        if (!plugin) printf("%s\n", dlerror()), exit(1);
        void (*work)(void (*)(int), int) = (void (*)(void (*)(int), int))dlsym(plugin, "work");
        AT(work(call_back, i));
        dlclose(plugin);
    }
    LEFT;
}

static void *in_thread(void *number)
{
    stack.depth = -1;
    for (int i = 0; i < 5; i++) {
        ENTERED;
        AT(recurse((int)(intptr_t)number + i));
        AT(with_array(i));
        LEFT;
    }
    return NULL;
}

static void threads(void)
{
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) pthread_create(&thread[i], NULL, in_thread, (void *)(intptr_t)i);
    for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
}

static void teams(void)
{
#ifdef _OPENMP
    ENTERED;
    HERE, stack.level[stack.depth].line = 0; // the line where a team begins is the compiler's to say
    const struct stack before = stack;
#pragma omp parallel num_threads(3)
    {
        stack = before;
        if (omp_get_thread_num()) stack.depth = -1; // the others begin here
        ENTERED;
        SEND;
        for (int i = 0; i < 3; i++) AT(recurse(i));
    }
    stack = before;
    LEFT;
#endif
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    for (int i = 0; i < 3; i++) {
        SEND;
        AT(with_alloca(i + 2));
        AT(with_array(4 - i));
        AT(many_arguments(1, 2, 3, 4, 5, 6, 7, 8, i));
        AT(recurse(20 * i));
        AT(through_libc());
        AT(catches());
        AT(signals());
        AT(plugins());
    }
    if (level == MPI_THREAD_MULTIPLE) {
        threads();
        if (argc > 1) AT(teams());
    }
    MPI_Finalize();
    return 0;
}
