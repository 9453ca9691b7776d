/* Signals that writing can raise, kept from a program that did not ask for our writing. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>

struct held_signals {
    sigset_t before; /* mask of the thread */
    sigset_t ours;   /* to be forgotten when they are pending at the end */
};

/* Until signals_release a limit on the size of files and a closed pipe show as errors of the system call alone. */
void signals_hold(struct held_signals *h);
void signals_release(const struct held_signals *h);

#endif
