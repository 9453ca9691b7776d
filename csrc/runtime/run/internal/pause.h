/* The program switches tracing off, or on, through tracelib.h. */
#ifndef PAUSE_H
#define PAUSE_H

void tracing_pause(void);
void tracing_resume(void);

#endif
