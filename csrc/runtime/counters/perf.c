/* Counters of the kernel's perf events: perf::INSTRUCTIONS, perf::PAGE-FAULTS, ...
 *
 * The counters of a thread are one group, read with one system call; hardware counters without any where the kernel
 * lets user space read them. A group of hardware counters is pinned: it counts all the time or not at all. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/descriptors.h"
#include "counters/counters.h"
#include "counters/internal/perf.h"
#include "counters/internal/perf_page.h"

const char perf_prefix[] = "perf::";

#define CACHE(which, operation, result)                                                                                \
    PERF_COUNT_HW_CACHE_##which | PERF_COUNT_HW_CACHE_OP_##operation << 8 | PERF_COUNT_HW_CACHE_RESULT_##result << 16

static const struct event {
    const char *name;
    uint32_t kind;
    uint64_t code;
    bool in_kernel; /* happens there: cannot be counted without the kernel's part */
} events[] = {
    {"CYCLES", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false},
    {"INSTRUCTIONS", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false},
    {"CACHE-REFERENCES", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, false},
    {"CACHE-MISSES", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false},
    {"BRANCHES", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, false},
    {"BRANCH-MISSES", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false},
    {"BUS-CYCLES", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, false},
    {"STALLED-CYCLES-FRONTEND", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, false},
    {"STALLED-CYCLES-BACKEND", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, false},
    {"REF-CYCLES", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, false},
    {"L1D-LOADS", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, ACCESS), false},
    {"L1D-LOAD-MISSES", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS), false},
    {"LLC-LOADS", PERF_TYPE_HW_CACHE, CACHE(LL, READ, ACCESS), false},
    {"LLC-LOAD-MISSES", PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS), false},
    {"DTLB-LOAD-MISSES", PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, MISS), false},
    {"CPU-CLOCK", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true},
    {"TASK-CLOCK", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false},
    {"PAGE-FAULTS", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false},
    {"MINOR-FAULTS", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, false},
    {"MAJOR-FAULTS", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false},
    {"CONTEXT-SWITCHES", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true},
    {"CPU-MIGRATIONS", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, true},
    {"ALIGNMENT-FAULTS", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, false},
    {"EMULATION-FAULTS", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, false},
};

/* The thread's group; descriptor 0 leads it. */
struct group {
    unsigned n;
    bool in_user_space;
    int fd[MOST_COUNTERS];
    struct perf_event_mmap_page *page[MOST_COUNTERS];
};

static const struct event *event_named(const char *name)
{
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        if (strcasecmp(events[i].name, name) == 0) return &events[i];
    return NULL;
}

const char *perf_event_name(unsigned i)
{
    return i < sizeof events / sizeof events[0] ? events[i].name : NULL;
}

/* perf::r01c2: the processor's own number of an event. */
static bool raw_event(const char *name, uint64_t *code)
{
    char *end;
    *code = name[0] == 'r' ? strtoull(name + 1, &end, 16) : 0;
    return *code && *end == '\0';
}

static const char *perf_find(struct counter *c)
{
    const char *name = c->name + sizeof perf_prefix - 1;
    const struct event *event = event_named(name);
    if (event) {
        c->kind = event->kind;
        c->code = event->code;
    } else if (raw_event(name, &c->code)) {
        c->kind = PERF_TYPE_RAW;
    } else {
        return "no such perf event";
    }
    c->backend = c->kind == PERF_TYPE_SOFTWARE ? COUNTERBACKEND_PERF_SOFTWARE : COUNTERBACKEND_PERF_HARDWARE;
    c->type = counter_type_by_name(c->name);
    return NULL;
}

const char *perf_reason(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return "not permitted here (sysctl kernel.perf_event_paranoid, or a container)";
    case ENOSYS:
        return "perf_event_open is not permitted here";
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return "this machine does not count it";
    case EINVAL:
    case ENOSPC:
    case EBUSY:
        return "it cannot be counted together with the others";
    default:
        return strerror(error);
    }
}

