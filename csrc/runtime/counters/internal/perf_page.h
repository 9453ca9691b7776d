/* A counter of the processor read without a system call: from its register, and the page that the kernel keeps of it
 * (linux/perf_event.h, struct perf_event_mmap_page). */
#ifndef PERF_PAGE_H
#define PERF_PAGE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
/* Read counter register `index` of the processor (rdpmc). */
static inline uint64_t perf_page_register(uint32_t index)
{
    uint32_t low, high;
    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
    return (uint64_t)high << 32 | low;
}
#endif

/* Read the present value of a counter from its page, where the kernel changes it under the sequence number `lock`; a
 * register is narrower than its sum and has a sign. Returns false if the counter is on no register at the moment.
 * Context: the thread that counts, no lock, no system call. */
static inline bool perf_page_read(const volatile struct perf_event_mmap_page *page,
                                  uint64_t (*read_register)(uint32_t index), uint64_t *value)
{
    uint32_t sequence, index;
    uint64_t count;
    do {
        sequence = page->lock;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        index = page->index;
        if (!page->cap_user_rdpmc || !index) return false;
        unsigned unused = 64 - page->pmc_width;
        count = (uint64_t)page->offset + (uint64_t)((int64_t)(read_register(index - 1) << unused) >> unused);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    } while (page->lock != sequence);
    *value = count;
    return true;
}

#endif
