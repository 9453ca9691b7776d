#ifndef SECONDS_H
#define SECONDS_H

/* Seconds of CLOCK_MONOTONIC. */
double seconds_now(void);

/* Waits without messages, and lets others have the processor where ranks share it. */
void seconds_wait(double wait_s);

#endif
