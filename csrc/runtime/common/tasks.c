#define _GNU_SOURCE
#include "common/tasks.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

bool tasks_each(void (*visit)(int32_t tid, void *data), void *data)
{
    struct entry {
        uint64_t inode;
        int64_t offset;
        uint16_t bytes;
        uint8_t type;
        char name[];
    };
    char buffer[4096] __attribute__((aligned(8)));
    int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long n;
    if (folder < 0) return false;
    while ((n = syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0)
        for (long at = 0; at < n;) {
            const struct entry *e = (const struct entry *)(buffer + at);
            int tid = atoi(e->name);
            if (tid > 0) visit(tid, data);
            at += e->bytes;
        }
    close(folder);
    return true;
}

enum { OF_A_THREAD = 4, SCHEDULED = 2 };

/* As the kernel makes it (include/linux/posix-timers.h): clock_getcpuclockid knows processes only, and
 * pthread_getcpuclockid wants a thread that is still there. */
int task_clock(int32_t tid)
{
    return (int)(~(unsigned)tid << 3 | OF_A_THREAD | SCHEDULED);
}

bool task_cpu_ns(int32_t tid, uint64_t *ns)
{
    struct timespec now;
    if (clock_gettime(task_clock(tid), &now)) return false;
    *ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    return true;
}

void task_text(int32_t tid, const char *file, char *text, size_t room)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)tid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);
    if (fd >= 0) close(fd);
    text[n < 0 ? 0 : n] = '\0';
}

/* "ns on a CPU, ns of waiting for one, times on one". A kernel that does not count has only zeros. */
uint64_t task_run_delay_ns(int32_t tid)
{
    char text[96];
    unsigned long long ran, waited, times;
    task_text(tid, "schedstat", text, sizeof text);
    if (sscanf(text, "%llu %llu %llu", &ran, &waited, &times) != 3 || !times) return TASK_NOT_KNOWN;
    return waited;
}

void task_cpus(int32_t tid, char *text, size_t room)
{
    enum { MOST = 1 << 16 };
    size_t bytes = CPU_ALLOC_SIZE(MOST), length = 0;
    cpu_set_t *set = CPU_ALLOC(MOST);
    text[0] = '\0';
    if (set && sched_getaffinity(tid, bytes, set) == 0)
        for (int first = 0, last; first < MOST; first = last + 1) {
            for (last = first; last < MOST && CPU_ISSET_S(last, bytes, set); last++) continue;
            if (last == first) continue;
            char range[32];
            snprintf(range, sizeof range, last - first > 1 ? "%s%d-%d" : "%s%d", length ? "," : "", first, last - 1);
            size_t more = strlen(range);
            bool fits = length + more + sizeof ",..." <= room;
            memcpy(text + length, fits ? range : ",...", fits ? more + 1 : sizeof ",...");
            length += more;
            if (!fits) break;
        }
    if (set) CPU_FREE(set);
}
