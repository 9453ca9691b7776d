#define _GNU_SOURCE
#include "sampling/internal/by_perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock/clock.h"
#include "common/descriptors.h"
#include "places/samples.h"

/* Bytes of the stack that a sample has, and the most that one takes with them; room for a tenth of a second. */
enum { STACK_BYTES = 16384, RECORD_BYTES = STACK_BYTES + 512, MOST_PAGES = 256, LEAST_PAGES = 16 };

/* Part of the period that is left out, so that samples do not keep step with a rhythm of the program. */
enum { OUT_OF_STEP = 331 };

#if defined(__x86_64__)
/* PERF_REG_X86_BP, _SP, _IP (asm/perf_regs.h), and where they stand among those asked for. */
enum { REGISTERS = 1 << 6 | 1 << 7 | 1 << 8, FP = 0, SP, PLACE, REGISTER_COUNT };
#else
enum { REGISTERS = 0, FP = 0, SP, PLACE, REGISTER_COUNT };
#endif

static bool with_kernel; /* time in system calls counts for who makes them */
static struct {
    uint64_t ticks;
    int64_t ns;
} first; /* clocks, read together */

static union {
    struct perf_event_header header;
    char bytes[1 << 16];
} record;

static int perf_open_sampling(int32_t tid, uint64_t period_ns)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = period_ns - period_ns / OUT_OF_STEP,
        .sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_READ | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
        .sample_regs_user = REGISTERS,
        .sample_stack_user = STACK_BYTES,
        .exclude_kernel = !with_kernel,
        .exclude_hv = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .watermark = 1,
        .wakeup_watermark = UINT32_MAX,
    };
    int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? fd : descriptor_out_of_the_way(fd);
}

/* Map the ring. Memory that users may lock is limited, so the ring may have to be smaller. */
static void *map_ring(int fd, uint64_t *bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    for (uint64_t pages = MOST_PAGES; pages >= LEAST_PAGES; pages /= 2) {
        *bytes = (pages + 1) * page;
        void *ring = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (ring != MAP_FAILED) return ring;
    }
    return NULL;
}

bool by_perf_open(struct task *t, uint64_t period_ns)
{
    t->fd = perf_open_sampling(t->tid, period_ns);
    if (t->fd < 0) return false;
    t->page = map_ring(t->fd, &t->page_bytes);
    if (t->page && task_cpu_ns(t->tid, &t->cpu_opened)) return true;
    by_perf_close(t);
    return false;
}

const char *by_perf_prepare(void)
{
    struct task trial = {.tid = (int32_t)syscall(SYS_gettid), .fd = -1};
    const uint64_t a_second = UINT64_C(1000000000);
    if (!REGISTERS) return "not on this processor";
    with_kernel = true;
    int fd = perf_open_sampling(trial.tid, a_second);
    if (fd < 0) with_kernel = false;
    if (fd >= 0) close(fd);
    if (!by_perf_open(&trial, a_second))
        return errno == ENOMEM || errno == EPERM
                   ? "the kernel gives no memory for it (sysctl kernel.perf_event_mlock_kb)"
                   : "not permitted here (sysctl kernel.perf_event_paranoid, or a container)";
    by_perf_close(&trial);
    clock_pair(&first.ticks, &first.ns);
    return NULL;
}

/* Between two readings of both clocks. */
static uint64_t ticks_at(int64_t ns)
{
    uint64_t now;
    int64_t now_ns;
    if (!clock_is_tsc) return (uint64_t)ns;
    clock_pair(&now, &now_ns);
    double ticks_a_ns = (double)(now - first.ticks) / (double)(now_ns - first.ns);
    return (now - (uint64_t)((double)(now_ns - ns) * ticks_a_ns)) & clock_mask;
}

/* Fields of a record of a sample, in the order of perf_event_open(2). */
struct parts {
    int64_t time_ns;
    uint64_t cpu_ns; /* since the event was opened */
    uint64_t abi;    /* 0: no registers */
    uint64_t registers[REGISTER_COUNT];
};

static uint32_t path_of_sample(const struct parts *p, const char *rest, uint64_t bytes)
{
    const struct interrupted at = {p->registers[PLACE], p->registers[SP], p->registers[FP]};
    uint64_t stack = 0, used = 0;
    if (bytes >= sizeof stack) memcpy(&stack, rest, sizeof stack);
    if (stack && stack <= bytes - 2 * sizeof stack) memcpy(&used, rest + sizeof stack + stack, sizeof used);
    return samples_path(&at, rest + sizeof stack, used <= stack ? used : 0);
}

static void take_sample(struct task *t, void (*take)(struct task *, const struct file_sample *), uint64_t bytes)
{
    struct parts p = {.abi = 0};
    const char *body = record.bytes + sizeof record.header, *end = record.bytes + bytes;
    const uint64_t without_registers = offsetof(struct parts, registers);
    if ((uint64_t)(end - body) < without_registers) return;
    memcpy(&p, body, without_registers);
    uint64_t size = p.abi ? sizeof p : without_registers, cpu_ns = t->cpu_opened + p.cpu_ns;
    if ((uint64_t)(end - body) < size) return;
    memcpy(&p, body, size);
    struct file_sample row = {.time = ticks_at(p.time_ns), .task = t->number, .lost = t->lost};
    if (p.abi) row.path = path_of_sample(&p, body + size, (uint64_t)(end - body) - size);
    row.cpu_ns = cpu_ns > t->cpu_before ? cpu_ns - t->cpu_before : 0;
    t->cpu_before += row.cpu_ns;
    t->lost = 0;
    take(t, &row);
}

/* Bytes of the ring, which is round. */
static void copy_out(const char *ring, uint64_t ring_bytes, uint64_t from, void *to, uint64_t bytes)
{
    uint64_t at = from % ring_bytes, whole = ring_bytes - at < bytes ? ring_bytes - at : bytes;
    memcpy(to, ring + at, whole);
    memcpy((char *)to + whole, ring, bytes - whole);
}

void by_perf_take(struct task *t, void (*take)(struct task *t, const struct file_sample *row))
{
    struct perf_event_mmap_page *page = t->page;
    if (!page) return;
    uint64_t ring_bytes = page->data_size, tail = page->data_tail;
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    const char *ring = (const char *)page + page->data_offset;
    while (head - tail >= sizeof record.header) {
        copy_out(ring, ring_bytes, tail, &record.header, sizeof record.header);
        uint64_t bytes = record.header.size;
        if (bytes < sizeof record.header || bytes > head - tail) break;
        copy_out(ring, ring_bytes, tail, record.bytes, bytes);
        tail += bytes;
        if (record.header.type == PERF_RECORD_SAMPLE) take_sample(t, take, bytes);
        if (record.header.type == PERF_RECORD_LOST && bytes >= sizeof record.header + 2 * sizeof(uint64_t)) {
            uint64_t lost;
            memcpy(&lost, record.bytes + sizeof record.header + sizeof lost, sizeof lost);
            t->lost += (uint32_t)lost;
        }
    }
    __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

void by_perf_stop(struct task *t)
{
    if (t->fd >= 0) ioctl(t->fd, PERF_EVENT_IOC_DISABLE, 0);
}

void by_perf_close(struct task *t)
{
    if (t->page) munmap(t->page, t->page_bytes);
    if (t->fd >= 0) close(t->fd);
    t->page = NULL;
    t->fd = -1;
}
