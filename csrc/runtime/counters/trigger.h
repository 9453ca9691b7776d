/* Samples of counters after a number of events of a thread: TRACELIB_SAMPLE=perf::INSTRUCTIONS:1000000. The kernel
 * counts the event and makes a descriptor readable after each such number; the thread gets no signal. */
#ifndef TRIGGER_H
#define TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

struct trigger;

/* In epoll_data of `other` below; of a trigger there is the number of its thread. */
#define NO_THREAD UINT32_MAX

/* From here on threads have triggers of "EVENT:COUNT", of one of the kernel's events or of PAPI's names for them. NULL,
 * or why not. */
const char *trigger_choose(const char *text);

/* For the calling thread; NULL: there are none, or the kernel refuses. */
struct trigger *trigger_open(uint32_t thread);
void trigger_close(struct trigger *t);

/* The descriptor on which all triggers, and `other`, are waited for. -1: there is none. */
int trigger_descriptor(int other);

/* How often the thread's event has been due since the last time. */
uint64_t trigger_take(struct trigger *t);

#endif
