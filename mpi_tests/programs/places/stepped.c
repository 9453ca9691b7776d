// A handler that calls MPI comes after each single instruction of a call of MPI in turn, on a stack of its own that
// lies above or below the thread's: the thread's call must not notice. Its argument: above or below.

#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { OF_HANDLER = 100000, MOST_STEPS = 5000, STACK = 1 << 16, STEP = 0x100 };

static volatile long steps, wanted;

__attribute__((noinline)) static void send_from_handler(void)
{
    MPI_Send(NULL, 0, MPI_BYTE, MPI_PROC_NULL, (int)(OF_HANDLER + wanted), MPI_COMM_WORLD);
}

static void on_step(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    if (++steps != wanted) return;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~STEP;
    send_from_handler();
}

// From the one line to the other the processor stops after each instruction.
__attribute__((noinline)) static void send_stepped(int tag, int stepped)
{
    if (stepped)
        __asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n orq $0x100, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp" ::
                             : "memory", "cc");
    MPI_Send(NULL, 0, MPI_BYTE, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
    __asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n andq $~0x100, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp" ::
                         : "memory", "cc");
}

static void *send_all(void *stack)
{
    stack_t other = {.ss_sp = stack, .ss_size = STACK};
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    sigaltstack(&other, NULL);
    sigaction(SIGTRAP, &action, NULL);
    for (wanted = 0; wanted < MOST_STEPS; wanted++) {
        steps = 0;
        send_stepped((int)wanted, wanted > 0);
        if (steps < wanted) break;
    }
    printf("through %d\n", wanted > 50 && wanted < MOST_STEPS);
    return NULL;
}

int main(int argc, char **argv)
{
    char above[STACK];
    void *below = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;
    MPI_Init(&argc, &argv); // without threads MPI has no lock in which the handler would wait for ever
    pthread_create(&thread, NULL, send_all, strcmp(argv[1], "above") == 0 ? above : below);
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
