/* Signals that writing can raise, kept from a program that did not ask for our writing. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>

struct held_signals {
    sigset_t before; /* mask of the thread */
    sigset_t ours;   /* to be forgotten when they are pending at the end */
};

/* Block SIGXFSZ and SIGPIPE in the calling thread. Until signals_release, a limit on the size of files and a closed
 * pipe show only as errors of the system call. Context: any thread, no lock, also between store_begin and store_end
 * (which use it). */
void signals_hold(struct held_signals *h);

/* Discard the signals of these two that were raised since signals_hold, restore the mask of the thread, keep errno.
 * Context: the thread that called signals_hold. */
void signals_release(const struct held_signals *h);

#endif
