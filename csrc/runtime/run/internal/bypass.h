/* A message where the program's calls of MPI do not come to this library.
 *
 * Context: one thread: the run's start and the end of the process. */
#ifndef BYPASS_H
#define BYPASS_H

/* Name other tools for MPI in the messages for debugging (`tracelib doctor`), at the start. */
void bypass_begin(void);

/* Print a line, with the reason, if the program has initialized MPI and not through this library. At the end of the
 * process, while MPI's library is still there. */
void bypass_end(void);

#endif
