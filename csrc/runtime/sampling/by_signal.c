/* The signal is the one that libc keeps for itself to cancel threads (32). Programs can neither catch, block, await nor
 * see it: libc leaves it out of all sets and refuses handlers for it. What libc itself sends is passed on to its own
 * handler. That one is set when a thread is cancelled for the first time, and ignores what timers send: then ours is
 * set anew, and so are the timers. A program that has a handler of its own, by a system call, keeps the signal.
 *
 * A timer of a thread's CPU time expires while that thread runs. Since Linux 5.10 the kernel notices it on the way back
 * to the program (CONFIG_POSIX_CPU_TIMERS_TASK_WORK, x86 and others), and so no system call is ever interrupted: it is
 * over by then. */
#define _GNU_SOURCE
#include "sampling/internal/by_signal.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "clock/clock.h"
#include "places/samples.h"

enum { LIBCS_SIGNAL = 32, MASK_BYTES = 8 };
#define NS_PER_S UINT64_C(1000000000)

/* Argument of the kernel's call; libc's function would refuse the signal. */
struct kernel_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static struct kernel_action before; /* libc's; handler NULL: it has none */
static struct task *tasks[MOST_TASKS];

#if defined(__x86_64__)
enum { SA_HAS_RESTORER = 0x04000000 };

/* Where a handler returns to. Who walks stacks knows it by these very bytes. */
void tracelib_restore_rt(void) __attribute__((visibility("hidden")));
__asm__(".text\n.p2align 4\n.byte 0x90\n.hidden tracelib_restore_rt\n.type tracelib_restore_rt, @function\n"
        "tracelib_restore_rt:\n\tmovq $15, %rax\n\tsyscall\n.size tracelib_restore_rt, . - tracelib_restore_rt\n");

static struct interrupted place_in(const ucontext_t *context)
{
    const greg_t *r = context->uc_mcontext.gregs;
    return (struct interrupted){(uint64_t)r[REG_RIP], (uint64_t)r[REG_RSP], (uint64_t)r[REG_RBP]};
}
#elif defined(__aarch64__)
enum { SA_HAS_RESTORER = 0 };
#define tracelib_restore_rt NULL

static struct interrupted place_in(const ucontext_t *context)
{
    return (struct interrupted){context->uc_mcontext.pc, context->uc_mcontext.sp, context->uc_mcontext.regs[29]};
}
#endif

#if defined(__x86_64__) || defined(__aarch64__)

static long action(const struct kernel_action *new, struct kernel_action *old)
{
    return syscall(SYS_rt_sigaction, LIBCS_SIGNAL, new, old, MASK_BYTES);
}

static struct task *task_of(const siginfo_t *info)
{
    unsigned slot = (unsigned)info->si_value.sival_int;
    struct task *t = slot < MOST_TASKS ? __atomic_load_n(&tasks[slot], __ATOMIC_ACQUIRE) : NULL;
    return t && info->si_timerid == t->timer ? t : NULL;
}

/* Points at random, one in each period: what the program does each so often meets no rhythm. */
static void set_next(struct task *t, uint64_t cpu_ns)
{
    uint64_t period = cpu_ns / t->period_ns;
    if (period < t->next) period = t->next;
    t->next = period + 1;
    t->random = t->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t due = period * t->period_ns + (t->random >> 33) % t->period_ns;
    struct itimerspec at = {.it_value = {(time_t)(due / NS_PER_S), (long)(due % NS_PER_S)}};
    syscall(SYS_timer_settime, t->timer, TIMER_ABSTIME, &at, NULL);
}

static void sample_task(struct task *t, const ucontext_t *context)
{
    struct ring *ring = t->ring;
    struct interrupted at = place_in(context);
    struct timespec now;
    uint64_t time = clock_ticks();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    uint64_t cpu_ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
    if (ring->head - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) == RING) {
        t->lost++;
    } else {
        ring->row[ring->head % RING] = (struct file_sample){.time = time,
                                                            .cpu_ns = cpu_ns - t->cpu_before,
                                                            .path = samples_own_path(&at),
                                                            .task = t->number,
                                                            .lost = t->lost,
                                                            .flags = SAMPLE_BY_SIGNAL};
        t->lost = 0;
        t->cpu_before = cpu_ns;
        __atomic_store_n(&ring->head, ring->head + 1, __ATOMIC_RELEASE);
    }
    set_next(t, cpu_ns);
}

