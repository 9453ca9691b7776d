/* The paths of threads that were interrupted anywhere: rows of the table `paths`, as those of calls. */
#ifndef SAMPLES_H
#define SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

/* Where a thread was, and its registers then. */
struct interrupted {
    uint64_t place, sp, fp;
};

/* To be asked now and then by a thread of ours: what is in memory now. True: Python runs here, whose frames only the
 * interrupted thread itself can tell. */
bool samples_look_around(void);

/* From now on, the same each time that the program has loaded or unloaded libraries, in the thread that did; or no
 * longer. */
void samples_follow_libraries(bool follow);

/* The path of the calling thread, which a signal interrupted. Nothing is asked that a signal handler may not ask, and
 * nobody waited for; errno may change. 0: not known, or all others were busy with paths. */
uint32_t samples_own_path(const struct interrupted *at);

/* The path of another thread, whose stack had these bytes from `at->sp` on. */
uint32_t samples_path(const struct interrupted *at, const char *stack, uint64_t bytes);

#endif
