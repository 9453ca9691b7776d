/* The program switches tracing off, or on, through tracelib.h. */
#ifndef PAUSE_H
#define PAUSE_H

/* Switch the recording of the process off, or on, from now.
 * Context: any thread, not between store_begin and store_end. */
void tracing_pause(void);
void tracing_resume(void);

#endif
