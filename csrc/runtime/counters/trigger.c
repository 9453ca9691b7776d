#define _GNU_SOURCE
#include "counters/trigger.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/descriptors.h"
#include "counters/counters.h"
#include "counters/internal/perf.h"

/* A descriptor of the kernel's, with the page that tells what it has written behind it and one page for that. */
struct trigger {
    int fd;
    struct perf_event_mmap_page *page;
};

/* PAPI's presets that are the kernel's generic events. */
static const struct {
    const char *papi, *perf;
} same[] = {{"PAPI_TOT_INS", "perf::INSTRUCTIONS"},
            {"PAPI_TOT_CYC", "perf::CYCLES"},
            {"PAPI_REF_CYC", "perf::REF-CYCLES"},
            {"PAPI_BR_INS", "perf::BRANCHES"},
            {"PAPI_BR_MSP", "perf::BRANCH-MISSES"}};

static struct {
    bool wanted;
    int epoll;
    uint64_t period;
    struct counter event;
} choice = {.epoll = -1};

static int trigger_open_event(bool with_kernel)
{
    struct perf_event_attr attr = {
        .type = choice.event.kind,
        .size = sizeof attr,
        .config = choice.event.code,
        .sample_period = choice.period,
        .wakeup_events = 1,
        .exclude_kernel = !with_kernel,
        .exclude_hv = 1,
    };
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? fd : descriptor_out_of_the_way(fd);
}

/* As counters are: of hardware events the program's own part alone. */
static int trigger_open_best(void)
{
    bool hardware = choice.event.backend == COUNTERBACKEND_PERF_HARDWARE;
    int fd = trigger_open_event(!hardware);
    return fd < 0 && !hardware && (errno == EACCES || errno == EPERM) ? trigger_open_event(false) : fd;
}

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void release_trigger(struct trigger *t)
{
    munmap(t->page, 2 * page_bytes());
    close(t->fd);
    free(t);
}

static struct trigger *start_trigger(const char **why)
{
    struct trigger *t = malloc(sizeof *t);
    *why = "no memory";
    if (!t) return NULL;
    t->fd = trigger_open_best();
    if (t->fd < 0) {
        *why = perf_reason(errno);
        free(t);
        return NULL;
    }
    t->page = mmap(NULL, 2 * page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, t->fd, 0);
    if (t->page != MAP_FAILED) return t;
    *why = "the kernel gives no memory for it (sysctl kernel.perf_event_mlock_kb)";
    close(t->fd);
    free(t);
    return NULL;
}

static const char *find_event(const char *name, size_t length)
{
    struct counter *c = &choice.event;
    if (length >= sizeof c->name) return "no event has so long a name";
    memcpy(c->name, name, length);
    c->name[length] = '\0';
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        if (strcmp(c->name, same[i].papi) == 0) strcpy(c->name, same[i].perf);
    if (strncmp(c->name, perf_prefix, strlen(perf_prefix)) != 0) return "no such perf event";
    return perf_backend.find(c);
}

const char *trigger_choose(const char *text)
{
    const char *colon = strrchr(text, ':'), *why;
    char *end;
    choice.period = colon ? strtoull(colon + 1, &end, 10) : 0;
    if (!choice.period || colon[1] < '0' || colon[1] > '9' || *end || choice.period >> 63)
        return "there is no number of events after the last colon";
    why = find_event(text, (size_t)(colon - text));
    if (why) return why;
    struct trigger *t = start_trigger(&why);
    if (!t) return why;
    release_trigger(t);
    choice.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (choice.epoll < 0) return strerror(errno);
    choice.epoll = descriptor_out_of_the_way(choice.epoll);
    choice.wanted = true;
    return NULL;
}

int trigger_descriptor(int other)
{
    struct epoll_event event = {.events = EPOLLIN};
    event.data.u32 = NO_THREAD;
    if (choice.wanted && epoll_ctl(choice.epoll, EPOLL_CTL_ADD, other, &event) == 0) return choice.epoll;
    return -1;
}

struct trigger *trigger_open(uint32_t thread)
{
    const char *why;
    struct trigger *t = choice.wanted ? start_trigger(&why) : NULL;
    struct epoll_event event = {.events = EPOLLIN};
    event.data.u32 = thread;
    if (t && epoll_ctl(choice.epoll, EPOLL_CTL_ADD, t->fd, &event) == 0) return t;
    if (t) release_trigger(t);
    return NULL;
}

void trigger_close(struct trigger *t)
{
    if (!t) return;
    epoll_ctl(choice.epoll, EPOLL_CTL_DEL, t->fd, NULL); /* a forked child may hold it open */
    release_trigger(t);
}

/* Each time is a record that is a header and nothing else. */
uint64_t trigger_take(struct trigger *t)
{
    uint64_t head = __atomic_load_n(&t->page->data_head, __ATOMIC_ACQUIRE), new = head - t->page->data_tail;
    __atomic_store_n(&t->page->data_tail, head, __ATOMIC_RELEASE);
    return new / sizeof(struct perf_event_header);
}