static int perf_open_event(const struct counter *c, int leader, bool with_kernel)
{
    struct perf_event_attr attr = {
        .type = c->kind,
        .size = sizeof attr,
        .config = c->code,
        .disabled = leader < 0,
        .pinned = leader < 0 && c->backend == COUNTERBACKEND_PERF_HARDWARE,
        .exclude_kernel = !with_kernel,
        .exclude_hv = 1,
        .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    };
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? fd : descriptor_out_of_the_way(fd);
}

/* Hardware counters count the program alone, as PAPI's do; software events count the kernel's part where it may be. */
static int perf_open_best(const struct counter *c, int leader)
{
    if (c->backend == COUNTERBACKEND_PERF_HARDWARE) return perf_open_event(c, leader, false);
    int fd = perf_open_event(c, leader, true);
    const struct event *event = event_named(c->name + sizeof perf_prefix - 1);
    if (fd >= 0 || (errno != EACCES && errno != EPERM) || event->in_kernel) return fd;
    return perf_open_event(c, leader, false);
}

static void perf_end(void *handle)
{
    struct group *g = handle;
    for (unsigned i = 0; i < g->n; i++) {
        if (g->page[i]) munmap(g->page[i], (size_t)sysconf(_SC_PAGESIZE));
        close(g->fd[i]);
    }
    free(g);
}

static bool perf_take(void *handle, uint64_t *values);

/* User space may read the counters of all events, or none is read there. */
static void map_pages(struct group *g)
{
#if defined(__x86_64__)
    g->in_user_space = true;
    for (unsigned i = 0; i < g->n; i++) {
        void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, g->fd[i], 0);
        g->page[i] = page == MAP_FAILED ? NULL : page;
        if (!g->page[i] || !g->page[i]->cap_user_rdpmc) g->in_user_space = false;
    }
#else
    (void)g;
#endif
}

static void *perf_begin(const struct counter *counters, unsigned n, const char **why)
{
    uint64_t values[MOST_COUNTERS];
    struct group *g = calloc(1, sizeof *g);
    *why = "no memory";
    if (!g) return NULL;
    for (; g->n < n; g->n++) {
        g->fd[g->n] = perf_open_best(&counters[g->n], g->n ? g->fd[0] : -1);
        if (g->fd[g->n] >= 0) continue;
        *why = perf_reason(errno);
        perf_end(g);
        return NULL;
    }
    if (counters[0].backend == COUNTERBACKEND_PERF_HARDWARE) map_pages(g);
    *why = "it cannot be counted together with the others";
    if (ioctl(g->fd[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) == 0 && perf_take(g, values)) return g;
    perf_end(g);
    return NULL;
}

static bool read_pages(const struct group *g, uint64_t *values)
{
#if defined(__x86_64__)
    for (unsigned i = 0; i < g->n; i++)
        if (!perf_page_read(g->page[i], perf_page_register, &values[i])) return false;
    return true;
#else
    (void)g, (void)values;
    return false;
#endif
}

static bool perf_read_group(const struct group *g, uint64_t *values)
{
    struct {
        uint64_t n, enabled, running, values[MOST_COUNTERS];
    } all;
    ssize_t bytes = (ssize_t)((3 + g->n) * sizeof(uint64_t));
    int error = errno;
    bool whole = read(g->fd[0], &all, sizeof all) == bytes && all.n == g->n;
    errno = error;
    if (whole) memcpy(values, all.values, g->n * sizeof *values);
    return whole;
}

static bool perf_take(void *handle, uint64_t *values)
{
    const struct group *g = handle;
    return (g->in_user_space && read_pages(g, values)) || perf_read_group(g, values);
}

/* The registers are of the processor that the other thread runs on: the kernel asks there. */
static bool perf_take_other(void *handle, pid_t tid, uint64_t *values)
{
    (void)tid;
    return perf_read_group(handle, values);
}

const struct backend perf_backend = {perf_find, perf_begin, perf_take, perf_take_other, perf_end};
