#ifndef CPU_LIMIT_H
#define CPU_LIMIT_H
#include <stdint.h>

/* From here to limit_end the process may take so many seconds of processor time; then it writes `words` to stderr,
   removes the files whose names stand in `files`, each ended by a zero byte, the last by two, and ends with exit code
   1. For calls of a library that may never come back, where no exception arrives. 0: somebody else's timer runs, and
   there is no limit. Both texts must last as long as the limit. */
int64_t limit_begin(double seconds, const char *words, const char *files);
void limit_end(void);

#endif
