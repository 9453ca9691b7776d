/* The end of recording: what is left goes to the file. */
#ifndef CLOSE_H
#define CLOSE_H

#include <stdint.h>

/* May be repeated: what came since is written, too. `state`: of enum state, for the file. */
void run_close(uint64_t state);

/* The latest of these states. */
uint64_t run_end_state(void);

#endif
