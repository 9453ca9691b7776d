// Stacks that are none of a thread's own, code that no table describes, and what else a walk must survive. The first
// argument says what; each prints what it has seen.

#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static void sends(int tag)
{
    MPI_Send(NULL, 0, MPI_BYTE, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
}

static ucontext_t home, away;
static int turn;

__attribute__((noinline)) static void send_deeper(int n)
{
    volatile char room[64];
    room[0] = (char)n;
    if (n > 0) send_deeper(n - 1);
    sends(n);
    room[1] = 0;
}

static void elsewhere(void)
{
    for (;;) {
        send_deeper(turn % 4);
        swapcontext(&away, &home);
    }
}

// Stacks from mmap that are gone when the next one comes, sometimes to the same place.
static void contexts(void)
{
    enum { BYTES = 1 << 16 };
    for (turn = 0; turn < 40; turn++) {
        char *stack = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        getcontext(&away);
        away.uc_stack.ss_sp = stack;
        away.uc_stack.ss_size = turn % 3 ? BYTES : BYTES / 2;
        makecontext(&away, elsewhere, 0);
        for (int i = 0; i < 3; i++) swapcontext(&home, &away);
        munmap(stack, BYTES);
    }
    printf("turns %d\n", turn);
}

// A hand-made switch to a stack whose first function returns nowhere, right below memory that goes away.
__attribute__((noinline)) static void on_stack(char *top, void (*work)(void))
{
    __asm__ volatile("movq %%rsp, %%rbx\n movq %0, %%rsp\n call *%1\n movq %%rbx, %%rsp"
                     :
                     : "r"(top), "r"(work)
                     : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
}

static void send_on_stack(void)
{
    sends(7);
    send_deeper(3);
}

static void switched(void)
{
    enum { BYTES = 1 << 15 };
    char *stack = mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 6; i++) {
        on_stack(stack + BYTES, send_on_stack);
        if (i == 2) mprotect(stack + BYTES, BYTES, PROT_NONE);
        if (i == 4) munmap(stack + BYTES, BYTES);
    }
    printf("switched\n");
}

// Machine code: sub $8, %rsp; call *%rdi; add $8, %rsp; ret
static void made_code(void)
{
    static const unsigned char bytes[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3};
    for (int i = 0; i < 10; i++) {
        void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memcpy(code, bytes, sizeof bytes);
        ((void (*)(void (*)(void)))code)(send_on_stack);
        munmap(code, 4096);
    }
    printf("made\n");
}

// Handlers on a stack of their own, at any moment: the program is in malloc, in MPI, in a walk.
static volatile sig_atomic_t alarms;
static double before_alarm;

static void on_alarm(int number)
{
    (void)number;
    int error = errno;
    alarms++;
    before_alarm = MPI_Wtime();
    errno = error;
}

static void alarmed(void)
{
    stack_t other = {.ss_sp = mmap(NULL, 1 << 17, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                     .ss_size = 1 << 17};
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_ONSTACK | SA_RESTART};
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    sigaltstack(&other, NULL);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 20000 || alarms <= 10; i++) {
        free(malloc((size_t)(i % 100) * 100));
        volatile char room[(i % 60 + 1) * 32];
        room[0] = 1;
        send_deeper(i % 30);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("alarmed\n");
}

static void *send_in_thread(void *unused)
{
    (void)unused;
    sends(1);
    sends(2);
    return NULL;
}

static size_t stack_bytes;

static void small_threads(void)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    printf("set %d\n", pthread_attr_setstacksize(&attributes, stack_bytes));
    for (int i = 0; i < 8; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, send_in_thread, NULL)) exit(1);
        pthread_join(thread, NULL);
    }
    printf("joined\n");
}

static void deep(void)
{
    send_deeper(2000);
    printf("deep\n");
}

static jmp_buf back;

__attribute__((noinline)) static void jump(int n)
{
    sends(n);
    if (n == 0) longjmp(back, 1);
    jump(n - 1);
    sends(n);
}

static void jumps(void)
{
    for (volatile int i = 0; i < 100; i++)
        if (setjmp(back) == 0) jump(i % 7);
    printf("jumped\n");
}

static void children(void)
{
    fflush(NULL);
    for (int i = 0; i < 4; i++) {
        pid_t child = i % 2 ? vfork() : fork();
        if (child == 0) {
            if (i % 2) execlp("true", "true", NULL);
            _exit(3);
        }
        int status;
        waitpid(child, &status, 0);
        printf("child %d\n", WEXITSTATUS(status));
        sends(i);
    }
}

// A call between a system call and a look at what went wrong.
static void errors(void)
{
    int kept = 0;
    for (int i = 0; i < 50; i++) {
        volatile char room[(i + 1) * 32];
        room[0] = 0;
        errno = 77;
        sends(i);
        kept += errno == 77;
    }
    printf("kept %d\n", kept);
}

static const struct {
    const char *name;
    void (*act)(void);
} acts[] = {
    {"contexts", contexts}, {"switched", switched},           {"made-code", made_code},
    {"alarmed", alarmed},   {"small-threads", small_threads}, {"deep", deep},
    {"jumps", jumps},       {"children", children},           {"errors", errors},
};

int main(int argc, char **argv)
{
    int level;
    if (argc > 2) stack_bytes = strtoul(argv[2], NULL, 10);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
        if (strcmp(acts[i].name, argv[1]) == 0) acts[i].act();
    MPI_Finalize();
    return 0;
}
