#ifndef CPU_LIMIT_H
#define CPU_LIMIT_H
#include <stdint.h>

/* Limit the processor time of the process, in seconds, until limit_end. At the limit the process writes `words` to
   stderr, removes the files named in `files` (each name ends with a zero byte, the last with two), and ends with
   exit code 1. For calls of a library that may never return, and that no exception reaches. Both texts must stay
   valid until limit_end. Returns 0, and sets no limit, if another timer of processor time runs. There is one limit
   for the whole process: not to be called by several threads at once. */
int64_t limit_begin(double seconds, const char *words, const char *files);

/* End the limit that limit_begin set. */
void limit_end(void);

#endif
