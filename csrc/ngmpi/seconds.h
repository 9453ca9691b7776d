#ifndef SECONDS_H
#define SECONDS_H

/* Return CLOCK_MONOTONIC in seconds. */
double seconds_now(void);

/* Wait for `wait_s` seconds without messages. Yields the processor, which other ranks may share. */
void seconds_wait(double wait_s);

#endif
