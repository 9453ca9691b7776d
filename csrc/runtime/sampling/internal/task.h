/* A thread of the program that is sampled. */
#ifndef TASK_H
#define TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/tasks.h"
#include "schema.h"

enum { MOST_TASKS = 4096, RING = 256, NO_TIMER = -1 };

/* Ring that a signal handler fills and our thread empties. */
struct ring {
    uint64_t head, tail; /* of rows ever written, and read */
    struct file_sample row[RING];
};

struct task {
    int32_t tid;
    uint32_t number;
    uint16_t thread; /* its number in the trace; SAMPLER_THREAD: none yet, or `ours` */
    bool ours;       /* it is no thread of the program */
    bool seen;       /* in the latest look */
    bool begins;     /* that it is sampled from `met` on is still to be said */
    uint64_t met;    /* ticks */
    uint64_t cpu_seen;
    uint64_t cpu_before; /* at its latest sample. By signal: the handler's own */
    uint32_t lost;       /* since then */
    /* By signal. */
    int timer;
    uint64_t period_ns, next, random; /* samples are due once in each period, at a random point of it */
    struct ring *ring;
    /* By the kernel. */
    int fd;
    uint64_t cpu_opened;
    void *page;
    uint64_t page_bytes;
};

#endif
