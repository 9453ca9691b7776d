#define _GNU_SOURCE
#include "common/signals.h"

#include <errno.h>
#include <time.h>

static const int raised_by_writing[] = {SIGXFSZ, SIGPIPE};

void signals_hold(struct held_signals *h)
{
    sigset_t pending, hold;
    sigpending(&pending);
    sigemptyset(&hold);
    sigemptyset(&h->ours);
    for (int i = 0; i < 2; i++) {
        sigaddset(&hold, raised_by_writing[i]);
        if (!sigismember(&pending, raised_by_writing[i])) sigaddset(&h->ours, raised_by_writing[i]);
    }
    pthread_sigmask(SIG_BLOCK, &hold, &h->before);
}

void signals_release(const struct held_signals *h)
{
    const struct timespec at_once = {0, 0};
    int error = errno; /* of the writing: the caller still wants it */
    while (sigtimedwait(&h->ours, NULL, &at_once) > 0 || errno == EINTR) continue;
    pthread_sigmask(SIG_SETMASK, &h->before, NULL);
    errno = error;
}
