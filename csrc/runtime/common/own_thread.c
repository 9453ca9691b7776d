#include "common/own_thread.h"

#include <signal.h>
#include <stddef.h>

const char own_thread_name[] = "tracelib";

int own_thread_start(pthread_t *thread, void *(*run)(void *))
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
