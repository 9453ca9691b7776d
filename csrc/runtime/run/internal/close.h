/* The end of recording: what is left goes to the file. */
#ifndef CLOSE_H
#define CLOSE_H

#include <stdint.h>

/* Stop the samplers, enter PHASE_CLOSED and write all that is left. May be repeated: what came since is written, too.
 * `state`: of enum state, for the file.
 * Context: any thread, not between store_begin and store_end. Gives up where that lock cannot be had (store.h). */
void run_close(uint64_t state);

/* Return the state of the latest run_close.
 * Context: as the process ends. */
uint64_t run_end_state(void);

#endif