/* libc's handler may run what the thread is to do at its end, with the signals that it had. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    uint64_t mask;
    memcpy(&mask, &((const ucontext_t *)context)->uc_sigmask, sizeof mask);
    mask |= UINT64_C(1) << (LIBCS_SIGNAL - 1);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, MASK_BYTES);
    before.handler(number, info, context);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    int error = errno;
    struct task *t = info->si_code == SI_TIMER ? task_of(info) : NULL;
    if (t && t->tid == (int32_t)syscall(SYS_gettid)) sample_task(t, context);
    errno = error;
    if (!t && info->si_code != SI_TIMER && before.handler) pass_on(number, info, context);
}

/* Nothing of the program's may run while a path is looked for: it may call MPI. */
static const struct kernel_action ours = {.handler = on_signal,
                                          .flags = SA_SIGINFO | SA_RESTART | SA_HAS_RESTORER,
                                          .restorer = tracelib_restore_rt,
                                          .mask = UINT64_MAX};

static bool is_handler(const struct kernel_action *a)
{
    return (void *)a->handler != (void *)SIG_DFL && (void *)a->handler != (void *)SIG_IGN;
}

/* Does the handler lie where the function lies that cancels threads? */
static bool is_libcs(const struct kernel_action *a)
{
    Dl_info handler, cancel;
    void *cancels = dlsym(RTLD_NEXT, "pthread_cancel");
    return cancels && dladdr(cancels, &cancel) && dladdr((void *)a->handler, &handler) &&
           handler.dli_fbase == cancel.dli_fbase;
}

/* Their signals may have gone to another handler. */
static void set_timers_again(void)
{
    for (int slot = 0; slot < MOST_TASKS; slot++) {
        if (!tasks[slot]) continue;
        uint64_t ns = tasks[slot]->period_ns;
        struct itimerspec soon = {.it_value = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)}};
        syscall(SYS_timer_settime, tasks[slot]->timer, 0, &soon, NULL);
    }
}

const char *by_signal_look(void)
{
    struct kernel_action now;
    if (action(NULL, &now)) return "the kernel does not take a handler";
    if (now.handler == on_signal) return NULL;
    if (is_handler(&now) && !is_libcs(&now)) return "the program uses signal 32 itself";
    before = now;
    if (!is_handler(&now)) before.handler = NULL;
    if (action(&ours, NULL)) return "the kernel does not take a handler";
    set_timers_again();
    return NULL;
}

static int free_slot(void)
{
    int slot = 0;
    while (slot < MOST_TASKS && tasks[slot]) slot++;
    return slot;
}

bool by_signal_open(struct task *t, uint64_t period_ns)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = LIBCS_SIGNAL};
    int slot = free_slot();
    if (slot == MOST_TASKS) return false;
    t->ring = calloc(1, sizeof *t->ring);
    if (!t->ring) return false;
    event.sigev_value.sival_int = slot;
    event._sigev_un._tid = t->tid;
    if (syscall(SYS_timer_create, task_clock(t->tid), &event, &t->timer)) {
        free(t->ring);
        t->ring = NULL;
        t->timer = NO_TIMER;
        return false;
    }
    t->period_ns = period_ns;
    t->random = (uint64_t)t->tid * UINT64_C(0x9e3779b97f4a7c15) + clock_ticks();
    t->next = t->cpu_before / period_ns + 1;
    __atomic_store_n(&tasks[slot], t, __ATOMIC_RELEASE);
    set_next(t, t->cpu_before);
    return true;
}

void by_signal_take(struct task *t, void (*take)(struct task *t, const struct file_sample *row))
{
    struct ring *ring = t->ring;
    uint64_t head = ring ? __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE) : 0;
    for (; ring && ring->tail < head; __atomic_store_n(&ring->tail, ring->tail + 1, __ATOMIC_RELEASE))
        take(t, &ring->row[ring->tail % RING]);
}

/* A handler may be at work: what it uses stays. */
void by_signal_stop(struct task *t)
{
    if (t->timer == NO_TIMER) return;
    syscall(SYS_timer_delete, t->timer);
}

void by_signal_close(struct task *t)
{
    for (int slot = 0; slot < MOST_TASKS; slot++)
        if (tasks[slot] == t) __atomic_store_n(&tasks[slot], NULL, __ATOMIC_RELEASE);
    free(t->ring);
}

#else

const char *by_signal_look(void)
{
    return "not on this processor";
}
bool by_signal_open(struct task *t, uint64_t period_ns)
{
    (void)t, (void)period_ns;
    return false;
}
void by_signal_take(struct task *t, void (*take)(struct task *t, const struct file_sample *row))
{
    (void)t, (void)take;
}
void by_signal_stop(struct task *t)
{
    (void)t;
}
void by_signal_close(struct task *t)
{
    (void)t;
}

#endif
