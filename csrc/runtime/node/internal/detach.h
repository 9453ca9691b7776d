/* Starting a program that the traced one never notices. */
#ifndef DETACH_H
#define DETACH_H

/* Start argv[0] (a path) as nobody's child, in a session of its own, in "/", with the least priority, on any CPU, with
 * no descriptor but /dev/null three times, and with all signals as at the start of a program. The traced program's
 * wait() does not see it, no SIGCHLD comes, no handler of pthread_atfork runs, and none of its memory is copied.
 * Returns 0 or errno.
 * Context: any thread, no lock. */
int detached_start(char *const argv[], char *const envp[]);

#endif
